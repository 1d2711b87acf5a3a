// deflate.c: matches in the last 32 KB, found by chains of equal hashes, in one block of fixed codes (RFC 1951, 3.2.6).
// Equal bytes make equal blocks.
#include "fmu/deflate.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// limits of the format; bits of a hash, one entry for each place of the window; TRIES chosen: time for size
enum { WINDOW = 32768, HASH_BITS = 15, SHORTEST = 3, LONGEST = 258, TRIES = 16 };

typedef struct bits {
    unsigned char *out;
    size_t n, room;
    uint32_t held;
    int count;
} bits;

// The low bit first; false: no room.
static void put(bits *b, uint32_t x, int n) {
    b->held |= x << b->count;
    b->count += n;
    for (; b->count >= 8; b->count -= 8, b->held >>= 8, ++b->n)
        if (b->n < b->room) b->out[b->n] = (unsigned char)b->held;
}

// Codes have the high bit first.
static void put_code(bits *b, uint32_t code, int n) {
    uint32_t turned = 0;
    for (int i = 0; i < n; ++i) turned |= (code >> i & 1) << (n - 1 - i);
    put(b, turned, n);
}

static void put_symbol(bits *b, int s) {
    if (s < 144)
        put_code(b, 0x30 + (uint32_t)s, 8);
    else if (s < 256)
        put_code(b, 0x190 + (uint32_t)s - 144, 9);
    else if (s < 280)
        put_code(b, (uint32_t)s - 256, 7);
    else
        put_code(b, 0xc0 + (uint32_t)s - 280, 8);
}

// Symbol k covers base[k] .. base[k + 1] - 1 with extra bits.
static void put_length(bits *b, int length) {
    static const short base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23,  27,
                                 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258, 259};
    static const char extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    int k = 0;
    while (length >= base[k + 1]) ++k;
    put_symbol(b, 257 + k);
    put(b, (uint32_t)(length - base[k]), extra[k]);
}

static void put_distance(bits *b, int distance) {
    static const int base[] = {1,    2,    3,    4,    5,    7,     9,     13,    17,   25,   33,
                               49,   65,   97,   129,  193,  257,   385,   513,   769,  1025, 1537,
                               2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577, 32769};
    int k = 0;
    while (distance >= base[k + 1]) ++k;
    put_code(b, (uint32_t)k, 5);
    put(b, (uint32_t)(distance - base[k]), k < 2 ? 0 : k / 2 - 1);
}

static uint32_t hash_of(const unsigned char *p) {
    return ((uint32_t)p[0] << 16 ^ (uint32_t)p[1] << 8 ^ p[2]) * UINT32_C(2654435761) >> (32 - HASH_BITS);
}

// The longest match for what stands at `at`; its length, 0: none.
static int find(const unsigned char *in, size_t size, size_t at, const int64_t *head, const int64_t *before,
                int *distance) {
    const int most = size - at < LONGEST ? (int)(size - at) : LONGEST;
    int best = 0, tries = TRIES;
    if (most < SHORTEST) return 0;
    for (int64_t k = head[hash_of(in + at)]; k >= 0 && (int64_t)at - k <= WINDOW && tries-- > 0 && best < most;
         k = before[k % WINDOW]) {
        if (in[(size_t)k + (size_t)best] != in[at + (size_t)best]) continue; // not longer
        int n = 0;
        while (n < most && in[(size_t)k + (size_t)n] == in[at + (size_t)n]) ++n;
        if (n > best) best = n, *distance = (int)((int64_t)at - k);
    }
    return best >= SHORTEST ? best : 0;
}

static void remember(const unsigned char *in, size_t size, size_t at, int64_t *head, int64_t *before) {
    if (size - at < SHORTEST) return;
    const uint32_t h = hash_of(in + at);
    before[at % WINDOW] = head[h];
    head[h] = (int64_t)at;
}

unsigned char *carom_deflate(const unsigned char *in, size_t size, size_t *out_size) {
    bits b = {.out = malloc(size + 1), .room = size};
    int64_t *head = malloc(sizeof *head << HASH_BITS), *before = malloc(WINDOW * sizeof *before);
    const bool room = b.out && head && before;
    for (int i = 0; room && i < 1 << HASH_BITS; ++i) head[i] = -1;
    put(&b, 3, 3); // the last block, of fixed codes
    for (size_t at = 0; room && at < size && b.n < size;) {
        int distance = 0;
        const int length = find(in, size, at, head, before, &distance);
        if (length)
            put_length(&b, length), put_distance(&b, distance);
        else
            put_symbol(&b, in[at]);
        for (int k = 0; k < (length ? length : 1); ++k) remember(in, size, at++, head, before);
    }
    put_symbol(&b, 256);
    if (b.count) put(&b, 0, 8 - b.count);
    free(head), free(before);
    if (room && b.n < size) return *out_size = b.n, b.out;
    free(b.out);
    return NULL;
}
