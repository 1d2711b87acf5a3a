// checks.c: names of the ledger; checks and observed expressions of a run (derive/checks.c reads them).
#include "model/model.h"
#include "expr/expr.h"
#include "model/answers.h"
#include "model/watch.h"
#include <math.h>
#include <string.h>

// Names of the ledger, and the value of each in ledger l.
#define LEDGER_ROWS(X)                                                                                                 \
    X("steps", l->steps)                                                                                               \
    X("seconds", l->seconds) X("impacts", l->impacts) X("accumulations", l->accumulations)                             \
        X("penetration", l->penetration) X("drift", l->drift) X("energy.start", l->energy.start)                       \
            X("energy.end", l->energy.end) X("energy.impact", l->energy.impact) X("energy.lost", l->energy.lost)       \
                X("energy.created", l->energy.created) X("energy.friction", l->energy.friction)                        \
                    X("energy.damping", l->energy.damping) X("energy.external", l->energy.external)                    \
                        X("energy.balance", l->energy.balance) X("energy.identity", l->energy.identity) X(             \
                            "contact.residual", l->counts.residual) X("sleep.falls", l->sleep.falls)                   \
                            X("sleep.wakes", l->sleep.wakes) X("sleep.energy", l->sleep.energy) X(                     \
                                "contact.problems", l->counts.problems) X("contact.iterations", l->counts.iterations)  \
                                X("contact.fallbacks", l->counts.fallbacks) X("newton.iterations", l->counts.newton)   \
                                    X("newton.median", l->counts.newton_median) X("newton.max", l->counts.newton_max)  \
                                        X("rejected", l->rejected)                                                     \
                                            X("ns_per_step", l->steps > 0 ? l->seconds / (double)l->steps * 1e9 : 0)
#define NAME(name, value) name,
#define VALUE(name, value) (double)(value),

static const char *const ledger_name[] = {LEDGER_ROWS(NAME)};
enum { LEDGER = sizeof ledger_name / sizeof *ledger_name };

static void ledger_values(const carom_ledger *l, double x[LEDGER]) {
    const double value[LEDGER] = {LEDGER_ROWS(VALUE)};
    memcpy(x, value, sizeof value);
}

const char *carom_ledger_name(int i) { return i >= 0 && i < LEDGER ? ledger_name[i] : NULL; }

bool carom_ledger_value(const carom_ledger *l, const char *name, double *value) {
    if (!l || !name) return false;
    double x[LEDGER];
    ledger_values(l, x);
    for (int i = 0; i < LEDGER; ++i)
        if (strcmp(ledger_name[i], name) == 0) {
            *value = x[i];
            return true;
        }
    return false;
}

// -- checks and observed expressions ----------------------------------------------------------------------------------

int carom_model_watched(const carom_model *m) { return m ? m->nwatch : 0; }

void carom_model_watch(const carom_model *m, void *work, double t, const double *q, const double *v, double *low,
                       double *high, bool first) {
    if (!m) return;
    if (m->nwatch == 0) return;
    double *x = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_WATCH, t, q, v, x);
    for (int k = 0; k < m->nwatch; ++k) { // NaN stays, so that the check fails
        if (first || x[k] < low[k] || isnan(x[k])) low[k] = x[k];
        if (first || x[k] > high[k] || isnan(x[k])) high[k] = x[k];
    }
}

static bool compare(carom_op op, double a, double b) {
    switch (op) {
    case CAROM_OP_LT: return a < b;
    case CAROM_OP_LE: return a <= b;
    case CAROM_OP_GT: return a > b;
    case CAROM_OP_GE: return a >= b;
    case CAROM_OP_EQ: return a == b;
    default: return a != b && a == a && b == b;
    }
}

int carom_model_observed(const carom_model *m) { return m ? m->nobserved : 0; }

bool carom_model_observes_state(const carom_model *m, int i) {
    if (!m) return false;
    const carom_node x = m->observed[i];
    return carom_graph_depends(m->graph, x, CAROM_POSITION, -1) ||
           carom_graph_depends(m->graph, x, CAROM_VELOCITY, -1) || carom_graph_depends(m->graph, x, CAROM_TIME, 0);
}

void carom_model_average(const carom_model *m, void *work, double t, const double *q, const double *v, carom_average *a,
                         bool first) {
    if (!m) return;
    if (m->nwatch == 0) return;
    double *x = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_WATCH, t, q, v, x);
    for (int k = 0; k < m->nwatch; ++k) {
        carom_average *s = &a[k];
        if (first) {
            *s = (carom_average){.low = x[k], .high = x[k], .x = x[k], .t = t, .start = t};
            continue;
        }
        const double h = t - s->t;
        if (x[k] < s->low || isnan(x[k])) s->low = x[k]; // NaN stays
        if (x[k] > s->high || isnan(x[k])) s->high = x[k];
        s->integral += 0.5 * h * (s->x + x[k]);
        s->square += 0.5 * h * (s->x * s->x + x[k] * x[k]);
        s->x = x[k];
        s->t = t;
    }
}

// The inputs of the check tape: parameters, the ledger, WATCH_COUNT of every watched expression.
static double *inputs(const carom_model *m, void *work) {
    return carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv;
}
static double *watched(const carom_model *m, void *work, int k) {
    return inputs(m, work) + m->np + LEDGER + WATCH_COUNT * k;
}

// All sides of checks and all observed expressions; what was kept of watched ones is there already.
static const double *evaluate(const carom_model *m, const carom_ledger *ledger, void *work, double t, const double *q,
                              const double *v) {
    double *x = carom_model_scratch(m, work), *value = inputs(m, work);
    unsigned char *check_work = (unsigned char *)work + m->at.check;
    carom_copy(value, carom_model_given(m, work), m->np);
    ledger_values(ledger, value + m->np);
    carom_tape_work_init(m->check_tape, check_work, value);
    carom_model_look(m, work, &q, &v, true);
    carom_tape_eval(m->check_tape, check_work, 0, t, q, v, x);
    return x;
}

void carom_average_values(const carom_average *a, double *value) {
    const double T = a->t - a->start, still = a->x; // over no time the average is the value
    const double x[WATCH_COUNT] = {a->low, a->high, T > 0 ? a->integral / T : still,
                                   T > 0 ? sqrt(a->square / T) : fabs(still), a->integral};
    carom_copy(value, x, WATCH_COUNT);
}

unsigned carom_model_watch_uses(const carom_model *m, int k, int observed) {
    unsigned slots = 0;
    for (int i = 0; i < WATCH_COUNT; ++i)
        if (carom_graph_depends(m->graph, m->observed[observed], CAROM_PARAMETER, m->np + LEDGER + WATCH_COUNT * k + i))
            slots |= 1u << i;
    return slots;
}

bool carom_model_watch_number(const carom_model *m, int k, double *value) {
    return carom_graph_is_number(m->graph, m->watch[k], value);
}

const char *carom_model_ledger_use(const carom_model *m, int observed) {
    for (int i = 0; i < LEDGER; ++i)
        if (carom_graph_depends(m->graph, m->observed[observed], CAROM_PARAMETER, m->np + i)) return ledger_name[i];
    return NULL;
}

void carom_model_observe(const carom_model *m, const carom_average *a, const carom_ledger *ledger, void *work, double t,
                         const double *q, const double *v, double *out) {
    if (!m || !ledger || !work) return;
    for (int k = 0; k < m->nwatch; ++k) carom_average_values(&a[k], watched(m, work, k));
    carom_copy(out, evaluate(m, ledger, work, t, q, v) + 2 * m->nchecks, m->nobserved);
}

bool carom_model_check(const carom_model *m, int i, const double *low, const double *high, const carom_ledger *ledger,
                       void *work, double t, const double *q, const double *v, const char **text, double *left,
                       double *right) {
    if (!m || !ledger || !work || !q || !v || !text || !left || !right) return false;
    if (i < 0 || i >= m->nchecks || (m->nwatch > 0 && (!low || !high))) return false;
    for (int k = 0; k < m->nwatch; ++k) {
        const double value[WATCH_COUNT] = {low[k], high[k], NAN, NAN, NAN}; // checks know no averages
        carom_copy(watched(m, work, k), value, WATCH_COUNT);
    }
    const double *x = evaluate(m, ledger, work, t, q, v);
    *text = m->checks[i].text;
    *left = x[2 * i];
    *right = x[2 * i + 1];
    return compare(m->checks[i].op, *left, *right);
}
