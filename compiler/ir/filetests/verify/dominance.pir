; test: verify
; A use must come behind its definition on every path.

kernel "uses" {
  region r0 {
  b0:
    v0: i64 = query.global_id 0
    v1: i64 = add v2, v0 ; error: v2 is not defined on every path to here
    v2: i64 = add v2, v0 ; error: v2 is not defined on every path to here
    v3: i1 = icmp.eq v0, v2
    br v3, b1, b2
  b1:
    v4: i64 = add v0, 1
    jump b3(v4)
  b2:
    jump b3(v4) ; error: v4 is not defined on every path to here
  b3(v5: i64):
    v6: i64 = add v4, v5 ; error: v4 is not defined on every path to here
    v7: i1 = icmp.eq v6, v8 ; error: v8 is not defined on every path to here
    br v7, b3(v6), b4
  b4:
    v8: i64 = add v5, v2
    return
  }
}
