; test: normalize
; stage: regions
; Nothing to do; what is not reached goes.

kernel "line" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i32 = load v0 align 4
    store v1 to v0 align 4
    return
  }
}

; output: normalize
; kernel "line" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i32 = load v0 align 4
;     store v1 to v0 align 4
;     return
;   }
; }
