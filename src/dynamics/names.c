// names.c: values of a parameter, in the words of sweeps.
#include "dynamics/dynamics.h"
#include "dynamics/names.h"
#include "sweep/sweep.h"

carom_status carom_vary_of(carom_vary *v, const carom_model *m, const char *text, carom_error *err) {
    if (v) *v = (carom_vary){0};
    if (!v || !m || !text)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "values of a parameter need a model, a text and a result pointer");
    const carom_system *sys = carom_model_system(m);
    carom_sweep words = {.model = (carom_model *)(size_t)m, .nq = sys->nq, .nv = sys->nv}; // it is only read
    varied of = {.name = NULL};
    carom_status status = carom_vary_read(&words, &of, text, err);
    if (status == CAROM_OK && of.kind != VARY_PARAMETER)
        status = carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is not a parameter of the model", of.name);
    *v = (carom_vary){0};
    if (status == CAROM_OK) {
        *v = (carom_vary){of.name, of.n, of.value};
        of.name = NULL, of.value = NULL;
    }
    carom_vary_free(&of);
    return status;
}

void carom_vary_drop(carom_vary *v) {
    if (!v) return;
    varied of = {.name = v->name, .value = v->value};
    carom_vary_free(&of);
    *v = (carom_vary){0};
}
