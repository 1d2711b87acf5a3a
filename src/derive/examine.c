// examine.c: `carom check`: what can be known about a model without running it.
#include "derive/examine.h"
#include "base/missing.h"
#include "base/number.h"
#include "base/option.h"
#include "derive/bodies/body.h"
#include "flex/member.h"
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model/contours.h"
#include "scheme/registry.h"
#include "system/difference.h"
#include "system/system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double APPROACHES = 1e-12; // of the speeds: rounding of a relative velocity
static const double FLAT = 1e-6;       // of the moments of inertia: figures of a thin body in a table are rounded

// The system without the slots of contacts that come and go: none of them is examined.
static carom_system without_list(const carom_system *s) {
    carom_system own = *s;
    own.nc -= own.listed;
    own.listed = 0;
    return own;
}

// The same with one slot, and nothing else.
static carom_system one_slot(const carom_system *s) {
    carom_system own = *s;
    own.ne = own.nrates = own.listed = 0;
    own.nc = s->listed > 0;
    own.contacts = s->contacts + s->nc - s->listed;
    return own;
}

static void allocate(exam *x, carom_arena *mem) {
    const carom_system own = without_list(&x->m->sys), slot = one_slot(&x->m->sys), *s = &own;
    const int n = s->nv, links = s->ne + s->nc;
    x->work = carom_allocate_bytes(mem, s->work_size);
    x->L = carom_allocate_local(mem, s);
    x->slot = carom_allocate_local(mem, &slot);
    const int longest = x->L.W.n > n ? x->L.W.n : n;
    CAROM_ALLOCATE(mem, (size_t)s->nq, &x->q, &x->q_0, &x->q_1);
    CAROM_ALLOCATE(mem, (size_t)n, &x->v, &x->v_0, &x->dq);
    x->g = carom_allocate(mem, 2 * (size_t)links + 1);
    CAROM_ALLOCATE(mem, (size_t)longest, &x->a, &x->b);
    x->difference = carom_allocate_difference(mem, s);
    if (n > LARGE) x->F = carom_allocate_factor(mem, s->mass_shape, true);
    x->A = carom_allocate_matrix(mem, s->tangent_shape);
    x->B = carom_allocate_matrix(mem, s->tangent_shape);
    x->C = carom_allocate_matrix(mem, s->tangent_shape);
    x->D = carom_allocate_matrix(mem, s->tangent_shape);
    x->P = carom_allocate_columns(mem, n, x->L.W.n, s->column_stride);
    x->Q = carom_allocate_columns(mem, n, x->L.W.n, s->column_stride);
    x->W = carom_allocate(mem, (size_t)n);
    x->group = carom_allocate_ints(mem, (size_t)n);
    x->free = carom_allocate_bytes(mem, (size_t)n + 1);
}

static void all_constraints(exam *x) {
    carom_local *L = &x->L;
    const carom_system *s = &x->m->sys;
    L->nb = s->ne + s->nc - s->listed;
    L->at[0] = 0;
    for (int id = 0; id < L->nb; ++id) {
        L->id[id] = id;
        L->at[id + 1] = L->at[id] + carom_system_directions(s, id);
    }
}

// -- constraints -------------------------------------------------------------------------------------------

// Constraints that follow from others at the start, named once per joint.
static void redundant(exam *x) {
    const carom_model *m = x->m;
    for (int id = 0; id < m->ne; ++id) {
        const constraint *c = &m->links[id];
        int count = c->redundant;
        for (; c->part && id + 1 < m->ne && m->links[id + 1].part && m->links[id + 1].joint == c->joint; ++id)
            count += m->links[id + 1].redundant;
        if (count == 0) continue;
        if (c->part)
            carom_exam_say(x, CAROM_WARNING,
                           "joint '%s': %d of its constraints %s redundant initially; reactions are not unique, carom "
                           "reports those of "
                           "minimum norm",
                           c->name, count, count == 1 ? "is" : "are");
        else
            carom_exam_say(x, CAROM_WARNING,
                "constraint '%s' is redundant initially, or its gradient vanishes there; forces of "
                "redundant constraints are not unique", c->name);
    }
}

static void freedom(exam *x) {
    const carom_model *m = x->m;
    const int n = m->nv - m->npressed - m->state.n, rank = m->ne - m->nredundant;
    redundant(x);
    carom_exam_say(x, CAROM_FINE, "%d degree%s of freedom: %d coordinate%s, %d independent of %d constraint%s",
                   n - rank, n - rank == 1 ? "" : "s", n, n == 1 ? "" : "s", rank, m->ne, m->ne == 1 ? "" : "s");
    if (m->moved > 0)
        carom_exam_say(x, CAROM_FINE,
                       "positions were moved onto joints and constraints: the largest violation was %.3g", m->moved);
    if (m->completed > 0)
        carom_exam_say(x, CAROM_FINE,
                       "velocities that are not given were completed from the joints: the largest change is %.6g",
                       m->completed);
}

enum { NAMED = 10 }; // impacts that are named, of many

// Largest position, as carom_local_rounding_within() has it.
static double size_of_start(const carom_model *m) {
    double size = 0;
    for (int i = 0; i < m->nq; ++i)
        size = fmax(size, fabs(m->q0[i]) * (m->sys.lever ? m->sys.lever[m->nv + i] : 1));
    return size;
}

// A closed contact that approaches: an impact before anything else.  k: its first direction in L; most: the largest
// position; *n of them so far.
static void initial_impact(exam *x, const carom_local *L, int k, double most, double gap, const char *name, int *n) {
    const carom_model *m = x->m;
    const double u = carom_column_dot(&L->W, k, m->v0) + L->w[k],
                 size = carom_local_magnitude(L, k, m->v0) + fabs(L->w[k]);
    if (gap > carom_local_rounding_within(L, k, m->q0, m->nq, most) || !(u < -APPROACHES * size)) return;
    if (++*n <= NAMED)
        carom_exam_say(x, CAROM_FINE, "the run starts with an impact: '%s' is closed and approaches with %.6g", name,
                       -u);
}

static void more_impacts(exam *x, int n) {
    if (n > NAMED)
        carom_exam_say(x, CAROM_FINE, "and %d more contact%s start%s with an impact", n - NAMED,
                       n - NAMED == 1 ? "" : "s", n - NAMED == 1 ? "s" : "");
}

static void initial_impacts(exam *x) {
    const carom_model *m = x->m;
    const double most = size_of_start(m);
    int n = 0;
    for (int id = m->ne; id < m->ne + m->nc; ++id)
        initial_impact(x, &x->L, x->L.at[id], most, x->g[id], carom_model_constraint(m, id), &n);
    more_impacts(x, n);
}

// The same of a list.
static void listed_impacts(exam *x, const near_look *look) {
    const carom_model *m = x->m;
    const int first = m->ne + m->nc;
    carom_local *L = &x->slot;
    const double most = size_of_start(m);
    char name[CAROM_CONTACT_NAME];
    int n = 0;
    L->nb = 1, L->at[0] = 0;
    for (int i = 0; i < look->list.used; ++i) {
        if (!look->list.key[i] || !(look->gap[first + i] < HUGE_VAL)) continue;
        L->id[0] = first + i, L->at[1] = 1;
        carom_zero(L->W.a, L->W.stride);
        if (m->sys.directions(m, x->work, 0, m->q0, L) != CAROM_OK) continue;
        initial_impact(x, L, 0, most, look->gap[first + i], carom_near_slot_name(m, look, i, name, sizeof name), &n);
    }
    more_impacts(x, n);
}

static int nearest(const exam *x, const near_look *look) {
    const double *gap = look->gap + x->m->ne + x->m->nc;
    int least = -1;
    for (int i = 0; i < look->list.used; ++i)
        if (look->list.key[i] && gap[i] < HUGE_VAL && (least < 0 || gap[i] < gap[least]) &&
            carom_contours_show(x->m, x->work, x->m->ne + x->m->nc + i, gap[i], 0, x->m->q0))
            least = i;
    return least;
}

// Contacts of a list at the start, rigid ones: all with a gap of at most *reach, which grows until one is found, to ten
// times the mean size of shapes.
static carom_status look_for_nearest(exam *x, near_look *look, double *reach, int *least) {
    const carom_model *m = x->m;
    const struct near_pairs *n = m->near;
    carom_error none = {0};
    double sum = 0, smallest = INFINITY;
    int finite = 0;
    for (int i = 0; i < n->nshapes; ++i) {
        const double size = n->shape[i]->bound_radius;
        if (n->group[i] < 0 || !(size > 0 && size < HUGE_VAL)) continue;
        sum += size, smallest = fmin(smallest, size), ++finite;
    }
    const double most = finite ? 10 * sum / finite : 10;
    *reach = 0;
    while (true) {
        CAROM_TRY(carom_near_open(m, x->work, m->q0, *reach, look, &none));
        *least = nearest(x, look);
        if (*reach >= most || (*least >= 0 && look->gap[m->ne + m->nc + *least] <= *reach)) return CAROM_OK;
        carom_near_close(m, x->work, look);
        // chosen: at first a hundredth of the smallest shape, then twice as far
        *reach = *reach > 0 ? fmin(2 * *reach, most) : fmin(0.01 * smallest, most);
    }
}

static void start_of_list(exam *x) {
    const carom_model *m = x->m;
    const int first = m->ne + m->nc;
    near_look look;
    char name[CAROM_CONTACT_NAME];
    int closed = 0, least = -1;
    double reach;
    if (look_for_nearest(x, &look, &reach, &least) != CAROM_OK) return;
    for (int i = 0; i < look.list.used; ++i) closed += look.list.key[i] && look.gap[first + i] <= 0;
    const char *some = closed == 1 ? "contact" : "contacts";
    if (least >= 0 && look.gap[first + least] <= reach)
        carom_exam_say(x, CAROM_FINE, "%d %s of the dynamic contact list initially closed; smallest gap %.6g at '%s'",
                       closed, some, look.gap[first + least],
                       carom_near_slot_name(m, &look, least, name, sizeof name));
    else
        carom_exam_say(x, CAROM_FINE, "%d %s of the dynamic contact list initially closed; all gaps are above %.2g",
                       closed, some, reach);
    listed_impacts(x, &look);
    carom_near_close(m, x->work, &look);
}

static void start(exam *x) {
    const carom_model *m = x->m;
    double drift = 0, least = INFINITY;
    int first = -1, closed = 0;
    for (int id = 0; id < m->ne; ++id) drift = fmax(drift, fabs(x->g[id]));
    if (m->ne) carom_exam_say(x, CAROM_FINE, "constraints hold initially: largest violation %.2g", drift);
    for (int id = m->ne; id < m->ne + m->nc; ++id) {
        closed += x->g[id] <= 0;
        if (x->g[id] < least && carom_contours_show(m, x->work, id, x->g[id], 0, m->q0)) least = x->g[id], first = id;
    }
    if (first >= 0)
        carom_exam_say(x, CAROM_FINE, "%d of %d contacts initially closed; smallest gap %.6g at '%s'", closed, m->nc,
                       least, carom_model_constraint(m, first));
    initial_impacts(x);
    for (int id = 0; id < m->ne + m->nc; ++id)
        for (int k = x->L.at[id]; k < x->L.at[id + 1]; ++k) {
            carom_column_expand(x->a, &x->L.W, k);
            if (carom_norm_max(x->a, m->nv) > 0) continue;
            carom_exam_say(x, CAROM_WARNING,
                "the %s of '%s' does not depend on any coordinate initially; no force can act there",
                k == x->L.at[id] ? "gap" : "slip", m->links[id].name);
        }
}

// No distribution of mass has a principal moment of inertia above the sum of the other two: tr(J)/2 - J, the integral
// of r r' dm, has no negative eigenvalue, and so no negative principal minor.
static bool solid(const double *J) {
    const double half = 0.5 * (J[0] + J[4] + J[8]), tiny = FLAT * half;
    double S[9];
    for (int i = 0; i < 9; ++i) S[i] = (i % 4 == 0 ? half : 0) - J[i];
    for (int i = 0; i < 3; ++i) {
        const int k = (i + 1) % 3;
        if (S[4 * i] < -tiny || S[4 * i] * S[4 * k] - S[3 * i + k] * S[3 * k + i] < -tiny * half) return false;
    }
    const double det =
        S[0] * (S[4] * S[8] - S[5] * S[7]) - S[1] * (S[3] * S[8] - S[5] * S[6]) + S[2] * (S[3] * S[7] - S[4] * S[6]);
    return det >= -tiny * half * half;
}

static void inertias(exam *x) {
    for (int i = 1; i < x->m->nbodies; ++i) {
        const body *b = &x->m->bodies[i];
        if (b->space == SPATIAL && b->mass > 0 && !solid(b->J))
            carom_exam_say(x, CAROM_WARNING,
                           "inertia of %s is unphysical: one principal moment exceeds the sum of the other two",
                           carom_body_where(b).text);
    }
}

// Largest h omega of the scheme with the options of the model; 0: no limit, or none known.
static double limit(const carom_model *m, const carom_scheme *s) {
    double opt[32], value;
    if (!s || !s->stable_of || carom_option_count(s->options) > 32) return s ? s->stable : 0;
    carom_option_defaults(s->options, opt);
    for (const char *const *text = (const char *const *)m->options; text && *text; ++text) {
        const size_t length = strcspn(*text, "=");
        const int i = carom_option_find(s->options, *text, length);
        if (i >= 0 &&
            carom_option_read(&s->options[i], *text + length + ((*text)[length] == '='), &value, NULL) == CAROM_OK)
            opt[i] = value;
    }
    return s->stable_of(opt);
}

// Frequencies, and the step that explicit schemes allow.
static void members(exam *x) {
    const carom_model *m = x->m;
    const carom_scheme *scheme = m->scheme ? carom_scheme_find(m->scheme) : NULL; // auto is none of the core
    const double stable = limit(m, scheme);
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        double omega[3] = {0};
        const int n = b->count <= 100000 ? carom_member_frequencies(b->flex, 3, omega) : 0;
        char text[200] = "";
        for (int i = 0; i < n; ++i)
            carom_format(text + strlen(text), sizeof text - strlen(text), "%s%.6g", i ? ", " : "; lowest frequencies ",
                         omega[i] / 6.283185307179586);
        char highest[80] = "", parts[40] = "";
        const double fastest = carom_member_fastest(b->flex) / 6.283185307179586;
        if (!isnan(fastest)) carom_format(highest, sizeof highest, "; highest at most %.4g Hz", fastest);
        if (b->kind != CAROM_MATRICES) snprintf(parts, sizeof parts, "%d elements, ", b->nodes - 1);
        carom_exam_say(x, CAROM_FINE, "flexible member '%s': %s%d unknowns%s%s%s", b->name, parts, b->count, text,
                       n > 0 ? " Hz" : "", highest);
        const double most = stable > 0 ? carom_member_step(b->flex, stable) : INFINITY;
        if (most > 0 && m->step > most)
            carom_exam_say(x, CAROM_WARNING,
                           "the step %g is too large for '%s' with %s, which is stable up to %.4g; use a smaller one "
                           "or an implicit scheme",
                           m->step, b->name, scheme->name, most);
    }
}

static void laws(exam *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->nc; ++i) {
        const carom_contact *c = &m->contacts[i];
        const char *name = m->links[m->ne + i].name;
        if (c->friction == 0 && c->tangential_restitution > 0)
            carom_exam_say(x, CAROM_WARNING, "tangential restitution of '%s' has no effect: its friction is 0", name);
        if (c->friction == 0 && m->links[m->ne + i].tangents)
            carom_exam_say(x, CAROM_FINE, "the slip of '%s' is not used: its friction is 0", name);
    }
    const carom_datum *sleep = carom_given(&m->mech->sleep);
    if (sleep && !m->near && !(sleep->kind == CAROM_TEXT && strcmp(sleep->text, "0") == 0))
        carom_exam_say(x, CAROM_WARNING,
                       "sleep has no effect: no contact between shapes of bodies is in a dynamic contact list");
}

static bool rubs(const pair *p) { return p->own->rub.slides || (p->soft && p->soft->friction > 0); }

// Does a contact of this shape have friction?
static bool shape_rubs(const carom_model *m, const shape *s) {
    const struct near_pairs *n = m->near;
    for (int i = 0; i < m->npairs; ++i)
        if ((m->pairs[i].A == s || m->pairs[i].B == s) && rubs(&m->pairs[i])) return true;
    int a = 0;
    while (n && a < n->nshapes && n->shape[a] != s) ++a;
    for (int rule = 0; n && a < n->nshapes && rule < n->nrules; ++rule)
        for (int b = 0; b < n->nshapes; ++b) {
            if (b == a || n->group[a] < 0 || n->group[b] < 0 || !carom_near_meet(n, rule, a, b)) continue;
            const int kinds[] = {*carom_near_kind_of(n, rule, n->group[a], n->group[b]),
                                 *carom_near_kind_of(n, rule, n->group[b], n->group[a])};
            for (int k = 0; k < 2; ++k)
                if (kinds[k] >= 0 && rubs(&n->pairs[kinds[k]])) return true;
        }
    return false;
}

// Only friction knows that a surface moves.
static void belts(exam *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->nshapes && m->nsoft == 0; ++i) // pairs that yield have left the list
        if (m->shapes[i].belt && !shape_rubs(m, &m->shapes[i]))
            carom_exam_say(x, CAROM_WARNING,
                           "the surface velocity of '%s' has no effect: its contacts have no friction",
                           m->shapes[i].name);
}

// Contacts of finite stiffness may overlap at the start, as where a body rests on them.
static void overlaps(exam *x) {
    const carom_model *m = x->m;
    long long which = -1;
    near_look look;
    carom_error ignored = {0};
    if (!m->sys.checks->compliant_overlap ||
        (m->near && carom_near_open(m, x->work, m->q0, 0, &look, &ignored) != CAROM_OK))
        return;
    const double overlap = m->sys.checks->compliant_overlap(m, x->work, 0, m->q0, &which);
    if (m->near) carom_near_close(m, x->work, &look);
    if (overlap > 0)
        carom_exam_say(x, CAROM_FINE, "initial overlap of contacts with stiffness: at most %.3g, at '%s'", overlap,
                       carom_model_compliant(m, which));
}

// A controller acts through its outputs.
static void idle_controllers(exam *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->signal.ncontrols; ++i) {
        const control *c = &m->signal.control[i];
        bool used = c->noutputs == 0; // its states are read elsewhere
        for (int k = 0; k < c->noutputs; ++k)
            used = used || m->names.at[m->parameter_name[m->np_own + c->output + k]].used;
        if (!used)
            carom_exam_say(x, CAROM_WARNING,
                           "no expression uses the outputs of controller '%s'; they are only recorded",
                           m->signal.sampler[i].name);
    }
}

static void unused(exam *x) {
    const names *t = &x->m->names;
    for (int i = 0; i < t->count; ++i)
        if (!t->at[i].used && (t->at[i].kind & (NAME_PARAMETER | NAME_LET | NAME_HELPER | NAME_TABLE) ||
                               (t->at[i].kind == NAME_INPUT && t->at[i].index < x->m->signal.nset)))
            carom_exam_say(x, CAROM_WARNING, "%s '%s'%s is not used anywhere",
                           t->at[i].kind == NAME_INPUT ? "an input" : carom_name_kind(t->at[i].kind), t->at[i].text,
                           carom_line_of(t->at[i].line).text);
    idle_controllers(x);
}

static void say_kept(void *user, const char *text) { carom_exam_say(user, CAROM_FINE, "%s", text); }

int carom_model_examine(const carom_model *m, void (*report)(void *user, carom_finding kind, const char *sentence),
                        void *user, carom_error *err) {
    if (!m || !report) return CAROM_MISSING(err), -1;
    carom_error own;
    if (!err) err = &own;
    exam x = {.m = m, .report = report, .user = user};
    const carom_system *s = &m->sys;
    carom_arena mem = {0};
    allocate(&x, &mem);
    enum { LINE = 64 }; // bytes: a line of the cache, and the widest vectors
    unsigned char *block = calloc(1, mem.used + LINE); // large models touch little of it
    if (!block) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory to examine the model");
        return 1;
    }
    mem = (carom_arena){.base = block + (LINE - (uintptr_t)block % LINE) % LINE, .size = mem.used};
    allocate(&x, &mem);
    s->work_init(m, x.work);
    carom_pairs_exact(m, x.work, true);
    all_constraints(&x);
    carom_exam_derivatives(&x);
    if (x.L.nb && s->gaps(m, x.work, 0, m->q0, x.g) == CAROM_OK &&
        s->directions(m, x.work, 0, m->q0, &x.L) == CAROM_OK) {
        start(&x);
    }
    if (m->near && !carom_near_forces(m->near)) start_of_list(&x);
    freedom(&x);
    members(&x);
    inertias(&x);
    carom_kept_describe(m, say_kept, &x);
    carom_outlines_describe(m, say_kept, &x);
    laws(&x);
    belts(&x);
    overlaps(&x);
    unused(&x);
    free(x.at);
    free(block);
    return x.faults;
}
