// filippov.c: motion along surfaces where forces jump; see filippov.h.
#include "event/filippov.h"
#include "base/tolerance.h"
#include "linalg/dense.h"
#include "scheme/step.h"
#include <float.h>
#include <math.h>

static const double NUDGE = 0x1p-17; // of all positions and velocities: central differences lose a third of the digits
static const double TIME = 0x1p-12;  // of size_q/size_v: second differences lose half of them
static const double CUT = 1e-11;     // pivots smaller than this, relatively: the surfaces depend on each other
static const double CLEAR = 2;       // roundings that a state beside a surface is away from it
static const double FAR = 0x1p-20;   // of all positions and velocities: no state that far is beside a surface

carom_filippov carom_allocate_filippov(carom_arena *mem, const carom_system *sys) {
    carom_filippov z = {0};
    const size_t nv = (size_t)sys->nv, nk = (size_t)sys->events->nk;
    if (nk == 0) return z;
    CAROM_ALLOCATE(mem, nk, &z.k, &z.k_1);
    CAROM_ALLOCATE(mem, CAROM_SURFACES + 1, &z.part, &z.drift, &z.eps, &z.x);
    CAROM_ALLOCATE(mem, (CAROM_SURFACES + 1) * nv, &z.slope, &z.force, &z.a);
    z.S = carom_allocate(mem, (size_t)CAROM_SURFACES * CAROM_SURFACES);
    z.q = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, nv, &z.v, &z.given, &z.dv);
    return z;
}

static carom_status kinks(carom_step *s, double t, const double *q, const double *v, double *k) {
    const carom_system *sys = s->sys;
    const carom_status status = sys->events->kinks(sys->model, s->sys_work, t, q, v, k);
    if (status == CAROM_RETRY) return carom_retry(s, "the model could not compute the places of its kinks");
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(s->err, status, "t = %.9g: the model failed to compute the places of its kinks", t);
}

// What counts as much as everything else along direction j.
static double size_of(const carom_filippov *z, const carom_step *s, int j, bool quick) {
    const double lever = carom_lever(s->sys, j);
    if (quick && carom_is_state(s->sys, j)) return 1 / lever;
    return (quick ? z->size_v : z->size_q) / carom_tolerance_lever(lever, z->size_q);
}

// (z->q, z->v) = (q, v) moved along direction j.
static void nudge(carom_filippov *z, const carom_step *s, int j, bool quick, double e, const double *q,
                  const double *v) {
    carom_copy(z->v, v, s->sys->nv);
    carom_copy(z->q, q, s->sys->nq);
    if (quick) {
        z->v[j] += e;
        return;
    }
    carom_zero(z->dv, s->sys->nv);
    z->dv[j] = 1;
    carom_move(s, z->q, q, e, z->dv);
}

static carom_status slopes(carom_filippov *z, carom_step *s, int i, bool quick, double t, const double *q,
                           const double *v, double *slope, bool *some) {
    *some = false;
    for (int j = 0; j < s->sys->nv; ++j) {
        const double e = NUDGE * size_of(z, s, j, quick);
        nudge(z, s, j, quick, e, q, v);
        CAROM_TRY(kinks(s, t, z->q, z->v, z->k));
        nudge(z, s, j, quick, -e, q, v);
        CAROM_TRY(kinks(s, t, z->q, z->v, z->k_1));
        slope[j] = (z->k[i] - z->k_1[i]) / (2 * e);
        *some = *some || slope[j] != 0;
    }
    return CAROM_OK;
}

carom_status carom_filippov_slope(carom_filippov *z, carom_step *s, int i, double t, const double *q, const double *v,
                                  double *slope, bool *quick, double *drift, double *rate) {
    const double e = TIME * z->size_q / z->size_v;
    double k[3], at[3];
    CAROM_TRY(slopes(z, s, i, true, t, q, v, slope, quick));
    bool some;
    if (!*quick) CAROM_TRY(slopes(z, s, i, false, t, q, v, slope, &some));
    for (int m = 0; m < 3; ++m) {
        CAROM_TRY(kinks(s, t + (m - 1) * e, q, v, z->k));
        at[m] = z->k[i];
        carom_move(s, z->q, q, (m - 1) * e, v);
        CAROM_TRY(kinks(s, t + (m - 1) * e, z->q, v, z->k));
        k[m] = z->k[i];
    }
    *rate = *quick ? 0 : carom_dot(slope, v, s->sys->nv) + (at[2] - at[0]) / (2 * e);
    *drift = *quick ? (k[2] - k[0]) / (2 * e) : (k[2] - 2 * k[1] + k[0]) / (e * e);
    // of a plane that stands still, rounding
    if (!*quick && fabs(*drift) * e * e <= 8 * DBL_EPSILON * carom_filippov_magnitude(z, s, slope, false, false))
        *drift = 0;
    return CAROM_OK;
}

double carom_filippov_magnitude(const carom_filippov *z, const carom_step *s, const double *slope, bool quick,
                                bool rate) {
    double sum = 0;
    for (int j = 0; j < s->sys->nv; ++j) sum += fabs(slope[j]) * size_of(z, s, j, quick || rate);
    return sum;
}

// (z->q, z->v) moves along the slope of kink number m of the list, in sizes of the run, until k changes by x.  false:
// that is far away, as where k is zero on a whole side, like max(0, x).
static bool approach(carom_filippov *z, const carom_step *s, int m, double x) {
    const int nv = s->sys->nv;
    const double *slope = z->slope + (size_t)m * (size_t)nv;
    double square = 0;
    for (int j = 0; j < nv; ++j) {
        const double size = size_of(z, s, j, z->quick[m]);
        z->dv[j] = slope[j] * size * size;
        square += slope[j] * z->dv[j];
    }
    if (!(fabs(x) < FAR * sqrt(square))) return false;
    if (z->quick[m])
        carom_axpy(z->v, x / square, z->dv, nv);
    else
        carom_move(s, z->q, z->q, x / square, z->dv);
    return true;
}

carom_status carom_filippov_beside(carom_filippov *z, carom_step *s, int first, int n, const int *sides, double t,
                                   const double *q, const double *v) {
    enum { TIMES = 16, FARTHER = 16 }; // each 16 times as far: up to 2e18 roundings
    double clear = CLEAR;
    carom_copy(z->q, q, s->sys->nq);
    carom_copy(z->v, v, s->sys->nv);
    bool off = true;
    for (int time = 0; time < TIMES && off; ++time, clear *= FARTHER) {
        off = false;
        for (int m = first; m < first + n; ++m) {
            CAROM_TRY(kinks(s, t, z->q, z->v, z->k));
            const int side = sides[m - first];
            const double k = side * z->k[z->kink[m]];
            if (k > 0 && (k <= 2 * CLEAR * z->eps[m] || time > 0)) continue;
            if (approach(z, s, m, side * (clear * z->eps[m] - k))) {
                off = true;
                continue;
            }
            carom_copy(z->q, q, s->sys->nq);
            carom_copy(z->v, v, s->sys->nv);
            return CAROM_OK;
        }
    }
    return CAROM_OK;
}

void carom_filippov_sides(const carom_filippov *z, int j, int *sides) {
    for (int m = 0; m < z->n; ++m) sides[m] = m == j - 1 ? 1 : -1;
    if (z->lean) sides[z->n] = z->lean;
}

// k'' or k' of the surfaces under the accelerations a.
static double change(const carom_filippov *z, const carom_step *s, int m, const double *a) {
    return z->drift[m] + carom_dot(z->slope + (size_t)m * (size_t)s->sys->nv, a, s->sys->nv);
}

bool carom_filippov_solve(carom_filippov *z, const carom_step *s) {
    const int n = z->n, nv = s->sys->nv;
    int pivot[CAROM_SURFACES];
    for (int i = 0; i < n; ++i) {
        z->x[i] = -change(z, s, i, z->a);
        for (int j = 0; j < n; ++j) z->S[i + j * n] = change(z, s, i, z->a + (j + 1) * nv) + z->x[i];
    }
    if (!carom_dense_lu(z->S, n, n, CUT, pivot)) return false;
    carom_dense_lu_solve(z->S, n, n, pivot, z->x);
    carom_copy(z->part, z->x, n);
    return true;
}

carom_status carom_filippov_put_back(carom_filippov *z, carom_step *s, double t, double *q, double *v) {
    const int nv = s->sys->nv;
    for (int m = 0; m < z->n; ++m) {
        double *slope = z->slope + (size_t)m * (size_t)nv;
        carom_add(z->given, z->a + (m + 1) * nv, -1, z->a, nv); // what holds it pushes along this
        const double D = carom_dot(slope, z->given, nv);
        double rate = 0;
        bool quick = z->quick[m];
        if (D == 0) continue;
        CAROM_TRY(kinks(s, t, q, v, z->k));
        const double k = z->k[z->kink[m]];
        if (quick) {
            carom_axpy(v, -k / D, z->given, nv);
            continue;
        }
        if (fabs(k) > z->eps[m]) carom_move(s, q, q, -k / D, z->given);
        CAROM_TRY(carom_filippov_slope(z, s, z->kink[m], t, q, v, slope, &quick, z->drift + m, &rate));
        carom_axpy(v, -rate / D, z->given, nv);
    }
    return CAROM_OK;
}

carom_status carom_filippov_power(carom_filippov *z, carom_step *s, double t, const double *q, const double *v,
                                  double *in, double *out) {
    double in_0 = 0, out_0 = 0;
    if (z->n == 0) return carom_power(s, t, q, v, in, out);
    *in = *out = 0;
    for (int j = 0; j <= z->n; ++j) {
        int sides[CAROM_SURFACES + 1];
        double given = 0, taken = 0;
        carom_filippov_sides(z, j, sides);
        CAROM_TRY(carom_filippov_beside(z, s, 0, z->n, sides, t, q, v));
        CAROM_TRY(carom_power(s, t, z->q, z->v, &given, &taken));
        if (j == 0)
            *in = in_0 = given, *out = out_0 = taken;
        else
            *in += z->part[j - 1] * (given - in_0), *out += z->part[j - 1] * (taken - out_0);
    }
    return CAROM_OK;
}
