; test: run
; The size that a kernel asks for is the number of lanes that act together: of 18 work-items two are a gang of their own.
; run: sums(zeros(72)) global=18 local=18 => [28, 28, 28, 28, 28, 28, 28, 28, 92, 92, 92, 92, 92, 92, 92, 92, 33, 33]:i32

kernel "sums" {
  args 8
  param "out" pointer.global "int*" size 8 align 8 offset 0
  reqd_sub_group_size(8)
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.linear_id 0
    v2: i32 = trunc v1
    v3: i64 = shl v1, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = across.reduce.add v2
    store v5 to v4 align 4
    return
  }
}
