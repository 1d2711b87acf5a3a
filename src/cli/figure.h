// figure.h: a picture as panels of curves, and its gnuplot script.
#pragma once
#include "cli/cli.h"

typedef struct curve {
    char *label;
    double *x, *y; // owned
    long n;
    bool stems;    // impulses: thin upright lines, not a course
    int colour, dash;
} curve;

typedef struct panel {
    char label[96];
    curve *curve;
    int n;
    bool zero; // zero belongs into view
} panel;

typedef struct figure {
    char title[256], xlabel[96];
    panel *panel;
    int n;
} figure;

/// A panel to fill; a curve in the last panel, whose x and y the figure owns from then on.
panel *figure_panel(figure *f, const char *label, bool zero);
void figure_curve(figure *f, curve c);
void figure_free(figure *f);

/// kind: "svg", "png" or "pdf".  The script holds its data and writes the picture to standard output.
void figure_script(const figure *f, FILE *script, const char *kind);

// gnuplot.c
/// Run gnuplot on a script (from its start) and put what it writes into file; false: complained.
bool gnuplot_render(FILE *script, const char *file);
