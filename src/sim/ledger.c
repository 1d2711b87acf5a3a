// ledger.c: the ledger as a table of names, and as programs see it: entries by name, in memory of their own.
//
// INTERFACE names first; beside them stand the constraint and the time that belong to a largest value.  The struct
// carom_ledger grows with every counter, so programs get no part of it to see.
#include "base/missing.h"
#include "sim/ledger.h"
#include "sim/sim.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REAL(name_, field_) {name_, LEDGER_REAL, offsetof(carom_ledger, field_)}
#define LONG(name_, field_) {name_, LEDGER_LONG, offsetof(carom_ledger, field_)}
#define NAME(name_, field_) {name_, LEDGER_NAME, offsetof(carom_ledger_names, field_)}

const ledger_entry ledger_table[] = {
    LONG("steps", steps),
    REAL("seconds", seconds),
    {"ns_per_step", LEDGER_NS, 0},
    REAL("wall", wall),
    LONG("rejected", rejected),
    LONG("inner.steps", counts.substeps),
    LONG("inner.rejected", counts.substeps_rejected),
    LONG("undecided", undecided),
    LONG("switches", switches),
    LONG("impacts", impacts),
    LONG("accumulations", accumulations),
    REAL("penetration", penetration),
    NAME("penetration_contact", penetration),
    REAL("penetration_time", penetration_t),
    REAL("compliant.overlap", compliant.overlap),
    NAME("compliant.contact", compliant),
    REAL("compliant.time", compliant.t),
    REAL("compliant.start", compliant.start),
    REAL("drift", drift),
    NAME("drift_constraint", drift),
    REAL("drift_time", drift_t),
    REAL("energy.start", energy.start),
    REAL("energy.end", energy.end),
    REAL("energy.impact", energy.impact),
    REAL("energy.lost", energy.lost),
    REAL("energy.created", energy.created),
    REAL("energy.friction", energy.friction),
    REAL("energy.damping", energy.damping),
    REAL("energy.external", energy.external),
    REAL("energy.balance", energy.balance),
    REAL("energy.identity", energy.identity),
    LONG("sleep.falls", sleep.falls),
    LONG("sleep.wakes", sleep.wakes),
    REAL("sleep.energy", sleep.energy),
    LONG("contact.problems", counts.problems),
    LONG("contact.iterations", counts.iterations),
    REAL("contact.residual", counts.residual),
    NAME("contact.residual_constraint", residual),
    REAL("contact.residual_time", residual_t),
    LONG("contact.fallbacks", counts.fallbacks),
    LONG("contact.accepted", counts.accepted),
    REAL("contact.accepted_residual", counts.accepted_residual),
    LONG("newton.iterations", counts.newton),
    {"newton.median", LEDGER_INT, offsetof(carom_ledger, counts.newton_median)},
    {"newton.max", LEDGER_INT, offsetof(carom_ledger, counts.newton_max)},
    REAL("newton.max_time", counts.newton_max_t),
    LONG("newton.many", counts.newton_many),
    NAME("redundant", redundant),
    {"estimate", LEDGER_JSON, offsetof(carom_ledger_names, estimate)},
    {"warnings", LEDGER_JSON, offsetof(carom_ledger_names, warnings)},
    {NULL, LEDGER_REAL, 0},
};

double ledger_get(const carom_ledger *l, const ledger_entry *e) {
    const char *place = (const char *)l + e->at;
    switch (e->kind) {
    case LEDGER_LONG: return (double)*(const long *)place;
    case LEDGER_INT: return *(const int *)place;
    case LEDGER_REAL: return *(const double *)place;
    case LEDGER_NS: return l->steps > 0 ? 1e9 * l->seconds / (double)l->steps : 0;
    case LEDGER_NAME: case LEDGER_JSON: break;
    }
    return NAN;
}

void ledger_set(carom_ledger *l, const ledger_entry *e, double x) {
    char *place = (char *)l + e->at;
    switch (e->kind) {
    case LEDGER_LONG: *(long *)place = x >= 0 && x < 9e18 ? (long)x : 0; break; // below 2^63
    case LEDGER_INT: *(int *)place = x >= 0 && x <= INT_MAX ? (int)x : 0; break;
    case LEDGER_REAL: *(double *)place = x; break;
    case LEDGER_NS: case LEDGER_NAME: case LEDGER_JSON: break;
    }
}

const char *ledger_get_name(const carom_ledger_names *names, const ledger_entry *e) {
    return *(const char *const *)((const char *)names + e->at);
}

carom_ledger_line carom_ledger_line_at(const carom_ledger *l, const carom_ledger_names *names, int i) {
    if (!l) return (carom_ledger_line){0};
    enum { LINES = sizeof ledger_table / sizeof ledger_table[0] - 1 };
    if (i < 0 || i >= LINES) return (carom_ledger_line){.name = NULL};
    const ledger_entry *e = &ledger_table[i];
    carom_ledger_line line = {.name = e->name, .value = NAN, .is_text = ledger_is_text(e)};
    line.whole = e->kind == LEDGER_LONG || e->kind == LEDGER_INT;
    if (line.is_text)
        line.text = ledger_get_name(names, e);
    else if (i == 0 || e[-1].kind != LEDGER_NAME || ledger_get_name(names, e - 1)) // else the time of what never was
        line.value = ledger_get(l, e);
    return line;
}

// -- for programs ---------------------------------------------------------------------------------------------------

typedef struct whole {
    carom_ledger ledger; // first: programs hold its address
    carom_ledger_names names;
    carom_ledger_line *line;
} whole;

// The names are all texts.
enum { NAMES = sizeof(carom_ledger_names) / sizeof(const char *) };

void carom_ledger_free(carom_ledger *l) {
    if (!l) return;
    whole *w = (whole *)l;
    const char **name = (const char **)&w->names;
    for (int i = 0; i < NAMES; ++i) free((char *)(uintptr_t)name[i]);
    free(w->line);
    free(w);
}

carom_ledger *carom_ledger_keep(const carom_ledger *l, const carom_ledger_names *names, carom_error *err) {
    int n = 0;
    while (carom_ledger_line_at(l, names, n).name) ++n;
    whole *w = calloc(1, sizeof *w);
    if (w) w->line = calloc((size_t)n + 1, sizeof *w->line);
    bool full = w && w->line;
    const char **to = w ? (const char **)&w->names : NULL, *const *from = (const char *const *)names;
    for (int i = 0; full && i < NAMES; ++i) {
        if (!from[i]) continue;
        char *copy = malloc(strlen(from[i]) + 1);
        if (copy) memcpy(copy, from[i], strlen(from[i]) + 1);
        to[i] = copy;
        full = copy != NULL;
    }
    if (!full) {
        carom_ledger_free(w ? &w->ledger : NULL);
        carom_fail(err, CAROM_NO_MEMORY, "no memory for a ledger");
        return NULL;
    }
    w->ledger = *l;
    for (int i = 0; i < n; ++i) w->line[i] = carom_ledger_line_at(&w->ledger, &w->names, i);
    return &w->ledger;
}

carom_ledger *carom_ledger_of_sim(carom_sim *sim, carom_error *err) {
    carom_ledger l;
    if (!sim) CAROM_MISSING(err);
    if (!sim || carom_sim_ledger(sim, &l, err) != CAROM_OK) return NULL;
    const long long id[3] = {l.penetration_id, l.drift_id, l.counts.residual_id};
    const char *name[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; ++i)
        if (id[i] >= 0 && sim->step.inside->name) name[i] = sim->step.inside->name(sim->step.inside->name_user, id[i]);
    return carom_ledger_keep(
        &l, &(carom_ledger_names){.penetration = name[0], .drift = name[1], .residual = name[2]}, err);
}

const carom_ledger_line *carom_ledger_entry(const carom_ledger *l, int i) {
    if (!l || i < 0) return NULL;
    const carom_ledger_line *line = ((const whole *)l)->line;
    for (int k = 0; k < i; ++k)
        if (!line[k].name) return NULL;
    return line[i].name ? &line[i] : NULL;
}

static const carom_ledger_line *find(const carom_ledger *l, const char *name) {
    const carom_ledger_line *line = NULL;
    if (name)
        for (int i = 0; (line = carom_ledger_entry(l, i)) && strcmp(line->name, name) != 0; ++i) {}
    return line;
}

double carom_ledger_number(const carom_ledger *l, const char *name) {
    const carom_ledger_line *line = find(l, name);
    return line && !line->is_text ? line->value : NAN;
}

const char *carom_ledger_text(const carom_ledger *l, const char *name) {
    const carom_ledger_line *line = find(l, name);
    return line && line->is_text ? line->text : NULL;
}
