// keys.c: the keys of a model file: what they mean, and where they stand in a mechanism.
#include "mech/keys.h"

#define AT(record, field) offsetof(carom_mech_##record, field)
#define TOP(field) offsetof(carom_mech, field)
#define KEY(kind_, name_, fallback_, about_, unit_, at_)                                                               \
    { .name = name_, .fallback = fallback_, .about = about_, .kind = KEY_##kind_, .unit = unit_, .at = at_ }
#define ONE(name_, fallback_, about_, at_, groups_)                                                                    \
    {                                                                                                                  \
        .name = name_, .fallback = fallback_, .about = about_, .kind = KEY_RECORD, .unit = "", .at = at_,              \
        .groups = groups_                                                                                              \
    }
#define SEVERAL(name_, fallback_, about_, at_, count_, groups_, own_)                                                  \
    {                                                                                                                  \
        .name = name_, .fallback = fallback_, .about = about_, .kind = KEY_RECORDS, .unit = "", .at = at_,             \
        .count = count_, .groups = groups_, .own = own_                                                                \
    }
#define END {.name = NULL}
// A family of records.
#define FAMILY(record, plural, of)                                                                                     \
    static const carom_key record##_family_keys[] = {                                                                  \
        KEY(NUMBER, "repeat", "needed",                                                                                \
            "number of members, or a list of up to three; members are NAME.0, NAME.1, ..., or NAME.0.0.0, ...", "1",   \
            AT(record, repeat)),                                                                                       \
        KEY(WORD, "index", "i, j, k", "names of the indices, which the expressions of a member may use", "",           \
            AT(record, index)),                                                                                        \
        ONE(#record, "needed", of, AT(record, record), plural##_single), END};                                         \
    static const key_group record##_family_group = {GROUP(#plural ".NAME, repeat",                                     \
                                                          "A family: one entry that generates many.",                  \
                                                          record##_family_keys, carom_mech_##record, #record),         \
                                                    .when = {{"repeat", NULL}}}
#define GROUP(place_, about_, keys_, record, called_)                                                                  \
    .place = place_, .about = about_, .keys = keys_, .size = sizeof(record), .called = called_

static const carom_key coordinate_keys[] = {
    KEY(NUMBER, "at", "0", "initial position, an expression of parameters", "", AT(coordinate, at)),
    KEY(NUMBER, "rate", "0", "initial velocity", "", AT(coordinate, rate)),
    END};
static const key_group coordinate_group = {GROUP("coordinates.NAME", "`NAME: 0.3` is short for `{at: 0.3}`.",
                                                 coordinate_keys, carom_mech_coordinate, "coordinate"),
                                           .brief = CAROM_TEXT, .brief_at = offsetof(carom_mech_coordinate, at)};
static const key_group *const coordinates[] = {&coordinate_group, NULL};

static const carom_key state_keys[] = {
    KEY(NUMBER, "at", "0", "initial value, an expression of parameters", "", AT(state, at)),
    KEY(EXPRESSION, "rate", "needed", "what it changes by per second: an expression of time and state", "",
        AT(state, rate)),
    KEY(NUMBER, "scale", "from its start and rate", "its usual size, positive: what tolerances compare its errors with",
        "", AT(state, scale)),
    END};
static const key_group state_group = {GROUP("states.NAME",
                                            "A first-order state: current, pressure, filter, continuous controller.",
                                            state_keys, carom_mech_state, "state")};
static const key_group *const states[] = {&state_group, NULL};

static const carom_key table_keys[] = {
    KEY(NAME, "file", "",
        "a CSV file of two columns, x and y, in the directory of the model or below it; `NAME: FILE` is short for it",
        "",
        AT(table, file)),
    KEY(NUMBER, "x", "", "instead of a file: an increasing list of numbers", "", AT(table, x)),
    KEY(NUMBER, "y", "", "one for every x", "", AT(table, y)),
    KEY(WORD, "kind", "linear", "linear, or spline: a cubic with continuous second derivatives", "", AT(table, kind)),
    KEY(WORD, "outside", "constant", "extrapolation: constant, or error (the run stops)", "", AT(table, outside)),
    END};
static const key_group table_group = {
    GROUP("tables.NAME", "A function given by points.", table_keys, carom_mech_table, "table"), .brief = CAROM_TEXT,
    .brief_at = offsetof(carom_mech_table, file)};
static const key_group *const tables[] = {&table_group, NULL};

static const carom_key input_keys[] = {KEY(NUMBER, "start", "0",
                                           "initial value, an expression of parameters; `NAME: 0` is short for it", "",
                                           AT(input, start)),
                                       KEY(EXPRESSION, "signal", "",
                                           "instead of being set from outside: an expression of time and parameters "
                                           "that it follows; a run may give one",
                                           "", AT(input, signal)),
                                       END};
static const key_group input_group = {GROUP("inputs.NAME",
                                            "A signal that is set from outside: by the command line, a program or an "
                                            "importer of an FMU.  It keeps its value in between.",
                                            input_keys, carom_mech_input, "input"),
                                      .brief = CAROM_TEXT, .brief_at = offsetof(carom_mech_input, start)};
static const key_group *const inputs[] = {&input_group, NULL};

static const carom_key controller_keys[] = {
    KEY(NUMBER, "sample", "needed", "time between two samples", "s", AT(controller, sample)),
    KEY(NUMBER, "offset", "0", "time of the first sample", "s", AT(controller, offset)),
    KEY(NUMBER, "delay", "0", "delay between sampling and output update, at most `sample`", "s", AT(controller, delay)),
    KEY(NAMED, "states", "", "NAME: its next value, an expression of values at the sample", "", AT(controller, states)),
    KEY(NAMED, "outputs", "", "NAME: an expression of values at the sample, before the states change", "",
        AT(controller, outputs)),
    KEY(NAMED, "start", "0",
        "NAME: value of a state before the first sample, or of an output before it first takes effect", "",
        AT(controller, start)),
    END};
static const key_group controller_group = {GROUP("controllers.NAME",
                                                 "A discrete controller.  Expressions of the model use its states and "
                                                 "outputs by name; between samples they are constant.",
                                                 controller_keys, carom_mech_controller, "controller")};
static const key_group *const controllers[] = {&controller_group, NULL};

static const carom_key energy_keys[] = {
    KEY(EXPRESSION, "kinetic", "needed with coordinates", "quadratic in the rates", "J", AT(energy, kinetic)),
    KEY(EXPRESSION, "potential", "0", "of positions, parameters and time", "J", AT(energy, potential)),
    END};
static const key_group energy_group = {GROUP("energy", "Expressions of coordinates, rates, parameters and time.",
                                             energy_keys, carom_mech_energy, "energy"),
                                       .without_name = true};
static const key_group *const energies[] = {&energy_group, NULL};

#define FRICTION                                                                                                       \
    "Coulomb's coefficient, not negative: a number, an expression that may use slip.speed (m/s), normal.force (N) "    \
    "and the state, {static, kinetic, stribeck}"
#define ELLIPSE                                                                                                        \
    ", or {along, across, direction, of}: two coefficients in space, along a direction fixed in body or family `of` "  \
    "(default: the world) and across it"
#define IMPACT_LAW                                                                                                     \
    "definition of restitution: newton (ratio of velocities), poisson (ratio of impulses), energetic (square root "    \
    "of the ratio of works) or fremond (newton, with friction against the mean of the slip velocities before and after)"
#define IMPACT_ORDER                                                                                                   \
    "treatment of simultaneous impacts: simultaneous, or sequential (fastest approach first); energetic is always "    \
    "sequential"
static const carom_key law_keys[] = {
    KEY(NUMBER, "restitution", "0", "in the normal direction, 0 to 1; may use approach.speed (m/s)", "1",
        AT(law, restitution)),
    KEY(NUMBER, "tangential restitution", "0", "the same in the tangential direction, Newton's law only", "1",
        AT(law, tangential_restitution)),
    KEY(EXPRESSION, "friction", "0", FRICTION ELLIPSE, "1", AT(law, friction)),
    KEY(WORD, "impact law", "newton", IMPACT_LAW, "", AT(law, impact_law)),
    KEY(WORD, "impact order", "simultaneous", IMPACT_ORDER, "", AT(law, impact_order)),
    END};
static const key_group law_group = {
    GROUP("contact defaults", "Defaults for contacts.", law_keys, carom_mech_law, "contact defaults"),
    .without_name = true};
static const key_group *const laws[] = {&law_group, NULL};

static const key_group with_group = {
    GROUP("materials.NAME.with.OTHER", "The law of two materials.", law_keys, carom_mech_law, "with")};
static const key_group *const withs[] = {&with_group, NULL};
static const carom_key material_keys[] = {
    KEY(NUMBER, "restitution", "0", "between two parts of this material", "1", AT(material, own.restitution)),
    KEY(NUMBER, "tangential restitution", "0", "the same in the tangential direction, Newton's law only", "1",
        AT(material, own.tangential_restitution)),
    KEY(EXPRESSION, "friction", "0", FRICTION, "1", AT(material, own.friction)),
    KEY(WORD, "impact law", "newton", IMPACT_LAW, "", AT(material, own.impact_law)),
    KEY(WORD, "impact order", "simultaneous", IMPACT_ORDER, "", AT(material, own.impact_order)),
    SEVERAL(
        "with", "",
        "OTHER: the law of this material with another; a pair that is listed nowhere has the geometric means of both",
        AT(material, with), AT(material, nwith), withs, NULL),
    END};
static const key_group material_group = {GROUP("materials.NAME",
                                               "A material, which bodies and shapes name: `material: NAME`.",
                                               material_keys, carom_mech_material, "material")};
static const key_group *const materials[] = {&material_group, NULL};

static const carom_key contact_keys[] = {
    KEY(EXPRESSION, "gap", "needed", "distance, an expression of positions and time", "m", AT(contact, gap)),
    KEY(EXPRESSION, "closes while", "always",
        "the contact can close only while this expression is positive; otherwise the gap may become negative; a closed "
        "contact is unaffected",
        "", AT(contact, closes_while)),
    KEY(EXPRESSION, "exists while", "always",
        "the contact is there only while this expression is positive (true); where it comes its gap must be positive",
        "", AT(contact, exists_while)),
    KEY(EXPRESSION, "slip", "",
        "tangential displacement; two: spatial contact with a friction disc; three to five: friction ball (rolling, "
        "spinning)",
        "m", AT(contact, slip)),
    KEY(EXPRESSION, "slip rate", "", "instead of slip: a tangential velocity, linear in the rates", "m/s",
        AT(contact, slip_rate)),
    KEY(EXPRESSION, "friction", "contact defaults", FRICTION ", or a list, one for each of two slips; needs a slip",
        "1", AT(contact, friction)),
    KEY(NUMBER, "restitution", "contact defaults", "in the normal direction, 0 to 1; may use approach.speed (m/s)", "1",
        AT(contact, restitution)),
    KEY(NUMBER, "tangential restitution", "contact defaults", "the same in the tangential direction, Newton's law only",
        "1", AT(contact, tangential_restitution)),
    KEY(WORD, "impact law", "contact defaults", IMPACT_LAW, "", AT(contact, impact_law)),
    KEY(WORD, "impact order", "contact defaults", IMPACT_ORDER, "", AT(contact, impact_order)),
    KEY(NUMBER, "stiffness", "rigid", "compliant contact: force max(0, k d^n (1 + c d')) with d = max(0, -gap)",
        "N/m^n", AT(contact, stiffness)),
    KEY(NUMBER, "exponent", "1", "with stiffness: n, 1 for a linear spring, 1.5 for Hertz's law", "1",
        AT(contact, exponent)),
    KEY(NUMBER, "damping", "0", "with stiffness: c, Hunt and Crossley's damping", "s/m", AT(contact, damping)),
    KEY(NUMBER, "stiction speed", "needed with friction",
        "with stiffness: slip speed below which friction falls to zero", "m/s", AT(contact, stiction_speed)),
    KEY(NAME, "along", "", "a flexible member: a contact at every node that can move", "", AT(contact, along)),
    KEY(EXPRESSION, "point", "",
        "with along, instead of a gap: [x, y], a place that touches the member anywhere between its nodes", "m",
        AT(contact, point)),
    KEY(WORD, "side", "left", "side of the member on which the point lies: left or right of its direction", "",
        AT(contact, side)),
    KEY(NUMBER, "radius", "0", "distance of the point from the member's centreline at contact", "m",
        AT(contact, radius)),
    KEY(NAME, "between", "", "instead of a gap: shapes that touch each other", "", AT(contact, between)),
    KEY(NAME, "among", "", "like between, for all pairs of a list", "", AT(contact, among)),
    KEY(NAME, "ignore", "", "with between or among: pairs that do not touch each other", "", AT(contact, ignore)),
    END};

static const carom_key pair_keys[] = {
    KEY(NAME, "between", "",
        "[A, B]: shapes, or lists of shapes, each of the first with each of the second; with three names and more "
        "neighbours touch",
        "", AT(contact, between)),
    KEY(NAME, "among", "", "instead of between: [A, B, C, ...]: shapes, each may touch each other one", "",
        AT(contact, among)),
    KEY(NAME, "ignore", "",
        "[[A, B], ...]: no shape of A touches a shape of B; each is a shape, a family or a list, and [A, A] is allowed",
        "", AT(contact, ignore)),
    KEY(EXPRESSION, "exists while", "always",
        "these contacts are there only while this expression is positive (true)", "", AT(contact, exists_while)),
    KEY(EXPRESSION, "friction", "material, or contact defaults", FRICTION ELLIPSE, "1", AT(contact, friction)),
    KEY(NUMBER, "restitution", "material, or contact defaults",
        "in the normal direction, 0 to 1; may use approach.speed (m/s)", "1", AT(contact, restitution)),
    KEY(NUMBER, "tangential restitution", "material, or contact defaults",
        "the same in the tangential direction, Newton's law only", "1", AT(contact, tangential_restitution)),
    KEY(WORD, "impact law", "material, or contact defaults", IMPACT_LAW, "", AT(contact, impact_law)),
    KEY(WORD, "impact order", "material, or contact defaults", IMPACT_ORDER, "", AT(contact, impact_order)),
    KEY(NUMBER, "stiffness", "rigid", "compliant contact: force max(0, k d^n (1 + c d')) with d = max(0, -gap)",
        "N/m^n", AT(contact, stiffness)),
    KEY(NUMBER, "exponent", "1", "with stiffness: n, 1 for a linear spring, 1.5 for Hertz's law", "1",
        AT(contact, exponent)),
    KEY(NUMBER, "damping", "0", "with stiffness: c, Hunt and Crossley's damping", "s/m", AT(contact, damping)),
    KEY(NUMBER, "stiction speed", "needed with friction",
        "with stiffness: slip speed below which friction falls to zero", "m/s", AT(contact, stiction_speed)),
    KEY(NUMBER, "rolling", "0", "rolling resistance: lever arm of the normal force (round shapes)", "m",
        AT(contact, rolling)),
    KEY(NUMBER, "spinning", "0",
        "resistance to spinning about the normal: the lever of the normal force (round shapes, space)", "m",
        AT(contact, spinning)),
    KEY(WORD, "resistance", "ball",
        "ball: sliding, rolling and spinning share one bound; discs: each has a bound of its own", "",
        AT(contact, resistance)),
    END};
static const carom_key joint_friction_keys[] = {
    KEY(NAME, "joint", "needed", "a revolute, prismatic, cylindrical or spherical joint", "", AT(contact, joint)),
    KEY(NUMBER, "radius", "needed where it turns", "of the bearing, at which friction acts", "m", AT(contact, radius)),
    KEY(EXPRESSION, "friction", "contact defaults", FRICTION, "1", AT(contact, friction)),
    KEY(EXPRESSION, "normal force", "joint.force",
        "what presses: an expression of time and state that may use joint.force, the joint's own reaction across its "
        "axis; below 0 it counts as 0",
        "N", AT(contact, normal_force)),
    END};
static const carom_key pressed_keys[] = {
    KEY(EXPRESSION, "normal force", "needed",
        "normal force replacing the gap: an expression of time and state; negative values count as 0", "N",
        AT(contact, normal_force)),
    KEY(EXPRESSION, "slip", "",
        "tangential displacement; for a brake of radius r on angle phi: r*phi; a list: several directions", "m",
        AT(contact, slip)),
    KEY(EXPRESSION, "slip rate", "", "instead of slip: a tangential velocity, linear in the rates", "m/s",
        AT(contact, slip_rate)),
    KEY(EXPRESSION, "friction", "contact defaults", FRICTION, "1", AT(contact, friction)), END};
static const key_group joint_friction_group = {
    GROUP("contacts.NAME, joint", "Friction in a joint.", joint_friction_keys, carom_mech_contact, "contact"),
    .when = {{"joint", NULL}}};
static const key_group pressed_group = {GROUP("contacts.NAME, normal force",
                                              "Friction with a given normal force: brakes, clutches.", pressed_keys,
                                              carom_mech_contact, "contact"),
                                        .when = {{"normal force", NULL}}};
static const key_group pair_group = {
    GROUP("contacts.NAME, between", "Contacts between shapes.", pair_keys, carom_mech_contact, "contact"),
    .when = {{"between", NULL}}};
static const key_group among_group = {GROUP("", "", pair_keys, carom_mech_contact, "contact"),
                                      .when = {{"among", NULL}}};
static const key_group contact_group = {
    GROUP("contacts.NAME", "A contact.", contact_keys, carom_mech_contact, "contact")};
static const key_group *const contacts_single[] = {&joint_friction_group, &pressed_group, &pair_group,
                                                   &among_group,          &contact_group, NULL};
FAMILY(contact, contacts, "each of them, as `contacts.NAME`");
static const key_group *const contacts[] = {
    &contact_family_group, &joint_friction_group, &pressed_group, &pair_group, &among_group, &contact_group, NULL};

static const carom_key simulation_keys[] = {
    KEY(WORD, "scheme", "auto", "`carom schemes` lists them", "", AT(simulation, scheme)),
    KEY(NAMED, "options", "", "OPTION: value, of the scheme and the contact solver", "", AT(simulation, options)),
    KEY(NUMBER, "step", "auto: end/1000", "step size; of auto, the interval between records", "s",
        AT(simulation, step)),
    KEY(NUMBER, "end", "needed, here or for the run", "end time", "s", AT(simulation, end)),
    END};
static const key_group simulation_group = {
    GROUP("simulation", "", simulation_keys, carom_mech_simulation, "simulation"), .without_name = true};
static const key_group *const simulations[] = {&simulation_group, NULL};

static const carom_key record_keys[] = {
    KEY(NAME, "bodies", "all",
        "whose positions and velocities are columns of results: all, none, or a list of bodies and families", "",
        AT(record, bodies)),
    KEY(NAME, "joints", "all but angles in space that no expression uses",
        "whose coordinates are columns: all, none, or a list of joints and families", "", AT(record, joints)),
    KEY(NUMBER, "contacts", "",
        "time between snapshots of all contacts between shapes, in the table /contacts of results", "s",
        AT(record, contacts)),
    KEY(NAME, "columns", "",
        "columns of results by name: all, or a list of patterns in which * matches any text and ? any "
        "character; 'A-B.gap', ... of two shapes; without it written gaps, contacts of shapes that are named one by "
        "one, and of entries of pairs the least gap, sums of forces and impulses, and the number of closed contacts",
        "", AT(record, columns)),
    END};
static const key_group record_group = {GROUP("record", "What results hold.", record_keys, carom_mech_record, "record"),
                                       .without_name = true};
static const key_group *const records[] = {&record_group, NULL};

static const carom_key motion_keys[] = {
    KEY(EXPRESSION, "at", "needed", "place, expressions of time and parameters", "m", AT(motion, at)),
    KEY(EXPRESSION, "angle", "0", "turned by it", "rad", AT(motion, angle)),
    KEY(NUMBER, "axis", "", "in space: about this axis", "", AT(motion, axis)),
    END};
static const key_group motion_group = {
    GROUP("bodies.NAME.motion", "A body whose motion is prescribed.", motion_keys, carom_mech_motion, "motion"),
    .without_name = true};
static const key_group *const motions[] = {&motion_group, NULL};

static const carom_key solid_keys[] = {
    KEY(FORM, "point", "", "[x, y] or [x, y, z]", "m", AT(shape, size)),
    KEY(FORM, "circle", "", "radius (plane)", "m", AT(shape, size)),
    KEY(FORM, "sphere", "", "radius (space)", "m", AT(shape, size)),
    KEY(FORM, "capsule", "", "[radius, length]: a segment thickened by radius, along x in the plane, along z in space",
        "m", AT(shape, size)),
    KEY(FORM, "polygon", "", "3 to 64 corners, convex (plane)", "m", AT(shape, size)),
    KEY(FORM, "outline", "",
        "contour with the solid on its left (plane): points [x, y], {arc: [x, y], radius: r}, {arc: [x, y], through: "
        "[x, y]}, {spline: [[x, y], ...]} or {spline: FILE.csv}, {involute: {base: r, to: r}}",
        "m", AT(shape, size)),
    KEY(FORM, "gear", "",
        "involute gear (plane): {teeth, module, pressure angle: 20 deg, addendum: 1, dedendum: 1.25, shift: 0, "
        "backlash: 0}",
        "", AT(shape, size)),
    KEY(FORM, "box", "", "edges", "m", AT(shape, size)),
    KEY(FORM, "cylinder", "", "[radius, length], along its z (space)", "m", AT(shape, size)),
    KEY(FORM, "hull", "", "the convex hull of points [x, y, z], or of those of a file (STL, OBJ)", "m",
        AT(shape, size)),
    KEY(FORM, "mesh", "", "a file (STL, OBJ) of convex parts, or a list of hulls", "m", AT(shape, size)),
    KEY(FORM, "ellipsoid", "", "three half axes (space)", "m", AT(shape, size)),
    KEY(FORM, "heights", "",
        "rows of heights over x and y (the first at the lowest y), or a CSV file of them; of the ground", "m",
        AT(shape, size)),
    KEY(FORM, "plane", "", "the normal, away from the solid side", "", AT(shape, size)),
    KEY(FORM, "hole", "", "radius of a circular hole; the other shape moves inside it", "m", AT(shape, size)),
    KEY(FORM, "slot", "", "[radius, length]: the inside of a capsule", "m", AT(shape, size)),
    KEY(FORM, "bore", "", "radius; the inside of an endless cylinder along its z (space)", "m", AT(shape, size)),
    KEY(FORM, "skin", "", "radius; all along a flexible member (section shapes)", "m", AT(shape, size)),
    KEY(NUMBER, "at", "0", "its centre, in the body's frame", "m", AT(shape, at)),
    KEY(NUMBER, "angle", "0", "turned by it; a box, hull, mesh or ellipsoid in space about axis", "rad",
        AT(shape, angle)),
    KEY(NUMBER, "axis", "", "direction of a capsule, slot, cylinder or bore in space", "", AT(shape, axis)),
    KEY(NUMBER, "scale", "1", "of a hull or mesh: factor of its points, or [x, y, z], in its own axes", "1",
        AT(shape, scale)),
    KEY(NUMBER, "corners", "256",
        "of a hull or mesh: maximum number of corners of each solid; a hull of more is simplified, and `carom check` "
        "states the error",
        "1", AT(shape, corners)),
    KEY(NUMBER, "solids", "",
        "of a mesh file: a concave mesh becomes convex solids, at most this number, which contain it", "1",
        AT(shape, solids)),
    KEY(NUMBER, "cell", "1", "of heights: the distance between them, or [x, y]", "m", AT(shape, cell)),
    KEY(NUMBER, "round", "0", "of an outline or gear: all within this distance belongs to it, too", "m",
        AT(shape, round)),
    KEY(EXPRESSION, "repeat", "", "of an outline: {about: [x, y], times: n}: turned copies, one after the other", "",
        AT(shape, repeat)),
    KEY(WORD, "open", "no", "of an outline: yes: it does not lead back to its first point (rails)", "",
        AT(shape, open)),
    KEY(WORD, "hollow", "no", "of an outline: yes: it runs clockwise, the solid is outside", "", AT(shape, hollow)),
    KEY(EXPRESSION, "surface velocity", "0",
        "conveyor velocity of the surface in the body frame, expressions of time and parameters; acts through friction "
        "only",
        "m/s", AT(shape, surface_velocity)),
    KEY(NAME, "material", "that of the body", "one of section materials", "", AT(shape, material)),
    KEY(NAME, "of", "", "section shapes: a body, a flexible member (skin) or one of its points (point, circle, sphere)",
        "", AT(shape, of)),
    END};
static const key_group shape_group = {GROUP("bodies.NAME.shape",
                                            "A collision shape; the same keys for `bodies.NAME.shapes.NAME` and "
                                            "`shapes.NAME`. Give exactly one of the keys before `at`.",
                                            solid_keys, carom_mech_shape, "shape")};
static const key_group *const shapes[] = {&shape_group, NULL};

static const carom_key body_keys[] = {
    KEY(NUMBER, "mass", "needed", "positive", "kg", AT(body, mass)),
    KEY(NUMBER, "inertia", "needed",
        "one number: a planar body; a list of three or six: a spatial one, about its centre of mass", "kg m^2",
        AT(body, inertia)),
    KEY(NUMBER, "thickness", "1", "of a planar body with a density", "m", AT(body, thickness)),
    KEY(NUMBER, "density", "", "instead of mass and inertia: uniform density of its shapes", "kg/m^3",
        AT(body, density)),
    KEY(NUMBER, "at", "0", "initial position of the centre of mass; with a density: where its shapes put it", "m",
        AT(body, at)),
    KEY(NUMBER, "angle", "0", "initial rotation angle; in space about `axis`", "rad", AT(body, angle)),
    KEY(NUMBER, "axis", "", "in space: [x, y, z]", "", AT(body, axis)),
    KEY(NUMBER, "quaternion", "", "in space: [w, x, y, z] instead of axis and angle", "", AT(body, quaternion)),
    KEY(NUMBER, "velocity", "0, or from joints", "initial velocity of the centre of mass", "m/s", AT(body, velocity)),
    KEY(NUMBER, "spin", "0, or from joints", "initial angular velocity, in space in the body frame", "rad/s",
        AT(body, spin)),
    KEY(NAMED, "points", "", "NAME: a point in the body's frame; BODY.NAME.x is where it is", "m", AT(body, points)),
    KEY(NAME, "material", "", "of its shapes: one of section materials", "", AT(body, material)),
    KEY(EXPRESSION, "exists while", "always",
        "the body is there only while this expression is positive (true); it comes with its initial velocity, and "
        "does not move and has no contacts and forces while it is not there",
        "", AT(body, exists_while)),
    ONE("shape", "", "a collision shape with the name of the body", AT(body, shape), shapes),
    SEVERAL("shapes", "", "NAME: several shapes, called BODY.NAME", AT(body, shapes), AT(body, nshapes), shapes, NULL),
    ONE("motion", "", "instead of mass: prescribed motion", AT(body, motion), motions),
    END};
static const key_group body_group = {GROUP("bodies.NAME", "A rigid body.", body_keys, carom_mech_body, "body")};
static const key_group *const bodies_single[] = {&body_group, NULL};
FAMILY(body, bodies, "each of them, as `bodies.NAME`");
static const key_group *const bodies[] = {&body_family_group, &body_group, NULL};

#define STOP_STIFFNESS "elastic stops instead of rigid ones: force or torque per way beyond the stop"
#define STOP_DAMPING "with stiffness: Hunt and Crossley's damping, force k d (1 + c d')"
static const carom_key limits_keys[] = {
    KEY(WORD, "of", "the joint's first one",
        "which coordinate: angle or shift; of a universal joint angle1 or angle2; of a planar one in space shift1, "
        "shift2 or angle",
        "", AT(limits, of)),
    KEY(EXPRESSION, "lower", "none", "smallest value: an expression of time and positions; 0 is the start", "",
        AT(limits, lower)),
    KEY(EXPRESSION, "upper", "none",
        "largest value; of a spherical joint the angle by which its axis can tilt (a number below pi)", "",
        AT(limits, upper)),
    KEY(NUMBER, "restitution", "contact defaults", "of the stops, 0 to 1; may use approach.speed", "1",
        AT(limits, restitution)),
    KEY(NUMBER, "stiffness", "rigid", STOP_STIFFNESS, "", AT(limits, stiffness)),
    KEY(NUMBER, "damping", "0", STOP_DAMPING, "", AT(limits, damping)),
    END};
static const key_group limits_group = {
    GROUP("joints.NAME.limits", "Stops of a joint: contacts NAME.lower and NAME.upper.", limits_keys,
          carom_mech_limits, "limits"),
    .without_name = true};
static const key_group *const limits[] = {&limits_group, NULL};
static const carom_key backlash_keys[] = {
    KEY(NUMBER, "width", "needed", "play in all, in the coordinate of TWO; half of it on each side at the start", "",
        AT(backlash, width)),
    KEY(NUMBER, "restitution", "contact defaults", "of the teeth, 0 to 1; may use approach.speed", "1",
        AT(backlash, restitution)),
    KEY(NUMBER, "stiffness", "rigid", "elastic teeth: force or torque on TWO per way beyond the play", "",
        AT(backlash, stiffness)),
    KEY(NUMBER, "damping", "0", STOP_DAMPING, "", AT(backlash, damping)),
    END};
static const key_group backlash_group = {
    GROUP("joints.NAME.backlash", "Play of a gear: contacts NAME.lower and NAME.upper instead of a constraint.",
          backlash_keys, carom_mech_backlash, "backlash"),
    .without_name = true, .brief = CAROM_TEXT, .brief_at = offsetof(carom_mech_backlash, width)};
static const key_group *const backlashes[] = {&backlash_group, NULL};

static const carom_key joint_keys[] = {
    KEY(WORD, "type", "needed", "see the types of joints", "", AT(joint, type)),
    KEY(NAME, "between", "needed",
        "[A, B]: two bodies, one may be ground, or points of bodies as BODY.POINT: the joint is there", "",
        AT(joint, between)),
    KEY(NUMBER, "at", "", "a point in the world frame, initial position", "m", AT(joint, at)),
    KEY(NUMBER, "points", "", "instead of at: a point in the frame of each body, or the name of one", "m",
        AT(joint, points)),
    KEY(NUMBER, "axis", "", "a direction in the world frame, initial position; a universal joint has two", "",
        AT(joint, axis)),
    KEY(NUMBER, "axes", "", "instead of axis: a direction in the frame of each body", "", AT(joint, axes)),
    KEY(EXPRESSION, "motion", "", "the angle or shift follows this expression of time", "", AT(joint, motion)),
    KEY(NUMBER, "length", "initial", "distance joints", "m", AT(joint, length)),
    KEY(NUMBER, "pitch", "needed", "screws: shift per turn", "m", AT(joint, pitch)),
    KEY(NAME, "joints", "needed", "gears: [ONE, TWO]", "", AT(joint, joints)),
    KEY(NUMBER, "ratio", "needed", "gears: coordinate of TWO over coordinate of ONE", "1", AT(joint, ratio)),
    ONE("backlash", "none", "gears: play between their teeth; `backlash: 0.01` is short for `{width: 0.01}`",
        AT(joint, backlash), backlashes),
    ONE("limits", "none", "stops: between what values its coordinate stays", AT(joint, limits), limits),
    KEY(EXPRESSION, "friction", "0", FRICTION "; pressed by the joint's own reaction", "1", AT(joint, friction)),
    KEY(NUMBER, "radius", "needed with friction where it turns", "of the bearing or thread, at which friction acts",
        "m", AT(joint, radius)),
    END};
static const key_group joint_group = {GROUP("joints.NAME", "A joint.", joint_keys, carom_mech_joint, "joint")};
static const key_group *const joints_single[] = {&joint_group, NULL};
FAMILY(joint, joints, "each of them, as `joints.NAME`");
static const key_group *const joints[] = {&joint_family_group, &joint_group, NULL};

static const carom_key rope_keys[] = {
    KEY(NAME, "between", "needed",
        "[A, B]: bodies, or points of bodies as BODY.POINT; with three and more it runs through all of them", "",
        AT(rope, between)),
    KEY(NUMBER, "points", "the points named, or centres of mass",
        "a point of each body, in its frame or by name", "m", AT(rope, points)),
    KEY(EXPRESSION, "length", "initial", "an expression of time and positions", "m", AT(rope, length)),
    KEY(NUMBER, "restitution", "contact defaults", "when it becomes taut, 0 to 1; may use approach.speed (m/s)", "1",
        AT(rope, restitution)),
    KEY(NUMBER, "stiffness", "rigid", "tension per length beyond its own", "N/m", AT(rope, stiffness)),
    KEY(NUMBER, "damping", "0", STOP_DAMPING, "s/m", AT(rope, damping)),
    END};
static const key_group rope_group = {GROUP("ropes.NAME", "A rope: it pulls and does not push.", rope_keys,
                                           carom_mech_rope, "rope")};
static const key_group *const ropes_single[] = {&rope_group, NULL};
FAMILY(rope, ropes, "each of them, as `ropes.NAME`");
static const key_group *const ropes[] = {&rope_family_group, &rope_group, NULL};

static const carom_key line_spring_keys[] = {
    KEY(NAME, "between", "needed", "[A, B]: two bodies, or points of bodies as BODY.POINT", "", AT(spring, between)),
    KEY(NUMBER, "points", "the points named; else the centre of mass of a body",
        "a point of each, in its frame or by name", "m", AT(spring, points)),
    KEY(NUMBER, "stiffness", "0", "force per length", "N/m", AT(spring, stiffness)),
    KEY(NUMBER, "damping", "0", "force per speed", "N s/m", AT(spring, damping)),
    KEY(NUMBER, "length", "initial", "length without load", "m", AT(spring, length)),
    KEY(EXPRESSION, "force", "",
        "instead of stiffness and damping: the tension, an expression that may use length and rate, time and state",
        "N", AT(spring, force)),
    KEY(NUMBER, "clearance", "0", "way from the length without load on which there is no force", "m",
        AT(spring, clearance)),
    KEY(WORD, "one-sided", "", "tension or compression: no force in the other direction", "", AT(spring, one_sided)),
    END};

static const carom_key joint_spring_keys[] = {
    KEY(NAME, "joint", "needed", "acts on its angle; a prismatic joint's shift", "", AT(spring, joint)),
    KEY(NUMBER, "stiffness", "0", "", "", AT(spring, stiffness)),
    KEY(NUMBER, "damping", "0", "", "", AT(spring, damping)),
    KEY(NUMBER, "rest", "0", "angle or shift without load; 0 is the start", "", AT(spring, rest)),
    KEY(EXPRESSION, "force", "",
        "instead of stiffness and damping: the torque or force against the coordinate, an expression that may use it "
        "as length, its rate as rate, time and state",
        "", AT(spring, force)),
    KEY(NUMBER, "clearance", "0", "way from rest on which there is no force", "", AT(spring, clearance)),
    KEY(WORD, "one-sided", "", "tension (beyond rest) or compression (below it): no force on the other side", "",
        AT(spring, one_sided)),
    END};

static const carom_key bushing_keys[] = {
    KEY(WORD, "type", "needed", "bushing", "", AT(spring, type)),
    KEY(NAME, "between", "needed", "[A, B]: two bodies, or points of bodies as BODY.POINT: it is there", "",
        AT(spring, between)),
    KEY(NUMBER, "points", "", "a point of each, in its frame or by name", "m", AT(spring, points)),
    KEY(NUMBER, "at", "", "instead of points: in the world frame, initial position", "m", AT(spring, at)),
    KEY(NUMBER, "stiffness", "0", "along the axes of A: a number, or one per axis", "N/m", AT(spring, stiffness)),
    KEY(NUMBER, "damping", "0", "the same for damping", "N s/m", AT(spring, damping)),
    KEY(NUMBER, "torsion", "0", "stiffness about the axes", "N m/rad", AT(spring, torsion)),
    KEY(NUMBER, "torsion damping", "0", "damping about the axes", "N m s/rad", AT(spring, torsion_damping)),
    END};
static const key_group bushing_group = {
    GROUP("springs.NAME, type: bushing", "A bushing.", bushing_keys, carom_mech_spring, "spring"),
    .when = {{"type", "bushing"}}};
static const key_group joint_spring_group = {
    GROUP("springs.NAME, joint", "A spring at a joint.", joint_spring_keys, carom_mech_spring, "spring"),
    .when = {{"joint", NULL}}};
static const key_group line_spring_group = {
    GROUP("springs.NAME", "A spring along a line.", line_spring_keys, carom_mech_spring, "spring"),
    .when = {{"type", ""}}};
static const key_group *const springs_single[] = {&bushing_group, &joint_spring_group, &line_spring_group, NULL};
FAMILY(spring, springs, "each of them, as `springs.NAME`");
static const key_group *const springs[] = {&spring_family_group, &bushing_group, &joint_spring_group,
                                           &line_spring_group, NULL};

static const carom_key motor_keys[] = {
    KEY(NAME, "joint", "needed", "at its coordinate", "", AT(motor, joint)),
    KEY(EXPRESSION, "torque", "", "at an angle: an expression of time and state", "N m", AT(motor, torque)),
    KEY(EXPRESSION, "force", "", "at a shift: an expression of time and state", "N", AT(motor, force)),
    END};
static const key_group motor_group = {GROUP("motors.NAME", "A motor.", motor_keys, carom_mech_motor, "motor")};
static const key_group *const motors[] = {&motor_group, NULL};

static const carom_key load_keys[] = {
    KEY(NAME, "on", "needed", "a body", "", AT(load, on)),
    KEY(NUMBER, "point", "centre of mass", "in the body's frame, or the name of one of its points", "m",
        AT(load, point)),
    KEY(EXPRESSION, "force", "", "a list of expressions of time and state", "N", AT(load, force)),
    KEY(EXPRESSION, "torque", "", "a list; planar: one", "N m", AT(load, torque)),
    KEY(WORD, "frame", "world", "world or body: in which the lists are given", "", AT(load, frame)),
    END};
static const key_group load_group = {GROUP("loads.NAME", "A load.", load_keys, carom_mech_load, "load")};
static const key_group *const loads[] = {&load_group, NULL};

static const carom_key member_damping_keys[] = {
    KEY(NUMBER, "mass", "0", "a of C = a M + b K", "1/s", AT(damping, mass)),
    KEY(NUMBER, "stiffness", "0", "b", "s", AT(damping, stiffness)),
    END};
static const key_group damping_group = {
    GROUP("flexible.NAME.damping", "", member_damping_keys, carom_mech_damping, "damping"), .without_name = true,
    .brief = CAROM_TEXT, .brief_at = offsetof(carom_mech_damping, matrix)};

static const carom_key shaft_damping_keys[] = {
    KEY(NUMBER, "mass", "0", "a of C = a M + b K, for bending", "1/s", AT(damping, mass)),
    KEY(NUMBER, "stiffness", "0", "b", "s", AT(damping, stiffness)),
    KEY(NUMBER, "torsion", "0", "torque by the difference of rx' over an element", "N m s/rad", AT(damping, torsion)),
    END};
static const key_group shaft_damping_group = {
    GROUP("flexible.NAME.damping, type: shaft", "", shaft_damping_keys, carom_mech_damping, "damping"),
    .without_name = true};
static const key_group *const dampings[] = {&damping_group, &shaft_damping_group, NULL}, *const shaft_dampings[] = {
                                                                                             &shaft_damping_group,
                                                                                             &damping_group, NULL};

static const carom_key flywheel_keys[] = {KEY(NUMBER, "mass", "needed", "", "kg", AT(flywheel, mass)),
                                          KEY(NUMBER, "inertia", "needed",
                                              "about the axis, half of it across; or [about, across]", "kg m^2",
                                              AT(flywheel, inertia)),
                                          END};
static const key_group flywheel_group = {GROUP("flexible.NAME.flywheels.POINT", "A rigid wheel on a node of a shaft.",
                                               flywheel_keys, carom_mech_flywheel, "a flywheel"),
                                         .without_name = true};
static const key_group *const flywheels[] = {&flywheel_group, NULL};

static const carom_key member_keys[] = {
    KEY(WORD, "type", "needed", "bar, beam, exact beam, spatial beam, shaft, or matrices", "", AT(member, type)),
    KEY(NUMBER, "length", "needed", "undeformed length", "m", AT(member, length)),
    KEY(NUMBER, "elements", "needed", "number of equal elements", "1", AT(member, elements)),
    KEY(NUMBER, "density", "needed", "mass per volume", "kg/m^3", AT(member, density)),
    KEY(NUMBER, "modulus", "needed", "Young's modulus", "Pa", AT(member, modulus)),
    KEY(NUMBER, "area", "needed", "of the section", "m^2", AT(member, area)),
    KEY(WORD, "mass", "consistent", "consistent or lumped", "", AT(member, mass)),
    KEY(NAME, "massless", "",
        "points whose nodes are massless (mass moved to the neighbours), for contact without impulses", "",
        AT(member, massless)),
    ONE("damping", "", "{mass: a, stiffness: b}: C = a M + b K", AT(member, damping), dampings),
    KEY(NUMBER, "modal damping", "0",
        "damping ratios of the lowest modes of the member alone, a list of up to 16; a number: of the lowest 10", "1",
        AT(member, modal_damping)),
    KEY(NUMBER, "gravity", "0", "acceleration, a list; a number: along x", "m/s^2", AT(member, gravity)),
    KEY(EXPRESSION, "load", "0", "force per length, an expression of the arc length s; beams: by component, {w: ...}",
        "N/m", AT(member, load)),
    KEY(EXPRESSION, "at", "0", "initial displacements, expressions of s; exact beam: positions", "", AT(member, at)),
    KEY(EXPRESSION, "rate", "0", "initial rates, expressions of s", "", AT(member, rate)),
    KEY(NAME, "fix", "", "fixed nodes and components: start, [start, end], {start: [x, y], end: all}", "",
        AT(member, fix)),
    KEY(NAMED, "points", "", "NAME: arc length; start and end are always there", "m", AT(member, points)),
    KEY(NUMBER, "origin", "0", "where it starts", "m", AT(member, origin)),
    KEY(NUMBER, "direction", "along x", "where it goes: an angle, or a list", "", AT(member, direction)),
    KEY(WORD, "record", "", "unknowns: also record all nodal unknowns", "", AT(member, record)),
    END};

static const carom_key beam_keys[] = {
    KEY(NUMBER, "inertia", "needed", "second moment of area", "m^4", AT(member, inertia)),
    KEY(WORD, "frame", "fixed", "fixed, or floating: it moves and turns with a frame of its own", "",
        AT(member, frame)),
    END};

static const carom_key exact_beam_keys[] = {
    KEY(NUMBER, "inertia", "needed", "second moment of area", "m^4", AT(member, inertia)),
    KEY(NUMBER, "shear modulus", "needed", "", "Pa", AT(member, shear_modulus)),
    KEY(NUMBER, "shear area", "5/6 of area", "area for shear", "m^2", AT(member, shear_area)),
    END};

static const carom_key spatial_beam_keys[] = {
    KEY(NUMBER, "inertia", "needed", "second moments of area, a list of two: for bending in w and in v", "m^4",
        AT(member, inertia)),
    KEY(NUMBER, "shear modulus", "needed", "for torsion", "Pa", AT(member, shear_modulus)),
    KEY(NUMBER, "torsion", "needed", "torsion constant", "m^4", AT(member, torsion)),
    KEY(NUMBER, "up", "[0, 0, 1]", "the member's own z axis lies in the plane of direction and up", "", AT(member, up)),
    KEY(WORD, "frame", "fixed", "fixed, or floating: it moves and turns with a frame of its own", "",
        AT(member, frame)),
    END};

static const carom_key floating_keys[] = {
    KEY(WORD, "type", "needed", "beam or spatial beam", "", AT(member, type)),
    KEY(NUMBER, "inertia", "needed", "second moment of area; spatial: a list of two", "m^4", AT(member, inertia)),
    KEY(WORD, "frame", "needed", "floating", "", AT(member, frame)),
    KEY(NUMBER, "length", "needed", "undeformed length", "m", AT(member, length)),
    KEY(NUMBER, "elements", "needed", "number of equal elements, at most 60", "1", AT(member, elements)),
    KEY(NUMBER, "density", "needed", "mass per volume", "kg/m^3", AT(member, density)),
    KEY(NUMBER, "modulus", "needed", "Young's modulus", "Pa", AT(member, modulus)),
    KEY(NUMBER, "area", "needed", "of the section", "m^2", AT(member, area)),
    KEY(WORD, "mass", "consistent", "consistent or lumped", "", AT(member, mass)),
    ONE("damping", "", "{mass: a, stiffness: b}: C = a M + b K, of what moves in the frame", AT(member, damping),
        dampings),
    KEY(NUMBER, "modal damping", "0",
        "damping ratios of the lowest modes of the member alone, a list of up to 16; a number: of the lowest 10", "1",
        AT(member, modal_damping)),
    KEY(NUMBER, "gravity", "of the model", "acceleration, a list", "m/s^2", AT(member, gravity)),
    KEY(EXPRESSION, "at", "0", "initial displacements in the frame, expressions of s", "", AT(member, at)),
    KEY(EXPRESSION, "rate", "0", "their rates", "", AT(member, rate)),
    KEY(NAME, "fix", "start", "what is held in the frame; it must not be able to move there without bending", "",
        AT(member, fix)),
    KEY(NAMED, "points", "",
        "NAME: arc length; start and end are always there; MEMBER.NAME is a body for joints, springs, loads and "
        "contacts",
        "m", AT(member, points)),
    KEY(NUMBER, "origin", "0", "initial position of the frame", "m", AT(member, origin)),
    KEY(NUMBER, "direction", "along x", "where it goes: an angle, or a list", "", AT(member, direction)),
    KEY(NUMBER, "velocity", "0, or from joints", "initial velocity of the frame", "m/s", AT(member, velocity)),
    KEY(NUMBER, "spin", "0, or from joints", "initial angular velocity of the frame, in space in its own axes", "rad/s",
        AT(member, spin)),
    END};

static const carom_key floating_spatial_keys[] = {
    KEY(NUMBER, "shear modulus", "needed", "for torsion", "Pa", AT(member, shear_modulus)),
    KEY(NUMBER, "torsion", "needed", "torsion constant", "m^4", AT(member, torsion)),
    KEY(NUMBER, "up", "[0, 0, 1]", "the member's own z axis lies in the plane of direction and up", "", AT(member, up)),
    END};

static const carom_key matrices_keys[] = {
    KEY(WORD, "type", "needed", "matrices", "", AT(member, type)),
    KEY(NAME, "mass", "needed", "the mass matrix: its name; its file is an option of the run", "", AT(member, mass)),
    KEY(NAME, "stiffness", "needed", "the stiffness matrix", "", AT(member, stiffness)),
    ONE("damping", "", "the damping matrix, or {mass: a, stiffness: b}: C = a M + b K", AT(member, damping), dampings),
    KEY(NUMBER, "modal damping", "0",
        "damping ratios of the lowest modes of the member alone, a list of up to 16; a number: of the lowest 10", "1",
        AT(member, modal_damping)),
    KEY(EXPRESSION, "load", "0", "force on every row, an expression of its number s; {vector: NAME}: from a file", "",
        AT(member, load)),
    KEY(EXPRESSION, "at", "0", "initial displacements, likewise", "", AT(member, at)),
    KEY(EXPRESSION, "rate", "0", "initial rates, likewise", "", AT(member, rate)),
    KEY(NAME, "fix", "", "what is held: a point, or a list of points", "", AT(member, fix)),
    KEY(NAMED, "points", "", "NAME: number of a row, from 1", "", AT(member, points)),
    KEY(WORD, "record", "", "unknowns: also record all nodal unknowns", "", AT(member, record)),
    END};

static const carom_key shaft_keys[] = {
    KEY(WORD, "type", "needed", "shaft", "", AT(member, type)),
    KEY(NUMBER, "length", "needed", "undeformed length", "m", AT(member, length)),
    KEY(NUMBER, "elements", "needed",
        "number of equal elements; or by stretches, {wheel: 2, end: 3}: two up to point `wheel`, three up to the end",
        "1", AT(member, elements)),
    KEY(NUMBER, "radius", "needed", "of the round section; or by stretches", "m", AT(member, radius)),
    KEY(NUMBER, "bore", "0", "radius of the hollow inside; or by stretches", "m", AT(member, bore)),
    KEY(NUMBER, "density", "needed", "mass per volume", "kg/m^3", AT(member, density)),
    KEY(NUMBER, "modulus", "needed", "Young's modulus", "Pa", AT(member, modulus)),
    KEY(NUMBER, "shear modulus", "needed", "for torsion", "Pa", AT(member, shear_modulus)),
    SEVERAL("flywheels", "", "POINT: {mass, inertia}: a rigid wheel on that node", AT(member, flywheels),
            AT(member, nflywheels), flywheels, NULL),
    ONE("damping", "", "{mass: a, stiffness: b, torsion: c}", AT(member, damping), shaft_dampings),
    KEY(NUMBER, "modal damping", "0",
        "damping ratios of the lowest modes of the member alone, a list of up to 16; a number: of the lowest 10", "1",
        AT(member, modal_damping)),
    KEY(NUMBER, "gravity", "0", "acceleration, a list", "m/s^2", AT(member, gravity)),
    KEY(EXPRESSION, "load", "0", "force per length by component, expressions of the arc length s", "N/m",
        AT(member, load)),
    KEY(EXPRESSION, "at", "0", "initial displacements, expressions of s", "", AT(member, at)),
    KEY(EXPRESSION, "rate", "0", "initial rates, expressions of s; {rx: 100} spins", "", AT(member, rate)),
    KEY(NAME, "fix", "", "what is held: start, [start, end], {start: [v, w], end: all}", "", AT(member, fix)),
    KEY(NAMED, "points", "", "NAME: arc length; start and end are always there", "m", AT(member, points)),
    KEY(NUMBER, "origin", "0", "where it starts", "m", AT(member, origin)),
    KEY(NUMBER, "direction", "along x", "where it goes, a list", "", AT(member, direction)),
    KEY(NUMBER, "up", "[0, 0, 1]", "the shaft's own z axis lies in the plane of direction and up", "", AT(member, up)),
    KEY(WORD, "record", "", "unknowns: also record all nodal unknowns", "", AT(member, record)),
    END};
static const key_group floating_group = {GROUP("flexible.NAME, frame: floating", "A beam that moves and turns freely.",
                                               floating_keys, carom_mech_member, "flexible member"),
                                         .when = {{"frame", "floating"}, {"type", "beam"}}};
static const key_group floating_spatial_group = {
    GROUP("flexible.NAME, type: spatial beam, frame: floating", "Beside those of a beam with a floating frame.",
          floating_spatial_keys, carom_mech_member, "flexible member"),
    .beside = floating_keys, .when = {{"frame", "floating"}, {"type", "spatial beam"}}};
static const key_group bar_group = {GROUP("flexible.NAME", "A flexible member; a bar has these keys.", member_keys,
                                          carom_mech_member, "flexible member"),
                                    .when = {{"type", "bar"}, {"frame", ""}}};
static const key_group beam_group = {
    GROUP("flexible.NAME, type: beam", "Beside those of a bar.", beam_keys, carom_mech_member, "flexible member"),
    .beside = member_keys, .when = {{"type", "beam"}}};
static const key_group exact_beam_group = {GROUP("flexible.NAME, type: exact beam", "Beside those of a bar.",
                                                 exact_beam_keys, carom_mech_member, "flexible member"),
                                           .beside = member_keys, .when = {{"type", "exact beam"}, {"frame", ""}}};
static const key_group spatial_beam_group = {GROUP("flexible.NAME, type: spatial beam", "Beside those of a bar.",
                                                   spatial_beam_keys, carom_mech_member, "flexible member"),
                                             .beside = member_keys, .when = {{"type", "spatial beam"}}};
static const key_group matrices_group = {GROUP("flexible.NAME, type: matrices",
                                               "A linear structure by its matrices, from Matrix Market files.",
                                               matrices_keys, carom_mech_member, "flexible member"),
                                         .when = {{"type", "matrices"}, {"frame", ""}}};
static const key_group shaft_group = {GROUP("flexible.NAME, type: shaft", "A shaft that turns about its axis.",
                                            shaft_keys, carom_mech_member, "flexible member"),
                                      .when = {{"type", "shaft"}, {"frame", ""}}};
static const key_group *const members[] = {
    &floating_spatial_group, &floating_group, &bar_group,   &beam_group, &exact_beam_group,
    &spatial_beam_group,     &matrices_group, &shaft_group, NULL};

static const carom_key shape_keys[] = {
    KEY(FORM, "point", "", "[x, y]: a small mark", "m", AT(figure, size)),
    KEY(FORM, "segment", "", "two points: a straight bar", "m", AT(figure, size)),
    KEY(FORM, "line", "", "two or more points", "m", AT(figure, size)),
    KEY(FORM, "polygon", "", "three or more points, closed and filled (plane)", "m", AT(figure, size)),
    KEY(FORM, "wall", "",
        "two or more points, solid on the right-hand side when walking from the first point to the last (plane)", "m",
        AT(figure, size)),
    KEY(FORM, "spring", "", "two points: a zigzag", "m", AT(figure, size)),
    KEY(FORM, "box", "", "[width, height], in space three edges", "m", AT(figure, size)),
    KEY(FORM, "circle", "", "radius (plane)", "m", AT(figure, size)),
    KEY(FORM, "sphere", "", "radius (space)", "m", AT(figure, size)),
    KEY(FORM, "cylinder", "", "[radius, length], along its own z axis (space)", "m", AT(figure, size)),
    KEY(EXPRESSION, "at", "", "the centre of a box, circle, sphere, cylinder", "m", AT(figure, at)),
    KEY(EXPRESSION, "angle", "0", "turned by it (plane)", "rad", AT(figure, angle)),
    KEY(EXPRESSION, "turn", "", "rotation vector or quaternion (space)", "", AT(figure, turn)),
    KEY(WORD, "colour", "dealt out in order", "blue, orange, green, red, purple, sky, yellow, grey or \"#rrggbb\"", "",
        AT(figure, colour)),
    KEY(WORD, "color", "", "the same", "", AT(figure, color)),
    KEY(WORD, "trace", "no", "yes: draw its path, too", "", AT(figure, trace)),
    KEY(EXPRESSION, "width", "as looks good", "line width; for a spring its coil width", "m", AT(figure, width)),
    KEY(NAME, "of", "", "a body: places are in its frame, and the shape turns with it", "", AT(figure, of)),
    END};
static const key_group figure_group = {
    GROUP("draw.NAME", "A shape: exactly one of the first ten keys gives its form.  `BODY: none` hides it.", shape_keys,
          carom_mech_figure, "shape"),
    .brief = CAROM_TEXT, .brief_at = offsetof(carom_mech_figure, none)};
static const key_group *const figures[] = {&figure_group, NULL};

static const carom_key touch_keys[] = {
    KEY(EXPRESSION, "at", "needed",
        "where the contact or constraint acts: a point of what is pushed; `NAME: [x, y]` is short for it", "m",
        AT(touch, at)),
    KEY(EXPRESSION, "normal", "by the gap", "direction of the force, where the point does not say it", "",
        AT(touch, normal)),
    KEY(EXPRESSION, "tangent", "by the slip", "the same for friction", "", AT(touch, tangent)),
    KEY(EXPRESSION, "tangent2", "by the slip", "the second one, in space", "", AT(touch, tangent2)),
    KEY(WORD, "colour", "", "as of shapes", "", AT(touch, colour)),
    KEY(WORD, "color", "", "the same", "", AT(touch, color)),
    END};
static const key_group touch_group = {
    GROUP("draw.contacts.NAME", "The place of a contact or constraint.", touch_keys, carom_mech_touch, "the place of"),
    .brief = CAROM_LIST, .brief_at = offsetof(carom_mech_touch, at)};
static const key_group *const touches[] = {&touch_group, NULL};

static const carom_key touches_key =
    SEVERAL("contacts", "", "where contacts act", TOP(touches), TOP(ntouches), touches, NULL);

static const carom_key sections_keys[] = {
    KEY(WORD, "carom", "needed", "format version: 1", "", TOP(format)),
    KEY(TEXT, "name", "file name", "a title", "", TOP(name)),
    KEY(TEXT, "about", "", "free text", "", TOP(about)),
    KEY(NAMED, "parameters", "",
        "NAME: number, or an expression of other parameters, in any order; a run may change them",
        "", TOP(parameters)),
    SEVERAL("tables", "", "NAME: a table of numbers, which expressions use as a function NAME(x)", TOP(tables),
            TOP(ntables), tables, NULL),
    SEVERAL("inputs", "", "NAME: an external signal, with its initial value", TOP(inputs), TOP(ninputs), inputs, NULL),
    SEVERAL("controllers", "", "NAME: a discrete controller: sample time, states, outputs", TOP(controllers),
            TOP(ncontrollers), controllers, NULL),
    SEVERAL("coordinates", "needed, or bodies, flexible",
            "NAME: {at, rate}: generalised coordinates with initial position and velocity", TOP(coordinates),
            TOP(ncoordinates), coordinates, NULL),
    SEVERAL("states", "", "NAME: {at, rate}: a quantity with a rate of its own, such as a current", TOP(states),
            TOP(nstates), states, NULL),
    SEVERAL("bodies", "", "NAME: a rigid body, planar or spatial", TOP(bodies), TOP(nbodies), bodies, NULL),
    SEVERAL("shapes", "", "NAME: a shape of the ground, for contacts between shapes", TOP(shapes), TOP(nshapes), shapes,
            NULL),
    KEY(NUMBER, "gravity", "0", "[x, y] or [x, y, z]: acts on all bodies", "m/s^2", TOP(gravity)),
    SEVERAL("joints", "", "NAME: a joint between two bodies", TOP(joints), TOP(njoints), joints, NULL),
    KEY(WORD, "start", "given",
        "project: initial positions that are slightly inside an obstacle, or off a joint or constraint, are moved by "
        "the shortest way, and velocities against joints and constraints projected; the run reports the changes",
        "", TOP(start)),
    KEY(WORD, "assemble", "no", "yes: project the initial positions onto joints and constraints", "", TOP(assemble)),
    KEY(NUMBER, "sleep", "0",
        "speed below which groups of touching bodies fall asleep after 0.5 s without acceleration; they wake when "
        "touched; 0: no sleeping",
        "m/s", TOP(sleep)),
    KEY(WORD, "settle", "no", "yes: separate bodies whose shapes overlap initially", "", TOP(settle)),
    SEVERAL("ropes", "", "NAME: a rope between bodies, rigid or elastic", TOP(ropes), TOP(nropes), ropes, NULL),
    SEVERAL("springs", "", "NAME: springs, dampers and bushings between bodies and at joints", TOP(springs),
            TOP(nsprings), springs, NULL),
    SEVERAL("motors", "", "NAME: torques and forces at joints", TOP(motors), TOP(nmotors), motors, NULL),
    SEVERAL("loads", "", "NAME: external forces and torques on bodies", TOP(loads), TOP(nloads), loads, NULL),
    SEVERAL("flexible", "", "NAME: a bar, beam or shaft of finite elements, or matrices", TOP(members), TOP(nmembers),
            members, NULL),
    KEY(NAMED, "let", "", "NAME: expression, in order; NAME' is its rate", "", TOP(let)),
    ONE("energy", "needed with coordinates", "kinetic and potential energy of the coordinates", TOP(energy), energies),
    KEY(NAMED, "forces", "", "COORDINATE: expression, the generalised force on it", "", TOP(forces)),
    KEY(NAMED, "constraints", "",
        "NAME: expression of positions and time that stays 0; NAME: {rate: expression}: one that is linear in the "
        "rates and stays 0",
        "", TOP(constraints)),
    ONE("contact defaults", "", "default restitution, friction and impact law of contacts", TOP(defaults), laws),
    SEVERAL("materials", "", "NAME: friction and restitution of shapes that name it; `with`: against others",
            TOP(materials), TOP(nmaterials), materials, NULL),
    SEVERAL("contacts", "", "NAME: a gap that must not become negative, with its law", TOP(contacts), TOP(ncontacts),
            contacts, NULL),
    KEY(NAMED, "outputs", "", "NAME: expression, recorded as a column of that name", "", TOP(outputs)),
    KEY(NAMED, "exact", "", "COORDINATE: the exact solution as an expression of t; other keys are helpers", "",
        TOP(exact)),
    KEY(EXPRESSION, "checks", "", "a list of comparisons, evaluated at the end of a run", "", TOP(checks)),
    KEY(NAMED, "sweep", "",
        "OPTION: value, default options of `carom sweep`; the command line overrides them; vary: {NAME: SPEC}, "
        "observe: a list",
        "", TOP(sweep)),
    ONE("record", "", "what results hold: columns of which bodies, snapshots of contacts", TOP(record), records),
    ONE("simulation", "", "default settings of a run; the command line overrides them", TOP(simulation), simulations),
    SEVERAL("draw", "", "NAME: a shape drawn by `carom view`; `contacts`: where contacts act", TOP(figures),
            TOP(nfigures), figures, &touches_key),
    END};
const key_group carom_key_top = {GROUP("",
                                       "Sections of the file; a section that is not needed may be missing or empty.",
                                       sections_keys, carom_mech, "the model"),
                                 .without_name = true};

const key_group *const carom_key_groups[] = {&carom_key_top,
                                             &table_group,
                                             &input_group,
                                             &controller_group,
                                             &coordinate_group,
                                             &state_group,
                                             &energy_group,
                                             &contact_group,
                                             &pair_group,
                                             &pressed_group,
                                             &joint_friction_group,
                                             &contact_family_group,
                                             &law_group,
                                             &material_group,
                                             &with_group,
                                             &record_group,
                                             &simulation_group,
                                             &body_group,
                                             &body_family_group,
                                             &motion_group,
                                             &shape_group,
                                             &joint_group,
                                             &limits_group,
                                             &backlash_group,
                                             &joint_family_group,
                                             &rope_group,
                                             &rope_family_group,
                                             &line_spring_group,
                                             &joint_spring_group,
                                             &bushing_group,
                                             &spring_family_group,
                                             &motor_group,
                                             &load_group,
                                             &bar_group,
                                             &beam_group,
                                             &exact_beam_group,
                                             &spatial_beam_group,
                                             &matrices_group,
                                             &damping_group,
                                             &floating_group,
                                             &floating_spatial_group,
                                             &shaft_group,
                                             &flywheel_group,
                                             &shaft_damping_group,
                                             &figure_group,
                                             &touch_group,
                                             NULL};

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

const char *carom_key_kind(key_kind kind) {
    static const char *const words[] = {"number", "expression", "name", "word", "text", "map", "number", "map", "map"};
    return words[kind];
}

const carom_key *carom_key_at(const key_group *g, int i) {
    for (int part = 0; part < 2; ++part)
        for (const carom_key *k = part ? g->beside : g->keys; k && k->name; ++k)
            if (i-- == 0) return k;
    return NULL;
}

// Variants share fields: has one before group `last` (key `before` of it) this one?
static bool visited(const key_group *const *groups, int last, int before, size_t at) {
    for (int g = 0; g <= last; ++g) {
        const carom_key *k;
        for (int i = 0; (g < last || i < before) && (k = carom_key_at(groups[g], i)); ++i)
            if (k->at == at) return true;
        if (g < last && groups[g]->brief && groups[g]->brief_at == at) return true;
    }
    return false;
}

void carom_key_fields(const key_group *const *groups, key_visit *visit, void *user) {
    for (int g = 0; groups[g]; ++g) {
        const carom_key *k;
        int i = 0;
        for (; (k = carom_key_at(groups[g], i)); ++i) {
            if (visited(groups, g, i, k->at)) continue;
            visit(user, k);
            if (k->own) visit(user, k->own);
        }
        if (groups[g]->brief && !visited(groups, g, i, groups[g]->brief_at))
            visit(user, &(carom_key){.name = "", .kind = KEY_TEXT, .at = groups[g]->brief_at});
    }
}
