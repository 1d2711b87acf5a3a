// figure.h: a picture as panels of curves, and its gnuplot script.
#pragma once
#include "cli/cli.h"

typedef struct curve {
    char *label;
    double *x, *y; // owned
    long n;
    bool stems;    // impulses: thin upright lines, not a course
    int colour;    // of its column; curves with one label in a panel are one column, from several results
    int source;    // which result, from 0
    char unit[24]; // "": not known
} curve;

typedef struct panel {
    char label[96];
    curve *curve;
    int n;
    bool zero;       // zero belongs into view
    char xlabel[96]; // of an axis of its own; "": the figure's
} panel;

typedef struct figure {
    char title[256], xlabel[96];
    panel *panel;
    int n;
    char **source; // names of the results when there are several, owned
    int sources;
} figure;

/// A panel to fill; a curve in the last panel, whose x and y the figure owns from then on.
panel *figure_panel(figure *f, const char *label, bool zero);
void figure_curve(figure *f, curve c);
void figure_drop(figure *f); // the last panel
void figure_free(figure *f);

/// kind: "svg", "png" or "pdf".  The script holds its data and writes the picture to `output`; NULL: to standard
/// output.
void figure_script(const figure *f, FILE *script, const char *kind, const char *output);
/// A picture of one panel in the same style: terminal, axes, place of the legend and title ("NAME: what"), before
/// `plot`.  right: where the axes end, in parts of the width.
void figure_frame(FILE *s, const char *kind, const char *title, double right);
/// The label of an axis with the unit that the tables of this file give.  axis: xlabel, ...
void figure_axis(FILE *s, const char *axis, const char *file, const char *column);
/// NAME of such a title: the name of the model in the text of a note of the file, else the file's own.  To be freed.
char *figure_name(const char *file);
/// The name that a model's text gives, to be freed; NULL: none.
char *figure_model_name(const char *text);
/// Extremes of what a panel shows, with room around values; zero where it belongs into view.
void figure_range(const panel *p, bool of_x, double *low, double *high);
/// The next curve of a panel, from k on, whose label no earlier one has; p->n after the last.
int figure_next_label(const panel *p, int k);

// sketch.c
/// The picture as text, `width` letters wide.
void figure_sketch(const figure *f, FILE *to, int width);

// gnuplot.c
/// "svg", "png" or "pdf" by the ending of file; NULL: none of these.
const char *gnuplot_kind(const char *file);
/// Is file (of --plot, NULL: not given) one of these?  False: complained.
bool gnuplot_takes(const char *file);
/// A script to fill; NULL: complained.
FILE *gnuplot_begin(void);
/// Size in pixels.  Texts are taken as they are: without markup.
void gnuplot_terminal(FILE *s, const char *kind, double width, double height);
void gnuplot_output(FILE *s, const char *file); // where a script that is kept puts its picture
/// Colours that people tell apart, whatever they see of red and green.
enum { GNUPLOT_COLOURS = 8 };
extern const char *const gnuplot_palette[GNUPLOT_COLOURS];
/// gnuplot_render(), and the script is gone.
bool gnuplot_finish(FILE *s, const char *file);
/// Text in double quotes, escaped.
void gnuplot_quote(FILE *s, const char *text);
/// Run gnuplot on a script (from its start) and put what it writes into file; false: complained.
bool gnuplot_render(FILE *script, const char *file);
