// bar.c: the linear rod: u along the axis, linear shape functions.
//
//     K_e = E A/l [1 -1; -1 1],     M_e = rho A l/6 [2 1; 1 2]  or  rho A l/2 I  (lumped)                  (FLX-2)
//
// Its force is one pass over the unknowns, without element matrices: bars have up to millions of elements.
#include "flex/flex.h"
#include "flex/member.h"
#include "flex/bar.inc"

static void element(const carom_member *m, double *Me, double *Ke) {
    const carom_member_def *d = &m->def;
    const double k = d->modulus * d->area / m->l, mass = d->density * d->area * m->l;
    Ke[0] = Ke[3] = k;
    Ke[1] = Ke[2] = -k;
    Me[0] = Me[3] = d->lumped ? mass / 2 : mass / 3;
    Me[1] = Me[2] = d->lumped ? 0 : mass / 6;
}

static void stress(const carom_member *m, const double *x, double *s) { s[0] = m->def.modulus * (x[1] - x[0]) / m->l; }

bool carom_member_streams(const carom_member *m) {
    return m->def.kind == CAROM_BAR && !m->load && m->damping_mass == 0 && m->damping_stiffness == 0 && m->nmodal == 0;
}

void carom_member_stream(const carom_member *m, const double *q, double *f) { bar_stream(m, q, f); }

const flex_kind carom_flex_bar = {.component = {"u"},
                                  .per = 1,
                                  .stresses = 1,
                                  .linear = true,
                                  .rule = BAR_RULE,
                                  .element = element,
                                  .stress = stress};
