// figures_models.h: the models of test_figures.c.  Each reaches other branches.
#pragma once

typedef struct example {
    const char *name;
    double h;
    int steps;
    double agree; // by which the sum MOTION of any scheme may differ from that of event-driven, as a part of it; 0: not
                  // unique, or steps too long for first order
    const char *text;
} example;

static const example examples[] = {
    {"thrown", 5e-3, 60, 0.06, // flight, impacts with friction, a wall, a joint
     "carom: 1\nparameters: {m: 1.5, g: 9.81}\ncoordinates: {x: {at: 0, rate: 3}, y: {at: 0.05, rate: 0.2}, z: {at: 0, "
     "rate: 0.015}}\n"
     "energy: {kinetic: 1/2*m*(x'^2 + y'^2 + z'^2), potential: m*g*y}\nconstraints: {rail: z - 0.1*x*y}\n"
     "contacts:\n  ground: {gap: y, slip: x, restitution: 0.6, friction: 0.3}\n  wall: {gap: 0.6 - x, restitution: "
     "0.6}\n"},
    {"settling", 4e-3, 60, 0.06, // impacts accumulate, rest on a floor, slip ends
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.4}, y: {at: 0.01, rate: 0}}\nenergy: {kinetic: x'^2 + y'^2 + "
     "0.2*x'*y', potential: 2*9.81*y}\n"
     "contacts: {floor: {gap: y, slip: x, restitution: 0.4, friction: 0.25}}\n"},
    {"shaken", 4e-3, 50, 0, // a floor that moves, a force that jumps, friction that varies with speed and load
     "carom: 1\ncoordinates: {x: 0, y: {at: 0, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y + "
     "20*x^2}\nforces: {x: 'if(t < 0.05, 6, -4) - 0.3*x'''}\n"
     "contacts: {floor: {gap: y - 0.004*(1 - cos(40*t)), slip: x + 0.01*sin(15*t), restitution: 0.3, friction: "
     "{static: 0.5, kinetic: 0.3, stribeck: 0.1}}}\n"},
    {"chain", 2e-3, 60, 0.003, // impacts of several at once, Poisson's law, one after the other, restitution by speed
     "carom: 1\ncoordinates: {a: {at: -0.02, rate: 1}, b: 1, c: 2, d: {at: 3.01, rate: -0.5}}\nenergy: {kinetic: "
     "1/2*(a'^2 + 2*b'^2 + c'^2 + d'^2), potential: 5*(b - 1)^2}\n"
     "contact defaults: {restitution: 0.8/(1 + approach.speed), impact law: poisson}\n"
     "contacts: {ab: {gap: b - a - 1}, bc: {gap: c - b - 1, impact order: sequential}, cd: {gap: d - c - 1, "
     "restitution: 1, impact law: newton, impact order: sequential}}\n"},
    {"wedged", 2e-3, 40, 0.012, // impacts with friction by energy, tangential restitution
     "carom: 1\ncoordinates: {n: {at: 0.0105, rate: -1}, s: {at: 0, rate: 0.25}, w: {at: 0.02, rate: -1}}\nenergy: "
     "{kinetic: 2/7*n'^2 - 2/7*n'*s' + 4/7*s'^2 + 1/2*w'^2 + 0.1*w'*n'}\n"
     "contacts:\n  floor: {gap: n, slip: s, restitution: 1/2, friction: 0.6, impact law: energetic}\n"
     "  wall: {gap: w, slip: s - w, restitution: 0.7, tangential restitution: 0.3, friction: 0.4, impact law: "
     "newton}\n"},
    {"tipping", 4e-3, 60, 0.08, // a box with two corners, rocking and sliding
     "carom: 1\ngravity: [1, -9.81]\nshapes: {floor: {plane: [0.1, 1]}}\nbodies: {b: {mass: 1, inertia: 0.02, at: [0, "
     "0.18], angle: 0.3, velocity: [0.5, -0.2], spin: 1, shape: {box: [0.4, 0.2]}}}\n"
     "contacts: {c: {between: [b, floor], restitution: 0.2, friction: 0.4}}\n"},
    {"linkage", 6e-3, 24, 0.08, // a closed loop with a redundant joint, a stop, a motor
     "carom: 1\ngravity: [0, -9.81]\nbodies:\n  crank: {mass: 1, inertia: 0.01, at: [0, 0.1], spin: 3, shape: {point: "
     "[0, 0.1]}}\n  bar: {mass: 2, inertia: 0.04, at: [0.3, 0.2]}\n"
     "  rocker: {mass: 1, inertia: 0.01, at: [0.6, 0.1]}\n  third: {mass: 1, inertia: 0.01, at: [0.3, 0.1]}\njoints:\n "
     " a: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
     "  b: {type: revolute, between: [crank, bar], at: [0, 0.2]}\n  c: {type: revolute, between: [bar, rocker], at: "
     "[0.6, 0.2]}\n  d: {type: revolute, between: [ground, rocker], at: [0.6, 0]}\n"
     "  e: {type: revolute, between: [ground, third], at: [0.3, 0]}\n  f: {type: revolute, between: [third, bar], at: "
     "[0.3, 0.2]}\n"
     "contacts: {stop: {gap: 0.03 + crank.x, slip: crank.y, restitution: 0.5, friction: 0.2}}\n"},
    {"rolling", 4e-3, 50, 0.005, // a ball in space that slips, rolls and spins, and meets a wall
     "carom: 1\ngravity: [0, 0.4, -9.81]\nshapes: {f: {plane: [0, 0, 1]}, w: {plane: [-1, 0.2, 0], at: [0.3, 0, 0]}}\n"
     "bodies: {b: {mass: 2, inertia: [0.008, 0.008, 0.01], at: [0, 0, 0.1001], velocity: [1.2, 0.2, 0], spin: [1, -3, "
     "8], shape: {sphere: 0.1}}}\n"
     "contacts:\n  floor: {between: [b, f], friction: 0.3, rolling: 2e-3, spinning: 1e-3, restitution: 0.3}\n  wall: "
     "{between: [b, w], friction: 0.2, restitution: 0.6}\n"},
    {"brick", 4e-3, 40, 0, // four dependent contacts in space, sliding and turning
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {f: {plane: [0, 0, 1]}}\nbodies: {b: {mass: 1, inertia: [0.004, 0.005, "
     "0.006], at: [0, 0, 0.0504], axis: [1, 2, 0], angle: 0.002, velocity: [0.6, 0.1, 0],\n"
     "  spin: [0, 0, 2], shape: {box: [0.3, 0.2, 0.1]}}}\ncontacts: {c: {between: [b, f], friction: 0.3}}\n"},
    {"top", 2e-3, 50, 0.001, // rotations in space, a spherical joint, a spring with damping
     "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 1, inertia: [0.004, 0.005, 0.002], at: [0.05, 0, 0.2], "
     "axis: [0, 1, 0], angle: 0.245, spin: [0.2, 0.1, 60]}}\n"
     "joints: {j: {type: spherical, between: [ground, b], at: [0, 0, 0]}}\nforces: {b.wx: -0.01*b.wx, b.y: -10*b.y}\n"},
    {"soft", 1e-3, 50, 0.002, // contacts that yield, a brake, a condition of closing is not used: not every scheme
                              // supports it
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 2e-3, rate: -0.5}, phi: {at: 0, rate: 4}}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2) + 0.01*phi'^2, potential: 9.81*y}\n"
     "contacts:\n  floor: {gap: y, slip: x, stiffness: 4e4, exponent: 1.5, damping: 0.3, friction: 0.4, stiction "
     "speed: 0.01}\n"
     "  brake: {normal force: 20*t, slip: 0.1*phi, friction: 0.5}\n"},
    {"bar", 2e-3, 60, 0, // a linear system with banded matrices that meets a stop; the energy identity is checked
     "carom: 1\ncoordinates: {a: {at: 1e-3, rate: -1}, b: {at: 0, rate: -1}, c: {at: 0, rate: -1}, d: {at: 0, rate: "
     "-1}}\n"
     "energy: {kinetic: 1/2*(a'^2 + b'^2 + c'^2 + d'^2), potential: 2000*((a - b)^2 + (b - c)^2 + (c - d)^2)}\nforces: "
     "{d: -0.5*d' - 3}\ncontacts: {stop: {gap: a + 0.001, restitution: 0.3}}\n"},
    {"heap", 2e-3, 24, 0, // impacts of many, friction and rolling, bodies that share contacts
     "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}, side: {plane: [1, 0.3], at: [-0.25, 0]}}\n"
     "bodies: {d: {repeat: 7, body: {mass: 1 + 0.1*i, inertia: 0.001, at: [0.12*i - 0.36*floor(i/3) + 0.01*sin(i), "
     "0.051 + 0.11*floor(i/3)], velocity: [0.5*cos(i), -0.5], shape: {circle: 0.05}}}}\n"
     "contacts: {all: {among: [d], friction: 0.3, restitution: 0.2}, base: {between: [d, [floor, side]], friction: "
     "0.5, rolling: 1e-3}}\n"},
    {"pebbles", 2e-3, 30, 0, // contacts that come and go, rolling and spinning each with a bound of its own
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0.05, 1]}}\nbodies:\n"
     "  a: {mass: 1, inertia: [0.003, 0.003, 0.002], at: [0, 0, 0.061], velocity: [0.5, 0, 0], spin: [0, 3, 1], shape: "
     "{ellipsoid: [0.08, 0.07, 0.06]}}\n"
     "  b: {mass: 2, inertia: [0.004, 0.004, 0.004], at: [0.03, 0.02, 0.182], velocity: [0, 0, -1], spin: [0, 0, 5], "
     "shape: {sphere: 0.06}}\n"
     "contacts: {all: {among: [a, b], friction: 0.3, restitution: 0.2}, base: {between: [[a, b], floor], friction: "
     "0.4, rolling: 1e-3, spinning: 1e-3, resistance: discs}}\n"},
    {"glancing", 2e-3, 20, 0, // an impact by energy in space, on which slip turns
     "carom: 1\ncoordinates: {n: {at: 0.0055, rate: -1}, a: {at: 0, rate: 0.4}, b: {at: 0, rate: -0.3}, m: {at: "
     "0.0075, rate: -0.7}, c: {at: 0, rate: 0.3}, d: {at: 0, rate: 0.2}}\n"
     "energy: {kinetic: 1/2*(n'^2 + a'^2 + 0.6*b'^2) + 0.3*n'*a' + 0.2*n'*b' + 0.1*a'*b' + 1/2*(m'^2 + c'^2 + d'^2)}\n"
     "contacts:\n  floor: {gap: n, slip: [a, b], restitution: 1/2, friction: 0.25, impact law: energetic}\n  wall: "
     "{gap: m, slip: [c, d], restitution: 1/2, friction: 0.2, impact law: energetic}\n"},
    {"rattling", 4e-3, 50, 0.06, // impacts of two contacts accumulate together, sliding
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.01, rate: 0}, phi: {at: 0.004, rate: 0}}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2 + 0.3*phi'^2), potential: 9.81*y}\n"
     "contact defaults: {restitution: 0.5, friction: 0.1 + 0.002*normal.force}\ncontacts: {left: {gap: y + phi, slip: "
     "x}, right: {gap: y - phi, slip: x}}\n"},
    {"sled", 4e-3, 40, 0.02, // dependent contacts that slide, until they stick
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.25}, y: 0, phi: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + 0.3*phi'^2), "
     "potential: 9.81*y}\nforces: {phi: 0.5, x: 0.3*sin(20*t)}\n"
     "contact defaults: {friction: 0.2}\ncontacts: {left: {gap: y + phi, slip: x}, middle: {gap: y, slip: x}, right: "
     "{gap: y - phi, slip: x}}\n"},
    {"tilting", 5e-3, 50, 0.06, // mass, joint, gap and slip all depend on time
     "carom: 1\ncoordinates: {x: {at: 0.2, rate: 0.5}, y: {at: 0.02, rate: -0.2}, z: {at: 0.04, rate: 0.1}}\nenergy: "
     "{kinetic: 1/2*(1 + 0.3*sin(9*t))*(x'^2 + y'^2 + z'^2), potential: 9.81*y + 3*z^2}\n"
     "constraints: {rail: z - 0.2*x*cos(5*t)}\ncontacts: {floor: {gap: y - 0.4*x*sin(6*t), slip: x + 0.3*y*t, "
     "restitution: 0.4, friction: 0.3}}\n"},
    {"stiff", 0.01, 30, 0, // a fast decay beside a slow motion, then a stop
     "carom: 1\ncoordinates: {a: {at: 0.3, rate: 0}, b: {at: 0.3, rate: 0.1}}\nenergy: {kinetic: 1/2*(a'^2 + b'^2), "
     "potential: 9.81*(a + b) + 5e5*(a - b)^2}\n"
     "forces: {a: -1e5*(a' - b'), b: -1e5*(b' - a')}\ncontacts: {stop: {gap: a, restitution: 0.2}}\n"},
    {"rod", 2e-4, 26, 0, // a bar of finite elements: constant mass and directions
     "carom: 1\nflexible:\n  bar: {type: bar, length: 1, elements: 15, density: 1000, modulus: 1e7, area: 1e-3, rate: "
     "-0.5, damping: {stiffness: 1e-5}}\n"
     "contacts: {wall: {gap: 5.05e-4 + bar.start.u, restitution: 0.1}, back: {gap: 1e-3 - bar.end.u, restitution: "
     "0.5}}\n"},
    {"dropped", 2e-4, 26, 0, // the same, and both ends meet a wall at about the same time
     "carom: 1\nflexible:\n  bar: {type: bar, length: 1, elements: 15, density: 1000, modulus: 1e7, area: 1e-3, rate: "
     "-0.5, damping: {stiffness: 1e-5}}\n"
     "contacts: {wall: {gap: 5.05e-4 + bar.start.u, restitution: 0.1}, far: {gap: 1 + bar.end.u}, back: {gap: 5.1e-4 + "
     "bar.end.u, restitution: 0.2}}\n"},
    {"stones", 2e-3, 24, 0, // contacts that come and go, struck together, by Poisson's law
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0.05, 1]}}\nbodies:\n"
     "  a: {mass: 1, inertia: [0.003, 0.003, 0.002], at: [0, 0, 0.061], velocity: [0.5, 0, 0], spin: [0, 3, 1], shape: "
     "{ellipsoid: [0.08, 0.07, 0.06]}}\n"
     "  b: {mass: 2, inertia: [0.004, 0.004, 0.004], at: [0.03, 0.02, 0.182], velocity: [0, 0, -1], spin: [0, 0, 5], "
     "shape: {sphere: 0.06}}\n"
     "contacts: {all: {among: [a, b], friction: 0.3, restitution: 0.2, impact law: poisson}, base: {between: [[a, b], "
     "floor], friction: 0.4, restitution: 0.3, impact law: poisson}}\n"},
    {"slab", 4e-3, 40, 0.06, // impacts of two feet that slide accumulate without end
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.01, rate: -0.1}, phi: {at: 0.002, rate: 0}}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2 + 0.1*phi'^2), potential: 9.81*y}\n"
     "contact defaults: {restitution: 0.1, friction: 0.1}\ncontacts: {left: {gap: y + phi, slip: x + 0.2*phi}, right: "
     "{gap: y - phi, slip: x + 0.2*phi}}\n"},
    {"kinked", 5e-3, 40, 0.03, // a joint whose velocity jumps, a floor with an edge, a wall that jumps forward
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.031, rate: 0}, z: {at: 0.01446, rate: -0.1}}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2 + z'^2) + 0.2*y'*z', potential: 9.81*y}\n"
     "constraints: {rail: z - 0.2*abs(t - 0.0723) - 0.1*x}\ncontacts:\n  floor: {gap: 'y - 0.3*abs(x - 0.1)', slip: x, "
     "restitution: 0.3, friction: 0.1}\n  wall: {gap: '0.25 - x - 0.5*max(0, t - 0.1013)', restitution: 0.5}\n"},
    {"waiting", 4e-3, 40, 0, // rest, until forces begin
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + 2*z'^2), potential: 9.81*y + "
     "50*z^2}\nforces: {x: 'if(t < 0.03, 0, 6*sin(20*t))', z: 'max(0, t - 0.05)*100'}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 0.3}, stop: {gap: 0.02 - z, restitution: 0.4}}\n"},
    {"pulse", 4e-3, 50, 0, // rest without any force, then a push, and a kink that moves
     "carom: 1\ncoordinates: {x: 0.3, u: 0.2}\nenergy: {kinetic: 1/2*(x'^2 + u'^2)}\nforces: {x: 'if(t < 0.0501, 0, "
     "if(t < 0.1103, 20, 0.1))', u: '30*max(0, 0.3*sin(40*t - 2) - u + 0.1)'}\n"
     "contacts: {stop: {gap: 0.32 - x, restitution: 0.5}}\n"},
    {"skidding", 4e-3, 40, 0.03, // slides on while another contact is struck; both have tangential restitution
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: {at: 0, rate: 0.5}, w: {at: 0, rate: 0.2}}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2 + z'^2 + w'^2) + 0.1*x'*z', potential: 9.81*y}\nconstraints: {rail: w - 0.2*x}\n"
     "contact defaults: {restitution: 0.4, tangential restitution: 0.5, friction: 0.2}\ncontacts: {floor: {gap: y, "
     "slip: x}, far: {gap: 1 + y, friction: 0, tangential restitution: 0}, wall: {gap: 0.031 - z, slip: x - y}}\n"},
    {"mates", 4e-3, 40, 0, // one sticks until it is pulled loose, one slides until it sticks, one is struck
     "carom: 1\ncoordinates: {a: 0, y: 0, b: {at: 0, rate: 0.2}, z: 0, w: {at: 0.02, rate: -0.3}}\nenergy: {kinetic: "
     "1/2*(a'^2 + y'^2 + b'^2 + z'^2 + w'^2) + 0.1*a'*b' + 0.1*w'*a', potential: 9.81*(y + z) + 20*(a - b)^2}\n"
     "forces: {a: 40*t}\ncontacts: {left: {gap: y, slip: a, friction: 0.3}, right: {gap: z, slip: b, friction: 0.2}, "
     "third: {gap: w, slip: a + b, friction: 0.1, restitution: 0.6}}\n"},
    {"crest", 0.02, 12, 0, // falls on a floor in the step in which it passes an edge of it
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0.06924}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: "
     "9.81*y}\ncontacts: {floor: {gap: 'y - 0.3*abs(x - 0.11)', slip: x, restitution: 0.4, friction: 0.1}}\n"},
    {"valley", 0.01, 14, 0, // falls into a floor in the step in which it passes a bend of it: the directions at the end
                            // of the step tell the velocity of the approach
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.13, rate: -0.7}, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + "
     "y'^2 + z'^2) + 0.1*x'*z', potential: 9.81*y}\n"
     "contacts: {floor: {gap: 'y + abs(x - 0.105)', slip: z + 0.5*x, restitution: 0.4, friction: 0.1}}\n"},
    {"vanishing", 4e-3, 9, 0, // a mass that becomes negative, at a contact: steps fail
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.3}, y: 0}\nenergy: {kinetic: 1/2*x'^2 + 1/2*(0.0301 - t)*y'^2, "
     "potential: 9.81*y}\ncontacts: {floor: {gap: y, slip: x, friction: 0.2}}\n"},
    {"tapped", 0.2, 2, 0, // at rest beside a joint and a floor that moves
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0.1}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2)}\nconstraints: {rail: z "
     "- 0.1}\n"
     "contacts: {far: {gap: y + 1}, floor: {gap: x + 0.01 - 0.0101*sin(40*t)^2, slip: y, friction: 0.2, restitution: "
     "0.5}, wall: {gap: 0.02 - x}}\n"},
    {"knocked", 2, 2, 0, // rests on a floor beside a joint; a wall comes for an instant and goes
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0.1}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y + "
     "0.01*cos(x)}\nconstraints: {rail: z - 0.1 - 0.01*x}\n"
     "contacts: {floor: {gap: y}, wall: {gap: 'x + 0.5 - 0.6*exp(-((t - 2.9)/0.05)^2)', restitution: 0.5}}\n"},
    {"folding", 4e-3, 20, 0.05, // a parallelogram passes the position in which its joints depend on each other
     "carom: 1\ngravity: [0, -9.81]\nparameters: {f: -0.1, w: 6}\nbodies:\n"
     "  crank: {mass: 1, inertia: 0.01, at: [0.1*cos(f), 0.1*sin(f)], angle: f, velocity: [-0.1*w*sin(f), "
     "0.1*w*cos(f)], spin: w}\n"
     "  bar: {mass: 2, inertia: 0.04, at: [0.3 + 0.2*cos(f), 0.2*sin(f)], velocity: [-0.2*w*sin(f), 0.2*w*cos(f)]}\n"
     "  rocker: {mass: 1.5, inertia: 0.01, at: [0.6 + 0.1*cos(f), 0.1*sin(f)], angle: f, velocity: [-0.1*w*sin(f), "
     "0.1*w*cos(f)], spin: w}\njoints:\n"
     "  a: {type: revolute, between: [ground, crank], at: [0, 0]}\n  b: {type: revolute, between: [crank, bar], at: "
     "[0.2*cos(f), 0.2*sin(f)]}\n"
     "  c: {type: revolute, between: [bar, rocker], at: [0.6 + 0.2*cos(f), 0.2*sin(f)]}\n  d: {type: revolute, "
     "between: [ground, rocker], at: [0.6, 0]}\n"
     "contacts: {stop: {gap: 0.04 - bar.y, restitution: 0.5}}\n"},
    {"kicked", 4e-3, 40, 0, // one sticks, one slides and one is thrown off when a third is struck
     "carom: 1\ncoordinates: {a: 0, y: 0, b: {at: 0, rate: 0.3}, z: 0, c: 0, x: 0, w: {at: 0.02, rate: -0.3}}\n"
     "energy: {kinetic: 1/2*(a'^2 + y'^2 + b'^2 + z'^2 + c'^2 + x'^2 + w'^2) - 0.3*w'*y', potential: 9.81*(y + z + "
     "x)}\nforces: {a: 1 + t, c: 0.5}\n"
     "contact defaults: {friction: 0.3}\ncontacts: {thrown: {gap: y, slip: a}, slides: {gap: z, slip: b}, third: {gap: "
     "w, slip: a + b, friction: 0.1, restitution: 0.9}, sticks: {gap: x, slip: c}}\n"},
    {"stacked", 4e-3, 40, 0, // rests on a floor and is struck there
     "carom: 1\ncoordinates: {a: 0, b: {at: 0.11, rate: -0.5}, x: {at: 0, rate: 0.2}}\nenergy: {kinetic: 1/2*(a'^2 + "
     "2*b'^2 + x'^2), potential: 9.81*(a + 2*b)}\n"
     "contacts: {floor: {gap: a, slip: x, friction: 0.1}, between: {gap: b - a - 0.1, restitution: 0.3}}\n"},
    {"limit", 0.02, 20, 0, // friction is just exhausted at the start and less afterwards
     "carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 10*(y + "
     "z)}\nforces: {x: 5*cos(8*t) - 4*t}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 1/2}, other: {gap: z, slip: x - y, friction: 0}}\n"},
    {"blink", 4e-3, 30, 0, // forces and walls that come and go within a step
     "carom: 1\ncoordinates: {x: 0, y: 0.01, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: "
     "9.81*y}\nforces: {x: 'if(abs(t - 0.0514) < 0.0005, 100, 1)', z: 'if(abs(t - 0.0817) < 0.0007, 30, 2)'}\n"
     "constraints: {rail: z - 0.1*x}\ncontacts: {floor: {gap: y, slip: x, friction: 0.3}, wall: {gap: 0.5 - x}}\n"},
    {"twitch", 4e-3, 30, 0,
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0.01, z: {at: 0, rate: 0.1}}\nenergy: {kinetic: 1/2*(x'^2 + "
     "y'^2 + z'^2), potential: 9.81*y}\nconstraints: {rail: z - 0.1*t}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 'if(abs(t - 0.06) < 0.001, 2, 0.1)'}, wall: {gap: '0.5 - x - "
     "if(abs(t - 0.0914) < 0.0006, 0.4, 0)'}}\n"},
    {"flash", 4e-3, 30, 0,
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0.01}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: "
     "9.81*y}\nforces: {x: 'exp(-((t - 0.0507)/2e-4)^2) - 0.1'}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 0.2}, wall: {gap: '0.5 - x - 0.4*exp(-((t - 0.0911)/1e-3)^2)'}}\n"},
    {"instant", 4e-3, 30, 0, // a wall, a joint and a force with another value at one instant alone, at the end of a
                             // step
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0.05, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), "
     "potential: 9.81*y}\nforces: {x: 'if(t < 0.08, 1, if(t > 0.08, 1, 9))'}\n"
     "constraints: {rail: 'z - if(t < 0.1, 0, if(t > 0.1, 0, 0.2))'}\ncontacts: {floor: {gap: y, slip: x, friction: "
     "0.3, restitution: 0.2}, wall: {gap: '0.5 - x - if(t < 0.06, 0, if(t > 0.06, 0, 0.7))'}}\n"},
    {"balanced", 0.02, 20, 0, // pushed on both sides alike: a reaction of rounding alone
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + 3*y'^2 + "
     "0.7*z'^2)}\nforces: {y: 0.9*sin(9*x), z: 0.21*sin(9*x)}\n"
     "contacts: {pair: {gap: y - z, slip: x, friction: 0.2, restitution: 0.3}}\n"},
    {"gate", 4e-3, 75, 0.03, // a floor that closes late
     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.02, rate: 0}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
     "potential: 9.81*y - 2*x}\n"
     "contacts: {floor: {gap: y, slip: x, friction: 0.2, restitution: 0.3, closes while: x - 0.17}, lower: {gap: y + "
     "0.03, restitution: 0.9, slip: x, friction: 0.1}}\n"},
    {"steered", 4e-3, 50, 0, // a controller with a delay, a force from a table, a stop whose place is a signal
     "carom: 1\ntables: {T: {x: [0, 0.05, 0.2], y: [0, 3, -2]}}\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.1, rate: "
     "0}}\nenergy: {kinetic: 1/2*(x'^2 + 2*y'^2), potential: 30*(x - y)^2}\n"
     "controllers: {c: {sample: 0.0301, offset: 0.01, delay: 0.0052, states: {s: s + x}, outputs: {u: -8*x - x' - s, "
     "w: 0.1*s}}}\nforces: {x: u, y: T(t)}\n"
     "contacts: {stop: {gap: 0.051 - x + 0.01*w, slip: y, friction: 0.3, restitution: 0.5}}\n"},
    {"bearing", 4e-3, 50, 0, // friction of a joint by its own reaction, a brake, a motor, a spring
     "carom: 1\ngravity: [0, -9.81]\nbodies:\n  arm: {mass: 1, inertia: 0.03, at: [0.2, 0], spin: 2}\n  tip: {mass: "
     "0.5, inertia: 0.01, at: [0.5, 0], shape: {point: [0.1, 0]}}\n"
     "joints: {a: {type: revolute, between: [ground, arm], at: [0, 0]}, b: {type: revolute, between: [arm, tip], at: "
     "[0.4, 0]}}\nsprings: {s: {joint: b, stiffness: 3, damping: 0.02}}\n"
     "motors: {m: {joint: a, torque: 1.5*cos(9*t)}}\nshapes: {floor: {plane: [0, 1], at: [0, -0.1]}}\n"
     "contacts:\n  wear: {joint: a, radius: 0.02, friction: 0.3}\n  grip: {normal force: '20*max(0, t - 0.05)', slip: "
     "0.1*(tip.angle - arm.angle), friction: 0.4}\n  floor: {between: [tip, floor], friction: 0.3, restitution: "
     "0.2}\n"},
    {"conveyor", 4e-3, 40, 0, // a surface that moves, a pusher with prescribed motion, friction by direction
     "carom: 1\ngravity: [0, 0.5, -9.81]\nshapes: {belt: {plane: [0, 0, 1], surface velocity: ['0.5 + t', 0.2, 0]}, "
     "ice: {plane: [-1, 0, 0], at: [0.35, 0, 0]}}\n"
     "bodies:\n  b: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [0, 0, -0.1], spin: [0, 1, "
     "0], shape: {sphere: 0.1}}\n"
     "  push: {motion: {at: ['-0.25 + 0.1*sin(20*t)', 0, 0.1]}, shape: {sphere: 0.1}}\ncontacts:\n  c: {between: [b, "
     "belt], friction: 0.4}\n"
     "  d: {between: [b, ice], friction: {along: 0.1, across: 0.3, direction: [0, 1, 0.5]}, restitution: 0.3}\n  e: "
     "{between: [b, push], restitution: 0.5, friction: 0.1}\n"},
    {"dozing", 0.02, 60, 0, // bodies fall asleep, one is woken
     "carom: 1\ngravity: [0, 0, -9.81]\nsleep: 0.02\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
     "  s: {repeat: 3, body: {mass: 1 + i, inertia: [0.004, 0.004, 0.006], at: [i, 0, 0.08], velocity: [0.005*i, 0, "
     "0], shape: {ellipsoid: [0.1, 0.1, 0.08]}}}\n"
     "  late: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [2.05, 0, 4.6], shape: {sphere: 0.1}}\n"
     "contacts: {among: {among: [s, late], friction: 0.3}, base: {between: [[s, late], floor], friction: 0.4}}\n"},
    {"wedges", 2e-3, 40, 0, // edges and corners of polygons, contacts that switch features
     "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {polygon: [[-1, -0.5], [1, -0.5], [0.2, 0.02], [-1, "
     "0]]}}\nbodies:\n"
     "  a: {mass: 1, inertia: 0.004, at: [0.02, 0.09], angle: 0.1, velocity: [1.2, -0.2], shape: {box: [0.2, 0.1]}}\n  "
     "b: {mass: 0.5, inertia: 0.001, at: [0.05, 0.23], angle: 0.7, velocity: [0, -1], shape: {polygon: [[-0.06, "
     "-0.04], [0.06, -0.04], [0, 0.07]]}}\n"
     "contacts: {c: {among: [a, b, floor], friction: 0.3, restitution: 0.3}}\n"},
    {"rubble", 2e-3, 20, 0, // hulls on a height field: contacts by search
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {hill: {heights: [[0.1, 0, 0.1, 0.2], [0, 0, 0.1, 0.1], [0.1, 0.05, 0, "
     "0.1]], cell: 0.3}}\nbodies:\n"
     "  h: {mass: 1, inertia: [0.003, 0.004, 0.005], at: [-0.05, 0.02, 0.16], velocity: [0.5, 0, -1], spin: [1, 2, 0], "
     "shape: {hull: [[0.1, 0.1, 0], [-0.1, 0.1, 0], [0, -0.12, 0.02], [0, 0, 0.12], [0.01, 0, -0.09]]}}\n"
     "  k: {mass: 0.5, inertia: [0.001, 0.001, 0.001], at: [-0.05, 0.02, 0.37], velocity: [0, 0, -2], shape: {box: "
     "[0.1, 0.12, 0.1]}}\ncontacts: {c: {among: [h, k, hill], friction: 0.4, restitution: 0.2}}\n"},
    {"beam", 1e-3, 24, 0, // a flexible member in the plane, contacts along it
     "carom: 1\ngravity: [0, -9.81]\nflexible:\n  beam: {type: beam, length: 1, elements: 4, density: 1000, modulus: "
     "1e8, area: 1e-3, inertia: 1e-7, fix: start, damping: {stiffness: 1e-4}}\n"
     "coordinates: {y: {at: 0.005, rate: -1}}\nenergy: {kinetic: 0.2*y'^2, potential: 0}\ncontacts:\n  ball: {gap: y - "
     "beam.end.y, restitution: 0.4}\n  floor: {along: beam, gap: 0.002 + beam.y, restitution: 0.2}\n"},
    {"medley", 4e-3, 50, 0.015, // one of many contacts is kinked, one sticks, one slides, two are struck, others are
                                // far; no two that are alike stand side by side
     "carom: 1\n"
     "coordinates: {p: {at: 0, rate: 0.3}, a: 0, y: 0, b: {at: 0, rate: 1.5}, z: {at: 0.009, rate: -0.46}, w: {at: "
     "0.0203, rate: -0.3}, c: {at: 0, rate: 0.2}, x: 0, d: {at: 0.2, rate: 0.02}}\n"
     "energy: {kinetic: 1/2*(a'^2 + y'^2 + b'^2 + z'^2 + w'^2 + c'^2 + x'^2 + 0.5*d'^2 + 0.2*p'^2) - 0.2*w'*y' + "
     "0.1*a'*c', potential: 9.81*(y + z + x) + 5*d^2}\n"
     "forces: {a: 1 + 20*t, d: -0.1*d' + 0.05*b}\nconstraints: {rail: p - 0.2*b, link: d - 0.2 - 0.1*c}\ncontact "
     "defaults: {friction: 0.3}\ncontacts:\n"
     "  far: {gap: 1 + y, slip: [a, c]}\n  ridge: {gap: 'z - 0.3*abs(b - 0.03)', slip: b, friction: 0.2, restitution: "
     "0.3}\n  stop: {gap: 0.0311 - c - 0.05*t, slip: x - y, restitution: 0.5}\n"
     "  block: {gap: y, slip: a, restitution: 0.2}\n  above: {gap: 0.4 - 3*z, slip: b - c}\n  strike: {gap: w - "
     "0.02*t, slip: a + b, friction: 0.1, restitution: 0.6}\n"
     "  table: {gap: x, slip: [c, p], friction: 0.1}\n"},
    {"grazing", 0.02, 12, 0, // five points that come near five walls, one of them as far as into it: a = b = ... = at -
                             // 0.6 t + (1 - cos(12 t))/16 is lowest at sin(12 t) = 0.8
     "carom: 1\nparameters: {low: 0.0213647609}\n"
     "coordinates: {x: {at: 0, rate: 0.1}, a: {at: low + 3e-7, rate: -0.6}, b: {at: low + 2e-6, rate: -0.6}, c: {at: "
     "low - 1e-6, rate: -0.6}, d: {at: low + 3e-8, rate: -0.6}, e: {at: low + 1e-5, rate: -0.6}}\n"
     "energy: {kinetic: 1/2*(x'^2 + a'^2 + b'^2 + c'^2 + d'^2 + e'^2)}\nforces: {a: 9*cos(12*t), b: 9*cos(12*t), c: "
     "9*cos(12*t), d: 9*cos(12*t), e: 9*cos(12*t)}\n"
     "constraints: {rail: 'x - 0.1*t'}\n"
     "contacts: {far: {gap: 1 - x}, a: {gap: a, restitution: 0.5}, b: {gap: 30*b, restitution: 0.5}, c: {gap: 0.1*c, "
     "slip: x, friction: 0.1, restitution: 0.5}, d: {gap: 3*d, restitution: 0.5}, e: {gap: 0.02*e, restitution: "
     "0.5}}\n"},
    {"shaker", 0.01, 10, 0, // edged bodies on a table that moves; one tips over its edge
     "carom: 1\ngravity: [0, -9.81]\nbodies:\n"
     "  table: {motion: {at: ['0.02*sin(12*t)', '0.004*sin(40*t)']}, shape: {polygon: [[-0.4, -0.1], [0.15, -0.1], "
     "[0.15, 0], [-0.4, 0]]}}\n"
     "  a: {mass: 1, inertia: 0.004, at: [0.06, 0.0523], angle: 0.02, velocity: [0.7, 0], shape: {box: [0.2, 0.1]}}\n"
     "  b: {mass: 0.4, inertia: 0.0005, at: [-0.2, 0.09], angle: 0.5, velocity: [0.1, -0.3], spin: 1, shape: {polygon: "
     "[[-0.05, -0.04], [0.05, -0.04], [0, 0.06]]}}\n"
     "contacts: {c: {between: [[a, b], table], friction: 0.2, restitution: 0.2}}\n"},
    {"hardening", 0.01, 60, 0, // for auto: stiffness and damping that are not linear, an impact on which forces grow a
                               // thousandfold
     "carom: 1\ncoordinates: {a: {at: 0.3, rate: 0}, b: {at: 0.3, rate: 0.1}, c: {at: 0.02, rate: 0}}\n"
     "energy: {kinetic: 1/2*(a'^2 + b'^2 + c'^2), potential: 9.81*(a + b) + 5e5*(a - b)^2 + 1e8*(a - b)^4}\n"
     "forces: {a: '-1e5*(a'' - b'')*(1 + 50*(a'' - b'')^2)', b: '-1e5*(b'' - a'')', c: '-3e4*c''*(1 + 3*c''^2) - "
     "1e3*(c - 0.02*cos(40*t))'}\n"
     "contacts: {stop: {gap: a, restitution: 0.2}, side: {gap: c + 0.01, slip: a, friction: 0.1}}\n"},
    {"convoy", 5e-3, 50, 0, // joints beside contacts whose slips depend on each other; some come to rest together,
                            // others far away stand between them
     "carom: 1\ncoordinates: {k: {at: 0, rate: 0.05}, x: {at: 0, rate: 0.25}, y: 0, z: 0, s: {at: 0, rate: 0.3}, u: "
     "0}\n"
     "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + 0.1*k'^2 + s'^2 + u'^2), potential: 9.81*(y + z + u)}\nforces: {x: "
     "0.3*sin(20*t), s: 'if(t < 0.12, 0, 4)'}\n"
     "constraints: {rail: k - 0.2*x, level: 'y - z'}\ncontact defaults: {friction: 0.2}\n"
     "contacts: {upper: {gap: 0.5 - y, slip: x}, front: {gap: y + 0.1*u, slip: x}, alone: {gap: u, slip: s, friction: "
     "0.3}, rear: {gap: z, slip: x + 0.5*k, friction: 0.1}, side: {gap: 0.3 - x, slip: s}}\n"},
    {"hovering", 5e-3, 60, 0.03, // flight without forces that do work, above a floor and beside a wall that move
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.5}, y: {at: 0.12, rate: 0.3}}\nenergy: {kinetic: x'^2 + y'^2 + "
     "0.3*x'*y', potential: 2*9.81*y + 4*x^2}\n"
     "contacts: {low: {gap: 'y - 0.05*sin(9*t)', slip: x, friction: 0.2, restitution: 0.8}, wall: {gap: '0.3 - x + "
     "0.1*t'}}\n"},
    {"gliding", 1e-4, 4000, 0, // unwatched: thousands of steps in which nothing touches, above a floor that moves,
                               // between impacts
     "carom: 1\ncoordinates: {x: {at: 0, rate: 0.5}, y: {at: 0.12, rate: 0.3}}\nenergy: {kinetic: x'^2 + y'^2 + "
     "0.3*x'*y', potential: 2*9.81*y + 4*x^2}\n"
     "contacts: {low: {gap: 'y - 0.05*sin(9*t)', slip: x, friction: 0.2, restitution: 0.8}, wall: {gap: '0.2 - x + "
     "0.1*t', restitution: 0.5}}\n"},
    {"units", 4e-3, 50, 0.05, // two points that fall and bounce alike, with gaps in other units, beside a joint:
                              // neither the unit nor the place in the list changes a motion
     "carom: 1\ncoordinates: {k: {at: 0, rate: 0.01}, x: {at: 0, rate: 0.1}, y: {at: 0.01, rate: -0.1}, z: {at: 0.01, "
     "rate: -0.1}}\n"
     "energy: {kinetic: 1/2*(k'^2 + x'^2 + y'^2 + z'^2), potential: 9.81*(y + z)}\nconstraints: {rail: 30*(k - "
     "0.1*x)}\n"
     "contact defaults: {restitution: 0.3}\ncontacts: {far: {gap: 1e3*(1 - x)}, small: {gap: 0.01*y, slip: 0.01*x, "
     "friction: 0.1}, side: {gap: 20*(2 + x)}, large: {gap: 100*z, slip: 100*x, friction: 0.1}}\n"},
    {"drumming", 4e-3, 40, 0.02, // impacts of two feet accumulate while others go on bouncing, each at its own times
     "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.01, rate: -0.1}, phi: {at: 0.002, rate: 0}, w: {at: "
     "0.003, rate: 0}, z: {at: 0.02, rate: 0}}\n"
     "energy: {kinetic: 1/2*(x'^2 + y'^2 + 0.1*phi'^2 + w'^2 + z'^2), potential: 9.81*(y + w + z)}\ncontact defaults: "
     "{restitution: 0.1, friction: 0.1}\n"
     "contacts: {drum: {gap: w, restitution: 0.7, friction: 0}, left: {gap: y + phi, slip: x + 0.2*phi}, right: {gap: "
     "y - phi, slip: x + 0.2*phi}, bell: {gap: z, restitution: 0.9, friction: 0}}\n"},
    {"slot", 1e-6, 14, 0, // for auto: more impacts than can be located
     "carom: 1\ncoordinates: {x: {at: 0.5e-7, rate: 1}, y: {at: 1}, z: {at: 0.5}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 "
     "+ z'^2), potential: 1/2*y^2}\nforces: {y: -0.1*y' + 0.2*sin(t)}\n"
     "constraints: {rod: z - 0.5*y}\ncontact defaults: {restitution: 0.99, friction: 0.01}\ncontacts: {left: {gap: x, "
     "slip: y}, right: {gap: 1e-7 - x, slip: y}}\n"},
    {"flurry", 4e-6, 60, 0, // for auto: the same, then walls that go away; one body rests, one slides, one touches
     "carom: 1\ncoordinates: {x: {at: 0.5e-7, rate: 1}, y: {at: 1}, z: 0, s: {at: 0, rate: 0.1}, w: 0}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2 + z'^2 + s'^2 + w'^2), potential: 1/2*y^2 + 9.81*z}\n"
     "contact defaults: {restitution: 0.99}\ncontacts: {left: {gap: 'x + 10*max(0, t - 1e-5)'}, floor: {gap: z, slip: "
     "s, friction: 0.3, restitution: 0}, touch: {gap: w, restitution: 0},\n"
     "  right: {gap: '1e-7 - x + 10*max(0, t - 1e-5)'}}\n"},
    {"crowd", 0.02, 3, 0, // for auto: too many for dense matrices
     "carom: 1\ngravity: [0, -4]\nshapes: {floor: {plane: [0.1, 1]}}\nbodies:\n  d: {repeat: 69, body: {mass: 1 + "
     "0.01*i, inertia: 0.001, at: [i, 0.051 - 0.099*i], velocity: [0.5*cos(i), 0], shape: {circle: 0.05}}}\n"
     "forces: {d.3.x: 2*cos(9*t) - 0.5*d.3.x'}\ncontacts: {c: {between: [d, floor], friction: 0.2, restitution: "
     "0.2}}\n"},
    {"rubbed", 2e-4, 26, 0, // a bar of finite elements: constant mass and directions, and friction
     "carom: 1\nflexible:\n  bar: {type: bar, length: 1, elements: 17, density: 1000, modulus: 1e7, area: 1e-3, rate: "
     "-0.5}\ncoordinates: {y: 0}\nenergy: {kinetic: 0.1*y'^2, potential: 300*y}\n"
     "contacts: {pad: {gap: y, slip: bar.end.u, friction: 0.3}, wall: {gap: 5.05e-4 + bar.start.u, restitution: "
     "0.1}}\n"},
    {"weightless", 2e-4, 26, 0, // a large system whose mass matrix is singular: y and z can move together without
                                // inertia
     "carom: 1\nflexible:\n  bar: {type: bar, length: 1, elements: 20, density: 1000, modulus: 1e7, area: 1e-3, rate: "
     "-0.5}\ncoordinates: {y: {at: 0, rate: 0.3}, z: 0}\n"
     "energy: {kinetic: 0.1*(y' - z')^2, potential: '1e5*(z - bar.end.u)^2 + 1e3*(z - y)^2 + 5e9*z^4'}\ncontacts: "
     "{wall: {gap: 5.05e-4 + bar.start.u, restitution: 0.1}}\n"},
    {"gravel", 2e-3, 8, 0, // many contacts that come and go, by bodies and by blocks
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0.02, 1]}}\nbodies:\n"
     "  s: {repeat: 33, body: {mass: 1 + 0.02*i, inertia: [0.004, 0.004, 0.005], at: [0.2005*i - 2.2055*floor(i/11), "
     "0.02*floor(i/11), 0.1005 + 0.2015*floor(i/11)],\n"
     "    velocity: [0.2*cos(i), 0.3*sin(i), -0.4], spin: [0, 0, 0.1*i], shape: {sphere: 0.1}}}\n"
     "contacts: {among: {among: [s], friction: 0.3, restitution: 0.2}, base: {between: [s, floor], friction: 0.4}}\n"},
    {"harness", 2e-3, 16, 0, // contacts that come and go, and a joint of ten bodies
     "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0.05, 1]}}\nbodies:\n"
     "  s: {repeat: 10, body: {mass: 1 + 0.1*i, inertia: [0.003, 0.003, 0.002], at: [0.3*i, 0, 0.0625 + 0.002*i], "
     "velocity: [0.1*i, 0, 0.05*i - 0.225], spin: [0, 1, 0], shape: {ellipsoid: [0.08, 0.07, 0.06]}}}\n"
     "constraints: {rope: 's.0.z + s.1.z + s.2.z + s.3.z + s.4.z + s.5.z + s.6.z + s.7.z + s.8.z + s.9.z - 0.715'}\n"
     "contacts: {all: {among: [s], friction: 0.3}, base: {between: [s, floor], friction: 0.4, restitution: 0.2}}\n"},
    {"slit", 4e-3, 15, 0, // more impacts between two walls than can be located, until these go away: mixed crosses them
                          // by time-stepping, with the works of its forces
     "carom: 1\ncoordinates: {x: {at: 0.5e-10, rate: 1}, y: {at: 1, rate: 0.5}, z: {at: 0.5, rate: 0.25}}\nenergy: "
     "{kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 1/2*y^2}\nforces: {y: 0.2*sin(9*t), z: -0.7*z'}\n"
     "constraints: {rod: z - 0.5*y}\ncontact defaults: {restitution: 0.99, friction: 1e-3}\n"
     "contacts: {left: {gap: 'x + 0.2*max(0, t - 0.03)', slip: y}, right: {gap: '1e-10 - x + 0.2*max(0, t - 0.03)', "
     "slip: y}}\n"},
    {"bumper", 0.02, 20, 0, // springs with play on both sides, a short push and a drag with a kink: forces have kinks
                            // in positions and velocities, several in a step
     "carom: 1\ncoordinates: {k: {at: 0, rate: 0.1}, x: {at: 0, rate: 1}, y: 0, z: {at: 0.3, rate: -0.4}}\nenergy: "
     "{kinetic: 1/2*(k'^2 + x'^2 + y'^2 + z'^2) + 0.1*x'*z', potential: 9.81*y}\n"
     "forces: {x: '-4e3*max(0, x - 0.05) + 3e3*max(0, -0.04 - x) + if(abs(x - 0.011) < 2e-4, 300, 0)', z: "
     "'-2*abs(z'')*z'' - 5*max(0, z - 0.2) + 40*max(0, 0.05 - z)', y: 0.1*x}\n"
     "constraints: {rail: k - 0.1*x}\ncontacts: {far: {gap: 1 - x}, floor: {gap: y, slip: x + z, friction: 0.05}, "
     "stop: {gap: z + 0.02, slip: x, friction: 0.1, restitution: 0.6}}\n"},
    {"sliding-table", 4e-3, 40, 0, // four feet in space share the weight; pushed from rest, they slip slowly, in a
                                   // direction that turns, and stop
     "carom: 1\ncoordinates: {x: 0, z: {at: 0, rate: 0.02}, y: 0, a: 0, b: 0, k: 0}\nenergy: {kinetic: 1/2*(x'^2 + "
     "y'^2 + z'^2 + 0.1*a'^2 + 0.2*b'^2 + k'^2), potential: 9.81*y}\n"
     "forces: {x: '60*t - 300*max(0, t - 0.07)', z: 2*sin(30*t), a: 0.2, b: 0.1*t}\nconstraints: {rail: k - "
     "0.1*x}\ncontact defaults: {friction: 0.3}\n"
     "contacts: {far: {gap: 1 + y, friction: 0}, p: {gap: y + a + b, slip: [x, z]}, q: {gap: y + a - b, slip: [x, z]}, "
     "r: {gap: y - a + b, slip: [x, z]}, s: {gap: y - a - b, slip: [x, z]}}\n"},
    {"bumps", 0.25, 8, 0, // walls and bumps as thin as what a search inside a step may overlook
     "carom: 1\ncoordinates: {k: {at: 0, rate: 1}, x: {at: 0, rate: 10}, y: {at: 0, rate: 1}}\nenergy: {kinetic: "
     "1/2*(x'^2 + y'^2 + k'^2), potential: 3*y^2}\nconstraints: {rail: 'k - 0.1*x'}\n"
     "contacts: {far: {gap: 9 + y}, bump: {gap: '1 + 0.1*y - 2*exp(-((x - 5)/1e-3)^2)', restitution: 0.9}, pin: {gap: "
     "'hypot(x + 4, y - 0.4) - 1e-4', restitution: 0.5},\n"
     "  wall: {gap: 'y + 2 - 3*exp(-((t - 1.503)/5e-5)^2)', restitution: 0.8}}\n"},
    {"parade", 0.02, 3, 0, // for auto: too many for dense matrices, at rest until a force begins
     "carom: 1\ngravity: [0, -4]\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n  d: {repeat: 69, body: {mass: 1 + "
     "0.01*i, inertia: 0.001, at: [i, 0.05], shape: {circle: 0.05}}}\n"
     "forces: {d.3.x: 2*t, d.5.y: '60*max(0, t - 0.03)'}\ncontacts: {c: {between: [d, floor], friction: 0.2, "
     "restitution: 0.2}}\n"},
    {"mesh", 2e-3, 6, 0, // for auto: stiff, and too large for the implicit method
     "carom: 1\nflexible:\n  bar: {type: bar, length: 1, elements: 201, density: 1000, modulus: 1e11, area: 1e-3, "
     "rate: -0.5, damping: {stiffness: 1e-3}}\n"
     "contacts: {wall: {gap: 2e-3 + bar.start.u, restitution: 0.1}}\n"},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };
