// pieces.c: contacts of outlines: a piece of one against a piece of the other.
//
// A contact is a local minimum of the distance of two contours: a place of each where the normals are opposite.  Of two
// arcs, corners (arcs without radius) or involutes these places have a formula (OUT-5), of an arc and a line another
// (OUT-6); circles, capsules, polygons, boxes, planes, holes and slots are outlines of such pieces, too.  One rule says
// whether a pair of pieces touches (OUT-7): the place lies on both, each piece allows the normal, and what is inside is
// nearer to this piece than to the next one.  The pieces of a contour join without a gap, so that a contact that leaves
// a piece is taken over by the next one, with the same gap and, but at corners on corners, the same direction.
#include "derive/shapes/shapes.h"
#include "model/contours.h"
#include <math.h>
#include <string.h>

static const double ROUND = 1e-11; // of the size: pieces overlap by so much, against gaps by rounding
static const double FLUSH = 1e-9; // of the size: faces that overlap by less only pass each other
static const double SLACK = 1e-3; // of the size: pieces that do not touch are so much farther apart
static const double TINY = 1e-13; // of the size: nearer centres have no direction
static const double ENDLESS = 1e30; // length of a line without end: a number, which may be multiplied by zero

// -- pieces of other shapes -------------------------------------------------------------------------------------------

enum { MOST_PIECES = 2 * MOST_CORNERS + 2 }; // a line and an arc for each corner

// A whole circle of signed radius.
static carom_outline_piece circle(const shape *s, double radius) {
    carom_outline_piece p = {.kind = radius < 0 ? CAROM_OUTLINE_HOLLOW : CAROM_OUTLINE_ARC};
    p.x[PIECE_AT] = s->at[0], p.x[PIECE_AT + 1] = s->at[1];
    p.x[PIECE_RADIUS] = radius;
    p.x[PIECE_BISECTOR + 2] = p.x[PIECE_BISECTOR + 5] = -1;
    p.x[PIECE_DEEP] = radius < 0 ? INFINITY : radius; // of a hole all around is solid
    p.x[PIECE_SIZE] = fabs(radius);
    return p;
}

static carom_outline_piece plane(const shape *s) {
    carom_outline_piece p = {.kind = CAROM_OUTLINE_LINE};
    p.x[PIECE_AT] = s->at[0], p.x[PIECE_AT + 1] = s->at[1];
    p.x[PIECE_FROM] = -s->X[3], p.x[PIECE_FROM + 1] = s->X[0];
    p.x[PIECE_TO] = ENDLESS, p.x[PIECE_TO + 1] = -ENDLESS, p.x[PIECE_SIZE] = 1 / ENDLESS;
    p.x[PIECE_BISECTOR + 2] = p.x[PIECE_BISECTOR + 5] = -1;
    p.x[PIECE_DEEP] = INFINITY;
    return p;
}

// The pieces of a shape, in the frame of its body; out NULL: how many.  0: it has none.
static int pieces_of(const shape *s, carom_outline_piece *out) {
    carom_stretch side[MOST_CORNERS];
    int n = 0;
    switch (s->kind) {
    case SHAPE_POINT:
    case SHAPE_ROUND:
    case SHAPE_HOLE:
        if (out) *out = circle(s, s->kind == SHAPE_HOLE ? -s->radius : s->radius);
        return 1;
    case SHAPE_PLANE:
        if (out) *out = plane(s);
        return 1;
    case SHAPE_CAPSULE:
    case SHAPE_SLOT:
    case SHAPE_POLYGON:
    case SHAPE_BOX:
        n = carom_outline_pieces(side, carom_shape_stretches(s, side), true, out);
        for (int i = 0; i < n && out && s->kind == SHAPE_SLOT; ++i) out[i].x[PIECE_DEEP] = INFINITY;
        return n;
    case SHAPE_LINE:
    case SHAPE_ARC:
    case SHAPE_HOLLOW:
        if (out) *out = *s->piece;
        return 1;
    default: return 0;
    }
}

static bool touch(carom_outline_kind a, carom_outline_kind b) {
    return a == CAROM_OUTLINE_ARC || b == CAROM_OUTLINE_ARC;
}

int carom_pieces_plan(const shape *A, const shape *B, int *which) {
    carom_outline_piece p[MOST_PIECES];
    if (A->space != PLANAR || B->space != PLANAR) return 0;
    const shape *one = carom_shape_piece(B) ? B : A, *other = one == A ? B : A;
    const int n = pieces_of(other, p);
    int count = 0;
    for (int i = 0; i < n; ++i)
        if (touch(one->piece->kind, p[i].kind)) which[count++] = i;
    return count;
}

bool carom_pieces_never(const shape *A, const shape *B) {
    int which[MOST_PIECES];
    return (carom_shape_piece(A) || carom_shape_piece(B)) && pieces_of(A, NULL) && pieces_of(B, NULL) &&
           carom_pieces_plan(A, B, which) == 0;
}

// -- formulas ---------------------------------------------------------------------------------------------------------

// A piece as expressions: its numbers, and where its body is.
typedef struct place {
    const body *b;
    carom_outline_kind kind;
    bool winds;
    carom_node x[PIECE_NUMBERS];
} place;

static place place_of(carom_graph *g, const shape *s, int i) {
    carom_outline_piece p[MOST_PIECES];
    pieces_of(s, p);
    const carom_outline_piece *one = carom_shape_piece(s) ? p : &p[i];
    place x = {.b = s->body, .kind = one->kind, .winds = one->winds};
    for (int k = 0; k < PIECE_NUMBERS; ++k) x.x[k] = s->size && carom_shape_piece(s) ? s->size[k] : n_num(g, one->x[k]);
    return x;
}

static vec flat(carom_graph *g, carom_node x, carom_node y) { return (vec){{x, y, n_num(g, 0)}}; }
static vec pair_of(carom_graph *g, const place *p, int at) { return flat(g, p->x[at], p->x[at + 1]); }
static vec to_world(carom_graph *g, const place *p, vec x) {
    return v_add(g, (vec){{p->b->r[0], p->b->r[1], p->b->r[2]}}, v_turn(g, p->b->R, x));
}
static vec to_body(carom_graph *g, const place *p, vec x) {
    return v_back(g, p->b->R, v_sub(g, x, (vec){{p->b->r[0], p->b->r[1], p->b->r[2]}}));
}
static carom_node cross(carom_graph *g, vec a, vec b) {
    return n_sub(g, n_mul(g, a.c[0], b.c[1]), n_mul(g, a.c[1], b.c[0]));
}
static vec left(carom_graph *g, vec a) { return flat(g, n_fun(g, CAROM_OP_NEG, a.c[1]), a.c[0]); }
static vec minus(carom_graph *g, vec a) { return v_scale(g, a, n_num(g, -1)); }
static carom_node at_least(carom_graph *g, carom_node x, carom_node least) { return n_op(g, CAROM_OP_LE, least, x); }
static carom_node larger(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_MAX, a, b); }

// rho of (OUT-1) where the normal is n, in the body's frame.
static carom_node radius_at(carom_graph *g, const place *p, vec n) {
    if (!p->winds) return p->x[PIECE_RADIUS];
    const vec from = pair_of(g, p, PIECE_FROM);
    const carom_node turned = n_op(g, CAROM_OP_ATAN2, cross(g, from, n), v_dot(g, from, n));
    return n_add(g, p->x[PIECE_RADIUS], n_mul(g, p->x[PIECE_WIND], turned));
}

// The place of an arc with the normal n in the world.
static vec surface(carom_graph *g, const place *p, vec centre, carom_node rho, vec n) {
    const vec x = v_add(g, centre, v_scale(g, n, rho));
    return p->winds ? v_add(g, x, v_scale(g, left(g, n), p->x[PIECE_WIND])) : x;
}

// (OUT-7)  An arc allows the normals between those at its ends, and beyond an end behind which there is a line as much
//          more as leaves the line flat on what it lies on: n x n_end <= (s - 1e-9 R)/(4 R), s the way that is left.
static carom_node allows(carom_graph *g, const place *p, vec n, const carom_node *more) {
    const vec from = pair_of(g, p, PIECE_FROM), to = pair_of(g, p, PIECE_TO);
    const carom_node none = n_num(g, -ROUND);
    const carom_node first = at_least(g, cross(g, from, n), more ? n_fun(g, CAROM_OP_NEG, more[0]) : none),
                     last = at_least(g, cross(g, n, to), more ? n_fun(g, CAROM_OP_NEG, more[1]) : none);
    return n_and(g, n_and(g, first, last), at_least(g, v_dot(g, v_add(g, from, to), n), none));
}

// Behind the corner at end k, in the frame of the body: the normal n of the contour there, by the bisector, of which m
// is the normal between both, 2 (m.n) m - n; and how far y lies inside, n.(corner - y).
typedef struct behind { vec normal; carom_node inside; } behind;
static behind behind_of(carom_graph *g, const place *p, int k, vec y) {
    const carom_node *b = p->x + PIECE_BISECTOR + 3 * k;
    const bool line = p->kind == CAROM_OUTLINE_LINE;
    const vec along = pair_of(g, p, PIECE_FROM), at = pair_of(g, p, PIECE_AT),
              m = flat(g, b[1], n_fun(g, CAROM_OP_NEG, b[0])),
              own = line ? flat(g, along.c[1], n_fun(g, CAROM_OP_NEG, along.c[0]))
                         : pair_of(g, p, k ? PIECE_TO : PIECE_FROM),
              corner = line ? (k ? v_add(g, at, v_scale(g, along, p->x[PIECE_TO])) : at)
                            : v_add(g, at, v_scale(g, own, p->x[PIECE_RADIUS])),
              n = v_sub(g, v_scale(g, m, n_mul(g, n_num(g, 2), v_dot(g, m, own))), own);
    return (behind){n, v_dot(g, n, v_sub(g, corner, y))};
}

// The place x of the other contour is on this piece's side of the bisectors at its ends; or (OUT-9) it is beyond one,
// inside what lies behind the corner there, and the other piece cannot touch that, as a tip that has dropped beside the
// edge of a door: nothing else would hold it.
static carom_node nearer(carom_graph *g, const place *p, vec x, const place *other) {
    const vec y = to_body(g, p, x);
    const carom_node least = n_mul(g, n_num(g, -ROUND), p->x[PIECE_SIZE]);
    carom_node both = n_num(g, 1);
    for (int k = 0; k < 2; ++k) {
        const carom_node *b = p->x + PIECE_BISECTOR + 3 * k;
        const carom_node beyond = n_sub(g, n_add(g, n_mul(g, b[0], y.c[0]), n_mul(g, b[1], y.c[1])), b[2]);
        carom_node here = at_least(g, beyond, least);
        if (other->kind == CAROM_OUTLINE_ARC && !p->winds) {
            const behind there = behind_of(g, p, k, y);
            const vec n = v_back(g, other->b->R, minus(g, v_turn(g, p->b->R, there.normal)));
            const carom_node inside = at_least(g, there.inside, n_num(g, 0)),
                             never = n_not(g, allows(g, other, n, NULL));
            here = n_or(g, here, n_and(g, inside, never));
        }
        both = n_and(g, both, here);
    }
    return both;
}

// Pieces that do not touch are farther apart than any that do.  A step may hold them closed all the same, where they
// touched at its start: so their gap grows along the same normal, by little where
// they hardly overlap, unless one is too deep inside for that to matter.
static touching decided(carom_graph *g, const place *A, const place *B, carom_node here, carom_node gap, vec normal,
                        vec point) {
    const carom_node deepest = larger(g, A->x[PIECE_DEEP], B->x[PIECE_DEEP]), zero = n_num(g, 0);
    const carom_node touches = n_and(g, here, n_less(g, n_fun(g, CAROM_OP_NEG, deepest), gap));
    const carom_node size = larger(g, A->x[PIECE_SIZE], B->x[PIECE_SIZE]), slack = n_mul(g, n_num(g, SLACK), size),
                     twice = n_add(g, size, size), lifted = n_add(g, gap, twice);
    const carom_node shallow = n_less(g, n_mul(g, n_num(g, -0.5), slack), gap), inside = n_less(g, zero, lifted),
                     apart = n_if(g, shallow, gap, n_if(g, inside, lifted, n_abs(g, gap)));
    return (touching){n_if(g, touches, gap, n_add(g, apart, slack)), normal, point};
}

// (OUT-5)  d = c_A - c_B,  b = b_A + b_B,  n = (a d - b J d)/|d|^2,  a = +-sqrt(|d|^2 - b^2) (-: one of them is
// concave):
//          then t.d = b, and g = a - rho_A - rho_B is stationary.
static touching arcs(carom_graph *g, const place *A, const place *B) {
    const bool hollow = A->kind == CAROM_OUTLINE_HOLLOW || B->kind == CAROM_OUTLINE_HOLLOW,
               winds = A->winds || B->winds;
    const vec c_A = to_world(g, A, pair_of(g, A, PIECE_AT)), c_B = to_world(g, B, pair_of(g, B, PIECE_AT)),
              d = v_sub(g, c_A, c_B);
    const carom_node square = v_dot(g, d, d), zero = n_num(g, 0), sign = n_num(g, hollow ? -1 : 1);
    const carom_node size = larger(g, A->x[PIECE_SIZE], B->x[PIECE_SIZE]), tiny = n_mul(g, n_num(g, TINY), size);
    carom_node some = n_less(g, n_mul(g, tiny, tiny), square), a;
    vec n;
    if (winds) {
        const carom_node b = n_add(g, A->winds ? A->x[PIECE_WIND] : zero, B->winds ? B->x[PIECE_WIND] : zero),
                         rest = n_sub(g, square, n_mul(g, b, b));
        some = n_and(g, some, n_less(g, n_mul(g, tiny, tiny), rest));
        a = n_mul(g, sign, n_fun(g, CAROM_OP_SQRT, n_if(g, some, rest, n_num(g, 1))));
        const carom_node over = n_div(g, n_num(g, 1), n_if(g, some, square, n_num(g, 1)));
        n = v_scale(g, v_sub(g, v_scale(g, d, a), v_scale(g, left(g, d), b)), over);
    } else {
        const carom_node root = n_fun(g, CAROM_OP_SQRT, n_if(g, some, square, n_num(g, 1)));
        a = n_mul(g, sign, root);
        n = v_scale(g, d, n_div(g, sign, root));
    }
    const vec back = minus(g, n), n_A = v_back(g, A->b->R, back), n_B = v_back(g, B->b->R, n);
    const carom_node rho_A = radius_at(g, A, n_A), rho_B = radius_at(g, B, n_B);
    const vec p_A = surface(g, A, c_A, rho_A, back), p_B = surface(g, B, c_B, rho_B, n);
    carom_node here = n_and(g, some, n_and(g, allows(g, A, n_A, NULL), allows(g, B, n_B, NULL)));
    here = n_and(g, here, n_and(g, nearer(g, A, p_B, B), nearer(g, B, p_A, A)));
    if (hollow) here = n_and(g, here, n_less(g, n_add(g, rho_A, rho_B), zero));
    return decided(g, A, B, here, n_sub(g, a, n_add(g, rho_A, rho_B)), v_if(g, some, n, flat(g, zero, zero)), p_A);
}

// How far beyond the end of an arc its normal may be.  A line behind it that lies flat overlaps by the way s that is
// left: (s - 1e-9 R)/(4 R), less than nothing where faces are flush and a corner only passes from one to the other.
static carom_node leaves_flat(carom_graph *g, carom_node line, carom_node way, carom_node four) {
    const carom_node none = n_num(g, ROUND), over = n_sub(g, n_div(g, way, four), n_num(g, 0.25 * FLUSH));
    return n_add(g, none, n_mul(g, line, n_sub(g, over, none)));
}

// (OUT-6)  g = n.(c - p) - rho,  s = t.(c - p) - b: of an arc over a line through p with the direction t
static touching arc_on_line(carom_graph *g, const place *A, const place *L) {
    const vec c = to_world(g, A, pair_of(g, A, PIECE_AT)), along = pair_of(g, L, PIECE_FROM),
              out = flat(g, along.c[1], n_fun(g, CAROM_OP_NEG, along.c[0]));
    const vec d = v_sub(g, to_body(g, L, c), pair_of(g, L, PIECE_AT)), n = v_turn(g, L->b->R, out),
              n_A = v_back(g, A->b->R, minus(g, n));
    const carom_node rho = radius_at(g, A, n_A), gap = n_sub(g, v_dot(g, out, d), rho);
    carom_node s = v_dot(g, along, d);
    if (A->winds) s = n_sub(g, s, A->x[PIECE_WIND]);
    const vec p = surface(g, A, c, rho, minus(g, n)), foot = v_sub(g, p, v_scale(g, n, gap));
    const carom_node tiny = n_mul(g, n_num(g, ROUND), L->x[PIECE_SIZE]), four = n_mul(g, n_num(g, 4), L->x[PIECE_SIZE]);
    const carom_node ahead = n_sub(g, L->x[PIECE_TO], s), behind = n_sub(g, s, L->x[PIECE_TO + 1]);
    const carom_node more[2] = {leaves_flat(g, A->x[PIECE_FLAT], ahead, four),
                                leaves_flat(g, A->x[PIECE_FLAT + 1], behind, four)};
    const carom_node least = n_fun(g, CAROM_OP_NEG, tiny);
    carom_node here =
        n_and(g, allows(g, A, n_A, more), n_and(g, at_least(g, ahead, least), at_least(g, behind, least)));
    here = n_and(g, here, n_and(g, nearer(g, A, foot, L), nearer(g, L, p, A)));
    return decided(g, A, L, here, gap, n, p);
}

touching carom_pieces_touch(carom_graph *g, const shape *A, const shape *B, int i) {
    const place a = place_of(g, A, i), b = place_of(g, B, i);
    if (a.kind != CAROM_OUTLINE_LINE && b.kind != CAROM_OUTLINE_LINE) return arcs(g, &a, &b);
    if (b.kind == CAROM_OUTLINE_LINE) return arc_on_line(g, &a, &b);
    touching t = arc_on_line(g, &b, &a);
    t.normal = minus(g, t.normal);
    return t;
}
