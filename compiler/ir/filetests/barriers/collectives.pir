; test: barriers
; test: regions
; test: run
; A sum of the group ends the loop; a scan in it. The answer of the sum is an operand of the region behind, that of the
; scan stands where the value was.
; run: collectives([1, 2, 3, 4, 5, 6]:i32, 20:i32) global=6 local=4 => [1, 3, 6, 10, 5, 16]:i32

kernel "collectives" { ; regions: 3 ; live: i32 i32
  args 12
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "n" value "int" size 4 align 4 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32):
    v2: i64 = query.global_id 0
    v3: i64 = shl v2, 2
    v4: ptr.global = ptradd v0, v3
    v5: i32 = load v4 align 4
    jump b1(v5)
  b1(v6: i32):
    v7: i32 = collective.reduce.add v6
    v8: i1 = icmp.slt v7, v1
    br v8, b2, b3
  b2:
    v9: i32 = collective.exclusive.add v6
    v10: i32 = add v9, v6
    jump b1(v10)
  b3:
    store v6 to v4 align 4
    return
  }
}

; output: barriers
; kernel "collectives" {
;   args 12
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "n" value "int" size 4 align 4 offset 8
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   live ls0: i32
;   live ls1: i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i64 = query.global_id 0
;     v3: i64 = shl v2, 2
;     v4: ptr.global = ptradd v0, v3
;     v5: i32 = load v4 align 4
;     jump b1(v5)
;   b1(v6: i32):
;     live_store ls0, v6
;     live_store ls1, v6
;     exit r1
;   }
;   region r1 combines reduce.add ls0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i32 = combined
;     v3: i1 = icmp.slt v2, v1
;     v4: i32 = live_load ls1
;     br v3, b1, b2
;   b1:
;     live_store ls0, v4
;     exit r2
;   b2:
;     v5: i64 = query.global_id 0
;     v7: i64 = shl v5, 2
;     v8: ptr.global = ptradd v0, v7
;     store v4 to v8 align 4
;     return
;   }
;   region r2 combines exclusive.add ls0 {
;   b0(v0: ptr.global, v1: i32):
;     v2: i32 = live_load ls0
;     v5: i32 = live_load ls1
;     v3: i32 = add v2, v5
;     jump b1(v3)
;   b1(v4: i32):
;     live_store ls0, v4
;     live_store ls1, v4
;     exit r1
;   }
; }
