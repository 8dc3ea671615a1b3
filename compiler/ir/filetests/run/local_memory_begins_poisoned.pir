; test: run
; stage: regions
; Local memory is not what it was in the group before. (A kernel that reads it unwritten has no defined
; result, so this is for the interpreter alone: no stage before code generation.)
; run: stale([0, 0]:i32) global=2 local=1 => [-875836469, -875836469]:i32

kernel "stale" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  local lv0 size 4 align 4
  region r0 {
  b0(v0: ptr.global):
    v1: ptr.local = local_addr lv0
    v2: i32 = load v1 align 4
    store 7:i32 to v1 align 4
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    store v2 to v5 align 4
    return
  }
}
