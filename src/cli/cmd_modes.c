// cmd_modes.c: carom modes: frequencies, damping ratios and shapes about a state; over a parameter, a Campbell diagram.
#define _POSIX_C_SOURCE 200809L
#include "base/grow.h"
#include "base/number.h"
#include "cli/cli.h"
#include "cli/figure.h"
#include "dynamics/names.h"
#include "io/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BALANCED = 1e-6; // of the forces: a state that a person wrote
static const double UNSTABLE = 1e-9; // negative damping below is rounding; the same in the plot

static const cli_option options[] = {
    {"at", 0, "FILE|equilibrium|initial",
     "linearise about this state: one that `carom equilibrium --save` wrote or the last row of a result; the "
     "equilibrium near the initial "
     "one (default); the initial state with its rates, as for rotors",
     false},
    {"contacts", 0, "open|closed",
     "closed (default): closed contacts that stick act as joints, those that slide constrain their normal motion and "
     "carry "
     "friction; open: no contact acts",
     false},
    {"count", 0, "N", "number of modes, lowest frequency first (default: all for small models, 20 for large ones)",
     false},
    {"mode", 0, "N", "with -o FILE.h5: one period of the N-th mode (from 1) as a result, for `carom view`", false},
    {"scale", 0, "X", "with --mode: the largest displacement (default: a twentieth of the model's size)", false},
    {"over", 0, "NAME=SPEC", "repeat for values of a parameter, written as for `carom sweep --vary`", false},
    {"plot", 0, "FILE", "with --over: frequencies and damping versus the parameter: .svg, .png or .pdf", false},
    {"out", 'o', "FILE", "a table with one row per mode: .csv; with --mode: a result, .h5", false},
    CLI_MODEL,
    {"json", 0, NULL, "{frequencies, damping, ...} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct job {
    const cli_args *a;
    cli_source source;
    bool open, initial;
    long count, mode;
    double scale;
    carom_vary vary;       // --over
    double *state;         // --at
} job;

// -- one linearisation ------------------------------------------------------------------------------------------

static carom_model *read_model(const job *j, const char *more, carom_error *err) {
    const size_t n = (size_t)carom_list_length(j->source.set);
    const char **set = calloc(n + 2, sizeof *set);
    if (!set) abort();
    memcpy(set, j->source.set, n * sizeof *set);
    set[n] = more;
    carom_model_def def = j->source.def;
    def.set = set;
    carom_model *m = carom_model_create(&def, err);
    free(set);
    return m;
}

// The state of --at is read once, by the names of the model without --over.
static carom_status find(const job *j, const carom_model *m, carom_modes *modes, carom_error *err) {
    const carom_system *s = carom_model_system(m);
    carom_modes_def def = {.open = j->open, .count = (int)j->count};
    if (j->state) def.q = j->state, def.v = j->state + s->nq;
    if (j->initial) def.q = carom_model_q0(m), def.v = carom_model_v0(m);
    return carom_modes_find(modes, m, &def, err);
}

static int exit_of(carom_status status) {
    return status == CAROM_BAD_INPUT || status == CAROM_UNSUPPORTED ? CLI_USAGE : CLI_FAILED;
}

// -- what is said -------------------------------------------------------------------------------------------------

// The velocity that moves most.
static const char *mover(const carom_model *m, const carom_mode *mode, int nv) {
    int most = 0;
    for (int i = 1; i < nv; ++i)
        if (hypot(mode->shape[i], mode->shape[nv + i]) >
            (1 + CLI_DIGITS) * hypot(mode->shape[most], mode->shape[nv + most]))
            most = i;
    return carom_model_velocity(m, most);
}

static void print_text(const carom_model *m, const carom_modes *x, const char *file) {
    const char *name = carom_model_name(m);
    cli_print("%s: %d mode%s (%s); %d joint constraint%s, %d contact%s that stick%s, %d that slide%s\n",
              name ? name : file, x->count, x->count == 1 ? "" : "s", x->method, x->joints, x->joints == 1 ? "" : "s",
              x->sticking, x->sticking == 1 ? "" : "s", x->sticking == 1 ? "s" : "", x->sliding,
              x->sliding == 1 ? "s" : "");
    if (x->unbalanced > BALANCED)
        printf("  this is not an equilibrium: unbalanced forces %.3g (relative)\n", x->unbalanced);
    if (x->sample > 0)
        cli_print("  with controllers: re and im are log(multiplier)/%.9g s; %d multiplier%s 0\n", x->sample,
                  x->forgotten, x->forgotten == 1 ? " is" : "s are");
    printf("  %4s  %14s  %12s  %14s  %14s  %s\n", "mode", "frequency/Hz", "damping", "re/(1/s)", "im/(1/s)",
           "largest in");
    for (int i = 0; i < x->count; ++i) {
        const carom_mode *k = &x->mode[i];
        cli_print("  %4d  %14.8g  %12.5g  %14.7g  %14.7g  %s%s\n", i + 1, k->frequency, k->damping, k->re, k->im,
                  mover(m, k, x->nv), k->rigid ? "   rigid body" : "");
    }
}

static void list(const char *name, const carom_modes *x, double (*value)(const carom_mode *k)) {
    printf("\"%s\": [", name);
    for (int i = 0; i < x->count; ++i) fputs(i ? ", " : "", stdout), carom_json_number(stdout, value(&x->mode[i]));
    fputs("]", stdout);
}

static void list_rigid(const carom_modes *x) {
    fputs("\"rigid\": [", stdout);
    for (int i = 0; i < x->count; ++i) printf("%s%s", i ? ", " : "", x->mode[i].rigid ? "true" : "false");
    fputs("]", stdout);
}

static double frequency(const carom_mode *k) { return k->frequency; }
static double damping(const carom_mode *k) { return k->damping; }

static void print_json(const carom_model *m, const carom_modes *x) {
    fputs("{", stdout), list("frequencies", x, frequency), fputs(",\n ", stdout), list("damping", x, damping);
    fputs(",\n \"eigenvalues\": [", stdout);
    for (int i = 0; i < x->count; ++i) carom_json(stdout, i ? ", [%g, %g]" : "[%g, %g]", x->mode[i].re, x->mode[i].im);
    if (x->sample > 0) {
        carom_json(stdout, "],\n \"sample\": %g, \"forgotten\": %d, \"multipliers\": [", x->sample, x->forgotten);
        for (int i = 0; i < x->count; ++i) {
            const double size = exp(x->sample * x->mode[i].re), angle = x->sample * x->mode[i].im;
            carom_json(stdout, i ? ", [%g, %g]" : "[%g, %g]", size * cos(angle), size * sin(angle));
        }
    }
    carom_json(stdout, "],\n \"joints\": %d, \"sticking\": %d, \"sliding\": %d, \"method\": %s, \"unbalanced\": %g,\n ",
               x->joints, x->sticking, x->sliding, x->method, x->unbalanced);
    list_rigid(x);
    fputs(",\n \"names\": [", stdout);
    for (int i = 0, n = 0; i < x->nv; ++i)
        if (!carom_model_presses(m, i)) carom_json(stdout, n++ ? ", %s" : "%s", carom_model_velocity(m, i));
    fputs("],\n \"shapes\": [", stdout);
    for (int k = 0; k < x->count; ++k) {
        fputs(k ? ",\n  [" : "\n  [", stdout);
        for (int i = 0, n = 0; i < x->nv; ++i) {
            if (carom_model_presses(m, i)) continue;
            carom_json(stdout, n++ ? ", [%g, %g]" : "[%g, %g]", x->mode[k].shape[i], x->mode[k].shape[x->nv + i]);
        }
        fputs("]", stdout);
    }
    fputs("]}\n", stdout);
}

// -- tables -------------------------------------------------------------------------------------------------------

static void put_number(FILE *f, double x) {
    char text[40];
    carom_format(text, sizeof text, ",%.17g", x);
    fputs(text, f);
}

// value: of the parameter that is varied; else the shapes in the coordinates of m.
static void put_modes(FILE *f, const carom_modes *x, const double *value, const carom_model *m) {
    for (int k = 0; k < x->count; ++k) {
        const carom_mode *mode = &x->mode[k];
        fprintf(f, "%d", k + 1);
        if (value) put_number(f, *value);
        put_number(f, mode->frequency), put_number(f, mode->damping), put_number(f, mode->re), put_number(f, mode->im);
        for (int i = 0; !value && i < x->nv; ++i)
            if (!carom_model_presses(m, i)) put_number(f, mode->shape[i]), put_number(f, mode->shape[x->nv + i]);
        fputc('\n', f);
    }
}

static bool begin_table(whole_file *w, const char *file, const carom_model *m, const char *over) {
    if (!cli_begin(w, file)) return false;
    FILE *f = w->f;
    fprintf(f, "mode%s%s,frequency,damping,re,im", over ? "," : "", over ? over : "");
    for (int i = 0; m && i < carom_model_system(m)->nv; ++i)
        if (!carom_model_presses(m, i))
            fprintf(f, ",%s,%s.imaginary", carom_model_velocity(m, i), carom_model_velocity(m, i));
    fputc('\n', f);
    return true;
}

static int write_out(const job *j, const carom_model *m, const carom_modes *x) {
    const char *out = cli_value(j->a, "out");
    if (!out) return CLI_DONE;
    if (cli_has(j->a, "mode")) {
        carom_error err = {0};
        if (j->mode > x->count)
            return cli_say("--mode %ld: there %s %d mode%s", j->mode, x->count == 1 ? "is" : "are", x->count,
                           x->count == 1 ? "" : "s"),
                   CLI_USAGE;
        const carom_play_def play = {.model = m,
                                     .text = j->source.text,
                                     .length = j->source.def.length,
                                     .model_file = j->a->word[0],
                                     .set = j->source.set,
                                     .file = out,
                                     .scale = j->scale};
        if (carom_modes_play(x, (int)j->mode - 1, &play, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_FAILED;
        return CLI_DONE;
    }
    whole_file w;
    if (!begin_table(&w, out, m, NULL)) return CLI_FAILED;
    put_modes(w.f, x, NULL, m);
    return cli_end(&w, true) ? CLI_DONE : CLI_FAILED;
}

static int once(const job *j, const carom_model *m) {
    carom_modes x;
    carom_error err = {0};
    const carom_status status = find(j, m, &x, &err);
    int code = CLI_DONE;
    if (status != CAROM_OK) {
        cli_say_of(j->a->word[0], err.text);
        code = exit_of(status);
    } else {
        code = write_out(j, m, &x);
        if (code == CLI_DONE && cli_has(j->a, "json")) print_json(m, &x);
        else if (code == CLI_DONE && !cli_has(j->a, "quiet")) print_text(m, &x, j->a->word[0]);
    }
    carom_modes_free(&x);
    return code;
}

// -- over a parameter ---------------------------------------------------------------------------------------------

// Points of all modes: parameter, frequency, damping.
typedef struct cloud { double *x, *f, *d; long n; } cloud;

static void add_point(cloud *c, double x, const carom_mode *k) {
    if (!CAROM_GROW(c->x, c->n) || !CAROM_GROW(c->f, c->n) || !CAROM_GROW(c->d, c->n)) abort();
    c->x[c->n] = x, c->f[c->n] = k->frequency, c->d[c->n++] = k->damping;
}

// Two panels of points; unstable modes stand out.
static bool plot(const cloud *c, const char *name, const char *file) {
    FILE *s = gnuplot_begin();
    if (!s) return false;
    char row[120];
    fputs("$d << EOD\n", s);
    for (long i = 0; i < c->n; ++i)
        carom_format(row, sizeof row, "%.10g %.10g %.10g\n", c->x[i], c->f[i], c->d[i]), fputs(row, s);
    fputs("EOD\n", s);
    gnuplot_terminal(s, gnuplot_kind(file), 800, 700);
    fputs("set multiplot layout 2,1\nset grid\nset key off\nset xlabel ", s);
    gnuplot_quote(s, name);
    fputs("\nset ylabel 'frequency / Hz'\nset yrange [0:*]\nplot $d using 1:($3 >= -1e-9 ? $2 : NaN) with points pt 7 "
          "ps 0.35 lc rgb '#0072b2', "
          "$d using 1:($3 < -1e-9 ? $2 : NaN) with points pt 7 ps 0.5 lc rgb '#d55e00'\n"
          "set ylabel 'damping ratio'\nset yrange [*:*]\nplot $d using 1:3 with points pt 7 ps 0.35 lc rgb '#0072b2', "
          "$d using 1:($3 < -1e-9 ? $3 : NaN) with points pt 7 ps 0.5 lc rgb '#d55e00'\nunset multiplot\n",
          s);
    return gnuplot_finish(s, file);
}

static int over(const job *j) {
    const bool json = cli_has(j->a, "json"), quiet = cli_has(j->a, "quiet");
    const char *out = cli_value(j->a, "out"), *picture = cli_value(j->a, "plot");
    whole_file w = {0};
    int code = out && !begin_table(&w, out, NULL, j->vary.name) ? CLI_FAILED : CLI_DONE;
    cloud c = {0};
    if (json) carom_json(stdout, "{\"name\": %s, \"values\": [", j->vary.name);
    for (long i = 0; code == CLI_DONE && i < j->vary.n; ++i) {
        char more[200];
        carom_error err = {0};
        carom_modes x = {0};
        carom_format(more, sizeof more, "%.150s=%.17g", j->vary.name, j->vary.value[i]);
        carom_model *m = read_model(j, more, &err);
        const carom_status status = m ? find(j, m, &x, &err) : CAROM_BAD_INPUT;
        if (status != CAROM_OK) cli_say("%s with %s: %s", j->a->word[0], more, err.text), code = exit_of(status);
        if (status == CAROM_OK && w.f) put_modes(w.f, &x, &j->vary.value[i], m);
        for (int k = 0; k < x.count; ++k) add_point(&c, j->vary.value[i], &x.mode[k]);
        if (status == CAROM_OK && json) {
            carom_json(stdout, i ? ",\n {\"value\": %g, " : "\n {\"value\": %g, ", j->vary.value[i]);
            list("frequencies", &x, frequency), fputs(", ", stdout), list("damping", &x, damping), fputs("}", stdout);
        } else if (status == CAROM_OK && !quiet) {
            cli_print("%s=%.9g:", j->vary.name, j->vary.value[i]);
            for (int k = 0; k < x.count; ++k)
                printf(" %.6g%s", x.mode[k].frequency, x.mode[k].damping < -UNSTABLE ? " (unstable)" : "");
            fputs(" Hz\n", stdout);
        }
        carom_modes_free(&x);
        carom_model_destroy(m);
    }
    if (json) puts("]}");
    if (w.f && !cli_end(&w, code == CLI_DONE)) code = CLI_FAILED;
    if (code == CLI_DONE && picture && !plot(&c, j->vary.name, picture)) code = CLI_FAILED;
    free(c.x), free(c.f), free(c.d);
    return code;
}

// -- usage --------------------------------------------------------------------------------------------------------

static bool read_usage(job *j) {
    const cli_args *a = j->a;
    const char *contacts = cli_value(a, "contacts"), *out = cli_value(a, "out"), *picture = cli_value(a, "plot");
    if (contacts && strcmp(contacts, "open") != 0 && strcmp(contacts, "closed") != 0)
        return cli_say("--contacts: '%s' is neither open nor closed", contacts), false;
    j->open = contacts && strcmp(contacts, "open") == 0;
    if (!cli_whole(a, "count", 1000000000, &j->count) || !cli_whole(a, "mode", 1000000000, &j->mode) ||
        !cli_positive(a, "scale", &j->scale))
        return false;
    if (cli_has(a, "mode") && !(out && carom_ends(out, ".h5")))
        return cli_say("--mode writes a result; give -o FILE.h5"), false;
    if (!cli_has(a, "mode") && out && !carom_ends(out, ".csv"))
        return cli_say("-o: '%s' does not end in .csv; a result for `carom view` needs --mode N", out), false;
    if (cli_has(a, "mode") && cli_has(a, "over")) return cli_say("--mode and --over are mutually exclusive"), false;
    if (picture && !cli_has(a, "over"))
        return cli_say("--plot draws modes over a parameter; give --over NAME=SPEC"), false;
    if (!gnuplot_takes(picture)) return false;
    return cli_writable(out) && cli_writable(picture);
}

static int start(job *j) {
    const char *at = cli_value(j->a, "at"), *vary = cli_value(j->a, "over");
    carom_error err = {0};
    carom_model *m = read_model(j, NULL, &err);
    if (!m) return cli_say_at("%s", err.text), CLI_USAGE;
    int code = CLI_DONE;
    j->initial = at && strcmp(at, "initial") == 0;
    if (at && !j->initial && strcmp(at, "equilibrium") != 0 && !(j->state = cli_state(m, at))) code = CLI_USAGE;
    if (code == CLI_DONE && vary && carom_vary_of(&j->vary, m, vary, &err) != CAROM_OK)
        cli_say("%s", err.text), code = CLI_USAGE;
    if (code == CLI_DONE) code = vary ? over(j) : once(j, m);
    carom_model_destroy(m);
    return code;
}

static int run(const cli_args *a) {
    job j = {.a = a};
    if (!read_usage(&j) || cli_wants_model(a->word[0])) return CLI_USAGE;
    const int code = cli_source_read_pairs(&j.source, a) ? start(&j) : CLI_USAGE;
    carom_vary_drop(&j.vary);
    cli_source_free(&j.source);
    free(j.state);
    return code;
}

const cli_verb cli_modes = {
    .name = "modes",
    .arguments = "MODEL",
    .about = "compute frequencies (Hz), damping ratios and mode shapes about an equilibrium or a given state",
    .least = 1,
    .most = 1,
    .options = options,
    .settings = (const char *const[]){"vary", "over", NULL},
    .run = run,
    .text =
        "The equations are linearised with exact derivatives. Joints are constraints; so are closed contacts that "
        "stick. Closed contacts that slide (over\n"
        "a moving surface) constrain their normal motion, and their friction follows the normal force: such systems "
        "can "
        "flutter. An eigenvalue lambda\n"
        "has the frequency |lambda|/(2 pi) and the damping ratio -Re lambda/|lambda|; a negative ratio means growth.",
};
