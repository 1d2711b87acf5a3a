// test_fmu_calls.c: every function of FMI 2 and 3 in every state of an FMU, in its right place and in wrong ones;
// descriptions by the standard's rules.
#define _POSIX_C_SOURCE 200809L
#include "fmu/export.h"
#include "fmi_log.h"
#include "fmi_rules.h"

// The force ends at t = F: a step beyond it is discarded.
static const char model[] = "carom: 1\nname: \"Calls <&> \\x07\"\nparameters: {m: 2 kg, twice: 2*m}\ninputs: {F: 1, "
                            "held: {signal: sin(t)}}\ncoordinates: {x: {at: 1 m}}\nenergy: {kinetic: 1/2*m*x'^2}\n"
                            "forces: {x: sqrt(F - t) - 10 + 0*held}\ncontacts: {floor: {gap: x, restitution: "
                            "0.5}}\ncontrollers: {c: {sample: 0.01, states: {s: s + x}, outputs: {u: s}}}\n"
                            "outputs: {height: x}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 1}\n";

static const char *write_model(const char *text) {
    static const char path[] = RIG_PLACE "calls.yaml";
    rig_write(path, text, strlen(text));
    return path;
}

// -- FMI 3 ------------------------------------------------------------------------------------------------------------

enum { INSTANTIATED, INITIALIZING, EVENT, STEPPING, INTERMEDIATE, FAILED, TERMINATED, STATES };
#define IN(s) (1u << (s))

typedef int call_i(void *);
typedef int call_list(void *, const uint32_t *, size_t, void *, size_t);
typedef int call_clock(void *, const uint32_t *, size_t, void *);
typedef int call_two(void *, const uint32_t *, size_t, void *, void *);
typedef int call_three(void *, const uint32_t *, size_t, void *, void *, void *);
typedef int call_count(void *, size_t *);
typedef int call_numbers(void *, double *, size_t);
typedef int call_derivative(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, size_t,
                            double *, size_t);

// Where a call is allowed (IN ...) it succeeds, elsewhere it returns an error and says why; `NO`: an ability that this
// FMU does not have.
typedef struct call { const char *name, *form; unsigned allowed; } call;
enum { NO = 0, ALL = (1 << STATES) - 1, ANY = ALL & ~IN(INTERMEDIATE) };
static const call calls3[] = {
    {"EnterInitializationMode", "enter", IN(INSTANTIATED)},
    {"ExitInitializationMode", "i", IN(INITIALIZING)},
    {"EnterEventMode", "i", IN(STEPPING)},
    {"EnterStepMode", "i", IN(EVENT)},
    {"Terminate", "i", IN(EVENT) | IN(STEPPING) | IN(FAILED)},
    {"Reset", "i", ANY},
    {"UpdateDiscreteStates", "update", IN(EVENT)},
    {"EvaluateDiscreteStates", "i", IN(INITIALIZING) | IN(EVENT)},
    {"DoStep", "step", IN(STEPPING)},
    {"GetFloat64", "get", ALL & ~IN(INSTANTIATED)},
    {"SetFloat64", "set", IN(INSTANTIATED) | IN(INITIALIZING) | IN(EVENT) | IN(STEPPING)},
    {"SetDebugLogging", "log", ALL},
    {"GetFMUState", "save", ANY},
    {"SetFMUState", "restore", ANY},
    {"FreeFMUState", "drop", ALL},
    {"SerializedFMUStateSize", "size", ALL},
    {"SerializeFMUState", "write", ALL},
    {"DeserializeFMUState", "read", ALL},
    {"EnterConfigurationMode", "i", NO},
    {"ExitConfigurationMode", "i", NO},
    {"EnterContinuousTimeMode", "i", NO},
    {"GetFloat32", "list", NO},
    {"SetFloat32", "list", NO},
    {"GetInt8", "list", NO},
    {"SetInt8", "list", NO},
    {"GetUInt8", "list", NO},
    {"SetUInt8", "list", NO},
    {"GetInt16", "list", NO},
    {"SetInt16", "list", NO},
    {"GetUInt16", "list", NO},
    {"SetUInt16", "list", NO},
    {"GetInt32", "list", NO},
    {"SetInt32", "list", NO},
    {"GetUInt32", "list", NO},
    {"SetUInt32", "list", NO},
    {"GetInt64", "list", NO},
    {"SetInt64", "list", NO},
    {"GetUInt64", "list", NO},
    {"SetUInt64", "list", NO},
    {"GetBoolean", "list", NO},
    {"SetBoolean", "list", NO},
    {"GetString", "list", NO},
    {"SetString", "list", NO},
    {"GetBinary", "binary", NO},
    {"SetBinary", "binary", NO},
    {"GetClock", "clock", NO},
    {"SetClock", "clock", NO},
    {"GetShiftDecimal", "clock", NO},
    {"SetShiftDecimal", "clock", NO},
    {"SetIntervalDecimal", "clock", NO},
    {"GetIntervalDecimal", "two", NO},
    {"GetShiftFraction", "two", NO},
    {"SetShiftFraction", "two", NO},
    {"SetIntervalFraction", "two", NO},
    {"GetIntervalFraction", "three", NO},
    {"GetNumberOfEventIndicators", "count", NO},
    {"GetNumberOfContinuousStates", "count", NO},
    {"SetContinuousStates", "numbers", NO},
    {"GetContinuousStateDerivatives", "numbers", NO},
    {"GetEventIndicators", "numbers", NO},
    {"GetContinuousStates", "numbers", NO},
    {"GetNominalsOfContinuousStates", "numbers", NO},
    {"GetDirectionalDerivative", "derivative", NO},
    {"GetAdjointDerivative", "derivative", NO},
    {"SetTime", "time", NO},
    {"ActivateModelPartition", "partition", NO},
    {"CompletedIntegratorStep", "completed", NO},
    {"GetOutputDerivatives", "orders", NO},
    {"GetNumberOfVariableDependencies", "ncounts", NO},
    {"GetVariableDependencies", "dependencies", NO},
};
enum { CALLS3 = sizeof calls3 / sizeof *calls3 };

static struct world {
    rig *r;
    fmi3 f;
    void *i, *kept;
    void *function[CALLS3];
    double t;
    uint8_t bytes[20000];
    size_t size;
    int inside; // the call that the importer makes from inside a step; -1: none
    int answer;
} w;

#define AS(type) ((type *)function)

static int call3(int k) {
    const char *form = calls3[k].form;
    void *function = w.function[k], *fresh = NULL;
    uint32_t ref[2] = {0, rig_ref(w.r, "F")};
    double x[4] = {1, 1, 1, 1}, y;
    bool b[6];
    size_t n = 0;
    int32_t order[2] = {1, 1};
    char words[64] = {0};
    const char *const categories[] = {"logEvents"};
    const bool is_set = strcmp(form, "set") == 0;
    if (strcmp(form, "i") == 0) return AS(call_i)(w.i);
    if (strcmp(form, "enter") == 0) return w.f.enter(w.i, false, 0, 0, false, 0);
    if (strcmp(form, "update") == 0) return w.f.update(w.i, b, b + 1, b + 2, b + 3, b + 4, &y);
    if (strcmp(form, "step") == 0) return w.f.step(w.i, w.t, 0.004, true, b, b + 1, b + 2, &y);
    if (strcmp(form, "get") == 0) return w.f.get(w.i, ref, 2, x, 2);
    if (is_set) return w.f.set(w.i, ref + 1, 1, x, 1);
    if (strcmp(form, "log") == 0)
        return ((int (*)(void *, bool, size_t, const char *const *))function)(w.i, true, 1, categories);
    if (strcmp(form, "save") == 0 || strcmp(form, "drop") == 0) {
        const int status = w.f.save(w.i, &fresh), dropped = w.f.drop(w.i, &fresh);
        return strcmp(form, "save") == 0 ? status : dropped;
    }
    if (strcmp(form, "restore") == 0) return w.f.restore(w.i, w.kept);
    if (strcmp(form, "size") == 0) return w.f.size(w.i, w.kept, &n);
    if (strcmp(form, "write") == 0) return w.f.write(w.i, w.kept, w.bytes, w.size);
    if (strcmp(form, "read") == 0) {
        const int status = w.f.read(w.i, w.bytes, w.size, &fresh);
        w.f.drop(w.i, &fresh);
        return status;
    }
    if (strcmp(form, "list") == 0) return AS(call_list)(w.i, ref, 1, words, 1);
    if (strcmp(form, "binary") == 0)
        return ((int (*)(void *, const uint32_t *, size_t, size_t *, void *, size_t))function)(w.i, ref, 1, &n, words,
                                                                                               1);
    if (strcmp(form, "clock") == 0) return AS(call_clock)(w.i, ref, 1, words);
    if (strcmp(form, "two") == 0) return AS(call_two)(w.i, ref, 1, words, words + 16);
    if (strcmp(form, "three") == 0) return AS(call_three)(w.i, ref, 1, words, words + 16, words + 32);
    if (strcmp(form, "count") == 0) return AS(call_count)(w.i, &n);
    if (strcmp(form, "numbers") == 0) return AS(call_numbers)(w.i, x, 1);
    if (strcmp(form, "derivative") == 0) return AS(call_derivative)(w.i, ref, 1, ref, 1, x, 1, x + 1, 1);
    if (strcmp(form, "time") == 0) return ((int (*)(void *, double))function)(w.i, 0);
    if (strcmp(form, "partition") == 0) return ((int (*)(void *, uint32_t, double))function)(w.i, 0, 0);
    if (strcmp(form, "completed") == 0) return ((int (*)(void *, bool, bool *, bool *))function)(w.i, true, b, b + 1);
    if (strcmp(form, "orders") == 0)
        return ((int (*)(void *, const uint32_t *, size_t, const int32_t *, double *, size_t))function)(w.i, ref, 1,
                                                                                                        order, x, 1);
    if (strcmp(form, "ncounts") == 0) return ((int (*)(void *, uint32_t, size_t *))function)(w.i, 0, &n);
    assert_string_equal(form, "dependencies");
    size_t of[1], at[1];
    int kind[1];
    return ((int (*)(void *, uint32_t, size_t *, uint32_t *, size_t *, int *, size_t))function)(w.i, 0, of, ref, at,
                                                                                                kind, 1);
}

static void on_update(void *user, double t, bool set, bool get, bool finished, bool can_return, bool *requested,
                      double *at) {
    (void)user, (void)t, (void)set, (void)get, (void)finished, (void)can_return, (void)requested, (void)at;
    if (w.inside < 0) return;
    const int k = w.inside;
    w.inside = -1;
    log_text[0] = 0;
    w.answer = call3(k);
}

static void set_force(double F) {
    const uint32_t ref = rig_ref(w.r, "F");
    assert_int_equal(w.f.set(w.i, &ref, 1, &F, 1), 0);
}

static int do_step(void) {
    bool b[3];
    double last = w.t;
    const int status = w.f.step(w.i, w.t, 0.004, true, b, b + 1, b + 2, &last);
    w.t = last;
    return status;
}

static void reach(int state) {
    assert_int_equal(w.f.reset(w.i), 0);
    w.t = 0;
    if (state >= INITIALIZING) assert_int_equal(w.f.enter(w.i, false, 0, 0, false, 0), 0);
    if (state >= EVENT) assert_int_equal(w.f.exit(w.i), 0);
    if (state >= STEPPING) assert_int_equal(w.f.step_mode(w.i), 0);
    if (state >= STEPPING) assert_int_equal(do_step(), 0);
    if (state == FAILED) set_force(w.t + 0.002);
    if (state == FAILED) assert_int_equal(do_step(), 2);
    if (state == TERMINATED) assert_int_equal(w.f.terminate(w.i), 0);
}

static void open3(void) {
    w.r = rig_open("calls", write_model(model), 3, "2>/dev/null");
    w.f = rig_fmi3(w.r);
    for (int k = 0; k < CALLS3; ++k) {
        char name[80];
        snprintf(name, sizeof name, "fmi3%s", calls3[k].name);
        w.function[k] = rig_symbol(w.r, name);
    }
    w.inside = -1;
    w.i =
        w.f.instantiate("one", w.r->token, w.r->resources, false, false, true, true, NULL, 0, NULL, on_log, on_update);
    assert_non_null(w.i);
    reach(STEPPING);
    assert_int_equal(w.f.save(w.i, &w.kept), 0);
    assert_int_equal(w.f.size(w.i, w.kept, &w.size), 0);
    assert_true(w.size <= sizeof w.bytes);
    assert_int_equal(w.f.write(w.i, w.kept, w.bytes, w.size), 0);
}

static void close3(void) {
    w.f.drop(w.i, &w.kept);
    w.f.free(w.i);
    rig_close(w.r);
}

static void fmi3_calls_succeed_in_their_states_only(void **state) {
    (void)state;
    static const char *const names[] = {"instantiated",        "initialization mode", "event mode", "step mode",
                                        "intermediate update", "a discarded step",    "terminated"};
    open3();
    for (int at = 0; at < STATES; ++at)
        for (int k = 0; k < CALLS3; ++k) {
            reach(at == INTERMEDIATE ? STEPPING : at);
            if (at == INTERMEDIATE) {
                w.inside = k;
                w.answer = -1;
                assert_int_equal(do_step(), 0);
            } else {
                log_text[0] = 0;
                w.answer = call3(k);
            }
            const bool allowed = calls3[k].allowed & IN(at);
            if (w.answer != (allowed ? 0 : 3))
                fail_msg("fmi3%s in state %s returns %d", calls3[k].name, names[at], w.answer);
            if (!allowed && !log_text[0]) fail_msg("fmi3%s in state %s says nothing", calls3[k].name, names[at]);
        }
    close3();
}

static unsigned seed = 7;
static unsigned chance(unsigned n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

// Whatever came before, every call returns; a reset makes the FMU as good as new.
static void fmi3_calls_in_random_order_return(void **state) {
    (void)state;
    open3();
    double first[2] = {0}, again[2];
    const uint32_t ref[2] = {rig_ref(w.r, "x"), rig_ref(w.r, "x'")};
    reach(STEPPING);
    for (int k = 0; k < 120; ++k) assert_int_equal(do_step(), 0);
    assert_int_equal(w.f.get(w.i, ref, 2, first, 2), 0);
    assert_true(first[1] != 0);
    for (int k = 0; k < 4000; ++k) {
        const uint32_t time = 0;
        if (w.f.get(w.i, &time, 1, &w.t, 1) != 0) w.t = 0;
        if (chance(3) == 0) w.inside = (int)chance(CALLS3);
        const int status = call3((int)chance(chance(3) ? 18 : CALLS3)); // mostly what changes something
        if (status != 0 && status != 2 && status != 3) fail_msg("a call returns %d", status);
        if (chance(100) == 0) {
            w.f.free(w.i);
            const bool logs = chance(2), early = chance(2); // in this order
            w.i = w.f.instantiate("one", w.r->token, w.r->resources, false, logs, true, early, NULL, 0, NULL, on_log,
                                  on_update);
            assert_non_null(w.i);
        }
    }
    w.inside = -1;
    reach(STEPPING);
    for (int k = 0; k < 120; ++k) assert_int_equal(do_step(), 0);
    assert_int_equal(w.f.get(w.i, ref, 2, again, 2), 0);
    assert_memory_equal(again, first, sizeof first);
    close3();
}

// -- FMI 2 ------------------------------------------------------------------------------------------------------------

enum { SET_UP = EVENT }; // FMI 2 has no event mode; fmi2SetupExperiment instead
static const call calls2[] = {
    {"SetupExperiment", "setup", IN(INSTANTIATED) | IN(SET_UP)},
    {"EnterInitializationMode", "i", IN(SET_UP)},
    {"ExitInitializationMode", "i", IN(INITIALIZING)},
    {"Terminate", "i", IN(STEPPING) | IN(FAILED)},
    {"Reset", "i", ALL},
    {"DoStep", "step", IN(STEPPING)},
    {"GetReal", "get", ALL & ~IN(INSTANTIATED) & ~IN(SET_UP)},
    {"SetReal", "set", IN(INSTANTIATED) | IN(SET_UP) | IN(INITIALIZING) | IN(STEPPING)},
    {"SetDebugLogging", "log", ALL},
    {"GetFMUstate", "save", ALL},
    {"SetFMUstate", "restore", ALL},
    {"SerializedFMUstateSize", "size", ALL},
    {"SerializeFMUstate", "write", ALL},
    {"DeSerializeFMUstate", "read", ALL},
    {"GetInteger", "list", NO},
    {"SetInteger", "list", NO},
    {"GetBoolean", "list", NO},
    {"SetBoolean", "list", NO},
    {"GetString", "list", NO},
    {"SetString", "list", NO},
    {"GetDirectionalDerivative", "derivative", NO},
    {"SetRealInputDerivatives", "orders", NO},
    {"GetRealOutputDerivatives", "orders", NO},
    {"CancelStep", "i", NO},
    {"GetRealStatus", "last", ALL},
    {"GetStatus", "status", NO},
    {"GetIntegerStatus", "status", NO},
    {"GetBooleanStatus", "ended", ALL},
    {"GetStringStatus", "status", NO},
};
enum { CALLS2 = sizeof calls2 / sizeof *calls2 };

static struct world2 { rig *r; fmi2 f; void *c, *kept, *function[CALLS2]; double t; char bytes[20000]; size_t size; } v;

static int call2(int k) {
    const char *form = calls2[k].form;
    void *function = v.function[k], *fresh = NULL;
    const unsigned ref[2] = {0, rig_ref(v.r, "F")};
    double x[4] = {1, 1, 1, 1};
    size_t n = 0;
    int order[1] = {1};
    char words[64] = {0};
    const char *const categories[] = {"logEvents"};
    if (strcmp(form, "i") == 0) return AS(call_i)(v.c);
    if (strcmp(form, "setup") == 0) return v.f.setup(v.c, 0, 0, 0, 0, 0);
    if (strcmp(form, "step") == 0) return v.f.step(v.c, v.t, 0.004, 1);
    if (strcmp(form, "get") == 0) return v.f.get(v.c, ref, 2, x);
    if (strcmp(form, "set") == 0) return v.f.set(v.c, ref + 1, 1, x);
    if (strcmp(form, "log") == 0)
        return ((int (*)(void *, int, size_t, const char *const *))function)(v.c, 1, 1, categories);
    if (strcmp(form, "save") == 0 || strcmp(form, "read") == 0) {
        const int status = strcmp(form, "save") == 0 ? v.f.save(v.c, &fresh) : v.f.read(v.c, v.bytes, v.size, &fresh);
        v.f.drop(v.c, &fresh);
        return status;
    }
    if (strcmp(form, "restore") == 0) return v.f.restore(v.c, v.kept);
    if (strcmp(form, "size") == 0) return v.f.size(v.c, v.kept, &n);
    if (strcmp(form, "write") == 0) return v.f.write(v.c, v.kept, v.bytes, v.size);
    if (strcmp(form, "list") == 0)
        return ((int (*)(void *, const unsigned *, size_t, void *))function)(v.c, ref, 1, words);
    if (strcmp(form, "derivative") == 0)
        return ((int (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *,
                         double *))function)(v.c, ref, 1, ref, 1, x, x + 1);
    if (strcmp(form, "orders") == 0)
        return ((int (*)(void *, const unsigned *, size_t, const int *, double *))function)(v.c, ref, 1, order, x);
    if (strcmp(form, "last") == 0) return v.f.real_status(v.c, 2, x);
    return ((int (*)(void *, int, void *))function)(v.c, strcmp(form, "ended") == 0 ? 3 : 0, words);
}

static int do_step2(void) {
    const int status = v.f.step(v.c, v.t, 0.004, 1);
    assert_int_equal(v.f.real_status(v.c, 2, &v.t), 0);
    return status;
}

static void reach2(int state) {
    assert_int_equal(v.f.reset(v.c), 0);
    v.t = 0;
    if (state != INSTANTIATED) assert_int_equal(v.f.setup(v.c, 0, 0, 0, 0, 0), 0);
    if (state == INSTANTIATED || state == SET_UP) return;
    assert_int_equal(v.f.enter(v.c), 0);
    if (state == INITIALIZING) return;
    assert_int_equal(v.f.exit(v.c), 0);
    assert_int_equal(do_step2(), 0);
    const unsigned F = rig_ref(v.r, "F");
    const double soon = v.t + 0.002;
    if (state == FAILED) assert_int_equal(v.f.set(v.c, &F, 1, &soon), 0);
    if (state == FAILED) assert_int_equal(do_step2(), 2);
    if (state == TERMINATED) assert_int_equal(v.f.terminate(v.c), 0);
}

// FMI 2 knows no aarch64: importers look in two places.
static void folders_of_machines(void **state) {
    (void)state;
    static const struct {
        int version; const char *machine, *first, *second;
    } of[] = {{2, "x86_64-linux", "linux64", NULL},
              {2, "aarch64-linux", "linux64", "aarch64-linux"},
              {3, "x86_64-linux", "x86_64-linux", NULL},
              {3, "aarch64-linux", "aarch64-linux", NULL}};
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        assert_string_equal(carom_fmu_folder(of[i].version, of[i].machine, 0), of[i].first);
        const char *second = carom_fmu_folder(of[i].version, of[i].machine, 1);
        assert_true(of[i].second ? second && strcmp(second, of[i].second) == 0 : !second);
        assert_null(carom_fmu_folder(of[i].version, of[i].machine, 2));
    }
}

static void fmi2_calls_succeed_in_their_states_only(void **state) {
    (void)state;
    static const fmi2_callbacks callbacks = {.log = on_log2};
    static const int states[] = {INSTANTIATED, SET_UP, INITIALIZING, STEPPING, FAILED, TERMINATED};
    v.r = rig_open("calls", write_model(model), 2, "2>/dev/null");
    v.f = rig_fmi2(v.r);
    for (int k = 0; k < CALLS2; ++k) {
        char name[80];
        snprintf(name, sizeof name, "fmi2%s", calls2[k].name);
        v.function[k] = rig_symbol(v.r, name);
    }
    char uri[500];
    snprintf(uri, sizeof uri, "file://%s", v.r->resources);
    v.c = v.f.instantiate("one", 1, v.r->token, uri, &callbacks, 0, 0);
    assert_non_null(v.c);
    reach2(STEPPING);
    assert_int_equal(v.f.save(v.c, &v.kept), 0);
    assert_int_equal(v.f.size(v.c, v.kept, &v.size), 0);
    assert_true(v.size <= sizeof v.bytes);
    assert_int_equal(v.f.write(v.c, v.kept, v.bytes, v.size), 0);
    for (size_t at = 0; at < sizeof states / sizeof *states; ++at)
        for (int k = 0; k < CALLS2; ++k) {
            reach2(states[at]);
            log_text[0] = 0;
            const int answer = call2(k), allowed = (calls2[k].allowed & IN(states[at])) != 0;
            if (answer != (allowed ? 0 : 3) || (!allowed && !log_text[0]))
                fail_msg("fmi2%s in state %zu returns %d: %s", calls2[k].name, at, answer, log_text);
        }
    // Steps that are none, or would not end, are refused at once, and the next one goes on.
    static const double absurd[] = {0, -0.004, NAN, INFINITY, -INFINITY, 1e300, 1e9, 1e-300, 1e-25};
    reach2(STEPPING);
    for (size_t k = 0; k < sizeof absurd / sizeof *absurd; ++k) {
        log_text[0] = 0;
        const int status = v.f.step(v.c, v.t, absurd[k], 1);
        if (status != 3 || !strstr(log_text, "doStep from"))
            fail_msg("a step of %g returns %d: %s", absurd[k], status, log_text);
    }
    assert_int_equal(do_step2(), 0);
    for (int k = 0; k < 3000; ++k) {
        const unsigned time = 0;
        if (v.f.get(v.c, &time, 1, &v.t) != 0) v.t = 0;
        const int status = call2((int)chance(chance(3) ? 14 : CALLS2));
        if (status != 0 && status != 2 && status != 3) fail_msg("a call returns %d", status);
    }
    v.f.drop(v.c, &v.kept);
    v.f.free(v.c);
    rig_close(v.r);
}

// -- descriptions -----------------------------------------------------------------------------------------------------

static void descriptions_obey_the_standard(void **state) {
    (void)state;
    static const char parts[] = "carom: 1\nparameters: {k: 3 kN/m, c: 2 N s/m, e: 50 %, w: 60 rpm, rho: 7850 "
                                "kg/m^3}\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n"
                                "  row: {repeat: 3, body: {mass: 1 kg, inertia: 0.1, at: [i, 1], shape: {circle: "
                                "0.1}}}\n  rod: {mass: rho/1000, inertia: 1, at: [0, 3], spin: w}\n"
                                "joints: {pin: {type: revolute, between: [ground, rod], at: [0, 3]}}\nsprings: {s: "
                                "{between: [ground, rod], points: [[0, 4], [0, 0]], stiffness: k, damping: c}}\n"
                                "contacts: {c: {between: [row, floor], friction: 0.1, restitution: e}}\nsimulation: "
                                "{scheme: moreau-jean, step: 1e-3, end: 1}\n";
    const char *const texts[] = {model, parts};
    for (int version = 2; version <= 3; ++version)
        for (int k = 0; k < 2; ++k) {
            rig *r = rig_open("described", write_model(texts[k]), version, k ? "--input c" : "2>/dev/null");
            fmi_check(r);
            if (k) assert_string_equal(r->variable[rig_ref(r, "c.force")].unit, "N");
            if (!k) assert_string_equal(r->variable[rig_ref(r, "held")].causality, "output");
            for (int i = 0; !k && i < 3; ++i) // a state and an output of the controller, and an output of the model
                assert_string_equal(r->variable[rig_ref(r, ((const char *[]){"s", "u", "height"})[i])].variability,
                                    i < 2 ? "discrete" : "continuous");
            if (version == 3) {
                char path[500];
                size_t length;
                snprintf(path, sizeof path, "%s/sources/buildDescription.xml", r->folder);
                char *build = rig_file(path, &length);
                fmi_element(fmi_rules_3, strstr(build, "<fmiBuildDescription"));
                free(build);
            }
            rig_close(r);
        }
}

// An input that follows a signal of the model does so in the FMU: the export says how it becomes an input.
static void signals_become_inputs_on_request(void **state) {
    (void)state;
    static const char command[] = "%s/carom export fmu %s --compile off --input held -o " RIG_PLACE
                                  "described.fmu 2>&1 | grep -q \"input 'held' follows its signal in the model; --set "
                                  "held=0 instead makes it an input\"";
    char text[800];
    snprintf(text, sizeof text, command, CAROM_BINARY_DIR, write_model(model));
    assert_int_equal(rig_shell(text), 0);
    rig *r = rig_open("described", write_model(model), 3, "--set held=0.25");
    const rig_variable *held = &r->variable[rig_ref(r, "held")];
    assert_string_equal(held->causality, "input");
    assert_true(held->start && held->value == 0.25);
    fmi_check(r);
    rig_close(r);
}

// The rules themselves: every spoiled description must be refused.  Each runs in a child, since a refusal ends it.
static void spoiled_descriptions_are_noticed(void **state) {
    (void)state;
    static const char *const spoil[][2] = {
        {"", ""},
        {"causality=\"output\"", "causality=\"outlet\""},
        {"variability=\"fixed\" initial=\"exact\"", "variability=\"continuous\" initial=\"exact\""},
        {"<InitialUnknown ", "<Unknown "},
        {" start=\"", " begin=\""},
        {"unit=\"kg\"", "unit=\"lb\""},
        {"name=\"height\"", "name=\"x\""},
        {"modelName=", "modelname="},
        {"hasEventMode=\"true\"", "hasEventMode=\"yes\""},
        {"<LogCategories>", "<ModelStructure/><LogCategories>"},
        {"<Output ", "<ClockedState valueReference=\"0\"/><Output "},
        {" stopTime=\"", " stopTime=\"one"}};
    rig *r = rig_open("described", write_model(model), 3, "2>/dev/null");
    char *whole = r->description;
    for (size_t k = 0; k < sizeof spoil / sizeof *spoil; ++k) {
        const char *at = strstr(whole, spoil[k][0]);
        if (!at) fail_msg("nothing to spoil: %s", spoil[k][0]);
        char *text = malloc(strlen(whole) + 100), path[500], command[700];
        sprintf(text, "%.*s%s%s", (int)(at - whole), whole, spoil[k][1], at + strlen(spoil[k][0]));
        snprintf(path, sizeof path, "%s-spoiled/modelDescription.xml", r->folder);
        rig_write(path, text, strlen(text));
        free(text);
        snprintf(command, sizeof command,
                 "ASAN_OPTIONS=detect_leaks=0 " CAROM_BINARY_DIR
                 "/test/test_fmu_calls check %s-spoiled >/dev/null 2>&1",
                 r->folder);
        if ((rig_shell(command) == 0) != (k == 0))
            fail_msg("%s %s", k ? "not noticed:" : "refused as it was", spoil[k][1]);
    }
    rig_close(r);
}

static void checked(void **state) {
    rig *r = calloc(1, sizeof *r);
    r->version = 3;
    snprintf(r->folder, sizeof r->folder, "%s", (const char *)*state);
    rig_describe(r);
    fmi_check(r);
    free(r->description);
    free(r);
}

int main(int argc, char **argv) {
    const struct CMUnitTest one[] = {cmocka_unit_test_prestate(checked, argc > 2 ? argv[2] : NULL)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fmi3_calls_succeed_in_their_states_only), cmocka_unit_test(fmi3_calls_in_random_order_return),
        cmocka_unit_test(fmi2_calls_succeed_in_their_states_only), cmocka_unit_test(folders_of_machines),
        cmocka_unit_test(descriptions_obey_the_standard),          cmocka_unit_test(signals_become_inputs_on_request),
        cmocka_unit_test(spoiled_descriptions_are_noticed)};
    return argc > 2 ? cmocka_run_group_tests_name("check", one, NULL, NULL)
                    : cmocka_run_group_tests_name("test_fmu_calls", tests, NULL, NULL);
}
