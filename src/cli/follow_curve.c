// follow_curve.c: carom follow BRANCH.h5 --curve KIND: a curve of events in two parameters.
#include "cli/follow_curve.h"
#include "base/number.h"
#include "cli/figure.h"
#include "cli/follow_plot.h"
#include "dynamics/names.h"
#include "io/json.h"
#include "io/table.h"
#include <carom/dynamics.h>
#include <carom/table.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const cli_args *a;
    carom_locus_def def;
    carom_table branch;
    carom_model *model;
    long row;
    char *note[8]; // texts of the branch file
    const char **set, **options, **exchange;
    char *value, *out, *own, *name[2];
    double *start;
} job;

enum { MODEL, SET, PERIOD, EXCHANGE, OPTIONS, SCHEME, FILES, RESPONSE, NOTES };
static const char *const notes[] = {"model", "set", "period", "exchange", "options", "scheme", "files", "response"};

// The lines of a text as a list, with room for `more`.
static const char **lines(char *text, int more) {
    size_t n = 1;
    for (const char *s = text; *s; ++s) n += *s == '\n';
    const char **list = calloc(n + (size_t)more + 1, sizeof *list);
    if (!list) abort();
    n = 0;
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) list[n++] = at;
    return list;
}

static bool read_kind(job *j, int *nth) {
    const char *text = cli_value(j->a, "curve"), *colon = strchr(text, ':');
    const size_t n = colon ? (size_t)(colon - text) : strlen(text);
    int kind = -1;
    for (int i = 0; i < CAROM_LOCUS_KINDS; ++i)
        if (strlen(carom_locus_word((carom_locus_kind)i)) == n &&
            strncmp(carom_locus_word((carom_locus_kind)i), text, n) == 0)
            kind = i;
    *nth = colon ? atoi(colon + 1) : 1;
    if (kind < 0 || *nth < 1)
        return cli_say("--curve: expected fold, branch, hopf, doubling, torus, grazing or quadrature, perhaps with :N "
                       "for the N-th event, got '%s'",
                       text),
               false;
    j->def.kind = (carom_locus_kind)kind;
    return true;
}

// The N-th row behind which the response has passed a quarter of a period.
static bool find_quadrature(job *j, int nth) {
    const carom_table *t = &j->branch;
    const carom_column *phase = NULL;
    for (int i = 6; i < t->columns && !phase; ++i)
        if (carom_ends(t->column[i].name, ".amplitude") && i + 1 < t->columns) phase = &t->column[i + 1];
    if (!phase)
        return cli_say("--curve quadrature: %s has no response; create it with --response NAME", j->a->word[0]), false;
    int count = 0;
    j->row = -1;
    for (long r = 0; r + 1 < t->rows; ++r) {
        const double a = cos(phase->real[r] * atan(1) / 45), b = cos(phase->real[r + 1] * atan(1) / 45);
        if (t->column[0].integer[r] != t->column[0].integer[r + 1] || !(a * b < 0)) continue;
        if (++count == nth) j->row = fabs(a) < fabs(b) ? r : r + 1;
    }
    if (j->row < 0)
        cli_say("--curve quadrature: the phase of the response is a quarter of a period at %d point%s of %s, got :%d",
                count, count == 1 ? "" : "s", j->a->word[0], nth);
    return j->row >= 0;
}

// The N-th event of the kind, in the order of the file.
static bool find_event(job *j, int nth) {
    static const char *const word[CAROM_LOCUS_KINDS] = {"fold",           "branch",   "hopf", "period-doubling",
                                                        "neimark-sacker", "grazing ", ""};
    if (j->def.kind == CAROM_LOCUS_QUADRATURE) return find_quadrature(j, nth);
    const carom_table *t = &j->branch;
    int count = 0;
    j->row = -1;
    for (long r = 0; r < t->rows; ++r) {
        const char *text = t->column[5].text[r];
        if (strncmp(text, word[j->def.kind], strlen(word[j->def.kind])) != 0 || text[strlen(text) - 1] == '?') continue;
        if (++count == nth) j->row = r;
    }
    if (j->row >= 0) return true;
    if (count == 0)
        cli_say("--curve: %s has no event of this kind: %s", j->a->word[0], carom_locus_word(j->def.kind));
    else
        cli_say("--curve: %s has %d event%s of this kind, got :%d", j->a->word[0], count, count == 1 ? "" : "s", nth);
    return false;
}

static bool read_by(job *j) {
    const char **by = cli_list(j->a, "by");
    bool good = by[0] && by[1] && !by[2];
    if (!good) cli_say("--curve needs two parameters: give --by A=a:b --by B=c:d");
    for (int i = 0; i < 2 && good; ++i) {
        const char *equals = strchr(by[i], '='), *colon = equals ? strchr(equals, ':') : NULL;
        if (!colon) cli_say("--by: expected NAME=A:B, got '%s'", by[i]), good = false;
        if (!good) break;
        j->name[i] = malloc(strlen(by[i]) + 1);
        if (!j->name[i]) abort();
        strcpy(j->name[i], by[i]);
        j->name[i][equals - by[i]] = 0;
        carom_error err;
        if (!carom_model_quantity(j->model, j->name[i], equals + 1, (size_t)(colon - equals - 1), &j->def.from[i],
                                  &err) ||
            !carom_model_quantity(j->model, j->name[i], colon + 1, strlen(colon + 1), &j->def.to[i], &err))
            cli_say("--by: '%s' is not NAME=A:B with two numbers: %s", by[i], err.text), good = false;
        j->def.by[i] = j->name[i];
    }
    free(by);
    return good;
}

// The model with the parameter of the branch at the event, and the state there.
static bool read_event(job *j) {
    const carom_table *t = &j->branch;
    carom_error err = {0};
    for (int i = 0; i < NOTES; ++i) {
        j->note[i] = carom_table_note_read(j->a->word[0], notes[i]);
        if (!j->note[i])
            return cli_say("%s does not contain its model; create it again with this version", j->a->word[0]), false;
    }
    if (j->note[FILES][0])
        return cli_say("%s: --curve does not support models that read other files", j->a->word[0]), false;
    j->set = lines(j->note[SET], 1), j->options = lines(j->note[OPTIONS], 0), j->exchange = lines(j->note[EXCHANGE], 0);
    int n = 0;
    while (j->set[n]) ++n;
    j->value = malloc(strlen(t->column[1].name) + 40);
    if (!j->value) abort();
    carom_format(j->value + sprintf(j->value, "%s=", t->column[1].name), 30, "%.17g", t->column[1].real[j->row]);
    j->set[n] = j->value;
    j->def.model = (carom_model_def){
        .text = j->note[MODEL], .length = strlen(j->note[MODEL]), .file = j->a->word[0], .set = j->set};
    j->model = carom_model_create(&j->def.model, &err);
    if (!j->model) return cli_say("%s", err.text), false;
    const carom_system *s = carom_model_system(j->model);
    j->start = calloc((size_t)(s->nq + s->nv) + 1, sizeof *j->start);
    if (!j->start) abort();
    for (int i = 0; i < s->nq + s->nv; ++i) {
        const carom_column *c = carom_table_column(t, i < s->nq ? carom_model_coordinate(j->model, i)
                                                                : carom_model_velocity(j->model, i - s->nq));
        j->start[i] = c && c->kind == CAROM_COLUMN_REAL ? c->real[j->row]
                      : i < s->nq                       ? carom_model_q0(j->model)[i]
                                                        : carom_model_v0(j->model)[i - s->nq];
    }
    for (int i = 0; i < s->nv; ++i) // where equilibria have their values
        if (carom_model_state(j->model, i)) j->start[i] = j->start[s->nq + i];
    const double period = t->column[2].real[j->row];
    j->def.start = j->start, j->def.guess = period > 0 ? period : NAN;
    j->def.period = period > 0 ? j->note[PERIOD][0] ? j->note[PERIOD] : "free" : NULL;
    j->def.exchange = j->exchange,
    j->def.response = j->def.kind == CAROM_LOCUS_QUADRATURE && j->note[RESPONSE][0] ? j->note[RESPONSE] : NULL;
    j->def.run = cli_run_given(j->a);
    j->def.run.scheme = j->note[SCHEME], j->def.run.options = j->options;
    return true;
}

static void print_text(const job *j, const carom_locus *l) {
    const carom_table *t = &l->curve;
    cli_print("%s: %ld points of a %s curve%s%s\n", j->a->word[0], t->rows, carom_locus_word(j->def.kind),
              l->scheme && l->scheme[0] ? ", with " : "", l->scheme ? l->scheme : "");
    for (long r = 0; r < t->rows; ++r)
        if (t->column[6].text[r][0])
            cli_print("  part %lld   %s = %-18.12g %s = %-18.12g %s\n", t->column[0].integer[r], t->column[1].name,
                      t->column[1].real[r], t->column[2].name, t->column[2].real[r], t->column[6].text[r]);
    cli_print("%s\n", j->out);
}

static void print_json(const job *j, const carom_locus *l, bool whole) {
    const carom_table *t = &l->curve;
    carom_json(stdout, "{\"curve\": %s, \"by\": [%s, %s], \"whole\": %i, \"file\": %s,\n \"note\": %s,\n ",
               carom_locus_word(j->def.kind), j->def.by[0], j->def.by[1], whole, j->out,
               l->note.code == CAROM_OK ? "" : l->note.text);
    follow_json(t, 6), puts("}");
}

static int follow_it(job *j) {
    carom_locus l;
    carom_error err = {0};
    cli_signals_begin();
    carom_status status = carom_locus_run(&l, &j->def, &err);
    cli_signals_end();
    int code = cli_exit(status);
    const bool some = l.curve.rows > 0;
    carom_error other = {0};
    if (some && carom_locus_write(&l, &j->def, j->out, &other) != CAROM_OK)
        cli_say("%s", other.text), code = CLI_FAILED;
    if (status != CAROM_OK)
        cli_say("%s: %s%s%s", j->a->word[0], status == CAROM_STOPPED ? "interrupted" : err.text,
                some ? "; the points so far are in " : "", some ? j->out : "");
    if (cli_has(j->a, "json") && l.curve.columns > 6)
        print_json(j, &l, code == CLI_DONE);
    else if (code == CLI_DONE && !cli_has(j->a, "quiet"))
        print_text(j, &l);
    if (code == CLI_DONE && l.note.code != CAROM_OK) cli_say("%s: %s", j->a->word[0], l.note.text);
    const char *file = j->out;
    if (code == CLI_DONE && cli_has(j->a, "plot")) code = curve_plot(&file, 1, cli_value(j->a, "plot"), NULL);
    carom_locus_free(&l);
    return code;
}

static bool read_usage(job *j, int *nth) {
    const cli_args *a = j->a;
    static const char *const others[] = {"orbit",  "equilibrium", "period",       "switch", "exchange",
                                         "scheme", "option",      "resume",       "strict", "set",
                                         "input",  "response",    "conservative", NULL};
    for (int i = 0; others[i]; ++i)
        if (cli_has(a, others[i]))
            return cli_say(
                       "--curve and --%s are mutually exclusive: the branch file contains the model and its settings",
                       others[i]),
                   false;
    long points = 0;
    if (!carom_ends(a->word[0], ".h5") || !carom_table_probe(a->word[0], "branch"))
        return cli_say("--curve: expected the .h5 file of a branch, got %s; create one with `carom follow MODEL ... -o "
                       "FILE.h5`",
                       a->word[0]),
               false;
    if (!read_kind(j, nth) || !cli_positive(a, "step", &j->def.step) || !cli_whole(a, "points", 1000000, &points) ||
        !gnuplot_takes(cli_value(a, "plot")))
        return false;
    j->def.max_points = (int)points;
    static const char *const endings[] = {".branch.h5", ".h5", NULL};
    char tail[40];
    snprintf(tail, sizeof tail, ".%s.h5", carom_locus_word(j->def.kind));
    const char *out = cli_value(a, "out");
    j->own = out ? NULL : cli_rename(a->word[0], endings, tail);
    j->out = out ? (char *)(size_t)out : j->own;
    if (!carom_ends(j->out, ".h5") && !carom_ends(j->out, ".csv"))
        return cli_say("'%s' ends neither in .h5 nor in .csv", j->out), false;
    if (cli_has(a, "plot") && !carom_ends(j->out, ".h5"))
        return cli_say("--plot: plots are made from .h5 curves; give --out FILE.h5"), false;
    j->def.stop = cli_signals_asked;
    return cli_writable(j->out) && cli_writable(cli_value(a, "plot"));
}

int follow_curve(const cli_args *a) {
    job j = {.a = a};
    carom_error err = {0};
    int code = CLI_USAGE, nth = 1;
    if (read_usage(&j, &nth)) {
        if (carom_table_read(a->word[0], "branch", &j.branch, &err) != CAROM_OK)
            cli_say("%s", err.text);
        else if (j.branch.columns < 7 || j.branch.column[5].kind != CAROM_COLUMN_TEXT)
            cli_say("%s contains no branch", a->word[0]);
        else if (find_event(&j, nth) && read_event(&j) && read_by(&j))
            code = follow_it(&j);
        carom_table_free(&j.branch);
    }
    carom_model_destroy(j.model);
    for (int i = 0; i < NOTES; ++i) free(j.note[i]);
    free(j.set), free(j.options), free(j.exchange), free(j.value), free(j.own), free(j.start), free(j.name[0]),
        free(j.name[1]);
    return code;
}

// -- pictures -------------------------------------------------------------------------------------------------------

static long put_events(FILE *s, const carom_table *t) {
    char row[80];
    long n = 0;
    for (long r = 0; r < t->rows; ++r) {
        const char *text = t->column[6].text[r];
        if (!text[0] || strcmp(text, "end") == 0 || strcmp(text, "closed") == 0) continue;
        ++n;
        carom_format(row, sizeof row, "%.10g %.10g \"", t->column[1].real[r], t->column[2].real[r]), fputs(row, s);
        carom_escape_file(CAROM_FOR_PLOT_DATA, s, text);
        fputs("\"\n", s);
    }
    return n;
}

static bool draw(const char *result, const carom_table *t, char *const *kind, int n, const char *file,
                 const char *script) {
    static const char *const colour[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
    FILE *s = gnuplot_begin();
    if (!s) return false;
    long *events = calloc((size_t)n + 1, sizeof *events), (*of)[2] = calloc((size_t)n + 1, sizeof *of);
    if (!events || !of) abort();
    for (int i = 0; i < n; ++i) {
        for (long r = 0; r < t[i].rows; ++r) ++of[i][t[i].column[4].integer[r] != 0];
        for (int k = 0; k < 2; ++k) {
            fprintf(s, "$%s%d << EOD\n", k ? "stable" : "unstable", i);
            follow_put_lines(s, &t[i], &t[i].column[2], &t[i].column[4], NULL, k), fputs("EOD\n", s);
        }
        fprintf(s, "$events%d << EOD\n", i), events[i] = put_events(s, &t[i]), fputs("EOD\n", s);
    }
    char title[400], *name = figure_name(result);
    snprintf(title, sizeof title, "%.150s: curves over %.60s and %.60s", name, t[0].column[1].name,
             t[0].column[2].name);
    free(name);
    figure_frame(s, gnuplot_kind(file), title, 0.97);
    fputs("set offsets graph 0.02, graph 0.12, graph 0.06, graph 0.06\nset xlabel ", s),
        gnuplot_quote(s, t[0].column[1].name);
    fputs("\nset ylabel ", s), gnuplot_quote(s, t[0].column[2].name);
    fputs("\nplot NaN notitle", s);
    for (int i = 0; i < n; ++i) {
        const char *c = colour[i % 7];
        if (of[i][1] > 1)
            fprintf(s, ", $stable%d using 1:2 with lines lw 2 lc rgb '%s' title ", i, c), gnuplot_quote(s, kind[i]);
        if (of[i][0] > 1)
            fprintf(s, ", $unstable%d using 1:2 with lines lw 2 dt 2 lc rgb '%s'", i, c),
                fputs(of[i][1] > 1 ? " notitle" : " title ", s);
        if (of[i][0] > 1 && of[i][1] <= 1) gnuplot_quote(s, kind[i]);
        if (events[i] > 0)
            fprintf(s,
                    ", $events%d using 1:2 with points pt 7 ps 0.7 lc rgb '#333333' notitle, $events%d using 1:2:3 "
                    "with labels left offset 0.7,0.5 font ',9' notitle",
                    i, i);
    }
    fputs("\n", s);
    const bool good = (!script || follow_keep_script(s, script, file)) && gnuplot_render(s, file);
    free(events), free(of);
    fclose(s);
    return good;
}

int curve_plot(const char *const *files, int n, const char *file, const char *script) {
    carom_table *t = calloc((size_t)n + 1, sizeof *t);
    char **kind = calloc((size_t)n + 1, sizeof *kind);
    carom_error err = {0};
    bool good = t && kind;
    int read = 0;
    for (; read < n && good; ++read) {
        good = carom_table_read(files[read], "curve", &t[read], &err) == CAROM_OK;
        if (!good) cli_say("%s: %s", files[read], err.text);
        const carom_table *x = &t[read];
        if (good && !(x->columns > 7 && x->rows > 1 && x->column[6].kind == CAROM_COLUMN_TEXT &&
                      x->column[4].kind == CAROM_COLUMN_INTEGER))
            cli_say("%s contains no curve that can be drawn", files[read]), good = false;
        if (good && read > 0 &&
            (strcmp(x->column[1].name, t[0].column[1].name) != 0 ||
             strcmp(x->column[2].name, t[0].column[2].name) != 0))
            cli_say("%s is a curve of other parameters than %s", files[read], files[0]), good = false;
        kind[read] = good ? carom_table_note_read(files[read], "kind") : NULL;
        good = good && kind[read];
    }
    const int code = !good ? CLI_USAGE : draw(files[0], t, kind, n, file, script) ? CLI_DONE : CLI_FAILED;
    for (int i = 0; i < read; ++i) carom_table_free(&t[i]), free(kind[i]);
    free(t), free(kind);
    return code;
}
