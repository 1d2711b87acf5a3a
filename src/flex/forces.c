// forces.c: matrices, forces, energies and fields of a member, from its elements.
#include "flex/flex.h"
#include <math.h>

// -- modal damping -----------------------------------------------------------------------------------------

// (FLX-9)  C = Y Y'
static void modal_force(const carom_member *m, const double *v, double *f) {
    for (int k = 0; k < m->nmodal; ++k) {
        const double *y = m->modal + (size_t)k * (size_t)m->n;
        carom_axpy(f, -carom_dot(y, v, m->n), y, m->n);
    }
}

static void modal_tangent(const carom_member *m, carom_matrix C, int at) {
    for (int k = 0; k < m->nmodal; ++k) {
        const double *y = m->modal + (size_t)k * (size_t)m->n;
        for (int j = 0; j < m->n; ++j)
            for (int i = 0; i < m->n; ++i) *carom_matrix_entry(C, at + i, at + j) += y[i] * y[j];
    }
}

static double modal_power(const carom_member *m, const double *v) {
    double power = 0;
    for (int k = 0; k < m->nmodal; ++k) {
        const double rate = carom_dot(m->modal + (size_t)k * (size_t)m->n, v, m->n);
        power += rate * rate;
    }
    return power;
}

// -- elements ----------------------------------------------------------------------------------------------

// The unknowns of element e, or where fixed ones are.
static void gather(const carom_member *m, int e, const double *q, const double *v, double *x, double *y) {
    const int d = 2 * m->per, *u = m->unknown + e * m->per;
    for (int i = 0; i < d; ++i) {
        const int k = u[i];
        x[i] = k >= 0 ? q[k] : carom_flex_rest(m, e + i / m->per, i % m->per);
        if (y) y[i] = k >= 0 ? v[k] : 0;
    }
}

static void mul(const double *A, int d, const double *x, double *y) {
    for (int i = 0; i < d; ++i) y[i] = 0;
    for (int j = 0; j < d; ++j)
        for (int i = 0; i < d; ++i) y[i] += A[i + d * j] * x[j];
}

// y += s M x
static void mass_muladd(const carom_member *m, double s, const double *x, double *y) {
    const int b = m->mass_band;
    if (b == 0) {
        for (int i = 0; i < m->n; ++i) y[i] += s * (m->mass[i] * x[i]);
        return;
    }
    for (int j = 0; j < m->n; ++j) {
        const double *a = m->mass + (size_t)j * (size_t)(b + 1);
        y[j] += s * a[0] * x[j];
        for (int k = 1; k <= b && j + k < m->n; ++k) {
            y[j + k] += s * a[k] * x[j];
            y[j] += s * a[k] * x[j + k];
        }
    }
}

void carom_flex_mass_add(const carom_member *m, double s, const double *x, double *y) {
    if (m->matrices) carom_flex_matrices_mass_add(m, s, x, y);
    else mass_muladd(m, s, x, y);
}

// (FLX-1)  f = load - dV/dq - C v
void carom_member_force(const carom_member *m, const double *q, const double *v, double *f) {
    const int d = 2 * m->per;
    if (m->load)
        for (int i = 0; i < m->n; ++i) f[i] += m->load[i];
    modal_force(m, v, f);
    if (m->matrices) {
        carom_flex_matrices_force(m, q, v, f);
        return;
    }
    if (m->kind->whole) {
        m->kind->whole->force(m, q, v, f);
        return;
    }
    if (m->def.damping_mass != 0) mass_muladd(m, -m->def.damping_mass, v, f);
    if (m->def.kind == CAROM_BAR) {
        carom_flex_bar_force(m, q, v, f);
        return;
    }
    const double b = m->def.damping_stiffness;
    for (int e = 0; e + 1 < m->nodes; ++e) {
        double x[MOST_ELEMENT], y[MOST_ELEMENT], r[MOST_ELEMENT] = {0};
        gather(m, e, q, v, x, y);
        if (m->kind->internal) {
            m->kind->internal(m, x, y, r);
        } else {
            for (int i = 0; i < d; ++i) x[i] = -(x[i] + b * y[i]);
            mul(m->Ke, d, x, r);
        }
        const int *u = m->unknown + e * m->per;
        for (int i = 0; i < d; ++i)
            if (u[i] >= 0) f[u[i]] += r[i];
    }
}

// A += s M
static void add_mass(const carom_member *m, double s, carom_matrix A, int at) {
    const int b = m->mass_band;
    for (int j = 0; j < m->n; ++j)
        for (int k = 0; k <= b && j + k < m->n; ++k) {
            const double x = s * m->mass[(size_t)j * (size_t)(b + 1) + (size_t)k];
            if (x == 0) continue;
            *carom_matrix_entry(A, at + j + k, at + j) += x;
            if (k) *carom_matrix_entry(A, at + j, at + j + k) += x;
        }
}

void carom_member_mass(const carom_member *m, carom_matrix M, int at) {
    if (m->matrices) carom_flex_matrices_mass(m, M, at);
    else add_mass(m, 1, M, at);
}

// Sparse members never touch entries outside their pattern: an entry that is zero by structure is left alone.
static void scatter(const carom_member *m, int e, const double *A, carom_matrix K, int at) {
    const int d = 2 * m->per, *u = m->unknown + e * m->per;
    for (int j = 0; j < d; ++j)
        for (int i = 0; i < d; ++i)
            if (u[i] >= 0 && u[j] >= 0 && A[i + d * j] != 0) *carom_matrix_entry(K, at + u[i], at + u[j]) += A[i + d * j];
}

void carom_member_tangent(const carom_member *m, const double *q, const double *v, carom_matrix K, carom_matrix C,
                          int at) {
    const bool damped = m->def.damping_stiffness != 0;
    modal_tangent(m, C, at);
    if (m->matrices) {
        carom_flex_matrices_tangent(m, K, C, at);
        return;
    }
    if (m->kind->whole) {
        m->kind->whole->tangent(m, v, K, C, at);
        return;
    }
    for (int e = 0; e + 1 < m->nodes; ++e) {
        if (!m->kind->tangent) {
            scatter(m, e, m->Ke, K, at);
            if (damped) scatter(m, e, m->Ce, C, at);
            continue;
        }
        double x[MOST_ELEMENT], y[MOST_ELEMENT], Ke[MOST_ELEMENT * MOST_ELEMENT], Ce[MOST_ELEMENT * MOST_ELEMENT];
        gather(m, e, q, v, x, y);
        m->kind->tangent(m, x, y, Ke, Ce);
        scatter(m, e, Ke, K, at);
        if (damped) scatter(m, e, Ce, C, at);
    }
    if (m->def.damping_mass != 0) add_mass(m, m->def.damping_mass, C, at);
}

// v'Mv
static double mass_norm(const carom_member *m, const double *v) {
    const int b = m->mass_band;
    double sum = 0;
    for (int j = 0; j < m->n; ++j) {
        const double *a = m->mass + (size_t)j * (size_t)(b + 1);
        double row = 0.5 * a[0] * v[j];
        for (int k = 1; k <= b && j + k < m->n; ++k) row += a[k] * v[j + k];
        sum += 2 * row * v[j];
    }
    return sum;
}

// Potential energy of all elements and the power that damping of strain rates takes.
static void strain_energy(const carom_member *m, const double *q, const double *v, double *potential, double *power) {
    const int d = 2 * m->per;
    *potential = *power = 0;
    if (m->kind->whole) {
        m->kind->whole->energy(m, q, v, potential, power);
        return;
    }
    for (int e = 0; e + 1 < m->nodes; ++e) {
        double x[MOST_ELEMENT], y[MOST_ELEMENT], r[MOST_ELEMENT];
        gather(m, e, q, v, x, y);
        if (m->kind->energy) {
            m->kind->energy(m, x, y, potential, power);
            continue;
        }
        if (m->def.kind == CAROM_BAR) { // the difference first: a bar that only flies has no strain energy
            *potential += 0.5 * m->Ke[0] * (x[1] - x[0]) * (x[1] - x[0]);
            *power += m->Ce[0] * (y[1] - y[0]) * (y[1] - y[0]);
            continue;
        }
        mul(m->Ke, d, x, r);
        for (int i = 0; i < d; ++i) *potential += 0.5 * r[i] * x[i];
        mul(m->Ce, d, y, r);
        for (int i = 0; i < d; ++i) *power += r[i] * y[i];
    }
}

void carom_member_energy(const carom_member *m, const double *q, const double *v, double *kinetic, double *potential) {
    double power;
    if (m->matrices) {
        carom_flex_matrices_energy(m, q, v, kinetic, potential, NULL);
    } else {
        strain_energy(m, q, v, potential, &power);
        *kinetic = 0.5 * mass_norm(m, v);
    }
    if (m->load) *potential -= carom_dot(m->load, q, m->n);
}

double carom_member_dissipation(const carom_member *m, const double *q, const double *v) {
    double potential, power = 0;
    const double modal = modal_power(m, v);
    if (m->matrices) {
        carom_flex_matrices_energy(m, q, v, NULL, NULL, &power);
        return power + modal;
    }
    if (m->kind->whole) {
        strain_energy(m, q, v, &potential, &power);
        return power + modal;
    }
    if (m->def.damping_stiffness != 0) strain_energy(m, q, v, &potential, &power);
    return modal + power + (m->def.damping_mass != 0 ? m->def.damping_mass * mass_norm(m, v) : 0);
}

// -- fields ----------------------------------------------------------------------------------------------------

int carom_member_field_rows(const carom_member *m, carom_field field) {
    return field != CAROM_FIELD_STRESS ? m->nodes : m->matrices ? 0 : m->nodes - 1;
}

int carom_member_field_width(const carom_member *m, carom_field field) {
    return field == CAROM_FIELD_STRESS ? m->kind->stresses : m->per;
}

double carom_member_field_place(const carom_member *m, carom_field field, int row) {
    if (m->matrices) return row + 1;
    const double s = carom_member_arc(m, row);
    return field == CAROM_FIELD_STRESS ? 0.5 * (s + carom_member_arc(m, row + 1)) : s;
}

void carom_member_field(const carom_member *m, carom_field field, const double *q, const double *v, double *x) {
    if (field == CAROM_FIELD_STRESS && m->matrices) return;
    if (field == CAROM_FIELD_STRESS) {
        for (int e = 0; e + 1 < m->nodes; ++e, x += m->kind->stresses) {
            double at[MOST_ELEMENT];
            gather(m, e, q, v, at, NULL);
            if (m->kind->whole) m->kind->whole->stress(m, e, at, x);
            else m->kind->stress(m, at, x);
        }
        return;
    }
    for (int d = 0; d < m->nodes * m->per; ++d) {
        const int i = m->unknown[d];
        if (field == CAROM_FIELD_VELOCITY) x[d] = i >= 0 ? v[i] : 0;
        else x[d] = i >= 0 ? q[i] : carom_flex_rest(m, d / m->per, d % m->per);
    }
}
