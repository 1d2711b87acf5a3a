// test_newton_euler.c: what carom derives for bodies, against Newton's and Euler's equations written here a second
// time.
//
// Masses and inertias of solids are integrals over slices; forces of loads, springs, dampers, bushings and gravity are
// vectors at points. Nothing here uses a derivative or a formula of the sources; states are random and general.
#include "model_text.h"
#include "linalg/matrix.h"
#include "poses.h"

enum { MOST = 24 };

static double uniform(unsigned long long *seed, double a, double b) {
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return a + (b - a) * (double)(*seed >> 11) / 9007199254740992.0;
}

typedef struct equations { int nv; double M[MOST][MOST], f[MOST]; } equations;

static equations of(const carom_model *m, double t, const double *q, const double *v) {
    const carom_system *s = carom_model_system(m);
    equations x = {.nv = s->nv};
    assert_true(s->nv <= MOST);
    void *work = work_of(m);
    carom_arena count = {0};
    carom_allocate_matrix(&count, s->mass_shape);
    carom_arena mem = {.base = aligned_alloc(64, count.used + 64), .size = count.used + 64};
    assert_non_null(mem.base);
    carom_matrix M = carom_allocate_matrix(&mem, s->mass_shape);
    carom_matrix_zero(M);
    assert_int_equal(s->mass(s->model, work, t, q, M), CAROM_OK);
    for (int i = 0; i < s->nv; ++i)
        for (int j = 0; j < s->nv; ++j) x.M[i][j] = carom_matrix_entry(M, i, j) ? *carom_matrix_entry(M, i, j) : 0;
    assert_int_equal(s->force(s->model, work, t, q, v, x.f), CAROM_OK);
    free(mem.base);
    free(work);
    return x;
}

static void cross(double *c, const double *a, const double *b) {
    for (int i = 0; i < 3; ++i) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void rotate(double *y, const double *R, const double *x) {
    for (int i = 0; i < 3; ++i) y[i] = dot(R + 3 * i, x);
}

static void rotate_back(double *y, const double *R, const double *x) {
    for (int i = 0; i < 3; ++i) y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

// -- solids -----------------------------------------------------------------------------------------------------------

typedef struct solid { double volume, first[3], second[9]; } solid; // integrals of 1, x and x x'

// Adds a slice at z along `axis` through `at`: an ellipse with half axes a, b along u, w.
static void add_slice(solid *s, double weight, const double *at, const double *u, const double *w, double a, double b) {
    const double area = 3.14159265358979323846 * a * b;
    s->volume += weight * area;
    for (int i = 0; i < 3; ++i) {
        s->first[i] += weight * area * at[i];
        for (int j = 0; j < 3; ++j)
            s->second[3 * i + j] += weight * area * (at[i] * at[j] + a * a / 4 * u[i] * u[j] + b * b / 4 * w[i] * w[j]);
    }
}

static void add_rectangle(solid *s, double weight, const double *at, const double *u, const double *w, double a,
                          double b) {
    const double area = 4 * a * b;
    s->volume += weight * area;
    for (int i = 0; i < 3; ++i) {
        s->first[i] += weight * area * at[i];
        for (int j = 0; j < 3; ++j)
            s->second[3 * i + j] += weight * area * (at[i] * at[j] + a * a / 3 * u[i] * u[j] + b * b / 3 * w[i] * w[j]);
    }
}

typedef enum form { BALL, BRICK, EGG, DRUM, PILL } form;

// By slices across the third column of X, with Gauss's three points on 400 pieces: exact for these polynomials of z.
static solid slices(form kind, const double *size, const double *centre, const double *X) {
    static const double at[] = {-0.7745966692414834, 0, 0.7745966692414834}, weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    enum { PIECES = 400 };
    solid s = {0};
    const double r = size[0], half = kind == BALL    ? r
                                     : kind == DRUM  ? size[1] / 2
                                     : kind == PILL  ? size[1] / 2 + r
                                     : kind == BRICK ? size[2] / 2
                                                     : size[2];
    const double u[3] = {X[0], X[3], X[6]}, w[3] = {X[1], X[4], X[7]}, axis[3] = {X[2], X[5], X[8]};
    // A pill is not smooth where its ends begin: pieces end there.
    const double cut[4] = {-half, kind == PILL ? -size[1] / 2 : -half, kind == PILL ? size[1] / 2 : half, half};
    for (int part = 0; part < 3; ++part)
        for (int i = 0; i < PIECES; ++i)
            for (int k = 0; k < 3; ++k) {
                const double h = (cut[part + 1] - cut[part]) / PIECES, z = cut[part] + h * (i + 0.5 + 0.5 * at[k]);
                const double x[3] = {centre[0] + z * axis[0], centre[1] + z * axis[1], centre[2] + z * axis[2]};
                const double beyond = kind == PILL ? fmax(0, fabs(z) - size[1] / 2) : kind == BALL ? z : 0;
                const double shrink = kind == EGG ? sqrt(1 - z * z / (half * half)) : 1,
                             radius = sqrt(r * r - beyond * beyond);
                if (h == 0) continue;
                if (kind == BRICK) add_rectangle(&s, h * weight[k], x, u, w, size[0] / 2, size[1] / 2);
                else if (kind == EGG) add_slice(&s, h * weight[k], x, u, w, shrink * size[0], shrink * size[1]);
                else add_slice(&s, h * weight[k], x, u, w, radius, radius);
            }
    return s;
}

static void rotation(double *R, const double *axis, double angle) { // Rodrigues
    const double n = sqrt(dot(axis, axis)), c = cos(angle), s = sin(angle),
                 a[3] = {axis[0] / n, axis[1] / n, axis[2] / n};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) R[3 * i + j] = (i == j ? c : 0) + (1 - c) * a[i] * a[j];
    for (int i = 0; i < 3; ++i)
        R[3 * i + (i + 1) % 3] -= s * a[(i + 2) % 3], R[3 * ((i + 1) % 3) + i] += s * a[(i + 2) % 3];
}

// Mass, centre and inertia of the union of two solids of the same density; the mass matrix is about the centre, in axes
// that are those of the world at the start.
static void must_be(const char *text, const solid *a, const solid *b, double density) {
    carom_model *m = good(text);
    const double *q = carom_model_q0(m), v[6] = {0};
    const equations x = of(m, 0, q, v);
    solid s = *a;
    if (b) {
        s.volume += b->volume;
        for (int i = 0; i < 3; ++i) s.first[i] += b->first[i];
        for (int i = 0; i < 9; ++i) s.second[i] += b->second[i];
    }
    double c[3], J[9], trace = 0;
    for (int i = 0; i < 3; ++i) c[i] = s.first[i] / s.volume;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) s.second[3 * i + j] -= s.volume * c[i] * c[j];
    for (int i = 0; i < 3; ++i) trace += s.second[4 * i];
    for (int i = 0; i < 9; ++i) J[i] = density * ((i % 4 ? 0 : trace) - s.second[i]);
    const double mass = density * s.volume, tolerance = 1e-9; // of an arc near its end the quadrature is off by less
    for (int i = 0; i < 3; ++i) assert_close(q[i], c[i], tolerance);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            const double want = i < 3 || j < 3 ? i == j ? mass : 0 : J[3 * (i - 3) + j - 3],
                         scale = i < 3 || j < 3 ? mass : density * trace;
            if (!(fabs(x.M[i][j] - want) <= tolerance * scale))
                fail_msg("%s: M[%d][%d] is %.12g, not %.12g", text, i, j, x.M[i][j], want);
        }
    carom_model_destroy(m);
}

static void masses_of_solids_are_integrals(void **state) {
    (void)state;
    static const double at[3] = {0.11, -0.23, 0.31}, axis[3] = {1, 2, -1.5}, z[3] = {0, 0, 1};
    static const struct { form kind; const char *text; double size[3]; } forms[] = {
        {BALL, "sphere: 0.21", {0.21}},
        {BRICK, "box: [0.2, 0.35, 0.5]", {0.2, 0.35, 0.5}},
        {EGG, "ellipsoid: [0.1, 0.2, 0.35]", {0.1, 0.2, 0.35}},
        {DRUM, "cylinder: [0.15, 0.6]", {0.15, 0.6}},
        {PILL, "capsule: [0.15, 0.6]", {0.15, 0.6}},
    };
    double turned[9], second_turned[9];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
        char text[700];
        const bool revolved = forms[i].kind == DRUM || forms[i].kind == PILL;
        rotation(turned, axis, 0.7);
        if (revolved) { // `axis` alone: its z goes there, on the shortest way; the slices are circles, any will do
            double about[3];
            cross(about, z, axis);
            rotation(turned, about, acos(axis[2] / sqrt(dot(axis, axis))));
        }
        snprintf(text, sizeof text, "carom: 1\nbodies: {b: {density: 800, shape: {%s, at: [0.11, -0.23, 0.31]%s}}}\n",
                 forms[i].text,
                 revolved                ? ", axis: [1, 2, -1.5]"
                 : forms[i].kind == BALL ? ""
                                         : ", axis: [1, 2, -1.5], angle: 0.7");
        const solid s = slices(forms[i].kind, forms[i].size, at, turned);
        must_be(text, &s, NULL, 800);
        // beside a box
        static const double other[3] = {0.6, 0.1, -0.2}, edges[3] = {0.1, 0.3, 0.25}, across[3] = {0, 1, 0};
        rotation(second_turned, across, 0.4);
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {b: {density: 800, shapes: {a: {%s, at: [0.11, -0.23, 0.31]%s}, c: {box: [0.1, "
                 "0.3, 0.25], at: [0.6, 0.1, -0.2], axis: [0, 1, 0], angle: 0.4}}}}\n",
                 forms[i].text,
                 revolved                ? ", axis: [1, 2, -1.5]"
                 : forms[i].kind == BALL ? ""
                                         : ", axis: [1, 2, -1.5], angle: 0.7");
        const solid c = slices(BRICK, edges, other, second_turned);
        must_be(text, &s, &c, 800);
    }
}

// A tetrahedron with a corner at the origin, edges a, b, c: V = abc/6, <x> = a/4, <xx> = a^2/10, <xy> = ab/20.
static void masses_of_hulls_are_integrals(void **state) {
    (void)state;
    const double e[3] = {0.3, 0.4, 0.6}, V = e[0] * e[1] * e[2] / 6;
    solid s = {.volume = V};
    for (int i = 0; i < 3; ++i) {
        s.first[i] = V * e[i] / 4;
        for (int j = 0; j < 3; ++j) s.second[3 * i + j] = V * e[i] * e[j] / (i == j ? 10 : 20);
    }
    must_be(
        "carom: 1\nbodies: {b: {density: 2000, shape: {hull: [[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.6]]}}}\n",
        &s, NULL, 2000);
}

// -- forces in space --------------------------------------------------------------------------------------------------

// w: in the world; torque: about the centre
typedef struct moving { pose at; double v[3], w[3], force[3], torque[3]; } moving;

static void set(moving *b, const double *q, const double *v) {
    pose_of(q, &b->at);
    memcpy(b->v, v, sizeof b->v);
    rotate(b->w, b->at.R, v + 3);
    memset(b->force, 0, sizeof b->force), memset(b->torque, 0, sizeof b->torque);
}

static void point_of(const moving *b, const double *s, double *arm, double *p, double *rate) {
    rotate(arm, b->at.R, s);
    cross(rate, b->w, arm);
    for (int i = 0; i < 3; ++i) p[i] = b->at.r[i] + arm[i], rate[i] += b->v[i];
}

static void push(moving *b, const double *arm, const double *F) {
    double T[3];
    cross(T, arm, F);
    for (int i = 0; i < 3; ++i) b->force[i] += F[i], b->torque[i] += T[i];
}

// A spring and a damper along the line between two points.
static void strut(moving *a, const double *s_a, moving *b, const double *s_b, double k, double l, double c) {
    double arm[2][3], p[2][3], u[2][3], d[3], rate[3], F[3], back[3];
    point_of(a, s_a, arm[0], p[0], u[0]);
    point_of(b, s_b, arm[1], p[1], u[1]);
    for (int i = 0; i < 3; ++i) d[i] = p[1][i] - p[0][i], rate[i] = u[1][i] - u[0][i];
    const double length = sqrt(dot(d, d)), tension = k * (length - l) + c * dot(d, rate) / length;
    for (int i = 0; i < 3; ++i) F[i] = tension * d[i] / length, back[i] = -F[i];
    push(a, arm[0], F);
    push(b, arm[1], back);
}

// (M, f) of a free body: m v' = F;  J w' = R'T - w x J w in its own axes.
static void must_move(const equations *x, int at, const moving *b, double mass, const double J[9]) {
    double w[3], Jw[3], gyro[3], T[3];
    rotate_back(w, b->at.R, b->w);
    rotate_back(T, b->at.R, b->torque);
    rotate(Jw, J, w);
    cross(gyro, w, Jw);
    for (int i = 0; i < 3; ++i) {
        assert_close(x->f[at + i], b->force[i], 1e-12 * (1 + sqrt(dot(b->force, b->force))));
        assert_close(x->f[at + 3 + i], T[i] - gyro[i],
                     1e-12 * (1 + sqrt(dot(T, T)) + sqrt(dot(Jw, Jw)) * sqrt(dot(w, w))));
        for (int j = 0; j < 3; ++j)
            assert_close(x->M[at + i][at + j], i == j ? mass : 0, 1e-14),
                assert_close(x->M[at + 3 + i][at + 3 + j], J[3 * i + j], 1e-14);
    }
}

#define SPATIAL_BODIES                                                                                                 \
    "carom: 1\ngravity: [0.3, -0.5, -9.81]\nbodies:\n"                                                                 \
    "  a: {mass: 2, inertia: [0.2, 0.3, 0.4, 0.01, -0.02, 0.03], axis: [1, 2, 3], angle: 0.7, points: {p: [0.1, 0.2, " \
    "-0.3]}}\n"                                                                                                        \
    "  b: {mass: 1.5, inertia: [0.1, 0.15, 0.2], at: [1, 0.3, -0.2], axis: [0, 1, 1], angle: -0.4, points: {p: [0, "   \
    "0.1, -0.1]}}\n"

static const double J_A[9] = {0.2, 0.01, -0.02, 0.01, 0.3, 0.03, -0.02, 0.03, 0.4},
                    J_B[9] = {0.1, 0, 0, 0, 0.15, 0, 0, 0, 0.2};
static const double P_A[3] = {0.1, 0.2, -0.3}, P_B[3] = {0, 0.1, -0.1};

static void random_state(unsigned long long *seed, int bodies, double *q, double *v) {
    for (int b = 0; b < bodies; ++b, q += 7, v += 6) {
        double n = 0;
        for (int i = 0; i < 3; ++i) q[i] = uniform(seed, -1, 1) + 2 * b;
        for (int i = 3; i < 7; ++i) q[i] = uniform(seed, -1, 1), n += q[i] * q[i];
        for (int i = 3; i < 7; ++i) q[i] /= sqrt(n);
        for (int i = 0; i < 6; ++i) v[i] = uniform(seed, -3, 3);
    }
}

static void weigh(moving *b, double mass) {
    static const double g[3] = {0.3, -0.5, -9.81};
    for (int i = 0; i < 3; ++i) b->force[i] += mass * g[i];
}

static void loads_and_struts_in_space(void **state) {
    (void)state;
    carom_model *m = good(SPATIAL_BODIES
        "springs:\n"
        "  both: {between: [a, b], points: [p, p], stiffness: 40, length: 0.7, damping: 0.3}\n"
        "  spring: {between: [ground, a], points: [[0.2, -1, 0.4], [0.3, 0, 0.1]], stiffness: 25, length: 0.4}\n"
        "  damper: {between: [b, ground], points: [p, [3, 1, 2]], damping: 1.7}\n"
        "  rubber: {between: [a, b], points: [[0, 0, 0.2], [0.1, 0, 0]], stiffness: 11, length: 0}\n"
        "loads:\n"
        "  world: {on: a, point: p, force: [1, \"-2*t\", 3], torque: [0.4, 0.5, -0.6]}\n"
        "  own: {on: b, point: p, force: [2, 1, \"-a.x\"], torque: [-0.1, \"0.7*b.vx\", 0.2], frame: body}\n"
        "  centre: {on: b, force: [\"-0.2*b.vx\", 0, 0.1]}\n");
    unsigned long long seed = 7;
    for (int n = 0; n < 20; ++n) {
        double q[14], v[12], t = uniform(&seed, 0, 2), p[3], arm[3], u[3], F[3], T[3];
        moving ground = {.at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}}, a, b;
        random_state(&seed, 2, q, v);
        set(&a, q, v), set(&b, q + 7, v + 6);
        weigh(&a, 2), weigh(&b, 1.5);
        strut(&a, P_A, &b, P_B, 40, 0.7, 0.3);
        strut(&ground, (double[]){0.2, -1, 0.4}, &a, (double[]){0.3, 0, 0.1}, 25, 0.4, 0);
        strut(&b, P_B, &ground, (double[]){3, 1, 2}, 0, 0, 1.7);
        strut(&a, (double[]){0, 0, 0.2}, &b, (double[]){0.1, 0, 0}, 11, 0, 0);
        point_of(&a, P_A, arm, p, u);
        push(&a, arm, (double[]){1, -2 * t, 3});
        for (int i = 0; i < 3; ++i) a.torque[i] += (double[]){0.4, 0.5, -0.6}[i];
        point_of(&b, P_B, arm, p, u);
        rotate(F, b.at.R, (double[]){2, 1, -a.at.r[0]});
        rotate(T, b.at.R, (double[]){-0.1, 0.7 * b.v[0], 0.2});
        push(&b, arm, F);
        for (int i = 0; i < 3; ++i) b.torque[i] += T[i];
        b.force[0] -= 0.2 * b.v[0], b.force[2] += 0.1;
        const equations x = of(m, t, q, v);
        must_move(&x, 0, &a, 2, J_A);
        must_move(&x, 6, &b, 1.5, J_B);
    }
    carom_model_destroy(m);
}

// A bushing by the work that it does: its energy is that of three springs along A's axes and of the rotation (ELM-2),
// here by the angles between axes; forces are differences of it along small displacements of the bodies, in the world.
typedef struct rubber { double k[3], kr[3], s_a[3], s_b[3], Ra0[9], Rb0[9]; } rubber;

static double stored(const rubber *x, const pose *a, const pose *b) {
    double d[3], own[3], pa[3], pb[3], V = 0;
    rotate(pa, a->R, x->s_a), rotate(pb, b->R, x->s_b);
    for (int i = 0; i < 3; ++i) d[i] = b->r[i] + pb[i] - a->r[i] - pa[i];
    rotate_back(own, a->R, d);
    for (int i = 0; i < 3; ++i) V += 0.5 * x->k[i] * own[i] * own[i];
    for (int i = 0; i < 3; ++i) {
        // the axis of A, and what was the same axis in B at the start
        const double mine[3] = {a->R[i], a->R[3 + i], a->R[6 + i]},
                     start[3] = {x->Ra0[i], x->Ra0[3 + i], x->Ra0[6 + i]};
        double in_b[3], now[3];
        rotate_back(in_b, x->Rb0, start);
        rotate(now, b->R, in_b);
        V += 0.5 * (x->kr[(i + 1) % 3] + x->kr[(i + 2) % 3] - x->kr[i]) * (1 - dot(mine, now));
    }
    return V;
}

static pose shifted(const pose *p, int k, double d) { // k < 3: along x, y, z; else about them, in the world
    pose x = *p;
    if (k < 3) x.r[k] += d;
    else {
        double R[9], axis[3] = {k == 3, k == 4, k == 5}, column[3], out[3];
        rotation(R, axis, d);
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 3; ++i) column[i] = p->R[3 * i + j];
            rotate(out, R, column);
            for (int i = 0; i < 3; ++i) x.R[3 * i + j] = out[i];
        }
    }
    return x;
}

static void bushings_in_space(void **state) {
    (void)state;
    carom_model *m = good(SPATIAL_BODIES "springs: {r: {type: bushing, between: [a, b], at: [0.4, 0.3, 0.1], "
                                         "stiffness: [10, 20, 30], torsion: [5, 6, 7]}}\n");
    const double *q0 = carom_model_q0(m);
    rubber x = {.k = {10, 20, 30}, .kr = {5, 6, 7}};
    pose a0, b0;
    pose_of(q0, &a0), pose_of(q0 + 7, &b0);
    memcpy(x.Ra0, a0.R, sizeof a0.R), memcpy(x.Rb0, b0.R, sizeof b0.R);
    double d[3];
    for (int i = 0; i < 3; ++i) d[i] = (double[]){0.4, 0.3, 0.1}[i] - a0.r[i];
    rotate_back(x.s_a, a0.R, d);
    for (int i = 0; i < 3; ++i) d[i] = (double[]){0.4, 0.3, 0.1}[i] - b0.r[i];
    rotate_back(x.s_b, b0.R, d);
    unsigned long long seed = 3;
    for (int n = 0; n < 10; ++n) {
        double q[14], v[12] = {0};
        random_state(&seed, 2, q, v);
        memset(v, 0, sizeof v);
        moving body[2];
        set(&body[0], q, v), set(&body[1], q + 7, v + 6);
        weigh(&body[0], 2), weigh(&body[1], 1.5);
        for (int b = 0; b < 2; ++b)
            for (int k = 0; k < 6; ++k) {
                const double h = 1e-5; // (V(h) - V(-h))/2h: off by h^2 and eps/h, some 1e-9 here
                const pose up = shifted(&body[b].at, k, h), down = shifted(&body[b].at, k, -h);
                const double V_up = b ? stored(&x, &body[0].at, &up) : stored(&x, &up, &body[1].at);
                const double V_down = b ? stored(&x, &body[0].at, &down) : stored(&x, &down, &body[1].at);
                *(k < 3 ? &body[b].force[k] : &body[b].torque[k - 3]) -= (V_up - V_down) / (2 * h);
            }
        const equations e = of(m, 0, q, v);
        for (int b = 0; b < 2; ++b) {
            double T[3];
            rotate_back(T, body[b].at.R, body[b].torque);
            for (int i = 0; i < 3; ++i)
                assert_close(e.f[6 * b + i], body[b].force[i], 1e-7), assert_close(e.f[6 * b + 3 + i], T[i], 1e-7);
        }
    }
    carom_model_destroy(m);
}

// The dampers of a bushing: forces -c_i along A's axes on the rate of the displacement in these axes, and torques -c on
// the rate of the three sines.  Power is all that is compared: f.v without a spring is -sum c (rate)^2.
static void dampers_of_bushings_take_what_their_rates_say(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies:\n  a: {mass: 2, inertia: [0.2, 0.2, 0.2]}\n  b: {mass: 1.5, inertia: "
                          "[0.1, 0.1, 0.1], at: [1, 0.3, -0.2]}\n"
                          "springs: {r: {type: bushing, between: [a, b], at: [0.4, 0.3, 0.1], damping: [1, 2, 3], "
                          "torsion damping: [0.5, 0.6, 0.7]}}\n");
    const double c[3] = {1, 2, 3}, cr[3] = {0.5, 0.6, 0.7}, s_a[3] = {0.4, 0.3, 0.1}, s_b[3] = {-0.6, 0, 0.3};
    unsigned long long seed = 5;
    for (int n = 0; n < 10; ++n) {
        double q[14], v[12], value[2][6], want = 0, is = 0;
        random_state(&seed, 2, q, v);
        const double h = 1e-5;
        for (int side = 0; side < 2; ++side) {
            moving b[2];
            for (int k = 0; k < 2; ++k) {
                set(&b[k], q + 7 * k, v + 6 * k);
                pose p = b[k].at;
                const double step = side ? h : -h, speed = sqrt(dot(b[k].w, b[k].w));
                double R[9], column[3], out[3];
                rotation(R, b[k].w, step * speed);
                for (int j = 0; j < 3; ++j) {
                    for (int i = 0; i < 3; ++i) column[i] = p.R[3 * i + j];
                    rotate(out, R, column);
                    for (int i = 0; i < 3; ++i) b[k].at.R[3 * i + j] = out[i];
                }
                for (int i = 0; i < 3; ++i) b[k].at.r[i] += step * b[k].v[i];
            }
            double pa[3], pb[3], d[3];
            rotate(pa, b[0].at.R, s_a), rotate(pb, b[1].at.R, s_b);
            for (int i = 0; i < 3; ++i) d[i] = b[1].at.r[i] + pb[i] - b[0].at.r[i] - pa[i];
            rotate_back(value[side], b[0].at.R, d);
            for (int i = 0; i < 3; ++i) {
                const int y = (i + 1) % 3, z = (i + 2) % 3;
                double s = 0;
                for (int l = 0; l < 3; ++l)
                    s += b[0].at.R[3 * l + z] * b[1].at.R[3 * l + y] - b[0].at.R[3 * l + y] * b[1].at.R[3 * l + z];
                value[side][3 + i] = 0.5 * s;
            }
        }
        for (int i = 0; i < 6; ++i) {
            const double rate = (value[1][i] - value[0][i]) / (2 * h);
            want -= (i < 3 ? c[i] : cr[i - 3]) * rate * rate;
        }
        const equations e = of(m, 0, q, v); // spheres: no gyroscopic torque
        for (int i = 0; i < 12; ++i) is += e.f[i] * v[i];
        assert_close(is, want, 1e-6 * fabs(want));
    }
    carom_model_destroy(m);
}

// A torque on the end of a flexible member, in the axes of that end: at the start they are `direction`, and the z axis
// towards `up`.
static void torques_in_the_axes_of_a_member(void **state) {
    (void)state;
#define MEMBER(torque)                                                                                                 \
    "carom: 1\nflexible: {a: {type: spatial beam, frame: floating, length: 1, elements: 2, density: 2000, modulus: "   \
    "2e9, area: 1e-4,\n"                                                                                               \
    "    inertia: [1e-9, 2e-9], torsion: 2e-9, shear modulus: 8e8, direction: [1, 2, -1]}}\nloads: {l: {on: "          \
    "a.end, " torque "}}\n"
    const double T[3] = {0.3, -0.5, 0.7}, d[3] = {1 / sqrt(6), 2 / sqrt(6), -1 / sqrt(6)}, up[3] = {0, 0, 1};
    double z[3], y[3], world[3];
    for (int i = 0; i < 3; ++i) z[i] = up[i] - dot(up, d) * d[i];
    const double n = sqrt(dot(z, z));
    for (int i = 0; i < 3; ++i) z[i] /= n;
    cross(y, z, d);
    for (int i = 0; i < 3; ++i) world[i] = T[0] * d[i] + T[1] * y[i] + T[2] * z[i];
    char text[700];
    snprintf(text, sizeof text, MEMBER("torque: [%.17g, %.17g, %.17g]"), world[0], world[1], world[2]);
    carom_model *m[2] = {good(MEMBER("torque: [0.3, -0.5, 0.7], frame: body")), good(text)};
    equations x[2];
    double v[MOST] = {0}, size = 0;
    for (int k = 0; k < 2; ++k) x[k] = of(m[k], 0, carom_model_q0(m[k]), v);
    for (int i = 0; i < x[0].nv; ++i) size = fmax(size, fabs(x[1].f[i]));
    assert_true(size > 0.3);
    for (int i = 0; i < x[0].nv; ++i) assert_close(x[0].f[i], x[1].f[i], 1e-12 * size);
    carom_model_destroy(m[0]);
    carom_model_destroy(m[1]);
}

// -- forces in the plane ----------------------------------------------------------------------------------------------

static void loads_and_struts_in_the_plane(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0.5, -9.81]\nbodies:\n  a: {mass: 2, inertia: 0.3}\n  b: {mass: 1.5, inertia: 0.2, "
             "at: [1, 0.3], angle: 0.4}\n"
             "springs:\n"
             "  both: {between: [a, b], points: [[0.1, 0.2], [0, -0.1]], stiffness: 40, length: 0.7, damping: 0.3}\n"
             "  ground: {between: [ground, a], points: [[0.2, -1], [0.3, 0]], stiffness: 25, length: 0.4}\n"
             "loads:\n"
             "  world: {on: a, point: [0.1, 0.2], force: [1, \"-2*t\"], torque: 0.4}\n"
             "  own: {on: b, point: [0, -0.1], force: [2, \"-a.x\"], torque: \"0.7*b.vx\", frame: body}\n");
    unsigned long long seed = 11;
    for (int n = 0; n < 20; ++n) {
        double q[6], v[6], t = uniform(&seed, 0, 2), arm[3], p[3], u[3], F[3];
        moving ground = {.at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}}, b[2];
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 3; ++i)
                q[3 * k + i] = uniform(&seed, -1, 1) + 2 * k, v[3 * k + i] = uniform(&seed, -3, 3);
            const double c = cos(q[3 * k + 2]), s = sin(q[3 * k + 2]);
            b[k] = (moving){.at = {.r = {q[3 * k], q[3 * k + 1]}, .R = {c, -s, 0, s, c, 0, 0, 0, 1}},
                            .v = {v[3 * k], v[3 * k + 1]},
                            .w = {0, 0, v[3 * k + 2]}};
            b[k].force[0] = (k ? 1.5 : 2) * 0.5, b[k].force[1] = -(k ? 1.5 : 2) * 9.81;
        }
        const double s_a[3] = {0.1, 0.2, 0}, s_b[3] = {0, -0.1, 0};
        strut(&b[0], s_a, &b[1], s_b, 40, 0.7, 0.3);
        strut(&ground, (double[]){0.2, -1, 0}, &b[0], (double[]){0.3, 0, 0}, 25, 0.4, 0);
        point_of(&b[0], s_a, arm, p, u);
        push(&b[0], arm, (double[]){1, -2 * t, 0});
        b[0].torque[2] += 0.4;
        point_of(&b[1], s_b, arm, p, u);
        rotate(F, b[1].at.R, (double[]){2, -q[0], 0});
        push(&b[1], arm, F);
        b[1].torque[2] += 0.7 * v[3];
        const equations x = of(m, t, q, v);
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 2; ++i) assert_close(x.f[3 * k + i], b[k].force[i], 1e-12 * 100);
            assert_close(x.f[3 * k + 2], b[k].torque[2], 1e-12 * 100);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    assert_close(x.M[3 * k + i][3 * k + j],
                                 i != j   ? 0
                                 : i == 2 ? (k ? 0.2 : 0.3)
                                          : (k ? 1.5 : 2),
                                 1e-14);
        }
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_of_solids_are_integrals),
        cmocka_unit_test(masses_of_hulls_are_integrals),
        cmocka_unit_test(loads_and_struts_in_space),
        cmocka_unit_test(bushings_in_space),
        cmocka_unit_test(dampers_of_bushings_take_what_their_rates_say),
        cmocka_unit_test(torques_in_the_axes_of_a_member),
        cmocka_unit_test(loads_and_struts_in_the_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
