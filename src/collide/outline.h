// outline.h: planar contours: stretches (lines, arcs, involutes of circles), walked with the solid on the left, and the
// pieces that touch: lines, arcs of less than a right angle, corners.
//
// (OUT-1)  A stretch that turns has the support function h(psi) = c.n + rho,  rho = r + b (psi - psi_0),  n = (cos psi,
//          sin psi) its outward normal: the point with this normal is p = c + rho n + b t,  t = (-sin psi, cos psi),
//          and rho is its radius of curvature, positive where the contour is convex.  b = 0: an arc; |b| > 0: an
//          involute of the circle with radius |b| round c.  A corner is an arc with r = 0.
#pragma once
#include <stdbool.h>

typedef struct carom_stretch {
    double from[2], to[2];
    double centre[2], radius, wind; // c, r at its start, b
    double normal, turn;            // angle of the normal at its start; by how much it turns, left positive; 0: a line
} carom_stretch;

/// A line; an arc by its signed radius (left turns positive), at most a half circle; one through a third point; an
/// involute of the circle round `about`, from a point outside of it to a radius (larger: up a flank; smaller: down
/// one). False: there is none.
carom_stretch carom_stretch_line(const double *from, const double *to);
bool carom_stretch_arc(const double *from, const double *to, double radius, carom_stretch *s);
bool carom_stretch_through(const double *from, const double *through, const double *to, carom_stretch *s);
bool carom_stretch_involute(const double *from, const double *about, double base, double to, carom_stretch *s);
/// The arc round `about` that turns by `turn` from `from` on.
carom_stretch carom_stretch_round(const double *from, const double *about, double turn);
/// Point and outward normal at u in [0, 1]; n may be NULL.
void carom_stretch_at(const carom_stretch *s, double u, double *p, double *n);
double carom_stretch_length(const carom_stretch *s);
void carom_stretch_turn(carom_stretch *s, const double *about, double angle);
/// Two arcs that meet with one direction, from p with direction t to q with direction u, unit vectors.
int carom_stretch_biarc(const double *p, const double *t, const double *q, const double *u, carom_stretch *two);

/// (OUT-2)  All points within d of the solid: lines and arcs move by d along their normals, arcs of radius d round
/// convex
///          corners, stretches that meet in a concave one are cut where they cross.  s: room for 2 n.  Returns how
///          many; -1 - k: there is no room at stretch k.
int carom_outline_offset(carom_stretch *s, int n, bool closed, double d);
/// Points along it, at most `step` (an angle) apart where it turns; p NULL: how many.
int carom_outline_points(const carom_stretch *s, int n, bool closed, double step, double (*p)[2]);
/// Does it cross itself?  Then the place, and which stretches.
bool carom_outline_crosses(const carom_stretch *s, int n, bool closed, double *place, int *which);
/// (OUT-3)  Area, its first moments x, y and second moments xx, yy, xy about the origin, by Green's theorem.
void carom_outline_moments(const carom_stretch *s, int n, double *m);

/// (OUT-10)  Distance of p from it, negative on the solid side.  Beyond the ends of an open one, which is cut square
/// there, it is positive.
double carom_outline_distance(const carom_stretch *s, int n, bool closed, const double *p);
/// Half the diagonal of its bounding box.
double carom_outline_size(const carom_stretch *s, int n);

typedef enum carom_outline_kind { CAROM_OUTLINE_LINE, CAROM_OUTLINE_ARC, CAROM_OUTLINE_HOLLOW } carom_outline_kind;

// What formulas see of a piece, in the frame of its body.
enum {
    PIECE_AT = 0,     // start of a line; centre of an arc
    PIECE_FROM = 2,   // direction of a line; normal at the start of an arc (0: it is a whole circle)
    PIECE_TO = 4,     // where a line ends and begins, from its start; normal at the end of an arc
    PIECE_RADIUS = 6, // signed
    PIECE_WIND = 7, // by which the radius of an involute grows with the angle
    PIECE_FLAT = 8,      // of an arc: is there a line before it, behind it?
    PIECE_BISECTOR = 10, // twice x, y and offset: a place p inside belongs to the piece, not to the one beyond a convex
                         // corner, if (x, y).p >= offset
    PIECE_DEEP = 16,     // half the width of the solid behind it
    PIECE_SIZE = 17,     // of the whole outline
    PIECE_NUMBERS = 18
};

typedef struct carom_outline_piece {
    carom_outline_kind kind;
    bool winds; // an involute
    double x[PIECE_NUMBERS];
    double middle[2], reach; // a ball that holds it
} carom_outline_piece;

/// The pieces of a contour; out NULL: how many.
int carom_outline_pieces(const carom_stretch *s, int n, bool closed, carom_outline_piece *out);
void carom_outline_piece_move(carom_outline_piece *p, const double *by);
/// Move stretches: turned by an angle, then moved.
void carom_outline_place(carom_stretch *s, int n, double angle, const double *by);
