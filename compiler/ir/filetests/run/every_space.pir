; test: run
; A generic address tells its space: arguments by value and private arrays, small and large, kept or not, are
; private; `__local` variables and arguments local; buffers and program-scope variables global.
; run: spaces(zeros(40), local(8), value[5, 6]:i32) => [1, 3, 3, 0, 0, 0, 1, 1, 0, 5]:i32

global g0 "counter" global align 4 size 4

kernel "spaces" {
  args 24
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 8 offset 8
  param "s" value "struct s" size 8 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  input address(2): ptr.private
  local lv0 size 4 align 4
  slot ss0 size 8 align 4
  slot ss1 size 100000 align 4
  region r0 {
  b0(v0: ptr.global, v1: ptr.local, v2: ptr.private):
    v3: ptr.generic = spacecast v0
    v4: i32 = space_of v3
    store v4 to v0 align 4
    v5: ptr.generic = spacecast v1
    v6: i32 = space_of v5
    store v6 to v0 + 4 align 4
    v7: ptr.local = local_addr lv0
    v8: ptr.generic = spacecast v7
    v9: i32 = space_of v8
    store v9 to v0 + 8 align 4
    v10: ptr.private = slot_addr ss0
    v11: ptr.generic = spacecast v10
    v12: i32 = space_of v11
    store v12 to v0 + 12 align 4
    v13: ptr.private = slot_addr ss1
    v14: ptr.private = ptradd v13, 99996
    v15: ptr.generic = spacecast v14
    v16: i32 = space_of v15
    store v16 to v0 + 16 align 4
    v17: ptr.generic = spacecast v2
    v18: i32 = space_of v17
    store v18 to v0 + 20 align 4
    v19: ptr.global = global_addr g0
    v20: ptr.generic = spacecast v19
    v21: i32 = space_of v20
    store v21 to v0 + 24 align 4
    barrier
    v22: i32 = space_of v3
    store v22 to v0 + 28 align 4
    v23: i32 = space_of v11
    store v23 to v0 + 32 align 4
    v24: i32 = load v2 align 4
    store v24 to v0 + 36 align 4
    return
  }
}
