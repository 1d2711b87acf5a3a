// lapack.h: the few functions of LAPACK and ARPACK that are used, with the arguments of Fortran, and those of NLopt.
//
// The libraries are loaded at the first call: that takes longer than a short run, and some of them start threads of
// their own.
#pragma once
#include <carom/status.h>
#include <stddef.h>

typedef void carom_dgesvd(const char *jobu, const char *jobvt, const int *m, const int *n, double *a, const int *lda,
                          double *s, double *u, const int *ldu, double *vt, const int *ldvt, double *work,
                          const int *lwork, int *info, size_t, size_t);
typedef void carom_dgesv(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb,
                         int *info);
typedef void carom_dgeev(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda, double *wr,
                         double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr, double *work,
                         const int *lwork, int *info, size_t, size_t);
typedef struct carom_lapack { carom_dgesvd *dgesvd; carom_dgesv *dgesv; carom_dgeev *dgeev; } carom_lapack;

typedef void carom_dnaupd(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
                          const double *tol, double *resid, const int *ncv, double *v, const int *ldv, int *iparam,
                          int *ipntr, double *workd, double *workl, const int *lworkl, int *info, size_t, size_t);
typedef void carom_dneupd(const int *rvec, const char *howmny, int *select, double *dr, double *di, double *z,
                          const int *ldz, const double *sigmar, const double *sigmai, double *workev, const char *bmat,
                          const int *n, const char *which, const int *nev, const double *tol, double *resid,
                          const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
                          double *workl, const int *lworkl, int *info, size_t, size_t, size_t);
typedef struct carom_arpack { carom_dnaupd *dnaupd; carom_dneupd *dneupd; } carom_arpack;

typedef struct nlopt_opt_s *carom_nlopt_opt; // as nlopt.h has it
typedef double carom_nlopt_func(unsigned n, const double *x, double *gradient, void *user);
typedef void carom_nlopt_mfunc(unsigned m, double *result, unsigned n, const double *x, double *gradient, void *user);
typedef struct carom_nlopt {
    carom_nlopt_opt (*create)(int algorithm, unsigned n);
    void (*destroy)(carom_nlopt_opt);
    int (*optimize)(carom_nlopt_opt, double *x, double *f);
    int (*set_min_objective)(carom_nlopt_opt, carom_nlopt_func *, void *user);
    int (*add_inequality_mconstraint)(carom_nlopt_opt, unsigned m, carom_nlopt_mfunc *, void *user,
                                      const double *tolerance);
    int (*add_equality_mconstraint)(carom_nlopt_opt, unsigned m, carom_nlopt_mfunc *, void *user,
                                    const double *tolerance);
    int (*set_lower_bounds1)(carom_nlopt_opt, double), (*set_upper_bounds1)(carom_nlopt_opt, double);
    int (*set_xtol_abs1)(carom_nlopt_opt, double), (*set_ftol_rel)(carom_nlopt_opt, double);
    int (*set_maxeval)(carom_nlopt_opt, int);
    int (*set_initial_step1)(carom_nlopt_opt, double);
    int (*force_stop)(carom_nlopt_opt);
    int (*algorithm)(const char *name); // -1: unknown
} carom_nlopt;

/// CAROM_UNSUPPORTED: carom was built without the library, or it cannot be loaded.
carom_status carom_lapack_load(carom_lapack *to, carom_error *err);
carom_status carom_arpack_load(carom_arpack *to, carom_error *err);
carom_status carom_nlopt_load(carom_nlopt *to, carom_error *err);
