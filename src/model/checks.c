// checks.c: `checks`, and the ledger's names by which they speak.
#include "model/model.h"
#include <math.h>
#include <string.h>

static const char *const ledger_name[] = {"steps",
                                          "seconds",
                                          "impacts",
                                          "accumulations",
                                          "penetration",
                                          "drift",
                                          "energy.start",
                                          "energy.end",
                                          "energy.impact",
                                          "energy.friction",
                                          "energy.damping",
                                          "energy.external",
                                          "energy.balance",
                                          "energy.identity",
                                          "contact.residual",
                                          "contact.problems",
                                          "contact.iterations",
                                          "contact.fallbacks",
                                          "newton.iterations",
                                          "newton.median",
                                          "newton.max",
                                          "rejected",
                                          "ns_per_step"};
enum { LEDGER = sizeof ledger_name / sizeof *ledger_name };

static void ledger_values(const carom_ledger *l, double x[LEDGER]) {
    const double value[LEDGER] = {(double)l->steps,
                                  l->seconds,
                                  (double)l->impacts,
                                  (double)l->accumulations,
                                  l->penetration,
                                  l->drift,
                                  l->energy.start,
                                  l->energy.end,
                                  l->energy.impact,
                                  l->energy.friction,
                                  l->energy.damping,
                                  l->energy.external,
                                  l->energy.balance,
                                  l->energy.identity,
                                  l->counts.residual,
                                  (double)l->counts.problems,
                                  (double)l->counts.iterations,
                                  (double)l->counts.fallbacks,
                                  (double)l->counts.newton,
                                  (double)l->counts.newton_median,
                                  (double)l->counts.newton_max,
                                  (double)l->rejected,
                                  l->steps > 0 ? l->seconds / (double)l->steps * 1e9 : 0};
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

static carom_status read_check(reader *r, const tree *n, check *c) {
    enum { SCOPE = SCOPE_STATE | SCOPE_OUTS | SCOPE_LEDGER };
    if (n->kind != TREE_TEXT || n->length == 0)
        return carom_read_fail(r, n, 0, "a check is a comparison such as `penetration < 1e-4`");
    size_t at = 0;
    carom_op second;
    const size_t length = comparison(n->text, &at, &c->op);
    if (length == 0 && carom_read_cut(n))
        return carom_read_fail(r, n, 0,
                               "this check ends too early; an expression with a comma inside { } or [ ] wants quotes");
    if (length == 0)
        return carom_read_fail(r, n, 0, "this check compares nothing; write for instance `%.40s < 1e-4`", n->text);
    if (length == 1 && strchr("=!", n->text[at]))
        return carom_read_fail(r, n, at, "'%c' does not compare; write == or !=", n->text[at]);
    size_t again = at + length;
    if (comparison(n->text, &again, &second))
        return carom_read_fail(r, n, again, "a check has one comparison; write two checks");
    c->text = n->text;
    CAROM_TRY(carom_read_text_expression(r, n, 0, at, SCOPE, "this check", &c->left));
    return carom_read_text_expression(r, n, at + length, n->length, SCOPE, "this check", &c->right);
}

carom_status carom_read_checks(reader *r, const tree *section) {
    carom_model *m = r->m;
    if (!section || carom_tree_empty(section)) return CAROM_OK;
    if (section->kind == TREE_MAP)
        return carom_read_fail(r, section, 0, "checks is a list: `checks: [penetration < 1e-4, drift < 1e-9]`");
    const tree *n = section->kind == TREE_LIST ? section->first : section;
    const int count = section->kind == TREE_LIST ? section->count : 1;
    m->checks = carom_pool_take(&m->memory, ((size_t)count + 1) * sizeof *m->checks);
    if (!m->checks) return carom_read_memory(r);
    for (; m->nchecks < count; ++m->nchecks, n = n->next) CAROM_TRY(read_check(r, n, &m->checks[m->nchecks]));
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

bool carom_model_check(const carom_model *m, int i, const double *low, const double *high, const carom_ledger *ledger,
                       void *work, double t, const double *q, const double *v, const char **text, double *left,
                       double *right) {
    double *x = carom_model_scratch(m, work), *value = x + m->scratch_count + 2 * m->nv;
    unsigned char *check_work = (unsigned char *)work + m->check_work;
    carom_copy(value, m->parameter, m->np);
    ledger_values(ledger, value + m->np);
    for (int k = 0; k < m->nwatch; ++k) {
        value[m->np + LEDGER + 2 * k] = low[k];
        value[m->np + LEDGER + 2 * k + 1] = high[k];
    }
    carom_tape_work_init(m->check_tape, check_work, value);
    carom_model_look(m, work, &q, &v, true);
    carom_tape_eval(m->check_tape, check_work, 0, t, q, v, x);
    *text = m->checks[i].text;
    *left = x[2 * i];
    *right = x[2 * i + 1];
    return compare(m->checks[i].op, *left, *right);
}
