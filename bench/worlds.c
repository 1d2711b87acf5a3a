// worlds.c: CPU milliseconds per step of spheres and cubes in a box, whole steps, beside MuJoCo where that is
// installed; then per contact problem of the same piles, beside Siconos where that is.
//
// m^3 spheres of radius 0.1 and friction 0.3 fall from a loose grid into a box with four walls; cubes of edge 0.2 fall
// on each other.  Steps of 2e-3; the mean over 600 steps, of the largest piles over fewer.  Usage: bench_worlds
// [largest number of bodies]
#define _POSIX_C_SOURCE 200809L
#include <carom/carom.h>
#include <carom/team.h>
#ifdef WITH_MUJOCO
#include <mujoco/mujoco.h>
#endif
#ifdef WITH_SICONOS
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double H = 2e-3;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Place of body (i, j, k), a little beside the grid.
static void place(int m, int i, int j, int k, double *x) {
    const int n = (i * m + j) * m + k;
    x[0] = 0.21 * (i + 0.5) + 0.004 * sin(12.9898 * n), x[1] = 0.21 * (j + 0.5) + 0.004 * sin(78.233 * n),
    x[2] = 0.12 + 0.22 * k;
}

static char *model_text(int m, bool cubes) {
    const size_t room = 2000 + 260 * (size_t)(m * m * m);
    char *text = malloc(room);
    size_t n = (size_t)snprintf(text, room,
                                "carom: 1\ngravity: [0, 0, -9.81]\nrecord: {bodies: none}\nbodies:\n  s:\n    repeat: "
                                "[%d, %d, %d]\n    body: {mass: 1, inertia: [%g, %g, %g], shape: {%s}, "
                                "at: [0.21*(i + 0.5) + 0.004*sin(12.9898*((i*%d + j)*%d + k)), 0.21*(j + 0.5) + "
                                "0.004*sin(78.233*((i*%d + j)*%d + k)), 0.12 + 0.22*k]}\n",
                                m, m, m, cubes ? 0.04 / 6 : 0.004, cubes ? 0.04 / 6 : 0.004, cubes ? 0.04 / 6 : 0.004,
                                cubes ? "box: [0.2, 0.2, 0.2]" : "sphere: 0.1", m, m, m, m);
    n += (size_t)snprintf(text + n, room - n, "shapes: {floor: {plane: [0, 0, 1]}");
    if (!cubes)
        n += (size_t)snprintf(text + n, room - n,
                              ", a: {plane: [1, 0, 0], at: [-0.01, 0, 0]}, b: {plane: [-1, 0, 0], at: [%g, 0, 0]}, c: "
                              "{plane: [0, 1, 0], at: [0, -0.01, 0]}, d: {plane: [0, -1, 0], at: [0, %g, 0]}",
                              0.21 * m + 0.01, 0.21 * m + 0.01);
    snprintf(text + n, room - n,
             "}\ncontacts: {all: {among: s, friction: 0.3}, walls: {between: [s, %s], friction: 0.3}}\n",
             cubes ? "[floor]" : "[floor, a, b, c, d]");
    return text;
}

typedef struct times { double cpu, clock; } times;

static times carom_ms(int m, bool cubes, const char *tol, int steps, int threads) {
    char *text = model_text(m, cubes);
    carom_error err = {0};
    carom_model *model =
        carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "pile.yaml"}, &err);
    const char *const options[] = {tol, NULL};
    carom_sim_def d = carom_sim_default();
    carom_sim *sim = NULL;
    struct carom_team *team = NULL;
    if (model) {
        d.system = carom_model_system(model), d.scheme = "moreau-midpoint", d.options = options, d.h = H,
        d.t_end = steps * H, d.q0 = carom_model_q0(model), d.v0 = carom_model_v0(model);
        sim = carom_sim_create(&d, &err);
    }
    if (sim && threads > 1 && (team = carom_team_create(threads, &err))) carom_sim_team(sim, team);
    times t = {NAN, NAN};
    const double start = now(), clock = wall();
    if (sim && carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK)
        t = (times){1e3 * (now() - start) / steps, 1e3 * (wall() - clock) / steps};
    if (isnan(t.cpu)) fprintf(stderr, "%d bodies, %s: %s\n", m * m * m, tol, err.text);
    carom_sim_destroy(sim);
    if (team) carom_team_destroy(team);
    carom_model_destroy(model);
    free(text);
    return t;
}

#ifdef WITH_MUJOCO
// Its soft contacts and the solver that scales best with the size.
static double mujoco_ms(int m, bool cubes, int steps) {
    const size_t room = 4000 + 300 * (size_t)(m * m * m);
    const int contacts = (cubes ? 40 : 8) * m * m * m; // room for them; its data must not exceed 2 GB
    char *text = malloc(room), error[300];
    size_t n = (size_t)snprintf(
        text, room,
        "<mujoco><option timestep='%g' gravity='0 0 -9.81' solver='CG' tolerance='1e-6' cone='elliptic'/><size "
        "nconmax='%d' njmax='%d' nstack='50000000'/><default><geom friction='0.3 0 0' condim='3'/></default>"
        "<worldbody><geom type='plane' size='0 0 1'/>",
        H, contacts, 3 * contacts);
    if (!cubes)
        n += (size_t)snprintf(text + n, room - n,
                              "<geom type='plane' size='0 0 1' pos='-0.01 0 0' zaxis='1 0 0'/><geom type='plane' "
                              "size='0 0 1' pos='%g 0 0' zaxis='-1 0 0'/>"
                              "<geom type='plane' size='0 0 1' pos='0 -0.01 0' zaxis='0 1 0'/><geom type='plane' "
                              "size='0 0 1' pos='0 %g 0' zaxis='0 -1 0'/>",
                              0.21 * m + 0.01, 0.21 * m + 0.01);
    for (int k = 0; k < m * m * m; ++k) {
        double x[3];
        place(m, k / (m * m), k / m % m, k % m, x);
        n += (size_t)snprintf(text + n, room - n,
                              "<body pos='%.9g %.9g %.9g'><freejoint/><geom type='%s' size='0.1%s' mass='1'/></body>",
                              x[0], x[1], x[2], cubes ? "box" : "sphere", cubes ? " 0.1 0.1" : "");
    }
    snprintf(text + n, room - n, "</worldbody></mujoco>");
    mjVFS *files = malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, "pile.xml", (int)strlen(text));
    memcpy(files->filedata[0], text, strlen(text));
    mjModel *model = mj_loadXML("pile.xml", files, error, sizeof error);
    mj_deleteVFS(files);
    free(files);
    free(text);
    if (!model) return fprintf(stderr, "MuJoCo: %s\n", error), NAN;
    mjData *d = mj_makeData(model);
    const double start = now();
    for (int i = 0; i < steps; ++i) mj_step(model, d);
    const double each = 1e3 * (now() - start) / steps;
    mj_deleteData(d);
    mj_deleteModel(model);
    return each;
}
#else
static double mujoco_ms(int m, bool cubes, int steps) { return (void)place, (void)m, (void)cubes, (void)steps, NAN; }
#endif

#ifdef WITH_SICONOS
// One contact problem in thirty of a pile, solved by carom on its way and then by Siconos from the same start:
// nonsmooth Gauss-Seidel (NSGS), one contact at a time by Newton's method on the equations of Alart and Curnier, the
// fastest of three that were tried, to 1e-6 of |c|.  The certificate of carom judges both answers.
typedef struct both {
    long seen, problems, unsolved; // problems of the run; those measured; those that Siconos gave up
    double contacts, started, ms[2], worst[2];
    double *start, *p, *u;         // of the problem
} both;

static SparseBlockStructuredMatrix *siconos_matrix(const carom_problem *pb) {
    const carom_block_rows *R = pb->rows;
    const size_t nb = (size_t)pb->nb, blocks = (size_t)R->start[nb];
    SparseBlockStructuredMatrix *M = SBM_new();
    M->nbblocks = (unsigned)blocks, M->blocknumber0 = M->blocknumber1 = (unsigned)nb;
    M->filled1 = nb + 1, M->filled2 = blocks;
    M->block = malloc(blocks * sizeof *M->block);
    M->blocksize0 = malloc(nb * sizeof *M->blocksize0), M->blocksize1 = malloc(nb * sizeof *M->blocksize1);
    M->index1_data = malloc((nb + 1) * sizeof *M->index1_data),
    M->index2_data = malloc(blocks * sizeof *M->index2_data);
    for (size_t b = 0; b < nb; ++b) M->blocksize0[b] = M->blocksize1[b] = 3 * (unsigned)(b + 1);
    for (size_t b = 0; b <= nb; ++b) M->index1_data[b] = (size_t)R->start[b];
    for (size_t k = 0; k < blocks; ++k) {
        M->index2_data[k] = (size_t)R->col[k];
        M->block[k] = malloc(9 * sizeof(double));
        memcpy(M->block[k], R->value + R->at[k], 9 * sizeof(double));
    }
    return M;
}

static void siconos_solve(both *x, const carom_problem *pb) {
    const size_t n = (size_t)pb->n;
    double *c = malloc(n * sizeof *c); // owned by the problem from here on
    memcpy(c, pb->c, n * sizeof *c);
    memcpy(x->p, x->start, n * sizeof *x->p);
    memset(x->u, 0, n * sizeof *x->u);
    double *mu = malloc((size_t)pb->nb * sizeof *mu);
    for (int b = 0; b < pb->nb; ++b) mu[b] = pb->block[b].mu;
    FrictionContactProblem *problem =
        frictionContactProblem_new_with_data(3, pb->nb, NM_new_SBM(pb->n, pb->n, siconos_matrix(pb)), c, mu);
    SolverOptions *options = solver_options_create(SICONOS_FRICTION_3D_NSGS);
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
    options->dparam[SICONOS_DPARAM_TOL] = 1e-6;
    solver_options_update_internal(options, 0, SICONOS_FRICTION_3D_ONECONTACT_NSN);
    const double start = now();
    x->unsolved += fc3d_driver(problem, x->p, x->u, options) != 0;
    x->ms[1] += 1e3 * (now() - start);
    solver_options_delete(options);
    free(options);
    frictionContactProblem_free(problem);
    carom_problem judged = *pb;
    judged.p = x->p, judged.u = x->u;
    x->worst[1] = fmax(x->worst[1], carom_residual(&judged, NULL));
}

static void on_problem(void *user, double t, const carom_problem *pb, const carom_report *report) {
    enum { EVERY = 30, FEW = 30 };
    both *x = user;
    bool spatial = pb->rows != NULL && pb->nb >= FEW;
    for (int b = 0; b < pb->nb; ++b) spatial = spatial && pb->block[b].law == CAROM_SPATIAL;
    (void)t;
    if (!spatial) return;
    if (!report) {
        if (++x->seen % EVERY == 0) memcpy(x->start, pb->p, (size_t)pb->n * sizeof *x->start), x->started = now();
        return;
    }
    if (x->seen % EVERY != 0) return;
    x->ms[0] += 1e3 * (now() - x->started);
    x->worst[0] = fmax(x->worst[0], report->residual);
    x->contacts += pb->nb;
    ++x->problems;
    siconos_solve(x, pb);
}

static void siconos_row(int m, bool cubes, int steps) {
    char *text = model_text(m, cubes);
    carom_error err = {0};
    carom_model *model =
        carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "pile.yaml"}, &err);
    const size_t room = 3 * 100 * (size_t)(m * m * m);
    both x = {
        .start = malloc(room * sizeof(double)), .p = malloc(room * sizeof(double)), .u = malloc(room * sizeof(double))};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(model), d.scheme = "moreau-midpoint",
    d.options = (const char *const[]){"tol=1e-6", NULL}, d.h = H, d.t_end = steps * H, d.q0 = carom_model_q0(model),
    d.v0 = carom_model_v0(model);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (sim) carom_sim_watch_problems(sim, on_problem, &x);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK)
        fprintf(stderr, "%d bodies: %s\n", m * m * m, err.text);
    const double n = (double)x.problems;
    printf("%8d %-8s %9.0f %9.3g %9.3g %9ld %9.1e %9.1e\n", m * m * m, cubes ? "cubes" : "spheres", x.contacts / n,
           x.ms[0] / n, x.ms[1] / n, x.unsolved, x.worst[0], x.worst[1]);
    fflush(stdout);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    free(x.start), free(x.p), free(x.u), free(text);
}

static void beside_siconos(int most) {
    printf("\nCPU ms per contact problem, tol=1e-6; the largest residuals in m/s\n%8s %-8s %9s %9s %9s %9s %9s %9s\n",
           "bodies", "", "contacts", "carom", "Siconos", "unsolved", "carom", "Siconos");
    for (int m = 4; m <= 6 && m * m * m <= most; ++m) siconos_row(m, false, 600);
    for (int m = 3; m <= 4 && m * m * m <= most; ++m) siconos_row(m, true, 600);
}
#else
static void beside_siconos(int most) { (void)most; }
#endif

static void cell(double ms) {
    if (isnan(ms)) printf(" %9s", "-");
    else printf(" %9.3g", ms);
}

int main(int argc, char **argv) {
    static const struct {
        int m, steps;
        bool cubes, tight;
    } rows[] = {{4, 600, false, true},   {5, 600, false, true},   {6, 600, false, true}, {10, 600, false, false},
                {16, 300, false, false}, {22, 100, false, false}, {3, 600, true, true},  {4, 600, true, true}};
    const int most = argc > 1 ? atoi(argv[1]) : 1 << 30;
    const times none = {NAN, NAN};
    printf("\nCPU ms per step of a pile; two threads by the clock\n%8s %-8s %9s %9s %9s %9s\n", "bodies", "",
           "tol=1e-6", "tol=1e-3", "2 threads", "MuJoCo");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const int m = rows[i].m, n = m * m * m, steps = rows[i].steps;
        if (n > most) continue;
        printf("%8d %-8s", n, rows[i].cubes ? "cubes" : "spheres");
        cell((rows[i].tight ? carom_ms(m, rows[i].cubes, "tol=1e-6", steps, 1) : none).cpu);
        cell(carom_ms(m, rows[i].cubes, "tol=1e-3", steps, 1).cpu);
        cell((n >= 1000 ? carom_ms(m, rows[i].cubes, "tol=1e-3", steps, 2) : none).clock);
        cell(n <= 1000 ? mujoco_ms(m, rows[i].cubes, steps) : NAN);
        printf("\n");
        fflush(stdout);
    }
    beside_siconos(most);
    return 0;
}
