// mujoco_chain.c: ns per step of a chain of ten links with ten hinges, by carom (models/chain.yaml) and by MuJoCo, in
// one run.
//
// MuJoCo steps the ten joint angles (no contact, no limits), carom sixty velocities of free bodies with fifty
// constraints.  Its semi-implicit Euler scheme compares with moreau-midpoint and moreau-explicit: first order, one
// evaluation of forces per step.  Beside them its Runge-Kutta scheme and those of carom that a user of bodies takes.
// Usage: mujoco_chain MODEL.yaml
#define _POSIX_C_SOURCE 200809L
#include <carom/carom.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINKS = 10, STEPS = 300, RUNS = 5 };
static const double H = 1e-3;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The same chain: links along x, hinges about y and about y + z in turn.
static mjModel *mujoco_model(const char *integrator) {
    char *text = malloc(1 << 16), error[300];
    int n =
        sprintf(text,
                "<mujoco><compiler inertiafromgeom='false'/><option timestep='%g' gravity='0 0 -9.81' integrator='%s'>"
                "<flag contact='disable' warmstart='disable'/></option><worldbody>",
                H, integrator);
    const double m = 0.1, l = 0.1, r = 0.01, J = m * l * l / 12, J3 = 0.5 * m * r * r;
    for (int i = 0; i < LINKS; ++i)
        n += sprintf(text + n,
                     "<body pos='%g 0 0'><joint type='hinge' axis='%s'/><inertial pos='%g 0 0' mass='%g' "
                     "diaginertia='%.17g %.17g %.17g'/>",
                     i ? l : 0.0, i % 2 ? "0 1 1" : "0 1 0", l / 2, m, J3, J, J);
    for (int i = 0; i < LINKS; ++i) n += sprintf(text + n, "</body>");
    sprintf(text + n, "</worldbody></mujoco>");
    mjVFS *files = malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, "chain.xml", (int)strlen(text));
    memcpy(files->filedata[0], text, strlen(text));
    mjModel *model = mj_loadXML("chain.xml", files, error, sizeof error);
    if (!model) fprintf(stderr, "%s\n", error);
    mj_deleteVFS(files);
    free(files);
    free(text);
    return model;
}

static double mujoco_ns(const char *integrator, double *tip) {
    mjModel *m = mujoco_model(integrator);
    if (!m) exit(1);
    mjData *d = mj_makeData(m);
    double best = 1e300;
    for (int run = 0; run < RUNS; ++run) {
        mj_resetData(m, d);
        const double start = now();
        for (int i = 0; i < STEPS; ++i) mj_step(m, d);
        const double each = 1e9 * (now() - start) / STEPS;
        if (each < best) best = each;
    }
    mj_kinematics(m, d);
    tip[0] = d->xpos[3 * LINKS] + 0.1 * d->xmat[9 * LINKS];
    tip[1] = d->xpos[3 * LINKS + 2] + 0.1 * d->xmat[9 * LINKS + 6];
    mj_deleteData(d);
    mj_deleteModel(m);
    return best;
}

static double carom_ns(const carom_model *m, const char *scheme, double *tip) {
    carom_error err = {0};
    double best = 1e300;
    for (int run = 0; run < RUNS; ++run) {
        carom_sim_def d = carom_sim_default();
        d.system = carom_model_system(m);
        d.scheme = scheme;
        d.h = H;
        d.t_end = STEPS * H;
        d.q0 = carom_model_q0(m);
        d.v0 = carom_model_v0(m);
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fprintf(stderr, "%s\n", err.text), exit(1);
        const double start = now();
        while (!carom_sim_done(sim))
            if (carom_sim_step(sim, &err) != CAROM_OK) fprintf(stderr, "%s: %s\n", scheme, err.text), exit(1);
        const double each = 1e9 * (now() - start) / STEPS;
        if (each < best) best = each;
        double *out = calloc((size_t)carom_model_count(m).outputs, sizeof *out);
        if (!out) exit(1);
        const carom_now at = carom_sim_now(sim);
        carom_model_outputs(m, carom_sim_work(sim), at.t, at.q, at.v, out);
        tip[0] = out[0], tip[1] = out[2];
        free(out);
        carom_sim_destroy(sim);
    }
    return best;
}

int main(int argc, char **argv) {
    static const char *const schemes[] = {
        "moreau-midpoint", "moreau-explicit", "half-explicit", "ggl-projection", "mixed", "ggl-midpoint", NULL};
    char text[1 << 14];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f) return fprintf(stderr, "usage: mujoco_chain models/chain.yaml\n"), 2;
    const size_t length = fread(text, 1, sizeof text, f);
    fclose(f);
    carom_error err = {0};
    carom_model *m = carom_model_create(&(carom_model_def){.text = text, .length = length, .file = argv[1]}, &err);
    if (!m) return fprintf(stderr, "%s\n", err.text), 1;
    double tip[2];
    const double mujoco = mujoco_ns("Euler", tip);
    printf("chain of %d links, step %g, t = 0 .. %g            ns per step   / MuJoCo   tip after that\n", LINKS, H,
           STEPS * H);
    printf("  %-44s %12.0f %10.2f   %.4f %.4f\n", "MuJoCo (Euler, joint angles)", mujoco, 1.0, tip[0], tip[1]);
    const double rk4 = mujoco_ns("RK4", tip);
    printf("  %-44s %12.0f %10.2f   %.4f %.4f\n", "MuJoCo (RK4, joint angles)", rk4, rk4 / mujoco, tip[0], tip[1]);
    for (int i = 0; schemes[i]; ++i) {
        const double ns = carom_ns(m, schemes[i], tip);
        printf("  carom %-38s %12.0f %10.2f   %.4f %.4f\n", schemes[i], ns, ns / mujoco, tip[0], tip[1]);
    }
    carom_model_destroy(m);
    return 0;
}
