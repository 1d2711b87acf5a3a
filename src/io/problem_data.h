// problem_data.h: contact problems being read and written; shared by the formats.
#pragma once
#include <carom/problem_file.h>
#include <stdio.h>

enum { MOST_ROWS = 1 << 27, MOST_ENTRIES = 1 << 28 }; // indices stay below 2^31

typedef struct problem_data {
    carom_problem pb;
    carom_block_rows rows;
    carom_block *block;
    int *start, *col, *at, *diagonal;
    double *value, *c, *p, *u;
    size_t values; // numbers in value
    char *title;
} problem_data;

struct carom_problem_list {
    problem_data **item;
    int n;
};

/// One entry of G, by row and column of the problem.
typedef struct problem_entry { int row, col; double x; } problem_entry;

/// The problem with these blocks (rows counted up in order) and entries, which are added where they coincide.  c and p
/// are zero.  NULL: no memory.
problem_data *problem_data_create(const carom_block *block, int nb, const problem_entry *entry, size_t count);
void problem_data_destroy(problem_data *d);
/// The entries of G, dense or by blocks; to NULL: their number only.
size_t problem_entries(const carom_problem *pb, problem_entry *to);
/// Takes d over, also when it fails; d NULL: fails.
carom_status problem_list_append(carom_problem_list *list, problem_data *d, carom_error *err);
carom_status problem_no_memory(carom_error *err, const char *file);

carom_status fclib_read(carom_problem_list *list, const char *file, carom_error *err);
/// solution: also pb->p and pb->u as the solution; else a start that is not zero becomes a guess.
carom_status fclib_write(const carom_problem *pb, const char *file, const char *title, bool solution, carom_error *err);
bool fclib_probe(const char *file);       // HDF5?
/// From problem_text.c; text has a NUL behind its length bytes.
carom_status problem_text_read(carom_problem_list *list, const char *text, size_t length, const char *file,
                               carom_error *err);
void problem_text_write(FILE *f, const carom_problem *pb, const char *title);
/// From problem_binary.c: FC01.
bool problem_binary_probe(const char *text, size_t length);
carom_status problem_binary_read(carom_problem_list *list, const char *text, size_t length, const char *file,
                                 carom_error *err);
