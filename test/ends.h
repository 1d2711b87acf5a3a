// ends.h: a run of a model by a scheme, and what coordinates, velocities and outputs are at its end.
#pragma once
#include "model_text.h"
#include "schemes.h"

enum { MOST_ENDS = 8 };
typedef struct end { double x[MOST_ENDS]; carom_ledger ledger; } end;

static inline double value(const carom_model *m, carom_sim *sim, const carom_now *now, const char *name) {
    const carom_system *sys = carom_model_system(m);
    for (int i = 0; i < sys->nq; ++i)
        if (strcmp(carom_model_coordinate(m, i), name) == 0) return now->q[i];
    for (int i = 0; i < sys->nv; ++i)
        if (strcmp(carom_model_velocity(m, i), name) == 0) return now->v[i];
    double out[64];
    assert_in_range(carom_model_count(m).outputs, 0, 64);
    carom_model_outputs(m, carom_sim_work(sim), now->t, now->q, now->v, out);
    for (int i = 0; i < carom_model_count(m).outputs; ++i)
        if (strcmp(carom_model_output(m, i), name) == 0) return out[i];
    fail_msg("there is no '%s'", name);
    return NAN;
}

// At the end the values of the names, which end with NULL.
static inline end run(const char *text, const char *scheme, double h, double t_end, const char *const *names) {
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, h, t_end);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    end e = {.ledger = sim_ledger(sim)};
    for (int i = 0; names[i]; ++i) e.x[i] = value(m, sim, &now, names[i]);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return e;
}
#define NAMES(...) (const char *const[]){__VA_ARGS__, NULL}

/// A tolerance for schemes that locate events, and one for the others.
static inline double fine(const carom_scheme *s, double located, double others) {
    return s->emits_events ? located : others;
}
