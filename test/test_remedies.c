// test_remedies.c: what a warning tells to try helps on that very model: the warning is read, each of its remedies is
// applied, and the warning is gone.
#include "model_text.h"
#include <carom/event.h>
#include <carom/run.h>

typedef struct one {
    const char *kind, *says;  // of the warning; a part of its text
    const char *scheme, *option;
    double h, end;
    const char *text;         // of the model
    const char *instead[2];   // for remedies inside the model: a part of its text, and what stands there instead
} one;

#define OSCILLATOR(k, c)                                                                                               \
    "coordinates: {x: 1}\nenergy: {kinetic: x'^2/2, potential: " #k "*x^2/2}\nforces: {x: -" #c "*x'}\n"
#define WALL                                                                                                           \
    "coordinates: {x: {at: 1, rate: -10}}\nenergy: {kinetic: x'^2/2}\ncontacts: {w: {gap: x, restitution: 0}}\n"
#define PULSE                                                                                                          \
    "coordinates: {x: 0.05}\nenergy: {kinetic: x'^2/2}\ncontacts: {c: {gap: 'x - 0.1*exp(-((t-0.5037)/1e-2)^2)', "     \
    "restitution: 0}}\n"
#define JOINT                                                                                                          \
    "bodies: {b: {mass: 1, inertia: [0.1, 1, 1], at: [1, 0, -1]}}\ngravity: [0, 0, -9.81]\njoints: {k: {type: "        \
    "spherical, between: [ground, b], at: [0, 0, 0]}}\nforces: {b.x: -1e4*b.x, b.z: -1e4*b.z}\n"
#define BARRIER                                                                                                        \
    "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2, potential: '0.8*exp(-((x-0.5037)/2e-3)^2)'}\n"
#define ROD                                                                                                            \
    "coordinates: {x: {at: 0, rate: 0.3}, y: {at: sin(0.6) + 1e-3, rate: -0.5}, th: {at: 0.6, rate: 0}}\nenergy: "     \
    "{kinetic: (x'^2 + y'^2 + 0.1*th'^2)/2}\n"                                                                         \
    "contacts: {tip: {gap: y - sin(th), slip: x - cos(th), restitution: 1, friction: 5, impact law: newton}}\n"

#define RATTLE                                                                                                         \
    "coordinates: {x: {at: 0, rate: 1}, y: 0.5, z: {at: 1.1, rate: -1}}\nenergy: {kinetic: (x'^2 + 0.1*y'^2 + "        \
    "z'^2)/2}\ncontacts: {a: {gap: y - x, restitution: 0.8}, b: {gap: z - y, restitution: 0.8}}\n"

// Forces that a step does not see: a bell in time, one that brakes, a wall of tanh.
#define FORCE_PULSE "coordinates: {x: 0}\nenergy: {kinetic: x'^2/2}\nforces: {x: '282*exp(-((t-0.5037)/2e-3)^2)'}\n"
#define BRAKE                                                                                                          \
    "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2}\nforces: {x: "                                      \
    "\"-300*exp(-((x-0.5123)/2e-3)^2)*x'\"}\n"
#define STEP "coordinates: {x: {at: 0, rate: 2}}\nenergy: {kinetic: x'^2, potential: '6*(1+tanh((x-0.7113)/1e-3))'}\n"
// A chain of ten links over a peg, pulled by 100 kg.
#define CHAIN                                                                                                          \
    "gravity: [0, 0, -9.81]\nparameters: {n: 10, l: 0.1, M: 100}\nshapes: {peg: {capsule: [0.1, 2], axis: [0,1,0], "   \
    "at: "                                                                                                             \
    "[0.5, 0, -0.102]}}\nbodies:\n  c: {repeat: n, body: {mass: 0.1, inertia: [1e-4,1e-4,1e-5], at: [l*(i+1/2), 0, "   \
    "0.02], shape: {capsule: [0.02, l], axis: [1,0,0]}}}\n  m: {mass: M, inertia: [1,1,1], at: [l*n, 0, 0.02-0.15], "  \
    "shape: {sphere: 0.1}}\njoints:\n  hook: {type: spherical, between: [ground, \"c[0]\"], at: [0,0,0.02]}\n  pin: "  \
    "{repeat: n-1, joint: {type: spherical, between: [\"c[i]\",\"c[i+1]\"], at: [l*(i+1),0,0.02]}}\n  load: {type: "   \
    "spherical, between: [\"c[n-1]\", m], at: [l*n,0,0.02]}\ncontacts: {p: {between: [[c, m], peg], friction: 0.3}}\n"

static const one cases[] = {
    {"energy-created",
     "Newton's law",
     "moreau-jean",
     NULL,
     1e-5,
     4e-3,
     ROD,
     {"impact law: newton", "impact law: energetic"}},
    {"unaccounted-energy", "Do not trust this result", "half-explicit", NULL, 0.0101, 0.3, OSCILLATOR(4e4, 0), {0}},
    {"unaccounted-energy", "the error of first order", "moreau-explicit", NULL, 0.02, 10, OSCILLATOR(4, 0), {0}},
    {"unaccounted-energy", "unaccounted for (lost)", "moreau-jean", "theta=1", 0.01, 5, OSCILLATOR(100, 0), {0}},
    {"penetration", "overlap by", "moreau-jean", NULL, 0.15, 1.5, WALL, {0}},
    {"penetration", "overlap by", "half-explicit", NULL, 0.07, 1.5, WALL, {0}},
    {"penetration", "overlap by", "moreau-jean", NULL, 0.01, 1, PULSE, {0}},
    {"unaccounted-energy", "forces or directions change too much", "moreau-jean", NULL, 0.01, 1, BARRIER, {0}},
    {"unaccounted-energy", "forces or directions change too much", "alpha-forces", NULL, 0.01, 1, BARRIER, {0}},
    {"resolution", "forces change inside steps", "moreau-midpoint", NULL, 0.02, 1, BARRIER, {0}},
    {"resolution", "forces change inside steps", "half-explicit", NULL, 0.005, 1, BARRIER, {0}},
    {"resolution", "forces change inside steps", "newmark", NULL, 0.01, 1, FORCE_PULSE, {0}},
    {"resolution", "forces change inside steps", "half-explicit-rk", NULL, 0.02, 1, BRAKE, {0}},
    {"unaccounted-energy", "forces or directions change too much", "moreau-jean", NULL, 2e-3, 1, CHAIN, {0}},
    {"unaccounted-energy", "forces or directions change too much", "newmark", NULL, 2e-3, 1, CHAIN, {0}},
    {"resolution", "forces change inside steps", "dg-plus", NULL, 0.005, 0.7, STEP, {0}},
    {"drift", "joints drift by", "moreau-midpoint", NULL, 2e-3, 1, CHAIN, {0}},
    {"drift", "joints drift by", "moreau-jean", "theta=1", 1e-3, 2, JOINT, {0}},
    {"drift", "joints drift by", "half-explicit", NULL, 1e-2, 10, JOINT, {0}},
    {"resolution", "damps the model's vibration", "moreau-jean", "theta=1", 0.01, 1, OSCILLATOR(400, 0), {0}},
    {"resolution", "damps the model's vibration", "moreau-jean", "theta=1", 0.01, 10, OSCILLATOR(1e16, 0), {0}},
    {"resolution", "not stable", "half-explicit", NULL, 0.0101, 0.3, OSCILLATOR(4e4, 0), {0}},
    {"resolution", "not stable", "moreau-explicit", NULL, 0.01, 0.3, OSCILLATOR(1, 300), {0}},
    {"resolution", "longer than the run", "moreau-jean", NULL, 0.5, 0.1, OSCILLATOR(1, 0), {0}},
    {"resolution", "has a pulse", "moreau-jean", NULL, 0.07, 1, PULSE, {0}},
    {"resolution", "impacts follow each other", "half-explicit", NULL, 0.02, 1, RATTLE, {0}},
    {"resolution", "impacts follow each other", "moreau-jean", NULL, 0.02, 1, RATTLE, {0}},
};

enum { MOST_STEPS = 2000000 };

// Does the run have a warning of this kind?  Its text.
static bool warns(const one *x, const char *text, const char *scheme, const char *const *options, double h, char *said,
                  size_t size) {
    carom_model *m = good(text);
    carom_error err = {0};
    const carom_run run = {.scheme = scheme, .options = (const char **)options, .step = h, .end = x->end};
    const carom_sim_def def = carom_run_sim(&run, m);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) fail_msg("%s, step %g: %s", scheme, h, err.text);
    const carom_status status = carom_sim_run(sim, NULL, NULL, &err);
    carom_ledger l;
    carom_warning list[CAROM_WARNINGS];
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    const int n = carom_sim_warnings(sim, &l, list);
    bool found = false;
    if (status != CAROM_OK && !said) fail_msg("%s, step %g: %s", scheme, h, err.text); // a remedy must not fail
    for (int i = 0; i < n && !found; ++i)
        if (strcmp(list[i].kind, x->kind) == 0) {
            found = true;
            if (said) snprintf(said, size, "%s", list[i].text);
        }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return found;
}

// The schemes in the first parentheses from `at` on that follow the word scheme.
static int try_schemes(const one *x, const char *text, const char *remedies, double h) {
    int tried = 0;
    for (const char *at = remedies; (at = strstr(at, "scheme"));) {
        const char *open = strchr(at, '('), *close = open ? strchr(open, ')') : NULL;
        at += strlen("scheme");
        if (!close || strcspn(at, ";.") < (size_t)(open - at)) continue;
        char names[200];
        snprintf(names, sizeof names, "%.*s", (int)(close - open - 1), open + 1);
        for (char *name = strtok(names, ", "); name; name = strtok(NULL, ", "), ++tried)
            if (warns(x, text, name, NULL, h, NULL, 0))
                fail_msg("%s of %s, step %g: %s does not help", x->kind, x->scheme, x->h, name);
        at = close;
    }
    return tried;
}

static int try_steps(const one *x, const char *text, const char *remedies, const char *const *options) {
    const char *below = strstr(remedies, "a step below "), *smaller = strstr(remedies, "a smaller step");
    if (below) {
        const double h = 0.99 * strtod(below + strlen("a step below "), NULL);
        if (!(h > 0)) fail_msg("%s of %s: %s", x->kind, x->scheme, remedies);
        if (x->end / h < MOST_STEPS && warns(x, text, x->scheme, options, h, NULL, 0))
            fail_msg("%s of %s, step %g: a step of %g does not help", x->kind, x->scheme, x->h, h);
        return 1;
    }
    if (!smaller) return 0;
    double h = x->h;
    bool still = true;
    for (int i = 0; i < 12 && still; ++i) h /= 2, still = warns(x, text, x->scheme, options, h, NULL, 0);
    if (still) fail_msg("%s of %s, step %g: smaller steps do not help, down to %g", x->kind, x->scheme, x->h, h);
    return 1;
}

static bool at_length; // every case, else each second one

static void every_remedy_helps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const one *x = &cases[i];
        if (!at_length && i % (BRIEF ? 3 : 2) != 0) continue;
        char text[2400], other[2400], said[sizeof((carom_warning *)0)->text];
        const char *const options[] = {x->option, NULL};
        snprintf(text, sizeof text, "carom: 1\n%s", x->text);
        if (!warns(x, text, x->scheme, options, x->h, said, sizeof said))
            fail_msg("case %zu: %s does not warn of %s", i, x->scheme, x->kind);
        if (!strstr(said, x->says)) fail_msg("case %zu: %s", i, said);
        const char *remedies = strstr(said, "Try ") ? strstr(said, "Try ") : strstr(said, "try ");
        int tried = 0;
        if (x->instead[0]) {
            char *at = strstr(strcpy(other, text), x->instead[0]);
            assert_non_null(strstr(said, x->instead[1]));
            snprintf(at, sizeof other - (size_t)(at - other), "%s%s", x->instead[1],
                     strstr(text, x->instead[0]) + strlen(x->instead[0]));
            if (warns(x, other, x->scheme, options, x->h, NULL, 0))
                fail_msg("case %zu: %s does not help", i, x->instead[1]);
            tried = 1;
        }
        if (remedies) tried += try_steps(x, text, remedies, options) + try_schemes(x, text, remedies, x->h);
        if (tried == 0) fail_msg("case %zu: no remedy in: %s", i, said);
    }
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_remedy_helps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
