// cvode.c: smooth phases by CVODE of SUNDIALS 6 or 7: variable order and step.
//
// CVODE runs in a time of its own that starts with the phase, so that events are located to the rounding of the phase.
// Its objects are made once, at the start of a simulation; a phase restarts them.  It never prints.
#include "base/tolerance.h"
#include "event/cvode.h"
#include "event/filippov.h"
#include "event/feature.h"
#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

enum { WORK_FRICTION, WORK_EXTERNAL, WORK_DAMPING, WORKS };
static const double SEEN = 1e-6; // tolerance of witnesses, relative to the sizes of gaps and impulses
static const double SHORT = 1e-9; // of a step between rows: an internal step in which a state that does not move is
                                  // stuck, not at rest

typedef struct ode {
    SUNContext context;
    N_Vector y, atol;
    void *cvode;
    SUNMatrix J;
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
    int n;
    double *sum, *bend; // differences of positions
    bool *bent;         // coordinates that do not move straight
    double rtol;
    carom_cvode_limits limits;
    carom_status status; // what a callback met
    carom_phase *phase;
    carom_step *step;
} ode;

// -- y' = rhs(t, y) ---------------------------------------------------------------------------------------------------

// (EV-2)  q' = Y(q) v.  Where only the motion along v is known, its rate by a difference of fourth order, a time h to
// either side; of coordinates that do not move straight alone where `bent` is known.  The largest third difference of
// these.
static double differences(ode *o, const carom_step *s, const double *q, const double *v, double h, double *rate,
                          bool known) {
    enum { AT = 4 };
    static const double at[AT] = {-2, -1, 1, 2}, first[AT] = {1, -8, 8, -1}, third[AT] = {-1, 2, -2, 1};
    static const double ROUNDING = CAROM_ROUNDING_SUM;
    const int nq = s->sys->nq;
    double *sum = o->sum, *bend = o->bend, most = 0;
    carom_zero(sum, nq);
    carom_zero(bend, nq);
    for (int i = 0; i < AT; ++i) {
        carom_move(s, o->phase->q_1, q, at[i] * h, v);
        carom_axpy(sum, first[i] / (12 * h), o->phase->q_1, nq);
        carom_axpy(bend, third[i], o->phase->q_1, nq);
    }
    for (int i = 0; i < nq; ++i) {
        if (!known) o->bent[i] = !(fabs(bend[i]) <= ROUNDING * (fabs(q[i]) + h * fabs(sum[i])));
        if (known && !o->bent[i]) continue;
        rate[i] = sum[i];
        if (o->bent[i]) most = fmax(most, fabs(bend[i]));
    }
    return most;
}

// What moves straight is exact but for rounding, best with a step of WAY of the positions.  What turns has the error
// (h q')^4 and is of the size 1, however far away it is: third differences of WAY^3 belong to the best step.
static void position_rate(ode *o, const carom_step *s, const double *q, const double *v, double *rate) {
    enum { ROUNDS = 6 }; // a step of many turns says little about the next
    static const double WAY = 1e-3, LEAST = 1e-3;
    const double cube = WAY * WAY * WAY;
    if (!s->sys->move) {
        carom_copy(rate, v, s->sys->nq);
        return;
    }
    double h = WAY * fmax(carom_size_of_positions(s->sys, q), DBL_MIN) / fmax(carom_size_of_rates(s->sys, v), DBL_MIN),
           bend = differences(o, s, q, v, h, rate, false);
    for (int i = 0; i < ROUNDS && bend > 8 * cube; ++i) {
        h *= fmax(cbrt(cube / bend), LEAST);
        bend = differences(o, s, q, v, h, rate, true);
    }
}

// Contacts that are always there have a witness each.  Those that come and go have one for each velocity: their number
// must not change what the integrator does.
static int fixed(const carom_system *sys) { return sys->nc - sys->listed; }
static int witnesses(const carom_system *sys) { return fixed(sys) + (sys->contact_list->search ? sys->nv : 0); }

// (EV-15)  Witnesses: a reaction may change while nothing moves, and so may a gap to a wall that moves.  Their
// integrals are part of the state, so that the integrator takes steps short enough to see events come.  Of contacts
// that come and go: W lambda, and their walls do not move.
static carom_status witness(carom_phase *w, carom_step *s, double t, const double *q, const double *v, double *rate) {
    const carom_system *sys = s->sys;
    double *push = rate + fixed(sys);
    carom_zero(rate, witnesses(sys));
    for (int b = sys->ne; b < w->f.L.nb; ++b) {
        const int c = w->f.L.id[b] - sys->ne;
        if (c < fixed(sys)) rate[c] = carom_flow_witness(&w->f, b);
        else
            for (int k = w->f.L.at[b]; k < w->f.L.at[b + 1]; ++k) carom_column_axpy(push, w->f.lambda[k], &w->f.L.W, k);
    }
    if (sys->flags & CAROM_TIMELESS_GAPS || w->f.L.nb == sys->ne + sys->nc || fixed(sys) == 0) return CAROM_OK;
    carom_close_kinds(s, &w->all, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_directions(s, &w->all, t, q));
    CAROM_TRY(carom_phase_held(s));
    for (int c = 0; c < fixed(sys); ++c) {
        const int k = w->all.at[sys->ne + c];
        if (w->f.mode[c] == CAROM_MODE_OPEN) rate[c] = carom_column_dot(&w->all.W, k, v) + w->all.w[k];
    }
    return CAROM_OK;
}

// (EV-3)  Works: friction takes -lambda_T u_T, moving walls give -w lambda, forces without potential as the system
// says.
static carom_status rhs(ode *o, double t, const double *y, double *rate) {
    carom_phase *w = o->phase;
    carom_step *s = o->step;
    const carom_system *sys = s->sys;
    const double *q = y, *v = y + sys->nq;
    double *work = rate + o->n - WORKS, given = 0, taken = 0;
    CAROM_TRY(carom_flow_rate_near(&w->f, s, t, &q, &v, false));
    position_rate(o, s, q, v, rate);
    carom_copy(rate + sys->nq, w->f.a, sys->nv);
    CAROM_TRY(witness(w, s, t, q, v, rate + sys->nq + sys->nv));
    carom_zero(work, WORKS);
    for (int b = 0; b < w->f.L.nb; ++b)
        for (int k = w->f.L.at[b]; k < w->f.L.at[b + 1]; ++k) {
            work[WORK_EXTERNAL] -= w->f.L.w[k] * w->f.lambda[k];
            if (k > w->f.L.at[b]) work[WORK_FRICTION] -= w->f.lambda[k] * w->f.u[k];
        }
    CAROM_TRY(carom_filippov_power(&w->f.filippov, s, t, q, v, &given, &taken));
    work[WORK_EXTERNAL] += given;
    work[WORK_DAMPING] = taken;
    return CAROM_OK;
}

// A failure that a smaller step may avoid is reported to CVODE as such, also of a model without value at a place that a
// long step led to; others end the phase.
static int rate(sunrealtype t, N_Vector y, N_Vector rate, void *user) {
    ode *o = user;
    const carom_status status = rhs(o, o->phase->t + t, N_VGetArrayPointer(y), N_VGetArrayPointer(rate));
    if (status == CAROM_OK) return 0;
    o->status = status;
    return status == CAROM_RETRY || status == CAROM_SINGULAR || status == CAROM_USER ? 1 : -1;
}

// -- objects ----------------------------------------------------------------------------------------------------------

#if SUNDIALS_VERSION_MAJOR < 7
static void silent(int code, const char *module, const char *function, char *message, void *user) {
    (void)code, (void)module, (void)function, (void)message, (void)user;
}
#define CONTEXT_CREATE(context) SUNContext_Create(NULL, context)
#define SILENCE(o) CVodeSetErrHandlerFn((o)->cvode, silent, NULL)
#else
#define CONTEXT_CREATE(context) SUNContext_Create(SUN_COMM_NULL, context)
#define SILENCE(o) SUNContext_ClearErrHandlers((o)->context)
#endif

// Fixed-point iteration for Adams' formulas, Newton with a dense matrix by differences for the stiff ones.
static bool make_solver(ode *o, int n, bool stiff) {
    if (!stiff) {
        o->nonlinear = SUNNonlinSol_FixedPoint(o->y, 0, o->context);
        return o->nonlinear && CVodeSetNonlinearSolver(o->cvode, o->nonlinear) == CV_SUCCESS;
    }
    o->J = SUNDenseMatrix(n, n, o->context);
    o->linear = o->J ? SUNLinSol_Dense(o->y, o->J, o->context) : NULL;
    return o->linear && CVodeSetLinearSolver(o->cvode, o->linear, o->J) == CV_SUCCESS;
}

static bool make(ode *o, bool stiff) {
    if (CONTEXT_CREATE(&o->context) != 0) return false;
    o->y = N_VNew_Serial(o->n, o->context);
    o->atol = N_VNew_Serial(o->n, o->context);
    o->cvode = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, o->context);
    if (!o->y || !o->atol || !o->cvode) return false;
    SILENCE(o);
    N_VConst(0, o->y);
    N_VConst(1, o->atol);
    return CVodeInit(o->cvode, rate, 0, o->y) == CV_SUCCESS && CVodeSetUserData(o->cvode, o) == CV_SUCCESS &&
           CVodeSVtolerances(o->cvode, o->rtol, o->atol) == CV_SUCCESS && make_solver(o, o->n, stiff);
}

// Is there memory for all that CVODE will ask for?  SUNDIALS does not look whether its vectors and tables were granted,
// so this is asked before: at most 13 derivatives of the state and 16 other vectors, two matrices for stiff methods,
// and its objects.
static bool enough(size_t n, bool stiff) {
    const size_t vectors = (13 + 16) * (n * sizeof(double) + 1024), matrices = stiff ? 2 * n * n * sizeof(double) : 0,
                 objects = 1 << 17;
    void *all = malloc(vectors + matrices + objects);
    free(all);
    return all != NULL;
}

carom_status carom_cvode_create(carom_phase *w, carom_step *s, double rtol, bool stiff) {
    const int n = s->sys->nq + s->sys->nv + witnesses(s->sys) + WORKS;
    ode *o = enough((size_t)n, stiff) ? calloc(1, sizeof *o) : NULL;
    w->memory = o;
    const size_t nq = (size_t)s->sys->nq;
    if (o) o->n = n, o->rtol = rtol, o->phase = w;
    if (o) o->sum = malloc(2 * nq * sizeof *o->sum + 1), o->bent = malloc(nq * sizeof *o->bent + 1);
    if (o && o->sum) o->bend = o->sum + nq;
    if (!o || !o->sum || !o->bent || !make(o, stiff))
        return carom_fail(s->err, CAROM_NO_MEMORY, "not enough memory for the integrator of %d equations", n);
    return CAROM_OK;
}

void carom_cvode_destroy(carom_phase *w) {
    ode *o = w->memory;
    if (!o) return;
    if (o->cvode) CVodeFree(&o->cvode);
    if (o->nonlinear) SUNNonlinSolFree(o->nonlinear);
    if (o->linear) SUNLinSolFree(o->linear);
    if (o->J) SUNMatDestroy(o->J);
    if (o->y) N_VDestroy(o->y);
    if (o->atol) N_VDestroy(o->atol);
    if (o->context) SUNContext_Free(&o->context);
    free(o->sum);
    free(o->bent);
    free(o);
    w->memory = NULL;
}

void carom_cvode_limit(carom_phase *w, carom_cvode_limits limits) { ((ode *)w->memory)->limits = limits; }

long carom_cvode_rejected(const carom_phase *w) {
    long refused = 0;
    return CVodeGetNumErrTestFails(((ode *)w->memory)->cvode, &refused) == CV_SUCCESS ? refused : 0;
}

// -- the integrator ---------------------------------------------------------------------------------------------------

static carom_status failed(ode *o, carom_step *s, int flag) {
    if (o->status != CAROM_OK) return o->status; // the sentence is there
    return carom_retry(
        s, "CVODE failed after t = %.12g (%s); loosen rtol or atol, or use method=bdf for a stiff model",
        o->phase->t + o->phase->from.tau,
        flag == CV_TOO_MUCH_ACC                             ? "more accuracy is asked for than there are digits"
        : flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE ? "its step became too small"
                                                            : "it does not accept the equations");
}

static void set_tolerances(ode *o, const carom_step *s) {
    const carom_system *sys = s->sys;
    double *atol = N_VGetArrayPointer(o->atol);
    const carom_cvode_limits *z = &o->limits;
    const double size_q = o->phase->now[CAROM_PHASE_SIZE_Q];
    for (int i = 0; i < sys->nq; ++i) *atol++ = carom_tolerance_of(sys, true, i, z->atol, size_q, size_q);
    for (int i = 0; i < sys->nv; ++i) *atol++ = carom_tolerance_of(sys, false, i, z->atol, z->size_v, size_q);
    for (int c = 0; c < fixed(sys); ++c)
        *atol++ = SEEN * (carom_phase_open(o->phase, c) ? o->phase->now[CAROM_PHASE_SIZE_Q] : z->p);
    for (int i = 0; sys->contact_list->search && i < sys->nv; ++i)
        *atol++ = SEEN * z->p * carom_tolerance_lever(carom_lever(sys, i), size_q);
    for (int i = 0; i < WORKS; ++i) *atol++ = o->rtol * z->works;
}

static carom_status reset(carom_phase *w, carom_step *s, double h) {
    ode *o = w->memory;
    double *y = N_VGetArrayPointer(o->y);
    o->step = s;
    o->status = CAROM_OK;
    N_VConst(0, o->y);
    carom_copy(y, w->q, s->sys->nq);
    carom_copy(y + s->sys->nq, w->v, s->sys->nv);
    set_tolerances(o, s);
    const int flag = CVodeReInit(o->cvode, 0, o->y);
    if (flag != CV_SUCCESS || CVodeSVtolerances(o->cvode, o->rtol, o->atol) != CV_SUCCESS ||
        CVodeSetMaxStep(o->cvode, o->limits.longest) != CV_SUCCESS || CVodeSetStopTime(o->cvode, h) != CV_SUCCESS)
        return failed(o, s, flag);
    return CAROM_OK;
}

static void point(const ode *o, const carom_step *s, double tau, carom_event_point *P) {
    const double *y = N_VGetArrayPointer(o->y), *work = y + o->n - WORKS;
    P->tau = tau;
    carom_copy(P->q, y, s->sys->nq);
    carom_copy(P->v, y + s->sys->nq, s->sys->nv);
    P->work = (carom_account){
        .friction = work[WORK_FRICTION], .external = work[WORK_EXTERNAL], .damping = work[WORK_DAMPING]};
}

// Before a place where the model has no value steps become ever shorter, and CVODE goes on when they are nothing.  Has
// the step to P met such a place, and moved neither the clock nor, though very short, any position?
static bool stuck(const ode *o, const carom_step *s, const carom_event_point *P) {
    const carom_phase *w = o->phase;
    if (o->status == CAROM_OK) return false;
    if (!(w->t + P->tau > w->t + w->from.tau)) return true;
    bool moved = !(P->tau - w->from.tau < SHORT * s->h);
    for (int i = 0; i < s->sys->nq && !moved; ++i) moved = P->q[i] != w->from.q[i];
    return !moved;
}

static carom_status advance(carom_phase *w, carom_step *s, double tau, carom_event_point *P, double *error) {
    ode *o = w->memory;
    sunrealtype t = 0;
    (void)error;
    o->status = CAROM_OK;
    const int flag = CVode(o->cvode, tau, o->y, &t, CV_ONE_STEP);
    if (flag < 0) return failed(o, s, flag);
    point(o, s, flag == CV_TSTOP_RETURN ? tau : t, P);
    return stuck(o, s, P) ? o->status : CAROM_OK;
}

// The k-th derivative of the state inside the last internal step, by CVODE's own polynomial, into o->y.
static carom_status derivative(ode *o, carom_step *s, double tau, int k) {
    sunrealtype now = 0, h = 0;
    CVodeGetCurrentTime(o->cvode, &now);
    CVodeGetLastStep(o->cvode, &h);
    const int flag = CVodeGetDky(o->cvode, fmin(fmax(tau, now - h), now), k, o->y); // the difference rounds
    return flag == CV_SUCCESS ? CAROM_OK : failed(o, s, flag);
}

static carom_status at(carom_phase *w, carom_step *s, double tau, carom_event_point *P) {
    CAROM_TRY(derivative(w->memory, s, tau, 0));
    point(w->memory, s, tau, P);
    return CAROM_OK;
}

static carom_status look(carom_phase *w, carom_step *s, const carom_event_point *P) {
    (void)P;
    carom_zero(w->scan.doubt, s->sys->nv);
    return CAROM_OK;
}

static carom_status path(carom_phase *w, carom_step *s, double tau) {
    ode *o = w->memory;
    const double *y = N_VGetArrayPointer(o->y);
    CAROM_TRY(derivative(o, s, tau, 1));
    carom_copy(w->scan.a, y + s->sys->nq, s->sys->nv);
    CAROM_TRY(derivative(o, s, tau, 0));
    carom_copy(w->scan.q, y, s->sys->nq);
    carom_copy(w->scan.v, y + s->sys->nq, s->sys->nv);
    return CAROM_OK;
}

// The value at the step before, and what its chord says of this one.
static void range(const carom_phase *w, int j, double *low, double *high) {
    const double before = w->a.phi[j], here = w->from.phi[j];
    *low = fmin(*low, here), *high = fmax(*high, here);
    if (!(w->from.tau > 0)) return; // the first step
    const double there = here + (here - before) * (w->b.tau - w->from.tau) / (w->from.tau - w->a.tau);
    *low = fmin(*low, fmin(before, there)), *high = fmax(*high, fmax(before, there));
}

const carom_integrator carom_integrator_cvode = {
    .reset = reset, .advance = advance, .at = at, .look = look, .path = path, .range = range};
