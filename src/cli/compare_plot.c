// compare_plot.c: error over step size and error over CPU time, both logarithmic, with lines of order 1 and 2.
//
// Adaptive runs have no step size: with them the left panel shows the error over the number of steps.  Their points are
// filled.
#include "cli/compare_plot.h"
#include "cli/figure.h"
#include <math.h>
#include <string.h>

enum { HEIGHT = 460 }; // pixels
// pixels; a letter of the legend at most
enum { LEFT_0 = 80, LEFT_1 = 400, RIGHT_0 = 460, RIGHT_1 = 780, KEY = 795, LETTER = 8 };

typedef struct range { double low, high; } range;

static void widen(range *r, double x) {
    if (!(x > 0) || isinf(x)) return;
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

// Is this row a point of the picture?
static bool point(const carom_compare_row *row) { return row->done && row->error > 0 && !isinf(row->error); }

static bool adaptive(const carom_compare *c, int scheme) {
    return !isnan(carom_compare_row_at(c, scheme, 0).tolerance);
}

static bool some_adaptive(const carom_compare *c) {
    for (int i = 0; i < carom_compare_schemes(c); ++i)
        if (adaptive(c, i)) return true;
    return false;
}

static int data(FILE *s, const carom_compare *c, bool counts, range *step, range *time, range *error) {
    int points = 0;
    for (int i = 0; i < carom_compare_schemes(c); ++i) {
        fprintf(s, "$d%d << EOD\n", i);
        for (int k = 0; k < carom_compare_runs(c, i); ++k) {
            const carom_compare_row row = carom_compare_row_at(c, i, k);
            if (!point(&row)) continue;
            const double x = counts ? (double)row.steps : row.step;
            fprintf(s, "%.10g %.10g %.10g\n", x, row.seconds, row.error);
            widen(step, x);
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
    fprintf(s, "$g%d << EOD\n%.10g %.10g\n%.10g %.10g\nEOD\n", number, from, error.high, x,
            error.high * pow(factor < 1 ? x / from : from / x, order));
}

static void axis(FILE *s, char name, range r) {
    const double pad = pow(r.high / r.low, 0.06) * 1.2;
    fprintf(s, "set %crange [%.10g:%.10g]\n", name, r.low / pad, r.high * pad);
}

// As wide as the longest name in the legend needs.
static double width_of(const carom_compare *c) {
    size_t longest = strlen("order 1");
    for (int i = 0; i < carom_compare_schemes(c); ++i) {
        const size_t n = strlen(carom_compare_row_at(c, i, 0).scheme);
        if (n > longest) longest = n;
    }
    return KEY + 45 + LETTER * (double)(longest < 60 ? longest : 60);
}

static void panel_of(FILE *s, const carom_compare *c, bool steps, range x) {
    static const int open[] = {4, 6, 8, 10, 12}, filled[] = {5, 7, 9, 11, 13};
    const double width = width_of(c), left = (steps ? LEFT_0 : RIGHT_0) / width,
                 right = (steps ? LEFT_1 : RIGHT_1) / width;
    const char *const size = some_adaptive(c) ? "number of steps" : "step size (s)";
    fprintf(s, "set lmargin at screen %.3f\nset rmargin at screen %.3f\n", left, right);
    axis(s, 'x', x);
    fprintf(s, "set xlabel '%s'\n%s\n", steps ? size : "CPU time (s)", steps ? "set ylabel 'error'" : "unset ylabel");
    if (steps) fputs("unset key\n", s);
    else
        fprintf(s, "set key at screen %.4f, screen 0.88 left top vertical Left reverse samplen 1.5 spacing 1.15\n",
                KEY / width);
    fputs("plot ", s);
    for (int i = 0; i < carom_compare_schemes(c); ++i) {
        fprintf(s, "$d%d using %d:3 with linespoints lw 1.6 pt %d ps 0.7 lc rgb '%s' title ", i, steps ? 1 : 2,
                (adaptive(c, i) ? filled : open)[i % 5], gnuplot_palette[i % GNUPLOT_COLOURS]);
        gnuplot_quote(s, carom_compare_row_at(c, i, 0).scheme);
        fputs(", \\\n     ", s);
    }
    fprintf(s, "$g%d using 1:2 with lines lw 1 dt 2 lc rgb '#888888' title 'order 1', \\\n     "
               "$g%d using 1:2 with lines lw 1 dt 3 lc rgb '#888888' title 'order 2'\n", steps ? 0 : 2, steps ? 1 : 3);
}

static bool script(FILE *s, const carom_compare *c, const char *title, const char *norm, const char *kind) {
    range step = {INFINITY, 0}, time = {INFINITY, 0}, error = {INFINITY, 0};
    const bool counts = some_adaptive(c);
    fprintf(s, "# Made by carom %s.\n", CAROM_VERSION);
    if (data(s, c, counts, &step, &time, &error) == 0 || !(time.high > 0)) return false;
    for (int order = 1; order <= 2; ++order) {
        guide(s, order - 1, counts ? step.low : step.high, counts ? step.high : step.low, order, error);
        guide(s, order + 1, time.low, time.high, order, error);
    }
    gnuplot_terminal(s, kind, width_of(c), HEIGHT);
    fputs("set encoding utf8\nset style line 100 lc rgb '#dddddd' lw 0.5\nset grid ls 100\n"
          "set border 3 lc rgb '#444444'\nset tics nomirror out scale 0.5\nset logscale xy\nset format xy '%.0e'\nset "
          "xtics 10\nset ytics 10\n"
          "set tmargin at screen 0.88\nset bmargin at screen 0.14\nset multiplot\nset label 1 ",
          s);
    char text[400];
    snprintf(text, sizeof text, "%s: error in norm %s", title && title[0] ? title : "comparison", norm);
    gnuplot_quote(s, text);
    fprintf(s, " at screen %.4f, screen 0.94 left font ',13'\n", LEFT_0 / width_of(c));
    axis(s, 'y', error);
    panel_of(s, c, true, step);
    fputs("unset label 1\n", s);
    panel_of(s, c, false, time);
    fputs("unset multiplot\n", s);
    return true;
}

bool compare_plot(const carom_compare *c, const char *title, const char *norm, const char *file) {
    FILE *s = gnuplot_begin();
    if (!s) return false;
    bool good = script(s, c, title, norm, gnuplot_kind(file));
    if (!good) cli_say("nothing to plot: no error above 0");
    good = good && gnuplot_render(s, file);
    fclose(s);
    return good;
}
