// lanes_model.c: a model as text for many systems at once: what can be, and what the text is made of.
//
// Functions of (t, q, v, k): k holds what differs between the systems and what depends on that alone.  Rows are local
// directions that take part in contact problems, by constraint: ROW[id] is the first of constraint id.  Pairs of shapes
// have tapes of their own (carom_model_apart); their statements follow those of the model in each function.
#include "sweep/lanes_text.h"
#include "base/grow.h"
#include "base/tolerance.h"
#include "model/conditions.h"
#include "system/system.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

// -- constants ------------------------------------------------------------------------------------------------------

static void add(carom_lane_value *list, int room, int *n, carom_lane_kind kind, int index, const carom_datum *d) {
    if (!carom_given(d) || d->kind != CAROM_TEXT) return;
    if (list && *n < room) list[*n] = (carom_lane_value){kind, index, d};
    ++*n;
}

// What is bound to a place of the model (set.c) that lanes have, too; false: it stands in expressions alone.
static bool value_of(const carom_model *m, int i, carom_lane_kind *kind, int *index) {
    const bound *b = &m->bound[i];
    const body *o = b->kind == BOUND_ANGLE                               ? &m->bodies[b->index]
                    : b->kind >= BOUND_PLACE && b->kind <= BOUND_INERTIA ? &m->bodies[b->index / 6]
                                                                         : NULL;
    *index = b->index;
    switch (b->kind) {
    case BOUND_POSITION: return *kind = CAROM_LANE_POSITION, true;
    case BOUND_RATE: return *kind = CAROM_LANE_RATE, true;
    case BOUND_RESTITUTION: return *kind = CAROM_LANE_RESTITUTION, true;
    case BOUND_TANGENTIAL: return *kind = CAROM_LANE_TANGENTIAL, true;
    case BOUND_FRICTION: return *kind = CAROM_LANE_FRICTION, true;
    case BOUND_PLACE:
        *index = o->orientation - (o->space == SPATIAL ? 3 : 2) + b->index % 6;
        return *kind = CAROM_LANE_POSITION, true;
    case BOUND_ANGLE: return *kind = CAROM_LANE_POSITION, *index = o->orientation, true;
    case BOUND_SPEED: return *kind = CAROM_LANE_RATE, *index = o->v + b->index % 6, true;
    case BOUND_INPUT: return *kind = CAROM_LANE_PARAMETER, *index = m->np_own + b->index, true;
    case BOUND_STEP: return *kind = CAROM_LANE_STEP, true;
    case BOUND_END: return *kind = CAROM_LANE_END, true;
    case BOUND_MASS:
    case BOUND_INERTIA:
    case BOUND_GRAVITY:
    case BOUND_COEFFICIENT: return *kind = CAROM_LANE_RANGE, *index = i, true;
    case BOUND_NUMBER: break;
    default: break; // of a dynamic contact list, which lanes do not have
    }
    return false;
}

int carom_lane_values(const carom_model *m, carom_lane_value *list, int room) {
    const carom_datum *const own = &m->mech->parameters;
    carom_lane_kind kind;
    int n = 0, i = 0, index;
    for (const carom_datum *d = carom_first(own); d != carom_end(own); ++d, ++i)
        add(list, room, &n, CAROM_LANE_PARAMETER, i, d);
    for (i = 0; i < m->nbound; ++i)
        if (value_of(m, i, &kind, &index)) add(list, room, &n, kind, index, m->bound[i].from);
    return n;
}

bool carom_lanes_observe(const carom_model *m, const carom_lane_request *r, const char *name) {
    for (int k = 0; carom_ledger_name(k); ++k)
        for (int i = 0; i < r->nobserve && strcmp(carom_ledger_name(k), name) == 0; ++i)
            if (carom_graph_depends(m->graph, m->observed[i], CAROM_PARAMETER, m->np + k)) return true;
    return false;
}

// -- what the text is made of -----------------------------------------------------------------------------------------

bool carom_lanes_other_laws(const carom_model *m) {
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].impact || m->contacts[c].sequential || m->contacts[c].varies) return true;
    return false;
}

bool lane_bodies_come(const carom_model *m) {
    for (int i = 0; i < m->condition.n; ++i)
        if (m->condition.list[i].body >= 0) return true;
    return false;
}

bool lane_varied(const text *x, int parameter, int *which) {
    for (int i = 0; i < x->r->nvary; ++i)
        if (x->r->vary[i].kind == CAROM_LANE_PARAMETER && x->r->vary[i].index == parameter) return *which = i, true;
    return false;
}

bool lane_depends(const text *x, int value) {
    for (int p = 0; p < x->m->np; ++p)
        if (x->moves[p] && carom_graph_depends(x->m->graph, node_of(x, value), CAROM_PARAMETER, p)) return true;
    return false;
}

// Which parameters differ between systems: those that are varied, and those given by them.
static void find_moving(text *x) {
    const carom_model *m = x->m;
    int which;
    for (int p = 0; p < m->np; ++p)
        x->moves[p] = lane_varied(x, p, &which) || p >= m->np_own + m->signal.nset; // signals of controllers
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < x->nvalues; ++i) {
            const carom_lane_value *v = &x->value[i];
            if (v->kind != CAROM_LANE_PARAMETER || x->moves[v->index] || !lane_depends(x, i)) continue;
            x->moves[v->index] = more = true;
        }
    }
    for (int p = m->np; p < m->check_parameters; ++p) x->moves[p] = true; // ledger and averages
    for (int i = 0; i < m->nbound; ++i) x->range_place[i] = -1;
    for (int i = 0; i < x->nvalues; ++i) {
        const carom_lane_value *v = &x->value[i];
        if (v->kind == CAROM_LANE_PARAMETER || !lane_depends(x, i)) continue;
        if (v->kind >= CAROM_LANE_RESTITUTION && v->kind <= CAROM_LANE_FRICTION)
            x->law_moves[3 * v->index + (int)v->kind - CAROM_LANE_RESTITUTION] = true;
        if (v->kind == CAROM_LANE_RANGE) x->range_place[v->index] = 0;
        x->starts = x->starts || v->kind == CAROM_LANE_POSITION || v->kind == CAROM_LANE_RATE;
    }
    for (int i = 0; i < x->r->nvary; ++i) x->starts = x->starts || x->r->vary[i].kind != CAROM_LANE_PARAMETER;
}

static carom_status refuse(carom_error *err, const char *why) {
    return carom_fail(err, CAROM_BAD_INPUT, "lanes do not support %s", why);
}

carom_status carom_lanes_size(const carom_model *m, carom_error *err) {
    if (m->nv <= MOST_V && m->ne <= MOST_E) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT,
                      "lanes are for models of at most %d rates and %d rows of joints and constraints; this one has %d "
                      "and %d",
                      MOST_V, MOST_E, m->nv, m->ne);
}

static carom_status check_pairs(const carom_model *m, carom_error *err) {
    if (m->near)
        return refuse(err, "contacts that a search finds: hulls, meshes, height fields, hundreds of pairs of shapes");
    if (m->nfree) return refuse(err, "worlds of bodies that only contacts and gravity act on");
    return CAROM_OK;
}

carom_status carom_lanes_parts(const carom_model *m, carom_error *err) {
    CAROM_TRY(check_pairs(m, err));
    if (m->sys.nrates) return refuse(err, "constraints on rates");
    CAROM_TRY(carom_lanes_size(m, err));
    if (m->nc > MOST_C)
        return carom_fail(err, CAROM_BAD_INPUT, "lanes are for models of at most %d contacts; this one has %d", MOST_C,
                          m->nc);
    return CAROM_OK;
}

// What has gone into the structure must be the same in all systems.
static carom_status check_structure(const text *x, carom_error *err) {
    const carom_model *m = x->m;
    for (int p = 0; p < m->np_own; ++p)
        if (x->moves[p] && m->fixed[p])
            return carom_fail(err, CAROM_BAD_INPUT,
                              "lanes do not support other values of '%.100s', on which the structure of the model "
                              "depends: counts, sizes of shapes, places of joints",
                              m->names.at[m->parameter_name[p]].text);
    return CAROM_OK;
}

static carom_status check_ledger(const text *x, carom_error *err) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->nobserved && m->nmember; ++i)
        if (carom_graph_depends(m->graph, m->observed[i], CAROM_POSITION, m->visible.nq_own) ||
            carom_graph_depends(m->graph, m->observed[i], CAROM_VELOCITY, m->visible.nv_own))
            return refuse(err, "energies of flexible members as `observe`");
    for (int k = m->np; x->r->section != CAROM_LANES_PLAIN && k < m->check_parameters; ++k)
        if (carom_graph_depends(m->graph, m->observed[x->r->nobserve], CAROM_PARAMETER, k))
            return refuse(err, "sections of the ledger or of averages");
    for (int i = 0; i < x->r->nobserve; ++i)
        for (int k = 0; carom_ledger_name(k); ++k) {
            if (strcmp(carom_ledger_name(k), "impacts") == 0 || strcmp(carom_ledger_name(k), "penetration") == 0)
                continue;
            if (carom_graph_depends(m->graph, m->observed[i], CAROM_PARAMETER, m->np + k))
                return carom_fail(err, CAROM_BAD_INPUT,
                                  "lanes provide only impacts and penetration of the ledger, not %s",
                                  carom_ledger_name(k));
        }
    return CAROM_OK;
}

void lane_shut(text *x) {
    free(x->value);
    free(x->moves);
    free(x->place);
    free(x->law_moves);
    free(x->law_place);
    free(x->range_place);
    free(x->gate_place);
    carom_lane_mass_free(&x->mass);
    free(x->jump);
    for (int i = 0; x->pair && i < x->m->npairs; ++i) carom_lane_close(&x->pair[i]);
    for (int i = 0; x->kind && i < x->m->nkinds; ++i) carom_lane_close(&x->kind[i]);
    free(x->pair);
    free(x->kind);
    carom_lane_close(&x->lane);
    carom_lane_close(&x->check);
    carom_lane_close(&x->rub);
    carom_lane_close(&x->bounce);
}

// Restitution by the approach speed, and friction, whose inputs are parameters and reactions.
static carom_status open_laws(text *x) {
    const carom_model *m = x->m;
    const size_t n = (size_t)(m->np + m->friction.nreacting);
    double *inputs = calloc(n + 1, sizeof *inputs);
    bool *moves = calloc(n + 1, sizeof *moves);
    carom_status status = inputs && moves ? CAROM_OK : CAROM_NO_MEMORY;
    for (size_t i = 0; i < n && status == CAROM_OK; ++i) {
        moves[i] = (int)i >= m->np || x->moves[i];
        if ((int)i < m->np) inputs[i] = m->parameter[i];
    }
    if (status == CAROM_OK && m->friction.tape) status = carom_lane_open(&x->rub, m->friction.tape, moves, inputs, 0);
    if (status == CAROM_OK && m->bounce.tape) status = carom_lane_open(&x->bounce, m->bounce.tape, moves, inputs, 0);
    free(inputs), free(moves);
    return status;
}

static carom_status open_tapes(text *x) {
    const carom_model *m = x->m;
    double *inputs = calloc((size_t)m->check_parameters + 1, sizeof *inputs);
    if (!inputs) return CAROM_NO_MEMORY;
    carom_copy(inputs, m->parameter, m->np);
    carom_status status = carom_lane_open(&x->check, m->check_tape, x->moves, inputs, 0);
    free(inputs);
    if (status == CAROM_OK) status = open_laws(x);
    if (status == CAROM_OK) status = carom_lane_open(&x->lane, m->tape, x->moves, m->parameter, x->nk);
    if (status == CAROM_OK) x->nk = x->lane.nk;
    for (int i = 0; i < m->npairs && status == CAROM_OK; ++i) {
        if (m->pairs[i].shares) continue;
        status = carom_lane_open(&x->pair[i], m->pairs[i].own->tape, x->moves, m->parameter, x->nk);
        if (status == CAROM_OK) x->nk = x->pair[i].nk;
    }
    bool sizes[MOST_SIZES]; // they are inputs of a kind
    for (int i = 0; i < MOST_SIZES; ++i) sizes[i] = true;
    for (int i = 0; i < m->nkinds && status == CAROM_OK; ++i) {
        double size[MOST_SIZES] = {0};
        carom_kind_sizes(&m->kinds[i], m->kinds[i].first, size);
        status = carom_lane_open(&x->kind[i], m->kinds[i].two->pairs->own->tape, sizes, size, 0);
    }
    return status;
}

// Places of what differs: parameters, laws, numbers in a range.
static void find_places(text *x) {
    const carom_model *m = x->m;
    for (int p = 0; p < m->np; ++p)
        if (x->moves[p]) x->place[p] = x->nk++;
    for (int k = 0; k < 3 * m->nc; ++k)
        if (x->law_moves[k]) x->law_place[k] = x->nk++;
    for (int i = 0; i < m->nbound; ++i)
        if (x->range_place[i] >= 0) x->range_place[i] = x->nk++;
    for (int i = 0; i < m->condition.n; ++i) x->gate_place[i] = x->nk++;
    for (int id = 0, r = 0; id <= m->ne + m->nc; ++id) {
        x->row[id] = r;
        if (id < m->ne + m->nc) r += m->links[id].ndir;
    }
}


static carom_status check_samplers(const text *x, carom_error *err) {
    for (int k = 0; k < x->m->signal.ncontrols; ++k) {
        const carom_sampler *c = &x->m->signal.sampler[k];
        const double all[] = {c->sample, c->offset, c->delay};
        for (int i = 0; i < 3; ++i)
            if (fabs(all[i] / x->r->h - steps_of(x, all[i])) > CAROM_INSTANT * fmax(1, steps_of(x, all[i])) ||
                steps_of(x, all[i]) > INT_MAX)
                return carom_fail(err, CAROM_BAD_INPUT,
                                  "lanes take equal steps of %g: sample time, offset and delay of controller '%.60s' "
                                  "must be whole multiples of it",
                                  x->r->h, c->name);
    }
    return CAROM_OK;
}

// (JT-6)  Does a switch have a value at this time alone?  Where runs begin and end there is one side.
typedef enum place { INSIDE, START, END } place;
static bool alone(const carom_model *m, void *work, double at, double e, place where) {
    bool same = true, differs = false;
    double *left = calloc(2 * (size_t)m->times.nswitches + 1, sizeof *left),
           *right = left ? left + m->times.nswitches : NULL;
    void *own = (unsigned char *)work + m->at.times;
    const double time[3] = {where == START ? at + e : at - e, where == END ? at - e : at + e, at};
    for (int k = 0; left && k < 3; ++k) {
        const carom_values x = carom_tape_values(m->times.tape, own, 0, time[k], NULL, NULL);
        for (int i = 0; i < m->times.nswitches; ++i) {
            const double y = x.slot[x.place[i]];
            if (k < 2)
                (k ? right : left)[i] = y;
            else
                same = same && left[i] == right[i], differs = differs || (left[i] == right[i] && y != left[i]);
        }
    }
    free(left);
    return same && differs;
}

// (JT-1), (JT-6)  Schemes of impulses alone look at forces inside a step, the others begin and end beside jumps; no
// scheme uses a value that forces have only where the run begins or ends.
static carom_status find_jumps(text *x, carom_error *err) {
    enum { MOST = 100000 };
    const carom_model *m = x->m;
    if (!m->times.nswitches) return CAROM_OK;
    if (m->ne > 0 && !(m->sys.flags & CAROM_TIMELESS_GAPS))
        return refuse(err, "joints that are driven and forces that jump at given times");
    for (int i = 0; i < m->times.nswitches; ++i)
        for (int p = 0; p < m->np && x->r->beside; ++p)
            if (x->moves[p] && carom_graph_depends(m->graph, m->times.node[i], CAROM_PARAMETER, p))
                return carom_fail(
                    err, CAROM_BAD_INPUT,
                    "lanes do not support other values of '%.100s' with this scheme, whose steps end where "
                    "forces jump: the times of the jumps depend on it",
                    m->names.at[m->parameter_name[p]].text);
    void *work = carom_model_work(m, err);
    if (!work) return CAROM_NO_MEMORY;
    carom_status status = CAROM_OK;
    const double h = x->r->h;
    for (double t = -h; t < x->r->until && status == CAROM_OK;) {
        const double at = carom_model_jump(m, work, t, fmin(x->r->until + h, t + 64 * h));
        static const double NEAR_ZERO = 1e-3; // of a step: instants nearer to zero are rounded as that
        const double e = 4 * 0x1p-52 * fmax(fabs(at), NEAR_ZERO * h);
        if (!(at < HUGE_VAL)) {
            t += 64 * h;
            continue;
        }
        const place where = fabs(at) <= e ? START : fabs(at - x->r->until) <= e ? END : INSIDE;
        const bool single = alone(m, work, at, e, where), listed = x->r->beside || single;
        if (single && where == INSIDE)
            status = refuse(err, "forces with a value at a single instant");
        else if (x->njumps == MOST)
            break;
        else if (listed && !carom_grow(&x->jump, (size_t)x->njumps, sizeof *x->jump))
            status = CAROM_NO_MEMORY;
        else if (listed)
            x->jump[x->njumps++] = at;
        t = at + e;
    }
    free(work);
    return status;
}

carom_status lane_open(text *x, carom_error *err) {
    const carom_model *m = x->m;
    x->nvalues = carom_lane_values(m, NULL, 0);
    x->value = calloc((size_t)x->nvalues + 1, sizeof *x->value);
    x->moves = calloc((size_t)m->check_parameters + 1, sizeof *x->moves);
    x->place = calloc((size_t)m->np + 1, sizeof *x->place);
    x->law_moves = calloc(3 * (size_t)m->nc + 1, sizeof *x->law_moves);
    x->law_place = calloc(3 * (size_t)m->nc + 1, sizeof *x->law_place);
    x->range_place = calloc((size_t)m->nbound + 1, sizeof *x->range_place);
    x->gate_place = calloc((size_t)m->condition.n + 1, sizeof *x->gate_place);
    x->pair = calloc((size_t)m->npairs + 1, sizeof *x->pair);
    x->kind = calloc((size_t)m->nkinds + 1, sizeof *x->kind);
    carom_status status = x->value && x->moves && x->place && x->law_moves && x->law_place && x->range_place &&
                                  x->gate_place && x->pair && x->kind
                              ? CAROM_OK
                              : CAROM_NO_MEMORY;
    if (status == CAROM_OK) {
        carom_lane_values(m, x->value, x->nvalues);
        find_moving(x);
        find_places(x);
        status = open_tapes(x);
        if (status == CAROM_OK) status = carom_lane_mass_find(m, &x->mass);
    }
    if (status != CAROM_OK) return carom_fail(err, status, "not enough memory for the text of lanes");
    CAROM_TRY(check_structure(x, err));
    CAROM_TRY(check_samplers(x, err));
    CAROM_TRY(find_jumps(x, err));
    bool rings = x->lane.pairs || x->check.pairs || x->rub.pairs || x->bounce.pairs;
    for (int i = 0; i < m->npairs; ++i) rings = rings || x->pair[i].pairs;
    for (int i = 0; i < m->nkinds; ++i) rings = rings || x->kind[i].pairs;
    if (rings) return refuse(err, "rings");
    for (int i = 0; i < x->nvalues; ++i)
        if ((x->value[i].kind == CAROM_LANE_STEP && x->r->step && lane_depends(x, i)) ||
            (x->value[i].kind == CAROM_LANE_END && x->r->end && lane_depends(x, i)))
            return refuse(err, "a step size or end time that differs from run to run; give `step` and `end`");
    return CAROM_OK;
}

carom_status carom_lanes_check(const carom_model *m, const carom_lane_request *r, carom_error *err) {
    text x = {.m = m, .r = r};
    CAROM_TRY(carom_lanes_parts(m, err));
    CAROM_TRY(check_ledger(&x, err));
    carom_status status = lane_open(&x, err);
    lane_shut(&x);
    return status;
}
