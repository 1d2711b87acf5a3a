// page_rows.c: of a long result, the rows that a page needs.
//
// Kept are the first and the last row, both rows beside an impact (the strongest first, up to half of all), every n-th
// row, and of every stretch the rows where some column is lowest or highest.  Impulses are sums since the previous row,
// so those of rows left out go to the next row that is kept: their sum stays what it is.
#define _POSIX_C_SOURCE 200809L
#include "base/column.h"
#include "base/grow.h"
#include "base/tolerance.h"
#include "cli/page.h"
#include "model/names.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// events, numbers (4 MB) read at once; the strongest events, which a page keeps: chosen; extremes in memory, 32 MB
enum { BLOCK = 4096, BLOCK_CELLS = 1 << 19, MOST_EVENTS = 50000, MOST_CELLS = 1 << 20 };

// Is this column a sum over the time since the previous row?
static bool is_impulse(const char *column) {
    const carom_role role = carom_column_role(column);
    return role == CAROM_ROLE_IMPULSE || role == CAROM_ROLE_FRICTION_IMPULSE;
}

static bool no_memory(void) {
    cli_say("not enough memory for this result; keep fewer rows with --rows");
    return false;
}

// -- events -------------------------------------------------------------------------------------------------

static bool contact_number(page *p, names *known, const char *name, unsigned *number) {
    const struct name *old = carom_names_find(known, name, strlen(name));
    if (old) return *number = (unsigned)old->index, true;
    if (!CAROM_GROW(p->contact, p->contacts)) return no_memory();
    char *own = p->contact[p->contacts] = strdup(name);
    *number = p->contacts;
    return own && carom_names_add(known, own, NAME_QUANTITY, (int)p->contacts, 0) ? ++p->contacts, true : no_memory();
}

static unsigned kind_number(const char *word) {
    unsigned k = 0;
    while (k < PAGE_KINDS && strcmp(carom_event_word((carom_event_kind)k), word) != 0) ++k;
    return k;
}

static int by_strength(const void *a, const void *b) {
    const page_event *x = a, *y = b;
    const bool hit_x = x->kind == CAROM_IMPACT, hit_y = y->kind == CAROM_IMPACT;
    const double p = isnan(x->impulse) ? 0 : fabs(x->impulse), q = isnan(y->impulse) ? 0 : fabs(y->impulse);
    return hit_x != hit_y ? hit_y - hit_x : p != q ? (p < q) - (p > q) : (x->t > y->t) - (x->t < y->t);
}

static int by_time(const void *a, const void *b) {
    const page_event *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

static bool read_events(page *p) {
    carom_error err = {0};
    names known = {0};
    p->events_of = carom_result_event_count(p->r);
    carom_result_event *e = malloc(sizeof *e * BLOCK);
    p->event = malloc(sizeof *p->event * ((size_t)p->events_of + 1));
    bool good = e && p->event ? true : no_memory();
    for (long at = 0; good && at < p->events_of; at += BLOCK) {
        const long n = p->events_of - at < BLOCK ? p->events_of - at : BLOCK;
        good = carom_result_events(p->r, at, n, e, &err) == CAROM_OK;
        if (!good) cli_say("%s", err.text);
        for (long i = 0; good && i < n; ++i) {
            page_event x = {.t = e[i].t,
                            .before = e[i].before,
                            .after = e[i].after,
                            .impulse = e[i].impulse,
                            .kind = kind_number(e[i].kind)};
            if (x.kind == PAGE_KINDS || !isfinite(x.t)) continue; // not one of carom's
            good = contact_number(p, &known, e[i].contact, &x.contact);
            p->event[p->events++] = x;
        }
    }
    carom_names_free(&known);
    free(e);
    return good;
}

// -- which rows ---------------------------------------------------------------------------------------------

typedef struct extreme { double low, high; long low_row, high_row; } extreme;

static long first_at(const double *t, long n, double time) { // the first row at or after a time
    long low = 0, high = n;
    while (low < high) {
        const long mid = low + (high - low) / 2;
        if (t[mid] >= time) high = mid;
        else low = mid + 1;
    }
    return low;
}

static long mark(unsigned char *keep, long row, long rows) {
    if (row < 0 || row >= rows || keep[row]) return 0;
    keep[row] = 1;
    return 1;
}

// Whole rows are read at a time, as they lie in the file.
static long rows_at_once(const page *p) { return BLOCK_CELLS / p->columns > 1 ? BLOCK_CELLS / p->columns : 1; }

// Lowest and highest value of every column in every stretch of rows.
static bool survey(page *p, extreme *cell, long stretches) {
    carom_error err = {0};
    const long block = rows_at_once(p);
    double *x = malloc(sizeof *x * (size_t)block * (size_t)p->columns);
    bool good = x ? true : no_memory();
    for (long at = 0; good && at < p->rows; at += block) {
        const long n = p->rows - at < block ? p->rows - at : block;
        good = carom_result_read_rows(p->r, at, n, x, &err) == CAROM_OK;
        if (!good) cli_say("%s", err.text);
        for (long i = 0; good && i < n; ++i) {
            const long s = (long)((double)(at + i) / (double)p->rows * (double)stretches);
            const double *row = x + i * p->columns;
            for (int c = 1; c < p->columns; ++c) {
                extreme *e = &cell[s * p->columns + c];
                if (row[c] < e->low) e->low = row[c], e->low_row = at + i;
                if (row[c] > e->high) e->high = row[c], e->high_row = at + i;
            }
        }
    }
    free(x);
    return good;
}

// Two stretches become one.
static long join(extreme *cell, long stretches, int columns) {
    const long half = (stretches + 1) / 2;
    for (long s = 0; s < stretches; ++s) {
        for (int c = 1; c < columns; ++c) {
            const extreme from = cell[s * columns + c];
            extreme *to = &cell[s / 2 * columns + c];
            if (s % 2 == 0) *to = from;
            if (from.low < to->low) to->low = from.low, to->low_row = from.low_row;
            if (from.high > to->high) to->high = from.high, to->high_row = from.high_row;
        }
    }
    return half;
}

static long mark_extremes(unsigned char *keep, const extreme *cell, long cells, long rows) {
    long n = 0;
    for (long k = 0; k < cells; ++k) n += mark(keep, cell[k].low_row, rows) + mark(keep, cell[k].high_row, rows);
    return n;
}

// Extremes of as many stretches as there is room for.
static bool keep_extremes(page *p, unsigned char *keep, long used, long most) {
    long stretches = (most - used) / 2;
    while (stretches > 1 && stretches > MOST_CELLS / p->columns) stretches /= 2;
    if (stretches < 1) return true;
    extreme *cell = malloc(sizeof *cell * (size_t)stretches * (size_t)p->columns);
    unsigned char *trial = malloc((size_t)p->rows);
    bool good = cell && trial ? true : no_memory();
    for (long k = 0; good && k < stretches * p->columns; ++k) cell[k] = (extreme){INFINITY, -INFINITY, -1, -1};
    good = good && survey(p, cell, stretches);
    for (bool fits = false; good && !fits && stretches > 1;) {
        memcpy(trial, keep, (size_t)p->rows);
        fits = used + mark_extremes(trial, cell, stretches * p->columns, p->rows) <= most;
        if (fits) memcpy(keep, trial, (size_t)p->rows);
        else stretches = join(cell, stretches, p->columns);
    }
    free(trial);
    free(cell);
    return good;
}

static bool choose(page *p, const double *t, long most) {
    unsigned char *keep = calloc((size_t)p->rows, 1);
    if (!keep) return no_memory();
    bool good = true;
    if (p->rows <= most) {
        memset(keep, 1, (size_t)p->rows);
    } else {
        long used = mark(keep, 0, p->rows) + mark(keep, p->rows - 1, p->rows);
        for (long k = 0; k < p->events && used < most / 2; ++k) {
            const long row = first_at(t, p->rows, p->event[k].t * (1 - CAROM_SAME));
            used += mark(keep, row - 1, p->rows) + mark(keep, row, p->rows);
        }
        const long even = most / 4;
        for (long k = 0; k < even; ++k) used += mark(keep, (long)((double)k / (double)even * (double)p->rows), p->rows);
        good = keep_extremes(p, keep, used, most);
    }
    for (long i = 0; i < p->rows; ++i) p->kept += keep[i];
    p->row = malloc(sizeof *p->row * (size_t)p->kept);
    good = good && (p->row ? true : no_memory());
    long n = 0;
    for (long i = 0; good && i < p->rows; ++i)
        if (keep[i]) p->row[n++] = i;
    free(keep);
    return good;
}

// -- their values -------------------------------------------------------------------------------------------

static bool gather(page *p) {
    carom_error err = {0};
    const size_t columns = (size_t)p->columns;
    const long block = rows_at_once(p);
    p->channels = p->columns;
    p->channel = calloc(columns, sizeof *p->channel);
    p->column = calloc(columns, sizeof *p->column);
    double *x = malloc(sizeof *x * (size_t)block * columns), *sum = calloc(columns, sizeof *sum);
    bool *impulse = calloc(columns, sizeof *impulse), good = p->channel && p->column && x && sum && impulse;
    for (int c = 0; good && c < p->columns; ++c) {
        p->column[c] = carom_result_column(p->r, c);
        impulse[c] = is_impulse(p->column[c]);
        good = (p->channel[c] = malloc(sizeof(double) * (size_t)p->kept)) != NULL;
    }
    if (!good) no_memory();
    long next = 0;
    for (long at = 0; good && at < p->rows; at += block) {
        const long n = p->rows - at < block ? p->rows - at : block;
        good = carom_result_read_rows(p->r, at, n, x, &err) == CAROM_OK;
        if (!good) cli_say("%s", err.text);
        for (long i = 0; good && i < n; ++i) {
            const bool kept = next < p->kept && p->row[next] == at + i;
            for (int c = 0; c < p->columns; ++c) {
                const double value = x[(size_t)i * columns + (size_t)c];
                if (impulse[c]) sum[c] += value;
                if (!kept) continue;
                p->channel[c][next] = impulse[c] ? sum[c] : value;
                sum[c] = 0;
            }
            next += kept;
        }
    }
    free(x);
    free(sum);
    free(impulse);
    return good;
}

static bool check_times(const page *p, const double *t) {
    for (long i = 0; i < p->rows; ++i)
        if (!isfinite(t[i]) || (i > 0 && !(t[i] >= t[i - 1])))
            return cli_say("%s is damaged: row times are not increasing", p->file), false;
    return true;
}

bool page_read(page *p, long most) {
    carom_error err = {0};
    p->rows = carom_result_rows(p->r);
    p->columns = carom_result_columns(p->r);
    if (p->rows < 1) return cli_say("%s has no rows", p->file), false;
    double *t = malloc(sizeof *t * (size_t)p->rows);
    bool good = t ? true : no_memory();
    if (good && carom_result_read(p->r, 0, 0, p->rows, t, &err) != CAROM_OK) good = (cli_say("%s", err.text), false);
    good = good && check_times(p, t) && read_events(p);
    if (good) qsort(p->event, (size_t)p->events, sizeof *p->event, by_strength);
    if (good && p->events > MOST_EVENTS) p->events = MOST_EVENTS;
    good = good && choose(p, t, most) && gather(p);
    if (good) qsort(p->event, (size_t)p->events, sizeof *p->event, by_time);
    free(t);
    return good;
}

// -- the drawing --------------------------------------------------------------------------------------------

// Where position i of a member (or its rate) is found under another name.
static int other_column(const page *p, const carom_drawing *d, int i, bool rate) {
    const char *name = carom_drawing_column(d, i);
    char text[220];
    if (!name) return -1;
    snprintf(text, sizeof text, "%s%s", name, rate ? "'" : "");
    return carom_result_find(p->r, text);
}

// Columns of positions and velocities, then of signals; -1: there is none.
int *page_columns(const page *p, const carom_model *m, const carom_drawing *d, char *why, size_t size) {
    const carom_model_sizes n = carom_model_count(m);
    const int nq = n.coordinates, nv = n.velocities;
    int signals = 0;
    while (carom_drawing_signal(d, signals)) ++signals;
    int *from = calloc((size_t)(nq + nv + signals) + 1, sizeof *from);
    if (!from) return snprintf(why, size, "no memory"), NULL;
    for (int i = 0; i < nq + nv; ++i) {
        const char *name = i < nq ? carom_model_coordinate(m, i) : carom_model_velocity(m, i - nq);
        const char *next = carom_result_column(p->r, i + 1); // in most results they stand in this order
        from[i] = next && strcmp(next, name) == 0 ? i + 1 : carom_result_find(p->r, name);
        if (from[i] < 0) from[i] = other_column(p, d, i < nq ? i : i - nv, i >= nq);
        const bool shown = i < nq ? carom_model_recorded(m, i) : carom_model_velocity_recorded(m, i - nq);
        if (from[i] >= 0 || !shown || n.members > 0) continue; // of members only some places are recorded
        snprintf(why, size, "the result has no column '%s' of its model", name);
        free(from);
        return NULL;
    }
    for (int i = 0; i < signals; ++i) from[nq + nv + i] = carom_result_find(p->r, carom_drawing_signal(d, i));
    return from;
}

bool page_draw(page *p, const carom_model *m, carom_drawing *d, char *why, size_t size) {
    const carom_model_sizes n = carom_model_count(m);
    const int nq = n.coordinates, nv = n.velocities, values = carom_drawing_values(d);
    int *from = page_columns(p, m, d, why, size);
    if (!from) return false;
    double *state = calloc((size_t)(nq + nv) + 1, sizeof *state), *x = calloc((size_t)values + 1, sizeof *x);
    double **channel = realloc(p->channel, sizeof *channel * ((size_t)p->columns + (size_t)values + 1));
    bool good = state && x && channel;
    if (channel) p->channel = channel;
    for (int i = 0; good && i < values; ++i) {
        good = (channel[p->channels] = malloc(sizeof(double) * (size_t)p->kept)) != NULL;
        if (good) ++p->channels;
    }
    if (!good) snprintf(why, size, "no memory");
    for (long k = 0; good && k < p->kept; ++k) {
        for (int i = 0; i < nq + nv; ++i) state[i] = from[i] >= 0 ? p->channel[from[i]][k] : NAN;
        for (int i = 0; carom_drawing_signal(d, i); ++i)
            if (from[nq + nv + i] >= 0) carom_drawing_set_signal(d, i, p->channel[from[nq + nv + i]][k]);
        carom_drawing_eval(d, p->channel[0][k], state, state + nq, x);
        for (int i = 0; i < values; ++i) channel[p->columns + i][k] = x[i];
    }
    free(from);
    free(state);
    free(x);
    if (good) p->drawing = d;
    return good;
}

// -- less of it ---------------------------------------------------------------------------------------------

int page_drop_rates(page *p, const carom_model *m) {
    names rate = {0};
    int n = 1;
    for (int i = 0; i < carom_model_count(m).velocities; ++i)
        carom_names_add(&rate, carom_model_velocity(m, i), NAME_VELOCITY, i, 0);
    for (int c = 1; c < p->channels; ++c) {
        if (c < p->columns && carom_names_find(&rate, p->column[c], strlen(p->column[c]))) {
            free(p->channel[c]);
            continue;
        }
        if (c < p->columns) p->column[n] = p->column[c];
        p->channel[n++] = p->channel[c];
    }
    carom_names_free(&rate);
    const int dropped = p->channels - n;
    p->channels -= dropped;
    p->columns -= dropped;
    return dropped;
}

void page_free(page *p) {
    for (int i = 0; p->channel && i < p->channels; ++i) free(p->channel[i]);
    for (unsigned i = 0; i < p->contacts; ++i) free(p->contact[i]);
    free(p->channel);
    free(p->column);
    free(p->contact);
    free(p->event);
    free(p->row);
}
