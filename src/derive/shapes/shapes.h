// shapes.h (private): shapes of bodies, and the contacts that pairs of them make, in the making.
//
//   solids.c  shapes of bodies, of the ground, of members  pairs.c  pairs -> contacts; between.c: which
//   surfaces.c  distance of a rounded corner from a surface                edges.c   edges against edges in space
//   across.c    middle lines across faces of boxes                         crossings.c  boxes face to face
//   rims.c      rims of cylinders                                          skins.c   shapes of flexible members
//   kinds.c     tapes of pairs; pairs that share one                       rules.c   pairs that come and go
//   pieces.c    pieces of outlines                                         outlines.c  outlines as they are written
//   hulls.c     hulls and meshes as they are written    density.c           ../draw/draw_shapes.c   how they look
#pragma once
#include "derive/bodies/body.h"
#include "model/pairs.h"

static inline carom_node carom_shape_half(carom_graph *g, const shape *s, int k) {
    return s->size ? s->size[k] : n_num(g, s->half[k]);
}
static inline carom_node carom_shape_radius(carom_graph *g, const shape *s) {
    return s->size && s->kind == SHAPE_ROUND ? s->size[0] : n_num(g, s->radius);
}
static inline carom_node carom_shape_bound_radius(carom_graph *g, const shape *s) {
    return s->size ? s->size[3] : n_num(g, s->bound_radius);
}

/// Axes (columns of X) with z along the unit vector n.
void carom_shape_axes_along(const double *n, double *X);
carom_status carom_derive_shapes(resolver *r);
carom_status carom_material_find(resolver *r, const carom_datum *n, const carom_mech_material **material);
carom_status carom_find_shape(resolver *r, const carom_datum *n, const shape **s);
const char *carom_shape_word(shape_kind kind);
static inline const char *carom_shape_article(shape_kind kind) {
    return kind == SHAPE_ELLIPSOID || (kind >= SHAPE_LINE && kind <= SHAPE_HOLLOW) ? "an" : "a";
}
/// One shape of b, or one part of a mesh; how many parts it has.
carom_status carom_read_shape(resolver *r, const carom_mech_shape *x, const body *b, int part, shape *s,
                              const char *where);
carom_status carom_shape_parts(resolver *r, const carom_mech_shape *x, int *n);
carom_status carom_mesh_parts(resolver *r, const carom_mech_shape *x, int *n);

// -- hulls.c ----------------------------------------------------------------------------------------------------------

/// A hull, or one part of a mesh; s has its place.
carom_status carom_read_hull(resolver *r, const carom_mech_shape *of, int part, const char *where, shape *s);
/// How hulls and solids of files differ from what is in these; one text for each.
void carom_kept_describe(const carom_model *m, void (*say)(void *user, const char *text), void *user);
/// heights.c: rows of heights, or a file of them.
carom_status carom_read_heights(resolver *r, const carom_mech_shape *of, const char *where, shape *s);
void carom_shape_enclose(shape *s); // its centre and reach, by its corners
/// The text of a file that a shape names.
carom_status carom_shape_file(resolver *r, const carom_datum *n, int *which);
/// Mass, inertia and centre of a body with a density.
carom_status carom_solid_mass(resolver *r, const carom_mech_body *of, body *b);

// -- skins.c ----------------------------------------------------------------------------------------------------------

/// `of: MEMBER.POINT` of a point, circle or sphere; `of: MEMBER` of a skin.
carom_status carom_derive_round_of(resolver *r, const carom_datum *of, shape *s);
carom_status carom_derive_skin(resolver *r, const carom_datum *of, shape *s);
space carom_skin_space(const carom_model *m, const carom_datum *of); // of that member; EITHER: there is none
/// The point of an element's middle line that is nearest to p; velocity of the material point at p.
vec carom_element_nearest(carom_graph *g, const shape *s, vec p);
vec carom_flexible_velocity(carom_graph *g, const carom_model *m, const shape *s, vec p);
vec carom_flexible_spin(carom_graph *g, const carom_model *m, const shape *s);

/// A corner of a shape: a point with a radius round it, and the directions in which the shape's edges leave it (none:
/// round).
typedef struct corner {
    vec at;
    double radius;
    const shape *of;  // whose radius that is, if it is a parameter; else NULL
    int nedges;
    vec edge[3];
} corner;

int carom_shape_corners(const shape *s); // 0: it has none
corner carom_shape_corner(carom_graph *g, const shape *s, int i);
vec carom_shape_vector(carom_graph *g, const shape *s, const double *x); // own axes -> world
vec carom_shape_point(carom_graph *g, const shape *s, const double *x);  // body frame -> world
/// The corner against the surface of s.
touching carom_surface(carom_graph *g, const corner *c, const shape *s);
/// The lowest point of one rim of a cylinder over a plane.
touching carom_rim(carom_graph *g, const shape *s, int end, const shape *plane);
/// The middle line of a capsule, cylinder or element.
typedef struct line { vec middle, along; carom_node half; } line;
line carom_shape_line(carom_graph *g, const shape *s);
/// The middle line of s over the edge of a box where it leaves the face it lies on (way = 1), or comes in (-1).
touching carom_across(carom_graph *g, const shape *s, const shape *box, int way);
/// Rims of a cylinder (end 0 or 1): the place nearest to the other's middle line, and the lowest one over the face of a
/// box or cylinder that is turned to it, on the other's surface; rims against edges of a box and against rims.  `which`
/// of two nearest places.
touching carom_rim_to_line(carom_graph *g, const shape *s, int end, int which, const shape *other);
touching carom_rim_to_face(carom_graph *g, const shape *s, int end, const shape *other);
touching carom_rim_to_edge(carom_graph *g, const shape *s, const shape *box, int axis, int number, int which);
touching carom_rim_to_rim(carom_graph *g, const shape *A, int end_A, const shape *B, int end_B, int which);
/// Boxes face to face: edge `number` (0 .. 3) of A's face where it leaves (way 1) B's face, or comes in (-1).
touching carom_crossing(carom_graph *g, const shape *A, const shape *B, int number, int way);
/// Edges of two spatial shapes, one contact.
touching carom_edges(carom_graph *g, const shape *A, const shape *B);

/// pieces.c: contacts of a piece of an outline with another shape: which pieces of that one it may touch, and one of
/// these.  Do they have pieces that never touch, wherever they are?
int carom_pieces_plan(const shape *A, const shape *B, int *which);
touching carom_pieces_touch(carom_graph *g, const shape *A, const shape *B, int i);
bool carom_pieces_never(const shape *A, const shape *B);
/// outlines.c: an outline, or a gear, as it is written: made once; the number of its pieces, and one of them.
void carom_outlines_describe(const carom_model *m, void (*say)(void *user, const char *text), void *user);
bool carom_outline_given(const carom_mech_shape *x);
carom_status carom_outline_parts(resolver *r, const carom_mech_shape *x, int *n);
carom_status carom_outline_contour(resolver *r, const carom_mech_shape *x, const contour **c);
carom_status carom_read_outline(resolver *r, const carom_mech_shape *x, int part, shape *s);

/// Angular velocity of a shape.
vec carom_shape_turning(carom_graph *g, const carom_model *m, const shape *s);

/// Is the direction of its friction the normal, where that stays?
bool carom_pair_misaligned(const carom_graph *g, const pair *p);
/// Directions of friction of a contact with this normal; returns how many.
int carom_pair_along(carom_graph *g, const pair *p, vec n, vec *t);
/// The same of shapes whose friction has no direction.
int carom_pair_tangents(carom_graph *g, const shape *s, vec n, vec *t);
/// Does `ignore` have the form [[A, B], ...]?
carom_status carom_ignore_check(resolver *r, const carom_mech_contact *entry);
/// Pairs of all entries of `contacts` with `between`; *count is the number of their contacts.
carom_status carom_derive_pairs(resolver *r, int *count);
/// A list of shapes has this one twice.
carom_status carom_listed_twice(resolver *r, const carom_datum *c);
/// No pair of the entry has a contact.
carom_status carom_pairs_never(resolver *r, const carom_mech_contact *entry);
/// Expressions of pair p: gaps and, with friction, slip rates of its contacts c[0], c[1], ...; their tangents are
/// counted.
carom_status carom_pair_express(resolver *r, pair *p, constraint *c);
void carom_pair_bound(carom_graph *g, pair *p);

/// May this pair share a tape?  Only when its expressions hold nothing but the positions of bodies.
bool carom_pair_may_share(const carom_model *m, const pair *p);
/// Expressions of the contact `id` in the model's own graph, where pairs of a kind have none until somebody asks.
carom_status carom_pair_quantity(resolver *r, name *n);
carom_status carom_pair_expressed(resolver *r, int id);
/// Tapes of pairs that do not share one.
carom_status carom_pairs_compile(carom_model *m, const carom_node *kappa, carom_error *err);
/// Kinds of all pairs that share, after `links` are read.
carom_status carom_kinds_make(carom_model *m, carom_error *err);
carom_status carom_pair_check(resolver *r, const carom_datum *n, const shape *A, const shape *B);
int carom_pair_formulas(const shape *A, const shape *B); // how many contacts it has; 0: there is no formula
int carom_pair_contacts(const shape *A, const shape *B); // the same where pairs come and go
int carom_pair_part(const shape *A, const shape *B, int k); // which contact of B and A is contact k of A and B
bool carom_shape_moves(resolver *r, const shape *s);
bool carom_shape_same(const shape *a, const shape *b, bool sized);
bool carom_body_same(const body *a, const body *b);
bool carom_body_fixed(const carom_graph *g, const body *b);
carom_status carom_kind_add(carom_model *m, pair *p, const constraint *links, const carom_contact *contacts,
                            carom_error *err);

/// form.c: pairs are written out up to this number.  boxes: some shapes are boxes in space.
long carom_pairs_written(bool boxes);

// -- rules.c: pairs that come and go. ---------------------------------------------------------------------------------

/// Does this entry make pairs that come and go?  Then it is a rule of m->near.
carom_status carom_near_read(resolver *r, const carom_mech_contact *entry, bool *taken);
/// Pairs of rule i of one group each, for checks, laws and kinds.
carom_status carom_near_samples(resolver *r, int i);
carom_status carom_near_belts(resolver *r);
carom_status carom_near_make(carom_model *m, carom_error *err); // the part of the system
/// At the start: does a pair overlap?  Says which.
carom_status carom_near_start(const carom_model *m, void *work, double scale, carom_error *err);

// -- patch_kinds.c: pairs of convex solids, whose contacts are found by search. ---------------------------------------

/// Does the file give one?
bool carom_patch_given(const carom_mech_shape *x);
/// The hull of a shape that may touch one; false: no memory.
bool carom_patch_solid(carom_model *m, shape *s);
bool carom_patch_keep(carom_model *m, const carom_hull *h, shape *s);
/// Contacts of such a pair; 0: there is no way to find them.
int carom_patch_contacts(const shape *A, const shape *B);
carom_status carom_patch_kind(carom_model *m, pair_kind *k, const constraint *links, carom_error *err);
