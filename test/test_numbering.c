// test_numbering.c: contacts have their numbers behind the constraints, and directions theirs behind those of contacts
// before.  Constraints and contacts of coordinates that nothing else touches change no motion: located events are the
// same with none and with some of them.
#include "model_text.h"

enum { MOST = 400 };
typedef struct list {
    carom_event event[MOST];
    int n;
    double q[4];
} list;

// A model, with %s where coordinates, energies, constraints and contacts are added.
typedef struct setting { const char *name, *text; double end; } setting;
static const setting SETTINGS[] = {
    // Bounces on a rough floor that accumulate, slides, meets a wall, sticks.
    {"thrown",
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 1, rate: 0}%s}\nenergy: {kinetic: x'^2/2 + y'^2/2%s, "
     "potential: 9.81*y%s}\n%s"
     "contacts: {%stop: {gap: 5 - y}, floor: {gap: y, slip: x, friction: 0.3, restitution: 0.5}, side: {gap: 1.2 - x, "
     "restitution: 0.8}}\n",
     3},
    // A rod falls on both ends, which hit in turn, faster and faster.
    {"rod",
     "carom: 1\ncoordinates: {y: {at: 0.3, rate: 0}, th: {at: 0.1, rate: 1}%s}\nenergy: {kinetic: y'^2/2 + th'^2/6%s, "
     "potential: 9.81*y%s}\n%s"
     "contacts: {%sfar: {gap: 4 - y}, left: {gap: y - th, restitution: 0.4}, right: {gap: y + th, restitution: 0.4}}\n",
     2},
    // A door that is closed for a time, and a wall behind it that moves.
    {"door",
     "carom: 1\ncoordinates: {x: {at: 0.7, rate: -1}, y: {at: 0.1, rate: 0}%s}\nenergy: {kinetic: x'^2/2 + y'^2/2%s, "
     "potential: y^2 + 2*x^2%s}\n%s"
     "contacts: {%swall: {gap: x + 0.5 + 0.1*sin(3*t), restitution: 0.9}, back: {gap: 0.8 - x + y, restitution: 0.7}, "
     "door: {gap: x - 0.2, closes while: 1.5 - t, restitution: 0.6}}\n",
     12},
    // Loads that begin at zero: t lifts y at once, and -t presses x down until its spring is stronger.
    {"loads",
     "carom: 1\ncoordinates: {x: 0, y: 0%s}\nenergy: {kinetic: x'^2/2 + y'^2/2%s, potential: 0%s}\nforces: {x: 2*t^2 - "
     "t, y: t}\n%s"
     "contacts: {%sdown: {gap: x, restitution: 0.5}, up: {gap: y, restitution: 0.5}, top: {gap: 1/10 - y, restitution: "
     "0.5}, end: {gap: 2/10 - x, restitution: 0.5}}\n",
     1.5},
    // Slip in the plane of a floor that turns towards a force, stops and begins again.
    {"puck",
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: {at: 0, rate: 0.3}, z: 0%s}\nenergy: {kinetic: (x'^2 + y'^2 + "
     "z'^2)/2%s, potential: 0%s}\nforces: {x: '0.6 + if(t > 1, 2*t, 0)', z: -10}\n%s"
     "contacts: {%sfar: {gap: 3 - x}, floor: {gap: z, slip: [x, y], friction: 0.1}, side: {gap: 0.5 - x, restitution: "
     "0.5}}\n",
     2},
};

enum { NOTHING, CONSTRAINTS, CONTACTS }; // that are added; contacts are open, at rest on a floor, at rest on a rough
                                         // one and pushed
enum { ADDED = 3 };

static list events_of(const setting *x, const char *scheme, double h, int added) {
    static const char *const more[][5] = {
        {"", "", "", "", ""},
        {", z0: 0, w0: 0", " + z0'^2/2 + w0'^2/2", "", "constraints: {rail: z0, bar: w0 + z0}\n", ""},
        {", z0: 0, w0: 0, s0: 0", " + z0'^2/2 + w0'^2/2 + s0'^2/2", " + 2*z0 + 3*w0 - 0.3*s0", "",
         "away: {gap: z0 + 7}, lies: {gap: z0}, holds: {gap: w0, slip: s0, friction: 0.5}, "}};
    char text[2000];
    snprintf(text, sizeof text, x->text, more[added][0], more[added][1], more[added][2], more[added][3],
             more[added][4]);
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, h, x->end);
    carom_error err = {0};
    const int first = added == CONTACTS ? ADDED : 0; // of the contacts that all have
    list l = {.n = 0};
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s, %s: %s", x->name, scheme, err.text);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents && l.n < MOST; ++i) {
            l.event[l.n] = now.events[i], l.event[l.n].contact -= first;
            l.n += l.event[l.n].contact >= 0;
        }
        for (int i = 0; i < 2; ++i) l.q[i] = now.q[i], l.q[2 + i] = now.v[i];
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return l;
}

// Behind constraints, steps of equal length differ by rounding, those of event-driven (rtol = 1e-12) and auto by their
// tolerances, which motion and impacts make larger.  Other contacts change the time T of the run, and with it the
// interval h (h/T)^4 in which mixed and splitting enclose events: T > 0.2 s.
static const struct {
    const char *scheme;
    double h, accuracy[2];
} RUNS[] = {{"mixed", 0.01, {1e-12, 6e-8}},
            {"event-driven", 0.1, {1e-8, 1e-8}},
            {"splitting", 0.01, {1e-12, 6e-8}},
            {"auto", 0.1, {1e-6, 1e-6}}};

static void others_change_no_event(int added) {
    for (int i = 0; i < 4; ++i)
        for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; ++k) {
            const double accuracy = RUNS[i].accuracy[added == CONTACTS];
            const list a = events_of(SETTINGS + k, RUNS[i].scheme, RUNS[i].h, NOTHING),
                       b = events_of(SETTINGS + k, RUNS[i].scheme, RUNS[i].h, added);
            if (a.n < 4 || a.n != b.n)
                fail_msg("%s, %s: %d events, and %d beside others", RUNS[i].scheme, SETTINGS[k].name, a.n, b.n);
            for (int j = 0; j < a.n; ++j) {
                const carom_event *x = a.event + j, *y = b.event + j;
                if (x->kind != y->kind || x->contact != y->contact || !(fabs(x->t - y->t) <= accuracy))
                    fail_msg("%s, %s, event %d: kind %d of contact %lld at %.12g, and kind %d of contact %lld at %.12g",
                             RUNS[i].scheme, SETTINGS[k].name, j, x->kind, x->contact, x->t, y->kind, y->contact, y->t);
            }
            for (int j = 0; j < 4; ++j) assert_close(a.q[j], b.q[j], 10 * accuracy); // speeds are below 10 m/s
        }
}

static void constraints_of_nothing_change_no_event(void **state) {
    (void)state;
    others_change_no_event(CONSTRAINTS);
}

static void contacts_of_others_change_no_event(void **state) {
    (void)state;
    others_change_no_event(CONTACTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constraints_of_nothing_change_no_event),
                                       cmocka_unit_test(contacts_of_others_change_no_event)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
