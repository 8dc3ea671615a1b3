; test: run
; Addresses go through integers and stay what they are; a generic address knows its space.
; run: walk([3, 1, 4]:i32, local(4)) => [1, 13, 6]:i32

kernel "walk" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 128 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  slot ss0 size 4 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.local):
    v2: i64 = ptrtoint v0
    v3: i64 = add v2, 4
    v4: ptr.global = inttoptr v3
    v5: i32 = load v4 align 4
    store v5 to v0 align 4
    v6: ptr.generic = spacecast v1
    v7: ptr.generic = spacecast v0
    v8: ptr.private = slot_addr ss0
    v9: ptr.generic = spacecast v8
    v10: i32 = space_of v6
    v11: i32 = space_of v7
    v12: i32 = space_of v9
    v13: i32 = mul v11, 10
    v14: i32 = add v13, v10
    v15: i32 = add v14, v12
    store v15 to v4 align 4
    v16: i1 = icmp.ult v4, v0
    v17: i32 = select v16, 5, 6
    store v17 to v0 + 8 align 4
    return
  }
}
