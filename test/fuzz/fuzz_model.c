// fuzz_model.c: any text is a model or a sentence; a model can be looked at and stepped.
#include "fuzz.h"
#include <carom/carom.h>
#include <carom/event.h>
#include <math.h>

enum { SMALL = 40 };

static void step(const carom_model *m, const char *scheme) {
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.schemes = carom_schemes(), d.scheme = scheme;
    d.h = 1e-2, d.t_end = 5e-2, d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    PROMISE(sim || strlen(err.text) > 5, "no reason for no simulation");
    while (sim && !carom_sim_done(sim))
        if (carom_sim_step(sim, &err) != CAROM_OK) {
            PROMISE(strlen(err.text) > 5, "no reason for a failed step");
            break;
        }
    for (int i = 0; sim && i < d.system->nv; ++i)
        PROMISE(isfinite(carom_sim_now(sim).v[i]), "rate %d is not finite", i);
    carom_ledger l;
    carom_warning list[CAROM_WARNINGS];
    if (sim && carom_sim_ledger(sim, &l, &err) == CAROM_OK) carom_sim_warnings(sim, &l, list);
    carom_sim_destroy(sim);
}

static void tell(void *user, carom_finding kind, const char *sentence) {
    (void)user, (void)kind;
    PROMISE(strlen(sentence) > 5, "an empty finding");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    carom_error err = {0};
    if (size > 4096) return 0;
    carom_model *m =
        carom_model_create(&(carom_model_def){.text = (const char *)data, .length = size, .file = "fuzz.yaml"}, &err);
    PROMISE(m || strlen(err.text) > 10, "refused without a reason");
    if (m && carom_model_system(m)->nv <= SMALL && carom_model_system(m)->ne + carom_model_system(m)->nc <= SMALL) {
        carom_model_examine(m, tell, NULL, &err);
        step(m, "half-explicit");
        step(m, "moreau-jean");
    }
    carom_model_destroy(m);
    return 0;
}
