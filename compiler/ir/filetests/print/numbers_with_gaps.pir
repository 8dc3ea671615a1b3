; test: print
; Numbers stay as they are written although constants and dropped values take numbers too.

kernel "gaps" {
  region r0 {
  b3:
    v7: i64 = query.global_id 1
    v2: i64 = add v7, 1
    v12: i64 = mul v2, 3
    jump b1(v12)
  b1(v9: i64):
    return
  }
}
