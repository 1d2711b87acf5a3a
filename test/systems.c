// systems.c: see systems.h.  Formulas by hand; derivatives where a test needs them.
#include "systems.h"
#include <math.h>
#include <string.h>

static void set(carom_matrix M, int i, int j, double x) {
    double *a = carom_matrix_entry(M, i, j);
    if (a) *a = x;
}

static void add(carom_matrix M, int i, int j, double x) {
    double *a = carom_matrix_entry(M, i, j);
    if (a) *a += x;
}

// Column c of W, dense or sparse; sparse columns keep what is not zero.
static void column(carom_columns *W, int c, const double *x) {
    if (!W->count) {
        carom_copy(W->a + (size_t)c * (size_t)W->rows, x, W->rows);
        return;
    }
    int n = 0;
    for (int i = 0; i < W->rows; ++i)
        if (x[i] != 0) {
            W->row[c * W->stride + n] = i;
            W->a[c * W->stride + n++] = x[i];
        }
    W->count[c] = n;
}

static carom_status diagonal_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)work, (void)t, (void)q;
    const known *k = model;
    for (int i = 0; i < k->sys.nv; ++i) set(M, i, i, k->par[i]);
    return CAROM_OK;
}

static void begin(known *k, int n, int ne, int nc) {
    memset(k, 0, sizeof *k);
    k->sys = carom_system_default(n, n, ne, nc);
    k->sys.model = k;
    k->sys.contacts = k->contact;
    k->sys.mass = diagonal_mass;
}

// -- one and two masses on a line ----------------------------------------------------------------------------
// par: 0, 1 masses; 2 constant force; 3 stiffness; 4, 5 amplitude and frequency of the floor

static carom_status line_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work, (void)t, (void)v;
    const known *k = model;
    f[0] = k->par[2] - k->par[3] * q[0];
    return CAROM_OK;
}

static carom_status line_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work;
    const known *k = model;
    g[0] = q[0] - k->par[4] * sin(k->par[5] * t);
    return CAROM_OK;
}

static carom_status line_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)work, (void)q;
    const known *k = model;
    if (L->nb == 0) return CAROM_OK;
    column(&L->W, 0, (double[]){1, 0});
    L->w[0] = -k->par[4] * k->par[5] * cos(k->par[5] * t);
    return CAROM_OK;
}

static carom_status line_energy(const void *model, void *work, double t, const double *q, const double *v,
                                double *kinetic, double *potential) {
    (void)work, (void)t;
    const known *k = model;
    *kinetic = 0.5 * k->par[0] * v[0] * v[0];
    *potential = -k->par[2] * q[0] + 0.5 * k->par[3] * q[0] * q[0];
    return CAROM_OK;
}

void known_ball(known *k, double m, double f, double e, double height) {
    begin(k, 1, 0, 1);
    k->contact[0].restitution = e;
    k->par[0] = m;
    k->par[2] = f;
    k->q0[0] = height;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    k->sys.force = line_force;
    k->sys.gaps = line_gaps;
    k->sys.directions = line_directions;
    k->sys.energy = line_energy;
}

void known_ball_a(known *k) { known_ball(k, 1, -2, 0.5, 1); }

// Flight n >= 0 after the first impact lasts from 3 - 2^(1-n) to 3 - 2^-n.
double known_ball_a_exact(double t, double *v) {
    double q = 0, rate = 0;
    if (t < 1) {
        q = 1 - t * t;
        rate = -2 * t;
    } else if (t < 3) {
        double part = 1; // 2^-n
        while (part > 1e-16 && t >= 3 - part) part /= 2;
        rate = -2 * (t - 3) - 3 * part;
        q = -(t - 3) * (t - 3) - 3 * part * (t - 1) + 2 * part * (3 - part);
    }
    if (v) *v = rate;
    return q;
}

void known_oscillator(known *k, double e) {
    known_ball(k, 1, 0, e, 1);
    k->par[3] = 1;
}

double known_oscillator_exact(double t, double e, double *v) {
    const double pi = 3.14159265358979323846, n = floor(t / pi + 0.5), size = pow(e, n);
    if (v) *v = n == 0 ? -sin(t) : size * cos(t - (n - 0.5) * pi);
    return size * fabs(cos(t));
}

void known_moving_floor(known *k, double A, double w, double e) {
    known_ball(k, 1, -10, e, 0);
    k->par[4] = A;
    k->par[5] = w;
    k->v0[0] = A * w;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS;
}

static carom_status no_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)q, (void)v, (void)f;
    return CAROM_OK;
}

static carom_status pair_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[1] - q[0];
    return CAROM_OK;
}

static carom_status pair_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    if (L->nb > 0) column(&L->W, 0, (double[]){-1, 1});
    return CAROM_OK;
}

void known_two_bodies(known *k, double m1, double m2, double e) {
    begin(k, 2, 0, 1);
    k->contact[0].restitution = e;
    k->par[0] = m1;
    k->par[1] = m2;
    k->q0[1] = 1;
    k->v0[0] = 2;
    k->v0[1] = -1;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    k->sys.force = no_force;
    k->sys.gaps = pair_gaps;
    k->sys.directions = pair_directions;
}

static carom_status balls_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work, (void)t, (void)v;
    const double s = ((const known *)model)->par[3] * (q[1] - q[0]);
    f[0] = -10 + s;
    f[1] = -10 - s;
    return CAROM_OK;
}

static carom_status balls_energy(const void *model, void *work, double t, const double *q, const double *v,
                                 double *kinetic, double *potential) {
    (void)work, (void)t;
    const double s = q[1] - q[0];
    *kinetic = 0.5 * (v[0] * v[0] + v[1] * v[1]);
    *potential = 10 * (q[0] + q[1]) + 0.5 * ((const known *)model)->par[3] * s * s;
    return CAROM_OK;
}

void known_two_balls(known *k, double stiffness) {
    begin(k, 2, 0, 1);
    k->contact[0].restitution = 0.8;
    k->par[0] = k->par[1] = 1;
    k->par[3] = stiffness;
    k->q0[0] = k->q0[1] = 0.801;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    k->sys.force = balls_force;
    k->sys.gaps = line_gaps;
    k->sys.directions = line_directions;
    k->sys.energy = balls_energy;
}

// -- double pendulum ----------------------------------------------------------------------------------------
// Relative angles; unit masses and lengths, gravity 9.81, joint damping 0.3, torque 2 cos 3t on the first joint.

static carom_status double_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t;
    const double c = cos(q[1]);
    set(M, 0, 0, 3 + 2 * c);
    set(M, 0, 1, 1 + c);
    set(M, 1, 0, 1 + c);
    set(M, 1, 1, 1);
    return CAROM_OK;
}

static carom_status double_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work;
    const double s = sin(q[1]), G = 9.81;
    f[0] = s * (2 * v[0] * v[1] + v[1] * v[1]) - G * (2 * sin(q[0]) + sin(q[0] + q[1])) - 0.3 * v[0] + 2 * cos(3 * t);
    f[1] = -s * v[0] * v[0] - G * sin(q[0] + q[1]) - 0.3 * v[1];
    return CAROM_OK;
}

void known_double_pendulum(known *k) {
    begin(k, 2, 0, 0);
    k->q0[0] = 0.7;
    k->q0[1] = -0.4;
    k->v0[0] = 0.5;
    k->v0[1] = 1;
    k->sys.mass = double_mass;
    k->sys.force = double_force;
}

// -- particle on a slope --------------------------------------------------------------------------------------
// par: 0..2 mass; 3 gravity; 4 angle

static carom_status slope_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work, (void)t, (void)q, (void)v;
    const known *k = model;
    f[0] = k->par[0] * k->par[3] * sin(k->par[4]);
    f[1] = -k->par[0] * k->par[3] * cos(k->par[4]);
    return CAROM_OK;
}

static carom_status slope_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[1];
    return CAROM_OK;
}

static carom_status slope_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    if (L->nb == 0) return CAROM_OK;
    column(&L->W, 0, (double[]){0, 1});
    if (L->at[1] > 1) column(&L->W, 1, (double[]){1, 0});
    return CAROM_OK;
}

static carom_status slope_energy(const void *model, void *work, double t, const double *q, const double *v,
                                 double *kinetic, double *potential) {
    (void)work, (void)t;
    const known *k = model;
    *kinetic = 0.5 * k->par[0] * (v[0] * v[0] + v[1] * v[1]);
    *potential = k->par[0] * k->par[3] * (q[1] * cos(k->par[4]) - q[0] * sin(k->par[4]));
    return CAROM_OK;
}

void known_slope(known *k, double L, double angle, double mu) {
    begin(k, 2, 0, 1);
    k->contact[0] = (carom_contact){.friction = mu, .tangents = 1};
    k->par[0] = k->par[1] = L * L * L;
    k->par[3] = 9.81;
    k->par[4] = angle;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    k->sys.force = slope_force;
    k->sys.gaps = slope_gaps;
    k->sys.directions = slope_directions;
    k->sys.energy = slope_energy;
}

// Weight in the frame of the slope: (-cos, sin, 0) along normal and steepest descent, which lies between the two
// tangents.
static carom_status spatial_force(const void *model, void *work, double t, const double *q, const double *v,
                                  double *f) {
    (void)work, (void)t, (void)q, (void)v;
    const known *k = model;
    const double weight = k->par[0] * k->par[3], down = weight * sin(k->par[4]);
    for (int i = 0; i < 3; ++i)
        f[i] = -weight * cos(k->par[4]) * k->frame[i] + down * (0.8 * k->frame[3 + i] + 0.6 * k->frame[6 + i]);
    return CAROM_OK;
}

static carom_status spatial_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    g[0] = carom_dot(((const known *)model)->frame, q, 3);
    return CAROM_OK;
}

static carom_status spatial_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)work, (void)t, (void)q;
    const known *k = model;
    if (L->nb == 0) return CAROM_OK;
    for (int c = 0; c < L->at[1]; ++c) column(&L->W, c, k->frame + 3 * c);
    return CAROM_OK;
}

void known_slope_spatial(known *k, double L, double angle, double mu, double turn) {
    begin(k, 3, 0, 1);
    k->contact[0] = (carom_contact){.friction = mu, .tangents = 2};
    k->par[0] = k->par[1] = k->par[2] = L * L * L;
    k->par[3] = 9.81;
    k->par[4] = angle;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    k->sys.force = spatial_force;
    k->sys.gaps = spatial_gaps;
    k->sys.directions = spatial_directions;
    // Rz(turn) Ry(turn) Rx(turn), by columns; the first one serves as normal
    const double s = sin(turn), c = cos(turn);
    const double R[9] = {
        c * c, s * c, -s, c * s * s - s * c, s * s * s + c * c, c * s, c * c * s + s * s, s * s * c - c * s, c * c};
    carom_copy(k->frame, R, 9);
}

// -- slider-crank -----------------------------------------------------------------------------------------------
// par: 0 clearance

static const double l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, m1 = 0.038, m2 = 0.038, m3 = 0.076;
static const double J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6, G = 9.81;
static const double SIGMA[4] = {-1, 1, -1, 1}, SIDE[4] = {1, 1, -1, -1}; // corner k at (SIGMA a, SIDE b) of the slider

static double coupling(void) { return l1 * l2 * (m2 / 2 + m3); }

static carom_status crank_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)work, (void)t;
    const double B = coupling() * cos(q[0] - q[1]);
    set(M, 0, 0, J1 + l1 * l1 * (m1 / 4 + m2 + m3));
    set(M, 0, 1, B);
    set(M, 1, 0, B);
    set(M, 1, 1, J2 + l2 * l2 * (m2 / 4 + m3));
    if (((const known *)model)->sys.nv == 3) set(M, 2, 2, J3);
    return CAROM_OK;
}

static carom_status crank_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t;
    const double s = coupling() * sin(q[0] - q[1]);
    f[0] = -s * v[1] * v[1] - G * l1 * cos(q[0]) * (m1 / 2 + m2 + m3);
    f[1] = s * v[0] * v[0] - G * l2 * cos(q[1]) * (m2 / 2 + m3);
    return CAROM_OK;
}

static carom_status crank_energy(const void *model, void *work, double t, const double *q, const double *v,
                                 double *kinetic, double *potential) {
    (void)work, (void)t;
    const double w3 = ((const known *)model)->sys.nv == 3 ? v[2] : 0;
    *kinetic = 0.5 * ((J1 + l1 * l1 * (m1 / 4 + m2 + m3)) * v[0] * v[0] + (J2 + l2 * l2 * (m2 / 4 + m3)) * v[1] * v[1] +
                      J3 * w3 * w3) +
               coupling() * cos(q[0] - q[1]) * v[0] * v[1];
    *potential = G * ((m1 / 2 + m2 + m3) * l1 * sin(q[0]) + (m2 / 2 + m3) * l2 * sin(q[1]));
    return CAROM_OK;
}

static carom_status crank_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    const double y3 = l1 * sin(q[0]) + l2 * sin(q[1]), c = ((const known *)model)->par[0];
    for (int k = 0; k < 4; ++k) g[k] = b + c - SIDE[k] * y3 - SIDE[k] * SIGMA[k] * a * sin(q[2]) - b * cos(q[2]);
    return CAROM_OK;
}

static carom_status crank_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    for (int j = 0; j < L->nb; ++j) {
        const double sg = SIGMA[L->id[j]], sd = SIDE[L->id[j]];
        column(&L->W, L->at[j],
               (double[]){-sd * l1 * cos(q[0]), -sd * l2 * cos(q[1]), -sd * sg * a * cos(q[2]) + b * sin(q[2])});
        if (L->at[j + 1] - L->at[j] > 1)
            column(&L->W, L->at[j] + 1,
                   (double[]){-l1 * sin(q[0]), -l2 * sin(q[1]), -sg * a * sin(q[2]) - sd * b * cos(q[2])});
    }
    return CAROM_OK;
}

// All second derivatives of gaps and slips are diagonal: d2[i] of direction r (0 normal, 1 tangential) of contact id.
static void crank_second(const double *q, int id, int r, double d2[3]) {
    const double sg = SIGMA[id], sd = SIDE[id];
    if (r == 0) {
        d2[0] = sd * l1 * sin(q[0]);
        d2[1] = sd * l2 * sin(q[1]);
        d2[2] = sd * sg * a * sin(q[2]) + b * cos(q[2]);
    } else {
        d2[0] = -l1 * cos(q[0]);
        d2[1] = -l2 * cos(q[1]);
        d2[2] = -sg * a * cos(q[2]) + sd * b * sin(q[2]);
    }
}

static carom_status crank_curvature(const void *model, void *work, double t, const double *q, const double *v,
                                    const carom_local *L, double *kappa) {
    (void)model, (void)work, (void)t;
    for (int j = 0; j < L->nb; ++j)
        for (int c = L->at[j]; c < L->at[j + 1]; ++c) {
            double d2[3];
            crank_second(q, L->id[j], c - L->at[j], d2);
            kappa[c] = d2[0] * v[0] * v[0] + d2[1] * v[1] * v[1] + d2[2] * v[2] * v[2];
        }
    return CAROM_OK;
}

static carom_status crank_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                  carom_matrix K, carom_matrix C) {
    (void)model, (void)work, (void)t;
    const double c = coupling() * cos(q[0] - q[1]), s = coupling() * sin(q[0] - q[1]);
    set(K, 0, 0, c * v[1] * v[1] - G * l1 * sin(q[0]) * (m1 / 2 + m2 + m3));
    set(K, 0, 1, -c * v[1] * v[1]);
    set(K, 1, 0, -c * v[0] * v[0]);
    set(K, 1, 1, c * v[0] * v[0] - G * l2 * sin(q[1]) * (m2 / 2 + m3));
    set(C, 0, 1, 2 * s * v[1]);
    set(C, 1, 0, -2 * s * v[0]);
    return CAROM_OK;
}

static carom_status crank_mass_gradient(const void *model, void *work, double t, const double *q, const double *x,
                                        double s, carom_matrix D) {
    (void)model, (void)work, (void)t;
    const double B = -s * coupling() * sin(q[0] - q[1]); // d(B cos)/d q0 = -d/d q1
    add(D, 0, 0, B * x[1]);
    add(D, 0, 1, -B * x[1]);
    add(D, 1, 0, B * x[0]);
    add(D, 1, 1, -B * x[0]);
    return CAROM_OK;
}

static carom_status crank_reaction_gradient(const void *model, void *work, double t, const double *q,
                                            const carom_local *L, const double *lambda, double s, carom_matrix D) {
    (void)model, (void)work, (void)t;
    for (int j = 0; j < L->nb; ++j)
        for (int c = L->at[j]; c < L->at[j + 1]; ++c) {
            double d2[3];
            crank_second(q, L->id[j], c - L->at[j], d2);
            for (int i = 0; i < 3; ++i) add(D, i, i, s * lambda[c] * d2[i]);
        }
    return CAROM_OK;
}

static carom_status crank_rate_gradient(const void *model, void *work, double t, const double *q, const double *v,
                                        const carom_local *L, carom_columns *D) {
    (void)model, (void)work, (void)t;
    for (int j = 0; j < L->nb; ++j)
        for (int c = L->at[j]; c < L->at[j + 1]; ++c) {
            double d2[3];
            crank_second(q, L->id[j], c - L->at[j], d2);
            for (int i = 0; i < 3; ++i) d2[i] *= v[i];
            column(D, c, d2);
        }
    return CAROM_OK;
}

void known_slider_crank(known *k, double c, double e, double mu, bool derivatives) {
    begin(k, 3, 0, 4);
    for (int i = 0; i < 4; ++i) k->contact[i] = (carom_contact){.restitution = e, .friction = mu, .tangents = 1};
    k->par[0] = c;
    k->v0[0] = 150;
    k->v0[1] = -75;
    k->sys.flags = CAROM_TIMELESS_GAPS;
    k->sys.mass = crank_mass;
    k->sys.force = crank_force;
    k->sys.energy = crank_energy;
    k->sys.gaps = crank_gaps;
    k->sys.directions = crank_directions;
    if (!derivatives) return;
    k->sys.curvature = crank_curvature;
    k->sys.tangent = crank_tangent;
    k->sys.mass_gradient = crank_mass_gradient;
    k->sys.reaction_gradient = crank_reaction_gradient;
    k->sys.rate_gradient = crank_rate_gradient;
}

static carom_status guide_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = l1 * sin(q[0]) + l2 * sin(q[1]);
    return CAROM_OK;
}

static carom_status guide_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    if (L->nb > 0) column(&L->W, 0, (double[]){l1 * cos(q[0]), l2 * cos(q[1])});
    return CAROM_OK;
}

void known_slider_bilateral(known *k, bool derivatives) {
    begin(k, 2, 1, 0);
    k->v0[0] = 150;
    k->v0[1] = -75;
    k->sys.flags = CAROM_TIMELESS_GAPS;
    k->sys.mass = crank_mass;
    k->sys.force = crank_force;
    k->sys.energy = crank_energy;
    k->sys.gaps = guide_gaps;
    k->sys.directions = guide_directions;
    if (!derivatives) return;
    k->sys.tangent = crank_tangent;
    k->sys.mass_gradient = crank_mass_gradient;
}

// -- pendulum in redundant coordinates, rocking block -------------------------------------------------------------
// par: 0..2 masses and moment of inertia; 3 weight

static carom_status body_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work, (void)t, (void)q, (void)v;
    f[1] = -((const known *)model)->par[3];
    return CAROM_OK;
}

static carom_status body_energy(const void *model, void *work, double t, const double *q, const double *v,
                                double *kinetic, double *potential) {
    (void)work, (void)t;
    const double *p = ((const known *)model)->par;
    *kinetic = 0.5 * (p[0] * v[0] * v[0] + p[1] * v[1] * v[1] + p[2] * v[2] * v[2]);
    *potential = p[3] * q[1];
    return CAROM_OK;
}

static carom_status pendulum_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    g[0] = q[0] - cos(q[2]);
    g[1] = q[1] - sin(q[2]);
    if (((const known *)model)->sys.nc > 0) g[2] = q[0] - sqrt(0.5);
    return CAROM_OK;
}

static carom_status pendulum_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    const double W[3][3] = {{1, 0, sin(q[2])}, {0, 1, -cos(q[2])}, {1, 0, 0}};
    for (int j = 0; j < L->nb; ++j) column(&L->W, L->at[j], W[L->id[j]]);
    return CAROM_OK;
}

void known_pendulum(known *k, double J) {
    const double angle = 3.14159265358979323846 / 12;
    begin(k, 3, 2, 1);
    k->contact[0].restitution = 0.8;
    k->par[0] = k->par[1] = 1;
    k->par[2] = J;
    k->par[3] = 10;
    k->q0[0] = cos(angle);
    k->q0[1] = sin(angle);
    k->q0[2] = angle;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_TIMELESS_GAPS;
    k->sys.force = body_force;
    k->sys.energy = body_energy;
    k->sys.gaps = pendulum_gaps;
    k->sys.directions = pendulum_directions;
}

void known_pendulum_free(known *k) {
    known_pendulum(k, 0.1);
    k->sys.nc = 0;
}

static carom_status block_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[1] - 0.75 * cos(q[2]) + 0.5 * sin(q[2]);
    g[1] = q[1] - 0.75 * cos(q[2]) - 0.5 * sin(q[2]);
    return CAROM_OK;
}

static carom_status block_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    for (int j = 0; j < L->nb; ++j) {
        const double side = L->id[j] == 0 ? 1 : -1;
        column(&L->W, L->at[j], (double[]){0, 1, 0.75 * sin(q[2]) + side * 0.5 * cos(q[2])});
    }
    return CAROM_OK;
}

void known_rocking_block(known *k) {
    begin(k, 3, 0, 2);
    k->contact[0].restitution = k->contact[1].restitution = 0.5;
    k->par[0] = k->par[1] = 1;
    k->par[2] = (1 + 1.5 * 1.5) / 12;
    k->par[3] = 9.81;
    k->q0[1] = 1;
    k->q0[2] = 0.2;
    k->sys.flags = CAROM_CONSTANT_MASS | CAROM_TIMELESS_GAPS;
    k->sys.force = body_force;
    k->sys.energy = body_energy;
    k->sys.gaps = block_gaps;
    k->sys.directions = block_directions;
}

// -- running --------------------------------------------------------------------------------------------------------

double known_energy(const known *k, double t, const double *q, const double *v) {
    double kinetic = 0, potential = 0;
    k->sys.energy(k, NULL, t, q, v, &kinetic, &potential);
    return kinetic + potential;
}

carom_sim_def known_run(const known *k, const char *scheme, double h, double t_end) {
    carom_sim_def d = carom_sim_default();
    d.system = &k->sys;
    d.scheme = scheme;
    d.h = h;
    d.t_end = t_end;
    d.q0 = k->q0;
    d.v0 = k->v0;
    return d;
}
