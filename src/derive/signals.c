// signals.c: inputs and controllers: signals that keep their values between two steps.
//
// To expressions a signal is like a parameter: an input of the tape, behind the parameters.  Its present value is in
// the work block of a simulation.  In order: inputs; of every controller its states, its outputs and, with a delay,
// what the outputs are going to be.
#include "base/option.h"
#include "derive/shapes/shapes.h"
#include "model/conditions.h"
#include <carom/option.h>
#include <string.h>

static void *take(resolver *r, int count, size_t size) {
    return carom_pool_take(&r->m->memory, (size_t)(count ? count : 1) * size);
}

// -- names ------------------------------------------------------------------------------------------------------------

static carom_status declare(resolver *r, const carom_datum *key, bool empty, int signal) {
    carom_model *m = r->m;
    CAROM_TRY(carom_new_name(r, key, empty, &m->names));
    if (signal >= 0) m->parameter_name[m->np_own + signal] = m->names.count;
    return carom_names_add(&m->names, key->text, NAME_INPUT, signal, key->line) ? CAROM_OK : carom_fault_memory(r);
}

static carom_status declare_map(resolver *r, const carom_datum *map, int *signal) {
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c)
        CAROM_TRY(declare(r, c->key, carom_datum_empty(c), (*signal)++));
    return CAROM_OK;
}

static int pending_of(const carom_mech_controller *c) { return carom_given(&c->delay) ? c->outputs.count : 0; }

carom_status carom_declare_signals(resolver *r) {
    carom_model *m = r->m;
    const carom_mech *x = r->mech;
    for (int i = 0; i < x->ninputs; ++i) m->signal.nset += !carom_given(&x->inputs[i].signal);
    m->signal.n = m->signal.nset;
    for (int i = 0; i < x->ncontrollers; ++i)
        m->signal.n +=
            x->controllers[i].states.count + x->controllers[i].outputs.count + pending_of(&x->controllers[i]);
    m->np = m->np_own + m->signal.n;
    m->signal.ncontrols = x->ncontrollers;
    m->parameter_name = take(r, m->np, sizeof *m->parameter_name);
    m->signal.control = take(r, m->signal.ncontrols, sizeof *m->signal.control);
    m->signal.sampler = take(r, m->signal.ncontrols, sizeof *m->signal.sampler);
    if (!m->parameter_name || !m->signal.control || !m->signal.sampler) return carom_fault_memory(r);
    for (int i = 0; i < m->np_own; ++i) m->parameter_name[i] = i; // names begin with them
    int k = 0;
    for (int i = 0; i < x->ninputs; ++i)
        CAROM_TRY(declare(r, &x->inputs[i].name,
                          !carom_given(&x->inputs[i].start) && !carom_given(&x->inputs[i].signal),
                          carom_given(&x->inputs[i].signal) ? -1 : k++));
    for (int i = 0; i < m->signal.ncontrols; ++i) {
        const carom_mech_controller *of = &x->controllers[i];
        control *c = &m->signal.control[i];
        *c = (control){.state = k, .nstates = of->states.count, .noutputs = of->outputs.count};
        CAROM_TRY(declare_map(r, &of->states, &k));
        c->output = k;
        CAROM_TRY(declare_map(r, &of->outputs, &k));
        c->pending = k;
        for (int j = 0; j < pending_of(of); ++j)
            m->parameter_name[m->np_own + k++] = m->parameter_name[m->np_own + c->output + j];
    }
    return CAROM_OK;
}

// -- values at the start ----------------------------------------------------------------------------------------------

// An input that follows a signal is an expression of time.
static carom_status read_signal(resolver *r, const carom_mech_input *of) {
    carom_model *m = r->m;
    carom_node x = CAROM_NONE;
    if (carom_given(&of->start))
        return carom_fault(r, &of->start, 0, "input '%.60s' has both `signal` and `start`; give only one",
                           of->name.text);
    CAROM_TRY(carom_resolve_expression(r, &of->signal, NAME_PARAMETER | SCOPE_TIME, "the signal of an input", &x));
    name *n = carom_names_find(&m->names, of->name.text, of->name.length); // now: tables may have names, too
    n->node = x;
    n->rate = carom_graph_diff(m->graph, x, CAROM_TIME, 0);
    return CAROM_OK;
}

static carom_status read_start(resolver *r, const carom_datum *n, int signal) {
    return n ? carom_resolve_bound(r, n, "the value at the start", BOUND_INPUT, signal,
                                   &r->m->parameter[r->m->np_own + signal])
             : CAROM_OK;
}

static const char *signal_name(const void *user, int i) {
    const carom_mech_controller *of = user;
    if (i < of->states.count) return of->states.item[i].key->text;
    i -= of->states.count;
    return i < of->outputs.count ? of->outputs.item[i].key->text : NULL;
}

static carom_status read_starts(resolver *r, const carom_mech_controller *of, const control *c) {
    for (const carom_datum *n = carom_first(&of->start); n != carom_end(&of->start); ++n) {
        int i = 0;
        while (signal_name(of, i) && strcmp(signal_name(of, i), n->key->text) != 0) ++i;
        const char *near = carom_nearest(n->key->text, signal_name, of);
        if (!signal_name(of, i))
            return carom_fault(r, n->key, 0, "controller '%.60s' has no state or output '%.60s'%s%s%s", of->name.text,
                               n->key->text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        CAROM_TRY(read_start(r, n, c->state + i));
    }
    return CAROM_OK;
}

static carom_status read_times(resolver *r, const carom_mech_controller *of, carom_sampler *s) {
    *s = (carom_sampler){.name = of->name.text};
    CAROM_TRY(carom_part_name(r, &of->name));
    if (!carom_given(&of->sample))
        return carom_fault(r, &of->name, 0, "controller '%.60s' has no sample time; write `sample: 0.01`",
                           of->name.text);
    CAROM_TRY(carom_resolve_number(r, &of->sample, "the sample time", &s->sample));
    if (!(s->sample > 0)) return carom_fault(r, &of->sample, 0, "the sample time must be positive, got %g", s->sample);
    if (carom_given(&of->offset)) CAROM_TRY(carom_resolve_number(r, &of->offset, "the offset", &s->offset));
    if (!(s->offset >= 0)) return carom_fault(r, &of->offset, 0, "the offset must not be negative, got %g", s->offset);
    if (carom_given(&of->delay)) CAROM_TRY(carom_resolve_number(r, &of->delay, "the delay", &s->delay));
    if (!(s->delay >= 0 && s->delay <= s->sample))
        return carom_fault(r, &of->delay, 0, "the delay must lie between 0 and the sample time %g, got %g", s->sample,
                           s->delay);
    if (of->states.count + of->outputs.count == 0)
        return carom_fault(r, &of->name, 0, "controller '%.60s' computes nothing; write `outputs: {u: -k*x}`",
                           of->name.text);
    return CAROM_OK;
}

carom_status carom_derive_signals(resolver *r) {
    const carom_mech *x = r->mech;
    int k = 0;
    for (int i = 0; i < x->ninputs; ++i) {
        if (carom_given(&x->inputs[i].signal)) CAROM_TRY(read_signal(r, &x->inputs[i]));
        else CAROM_TRY(read_start(r, carom_given(&x->inputs[i].start), k++));
    }
    for (int i = 0; i < r->m->signal.ncontrols; ++i) {
        CAROM_TRY(read_times(r, &x->controllers[i], &r->m->signal.sampler[i]));
        CAROM_TRY(read_starts(r, &x->controllers[i], &r->m->signal.control[i]));
    }
    return CAROM_OK;
}

// -- what controllers compute -----------------------------------------------------------------------------------------

// A value at the start that went into the structure (where a body begins that moves with an input) takes its parameters
// there.
static carom_status fix_starts(resolver *r) {
    carom_model *m = r->m;
    for (int i = 0; i < m->nbound; ++i)
        if (m->bound[i].kind == BOUND_INPUT && m->fixed[m->np_own + m->bound[i].index])
            CAROM_TRY(carom_fix(r, m->bound[i].from));
    return CAROM_OK;
}

carom_status carom_add_condition(resolver *r, const carom_datum *text, const char *name, int body, int gate,
                                 int *number) {
    carom_model *m = r->m;
    for (int i = 0; gate < 0 && i < m->condition.n; ++i)
        if (m->condition.list[i].text == text) return *number = i + 1, CAROM_OK;
    if (m->condition.n == m->condition.room) {
        const int room = 2 * m->condition.room + 8;
        condition *more = take(r, room, sizeof *more);
        if (!more) return carom_fault_memory(r);
        if (m->condition.n) memcpy(more, m->condition.list, (size_t)m->condition.n * sizeof *more);
        m->condition.list = more, m->condition.room = room;
    }
    m->condition.list[m->condition.n++] = (condition){.text = text, .name = name, .body = body, .gate = gate};
    *number = m->condition.n;
    return CAROM_OK;
}

// Is this the name of a body, or of a point of it, or a list with such a name?
static bool names_body(const carom_datum *d, const char *body) {
    const size_t n = strlen(body);
    if (d->kind == CAROM_TEXT && strncmp(d->text, body, n) == 0 && (d->text[n] == 0 || d->text[n] == '.')) return true;
    for (int i = 0; i < d->count && d->item; ++i)
        if (names_body(&d->item[i], body)) return true;
    return false;
}

// A body that comes and goes hangs on nothing.
static carom_status check_loose(resolver *r, const condition *c) {
    const carom_mech *x = r->mech;
    const carom_datum *held = NULL;
    for (int i = 0; i < x->njoints && !held; ++i)
        if (names_body(&x->joints[i].between, c->name)) held = &x->joints[i].name;
    for (int i = 0; i < x->nsprings && !held; ++i)
        if (names_body(&x->springs[i].between, c->name)) held = &x->springs[i].name;
    for (int i = 0; i < x->nropes && !held; ++i)
        if (names_body(&x->ropes[i].between, c->name)) held = &x->ropes[i].name;
    if (held)
        return carom_fault(r, held, 0,
                           "'%.60s' holds body '%.60s', which is not always there (`exists while`); only contacts and "
                           "loads can act on such a body",
                           held->text, c->name);
    if (r->m->nmember || carom_given(&x->sleep))
        return carom_fault(r, c->text->key, 0, "`exists while` of a body is not supported in a model with %s",
                           r->m->nmember ? "flexible members" : "`sleep`");
    return CAROM_OK;
}

static carom_status derive_conditions(resolver *r) {
    carom_model *m = r->m;
    m->condition.first = m->signal.nnodes;
    for (int i = 0; i < m->condition.n; ++i) {
        const condition *c = &m->condition.list[i];
        carom_node x;
        if (c->body >= 0) CAROM_TRY(check_loose(r, c));
        CAROM_TRY(carom_resolve_expression(r, c->text, SCOPE_STATE | SCOPE_OUTS, "a condition", &x));
        m->signal.node[m->signal.nnodes++] = x;
    }
    return CAROM_OK;
}

carom_status carom_derive_controllers(resolver *r) {
    carom_model *m = r->m;
    m->signal.node = take(r, m->signal.n + m->condition.n, sizeof *m->signal.node);
    if (!m->signal.node) return carom_fault_memory(r);
    for (int i = 0; i < m->signal.ncontrols; ++i) {
        const carom_datum *const maps[2] = {&r->mech->controllers[i].outputs, &r->mech->controllers[i].states};
        m->signal.control[i].first = m->signal.nnodes;
        for (int k = 0; k < 2; ++k)
            for (const carom_datum *c = carom_first(maps[k]); c != carom_end(maps[k]); ++c)
                CAROM_TRY(carom_resolve_expression(r, c, SCOPE_STATE | SCOPE_OUTS,
                                                   k ? "the next state" : "the output of a controller",
                                                   &m->signal.node[m->signal.nnodes++]));
    }
    CAROM_TRY(derive_conditions(r));
    return fix_starts(r);
}
