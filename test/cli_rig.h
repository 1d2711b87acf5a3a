// cli_rig.h: for tests of the program as a person uses it: a folder of their own, a model, and results that are opened.
#pragma once
#include "own_folder.h"
#include "program.h"
#include <carom/carom.h>
#include <carom/result.h>

static const char ball[] =
    "carom: 1\n"
    "name: Ball\n"
    "parameters: {m: 1, g: 9.81}\n"
    "coordinates: {x: {at: 0, rate: 1}, y: {at: 0.3}}\n"
    "energy: {kinetic: 1/2*m*(x'^2 + y'^2), potential: m*g*y}\n"
    "contacts: {ground: {gap: y, slip: x, restitution: 0.6, friction: 0.2}}\n"
    "outputs: {height: y}\n"
    "checks: [penetration < 1]\n"
    "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 1}\n";

UNUSED_IS_FINE static bool there(const char *name) {
    return access(name, F_OK) == 0;
}

UNUSED_IS_FINE static carom_result *load(const char *file) {
    carom_error err = {0};
    carom_result *r = carom_result_open(file, &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}
