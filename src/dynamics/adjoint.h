// adjoint.h (private): the gradient of one result of a run by many names, backwards.
#pragma once
#include "dynamics/results.h"

/// Can it be had so?  An expression at the end, with integrals and averages in it, or at an event; contacts with one
/// tangent at most.  t: opened, with its scheme; r: read from `of`. value and gradient (t->nfree), at time *at.
/// CAROM_UNSUPPORTED: not here, forwards perhaps.
carom_status carom_adjoint_find(carom_task *t, carom_task_run *run, carom_results *r, const char *of,
                                bool (*stop)(const void *user), const void *user, double *value, double *gradient,
                                double *at, carom_error *err);
