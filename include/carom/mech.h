// mech.h: a mechanism as plain data, as given by a model file, C calls or another program; nothing derived.
//
// Every quantity is a datum as given: a number, or the text of an expression that is resolved when a model is made.
// Records are arrays in the order in which they were given; what is absent is zero.  The fields are the keys of the
// model file (docs/reference-model.md).  A mechanism owns all of its data: it can be copied, compared and hashed.
#pragma once
#include <carom/status.h>
#include <carom/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_datum_kind { CAROM_ABSENT, CAROM_NUMBER, CAROM_TEXT, CAROM_LIST, CAROM_MAP } carom_datum_kind;

/// Indices of a member of a family: their names and values.
typedef struct carom_indices { int n; const char *name[3]; int at[3]; } carom_indices;

/// The value of one key: a number, a text (an expression, a name, a word), a list, or named data, with its location for
/// messages.
typedef struct carom_datum {
    carom_datum_kind kind;
    int count;                // items of a list or map
    double number;
    const char *text;         // ends in NUL and contains no other; "" where there is none
    size_t length;            // of the text
    struct carom_datum *item; // count of them, one after the other
    const struct carom_datum *key; // its name in a map, a text; NULL: in a list
    int line, column;         // where it starts in the file, from 1 (after an opening quote); 0: not from a file
    const char *of;           // not from a file: the part that gives it, "joints.main" or "--set a=3"
    const carom_indices *indices; // of a member of a family, where its text may use them; NULL: none
    bool flow;                // is inside { } or [ ], or is such a map or list
    bool bare;                // a text without quotes
    bool aligned;             // byte k of the text is k characters after its start in the file
} carom_datum;

// Records.  `repeat`, `index` and the record after them make a family: as many records as repeat says, called NAME.0,
// NAME.1, ...  `name`: the name of a record (of records without one: its key), and its location.

typedef struct carom_mech_coordinate { carom_datum name, at, rate; } carom_mech_coordinate;
/// A quantity that has a rate: a current, a pressure, what a filter or controller remembers.
typedef struct carom_mech_state { carom_datum name, at, rate, scale; } carom_mech_state;
/// A function given by points: of a file, or x and y.
typedef struct carom_mech_table { carom_datum name, file, x, y, kind, outside; } carom_mech_table;
/// A signal that is set from outside and held in between.
typedef struct carom_mech_input { carom_datum name, start, signal; } carom_mech_input;
/// What computes at sample instants; its states and outputs are held in between.
typedef struct carom_mech_controller {
    carom_datum name, sample, offset, delay, states, outputs, start;
} carom_mech_controller;
typedef struct carom_mech_energy { carom_datum name, kinetic, potential; } carom_mech_energy;
typedef struct carom_mech_law {
    carom_datum name, restitution, tangential_restitution, friction, impact_law, impact_order;
} carom_mech_law;
/// A law of two parts of one material, and of this material with others, which are called by name.
typedef struct carom_mech_material { carom_mech_law own; carom_mech_law *with; int nwith; } carom_mech_material;
typedef struct carom_mech_record { carom_datum name, bodies, joints, contacts, columns; } carom_mech_record;
typedef struct carom_mech_simulation { carom_datum name, scheme, options, step, end; } carom_mech_simulation;

/// A gap that is written (gap), swept along a member (along, point), or between shapes (between, among); or friction
/// alone (normal_force, joint).
typedef struct carom_mech_contact {
    carom_datum name, restitution, tangential_restitution, friction, impact_law, impact_order;
    carom_datum gap, closes_while, exists_while, slip, slip_rate, along, point, side, radius, normal_force, joint;
    carom_datum between, among, ignore, rolling, spinning, resistance;
    carom_datum stiffness, exponent, damping, stiction_speed;
    carom_datum repeat, index;
    struct carom_mech_contact *contact;
} carom_mech_contact;

/// A shape that touches; its form by the key of `size`: circle, box, ...
typedef struct carom_mech_shape {
    carom_datum name, size, at, angle, axis, scale, corners, solids, cell, round, repeat, open, hollow, of,
        surface_velocity, material;
} carom_mech_shape;
typedef struct carom_mech_motion { carom_datum name, at, angle, axis; } carom_mech_motion;

typedef struct carom_mech_body {
    carom_datum name, mass, inertia, density, thickness, at, angle, axis, quaternion, velocity, spin, points, material,
        exists_while;
    carom_mech_shape *shape;   // called like the body; NULL: none
    carom_mech_shape *shapes;  // with names of their own
    int nshapes;
    carom_mech_motion *motion; // prescribed motion; NULL: it moves freely
    carom_datum repeat, index;
    struct carom_mech_body *body;
} carom_mech_body;

/// Limits of a coordinate of a joint.
typedef struct carom_mech_limits {
    carom_datum name, of, lower, upper, restitution, stiffness, damping;
} carom_mech_limits;
/// The play of a gear.
typedef struct carom_mech_backlash { carom_datum name, width, restitution, stiffness, damping; } carom_mech_backlash;

typedef struct carom_mech_joint {
    carom_datum name, type, between, at, points, axis, axes, motion, length, pitch, joints, ratio, friction, radius;
    carom_datum repeat, index;
    carom_mech_limits *limits;     // NULL: none
    carom_mech_backlash *backlash; // NULL: none
    struct carom_mech_joint *joint;
} carom_mech_joint;

/// What pulls points together that are farther from each other than its length.
typedef struct carom_mech_rope {
    carom_datum name, between, points, length, restitution, stiffness, damping;
    carom_datum repeat, index;
    struct carom_mech_rope *rope;
} carom_mech_rope;

/// Along a line, at a joint, or a bushing.
typedef struct carom_mech_spring {
    carom_datum name, type, joint, between, points, at, stiffness, damping, torsion, torsion_damping, length, rest,
        force, clearance, one_sided;
    carom_datum repeat, index;
    struct carom_mech_spring *spring;
} carom_mech_spring;

typedef struct carom_mech_motor { carom_datum name, joint, torque, force; } carom_mech_motor;
typedef struct carom_mech_load { carom_datum name, on, point, force, torque, frame; } carom_mech_load;

// matrix: the name of one, alone
typedef struct carom_mech_damping { carom_datum name, mass, stiffness, torsion, matrix; } carom_mech_damping;
typedef struct carom_mech_flywheel { carom_datum name, mass, inertia; } carom_mech_flywheel;

/// A flexible member.
typedef struct carom_mech_member {
    carom_datum name, type, frame, length, elements, density, modulus, shear_modulus, area, inertia, shear_area,
        torsion, radius, bore;
    carom_datum mass, massless, stiffness, gravity, load, at, rate, velocity, spin, fix, points, origin, direction, up,
        record, modal_damping;
    carom_mech_damping *damping; // NULL: none
    carom_mech_flywheel *flywheels;
    int nflywheels;
} carom_mech_member;

/// What is drawn; its form by the key of `size`: point, box, ...  `none`: the word that hides a part.
typedef struct carom_mech_figure {
    carom_datum name, size, at, angle, turn, colour, color, trace, width, of, none;
} carom_mech_figure;
/// Where a contact or constraint acts.
typedef struct carom_mech_touch { carom_datum name, at, normal, tangent, tangent2, colour, color; } carom_mech_touch;

typedef struct carom_mech {
    const char *file;                                             // for messages
    carom_datum format, name, about, start, assemble, settle, sleep, gravity, checks;
    carom_datum parameters, let, forces, constraints, outputs, exact, sweep; // maps
    carom_mech_table *tables;
    carom_mech_input *inputs;
    carom_mech_controller *controllers;
    carom_mech_energy *energy;
    carom_mech_law *defaults; // of contacts
    carom_mech_material *materials;
    carom_mech_simulation *simulation;
    carom_mech_record *record; // contents of results
    carom_mech_coordinate *coordinates;
    carom_mech_state *states;
    carom_mech_body *bodies;
    carom_mech_shape *shapes; // of the ground and of members
    carom_mech_joint *joints;
    carom_mech_rope *ropes;
    carom_mech_spring *springs;
    carom_mech_motor *motors;
    carom_mech_load *loads;
    carom_mech_member *members;
    carom_mech_contact *contacts;
    carom_mech_figure *figures;
    carom_mech_touch *touches;
    int ntables, ninputs, ncontrollers, ncoordinates, nstates, nbodies, nshapes, njoints, nropes, nsprings, nmotors,
        nloads, nmembers, ncontacts, nmaterials, nfigures, ntouches;
    carom_matrix_text *matrices;
    int nmatrices;
    struct carom_pool *memory; // of all of the above
} carom_mech;

/// An empty mechanism; NULL: no memory.
carom_mech *carom_mech_create(const char *file);
void carom_mech_destroy(carom_mech *m);
/// The mechanism that a model file describes; NULL on failure: err->text is `file:line:column: what; what to do`.
carom_mech *carom_mech_read(const char *text, size_t length, const char *file, carom_error *err);
/// Add an entry of a section as a file would have it, as data: ("bodies", "rod", a map), ("gravity", NULL, a list).
/// Keys of maps are their items' `key`.  It is copied; `section.name` names it in messages.
carom_status carom_mech_add(carom_mech *m, const char *section, const char *name, const carom_datum *value,
                            carom_error *err);
/// Free a text that carom_mech_text() returned.
void carom_mech_text_free(char *text);
/// The model file that describes a mechanism, to be freed; NULL: no memory.
char *carom_mech_text(const carom_mech *m);
/// Override a parameter: "name=expression", as typed with --set.  Of an input: "name=number" is another value at the
/// start, "name=expression" the signal that it follows, and "name=FILE.csv" a table of time whose text
/// carom_mech_add_matrix() hands over under the name FILE.csv.
carom_status carom_mech_set(carom_mech *m, const char *set, carom_error *err);
/// Hand over a matrix; it is copied.
carom_status carom_mech_add_matrix(carom_mech *m, const carom_matrix_text *matrix, carom_error *err);

#ifdef __cplusplus
}
#endif
