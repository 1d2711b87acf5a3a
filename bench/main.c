// main.c: `make bench`: ns per step of every scheme on every shipped model, through the public library; the
// engine-like C loop and Siconos beside it, in the same run.
//
// Times are thread CPU time, the least of several runs.  --csv FILE keeps the figures, --quick does fewer steps,
// --single leaves out the table,
// other arguments are models to measure instead of the shipped ones.
#define _DEFAULT_SOURCE
#include "native.h"
#include "linalg/matrix.h"
#include "scheme/registry.h"
#include "yardstick.h"
#include <carom/carom.h>
#include <carom/compile.h>
#include <carom/result.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    FILE *csv;
    long steps; // per run
    bool limited; // fewer where they are dear
    int runs;   // the least of so many counts
    int failures;
} bench;

typedef struct text { char *at; size_t length; const char *file; } text;

static void keep(const bench *b, const char *part, const char *model, const char *scheme, double ns, double ratio) {
    if (!b->csv) return;
    fprintf(b->csv, "%s,%s,%s,%.1f,", part, model, scheme, ns);
    if (isfinite(ratio)) fprintf(b->csv, "%.3f", ratio);
    fputc('\n', b->csv);
}

static text read_file(const char *file) {
    text t = {.file = file};
    FILE *in = fopen(file, "rb");
    long size = -1;
    if (in && fseek(in, 0, SEEK_END) == 0) size = ftell(in);
    if (size >= 0 && (t.at = malloc((size_t)size + 1))) {
        rewind(in);
        t.length = fread(t.at, 1, (size_t)size, in);
        t.at[t.length] = 0;
    }
    if (in) fclose(in);
    return t;
}

static carom_model *make_model(const text *t, carom_error *err) {
    if (t->at) return carom_model_create(&(carom_model_def){.text = t->at, .length = t->length, .file = t->file}, err);
    carom_fail(err, CAROM_IO, "%s: cannot be read", t->file);
    return NULL;
}

// -- one model, one scheme ---------------------------------------------------------------------------

typedef struct measurement {
    double ns;       // per step; NAN: could not be measured, why says so
    long steps;
    bool refused;    // the scheme lacks what the model needs
    double q[3], v[3];
    carom_error why;
} measurement;

// What is measured: a system with its start and its usual step; model and text when it comes from a file.
typedef struct subject {
    const carom_system *system;
    const double *q0, *v0;
    carom_model_run given;
    const carom_model *model;
    const text *text;
} subject;

static subject subject_of(const carom_model *model, const text *t) {
    return (subject){.system = carom_model_system(model), .q0 = carom_model_q0(model), .v0 = carom_model_v0(model),
                     .given = carom_model_simulation(model), .model = model, .text = t};
}

static carom_record *open_record(const subject *s, carom_sim *sim, const carom_sim_def *def, const char *file,
                                 carom_error *err) {
    carom_record_def rd = carom_record_default();
    rd.model = s->model;
    rd.sim = sim;
    rd.file = file;
    rd.step = def->h;
    rd.end = def->t_end;
    rd.every = 10;
    rd.text = s->text->at;
    rd.length = s->text->length;
    rd.model_file = s->text->file;
    return carom_record_create(&rd, err);
}

// One run of at most b->steps steps.  When record is given, every 10th step goes into that HDF5 file, and writing
// it to its end belongs to the time.
static measurement run_once(const bench *b, const subject *s, const char *scheme, const char *record) {
    measurement m = {.ns = NAN};
    carom_sim_def def = carom_sim_default();
    def.system = s->system;
    def.scheme = scheme;
    if (s->given.scheme && strcmp(s->given.scheme, scheme) == 0) def.options = s->given.options;
    def.h = isfinite(s->given.step) ? s->given.step : 1e-4;
    def.t_end = (double)b->steps * def.h;
    if (isfinite(s->given.end) && def.t_end > s->given.end)
        def.t_end = floor(s->given.end / def.h * (1 + 1e-9)) * def.h;
    def.q0 = s->q0;
    def.v0 = s->v0;
    carom_sim *sim = carom_sim_create(&def, &m.why);
    if (!sim) {
        m.refused = true;
        return m;
    }
    carom_record *r = record ? open_record(s, sim, &def, record, &m.why) : NULL;
    const double start = yardstick_clock();
    carom_status status = record && !r ? CAROM_IO : carom_sim_run(sim, r ? carom_record_step : NULL, r, &m.why);
    if (status == CAROM_OK && r) status = carom_record_finish(r, "done", NULL, &m.why);
    const double seconds = yardstick_clock() - start;
    const carom_now now = carom_sim_now(sim);
    m.steps = now.step;
    if (status == CAROM_OK && now.step > 0) m.ns = 1e9 * seconds / (double)now.step;
    for (int i = 0; i < 3 && i < def.system->nq; ++i) m.q[i] = now.q[i];
    for (int i = 0; i < 3 && i < def.system->nv; ++i) m.v[i] = now.v[i];
    if (r) carom_record_destroy(r);
    carom_sim_destroy(sim);
    return m;
}

// The least of some runs.  Without a record, a few steps tell first how many there is time for: models differ by a
// factor of 1e5.
static measurement measure(const bench *b, const subject *s, const char *scheme, const char *record) {
    static const double most = 0.06e9; // ns per run
    bench some = *b;
    measurement best = {.ns = NAN};
    if (!record && b->limited) {
        some.steps = 20;
        best = run_once(&some, s, scheme, record);
        if (!isfinite(best.ns)) return best;
        some.steps = (long)fmin((double)b->steps, fmax(20, most / best.ns));
    }
    best = run_once(&some, s, scheme, record);
    for (int i = 1; i < b->runs && isfinite(best.ns); ++i) {
        const measurement m = run_once(&some, s, scheme, record);
        if (m.ns < best.ns) best = m;
    }
    return best;
}

// -- the table ---------------------------------------------------------------------------------------

static int by_name(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

// The shipped models, sorted; the list and its strings are left to the end of the program.
static int shipped(char ***list) {
    DIR *dir = opendir(CAROM_SOURCE_DIR "/models");
    int n = 0;
    *list = NULL;
    if (!dir) return 0;
    for (struct dirent *e; (e = readdir(dir));) {
        const size_t length = strlen(e->d_name);
        if (length < 6 || strcmp(e->d_name + length - 5, ".yaml") != 0) continue;
        char **more = realloc(*list, sizeof **list * (size_t)(n + 1)),
             *path = malloc(length + sizeof CAROM_SOURCE_DIR + 9);
        if (!more || !path) break;
        sprintf(path, "%s/models/%s", CAROM_SOURCE_DIR, e->d_name);
        *list = more;
        (*list)[n++] = path;
    }
    closedir(dir);
    if (n) qsort(*list, (size_t)n, sizeof **list, by_name);
    return n;
}

static void table_head(void) {
    printf("ns per step by scheme\n%-34s", "");
    for (int i = 0; carom_scheme_at(i); ++i) printf(" %18s", carom_scheme_at(i)->name);
    printf("\n");
}

static void table_row(bench *b, const char *file) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const text t = read_file(file);
    carom_error err = {0};
    carom_model *model = make_model(&t, &err);
    printf("%-34s", name);
    if (!model) {
        printf(" %s\n", err.text);
        ++b->failures;
        free(t.at);
        return;
    }
    const subject s = subject_of(model, &t);
    char notes[4096] = "";
    for (int i = 0; carom_scheme_at(i); ++i) {
        const char *scheme = carom_scheme_at(i)->name;
        const measurement m = measure(b, &s, scheme, NULL);
        if (isfinite(m.ns)) {
            printf(" %18.0f", m.ns);
            keep(b, "scheme", name, scheme, m.ns, NAN);
        } else {
            printf(" %18s", m.refused ? "-" : "stopped");
            const size_t used = strlen(notes);
            if (!m.refused)
                snprintf(notes + used, sizeof notes - used, "    %s stopped after %ld steps: %s\n", scheme, m.steps,
                         m.why.text);
        }
        fflush(stdout);
    }
    printf("\n%s", notes);
    carom_model_destroy(model);
    free(t.at);
}

static void line(const bench *b, const char *what, const char *scheme, double ns, double unit) {
    printf("%-62s %10.1f ns   %8.2f\n", what, ns, ns / unit);
    keep(b, what, "slider-crank", scheme, ns, ns / unit);
}

// -- the model alone -----------------------------------------------------------------------------------

enum { EVALUATIONS = 20000 };

static double evaluate_by_hand(void) {
    double q[3] = {0, 0, 0}, M[9], f[3], g[4], W[12];
    const double v[3] = {150, -75, 1};
    volatile double sink = 0;
    const double start = yardstick_clock();
    for (int i = 0; i < EVALUATIONS; ++i) {
        q[0] = q[1] = q[2] = 1e-4 * i;
        yardstick_evaluate(q, v, M, f, g, W);
        sink = M[1] + f[0] + g[3] + W[11];
    }
    (void)sink;
    return 1e9 * (yardstick_clock() - start) / EVALUATIONS;
}

// M, f, g and W of the text model, as a step of moreau-midpoint asks for them.  NAN when a function fails.
static double evaluate_system(const carom_system *sys) {
    double q[3] = {0, 0, 0}, M[16] = {0}, f[3] = {0}, g[4] = {0}, W[12] = {0}, w[4] = {0};
    const double v[3] = {150, -75, 1};
    int id[4] = {0, 1, 2, 3}, at[5] = {0, 1, 2, 3, 4};
    carom_local L = {.nb = 4, .id = id, .at = at, .W = {.rows = 3, .n = 4, .stride = 3, .a = W}, .w = w};
    void *work = calloc(1, sys->work_size + 1);
    if (!work || carom_shape_size(sys->mass_shape) > 16) return free(work), NAN;
    if (sys->work_init) sys->work_init(sys->model, work);
    carom_status status = CAROM_OK;
    const double start = yardstick_clock();
    for (int i = 0; i < EVALUATIONS && status == CAROM_OK; ++i) {
        q[0] = q[1] = q[2] = 1e-4 * i;
        const carom_matrix mass = {sys->mass_shape, M};
        const carom_system_speed *speed = sys->speed;
        status = speed->motion_directions ? speed->motion_directions(sys->model, work, 0, q, v, mass, f, g, &L)
                                          : CAROM_RETRY;
        if (status == CAROM_RETRY) {
            status = speed->motion(sys->model, work, 0, q, v, mass, f, g);
            if (status == CAROM_OK) status = sys->directions(sys->model, work, 0, q, &L);
        }
    }
    const double seconds = yardstick_clock() - start;
    free(work);
    return status == CAROM_OK ? 1e9 * seconds / EVALUATIONS : NAN;
}

static void compare_evaluation(const bench *b, const carom_system *sys, const char *how) {
    char what[80];
    double hand = INFINITY, text_model = INFINITY;
    for (int i = 0; i < 4 * b->runs; ++i) {
        hand = fmin(hand, evaluate_by_hand());
        text_model = fmin(text_model, evaluate_system(sys));
    }
    snprintf(what, sizeof what, "M, f, g, W of the %s", how);
    line(b, "M, f, g, W of the slider-crank by hand", "", hand, hand);
    line(b, what, "", text_model, hand);
}

// -- against hand-written C, and against the peer ----------------------------------------------------

static double distance(const double *q, const double *v, const double *q1, const double *v1) {
    double d = 0;
    for (int i = 0; i < 3; ++i) d = fmax(d, fmax(fabs(q[i] - q1[i]), fabs(v[i] - v1[i])));
    return d;
}

// The peer is a program of its own, for it is C++; it prints ns per step and the end state.
static bool run_peer(const bench *b, long steps, measurement *best) {
    best->ns = NAN;
    for (int i = 0; i < b->runs; ++i) {
        char command[4096];
        snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=1 '%s/siconos_slider' %ld 1e-5 2>/dev/null",
                 CAROM_BENCH_DIR, steps);
        FILE *in = popen(command, "r");
        measurement m;
        int read = 0;
        if (in) {
            read = fscanf(in, "%lf %lf %lf %lf %lf %lf %lf", &m.ns, m.q, m.q + 1, m.q + 2, m.v, m.v + 1, m.v + 2);
            pclose(in);
        }
        if (read != 7) return false;
        if (!(m.ns >= best->ns)) *best = m;
    }
    return true;
}

static void compare(bench *b) {
    const text t = read_file(CAROM_SOURCE_DIR "/models/slider-crank-frictionless.yaml");
    carom_error err = {0};
    carom_model *model = make_model(&t, &err);
    if (!model) {
        printf("%s\n", err.text);
        ++b->failures;
        return;
    }
    yardstick_result y = yardstick_run(&yardstick_slider, b->steps, 1e-5, 0.4);
    for (int i = 0; i < 4 * b->runs; ++i) {
        const yardstick_result again = yardstick_run(&yardstick_slider, b->steps, 1e-5, 0.4);
        if (again.ns_per_step < y.ns_per_step) y = again;
    }
    const char *file = CAROM_BENCH_DIR "/bench.h5";
    subject text_model = subject_of(model, &t);
    text_model.given.end = NAN; // b->steps steps, however long that is
    const carom_system system = native_slider();
    subject c_model = text_model;
    c_model.system = &system;
    const measurement native = measure(b, &c_model, "moreau-midpoint", NULL);
    const bench brief = {.steps = 2000, .runs = 1}; // early states can be compared
    const measurement early = measure(&brief, &text_model, "moreau-jean", NULL);

    printf("\nslider-crank without friction, step 1e-5, %ld steps (%.0f %% of them with contact)\n", b->steps,
           100.0 * (double)y.contact_steps / (double)b->steps);
    printf("%-62s %13s   %8s\n", "", "per step", "ratio");
    line(b, "engine-like C loop (the yardstick)", "moreau-midpoint", y.ns_per_step, y.ns_per_step);
    line(b, "carom: moreau-midpoint; model in C callbacks", "moreau-midpoint", native.ns, y.ns_per_step);
    measurement plain = {.ns = NAN}, jean = {.ns = NAN};
    bool compiled = false;
    for (int i = 0; i < 2; ++i) { // interpreted, then compiled
        const char *how = compiled ? "compiled model" : "text model";
        char what[80];
        plain = measure(b, &text_model, "moreau-midpoint", NULL);
        const measurement recorded = measure(b, &text_model, "moreau-midpoint", file);
        jean = measure(b, &text_model, "moreau-jean", NULL);
        remove(file);
        snprintf(what, sizeof what, "carom: moreau-midpoint; %s", how);
        line(b, what, "moreau-midpoint", plain.ns, y.ns_per_step);
        snprintf(what, sizeof what, "carom: moreau-midpoint; %s; every 10th step recorded", how);
        line(b, what, "moreau-midpoint", recorded.ns, y.ns_per_step);
        snprintf(what, sizeof what, "carom: moreau-jean; %s", how);
        line(b, what, "moreau-jean", jean.ns, y.ns_per_step);
        if (!isfinite(recorded.ns)) {
            printf("recording failed: %s\n", recorded.why.text);
            ++b->failures;
        }
        if (i > 0) continue;
        printf("end states of yardstick and carom differ by %.1e\n", distance(y.q, y.v, plain.q, plain.v));
        compare_evaluation(b, carom_model_system(model), how);
        if (carom_model_compile(model, CAROM_COMPILE_ON, 0, &compiled, &err) == CAROM_OK) continue;
        printf("not compiled: %s\n", err.text);
        break;
    }
    if (compiled) compare_evaluation(b, carom_model_system(model), "compiled model");

    measurement peer, early_peer;
    if (run_peer(b, b->steps, &peer) && run_peer(&brief, brief.steps, &early_peer)) {
        line(b, "Siconos (Debian): Moreau-Jean; C++ model; no recording", "moreau-jean", peer.ns, y.ns_per_step);
        printf("Siconos takes %.1f times the time of carom's moreau-jean.  Debian's build of Siconos has its "
               "assertions compiled\n"
               "in; a release build of the same version was measured 1.6 times faster.  At t = 0.02 the two differ by "
               "%.1e (both\n"
               "are of first order; speeds are about 70).\n",
               peer.ns / jean.ns, distance(early_peer.q, early_peer.v, early.q, early.v));
    } else {
        printf("the peer is missing: the Debian packages siconos and g++ bring it; then `make clean bench`\n");
    }
    carom_model_destroy(model);
    free(t.at);
}

// What half-explicit costs beyond moreau-explicit, which sees one contact problem a step instead of two.
static void half_explicit(bench *b) {
    static const char *const file[] = {CAROM_SOURCE_DIR "/models/slider-crank.yaml",
                                       CAROM_SOURCE_DIR "/models/four-bar-clearance.yaml",
                                       CAROM_SOURCE_DIR "/models/four-bar.yaml", CAROM_SOURCE_DIR "/models/chain.yaml"};
    bench some = *b;
    some.limited = true;
    printf("\n%-40s %15s %15s %8s\n", "compiled, ns per step", "moreau-explicit", "half-explicit", "ratio");
    for (size_t i = 0; i < sizeof file / sizeof *file; ++i) {
        const text t = read_file(file[i]);
        carom_error err = {0};
        carom_model *model = make_model(&t, &err);
        if (model) {
            const subject s = subject_of(model, &t);
            carom_model_compile(model, CAROM_COMPILE_AUTO, HUGE_VAL, NULL, &err);
            const double one = measure(&some, &s, "moreau-explicit", NULL).ns,
                         two = measure(&some, &s, "half-explicit", NULL).ns;
            printf("%-40s %15.0f %15.0f %8.2f\n", strrchr(file[i], '/') + 1, one, two, two / one);
            keep(b, "half-explicit over moreau-explicit", strrchr(file[i], '/') + 1, "half-explicit", two, two / one);
        } else {
            printf("%s\n", err.text);
            ++b->failures;
        }
        carom_model_destroy(model);
        free(t.at);
    }
}

int main(int argc, char **argv) {
    bench b = {.steps = 200000, .runs = 5};
    char **models = NULL;
    int n = 0;
    bool single = false;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc) b.csv = fopen(argv[++i], "w");
        else if (strcmp(argv[i], "--single") == 0) single = true;
        else if (strcmp(argv[i], "--quick") == 0) b.steps = 20000, b.runs = 2;
        else if (argv[i][0] != '-') models = argv + i, n = argc - i, i = argc;
        else return fprintf(stderr, "usage: bench [--csv FILE] [--quick] [--single] [MODEL...]\n"), 2;
    }
    if (b.csv) fprintf(b.csv, "part,model,scheme,ns_per_step,ratio\n");
    if (!n && !single) n = shipped(&models);
    b.limited = true;
    if (n) table_head();
    for (int i = 0; i < n; ++i) table_row(&b, models[i]);
    b.limited = false;
    compare(&b);
    half_explicit(&b);
    if (b.csv) fclose(b.csv);
    return b.failures ? 1 : 0;
}
