// keys.c: the keys of a model file, in words.
#include "model/text/keys.h"
#include <stddef.h>

static const key_word sections[] = {
    {"carom", "needed", "format version: 1"},
    {"name", "file name", "a title"},
    {"about", "", "free text"},
    {"parameters", "", "NAME: number, or an expression of other parameters, in any order; --set changes them"},
    {"coordinates", "needed, or bodies, flexible", "NAME: {at, rate}: what moves, and where it starts"},
    {"bodies", "", "NAME: a rigid body, planar or spatial"},
    {"shapes", "", "NAME: a shape of the ground, for contacts between shapes"},
    {"gravity", "0", "[x, y] or [x, y, z]: acts on all bodies"},
    {"joints", "", "NAME: what connects two bodies"},
    {"assemble", "no", "yes: positions are moved onto joints and constraints at the start"},
    {"springs", "", "NAME: springs, dampers and bushings between bodies and at joints"},
    {"motors", "", "NAME: torques and forces at joints"},
    {"loads", "", "NAME: forces and torques on bodies from outside"},
    {"flexible", "", "NAME: a bar, beam or shaft of finite elements, or matrices"},
    {"let", "", "NAME: expression, in order; NAME' is its rate"},
    {"energy", "needed with coordinates", "kinetic and potential energy of the coordinates"},
    {"forces", "", "COORDINATE: expression, the generalised force on it"},
    {"constraints", "", "NAME: expression of positions and time that stays 0"},
    {"contact defaults", "", "restitution and friction of contacts that do not say"},
    {"contacts", "", "NAME: a gap that must not become negative, with its law"},
    {"outputs", "", "NAME: expression, recorded as a column of that name"},
    {"exact", "", "COORDINATE: the exact solution as an expression of t; other keys are helpers"},
    {"checks", "", "a list of comparisons, judged at the end of a run"},
    {"simulation", "", "what a run uses unless the command line says otherwise"},
    {"draw", "", "NAME: a shape, what `carom view` shows; `contacts` in it: where contacts act"},
    {NULL, NULL, NULL}};

static const key_word coordinate[] = {
    {"at", "0", "position at the start, an expression of parameters"},
    {"rate", "0", "velocity at the start"},
    {NULL, NULL, NULL}};

static const key_word body[] = {
    {"mass", "needed", "positive"},
    {"inertia", "needed", "one number: a planar body; a list of three or six: a spatial one, about its centre of mass"},
    {"at", "0", "the centre of mass at the start"},
    {"angle", "0", "turned by it at the start; in space about `axis`"},
    {"axis", "", "in space: [x, y, z]"},
    {"quaternion", "", "in space: [w, x, y, z] instead of axis and angle"},
    {"velocity", "0, or from joints", "of the centre of mass at the start"},
    {"spin", "0, or from joints", "angular velocity at the start, in space in the body's frame"},
    {"points", "", "NAME: a point in the body's frame; BODY.NAME.x is where it is"},
    {"shape", "", "what touches: a shape called like the body"},
    {"shapes", "", "NAME: several shapes, called BODY.NAME"},
    {"motion", "", "instead of mass: the body moves as told"},
    {NULL, NULL, NULL}};

static const key_word motion[] = {
    {"at", "needed", "place, expressions of time and parameters"},
    {"angle", "0", "turned by it"},
    {"axis", "", "in space: about this axis"},
    {NULL, NULL, NULL}};

static const key_word joint[] = {
    {"type", "needed", "see the types of joints"},
    {"between", "needed", "[A, B]: two bodies, one may be ground"},
    {"at", "", "a point in the world, at the start"},
    {"points", "", "instead of at: a point in the frame of each body, or the name of one"},
    {"axis", "", "a direction in the world, at the start; a universal joint has two"},
    {"axes", "", "instead of axis: a direction in the frame of each body"},
    {"motion", "", "the angle or shift follows this expression of time"},
    {"length", "as at the start", "distance joints"},
    {"pitch", "needed", "screws: shift per turn"},
    {"joints", "needed", "gears: [ONE, TWO]"},
    {"ratio", "needed", "gears: coordinate of TWO over coordinate of ONE"},
    {NULL, NULL, NULL}};

const key_word carom_key_joint_types[] = {
    {"revolute", "", "points coincide, turns about the axis"},
    {"prismatic", "", "slides along the axis, does not turn"},
    {"spherical", "", "points coincide (space)"},
    {"cylindrical", "", "slides along the axis and turns about it (space)"},
    {"universal", "", "points coincide, an axis of one body perpendicular to an axis of the other (space)"},
    {"planar", "", "the second point stays in a plane of the first body, and parallel to it (space)"},
    {"weld", "", "nothing moves"},
    {"distance", "", "two points keep their distance"},
    {"screw", "", "as cylindrical, the shift grows by the pitch per turn (space)"},
    {"gear", "", "couples the coordinates of two joints"},
    {NULL, NULL, NULL}};

static const key_word line_spring[] = {
    {"between", "needed", "[A, B]: two bodies"},
    {"points", "needed", "a point of each, in its frame or by name"},
    {"stiffness", "0", "force per length"},
    {"damping", "0", "force per speed"},
    {"length", "as at the start", "length without load"},
    {NULL, NULL, NULL}};

static const key_word joint_spring[] = {
    {"joint", "needed", "acts on its angle; a prismatic joint's shift"},
    {"stiffness", "0", ""},
    {"damping", "0", ""},
    {"rest", "0", "angle or shift without load; 0 is the start"},
    {NULL, NULL, NULL}};

static const key_word bushing[] = {
    {"type", "needed", "bushing"},
    {"between", "needed", "[A, B]: two bodies"},
    {"points", "", "a point of each, in its frame or by name"},
    {"at", "", "instead of points: in the world, at the start"},
    {"stiffness", "0", "along the axes of A: a number, or one per axis"},
    {"damping", "0", "the same for damping"},
    {"torsion", "0", "stiffness about the axes"},
    {"torsion damping", "0", "damping about the axes"},
    {NULL, NULL, NULL}};

static const key_word member[] = {
    {"type", "needed", "bar, beam, exact beam, spatial beam, shaft, or matrices"},
    {"length", "needed", "undeformed length"},
    {"elements", "needed", "number of equal elements"},
    {"density", "needed", "mass per volume"},
    {"modulus", "needed", "Young's modulus"},
    {"area", "needed", "of the section"},
    {"mass", "consistent", "consistent or lumped"},
    {"massless", "", "points whose node gives its mass to its neighbours, for contact without impulses"},
    {"damping", "", "{mass: a, stiffness: b}: C = a M + b K"},
    {"gravity", "0", "acceleration, a list; a number: along x"},
    {"load", "0", "force per length, an expression of the arc length s; beams: by component, {w: ...}"},
    {"at", "0", "displacements at the start, expressions of s; exact beam: places"},
    {"rate", "0", "rates at the start, expressions of s"},
    {"fix", "", "what is held: start, [start, end], {start: [x, y], end: all}"},
    {"points", "", "NAME: arc length; start and end are always there"},
    {"origin", "0", "where it starts"},
    {"direction", "along x", "where it goes: an angle, or a list"},
    {"record", "", "unknowns: results hold these besides the points"},
    {NULL, NULL, NULL}};

static const key_word beam[] = {
    {"inertia", "needed", "second moment of area"},
    {"frame", "fixed", "fixed, or floating: it moves and turns with a frame of its own"},
    {NULL, NULL, NULL}};

static const key_word exact_beam[] = {
    {"inertia", "needed", "second moment of area"},
    {"shear modulus", "needed", ""},
    {"shear area", "5/6 of area", "area for shear"},
    {NULL, NULL, NULL}};

static const key_word spatial_beam[] = {
    {"inertia", "needed", "second moments of area, a list of two: for bending in w and in v"},
    {"shear modulus", "needed", "for torsion"},
    {"torsion", "needed", "torsion constant"},
    {"up", "[0, 0, 1]", "the member's own z axis lies in the plane of direction and up"},
    {"frame", "fixed", "fixed, or floating: it moves and turns with a frame of its own"},
    {NULL, NULL, NULL}};

static const key_word floating[] = {
    {"type", "needed", "beam or spatial beam, with the keys of its section"},
    {"inertia", "needed", "second moment of area; spatial: a list of two"},
    {"frame", "needed", "floating"},
    {"length", "needed", "undeformed length"},
    {"elements", "needed", "number of equal elements, at most 60"},
    {"density", "needed", "mass per volume"},
    {"modulus", "needed", "Young's modulus"},
    {"area", "needed", "of the section"},
    {"mass", "consistent", "consistent or lumped"},
    {"damping", "", "{mass: a, stiffness: b}: C = a M + b K, of what moves in the frame"},
    {"gravity", "of the model", "acceleration, a list"},
    {"at", "0", "displacements in the frame at the start, expressions of s"},
    {"rate", "0", "their rates"},
    {"fix", "start", "what is held in the frame; it must not be able to move there without bending"},
    {"points", "", "NAME: arc length; start and end are always there; MEMBER.NAME is a body for joints, springs, loads and contacts"},
    {"origin", "0", "where the frame is at the start"},
    {"direction", "along x", "where it goes: an angle, or a list"},
    {"velocity", "0, or from joints", "of the frame at the start"},
    {"spin", "0, or from joints", "angular velocity of the frame at the start, in space in its own axes"},
    {NULL, NULL, NULL}};

static const key_word matrices[] = {
    {"type", "needed", "matrices"},
    {"mass", "needed", "the mass matrix: its name, which --matrix NAME=FILE gives"},
    {"stiffness", "needed", "the stiffness matrix"},
    {"damping", "", "the damping matrix, or {mass: a, stiffness: b}: C = a M + b K"},
    {"load", "0", "force on every row, an expression of its number s; {vector: NAME}: from a file"},
    {"at", "0", "displacements at the start, likewise"},
    {"rate", "0", "rates at the start, likewise"},
    {"fix", "", "what is held: a point, or a list of points"},
    {"points", "", "NAME: number of a row, from 1"},
    {"record", "", "unknowns: results hold these besides the points"},
    {NULL, NULL, NULL}};

static const key_word shaft[] = {
    {"type", "needed", "shaft"},
    {"length", "needed", "undeformed length"},
    {"elements", "needed", "number of equal elements; or by stretches, {wheel: 2, end: 3}: two up to point `wheel`, three up to the end"},
    {"radius", "needed", "of the round section; or by stretches"},
    {"bore", "0", "radius of the hollow inside; or by stretches"},
    {"density", "needed", "mass per volume"},
    {"modulus", "needed", "Young's modulus"},
    {"shear modulus", "needed", "for torsion"},
    {"flywheels", "", "POINT: {mass, inertia}: a rigid wheel on that node"},
    {"damping", "", "{mass: a, stiffness: b, torsion: c}"},
    {"gravity", "0", "acceleration, a list"},
    {"load", "0", "force per length by component, expressions of the arc length s"},
    {"at", "0", "displacements at the start, expressions of s"},
    {"rate", "0", "rates at the start, expressions of s; {rx: 100} spins"},
    {"fix", "", "what is held: start, [start, end], {start: [v, w], end: all}"},
    {"points", "", "NAME: arc length; start and end are always there"},
    {"origin", "0", "where it starts"},
    {"direction", "along x", "where it goes, a list"},
    {"up", "[0, 0, 1]", "the shaft's own z axis lies in the plane of direction and up"},
    {"record", "", "unknowns: results hold these besides the points"},
    {NULL, NULL, NULL}};

static const key_word flywheel[] = {
    {"mass", "needed", ""},
    {"inertia", "needed", "about the axis, half of it across; or [about, across]"},
    {NULL, NULL, NULL}};

static const key_word shaft_damping[] = {
    {"mass", "0", "a of C = a M + b K, for bending"},
    {"stiffness", "0", "b"},
    {"torsion", "0", "torque by the difference of rx' over an element"},
    {NULL, NULL, NULL}};

static const key_word member_damping[] = {
    {"mass", "0", "a of C = a M + b K"},
    {"stiffness", "0", "b"},
    {NULL, NULL, NULL}};

static const key_word motor[] = {
    {"joint", "needed", "at its coordinate"},
    {"torque", "", "at an angle: an expression of time and state"},
    {"force", "", "at a shift: an expression of time and state"},
    {NULL, NULL, NULL}};

static const key_word load[] = {
    {"on", "needed", "a body"},
    {"point", "centre of mass", "in the body's frame, or the name of one of its points"},
    {"force", "", "a list of expressions of time and state"},
    {"torque", "", "a list; planar: one"},
    {"frame", "world", "world or body: in which the lists are given"},
    {NULL, NULL, NULL}};

static const key_word energy[] = {
    {"kinetic", "needed with coordinates", "quadratic in the rates"},
    {"potential", "0", "of positions, parameters and time"},
    {NULL, NULL, NULL}};

static const key_word law[] = {
    {"restitution", "0", "Newton's, in the normal direction, 0 to 1"},
    {"tangential restitution", "0", "the same in the tangential direction"},
    {"friction", "0", "Coulomb's coefficient"},
    {NULL, NULL, NULL}};

static const key_word contact[] = {
    {"gap", "needed", "distance, an expression of positions and time"},
    {"slip", "", "tangential displacement; a list of two: a spatial contact with a friction disc; up to five: a ball"},
    {"slip rate", "", "instead of slip: a tangential velocity, linear in the rates"},
    {"friction", "contact defaults", "Coulomb's coefficient, not negative; needs a slip"},
    {"restitution", "contact defaults", "Newton's, in the normal direction, 0 to 1"},
    {"tangential restitution", "contact defaults", "the same in the tangential direction"},
    {"along", "", "a flexible member: a contact at every node that can move"},
    {"point", "", "with along, instead of a gap: [x, y], a place that touches the member anywhere between its nodes"},
    {"side", "left", "of the member on which the point is: left or right of its direction"},
    {"radius", "0", "what the point keeps from the member's line"},
    {"between", "", "instead of a gap: shapes that touch each other"},
    {"among", "", "the same, each of a list with each"},
    {NULL, NULL, NULL}};

static const key_word pair[] = {
    {"between", "", "[A, B]: shapes, or lists of shapes, each of the first with each of the second; with three names and more neighbours touch"},
    {"among", "", "instead of between: [A, B, C, ...]: shapes, each may touch each other one"},
    {"friction", "contact defaults", "Coulomb's coefficient, not negative"},
    {"restitution", "contact defaults", "Newton's, in the normal direction, 0 to 1"},
    {"tangential restitution", "contact defaults", "the same in the tangential direction"},
    {"rolling", "0", "rolling resistance: the lever of the normal force (round shapes)"},
    {"spinning", "0", "resistance to spinning about the normal: the lever of the normal force (round shapes, space)"},
    {NULL, NULL, NULL}};

static const key_word solid[] = {
    {"point", "", "[x, y] or [x, y, z]"},
    {"circle", "", "radius (plane)"},
    {"sphere", "", "radius (space)"},
    {"capsule", "", "[radius, length]: all that is within radius of a line, along x in the plane, z in space"},
    {"polygon", "", "3 to 64 corners, convex (plane)"},
    {"box", "", "edges"},
    {"cylinder", "", "[radius, length], along its z (space)"},
    {"plane", "", "the normal, away from the solid side"},
    {"hole", "", "radius; the other shape moves inside"},
    {"slot", "", "[radius, length]: the inside of a capsule"},
    {"bore", "", "radius; the inside of an endless cylinder along its z (space)"},
    {"skin", "", "radius; all along a flexible member (section shapes)"},
    {"at", "0", "its centre, in the body's frame"},
    {"angle", "0", "turned by it; a box in space about axis"},
    {"axis", "", "direction of a capsule, slot, cylinder or bore in space"},
    {"of", "", "section shapes: a body, a flexible member (skin) or one of its points (point, circle, sphere)"},
    {NULL, NULL, NULL}};

static const key_word simulation[] = {
    {"scheme", "half-explicit", "`carom schemes` lists them"},
    {"options", "", "OPTION: value, of the scheme and the contact solver"},
    {"step", "needed, here or by --step", "step size"},
    {"end", "needed, here or by --end", "end time"},
    {NULL, NULL, NULL}};

static const key_word shape[] = {
    {"point", "", "[x, y]: a small mark"},
    {"segment", "", "two points: a straight bar"},
    {"line", "", "two or more points"},
    {"polygon", "", "three or more points, closed and filled (plane)"},
    {"wall", "", "two or more points, solid on the right of who walks along (plane)"},
    {"spring", "", "two points: a zigzag"},
    {"box", "", "[width, height], in space three edges"},
    {"circle", "", "radius (plane)"},
    {"sphere", "", "radius (space)"},
    {"cylinder", "", "[radius, length], along its own z axis (space)"},
    {"at", "", "the centre of a box, circle, sphere, cylinder"},
    {"angle", "0", "turned by it (plane)"},
    {"turn", "", "rotation vector or quaternion (space)"},
    {"colour", "dealt out in order", "blue, orange, green, red, purple, sky, yellow, grey or \"#rrggbb\""},
    {"color", "", "the same"},
    {"trace", "no", "yes: leaves its path behind"},
    {"width", "as looks good", "of points, bars and lines; of a spring how far it swings out"},
    {"of", "", "a body: places are in its frame, and the shape turns with it"},
    {NULL, NULL, NULL}};

static const key_word touch[] = {
    {"at", "needed", "where the contact or constraint acts: a point of what is pushed; `NAME: [x, y]` is short for it"},
    {"normal", "by the gap", "direction of the force, where the point does not say it"},
    {"tangent", "by the slip", "the same for friction"},
    {"tangent2", "by the slip", "the second one, in space"},
    {"colour", "", "as of shapes"},
    {"color", "", "the same"},
    {NULL, NULL, NULL}};

const key_group carom_key_groups[] = {
    {"", "Sections of the file; a section that is not needed may be missing or empty.", sections, NULL},
    {"coordinates.NAME", "`NAME: 0.3` is short for `{at: 0.3}`.", coordinate, NULL},
    {"energy", "Expressions of coordinates, rates, parameters and time.", energy, NULL},
    {"contacts.NAME", "A contact.", contact, NULL},
    {"contacts.NAME, between", "Contacts between shapes.", pair, NULL},
    {"contact defaults", "For contacts that do not say.", law, NULL},
    {"simulation", "", simulation, NULL},
    {"bodies.NAME", "A rigid body.", body, NULL},
    {"bodies.NAME.motion", "A body that moves as told.", motion, NULL},
    {"bodies.NAME.shape", "What touches; the same for `bodies.NAME.shapes.NAME` and `shapes.NAME`.  Exactly one of the first twelve keys says which.", solid, NULL},
    {"joints.NAME", "A joint.", joint, NULL},
    {"springs.NAME", "A spring along a line.", line_spring, NULL},
    {"springs.NAME, joint", "A spring at a joint.", joint_spring, NULL},
    {"springs.NAME, type: bushing", "A bushing.", bushing, NULL},
    {"motors.NAME", "A motor.", motor, NULL},
    {"loads.NAME", "A load.", load, NULL},
    {"flexible.NAME", "A flexible member; a bar has these keys.", member, NULL},
    {"flexible.NAME, type: beam", "Beside those of a bar.", beam, member},
    {"flexible.NAME, type: exact beam", "Beside those of a bar.", exact_beam, member},
    {"flexible.NAME, type: spatial beam", "Beside those of a bar.", spatial_beam, member},
    {"flexible.NAME, type: matrices", "A linear structure by its matrices, from Matrix Market files.", matrices, NULL},
    {"flexible.NAME.damping", "", member_damping, NULL},
    {"flexible.NAME, frame: floating", "A beam that moves and turns as it likes.", floating, NULL},
    {"flexible.NAME, type: shaft", "A shaft that turns about its axis.", shaft, NULL},
    {"flexible.NAME.flywheels.POINT", "A rigid wheel on a node of a shaft.", flywheel, NULL},
    {"flexible.NAME.damping, type: shaft", "", shaft_damping, NULL},
    {"draw.NAME", "A shape: exactly one of the first ten keys says which.  `BODY: none` hides a body.", shape, NULL},
    {"draw.contacts.NAME", "The place of a contact or constraint.", touch, NULL},
    {NULL, NULL, NULL, NULL}};

const key_word carom_key_functions[] = {
    {"sin", "x", "sine; angles are in radians"},
    {"cos", "x", "cosine"},
    {"tan", "x", "tangent"},
    {"asin", "x", "inverse sine"},
    {"acos", "x", "inverse cosine"},
    {"atan", "x", "inverse tangent"},
    {"atan2", "y, x", "angle of the point (x, y)"},
    {"sinh", "x", "hyperbolic sine"},
    {"cosh", "x", "hyperbolic cosine"},
    {"tanh", "x", "hyperbolic tangent"},
    {"exp", "x", "exponential"},
    {"log", "x", "natural logarithm"},
    {"sqrt", "x", "square root"},
    {"abs", "x", "absolute value"},
    {"sign", "x", "-1, 0 or 1"},
    {"min", "x, y", "the smaller; in checks min(x) is the lowest over all steps"},
    {"max", "x, y", "the larger; in checks max(x) is the highest over all steps"},
    {"hypot", "x, y", "sqrt(x^2 + y^2)"},
    {"floor", "x", "the largest integer that is not above x"},
    {"if", "c, x, y", "x where c is not 0, else y"},
    {NULL, NULL, NULL}};
