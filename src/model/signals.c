// signals.c: inputs and controllers: signals that keep their values between two steps, in a simulation.
//
// To expressions a signal is like a parameter: an input of the tape, behind the parameters.  Its present value is in the work block of a
// simulation.  In order: inputs; of every controller its states, its outputs and, with a delay, what the outputs are going to be.
#include "base/unit.h"
#include "model/pairs.h"
#include <carom/option.h>
#include <math.h>
#include <string.h>

bool carom_depends_on_signals(const carom_model *m, carom_node x) {
    for (int i = 0; i < m->nsignals; ++i)
        if (carom_graph_depends(m->graph, x, CAROM_PARAMETER, m->np_own + i)) return true;
    return false;
}

static void inputs(const void *model, void *work, const double *x) {
    const carom_model *m = model;
    double *given = carom_model_given(m, work);
    carom_copy(given + m->np_own, x, m->nsignals);
    carom_tape_work_parameters(m->tape, work, given);
    if (m->bounce_tape) carom_tape_work_parameters(m->bounce_tape, (unsigned char *)work + m->bounce_work, given);
    carom_pairs_parameters(m, work, given);
}

static carom_status sample(const void *model, void *work, int k, bool effect, double t, const double *q, const double *v, double *x) {
    const carom_model *m = model;
    const control *c = &m->controls[k];
    const bool delayed = m->samplers[k].delay > 0;
    if (effect) {
        carom_copy(x + c->output, x + c->pending, c->noutputs);
        return CAROM_OK;
    }
    double *y = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_CONTROL, t, q, v, y);
    y += c->first;
    for (int i = 0; i < c->noutputs + c->nstates; ++i)
        if (!isfinite(y[i])) return CAROM_USER;
    carom_copy(x + (delayed ? c->pending : c->output), y, c->noutputs);
    carom_copy(x + c->state, y + c->noutputs, c->nstates);
    return CAROM_OK;
}

void carom_signals_system(carom_model *m) {
    carom_system *s = &m->sys;
    s->ni = m->nsignals;
    s->nset = m->nset;
    s->input = m->nsignals ? m->parameter + m->np_own : NULL;
    s->inputs = m->nsignals ? inputs : NULL;
    s->nsamplers = m->ncontrols;
    s->samplers = m->samplers;
    s->sample = m->ncontrols ? sample : NULL;
}

// -- units -----------------------------------------------------------------------------------------------------------------------

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

static bool find_unit(const carom_mech *x, const char *name, carom_unit *u) {
    const size_t length = strlen(name);
    const bool rate = length > 1 && name[length - 1] == '\'';
    *u = (carom_unit){.up = 1, .down = 1};
    if (unit_of(carom_datum_get(&x->parameters, name), u)) return true;
    for (int i = 0; i < x->ninputs; ++i)
        if (strcmp(x->inputs[i].name.text, name) == 0) return unit_of(&x->inputs[i].start, u);
    for (int i = 0; i < x->ncoordinates; ++i)
        if (strncmp(x->coordinates[i].name.text, name, length - rate) == 0 && x->coordinates[i].name.length == length - rate) return coordinate_unit(&x->coordinates[i], rate, u);
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

// -- answers ---------------------------------------------------------------------------------------------------------------------

const char *carom_model_input(const carom_model *m, int i, double *value) {
    if (i < 0 || i >= m->nset) return NULL;
    if (value) *value = m->parameter[m->np_own + i];
    return m->names.at[m->parameter_name[m->np_own + i]].text;
}

static const char *input_name(const void *user, int i) { return carom_model_input(user, i, NULL); }

int carom_model_find_input(const carom_model *m, const char *text, carom_error *err) {
    for (int i = 0; i < m->nset; ++i)
        if (strcmp(input_name(m, i), text) == 0) return i;
    const name *n = carom_names_find(&m->names, text, strlen(text));
    const char *near = carom_nearest(text, input_name, m);
    if (n && n->kind == NAME_INPUT) carom_fail(err, CAROM_BAD_INPUT, "'%.60s' of %.200s follows a signal or belongs to a controller; it cannot be set", text, m->file);
    else carom_fail(err, CAROM_BAD_INPUT, "%.200s has no input '%.60s'%s%s%s", m->file, text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return -1;
}
