// results.c: results of a run with their derivatives.
//
// An event at h = 0 moves by dt = -dh/h' (VAR-2), and with it a value y there:
//
//     dy = y_x dx + y_p dp + y' dt,   y' along the motion on the side that is asked for (RES-1)
//
// An extreme inside a smooth piece has y' = 0, and no dt.  Integrals of y get y dt from both sides of every event.
//
// A contact that is struck with speed u would have come u^2/(2 Gamma) behind the wall if nothing had stopped it, Gamma
// > 0 the acceleration of its gap; one that turns back has g_min left. To first order this vanishes when a name changes
// by
//
//     D = u^2/(2 Gamma |dh|),   D = g_min/|dh|,   dh the change of the gap at fixed time (RES-2)
//
// and what happens is another sequence of events beyond.
#include "dynamics/results.h"
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "derive/variation.h"
#include "model/answers.h"
#include "model/watch.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double VANISHED = 1e-13; // of the slopes at both ends: a slope of zero
static const double NARROW = 1e-15;   // of the step: an instant at which a value is extreme
enum { RUN = 5 };                   // impacts that make a run of them
static const double LIMIT = 1e-6;   // of the time: the limit of a run lies as near to where the scheme lets it end
static const char *const words[CAROM_AT_COUNT] = {"impact", "close", "open", "stick", "slip"};

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for results of a run");
}

// -- the texts ----------------------------------------------------------------------------------------------------

// "CONTACT.impact[N]", blanks around it; false: it is none.
static bool read_event(const char *text, carom_at_event *e, char **name) {
    size_t first = strspn(text, " "), n = strlen(text);
    while (n > first && text[n - 1] == ' ') --n;
    e->number = 1;
    if (n > first && text[n - 1] == ']') {
        size_t open = n - 1;
        while (open > first && text[open] != '[') --open;
        if (text[open] != '[' || open + 2 > n - 1 || n - open > 12) return false;
        e->number = 0;
        for (size_t i = open + 1; i < n - 1; ++i) {
            if (!carom_is_digit(text[i])) return false;
            e->number = 10 * e->number + (text[i] - '0');
        }
        n = open;
    }
    size_t dot = n;
    while (dot > first && text[dot - 1] != '.') --dot;
    if (dot <= first + 1) return false;
    e->word = CAROM_AT_COUNT;
    for (int i = 0; i < CAROM_AT_COUNT; ++i)
        if (strlen(words[i]) == n - dot && strncmp(text + dot, words[i], n - dot) == 0) e->word = (carom_at_word)i;
    if (e->word == CAROM_AT_COUNT) return false;
    *name = calloc(dot - first, 1);
    if (*name) memcpy(*name, text + first, dot - 1 - first);
    return true;
}

// The last " at " or " before " outside of parentheses; the text is cut there.
static char *split(char *text, bool *before) {
    int depth = 0;
    for (char *c = text + strlen(text); c > text; --c) {
        depth += (c[0] == ')') - (c[0] == '(');
        if (depth != 0) continue;
        for (int k = 0; k < 2; ++k) {
            const char *const word = k ? " before " : " at ";
            if (strncmp(c, word, strlen(word)) != 0) continue;
            *c = 0, *before = k == 1;
            return c + strlen(word);
        }
    }
    return NULL;
}

static const char TIME_OF[] = "time of ";

// "time of EVENT", or "EXPR at EVENT", "EXPR before EVENT", to result or term i; the text is cut.  said: for messages.
static carom_status read_one(carom_results *r, int i, char *text, const char *said, const char *option) {
    carom_at_event *e = &r->event[i];
    text += strspn(text, " ");
    r->expression[i] = text;
    const bool time = strncmp(text, TIME_OF, sizeof TIME_OF - 1) == 0;
    char *at = time ? text + sizeof TIME_OF - 1 : split(text, &e->before);
    if (!at) return CAROM_OK;
    e->some = true, e->time = time;
    if (!read_event(at, e, &e->contact) || e->number < 1)
        return carom_fail(r->err, CAROM_BAD_INPUT,
                          "%s '%.80s': expected `time of CONTACT.impact[N]` or `EXPRESSION at CONTACT.impact[N]`, N = "
                          "1, 2, ..., in parentheses inside of another expression; also close, open, stick, slip",
                          option, said);
    if (!e->contact) return no_memory(r->err);
    if (time) r->expression[i] = "t";
    return CAROM_OK;
}

// Behind "CONTACT.impact[N]" at the start of a text; 0: there is none.
static size_t event_length(const char *text) {
    for (size_t dot = 1; text[0] && text[dot]; ++dot)
        for (int k = 0; k < CAROM_AT_COUNT && text[dot] == '.'; ++k) {
            size_t n = dot + 1 + strlen(words[k]);
            if (strncmp(text + dot + 1, words[k], strlen(words[k])) != 0 || carom_in_name(text[n])) continue;
            if (text[n] == '[') n += strcspn(text + n, "]");
            return n + (text[n] == ']');
        }
    return 0;
}

// Behind the parenthesis that closes the one at the start of a text; 0: none does.
static size_t closing(const char *text) {
    int depth = 0;
    for (size_t i = 0; text[i]; ++i) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0) return i + 1;
    }
    return 0;
}

// A term at `text`: *from and *length of what is to be read, and how much of the text it takes; 0: there is none.
static size_t term_length(const char *whole, const char *text, size_t *from, size_t *length) {
    if (strncmp(text, TIME_OF, sizeof TIME_OF - 1) == 0 && (text == whole || !carom_in_name(text[-1]))) {
        const size_t n = event_length(text + sizeof TIME_OF - 1);
        *from = 0, *length = n + sizeof TIME_OF - 1;
        return n > 0 ? *length : 0;
    }
    const size_t n = text[0] == '(' && (text == whole || !carom_in_name(text[-1])) ? closing(text) : 0;
    if (n < 3) return 0;
    char *inside = calloc(n, 1);
    bool before;
    if (inside) memcpy(inside, text + 1, n - 2);
    const bool some = inside && split(inside, &before);
    free(inside);
    *from = 1, *length = n - 2;
    return some ? n : 0;
}

// Terms inside of text i become expressions of their own, with texts at *room; in `to` marks stand for them.
static carom_status take_terms(carom_results *r, const char *text, char *to, char **room, const char *option) {
    size_t from = 0, length = 0;
    for (const char *c = text; *c;) {
        const size_t n = term_length(text, c, &from, &length);
        if (n == 0) {
            *to++ = *c++;
            continue;
        }
        const int k = r->all - r->n;
        char *own = *room;
        memcpy(own, c + from, length);
        *room += length + 1;
        CAROM_TRY(read_one(r, r->all++, own, text, option));
        char mark[20];
        snprintf(mark, sizeof mark, "%de-250", k + 1);
        r->term[k] = (carom_term){.mark = carom_number(mark, NULL), .watch = -1};
        to += sprintf(to, "max(%s)", mark);
        c += n;
    }
    return CAROM_OK;
}

// Is there a term in the text that is not all of it?
static bool has_terms(const char *text) {
    text += strspn(text, " ");
    size_t from, length;
    char own[sizeof TIME_OF];
    snprintf(own, sizeof own, "%s", text);
    const size_t first = strcmp(own, TIME_OF) == 0 ? term_length(text, text, &from, &length) : 0;
    if (first > 0 && text[first + strspn(text + first, " ")] == 0) return false;
    for (const char *c = text; *c; ++c)
        if (term_length(text, c, &from, &length) > 0) return true;
    return false;
}

carom_status carom_results_read(carom_results *r, const char *const *texts, const char *option, carom_error *err) {
    *r = (carom_results){.n = carom_list_length(texts), .err = err};
    // a term has five letters at least, in parentheses; a mark has no more than twenty
    size_t bytes = 1, count = (size_t)r->n + 1;
    for (int i = 0; i < r->n; ++i) bytes += 6 * (strlen(texts[i]) + 8), count += strlen(texts[i]) / 5;
    r->all = r->n;
    r->own = calloc(bytes, 1);
    r->expression = calloc(count, sizeof *r->expression), r->said = calloc((size_t)r->n + 1, sizeof *r->said),
    r->event = calloc(count, sizeof *r->event), r->term = calloc(count, sizeof *r->term),
    r->told = calloc((size_t)r->n + 1, sizeof *r->told);
    if (!r->own || !r->expression || !r->said || !r->event || !r->term || !r->told) return no_memory(err);
    char *at = r->own;
    for (int i = 0; i < r->n; ++i) {
        const size_t length = strlen(texts[i]);
        r->said[i] = strcpy(at, texts[i]), at += length + 1;
        char *text = at;
        if (has_terms(texts[i])) {
            at += 4 * (length + 8);
            r->expression[i] = text + strspn(text, " ");
            CAROM_TRY(take_terms(r, texts[i], text, &at, option));
        } else {
            strcpy(text, texts[i]), at += length + 1;
            CAROM_TRY(read_one(r, i, text, texts[i], option));
        }
    }
    return CAROM_OK;
}

static const char *contact_name(const void *model, int i) {
    const carom_system *s = carom_model_system(model);
    return i < s->nc ? carom_model_constraint(model, s->ne + i) : NULL;
}

static carom_status allocate(carom_results *r) {
    const carom_system *s = carom_model_system(r->model);
    const size_t n = (size_t)r->columns + 1, watched = (size_t)r->nwatch + 1;
    double **part[] = {&r->x, &r->dx, &r->dwatch, &r->out, &r->dout, &r->value, &r->gradient, &r->rate_0,
                       &r->dT, &r->along};
    const size_t size[] = {watched,
                           watched,
                           WATCH_COUNT * watched,
                           (size_t)r->all + 1,
                           (size_t)r->all + 1,
                           (size_t)r->all + 1,
                           (size_t)r->all * n + 1,
                           (size_t)s->nc + (size_t)s->ne + 1,
                           n,
                           2 * (size_t)s->nv + 1};
    bool good = true;
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i)
        *part[i] = calloc(size[i], sizeof(double)), good = good && *part[i];
    r->limit = calloc((size_t)r->all + 1, sizeof *r->limit);
    good = good && r->limit;
    for (int i = 0; good && i < r->all; ++i) good = (r->limit[i].gradient = calloc(3 * n, sizeof(double))) != NULL;
    r->watch = calloc(watched, sizeof *r->watch), r->average = calloc(watched, sizeof *r->average),
    r->grazing = calloc(n, sizeof *r->grazing);
    good = good && r->watch && r->average && r->grazing;
    for (int k = 0; good && k < r->nwatch; ++k) {
        r->watch[k].low.gradient = calloc(n, sizeof(double)), r->watch[k].high.gradient = calloc(n, sizeof(double));
        good = r->watch[k].low.gradient && r->watch[k].high.gradient;
    }
    return good ? CAROM_OK : no_memory(r->err);
}

void carom_results_find_terms(carom_results *r, const carom_model *m) {
    for (int i = 0; i < r->n; ++i) r->told[i] = !r->event[i].some && !carom_model_observes_state(m, i);
    for (int k = 0; k < carom_model_watched(m); ++k) {
        double value;
        bool term = false;
        for (int i = 0; i < r->all - r->n && carom_model_watch_number(m, k, &value); ++i)
            if (value == r->term[i].mark) r->term[i].watch = k, term = true;
        for (int i = 0; i < r->n; ++i) r->told[i] = r->told[i] && (term || !carom_model_watch_uses(m, k, i));
    }
}

carom_status carom_results_bind(carom_results *r, const carom_model *m, int columns, const char *option,
                                carom_error *err) {
    const carom_system *s = carom_model_system(m);
    r->model = m, r->columns = columns, r->nwatch = carom_model_watched(m), r->err = err;
    CAROM_TRY(allocate(r));
    carom_results_find_terms(r, m);
    for (int j = 0; j < columns; ++j) r->grazing[j].distance = INFINITY;
    for (int i = 0; i < r->all; ++i) {
        carom_at_event *e = &r->event[i];
        const char *figure = carom_model_ledger_use(m, i);
        if (figure)
            return carom_fail(err, CAROM_UNSUPPORTED, "%s: there are no derivatives of '%s', a figure of the ledger",
                              option, figure);
        for (int k = 0; k < r->nwatch; ++k) r->watch[k].slots |= carom_model_watch_uses(m, k, i);
        if (!e->some) continue;
        for (int k = 0; k < r->nwatch; ++k)
            if (carom_model_watch_uses(m, k, i))
                return carom_fail(err, CAROM_UNSUPPORTED,
                                  "%s: extremes, averages and integrals run to the end of the run, not to an event",
                                  option);
        e->id = carom_model_contact(m, e->contact);
        bool found = false;
        for (int c = 0; c < s->nc - s->listed; ++c) found = found || carom_model_contact_is(m, e->id, c);
        const char *near = carom_nearest(e->contact, contact_name, m);
        if (!found)
            return carom_fail(err, CAROM_BAD_INPUT, "%s: the model has no contact '%.60s'%s%s%s", option, e->contact,
                              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    for (int i = 0; i < r->all - r->n; ++i)
        if (r->term[i].watch >= 0) r->watch[r->term[i].watch].slots = 0; // nothing runs over it
    for (int k = 0; k < r->nwatch; ++k) {
        carom_watching *w = &r->watch[k];
        w->integral = w->square = -1;
        if (w->slots & (1u << WATCH_MEAN | 1u << WATCH_INTEGRAL)) w->integral = r->nz, r->nz += 1 + columns;
        if (w->slots & 1u << WATCH_RMS) w->square = r->nz, r->nz += 1 + columns;
    }
    return CAROM_OK;
}

void carom_results_free(carom_results *r) {
    for (int i = 0; r->event && i < r->all; ++i) free(r->event[i].contact);
    for (int k = 0; r->watch && k < r->nwatch; ++k) free(r->watch[k].low.gradient), free(r->watch[k].high.gradient);
    for (int i = 0; r->limit && i < r->all; ++i) free(r->limit[i].gradient);
    free(r->said), free(r->term), free(r->told);
    free(r->limit), free(r->expression), free(r->event), free(r->own), free(r->watch), free(r->average),
        free(r->grazing);
    free(r->x), free(r->dx), free(r->dwatch), free(r->out), free(r->dout), free(r->value), free(r->gradient),
        free(r->rate_0), free(r->dT), free(r->along);
    *r = (carom_results){0};
}

// -- values and changes -------------------------------------------------------------------------------------------

static const double *watched(carom_results *r, double t, const double *q, const double *v) {
    carom_model_watch(r->model, carom_sim_work(r->sim), t, q, v, r->x, r->x, true);
    return r->x;
}

static carom_status bad(carom_results *r, carom_status status, double t) {
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(r->err, status, "t = %.9g: the derivative of '%.80s' is not finite", t, r->said[0]);
}

static carom_status change(carom_results *r, double t, const double *q, const double *v, carom_direction d) {
    return bad(r, carom_variation_watched(r->path->x, t, q, v, d, r->dx), t);
}

static carom_direction direction(const carom_path *w, const double *y, int j) {
    const double *dq = y + (size_t)j * 2 * (size_t)w->p.nv;
    return (carom_direction){0, dq, dq + w->p.nv, w->dp + (size_t)j * (size_t)w->np};
}

static carom_status rates_of_gaps(carom_results *r, double t, const double *q, const double *v, double *to) {
    return bad(r, carom_variation_gaps(r->path->x, t, q, (carom_direction){1, v, NULL, NULL}, to), t);
}

// -- integrals and extremes along the motion ----------------------------------------------------------------------

static carom_status rate(void *user, carom_path *w, double t, const double *q, const double *v, const double *y,
                         double *z) {
    carom_results *r = user;
    const double *x = watched(r, t, q, v);
    for (int k = 0; k < r->nwatch; ++k) {
        const carom_watching *of = &r->watch[k];
        if (of->integral >= 0) z[of->integral] = x[k];
        if (of->square >= 0) z[of->square] = x[k] * x[k];
    }
    for (int j = 0; j < w->n; ++j) {
        CAROM_TRY(change(r, t, q, v, direction(w, y, j)));
        for (int k = 0; k < r->nwatch; ++k) {
            const carom_watching *of = &r->watch[k];
            if (of->integral >= 0) z[of->integral + 1 + j] = r->dx[k];
            if (of->square >= 0) z[of->square + 1 + j] = 2 * x[k] * r->dx[k];
        }
    }
    return CAROM_OK;
}

static bool beyond(bool high, double x, double y) { return isnan(y) || (high ? x > y : x < y); }

// A value of watched expression k that may be its extreme; a, dt: of an event whose time changes, NULL: none.  peak: it
// is one of the smooth motion or at an event.
static carom_status consider(carom_results *r, int k, bool high, bool peak, double t, const double *q, const double *v,
                             const double *y, const double *a, const double *dt) {
    const carom_path *w = r->path;
    carom_extreme *e = high ? &r->watch[k].high : &r->watch[k].low;
    const double x = watched(r, t, q, v)[k];
    if (!e->some) e->rival = e->value = NAN;
    if (!beyond(high, x, e->value)) {
        if (peak && t != e->t && beyond(high, x, e->rival)) e->rival = x, e->rival_t = t;
        return CAROM_OK;
    }
    if (e->peak && t != e->t) e->rival = e->value, e->rival_t = e->t;
    e->peak = peak;
    double along = 0;
    if (a && w->n > 0) CAROM_TRY(change(r, t, q, v, (carom_direction){1, v, a, NULL}));
    if (a && w->n > 0) along = r->dx[k];
    for (int j = 0; j < w->n; ++j) {
        CAROM_TRY(change(r, t, q, v, direction(w, y, j)));
        e->gradient[j] = r->dx[k] + (a ? along * dt[j] : 0);
    }
    e->value = x, e->t = t, e->some = true;
    return CAROM_OK;
}

static carom_status consider_all(carom_results *r, bool peak, double t, const double *q, const double *v,
                                 const double *y, const double *a, const double *dt) {
    for (int k = 0; k < r->nwatch; ++k)
        for (int high = 0; high < 2; ++high)
            if (r->watch[k].slots & 1u << (high ? WATCH_HIGH : WATCH_LOW))
                CAROM_TRY(consider(r, k, high, peak, t, q, v, y, a, dt));
    return CAROM_OK;
}

// -- events -------------------------------------------------------------------------------------------------------

static bool happens(const carom_results *r, const carom_at_event *e, const carom_change *x) {
    for (int c = 0; c < r->path->p.nc; ++c) {
        const int was = (int)x->mode_before[c], is = (int)x->mode[c];
        const bool yes[CAROM_AT_COUNT] = {
            was == CAROM_MODE_OPEN && x->impulse[c] > 0, was == CAROM_MODE_OPEN && is != CAROM_MODE_OPEN,
            was != CAROM_MODE_OPEN && is == CAROM_MODE_OPEN, was == CAROM_MODE_SLIP && is == CAROM_MODE_STICK,
            was == CAROM_MODE_STICK && is == CAROM_MODE_SLIP};
        if (yes[e->word] && carom_model_contact_is(r->model, e->id, c)) return true;
    }
    return false;
}

// Is this event one whose time is asked for?
static bool asks(void *user, const carom_change *x) {
    const carom_results *r = user;
    for (int i = 0; i < r->all; ++i)
        if (r->event[i].some && r->event[i].seen + 1 == r->event[i].number && happens(r, &r->event[i], x)) return true;
    return false;
}

// The scheme lets a contact close when its impacts have become too slow to be told apart.  Before impact n those that
// are left take until
//
//     t_n + 2 e u/(A (1 - e)),   u the speed of the approach, A = -Gamma > 0 (RES-3)
//
// where A changes little.  With n this becomes better, but dt of an impact has the noise of gaps over u: of all n that
// counts which differs least from the one before.
static carom_status predict(carom_results *r, int i, int c) {
    carom_path *w = r->path;
    carom_limit *z = &r->limit[i];
    const carom_system *s = carom_model_system(r->model);
    const int k = w->at_full[w->p.ne + c];
    const size_t n = (size_t)w->n;
    double *now = z->gradient + n, *last = now + n, change = 0;
    CAROM_TRY(rates_of_gaps(r, w->t, w->q, w->v, w->gaps));
    const double u = -w->gaps[s->ne + c];
    CAROM_TRY(bad(r,
                  carom_variation_rates(w->x, w->t, w->q, w->v, (carom_direction){1, w->v, w->a_before, NULL}, w->full),
                  w->t));
    const double A = -w->full[k], e = s->contacts[c].varies && u > 0
                                          ? s->restitution(s->model, carom_sim_work(r->sim), c, u)
                                          : s->contacts[c].restitution;
    if (!(u > 0 && A > 0 && e > 0 && e < 1)) return CAROM_OK;
    const double tail = 2 * e * u / (A * (1 - e));
    for (int j = 0; j < w->n; ++j) {
        double de;
        const carom_direction d = direction(w, w->y, j);
        CAROM_TRY(bad(r, carom_variation_rates(w->x, w->t, w->q, w->v, d, w->full), w->t));
        const double du = -w->full[k] + A * w->dt[j];
        CAROM_TRY(bad(r, carom_variation_restitution(w->x, c, u, du, d.p, &de), w->t));
        now[j] = w->dt[j] + tail * (du / u + de / (e * (1 - e)));
        change = fmax(change, fabs(now[j] - last[j]) * w->unit[j]);
    }
    change = fmax(change, fabs(w->t + tail - z->last));
    if (z->impacts++ > 0 && (change < z->change || z->impacts == 2)) {
        z->change = change, z->value = w->t + tail;
        carom_copy(z->gradient, now, w->n);
    }
    z->last = w->t + tail;
    carom_copy(last, now, w->n);
    return CAROM_OK;
}

// Before an impact of a contact whose closing is asked for.
static carom_status predict_all(carom_results *r, carom_path *w) {
    const carom_change *x = w->change;
    for (int i = 0; i < r->all; ++i) {
        const carom_at_event *e = &r->event[i];
        for (int c = 0; e->some && e->time && e->word == CAROM_AT_CLOSE && !e->found && c < w->p.nc; ++c)
            if (x->mode_before[c] == CAROM_MODE_OPEN && x->impulse[c] > 0 && carom_model_contact_is(r->model, e->id, c))
                CAROM_TRY(predict(r, i, c));
    }
    return CAROM_OK;
}

// The end of a run of impacts.
static void take_limit(carom_results *r, int i) {
    const carom_limit *z = &r->limit[i];
    if (z->impacts < RUN || !(fabs(z->value - r->value[i]) <= LIMIT * fabs(r->value[i]))) return;
    r->value[i] = z->value;
    carom_copy(r->gradient + (size_t)i * (size_t)r->path->n, z->gradient, r->path->n);
}

// The change of result i alone: others may have no value here.
static carom_status change_of(carom_results *r, int i, carom_direction d) {
    const carom_path *w = r->path;
    r->dout[i] = NAN;
    const carom_status status = carom_variation_observed(w->x, w->t, w->q, w->v, d, r->dout);
    return isfinite(r->dout[i]) ? CAROM_OK : bad(r, status, w->t);
}

// (RES-1)
static carom_status keep(carom_results *r, int i, const double *a) {
    const carom_path *w = r->path;
    const carom_ledger none = {0};
    double along = 0;
    carom_model_observe(r->model, r->average, &none, carom_sim_work(r->sim), w->t, w->q, w->v, r->out);
    r->value[i] = r->out[i], r->event[i].found = true;
    if (w->n == 0) return CAROM_OK;
    CAROM_TRY(change_of(r, i, (carom_direction){1, w->v, a, NULL}));
    along = r->dout[i];
    for (int j = 0; j < w->n; ++j) {
        CAROM_TRY(change_of(r, i, direction(w, w->y, j)));
        r->gradient[(size_t)i * (size_t)w->n + (size_t)j] = r->event[i].time ? w->dt[j] : r->dout[i] + along * w->dt[j];
    }
    return CAROM_OK;
}

bool carom_results_complete(const carom_results *r) {
    bool all = true, some = false;
    for (int i = 0; i < r->all; ++i)
        all = all && (r->event[i].found || (i < r->n && r->told[i])), some = some || r->event[i].some;
    return all && some;
}

static carom_status meet(carom_results *r, carom_path *w, carom_side side) {
    for (int i = 0; i < r->all; ++i) {
        carom_at_event *e = &r->event[i];
        if (!e->some || e->found) continue;
        if (side == CAROM_LEFT) e->now = happens(r, e, w->change) && ++e->seen == e->number;
        if (!e->now || (side == CAROM_LEFT) != (e->before || e->time)) continue;
        CAROM_TRY(keep(r, i, side == CAROM_LEFT ? w->a_before : w->a_after));
        if (e->time && e->word == CAROM_AT_CLOSE) take_limit(r, i);
    }
    return carom_results_complete(r) && side == CAROM_RIGHT ? carom_fail(r->err, CAROM_STOPPED, "stopped") : CAROM_OK;
}

// -- grazing ------------------------------------------------------------------------------------------------------

// (RES-2)  depth: u^2/(2 Gamma) or g_min.  The columns are those at (t, q).
static carom_status approach(carom_results *r, int c, double depth, double t, const double *q, const double *y,
                             bool struck) {
    carom_path *w = r->path;
    for (int j = 0; j < w->n; ++j) {
        CAROM_TRY(bad(r, carom_variation_gaps(w->x, t, q, direction(w, y, j), w->gaps), t));
        const double dh = fabs(w->gaps[carom_model_system(r->model)->ne + c]),
                     distance = dh > 0 ? depth / dh : INFINITY;
        if (distance < r->grazing[j].distance) r->grazing[j] = (carom_grazing){distance, t, c, struck};
    }
    return CAROM_OK;
}

// Before an impact.
static carom_status strike(carom_results *r, carom_path *w) {
    const carom_change *x = w->change;
    const int ne = carom_model_system(r->model)->ne;
    for (int c = 0; c < w->p.nc; ++c) {
        if (x->mode_before[c] != CAROM_MODE_OPEN || !(x->impulse[c] > 0)) continue;
        CAROM_TRY(rates_of_gaps(r, w->t, w->q, w->v, w->gaps));
        const double u = w->gaps[ne + c];
        CAROM_TRY(bad(
            r, carom_variation_rates(w->x, w->t, w->q, w->v, (carom_direction){1, w->v, w->a_before, NULL}, w->full),
            w->t));
        const double Gamma = w->full[w->at_full[w->p.ne + c]];
        if (Gamma > 0) CAROM_TRY(approach(r, c, u * u / (2 * Gamma), w->t, w->q, w->y, true));
    }
    return CAROM_OK;
}

// Open contacts that turn back inside the step: where the cubic through both ends with their slopes does.
static carom_status pass(carom_results *r, carom_path *w, double h) {
    const int ne = carom_model_system(r->model)->ne;
    if (w->p.nc == 0) return CAROM_OK;
    CAROM_TRY(rates_of_gaps(r, w->t, w->q, w->v, r->rate_0));
    CAROM_TRY(rates_of_gaps(r, w->t + h, w->q_1, w->v_1, w->gaps));
    for (int c = 0; c < w->p.nc; ++c) {
        const double d_0 = r->rate_0[ne + c] * h, d_1 = w->gaps[ne + c] * h;
        if (w->phase[c] != CAROM_MODE_OPEN || !(d_0 < 0 && d_1 > 0)) continue;
        CAROM_TRY(carom_path_stand(w, w->t, w->q, w->v, NULL));
        const double g_0 = w->p.g[w->p.ne + c];
        CAROM_TRY(carom_path_stand(w, w->t + h, w->q_1, w->v_1, NULL));
        const double rise = w->p.g[w->p.ne + c] - g_0, b = 3 * rise - 2 * d_0 - d_1,
                     k = d_0 + d_1 - 2 * rise; // g_0 + d_0 x + b x^2 + k x^3
        const double x = -d_0 / (b + sqrt(fmax(0, b * b - 3 * k * d_0)));
        CAROM_TRY(carom_path_try(w, fmin(fmax(x, 0), 1) * h, NULL));
        CAROM_TRY(carom_path_stand(w, w->t + w->tried, w->q_1, w->v_1, NULL));
        const double low = w->p.g[w->p.ne + c];
        if (low > 0) CAROM_TRY(approach(r, c, low, w->t + w->tried, w->q_1, w->y_1, false));
        CAROM_TRY(carom_path_try(w, h, NULL));
        CAROM_TRY(rates_of_gaps(r, w->t + h, w->q_1, w->v_1, w->gaps));
    }
    return CAROM_OK;
}

// -- the run ------------------------------------------------------------------------------------------------------

// Both sides of an event: parts of an integral meet there, and extremes may lie there.
static carom_status on_side(void *user, carom_path *w, carom_side side) {
    carom_results *r = user;
    CAROM_TRY(consider_all(r, true, w->t, w->q, w->v, w->y, side == CAROM_LEFT ? w->a_before : w->a_after, w->dt));
    if (r->nz > 0) {
        const double *x = watched(r, w->t, w->q, w->v), sign = side == CAROM_LEFT ? 1 : -1;
        for (int k = 0; k < r->nwatch; ++k)
            for (int j = 0; j < w->n; ++j) {
                if (r->watch[k].integral >= 0) w->z[r->watch[k].integral + 1 + j] += sign * x[k] * w->dt[j];
                if (r->watch[k].square >= 0) w->z[r->watch[k].square + 1 + j] += sign * x[k] * x[k] * w->dt[j];
            }
    }
    if (side == CAROM_LEFT && w->n > 0) CAROM_TRY(strike(r, w));
    if (side == CAROM_LEFT) CAROM_TRY(predict_all(r, w));
    return meet(r, w, side);
}

// The rate of watched expression k tau into the step; the state there is in q_1, v_1, y_1.
static carom_status slope(carom_results *r, int k, double tau, double *x) {
    carom_path *w = r->path;
    CAROM_TRY(carom_path_try(w, tau, NULL));
    CAROM_TRY(carom_path_evaluate(w, w->t + tau, w->q_1, w->v_1));
    CAROM_TRY(change(r, w->t + tau, w->q_1, w->v_1, (carom_direction){1, w->v_1, w->a, NULL}));
    *x = r->dx[k];
    return CAROM_OK;
}

// An extreme inside a step, where the rate changes its sign: by regula falsi (Illinois).
static carom_status extreme(carom_results *r, carom_path *w, int k, bool high, double h) {
    const double sign = high ? 1 : -1;
    double x_a, x_b;
    if (w->tried != h) CAROM_TRY(carom_path_try(w, h, NULL));
    CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
    CAROM_TRY(change(r, w->t, w->q, w->v, (carom_direction){1, w->v, w->a, NULL}));
    x_a = r->dx[k];
    CAROM_TRY(carom_path_evaluate(w, w->t + h, w->q_1, w->v_1));
    CAROM_TRY(change(r, w->t + h, w->q_1, w->v_1, (carom_direction){1, w->v_1, w->a, NULL}));
    x_b = r->dx[k];
    if (!(sign * x_a > 0 && sign * x_b < 0)) return CAROM_OK;
    double tau = h, x = x_b;
    carom_bracket zero = {.b = h, .f_a = x_a, .f_b = x_b};
    const double small = VANISHED * (fabs(x_a) + fabs(x_b));
    for (int i = 0; i < 60 && fabs(x) > small && zero.b - zero.a > NARROW * h; ++i) {
        tau = carom_bracket_next(&zero);
        CAROM_TRY(slope(r, k, tau, &x));
        carom_bracket_cut(&zero, tau, x, sign * x > 0);
    }
    return consider(r, k, high, true, w->t + tau, w->q_1, w->v_1, w->y_1, NULL, NULL);
}

static carom_status on_step(void *user, carom_path *w, double h) {
    carom_results *r = user;
    if (w->n > 0) CAROM_TRY(pass(r, w, h));
    for (int k = 0; k < r->nwatch; ++k)
        for (int high = 0; high < 2; ++high)
            if (r->watch[k].slots & 1u << (high ? WATCH_HIGH : WATCH_LOW)) CAROM_TRY(extreme(r, w, k, high, h));
    return CAROM_OK;
}

void carom_results_attach(carom_results *r, carom_path *w, carom_sim *sim) {
    r->path = w, r->sim = sim;
    w->user = r, w->on_step = on_step, w->on_side = on_side, w->asks = asks;
    if (r->nz > 0) w->rate = rate;
}

carom_status carom_results_start(carom_results *r, double t, const double *q, const double *v) {
    return consider_all(r, false, t, q, v, r->path->y, NULL, NULL);
}

// Column j at the end of the run, which moves along the motion by dT: (dq + v dT, dv + a dT).
static carom_direction at_end(const carom_results *r, int j) {
    const carom_path *w = r->path;
    carom_direction d = direction(w, w->y, j);
    if (!r->moves) return d;
    const int nv = w->p.nv;
    const double dT = r->dT[j];
    for (int i = 0; i < nv; ++i) r->along[i] = d.q[i] + dT * w->v[i], r->along[nv + i] = d.v[i] + dT * w->a[i];
    return d.t = dT, d.q = r->along, d.v = r->along + nv, d;
}

// Changes of extremes, mean, rms and integral of watched expression k along column j; integrals end later by dT.
static carom_status change_watched(carom_results *r, int j) {
    const carom_path *w = r->path;
    const double T = w->t, dT = r->dT[j];
    CAROM_TRY(change(r, w->t, w->q, w->v, at_end(r, j)));
    for (int k = 0; k < r->nwatch; ++k) {
        const carom_watching *of = &r->watch[k];
        double *d = r->dwatch + WATCH_COUNT * k;
        const double x = r->x[k],
                     integral = of->integral >= 0 ? w->z[of->integral + 1 + j] + x * dT : 0,
                     mean = of->integral >= 0 && T > 0 ? w->z[of->integral] / T : 0,
                     rms = of->square >= 0 && T > 0 ? sqrt(w->z[of->square] / T) : 0,
                     square = of->square >= 0 ? w->z[of->square + 1 + j] + (x * x - rms * rms) * dT : 0;
        d[WATCH_LOW] = of->low.some ? of->low.gradient[j] : 0, d[WATCH_HIGH] = of->high.some ? of->high.gradient[j] : 0;
        d[WATCH_MEAN] = T > 0 ? (integral - mean * dT) / T : r->dx[k];
        d[WATCH_RMS] = T > 0 ? rms > 0 ? square / (2 * T * rms) : 0 : r->x[k] < 0 ? -r->dx[k] : r->dx[k];
        d[WATCH_INTEGRAL] = integral;
    }
    for (int i = 0; i < r->all - r->n; ++i)
        if (r->term[i].watch >= 0)
            r->dwatch[WATCH_COUNT * r->term[i].watch + WATCH_HIGH] =
                r->gradient[(size_t)(r->n + i) * (size_t)w->n + (size_t)j];
    return CAROM_OK;
}

carom_status carom_results_end(carom_results *r, double *value, double *gradient) {
    carom_path *w = r->path;
    for (int j = 0; j < w->n; ++j)
        r->dT[j] = carom_variation_end(w->x, w->dp + (size_t)j * (size_t)w->np), r->moves = r->moves || r->dT[j] != 0;
    if (r->moves) CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
    for (int k = 0; k < r->nwatch && r->moves; ++k) // an extreme that a row found here is found again, with dT
        for (int high = 0; high < 2; ++high) {
            carom_extreme *e = high ? &r->watch[k].high : &r->watch[k].low;
            e->some = e->some && e->t != w->t;
        }
    return carom_results_now(r, value, gradient);
}

carom_status carom_results_now(carom_results *r, double *value, double *gradient) {
    const carom_path *w = r->path;
    const carom_ledger none = {0};
    const size_t n = (size_t)w->n;
    CAROM_TRY(consider_all(r, false, w->t, w->q, w->v, w->y, r->moves ? w->a : NULL, r->dT));
    const double *x = watched(r, w->t, w->q, w->v);
    for (int k = 0; k < r->nwatch; ++k) {
        const carom_watching *of = &r->watch[k];
        r->average[k] = (carom_average){.low = of->low.value,
                                        .high = of->high.value,
                                        .integral = of->integral >= 0 ? w->z[of->integral] : 0,
                                        .square = of->square >= 0 ? w->z[of->square] : 0,
                                        .x = x[k],
                                        .t = w->t};
    }
    for (int i = 0; i < r->all; ++i) {
        const carom_at_event *e = &r->event[i];
        if (e->some && !e->found)
            return carom_fail(r->err, CAROM_NOT_CONVERGED,
                              "'%.60s' has %ld event%s '%s' until t = %.9g, not %ld; increase `end`", e->contact,
                              e->seen, e->seen == 1 ? "" : "s", words[e->word], w->t, e->number);
        if (i >= r->n && r->term[i - r->n].watch >= 0) r->average[r->term[i - r->n].watch].high = r->value[i];
    }
    carom_model_observe(r->model, r->average, &none, carom_sim_work(r->sim), w->t, w->q, w->v, r->out);
    for (int i = 0; i < r->n; ++i) value[i] = r->event[i].some ? r->value[i] : r->out[i];
    for (int j = 0; j < w->n && gradient; ++j) {
        CAROM_TRY(change_watched(r, j));
        CAROM_TRY(bad(
            r, carom_variation_composed(w->x, w->t, w->q, w->v, at_end(r, j), r->average, r->dwatch, r->dout),
            w->t));
        for (int i = 0; i < r->n; ++i)
            gradient[(size_t)i * n + (size_t)j] =
                r->event[i].some ? r->gradient[(size_t)i * n + (size_t)j] : r->dout[i];
    }
    return CAROM_OK;
}
