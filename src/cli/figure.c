// figure.c: from curves to a gnuplot script.
//
// Names come from files and may hold anything: they appear in single quotes only (where gnuplot neither substitutes
// commands nor expands macros), without control characters, in a terminal that reads no markup.
#include "cli/figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEGEND = 8, POINTS = 6000, PANEL_HEIGHT = 170, WIDTH = 900, TOP = 40, BOTTOM = 50, BETWEEN = 22 };

static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a3d9a", "#555555"};

panel *figure_panel(figure *f, const char *label, bool zero) {
    panel *more = realloc(f->panel, sizeof *more * (size_t)(f->n + 1));
    if (!more) abort();
    f->panel = more;
    f->panel[f->n] = (panel){.zero = zero};
    snprintf(f->panel[f->n].label, sizeof f->panel[f->n].label, "%s", label);
    return &f->panel[f->n++];
}

void figure_curve(figure *f, curve c) {
    panel *p = &f->panel[f->n - 1];
    curve *more = realloc(p->curve, sizeof *more * (size_t)(p->n + 1));
    if (!more) abort();
    p->curve = more;
    p->curve[p->n++] = c;
}

void figure_free(figure *f) {
    for (int i = 0; i < f->n; ++i) {
        for (int k = 0; k < f->panel[i].n; ++k) {
            free(f->panel[i].curve[k].label);
            free(f->panel[i].curve[k].x);
            free(f->panel[i].curve[k].y);
        }
        free(f->panel[i].curve);
    }
    free(f->panel);
    *f = (figure){.n = 0};
}

static void quote(FILE *s, const char *text) {
    fputc('\'', s);
    if (*text == '\'') fputc(' ', s); // gnuplot takes a doubled quote at the very start for an empty string
    for (; *text; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '\'') fputs("''", s);
        else fputc(c < 32 || c == 127 || c == '`' ? '?' : c, s);
    }
    fputc('\'', s);
}

static void point(FILE *s, double x, double y) {
    if (isfinite(x) && isfinite(y)) fprintf(s, "%.10g %.10g\n", x, y);
    else fputs("\n", s); // a gap in the line
}

// Of many points, the lowest and the highest of every stretch: the picture is the same.
static void thin(FILE *s, const curve *c) {
    const long stretch = 2 * c->n / POINTS + 1;
    for (long i = 0; i < c->n; i += stretch) {
        long low = i, high = i;
        for (long k = i; k < c->n && k < i + stretch; ++k) {
            if (c->y[k] < c->y[low]) low = k;
            if (c->y[k] > c->y[high]) high = k;
        }
        const long a = low < high ? low : high, b = low < high ? high : low;
        point(s, c->x[a], c->y[a]);
        if (b != a) point(s, c->x[b], c->y[b]);
    }
}

static void block(FILE *s, const curve *c, int panel, int k) {
    fprintf(s, "$d%d_%d << EOD\n", panel, k);
    bool rising = true; // x is a time: stretches make sense
    for (long i = 1; i < c->n && rising; ++i) rising = c->x[i] >= c->x[i - 1];
    if (c->stems) {
        for (long i = 0; i < c->n; ++i)
            if (c->y[i] != 0 && isfinite(c->y[i])) point(s, c->x[i], c->y[i]);
    } else if (c->n <= POINTS) {
        for (long i = 0; i < c->n; ++i) point(s, c->x[i], c->y[i]);
    } else if (rising) {
        thin(s, c);
    } else {
        for (long i = 0; i < c->n; i += c->n / POINTS) point(s, c->x[i], c->y[i]);
    }
    fputs("EOD\n", s);
}

static void range(const panel *p, bool of_x, double *low, double *high) {
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
    if (*high - *low <= 1e-9 * size || size == 0) { // rounding is not worth a magnifying glass
        const double pad = size > 0 ? 0.1 * size : 1;
        *low -= pad;
        *high += pad;
    } else if (!of_x) {
        const double pad = 0.06 * (*high - *low);
        *low -= pad;
        *high += pad;
    }
}

static void draw(FILE *s, const panel *p, int number) {
    const bool many = p->n > LEGEND;
    fputs("plot ", s);
    for (int k = 0; k < p->n; ++k) {
        const curve *c = &p->curve[k];
        const char *colour = palette[c->colour % (int)(sizeof palette / sizeof palette[0])];
        fprintf(s, "%s$d%d_%d using 1:2 ", k ? ", \\\n     " : "", number, k);
        if (c->stems) fprintf(s, "with impulses lw 1.2 lc rgb '%s' ", colour);
        else fprintf(s, "with lines lw %s dt %d lc rgb '%s' ", many ? "1" : "1.6", c->dash, colour);
        if (k < LEGEND) fputs("title ", s), quote(s, c->label);
        else fputs("notitle", s);
    }
    fputs("\n", s);
}

static void terminal(FILE *s, const char *kind, int height) {
    if (strcmp(kind, "png") == 0) fprintf(s, "set terminal pngcairo size %d,%d font 'sans,10' noenhanced background '#ffffff'\n", WIDTH, height);
    else if (strcmp(kind, "pdf") == 0)
        fprintf(s, "set terminal pdfcairo size %.3fin,%.3fin font 'sans,10' noenhanced background '#ffffff'\n", WIDTH / 96.0, height / 96.0);
    else fprintf(s, "set terminal svg size %d,%d font 'sans,12' noenhanced background '#ffffff'\n", WIDTH, height);
}

// Where curves end and legends begin, in parts of the width: legends get the room they need, up to half.
static double right_margin(const figure *f) {
    size_t longest = 0;
    for (int i = 0; i < f->n; ++i)
        for (int k = 0; k < f->panel[i].n && k < LEGEND; ++k)
            if (strlen(f->panel[i].curve[k].label) > longest) longest = strlen(f->panel[i].curve[k].label);
    return fmax(0.5, fmin(0.85, 1 - (60 + 7.2 * (double)longest) / WIDTH));
}

// One panel; tops and bottoms in parts of the picture, labels at fixed places so that panels line up.
static void draw_panel(FILE *s, const figure *f, int i, double top, double bottom) {
    const panel *p = &f->panel[i];
    double low, high;
    range(p, false, &low, &high);
    fprintf(s, "set tmargin at screen %.5f\nset bmargin at screen %.5f\nset yrange [%.10g:%.10g]\n", top, bottom, low, high);
    fprintf(s, "set key at screen %.4f, screen %.5f left top vertical Left reverse samplen 1.5 spacing 1.1",
            right_margin(f) + 0.01, top);
    if (p->n > LEGEND) fprintf(s, " title '%d curves'\n", p->n);
    else fputs(" title ''\n", s);
    fputs("set label 2 ", s), quote(s, p->label);
    fprintf(s, " at screen 0.018, screen %.5f center rotate by 90\n", 0.5 * (top + bottom));
    if (i + 1 == f->n) fputs("set format x '%g'\nset xlabel ", s), quote(s, f->xlabel), fputs("\n", s);
    else fputs("set format x ''\nunset xlabel\n", s);
    draw(s, p, i);
    fputs("unset label 1\n", s);
}

static void x_range(const figure *f, FILE *s) {
    double from = INFINITY, to = -INFINITY;
    bool time = strncmp(f->xlabel, "time", 4) == 0;
    for (int i = 0; i < f->n; ++i) {
        double low, high;
        range(&f->panel[i], true, &low, &high);
        from = fmin(from, low), to = fmax(to, high);
    }
    const double pad = time ? 0 : 0.03 * (to - from);
    fprintf(s, "set xrange [%.10g:%.10g]\n", from - pad, to + pad);
}

void figure_script(const figure *f, FILE *s, const char *kind) {
    const int part = f->n > 1 ? PANEL_HEIGHT : 2 * PANEL_HEIGHT, height = TOP + BOTTOM + part * f->n - BETWEEN;
    fprintf(s, "# Made by carom %s.  Picture: gnuplot -d THIS > picture.%s\n", CAROM_VERSION, kind);
    for (int i = 0; i < f->n; ++i)
        for (int k = 0; k < f->panel[i].n; ++k) block(s, &f->panel[i].curve[k], i, k);
    terminal(s, kind, height);
    fputs("set encoding utf8\nset style line 100 lc rgb '#dddddd' lw 0.5\nset grid ls 100\nset border 3 lc rgb '#444444'\n"
          "set tics nomirror out scale 0.5\nset xzeroaxis lc rgb '#999999' lw 0.7\nset lmargin at screen 0.105\n", s);
    fprintf(s, "set rmargin at screen %.4f\n", right_margin(f));
    x_range(f, s);
    fputs("set multiplot\nset label 1 ", s);
    quote(s, f->title);
    fprintf(s, " at screen 0.105, screen %.5f left font ',13'\n", 1 - 0.5 * TOP / height);
    for (int i = 0; i < f->n; ++i)
        draw_panel(s, f, i, 1 - (double)(TOP + i * part) / height, 1 - (double)(TOP + (i + 1) * part - BETWEEN) / height);
    fputs("unset multiplot\n", s);
}
