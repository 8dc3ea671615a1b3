; test: coherence_versions
; passes: -all,per_lane_loops=always
; test: run
; stage: normalized
; Bulavintsev 2019, for inner loops that few work-items enter: where few lanes do, they run a copy one after the other.
; Each work-item whose number is above 9 adds as many of the numbers below as it has left (13 → 13+12+11+10).
; run: inner_loop_of_some([11, 2, 13, 4]:i32) global=4 local=4 => [21, 2, 46, 4]:i32
; run: inner_loop_of_some([1, 2, 3, 4]:i32) global=4 local=4 => [1, 2, 3, 4]:i32
; run: inner_loop_of_some([12, 12, 13, 10]:i32) global=4 local=4 => [33, 33, 46, 10]:i32

kernel "inner_loop_of_some" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    v5: i1 = icmp.sgt v4, 9:i32
    br v5, b1, b2
  b1:
    jump b3(v4, 0)
  b2:
    jump b6(v4)
  b3(v6: i32, v7: i32):
    v8: i1 = icmp.sgt v6, 9:i32
    br v8, b4, b5(v7)
  b4:
    v9: i32 = add v7, v6
    v10: i32 = add v6, -1
    jump b3(v10, v9)
  b5(v12: i32):
    jump b6(v12)
  b6(v11: i32):
    store v11 to v3 align 4
    return
  }
}

; output: coherence_versions
; kernel "inner_loop_of_some" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = load v3 align 4
;     v5: i1 = icmp.sgt v4, 9:i32
;     br v5, b1, b2
;   b1:
;     v20: i1 = any true
;     br v20, b13, b14
;   b2:
;     jump b6(v4)
;   b3(v6: i32, v7: i32):
;     v8: i1 = icmp.sgt v6, 9:i32
;     br v8, b4, b11(v7)
;   b4:
;     v9: i32 = add v7, v6
;     v10: i32 = add v6, -1
;     jump b3(v10, v9)
;   b5(v12: i32):
;     jump b6(v12)
;   b6(v11: i32):
;     store v11 to v3 align 4
;     return
;   b7(v25: i64, v26: i32):
;     v27: i64 = ctz v25
;     v28: i32 = lane_of v4, v27
;     jump b15(v28, 0)
;   b8(v34: i32):
;     v35: i32 = put v26, v27, v34
;     v37: i64 = add v25, -1
;     v38: i64 = and v25, v37
;     v39: i1 = icmp.ne v38, 0:i64
;     br v39, b9, b10(v35)
;   b9:
;     jump b7(v38, v35)
;   b10(v40: i32):
;     jump b5(v40)
;   b11(v18: i32):
;     jump b5(v18)
;   b12:
;     jump b3(v4, 0)
;   b13:
;     v21: i64 = ballot true
;     v22: i64 = popcount v21
;     v24: i1 = icmp.ule v22, 1:i64
;     br v24, b17, b12
;   b14:
;     jump b5(0)
;   b15(v29: i32, v30: i32):
;     v31: i1 = icmp.sgt v29, 9:i32
;     br v31, b16, b8(v30)
;   b16:
;     v32: i32 = add v30, v29
;     v33: i32 = add v29, -1
;     jump b15(v33, v32)
;   b17:
;     jump b7(v21, 0)
;   }
; }
