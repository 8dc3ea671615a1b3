; test: run
; Integers of one to 128 bits wrap, extend and go to memory in their own width.
; run: widths(zeros(48)) => [-1, 1, 0, 0, 0, 0, 0, 0, -1, -1, -1, 127, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]:i8

kernel "widths" {
  args 8
  param "x" pointer.global "char*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i1 = add true, false
    v2: i8 = sext v1
    store v2 to v0 align 1
    v3: i8 = zext v1
    store v3 to v0 + 1 align 1
    v4: i31 = sub 0, 1
    v5: i32 = zext v4
    store v5 to v0 + 8 align 4
    v6: i128 = mul 18446744073709551616, 18446744073709551616
    v7: i128 = lshr -1, 127
    v8: i128 = add v6, v7
    v9: i128 = add v8, v7
    store v9 to v0 + 16 align 16
    v10: i24 = add 197120, 1
    store v10 to v0 + 32 align 1
    return
  }
}
