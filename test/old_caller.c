// old_caller.c: a program that was compiled when structs of the headers had one field less, with the library of today.
//
// Its headers are made by old_headers.awk.  Behind every struct that the library fills stands a guard.  The program
// gets right numbers, and no guard is touched.
#include <carom/carom.h>
#include <carom/build.h>
#include <carom/layout.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GUARD = 1024 };
static int faults;

static void check(bool fine, const char *what) {
    if (fine) return;
    printf("%s\n", what);
    ++faults;
}

static bool whole(const unsigned char *guard) {
    for (int i = 0; i < GUARD; ++i)
        if (guard[i] != 0xa5) return false;
    return true;
}

// A struct that the library fills, and its guard.
#define GUARDED(type, name)                                                                                            \
    struct { type x; unsigned char guard[GUARD]; } name;                                                               \
    memset(&name, 0xa5, sizeof name)
#define UNTOUCHED(name, type)                                                                                          \
    check(whole(name.guard), #type ": the library wrote beyond its end");                                              \
    check(sizeof(type) < carom_layout_size(#type), #type " is not shorter than that of the library")

static const char text[] = "carom: 1\n"
                           "parameters: {k: 4, c: 0.2}\n"
                           "coordinates: {x: {at: 1}}\n"
                           "energy: {kinetic: 1/2*x'^2, potential: 1/2*k*x^2}\n"
                           "forces: {x: -c*x' + cos(t)}\n"
                           "contacts: {stop: {gap: x + 5, restitution: 1/2}}\n"
                           "simulation: {scheme: event-driven, step: 0.01, end: 2}\n";
static const carom_model_def source = {.text = text, .length = sizeof text - 1, .file = "old"};

static void run(const carom_model *model) {
    carom_error err;
    GUARDED(carom_run, settings);
    const carom_run_given given = carom_run_nothing();
    check(carom_run_resolve(&settings.x, model, &given, &err) == CAROM_OK, "settings are not resolved");
    UNTOUCHED(settings, carom_run);
    GUARDED(carom_sim_def, def);
    def.x = carom_run_sim(&settings.x, model);
    UNTOUCHED(def, carom_sim_def);
    carom_sim *sim = carom_sim_create(&def.x, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) {
        check(false, err.text);
        return;
    }
    GUARDED(carom_now, now);
    now.x = carom_sim_now(sim);
    UNTOUCHED(now, carom_now);
    check(fabs(now.x.t - 2) < 1e-12, "the run does not end at 2");
    carom_ledger *ledger = carom_ledger_of_sim(sim, &err);
    check(carom_ledger_number(ledger, "energy.start") == 2, "energy.start is not 2 J");
    check(carom_ledger_number(ledger, "impacts") == 0, "there are impacts");
    check(isnan(carom_ledger_number(ledger, "of a later version")), "a number for an unknown entry");
    carom_warning warnings[CAROM_WARNINGS];
    check(carom_sim_warnings(sim, ledger, warnings) == 0, "there are warnings");
    carom_ledger_free(ledger);
    carom_sim_destroy(sim);
    carom_run_free(&settings.x);
}

static void record(const carom_model *model) {
    carom_error err;
    carom_sim_def def = carom_sim_default();
    def.system = carom_model_system(model), def.q0 = carom_model_q0(model), def.v0 = carom_model_v0(model);
    def.scheme = "half-explicit", def.h = 0.01, def.t_end = 1;
    carom_sim *sim = carom_sim_create(&def, &err);
    GUARDED(carom_record_def, to);
    to.x = carom_record_default();
    check(whole(to.guard), "carom_record_def: the library wrote beyond its end");
    to.x.model = model, to.x.sim = sim, to.x.memory = true, to.x.step = def.h, to.x.end = def.t_end, to.x.every = 1;
    carom_record *r = sim ? carom_record_create(&to.x, &err) : NULL;
    if (!r || carom_sim_run(sim, carom_record_step, r, &err) != CAROM_OK ||
        carom_record_finish(r, "done", NULL, &err) != CAROM_OK) {
        check(false, err.text);
        return;
    }
    carom_result *result = carom_record_result(r, &err);
    check(result && carom_result_rows(result) == 101, "not 101 rows");
    carom_ledger *ledger = carom_ledger_of_result(result, &err);
    check(ledger && carom_ledger_number(ledger, "steps") == 100, "not 100 steps");
    carom_ledger_free(ledger);
    carom_result_close(result);
    carom_record_destroy(r);
    carom_sim_destroy(sim);
}

// x' = v, v' = -k x - c v + cos t: one orbit, stable, with multipliers whose product is exp(-c 2 pi).
static void dynamics(const carom_model *model) {
    carom_error err;
    GUARDED(carom_orbit, orbit);
    const carom_orbit_def at = {
        .model = source, .run = carom_run_nothing(), .period = "2*pi", .guess = NAN, .energy = NAN};
    if (carom_orbit_find(&orbit.x, &at, &err) != CAROM_OK) check(false, err.text);
    UNTOUCHED(orbit, carom_orbit);
    const double a = hypot(orbit.x.re[0], orbit.x.im[0]), b = hypot(orbit.x.re[1], orbit.x.im[1]);
    check(fabs(a * b / exp(-0.2 * 2 * acos(-1)) - 1) < 1e-5, "wrong multipliers");
    carom_orbit_free(&orbit.x);
    UNTOUCHED(orbit, carom_orbit);

    GUARDED(carom_modes, modes);
    const double rest[1] = {0};
    if (carom_modes_find(&modes.x, model, &(carom_modes_def){.q = rest, .open = true}, &err) != CAROM_OK)
        check(false, err.text);
    check(whole(modes.guard), "carom_modes: the library wrote beyond its end");
    check(modes.x.count == 1 && fabs(modes.x.mode[0].re + 0.1) < 1e-6, "wrong mode");
    carom_modes_free(&modes.x);

    GUARDED(carom_gradient, gradient);
    carom_gradient_def of = {.model = source, .run = carom_run_nothing(), .of = "x"};
    of.by = (const char *const[]){"k", NULL};
    of.run.end = 1;
    if (carom_gradient_find(&gradient.x, &of, &err) != CAROM_OK) check(false, err.text);
    UNTOUCHED(gradient, carom_gradient);
    check(gradient.x.n == 1 && gradient.x.gradient[0] < 0, "a stiffer spring does not shorten x(1)");
    carom_gradient_free(&gradient.x);
}

static void compare(const carom_model *model) {
    carom_error err;
    GUARDED(carom_compare_def, def);
    def.x = carom_compare_default();
    check(whole(def.guard), "carom_compare_def: the library wrote beyond its end");
    def.x.model = model, def.x.end = 1;
    def.x.schemes = (const char *const[]){"moreau-midpoint", NULL};
    def.x.steps = (const double[]){0.02, 0.01}, def.x.nsteps = 2;
    def.x.reference = "half-explicit:0.0005";
    check(carom_compare_norm(&def.x, "linf", &err) == CAROM_OK && whole(def.guard), "carom_compare_norm()");
    carom_compare *c = carom_compare_create(&def.x, &err);
    if (!c || carom_compare_run(c, NULL, &err) != CAROM_OK) {
        check(false, err.text);
        return;
    }
    GUARDED(carom_compare_row, row);
    row.x = carom_compare_row_at(c, 0, 1);
    UNTOUCHED(row, carom_compare_row);
    check(row.x.step == 0.01 && row.x.steps == 100, "wrong row");
    carom_compare_destroy(c);
}

static void build(void) {
    carom_error err;
    carom_build *b = carom_build_create("old");
    carom_build_planar(b, &(carom_planar_def){.name = "disc", .mass = 2, .inertia = 1});
    carom_model *model = carom_build_model(b, &err);
    if (!model) check(false, err.text);
    check(model && carom_model_count(model).coordinates == 3, "a planar body has not three coordinates");
    carom_model_destroy(model);
    carom_build_destroy(b);
}

int main(void) {
    carom_error err;
    carom_model *model = carom_model_create(&source, &err);
    if (!model) return printf("%s\n", err.text), 1;
    run(model);
    record(model);
    dynamics(model);
    compare(model);
    build();
    carom_model_destroy(model);
    printf("%d faults\n", faults);
    return faults ? 1 : 0;
}
