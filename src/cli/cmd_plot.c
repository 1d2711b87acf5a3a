// cmd_plot.c: pictures of results: which curves, in which panels.
#define _POSIX_C_SOURCE 200809L
#include "cli/figure.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"out", 'o', "FILE", "picture: .svg, .png or .pdf (default: the result's name with .svg, in this folder)", false},
    {"of", 0, "NAME,NAME", "these columns, a panel each; NAME+NAME share a panel", false},
    {"vs", 0, "NAME", "over this column instead of time", false},
    {"from", 0, "T", "from this time on", false},
    {"to", 0, "T", "until this time", false},
    {"keep-script", 0, "FILE", "keep the gnuplot script, which holds its data", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct source {
    carom_result *r;
    const char *file;
    long first, count; // rows of the wanted stretch of time
    int x;             // column of the abscissa
} source;

typedef struct plot {
    source *s;
    int n;
    figure fig;
    bool failed;
} plot;

static const char *column_name(const void *user, int i) {
    return carom_result_column(user, i);
}

// -- curves -------------------------------------------------------------------------------------------

static double *fetch(plot *p, const source *s, int column) {
    double *x = malloc(sizeof *x * (size_t)(s->count + 1));
    carom_error err = {0};
    if (!x) abort();
    if (carom_result_read(s->r, column, s->first, s->count, x, &err) != CAROM_OK) {
        cli_say("%s", err.text);
        p->failed = true;
    }
    return x;
}

static bool blank(const double *y, long n, double most) {
    for (long i = 0; i < n; ++i)
        if (fabs(y[i]) > most && isfinite(y[i])) return false;
    return true;
}

// Curves of one column in the last panel, from every result that has it.
static void add(plot *p, const char *name, const char *label, int colour, bool stems, bool skip_blank) {
    for (int i = 0; i < p->n && !p->failed; ++i) {
        const source *s = &p->s[i];
        const int column = carom_result_find(s->r, name);
        if (column < 0) continue;
        double *y = fetch(p, s, column);
        if (p->failed || (skip_blank && blank(y, s->count, 1e-13))) {
            free(y);
            continue;
        }
        char text[256];
        const char *slash = strrchr(s->file, '/');
        if (p->n > 1) snprintf(text, sizeof text, "%.120s (%.120s)", label, slash ? slash + 1 : s->file);
        else snprintf(text, sizeof text, "%s", label);
        const curve c = {.label = strdup(text), .x = fetch(p, s, s->x), .y = y, .n = s->count, .stems = stems,
                         .colour = colour * p->n + i, .dash = 1 + i % 5};
        if (!c.label) abort();
        figure_curve(&p->fig, c);
    }
}

static void drop_empty(plot *p) {
    if (p->fig.n && p->fig.panel[p->fig.n - 1].n == 0) --p->fig.n;
}

// -- the standard picture -----------------------------------------------------------------------------

// What stands behind the last dot of a column's name, without the number of a tangential direction.
static bool part_is(const char *name, const char *part) {
    const char *dot = strrchr(name, '.');
    if (!dot) return false;
    size_t n = strlen(dot + 1);
    if (n > 1 && strchr("12", dot[n])) --n;
    return strlen(part) == n && strncmp(dot + 1, part, n) == 0;
}

typedef enum owner { CONTACTS, CONSTRAINTS, ALL } owner;

// Only contacts have a gap velocity.
static bool owned(const carom_result *r, const char *name, owner who) {
    char rate[300];
    const char *dot = strrchr(name, '.');
    if (who == ALL) return true;
    snprintf(rate, sizeof rate, "%.*s.gap'", (int)(dot - name), name);
    return (carom_result_find(r, rate) >= 0) == (who == CONTACTS);
}

// A panel of one part of all contacts or constraints.  A contact has the same colour in every panel.
static void parts(plot *p, const char *label, const char *part, owner who, bool stems, bool zero) {
    const carom_result *r = p->s[0].r;
    figure_panel(&p->fig, label, zero);
    int colour = -1;
    for (int i = 1; i < carom_result_columns(r); ++i) {
        const char *name = carom_result_column(r, i);
        if (!part_is(name, part)) continue;
        ++colour;
        if (!owned(r, name, who)) continue;
        char text[256];
        const size_t n = strlen(name);
        snprintf(text, sizeof text, "%.*s%s", (int)(strrchr(name, '.') - name), name, name[n - 1] == '1' ? " 1" : name[n - 1] == '2' ? " 2" : "");
        add(p, name, text, colour, stems, zero);
    }
    drop_empty(p);
}

static double spread(plot *p, int column) {
    const source *s = &p->s[0];
    double *y = fetch(p, s, column), low = INFINITY, high = -INFINITY;
    for (long i = 0; !p->failed && i < s->count; ++i) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    free(y);
    return high > low ? high - low : 0;
}

// Coordinates; those that move a thirtieth of the others or less get a panel of their own.
static void positions(plot *p) {
    const carom_result *r = p->s[0].r;
    const int kinetic = carom_result_find(r, "kinetic"), n = kinetic > 0 ? (kinetic - 1) / 2 : 0;
    double *size = calloc((size_t)n + 1, sizeof *size), most = 0;
    if (!size) abort();
    for (int i = 0; i < n; ++i) most = fmax(most, size[i] = spread(p, 1 + i));
    for (int small = 0; small < 2; ++small) {
        figure_panel(&p->fig, "position", false);
        for (int i = 0; i < n; ++i) {
            const bool tiny = size[i] < most / 30 && size[i] > 1e-9 * most; // what only rounds is at rest
            if (tiny == (small == 1)) add(p, carom_result_column(r, 1 + i), carom_result_column(r, 1 + i), i, false, false);
        }
        drop_empty(p);
    }
    free(size);
}

static void standard(plot *p) {
    positions(p);
    parts(p, "gap", "gap", CONTACTS, false, false);
    parts(p, "gap velocity", "gap'", CONTACTS, false, false);
    parts(p, "constraint", "gap", CONSTRAINTS, false, true);
    parts(p, "force (N)", "force", ALL, false, true);
    parts(p, "friction (N)", "friction", ALL, false, true);
    parts(p, "impulse (N s)", "impulse", ALL, true, true);
    parts(p, "friction (N s)", "friction_impulse", ALL, true, true);
    figure_panel(&p->fig, "energy (J)", false);
    static const char *const energy[] = {"kinetic", "potential", "energy"};
    for (int i = 0; i < 3; ++i) add(p, energy[i], i < 2 ? energy[i] : "sum", i, false, false);
    drop_empty(p);
}

// -- the asked picture --------------------------------------------------------------------------------

static bool known(const plot *p, const char *name) {
    for (int i = 0; i < p->n; ++i)
        if (carom_result_find(p->s[i].r, name) >= 0) return true;
    char hint[160];
    cli_say("%s has no column '%s'%s", p->s[0].file, name, cli_suggest(hint, sizeof hint, name, column_name, p->s[0].r));
    fprintf(stderr, "`carom info %s` lists the columns\n", p->s[0].file);
    return false;
}

static bool asked(plot *p, const char *of) {
    char *list = strdup(of), *next = NULL;
    if (!list) abort();
    bool good = true;
    for (char *group = strtok_r(list, ",", &next); group && good; group = strtok_r(NULL, ",", &next)) {
        char *inner = NULL;
        figure_panel(&p->fig, strchr(group, '+') ? "" : group, false);
        int colour = 0;
        for (char *name = strtok_r(group, "+", &inner); name && good; name = strtok_r(NULL, "+", &inner)) {
            good = known(p, name);
            const bool stems = cli_ends(name, "impulse") || cli_ends(name, "impulse1") || cli_ends(name, "impulse2");
            if (good) add(p, name, name, colour++, stems, false);
        }
        drop_empty(p);
    }
    free(list);
    return good;
}

// -- results ------------------------------------------------------------------------------------------

static bool open_source(plot *p, const char *file, const char *vs, double from, double to) {
    carom_error err = {0};
    source *s = &p->s[p->n];
    if (cli_wants_result(file)) return false;
    *s = (source){.file = file, .r = carom_result_open(file, &err)};
    if (!s->r) return cli_say("%s", err.text), false;
    ++p->n;
    const long rows = carom_result_rows(s->r);
    if (rows < 1) return cli_say("%s has no rows", file), false;
    s->count = rows;
    double *t = fetch(p, s, 0);
    while (!p->failed && s->count > 0 && !(t[s->first] >= from)) ++s->first, --s->count;
    while (!p->failed && s->count > 0 && !(t[s->first + s->count - 1] <= to)) --s->count;
    free(t);
    if (p->failed) return false;
    if (s->count == 0) return cli_say("%s has no row in that stretch of time", file), false;
    s->x = carom_result_find(s->r, vs);
    return s->x >= 0 || known(&(plot){.s = s, .n = 1}, vs);
}

static const char *kind_of(const char *file) {
    static const char *const kind[] = {"svg", "png", "pdf"};
    for (int i = 0; i < 3; ++i) {
        const size_t n = strlen(file);
        if (n > 4 && file[n - 4] == '.' && strcmp(file + n - 3, kind[i]) == 0) return kind[i];
    }
    return NULL;
}

static void name_figure(plot *p, const char *vs) {
    const char *name = carom_result_text(p->s[0].r, "name"), *scheme = carom_result_text(p->s[0].r, "scheme");
    if (p->n == 1 && name && name[0])
        snprintf(p->fig.title, sizeof p->fig.title, "%s%s%s", name, scheme ? ", " : "", scheme ? scheme : "");
    else if (name && name[0])
        snprintf(p->fig.title, sizeof p->fig.title, "%s", name);
    else
        snprintf(p->fig.title, sizeof p->fig.title, "%s", p->s[0].file);
    snprintf(p->fig.xlabel, sizeof p->fig.xlabel, "%s", strcmp(vs, "t") == 0 ? "time (s)" : vs);
}

static bool keep_script(const plot *p, const char *file, const char *kind) {
    FILE *f = fopen(file, "w");
    if (f) figure_script(&p->fig, f, kind);
    if (f && fclose(f) == 0) return true;
    cli_say("cannot write %s: %s", file, strerror(errno));
    return false;
}

static int render(const plot *p, const cli_args *a, const char *out) {
    const char *script = cli_value(a, "keep-script");
    FILE *f = tmpfile();
    if (!f) return cli_say("cannot make a temporary file: %s", strerror(errno)), CLI_FAILED;
    figure_script(&p->fig, f, kind_of(out));
    const bool good = (!script || keep_script(p, script, kind_of(out))) && gnuplot_render(f, out);
    fclose(f);
    if (good) printf("%s\n", out);
    return good ? CLI_DONE : CLI_FAILED;
}

static int run(const cli_args *a) {
    static const char *const old[] = {".h5", ".csv", NULL};
    const char *vs = cli_value(a, "vs") ? cli_value(a, "vs") : "t", *of = cli_value(a, "of");
    double from = -INFINITY, to = INFINITY;
    if (!cli_number(a, "from", &from) || !cli_number(a, "to", &to)) return CLI_USAGE;
    char *own = cli_rename(a->word[0], old, ".svg");
    const char *out = cli_value(a, "out") ? cli_value(a, "out") : own;
    plot p = {.s = calloc((size_t)a->n, sizeof *p.s)};
    if (!p.s) abort();
    int status = CLI_USAGE;
    bool good = kind_of(out) != NULL;
    if (!good) cli_say("-o: '%s' ends in none of .svg, .png, .pdf", out);
    for (int i = 0; good && i < a->n; ++i) good = open_source(&p, a->word[i], vs, from, to);
    if (good) {
        name_figure(&p, vs);
        if (of) good = asked(&p, of);
        else standard(&p);
        if (good && !p.failed && p.fig.n == 0) cli_say("nothing to show in %s", a->word[0]);
        else if (good && !p.failed) status = render(&p, a, out);
    }
    for (int i = 0; i < p.n; ++i) carom_result_close(p.s[i].r);
    figure_free(&p.fig);
    free(p.s);
    free(own);
    return status;
}

const cli_verb cli_plot = {
    .name = "plot", .arguments = "RESULT...", .about = "pictures: SVG, PNG or PDF by the ending of -o FILE", .least = 1, .most = 100,
    .options = options, .run = run,
    .text = "Without --of: positions, gaps, gap velocities, forces, impulses (upright lines) and energies over time.\n"
            "Several results are laid over each other.",
};
