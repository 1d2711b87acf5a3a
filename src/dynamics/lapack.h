// lapack.h: the few functions of LAPACK and ARPACK that are used, as Fortran compilers export them.
#pragma once
#include <stddef.h>

#ifdef CAROM_HAS_LAPACK
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a, const int *lda, double *s, double *u, const int *ldu,
             double *vt, const int *ldvt, double *work, const int *lwork, int *info, size_t, size_t);
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda, double *wr, double *wi, double *vl, const int *ldvl,
            double *vr, const int *ldvr, double *work, const int *lwork, int *info, size_t, size_t);
#endif

#ifdef CAROM_HAS_ARPACK
void dnaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol, double *resid, const int *ncv,
             double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info, size_t, size_t);
void dneupd_(const int *rvec, const char *howmny, int *select, double *dr, double *di, double *z, const int *ldz, const double *sigmar,
             const double *sigmai, double *workev, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl,
             const int *lworkl, int *info, size_t, size_t, size_t);
#endif
