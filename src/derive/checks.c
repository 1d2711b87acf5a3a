// checks.c: `checks`, and the ledger's names by which they speak.
#include "derive/resolver.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Names of the ledger, and the value of each in ledger l.
#define LEDGER_ROWS(X) \
    X("steps", l->steps) X("seconds", l->seconds) X("impacts", l->impacts) X("accumulations", l->accumulations) \
    X("penetration", l->penetration) X("drift", l->drift) X("energy.start", l->energy.start) X("energy.end", l->energy.end) \
    X("energy.impact", l->energy.impact) X("energy.lost", l->energy.lost) X("energy.created", l->energy.created) \
    X("energy.friction", l->energy.friction) X("energy.damping", l->energy.damping) X("energy.external", l->energy.external) \
    X("energy.balance", l->energy.balance) X("energy.identity", l->energy.identity) X("contact.residual", l->counts.residual) \
    X("sleep.falls", l->sleep.falls) X("sleep.wakes", l->sleep.wakes) X("sleep.energy", l->sleep.energy) \
    X("contact.problems", l->counts.problems) X("contact.iterations", l->counts.iterations) \
    X("contact.fallbacks", l->counts.fallbacks) X("newton.iterations", l->counts.newton) X("newton.median", l->counts.newton_median) \
    X("newton.max", l->counts.newton_max) X("rejected", l->rejected) \
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
    double x[LEDGER];
    ledger_values(l, x);
    for (int i = 0; i < LEDGER; ++i)
        if (strcmp(ledger_name[i], name) == 0) {
            *value = x[i];
            return true;
        }
    return false;
}

// -- reading ------------------------------------------------------------------------------------------

// The next comparison outside parentheses at or after *at: its operation and length; 0: none.
static size_t comparison(const char *text, size_t *at, carom_op *op) {
    int depth = 0;
    for (size_t i = *at; text[i]; ++i) {
        const bool equal = text[i] && text[i + 1] == '=';
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth > 0 || !strchr("<>=!", text[i])) continue;
        *at = i;
        if (text[i] == '<')
            *op = equal ? CAROM_OP_LE : CAROM_OP_LT;
        else if (text[i] == '>')
            *op = equal ? CAROM_OP_GE : CAROM_OP_GT;
        else
            *op = text[i] == '=' ? CAROM_OP_EQ : CAROM_OP_NE;
        return equal ? 2 : 1;
    }
    return 0;
}

static carom_status read_check(resolver *r, const carom_datum *n, check *c) {
    enum { SCOPE = SCOPE_STATE | SCOPE_OUTS | SCOPE_LEDGER };
    if (n->kind != CAROM_TEXT || n->length == 0)
        return carom_fault(r, n, 0, "a check is a comparison such as `penetration < 1e-4`");
    size_t at = 0;
    carom_op second;
    const size_t length = comparison(n->text, &at, &c->op);
    if (length == 0 && carom_datum_cut(n))
        return carom_fault(r, n, 0, "this check ends too early; %s", carom_advice_comma);
    if (length == 0)
        return carom_fault(r, n, 0, "this check compares nothing; write for instance `%.40s < 1e-4`", n->text);
    if (length == 1 && strchr("=!", n->text[at]))
        return carom_fault(r, n, at, "'%c' does not compare; write == or !=", n->text[at]);
    size_t again = at + length;
    if (comparison(n->text, &again, &second))
        return carom_fault(r, n, again, "a check has one comparison; write two checks");
    c->text = n->text;
    CAROM_TRY(carom_resolve_part(r, n, 0, at, SCOPE, "this check", &c->left));
    return carom_resolve_part(r, n, at + length, n->length, SCOPE, "this check", &c->right);
}

carom_status carom_derive_checks(resolver *r) {
    carom_model *m = r->m;
    const carom_datum *section = carom_given(&r->mech->checks);
    if (!section || carom_datum_empty(section)) return CAROM_OK;
    if (section->kind == CAROM_MAP)
        return carom_fault(r, section, 0, "checks is a list: `checks: [penetration < 1e-4, drift < 1e-9]`");
    const carom_datum *n = carom_ones(section);
    const int count = section->kind == CAROM_LIST ? section->count : 1;
    m->checks = carom_pool_take(&m->memory, ((size_t)count + 1) * sizeof *m->checks);
    if (!m->checks) return carom_fault_memory(r);
    for (; m->nchecks < count; ++m->nchecks, ++n) CAROM_TRY(read_check(r, n, &m->checks[m->nchecks]));
    return CAROM_OK;
}

carom_status carom_derive_observed(resolver *r) {
    enum { SCOPE = SCOPE_STATE | SCOPE_OUTS | SCOPE_LEDGER | SCOPE_AVERAGES };
    carom_model *m = r->m;
    int n = 0;
    while (r->observe && r->observe[n]) ++n;
    m->observed = carom_pool_take(&m->memory, ((size_t)n + 1) * sizeof *m->observed);
    if (!m->observed) return carom_fault_memory(r);
    for (int i = 0; i < n; ++i, ++m->nobserved) {
        char of[120];
        snprintf(of, sizeof of, "--observe %.100s", r->observe[i]);
        const carom_datum given = {.kind = CAROM_TEXT, .text = r->observe[i], .length = strlen(r->observe[i]), .of = of};
        CAROM_TRY(carom_resolve_expression(r, &given, SCOPE, "the observed expression", &m->observed[i]));
        for (int k = 0; k < LEDGER; ++k)
            if ((strcmp(ledger_name[k], "seconds") == 0 || strcmp(ledger_name[k], "ns_per_step") == 0) &&
                carom_graph_depends(m->graph, m->observed[i], CAROM_PARAMETER, m->np + k))
                return carom_fault(r, &given, 0, "a time of computing cannot be observed: it differs from run to run");
    }
    return CAROM_OK;
}

// -- using ----------------------------------------------------------------------------------------------

int carom_model_watched(const carom_model *m) { return m->nwatch; }

void carom_model_watch(const carom_model *m, void *work, double t, const double *q, const double *v, double *low,
                       double *high, bool first) {
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

int carom_model_observed(const carom_model *m) { return m->nobserved; }

bool carom_model_observes_state(const carom_model *m, int i) {
    const carom_node x = m->observed[i];
    return carom_graph_depends(m->graph, x, CAROM_POSITION, -1) || carom_graph_depends(m->graph, x, CAROM_VELOCITY, -1) ||
           carom_graph_depends(m->graph, x, CAROM_TIME, 0);
}

void carom_model_average(const carom_model *m, void *work, double t, const double *q, const double *v, carom_average *a, bool first) {
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
static double *inputs(const carom_model *m, void *work) { return carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv; }
static double *watched(const carom_model *m, void *work, int k) { return inputs(m, work) + m->np + LEDGER + WATCH_COUNT * k; }

// All sides of checks and all observed expressions; what was kept of watched ones is there already.
static const double *evaluate(const carom_model *m, const carom_ledger *ledger, void *work, double t, const double *q, const double *v) {
    double *x = carom_model_scratch(m, work), *value = inputs(m, work);
    unsigned char *check_work = (unsigned char *)work + m->check_work;
    carom_copy(value, carom_model_given(m, work), m->np);
    ledger_values(ledger, value + m->np);
    carom_tape_work_init(m->check_tape, check_work, value);
    carom_model_look(m, work, &q, &v, true);
    carom_tape_eval(m->check_tape, check_work, 0, t, q, v, x);
    return x;
}

void carom_model_observe(const carom_model *m, const carom_average *a, const carom_ledger *ledger, void *work, double t, const double *q,
                         const double *v, double *out) {
    for (int k = 0; k < m->nwatch; ++k) {
        const double T = a[k].t - a[k].start, still = a[k].x; // over no time the average is the value
        const double value[WATCH_COUNT] = {a[k].low, a[k].high, T > 0 ? a[k].integral / T : still, T > 0 ? sqrt(a[k].square / T) : fabs(still), a[k].integral};
        carom_copy(watched(m, work, k), value, WATCH_COUNT);
    }
    carom_copy(out, evaluate(m, ledger, work, t, q, v) + 2 * m->nchecks, m->nobserved);
}

bool carom_model_check(const carom_model *m, int i, const double *low, const double *high, const carom_ledger *ledger,
                       void *work, double t, const double *q, const double *v, const char **text, double *left,
                       double *right) {
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
