//! Functions that touch memory or ask for the work-item: vector loads and stores, half in memory, shuffles, copies,
//! atomics, queries, and functions with results through pointers in every address space.

use std::sync::OnceLock;

use crate::host::{Host, Random, bytes, values};

/// The primitives answer with the numbers of the host program: see `host.rs`.
const SOURCE: &str = r"
#define EACH for (ulong i = 0; i < n; i++)
void load3(global const int *x, global int *r, ulong n)
{ EACH { int3 v = vload3(i, x); r[3 * i] = v.z; r[3 * i + 1] = v.y; r[3 * i + 2] = v.x; } }
void load16_store2(global const ushort *x, global ushort *r, ulong n)
{ EACH { ushort16 v = vload16(i, x + 1); vstore2(v.s0f, i, r + 1); } }
void store3(global const double *x, global double *r, ulong n)
{ EACH vstore3((double3)(x[i], -x[i], 2.0 * x[i]), i, r); }
void private_vectors(global const char *x, global char *r, ulong n)
{ EACH { char a[32]; for (int k = 0; k < 32; k++) a[k] = x[i] + k; char8 v = vload8(1, (private char *)(a + 3)); vstore8(v, 2, (generic char *)(a + 1)); r[i] = a[24]; } }

void half_in_memory(global const half *x, global float *r, ulong n)
{ EACH { r[3 * i] = vload_half(i, x); r[3 * i + 1] = vload_half3(0, x + i).y; r[3 * i + 2] = vloada_half3(i / 4, x).z; } }
void half_stores(global const float *x, global half *r, ulong n)
{ EACH { vstore_half(x[i], i, r); vstore_half_rtz(x[i], n + i, r); vstore_half_rtp(x[i], 2 * n + i, r);
  vstore_half_rtn((double)x[i], 3 * n + i, r); vstore_half_rte(x[i], 4 * n + i, r); }
  for (ulong i = 0; i < n / 4; i++) vstorea_half4_rtn(vload4(i, x), i, r + 5 * n);
  for (ulong i = 0; i < n / 3; i++) { vstorea_half3(vload3(i, x), i, r + 6 * n); vstore_half3(vload3(i, x), i, r + 8 * n); } }

void shuffles(global const float *x, global float *r, ulong n)
{ for (ulong i = 0; i < n / 8; i++) {
    float4 v = vload4(2 * i, x), w = vload4(2 * i + 1, x);
    vstore8(shuffle2(v, w, (uint8)(7, 0, 6, 1, 5, 2, 12, 3)), i, r);
    vstore2(shuffle(v, (uint2)(3, 6)), i, r + n); } }

kernel void copies(global const int *x, global int *r, ulong n)
{ local int tile[64]; event_t e = async_work_group_copy(tile, x, 64, 0);
  wait_group_events(1, &e); e = async_work_group_copy(r, (local const int *)tile, 64, 0);
  e = async_work_group_strided_copy(r + 64, (local const int *)tile, 20, 3, e);
  e = async_work_group_strided_copy(tile, x, 20, 2, e);
  for (int i = 0; i < 64; i++) r[128 + i] = tile[i]; prefetch(x, 64); }

void atomics(global const int *x, global int *r, ulong n)
{ global int *a = r + 40; for (int i = 0; i < 12; i++) a[i] = 10;
  r[0] = atomic_add(a, 5); r[1] = atomic_sub(a + 1, 5); r[2] = atomic_xchg(a + 2, 5); r[3] = atomic_inc(a + 3);
  r[4] = atomic_dec(a + 4); r[5] = atomic_cmpxchg(a + 5, 10, 77); r[6] = atomic_cmpxchg(a + 6, 11, 77);
  r[7] = atomic_min(a + 7, -3); r[8] = atomic_max((global uint *)a + 8, (uint)-3); r[9] = atomic_and(a + 9, 3);
  r[10] = atomic_or(a + 10, 5); r[11] = atomic_xor(a + 11, 3);
  atomic_int c; atomic_init(&c, 7); int e = 6;
  r[12] = atomic_compare_exchange_strong(&c, &e, 9); r[13] = e;
  r[14] = atomic_compare_exchange_weak_explicit(&c, &e, 9, memory_order_acq_rel, memory_order_relaxed, memory_scope_device);
  r[15] = atomic_load(&c); r[16] = atomic_fetch_sub_explicit(&c, 4, memory_order_relaxed); r[17] = atomic_exchange(&c, 3);
  atomic_store_explicit(&c, 8, memory_order_release, memory_scope_work_group); r[18] = atomic_load_explicit(&c, memory_order_acquire);
  r[19] = atomic_fetch_xor(&c, 12); r[20] = atomic_load(&c);
  atomic_flag f; atomic_flag_clear(&f); r[21] = atomic_flag_test_and_set(&f); r[22] = atomic_flag_test_and_set_explicit(&f, memory_order_relaxed);
  atomic_flag_clear(&f); r[23] = atomic_flag_test_and_set(&f);
  atomic_float g; atomic_init(&g, 1.5f); r[24] = (int)(10.0f * atomic_fetch_add(&g, 2.25f)); r[25] = (int)(100.0f * atomic_load(&g));
  r[26] = (int)(100.0f * atomic_fetch_min_explicit(&g, -1.0f, memory_order_relaxed, memory_scope_device)); r[27] = (int)(100.0f * atomic_load(&g));
  r[28] = (int)as_float(as_uint(atomic_xchg((volatile global float *)a + 2, 6.0f))) ; r[29] = (int)((global float *)a)[2]; }

void queries(global const int *x, global ulong *r, ulong n)
{ for (uint d = 0; d < 4; d++) { global ulong *q = r + 8 * d;
    q[0] = get_global_id(d); q[1] = get_local_id(d); q[2] = get_group_id(d); q[3] = get_global_size(d);
    q[4] = get_local_size(d); q[5] = get_num_groups(d); q[6] = get_global_offset(d); q[7] = get_enqueued_local_size(d); }
  r[32] = get_work_dim(); r[33] = get_global_linear_id(); r[34] = get_local_linear_id(); }

kernel void pointers(global const float *x, global float *r, ulong n)
{ local float l; local int lq; float p; int q; local float4 l4; global float4 *g4 = (global float4 *)(r + 8 * n); int3 q3;
  EACH { global float *o = r + 8 * i;
    o[0] = fract(x[i], &l); o[1] = l; o[2] = modf(x[i], (generic float *)&p); o[3] = p;
    o[4] = frexp(x[i], &lq); o[5] = lq; float3 s = lgamma_r((float3)(x[i], 0.5f, x[i]), &q3); o[6] = q3.z; o[7] = s.y; }
  fract(vload4(0, x), g4); }
";

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::build("memory", SOURCE))
}

const UNTOUCHED: u8 = 0xa5;

#[test]
fn vectors_of_three_touch_three() {
    let x: Vec<i32> = (0..30).collect();
    // The input ends where the last element ends: a fourth would be beyond.
    let r: Vec<i32> = values(&host().run("load3", 10, &bytes(&x), 120));
    for i in 0..10 {
        assert_eq!(r[3 * i..3 * i + 3], [x[3 * i + 2], x[3 * i + 1], x[3 * i]]);
    }
    let x = [1.5, 2.5, -3.0];
    let output = host().run("store3", 3, &bytes(&x), 10 * 8);
    let r: Vec<f64> = values(&output[..72]);
    assert_eq!(r, [1.5, -1.5, 3.0, 2.5, -2.5, 5.0, -3.0, 3.0, -6.0]);
    assert_eq!(output[72..], [UNTOUCHED; 8]);
}

#[test]
fn vectors_need_the_alignment_of_an_element_only() {
    let x: Vec<u16> = (0..200).map(|i| i * 7).collect();
    let output = host().run("load16_store2", 12, &bytes(&x), 2 + 12 * 4);
    assert_eq!(output[..2], [UNTOUCHED; 2]);
    let r: Vec<u16> = values(&output[2..]);
    for i in 0..12 {
        assert_eq!(r[2 * i..2 * i + 2], [x[1 + 16 * i], x[1 + 16 * i + 15]]);
    }
    let x = [0i8, 5, -100];
    let r: Vec<i8> = host().map("private_vectors", &[&x]);
    // Element 24 is the last of the eight stored at 17, which were read from 11 on.
    assert_eq!(r, [18, 23, -82]);
}

/// A half's value.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (fraction + 1024.0) * 2f32.powi(exponent - 25),
    }
}

#[test]
fn halves_widen_exactly() {
    let x: Vec<u16> = (0..=u16::MAX).collect();
    let r: Vec<f32> = values(&host().run("half_in_memory", 65528, &bytes(&x), 65528 * 12));
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    for i in 0..65528 {
        assert!(same(r[3 * i], half(x[i])), "{i:#x}");
        assert!(same(r[3 * i + 1], half(x[i + 1])), "{i:#x}");
        assert!(same(r[3 * i + 2], half(x[i / 4 * 4 + 2])), "{i:#x}");
    }
}

#[test]
fn halves_narrow_with_each_rounding() {
    const N: usize = 4800;
    let mut random = Random(11);
    let x: Vec<f32> = (0..N)
        .map(|i| {
            let bits = random.next() as u32;
            // Between 2^-27 and 2^17, on and around halves.
            let near = half((bits >> 16) as u16);
            match i % 4 {
                0 => near,
                1 => f32::from_bits(near.to_bits() ^ (bits & 1)),
                2 => f32::from_bits(near.to_bits() ^ 0x1000),
                _ => f32::from_bits(bits & 0x8000_0000 | (100 + bits % 45) << 23 | bits >> 9 & 0x7f_ffff),
            }
        })
        .collect();
    let output = host().run("half_stores", N, &bytes(&x), 2 * 10 * N);
    let r: Vec<u16> = values(&output);
    for i in 0..N {
        let x = x[i];
        if x.is_nan() {
            assert!((0..5).all(|k| half(r[k * N + i]).is_nan()));
            continue;
        }
        let [nearest, zero, up, down, even] = [0, 1, 2, 3, 4].map(|k| half(r[k * N + i]));
        assert_eq!(nearest.to_bits(), even.to_bits(), "{x:e}");
        assert!(down <= x && x <= up, "{down:e} {x:e} {up:e}");
        assert_eq!(zero.to_bits(), if x.is_sign_negative() { up } else { down }.to_bits(), "{x:e}");
        // No half lies between the two, and the nearest is one of them.
        let steps = i32::from(r[2 * N + i] & 0x7fff) - i32::from(r[3 * N + i] & 0x7fff);
        assert!(steps.abs() <= 1, "{down:e} {up:e}");
        assert!(nearest == up || nearest == down, "{x:e}");
        if up.is_finite() && down.is_finite() && up != down {
            let (to_up, to_down) = (f64::from(up) - f64::from(x), f64::from(x) - f64::from(down));
            let even_bits = if r[2 * N + i] & 1 == 0 { up } else { down };
            let want = if to_up < to_down {
                up
            } else if to_down < to_up {
                down
            } else {
                even_bits
            };
            assert_eq!(nearest, want, "{x:e}");
        }
    }
    assert_eq!(r[5 * N..6 * N], r[3 * N..4 * N]);
    for i in 0..N / 3 {
        for k in 0..3 {
            assert_eq!(r[6 * N + 4 * i + k], r[3 * i + k]);
            assert_eq!(r[8 * N + 3 * i + k], r[3 * i + k]);
        }
        assert_eq!(output[2 * (6 * N + 4 * i + 3)], UNTOUCHED);
    }
}

#[test]
fn shuffles_take_the_low_bits_of_a_selector() {
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let r: Vec<f32> = values(&host().run("shuffles", 64, &bytes(&x), 4 * 80));
    for i in 0..8 {
        let both = &x[8 * i..8 * i + 8];
        let want = [7, 0, 6, 1, 5, 2, 4, 3].map(|k| both[k]);
        assert_eq!(r[8 * i..8 * i + 8], want);
        assert_eq!(r[64 + 2 * i..64 + 2 * i + 2], [both[3], both[2]]);
    }
}

#[test]
fn copies_are_shared_by_the_group() {
    let x: Vec<i32> = (0..64).map(|i| 1000 + i).collect();
    let output = host().run("copies", 64, &bytes(&x), 192 * 4);
    let r: Vec<i32> = values(&output);
    // This work-item is (2, 3, 4) of a group of (3, 4, 5): number 59 of 60.
    let untouched = i32::from_le_bytes([UNTOUCHED; 4]);
    for i in 0..64 {
        let mine = i == 59;
        assert_eq!(r[i], if mine { x[i] } else { untouched }, "{i}");
    }
    // No share of the twenty elements is this one's.
    assert!(r[64..128].iter().all(|&v| v == untouched));
    assert_eq!(r[128 + 59], x[59]);
}

#[test]
fn atomics_return_the_old_value() {
    let output = host().run("atomics", 1, &[0; 4], 52 * 4);
    let r: Vec<i32> = values(&output);
    assert_eq!(r[..12], [10; 12]);
    assert_eq!(r[40..42], [15, 5]);
    assert_eq!(r[43..52], [11, 9, 77, 10, -3, -3, 2, 15, 9]);
    assert_eq!(r[12..14], [0, 7]);
    assert_eq!(r[14..18], [1, 9, 9, 5]);
    assert_eq!(r[18..21], [8, 8, 4]);
    assert_eq!(r[21..24], [0, 1, 0]);
    assert_eq!(r[24..28], [15, 375, 375, -100]);
    assert_eq!(r[28..30], [0, 6]);
}

#[test]
fn queries_reach_their_primitive() {
    let r: Vec<u64> = values(&host().run("queries", 1, &[], 35 * 8));
    let bases = [100, 2, 20, 200, 3, 30, 40, 5];
    for d in 0..3u64 {
        for (k, base) in bases.iter().enumerate() {
            assert_eq!(r[8 * d as usize + k], base + d);
        }
    }
    assert_eq!(r[24..32], [0, 0, 0, 1, 1, 1, 0, 1]);
    assert_eq!(r[32], 3);
    assert_eq!(r[33], (60 * 201 + 60) * 200 + 60);
    assert_eq!(r[34], (4 * 4 + 3) * 3 + 2);
}

#[test]
fn results_through_pointers() {
    let x =
        [3.75f32, -3.75, 0.0, -0.0, -1e-10, f32::INFINITY, f32::NEG_INFINITY, -2.5, 1e-40, 0.999_999_94, -0.5, 1e30];
    let r: Vec<f32> = values(&host().run("pointers", x.len(), &bytes(&x), 4 * (8 * x.len() + 4)));
    let below_one = 0.999_999_94;
    let want: [[f32; 7]; 12] = [
        [0.75, 3.0, 0.75, 3.0, 0.9375, 2.0, 1.0],
        [0.25, -4.0, -0.75, -3.0, -0.9375, 2.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-0.0, -0.0, -0.0, -0.0, -0.0, 0.0, 0.0],
        [below_one, -1.0, -1e-10, -0.0, -1e-10 * 2f32.powi(33), -33.0, -1.0],
        [0.0, f32::INFINITY, 0.0, f32::INFINITY, f32::INFINITY, 0.0, 1.0],
        [-0.0, f32::NEG_INFINITY, -0.0, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0, 1.0],
        [0.5, -3.0, -0.5, -2.0, -0.625, 2.0, -1.0],
        [1e-40, 0.0, 1e-40, 0.0, (1e-40f32 * 2f32.powi(100)) * 2f32.powi(32), -132.0, 1.0],
        [below_one, 0.0, below_one, 0.0, below_one, 0.0, 1.0],
        [0.5, -1.0, -0.5, -0.0, -0.5, 0.0, -1.0],
        [0.0, 1e30, 0.0, 1e30, 1e30 * 2f32.powi(-100), 100.0, 1.0],
    ];
    for (i, want) in want.iter().enumerate() {
        for (k, &want) in want.iter().enumerate() {
            let got = r[8 * i + k];
            assert_eq!(got.to_bits(), want.to_bits(), "{:e}, result {k}: {got:e}, expected {want:e}", x[i]);
        }
        // log(gamma(1/2)) = log(pi) / 2
        assert_eq!(r[8 * i + 7], 0.572_364_9);
    }
    assert_eq!(r[8 * x.len()..], [3.0, -4.0, 0.0, -0.0]);
}
