// ledger.c: the ledger as a table, as a block of text, and as JSON.
//
// INTERFACE names first; beside them stand the constraint and the time that belong to a largest value.
#define _POSIX_C_SOURCE 200809L // fmemopen
#include "base/number.h"
#include "io/ledger.h"
#include <limits.h>
#include <math.h>
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
    LONG("inner.steps", counts.inner),
    LONG("inner.rejected", counts.inner_rejected),
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
    case LEDGER_LONG: *(long *)place = x >= 0 && x < 9e18 ? (long)x : 0; break;
    case LEDGER_INT: *(int *)place = x >= 0 && x <= INT_MAX ? (int)x : 0; break;
    case LEDGER_REAL: *(double *)place = x; break;
    case LEDGER_NS: case LEDGER_NAME: case LEDGER_JSON: break;
    }
}

const char *ledger_get_name(const carom_ledger_names *names, const ledger_entry *e) {
    return *(const char *const *)((const char *)names + e->at);
}

carom_ledger_names carom_ledger_names_of(const carom_ledger *l, const carom_model *m) {
    const carom_system *sys = carom_model_system(m);
    const int n = sys->listed ? INT_MAX : sys->ne + sys->nc; // those that come and go have numbers beyond
    const int id[3] = {l->penetration_id, l->drift_id, l->counts.residual_id};
    const char *name[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; ++i)
        if (id[i] >= 0 && id[i] < n) name[i] = carom_model_constraint(m, id[i]);
    const char *compliant =
        sys->compliant && l->compliant.which >= 0 ? carom_model_compliant(m, l->compliant.which) : NULL;
    return (carom_ledger_names){.penetration = name[0],
                                .drift = name[1],
                                .residual = name[2],
                                .redundant = carom_model_redundant(m),
                                .compliant = compliant};
}

const char *carom_event_word(carom_event_kind kind) {
    static const char *const word[] = {"impact", "close", "open", "stick", "slip", "accumulation"};
    return (unsigned)kind < sizeof word / sizeof word[0] ? word[kind] : NULL;
}

// -- text -------------------------------------------------------------------------------------------

static const char *plural(long n) { return n == 1 ? "" : "s"; }

// A largest value with its place.
static void most(FILE *f, const char *label, double x, const char *where, double t) {
    fprintf(f, "  %-12s %.3g", label, x);
    if (where) fprintf(f, " at %s, t = %.9g", where, t);
    fputc('\n', f);
}

static void print(FILE *f, const carom_ledger *l, carom_ledger_names names) {
    static const double ROUNDING = 1e-12;
    const double each = l->steps > 0 ? l->seconds / (double)l->steps : 0;
    fprintf(f, "  %-12s %ld (%ld rejected), %.3g s of CPU time, %.3g ns per step, %.3g s by the clock\n", "steps", l->steps,
            l->rejected, l->seconds, 1e9 * each, l->wall);
    if (l->counts.inner > 0)
        fprintf(f, "  %-12s %ld step%s of the scheme's own (%ld rejected)\n", "  inside", l->counts.inner, plural(l->counts.inner), l->counts.inner_rejected);
    if (l->undecided > 0)
        fprintf(f, "  %-12s %ld impact%s that no step size resolves\n", "undecided", l->undecided, plural(l->undecided));
    if (l->switches > 0) fprintf(f, "  %-12s %ld change%s of method on the way\n", "switches", l->switches, plural(l->switches));
    fprintf(f, "  %-12s %ld, accumulations %ld\n", "impacts", l->impacts, l->accumulations);
    most(f, "penetration", l->penetration, names.penetration, l->penetration_t);
    if (names.compliant) {
        fprintf(f, "  %-12s overlap %.3g at %s, t = %.9g", "compliant", l->compliant.overlap, names.compliant,
                l->compliant.t);
        fprintf(f, l->compliant.start > 0 ? "; %.3g at the start\n" : "\n", l->compliant.start);
    }
    if (names.drift || l->drift > 0) most(f, "drift", l->drift, names.drift, l->drift_t);
    fprintf(f, "  %-12s start %.9g, end %.9g, balance %.3g\n", "energy", l->energy.start, l->energy.end, l->energy.balance);
    fprintf(f, "  %-12s impact %.6g, friction %.6g, damping %.6g; external work %.6g\n", "  lost to", l->energy.impact,
            l->energy.friction, l->energy.damping, l->energy.external);
    if (l->energy.friction < -ROUNDING * (fabs(l->energy.impact) + l->kinetic))
        fprintf(f,
                "  %-12s friction is negative: in impacts it acts along the mean slip; impact and friction together "
                "took %.6g\n",
                "", l->energy.impact + l->energy.friction);
    if (l->energy.created > 0) fprintf(f, "  %-12s %.6g by some impacts; the others took %.6g\n", "  created", l->energy.created, l->energy.lost);
    if (isfinite(l->energy.identity))
        fprintf(f, "  %-12s %.3g, the scheme's own balance in the worst step\n", "  identity", l->energy.identity);
    if (l->sleep.falls > 0)
        fprintf(f, "  %-12s %ld bodies asleep at the end; bodies fell asleep %ld times, which took the energy %.3g, and woke %ld times\n", "sleep", l->sleep.falls - l->sleep.wakes,
                l->sleep.falls, l->sleep.energy, l->sleep.wakes);
    fprintf(f, "  %-12s %ld problem%s, %ld iteration%s, %ld fallback%s, residual %.3g", "contact", l->counts.problems, plural(l->counts.problems),
            l->counts.iterations, plural(l->counts.iterations), l->counts.fallbacks, plural(l->counts.fallbacks), l->counts.residual);
    if (names.residual) fprintf(f, " at %s, t = %.9g", names.residual, l->residual_t);
    if (l->counts.accepted > 0)
        fprintf(f, "; %ld step%s accepted above tolerance, up to %.1e of the step's velocities", l->counts.accepted, plural(l->counts.accepted), l->counts.accepted_residual);
    fputc('\n', f);
    if (names.redundant) fprintf(f, "  %-12s %s; of all reactions that do, the smallest are taken\n", "redundant", names.redundant);
    if (l->counts.newton <= 0) return;
    fprintf(f, "  %-12s %ld iteration%s, median %d, at most %d in a step (t = %.9g)", "newton", l->counts.newton, plural(l->counts.newton), l->counts.newton_median, l->counts.newton_max,
            l->counts.newton_max_t);
    if (l->counts.newton_many > 0) fprintf(f, "; %ld step%s needed more than 20", l->counts.newton_many, plural(l->counts.newton_many));
    fputc('\n', f);
}

void carom_ledger_print(FILE *f, const carom_ledger *l, carom_ledger_names names) {
    const carom_locale locale = carom_locale_begin();
    print(f, l, names);
    carom_locale_end(locale);
}

// -- JSON -------------------------------------------------------------------------------------------

// Length of the UTF-8 sequence at s, 0 when it is none: JSON must be valid whatever a file name holds.
static int utf8(const unsigned char *s) {
    if (*s < 0x80) return 1;
    const int n = *s >= 0xC2 && *s < 0xE0 ? 2 : (*s & 0xF0) == 0xE0 ? 3 : *s >= 0xF0 && *s < 0xF5 ? 4 : 0;
    for (int i = 1; i < n; ++i)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((*s == 0xE0 && s[1] < 0xA0) || (*s == 0xED && s[1] > 0x9F) || (*s == 0xF0 && s[1] < 0x90) || (*s == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

void carom_json_string(FILE *f, const char *text) {
    if (!text) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const int n = utf8(s);
        if (n == 0) {
            fputs("\\ufffd", f);
            ++s;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(f, "\\u%04x", (unsigned)*s);
        else
            fwrite(s, 1, (size_t)n, f);
        s += n;
    }
    fputc('"', f);
}

void carom_json_number(FILE *f, double x) {
    char text[40] = "null";
    if (isfinite(x)) carom_format(text, sizeof text, "%.17g", x);
    fputs(text, f);
}

void carom_warnings_json(char *text, const carom_warning *list, int n) {
    FILE *f = fmemopen(text, CAROM_WARNINGS_ROOM, "w");
    text[0] = 0;
    if (!f) return;
    fputc('[', f);
    for (int i = 0; i < n; ++i) {
        fputs(i ? ", {\"kind\": " : "{\"kind\": ", f), carom_json_string(f, list[i].kind);
        fputs(", \"text\": ", f), carom_json_string(f, list[i].text);
        fputs(", \"name\": ", f), carom_json_string(f, list[i].name);
        fputs(", \"t\": ", f), carom_json_number(f, list[i].t);
        fputc('}', f);
    }
    fputc(']', f);
    fclose(f);
}

carom_ledger_line carom_ledger_line_at(const carom_ledger *l, const carom_ledger_names *names, int i) {
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

void carom_ledger_json(FILE *f, const carom_ledger *l, carom_ledger_names names) {
    size_t group = 0; // length of the open group's name with its dot
    for (const ledger_entry *e = ledger_table; e->name; ++e) {
        const char *dot = strchr(e->name, '.');
        const size_t prefix = dot ? (size_t)(dot - e->name) + 1 : 0;
        const bool same = e > ledger_table && prefix == group && (prefix == 0 || strncmp(e->name, e[-1].name, prefix) == 0);
        if (!same && group) fputc('}', f);
        if (e > ledger_table) fputs(same && prefix ? ", " : ",\n  ", f);
        if (!same && prefix) fprintf(f, "\"%.*s\": {", (int)prefix - 1, e->name);
        group = prefix;
        fprintf(f, "\"%s\": ", e->name + prefix);
        const carom_ledger_line line = carom_ledger_line_at(l, &names, (int)(e - ledger_table));
        if (e->kind == LEDGER_JSON)
            fputs(line.text ? line.text : strcmp(e->name, "warnings") == 0 ? "[]" : "null", f);
        else if (line.is_text)
            carom_json_string(f, line.text);
        else
            carom_json_number(f, line.value);
    }
    if (group) fputc('}', f);
}

// -- elements -----------------------------------------------------------------------------------------

// Energies that elements store now, for free(); NULL: none, or no memory.
static double *stored(const carom_model *m, carom_sim *sim) {
    const int n = carom_model_elements(m);
    double *energy = n > 0 ? calloc((size_t)n, sizeof *energy) : NULL;
    const carom_now now = carom_sim_now(sim);
    if (energy) carom_model_stored(m, carom_sim_work(sim), now.t, now.q, now.v, energy);
    return energy;
}

void carom_elements_print(FILE *f, const carom_model *m, carom_sim *sim) {
    enum { MOST = 20 };
    const int n = carom_model_elements(m);
    const double *work = carom_sim_works(sim);
    double *energy = stored(m, sim);
    const carom_locale locale = carom_locale_begin();
    for (int i = 0; energy && i < n && i < MOST; ++i) {
        const char *kind, *name = carom_model_element(m, i, &kind);
        fprintf(f, "  %-12s ", kind);
        if (strcmp(kind, "spring") == 0) fprintf(f, "%s stores %.6g, has taken %.6g\n", name, energy[i], 0 - work[i]);
        else fprintf(f, "%s has given %.6g\n", name, work[i]);
    }
    if (energy && n > MOST) fprintf(f, "  %-12s %d more springs, motors and loads\n", "and", n - MOST);
    carom_locale_end(locale);
    free(energy);
}

void carom_elements_json(FILE *f, const carom_model *m, carom_sim *sim) {
    double *energy = stored(m, sim);
    if (!energy) return;
    fputs(",\n  \"elements\": {", f);
    for (int i = 0; i < carom_model_elements(m); ++i) {
        const char *kind, *name = carom_model_element(m, i, &kind);
        fputs(i ? ",\n    " : "\n    ", f);
        carom_json_string(f, name);
        fprintf(f, ": {\"kind\": \"%s\", \"energy\": ", kind), carom_json_number(f, energy[i]);
        fputs(", \"work\": ", f), carom_json_number(f, carom_sim_works(sim)[i]);
        fputs("}", f);
    }
    fputs("}", f);
    free(energy);
}
