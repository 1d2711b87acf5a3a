// checks.c: `checks`, and expressions that are observed, as they are written.
#include "derive/resolver.h"
#include "expr/expr.h"
#include <stdio.h>
#include <string.h>

// The next comparison outside parentheses at or after *at: its operation and length; 0: none.
static size_t comparison(const char *text, size_t *at, carom_op *op) {
    int depth = 0;
    for (size_t i = *at; text[i]; ++i) {
        const bool equal = text[i] && text[i + 1] == '=';
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth > 0 || !strchr("<>=!", text[i])) continue;
        *at = i;
        if (text[i] == '<') *op = equal ? CAROM_OP_LE : CAROM_OP_LT;
        else if (text[i] == '>') *op = equal ? CAROM_OP_GE : CAROM_OP_GT;
        else *op = text[i] == '=' ? CAROM_OP_EQ : CAROM_OP_NE;
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
        return carom_fault(r, n, 0, "incomplete check; %s", carom_advice_comma);
    if (length == 0)
        return carom_fault(r, n, 0, "check has no comparison; write for example `%.40s < 1e-4`", n->text);
    if (length == 1 && n->text[at] == '=' && strchr("<>", n->text[at + 1]) && n->text[at + 1])
        return carom_fault(r, n, at, "'=%c' does not compare; write %c=", n->text[at + 1], n->text[at + 1]);
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

// Is there a comma outside of parentheses?
static bool several(const char *text) {
    int depth = 0;
    for (; *text; ++text) {
        depth += (*text == '(') - (*text == ')');
        if (*text == ',' && depth == 0) return true;
    }
    return false;
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
        snprintf(of, sizeof of, "%.15s %.100s", m->observing, r->observe[i]);
        const carom_datum given = {
            .kind = CAROM_TEXT, .text = r->observe[i], .length = strlen(r->observe[i]), .of = of};
        const carom_status status =
            carom_resolve_expression(r, &given, SCOPE, "the observed expression", &m->observed[i]);
        if (status != CAROM_OK && several(given.text))
            return carom_fault(r, &given, 0, "this is more than one expression; repeat the option for each");
        CAROM_TRY(status);
        for (int k = 0; carom_ledger_name(k); ++k)
            if ((strcmp(carom_ledger_name(k), "seconds") == 0 || strcmp(carom_ledger_name(k), "ns_per_step") == 0) &&
                carom_graph_depends(m->graph, m->observed[i], CAROM_PARAMETER, m->np + k))
                return carom_fault(r, &given, 0,
                                   "computing times cannot be observed because they differ from run to run");
    }
    return CAROM_OK;
}
