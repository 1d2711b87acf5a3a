// lapack.h: the few functions of LAPACK and ARPACK that are used, with the arguments of Fortran.
//
// The libraries are loaded at the first call: that takes longer than a short run, and some of them start threads of their own.
#pragma once
#include <carom/status.h>
#include <stddef.h>

typedef void carom_dgesvd(const char *jobu, const char *jobvt, const int *m, const int *n, double *a, const int *lda, double *s, double *u, const int *ldu,
                          double *vt, const int *ldvt, double *work, const int *lwork, int *info, size_t, size_t);
typedef void carom_dgesv(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);
typedef void carom_dgeev(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda, double *wr, double *wi, double *vl, const int *ldvl,
                         double *vr, const int *ldvr, double *work, const int *lwork, int *info, size_t, size_t);
typedef struct carom_lapack { carom_dgesvd *dgesvd; carom_dgesv *dgesv; carom_dgeev *dgeev; } carom_lapack;

typedef void carom_dnaupd(int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol, double *resid, const int *ncv,
                          double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info, size_t, size_t);
typedef void carom_dneupd(const int *rvec, const char *howmny, int *select, double *dr, double *di, double *z, const int *ldz, const double *sigmar,
                          const double *sigmai, double *workev, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
                          double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl,
                          const int *lworkl, int *info, size_t, size_t, size_t);
typedef struct carom_arpack { carom_dnaupd *dnaupd; carom_dneupd *dneupd; } carom_arpack;

/// CAROM_UNSUPPORTED: carom was built without the library, or it cannot be loaded.
carom_status carom_lapack_load(carom_lapack *to, carom_error *err);
carom_status carom_arpack_load(carom_arpack *to, carom_error *err);
