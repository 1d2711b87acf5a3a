// record.c: the recorder: which rows, when, and where they go.
//
// (1) acc[] holds the impulse of every recorded direction since the last row.
// (2) A row that is there only because the run ended is not part of the saved state: a resumed run cuts the file to
//     the rows of its state, so it writes what a run that never stopped would have written.
// (3) The state is frozen before the first step that the end may shorten: going on to a later end repeats it whole.
#define _POSIX_C_SOURCE 200809L
#include "base/missing.h"
#include "base/text.h"
#include "base/tolerance.h"
#include "io/publish.h"
#include "io/record.h"
#include "io/recording.h"
#include "io/snapshots.h"
#include "model/answers.h"
#include "scheme/advice.h"
#include "sim/inspect.h"
#include <carom/version.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// steps: carom_sim_ending() is false before; bytes
enum { ROWS_BY_DEFAULT = 2000, NEAR_END = 3, LARGE_STATE = 1 << 20 };

static const double MOST_ROWS = 1e15; // times k dt_out are then told from each other

carom_record_def carom_record_default(void) {
    return (carom_record_def){.every = 0, .dt_out = 0};
}

static carom_ledger_names ledger_names(carom_record *r, const carom_ledger *l) {
    const long long id[3] = {l->penetration_id, l->drift_id, l->counts.residual_id};
    const char *name[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; ++i)
        if (id[i] >= 0) name[i] = record_name(r, id[i]);
    carom_warning list[CAROM_WARNINGS];
    carom_warnings_json(r->warnings, list, carom_sim_warnings(r->sim, l, list));
    const char *compliant =
        r->model && l->compliant.which >= 0 ? carom_model_compliant(r->model, l->compliant.which) : NULL;
    return (carom_ledger_names){.penetration = name[0],
                                .drift = name[1],
                                .residual = name[2],
                                .redundant = r->model ? carom_model_redundant(r->model) : NULL,
                                .compliant = compliant,
                                .estimate = r->estimate,
                                .warnings = r->warnings};
}

// -- rows -------------------------------------------------------------------------------------------

static carom_status add_row(carom_record *r, const carom_now *now, const double *impulse) {
    double *row = r->h5 ? h5_row(r->h5, &r->err) : r->csv ? r->csv->row : memory_row(r->memory, &r->err);
    if (!row) return r->err.code;
    CAROM_TRY(record_fill(r, row, now, impulse));
    if (r->memory) memory_row_done(r->memory);
    else CAROM_TRY(r->h5 ? h5_row_done(r->h5, &r->err) : csv_row_done(r->csv, &r->err));
    if (r->h5) CAROM_TRY(record_fields(r, now));
    ++r->rows;
    return CAROM_OK;
}

static carom_status put_row(carom_record *r, const carom_now *now) {
    CAROM_TRY(add_row(r, now, r->acc));
    carom_zero(r->acc, r->ndir);
    carom_zero(r->group_acc, (ptrdiff_t)CAROM_GROUP_ROWS * r->groups->n);
    r->row_step = now->step;
    return CAROM_OK;
}

// Does the step have an event at t?  Schemes also stop where nothing happens in the end: at the start, or where modes
// turn out to stay.
static bool happens(const carom_now *now, double t) {
    for (int i = 0; i < now->nevents; ++i)
        if (now->events[i].t == t) return true;
    return false;
}

// Room for what is there now: contacts come and go.
static bool sides_fit(carom_record *r, const carom_now *now) {
    const int links = r->sys->ne + r->sys->nc, rows = now->dir[links];
    if (links > r->side_links) {
        double *gap = realloc(r->side_gap, ((size_t)links + 1) * sizeof *gap);
        if (!gap) return false;
        r->side_gap = gap, r->side_links = links;
    }
    if (rows > r->side_rows) {
        double *unknown = realloc(r->unknown, ((size_t)rows + 1) * sizeof *unknown);
        if (!unknown) return false;
        for (int i = r->side_rows; i <= rows; ++i) unknown[i] = NAN;
        r->unknown = unknown, r->side_rows = rows;
    }
    return true;
}

// Both sides of the events of the step that has just succeeded.  What acted there is known of the whole step only.
static carom_status put_sides(carom_record *r, const carom_now *now) {
    const carom_system *sys = r->sys;
    carom_now at = *now;
    if (!sides_fit(r, now)) return carom_fail(&r->err, CAROM_NO_MEMORY, "not enough memory for the sides of an event");
    at.gap = r->side_gap;
    at.lasting = at.nu = r->unknown;
    for (int i = 0; i < r->sides.count; ++i) {
        at.t = r->sides.t[i];
        if (!happens(now, at.t)) continue;
        at.q = r->sides.x + (size_t)i * ((size_t)sys->nq + (size_t)sys->nv);
        at.v = at.q + sys->nq;
        if (sys->gaps && sys->gaps(sys->model, carom_sim_work(r->sim), at.t, at.q, r->side_gap) != CAROM_OK)
            return carom_fail(&r->err, CAROM_USER, "t = %.9g: the gaps at an event are not finite", at.t);
        CAROM_TRY(add_row(r, &at, r->unknown));
    }
    sides_clear(&r->sides);
    return CAROM_OK;
}

// By how much k T may miss a step end, or a number of steps times h the time it stands for.
static double slack(const carom_record *r, double t) {
    // 8: instants that are reckoned in two ways
    return CAROM_INSTANT * fmin(r->h, r->dt_out) + 8 * DBL_EPSILON * fabs(t);
}

// Every N steps; or at the first step end at or after k T, rounding forgiven.
static bool due(carom_record *r, const carom_now *now) {
    if (now->step == 0) return true;
    if (!(r->dt_out > 0)) return now->step >= r->next;
    return now->t >= (double)r->k * r->dt_out - slack(r, now->t);
}

// The first k with k T after t, rounding forgiven.
static void next_due(carom_record *r, const carom_now *now) {
    if (!(r->dt_out > 0)) {
        r->next = (now->step / r->every + 1) * r->every;
        return;
    }
    const double t = now->t + slack(r, now->t);
    r->k = (long)floor(t / r->dt_out); // one too few, or right, or one too many; MOST_ROWS bounds it
    while ((double)r->k * r->dt_out > t) r->k -= 1;
    while ((double)r->k * r->dt_out <= t) r->k += 1;
}

// After a row: how long there will be none.  Extremes of outputs, snapshots and irregular steps need a look at every
// step.
static void foresee(carom_record *r) {
    const long total = carom_sim_total_steps(r->sim), end = total - NEAR_END;
    r->quiet_step = total == 0 || r->nwatched || r->snapshots > 0 ? 0 : r->dt_out > 0 || end < r->next ? end : r->next;
    r->quiet_t = HUGE_VAL;
    if (!(r->dt_out > 0)) return;
    const double due = (double)r->k * r->dt_out;
    r->quiet_t = due - 2 * slack(r, due);
}

static carom_status put_events(carom_record *r, const carom_now *now) {
    for (int i = 0; i < now->nevents; ++i) {
        const carom_event *e = &now->events[i];
        const char *contact = record_name(r, r->sys->ne + e->contact);
        CAROM_TRY(r->h5    ? h5_put_event(r->h5, e, contact, &r->err)
                  : r->csv ? csv_put_event(r->csv, e, contact, &r->err)
                           : memory_put_event(r->memory, e, contact, &r->err));
        ++r->events;
    }
    return CAROM_OK;
}

static carom_status put_contact(void *record, const carom_result_contact *c, carom_error *err) {
    carom_record *r = record;
    ++r->contacts;
    return r->h5    ? h5_put_contact(r->h5, c, err)
           : r->csv ? csv_put_contact(r->csv, c, err)
                    : memory_put_contact(r->memory, c, err);
}

static carom_status put_snapshot(carom_record *r, const carom_now *now) {
    const long due = snapshots_due(now->t, r->snapshots, r->h);
    if (due == r->snapped) return CAROM_OK;
    r->snapped = due;
    return snapshot_take(r->model, r->sim, now, put_contact, r, &r->err);
}

typedef struct stretch { carom_record *r; long steps, rows; } stretch; // what is left; 0: no limit

static carom_status on_step(void *user, const carom_now *now) {
    stretch *s = user;
    const long rows = s->r->rows;
    CAROM_TRY(carom_record_step(s->r, now));
    if (s->rows > 0 && s->r->rows > rows && --s->rows == 0) return CAROM_STOPPED;
    return s->steps > 0 && --s->steps == 0 ? CAROM_STOPPED : CAROM_OK;
}

carom_status carom_record_advance(carom_record *r, long steps, long rows, carom_error *err) {
    if (!r) return CAROM_MISSING(err);
    stretch s = {r, steps, rows};
    r->err.code = CAROM_OK;
    const carom_status status = carom_sim_run_lazily(r->sim, on_step, &s, err);
    if (status == CAROM_STOPPED) return CAROM_OK;
    if (status != CAROM_OK && r->err.code != CAROM_OK && err) *err = r->err;
    return status;
}

// (3)  The next flush takes the packed state along.  A large one goes to the file at once: it would take its memory
// twice until then.
static carom_status freeze(carom_record *r, carom_error *err) {
    if (!carom_sim_ending(r->sim)) return CAROM_OK;
    CAROM_TRY(r->state_size > LARGE_STATE ? carom_record_flush(r, err) : record_pack_state(r, err));
    r->frozen = true;
    return CAROM_OK;
}

#if defined(__GNUC__)
__attribute__((noinline)) // its registers are saved for the steps that need them
#endif
static carom_status see_step(carom_record *r, const carom_now *now) {
    if (now->step == r->step) return CAROM_OK; // a resumed run shows the state it starts from
    const bool first = r->step < 0;
    r->step = now->step;
    if (now->reacted && !first) {
        const double *impulse = record_reactions(r, now, now->impulse, r->turned);
        for (int i = 0; i < r->ndir; ++i) r->acc[i] += impulse[i];
        if (r->groups->n) carom_groups_add(r->groups, carom_sim_work(r->sim), now, r->sys, r->group_acc);
    }
    if (r->nwatched)
        carom_model_watch(r->model, carom_sim_work(r->sim), now->t, now->q, now->v, r->low, r->high, first);
    if (now->nevents) CAROM_TRY(put_events(r, now));
    const bool row = due(r, now);
    if (row || r->snapshots > 0 || r->sides.count) carom_sim_gaps(r->sim);
    if (r->snapshots > 0) CAROM_TRY(put_snapshot(r, now));
    if (now->reacted || r->reacted) carom_copy(r->force, now->lasting, r->ndir); // else they are zero, and were
    r->reacted = now->reacted;
    if (r->sides.count) CAROM_TRY(put_sides(r, now));
    if (row) {
        CAROM_TRY(put_row(r, now));
        next_due(r, now);
        foresee(r);
    }
    const bool begun = r->h5 && r->sequence > 0;
    return begun && !r->frozen ? freeze(r, &r->err) : CAROM_OK;
}

carom_status carom_record_step(void *record, const carom_now *now) {
    if (!record || !now) return CAROM_BAD_INPUT;
    carom_record *r = record;
    // most steps
    const bool quiet = now->step < r->quiet_step && now->t < r->quiet_t && !now->reacted && !r->reacted &&
                       !now->nevents && !r->sides.count;
    if (!quiet) return see_step(r, now);
    r->step = now->step;
    return CAROM_OK;
}

// -- /run -------------------------------------------------------------------------------------------

// Texts that change later have room to.
static bool put_text(carom_record *r, const char *name, const char *text, size_t room) {
    return r->h5 ? h5_put_text(r->h5->run, name, text, room > 0 ? room : strlen(text))
                 : memory_put_text(r->memory, name, text);
}

static bool put_real(carom_record *r, const char *name, double x) {
    return r->h5 ? h5_put_real(r->h5->run, name, x) : memory_put_real(r->memory, name, x);
}

static bool put_integer(carom_record *r, const char *name, long x) {
    return r->h5 ? h5_put_integer(r->h5->run, name, x) : memory_put_real(r->memory, name, (double)x);
}

static bool put_list(carom_record *r, const char *name, const char *const *list) {
    char *text = record_join(list);
    const bool good = text && put_text(r, name, text, 0);
    free(text);
    return good;
}

enum { CHOICE = 4096 }; // bytes kept for what a scheme says of its choices

static carom_status put_choice(carom_record *r, carom_error *err) {
    char text[CHOICE];
    carom_sim_choice(r->sim, text, sizeof text);
    if (!text[0]) return CAROM_OK;
    h5_hush h;
    h5_hush_begin(&h);
    const carom_status status =
        put_text(r, "choice", text, CHOICE) ? CAROM_OK : h5_fail(err, "cannot write the choices of the scheme");
    h5_hush_end(&h);
    return status;
}

static carom_status put_run(carom_record *r, const carom_record_def *def, carom_error *err) {
    if (!record_identify(r, def)) return carom_fail(err, CAROM_NO_MEMORY, "no memory");
    char options[4096] = "", started[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    carom_sim_options_text(r->sim, options, sizeof options);
    const char *file = def->model_file ? def->model_file : "", *name = r->model ? carom_model_name(r->model) : NULL;
    const char *scheme = carom_sim_scheme(r->sim)->name;
    h5_hush h;
    h5_hush_begin(&h);
    const bool good =
        put_text(r, "name", name ? name : "", 0) && put_text(r, "model_file", file, 0) &&
        put_text(r, "scheme", scheme, 0) && put_text(r, "options", options, 0) &&
        put_list(r, "options_given", def->options) && put_list(r, "set", def->set) &&
        put_list(r, "columns_given", def->columns) && put_real(r, "step", def->step) &&
        put_real(r, "end", def->end) && put_integer(r, "every", r->every) && put_real(r, "dt_out", r->dt_out) &&
        put_integer(r, "event_rows", r->event_rows) && put_text(r, "version", CAROM_VERSION, 0) &&
        put_text(r, "started", started, 0) && put_real(r, "wall", 0) &&
        put_integer(r, "state_format", RECORD_STATE_FORMAT) && put_text(r, "status", "running", 16) &&
        put_text(r, "message", "", 960) && put_text(r, "choice", "", CHOICE);
    const carom_status status =
        good ? CAROM_OK : h5_fail(err, "cannot write %s", def->file ? def->file : "what the run is about");
    h5_hush_end(&h);
    return status;
}

static carom_status put_end(carom_record *r, const char *word, const char *why, double wall, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    const bool good = put_text(r, "status", word, 16) && put_text(r, "message", why ? why : "", 960) &&
                      put_real(r, "wall", wall) && put_real(r, "end", r->end);
    const carom_status status =
        good ? CAROM_OK : h5_fail(err, "cannot write %s", r->h5 ? r->h5->name : "how the run ended");
    h5_hush_end(&h);
    return status;
}

// -- life -------------------------------------------------------------------------------------------

static carom_status check_definition(const carom_record_def *def, carom_error *err) {
    if (!def || !def->sim || (!def->file && !def->stream && !def->memory) || (def->length > 0 && !def->text))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "a record needs a simulation and somewhere to go: a file, a stream or memory");
    if (def->event_rows && !carom_sim_scheme(def->sim)->emits_events)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "%s does not locate events, so it has no rows at both sides of them; schemes that do: "
            CAROM_LOCATING_EXACTLY,
            carom_sim_scheme(def->sim)->name);
    if (def->event_rows && (!def->model || carom_sim_system(def->sim)->model != def->model))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "rows at both sides of events are not supported for models to which a program has added "
                          "functions");
    if (!(def->step > 0 && def->end > 0 && def->every >= 0 && def->dt_out >= 0) ||
        (def->dt_out > 0 && def->end / def->dt_out > MOST_ROWS))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "a record needs a step and an end, no negative interval between rows, and at most 1e15 rows");
    return CAROM_OK;
}

// How often rows are written, where that is not given.
static void choose_rows(carom_record *r) {
    const bool adaptive = carom_sim_total_steps(r->sim) == 0, located = carom_sim_scheme(r->sim)->emits_events;
    if (adaptive && r->every <= 0 && !(r->dt_out > 0)) r->dt_out = r->end / ROWS_BY_DEFAULT;
    carom_sim_stop_at(r->sim, r->dt_out); // where it can, steps end on the rows
    // every step end is the first after some k dt_out
    if (!adaptive && !located && r->dt_out > 0 && r->dt_out <= r->h) {
        r->dt_out = 0;
        r->every = 1;
    }
    if (r->every <= 0 && !(r->dt_out > 0)) {
        const long total = carom_sim_total_steps(r->sim);
        r->every = total > ROWS_BY_DEFAULT ? (total + ROWS_BY_DEFAULT / 2) / ROWS_BY_DEFAULT : 1;
    }
}

static carom_record *blank(const carom_record_def *def, carom_error *err) {
    if (check_definition(def, err) != CAROM_OK) return NULL;
    carom_record *r = calloc(1, sizeof *r);
    if (!r) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a recorder");
        return NULL;
    }
    r->model = def->model;
    r->sim = def->sim;
    r->positions = carom_sim_now(def->sim).nu != NULL;
    r->sys = carom_sim_system(def->sim);
    r->extended = !def->model || r->sys->model != def->model; // the simulation may have a copy of the model's
    r->nc = r->sys->nc - r->sys->listed;
    r->snapshots = r->extended ? 0 : carom_model_snapshots(def->model);
    r->h = def->step;
    r->end = def->end;
    r->every = def->every;
    r->dt_out = def->dt_out;
    r->event_rows = def->event_rows;
    r->extra = def->extra_value;
    r->sides = (sides){.nq = r->sys->nq, .nv = r->sys->nv};
    r->nout = def->model ? carom_model_count(def->model).outputs : 0;
    r->nwatched = def->model ? carom_model_watched(def->model) : 0;
    for (int id = 0; id < r->sys->ne + r->nc; ++id) r->ndir += carom_system_recorded(r->sys, id);
    r->step = r->row_step = -1;
    r->u = calloc((size_t)r->ndir + 1, sizeof(double));
    r->gap = calloc((size_t)(r->sys->ne + r->nc) + 1, sizeof(double));
    r->force = calloc((size_t)r->ndir + 1, sizeof(double));
    r->side_links = r->sys->ne + r->sys->nc, r->side_rows = r->ndir;
    r->side_gap = calloc((size_t)r->side_links + 1, sizeof(double));
    r->unknown = calloc((size_t)r->ndir + 1, sizeof(double));
    const bool turned = r->model && carom_model_turned(r->model);
    r->turned = turned ? calloc(2 * (size_t)r->ndir + 1, sizeof(double)) : NULL;
    bool good = r->u && r->gap && r->force && r->side_gap && r->unknown && (!turned || r->turned) &&
                record_describe(r, def);
    if (good && !r->crowded) { // all columns are known now
        size_t bytes = 0;
        carom_sim_state(r->sim, &bytes);
        r->state_size = record_state_size(r, bytes);
        r->state = calloc(1, r->state_size);
        r->acc = calloc((size_t)record_doubles(r) + 1, sizeof(double));
        good = r->state && r->acc;
    }
    if (!good) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a recorder");
        carom_record_destroy(r);
        return NULL;
    }
    if (r->unmatched || r->crowded) {
        if (r->crowded)
            carom_fail(err, CAROM_BAD_INPUT,
                       "'%.100s' matches more than a million pairs of shapes; name fewer: 'A-B.gap'", r->crowded);
        else
            carom_fail(err, CAROM_BAD_INPUT, "no column matches '%.100s'; `carom info` lists the columns of a result",
                       r->unmatched);
        carom_record_destroy(r);
        return NULL;
    }
    for (int i = 0; i < r->ndir; ++i) r->unknown[i] = NAN;
    if (r->event_rows) carom_sim_watch_events(r->sim, sides_add, &r->sides);
    r->low = r->acc + r->ndir;
    r->high = r->low + r->nwatched;
    r->group_acc = r->high + r->nwatched;
    choose_rows(r);
    return r;
}

// Rows to expect, the last one included.
static long expected(const carom_record *r) {
    const double rows = r->dt_out > 0 ? r->end / r->dt_out : (double)carom_sim_total_steps(r->sim) / (double)r->every;
    return rows < 1e9 ? (long)rows + 2 : 1000000000;
}

double carom_record_expected(const carom_record *r, int *columns) {
    if (!r) return NAN;
    if (columns) *columns = r->columns.n;
    return (double)expected(r) * r->columns.n * (double)sizeof(double);
}

static h5_def file_def(const carom_record *r, const carom_record_def *def) {
    size_t longest = r->model ? carom_model_longest_contact(r->model) : 1;
    for (int c = 0; c < r->nc; ++c) {
        const size_t length = strlen(r->constraint[r->sys->ne + c]);
        if (length > longest) longest = length;
    }
    int nmatrices = 0;
    const carom_matrix_text *matrices = r->model ? carom_model_matrices(r->model, &nmatrices) : NULL;
    return (h5_def){.file = def->file,
                    .matrices = matrices,
                    .nmatrices = nmatrices,
                    .columns = (size_t)r->columns.n,
                    .column = r->column,
                    .unit = r->unit,
                    .role = r->role,
                    .compress = def->compress,
                    .rows = expected(r),
                    .contact_size = longest,
                    .field = r->field,
                    .nfield = r->nfield,
                    .text = def->text,
                    .length = def->length,
                    .state_size = r->state_size,
                    .snapshots = r->snapshots > 0,
                    .grows = r->sys->contact_list->search != NULL};
}

// Units of columns, where the model gives them.
static bool find_units(carom_record *r) {
    r->unit = calloc((size_t)r->columns.n + 1, sizeof *r->unit);
    for (int i = 0; r->unit && i < r->columns.n; ++i) {
        char text[80] = "";
        if (!r->model || !carom_model_unit(r->model, r->column[i], false, text, sizeof text)) text[0] = 0;
        if (!(r->unit[i] = strdup(text))) return false;
    }
    return r->unit;
}

// The file as it is once the first state is in it.
static carom_status begin(carom_record *r, const carom_record_def *def, carom_error *err) {
    const carom_now now = carom_sim_now(r->sim);
    carom_status status = carom_record_step(r, &now);
    if (status != CAROM_OK) {
        if (err) *err = r->err;
        return status;
    }
    if (r->csv) return CAROM_OK;
    CAROM_TRY(put_run(r, def, err));
    if (r->memory) return CAROM_OK;
    CAROM_TRY(carom_record_flush(r, err));
    r->frozen = carom_sim_ending(r->sim); // (3)
    return h5_publish(r->h5, !def->replace, err);
}

carom_record *carom_record_create(const carom_record_def *def, carom_error *err) {
    carom_record *r = blank(def, err);
    if (!r) return NULL;
    if (!def->memory && !find_units(r))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d columns", r->columns.n),
               carom_record_destroy(r), NULL;
    if (def->memory) {
        r->memory = memory_create(r->columns.n, r->column, expected(r), def->text, def->length, err);
    } else if (!def->file || carom_ends(def->file, ".csv")) {
        r->csv = csv_create(def->file, !def->replace, def->stream, r->columns.n, r->column, def->units ? r->unit : NULL,
                            r->snapshots > 0, err);
    } else {
        const h5_def file = file_def(r, def);
        r->h5 = h5_create(&file, err);
    }
    if ((!r->csv && !r->h5 && !r->memory) || begin(r, def, err) != CAROM_OK) {
        if (r->h5) h5_abandon(r->h5);
        carom_record_destroy(r);
        return NULL;
    }
    return r;
}

static bool number(hid_t run, const char *name, double *x) {
    char *text = NULL;
    const bool good = h5_get(run, name, 1024, x, &text) && !text;
    free(text);
    return good;
}

static carom_status go_on(carom_record *r, const carom_record_def *def, const carom_ledger *before, carom_error *err) {
    double every = 0, dt_out = 0, step = 0, event_rows = 0;
    h5_hush h;
    h5_hush_begin(&h);
    const bool good = number(r->h5->run, "every", &every) && number(r->h5->run, "dt_out", &dt_out) &&
                      number(r->h5->run, "step", &step) && every >= 0 && every < 9e18 && // below 2^63
                      (dt_out > 0 ? isfinite(dt_out) && def->end / dt_out <= MOST_ROWS : dt_out == 0 && every >= 1);
    r->event_rows = number(r->h5->run, "event_rows", &event_rows) && event_rows == 1; // a file without it has none
    h5_hush_end(&h);
    if (!good) return carom_fail(err, CAROM_IO, "%s is damaged: /run has no valid record interval", def->file);
    if (step != def->step)
        return carom_fail(err, CAROM_BAD_INPUT, "%s was computed with step %.17g, not %.17g; leave `step` out",
                          def->file, step, def->step);
    r->every = (long)every;
    r->dt_out = dt_out;
    carom_sim_watch_events(r->sim, r->event_rows ? sides_add : NULL, &r->sides);
    carom_sim_stop_at(r->sim, dt_out);
    CAROM_TRY(record_get_state(r, def->file, err));
    if (before) carom_sim_spent(r->sim, before->seconds, before->wall);
    CAROM_TRY(put_end(r, "running", NULL, 0, err));
    return carom_record_flush(r, err);
}

carom_record *carom_record_resume(const carom_record_def *def, carom_error *err) {
    carom_record *r = def && !def->file ? carom_fail(err, CAROM_BAD_INPUT, "only a file can be continued"),
                 NULL                   : blank(def, err);
    if (!r) return NULL;
    const h5_def file = file_def(r, def);
    carom_ledger before;
    bool known = false;
    if (record_recall(r, def->file, &before, &known, err) == CAROM_OK) r->h5 = h5_reopen(&file, err);
    if (!r->h5 || go_on(r, def, known ? &before : NULL, err) != CAROM_OK) {
        carom_record_destroy(r);
        return NULL;
    }
    return r;
}

// State, ledger and rows of one moment, or of the moment before.
static carom_status put_moment(carom_record *r, const carom_ledger *ledger, carom_error *err) {
    carom_error mine;
    carom_status status = put_choice(r, &mine);
    if (status == CAROM_OK && (!r->frozen || r->packed)) status = record_put_state(r, &mine);
    if (status == CAROM_OK) status = h5_put_ledger(r->h5, ledger, ledger_names(r, ledger), &mine);
    if (status == CAROM_OK) status = h5_flush(r->h5, &mine);
    if (status != CAROM_OK) {
        h5_give_up(r->h5, &mine);
        if (err) *err = mine;
    }
    return status;
}

carom_status carom_record_flush(carom_record *r, carom_error *err) {
    if (!r) return CAROM_MISSING(err);
    carom_ledger ledger;
    if (r->csv) CAROM_TRY(csv_flush(r->csv, err));
    if (!r->csv) CAROM_TRY(carom_sim_ledger(r->sim, &ledger, err));
    if (r->h5) CAROM_TRY(put_moment(r, &ledger, err));
    r->saved = carom_sim_now(r->sim).t;
    if (!r->memory) return CAROM_OK;
    CAROM_TRY(put_choice(r, err));
    return memory_put_ledger(r->memory, &ledger, ledger_names(r, &ledger), err);
}

// The state alone; rows and ledger of its moment follow.
static carom_status save_state(carom_record *r, carom_error *err) {
    carom_error mine;
    const carom_status status = record_put_state(r, &mine);
    if (status != CAROM_OK) h5_give_up(r->h5, &mine);
    if (status != CAROM_OK && err) *err = mine;
    return status;
}

// Everything that is not in the result yet; what fails first counts, the rest is tried all the same.
static carom_status put_rest(carom_record *r, const char *status, const char *why, carom_error *err) {
    carom_now now = carom_sim_now(r->sim);
    carom_status result = CAROM_OK;
    now.lasting = r->force; // a step that failed has left its own
    // after a failure the state of the last flush is the sound one
    const bool moves = !r->frozen && strcmp(status, "failed") != 0;
    if (r->h5 && (moves || r->packed)) result = save_state(r, err); // (2)
    r->frozen = true;
    if (now.step != r->row_step && now.step == r->step) {
        const carom_status put = put_row(r, &now);
        if (put != CAROM_OK && result == CAROM_OK && err) *err = r->err;
        if (result == CAROM_OK) result = put;
    }
    // A system that fails may have no energies any more, and so neither last row nor ledger: the rest is saved all the
    // same.
    carom_ledger ledger = {.wall = 0};
    const carom_status known = carom_sim_ledger(r->sim, &ledger, result == CAROM_OK ? err : NULL);
    if (result == CAROM_OK) result = known;
    carom_status put = r->csv ? CAROM_OK : put_end(r, status, why, ledger.wall, result == CAROM_OK ? err : NULL);
    if (result == CAROM_OK) result = put;
    if (known == CAROM_OK) put = carom_record_flush(r, result == CAROM_OK ? err : NULL);
    else if (r->h5) put = h5_flush(r->h5, NULL);
    return result == CAROM_OK ? put : result;
}

carom_status carom_record_finish(carom_record *r, const char *status, const char *why, carom_error *err) {
    if (!r || !status) return CAROM_MISSING(err);
    carom_status result = CAROM_OK, closed = CAROM_OK;
    // says why; the file ends with the last flush
    if (r->h5 && r->h5->broken.code != CAROM_OK) result = h5_flush(r->h5, err);
    else result = put_rest(r, status, why, err);
    if (result == CAROM_OK && strcmp(status, "done") == 0) {
        if (r->h5) publish_for_good(r->h5->name);
        if (r->csv) csv_for_good(r->csv);
    }
    if (r->csv) r->saved = fmax(r->saved, r->csv->rows.last); // a buffer that was full before its time
    if (r->csv) closed = csv_destroy(r->csv, result == CAROM_OK ? err : NULL);
    if (r->h5) h5_destroy(r->h5);
    r->csv = NULL;
    r->h5 = NULL;
    return result != CAROM_OK ? result : closed;
}

void carom_record_destroy(carom_record *r) {
    if (!r) return;
    if (r->csv) csv_destroy(r->csv, NULL);
    if (r->h5) h5_destroy(r->h5);
    for (int i = 0; i < r->nfield; ++i) free(r->field[i].place);
    free(r->field);
    free(r->field_of);
    carom_result_close(r->memory);
    for (int id = 0; r->constraint && id < r->sys->ne + r->nc; ++id) free(r->constraint[id]);
    free(r->constraint);
    for (int i = 0; r->unit && i < r->columns.n; ++i) free(r->unit[i]);
    carom_columns_free(&r->columns);
    carom_groups_destroy(r->groups);
    free(r->column);
    free(r->unit);
    free(r->state);
    free(r->acc);
    free(r->u);
    free(r->out);
    free(r->role);
    free(r->gap);
    free(r->side_gap);
    free(r->unknown);
    sides_free(&r->sides);
    free(r->force);
    free(r->turned);
    free(r);
}

void carom_record_estimate(carom_record *r, const char *json) {
    if (r) r->estimate = json;
}

const carom_error *carom_record_error(const carom_record *r) {
    return &r->err;
}

void carom_record_extremes(const carom_record *r, const double **low, const double **high) {
    if (!r || !low || !high) return;
    *low = r->low;
    *high = r->high;
}

carom_status carom_record_ledger(carom_record *r, carom_ledger *l, carom_ledger_names *names, carom_error *err) {
    if (!r || !l || !names) return CAROM_MISSING(err);
    CAROM_TRY(carom_sim_ledger(r->sim, l, err));
    *names = ledger_names(r, l);
    return CAROM_OK;
}

bool carom_record_check(carom_record *r, int i, const char **text, double *left, double *right, carom_error *err) {
    if (!r || !text || !left || !right) return false;
    carom_error own;
    if (!err) err = &own;
    carom_ledger l;
    if (carom_sim_ledger(r->sim, &l, err) != CAROM_OK) return false;
    const carom_now now = carom_sim_now(r->sim);
    return carom_model_check(r->model, i, r->low, r->high, &l, carom_sim_work(r->sim), now.t, now.q, now.v, text, left,
                             right);
}

const double *carom_record_row(const carom_record *r, long i) {
    if (!r) return NULL;
    const size_t n = (size_t)r->columns.n;
    return r->memory && i >= 0 && i < r->rows ? carom_result_values(r->memory) + (size_t)i * n : NULL;
}

carom_result *carom_record_result(carom_record *r, carom_error *err) {
    if (!r) return CAROM_MISSING(err), NULL;
    carom_result *result = r->memory;
    if (!result) carom_fail(err, CAROM_BAD_INPUT, "this record is not in memory, or its result was taken already");
    r->memory = NULL;
    return result;
}

int carom_record_columns(const carom_record *r) {
    if (!r) return 0;
    return r->columns.n;
}

const char *carom_record_numbered(const carom_record *r) {
    for (int i = 0; r && i < r->columns.n; ++i)
        if (r->columns.list[i].numbered) return r->column[i];
    return NULL;
}

const char *carom_record_column(const carom_record *r, int i) {
    if (!r) return NULL;
    return i >= 0 && i < r->columns.n ? r->column[i] : NULL;
}

double carom_record_saved(const carom_record *r) {
    if (!r) return NAN;
    return r->saved;
}

double record_spacing(const carom_record *r) {
    return r->dt_out > 0 ? r->dt_out : (double)r->every * r->h;
}

long carom_record_rows(const carom_record *r) {
    if (!r) return 0;
    return r->rows;
}
