/* A library with an allocator of its own, as some applications load late. What it gives is marked, and it ends the
   process when it is given back something else. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MARK 0x6c6f636b73746570u
#define ROOM (256u << 20)

struct header {
    uint64_t mark;
    size_t size;
};

static _Alignas(64) unsigned char arena[ROOM];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *allocate(size_t alignment, size_t size) {
    if (alignment < 16) alignment = 16;
    pthread_mutex_lock(&lock);
    uintptr_t begin = (uintptr_t)arena + used + sizeof(struct header);
    begin = (begin + alignment - 1) & ~(uintptr_t)(alignment - 1);
    uintptr_t end = begin + size;
    int fits = size < ROOM && end <= (uintptr_t)arena + ROOM;
    if (fits) used = end - (uintptr_t)arena;
    pthread_mutex_unlock(&lock);
    if (!fits) {
        errno = ENOMEM;
        return NULL;
    }
    struct header *header = (struct header *)begin - 1;
    header->mark = MARK;
    header->size = size;
    return (void *)begin;
}

static struct header *header_of(void *memory) {
    struct header *header = (struct header *)memory - 1;
    if (header->mark != MARK) abort();
    return header;
}

void *malloc(size_t size) { return allocate(16, size); }
void *memalign(size_t alignment, size_t size) { return allocate(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return allocate(alignment, size); }
void *calloc(size_t count, size_t size) { return allocate(16, count * size); /* never used before, so zero */ }
size_t malloc_usable_size(void *memory) { return memory ? header_of(memory)->size : 0; }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = allocate(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory) {
    if (memory) header_of(memory)->mark = 0;
}

void *realloc(void *memory, size_t size) {
    void *moved = allocate(16, size);
    if (memory && moved) {
        size_t before = header_of(memory)->size;
        memcpy(moved, memory, before < size ? before : size);
        free(memory);
    }
    return moved;
}

/* Whether the library's own calls come here. */
int allocator_is_own(void) {
    void *memory = malloc(100);
    int is_own = (uintptr_t)memory >= (uintptr_t)arena && (uintptr_t)memory < (uintptr_t)arena + ROOM;
    free(memory);
    return is_own;
}
