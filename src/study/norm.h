// norm.h: norms of differences between trajectories.
#pragma once
#include <carom/study.h>

/// Gathers differences e (n components) row by row; h is the step that ends at the row (0 for the first row).
///   l1      sum of h |e_j| over rows and components
///   l2      root of the sum of h e_j^2
///   lp      p-th root of the sum of h |e_j|^p, p >= 1
///   linf    largest |e_j|
///   matrix  largest singular value of the matrix of all rows, without h
typedef struct carom_norm {
    carom_norm_kind kind;
    double p;     // lp
    int n;
    double sum;   // or the largest value so far
    double *gram; // matrix: n x n, and scratch behind it
} carom_norm;
/// Every kind but CAROM_NORM_HAUSDORFF, which is not made of rows.  p is for CAROM_NORM_LP alone.
carom_status carom_norm_begin(carom_norm *a, carom_norm_kind kind, double p, int n, carom_error *err);
void carom_norm_add(carom_norm *a, double h, const double *e);
double carom_norm_value(const carom_norm *a);
void carom_norm_end(carom_norm *a);
/// A function of time with its jumps filled in: a line through (t_i, x_i), t nondecreasing; equal times make a jump.
typedef struct carom_polyline {
    long n;
    double *t, *x;
} carom_polyline;
/// Hausdorff distance of two filled-in graphs, in the metric max(|t - s|, |x - y|).  Exact at vertices and on vertical
/// pieces; elsewhere at most 1/32 of the time between two vertices too small.  NaN when a value is not finite.
carom_status carom_hausdorff(const carom_polyline *f, const carom_polyline *g, double *distance, carom_error *err);
