//! OpenCL C: each kernel maps a buffer to a buffer and is compared with the function beside it.

use lockstep_conformance::{Plain, Random, Setup, arguments, read, run};
use std::fmt::Debug;

/// Runs `kernel void f(global const I *in, global O *out)` with one item for each of `items`, and compares.
#[track_caller]
fn compare<I: Plain, O: Plain + PartialEq + Debug>(source: &str, input: &[I], items: usize, wanted: &[O]) {
    compare_built(source, "", input, items, wanted);
}

#[track_caller]
fn compare_built<I: Plain, O: Plain + PartialEq + Debug>(
    source: &str,
    options: &str,
    input: &[I],
    items: usize,
    wanted: &[O],
) {
    let setup = Setup::new();
    let kernel = setup.context.build(source, options).kernel("f");
    let (from, to) = (setup.context.with_values(input), setup.context.zeros::<O>(wanted.len()));
    kernel.set_all(arguments![&from, &to]);
    run(&setup.queue, &kernel, &[items], &[]);
    let got: Vec<O> = read(&setup.queue, &to);
    if let Some(at) = (0..wanted.len()).find(|&at| got[at] != wanted[at]) {
        panic!("element {at}: {:?} instead of {:?}", got[at], wanted[at]);
    }
}

/// Maps ints one by one.
#[track_caller]
fn map(source: &str, input: &[i32], reference: impl Fn(usize, i32) -> i32) {
    let wanted: Vec<i32> = input.iter().enumerate().map(|(at, &value)| reference(at, value)).collect();
    compare(source, input, input.len(), &wanted);
}

fn ints() -> Vec<i32> {
    let mut random = Random::new(3);
    let mut values = vec![0, 1, -1, i32::MAX, i32::MIN, 2, 255, -256];
    values.extend((0..248).map(|_| random.int()));
    values
}

#[test]
fn integer_arithmetic() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        int x = in[g], y = in[(g + 1) % 256] | 1;
        int quotient = y == -1 ? 0 : x / y, rest = y == -1 ? 0 : x % y;
        out[g] = quotient ^ rest ^ (int)((uint)x / (uint)y) ^ (int)((uint)x % (uint)y) ^ (x >> 3) ^ (int)((uint)x >> 5)
               ^ (int)((uint)x << 7) ^ (x * 31 - y) ^ ~x ^ -y ^ (x < y ? 77 : 11) ^ ((uint)x < (uint)y ? 1000 : 5);
    }";
    let input = ints();
    let next: Vec<i32> = (0..256).map(|at| input[(at + 1) % 256] | 1).collect();
    map(source, &input, |at, x| {
        let y = next[at];
        let (quotient, rest) = if y == -1 { (0, 0) } else { (x.wrapping_div(y), x.wrapping_rem(y)) };
        let unsigned = (x as u32 / y as u32) ^ (x as u32 % y as u32) ^ (x as u32 >> 5);
        quotient
            ^ rest
            ^ unsigned as i32
            ^ (x >> 3)
            ^ (x << 7)
            ^ x.wrapping_mul(31).wrapping_sub(y)
            ^ !x
            ^ y.wrapping_neg()
            ^ if x < y { 77 } else { 11 }
            ^ if (x as u32) < y as u32 { 1000 } else { 5 }
    });
}

#[test]
fn long_arithmetic() {
    let source = "kernel void f(global const long *in, global long *out) {
        size_t g = get_global_id(0);
        long x = in[g];
        ulong u = x;
        out[g] = (x / 1000003) ^ (x % 97) ^ (long)(u / 7) ^ (long)(u >> 11) ^ (x >> 13) ^ (x * x) ^ (x > 0 ? 5L << 40 : 3)
               ^ mul_hi(x, 0x123456789abcdefL) ^ (long)popcount(u) ^ (long)clz(u | 1);
    }";
    let mut random = Random::new(5);
    let input: Vec<i64> = (0..100).map(|_| random.bits() as i64).collect();
    let reference = |x: i64| {
        let u = x as u64;
        (x / 1_000_003)
            ^ (x % 97)
            ^ (u / 7) as i64
            ^ (u >> 11) as i64
            ^ (x >> 13)
            ^ x.wrapping_mul(x)
            ^ if x > 0 { 5 << 40 } else { 3 }
            ^ ((i128::from(x) * 0x0123_4567_89ab_cdef) >> 64) as i64
            ^ i64::from(u.count_ones())
            ^ i64::from((u | 1).leading_zeros())
    };
    let wanted: Vec<i64> = input.iter().map(|&x| reference(x)).collect();
    compare(source, &input, 100, &wanted);
}

#[test]
fn narrow_integers_wrap_and_extend() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        char c = (char)in[g]; uchar u = (uchar)in[g]; short s = (short)in[g]; ushort t = (ushort)in[g];
        c += 100; u += 100; s *= 3; t *= 3;
        out[g] = c + u * 3 + s * 5 + t * 7 + (c >> 1) + (u >> 1);
    }";
    map(source, &ints(), |_, x| {
        let (c, u) = ((x as i8).wrapping_add(100), (x as u8).wrapping_add(100));
        let (s, t) = ((x as i16).wrapping_mul(3), (x as u16).wrapping_mul(3));
        i32::from(c) + i32::from(u) * 3 + i32::from(s) * 5 + i32::from(t) * 7 + i32::from(c >> 1) + i32::from(u >> 1)
    });
}

#[test]
fn floats_and_doubles() {
    let source = "kernel void f(global const float *in, global double *out) {
        size_t g = get_global_id(0);
        float x = in[g], y = in[(g + 7) % 64];
        double d = (double)x * y + 0.1;
        out[g * 2] = x * y + (x - y) * 0.5f;
        out[g * 2 + 1] = d * d - (x > y ? 1.0 : 2.0) + (double)(int)x + (double)(uint)fabs(y);
    }";
    let input = Random::new(9).whole_floats(64);
    let wanted: Vec<f64> = (0..64)
        .flat_map(|g| {
            let (x, y) = (input[g], input[(g + 7) % 64]);
            let d = f64::from(x) * f64::from(y) + 0.1;
            let single = f64::from(x * y + (x - y) * 0.5);
            [single, d * d - if x > y { 1.0 } else { 2.0 } + f64::from(x as i32) + f64::from(y.abs() as u32)]
        })
        .collect();
    // Without contraction the sums are the host's.
    compare_built(&format!("#pragma OPENCL FP_CONTRACT OFF\n{source}"), "", &input, 64, &wanted);
}

#[test]
fn program_scope_constants() {
    let source = "
        constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
        constant float scale = 2.5f;
        constant struct { int a; char b[4]; } mixed = {9, {1, 2, 3, 4}};
        constant int *constant pointers[2] = {primes + 2, primes + 5};
        kernel void f(global const int *in, global int *out) {
            size_t g = get_global_id(0);
            out[g] = primes[in[g] & 7] + (int)(scale * 2) + mixed.a + mixed.b[g & 3] + pointers[g & 1][1];
        }";
    let primes = [2, 3, 5, 7, 11, 13, 17, 19];
    map(source, &ints(), |g, x| {
        primes[(x & 7) as usize] + 5 + 9 + (g as i32 & 3) + 1 + if g & 1 == 0 { 7 } else { 17 }
    });
}

#[test]
fn constants_in_a_function() {
    let source = "kernel void f(global const int *in, global int *out) {
        constant int table[] = {10, 20, 30, 40};
        const int copy[] = {1, 2, 3};
        out[get_global_id(0)] = table[in[get_global_id(0)] & 3] + copy[(uint)in[get_global_id(0)] % 3];
    }";
    map(source, &ints(), |_, x| (x & 3) * 10 + 10 + (x as u32 % 3) as i32 + 1);
}

#[test]
fn private_arrays() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        int stack[32], top = 0;
        uint x = in[g];
        while (x) { stack[top++] = x % 10; x /= 10; }
        int table[4][4];
        for (int i = 0; i < 16; ++i) table[i / 4][i % 4] = i * (int)g;
        int result = 0;
        while (top) result = result * 7 + stack[--top];
        out[g] = result + table[in[g] & 3][(in[g] >> 2) & 3];
    }";
    map(source, &ints(), |g, x| {
        let digits = if x == 0 { vec![] } else { (x as u32).to_string().into_bytes() };
        let result = digits.iter().fold(0_i32, |sum, digit| sum.wrapping_mul(7).wrapping_add(i32::from(digit - b'0')));
        result.wrapping_add(((x & 3) * 4 + ((x >> 2) & 3)) * g as i32)
    });
}

#[test]
fn structs_and_unions() {
    let source = "
        typedef struct { short a; int b[2]; struct { char x, y; } c; } S;
        typedef union { uint whole; uchar bytes[4]; float number; } U;
        S make(int v) { S s = {(short)v, {v + 1, v + 2}, {(char)v, 7}}; return s; }
        void change(S *s) { s->b[s->a & 1] += 100; S copy = *s; copy.c.y = 9; *s = copy; }
        kernel void f(global const int *in, global int *out) {
            size_t g = get_global_id(0);
            S s = make(in[g] & 0xffff);
            change(&s);
            U u; u.whole = in[g];
            u.bytes[1] ^= 0x5a;
            out[g] = s.a + s.b[0] + s.b[1] + s.c.x + s.c.y + (int)u.whole;
        }";
    map(source, &ints(), |_, x| {
        let v = x & 0xffff;
        let s = i32::from(v as i16) + v + 1 + v + 2 + 100 + i32::from(v as i8) + 9;
        s.wrapping_add(x ^ 0x5a00)
    });
}

#[test]
fn structs_in_buffers() {
    let source = "
        typedef struct { int key; float weight; } Item;
        kernel void f(global const Item *in, global Item *out) {
            size_t g = get_global_id(0);
            Item item = in[g];
            item.key += 5;
            item.weight *= 2.0f;
            out[63 - g] = item;
        }";
    let input: Vec<[u8; 8]> = (0..64_i32)
        .map(|i| (u64::from(i as u32) | u64::from((i as f32 * 0.5).to_bits()) << 32).to_ne_bytes())
        .collect();
    let wanted: Vec<[u8; 8]> = (0..64_i32)
        .rev()
        .map(|i| (u64::from(i as u32 + 5) | u64::from((i as f32).to_bits()) << 32).to_ne_bytes())
        .collect();
    compare(source, &input, 64, &wanted);
}

#[test]
fn switches() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        int v = in[g], r = 0;
        switch ((uint)v % 7) {
        case 0: r = 1; break;
        case 1: r = 2;
        case 2: r += 10; break;
        case 5: for (int i = 0; i < 3; ++i) { if (i == (v & 3)) break; r += 4; } break;
        case 6: out[g] = -1; return;
        default: r = v & 15;
        }
        switch (v) { case -2147483647 - 1: r += 1000; break; case 2147483647: r += 2000; break; }
        out[g] = r;
    }";
    map(source, &ints(), |_, v| {
        let r = match v as u32 % 7 {
            0 => 1,
            1 => 12,
            2 => 10,
            5 => (v & 3).min(3) * 4,
            6 => return -1,
            _ => v & 15,
        };
        r + if v == i32::MIN {
            1000
        } else if v == i32::MAX {
            2000
        } else {
            0
        }
    });
}

#[test]
fn kernels_that_call_kernels() {
    let source = "
        kernel void inner(global const int *in, global int *out) { out[get_global_id(0)] = in[get_global_id(0)] + 1; }
        int twice(int x) { return x * 2; }
        kernel void f(global const int *in, global int *out) {
            inner(in, out);
            out[get_global_id(0)] = twice(out[get_global_id(0)]);
        }";
    map(source, &(0..50).collect::<Vec<i32>>(), |_, x| (x + 1) * 2);
}

#[test]
fn function_chains_and_pointers() {
    let source = "
        void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
        int sum(const int *v, int n) { int s = 0; for (int i = 0; i < n; ++i) s += v[i]; return s; }
        void fill(int *v, int n, int with) { for (int i = 0; i < n; ++i) v[i] = with + i; }
        kernel void f(global const int *in, global int *out) {
            int v[5];
            fill(v, 5, in[get_global_id(0)] & 255);
            swap(&v[0], &v[4]);
            int *p = v + 1;
            out[get_global_id(0)] = sum(p, 4) * 2 + *v;
        }";
    map(source, &ints(), |_, x| {
        let base = x & 255;
        (base * 4 + 6) * 2 + base + 4
    });
}

#[test]
fn vload_and_vstore() {
    let source = "kernel void f(global const float *in, global float *out) {
        size_t g = get_global_id(0);
        float2 a = vload2(g, in); float3 b = vload3(g, in); float4 c = vload4(g & 15, in);
        float16 d = vload16(g & 3, in);
        vstore3((float3)(a.x + b.y, c.w, d.sf), g, out);
        float v[4]; vstore4(c, 0, v);
        out[3 * 64 + g] = v[g & 3];
    }";
    let input: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let mut wanted = vec![0.0; 256];
    for g in 0..64 {
        wanted[3 * g] = input[2 * g] + input[3 * g + 1];
        wanted[3 * g + 1] = input[4 * (g & 15) + 3];
        wanted[3 * g + 2] = input[16 * (g & 3) + 15];
        wanted[192 + g] = input[4 * (g & 15) + (g & 3)];
    }
    compare(source, &input, 64, &wanted);
}

#[test]
fn half_storage() {
    let source = "kernel void f(global const float *in, global float *out) {
        size_t g = get_global_id(0);
        ushort store[12];
        half *h = (half *)store;
        vstore_half(in[g], 0, h);
        vstore_half2_rtz((float2)(in[g], -in[g]), 1, h);
        vstore_half3((float3)(1.0f, 0.5f, 65504.0f), 2, h);
        out[g] = vload_half(0, h) + vload_half2(1, h).y + vload_half3(2, h).z - 65504.0f;
        out[64 + g] = vload_half(0, h);
    }";
    // Eighths up to 255 fit into a half, so every rounding gives the same.
    let input: Vec<f32> = (0..64).map(|i| i as f32 * 3.125 - 20.0).collect();
    let mut wanted = vec![0.0; 64];
    wanted.extend(&input);
    compare(source, &input, 64, &wanted);
}

#[test]
fn shuffles_and_swizzles() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        int4 v = vload4(g, in);
        int4 s = shuffle(v, (uint4)(3, 2, 1, (uint)g & 3));
        int4 t = shuffle2(v, v * 10, (uint4)(0, 4, 7, 2));
        v.xz = v.zx;
        v.odd += 1;
        int8 wide = (int8)(v, s);
        vstore4((int4)(s.w + t.y, t.z, wide.s5, wide.lo.hi.x + v.s1), g, out);
    }";
    let input: Vec<i32> = (0..256).map(|i| i * i % 97).collect();
    let wanted: Vec<i32> = (0..64)
        .flat_map(|g| {
            let v = &input[4 * g..4 * g + 4];
            [v[g & 3] + v[0] * 10, v[3] * 10, v[2], v[0] + v[1] + 1]
        })
        .collect();
    compare(source, &input, 64, &wanted);
}

#[test]
fn conversions() {
    let source = "kernel void f(global const float *in, global int *out) {
        size_t g = get_global_id(0);
        float x = in[g];
        global int *o = out + g * 8;
        o[0] = convert_int(x); o[1] = convert_int_rte(x); o[2] = convert_int_rtp(x); o[3] = convert_int_rtn(x);
        o[4] = convert_uchar_sat(x); o[5] = convert_char_sat_rte(x); o[6] = convert_short_sat(x * 100.0f);
        o[7] = as_int(x) ^ convert_int4((float4)(x)).z;
    }";
    let input: Vec<f32> = (0..64).map(|i| (i - 32) as f32 * 12.25 + 0.5).collect();
    let wanted: Vec<i32> = input
        .iter()
        .flat_map(|&x| {
            [
                x as i32,
                x.round_ties_even() as i32,
                x.ceil() as i32,
                x.floor() as i32,
                i32::from(x as u8),
                i32::from(x.round_ties_even() as i8),
                i32::from((x * 100.0) as i16),
                x.to_bits() as i32 ^ x as i32,
            ]
        })
        .collect();
    compare(source, &input, 64, &wanted);
}

/// What is out of range of a narrow type is up to the driver, and applications rely on what processors do: cut off the upper
/// bits.
#[test]
fn conversions_out_of_range() {
    let input: Vec<f32> = (0..1024).map(|i| (i * 1237 % 2048 - 1024) as f32 * 93.75).collect();
    let source = |to: &str| {
        format!(
            "kernel void f(global const float4 *in, global {to}4 *out) {{
                size_t g = get_global_id(0);
                out[g] = (g & 1) ? convert_{to}4(in[g]) : convert_{to}4(convert_double4(in[g]));
            }}"
        )
    };
    compare(&source("uchar"), &input, 256, &input.iter().map(|&x| x as i32 as u8).collect::<Vec<_>>());
    compare(&source("char"), &input, 256, &input.iter().map(|&x| x as i32 as i8).collect::<Vec<_>>());
    compare(&source("ushort"), &input, 256, &input.iter().map(|&x| x as i32 as u16).collect::<Vec<_>>());
    compare(&source("short"), &input, 256, &input.iter().map(|&x| x as i32 as i16).collect::<Vec<_>>());
}

#[test]
fn vector_comparisons_and_select() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        int4 a = vload4(g, in), b = a.wzyx;
        int4 less = a < b;
        int4 picked = select(a, b, less);
        vstore4(picked - less + (any(a == b) ? 100 : 0) + (all(a >= 0) ? 1000 : 0), g, out);
    }";
    let input = ints();
    let wanted: Vec<i32> = (0..64)
        .flat_map(|g| {
            let a: [i32; 4] = std::array::from_fn(|i| input[4 * g + i]);
            let extra = if (0..4).any(|i| a[i] == a[3 - i]) { 100 } else { 0 }
                + if a.iter().all(|a| *a >= 0) { 1000 } else { 0 };
            std::array::from_fn::<i32, 4, _>(|i| {
                let b = a[3 - i];
                let (picked, less) = if a[i] < b { (b, -1) } else { (a[i], 0) };
                picked.wrapping_sub(less).wrapping_add(extra)
            })
        })
        .collect();
    compare(source, &input, 64, &wanted);
}

#[test]
fn integer_functions() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        int x = in[g], y = in[255 - g];
        out[g] = (int)abs(x) ^ (int)abs_diff(x, y) ^ add_sat(x, y) ^ sub_sat(x, y) ^ hadd(x, y) ^ rhadd(x, y) ^ clamp(x, -5, 5000)
               ^ clz(x) ^ popcount(x) ^ mad_hi(x, y, 3) ^ mul_hi(x, y) ^ max(x, y) ^ min(x, y) ^ rotate(x, y & 31)
               ^ mul24(x >> 9, y >> 9) ^ (int)upsample((short)x, (ushort)y);
    }";
    let input = ints();
    let all = input.clone();
    map(source, &input, |g, x| {
        let y = all[255 - g];
        let wide = |x: i32| i64::from(x);
        let high = ((wide(x) * wide(y)) >> 32) as i32;
        x.unsigned_abs() as i32
            ^ x.abs_diff(y) as i32
            ^ x.saturating_add(y)
            ^ x.saturating_sub(y)
            ^ ((wide(x) + wide(y)) >> 1) as i32
            ^ ((wide(x) + wide(y) + 1) >> 1) as i32
            ^ x.clamp(-5, 5000)
            ^ x.leading_zeros() as i32
            ^ x.count_ones() as i32
            ^ high.wrapping_add(3)
            ^ high
            ^ x.max(y)
            ^ x.min(y)
            ^ x.rotate_left(y as u32 & 31)
            ^ (x >> 9).wrapping_mul(y >> 9)
            ^ (i32::from(x as i16) << 16 | i32::from(y as u16))
    });
}

#[test]
fn math_functions_of_exact_results() {
    let source = "kernel void f(global const float *in, global float *out) {
        size_t g = get_global_id(0);
        float x = in[g];
        global float *o = out + g * 8;
        int e; float whole;
        o[0] = floor(x); o[1] = ceil(x); o[2] = trunc(x); o[3] = rint(x);
        o[4] = fabs(x) + copysign(1.0f, x); o[5] = fmax(x, 2.0f) + fmin(x, -3.0f);
        o[6] = sqrt(x * x); o[7] = ldexp(frexp(x, &e), e) + modf(x, &whole) + whole - x;
    }";
    let input: Vec<f32> = (0..64).map(|i| (i - 30) as f32 * 0.75).collect();
    let wanted: Vec<f32> = input
        .iter()
        .flat_map(|&x| {
            [
                x.floor(),
                x.ceil(),
                x.trunc(),
                x.round_ties_even(),
                x.abs() + 1.0_f32.copysign(x),
                x.max(2.0) + x.min(-3.0),
                x.abs(),
                x,
            ]
        })
        .collect();
    compare(source, &input, 64, &wanted);
}

/// Kernels cut them off.
#[test]
fn native_roots_of_squares_and_quotients_by_constants_are_whole() {
    let source = "kernel void f(global const float *in, global uint *out) {
        size_t g = get_global_id(0);
        out[g] = native_sqrt(in[g] * in[g]) + native_divide(in[g] * 6.0f, 3.0f) * native_recip(0.5f);
    }";
    let input: Vec<f32> = (0..4096).map(|i| i as f32).collect();
    let wanted: Vec<u32> = (0..4096).map(|i| i * 5).collect();
    compare(source, &input, 4096, &wanted);
}

#[test]
fn math_functions_within_their_bounds() {
    let setup = Setup::new();
    type Function = (&'static str, fn(f64) -> f64, f64);
    // The bounds, in units in the last place, are those of the specification for single precision.
    let functions: [Function; 12] = [
        ("sin", f64::sin, 4.0),
        ("cos", f64::cos, 4.0),
        ("tan", f64::tan, 5.0),
        ("exp", f64::exp, 3.0),
        ("exp2", f64::exp2, 3.0),
        ("log", f64::ln, 3.0),
        ("log2", f64::log2, 3.0),
        ("sqrt", f64::sqrt, 3.0),
        ("rsqrt", |x| 1.0 / x.sqrt(), 2.0),
        ("atan", f64::atan, 5.0),
        ("tanh", f64::tanh, 5.0),
        ("cbrt", f64::cbrt, 2.0),
    ];
    let input: Vec<f32> = (1..=256).map(|i| i as f32 * 0.0371).collect();
    let from = setup.context.with_values(&input);
    let to = setup.context.zeros::<f32>(256);
    for (name, reference, bound) in functions {
        let source = format!(
            "kernel void f(global const float *in, global float *out) {{
            out[get_global_id(0)] = {name}(in[get_global_id(0)]);
        }}"
        );
        let kernel = setup.context.kernel(&source, "f");
        kernel.set_all(arguments![&from, &to]);
        run(&setup.queue, &kernel, &[256], &[]);
        for (x, got) in input.iter().zip(read::<f32>(&setup.queue, &to)) {
            let exact = reference(f64::from(*x));
            let ulp = f64::from((exact as f32).abs().next_up()) - f64::from((exact as f32).abs());
            let error = (f64::from(got) - exact).abs() / ulp;
            assert!(error <= bound, "{name}({x}) = {got} is off by {error} units in the last place");
        }
    }
}

#[test]
fn geometric_functions() {
    let source = "kernel void f(global const float *in, global float *out) {
        size_t g = get_global_id(0);
        float4 a = vload4(g, in);
        float3 c = cross(a.xyz, (float3)(1.0f, 2.0f, 3.0f));
        out[g] = dot(a, (float4)(1.0f, 2.0f, 3.0f, 4.0f)) + c.x + c.y * 2.0f + c.z * 4.0f
               + length((float2)(3.0f, 4.0f)) + distance((float2)(1.0f), (float2)(1.0f, 3.0f));
    }";
    let input = Random::new(2).whole_floats(256);
    let wanted: Vec<f32> = input
        .chunks_exact(4)
        .map(|a| {
            let cross = (a[1] * 3.0 - a[2] * 2.0) + (a[2] - a[0] * 3.0) * 2.0 + (a[0] * 2.0 - a[1]) * 4.0;
            a[0] + a[1] * 2.0 + a[2] * 3.0 + a[3] * 4.0 + cross + 7.0
        })
        .collect();
    compare(source, &input, 64, &wanted);
}

#[test]
fn async_copies() {
    let source = "kernel void f(global const int *in, global int *out) {
        local int there[32], back[16], picked[16];
        size_t l = get_local_id(0), group = get_group_id(0);
        event_t e = async_work_group_copy(there, in + group * 32, 32, 0);
        e = async_work_group_strided_copy(picked, in + group * 32, 16, 2, e);
        wait_group_events(1, &e);
        back[l] = there[31 - l] + picked[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        event_t f = async_work_group_copy(out + group * 16, back, 16, 0);
        wait_group_events(1, &f);
        prefetch(in, 4);
    }";
    let input: Vec<i32> = (0..128).map(|i| i * 3 % 101).collect();
    let wanted: Vec<i32> = (0..64)
        .map(|g| {
            let (base, l) = (g / 16 * 32, g % 16);
            input[base + 31 - l] + input[base + 2 * l]
        })
        .collect();
    let setup = Setup::new();
    let kernel = setup.context.kernel(source, "f");
    let (from, to) = (setup.context.with_values(&input), setup.context.zeros::<i32>(64));
    kernel.set_all(arguments![&from, &to]);
    run(&setup.queue, &kernel, &[64], &[16]);
    assert_eq!(read::<i32>(&setup.queue, &to), wanted);
}

#[test]
fn vectors_of_structs_of_vectors() {
    let source = "
        typedef struct { float3 at; int id; uchar4 colour; } Particle;
        kernel void f(global const int *in, global int *out) {
            Particle p[3];
            for (int i = 0; i < 3; ++i) {
                p[i].at = (float3)(i, i + 1, i + 2);
                p[i].id = in[get_global_id(0)] + i;
                p[i].colour = (uchar4)(i, 2 * i, 3 * i, 255);
            }
            Particle q = p[in[get_global_id(0)] % 3];
            out[get_global_id(0)] = q.id * 1000 + (int)(q.at.x + q.at.y + q.at.z) + q.colour.z + sizeof(Particle);
        }";
    map(source, &(0..60).collect::<Vec<i32>>(), |_, v| {
        let i = v % 3;
        (v + i) * 1000 + 3 * i + 3 + 3 * i + 32
    });
}

#[test]
fn pointers_through_memory() {
    let source = "kernel void f(global const int *in, global int *out) {
        global const int *pointers[4] = {in, in + 8, in + 16, in + 24};
        size_t g = get_global_id(0);
        global const int *p = pointers[in[g] & 3];
        ptrdiff_t apart = p - in;
        out[g] = p[g & 7] + (int)apart + (p == in ? 500 : 0);
    }";
    let input: Vec<i32> = (0..64).map(|i| i * 5 % 31).collect();
    let all = input.clone();
    map(source, &input, |g, v| {
        let start = (v & 3) * 8;
        all[start as usize + (g & 7)] + start + if start == 0 { 500 } else { 0 }
    });
}

#[test]
fn loops_with_divergent_exits() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        uint x = in[g];
        int found = -1, steps = 0;
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < 8; ++j) {
                ++steps;
                if (((x >> ((i * 8 + j) & 31)) & 7) == 5) { found = i * 8 + j; goto done; }
                if (((x >> j) & 31) == 30) break;
            }
            if (x & (1u << i)) continue;
            steps += 100;
        }
    done:
        out[g] = found * 10000 + steps;
    }";
    map(source, &ints(), |_, v| {
        let x = v as u32;
        let mut steps = 0;
        for i in 0..8 {
            for j in 0..8 {
                steps += 1;
                if (x >> ((i * 8 + j) & 31)) & 7 == 5 {
                    return (i * 8 + j) * 10000 + steps;
                }
                if (x >> j) & 31 == 30 {
                    break;
                }
            }
            if x & (1 << i) == 0 {
                steps += 100;
            }
        }
        -10000 + steps
    });
}

/// A cycle of four labels that a switch enters at any of them.
#[test]
fn cycles_with_several_entries() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        uint steps = 0, x = in[g];
        switch (x % 4) { case 0: goto L0; case 1: goto L1; case 2: goto L2; case 3: goto L3; }
    L0: if (++steps > 200) goto end; x = x * 3; if ((x & 7) == 1) goto L3;
    L1: if (++steps > 200) goto end; x = x * 3 + 1;
    L2: if (++steps > 200) goto end; x = x * 3 + 2;
    L3: if (++steps > 200) goto end; x = x * 3 + 3; if ((x & 15) == 2) goto L0;
    end: out[g] = x;
    }";
    map(source, &ints(), |_, v| {
        let (mut steps, mut x) = (0, v as u32);
        let mut label = x % 4;
        loop {
            steps += 1;
            if steps > 200 {
                return x as i32;
            }
            x = x.wrapping_mul(3).wrapping_add(label);
            label = match label {
                0 if x & 7 == 1 => 3,
                3 if x & 15 == 2 => 0,
                3 => return x as i32,
                _ => label + 1,
            };
        }
    });
}
