// structure.c: see carom/structure.h.
#include "base/grow.h"
#include "flex/member.h"
#include "linalg/places.h"
#include <carom/structure.h>
#include <math.h>
#include <stdlib.h>

/// A sum of unknowns: a row of W' and its constant.
typedef struct row {
    int first, n; // in index and weight
    double constant;
} row;

struct carom_structure {
    carom_structure_def def; // members are the caller's, the rest is without meaning
    const carom_member **member;
    int *first;              // nmembers + 1
    row *rows;               // constraints, then gap and slip of each contact
    int *index;
    double *weight;
    int entries;
    carom_contact *contacts;
    carom_pattern *mass_pattern, *tangent_pattern;
    carom_system sys;
};

// -- points ------------------------------------------------------------------------------------------------------

static carom_status check_point(const carom_structure *s, const carom_sum_term *p, carom_error *err) {
    if (p->member < 0 || p->member >= s->def.nmembers)
        return carom_fail(err, CAROM_BAD_INPUT, "a point is on member %d; there are %d, counted from 0", p->member,
                          s->def.nmembers);
    const carom_member *m = s->member[p->member];
    const int components = carom_member_components(carom_member_kind_of(m)),
              rows = carom_member_field_rows(m, CAROM_FIELD_DISPLACEMENT);
    const double low = carom_member_field_place(m, CAROM_FIELD_DISPLACEMENT, 0),
                 high = carom_member_field_place(m, CAROM_FIELD_DISPLACEMENT, rows - 1);
    static const double ROUNDED = 1e-9; // of the length: an end that was computed
    const double slack = ROUNDED * (high - low);
    if (!(p->s >= low - slack && p->s <= high + slack))
        return carom_fail(err, CAROM_BAD_INPUT, "a point is at s = %g; member %d reaches from %g to %g", p->s,
                          p->member, low, high);
    if (p->component < 0 || p->component >= (p->place ? 3 : components))
        return carom_fail(err, CAROM_BAD_INPUT, "a point has component %d; member %d has %d of them, counted from 0",
                          p->component, p->member, p->place ? 3 : components);
    if (p->place && carom_member_kind_of(m) == CAROM_MATRICES)
        return carom_fail(err, CAROM_BAD_INPUT, "member %d is made of matrices; its points have no place", p->member);
    if (!isfinite(p->factor)) return carom_fail(err, CAROM_BAD_INPUT, "a point has the factor %g", p->factor);
    return CAROM_OK;
}

static int terms_of(const carom_structure *s, const carom_sum_term *p, int *index, double *weight, double *constant) {
    const carom_member *m = s->member[p->member];
    const int n = p->place ? carom_member_position(m, p->s, p->component, index, weight, constant)
                           : carom_member_point(m, p->s, p->component, index, weight, constant);
    for (int k = 0; k < n; ++k) index[k] += s->first[p->member], weight[k] *= p->factor;
    *constant *= p->factor;
    return n;
}

// Unknowns that several points share are added up.
static carom_status make_row(carom_structure *s, const carom_sum *sum, row *r, const char *what, int i,
                             carom_error *err) {
    *r = (row){.first = s->entries, .constant = sum->constant};
    for (int k = 0; k < sum->n; ++k) {
        int index[CAROM_MEMBER_POINT];
        double weight[CAROM_MEMBER_POINT], constant;
        CAROM_TRY(check_point(s, &sum->point[k], err));
        const int n = terms_of(s, &sum->point[k], index, weight, &constant);
        r->constant += constant;
        for (int e = 0; e < n; ++e) {
            int at = r->first;
            while (at < s->entries && s->index[at] != index[e]) ++at;
            if (at == s->entries) {
                if (!CAROM_GROW(s->index, at) || !CAROM_GROW(s->weight, at))
                    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a structure");
                s->index[s->entries] = index[e];
                s->weight[s->entries++] = 0;
            }
            s->weight[at] += weight[e];
        }
    }
    r->n = s->entries - r->first;
    if (r->n == 0) return carom_fail(err, CAROM_BAD_INPUT, "%s %d names nothing that can move", what, i);
    return isfinite(r->constant) ? CAROM_OK
                                 : carom_fail(err, CAROM_BAD_INPUT, "%s %d has the constant %g", what, i, r->constant);
}

static double row_value(const carom_structure *s, const row *r, const double *q) {
    double x = r->constant;
    for (int e = r->first; e < r->first + r->n; ++e) x += s->weight[e] * q[s->index[e]];
    return x;
}

double carom_structure_value(const carom_structure *s, const carom_sum *sum, const double *q) {
    if (!sum) return NAN;
    double x = sum->constant;
    for (int k = 0; k < sum->n; ++k) {
        int index[CAROM_MEMBER_POINT];
        double weight[CAROM_MEMBER_POINT], constant;
        const int n = terms_of(s, &sum->point[k], index, weight, &constant);
        x += constant;
        for (int e = 0; e < n; ++e) x += weight[e] * q[index[e]];
    }
    return x;
}

double carom_structure_rate(const carom_structure *s, const carom_sum *sum, const double *v) {
    if (!sum) return NAN;
    double x = 0;
    for (int k = 0; k < sum->n; ++k) {
        int index[CAROM_MEMBER_POINT];
        double weight[CAROM_MEMBER_POINT], constant;
        const int n = terms_of(s, &sum->point[k], index, weight, &constant);
        for (int e = 0; e < n; ++e) x += weight[e] * v[index[e]];
    }
    return x;
}

// -- functions of the system -----------------------------------------------------------------------------------------

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)work, (void)t, (void)q;
    const carom_structure *s = model;
    for (int k = 0; k < s->def.nmembers; ++k) carom_member_mass(s->member[k], M, s->first[k]);
    return CAROM_OK;
}

static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work;
    const carom_structure *s = model;
    for (int k = 0; k < s->def.nmembers; ++k) {
        const int i = s->first[k];
        if (carom_member_streams(s->member[k])) {
            carom_member_stream(s->member[k], q + i, f + i);
        } else {
            carom_zero(f + i, s->first[k + 1] - i);
            carom_member_force(s->member[k], q + i, v + i, f + i);
        }
    }
    if (s->def.load) s->def.load(s->def.load_user, t, f);
    return CAROM_OK;
}

static carom_status tangent(const void *model, void *work, double t, const double *q, const double *v, carom_matrix K,
                            carom_matrix C) {
    (void)work, (void)t;
    const carom_structure *s = model;
    for (int k = 0; k < s->def.nmembers; ++k)
        carom_member_tangent(s->member[k], q + s->first[k], v + s->first[k], K, C, s->first[k]);
    return CAROM_OK;
}

// Row of direction d of constraint id.
static const row *row_of(const carom_structure *s, int id, int d) {
    return &s->rows[id < s->def.ne ? id : s->def.ne + 2 * (id - s->def.ne) + d];
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    const carom_structure *s = model;
    for (int id = 0; id < s->def.ne + s->def.nc; ++id) g[id] = row_value(s, row_of(s, id, 0), q);
    return CAROM_OK;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)work, (void)t, (void)q;
    const carom_structure *s = model;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const row *r = row_of(s, L->id[b], k - L->at[b]);
            const size_t at = (size_t)k * (size_t)(L->W.row ? L->W.stride : L->W.rows);
            int *rows = L->W.row ? carom_column_own_rows(&L->W, k, r->n) : NULL;
            if (!rows) carom_zero(L->W.a + at, L->W.rows);
            for (int e = 0; e < r->n; ++e) {
                if (rows) rows[e] = s->index[r->first + e], L->W.a[at + (size_t)e] = s->weight[r->first + e];
                else L->W.a[at + (size_t)s->index[r->first + e]] = s->weight[r->first + e];
            }
            L->w[k] = 0;
        }
    return CAROM_OK;
}

static carom_status curvature(const void *model, void *work, double t, const double *q, const double *v,
                              const carom_local *L, double *kappa) {
    (void)model, (void)work, (void)t, (void)q, (void)v;
    carom_zero(kappa, L->at[L->nb]);
    return CAROM_OK;
}

static carom_status energy(const void *model, void *work, double t, const double *q, const double *v, double *kinetic,
                           double *potential) {
    (void)work, (void)t;
    const carom_structure *s = model;
    *kinetic = *potential = 0;
    for (int k = 0; k < s->def.nmembers; ++k) {
        double T, V;
        carom_member_energy(s->member[k], q + s->first[k], v + s->first[k], &T, &V);
        *kinetic += T;
        *potential += V;
    }
    return CAROM_OK;
}

static carom_status power(const void *model, void *work, double t, const double *q, const double *v, double *external,
                          double *damping) {
    const carom_structure *s = model;
    *external = *damping = 0;
    for (int k = 0; k < s->def.nmembers; ++k)
        *damping += carom_member_dissipation(s->member[k], q + s->first[k], v + s->first[k]);
    if (!s->def.load) return CAROM_OK;
    double *f = work;
    carom_zero(f, s->sys.nv);
    s->def.load(s->def.load_user, t, f);
    *external = carom_dot(f, v, s->sys.nv);
    return CAROM_OK;
}

// -- making -----------------------------------------------------------------------------------------------------------

/// Entries of all members, as they come.
// Members do not couple: the widest band of one is that of all.
static carom_status choose(carom_structure *s, bool of_mass, carom_pattern **pattern, carom_shape *shape,
                           carom_error *err) {
    const int n = s->sys.nv;
    int band = 0;
    for (int k = 0; k < s->def.nmembers; ++k) {
        const int own = of_mass ? carom_member_mass_band(s->member[k]) : carom_member_band(s->member[k]);
        if (own > band) band = own;
    }
    if (carom_band_shape(n, band, s->def.direct != NULL, shape) || !s->def.direct) return CAROM_OK;
    carom_places p = {0};
    for (int k = 0; k < s->def.nmembers; ++k) {
        p.shift = s->first[k];
        carom_member_entries(s->member[k], of_mass, &p, carom_places_put);
    }
    *pattern = carom_places_pattern(&p, n, s->def.direct);
    if (!*pattern) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a structure of %d unknowns", n);
    *shape = carom_shape_sparse(*pattern);
    return CAROM_OK;
}

static carom_status make_rows(carom_structure *s, const carom_structure_def *def, carom_error *err) {
    row *r = s->rows;
    for (int i = 0; i < def->ne; ++i) CAROM_TRY(make_row(s, &def->constraints[i], r++, "constraint", i, err));
    for (int i = 0; i < def->nc; ++i, r += 2) {
        const carom_structure_contact *c = &def->contacts[i];
        s->contacts[i] = c->law;
        s->contacts[i].tangents = c->slip.n > 0;
        CAROM_TRY(make_row(s, &c->gap, r, "the gap of contact", i, err));
        if (c->slip.n > 0) CAROM_TRY(make_row(s, &c->slip, r + 1, "the slip of contact", i, err));
        else if (c->law.friction > 0) return carom_fail(err, CAROM_BAD_INPUT, "contact %d has friction and no slip", i);
    }
    return CAROM_OK;
}

static carom_status fill(carom_structure *s, carom_error *err) {
    carom_system *y = &s->sys;
    const int n = s->first[s->def.nmembers];
    *y = carom_system_default(n, n, s->def.ne, s->def.nc);
    bool linear = true;
    for (int k = 0; k < s->def.nmembers; ++k) linear = linear && carom_member_linear(s->member[k]);
    y->flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS | CAROM_FORCE_SETS |
               (linear ? CAROM_LINEAR : 0u);
    CAROM_TRY(choose(s, true, &s->mass_pattern, &y->mass_shape, err));
    CAROM_TRY(choose(s, false, &s->tangent_pattern, &y->tangent_shape, err));
    int widest = 1;
    for (int i = 0; i < s->def.ne + 2 * s->def.nc; ++i)
        if (s->rows[i].n > widest) widest = s->rows[i].n;
    y->column_stride = n > 16 && 2 * widest < n ? widest : n;
    y->contacts = s->contacts;
    y->model = s;
    y->work_size = s->def.load ? (size_t)n * sizeof(double) : 0;
    y->mass = mass, y->force = force, y->tangent = tangent, y->energy = energy, y->power = power,
    y->curvature = curvature;
    y->gaps = y->ne + y->nc ? gaps : NULL;
    y->directions = y->ne + y->nc ? directions : NULL;
    return carom_system_check(y, err);
}

carom_structure *carom_structure_create(const carom_structure_def *def, carom_error *err) {
    if (!def || def->nmembers < 1) return carom_fail(err, CAROM_BAD_INPUT, "a structure needs a member"), NULL;
    if (def->ne < 0 || def->nc < 0)
        return carom_fail(err, CAROM_BAD_INPUT, "%d constraints and %d contacts", def->ne, def->nc), NULL;
    carom_structure *s = calloc(1, sizeof *s);
    if (!s) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a structure"), NULL;
    s->def = *def;
    s->member = calloc((size_t)def->nmembers, sizeof *s->member);
    s->first = calloc((size_t)def->nmembers + 1, sizeof *s->first);
    s->rows = calloc((size_t)def->ne + 2 * (size_t)def->nc + 1, sizeof *s->rows);
    s->contacts = calloc((size_t)def->nc + 1, sizeof *s->contacts);
    carom_status status = s->member && s->first && s->rows && s->contacts
                              ? CAROM_OK
                              : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a structure");
    for (int k = 0; status == CAROM_OK && k < def->nmembers; ++k) {
        s->member[k] = def->members[k];
        s->first[k + 1] = s->first[k] + carom_member_unknowns(def->members[k]);
    }
    if (status == CAROM_OK) status = make_rows(s, def, err);
    if (status == CAROM_OK) status = fill(s, err);
    s->def.members = NULL, s->def.constraints = NULL, s->def.contacts = NULL; // the caller's
    if (status == CAROM_OK) return s;
    carom_structure_destroy(s);
    return NULL;
}

void carom_structure_destroy(carom_structure *s) {
    if (!s) return;
    carom_pattern_destroy(s->mass_pattern);
    carom_pattern_destroy(s->tangent_pattern);
    free(s->member);
    free(s->first);
    free(s->rows);
    free(s->index);
    free(s->weight);
    free(s->contacts);
    free(s);
}

const carom_system *carom_structure_system(const carom_structure *s) { return &s->sys; }

int carom_structure_first(const carom_structure *s, int member) { return s ? s->first[member] : 0; }

void carom_structure_rest(const carom_structure *s, double *q) {
    if (!s) return;
    for (int k = 0; k < s->def.nmembers; ++k) carom_member_rest(s->member[k], q + s->first[k]);
}
