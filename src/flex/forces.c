// forces.c: matrices, forces, energies and fields of a member, from its elements.
#include "flex/flex.h"
#include "flex/member.h"
#include <math.h>
#include "flex/elements.inc"

void carom_flex_mass_add(const carom_member *m, double s, const double *x, double *y) {
    if (m->matrices) carom_flex_matrices_mass_add(m, s, x, y);
    else mass_muladd(m, s, x, y);
}

void carom_member_force(const carom_member *m, const double *q, const double *v, double *f) {
    member_force(m, q, v, f);
}

void carom_member_mass(const carom_member *m, carom_matrix M, int at) {
    if (m->matrices) carom_flex_matrices_mass(m, M, at);
    else add_mass(m, 1, M, at);
}

void carom_member_tangent(const carom_member *m, const double *q, const double *v, carom_matrix K, carom_matrix C,
                          int at) {
    member_tangent(m, q, v, K, C, at);
}

void carom_member_energy(const carom_member *m, const double *q, const double *v, double *kinetic, double *potential) {
    member_energy(m, q, v, kinetic, potential);
}

double carom_member_dissipation(const carom_member *m, const double *q, const double *v) {
    return member_dissipation(m, q, v);
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
            member_gather(m, e, q, v, at, NULL);
            if (m->kind->whole) m->kind->whole->stress(m, e, at, x);
            else m->kind->stress(m, at, x);
        }
        return;
    }
    for (int d = 0; d < m->nodes * m->per; ++d) {
        const int i = m->unknown[d];
        if (field == CAROM_FIELD_VELOCITY) x[d] = i >= 0 ? v[i] : 0;
        else x[d] = i >= 0 ? q[i] : member_rest(m, d / m->per, d % m->per);
    }
}
