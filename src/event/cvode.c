// cvode.c: smooth phases by CVODE of SUNDIALS 6 or 7: variable order and step, root finding.
//
// CVODE runs in a time of its own that starts with the phase, so that roots are located to the rounding of the phase.
// Its objects are made once, at the start of a simulation; a phase restarts them.  It never prints.
#include "event/event.h"
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

typedef struct event_ode {
    SUNContext context;
    N_Vector y, atol;
    void *cvode;
    SUNMatrix J;
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
    double base; // CVODE's time zero
    event_work *work;
    carom_step *step;
} event_ode;

// A failure that a smaller step may avoid is told to CVODE as such; others end the phase.
static int answer(event_work *w, carom_status status) {
    if (status == CAROM_OK) return 0;
    w->status = status;
    return status == CAROM_RETRY || status == CAROM_SINGULAR ? 1 : -1;
}

static int rate(sunrealtype t, N_Vector y, N_Vector rate, void *user) {
    event_ode *o = user;
    return answer(o->work, event_rhs(o->work, o->step, o->base + t, N_VGetArrayPointer(y), N_VGetArrayPointer(rate)));
}

static int roots(sunrealtype t, N_Vector y, sunrealtype *phi, void *user) {
    event_ode *o = user;
    const carom_status status = event_watch(o->work, o->step, o->base + t, N_VGetArrayPointer(y));
    // Zero is where event_below() has it: rounding is no root.  Smallest gaps are looked for in look_back().
    const event_work *w = o->work;
    for (int i = 0; i < 2 * o->step->sys->nc; ++i)
        phi[i] = i % 2 == 1 && w->f.mode[i / 2] == CAROM_MODE_OPEN ? 1 : w->phi[i] + w->floor[i] + w->slack[i];
    return status == CAROM_OK ? 0 : (o->work->status = status, -1);
}

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
static bool make_solver(event_ode *o, int n, bool stiff) {
    if (!stiff) {
        o->nonlinear = SUNNonlinSol_FixedPoint(o->y, 0, o->context);
        return o->nonlinear && CVodeSetNonlinearSolver(o->cvode, o->nonlinear) == CV_SUCCESS;
    }
    o->J = SUNDenseMatrix(n, n, o->context);
    o->linear = o->J ? SUNLinSol_Dense(o->y, o->J, o->context) : NULL;
    return o->linear && CVodeSetLinearSolver(o->cvode, o->linear, o->J) == CV_SUCCESS;
}

static bool make(event_work *w, carom_step *s, event_ode *o) {
    const int nc = s->sys->nc;
    const bool stiff = s->opt[OPT_METHOD] == 1;
    if (CONTEXT_CREATE(&o->context) != 0) return false;
    o->y = N_VNew_Serial(w->ny, o->context);
    o->atol = N_VNew_Serial(w->ny, o->context);
    o->cvode = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, o->context);
    if (!o->y || !o->atol || !o->cvode) return false;
    SILENCE(o);
    N_VConst(0, o->y);
    N_VConst(1, o->atol);
    if (CVodeInit(o->cvode, rate, 0, o->y) != CV_SUCCESS || CVodeSetUserData(o->cvode, o) != CV_SUCCESS ||
        CVodeSVtolerances(o->cvode, s->opt[OPT_RTOL], o->atol) != CV_SUCCESS || !make_solver(o, w->ny, stiff))
        return false;
    if (nc == 0) return true;
    for (int i = 0; i < 2 * nc; ++i) w->hit[i] = -1;
    return CVodeRootInit(o->cvode, 2 * nc, roots) == CV_SUCCESS &&
           CVodeSetRootDirection(o->cvode, w->hit) == CV_SUCCESS && CVodeSetNoInactiveRootWarn(o->cvode) == CV_SUCCESS;
}

// Is there memory for all that CVODE will ask for?  SUNDIALS does not look whether its vectors and tables were granted, so this is asked before:
// at most 13 derivatives of the state and 16 other vectors, two matrices for stiff methods, five numbers per event function, and its objects.
static bool enough(const event_work *w, const carom_step *s) {
    const size_t n = (size_t)w->ny, vectors = (13 + 16) * (n * sizeof(double) + 1024), objects = 1 << 17;
    const size_t matrices = s->opt[OPT_METHOD] == 1 ? 2 * n * n * sizeof(double) : 0;
    void *all = malloc(vectors + matrices + 10 * (size_t)s->sys->nc * sizeof(double) + objects);
    free(all);
    return all != NULL;
}

carom_status event_ode_create(event_work *w, carom_step *s) {
    w->ode = enough(w, s) ? calloc(1, sizeof *w->ode) : NULL;
    if (!w->ode || !make(w, s, w->ode))
        return carom_fail(s->err, CAROM_NO_MEMORY, "no memory for the integrator of %d equations", w->ny);
    w->ode->work = w;
    return CAROM_OK;
}

void event_ode_destroy(event_work *w) {
    event_ode *o = w->ode;
    if (!o) return;
    if (o->cvode) CVodeFree(&o->cvode);
    if (o->nonlinear) SUNNonlinSolFree(o->nonlinear);
    if (o->linear) SUNLinSolFree(o->linear);
    if (o->J) SUNMatDestroy(o->J);
    if (o->y) N_VDestroy(o->y);
    if (o->atol) N_VDestroy(o->atol);
    if (o->context) SUNContext_Free(&o->context);
    free(o);
    w->ode = NULL;
}

static carom_status failed(event_work *w, carom_step *s, int flag) {
    if (w->status != CAROM_OK) return w->status; // the sentence is there
    return carom_retry(s,
                       "the integrator gave up at t = %.12g (%s); looser tolerances (--option rtol=, atol=), or "
                       "method=bdf for a stiff model, "
                       "may help",
                       w->t,
                       flag == CV_TOO_MUCH_ACC ? "more accuracy is asked for than there are digits"
                       : flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE ? "its step became too small"
                                                                           : "it does not accept the equations");
}

static carom_status restart(event_work *w, carom_step *s, double t_1, double longest) {
    event_ode *o = w->ode;
    o->base = w->t;
    o->step = s;
    w->status = CAROM_OK;
    carom_copy(N_VGetArrayPointer(o->y), w->y, w->ny);
    carom_copy(N_VGetArrayPointer(o->atol), w->atol, w->ny);
    const int flag = CVodeReInit(o->cvode, 0, o->y);
    if (flag != CV_SUCCESS || CVodeSVtolerances(o->cvode, s->opt[OPT_RTOL], o->atol) != CV_SUCCESS ||
        CVodeSetMaxStep(o->cvode, longest) != CV_SUCCESS || CVodeSetStopTime(o->cvode, t_1 - o->base) != CV_SUCCESS)
        return failed(w, s, flag);
    return CAROM_OK;
}

// The k-th derivative of the state inside the last internal step, by CVODE's own polynomial, into o->y.
static carom_status derivative(event_work *w, carom_step *s, double t, int k) {
    event_ode *o = w->ode;
    sunrealtype now = 0, h = 0;
    CVodeGetCurrentTime(o->cvode, &now);
    CVodeGetLastStep(o->cvode, &h);
    const int flag = CVodeGetDky(o->cvode, fmin(fmax(t - o->base, now - h), now), k, o->y); // the difference rounds
    return flag == CV_SUCCESS ? CAROM_OK : failed(w, s, flag);
}

static carom_status inside(event_work *w, carom_step *s, double t, double *y) {
    CAROM_TRY(derivative(w, s, t, 0));
    carom_copy(y, N_VGetArrayPointer(w->ode->y), w->ny);
    return CAROM_OK;
}

static carom_status accelerations(event_work *w, carom_step *s, double t, double *a) {
    CAROM_TRY(derivative(w, s, t, 1));
    carom_copy(a, N_VGetArrayPointer(w->ode->y) + s->sys->nq, s->sys->nv);
    return CAROM_OK;
}

static carom_status sample(void *user, carom_step *s, double t, carom_sample *P) {
    event_work *w = user;
    CAROM_TRY(accelerations(w, s, t, w->scan.a));
    CAROM_TRY(inside(w, s, t, w->y_2));
    return event_sample(w, s, t, w->y_2, w->scan.a, P);
}

// Contacts that touched and left in the step that began at `before`; event functions are those of its end again.
static carom_status look_back(event_work *w, carom_step *s, double before, bool *missed, double *until) {
    CAROM_TRY(accelerations(w, s, w->t, w->scan.a));
    CAROM_TRY(event_sample(w, s, w->t, w->y, w->scan.a, w->scan.right));
    double at = w->t;
    CAROM_TRY(carom_scan_run(&w->scan, s, sample, w, 1e-9 * (w->t - before), missed, &at));
    *missed = *missed && at < w->t;
    if (*missed) *until = at;
    return event_watch(w, s, w->t, w->y);
}

static carom_status go_on(event_work *w, carom_step *s, double t_1, bool *found) {
    event_ode *o = w->ode;
    bool near = w->pivot_least < EVENT_SINGULAR;
    while (!*found && w->t < t_1) {
        sunrealtype t = 0;
        const double before = w->t;
        const int flag = CVode(o->cvode, t_1 - o->base, o->y, &t, CV_ONE_STEP);
        if (flag < 0) return failed(w, s, flag);
        if (++w->steps > s->opt[OPT_STEPS]) return CAROM_OK; // the caller refuses
        w->t = flag == CV_TSTOP_RETURN ? t_1 : o->base + t;
        carom_copy(w->y, N_VGetArrayPointer(o->y), w->ny);
        event_grow(w, s);
        bool missed = false;
        double until = w->t;
        CAROM_TRY(event_switched(w, s, w->t, w->y, &w->switched));
        if (w->switched) {
            CAROM_TRY(event_locate_switch(w, s, before, &until, inside));
            *found = true;
            if (event_below(w, s, w->hit)) { // and something else before it
                w->switched = false;
                return event_locate(w, s, before, until, inside);
            }
            carom_copy(w->y, w->y_2, w->ny);
            w->t = until;
            return CAROM_OK;
        }
        if (s->sys->nc > 0) {
            CAROM_TRY(look_back(w, s, before, &missed, &until));
        }
        if (flag == CV_ROOT_RETURN && !missed) {
            CVodeGetRootInfo(o->cvode, w->hit);
            *found = true;
            return CAROM_OK;
        }
        missed = missed || (s->sys->nc > 0 && event_below(w, s, w->hit)); // a function that was zero at the start escapes CVODE
        *found = missed;
        const bool entered = !near && w->pivot_least < EVENT_SINGULAR;
        near = w->pivot_least < EVENT_SINGULAR;
        CAROM_TRY(missed ? event_locate(w, s, before, until, inside) : carom_inner(s, w->t, w->q, w->v));
        if (entered) return CAROM_OK; // the next phase steps over it
    }
    return CAROM_OK;
}

carom_status event_ode_run(event_work *w, carom_step *s, double t_1, double longest, bool *found) {
    long refused = 0;
    *found = false;
    CAROM_TRY(restart(w, s, t_1, longest));
    if (s->sys->nc > 0) {
        CAROM_TRY(event_smooth(w, s, w->t, w->q, w->v));
        carom_copy(w->scan.a, w->f.a, s->sys->nv);
        CAROM_TRY(event_sample(w, s, w->t, w->y, w->scan.a, &w->scan.left));
    }
    const carom_status status = go_on(w, s, t_1, found);
    if (CVodeGetNumErrTestFails(w->ode->cvode, &refused) == CV_SUCCESS) s->counts->inner_rejected += refused;
    return status;
}
