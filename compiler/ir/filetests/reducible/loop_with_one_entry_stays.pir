; test: reducible
; stage: regions
; Two latches and two exits, but one entry: nothing to do.

kernel "stays" {
  args 4
  param "n" value "int" size 4 align 4 offset 0
  input value(0, 0): i32
  region r0 {
  b0(v0: i32):
    jump b1(v0)
  b1(v1: i32):
    v2: i32 = sub v1, 1
    v3: i1 = icmp.sgt v2, 9:i32
    br v3, b1(v2), b2
  b2:
    v4: i1 = icmp.sgt v2, 0:i32
    br v4, b1(v2), b3
  b3:
    return
  }
}

; output: reducible
; kernel "stays" {
;   args 4
;   param "n" value "int" size 4 align 4 offset 0
;   input value(0, 0): i32
;   region r0 {
;   b0(v0: i32):
;     jump b1(v0)
;   b1(v1: i32):
;     v2: i32 = sub v1, 1
;     v3: i1 = icmp.sgt v2, 9:i32
;     br v3, b1(v2), b2
;   b2:
;     v4: i1 = icmp.sgt v2, 0:i32
;     br v4, b1(v2), b3
;   b3:
;     return
;   }
; }
