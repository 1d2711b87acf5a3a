// test_evaluated.c: what models compute at states in no special position: mass, forces, gaps, directions, derivatives,
// energies, powers, outputs; for the models of zoo.yaml, which have every key, and the bundled ones.
//
// Four questions.  Are derivatives those of the functions, and powers the rate of the energy?  Are contacts of shapes
// the same alone and in a list, whatever sizes others have?  Do models move alike however the ground lies?  And is all
// of it the same as before: sums with weights are compared with a table, so that a change of any number shows.  Where a
// change is meant, look at the lines that the test prints, and write the table anew:
//
//     build/test/test_evaluated print >evaluated.new && mv evaluated.new test/evaluated.txt
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model_text.h"
#include "sim/sim.h"

// -- sums -------------------------------------------------------------------------------------------------------------

enum {
    KINETIC,
    POTENTIAL,
    FORCE,
    MASS,
    GAPS,
    DIRECTIONS,
    MOVING,
    STIFFNESS,
    DAMPING,
    CURVATURE,
    MASS_BY_Q,
    REACTION_BY_Q,
    RATE_BY_Q,
    RATES,
    EXTERNAL,
    DAMPED,
    WORKS,
    KINKS,
    FRICTION,
    RESTITUTION,
    OUTPUTS,
    STORED,
    BOUNDS,
    LEVERS,
    END,
    SUMS
};
static const char *const word[SUMS] = {
    "kinetic energy", "potential energy", "force",     "mass",        "gaps",          "directions",  "rates at rest",
    "stiffness",      "damping",          "curvature", "mass by q",   "reaction by q", "rate by q",   "rates",
    "external power", "damping power",    "works",     "kinks",       "friction",      "restitution", "outputs",
    "stored energy",  "bounds",           "levers",    "end of a run"};

typedef struct sums {
    double x[SUMS], size[SUMS];
} sums; // size: of the terms

static unsigned long seed;
static double draw(void) { // from -1 to 1
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(seed >> 33) / (double)(1ul << 30) - 1;
}

static void add(sums *s, int to, const double *x, int n) {
    for (int i = 0; i < n; ++i) {
        if (!isfinite(x[i]) || fabs(x[i]) > 1e30) continue;
        s->x[to] += (1 + fmod(0.6180339887498949 * (i + 1), 1)) * x[i];
        s->size[to] += 2 * fabs(x[i]);
    }
}

// -- a model at a state ----------------------------------------------------------------------------------------------

typedef struct place {
    carom_model *m;
    const carom_system *s;
    void *work;
    carom_arena mem;
    carom_local L;
    double t, *q, *v, *x, *lambda; // x: another direction
} place;

static double *room(int n) {
    double *x = calloc((size_t)n + 8, sizeof *x);
    assert_non_null(x);
    return x;
}

static place begin(carom_model *m) {
    place p = {.m = m, .s = carom_model_system(m), .work = work_of(m), .t = 0.37};
    p.L = local_of(m, &p.mem);
    p.q = room(p.s->nq), p.v = room(p.s->nv), p.x = room(p.s->nv), p.lambda = room(p.L.at[p.L.nb]);
    if (p.s->signals->ni) p.s->signals->set(p.s->model, p.work, p.s->signals->input);
    return p;
}

static void finish(place *p) {
    free(p->q), free(p->v), free(p->x), free(p->lambda), free(p->mem.base), free(p->work);
    carom_model_destroy(p->m);
}

static void move(const place *p, double *to, const double *from, double h, const double *v) {
    if (p->s->move)
        p->s->move(p->s->model, to, from, h, v);
    else
        for (int i = 0; i < p->s->nq; ++i) to[i] = from[i] + h * v[i];
}

static void draw_state(place *p) {
    for (int i = 0; i < p->s->nv; ++i) p->x[i] = 0.05 * draw();
    move(p, p->q, carom_model_q0(p->m), 1, p->x);
    for (int i = 0; i < p->s->nv; ++i) p->v[i] = carom_model_v0(p->m)[i] + 0.4 * draw();
    for (int i = 0; i < p->s->nv; ++i) p->x[i] = draw();
    for (int k = 0; k < p->L.at[p->L.nb]; ++k) p->lambda[k] = draw();
}

static carom_matrix empty(carom_shape shape) {
    return (carom_matrix){.shape = shape, .a = room((int)carom_shape_size(shape))};
}

static void times(carom_matrix A, int n, const double *x, double *y) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double *a = carom_matrix_entry(A, i, j);
            if (a) y[i] += *a * x[j];
        }
}

// y = f(t, q, v) of one function
enum { OF_FORCE, OF_MASS, OF_REACTION, OF_GAPS, OF_RATES };
static void value(place *p, int of, double t, const double *q, const double *v, double *y) {
    const carom_system *s = p->s;
    const int nd = p->L.at[p->L.nb];
    if (of == OF_FORCE) memset(y, 0, sizeof *y * (size_t)s->nv), s->force(s->model, p->work, t, q, v, y);
    if (of == OF_GAPS) { // far pairs of shapes answer with bounds, but not here
        double e[2], *u = room(nd + CAROM_TANGENTS * s->nc), *out = room(carom_model_count(p->m).outputs);
        s->gaps(s->model, p->work, t, q, y);
        carom_model_row(p->m, p->work, t, q, v, e, u, y, out);
        free(u), free(out);
    }
    if (of == OF_MASS) {
        carom_matrix M = empty(s->mass_shape);
        s->mass(s->model, p->work, t, q, M);
        memset(y, 0, sizeof *y * (size_t)s->nv);
        times(M, s->nv, p->x, y);
        free(M.a);
    }
    if (of == OF_REACTION || of == OF_RATES) {
        assert_int_equal(s->directions(s->model, p->work, t, q, &p->L), CAROM_OK);
        if (of == OF_RATES)
            for (int k = 0; k < nd; ++k) y[k] = carom_column_dot(&p->L.W, k, v) + p->L.w[k];
        else {
            memset(y, 0, sizeof *y * (size_t)s->nv);
            for (int k = 0; k < nd; ++k) carom_column_axpy(y, p->lambda[k], &p->L.W, k);
        }
    }
}

// -- derivatives are those of the functions ---------------------------------------------------------------------------

static int compared;

// Where two differences, of steps that differ, do not agree, there is a kink between the points.
static void same(const place *p, const char *what, int n, const double *exact, double *const difference[2],
                 const double *size) {
    double most = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(exact[i])), most = fmax(most, fabs(size[i]));
    for (int i = 0; i < n; ++i) {
        const double a = difference[0][i], b = difference[1][i];
        if (!isfinite(a) || !isfinite(b) || fabs(a - b) > 1e-5 * most) continue;
        ++compared;
        if (!(fabs(exact[i] - b) <= 3e-5 * most))
            fail_msg("%s: %s %d: %.9g, by differences %.9g", carom_model_name(p->m), what, i, exact[i], b);
    }
}

// by time (0), by positions along x (1), by velocities along x (2), along the motion with x as acceleration (3)
static void differences(place *p, int of, int by, int n, double *const to[2], double *size) {
    const carom_system *s = p->s;
    double *q = room(s->nq), *v = room(s->nv), *y[2] = {room(n), room(n)};
    for (int k = 0; k < 2; ++k) {
        const double h = k ? 1e-5 : 2e-5;
        for (int side = 0; side < 2; ++side) {
            const double e = side ? h : -h;
            memcpy(q, p->q, sizeof *q * (size_t)s->nq), memcpy(v, p->v, sizeof *v * (size_t)s->nv);
            if (by == 1 || by == 3) move(p, q, p->q, e, by == 1 ? p->x : p->v);
            for (int i = 0; i < s->nv && by >= 2; ++i) v[i] += e * p->x[i];
            value(p, of, by == 0 || by == 3 ? p->t + e : p->t, q, v, y[side]);
        }
        for (int i = 0; i < n; ++i) to[k][i] = (y[1][i] - y[0][i]) / (2 * h), size[i] = fabs(y[0][i]) + fabs(y[1][i]);
    }
    free(q), free(v), free(y[0]), free(y[1]);
}

static void check_derivatives(place *p) {
    const carom_system *s = p->s;
    const int nd = p->L.at[p->L.nb], ng = s->ne + s->nc, n = s->nv + nd + ng;
    double *exact = room(n), *size = room(n), *d[2] = {room(n), room(n)}, *u = room(n);
    carom_matrix A = empty(s->tangent_shape), B = empty(s->tangent_shape);
    if (s->tangent) {
        assert_int_equal(s->tangent(s->model, p->work, p->t, p->q, p->v, A, B), CAROM_OK);
        for (int k = 1; k <= 2; ++k) {
            memset(exact, 0, sizeof *exact * (size_t)n);
            times(k == 1 ? A : B, s->nv, p->x, exact);
            for (int i = 0; i < s->nv; ++i) exact[i] = -exact[i];
            differences(p, OF_FORCE, k, s->nv, d, size);
            same(p, k == 1 ? "force by q" : "force by v", s->nv, exact, d, size);
        }
    }
    for (int k = 0; k < 2; ++k) {
        memset(A.a, 0, sizeof *A.a * carom_shape_size(A.shape)), memset(exact, 0, sizeof *exact * (size_t)n);
        if (k == 0 && !s->mass_gradient) continue;
        if (k == 1 && (!s->reaction_gradient || nd == 0)) continue;
        if (k == 0)
            s->mass_gradient(s->model, p->work, p->t, p->q, p->x, 1, A);
        else
            value(p, OF_REACTION, p->t, p->q, p->v, u),
                s->reaction_gradient(s->model, p->work, p->t, p->q, &p->L, p->lambda, 1, A);
        times(A, s->nv, p->x, exact);
        differences(p, k ? OF_REACTION : OF_MASS, 1, s->nv, d, size);
        same(p, k ? "reaction by q" : "mass by q", s->nv, exact, d, size);
    }
    if (nd > 0) {
        value(p, OF_RATES, p->t, p->q, p->v, u);
        differences(p, OF_GAPS, 3, ng, d, size); // along the motion gaps change by their rates
        for (int id = 0; id < ng; ++id) exact[id] = u[p->L.at[id]], size[id] = fabs(exact[id]) + 1e-3;
        same(p, "rate of the gap", ng, exact, d, size);
        if (s->curvature) {
            assert_int_equal(s->curvature(s->model, p->work, p->t, p->q, p->v, &p->L, exact), CAROM_OK);
            for (int k = 0; k < nd; ++k) exact[k] += carom_column_dot(&p->L.W, k, p->x);
            differences(p, OF_RATES, 3, nd, d, size);
            same(p, "rate of the rate", nd, exact, d, size);
        }
    }
    free(exact), free(size), free(d[0]), free(d[1]), free(u), free(A.a), free(B.a);
}

// d(T + V)/dt = v.(M v' - f) + external - damping for any motion: with the acceleration x the rest of the equation of
// motion is a force.  Energies that depend on time have a rate of their own.
static void check_power(place *p) {
    const carom_system *s = p->s;
    if (!s->energy || !s->power || s->nstates) return;
    double *q = room(s->nq), *v = room(s->nv), *f = room(s->nv), *Mx = room(s->nv), rate[2], own[2], E[2][2][2];
    for (int by = 0; by < 2; ++by) // along the motion, by time alone
        for (int k = 0; k < 2; ++k)
            for (int side = 0; side < 2; ++side) {
                const double h = k ? 1e-5 : 2e-5, e = side ? h : -h;
                memcpy(q, p->q, sizeof *q * (size_t)s->nq), memcpy(v, p->v, sizeof *v * (size_t)s->nv);
                if (by == 0) move(p, q, p->q, e, p->v);
                for (int i = 0; i < s->nv && by == 0; ++i) v[i] += e * p->x[i];
                assert_int_equal(s->energy(s->model, p->work, p->t + e, q, v, &E[side][0][0], &E[side][1][0]),
                                 CAROM_OK);
                if (side) (by ? own : rate)[k] = (E[1][0][0] + E[1][1][0] - E[0][0][0] - E[0][1][0]) / (2 * h);
            }
    double external = 0, damping = 0, power = 0, size = fabs(E[0][0][0]) + fabs(E[0][1][0]);
    value(p, OF_FORCE, p->t, p->q, p->v, f), value(p, OF_MASS, p->t, p->q, p->v, Mx);
    assert_int_equal(s->power(s->model, p->work, p->t, p->q, p->v, &external, &damping), CAROM_OK);
    for (int i = 0; i < s->nv; ++i)
        power += p->v[i] * (Mx[i] - f[i]), size += fabs(p->v[i] * Mx[i]) + fabs(p->v[i] * f[i]);
    const double right = power + external - damping;
    if (fabs(own[1]) <= 1e-9 * size && fabs(rate[0] - rate[1]) <= 1e-6 * size) {
        ++compared;
        if (!(fabs(rate[1] - right) <= 3e-6 * size))
            fail_msg("%s: the energy changes by %.9g, powers are %.9g", carom_model_name(p->m), rate[1], right);
    }
    free(q), free(v), free(f), free(Mx);
}

// -- all sums ---------------------------------------------------------------------------------------------------------

static void evaluate(place *p, sums *to) {
    const carom_system *s = p->s;
    const int nd = p->L.at[p->L.nb], ng = s->ne + s->nc, nout = carom_model_count(p->m).outputs;
    double *y = room(s->nv + s->nq + nd + ng + s->events->nk + s->accounts->nworks + nout + 8 * s->nc +
                     CAROM_FRICTION_LAW * s->nc + 64),
           e[2] = {0};
    carom_matrix A = empty(s->tangent_shape), B = empty(s->tangent_shape);
    if (s->energy) s->energy(s->model, p->work, p->t, p->q, p->v, &e[0], &e[1]);
    add(to, KINETIC, &e[0], 1), add(to, POTENTIAL, &e[1], 1);
    value(p, OF_FORCE, p->t, p->q, p->v, y), add(to, FORCE, y, s->nv);
    value(p, OF_MASS, p->t, p->q, p->v, y), add(to, MASS, y, s->nv);
    if (ng) value(p, OF_GAPS, p->t, p->q, p->v, y), add(to, GAPS, y, ng);
    if (nd) {
        value(p, OF_REACTION, p->t, p->q, p->v, y), add(to, DIRECTIONS, y, s->nv), add(to, MOVING, p->L.w, nd);
        value(p, OF_RATES, p->t, p->q, p->v, y), add(to, RATES, y, nd);
        if (s->curvature) s->curvature(s->model, p->work, p->t, p->q, p->v, &p->L, y), add(to, CURVATURE, y, nd);
        if (s->reaction_gradient)
            s->reaction_gradient(s->model, p->work, p->t, p->q, &p->L, p->lambda, 1, A),
                add(to, REACTION_BY_Q, A.a, (int)carom_shape_size(A.shape));
    }
    memset(A.a, 0, sizeof *A.a * carom_shape_size(A.shape));
    if (s->mass_gradient)
        s->mass_gradient(s->model, p->work, p->t, p->q, p->x, 1, A),
            add(to, MASS_BY_Q, A.a, (int)carom_shape_size(A.shape));
    memset(A.a, 0, sizeof *A.a * carom_shape_size(A.shape));
    if (s->tangent)
        s->tangent(s->model, p->work, p->t, p->q, p->v, A, B), add(to, STIFFNESS, A.a, (int)carom_shape_size(A.shape)),
            add(to, DAMPING, B.a, (int)carom_shape_size(B.shape));
    e[0] = e[1] = 0;
    if (s->power) s->power(s->model, p->work, p->t, p->q, p->v, &e[0], &e[1]);
    add(to, EXTERNAL, &e[0], 1), add(to, DAMPED, &e[1], 1);
    memset(y, 0, sizeof *y * (size_t)(s->accounts->nworks + 1));
    if (s->accounts->works)
        s->accounts->works(s->model, p->work, p->t, p->q, p->v, y), add(to, WORKS, y, s->accounts->nworks);
    if (s->events->nk) s->events->kinks(s->model, p->work, p->t, p->q, p->v, y), add(to, KINKS, y, s->events->nk);
    bool reacts = false;
    for (int c = 0; c < s->nc; ++c) {
        reacts = reacts || s->contacts[c].friction_reacts;
        const double r[] = {s->contacts[c].varies ? s->restitution(s->model, p->work, c, 0.3)
                                                  : s->contacts[c].restitution,
                            s->contacts[c].tangential_restitution, s->contacts[c].friction, s->contacts[c].tangents};
        add(to, RESTITUTION, r, 4);
    }
    memset(y, 0, sizeof *y * (size_t)(CAROM_FRICTION_LAW * s->nc + 1));
    double *force = room(nd + CAROM_TANGENTS * s->nc + ng);
    for (int i = 0; i < nd + CAROM_TANGENTS * s->nc + ng; ++i) force[i] = fabs(sin(i + 1));
    if (s->friction)
        s->friction(s->model, p->work, p->t, p->q, p->v, force, y), add(to, FRICTION, y, CAROM_FRICTION_LAW * s->nc);
    memset(y, 0, sizeof *y * (size_t)(nout + 1));
    carom_model_outputs(p->m, p->work, p->t, p->q, p->v, y), add(to, OUTPUTS, y, nout);
    memset(y, 0, sizeof *y * (size_t)(s->accounts->nworks + 1));
    if (carom_model_elements(p->m) <= s->accounts->nworks + nout + 64)
        carom_model_stored(p->m, p->work, p->t, p->q, p->v, y), add(to, STORED, y, carom_model_elements(p->m));
    if (s->lever) add(to, LEVERS, s->lever, s->nv + s->nq);
    if (s->events->gap_bounds && s->nc) {
        double *q = room(s->nq), *off = room(s->nv), *b = room(4 * s->nc);
        move(p, q, p->q, 1e-3, p->v);
        for (int i = 0; i < s->nv; ++i) off[i] = 1e-3;
        s->events->gap_bounds(s->model, p->work, p->t, p->t + 1e-3, p->q, q, p->v, p->v, off, b, b + s->nc,
                              b + 2 * s->nc, b + 3 * s->nc);
        add(to, BOUNDS, b, 4 * s->nc);
        free(q), free(off), free(b);
    }
    free(y), free(A.a), free(B.a), free(force);
}

static void run_briefly(carom_model *m, sums *to) {
    carom_error err = {0};
    carom_sim_def d = sim_def(m, "moreau-midpoint", NULL, 1e-3, 0.02);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) return; // not by this scheme
    if (carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK)
        add(to, END, carom_sim_now(sim).q, sim->sys->nq), add(to, END, carom_sim_now(sim).v, sim->sys->nv);
    carom_sim_destroy(sim);
}

// -- the table --------------------------------------------------------------------------------------------------------

typedef struct line {
    char name[80];
    sums s;
} line;
static line lines[300];
static int nlines;

static void look_at(carom_model *m, const char *name, int states) {
    place p = begin(m);
    seed = 20 + strlen(name);
    for (int i = 0; i < states; ++i) {
        assert_true(nlines < 300);
        line *l = &lines[nlines++];
        snprintf(l->name, sizeof l->name, "%.60s/%d", name, i);
        draw_state(&p);
        evaluate(&p, &l->s);
        check_derivatives(&p);
        check_power(&p);
    }
    run_briefly(m, &lines[nlines - 1].s);
    finish(&p);
}

static char *text_of(const char *file) {
    char *text = calloc(1, 1 << 18);
    FILE *f = fopen(file, "rb");
    assert_true(f && text);
    assert_true(fread(text, 1, (1 << 18) - 1, f) > 0);
    fclose(f);
    return text;
}

static void evaluate_all(void) {
    char *all = text_of(CAROM_SOURCE_DIR "/test/zoo.yaml"), *next;
    for (char *at = all; at; at = next) {
        next = strstr(at, "\n---\n");
        if (next) *next = 0, next += 5;
        carom_model *m = good(at);
        look_at(m, carom_model_name(m), 3);
    }
    free(all);
    for (const char *const *name = (const char *const[]){"balancing-cart",
                                                         "cam-follower",
                                                         "compass-walker",
                                                         "delta-robot",
                                                         "door-latch",
                                                         "euler-disk",
                                                         "falling-top",
                                                         "flexible-rod",
                                                         "four-bar-clearance",
                                                         "gear-pair",
                                                         "gear-rattle",
                                                         "geneva-drive",
                                                         "motor-current",
                                                         "newtons-cradle",
                                                         "ratchet",
                                                         "rocking-block",
                                                         "rotating-beam",
                                                         "rotor",
                                                         "slider-crank-bodies",
                                                         "slider-crank-clearance",
                                                         "spinning-top",
                                                         "woodpecker",
                                                         NULL};
         *name; ++name)
        look_at(shipped_model(*name), *name, 2);
}

static void figures_are_those_of_the_table(void **state) {
    (void)state;
    char *table = text_of(CAROM_SOURCE_DIR "/test/evaluated.txt"), *at = table;
    int wrong = 0;
    for (int i = 0; i < nlines; ++i) {
        const line *l = &lines[i];
        const size_t n = strlen(l->name);
        if (strncmp(at, l->name, n) != 0 || at[n] != ':')
            fail_msg("%s is not where it should be in evaluated.txt", l->name);
        at += n + 1;
        for (int k = 0; k < SUMS; ++k) {
            const double before = strtod(at, &at), tolerance = (k == END ? 1e-6 : 1e-8) * l->s.size[k] + 1e-12;
            if (fabs(before - l->s.x[k]) <= tolerance) continue;
            print_message("%s: %s %.12g, before %.12g\n", l->name, word[k], l->s.x[k], before);
            ++wrong;
        }
        at = strchr(at, '\n');
        assert_non_null(at);
        ++at;
    }
    assert_int_equal(*at, 0);
    free(table);
    if (wrong) fail_msg("%d of %d figures differ", wrong, nlines * SUMS);
}

static void derivatives_are_those_of_differences(void **state) {
    (void)state;
    evaluate_all();
    assert_true(compared > 3000);
}

// -- sizes in lists ---------------------------------------------------------------------------------------------------

enum { OTHERS = 2 };

// Where two bodies are that meet each other, the last ones of a model, after a while.
static double end_of(const char *text) {
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    if (!m && strstr(err.text, "is not supported")) return NAN;
    if (!m) fail_msg("%s\n%s", err.text, text);
    assert_true(carom_model_lists(m));
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 0.01, 0.5);
    model_sim_run(sim);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(l.impacts > 0); // they did
    const int nq = sim->sys->nq, two = 2 * nq / (OTHERS + 2);
    sums s = {0};
    add(&s, 0, carom_sim_now(sim).q + nq - two, two);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return s.x[0];
}

// In a list whose other shapes have other sizes and come first, shapes move as in one whose other shapes have their
// sizes.
static void shapes_have_their_own_sizes_in_lists(void **state) {
    (void)state;
    static const char *const solid[][2] = {{"sphere: 0.2", "sphere: 0.35"},
                                           {"capsule: [0.1, 0.2]", "capsule: [0.2, 0.3]"},
                                           {"box: [0.3, 0.2, 0.25]", "box: [0.5, 0.4, 0.6]"},
                                           {"cylinder: [0.2, 0.3]", "cylinder: [0.3, 0.5]"},
                                           {"ellipsoid: [0.2, 0.1, 0.15]", "ellipsoid: [0.3, 0.4, 0.35]"},
                                           {"hull: [[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [-0.1, -0.1, -0.1]]",
                                            "hull: [[0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.4], [-0.2, -0.2, -0.2]]"}};
    static const char *const plate[][2] = {
        {"circle: 0.2", "circle: 0.35"},
        {"capsule: [0.1, 0.2]", "capsule: [0.2, 0.3]"},
        {"box: [0.3, 0.2]", "box: [0.5, 0.4]"},
        {"polygon: [[0.2, 0], [-0.1, 0.2], [-0.1, -0.2]]", "polygon: [[0.3, 0], [-0.3, 0.2], [-0.1, -0.2]]"},
        {"outline: [[0.2, 0], [-0.1, 0.2], [-0.1, -0.2]]", "outline: [[0.3, 0], [-0.3, 0.2], [-0.1, -0.2]]"}};
    int pairs = 0;
    for (int i = 0; i < 36 + 25; ++i) {
        const bool space = i < 36;
        const int of = space ? 6 : 5, k = space ? i : i - 36, a = k / of, b = k % of, size = (a + b) % 2;
        const char *const *A = space ? solid[a] : plate[a], *const *B = space ? solid[b] : plate[b];
        const char *J = space ? "[0.01, 0.01, 0.01]" : "0.01", *z = space ? ", 0.1" : "";
        if (BRIEF && a > b) continue;
        if (space && (a == 3 || b == 3) && a + b > 3) continue; // formulas of cylinders take long to write
        double end[2];
        for (int same = 0; same < 2; ++same) {
            const int other = same ? size : 1 - size;
            char text[4000];
            int n = snprintf(text, sizeof text, "carom: 1\nsleep: 1e-9\nbodies:\n"); // a list
            for (int o = 0; o < OTHERS; ++o)                                         // far away from each other
                n += snprintf(text + n, sizeof text - (size_t)n,
                              "  o%d: {mass: 1, inertia: %s, at: [%d, 30%s], shape: {%s}}\n", o, J, 10 * o, z,
                              o % 2 ? A[other] : B[other]);
            snprintf(text + n, sizeof text - (size_t)n,
                     "  a: {mass: 1, inertia: %s, at: [0, 0%s], %sangle: 0.4, velocity: [2.1, 1.8%s], shape: {%s}}\n"
                     "  b: {mass: 1, inertia: %s, at: [0.7, 0.6%s], %sangle: -0.3, shape: {%s}}\n"
                     "contacts: {c: {among: [o0, o1, a, b], friction: 0.2}}\n",
                     J, z, space ? "axis: [1, 1, 0.5], " : "", space ? ", 0.6" : "", A[size], J, space ? ", 0.3" : "",
                     space ? "axis: [0.2, 1, 0.4], " : "", B[size]);
            end[same] = end_of(text);
        }
        if (isnan(end[0]) || isnan(end[1])) continue;
        ++pairs;
        if (!(fabs(end[0] - end[1]) <= 1e-9))
            fail_msg("%s and %s: %.12g among others, %.12g among their like", A[size], B[size], end[0], end[1]);
    }
    assert_true(pairs > (BRIEF ? 20 : 40));
}

// -- models turned with the ground ------------------------------------------------------------------------------------
// Gravity, places, orientations, velocities and loads turn together: energies and gaps stay, however the ground lies.
// <x, y, z>: a vector of the ground; (x, y, z; a): an orientation, axis and angle.  In the plane <x, y> and (a).

static const char in_space[] =
    "carom: 1\ngravity: <0.3, -0.5, -9.81>\nbodies:\n"
    "  a: {mass: 1.2, inertia: [0.02, 0.03, 0.04, 0.001, 0.002, -0.003], at: <0.1, 0.2, 0.5>, (1, 2, -1; 0.6), "
    "velocity: <0.1, 0.2, -0.3>, "
    "spin: [0.5, -0.4, 0.3], shape: {box: [0.2, 0.1, 0.3], at: [0.02, 0, 0.01]}}\n"
    "  b: {mass: 0.8, inertia: [0.01, 0.02, 0.015], at: <0.6, -0.1, 0.13>, (0, 1, 1; -0.8), velocity: <0.3, 0, -0.6>, "
    "shape: {cylinder: [0.1, 0.15], axis: [1, 0.2, 0]}}\n"
    "  c: {density: 700, at: <0.2, 0.9, 0.17>, (1, 0, 0; 0.3), velocity: <0, 0, -1>, spin: [1, 2, 0], shape: "
    "{ellipsoid: [0.1, 0.2, 0.15]}}\n"
    "  d: {mass: 0.6, inertia: [0.01, 0.02, 0.015], at: <1.3, 0, 0.1>, (0.3, 1, 0; 2.1), velocity: <0, 0.5, -1>, "
    "shape: "
    "{hull: [[0, 0, 0.1], [0.1, 0, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, -0.05]]}}\n"
    "  e: {mass: 0.5, inertia: [0.01, 0.02, 0.01], at: <2, 0.1, 0.1>, (0.3, 1, 0.2; 1), velocity: <0.2, 0.1, -1>, "
    "shape: "
    "{capsule: [0.05, 0.2]}}\n"
    "  f: {mass: 0.4, inertia: [0.001, 0.001, 0.001], at: <3.02, 0.01, 0.3>, (1, 0, 0; 0.2), velocity: <0.7, 0.1, 0>, "
    "shape: {sphere: 0.04}}\n"
    "  g: {mass: 0.7, inertia: [0.002, 0.001, 0.003], at: <4, 0, 1>, (1, 0, 0; 0.2)}\n"
    "  h: {mass: 0.3, inertia: [0.002, 0.001, 0.003], at: <4.3, 0, 1>, (1, 1, 0; 0.7)}\n"
    "shapes:\n  floor: {plane: <0.02, 0.01, 1>, surface velocity: <0.3, -0.2, 0>}\n"
    "  wall: {box: [0.3, 0.3, 0.3], at: <0.25, 0.2, 0.12>, (1, 0.3, 0; 0.4)}\n  tube: {bore: 0.08, at: <3, 0, 0>, "
    "axis: <0.1, 0.05, 1>}\n"
    "joints:\n  hinge: {type: revolute, between: [ground, g], at: <4, 0, 1.2>, axis: <0.2, 1, 0.1>}\n"
    "  ball: {type: universal, between: [g, h], at: <4.2, 0, 1>, axis: [<0, 1, 0.1>, <0, -0.1, 1>]}\n"
    "springs:\n  line: {between: [ground, a], points: [<0, 0, 1>, [0.1, 0, 0.05]], stiffness: 120, damping: 3, length: "
    "0.3}\n"
    "  bush: {type: bushing, between: [d, e], points: [[0.1, 0, 0.1], [0, -0.1, 0]], stiffness: [10, 20, 30], damping: "
    "[1, 2, 3], torsion: [0.4, 0.5, 0.6]}\n"
    "loads:\n  wind: {on: a, point: [0.1, 0, 0.1], force: <0.5, 0.2, -0.4>, torque: <0.1, 0.2, 0.3>}\n"
    "  jet: {on: e, point: [0.05, 0.1, 0.02], force: [1, 0.3, -0.2], torque: [0.05, 0.04, 0.03], frame: body}\n"
    "flexible:\n  own: {type: spatial beam, frame: floating, length: 1, elements: 2, density: 1000, modulus: 1e7, "
    "shear modulus: 4e6, area: 1e-3, "
    "inertia: [1e-7, 2e-7], torsion: 2e-7, origin: <0.1, 0.2, 3>, direction: <1, 0.2, 0.1>, up: <0, 0.3, 1>, spin: "
    "[0.5, 2, 1], velocity: <0.1, 0.3, 0>, "
    "at: {w: 0.02*s^2, v: 0.01*s}, rate: {w: 0.1*s}}\n"
    "  beam: {type: spatial beam, length: 2, elements: 2, density: 800, modulus: 2e7, shear modulus: 8e6, area: 1e-3, "
    "inertia: [1e-7, 2e-7], torsion: "
    "2e-7, fix: start, gravity: <0.3, -0.5, -9.81>, at: {w: 0.01*s^2, v: -0.02*s}, origin: <0.5, 0.5, 5>, direction: "
    "<1, 0.3, 0.2>, up: <0.1, 0, 1>}\n"
    "contact defaults: {restitution: 0.2, friction: 0.3}\n"
    "contacts: {a: {between: [a, wall]}, b: {between: [b, floor]}, c: {between: [c, floor]}, d: {between: [d, floor]}, "
    "e: {between: [e, floor]}, "
    "f: {between: [f, tube]}}\n";

static const char in_the_plane[] =
    "carom: 1\ngravity: <0.3, -9.81>\nbodies:\n"
    "  a: {mass: 1.5, inertia: 0.05, at: <0.3, 0.6>, (0.4), velocity: <0.2, -0.1>, spin: 1.1, shape: {box: [0.2, 0.1], "
    "at: [0.02, 0.01], angle: 0.2}}\n"
    "  b: {mass: 0.7, inertia: 0.01, at: <0.9, 0.1>, (-0.3), velocity: <0.2, -1>, shape: {capsule: [0.05, 0.2]}}\n"
    "  c: {density: 2400, thickness: 0.05, at: <2, 0.1>, (0.2), velocity: <0.1, -1>, shape: {outline: [[-0.1, -0.1], "
    "[0.1, -0.1], {arc: [0, 0.12], "
    "radius: 0.2}], round: 0.02}}\n"
    "  d: {mass: 0.3, inertia: 0.001, at: <3.02, 0.495>, (0), velocity: <0.5, 0.1>, shape: {circle: 0.04}}\n"
    "  e: {mass: 0.5, inertia: 0.002, at: <4, 0.4>, (0.1), velocity: <0.5, 0.1>}\n"
    "shapes: {floor: {plane: <0.05, 1>, surface velocity: <0.3, 0>}, groove: {slot: [0.06, 0.3], at: <3, 0.5>, (0.2)}, "
    "block: {polygon: [<0.45, 0.45>, <0.35, 0.57>, <0.25, 0.47>, <0.35, 0.37>]}}\n"
    "joints: {rail: {type: prismatic, between: [ground, e], at: <4, 0.4>, axis: <1, 0.2>}}\n"
    "springs: {line: {between: [ground, a], points: [<0, 1>, [0.1, 0.05]], stiffness: 120, damping: 3, length: 0.3}}\n"
    "loads: {wind: {on: a, point: [0.1, 0], force: <0.5, 0.2>, torque: 0.1}, jet: {on: b, point: [0.05, 0.1], force: "
    "[1, 0.3], frame: body}}\n"
    "flexible:\n  arm: {type: beam, frame: floating, length: 1, elements: 2, density: 1000, modulus: 1e7, area: 1e-3, "
    "inertia: 1e-7, origin: <0.1, 2>, "
    "direction: <1, 0.2>, spin: 2, velocity: <0.2, 0.1>, at: {w: 0.02*s^2}}\n"
    "  whip: {type: exact beam, length: 1, elements: 2, density: 900, modulus: 3e6, shear modulus: 1e6, area: 1e-3, "
    "inertia: 1e-7, origin: <2, 3>, "
    "direction: <0.4, 1>, fix: start}\n"
    "contact defaults: {restitution: 0.2, friction: 0.3}\n"
    "contacts: {a: {between: [a, block]}, b: {between: [b, floor]}, c: {between: [c, floor]}, d: {between: [d, "
    "groove]}}\n";

// R of an axis and an angle, and an axis and an angle of R.
static void matrix_of(const double *axis, double angle, double R[9]) {
    const double l = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            R[3 * i + j] = (i == j) * c + (1 - c) * axis[i] * axis[j] / (l * l) +
                           (i == j ? 0 : ((j - i + 3) % 3 == 1 ? -s : s) * axis[3 - i - j] / l);
}

static double angle_of(const double R[9], double axis[3]) {
    const double c = fmin(1, fmax(-1, 0.5 * (R[0] + R[4] + R[8] - 1)));
    int k = 0;
    for (int i = 1; i < 3; ++i)
        if (R[4 * i] > R[4 * k]) k = i;
    for (int i = 0; i < 3; ++i) // column k of (R + R')/2 - c 1 = (1 - c) n n'
        axis[i] = 0.5 * (R[3 * i + k] + R[3 * k + i]) - (i == k) * c;
    const double d[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                 size = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (!(size > 0)) axis[0] = 1;
    const double s = d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2]; // 2 sin(angle) n along the axis
    return s < 0 ? -acos(c) : acos(c);
}

// The text with its marks turned by R.
static void turned(const char *from, const double R[9], char *to) {
    for (; *from; ++from) {
        double x[4] = {0};
        int used = 0;
        if (*from == '<' && sscanf(from, "<%lf, %lf, %lf>%n", x, x + 1, x + 2, &used) == 3 && used) {
            to += sprintf(to, "[");
            for (int i = 0; i < 3; ++i)
                to +=
                    sprintf(to, "%s%.17g", i ? ", " : "", R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2]);
            to += sprintf(to, "]");
        } else if (*from == '<' && (used = 0, sscanf(from, "<%lf, %lf>%n", x, x + 1, &used) == 2) && used) {
            to += sprintf(to, "[%.17g, %.17g]", R[0] * x[0] + R[1] * x[1], R[3] * x[0] + R[4] * x[1]);
        } else if (*from == '(' && sscanf(from, "(%lf, %lf, %lf; %lf)%n", x, x + 1, x + 2, x + 3, &used) == 4 && used) {
            double own[9], all[9] = {0}, axis[3];
            matrix_of(x, x[3], own);
            for (int i = 0; i < 27; ++i)
                all[i / 9 * 3 + i % 3] += R[i / 9 * 3 + i / 3 % 3] * own[i / 3 % 3 * 3 + i % 3];
            const double angle = angle_of(all, axis);
            to += sprintf(to, "axis: [%.17g, %.17g, %.17g], angle: %.17g", axis[0], axis[1], axis[2], angle);
        } else if (*from == '(' && (used = 0, sscanf(from, "(%lf)%n", x, &used) == 1) && used) {
            to += sprintf(to, "angle: %.17g", x[0] + atan2(R[3], R[0]));
        } else {
            *to++ = *from;
            continue;
        }
        from += used - 1;
    }
    *to = 0;
}

enum { INVARIANTS = 100 };

// Energies and gaps at the start and after some steps.
static int invariants(const char *text, double h, double *x) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, h, 0.06);
    const carom_system *s = carom_model_system(m);
    int n = 0;
    assert_true(2 * (2 + s->nc) <= INVARIANTS);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(carom_sim_energy(sim, &x[n], &x[n + 1], &err), CAROM_OK);
        n += 2;
        for (int c = 0; c < s->nc; ++c) x[n++] = carom_sim_now(sim).gap[s->ne + c];
        if (k == 0) model_sim_run(sim);
    }
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(l.impacts > 0);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return n;
}

static void models_turn_with_the_ground(void **state) {
    (void)state;
    static const double TURN = 2.0943951023931953; // 2 pi/3
    static const double turns[][4] = {{1, 1, 1, TURN}, {1, 1, 1, -TURN}, {-1, 1, 1, TURN}, {1, -1, 1, -TURN},
                                      {1, 0, 0, 3.1},  {0, 1, 0, 3.1},   {0, 0, 1, 3.1},   {1, 0, 0, 1.6},
                                      {0, 1, 0, -1.5}, {0, 0, 1, 1.6},   {1, -2, 0.5, 2.5}};
    for (int dim = 2; dim <= 3; ++dim) {
        const double h = dim == 2 ? 2e-4 : 1e-3; // the exact beam's shear is fast
        double R[9], first[INVARIANTS], x[INVARIANTS];
        char text[8000];
        matrix_of(turns[0], 0, R);
        turned(dim == 2 ? in_the_plane : in_space, R, text);
        const int n = invariants(text, h, first);
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i += BRIEF ? 3 : 1) {
            if (dim == 2 && (turns[i][0] != 0 || turns[i][1] != 0)) continue;
            matrix_of(turns[i], turns[i][3], R);
            turned(dim == 2 ? in_the_plane : in_space, R, text);
            assert_int_equal(invariants(text, h, x), n);
            for (int k = 0; k < n; ++k) { // the potential energy may have another zero
                const double off = k % (n / 2) == 1 ? x[k] - x[1] - (first[k] - first[1]) : x[k] - first[k];
                if (!(fabs(off) <= 1e-9 * (1 + fabs(first[k]))))
                    fail_msg("turned about [%g, %g, %g] by %g, number %d: %.12g, not %.12g", turns[i][0], turns[i][1],
                             turns[i][2], turns[i][3], k, x[k], first[k]);
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        evaluate_all();
        for (int i = 0; i < nlines; ++i) {
            printf("%s:", lines[i].name);
            for (int k = 0; k < SUMS; ++k) printf(" %.12g", lines[i].s.x[k]);
            printf("\n");
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(figures_are_those_of_the_table),
        cmocka_unit_test(shapes_have_their_own_sizes_in_lists),
        cmocka_unit_test(models_turn_with_the_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
