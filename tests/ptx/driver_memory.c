/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_memory: blocks that kernels reach: the device's, pinned ones, and variables of modules.
 *
 * They are mapped with a page on each side that nobody reaches, and poisoned when they are taken,
 * so that neither the host nor a kernel gets far with an address that is wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"

enum { PAGE = 4096, BLOCKS = 65536, POISON = 0xa5 };

typedef struct block {
    char *begin;
    size_t size;
} block;

/* In the order of their addresses, under a lock of its own: kernels look here all the time. */
static struct {
    pthread_rwlock_t lock;
    block *blocks;
    size_t count, bytes;
} memory = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* How many blocks begin at or before it. With the lock. */
static size_t rank(const char *address)
{
    size_t low = 0, high = memory.count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (memory.blocks[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static int take(size_t size, void **out_block)
{
    const size_t pages = whole_pages(size);
    char *mapped;
    size_t at;

    *out_block = NULL;
    if (size == 0)
        return GYRE_CU_INVALID_VALUE;
    pthread_rwlock_wrlock(&memory.lock);
    if (!memory.blocks)
        memory.blocks = calloc(BLOCKS, sizeof memory.blocks[0]);
    if (!memory.blocks || memory.count == BLOCKS || size > DRIVER_MEMORY ||
        memory.bytes + pages > DRIVER_MEMORY)
        goto none;
    mapped = mmap(NULL, pages + 2 * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        goto none;
    if (mprotect(mapped + PAGE, pages, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapped, pages + 2 * (size_t)PAGE);
        goto none;
    }
    mapped += PAGE;
    memset(mapped, POISON, pages);
    at = rank(mapped);
    memmove(memory.blocks + at + 1, memory.blocks + at,
            (memory.count - at) * sizeof memory.blocks[0]);
    memory.blocks[at] = (block){mapped, size};
    memory.count++;
    memory.bytes += pages;
    pthread_rwlock_unlock(&memory.lock);
    *out_block = mapped;
    return 0;
none:
    pthread_rwlock_unlock(&memory.lock);
    return GYRE_CU_OUT_OF_MEMORY;
}

static int give(void *address)
{
    int result = GYRE_CU_INVALID_VALUE;
    size_t at;

    pthread_rwlock_wrlock(&memory.lock);
    at = rank(address);
    if (at > 0 && memory.blocks[at - 1].begin == address) {
        const size_t pages = whole_pages(memory.blocks[at - 1].size);

        munmap((char *)address - PAGE, pages + 2 * (size_t)PAGE);
        memmove(memory.blocks + at - 1, memory.blocks + at,
                (memory.count - at) * sizeof memory.blocks[0]);
        memory.count--;
        memory.bytes -= pages;
        result = 0;
    }
    pthread_rwlock_unlock(&memory.lock);
    return result;
}

bool ptx_reaches(uint64_t address, uint64_t *out_begin, uint64_t *out_end)
{
    bool found = false;
    size_t at;

    pthread_rwlock_rdlock(&memory.lock);
    at = rank(ptx_pointer(address));
    if (at > 0) {
        const block *const b = &memory.blocks[at - 1];

        *out_begin = (uint64_t)(uintptr_t)b->begin;
        *out_end = *out_begin + b->size;
        found = address < *out_end;
    }
    pthread_rwlock_unlock(&memory.lock);
    return found;
}

size_t driver_room(const void *address)
{
    const uint64_t at = (uint64_t)(uintptr_t)address;
    uint64_t begin, end;

    return ptx_reaches(at, &begin, &end) ? (size_t)(end - at) : 0;
}

void *ptx_variable_take(size_t bytes)
{
    void *taken;

    if (take(bytes ? bytes : 1, &taken) != 0)
        return NULL;
    memset(taken, 0, bytes);
    return taken;
}

void ptx_variable_give(void *variable)
{
    (void)give(variable);
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    pthread_rwlock_rdlock(&memory.lock);
    *available = DRIVER_MEMORY - memory.bytes;
    *total = DRIVER_MEMORY;
    pthread_rwlock_unlock(&memory.lock);
    return driver_ready();
}

int cuMemAlloc_v2(void **address, size_t bytes)
{
    const int result = driver_ready();

    return result ? result : take(bytes, address);
}

int cuMemFree_v2(void *address)
{
    const int result = driver_ready();

    if (result || !address)
        return result;
    driver_await_work(driver_current());
    return give(address);
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    return cuMemAlloc_v2(address, bytes);
}

int cuMemFreeHost(void *address)
{
    return cuMemFree_v2(address);
}

/* There is no bus behind which the memory would be. */
int cuMemGetHandleForAddressRange(void *handle, void *address, size_t size, int type,
                                  unsigned long long flags)
{
    (void)handle, (void)address, (void)size, (void)type, (void)flags;
    return GYRE_CU_NOT_SUPPORTED;
}
