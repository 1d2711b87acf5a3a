// member.c: making a member: axes, unknowns, element matrices, mass, loads.
#include "flex/flex.h"
#include "base/three.h"
#include "flex/member.h"
#include <math.h>
#include <stdlib.h>

static const double ROUNDED = 1e-9; // of an inertia: that of a thin disc may be written with few digits
static const double ALONG = 1e-6; // of its length: `up` that is off the axis by less gives no direction across

static const flex_kind *const kinds[] = {&carom_flex_bar, &carom_flex_beam, &carom_flex_exact_beam,
                                         &carom_flex_spatial_beam, &carom_flex_shaft, &carom_flex_matrices};

carom_member_def carom_member_default(carom_member_kind kind) {
    return (carom_member_def){.kind = kind, .elements = 1, .direction = {1, 0, 0}, .up = {0, 0, 1}};
}

int carom_member_components(carom_member_kind kind) { return kinds[kind]->per; }

const char *carom_member_component(carom_member_kind kind, int c) { return kinds[kind]->component[c]; }

// -- checks ---------------------------------------------------------------------------------------------

static carom_status positive(double x, const char *what, carom_error *err) {
    if (x > 0 && isfinite(x)) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT, "%s must be positive, got %g", what, x);
}

static carom_status check_damping(const carom_member_def *d, carom_error *err) {
    const double a = d->damping_mass, b = d->damping_stiffness, c = d->damping_torsion;
    if (a >= 0 && b >= 0 && c >= 0 && isfinite(a + b + c)) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT, "damping must not be negative, got %g and %g", a, c < 0 ? c : b);
}

static carom_status check_wheels(const carom_member_def *d, carom_error *err) {
    for (int i = 0; i < d->nflywheels; ++i) {
        const carom_flywheel *w = &d->flywheels[i];
        if (w->node < 0 || w->node > d->elements)
            return carom_fail(err, CAROM_BAD_INPUT, "a flywheel on node %d; nodes are 0 to %d", w->node, d->elements);
        CAROM_TRY(positive(w->mass, "the mass of a flywheel", err));
        CAROM_TRY(positive(w->polar, "the inertia of a flywheel", err));
        CAROM_TRY(positive(w->diametral, "the inertia of a flywheel across the axis", err));
        if (2 * w->diametral < w->polar * (1 - ROUNDED))
            return carom_fail(
                err, CAROM_BAD_INPUT,
                "a flywheel with inertia %g about the axis and %g across; no mass has less than half across", w->polar,
                w->diametral);
    }
    return CAROM_OK;
}

static carom_status check_shaft(const carom_member_def *d, int most, carom_error *err) {
    if (d->elements < 1 || d->elements > most)
        return carom_fail(err, CAROM_BAD_INPUT, "%d elements; a member has 1 to %d", d->elements, most);
    CAROM_TRY(positive(d->density, "the density", err));
    CAROM_TRY(positive(d->modulus, "the modulus", err));
    CAROM_TRY(positive(d->shear_modulus, "the shear modulus", err));
    if (!d->shaft) {
        CAROM_TRY(positive(d->length, "the length", err));
        CAROM_TRY(positive(d->area, "the area", err));
        CAROM_TRY(positive(d->inertia, "the inertia", err));
        CAROM_TRY(positive(d->torsion, "the torsion constant", err));
    }
    for (int e = 0; d->shaft && e < d->elements; ++e) {
        const carom_shaft_element *x = &d->shaft[e];
        CAROM_TRY(positive(x->length, "the length of an element", err));
        CAROM_TRY(positive(x->radius, "the radius", err));
        if (!(x->bore >= 0 && x->bore < x->radius))
            return carom_fail(err, CAROM_BAD_INPUT, "a bore of radius %g in a shaft of radius %g", x->bore, x->radius);
    }
    if (d->lumped || d->massless) return carom_fail(err, CAROM_BAD_INPUT, "a shaft has consistent mass at all nodes");
    CAROM_TRY(check_damping(d, err));
    return check_wheels(d, err);
}

static carom_status check(const carom_member_def *d, carom_error *err) {
    if (d->kind == CAROM_MATRICES) return carom_flex_matrices_check(d, err);
    enum { MOST_ELEMENTS = 100000000 }; // their unknowns stay below 2^31
    const bool planar = d->kind == CAROM_BEAM || d->kind == CAROM_EXACT_BEAM, spatial = d->kind == CAROM_SPATIAL_BEAM;
    if (d->kind == CAROM_SHAFT) return check_shaft(d, MOST_ELEMENTS, err);
    if (d->elements < 1 || d->elements > MOST_ELEMENTS)
        return carom_fail(err, CAROM_BAD_INPUT, "%d elements; a member has 1 to %d", d->elements, MOST_ELEMENTS);
    CAROM_TRY(positive(d->length, "the length", err));
    CAROM_TRY(positive(d->density, "the density", err));
    CAROM_TRY(positive(d->area, "the area", err));
    CAROM_TRY(positive(d->modulus, "the modulus", err));
    if (planar || spatial) CAROM_TRY(positive(d->inertia, "the inertia", err));
    if (d->kind == CAROM_EXACT_BEAM) {
        CAROM_TRY(positive(d->shear_modulus, "the shear modulus", err));
        CAROM_TRY(positive(d->shear_area, "the shear area", err));
    }
    if (spatial) {
        CAROM_TRY(positive(d->inertia_v, "the second inertia", err));
        CAROM_TRY(positive(d->shear_modulus, "the shear modulus", err));
        CAROM_TRY(positive(d->torsion, "the torsion constant", err));
    }
    CAROM_TRY(check_damping(d, err));
    for (int i = 0; d->massless && i < d->elements; ++i)
        if (d->massless[i] && d->massless[i + 1])
            return carom_fail(err, CAROM_BAD_INPUT,
                              "nodes %d and %d are both massless; a massless node gives its mass to its neighbours", i,
                              i + 1);
    return CAROM_OK;
}

// -- axes -------------------------------------------------------------------------------------------------

static bool normalise(double *a) {
    const double size = unit(a);
    return size > 0 && isfinite(size);
}

static carom_status axes(carom_member *m, carom_error *err) {
    double *x = m->axes[0], *y = m->axes[1], *z = m->axes[2];
    const bool spatial = m->def.kind == CAROM_SPATIAL_BEAM || m->def.kind == CAROM_SHAFT;
    for (int i = 0; i < 3; ++i) {
        x[i] = m->def.direction[i];
        z[i] = spatial ? m->def.up[i] : i == 2;
    }
    if (!spatial && x[2] != 0) return carom_fail(err, CAROM_BAD_INPUT, "a planar member has no direction along z");
    if (!normalise(x)) return carom_fail(err, CAROM_BAD_INPUT, "the direction has no length");
    const double along = dot(x, z), size = sqrt(dot(z, z));
    for (int i = 0; i < 3; ++i) z[i] -= along * x[i];
    if (!(sqrt(dot(z, z)) > ALONG * size) || !normalise(z))
        return carom_fail(err, CAROM_BAD_INPUT, "`up` points along the member; choose another direction for it");
    cross(z, x, y);
    return CAROM_OK;
}

// What forces need of the definition.
static void constants(carom_member *m) {
    const carom_member_def *d = &m->def;
    m->damping_mass = d->damping_mass, m->damping_stiffness = d->damping_stiffness,
    m->damping_torsion = d->damping_torsion;
    if (d->kind != CAROM_EXACT_BEAM) return;
    m->section[0] = d->modulus * d->area, m->section[1] = d->shear_modulus * d->shear_area,
    m->section[2] = d->modulus * d->inertia;
    for (int c = 0; c < 2; ++c) m->rest[0][c] = d->origin[c], m->rest[1][c] = m->axes[0][c];
    m->rest[0][2] = atan2(m->axes[0][1], m->axes[0][0]);
}

// -- unknowns -----------------------------------------------------------------------------------------------

static bool number(carom_member *m) {
    const size_t all = (size_t)m->nodes * (size_t)m->per;
    m->unknown = malloc(all * sizeof *m->unknown);
    m->place = malloc(all * sizeof *m->place);
    if (!m->unknown || !m->place) return false;
    for (size_t d = 0; d < all; ++d) {
        const bool fixed = m->def.fixed && m->def.fixed[d];
        m->unknown[d] = fixed ? -1 : m->n;
        if (!fixed) m->place[m->n++] = (int)d;
    }
    return true;
}

static bool find_runs(carom_member *m) {
    int count = 0;
    for (int i = 0; i < m->nodes; ++i) count += m->unknown[i] >= 0 && (i == 0 || m->unknown[i - 1] < 0);
    m->run = calloc((size_t)count + 1, sizeof *m->run);
    if (!m->run) return false;
    for (int i = 0; i < m->nodes; ++i) {
        if (m->unknown[i] < 0) continue;
        if (i == 0 || m->unknown[i - 1] < 0)
            m->run[m->nrun++] = (flex_run){.first = m->unknown[i], .held = {i > 0, false}};
        flex_run *r = &m->run[m->nrun - 1];
        ++r->count;
        r->held[1] = i + 1 < m->nodes && m->unknown[i + 1] < 0;
    }
    return true;
}

carom_member_kind carom_member_kind_of(const carom_member *m) { return m->def.kind; }

int carom_member_unknowns(const carom_member *m) { return m->n; }

int carom_member_unknown(const carom_member *m, int node, int c, double *value) {
    if (value) *value = member_rest(m, node, c);
    return m->unknown[node * m->per + c];
}

void carom_member_place(const carom_member *m, int i, int *node, int *c) {
    *node = m->place[i] / m->per;
    *c = m->place[i] % m->per;
}

// -- mass -----------------------------------------------------------------------------------------------------

// Entry (i, j) of the lower band, i >= j.
static double *mass_at(const carom_member *m, int i, int j) {
    return m->mass + (size_t)j * (size_t)(m->mass_band + 1) + (i - j);
}

static void find_bands(carom_member *m) {
    const int d = 2 * m->per;
    for (int e = 0; e + 1 < m->nodes; ++e)
        for (int j = 0; j < d; ++j)
            for (int i = 0; i < d; ++i) {
                const int a = m->unknown[e * m->per + i], b = m->unknown[e * m->per + j];
                if (a < 0 || b < 0 || a - b <= 0) continue;
                if (m->Me[i + d * j] != 0 && a - b > m->mass_band) m->mass_band = a - b;
                if ((m->Ke[i + d * j] != 0 || !m->kind->linear) && a - b > m->band) m->band = a - b;
            }
    if (m->mass_band > m->band) m->band = m->mass_band;
}

// The mass of component c at a massless node, by rows sums and first moments, given to the neighbours so that total
// mass and centre stay; at an end this takes two of them.
static void give_away(carom_member *m, int node, int c) {
    const int per = m->per, i = m->unknown[node * per + c];
    if (i < 0) return;
    double mass = 0, moment = 0; // moment about the node, in element lengths
    for (int k = -1; k <= 1; ++k) {
        const int other = node + k < 0 || node + k >= m->nodes ? -1 : m->unknown[(node + k) * per + c];
        if (other < 0 || abs(other - i) > m->mass_band) continue;
        const double x = *mass_at(m, other > i ? other : i, other > i ? i : other);
        mass += k ? 2 * x : x;
        moment += k * x;
    }
    for (int j = i - m->mass_band; j <= i + m->mass_band; ++j)
        if (j >= 0 && j < m->n) *mass_at(m, j > i ? j : i, j > i ? i : j) = 0;
    int to[2] = {node - 1, node + 1};
    if (node == 0) to[0] = 1, to[1] = 2;
    if (node == m->nodes - 1) to[0] = node - 1, to[1] = node - 2;
    if (to[1] < 0 || to[1] >= m->nodes) to[1] = to[0];
    const double s0 = to[0] - node, s1 = to[1] - node;
    const double second = to[0] == to[1] ? 0 : (moment - mass * s0) / (s1 - s0), share[2] = {mass - second, second};
    for (int k = 0; k < 2; ++k) {
        const int j = m->unknown[to[k] * per + c];
        if (j >= 0) *mass_at(m, j, j) += share[k];
    }
}

static bool assemble_mass(carom_member *m) {
    const int d = 2 * m->per, displacements = m->per == 6 ? 3 : m->per == 3 ? 2 : 1;
    m->mass = calloc((size_t)m->n * (size_t)(m->mass_band + 1) + 1, sizeof *m->mass);
    if (!m->mass) return false;
    for (int e = 0; e + 1 < m->nodes; ++e)
        for (int j = 0; j < d; ++j)
            for (int i = 0; i < d; ++i) {
                const int a = m->unknown[e * m->per + i], b = m->unknown[e * m->per + j];
                if (b >= 0 && a >= b && m->Me[i + d * j] != 0) *mass_at(m, a, b) += m->Me[i + d * j];
            }
    for (int node = 0; m->def.massless && node < m->nodes; ++node) {
        if (!m->def.massless[node]) continue;
        m->light = true;
        for (int c = 0; c < displacements; ++c) give_away(m, node, c);
    }
    return true;
}

// -- loads -------------------------------------------------------------------------------------------------------

// Gravity and the distributed load, by three Gauss points in every element: exact for quadratic loads.
static bool assemble_load(carom_member *m) {
    static const double point[3] = {0.1127016653792583, 0.5, 0.8872983346207417}, part[3] = {5. / 18, 8. / 18, 5. / 18};
    const carom_member_def *d = &m->def;
    const int along = d->kind == CAROM_SHAFT ? 1 : 0; // a shaft has no displacement along its axis
    double g[6] = {0};
    for (int c = 0; c < (m->per == 6 ? 3 : m->per == 1 ? 1 : 2); ++c)
        g[c] = d->kind == CAROM_EXACT_BEAM ? d->gravity[c] : dot(m->axes[c + along], d->gravity);
    if (!d->load && g[0] == 0 && g[1] == 0 && g[2] == 0) return true;
    m->load = calloc((size_t)m->n + 1, sizeof *m->load);
    if (!m->load) return false;
    for (int e = 0; e + 1 < m->nodes; ++e)
        for (int k = 0; k < 3; ++k) {
            const double l = m->shaft ? m->shaft[e].l : m->l, s = carom_member_arc(m, e) + l * point[k];
            const double weight = m->shaft ? m->shaft[e].mass / l : d->density * d->area;
            double p[6] = {0};
            if (d->load) d->load(d->load_user, s, p);
            for (int c = 0; c < m->per; ++c) {
                int index[CAROM_MEMBER_POINT];
                double N[CAROM_MEMBER_POINT], constant;
                const int n = carom_member_point(m, s, c, index, N, &constant);
                for (int i = 0; i < n; ++i) m->load[index[i]] += part[k] * l * N[i] * (p[c] + weight * g[c]);
            }
        }
    for (int i = 0; i < m->nwheel; ++i)
        for (int c = 0; c < 2; ++c) {
            const int k = m->unknown[m->wheel[i].node * m->per + c];
            if (k >= 0) m->load[k] += m->wheel[i].mass * g[c];
        }
    return true;
}

// -- life ------------------------------------------------------------------------------------------------------------

carom_member *carom_member_create(const carom_member_def *def, carom_error *err) {
    if (!def) return carom_fail(err, CAROM_BAD_INPUT, "the definition of a flexible member is missing"), NULL;
    if (check(def, err) != CAROM_OK) return NULL;
    carom_member *m = calloc(1, sizeof *m);
    if (!m) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a flexible member");
        return NULL;
    }
    m->def = *def;
    m->kind = kinds[def->kind];
    m->rule = m->kind->rule;
    m->per = m->kind->per;
    m->nodes = def->kind == CAROM_MATRICES ? def->mass->rows : def->elements + 1;
    // what has elements of equal length
    m->l = def->kind == CAROM_MATRICES || def->shaft ? 0 : def->length / def->elements;
    if (axes(m, err) != CAROM_OK) {
        carom_member_destroy(m);
        return NULL;
    }
    constants(m);
    bool good = (def->kind != CAROM_SHAFT || carom_flex_shaft_elements(m)) && number(m);
    if (good && m->kind->element) {
        m->kind->element(m, m->Me, m->Ke);
        for (int e = 0; e < MOST_ELEMENT * MOST_ELEMENT; ++e) m->Ce[e] = def->damping_stiffness * m->Ke[e];
        find_bands(m);
        good = (m->kind->whole ? m->kind->whole->build(m) : assemble_mass(m)) && assemble_load(m) &&
               (def->kind != CAROM_BAR || find_runs(m));
    } else if (good && carom_flex_matrices_make(m, err) != CAROM_OK) {
        carom_member_destroy(m);
        return NULL;
    }
    m->def.mass = m->def.stiffness = m->def.damping = NULL; // the caller's
    m->def.fixed = m->def.massless = NULL;
    m->def.load = NULL;
    m->def.shaft = NULL;
    m->def.flywheels = NULL;
    if (good && m->n > 0) {
        if (carom_flex_modal_make(m, def, err) == CAROM_OK) return m->def.modal = NULL, m;
        carom_member_destroy(m);
        return NULL;
    }
    carom_fail(err, good ? CAROM_BAD_INPUT : CAROM_NO_MEMORY,
               good ? "everything is fixed; a member needs a node that can move"
                    : "not enough memory for a flexible member");
    carom_member_destroy(m);
    return NULL;
}

void carom_member_destroy(carom_member *m) {
    if (!m) return;
    free(m->unknown);
    free(m->place);
    free(m->load);
    free(m->mass);
    free(m->run);
    carom_flex_matrices_free(m->matrices);
    free(m->shaft);
    free(m->wheel);
    free(m->modal);
    free(m);
}

bool carom_member_linear(const carom_member *m) { return m->kind->linear; }

int carom_member_mass_band(const carom_member *m) { return m->mass_band; }

int carom_member_band(const carom_member *m) { return m->nmodal ? m->n - 1 : m->band; }
