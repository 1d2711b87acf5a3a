// mechanisms.c: microseconds per step of mechanisms with joints, by scheme, beside MuJoCo where that is installed:
// chains of 10 to 640 links, a tree with 15 branches, a four-bar linkage, ten slider-cranks on one crankshaft, and a
// track with contacts.
//
// MuJoCo steps joint angles (loops by soft constraints), carom the velocities of free bodies with the reactions of all
// joints.  Its semi-implicit Euler scheme compares with moreau-midpoint: first order, one evaluation of forces per
// step. Times are thread CPU time: runs are repeated, and of every hundredth of a run the least time counts, so that
// a machine with other work to do says the same as one without; MuJoCo's chain of ten is run again beside every
// scheme.  Arguments: schemes, and mechanisms ("chain 10"), to measure instead of all.
#define _GNU_SOURCE
#include <carom/carom.h>
#include <carom/event.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { RUNS = 3, SHORT_RUNS = 25, CASES = 8, BRANCHES = 15, LINKS = 4, CRANKS = 10, PIECES = 100 };
static const double H = 1e-3, PI = 3.14159265358979324, MOST = 0.15; // s per run

typedef struct row {
    const char *scheme;
    double goal;
} row; // goal: of MuJoCo's step, chain of ten links; 0: none

static const row rows[] = {{"moreau-midpoint", 2.2},
                           {"half-explicit", 3.6},
                           {"half-explicit-rk", 0},
                           {"moreau-jean", 13},
                           {"newmark", 16},
                           {"hht", 16},
                           {"generalized-alpha", 16},
                           {"ggl-projection", 10},
                           {"ggl-midpoint", 24},
                           {"ggl-alpha", 33},
                           {"alpha-forces", 0},
                           {"dg-minus", 9},
                           {"dg-plus", 45},
                           {"mixed", 16},
                           {"splitting", 0},
                           {"event-driven", 0},
                           {"auto", 0},
                           {NULL, 0}};

static const char *const names[CASES] = {"chain 10",  "chain 40", "chain 160",     "chain 640",
                                         "tree 15x4", "four-bar", "10 slider-cr.", "track"};
static const int chains[] = {10, 40, 160, 640};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of every piece of a run of several steps, the least of all runs.
typedef struct stopwatch {
    double least[PIECES], start;
} stopwatch;

static stopwatch unused(void) {
    stopwatch w = {.start = 0};
    for (int i = 0; i < PIECES; ++i) w.least[i] = HUGE_VAL;
    return w;
}

// Step i of `steps` is done; steps a multiple of PIECES, or fewer.
static void lap(stopwatch *w, int i, int steps) {
    const int each = steps > PIECES ? steps / PIECES : 1;
    if ((i + 1) % each) return;
    const double t = now();
    w->least[i / each] = fmin(w->least[i / each], t - w->start);
    w->start = now();
}

static double us_per_step(const stopwatch *w, int steps) {
    double sum = 0;
    for (int i = 0; i < PIECES && i < steps; ++i) sum += w->least[i];
    return 1e6 * sum / steps;
}

static int runs_of(double us_per_run) { return us_per_run < 2e4 ? SHORT_RUNS : RUNS; }

// -- models: for carom, and the same for MuJoCo -----------------------------------------------------------------------

static const char *const LINK = "parameters: {m: 0.1, l: 0.1, r: 0.01, J: 1/12*m*l^2, J3: 1/2*m*r^2}\n";
static const char *const INERTIA = "diaginertia='5e-6 8.3333333333333331e-5 8.3333333333333331e-5'";

// Links along x, hinges about y and about y + z in turn.
static void chain(FILE *f, int n) {
    fprintf(f, "carom: 1\n%sgravity: [0, 0, -9.81]\nbodies:\n", LINK);
    for (int i = 1; i <= n; ++i) fprintf(f, "  b%d: {mass: m, inertia: [J3, J, J], at: [%d*l - l/2, 0, 0]}\n", i, i);
    fprintf(f, "joints:\n  j1: {type: revolute, between: [ground, b1], at: [0, 0, 0], axis: [0, 1, 0]}\n");
    for (int i = 2; i <= n; ++i)
        fprintf(f, "  j%d: {type: revolute, between: [b%d, b%d], at: [%d*l, 0, 0], axis: [0, 1, %d]}\n", i, i - 1, i,
                i - 1, (i + 1) % 2);
}

static void mujoco_chain(FILE *f, int n) {
    fprintf(f, "<worldbody>");
    for (int i = 0; i < n; ++i)
        fprintf(f, "<body pos='%g 0 0'><joint type='hinge' axis='0 1 %d'/><inertial pos='0.05 0 0' mass='0.1' %s/>",
                i ? 0.1 : 0.0, i % 2, INERTIA);
    for (int i = 0; i < n; ++i) fprintf(f, "</body>");
    fprintf(f, "</worldbody>");
}

// A hub that turns about y, and branches of hinged links all around it.
static void tree(FILE *f, int n) {
    (void)n;
    fprintf(f, "carom: 1\n%sgravity: [0, 0, -9.81]\nbodies:\n  hub: {mass: 1, inertia: [0.01, 0.01, 0.01]}\n", LINK);
    for (int b = 0; b < BRANCHES; ++b)
        for (int i = 0; i < LINKS; ++i) {
            const double a = 2 * PI * b / BRANCHES, x = 0.15 + 0.1 * i;
            fprintf(f,
                    "  b%d_%d: {mass: m, inertia: [J3, J, J], at: [%.17g, %.17g, 0], axis: [0, 0, 1], angle: %.17g}\n",
                    b, i, x * cos(a), x * sin(a), a);
        }
    fprintf(f, "joints:\n  root: {type: revolute, between: [ground, hub], at: [0, 0, 0], axis: [0, 1, 0]}\n");
    for (int b = 0; b < BRANCHES; ++b)
        for (int i = 0; i < LINKS; ++i) {
            const double a = 2 * PI * b / BRANCHES, x = 0.1 + 0.1 * i;
            char inner[20] = "hub";
            if (i > 0) snprintf(inner, sizeof inner, "b%d_%d", b, i - 1);
            fprintf(
                f,
                "  j%d_%d: {type: revolute, between: [%s, b%d_%d], at: [%.17g, %.17g, 0], axis: [%.17g, %.17g, 0]}\n",
                b, i, inner, b, i, x * cos(a), x * sin(a), -sin(a), cos(a));
        }
}

static void mujoco_tree(FILE *f, int n) {
    (void)n;
    fprintf(f, "<worldbody><body><joint type='hinge' axis='0 1 0'/><inertial pos='0 0 0' mass='1' "
               "diaginertia='0.01 0.01 0.01'/>");
    for (int b = 0; b < BRANCHES; ++b) {
        const double a = 2 * PI * b / BRANCHES;
        for (int i = 0; i < LINKS; ++i)
            fprintf(f,
                    "<body pos='%.17g %.17g 0' euler='0 0 %.17g'><joint type='hinge' axis='0 1 0'/><inertial "
                    "pos='0.05 0 0' mass='0.1' %s/>",
                    i ? 0.1 : 0.1 * cos(a), i ? 0 : 0.1 * sin(a), i ? 0 : a, INERTIA);
        for (int i = 0; i < LINKS; ++i) fprintf(f, "</body>");
    }
    fprintf(f, "</body></worldbody>");
}

static void four_bar(FILE *f, int n) {
    (void)n;
    fprintf(f,
            "carom: 1\ngravity: [0, -9.81]\nbodies:\n  crank: {mass: 0.2, inertia: 1e-3, at: [0, 0.1]}\n"
            "  rod: {mass: 0.5, inertia: 1e-2, at: [0.25, 0.3]}\n  rocker: {mass: 0.4, inertia: 5e-3, at: [0.5, 0.2]}\n"
            "joints:\n  a: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
            "  b: {type: revolute, between: [crank, rod], at: [0, 0.2]}\n"
            "  c: {type: revolute, between: [rod, rocker], at: [0.5, 0.4]}\n"
            "  d: {type: revolute, between: [rocker, ground], at: [0.5, 0]}\n");
}

static void mujoco_four_bar(FILE *f, int n) {
    (void)n;
    const char *hinge = "<joint type='hinge' axis='0 -1 0'/>";
    fprintf(f,
            "<worldbody><body>%s<inertial pos='0 0 0.1' mass='0.2' diaginertia='1e-3 1e-3 1e-3'/>"
            "<body pos='0 0 0.2'>%s<inertial pos='0.25 0 0.1' mass='0.5' diaginertia='1e-2 1e-2 1e-2'/>"
            "<body name='rocker' pos='0.5 0 0.2'>%s<inertial pos='0 0 -0.2' mass='0.4' diaginertia='5e-3 5e-3 5e-3'/>"
            "</body></body></body></worldbody><equality><connect body1='rocker' anchor='0 0 -0.4'/></equality>",
            hinge, hinge, hinge);
}

static const double CRANK = 0.05, ROD = 0.2;
static void crank_at(int k, double *pin, double *slider) {
    const double a = 2 * PI * k / CRANKS + 0.1;
    pin[0] = CRANK * cos(a), pin[1] = CRANK * sin(a);
    *slider = pin[0] + sqrt(ROD * ROD - pin[1] * pin[1]);
}

static void cranks(FILE *f, int n) {
    (void)n;
    fprintf(f, "carom: 1\ngravity: [0, -9.81]\nbodies:\n  shaft: {mass: 2, inertia: 0.01}\n");
    for (int k = 0; k < CRANKS; ++k) {
        double pin[2], x;
        crank_at(k, pin, &x);
        fprintf(f,
                "  rod%d: {mass: 0.3, inertia: 1e-3, at: [%.17g, %.17g]}\n  piston%d: {mass: 0.4, inertia: 1e-3, at: "
                "[%.17g, 0]}\n",
                k, (pin[0] + x) / 2, pin[1] / 2, k, x);
    }
    fprintf(f, "joints:\n  bearing: {type: revolute, between: [ground, shaft], at: [0, 0]}\n");
    for (int k = 0; k < CRANKS; ++k) {
        double pin[2], x;
        crank_at(k, pin, &x);
        fprintf(f,
                "  pin%d: {type: revolute, between: [shaft, rod%d], at: [%.17g, %.17g]}\n  bolt%d: {type: revolute, "
                "between: [rod%d, piston%d], at: [%.17g, 0]}\n  bore%d: {type: prismatic, between: [ground, piston%d], "
                "at: [%.17g, 0], axis: [1, 0]}\n",
                k, k, pin[0], pin[1], k, k, k, x, k, k, x);
    }
}

static void mujoco_cranks(FILE *f, int n) {
    (void)n;
    fprintf(f,
            "<worldbody><body><joint type='hinge' axis='0 -1 0'/><inertial pos='0 0 0' mass='2' diaginertia='0.01 0.01 "
            "0.01'/>");
    for (int k = 0; k < CRANKS; ++k) {
        double pin[2], x;
        crank_at(k, pin, &x);
        fprintf(
            f,
            "<body name='rod%d' pos='%.17g 0 %.17g'><joint type='hinge' axis='0 -1 0'/><inertial pos='%.17g 0 %.17g' "
            "mass='0.3' diaginertia='1e-3 1e-3 1e-3'/></body>",
            k, pin[0], pin[1], (x - pin[0]) / 2, -pin[1] / 2);
    }
    fprintf(f, "</body>");
    for (int k = 0; k < CRANKS; ++k) {
        double pin[2], x;
        crank_at(k, pin, &x);
        fprintf(
            f,
            "<body name='piston%d' pos='%.17g 0 0'><joint type='slide' axis='1 0 0'/><inertial pos='0 0 0' mass='0.4' "
            "diaginertia='1e-3 1e-3 1e-3'/></body>",
            k, x);
    }
    fprintf(f, "</worldbody><equality>");
    for (int k = 0; k < CRANKS; ++k) {
        double pin[2], x;
        crank_at(k, pin, &x);
        fprintf(f, "<connect body1='rod%d' body2='piston%d' anchor='%.17g 0 %.17g'/>", k, k, x - pin[0], -pin[1]);
    }
    fprintf(f, "</equality>");
}

static void track(FILE *f, int n) {
    (void)n;
    FILE *in = fopen(CAROM_SOURCE_DIR "/models/crawler-track.yaml", "rb");
    for (int c; in && (c = getc(in)) != EOF;) putc(c, f);
    if (in) fclose(in);
}

// As models/crawler-track.yaml has it.
static void mujoco_track(FILE *f, int n) {
    (void)n;
    const double pitch = 0.1, r = 0.012, D = 1.6, R = pitch / (2 * sin(PI / 16)), wheel = R * cos(PI / 16) - r - 0.0005;
    const char *planar = "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint type='hinge' "
                         "axis='0 -1 0'/>",
               *solid = "contype='2' conaffinity='1' friction='0.8'";
    fprintf(f,
            "<worldbody><geom type='plane' size='9 9 1' pos='0 0 %.17g' %s/><geom type='cylinder' size='0.12 1' "
            "zaxis='0 1 0' pos='2.3 0 %.17g' %s/>",
            -R - r, solid, -R - r - 0.06, solid);
    fprintf(f, "<body pos='%g 0 0.05'>%s<inertial pos='0 0 0' mass='30' diaginertia='8 8 8'/>", D / 2, planar);
    for (int i = 0; i < 4; ++i)
        fprintf(
            f,
            "<body pos='%.17g 0 -0.05'><joint name='axle%d' type='hinge' axis='0 1 0'/><inertial pos='0 0 0' mass='3' "
            "diaginertia='%.17g %.17g %.17g'/><geom type='cylinder' size='%.17g 0.1' zaxis='0 1 0' %s/></body>",
            D * i / 3 - D / 2, i, 1.5 * wheel * wheel, 1.5 * wheel * wheel, 1.5 * wheel * wheel, wheel, solid);
    fprintf(f, "</body>");
    double before = 0;
    for (int i = 0; i < 48; ++i) {
        const double a = i < 16   ? 0
                         : i < 24 ? (i - 15.5) * PI / 8
                         : i < 40 ? PI
                                  : PI + (i - 39.5) * PI / 8;
        fprintf(f,
                "<body name='plate%d' pos='%g 0 %.17g' euler='0 %.17g 0'>%s<inertial pos='%g 0 0' mass='0.4' "
                "diaginertia='4e-4 4e-4 4e-4'/><geom type='capsule' size='%g' fromto='0 0 0 %g 0 0' contype='1' "
                "conaffinity='2' friction='0.8'/>",
                i, i ? pitch : 0, i ? 0 : -R, before - a, i ? "<joint type='hinge' axis='0 -1 0'/>" : planar, pitch / 2,
                r, pitch);
        before = a;
    }
    for (int i = 0; i < 48; ++i) fprintf(f, "</body>");
    fprintf(f,
            "</worldbody><equality><connect body1='plate47' body2='plate0' anchor='%g 0 0'/></equality><actuator>"
            "<velocity joint='axle3' kv='20'/></actuator>",
            pitch);
}

typedef void writer(FILE *f, int n);
static writer *const of_carom[CASES] = {chain, chain, chain, chain, tree, four_bar, cranks, track},
                     *const of_mujoco[CASES] = {mujoco_chain, mujoco_chain,    mujoco_chain,  mujoco_chain,
                                                mujoco_tree,  mujoco_four_bar, mujoco_cranks, mujoco_track};

// -- MuJoCo -----------------------------------------------------------------------------------------------------------

#ifdef WITH_MUJOCO
static bool is_track(int c) { return c == CASES - 1; }

static mjModel *mujoco_model(int c, const char *integrator) {
    char *text = NULL, error[300];
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    fprintf(f,
            "<mujoco><compiler inertiafromgeom='false' angle='radian'/><size njmax='3000' nconmax='1000'/><option "
            "timestep='%g' gravity='0 0 -9.81' integrator='%s'>%s</option>",
            H, integrator, is_track(c) ? "" : "<flag contact='disable'/>");
    of_mujoco[c](f, chains[c % 4]);
    fprintf(f, "</mujoco>");
    fclose(f);
    mjVFS *files = malloc(sizeof *files);
    mjModel *model = NULL;
    if (files) {
        mj_defaultVFS(files);
        mj_makeEmptyFileVFS(files, "model.xml", (int)size);
        memcpy(files->filedata[0], text, size);
        model = mj_loadXML("model.xml", files, error, sizeof error);
        if (!model) fprintf(stderr, "MuJoCo, %s: %s\n", names[c], error);
        mj_deleteVFS(files);
    }
    free(files), free(text);
    return model;
}

static double mujoco_us(int c, const char *integrator, int *closed) {
    mjModel *m = mujoco_model(c, integrator);
    if (!m) return NAN;
    mjData *d = mj_makeData(m);
    stopwatch w = unused();
    const int steps = 2 * PIECES;
    int runs = RUNS;
    for (int run = 0; run < runs; ++run) {
        mj_resetData(m, d);
        if (is_track(c)) d->ctrl[0] = 4;
        w.start = now();
        for (int i = 0; i < steps; ++i) mj_step(m, d), lap(&w, i, steps);
        runs = runs_of(steps * us_per_step(&w, steps));
    }
    *closed = d->ncon;
    mj_deleteData(d);
    mj_deleteModel(m);
    return us_per_step(&w, steps);
}
#else
static double mujoco_us(int c, const char *integrator, int *closed) {
    (void)integrator, (void)of_mujoco[c];
    *closed = 0;
    return NAN;
}
#endif

// -- carom ------------------------------------------------------------------------------------------------------------

static carom_model *make_model(int c) {
    char *text = NULL;
    size_t size = 0;
    carom_error err = {0};
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    of_carom[c](f, chains[c % 4]);
    fclose(f);
    carom_model *m = carom_model_create(&(carom_model_def){.text = text, .length = size, .file = names[c]}, &err);
    if (!m) fprintf(stderr, "%s\n", err.text);
    free(text);
    return m;
}

// One run; the first millisecond, in which memory is touched and starts are found, does not count.
static carom_status carom_time(const carom_model *m, const char *scheme, int steps, stopwatch *w, carom_error *err) {
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.schemes = carom_schemes(), d.scheme = scheme, d.h = H,
    d.t_end = (steps + 1) * H;
    d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, err);
    if (!sim) return CAROM_BAD_INPUT;
    carom_status status = carom_sim_step(sim, err);
    w->start = now();
    for (int i = 0; status == CAROM_OK && !carom_sim_done(sim);) { // adaptive steps have lengths of their own
        status = carom_sim_step(sim, err);
        for (const int past = (int)(carom_sim_now(sim).t / H - 1 + 1e-6); i < past; ++i) lap(w, i, steps);
    }
    carom_sim_destroy(sim);
    return status;
}

// Microseconds per ms of motion.
static double carom_us(const carom_model *m, const char *scheme, carom_error *err) {
    enum { FEW = 4, MANY = 2 * PIECES };
    stopwatch w = unused();
    if (carom_time(m, scheme, FEW, &w, err) != CAROM_OK) return NAN;
    const double first = us_per_step(&w, FEW);
    if (first * FEW > 1e6 * MOST) return first;
    const int most = (int)fmin(MANY, fmax(FEW, 1e6 * MOST / first)),
              steps = most < PIECES ? most : most - most % PIECES, runs = runs_of(steps * first);
    w = unused();
    for (int run = 0; run < runs; ++run)
        if (carom_time(m, scheme, steps, &w, err) != CAROM_OK) return NAN;
    return us_per_step(&w, steps);
}

static void cell(double us) {
    if (isfinite(us))
        printf(" %13.*f", us < 100 ? 2 : 0, us);
    else
        printf(" %13s", "-");
    fflush(stdout);
}

// Is this among the arguments, or none of its kind?
static bool asked_for(const char *what, bool mechanism, int argc, char **argv) {
    bool some = false, found = false;
    for (int k = 1; k < argc; ++k) {
        bool is_mechanism = false;
        for (int c = 0; c < CASES; ++c) is_mechanism = is_mechanism || strcmp(argv[k], names[c]) == 0;
        some = some || is_mechanism == mechanism;
        found = found || strcmp(argv[k], what) == 0;
    }
    return found || !some;
}

int main(int argc, char **argv) {
    carom_model *model[CASES];
    double mujoco[CASES], ours[CASES];
    int closed = 0;
    bool asked[CASES];
    for (int c = 0; c < CASES; ++c) {
        asked[c] = asked_for(names[c], true, argc, argv);
        if (!(model[c] = make_model(c))) return 1;
    }
    printf("mechanisms, step %g: us per step\n%-22s", H, "");
    for (int c = 0; c < CASES; ++c) printf(" %13s", names[c]);
    printf("   40..640   / MuJoCo at 10 (goal)\n%-22s", "MuJoCo, Euler");
    for (int c = 0; c < CASES; ++c) cell(mujoco[c] = asked[c] ? mujoco_us(c, "Euler", &closed) : NAN);
    printf("   %7.2f   1    (%d contacts on the track)\n%-22s", log(mujoco[3] / mujoco[1]) / log(16), closed,
           "MuJoCo, RK4");
    for (int c = 0; c < CASES; ++c) cell(asked[c] ? mujoco_us(c, "RK4", &closed) : NAN);
    printf("\n");
    for (int i = 0; rows[i].scheme; ++i) {
        if (!asked_for(rows[i].scheme, false, argc, argv)) continue;
        char notes[2000] = "";
        printf("%-22s", rows[i].scheme);
        for (int c = 0; c < CASES; ++c) {
            carom_error err = {0};
            ours[c] = asked[c] ? carom_us(model[c], rows[i].scheme, &err) : NAN;
            cell(ours[c]);
            const size_t used = strlen(notes), room = sizeof notes - used;
            if (asked[c] && !isfinite(ours[c])) snprintf(notes + used, room, "    %s: %s\n", names[c], err.text);
        }
        mujoco[0] = fmin(mujoco[0], mujoco_us(0, "Euler", &closed));
        printf("   %7.2f   %.1f", log(ours[3] / ours[1]) / log(16), ours[0] / mujoco[0]);
        if (rows[i].goal > 0) printf(" (%g)", rows[i].goal);
        printf("\n%s", notes);
    }
    for (int c = 0; c < CASES; ++c) carom_model_destroy(model[c]);
    return 0;
}
