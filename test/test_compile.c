// test_compile.c: compiled models give the interpreter's bits, and only trusted files are loaded.
#define _POSIX_C_SOURCE 200809L
#include "exported.h"
#include "expr/expr.h"
#include "model/answers.h"
#include "model_text.h"
#include <carom/compile.h>
#include <sys/stat.h>
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

static const char CACHE[] = CAROM_BINARY_DIR "/test/cache";
static int steps = 6;

static void compile(carom_model *m) {
    carom_error err = {0};
    bool compiled = false;
    if (carom_model_compile(m, CAROM_COMPILE_ON, 0, &compiled, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(compiled);
}

// A simulation, or NULL where the scheme does not support the model.
static carom_sim *start(const carom_model *m, const carom_scheme *s) {
    const carom_model_run run = carom_model_simulation(m);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, s->name, NULL, run.step, steps * run.step);
    return carom_sim_create(&d, &err);
}

static void same_bits(const char *what, const char *scheme, const double *a, const double *b, int n) {
    if (n && memcmp(a, b, sizeof *a * (size_t)n) != 0)
        fail_msg("%s with %s: other bits than interpreted", what, scheme);
}

// Step by step: the same states, and where one fails both fail with the same sentence.
static void runs_alike(const char *name, const carom_model *tape, const carom_model *native, const carom_scheme *s) {
    carom_sim *a = start(tape, s), *b = start(native, s);
    assert_int_equal(a != NULL, b != NULL);
    for (int k = 0; a && k < steps && !carom_sim_done(a); ++k) {
        carom_error x = {0}, y = {0};
        const carom_status status = carom_sim_step(a, &x);
        assert_int_equal(status, carom_sim_step(b, &y));
        assert_string_equal(x.text, y.text);
        if (status != CAROM_OK) break;
        const carom_now p = carom_sim_now(a), q = carom_sim_now(b);
        same_bits(name, s->name, p.q, q.q, carom_model_system(tape)->nq);
        same_bits(name, s->name, p.v, q.v, carom_model_system(tape)->nv);
    }
    carom_sim_destroy(a);
    carom_sim_destroy(b);
}

static void every_model_with_every_scheme_has_the_bits_of_the_tape(void **state) {
    QUICK_SKIPS();
    (void)state;
    char names[] = CAROM_SHIPPED, *rest = names;
    int models = 0;
    if (steps <= 6) setenv("CC", "cc -O0", 1); // most of the time is the compiler's; the other tests optimise
    for (char *end; *rest; rest = end, ++models) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        carom_model *tape = shipped_model(rest), *native = shipped_model(rest);
        const bool large = carom_model_count(tape).coordinates > 12 || carom_model_system(tape)->nc > 6;
        if (steps <= 6 && models % (large ? 4 : 2) != 0) { // the compiler takes long; test_export has their functions
            carom_model_destroy(tape), carom_model_destroy(native);
            continue;
        }
        compile(native);
        int turn = models; // of a large model a third of the schemes, another one for the next; all of them with `long`
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
            if (!large || steps > 6 || ++turn % 3 == 0) runs_alike(rest, tape, native, *s);
        carom_model_destroy(tape);
        carom_model_destroy(native);
    }
    unsetenv("CC");
    assert_true(models > 20);
}

// Every operation an expression can have, at points on all sides of what is piecewise.
static const char operations[] =
    "carom: 1\ntables: {S: {x: [-1, 0, 0.3, 2], y: [1, 0.5, 0.3, 1], kind: spline}, L: {x: [-1, 0, 1], y: [0, 1, -1], "
    "outside: error}}\n"
    "parameters: {p: 0.7, k: 3}\ncoordinates: {x: {at: 0.3, rate: 1}, y: {at: -0.2, rate: 0.5}}\n"
    "energy: {kinetic: \"1/2*x'^2 + 1/2*(2 + sin(x*y))*y'^2\", potential: \"p*cosh(x) + k*y^2 + S(x)*S(y)\"}\n"
    "forces: {x: \"-p*x'*abs(x') + if(y < 0, tan(x), -1.5)\", y: \"min(x, y) + max(x', t)\"}\n"
    "contacts: {floor: {gap: \"y + 1 + hypot(x, 0.1)\", slip: x, friction: 0.3}}\n"
    "outputs: {a: \"asin(x/9) + acos(y/9) + atan(x) + atan2(y, x)\", b: \"sinh(x) + tanh(y) + exp(-x) + log(2 + "
    "abs(x))\","
    " c: \"sqrt(1 + x^2) + sign(y) + floor(7*x)\", d: \"(x <= y) + 2*(x > y) + 4*(x >= 0) + 8*(x == y) + 16*(x != y)\","
    " e: \"abs(x)^1.5 + (1 + x^2)^y\", f: \"x - (y - p)\", g: \"1e300*1e10 - x\", h: \"x/3 + 1e-310*y\", i: \"S(x) + "
    "L(y)\"}\n"
    "simulation: {scheme: half-explicit, step: 1e-2, end: 1}\n";

static void every_operation_has_the_bits_of_the_tape(void **state) {
    (void)state;
    carom_model *tape = good(operations), *native = good(operations);
    compile(native);
    const int nout = carom_model_count(tape).outputs;
    assert_int_equal(nout, 9);
    void *w[2];
    for (int i = 0; i < 2; ++i) {
        const carom_system *s = carom_model_system(i ? native : tape);
        w[i] = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
        assert_non_null(w[i]);
        s->work_init(s->model, w[i]);
    }
    for (int k = 0; k < 400; ++k) {
        const double q[2] = {sin(1.7 * k) * (1 + k % 5), cos(2.3 * k)}, v[2] = {sin(0.3 * k), cos(0.9 * k)},
                     t = 0.01 * k;
        double out[2][9], f[2][2], g[2];
        for (int i = 0; i < 2; ++i) {
            const carom_model *m = i ? native : tape;
            const carom_system *s = carom_model_system(m);
            carom_model_outputs(m, w[i], t, q, v, out[i]);
            if (k % 3 == 0) assert_int_equal(s->gaps(s->model, w[i], t, q, &g[i]), CAROM_OK);
            assert_int_equal(s->force(s->model, w[i], t, q, v, f[i]), CAROM_OK);
            if (k % 3 != 0) assert_int_equal(s->gaps(s->model, w[i], t, q, &g[i]), CAROM_OK);
        }
        same_bits("operations", "outputs", out[0], out[1], nout);
        same_bits("operations", "forces", f[0], f[1], 2);
        same_bits("operations", "gaps", &g[0], &g[1], 1);
    }
    free(w[0]);
    free(w[1]);
    carom_model_destroy(tape);
    carom_model_destroy(native);
}

// -- export c ---------------------------------------------------------------------------------------------

static exported *function(void *code, const char *name) {
    exported *f = NULL;
    *(void **)&f = dlsym(code, name);
    assert_non_null(f);
    return f;
}

static void exported_functions_have_the_bits_of_the_model(void **state) {
    (void)state;
    carom_model *m = good(operations);
    void *code = load_exported(m, operations, "exported", "-O1", "the model");
    const carom_system *s = carom_model_system(m);
    void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
    assert_non_null(work);
    s->work_init(s->model, work);
    const double *p = dlsym(code, "model_p0"), *q0 = dlsym(code, "model_q0");
    assert_non_null(p);
    same_bits("operations", "start", q0, carom_model_q0(m), 2);
    exported *force = function(code, "model_force"), *gaps = function(code, "model_gaps"),
             *outputs = function(code, "model_outputs"), *energy = function(code, "model_energy"),
             *rates = function(code, "model_rates"), *mass = function(code, "model_mass");
    for (int k = 0; k < 300; ++k) {
        const double q[2] = {sin(1.3 * k) * (1 + k % 5), cos(2.9 * k)}, v[2] = {sin(0.7 * k), cos(0.4 * k)},
                     t = 0.01 * k;
        double a[9], b[9], M[4];
        force(t, q, v, p, a);
        assert_int_equal(s->force(s->model, work, t, q, v, b), CAROM_OK);
        same_bits("exported", "force", a, b, 2);
        gaps(t, q, v, p, a);
        assert_int_equal(s->gaps(s->model, work, t, q, b), CAROM_OK);
        same_bits("exported", "gaps", a, b, 1);
        rates(t, q, v, p, a);
        assert_int_equal(s->speed->rates(s->model, work, t, q, v, b), CAROM_OK);
        same_bits("exported", "rates", a, b, 2);
        energy(t, q, v, p, a);
        assert_int_equal(s->energy(s->model, work, t, q, v, &b[0], &b[1]), CAROM_OK);
        same_bits("exported", "energy", a, b, 2);
        outputs(t, q, v, p, a);
        carom_model_outputs(m, work, t, q, v, b);
        same_bits("exported", "outputs", a, b, 9);
        mass(t, q, v, p, a); // two entries: it is diagonal
        carom_matrix full = {.a = M, .shape = s->mass_shape};
        carom_zero(M, 4);
        assert_int_equal(s->mass(s->model, work, t, q, full), CAROM_OK);
        same_bits("exported", "mass", (double[]){M[0], M[s->mass_shape.storage == CAROM_DENSE ? 3 : 1]}, a, 2);
    }
    dlclose(code);
    free(work);
    carom_model_destroy(m);
}

typedef void moving(double *q1, const double *q0, double h, const double *v);

// Bodies in space: positions move by the exponential map, angles of joints are counted over turns.  A motion of 200
// steps with velocities that change.
static void bodies_in_space_move_as_in_the_model(const char *name) {
    carom_model *m = shipped_model(name);
    void *code = load_exported(m, "", "exported", "-O1", "the model");
    const carom_system *s = carom_model_system(m);
    exported *force = function(code, "model_force"), *gaps = function(code, "model_gaps");
    moving *move = NULL;
    *(void **)&move = dlsym(code, "model_move");
    assert_non_null(move);
    assert_non_null(s->move);
    const double *p = dlsym(code, "model_p0");
    void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
    double *x = calloc(2 * (size_t)s->nq + 3 * (size_t)s->nv + 2 * (size_t)(s->ne + s->nc) + 1, sizeof *x);
    assert_true(work && x);
    double *q = x, *q1 = q + s->nq, *v = q1 + s->nq, *f = v + s->nv, *f1 = f + s->nv, *g = f1 + s->nv,
           *g1 = g + s->ne + s->nc;
    s->work_init(s->model, work);
    carom_copy(q, carom_model_q0(m), s->nq);
    for (int k = 0; k < 200; ++k) {
        for (int i = 0; i < s->nv; ++i) v[i] = carom_model_v0(m)[i] + 3 * sin(0.1 * k + i);
        force(0.01 * k, q, v, p, f);
        assert_int_equal(s->force(s->model, work, 0.01 * k, q, v, f1), CAROM_OK);
        same_bits(name, "force", f, f1, s->nv);
        if (s->gaps) {
            gaps(0.01 * k, q, v, p, g);
            assert_int_equal(s->gaps(s->model, work, 0.01 * k, q, g1), CAROM_OK);
            same_bits(name, "gaps", g, g1, s->ne + s->nc);
        }
        move(q1, q, 0.05, v);
        s->move(s->model, q, q, 0.05, v);
        same_bits(name, "move", q1, q, s->nq);
    }
    dlclose(code);
    free(work);
    free(x);
    carom_model_destroy(m);
}

static void bodies_in_space_are_exported(void **state) {
    (void)state;
    bodies_in_space_move_as_in_the_model("spinning-top");
    bodies_in_space_move_as_in_the_model("four-bar"); // with an angle
}

// Two controllers, one with a delay, the other seeing what the first puts out; samples and effects in some order, at
// states that change.
static void controllers_are_exported(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nparameters: {T: 0.02, k: 30}\ninputs: {push: 2}\ncoordinates: {x: 0.3, y: "
                               "0}\nenergy: {kinetic: 1/2*x'^2 + y'^2}\nforces: {x: u - 2*x' + push, y: w*x}\n"
                               "controllers:\n  pi: {sample: T, delay: T/2, states: {sum: sum + T*(1 - x), last: x}, "
                               "outputs: {u: k*(1 - x) + 40*sum - (x - last)/T}, start: {u: 7}}\n"
                               "  other: {sample: 2*T, offset: T, outputs: {w: sin(u)*y'}}\n";
    carom_model *m = good(text);
    void *code = load_exported(m, text, "exported", "-O1", "the model");
    const carom_system *s = carom_model_system(m);
    exported *force = function(code, "model_force");
    int (*sample)(int k, double t, const double *q, const double *v, double *p) = NULL;
    void (*effect)(int k, double *p) = NULL;
    *(void **)&sample = dlsym(code, "model_sample"), *(void **)&effect = dlsym(code, "model_effect");
    const double *p0 = dlsym(code, "model_p0"), *times = dlsym(code, "model_controller");
    assert_true(sample && effect && p0 && times);
    assert_true(times[0] == 0.02 && times[1] == 0 && times[2] == 0.01); // sample, offset, delay of the first
    assert_int_equal(s->signals->nsamplers, 2);
    double p[20], x[20], q[2], v[2], a[2], b[2];
    const int own = 2; // parameters of the model; signals behind them
    assert_true(s->signals->ni + own <= 20);
    carom_copy(p, p0, own + s->signals->ni);
    carom_copy(x, s->signals->input, s->signals->ni);
    same_bits("controllers", "start", p + own, x, s->signals->ni);
    void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
    assert_non_null(work);
    s->work_init(s->model, work);
    for (int i = 0; i < 60; ++i) {
        const double t = 0.01 * i;
        const int k = i / 2 % 2;
        for (int e = 0; e < 2; ++e) q[e] = sin(0.3 * i + e), v[e] = cos(0.2 * i - e);
        s->signals->set(s->model, work, x);
        force(t, q, v, p, a);
        assert_int_equal(s->force(s->model, work, t, q, v, b), CAROM_OK);
        same_bits("controllers", "force", a, b, 2);
        if (i % 3 == 2) {
            effect(k, p);
            if (s->signals->samplers[k].delay > 0)
                assert_int_equal(s->signals->sample(s->model, work, k, true, t, q, v, x), CAROM_OK);
        } else {
            assert_int_equal(sample(k, t, q, v, p), 1);
            assert_int_equal(s->signals->sample(s->model, work, k, false, t, q, v, x), CAROM_OK);
        }
        same_bits("controllers", "signals", p + own, x, s->signals->ni);
    }
    carom_copy(x, p + own, s->signals->ni);
    assert_int_equal(sample(0, 0, (double[]){NAN, 0}, v, p), 0);
    same_bits("controllers", "signals that stay", p + own, x, s->signals->ni);
    dlclose(code);
    free(work);
    carom_model_destroy(m);
}

// What lets contacts close, and where forces have kinks.
static void kinks_are_exported(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {x: 1, y: 0}\nenergy: {kinetic: 1/2*x'^2 + 1/2*y'^2}\nforces: {x: -abs(y)}\n"
        "contacts: {soft: {gap: x + 2, stiffness: 100}, wall: {gap: x}, floor: {gap: x + y, closes while: y - "
        "0.1*x'}}\n";
    carom_model *m = good(text);
    void *code = load_exported(m, text, "exported", "-O1", "the model");
    const carom_system *s = carom_model_system(m);
    exported *kinks = function(code, "model_kinks");
    const int *of = dlsym(code, "model_kinks_of");
    void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
    assert_true(of && work && s->events->nk > 0 && s->events->nk <= 8);
    s->work_init(s->model, work);
    int gate = -1;
    for (int k = 0; k < s->events->nk; ++k) {
        assert_int_equal(of[k], s->events->kink_of[k]);
        if (of[k] == CAROM_CLOSES_WHILE(1)) gate = k; // the second rigid contact
    }
    assert_true(gate >= 0);
    for (int i = 0; i < 50; ++i) {
        const double q[2] = {sin(0.3 * i), cos(0.7 * i)}, v[2] = {cos(0.2 * i), 1};
        double a[8], b[8];
        kinks(0, q, v, dlsym(code, "model_p0"), a);
        assert_int_equal(s->events->kinks(s->model, work, 0, q, v, b), CAROM_OK);
        same_bits("kinks", "kinks", a, b, s->events->nk);
        assert_true(a[gate] == q[1] - 0.1 * v[0]);
    }
    dlclose(code);
    free(work);
    carom_model_destroy(m);
}

// -- files -----------------------------------------------------------------------------------------------

static int files_in(const char *folder, char *last, size_t size) {
    int n = 0;
    DIR *d = opendir(folder);
    if (!d) return 0;
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.') ++n, snprintf(last, size, "%.300s/%.255s", folder, e->d_name);
    closedir(d);
    return n;
}

static void empty(const char *folder) {
    char file[600];
    while (files_in(folder, file, sizeof file) > 0) assert_int_equal(unlink(file), 0);
    rmdir(folder);
}

static carom_status try_compile(carom_compile_mode mode, double evaluations, bool *compiled, carom_error *err) {
    carom_model *m = good("carom: 1\ncoordinates: {x: 1, y: 2}\n" // soon compiled
                          "energy: {kinetic: x'^2/2 + y'^2/2, potential: x*y + x^2}\n");
    const carom_status status = carom_model_compile(m, mode, evaluations, compiled, err);
    carom_model_destroy(m);
    return status;
}

enum { WRITABLE, EMPTY, SHORT, HALF, CUT, LONGER, FIRST_BYTE, MIDDLE_BYTE, LAST_BYTE, ZEROS, LINK, DAMAGES };

// A compiled file as a crash, a full disk, a fault of the disk or another user may leave it.
static void damage_file(const char *file, int how) {
    struct stat st;
    char other[700];
    assert_int_equal(stat(file, &st), 0);
    snprintf(other, sizeof other, "%s-copy", CACHE);
    if (how == WRITABLE) assert_int_equal(chmod(file, 0777), 0);
    if (how >= EMPTY && how <= LONGER) {
        const off_t size[] = {
            [EMPTY] = 0, [SHORT] = 100, [HALF] = st.st_size / 2, [CUT] = st.st_size - 1, [LONGER] = st.st_size + 4096};
        assert_int_equal(truncate(file, size[how]), 0);
    }
    if (how >= FIRST_BYTE && how <= ZEROS) {
        FILE *f = fopen(file, "r+b");
        assert_non_null(f);
        long at = how == FIRST_BYTE ? 0 : how == LAST_BYTE ? (long)st.st_size - 1 : (long)st.st_size / 2;
        fseek(f, at, SEEK_SET);
        int c = fgetc(f);
        for (; how == ZEROS && c == 0; ++at) c = fgetc(f); // segments are aligned: between them lie zeros already
        fseek(f, at, SEEK_SET);
        if (how == ZEROS)
            for (int i = 0; i < 4096; ++i) fputc(0, f); // a block that never reached the disk
        else fputc(c ^ 0x10, f);
        fclose(f);
    }
    if (how == LINK) assert_int_equal(rename(file, other) || symlink(other, file), 0);
}

static void compiled_files_are_kept_and_checked(void **state) {
    (void)state;
    char folder[400], file[600], again[600];
    carom_error err = {0};
    bool compiled = false;
    snprintf(folder, sizeof folder, "%s-own/carom", CACHE);
    empty(folder);
    snprintf(file, sizeof file, "%s-own", CACHE);
    setenv("XDG_CACHE_HOME", file, 1);

    // Not worth it, worth it, there already.
    assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 10, &compiled, &err), CAROM_OK);
    assert_false(compiled);
    assert_int_equal(files_in(folder, file, sizeof file), 0);
    assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 1e12, &compiled, &err), CAROM_OK);
    assert_true(compiled);
    assert_int_equal(files_in(folder, file, sizeof file), 1);
    struct stat first, second;
    assert_int_equal(stat(file, &first), 0);
    assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 10, &compiled, &err), CAROM_OK);
    assert_true(compiled);
    assert_int_equal(files_in(folder, again, sizeof again), 1);
    assert_int_equal(stat(again, &second), 0);
    assert_true(first.st_ino == second.st_ino && first.st_mtim.tv_nsec == second.st_mtim.tv_nsec);

    // A file that others can write to is not loaded, nor is a damaged one: where a run is not worth compiling they
    // count as missing, else they are compiled again.
    for (int damage = 0; damage < DAMAGES; ++damage) {
        damage_file(file, damage);
        assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 10, &compiled, &err), CAROM_OK);
        assert_false(compiled);
        assert_int_equal(try_compile(CAROM_COMPILE_ON, 10, &compiled, &err), CAROM_OK);
        assert_true(compiled);
        assert_int_equal(files_in(folder, again, sizeof again), 1);
        assert_string_equal(file, again);
        assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 10, &compiled, &err), CAROM_OK); // it is sound now
        assert_true(compiled);
    }
    assert_int_equal(unlink(file), 0);

    // A folder that others can write to is not used: a temporary one is, and nothing stays.
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(try_compile(CAROM_COMPILE_ON, 10, &compiled, &err), CAROM_OK);
    assert_true(compiled);
    assert_int_equal(files_in(folder, file, sizeof file), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    setenv("XDG_CACHE_HOME", CACHE, 1);
}

// The compiler is started by its absolute path, also where a folder of PATH or its own name is relative.
static void the_compiler_has_an_absolute_path(void **state) {
    (void)state;
    char here[1024], folder[] = "/tmp/carom-path-XXXXXX", path[2100], text[400] = "";
    assert_true(getcwd(here, sizeof here) && mkdtemp(folder) && chdir(folder) == 0);
    char *old = strdup(getenv("PATH"));
    bool compiled = false;
    carom_error err = {0};
    FILE *f = fopen("mycc", "w");
    fprintf(f, "#!/bin/sh\necho \"$0\" >%s/called\nexec cc \"$@\"\n", folder);
    fclose(f);
    assert_int_equal(chmod("mycc", 0700), 0);
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("XDG_CACHE_HOME", path, 1);
    snprintf(path, sizeof path, ".:%s", old);
    setenv("PATH", path, 1);
    setenv("CC", "mycc", 1); // in the working folder: not found
    assert_int_equal(try_compile(CAROM_COMPILE_ON, 10, &compiled, &err), CAROM_BAD_INPUT);
    setenv("CC", "./mycc", 1);
    assert_int_equal(try_compile(CAROM_COMPILE_ON, 10, &compiled, &err), CAROM_OK);
    f = fopen("called", "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    if (text[0] != '/') fail_msg("the compiler was started as %s", text);
    snprintf(path, sizeof path, "%s:%s", folder, old);
    setenv("PATH", path, 1);
    setenv("CC", "mycc", 1);
    assert_int_equal(unlink("called"), 0);
    assert_int_equal(try_compile(CAROM_COMPILE_ON, 10, &compiled, &err), CAROM_OK);
    setenv("PATH", old, 1);
    unsetenv("CC");
    setenv("XDG_CACHE_HOME", CACHE, 1);
    free(old);
    snprintf(path, sizeof path, "rm -rf %s", folder);
    assert_int_equal(chdir(here) || system(path), 0);
}

static void without_a_compiler_the_tape_runs(void **state) {
    (void)state;
    carom_error err = {0};
    bool compiled = true;
    setenv("CC", "there-is-no-such-compiler -O9", 1);
    assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 1e12, &compiled, &err), CAROM_OK);
    assert_false(compiled);
    assert_int_equal(try_compile(CAROM_COMPILE_ON, 1e12, &compiled, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "there is no C compiler 'there-is-no-such-compiler'"));
    setenv("CC", "cc --no-such-flag", 1);
    assert_int_equal(try_compile(CAROM_COMPILE_AUTO, 1e12, &compiled, &err), CAROM_OK);
    assert_false(compiled);
    assert_int_equal(try_compile(CAROM_COMPILE_ON, 1e12, &compiled, &err), CAROM_IO);
    assert_non_null(strstr(err.text, "no-such-flag"));
    unsetenv("CC");
}

// A value that is not finite is told wherever it stands in M, f and g, and the last that were finite are not taken for
// it.
static void what_is_not_finite_is_told(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 1}, y: {at: 1}, z: {at: 1}}\n"
                               "energy: {kinetic: \"1/2*sqrt(x)*x'^2 + 1/2*y'^2 + 1/2*z'^2\"}\nforces: {y: "
                               "\"log(y)\"}\ncontacts: {c: {gap: \"1/z\"}}\n"
                               "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 1}\n";
    for (int compiled = 0; compiled < 2; ++compiled) {
        carom_model *m = good(text);
        if (compiled) compile(m);
        const carom_system *s = carom_model_system(m);
        void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
        assert_non_null(work);
        s->work_init(s->model, work);
        for (int k = 0; k < 7; ++k) { // every second point is good
            double q[3] = {2, 2, 2}, M[9], f[3], g[1];
            const double v[3] = {1, 1, 1};
            if (k % 2) q[k / 2] = k / 2 == 2 ? 0 : -1;
            assert_int_equal(s->speed->motion(s->model, work, 0, q, v, (carom_matrix){s->mass_shape, M}, f, g),
                             k % 2 ? CAROM_USER : CAROM_OK);
            // the same point again
            assert_int_equal(s->speed->motion(s->model, work, 0, q, v, (carom_matrix){s->mass_shape, M}, f, g),
                             k % 2 ? CAROM_USER : CAROM_OK);
            if (k % 2 == 0) assert_true(M[0] == sqrt(2.0) && f[1] == log(2.0) && g[0] == 0.5);
        }
        free(work);
        carom_model_destroy(m);
    }
}

// -- flights --------------------------------------------------------------------------------------------------

static carom_status every_step(void *user, const carom_now *now) {
    long *next = user;
    assert_int_equal(now->step, ++*next);
    assert_true(fabs(now->t - 1e-5 * (double)now->step) < 1e-12);
    return CAROM_OK;
}

static bool soon(const void *user) { return --*(int *)(uintptr_t)user < 0; }

static carom_sim *long_run(const carom_model *m, const char *scheme, int n) {
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.scheme = scheme, d.h = 1e-5, d.t_end = n * d.h, d.q0 = carom_model_q0(m),
    d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

// Steps taken by themselves and as a run, where those that nothing touches go a shorter way: the same states, gaps and
// books.
static void flights_alike(const carom_model *m, const char *scheme, int n) {
    carom_error err = {0};
    carom_ledger x, y;
    long seen = 0;
    carom_sim *a = long_run(m, scheme, n), *b = long_run(m, scheme, n);
    for (int k = 0; k < n; ++k) assert_int_equal(carom_sim_step(a, &err), CAROM_OK);
    assert_int_equal(carom_sim_run_lazily(b, every_step, &seen, &err), CAROM_OK);
    assert_int_equal(seen, n);
    const carom_now p = carom_sim_now(a), q = carom_sim_now(b);
    const carom_system *s = carom_model_system(m);
    assert_true(p.t == q.t && p.step == q.step);
    same_bits("a flight", "positions", p.q, q.q, s->nq);
    same_bits("a flight", "velocities", p.v, q.v, s->nv);
    same_bits("a flight", "gaps", p.gap, q.gap, s->nc);
    carom_sim_ledger(a, &x, &err);
    carom_sim_ledger(b, &y, &err);
    y.seconds = x.seconds, y.wall = x.wall;
    assert_memory_equal(&x, &y, sizeof x);
    carom_sim_destroy(a);
    carom_sim_destroy(b);
}

static void flights_have_the_bits_of_single_steps(void **state) {
    (void)state;
    static const char bounce[] = "carom: 1\ncoordinates: {x: {at: 0.003, rate: -2}, y: {at: 0, rate: 1}}\nenergy: "
                                 "{kinetic: \"1/2*x'^2 + 1/2*y'^2\", potential: \"5*x\"}\n"
                                 // constant M
                                 "contacts: {low: {gap: x, restitution: 0.9}, high: {gap: \"0.01 - x\", restitution: "
                                 "0.9}}\nsimulation: {scheme: moreau-midpoint, step: 1e-5, end: 1}\n";
    static const char *const scheme[] = {"moreau-midpoint", "moreau-jean"};
    carom_model *models[] = {shipped_model("slider-crank-frictionless"), good(bounce)};
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2; ++k) flights_alike(models[i], scheme[k], 6000);
        compile(models[i]);
        for (int k = 0; k < 2; ++k) flights_alike(models[i], scheme[k], 6000);
    }
    // It may be stopped on the way.
    int calls = 2000;
    carom_error err = {0};
    carom_sim *sim = long_run(models[0], scheme[0], 6000);
    carom_sim_stop_when(sim, soon, &calls);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_STOPPED);
    assert_true(carom_sim_now(sim).step >= 1000 && carom_sim_now(sim).step < 4000);
    carom_sim_destroy(sim);
    for (int i = 0; i < 2; ++i) carom_model_destroy(models[i]);
}

// n coordinates that are all coupled; M is positive definite where all cos(x) > -3/4.
static carom_model *coupled(int n) {
    char text[4000], *at = text;
    at += sprintf(at, "carom: 1\ncoordinates: {");
    for (int i = 1; i <= n; ++i)
        at += sprintf(at, "%sx%d: {at: %g, rate: %g}", i > 1 ? ", " : "", i, 0.1 * i, 1.0 - 0.3 * i);
    at += sprintf(at, "}\nenergy: {kinetic: \"");
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= i; ++j)
            at += i == j ? sprintf(at, "%s(%d + 4*cos(x%d))*x%d'^2", i > 1 ? " + " : "", 3, i, i)
                         : sprintf(at, " + 0.7*cos(x%d - 2*x%d)*x%d'*x%d'", i, j, i, j);
    sprintf(at, "\", potential: \"sin(x1) + log(2 + x1)\"}\ncontacts: {wall: {gap: \"x1 + 2 + cos(x%d)\"}}\n", n);
    return good(text);
}

// M^-1 f in one go, against M and f of the tape and the factor; first without compiled code, where there is no such
// thing.
static void free_motion_has_the_bits_of_its_parts(void **state) {
    (void)state;
    _Alignas(64) unsigned char space[4096] = {0};
    int compared = 0, refused = 0;
    for (int n = 1; n <= 8; ++n) {
        carom_model *tape = coupled(n), *native = coupled(n);
        const carom_system *sys = carom_model_system(native);
        void *one = calloc(1, carom_model_system(tape)->work_size), *two = calloc(1, sys->work_size);
        carom_model_system(tape)->work_init(carom_model_system(tape)->model, one);
        sys->work_init(sys->model, two);
        double q[8], v[8], f[8], a[8], g, g_1, M[64];
        carom_arena mem = {.base = space, .size = sizeof space};
        carom_factor F = carom_allocate_factor(&mem, sys->mass_shape, true);
        for (int k = 0; k < 40; ++k) {
            // far out M is not always good
            for (int i = 0; i < n; ++i) q[i] = sin(1.7 * k + i) * (k % 8 == 7 ? 3 : 1), v[i] = cos(0.9 * k + 2 * i);
            if (k == 20) q[0] = -2.5; // and log(2 + x1) is none
            if (k == 0 && sys->speed->free_motion)
                assert_int_equal(sys->speed->free_motion(sys->model, two, 0.1 * k, q, v, a, &g), CAROM_RETRY);
            if (k == 0) compile(native);
            carom_status status = carom_model_system(tape)->speed->motion(
                carom_model_system(tape)->model, one, 0.1 * k, q, v, (carom_matrix){sys->mass_shape, M}, f, &g_1);
            if (status == CAROM_OK) status = carom_factorise(&F, (carom_matrix){sys->mass_shape, M}, NULL);
            if (!sys->speed->free_motion) assert_int_equal(n, 1);
            if (sys->speed->free_motion)
                assert_int_equal(sys->speed->free_motion(sys->model, two, 0.1 * k, q, v, a, &g),
                                 n == 8 || status != CAROM_OK ? CAROM_RETRY : CAROM_OK);
            refused += status != CAROM_OK;
            if (!sys->speed->free_motion || n == 8 || status != CAROM_OK) continue;
            ++compared;
            carom_factor_solve(&F, f);
            same_bits("coupled coordinates", "free motion", a, f, n);
            same_bits("coupled coordinates", "free motion", &g, &g_1, 1);
        }
        free(one);
        free(two);
        carom_model_destroy(tape);
        carom_model_destroy(native);
    }
    assert_true(compared > 200 && refused > 8);
}

enum { MOST_V = 8, MOST_DIR = 16 };

// Directions of the constraints first, first + stride, ...; everything that must be written holds something else on
// entry.
static carom_local some_constraints(const carom_system *sys, int first, int stride, int *id, int *at, double *W,
                                    double *w) {
    carom_local L = {.id = id, .at = at, .W = {.rows = sys->nv, .n = MOST_DIR, .stride = sys->nv, .a = W}, .w = w};
    for (int i = 0; i < MOST_V * MOST_DIR; ++i) W[i] = 77;
    for (int i = 0; i < MOST_DIR; ++i) w[i] = 77;
    at[0] = 0;
    for (int b = first; b < sys->ne + sys->nc; b += stride) {
        id[L.nb] = b;
        at[L.nb + 1] = at[L.nb] + carom_system_directions(sys, b);
        ++L.nb;
    }
    return L;
}

// M, f, g and W in one call, against the tape's motion and directions: all constraints, every second one, without gaps.
// Returns how many points were compared.
static int together_alike(const char *name, carom_model *tape, carom_model *native) {
    const carom_system *s[2] = {carom_model_system(tape), carom_model_system(native)};
    const int nq = s[0]->nq, nv = s[0]->nv, links = s[0]->ne + s[0]->nc;
    assert_true(nv <= MOST_V && links <= MOST_DIR);
    void *work[2] = {calloc(1, s[0]->work_size), calloc(1, s[1]->work_size)};
    int compared = 0;
    for (int i = 0; i < 2; ++i) s[i]->work_init(s[i]->model, work[i]);
    for (int k = 0; k < 30; ++k) {
        double q[MOST_V], v[MOST_V], M[2][MOST_V * MOST_V] = {{0}}, f[2][MOST_V] = {{0}}, g[2][MOST_DIR] = {{0}},
                                                   W[2][MOST_V * MOST_DIR], w[2][MOST_DIR];
        int id[2][MOST_DIR], at[2][MOST_DIR + 1];
        carom_local L[2];
        for (int i = 0; i < nq; ++i)
            q[i] = carom_model_q0(tape)[i] + 0.3 * sin(1.7 * k + i), v[i] = cos(0.9 * k + 2 * i);
        if (k == 20 || k == 25) q[0] = -2; // where the force 1/(2 + x1) of coupled() is infinite
        for (int i = 0; i < 2; ++i)
            L[i] = some_constraints(s[i], k % 3 == 1 && links > 1, k % 3 == 1 ? 2 : 1, id[i], at[i], W[i], w[i]);
        double *gap = k % 3 == 2 ? NULL : g[1];
        const double t = 0.1 * k;
        assert_non_null(s[1]->speed->motion_directions);
        if (k == 0)
            assert_int_equal(s[1]->speed->motion_directions(s[1]->model, work[1], t, q, v,
                                                     (carom_matrix){s[1]->mass_shape, M[1]}, f[1], gap, &L[1]),
                             CAROM_RETRY);
        if (k == 0) compile(native);
        carom_status status = s[0]->speed->motion(s[0]->model, work[0], t, q, v, (carom_matrix){s[0]->mass_shape, M[0]},
                                                  f[0], gap ? g[0] : NULL);
        if (status == CAROM_OK) status = s[0]->directions(s[0]->model, work[0], t, q, &L[0]);
        assert_int_equal(s[1]->speed->motion_directions(s[1]->model, work[1], t, q, v,
                                                        (carom_matrix){s[1]->mass_shape, M[1]}, f[1], gap, &L[1]),
                         status == CAROM_OK ? CAROM_OK : CAROM_RETRY);
        if (status != CAROM_OK) continue;
        ++compared;
        same_bits(name, "M", M[1], M[0], nv * nv);
        same_bits(name, "f", f[1], f[0], nv);
        same_bits(name, "g", g[1], g[0], gap ? links : 0);
        same_bits(name, "W", W[1], W[0], MOST_V * MOST_DIR);
        same_bits(name, "w", w[1], w[0], MOST_DIR);
    }
    for (int i = 0; i < 2; ++i) free(work[i]);
    return compared;
}

static void motion_with_directions_has_the_bits_of_its_parts(void **state) {
    (void)state;
    static const char *const names[] = {"slider-crank", "slider-crank-frictionless"};
    for (int i = 0; i < 4; ++i) {
        carom_model *two[2];
        for (int k = 0; k < 2; ++k) two[k] = i < 2 ? shipped_model(names[i]) : coupled(i == 2 ? 3 : 6);
        assert_int_equal(together_alike(i < 2 ? names[i] : "coupled coordinates", two[0], two[1]), i < 2 ? 30 : 28);
        for (int k = 0; k < 2; ++k) carom_model_destroy(two[k]);
    }
}

// Constraints are renumbered where one is redundant; the floor is met after five steps.
static void redundant_constraints_have_the_bits_of_the_tape(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {x: {at: 0.5, rate: 0.3}, y: {at: 0.5, rate: 0.3}, z: {at: 0, rate: -1}}\n"
        "energy: {kinetic: \"(2 + cos(x))*x'^2 + y'^2 + z'^2 + 0.1*cos(z)*z'*y'\", potential: \"sin(x) + 9.81*z\"}\n"
        "constraints: {a: x - y, b: 2*x - 2*y}\ncontacts: {floor: {gap: z + 0.1*sin(x)}, wall: {gap: y + "
        "2}}\nsimulation: {step: 0.01, end: 1}\n";
    carom_model *tape = good(text), *native = good(text);
    compile(native);
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) runs_alike("redundant constraints", tape, native, *s);
    carom_model_destroy(tape);
    carom_model_destroy(native);
}

// Numbers are finite also where their sum is not.
static void large_numbers_are_finite(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {p: 1.5e308}\ncoordinates: {x: 1, y: 1}\nenergy: {kinetic: \"(2 + "
                          "x)*x'^2 + 0.1*cos(x)*x'*y' + y'^2\"}\n"
                          "forces: {x: p*x, y: p*y}\ncontacts: {wall: {gap: x}}\n");
    const carom_system *sys = carom_model_system(m);
    compile(m);
    void *work = calloc(1, sys->work_size);
    sys->work_init(sys->model, work);
    double q[2] = {1, 1}, v[2] = {0}, M[4], f[2], g;
    assert_int_equal(sys->speed->motion(sys->model, work, 0, q, v, (carom_matrix){sys->mass_shape, M}, f, &g),
                     CAROM_OK);
    assert_true(f[0] == 1.5e308 && f[1] == 1.5e308 && g == 1);
    q[0] = 2;
    assert_int_equal(sys->speed->motion(sys->model, work, 1, q, v, (carom_matrix){sys->mass_shape, M}, f, &g),
                     CAROM_USER);
    free(work);
    carom_model_destroy(m);
}

static void modes_have_names(void **state) {
    (void)state;
    carom_compile_mode mode = CAROM_COMPILE_OFF;
    assert_true(carom_compile_mode_find("auto", &mode) && mode == CAROM_COMPILE_AUTO);
    assert_true(carom_compile_mode_find("on", &mode) && mode == CAROM_COMPILE_ON);
    assert_true(carom_compile_mode_find("off", &mode) && mode == CAROM_COMPILE_OFF);
    assert_false(carom_compile_mode_find("yes", &mode));
}

// A tape takes code that was written for it, and no other.
static void only_its_own_code_is_attached(void **state) {
    (void)state;
    carom_model *m = good(operations);
    carom_tape *tape = NULL;
    assert_true(carom_model_tapes(m, &tape, 1) >= 2);
    carom_native_piece *const none[500] = {0};
    carom_native n = {
        .version = CAROM_NATIVE_VERSION, .fingerprint = carom_tape_fingerprint(tape), .segment = none, .plan = none};
    assert_false(carom_tape_attach(tape, &n)); // sizes differ
    assert_true(carom_tape_attach(tape, NULL));
    carom_model_destroy(m);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "long") == 0) steps = 300;
    setenv("XDG_CACHE_HOME", CACHE, 1);
    unsetenv("CC");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_the_bits_of_the_tape),
        cmocka_unit_test(every_model_with_every_scheme_has_the_bits_of_the_tape),
        cmocka_unit_test(compiled_files_are_kept_and_checked),
        cmocka_unit_test(without_a_compiler_the_tape_runs),
        cmocka_unit_test(the_compiler_has_an_absolute_path),
        cmocka_unit_test(exported_functions_have_the_bits_of_the_model),
        cmocka_unit_test(bodies_in_space_are_exported),
        cmocka_unit_test(controllers_are_exported),
        cmocka_unit_test(kinks_are_exported),
        cmocka_unit_test(what_is_not_finite_is_told),
        cmocka_unit_test(flights_have_the_bits_of_single_steps),
        cmocka_unit_test(motion_with_directions_has_the_bits_of_its_parts),
        cmocka_unit_test(redundant_constraints_have_the_bits_of_the_tape),
        cmocka_unit_test(free_motion_has_the_bits_of_its_parts),
        cmocka_unit_test(large_numbers_are_finite),
        cmocka_unit_test(modes_have_names),
        cmocka_unit_test(only_its_own_code_is_attached),
    };
    return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
