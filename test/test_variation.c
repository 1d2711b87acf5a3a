// test_variation.c: derivatives by state and parameters against differences of the fourth order, and by hand.
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model_text.h"

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

enum { MOTION, GAPS, REACTION, RATES, ACCELERATION, OUTPUTS, COUNT };
static const char *const name_of[COUNT] = {"motion", "gaps", "reaction", "rates", "acceleration", "outputs"};

typedef struct point { double t, *q, *v, *a, *lambda; } point;

static double *zeros(int n) {
    double *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static int size_of(const carom_model *m, int what) {
    const carom_system *s = carom_model_system(m);
    int n = 0;
    for (int id = 0; id < s->ne + s->nc; ++id) n += carom_system_directions(s, id);
    return what == MOTION || what == REACTION ? s->nv
           : what == GAPS                     ? s->ne + s->nc
           : what == OUTPUTS                  ? carom_model_count(m).outputs
                                              : n;
}

// The thing itself, by what schemes ask.
static void value(const carom_model *m, int what, const point *p, double *y) {
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    carom_arena mem;
    carom_local L = local_of(m, &mem);
    memset(y, 0, (size_t)size_of(m, what) * sizeof *y);
    if (what == OUTPUTS) carom_model_outputs(m, work, p->t, p->q, p->v, y);
    if (what == GAPS && s->gaps) { // of pairs of shapes that are far from each other, a record has the gaps and schemes
                                   // have bounds
        double energy[2], *u = zeros(6 * (s->ne + s->nc)), *out = zeros(carom_model_count(m).outputs);
        s->gaps(m, work, p->t, p->q, y);
        carom_model_row(m, work, p->t, p->q, p->v, energy, u, y, out);
        free(u), free(out);
    }
    if (what == MOTION) {
        carom_matrix M = {.shape = s->mass_shape, .a = calloc(carom_shape_size(s->mass_shape), sizeof(double))};
        s->force(m, work, p->t, p->q, p->v, y);
        s->mass(m, work, p->t, p->q, M);
        carom_matrix_muladd(y, -1, M, p->a);
        free(M.a);
    }
    if (s->directions) s->directions(m, work, p->t, p->q, &L);
    if (what == ACCELERATION && s->directions) s->curvature(m, work, p->t, p->q, p->v, &L, y);
    for (int k = 0; k < L.at[L.nb]; ++k) {
        if (what == REACTION) carom_column_axpy(y, p->lambda[k], &L.W, k);
        if (what == RATES) y[k] = carom_column_dot(&L.W, k, p->v) + L.w[k];
        if (what == ACCELERATION) y[k] += carom_column_dot(&L.W, k, p->a);
    }
    free(mem.base);
    free(work);
}

static void ask(carom_variation *x, int what, const point *p, carom_direction d, double *y) {
    carom_status s = CAROM_OK;
    if (what == MOTION) s = carom_variation_motion(x, p->t, p->q, p->v, p->a, d, y);
    if (what == GAPS) s = carom_variation_gaps(x, p->t, p->q, d, y);
    if (what == REACTION) s = carom_variation_reaction(x, p->t, p->q, p->lambda, d, y);
    if (what == RATES) s = carom_variation_rates(x, p->t, p->q, p->v, d, y);
    if (what == ACCELERATION) s = carom_variation_acceleration(x, p->t, p->q, p->v, p->a, d, y);
    if (what == OUTPUTS) s = carom_variation_outputs(x, p->t, p->q, p->v, d, y);
    if (s != CAROM_OK) fail_msg("%s has no finite derivative", name_of[what]);
}

static const double weight[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12}, at[4] = {-2, -1, 1, 2};

static void compare(const char *model, const char *by, int what, const double *y, const double *z, const double *size,
                    int n, double h) {
    for (int i = 0; i < n; ++i) {
        const double tolerance = 1e-6 * fabs(z[i]) + 1e-11 * size[i] / h + 1e-12;
        if (!(fabs(y[i] - z[i]) <= tolerance))
            fail_msg("%s: d(%s)[%d] by %s is %.12g, by differences %.12g", model, name_of[what], i, by, y[i], z[i]);
    }
}

static void by_state(const char *model, const carom_model *m, carom_variation *x, const point *p) {
    const carom_system *s = carom_model_system(m);
    double *dq = zeros(s->nv), *dv = zeros(s->nv);
    point near = *p;
    near.q = zeros(s->nq);
    near.v = zeros(s->nv);
    for (int i = 0; i < s->nv; ++i) dq[i] = 0.01 * cos(3 * i + 1.0), dv[i] = 0.1 * cos(5 * i + 2.0);
    const carom_direction change[3] = {{.t = 0.01}, {.q = dq}, {.v = dv}};
    static const char *const by[3] = {"time", "position", "velocity"};
    for (int what = 0; what < COUNT; ++what)
        for (int c = 0; c < 3; ++c) {
            const int n = size_of(m, what);
            const double h = c == 2 ? 1e-2 : 2e-4;
            double *y = zeros(n), *z = zeros(n), *one = zeros(n), *size = zeros(n);
            for (int b = 0; b < 4; ++b) {
                near.t = p->t + (c == 0 ? at[b] * h * change[0].t : 0);
                memcpy(near.q, p->q, (size_t)s->nq * sizeof *near.q);
                memcpy(near.v, p->v, (size_t)s->nv * sizeof *near.v);
                if (c == 1 && s->move) s->move(m, near.q, near.q, at[b] * h, dq);
                else if (c == 1) carom_axpy(near.q, at[b] * h, dq, s->nq);
                if (c == 2) carom_axpy(near.v, at[b] * h, dv, s->nv);
                value(m, what, &near, one);
                for (int i = 0; i < n; ++i) z[i] += weight[b] / h * one[i], size[i] = fmax(size[i], fabs(one[i]));
            }
            ask(x, what, p, change[c], y);
            compare(model, by[c], what, y, z, size, n, h);
            free(y), free(z), free(one), free(size);
        }
    free(near.q), free(near.v), free(dq), free(dv);
}

// The initial state, by differences of initial states.
static void start_by_parameter(const char *model, carom_model *m, carom_variation *x, int k) {
    const carom_system *s = carom_model_system(m);
    double old, *dq = zeros(s->nq), *z = zeros(2 * s->nv), *y = zeros(2 * s->nv), *size = zeros(2 * s->nv),
                *q0 = zeros(s->nq);
    char name[80];
    snprintf(name, sizeof name, "%s", carom_model_parameter(m, k, &old));
    const double h = old != 0 ? 2e-3 * fabs(old) : 2e-3, one = 1;
    const int nq = s->nq, nv = s->nv;
    carom_error err = {0}, none = {0};
    bool fine = true;
    memcpy(q0, carom_model_q0(m), (size_t)nq * sizeof *q0);
    for (int b = 0; b < 4 && fine; ++b) {
        const double there = old + at[b] * h;
        fine = carom_model_set(m, 1, &k, &there, NULL, &err) == CAROM_OK && carom_model_system(m)->nq == nq;
        for (int i = 0; fine && i < nq; ++i) dq[i] += weight[b] / h * carom_model_q0(m)[i];
        for (int i = 0; fine && i < nv; ++i) z[nv + i] += weight[b] / h * carom_model_v0(m)[i];
    }
    assert_int_equal(carom_model_set(m, 1, &k, &old, NULL, &err), CAROM_OK);
    carom_model_velocities(m, q0, dq, z);
    for (int i = 0; i < nv; ++i) size[i] = 1, size[nv + i] = fmax(1, fabs(carom_model_v0(m)[i]));
    const carom_status status = carom_variation_start(x, &one, y, y + nv, &none);
    if (fine && status != CAROM_OK) fail_msg("%s: %s", model, none.text);
    if (fine) compare(model, name, GAPS, y, z, size, 2 * nv, h);
    free(dq), free(z), free(y), free(size), free(q0);
}

static int compared, kinks;

static void by_parameter(const char *model, carom_model *m, carom_variation *x, int k, const point *p) {
    double old;
    char name[80]; // names of the model end when it is derived again
    snprintf(name, sizeof name, "%s", carom_model_parameter(m, k, &old));
    const double h = old != 0 ? 2e-3 * fabs(old) : 2e-3, one = 1;
    carom_error err = {0};
    for (int what = 0; what < COUNT; ++what) {
        const int n = size_of(m, what);
        double *y = zeros(n), *z = zeros(n), *v = zeros(n), *size = zeros(n), *second = zeros(n);
        bool fine = true;
        for (int b = 0; b < 8 && fine; ++b) {
            const double step = b < 4 ? h : h / 8, there = old + at[b % 4] * step;
            fine = carom_model_set(m, 1, &k, &there, NULL, &err) == CAROM_OK && size_of(m, what) == n;
            if (fine) value(m, what, p, v);
            for (int i = 0; i < n && fine; ++i)
                (b < 4 ? z : second)[i] += weight[b % 4] / step * v[i], size[i] = fmax(size[i], fabs(v[i]));
        }
        assert_int_equal(carom_model_set(m, 1, &k, &old, NULL, &err), CAROM_OK);
        ask(x, what, p, (carom_direction){.p = &one}, y);
        for (int i = 0; i < n && fine; ++i) { // where another corner of a shape comes nearest in between, there is no
                                              // derivative
            const bool kink = fabs(z[i] - second[i]) > 1e-7 * fabs(z[i]) + 1e-11 * size[i] / h + 1e-12;
            if (!kink) compare(model, name, what, &y[i], &z[i], &size[i], 1, h);
            ++compared, kinks += kink;
        }
        free(y), free(z), free(v), free(size), free(second);
    }
}

static bool all;          // large models, too
static int exact, beside; // parameters

static void examine(const char *model, carom_model *m) {
    const carom_system *s = carom_model_system(m);
    const int nd = size_of(m, RATES);
    carom_error err = {0};
    point p = {.t = 0.2, .q = zeros(s->nq), .v = zeros(s->nv), .a = zeros(s->nv), .lambda = zeros(nd)};
    for (int i = 0; i < s->nv; ++i) p.v[i] = carom_model_v0(m)[i] + 0.1 * sin(i + 1.0), p.a[i] = sin(2 * i + 1.0);
    for (int i = 0; i < nd; ++i) p.lambda[i] = cos(i + 1.0);
    memcpy(p.q, carom_model_q0(m), (size_t)s->nq * sizeof *p.q);
    if (s->move) s->move(m, p.q, p.q, 0.003, p.v);
    else carom_axpy(p.q, 0.003, p.v, s->nq);
    carom_variation *x = carom_variation_create(m, 0, NULL, &err);
    if (!x) fail_msg("%s: %s", model, err.text);
    by_state(model, m, x, &p);
    carom_variation_destroy(x);
    for (int k = 0; k < carom_model_count(m).parameters; ++k) {
        x = carom_variation_create(m, 1, &k, &err);
        if (!x && !strstr(err.text, "there is no derivative by parameter")) fail_msg("%s: %s", model, err.text);
        if (!x) continue;
        exact += carom_variation_exact(x, 0);
        beside += !carom_variation_exact(x, 0);
        by_parameter(model, m, x, k, &p);
        start_by_parameter(model, m, x, k);
        carom_variation_destroy(x);
    }
    free(p.q), free(p.v), free(p.a), free(p.lambda);
}

static void shipped_models_against_differences(void **state) {
    (void)state;
    char names[] = CAROM_SHIPPED, *rest = names;
    for (char *end; *rest; rest = end) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        carom_model *m = shipped_model(rest);
        if ((carom_model_system(m)->nv <= 4 || all) && carom_model_system(m)->nv <= 400 &&
            !carom_model_system(m)->listed && carom_model_system(m)->signals->nsamplers == 0)
            examine(rest, m);
        carom_model_destroy(m);
    }
    print_message("%d by expressions, %d by differences; %d entries, kinks at %d\n", exact, beside, compared, kinks);
    assert_true(exact > 40 && kinks * 50 < compared);
}

// Everything that may vary in one model: motion in time, friction that varies, shapes, joints, families, a member.
static void parts_against_differences(void **state) {
    (void)state;
    static const char *const text[] = {
        "carom: 1\nparameters: {m: 2, k: 3*m, a: 0.2, w: 5, mu: 0.3}\ncoordinates: {x: {at: a, rate: -a^2}, y: {at: 1, "
        "rate: 1}}\n"
        "energy: {kinetic: 1/2*m*(x'^2 + (1 + a*cos(x))*y'^2), potential: 1/2*k*x^2*exp(a*y)}\nforces: {x: "
        "k*sin(w*t)*y' - m*a*x'*abs(x')}\n"
        "constraints: {rod: (x - a + a^2*(y - 1))*y*m}\n"
        "contacts: {floor: {gap: y + a*sin(w*t)*cos(x) - 0.1, slip: x - a*t*y, restitution: a, friction: "
        "mu*exp(-abs(slip.speed)/w)}}\noutputs: {e: k*x'*y + w*t}\n",
        "carom: 1\nparameters: {r: 0.1, m: 1, l: 0.5, c: 2, g: 9.81}\ngravity: [0, -g]\nshapes: {floor: {plane: [0.1, "
        "1]}}\n"
        "bodies:\n  a: {mass: m, inertia: 0.1*m, at: [l, 2], spin: c, shape: {circle: r}}\n  b: {mass: 2*m, inertia: "
        "0.2, at: [2*l, 2], shape: {box: [r, 2*r]}}\n"
        "joints: {pin: {type: revolute, between: [a, b], at: [1.5*l, 2]}}\n"
        "springs: {s: {between: [ground, a], points: [[0, 0], [r, 0]], stiffness: 50*c, damping: c, length: l}}\n"
        "contact defaults: {friction: 0.3}\ncontacts: {hit: {between: [floor, [a, b]]}}\n",
        "carom: 1\nparameters: {r: 0.1, m: 1, h: 0.5, c: 2, j: 0.3}\ngravity: [0, 0.1*c, -9.81*c]\nshapes: {floor: "
        "{plane: [0, 0.1, 1]}}\n"
        "bodies:\n  a: {mass: m, inertia: [j, 2*j*m, 2*j, 0.1*j, 0, 0], at: [h, h^2, 2], velocity: [0, c, 0], spin: "
        "[c, 0, m*c], shape: {sphere: r}}\n"
        "contacts: {hit: {between: [floor, a], friction: 0.3*m, restitution: r}}\n",
        "carom: 1\nparameters: {r: 0.1, h: 0.5, c: 2}\nbodies:\n  a: {mass: h, inertia: c, at: [h, h^2], angle: c*h, "
        "velocity: [0, c], spin: r}\n",
        ("carom: 1\nparameters: {F: 3, E: 2e5, x: 0.3}\nflexible:\n  arm: {type: beam, length: 1, elements: 3, "
         "density: 10, modulus: E, area: 0.01, inertia: 1e-5, fix: start, points: {tip: 1}}\n"
         "forces: {arm.tip.u: F*sin(3*t)*arm.tip.u}\ncontacts: {stop: {gap: 0.1 + x*arm.tip.u^2 - arm.tip.u, "
         "restitution: x}}\n")};
    for (size_t i = 0; i < sizeof text / sizeof *text; ++i) {
        carom_model *m = good(text[i]);
        char name[20];
        snprintf(name, sizeof name, "model %zu", i);
        examine(name, m);
        carom_model_destroy(m);
    }
}

// x'' = -k x with k = 3 m, m x' x'/2: f - M a = -3 m x - m a, so its derivative by m is -3 x - a; x0 = m^2, restitution
// m/8.
static void by_hand(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {m: 2, k: 3*m}\ncoordinates: {x: {at: m^2, rate: k}}\nenergy: "
                          "{kinetic: 1/2*m*x'^2, potential: 1/2*k*x^2}\n"
                          "contacts: {wall: {gap: m*x, restitution: m/8}}\n");
    carom_error err = {0};
    const int which[2] = {0, 1};
    carom_variation *x = carom_variation_create(m, 1, which, &err);
    assert_non_null(x);
    assert_true(carom_variation_exact(x, 0));
    const double q = 0.7, v = 0.2, a = 5, one = 1, lambda = 4;
    double y, z;
    const carom_direction d = {.p = &one};
    assert_int_equal(carom_variation_motion(x, 0, &q, &v, &a, d, &y), CAROM_OK);
    assert_close(y, -3 * q - a, 1e-15);
    assert_int_equal(carom_variation_gaps(x, 0, &q, d, &y), CAROM_OK);
    assert_close(y, q, 0);
    assert_int_equal(carom_variation_reaction(x, 0, &q, &lambda, d, &y), CAROM_OK);
    assert_close(y, lambda, 0);
    assert_int_equal(carom_variation_laws(x, 0, &q, &v, d, &y, NULL, &z, NULL), CAROM_OK);
    assert_true(y == 0.125 && z == 0);
    assert_int_equal(carom_variation_start(x, &one, &y, &z, &err), CAROM_OK);
    assert_true(y == 4 && z == 3);
    carom_variation_destroy(x);
    x = carom_variation_create(m, 2, which, &err); // k chosen, too: it does not follow m
    assert_non_null(x);
    const double both[2] = {1, 0}, stiff[2] = {0, 1};
    assert_int_equal(carom_variation_motion(x, 0, &q, &v, &a, (carom_direction){.p = both}, &y), CAROM_OK);
    assert_close(y, -a, 1e-15);
    assert_int_equal(carom_variation_motion(x, 0, &q, &v, &a, (carom_direction){.p = stiff}, &y), CAROM_OK);
    assert_close(y, -q, 1e-15);
    carom_variation_destroy(x);
    carom_model_destroy(m);
}

// e(u) = c exp(-u/w): de/du = -e/w, de/dw = e u/w^2; beside it a contact with c/2.
static void restitution_by_hand(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nparameters: {c: 0.8, w: 3}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: x'^2}\n"
        "contacts: {floor: {gap: x, restitution: c*exp(-approach.speed/w)}, wall: {gap: 2 - x, restitution: c/2}}\n");
    carom_error err = {0};
    carom_variation *x = carom_variation_create(m, 2, (const int[]){0, 1}, &err);
    assert_non_null(x);
    const double u = 1.5, e = 0.8 * exp(-u / 3);
    double y;
    assert_int_equal(carom_variation_restitution(x, 0, u, 1, NULL, &y), CAROM_OK);
    assert_close(y, -e / 3, 1e-11);
    assert_int_equal(carom_variation_restitution(x, 0, u, 0, (const double[]){1, 0}, &y), CAROM_OK);
    assert_close(y, e / 0.8, 1e-11);
    assert_int_equal(carom_variation_restitution(x, 0, u, 0, (const double[]){0, 1}, &y), CAROM_OK);
    assert_close(y, e * u / 9, 1e-11);
    assert_int_equal(carom_variation_restitution(x, 0, 0, 1, NULL, &y), CAROM_USER);
    assert_int_equal(carom_variation_restitution(x, 1, u, 1, (const double[]){1, 1}, &y), CAROM_OK);
    assert_close(y, 0.5, 1e-11);
    carom_variation_destroy(x);
    assert_null(carom_variation_create(m, 1, (const int[]){7}, &err));
    carom_model_destroy(m);
}

static void what_has_no_derivative(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nparameters: {n: 2}\nbodies: {b: {repeat: n, body: {mass: 1, inertia: 1, at: [i, 1]}}}\n");
    carom_error err = {0};
    const int n = 0;
    assert_null(carom_variation_create(m, 1, &n, &err));
    assert_non_null(strstr(err.text, "there is no derivative by parameter 'n'"));
    carom_model_destroy(m);
}

int main(int argc, char **argv) {
    all = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(restitution_by_hand),
        cmocka_unit_test(what_has_no_derivative),
        cmocka_unit_test(parts_against_differences),
        cmocka_unit_test(shipped_models_against_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
