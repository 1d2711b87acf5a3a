// test_margin.c: closed contacts whose reaction, friction or slip reaches zero inside a step and comes back: limits by hand.
#include "model_text.h"
#include "schemes.h"

static int changes(const char *text, const char *scheme, carom_event_kind kind) {
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, 0.01, 1);
    int n = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        for (int i = 0; i < carom_sim_now(sim).nevents; ++i) n += carom_sim_now(sim).events[i].kind == kind;
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return n;
}

// `format` with x = limit (1 +- part): the change happens beyond the limit, `all` times with event-driven and at least once with the others, and never before it.
static void check(const char *format, double limit, double part, carom_event_kind kind, int all) {
    static const char *const schemes[] = {"event-driven", "mixed", "auto"};
    char text[600];
    for (size_t k = 0; k < 3; ++k)
        for (int side = -1; side <= 1; side += 2) {
            snprintf(text, sizeof text, format, limit * (1 + side * part));
            const int n = changes(text, schemes[k], kind);
            if (side < 0 ? n > 0 : k == 0 ? n != all : n == 0) fail_msg("%s: %d changes at %.17g\n%s", schemes[k], n, limit * (1 + side * part), text);
        }
}

// A ball on a table at A sin(w t) leaves where A w^2 > g, at every crest: t = (pi/2 + 2 pi k)/w, five times in the first second.
static void lift_off(void **state) {
    (void)state;
    check("carom: 1\nparameters: {A: %.17g, w: 30}\ncoordinates: {y: {at: 0, rate: A*w}}\nenergy: {kinetic: y'^2/2, potential: 9.81*y}\n"
          "contacts: {table: {gap: y - A*sin(w*t), restitution: 0}}\n", 9.81 / 900, 1e-8, CAROM_OPEN, 5);
}

// A block held by friction slips where a |sin(w t)| > mu g: six crests.
static void slip(void **state) {
    (void)state;
    check("carom: 1\nparameters: {a: %.17g}\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: x'^2/2 + y'^2/2, potential: 10*y}\nforces: {x: a*sin(20*t)}\n"
          "contacts: {table: {gap: y, slip: x, friction: 0.5, restitution: 0}}\n", 5, 1e-8, CAROM_SLIP, 6);
}

// x' = 1 - b (1 - cos(20 t)) while the block slides: it comes to rest where 2 b > 1.
static void stick(void **state) {
    (void)state;
    check("carom: 1\nparameters: {b: %.17g}\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: x'^2/2 + y'^2/2, potential: 10*y}\n"
          "forces: {x: 1 - 20*b*sin(20*t)}\ncontacts: {table: {gap: y, slip: x, friction: 0.1, restitution: 0}}\n", 0.5, 1e-5, CAROM_STICK, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lift_off), cmocka_unit_test(slip), cmocka_unit_test(stick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
