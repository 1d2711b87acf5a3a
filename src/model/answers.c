// answers.c: what a model answers to records, messages and programs: names, counts, outputs.
#include "model/answers.h"
#include "base/number.h"
#include "model/pairs.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The first table without a value where it was asked last.
bool carom_tables_explain(const void *model, void *work, char *text, size_t size) {
    const carom_model *m = model;
    const double *p = carom_tape_point(m->tape, work);
    double *x = carom_model_scratch(m, work);
    carom_tape_eval(m->tape, work, GROUP_ASKED, p[0], p + 1, p + 1 + m->visible.nq, x);
    for (int i = 0; i < m->nasked; ++i) {
        const double *numbers = carom_graph_curve_numbers(m->graph, m->asked[i].table), first = numbers[4],
                     last = numbers[3 + (int)numbers[0]];
        if (isfinite(numbers[1]) || (x[i] >= first && x[i] <= last)) continue;
        const bool below = x[i] < first;
        carom_format(text, size, "table '%.60s' evaluated at %.17g, %s its %s point %.9g (`outside: error`)",
                     m->whole->tables[m->asked[i].table].name.text, x[i], below ? "below" : "beyond",
                     below ? "first" : "last", below ? first : last);
        return true;
    }
    return false;
}

void *carom_model_work(const carom_model *m, carom_error *err) {
    const size_t size = (m->sys.work_size + 63) & ~(size_t)63;
    void *work = aligned_alloc(64, size);
    if (!work) return carom_model_no_memory(m, err), NULL;
    memset(work, 0, size);
    m->sys.work_init(m, work);
    return work;
}

int carom_model_tapes(const carom_model *m, carom_tape **list, int room) {
    if (!m || (!list && room > 0)) return 0;
    int n = 0;
    carom_tape *const own[] = {m->tape, m->check_tape};
    for (int i = 0; i < 2; ++i, ++n)
        if (n < room) list[n] = own[i];
    for (int i = 0; i < m->npairs; ++i)
        if (!m->pairs[i].shares && n++ < room) list[n - 1] = m->pairs[i].own->tape;
    for (int i = 0; i < m->nkinds; ++i)
        if (!m->kinds[i].patch && n++ < room) list[n - 1] = m->kinds[i].two->pairs->own->tape;
    return n;
}

void carom_model_adopt(carom_model *m, const carom_model *other) {
    if (!m || !other) return;
    const int n = carom_model_tapes(m, NULL, 0);
    if (n != carom_model_tapes(other, NULL, 0)) return;
    carom_tape **mine = calloc(2 * (size_t)n + 1, sizeof *mine), **theirs = mine + n;
    if (!mine) return; // then they are interpreted
    carom_model_tapes(m, mine, n);
    carom_model_tapes(other, theirs, n);
    for (int i = 0; i < n; ++i) carom_tape_attach(mine[i], carom_tape_native(theirs[i]));
    free(mine);
}

long carom_model_motion_instructions(const carom_model *m) {
    return m ? carom_tape_instructions(m->tape, GROUP_MOTION_GAPS) : 0;
}

void carom_model_own(carom_model *m, void *thing, void (*release)(void *thing)) {
    if (!m) return;
    if (m->release) m->release(m->owned);
    m->owned = thing;
    m->release = release;
}

const carom_system *carom_model_system(const carom_model *m) { return &m->sys; }

const char *carom_model_name(const carom_model *m) { return m ? m->name : NULL; }

const double *carom_model_q0(const carom_model *m) { return m ? m->q0 : NULL; }

const double *carom_model_v0(const carom_model *m) { return m ? m->v0 : NULL; }

carom_model_sizes carom_model_count(const carom_model *m) {
    if (!m) return (carom_model_sizes){0};
    return (carom_model_sizes){.parameters = m->np_own,
                               .inputs = m->signal.nset,
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

// -- names of free bodies' columns: thirteen for each, and few are asked for where there are many bodies --------------

const char *const carom_body_columns[2][14] = {
    {"vx", "vy", "wz", "x", "y", "angle"}, {"vx", "vy", "vz", "wx", "wy", "wz", "x", "y", "z", "qw", "qx", "qy", "qz"}};

static char *write_free_names(const carom_model *m, size_t stride) {
    const size_t nq = (size_t)(m->nq - m->visible.nq_own), nv = (size_t)(m->nv - m->visible.nv_own);
    char *text = malloc((nq + nv) * stride), *position = text, *velocity = text + nq * stride;
    for (int k = 0; text && k < m->nfree; ++k) {
        const body *b = &m->bodies[m->free_body[k]];
        const int velocities = b->space == SPATIAL ? 6 : 3;
        const char *const *part = carom_body_columns[b->space == SPATIAL];
        for (int i = 0; part[i]; ++i) {
            char **to = i < velocities ? &velocity : &position;
            snprintf(*to, stride, "%.60s.%s", b->name, part[i]);
            *to += stride;
        }
    }
    return text;
}

// They stay for as long as the model; threads that ask first at one time write equal ones.
static const char *free_name(const carom_model *m, int i, bool rate) {
    struct free_names *f = m->free_names;
    char *text = atomic_load(&f->text);
    if (!text) {
        char *mine = write_free_names(m, f->stride);
        if (!mine) return "?"; // no memory
        if (atomic_compare_exchange_strong(&f->text, &text, mine))
            text = mine;
        else
            free(mine);
    }
    const int number = rate ? m->nq - m->visible.nq_own + i - m->visible.nv_own : i - m->visible.nq_own;
    return text + f->stride * (size_t)number;
}

const char *carom_model_coordinate(const carom_model *m, int i) {
    if (!m) return NULL;
    if (i < m->visible.nq_own) return m->names.at[m->coordinate_name[i]].text;
    return m->nfree ? free_name(m, i, false) : unknown_name(m, i - m->visible.nq_own, false);
}

const char *carom_model_velocity(const carom_model *m, int i) {
    if (!m) return NULL;
    if (i < m->visible.nv_own) return m->velocity[i];
    return m->nfree ? free_name(m, i, true) : unknown_name(m, i - m->visible.nv_own, true);
}

// The coordinates of contacts that are friction alone stay 0.
bool carom_model_presses(const carom_model *m, int i) {
    if (!m) return false;
    const int first = m->first_pressed;
    return i >= first && i < first + m->npressed;
}

bool carom_model_state(const carom_model *m, int i) {
    return m && i >= m->state.first && i < m->state.first + m->state.n;
}

void carom_model_at_rest(const carom_model *m, const double *q, double *v) {
    for (int i = 0; m && q && v && i < m->nv; ++i) v[i] = carom_model_state(m, i) ? q[i] : 0;
}

bool carom_model_hidden(const carom_model *m, int i) { return carom_model_presses(m, i) || carom_model_state(m, i); }

const char *carom_model_settled(const carom_model *m) {
    if (!m) return NULL;
    return m->settled[0] ? m->settled : NULL;
}

double carom_model_snapshots(const carom_model *m) { return m ? m->snapshots : NAN; }

bool carom_model_lists(const carom_model *m) { return m && m->near; }

static bool same_law(const carom_contact *a, const carom_contact *b) {
    return a->restitution == b->restitution && a->friction == b->friction && a->tangents == b->tangents &&
           a->tangential_restitution == b->tangential_restitution && a->varies == b->varies &&
           a->friction_varies == b->friction_varies;
}

const char *carom_model_list_entry(const carom_model *m, int i, const carom_contact **law, bool *alike) {
    const struct near_pairs *x = m->near;
    *law = NULL, *alike = true;
    if (!x || i >= x->nrules) return NULL;
    for (int k = 0; k < x->npairs; ++k) {
        if (x->pairs[k].entry_number != i || x->pairs[k].soft) continue;
        if (!*law) *law = &x->law[k];
        else *alike = *alike && same_law(*law, &x->law[k]);
    }
    return x->rule[i].entry->name.text;
}

const char *carom_model_columns(const carom_model *m, int i) {
    const carom_datum *list = m && m->mech->record ? carom_given(&m->mech->record->columns) : NULL;
    if (!list || i < 0) return NULL;
    const carom_datum *one = carom_ones(list) + i;
    return one < carom_ones_end(list) ? one->text : NULL;
}

// Entries of pairs: those of pairs that are always there, then the rules of those that come and go.
static int written_entries(const carom_model *m) { return m->npairs ? m->pairs[m->npairs - 1].entry_number + 1 : 0; }

int carom_model_entries(const carom_model *m) {
    return m ? written_entries(m) + (m->near ? m->near->nrules : 0) : 0;
}

// The entry of this number that makes rigid contacts.
static const char *entry_among(const pair *list, int n, int number) {
    for (int i = 0; i < n; ++i) {
        const carom_mech_contact *e = list[i].entry, *of = e->contact ? e->contact : e;
        if (list[i].entry_number == number && list[i].count > 0 && !carom_given(&of->stiffness)) return e->name.text;
    }
    return NULL;
}

const char *carom_model_entry_name(const carom_model *m, int entry) {
    if (!m || entry < 0 || entry >= carom_model_entries(m)) return NULL;
    const int written = written_entries(m);
    return entry < written ? entry_among(m->pairs, m->npairs, entry)
                           : entry_among(m->near->pairs, m->near->npairs, entry - written);
}

int carom_model_entry_of(const carom_model *m, const void *work, int id) {
    if (!m) return -1;
    if (id >= m->ne + m->nc) {
        const pair *p = m->near && work ? carom_near_pair(m, work, id) : NULL;
        return p ? written_entries(m) + p->entry_number : -1;
    }
    for (int low = 0, high = m->npairs; low < high;) { // pairs stand in the order of their contacts
        const int k = low + (high - low) / 2;
        const pair *p = &m->pairs[k];
        if (id < p->first) high = k;
        else if (id >= p->first + p->count) low = k + 1;
        else return p->entry_number;
    }
    return -1;
}

int carom_model_entry_rule(const carom_model *m, int entry) { return entry - written_entries(m); }

// The pair that makes contact id, one that is always there; NULL: none.
static const pair *pair_at(const carom_model *m, int id) {
    return m->npairs == 0 || id < m->pairs[0].first ? NULL : &m->pairs[m->pair_of[id - m->pairs[0].first]];
}

bool carom_model_shown(const carom_model *m, int id) {
    if (!m || id < m->ne || id >= m->ne + m->nc) return false;
    const pair *p = pair_at(m, id);
    return !p || p->named;
}

bool carom_model_recorded(const carom_model *m, int i) {
    if (!m) return false;
    if (carom_model_hidden(m, i) || (m->unrecorded_q && m->unrecorded_q[i])) return false;
    i -= carom_model_named_q(m);
    return i < 0 || member_of(m, &i)->unknowns;
}

bool carom_model_velocity_recorded(const carom_model *m, int i) {
    if (!m) return false;
    if (carom_model_presses(m, i) || (m->unrecorded_v && m->unrecorded_v[i])) return false;
    i -= carom_model_named_v(m);
    return i < 0 || member_of(m, &i)->unknowns;
}

carom_model_member carom_model_member_at(const carom_model *m, int i) {
    if (!m) return (carom_model_member){0};
    const member *b = &m->members[i];
    return (carom_model_member){.name = b->name, .flex = b->flex, .q = b->q, .v = b->v, .fields = b->fields};
}

const char *carom_model_freedom(const carom_model *m, int i) {
    if (i >= carom_model_named_v(m)) return unknown_name(m, i - m->visible.nv_own, false);
    if (carom_model_state(m, i)) return m->velocity[i];
    for (int k = i; k < carom_model_named_q(m); ++k) // no body has more velocities than positions
        if (m->velocity_of[k] == i) return carom_model_coordinate(m, k);
    return carom_model_velocity(m, i);
}

const char *carom_model_parameter(const carom_model *m, int i, double *value) {
    if (!m) return NULL;
    if (value) *value = m->parameter[i];
    return m->names.at[m->parameter_name[i]].text;
}

const char *carom_model_constraint(const carom_model *m, long long id) {
    if (!m) return NULL;
    enum { TURNS = 8 }; // names of eight calls stay valid
    static _Thread_local char text[TURNS][CAROM_CONTACT_NAME]; // those of two shapes are made when they are asked for
    static _Thread_local int turn;
    const bool listed = id >= m->ne + m->nc && m->near;
    const pair *p = listed ? NULL : pair_at(m, (int)id);
    if (!listed && (!p || p->named)) return m->links[id].name;
    char *to = text[turn = (turn + 1) % TURNS];
    return listed ? carom_near_name(m, id, to, CAROM_CONTACT_NAME)
                  : carom_pair_name(p->A, p->B, to, CAROM_CONTACT_NAME);
}

const char *carom_model_numbered(const carom_model *m, int id) { return m->links[id].name; }

const char *carom_model_compliant(const carom_model *m, long long which) {
    if (!m) return NULL;
    return which < m->ncompliant ? m->compliant[which].name
                                 : carom_model_constraint(m, m->ne + m->nc + which - m->ncompliant);
}

// Is contact `name` one of several of an entry, OWNER.1, OWNER.2, ... or, in a family, OWNER.0.1, ...?  The numbers
// behind the owner; 0: no.
static int numbers_behind(const char *name, const char *owner, size_t n) {
    if (strncmp(name, owner, n) != 0 || name[n] != '.' || name[n + strspn(name + n, ".0123456789")] != 0) return 0;
    int numbers = 0;
    for (const char *c = name + n; *c; ++c) numbers += *c == '.';
    return numbers;
}

// What is found: a contact; an entry of contacts that come and go; else the first contact of an entry, and how many
// numbers it has behind the entry's name, or (0) the first contact of two shapes.
enum { MOST_NUMBERS = 8 };
static int rules_of(const carom_model *m) { return m->near ? m->near->nrules : 0; }

// Is contact i, one that is always there, between these two shapes: A-B or B-A?
static bool is_between(const carom_model *m, int i, const char *name) {
    const pair *p = pair_at(m, m->ne + i);
    if (!p) return false;
    const size_t a = strlen(p->A->name), b = strlen(p->B->name);
    if (strlen(name) != a + 1 + b) return false;
    return (memcmp(name, p->A->name, a) == 0 && name[a] == '-' && strcmp(name + a + 1, p->B->name) == 0) ||
           (memcmp(name, p->B->name, b) == 0 && name[b] == '-' && strcmp(name + b + 1, p->A->name) == 0);
}

long long carom_model_contact(const carom_model *m, const char *name) {
    if (!m || !name) return 0;
    for (int i = 0; i < m->nc; ++i)
        if (strcmp(m->links[m->ne + i].name, name) == 0) return i;
    const long long near = m->near ? carom_near_find(m, name) : CAROM_NO_CONTACT;
    for (int i = 0; near == CAROM_NO_CONTACT && i < m->nc; ++i) {
        if (is_between(m, i, name)) return CAROM_NO_CONTACT - 1 - rules_of(m) - MOST_NUMBERS * i;
        const int numbers = numbers_behind(m->links[m->ne + i].name, name, strlen(name));
        if (numbers > 0 && numbers < MOST_NUMBERS)
            return CAROM_NO_CONTACT - 1 - rules_of(m) - MOST_NUMBERS * i - numbers;
    }
    return near;
}

bool carom_model_contact_is(const carom_model *m, long long found, long long contact) {
    if (found >= m->nc && contact >= m->nc && m->near) return carom_near_is(m, found - m->nc, contact - m->nc);
    if (found >= CAROM_NO_CONTACT || contact < 0) return found == contact;
    const int of = (int)(CAROM_NO_CONTACT - 1 - found), first = (of - rules_of(m)) / MOST_NUMBERS;
    if (of < rules_of(m)) return contact >= m->nc && carom_near_made_by(m, of, contact - m->nc);
    if (contact >= m->nc) return false;
    if ((of - rules_of(m)) % MOST_NUMBERS == 0) {
        char text[CAROM_CONTACT_NAME];
        const pair *p = pair_at(m, m->ne + first);
        return is_between(m, (int)contact, carom_pair_name(p->A, p->B, text, sizeof text));
    }
    const char *owner = m->links[m->ne + first].name;
    size_t n = strlen(owner);
    for (int k = (of - rules_of(m)) % MOST_NUMBERS; k > 0; --k)
        while (owner[--n] != '.') {}
    return numbers_behind(m->links[m->ne + contact].name, owner, n) > 0;
}

int carom_model_parts(const carom_model *m, int id) {
    if (!m) return 0;
    return id >= m->ne && id < m->ne + m->nc ? m->links[id].parts : 0;
}

int carom_model_part(const carom_model *m, int id) {
    if (!m) return 0;
    const constraint *c = &m->links[id];
    return c->part && m->joints[c->joint].nrows > 1 ? c->part : 0;
}

const char *carom_model_redundant(const carom_model *m) { return m ? m->redundant : NULL; }

const char *carom_model_output(const carom_model *m, int i) { return m ? m->output[i] : NULL; }

carom_model_run carom_model_simulation(const carom_model *m) {
    if (!m) return (carom_model_run){0};
    return (carom_model_run){
        .scheme = m->scheme, .options = m->options, .step = m->step, .end = m->end, .scheme_place = m->scheme_place,
        .option_places = m->option_places};
}

int carom_model_elements(const carom_model *m) { return m ? m->nelements : 0; }

const char *carom_model_element(const carom_model *m, int i, const char **kind) {
    if (!m) return NULL;
    if (kind) *kind = m->elements[i].kind;
    return m->elements[i].name;
}

void carom_model_stored(const carom_model *m, void *work, double t, const double *q, const double *v, double *energy) {
    if (!m) return;
    double *x = carom_model_scratch(m, work);
    if (m->nelements == 0) return;
    carom_model_eval(m, work, GROUP_ELEMENTS, t, q, v, x);
    carom_copy(energy, x + m->nelements, m->nelements);
}

void carom_model_outputs(const carom_model *m, void *work, double t, const double *q, const double *v, double *out) {
    if (!m || !work || !q || !out) return;
    if (m->nout) carom_model_eval(m, work, GROUP_OUTPUTS, t, q, v, out);
    carom_soft_outputs(m, work, t, q, v, out);
}

bool carom_model_turned(const carom_model *m) {
    if (!m) return false;
    for (int i = 0; i < m->njoints; ++i)
        if (m->joints[i].turned) return true;
    return false;
}

void carom_model_reactions(const carom_model *m, void *work, double t, const double *q, const int *dir, int n,
                           const double *x, double *y) {
    if (!m || !work || !x || !y) return;
    const double *v = m->v0;
    if (m->nmember) carom_model_look(m, work, &q, &v, false);
    // where they stand: most joints are not turned
    const carom_values frames = carom_tape_values(m->tape, work, GROUP_FRAMES, t, q, v);
    const int *frame = frames.place;
    carom_copy(y, x, n);
    for (int i = 0; i < m->njoints; ++i, frame += 9) {
        const joint *j = &m->joints[i];
        for (int k = 0; k < j->turned; ++k) {
            double sum = 0;
            for (int l = 0; l < j->turned; ++l) sum += frames.slot[frame[3 * k + l]] * x[dir[j->first + l]];
            y[dir[j->first + k]] = sum;
        }
    }
}

void carom_model_exact(const carom_model *m, void *work, double t, double *q, double *v) {
    if (!m || !work || !q || !v) return;
    double *x = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_EXACT, t, m->q0, m->v0, x);
    carom_copy(q, x, m->nq);
    carom_copy(v, x + m->nq, m->nv);
}

size_t carom_model_longest_contact(const carom_model *m) {
    if (!m) return 0;
    size_t most = 0;
    for (int c = 0; c < m->nc; ++c) {
        const size_t length = strlen(m->links[m->ne + c].name);
        if (length > most) most = length;
    }
    for (int i = 0; (m->near || m->npairs) && i < m->nshapes; ++i) {
        const size_t length = 2 * strlen(m->shapes[i].name) + 1; // NAME-NAME
        if (length > most) most = length;
    }
    return most;
}

double carom_model_contact_size(const carom_model *m, long long id) {
    if (!m) return NAN;
    if (m->near && id >= m->ne + m->nc) return carom_near_size(m, id);
    const pair *p = pair_at(m, (int)id);
    if (!p) return 0;
    const double r[2] = {carom_shape_extent(p->A), carom_shape_extent(p->B)};
    const double a = r[0] > 0 ? r[0] : INFINITY, b = r[1] > 0 ? r[1] : INFINITY, size = fmin(a, b);
    return isfinite(size) ? size : 0;
}

// Of a shape on a body that is moved or carried, or of which there is no end on a body that turns, it is not known.  A
// ball that turns about its middle is where it was.
static double shape_travel(const carom_model *m, const shape *s, const double *q_0, const double *q_1) {
    const bool round = s->kind == SHAPE_ROUND || s->kind == SHAPE_POINT;
    if (s->body == &m->bodies[0]) return 0;
    if (s->body->v < 0 || s->member || s->next || !isfinite(s->bound_radius)) return HUGE_VAL;
    return carom_body_travel(s->body, q_0, q_1, sqrt(carom_dot(s->at, s->at, 3)) + (round ? 0 : s->bound_radius));
}

double carom_model_travel(const void *model, int id, const double *q_0, const double *q_1) {
    const carom_model *m = model;
    const pair *p = pair_at(m, id);
    if (!p) return HUGE_VAL;
    return shape_travel(m, p->A, q_0, q_1) + shape_travel(m, p->B, q_0, q_1);
}

bool carom_model_touch(const carom_model *m, void *work, double t, const double *q, int id, carom_touch *x) {
    if (!m) return false;
    // contacts of a pair: between two polygons, each corner on the other
    enum { MOST = PAIR_PLACE * (2 * MOST_CORNERS + 3) };
    const bool listed = id >= m->ne + m->nc;
    double all[MOST];
    if (listed && !m->near) return false;
    const pair *p = listed ? carom_near_pair(m, work, id) : pair_at(m, id);
    if (!p || PAIR_PLACE * p->count > MOST) return false;
    carom_pair_places(m, work, p, t, q, all);
    const double *at = all + PAIR_PLACE * (id - p->first);
    memcpy(x->point, at, sizeof x->point);
    memcpy(x->normal, at + 3, sizeof x->normal);
    memcpy(x->tangent, at + 6, sizeof x->tangent);
    return true;
}
