// yardstick.h: what an engine written in C for one purpose costs: the measure that carom is held against.
#pragma once

// The model that the loop sees, as callbacks.  n = 3 unknowns, m = 4 gaps; matrices are column-major.  at() is
// called first and leaves in work what the others share.
typedef struct yardstick_model {
    int n, m;
    void (*at)(const void *user, double *work, const double *q);
    void (*mass)(const void *user, const double *work, double *M);                   // n x n
    void (*force)(const void *user, const double *work, const double *v, double *f); // n
    void (*gaps)(const void *user, const double *work, double *g);                   // m
    void (*direction)(const void *user, const double *work, int k, double *w);       // n: column k of W
    const void *user;
} yardstick_model;

// The slider-crank of models/slider-crank-frictionless.yaml, written by hand.
extern const yardstick_model yardstick_slider;

typedef struct yardstick_result {
    double ns_per_step; // thread CPU time
    long contact_steps; // steps with a closed gap
    double q[3], v[3];  // at the end
} yardstick_result;

// Moreau's midpoint rule without friction from q = 0, v = (150, -75, 0).
yardstick_result yardstick_run(const yardstick_model *model, long steps, double h, double restitution);

// All that one such step may need of the slider-crank, in native C: M (9), f (3), g (4), W (3 x 4).
void yardstick_evaluate(const double *q, const double *v, double *M, double *f, double *g, double *W);

double yardstick_clock(void); // thread CPU time, seconds
