// body.h: rigid bodies of a model, and what joints and force elements ask of them.
#pragma once
#include "derive/resolver.h"
#include "expr/expr.h"

static inline carom_node r_num(resolver *r, double x) { return n_num(r->m->graph, x); }
static inline carom_node r_add(resolver *r, carom_node a, carom_node b) { return n_add(r->m->graph, a, b); }
static inline carom_node r_sub(resolver *r, carom_node a, carom_node b) { return n_sub(r->m->graph, a, b); }
static inline carom_node r_mul(resolver *r, carom_node a, carom_node b) { return n_mul(r->m->graph, a, b); }

// Vectors and directions (made unit) from lists; `what` names them in messages.
carom_status carom_resolve_list(resolver *r, const carom_datum *n, const char *what, int size);
carom_status carom_resolve_vector(resolver *r, const carom_datum *n, const char *what, int size, double *x);
carom_status carom_resolve_bound_vector(resolver *r, const carom_datum *n, const char *what, int size, bound_kind kind,
                                        int index, double *x);
carom_status carom_resolve_nodes(resolver *r, const carom_datum *n, unsigned scope, const char *what, int size,
                                 carom_node *x);
carom_status carom_resolve_direction(resolver *r, const carom_datum *n, const char *what, double *x);

/// The body that n names.
carom_status carom_find_body(resolver *r, const carom_datum *n, const body **b);
/// BODY, or BODY.POINT: then s is where it is in the body's frame, else NULL.
carom_status carom_find_end(resolver *r, const carom_datum *n, const body **b, const double **s);
/// Points in the frames of two bodies, at least one of them named: the other is the origin of its body or, if they
/// meet, where the named one is at the start.
void carom_body_ends(const body *const of[2], const double *const named[2], bool meet, double *s_A, double *s_B);
/// Where a point of the body is at the start.
void carom_body_place(const body *b, const double *s, double *p);
/// Is this the name of the body, or of the family that it is a member of (s of s.0)?
bool carom_body_called(const body *b, const char *name);

/// A point in the frame of a body: numbers, or the name of one of its points.
carom_status carom_body_point_at(resolver *r, const carom_datum *n, const body *b, bool spatial, double *s);

/// Is this matrix (by rows) positive definite?  Component of an entry among xx, yy, zz, xy, xz, yz.
bool carom_inertia_positive(const double *J);
static const int carom_inertia_at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
/// Where the body is at the start goes into the structure (r0, R0 are used).
carom_status carom_body_start_fixed(resolver *r, const body *b);

/// R0, which is a copy; false: no memory.
bool carom_body_turned(resolver *r, body *b, const double *R0);
/// "body 'NAME'" for messages.
typedef struct body_where { char text[80]; } body_where;
body_where carom_body_where(const body *b);
/// Is its motion prescribed, by expressions of time?
static inline bool carom_body_prescribed(const body *b) { return b->v < 0 && !b->carried; }
/// Angle of a planar body at the start.
carom_status carom_body_angle(resolver *r, const carom_datum *place, const body *b, double *angle);
/// Positions and velocities of a frame that can move: at b->r0, turned by phi (planar) or e0 (spatial), with velocities
/// v.
carom_status carom_body_planar(resolver *r, body *b, double phi, const double *v, bool linear, bool angular);
carom_status carom_body_spatial(resolver *r, body *b, const double *e0, const double *v, bool linear, bool angular);
/// The frame of a body that can move, with positions from `position` on and velocities from b->v on, and how it moves.
void carom_body_frame(resolver *r, body *b, int position);
/// Matrix of a frame that is turned by b->angle: planar, or about the unit axis n.
void carom_body_planar_frame(resolver *r, body *b);
void carom_body_turned_frame(resolver *r, body *b, const double *n);
/// BODY.part as a new name.
carom_status carom_body_name(resolver *r, const body *b, const char *part, name_kind kind, int index, name **out);
/// The message that `text`, a name of the body, is the other's.
carom_status carom_body_name_taken(resolver *r, const body *b, const char *text, const name *other);

// floating.c: flexible members with a frame of their own, as they are drawn.
struct floating {
    const char *name;
    const carom_datum *place;
    int nodes, dim;
    carom_node *where; // nodes x dim: places in the world
};

bool carom_floating(const carom_mech_member *of); // has it `frame: floating`?
/// Coordinates that they bring at most, with those of their frames, and bodies.
carom_status carom_floating_count(resolver *r, int *coordinates, int *bodies);
/// Frames and points as bodies, elastic coordinates, energies, damping.
carom_status carom_derive_floating(resolver *r, const double *gravity);

/// The joint above that n names; its angle (made when first asked for); its angle or shift, whichever it has.
carom_status carom_find_joint(resolver *r, const carom_datum *n, joint **j);
carom_status carom_joint_angle(resolver *r, joint *j, carom_node *node);
carom_status carom_joint_coordinate(resolver *r, const carom_datum *place, joint *j, carom_node *node);
/// The coordinate that `of` names, or its first one (NULL); *shift: it is a length.
carom_status carom_joint_part(resolver *r, const carom_datum *place, joint *j, const carom_datum *of, carom_node *node,
                              bool *shift);
extern const char *const carom_joint_parts[]; // names of coordinates of joints; NULL at the end
bool carom_joint_spherical(const joint *j);

/// Surfaces of a joint that friction acts on: do they turn about its axis, slide along it, turn as a ball; its first
/// `rows` reactions are the force that presses them.
/// crossed: about one axis of each body; plane: they slide in a plane; thread: on a helix, pressed by the last row.
typedef struct carom_sliding_surfaces {
    bool turns, slides, ball, crossed, plane, thread;
    int rows;
} carom_sliding_surfaces;
carom_status carom_joint_slides(resolver *r, const carom_datum *place, const joint *j, carom_sliding_surfaces *what);

/// What a joint looks like: its points coincide, slide, keep a distance, or it has none.
typedef enum joint_look { JOINT_PIN, JOINT_SLIDE, JOINT_ROD, JOINT_NOWHERE } joint_look;
joint_look carom_joint_look(const joint *j);

/// Point and vector of the body frame in the world, as expressions (z of planar bodies is 0).
void carom_body_point(resolver *r, const body *b, const double *s, carom_node *p);
void carom_body_vector(resolver *r, const body *b, const double *s, carom_node *p);
/// World point and vector at the start, in the body's frame.
void carom_body_local(const body *b, const double *p, double *s);
void carom_body_turn_back(const body *b, const double *a, double *s);
