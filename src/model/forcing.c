// forcing.c: time in a model, decided by its expressions.
#include "base/number.h"
#include "expr/time.h"
#include "model/forcing.h"
#include "model/pairs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WHOLE = 1e-9; // of a number of periods: an integer

// Groups of expressions, in the order of carom_model_roots().
typedef enum source { ENERGY, MASS, FORCE, GAP, DIRECTION, RATE, FRICTION, BELT, BODY, SOURCES } source;
typedef struct roots {
    int at[SOURCES + 1], *node;
} roots;
enum { OF_BODY = 13, OF_BELT = 6 }; // position, rotation matrix and angle; numbers of a belt

static int count(const carom_model *m, bool energies, source s) {
    switch (s) {
    case ENERGY: return energies ? 2 : 0;
    case MASS: return energies ? 0 : m->mass.n; // the kinetic energy has all of it
    case FORCE: return m->visible.nv;
    case GAP: return m->ne + m->nc;
    case DIRECTION: return m->W.n;
    case RATE: return m->w.n;
    case FRICTION: return CAROM_FRICTION_LAW * m->friction.n;
    case BELT: return m->near && !energies ? OF_BELT * m->near->nbelts : 0;
    case BODY: return OF_BODY * m->nbodies;
    case SOURCES: break;
    }
    return 0;
}

static void put_bodies(const carom_model *m, carom_node *to) {
    for (int i = 0; i < m->nbodies; ++i, to += OF_BODY) {
        const body *b = &m->bodies[i];
        for (int k = 0; k < OF_BODY; ++k)
            to[k] = b->v >= 0 ? CAROM_NONE : k < 3 ? b->r[k] : k < 12 ? b->R[k - 3] : b->angle;
    }
}

static bool gather(const carom_model *m, bool energies, roots *x) {
    for (int s = 0; s < SOURCES; ++s) x->at[s + 1] = x->at[s] + count(m, energies, (source)s);
    x->node = malloc(((size_t)x->at[SOURCES] + 1) * sizeof *x->node);
    if (!x->node) return false;
    const carom_node energy[2] = {m->kinetic, m->potential},
                     *from[SOURCES] = {energy,    m->mass.node, m->f,   NULL,
                                       m->W.node, m->w.node,    m->friction.node, m->near ? m->near->belts : NULL,
                                       NULL};
    for (int s = 0; s < SOURCES; ++s)
        if (from[s] && x->at[s + 1] > x->at[s])
            memcpy(x->node + x->at[s], from[s], (size_t)(x->at[s + 1] - x->at[s]) * sizeof *x->node);
    for (int id = 0; id < m->ne + m->nc; ++id) x->node[x->at[GAP] + id] = m->links[id].gap;
    put_bodies(m, x->node + x->at[BODY]);
    return true;
}

int carom_model_roots(const carom_model *m, bool energies, int **list) {
    roots x = {0};
    if (!gather(m, energies, &x)) return -1;
    int n = 0;
    for (int i = 0; i < x.at[SOURCES]; ++i)
        if (x.node[i] >= 0) x.node[n++] = x.node[i];
    *list = x.node;
    return n;
}

// The contact whose friction is number k of those that vary.
static const char *friction_of(const carom_model *m, int k) {
    for (int c = 0; c < m->nc; ++c)
        if (m->friction.of && m->contacts[c].friction_varies && m->friction.of[c] == k)
            return carom_model_constraint(m, m->ne + c);
    return "?";
}

// The constraint that direction d belongs to.
static const char *directed(const carom_model *m, int d) {
    int id = 0;
    while (id + 1 < m->ne + m->nc && m->links[id + 1].dir <= d) ++id;
    return carom_model_constraint(m, id);
}

static void describe(const carom_model *m, const roots *x, int first, char *text, size_t size) {
    int s = 0;
    while (first >= x->at[s + 1]) ++s;
    const int k = first - x->at[s], i = s == FORCE ? carom_model_visible(m, k) : -1;
    switch ((source)s) {
    case ENERGY: snprintf(text, size, "an energy"); break;
    case MASS: snprintf(text, size, "the mass matrix"); break;
    case FORCE:
        i < 0 ? snprintf(text, size, "a force")
              : snprintf(text, size, "the force along '%.60s'", carom_model_freedom(m, i));
        break;
    case GAP: snprintf(text, size, "the gap of '%.60s'", carom_model_constraint(m, k)); break;
    case DIRECTION: snprintf(text, size, "the directions of '%.60s'", directed(m, m->W.j[k])); break;
    case RATE: snprintf(text, size, "the rate of '%.60s'", directed(m, m->w.i[k])); break;
    case FRICTION: snprintf(text, size, "the friction of '%.60s'", friction_of(m, k / CAROM_FRICTION_LAW)); break;
    case BELT: snprintf(text, size, "the surface velocity of a shape"); break;
    case BODY: snprintf(text, size, "the motion of the body '%.60s'", m->bodies[k / OF_BODY].name); break;
    case SOURCES: break;
    }
}

// A parameter given by an expression may follow others.
static bool is_number(const carom_datum *d) {
    char *end = NULL;
    if (d->kind == CAROM_NUMBER) return true;
    if (d->kind != CAROM_TEXT || d->length == 0) return false;
    carom_number(d->text, &end);
    return *end == 0;
}

carom_status carom_model_forcing(const carom_model *m, int free_one, carom_forcing *to, carom_error *err) {
    roots x = {0};
    carom_time_use use = {.first = -1};
    *to = (carom_forcing){.forced = false};
    bool *changes = calloc((size_t)m->np_own + 1, sizeof *changes);
    for (int i = 0; i < m->np_own && changes && free_one >= 0; ++i)
        changes[i] = i == free_one || !is_number(&m->mech->parameters.item[i]);
    carom_status status = changes && gather(m, false, &x) ? carom_graph_time(m->graph, x.at[SOURCES], x.node,
                                                                             m->parameter, changes, m->np_own, &use)
                                                          : CAROM_NO_MEMORY;
    free(changes);
    if (status == CAROM_OK && use.first >= 0) {
        to->forced = true, to->period = carom_time_period(&use);
        describe(m, &x, use.first, to->where, sizeof to->where);
    }
    if (status == CAROM_OK &&
        m->signal.ncontrols > 0) { // it acts at instants of its own, whether its law has time in it or not
        const double other = to->forced ? to->period : m->signal.sampler[0].sample;
        to->forced = true, to->period = other;
        for (int k = 0; k < m->signal.ncontrols; ++k) {
            const double cycles = to->period / m->signal.sampler[k].sample;
            if (!(fabs(cycles - round(cycles)) <= WHOLE * cycles && cycles > 0.5)) to->period = 0;
        }
        if (use.first < 0) snprintf(to->where, sizeof to->where, "the controller '%.60s'", m->signal.sampler[0].name);
    }
    free(x.node);
    return status == CAROM_OK ? CAROM_OK
                              : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the expressions of the model");
}

bool carom_forcing_repeats(const carom_forcing *x, double T, bool *known) {
    *known = !x->forced || x->period > 0;
    if (!x->forced) return true;
    const double times = x->period > 0 ? T / x->period : 0;
    return *known && times > 0.5 && fabs(times - round(times)) <= WHOLE * times;
}
