// 6.15.12 Atomic functions: the OpenCL 1.x forms (atomic_*, atom_*) and the C11 forms.
//
// Read-modify-write operations cost the same with every memory order on the hosts we run on, and so do loads; only a
// store looks at its order. A scope never weakens anything: the host's memory is coherent.
#include "lockstep.h"

// --- OpenCL 1.x -----------------------------------------------------------------------------------------------------
#define RMW(NAME, T, AS, BUILTIN)                                                                                      \
    OVL T NAME(volatile AS T *p, T v) { return BUILTIN(p, v, __ATOMIC_RELAXED); }
#define CLASSIC(PREFIX, T, AS)                                                                                         \
    RMW(PREFIX##_add, T, AS, __atomic_fetch_add)                                                                       \
    RMW(PREFIX##_sub, T, AS, __atomic_fetch_sub)                                                                       \
    RMW(PREFIX##_min, T, AS, __atomic_fetch_min)                                                                       \
    RMW(PREFIX##_max, T, AS, __atomic_fetch_max)                                                                       \
    RMW(PREFIX##_and, T, AS, __atomic_fetch_and)                                                                       \
    RMW(PREFIX##_or, T, AS, __atomic_fetch_or)                                                                         \
    RMW(PREFIX##_xor, T, AS, __atomic_fetch_xor)                                                                       \
    RMW(PREFIX##_xchg, T, AS, __atomic_exchange_n)                                                                     \
    OVL T PREFIX##_inc(volatile AS T *p) { return __atomic_fetch_add(p, (T)1, __ATOMIC_RELAXED); }                     \
    OVL T PREFIX##_dec(volatile AS T *p) { return __atomic_fetch_sub(p, (T)1, __ATOMIC_RELAXED); }                     \
    OVL T PREFIX##_cmpxchg(volatile AS T *p, T expected, T desired)                                                    \
    {                                                                                                                  \
        __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                     \
        return expected;                                                                                               \
    }
#define CLASSIC_IN(AS)                                                                                                 \
    CLASSIC(atomic, int, AS)                                                                                           \
    CLASSIC(atomic, uint, AS)                                                                                          \
    CLASSIC(atom, int, AS)                                                                                             \
    CLASSIC(atom, uint, AS)                                                                                            \
    CLASSIC(atom, long, AS)                                                                                            \
    CLASSIC(atom, ulong, AS)                                                                                           \
    OVL float atomic_xchg(volatile AS float *p, float v)                                                               \
    {                                                                                                                  \
        return as_float(__atomic_exchange_n((volatile AS int *)p, as_int(v), __ATOMIC_RELAXED));                       \
    }
CLASSIC_IN(global)
CLASSIC_IN(local)
CLASSIC_IN(generic)

// --- C11 ------------------------------------------------------------------------------------------------------------
// NAME(ARGUMENTS), and NAME_explicit with an order, and with an order and a scope.
#define SCOPE memory_scope_all_svm_devices
#define C11_RMW(R, NAME, T, AS, OPERAND, BUILTIN)                                                                      \
    OVL R NAME(volatile AS atomic_##T *p, OPERAND v) { return BUILTIN(p, v, __ATOMIC_SEQ_CST, SCOPE); }                \
    OVL R NAME##_explicit(volatile AS atomic_##T *p, OPERAND v, memory_order order)                                    \
    {                                                                                                                  \
        return BUILTIN(p, v, __ATOMIC_SEQ_CST, SCOPE);                                                                 \
    }                                                                                                                  \
    OVL R NAME##_explicit(volatile AS atomic_##T *p, OPERAND v, memory_order order, memory_scope scope)                \
    {                                                                                                                  \
        return BUILTIN(p, v, __ATOMIC_SEQ_CST, SCOPE);                                                                 \
    }

#define C11_MEMORY(T, AS)                                                                                              \
    OVL void atomic_init(volatile AS atomic_##T *p, T v) { __opencl_atomic_init(p, v); }                               \
    OVL T atomic_load(volatile AS atomic_##T *p) { return __opencl_atomic_load(p, __ATOMIC_SEQ_CST, SCOPE); }          \
    OVL T atomic_load_explicit(volatile AS atomic_##T *p, memory_order order)                                          \
    {                                                                                                                  \
        return __opencl_atomic_load(p, __ATOMIC_SEQ_CST, SCOPE);                                                       \
    }                                                                                                                  \
    OVL T atomic_load_explicit(volatile AS atomic_##T *p, memory_order order, memory_scope scope)                      \
    {                                                                                                                  \
        return __opencl_atomic_load(p, __ATOMIC_SEQ_CST, SCOPE);                                                       \
    }                                                                                                                  \
    OVL void atomic_store(volatile AS atomic_##T *p, T v) { __opencl_atomic_store(p, v, __ATOMIC_SEQ_CST, SCOPE); }    \
    OVL void atomic_store_explicit(volatile AS atomic_##T *p, T v, memory_order order)                                 \
    {                                                                                                                  \
        if (order == memory_order_seq_cst)                                                                             \
            __opencl_atomic_store(p, v, __ATOMIC_SEQ_CST, SCOPE);                                                      \
        else                                                                                                           \
            __opencl_atomic_store(p, v, __ATOMIC_RELEASE, SCOPE);                                                      \
    }                                                                                                                  \
    OVL void atomic_store_explicit(volatile AS atomic_##T *p, T v, memory_order order, memory_scope scope)             \
    {                                                                                                                  \
        atomic_store_explicit(p, v, order);                                                                            \
    }                                                                                                                  \
    C11_RMW(T, atomic_exchange, T, AS, T, __opencl_atomic_exchange)                                                    \
    C11_RMW(T, atomic_fetch_add, T, AS, T, __opencl_atomic_fetch_add)                                                  \
    C11_RMW(T, atomic_fetch_sub, T, AS, T, __opencl_atomic_fetch_sub)                                                  \
    C11_RMW(T, atomic_fetch_min, T, AS, T, __opencl_atomic_fetch_min)                                                  \
    C11_RMW(T, atomic_fetch_max, T, AS, T, __opencl_atomic_fetch_max)

#define C11_COMPARE(NAME, T, AS, EXPECTED_AS)                                                                          \
    OVL bool NAME##_explicit(volatile AS atomic_##T *p, EXPECTED_AS T *expected, T desired, memory_order success,      \
                             memory_order failure, memory_scope scope)                                                 \
    {                                                                                                                  \
        return __opencl_atomic_compare_exchange_strong(p, expected, desired, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,       \
                                                       SCOPE);                                                         \
    }                                                                                                                  \
    OVL bool NAME##_explicit(volatile AS atomic_##T *p, EXPECTED_AS T *expected, T desired, memory_order success,      \
                             memory_order failure)                                                                     \
    {                                                                                                                  \
        return __opencl_atomic_compare_exchange_strong(p, expected, desired, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,       \
                                                       SCOPE);                                                         \
    }                                                                                                                  \
    OVL bool NAME(volatile AS atomic_##T *p, EXPECTED_AS T *expected, T desired)                                       \
    {                                                                                                                  \
        return __opencl_atomic_compare_exchange_strong(p, expected, desired, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,       \
                                                       SCOPE);                                                         \
    }
#define C11_COMPARES(T, AS, EXPECTED_AS)                                                                               \
    C11_COMPARE(atomic_compare_exchange_strong, T, AS, EXPECTED_AS)                                                    \
    C11_COMPARE(atomic_compare_exchange_weak, T, AS, EXPECTED_AS)
#define C11_ANY(T, AS)                                                                                                 \
    C11_MEMORY(T, AS)                                                                                                  \
    C11_COMPARES(T, AS, global)                                                                                        \
    C11_COMPARES(T, AS, local)                                                                                         \
    C11_COMPARES(T, AS, private)                                                                                       \
    C11_COMPARES(T, AS, generic)

#define C11_BITS(T, AS, OPERAND)                                                                                       \
    C11_RMW(T, atomic_fetch_and, T, AS, OPERAND, __opencl_atomic_fetch_and)                                            \
    C11_RMW(T, atomic_fetch_or, T, AS, OPERAND, __opencl_atomic_fetch_or)                                              \
    C11_RMW(T, atomic_fetch_xor, T, AS, OPERAND, __opencl_atomic_fetch_xor)

// intptr_t, uintptr_t and ptrdiff_t are long and ulong; mixed operands come from their pointer arithmetic forms.
#define C11_IN(AS)                                                                                                     \
    C11_ANY(int, AS)                                                                                                   \
    C11_ANY(uint, AS)                                                                                                  \
    C11_ANY(long, AS)                                                                                                  \
    C11_ANY(ulong, AS)                                                                                                 \
    C11_ANY(float, AS)                                                                                                 \
    C11_ANY(double, AS)                                                                                                \
    C11_MEMORY(half, AS)                                                                                               \
    C11_BITS(int, AS, int)                                                                                             \
    C11_BITS(uint, AS, uint)                                                                                           \
    C11_BITS(long, AS, long)                                                                                           \
    C11_BITS(ulong, AS, ulong)                                                                                         \
    C11_BITS(long, AS, ulong)                                                                                          \
    C11_BITS(ulong, AS, long)                                                                                          \
    C11_RMW(ulong, atomic_fetch_add, ulong, AS, long, __opencl_atomic_fetch_add)                                       \
    C11_RMW(ulong, atomic_fetch_sub, ulong, AS, long, __opencl_atomic_fetch_sub)                                       \
    C11_RMW(ulong, atomic_fetch_min, ulong, AS, long, __opencl_atomic_fetch_min)                                       \
    C11_RMW(ulong, atomic_fetch_max, ulong, AS, long, __opencl_atomic_fetch_max)                                       \
    C11_RMW(long, atomic_fetch_min, long, AS, ulong, __opencl_atomic_fetch_min)                                        \
    C11_RMW(long, atomic_fetch_max, long, AS, ulong, __opencl_atomic_fetch_max)                                        \
    FLAG(AS)

// --- flags ----------------------------------------------------------------------------------------------------------
#define FLAG(AS)                                                                                                       \
    OVL bool atomic_flag_test_and_set(volatile AS atomic_flag *p)                                                      \
    {                                                                                                                  \
        return __opencl_atomic_exchange(p, 1, __ATOMIC_SEQ_CST, SCOPE) != 0;                                           \
    }                                                                                                                  \
    OVL bool atomic_flag_test_and_set_explicit(volatile AS atomic_flag *p, memory_order order)                         \
    {                                                                                                                  \
        return __opencl_atomic_exchange(p, 1, __ATOMIC_SEQ_CST, SCOPE) != 0;                                           \
    }                                                                                                                  \
    OVL bool atomic_flag_test_and_set_explicit(volatile AS atomic_flag *p, memory_order order, memory_scope scope)     \
    {                                                                                                                  \
        return __opencl_atomic_exchange(p, 1, __ATOMIC_SEQ_CST, SCOPE) != 0;                                           \
    }                                                                                                                  \
    OVL void atomic_flag_clear(volatile AS atomic_flag *p) { __opencl_atomic_store(p, 0, __ATOMIC_SEQ_CST, SCOPE); }   \
    OVL void atomic_flag_clear_explicit(volatile AS atomic_flag *p, memory_order order)                                \
    {                                                                                                                  \
        __opencl_atomic_store(p, 0, __ATOMIC_SEQ_CST, SCOPE);                                                          \
    }                                                                                                                  \
    OVL void atomic_flag_clear_explicit(volatile AS atomic_flag *p, memory_order order, memory_scope scope)            \
    {                                                                                                                  \
        __opencl_atomic_store(p, 0, __ATOMIC_SEQ_CST, SCOPE);                                                          \
    }

// Without a generic address space clang declares the floating-point forms of cl_ext_float_atomics for private memory.
C11_MEMORY(half, private)
C11_MEMORY(float, private)
C11_MEMORY(double, private)

C11_IN(global)
C11_IN(local)
C11_IN(generic)
