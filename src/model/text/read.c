// read.c: the sections of a model file, in the order in which their names become known.
#include "expr/graph.h"
#include "model/bodies/bodies.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COORDINATES = 2000, MOST_EXACT = 5000 }; // beyond that, expressions are not the way

static void *take(reader *r, int count, size_t size) {
    return carom_pool_take(&r->m->memory, (size_t)(count ? count : 1) * size);
}

static int count_of(const carom_datum *map) { return map ? map->count : 0; }

static carom_status section(reader *r, const char *key, const carom_datum **map) {
    char where[40];
    snprintf(where, sizeof where, "section %s", key);
    return carom_read_map(r, carom_datum_get(r->root, key), where, map);
}

static carom_status check_sections(reader *r) {
    static const char *const keys[] = {"carom",       "name",    "about",  "parameters",       "coordinates",
                                       "let",         "energy",  "forces", "contact defaults", "contacts",
                                       "constraints", "outputs", "exact",  "checks",           "simulation",
                                       "gravity",     "bodies",  "draw",   "joints",           "assemble",
                                       "springs",     "motors",  "loads",  "flexible",         "shapes",
                                       NULL};
    CAROM_TRY(carom_read_keys(r, r->root, keys, "the model"));
    const carom_datum *version = carom_datum_get(r->root, "carom");
    if (!version)
        return carom_read_fail(r, r->root, 0, "the format version is missing; start the file with `carom: 1`");
    if (version->kind != CAROM_TEXT || strcmp(version->text, "1") != 0)
        return carom_read_fail(r, version, 0, "this version of carom reads format 1; write `carom: 1`");
    return CAROM_OK;
}

static carom_status read_assemble(reader *r) {
    const carom_datum *n = carom_datum_get(r->root, "assemble");
    if (!n) return CAROM_OK;
    r->m->assemble = n->kind == CAROM_TEXT && strcmp(n->text, "yes") == 0;
    if (r->m->assemble || (n->kind == CAROM_TEXT && strcmp(n->text, "no") == 0)) return CAROM_OK;
    return carom_read_fail(r, n, 0, "assemble is yes or no: may positions be moved onto joints and constraints at the start?");
}

static carom_status read_title(reader *r) {
    const carom_datum *title = carom_datum_get(r->root, "name"), *about = carom_datum_get(r->root, "about");
    if (title && title->kind != CAROM_TEXT)
        return carom_read_fail(r, title, 0, "the name of the model is a text; put it in quotes");
    if (about && about->kind != CAROM_TEXT) return carom_read_fail(r, about, 0, "about is a text; put it in quotes");
    const char *slash = strrchr(r->m->file, '/');
    r->m->name = title && title->length ? title->text : slash ? slash + 1 : r->m->file;
    return CAROM_OK;
}

// Names of a section, in order; nodes follow later.
static carom_status declare(reader *r, const carom_datum *map, name_kind kind, int **index) {
    names *t = &r->m->names;
    if (index && !(*index = take(r, count_of(map), sizeof **index))) return carom_read_memory(r);
    int k = 0;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c, ++k) {
        CAROM_TRY(carom_read_new_name(r, c, t));
        if (index) (*index)[k] = t->count;
        if (!carom_names_add(t, c->key->text, kind, k, c->key->line)) return carom_read_memory(r);
    }
    return CAROM_OK;
}

// -- parameters -----------------------------------------------------------------------------------------

static const char *parameter_text(const void *user, int i) {
    const carom_model *m = user;
    return i < m->np ? m->names.at[m->parameter_name[i]].text : NULL;
}

// "name=expression", as typed with --set, instead of what the file says.
static carom_status override(reader *r, const char *set) {
    carom_model *m = r->m;
    const char *sign = strchr(set, '=');
    carom_datum *n = take(r, 1, sizeof *n), *key = take(r, 1, sizeof *key);
    if (!n || !key) return carom_read_memory(r);
    *key = (carom_datum){.kind = CAROM_TEXT, .text = carom_pool_text(&m->memory, set, strlen(set)), .length = strlen(set)};
    *n = (carom_datum){.kind = CAROM_TEXT, .key = key};
    if (!key->text) return carom_read_memory(r);
    if (!sign || sign == set) return carom_read_fail(r, n, 0, "this is not an override; write --set name=value");
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)(sign - set < 127 ? sign - set : 127), set);
    const name *found = carom_names_find(&m->names, word, strlen(word));
    if (!found || found->kind != NAME_PARAMETER) {
        const char *near = carom_nearest(word, parameter_text, m);
        return near ? carom_read_fail(r, n, 0, "the model has no parameter '%.60s'; did you mean '%s'?", word, near)
                    : carom_read_fail(r, n, 0, "the model has no parameter '%.60s'; `carom info` lists them", word);
    }
    n->text = key->text + (sign - set) + 1;
    n->length = strlen(n->text);
    r->param_tree[found->index] = n;
    return CAROM_OK;
}

static carom_status read_parameters(reader *r, const carom_datum *map, const char *const *set) {
    carom_model *m = r->m;
    m->parameter = take(r, m->np, sizeof *m->parameter);
    r->param_tree = take(r, m->np, sizeof *r->param_tree);
    r->param_state = take(r, m->np, 1);
    if (!m->parameter || !r->param_tree || !r->param_state) return carom_read_memory(r);
    int k = 0;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) r->param_tree[k++] = c;
    for (; set && *set; ++set) CAROM_TRY(override(r, *set));
    for (int i = 0; i < m->np; ++i) CAROM_TRY(carom_read_parameter(r, i));
    for (int i = 0; i < m->np; ++i)
        m->names.at[m->parameter_name[i]].node = carom_graph_input(m->graph, CAROM_PARAMETER, i);
    return CAROM_OK;
}

// -- coordinates and let -------------------------------------------------------------------------------

// Room for the state: at most n positions, and no more velocities than that.
static carom_status take_state(reader *r, int n) {
    carom_model *m = r->m;
    m->q0 = take(r, n, sizeof *m->q0);
    m->v0 = take(r, n, sizeof *m->v0);
    m->coordinate_name = take(r, n, sizeof *m->coordinate_name);
    m->velocity_of = take(r, n, sizeof *m->velocity_of);
    m->velocity = take(r, n, sizeof *m->velocity);
    m->given = take(r, n, sizeof *m->given);
    return m->q0 && m->v0 && m->coordinate_name && m->velocity_of && m->velocity && m->given ? CAROM_OK : carom_read_memory(r);
}

// x'
static carom_status name_rate(reader *r, const name *n, const char **text) {
    const size_t size = strlen(n->text) + 2;
    char *rate = take(r, (int)size, 1);
    if (!rate) return carom_read_memory(r);
    snprintf(rate, size, "%s'", n->text);
    *text = rate;
    return CAROM_OK;
}

static carom_status read_coordinates(reader *r, const carom_datum *map) {
    static const char *const keys[] = {"at", "rate", NULL};
    carom_model *m = r->m;
    const carom_datum *bodies = carom_datum_get(r->root, "bodies");
    const int nbodies = bodies && bodies->kind == CAROM_MAP ? bodies->count : 0;
    const carom_datum *flexible = carom_datum_get(r->root, "flexible");
    if (count_of(map) == 0 && nbodies == 0 && !(flexible && flexible->count > 0)) {
        const carom_datum *here = carom_datum_get(r->root, "coordinates");
        return carom_read_fail(r, here ? here->key : r->root, 0,
                               "the model has no coordinates; add `coordinates: {x: {at: 0, rate: 0}}`");
    }
    if (count_of(map) > MOST_COORDINATES)
        return carom_read_fail(r, map, 0, "more than %d coordinates; give such a system from C", MOST_COORDINATES);
    if (6 * nbodies > MOST_COORDINATES)
        return carom_read_fail(r, bodies, 0, "more than %d bodies; give such a system from C", MOST_COORDINATES / 6);
    const carom_datum *joints = carom_datum_get(r->root, "joints");
    int floating = 0, frames = 0;
    CAROM_TRY(carom_floating_count(r, &floating, &frames));
    CAROM_TRY(take_state(r, count_of(map) + 7 * nbodies + floating + count_of(joints))); // a joint may count an angle
    m->nq = m->nv = count_of(map);
    int i = 0;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c, ++i) {
        name *n = &m->names.at[m->first_coordinate + i];
        m->coordinate_name[i] = m->first_coordinate + i;
        m->velocity_of[i] = i;
        CAROM_TRY(name_rate(r, n, &m->velocity[i]));
        n->node = carom_graph_input(m->graph, CAROM_POSITION, i);
        n->rate = carom_graph_input(m->graph, CAROM_VELOCITY, i);
        char what[120];
        snprintf(what, sizeof what, "coordinate '%s'", n->text);
        if (c->kind == CAROM_TEXT && !carom_datum_empty(c)) {
            CAROM_TRY(carom_read_number(r, c, "the initial position", &m->q0[i]));
            continue;
        }
        const carom_datum *parts = NULL;
        CAROM_TRY(carom_read_map(r, c, what, &parts));
        if (!parts) continue;
        CAROM_TRY(carom_read_keys(r, parts, keys, what));
        const carom_datum *at = carom_datum_get(parts, "at"), *rate = carom_datum_get(parts, "rate");
        if (at) CAROM_TRY(carom_read_number(r, at, "the initial position", &m->q0[i]));
        if (rate) CAROM_TRY(carom_read_number(r, rate, "the initial rate", &m->v0[i]));
        m->given[i] = rate != NULL;
    }
    return CAROM_OK;
}

static carom_status read_let(reader *r, const carom_datum *map, int first) {
    carom_model *m = r->m;
    int k = first;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c, ++k) {
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_read_expression(r, c, SCOPE_STATE, "this let expression", &node));
        m->names.at[k].node = node;
    }
    return CAROM_OK;
}

// -- energy and forces -----------------------------------------------------------------------------------

static carom_status read_energy(reader *r) {
    static const char *const keys[] = {"kinetic", "potential", NULL};
    carom_model *m = r->m;
    const carom_datum *map = NULL, *here = carom_datum_get(r->root, "energy");
    CAROM_TRY(section(r, "energy", &map));
    if (map) CAROM_TRY(carom_read_keys(r, map, keys, "energy"));
    const carom_datum *kinetic = carom_datum_get(map, "kinetic"), *potential = carom_datum_get(map, "potential");
    if (!kinetic && m->seen.nq_own > 0 && carom_datum_get(r->root, "coordinates"))
        return carom_read_fail(r, here ? here->key : r->root, 0,
                               "the kinetic energy is missing; add `energy: {kinetic: 1/2*m*x'^2}`");
    m->own_kinetic = m->potential = carom_graph_number(m->graph, 0);
    if (kinetic) {
        CAROM_TRY(carom_read_expression(r, kinetic, SCOPE_STATE, "the kinetic energy", &m->own_kinetic));
        m->energy_line = kinetic->line;
        m->energy_column = kinetic->column;
    }
    if (potential) {
        CAROM_TRY(carom_read_expression(r, potential, SCOPE_STATE, "the potential energy", &m->potential));
        if (carom_graph_depends(m->graph, m->potential, CAROM_VELOCITY, -1))
            return carom_read_fail(r, potential, 0,
                                   "the potential energy depends on rates; put such terms into kinetic or forces");
    }
    m->nkin = m->seen.nv;
    m->own_kinetic = carom_graph_plus(m->graph, m->own_kinetic, m->floating_kinetic);
    m->potential = carom_graph_plus(m->graph, m->potential, m->floating_potential);
    m->kinetic = carom_graph_plus(m->graph, m->own_kinetic, m->body_kinetic);
    m->potential = carom_graph_plus(m->graph, m->potential, m->body_potential);
    return CAROM_OK;
}

static const char *coordinate_text(const void *user, int i) {
    const carom_model *m = user;
    if (i < m->seen.nq_own) return m->names.at[m->coordinate_name[i]].text;
    int k = i - m->seen.nq_own; // then points of members
    for (int j = 0; j < m->names.count; ++j)
        if (m->names.at[j].kind == NAME_POINT && k-- == 0) return m->names.at[j].text;
    return NULL;
}

// What a force acts along when it is a point or an unknown of a member; CAROM_NONE: neither.
static carom_node find_point(reader *r, const carom_datum *key) {
    const name *n = carom_names_find(&r->m->names, key->text, key->length);
    return n && n->kind == NAME_POINT ? n->node : n ? CAROM_NONE : carom_member_lookup(r, key->text, 0);
}

// A force F along x(q) is D_k x F on velocity k.
static carom_status add_force(reader *r, const carom_datum *key, carom_node x, carom_node F) {
    carom_model *m = r->m;
    int n, *way = carom_graph_ways(m->graph, x, CAROM_POSITION, &n);
    if (!way) return carom_read_memory(r);
    carom_status status = n ? CAROM_OK
                            : carom_read_fail(r, key, 0, "'%.60s' is held in place, so this force does nothing; remove it", key->text);
    for (int k = 0; k < n && status == CAROM_OK; ++k) {
        const carom_node d = carom_graph_along(m->graph, x, way[k]);
        if (!carom_terms_add(&m->point_force, carom_graph_times(m->graph, d, F), way[k], 0, 0)) status = carom_read_memory(r);
    }
    free(way);
    return status;
}

// The velocity that belongs to the coordinate (or is the velocity) that the key of c names.
static carom_status find_coordinate(reader *r, const carom_datum *c, const char *where, int *index) {
    const name *n = carom_names_find(&r->m->names, c->key->text, c->key->length);
    if (n && n->kind == NAME_COORDINATE && r->m->velocity_of[n->index] >= 0) {
        *index = r->m->velocity_of[n->index];
        return CAROM_OK;
    }
    if (n && n->kind == NAME_VELOCITY) {
        *index = n->index;
        return CAROM_OK;
    }
    if (n && n->kind == NAME_COORDINATE)
        return carom_read_fail(r, c->key, 0, "no force acts on '%.60s' itself; use wx, wy, wz of the body, for torques about its axes",
                               c->key->text);
    const char *near = carom_nearest(c->key->text, coordinate_text, r->m);
    return near ? carom_read_fail(r, c->key, 0, "'%.60s' in %s is no coordinate; did you mean '%s'?", c->key->text,
                                  where, near)
                : carom_read_fail(r, c->key, 0, "'%.60s' in %s is no coordinate; forces are given by coordinate",
                                  c->key->text, where);
}

static carom_status read_forces(reader *r) {
    carom_model *m = r->m;
    const carom_datum *map = NULL;
    CAROM_TRY(section(r, "forces", &map));
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        int i = 0;
        carom_node F = CAROM_NONE;
        const carom_node point = find_point(r, c->key);
        if (point == CAROM_NONE) CAROM_TRY(find_coordinate(r, c, "forces", &i));
        CAROM_TRY(carom_read_expression(r, c, SCOPE_STATE, "the force", &F));
        double rest = 0;
        if (carom_graph_is_number(m->graph, carom_graph_at_rest(m->graph, F), &rest) && !isfinite(rest))
            return carom_read_fail(
                r, c, 0, "this force has no finite value when all rates are zero; use sign(x') instead of x'/abs(x')");
        if (point != CAROM_NONE)
            CAROM_TRY(add_force(r, c->key, point, F));
        else
            m->force[i] = m->force[i] == CAROM_NONE ? F : carom_graph_plus(m->graph, m->force[i], F);
    }
    return CAROM_OK;
}

// -- outputs, exact, simulation ---------------------------------------------------------------------------

// Result files have columns of these names already.
static carom_status check_column(reader *r, const carom_datum *c) {
    static const char *const own[] = {"kinetic", "potential", "energy", NULL};
    const char *text = c->key->text;
    for (int k = 0; own[k]; ++k)
        if (strcmp(own[k], text) == 0)
            return carom_read_fail(r, c->key, 0, "results have a column '%s' already; choose another name", text);
    const char *dot = strrchr(text, '.');
    for (int id = 0; dot && id < r->m->ne + r->m->nc; ++id) {
        const char *link = r->m->links[id].name;
        if (strlen(link) == (size_t)(dot - text) && strncmp(link, text, strlen(link)) == 0)
            return carom_read_fail(
                r, c->key, 0, "names that start with '%s.' belong to that contact or constraint; choose another name",
                link);
    }
    return CAROM_OK;
}

// Points of members are outputs: what moves, and its rate.
static carom_status add_points(reader *r) {
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

static carom_status read_outputs(reader *r) {
    carom_model *m = r->m;
    const carom_datum *map = NULL;
    CAROM_TRY(section(r, "outputs", &map));
    int points = 0;
    for (int i = 0; i < m->names.count; ++i) points += m->names.at[i].kind == NAME_POINT;
    m->output = take(r, count_of(map) + 2 * points, sizeof *m->output);
    m->output_node = take(r, count_of(map) + 2 * points, sizeof *m->output_node);
    if (!m->output || !m->output_node) return carom_read_memory(r);
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        CAROM_TRY(check_column(r, c));
        CAROM_TRY(carom_read_new_name(r, c, &m->outs));
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_read_expression(r, c, SCOPE_STATE | SCOPE_OUTS, "this output", &node));
        const name *same = carom_names_find(&m->names, c->key->text, c->key->length);
        if (same && (same->node != node || same->kind == NAME_COORDINATE))
            return carom_read_fail(r, c->key, 0, "'%s' is already %s (line %d); rename one of the two", same->text,
                                   carom_name_kind(same->kind), same->line);
        name *n = carom_names_add(&m->outs, c->key->text, NAME_OUTPUT, m->nout, c->key->line);
        if (!n) return carom_read_memory(r);
        n->node = node;
        m->output[m->nout] = c->key->text;
        m->output_node[m->nout++] = node;
    }
    return add_points(r);
}

static carom_status read_exact(reader *r) {
    enum { SCOPE = NAME_PARAMETER | NAME_COORDINATE | NAME_HELPER | SCOPE_TIME | SCOPE_EXACT };
    carom_model *m = r->m;
    const carom_datum *map = NULL;
    CAROM_TRY(section(r, "exact", &map));
    if (!map) return CAROM_OK;
    if (m->nq > MOST_EXACT)
        return carom_read_fail(r, map, 0, "%d coordinates are too many for an exact solution; use fewer elements", m->nq);
    m->exact = take(r, m->nq, sizeof *m->exact);
    if (!m->exact) return carom_read_memory(r);
    for (int i = 0; i < m->nq; ++i) m->exact[i] = CAROM_NONE;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        const name *known = carom_names_find(&m->names, c->key->text, c->key->length);
        const bool coordinate = known && known->kind == NAME_COORDINATE;
        const int index = coordinate ? known->index : 0;
        bool taken = false;
        if (!coordinate) CAROM_TRY(carom_read_member_exact(r, c, SCOPE, &taken));
        if (taken) continue;
        if (!coordinate) CAROM_TRY(carom_read_new_name(r, c, &m->names));
        carom_node node = CAROM_NONE;
        CAROM_TRY(carom_read_expression(r, c, SCOPE, "the exact solution", &node));
        if (coordinate) {
            m->exact[index] = node;
            continue;
        }
        name *n = carom_names_add(&m->names, c->key->text, NAME_HELPER, 0, c->key->line);
        if (!n) return carom_read_memory(r);
        n->node = node;
    }
    for (int i = 0; i < m->nq; ++i)
        if (m->exact[i] == CAROM_NONE)
            return carom_read_fail(r, map, 0, "exact gives no '%s'; give all coordinates or none",
                                   carom_model_coordinate(m, i));
    return CAROM_OK;
}

// file:line:column, for messages that come later.
static const char *place_of(reader *r, const carom_datum *n) {
    const size_t size = strlen(r->m->file) + 40;
    char *place = carom_pool_take(&r->m->memory, size);
    if (place) snprintf(place, size, "%s:%d:%d", r->m->file, n->line, n->column);
    return place;
}

static carom_status read_options(reader *r, const carom_datum *options) {
    carom_model *m = r->m;
    const carom_datum *map = NULL;
    if (options) CAROM_TRY(carom_read_map(r, options, "options", &map));
    m->options = take(r, count_of(map) + 1, sizeof *m->options);
    m->option_places = take(r, count_of(map) + 1, sizeof *m->option_places);
    if (!m->options || !m->option_places) return carom_read_memory(r);
    int k = 0;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        if (c->kind != CAROM_TEXT || c->length == 0)
            return carom_read_fail(r, c->key, 0, "option '%.60s' wants one value; write `%.60s: value`", c->key->text,
                                   c->key->text);
        const size_t size = c->key->length + c->length + 2;
        char *text = carom_pool_take(&m->memory, size);
        m->option_places[k] = place_of(r, c->key);
        if (!text || !m->option_places[k]) return carom_read_memory(r);
        snprintf(text, size, "%s=%s", c->key->text, c->text);
        m->options[k++] = text;
    }
    return CAROM_OK;
}

static carom_status read_simulation(reader *r) {
    static const char *const keys[] = {"scheme", "options", "step", "end", NULL};
    carom_model *m = r->m;
    const carom_datum *map = NULL;
    m->step = m->end = NAN;
    CAROM_TRY(section(r, "simulation", &map));
    if (map) CAROM_TRY(carom_read_keys(r, map, keys, "simulation"));
    const carom_datum *scheme = carom_datum_get(map, "scheme"), *step = carom_datum_get(map, "step"),
               *end = carom_datum_get(map, "end");
    if (scheme) {
        if (scheme->kind != CAROM_TEXT || scheme->length == 0)
            return carom_read_fail(r, scheme, 0, "scheme is one word; `carom schemes` lists them");
        m->scheme = scheme->text;
        m->scheme_place = place_of(r, scheme);
        if (!m->scheme_place) return carom_read_memory(r);
    }
    CAROM_TRY(read_options(r, carom_datum_get(map, "options")));
    if (step) CAROM_TRY(carom_read_number(r, step, "the step size", &m->step));
    if (step && !(m->step > 0)) return carom_read_fail(r, step, 0, "the step size is %g; it must be positive", m->step);
    if (end) CAROM_TRY(carom_read_number(r, end, "the end time", &m->end));
    if (end && !(m->end > 0))
        return carom_read_fail(r, end, 0, "the end time is %g; it must be positive (a run starts at t = 0)", m->end);
    return CAROM_OK;
}

carom_status carom_read_model(reader *r, const char *const *set, const char *const *observe) {
    const carom_datum *parameters = NULL, *coordinates = NULL, *let = NULL, *flexible = NULL;
    CAROM_TRY(check_sections(r));
    CAROM_TRY(read_title(r));
    CAROM_TRY(read_assemble(r));
    CAROM_TRY(section(r, "parameters", &parameters));
    CAROM_TRY(section(r, "coordinates", &coordinates));
    CAROM_TRY(section(r, "let", &let));
    CAROM_TRY(section(r, "flexible", &flexible));
    carom_model *m = r->m;
    m->np = count_of(parameters);
    m->nlet = count_of(let);
    CAROM_TRY(declare(r, parameters, NAME_PARAMETER, &m->parameter_name));
    m->first_coordinate = m->names.count;
    CAROM_TRY(declare(r, coordinates, NAME_COORDINATE, NULL));
    const int first = m->names.count;
    CAROM_TRY(declare(r, let, NAME_LET, NULL));
    CAROM_TRY(read_parameters(r, parameters, set));
    CAROM_TRY(read_coordinates(r, coordinates));
    CAROM_TRY(carom_read_bodies(r));
    CAROM_TRY(carom_read_joints(r));
    CAROM_TRY(carom_read_members(r, flexible));
    CAROM_TRY(read_let(r, let, first));
    CAROM_TRY(carom_read_elements(r));
    CAROM_TRY(read_energy(r));
    CAROM_TRY(read_forces(r));
    CAROM_TRY(carom_read_shapes(r));
    CAROM_TRY(carom_read_links(r));
    CAROM_TRY(read_outputs(r));
    CAROM_TRY(read_exact(r));
    CAROM_TRY(carom_read_checks(r, carom_datum_get(r->root, "checks")));
    CAROM_TRY(carom_read_observed(r, observe));
    return read_simulation(r);
}
