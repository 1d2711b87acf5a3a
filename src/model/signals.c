// signals.c: inputs and controllers: signals that keep their values between two steps, in a simulation.
//
// To expressions a signal is like a parameter: an input of the tape, behind the parameters.  Its present value is in
// the work block of a simulation.  In order: inputs; of every controller its states, its outputs and, with a delay,
// what the outputs are going to be.
#include "model/controls.h"
#include "base/option.h"
#include "model/pairs.h"
#include <carom/option.h>
#include <math.h>
#include <string.h>

bool carom_depends_on_signals(const carom_model *m, carom_node x) {
    for (int i = 0; i < m->signal.n; ++i)
        if (carom_graph_depends(m->graph, x, CAROM_PARAMETER, m->np_own + i)) return true;
    return false;
}

static void inputs(const void *model, void *work, const double *x) {
    const carom_model *m = model;
    double *given = carom_model_given(m, work);
    carom_copy(given + m->np_own, x, m->signal.n);
    carom_tape_work_parameters(m->tape, work, given);
    if (m->bounce.tape) carom_tape_work_parameters(m->bounce.tape, (unsigned char *)work + m->at.bounce, given);
    carom_times_parameters(m, work, given);
    carom_pairs_parameters(m, work, given);
}

static carom_status sample(const void *model, void *work, int k, bool effect, double t, const double *q,
                           const double *v, double *x) {
    const carom_model *m = model;
    const control *c = &m->signal.control[k];
    const bool delayed = m->signal.sampler[k].delay > 0;
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
    carom_extensions *e = m->extensions;
    e->signals.ni = m->signal.n;
    e->signals.nset = m->signal.nset;
    e->signals.input = m->signal.n ? m->parameter + m->np_own : NULL;
    e->signals.set = m->signal.n ? inputs : NULL;
    e->signals.nsamplers = m->signal.ncontrols;
    e->signals.samplers = m->signal.sampler;
    e->signals.sample = m->signal.ncontrols ? sample : NULL;
}

// -- for those that linearise controllers -----------------------------------------------------------------------------

carom_control_place carom_model_control(const carom_model *m, int k) {
    const control *c = &m->signal.control[k];
    return (carom_control_place){c->state,   c->nstates, c->output,
                                 c->noutputs, c->pending, c->first, m->signal.sampler[k].delay > 0};
}

int carom_model_controlled(const carom_model *m) { return m->signal.nnodes; }

void carom_model_compute(const carom_model *m, void *work, double t, const double *q, const double *v, double *y) {
    carom_model_eval(m, work, GROUP_CONTROL, t, q, v, y);
}

int carom_model_controlled_link(const carom_model *m) {
    for (int id = 0; id < m->ne + m->nc; ++id)
        for (int i = m->signal.nset; i < m->signal.n; ++i)
            if (carom_graph_depends(m->graph, m->links[id].gap, CAROM_PARAMETER, m->np_own + i)) return id;
    return -1;
}

// -- answers ----------------------------------------------------------------------------------------------------------

const char *carom_model_input(const carom_model *m, int i, double *value) {
    if (!m) return NULL;
    if (i < 0 || i >= m->signal.nset) return NULL;
    if (value) *value = m->parameter[m->np_own + i];
    return m->names.at[m->parameter_name[m->np_own + i]].text;
}

const char *carom_model_following(const carom_model *m, int i) {
    if (!m) return NULL;
    for (int k = 0; k < m->names.count; ++k)
        if (m->names.at[k].kind == NAME_INPUT && m->names.at[k].index < 0 && i-- == 0) return m->names.at[k].text;
    return NULL;
}

const char *carom_model_signal(const carom_model *m, int i) {
    if (!m) return NULL;
    return i >= 0 && i < m->signal.n ? m->names.at[m->parameter_name[m->np_own + i]].text : NULL;
}

const double *carom_model_signals(const carom_model *m) { return m ? m->parameter + m->np_own : NULL; }

static const char *input_name(const void *user, int i) { return carom_model_input(user, i, NULL); }

int carom_model_find_input(const carom_model *m, const char *text, carom_error *err) {
    if (!m || !text) return carom_fail(err, CAROM_BAD_INPUT, "a model or the name of an input is missing"), -1;
    for (int i = 0; i < m->signal.nset; ++i)
        if (strcmp(input_name(m, i), text) == 0) return i;
    const name *n = carom_names_find(&m->names, text, strlen(text));
    const char *near = carom_nearest(text, input_name, m);
    if (n && n->kind == NAME_INPUT)
        carom_fail(err, CAROM_BAD_INPUT,
                   "'%.60s' of %.200s follows a signal or belongs to a controller; it cannot be set", text, m->file);
    else
        carom_fail(err, CAROM_BAD_INPUT, "%.200s has no input '%.60s'%s%s%s", m->file, text,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return -1;
}
