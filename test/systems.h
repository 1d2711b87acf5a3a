// systems.h: mechanical systems with known behaviour, in C callbacks, shared by the tests.
//
// A `known` owns everything that its carom_system points to: fill one in place and do not copy it.  After
// filling, contacts, start and parameters may be changed; `known_run` makes a simulation of it.
#pragma once
#include <carom/carom.h>

enum { KNOWN_MOST = 4 };

typedef struct known {
    carom_system sys;
    carom_contact contact[KNOWN_MOST];
    double q0[KNOWN_MOST], v0[KNOWN_MOST];
    double par[16];  // meaning: see each system
    double frame[9]; // spatial contact: normal and two tangents, by columns
} known;

/// Mass m, constant force f, gap q: the bouncing ball.
void known_ball(known *k, double m, double f, double e, double height);
/// Ball A: m = 1, f = -2, e = 1/2, from 1 at rest.  Its exact position and velocity (right limit).
void known_ball_a(known *k);
double known_ball_a_exact(double t, double *v);
/// Mass and spring of unit frequency, gap q, from 1 at rest; q = e^n |cos t| with n impacts before t.
void known_oscillator(known *k, double e);
double known_oscillator_exact(double t, double e, double *v);
/// Ball on a floor that moves: gap q - A sin(w t).  Starts on the floor and with its velocity.
void known_moving_floor(known *k, double A, double w, double e);
/// Two masses on a line, no forces: gap q2 - q1 - d.
void known_two_bodies(known *k, double m1, double m2, double e);
/// Two masses, spring, gravity 10; the lower one over the floor (methods: two-ball oscillator).
void known_two_balls(known *k, double stiffness);
/// Double pendulum with joint damping and a driven first joint: M(q), gyroscopic terms, damping, time.
/// No contacts.
void known_double_pendulum(known *k);
/// Particle of mass L^3 on a plane of inclination `angle`; par[3] is gravity.
/// q = (along the slope, normal to it); friction mu.
void known_slope(known *k, double L, double angle, double mu);
/// The same in space; plane and tangents in a frame turned by `turn` about all axes.
void known_slope_spatial(known *k, double L, double angle, double mu, double turn);
/// Slider-crank with clearance c and 4 corner contacts; `derivatives`: with all optional functions.
void known_slider_crank(known *k, double c, double e, double mu, bool derivatives);
/// Slider-crank with the guide as bilateral constraint, 2 coordinates.
void known_slider_bilateral(known *k, bool derivatives);
/// Rigid pendulum in redundant coordinates (x, y, angle), 2 joints, 1 wall; J its moment of inertia.
void known_pendulum(known *k, double J);
/// The same without the wall.
void known_pendulum_free(known *k);
/// Block that rocks on two corners.
void known_rocking_block(known *k);

double known_energy(const known *k, double t, const double *q, const double *v);

/// Definition of a run; change what you like, then carom_sim_create().
carom_sim_def known_run(const known *k, const char *scheme, double h, double t_end);
