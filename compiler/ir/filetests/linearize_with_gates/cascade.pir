; test: divergent_loops, boscc, linearize
; test: run
; stage: normalized
; Moll 2021, figure 9.6c: a gang goes past each case that no lane takes, and past the rest of the cascade.
; run: cascade([1, 12, 60, 140]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2012, 1060, 140]:i32
; run: cascade([101, 102, 103, 104]:i32, 0:i32, 0:i32) global=4 local=4 => [101, 102, 103, 104]:i32
; run: cascade([1, 2, 50, 4]:i32, 0:i32, 0:i32) global=4 local=4 => [1, 2, 1050, 4]:i32

kernel "cascade" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "u" value "int" size 4 align 4 offset 8
  param "w" value "int" size 4 align 4 offset 12
  input value(0, 0): ptr.global
  input value(1, 0): i32
  input value(2, 0): i32
  region r0 {
  b0(v0: ptr.global, v1: i32, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = shl v3, 2
    v5: ptr.global = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i32 = or v1, 1
    v8: i1 = icmp.sgt v6, 99:i32
    br v8, b1, b2
  b1:
    v20: i32 = sdiv v6, v7
    v21: i32 = sdiv v20, v7
    v22: i32 = sdiv v21, v7
    v23: i32 = sdiv v22, v7
    jump b7(v23)
  b2:
    v9: i1 = icmp.sgt v6, 49:i32
    br v9, b3, b4
  b3:
    v30: i32 = sdiv v6, v7
    v31: i32 = sdiv v30, v7
    v32: i32 = sdiv v31, v7
    v33: i32 = sdiv v32, v7
    v50: i32 = add v33, 1000
    jump b8(v50)
  b4:
    v10: i1 = icmp.sgt v6, 9:i32
    br v10, b5, b6
  b5:
    v40: i32 = sdiv v6, v7
    v41: i32 = sdiv v40, v7
    v42: i32 = sdiv v41, v7
    v43: i32 = sdiv v42, v7
    v51: i32 = add v43, 2000
    jump b9(v51)
  b6:
    jump b9(v6)
  b9(v11: i32):
    jump b8(v11)
  b8(v12: i32):
    jump b7(v12)
  b7(v13: i32):
    store v13 to v5 align 4
    return
  }
}

; output: divergent_loops, boscc, linearize
; kernel "cascade" {
;   args 16
;   param "x" pointer.global "int*" size 8 align 8 offset 0
;   param "u" value "int" size 4 align 4 offset 8
;   param "w" value "int" size 4 align 4 offset 12
;   input value(0, 0): ptr.global
;   input value(1, 0): i32
;   input value(2, 0): i32
;   region r0 {
;   b0(v0: ptr.global, v1: i32, v2: i32):
;     v3: i64 = query.global_id 0
;     v4: i64 = shl v3, 2
;     v5: ptr.global = ptradd v0, v4
;     v6: i32 = load v5 align 4
;     v7: i32 = or v1, 1
;     v8: i1 = icmp.sgt v6, 99:i32
;     v60: i1 = xor v8, true
;     jump b10
;   b10 mask v8:
;     v53: i1 = any true
;     br v53, b1, b11
;   b1 mask v8:
;     v20: i32 = sdiv v6, v7
;     v21: i32 = sdiv v20, v7
;     v22: i32 = sdiv v21, v7
;     v23: i32 = sdiv v22, v7
;     v74: i32 = select v8, v23, 0
;     jump b12(v74)
;   b11 mask v8:
;     jump b12(0)
;   b12(v75: i32) mask v60:
;     v55: i1 = any true
;     br v55, b2, b13
;   b2 mask v60:
;     v9: i1 = icmp.sgt v6, 49:i32
;     v61: i1 = and v60, v9
;     v62: i1 = xor v9, true
;     v63: i1 = and v60, v62
;     jump b14
;   b14 mask v61:
;     v56: i1 = any true
;     br v56, b3, b15
;   b3 mask v61:
;     v30: i32 = sdiv v6, v7
;     v31: i32 = sdiv v30, v7
;     v32: i32 = sdiv v31, v7
;     v33: i32 = sdiv v32, v7
;     v50: i32 = add v33, 1000
;     v70: i32 = select v61, v50, 0
;     jump b16(v70)
;   b15 mask v61:
;     jump b16(0)
;   b16(v71: i32) mask v63:
;     v57: i1 = any true
;     br v57, b4, b17
;   b4 mask v63:
;     v10: i1 = icmp.sgt v6, 9:i32
;     v64: i1 = and v63, v10
;     v65: i1 = xor v10, true
;     v66: i1 = and v63, v65
;     jump b18
;   b18 mask v64:
;     v58: i1 = any true
;     br v58, b5, b19
;   b5 mask v64:
;     v40: i32 = sdiv v6, v7
;     v41: i32 = sdiv v40, v7
;     v42: i32 = sdiv v41, v7
;     v43: i32 = sdiv v42, v7
;     v51: i32 = add v43, 2000
;     v67: i32 = select v64, v51, 0
;     jump b6(v67)
;   b19 mask v64:
;     jump b6(0)
;   b6(v68: i32) mask v66:
;     v69: i32 = select v66, v6, v68
;     jump b9
;   b9 mask v63:
;     v72: i32 = select v63, v69, v71
;     jump b8(v72)
;   b17 mask v63:
;     jump b8(v71)
;   b8(v73: i32) mask v60:
;     v76: i32 = select v60, v73, v75
;     jump b7(v76)
;   b13 mask v60:
;     jump b7(v75)
;   b7(v77: i32):
;     store v77 to v5 align 4
;     return
;   }
; }
