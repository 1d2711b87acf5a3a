// sections.c: parameters, coordinates, let, energy, forces, outputs, exact and simulation; and the order in which names
// become known.
#include "expr/graph.h"
#include "base/option.h"
#include "derive/soft.h"
#include "derive/bodies/body.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COORDINATES = 2000, MOST_BODIES = 5000, MOST_EXACT = 5000 }; // beyond that, expressions are not the way

static void *take(resolver *r, int count, size_t size) {
    return carom_pool_take(&r->m->memory, (size_t)(count ? count : 1) * size);
}

static carom_status read_title(resolver *r) {
    const carom_datum *title = carom_given(&r->mech->name), *about = carom_given(&r->mech->about),
                      *assemble = carom_given(&r->mech->assemble);
    if (title && title->kind != CAROM_TEXT)
        return carom_fault(r, title, 0, "the name of the model is a text; put it in quotes");
    if (about && about->kind != CAROM_TEXT) return carom_fault(r, about, 0, "about is a text; put it in quotes");
    const char *slash = strrchr(r->m->file, '/');
    r->m->name = title && title->length ? title->text : slash ? slash + 1 : r->m->file;
    r->m->assemble = carom_datum_is(assemble, "yes");
    const carom_datum *settle = carom_given(&r->mech->settle);
    r->m->settle = carom_datum_is(settle, "yes");
    if (settle && !r->m->settle && !carom_datum_is(settle, "no"))
        return carom_fault(r, settle, 0,
                           "settle must be yes or no: yes separates bodies whose shapes overlap initially");
    const carom_datum *start = carom_given(&r->mech->start);
    r->m->project = carom_datum_is(start, "project");
    if (start && !r->m->project && !carom_datum_is(start, "given"))
        return carom_fault(r, start, 0,
                           "start must be given or project: project moves positions out of obstacles and onto joints, "
                           "and velocities along joints");
    if (!assemble || r->m->assemble || carom_datum_is(assemble, "no")) return CAROM_OK;
    return carom_fault(r, assemble, 0,
                       "assemble must be yes or no: yes projects the initial positions onto joints and constraints");
}

// A name; its node follows later.
static carom_status declare(resolver *r, const carom_datum *n, bool empty, name_kind kind, int index) {
    names *t = &r->m->names;
    CAROM_TRY(carom_new_name(r, n, empty, t));
    return carom_names_add(t, n->text, kind, index, n->line) ? CAROM_OK : carom_fault_memory(r);
}

static carom_status declare_all(resolver *r) {
    const carom_mech *x = r->mech;
    carom_model *m = r->m;
    m->matrix_used = take(r, x->nmatrices, sizeof *m->matrix_used);
    m->np_own = m->np = x->parameters.count;
    m->nlet = x->let.count;
    if (!m->matrix_used) return carom_fault_memory(r);
    for (int i = 0; i < m->np; ++i)
        CAROM_TRY(declare(r, x->parameters.item[i].key, carom_datum_empty(&x->parameters.item[i]), NAME_PARAMETER, i));
    CAROM_TRY(carom_declare_signals(r));
    m->first_coordinate = m->names.count;
    for (int i = 0; i < x->ncoordinates; ++i) {
        const carom_mech_coordinate *c = &x->coordinates[i];
        CAROM_TRY(declare(r, &c->name, !carom_given(&c->at) && !carom_given(&c->rate), NAME_COORDINATE, i));
    }
    for (int i = 0; i < x->nstates; ++i) {
        const carom_mech_state *s = &x->states[i];
        CAROM_TRY(declare(r, &s->name, !carom_given(&s->at) && !carom_given(&s->rate), NAME_STATE, 0));
    }
    for (int i = 0; i < m->nlet; ++i)
        CAROM_TRY(declare(r, x->let.item[i].key, carom_datum_empty(&x->let.item[i]), NAME_LET, i));
    return CAROM_OK;
}

// -- parameters -----------------------------------------------------------------------------------------

static carom_status read_parameters(resolver *r) {
    carom_model *m = r->m;
    m->parameter = take(r, m->np, sizeof *m->parameter);
    m->fixed = take(r, m->np, sizeof *m->fixed);
    r->param_state = take(r, m->np, 1);
    if (!m->parameter || !m->fixed || !r->param_state) return carom_fault_memory(r);
    CAROM_TRY(carom_resolve_parameters(r));
    for (int i = 0; i < m->np; ++i) { // an output that is pending comes after the one in effect, whose name it has
        name *n = &m->names.at[m->parameter_name[i]];
        if (n->node == CAROM_NONE) n->node = carom_graph_input(m->graph, CAROM_PARAMETER, i);
    }
    return carom_derive_signals(r);
}

// -- coordinates and let -------------------------------------------------------------------------------

// Room for the state: at most n positions, and no more velocities than that.
static carom_status take_state(resolver *r, int n) {
    carom_model *m = r->m;
    m->q0 = take(r, n, sizeof *m->q0);
    m->v0 = take(r, n, sizeof *m->v0);
    m->coordinate_name = take(r, n, sizeof *m->coordinate_name);
    m->velocity_of = take(r, n, sizeof *m->velocity_of);
    m->velocity = take(r, n, sizeof *m->velocity);
    m->given = take(r, n, sizeof *m->given);
    return m->q0 && m->v0 && m->coordinate_name && m->velocity_of && m->velocity && m->given ? CAROM_OK
                                                                                             : carom_fault_memory(r);
}

// x'
static carom_status name_rate(resolver *r, const name *n, const char **text) {
    const size_t size = strlen(n->text) + 2;
    char *rate = take(r, (int)size, 1);
    if (!rate) return carom_fault_memory(r);
    snprintf(rate, size, "%s'", n->text);
    *text = rate;
    return CAROM_OK;
}

static carom_status count_coordinates(resolver *r) {
    const carom_mech *x = r->mech;
    int floating = 0, frames = 0;
    if (x->ncoordinates == 0 && x->nbodies == 0 && x->nmembers == 0 && x->nstates == 0)
        return carom_fault(r, carom_mech_start(x), 0,
                           "the model has no coordinates; add `coordinates: {x: {at: 0, rate: 0}}`");
    if (x->ncoordinates > MOST_COORDINATES)
        return carom_fault(r, &x->coordinates->name, 0,
                           "more than %d coordinates; build such a system with the C library", MOST_COORDINATES);
    if (x->nbodies > MOST_BODIES && !carom_pairs_many(r))
        return carom_fault(r, &x->bodies->name, 0, "more than %d bodies; build such a system with the C library",
                           MOST_BODIES);
    CAROM_TRY(carom_floating_count(r, &floating, &frames));
    // a joint may count an angle
    return take_state(r, x->ncoordinates + r->m->npressed + x->nstates + 7 * x->nbodies + floating + x->njoints);
}

static carom_status read_coordinates(resolver *r) {
    carom_model *m = r->m;
    const int pressed = m->names.count - r->mech->ncoordinates; // name of coordinate i of theirs: pressed + i
    CAROM_TRY(carom_declare_pressed(r));
    CAROM_TRY(count_coordinates(r));
    m->nq = m->nv = r->mech->ncoordinates + m->npressed;
    for (int i = 0; i < m->nq; ++i) {
        const carom_mech_coordinate *of = i < r->mech->ncoordinates ? &r->mech->coordinates[i] : NULL;
        const carom_datum *at = of ? carom_given(&of->at) : NULL, *rate = of ? carom_given(&of->rate) : NULL;
        m->coordinate_name[i] = i + (of ? m->first_coordinate : pressed);
        name *n = &m->names.at[m->coordinate_name[i]];
        m->velocity_of[i] = i;
        CAROM_TRY(name_rate(r, n, &m->velocity[i]));
        n->node = carom_graph_input(m->graph, CAROM_POSITION, i);
        n->rate = carom_graph_input(m->graph, CAROM_VELOCITY, i);
        if (at) CAROM_TRY(carom_resolve_bound(r, at, "the initial position", BOUND_POSITION, i, &m->q0[i]));
        if (rate) CAROM_TRY(carom_resolve_bound(r, rate, "the initial rate", BOUND_RATE, i, &m->v0[i]));
        m->given[i] = rate != NULL || !of;
    }
    return carom_derive_states(r);
}

static carom_status read_let(resolver *r, int first) {
    for (int k = 0; k < r->m->nlet; ++k) {
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_resolve_expression(r, &r->mech->let.item[k], SCOPE_STATE, "this let expression", &node));
        r->m->names.at[first + k].node = node;
    }
    return CAROM_OK;
}

// -- energy and forces -----------------------------------------------------------------------------------

static carom_status read_energy(resolver *r) {
    carom_model *m = r->m;
    const carom_mech_energy *energy = r->mech->energy;
    const carom_datum *kinetic = energy ? carom_given(&energy->kinetic) : NULL,
                      *potential = energy ? carom_given(&energy->potential) : NULL;
    if (!kinetic && r->mech->ncoordinates > 0)
        return carom_fault(r, energy ? &energy->name : carom_mech_start(r->mech), 0,
                           "missing kinetic energy; add `energy: {kinetic: 1/2*m*x'^2}`");
    m->energy_of.own_kinetic = m->potential = m->driven = m->carried = carom_graph_number(m->graph, 0);
    m->energy = kinetic ? kinetic : carom_mech_start(r->mech);
    if (kinetic) {
        CAROM_TRY(carom_resolve_expression(r, kinetic, SCOPE_STATE, "the kinetic energy", &m->energy_of.own_kinetic));
        CAROM_TRY(carom_no_states(r, kinetic, m->energy_of.own_kinetic, "the kinetic energy"));
    }
    if (potential) {
        CAROM_TRY(carom_resolve_expression(r, potential, SCOPE_STATE, "the potential energy", &m->potential));
        if (carom_depends_on_rates(m, m->potential))
            return carom_fault(r, potential, 0,
                               "the potential energy depends on rates; put such terms into kinetic or forces");
        if (!carom_terms_add(&m->as_written, m->potential, 1, 0, 0)) return carom_fault_memory(r);
    }
    m->nkin = m->visible.nv;
    m->energy_of.own_kinetic = n_add(m->graph, m->energy_of.own_kinetic, m->energy_of.floating_kinetic);
    m->potential = n_add(m->graph, m->potential, m->energy_of.floating_potential);
    m->kinetic = n_add(m->graph, m->energy_of.own_kinetic, m->energy_of.body_kinetic);
    CAROM_TRY(carom_weigh_states(r));
    m->potential = n_add(m->graph, m->potential, m->energy_of.body_potential);
    return CAROM_OK;
}

static const char *coordinate_text(const void *user, int i) {
    const carom_model *m = user;
    if (i < m->visible.nq_own) return m->names.at[m->coordinate_name[i]].text;
    int k = i - m->visible.nq_own; // then points of members
    for (int j = 0; j < m->names.count; ++j)
        if (m->names.at[j].kind == NAME_POINT && k-- == 0) return m->names.at[j].text;
    return NULL;
}

// What a force acts along when it is a point or an unknown of a member; CAROM_NONE: neither.
static carom_node find_point(resolver *r, const carom_datum *key) {
    const name *n = carom_names_find(&r->m->names, key->text, key->length);
    return n && n->kind == NAME_POINT ? n->node : n ? CAROM_NONE : carom_member_lookup(r, key->text, 0);
}

// A force F along x(q) is D_k x F on velocity k.
static carom_status add_force(resolver *r, const carom_datum *key, carom_node x, carom_node F) {
    carom_model *m = r->m;
    int n, *way = carom_graph_ways(m->graph, x, CAROM_POSITION, &n);
    if (!way) return carom_fault_memory(r);
    carom_status status =
        n ? CAROM_OK : carom_fault(r, key, 0, "'%.60s' is fixed, so this force has no effect; remove it", key->text);
    for (int k = 0; k < n && status == CAROM_OK; ++k) {
        const carom_node d = carom_graph_along(m->graph, x, way[k]);
        if (!carom_terms_add(&m->point_force, n_mul(m->graph, d, F), way[k], 0, 0)) status = carom_fault_memory(r);
    }
    free(way);
    return status;
}

// The velocity that belongs to the coordinate (or is the velocity) that the key of c names.
static carom_status find_coordinate(resolver *r, const carom_datum *c, const char *where, int *index) {
    const name *n = carom_names_find(&r->m->names, c->key->text, c->key->length);
    if (n && n->kind == NAME_COORDINATE && r->m->velocity_of[n->index] >= 0) {
        *index = r->m->velocity_of[n->index];
        return CAROM_OK;
    }
    if (n && n->kind == NAME_STATE)
        return carom_fault(r, c->key, 0, "'%.60s' is a state; write what changes it into its rate", c->key->text);
    if (n && n->kind == NAME_VELOCITY) {
        *index = n->index;
        return CAROM_OK;
    }
    if (n && n->kind == NAME_COORDINATE)
        return carom_fault(r, c->key, 0,
                           "no force acts on '%.60s' itself; use wx, wy, wz of the body, for torques about its axes",
                           c->key->text);
    const char *near = carom_nearest(c->key->text, coordinate_text, r->m);
    return near ? carom_fault(r, c->key, 0, "'%.60s' in %s is not a coordinate; did you mean '%s'?", c->key->text,
                              where, near)
                : carom_fault(r, c->key, 0, "'%.60s' in %s is not a coordinate; forces are given by coordinate",
                              c->key->text, where);
}

static carom_status read_forces(resolver *r) {
    carom_model *m = r->m;
    const carom_datum *map = &r->mech->forces;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        int i = 0;
        carom_node F = CAROM_NONE;
        const carom_node point = find_point(r, c->key);
        if (point == CAROM_NONE) CAROM_TRY(find_coordinate(r, c, "forces", &i));
        CAROM_TRY(carom_resolve_expression(r, c, SCOPE_STATE, "the force", &F));
        double rest = 0;
        if (carom_graph_is_number(m->graph, carom_graph_at_rest(m->graph, F), &rest) && !isfinite(rest))
            return carom_fault(
                r, c, 0, "this force has no finite value when all rates are zero; use sign(x') instead of x'/abs(x')");
        if (!carom_terms_add(&m->as_written, F, 0, 0, 0)) return carom_fault_memory(r);
        if (point != CAROM_NONE) CAROM_TRY(add_force(r, c->key, point, F));
        else m->force[i] = m->force[i] == CAROM_NONE ? F : n_add(m->graph, m->force[i], F);
    }
    return CAROM_OK;
}

// -- outputs, exact, simulation ---------------------------------------------------------------------------

// Result files have columns of these names already.
static carom_status check_column(resolver *r, const carom_datum *c) {
    static const char *const own[] = {"kinetic", "potential", "energy", NULL};
    const char *text = c->key->text;
    for (int k = 0; own[k]; ++k)
        if (strcmp(own[k], text) == 0)
            return carom_fault(r, c->key, 0, "results have a column '%s' already; choose another name", text);
    const char *dot = strrchr(text, '.');
    for (int id = 0; dot && id < r->m->ne + r->m->nc + r->m->nsoft; ++id) {
        const int soft = id - r->m->ne - r->m->nc;
        const char *link = soft < 0 ? r->m->links[id].name : r->m->soft[soft].contact;
        if (strlen(link) == (size_t)(dot - text) && strncmp(link, text, strlen(link)) == 0)
            return carom_fault(r, c->key, 0,
                               "names that start with '%s.' belong to that contact or constraint; choose another name",
                               link);
    }
    return CAROM_OK;
}

// Points of members are outputs: what moves, and its rate.
static carom_status add_points(resolver *r) {
    carom_model *m = r->m;
    for (int i = 0; i < m->names.count; ++i) {
        const name *n = &m->names.at[i];
        if (n->kind != NAME_POINT || carom_names_find(&m->outs, n->text, strlen(n->text))) continue;
        if (!carom_graph_depends(m->graph, n->node, CAROM_POSITION, -1)) continue;
        m->output[m->nout] = n->text;
        m->output_node[m->nout++] = n->node;
        CAROM_TRY(name_rate(r, n, &m->output[m->nout]));
        m->output_node[m->nout++] = n->rate;
    }
    return CAROM_OK;
}

// So are inputs and the signals of controllers, where outputs do not have them.
static void add_signals(resolver *r) {
    carom_model *m = r->m;
    for (int i = 0; i < m->names.count; ++i) {
        const name *n = &m->names.at[i];
        if (n->kind != NAME_INPUT || carom_names_find(&m->outs, n->text, strlen(n->text))) continue;
        m->output[m->nout] = n->text;
        m->output_node[m->nout++] = n->node;
    }
}

static carom_status add_output(resolver *r, const char *text, carom_node node) {
    carom_model *m = r->m;
    if (carom_names_find(&m->outs, text, strlen(text))) return CAROM_OK;
    const char *copy = carom_pool_text(&m->memory, text, strlen(text));
    if (!copy) return carom_fault_memory(r);
    m->output[m->nout] = copy;
    m->output_node[m->nout++] = node;
    return CAROM_OK;
}

// Coordinates of joints and their rates.  An angle that is counted is a position, and has a column already.
static carom_status add_joints(resolver *r) {
    carom_model *m = r->m;
    for (int i = 0; i < m->njoints; ++i)
        for (const char *const *part = carom_joint_parts; *part; ++part) {
            char text[100];
            snprintf(text, sizeof text, "%.60s.%s", m->joints[i].name, *part);
            const name *n = carom_names_find(&m->names, text, strlen(text));
            if (!n || n->node == CAROM_NONE || (n->kind != NAME_LET && n->kind != NAME_COORDINATE)) continue;
            if (n->kind == NAME_COORDINATE && n->index != m->joints[i].at) continue;
            if (!m->joints[i].recorded) continue;
            if (n->kind == NAME_LET) CAROM_TRY(add_output(r, text, n->node));
            const carom_node rate = carom_graph_rate(m->graph, n->node, m->visible.nv);
            strcat(text, "'");
            CAROM_TRY(add_output(r, text, rate));
        }
    return CAROM_OK;
}

static carom_status read_outputs(resolver *r) {
    carom_model *m = r->m;
    const carom_datum *map = &r->mech->outputs;
    int room = map->count + m->nsoft + carom_near_soft_count(m) + 6 * m->njoints;
    for (int i = 0; i < m->names.count; ++i)
        room += m->names.at[i].kind == NAME_POINT ? 2 : m->names.at[i].kind == NAME_INPUT;
    m->output = take(r, room, sizeof *m->output);
    m->output_node = take(r, room, sizeof *m->output_node);
    if (!m->output || !m->output_node) return carom_fault_memory(r);
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        CAROM_TRY(check_column(r, c));
        CAROM_TRY(carom_new_name(r, c->key, carom_datum_empty(c), &m->outs));
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_resolve_expression(r, c, SCOPE_STATE | SCOPE_OUTS, "this output", &node));
        const name *same = carom_names_find(&m->names, c->key->text, c->key->length);
        if (same && (same->node != node || same->kind == NAME_COORDINATE))
            return carom_fault(r, c->key, 0, "'%s' is already defined as %s%s; rename one of them", same->text,
                               carom_name_kind(same->kind), carom_line_of(same->line).text);
        name *n = carom_names_add(&m->outs, c->key->text, NAME_OUTPUT, m->nout, c->key->line);
        if (!n) return carom_fault_memory(r);
        n->node = node;
        m->output[m->nout] = c->key->text;
        m->output_node[m->nout++] = node;
    }
    for (int i = 0; i < m->nsoft; ++i) {
        m->output[m->nout] = m->soft[i].name;
        m->output_node[m->nout++] = m->soft[i].node;
    }
    CAROM_TRY(carom_near_soft(r));
    add_signals(r);
    CAROM_TRY(add_joints(r));
    return add_points(r);
}

static carom_status read_exact(resolver *r) {
    enum { SCOPE = NAME_PARAMETER | NAME_COORDINATE | NAME_HELPER | SCOPE_TIME | SCOPE_EXACT };
    carom_model *m = r->m;
    const carom_datum *map = carom_given(&r->mech->exact);
    if (!map) return CAROM_OK;
    if (m->state.n)
        return carom_fault(r, map, 0, "`exact` is for models without states; write `checks` instead");
    if (m->nq > MOST_EXACT)
        return carom_fault(r, map, 0, "%d coordinates are too many for an exact solution; use fewer elements", m->nq);
    m->exact = take(r, m->nq, sizeof *m->exact);
    if (!m->exact) return carom_fault_memory(r);
    for (int i = 0; i < m->nq; ++i) m->exact[i] = CAROM_NONE;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        const name *known = carom_names_find(&m->names, c->key->text, c->key->length);
        const bool coordinate = known && known->kind == NAME_COORDINATE;
        const int index = coordinate ? known->index : 0;
        bool taken = false;
        if (!coordinate) CAROM_TRY(carom_derive_member_exact(r, c, SCOPE, &taken));
        if (taken) continue;
        if (!coordinate) CAROM_TRY(carom_new_name(r, c->key, carom_datum_empty(c), &m->names));
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_resolve_expression(r, c, SCOPE, "the exact solution", &node));
        if (coordinate) {
            m->exact[index] = node;
            continue;
        }
        name *n = carom_names_add(&m->names, c->key->text, NAME_HELPER, 0, c->key->line);
        if (!n) return carom_fault_memory(r);
        n->node = node;
    }
    for (int i = 0; i < m->nq; ++i)
        if (m->exact[i] == CAROM_NONE)
            return carom_fault(r, map, 0, "missing '%s' in section `exact`; give all coordinates or none",
                               carom_model_coordinate(m, i));
    return CAROM_OK;
}

// The place of a datum, for messages that come later.
static const char *place_of(resolver *r, const carom_datum *d) {
    char place[240];
    carom_datum_place(d, r->m->file, 0, place, sizeof place);
    return carom_pool_text(&r->m->memory, place, strlen(place));
}

static carom_status read_options(resolver *r, const carom_datum *map) {
    carom_model *m = r->m;
    m->options = take(r, carom_count(map) + 1, sizeof *m->options);
    m->option_places = take(r, carom_count(map) + 1, sizeof *m->option_places);
    if (!m->options || !m->option_places) return carom_fault_memory(r);
    int k = 0;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        if (c->kind != CAROM_TEXT || c->length == 0)
            return carom_fault(r, c->key, 0, "option '%.60s' needs one value; write `%.60s: value`", c->key->text,
                               c->key->text);
        const size_t size = c->key->length + c->length + 2;
        char *text = carom_pool_take(&m->memory, size);
        m->option_places[k] = place_of(r, c->key);
        if (!text || !m->option_places[k]) return carom_fault_memory(r);
        snprintf(text, size, "%s=%s", c->key->text, c->text);
        m->options[k++] = text;
    }
    return CAROM_OK;
}

static carom_status read_simulation(resolver *r) {
    carom_model *m = r->m;
    static const carom_mech_simulation none = {0};
    const carom_mech_simulation *x = r->mech->simulation ? r->mech->simulation : &none;
    const carom_datum *scheme = carom_given(&x->scheme), *step = carom_given(&x->step), *end = carom_given(&x->end);
    m->step = m->end = NAN;
    if (scheme) {
        if (scheme->kind != CAROM_TEXT || scheme->length == 0)
            return carom_fault(r, scheme, 0, "scheme is one word; `carom schemes` lists them");
        m->scheme = scheme->text;
        m->scheme_place = place_of(r, scheme);
        if (!m->scheme_place) return carom_fault_memory(r);
    }
    CAROM_TRY(read_options(r, &x->options));
    if (step) CAROM_TRY(carom_resolve_bound(r, step, "the step size", BOUND_STEP, 0, &m->step));
    if (step && !(m->step > 0)) return carom_fault(r, step, 0, "the step size must be positive, got %g", m->step);
    if (end) CAROM_TRY(carom_resolve_bound(r, end, "the end time", BOUND_END, 0, &m->end));
    if (end && !(m->end > 0))
        return carom_fault(r, end, 0, "the end time must be positive (a run starts at t = 0), got %g", m->end);
    return CAROM_OK;
}

// Bodies with prescribed motion, and nothing else.
static carom_status check_motion(resolver *r) {
    if (r->m->nv > 0 || r->mech->nbodies == 0) return CAROM_OK;
    return carom_fault(
        r, &r->mech->bodies->name, 0,
        "every body has a prescribed motion, so there is nothing to simulate; add a body with a mass, or coordinates");
}

// -- record ----------------------------------------------------------------------------------------------

static const char *body_text(const void *user, int i) {
    const carom_model *m = user;
    return i + 1 < m->nbodies ? m->bodies[i + 1].name : NULL;
}

// A body called like this, or a member of the family that is.
static bool is_of(const char *name, const carom_datum *n) {
    return strncmp(name, n->text, n->length) == 0 && (name[n->length] == 0 || name[n->length] == '.');
}

// `bodies` of `record`: the others have no columns.
static carom_status choose_bodies(resolver *r, const carom_datum *list) {
    carom_model *m = r->m;
    if (carom_datum_is(list, "all")) return CAROM_OK;
    m->unrecorded_q = take(r, m->nq + m->njoints, sizeof *m->unrecorded_q); // a joint may count an angle
    m->unrecorded_v = take(r, m->nv, sizeof *m->unrecorded_v);
    bool *kept = take(r, m->nbodies, sizeof *kept);
    if (!m->unrecorded_q || !m->unrecorded_v || !kept) return carom_fault_memory(r);
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list) && !carom_datum_is(list, "none"); ++c) {
        bool any = false;
        if (c->kind != CAROM_TEXT)
            return carom_fault(r, c, 0, "record needs names of bodies: bodies: [a, b], a family, all or none");
        for (int i = 1; i < m->nbodies; ++i)
            if (is_of(m->bodies[i].name, c)) kept[i] = any = true;
        const char *near = any ? NULL : carom_nearest(c->text, body_text, m);
        if (!any)
            return carom_fault(r, c, 0, "unknown body '%.60s' in `record`%s%s%s", c->text,
                               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    for (int i = 1; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        const int n = b->space == SPATIAL ? 3 : 2;
        if (kept[i] || b->v < 0 || b->floating) continue;
        for (int k = 0; k < (n == 3 ? 7 : 3); ++k) m->unrecorded_q[b->orientation - n + k] = true;
        for (int k = 0; k < (n == 3 ? 6 : 3); ++k) m->unrecorded_v[b->v + k] = true;
    }
    return CAROM_OK;
}

static const char *joint_text(const void *user, int i) {
    const carom_model *m = user;
    return i < m->njoints ? m->joints[i].name : NULL;
}

// `joints` of `record`: whose coordinates are columns.  An angle in space is counted by a position of its own, which
// is made where it is asked for.
static carom_status choose_joints(resolver *r) {
    carom_model *m = r->m;
    const carom_datum *list = r->mech->record ? carom_given(&r->mech->record->joints) : NULL;
    const bool all = !list || carom_datum_is(list, "all");
    for (int i = 0; i < m->njoints; ++i) m->joints[i].recorded = all;
    if (!list || carom_datum_is(list, "none")) return CAROM_OK;
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list) && !all; ++c) {
        bool any = false;
        if (c->kind != CAROM_TEXT)
            return carom_fault(r, c, 0, "record needs names of joints: joints: [a, b], a family, all or none");
        for (int i = 0; i < m->njoints; ++i)
            if (is_of(m->joints[i].name, c)) m->joints[i].recorded = any = true;
        const char *near = any ? NULL : carom_nearest(c->text, joint_text, m);
        if (!any)
            return carom_fault(r, c, 0, "unknown joint '%.60s' in `record`%s%s%s", c->text,
                               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    for (int i = 0; i < m->njoints; ++i) {
        char text[80];
        carom_node unused;
        snprintf(text, sizeof text, "%.60s.angle", m->joints[i].name);
        const name *n = m->joints[i].recorded ? carom_names_find(&m->names, text, strlen(text)) : NULL;
        if (n && n->angle) CAROM_TRY(carom_joint_angle(r, &m->joints[i], &unused));
    }
    return CAROM_OK;
}

static carom_status read_record(resolver *r) {
    const carom_mech_record *x = r->mech->record;
    if (!x) return CAROM_OK;
    if (carom_given(&x->contacts)) {
        CAROM_TRY(carom_resolve_number(r, &x->contacts, "the time between snapshots", &r->m->snapshots));
        if (!(r->m->snapshots > 0))
            return carom_fault(r, &x->contacts, 0, "the time between snapshots of contacts must be positive, got %g",
                               r->m->snapshots);
    }
    return carom_given(&x->bodies) ? choose_bodies(r, &x->bodies) : CAROM_OK;
}

carom_status carom_derive_mechanism(resolver *r) {
    CAROM_TRY(read_title(r));
    CAROM_TRY(declare_all(r));
    const int let = r->m->names.count - r->m->nlet; // the first one
    CAROM_TRY(carom_derive_tables(r));
    CAROM_TRY(read_parameters(r));
    CAROM_TRY(carom_derive_families(r));
    CAROM_TRY(carom_derive_owners(r));
    CAROM_TRY(carom_derive_stops(r));
    r->m->whole = r->mech;
    CAROM_TRY(read_coordinates(r));
    CAROM_TRY(carom_derive_bodies(r));
    CAROM_TRY(carom_derive_joints(r));
    CAROM_TRY(choose_joints(r));
    CAROM_TRY(carom_derive_members(r));
    CAROM_TRY(carom_free_place(r));
    CAROM_TRY(read_record(r));
    CAROM_TRY(read_let(r, let));
    CAROM_TRY(carom_derive_state_rates(r));
    CAROM_TRY(carom_derive_elements(r));
    CAROM_TRY(read_energy(r));
    CAROM_TRY(read_forces(r));
    CAROM_TRY(carom_derive_bends(r));
    CAROM_TRY(carom_derive_shapes(r));
    CAROM_TRY(carom_derive_ropes(r));
    CAROM_TRY(carom_matrices_used(r));
    CAROM_TRY(carom_derive_links(r));
    CAROM_TRY(read_outputs(r));
    CAROM_TRY(carom_derive_controllers(r));
    CAROM_TRY(carom_derive_jumps(r));
    CAROM_TRY(carom_derive_knots(r));
    CAROM_TRY(read_exact(r));
    CAROM_TRY(carom_derive_checks(r));
    CAROM_TRY(carom_derive_observed(r));
    CAROM_TRY(check_motion(r));
    return read_simulation(r);
}
