// points.c: where the points of a member are: nodes at rest, and unknowns with weights in between.
#include "flex/flex.h"
#include "flex/member.h"
#include <math.h>

double carom_member_arc(const carom_member *m, int node) {
    if (!m->shaft) return m->l * node;
    const flex_shaft *last = &m->shaft[m->nodes - 2];
    return node < m->nodes - 1 ? m->shaft[node].s : last->s + last->l;
}

void carom_member_rest(const carom_member *m, double *q) {
    for (int i = 0; i < m->n; ++i) q[i] = member_rest(m, m->place[i] / m->per, m->place[i] % m->per);
}

// Of a bent component: which deflection and rotation it goes with, and the sign of the rotation in terms of the slope.
static bool bending(carom_member_kind kind, int c, int *deflection, int *rotation, double *sign) {
    static const struct {
        carom_member_kind kind; int deflection, rotation; double sign;
    } plane[] = {{CAROM_BEAM, 1, 2, 1},
                 {CAROM_SPATIAL_BEAM, 1, 5, 1},
                 {CAROM_SPATIAL_BEAM, 2, 4, -1},
                 {CAROM_SHAFT, 0, 4, 1},
                 {CAROM_SHAFT, 1, 3, -1}};
    for (size_t k = 0; k < sizeof plane / sizeof *plane; ++k) {
        if (plane[k].kind != kind || (plane[k].deflection != c && plane[k].rotation != c)) continue;
        *deflection = plane[k].deflection;
        *rotation = plane[k].rotation;
        *sign = plane[k].sign;
        return true;
    }
    return false;
}

// Weights of the unknowns of an element (dof) of length l for component c at r in [0, 1].
static int shape(const carom_member *m, double l, int c, double r, int *dof, double *w) {
    int deflection, rotation;
    double sign;
    if (!bending(m->def.kind, c, &deflection, &rotation, &sign)) {
        dof[0] = c, dof[1] = c + m->per;
        w[0] = 1 - r, w[1] = r;
        return 2;
    }
    double N[4], dN[4];
    carom_flex_hermite(l, r, N, dN);
    for (int k = 0; k < 4; ++k) {
        dof[k] = (k % 2 ? rotation : deflection) + (k / 2) * m->per;
        w[k] = (c == deflection ? N[k] : sign * dN[k]) * (k % 2 ? sign : 1);
    }
    return 4;
}

// Element at arc length s, and how far along it, 0 to 1; a node that is met by rounding is that node.
static int element_at(const carom_member *m, double s, double *r) {
    double at; // in elements
    if (!m->shaft) {
        at = s / m->l;
    } else {
        int low = 0, high = m->nodes - 2;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (m->shaft[middle].s <= s) low = middle;
            else high = middle - 1;
        }
        at = low + (s - m->shaft[low].s) / m->shaft[low].l;
    }
    static const double AT_NODE = 1e-9; // of its number: a place that is meant to be the node's
    const double near = round(at);
    const double place = fabs(at - near) <= AT_NODE * fmax(1, fabs(at)) ? near : at;
    const int e = (int)fmax(0, fmin(floor(place), m->nodes - 2)); // beyond an end: the element there
    *r = place - e;
    return e;
}

int carom_member_point(const carom_member *m, double s, int c, int *index, double *weight, double *constant) {
    if (m->matrices) {
        const double row = fmin(fmax(round(s), 1), m->nodes);
        *constant = 0;
        index[0] = m->unknown[(int)row - 1];
        weight[0] = 1;
        return index[0] >= 0;
    }
    double r, w[4];
    const int e = element_at(m, s, &r);
    int dof[4], n = 0;
    const int count = shape(m, m->shaft ? m->shaft[e].l : m->l, c, r, dof, w);
    *constant = 0;
    for (int k = 0; k < count; ++k) {
        if (w[k] == 0) continue;
        const int i = m->unknown[e * m->per + dof[k]];
        if (i < 0) *constant += w[k] * member_rest(m, e + dof[k] / m->per, dof[k] % m->per);
        else index[n] = i, weight[n++] = w[k];
    }
    return n;
}

int carom_member_position(const carom_member *m, double s, int axis, int *index, double *weight, double *constant) {
    if (m->def.kind == CAROM_EXACT_BEAM && axis < 2) return carom_member_point(m, s, axis, index, weight, constant);
    if (m->matrices) return *constant = 0, 0; // they are nowhere
    const int own = m->def.kind == CAROM_BAR ? 1 : m->def.kind == CAROM_SPATIAL_BEAM ? 3 : 2;
    const int first = m->def.kind == CAROM_SHAFT ? 1 : 0; // the axis of the first component
    int n = 0;
    *constant = m->def.origin[axis] + s * m->axes[0][axis];
    for (int c = 0; c < own && m->def.kind != CAROM_EXACT_BEAM; ++c) {
        double part;
        const double turn = m->axes[first + c][axis];
        if (turn == 0) continue;
        const int count = carom_member_point(m, s, c, index + n, weight + n, &part);
        for (int k = 0; k < count; ++k) weight[n + k] *= turn;
        *constant += turn * part;
        n += count;
    }
    return n;
}
