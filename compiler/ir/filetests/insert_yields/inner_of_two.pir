; test: insert_yields
; The instruction stands where the loop begins that waits, and in no loop around it.

kernel "k" {
  args 12
  param "p" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    jump b1(0:i32)
  b1(v2: i32):
    jump b2
  b2:
    v3: i32 = load.acquire v0 align 4
    v4: i1 = icmp.ne v3, v2
    br v4, b2, b3
  b3:
    v5: i32 = add v2, 1:i32
    v6: i1 = icmp.slt v5, v1
    br v6, b1(v5), b4
  b4:
    return
  }
}

; output: insert_yields
; kernel "k" {
;   args 12
;   param "p" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     jump b1(0)
;   b1(v2: i32):
;     jump b2
;   b2:
;     yield
;     v3: i32 = load.acquire v0 align 4
;     v4: i1 = icmp.ne v3, v2
;     br v4, b2, b3
;   b3:
;     v5: i32 = add v2, 1
;     v6: i1 = icmp.slt v5, v1
;     br v6, b1(v5), b4
;   b4:
;     return
;   }
; }
