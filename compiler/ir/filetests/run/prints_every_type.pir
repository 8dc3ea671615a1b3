; test: run
; Arguments of every kind reach printf: narrow and wide integers, floats of each width, a vector, nothing.
; run: print([7, -8]:i32) global=1 local=1 => [-1, 0]:i32, printf fmt0(249, 18446744073709551608, 15360, 1069547520, 13830554455654793216, 1, 2, 3), printf fmt1()

format fmt0 "%hhd %ld %f %f %f %v3d" (i8, i64, f16, f32, f64, i32 x 3)
format fmt1 "%%" ()

kernel "print" {
  args 8
  param "x" pointer.global "int*" size 8 align 8 offset 0
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i32, v2: i32 = load v0 align 4
    v3: i32 = sub 0, v1
    v4: i8 = trunc v3
    v5: i64 = sext v2
    v6: i32 = printf fmt0(v4, v5, 1.0:f16, 1.5:f32, -1.0:f64, 1:i32, 2:i32, 3:i32)
    v7: i32 = printf fmt1()
    v8: i32 = sub v6, 1
    store v8, v7 to v0 align 4
    return
  }
}
