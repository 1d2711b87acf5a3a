// cmd_plot.c: pictures of results: which curves, in which panels.
#define _POSIX_C_SOURCE 200809L
#include "base/column.h"
#include "cli/figure.h"
#include "cli/follow_curve.h"
#include "cli/follow_plot.h"
#include "cli/sweep_plot.h"
#include "io/table.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"out", 'o', "FILE",
     "plot: .svg, .png or .pdf, or - for a text plot (default: that on a terminal, else the result's "
     "name "
     "with .svg, in this directory)",
     false},
    {"of", 0, "NAME,NAME", "these columns, a panel each; NAME+NAME share a panel", false},
    {"vs", 0, "NAME", "plot versus this column instead of time", false},
    {"phase", 0, "NAME,NAME", "phase portraits: the rate of each versus its position", false},
    {"from", 0, "T", "from this time on", false},
    {"to", 0, "T", "until this time", false},
    {"keep-script", 0, "FILE", "save the gnuplot script, including its data", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct source {
    carom_result *r;
    const char *file;
    long first, count; // rows of the wanted stretch of time
    char *lacks;       // names of columns that others have, for a message; owned
    int missing;       // how many
} source;

typedef struct plot {
    source *s;
    int n;
    figure fig;
    const char *vs; // column of the abscissa
    bool failed;
    bool brief;     // a sketch: little of everything
} plot;

static const char *column_name(const void *user, int i) { return carom_result_column(user, i); }

// -- curves -------------------------------------------------------------------------------------------

// A result may be larger than the memory: columns are read block by block, and of many rows few are kept.
enum { POINTS = 6000, BLOCK = 1 << 16 };

static bool fetch(plot *p, const source *s, int column, long first, long count, double *to) {
    carom_error err = {0};
    if (!p->failed && carom_result_read(s->r, column, s->first + first, count, to, &err) != CAROM_OK) {
        cli_say("%s", err.text);
        p->failed = true;
    }
    return !p->failed;
}

static double *room_for(long n) {
    double *x = malloc(sizeof *x * (size_t)(n + 1));
    if (!x) abort();
    return x;
}

// Does a column never fall, as a time does?
static bool rises(plot *p, const source *s, int column) {
    double *x = room_for(BLOCK), last = -INFINITY;
    bool rising = true;
    for (long at = 0, n; at < s->count && rising; at += n) {
        n = s->count - at < BLOCK ? s->count - at : BLOCK;
        rising = fetch(p, s, column, at, n, x);
        for (long i = 0; i < n && rising; last = x[i++]) rising = x[i] >= last;
    }
    free(x);
    return rising;
}

static void keep(curve *c, double x, double y) {
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

// Of many rows over a time, the lowest and the highest of every stretch, the first row and the last: the picture is the
// same.  Over another column, rows at regular distances.
static void read_curve(plot *p, const source *s, int over, int column, curve *c) {
    if (s->count <= POINTS) {
        c->x = room_for(s->count), c->y = room_for(s->count), c->n = s->count;
        if (fetch(p, s, column, 0, s->count, c->y)) fetch(p, s, over, 0, s->count, c->x);
        return;
    }
    const bool rising = rises(p, s, over);
    const long stretch = rising ? 2 * s->count / POINTS + 1 : s->count / POINTS;
    const long block = stretch * (BLOCK / stretch + 1);
    double *x = room_for(block), *y = room_for(block);
    c->x = room_for(2 * (s->count / stretch + 2)), c->y = room_for(2 * (s->count / stretch + 2)), c->n = 0;
    for (long at = 0, n; at < s->count && !p->failed; at += n) {
        n = s->count - at < block ? s->count - at : block;
        if (!fetch(p, s, column, at, n, y) || !fetch(p, s, over, at, n, x)) break;
        for (long i = 0; i < n; i += stretch) {
            long low = i, high = i;
            for (long k = i; rising && k < n && k < i + stretch; ++k) {
                if (y[k] < y[low]) low = k;
                if (y[k] > y[high]) high = k;
            }
            const long a = low < high ? low : high, b = low < high ? high : low;
            if (at == 0 && i == 0 && a > 0) keep(c, x[0], y[0]);
            keep(c, x[a], y[a]);
            if (b != a) keep(c, x[b], y[b]);
        }
        if (at + n == s->count && c->x[c->n - 1] < x[n - 1]) keep(c, x[n - 1], y[n - 1]);
    }
    free(x), free(y);
}

static const double BLANK = 1e-13, AT_REST = 1e-9; // a curve that shows nothing but rounding; of the largest: what only
                                                   // rounds is at rest

static bool blank(const double *y, long n, double most) {
    for (long i = 0; i < n; ++i)
        if (fabs(y[i]) > most && isfinite(y[i])) return false;
    return true;
}

// Result s lacks a column that another one has.
static void miss(source *s, const char *name) {
    enum { TOLD = 5 };
    const size_t used = s->lacks ? strlen(s->lacks) : 0, more = strlen(name) + 4;
    if (s->missing++ >= TOLD) return;
    char *text = realloc(s->lacks, used + more + 1);
    if (!text) abort();
    sprintf(text + used, "%s'%s'", used ? ", " : "", name);
    s->lacks = text;
}

// Curves of column `name` over column `over` in the last panel, from every result that has them.
static void add_over(plot *p, const char *name, const char *over, const char *label, int colour, bool stems,
                     bool skip_blank) {
    for (int i = 0; i < p->n && !p->failed; ++i) {
        source *s = &p->s[i];
        const int column = carom_result_find(s->r, name), x = carom_result_find(s->r, over);
        if (column < 0 || x < 0) {
            miss(s, column < 0 ? name : over);
            continue;
        }
        curve c = {.stems = stems, .colour = colour, .source = i};
        read_curve(p, s, x, column, &c);
        if (p->failed || (skip_blank && blank(c.y, c.n, BLANK))) {
            free(c.x), free(c.y);
            continue;
        }
        c.label = strdup(label);
        if (!c.label) abort();
        if (!carom_result_unit(s->r, name, c.unit, sizeof c.unit)) c.unit[0] = 0;
        figure_curve(&p->fig, c);
    }
}

// "x" becomes "x (m)", where a unit is known and the label has none yet.
static void put_unit(char *label, size_t size, const char *unit) {
    const size_t used = strlen(label);
    if (unit[0] && !strchr(label, '(')) snprintf(label + used, size - used, "%s(%s)", used ? " " : "", unit);
}

// Panels whose curves all have one unit name it.
static void put_units(plot *p) {
    char unit[24];
    for (int i = 0; i < p->fig.n; ++i) {
        panel *x = &p->fig.panel[i];
        bool same = x->n > 0;
        for (int k = 1; k < x->n; ++k) same = same && strcmp(x->curve[k].unit, x->curve[0].unit) == 0;
        if (same) put_unit(x->label, sizeof x->label, x->curve[0].unit);
        if (x->xlabel[0] && carom_result_unit(p->s[0].r, x->xlabel, unit, sizeof unit))
            put_unit(x->xlabel, sizeof x->xlabel, unit);
    }
    if (strcmp(p->vs, "t") != 0 && carom_result_unit(p->s[0].r, p->vs, unit, sizeof unit))
        put_unit(p->fig.xlabel, sizeof p->fig.xlabel, unit);
}

static void add(plot *p, const char *name, const char *label, int colour, bool stems, bool skip_blank) {
    add_over(p, name, p->vs, label, colour, stems, skip_blank);
}

// Is curve c shown already, in a panel before the last?
static bool shown(const figure *f, const curve *c) {
    for (int i = 0; i + 1 < f->n; ++i)
        for (int k = 0; k < f->panel[i].n; ++k) {
            const curve *other = &f->panel[i].curve[k];
            const bool alike = other->source == c->source && other->stems == c->stems && other->n == c->n;
            if (alike && memcmp(other->y, c->y, sizeof *c->y * (size_t)c->n) == 0) return true;
        }
    return false;
}

// The last panel goes when nothing is in it; from a sketch also when it says nothing new (the gap of a ball is its
// height).
static void drop_empty(plot *p) {
    panel *last = &p->fig.panel[p->fig.n - 1];
    bool news = !p->brief && last->n > 0;
    for (int k = 0; k < last->n && !news; ++k) news = !shown(&p->fig, &last->curve[k]);
    if (news) return;
    figure_drop(&p->fig);
}

// -- the standard picture -----------------------------------------------------------------------------

typedef enum owner { CONTACTS, CONSTRAINTS, ALL } owner;

// Do earlier results than number i have this column?
static bool seen(const plot *p, int i, const char *name) {
    for (int k = 0; k < i; ++k)
        if (carom_result_find(p->s[k].r, name) >= 0) return true;
    return false;
}

// Only contacts have a gap velocity; the least gap of many contacts has the number of closed ones instead.
static bool owned(const carom_result *r, const char *name, owner who) {
    static const char *const of_contact[] = {"gap'", "closed"};
    const char *dot = strrchr(name, '.');
    bool contact = false;
    for (int i = 0; i < 2 && who != ALL; ++i) {
        char other[300];
        snprintf(other, sizeof other, "%.*s.%s", (int)(dot - name), name, of_contact[i]);
        contact = contact || carom_result_find(r, other) >= 0;
    }
    return who == ALL || contact == (who == CONTACTS);
}

// Colours by contact: each has as many as it has columns of one part, whichever parts it has.
typedef struct painter {
    const char *owner; // whose columns come, a name without its part; they stand together
    int length;        // of that name
    int first, widest; // its first colour; the most columns of one part so far
    int count[CAROM_ROLES];
} painter;

static int paint(painter *c, const char *name, carom_role role) {
    const int length = (int)(strrchr(name, '.') - name);
    if (!c->owner || length != c->length || strncmp(name, c->owner, (size_t)length) != 0)
        *c = (painter){.owner = name, .length = length, .first = c->first + c->widest};
    const int number = c->count[role]++;
    if (c->widest < number + 1) c->widest = number + 1;
    return c->first + number;
}

// A panel of one part of all contacts or constraints.  A contact has the same colour in every panel.
static void parts(plot *p, const char *label, carom_role role, owner who, bool stems, bool zero) {
    figure_panel(&p->fig, label, zero);
    painter colours = {0};
    for (int k = 0; k < p->n; ++k) {
        const carom_result *r = p->s[k].r;
        for (int i = 1; i < carom_result_columns(r); ++i) {
            const char *name = carom_result_column(r, i);
            const carom_role is = carom_column_role(name);
            if (is == CAROM_ROLE_OTHER || seen(p, k, name)) continue;
            const int colour = paint(&colours, name, is);
            if (is != role || !owned(r, name, who)) continue;
            char text[256];
            const char *dot = strrchr(name, '.'), *number = dot + strcspn(dot, "0123456789");
            const int digits = (int)strspn(number, "0123456789");
            snprintf(text, sizeof text, "%.*s%s%.*s", (int)(dot - name), name, digits ? " " : "", digits, number);
            add(p, name, text, colour, stems, zero);
        }
    }
    drop_empty(p);
}

static double spread(plot *p, const char *name) {
    double low = INFINITY, high = -INFINITY, *y = room_for(BLOCK);
    for (int k = 0; k < p->n && !p->failed; ++k) {
        const int column = carom_result_find(p->s[k].r, name);
        const long count = column < 0 ? 0 : p->s[k].count;
        for (long at = 0, n; at < count; at += n) {
            n = count - at < BLOCK ? count - at : BLOCK;
            if (!fetch(p, &p->s[k], column, at, n, y)) break;
            for (long i = 0; i < n; ++i) low = fmin(low, y[i]), high = fmax(high, y[i]);
        }
    }
    free(y);
    return high > low ? high - low : 0;
}

// The column of the rate of a coordinate, as its name: x' of x; b.vx of a body's b.x, b.wz of its b.angle.  False:
// none.
static bool rate_of(const carom_result *r, const char *name, char *rate, size_t size) {
    static const char *const of_body[][2] = {{".x", ".vx"}, {".y", ".vy"}, {".z", ".vz"}, {".angle", ".wz"}};
    snprintf(rate, size, "%.290s'", name);
    if (carom_result_find(r, rate) >= 0) return true;
    for (size_t i = 0; i < sizeof of_body / sizeof *of_body; ++i) {
        if (!carom_ends(name, of_body[i][0])) continue;
        snprintf(rate, size, "%.*s%s", (int)(strlen(name) - strlen(of_body[i][0])), name, of_body[i][1]);
        if (carom_result_find(r, rate) >= 0) return true;
    }
    snprintf(rate, size, "%.290s'", name);
    return false;
}

// Is column i of a result a coordinate, or an output?  Coordinates come first, then rates, energies, contacts and
// constraints, outputs.  Quaternions are left out: their parts are no courses that one could read.
static bool is_coordinate(const carom_result *r, int i) {
    char rate[300];
    return i > 0 && i < carom_result_find(r, "kinetic") && rate_of(r, carom_result_column(r, i), rate, sizeof rate);
}

// A rate beside what it is the rate of (points of flexible members are recorded with theirs), as rates of coordinates
// are.
static bool is_rate(const carom_result *r, const char *name) {
    char of[300];
    const size_t n = strlen(name);
    if (n < 2 || n > sizeof of || name[n - 1] != '\'') return false;
    snprintf(of, sizeof of, "%.*s", (int)n - 1, name);
    return carom_result_find(r, of) >= 0;
}

static bool is_output(const carom_result *r, int i) {
    const int energy = carom_result_find(r, "energy");
    return energy > 0 && i > energy && carom_column_role(carom_result_column(r, i)) == CAROM_ROLE_OTHER &&
           !is_rate(r, carom_result_column(r, i));
}

// A state is a velocity that no position and no body has.
static bool is_state(const carom_result *r, int i) {
    static const char *const of_body[] = {".vx", ".vy", ".vz", ".wx", ".wy", ".wz", ".qw", ".qx", ".qy", ".qz"};
    const char *name = carom_result_column(r, i);
    for (size_t k = 0; k < sizeof of_body / sizeof *of_body; ++k)
        if (carom_ends(name, of_body[k])) return false;
    return i > 0 && i < carom_result_find(r, "kinetic") && name[strlen(name) - 1] != '\'' && !is_coordinate(r, i);
}

// Coordinates or outputs; those that move a thirtieth of the others or less get a panel of their own.
static int courses(plot *p, const char *label, bool (*wanted)(const carom_result *r, int i), int most) {
    enum { MOST = 200 };
    const char *name[MOST];
    double size[MOST], largest = 0;
    int n = 0, all = 0;
    for (int k = 0; k < p->n; ++k)
        for (int i = 1; i < carom_result_columns(p->s[k].r); ++i) {
            if (!wanted(p->s[k].r, i) || seen(p, k, carom_result_column(p->s[k].r, i)) || ++all > MOST) continue;
            name[n] = carom_result_column(p->s[k].r, i);
            largest = fmax(largest, size[n] = spread(p, name[n]));
            ++n;
        }
    for (int small = 0; small < 2 && all <= most; ++small) {
        figure_panel(&p->fig, label, false);
        for (int i = 0; i < n; ++i) {
            const bool tiny = size[i] < largest / 30 && size[i] > AT_REST * largest;
            if (tiny == (small == 1)) add(p, name[i], name[i], i, false, false);
        }
        drop_empty(p);
    }
    return all;
}

// Outputs are what the author of the model wants to see; where there are some, hundreds of coordinates are not.
static void standard(plot *p) {
    enum { FEW = 12, MANY = 200 };
    const int outputs = courses(p, "output", is_output, -1);
    courses(p, "position", is_coordinate, outputs > 0 ? FEW : MANY);
    courses(p, "state", is_state, MANY);
    if (outputs > 0) courses(p, "output", is_output, MANY);
    parts(p, "gap", CAROM_ROLE_GAP, CONTACTS, false, false);
    if (!p->brief) {
        parts(p, "gap velocity", CAROM_ROLE_GAP_RATE, CONTACTS, false, false);
        parts(p, "constraint", CAROM_ROLE_GAP, CONSTRAINTS, false, true);
        parts(p, "force (N)", CAROM_ROLE_FORCE, ALL, false, true);
        parts(p, "friction (N)", CAROM_ROLE_FRICTION, ALL, false, true);
        parts(p, "impulse (N s)", CAROM_ROLE_IMPULSE, ALL, true, true);
        parts(p, "friction (N s)", CAROM_ROLE_FRICTION_IMPULSE, ALL, true, true);
    }
    figure_panel(&p->fig, "energy (J)", false);
    static const char *const energy[] = {"kinetic", "potential", "energy"};
    for (int i = 0; i < 3; ++i) add(p, energy[i], i < 2 ? energy[i] : "sum", i, false, false);
    drop_empty(p);
}

// -- the asked picture --------------------------------------------------------------------------------

static bool known(const plot *p, const char *name) {
    for (int i = 0; i < p->n; ++i)
        if (carom_result_find(p->s[i].r, name) >= 0) return true;
    char hint[160];
    cli_say("%s has no column '%s'%s", p->s[0].file, name,
            cli_suggest(hint, sizeof hint, name, column_name, p->s[0].r));
    if (strchr(name, ':'))
        fputs("one column over another: --of NAME --vs NAME; a rate over its position: --phase NAME\n", stderr);
    carom_safe_file(stderr, "`carom info %s` lists the columns; `outputs` of the model add others\n", p->s[0].file);
    return false;
}

static bool asked(plot *p, const char *of) {
    char *list = strdup(of), *next = NULL;
    if (!list) abort();
    bool good = true;
    for (char *group = strtok_r(list, ",", &next); group && good; group = strtok_r(NULL, ",", &next)) {
        char *inner = NULL;
        figure_panel(&p->fig, strchr(group, '+') ? "" : group, false);
        int colour = 0;
        for (char *name = strtok_r(group, "+", &inner); name && good; name = strtok_r(NULL, "+", &inner)) {
            good = known(p, name);
            const carom_role role = carom_column_role(name);
            const bool stems = role == CAROM_ROLE_IMPULSE || role == CAROM_ROLE_FRICTION_IMPULSE;
            if (good) add(p, name, name, colour++, stems, false);
        }
        drop_empty(p);
    }
    free(list);
    return good;
}

// NAME' over NAME, a panel each with its own axis.
static bool portraits(plot *p, const char *names) {
    char *list = strdup(names), *next = NULL;
    if (!list) abort();
    bool good = true;
    for (char *name = strtok_r(list, ",", &next); name && good; name = strtok_r(NULL, ",", &next)) {
        char rate[300];
        for (int i = 0; i < p->n && !rate_of(p->s[i].r, name, rate, sizeof rate);) ++i;
        good = known(p, name) && known(p, rate);
        if (!good) break;
        snprintf(figure_panel(&p->fig, rate, false)->xlabel, sizeof p->fig.panel[0].xlabel, "%.90s", name);
        add_over(p, rate, name, rate, p->fig.n - 1, false, false);
        drop_empty(p);
    }
    free(list);
    return good;
}

// -- results ------------------------------------------------------------------------------------------

// Rows before `from` at the start and after `to` at the end are left out.
static bool cut(plot *p, source *s, double from, double to) {
    double *t = room_for(BLOCK);
    const long rows = s->count;
    long first = -1, last = -1;
    for (long at = 0, n; at < rows && !p->failed; at += n) {
        n = rows - at < BLOCK ? rows - at : BLOCK;
        if (!fetch(p, s, 0, at, n, t)) break;
        for (long i = 0; i < n; ++i) {
            if (first < 0 && t[i] >= from) first = at + i;
            if (t[i] <= to) last = at + i;
        }
    }
    s->first = first < 0 ? 0 : first;
    s->count = first < 0 || last < first ? 0 : last - first + 1;
    free(t);
    return !p->failed;
}

static bool open_source(plot *p, const char *file, double from, double to) {
    carom_error err = {0};
    source *s = &p->s[p->n];
    for (int k = 0; k < 2; ++k)
        if (carom_table_probe(file, k ? "branch" : "runs"))
            return cli_say("%s is a %s and cannot share a plot with other results", file, k ? "branch" : "sweep"),
                   false;
    if (cli_wants_result(file)) return false;
    *s = (source){.file = file, .r = carom_result_open(file, &err)};
    if (!s->r) return cli_say("%s", err.text), false;
    ++p->n;
    const long rows = carom_result_rows(s->r);
    if (rows < 1) return cli_say("%s has no rows", file), false;
    s->count = rows;
    if (!cut(p, s, from, to)) return false;
    if (s->count == 0) return cli_say("%s has no rows between --from and --to", file), false;
    return carom_result_find(s->r, p->vs) >= 0 || known(&(plot){.s = s, .n = 1}, p->vs);
}

// What a result is called in the legend: its file, and its scheme where these differ.
static char *name_source(const plot *p, int i) {
    const char *slash = strrchr(p->s[i].file, '/'), *scheme = carom_result_text(p->s[i].r, "scheme");
    bool differ = false;
    for (int k = 0; k < p->n; ++k) {
        const char *other = carom_result_text(p->s[k].r, "scheme");
        differ = differ || (scheme && other && strcmp(scheme, other) != 0);
    }
    char text[300];
    snprintf(text, sizeof text, "%.150s%s%.60s", slash ? slash + 1 : p->s[i].file, differ ? ": " : "",
             differ ? scheme : "");
    char *own = strdup(text);
    if (!own) abort();
    return own;
}

static void name_figure(plot *p) {
    const char *name = carom_result_text(p->s[0].r, "name"), *scheme = carom_result_text(p->s[0].r, "scheme");
    bool same = true;
    for (int i = 1; i < p->n; ++i) {
        const char *other = carom_result_text(p->s[i].r, "name");
        same = same && name && other && strcmp(name, other) == 0;
    }
    if (p->n == 1 && name && name[0])
        snprintf(p->fig.title, sizeof p->fig.title, "%s%s%s", name, scheme ? ", " : "", scheme ? scheme : "");
    else if (same && name && name[0]) snprintf(p->fig.title, sizeof p->fig.title, "%s", name);
    else if (p->n == 1) snprintf(p->fig.title, sizeof p->fig.title, "%s", p->s[0].file);
    else snprintf(p->fig.title, sizeof p->fig.title, "%d results", p->n);
    snprintf(p->fig.xlabel, sizeof p->fig.xlabel, "%s", strcmp(p->vs, "t") == 0 ? "time (s)" : p->vs);
    if (p->n < 2) return;
    p->fig.source = calloc((size_t)p->n, sizeof *p->fig.source);
    if (!p->fig.source) abort();
    for (int i = 0; i < p->n; ++i) p->fig.source[p->fig.sources++] = name_source(p, i);
}

// Columns that some results lack are shown from the others; that is said.
static void report_missing(const plot *p) {
    for (int i = 0; i < p->n; ++i) {
        const source *s = &p->s[i];
        if (s->missing == 0) continue;
        char more[40] = "";
        if (s->missing > 5) snprintf(more, sizeof more, " and %d more", s->missing - 5);
        cli_say("%s has no column%s %s%s; shown without %s", s->file, s->missing > 1 ? "s" : "", s->lacks, more,
                s->missing > 1 ? "them" : "it");
    }
}

// -- the picture --------------------------------------------------------------------------------------

static bool keep_script(const plot *p, const char *file, const char *picture) {
    FILE *f = fopen(file, "w");
    if (f) figure_script(&p->fig, f, gnuplot_kind(picture), picture);
    if (f && fclose(f) == 0) return true;
    cli_say("cannot write %s: %s", file, strerror(errno));
    return false;
}

static int render(const plot *p, const cli_args *a, const char *out) {
    const char *script = cli_value(a, "keep-script");
    FILE *f = gnuplot_begin();
    if (!f) return CLI_FAILED;
    figure_script(&p->fig, f, gnuplot_kind(out), NULL);
    const bool good = (!script || keep_script(p, script, out)) && gnuplot_render(f, out);
    fclose(f);
    if (good) cli_print("%s\n", out);
    return good ? CLI_DONE : CLI_FAILED;
}

static int columns_of_terminal(void) {
    const char *text = getenv("COLUMNS");
    const long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n < 1000 ? (int)n : 80;
}

static int show(plot *p, const cli_args *a, const char *out) {
    const char *of = cli_value(a, "of"), *phase = cli_value(a, "phase");
    name_figure(p);
    if (of && !asked(p, of)) return CLI_USAGE;
    if (phase && !portraits(p, phase)) return CLI_USAGE;
    if (!of && !phase) standard(p);
    if (p->failed) return CLI_USAGE;
    put_units(p);
    report_missing(p);
    if (p->fig.n == 0) return cli_say("nothing to show in %s", a->word[0]), CLI_USAGE;
    if (out) return render(p, a, out);
    figure_sketch(&p->fig, stdout, columns_of_terminal());
    return CLI_DONE;
}

static bool read_usage(const cli_args *a, const char **out, char *own) {
    const char *given = cli_value(a, "out");
    const bool sketch = given ? strcmp(given, "-") == 0 : isatty(STDOUT_FILENO) && !cli_has(a, "keep-script");
    *out = sketch ? NULL : given ? given : own;
    if (*out && !gnuplot_kind(*out)) return cli_say("-o: '%s' does not end in .svg, .png or .pdf", *out), false;
    if (!*out && cli_has(a, "keep-script"))
        return cli_say("--keep-script belongs to an image; a text plot has none"), false;
    if (cli_has(a, "phase") && cli_has(a, "vs")) return cli_say("--phase has its own axes; leave --vs out"), false;
    return cli_writable(*out) && cli_writable(cli_value(a, "keep-script"));
}

// A sweep and a branch have their own pictures.
static int plot_table(const cli_args *a, bool branch) {
    static const char *const of_results[] = {"vs", "phase", "from", "to", NULL};
    const char *other = !branch && cli_has(a, "keep-script") ? "keep-script" : NULL;
    for (int i = 0; of_results[i] && !other; ++i)
        if (cli_has(a, of_results[i])) other = of_results[i];
    if (other)
        return cli_say("--%s does not apply to the plot of a %s", other, branch ? "branch" : "sweep"), CLI_USAGE;
    static const char *const endings[] = {".h5", NULL};
    char *own = cli_has(a, "out") ? NULL : cli_rename(a->word[0], endings, ".svg");
    const char *out = own ? own : cli_value(a, "out");
    int code = CLI_USAGE;
    if (a->n > 1)
        cli_say("%s is a %s, whose plot contains nothing else; leave %s out", a->word[0], branch ? "branch" : "sweep",
                a->word[1]);
    else if (!gnuplot_kind(out)) cli_say("--out: '%s' does not end in .svg, .png or .pdf", out);
    else if (cli_writable(out) && cli_writable(cli_value(a, "keep-script")))
        code = branch ? follow_plot(a->word[0], cli_value(a, "of"), out, cli_value(a, "keep-script"))
                      : sweep_plot(a->word[0], cli_value(a, "of"), out);
    if (code == CLI_DONE) cli_print("%s written\n", out);
    free(own);
    return code;
}

// Curves in two parameters, one or several.
static int plot_curves(const cli_args *a) {
    static const char *const of_results[] = {"of", "vs", "phase", "from", "to", NULL}, *const endings[] = {".h5", NULL};
    for (int i = 0; of_results[i]; ++i)
        if (cli_has(a, of_results[i]))
            return cli_say("--%s does not apply to the plot of curves", of_results[i]), CLI_USAGE;
    for (int i = 1; i < a->n; ++i)
        if (!carom_table_probe(a->word[i], "curve"))
            return cli_say("%s is no curve and cannot share a plot with %s", a->word[i], a->word[0]), CLI_USAGE;
    char *own = cli_has(a, "out") ? NULL : cli_rename(a->word[0], endings, ".svg");
    const char *out = own ? own : cli_value(a, "out");
    int code = CLI_USAGE;
    if (!gnuplot_kind(out)) cli_say("--out: '%s' does not end in .svg, .png or .pdf", out);
    else if (cli_writable(out) && cli_writable(cli_value(a, "keep-script")))
        code = curve_plot(a->word, a->n, out, cli_value(a, "keep-script"));
    if (code == CLI_DONE) cli_print("%s written\n", out);
    free(own);
    return code;
}

// The table that `carom follow -o FILE.csv` writes begins so.
static bool is_branch_text(const char *file) {
    char head[8] = "";
    FILE *f = carom_ends(file, ".csv") ? fopen(file, "rb") : NULL;
    if (f && fread(head, 1, 7, f) < 7) head[0] = 0;
    if (f) fclose(f);
    return strcmp(head, "branch,") == 0;
}

static int run(const cli_args *a) {
    if (is_branch_text(a->word[0]))
        return cli_say("%s is a branch; plots are made from .h5 branches: `carom follow ... -o FILE.h5`", a->word[0]),
               CLI_USAGE;
    if (carom_table_probe(a->word[0], "runs")) return plot_table(a, false);
    if (carom_table_probe(a->word[0], "branch")) return plot_table(a, true);
    if (carom_table_probe(a->word[0], "curve")) return plot_curves(a);
    static const char *const old[] = {".h5", ".csv", NULL};
    double from = -INFINITY, to = INFINITY;
    if (!cli_time(a, "from", &from) || !cli_time(a, "to", &to)) return CLI_USAGE;
    char *own = cli_rename(a->word[0], old, ".svg");
    const char *out = NULL;
    plot p = {.s = calloc((size_t)a->n, sizeof *p.s), .vs = cli_value(a, "vs") ? cli_value(a, "vs") : "t"};
    if (!p.s) abort();
    bool good = read_usage(a, &out, own);
    p.brief = !out;
    for (int i = 0; good && i < a->n; ++i) good = open_source(&p, a->word[i], from, to);
    const int status = good ? show(&p, a, out) : CLI_USAGE;
    for (int i = 0; i < p.n; ++i) carom_result_close(p.s[i].r), free(p.s[i].lacks);
    figure_free(&p.fig);
    free(p.s);
    free(own);
    return status;
}

const cli_verb cli_plot = {
    .name = "plot",
    .arguments = "RESULT...",
    .about = "plot results as SVG, PNG or PDF (by the extension of -o FILE), or as text on a terminal",
    .least = 1,
    .most = 100,
    .options = options,
    .run = run,
    .text = "Without --of: positions, outputs, gaps, gap velocities, forces, impulses (vertical lines) and energies "
            "versus time.\n"
            "Several results are overlaid; a message names columns that a result lacks.",
};
