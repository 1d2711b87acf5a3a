// test_figures.c: what every scheme and every solver computes on small models and problems, compared with a table.
//
// Other tests ask whether an answer is right.  This one asks whether it is the same as before: a change of any number in a scheme, in the detection of
// events, in the laws of contact or in a solver shows here, whatever tolerance it would pass elsewhere.  Where a change is meant, look at the lines that
// the test prints, and write the table anew:
//
//     build/test/test_figures print >test/figures.txt
//
// Behind each sum stands its tolerance: 100 times as much as velocities that are changed by rounding change it, at least 1e-9.  Sums that change by more
// than a thousandth are not compared (`~`): where contacts contradict each other, rounding decides.  Counts are exact; where a thousand times as much
// changes them, they may differ by four times that, at most by 2 and a twentieth.  The last count is that of calls of the model (counted.h): work shows there that
// no result shows.
//
// The table alone would keep a wrong figure for ever.  So schemes are compared with each other, too: their motions agree with that of event-driven to
// the accuracy of a step, on every model whose motion is unique.  So are the velocities of all solvers that solve a problem.
#include "counted.h"
#include "ignoring.h"
#include "model_text.h"
#include "problems.h"
#include "contact/energetic.h"
#include <carom/event.h>
#include <carom/team.h>

#ifdef QUICK // with sanitizers
enum { BRIEF = 1 };
#else
enum { BRIEF = 0 };
#endif

// -- models: each reaches other branches -----------------------------------------------------------------------------------

typedef struct example {
    const char *name;
    double h;
    int steps;
    double agree; // by which the sum MOTION of any scheme may differ from that of event-driven, as a part of it; 0: not unique, or steps too long for first order
    const char *text;
} example;

static const example examples[] = {
    {"thrown", 5e-3, 60, 0.06, // flight, impacts with friction, a wall, a joint
     "carom: 1\nparameters: {m: 1.5, g: 9.81}\ncoordinates: {x: {at: 0, rate: 3}, y: {at: 0.05, rate: 0.2}, z: {at: 0, rate: 0.015}}\n"
     "energy: {kinetic: 1/2*m*(x'^2 + y'^2 + z'^2), potential: m*g*y}\nconstraints: {rail: z - 0.1*x*y}\n"
     "contacts:\n  ground: {gap: y, slip: x, restitution: 0.6, friction: 0.3}\n  wall: {gap: 0.6 - x, restitution: 0.6}\n"},
    {"settling", 4e-3, 60, 0.06, // impacts accumulate, rest on a floor, slip ends
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.4}, y: {at: 0.01, rate: 0}}\nenergy: {kinetic: x'^2 + y'^2 + 0.2*x'*y', potential: 2*9.81*y}\n"
     "contacts: {floor: {gap: y, slip: x, restitution: 0.4, friction: 0.25}}\n"},
    {"shaken", 4e-3, 50, 0, // a floor that moves, a force that jumps, friction that varies with speed and load
     "carom: 1\ncoordinates: {x: 0, y: {at: 0, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y + 20*x^2}\nforces: {x: 'if(t < 0.05, 6, -4) - 0.3*x'''}\n"
     "contacts: {floor: {gap: y - 0.004*(1 - cos(40*t)), slip: x + 0.01*sin(15*t), restitution: 0.3, friction: {static: 0.5, kinetic: 0.3, stribeck: 0.1}}}\n"},
    {"chain", 2e-3, 60, 0.003, // impacts of several at once, Poisson's law, one after the other, restitution by speed
     "carom: 1\ncoordinates: {a: {at: -0.02, rate: 1}, b: 1, c: 2, d: {at: 3.01, rate: -0.5}}\nenergy: {kinetic: 1/2*(a'^2 + 2*b'^2 + c'^2 + d'^2), potential: 5*(b - 1)^2}\n"
     "contact defaults: {restitution: 0.8/(1 + approach.speed), impact law: poisson}\n"
     "contacts: {ab: {gap: b - a - 1}, bc: {gap: c - b - 1, impact order: sequential}, cd: {gap: d - c - 1, restitution: 1, impact law: newton, impact order: sequential}}\n"},
    {"wedged", 2e-3, 40, 0.012, // impacts with friction by energy, tangential restitution
     "carom: 1\ncoordinates: {n: {at: 0.0105, rate: -1}, s: {at: 0, rate: 0.25}, w: {at: 0.02, rate: -1}}\nenergy: {kinetic: 2/7*n'^2 - 2/7*n'*s' + 4/7*s'^2 + 1/2*w'^2 + 0.1*w'*n'}\n"
     "contacts:\n  floor: {gap: n, slip: s, restitution: 1/2, friction: 0.6, impact law: energetic}\n"
     "  wall: {gap: w, slip: s - w, restitution: 0.7, tangential restitution: 0.3, friction: 0.4, impact law: newton}\n"},
    {"tipping", 4e-3, 60, 0.08, // a box with two corners, rocking and sliding
     "carom: 1\ngravity: [1, -9.81]\nshapes: {floor: {plane: [0.1, 1]}}\nbodies: {b: {mass: 1, inertia: 0.02, at: [0, 0.18], angle: 0.3, velocity: [0.5, -0.2], spin: 1, shape: {box: [0.4, 0.2]}}}\n"
     "contacts: {c: {between: [b, floor], restitution: 0.2, friction: 0.4}}\n"},
    {"linkage", 6e-3, 24, 0.08, // a closed loop with a redundant joint, a stop, a motor
     "carom: 1\ngravity: [0, -9.81]\nbodies:\n  crank: {mass: 1, inertia: 0.01, at: [0, 0.1], spin: 3, shape: {point: [0, 0.1]}}\n  bar: {mass: 2, inertia: 0.04, at: [0.3, 0.2]}\n"
     "  rocker: {mass: 1, inertia: 0.01, at: [0.6, 0.1]}\n  third: {mass: 1, inertia: 0.01, at: [0.3, 0.1]}\njoints:\n  a: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
     "  b: {type: revolute, between: [crank, bar], at: [0, 0.2]}\n  c: {type: revolute, between: [bar, rocker], at: [0.6, 0.2]}\n  d: {type: revolute, between: [ground, rocker], at: [0.6, 0]}\n"
     "  e: {type: revolute, between: [ground, third], at: [0.3, 0]}\n  f: {type: revolute, between: [third, bar], at: [0.3, 0.2]}\n"
     "contacts: {stop: {gap: 0.03 + crank.x, slip: crank.y, restitution: 0.5, friction: 0.2}}\n"},
    {"rolling", 4e-3, 50, 0.005, // a ball in space that slips, rolls and spins, and meets a wall
     "carom: 1\ngravity: [0, 0.4, -9.81]\nshapes: {f: {plane: [0, 0, 1]}, w: {plane: [-1, 0.2, 0], at: [0.3, 0, 0]}}\n"
     "bodies: {b: {mass: 2, inertia: [0.008, 0.008, 0.01], at: [0, 0, 0.1001], velocity: [1.2, 0.2, 0], spin: [1, -3, 8], shape: {sphere: 0.1}}}\n"
     "contacts:\n  floor: {between: [b, f], friction: 0.3, rolling: 2e-3, spinning: 1e-3, restitution: 0.3}\n  wall: {between: [b, w], friction: 0.2, restitution: 0.6}\n"},
    {"brick", 4e-3, 40, 0, // four dependent contacts in space, sliding and turning
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {f: {plane: [0, 0, 1]}}\nbodies: {b: {mass: 1, inertia: [0.004, 0.005, 0.006], at: [0, 0, 0.0504], axis: [1, 2, 0], angle: 0.002, velocity: [0.6, 0.1, 0],\n"
     "  spin: [0, 0, 2], shape: {box: [0.3, 0.2, 0.1]}}}\ncontacts: {c: {between: [b, f], friction: 0.3}}\n"},
    {"top", 2e-3, 50, 0.001, // rotations in space, a spherical joint, a spring with damping
     "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 1, inertia: [0.004, 0.005, 0.002], at: [0.05, 0, 0.2], axis: [0, 1, 0], angle: 0.245, spin: [0.2, 0.1, 60]}}\n"
     "joints: {j: {type: spherical, between: [ground, b], at: [0, 0, 0]}}\nforces: {b.wx: -0.01*b.wx, b.y: -10*b.y}\n"},
    {"soft", 1e-3, 50, 0.002, // contacts that yield, a brake, a condition of closing is not used: not every scheme supports it
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 2e-3, rate: -0.5}, phi: {at: 0, rate: 4}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2) + 0.01*phi'^2, potential: 9.81*y}\n"
     "contacts:\n  floor: {gap: y, slip: x, stiffness: 4e4, exponent: 1.5, damping: 0.3, friction: 0.4, stiction speed: 0.01}\n"
     "  brake: {normal force: 20*t, slip: 0.1*phi, friction: 0.5}\n"},
    {"bar", 2e-3, 60, 0, // a linear system with banded matrices that meets a stop; the energy identity is checked
     "carom: 1\ncoordinates: {a: {at: 1e-3, rate: -1}, b: {at: 0, rate: -1}, c: {at: 0, rate: -1}, d: {at: 0, rate: -1}}\n"
     "energy: {kinetic: 1/2*(a'^2 + b'^2 + c'^2 + d'^2), potential: 2000*((a - b)^2 + (b - c)^2 + (c - d)^2)}\nforces: {d: -0.5*d' - 3}\ncontacts: {stop: {gap: a + 0.001, restitution: 0.3}}\n"},
    {"heap", 2e-3, 24, 0, // impacts of many, friction and rolling, bodies that share contacts
     "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}, side: {plane: [1, 0.3], at: [-0.25, 0]}}\n"
     "bodies: {d: {repeat: 7, body: {mass: 1 + 0.1*i, inertia: 0.001, at: [0.12*i - 0.36*floor(i/3) + 0.01*sin(i), 0.051 + 0.11*floor(i/3)], velocity: [0.5*cos(i), -0.5], shape: {circle: 0.05}}}}\n"
     "contacts: {all: {among: [d], friction: 0.3, restitution: 0.2}, base: {between: [d, [floor, side]], friction: 0.5, rolling: 1e-3}}\n"},
    {"pebbles", 2e-3, 30, 0, // contacts that come and go, rolling and spinning each with a bound of its own
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0.05, 1]}}\nbodies:\n"
     "  a: {mass: 1, inertia: [0.003, 0.003, 0.002], at: [0, 0, 0.061], velocity: [0.5, 0, 0], spin: [0, 3, 1], shape: {ellipsoid: [0.08, 0.07, 0.06]}}\n"
     "  b: {mass: 2, inertia: [0.004, 0.004, 0.004], at: [0.03, 0.02, 0.182], velocity: [0, 0, -1], spin: [0, 0, 5], shape: {sphere: 0.06}}\n"
     "contacts: {all: {among: [a, b], friction: 0.3, restitution: 0.2}, base: {between: [[a, b], floor], friction: 0.4, rolling: 1e-3, spinning: 1e-3, resistance: discs}}\n"},
    {"glancing", 2e-3, 20, 0, // an impact by energy in space, on which slip turns
     "carom: 1\ncoordinates: {n: {at: 0.0055, rate: -1}, a: {at: 0, rate: 0.4}, b: {at: 0, rate: -0.3}, m: {at: 0.0075, rate: -0.7}, c: {at: 0, rate: 0.3}, d: {at: 0, rate: 0.2}}\n"
     "energy: {kinetic: 1/2*(n'^2 + a'^2 + 0.6*b'^2) + 0.3*n'*a' + 0.2*n'*b' + 0.1*a'*b' + 1/2*(m'^2 + c'^2 + d'^2)}\n"
     "contacts:\n  floor: {gap: n, slip: [a, b], restitution: 1/2, friction: 0.25, impact law: energetic}\n  wall: {gap: m, slip: [c, d], restitution: 1/2, friction: 0.2, impact law: energetic}\n"},
    {"rattling", 4e-3, 50, 0.06, // impacts of two contacts accumulate together, sliding
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.01, rate: 0}, phi: {at: 0.004, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + 0.3*phi'^2), potential: 9.81*y}\n"
     "contact defaults: {restitution: 0.5, friction: 0.1 + 0.002*normal.force}\ncontacts: {left: {gap: y + phi, slip: x}, right: {gap: y - phi, slip: x}}\n"},
    {"sled", 4e-3, 40, 0.02, // dependent contacts that slide, until they stick
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.25}, y: 0, phi: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + 0.3*phi'^2), potential: 9.81*y}\nforces: {phi: 0.5, x: 0.3*sin(20*t)}\n"
     "contact defaults: {friction: 0.2}\ncontacts: {left: {gap: y + phi, slip: x}, middle: {gap: y, slip: x}, right: {gap: y - phi, slip: x}}\n"},
    {"tilting", 5e-3, 50, 0.06, // mass, joint, gap and slip all depend on time
     "carom: 1\ncoordinates: {x: {at: 0.2, rate: 0.5}, y: {at: 0.02, rate: -0.2}, z: {at: 0.04, rate: 0.1}}\nenergy: {kinetic: 1/2*(1 + 0.3*sin(9*t))*(x'^2 + y'^2 + z'^2), potential: 9.81*y + 3*z^2}\n"
     "constraints: {rail: z - 0.2*x*cos(5*t)}\ncontacts: {floor: {gap: y - 0.4*x*sin(6*t), slip: x + 0.3*y*t, restitution: 0.4, friction: 0.3}}\n"},
    {"stiff", 0.01, 30, 0, // a fast decay beside a slow motion, then a stop
     "carom: 1\ncoordinates: {a: {at: 0.3, rate: 0}, b: {at: 0.3, rate: 0.1}}\nenergy: {kinetic: 1/2*(a'^2 + b'^2), potential: 9.81*(a + b) + 5e5*(a - b)^2}\n"
     "forces: {a: -1e5*(a' - b'), b: -1e5*(b' - a')}\ncontacts: {stop: {gap: a, restitution: 0.2}}\n"},
    {"rod", 2e-4, 26, 0, // a bar of finite elements: constant mass and directions
     "carom: 1\nflexible:\n  bar: {type: bar, length: 1, elements: 15, density: 1000, modulus: 1e7, area: 1e-3, rate: -0.5, damping: {stiffness: 1e-5}}\n"
     "contacts: {wall: {gap: 5.05e-4 + bar.start.u, restitution: 0.1}, back: {gap: 1e-3 - bar.end.u, restitution: 0.5}}\n"},
    {"stones", 2e-3, 24, 0, // contacts that come and go, struck together, by Poisson's law
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0.05, 1]}}\nbodies:\n"
     "  a: {mass: 1, inertia: [0.003, 0.003, 0.002], at: [0, 0, 0.061], velocity: [0.5, 0, 0], spin: [0, 3, 1], shape: {ellipsoid: [0.08, 0.07, 0.06]}}\n"
     "  b: {mass: 2, inertia: [0.004, 0.004, 0.004], at: [0.03, 0.02, 0.182], velocity: [0, 0, -1], spin: [0, 0, 5], shape: {sphere: 0.06}}\n"
     "contacts: {all: {among: [a, b], friction: 0.3, restitution: 0.2, impact law: poisson}, base: {between: [[a, b], floor], friction: 0.4, restitution: 0.3, impact law: poisson}}\n"},
    {"slab", 4e-3, 40, 0.06, // impacts of two feet that slide accumulate without end
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.01, rate: -0.1}, phi: {at: 0.002, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + 0.1*phi'^2), potential: 9.81*y}\n"
     "contact defaults: {restitution: 0.1, friction: 0.1}\ncontacts: {left: {gap: y + phi, slip: x + 0.2*phi}, right: {gap: y - phi, slip: x + 0.2*phi}}\n"},
    {"kinked", 5e-3, 40, 0.03, // a joint whose velocity jumps, a floor with an edge, a wall that jumps forward
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.031, rate: 0}, z: {at: 0.01446, rate: -0.1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2) + 0.2*y'*z', potential: 9.81*y}\n"
     "constraints: {rail: z - 0.2*abs(t - 0.0723) - 0.1*x}\ncontacts:\n  floor: {gap: 'y - 0.3*abs(x - 0.1)', slip: x, restitution: 0.3, friction: 0.1}\n  wall: {gap: '0.25 - x - 0.5*max(0, t - 0.1013)', restitution: 0.5}\n"},
    {"waiting", 4e-3, 40, 0, // rest, until forces begin
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + 2*z'^2), potential: 9.81*y + 50*z^2}\nforces: {x: 'if(t < 0.03, 0, 6*sin(20*t))', z: 'max(0, t - 0.05)*100'}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 0.3}, stop: {gap: 0.02 - z, restitution: 0.4}}\n"},
    {"pulse", 4e-3, 50, 0, // rest without any force, then a push, and a kink that moves
     "carom: 1\ncoordinates: {x: 0.3, u: 0.2}\nenergy: {kinetic: 1/2*(x'^2 + u'^2)}\nforces: {x: 'if(t < 0.0501, 0, if(t < 0.1103, 20, 0.1))', u: '30*max(0, 0.3*sin(40*t - 2) - u + 0.1)'}\n"
     "contacts: {stop: {gap: 0.32 - x, restitution: 0.5}}\n"},
    {"skidding", 4e-3, 40, 0.03, // slides on while another contact is struck; both have tangential restitution
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: {at: 0, rate: 0.5}, w: {at: 0, rate: 0.2}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + w'^2) + 0.1*x'*z', potential: 9.81*y}\nconstraints: {rail: w - 0.2*x}\n"
     "contact defaults: {restitution: 0.4, tangential restitution: 0.5, friction: 0.2}\ncontacts: {floor: {gap: y, slip: x}, far: {gap: 1 + y, friction: 0, tangential restitution: 0}, wall: {gap: 0.031 - z, slip: x - y}}\n"},
    {"mates", 4e-3, 40, 0, // one sticks until it is pulled loose, one slides until it sticks, one is struck
     "carom: 1\ncoordinates: {a: 0, y: 0, b: {at: 0, rate: 0.2}, z: 0, w: {at: 0.02, rate: -0.3}}\nenergy: {kinetic: 1/2*(a'^2 + y'^2 + b'^2 + z'^2 + w'^2) + 0.1*a'*b' + 0.1*w'*a', potential: 9.81*(y + z) + 20*(a - b)^2}\n"
     "forces: {a: 40*t}\ncontacts: {left: {gap: y, slip: a, friction: 0.3}, right: {gap: z, slip: b, friction: 0.2}, third: {gap: w, slip: a + b, friction: 0.1, restitution: 0.6}}\n"},
    {"crest", 0.02, 12, 0, // falls on a floor in the step in which it passes an edge of it
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0.06924}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y}\ncontacts: {floor: {gap: 'y - 0.3*abs(x - 0.11)', slip: x, restitution: 0.4, friction: 0.1}}\n"},
    {"tapped", 0.2, 2, 0, // at rest beside a joint and a floor that moves
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0.1}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2)}\nconstraints: {rail: z - 0.1}\n"
     "contacts: {far: {gap: y + 1}, floor: {gap: x + 0.01 - 0.0101*sin(40*t)^2, slip: y, friction: 0.2, restitution: 0.5}, wall: {gap: 0.02 - x}}\n"},
    {"knocked", 2, 2, 0, // rests on a floor beside a joint; a wall comes for an instant and goes
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0.1}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y + 0.01*cos(x)}\nconstraints: {rail: z - 0.1 - 0.01*x}\n"
     "contacts: {floor: {gap: y}, wall: {gap: 'x + 0.5 - 0.6*exp(-((t - 2.9)/0.05)^2)', restitution: 0.5}}\n"},
    {"folding", 4e-3, 20, 0.05, // a parallelogram passes the position in which its joints depend on each other
     "carom: 1\ngravity: [0, -9.81]\nparameters: {f: -0.1, w: 6}\nbodies:\n"
     "  crank: {mass: 1, inertia: 0.01, at: [0.1*cos(f), 0.1*sin(f)], angle: f, velocity: [-0.1*w*sin(f), 0.1*w*cos(f)], spin: w}\n"
     "  bar: {mass: 2, inertia: 0.04, at: [0.3 + 0.2*cos(f), 0.2*sin(f)], velocity: [-0.2*w*sin(f), 0.2*w*cos(f)]}\n"
     "  rocker: {mass: 1.5, inertia: 0.01, at: [0.6 + 0.1*cos(f), 0.1*sin(f)], angle: f, velocity: [-0.1*w*sin(f), 0.1*w*cos(f)], spin: w}\njoints:\n"
     "  a: {type: revolute, between: [ground, crank], at: [0, 0]}\n  b: {type: revolute, between: [crank, bar], at: [0.2*cos(f), 0.2*sin(f)]}\n"
     "  c: {type: revolute, between: [bar, rocker], at: [0.6 + 0.2*cos(f), 0.2*sin(f)]}\n  d: {type: revolute, between: [ground, rocker], at: [0.6, 0]}\n"
     "contacts: {stop: {gap: 0.04 - bar.y, restitution: 0.5}}\n"},
    {"kicked", 4e-3, 40, 0, // one sticks, one slides and one is thrown off when a third is struck
     "carom: 1\ncoordinates: {a: 0, y: 0, b: {at: 0, rate: 0.3}, z: 0, c: 0, x: 0, w: {at: 0.02, rate: -0.3}}\n"
     "energy: {kinetic: 1/2*(a'^2 + y'^2 + b'^2 + z'^2 + c'^2 + x'^2 + w'^2) - 0.3*w'*y', potential: 9.81*(y + z + x)}\nforces: {a: 1 + t, c: 0.5}\n"
     "contact defaults: {friction: 0.3}\ncontacts: {thrown: {gap: y, slip: a}, slides: {gap: z, slip: b}, third: {gap: w, slip: a + b, friction: 0.1, restitution: 0.9}, sticks: {gap: x, slip: c}}\n"},
    {"stacked", 4e-3, 40, 0, // rests on a floor and is struck there
     "carom: 1\ncoordinates: {a: 0, b: {at: 0.11, rate: -0.5}, x: {at: 0, rate: 0.2}}\nenergy: {kinetic: 1/2*(a'^2 + 2*b'^2 + x'^2), potential: 9.81*(a + 2*b)}\n"
     "contacts: {floor: {gap: a, slip: x, friction: 0.1}, between: {gap: b - a - 0.1, restitution: 0.3}}\n"},
    {"limit", 0.02, 20, 0, // friction is just exhausted at the start and less afterwards
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 10*(y + z)}\nforces: {x: 5*cos(8*t) - 4*t}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 1/2}, other: {gap: z, slip: x - y, friction: 0}}\n"},
    {"blink", 4e-3, 30, 0, // forces and walls that come and go within a step
     "carom: 1\ncoordinates: {x: 0, y: 0.01, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y}\nforces: {x: 'if(abs(t - 0.0514) < 0.0005, 100, 1)', z: 'if(abs(t - 0.0817) < 0.0007, 30, 2)'}\n"
     "constraints: {rail: z - 0.1*x}\ncontacts: {floor: {gap: y, slip: x, friction: 0.3}, wall: {gap: 0.5 - x}}\n"},
    {"twitch", 4e-3, 30, 0, "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0.01, z: {at: 0, rate: 0.1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y}\nconstraints: {rail: z - 0.1*t}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 'if(abs(t - 0.06) < 0.001, 2, 0.1)'}, wall: {gap: '0.5 - x - if(abs(t - 0.0914) < 0.0006, 0.4, 0)'}}\n"},
    {"flash", 4e-3, 30, 0, "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0.01}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y}\nforces: {x: 'exp(-((t - 0.0507)/2e-4)^2) - 0.1'}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 0.2}, wall: {gap: '0.5 - x - 0.4*exp(-((t - 0.0911)/1e-3)^2)'}}\n"},
    {"instant", 4e-3, 30, 0, // a wall, a joint and a force with another value at one instant alone, at the end of a step
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0.05, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y}\nforces: {x: 'if(t < 0.08, 1, if(t > 0.08, 1, 9))'}\n"
     "constraints: {rail: 'z - if(t < 0.1, 0, if(t > 0.1, 0, 0.2))'}\ncontacts: {floor: {gap: y, slip: x, friction: 0.3, restitution: 0.2}, wall: {gap: '0.5 - x - if(t < 0.06, 0, if(t > 0.06, 0, 0.7))'}}\n"},
    {"balanced", 0.02, 20, 0, // pushed on both sides alike: a reaction of rounding alone
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + 3*y'^2 + 0.7*z'^2)}\nforces: {y: 0.9*sin(9*x), z: 0.21*sin(9*x)}\n"
     "contacts: {pair: {gap: y - z, slip: x, friction: 0.2, restitution: 0.3}}\n"},
    {"gate", 4e-3, 75, 0.03, // a floor that closes late
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.02, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y - 2*x}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 0.2, restitution: 0.3, closes while: x - 0.17}, lower: {gap: y + 0.03, restitution: 0.9, slip: x, friction: 0.1}}\n"},
    {"steered", 4e-3, 50, 0, // a controller with a delay, a force from a table, a stop whose place is a signal
     "carom: 1\ntables: {T: {x: [0, 0.05, 0.2], y: [0, 3, -2]}}\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.1, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + 2*y'^2), potential: 30*(x - y)^2}\n"
     "controllers: {c: {sample: 0.0301, offset: 0.01, delay: 0.0052, states: {s: s + x}, outputs: {u: -8*x - x' - s, w: 0.1*s}}}\nforces: {x: u, y: T(t)}\n"
     "contacts: {stop: {gap: 0.051 - x + 0.01*w, slip: y, friction: 0.3, restitution: 0.5}}\n"},
    {"bearing", 4e-3, 50, 0, // friction of a joint by its own reaction, a brake, a motor, a spring
     "carom: 1\ngravity: [0, -9.81]\nbodies:\n  arm: {mass: 1, inertia: 0.03, at: [0.2, 0], spin: 2}\n  tip: {mass: 0.5, inertia: 0.01, at: [0.5, 0], shape: {point: [0.1, 0]}}\n"
     "joints: {a: {type: revolute, between: [ground, arm], at: [0, 0]}, b: {type: revolute, between: [arm, tip], at: [0.4, 0]}}\nsprings: {s: {joint: b, stiffness: 3, damping: 0.02}}\n"
     "motors: {m: {joint: a, torque: 1.5*cos(9*t)}}\nshapes: {floor: {plane: [0, 1], at: [0, -0.1]}}\n"
     "contacts:\n  wear: {joint: a, radius: 0.02, friction: 0.3}\n  grip: {normal force: '20*max(0, t - 0.05)', slip: 0.1*(tip.angle - arm.angle), friction: 0.4}\n  floor: {between: [tip, floor], friction: 0.3, restitution: 0.2}\n"},
    {"conveyor", 4e-3, 40, 0, // a surface that moves, a pusher with prescribed motion, friction by direction
     "carom: 1\ngravity: [0, 0.5, -9.81]\nshapes: {belt: {plane: [0, 0, 1], surface velocity: ['0.5 + t', 0.2, 0]}, ice: {plane: [-1, 0, 0], at: [0.35, 0, 0]}}\n"
     "bodies:\n  b: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [0, 0, -0.1], spin: [0, 1, 0], shape: {sphere: 0.1}}\n"
     "  push: {motion: {at: ['-0.25 + 0.1*sin(20*t)', 0, 0.1]}, shape: {sphere: 0.1}}\ncontacts:\n  c: {between: [b, belt], friction: 0.4}\n"
     "  d: {between: [b, ice], friction: {along: 0.1, across: 0.3, direction: [0, 1, 0.5]}, restitution: 0.3}\n  e: {between: [b, push], restitution: 0.5, friction: 0.1}\n"},
    {"dozing", 0.02, 60, 0, // bodies fall asleep, one is woken
     "carom: 1\ngravity: [0, 0, -9.81]\nsleep: 0.02\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
     "  s: {repeat: 3, body: {mass: 1 + i, inertia: [0.004, 0.004, 0.006], at: [i, 0, 0.08], velocity: [0.005*i, 0, 0], shape: {ellipsoid: [0.1, 0.1, 0.08]}}}\n"
     "  late: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [2.05, 0, 4.6], shape: {sphere: 0.1}}\n"
     "contacts: {among: {among: [s, late], friction: 0.3}, base: {between: [[s, late], floor], friction: 0.4}}\n"},
    {"wedges", 2e-3, 40, 0, // edges and corners of polygons, contacts that switch features
     "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {polygon: [[-1, -0.5], [1, -0.5], [0.2, 0.02], [-1, 0]]}}\nbodies:\n"
     "  a: {mass: 1, inertia: 0.004, at: [0.02, 0.09], angle: 0.1, velocity: [1.2, -0.2], shape: {box: [0.2, 0.1]}}\n  b: {mass: 0.5, inertia: 0.001, at: [0.05, 0.23], angle: 0.7, velocity: [0, -1], shape: {polygon: [[-0.06, -0.04], [0.06, -0.04], [0, 0.07]]}}\n"
     "contacts: {c: {among: [a, b, floor], friction: 0.3, restitution: 0.3}}\n"},
    {"rubble", 2e-3, 20, 0, // hulls on a height field: contacts by search
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {hill: {heights: [[0.1, 0, 0.1, 0.2], [0, 0, 0.1, 0.1], [0.1, 0.05, 0, 0.1]], cell: 0.3}}\nbodies:\n"
     "  h: {mass: 1, inertia: [0.003, 0.004, 0.005], at: [-0.05, 0.02, 0.16], velocity: [0.5, 0, -1], spin: [1, 2, 0], shape: {hull: [[0.1, 0.1, 0], [-0.1, 0.1, 0], [0, -0.12, 0.02], [0, 0, 0.12], [0.01, 0, -0.09]]}}\n"
     "  k: {mass: 0.5, inertia: [0.001, 0.001, 0.001], at: [-0.05, 0.02, 0.37], velocity: [0, 0, -2], shape: {box: [0.1, 0.12, 0.1]}}\ncontacts: {c: {among: [h, k, hill], friction: 0.4, restitution: 0.2}}\n"},
    {"beam", 1e-3, 24, 0, // a flexible member in the plane, contacts along it
     "carom: 1\ngravity: [0, -9.81]\nflexible:\n  beam: {type: beam, length: 1, elements: 4, density: 1000, modulus: 1e8, area: 1e-3, inertia: 1e-7, fix: start, damping: {stiffness: 1e-4}}\n"
     "coordinates: {y: {at: 0.005, rate: -1}}\nenergy: {kinetic: 0.2*y'^2, potential: 0}\ncontacts:\n  ball: {gap: y - beam.end.y, restitution: 0.4}\n  floor: {along: beam, gap: 0.002 + beam.y, restitution: 0.2}\n"},
    {"medley", 4e-3, 50, 0.015, // one of many contacts is kinked, one sticks, one slides, two are struck, others are far; no two that are alike stand side by side
     "carom: 1\n"
     "coordinates: {p: {at: 0, rate: 0.3}, a: 0, y: 0, b: {at: 0, rate: 1.5}, z: {at: 0.009, rate: -0.46}, w: {at: 0.0203, rate: -0.3}, c: {at: 0, rate: 0.2}, x: 0, d: {at: 0.2, rate: 0.02}}\n"
     "energy: {kinetic: 1/2*(a'^2 + y'^2 + b'^2 + z'^2 + w'^2 + c'^2 + x'^2 + 0.5*d'^2 + 0.2*p'^2) - 0.2*w'*y' + 0.1*a'*c', potential: 9.81*(y + z + x) + 5*d^2}\n"
     "forces: {a: 1 + 20*t, d: -0.1*d' + 0.05*b}\nconstraints: {rail: p - 0.2*b, link: d - 0.2 - 0.1*c}\ncontact defaults: {friction: 0.3}\ncontacts:\n"
     "  far: {gap: 1 + y, slip: [a, c]}\n  ridge: {gap: 'z - 0.3*abs(b - 0.03)', slip: b, friction: 0.2, restitution: 0.3}\n  stop: {gap: 0.0311 - c - 0.05*t, slip: x - y, restitution: 0.5}\n"
     "  block: {gap: y, slip: a, restitution: 0.2}\n  above: {gap: 0.4 - 3*z, slip: b - c}\n  strike: {gap: w - 0.02*t, slip: a + b, friction: 0.1, restitution: 0.6}\n"
     "  table: {gap: x, slip: [c, p], friction: 0.1}\n"},
    {"grazing", 0.02, 12, 0, // five points that come near five walls, one of them as far as into it: a = b = ... = at - 0.6 t + (1 - cos(12 t))/16 is lowest at sin(12 t) = 0.8
     "carom: 1\nparameters: {low: 0.0213647609}\n"
     "coordinates: {x: {at: 0, rate: 0.1}, a: {at: low + 3e-7, rate: -0.6}, b: {at: low + 2e-6, rate: -0.6}, c: {at: low - 1e-6, rate: -0.6}, d: {at: low + 3e-8, rate: -0.6}, e: {at: low + 1e-5, rate: -0.6}}\n"
     "energy: {kinetic: 1/2*(x'^2 + a'^2 + b'^2 + c'^2 + d'^2 + e'^2)}\nforces: {a: 9*cos(12*t), b: 9*cos(12*t), c: 9*cos(12*t), d: 9*cos(12*t), e: 9*cos(12*t)}\n"
     "constraints: {rail: 'x - 0.1*t'}\n"
     "contacts: {far: {gap: 1 - x}, a: {gap: a, restitution: 0.5}, b: {gap: 30*b, restitution: 0.5}, c: {gap: 0.1*c, slip: x, friction: 0.1, restitution: 0.5}, d: {gap: 3*d, restitution: 0.5}, e: {gap: 0.02*e, restitution: 0.5}}\n"},
    {"shaker", 0.01, 10, 0, // edged bodies on a table that moves; one tips over its edge
     "carom: 1\ngravity: [0, -9.81]\nbodies:\n"
     "  table: {motion: {at: ['0.02*sin(12*t)', '0.004*sin(40*t)']}, shape: {polygon: [[-0.4, -0.1], [0.15, -0.1], [0.15, 0], [-0.4, 0]]}}\n"
     "  a: {mass: 1, inertia: 0.004, at: [0.06, 0.0523], angle: 0.02, velocity: [0.7, 0], shape: {box: [0.2, 0.1]}}\n"
     "  b: {mass: 0.4, inertia: 0.0005, at: [-0.2, 0.09], angle: 0.5, velocity: [0.1, -0.3], spin: 1, shape: {polygon: [[-0.05, -0.04], [0.05, -0.04], [0, 0.06]]}}\n"
     "contacts: {c: {between: [[a, b], table], friction: 0.2, restitution: 0.2}}\n"},
    {"hardening", 0.01, 60, 0, // for auto: stiffness and damping that are not linear, an impact on which forces grow a thousandfold
     "carom: 1\ncoordinates: {a: {at: 0.3, rate: 0}, b: {at: 0.3, rate: 0.1}, c: {at: 0.02, rate: 0}}\n"
     "energy: {kinetic: 1/2*(a'^2 + b'^2 + c'^2), potential: 9.81*(a + b) + 5e5*(a - b)^2 + 1e8*(a - b)^4}\n"
     "forces: {a: '-1e5*(a'' - b'')*(1 + 50*(a'' - b'')^2)', b: '-1e5*(b'' - a'')', c: '-3e4*c''*(1 + 3*c''^2) - 1e3*(c - 0.02*cos(40*t))'}\n"
     "contacts: {stop: {gap: a, restitution: 0.2}, side: {gap: c + 0.01, slip: a, friction: 0.1}}\n"},
    {"convoy", 5e-3, 50, 0, // joints beside contacts whose slips depend on each other; some come to rest together, others far away stand between them
     "carom: 1\ncoordinates: {k: {at: 0, rate: 0.05}, x: {at: 0, rate: 0.25}, y: 0, z: 0, s: {at: 0, rate: 0.3}, u: 0}\n"
     "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + 0.1*k'^2 + s'^2 + u'^2), potential: 9.81*(y + z + u)}\nforces: {x: 0.3*sin(20*t), s: 'if(t < 0.12, 0, 4)'}\n"
     "constraints: {rail: k - 0.2*x, level: 'y - z'}\ncontact defaults: {friction: 0.2}\n"
     "contacts: {upper: {gap: 0.5 - y, slip: x}, front: {gap: y + 0.1*u, slip: x}, alone: {gap: u, slip: s, friction: 0.3}, rear: {gap: z, slip: x + 0.5*k, friction: 0.1}, side: {gap: 0.3 - x, slip: s}}\n"},
    {"hovering", 5e-3, 60, 0.03, // flight without forces that do work, above a floor and beside a wall that move
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.5}, y: {at: 0.12, rate: 0.3}}\nenergy: {kinetic: x'^2 + y'^2 + 0.3*x'*y', potential: 2*9.81*y + 4*x^2}\n"
     "contacts: {low: {gap: 'y - 0.05*sin(9*t)', slip: x, friction: 0.2, restitution: 0.8}, wall: {gap: '0.3 - x + 0.1*t'}}\n"},
    {"gliding", 1e-4, 4000, 0, // unwatched: thousands of steps in which nothing touches, above a floor that moves, between impacts
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.5}, y: {at: 0.12, rate: 0.3}}\nenergy: {kinetic: x'^2 + y'^2 + 0.3*x'*y', potential: 2*9.81*y + 4*x^2}\n"
     "contacts: {low: {gap: 'y - 0.05*sin(9*t)', slip: x, friction: 0.2, restitution: 0.8}, wall: {gap: '0.2 - x + 0.1*t', restitution: 0.5}}\n"},
    {"units", 4e-3, 50, 0.05, // two points that fall and bounce alike, with gaps in other units, beside a joint: neither the unit nor the place in the list changes a motion
     "carom: 1\ncoordinates: {k: {at: 0, rate: 0.01}, x: {at: 0, rate: 0.1}, y: {at: 0.01, rate: -0.1}, z: {at: 0.01, rate: -0.1}}\n"
     "energy: {kinetic: 1/2*(k'^2 + x'^2 + y'^2 + z'^2), potential: 9.81*(y + z)}\nconstraints: {rail: 30*(k - 0.1*x)}\n"
     "contact defaults: {restitution: 0.3}\ncontacts: {far: {gap: 1e3*(1 - x)}, small: {gap: 0.01*y, slip: 0.01*x, friction: 0.1}, side: {gap: 20*(2 + x)}, large: {gap: 100*z, slip: 100*x, friction: 0.1}}\n"},
    {"drumming", 4e-3, 40, 0.02, // impacts of two feet accumulate while others go on bouncing, each at its own times
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.01, rate: -0.1}, phi: {at: 0.002, rate: 0}, w: {at: 0.003, rate: 0}, z: {at: 0.02, rate: 0}}\n"
     "energy: {kinetic: 1/2*(x'^2 + y'^2 + 0.1*phi'^2 + w'^2 + z'^2), potential: 9.81*(y + w + z)}\ncontact defaults: {restitution: 0.1, friction: 0.1}\n"
     "contacts: {drum: {gap: w, restitution: 0.7, friction: 0}, left: {gap: y + phi, slip: x + 0.2*phi}, right: {gap: y - phi, slip: x + 0.2*phi}, bell: {gap: z, restitution: 0.9, friction: 0}}\n"},
    {"slot", 1e-6, 14, 0, // for auto: more impacts than can be located
     "carom: 1\ncoordinates: {x: {at: 0.5e-7, rate: 1}, y: {at: 1}, z: {at: 0.5}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 1/2*y^2}\nforces: {y: -0.1*y' + 0.2*sin(t)}\n"
     "constraints: {rod: z - 0.5*y}\ncontact defaults: {restitution: 0.99, friction: 0.01}\ncontacts: {left: {gap: x, slip: y}, right: {gap: 1e-7 - x, slip: y}}\n"},
    {"flurry", 4e-6, 60, 0, // for auto: the same, then walls that go away; one body rests, one slides, one touches
     "carom: 1\ncoordinates: {x: {at: 0.5e-7, rate: 1}, y: {at: 1}, z: 0, s: {at: 0, rate: 0.1}, w: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + s'^2 + w'^2), potential: 1/2*y^2 + 9.81*z}\n"
     "contact defaults: {restitution: 0.99}\ncontacts: {left: {gap: 'x + 10*max(0, t - 1e-5)'}, floor: {gap: z, slip: s, friction: 0.3, restitution: 0}, touch: {gap: w, restitution: 0},\n"
     "  right: {gap: '1e-7 - x + 10*max(0, t - 1e-5)'}}\n"},
    {"crowd", 0.02, 3, 0, // for auto: too many for dense matrices
     "carom: 1\ngravity: [0, -4]\nshapes: {floor: {plane: [0.1, 1]}}\nbodies:\n  d: {repeat: 69, body: {mass: 1 + 0.01*i, inertia: 0.001, at: [i, 0.051 - 0.099*i], velocity: [0.5*cos(i), 0], shape: {circle: 0.05}}}\n"
     "forces: {d.3.x: 2*cos(9*t) - 0.5*d.3.x'}\ncontacts: {c: {between: [d, floor], friction: 0.2, restitution: 0.2}}\n"},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

// -- figures ------------------------------------------------------------------------------------------------------------------

enum { MOTION, REACTIONS, EVENTS, ENERGY, BOOKS, REALS };
enum { STEPS, PROBLEMS, ITERATIONS, NEWTON, FALLBACKS, INNER, HAPPENED, MARKS, CALLS, COUNTS };

// A line of the table: sums that must be equal up to rounding, and counts that may differ a little.
typedef struct figures {
    char key[120];
    double real[REALS];
    long count[COUNTS];
    bool failed;
} figures;

// Weights tell components and steps apart.
static double weight(long i) { return 1 + fmod(0.6180339887498949 * (double)(i + 1), 1); }

static void add(double *to, const double *x, int n, long step) {
    for (int i = 0; x && i < n; ++i) *to += weight(step) * weight(3 * i) * x[i];
}

static double nudge; // relative change of what a run, or a solver, starts from

// -- schemes ------------------------------------------------------------------------------------------------------------------

static void look(figures *f, const carom_now *now, const carom_system *sys) {
    const int n = now->dir[sys->ne + sys->nc];
    add(&f->real[MOTION], now->q, sys->nq, now->step);
    add(&f->real[MOTION], now->v, sys->nv, now->step + 1);
    for (int i = 0; i < sys->ne + sys->nc - sys->listed; ++i) f->real[MOTION] += weight(now->step) * weight(2 * i) * fmin(now->gap[i], 1);
    if (now->reacted) {
        add(&f->real[REACTIONS], now->impulse, n, now->step);
        add(&f->real[REACTIONS], now->force, n, now->step + 1);
    }
    add(&f->real[REACTIONS], now->nu, n, now->step + 2);
    add(&f->real[REACTIONS], now->lasting, n, now->step + 3);
    for (int i = 0; i < now->nevents; ++i) {
        const carom_event *e = &now->events[i];
        f->real[EVENTS] += weight(e->contact) * (1 + (int)e->kind) * (e->t + 0.1 * e->before + 0.2 * e->after + 0.3 * e->impulse);
    }
    f->count[HAPPENED] += now->nevents;
}

// What schemes show on the way: ends of internal steps, states inside a step, both sides of events, changes of modes.

static carom_status inner(void *user, double t, const double *q, const double *v) {
    figures *f = user;
    f->real[MOTION] += 0.01 * t * (q[0] + v[0]);
    return CAROM_OK;
}

static carom_status side(void *user, carom_side side, double t, const double *q, const double *v) {
    figures *f = user;
    f->real[EVENTS] += (1 + (int)side) * (t + q[0] + v[0]);
    return CAROM_OK;
}

static carom_status change(void *user, const carom_change *c) {
    figures *f = user;
    f->real[EVENTS] += (1 + (int)c->kind) * (c->t + 10 * (c->t - c->t_before) + c->v[0] - c->v_before[0] + c->q[0] + c->q_before[0] + c->mode[0] + 2 * c->mode_before[0] + c->impulse[0] + c->in[0]);
    return CAROM_OK;
}

static void watch(carom_sim *sim, figures *f) {
    if (!carom_sim_watch_dense(sim, 2, inner, f)) carom_sim_watch_inner(sim, inner, f);
    if (carom_sim_system(sim)->nc == 0) return;
    carom_sim_watch_events(sim, side, f);
    carom_sim_watch_changes(sim, change, f);
}

// What the ledger tells beside energies.  Places and times of sizes that are not rounding alone; warnings.
static void close_other_books(figures *f, carom_sim *sim, const carom_ledger *l) {
    static carom_warning list[CAROM_WARNINGS];
    const int warnings = carom_sim_warnings(sim, l, list);
    const carom_counts *c = &l->counts;
    const double books[] = {l->energy.start, l->energy.end, l->energy.balance, l->energy.identity > 1e-9 ? l->energy.identity : 0, c->violation, c->terms, l->sleep.energy,
                            c->accepted_residual, c->unseen ? c->unseen_t : 0, l->moved > 1e-9 ? l->moved_t : 0, c->residual > 1e-9 ? c->residual + l->residual_t : 0,
                            1e-3 * sqrt(fabs(l->pace[0].stiffness)), 1e-3 * l->pace[0].damping, 1e-3 * sqrt(fabs(l->pace[1].stiffness)), 1e-3 * l->pace[1].damping};
    add(&f->real[BOOKS], books, sizeof books / sizeof *books, 1);
    const int id[] = {l->penetration > 1e-9 ? l->penetration_id : -1, l->drift > 1e-9 ? l->drift_id : -1, l->impulses.gain > 1e-9 ? l->impulses.gain_id : -1,
                      l->moved > 1e-9 ? l->moved_id : -1, c->unseen ? c->unseen_id : -1, c->residual > 1e-9 ? c->residual_id : -1};
    for (int i = 0; i < 6; ++i) f->count[MARKS] += (i + 1) * id[i];
    f->count[MARKS] += 10 * (l->impacts + 2 * l->accumulations + 3 * l->switches + 5 * l->undecided + 7 * l->sleep.falls + 11 * l->sleep.wakes + 13 * c->accepted);
    f->count[MARKS] += 10 * (17 * c->newton_many + 19 * c->newton_max + 23 * c->newton_median + 29 * c->unseen);
    for (int i = 0; i < warnings; ++i) {
        f->count[MARKS] += 1000 * (list[i].kind[0] + 2 * list[i].kind[2]) + 100 * list[i].id;
        if (!isnan(list[i].t)) f->real[BOOKS] += weight(i) * list[i].t;
    }
}

static void close_books(figures *f, carom_sim *sim) {
    carom_error err = {0};
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    const double energy[] = {l.energy.impact, l.energy.friction, l.energy.external, l.energy.damping, l.energy.lost, l.energy.created, 100 * l.penetration, 100 * l.drift, l.kinetic, l.gap,
                             l.penetration > 1e-9 ? l.penetration_t : 0, l.drift > 1e-9 ? l.drift_t : 0, l.impulses.gain, l.impulses.gain > 1e-9 ? l.impulses.gain_t : 0, l.moved};
    add(&f->real[ENERGY], energy, sizeof energy / sizeof *energy, 0);
    close_other_books(f, sim, &l);
    char said[2000] = "";
    carom_sim_choice(sim, said, sizeof said);
    for (const char *c = said; *c; ++c) f->count[HAPPENED] += *c == ';' || *c == ',';
    f->count[STEPS] = l.steps + l.rejected;
    f->count[PROBLEMS] = l.counts.problems;
    f->count[ITERATIONS] = l.counts.iterations;
    f->count[NEWTON] = l.counts.newton;
    f->count[FALLBACKS] = l.counts.fallbacks;
    f->count[INNER] = l.counts.inner + l.counts.inner_rejected;
}

enum { MOST = 100 }; // steps

/// Options: words with spaces between.
/// Unwatched: only the end is looked at, and steps that nothing touches may take a shorter way.
static figures simulate(const carom_model *m, const example *e, const char *scheme, const char *options, bool unwatched) {
    figures f = {.failed = true};
    snprintf(f.key, sizeof f.key, "%s %s%s%s%s", e->name, scheme, *options ? " " : "", options, unwatched ? " unwatched" : "");
    carom_error err = {0};
    char words[100];
    const char *list[8] = {0};
    snprintf(words, sizeof words, "%s", options);
    int n = 0;
    for (char *w = strtok(words, " "); w && n < 7; w = strtok(NULL, " ")) list[n++] = w;
    carom_sim_def d = carom_sim_default();
    const carom_system sys = counted(carom_model_system(m));
    d.system = &sys, d.schemes = carom_schemes(), d.scheme = scheme;
    d.options = ignoring_impacts(scheme, d.system, list);
    d.h = e->h, d.t_end = e->steps * e->h;
    double v[240];
    for (int i = 0; i < d.system->nv; ++i) v[i] = carom_model_v0(m)[i] * (1 + (i % 2 ? nudge : -nudge));
    d.q0 = carom_model_q0(m), d.v0 = v;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) return f; // it does not support something
    if (!unwatched) watch(sim, &f);
    carom_status status = unwatched ? carom_sim_run(sim, NULL, NULL, &err) : CAROM_OK;
    for (int k = 0; k < MOST && status == CAROM_OK && !carom_sim_done(sim); ++k) {
        status = carom_sim_step(sim, &err);
        const carom_now now = carom_sim_now(sim);
        if (status == CAROM_OK) look(&f, &now, carom_sim_system(sim));
    }
    f.failed = status != CAROM_OK;
    if (unwatched) add(&f.real[MOTION], carom_sim_now(sim).q, d.system->nq, 0), add(&f.real[MOTION], carom_sim_now(sim).v, d.system->nv, 1);
    f.count[CALLS] = counted_calls;
    close_books(&f, sim);
    carom_sim_destroy(sim);
    return f;
}

// Another value of option o, the i-th; false after the last.
static bool other_value(const carom_option *o, int i, char *text, size_t size) {
    char word[40];
    double x = i;
    if (o->kind == CAROM_CHOICE) {
        const char *at = o->choices;
        for (int k = 0; k < i && at; ++k) at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
        if (!at) return false;
    } else if (o->kind == CAROM_INTEGER) {
        x = o->low + i;
        if (i == 7 && o->choices) x = o->high + 1; // the first of the words
        else if (o->high > 100 ? i > 0 : i > 6 || x > o->high) return false;
        if (o->high > 100) x = 3; // events or internal steps before a step is refused
    } else {
        x = o->low + 0.3 * (o->high - o->low);
        if (o->high > 10 || strstr(o->name, "tol")) x = o->fallback > 0 ? 30 * o->fallback : 0.02;
        if (i > 0) return false;
    }
    carom_option_write(o, x, word, sizeof word);
    if (x == o->fallback) word[0] = 0;
    snprintf(text, size, "%s=%s", o->name, word);
    return true;
}

// -- solvers ------------------------------------------------------------------------------------------------------------------

// G by blocks, all of them.
typedef struct blocks {
    carom_block_rows rows;
    int *start, *col, *at, *diagonal;
    double *value;
} blocks;

static blocks blocks_of(const contact_problem *x) {
    const int nb = x->pb.nb;
    blocks b = {.start = calloc((size_t)nb + 1, sizeof(int)), .col = calloc((size_t)nb * nb, sizeof(int)), .at = calloc((size_t)nb * nb, sizeof(int)), .diagonal = calloc((size_t)nb, sizeof(int)),
                .value = calloc((size_t)x->pb.n * x->pb.n, sizeof(double))};
    int k = 0, at = 0;
    for (int i = 0; i < nb; ++i)
        for (int j = 0; j < nb; b.start[i + 1] = k, ++j) {
            const int m = carom_law_rows(x->block[i].law), n = carom_law_rows(x->block[j].law);
            double sum = 0;
            for (int r = 0; r < m * n; ++r) sum += fabs(b.value[at + r] = PROBLEM_G(x, x->block[i].at + r % m, x->block[j].at + r / m));
            if (sum == 0 && i != j) continue;
            if (i == j) b.diagonal[i] = k;
            b.col[k] = j, b.at[k++] = at, at += m * n;
        }
    int uniform = carom_law_rows(x->block[0].law);
    for (int i = 0; i < nb; ++i)
        if (carom_law_rows(x->block[i].law) != uniform) uniform = 0;
    b.rows = (carom_block_rows){.start = b.start, .col = b.col, .at = b.at, .diagonal = b.diagonal, .value = b.value, .uniform = uniform};
    return b;
}

static void blocks_free(blocks *b) {
    free(b->start), free(b->col), free(b->at), free(b->diagonal), free(b->value);
}

// G by bodies, of a pile with directions W and inverse masses w.
typedef struct by_bodies {
    carom_parts parts;
    int *part, *first, *link; // of each link its body
    size_t *link_at, *inverse_at;
    double *A, *inverse;
} by_bodies;

static bool acts_on(const contact_problem *x, const double *W, int dof, int each, int contact, int body) {
    for (int r = 0; r < carom_law_rows(x->block[contact].law); ++r)
        for (int i = 0; i < each; ++i)
            if (W[(size_t)(x->block[contact].at + r) * dof + body * each + i] != 0) return true;
    return false;
}

static by_bodies bodies_of(const contact_problem *x, int bodies, int each, const double *W, const double *w) {
    const int nb = x->pb.nb, dof = each * bodies;
    by_bodies y = {.part = calloc((size_t)bodies + 1, sizeof(int)), .first = calloc((size_t)nb + 1, sizeof(int)), .link = calloc(2 * (size_t)nb, sizeof(int)), .link_at = calloc(2 * (size_t)nb, sizeof(size_t)),
                   .inverse_at = calloc((size_t)bodies, sizeof(size_t)), .A = calloc((size_t)x->pb.n * 2 * each, sizeof(double)), .inverse = calloc((size_t)bodies * each * each, sizeof(double))};
    for (int k = 0; k < bodies; ++k) {
        y.part[k + 1] = each * (k + 1);
        y.inverse_at[k] = (size_t)k * each * each;
        for (int i = 0; i < each; ++i) y.inverse[y.inverse_at[k] + (size_t)(i * each + i)] = w[k * each + i] / 2; // scale is 2
    }
    int n = 0;
    size_t at = 0;
    for (int b = 0; b < nb; y.first[++b] = n)
        for (int k = 0; k < bodies; ++k) {
            if (!acts_on(x, W, dof, each, b, k)) continue;
            y.link[n] = k, y.link_at[n++] = at;
            for (int r = 0; r < carom_law_rows(x->block[b].law); ++r)
                for (int i = 0; i < each; ++i) y.A[at++] = W[(size_t)(x->block[b].at + r) * dof + k * each + i];
        }
    y.parts = (carom_parts){.bodies = bodies, .part = y.part, .first = y.first, .link_part = y.link, .link_body = y.link, .link_at = y.link_at, .inverse_at = y.inverse_at, .A = y.A, .inverse = y.inverse, .scale = 2};
    return y;
}

static void bodies_free(by_bodies *y) { free(y->part), free(y->first), free(y->link), free(y->link_at), free(y->inverse_at), free(y->A), free(y->inverse); }

typedef enum form { DENSE, BLOCKS, BODIES, TEAM, AFTER_PROX, FORMS } form; // of G; by bodies, with three threads; the chain begins with prox

static carom_team *three_threads;

typedef struct task {
    const char *name;
    int contacts, bodies; // bodies 0: a random matrix
    carom_law law;
    double mu;
    uint64_t seed;
} task;

static const task tasks[] = {
    {"alone", 1, 0, CAROM_SPATIAL, 0.3, 977},       {"pair", 2, 2, CAROM_UNILATERAL, 0, 11},     {"smooth", 8, 8, CAROM_UNILATERAL, 0, 5},
    {"dependent", 8, 2, CAROM_UNILATERAL, 0, 7},    {"planar", 4, 4, CAROM_PLANAR, 0.3, 4242},   {"loaded", 6, 2, CAROM_PLANAR, 0.4, 4243},
    {"mixed", 7, 0, (carom_law)-1, 0.3, 5},         {"spatial", 5, 5, CAROM_SPATIAL, 0.3, 31},   {"rough", 4, 3, CAROM_SPATIAL, 1.5, 33},
    {"spinning", 4, 4, CAROM_BALL_3, 0.3, 35},      {"rolling", 4, 4, CAROM_BALL_5, 0.2, 37},    {"pile", 32, 16, CAROM_SPATIAL, 0.3, 41},
    {"sheet", 50, 30, CAROM_PLANAR, 0.5, 43},       {"tower", 90, 60, CAROM_UNILATERAL, 0, 47},  {"joints", 6, 0, CAROM_BILATERAL, 0, 49},
    {"web", 60, 12, CAROM_PLANAR, 0.3, 53},         {"ties", 8, 2, CAROM_BILATERAL, 0, 57},      {"coupled", 24, 0, CAROM_PLANAR, 0.4, 59},
    {"jammed", 30, 6, CAROM_SPATIAL, 0.5, 61},      {"crushed", 24, 4, CAROM_PLANAR, 0.8, 63},   {"grown", 40, 14, CAROM_SPATIAL, 0.5, 67},
    {"throng", 60, 60, CAROM_PLANAR, 0.4, 73},      {"knot", 150, 50, CAROM_UNILATERAL, 0, 79},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

// Several solutions, with other velocities; constraints that depend on each other.
static bool several(const task *t) { return strstr("loaded jammed crushed grown", t->name) != NULL; }
static bool dependent(const task *t) { return strstr("ties jammed crushed grown", t->name) != NULL; }

// A problem with its matrix in one of the forms.
typedef struct given {
    contact_problem x;
    blocks b;
    by_bodies y;
} given;

static given problem_of(const task *t) {
    given g = {0};
    double *W = NULL, *w = NULL;
    g.x = t->bodies ? problem_pile_of(t->contacts, t->bodies, t->law, t->mu, t->seed, &W, &w) : problem_random(t->contacts, (int)t->law, t->mu, 0.3, t->seed);
    g.b = blocks_of(&g.x);
    if (W) g.y = bodies_of(&g.x, t->bodies, t->law >= CAROM_SPATIAL ? 6 : 3, W, w);
    g.x.pb.symmetric = true;
    for (int i = 0; i < g.x.pb.n; ++i) g.x.c[i] *= 1 + (i % 2 ? nudge : -nudge);
    free(W), free(w);
    return g;
}

// Where it stays.
static carom_problem *view(given *g, form f) {
    if (f == BLOCKS || f == BODIES || f == TEAM) g->x.pb.rows = &g->b.rows, g->x.pb.G = NULL;
    if (f == BODIES || f == TEAM) g->x.pb.parts = &g->y.parts;
    if (f == TEAM) g->x.pb.team = three_threads;
    return &g->x.pb;
}

static void given_free(given *g) {
    blocks_free(&g->b);
    bodies_free(&g->y);
    problem_destroy(&g->x);
}

static void solved(figures *f, const contact_problem *x, carom_report r) {
    add(&f->real[MOTION], x->u, x->pb.n, 0);
    if (r.converged) add(&f->real[REACTIONS], x->p, x->pb.n, 0);
    f->count[ITERATIONS] += r.iterations;
    f->count[FALLBACKS] += r.fallbacks;
    f->count[MARKS] += (r.converged ? r.worst >= 0 : 10 + r.worst) + 100 * (r.solver[0] + 2 * r.solver[strlen(r.solver) - 1]);
    f->real[BOOKS] += r.converged ? r.residual <= 1e-6 : r.residual;
    f->failed |= !r.converged;
}

// That dependent constraints do not contradict.
static double change_of(const contact_problem *x, int i) {
    double sum = 0;
    for (int j = 0; j < x->pb.n; ++j) sum += PROBLEM_G(x, i, j) * sin(j);
    return 0.02 * sum;
}

// From zero, then from that answer for a problem that is a little different.  s NULL: the chain.
static figures solve(const task *t, const carom_solver *s, form form) {
    static const char *const forms[FORMS] = {"", " blocks", " bodies", " team", " after prox"};
    figures f = {0};
    snprintf(f.key, sizeof f.key, "problem %s %s%s", t->name, s ? s->name : "chain", forms[form]);
    given g = problem_of(t);
    carom_problem *pb = view(&g, form);
    solver_memory m = s ? memory_for_solver(s, pb->n, pb->nb) : memory_for_chain(form == AFTER_PROX ? carom_solver_find("prox") : NULL, pb->n, pb->nb);
    for (int warm = 0; warm < 2; ++warm) {
        solved(&f, &g.x, s ? carom_solver_solve(s, m.work, pb, 1e-11) : carom_chain_solve(m.chain, pb, 1e-11));
        for (int i = 0; i < pb->n; ++i) g.x.c[i] += dependent(t) ? change_of(&g.x, i) : 0.02 * sin(i);
    }
    memory_free(&m);
    given_free(&g);
    return f;
}

// Slow ones are left out where there are many contacts.
static bool suits(const carom_solver *s, const task *t, form f) {
    if ((f == BODIES || f == TEAM) && (t->bodies == 0 || (s && !s->parts))) return false;
    if (!s) return f != AFTER_PROX || strcmp(t->name, "sheet") == 0;
    if (f == AFTER_PROX) return false;
    given g = problem_of(t);
    const bool fits = carom_solver_fits(s, view(&g, f)) && (g.x.pb.n < 50 || !BRIEF) && (g.x.pb.n < 80 || (s->max_blocks == 0 && strcmp(s->name, "prox") != 0 && strcmp(s->name, "gauss-seidel") != 0));
    given_free(&g);
    return fits;
}

// Impacts by energy with a number of tangents, from random matrices and velocities; some of them stick from the start.
static figures strike(int tangents) {
    figures f = {0};
    snprintf(f.key, sizeof f.key, "problem energetic %d", tangents);
    for (uint64_t k = 1; k <= 40; ++k) {
        uint64_t seed = 100 * k + (uint64_t)tangents;
        contact_problem x = problem_random(1, CAROM_UNILATERAL + tangents, 1.2 * uniform(&seed), 0.05, 7 * k);
        double u[1 + CAROM_TANGENTS] = {-0.1 - uniform(&seed)};
        for (int i = 1; i <= tangents; ++i) u[i] = k % 4 == 0 ? 0 : symmetric_uniform(&seed) * (1 + (i % 2 ? nudge : -nudge));
        f.failed |= !carom_energetic_impact(x.pb.G, x.pb.ld, tangents, k % 8 == 7 ? 0 : x.pb.block[0].mu, uniform(&seed), u, x.p);
        add(&f.real[REACTIONS], x.p, 1 + tangents, (long)k);
        f.count[ITERATIONS] += 1;
        problem_destroy(&x);
    }
    return f;
}

// -- the table ------------------------------------------------------------------------------------------------------------------

static bool printing;
static char *table; // of the file
static int bad, lines, seen;

// Relative to it.
static double differs(double a, double b) {
    const double d = fabs(a - b) / (fabs(b) + 0.01);
    return d >= 0 ? d : a == b || (isnan(a) && isnan(b)) ? 0 : INFINITY;
}

// By how much each may differ: sums relative to themselves.
typedef struct slack {
    double real[REALS]; // 0: not compared
    long count[COUNTS];
} slack;

static bool within(const figures *a, const figures *b, const slack *s) {
    bool same = a->failed == b->failed;
    for (int i = 0; i < REALS; ++i) same &= s->real[i] == 0 || differs(a->real[i], b->real[i]) <= s->real[i];
    for (int i = 0; i < COUNTS; ++i) same &= labs(a->count[i] - b->count[i]) <= s->count[i];
    return same;
}

static void print(const figures *f, const slack *s) {
    printf("%s:%s", f->key, f->failed ? " failed" : "");
    for (int i = 0; i < REALS; ++i) {
        if (s && s->real[i] == 0) printf(" ~");
        else printf(" %.11g", f->real[i]);
        if (s && s->real[i] > 1e-9) printf("~%.0e", s->real[i]);
    }
    for (int i = 0; i < COUNTS; ++i) {
        printf(" %ld", f->count[i]);
        if (s && s->count[i] > 0) printf("~%ld", s->count[i]);
    }
    printf("\n");
}

static bool same(const figures *f, const char *line) {
    figures x = {.failed = strncmp(line, "failed ", 7) == 0};
    slack s = {0};
    char *at = (char *)line + (x.failed ? 7 : 0);
    for (int i = 0; i < REALS; ++i, ++at) {
        if (*at == '~') {
            ++at;
            continue;
        }
        x.real[i] = strtod(at, &at);
        s.real[i] = *at == '~' ? strtod(at + 1, &at) : 1e-9;
    }
    for (int i = 0; i < COUNTS; ++i) {
        x.count[i] = strtol(at, &at, 10);
        if (*at == '~') s.count[i] = strtol(at + 1, &at, 10);
    }
    if (within(f, &x, &s)) return true;
    print_error("%.*s\n", (int)(strcspn(line, "\n")), line);
    print(f, NULL);
    return false;
}

static void done(int least) {
    assert_true(printing || lines >= least);
    if (bad) fail_msg("%d of %d lines differ from test/figures.txt; where that is meant: build/test/test_figures print >test/figures.txt", bad, lines);
    lines = 0;
}

// What is computed, for one line of the table.
typedef struct computation {
    const carom_model *model; // NULL: a contact problem
    const example *example;
    const char *scheme, *options;
    bool unwatched;
    const task *task;
    const carom_solver *solver;
    form form;
    int tangents; // without model and task: of impacts by energy
} computation;

static figures compute(const computation *c, double change) {
    nudge = change;
    return c->model ? simulate(c->model, c->example, c->scheme, c->options, c->unwatched) : !c->task ? strike(c->tangents) : solve(c->task, c->solver, c->form);
}

static long largest(long a, long b) { return a > b ? a : b; }

// By runs from velocities that are a little different.
static slack slack_of(const computation *c, const figures *f) {
    static const double change[] = {3e-16, -3e-16, 3e-13, -3e-13};
    slack s = {0};
    for (int k = 0; k < 4; ++k) {
        const figures x = compute(c, change[k]);
        for (int i = 0; i < REALS && k < 2; ++i) s.real[i] = fmax(s.real[i], x.failed == f->failed ? 100 * differs(x.real[i], f->real[i]) : INFINITY);
        for (int i = 0; i < COUNTS; ++i) {
            const long seen = 4 * labs(x.count[i] - f->count[i]), most = 2 + labs(f->count[i]) / 20;
            s.count[i] = largest(s.count[i], seen < most ? seen : most);
        }
    }
    for (int i = 0; i < REALS; ++i) s.real[i] = s.real[i] < 0.1 ? fmax(s.real[i], 1e-9) : 0;
    return s;
}

// The figures.
static figures compare(computation c) {
    const figures f = compute(&c, 0);
    if (f.failed && f.count[STEPS] + f.count[ITERATIONS] == 0) return f; // declined
    if (printing) {
        const slack s = slack_of(&c, &f);
        if (s.real[MOTION] > 0 || s.real[REACTIONS] > 0) print(&f, &s);
        return f;
    }
    char key[130];
    snprintf(key, sizeof key, "\n%s: ", f.key);
    const char *line = strstr(table, key);
    if (!line) return f; // rounding decides
    ++lines, ++seen;
    bad += !same(&f, line + strlen(key));
    if (bad && getenv("CAROM_TEST_FIRST")) done(0); // tools/mutate.py asks no more
    return f;
}

// -- tests ----------------------------------------------------------------------------------------------------------------------

// Runs that take long: many events or internal steps.
static bool slow(const char *model, const carom_scheme *s) {
    const bool costly = strcmp(s->name, "dg-plus") == 0;
    if (strstr("slot crowd flurry hardening", model)) return strcmp(s->name, "auto") != 0;
    if (strcmp(model, "dozing") == 0 && s->own_steps) return true;
    if (BRIEF && strstr("brick linkage heap", model) && (s->own_steps || costly)) return true;
    return s->own_steps && (strcmp(model, "heap") == 0 || (strcmp(model, "stiff") == 0 && strcmp(s->name, "auto") != 0));
}

static void every_scheme_on_every_model(void **state) {
    (void)state;
    for (int i = 0; i < EXAMPLES; ++i) {
        const example *e = &examples[i];
        carom_model *m = good(e->text);
        figures all[40];
        int n = 0;
        for (const carom_scheme *const *s = carom_schemes(); *s && n < 40; ++s)
            if (!slow(e->name, *s) && !((*s)->lacks & CAROM_NO_IMPACTS)) all[n++] = compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = ""});
        const double exact = all[n - 1].real[MOTION]; // event-driven is the last
        for (int k = 0; k < n && e->agree > 0 && !printing && !slow(e->name, &carom_scheme_event_driven); ++k)
            if (!all[k].failed && !(fabs(all[k].real[MOTION] - exact) <= e->agree * fabs(exact))) fail_msg("%s: %g, by event-driven %g", all[k].key, all[k].real[MOTION], exact);
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
            if ((*s)->flight && !slow(e->name, *s)) compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = "", .unwatched = true});
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) // those that know no impacts agree with nobody
            if ((*s)->lacks & CAROM_NO_IMPACTS && !slow(e->name, *s)) compare((computation){.model = m, .example = e, .scheme = (*s)->name, .options = ""});
        carom_model_destroy(m);
    }
    done(200);
}

// Every option of every scheme, each with other values, on models that have joints, friction, impacts and rotations.
static void every_option_of_every_scheme(void **state) {
    (void)state;
    for (int i = 0; i < EXAMPLES; ++i) {
        if (!strstr(BRIEF ? "settling" : "settling thrown tipping linkage bar top tilting medley conveyor", examples[i].name)) continue;
        carom_model *m = good(examples[i].text);
        char option[100];
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            if (strcmp(examples[i].name, "top") == 0 && strcmp((*s)->name, "mixed") != 0) continue; // rotations
            if (strcmp(examples[i].name, "linkage") == 0 && ((*s)->own_steps || (*s)->promises.slow_piles)) continue; // some hundred internal steps in each
            for (const carom_option *o = (*s)->options; o && o->name; ++o)
                for (int k = 0; other_value(o, k, option, sizeof option); ++k) {
                    if (option[strlen(option) - 1] == '=') continue; // the default
                    compare((computation){.model = m, .example = &examples[i], .scheme = (*s)->name, .options = option});
                }
            static const char *const common[] = {"closed=strict", "adaptive=on rtol=0.01 atol=0.01", "adaptive=on rtol=0.02 atol=0.02 extrapolate=on estimate=1"};
            for (int k = 0; k < 3; ++k)
                compare((computation){.model = m, .example = &examples[i], .scheme = (*s)->name, .options = common[k]});
        }
        carom_model_destroy(m);
    }
    done(BRIEF ? 100 : 350);
}

static void every_solver_on_every_problem(void **state) {
    (void)state;
    for (int i = 0; i < TASKS; ++i) {
        const double answer = solve(&tasks[i], NULL, DENSE).real[MOTION];
        for (form f = DENSE; f < FORMS; ++f) {
            const carom_solver *s = NULL;
            for (int k = -1; k < 0 || (s = carom_solver_at(k)); ++k) {
                if (!suits(s, &tasks[i], f)) continue;
                const figures x = compare((computation){.task = &tasks[i], .solver = s, .form = f});
                if (!x.failed && !several(&tasks[i]) && !printing && !(fabs(x.real[MOTION] - answer) <= 1e-7 * (1 + fabs(answer)))) fail_msg("%s: velocities %.12g, by others %.12g", x.key, x.real[MOTION], answer);
            }
        }
    }
    for (int tangents = 0; tangents <= CAROM_TANGENTS; ++tangents) compare((computation){.tangents = tangents});
    done(BRIEF ? 60 : 90);
}

int main(int argc, char **argv) {
    printing = argc > 1 && strcmp(argv[1], "print") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_on_every_model),
        cmocka_unit_test(every_option_of_every_scheme),
        cmocka_unit_test(every_solver_on_every_problem),
    };
    carom_error err = {0};
    three_threads = carom_team_create(3, &err);
    if (!three_threads) return fprintf(stderr, "%s\n", err.text), 1;
    if (printing) {
        printf("Figures of test_figures.c, see there.\n");
        every_scheme_on_every_model(NULL), every_option_of_every_scheme(NULL), every_solver_on_every_problem(NULL);
        carom_team_destroy(three_threads);
        return 0;
    }
    table = calloc(1, 1 << 20);
    FILE *f = fopen(CAROM_SOURCE_DIR "/test/figures.txt", "r");
    if (!table || !f || fread(table, 1, (1 << 20) - 1, f) == 0) return 1;
    fclose(f);
    const int status = cmocka_run_group_tests_name("figures", tests, NULL, NULL);
    int rows = -1; // the first line is a title
    for (const char *c = table; *c; ++c) rows += *c == '\n';
    if (!status && !BRIEF && seen != rows) fprintf(stderr, "test/figures.txt has %d lines, of which %d were computed: what is declined now was not before\n", rows, seen);
    free(table);
    carom_team_destroy(three_threads);
    return status || (!BRIEF && seen != rows);
}
