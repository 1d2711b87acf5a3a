// pages.c: see pages.h.
#define _DEFAULT_SOURCE // madvise, MAP_ANONYMOUS
#include "base/pages.h"
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdint.h>
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#ifdef MADV_DONTNEED
void carom_forget(void *from, size_t n) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)from + page - 1) / page * page,
                    end = ((uintptr_t)from + n) / page * page;
    // advice: nothing is lost where it is not taken
    if (from && first < end)
        madvise((unsigned char *)from + (first - (uintptr_t)from), (size_t)(end - first), MADV_DONTNEED);
}
#else
void carom_forget(void *from, size_t n) { (void)from, (void)n; }
#endif

// Pages of their own are zero and come when they are touched; the heap clears all of what it hands out a second time.
#ifdef MAP_NORESERVE
enum { MAPPED_FROM = 1 << 18 }; // bytes: clearing them takes about as long as mapping
static void *map(size_t n, int flags) {
    void *block = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}
static void *map_unpromised(size_t n) { return map(n, MAP_NORESERVE); }
static void unmap(void *block, size_t n) { munmap(block, n); }
#else
static const size_t MAPPED_FROM = SIZE_MAX;
static void *map(size_t n, int flags) { return (void)n, (void)flags, NULL; }
static void *map_unpromised(size_t n) { return (void)n, NULL; }
static void unmap(void *block, size_t n) { (void)block, (void)n; }
#endif

void *carom_reserve(size_t n, bool unpromised, bool *mapped) {
    *mapped = n >= MAPPED_FROM;
    void *block = *mapped ? map(n, 0) : calloc(1, n);
    if (block || !unpromised) return block;
    *mapped = true;
    return map_unpromised(n);
}

void carom_release(void *block, size_t n, bool mapped) {
    if (!mapped) free(block);
    else if (block) unmap(block, n);
}

#ifdef __GLIBC__
void carom_forget_freed(void) { malloc_trim(0); }
#else
void carom_forget_freed(void) {}
#endif

void carom_supply_pages(void *from, size_t n) {
    enum { PAGE = 4096 }; // the smallest there are
    for (size_t at = 0; at < n; at += PAGE) {
        volatile unsigned char *byte = (unsigned char *)from + at;
        *byte = *byte;
    }
}

void carom_zero_changes(double *x, size_t n) {
    enum { PAGE = 512 }; // numbers: 4096 bytes, the smallest page there is
    static const double zero[PAGE];
    for (size_t at = 0; at < n; at += PAGE) {
        const size_t size = (n - at < PAGE ? n - at : PAGE) * sizeof *x;
        if (memcmp(x + at, zero, size) != 0) memset(x + at, 0, size);
    }
}
