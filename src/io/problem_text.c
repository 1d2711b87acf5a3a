// problem_text.c: contact problems as text.  Format: docs/solve.md.
//
// Nothing is believed that the text cannot hold: counts are compared with what is left of it before memory is asked
// for.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "contact/residual.h"
#include "io/problem_data.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const LAWS[CAROM_LAWS] = {"bilateral", "unilateral", "planar", "spatial", "ball3", "ball4", "ball5"};

typedef struct {
    const char *at, *end, *file;
    int line;
    char word[64];
    carom_error *err;
} reader;

static carom_status complain(reader *r, const char *what, const char *word) {
    return carom_fail(r->err, CAROM_BAD_INPUT, "%.200s:%d: %s%s%.60s%s", r->file, r->line, what, word ? " '" : "",
                      word ? word : "", word ? "'" : "");
}

// The next word, "" at the end; '#' hides the rest of a line.
static const char *next(reader *r) {
    while (r->at < r->end) {
        if (*r->at == '\n') r->line += 1;
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n') ++r->at;
        else if (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') ++r->at;
        else break;
    }
    size_t n = 0;
    for (; r->at < r->end && !strchr(" \t\r\n#", *r->at); ++r->at)
        if (n + 1 < sizeof r->word) r->word[n++] = *r->at;
    r->word[n] = 0;
    return r->word;
}

static carom_status number(reader *r, double *x) {
    char *end = NULL;
    *x = carom_number(next(r), &end);
    if (!r->word[0]) return complain(r, "expected a number but the file ends", NULL);
    if (end == r->word || *end || !isfinite(*x)) return complain(r, "expected a finite number but found", r->word);
    return CAROM_OK;
}

static carom_status count(reader *r, const char *what, int least, int most, int *n) {
    char *end = NULL, sentence[120];
    const long x = strtol(next(r), &end, 10);
    *n = (int)x;
    if (end != r->word && !*end && x >= least && x <= most) return CAROM_OK;
    snprintf(sentence, sizeof sentence, "expected %s from %d to %d but found", what, least, most);
    return complain(r, sentence, r->word);
}

static carom_status read_blocks(reader *r, carom_block *block, int nb, int *rows) {
    *rows = 0;
    for (int b = 0; b < nb; ++b) {
        int law = 0;
        next(r);
        while (law < CAROM_LAWS && strcmp(LAWS[law], r->word) != 0) ++law;
        if (law == CAROM_LAWS)
            return complain(
                r, "expected a law (bilateral, unilateral, planar, spatial, ball3, ball4 or ball5) but found", r->word);
        block[b] = (carom_block){.law = (carom_law)law, .at = *rows};
        *rows += carom_law_rows(block[b].law);
        if (law < CAROM_PLANAR) continue;
        CAROM_TRY(number(r, &block[b].mu));
        if (block[b].mu < 0) return complain(r, "friction must not be negative:", r->word);
    }
    return CAROM_OK;
}

// entry: room for `room` entries, grown as needed.
static carom_status read_matrix(reader *r, const carom_block *block, int nb, problem_entry **entry, size_t *used) {
    int blocks = 0, i = 0, j = 0;
    size_t room = 0;
    const size_t left = (size_t)(r->end - r->at);
    CAROM_TRY(count(r, "a number of blocks", 0, left < MOST_ENTRIES ? (int)left : MOST_ENTRIES, &blocks));
    for (int k = 0; k < blocks; ++k) {
        CAROM_TRY(count(r, "a row of blocks", 0, nb - 1, &i));
        CAROM_TRY(count(r, "a column of blocks", 0, nb - 1, &j));
        const int rows = carom_law_rows(block[i].law), cols = carom_law_rows(block[j].law);
        if (*used + (size_t)(rows * cols) > room) {
            room = 2 * room + 1024;
            problem_entry *more = realloc(*entry, room * sizeof *more);
            if (!more) return problem_no_memory(r->err, r->file);
            *entry = more;
        }
        for (int a = 0; a < rows; ++a)
            for (int b = 0; b < cols; ++b) {
                problem_entry *e = *entry + (*used)++;
                *e = (problem_entry){block[i].at + a, block[j].at + b, 0};
                CAROM_TRY(number(r, &e->x));
            }
    }
    return CAROM_OK;
}

typedef struct {
    carom_block *block;
    double *c, *start;
    problem_entry *entry;
    size_t entries;
    int nb, n;
    char *title;
} parts;

static carom_status read_title(reader *r, char **title) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) ++r->at;
    size_t n = 0;
    while (r->at + n < r->end && r->at[n] != '\n' && r->at[n] != '\r') ++n;
    free(*title);
    *title = strndup(r->at, n < 200 ? n : 200);
    r->at += n;
    return *title ? CAROM_OK : problem_no_memory(r->err, r->file);
}

static carom_status read_vector(reader *r, const parts *p, double **x) {
    if (*x) return complain(r, "given twice:", r->word);
    *x = calloc((size_t)p->n + 1, sizeof **x);
    if (!*x) return problem_no_memory(r->err, r->file);
    for (int i = 0; i < p->n; ++i) CAROM_TRY(number(r, *x + i));
    return CAROM_OK;
}

static carom_status read_parts(reader *r, parts *p) {
    int version = 0;
    bool matrix = false;
    CAROM_TRY(count(r, "a version of the format", 1, 1, &version));
    for (;;) {
        next(r);
        if (strcmp(r->word, "title") == 0) {
            CAROM_TRY(read_title(r, &p->title));
            continue;
        }
        if (strcmp(r->word, "blocks") == 0 && !p->block) {
            const size_t left = (size_t)(r->end - r->at) / 2;
            CAROM_TRY(count(r, "a number of blocks", 0, left < MOST_ROWS / 6 ? (int)left : MOST_ROWS / 6, &p->nb));
            p->block = calloc((size_t)p->nb + 1, sizeof *p->block);
            if (!p->block) return problem_no_memory(r->err, r->file);
            CAROM_TRY(read_blocks(r, p->block, p->nb, &p->n));
            continue;
        }
        if (!p->block) return complain(r, "expected 'blocks' before everything else but found", r->word);
        if (strcmp(r->word, "c") == 0) CAROM_TRY(read_vector(r, p, &p->c));
        else if (strcmp(r->word, "start") == 0) CAROM_TRY(read_vector(r, p, &p->start));
        else if (strcmp(r->word, "G") == 0 && !matrix) {
            CAROM_TRY(read_matrix(r, p->block, p->nb, &p->entry, &p->entries));
            matrix = true;
        } else if (strcmp(r->word, "end") == 0) break;
        else
            return complain(r,
                            r->word[0] ? "expected c, start, G or end but found"
                                       : "expected c, start, G or end but the file ends",
                            r->word[0] ? r->word : NULL);
    }
    if (!p->c || !matrix) return complain(r, p->c ? "the problem has no G" : "the problem has no c", NULL);
    return CAROM_OK;
}

carom_status problem_text_read(carom_problem_list *list, const char *text, size_t length, const char *file,
                               carom_error *err) {
    reader r = {.at = text, .end = text + length, .file = file, .line = 1, .err = err};
    if (strcmp(next(&r), "carom-problem") != 0)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "%.200s is not a contact problem: neither FCLIB (HDF5) nor text that begins with 'carom-problem 1'", file);
    while (strcmp(r.word, "carom-problem") == 0) {
        parts p = {0};
        carom_status status = read_parts(&r, &p);
        if (status == CAROM_OK) {
            problem_data *d = problem_data_create(p.block, p.nb, p.entry, p.entries);
            for (int i = 0; d && i < p.n; ++i) d->c[i] = p.c[i], d->p[i] = p.start ? p.start[i] : 0;
            if (d) d->title = p.title, p.title = NULL;
            status = problem_list_append(list, d, err);
        }
        free(p.block), free(p.c), free(p.start), free(p.entry), free(p.title);
        CAROM_TRY(status);
        next(&r);
    }
    if (r.word[0]) return complain(&r, "expected 'carom-problem' or the end of the file but found", r.word);
    return CAROM_OK;
}

static void write_vector(FILE *f, const char *name, const carom_problem *pb, const double *x) {
    fprintf(f, "%s\n", name);
    for (int b = 0; b < pb->nb; ++b)
        for (int i = 0, rows = carom_law_rows(pb->block[b].law); i < rows; ++i)
            fprintf(f, "%.17g%c", x[pb->block[b].at + i], i + 1 < rows ? ' ' : '\n');
}

void problem_text_write(FILE *f, const carom_problem *pb, const char *title) {
    const carom_block_rows *R = pb->rows;
    bool warm = false;
    fprintf(f, "carom-problem 1\n%s%s%sblocks %d\n", title && title[0] ? "title " : "", title ? title : "",
            title && title[0] ? "\n" : "", pb->nb);
    for (int b = 0; b < pb->nb; ++b) {
        fputs(LAWS[pb->block[b].law], f);
        if (pb->block[b].law >= CAROM_PLANAR) fprintf(f, " %.17g", pb->block[b].mu);
        fputc('\n', f);
    }
    write_vector(f, "c", pb, pb->c);
    for (int i = 0; i < pb->n; ++i) warm = warm || pb->p[i] != 0;
    if (warm) write_vector(f, "start", pb, pb->p);
    fprintf(f, "G %d\n", R->start[pb->nb]);
    for (int b = 0; b < pb->nb; ++b)
        for (int k = R->start[b]; k < R->start[b + 1]; ++k) {
            const int rows = carom_law_rows(pb->block[b].law), cols = carom_law_rows(pb->block[R->col[k]].law);
            fprintf(f, "%d %d ", b, R->col[k]);
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < cols; ++j) fprintf(f, " %.17g", R->value[R->at[k] + i + j * rows]);
            fputc('\n', f);
        }
    fputs("end\n", f);
}
