// flow_filippov.c: accelerations along surfaces where forces jump; see filippov.h.
#include "event/flow.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>

static const double ROUNDING = 16; // eps of forces that cancel

// Accelerations under the forces beside (q, v), for f_- and each f_+: to z->a.
static carom_status rate_sides(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws) {
    carom_filippov *z = &f->filippov;
    const int nv = s->sys->nv, all = z->n + (z->lean != 0);
    for (int j = 0; j <= z->n; ++j) {
        int sides[CAROM_SURFACES + 1];
        double *F = z->force + j * nv;
        carom_filippov_sides(z, j, sides);
        CAROM_TRY(carom_filippov_beside(z, s, 0, all, sides, t, q, v));
        CAROM_TRY(carom_force(s, F, t, z->q, z->v));
        carom_copy(z->given, F, nv);
        CAROM_TRY(carom_flow_rate_given(f, s, t, q, v, laws, false));
        carom_copy(z->a + j * nv, f->a, nv);
    }
    return CAROM_OK;
}

// (EV-47)  M v' = f_- + sum alpha_j (f_+j - f_-)
static carom_status rate_held(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws) {
    carom_filippov *z = &f->filippov;
    const int nv = s->sys->nv, all = z->n + (z->lean != 0);
    double rate;
    for (int m = 0; m < all; ++m)
        CAROM_TRY(carom_filippov_slope(z, s, z->kink[m], t, q, v, z->slope + (size_t)m * (size_t)nv, z->quick + m,
                                       z->drift + m, &rate));
    CAROM_TRY(rate_sides(f, s, t, q, v, laws));
    if (z->n == 0) return CAROM_OK;
    if (!carom_filippov_solve(z, s)) return carom_retry(s, "forces do not hold the motion where they jump any more");
    for (int i = 0; i < nv; ++i) {
        double sum = z->force[i], size = fabs(sum);
        for (int j = 0; j < z->n; ++j) {
            const double more = z->part[j] * (z->force[(j + 1) * nv + i] - z->force[i]);
            sum += more, size += fabs(more);
        }
        z->given[i] = fabs(sum) > ROUNDING * DBL_EPSILON * size ? sum : 0; // what cancels leaves none
    }
    return carom_flow_rate_given(f, s, t, q, v, laws, false);
}

static carom_status rate(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws,
                         bool stage) {
    carom_filippov *z = &f->filippov;
    if (z->n == 0 && z->lean == 0) return carom_flow_rate_given(f, s, t, q, v, laws, stage);
    z->gives = true;
    const carom_status status = rate_held(f, s, t, q, v, laws);
    z->gives = false;
    return status;
}

carom_status carom_flow_rate(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws) {
    return rate(f, s, t, q, v, laws, false);
}

// (EV-19)  Near a singular position accelerations are those of the nearest state on the constraints.  What the error of
//          the integrator leaves in W'v stands in kappa, and the reactions divide it by the distance to that position:
//          an integrator would follow that error with ever smaller steps.
carom_status carom_flow_rate_near(carom_flow *f, carom_step *s, double t, const double **q, const double **v,
                                  bool laws) {
    CAROM_TRY(rate(f, s, t, *q, *v, laws, true));
    if (f->n == 0 || f->pivot >= CAROM_FLOW_SINGULAR || f->shared) return CAROM_OK;
    carom_copy(f->q_on, *q, s->sys->nq);
    carom_copy(f->v_on, *v, s->sys->nv);
    CAROM_TRY(carom_flow_project_position(f, s, t, f->q_on));
    CAROM_TRY(carom_flow_stop(f, s, t, f->q_on, f->v_on));
    *q = f->q_on, *v = f->v_on;
    return carom_flow_rate(f, s, t, *q, *v, laws);
}
