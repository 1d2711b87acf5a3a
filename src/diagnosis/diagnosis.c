// diagnosis.c: the observer of a run.
#include "diagnosis/diagnosis.h"

static bool why_it_failed(const carom_sim *sim, char *text, size_t size) {
    return carom_diagnosis_massless(sim, text, size) || carom_diagnosis_discontinuity(sim, false, text, size);
}

static bool why_it_toils(const carom_sim *sim, char *text, size_t size) {
    return carom_diagnosis_toils(sim, &sim->kept->ledger) && carom_diagnosis_discontinuity(sim, true, text, size);
}

const carom_observer carom_diagnosis = {.after_step = carom_diagnosis_after_step,
                                        .after_list = carom_diagnosis_after_list,
                                        .after_forces = carom_diagnosis_after_forces,
                                        .impulses_size = carom_diagnosis_impulses_size,
                                        .after_impacts = carom_diagnosis_after_impacts,
                                        .why_it_failed = why_it_failed,
                                        .why_it_toils = why_it_toils};
