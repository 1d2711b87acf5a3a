// mjcf.h (private): a model of MuJoCo while it is read: mjcf_attributes.c, mjcf_bodies.c, mjcf_write.c.
#pragma once
#include "read/robot.h"

enum { MOST_OMITTED = 100, CLASSES = 512 }; // chosen: kinds of omissions that are listed; default classes

typedef enum joint_type { HINGE, SLIDE, BALL, FREE } joint_type;

typedef struct class {
    const xml_element *e;
    const char *name;
    int parent;
} class;

typedef struct body {
    const char *name;
    int carrier; // index of the body whose part it is; -1: the ground
    frame at;
    mass mass;  // of a carrier: of all of it, in its frame
    bool given; // by an <inertial>
    const xml_element *e;
    const char *childclass;
    int parent, shapes;
    struct body *next;
} body;

typedef struct joint {
    const char *name, *own;
    joint_type type;
    const xml_element *e;
    const char *A, *B; // bodies of carom
    double at[3], axis[3], range[2], damping, stiffness, springref, ref, friction;
    bool limited, locked;
    struct joint *next;
} joint;

/// A geometry of a body, or of the ground.
typedef struct geom {
    const char *name, *kind; // key of carom
    const body *of;
    frame at; // in the frame of the carrier, or of the world
    double x[3], scale[3], friction;
    int n, contype, conaffinity;
    bool drawn; // it touches nothing
    char *path;
    struct geom *next;
} geom;

typedef struct helper {
    const char *name;
    mass mass;
    frame at;
    struct helper *next;
} helper;

typedef struct omitted {
    char what[80];
    int count;
} omitted;

typedef struct mjcf {
    importing i;
    class classes[CLASSES];
    int nclasses;
    double angle; // radians of its unit
    const char *eulerseq, *meshdir;
    bool autolimits, from_geoms_always, global; // global: positions are those in the world
    bool composite;                             // there are bodies that have no counterpart
    double gravity[3], timestep;
    name_table class_of, body_of, joint_of, mesh_of;
    const xml_element **meshes;
    int nmeshes, nbodies, nshapes_ground;
    body *first, **last;
    body **body_at; // by number
    int body_room;
    joint *joints, **last_joint;
    joint **joint_at;
    int njoints, joint_room;
    geom *geoms, **last_geom;
    helper *helpers, **last_helper;
    omitted omitted[MOST_OMITTED];
    int nomitted;
} mjcf;

#define fail(m, ...) carom_import_fail(&(m)->i, __VA_ARGS__)
#define note(m, ...) carom_import_note(&(m)->i, __VA_ARGS__)
#define put(m, ...) carom_put(&(m)->i, __VA_ARGS__)

// mjcf_attributes.c: attributes with their defaults, frames; what has no counterpart.  childclass: NULL: none.
carom_status mjcf_no_memory(const mjcf *m);
void mjcf_omit(mjcf *m, const char *what);
void mjcf_omit_element(mjcf *m, const xml_element *e, const char *in);
/// <include file="..."/> becomes the children of that file's root.
carom_status mjcf_include(mjcf *m, xml_element *parent, int depth);
carom_status mjcf_read_classes(mjcf *m, const xml_element *e, int parent);
const char *mjcf_get(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute);
/// Up to n numbers; how many there are, 0 without the attribute.
carom_status mjcf_some(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, int most,
                       double *x, int *n);
/// One number, or `want` of them; without the attribute x stays.  there: may be NULL.
carom_status mjcf_number(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, double *x);
carom_status mjcf_vector(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, int want,
                         double *x, bool *there);
bool mjcf_normalise(double *x);
/// The frame whose z axis is along n: the shortest turn.
frame mjcf_along(double *n, const double *r);
/// pos, and one of quat, axisangle, euler, xyaxes, zaxis.
carom_status mjcf_pose(const mjcf *m, const xml_element *e, const char *childclass, frame *f);
/// Where the root is.
frame mjcf_start_frame(const mjcf *m);

// mjcf_bodies.c: geometries, bodies, joints, masses.
const char *mjcf_carrier_name(const mjcf *m, int carrier);
carom_status mjcf_read_world(mjcf *m, const xml_element *world);
carom_status mjcf_check_masses(mjcf *m);

// mjcf_write.c: sections of the model file.
void mjcf_put_bodies(const mjcf *m);
void mjcf_put_springs(const mjcf *m);
void mjcf_put_limits(const mjcf *m);
carom_status mjcf_put_actuators(mjcf *m, const xml_element *root);
carom_status mjcf_put_all_joints(mjcf *m, const xml_element *root);
