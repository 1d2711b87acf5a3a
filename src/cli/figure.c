// figure.c: from curves to a gnuplot script.
//
// Names come from files and may hold anything: they are escaped (gnuplot_quote), so that gnuplot neither substitutes
// commands nor expands macros, and shown in a terminal that reads no markup.
#define _POSIX_C_SOURCE 200809L
#include "base/grow.h"
#include "cli/figure.h"
#include "io/table.h"
#include <carom/table.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// names in a legend: with more, curves are counted; the rest in pixels
enum { LEGEND = 8, PANEL_HEIGHT = 170, WIDTH = 900, TOP = 40, BOTTOM = 50, BETWEEN = 22, STRIP = 24 };
// TALL: height of a panel with its own axis, whose labels take AXIS
enum { COLOURS = GNUPLOT_COLOURS, DASHES = 5, TALL = 320, AXIS = 60 };

panel *figure_panel(figure *f, const char *label, bool zero) {
    if (!CAROM_GROW(f->panel, f->n)) abort();
    f->panel[f->n] = (panel){.zero = zero};
    snprintf(f->panel[f->n].label, sizeof f->panel[f->n].label, "%s", label);
    return &f->panel[f->n++];
}

void figure_curve(figure *f, curve c) {
    panel *p = &f->panel[f->n - 1];
    if (!CAROM_GROW(p->curve, p->n)) abort();
    p->curve[p->n++] = c;
}

void figure_drop(figure *f) {
    panel *p = &f->panel[--f->n];
    for (int k = 0; k < p->n; ++k) {
        free(p->curve[k].label);
        free(p->curve[k].x);
        free(p->curve[k].y);
    }
    free(p->curve);
}

void figure_free(figure *f) {
    while (f->n > 0) figure_drop(f);
    for (int i = 0; i < f->sources; ++i) free(f->source[i]);
    free(f->source);
    free(f->panel);
    *f = (figure){.n = 0};
}

static void point(FILE *s, double x, double y) {
    if (isfinite(x) && isfinite(y)) fprintf(s, "%.10g %.10g\n", x, y);
    else fputs("\n", s); // a gap in the line
}

static void block(FILE *s, const curve *c, int panel, int k) {
    fprintf(s, "$d%d_%d << EOD\n", panel, k);
    for (long i = 0; i < c->n; ++i)
        if (!c->stems || (c->y[i] != 0 && isfinite(c->y[i]))) point(s, c->x[i], c->y[i]);
    fputs("EOD\n", s);
}

int figure_next_label(const panel *p, int k) {
    for (; k < p->n; ++k) {
        int first = 0;
        while (first < k && strcmp(p->curve[first].label, p->curve[k].label) != 0) ++first;
        if (first == k) break;
    }
    return k;
}

static int labels(const panel *p) {
    int n = 0;
    for (int k = figure_next_label(p, 0); k < p->n; k = figure_next_label(p, k + 1)) ++n;
    return n;
}

// Several results with few columns to a panel: then colours tell the results apart and dashes the columns, else the
// other way round.
static bool by_source(const figure *f) {
    for (int i = 0; i < f->n; ++i)
        if (labels(&f->panel[i]) > 3) return false;
    return f->sources > 1;
}

void figure_range(const panel *p, bool of_x, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (int k = 0; k < p->n; ++k) {
        const curve *c = &p->curve[k];
        for (long i = 0; i < c->n; ++i) {
            const double x = of_x ? c->x[i] : c->y[i];
            if (!isfinite(x)) continue;
            if (x < *low) *low = x;
            if (x > *high) *high = x;
        }
    }
    if (!of_x && p->zero) {
        if (*low > 0) *low = 0;
        if (*high < 0) *high = 0;
    }
    if (!(*low <= *high)) *low = -1, *high = 1;
    const double size = fmax(fabs(*low), fabs(*high));
    static const double FLAT = 1e-9; // of the size: rounding is not worth a magnifying glass
    if (*high - *low <= FLAT * size || size == 0) {
        const double pad = size > 0 ? 0.1 * size : 1;
        *low -= pad;
        *high += pad;
    } else if (!of_x) {
        const double pad = 0.06 * (*high - *low);
        *low -= pad;
        *high += pad;
    }
}

// A legend that would only repeat the label of the axis is none.
static bool has_legend(const panel *p) {
    if (p->n == 0) return false;
    const char *one = p->curve[0].label;
    const size_t n = strlen(one);
    // but for the unit
    return labels(p) > 1 || strncmp(one, p->label, n) != 0 || (p->label[n] && strncmp(p->label + n, " (", 2) != 0);
}

static int label_of(const panel *p, int k) {
    int n = 0;
    for (int i = figure_next_label(p, 0); i < p->n && strcmp(p->curve[i].label, p->curve[k].label) != 0;
         i = figure_next_label(p, i + 1))
        ++n;
    return n;
}

// Entries of a legend: a line that counts the curves takes the room of two, else gnuplot begins a second column beside
// the picture.
static int entries(const panel *p) { return labels(p) > LEGEND ? LEGEND - 2 : LEGEND; }

// Of curves that coincide the earlier ones are wider, so that all show.
static void draw(FILE *s, const figure *f, int number) {
    const panel *p = &f->panel[number];
    const int shown = labels(p);
    const bool own = by_source(f);
    fputs("plot ", s);
    for (int k = 0; k < p->n; ++k) {
        const curve *c = &p->curve[k];
        const char *colour = gnuplot_palette[(own ? c->source : c->colour) % COLOURS];
        const int label = label_of(p, k), behind = own ? f->sources - 1 - c->source : shown - 1 - label;
        const int dash = 1 + (own ? label : c->source) % DASHES;
        const double width = shown > LEGEND ? 1 : 1.5 + 0.4 * (behind < 3 ? behind : 3);
        fprintf(s, "%s$d%d_%d using 1:2 ", k ? ", \\\n     " : "", number, k);
        if (c->stems) fprintf(s, "with impulses lw 1.2 dt %d lc rgb '%s' ", dash, colour);
        else fprintf(s, "with lines lw %.1f dt %d lc rgb '%s' ", width, dash, colour);
        if (!own && has_legend(p) && figure_next_label(p, k) == k && label < entries(p))
            fputs("title ", s), gnuplot_quote(s, c->label);
        else fputs("notitle", s);
    }
    for (int k = figure_next_label(p, 0); own && has_legend(p) && k < p->n; k = figure_next_label(p, k + 1)) {
        fprintf(s, ", NaN with lines lw 1.5 dt %d lc rgb '#333333' title ", 1 + label_of(p, k));
        gnuplot_quote(s, p->curve[k].label);
    }
    fputs("\n", s);
}

// Names of the results in rows under the title, each behind a piece of its line.  Returns the rows; s = NULL: only
// counts them.
static int strip(FILE *s, const figure *f, int height) {
    const bool own = by_source(f);
    const double left = 0.105 * WIDTH;
    double at = left;
    int row = 0;
    for (int i = 0; i < f->sources && f->sources > 1; ++i) {
        const double width = 60 + 7.2 * (double)strlen(f->source[i]);
        if (at > left && at + width > WIDTH) at = left, ++row;
        const double y = 1 - (TOP + STRIP * (row + 0.3)) / height;
        if (s) {
            fprintf(s,
                    "set arrow %d from screen %.4f, screen %.5f to screen %.4f, screen %.5f nohead lw 1.8 dt %d lc rgb "
                    "'%s'\n",
                    100 + i, at / WIDTH, y, (at + 30) / WIDTH, y, own ? 1 : 1 + i % DASHES,
                    own ? gnuplot_palette[i % COLOURS] : "#333333");
            fprintf(s, "set label %d ", 100 + i), gnuplot_quote(s, f->source[i]);
            fprintf(s, " at screen %.4f, screen %.5f left\n", (at + 38) / WIDTH, y);
        }
        at += width;
    }
    return f->sources > 1 ? row + 1 : 0;
}

static const char axes[] = "set grid ls 100\nset border 3 lc rgb '#444444'\nset xtics nomirror out scale 0.5\nset "
                           "ytics nomirror out scale 0.5\nset xzeroaxis lc rgb '#999999' lw 0.7\n";

// Where curves end and legends begin, in parts of the width: legends get the room they need, up to half.
static double right_margin(const figure *f) {
    size_t longest = 0;
    bool many = false;
    for (int i = 0; i < f->n; ++i) {
        const panel *p = &f->panel[i];
        int shown = 0;
        if (!has_legend(p)) continue;
        for (int k = figure_next_label(p, 0); k < p->n && shown < entries(p); k = figure_next_label(p, k + 1), ++shown)
            if (strlen(p->curve[k].label) > longest) longest = strlen(p->curve[k].label);
        many = many || labels(p) > LEGEND;
    }
    if (many && longest < strlen("1000 curves")) longest = strlen("1000 curves");
    return longest == 0 ? 0.97 : fmax(0.5, fmin(0.85, 1 - (70 + 7.2 * (double)longest) / WIDTH));
}

static void x_range(const figure *f, FILE *s, const panel *only) {
    double from = INFINITY, to = -INFINITY;
    const bool time = !only && strncmp(f->xlabel, "time", 4) == 0;
    for (int i = 0; i < f->n; ++i) {
        double low, high;
        if (only && only != &f->panel[i]) continue;
        figure_range(&f->panel[i], true, &low, &high);
        from = fmin(from, low), to = fmax(to, high);
    }
    const double pad = time ? 0 : 0.03 * (to - from);
    fprintf(s, "set xrange [%.10g:%.10g]\n", from - pad, to + pad);
}

// One panel; tops and bottoms in parts of the picture, labels at fixed places so that panels line up.
static void draw_panel(FILE *s, const figure *f, int i, double top, double bottom) {
    const panel *p = &f->panel[i];
    double low, high;
    figure_range(p, false, &low, &high);
    fprintf(s, "set tmargin at screen %.5f\nset bmargin at screen %.5f\nset yrange [%.10g:%.10g]\n", top, bottom, low,
            high);
    fprintf(s, "set key at screen %.4f, screen %.5f left top vertical Left reverse samplen 2.2 spacing 1.1 width 0",
            right_margin(f) + 0.01, top);
    if (labels(p) > LEGEND) fprintf(s, " title '%d curves'\n", labels(p));
    else fputs(" title ''\n", s);
    fputs("set label 2 ", s), gnuplot_quote(s, p->label);
    fprintf(s, " at screen 0.018, screen %.5f center rotate by 90\n", 0.5 * (top + bottom));
    if (p->xlabel[0]) x_range(f, s, p);
    if (p->xlabel[0] || i + 1 == f->n)
        fputs("set format x '%g'\nset xlabel ", s), gnuplot_quote(s, p->xlabel[0] ? p->xlabel : f->xlabel),
            fputs("\n", s);
    else fputs("set format x ''\nunset xlabel\n", s);
    draw(s, f, i);
    fputs("unset label 1\n", s);
    for (int k = 0; i == 0 && k < f->sources; ++k) fprintf(s, "unset arrow %d\nunset label %d\n", 100 + k, 100 + k);
}

static int height_of(const figure *f, const panel *p) {
    return p->xlabel[0] ? TALL : f->n > 1 ? PANEL_HEIGHT : 2 * PANEL_HEIGHT;
}

void figure_script(const figure *f, FILE *s, const char *kind, const char *output) {
    const int head = TOP + STRIP * strip(NULL, f, 1);
    int height = head + (f->panel[f->n - 1].xlabel[0] ? 0 : BOTTOM - BETWEEN), at = head;
    for (int i = 0; i < f->n; ++i) height += height_of(f, &f->panel[i]);
    fprintf(s, "# Made by carom %s.  The picture again: gnuplot THIS\n", CAROM_VERSION);
    for (int i = 0; i < f->n; ++i)
        for (int k = 0; k < f->panel[i].n; ++k) block(s, &f->panel[i].curve[k], i, k);
    gnuplot_terminal(s, kind, WIDTH, height);
    if (output) gnuplot_output(s, output);
    fprintf(s,
            "set encoding utf8\nset style line 100 lc rgb '#dddddd' lw 0.5\nset lmargin at screen 0.105\nset rmargin "
            "at screen %.4f\n",
            right_margin(f));
    x_range(f, s, NULL);
    fputs("set multiplot\nset label 1 ", s);
    gnuplot_quote(s, f->title);
    fprintf(s, " at screen 0.105, screen %.5f left font ',13'\n", 1 - 0.5 * TOP / height);
    strip(s, f, height);
    fputs(axes, s);
    for (int i = 0; i < f->n; ++i) {
        const int part = height_of(f, &f->panel[i]), below = f->panel[i].xlabel[0] ? AXIS : BETWEEN;
        draw_panel(s, f, i, 1 - (double)at / height, 1 - (double)(at + part - below) / height);
        at += part;
    }
    fputs("unset multiplot\n", s);
}

// -- pictures of one panel ------------------------------------------------------------------------------------------

void figure_frame(FILE *s, const char *kind, const char *title, double right) {
    enum { HEIGHT = 560 }; // pixels
    gnuplot_terminal(s, kind, WIDTH, HEIGHT);
    fprintf(s,
            "set encoding utf8\nset style line 100 lc rgb '#dddddd' lw 0.5\nset lmargin at screen 0.105\nset rmargin "
            "at screen %.4f\nset tmargin at screen %.4f\nset bmargin at screen 0.11\n",
            right, 1 - (TOP + STRIP) / (double)HEIGHT);
    fputs(axes, s);
    fputs("set key at graph 1, graph 1.01 right bottom horizontal samplen 2.2 spacing 1.1\nset label 1 ", s);
    gnuplot_quote(s, title);
    fprintf(s, " at screen 0.105, screen %.5f left font ',13'\n", 1 - 0.5 * TOP / HEIGHT);
}

char *figure_model_name(const char *text) {
    const char *line = text;
    while (line && strncmp(line, "name:", 5) != 0) line = (line = strchr(line, '\n')) ? line + 1 : NULL;
    if (!line) return NULL;
    line += 5 + strspn(line + 5, " ");
    size_t n = strcspn(line, "\r\n");
    if (n > 1 && (*line == '"' || *line == '\'') && memchr(line + 1, *line, n - 1)) {
        const char *end = memchr(line + 1, *line, n - 1);
        ++line, n = (size_t)(end - line);
    } else {
        for (size_t i = 1; i < n; ++i)
            if (line[i] == '#' && line[i - 1] == ' ') n = i;
        while (n > 0 && line[n - 1] == ' ') --n;
    }
    return n > 0 ? strndup(line, n) : NULL;
}

void figure_axis(FILE *s, const char *axis, const char *file, const char *column) {
    char unit[24], text[240];
    const bool known = carom_table_unit_read(file, column, unit, sizeof unit) && strcmp(unit, "1") != 0;
    snprintf(text, sizeof text, "%.200s%s%s%s", column, known ? " (" : "", known ? unit : "", known ? ")" : "");
    fprintf(s, "set %s ", axis);
    gnuplot_quote(s, text);
    fputs("\n", s);
}

char *figure_name(const char *file) {
    char *name = carom_table_note_read(file, "name"), *model = name ? NULL : carom_table_note_read(file, "model");
    if (model) name = figure_model_name(model);
    free(model);
    if (name && *name) return name;
    free(name);
    const char *slash = strrchr(file, '/'), *own = slash ? slash + 1 : file, *dot = strrchr(own, '.');
    name = strndup(own, dot && dot > own ? (size_t)(dot - own) : strlen(own));
    if (!name) abort();
    return name;
}
