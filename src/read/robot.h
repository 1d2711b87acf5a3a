// robot.h (private): what importers of robots have in common: frames, masses, names, and the text of a model file.
#pragma once
#include "mech/pool.h"
#include "read/urdf.h"
#include "read/xml.h"
#include <math.h>
#include <stdarg.h>

// Mass of a part that needs one and has none, of the robot's, or in kg: too little to change how it moves.
static const double SLIGHT_MASS = 1e-3;

typedef struct frame {
    double R[9], r[3];
} frame; // world = R local + r, R by rows

/// Names as they are given and what they stand for.
typedef struct name_table {
    const char **name;
    int *value;
    size_t size, n;
} name_table;

typedef struct importing {
    const carom_robot_def *def;
    carom_error *err;
    carom_write_text *write;
    void *user;
    pool memory;
    name_table used; // names of the model
    int renamed;     // names that were used already
    bool full;       // no memory
} importing;

carom_status carom_import_fail(const importing *r, const xml_element *e, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
void carom_import_note(const importing *r, const xml_element *e, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/// n numbers of an attribute; where it is missing they stay.
carom_status carom_import_numbers(const importing *r, const xml_element *e, const char *attribute, int n, double *x);

// -- names ------------------------------------------------------------------------------------------------------------

int carom_table_get(const name_table *t, const char *name);                     // -1: it is not there
bool carom_table_put(pool *memory, name_table *t, const char *name, int value); // false: no memory
/// A name that carom allows and that is not used: other letters become _.  NULL: no memory.
const char *carom_import_name(importing *r, const char *own);

// -- frames and masses ------------------------------------------------------------------------------------------------

void carom_rotate_vector(const double *R, const double *x, double *y);
frame carom_compose(const frame *a, const frame *b);
frame carom_inverse(const frame *a);
frame carom_from_rpy(const double *rpy, const double *r);
frame carom_about(const double *n, double angle);
frame carom_from_quaternion(const double *q, const double *r); // w, x, y, z; made unit
frame carom_frame_none(void);

typedef struct mass {
    double m, centre[3], J[9];
} mass; // about the centre, along the axes of a frame

/// What a mass in frame f adds to another.
void carom_mass_add(mass *to, const mass *x, const frame *f);
bool carom_positive(const double *J);
/// Principal moments below those of a ball of radius 1 cm are raised to it.
void carom_mass_repair(mass *x);

// -- the text ---------------------------------------------------------------------------------------------------------

void carom_put(const importing *r, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void carom_put_quoted(const importing *r, const char *text);
void carom_put_number(const importing *r, double x);
void carom_put_list(const importing *r, const char *before, const double *x, int n);
void carom_put_turn(const importing *r, const double *R); // angle and axis, where it is turned
void carom_put_head(const importing *r, const char *name, const double *gravity);
void carom_put_body(const importing *r, const char *name, const mass *x,
                    const frame *at); // "  NAME: {mass: ... quaternion: ..."
/// The path under which the model names a mesh, in `path`; false: it is left out, with a note.
bool carom_import_mesh(const importing *r, const xml_element *e, const char *given, char *path, size_t size);
