// follow_plot.c: pictures of branches, by gnuplot.
#include "base/number.h"
#include "cli/figure.h"
#include "cli/follow_plot.h"
#include "io/json.h"
#include "io/table.h"
#include <carom/dynamics.h>
#include <carom/table.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *column_name(const void *user, int i) {
    const carom_table *t = user;
    return i < t->columns ? t->column[i].name : NULL;
}

static void put_cell(const carom_column *c, long r) {
    if (c->kind == CAROM_COLUMN_TEXT) carom_json_string(stdout, c->text[r]);
    else if (c->kind == CAROM_COLUMN_INTEGER) printf("%lld", c->integer[r]);
    else carom_json_number(stdout, c->real[r]);
}

static void put_key(const char *before, const carom_column *c) {
    fputs(before, stdout), carom_json_string(stdout, c->name), fputs(": ", stdout);
}

void follow_json(const carom_table *t, int event) {
    fputs("\"events\": [", stdout);
    for (long r = 0, n = 0; r < t->rows; ++r) {
        if (!t->column[event].text[r][0]) continue;
        fputs(n++ ? ",\n  {" : "\n  {", stdout);
        for (int i = 0; i < t->columns; ++i) put_key(i ? ", " : "", &t->column[i]), put_cell(&t->column[i], r);
        fputs("}", stdout);
    }
    fputs("],\n \"columns\": {", stdout);
    for (int i = 0; i < t->columns; ++i) {
        put_key(i ? ",\n  " : "\n  ", &t->column[i]), fputs("[", stdout);
        for (long r = 0; r < t->rows; ++r) fputs(r ? ", " : "", stdout), put_cell(&t->column[i], r);
        fputs("]", stdout);
    }
    fputs("}", stdout);
}

void follow_put_lines(FILE *s, const carom_table *t, const carom_column *y, const carom_column *stability,
                      const carom_column *event, bool stable) {
    char row[80];
    bool open = false;
    for (long r = 0; r + 1 < t->rows; ++r) {
        const bool joined = t->column[0].integer[r] == t->column[0].integer[r + 1];
        // between two points the branch is what it is at that which is no event
        const long of = !event || event->text[r][0] ? r + 1 : r;
        if (!joined || (stability->integer[of] != 0) != stable) {
            if (open) fputs("\n\n", s);
            open = false;
            continue;
        }
        for (long k = open ? r + 1 : r; k <= r + 1; ++k)
            carom_format(row, sizeof row, "%.10g %.10g\n", t->column[1].real[k], y->real[k]), fputs(row, s);
        open = true;
    }
    fputs("\n", s);
}

static double range(const double *x, long n) {
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < n; ++i)
        if (isfinite(x[i])) low = fmin(low, x[i]), high = fmax(high, x[i]);
    return high > low ? high - low : 1;
}

// Points of events with their names; a name that would lie on another one is left out.
static void put_events(FILE *s, const carom_table *t, const carom_column *y) {
    enum { LABELS = 40 };
    const double *x = t->column[1].real, width = range(x, t->rows), height = range(y->real, t->rows);
    char row[80];
    long placed[LABELS];
    int n = 0;
    for (long r = 0; r < t->rows; ++r) {
        if (!t->column[5].text[r][0]) continue;
        bool free = n < LABELS;
        for (int k = 0; k < n; ++k)
            free = free &&
                   (fabs(x[r] - x[placed[k]]) > 0.2 * width || fabs(y->real[r] - y->real[placed[k]]) > 0.05 * height);
        if (free) placed[n++] = r;
        carom_format(row, sizeof row, "%.10g %.10g \"", x[r], y->real[r]), fputs(row, s);
        carom_escape_file(CAROM_FOR_PLOT_DATA, s, free ? t->column[5].text[r] : "");
        fputs("\"\n", s);
    }
}

bool follow_keep_script(FILE *s, const char *script, const char *file) {
    FILE *f = fopen(script, "w");
    char line[400];
    rewind(s);
    while (f && fgets(line, sizeof line, s)) {
        fputs(line, f);
        if (strncmp(line, "set terminal", 12) == 0) gnuplot_output(f, file);
    }
    if (f && fclose(f) == 0) return true;
    return cli_say("cannot write %s: %s", script, strerror(errno)), false;
}

static bool draw(const char *result, const carom_table *t, const carom_column *y, const char *file,
                 const char *script) {
    FILE *s = gnuplot_begin();
    if (!s) return false;
    long events = 0, of[2] = {0};
    for (long r = 0; r < t->rows; ++r) events += t->column[5].text[r][0] != 0, ++of[t->column[3].integer[r] != 0];
    fputs("$stable << EOD\n", s), follow_put_lines(s, t, y, &t->column[3], &t->column[5], true);
    fputs("EOD\n$unstable << EOD\n", s), follow_put_lines(s, t, y, &t->column[3], &t->column[5], false);
    fputs("EOD\n$events << EOD\n", s), put_events(s, t, y);
    fputs("EOD\n", s);
    char title[400], *name = figure_name(result);
    snprintf(title, sizeof title, "%.150s: %.100s over %.60s", name, y->name, t->column[1].name);
    free(name);
    figure_frame(s, gnuplot_kind(file), title, 0.97);
    fputs("set offsets graph 0.02, graph 0.12, graph 0.06, graph 0.06\n", s);
    figure_axis(s, "xlabel", result, t->column[1].name);
    figure_axis(s, "ylabel", result, y->name);
    fputs("plot NaN notitle", s);
    if (of[1] > 1) fputs(", $stable using 1:2 with lines lw 2 lc rgb '#0072b2' title 'stable'", s);
    if (of[0] > 1) fputs(", $unstable using 1:2 with lines lw 2 dt 2 lc rgb '#d55e00' title 'unstable'", s);
    if (events > 0)
        fputs(", $events using 1:2 with points pt 7 ps 0.7 lc rgb '#333333' notitle, $events using 1:2:3 with labels "
              "left offset 0.7,0.5 font ',9' notitle",
              s);
    fputs("\n", s);
    const bool good = (!script || follow_keep_script(s, script, file)) && gnuplot_render(s, file);
    fclose(s);
    return good;
}

int follow_plot(const char *result, const char *of, const char *file, const char *script) {
    carom_table t;
    carom_error err = {0};
    if (carom_table_read(result, "branch", &t, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_USAGE;
    const carom_column *y = NULL;
    bool good = t.columns > 6 && t.rows > 1 && t.column[0].kind == CAROM_COLUMN_INTEGER &&
                t.column[1].kind == CAROM_COLUMN_REAL && t.column[3].kind == CAROM_COLUMN_INTEGER &&
                t.column[5].kind == CAROM_COLUMN_TEXT;
    if (!good) cli_say("%s contains no branch that can be drawn", result);
    for (int i = 6; good && !of && !y && i < t.columns; ++i) // the response, where there is one
        if (carom_ends(t.column[i].name, ".amplitude")) y = &t.column[i];
    for (int i = 6; good && !of && !y && i < t.columns; ++i)
        if (strncmp(t.column[i].name, "max(", 4) == 0) y = &t.column[i];
    if (good && of) y = carom_table_column(&t, of);
    if (good && (!y || y->kind != CAROM_COLUMN_REAL)) {
        char hint[160];
        cli_say("%s has no column '%s'%s", result, of ? of : "max(...)",
                cli_suggest(hint, sizeof hint, of ? of : "", column_name, &t));
        good = false;
    }
    const int code = !good ? CLI_USAGE : draw(result, &t, y, file, script) ? CLI_DONE : CLI_FAILED;
    carom_table_free(&t);
    return code;
}
