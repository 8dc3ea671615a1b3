; test: run
; binary16 arithmetic is rounded to binary16 after each operation.
; run: half([1, 1.0009766, 65504, 65504, 0.1, 3, 2048, 1]:f16) global=4 local=1 => [2, 1.0009766, inf, 65504, 3.0996094, 3, 2048, 1]:f16

kernel "half" {
  args 8
  param "x" pointer.global "half*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd.inbounds v0, v2
    v4: f16, v5: f16 = load v3 align 2
    v6: f16 = fadd v4, v5
    store v6 to v3 align 2
    return
  }
}
