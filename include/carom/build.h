// build.h: mechanisms from C calls: bodies, joints, springs, motors, loads, shapes that touch.
//
// Calls fill a mechanism (mech.h), and carom_build_model() makes a model of it: the same checks, names, columns of
// results and equations as from a file (docs/bodies-and-joints.md).  What has no call of its own (coordinates, let,
// outputs, checks, ...) is written as in a file, by carom_build_entry().
//
// Calls copy what they are given and do not fail; carom_build_model() reports the first mistake, with the name of the
// element.  Vectors are pointers to two numbers for planar bodies and three for spatial ones; NULL: not given.
#pragma once
#include <carom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_build carom_build;
typedef struct carom_body { int id; } carom_body;   // {0} is the ground
typedef struct carom_joint { int id; } carom_joint; // {0} is none
typedef struct carom_solid { int id; } carom_solid; // a shape of a body or of the ground

carom_build *carom_build_create(const char *name); // NULL: no memory
void carom_build_destroy(carom_build *b);

void carom_build_gravity(carom_build *b, double x, double y, double z); // planar models: x and y
void carom_build_parameter(carom_build *b, const char *name, double value);

/// A planar body.  Velocities that are not given follow from the joints.
typedef struct carom_planar_def {
    const char *name;
    double mass, inertia;         // about the centre of mass
    double at[2], angle;          // the centre of mass at the start
    const double *velocity, *spin; // two, one
} carom_planar_def;
carom_body carom_build_planar(carom_build *b, const carom_planar_def *def);

/// A spatial body; spin is in its own frame.
typedef struct carom_spatial_def {
    const char *name;
    double mass, inertia[6];      // xx, yy, zz, xy, xz, yz
    double at[3], quaternion[4];  // all zero: not turned
    const double *velocity, *spin;
} carom_spatial_def;
carom_body carom_build_spatial(carom_build *b, const carom_spatial_def *def);

/// A body with prescribed motion, by expressions of time; without at[2] it is planar.
typedef struct carom_moving_def {
    const char *name, *at[3], *angle;
    const double *axis; // in space
} carom_moving_def;
carom_body carom_build_moving(carom_build *b, const carom_moving_def *def);

/// A named point of a body: NAME.x of it is BODY.NAME.x in expressions.
void carom_build_point(carom_build *b, carom_body body, const char *name, const double *at);

/// Types as in the file: "revolute", "prismatic", ...  Where: at and axis in the world, or points and axes of both
/// bodies.
typedef struct carom_joint_def {
    const char *name, *type;
    carom_body between[2];
    const double *at, *points[2];
    const double *axis, *second_axis, *axes[2]; // second_axis: of a universal joint
    const char *motion;                         // drives it: an expression of time
    const double *length;                       // distance joints; NULL: as at the start
    double pitch, ratio;                        // screws; gears
    carom_joint joints[2];                      // gears
} carom_joint_def;
carom_joint carom_build_joint(carom_build *b, const carom_joint_def *def);

/// Between two bodies, along the line between points of theirs, or at a joint.
typedef struct carom_spring_def {
    const char *name;
    carom_joint joint;
    carom_body between[2];
    const double *points[2];
    double stiffness, damping;
    const double *length; // without load; NULL: as at the start
    double rest;          // the same at a joint
} carom_spring_def;
void carom_build_spring(carom_build *b, const carom_spring_def *def);

typedef struct carom_bushing_def {
    const char *name;
    carom_body between[2];
    const double *at, *points[2];
    double stiffness[3], damping[3];        // along the axes of the first body
    double torsion[3], torsion_damping[3];  // about them; in the plane the last of three
} carom_bushing_def;
void carom_build_bushing(carom_build *b, const carom_bushing_def *def);

/// Expressions of time and state: torque at an angle, force at a shift.
typedef struct carom_motor_def {
    const char *name;
    carom_joint joint;
    const char *torque, *force;
} carom_motor_def;
void carom_build_motor(carom_build *b, const carom_motor_def *def);

typedef struct carom_load_def {
    const char *name;
    carom_body on;
    const double *point;                // NULL: the centre of mass
    const char *force[3], *torque[3];   // NULL: zero; in the plane the last torque of three
    bool turns;                         // given in the frame of the body
} carom_load_def;
void carom_build_load(carom_build *b, const carom_load_def *def);

/// A shape of a body, {0}: of the ground.  Types as in the file: "circle", "box", "plane", ...
typedef struct carom_solid_def {
    const char *name, *type;      // without a name it is called like its body, of which it is then the only one
    double size[3];               // radius; radius and length; edges; normal of a plane; place of a point
    const double *corners;        // polygons: x and y of each
    int ncorners;
    const double *at, *axis;
    double angle;
} carom_solid_def;
carom_solid carom_build_solid(carom_build *b, carom_body of, const carom_solid_def *def);

typedef struct carom_contact_def {
    const char *name;
    carom_solid between[2];
    double restitution, tangential_restitution, friction;
} carom_contact_def;
void carom_build_contact(carom_build *b, const carom_contact_def *def);

/// An entry of any section as a file would have it: ("outputs", "tip", "rod.tip.x"), ("contacts", "wall", "{gap:
/// rod.tip.x, restitution: 0.5}"); a section that is no map: ("checks", NULL, "[drift < 1e-9]").
void carom_build_entry(carom_build *b, const char *section, const char *name, const char *text);

/// NULL on failure: err->text names the element.  The builder is unchanged.
carom_model *carom_build_model(carom_build *b, carom_error *err);
/// The same as a model file; NULL after a mistake.  Valid until the next call.
const char *carom_build_text(carom_build *b);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_body carom_build_planar_sized(size_t size, carom_build *b, const carom_planar_def *def);
carom_body carom_build_spatial_sized(size_t size, carom_build *b, const carom_spatial_def *def);
carom_body carom_build_moving_sized(size_t size, carom_build *b, const carom_moving_def *def);
carom_joint carom_build_joint_sized(size_t size, carom_build *b, const carom_joint_def *def);
void carom_build_spring_sized(size_t size, carom_build *b, const carom_spring_def *def);
void carom_build_bushing_sized(size_t size, carom_build *b, const carom_bushing_def *def);
void carom_build_motor_sized(size_t size, carom_build *b, const carom_motor_def *def);
void carom_build_load_sized(size_t size, carom_build *b, const carom_load_def *def);
void carom_build_contact_sized(size_t size, carom_build *b, const carom_contact_def *def);
carom_solid carom_build_solid_sized(size_t size, carom_build *b, carom_body of, const carom_solid_def *def);
#ifndef CAROM_INSIDE
#define carom_build_planar(...) carom_build_planar_sized(sizeof(carom_planar_def), __VA_ARGS__)
#define carom_build_spatial(...) carom_build_spatial_sized(sizeof(carom_spatial_def), __VA_ARGS__)
#define carom_build_moving(...) carom_build_moving_sized(sizeof(carom_moving_def), __VA_ARGS__)
#define carom_build_joint(...) carom_build_joint_sized(sizeof(carom_joint_def), __VA_ARGS__)
#define carom_build_spring(...) carom_build_spring_sized(sizeof(carom_spring_def), __VA_ARGS__)
#define carom_build_bushing(...) carom_build_bushing_sized(sizeof(carom_bushing_def), __VA_ARGS__)
#define carom_build_motor(...) carom_build_motor_sized(sizeof(carom_motor_def), __VA_ARGS__)
#define carom_build_load(...) carom_build_load_sized(sizeof(carom_load_def), __VA_ARGS__)
#define carom_build_contact(...) carom_build_contact_sized(sizeof(carom_contact_def), __VA_ARGS__)
#define carom_build_solid(...) carom_build_solid_sized(sizeof(carom_solid_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
