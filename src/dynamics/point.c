// point.c: a model at one point.
#include "base/block.h"
#include "dynamics/dynamics.h"
#include "linalg/matrix.h"
#include "scheme/discs.h"
#include "scheme/step.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>

static const double ALIKE = 1e-8; // of the speeds of both sides of a contact: slip that is rounding

// Redundant constraints are left out: beside the positions that all of them allow, they would contradict each other.
static carom_status leave_out(carom_point *p, carom_error *err) {
    const carom_system *all = carom_model_system(p->model);
    p->redundant = carom_redundant_count(all, 0, carom_model_q0(p->model));
    if (p->redundant < 0)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to look for redundant ones among %d constraints",
                          all->ne);
    if (p->redundant == 0) return CAROM_OK;
    carom_independent_make(&p->independent, all, p->redundant);
    p->sys = p->independent.sys;
    return CAROM_OK;
}

static void allocate(carom_point *p, carom_arena *mem) {
    if (p->redundant)
        p->independent.rows = carom_allocate_redundant(mem, mem, carom_model_system(p->model), p->redundant);
    const carom_system *s = &p->sys;
    p->contacts = carom_allocate_bytes(mem, (size_t)p->nc * sizeof *p->contacts);
    p->work = carom_allocate_bytes(mem, s->work_size);
    p->q = carom_allocate(mem, (size_t)p->nq);
    CAROM_ALLOCATE(mem, (size_t)p->nv, &p->v, &p->f);
    p->g = carom_allocate(mem, (size_t)(p->ne + p->nc));
    p->law = carom_allocate(mem, CAROM_FRICTION_LAW * (size_t)p->nc);
    p->L = carom_allocate_local(mem, s);
    p->M = carom_allocate_matrix(mem, s->mass_shape);
    p->K = carom_allocate_matrix(mem, s->tangent_shape);
    p->C = carom_allocate_matrix(mem, s->tangent_shape);
    p->difference = carom_allocate_difference(mem, s);
}

static carom_status failed(carom_status status, const char *what, carom_error *err) {
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(err, status,
                            "the %s of the model have no finite value here; check divisions, roots and logarithms",
                            what);
}

static carom_status mass(carom_point *p, carom_error *err) {
    carom_matrix_zero(p->M);
    return failed(p->sys.mass(p->sys.model, p->work, p->t, p->q, p->M), "masses", err);
}

carom_status carom_point_supports(const carom_model *m, carom_error *err) {
    const carom_system *s = carom_model_system(m);
    if (s->listed)
        return carom_fail(
            err, CAROM_UNSUPPORTED,
            "equilibria, modes, derivatives and orbits need every contact as a formula (in C: carom_model_def.pairs); "
            "contacts that are found by search (hulls, meshes, ellipsoids and height fields), "
            "and more than 20000 pairs of shapes, are not supported; for an equilibrium, run the model until it rests");
    for (int i = 0; i < s->conditional->nswitches; ++i)
        if (s->conditional->contact_of[i] < 0)
            return carom_fail(err, CAROM_UNSUPPORTED,
                              "equilibria, modes, derivatives and orbits are not supported where parts come and go, as "
                              "'%.60s' does (`exists while`)",
                              s->conditional->name(s->model, i));
    for (int c = 0; c < s->nc; ++c)
        if (carom_discs_used(s))
            return carom_fail(err, CAROM_UNSUPPORTED,
                              "equilibria, modes, derivatives and orbits are not supported with `resistance: discs`");
        else if (s->contacts[c].friction_reacts)
            return carom_fail(err, CAROM_UNSUPPORTED,
                              "equilibria, modes, derivatives and orbits are not supported where friction depends on "
                              "forces, as that of '%.60s' does",
                              carom_model_constraint(m, s->ne + c));
    return CAROM_OK;
}

carom_status carom_point_uncontrolled(const carom_model *m, const char *what, carom_error *err) {
    const carom_system *s = carom_model_system(m);
    if (s->signals->nsamplers == 0) return CAROM_OK;
    return carom_fail(err, CAROM_UNSUPPORTED,
                      "%s are not supported with controllers, as '%.60s'; write the law of control as a force", what,
                      s->signals->samplers[0].name);
}

carom_status carom_point_open(carom_point *p, const carom_model *m, carom_error *err) {
    *p = (carom_point){.model = m, .sys = *carom_model_system(m)};
    CAROM_TRY(carom_point_supports(m, err));
    CAROM_TRY(leave_out(p, err));
    p->nq = p->sys.nq, p->nv = p->sys.nv, p->ne = p->sys.ne, p->nc = p->sys.nc;
    for (int id = 0; id < p->ne + p->nc; ++id) p->n += carom_system_recorded(&p->sys, id);
    allocate(p, &p->mem);
    if (!carom_arena_begin(&p->mem))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the matrices of the model");
    allocate(p, &p->mem);
    for (int i = 0; i < p->nc; ++i) p->contacts[i] = p->sys.contacts[i];
    p->sys.contacts = p->contacts;
    if (p->sys.work_init) p->sys.work_init(p->sys.model, p->work);
    carom_copy(p->q, carom_model_q0(m), p->nq);
    CAROM_TRY(mass(p, err));
    if (p->redundant && !carom_redundant_start(&p->independent.rows, p->work, p->M, p->t, p->q))
        return failed(CAROM_USER, "directions of joints", err);
    return CAROM_OK;
}

void carom_point_close(carom_point *p) {
    carom_arena_release(&p->mem);
    free(p->mem.base);
    *p = (carom_point){0};
}

// A contact that stands still has its static coefficient.
static carom_status look_friction(carom_point *p, carom_error *err) {
    bool varies = false;
    for (int c = 0; c < p->nc; ++c) varies = varies || p->contacts[c].friction_varies;
    if (!varies) return CAROM_OK;
    carom_zero(p->law, CAROM_FRICTION_LAW * p->nc);
    CAROM_TRY(failed(p->sys.friction(p->sys.model, p->work, p->t, p->q, p->v, NULL, p->law), "coefficients of friction",
                     err));
    for (int c = 0; c < p->nc; ++c) {
        const double *law = p->law + CAROM_FRICTION_LAW * c;
        const int tangents = p->contacts[c].tangents;
        if (!p->contacts[c].friction_varies || tangents == 0) continue;
        const double mu = carom_length(law + 2, tangents) > p->noise ? law[0] : law[1];
        if (!(mu >= 0))
            return carom_fail(err, CAROM_USER, "friction of '%.60s' must not be negative, got %g",
                              carom_model_constraint(p->model, p->ne + c), mu);
        p->contacts[c].friction = fmax(mu, CAROM_NO_FRICTION); // it keeps its tangential directions
    }
    return CAROM_OK;
}

double carom_point_largest(const carom_point *p, const double *x, int n) {
    return carom_size_moving(&p->sys, x, n);
}

carom_status carom_point_look(carom_point *p, carom_error *err) {
    const carom_system *s = &p->sys;
    for (int i = s->first_state; p->still && i < s->first_state + s->nstates; ++i) p->v[i] = p->q[i];
    if (p->redundant && !carom_redundant_look(&p->independent.rows, p->work, p->t, p->q, NULL))
        return failed(CAROM_USER, "directions of joints", err);
    carom_zero(p->g, p->ne + p->nc);
    if (p->ne + p->nc > 0) CAROM_TRY(failed(s->gaps(s->model, p->work, p->t, p->q, p->g), "gaps", err));
    carom_zero(p->f, p->nv);
    CAROM_TRY(failed(s->force(s->model, p->work, p->t, p->q, p->v, p->f), "forces", err));
    if (!isfinite(carom_norm_max(p->f, p->nv))) return failed(CAROM_USER, "forces", err);
    CAROM_TRY(mass(p, err));
    return look_friction(p, err);
}

carom_status carom_point_directions(carom_point *p, carom_local *L, carom_error *err) {
    L->at[0] = 0;
    for (int b = 0; b < L->nb; ++b) L->at[b + 1] = L->at[b] + carom_system_directions(&p->sys, L->id[b]);
    if (L->nb == 0) return CAROM_OK;
    carom_zero(L->w, L->at[L->nb]);
    if (!L->W.count) carom_zero(L->W.a, (ptrdiff_t)L->at[L->nb] * L->W.rows); // another set had these columns
    else for (int k = 0; k < L->at[L->nb]; ++k) L->W.count[k] = 0;
    return failed(p->sys.directions(p->sys.model, p->work, p->t, p->q, L), "directions of contacts", err);
}

// (STA-3)  At rest first-order states z are unknowns like positions: K = -df/dz, and C = 0.
static void move_columns(carom_point *p) {
    const carom_shape shape = p->K.shape;
    for (int j = p->sys.first_state; j < p->sys.first_state + p->sys.nstates; ++j) {
        const size_t n = (size_t)shape.n, wide = 2 * (size_t)shape.band + 1, at = (size_t)j;
        const size_t from = shape.storage == CAROM_SPARSE     ? (size_t)shape.pattern->start[j]
                            : shape.storage == CAROM_BANDED   ? at * wide
                            : shape.storage == CAROM_DIAGONAL ? at
                                                              : at * n,
                     to = shape.storage == CAROM_SPARSE     ? (size_t)shape.pattern->start[j + 1]
                          : shape.storage == CAROM_BANDED   ? from + wide
                          : shape.storage == CAROM_DIAGONAL ? from + 1
                                                            : from + n;
        for (size_t k = from; k < to; ++k) p->K.a[k] += p->C.a[k], p->C.a[k] = 0;
    }
}

carom_status carom_point_tangent(carom_point *p, const double *lambda, carom_error *err) {
    const carom_system *s = &p->sys;
    carom_matrix_zero(p->K);
    carom_matrix_zero(p->C);
    CAROM_TRY(failed(s->tangent ? s->tangent(s->model, p->work, p->t, p->q, p->v, p->K, p->C)
                                : carom_difference_tangent(&p->difference, s, p->work, p->t, p->q, p->v, p->K, p->C),
                     "derivatives of forces", err));
    if (p->still) move_columns(p);
    if (!lambda || p->L.nb == 0) return CAROM_OK;
    return failed(s->reaction_gradient ? s->reaction_gradient(s->model, p->work, p->t, p->q, &p->L, lambda, -1, p->K)
                                       : carom_difference_reaction_gradient(&p->difference, s, p->work, p->t, p->q,
                                                                            &p->L, lambda, -1, p->K),
                  "derivatives of directions", err);
}

bool carom_point_slides(const carom_point *p, int b, double *d) {
    const carom_local *L = &p->L;
    const int first = L->at[b] + 1, tangents = L->at[b + 1] - first;
    if (L->id[b] < p->ne || tangents < 1) return false;
    double size = 0;
    if (p->contacts[L->id[b] - p->ne].friction <= CAROM_NO_FRICTION) return true;
    for (int i = 0; i < tangents; ++i) {
        const double u = carom_column_dot(&L->W, first + i, p->v);
        d[i] = -(u + L->w[first + i]);
        size = fmax(size, fabs(u) + fabs(L->w[first + i]));
    }
    const double speed = carom_length(d, tangents);
    if (!(speed > fmax(ALIKE * size, p->noise))) return false; // both sides move alike, up to rounding
    for (int i = 0; i < tangents; ++i) d[i] /= speed;
    return true;
}

const char *carom_point_rate(const carom_point *p, int i) {
    return p->nq == p->nv && !carom_model_state(p->model, i) ? carom_model_coordinate(p->model, i)
                                                             : carom_model_velocity(p->model, i);
}

carom_status carom_point_curvature(carom_point *p, double *kappa, carom_error *err) {
    const carom_system *s = &p->sys;
    carom_zero(kappa, p->L.at[p->L.nb]);
    if (p->L.nb == 0) return CAROM_OK;
    return failed(s->curvature ? s->curvature(s->model, p->work, p->t, p->q, p->v, &p->L, kappa)
                               : carom_difference_curvature(&p->difference, s, p->work, p->t, p->q, p->v, &p->L, kappa),
                  "curvatures of gaps", err);
}
