// units.c: which unit the numbers of a model have, where the model gives units.
#include "base/number.h"
#include "base/unit.h"
#include "model/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool unit_of(const carom_datum *d, carom_unit *u) {
    double x;
    size_t at;
    return d && d->kind == CAROM_TEXT && carom_quantity_read(d->text, d->length, &x, u, &at) == CAROM_QUANTITY_READ;
}

static bool coordinate_unit(const carom_mech_coordinate *c, bool rate, carom_unit *u) {
    const bool at = unit_of(&c->at, u);
    if (!at && !unit_of(&c->rate, u)) return false;
    u->power[CAROM_S] += (rate ? -1 : 0) + (at ? 0 : 1);
    return true;
}

// Does the model give any unit?
static bool has_units(const carom_mech *x) {
    carom_unit u;
    for (int i = 0; i < x->parameters.count; ++i)
        if (unit_of(&x->parameters.item[i], &u)) return true;
    for (int i = 0; i < x->ncoordinates; ++i)
        if (coordinate_unit(&x->coordinates[i], false, &u)) return true;
    for (int i = 0; i < x->nbodies; ++i)
        if (unit_of(&x->bodies[i].mass, &u) || unit_of(&x->bodies[i].density, &u)) return true;
    return false;
}

// Places and velocities of bodies: BODY.x, BODY.vx, BODY.angle, BODY.wz ...
static bool body_unit(const carom_mech *x, const char *name, carom_unit *u) {
    static const struct { const char *names, *unit; } kinds[] = {{" x y z ", "m"}, {" vx vy vz ", "m/s"}, {" angle ", "rad"}, {" w wx wy wz ", "rad/s"}};
    const char *dot = strrchr(name, '.');
    char word[12];
    if (!dot || x->nbodies == 0 || !has_units(x) || snprintf(word, sizeof word, " %s ", dot + 1) >= (int)sizeof word) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strstr(kinds[i].names, word)) return carom_unit_read(kinds[i].unit, strlen(kinds[i].unit), u);
    return false;
}

static bool find_unit(const carom_mech *x, const char *name, carom_unit *u) {
    const size_t length = strlen(name);
    const bool rate = length > 1 && name[length - 1] == '\'';
    *u = (carom_unit){.up = 1, .down = 1};
    if (unit_of(carom_datum_get(&x->parameters, name), u)) return true;
    for (int i = 0; i < x->ninputs; ++i)
        if (strcmp(x->inputs[i].name.text, name) == 0) return unit_of(&x->inputs[i].start, u);
    for (int i = 0; i < x->ncoordinates; ++i)
        if (strncmp(x->coordinates[i].name.text, name, length - rate) == 0 && x->coordinates[i].name.length == length - rate) return coordinate_unit(&x->coordinates[i], rate, u);
    if (body_unit(x, name, u)) return true;
    const bool energy = strcmp(name, "kinetic") == 0 || strcmp(name, "potential") == 0 || strcmp(name, "energy") == 0;
    if (!(energy || strcmp(name, "t") == 0) || !has_units(x)) return false;
    return carom_unit_read(energy ? "J" : "s", 1, u);
}

bool carom_model_unit(const carom_model *m, const char *name, bool fmi, char *text, size_t size) {
    carom_unit u;
    if (!find_unit(m->mech, name, &u)) return false;
    carom_unit_write(&u, fmi, text, size);
    return true;
}

bool carom_mech_unit(const carom_mech *x, const char *name, char *text, size_t size) {
    carom_unit u;
    if (!find_unit(x, name, &u)) return false;
    carom_unit_label(&u, text, size);
    return true;
}

bool carom_model_quantity(const carom_model *m, const char *name, const char *text, size_t length, double *x, carom_error *err) {
    carom_unit is, was;
    size_t at = 0;
    char *end = NULL, own[80];
    snprintf(own, sizeof own, "%.*s", (int)(length < 79 ? length : 79), text);
    *x = carom_number(own, &end);
    while (end != own && *end == ' ') ++end;
    if (length < 79 && end != own && !*end) return isfinite(*x) || (carom_fail(err, CAROM_BAD_INPUT, "'%s' is not a finite number", own), false);
    const carom_quantity kind = carom_quantity_read(text, length, x, &is, &at);
    if (kind != CAROM_QUANTITY_READ)
        return carom_fail(err, CAROM_BAD_INPUT, kind == CAROM_QUANTITY_WRONG ? "'%s' is a number with a unit that is not known" : "'%s' is not a number", own), false;
    if (!m || !find_unit(m->mech, name, &was) || carom_unit_fits(&is, &was)) return true;
    char unit[40];
    carom_unit_label(&was, unit, sizeof unit);
    return carom_fail(err, CAROM_BAD_INPUT, "'%s' is a quantity of another kind than '%.60s', which is in %s", own, name, unit), false;
}
