// unit_step.c: steps of an importer, and states that it keeps.
#include "base/tolerance.h"
#include "fmu/unit_data.h"
#include "sim/inspect.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// -- steps ------------------------------------------------------------------------------------------------------------

static void note_events(const fmu_unit *u, const carom_now *now) {
    static const char *const words[] = {
        [CAROM_IMPACT] = "impact", [CAROM_CLOSE] = "close", [CAROM_OPEN] = "open",
        [CAROM_STICK] = "stick",   [CAROM_SLIP] = "slip",   [CAROM_ACCUMULATION] = "accumulation"};
    for (int i = 0; i < now->nevents && u->def.notes; ++i) {
        const carom_event *e = &now->events[i];
        carom_fmu_say(u, FMU_NOTE, "t = %.9g: %s at '%s'", e->t, words[e->kind],
                      carom_model_constraint(u->model, carom_sim_system(u->sim)->ne + e->contact));
    }
}

static double own_step(const fmu_unit *u) { return u->given[1] ? u->value[1] : u->bundle.step; }

// Rounding of the importer's own sums of steps is forgiven.
static const char *wrong(const fmu_unit *u, const fmu_step *s, double t) {
    static const double MOST_STEPS = 1e9; // an hour and more: a mistake, or an importer that asks how far the FMU can
                                          // go
    if (!isfinite(s->t) || !isfinite(s->h) || !(s->h > 0))
        return "the time must be finite and the length of the step positive";
    if (s->h > MOST_STEPS * own_step(u)) return "the step has more than 1e9 steps of the FMU; shorten it";
    if (t + s->h == t) return "the step is too short to change the time";
    static const double NEAR = 1e-6; // of the step: importers add up times in their own way
    // chosen: importers add up steps, and round otherwise
    if (fabs(s->t - t) > NEAR * s->h + 64 * DBL_EPSILON * fabs(t)) return "this is not where the last step ended";
    if (s->t + s->h > u->stop * (1 + CAROM_INSTANT) + CAROM_INSTANT * s->h) return "the step goes beyond the stop time";
    return NULL;
}

static fmu_level advance(fmu_unit *u, fmu_step *s, double h) {
    double end = s->last + s->h, until;
    carom_error err = {.code = CAROM_OK};
    // 8: instants that are reckoned in two ways
    while (end - s->last > CAROM_INSTANT * h + 8 * DBL_EPSILON * fabs(end)) {
        if (carom_sim_step_until(u->sim, end, &err) != CAROM_OK) {
            carom_fmu_say(u, err.code == CAROM_UNSUPPORTED ? FMU_WRONG : FMU_DISCARD, "%s", err.text);
            return FMU_DISCARD;
        }
        const carom_now now = carom_sim_now(u->sim);
        carom_fmu_add_impulses(u, &now);
        note_events(u, &now);
        u->fresh = false;
        s->last = now.t;
        s->event = s->event || now.nevents > 0;
        // 8: as above
        s->returned = end - s->last > CAROM_INSTANT * h + 8 * DBL_EPSILON * fabs(end);
        if (s->between) {
            u->mode = FMU_INTERMEDIATE;
            const bool earlier = s->between(s->user, now.t, &until);
            u->mode = FMU_STEPPING;
            if (earlier && until <= now.t) return FMU_NOTE;
            if (earlier && until < end) end = until, s->returned = true;
        }
        if (s->early && now.nevents > 0) return FMU_NOTE;
    }
    return FMU_NOTE;
}

fmu_level carom_fmu_step(fmu_unit *u, fmu_step *s) {
    carom_error err = {.code = CAROM_OK};
    s->event = s->returned = false;
    s->last = carom_fmu_time(u);
    if (!carom_fmu_allowed(u, FMU_STEPPING, "doStep")) return FMU_WRONG;
    const char *what = wrong(u, s, s->last);
    if (what) {
        carom_fmu_say(u, FMU_WRONG, "doStep from %.17g over %.17g: %s (the FMU is at %.17g)", s->t, s->h, what,
                      s->last);
        return FMU_WRONG;
    }
    if (carom_fmu_prepare(u, &err) != CAROM_OK) {
        carom_fmu_say(u, FMU_WRONG, "%s", err.text);
        return FMU_WRONG;
    }
    memset(u->impulse, 0, (size_t)u->sums * sizeof *u->impulse);
    u->fresh = false;
    const double until = s->last + s->h;
    const fmu_level level = advance(u, s, own_step(u));
    if (level != FMU_NOTE) u->mode = FMU_FAILED;
    s->returned = s->returned && s->last < until;
    return level;
}

// -- states -----------------------------------------------------------------------------------------------------------

typedef struct head {
    uint64_t magic, about, size, sum; // sum: over all that follows
    uint64_t sim_bytes;               // 0: there is no simulation yet
    int32_t mode, n, nsums, unused;
    double start, stop;
} head; // then n values, nsums impulses, n flags, the state of the simulation

static const uint64_t MAGIC = UINT64_C(0x326d66206d6f7263); // "crom fm2" on a machine of this byte order

static uint64_t sum_of(const head *h) {
    const unsigned char *at = (const unsigned char *)&h->sim_bytes, *end = (const unsigned char *)h + h->size;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (; at < end; ++at) sum = (sum ^ *at) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t size_for(uint64_t n, uint64_t nsums, uint64_t sim_bytes) {
    return sizeof(head) + (n + nsums) * sizeof(double) + n + sim_bytes;
}

static unsigned char *values_of(const head *h) { return (unsigned char *)h + sizeof *h; }
static unsigned char *impulses_of(const head *h) { return values_of(h) + (size_t)h->n * sizeof(double); }
static unsigned char *flags_of(const head *h) { return impulses_of(h) + (size_t)h->nsums * sizeof(double); }
static unsigned char *sim_of(const head *h) { return flags_of(h) + h->n; }

static void *fail(const fmu_unit *u, const char *what) {
    carom_fmu_say(u, FMU_WRONG, "%s", what);
    return NULL;
}

size_t carom_fmu_state_size(const void *state) { return (size_t)((const head *)state)->size; }

void *carom_fmu_save(fmu_unit *u) {
    carom_error err = {.code = CAROM_OK};
    const bool begun = u->mode & ~(unsigned)(FMU_INSTANTIATED | FMU_INITIALIZING);
    if (!carom_fmu_allowed(u, ~(unsigned)FMU_INTERMEDIATE, "getFMUState")) return NULL;
    if (begun && carom_fmu_prepare(u, &err) != CAROM_OK) return fail(u, err.text);
    size_t bytes = 0;
    const void *sim = begun ? carom_sim_state(u->sim, &bytes) : NULL;
    const int n = u->variables.n, nsums = begun ? u->sums : 0;
    const size_t size = (size_t)size_for((uint64_t)n, (uint64_t)nsums, bytes);
    head *h = calloc(1, size);
    if (!h) return fail(u, "not enough memory for a state");
    *h = (head){.magic = MAGIC,
                .about = u->about,
                .size = size,
                .sim_bytes = bytes,
                .mode = (int32_t)u->mode,
                .n = n,
                .nsums = nsums,
                .start = u->start,
                .stop = u->stop};
    for (int i = 0; i < n; ++i) {
        const double x = u->given[i] ? u->value[i] : 0;
        memcpy(values_of(h) + (size_t)i * sizeof x, &x, sizeof x);
        flags_of(h)[i] = u->given[i];
    }
    if (nsums) memcpy(impulses_of(h), u->impulse, (size_t)nsums * sizeof(double));
    if (bytes) memcpy(sim_of(h), sim, bytes);
    h->sum = sum_of(h);
    return h;
}

static bool sound(const fmu_unit *u, const head *h) {
    static const int32_t modes[] = {FMU_INSTANTIATED, FMU_INITIALIZING, FMU_STEPPING,
                                    FMU_EVENT,        FMU_FAILED,       FMU_TERMINATED};
    bool mode = false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) mode = mode || h->mode == modes[i];
    return mode && h->magic == MAGIC && h->about == u->about && h->n == u->variables.n && h->nsums >= 0 &&
           (h->sim_bytes > 0) == (h->mode >= FMU_STEPPING) && h->sim_bytes <= h->size &&
           h->size == size_for((uint64_t)h->n, (uint64_t)h->nsums, h->sim_bytes) && h->sum == sum_of(h);
}

bool carom_fmu_restore(fmu_unit *u, const void *state) {
    const head *h = state;
    carom_error err = {.code = CAROM_OK};
    if (!carom_fmu_allowed(u, ~(unsigned)FMU_INTERMEDIATE, "setFMUState")) return false;
    if (!h || !sound(u, h)) return fail(u, "this is not a state of this FMU"), false;
    for (int i = 0; i < h->n; ++i) {
        double x;
        memcpy(&x, values_of(h) + (size_t)i * sizeof x, sizeof x);
        const bool given = flags_of(h)[i];
        const bool other = given != u->given[i] || (given && memcmp(&x, &u->value[i], sizeof x) != 0);
        // signals are in the state of the simulation
        if (other && u->variables.list[i].kind != FMU_SIGNAL) u->stale = true;
        u->given[i] = given;
        u->value[i] = x;
    }
    u->stale = u->stale || h->start != u->start || !h->sim_bytes;
    u->start = h->start;
    u->stop = h->stop;
    u->mode = FMU_INITIALIZING; // a model of other settings is made from the start
    if (h->sim_bytes &&
        (carom_fmu_prepare(u, &err) != CAROM_OK ||
         carom_sim_restore(u->sim, sim_of(h), (size_t)h->sim_bytes, &err) != CAROM_OK || h->nsums != u->sums))
        return fail(u, err.code != CAROM_OK ? err.text : "this is not a state of this FMU"), false;
    if (h->nsums) memcpy(u->impulse, impulses_of(h), (size_t)h->nsums * sizeof(double));
    u->mode = (fmu_mode)h->mode;
    u->fresh = false;
    return true;
}

void *carom_fmu_state_of(const fmu_unit *u, const void *bytes, size_t size) {
    head h;
    if (!bytes || size < sizeof h) return fail(u, "this is not a state of this FMU");
    memcpy(&h, bytes, sizeof h);
    if (h.size != size) return fail(u, "this is not a state of this FMU");
    head *own = malloc(size);
    if (!own) return fail(u, "not enough memory for a state");
    memcpy(own, bytes, size);
    if (sound(u, own)) return own;
    free(own);
    return fail(u, "this is not a state of this FMU");
}
