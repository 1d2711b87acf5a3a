// bar.c: an elastic bar that hits a wall, from a hundred to a million elements: carom beside C written for it alone.
//
// Usage: bench_bar [--quick] [--csv FILE].  ns of thread CPU time per unknown and step, the least of several runs; a
// row for each number of elements, mass lumped and consistent.  carom gets the bar twice: as a system in C whose forces
// are the element loop of the yardstick, and as a flexible member of a model file.
#define _DEFAULT_SOURCE // popen
#include "bar_yardstick.h"
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// -- the bar as a system -----------------------------------------------------------------------------------

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)work, (void)t, (void)q;
    const bar *b = model;
    for (int e = 0; e + 1 < b->n; ++e) {
        const double same = b->lumped ? b->m / 2 : b->m / 3;
        *carom_matrix_entry(M, e, e) += same;
        *carom_matrix_entry(M, e + 1, e + 1) += same;
        if (!b->lumped) *carom_matrix_entry(M, e, e + 1) = *carom_matrix_entry(M, e + 1, e) = b->m / 6;
    }
    return CAROM_OK;
}

// The same element loop as the engine-like yardstick.
static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work, (void)t, (void)v;
    const bar *b = model;
    for (int e = 0; e + 1 < b->n; ++e) {
        const double pull = b->k * (q[e + 1] - q[e]);
        f[e] += pull;
        f[e + 1] -= pull;
    }
    return CAROM_OK;
}

static carom_status tangent(const void *model, void *work, double t, const double *q, const double *v, carom_matrix K,
                            carom_matrix C) {
    (void)work, (void)t, (void)q, (void)v, (void)C;
    const bar *b = model;
    for (int e = 0; e + 1 < b->n; ++e) {
        *carom_matrix_entry(K, e, e) += b->k;
        *carom_matrix_entry(K, e + 1, e + 1) += b->k;
        *carom_matrix_entry(K, e, e + 1) = *carom_matrix_entry(K, e + 1, e) = -b->k;
    }
    return CAROM_OK;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[0];
    return CAROM_OK;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    if (L->nb == 0) return CAROM_OK;
    L->W.count[0] = 1, L->W.row[0] = 0;
    L->W.a[0] = 1;
    return CAROM_OK;
}

static const carom_contact inelastic = {.restitution = 0};

static carom_system system_of(const bar *b) {
    carom_system s = carom_system_default(b->n, b->n, 0, 1);
    s.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS | CAROM_LINEAR;
    s.mass_shape = (carom_shape){b->lumped ? CAROM_DIAGONAL : CAROM_BANDED, b->n, 1, NULL};
    s.tangent_shape = (carom_shape){CAROM_BANDED, b->n, 1, NULL};
    s.column_stride = 1;
    s.contacts = &inelastic;
    s.model = b;
    s.mass = mass, s.force = force, s.tangent = tangent, s.gaps = gaps, s.directions = directions;
    return s;
}

// -- measuring -----------------------------------------------------------------------------------------------

typedef struct sizes {
    int elements, steps, runs;
} sizes;

static double yardstick(const sizes *z, bool lumped, bool floor, double *end) {
    double best = INFINITY;
    for (int run = 0; run < z->runs; ++run) {
        bar b;
        if (!bar_make(&b, z->elements, lumped)) return NAN;
        if (floor) bar_floor_begin(&b);
        for (int i = 0; i < 3; ++i) (floor ? bar_floor_step : bar_engine_step)(&b); // pages and caches
        const double start = seconds();
        for (int i = 0; i < z->steps; ++i) (floor ? bar_floor_step : bar_engine_step)(&b);
        best = fmin(best, seconds() - start);
        if (floor) bar_floor_end(&b);
        memcpy(end, b.q, (size_t)b.n * sizeof *end);
        bar_free(&b);
    }
    return 1e9 * best / z->steps / (z->elements + 1);
}

// The same bar as a model file.
static carom_model *text_of(const bar *b, carom_error *err) {
    char text[800];
    const int length = snprintf(text, sizeof text,
                                "carom: 1\nname: bar\nflexible:\n  bar: {type: bar, length: 10, elements: %d, density: "
                                "1, modulus: 900, area: 1, "
                                "rate: -10, mass: %s}\ncontacts: {wall: {gap: bar.start.u, restitution: 0}}\n",
                                b->n - 1, b->lumped ? "lumped" : "consistent");
    return carom_model_create(&(carom_model_def){.text = text, .length = (size_t)length, .file = "bar"}, err);
}

static double ours(const sizes *z, bool lumped, bool text, const char *scheme, const char *const *options, double *end,
                   char *why, size_t size) {
    double best = INFINITY;
    for (int run = 0; run < z->runs; ++run) {
        bar b;
        carom_error err = {0};
        if (!bar_make(&b, z->elements, lumped)) return NAN;
        carom_model *model = text ? text_of(&b, &err) : NULL;
        if (text && !model) return bar_free(&b), snprintf(why, size, "%.150s", err.text), NAN;
        const carom_system s = text ? *carom_model_system(model) : system_of(&b);
        carom_sim_def d = carom_sim_default();
        d.system = &s;
        d.scheme = scheme;
        d.options = options;
        d.h = b.h;
        d.t_end = b.h * (z->steps + 3);
        d.q0 = b.q;
        d.v0 = b.v;
        carom_sim *sim = carom_sim_create(&d, &err);
        carom_status status = sim ? CAROM_OK : err.code;
        for (int i = 0; i < 3 && status == CAROM_OK; ++i) status = carom_sim_step(sim, &err);
        const double start = seconds();
        for (int i = 0; i < z->steps && status == CAROM_OK; ++i) status = carom_sim_step(sim, &err);
        best = fmin(best, seconds() - start);
        if (sim) memcpy(end, carom_sim_now(sim).q, (size_t)b.n * sizeof *end);
        carom_sim_destroy(sim);
        carom_model_destroy(model);
        bar_free(&b);
        if (status != CAROM_OK) return snprintf(why, size, "%.150s", err.text), NAN;
    }
    return 1e9 * best / z->steps / (z->elements + 1);
}

static double difference(const double *a, const double *b, int n) {
    double most = 0, size = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(a[i]));
    return most / size;
}

// The peer is a program of its own, for it is C++.  Ours beside it: the same scheme, without the check of the energy
// balance that the peer does not make either.
static void compare_peer(bool quick, FILE *csv) {
    enum { ELEMENTS = 1000 };
    const sizes z = {ELEMENTS, quick ? 50 : 200, quick ? 1 : 3};
    double peer = INFINITY, q_0 = NAN, q_n = NAN, x[ELEMENTS + 1];
    char command[4096], why[200] = "";
    for (int run = 0; run < z.runs; ++run) {
        double ns;
        snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=1 '%s/siconos_bar' %d %d 2>/dev/null", CAROM_BENCH_DIR,
                 ELEMENTS, z.steps);
        FILE *in = popen(command, "r");
        const int read = in ? fscanf(in, "%lf %lf %lf", &ns, &q_0, &q_n) : 0;
        if (in) pclose(in);
        if (read != 3) {
            printf("\nthe peer is missing: the Debian packages siconos and g++ bring it; then `make clean bench`\n");
            return;
        }
        peer = fmin(peer, ns);
    }
    static const char *const plain[] = {"identity=off", NULL};
    const double mine = ours(&z, false, false, "moreau-jean", plain, x, why, sizeof why);
    printf("\n%d elements, consistent mass, moreau-jean, ns per unknown and step: carom %.2f, Siconos (Debian) %.2f: "
           "%.0f times; "
           "last nodes differ by %.1e of %.1e\n",
           ELEMENTS, mine, peer, peer / mine, fabs(x[ELEMENTS] - q_n), fabs(q_n));
    if (csv)
        fprintf(csv, "%d,consistent,moreau-jean identity=off,%.3f\n%d,consistent,siconos,%.3f\n", ELEMENTS, mine,
                ELEMENTS, peer);
}

static const struct column {
    const char *name, *scheme;
    bool text;
} COLUMNS[] = {{"midpoint, C", "moreau-midpoint", false},
               {"midpoint, text", "moreau-midpoint", true},
               {"moreau-jean, C", "moreau-jean", false},
               {"newmark, C", "newmark", false},
               {"ggl-alpha, C", "ggl-alpha", false}};
enum { COUNT = sizeof COLUMNS / sizeof *COLUMNS };

// Memory that a simulation of this size takes, in a process of its own.
static long kilobytes(int elements, bool lumped, bool text) {
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        char why[200];
        double *x = malloc(((size_t)elements + 1) * sizeof *x);
        const sizes z = {elements, 3, 1};
        _exit(x && isfinite(ours(&z, lumped, text, "moreau-midpoint", NULL, x, why, sizeof why)) ? 0 : 1);
    }
    struct rusage use;
    int status;
    if (wait4(child, &status, 0, &use) != child || status != 0) return -1;
    return use.ru_maxrss;
}

static void memory_table(void) {
    printf("\nmemory with moreau-midpoint, bytes per unknown (system, state and scratch):\n");
    for (int text = 0; text <= 1; ++text)
        for (int lumped = 1; lumped >= 0; --lumped) {
            const long base = kilobytes(100, lumped, text);
            printf("  %s, %-10s", text ? "text" : "C   ", lumped ? "lumped" : "consistent");
            for (int elements = 10000; elements <= 1000000; elements *= 10)
                printf("  %d: %4.0f", elements, 1024.0 * (double)(kilobytes(elements, lumped, text) - base) / elements);
            printf("\n");
        }
}

int main(int argc, char **argv) {
    FILE *csv = NULL;
    bool quick = false;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--quick") == 0) quick = true;
        else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc) csv = fopen(argv[++i], "w");
        else return fprintf(stderr, "usage: bench_bar [--quick] [--csv FILE]\n"), 2;
    }
    memory_table(); // first, while this process is small itself
    printf("\nelastic bar against a wall, ns per unknown and step; ratio to the engine-like loop\n");
    printf("%9s  %-10s %8s %8s", "elements", "mass", "floor", "engine");
    for (int c = 0; c < COUNT; ++c) printf("  %-16s", COLUMNS[c].name);
    printf("\n");
    if (csv) fprintf(csv, "elements,mass,what,ns_per_unknown_and_step\n");
    for (int lumped = 1; lumped >= 0; --lumped)
        for (int elements = 100; elements <= 1000000; elements *= 10) {
            sizes z = {elements, (quick ? 3000000 : 20000000) / elements + 10, quick ? 2 : 5};
            double *y = malloc(((size_t)elements + 1) * sizeof *y), *x = malloc(((size_t)elements + 1) * sizeof *x);
            if (!x || !y) return fprintf(stderr, "no memory\n"), 1;
            const char *kind = lumped ? "lumped" : "consistent";
            const double least = yardstick(&z, lumped, true, x), engine = yardstick(&z, lumped, false, y);
            printf("%9d  %-10s %8.2f %8.2f", elements, kind, least, engine);
            if (csv)
                fprintf(csv, "%d,%s,floor,%.3f\n%d,%s,engine-like,%.3f\n", elements, kind, least, elements, kind,
                        engine);
            for (int c = 0; c < COUNT; ++c) {
                sizes less = z;
                char why[200] = "";
                const bool cheap = strcmp(COLUMNS[c].scheme, "moreau-midpoint") == 0;
                if (!cheap) less.steps = z.steps / 10 + 5, less.runs = 2;
                const double ns = ours(&less, lumped, COLUMNS[c].text, COLUMNS[c].scheme, NULL, x, why, sizeof why);
                printf("  %7.2f (%4.1f)  ", ns, ns / engine);
                if (cheap && !(difference(x, y, elements + 1) < 1e-9))
                    printf("(differs by %.1e)", difference(x, y, elements + 1));
                if (!isfinite(ns)) printf("%s", why);
                if (csv) fprintf(csv, "%d,%s,\"%s\",%.3f\n", elements, kind, COLUMNS[c].name, ns);
                fflush(stdout);
            }
            printf("\n");
            free(x);
            free(y);
        }
    compare_peer(quick, csv);
    if (csv) fclose(csv);
    return 0;
}
