// two_ways.c: one system, given twice: by functions in C, and as text.
//
// A mass on a spring that hits a stop at the rest length of its spring: q'' = -q, q >= 0, restitution 1/2.  Both ways
// make a carom_system, which is all that a scheme sees.  The exact motion is q = |cos t|/2^n after n impacts.
//
//     cc two_ways.c $(pkg-config --cflags --libs carom) -lm && ./a.out
#include <carom/carom.h>
#include <carom/system.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// -- by functions ----------------------------------------------------------------------------------------------

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    *carom_matrix_entry(M, 0, 0) = 1;
    return CAROM_OK;
}

static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)v;
    f[0] = -q[0];
    return CAROM_OK;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[0];
    return CAROM_OK;
}

// The direction of the gap: dg/dq = 1.  A scheme asks only for the contacts that it needs.
static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    if (L->nb > 0) L->W.a[0] = 1;
    return CAROM_OK;
}

static carom_status energy(const void *model, void *work, double t, const double *q, const double *v, double *kinetic,
                           double *potential) {
    (void)model, (void)work, (void)t;
    *kinetic = 0.5 * v[0] * v[0];
    *potential = 0.5 * q[0] * q[0];
    return CAROM_OK;
}

// -- as text -----------------------------------------------------------------------------------------------------

static const char TEXT[] = "carom: 1\n"
                           "name: Impacting oscillator\n"
                           "coordinates:\n"
                           "  q: {at: 1}\n"
                           "energy:\n"
                           "  kinetic: 1/2*q'^2\n"
                           "  potential: 1/2*q^2\n"
                           "contacts:\n"
                           "  stop: {gap: q, restitution: 1/2}\n";

// -- both run the same way -------------------------------------------------------------------------------------

typedef struct result {
    double q, v, impacts;
} result;

static int run(const char *way, const carom_system *system, const double *q0, const double *v0, result *r) {
    carom_error err;
    carom_sim_def def = carom_sim_default();
    def.system = system;
    def.scheme = "moreau-jean";
    def.h = 1e-3;
    def.t_end = 10;
    def.q0 = q0;
    def.v0 = v0;
    carom_sim *sim = carom_sim_create(&def, &err);
    const bool done = sim && carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK;
    carom_ledger *ledger = done ? carom_ledger_of_sim(sim, &err) : NULL;
    if (!ledger) {
        fprintf(stderr, "%s: %s\n", way, err.text);
        carom_sim_destroy(sim);
        return 1;
    }
    const carom_now now = carom_sim_now(sim);
    r->q = now.q[0];
    r->v = now.v[0];
    r->impacts = carom_ledger_number(ledger, "impacts");
    printf("%-9s q(10) = %.15f  v(10) = %.15f  impacts %g  energy %.6f -> %.6f\n", way, r->q, r->v, r->impacts,
           carom_ledger_number(ledger, "energy.start"), carom_ledger_number(ledger, "energy.end"));
    carom_ledger_free(ledger);
    carom_sim_destroy(sim);
    return 0;
}

int main(void) {
    const carom_contact stop = {.restitution = 0.5};
    carom_system system = carom_system_default(1, 1, 0, 1); // 1 position, 1 velocity, no joints, 1 contact
    system.contacts = &stop;
    system.mass = mass;
    system.force = force;
    system.gaps = gaps;
    system.directions = directions;
    system.energy = energy;

    carom_error err;
    const carom_model_def def = {.text = TEXT, .length = strlen(TEXT), .file = "two_ways"};
    carom_model *model = carom_model_create(&def, &err);
    if (!model) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const double q0 = 1, v0 = 0;
    result by_functions, as_text;
    int failed = run("functions", &system, &q0, &v0, &by_functions);
    failed += run("text", carom_model_system(model), carom_model_q0(model), carom_model_v0(model), &as_text);
    carom_model_destroy(model);
    if (failed) return 1;

    // The same formulas in the same order: only derivatives by differences may leave a trace, below Newton's tolerance.
    const double difference = fmax(fabs(by_functions.q - as_text.q), fabs(by_functions.v - as_text.v));
    const double exact = fabs(cos(10.0)) / 8; // three impacts, at pi/2, 3 pi/2, 5 pi/2
    printf("difference %.1e; exact q(10) = %.6f\n", difference, exact);
    return difference <= 1e-10 && by_functions.impacts == 3 && fabs(by_functions.q - exact) < 1e-2 ? 0 : 1;
}
