// outline.c: stretches of planar contours, and the pieces that touch.
#include "collide/outline.h"
#include "base/pi.h"
#include "base/tolerance.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

static const double STRAIGHT = 1e-9; // rad: an arc of less is a line, a whole number of pieces is not exceeded by it
static const double MEETS = 1e-14;   // of the size: points nearer than its rounding are one
static const double TANGENT = 1e-8;  // stretches that meet at less are tangent

static double wrap(double a) { return a - 2 * PI * floor(a / (2 * PI) + 0.5); }

// -- stretches --------------------------------------------------------------------------------------------------------

carom_stretch carom_stretch_line(const double *from, const double *to) {
    return (carom_stretch){
        .from = {from[0], from[1]}, .to = {to[0], to[1]}, .normal = atan2(from[0] - to[0], to[1] - from[1])};
}

// Of a stretch that turns, at the angle theta from its start on.
static void point_at(const carom_stretch *s, double theta, double *p) {
    const double rho = s->radius + s->wind * theta, c = cos(s->normal + theta), d = sin(s->normal + theta);
    p[0] = s->centre[0] + rho * c - s->wind * d;
    p[1] = s->centre[1] + rho * d + s->wind * c;
}

carom_stretch carom_stretch_round(const double *from, const double *about, double turn) {
    const double r = hypot(from[0] - about[0], from[1] - about[1]), sign = turn > 0 ? 1 : -1;
    carom_stretch s = {.from = {from[0], from[1]},
                       .centre = {about[0], about[1]},
                       .radius = sign * r,
                       .normal = atan2(sign * (from[1] - about[1]), sign * (from[0] - about[0])),
                       .turn = turn};
    point_at(&s, turn, s.to);
    return s;
}

bool carom_stretch_arc(const double *from, const double *to, double radius, carom_stretch *s) {
    const double x = to[0] - from[0], y = to[1] - from[1], chord = hypot(x, y), r = fabs(radius);
    if (!(chord > 0) || !(chord <= 2 * r * (1 + CAROM_SAME))) return false;
    const double half = fmin(chord / (2 * r), 1), side = radius > 0 ? 1 : -1,
                 height = r * sqrt((1 - half) * (1 + half));
    const double about[2] = {(from[0] + to[0]) / 2 - side * height * y / chord,
                             (from[1] + to[1]) / 2 + side * height * x / chord};
    *s = carom_stretch_round(from, about, side * 2 * asin(half));
    s->to[0] = to[0], s->to[1] = to[1];
    return true;
}

bool carom_stretch_through(const double *from, const double *through, const double *to, carom_stretch *s) {
    const double ax = through[0] - from[0], ay = through[1] - from[1], bx = to[0] - from[0], by = to[1] - from[1],
                 cross = ax * by - ay * bx, a = ax * ax + ay * ay, b = bx * bx + by * by;
    if (!(fabs(cross) > CAROM_SAME * sqrt(a * b)) || !(b > 0)) return false;
    const double about[2] = {from[0] + (by * a - ay * b) / (2 * cross), from[1] + (ax * b - bx * a) / (2 * cross)};
    double turn = wrap(atan2(to[1] - about[1], to[0] - about[0]) - atan2(from[1] - about[1], from[0] - about[0]));
    if (cross > 0 && turn < 0) turn += 2 * PI; // the third point lies right of the way from the first to the last
    if (cross < 0 && turn > 0) turn -= 2 * PI;
    *s = carom_stretch_round(from, about, turn);
    s->to[0] = to[0], s->to[1] = to[1];
    return true;
}

// Up a flank the normal is -u'(phi), phi the angle that is unwound, u = (cos, sin) where the thread leaves the circle;
// down one it is u'(beta), and what is unwound decreases.
bool carom_stretch_involute(const double *from, const double *about, double base, double to, carom_stretch *s) {
    const double x = from[0] - about[0], y = from[1] - about[1], r = hypot(x, y);
    if (!(base > 0) || !(r >= base * (1 - CAROM_SAME)) || !(to >= base) || r == to) return false;
    const double l0 = sqrt(fmax((r / base - 1) * (r / base + 1), 0)), l1 = sqrt((to / base - 1) * (to / base + 1));
    const double polar = atan2(y, x), up = to > r ? 1 : -1;
    const double leaves = polar + up * atan(l0); // the angle of u
    *s = (carom_stretch){.from = {from[0], from[1]},
                         .centre = {about[0], about[1]},
                         .radius = base * l0,
                         .wind = up * base,
                         .normal = leaves - up * PI / 2,
                         .turn = up * (l1 - l0)};
    point_at(s, s->turn, s->to);
    return true;
}

void carom_stretch_at(const carom_stretch *s, double u, double *p, double *n) {
    const double theta = u * s->turn;
    if (s->turn == 0)
        for (int k = 0; k < 2; ++k) p[k] = s->from[k] + u * (s->to[k] - s->from[k]);
    else
        point_at(s, theta, p);
    if (n) n[0] = cos(s->normal + theta), n[1] = sin(s->normal + theta);
}

double carom_stretch_length(const carom_stretch *s) {
    if (s->turn == 0) return hypot(s->to[0] - s->from[0], s->to[1] - s->from[1]);
    return fabs((s->radius + s->wind * s->turn / 2) * s->turn);
}

static void turn_point(double *p, const double *about, double c, double d) {
    const double x = p[0] - about[0], y = p[1] - about[1];
    p[0] = about[0] + c * x - d * y;
    p[1] = about[1] + d * x + c * y;
}

void carom_stretch_turn(carom_stretch *s, const double *about, double angle) {
    const double c = cos(angle), d = sin(angle);
    turn_point(s->from, about, c, d);
    turn_point(s->to, about, c, d);
    turn_point(s->centre, about, c, d);
    s->normal += angle;
}

void carom_outline_place(carom_stretch *s, int n, double angle, const double *by) {
    static const double origin[2] = {0};
    for (int i = 0; i < n; ++i) {
        if (angle != 0) carom_stretch_turn(&s[i], origin, angle);
        for (int k = 0; k < 2; ++k) s[i].from[k] += by[k], s[i].to[k] += by[k], s[i].centre[k] += by[k];
    }
}

// By how much the direction turns from the end of a to the start of b, left positive.
static double bend_between(const carom_stretch *a, const carom_stretch *b) {
    static const double BACK = 1e-9; // rad beside a whole turn back
    const double bend = wrap(b->normal - a->normal - a->turn);
    return bend < BACK - PI ? bend + 2 * PI : bend; // back the way it came: round the end of a line
}

// (OUT-4)  Two arcs from p to q with directions t and u at the ends, v = q - p; both tangents have one length d,
//          2 (1 - t.u) d^2 + 2 d v.(t + u) - v.v = 0,  and the arcs meet at ((p + d t) + (q - d u))/2.
int carom_stretch_biarc(const double *p, const double *t, const double *q, const double *u, carom_stretch *two) {
    const double v[2] = {q[0] - p[0], q[1] - p[1]}, vv = v[0] * v[0] + v[1] * v[1],
                 a = 2 * (1 - t[0] * u[0] - t[1] * u[1]), b = v[0] * (t[0] + u[0]) + v[1] * (t[1] + u[1]);
    const double d = vv / (b + sqrt(b * b + a * vv));
    double j[2];
    for (int k = 0; k < 2; ++k) j[k] = (p[k] + d * t[k] + q[k] - d * u[k]) / 2;
    const double *const end[3] = {p, j, q}, *const along[2] = {t, u};
    for (int i = 0; i < 2; ++i) {
        const double x = end[i + 1][0] - end[i][0], y = end[i + 1][1] - end[i][1], sign = i ? -1 : 1,
                     half = sign * atan2(along[i][0] * y - along[i][1] * x, along[i][0] * x + along[i][1] * y);
        const double chord = hypot(x, y);
        if (fabs(half) < STRAIGHT) {
            two[i] = carom_stretch_line(end[i], end[i + 1]);
            continue;
        }
        const double r = chord / (2 * sin(half)); // signed
        const double *n = along[i], *at = i ? q : p;
        const double about[2] = {at[0] - r * n[1], at[1] + r * n[0]}; // on the left
        two[i] = (carom_stretch){.from = {end[i][0], end[i][1]},
                                 .to = {end[i + 1][0], end[i + 1][1]},
                                 .centre = {about[0], about[1]},
                                 .radius = r,
                                 .normal = atan2(-n[0], n[1]) - (i ? 2 * half : 0),
                                 .turn = 2 * half};
    }
    return 2;
}

// -- offset -----------------------------------------------------------------------------------------------------------

// Where two stretches cross, near the end of the first and the start of the second: by Newton's method in the angles or
// lengths along them, which may leave [0, 1].
static bool meet(const carom_stretch *a, const carom_stretch *b, double *u, double *v) {
    double scale = carom_stretch_length(a) + carom_stretch_length(b);
    *u = 1, *v = 0;
    for (int i = 0; i < 50; ++i) {
        double p[2], q[2], n[2], m[2];
        carom_stretch_at(a, *u, p, n);
        carom_stretch_at(b, *v, q, m);
        const double sa = a->turn == 0 ? carom_stretch_length(a) : (a->radius + a->wind * *u * a->turn) * a->turn,
                     sb = b->turn == 0 ? carom_stretch_length(b) : (b->radius + b->wind * *v * b->turn) * b->turn;
        const double A[4] = {-n[1] * sa, m[1] * sb, n[0] * sa, -m[0] * sb}, d[2] = {p[0] - q[0], p[1] - q[1]};
        const double det = A[0] * A[3] - A[1] * A[2];
        if (hypot(d[0], d[1]) < MEETS * scale) return *u > 0 && *v < 1;
        if (!(fabs(det) > 0)) return false;
        *u -= (A[3] * d[0] - A[1] * d[1]) / det;
        *v -= (A[0] * d[1] - A[2] * d[0]) / det;
        if (!(fabs(*u) < 10) || !(fabs(*v) < 10)) return false;
    }
    return *u > 0 && *v < 1;
}

static carom_stretch part_of(const carom_stretch *s, double from, double to) {
    carom_stretch x = *s;
    carom_stretch_at(s, from, x.from, NULL);
    carom_stretch_at(s, to, x.to, NULL);
    x.radius += x.wind * from * x.turn;
    x.normal += from * x.turn;
    x.turn *= to - from;
    return x;
}

int carom_outline_offset(carom_stretch *s, int n, bool closed, double d) {
    int m = n;
    for (int i = 0; i < n; ++i) {
        double p[2], a[2], b[2];
        carom_stretch_at(&s[i], 0, p, a);
        carom_stretch_at(&s[i], 1, p, b);
        if (s[i].turn < 0 && (!(s[i].radius + d < 0) || !(s[i].radius + s[i].wind * s[i].turn + d < 0))) return -1 - i;
        if (s[i].turn != 0) s[i].radius += d;
        for (int k = 0; k < 2; ++k) s[i].from[k] += d * a[k], s[i].to[k] += d * b[k];
    }
    memmove(s + n, s, (size_t)n * sizeof *s);
    const carom_stretch *old = s + n, first = s[0];
    double cut = 0; // off the start of the next one
    m = 0;
    for (int i = 0; i < n; ++i) { // m <= 2 i: nothing that is still to be read is overwritten
        const bool last = i + 1 == n;
        carom_stretch now = cut > 0 ? part_of(&old[i], cut, 1) : old[i];
        cut = 0;
        const carom_stretch next = last ? (i > 0 ? s[0] : now) : old[i + 1];
        const double bend = last && !closed ? 0 : bend_between(&old[i], last ? &first : &old[i + 1]);
        if (bend < -TANGENT) {
            double u, v;
            if (!meet(&now, &next, &u, &v)) return -1 - i;
            now = part_of(&now, 0, u);
            if (last)
                s[0] = part_of(&s[0], v, 1);
            else
                cut = v;
        }
        s[m++] = now;
        if (bend > TANGENT) {
            double knot[2];
            for (int k = 0; k < 2; ++k) knot[k] = now.to[k];
            const double a = now.normal + now.turn;
            carom_stretch arc = {
                .centre = {knot[0] - d * cos(a), knot[1] - d * sin(a)}, .radius = d, .normal = a, .turn = bend};
            memcpy(arc.from, knot, sizeof knot);
            point_at(&arc, bend, arc.to);
            s[m++] = arc;
        }
    }
    return m;
}

// -- points -----------------------------------------------------------------------------------------------------------

int carom_outline_points(const carom_stretch *s, int n, bool closed, double step, double (*p)[2]) {
    int count = 0;
    for (int i = 0; i < n; ++i) {
        const int parts = (int)ceil(fabs(s[i].turn) / step - STRAIGHT), all = parts > 1 ? parts : 1;
        for (int k = 0; k < all; ++k, ++count)
            if (p) carom_stretch_at(&s[i], (double)k / all, p[count], NULL);
    }
    if (!closed && p) memcpy(p[count], s[n - 1].to, sizeof *p);
    return count + !closed;
}

static double side(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Do the chords a-b and c-d cross, or touch?
static bool chords(const double *a, const double *b, const double *c, const double *d) {
    if (fmax(a[0], b[0]) < fmin(c[0], d[0]) || fmax(c[0], d[0]) < fmin(a[0], b[0]) ||
        fmax(a[1], b[1]) < fmin(c[1], d[1]) || fmax(c[1], d[1]) < fmin(a[1], b[1]))
        return false;
    return side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0;
}

// Chord k of m along stretch i.
typedef struct chord {
    double a[2], b[2];
} chord;
enum { CHORDS = 8 }; // of an arc: chosen, of half a turn they lie within 2 % of the radius

static int chords_of(const carom_stretch *s, chord *c) {
    const int m = s->turn == 0 ? 1 : CHORDS;
    for (int k = 0; k < m; ++k) {
        carom_stretch_at(s, (double)k / m, c[k].a, NULL);
        carom_stretch_at(s, (double)(k + 1) / m, c[k].b, NULL);
    }
    return m;
}

bool carom_outline_crosses(const carom_stretch *s, int n, bool closed, double *place, int *which) {
    for (int i = 0; i < n; ++i) {
        chord x[CHORDS], y[CHORDS];
        const int nx = chords_of(&s[i], x);
        for (int j = i + 1; j < n; ++j) {
            const double reach = carom_stretch_length(&s[i]) + carom_stretch_length(&s[j]);
            if (hypot(s[i].from[0] - s[j].from[0], s[i].from[1] - s[j].from[1]) > reach) continue;
            const int ny = chords_of(&s[j], y);
            const bool next = j == i + 1, before = closed && i == 0 && j == n - 1;
            for (int k = 0; k < nx; ++k)
                for (int l = 0; l < ny; ++l) {
                    if ((next && k == nx - 1 && l == 0) || (before && k == 0 && l == ny - 1)) continue;
                    if (!chords(x[k].a, x[k].b, y[l].a, y[l].b)) continue;
                    for (int m = 0; m < 2; ++m) place[m] = (y[l].a[m] + y[l].b[m]) / 2;
                    which[0] = i, which[1] = j;
                    return true;
                }
        }
    }
    return false;
}

// -- moments ----------------------------------------------------------------------------------------------------------

// (OUT-3)  A = oint (x dy - y dx)/2,  int x = oint x^2/2 dy,  int y = -oint y^2/2 dx,  int x^2 = oint x^3/3 dy,
//          int y^2 = -oint y^3/3 dx,  int x y = oint x^2 y/2 dy;  dp = rho t dpsi.  Gauss' rule with eight points is
//          exact for lines, and for arcs of an eighth of a turn exact to rounding.
void carom_outline_moments(const carom_stretch *s, int n, double *m) {
    static const double at[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363},
                        weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
    memset(m, 0, 6 * sizeof *m);
    for (int i = 0; i < n; ++i) {
        const int parts = 1 + (int)(fabs(s[i].turn) / (PI / 4));
        for (int k = 0; k < 8 * parts; ++k) {
            const double node = k % 8 < 4 ? -at[k % 4] : at[k % 4], u = (k / 8 + (1 + node) / 2) / parts;
            double p[2], nn[2];
            carom_stretch_at(&s[i], u, p, nn);
            const double rate =
                s[i].turn == 0 ? carom_stretch_length(&s[i]) : (s[i].radius + s[i].wind * u * s[i].turn) * s[i].turn;
            const double w = weight[k % 4] / 2 / parts * rate, x = p[0], y = p[1], dx = -w * nn[1], dy = w * nn[0];
            m[0] += (x * dy - y * dx) / 2;
            m[1] += x * x / 2 * dy;
            m[2] -= y * y / 2 * dx;
            m[3] += x * x * x / 3 * dy;
            m[4] -= y * y * y / 3 * dx;
            m[5] += x * x * y / 2 * dy;
        }
    }
}

// -- distance ---------------------------------------------------------------------------------------------------------

double carom_outline_size(const carom_stretch *s, int n) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < n; ++i)
        for (int k = 0; k <= 4; ++k) {
            double p[2];
            carom_stretch_at(&s[i], k / 4.0, p, NULL);
            for (int j = 0; j < 2; ++j) low[j] = fmin(low[j], p[j]), high[j] = fmax(high[j], p[j]);
        }
    return hypot(high[0] - low[0], high[1] - low[1]) / 2;
}

static void take_nearer(double *nearest, double distance) {
    if (fabs(distance) < fabs(*nearest)) *nearest = distance;
}

// (OUT-10)  (p - x).t = 0 at the nearest place x of a stretch.  With p - c = R (cos phi, sin phi) that is
//           R sin(phi - psi) = b,  psi = phi - asin(b/R)  or  phi - pi + asin(b/R);  the distance is n.(p - x).
static void nearest_on(const carom_stretch *s, const double *p, double *nearest) {
    double x[2], n[2];
    if (s->turn == 0) {
        const double l = carom_stretch_length(s);
        const double e[2] = {(s->to[0] - s->from[0]) / l, (s->to[1] - s->from[1]) / l},
                     d[2] = {p[0] - s->from[0], p[1] - s->from[1]}, along = e[0] * d[0] + e[1] * d[1];
        if (along >= 0 && along <= l) take_nearer(nearest, e[1] * d[0] - e[0] * d[1]);
        return;
    }
    const double d[2] = {p[0] - s->centre[0], p[1] - s->centre[1]}, sine = s->wind / hypot(d[0], d[1]);
    if (!(fabs(sine) <= 1)) return; // p is the centre, or inside the base circle: an end is nearest
    const double phi = atan2(d[1], d[0]), psi[2] = {phi - asin(sine), phi - PI + asin(sine)};
    for (int k = 0; k < 2; ++k) {
        double theta = psi[k] - s->normal;
        theta -= 2 * PI * floor(theta / (2 * PI));
        if (s->turn < 0) theta -= 2 * PI;
        if (fabs(theta) > fabs(s->turn)) continue;
        carom_stretch_at(s, theta / s->turn, x, n);
        take_nearer(nearest, n[0] * (p[0] - x[0]) + n[1] * (p[1] - x[1]));
    }
}

// Where a meets b: p is outside if it lies on the side of the sum of the normals, which is where a convex corner points
// and where a concave one opens.  A contour that turns back has no such sum, and is convex there.
static void nearest_at(const carom_stretch *a, const carom_stretch *b, const double *p, double *nearest) {
    static const double BACK = 1e-9; // of a normal
    const double d[2] = {p[0] - b->from[0], p[1] - b->from[1]}, first = a->normal + a->turn,
                 sum[2] = {cos(first) + cos(b->normal), sin(first) + sin(b->normal)};
    const bool inside = hypot(sum[0], sum[1]) > BACK && sum[0] * d[0] + sum[1] * d[1] < 0;
    take_nearer(nearest, (inside ? -1 : 1) * hypot(d[0], d[1]));
}

double carom_outline_distance(const carom_stretch *s, int n, bool closed, const double *p) {
    double nearest = INFINITY;
    for (int i = 0; i < n; ++i) nearest_on(&s[i], p, &nearest);
    for (int i = closed ? 0 : 1; i < n; ++i) nearest_at(&s[(i + n - 1) % n], &s[i], p, &nearest);
    if (closed) return nearest;
    take_nearer(&nearest, hypot(p[0] - s[0].from[0], p[1] - s[0].from[1]));
    take_nearer(&nearest, hypot(p[0] - s[n - 1].to[0], p[1] - s[n - 1].to[1]));
    return nearest;
}

// -- pieces -----------------------------------------------------------------------------------------------------------

// Between the stretches a and b there is a convex corner: where the inside is halved.
static void halve(const carom_stretch *a, const carom_stretch *b, carom_outline_piece *of_a,
                  carom_outline_piece *of_b) {
    const double first = a->normal + a->turn, middle = first + bend_between(a, b) / 2,
                 w[2] = {-sin(middle), cos(middle)}; // along the way
    const double offset = w[0] * b->from[0] + w[1] * b->from[1];
    for (int k = 0; k < 3 && of_a; ++k) of_a->x[PIECE_BISECTOR + 3 + k] = k < 2 ? -w[k] : -offset;
    for (int k = 0; k < 3 && of_b; ++k) of_b->x[PIECE_BISECTOR + k] = k < 2 ? w[k] : offset;
}

static carom_outline_piece line_piece(const carom_stretch *s) {
    const double l = carom_stretch_length(s);
    carom_outline_piece p = {.kind = CAROM_OUTLINE_LINE, .reach = l / 2};
    for (int k = 0; k < 2; ++k) {
        p.x[PIECE_AT + k] = s->from[k];
        p.x[PIECE_FROM + k] = (s->to[k] - s->from[k]) / l;
        p.middle[k] = (s->from[k] + s->to[k]) / 2;
    }
    p.x[PIECE_TO] = l;
    return p;
}

static carom_outline_piece arc_piece(const carom_stretch *s) {
    carom_outline_piece p = {.kind = s->turn > 0 ? CAROM_OUTLINE_ARC : CAROM_OUTLINE_HOLLOW, .winds = s->wind != 0};
    const double a = s->normal, b = s->normal + s->turn, from = s->turn > 0 ? a : b, to = s->turn > 0 ? b : a;
    for (int k = 0; k < 2; ++k) {
        p.x[PIECE_AT + k] = s->centre[k];
        p.x[PIECE_FROM + k] = k ? sin(from) : cos(from);
        p.x[PIECE_TO + k] = k ? sin(to) : cos(to);
    }
    p.x[PIECE_RADIUS] = s->turn > 0 ? s->radius : s->radius + s->wind * s->turn;
    p.x[PIECE_WIND] = s->wind;
    carom_stretch_at(s, 0.5, p.middle, NULL);
    p.reach = fmax(hypot(s->from[0] - p.middle[0], s->from[1] - p.middle[1]),
                   hypot(s->to[0] - p.middle[0], s->to[1] - p.middle[1]));
    return p;
}

// How far it is along d from p to the first stretch but the one it starts from.
static double inwards(const carom_stretch *s, int n, int own, const double *p, const double *d) {
    double least = INFINITY;
    for (int i = 0; i < n; ++i) {
        chord c[CHORDS];
        const int m = i == own ? 0 : chords_of(&s[i], c);
        for (int k = 0; k < m; ++k) {
            const double a[2] = {c[k].a[0] - p[0], c[k].a[1] - p[1]},
                         e[2] = {c[k].b[0] - c[k].a[0], c[k].b[1] - c[k].a[1]};
            const double det = d[0] * e[1] - d[1] * e[0], along = (a[0] * e[1] - a[1] * e[0]) / det,
                         u = (a[0] * d[1] - a[1] * d[0]) / det;
            if (det != 0 && along > 0 && u >= 0 && u <= 1) least = fmin(least, along);
        }
    }
    return least;
}

// Half of the least width of the solid behind a part of stretch i, at some places; at most the size of all.
static double depth(const carom_stretch *s, int n, int i, double from, double to, double size) {
    enum { PLACES = 5 };
    double least = size;
    for (int k = 0; k < PLACES; ++k) {
        double p[2], d[2];
        carom_stretch_at(&s[i], from + (to - from) * (k + 0.5) / PLACES, p, d);
        d[0] = -d[0], d[1] = -d[1];
        least = fmin(least, inwards(s, n, i, p, d) / 2);
    }
    return least;
}

// A convex corner between a and b, or (b NULL) the end of an open contour, (a NULL) its start: there the solid is cut
// square.
static carom_outline_piece corner_piece(const carom_stretch *a, const carom_stretch *b) {
    const double first = a ? a->normal + a->turn : b->normal - PI / 2,
                 turn = a && b ? bend_between(a, b) : PI / 2;
    const double *at = a ? a->to : b->from;
    const carom_stretch corner = {
        .from = {at[0], at[1]}, .to = {at[0], at[1]}, .centre = {at[0], at[1]}, .normal = first, .turn = turn};
    carom_outline_piece p = arc_piece(&corner);
    p.x[PIECE_FLAT] = a && a->turn == 0;
    p.x[PIECE_FLAT + 1] = b && b->turn == 0;
    return p;
}

int carom_outline_pieces(const carom_stretch *s, int n, bool closed, carom_outline_piece *out) {
    const double size = out ? carom_outline_size(s, n) : 0;
    int count = 0;
    for (int i = 0; i < n; ++i) {
        const int parts = 1 + (int)(fabs(s[i].turn) / (PI / 2 + STRAIGHT));
        const bool first = i == 0 && !closed, last = i == n - 1 && !closed;
        const carom_stretch *before = first ? NULL : &s[(i + n - 1) % n], *next = last ? NULL : &s[(i + 1) % n];
        const double bend = before ? bend_between(before, &s[i]) : 1,
                     bend_next = next ? bend_between(&s[i], next) : 1;
        if (bend > TANGENT) {
            if (out) out[count] = corner_piece(before, &s[i]), out[count].x[PIECE_SIZE] = size;
            ++count;
        }
        for (int k = 0; k < parts; ++k, ++count) {
            if (!out) continue;
            const double u = (double)k / parts, v = (double)(k + 1) / parts;
            const carom_stretch part = parts > 1 ? part_of(&s[i], u, v) : s[i];
            carom_outline_piece *p = &out[count];
            *p = s[i].turn == 0 ? line_piece(&part) : arc_piece(&part);
            p->x[PIECE_DEEP] = depth(s, n, i, u, v, size);
            p->x[PIECE_SIZE] = size;
            // A concave arc is walked against its angles, but lines beside it make no difference to it.
            p->x[PIECE_FLAT] =
                p->kind == CAROM_OUTLINE_ARC && k == 0 && before && before->turn == 0 && fabs(bend) <= TANGENT;
            p->x[PIECE_FLAT + 1] =
                p->kind == CAROM_OUTLINE_ARC && k == parts - 1 && next && next->turn == 0 && fabs(bend_next) <= TANGENT;
            for (int j = 0; j < 6; ++j) p->x[PIECE_BISECTOR + j] = j % 3 < 2 ? 0 : -size;
            if (k == 0 && before && bend > TANGENT) halve(before, &part, NULL, p);
            if (k == parts - 1 && next && bend_next > TANGENT) halve(&part, next, p, NULL);
        }
        if (last) {
            if (out) out[count] = corner_piece(&s[i], NULL), out[count].x[PIECE_SIZE] = size;
            ++count;
        }
    }
    for (int i = 0; i < count && out; ++i)
        for (int k = 0; k < 2 && out[i].kind != CAROM_OUTLINE_LINE && out[i].x[PIECE_RADIUS] == 0 && out[i].reach == 0;
             ++k)
            out[i].x[PIECE_BISECTOR + 3 * k + 2] = -size; // a corner has none
    return count;
}

void carom_outline_piece_move(carom_outline_piece *p, const double *by) {
    for (int k = 0; k < 2; ++k) p->x[PIECE_AT + k] += by[k], p->middle[k] += by[k];
    for (int k = 0; k < 2; ++k) {
        double *b = p->x + PIECE_BISECTOR + 3 * k;
        b[2] += b[0] * by[0] + b[1] * by[1];
    }
}
