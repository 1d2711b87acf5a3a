// bar.c: the linear rod: u along the axis, linear shape functions.
//
//     K_e = E A/l [1 -1; -1 1],     M_e = rho A l/6 [2 1; 1 2]  or  rho A l/2 I  (lumped)                  (FLX-2)
//
// Its force is one pass over the unknowns, without element matrices: bars have up to millions of elements.
#include "flex/flex.h"

static void element(const carom_member *m, double *Me, double *Ke) {
    const carom_member_def *d = &m->def;
    const double k = d->modulus * d->area / m->l, mass = d->density * d->area * m->l;
    Ke[0] = Ke[3] = k;
    Ke[1] = Ke[2] = -k;
    Me[0] = Me[3] = d->lumped ? mass / 2 : mass / 3;
    Me[1] = Me[2] = d->lumped ? 0 : mass / 6;
}

static void stress(const carom_member *m, const double *x, double *s) { s[0] = m->def.modulus * (x[1] - x[0]) / m->l; }

// Force on unknown i: k ((y_{i+1} - y_i) - (y_i - y_{i-1})).  Neighbours see the same number with opposite signs, so that no
// momentum is made.
static inline double pulled(const double *y, double k, int i) { return k * ((y[i + 1] - y[i]) - (y[i] - y[i - 1])); }

// The same at the ends of a run: *first, *last (one number when the run is one unknown).
static void pulled_ends(const double *y, double k, const flex_run *r, double *first, double *last) {
    const int n = r->count;
    const double left = r->held[0] ? y[0] : 0, right = r->held[1] ? -y[n - 1] : 0;
    *first = k * ((n == 1 ? right : y[1] - y[0]) - left);
    *last = k * (right - (n == 1 ? left : y[n - 1] - y[n - 2]));
}

static void chain(double *restrict f, const double *restrict y, double k, const flex_run *r) {
    const int n = r->count;
    double first, last;
    pulled_ends(y, k, r, &first, &last);
    f[0] += first;
    for (int i = 1; i < n - 1; ++i) f[i] += pulled(y, k, i);
    if (n > 1) f[n - 1] += last;
}

static void set_chain(double *restrict f, const double *restrict y, double k, const flex_run *r) {
    const int n = r->count;
    double first, last;
    pulled_ends(y, k, r, &first, &last);
    for (int i = 1; i < n - 1; ++i) f[i] = pulled(y, k, i);
    f[n - 1] = last;
    f[0] = first;
}

// The same for q + b v, which need not be stored.
static void damped_chain(double *restrict f, const double *restrict q, const double *restrict v, double b, double k,
                         const flex_run *r) {
    const int n = r->count;
    double before = r->held[0] ? q[0] + b * v[0] : 0; // stretch of the element on the left
    for (int i = 0; i < n - 1; ++i) {
        const double after = (q[i + 1] - q[i]) + b * (v[i + 1] - v[i]);
        f[i] += k * (after - before);
        before = after;
    }
    f[n - 1] += k * ((r->held[1] ? -(q[n - 1] + b * v[n - 1]) : 0) - before);
}

void carom_flex_bar_force(const carom_member *m, const double *q, const double *v, double *f) {
    const double k = m->Ke[0], b = m->def.damping_stiffness;
    for (int i = 0; i < m->nrun; ++i) {
        const flex_run *r = &m->run[i];
        if (b == 0) chain(f + r->first, q + r->first, k, r);
        else damped_chain(f + r->first, q + r->first, v + r->first, b, k, r);
    }
}

bool carom_member_streams(const carom_member *m) {
    return m->def.kind == CAROM_BAR && !m->load && m->def.damping_mass == 0 && m->def.damping_stiffness == 0 && m->nmodal == 0;
}

void carom_member_stream(const carom_member *m, const double *q, double *f) {
    for (int i = 0; i < m->nrun; ++i) set_chain(f + m->run[i].first, q + m->run[i].first, m->Ke[0], &m->run[i]);
}

const flex_kind carom_flex_bar = {
    .component = {"u"}, .per = 1, .stresses = 1, .linear = true, .element = element, .stress = stress};
