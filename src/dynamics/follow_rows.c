// follow_rows.c: the table of a branch: its columns, its rows, and words for their events.
#include "dynamics/follow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

carom_status follow_no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a branch");
}

bool follow_name_column(carom_table *t, carom_column_kind kind, const char *format, const char *name) {
    char text[200];
    snprintf(text, sizeof text, format, name);
    carom_column *c = &t->column[t->columns];
    c->name = malloc(strlen(text) + 1);
    c->kind = kind;
    if (!c->name) return false;
    strcpy(c->name, text);
    ++t->columns;
    return true;
}

int follow_columns(const follow_walk *w) {
    return FOLLOW_COLUMNS + 3 * (w->nq - w->hidden) + w->nv - w->hidden_v + 2 * w->neig + 3 +
           (w->def->response ? CAROM_RESPONSES : 0);
}

bool follow_shown(const follow_walk *w, int i) { return !carom_model_hidden(w->m, i); }
bool follow_shown_v(const follow_walk *w, int i) { return !carom_model_presses(w->m, i); }

carom_status follow_make_table(follow_walk *w) {
    carom_table *t = &w->f->branch;
    t->name = malloc(sizeof "branch");
    t->column = calloc((size_t)follow_columns(w) + 1, sizeof *t->column);
    if (!t->name || !t->column) return follow_no_memory(w->err);
    strcpy(t->name, "branch");
    bool good = follow_name_column(t, CAROM_COLUMN_INTEGER, "%s", "branch") &&
                follow_name_column(t, CAROM_COLUMN_REAL, "%s", w->def->by) &&
                follow_name_column(t, CAROM_COLUMN_REAL, "%s", "period") &&
                follow_name_column(t, CAROM_COLUMN_INTEGER, "%s", "stable") &&
                follow_name_column(t, CAROM_COLUMN_REAL, "%s", w->def->period ? "multiplier" : "growth") &&
                follow_name_column(t, CAROM_COLUMN_TEXT, "%s", "event");
    for (int i = 0; i < w->nq; ++i)
        good = good &&
               (!follow_shown(w, i) || follow_name_column(t, CAROM_COLUMN_REAL, "%s", carom_model_coordinate(w->m, i)));
    for (int i = 0; i < w->nv; ++i)
        good = good &&
               (!follow_shown_v(w, i) || follow_name_column(t, CAROM_COLUMN_REAL, "%s", carom_model_velocity(w->m, i)));
    for (int i = 0; i < w->nq; ++i)
        good = good && (!follow_shown(w, i) ||
                        follow_name_column(t, CAROM_COLUMN_REAL, "min(%s)", carom_model_coordinate(w->m, i)));
    for (int i = 0; i < w->nq; ++i)
        good = good && (!follow_shown(w, i) ||
                        follow_name_column(t, CAROM_COLUMN_REAL, "max(%s)", carom_model_coordinate(w->m, i)));
    for (int i = 0; i < 2 * w->neig; ++i) {
        char text[30];
        snprintf(text, sizeof text, "mu%d.%s", 1 + i / 2, i % 2 ? "im" : "re");
        good = good && follow_name_column(t, CAROM_COLUMN_REAL, "%s", text);
    }
    good = good && follow_name_column(t, CAROM_COLUMN_REAL, "%s", "event.low") &&
           follow_name_column(t, CAROM_COLUMN_REAL, "%s", "event.high") &&
           follow_name_column(t, CAROM_COLUMN_REAL, "%s", "coefficient");
    for (int i = 0; i < CAROM_RESPONSES && w->def->response; ++i) {
        char name[180];
        if (i < 3)
            snprintf(name, sizeof name, "%.140s.%s", w->def->response,
                     i == 0   ? "mean"
                     : i == 1 ? "amplitude"
                              : "phase");
        else snprintf(name, sizeof name, "%.140s.h%d%s", w->def->response, (i + 1) / 2, i % 2 ? "" : ".phase");
        good = good && follow_name_column(t, CAROM_COLUMN_REAL, "%s", name);
    }
    return good ? CAROM_OK : follow_no_memory(w->err);
}

// Distance of two multipliers, relative to their sizes.
static double unlike(double re, double im, double x, double y) {
    return hypot(re - x, im - y) / fmax(hypot(re, im) + hypot(x, y), CAROM_NOT_ZERO);
}

// Multipliers in the order of the row before: each follows the nearest one that is left.  Those that closed contacts
// take are 0.
static void put_multipliers(follow_walk *w, long r, int branch, int at, const carom_curve_look *l) {
    carom_table *t = &w->f->branch;
    const int n = w->k.neig;
    const bool tracked = r > 0 && t->column[0].integer[r - 1] == branch;
    double *re = w->by, *im = w->by + n;
    for (int i = 0; i < n; ++i) re[i] = i < l->n ? l->re[i] : 0, im[i] = i < l->n ? l->im[i] : 0;
    for (int i = 0; i < n; ++i) {
        int best = i;
        const double x = tracked ? t->column[at + 2 * i].real[r - 1] : 0,
                     y = tracked ? t->column[at + 2 * i + 1].real[r - 1] : 0;
        for (int k = i + 1; k < n; ++k) {
            const double a = tracked ? -unlike(re[k], im[k], x, y) : hypot(re[k], im[k]),
                         b = tracked ? -unlike(re[best], im[best], x, y) : hypot(re[best], im[best]);
            if (a > b) best = k;
        }
        const double u = re[best], v = im[best];
        for (int k = best; k > i; --k) re[k] = re[k - 1], im[k] = im[k - 1];
        re[i] = u, im[i] = v;
        t->column[at + 2 * i].real[r] = u, t->column[at + 2 * i + 1].real[r] = v;
    }
}

carom_status follow_add_row(follow_walk *w, int branch, const carom_curve_look *l, const char *event) {
    carom_table *t = &w->f->branch;
    if (!carom_curve_room(t, &w->room)) return follow_no_memory(w->err);
    const long r = t->rows;
    double period = 0, response[CAROM_RESPONSES];
    for (int i = 0; i < CAROM_RESPONSES; ++i) response[i] = NAN;
    if (w->k.response) CAROM_TRY(w->k.response(w->k.user, response));
    w->k.save(w->k.user, w->place_1);
    CAROM_TRY(w->k.row(w->k.user, &period, w->x, w->least, w->most));
    char *text = malloc(strlen(event) + 1);
    if (!text) return follow_no_memory(w->err);
    strcpy(text, event);
    t->column[0].integer[r] = branch, t->column[1].real[r] = w->place_1[0], t->column[2].real[r] = period,
    t->column[3].integer[r] = l->stable, t->column[5].text[r] = text;
    // beside equilibria: the growth of orbits
    t->column[4].real[r] = w->orbits && !w->def->period ? log(l->largest) / period : l->largest;
    int at = FOLLOW_COLUMNS;
    for (int i = 0; i < w->nq + w->nv; ++i)
        if (i < w->nq ? follow_shown(w, i) : follow_shown_v(w, i - w->nq)) t->column[at++].real[r] = w->x[i];
    for (int i = 0; i < w->nq; ++i)
        if (follow_shown(w, i)) t->column[at++].real[r] = w->least[i];
    for (int i = 0; i < w->nq; ++i)
        if (follow_shown(w, i)) t->column[at++].real[r] = w->most[i];
    if (w->orbits) put_multipliers(w, r, branch, at, l);
    for (int i = 0; i < 2 * w->neig && !w->orbits; ++i) t->column[at + i].real[r] = NAN;
    at += 2 * w->neig;
    t->column[at++].real[r] = isnan(w->low_event) ? w->place_1[0] : w->low_event,
    t->column[at++].real[r] = isnan(w->high_event) ? w->place_1[0] : w->high_event;
    t->column[at++].real[r] = NAN;
    for (int i = 0; i < CAROM_RESPONSES && w->def->response; ++i) t->column[at + i].real[r] = response[i];
    w->low_event = w->high_event = NAN;
    ++t->rows;
    w->f->value = w->place_1[0];
    return CAROM_OK;
}

carom_status follow_amend(follow_walk *w, double row, const char *word, double coefficient) {
    carom_table *t = &w->f->branch;
    const long r = (long)row;
    if (!(row >= 0 && r < t->rows)) return CAROM_OK;
    const size_t n = strlen(t->column[5].text[r]);
    char *more = realloc(t->column[5].text[r], n + strlen(word) + 4);
    if (!more) return follow_no_memory(w->err);
    t->column[5].text[r] = more;
    sprintf(more + n, " (%s)", word);
    t->column[t->columns - 1 - (w->def->response ? CAROM_RESPONSES : 0)].real[r] = coefficient;
    return CAROM_OK;
}

const char *follow_word_of(double supercritical) {
    return supercritical > 0 ? "supercritical" : supercritical < 0 ? "subcritical" : "undecided";
}

void follow_note_end(follow_walk *w, int branch, const carom_error *why) {
    const carom_error before = w->f->note;
    if (why->code == CAROM_OK) return;
    carom_fail(&w->f->note, why->code, "%.450s%sbranch %d ends at %.60s = %.9g: %.380s",
               before.code == CAROM_OK ? "" : before.text, before.code == CAROM_OK ? "" : "; ", branch, w->def->by,
               w->f->value, why->text);
}
