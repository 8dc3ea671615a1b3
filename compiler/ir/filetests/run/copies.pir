; test: run
; Blocks of bytes are copied, with and without overlap, and set; short and odd lengths too.
; run: copies([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]:i8, zeros(12), 5:i64) => [1, 1, 2, 3, 4, 5, 7, 8, 9, 10]:i8, [1, 2, 3, 4, 5, -1, -1, -1, -1, 0, 0, 0]:i8
; run: copies([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]:i8, zeros(12), 0:i64) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]:i8, [-1, -1, -1, -1, 0 x 8]:i8

kernel "copies" {
  args 24
  param "x" pointer.global "char*" size 8 align 8 offset 0
  param "y" pointer.global "char*" size 8 align 8 offset 8
  param "n" value "long" size 8 align 8 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i64
  region r0 {
  b0(v0: ptr.global, v1: ptr.global, v2: i64):
    memcpy v1, v0, v2
    v3: ptr.global = ptradd v1, v2
    memset v3, -1, 4
    v4: ptr.global = ptradd v0, 1
    memmove v4, v0, v2
    return
  }
}
