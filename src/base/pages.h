// pages.h: memory of which only a part is in use: copies of it, what is no longer in use, and what soon will be.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// What stands in these n bytes is needed no more: whole pages among them go back to the machine, where it takes them.
/// The bytes remain the caller's, to be written before they are read: they are as they were, or zero.  The memory must
/// come from the heap.
void carom_forget(void *from, size_t n);

/// Of n bytes that will be written soon, every page is there: the step loop does not wait for the machine to supply
/// them.
void carom_supply_pages(void *from, size_t n);

/// Copies n bytes, page by page where they differ: pages that are zero on both sides stay untouched, and use no memory.
static inline void carom_copy_changes(void *to, const void *from, size_t n) {
    enum { PAGE = 4096 };
    unsigned char *a = to;
    const unsigned char *b = from;
    for (size_t at = 0; at < n; at += PAGE) {
        const size_t part = n - at < PAGE ? n - at : PAGE;
        if (memcmp(a + at, b + at, part) != 0) memcpy(a + at, b + at, part);
    }
}
/// n zeros, page by page where something else stands: pages that were never written stay untouched, and use no memory.
void carom_zero_changes(double *x, size_t n);

/// n zeros.  unpromised: where the machine refuses to promise so much, they are taken without its promise, for a block
/// of which only a small part will ever be written.  *mapped, for carom_release(): its pages are not of the heap.
void *carom_reserve(size_t n, bool unpromised, bool *mapped);
void carom_release(void *block, size_t n, bool mapped);

/// What has been freed goes back to the machine as far as it can: after many small pieces, which a heap would keep.
void carom_forget_freed(void);
