// What every chapter of the library shares: the primitives the compiler turns into instructions, and the macros that
// derive vector forms from scalar functions. The types come from clang's own opencl-c-base.h; clang is told not to
// declare any built-in, so each definition here is the first and only meaning of its name.
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define OVL __attribute__((overloadable))
#define INL static inline __attribute__((overloadable, always_inline))
// A primitive without side effects. `nomerge` keeps calls with different literal arguments apart.
#define PRIMITIVE __attribute__((const, nomerge))

// --- primitives -----------------------------------------------------------------------------------------------------
PRIMITIVE ulong __lockstep_global_id(uint d);
PRIMITIVE ulong __lockstep_local_id(uint d);
PRIMITIVE ulong __lockstep_group_id(uint d);
PRIMITIVE ulong __lockstep_global_size(uint d);
PRIMITIVE ulong __lockstep_local_size(uint d);
PRIMITIVE ulong __lockstep_enqueued_local_size(uint d);
PRIMITIVE ulong __lockstep_num_groups(uint d);
PRIMITIVE ulong __lockstep_global_offset(uint d);
PRIMITIVE uint __lockstep_work_dim(void);
// SPIR's number of the address space that a generic pointer is in: 0 private, 1 global, 3 local.
PRIMITIVE uint __lockstep_address_space(const generic void *p);
// One over x and one over its root, to 11 bits at least; a denormal x may count as zero, and so may a denormal result.
PRIMITIVE float __lockstep_recip_estimate(float x);
PRIMITIVE float __lockstep_rsqrt_estimate(float x);
// The latter of a positive normal number; of others, anything.
PRIMITIVE double __lockstep_rsqrt_estimate_double(double x);
// One over x's root to 14 bits, and x / y to 10, at least; denormal numbers may count as zeros.
PRIMITIVE float __lockstep_rsqrt_native(float x);
PRIMITIVE float __lockstep_quotient_estimate(float x, float y);
// Whether the machine fuses a product and a sum, as mul_add does then: a constant of the code that is made.
PRIMITIVE int __lockstep_fuses_sums(void);
// x = m 2^n with m from 3/4 up to 3/2: n and m. At zero and infinity n is infinite; below zero m is NaN.
PRIMITIVE double __lockstep_logb(double x);
PRIMITIVE double __lockstep_significand(double x);
// (a + b) 2^n for an integer n that is added to one of these numbers: |n| up to 250, and 2000 for doubles. Nothing is
// added where b is the constant 0.
#define COUNT_FLOAT 0x1.8001fcp23f
#define COUNT_DOUBLE 0x1.80000000007fep52
PRIMITIVE float __lockstep_scaled_float(float a, float b, float counted);
PRIMITIVE double __lockstep_scaled_double(double a, double b, double counted);
// (1 + a) 2^n for a multiple n of 1/16, |n| up to 2000, that is added to this number. Fast where registers hold a table of the
// roots of two, so in chapters that are for such machines.
#define COUNT_SIXTEENTHS 0x1.8p48
PRIMITIVE double __lockstep_powered(double a, double counted);
__attribute__((convergent)) void __lockstep_barrier(uint flags, uint scope);
// T __lockstep_collective_<how>_<op>_<T>(T): what the values of the group's work-items are together, for all of them
// (reduce), or up to (inclusive) or before (exclusive) the own one in the order of linear ids. All come there, as to a
// barrier. The operation is one of the compiler's on two values (add, smin, fmax, or, …); see collective.cl.

// --- names of related types -----------------------------------------------------------------------------------------
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

// UNSIGNED(T), SIGNED(T): the integer type of T's size; WIDE(T): the integer type of twice T's size.
#define UNSIGNED(T) CAT(U_, T)
#define SIGNED(T) CAT(S_, T)
#define WIDE(T) CAT(W_, T)
#define U_char uchar
#define U_uchar uchar
#define U_short ushort
#define U_ushort ushort
#define U_int uint
#define U_uint uint
#define U_long ulong
#define U_ulong ulong
#define U_half ushort
#define U_float uint
#define U_double ulong
#define S_char char
#define S_uchar char
#define S_short short
#define S_ushort short
#define S_int int
#define S_uint int
#define S_long long
#define S_ulong long
#define S_half short
#define S_float int
#define S_double long
#define W_char short
#define W_uchar ushort
#define W_short int
#define W_ushort uint
#define W_int long
#define W_uint ulong

// --- lists ----------------------------------------------------------------------------------------------------------
// M(T, N) for N in nothing, 2, 3, 4, 8, 16; FOR_VECTORS leaves the scalar out.
#define FOR_VECTORS(M, T) M(T, 2) M(T, 3) M(T, 4) M(T, 8) M(T, 16)
#define FOR_LENGTHS(M, T) M(T, ) FOR_VECTORS(M, T)
// A chapter may be compiled once for each type (-DONLY -DONLY_<type>): then a list holds that type alone.
#if !defined(ONLY) || defined(ONLY_char)
#define FOR_char(X, M) X(M, char)
#else
#define FOR_char(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_uchar)
#define FOR_uchar(X, M) X(M, uchar)
#else
#define FOR_uchar(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_short)
#define FOR_short(X, M) X(M, short)
#else
#define FOR_short(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_ushort)
#define FOR_ushort(X, M) X(M, ushort)
#else
#define FOR_ushort(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_int)
#define FOR_int(X, M) X(M, int)
#else
#define FOR_int(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_uint)
#define FOR_uint(X, M) X(M, uint)
#else
#define FOR_uint(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_long)
#define FOR_long(X, M) X(M, long)
#else
#define FOR_long(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_ulong)
#define FOR_ulong(X, M) X(M, ulong)
#else
#define FOR_ulong(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_half)
#define FOR_half(X, M) X(M, half)
#else
#define FOR_half(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_float)
#define FOR_float(X, M) X(M, float)
#else
#define FOR_float(X, M)
#endif
#if !defined(ONLY) || defined(ONLY_double)
#define FOR_double(X, M) X(M, double)
#else
#define FOR_double(X, M)
#endif
#define FOR_SIGNED(X, M) FOR_char(X, M) FOR_short(X, M) FOR_int(X, M) FOR_long(X, M)
#define FOR_UNSIGNED(X, M) FOR_uchar(X, M) FOR_ushort(X, M) FOR_uint(X, M) FOR_ulong(X, M)
#define FOR_INTEGERS(X, M) FOR_SIGNED(X, M) FOR_UNSIGNED(X, M)
#define FOR_FLOATS(X, M) FOR_float(X, M) FOR_double(X, M) FOR_half(X, M)
#define FOR_TYPES(X, M) FOR_INTEGERS(X, M) FOR_FLOATS(X, M)

// Value conversion of a scalar or vector: CONVERT(N, T, x).
#define CONVERT(N, T, x) CAT(CONVERT_, N)(T, x)
#define CONVERT_(T, x) ((T)(x))
#define CONVERT_2(T, x) __builtin_convertvector(x, T##2)
#define CONVERT_3(T, x) __builtin_convertvector(x, T##3)
#define CONVERT_4(T, x) __builtin_convertvector(x, T##4)
#define CONVERT_8(T, x) __builtin_convertvector(x, T##8)
#define CONVERT_16(T, x) __builtin_convertvector(x, T##16)

// --- vector forms by element ----------------------------------------------------------------------------------------
// MAPn(R, F, A...): R##N F(A##N...) for every vector length, from the scalar `R F(A...)`.
#define MAP1(R, F, A) MAP1_TO(R, F, F, A)
#define MAP1_TO(R, F, G, A)                                                                                            \
    OVL R##2 F(A##2 x) { return (R##2)(G(x.s0), G(x.s1)); }                                                            \
    OVL R##3 F(A##3 x) { return (R##3)(G(x.s0), G(x.s1), G(x.s2)); }                                                   \
    OVL R##4 F(A##4 x) { return (R##4)(G(x.s0), G(x.s1), G(x.s2), G(x.s3)); }                                          \
    OVL R##8 F(A##8 x) { return (R##8)(F(x.lo), F(x.hi)); }                                                            \
    OVL R##16 F(A##16 x) { return (R##16)(F(x.lo), F(x.hi)); }
#define MAP2(R, F, A, B)                                                                                               \
    OVL R##2 F(A##2 x, B##2 y) { return (R##2)(F(x.s0, y.s0), F(x.s1, y.s1)); }                                        \
    OVL R##3 F(A##3 x, B##3 y) { return (R##3)(F(x.s0, y.s0), F(x.s1, y.s1), F(x.s2, y.s2)); }                         \
    OVL R##4 F(A##4 x, B##4 y) { return (R##4)(F(x.s0, y.s0), F(x.s1, y.s1), F(x.s2, y.s2), F(x.s3, y.s3)); }          \
    OVL R##8 F(A##8 x, B##8 y) { return (R##8)(F(x.lo, y.lo), F(x.hi, y.hi)); }                                        \
    OVL R##16 F(A##16 x, B##16 y) { return (R##16)(F(x.lo, y.lo), F(x.hi, y.hi)); }
#define MAP3(R, F, A, B, C)                                                                                            \
    OVL R##2 F(A##2 x, B##2 y, C##2 z) { return (R##2)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1)); }                    \
    OVL R##3 F(A##3 x, B##3 y, C##3 z)                                                                                 \
    {                                                                                                                  \
        return (R##3)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1), F(x.s2, y.s2, z.s2));                                  \
    }                                                                                                                  \
    OVL R##4 F(A##4 x, B##4 y, C##4 z)                                                                                 \
    {                                                                                                                  \
        return (R##4)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1), F(x.s2, y.s2, z.s2), F(x.s3, y.s3, z.s3));             \
    }                                                                                                                  \
    OVL R##8 F(A##8 x, B##8 y, C##8 z) { return (R##8)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi)); }                    \
    OVL R##16 F(A##16 x, B##16 y, C##16 z) { return (R##16)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi)); }

// A function with a second result through a pointer. OUTn(R, F, A..., P): from `R F(A..., private P *)` every vector
// length, then every address space the pointer can name.
#define OUT1(R, F, A, P)                                                                                               \
    OVL R##2 F(A##2 x, private P##2 *p)                                                                                \
    {                                                                                                                  \
        P a, b;                                                                                                        \
        R##2 r = (R##2)(F(x.s0, &a), F(x.s1, &b));                                                                     \
        *p = (P##2)(a, b);                                                                                             \
        return r;                                                                                                      \
    }                                                                                                                  \
    OVL R##3 F(A##3 x, private P##3 *p)                                                                                \
    {                                                                                                                  \
        P a, b, c;                                                                                                     \
        R##3 r = (R##3)(F(x.s0, &a), F(x.s1, &b), F(x.s2, &c));                                                        \
        *p = (P##3)(a, b, c);                                                                                          \
        return r;                                                                                                      \
    }                                                                                                                  \
    OUT1_HALVES(R, F, A, P, 4, 2)                                                                                      \
    OUT1_HALVES(R, F, A, P, 8, 4)                                                                                      \
    OUT1_HALVES(R, F, A, P, 16, 8)                                                                                     \
    OUT1_SPACES(R, F, A, P, ) OUT1_SPACES(R, F, A, P, 2) OUT1_SPACES(R, F, A, P, 3)                                    \
    OUT1_SPACES(R, F, A, P, 4) OUT1_SPACES(R, F, A, P, 8) OUT1_SPACES(R, F, A, P, 16)
#define OUT1_HALVES(R, F, A, P, N, H)                                                                                  \
    OVL R##N F(A##N x, private P##N *p)                                                                                \
    {                                                                                                                  \
        P##H a, b;                                                                                                     \
        R##N r = (R##N)(F(x.lo, &a), F(x.hi, &b));                                                                     \
        *p = (P##N)(a, b);                                                                                             \
        return r;                                                                                                      \
    }
#define OUT1_SPACES(R, F, A, P, N)                                                                                     \
    OUT1_SPACE(R, F, A, P, N, global) OUT1_SPACE(R, F, A, P, N, local) OUT1_SPACE(R, F, A, P, N, generic)
#define OUT1_SPACE(R, F, A, P, N, AS)                                                                                  \
    OVL R##N F(A##N x, AS P##N *p)                                                                                     \
    {                                                                                                                  \
        P##N t;                                                                                                        \
        R##N r = F(x, &t);                                                                                             \
        *p = t;                                                                                                        \
        return r;                                                                                                      \
    }
#define OUT2(R, F, A, B, P)                                                                                            \
    OVL R##2 F(A##2 x, B##2 y, private P##2 *p)                                                                        \
    {                                                                                                                  \
        P a, b;                                                                                                        \
        R##2 r = (R##2)(F(x.s0, y.s0, &a), F(x.s1, y.s1, &b));                                                         \
        *p = (P##2)(a, b);                                                                                             \
        return r;                                                                                                      \
    }                                                                                                                  \
    OVL R##3 F(A##3 x, B##3 y, private P##3 *p)                                                                        \
    {                                                                                                                  \
        P a, b, c;                                                                                                     \
        R##3 r = (R##3)(F(x.s0, y.s0, &a), F(x.s1, y.s1, &b), F(x.s2, y.s2, &c));                                      \
        *p = (P##3)(a, b, c);                                                                                          \
        return r;                                                                                                      \
    }                                                                                                                  \
    OUT2_HALVES(R, F, A, B, P, 4, 2)                                                                                   \
    OUT2_HALVES(R, F, A, B, P, 8, 4)                                                                                   \
    OUT2_HALVES(R, F, A, B, P, 16, 8)                                                                                  \
    OUT2_SPACES(R, F, A, B, P, ) OUT2_SPACES(R, F, A, B, P, 2) OUT2_SPACES(R, F, A, B, P, 3)                           \
    OUT2_SPACES(R, F, A, B, P, 4) OUT2_SPACES(R, F, A, B, P, 8) OUT2_SPACES(R, F, A, B, P, 16)
#define OUT2_HALVES(R, F, A, B, P, N, H)                                                                               \
    OVL R##N F(A##N x, B##N y, private P##N *p)                                                                        \
    {                                                                                                                  \
        P##H a, b;                                                                                                     \
        R##N r = (R##N)(F(x.lo, y.lo, &a), F(x.hi, y.hi, &b));                                                         \
        *p = (P##N)(a, b);                                                                                             \
        return r;                                                                                                      \
    }
#define OUT2_SPACES(R, F, A, B, P, N)                                                                                  \
    OUT2_SPACE(R, F, A, B, P, N, global) OUT2_SPACE(R, F, A, B, P, N, local) OUT2_SPACE(R, F, A, B, P, N, generic)
#define OUT2_SPACE(R, F, A, B, P, N, AS)                                                                               \
    OVL R##N F(A##N x, B##N y, AS P##N *p)                                                                             \
    {                                                                                                                  \
        P##N t;                                                                                                        \
        R##N r = F(x, y, &t);                                                                                          \
        *p = t;                                                                                                        \
        return r;                                                                                                      \
    }

// A function of half computed in float and rounded once, with its vector forms.
#define HALF1(F)                                                                                                       \
    OVL half F(half x) { return (half)F((float)x); }                                                                   \
    MAP1(half, F, half)
#define HALF2(F)                                                                                                       \
    OVL half F(half x, half y) { return (half)F((float)x, (float)y); }                                                 \
    MAP2(half, F, half, half)

// Multiply and add, fused where the machine does that for free. For polynomials.
#define MUL_ADD(T)                                                                                                     \
    INL T mul_add(T a, T b, T c)                                                                                       \
    {                                                                                                                  \
        _Pragma("clang fp contract(on)") return a *b + c;                                                              \
    }
MUL_ADD(float)
MUL_ADD(double)

#endif
