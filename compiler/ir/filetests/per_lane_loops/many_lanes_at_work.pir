; test: loop_profile, coherence_versions
; test: run
; stage: normalized
; passes: -unmasked_loops
; loops: counted(100,1600,1000,5000)
; A third of the lanes was at work: nothing changes.
; run: many_lanes_at_work([11, 2, 13, 4]:i32) global=4 local=4 => [21, 2, 46, 4]:i32
; run: many_lanes_at_work([12, 12, 13, 10]:i32) global=4 local=4 => [33, 33, 46, 10]:i32
; run: many_lanes_at_work([30, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20]:i32) global=18 local=18 => [420, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 165]:i32

kernel "many_lanes_at_work" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i32 = load v3 align 4
    jump b1(v4, 0)
  b1(v5: i32, v6: i32):
    v7: i32 = add v6, v5
    v8: i32 = add v5, -1
    v9: i1 = icmp.sgt v8, 9:i32
    br v9, b2, b3(v7)
  b2:
    jump b1(v8, v7)
  b3(v10: i32):
    store v10 to v3 align 4
    return
  }
}

; output: loop_profile, coherence_versions
; kernel "many_lanes_at_work" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.global_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i32 = load v3 align 4
;     jump b1(v4, 0)
;   b1(v5: i32, v6: i32):
;     v7: i32 = add v6, v5
;     v8: i32 = add v5, -1
;     v9: i1 = icmp.sgt v8, 9:i32
;     br v9, b2, b3(v7)
;   b2:
;     jump b1(v8, v7)
;   b3(v10: i32):
;     store v10 to v3 align 4
;     return
;   }
; }
