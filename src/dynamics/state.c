// state.c: a state in a file: a table with the names of results and one row, or the last row of a result.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "dynamics/dynamics.h"
#include "io/csv.h"
#include "io/whole.h"
#include "model/answers.h"
#include "model/pairs.h"
#include <carom/result.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Of the model's size: a run can go on from results of schemes that let joints drift, and of those that let contacts
// penetrate.
static const double FITS = 1e-4, PENETRATES = 1e-2; // of the size of the model: gaps of joints and of contacts in a
                                                    // state that fits it
static const double SMALLEST = 1e-3; // m: that of a model whose coordinates are all 0

// -- reading ------------------------------------------------------------------------------------------------------

typedef struct row {
    int n;
    char **name;  // NULL: those of the result
    double *x;
    carom_result *result;
    csv_table table;
    int next;     // column behind the last one found: states are asked in the order of results
} row;

static carom_status empty(const char *file, carom_error *err) {
    return carom_fail(err, CAROM_BAD_INPUT, "%.200s contains no state: it has no rows", file);
}

// Tables of many runs and of branches have texts in them, and no state that is the last.
static carom_status refuse_others(const char *file, carom_error *err) {
    char head[1000] = "";
    FILE *f = fopen(file, "rb");
    if (f && !fgets(head, sizeof head, f)) head[0] = 0;
    if (f) fclose(f);
    const bool sweep = strncmp(head, "run,", 4) == 0 && strstr(head, ",status,message"),
               branch = strncmp(head, "branch,", 7) == 0 && strstr(head, ",event,");
    if (!sweep && !branch) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT,
                      "%.200s is a %s, which has many states; give a result, or a table of one state such as an "
                      "equilibrium saves",
                      file, sweep ? "sweep" : "branch of `carom follow`");
}

// The last row of a table.
static carom_status read_table(row *r, const char *file, carom_error *err) {
    CAROM_TRY(refuse_others(file, err));
    CAROM_TRY(csv_read_to(&r->table, file, true, err));
    if (r->table.rows < 1) return empty(file, err);
    r->n = r->table.columns;
    r->name = r->table.column;
    r->x = r->table.value + (size_t)(r->table.rows - 1) * (size_t)r->n;
    return CAROM_OK;
}

static carom_status read_result(row *r, const char *file, carom_error *err) {
    r->result = carom_result_open(file, err);
    if (!r->result) return CAROM_BAD_INPUT;
    const long rows = carom_result_rows(r->result);
    r->n = carom_result_columns(r->result);
    if (rows < 1) return empty(file, err);
    r->table.value = calloc((size_t)r->n, sizeof *r->table.value);
    r->x = r->table.value;
    if (!r->x) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a row of %.200s", file);
    return carom_result_read_rows(r->result, rows - 1, 1, r->x, err);
}

static bool is_hdf5(const char *file) {
    char head[8] = "";
    FILE *f = fopen(file, "rb");
    const bool same = f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
    if (f) fclose(f);
    return same;
}

static carom_status read_row(row *r, const char *file, carom_error *err) {
    struct stat st;
    if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
        return carom_fail(err, CAROM_BAD_INPUT, "cannot read a state from %.200s: it is not a regular file", file);
    return is_hdf5(file) ? read_result(r, file, err) : read_table(r, file, err);
}

static void forget(row *r) {
    carom_result_close(r->result);
    csv_free(&r->table);
}

// The first column of that name from the last one found on; -1: none.
static int find(row *r, const char *name) {
    for (int k = 0; k < r->n; ++k) {
        const int i = (r->next + k) % r->n;
        if (strcmp(r->name ? r->name[i] : carom_result_column(r->result, i), name) != 0) continue;
        r->next = i + 1;
        return i;
    }
    return -1;
}

static carom_status value(row *r, const char *file, const char *name, double *x, carom_error *err) {
    const int i = find(r, name);
    if (i < 0)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.200s has no column '%.60s', which the model needs; is it a state of this model?", file,
                          name);
    *x = r->x[i];
    return isfinite(*x)
               ? CAROM_OK
               : carom_fail(err, CAROM_BAD_INPUT, "%.200s: '%.60s' is %g, which is not a state", file, name, *x);
}

// -- does it fit? -------------------------------------------------------------------------------------------------

// Four numbers that were printed become a unit quaternion again.
static carom_status normalise(const carom_model *m, double *q, const char *file, carom_error *err) {
    for (int i = 0; i < carom_model_system(m)->nq; ++i) {
        if (carom_model_quaternion(m, i) != i) continue;
        const double length = carom_length(q + i, 4);
        if (!(fabs(length - 1) < FITS))
            return carom_fail(err, CAROM_BAD_INPUT,
                              "%.200s: '%.60s' and the next three are not a unit quaternion: their length is %g", file,
                              carom_model_coordinate(m, i), length);
        for (int k = 0; k < 4; ++k) q[i + k] /= length;
        i += 3;
    }
    return CAROM_OK;
}

// Gaps of all constraints, contacts, and contacts of a dynamic list at q, by id; *n of them.
static carom_status gaps_at(const carom_model *m, void *work, const double *q, near_look *x, int *n, carom_error *err) {
    const carom_system *s = carom_model_system(m);
    *n = s->ne + s->nc - s->listed;
    if (m->near) CAROM_TRY(carom_near_open(m, work, q, 0, x, err));
    else if (!(x->gap = calloc((size_t)*n + 1, sizeof *x->gap)))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the gaps of a state");
    *n += x->list.used;
    return s->gaps ? s->gaps(s->model, work, 0, q, x->gap) : CAROM_OK;
}

static carom_status check_gaps(const carom_model *m, const double *q, const char *file, carom_error *err) {
    const carom_system *s = carom_model_system(m);
    const int own = s->ne + s->nc - s->listed;
    const double size = fmax(carom_norm_max(q, s->nq), SMALLEST);
    void *work = carom_model_work(m, err);
    near_look x = {0};
    int n;
    if (!work) return CAROM_NO_MEMORY;
    carom_status status = gaps_at(m, work, q, &x, &n, err);
    if (status == CAROM_USER)
        carom_fail(err, status, "%.200s: the gaps of the model have no finite value in this state", file);
    for (int id = 0; id < n && status == CAROM_OK; ++id) {
        const double wrong = id < s->ne ? fabs(x.gap[id]) : -x.gap[id];
        char name[CAROM_CONTACT_NAME];
        if (wrong <= (id < s->ne ? FITS : PENETRATES) * size) continue;
        status = carom_fail(err, CAROM_BAD_INPUT, "%.200s does not fit the model: the gap of '%.60s' is %g there", file,
                            id < own ? carom_model_constraint(m, id)
                                     : carom_near_slot_name(m, &x, id - own, name, sizeof name),
                            x.gap[id]);
    }
    carom_near_close(m, work, &x);
    free(work);
    return status;
}

carom_status carom_state_read(const carom_model *m, const char *file, double *q, double *v, carom_error *err) {
    if (!m || !file || !q || !v)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "a state needs a model, the name of a file and places for positions and velocities");
    const carom_system *s = carom_model_system(m);
    row r = {.n = 0};
    carom_status status = read_row(&r, file, err);
    carom_copy(q, carom_model_q0(m), s->nq);
    carom_copy(v, carom_model_v0(m), s->nv);
    for (int i = 0; i < s->nq && status == CAROM_OK; ++i)
        if (!carom_model_hidden(m, i)) status = value(&r, file, carom_model_coordinate(m, i), &q[i], err);
    for (int i = 0; i < s->nv && status == CAROM_OK; ++i)
        if (!carom_model_presses(m, i)) status = value(&r, file, carom_model_velocity(m, i), &v[i], err);
    forget(&r);
    if (status == CAROM_OK) status = normalise(m, q, file, err);
    if (status == CAROM_OK) status = check_gaps(m, q, file, err);
    // of states, where equilibria have their values
    for (int i = 0; i < s->nv; ++i)
        if (carom_model_state(m, i)) q[i] = v[i];
    return status;
}

carom_status carom_state_signals(const carom_model *m, const char *file, double *x, carom_error *err) {
    if (!m || !file || !x)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "signals need a model, the name of a file and a place for their values");
    const carom_system *s = carom_model_system(m);
    x[s->signals->ni] = 0;
    if (s->signals->ni == 0) return CAROM_OK;
    carom_copy(x, s->signals->input, s->signals->ni);
    row r = {.n = 0};
    carom_status status = read_row(&r, file, err);
    bool all = s->signals->ni > s->signals->nset;
    for (int i = s->signals->nset; i < s->signals->ni && status == CAROM_OK; ++i) {
        const bool there = find(&r, carom_model_signal(m, i)) >= 0;
        if (there) status = value(&r, file, carom_model_signal(m, i), &x[i], err);
        all = all && there;
    }
    if (status == CAROM_OK && all && find(&r, "t") >= 0) status = value(&r, file, "t", &x[s->signals->ni], err);
    forget(&r);
    return status;
}

// -- writing ------------------------------------------------------------------------------------------------------

// An output on its way has the name of the output.
static bool first_of_name(const carom_model *m, int i) {
    for (int k = 0; k < i; ++k)
        if (strcmp(carom_model_signal(m, k), carom_model_signal(m, i)) == 0) return false;
    return true;
}

carom_status carom_state_write(const carom_model *m, const char *file, const double *q, const double *v,
                               carom_error *err) {
    return carom_state_keep(m, file, q, v, NULL, err);
}

carom_status carom_state_keep(const carom_model *m, const char *file, const double *q, const double *v,
                              const double *signals, carom_error *err) {
    if (!m || !file || !q || !v)
        return carom_fail(err, CAROM_BAD_INPUT, "a state needs a model, the name of a file, positions and velocities");
    const carom_system *s = carom_model_system(m);
    whole_file w;
    CAROM_TRY(whole_open(&w, file, err));
    FILE *f = w.f;
    char text[40];
    fputs("t", f);
    for (int i = 0; i < s->nq; ++i)
        if (!carom_model_hidden(m, i)) fprintf(f, ",%s", carom_model_coordinate(m, i));
    for (int i = 0; i < s->nv; ++i)
        if (!carom_model_presses(m, i)) fprintf(f, ",%s", carom_model_velocity(m, i));
    const int last = signals ? s->signals->ni : s->signals->nset;
    for (int i = s->signals->nset; i < last; ++i)
        if (first_of_name(m, i)) fprintf(f, ",%s", carom_model_signal(m, i));
    fputs("\n0", f);
    for (int i = 0; i < s->nq + s->nv; ++i) {
        if (i < s->nq ? carom_model_hidden(m, i) : carom_model_presses(m, i - s->nq)) continue;
        carom_format(text, sizeof text, "%.17g", i < s->nq ? q[i] : v[i - s->nq]);
        fprintf(f, ",%s", text);
    }
    for (int i = s->signals->nset; i < last; ++i) {
        if (!first_of_name(m, i)) continue;
        carom_format(text, sizeof text, "%.17g", signals[i - s->signals->nset]);
        fprintf(f, ",%s", text);
    }
    fputc('\n', f);
    return whole_close(&w, true, err);
}
