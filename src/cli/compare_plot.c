// compare_plot.c: error over step size and error over CPU time, both logarithmic, with lines of order 1 and 2.
#include "cli/compare_plot.h"
#include "cli/figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1000, HEIGHT = 460, COLOURS = 8 };

static const char *const palette[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a3d9a", "#555555"};

const char *compare_plot_kind(const char *file) {
    static const char *const ending[] = {".svg", ".png", ".pdf"};
    for (int i = 0; i < 3; ++i)
        if (cli_ends(file, ending[i]) && strlen(file) > 4) return ending[i] + 1;
    return NULL;
}

// Single quotes, in which gnuplot expands nothing.
static void quote(FILE *s, const char *text) {
    fputc('\'', s);
    for (; *text; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '\'') fputs("''", s);
        else fputc(c < 32 || c == 127 || c == '`' ? '?' : c, s);
    }
    fputc('\'', s);
}

typedef struct range { double low, high; } range;

static void widen(range *r, double x) {
    if (!(x > 0) || isinf(x)) return;
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

// Is this row a point of the picture?
static bool point(const carom_compare_row *row) {
    return row->done && row->error > 0 && !isinf(row->error);
}

static int data(FILE *s, const carom_compare *c, range *step, range *time, range *error) {
    int points = 0;
    for (int i = 0; i < carom_compare_schemes(c); ++i) {
        fprintf(s, "$d%d << EOD\n", i);
        for (int k = 0; k < carom_compare_steps(c); ++k) {
            const carom_compare_row row = carom_compare_row_at(c, i, k);
            if (!point(&row)) continue;
            fprintf(s, "%.10g %.10g %.10g\n", row.step, row.seconds, row.error);
            widen(step, row.step);
            widen(time, row.seconds);
            widen(error, row.error);
            ++points;
        }
        fputs("EOD\n", s);
    }
    return points;
}

// A line of slope `order` in the picture, from the upper end of the errors at x = from, as long as it stays in view.
static void guide(FILE *s, int number, double from, double to, double order, range error) {
    const double reach = pow(error.low / error.high, 1 / order), factor = to / from;
    const double x = fabs(log(reach)) < fabs(log(factor)) ? from * (factor < 1 ? reach : 1 / reach) : to;
    fprintf(s, "$g%d << EOD\n%.10g %.10g\n%.10g %.10g\nEOD\n", number, from, error.high, x, error.high * pow(factor < 1 ? x / from : from / x, order));
}

static void axis(FILE *s, char name, range r) {
    const double pad = pow(r.high / r.low, 0.06) * 1.2;
    fprintf(s, "set %crange [%.10g:%.10g]\n", name, r.low / pad, r.high * pad);
}

static void panel_of(FILE *s, const carom_compare *c, bool steps, range x) {
    const double left = steps ? 0.08 : 0.46, right = steps ? 0.40 : 0.78;
    fprintf(s, "set lmargin at screen %.3f\nset rmargin at screen %.3f\n", left, right);
    axis(s, 'x', x);
    fprintf(s, "set xlabel '%s'\n%s\n", steps ? "step size (s)" : "CPU time (s)", steps ? "set ylabel 'error'" : "unset ylabel");
    fputs(steps ? "unset key\n" : "set key at screen 0.795, screen 0.88 left top vertical Left reverse samplen 1.5 spacing 1.15\n", s);
    fputs("plot ", s);
    for (int i = 0; i < carom_compare_schemes(c); ++i) {
        fprintf(s, "$d%d using %d:3 with linespoints lw 1.6 pt %d ps 0.6 lc rgb '%s' title ", i, steps ? 1 : 2, 4 + i % 10, palette[i % COLOURS]);
        quote(s, carom_compare_row_at(c, i, 0).scheme);
        fputs(", \\\n     ", s);
    }
    fprintf(s, "$g%d using 1:2 with lines lw 1 dt 2 lc rgb '#888888' title 'order 1', \\\n     "
               "$g%d using 1:2 with lines lw 1 dt 3 lc rgb '#888888' title 'order 2'\n", steps ? 0 : 2, steps ? 1 : 3);
}

static void terminal(FILE *s, const char *kind) {
    if (strcmp(kind, "pdf") == 0) fprintf(s, "set terminal pdfcairo size %.3fin,%.3fin font 'sans,10'", WIDTH / 96.0, HEIGHT / 96.0);
    else if (strcmp(kind, "png") == 0) fprintf(s, "set terminal pngcairo size %d,%d font 'sans,10'", WIDTH, HEIGHT);
    else fprintf(s, "set terminal svg size %d,%d font 'sans,12'", WIDTH, HEIGHT);
}

static bool script(FILE *s, const carom_compare *c, const char *title, carom_norm_kind norm, const char *kind) {
    range step = {INFINITY, 0}, time = {INFINITY, 0}, error = {INFINITY, 0};
    fprintf(s, "# Made by carom %s.\n", CAROM_VERSION);
    if (data(s, c, &step, &time, &error) == 0 || !(time.high > 0)) return false;
    for (int order = 1; order <= 2; ++order) {
        guide(s, order - 1, step.high, step.low, order, error);
        guide(s, order + 1, time.low, time.high, order, error);
    }
    terminal(s, kind);
    fputs(" noenhanced background '#ffffff'\nset encoding utf8\nset style line 100 lc rgb '#dddddd' lw 0.5\nset grid ls 100\n"
          "set border 3 lc rgb '#444444'\nset tics nomirror out scale 0.5\nset logscale xy\nset format xy '%.0e'\nset xtics 10\nset ytics 10\n"
          "set tmargin at screen 0.88\nset bmargin at screen 0.14\nset multiplot\nset label 1 ", s);
    char text[400];
    snprintf(text, sizeof text, "%s: error in norm %s", title && title[0] ? title : "comparison", carom_norm_word(norm));
    quote(s, text);
    fputs(" at screen 0.08, screen 0.94 left font ',13'\n", s);
    axis(s, 'y', error);
    panel_of(s, c, true, step);
    fputs("unset label 1\n", s);
    panel_of(s, c, false, time);
    fputs("unset multiplot\n", s);
    return true;
}

bool compare_plot(const carom_compare *c, const char *title, carom_norm_kind norm, const char *file) {
    FILE *s = tmpfile();
    if (!s) return cli_say("cannot make a temporary file"), false;
    bool good = script(s, c, title, norm, compare_plot_kind(file));
    if (!good) cli_say("nothing to plot: no error above 0");
    good = good && gnuplot_render(s, file);
    fclose(s);
    return good;
}
