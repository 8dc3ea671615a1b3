; test: run
; printf events in order; a program-scope counter; a table reached through an address in another.
; run: print(5:i32) global=2 local=2 => printf fmt0(5, 1065353216), printf fmt0(6, 1065353216)
; run: table([0, 0]:i32) global=2 local=1 => [30, 31]:i32

global g0 "table" constant align 4 constant size 12 init 0x0a000000140000001e
global g1 "pointers" constant align 8 constant size 8 relocs [0: g0 + 4]
global g2 "counter" global align 4 size 4
format fmt0 "%d %f\n" (i32, f32)

kernel "print" {
  args 4
  param "n" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    v1: i64 = query.global_id 0
    v2: i32 = trunc v1
    v3: i32 = add v0, v2
    v4: i32 = printf fmt0(v3, 1.0:f32)
    return
  }
}

kernel "table" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: ptr.constant = global_addr g1
    v2: ptr.constant = load v1 align 8
    v3: i32 = load v2 + 4 align 4
    v4: ptr.global = global_addr g2
    v5: i32 = atomic_rmw.add.relaxed v4, 1 align 4
    v6: i32 = add v3, v5
    v7: i64 = query.global_id 0
    v8: i64 = shl v7, 2
    v9: ptr.global = ptradd v0, v8
    store v6 to v9 align 4
    return
  }
}
