// record.c: the recorder: which columns, which rows, and what must survive to go on.
//
// (1) acc[] holds the impulse of every recorded direction since the last row.
// (2) A row that is there only because the run ended is not part of the saved state: a resumed run cuts the file to
//     the rows of its state, so it writes what a run that never stopped would have written.
// (3) The state is frozen before the first step that the end may shorten: going on to a later end repeats it whole.
#define _POSIX_C_SOURCE 200809L
#include "io/publish.h"
#include "io/result.h"
#include "io/sides.h"
#include "io/snapshots.h"
#include <carom/version.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS_BY_DEFAULT = 2000, NEAR_NAMES = 122 }; // the latter: longest name of a contact that comes and goes

typedef struct state_head {
    uint64_t magic, sequence, checksum; // checksum over all that follows
    int64_t rows, events, contacts, step, row_step, k, sim_bytes, doubles;
} state_head;

static const uint64_t state_magic = UINT64_C(0x326574617473726d); // "mrstate2", read on a machine of this byte order

struct carom_record {
    const carom_model *model;
    const carom_system *sys;
    carom_sim *sim;
    carom_error err;
    char warnings[CAROM_WARNINGS_ROOM];
    double h, end;
    long every;
    double dt_out;
    bool event_rows;
    sides sides;
    double *side_gap, *unknown;  // of such rows: gaps; NaN for reactions
    int ncol, ndir, nwatched, nout;
    int nc;                      // contacts with columns: those that come and go have none
    int *shown_q, *shown_v, nshown_q, nshown_v; // positions and velocities that have columns
    char **column;
    char *names;                 // storage of column[]
    h5_field_def *field;         // what is recorded along flexible members
    struct { int member; carom_field kind; } *field_of;
    int nfield;
    double *acc, *u, *gap, *low, *high; // acc, low, high lie in one block: they are saved
    double *force;               // of the last step that succeeded
    double *turned;              // reactions in the frames of joints; NULL: no need
    long rows, events, step;     // step: last one seen, -1: none
    double snapshots;            // time between snapshots of contacts; 0: none
    long contacts, snapped;      // their rows; snapshots that were due so far
    long row_step, k;            // step of the last row; next multiple of dt_out
    long next;                   // step of the next row when these are counted in steps
    bool positions;              // there are multipliers on position level
    bool reacted;                // force may differ from zero
    bool frozen;
    uint64_t about;              // checksum of what the run is: model, parameters, scheme, options, step
    double saved;                // time of the last flush that succeeded
    uint64_t sequence;
    unsigned char *state;        // packed
    size_t state_size;
    h5_file *h5;
    csv_file *csv;
    carom_result *memory;        // rows stay here, if anywhere
    char **constraint;           // names, by id
    bool extended;               // the system has more than the model's, or there is no model
};

carom_record_def carom_record_default(void) {
    return (carom_record_def){.every = 0, .dt_out = 0};
}

// -- names ------------------------------------------------------------------------------------------

// The model's names first, then those that the definition gives, then numbers.
static bool name_constraints(carom_record *r, const carom_record_def *def) {
    const int ne = r->sys->ne, all = ne + r->nc;
    const carom_system *known = r->model ? carom_model_system(r->model) : NULL;
    r->constraint = calloc((size_t)all + 1, sizeof *r->constraint);
    for (int id = 0; r->constraint && id < all; ++id) {
        char number[32];
        snprintf(number, sizeof number, "%s%d", id < ne ? "constraint" : "contact", id < ne ? id + 1 : id - ne + 1);
        const char *name = known && id < known->ne + known->nc - known->listed ? carom_model_constraint(r->model, id) : def->constraints ? def->constraints[id] : number;
        r->constraint[id] = strdup(name);
        if (!r->constraint[id]) return false;
    }
    return r->constraint != NULL;
}

// Contacts that come and go have no columns; their names are the model's.
static const char *name_of(const carom_record *r, int id) {
    return id < r->sys->ne + r->nc ? r->constraint[id] : r->model ? carom_model_constraint(r->model, id) : NULL;
}

static carom_ledger_names ledger_names(carom_record *r, const carom_ledger *l) {
    const int id[3] = {l->penetration_id, l->drift_id, l->counts.residual_id};
    const char *name[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; ++i)
        if (id[i] >= 0) name[i] = name_of(r, id[i]);
    carom_warning list[CAROM_WARNINGS];
    carom_warnings_json(r->warnings, list, carom_sim_warnings(r->sim, l, list));
    return (carom_ledger_names){name[0], name[1], name[2], r->model ? carom_model_redundant(r->model) : NULL, r->warnings};
}

// -- columns ----------------------------------------------------------------------------------------

typedef struct writer { char *at, **column; size_t bytes; int n; } writer; // at NULL: only count

static void column(writer *w, const char *format, const char *name, const char *part) {
    char text[512];
    const int length = snprintf(text, sizeof text, format, name, part);
    const size_t size = (size_t)(length < (int)sizeof text ? length : (int)sizeof text - 1) + 1;
    if (w->at) {
        w->column[w->n] = memcpy(w->at + w->bytes, text, size);
    }
    w->bytes += size;
    ++w->n;
}

// NAME.PART, numbered for a joint with several constraints.
static void bilateral_column(writer *w, const carom_record *r, int id, const char *word) {
    const int number = r->model ? carom_model_part(r->model, id) : 0;
    char part[24];
    if (number) snprintf(part, sizeof part, "%s%d", word, number);
    else snprintf(part, sizeof part, "%s", word);
    column(w, "%s.%s", r->constraint[id], part);
}

static void contact_columns(writer *w, const char *name, const carom_contact *c) {
    const int tangents = c->tangents;
    static const char *const normal[] = {"gap", "gap'", "force", "impulse"};
    static const char *const tangential[] = {"slip", "friction", "friction_impulse"};
    for (int i = 0; !c->pressed && i < 4; ++i) column(w, "%s.%s", name, normal[i]);
    for (int i = 0; tangents > 0 && i < 3; ++i)
        for (int k = 1; k <= tangents; ++k) {
            char number[12] = "", part[40];
            if (tangents > 1) snprintf(number, sizeof number, "%d", k);
            snprintf(part, sizeof part, "%s%s%s", tangential[i], number, i == 0 ? "'" : "");
            column(w, "%s.%s", name, part);
        }
}

static void state_columns(writer *w, const carom_record *r, const carom_record_def *def) {
    for (int side = 0; side < 2; ++side) // positions, then rates
        for (int i = 0; i < r->sys->nq; ++i) {
            char number[32];
            snprintf(number, sizeof number, "q%d", i + 1);
            column(w, "%s%s", def->coordinates ? def->coordinates[i] : number, side ? "'" : "");
        }
}

static void all_columns(writer *w, const carom_record *r, const carom_record_def *def) {
    static const char *const energies[] = {"kinetic", "potential", "energy"};
    static const char *const bilateral[] = {"gap", "force", "impulse"};
    const carom_system *sys = r->sys;
    column(w, "%s%s", "t", "");
    for (int i = 0; r->model && i < r->nshown_q; ++i) column(w, "%s%s", carom_model_coordinate(r->model, r->shown_q[i]), "");
    for (int i = 0; r->model && i < r->nshown_v; ++i) column(w, "%s%s", carom_model_velocity(r->model, r->shown_v[i]), "");
    if (!r->model) state_columns(w, r, def);
    for (int i = 0; i < 3; ++i) column(w, "%s%s", energies[i], "");
    for (int c = 0; c < r->nc; ++c)
        contact_columns(w, r->constraint[sys->ne + c], &sys->contacts[c]);
    for (int id = 0; id < sys->ne; ++id)
        for (int i = 0; i < 3; ++i) bilateral_column(w, r, id, bilateral[i]);
    for (int c = 0; r->positions && c < r->nc; ++c) column(w, "%s.%s", r->constraint[sys->ne + c], "nu");
    for (int id = 0; r->positions && id < sys->ne; ++id) bilateral_column(w, r, id, "nu");
    for (int i = 0; i < r->nout; ++i) column(w, "%s%s", carom_model_output(r->model, i), "");
}

static bool name_columns(carom_record *r, const carom_record_def *def) {
    r->shown_q = malloc(sizeof *r->shown_q * ((size_t)r->sys->nq + 1));
    r->shown_v = malloc(sizeof *r->shown_v * ((size_t)r->sys->nv + 1));
    if (!r->shown_q || !r->shown_v) return false;
    for (int i = 0; i < r->sys->nq; ++i)
        if (!r->model || carom_model_recorded(r->model, i)) r->shown_q[r->nshown_q++] = i;
    for (int i = 0; i < r->sys->nv; ++i)
        if (!r->model || carom_model_velocity_recorded(r->model, i)) r->shown_v[r->nshown_v++] = i;
    writer w = {0};
    all_columns(&w, r, def);
    r->ncol = w.n;
    r->names = malloc(w.bytes);
    r->column = malloc(sizeof *r->column * (size_t)w.n);
    if (!r->names || !r->column) return false;
    w = (writer){.at = r->names, .column = r->column};
    all_columns(&w, r, def);
    return true;
}

// Reactions as they are recorded: those of joints in the joints' frames.
static const double *as_recorded(const carom_record *r, const carom_now *now, const double *x) {
    if (!r->turned) return x;
    carom_model_reactions(r->model, carom_sim_work(r->sim), now->t, now->q, now->dir, r->ndir, x, r->turned);
    return r->turned;
}

// -- fields along members ----------------------------------------------------------------------------

static const char *stress_names(int width) {
    return width == 1 ? "stress" : width == 3 ? "N V moment" : "N Vv Vw torque moment_y moment_z";
}

static bool one_field(carom_record *r, int k, carom_field kind) {
    static const char *const word[] = {"displacement", "velocity", "stress"};
    const carom_model_member b = carom_model_member_at(r->model, k);
    h5_field_def *d = &r->field[r->nfield];
    d->places = (size_t)carom_member_field_rows(b.flex, kind);
    d->width = (size_t)carom_member_field_width(b.flex, kind);
    snprintf(d->name, sizeof d->name, "%.120s.%s", b.name, word[kind]);
    if (kind == CAROM_FIELD_STRESS)
        snprintf(d->components, sizeof d->components, "%s", stress_names((int)d->width));
    else
        for (int c = 0; c < (int)d->width; ++c)
            snprintf(d->components + strlen(d->components), sizeof d->components - strlen(d->components), "%s%s", c ? " " : "",
                     carom_member_component(carom_member_kind_of(b.flex), c));
    d->place = malloc(sizeof *d->place * d->places);
    if (!d->place) return false;
    for (int i = 0; i < (int)d->places; ++i) d->place[i] = carom_member_field_place(b.flex, kind, i);
    r->field_of[r->nfield].member = k;
    r->field_of[r->nfield++].kind = kind;
    return true;
}

static bool name_fields(carom_record *r) {
    const int n = r->model ? carom_model_count(r->model).members : 0;
    r->field = calloc(3 * (size_t)n + 1, sizeof *r->field);
    r->field_of = calloc(3 * (size_t)n + 1, sizeof *r->field_of);
    bool good = r->field && r->field_of;
    for (int k = 0; k < n && good; ++k)
        for (int kind = 0; kind < 3 && good; ++kind)
            if (carom_model_member_at(r->model, k).fields >> kind & 1) good = one_field(r, k, (carom_field)kind);
    return good;
}

static carom_status put_fields(carom_record *r, const carom_now *now) {
    for (int i = 0; i < r->nfield; ++i) {
        const carom_model_member b = carom_model_member_at(r->model, r->field_of[i].member);
        double *row = h5_field_row(r->h5, i, &r->err);
        if (!row) return CAROM_IO;
        carom_member_field(b.flex, r->field_of[i].kind, now->q + b.q, now->v + b.v, row);
        CAROM_TRY(h5_field_done(r->h5, i, &r->err));
    }
    return CAROM_OK;
}

// -- rows -------------------------------------------------------------------------------------------

// Tangents of an ellipse are scaled: the slip is u/a, the force a lambda.
static double scale_of(const carom_contact *c, int i) { return c->ellipse[0] > 0 && i <= 2 ? c->ellipse[i - 1] : 1; }

static double *fill_contact(double *x, const carom_now *now, const double *gap, const double *acc, const double *u, int id, const carom_contact *c) {
    const int d = now->dir[id], tangents = c->tangents;
    if (!c->pressed) {
        *x++ = gap[id];
        *x++ = u[d];
        *x++ = now->lasting[d];
        *x++ = acc[d];
    }
    for (int i = 1; i <= tangents; ++i) *x++ = u[d + i] / scale_of(c, i);
    for (int i = 1; i <= tangents; ++i) *x++ = now->lasting[d + i] * scale_of(c, i);
    for (int i = 1; i <= tangents; ++i) *x++ = acc[d + i] * scale_of(c, i);
    return x;
}

static carom_status fill(carom_record *r, double *x, const carom_now *now, const double *impulse) {
    const carom_system *sys = r->sys;
    double energy[2], *out = x + r->ncol - r->nout; // the last columns
    void *work = carom_sim_work(r->sim);
    carom_copy(r->gap, now->gap, sys->ne + r->nc);
    if (r->extended || carom_model_row(r->model, work, now->t, now->q, now->v, energy, r->u, r->gap, out) != CAROM_OK) {
        carom_copy(r->gap, now->gap, sys->ne + r->nc);
        CAROM_TRY(carom_sim_energy(r->sim, &energy[0], &energy[1], &r->err)); // one of these tells what failed
        CAROM_TRY(carom_sim_velocities(r->sim, r->u, &r->err));
        if (r->nout > 0) carom_model_outputs(r->model, work, now->t, now->q, now->v, out);
    }
    *x++ = now->t;
    for (int i = 0; i < r->nshown_q; ++i) *x++ = now->q[r->shown_q[i]];
    for (int i = 0; i < r->nshown_v; ++i) *x++ = now->v[r->shown_v[i]];
    *x++ = energy[0];
    *x++ = energy[1];
    *x++ = energy[0] + energy[1];
    for (int c = 0; c < r->nc; ++c) x = fill_contact(x, now, r->gap, impulse, r->u, sys->ne + c, &sys->contacts[c]);
    const double *force = as_recorded(r, now, now->lasting);
    for (int id = 0; id < sys->ne; ++id) {
        *x++ = now->gap[id];
        *x++ = force[now->dir[id]];
        *x++ = impulse[now->dir[id]];
    }
    if (!r->positions) return CAROM_OK;
    for (int c = 0; c < r->nc; ++c) *x++ = now->nu[now->dir[sys->ne + c]];
    const double *nu = as_recorded(r, now, now->nu);
    for (int id = 0; id < sys->ne; ++id) *x++ = nu[now->dir[id]];
    return CAROM_OK;
}

static carom_status add_row(carom_record *r, const carom_now *now, const double *impulse) {
    double *row = r->h5 ? h5_row(r->h5, &r->err) : r->csv ? r->csv->row : memory_row(r->memory, &r->err);
    if (!row) return r->err.code;
    CAROM_TRY(fill(r, row, now, impulse));
    if (r->memory) memory_row_done(r->memory);
    else CAROM_TRY(r->h5 ? h5_row_done(r->h5, &r->err) : csv_row_done(r->csv, &r->err));
    if (r->h5) CAROM_TRY(put_fields(r, now));
    ++r->rows;
    return CAROM_OK;
}

static carom_status put_row(carom_record *r, const carom_now *now) {
    CAROM_TRY(add_row(r, now, r->acc));
    carom_zero(r->acc, r->ndir);
    r->row_step = now->step;
    return CAROM_OK;
}

// Does the step have an event at t?  Schemes also stop where nothing happens in the end: at the start, or where modes turn out to stay.
static bool happens(const carom_now *now, double t) {
    for (int i = 0; i < now->nevents; ++i)
        if (now->events[i].t == t) return true;
    return false;
}

// Both sides of the events of the step that has just succeeded.  What acted there is known of the whole step only.
static carom_status put_sides(carom_record *r, const carom_now *now) {
    const carom_system *sys = r->sys;
    carom_now at = *now;
    at.gap = r->side_gap;
    at.lasting = at.nu = r->unknown;
    for (int i = 0; i < r->sides.count; ++i) {
        at.t = r->sides.t[i];
        if (!happens(now, at.t)) continue;
        at.q = r->sides.x + (size_t)i * ((size_t)sys->nq + (size_t)sys->nv);
        at.v = at.q + sys->nq;
        if (sys->gaps && sys->gaps(sys->model, carom_sim_work(r->sim), at.t, at.q, r->side_gap) != CAROM_OK)
            return carom_fail(&r->err, CAROM_USER, "t = %.9g: the gaps beside an event are not finite", at.t);
        CAROM_TRY(add_row(r, &at, r->unknown));
    }
    sides_clear(&r->sides);
    return CAROM_OK;
}

// By how much k T may miss a step end, or a number of steps times h the time it stands for.
static double slack(const carom_record *r, double t) { return 1e-9 * fmin(r->h, r->dt_out) + 8 * DBL_EPSILON * fabs(t); }

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
    r->k = (long)fmin(floor(t / r->dt_out), 1e15); // one too few, or right, or one too many
    while ((double)r->k * r->dt_out > t) r->k -= 1;
    while ((double)r->k * r->dt_out <= t) r->k += 1;
}

static carom_status put_events(carom_record *r, const carom_now *now) {
    for (int i = 0; i < now->nevents; ++i) {
        const carom_event *e = &now->events[i];
        const char *contact = name_of(r, r->sys->ne + e->contact);
        CAROM_TRY(r->h5 ? h5_put_event(r->h5, e, contact, &r->err) : r->csv ? csv_put_event(r->csv, e, contact, &r->err)
                                                                            : memory_put_event(r->memory, e, contact, &r->err));
        ++r->events;
    }
    return CAROM_OK;
}

static carom_status put_contact(void *record, const carom_result_contact *c, carom_error *err) {
    carom_record *r = record;
    ++r->contacts;
    return r->h5 ? h5_put_contact(r->h5, c, err) : r->csv ? csv_put_contact(r->csv, c, err) : memory_put_contact(r->memory, c, err);
}

static carom_status put_snapshot(carom_record *r, const carom_now *now) {
    const long due = snapshots_due(now->t, r->snapshots, r->h);
    if (due == r->snapped) return CAROM_OK;
    r->snapped = due;
    return snapshot_take(r->model, r->sim, now, put_contact, r, &r->err);
}

static void pack(carom_record *r);

typedef struct stretch { carom_record *r; long steps, rows; } stretch; // what is left; 0: no limit

static carom_status on_step(void *user, const carom_now *now) {
    stretch *s = user;
    const long rows = s->r->rows;
    CAROM_TRY(carom_record_step(s->r, now));
    if (s->rows > 0 && s->r->rows > rows && --s->rows == 0) return CAROM_STOPPED;
    return s->steps > 0 && --s->steps == 0 ? CAROM_STOPPED : CAROM_OK;
}

carom_status carom_record_advance(carom_record *r, long steps, long rows, carom_error *err) {
    stretch s = {r, steps, rows};
    r->err.code = CAROM_OK;
    const carom_status status = carom_sim_run(r->sim, on_step, &s, err);
    if (status == CAROM_STOPPED) return CAROM_OK;
    if (status != CAROM_OK && r->err.code != CAROM_OK && err) *err = r->err;
    return status;
}

carom_status carom_record_step(void *record, const carom_now *now) {
    carom_record *r = record;
    if (now->step == r->step) return CAROM_OK; // a resumed run shows the state it starts from
    const bool first = r->step < 0;
    r->step = now->step;
    if (now->reacted && !first) {
        const double *impulse = as_recorded(r, now, now->impulse);
        for (int i = 0; i < r->ndir; ++i) r->acc[i] += impulse[i];
    }
    if (r->nwatched)
        carom_model_watch(r->model, carom_sim_work(r->sim), now->t, now->q, now->v, r->low, r->high, first);
    if (now->nevents) CAROM_TRY(put_events(r, now));
    if (r->snapshots > 0) CAROM_TRY(put_snapshot(r, now));
    if (now->reacted || r->reacted) carom_copy(r->force, now->lasting, r->ndir); // else they are zero, and were
    r->reacted = now->reacted;
    if (r->sides.count) CAROM_TRY(put_sides(r, now));
    if (due(r, now)) {
        CAROM_TRY(put_row(r, now));
        next_due(r, now);
    }
    if (!r->frozen && r->h5 && carom_sim_ending(r->sim)) { // (3)
        pack(r);
        r->frozen = true;
    }
    return CAROM_OK;
}

// -- state ------------------------------------------------------------------------------------------

static uint64_t fnv(uint64_t sum, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) sum = (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

// Of a state and of the run it belongs to: neither goes with another.
static uint64_t checksum(const carom_record *r, const unsigned char *state) {
    const size_t from = offsetof(state_head, checksum) + sizeof(uint64_t);
    return fnv(r->about, state + from, r->state_size - from);
}

// What decides how a run goes on: model, parameters, scheme, options, step.
static uint64_t about_run(const char *text, size_t length, const char *set, const char *scheme, const char *options, double step) {
    const char *const words[] = {set, scheme, options};
    uint64_t sum = fnv(UINT64_C(0xcbf29ce484222325), text ? text : "", text ? strnlen(text, length) : 0);
    for (int i = 0; i < 3; ++i) sum = fnv(sum, words[i] ? words[i] : "", (words[i] ? strlen(words[i]) : 0) + 1);
    return fnv(sum, &step, sizeof step);
}

static int doubles(const carom_record *r) {
    return r->ndir + 2 * r->nwatched;
}

// Room for a state of the simulation of so many bytes, which may grow while contacts come and go.
static bool make_room(carom_record *r, size_t bytes) {
    const size_t size = sizeof(state_head) + bytes + sizeof(double) * (size_t)doubles(r);
    if (size == r->state_size) return true;
    unsigned char *more = realloc(r->state, size);
    if (!more) return false;
    r->state = more;
    r->state_size = size;
    return true;
}

static void pack(carom_record *r) {
    size_t bytes = 0;
    const void *sim = carom_sim_state(r->sim, &bytes);
    if (!make_room(r, bytes)) return; // the last state remains
    const state_head head = {.magic = state_magic, .rows = r->rows, .events = r->events, .contacts = r->contacts, .step = r->step, .row_step = r->row_step,
                             .k = r->k, .sim_bytes = (int64_t)bytes, .doubles = doubles(r)};
    memcpy(r->state, &head, sizeof head);
    if (bytes) memcpy(r->state + sizeof head, sim, bytes);
    if (doubles(r)) memcpy(r->state + sizeof head + bytes, r->acc, sizeof(double) * (size_t)doubles(r));
}

static carom_status put_state(carom_record *r, carom_error *err) {
    if (!r->frozen) pack(r);
    state_head head;
    memcpy(&head, r->state, sizeof head);
    head.sequence = ++r->sequence;
    head.checksum = checksum(r, r->state);
    memcpy(r->state, &head, sizeof head);
    return h5_put_state(r->h5, (int)(r->sequence % 2), r->state, r->state_size, err);
}

// Slot is whole, of this model, and speaks only of rows that the file has.
static bool sound(const carom_record *r, const unsigned char *slot, state_head *head) {
    memcpy(head, slot, sizeof *head);
    return head->magic == state_magic && head->checksum == checksum(r, slot) && head->rows >= 0 && head->events >= 0 && head->contacts >= 0 && (r->snapshots == 0 || (uint64_t)head->contacts <= r->h5->contacts.base) &&
           (uint64_t)head->rows <= r->h5->data.base && (uint64_t)head->events <= r->h5->events.base && head->doubles == doubles(r) &&
           sizeof *head + (uint64_t)head->sim_bytes + sizeof(double) * (uint64_t)head->doubles == r->state_size;
}

static carom_status get_state(carom_record *r, const char *file, carom_error *err) {
    state_head best = {0}, head;
    int slot = -1;
    if (!make_room(r, r->h5->state_size - sizeof best - sizeof(double) * (size_t)doubles(r))) return carom_fail(err, CAROM_NO_MEMORY, "no memory for the state in %s", file);
    for (int i = 0; i < 2; ++i) {
        CAROM_TRY(h5_get_state(r->h5, i, r->state, err));
        if (sound(r, r->state, &head) && head.sequence > best.sequence) {
            best = head;
            slot = i;
        }
    }
    if (slot < 0) return carom_fail(err, CAROM_IO, "%s holds no state to go on from, or its model, parameters or options were changed; run the model anew", file);
    CAROM_TRY(h5_get_state(r->h5, slot, r->state, err));
    CAROM_TRY(carom_sim_restore(r->sim, r->state + sizeof best, (size_t)best.sim_bytes, err));
    if (doubles(r))
        memcpy(r->acc, r->state + sizeof best + best.sim_bytes, sizeof(double) * (size_t)doubles(r));
    r->rows = (long)best.rows;
    r->events = (long)best.events;
    r->contacts = (long)best.contacts;
    if (r->snapshots > 0) r->snapped = snapshots_due(carom_sim_now(r->sim).t, r->snapshots, r->h);
    r->step = (long)best.step;
    r->row_step = (long)best.row_step;
    r->k = (long)best.k;
    r->sequence = best.sequence;
    r->next = r->every > 0 ? (r->step / r->every + 1) * r->every : 0;
    r->reacted = true;
    if (r->ndir) carom_copy(r->force, carom_sim_now(r->sim).lasting, r->ndir);
    return h5_cut(r->h5, (hsize_t)best.rows, (hsize_t)best.events, (hsize_t)best.contacts, err);
}

// -- /run -------------------------------------------------------------------------------------------

// A list as one text, a line each.
static char *join(const char *const *list) {
    size_t size = 1;
    for (int i = 0; list && list[i]; ++i) size += strlen(list[i]) + 1;
    char *text = calloc(1, size), *at = text;
    for (int i = 0; text && list && list[i]; ++i) {
        if (i) *at++ = '\n';
        for (const char *s = list[i]; *s; ++s) *at++ = *s == '\n' ? ' ' : *s; // to an expression it is the same
    }
    return text;
}

// Texts that change later have room to.
static bool put_text(carom_record *r, const char *name, const char *text, size_t room) {
    return r->h5 ? h5_put_text(r->h5->run, name, text, room > 0 ? room : strlen(text)) : memory_put_text(r->memory, name, text);
}

static bool put_real(carom_record *r, const char *name, double x) {
    return r->h5 ? h5_put_real(r->h5->run, name, x) : memory_put_real(r->memory, name, x);
}

static bool put_integer(carom_record *r, const char *name, long x) {
    return r->h5 ? h5_put_integer(r->h5->run, name, x) : memory_put_real(r->memory, name, (double)x);
}

static bool put_list(carom_record *r, const char *name, const char *const *list) {
    char *text = join(list);
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
    const carom_status status = put_text(r, "choice", text, CHOICE) ? CAROM_OK : h5_fail(err, "cannot write the choices of the scheme");
    h5_hush_end(&h);
    return status;
}

static bool take_about(carom_record *r, const carom_record_def *def) {
    char *set = join(def->set), *options = join(def->options);
    const bool good = set && options;
    if (good) r->about = about_run(def->text, def->length, set, carom_sim_scheme(r->sim)->name, options, def->step);
    free(set);
    free(options);
    return good;
}

static carom_status put_run(carom_record *r, const carom_record_def *def, carom_error *err) {
    if (!take_about(r, def)) return carom_fail(err, CAROM_NO_MEMORY, "no memory");
    char options[4096] = "", started[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    carom_sim_options_text(r->sim, options, sizeof options);
    const char *file = def->model_file ? def->model_file : "", *name = r->model ? carom_model_name(r->model) : NULL;
    const char *scheme = carom_sim_scheme(r->sim)->name;
    h5_hush h;
    h5_hush_begin(&h);
    const bool good = put_text(r, "name", name ? name : "", 0) && put_text(r, "model_file", file, 0) && put_text(r, "scheme", scheme, 0) &&
                      put_text(r, "options", options, 0) && put_list(r, "options_given", def->options) && put_list(r, "set", def->set) &&
                      put_real(r, "step", def->step) && put_real(r, "end", def->end) && put_integer(r, "every", r->every) &&
                      put_real(r, "dt_out", r->dt_out) && put_integer(r, "event_rows", r->event_rows) && put_text(r, "version", CAROM_VERSION, 0) &&
                      put_text(r, "started", started, 0) && put_real(r, "wall", 0) && put_text(r, "status", "running", 16) &&
                      put_text(r, "message", "", 960) && put_text(r, "choice", "", CHOICE);
    const carom_status status = good ? CAROM_OK : h5_fail(err, "cannot write %s", def->file ? def->file : "what the run is about");
    h5_hush_end(&h);
    return status;
}

static carom_status put_end(carom_record *r, const char *word, const char *why, double wall, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    const bool good = put_text(r, "status", word, 16) && put_text(r, "message", why ? why : "", 960) && put_real(r, "wall", wall) &&
                      put_real(r, "end", r->end);
    const carom_status status = good ? CAROM_OK : h5_fail(err, "cannot write %s", r->h5 ? r->h5->name : "how the run ended");
    h5_hush_end(&h);
    return status;
}

// -- life -------------------------------------------------------------------------------------------

static bool ends(const char *text, const char *ending) {
    const size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

static carom_record *blank(const carom_record_def *def, carom_error *err) {
    if (!def || !def->sim || (!def->file && !def->stream && !def->memory) || (def->length > 0 && !def->text))
        return carom_fail(err, CAROM_BAD_INPUT, "a record needs a simulation and a place: file, stream or memory"), NULL;
    if (def->event_rows && !carom_sim_scheme(def->sim)->tells)
        return carom_fail(err, CAROM_BAD_INPUT, "%s does not locate events, so there are no rows beside them; event-driven, mixed and auto do", carom_sim_scheme(def->sim)->name), NULL;
    if (def->event_rows && (!def->model || carom_sim_system(def->sim)->model != def->model))
        return carom_fail(err, CAROM_BAD_INPUT, "rows beside events are not supported for models to which a program has added functions"), NULL;
    if (!(def->step > 0 && def->end > 0 && def->every >= 0 && def->dt_out >= 0) || (def->dt_out > 0 && def->end / def->dt_out > 1e15))
        return carom_fail(err, CAROM_BAD_INPUT, "a record needs a step and an end, and rows neither before the start nor more than 1e15"), NULL;
    carom_record *r = calloc(1, sizeof *r);
    if (!r) {
        carom_fail(err, CAROM_NO_MEMORY, "no memory for a recorder");
        return NULL;
    }
    r->model = def->model;
    r->sim = def->sim;
    r->positions = carom_sim_now(def->sim).nu != NULL;
    r->sys = carom_sim_system(def->sim);
    r->extended = !def->model || r->sys->model != def->model; // the simulation may have a copy of the model's
    r->nc = r->extended ? r->sys->nc - r->sys->listed : carom_model_shown(def->model);
    r->snapshots = r->extended ? 0 : carom_model_snapshots(def->model);
    r->h = def->step;
    r->end = def->end;
    r->every = def->every;
    r->dt_out = def->dt_out;
    r->event_rows = def->event_rows;
    r->sides = (sides){.nq = r->sys->nq, .nv = r->sys->nv};
    r->nout = def->model ? carom_model_count(def->model).outputs : 0;
    r->nwatched = def->model ? carom_model_watched(def->model) : 0;
    const int own = r->sys->nc - r->sys->listed;
    int rates = 0;
    for (int id = 0; id < r->sys->ne + own; ++id) {
        if (id < r->sys->ne + r->nc) r->ndir += carom_system_recorded(r->sys, id);
        rates += carom_system_recorded(r->sys, id);
    }
    r->step = r->row_step = -1;
    size_t bytes = 0;
    carom_sim_state(r->sim, &bytes);
    r->state_size = sizeof(state_head) + bytes + sizeof(double) * (size_t)doubles(r);
    r->state = calloc(1, r->state_size);
    r->acc = calloc((size_t)doubles(r) + 1, sizeof(double));
    r->u = calloc((size_t)rates + 1, sizeof(double)); // of all of the model's, whatever is shown
    r->gap = calloc((size_t)(r->sys->ne + own) + 1, sizeof(double));
    r->force = calloc((size_t)r->ndir + 1, sizeof(double));
    r->side_gap = calloc((size_t)(r->sys->ne + r->sys->nc) + 1, sizeof(double));
    r->unknown = calloc((size_t)r->ndir + 1, sizeof(double));
    const bool turned = r->model && carom_model_turned(r->model);
    r->turned = turned ? calloc((size_t)r->ndir + 1, sizeof(double)) : NULL;
    if (!r->state || !r->acc || !r->u || !r->gap || !r->force || !r->side_gap || !r->unknown || (turned && !r->turned) || !name_constraints(r, def) || !name_columns(r, def) ||
        !name_fields(r)) {
        carom_fail(err, CAROM_NO_MEMORY, "no memory for a recorder");
        carom_record_destroy(r);
        return NULL;
    }
    for (int i = 0; i < r->ndir; ++i) r->unknown[i] = NAN;
    if (r->event_rows) carom_sim_watch_events(r->sim, sides_add, &r->sides);
    r->low = r->acc + r->ndir;
    r->high = r->low + r->nwatched;
    const bool adaptive = carom_sim_total_steps(r->sim) == 0, located = carom_sim_scheme(r->sim)->tells;
    if (adaptive && r->every <= 0 && !(r->dt_out > 0)) r->dt_out = r->end / ROWS_BY_DEFAULT;
    carom_sim_stop_at(r->sim, r->dt_out); // where it can, steps end on the rows
    if (!adaptive && !located && r->dt_out > 0 && r->dt_out <= r->h) { // every step end is the first after some k dt_out
        r->dt_out = 0;
        r->every = 1;
    }
    if (r->every <= 0 && !(r->dt_out > 0)) {
        const long total = carom_sim_total_steps(r->sim);
        r->every = total > ROWS_BY_DEFAULT ? (total + ROWS_BY_DEFAULT / 2) / ROWS_BY_DEFAULT : 1;
    }
    return r;
}

// Rows to expect, the last one included.
static long expected(const carom_record *r) {
    const double rows = r->dt_out > 0 ? r->end / r->dt_out : (double)carom_sim_total_steps(r->sim) / (double)r->every;
    return rows < 1e9 ? (long)rows + 2 : 1000000000;
}

static h5_def file_def(const carom_record *r, const carom_record_def *def) {
    size_t longest = 1;
    for (int c = 0; c < r->nc; ++c) {
        const size_t length = strlen(r->constraint[r->sys->ne + c]);
        if (length > longest) longest = length;
    }
    if (r->sys->list) longest = NEAR_NAMES;
    int nmatrices = 0;
    const carom_matrix_text *matrices = r->model ? carom_model_matrices(r->model, &nmatrices) : NULL;
    return (h5_def){.file = def->file, .matrices = matrices, .nmatrices = nmatrices, .columns = (size_t)r->ncol, .column = r->column, .rows = expected(r),
                    .contact_size = longest, .field = r->field, .nfield = r->nfield, .text = def->text, .length = def->length, .state_size = r->state_size, .snapshots = r->snapshots > 0, .grows = r->sys->list != NULL};
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
    return h5_publish(r->h5, !def->replace, err);
}

carom_record *carom_record_create(const carom_record_def *def, carom_error *err) {
    carom_record *r = blank(def, err);
    if (!r) return NULL;
    if (def->memory) {
        r->memory = memory_create(r->ncol, r->column, expected(r), def->text, def->length, err);
    } else if (!def->file || ends(def->file, ".csv")) {
        r->csv = csv_create(def->file, !def->replace, def->stream, r->ncol, r->column, r->snapshots > 0, err);
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

// What the file says of itself.  The state was saved inside a run; the time that took stands in the ledger of the file.
static carom_status recall(carom_record *r, const char *file, carom_ledger *l, bool *known, carom_error *err) {
    carom_ledger_names names;
    carom_result *old = carom_result_open(file, err);
    if (!old) return CAROM_IO;
    size_t length = 0;
    double step = NAN;
    const char *text = carom_result_model(old, &length), *version = carom_result_text(old, "version");
    carom_status status = CAROM_OK;
    *known = carom_result_ledger(old, l, &names) && l->seconds >= 0 && l->wall >= 0;
    carom_result_number(old, "step", &step);
    r->about = about_run(text, length, carom_result_text(old, "set"), carom_result_text(old, "scheme"), carom_result_text(old, "options_given"), step);
    if (!version || strcmp(version, CAROM_VERSION) != 0)
        status = carom_fail(err, CAROM_BAD_INPUT, "%s was computed by carom %s, this is %s, which may round differently; run the model anew", file,
                            version ? version : "of another time", CAROM_VERSION);
    carom_result_close(old);
    return status;
}

static carom_status go_on(carom_record *r, const carom_record_def *def, const carom_ledger *before, carom_error *err) {
    double every = 0, dt_out = 0, step = 0, event_rows = 0;
    h5_hush h;
    h5_hush_begin(&h);
    const bool good = number(r->h5->run, "every", &every) && number(r->h5->run, "dt_out", &dt_out) && number(r->h5->run, "step", &step) &&
                      every >= 0 && every < 9e18 && (dt_out > 0 ? isfinite(dt_out) : dt_out == 0 && every >= 1);
    h5_hush_end(&h);
    if (!good) return carom_fail(err, CAROM_IO, "%s is damaged: /run does not say when rows are due", def->file);
    if (step != def->step)
        return carom_fail(err, CAROM_BAD_INPUT, "%s was computed with step %.17g, not %.17g; leave --step out", def->file, step, def->step);
    r->every = (long)every;
    r->dt_out = dt_out;
    r->event_rows = number(r->h5->run, "event_rows", &event_rows) && event_rows == 1; // a file without it has none
    carom_sim_watch_events(r->sim, r->event_rows ? sides_add : NULL, &r->sides);
    carom_sim_stop_at(r->sim, dt_out);
    CAROM_TRY(get_state(r, def->file, err));
    if (before) carom_sim_spent(r->sim, before->seconds, before->wall);
    CAROM_TRY(put_end(r, "running", NULL, 0, err));
    return carom_record_flush(r, err);
}

carom_record *carom_record_resume(const carom_record_def *def, carom_error *err) {
    carom_record *r = def && !def->file ? carom_fail(err, CAROM_BAD_INPUT, "only a file can be continued"), NULL : blank(def, err);
    if (!r) return NULL;
    const h5_def file = file_def(r, def);
    carom_ledger before;
    bool known = false;
    if (recall(r, def->file, &before, &known, err) == CAROM_OK) r->h5 = h5_reopen(&file, err);
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
    if (status == CAROM_OK) status = put_state(r, &mine);
    if (status == CAROM_OK) status = h5_put_ledger(r->h5, ledger, ledger_names(r, ledger), &mine);
    if (status == CAROM_OK) status = h5_flush(r->h5, &mine);
    if (status != CAROM_OK) {
        h5_give_up(r->h5, &mine);
        if (err) *err = mine;
    }
    return status;
}

carom_status carom_record_flush(carom_record *r, carom_error *err) {
    carom_ledger ledger;
    if (r->csv) CAROM_TRY(csv_flush(r->csv, err));
    if (!r->csv) CAROM_TRY(carom_sim_ledger(r->sim, &ledger, err));
    if (r->h5) CAROM_TRY(put_moment(r, &ledger, err));
    r->saved = carom_sim_now(r->sim).t;
    if (!r->memory) return CAROM_OK;
    CAROM_TRY(put_choice(r, err));
    return memory_put_ledger(r->memory, &ledger, ledger_names(r, &ledger), err);
}

// Everything that is not in the result yet; what fails first counts, the rest is tried all the same.
static carom_status put_rest(carom_record *r, const char *status, const char *why, carom_error *err) {
    carom_now now = carom_sim_now(r->sim);
    carom_status result = CAROM_OK;
    now.lasting = r->force; // a step that failed has left its own
    if (r->h5 && !r->frozen) { // (2)
        if (strcmp(status, "failed") != 0) pack(r); // after a failure the state of the last flush is the sound one
        r->frozen = true;
    }
    if (now.step != r->row_step && now.step == r->step) {
        result = put_row(r, &now);
        if (result != CAROM_OK && err) *err = r->err;
    }
    // A system that fails may have no energies any more, and so neither last row nor ledger: the rest is saved all the same.
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
    carom_status result = CAROM_OK, closed = CAROM_OK;
    if (r->h5 && r->h5->broken.code != CAROM_OK) result = h5_flush(r->h5, err); // says why; the file ends with the last flush
    else result = put_rest(r, status, why, err);
    if (result == CAROM_OK && strcmp(status, "done") == 0) {
        if (r->h5) publish_for_good(r->h5->name);
        if (r->csv) csv_for_good(r->csv);
    }
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
    free(r->shown_q);
    free(r->shown_v);
    carom_result_close(r->memory);
    for (int id = 0; r->constraint && id < r->sys->ne + r->nc; ++id) free(r->constraint[id]);
    free(r->constraint);
    free(r->names);
    free(r->column);
    free(r->state);
    free(r->acc);
    free(r->u);
    free(r->gap);
    free(r->side_gap);
    free(r->unknown);
    sides_free(&r->sides);
    free(r->force);
    free(r->turned);
    free(r);
}

const carom_error *carom_record_error(const carom_record *r) {
    return &r->err;
}

void carom_record_extremes(const carom_record *r, const double **low, const double **high) {
    *low = r->low;
    *high = r->high;
}

carom_status carom_record_ledger(carom_record *r, carom_ledger *l, carom_ledger_names *names, carom_error *err) {
    CAROM_TRY(carom_sim_ledger(r->sim, l, err));
    *names = ledger_names(r, l);
    return CAROM_OK;
}

bool carom_record_check(carom_record *r, int i, const char **text, double *left, double *right, carom_error *err) {
    carom_ledger l;
    if (carom_sim_ledger(r->sim, &l, err) != CAROM_OK) return false;
    const carom_now now = carom_sim_now(r->sim);
    return carom_model_check(r->model, i, r->low, r->high, &l, carom_sim_work(r->sim), now.t, now.q, now.v, text, left, right);
}

const double *carom_record_row(const carom_record *r, long i) {
    return r->memory && i >= 0 && i < r->rows ? carom_result_values(r->memory) + (size_t)i * (size_t)r->ncol : NULL;
}

carom_result *carom_record_result(carom_record *r, carom_error *err) {
    carom_result *result = r->memory;
    if (!result) carom_fail(err, CAROM_BAD_INPUT, "this record is not in memory, or its result was taken already");
    r->memory = NULL;
    return result;
}

int carom_record_columns(const carom_record *r) {
    return r->ncol;
}

const char *carom_record_column(const carom_record *r, int i) {
    return i >= 0 && i < r->ncol ? r->column[i] : NULL;
}

double carom_record_saved(const carom_record *r) {
    return r->saved;
}

long carom_record_rows(const carom_record *r) {
    return r->rows;
}
