// test_hidden_state.c: state that survives a step is state that is saved, for every scheme on every shipped model.
//
// A run goes on from saved states in simulations whose memory is full of other things: one that has come from
// elsewhere, takes the states in reverse order and so remembers a later time always; and one that is new.  Every step
// must give the same bits as the run that never stopped.  A cache may save work, but not change a bit.  With "long" the
// steps are many, and begin at several times of the run; "long 2/8" is the second of eight parts, which have models and
// starts in turn.  Each start is reported when it is done.
#define _POSIX_C_SOURCE 200809L
#include "model_text.h"
#include <carom/event.h>
#include <dirent.h>
#include <time.h>

enum { MOST_STEPS = 200 };

typedef struct track { // of a run that never stopped
    int n;             // steps that succeeded
    size_t bytes[MOST_STEPS + 1];
    unsigned char *state[MOST_STEPS + 1]; // n + 1 of them; a list of contacts may grow
    bool failed;       // the next step did not
} track;

static int steps_wanted, starts_wanted = 1;
static bool at_length; // "long"
static int part = 1, parts = 1, unit; // of models and starts, counted in order of their names
static bool adaptive;
static int pairs, faults;

static carom_sim *make(const carom_model *m, const char *scheme, double h, double end, const double *q, const double *v,
                       carom_error *err) {
    const carom_model_run file = carom_model_simulation(m);
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m);
    d.schemes = carom_schemes();
    d.scheme = scheme;
    static const char *const on[] = {"adaptive=on", NULL};
    d.options = adaptive ? on : file.scheme && strcmp(file.scheme, scheme) == 0 ? file.options : NULL;
    d.h = h;
    d.t_end = end;
    d.q0 = q;
    d.v0 = v;
    return carom_sim_create(&d, err);
}

static void keep(const carom_sim *sim, track *t, int i) {
    const void *state = carom_sim_state(sim, &t->bytes[i]);
    t->state[i] = malloc(t->bytes[i]);
    memcpy(t->state[i], state, t->bytes[i]);
}

static track walk(carom_sim *sim) {
    track t = {0};
    carom_error err;
    keep(sim, &t, 0);
    while (t.n < steps_wanted && !t.failed && !carom_sim_done(sim)) {
        t.failed = carom_sim_step(sim, &err) != CAROM_OK;
        if (!t.failed) keep(sim, &t, ++t.n);
    }
    return t;
}

// One step from state i gives state i + 1, or fails as it did.
static bool same_step(carom_sim *sim, const track *t, int i) {
    carom_error err;
    size_t bytes = 0;
    if (carom_sim_restore(sim, t->state[i], t->bytes[i], &err) != CAROM_OK) return false;
    const bool failed = carom_sim_step(sim, &err) != CAROM_OK;
    if (i == t->n) return failed;
    const void *state = carom_sim_state(sim, &bytes);
    return !failed && bytes == t->bytes[i + 1] && memcmp(state, t->state[i + 1], bytes) == 0;
}

static void fault(const char *model, const char *scheme, const char *where, int i) {
    ++faults;
    print_error("%s, %s%s: %s, step %d differs\n", model, scheme, adaptive ? ", adaptive" : "", where, i);
}

static void compare(const char *name, const carom_model *m, const char *scheme, double h, double end, const double *q,
                    const double *v) {
    carom_error err;
    const carom_system *sys = carom_model_system(m);
    carom_sim *sim = make(m, scheme, h, end, q, v, &err);
    if (!sim) return; // it lacks something
    ++pairs;
    const track t = walk(sim);
    const int last = t.failed ? t.n : t.n - 1;
    double *other = malloc(sizeof *other * ((size_t)sys->nv + 1));
    for (int i = 0; i < sys->nv; ++i) other[i] = 0.9 * v[i] + 1e-3 * (1 + i % 3);
    carom_sim *stranger = make(m, scheme, h, end, q, other, &err), *fresh = make(m, scheme, h, end, q, v, &err);
    if (!stranger) stranger = make(m, scheme, h, end, q, v, &err);
    for (int i = 0; i < 3 && !carom_sim_done(stranger); ++i)
        if (carom_sim_step(stranger, &err) != CAROM_OK) break;
    for (int i = last; i >= 0; --i)
        if (!same_step(stranger, &t, i)) {
            fault(name, scheme, "in a simulation that was elsewhere", i);
            break;
        }
    for (int i = t.n / 2; i <= last; ++i)
        if (!same_step(fresh, &t, i)) {
            fault(name, scheme, "in a new simulation", i);
            break;
        }
    free(other);
    for (int i = 0; i <= t.n; ++i) free(t.state[i]);
    carom_sim_destroy(fresh);
    carom_sim_destroy(stranger);
    carom_sim_destroy(sim);
}

// States of the model's own run where contacts are busy.
static void states_of(const carom_model *m, int k, double *q, double *v) {
    const carom_system *sys = carom_model_system(m);
    const carom_model_run file = carom_model_simulation(m);
    carom_error err;
    carom_copy(q, carom_model_q0(m), sys->nq);
    carom_copy(v, carom_model_v0(m), sys->nv);
    carom_sim *sim = make(m, file.scheme, file.step, file.end, q, v, &err);
    const double until = k * file.end / (starts_wanted + 1.5);
    long most = at_length ? 4000 / (1 + sys->nc) + 50 : 200 / (1 + sys->nc) + 20;
    while (sim && carom_sim_now(sim).t < until && most-- > 0)
        if (carom_sim_step(sim, &err) != CAROM_OK) break;
    if (!sim) return;
    carom_copy(q, carom_sim_now(sim).q, sys->nq);
    carom_copy(v, carom_sim_now(sim).v, sys->nv);
    carom_sim_destroy(sim);
}

static void one_model(const char *name) {
    carom_model *m = shipped_model(name);
    const carom_system *sys = carom_model_system(m);
    const carom_model_run file = carom_model_simulation(m);
    double *q = calloc((size_t)sys->nq + 1, sizeof *q), *v = calloc((size_t)sys->nv + 1, sizeof *v);
    const bool large = sys->nv > 12 || sys->nc > 6;
    steps_wanted = at_length ? (large ? 40 : MOST_STEPS) : large ? 2 : 8;
    for (int k = large && !at_length ? 1 : 0; k <= starts_wanted; ++k) {
        if (unit++ % parts != part - 1) continue;
        const clock_t began = clock();
        states_of(m, k, q, v);
        int turn = unit; // of a large model a third of the schemes, another one for the next
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            if (large && !at_length && ++turn % 3 != 0) continue;
            if (sys->nc > 50 && (*s)->controls_own_steps && !at_length) continue; // a step is long, and full of events
            compare(name, m, (*s)->name, file.step, file.end, q, v);
            adaptive = true;
            if (k == 1 && !large && sys->nc <= 4) compare(name, m, (*s)->name, file.step, file.end, q, v);
            adaptive = false;
        }
        const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
        if (at_length || seconds > 2) print_message("%s, start %d: %.0f s\n", name, k, seconds);
    }
    free(q);
    free(v);
    carom_model_destroy(m);
}

#define ENDING ".yaml"
static int is_model(const struct dirent *e) {
    const size_t length = strlen(e->d_name);
    return length > strlen(ENDING) && strcmp(e->d_name + length - strlen(ENDING), ENDING) == 0;
}

// Every file of models/, or those whose names are given.
static void nothing_survives_that_is_not_saved(void **state) {
    char *const *names = *state;
    if (names && *names) {
        for (; *names; ++names) one_model(*names);
    } else {
        struct dirent **file;
        const int n = scandir(CAROM_SOURCE_DIR "/models", &file, is_model, alphasort);
        assert_true(n > 0);
        for (int i = 0; i < n; ++i) {
            file[i]->d_name[strlen(file[i]->d_name) - strlen(ENDING)] = 0;
            // two steps of the track took a minute; drum and hopper have contacts that come and go, as the arch
            const char *name = file[i]->d_name;
            const bool slow = strncmp(name, "arch", 4) == 0 || strcmp(name, "crawler-track") == 0;
            if (at_length || !slow) one_model(name);
            free(file[i]);
        }
        free(file);
        assert_true(parts * pairs > 300);
    }
    print_message("%d pairs of scheme, model and start\n", pairs);
    if (faults) fail_msg("%d runs keep state that is not saved", faults);
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    if (at_length) starts_wanted = 4;
    const bool a_part = argc > 2 && sscanf(argv[2], "%d/%d", &part, &parts) == 2;
    if (part < 1 || part > parts) return fprintf(stderr, "no part %d of %d\n", part, parts), 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    char **names = argv + 1 + at_length + a_part;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(nothing_survives_that_is_not_saved, names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
