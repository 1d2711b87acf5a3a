// follow_tasks.c: what is left to do: a queue of tasks, each a branch to begin or to go on with.
#include "dynamics/follow.h"
#include "io/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK = 5 + 2 * CAROM_TESTS }; // numbers of a look without its eigenvalues

double *follow_task_at(const follow_walk *w, int i) { return w->task + (size_t)i * (size_t)w->length; }

carom_status follow_add_task(follow_walk *w, int branch, double step, follow_kind what, const double *tau) {
    double *task = realloc(w->task, (size_t)(w->ntasks + 1) * (size_t)w->length * sizeof *task);
    if (!task) return follow_no_memory(w->err);
    w->task = task;
    double *t = follow_task_at(w, w->ntasks++);
    carom_zero(t, w->length);
    t[0] = branch, t[1] = step, t[2] = what, t[6] = (double)(w->f->branch.rows - 1), t[7] = w->orbits;
    carom_copy(t + w->head, tau, w->k.ntau);
    w->k.save(w->k.user, t + w->head + 2 * w->k.ntau);
    return CAROM_OK;
}

int follow_head_size(int neig) { return FOLLOW_FIXED + LOOK + 2 * neig; }

static double *put_tests(double *to, const carom_signed *x) {
    for (int k = 0; k < CAROM_TESTS; ++k) *to++ = x[k].sign, *to++ = x[k].log_size;
    return to;
}

const double *follow_get_tests(const double *from, carom_signed *x) {
    for (int k = 0; k < CAROM_TESTS; ++k, from += 2)
        x[k] = (carom_signed){from[0] > 0 ? 1 : from[0] < 0 ? -1 : 0, from[1]};
    return from;
}

static void put_look(const follow_walk *w, double *to, const carom_curve_look *l) {
    const double first[] = {l->stable, l->largest, l->unstable, l->noise, l->n};
    carom_copy(to, first, 5);
    to = put_tests(to + 5, l->test);
    carom_copy(to, l->re, w->k.neig), carom_copy(to + w->k.neig, l->im, w->k.neig);
}

void follow_get_look(const follow_walk *w, const double *from, carom_curve_look *l) {
    l->stable = from[0] != 0, l->largest = from[1], l->unstable = (int)fmax(0, fmin(from[2], 1e6)), l->noise = from[3],
    l->n = (int)fmax(0, fmin(from[4], w->k.neig));
    from = follow_get_tests(from + 5, l->test);
    carom_copy(l->re, from, w->k.neig), carom_copy(l->im, from + w->k.neig, w->k.neig);
}

void follow_mark(follow_walk *w) {
    w->kept_tasks = w->ntasks, w->kept_branches = w->f->branches, w->kept_rows = w->f->branch.rows;
}

void follow_forget_unfinished(follow_walk *w) {
    carom_table *t = &w->f->branch;
    for (; t->rows > w->kept_rows; --t->rows) free(t->column[5].text[t->rows - 1]);
    w->ntasks = w->kept_tasks, w->f->branches = w->kept_branches;
}

void follow_skip_task(follow_walk *w, int i) {
    --w->ntasks;
    memmove(follow_task_at(w, i), follow_task_at(w, i + 1),
            (size_t)(w->ntasks - i) * (size_t)w->length * sizeof *w->task);
}

void follow_drop_task(follow_walk *w) {
    follow_skip_task(w, 0);
    follow_mark(w);
}

carom_status follow_write_queue(follow_walk *w) {
    carom_table *t = &w->f->queue;
    carom_table_free(t);
    t->name = malloc(sizeof "queue"), t->column = calloc(1, sizeof *t->column);
    if (!t->name || !t->column) return follow_no_memory(w->err);
    strcpy(t->name, "queue");
    if (!follow_name_column(t, CAROM_COLUMN_REAL, "%s", "number")) return follow_no_memory(w->err);
    CAROM_TRY(carom_table_reserve(t, (long)w->ntasks * w->length, w->err));
    if (t->rows > 0) memcpy(t->column[0].real, w->task, (size_t)t->rows * sizeof *w->task);
    return CAROM_OK;
}

// Nothing in the file is trusted.
carom_status follow_read_queue(follow_walk *w) {
    const carom_table *t = &w->f->queue, *b = &w->f->branch;
    const carom_column *c = carom_table_column(t, "number");
    bool good = c && c->kind == CAROM_COLUMN_REAL && t->rows % w->length == 0 && t->rows / w->length < 100 &&
                b->columns == follow_columns(w) && strcmp(b->column[1].name, w->def->by) == 0;
    for (int i = 0; i < b->columns && good; ++i)
        good = b->column[i].kind == (i == 0 || i == 3 ? CAROM_COLUMN_INTEGER
                                     : i == 5         ? CAROM_COLUMN_TEXT
                                                      : CAROM_COLUMN_REAL);
    for (long k = 0; good && k < t->rows; ++k)
        good = k % w->length >= w->head
                   ? isfinite(c->real[k])
                   // counts and kinds: integers, which a damaged file may exceed
                   : (k % w->length >= 4 && k % w->length != 6 && k % w->length != 7) || fabs(c->real[k]) < 1e6;
    if (!good)
        return carom_fail(w->err, CAROM_BAD_INPUT, "the branch to resume belongs to another model or parameter");
    w->ntasks = (int)(t->rows / w->length);
    w->task = malloc(((size_t)t->rows + 1) * sizeof *w->task);
    if (!w->task) return follow_no_memory(w->err);
    if (t->rows > 0) memcpy(w->task, c->real, (size_t)t->rows * sizeof *w->task);
    w->room = w->f->branch.rows;
    follow_mark(w);
    return CAROM_OK;
}

carom_status follow_accept(follow_walk *w, double *t, double step) {
    t[1] = step, t[3] = w->failures, t[4] = w->before, t[5] = w->parent;
    put_tests(t + FOLLOW_TASK, w->last);
    put_look(w, t + FOLLOW_FIXED, &w->spot[FOLLOW_HERE].look);
    carom_copy(t + w->head, w->tau, w->k.ntau), carom_copy(t + w->head + w->k.ntau, w->bend, w->k.ntau);
    w->k.save(w->k.user, t + w->head + 2 * w->k.ntau);
    follow_mark(w);
    w->f->value = follow_value_now(w);
    if (!w->def->on_point) return CAROM_OK;
    CAROM_TRY(follow_write_queue(w));
    return w->def->on_point(w->def->user, w->f);
}
