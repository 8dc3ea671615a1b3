// 6.15.17 Pipes. What clang makes of the functions gets the packet's size and alignment as two more arguments.
#include "lockstep.h"

// A pipe as the host makes it (runtime/src/pipe.rs): this head, for each place of a packet two numbers that say which
// packet was written there and which one was read from there last, then the packets.
//
// Packets are counted from 0 for as long as the pipe lives; packet n has place n % capacity. Both ends first take
// packets and give them back when they are done: readers may take what writers have given back, and the other way round.
// Packets that are given back out of turn are only noted, so that nobody waits for another work-item.
typedef struct {
    uint packet_bytes;
    uint capacity;
    uint unused[30];
    // Ends of what writers have taken and given back; those of readers are on another cache line.
    atomic_ulong write_taken, write_given;
    ulong apart[14];
    atomic_ulong read_taken, read_given;
    ulong also_apart[14];
} pipe_head;

// A reservation: the number of its first packet below, and how many they are above; of none 0.
#define COUNT_SHIFT 40
#define FIRST(id) ((id) & ((1ul << COUNT_SHIFT) - 1))
#define COUNT(id) ((uint)((id) >> COUNT_SHIFT))
#define MOST_PACKETS ((1u << (64 - COUNT_SHIFT)) - 1)
#define NONE 0ul

static global atomic_uint *notes(global pipe_head *p, bool of_readers)
{
    return (global atomic_uint *)(p + 1) + (of_readers ? p->capacity : 0);
}

static global uchar *place(global pipe_head *p, ulong packet, uint size)
{
    ulong behind = (sizeof(pipe_head) + 8ul * p->capacity + 127) / 128 * 128;
    return (global uchar *)p + behind + packet % p->capacity * size;
}

static ulong ask(global atomic_ulong *count) { return __opencl_atomic_load(count, memory_order_seq_cst, memory_scope_all_svm_devices); }

// Takes packets up to a limit that the other end sets; their reservation.
static ulong take(global atomic_ulong *taken, global atomic_ulong *limit, ulong beyond, uint count)
{
    if (count == 0 || count > MOST_PACKETS) return NONE;
    ulong first = ask(taken);
    do {
        if (first + count > ask(limit) + beyond) return NONE;
    } while (!__opencl_atomic_compare_exchange_weak(taken, &first, first + count, memory_order_seq_cst,
                                                    memory_order_seq_cst, memory_scope_all_svm_devices));
    return (ulong)count << COUNT_SHIFT | FIRST(first);
}

static ulong take_to_write(global pipe_head *p, uint count, uint size)
{
    return size == p->packet_bytes ? take(&p->write_taken, &p->read_given, p->capacity, count) : NONE;
}

static ulong take_to_read(global pipe_head *p, uint count, uint size)
{
    return size == p->packet_bytes ? take(&p->read_taken, &p->write_given, 0, count) : NONE;
}

// Gives packets back: notes that they are done, then moves the end behind all that are.
static void give(global pipe_head *p, bool of_readers, ulong id)
{
    global atomic_uint *done = notes(p, of_readers);
    for (uint i = 0; i < COUNT(id); ++i) {
        ulong packet = FIRST(id) + i;
        // One more than the number: at first no packet is done.
        __opencl_atomic_store(&done[packet % p->capacity], (uint)packet + 1, memory_order_seq_cst,
                              memory_scope_all_svm_devices);
    }
    global atomic_ulong *given = of_readers ? &p->read_given : &p->write_given;
    ulong end = ask(given);
    while (__opencl_atomic_load(&done[end % p->capacity], memory_order_seq_cst, memory_scope_all_svm_devices) ==
           (uint)end + 1) {
        if (__opencl_atomic_compare_exchange_strong(given, &end, end + 1, memory_order_seq_cst, memory_order_seq_cst,
                                                    memory_scope_all_svm_devices))
            ++end;
    }
}

// Packets are as aligned as their type, here and there.
static void copy(generic void *to, const generic void *from, uint size, uint align)
{
    if (align % 8 == 0) {
        for (uint i = 0; i < size / 8; ++i) ((generic ulong *)to)[i] = ((const generic ulong *)from)[i];
    } else if (align % 4 == 0) {
        for (uint i = 0; i < size / 4; ++i) ((generic uint *)to)[i] = ((const generic uint *)from)[i];
    } else {
        for (uint i = 0; i < size; ++i) ((generic uchar *)to)[i] = ((const generic uchar *)from)[i];
    }
}

int __read_pipe_2(global pipe_head *p, generic void *to, uint size, uint align);
int __read_pipe_2(global pipe_head *p, generic void *to, uint size, uint align)
{
    ulong id = take_to_read(p, 1, size);
    if (id == NONE) return -1;
    copy(to, place(p, FIRST(id), size), size, align);
    give(p, true, id);
    return 0;
}

int __write_pipe_2(global pipe_head *p, const generic void *from, uint size, uint align);
int __write_pipe_2(global pipe_head *p, const generic void *from, uint size, uint align)
{
    ulong id = take_to_write(p, 1, size);
    if (id == NONE) return -1;
    copy(place(p, FIRST(id), size), from, size, align);
    give(p, false, id);
    return 0;
}

int __read_pipe_4(global pipe_head *p, ulong id, uint index, generic void *to, uint size, uint align);
int __read_pipe_4(global pipe_head *p, ulong id, uint index, generic void *to, uint size, uint align)
{
    if (index >= COUNT(id) || size != p->packet_bytes) return -1;
    copy(to, place(p, FIRST(id) + index, size), size, align);
    return 0;
}

int __write_pipe_4(global pipe_head *p, ulong id, uint index, const generic void *from, uint size, uint align);
int __write_pipe_4(global pipe_head *p, ulong id, uint index, const generic void *from, uint size, uint align)
{
    if (index >= COUNT(id) || size != p->packet_bytes) return -1;
    copy(place(p, FIRST(id) + index, size), from, size, align);
    return 0;
}

bool is_valid_reserve_id_(ulong id) __asm("_Z19is_valid_reserve_id13ocl_reserveid");
bool is_valid_reserve_id_(ulong id) { return id != NONE; }

// Work-groups and sub-groups take packets together: one work-item does, and all are told.
OVL ulong __attribute__((convergent)) work_group_broadcast(ulong v, size_t x, size_t y, size_t z);
OVL ulong __attribute__((convergent)) sub_group_broadcast(ulong v, uint lane);
OVL void __attribute__((convergent)) sub_group_barrier(cl_mem_fence_flags flags);
OVL uint get_sub_group_local_id(void);
static bool is_first_of_group(void)
{
    return (__lockstep_local_id(0) | __lockstep_local_id(1) | __lockstep_local_id(2)) == 0;
}

#define ENDS(END, OF_READERS)                                                                                          \
    ulong __reserve_##END##_pipe(global pipe_head *p, uint count, uint size, uint align);                              \
    ulong __reserve_##END##_pipe(global pipe_head *p, uint count, uint size, uint align)                               \
    {                                                                                                                  \
        return take_to_##END(p, count, size);                                                                          \
    }                                                                                                                  \
    void __commit_##END##_pipe(global pipe_head *p, ulong id, uint size, uint align);                                  \
    void __commit_##END##_pipe(global pipe_head *p, ulong id, uint size, uint align) { give(p, OF_READERS, id); }      \
    __attribute__((convergent)) ulong __work_group_reserve_##END##_pipe(global pipe_head *p, uint count, uint size,    \
                                                                        uint align);                                   \
    ulong __work_group_reserve_##END##_pipe(global pipe_head *p, uint count, uint size, uint align)                    \
    {                                                                                                                  \
        return work_group_broadcast(is_first_of_group() ? take_to_##END(p, count, size) : NONE, 0, 0, 0);              \
    }                                                                                                                  \
    __attribute__((convergent)) void __work_group_commit_##END##_pipe(global pipe_head *p, ulong id, uint size,        \
                                                                      uint align);                                     \
    void __work_group_commit_##END##_pipe(global pipe_head *p, ulong id, uint size, uint align)                        \
    {                                                                                                                  \
        __lockstep_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);                                             \
        if (is_first_of_group()) give(p, OF_READERS, id);                                                              \
    }                                                                                                                  \
    __attribute__((convergent)) ulong __sub_group_reserve_##END##_pipe(global pipe_head *p, uint count, uint size,     \
                                                                       uint align);                                    \
    ulong __sub_group_reserve_##END##_pipe(global pipe_head *p, uint count, uint size, uint align)                     \
    {                                                                                                                  \
        return sub_group_broadcast(get_sub_group_local_id() == 0 ? take_to_##END(p, count, size) : NONE, 0);           \
    }                                                                                                                  \
    __attribute__((convergent)) void __sub_group_commit_##END##_pipe(global pipe_head *p, ulong id, uint size,         \
                                                                     uint align);                                      \
    void __sub_group_commit_##END##_pipe(global pipe_head *p, ulong id, uint size, uint align)                         \
    {                                                                                                                  \
        sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                                       \
        if (get_sub_group_local_id() == 0) give(p, OF_READERS, id);                                                    \
    }
ENDS(read, true)
ENDS(write, false)

#define QUERIES(ACCESS)                                                                                                \
    uint __get_pipe_num_packets_##ACCESS(global pipe_head *p, uint size, uint align);                                  \
    uint __get_pipe_num_packets_##ACCESS(global pipe_head *p, uint size, uint align)                                   \
    {                                                                                                                  \
        ulong first = ask(&p->read_taken), end = ask(&p->write_given);                                                 \
        return end > first ? (uint)(end - first) : 0;                                                                  \
    }                                                                                                                  \
    uint __get_pipe_max_packets_##ACCESS(global pipe_head *p, uint size, uint align);                                  \
    uint __get_pipe_max_packets_##ACCESS(global pipe_head *p, uint size, uint align) { return p->capacity; }
QUERIES(ro)
QUERIES(wo)
