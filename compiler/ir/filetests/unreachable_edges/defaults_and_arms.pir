; test: unreachable_edges
; stage: regions
; The last case stands for the default that is never taken; arms that end nowhere go, through blocks that only compute;
; a block that stores before stays.
; run: chosen([9, 9, 9, 9]:i32) global=4 local=4 => [10, 20, 30, 40]:i32

kernel "chosen" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.local_id 0
    v2: i64 = shl v1, 2
    v3: ptr.global = ptradd v0, v2
    v4: i64 = and v1, 3
    v5: i1 = icmp.ult v1, 4:i64
    br v5, b1, b9
  b1:
    switch v4 [0: b6(10), 1: b6(20), 2: b3, 5: b7, 3: b6(40)] default b8(v4)
  b3:
    v6: i1 = icmp.eq v1, 17:i64
    br v6, b4, b6(30)
  b4:
    store 7:i32 to v3 align 4
    br v5, b7, b9
  b6(v7: i32):
    store v7 to v3 align 4
    return
  b7:
    v8: i64 = add v4, 1
    jump b8(v8)
  b8(v9: i64):
    v10: i1 = icmp.eq v9, 0:i64
    br v10, b9, b10
  b9:
    unreachable
  b10:
    v11: i64 = add v9, 1
    unreachable
  }
}

; output: unreachable_edges
; kernel "chosen" {
;   args 8
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   input value(0, 0): ptr.global
;   region r0 {
;   b0(v0: ptr.global):
;     v1: i64 = query.local_id 0
;     v2: i64 = shl v1, 2
;     v3: ptr.global = ptradd v0, v2
;     v4: i64 = and v1, 3
;     v5: i1 = icmp.ult v1, 4:i64
;     jump b1
;   b1:
;     switch v4 [0: b6(10), 1: b6(20), 2: b3] default b6(40)
;   b3:
;     v6: i1 = icmp.eq v1, 17:i64
;     br v6, b4, b6(30)
;   b4:
;     store 7:i32 to v3 align 4
;     unreachable
;   b6(v7: i32):
;     store v7 to v3 align 4
;     return
;   }
; }
