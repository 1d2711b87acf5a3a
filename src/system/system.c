// system.c: sizes and sanity of a system.
#include "linalg/matrix.h"
#include "system/system.h"
#include <carom/system.h>
#include <math.h>

carom_system carom_system_default(int nq, int nv, int ne, int nc) {
    static const carom_extensions none = {.speed = {.motion = NULL}};
    const carom_shape dense = {CAROM_DENSE, nv, 0, NULL};
    return (carom_system){.nq = nq,
                          .nv = nv,
                          .ne = ne,
                          .nc = nc,
                          .mass_shape = dense,
                          .tangent_shape = dense,
                          .column_stride = nv,
                          .speed = &none.speed,
                          .accounts = &none.accounts,
                          .events = &none.events,
                          .signals = &none.signals,
                          .conditional = &none.conditions,
                          .contact_list = &none.list,
                          .checks = &none.checks};
}

bool carom_system_closes_while(const carom_system *sys, int c) {
    for (int i = 0; sys->events->kink_of && i < sys->events->nk; ++i)
        if (carom_system_kink_of(sys, i) == CAROM_CLOSES_WHILE(c)) return true;
    return false;
}

int carom_system_recorded(const carom_system *sys, int id) {
    return id < sys->ne ? 1 : 1 + sys->contacts[id - sys->ne].tangents;
}

int carom_system_directions(const carom_system *sys, int id) {
    if (id < sys->ne) return 1;
    const carom_contact *c = sys->contacts + (id - sys->ne);
    return c->friction > 0 ? 1 + c->tangents : 1;
}

static carom_status bad_contact(int i, const carom_contact *c, carom_error *err) {
    if (!(c->restitution >= 0 && c->restitution <= 1))
        return carom_fail(err, CAROM_BAD_INPUT, "contact %d: restitution %g is outside [0, 1]", i, c->restitution);
    if (!(c->tangential_restitution >= 0 && c->tangential_restitution <= 1))
        return carom_fail(err, CAROM_BAD_INPUT, "contact %d: tangential restitution %g is outside [0, 1]", i,
                          c->tangential_restitution);
    if (!(c->friction >= 0 && isfinite(c->friction)))
        return carom_fail(err, CAROM_BAD_INPUT, "contact %d: friction %g must be finite and not negative", i,
                          c->friction);
    if (c->tangents < 0 || c->tangents > CAROM_TANGENTS)
        return carom_fail(err, CAROM_BAD_INPUT, "contact %d: %d tangential directions; 0 to %d are possible", i,
                          c->tangents, CAROM_TANGENTS);
    if (c->friction > 0 && c->tangents == 0)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "contact %d has friction but no tangential direction; give tangents = 1 (planar) or 2 (spatial)", i);
    return CAROM_OK;
}

static carom_status check_shape(carom_shape s, const char *which, carom_error *err) {
    if (s.storage != CAROM_SPARSE)
        return s.pattern ? carom_fail(err, CAROM_BAD_INPUT,
                                      "%s has a sparse pattern, but its storage is not CAROM_SPARSE", which)
                         : CAROM_OK;
    if (!s.pattern || s.pattern->n != s.n)
        return carom_fail(err, CAROM_BAD_INPUT, "%s is sparse and needs a pattern of %d columns", which, s.n);
    if (!s.pattern->direct)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "%s is sparse, but its pattern names no way to factorise it; give carom_direct_klu() (carom/sparse.h), "
            "which is not part of the core, or use banded or dense storage",
            which);
    return carom_pattern_check(s.pattern, err);
}

carom_status carom_system_check(const carom_system *sys, carom_error *err) {
    if (sys->nv < 1 || sys->nq < 1)
        return carom_fail(err, CAROM_BAD_INPUT, "a system needs at least one coordinate; nq = %d, nv = %d", sys->nq,
                          sys->nv);
    if (sys->ne < 0 || sys->nc < 0)
        return carom_fail(err, CAROM_BAD_INPUT, "numbers of constraints cannot be negative; ne = %d, nc = %d", sys->ne,
                          sys->nc);
    if (!sys->speed || !sys->accounts || !sys->events || !sys->signals || !sys->conditional ||
        !sys->contact_list || !sys->checks)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "a system needs all its extensions, empty or not; begin with carom_system_default()");
    if (!sys->mass || !sys->force)
        return carom_fail(err, CAROM_BAD_INPUT, "a system needs the functions mass and force");
    if (sys->ne + sys->nc > 0 && (!sys->gaps || !sys->directions))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "a system with constraints or contacts needs the functions gaps and directions");
    if (sys->events->nk < 0 || (sys->events->nk > 0 && !sys->events->kinks))
        return carom_fail(err, CAROM_BAD_INPUT, "nk = %d: it counts what the function kinks gives", sys->events->nk);
    if (sys->nc > 0 && !sys->contacts)
        return carom_fail(err, CAROM_BAD_INPUT, "a system with %d contacts needs the array contacts", sys->nc);
    if (sys->nq != sys->nv && !sys->move)
        return carom_fail(err, CAROM_BAD_INPUT, "nq = %d and nv = %d differ: the function move is needed", sys->nq,
                          sys->nv);
    if (sys->mass_shape.n != sys->nv || sys->tangent_shape.n != sys->nv)
        return carom_fail(err, CAROM_BAD_INPUT, "mass_shape and tangent_shape must have n = nv = %d", sys->nv);
    CAROM_TRY(check_shape(sys->mass_shape, "mass_shape", err));
    CAROM_TRY(check_shape(sys->tangent_shape, "tangent_shape", err));
    if (!carom_shape_holds(sys->tangent_shape, sys->mass_shape))
        return carom_fail(err, CAROM_BAD_INPUT, "tangent_shape must contain the entries of mass_shape");
    if (sys->column_stride < 1)
        return carom_fail(err, CAROM_BAD_INPUT, "column_stride must be positive; nv means dense columns");
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].friction_varies && !sys->friction)
            return carom_fail(err, CAROM_BAD_INPUT, "contact %d: its friction varies; give the function friction", i);
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].varies && !sys->restitution)
            return carom_fail(err, CAROM_BAD_INPUT, "contact %d: its restitution varies; give the function restitution",
                              i);
    for (int i = 0; i < sys->nc; ++i) CAROM_TRY(bad_contact(i, sys->contacts + i, err));
    return CAROM_OK;
}
