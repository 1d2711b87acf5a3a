// tables.c: tables of numbers as functions: `cam: profile.csv`, or x and y in the model.
#include "base/grow.h"
#include "base/number.h"
#include "derive/resolver.h"
#include "derive/soft.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 10000 }; // chosen: a safeguard against mistakes

typedef struct points {
    double *x, *y;
    int *line;        // of a file; NULL: the model
    const char *file;
    int n;
} points;

static void drop(points *p) {
    free(p->x);
    free(p->y);
    free(p->line);
}

static bool one_more(points *p) {
    return CAROM_GROW(p->x, p->n) && CAROM_GROW(p->y, p->n) && CAROM_GROW(p->line, p->n);
}

// -- from a file --------------------------------------------------------------------------------------------

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The numbers of a line up to `end`, between commas, semicolons or blanks; how many, -1: something else stands there.
static int line_numbers(const char *p, const char *end, double *x, int room) {
    int n = 0;
    for (;;) {
        while (p < end && blank(*p)) ++p;
        if (p == end) return n;
        char *stop = NULL;
        const double value = carom_number(p, &stop);
        if (stop == p || stop > end || !isfinite(value)) return -1;
        if (n < room) x[n] = value;
        ++n;
        for (p = stop; p < end && blank(*p);) ++p;
        if (p < end && (*p == ',' || *p == ';')) ++p;
    }
}

// Two numbers a line; lines that begin with # and a first line of names (it begins with none of a number's letters) are
// skipped.
static carom_status read_file(resolver *r, const carom_matrix_text *f, points *p) {
    int line = 0;
    bool first = true;
    p->file = f->file;
    for (const char *at = f->text, *end = at + f->length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        const char *from = at;
        double x[2];
        ++line;
        at = stop + (stop < end);
        while (from < stop && blank(*from)) ++from;
        if (from == stop || *from == '#') continue;
        const int n = line_numbers(from, stop, x, 2);
        const bool names = first && n < 0 && !strchr("+-.0123456789", *from);
        first = false;
        if (names) continue;
        r->failed = true;
        if (n < 0)
            return carom_fail(r->err, CAROM_BAD_INPUT, "%.200s:%d: expected two numbers, x and y", f->file, line);
        if (n != 2)
            return carom_fail(r->err, CAROM_BAD_INPUT,
                              "%.200s:%d: this line has %d number%s; a table has two columns, x and y", f->file, line,
                              n, n == 1 ? "" : "s");
        if (p->n == MOST_POINTS)
            return carom_fail(r->err, CAROM_BAD_INPUT, "%.200s:%d: a table has at most %d points", f->file, line,
                              MOST_POINTS);
        r->failed = false;
        if (!one_more(p)) return carom_fault_memory(r);
        p->x[p->n] = x[0];
        p->y[p->n] = x[1];
        p->line[p->n++] = line;
    }
    return CAROM_OK;
}

static carom_status find_file(resolver *r, const carom_datum *n, points *p) {
    const carom_mech *x = r->mech;
    if (n->kind != CAROM_TEXT || n->length == 0)
        return carom_fault(r, n, 0, "a table is a file, or {x: [...], y: [...]}");
    for (int k = 0; k < x->nmatrices; ++k) {
        if (strcmp(x->matrices[k].name, n->text) != 0) continue;
        r->m->matrix_used[k] = true;
        return read_file(r, &x->matrices[k], p);
    }
    return carom_fault(
        r, n, 0, "the text of '%.60s' is not given; a program hands it over with carom_mech_add_matrix()", n->text);
}

// -- from the model -----------------------------------------------------------------------------------------

static carom_status read_list(resolver *r, const carom_datum *n, const char *what, double *x) {
    for (int i = 0; i < n->count; ++i) {
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_resolve_expression(r, &n->item[i], SCOPE_VALUES, what, &node));
        if (!carom_graph_is_number(r->values, node, &x[i]) || !isfinite(x[i]))
            return carom_fault(r, &n->item[i], 0, "%s has no finite value", what);
    }
    return CAROM_OK;
}

static carom_status read_lists(resolver *r, const carom_mech_table *of, points *p) {
    const carom_datum *x = carom_given(&of->x), *y = carom_given(&of->y);
    if (!x || !y) return carom_fault(r, &of->name, 0, "table '%.60s' needs x and y, or a file", of->name.text);
    if (x->kind != CAROM_LIST) return carom_fault(r, x, 0, "x is a list of numbers: [0, 1, 2]");
    if (y->kind != CAROM_LIST) return carom_fault(r, y, 0, "y is a list of numbers: [0, 1, 2]");
    if (x->count != y->count)
        return carom_fault(r, y, 0, "table '%.60s': x has %d entries and y has %d; they must match", of->name.text,
                           x->count, y->count);
    if (x->count > MOST_POINTS) return carom_fault(r, x, 0, "a table has at most %d points", MOST_POINTS);
    for (; p->n < x->count; ++p->n)
        if (!one_more(p)) return carom_fault_memory(r);
    CAROM_TRY(read_list(r, x, "an x of this table", p->x));
    return read_list(r, y, "a y of this table", p->y);
}

// -- a table --------------------------------------------------------------------------------------------------

// One of two words; the first is the default.
static carom_status read_word(resolver *r, const carom_datum *n, const char *what, const char *a, const char *b,
                              bool *second) {
    *second = n && carom_datum_is(n, b);
    return !n || *second || carom_datum_is(n, a) ? CAROM_OK : carom_fault(r, n, 0, "%s is %s or %s", what, a, b);
}

static carom_status check_points(resolver *r, const carom_mech_table *of, const points *p) {
    const bool file = p->file != NULL;
    if (p->n < 2)
        return carom_fault(r, file ? &of->file : &of->name, 0, "table '%.60s' has %d point%s; it needs two or more",
                           of->name.text, p->n, p->n == 1 ? "" : "s");
    for (int i = 1; i < p->n; ++i) {
        if (p->x[i] > p->x[i - 1] && isfinite(p->x[i] - p->x[i - 1]) &&
            isfinite((p->y[i] - p->y[i - 1]) / (p->x[i] - p->x[i - 1])))
            continue;
        const bool ascends = p->x[i] > p->x[i - 1];
        const char *what = ascends ? "this point is too far from or too close to the one before it" : "x must ascend",
                   *cure = ascends ? "" : "; sort the points by x";
        r->failed = true;
        if (file)
            return carom_fail(r->err, CAROM_BAD_INPUT, "%.200s:%d: %s: %g follows %g%s", p->file, p->line[i], what,
                              p->x[i], p->x[i - 1], cure);
        return carom_fault(r, &of->x.item[i], 0, "%s: %g follows %g%s", what, p->x[i], p->x[i - 1], cure);
    }
    return CAROM_OK;
}

static carom_status add(resolver *r, const carom_mech_table *of, int index, const points *p) {
    bool spline = false, none = false;
    CAROM_TRY(read_word(r, carom_given(&of->kind), "kind", "linear", "spline", &spline));
    CAROM_TRY(read_word(r, carom_given(&of->outside), "outside", "constant", "error", &none));
    CAROM_TRY(check_points(r, of, p));
    double *numbers = carom_pool_take(&r->m->memory, carom_curve_size(p->n) * sizeof *numbers);
    if (!numbers || carom_curve_make(p->n, p->x, p->y, spline, !none, numbers) != CAROM_OK)
        return carom_fault_memory(r);
    for (size_t i = 4; i < carom_curve_size(p->n); ++i)
        if (!isfinite(numbers[i]))
            return carom_fault(r, &of->name, 0, "the spline of table '%.60s' overflows; scale its numbers",
                               of->name.text);
    const int which = carom_graph_curve(r->m->graph, numbers);
    CAROM_TRY(carom_new_name(r, &of->name, false, &r->m->names));
    if (which != index || !carom_names_add(&r->m->names, of->name.text, NAME_TABLE, index, of->name.line))
        return carom_fault_memory(r);
    return CAROM_OK;
}

carom_status carom_derive_tables(resolver *r) {
    for (int i = 0; i < r->mech->ntables; ++i) {
        const carom_mech_table *of = &r->mech->tables[i];
        const carom_datum *file = carom_given(&of->file);
        points p = {0};
        carom_status status = CAROM_OK;
        if (file && (carom_given(&of->x) || carom_given(&of->y)))
            status = carom_fault(r, file, 0, "table '%.60s' has a file and x, y; give one of the two", of->name.text);
        else status = file ? find_file(r, file, &p) : read_lists(r, of, &p);
        if (status == CAROM_OK) status = add(r, of, i, &p);
        drop(&p);
        CAROM_TRY(status);
    }
    return CAROM_OK;
}

// -- where tables are asked ---------------------------------------------------------------------------------

// A function of x that changes its sign at every knot and nowhere else: 0 there, 1 and -1 by turns halfway between them
// and beyond the ends.
static int saw(resolver *r, const double *numbers) {
    const int n = (int)numbers[0], count = 2 * n + 1;
    const double *knot = numbers + 4;
    double *x = malloc(2 * (size_t)count * sizeof *x), *y = x ? x + count : NULL,
           *own = carom_pool_take(&r->m->memory, carom_curve_size(count) * sizeof *own);
    int which = CAROM_NONE;
    for (int i = 0; x && i < n; ++i) x[2 * i + 1] = knot[i], y[2 * i + 1] = 0;
    for (int i = 0; x && i <= n; ++i) {
        x[2 * i] = i == 0   ? 1.5 * knot[0] - 0.5 * knot[1]
                   : i == n ? 1.5 * knot[n - 1] - 0.5 * knot[n - 2]
                            : 0.5 * (knot[i - 1] + knot[i]);
        y[2 * i] = i % 2 ? 1 : -1;
    }
    if (x && own && carom_curve_make(count, x, y, false, true, own) == CAROM_OK)
        which = carom_graph_curve(r->m->graph, own);
    free(x);
    return which;
}

carom_status carom_derive_knots(resolver *r) {
    carom_model *m = r->m;
    int *saws = carom_pool_take(&m->memory, ((size_t)r->mech->ntables + 1) * sizeof *saws);
    if (!saws) return carom_fault_memory(r);
    for (int i = 0; i < m->nasked; ++i) {
        const struct asked a = m->asked[i];
        const double *numbers = carom_graph_curve_numbers(m->graph, a.table);
        const bool varies = carom_graph_depends(m->graph, a.at, CAROM_TIME, 0) ||
                            carom_graph_depends(m->graph, a.at, CAROM_POSITION, -1) ||
                            carom_graph_depends(m->graph, a.at, CAROM_VELOCITY, -1);
        if (!varies || numbers[3] != 1) continue; // splines have no kinks
        if (saws[a.table] == 0) saws[a.table] = saw(r, numbers);
        if (saws[a.table] == CAROM_NONE) return carom_fault_memory(r);
        CAROM_TRY(carom_add_kink(r, carom_graph_curve_at(m->graph, saws[a.table], a.at), -1));
    }
    return CAROM_OK;
}
