// ledger.c: the ledger as a block of text, and as JSON.
#define _POSIX_C_SOURCE 200809L // fmemopen
#include "base/number.h"
#include "io/json.h"
#include "sim/ledger.h"
#include "io/print.h"
#include "model/answers.h"
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

carom_ledger_names carom_ledger_names_of(const carom_ledger *l, const carom_model *m) {
    if (!l || !m) return (carom_ledger_names){0};
    const carom_system *sys = carom_model_system(m);
    const long long n = sys->listed ? LLONG_MAX : sys->ne + sys->nc; // those that come and go have numbers beyond
    const long long id[3] = {l->penetration_id, l->drift_id, l->counts.residual_id};
    const char *name[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; ++i)
        if (id[i] >= 0 && id[i] < n) name[i] = carom_model_constraint(m, id[i]);
    const char *compliant =
        sys->checks->compliant_overlap && l->compliant.which >= 0 ? carom_model_compliant(m, l->compliant.which) : NULL;
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
    if (where) carom_safe_file(f, " at %s, t = %.9g", where, t);
    fputc('\n', f);
}

static void print(FILE *f, const carom_ledger *l, carom_ledger_names names) {
    static const double ROUNDING = 1e-12; // of the energies: friction that gives so much is a sum of rounding errors
    const double each = l->steps > 0 ? l->seconds / (double)l->steps : 0;
    fprintf(f, "  %-12s %ld (%ld rejected), %.3g s of CPU time, %.3g ns per step, %.3g s wall time\n", "steps",
            l->steps, l->rejected, l->seconds, 1e9 * each, l->wall);
    if (l->counts.substeps > 0)
        fprintf(f, "  %-12s %ld step%s of the scheme's own (%ld rejected)\n", "  inside", l->counts.substeps,
                plural(l->counts.substeps), l->counts.substeps_rejected);
    if (l->undecided > 0)
        fprintf(f, "  %-12s %ld impact%s that no step size resolves\n", "undecided", l->undecided,
                plural(l->undecided));
    if (l->switches > 0)
        fprintf(f, "  %-12s %ld change%s of method on the way\n", "switches", l->switches, plural(l->switches));
    fprintf(f, "  %-12s %ld, accumulations %ld\n", "impacts", l->impacts, l->accumulations);
    most(f, "penetration", l->penetration, names.penetration, l->penetration_t);
    if (names.compliant) {
        fprintf(f, "  %-12s overlap %.3g at %s, t = %.9g", "compliant", l->compliant.overlap, names.compliant,
                l->compliant.t);
        fprintf(f, l->compliant.start > 0 ? "; %.3g at the start\n" : "\n", l->compliant.start);
    }
    if (names.drift || l->drift > 0) most(f, "drift", l->drift, names.drift, l->drift_t);
    fprintf(f, "  %-12s start %.9g, end %.9g, balance %.3g\n", "energy", l->energy.start, l->energy.end,
            l->energy.balance);
    fprintf(f, "  %-12s impact %.6g, friction %.6g, damping %.6g; external work %.6g\n", "  lost to", l->energy.impact,
            l->energy.friction, l->energy.damping, l->energy.external);
    if (l->energy.friction < -ROUNDING * (fabs(l->energy.impact) + l->kinetic))
        fprintf(f,
                "  %-12s friction is negative: in impacts it acts along the mean slip; impact and friction together "
                "took %.6g\n",
                "", l->energy.impact + l->energy.friction);
    if (l->energy.created > 0)
        fprintf(f, "  %-12s %.6g by some impacts; the others took %.6g\n", "  created", l->energy.created,
                l->energy.lost);
    if (isfinite(l->energy.identity))
        fprintf(f, "  %-12s %.3g, the scheme's own balance in the worst step\n", "  identity", l->energy.identity);
    if (l->sleep.falls > 0)
        fprintf(f,
                "  %-12s %ld bodies asleep at the end; bodies fell asleep %ld times, which took the energy %.3g, and "
                "woke %ld times\n",
                "sleep", l->sleep.falls - l->sleep.wakes, l->sleep.falls, l->sleep.energy, l->sleep.wakes);
    fprintf(f, "  %-12s %ld problem%s, %ld iteration%s, %ld fallback%s, residual %.3g", "contact", l->counts.problems,
            plural(l->counts.problems), l->counts.iterations, plural(l->counts.iterations), l->counts.fallbacks,
            plural(l->counts.fallbacks), l->counts.residual);
    if (names.residual) carom_safe_file(f, " at %s, t = %.9g", names.residual, l->residual_t);
    if (l->counts.accepted > 0)
        fprintf(f, "; %ld step%s accepted above tolerance, up to %.1e of the step's velocities", l->counts.accepted,
                plural(l->counts.accepted), l->counts.accepted_residual);
    fputc('\n', f);
    if (names.redundant)
        carom_safe_file(f, "  %-12s %s; of all reactions that do, the smallest are taken\n", "redundant",
                        names.redundant);
    if (l->counts.newton <= 0) return;
    fprintf(f, "  %-12s %ld iteration%s, median %d, at most %d in a step (t = %.9g)", "newton", l->counts.newton,
            plural(l->counts.newton), l->counts.newton_median, l->counts.newton_max, l->counts.newton_max_t);
    if (l->counts.newton_many > 0)
        fprintf(f, "; %ld step%s needed more than 20", l->counts.newton_many, plural(l->counts.newton_many));
    fputc('\n', f);
}

void carom_ledger_print(FILE *f, const carom_ledger *l, carom_ledger_names names) {
    if (!f || !l) return;
    const carom_locale locale = carom_locale_begin();
    print(f, l, names);
    carom_locale_end(locale);
}

// -- JSON -------------------------------------------------------------------------------------------

void carom_json_string(FILE *f, const char *text) {
    if (!f) return;
    if (!text) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    carom_escape_file(CAROM_FOR_JSON, f, text);
    fputc('"', f);
}

void carom_json_number(FILE *f, double x) {
    if (!f) return;
    char text[40] = "null";
    if (isfinite(x)) carom_format(text, sizeof text, "%.17g", x);
    fputs(text, f);
}

void carom_json(FILE *f, const char *format, ...) {
    va_list with;
    va_start(with, format);
    for (const char *c = format; *c; ++c) {
        if (*c != '%') {
            fputc(*c, f);
            continue;
        }
        switch (*++c) {
        case 's': carom_json_string(f, va_arg(with, const char *)); break;
        case 'g': carom_json_number(f, va_arg(with, double)); break;
        case 'i': fputs(va_arg(with, int) ? "true" : "false", f); break;
        case 'd': fprintf(f, "%d", va_arg(with, int)); break;
        default: fprintf(f, "%ld", va_arg(with, long)), ++c; // %ld
        }
    }
    va_end(with);
}

void carom_json_list(FILE *f, const double *x, int n) {
    fputc('[', f);
    for (int i = 0; i < n; ++i) fputs(i ? ", " : "", f), carom_json_number(f, x[i]);
    fputc(']', f);
}

void carom_json_named(FILE *f, char *const *name, const double *x, int n) {
    fputc('{', f);
    for (int i = 0; i < n; ++i) carom_json(f, i ? ", %s: %g" : "%s: %g", name[i], x[i]);
    fputc('}', f);
}

void carom_warnings_json(char *text, const carom_warning *list, int n) {
    if (!text || !list) return;
    FILE *f = fmemopen(text, CAROM_WARNINGS_ROOM, "w");
    text[0] = 0;
    if (!f) return;
    fputc('[', f);
    for (int i = 0; i < n; ++i) {
        fputs(i ? ", " : "", f);
        carom_json(f, "{\"kind\": %s, \"text\": %s, \"name\": %s, \"t\": %g}", list[i].kind, list[i].text, list[i].name,
                   list[i].t);
    }
    fputc(']', f);
    fclose(f);
}

// The end of the JSON value at s, by the grammar of RFC 8259; NULL: there is none, or one nested more than eight deep.
static const char *json_end(const char *s, int depth) {
    static const char space[] = " \t\r\n", digit[] = "0123456789";
    s += strspn(s, space);
    if (*s == '"') {
        for (++s; *s && *s != '"'; ++s) {
            if ((unsigned char)*s < 0x20) return NULL;
            if (*s != '\\') continue;
            if (!*++s || !strchr("\"\\/bfnrtu", *s)) return NULL;
            if (*s == 'u' && strspn(s + 1, "0123456789abcdefABCDEF") < 4) return NULL;
        }
        return *s ? s + 1 : NULL;
    }
    if (*s == '[' || *s == '{') {
        const char close = *s == '[' ? ']' : '}';
        if (depth == 8) return NULL;
        ++s, s += strspn(s, space);
        if (*s == close) return s + 1;
        for (;; ++s) {
            if (close == '}') {
                s += strspn(s, space);
                if (*s != '"' || !(s = json_end(s, depth + 1))) return NULL;
                s += strspn(s, space);
                if (*s++ != ':') return NULL;
            }
            if (!(s = json_end(s, depth + 1))) return NULL;
            s += strspn(s, space);
            if (*s == close) return s + 1;
            if (*s != ',') return NULL;
        }
    }
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; ++i)
        if (strncmp(s, words[i], strlen(words[i])) == 0) return s + strlen(words[i]);
    s += *s == '-';
    if (*s == '0' ? !!strchr(digit, s[1] ? s[1] : 'x') : !strspn(s, digit)) return NULL;
    s += strspn(s, digit);
    if (*s == '.' && !strspn(++s, digit)) return NULL;
    s += strspn(s, digit);
    if (*s != 'e' && *s != 'E') return s;
    ++s, s += *s == '+' || *s == '-';
    return strspn(s, digit) ? s + strspn(s, digit) : NULL;
}

// What a result holds as JSON, a list or an object by its first sign; the result may hold anything.
static void json_whole(FILE *f, const char *text, char first, const char *otherwise) {
    const char *end = text && text[strspn(text, " \t\r\n")] == first ? json_end(text, 0) : NULL;
    fputs(end && !end[strspn(end, " \t\r\n")] ? text : otherwise, f);
}

void carom_ledger_json(FILE *f, const carom_ledger *l, carom_ledger_names names) {
    if (!f || !l) return;
    size_t group = 0; // length of the open group's name with its dot
    for (const ledger_entry *e = ledger_table; e->name; ++e) {
        const char *dot = strchr(e->name, '.');
        const size_t prefix = dot ? (size_t)(dot - e->name) + 1 : 0;
        const bool same =
            e > ledger_table && prefix == group && (prefix == 0 || strncmp(e->name, e[-1].name, prefix) == 0);
        if (!same && group) fputc('}', f);
        if (e > ledger_table) fputs(same && prefix ? ", " : ",\n  ", f);
        if (!same && prefix) fprintf(f, "\"%.*s\": {", (int)prefix - 1, e->name);
        group = prefix;
        fprintf(f, "\"%s\": ", e->name + prefix);
        const carom_ledger_line line = carom_ledger_line_at(l, &names, (int)(e - ledger_table));
        if (e->kind == LEDGER_JSON)
            json_whole(f, line.text, strcmp(e->name, "warnings") == 0 ? '[' : '{',
                       strcmp(e->name, "warnings") == 0 ? "[]" : "null");
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
    if (!m || !sim) return;
    enum { MOST = 20 }; // lines: chosen, a screen
    const int n = carom_model_elements(m);
    const double *work = carom_sim_works(sim);
    double *energy = stored(m, sim);
    const carom_locale locale = carom_locale_begin();
    for (int i = 0; energy && i < n && i < MOST; ++i) {
        const char *kind, *name = carom_model_element(m, i, &kind);
        fprintf(f, "  %-12s ", kind);
        if (strcmp(kind, "spring") == 0)
            carom_safe_file(f, "%s stores %.6g, has taken %.6g\n", name, energy[i], 0 - work[i]);
        else carom_safe_file(f, "%s has given %.6g\n", name, work[i]);
    }
    if (energy && n > MOST) fprintf(f, "  %-12s %d more springs, motors and loads\n", "and", n - MOST);
    carom_locale_end(locale);
    free(energy);
}

void carom_elements_json(FILE *f, const carom_model *m, carom_sim *sim) {
    if (!m || !sim) return;
    double *energy = stored(m, sim);
    if (!energy) return;
    fputs(",\n  \"elements\": {", f);
    for (int i = 0; i < carom_model_elements(m); ++i) {
        const char *kind, *name = carom_model_element(m, i, &kind);
        fputs(i ? ",\n    " : "\n    ", f);
        carom_json(f, "%s: {\"kind\": %s, \"energy\": %g, \"work\": %g}", name, kind, energy[i],
                   carom_sim_works(sim)[i]);
    }
    fputs("}", f);
    free(energy);
}
