// mechanisms.h: for tests of bodies and joints: runs, energies, names, and what `carom check` finds.
#pragma once
#include "model_text.h"

static inline carom_sim *start(const carom_model *m, const char *scheme, const char *option, double h, double end) {
    return model_sim(m, scheme, (const char *const[]){option, NULL}, h, end);
}

static inline double energy(carom_sim *sim) {
    carom_error err;
    double T = 0, V = 0;
    assert_int_equal(carom_sim_energy(sim, &T, &V, &err), CAROM_OK);
    return T + V;
}

static inline int position(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_count(m).coordinates; ++i)
        if (strcmp(carom_model_coordinate(m, i), name) == 0) return i;
    fail_msg("no position %s", name);
    return -1;
}

typedef struct findings { int faults, freedom; char redundant[100]; } findings;

static inline void note(void *user, carom_finding kind, const char *sentence) {
    findings *f = user;
    if (kind == CAROM_FAULT) print_message("    %s\n", sentence), ++f->faults;
    sscanf(sentence, "%d degree", &f->freedom);
    sscanf(sentence, "joint '%99[^']' says", f->redundant);
}

static inline findings examine(const carom_model *m) {
    findings f = {.freedom = -1};
    carom_error err;
    carom_model_examine(m, note, &f, &err);
    return f;
}
