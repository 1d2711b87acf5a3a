// sketch.c: a picture as plain text, for a terminal.
//
// Every panel is a grid of letters; a curve fills its stretch of every column of the grid with its own sign.
#include "cli/figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 10, ROWS = 12, WIDEST = 400, NARROWEST = 40 }; // LEFT: letters for the numbers of the axis

static const char signs[] = "*o+x#@%&";

typedef struct grid {
    int columns;
    double x_0, x_1, y_0, y_1;
    char cell[ROWS][WIDEST];
} grid;

static int column_of(const grid *g, double x) {
    return (int)lround((x - g->x_0) / (g->x_1 - g->x_0) * (g->columns - 1));
}

static int row_of(const grid *g, double y) { return (int)lround((g->y_1 - y) / (g->y_1 - g->y_0) * (ROWS - 1)); }

static void dot(grid *g, int column, int row, char sign) {
    if (column >= 0 && column < g->columns && row >= 0 && row < ROWS) g->cell[row][column] = sign;
}

// A straight line from cell to cell.
static void line(grid *g, double x_0, double y_0, double x_1, double y_1, char sign) {
    const int a = column_of(g, x_0), b = column_of(g, x_1), c = row_of(g, y_0), d = row_of(g, y_1);
    const int n = abs(b - a) > abs(d - c) ? abs(b - a) : abs(d - c);
    for (int i = 0; i <= n; ++i) {
        const double s = n ? (double)i / n : 0;
        dot(g, a + (int)lround(s * (b - a)), c + (int)lround(s * (d - c)), sign);
    }
}

static void trace(grid *g, const curve *c, char sign) {
    for (long i = 0; i < c->n; ++i) {
        if (!isfinite(c->x[i]) || !isfinite(c->y[i])) continue;
        if (c->stems && c->y[i] != 0) line(g, c->x[i], 0, c->x[i], c->y[i], sign);
        if (c->stems) continue;
        const bool joined = i > 0 && isfinite(c->x[i - 1]) && isfinite(c->y[i - 1]);
        line(g, c->x[joined ? i - 1 : i], c->y[joined ? i - 1 : i], c->x[i], c->y[i], sign);
    }
}

static void name(FILE *to, const char *text) { carom_escape_file(CAROM_FOR_TERMINAL, to, text); }

// The sign of a curve: its column's, and with several results those of all columns, result by result.
static char sign_of(const panel *p, int k) {
    int label = 0, n = 0;
    for (int i = figure_next_label(p, 0); i < p->n; i = figure_next_label(p, i + 1), ++n)
        if (strcmp(p->curve[i].label, p->curve[k].label) == 0) label = n;
    return signs[(size_t)(p->curve[k].source * n + label) % (sizeof signs - 1)];
}

static void legend(const figure *f, const panel *p, FILE *to) {
    fprintf(to, "%*s ", LEFT, "");
    name(to, p->label);
    fputs(p->label[0] ? ": " : "", to);
    for (int k = 0; k < p->n && k < 8; ++k) {
        fprintf(to, "%s%c ", k ? "  " : "", sign_of(p, k));
        name(to, p->curve[k].label);
        if (f->sources > 1) fputs(" (", to), name(to, f->source[p->curve[k].source]), fputs(")", to);
    }
    if (p->n > 8) fprintf(to, "  and %d more", p->n - 8);
    fputc('\n', to);
}

static void numbers(const grid *g, FILE *to, const char *label) {
    char low[32], high[32];
    const int n = snprintf(low, sizeof low, "%.6g", g->x_0), m = snprintf(high, sizeof high, "%.6g", g->x_1);
    fprintf(to, "%*s %s", LEFT, "", low);
    const int room = g->columns - n - m, words = (int)strlen(label);
    if (room >= words + 2) {
        fprintf(to, "%*s", (room - words) / 2, "");
        name(to, label);
        fprintf(to, "%*s", room - words - (room - words) / 2, "");
    } else {
        fprintf(to, "%*s", room > 1 ? room : 1, "");
    }
    fprintf(to, "%s\n", high);
}

static void sketch(const figure *f, const panel *p, FILE *to, int width, bool x_axis) {
    grid g = {.columns = width - LEFT - 2};
    figure_range(p, true, &g.x_0, &g.x_1);
    figure_range(p, false, &g.y_0, &g.y_1);
    memset(g.cell, ' ', sizeof g.cell);
    const int zero = g.y_0 < 0 && g.y_1 > 0 ? row_of(&g, 0) : -1;
    for (int i = 0; zero >= 0 && i < g.columns; ++i) g.cell[zero][i] = i % 2 ? ' ' : '.';
    for (int k = p->n - 1; k >= 0; --k) trace(&g, &p->curve[k], sign_of(p, k)); // the first on top
    legend(f, p, to);
    for (int r = 0; r < ROWS; ++r) {
        char text[32] = "";
        if (r == 0) snprintf(text, sizeof text, "%.4g", g.y_1);
        else if (r == ROWS - 1) snprintf(text, sizeof text, "%.4g", g.y_0);
        else if (r == zero && r > 1 && r < ROWS - 2) strcpy(text, "0");
        int n = g.columns;
        while (n > 0 && g.cell[r][n - 1] == ' ') --n;
        fprintf(to, "%*s |%.*s\n", LEFT - 1, text, n, g.cell[r]);
    }
    if (x_axis) numbers(&g, to, p->xlabel[0] ? p->xlabel : f->xlabel);
}

void figure_sketch(const figure *f, FILE *to, int width) {
    if (width > WIDEST) width = WIDEST;
    if (width < NARROWEST) width = NARROWEST;
    name(to, f->title);
    fputc('\n', to);
    for (int i = 0; i < f->n; ++i) sketch(f, &f->panel[i], to, width, f->panel[i].xlabel[0] || i + 1 == f->n);
}
