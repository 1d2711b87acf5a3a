// test_jacobians.c: every term counts: variants of schemes have their orders, and the matrices of Newton's method are
// exact: it converges quadratically, in three or four iterations.
//
// A matrix with a wrong or missing term gives the same answers, more slowly, and no other test notices.  Steps are
// long, so that each term is large: the mass changes with the position, forces with position and velocity, constraints
// and contacts are curved and move.
#include "model_text.h"

#define COUNT(list) (sizeof list / sizeof *list)

static const char smooth[] =
    "carom: 1\ncoordinates: {a: {at: 1.2, rate: 2}, b: {at: 0.3, rate: -3}}\n"
    "energy: {kinetic: a'^2 + 1/2*b'^2 + 0.9*a'*b'*cos(a - b), potential: -20*cos(a) - 10*cos(b) + 5*a*b^3}\n"
    "forces: {a: -0.3*a'*b'^2 + sin(3*t + a), b: -0.2*b'^3*cos(a)}\n";
static const char constrained[] =
    "carom: 1\ncoordinates: {x: {at: 1, rate: 0.075}, y: {at: 0, rate: 1}, z: {at: 0.2, rate: 0.5}}\n"
    "energy: {kinetic: 1/2*(2 + sin(x*y + z))*(x'^2 + y'^2) + 1/2*z'^2*(1.5 + cos(x)), potential: 9.81*y + 2*z^2}\n"
    "forces: {z: -0.5*z'*x}\nconstraints: {circle: x^2 + y^2*(1 + 0.2*z) - 1 - 0.05*sin(3*t)}\n";
static const char two[] =
    "carom: 1\ncoordinates: {x: {at: 1, rate: 0.075}, y: {at: 0, rate: 1}, z: {at: 0.2, rate: 0.3}}\n"
    "energy: {kinetic: 1/2*(2 + sin(x*y + z))*(x'^2 + y'^2) + 1/2*z'^2*(1.5 + cos(x)) + 0.4*x'*z', potential: 9.81*y + "
    "2*z^2}\n"
    "constraints: {circle: x^2 + y^2*(1 + 0.2*z) - 1 - 0.05*sin(3*t), rail: z - 0.2 - 0.3*y - 0.1*y^2*x}\n";
static const char bowl[] =
    "carom: 1\ncoordinates: {x: {at: 0.3, rate: 1}, y: {at: 0.09, rate: 0.635}, z: {at: 0.2, rate: 0.5}}\n"
    "energy: {kinetic: 1/2*(2 + sin(x + z))*(x'^2 + y'^2) + 1/2*z'^2*(1.5 + cos(x)), potential: 9.81*y + 2*z^2 + "
    "3*x^2*z}\n"
    "forces: {z: -0.5*z'*x}\ncontacts: {bowl: {gap: y - x^2 - 0.1*z*x + 0.1*0.2*0.3, slip: x + 0.3*z*y, friction: "
    "0.15}}\n";
static const char box[] = "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 2, inertia: [0.05, 0.04, 0.03], at: "
                          "[0, 0, 0.3], spin: [3, 2, 5], velocity: [0.5, 0, 0], shape: {box: [0.4, 0.3, 0.6]}}}\n"
                          "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [b, floor], friction: 0.3}}\n";

// most: iterations of all steps, about one in twenty above what was counted.
static const struct {
    const char *name, *text;
    double h;
    int steps;
    struct {
        const char *scheme, *option;
        long most;
    } of[14];
} runs[] = {
    {"smooth",
     smooth,
     0.05,
     20,
     {{"moreau-jean", NULL, 61},
      {"moreau-dissipative", NULL, 67},
      {"ggl-midpoint", NULL, 63},
      {"ggl-alpha", NULL, 66},
      {"newmark", NULL, 62},
      {"hht", NULL, 65},
      {"generalized-alpha", NULL, 63},
      {"dg-plus", NULL, 110},
      {"moreau-jean", "at=theta", 59},
      {"moreau-dissipative", "theta=0.8", 67},
      {"ggl-alpha", "rho=0.3", 69},
      {"dg-plus", "order=2", 92}}},
    {"constrained",
     constrained,
     0.05,
     20,
     {{"moreau-jean", NULL, 63},
      {"moreau-dissipative", NULL, 63},
      {"ggl-midpoint", NULL, 63},
      {"ggl-alpha", NULL, 63},
      {"ggl-projection", NULL, 60},
      {"newmark", NULL, 83},
      {"generalized-alpha", NULL, 83},
      {"dg-plus", NULL, 96},
      {"moreau-jean", "at=theta", 63},
      {"ggl-midpoint", "local=paper", 70},
      {"ggl-midpoint", "levels=velocity", 63},
      {"ggl-projection", "local=paper", 63},
      {"newmark", "contact=velocity", 63},
      {"ggl-alpha", "newton=sequential", 105}}},
    {"bowl",
     bowl,
     0.02,
     30,
     {{"moreau-jean", NULL, 95},
      {"moreau-dissipative", NULL, 95},
      {"ggl-midpoint", NULL, 94},
      {"ggl-alpha", NULL, 95},
      {"ggl-projection", NULL, 61},
      {"newmark", NULL, 126},
      {"generalized-alpha", NULL, 126},
      {"dg-plus", NULL, 93},
      {"moreau-jean", "at=theta", 87},
      {"ggl-midpoint", "local=paper", 86},
      {"ggl-midpoint", "levels=velocity", 95},
      {"ggl-projection", "local=paper", 63},
      {"newmark", "contact=velocity", 95},
      {"ggl-alpha", "newton=sequential", 166}}},
    {"box",
     box,
     0.005,
     40,
     {{"moreau-jean", NULL, 103},
      {"moreau-dissipative", NULL, 102},
      {"ggl-midpoint", NULL, 119},
      {"newmark", NULL, 171},
      {"hht", NULL, 171},
      {"generalized-alpha", NULL, 171},
      {"moreau-jean", "at=theta", 102},
      {"ggl-midpoint", "local=paper", 105},
      {"ggl-projection", "active=midpoint", 84}}},
};

static void newton_converges_quadratically(void **state) {
    (void)state;
    int slow = 0;
    for (size_t k = 0; k < COUNT(runs); ++k) {
        carom_model *m = good(runs[k].text);
        for (size_t j = 0; j < COUNT(runs[k].of) && runs[k].of[j].scheme; ++j) {
            carom_error err = {0};
            carom_ledger l;
            const char *const options[] = {runs[k].of[j].option, NULL};
            carom_sim *sim = model_sim(m, runs[k].of[j].scheme, runs[k].of[j].option ? options : NULL, runs[k].h,
                                       runs[k].steps * runs[k].h);
            model_sim_run(sim);
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            carom_sim_destroy(sim);
            if (l.counts.newton <= runs[k].of[j].most && l.counts.newton >= runs[k].steps) continue;
            print_error("%s, %s %s: %ld iterations in %d steps, at most %ld expected\n", runs[k].name,
                        runs[k].of[j].scheme, runs[k].of[j].option ? runs[k].of[j].option : "", (long)l.counts.newton,
                        runs[k].steps, runs[k].of[j].most);
            ++slow;
        }
        carom_model_destroy(m);
    }
    if (slow) fail_msg("%d runs need more", slow);
}

// -- orders of all variants -------------------------------------------------------------------------------------------

typedef struct point { double x[6]; } point;

static point end_of(const carom_model *m, const char *scheme, const char *option, double h, double end) {
    point p = {{0}};
    carom_error err = {0};
    const char *const options[] = {option, NULL};
    carom_sim_def d = sim_def(m, scheme, option ? options : NULL, h, end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK)
        fail_msg("%s %s: %s", scheme, option ? option : "", err.text);
    for (int i = 0; i < d.system->nv; ++i) p.x[i] = carom_sim_now(sim).q[i], p.x[3 + i] = carom_sim_now(sim).v[i];
    carom_sim_destroy(sim);
    return p;
}

static double apart(const point *a, const point *b) {
    double d = 0;
    for (int i = 0; i < 6; ++i) d = fmax(d, fabs(a->x[i] - b->x[i]));
    return d;
}

// Orders of the smooth motion, along a moving constraint, in a contact that slides, and along two constraints; and
// errors with 80 steps, a quarter above what they are.
static const struct { const char *scheme, *option; int order[4]; double most[4]; } variants[] = {
    {"moreau-jean", NULL, {2, 1, 1, 1}, {0.00052, 0.0001, 0.00048, 0.00019}},
    {"moreau-jean", "at=theta", {2, 1, 1, 1}, {0.00026, 0.0022, 0.00048, 0.0019}},
    {"moreau-jean", "theta=0.7", {1, 1, 1, 1}, {0.0092, 0.002, 0.0005, 0.002}},
    {"moreau-midpoint", NULL, {1, 1, 1, 1}, {0.025, 0.002, 0.00068, 0.0018}},
    {"moreau-midpoint", "local=paper", {1, 1, 1, 1}, {0.025, 0.004, 0.0012, 0.0036}},
    {"moreau-explicit", NULL, {1, 1, 1, 1}, {0.023, 0.0048, 0.0012, 0.0049}},
    {"moreau-explicit", "forces=end", {1, 1, 1, 1}, {0.034, 0.0056, 0.001, 0.0054}},
    {"moreau-dissipative", NULL, {2, 1, 1, 1}, {5.1e-05, 0.0022, 0.00048, 0.0019}},
    {"moreau-dissipative", "theta=0.7", {1, 1, 1, 1}, {0.0099, 0.0022, 0.0005, 0.0019}},
    {"half-explicit", NULL, {2, 2, 2, 2}, {0.00045, 2.2e-05, 5.1e-07, 2e-05}},
    {"half-explicit", "active=predicted", {2, 2, 2, 2}, {0.00045, 2.2e-05, 5.1e-07, 2e-05}},
    {"half-explicit-rk", "order=2", {2, 2, 2, 2}, {9.1e-05, 4.7e-06, 1.4e-06, 4.8e-06}},
    {"half-explicit-rk", "order=3", {3, 3, 3, 3}, {3.3e-06, 4.9e-08, 1.8e-09, 4.6e-08}},
    {"half-explicit-rk", "order=4", {4, 4, 4, 4}, {2.9e-08, 1e-10, 1e-10, 1e-10}},
    {"half-explicit-rk", "order=5", {5, 5, 5, 5}, {1e-10, 1e-10, 1e-10, 1e-10}},
    {"ggl-projection", NULL, {1, 1, 1, 1}, {0.025, 0.002, 0.00073, 0.0018}},
    {"ggl-projection", "local=paper", {1, 1, 1, 1}, {0.025, 0.004, 0.0013, 0.0036}},
    {"ggl-midpoint", NULL, {2, 2, 2, 2}, {0.00059, 2e-05, 5.2e-07, 2.3e-05}},
    {"ggl-midpoint", "local=paper", {2, 1, 1, 1}, {0.00059, 0.0043, 0.001, 0.0038}},
    {"ggl-midpoint", "active=end", {2, 2, 2, 2}, {0.00059, 2e-05, 5.2e-07, 2.3e-05}},
    {"ggl-midpoint", "levels=velocity", {2, 2, 2, 2}, {0.00059, 2.1e-05, 6.7e-07, 2.3e-05}},
    {"ggl-alpha", NULL, {2, 2, 1, 2}, {0.00052, 1.4e-05, 0.00048, 1.3e-05}},
    {"ggl-alpha", "rho=0.3", {2, 2, 1, 2}, {0.00063, 1.8e-05, 0.00048, 1.7e-05}},
    {"ggl-alpha", "newton=sequential", {2, 2, 1, 2}, {0.00052, 1.4e-05, 0.00048, 1.3e-05}},
    {"newmark", NULL, {2, 1, 1, 1}, {0.00052, 0.0001, 0.00048, 0.00019}},
    {"newmark", "beta=0.3", {2, 1, 1, 1}, {0.00044, 0.0001, 0.00048, 0.00019}},
    {"newmark", "contact=velocity", {2, 2, 2, 2}, {0.00052, 1.3e-05, 2.7e-05, 1.3e-05}},
    {"newmark", "active=half", {2, 1, 1, 1}, {0.00052, 0.0001, 0.00048, 0.00019}},
    {"hht", NULL, {2, 1, 1, 1}, {0.00058, 0.00011, 0.00048, 0.00019}},
    {"generalized-alpha", NULL, {2, 1, 1, 1}, {0.00052, 0.0001, 0.00048, 0.00019}},
    {"dg-minus", "order=0", {1, 1, 1, 1}, {0.023, 0.0048, 0.0012, 0.0049}},
    {"dg-minus", "order=1", {2, 2, 2, 2}, {0.00045, 1.5e-05, 2.1e-06, 1.4e-05}},
    {"dg-minus", "order=2", {4, 4, 4, 4}, {1.1e-08, 1.7e-10, 1e-10, 1.2e-10}},
    {"dg-plus", "order=0", {1, 1, 1, 1}, {0.023, 0.0049, 0.00052, 0.005}},
    {"dg-plus", "order=1", {2, 2, 2, 2}, {0.00042, 1.5e-05, 2.1e-06, 1.4e-05}},
    {"dg-plus", "order=2", {4, 4, 4, 4}, {1.1e-08, 1.7e-10, 1e-10, 1.2e-10}},
    {"dg-plus", "order=3", {4, 4, 4, 4}, {2.8e-09, 1e-10, 1e-10, 1e-10}},
};

// Errors with 40 and 80 steps, against the motion to 1e-12; below 1e-10 they are those of rounding and of the
// reference.
static void every_variant_has_its_order(void **state) {
    (void)state;
    int wrong = 0;
    static const struct {
        const char *name, *text;
        double end;
    } motions[] = {{"smooth", smooth, 0.4}, {"constrained", constrained, 0.4}, {"bowl", bowl, 0.16}, {"two", two, 0.4}};
    for (size_t k = 0; k < COUNT(motions); ++k) {
        const double end = motions[k].end;
        carom_model *m = good(motions[k].text);
        const point exact = end_of(m, "event-driven", "rtol=1e-12", 0.1, end);
        for (size_t j = 0; j < COUNT(variants); ++j) {
            const point a = end_of(m, variants[j].scheme, variants[j].option, end / 40, end),
                        b = end_of(m, variants[j].scheme, variants[j].option, end / 80, end);
            const double e = apart(&a, &exact), f = apart(&b, &exact);
            const int p = variants[j].order[k];
            if (f <= variants[j].most[k] && (f < 1e-10 || log2(e / f) > p - 0.35)) continue;
            ++wrong;
            print_error("%s, %s %s: errors %.2e, %.2e, order %.2f instead of %d, at most %.2e expected\n",
                        motions[k].name, variants[j].scheme, variants[j].option ? variants[j].option : "", e, f,
                        log2(e / f), p, variants[j].most[k]);
        }
        carom_model_destroy(m);
    }
    if (wrong) fail_msg("%d differ", wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(newton_converges_quadratically),
                                       cmocka_unit_test(every_variant_has_its_order)};
    return cmocka_run_group_tests_name("jacobians", tests, NULL, NULL);
}
