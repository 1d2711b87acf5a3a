// pages.c: see pages.h.
#define _DEFAULT_SOURCE // madvise, MAP_ANONYMOUS
#include "base/pages.h"
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <stdint.h>
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

#ifdef MAP_NORESERVE
static void *take_unpromised(size_t n) {
    void *block = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}
static void give_back(void *block, size_t n) { munmap(block, n); }
#else
static void *take_unpromised(size_t n) { return (void)n, NULL; }
static void give_back(void *block, size_t n) { (void)block, (void)n; }
#endif

void *carom_reserve(size_t n, bool unpromised, bool *promised) {
    void *block = calloc(1, n);
    *promised = block || !unpromised;
    return *promised ? block : take_unpromised(n);
}

void carom_release(void *block, size_t n, bool promised) {
    if (promised) free(block);
    else if (block) give_back(block, n);
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
    enum { PAGE = 512 };
    static const double zero[PAGE];
    for (size_t at = 0; at < n; at += PAGE) {
        const size_t size = (n - at < PAGE ? n - at : PAGE) * sizeof *x;
        if (memcmp(x + at, zero, size) != 0) memset(x + at, 0, size);
    }
}
