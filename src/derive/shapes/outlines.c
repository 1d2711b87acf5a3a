// outlines.c: planar outlines as they are written: points, arcs, splines, involutes, gears.
//
// An outline becomes stretches (collide/outline.h), once, in the frame of its body, and these become pieces, each of
// which is a shape.  Splines become arcs that meet with one direction (OUT-4): arcs have exact distances from arcs and
// lines, and what is round about a row of arcs is a row of arcs again.
#include "base/tolerance.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/pi.h"
#include "derive/shapes/shapes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FIT = 1e-6;  // of the size of a spline: how far arcs may lie from it
static const double SAME = 1e-9; // of the size: points so near are one
static const double SOLVED = 1e-30; // square of the residual of a spline: rounding of its slopes
static const double DRAWN = 0.1; // angle between points that are drawn

// a safeguard, chosen; halvings: to parts of 6e-8 of a piece, where a cusp ends them
enum { MOST_STRETCHES = 20000, MOST_HALVINGS = 24 };

/// An outline in the frame of its body, and its pieces there.
struct kept_outline {
    const carom_mech_shape *of;
    contour c;
    carom_outline_piece *piece;
    int npieces;
    struct kept_outline *next;
};

/// What is being read.
typedef struct chain {
    resolver *r;
    carom_stretch *s;
    int n;
    bool some; // is there a point already?
    double start[2], at[2];
    double error; // how far arcs lie from splines
} chain;

bool carom_outline_given(const carom_mech_shape *x) {
    return carom_given(&x->size) && (carom_datum_is(x->size.key, "outline") || carom_datum_is(x->size.key, "gear"));
}

// -- stretches ----------------------------------------------------------------------------------------------------

static carom_status add(chain *c, const carom_datum *n, const carom_stretch *s) {
    if (c->n == MOST_STRETCHES)
        return carom_fault(c->r, n, 0, "an outline has at most %d lines and arcs", MOST_STRETCHES);
    if (!CAROM_GROW(c->s, c->n)) return carom_fault_memory(c->r);
    c->s[c->n++] = *s;
    c->at[0] = s->to[0], c->at[1] = s->to[1];
    return CAROM_OK;
}

static carom_status point(chain *c, const carom_datum *n, double *p) {
    return carom_resolve_vector(c->r, n, "a point of an outline", 2, p);
}

static void start_at(chain *c, const double *p) {
    c->start[0] = c->at[0] = p[0], c->start[1] = c->at[1] = p[1];
    c->some = true;
}

static bool same(const double *p, const double *q) {
    return hypot(p[0] - q[0], p[1] - q[1]) <= CAROM_SAME * (hypot(p[0], p[1]) + hypot(q[0], q[1]));
}

static carom_status line_to(chain *c, const carom_datum *n, const double *p) {
    if (!c->some) return start_at(c, p), CAROM_OK;
    if (same(p, c->at))
        return carom_fault(c->r, n, 0, "this line has no length: the point before it is [%g, %g], too; remove one",
                           p[0], p[1]);
    const carom_stretch s = carom_stretch_line(c->at, p);
    return add(c, n, &s);
}

// Only these keys, up to a NULL, may stand in a map.
static carom_status only(resolver *r, const carom_datum *map, const char *what, const char *const *keys) {
    for (const carom_datum *d = carom_first(map); d != carom_end(map); ++d) {
        char all[160] = "";
        bool known = false;
        for (int i = 0; keys[i]; ++i) {
            known = known || carom_datum_is(d->key, keys[i]);
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", keys[i]);
        }
        if (!known) return carom_fault(r, d->key, 0, "%s has no key '%.60s'; its keys are %s", what, d->key->text, all);
    }
    return CAROM_OK;
}

static carom_status length(resolver *r, const carom_datum *n, const char *what, double *x) {
    CAROM_TRY(carom_check_unit(r, what, n, "m", NULL));
    return carom_resolve_number(r, n, what, x);
}

static carom_status read_arc(chain *c, const carom_datum *n) {
    static const char *const keys[] = {"arc", "radius", "through", NULL};
    const carom_datum *radius = carom_datum_get(n, "radius"), *through = carom_datum_get(n, "through");
    double p[2], q[2], r = 0;
    carom_stretch s;
    CAROM_TRY(only(c->r, n, "an arc", keys));
    if (!radius == !through)
        return carom_fault(c->r, n, 0,
                           "an arc has a `radius` or a point that it goes `through`: {arc: [x, y], radius: r}");
    if (!c->some) return carom_fault(c->r, n, 0, "an outline starts with a point [x, y]; an arc continues from there");
    CAROM_TRY(point(c, carom_datum_get(n, "arc"), p));
    if (through)
        CAROM_TRY(point(c, through, q));
    else
        CAROM_TRY(length(c->r, radius, "the radius of an arc", &r));
    if (through && !carom_stretch_through(c->at, q, p, &s))
        return carom_fault(c->r, n, 0, "the three points of this arc lie on a line, or coincide");
    if (radius && !carom_stretch_arc(c->at, p, r, &s))
        return carom_fault(c->r, n, 0,
                           "there is no arc with a radius of %g between points that are %g apart; it is at least half "
                           "of that, positive for a turn to the left, negative to the right",
                           r, hypot(p[0] - c->at[0], p[1] - c->at[1]));
    return add(c, n, &s);
}

static carom_status read_involute(chain *c, const carom_datum *n) {
    static const char *const outer[] = {"involute", NULL}, *const keys[] = {"base", "to", "about", NULL};
    const carom_datum *of = carom_datum_get(n, "involute"), *base = carom_datum_get(of, "base"),
                      *to = carom_datum_get(of, "to"), *about = carom_datum_get(of, "about");
    double b = 0, end = 0, centre[2] = {0};
    carom_stretch s;
    CAROM_TRY(only(c->r, n, "an involute", outer));
    CAROM_TRY(only(c->r, of, "an involute", keys));
    if (!base || !to)
        return carom_fault(c->r, n, 0,
                           "an involute has the radius of its base circle and the radius it goes to: {involute: {base: "
                           "r, to: r}}");
    if (!c->some)
        return carom_fault(c->r, n, 0, "an outline starts with a point [x, y]; an involute continues from there");
    CAROM_TRY(length(c->r, base, "the base of an involute", &b));
    CAROM_TRY(length(c->r, to, "the end of an involute", &end));
    if (about) CAROM_TRY(point(c, about, centre));
    if (!carom_stretch_involute(c->at, centre, b, end, &s))
        return carom_fault(c->r, n, 0,
                           "there is no involute of a circle of radius %g from a point at radius %g to radius %g; both "
                           "ends lie outside the base circle, at different radii",
                           b, hypot(c->at[0] - centre[0], c->at[1] - centre[1]), end);
    return add(c, n, &s);
}

// -- splines --------------------------------------------------------------------------------------------------------

// Points of a cubic spline over the length u of the chords, and its second derivatives there (M).
typedef struct spline {
    double (*p)[2], (*M)[2], *u;
    int n;
    bool periodic;
} spline;

// h_i/6 M_i + (h_i + h_i+1)/3 M_i+1 + h_i+1/6 M_i+2 = jump of the slopes of the chords; M = 0 at the ends, or periodic:
// by conjugate gradients, which need no more than the row, for a matrix with a dominant diagonal.
static void apply(const spline *s, const double *x, double *y) {
    const int n = s->n - 1; // intervals
    for (int i = 0; i <= n; ++i) y[i] = 0;
    for (int i = 0; i < n; ++i) {
        const double h = s->u[i + 1] - s->u[i];
        const int j = s->periodic && i + 1 == n ? 0 : i + 1;
        y[i] += h / 3 * x[i] + h / 6 * x[j];
        y[j] += h / 6 * x[i] + h / 3 * x[j];
    }
    if (!s->periodic) y[0] = x[0], y[n] = x[n];
}

static void solve(const spline *s, int k, double *room) {
    const int n = s->n, last = s->periodic ? n - 1 : n;
    double *x = room, *r = x + n, *d = r + n, *y = d + n, rr = 0, first = 0;
    for (int i = 0; i < n; ++i) x[i] = r[i] = 0;
    for (int i = 0; i + 1 < n; ++i) {
        const double slope = (s->p[i + 1][k] - s->p[i][k]) / (s->u[i + 1] - s->u[i]);
        const int j = s->periodic && i + 2 == n ? 0 : i + 1;
        r[i] += slope, r[j] -= slope;
    }
    if (!s->periodic) r[0] = r[n - 1] = 0;
    for (int i = 0; i < last; ++i) d[i] = r[i], rr += r[i] * r[i];
    if (!s->periodic) d[0] = d[n - 1] = 0;
    first = rr;
    for (int it = 0; it < 20 * n && rr > SOLVED * first && rr > 0; ++it) {
        double dy = 0, next = 0;
        apply(s, d, y);
        for (int i = 0; i < last; ++i) dy += d[i] * y[i];
        for (int i = 0; i < last; ++i) x[i] += rr / dy * d[i], r[i] -= rr / dy * y[i], next += r[i] * r[i];
        for (int i = 0; i < last; ++i) d[i] = r[i] + next / rr * d[i];
        if (!s->periodic) d[0] = d[n - 1] = 0;
        rr = next;
    }
    for (int i = 0; i < n; ++i) s->M[i][k] = x[s->periodic && i == n - 1 ? 0 : i];
}

// Place and unit direction at u of interval i.
static void spline_at(const spline *s, int i, double u, double *p, double *t) {
    const double h = s->u[i + 1] - s->u[i], a = s->u[i + 1] - u, b = u - s->u[i];
    double d[2];
    for (int k = 0; k < 2; ++k) {
        const double y0 = s->p[i][k] / h - s->M[i][k] * h / 6, y1 = s->p[i + 1][k] / h - s->M[i + 1][k] * h / 6;
        p[k] = s->M[i][k] * a * a * a / (6 * h) + s->M[i + 1][k] * b * b * b / (6 * h) + y0 * a + y1 * b;
        d[k] = -s->M[i][k] * a * a / (2 * h) + s->M[i + 1][k] * b * b / (2 * h) - y0 + y1;
    }
    const double size = hypot(d[0], d[1]);
    if (t) t[0] = d[0] / size, t[1] = d[1] / size;
}

static double distance(const carom_stretch *s, const double *p) {
    if (s->turn == 0) {
        const double l = carom_stretch_length(s);
        return fabs((s->to[0] - s->from[0]) * (p[1] - s->from[1]) - (s->to[1] - s->from[1]) * (p[0] - s->from[0])) / l;
    }
    return fabs(hypot(p[0] - s->centre[0], p[1] - s->centre[1]) - fabs(s->radius));
}

// Two arcs for the part a .. b of interval i, or halves of it.
static carom_status fit(chain *c, const carom_datum *n, const spline *s, int i, double a, double b, double near,
                        int depth) {
    enum { PLACES = 6 };
    double p[2], q[2], t[2], u[2], most = 0;
    carom_stretch two[2];
    spline_at(s, i, a, p, t);
    spline_at(s, i, b, q, u);
    carom_stretch_biarc(p, t, q, u, two);
    for (int k = 1; k < PLACES; ++k) {
        double x[2];
        spline_at(s, i, a + (b - a) * k / PLACES, x, NULL);
        most = fmax(most, fmin(distance(&two[0], x), distance(&two[1], x)));
    }
    if ((most > near || fabs(two[0].turn) > 0.5 || fabs(two[1].turn) > 0.5) && depth < MOST_HALVINGS) {
        CAROM_TRY(fit(c, n, s, i, a, (a + b) / 2, near, depth + 1));
        return fit(c, n, s, i, (a + b) / 2, b, near, depth + 1);
    }
    c->error = fmax(c->error, most);
    CAROM_TRY(add(c, n, &two[0]));
    return add(c, n, &two[1]);
}

static carom_status read_points(chain *c, const carom_datum *n, double (**p)[2], int *count) {
    if (n->kind == CAROM_LIST) {
        for (const carom_datum *d = carom_first(n); d != carom_end(n); ++d) {
            if (!CAROM_GROW(*p, *count)) return carom_fault_memory(c->r);
            CAROM_TRY(point(c, d, (*p)[(*count)++]));
        }
        return CAROM_OK;
    }
    int k = 0, line = 0;
    if (n->kind != CAROM_TEXT)
        return carom_fault(c->r, n, 0, "a spline is a list of points [x, y], or a CSV file of two columns");
    CAROM_TRY(carom_shape_file(c->r, n, &k));
    const carom_matrix_text *f = &c->r->mech->matrices[k];
    for (const char *at = f->text, *end = at + f->length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *from = at;
        if (!stop) stop = end;
        ++line;
        at = stop + (stop < end);
        double x[2];
        int m = 0;
        char *rest = (char *)from;
        while (from < stop && strchr(" \t\r,;", *from)) ++from;
        if (from == stop || *from == '#' || (*count == 0 && !strchr("+-.0123456789", *from))) continue;
        for (; m < 2 && from < stop; ++m, from = rest) {
            while (from < stop && strchr(" \t\r,;", *from)) ++from;
            x[m] = carom_number(from, &rest);
            if (rest == from || rest > stop || !isfinite(x[m])) break;
        }
        while (from < stop && strchr(" \t\r,;", *from)) ++from;
        if (m != 2 || from != stop)
            return carom_fault(c->r, n, 0, "%.200s:%d: expected two numbers, x and y", f->file, line);
        if (!CAROM_GROW(*p, *count)) return carom_fault_memory(c->r);
        memcpy((*p)[(*count)++], x, sizeof x);
    }
    return CAROM_OK;
}

static carom_status fit_all(chain *c, const carom_datum *n, spline *s) {
    const size_t m = (size_t)s->n;
    double low[2] = {s->p[0][0], s->p[0][1]}, high[2] = {low[0], low[1]};
    s->M = calloc(m, sizeof *s->M), s->u = calloc(m, sizeof *s->u);
    double *room = calloc(4 * m, sizeof *room);
    carom_status status = s->M && s->u && room ? CAROM_OK : carom_fault_memory(c->r);
    for (int i = 1; i < s->n && status == CAROM_OK; ++i) {
        s->u[i] = s->u[i - 1] + hypot(s->p[i][0] - s->p[i - 1][0], s->p[i][1] - s->p[i - 1][1]);
        for (int k = 0; k < 2; ++k) low[k] = fmin(low[k], s->p[i][k]), high[k] = fmax(high[k], s->p[i][k]);
        if (same(s->p[i], s->p[i - 1]))
            status = carom_fault(c->r, n, 0, "two points of this spline in a row are [%g, %g]; remove one", s->p[i][0],
                                 s->p[i][1]);
    }
    for (int k = 0; k < 2 && status == CAROM_OK; ++k) solve(s, k, room);
    for (int i = 0; i + 1 < s->n && status == CAROM_OK; ++i)
        status = fit(c, n, s, i, s->u[i], s->u[i + 1], FIT * hypot(high[0] - low[0], high[1] - low[1]), 0);
    free(s->M), free(s->u), free(room);
    return status;
}

static carom_status read_spline(chain *c, const carom_datum *n, bool alone) {
    static const char *const keys[] = {"spline", NULL};
    const carom_datum *of = carom_datum_get(n, "spline");
    spline s = {.periodic = alone && !c->some};
    CAROM_TRY(only(c->r, n, "a spline", keys));
    if (c->some && !CAROM_GROW(s.p, s.n)) return carom_fault_memory(c->r);
    if (c->some) memcpy(s.p[s.n++], c->at, sizeof *s.p);
    carom_status status = read_points(c, of, &s.p, &s.n);
    if (status == CAROM_OK && s.n < (s.periodic ? 3 : 2))
        status = carom_fault(c->r, n, 0, "a spline goes through two points and more, a closed one through three");
    if (status == CAROM_OK && s.periodic && !same(s.p[0], s.p[s.n - 1])) {
        if (CAROM_GROW(s.p, s.n))
            memcpy(s.p[s.n], s.p[0], sizeof *s.p), ++s.n;
        else
            status = carom_fault_memory(c->r);
    }
    if (status == CAROM_OK && !c->some) start_at(c, s.p[0]);
    if (status == CAROM_OK) status = fit_all(c, n, &s);
    free(s.p);
    return status;
}

// -- gears ------------------------------------------------------------------------------------------------------------

typedef struct toothing {
    double teeth, module, angle, addendum, dedendum, shift, backlash;
} toothing;

static carom_status read_toothing(resolver *r, const carom_datum *n, toothing *x) {
    static const char *const keys[] = {"teeth",    "module", "pressure angle", "addendum",
                                       "dedendum", "shift",  "backlash",       NULL};
    static const char *const unit[] = {"1", "m", "rad", "1", "1", "1", "m"};
    double *const to[] = {&x->teeth, &x->module, &x->angle, &x->addendum, &x->dedendum, &x->shift, &x->backlash};
    *x = (toothing){.angle = PI / 9, .addendum = 1, .dedendum = 1.25}; // ISO 53: 20 degrees, in modules
    if (n->kind != CAROM_MAP) return carom_fault(r, n, 0, "a gear is {teeth: 20, module: 2 mm}");
    CAROM_TRY(only(r, n, "a gear", keys));
    for (int i = 0; keys[i]; ++i) {
        const carom_datum *d = carom_datum_get(n, keys[i]);
        char what[60];
        snprintf(what, sizeof what, "the %s of a gear", keys[i]);
        if (!d && i < 2) return carom_fault(r, n, 0, "a gear needs `%s`: {teeth: 20, module: 2 mm}", keys[i]);
        if (d) CAROM_TRY(carom_check_unit(r, what, d, unit[i], NULL));
        if (d) CAROM_TRY(carom_resolve_number(r, d, what, to[i]));
    }
    if (!(x->teeth >= 4 && x->teeth <= 1000 && x->teeth == floor(x->teeth)))
        return carom_fault(r, n, 0, "a gear has 4 to 1000 teeth, got %g", x->teeth);
    if (!(x->module > 0)) return carom_fault(r, n, 0, "the module of a gear must be positive, got %g", x->module);
    if (!(x->angle > 0 && x->angle < PI / 4))
        return carom_fault(r, n, 0, "the pressure angle of a gear lies between 0 and 45 degrees, got %g rad", x->angle);
    return CAROM_OK;
}

static double involute(double angle) { return tan(angle) - angle; }

static void polar(double radius, double angle, double *p) { p[0] = radius * cos(angle), p[1] = radius * sin(angle); }

// (OUT-8)  Pitch radius r = m z/2, base r cos alpha, tip r + (a + x) m, root r - (d - x) m; half the angle of a tooth
// at
//          radius rho:  (pi/2 + 2 x tan alpha)/z - j/(2 r) + inv alpha - inv acos(r_b/rho),  inv a = tan a - a.
static carom_status read_gear(chain *c, const carom_datum *n) {
    static const double origin[2] = {0};
    toothing x;
    CAROM_TRY(read_toothing(c->r, n, &x));
    const double r = x.module * x.teeth / 2, base = r * cos(x.angle), tip = r + (x.addendum + x.shift) * x.module,
                 root = r - (x.dedendum - x.shift) * x.module;
    const double half = (PI / 2 + 2 * x.shift * tan(x.angle)) / x.teeth - x.backlash / (2 * r) + involute(x.angle),
                 low = fmax(base, root), at_low = half - involute(acos(fmin(base / low, 1))),
                 at_tip = tip > base ? half - involute(acos(base / tip)) : 0;
    if (!(root > 0) || !(tip > low) || !(half > 0) || !(PI / x.teeth > at_low))
        return carom_fault(c->r, n, 0,
                           "such teeth do not exist: root %g, base %g, tip %g; change addendum, dedendum, "
                           "shift or backlash",
                           root, base, tip);
    if (!(at_tip > 0))
        return carom_fault(c->r, n, 0,
                           "teeth come to a point below the tip circle of radius %g; make the addendum or "
                           "the shift smaller",
                           tip);
    double p[2];
    for (int k = 0; k < (int)x.teeth; ++k) {
        const double middle = 2 * PI * k / x.teeth;
        carom_stretch s;
        polar(fmin(root, low), middle - at_low, p);
        if (k == 0) start_at(c, p);
        if (root < base) {
            polar(base, middle - at_low, p);
            s = carom_stretch_line(c->at, p);
            CAROM_TRY(add(c, n, &s));
        }
        carom_stretch_involute(c->at, origin, base, tip, &s);
        CAROM_TRY(add(c, n, &s));
        s = carom_stretch_round(c->at, origin, 2 * at_tip);
        CAROM_TRY(add(c, n, &s));
        carom_stretch_involute(c->at, origin, base, low, &s);
        CAROM_TRY(add(c, n, &s));
        if (root < base) {
            polar(root, middle + at_low, p);
            s = carom_stretch_line(c->at, p);
            CAROM_TRY(add(c, n, &s));
        }
        s = carom_stretch_round(c->at, origin, 2 * (PI / x.teeth - at_low));
        CAROM_TRY(add(c, n, &s));
    }
    c->s[c->n - 1].to[0] = c->at[0] = c->start[0], c->s[c->n - 1].to[1] = c->at[1] = c->start[1];
    return CAROM_OK;
}

// -- the whole --------------------------------------------------------------------------------------------------------

static carom_status read_items(chain *c, const carom_datum *n, bool closed) {
    if (n->kind != CAROM_LIST || n->count == 0)
        return carom_fault(c->r, n, 0, "an outline is a list of points [x, y], arcs, splines and involutes");
    for (const carom_datum *d = carom_first(n); d != carom_end(n); ++d) {
        double p[2];
        if (carom_datum_get(d, "arc"))
            CAROM_TRY(read_arc(c, d));
        else if (carom_datum_get(d, "spline"))
            CAROM_TRY(read_spline(c, d, closed && n->count == 1));
        else if (carom_datum_get(d, "involute"))
            CAROM_TRY(read_involute(c, d));
        else if (d->kind == CAROM_LIST) {
            CAROM_TRY(point(c, d, p));
            CAROM_TRY(line_to(c, d, p));
        } else
            return carom_fault(
                c->r, d, 0,
                "an outline has points [x, y], {arc: [x, y], radius: r}, {arc: [x, y], through: [x, y]}, "
                "{spline: [[x, y], ...]} and {involute: {base: r, to: r}}");
    }
    return CAROM_OK;
}

static carom_status yes_or_no(resolver *r, const carom_datum *n, bool *yes) {
    *yes = carom_given(n) && (carom_datum_is(n, "yes") || carom_datum_is(n, "true"));
    if (!carom_given(n) || *yes || carom_datum_is(n, "no") || carom_datum_is(n, "false")) return CAROM_OK;
    return carom_fault(r, n, 0, "`%s` is yes or no", n->key->text);
}

// The last point is the first one, or a line leads there.
static carom_status close_chain(chain *c, const carom_datum *n, const double *to) {
    double size = 0;
    for (int i = 0; i < c->n; ++i) size += carom_stretch_length(&c->s[i]);
    if (hypot(c->at[0] - to[0], c->at[1] - to[1]) > SAME * size) return line_to(c, n, to);
    if (c->n) memcpy(c->s[c->n - 1].to, to, sizeof c->at), memcpy(c->at, to, sizeof c->at);
    return CAROM_OK;
}

static carom_status repeat(chain *c, const carom_datum *n) {
    static const char *const keys[] = {"about", "times", NULL};
    const carom_datum *times = carom_datum_get(n, "times"), *about = carom_datum_get(n, "about");
    double count = 0, centre[2] = {0}, next[2];
    if (n->kind != CAROM_MAP || !times) return carom_fault(c->r, n, 0, "repeat is {about: [x, y], times: n}");
    CAROM_TRY(only(c->r, n, "repeat", keys));
    CAROM_TRY(carom_resolve_number(c->r, times, "times", &count));
    if (about) CAROM_TRY(point(c, about, centre));
    if (!(count >= 2 && count <= 1000 && count == floor(count)))
        return carom_fault(c->r, times, 0, "times must be an integer from 2 to 1000, got %g", count);
    const double angle = 2 * PI / count, x = c->start[0] - centre[0], y = c->start[1] - centre[1];
    next[0] = centre[0] + cos(angle) * x - sin(angle) * y, next[1] = centre[1] + sin(angle) * x + cos(angle) * y;
    CAROM_TRY(close_chain(c, n, next));
    const int first = c->n;
    for (int k = 1; k < (int)count; ++k)
        for (int i = 0; i < first; ++i) {
            carom_stretch s = c->s[i];
            carom_stretch_turn(&s, centre, k * angle);
            CAROM_TRY(add(c, n, &s));
        }
    return CAROM_OK;
}

static carom_status offset(chain *c, const carom_datum *n, bool closed) {
    double d = 0;
    CAROM_TRY(carom_resolve_number(c->r, n, "round", &d));
    if (!(d >= 0)) return carom_fault(c->r, n, 0, "round must not be negative, got %g", d);
    if (d == 0) return CAROM_OK;
    carom_stretch *more = realloc(c->s, 2 * (size_t)c->n * sizeof *more);
    if (!more) return carom_fault_memory(c->r);
    c->s = more;
    const int k = carom_outline_offset(c->s, c->n, closed, d);
    if (k < 0)
        return carom_fault(c->r, n, 0,
                           "there is no room for round %g in the concave part near [%g, %g]; make it smaller", d,
                           c->s[-1 - k].from[0], c->s[-1 - k].from[1]);
    c->n = k;
    return CAROM_OK;
}

static carom_status sound(chain *c, const carom_mech_shape *x, bool closed, bool hollow) {
    double m[6], place[2];
    int which[2];
    if (carom_outline_crosses(c->s, c->n, closed, place, which))
        return carom_fault(c->r, &x->size, 0, "this outline crosses or touches itself near [%g, %g]", place[0],
                           place[1]);
    if (!closed) return CAROM_OK;
    carom_outline_moments(c->s, c->n, m);
    if (m[0] < 0 && !hollow)
        return carom_fault(c->r, &x->size, 0,
                           "this outline runs clockwise, so that the solid side, on its left, is outside; list its "
                           "points the other way round, or add `hollow: yes`");
    if (m[0] > 0 && hollow)
        return carom_fault(c->r, &x->size, 0,
                           "a hollow outline runs clockwise, with the solid outside on its left; list its points the "
                           "other way round");
    return CAROM_OK;
}

static carom_status read_chain(chain *c, const carom_mech_shape *x, contour *out) {
    bool open, hollow;
    const carom_datum *n = &x->size;
    CAROM_TRY(yes_or_no(c->r, &x->open, &open));
    CAROM_TRY(yes_or_no(c->r, &x->hollow, &hollow));
    if (carom_datum_is(n->key, "gear")) {
        const carom_datum *const none[] = {&x->open, &x->hollow, &x->repeat};
        for (int i = 0; i < 3; ++i)
            if (carom_given(none[i]))
                return carom_fault(c->r, none[i]->key, 0, "a gear has no `%s`", none[i]->key->text);
        CAROM_TRY(read_gear(c, n));
    } else
        CAROM_TRY(read_items(c, n, !open && !carom_given(&x->repeat)));
    if (open && (hollow || carom_given(&x->repeat)))
        return carom_fault(c->r, x->open.key, 0, "an open outline is neither hollow nor repeated");
    if (carom_given(&x->repeat)) CAROM_TRY(repeat(c, &x->repeat));
    if (!open && c->some) CAROM_TRY(close_chain(c, n, c->start));
    if (c->n < (open ? 1 : 2)) return carom_fault(c->r, n, 0, "an outline has two points and more");
    const bool round = carom_given(&x->round);
    if (round) CAROM_TRY(offset(c, &x->round, !open));
    CAROM_TRY(sound(c, x, !open, hollow));
    out->closed = !open, out->hollow = hollow;
    return CAROM_OK;
}

static carom_status keep(resolver *r, const carom_mech_shape *x, chain *c, struct kept_outline *k) {
    const carom_datum *angle = carom_given(&x->angle), *at = carom_given(&x->at);
    double phi = 0, by[2] = {0};
    CAROM_TRY(read_chain(c, x, &k->c));
    if (angle) CAROM_TRY(carom_resolve_number(r, angle, "the angle of a shape", &phi));
    if (at) CAROM_TRY(carom_resolve_vector(r, at, "the place of a shape", 2, by));
    if (phi != 0 || by[0] != 0 || by[1] != 0) carom_outline_place(c->s, c->n, phi, by);
    k->of = x;
    k->c.n = c->n;
    k->c.error = c->error;
    k->c.npoints = carom_outline_points(c->s, c->n, k->c.closed, DRAWN, NULL);
    k->npieces = carom_outline_pieces(c->s, c->n, k->c.closed, NULL);
    k->c.stretch = carom_pool_take(&r->m->memory, (size_t)c->n * sizeof *k->c.stretch);
    k->c.point = carom_pool_take(&r->m->memory, (size_t)k->c.npoints * sizeof *k->c.point);
    k->piece = carom_pool_take(&r->m->memory, (size_t)k->npieces * sizeof *k->piece);
    if (!k->c.stretch || !k->c.point || !k->piece) return carom_fault_memory(r);
    memcpy(k->c.stretch, c->s, (size_t)c->n * sizeof *c->s);
    carom_outline_points(c->s, c->n, k->c.closed, DRAWN, k->c.point);
    carom_outline_pieces(c->s, c->n, k->c.closed, k->piece);
    for (int i = 0; i < k->npieces && k->c.hollow; ++i) k->piece[i].x[PIECE_DEEP] = k->piece[i].x[PIECE_SIZE];
    return CAROM_OK;
}

static carom_status find(resolver *r, const carom_mech_shape *x, struct kept_outline **out) {
    for (*out = r->m->outlines; *out && (*out)->of != x;) *out = (*out)->next;
    if (*out) return CAROM_OK;
    struct kept_outline *k = carom_pool_take(&r->m->memory, sizeof *k);
    if (!k) return carom_fault_memory(r);
    chain c = {.r = r};
    const carom_status status = keep(r, x, &c, k);
    free(c.s);
    CAROM_TRY(status);
    k->next = r->m->outlines;
    r->m->outlines = *out = k;
    return CAROM_OK;
}

void carom_outlines_describe(const carom_model *m, void (*say)(void *user, const char *text), void *user) {
    for (const struct kept_outline *k = m->outlines; k; k = k->next) {
        char text[200];
        if (!(k->c.error > 0)) continue;
        snprintf(text, sizeof text, "the outline in line %d: its splines are arcs, no farther from them than %.3g m",
                 k->of->size.line, k->c.error);
        say(user, text);
    }
}

carom_status carom_outline_parts(resolver *r, const carom_mech_shape *x, int *n) {
    struct kept_outline *k = NULL;
    CAROM_TRY(find(r, x, &k));
    *n = k->npieces;
    return CAROM_OK;
}

carom_status carom_outline_contour(resolver *r, const carom_mech_shape *x, const contour **c) {
    struct kept_outline *k = NULL;
    CAROM_TRY(find(r, x, &k));
    *c = &k->c;
    return CAROM_OK;
}

carom_status carom_read_outline(resolver *r, const carom_mech_shape *x, int part, shape *s) {
    static const shape_kind kinds[] = {
        [CAROM_OUTLINE_LINE] = SHAPE_LINE, [CAROM_OUTLINE_ARC] = SHAPE_ARC, [CAROM_OUTLINE_HOLLOW] = SHAPE_HOLLOW};
    struct kept_outline *k = NULL;
    CAROM_TRY(find(r, x, &k));
    carom_outline_piece *p = carom_pool_take(&r->m->memory, sizeof *p);
    if (!p) return carom_fault_memory(r);
    *p = k->piece[part];
    s->kind = kinds[p->kind];
    s->piece = p;
    s->contour = part == 0 ? &k->c : NULL;
    s->X = carom_shape_upright;
    s->at[0] = p->middle[0], s->at[1] = p->middle[1], s->at[2] = 0;
    s->bound_radius = p->reach;
    return CAROM_OK;
}
