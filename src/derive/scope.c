// scope.c: expressions of the file: what their names mean, and errors that point into the file.
#include "model/watch.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/option.h"
#include "base/unit.h"
#include "expr/foreign.h"
#include "derive/resolver.h"
#include <carom/option.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scope_user {
    resolver *r;
    unsigned scope;
    const char *what; // "the gap"
    const carom_indices *indices; // NULL: none
} scope_user;

// -- failures ---------------------------------------------------------------------------------------

carom_line carom_line_of(int line) {
    carom_line l = {""};
    if (line) snprintf(l.text, sizeof l.text, " (line %d)", line);
    return l;
}

carom_status carom_fault(resolver *r, const carom_datum *d, size_t offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    r->failed = true;
    const carom_status status = carom_model_vfault(r->m, r->err, d, offset, format, args);
    va_end(args);
    return status;
}

carom_status carom_fault_memory(resolver *r) {
    r->failed = true;
    return carom_model_no_memory(r->m, r->err);
}

// -- suggestions -------------------------------------------------------------------------------------

typedef struct candidates {
    const char **word;
    int n;
} candidates;

static const char *candidate(const void *user, int i) {
    const candidates *c = user;
    return i < c->n ? c->word[i] : NULL;
}

static void gather(candidates *c, const names *t, unsigned scope) {
    for (int i = 0; i < t->count; ++i)
        if ((t->at[i].kind & scope) && (t->at[i].kind != NAME_LET || t->at[i].node != CAROM_NONE))
            c->word[c->n++] = t->at[i].text;
}

// Is `name` something before a dot and `end`, as ball.y and y?
static bool is_end(const char *name, const char *end) {
    const size_t n = strlen(name), k = strlen(end);
    return n > k && name[n - k - 1] == '.' && strcmp(name + n - k, end) == 0;
}

// The visible name nearest to `word`, or one of which it is the end or the other way round; or NULL.
static const char *nearest_name(const scope_user *u, const char *word) {
    const carom_model *m = u->r->m;
    int ledger = 0;
    while (carom_ledger_name(ledger)) ++ledger;
    candidates c = {.word = malloc((size_t)(m->names.count + m->outs.count + ledger + 6) * sizeof *c.word)};
    if (!c.word) return NULL;
    gather(&c, &m->names, u->scope);
    if (u->scope & SCOPE_OUTS) gather(&c, &m->outs, NAME_OUTPUT | NAME_QUANTITY);
    for (int i = 0; (u->scope & SCOPE_LEDGER) && i < ledger; ++i) c.word[c.n++] = carom_ledger_name(i);
    if (u->scope & SCOPE_TIME) c.word[c.n++] = "t";
    if (u->scope & SCOPE_SLIP) c.word[c.n++] = "slip.speed";
    if (u->scope & SCOPE_SPRING) c.word[c.n++] = "length", c.word[c.n++] = "rate";
    if (u->scope & SCOPE_SPEED) c.word[c.n++] = "approach.speed";
    c.word[c.n++] = "pi";
    const char *best = carom_nearest(word, candidate, &c);
    for (int i = 0; i < c.n && !best; ++i)
        if (is_end(c.word[i], word) || is_end(word, c.word[i])) best = c.word[i];
    free(c.word);
    return best;
}

static const char *function_name(const void *user, int i) {
    (void)user;
    return carom_name_reserved(i + 2); // t and pi come first
}

// -- names in expressions ----------------------------------------------------------------------------

static carom_node refuse(carom_error *err, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static carom_node refuse(carom_error *err, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    carom_fail(err, CAROM_BAD_INPUT, "%s", text);
    return CAROM_NONE;
}

// Is there NAME.END, for the NAME before the dot?
static bool has_end(const scope_user *u, const char *word, const char *dot, const char *end) {
    char text[200];
    const int n = snprintf(text, sizeof text, "%.*s.%s", (int)(dot - word), word, end);
    return n < (int)sizeof text && carom_names_find(&u->r->m->outs, text, (size_t)n);
}

// Is `word` a force or an impulse of a rigid contact or constraint, as floor.force?  Results have it, expressions not.
static bool is_reaction(const scope_user *u, const char *word) {
    static const char *const ends[] = {"force", "impulse", "friction", "friction_impulse"};
    const char *dot = strrchr(word, '.');
    if (!dot) return false;
    const size_t length = strcspn(dot + 1, "0123456789");
    bool found = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i)
        found |= strlen(ends[i]) == length && strncmp(dot + 1, ends[i], length) == 0;
    if (!found || has_end(u, word, dot, "force") || has_end(u, word, dot, "1.force")) return false; // compliant
    return has_end(u, word, dot, "gap") || has_end(u, word, dot, "gap1") || has_end(u, word, dot, "slip") ||
           has_end(u, word, dot, "slip1") || has_end(u, word, dot, "1.gap");
}

static carom_node unknown(const scope_user *u, const char *word, carom_error *err) {
    const name *n = carom_names_find(&u->r->m->names, word, strlen(word));
    const char *may = u->scope == SCOPE_VALUES ? "numbers"
                      : u->scope & SCOPE_SPEED ? "numbers, parameters and approach.speed"
                      : u->scope & SCOPE_VALUES ? "numbers and parameters"
                      : u->scope & SCOPE_EXACT ? "time, parameters and names defined above in exact"
                      : u->scope & NAME_COORDINATE ? "coordinates, let names, inputs, time and parameters"
                      : u->scope & NAME_INPUT ? "time, parameters and inputs"
                                              : "time and parameters";
    if (n) {
        if (n->kind == NAME_TABLE) return refuse(err, "'%.60s' is a table and needs an argument: %.60s(x)", word, word);
        carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is %s, but %s may only use %s", word, carom_name_kind(n->kind),
                   u->what, may);
        return CAROM_NONE;
    }
    if (is_reaction(u, word))
        return refuse(err,
                      "expressions cannot use '%.60s': reactions of rigid contacts and constraints are columns of "
                      "results",
                      word);
    const char *near = nearest_name(u, word);
    if (near) return refuse(err, "unknown name '%.60s'; did you mean '%.60s'?", word, near);
    // perhaps the name of a state, which is not known yet
    if (!(u->scope & (SCOPE_VALUES | NAME_COORDINATE)))
        return refuse(err, "unknown name '%.60s'; %s may only use %s", word, u->what, may);
    const char *where = u->scope & SCOPE_VALUES ? "parameters" : "parameters, coordinates or let";
    return refuse(err, "unknown name '%.60s'; define it in %s", word, where);
}

static carom_node rate_of(const scope_user *u, carom_graph *g, name *n, carom_error *err) {
    if (n->kind == NAME_PARAMETER)
        return refuse(err, "%.60s' is always zero because '%.60s' is a parameter; remove it", n->text, n->text);
    if (n->kind == NAME_INPUT && n->index >= 0)
        return refuse(err, "%.60s' is zero: '%.60s' keeps its value between its changes; remove it", n->text, n->text);
    if (n->rate != CAROM_NONE) return n->rate;
    if (n->kind == NAME_STATE)
        return refuse(err, "%.60s' is not known yet here; rates of states are read in order, move its line up",
                      n->text);
    if (n->kind == NAME_VELOCITY)
        return refuse(err, "%.60s' would be an acceleration: '%.60s' is a velocity already", n->text, n->text);
    if (n->kind == NAME_HELPER) return n->rate = carom_graph_diff(g, n->node, CAROM_TIME, 0);
    if (carom_depends_on_rates(u->r->m, n->node))
        return refuse(
            err, "%.60s' would be an acceleration: '%.60s' is made of rates already; rates exist of positions only",
            n->text, n->text);
    if (u->r->m->nmember && carom_graph_depends(g, n->node, CAROM_POSITION, u->r->m->visible.nq_own))
        return refuse(err, "%.60s' would be the rate of an energy, which expressions do not have", n->text);
    const carom_model *m = u->r->m;
    for (int k = 0; k < m->state.n; ++k)
        if (m->state.rate[k] == CAROM_NONE && carom_graph_depends(g, n->node, CAROM_VELOCITY, m->state.first + k))
            return refuse(err, "%.60s' is not known yet here: '%.60s' is made of states, whose rates come later",
                          n->text, n->text);
    return n->rate = n_add(g, carom_graph_rate(g, n->node, m->visible.nv), carom_moved_by_states(m, n->node));
}

static carom_node value_of(const scope_user *u, carom_graph *g, name *n, int primes, carom_error *err) {
    resolver *r = u->r;
    n->used = true;
    if (n->angle && n->node == CAROM_NONE) {
        if (r->m->tape) return refuse(err, "'%.60s' is not counted in this model; name it in outputs", n->text);
        if (r->lazy->angle(r, &r->m->joints[n->index], &n->node) != CAROM_OK) return CAROM_NONE;
    }
    if (n->kind == NAME_QUANTITY && n->node == CAROM_NONE && n->rate == CAROM_NONE &&
        r->lazy->quantity(r, n) != CAROM_OK)
        return CAROM_NONE;
    if (u->scope & SCOPE_VALUES) {
        if (primes) return rate_of(u, g, n, err);
        r->read = true;
        if (!r->loose && r->param_depth == 0) r->m->fixed[n->index] = true;
        return carom_resolve_parameter(r, n->index) == CAROM_OK ? carom_graph_number(g, r->m->parameter[n->index])
                                                             : CAROM_NONE;
    }
    if (n->kind == NAME_COORDINATE && (u->scope & SCOPE_EXACT)) {
        const carom_node x = r->m->exact[n->index];
        if (x == CAROM_NONE)
            return refuse(err, "the exact '%.60s' is not known yet here; exact is read in order, move its line up",
                          n->text);
        return primes ? carom_graph_diff(g, x, CAROM_TIME, 0) : x;
    }
    if (n->node == CAROM_NONE && (n->kind == NAME_LET || n->kind == NAME_HELPER))
        return refuse(err, "'%.60s' is used before its definition; move its line up", n->text);
    if (n->node == CAROM_NONE && !primes)
        return refuse(err, "'%.60s' is known by its rate only (slip rate); write %.60s'", n->text, n->text);
    return primes ? rate_of(u, g, n, err) : n->node;
}

// kinetic, potential and energy, for outputs and checks; CAROM_NONE: not one of them.
static carom_node energy_of(const scope_user *u, carom_graph *g, const char *word) {
    carom_model *m = u->r->m;
    const bool T = strcmp(word, "kinetic") == 0, V = strcmp(word, "potential") == 0, E = strcmp(word, "energy") == 0;
    if (!(u->scope & SCOPE_OUTS) || !(T || V || E)) return CAROM_NONE;
    carom_node kinetic = m->kinetic, potential = m->potential;
    if (m->nmember) { // theirs stand beside the coordinates, see model.h
        m->member_energies = true;
        kinetic = n_add(g, kinetic, carom_graph_input(g, CAROM_VELOCITY, m->visible.nv_own));
        potential = n_add(g, potential, carom_graph_input(g, CAROM_POSITION, m->visible.nq_own));
    }
    return T ? kinetic : V ? potential : n_add(g, kinetic, potential);
}

static int ledger_index(const char *word) {
    for (int i = 0; carom_ledger_name(i); ++i)
        if (strcmp(carom_ledger_name(i), word) == 0) return i;
    return -1;
}

static carom_node lookup(void *user, carom_graph *g, const char *text, size_t length, int primes, carom_error *err) {
    const scope_user *u = user;
    const carom_model *m = u->r->m;
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)(length < 127 ? length : 127), text);
    if (primes > 1)
        return refuse(err,
                      "%.60s'' is a second derivative, which expressions do not have; accelerations follow from energy "
                      "and forces",
                      word);
    if (strcmp(word, "pi") == 0 && !primes) return carom_graph_number(g, 3.14159265358979323846);
    if (strcmp(word, "t") == 0 && !primes) {
        if (u->scope & SCOPE_TIME) return carom_graph_input(g, CAROM_TIME, 0);
        return refuse(err, "%s must be constant; it cannot depend on time t", u->what);
    }
    for (int i = 0; u->indices && i < u->indices->n; ++i) {
        if (strcmp(word, u->indices->name[i]) != 0) continue;
        return primes ? refuse(err, "%.60s' is zero: '%.60s' is an index", word, word)
                      : carom_graph_number(g, u->indices->at[i]);
    }
    if ((u->scope & SCOPE_ARC) && strcmp(word, "s") == 0 && !primes) {
        if (carom_names_find(&m->names, "s", 1))
            return refuse(err, "'s' is the arc length here, and the model has a name 's' of its own; rename that");
        return u->r->arc_known ? carom_graph_number(g, u->r->arc) : carom_graph_input(g, CAROM_TIME, 0);
    }
    if ((u->scope & SCOPE_SPRING) && !primes && (strcmp(word, "length") == 0 || strcmp(word, "rate") == 0)) {
        if (carom_names_find(&m->names, word, length))
            return refuse(err, "'%s' is that of the spring here, and the model has a name '%s' of its own; rename that",
                          word, word);
        return *word == 'l' ? u->r->spring_length : u->r->spring_rate;
    }
    if ((u->scope & SCOPE_SLIP) && strcmp(word, "normal.force") == 0 && !carom_names_find(&m->names, word, length))
        return primes ? refuse(err, "normal.force' is not available") : u->r->normal_force;
    if ((u->scope & SCOPE_JOINT) && strcmp(word, "joint.force") == 0 && !primes &&
        !carom_names_find(&m->names, word, length))
        return u->r->joint_force;
    if ((u->scope & SCOPE_SLIP) && strcmp(word, "slip.speed") == 0 && !primes &&
        !carom_names_find(&m->names, word, length))
        return u->r->slip_speed;
    if ((u->scope & SCOPE_SPEED) && strcmp(word, "approach.speed") == 0 && !primes &&
        !carom_names_find(&m->names, word, length))
        return carom_graph_input(g, CAROM_TIME, 0);
    if (primes && (strcmp(word, "pi") == 0 || strcmp(word, "t") == 0))
        return refuse(err, "%s' is a known number; write it as such", word);
    const bool fits = length < sizeof word;
    name *n = fits ? carom_names_find(&m->names, word, length) : NULL;
    if (n && !(n->kind & u->scope)) n = NULL;
    if (!n && fits && (u->scope & SCOPE_OUTS)) n = carom_names_find(&m->outs, word, length);
    const int ledger = fits && (u->scope & SCOPE_LEDGER) ? ledger_index(word) : -1;
    if (n && ledger >= 0)
        return refuse(err, "'%.60s' is a name of this model and of the ledger; rename the model's '%.60s'", word, word);
    if (n) return value_of(u, g, n, primes, err);
    if (ledger >= 0 && !primes) return carom_graph_input(g, CAROM_PARAMETER, m->np + ledger);
    const carom_node unknown_of =
        fits && (u->scope & NAME_POINT) ? u->r->lazy->unknown(u->r, word, primes) : CAROM_NONE;
    if (unknown_of != CAROM_NONE) return unknown_of;
    const carom_node energy = fits && !primes ? energy_of(u, g, word) : CAROM_NONE;
    return energy != CAROM_NONE ? energy : unknown(u, word, err);
}

// Table `index` is asked at x, in the model's graph; false: no memory.
static bool asked(carom_model *m, int index, carom_node x) {
    for (int i = 0; i < m->nasked; ++i)
        if (m->asked[i].table == index && m->asked[i].at == x) return true;
    if (!CAROM_GROW(m->asked, m->nasked)) return false;
    m->asked[m->nasked++] = (struct asked){index, x};
    return true;
}

static carom_node table_at(carom_model *m, carom_graph *g, name *n, int nargs, const carom_node *args,
                           carom_error *err) {
    n->used = true;
    carom_graph_share_curves(g, m->graph); // g may be that of numbers
    if (nargs != 1) return refuse(err, "table %.60s requires 1 argument, got %d", n->text, nargs);
    if (g == m->graph && !m->tape && !asked(m, n->index, args[0]))
        return refuse(err, "not enough memory for table %.60s", n->text);
    return carom_graph_curve_at(g, n->index, args[0]);
}

// Tables, then functions.
static const char *callable(const void *user, int i) {
    const carom_model *m = user;
    for (int k = 0; k < m->names.count; ++k)
        if (m->names.at[k].kind == NAME_TABLE && i-- == 0) return m->names.at[k].text;
    return carom_name_reserved(i + 2);
}

// NAME(x) of a table; min(x), max(x), and averages where they are known, over all steps: x is watched, and what is kept
// of it is an input.
static carom_node call(void *user, carom_graph *g, const char *text, size_t length, int nargs, const carom_node *args,
                       carom_error *err) {
    const scope_user *u = user;
    carom_model *m = u->r->m;
    static const char *const kept[WATCH_COUNT] = {"min", "max", "mean", "rms", "integral"};
    const int count = u->scope & SCOPE_AVERAGES ? WATCH_COUNT : WATCH_HIGH + 1;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    name *table = carom_names_find(&m->names, text, length);
    if (table && table->kind == NAME_TABLE) return table_at(m, g, table, nargs, args, err);
    if (strcmp(word, "pi") == 0)
        return refuse(err, "pi is a number, not a function; for a product write '*' before the parenthesis");
    // the parser has a remedy
    const bool known = carom_parse_reserved(text, length) || carom_foreign_function(text, length);
    const char *near_table = m->mech && m->mech->ntables && !known ? carom_nearest(word, callable, m) : NULL;
    if (near_table) return refuse(err, "unknown function or table '%s'; did you mean '%s'?", word, near_table);
    if (!(u->scope & SCOPE_LEDGER))
        return carom_parse_reserved(text, length) ? refuse(err, "%s requires at least 2 arguments, got %d", word, nargs)
                                                  : CAROM_NONE;
    int which = 0;
    while (which < count && strcmp(word, kept[which]) != 0) ++which;
    if (which == count) {
        const char *near = known ? NULL : carom_nearest(word, function_name, NULL);
        // the parser reports it
        return near ? refuse(err, "unknown function '%s'; did you mean '%s'?", word, near) : CAROM_NONE;
    }
    if (nargs != 1)
        return refuse(err,
                      which <= WATCH_HIGH ? "%s requires one argument (extreme over all steps) or two"
                                          : "%s takes one argument (over all steps)",
                      word);
    int ledger = 0;
    while (carom_ledger_name(ledger)) ++ledger;
    for (int i = m->np; i < m->np + ledger + WATCH_COUNT * m->nwatch; ++i)
        if (carom_graph_depends(g, args[0], CAROM_PARAMETER, i))
            return refuse(err,
                          "%s(x) runs over all steps, and x here holds a name of the ledger or another such function; "
                          "use states only",
                          word);
    int k = 0;
    while (k < m->nwatch && m->watch[k] != args[0]) ++k;
    if (k == m->nwatch) {
        if (!CAROM_GROW(m->watch, k)) return refuse(err, "not enough memory for %s", word);
        m->watch[m->nwatch++] = args[0];
    }
    return carom_graph_input(g, CAROM_PARAMETER, m->np + ledger + WATCH_COUNT * k + which);
}

// -- expressions -------------------------------------------------------------------------------------

// Are the letters before `at` blanks behind a number?
static bool follows_number(const char *text, size_t at) {
    while (at > 0 && text[at - 1] == ' ') --at;
    return at > 0 && ((text[at - 1] >= '0' && text[at - 1] <= '9') || text[at - 1] == '.');
}

// Is there a sum or a parenthesis, which no unit has?
static bool goes_on(const char *text, size_t length) {
    for (size_t i = 0; i < length; ++i)
        if (text[i] == '+' || text[i] == '(' || (text[i] == '-' && (i == 0 || text[i - 1] != '^'))) return true;
    return false;
}

static carom_status not_a_unit(resolver *r, const carom_datum *n, size_t from, size_t to) {
    const int shown = (int)(to - from < 40 ? to - from : 40);
    char near[40];
    if (carom_unit_nearest(n->text + from, to - from, near, sizeof near))
        return carom_fault(r, n, from, "'%.*s' is not a unit; did you mean '%s'?  For a product write '*'", shown,
                           n->text + from, near);
    return carom_fault(r, n, from, "'%.*s' is not a unit; expected one of %s.  For a product write '*'", shown,
                       n->text + from, carom_unit_examples);
}

carom_status carom_resolve_part(resolver *r, const carom_datum *n, size_t from, size_t to, unsigned scope,
                                        const char *what, carom_node *node) {
    scope_user u = {r, scope, what, n->indices};
    const carom_scope s = {.lookup = lookup, .call = call, .user = &u};
    carom_graph *g = scope & SCOPE_VALUES ? r->values : r->m->graph;
    carom_error err = {0};
    size_t offset = 0, at;
    double x;
    carom_unit unit;
    const carom_quantity quantity = carom_quantity_read(n->text + from, to - from, &x, &unit, &at);
    if (quantity == CAROM_QUANTITY_READ) return *node = carom_graph_number(g, x), CAROM_OK;
    *node = carom_parse(g, n->text + from, to - from, &s, &offset, &err);
    if (r->failed) return CAROM_BAD_INPUT; // by a parameter that this expression uses
    if (*node != CAROM_NONE) return CAROM_OK;
    if (carom_graph_failed(g)) return carom_fault(r, n, 0, "%s makes the model too large; simplify the model", what);
    const char *write = NULL; // "5 mod 2" has an operator of another language, which the parser names, and no unit
    const bool foreign =
        quantity == CAROM_QUANTITY_WRONG &&
        (carom_foreign_operator(n->text + from + at, to - from - at, &write) > 0 ||
         carom_foreign_sign(n->text + from + at, to - from - at, &write) > 0);
    if (quantity == CAROM_QUANTITY_WRONG && !foreign &&
        !(carom_unit_starts(n->text + from + at, to - from - at) && goes_on(n->text + from + at, to - from - at)))
        return not_a_unit(r, n, from + at, to);
    if (!foreign && follows_number(n->text + from, offset) &&
        carom_unit_starts(n->text + from + offset, to - from - offset))
        return carom_fault(r, n, from + offset,
                           "a unit is only allowed after a number that is the entire value; define a parameter with "
                           "that unit, or convert to SI. For a product write '*'");
    if (carom_datum_cut(n)) return carom_fault(r, n, from + offset, "%s; %s", err.text, carom_advice_comma);
    return carom_fault(r, n, from + offset, "%s", err.text);
}

carom_status carom_check_unit(resolver *r, const char *where, const carom_datum *d, const char *unit,
                              const char *other) {
    const carom_datum *q =
        carom_given(d) && d->kind == CAROM_TEXT ? carom_datum_get(&r->mech->parameters, d->text) : NULL;
    carom_unit is, wanted;
    double x;
    size_t at;
    if (!q) q = d;
    if (q->kind != CAROM_TEXT || carom_quantity_read(q->text, q->length, &x, &is, &at) != CAROM_QUANTITY_READ)
        return CAROM_OK;
    if (!carom_unit_read(unit, strlen(unit), &wanted) || carom_unit_fits(&is, &wanted)) return CAROM_OK;
    if (other && carom_unit_read(other, strlen(other), &wanted) && carom_unit_fits(&is, &wanted)) return CAROM_OK;
    return carom_fault(r, d, 0, "%s: '%.60s'%s%.60s is a quantity of another kind; %s is in %s here", where, d->text,
                       q == d ? "" : " = ", q == d ? "" : q->text, d->key->text, unit);
}

carom_status carom_resolve_expression(resolver *r, const carom_datum *n, unsigned scope, const char *what,
                                      carom_node *node) {
    if (n->kind == CAROM_NUMBER) {
        *node = carom_graph_number(scope & SCOPE_VALUES ? r->values : r->m->graph, n->number);
        return CAROM_OK;
    }
    if (n->kind != CAROM_TEXT)
        return carom_fault(r, n, 0, "%s is an expression, not a %s", what, n->kind == CAROM_LIST ? "list" : "map");
    if (n->length == 0)
        return carom_fault(r, n->key && !n->of ? n->key : n, 0, "%s is empty; write an expression", what);
    return carom_resolve_part(r, n, 0, n->length, scope, what, node);
}

carom_status carom_resolve_start(resolver *r, const carom_datum *n, carom_node x, double *value) {
    const carom_group group = {.count = 1, .nodes = &x};
    carom_error err = {0};
    carom_tape *tape = carom_tape_compile(r->m->graph, &group, 1, 0, 0, r->m->np, &err);
    void *work = tape ? calloc(1, carom_tape_work_size(tape)) : NULL;
    if (work) {
        carom_tape_work_init(tape, work, r->m->parameter);
        carom_tape_eval(tape, work, 0, 0, NULL, NULL, value);
    }
    free(work);
    carom_tape_destroy(tape);
    if (!work) return carom_fault_memory(r);
    for (int i = 0; i < r->m->np; ++i)
        if (carom_graph_depends(r->m->graph, x, CAROM_PARAMETER, i)) r->m->fixed[i] = true;
    return isfinite(*value)
               ? CAROM_OK
               : carom_fault(r, n, 0, "value is not finite at t = 0; check divisions, square roots and logarithms");
}

carom_status carom_fresh_values(resolver *r) {
    enum { LARGE = 1 << 18 }; // nodes: far below what a graph holds
    if (carom_graph_count(r->values) < LARGE) return CAROM_OK;
    carom_graph *fresh = carom_graph_create();
    if (!fresh) return carom_fault_memory(r);
    carom_graph_destroy(r->values);
    r->values = fresh;
    return CAROM_OK;
}

carom_status carom_resolve_number(resolver *r, const carom_datum *n, const char *what, double *value) {
    carom_node node = CAROM_NONE;
    CAROM_TRY(carom_resolve_expression(r, n, NAME_PARAMETER | SCOPE_VALUES, what, &node));
    if (!carom_graph_is_number(r->values, node, value) || !isfinite(*value))
        return carom_fault(r, n, 0, "%s is not finite; check divisions, square roots and logarithms", what);
    return CAROM_OK;
}

// "a -> b -> a"
static carom_status fail_circle(resolver *r, const carom_datum *n, int index) {
    const carom_model *m = r->m;
    char circle[300] = "";
    size_t used = 0;
    int from = 0;
    while (r->param_stack[from] != index) ++from;
    for (int k = from; k < r->param_depth && used < sizeof circle; ++k)
        used += (size_t)snprintf(circle + used, sizeof circle - used, "%.60s -> ",
                                 m->names.at[m->parameter_name[r->param_stack[k]]].text);
    return carom_fault(r, n, 0, "circular definition of parameters: %s%.60s; set one of them to a number", circle,
                       m->names.at[m->parameter_name[index]].text);
}

// Parameters of parameters are computed on the way; each level is a call of the parser, so their depth is limited.
carom_status carom_resolve_parameter(resolver *r, int index) {
    enum { DEEPEST = sizeof r->param_stack / sizeof *r->param_stack };
    carom_model *m = r->m;
    const carom_datum *n = &r->mech->parameters.item[index];
    const char *text = m->names.at[m->parameter_name[index]].text;
    if (r->param_state[index] == 2) return CAROM_OK;
    if (r->param_state[index] == 1) return fail_circle(r, n, index);
    if (r->param_depth == DEEPEST)
        return carom_fault(r, n, 0, "parameters depend on each other more than %d deep; give some of them as numbers",
                           DEEPEST);
    r->param_state[index] = 1;
    r->param_stack[r->param_depth++] = index;
    char what[100];
    snprintf(what, sizeof what, "parameter '%.60s'", text);
    CAROM_TRY(carom_resolve_number(r, n, what, &m->parameter[index]));
    r->param_state[index] = 2;
    --r->param_depth;
    return CAROM_OK;
}

carom_status carom_resolve_parameters(resolver *r) {
    for (int i = 0; i < r->m->np_own; ++i) CAROM_TRY(carom_resolve_parameter(r, i));
    return CAROM_OK;
}

// -- keys ----------------------------------------------------------------------------------------------

#define NAMES "names are letters, digits, _ and dots inside, and start with a letter"

// bare: the name itself stands in expressions.
static carom_status new_name(resolver *r, const carom_datum *key, bool empty, const names *others, bool bare) {
    enum { CONSTANTS = 2 }; // t and pi come first, then functions
    const char *advice = carom_datum_advice(key, empty);
    if (key->length > 60)
        return carom_fault(r, key, 0, "name '%.20s...' is longer than 60 characters; shorten it", key->text);
    if (!carom_name_valid(key->text))
        return carom_fault(r, key, 0, "'%s' is not a name; %s", key->text,
                           advice ? advice : NAMES);
    for (int i = 0; carom_name_reserved(i) && (bare || i < CONSTANTS); ++i)
        if (strcmp(carom_name_reserved(i), key->text) == 0)
            return carom_fault(r, key, 0, "'%s' is a reserved name; choose another", key->text);
    const name *other = carom_names_find(others, key->text, key->length);
    if (other)
        return carom_fault(r, key, 0, "'%s' is already defined as %s%s; rename one of them", key->text,
                           carom_name_kind(other->kind), carom_line_of(other->line).text);
    return CAROM_OK;
}

carom_status carom_new_name(resolver *r, const carom_datum *n, bool empty, const names *others) {
    return new_name(r, n, empty, others, true);
}
carom_status carom_new_owner(resolver *r, const carom_datum *n, bool empty, const names *others) {
    return new_name(r, n, empty, others, false);
}

carom_status carom_part_name(resolver *r, const carom_datum *n) {
    if (carom_name_valid(n->text) && n->length <= 60) return CAROM_OK;
    return carom_fault(r, n, 0, "'%.60s' is not a name; " NAMES, n->text);
}

carom_status carom_resolve_map(resolver *r, const carom_datum *n, const char *where, const carom_datum **children) {
    *children = NULL;
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    if (n->kind != CAROM_MAP)
        return carom_fault(r, n, 0, "%s must be a map (`name: value`), got a %s", where,
                           n->kind == CAROM_LIST ? "list" : "single value");
    *children = n;
    return CAROM_OK;
}
