// patch.c: contacts of two convex solids.
//
// Two polyhedra (SHP-18): of all normals of faces, and of all n = e_A x e_B / |e_A x e_B| of edges whose normals meet
// on the sphere, the one that separates most decides which faces look at each other.  Their overlap has corners of
// three kinds: a corner of A over B's face, one of B over A's, and an edge across an edge.  Each is a contact with its
// own exact distance.  Of many some stay (choose.c).
#include "collide/posed.h"

// Sine: edges along each other have no direction across both, and one along a face has none but the face's normal.
static const double PARALLEL = 1e-6;

typedef struct axis {
    double sep, n[3]; // n from B to A
    int a, b;         // face of A or of B, the other being the corner that is nearest to it; edges
    carom_feature_kind kind;
    double sign;
} axis;

static void try_faces(const posed *x, const posed *other, bool first, axis *best) {
    for (int f = 0; f < x->h->nf; ++f) {
        const int c = support(other, x->n[f], -1);
        const double sep = dot(x->n[f], other->v[c]) - x->offset[f];
        if (sep <= best->sep + (first ? 0 : TIE * other->size)) continue;
        *best = (axis){
            .sep = sep, .a = first ? f : c, .b = first ? c : f, .kind = first ? CAROM_FACE_CORNER : CAROM_CORNER_FACE};
        for (int k = 0; k < 3; ++k) best->n[k] = first ? -x->n[f][k] : x->n[f][k];
    }
}

// Cosine between a normal and a direction of this length; 0 where rounding says which side it looks to: the axis across
// such edges is that face's normal within PARALLEL, and does not separate better than the face by TIE.
static double side_of(const double *n, const double *d, double length) {
    const double x = dot(n, d);
    return fabs(x) > PARALLEL * length ? x : 0;
}

// Do the arcs between the normals of A's edge and between the opposite ones of B's edge cross?  Then the edges make a
// face of A - B.  side: of B's normals against A's edge; few edges of B have normals on both sides of it.
static bool arcs_cross(const posed *A, int e, const double *side, const posed *B, int f, double *g) {
    const double c_side = side[B->h->edge[f][2]], m_side = side[B->h->edge[f][3]];
    if (!(c_side * m_side < 0)) return false;
    edge_along(B, f, g);
    const double length = size_of(g), a_side = -side_of(A->n[A->h->edge[e][2]], g, length),
                 b_side = -side_of(A->n[A->h->edge[e][3]], g, length);
    return a_side * b_side < 0 && c_side * b_side > 0;
}

static void try_edges(const posed *A, const posed *B, axis *best) {
    double margin = TIE * fmin(A->size, B->size);
    for (int e = 0; e < A->h->ne; ++e) {
        double d[3], side[2 * CAROM_HULL_CORNERS];
        edge_along(A, e, d);
        const double length = size_of(d);
        for (int f = 0; f < B->h->nf; ++f) side[f] = side_of(B->n[f], d, length);
        for (int f = 0; f < B->h->ne; ++f) {
            double g[3], n[3], w[3], sum[3];
            if (!arcs_cross(A, e, side, B, f, g)) continue;
            cross(d, g, n);
            const double size = size_of(n);
            if (!(size > PARALLEL * length * size_of(g))) continue;
            for (int k = 0; k < 3; ++k) sum[k] = B->n[B->h->edge[f][2]][k] + B->n[B->h->edge[f][3]][k];
            const double sign = dot(n, sum) > 0 ? 1 : -1;
            minus(edge_from(A, e), edge_from(B, f), w);
            const double sep = sign * dot(n, w) / size;
            if (sep <= best->sep + margin) continue;
            margin = 0;
            *best = (axis){.sep = sep, .a = e, .b = f, .kind = CAROM_EDGE_EDGE, .sign = sign};
            for (int k = 0; k < 3; ++k) best->n[k] = sign * n[k] / size;
        }
    }
}

static void find_solids(const posed *A, const carom_frame *a, const posed *B, carom_feature *f) {
    axis best = {.sep = -INFINITY};
    candidates c;
    const double size = fmin(A->size, B->size);
    c.n = 0, c.flush = false;
    try_faces(A, B, true, &best);
    try_faces(B, A, false, &best);
    try_edges(A, B, &best);
    const bool edges = best.kind == CAROM_EDGE_EDGE;
    const int of_A = edges ? A->h->edge[best.a][0] : best.kind == CAROM_CORNER_FACE ? best.a : -1;
    const int of_B = edges ? B->h->edge[best.b][0] : best.kind == CAROM_FACE_CORNER ? best.b : -1;
    const int g = of_A < 0 ? best.a : face_at(A, of_A, best.n, -1), h = of_B < 0 ? best.b : face_at(B, of_B, best.n, 1);
    if (edges) {
        double d[3], e[3], p[3], s = 0, t = 0;
        edge_along(A, best.a, d), edge_along(B, best.b, e);
        nearest_lines(edge_from(A, best.a), d, edge_from(B, best.b), e, &s, &t);
        for (int i = 0; i < 3; ++i) p[i] = edge_from(A, best.a)[i] + s * d[i];
        add(&c, CAROM_EDGE_EDGE, best.a, best.b, best.sign, p, best.sep);
    }
    border of_face[2];
    find_border(A, g, &of_face[0]), find_border(B, h, &of_face[1]);
    corners_over(&c, A, g, &of_face[1], best.n, 1, size);
    corners_over(&c, B, h, &of_face[0], best.n, -1, size);
    edges_across(&c, &of_face[0], &of_face[1], best.n, size);
    const bool none = c.n == 0 && c.flush; // they pass each other: no feature of theirs touches
    if (c.n == 0)
        add(&c, best.kind, best.a, best.b, best.sign, best.kind == CAROM_CORNER_FACE ? A->v[best.a] : B->v[best.b],
            best.sep);
    carom_patch_choose(&c, a, best.n, size, f);
    f[0].spare = none; // and no other place
}

// All corners over a half-space.
static void find_flat(const posed *A, const carom_frame *a, const posed *B, carom_feature *f) {
    candidates c;
    c.n = 0;
    for (int i = 0; i < A->h->nv; ++i)
        add(&c, CAROM_CORNER_FACE, i, 0, 0, A->v[i], dot(B->n[0], A->v[i]) - B->offset[0]);
    carom_patch_choose(&c, a, B->n[0], A->size, f);
}

// A's feature becomes B's.
static void swap(carom_feature *f) {
    static const carom_feature_kind other[] = {
        [CAROM_CORNER_FACE] = CAROM_FACE_CORNER, [CAROM_FACE_CORNER] = CAROM_CORNER_FACE,
        [CAROM_EDGE_EDGE] = CAROM_EDGE_EDGE,     [CAROM_CORNER_EDGE] = CAROM_EDGE_CORNER,
        [CAROM_EDGE_CORNER] = CAROM_CORNER_EDGE, [CAROM_CORNER_CORNER] = CAROM_CORNER_CORNER};
    const int a = f->a; // n -> -n and e_A x e_B -> e_B x e_A: the sign stays
    f->kind = other[f->kind], f->a = f->b, f->b = a;
}

// -- all --------------------------------------------------------------------------------------------------------------

int carom_patch_count(const carom_convex *A, const carom_convex *B) {
    const carom_hull *a = A->hull, *b = B->hull;
    if (A->axes || B->axes) return 1;
    if (B->grid) return CAROM_PATCH;
    if ((thin(a) && thin(b)) || (flat(a) && flat(b))) return 0;
    const carom_hull *t = thin(a) ? a : b;
    if (!thin(t)) return CAROM_PATCH;
    return t->nv == 1 ? 1 : flat(a) || flat(b) ? 2 : 5;
}

void carom_patch_find(const carom_convex *A, const carom_frame *a, const carom_convex *B, const carom_frame *b,
                      carom_feature *f) {
    const bool swapped = !B->grid && (thin(B->hull) || flat(A->hull));
    posed x, y;
    room in, other;
    if (A->axes || B->axes) {
        *f = (carom_feature){.kind = CAROM_SMOOTH};
        return;
    }
    pose((swapped ? B : A)->hull, swapped ? b : a, b->r, &x, &in);
    if (B->grid) {
        carom_patch_surface(A, &x, a, B, f);
        return;
    }
    pose((swapped ? A : B)->hull, swapped ? a : b, b->r, &y, &other);
    if (flat(y.h) && thin(x.h))
        for (int i = 0; i < x.h->nv; ++i) f[i] = (carom_feature){.kind = CAROM_CORNER_FACE, .a = i};
    else if (thin(x.h)) carom_patch_thin(&x, &y, f);
    else if (flat(y.h)) find_flat(&x, swapped ? b : a, &y, f);
    else find_solids(&x, a, &y, f);
    for (int i = 0; swapped && i < carom_patch_count(A, B); ++i) swap(&f[i]);
}
