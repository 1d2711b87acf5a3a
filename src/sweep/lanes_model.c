// lanes_model.c: a model as text for many systems at once.
//
// Functions of (t, q, v, k): k holds what differs between the systems and what depends on that alone.  Rows are local
// directions that take part in contact problems, by constraint: ROW[id] is the first of constraint id.  Pairs of shapes
// have tapes of their own (carom_model_apart); their statements follow those of the model in each function.
#include "sweep/lanes_model.h"
#include "base/grow.h"
#include "base/tolerance.h"
#include "expr/native.h"
#include "expr/tape.h"
#include "model/conditions.h"
#include "model/pairs.h"
#include "sweep/lanes_members.h"
#include "system/system.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_V = 60, MOST_E = 60, MOST_C = 320, MOST_CLOSED = 32 };
enum { LEDGER_IMPACTS, LEDGER_PENETRATION };

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

typedef struct text {
    const carom_model *m;
    const carom_lane_request *r;
    carom_write_text *write;
    void *user;
    carom_lane_value *value; // nvalues
    int nvalues;
    bool *moves;     // by input of the check tape: it differs between systems
    int *place;      // by parameter: in k
    bool *law_moves; // 3 nc: restitution, tangential, friction
    int *law_place;
    int *range_place; // by bound: where the number is whose range the model has assumed; -1: it is a constant
    carom_lane_mass mass;
    int *gate_place; // by condition: where 1 is while its contact must not close
    double *jump;    // times at which forces jump, where steps begin and end beside them
    int njumps;
    int nk;
    bool starts;                          // initial values differ
    carom_lane lane, check, *pair, *kind; // of the model, of what is observed, of each pair of shapes, of each kind
    int row[MOST_C + MOST_E + 1];         // by constraint
    // while a group is written: what its results are called, and of which pair they are, from 1
    int mode, of_pair, of_kind;
} text;

enum { OUT_ALL, OUT_MOTION, OUT_ROWS, OUT_DIRECTIONS, OUT_JOINTS, OUT_GRADIENT, OUT_KC, OUT_OBSERVE, OUT_ONE };

static void put(const text *x, const char *s) { x->write(x->user, s, strlen(s)); }

static int first_value(const text *x) { return x->r->nobserve + (x->r->section != CAROM_LANES_PLAIN); }
static carom_node node_of(const text *x, int value) { return x->m->observed[first_value(x) + value]; }

static bool varied(const text *x, int parameter, int *which) {
    for (int i = 0; i < x->r->nvary; ++i)
        if (x->r->vary[i].kind == CAROM_LANE_PARAMETER && x->r->vary[i].index == parameter) return *which = i, true;
    return false;
}

static bool depends(const text *x, int value) {
    for (int p = 0; p < x->m->np; ++p)
        if (x->moves[p] && carom_graph_depends(x->m->graph, node_of(x, value), CAROM_PARAMETER, p)) return true;
    return false;
}

// Which parameters differ between systems: those that are varied, and those given by them.
static void find_moving(text *x) {
    const carom_model *m = x->m;
    int which;
    for (int p = 0; p < m->np; ++p)
        x->moves[p] = varied(x, p, &which) || p >= m->np_own + m->nset; // signals of controllers
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < x->nvalues; ++i) {
            const carom_lane_value *v = &x->value[i];
            if (v->kind != CAROM_LANE_PARAMETER || x->moves[v->index] || !depends(x, i)) continue;
            x->moves[v->index] = more = true;
        }
    }
    for (int p = m->np; p < m->check_parameters; ++p) x->moves[p] = true; // ledger and averages
    for (int i = 0; i < m->nbound; ++i) x->range_place[i] = -1;
    for (int i = 0; i < x->nvalues; ++i) {
        const carom_lane_value *v = &x->value[i];
        if (v->kind == CAROM_LANE_PARAMETER || !depends(x, i)) continue;
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
    for (int i = 0; i < m->npairs; ++i)
        if (m->pairs[i].soft) return refuse(err, "contacts of finite stiffness");
    return CAROM_OK;
}

carom_status carom_lanes_parts(const carom_model *m, carom_error *err) {
    const carom_mech *x = m->mech;
    CAROM_TRY(check_pairs(m, err));
    if (m->sys.nrates) return refuse(err, "constraints on rates");
    for (int i = 0; i < m->sys.conditional->nswitches; ++i)
        if (m->sys.conditional->contact_of[i] < 0) return refuse(err, "`exists while`");
    for (int i = 0; i < x->ncontacts; ++i)
        if (carom_given(&x->contacts[i].stiffness)) return refuse(err, "contacts of finite stiffness");
    for (int c = 0; c < m->nc; ++c) {
        const carom_contact *k = &m->contacts[c];
        if (k->ellipse[0] > 0) return refuse(err, "friction with two coefficients");
        if (k->impact || k->sequential || k->varies || k->friction_varies)
            return refuse(
                err,
                "laws of impact other than Newton's, impacts in sequence, and restitution or friction that varies");
    }
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
                return carom_fail(err, CAROM_BAD_INPUT, "lanes know of the ledger only impacts and penetration, not %s",
                                  carom_ledger_name(k));
        }
    return CAROM_OK;
}

static void shut(text *x) {
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
}

static carom_status open_tapes(text *x) {
    const carom_model *m = x->m;
    double *inputs = calloc((size_t)m->check_parameters + 1, sizeof *inputs);
    if (!inputs) return CAROM_NO_MEMORY;
    carom_copy(inputs, m->parameter, m->np);
    carom_status status = carom_lane_open(&x->check, m->check_tape, x->moves, inputs, 0);
    free(inputs);
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
    for (int i = 0; i < m->nconditions; ++i) x->gate_place[i] = x->nk++;
    for (int id = 0, r = 0; id <= m->ne + m->nc; ++id) {
        x->row[id] = r;
        if (id < m->ne + m->nc) r += m->links[id].ndir;
    }
}

static double steps_of(const text *x, double t) { return round(t / x->r->h); }

static carom_status check_samplers(const text *x, carom_error *err) {
    for (int k = 0; k < x->m->ncontrols; ++k) {
        const carom_sampler *c = &x->m->samplers[k];
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

// Does a switch have a value at this time alone?
static bool alone(const carom_model *m, void *work, double at, double e) {
    bool same = true, differs = false;
    double *left = calloc(2 * (size_t)m->nswitches + 1, sizeof *left), *right = left ? left + m->nswitches : NULL;
    void *own = (unsigned char *)work + m->times_work;
    for (int k = 0; left && k < 3; ++k) {
        const carom_values x = carom_tape_values(m->times_tape, own, 0,
                                                 k == 0   ? at - e
                                                 : k == 1 ? at + e
                                                          : at,
                                                 NULL, NULL);
        for (int i = 0; i < m->nswitches; ++i) {
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

// (JT-1)  Schemes of impulses alone look at forces inside a step, the others begin and end beside jumps.
static carom_status find_jumps(text *x, carom_error *err) {
    enum { MOST = 100000 };
    const carom_model *m = x->m;
    if (!m->nswitches) return CAROM_OK;
    if (m->ne > 0 && !(m->sys.flags & CAROM_TIMELESS_GAPS))
        return refuse(err, "joints that are driven and forces that jump at given times");
    for (int i = 0; i < m->nswitches; ++i)
        for (int p = 0; p < m->np && x->r->beside; ++p)
            if (x->moves[p] && carom_graph_depends(m->graph, m->switch_node[i], CAROM_PARAMETER, p))
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
        const double e = 4 * 0x1p-52 * fmax(fabs(at), 1e-3 * h);
        if (!(at < HUGE_VAL)) {
            t += 64 * h;
            continue;
        }
        if (alone(m, work, at, e))
            status = refuse(err, "forces with a value at a single instant");
        else if (x->njumps == MOST)
            break;
        else if (x->r->beside && !carom_grow(&x->jump, (size_t)x->njumps, sizeof *x->jump))
            status = CAROM_NO_MEMORY;
        else if (x->r->beside)
            x->jump[x->njumps++] = at;
        t = at + e;
    }
    free(work);
    return status;
}

static carom_status open(text *x, carom_error *err) {
    const carom_model *m = x->m;
    x->nvalues = carom_lane_values(m, NULL, 0);
    x->value = calloc((size_t)x->nvalues + 1, sizeof *x->value);
    x->moves = calloc((size_t)m->check_parameters + 1, sizeof *x->moves);
    x->place = calloc((size_t)m->np + 1, sizeof *x->place);
    x->law_moves = calloc(3 * (size_t)m->nc + 1, sizeof *x->law_moves);
    x->law_place = calloc(3 * (size_t)m->nc + 1, sizeof *x->law_place);
    x->range_place = calloc((size_t)m->nbound + 1, sizeof *x->range_place);
    x->gate_place = calloc((size_t)m->nconditions + 1, sizeof *x->gate_place);
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
    bool rings = x->lane.pairs || x->check.pairs;
    for (int i = 0; i < m->npairs; ++i) rings = rings || x->pair[i].pairs;
    for (int i = 0; i < m->nkinds; ++i) rings = rings || x->kind[i].pairs;
    if (rings) return refuse(err, "rings");
    for (int i = 0; i < x->nvalues; ++i)
        if ((x->value[i].kind == CAROM_LANE_STEP && x->r->step && depends(x, i)) ||
            (x->value[i].kind == CAROM_LANE_END && x->r->end && depends(x, i)))
            return refuse(err, "a step size or end time that differs from run to run; give `step` and `end`");
    return CAROM_OK;
}

// -- names ------------------------------------------------------------------------------------------------------------

// Position or velocity i of the graph among those of the model.
static int seen(const carom_model *m, bool velocity, int i) {
    const int own = velocity ? m->visible.nv_own : m->visible.nq_own;
    return !m->nmember || i < own ? i : i == own ? -1 : (velocity ? m->visible.v : m->visible.q)[i - own - 1];
}

static bool input_name(void *user, carom_input kind, int i, char s[CAROM_SLOT_NAME]) {
    const text *x = user;
    const carom_model *m = x->m;
    int ledger = 0;
    if (x->of_kind) { // positions and velocities of two bodies; sizes, which are numbers
        if (kind == CAROM_TIME)
            strcpy(s, "T(of)(0)");
        else if (kind == CAROM_PARAMETER)
            snprintf(s, CAROM_SLOT_NAME, "T(of)(z[%d])", i);
        else
            snprintf(s, CAROM_SLOT_NAME, "%c[%d]", kind == CAROM_POSITION ? 'q' : 'v', i);
        return true;
    }
    switch (kind) {
    case CAROM_TIME: strcpy(s, "t"); return true;
    case CAROM_POSITION: snprintf(s, CAROM_SLOT_NAME, "q[%d]", seen(m, false, i)); return true;
    case CAROM_VELOCITY: snprintf(s, CAROM_SLOT_NAME, "v[%d]", seen(m, true, i)); return true;
    case CAROM_PARAMETER: break;
    }
    if (i < m->np && x->moves[i]) return snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->place[i]), true;
    if (i < m->np) return carom_native_number(m->parameter[i], s), false;
    while (carom_ledger_name(ledger)) ++ledger;
    if (i - m->np >= ledger) return snprintf(s, CAROM_SLOT_NAME, "a[%d]", i - m->np - ledger), true;
    return snprintf(s, CAROM_SLOT_NAME, "ledger[%d]",
                    strcmp(carom_ledger_name(i - m->np), "impacts") == 0 ? LEDGER_IMPACTS : LEDGER_PENETRATION),
           true;
}

static int mass_entry(const text *x, int i, int j) {
    for (int e = 0; e < x->mass.n; ++e)
        if (x->mass.i[e] == i && x->mass.j[e] == j) return e;
    return -1;
}

// Row of direction d; -1: it takes no part.
static int row_of(const text *x, int d) {
    for (int id = 0; id < x->m->ne + x->m->nc; ++id) {
        const constraint *c = &x->m->links[id];
        if (d >= c->dir && d < c->dir + c->ndir) return x->row[id] + d - c->dir;
    }
    return -1;
}

static bool motion_name(const text *x, int i, char s[CAROM_SLOT_NAME]) {
    const carom_model *m = x->m;
    const int nf = m->nmember ? m->visible.nv_own + 1 + m->visible.compiled : m->nv;
    const int nm = m->whole_mass ? m->nv * m->nv : m->mass.n;
    if (i < nf) return snprintf(s, CAROM_SLOT_NAME, m->nmember ? "e[%d]" : "f[%d]", i), true;
    if ((i -= nf) < nm) {
        const int e = m->whole_mass ? i % m->nv >= i / m->nv ? mass_entry(x, i % m->nv, i / m->nv) : -1 : i;
        return snprintf(s, CAROM_SLOT_NAME, "m[%d]", e), e >= 0;
    }
    return snprintf(s, CAROM_SLOT_NAME, "g[%d]", i - nm), true;
}

// Places of a list of dW and of one of dw that follows it, each from some entry on.
static void gradient_name(const carom_model *m, span a, int ndW, int i, char s[CAROM_SLOT_NAME]) {
    snprintf(s, CAROM_SLOT_NAME, "out[%d]", i < ndW ? a.dW + i : m->dW.n + a.dw + i - ndW);
}

// Entry e of W (w: beyond it).
static bool direction_name(const text *x, bool of_w, int e, char s[CAROM_SLOT_NAME]) {
    const carom_model *m = x->m;
    const int r = row_of(x, of_w ? m->w.i[e] : m->W.j[e]);
    if (of_w)
        snprintf(s, CAROM_SLOT_NAME, "w[%d]", r);
    else
        snprintf(s, CAROM_SLOT_NAME, "W[%d]", r * m->nv + m->W.i[e]);
    return r >= 0;
}

typedef struct kind_text {
    char text[60];
} kind_text;
static kind_text kind_name(int kind, int answer, bool typed);

// Where the derivatives of directions of a pair that shares begin, behind those of the model.
static int shared_gradient(const carom_model *m, const pair *p) {
    int at = m->dW.n + m->dw.n;
    for (const pair *o = m->pairs; o < p; ++o)
        if (o->shares) at += m->kinds[o->kind].two->dW.n;
    return at;
}

static bool pair_output_name(const text *x, int i, char s[CAROM_SLOT_NAME]) {
    const carom_model *m = x->m;
    const pair *p = &m->pairs[x->of_pair - 1];
    const span a = p->own->from, b = p->own->to;
    const int nW = b.W - a.W;
    int r;
    switch (x->mode) {
    case OUT_MOTION: return snprintf(s, CAROM_SLOT_NAME, "g[%d]", p->first + i), true;
    case OUT_ROWS: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", r = row_of(x, a.dir + i)), r >= 0;
    case OUT_DIRECTIONS: return direction_name(x, i >= nW, i < nW ? a.W + i : a.w + i - nW, s);
    case OUT_GRADIENT: return gradient_name(m, a, b.dW - a.dW, i, s), true;
    default: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", p->first + i), true;
    }
}

static bool output_name(void *user, int i, char s[CAROM_SLOT_NAME]) {
    const text *x = user;
    const carom_model *m = x->m;
    int r;
    if (x->of_pair) return pair_output_name(x, i, s);
    if (x->of_kind) return snprintf(s, CAROM_SLOT_NAME, "out[%d]", i), true;
    switch (x->mode) {
    case OUT_MOTION: return motion_name(x, i, s);
    case OUT_ROWS: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", r = row_of(x, i)), r >= 0;
    case OUT_JOINTS: // joints have one direction each, and come first
        r = row_of(x, i < m->own.W ? m->W.j[i] : m->w.i[i - m->own.W]);
        return r < m->ne && direction_name(x, i >= m->own.W, i < m->own.W ? i : i - m->own.W, s);
    case OUT_DIRECTIONS: return direction_name(x, i >= m->own.W, i < m->own.W ? i : i - m->own.W, s);
    case OUT_GRADIENT: return gradient_name(m, (span){0}, m->own.dW, i, s), true;
    case OUT_KC:
        if (i < m->K.n)
            snprintf(s, CAROM_SLOT_NAME, "K[%d]", m->K.i[i] * m->nv + m->K.j[i]);
        else
            snprintf(s, CAROM_SLOT_NAME, "C[%d]", m->C.i[i - m->K.n] * m->nv + m->C.j[i - m->K.n]);
        return true;
    case OUT_OBSERVE:
        return snprintf(s, CAROM_SLOT_NAME, "out[%d]", i - 2 * m->nchecks),
               i >= 2 * m->nchecks && i < 2 * m->nchecks + x->r->nobserve;
    case OUT_ALL: return snprintf(s, CAROM_SLOT_NAME, "out[%d]", i), true;
    default: return snprintf(s, CAROM_SLOT_NAME, "*out"), i == x->mode - OUT_ONE; // this one alone
    }
}

// What pairs of shapes add to a group of the model; -1: nothing.
static int group_of_pairs(int group) {
    switch (group) {
    case GROUP_MOTION_GAPS:
    case GROUP_GAPS: return PAIR_GAPS;
    case GROUP_DIRECTIONS: return PAIR_DIRECTIONS;
    case GROUP_RATES: return PAIR_RATES;
    case GROUP_CURVATURE: return PAIR_CURVATURE;
    case GROUP_RATE_GRADIENT: return PAIR_RATE_GRADIENT;
    default: return -1;
    }
}

// -- pairs that share the functions of their kind --------------------------------------------------------------------
// -----------------------------------------------------------------------

static const struct {
    pair_group group;
    const char *name;
    bool velocities;
} kind_answers[] = {{PAIR_GAPS, "gaps", false},
                    {PAIR_DIRECTIONS, "directions", false},
                    {PAIR_RATES, "rates", true},
                    {PAIR_CURVATURE, "curvature", true},
                    {PAIR_RATE_GRADIENT, "rate_gradient", false}};
enum { KIND_ANSWERS = sizeof kind_answers / sizeof *kind_answers };

static int answers_of(const carom_model *two, int count, int group) {
    return group == PAIR_GAPS            ? count
           : group == PAIR_DIRECTIONS    ? two->W.n
           : group == PAIR_RATE_GRADIENT ? two->dW.n
                                         : two->ndir;
}

// Is this answer asked of vectors?
static bool of_vectors(int group) { return group == PAIR_GAPS || group == PAIR_RATES; }

static bool pair_shares(const carom_model *m) {
    for (int i = 0; i < m->npairs; ++i)
        if (m->pairs[i].shares) return true;
    return false;
}

static kind_text kind_name(int kind, int answer, bool typed) {
    kind_text s;
    snprintf(s.text, sizeof s.text, typed ? "T(kind%d_%s)" : "kind%d_%s", kind, kind_answers[answer].name);
    return s;
}

// Functions of two bodies: q and v are theirs, z the sizes of their shapes.
static carom_status put_kinds(text *x, bool typed) {
    enum { FEW = 4 };
    const carom_lane_names names = {x, input_name, output_name, false};
    carom_status status = CAROM_OK;
    for (int k = 0; k < x->m->nkinds && status == CAROM_OK; ++k)
        for (int a = 0; a < KIND_ANSWERS && status == CAROM_OK; ++a) {
            if (of_vectors(kind_answers[a].group) != typed ||
                (kind_answers[a].group == PAIR_RATE_GRADIENT && !x->r->jean))
                continue;
            PUT(x,
                "\n%s void %s(const %s *q, const %s *v, const double *z, %s *out) {\n    (void)q, (void)v, (void)z;\n",
                x->m->npairs > FEW ? "NOINLINE" : "DEVICE", kind_name(k, a, typed).text, typed ? "real" : "double",
                typed ? "real" : "double", typed ? "real" : "double");
            x->of_kind = k + 1;
            status = carom_lane_write_group(&x->kind[k], kind_answers[a].group, &names, true, x->write, x->user);
            x->of_kind = 0;
            put(x, "}\n");
        }
    return status;
}

// Row of answer e among those of the pair's first contact, by kind; -1: it takes no part.
static int answer_row(const text *x, const pair *p, int d) {
    const int r = row_of(x, x->m->links[p->first].dir + d);
    return r < 0 ? -1 : r - x->row[p->first];
}

// Do all pairs of this one's kind before it have rows as it has?  Else they are told apart.
static bool same_rows(const text *x, const pair *p, const pair *o) {
    if (!p->shares || !o->shares || p->kind != o->kind) return false;
    for (int d = 0; d < x->m->kinds[p->kind].two->ndir; ++d)
        if (answer_row(x, p, d) != answer_row(x, o, d)) return false;
    return true;
}

// The first pair of the class of pair i: those of one kind and with the same rows.
static int class_of(const text *x, int i) {
    int k = 0;
    while (k < i && !same_rows(x, &x->m->pairs[k], &x->m->pairs[i])) ++k;
    return k;
}

// What the functions of pairs that share are told: of each pair its number, where positions and velocities of its
// bodies start, its first contact, row and derivative; of each class where its answers go.
static void put_classes(const text *x) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    if (!pair_shares(m)) return;
    put(x, "CONSTANT double MARGIN[] = {"); // of each pair; beyond it a bound is taken for its gaps
    for (const pair *p = m->pairs; p < m->pairs + m->npairs; ++p) {
        carom_native_number(p->own->bound == CAROM_NONE ? 0x1.fffffffffffffp1023 : p->own->margin, number);
        PUT(x, "%s, ", number);
    }
    put(x, "0};\n");
    for (int i = 0; i < m->npairs; ++i) {
        const carom_model *two = m->pairs[i].shares ? m->kinds[m->pairs[i].kind].two : NULL;
        if (!two || class_of(x, i) != i) continue;
        PUT(x, "CONSTANT int PAIR_%d[][8] = {", i);
        for (int k = i; k < m->npairs; ++k) {
            const pair *p = &m->pairs[k];
            if (p->shares && class_of(x, k) == i)
                PUT(x, "{%d, %d, %d, %d, %d, %d, %d, %d}, ", k, p->q_at[0], p->q_at[1], p->v_at[0], p->v_at[1],
                    p->first, x->row[p->first], shared_gradient(m, p));
        }
        PUT(x, "{-1}};\nCONSTANT int AT_%d[] = {", i);
        for (int d = 0; d < two->ndir; ++d) PUT(x, "%d, ", answer_row(x, &m->pairs[i], d));
        PUT(x, "-1};\nCONSTANT int W_%d[][2] = {", i); // row and velocity of its entries
        for (int e = 0; e < two->W.n; ++e) PUT(x, "{%d, %d}, ", answer_row(x, &m->pairs[i], two->W.j[e]), two->W.i[e]);
        put(x, "{-1}};\n");
    }
}

// The answers of a class of pairs, one after the other.  As the library has it, a pair that is far answers with a bound
// of its gaps, and with how fast that changes.
static void put_shared(const text *x, int i, int group) {
    const carom_model *m = x->m;
    const pair *p = &m->pairs[i];
    const pair_kind *k = &m->kinds[p->kind];
    const bool typed = of_vectors(group);
    const int n = answers_of(k->two, p->count, group), per = k->two->ndir / p->count;
    int a = 0;
    while ((int)kind_answers[a].group != group) ++a;
    if (n == 0) return;
    PUT(x, "    for (const int(*z)[8] = PAIR_%d; **z >= 0; ++z) {\n", i);
    PUT(x, "        %s a[14], b[12], o[%d];\n", typed ? "real" : "double", n);
    PUT(x, "        const %s far = T(below)(T(of)(MARGIN[z[0][0]]), bound[z[0][0]]);\n", typed ? "T(mask)" : "int");
    put(x, typed ? "        if (T(any)(T(not)(far))) {\n" : "        if (!far) {\n");
    for (int side = 0; side < 2; ++side) {
        PUT(x, "            for (int j = 0; j < %d; ++j) a[%d + j] = q[z[0][%d] + j];\n", k->nq[side], side * k->nq[0],
            1 + side);
        if (kind_answers[a].velocities)
            PUT(x, "            for (int j = 0; j < %d; ++j) b[%d + j] = v[z[0][%d] + j];\n", k->nv[side],
                side * k->nv[0], 3 + side);
    }
    PUT(x, "            %s(a, %s, SIZES + %d * z[0][0], o);\n", kind_name(p->kind, a, typed).text,
        kind_answers[a].velocities ? "b" : "a", MOST_SIZES);
    put(x, "        }\n        (void)b;\n");
    PUT(x, "        for (int e = 0; e < %d; ++e)\n            ", n);
    switch (group) {
    case PAIR_GAPS:
        PUT(x, "%s[z[0][5] + e] = T(any)(T(not)(far)) ? T(pick)(far, bound[z[0][0]], o[e]) : bound[z[0][0]];\n",
            x->mode == OUT_MOTION ? "g" : "out");
        break;
    case PAIR_RATES:
        PUT(x,
            "if (AT_%d[e] >= 0) {\n                const real far_rate = e %% %d ? T(of)(0) : bound_rate[z[0][0]];\n"
            "                out[z[0][6] + AT_%d[e]] = T(any)(T(not)(far)) ? T(pick)(far, far_rate, o[e]) : far_rate;\n"
            "            }\n",
            i, per, i);
        break;
    case PAIR_DIRECTIONS:
        PUT(x,
            "if (!far && W_%d[e][0] >= 0) W[(z[0][6] + W_%d[e][0]) * NV + (W_%d[e][1] < %d ? z[0][3] : z[0][4] - %d) + "
            "W_%d[e][1]] = o[e];\n",
            i, i, i, k->nv[0], k->nv[0], i);
        break;
    case PAIR_RATE_GRADIENT: put(x, "out[z[0][7] + e] = far ? 0 : o[e];\n"); break;
    default: PUT(x, "if (AT_%d[e] >= 0) out[z[0][6] + AT_%d[e]] = far ? 0 : o[e];\n", i, i);
    }
    put(x, "    }\n");
}

static carom_status put_pairs(text *x, int group, const carom_lane_names *names) {
    carom_status status = CAROM_OK;
    if (pair_shares(x->m)) {
        PUT(x, "    %s bound[%d];\n", of_vectors(group) ? "real" : "double", x->m->npairs);
        PUT(x, "    %s(t, q, k, bound);\n", of_vectors(group) ? "T(bounds)" : "D_bounds");
        if (group == PAIR_RATES)
            PUT(x, "    real bound_rate[%d];\n    T(bound_rates)(t, q, v, k, bound_rate);\n", x->m->npairs);
    }
    for (x->of_pair = 1; x->of_pair <= x->m->npairs && status == CAROM_OK; ++x->of_pair) {
        if (x->m->pairs[x->of_pair - 1].shares) {
            if (class_of(x, x->of_pair - 1) == x->of_pair - 1) put_shared(x, x->of_pair - 1, group);
            continue;
        }
        put(x, "    {\n");
        status = carom_lane_write_group(&x->pair[x->of_pair - 1], group, names, false, x->write, x->user);
        put(x, "    }\n");
    }
    x->of_pair = 0;
    return status;
}

// What flexible members add to mass and forces, or to derivatives of forces.
static carom_status put_members(const text *x, int group) {
    if (x->m->nmember == 0) return CAROM_OK;
    if (group == GROUP_TANGENT) return carom_lane_member_tangents(x->m, x->write, x->user);
    if (group != GROUP_MOTION_GAPS) return CAROM_OK;
    char number[CAROM_NUMBER_TEXT];
    for (int e = 0; e < x->mass.n; ++e) {
        if (x->mass.value[e] == 0) continue;
        carom_native_number(x->mass.value[e], number);
        if (x->mass.term[e] >= 0)
            PUT(x, "    m[%d] = m[%d] + %s;\n", e, e, number);
        else
            PUT(x, "    m[%d] = T(of)(%s);\n", e, number);
    }
    return carom_lane_member_forces(x->m, x->write, x->user);
}

// (CND-1)  A contact that must not close is far away and does not move.
static void put_gates(const text *x, int group, int mode) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    const bool gaps = group == GROUP_MOTION_GAPS || group == GROUP_GAPS;
    if (!gaps && group != GROUP_RATES) return;
    for (int i = 0; i < m->nconditions; ++i) {
        const int id = m->ne + m->sys.conditional->contact_of[i], first = gaps ? id : x->row[id],
                  last = gaps ? id + 1 : x->row[id + 1];
        carom_native_number(gaps ? m->conditional->gap : 0, number);
        for (int r = first; r < last; ++r)
            PUT(x, "    %s[%d] = T(pick)(T(equal)(k[%d], T(of)(0)), %s[%d], T(of)(%s));\n",
                mode == OUT_MOTION ? "g" : "out", r, x->gate_place[i], mode == OUT_MOTION ? "g" : "out", r, number);
    }
}

static carom_status put_group(text *x, const char *head, int group, int mode) {
    const carom_lane_names names = {x, input_name, output_name, mode == OUT_MOTION};
    x->mode = mode;
    const bool check = group < 0;
    PUT(x, "\n%s {\n", head);
    put(x, check ? "    (void)t, (void)q, (void)v, (void)k, (void)a, (void)ledger, (void)out;\n"
                 : "    (void)t, (void)q, (void)k;\n");
    if (group == GROUP_MOTION_GAPS && x->m->nmember)
        PUT(x, "    real e[%d];\n", x->m->visible.nv_own + 1 + x->m->visible.compiled);
    carom_status status =
        carom_lane_write_group(check ? &x->check : &x->lane, check ? 0 : group, &names, check, x->write, x->user);
    const int of_pairs = check || mode == OUT_JOINTS ? -1 : group_of_pairs(group);
    if (status == CAROM_OK && of_pairs >= 0) status = put_pairs(x, of_pairs, &names);
    if (status == CAROM_OK) status = put_members(x, group);
    put_gates(x, group, mode);
    put(x, "}\n");
    return status;
}

// -- the factor of M --------------------------------------------------------------------------------------------------

// Where L_ij, i > j, stands among the entries of L that are not zero, row by row; -1: it is.  Returns how many there
// are.
static int fill(const text *x, int at[MOST_V][MOST_V]) {
    const carom_model *m = x->m;
    int count = 0;
    for (int i = 0; i < m->nv; ++i)
        for (int j = 0; j < i; ++j) {
            bool full = mass_entry(x, i, j) >= 0;
            for (int e = 0; e < j; ++e) full = full || (at[i][e] >= 0 && at[j][e] >= 0);
            at[i][j] = full ? count++ : -1;
        }
    return count;
}

// M = L D L' with L of unit diagonal, sparse as M allows, written out.  l: entries of L below the diagonal, then 1/D.
static void put_factor(const text *x) {
    const carom_model *m = x->m;
    static const char head[] =
        "\nDEVICE T(mask) T(factor)(const real *m, real *l) {\n    T(mask) good = T(equal)(m[0], m[0]);\n";
    int at[MOST_V][MOST_V];
    const int n = m->nv, count = fill(x, at);
    put(x, head);
    for (int j = 0; j < n; ++j) {
        PUT(x, "    real d%d = m[%d];\n", j, mass_entry(x, j, j));
        for (int e = 0; e < j; ++e)
            if (at[j][e] >= 0) PUT(x, "    d%d = d%d - l[%d] * c%d_%d;\n", j, j, at[j][e], j, e);
        PUT(x, "    good = good & T(below)(0x1p-45 * m[%d], d%d);\n    l[%d] = 1.0 / d%d;\n", mass_entry(x, j, j), j,
            count + j, j);
        for (int i = j + 1; i < n; ++i) {
            if (at[i][j] < 0) continue;
            const int e0 = mass_entry(x, i, j);
            if (e0 >= 0)
                PUT(x, "    real c%d_%d = m[%d];\n", i, j, e0);
            else
                PUT(x, "    real c%d_%d = T(of)(0);\n", i, j);
            for (int e = 0; e < j; ++e)
                if (at[i][e] >= 0 && at[j][e] >= 0)
                    PUT(x, "    c%d_%d = c%d_%d - c%d_%d * l[%d];\n", i, j, i, j, i, e, at[j][e]);
            PUT(x, "    l[%d] = c%d_%d * l[%d];\n", at[i][j], i, j, count + j);
        }
    }
    put(x, "    return good;\n}\n\nDEVICE void T(solve)(const real *l, real *x) {\n");
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (at[i][j] >= 0) PUT(x, "    x[%d] = x[%d] - l[%d] * x[%d];\n", i, i, at[i][j], j);
    for (int i = n - 1; i >= 0; --i) {
        PUT(x, "    x[%d] = x[%d] * l[%d];\n", i, i, count + i);
        for (int j = i + 1; j < n; ++j)
            if (at[j][i] >= 0) PUT(x, "    x[%d] = x[%d] - l[%d] * x[%d];\n", i, i, at[j][i], j);
    }
    put(x, "}\n");
}

// -- joints -----------------------------------------------------------------------------------------------------------

// Which velocities the rows of joints have, in W and in M^-1 W.
typedef struct joint_rows {
    bool W[MOST_E][MOST_V], y[MOST_E][MOST_V], G[MOST_E][MOST_E];
    bool diagonal;
} joint_rows;

static void find_rows(const text *x, joint_rows *p) {
    const carom_model *m = x->m;
    *p = (joint_rows){.diagonal = true};
    for (int e = 0; e < x->mass.n; ++e) p->diagonal = p->diagonal && x->mass.i[e] == x->mass.j[e];
    for (int e = 0; e < m->W.n; ++e) {
        const int r = row_of(x, m->W.j[e]);
        if (r >= 0 && r < m->ne) p->W[r][m->W.i[e]] = true;
    }
    for (int i = 0; i < m->ne; ++i)
        for (int e = 0; e < m->nv; ++e) p->y[i][e] = p->W[i][e] || !p->diagonal;
    for (int i = 0; i < m->ne; ++i)
        for (int j = 0; j < m->ne; ++j)
            for (int e = 0; e < m->nv; ++e) p->G[i][j] = p->G[i][j] || (p->W[i][e] && p->y[j][e]);
}

static void put_hold(const text *x, joint_rows *p) {
    const carom_model *m = x->m;
    const int n = m->ne;
    int at[MOST_V][MOST_V];
    const int count = fill(x, at);
    put(x, "\n// y = M^-1 W by rows, u = -(X'y)^-1 u.  Mask: no pivot has cancelled.\n"
           "DEVICE T(mask) T(hold)(const real *X, const real *W, const real *l, real *y, real *u) {\n"
           "    T(mask) good = T(equal)(u[0], u[0]);\n");
    for (int i = 0; i < n; ++i) {
        for (int e = 0; e < m->nv; ++e) {
            const int k = i * m->nv + e;
            if (p->diagonal && p->y[i][e])
                PUT(x, "    y[%d] = W[%d] * l[%d];\n", k, k, count + e);
            else if (!p->diagonal && p->W[i][e])
                PUT(x, "    y[%d] = W[%d];\n", k, k);
            else if (!p->diagonal)
                PUT(x, "    y[%d] = T(of)(0);\n", k);
        }
        if (!p->diagonal) PUT(x, "    T(solve)(l, y + %d);\n", i * m->nv);
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            if (!p->G[i][j]) continue;
            PUT(x, "    real g%d_%d = ", i, j);
            for (int e = 0, some = 0; e < m->nv; ++e)
                if (p->W[i][e] && p->y[j][e])
                    PUT(x, "%sX[%d] * y[%d]", some++ ? " + " : "", i * m->nv + e, j * m->nv + e);
            put(x, ";\n");
            if (i == j) PUT(x, "    const real s%d = 1e-10 * T(abs)(g%d_%d);\n", i, i, i);
        }
    for (int j = 0; j < n; ++j) {
        PUT(x, "    good = good & T(below)(s%d, T(abs)(g%d_%d));\n", j, j, j);
        PUT(x, "    const real d%d = 1.0 / g%d_%d;\n", j, j, j);
        for (int i = j + 1; i < n; ++i) {
            if (!p->G[i][j]) continue;
            PUT(x, "    g%d_%d = g%d_%d * d%d;\n    u[%d] = u[%d] - g%d_%d * u[%d];\n", i, j, i, j, j, i, i, i, j, j);
            for (int e = j + 1; e < n; ++e) {
                if (!p->G[j][e]) continue;
                if (p->G[i][e])
                    PUT(x, "    g%d_%d = g%d_%d - g%d_%d * g%d_%d;\n", i, e, i, e, i, j, j, e);
                else
                    PUT(x, "    real g%d_%d = -(g%d_%d * g%d_%d);\n", i, e, i, j, j, e);
                p->G[i][e] = true;
            }
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int e = i + 1; e < n; ++e)
            if (p->G[i][e]) PUT(x, "    u[%d] = u[%d] + g%d_%d * u[%d];\n", i, i, i, e, e);
        PUT(x, "    u[%d] = -(u[%d] * d%d);\n", i, i, i);
    }
    put(x, "    return good;\n}\n");
}

// Joints without closed contacts, written out where W and M have entries.
static carom_status put_joints(text *x) {
    const carom_model *m = x->m;
    joint_rows *p = calloc(1, sizeof *p);
    if (!p) return CAROM_NO_MEMORY;
    find_rows(x, p);
    carom_status status = put_group(x, "DEVICE void T(joints)(real t, const real *q, const real *k, real *W, real *w)",
                                    GROUP_DIRECTIONS, OUT_JOINTS);
    put(x, "\nDEVICE void T(joint_rates)(const real *W, const real *w, const real *v, real *u) {\n");
    for (int i = 0; i < m->ne; ++i) {
        PUT(x, "    u[%d] = w[%d]", i, i);
        for (int e = 0; e < m->nv; ++e)
            if (p->W[i][e]) PUT(x, " + W[%d] * v[%d]", i * m->nv + e, e);
        put(x, ";\n");
    }
    put(x, "}\n\nDEVICE void T(pull)(const real *y, const real *p, real weight, real *x) {\n");
    for (int e = 0; e < m->nv; ++e)
        for (int i = 0; i < m->ne; ++i)
            if (p->y[i][e]) PUT(x, "    x[%d] = x[%d] + weight * p[%d] * y[%d];\n", e, e, i, i * m->nv + e);
    put(x, "}\n");
    put_hold(x, p);
    free(p);
    return status;
}

// -- moving -----------------------------------------------------------------------------------------------------------

// Axis `column` of a joint in body b, which turns or stands, as w in the world.
static void put_axis(const text *x, const body *b, const double *X, int column, const char *w) {
    char number[CAROM_NUMBER_TEXT];
    PUT(x, "        real %s[3];\n        {\n        const double s[3] = {", w);
    for (int i = 0; i < 3; ++i) {
        double a = X[3 * i + column];
        if (b->v < 0) {
            a = 0;
            for (int e = 0; e < 3; ++e) a += b->R0[3 * i + e] * X[3 * e + column];
        }
        carom_native_number(a, number);
        PUT(x, "%s%s", i ? ", " : "", number);
    }
    if (b->v >= 0)
        PUT(x, "};\n        T(world)(q_1 + %d, s, %s);\n        }\n", b->orientation, w);
    else
        PUT(x, "};\n        for (int i = 0; i < 3; ++i) %s[i] = T(of)(s[i]);\n        }\n", w);
}

static void put_angle(const text *x, const joint *j) {
    put(x, "    {\n");
    put_axis(x, j->A, j->X_A, 0, "x_A");
    put_axis(x, j->A, j->X_A, 1, "y_A");
    put_axis(x, j->B, j->X_B, 0, "x_B");
    PUT(x, "        q_1[%d] = T(nearest_angle)(x_A, y_A, x_B, q_0[%d]);\n    }\n", j->at, j->at);
}

// -- parts ------------------------------------------------------------------------------------------------------------

static void put_ints(const text *x, const char *name, const int *value, int n) {
    PUT(x, "CONSTANT int %s[] = {", name);
    for (int i = 0; i < n; ++i) PUT(x, "%s%d", i ? ", " : "", value[i]);
    put(x, n ? "};\n" : "0};\n");
}

// (LV-1), (LV-2)  By velocity, then by position; first-order states do not count among lengths.
static void put_levers(const text *x) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    put(x, "CONSTANT double LEVER[] = {");
    for (int i = 0; i < m->nv + m->nq; ++i) {
        const int state = (i < m->nv ? i : i - m->nv) - m->first_state;
        carom_native_number(state >= 0 && state < m->nstates ? 0 : m->sys.lever ? m->sys.lever[i] : 1, number);
        PUT(x, "%s, ", number);
    }
    put(x, "};\n");
}

// Row, velocity and position of dW; those of pairs that share stand behind those of the model and dw.
static void put_gradients(const text *x) {
    const carom_model *m = x->m;
    const int all = shared_gradient(m, m->pairs + m->npairs);
    static const char *const name[] = {"DW_R", "DW_I", "DW_L"};
    PUT(x, "enum { NDM = %d, NDW = %d, NDw = %d, NDWS = %d };\n", m->dM.n, m->dW.n, m->dw.n, all);
    for (int which = 0; which < 3; ++which) {
        PUT(x, "CONSTANT int %s[] = {", name[which]);
        for (int e = 0; e < m->dW.n; ++e)
            PUT(x, "%d, ", which == 0 ? row_of(x, m->dW.j[e]) : which == 1 ? m->dW.i[e] : m->dW.l[e]);
        for (int e = 0; e < m->dw.n; ++e) put(x, "-1, ");
        for (const pair *p = m->pairs; p < m->pairs + m->npairs; ++p) {
            const carom_model *two = p->shares ? m->kinds[p->kind].two : NULL;
            for (int e = 0; two && e < two->dW.n; ++e)
                PUT(x, "%d, ",
                    which == 0   ? row_of(x, m->links[p->first].dir + two->dW.j[e])
                    : which == 1 ? carom_kind_velocity(&m->kinds[p->kind], p, two->dW.i[e])
                                 : carom_kind_velocity(&m->kinds[p->kind], p, two->dW.l[e]));
        }
        put(x, "-1};\n");
    }
}

static void put_sizes(const text *x) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    if (!pair_shares(m)) return;
    put(x, "CONSTANT double SIZES[] = { // of the shapes of each pair\n");
    for (const pair *p = m->pairs; p < m->pairs + m->npairs; ++p) {
        double size[MOST_SIZES] = {0};
        if (p->shares) carom_kind_sizes(&m->kinds[p->kind], p, size);
        for (int i = 0; i < MOST_SIZES; ++i) {
            carom_native_number(size[i], number);
            PUT(x, "%s,", number);
        }
        put(x, "\n");
    }
    put(x, "};\n");
}

// Controllers, gates and jumps in time.
static void put_signals(const text *x) {
    const carom_model *m = x->m;
    char a[CAROM_NUMBER_TEXT], b[CAROM_NUMBER_TEXT];
    PUT(x, "#define NCONTROL %d\n#define NSAMPLERS %d\n#define NGATES %d\n#define NJUMPS %d\n", m->ncontrol,
        m->ncontrols, m->nconditions, x->njumps);
    put(x, "CONSTANT char GATED[] = {");
    for (int c = 0; c < m->nc; ++c) PUT(x, "%d, ", carom_system_closes_while(&m->sys, c));
    put(x, "0};\nCONSTANT int GATE[][3] = {");
    for (int i = 0; i < m->nconditions; ++i)
        PUT(x, "{%d, %d, %d}, ", m->sys.conditional->contact_of[i], x->gate_place[i], m->first_condition + i);
    put(x, "{0}};\nCONSTANT int SAMPLER[][9] = {");
    for (int k = 0; k < m->ncontrols; ++k) {
        const control *c = &m->controls[k];
        const carom_sampler *s = &m->samplers[k];
        PUT(x, "{%.0f, %.0f, %.0f, %d, %d, %d, %d, %d, %d}, ", steps_of(x, s->offset), steps_of(x, s->sample),
            steps_of(x, s->delay), c->first, c->noutputs, c->nstates, c->noutputs ? x->place[m->np_own + c->output] : 0,
            c->noutputs && s->delay > 0 ? x->place[m->np_own + c->pending] : 0,
            c->nstates ? x->place[m->np_own + c->state] : 0);
    }
    put(x, "{0}};\nCONSTANT double SAMPLE[][3] = {"); // offset, sample time, delay
    for (int k = 0; k < m->ncontrols; ++k) {
        carom_native_number(m->samplers[k].offset, a), carom_native_number(m->samplers[k].sample, b);
        PUT(x, "{%s, %s, ", a, b);
        carom_native_number(m->samplers[k].delay, a);
        PUT(x, "%s}, ", a);
    }
    put(x, "{0}};\nCONSTANT double JUMP[] = {");
    for (int i = 0; i < x->njumps; ++i) {
        carom_native_number(x->jump[i], a);
        PUT(x, "%s, ", a);
    }
    carom_native_number(m->nswitches && x->r->beside ? x->r->until : 0x1.fffffffffffffp1023, a);
    PUT(x, "0};\n#define JUMPS_UNTIL %s\n", a);
}

// Rows of sliding, rolling and spinning of every contact; of sliding alone where no contact has others: it costs less.
static void put_discs(const text *x) {
    const carom_model *m = x->m;
    int discs = 1;
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].disc[0] && m->contacts[c].disc[0] < m->links[m->ne + c].ndir - 1) discs = 3;
    PUT(x, "enum { DISCS = %d };\nCONSTANT int DISC[][DISCS] = {", discs);
    for (int c = 0; c < m->nc; ++c) {
        const int *disc = m->contacts[c].disc, rows = m->links[m->ne + c].ndir - 1, slides = disc[0] ? disc[0] : rows;
        const int each[3] = {rows ? slides : 0, rows ? disc[1] : 0, rows ? rows - slides - disc[1] : 0};
        for (int k = 0; k < discs; ++k) PUT(x, "%s%d", k ? ", " : "{", each[k]);
        put(x, "}, ");
    }
    put(x, "{0}};\n");
}

static void put_tables(const text *x) {
    const carom_model *m = x->m;
    const int links = m->ne + m->nc;
    int at[MOST_V][MOST_V];
    PUT(x, "enum { NQ = %d, NV = %d, NE = %d, NC = %d, NB = %d, NR = %d, NM = %d, NK = %d,\n", m->nq, m->nv, m->ne,
        m->nc, links, x->row[links], x->mass.n, x->nk);
    PUT(x, "       NX = %d, NOBSERVE = %d, NWATCH = %d, STEADY = %d, NL = %d };\n", x->r->nvary, x->r->nobserve,
        m->nwatch, (m->sys.flags & CAROM_CONSTANT_DIRECTIONS) && (m->sys.flags & CAROM_TIMELESS_GAPS),
        fill(x, at) + m->nv);
    int rows = 0; // of the largest contacts, as many as may be closed at once
    const int closed = m->nc < MOST_CLOSED ? m->nc : MOST_CLOSED;
    for (int n = 1; n <= 1 + CAROM_TANGENTS; ++n) {
        int count = 0;
        for (int c = 0; c < m->nc; ++c) count += m->links[m->ne + c].ndir >= n;
        rows += count < closed ? count : closed;
    }
    PUT(x, "enum { NS = %d, NP = %d }; // constraints and rows that are closed at once\n", m->ne + closed,
        m->ne + rows);
    PUT(x, "#define STARTS %d\n#define JOINTS %d\n#define FEATURES %d\n", x->starts, m->ne,
        m->sys.events->freeze != NULL);
    put_levers(x);
    put_sizes(x);
    put_classes(x);
    put_signals(x);
    carom_lane_member_tables(m, x->write, x->user);
    PUT(x, "#define NWATCHED %d\n", m->nwatch);
    put_ints(x, "MASS_I", x->mass.i, x->mass.n), put_ints(x, "MASS_J", x->mass.j, x->mass.n);

    put_ints(x, "ROW", x->row, links + 1);
    put_discs(x);
    if (!x->r->jean) return;
    put_ints(x, "DM_I", m->dM.i, m->dM.n), put_ints(x, "DM_J", m->dM.j, m->dM.n), put_ints(x, "DM_L", m->dM.l, m->dM.n);
    put_gradients(x);
    PUT(x, "CONSTANT int Dw_R[] = {");
    for (int e = 0; e < m->dw.n; ++e) PUT(x, "%d, ", row_of(x, m->dw.i[e]));
    put(x, "0};\n");
    put_ints(x, "Dw_L", m->dw.j, m->dw.n);
}

// (BOD-3), (JNT-5)  q_1 = q_0 moved along v for h; q_1 may be q_0.
static void put_move(const text *x) {
    const carom_model *m = x->m;
    put(x, "\nDEVICE void T(move)(real *q_1, const real *q_0, real h, const real *v) {\n");
    if (!carom_model_turns(m)) put(x, "    for (int i = 0; i < NQ; ++i) q_1[i] = q_0[i] + h * v[i];\n");
    for (int i = 0; carom_model_turns(m) && i < m->nq; ++i)
        if (m->velocity_of[i] >= 0) PUT(x, "    q_1[%d] = q_0[%d] + h * v[%d];\n", i, i, m->velocity_of[i]);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v >= 0 && b->space == SPATIAL)
            PUT(x, "    T(turn)(q_1 + %d, q_0 + %d, h, v + %d);\n", b->orientation, b->orientation, b->v + 3);
    }
    for (int i = 0; i < m->njoints; ++i) {
        const joint *j = &m->joints[i];
        if (j->at >= 0) put_angle(x, j);
    }
    put(x, "}\n");
}

static carom_status put_typed(text *x) {
#define POINT "real t, const real *q, const real *v, const real *k"
    const carom_model *m = x->m;
    if (pair_shares(m)) {
        CAROM_TRY(put_kinds(x, true));
        CAROM_TRY(put_group(x, "NOINLINE void T(bounds)(real t, const real *q, const real *k, real *out)", GROUP_BOUNDS,
                            OUT_ALL));
        CAROM_TRY(put_group(x, "NOINLINE void T(bound_rates)(" POINT ", real *out)", GROUP_BOUND_RATES, OUT_ALL));
    }
    CAROM_TRY(put_group(x, "DEVICE void T(motion)(" POINT ", real *f, real *m, real *g, T(mask) *far)",
                        GROUP_MOTION_GAPS, OUT_MOTION));
    CAROM_TRY(
        put_group(x, "DEVICE void T(gaps)(real t, const real *q, const real *k, real *out)", GROUP_GAPS, OUT_ALL));
    CAROM_TRY(put_group(x, "DEVICE void T(rates)(" POINT ", real *out)", GROUP_RATES, OUT_ROWS));
    if (m->nwatch) CAROM_TRY(put_group(x, "DEVICE void T(watch)(" POINT ", real *out)", GROUP_WATCH, OUT_ALL));
    if (x->r->section == CAROM_LANES_CROSSING)
        CAROM_TRY(put_group(x, "DEVICE void T(crossing)(" POINT ", const real *a, const real *ledger, real *out)", -1,
                            OUT_ONE + 2 * m->nchecks + x->r->nobserve));
    if (x->r->jean) {
        CAROM_TRY(put_group(x, "DEVICE void T(tangent)(" POINT ", real *K, real *C)", GROUP_TANGENT, OUT_KC));
        CAROM_TRY(put_group(x, "DEVICE void T(mass_gradient)(real t, const real *q, const real *k, real *out)",
                            GROUP_MASS_GRADIENT, OUT_ALL));
    }
    put_factor(x);
    put_move(x);
    return m->ne ? put_joints(x) : CAROM_OK;
}

// A constant that differs: where it goes.
static bool target_of(const text *x, int value, char s[CAROM_SLOT_NAME]) {
    const carom_lane_value *v = &x->value[value];
    const int law = (int)v->kind - CAROM_LANE_RESTITUTION;
    switch (v->kind) {
    case CAROM_LANE_PARAMETER: snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->place[v->index]); break;
    case CAROM_LANE_POSITION: snprintf(s, CAROM_SLOT_NAME, "q[%d]", v->index); break;
    case CAROM_LANE_RATE: snprintf(s, CAROM_SLOT_NAME, "v[%d]", v->index); break;
    case CAROM_LANE_RANGE: snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->range_place[v->index]); break;
    default: snprintf(s, CAROM_SLOT_NAME, "k[%d]", x->law_place[3 * v->index + law]);
    }
    return true;
}

static carom_status put_value(text *x, int value) {
    const carom_lane_names names = {x, input_name, output_name, false};
    char target[CAROM_SLOT_NAME];
    target_of(x, value, target);
    PUT(x, "    {\n    double *out = &%s;\n", target);
    x->mode = OUT_ONE + 2 * x->m->nchecks + first_value(x) + value;
    const carom_status status = carom_lane_write_group(&x->check, 0, &names, true, x->write, x->user);
    put(x, "    }\n");
    return status;
}

// What depends on k alone, in k.
static carom_status put_refresh(text *x) {
    const carom_lane_names names = {x, input_name, output_name, false};
    put(x, "\nDEVICE void refresh(double *k) {\n    (void)k;\n");
    carom_status status = carom_lane_write_constants(&x->lane, &names, x->write, x->user);
    for (int i = 0; i < x->m->npairs && status == CAROM_OK; ++i) {
        if (x->m->pairs[i].shares) continue;
        put(x, "    {\n");
        status = carom_lane_write_constants(&x->pair[i], &names, x->write, x->user);
        put(x, "    }\n");
    }
    put(x, "}\n");
    return status;
}

// k, and the initial state.  x: what is varied.
static carom_status put_setup(text *x) {
    const carom_model *m = x->m;
    int which;
    char number[CAROM_NUMBER_TEXT];
    put(x, "\nDEVICE void setup(const double *x, double *k, double *q, double *v) {\n    (void)x, (void)k;\n");
    bool *known = calloc((size_t)m->np + 1, sizeof *known);
    if (!known) return CAROM_NO_MEMORY;
    carom_status status = CAROM_OK;
    for (int i = 0; i < m->nconditions; ++i) PUT(x, "    k[%d] = 0;\n", x->gate_place[i]);
    for (int p = m->np_own + m->nset; p < m->np; ++p) { // signals of controllers, as they start
        carom_native_number(m->parameter[p], number);
        PUT(x, "    k[%d] = %s;\n", x->place[p], number);
    }
    for (int p = 0; p < m->np; ++p) {
        known[p] = !x->moves[p] || varied(x, p, &which);
        if (x->moves[p] && known[p]) PUT(x, "    k[%d] = x[%d];\n", x->place[p], which);
    }
    for (bool more = true; more && status == CAROM_OK;) { // in the order in which they need each other
        more = false;
        for (int i = 0; i < x->nvalues && status == CAROM_OK; ++i) {
            const carom_lane_value *v = &x->value[i];
            if (v->kind != CAROM_LANE_PARAMETER || known[v->index]) continue;
            bool ready = true;
            for (int p = 0; p < m->np; ++p)
                ready = ready && (known[p] || !carom_graph_depends(m->graph, node_of(x, i), CAROM_PARAMETER, p));
            if (!ready) continue;
            status = put_value(x, i);
            known[v->index] = more = true;
        }
    }
    free(known);
    for (int i = 0; i < m->nq + m->nv; ++i) {
        carom_native_number(i < m->nq ? m->q0[i] : m->v0[i - m->nq], number);
        PUT(x, "    %c[%d] = %s;\n", i < m->nq ? 'q' : 'v', i < m->nq ? i : i - m->nq, number);
    }
    for (int i = 0; i < x->nvalues && status == CAROM_OK; ++i)
        if (x->value[i].kind != CAROM_LANE_PARAMETER && x->value[i].kind < CAROM_LANE_STEP && depends(x, i))
            status = put_value(x, i);
    for (int i = 0; i < x->r->nvary; ++i) {
        if (x->r->vary[i].kind == CAROM_LANE_POSITION) PUT(x, "    q[%d] = x[%d];\n", x->r->vary[i].index, i);
        if (x->r->vary[i].kind == CAROM_LANE_RATE) PUT(x, "    v[%d] = x[%d];\n", x->r->vary[i].index, i);
    }
    put(x, "    refresh(k);\n}\n");
    return status;
}

// As fits() of set.c: what becomes zero, or stops being it, changes the structure.
static void put_ranges(const text *x) {
    put(x, "\nDEVICE int fits(const double *k) {\n    (void)k;\n");
    for (int i = 0; i < x->m->nbound; ++i) {
        const bound *b = &x->m->bound[i];
        const int at = x->range_place[i];
        if (at < 0) continue;
        if (b->kind == BOUND_MASS)
            PUT(x, "    if (!(k[%d] > 0)) return 0;\n", at);
        else
            PUT(x, "    if ((k[%d] != 0) != %d) return 0;\n", at, b->value != 0);
        if (b->kind == BOUND_COEFFICIENT) PUT(x, "    if (!(k[%d] >= 0)) return 0;\n", at);
    }
    put(x, "    return 1;\n}\n");
}

static void put_law(const text *x, const char *name, int which) {
    const carom_model *m = x->m;
    char number[CAROM_NUMBER_TEXT];
    PUT(x, "\nDEVICE double %s(const double *k, int c) {\n    (void)k, (void)c;\n", name);
    for (int c = 0; c < m->nc; ++c) {
        const carom_contact *l = &m->contacts[c];
        const double value = which == 0 ? l->restitution : which == 1 ? l->tangential_restitution : l->friction;
        if (x->law_moves[3 * c + which])
            snprintf(number, sizeof number, "k[%d]", x->law_place[3 * c + which]);
        else
            carom_native_number(value, number);
        PUT(x, "    if (c == %d) return %s;\n", c, number);
    }
    put(x, "    return 0;\n}\n");
}

static carom_status put_single(text *x) {
    const carom_model *m = x->m;
    CAROM_TRY(put_kinds(x, false));
    CAROM_TRY(put_group(x, "DEVICE void directions(double t, const double *q, const double *k, double *W, double *w)",
                        GROUP_DIRECTIONS, OUT_DIRECTIONS));
    CAROM_TRY(
        put_group(x, "DEVICE void curvature(double t, const double *q, const double *v, const double *k, double *out)",
                  GROUP_CURVATURE, OUT_ROWS));
    if (x->r->jean)
        CAROM_TRY(put_group(x, "DEVICE void rate_gradient(double t, const double *q, const double *k, double *out)",
                            GROUP_RATE_GRADIENT, OUT_GRADIENT));
    CAROM_TRY(put_group(x,
                        "DEVICE void observe(double t, const double *q, const double *v, const double *k, const double "
                        "*a, const double *ledger, double *out)",
                        -1, OUT_OBSERVE));
    if (x->r->section == CAROM_LANES_PERIOD) {
        CAROM_TRY(put_group(x,
                            "DEVICE void period_of(double t, const double *q, const double *v, const double *k, const "
                            "double *a, const double *ledger, double *out)",
                            -1, OUT_ONE + 2 * m->nchecks + x->r->nobserve));
        put(x, "DEVICE double section_period(const double *k) {\n    double T = 0;\n    period_of(0, 0, 0, k, 0, 0, "
               "&T);\n    return T;\n}\n");
    } else {
        put(x, "DEVICE double section_period(const double *k) { return (void)k, 0; }\n");
    }
    put_law(x, "restitution", 0);
    put_law(x, "tangential_restitution", 1);
    put_law(x, "friction", 2);
    // Friction that the run has and the text has no directions for.
    put(x, "\nDEVICE int rubs_outside(const double *k) {\n    (void)k;\n");
    for (int c = 0; c < m->nc; ++c)
        if (m->links[m->ne + c].ndir == 1) PUT(x, "    if (friction(k, %d) > 0) return 1;\n", c);
    put(x, "    return 0;\n}\n");
    put_ranges(x);
    CAROM_TRY(put_refresh(x));
    if (m->ncontrol)
        CAROM_TRY(put_group(
            x, "DEVICE void control(double t, const double *q, const double *v, const double *k, double *out)",
            GROUP_CONTROL, OUT_ALL));
    return put_setup(x);
}

carom_status carom_lanes_check(const carom_model *m, const carom_lane_request *r, carom_error *err) {
    text x = {.m = m, .r = r};
    CAROM_TRY(carom_lanes_parts(m, err));
    CAROM_TRY(check_ledger(&x, err));
    carom_status status = open(&x, err);
    shut(&x);
    return status;
}

carom_status carom_lanes_write(const carom_model *m, const carom_lane_request *r, int part, carom_write_text *write,
                               void *user, carom_error *err) {
    text x = {.m = m, .r = r, .write = write, .user = user};
    carom_status status = open(&x, err);
    if (status == CAROM_OK && part == CAROM_LANES_TABLES) put_tables(&x);
    if (status == CAROM_OK && part != CAROM_LANES_TABLES) {
        status = part == CAROM_LANES_TYPED ? put_typed(&x) : put_single(&x);
        if (status != CAROM_OK) carom_fail(err, status, "not enough memory for the text of lanes");
    }
    shut(&x);
    return status;
}
