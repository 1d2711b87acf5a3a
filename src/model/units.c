// units.c: which unit the numbers of a model have, where the model gives units.
#include "base/column.h"
#include "base/number.h"
#include "base/text.h"
#include "base/unit.h"
#include "mech/datum.h"
#include "mech/keys.h"
#include "mech/mech.h"
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

// -- does the model give any unit? ------------------------------------------------------------------------------------

static bool any_unit(const carom_datum *d) {
    carom_unit u;
    if (unit_of(d, &u)) return true;
    for (const carom_datum *c = carom_first(d); c != carom_end(d); ++c)
        if (any_unit(c)) return true;
    return false;
}

typedef struct search { const void *record; bool found; } search;

static void visit(void *user, const carom_key *k) {
    search *s = user;
    if (!carom_key_is_record(k)) {
        // no name: a brief form
        const bool number = k->kind == KEY_NUMBER || k->kind == KEY_EXPRESSION || k->kind == KEY_NAMED ||
                            k->kind == KEY_FORM || !*k->name;
        s->found = s->found || (number && any_unit(carom_key_field(s->record, k->at)));
        return;
    }
    for (int i = 0; i < carom_key_count(s->record, k) && !s->found; ++i) {
        search inner = {.record = carom_key_record(s->record, k, i)};
        carom_key_fields(k->groups, visit, &inner);
        s->found = inner.found;
    }
}

bool carom_mech_has_units(const carom_mech *x) {
    static const key_group *const top[] = {&carom_key_top, NULL};
    search s = {.record = x};
    carom_key_fields(top, visit, &s);
    return s.found;
}

// -- units of columns -------------------------------------------------------------------------------------------------

typedef struct column_kind { const char *names, *unit; } column_kind;

static bool unit_among(const column_kind *kinds, int n, const char *part, carom_unit *u) {
    char word[24];
    if (snprintf(word, sizeof word, " %s ", part) >= (int)sizeof word) return false;
    for (int i = 0; i < n; ++i)
        if (strstr(kinds[i].names, word)) return carom_unit_read(kinds[i].unit, strlen(kinds[i].unit), u);
    return false;
}

// Is NAME, a column without its last part, the part of this name, or one of its family?
static bool is_of(const carom_datum *part, const char *name, size_t length) {
    return part->length <= length && strncmp(part->text, name, part->length) == 0 &&
           (part->length == length || name[part->length] == '.');
}

// Places and velocities of bodies: BODY.x, BODY.vx, BODY.angle, BODY.wz ...
static bool body_unit(const carom_mech *x, const char *name, const char *dot, carom_unit *u) {
    static const column_kind kinds[] = {
        {" x y z ", "m"}, {" vx vy vz ", "m/s"}, {" angle ", "rad"}, {" w wx wy wz ", "rad/s"}};
    for (int i = 0; i < x->nbodies; ++i)
        if (is_of(&x->bodies[i].name, name, (size_t)(dot - name))) return unit_among(kinds, 4, dot + 1, u);
    return false;
}

// Contacts of shapes and points: gaps are lengths there.  A written gap may be anything, and rolling is no velocity.
static bool contact_unit(const carom_mech *x, const char *name, const char *dot, carom_unit *u) {
    const carom_role role = carom_column_role(name);
    const carom_role_part *p = role < CAROM_ROLES ? &carom_role_parts[role] : NULL;
    for (int i = 0; i < x->ncontacts; ++i) {
        const carom_mech_contact *c = &x->contacts[i], *of = c->contact ? c->contact : c;
        if (!is_of(&c->name, name, (size_t)(dot - name))) continue;
        if (!carom_given(&of->between) && !carom_given(&of->among)) return false;
        const bool turns = carom_given(&of->rolling) || carom_given(&of->spinning);
        return p && *p->unit && !(turns && p->tangential) && carom_unit_read(p->unit, strlen(p->unit), u);
    }
    return false;
}

// Coordinates of joints, and what their stops and bearings do; ropes.
static bool joint_unit(const carom_mech *x, const char *name, const char *dot, carom_unit *u) {
    static const column_kind kinds[] = {{" angle angle1 angle2 ", "rad"},
                                        {" angle' angle1' angle2' ", "rad/s"},
                                        {" shift shift1 shift2 ", "m"},
                                        {" shift' shift1' shift2' ", "m/s"}};
    static const column_kind rope[] = {
        {" gap ", "m"}, {" gap' ", "m/s"}, {" force ", "N"}, {" impulse ", "N s"}};
    for (int i = 0; i < x->nropes; ++i)
        if (is_of(&x->ropes[i].name, name, (size_t)(dot - name))) return unit_among(rope, 4, dot + 1, u);
    for (int i = 0; i < x->njoints; ++i)
        if (is_of(&x->joints[i].name, name, (size_t)(dot - name))) return unit_among(kinds, 4, dot + 1, u);
    return false;
}

// Does the model give any unit?  It is looked through once.
typedef enum units_given { UNITS_UNKNOWN, UNITS_NONE, UNITS_SOME } units_given;

static bool some_units(const carom_mech *x, units_given given) {
    return given == UNITS_UNKNOWN ? carom_mech_has_units(x) : given == UNITS_SOME;
}

static bool column_unit(const carom_mech *x, units_given given, const char *name, carom_unit *u) {
    const char *dot = strrchr(name, '.');
    return dot && given != UNITS_NONE &&
           (body_unit(x, name, dot, u) || contact_unit(x, name, dot, u) || joint_unit(x, name, dot, u)) &&
           some_units(x, given);
}

static bool find_unit(const carom_mech *x, units_given given, const char *name, carom_unit *u) {
    const size_t length = strlen(name);
    const bool rate = length > 1 && name[length - 1] == '\'';
    *u = (carom_unit){.up = 1, .down = 1};
    if (unit_of(carom_datum_get(&x->parameters, name), u)) return true;
    for (int i = 0; i < x->ninputs; ++i)
        if (strcmp(x->inputs[i].name.text, name) == 0) return unit_of(&x->inputs[i].start, u);
    for (int i = 0; i < x->ncoordinates; ++i)
        if (strncmp(x->coordinates[i].name.text, name, length - rate) == 0 &&
            x->coordinates[i].name.length == length - rate)
            return coordinate_unit(&x->coordinates[i], rate, u);
    for (int i = 0; i < x->nstates; ++i)
        if (strcmp(x->states[i].name.text, name) == 0) return unit_of(&x->states[i].at, u);
    if (carom_datum_get(&x->outputs, name)) return false; // an expression
    if (column_unit(x, given, name, u)) return true;
    const bool energy = strcmp(name, "kinetic") == 0 || strcmp(name, "potential") == 0 || strcmp(name, "energy") == 0;
    if (!(energy || strcmp(name, "t") == 0) || !some_units(x, given)) return false;
    return carom_unit_read(energy ? "J" : "s", 1, u);
}

static units_given units_of(const carom_model *m) { return m->units ? UNITS_SOME : UNITS_NONE; }

bool carom_model_unit(const carom_model *m, const char *name, bool fmi, char *text, size_t size) {
    if (!m || !name) return false;
    carom_unit u;
    if (!find_unit(m->mech, units_of(m), name, &u)) return false;
    carom_unit_label(&u, fmi, text, size);
    return true;
}

bool carom_mech_unit(const carom_mech *x, const char *name, char *text, size_t size) {
    if (!x || !name) return false;
    carom_unit u;
    if (!find_unit(x, UNITS_UNKNOWN, name, &u)) return false;
    carom_unit_label(&u, false, text, size);
    return true;
}

// f(x): its end is that of the column.
static bool inside(const char *column, const char *function, char *x, size_t size) {
    const size_t n = strlen(column), k = strlen(function);
    if (n < k + 3 || n - k - 1 > size || strncmp(column, function, k) != 0 || column[k] != '(' || column[n - 1] != ')')
        return false;
    snprintf(x, size, "%.*s", (int)(n - k - 2), column + k + 1); // of more than one name: no name of the model
    return true;
}

bool carom_mech_column_unit(const void *m, const char *column, char *text, size_t size) {
    static const char *const same[] = {"max", "min", "mean", "rms", "abs"}, *const parts[] = {".mean", ".amplitude"};
    char x[200];
    if (!m || !column) return false;
    if (carom_mech_unit(m, column, text, size)) return true;
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
        if (inside(column, same[i], x, sizeof x)) return carom_mech_column_unit(m, x, text, size);
    for (size_t i = 0, n = strlen(column); i < sizeof parts / sizeof *parts; ++i)
        if (carom_ends(column, parts[i]) && n < sizeof x) {
            snprintf(x, sizeof x, "%.*s", (int)(n - strlen(parts[i])), column);
            return carom_mech_column_unit(m, x, text, size);
        }
    return strncmp(column, "energy.", 7) == 0 ? carom_mech_unit(m, "energy", text, size)
         : strcmp(column, "period") == 0      ? carom_mech_unit(m, "t", text, size)
                                              : false;
}

bool carom_model_quantity(const carom_model *m, const char *name, const char *text, size_t length, double *x,
                          carom_error *err) {
    if (!text || !x) return false;
    carom_unit is, was;
    size_t at = 0;
    char *end = NULL, own[80];
    snprintf(own, sizeof own, "%.*s", (int)(length < 79 ? length : 79), text);
    *x = carom_number(own, &end);
    while (end != own && *end == ' ') ++end;
    if (length < 79 && end != own && !*end)
        return isfinite(*x) || (carom_fail(err, CAROM_BAD_INPUT, "'%s' is not a finite number", own), false);
    const carom_quantity kind = carom_quantity_read(text, length, x, &is, &at);
    const bool time = name && strcmp(name, "t") == 0;
    if (time &&
        (kind != CAROM_QUANTITY_READ || !isfinite(*x) || !carom_unit_read("s", 1, &was) || !carom_unit_fits(&is, &was)))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "'%s' is not a time; write a number of seconds, or one with a unit as in '2 ms'", own),
               false;
    if (kind != CAROM_QUANTITY_READ)
        return carom_fail(err, CAROM_BAD_INPUT,
                          kind == CAROM_QUANTITY_WRONG ? "'%s' is a number with a unit that is not known"
                                                       : "'%s' is not a number",
                          own),
               false;
    if (time || !m || !find_unit(m->mech, units_of(m), name, &was) || carom_unit_fits(&is, &was)) return true;
    char unit[40];
    carom_unit_label(&was, false, unit, sizeof unit);
    return carom_fail(err, CAROM_BAD_INPUT, "'%s' is a quantity of another kind than '%.60s', which is in %s", own,
                      name, unit),
           false;
}
