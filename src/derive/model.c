// model.c: create, destroy, and what a model answers.
#include "derive/shapes/solids.h"
#include "read/mesh.h"
#include <stdlib.h>
#include <string.h>

void *carom_model_work(const carom_model *m, carom_error *err) {
    const size_t size = (m->sys.work_size + 63) & ~(size_t)63;
    void *work = aligned_alloc(64, size);
    if (!work) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the model %.200s", m->file), NULL;
    memset(work, 0, size);
    m->sys.work_init(m, work);
    return work;
}

carom_status carom_model_begin(carom_model *m, carom_error *err) {
    void *work = carom_model_work(m, err);
    if (!work) return CAROM_NO_MEMORY;
    if (m->start) carom_copy(m->q0, m->start, m->nq), carom_copy(m->v0, m->start + m->nq, m->nv);
    carom_status status = carom_model_assemble(m, work, err);
    if (status == CAROM_OK && m->settle) status = carom_model_settle(m, work, err);
    if (status == CAROM_OK) status = carom_model_start(m, work, err);
    free(work);
    return status;
}

// The system, and whether it may start where the file says.
static carom_status complete(carom_model *m, carom_error *err) {
    CAROM_TRY(carom_model_derive(m, err));
    CAROM_TRY(carom_model_system_make(m, err));
    m->start = m->np ? carom_pool_take(&m->memory, ((size_t)m->nq + (size_t)m->nv + 1) * sizeof *m->start) : NULL;
    if (m->np && !m->start) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the model %.200s", m->file);
    if (m->start) carom_copy(m->start, m->q0, m->nq), carom_copy(m->start + m->nq, m->v0, m->nv);
    return carom_model_begin(m, err);
}

// The texts of what is observed, for when the model is derived again.
static bool keep_observed(carom_model *m, const char *const *observe) {
    int n = 0;
    while (observe && observe[n]) ++n;
    m->observe = carom_pool_take(&m->memory, ((size_t)n + 1) * sizeof *m->observe);
    for (int i = 0; m->observe && i < n; ++i)
        if (!(m->observe[i] = carom_pool_text(&m->memory, observe[i], strlen(observe[i])))) return false;
    return m->observe;
}

static carom_status make(carom_model *m, const char *const *observe, carom_error *err) {
    resolver r = {.m = m, .mech = m->mech, .observe = observe, .err = err, .values = carom_graph_create()};
    m->graph = carom_graph_create();
    carom_status status = CAROM_OK;
    if (!r.values || !m->graph || !keep_observed(m, observe)) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a model");
    if (status == CAROM_OK) status = carom_derive_mechanism(&r);
    if (status == CAROM_OK) status = complete(m, err);
    if (status == CAROM_OK && (r.mech->nfigures || r.mech->ntouches)) status = carom_derive_draw(&r); // is it right?
    if (r.values) carom_graph_destroy(r.values);
    return status;
}

// The model of a mechanism, which now belongs to it.
static carom_model *model_of(carom_mech *mech, const char *const *observe, bool apart, carom_error *err) {
    carom_model *m = mech ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        carom_mech_destroy(mech);
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a model");
        return NULL;
    }
    m->mech = mech;
    m->apart = apart;
    m->file = mech->file;
    if (make(m, observe, err) == CAROM_OK) return m;
    carom_model_destroy(m);
    return NULL;
}

carom_model *carom_model_of(const carom_mech *mech, const char *const *observe, carom_error *err) { return carom_model_apart(mech, observe, false, err); }

carom_model *carom_model_apart(const carom_mech *mech, const char *const *observe, bool apart, carom_error *err) {
    if (!mech) return carom_fail(err, CAROM_BAD_INPUT, "a model needs a mechanism"), NULL;
    return model_of(carom_mech_copy(mech), observe, apart, err);
}

carom_model *carom_model_create(const carom_model_def *def, carom_error *err) {
    if (!def || !def->text) return carom_fail(err, CAROM_BAD_INPUT, "a model needs a text"), NULL;
    carom_mech *mech = carom_mech_read(def->text, def->length, def->file ? def->file : "model", err);
    if (!mech) return NULL;
    carom_status status = CAROM_OK;
    for (int i = 0; i < def->nmatrices && status == CAROM_OK; ++i) status = carom_mech_add_matrix(mech, &def->matrices[i], err);
    for (const char *const *set = def->set; set && *set && status == CAROM_OK; ++set) status = carom_mech_set(mech, *set, err);
    if (status == CAROM_OK) return model_of(mech, def->observe, false, err);
    carom_mech_destroy(mech);
    return NULL;
}

void carom_model_destroy(carom_model *m) {
    if (!m) return;
    terms *const lists[] = {&m->mass, &m->W, &m->w, &m->K, &m->C, &m->dM, &m->dW, &m->dw, &m->point_force};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k) carom_terms_free(lists[k]);
    if (m->tape) carom_tape_destroy(m->tape);
    if (m->check_tape) carom_tape_destroy(m->check_tape);
    carom_tape_destroy(m->bounce_tape);
    carom_tape_destroy(m->rub_tape);
    if (m->near) carom_tape_destroy(m->near->rub_tape);
    free(m->reacting);
    free(m->bounces);
    free(m->bound);
    free(m->soft);
    free(m->kink);
    free(m->kink_of);
    free(m->asked);
    free(m->rub);
    for (int i = 0; i < m->npairs; ++i) carom_tape_destroy(m->pairs[i].tape);
    for (int i = 0; i < m->nkinds; ++i) carom_model_destroy(m->kinds[i].two);
    if (m->release) m->release(m->owned);
    if (m->graph) carom_graph_destroy(m->graph);
    carom_names_free(&m->names);
    carom_names_free(&m->outs);
    carom_names_free(&m->shape_names);
    carom_members_free(m);
    carom_pattern_destroy(m->mass_pattern);
    carom_pattern_destroy(m->tangent_pattern);
    for (int i = 0; i < m->nmeshes; ++i) carom_mesh_free(&m->meshes[i]);
    free(m->watch);
    carom_drawn_free(m->drawn);
    free(m->rows);
    carom_pool_free(&m->memory);
    carom_mech_destroy(m->mech);
    free(m);
}

int carom_model_tapes(const carom_model *m, carom_tape **list, int room) {
    int n = 0;
    carom_tape *const own[] = {m->tape, m->check_tape};
    for (int i = 0; i < 2; ++i, ++n)
        if (n < room) list[n] = own[i];
    for (int i = 0; i < m->npairs; ++i)
        if (!m->pairs[i].shares && n++ < room) list[n - 1] = m->pairs[i].tape;
    for (int i = 0; i < m->nkinds; ++i)
        if (!m->kinds[i].patch && n++ < room) list[n - 1] = m->kinds[i].two->pairs->tape;
    return n;
}

void carom_model_adopt(carom_model *m, const carom_model *other) {
    enum { MOST = 64 };
    carom_tape *mine[MOST], *theirs[MOST];
    const int n = carom_model_tapes(m, mine, MOST);
    if (n != carom_model_tapes(other, theirs, MOST)) return;
    for (int i = 0; i < n && i < MOST; ++i) carom_tape_attach(mine[i], carom_tape_native(theirs[i]));
}

long carom_model_motion_instructions(const carom_model *m) { return carom_tape_instructions(m->tape, GROUP_MOTION_GAPS); }

void carom_model_own(carom_model *m, void *thing, void (*release)(void *thing)) {
    if (m->release) m->release(m->owned);
    m->owned = thing;
    m->release = release;
}

const carom_system *carom_model_system(const carom_model *m) { return &m->sys; }

const char *carom_model_name(const carom_model *m) { return m->name; }

const double *carom_model_q0(const carom_model *m) { return m->q0; }

const double *carom_model_v0(const carom_model *m) { return m->v0; }

carom_model_sizes carom_model_count(const carom_model *m) {
    return (carom_model_sizes){.parameters = m->np_own,
                               .inputs = m->nset,
                               .coordinates = m->nq,
                               .velocities = m->nv,
                               .lets = m->nlet,
                               .constraints = m->ne,
                               .contacts = m->nc,
                               .outputs = m->nout,
                               .checks = m->nchecks,
                               .members = m->nmember,
                               .exact = m->exact != NULL};
}

// The member that unknown i past coordinates and bodies belongs to, and its number there.
static const member *member_of(const carom_model *m, int *i) {
    const member *b = m->members;
    for (; *i >= b->count; ++b) *i -= b->count;
    return b;
}

static const char *unknown_name(const carom_model *m, int i, bool rate) {
    const member *b = member_of(m, &i);
    return b->unknown_name + ((size_t)i + (rate ? (size_t)b->count : 0)) * b->stride;
}

const char *carom_model_coordinate(const carom_model *m, int i) {
    return i < carom_model_named_q(m) ? m->names.at[m->coordinate_name[i]].text : unknown_name(m, i - m->visible.nq_own, false);
}

const char *carom_model_velocity(const carom_model *m, int i) {
    return i < carom_model_named_v(m) ? m->velocity[i] : unknown_name(m, i - m->visible.nv_own, true);
}

// The coordinates of contacts that are friction alone stay 0.
bool carom_model_presses(const carom_model *m, int i) {
    const int first = m->first_pressed;
    return i >= first && i < first + m->npressed;
}

const char *carom_model_settled(const carom_model *m) { return m->settled[0] ? m->settled : NULL; }

double carom_model_snapshots(const carom_model *m) { return m->snapshots; }

int carom_model_shown(const carom_model *m) {
    enum { MOST_SHOWN = 64 };
    return m->npairs > MOST_SHOWN ? m->pairs[0].first - m->ne : m->nc;
}

bool carom_model_recorded(const carom_model *m, int i) {
    if (carom_model_presses(m, i) || (m->unrecorded_q && m->unrecorded_q[i])) return false;
    i -= carom_model_named_q(m);
    return i < 0 || member_of(m, &i)->unknowns;
}

bool carom_model_velocity_recorded(const carom_model *m, int i) {
    if (carom_model_presses(m, i) || (m->unrecorded_v && m->unrecorded_v[i])) return false;
    i -= carom_model_named_v(m);
    return i < 0 || member_of(m, &i)->unknowns;
}

carom_model_member carom_model_member_at(const carom_model *m, int i) {
    const member *b = &m->members[i];
    return (carom_model_member){.name = b->name, .flex = b->flex, .q = b->q, .v = b->v, .fields = b->fields};
}

const char *carom_model_freedom(const carom_model *m, int i) {
    if (i >= carom_model_named_v(m)) return unknown_name(m, i - m->visible.nv_own, false);
    for (int k = i; k < carom_model_named_q(m); ++k) // no body has more velocities than positions
        if (m->velocity_of[k] == i) return carom_model_coordinate(m, k);
    return m->velocity[i];
}

const char *carom_model_parameter(const carom_model *m, int i, double *value) {
    if (value) *value = m->parameter[i];
    return m->names.at[m->parameter_name[i]].text;
}

const char *carom_model_constraint(const carom_model *m, int id) {
    enum { TURNS = 8, ROOM = 140 };
    static _Thread_local char text[TURNS][ROOM]; // names of contacts that come and go are made when they are asked for
    static _Thread_local int turn;
    if (id < m->ne + m->nc || !m->near) return m->links[id].name;
    return carom_near_name(m, id, text[turn = (turn + 1) % TURNS], ROOM);
}

int carom_model_contact(const carom_model *m, const char *name) {
    for (int i = 0; i < m->nc; ++i)
        if (strcmp(m->links[m->ne + i].name, name) == 0) return i;
    return m->near ? carom_near_find(m, name) : CAROM_NO_CONTACT;
}

bool carom_model_contact_is(const carom_model *m, int found, int contact) {
    return found == contact || (found < CAROM_NO_CONTACT && contact >= m->nc && carom_near_made_by(m, CAROM_NO_CONTACT - 1 - found, contact - m->nc));
}

int carom_model_part(const carom_model *m, int id) {
    const constraint *c = &m->links[id];
    return c->part && m->joints[c->joint].nrows > 1 ? c->part : 0;
}

const char *carom_model_redundant(const carom_model *m) { return m->redundant; }

const char *carom_model_output(const carom_model *m, int i) { return m->output[i]; }

carom_model_run carom_model_simulation(const carom_model *m) {
    return (carom_model_run){
        .scheme = m->scheme, .options = m->options, .step = m->step, .end = m->end, .scheme_place = m->scheme_place,
        .option_places = m->option_places};
}

int carom_model_elements(const carom_model *m) { return m->nelements; }

const char *carom_model_element(const carom_model *m, int i, const char **kind) {
    if (kind) *kind = m->elements[i].kind;
    return m->elements[i].name;
}

void carom_model_stored(const carom_model *m, void *work, double t, const double *q, const double *v, double *energy) {
    double *x = carom_model_scratch(m, work);
    if (m->nelements == 0) return;
    carom_model_eval(m, work, GROUP_ELEMENTS, t, q, v, x);
    carom_copy(energy, x + m->nelements, m->nelements);
}

void carom_model_outputs(const carom_model *m, void *work, double t, const double *q, const double *v, double *out) {
    if (m->nout) carom_model_eval(m, work, GROUP_OUTPUTS, t, q, v, out);
}

bool carom_model_turned(const carom_model *m) {
    for (int i = 0; i < m->njoints; ++i)
        if (m->joints[i].turned) return true;
    return false;
}

void carom_model_reactions(const carom_model *m, void *work, double t, const double *q, const int *dir, int n, const double *x, double *y) {
    const double *frame = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_FRAMES, t, q, m->v0, carom_model_scratch(m, work));
    carom_copy(y, x, n);
    for (int i = 0; i < m->njoints; ++i, frame += 9) {
        const joint *j = &m->joints[i];
        for (int k = 0; k < j->turned; ++k) {
            double *to = &y[dir[j->first + k]];
            *to = 0;
            for (int l = 0; l < j->turned; ++l) *to += frame[3 * k + l] * x[dir[j->first + l]];
        }
    }
}

void carom_model_exact(const carom_model *m, void *work, double t, double *q, double *v) {
    double *x = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_EXACT, t, m->q0, m->v0, x);
    carom_copy(q, x, m->nq);
    carom_copy(v, x + m->nq, m->nv);
}
