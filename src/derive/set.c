// set.c: other values of parameters in a model that is there.
//
// Expressions hold parameters as inputs of the tape.  Numbers that the mechanism gives by parameters are of two kinds.
// Those that stand in one place (initial values, coefficients of laws, step and end) are bound to it, and are evaluated
// again by the same operations.  All others have gone into the structure (counts, geometry, flexible members): the
// parameters that they read are fixed, and another value of one of these derives the model again.  Either way the model
// is, bit for bit, the one that would have been made with these values.
#include "base/missing.h"
#include "derive/shapes/shapes.h"
#include "model/answers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int ENTRY[6][2] = {{0, 0}, {4, 4}, {8, 8}, {1, 3}, {2, 6}, {5, 7}}; // of J, by component

static void store(carom_model *m, bound *b, double x) {
    const int body_of = b->kind == BOUND_ANGLE || b->kind == BOUND_MASS ? b->index : b->index / 6, k = b->index % 6;
    body *o = b->kind >= BOUND_PLACE && b->kind <= BOUND_MASS ? &m->bodies[body_of] : NULL;
    b->value = x;
    switch (b->kind) {
    case BOUND_POSITION: m->start[b->index] = x; break;
    case BOUND_RATE: m->start[m->nq + b->index] = x; break;
    case BOUND_RESTITUTION: m->contacts[b->index].restitution = x; break;
    case BOUND_TANGENTIAL: m->contacts[b->index].tangential_restitution = x; break;
    case BOUND_FRICTION: m->contacts[b->index].friction = x; break;
    case BOUND_LISTED_RESTITUTION: m->near->law[b->index].restitution = x; break;
    case BOUND_LISTED_TANGENTIAL: m->near->law[b->index].tangential_restitution = x; break;
    case BOUND_LISTED_FRICTION: m->near->law[b->index].friction = x; break;
    case BOUND_STIFFNESS: m->near->pairs[b->index].soft->stiffness = x; break;
    case BOUND_DAMPING: m->near->pairs[b->index].soft->damping = x; break;
    case BOUND_STICTION: m->near->pairs[b->index].soft->speed = x; break;
    case BOUND_PLACE: m->start[o->orientation - (o->space == SPATIAL ? 3 : 2) + k] = o->r0[k] = x; break;
    case BOUND_SPEED: m->start[m->nq + o->v + k] = x; break;
    case BOUND_ANGLE:
        m->start[o->orientation] = x;
        if (o->R0) o->R0[0] = o->R0[4] = cos(x), o->R0[3] = sin(x), o->R0[1] = -o->R0[3];
        break;
    case BOUND_MASS: o->mass = x; break;
    case BOUND_INERTIA:
        for (int i = 0; i < 3 && o->space == PLANAR; ++i) o->J[4 * i] = x;
        if (o->space == SPATIAL) o->J[ENTRY[k][0]] = o->J[ENTRY[k][1]] = x;
        break;
    case BOUND_GRAVITY: m->gravity[b->index] = x; break;
    case BOUND_STEP: m->step = x; break;
    case BOUND_END: m->end = x; break;
    case BOUND_INPUT: m->parameter[m->np_own + b->index] = x; break;
    case BOUND_NUMBER: case BOUND_COEFFICIENT: break;
    }
}

// May x take the place of `old`?  What is out of range is left to the derivation, which has the words for it; what
// becomes zero or stops being it changes the structure: directions, storage, terms.
static bool fits(bound_kind kind, double x, double old) {
    if (!isfinite(x)) return false;
    switch (kind) {
    case BOUND_RESTITUTION: case BOUND_TANGENTIAL: case BOUND_LISTED_RESTITUTION: case BOUND_LISTED_TANGENTIAL:
        return x >= 0 && x <= 1 && (x > 0) == (old > 0);
    case BOUND_FRICTION: case BOUND_COEFFICIENT: case BOUND_LISTED_FRICTION: case BOUND_STIFFNESS: case BOUND_DAMPING:
    case BOUND_STICTION:
        return x >= 0 && (x > 0) == (old > 0);
    case BOUND_MASS: case BOUND_STEP: case BOUND_END: return x > 0;
    case BOUND_INERTIA: case BOUND_GRAVITY: return (x != 0) == (old != 0);
    default: return true;
    }
}

// Where a solution is followed, the model is looked at there and not where it would start: a start that has no value,
// as sqrt(p) beyond a fold at p = 0, stays as it was.
static bool starts(bound_kind kind) {
    return kind == BOUND_POSITION || kind == BOUND_RATE || kind == BOUND_PLACE || kind == BOUND_SPEED ||
           kind == BOUND_ANGLE;
}

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

// What is bound, evaluated again into x; *fine: all of it fits.  Contacts of one law read it once.
static carom_status evaluate(resolver *r, double *x, bool *fine) {
    carom_model *m = r->m;
    *fine = true;
    r->slip_speed = r->normal_force = carom_graph_number(r->values, 0);
    for (int i = 0; i < m->nbound; ++i) {
        const bound *b = &m->bound[i];
        carom_node node = CAROM_NONE;
        int k = i - 1;
        while (k >= 0 && k >= i - 3 && m->bound[k].from != b->from) --k;
        if (k >= 0 && k >= i - 3) x[i] = x[k];
        else {
            CAROM_TRY(carom_resolve_expression(r, b->from, SCOPE_BOUND, "this", &node));
            if (!carom_graph_is_number(r->values, node, &x[i])) x[i] = NAN;
        }
        if (m->followed && starts(b->kind) && !isfinite(x[i])) x[i] = b->value;
        *fine = *fine && fits(b->kind, x[i], b->value);
    }
    return CAROM_OK;
}

// Parameters, and what is bound to them.  *again: the structure changes, too, and nothing more was done.
static carom_status renew(carom_model *m, double *old, double *x, unsigned char *state, bool *again, carom_error *err) {
    resolver r = {.m = m,
                  .mech = m->whole,
                  .err = err,
                  .lazy = &carom_lazy_names,
                  .values = carom_graph_create(),
                  .param_state = state,
                  .loose = true};
    if (!r.values) return carom_model_no_memory(m, err);
    bool fine = true;
    carom_copy(old, m->parameter, m->np);
    carom_status status = carom_resolve_parameters(&r);
    *again = false;
    for (int i = 0; i < m->np && status == CAROM_OK; ++i)
        *again = *again || ((m->fixed[i] || (m->scaled && i < m->np_own)) && !same(old[i], m->parameter[i]));
    if (status == CAROM_OK && !*again) status = evaluate(&r, x, &fine);
    *again = *again || !fine;
    carom_graph_destroy(r.values);
    if (status != CAROM_OK || *again) carom_copy(m->parameter, old, m->np);
    return status;
}

// What is bound becomes x, and x what it was; false: a body would have an inertia that is none.
static bool exchange(carom_model *m, double *x) {
    bool fine = true;
    for (int i = 0; i < m->nbound; ++i) {
        const double old = m->bound[i].value;
        store(m, &m->bound[i], x[i]);
        x[i] = old;
    }
    carom_near_laws(m);
    for (int i = 0; i < m->nbound; ++i)
        if (m->bound[i].kind == BOUND_INERTIA)
            fine = fine && carom_inertia_positive(m->bodies[m->bound[i].index / 6].J);
    return fine;
}

// The model as it would be made from its mechanism now; compiled code goes on serving where tapes are equal.
static carom_status derive_again(carom_model *m, carom_error *err) {
    carom_error own = {0};
    carom_model *fresh = carom_model_apart(m->mech, m->observe, m->apart, m->written, m->observing, &own);
    if (!fresh) return carom_fail(err, own.code, "%s", own.text);
    carom_model_adopt(fresh, m);
    fresh->followed = m->followed;
    carom_model_own(fresh, m->owned, m->release);
    m->release = NULL;
    const carom_model old = *m;
    *m = *fresh;
    *fresh = old;
    m->sys.model = m;
    fresh->sys.model = fresh;
    carom_model_destroy(fresh);
    return CAROM_OK;
}

static carom_status apply(carom_model *m, bool *derived, carom_error *err) {
    const size_t np = (size_t)m->np, nb = (size_t)m->nbound;
    double *room = calloc(np + nb + 1, sizeof *room);
    unsigned char *state = calloc(np + 1, 1);
    carom_status status = room && state ? CAROM_OK : carom_model_no_memory(m, err);
    bool again = false;
    if (status == CAROM_OK) status = renew(m, room, room + np, state, &again, err);
    if (status == CAROM_OK && !again && !exchange(m, room + np)) {
        exchange(m, room + np);
        carom_copy(m->parameter, room, m->np);
        again = true;
    }
    free(room);
    free(state);
    *derived = again;
    if (status != CAROM_OK) return status;
    if (again) return derive_again(m, err);
    carom_drawn_free(m->drawn);
    m->drawn = NULL;
    return carom_model_begin(m, err);
}

carom_status carom_model_set(carom_model *m, int n, const int *index, const double *value, bool *derived,
                             carom_error *err) {
    if (!m || !index || !value) return CAROM_MISSING(err);
    bool again = false, ignored;
    carom_error nothing = {0};
    for (int k = 0; k < n; ++k)
        if (index[k] < 0 || index[k] >= m->np_own)
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s has %d parameters and no number %d", m->file, m->np_own,
                              index[k]);
    carom_datum *before = calloc((size_t)n + 1, sizeof *before), *const given = (carom_datum *)m->mech->parameters.item;
    if (!before) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d parameters", n);
    for (int k = 0; k < n; ++k) {
        before[k] = given[index[k]];
        given[index[k]].kind = CAROM_NUMBER;
        given[index[k]].number = value[k];
    }
    const carom_status status = apply(m, &again, err);
    if (status != CAROM_OK) { // all as it was
        for (int k = n - 1; k >= 0; --k) given[index[k]] = before[k];
        apply(m, &ignored, &nothing);
    }
    free(before);
    if (derived) *derived = again;
    return status;
}

void carom_model_follow(carom_model *m) { m->followed = true; }

bool carom_model_fixed(const carom_model *m, int i) { return m ? m->fixed[i] || (m->scaled && i < m->np_own) : false; }
