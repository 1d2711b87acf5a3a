// fuzz_differential.c: what should agree: two schemes that locate events, schemes of second order with half the step,
// and tape against compiled code.
//
// Small models whose coefficients the input decides: one to three coordinates, a quartic potential, damping, a mass
// that depends on the position, at most one wall.
#include "fuzz.h"
#include <carom/carom.h>
#include <carom/compile.h>
#include <carom/event.h>
#include <math.h>

static const double END = 0.4;

typedef struct motion {
    bool done;
    double x[6]; // q, v
    double e;    // largest energy
    double gap;  // smallest approach at an impact
    long impacts, accumulations;
} motion;

static motion move(const carom_model *m, const char *scheme, const char *option, double h) {
    motion r = {.gap = INFINITY};
    carom_error err = {0};
    const char *const options[] = {option, NULL};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.schemes = carom_schemes(), d.scheme = scheme, d.options = options;
    d.h = h, d.t_end = END, d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    PROMISE(sim, "%s: %s", scheme, err.text);
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && !carom_sim_done(sim)) {
        status = carom_sim_step(sim, &err);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; status == CAROM_OK && i < now.nevents; ++i)
            if (now.events[i].kind == CAROM_IMPACT) r.gap = fmin(r.gap, -now.events[i].before), ++r.impacts;
    }
    carom_ledger l = {0};
    r.done = status == CAROM_OK && carom_sim_ledger(sim, &l, &err) == CAROM_OK;
    r.accumulations = l.accumulations, r.e = l.kinetic;
    const int n = d.system->nv;
    memcpy(r.x, carom_sim_now(sim).q, (size_t)n * sizeof(double));
    memcpy(r.x + n, carom_sim_now(sim).v, (size_t)n * sizeof(double));
    carom_sim_destroy(sim);
    return r;
}

static double apart(const motion *a, const motion *b, int n) {
    double d = 0;
    for (int i = 0; i < 2 * n; ++i) d = fmax(d, fabs(a->x[i] - b->x[i]));
    return d;
}

// The model that the bytes decide; true: it has a wall.
static bool write_model(choices *c, char *text, size_t size, int n) {
    static const char *const name[] = {"x", "y", "z"};
    char *p = text, *const end = text + size;
    const bool wall = below(c, 2), coupled = below(c, 2);
    p += snprintf(p, (size_t)(end - p), "carom: 1\ncoordinates: {");
    for (int i = 0; i < n; ++i)
        p += snprintf(p, (size_t)(end - p), "%s%s: {at: %.4f, rate: %.4f}", i ? ", " : "", name[i], real_of(c),
                      2 * real_of(c));
    p += snprintf(p, (size_t)(end - p), "}\nenergy:\n  kinetic: ");
    for (int i = 0; i < n; ++i)
        p += snprintf(p, (size_t)(end - p), "%s(%.4f + %.4f*sin(%s))*%s'^2/2", i ? " + " : "", 1.5 + real_of(c),
                      coupled ? 0.3 * real_of(c) : 0.0, name[(i + 1) % n], name[i]);
    p += snprintf(p, (size_t)(end - p), "\n  potential: ");
    for (int i = 0; i < n; ++i)
        p += snprintf(p, (size_t)(end - p), "%s%.4f*%s + %.4f*%s^2 + %.4f*%s^4 + %.4f*cos(%s - %s)", i ? " + " : "",
                      5 * real_of(c), name[i], 10 * real_of(c), name[i], 2 * fabs(real_of(c)), name[i], real_of(c),
                      name[i], name[(i + 1) % n]);
    p += snprintf(p, (size_t)(end - p), "\nforces: {x: -%.4f*x' + %.4f*sin(7*t)}\n", fabs(real_of(c)), real_of(c));
    if (wall)
        snprintf(p, (size_t)(end - p), "contacts: {wall: {gap: x + %.4f, restitution: %.4f}}\n",
                 1.3 + 0.25 * real_of(c), fmin(1, 0.6 + 0.4 * real_of(c)));
    return wall;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    choices c = {data, size};
    const unsigned first = byte_of(&c);
    const int n = 1 + (int)(first % 3);
    char text[2000];
    carom_error err = {0};
    const bool wall = write_model(&c, text, sizeof text, n);
    carom_model *m =
        carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err);
    PROMISE(m, "%s\n%s", err.text, text);
    const motion a = move(m, "event-driven", "rtol=1e-10", 0.05), b = move(m, "mixed", NULL, 1e-3);
    PROMISE(a.done && b.done, "a run failed:\n%s", text);
    const double scale = 1 + sqrt(a.e); // speeds of unit masses
    // Where a wall is just touched, or met again and again, motions part.
    const bool plain = a.impacts <= 4 && !(a.gap < 0.1) && a.accumulations == 0;
    if (plain)
        PROMISE(a.impacts == b.impacts && apart(&a, &b, n) < 1e-5 * scale,
                "event-driven and mixed differ by %g (%ld, %ld impacts):\n%s", apart(&a, &b, n), a.impacts, b.impacts,
                text);
    if (!wall) {
        static const struct {
            const char *scheme;
            double order;
        } others[] = {{"newmark", 2}, {"moreau-midpoint", 1}, {"half-explicit", 1}, {"generalized-alpha", 2}};
        for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
            const motion coarse = move(m, others[i].scheme, NULL, 2e-3), fine = move(m, others[i].scheme, NULL, 5e-4);
            const double e = apart(&a, &coarse, n), f = apart(&a, &fine, n);
            // To its order, or so small that errors of several orders cancel.
            const double small = others[i].order == 1 ? 1e-4 : 1e-6;
            PROMISE(f < small * scale || f < 1.6 * e * pow(0.25, others[i].order),
                    "%s: %g with 2 ms, %g with 0.5 ms:\n%s", others[i].scheme, e, f, text);
        }
    }
    if (first >= 250) { // a compiler is slow
        bool compiled = false;
        PROMISE(carom_model_compile(m, CAROM_COMPILE_ON, 0, &compiled, &err) == CAROM_OK && compiled, "%s", err.text);
        const motion again = move(m, "mixed", NULL, 1e-3);
        PROMISE(memcmp(again.x, b.x, 2 * (size_t)n * sizeof(double)) == 0, "compiled code gives other bits:\n%s", text);
    }
    carom_model_destroy(m);
    return 0;
}
