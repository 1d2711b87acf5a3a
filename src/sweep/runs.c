// runs.c: the runs of a sweep: how many, what is varied and observed, and the values of each.
#include "sweep/shards.h"
#include "sweep/sweep.h"

long carom_sweep_runs(const carom_sweep *s) { return s ? s->runs : 0; }
const char *carom_sweep_vary_name(const carom_sweep *s, int i) { return s ? s->vary[i].name : NULL; }
const char *carom_sweep_observe_text(const carom_sweep *s, int i) { return s ? s->observe[i] : NULL; }
int carom_sweep_state(const carom_sweep *s) {
    if (!s) return 0;
    return s->nq + s->nv + (s->def.follow == CAROM_FOLLOW_NONE ? 0 : carom_model_system(s->model)->signals->ni + 2);
}
long carom_sweep_alone(const carom_sweep *s) {
    if (!s) return 0;
    return s->lanes ? atomic_load(&((carom_sweep *)s)->alone) : -1;
}

int carom_sweep_values(const carom_sweep *s, long run, double *value) {
    if (!s || !value) return 0;
    const long chain = run / carom_sweep_chain(s), place = run % carom_sweep_chain(s);
    const bool down = s->def.follow == CAROM_FOLLOW_DOWN || place >= s->length;
    long i = chain * s->length + (s->def.follow == CAROM_FOLLOW_BOTH && down ? 2 * s->length - 1 - place
                                  : down                                     ? s->length - 1 - place
                                                                             : place);
    for (int k = s->nvary - 1; k >= 0; --k) {
        value[k] = s->vary[k].value[s->def.zip ? i : i % s->vary[k].n];
        if (!s->def.zip) i /= s->vary[k].n;
    }
    return s->def.follow == CAROM_FOLLOW_NONE ? 0 : down ? -1 : 1;
}
