// warned.h: a run and the warnings of its ledger.
#pragma once
#include "model/answers.h"
#include "model_text.h"
#include "sim/sim.h"
#include <carom/run.h>

static int run_to_end(const char *text, const char *scheme, const char *option, double h, double end,
                      carom_warning *list, carom_ledger *l) {
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme, (const char *const[]){option, NULL}, h, end);
    d.name_user = m;
    d.size = (double (*)(const void *, long long))carom_model_contact_size;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    model_sim_run(sim);
    assert_int_equal(carom_sim_ledger(sim, l, &err), CAROM_OK);
    const int n = carom_sim_warnings(sim, l, list);
    for (int i = 0; i < n; ++i) {
        assert_null(list[i].name); // none was given
        assert_true(strlen(list[i].text) > 40 && strlen(list[i].text) < sizeof list[i].text - 1);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return n;
}

static const carom_warning *find(const carom_warning *list, int n, const char *kind) {
    for (int i = 0; i < n; ++i)
        if (strcmp(list[i].kind, kind) == 0) return list + i;
    return NULL;
}
