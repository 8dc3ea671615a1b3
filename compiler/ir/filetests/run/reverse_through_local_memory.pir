; test: run
; Each item writes its element to local memory and, behind the barrier, reads the mirrored one.
; run: reverse([1, 2, 3, 4, 5, 6, 7, 8]:i32, local(16)) global=8 local=4 => [4, 3, 2, 1, 8, 7, 6, 5]:i32
; run: reverse([1, 2, 3, 4, 5, 6]:i32, local(16)) global=6 local=4 => [4, 3, 2, 1, 6, 5]:i32
; run: reverse([1, 2, 3, 4]:i32, local(8)) global=4 local=4 => error: out of bounds: 4 bytes at offset 8 of local argument 1 (8 bytes) in work-item (2, 0, 0) at r0, b0
; run: reverse([1, 2]:i32, local(16)) global=4 local=4 => error: out of bounds: 4 bytes at offset 8 of buffer 0 (8 bytes) in work-item (2, 0, 0) at r0, b0

kernel "reverse" {
  args 16
  param "x" pointer.global "int*" size 8 align 8 offset 0
  param "tmp" local "int*" size 8 align 128 offset 8
  input value(0, 0): ptr.global
  input value(1, 0): ptr.local
  region r0 {
  b0(v0: ptr.global, v1: ptr.local):
    v2: i64 = query.global_id 0
    v3: i64 = query.local_id 0
    v4: i64 = query.local_size 0
    v5: i64 = shl v2, 2
    v6: ptr.global = ptradd.inbounds v0, v5
    v7: i32 = load v6 align 4
    v8: i64 = shl v3, 2
    v9: ptr.local = ptradd.inbounds v1, v8
    store v7 to v9 align 4
    barrier
    v10: i64 = sub v4, v3
    v11: i64 = shl v10, 2
    v12: ptr.local = ptradd.inbounds v1, v11
    v13: i32 = load v12 - 4 align 4
    store v13 to v6 align 4
    return
  }
}
