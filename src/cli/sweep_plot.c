// sweep_plot.c: a sweep as a picture: a bifurcation diagram, curves over one parameter, or a map over two.
#include "cli/sweep_plot.h"
#include "cli/figure.h"
#include "io/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Columns between `run` and `status` are varied; behind `message` they are observed.
typedef struct shape { int varied, first; } shape;

static shape shape_of(const carom_table *runs) {
    shape k = {0};
    while (1 + k.varied < runs->columns && strcmp(runs->column[1 + k.varied].name, "status") != 0) ++k.varied;
    while (k.first < runs->columns && strcmp(runs->column[k.first].name, "message") != 0) ++k.first;
    ++k.first;
    if (k.varied > 0 && strcmp(runs->column[k.varied].name, "direction") == 0) --k.varied;
    return k;
}

static double number(const carom_column *c, long row) {
    return c->kind == CAROM_COLUMN_REAL ? c->real[row] : c->integer ? (double)c->integer[row] : (double)row;
}

// Which way a run of --follow went: 0 up, 1 down.
static int way_of(const carom_column *direction, long row) {
    return direction && direction->kind == CAROM_COLUMN_TEXT && strcmp(direction->text[row], "down") == 0;
}

// The points of one way.  section NULL: a point for each run.
static long put_way(FILE *s, const carom_table *runs, const carom_table *section, const carom_column *x,
                    const carom_column *y, int way) {
    const carom_column *run = carom_table_column(runs, "run"), *direction = carom_table_column(runs, "direction");
    const long rows = section ? section->rows : runs->rows;
    long n = 0;
    fprintf(s, "$d%d << EOD\n", way);
    for (long k = 0, r = 0; k < rows; ++k) {
        while (section && r < runs->rows && run->integer[r] < section->column[0].integer[k]) ++r;
        if (!section) r = k;
        if (r >= runs->rows || !isfinite(number(y, k)) || way_of(direction, r) != way) continue;
        fprintf(s, "%.9g %.9g\n", number(x, r), number(y, k));
        ++n;
    }
    fputs("EOD\n", s);
    return n;
}

// Points over one parameter; both ways of --follow have a colour each.
static void plot_over(FILE *s, const carom_table *runs, const carom_table *section, const carom_column *x,
                      const carom_column *y) {
    const char *const style = section ? "points pt 7 ps 0.15" : "linespoints pt 7 ps 0.3";
    const long up = put_way(s, runs, section, x, y, 0), down = put_way(s, runs, section, x, y, 1);
    fputs("plot NaN notitle", s);
    if (up) fprintf(s, ", $d0 with %s lc rgb '#0072b2' %s", style, down ? "title 'up'" : "notitle");
    if (down) fprintf(s, ", $d1 with %s lc rgb '#d55e00' title 'down'", style);
    fputs("\n", s);
}

// Where the cell of value k of a list of n begins: half-way to its neighbour.
static double edge(const carom_column *c, long stride, long n, long k) {
    const double x = number(c, (k < n ? k : n - 1) * stride);
    if (n == 1) return k == 0 ? x - 0.5 : x + 0.5;
    if (k == 0) return x - 0.5 * (number(c, stride) - x);
    if (k == n) return x + 0.5 * (x - number(c, (n - 2) * stride));
    return 0.5 * (x + number(c, (k - 1) * stride));
}

// Cells of basins: what ran away is white; eight colours come again.
static void put_labels(FILE *s, const carom_column *z, long rows) {
    long most = 0;
    for (long k = 0; k < rows; ++k) most = z->integer[k] > most ? (long)z->integer[k] : most;
    fputs("EOD\nset autoscale fix\nplot NaN notitle", s);
    for (long label = 1; label <= most; ++label)
        fprintf(s,
                ", $d using ($7 == %ld ? $1 : NaN):2:3:4:5:6 with boxxyerror fillstyle solid noborder lc rgb '%s' "
                "title '%ld'",
                label, gnuplot_palette[(label - 1) % GNUPLOT_COLOURS], label);
    fputs("\n", s);
}

// A coloured cell for every run; the last varied number runs fastest.
static void map_over(FILE *s, const carom_table *runs, const carom_column *x, const carom_column *y,
                     const carom_column *z) {
    long nx = 1;
    while (nx < runs->rows && number(y, nx) == number(y, 0)) ++nx;
    const long ny = runs->rows / nx;
    fputs("$d << EOD\n", s);
    for (long j = 0; j < ny; ++j)
        for (long i = 0; i < nx; ++i) {
            const long k = j * nx + i;
            if (!isfinite(number(z, k))) continue;
            fprintf(s, "%.9g %.9g %.9g %.9g ", number(x, k), number(y, k), edge(x, 1, nx, i), edge(x, 1, nx, i + 1));
            fprintf(s, "%.9g %.9g %.9g\n", edge(y, nx, ny, j), edge(y, nx, ny, j + 1), number(z, k));
        }
    if (strcmp(z->name, "label") == 0) { // of basins: a colour each
        put_labels(s, z, runs->rows);
        return;
    }
    fputs("EOD\nunset key\nset palette defined (0 '#440154', 1 '#3b528b', 2 '#21908d', 3 '#5dc963', 4 "
          "'#fde725')\nset autoscale fix\n"
          "plot $d using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid noborder lc palette\n",
          s);
}

static const char *column_name(const void *user, int i) {
    const carom_table *t = user;
    return i < t->columns ? t->column[i].name : NULL;
}

// The exit status.
static int draw(const char *result, const carom_table *runs, const carom_table *section, const char *of,
                const char *file) {
    const shape k = shape_of(runs);
    const carom_table *from = section->rows ? section : runs;
    const carom_column *y = of                                      ? carom_table_column(from, of)
                            : section->rows && section->columns > 2 ? &section->column[2]
                            : k.first < runs->columns               ? &runs->column[k.first]
                                                                    : NULL;
    if (k.varied == 0 || !y || y->kind == CAROM_COLUMN_TEXT) {
        char hint[160];
        if (of) cli_say("%s observes no '%s'%s", result, of, cli_suggest(hint, sizeof hint, of, column_name, from));
        else cli_say("%s observes nothing to draw; give --observe", result);
        return CLI_USAGE;
    }
    const carom_column *x = &runs->column[k.varied];
    FILE *s = gnuplot_begin();
    if (!s) return CLI_FAILED;
    const bool map = !section->rows && k.varied > 1, bar = map && strcmp(y->name, "label") != 0;
    char title[400], *name = figure_name(result);
    snprintf(title, sizeof title, "%.150s: %.100s over %.60s%s%.60s", name, map && !bar ? "attractors" : y->name,
             x->name, map ? " and " : "", map ? runs->column[k.varied - 1].name : "");
    free(name);
    figure_frame(s, gnuplot_kind(file), title, bar ? 0.88 : 0.97);
    fputs("set autoscale xfix\n", s);
    figure_axis(s, "xlabel", result, x->name);
    if (!map) {
        figure_axis(s, "ylabel", result, y->name);
        plot_over(s, runs, section->rows ? section : NULL, x, y);
    } else {
        figure_axis(s, "ylabel", result, runs->column[k.varied - 1].name);
        if (bar) figure_axis(s, "cblabel", result, y->name);
        map_over(s, runs, x, &runs->column[k.varied - 1], y);
    }
    return gnuplot_finish(s, file) ? CLI_DONE : CLI_FAILED;
}

int sweep_plot(const char *result, const char *of, const char *file) {
    carom_table runs = {0}, section = {0};
    carom_error err;
    if (carom_ends(result, ".csv")) return cli_say("plots are made from .h5 sweeps; give --out FILE.h5"), CLI_USAGE;
    if (carom_table_read(result, "runs", &runs, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_USAGE;
    if (carom_table_probe(result, "section") && carom_table_read(result, "section", &section, &err) != CAROM_OK) {
        carom_table_free(&runs);
        return cli_say("%s", err.text), CLI_USAGE;
    }
    const int code = draw(result, &runs, &section, of, file);
    carom_table_free(&runs);
    carom_table_free(&section);
    return code;
}
