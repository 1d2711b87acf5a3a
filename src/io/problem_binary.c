// problem_binary.c: FC01, a plain binary form of frictional contact problems: little-endian,
//
//     "FC01"; int32 d, nc, blocks; int32 start[nc + 1], col[blocks]; float64 value[blocks][d*d], c[d*nc], mu[nc],
//     rolling[nc]
//
// d = 1: no friction, 2: planar, 3: spatial; blocks column-major.  Rolling friction must be zero.
#include "contact/residual.h"
#include "io/problem_data.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool problem_binary_probe(const char *text, size_t length) { return length >= 4 && memcmp(text, "FC01", 4) == 0; }

static int integer(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (int)(int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

static double real(const char *at) {
    uint64_t bits = 0;
    double x;
    for (int i = 0; i < 8; ++i) bits |= (uint64_t)(unsigned char)at[i] << 8 * i;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct { int d, nc, blocks; const char *start, *col, *value, *c, *mu, *rolling; } binary;

static carom_status check(const binary *f, const char *file, carom_error *err) {
    if (integer(f->start) != 0 || integer(f->start + 4 * (size_t)f->nc) != f->blocks)
        return carom_fail(err, CAROM_BAD_INPUT, "%.200s: the rows do not add up to %d blocks", file, f->blocks);
    for (int i = 0; i < f->nc; ++i) {
        const int from = integer(f->start + 4 * (size_t)i), to = integer(f->start + 4 * (size_t)i + 4);
        if (from > to || to > f->blocks)
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s: row %d has no valid place", file, i);
        const double mu = real(f->mu + 8 * (size_t)i), rolling = real(f->rolling + 8 * (size_t)i);
        if (!(mu >= 0 && mu < INFINITY))
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s: contact %d has friction %g", file, i, mu);
        if (rolling != 0)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "%.200s: contact %d has rolling friction, which this form cannot describe completely",
                              file, i);
    }
    for (int k = 0; k < f->blocks; ++k) {
        const int col = integer(f->col + 4 * (size_t)k);
        if (col < 0 || col >= f->nc)
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s: block %d is in column %d of %d", file, k, col, f->nc);
    }
    return CAROM_OK;
}

static size_t entries_of(const binary *f, problem_entry *entry) {
    size_t n = 0;
    for (int i = 0; i < f->nc; ++i)
        for (int k = integer(f->start + 4 * (size_t)i); k < integer(f->start + 4 * (size_t)i + 4); ++k)
            for (int q = 0; q < f->d * f->d; ++q, ++n)
                entry[n] = (problem_entry){i * f->d + q % f->d, integer(f->col + 4 * (size_t)k) * f->d + q / f->d,
                                           real(f->value + 8 * ((size_t)k * (size_t)(f->d * f->d) + (size_t)q))};
    return n;
}

carom_status problem_binary_read(carom_problem_list *list, const char *text, size_t length, const char *file,
                                 carom_error *err) {
    binary f = {0};
    if (length >= 16) f.d = integer(text + 4), f.nc = integer(text + 8), f.blocks = integer(text + 12);
    if (f.d < 1 || f.d > 3 || f.nc < 0 || f.blocks < 0 || f.blocks > MOST_ENTRIES / 9 || f.nc > MOST_ROWS / 6)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.200s: not a valid FC01 file: %d rows for each of %d contacts, %d blocks", file, f.d, f.nc,
                          f.blocks);
    const size_t nc = (size_t)f.nc, blocks = (size_t)f.blocks, d = (size_t)f.d;
    f.start = text + 16, f.col = f.start + 4 * (nc + 1), f.value = f.col + 4 * blocks,
    f.c = f.value + 8 * blocks * d * d, f.mu = f.c + 8 * d * nc, f.rolling = f.mu + 8 * nc;
    const size_t wanted = 16 + 4 * (nc + 1) + 4 * blocks + 8 * blocks * d * d + 8 * d * nc + 16 * nc;
    if (length != wanted)
        return carom_fail(err, CAROM_BAD_INPUT, "%.200s has %zu bytes; %d contacts and %d blocks need %zu", file,
                          length, f.nc, f.blocks, wanted);
    CAROM_TRY(check(&f, file, err));
    carom_block *block = calloc(nc + 1, sizeof *block);
    problem_entry *entry = calloc(blocks * d * d + 1, sizeof *entry);
    problem_data *data = NULL;
    if (block && entry) {
        for (int i = 0; i < f.nc; ++i)
            block[i] = (carom_block){carom_law_friction(f.d - 1), i * f.d, f.d > 1 ? real(f.mu + 8 * (size_t)i) : 0};
        data = problem_data_create(block, f.nc, entry, entries_of(&f, entry));
    }
    for (int i = 0; data && i < data->pb.n; ++i) data->c[i] = real(f.c + 8 * (size_t)i);
    free(block);
    free(entry);
    return problem_list_append(list, data, err);
}
