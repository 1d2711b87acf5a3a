// test_grain.c: friction by direction is one law, whatever makes the contact: a gap, formulas of two shapes, a search.
#include "ends.h"
#include "model/model.h"

#define EACH(s) int i_ = 0; (s = scheme_with(&i_, CAROM_NO_FRICTION | CAROM_NO_IMPACTS));

#define BODY(inertia)                                                                                                  \
    "bodies: {a: {mass: 1, inertia: " inertia ", at: [0, 0, 0.02], axis: [0, 0, 1], angle: c, velocity: "              \
    "[u*cos(c) - w*sin(c), u*sin(c) + w*cos(c), 0], shape: {"
#define FLAT BODY("[0.003, 0.007, 0.01]")
#define ROUND BODY("[1e6, 1e6, 1e6]") // it does not roll
#define FLOOR "}}}\nshapes: {floor: {"
#define FRICTION "friction: {along: 0.1, across: 0.4, direction: [1, 0, 0], of: a}}}\n"
#define BOX "box: [0.3, 0.2, 0.04]"
#define HULL "hull: [[-0.1, -0.1, -0.02], [0.1, -0.1, -0.02], [0, 0.2, -0.02], [0, 0, 0.02]]"
#define SLAB "box: [9, 9, 1], at: [0, 0, -0.5]"
#define PLANE "plane: [0, 0, 1]"

// A block on a slope of angle b, whose grain is turned by c from where it would slide down, with speeds u along its
// grain and w across.
static const struct { const char *name, *model; bool searched; } kinds[] = {
    {"gap", "coordinates: {s: {rate: u}, n: {rate: w}, z: 0}\nenergy: {kinetic: 1/2*(s'^2 + n'^2 + z'^2), potential: "
     "9.81*(cos(b)*z - sin(b)*(cos(c)*s - sin(c)*n))}\ncontacts: {c: {gap: z, slip: [s, n], friction: [0.1, 0.4]}}\n"
     "outputs: {x: cos(c)*s - sin(c)*n, y: sin(c)*s + cos(c)*n, vx: cos(c)*s' - sin(c)*n', vy: sin(c)*s' + "
     "cos(c)*n'}\n",
     false},
    {"box", FLAT BOX FLOOR PLANE "}}\ncontacts: {c: {between: [a, floor], " FRICTION, false},
    {"sphere", ROUND "sphere: 0.02" FLOOR PLANE "}}\ncontacts: {c: {between: [a, floor], " FRICTION, false},
    {"listed box", FLAT BOX FLOOR SLAB "}, p: {box: [1, 1, 1], at: [0, 0, 9]}, q: {box: [1, 1, 1], at: [0, 0, 20]}}\n"
     "contacts: {c: {between: [[p, floor, q], [a]], " FRICTION, true},
    {"hull", FLAT HULL FLOOR PLANE "}}\ncontacts: {c: {between: [[a], [floor]], " FRICTION, true},
    {"hull on box", FLAT HULL FLOOR SLAB "}}\ncontacts: {c: {among: [floor, a], " FRICTION, true},
    {"ellipsoid", ROUND "ellipsoid: [0.3, 0.2, 0.02]" FLOOR PLANE "}}\ncontacts: {c: {between: [[a], [floor]], "
     FRICTION, true},
    {"heights", ROUND "sphere: 0.02" FLOOR "heights: [[0, 0], [0, 0]], cell: 18}}\ncontacts: {c: "
     "{between: [[a], [floor]], " FRICTION, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// x, y, x', y' of a kind at the end.
static end slide(int k, double b, double c, double u, double w, const char *scheme, double h, double t) {
    char text[2000];
    snprintf(text, sizeof text, "carom: 1\nparameters: {b: %g, c: %g, u: %g, w: %g}\n%s%s", b, c, u, w,
             k ? "gravity: [9.81*sin(b), 0, -9.81*cos(b)]\n" : "", kinds[k].model);
    return run(text, scheme, h, t, k ? NAMES("a.x", "a.y", "a.vx", "a.vy") : NAMES("x", "y", "vx", "vy"));
}

// (FV-6)  From rest on a slope the block keeps its direction e with x'' = g sin b + f and the friction
// f = -N (a^2 e_1, b^2 e_2)/|(a e_1, b e_2)| in axes of the grain, which takes N |(a e_1, b e_2)| of every metre.
static void from_rest(const char *kind, const carom_scheme *z, const end *x, double b, double c, double t) {
    const double N = 9.81 * cos(b), way = hypot(x->x[0], x->x[1]);
    const double e[2] = {(cos(c) * x->x[0] + sin(c) * x->x[1]) / way, (cos(c) * x->x[1] - sin(c) * x->x[0]) / way};
    const double size = hypot(0.1 * e[0], 0.4 * e[1]), f[2] = {-N * 0.01 * e[0] / size, -N * 0.16 * e[1] / size};
    const double a[2] = {9.81 * sin(b) + cos(c) * f[0] - sin(c) * f[1], sin(c) * f[0] + cos(c) * f[1]};
    for (int i = 0; i < 2; ++i) {
        if (fabs(x->x[2 + i] - a[i] * t) > 1e-9)
            fail_msg("%s, %s: %.12g, not %.12g", kind, z->name, x->x[2 + i], a[i] * t);
        if (fabs(x->x[i] - a[i] * t * t / 2) > 1e-2) fail_msg("%s, %s: at %.12g", kind, z->name, x->x[i]);
    }
    if (fabs(x->ledger.energy.friction - N * size * way) > 1e-2)
        fail_msg("%s, %s: friction takes %g", kind, z->name, x->ledger.energy.friction);
}

// On a level floor from speeds (1, 1) along and across: w = u^(b^2/a^2), and what is lost is kinetic energy.
static void to_rest(const char *kind, const carom_scheme *z, const end *x, double c) {
    const double u = cos(c) * x->x[2] + sin(c) * x->x[3], w = cos(c) * x->x[3] - sin(c) * x->x[2];
    if (!(u > 0.5 && u < 0.99)) fail_msg("%s, %s: along %g", kind, z->name, u);
    if (fabs(w - pow(u, 16)) > fine(z, 2e-6, 1e-2)) fail_msg("%s, %s: %g across, not %g", kind, z->name, w, pow(u, 16));
    if (fabs(x->ledger.energy.friction - (2 - u * u - w * w) / 2) > 1e-6)
        fail_msg("%s, %s: friction takes %.12g of %.12g", kind, z->name, x->ledger.energy.friction,
                 (2 - u * u - w * w) / 2);
}

static void blocks_slide_by_their_grain(void **state) {
    (void)state;
    const double b = 0.6, c = 0.7;
    const carom_scheme *z;
    for (EACH(z)) {
        end first[2];
        for (int k = 0; k < KINDS; ++k) {
            const end x[2] = {slide(k, b, c, 0, 0, z->name, 1e-2, 0.2), slide(k, 0, c, 1, 1, z->name, 2e-3, 0.1)};
            from_rest(kinds[k].name, z, &x[0], b, c, 0.2);
            to_rest(kinds[k].name, z, &x[1], c);
            for (int r = 0; r < 2; ++r)
                for (int i = 0; i < 4 && k; ++i)
                    // its two levels share friction among corners in their own way
                    if (fabs(x[r].x[i] - first[r].x[i]) > (strcmp(z->name, "dg-plus") == 0 ? 1e-3 : 1e-6))
                        fail_msg("%s, %s: number %d is %.12g, of a gap %.12g", kinds[k].name, z->name, i, x[r].x[i],
                                 first[r].x[i]);
            if (!k) memcpy(first, x, sizeof first);
        }
    }
}

// A ball that rolls on a plank that turns on a smooth floor; the plank is a box or a hull, the grain is its own, the
// ball's or the ground's, and either body comes first.
static end roll(bool first, bool searched, const char *of, const char *scheme) {
    static const char ball[] = "ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0.1, 0.2, 0.2], velocity: [1, "
                               "0.3, 0], spin: [1, 2, 5], shape: {sphere: 0.1}}",
                      plank[] = "plank: {mass: 2, inertia: [0.2, 0.2, 0.3], at: [0, 0, 0.05], spin: [0, 0, 3], shape: ",
                      box[] = "{box: [1, 1, 0.1]}}",
                      hull[] = "{hull: [[-0.5, -0.5, 0.05], [0.5, -0.5, 0.05], [0.5, 0.5, 0.05], [-0.5, 0.5, 0.05], "
                               "[-0.5, -0.5, -0.05], [0.5, -0.5, -0.05], [0.5, 0.5, -0.05], [-0.5, 0.5, -0.05]]}}";
    const char *board = searched ? hull : box;
    char text[2000];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -10]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n  %s%s\n  %s%s\n"
             "contacts: {s: {between: [[plank], [floor]]}, c: {between: [[ball], [plank]], friction: {along: 0.05, "
             "across: 0.3, direction: [1, 0.2, 0.1], of: %s}}}\noutputs: {both: ball.x + plank.x}\n",
             first ? ball : plank, first ? "" : board, first ? plank : ball, first ? board : "", of);
    return run(text, scheme, 2e-3, 0.1,
               NAMES("ball.x", "ball.y", "ball.vx", "ball.wx", "ball.wz", "plank.x", "plank.y", "plank.wz"));
}

static void grain_turns_with_its_body(void **state) {
    (void)state;
    static const char *const scheme[] = {"moreau-midpoint", "ggl-alpha", "event-driven"},
                             *const of[] = {"plank", "ball", "ground"};
    for (int z = 0; z < 3; ++z)
        for (int o = 0; o < 3; ++o) {
            end x[4];
            for (int k = 0; k < 4; ++k) x[k] = roll(k & 1, k & 2, of[o], scheme[z]);
            for (int k = 1; k < 4; ++k)
                for (int i = 0; i < 8; ++i)
                    if (fabs(x[k].x[i] - x[0].x[i]) > 1e-7)
                        fail_msg("%s, %s, %d: number %d is %.12g, not %.12g", scheme[z], of[o], k, i, x[k].x[i],
                                 x[0].x[i]);
        }
}

// (CC-2)  Friction that is regularised has the same directions: slips u along and w across change by -a^2 u and -b^2 w
// over one size, whatever the normal force and the stiction speed, so w = u^(b^2/a^2) at all times.
#define SOFT                                                                                                           \
    "stiffness: 1e5, damping: 1, stiction speed: 1e-2, friction: {along: 0.1, across: 0.4, direction: [1, 0, 0], of: " \
    "a}}}\n"
static void yielding_contacts_have_a_grain(void **state) {
    (void)state;
    static const struct { const char *name, *model; bool columns; } soft[] = {
        {"gap", "coordinates: {s: {rate: u}, n: {rate: w}, z: 0}\nenergy: {kinetic: 1/2*(s'^2 + n'^2 + z'^2), "
         "potential: 9.81*z}\ncontacts: {c: {gap: z, slip: [s, n], friction: [0.1, 0.4], stiffness: 1e5, damping: 1, "
         "stiction speed: 1e-2}}\noutputs: {vx: cos(c)*s' - sin(c)*n', vy: sin(c)*s' + cos(c)*n'}\n", true},
        {"sphere", ROUND "sphere: 0.02" FLOOR PLANE "}}\ncontacts: {c: {between: [a, floor], " SOFT, true},
        {"listed sphere", ROUND "sphere: 0.02" FLOOR PLANE "}, far: {" HULL ", at: [0, 0, 9]}}\n"
         "contacts: {c: {between: [[a], [floor, far]], " SOFT, true},
        {"ellipsoid", ROUND "ellipsoid: [0.3, 0.2, 0.02]" FLOOR PLANE "}}\ncontacts: {c: {between: [[a], [floor]], "
         SOFT, false},
        {"heights", ROUND "sphere: 0.02" FLOOR "heights: [[0, 0], [0, 0]], cell: 18}}\ncontacts: {c: {between: [[a], "
         "[floor]], " SOFT, false}};
    static const char *const scheme[] = {"ggl-alpha", "event-driven", "newmark"};
    for (int z = 0; z < 3; ++z) {
        end first = {0};
        for (size_t k = 0; k < sizeof soft / sizeof *soft; ++k) {
            char text[2000];
            snprintf(text, sizeof text, "carom: 1\nparameters: {c: 0.7, u: 1, w: 1}\n%s%s",
                     k ? "gravity: [0, 0, -9.81]\n" : "", soft[k].model);
            const end x = run(text, scheme[z], 1e-3, 0.1,
                              soft[k].columns ? NAMES(k ? "a.vx" : "vx", k ? "a.vy" : "vy", "c.slip1'",
                                                      "c.slip2'", "c.friction1", "c.friction2")
                                              : NAMES("a.vx", "a.vy"));
            const double u = cos(0.7) * x.x[0] + sin(0.7) * x.x[1], w = cos(0.7) * x.x[1] - sin(0.7) * x.x[0];
            if (!(u > 0.5 && u < 0.99) || fabs(w - pow(u, 16)) > 1e-4)
                fail_msg("%s, %s: %g along, %g across, not %g", soft[k].name, scheme[z], u, w, pow(u, 16));
            if (soft[k].columns && (fabs(x.x[2] - u) > 1e-9 || fabs(x.x[3] - w) > 1e-9 || !(x.x[4] < 0) ||
                                    fabs(x.x[5] * u - 16 * x.x[4] * w) > 1e-9 * fabs(x.x[5])))
                fail_msg("%s, %s: slips %g, %g, friction %g, %g", soft[k].name, scheme[z], x.x[2], x.x[3], x.x[4],
                         x.x[5]);
            if (k == 0) first = x;
            for (int i = 0; i < 2; ++i)
                if (fabs(x.x[i] - first.x[i]) > 1e-6)
                    fail_msg("%s, %s: %.12g, of a gap %.12g", soft[k].name, scheme[z], x.x[i], first.x[i]);
        }
    }
}

// A direction that is the normal of a closed contact is an error, and so are two coefficients where one is needed.
static void what_has_no_grain(void **state) {
    (void)state;
    static const char *const shape[] = {"sphere: 0.02", HULL, "ellipsoid: [0.3, 0.2, 0.02]"};
    for (int k = 0; k < 3; ++k) {
        char text[700];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.02], shape: {%s}}}\nshapes: {floor: "
                 "{plane: [0, 0, 1]}}\ncontacts: {c: {between: [[a], [floor]], friction: {along: 0.1, across: 0.4, "
                 "direction: [0, 0, 1]%s}}}\n",
                 shape[k], k ? ", of: a" : "");
        assert_null(
            carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err));
        if (!strstr(err.text, "give one that lies in the tangential plane")) fail_msg("%s", err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_slide_by_their_grain),
                                       cmocka_unit_test(grain_turns_with_its_body),
                                       cmocka_unit_test(yielding_contacts_have_a_grain),
                                       cmocka_unit_test(what_has_no_grain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
