// independent.c: see independent.h.
#include "system/independent.h"

static const carom_system *base_of(const void *model) { return ((const carom_independent *)model)->rows.sys; }

// -- constraints: other numbers ------------------------------------------------------------------------------

static double *all_gaps(const carom_independent *I, void *work) {
    double *g = (double *)(void *)((unsigned char *)work + I->scratch);
    carom_zero(g, I->rows.sys->ne + I->rows.sys->nc);
    return g;
}

static void pick(const carom_independent *I, double *g, const double *all) {
    for (int id = 0; id < I->sys.ne + I->sys.nc; ++id) g[id] = all[carom_independent_id(I, id)];
}

// L with the numbers of the base; columns are L's.
static carom_local renumbered(const carom_independent *I, void *work, const carom_local *L) {
    carom_local same = *L;
    same.id = (int *)(void *)((unsigned char *)work + I->scratch) + 2 * (I->rows.sys->ne + I->rows.sys->nc);
    for (int b = 0; b < L->nb; ++b) same.id[b] = carom_independent_id(I, L->id[b]);
    return same;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    const carom_independent *I = model;
    double *all = all_gaps(I, work);
    CAROM_TRY(base_of(model)->gaps(base_of(model)->model, work, t, q, all));
    pick(I, g, all);
    return CAROM_OK;
}

static carom_status motion(const void *model, void *work, double t, const double *q, const double *v, carom_matrix M,
                           double *f, double *g) {
    const carom_independent *I = model;
    double *all = g ? all_gaps(I, work) : NULL;
    CAROM_TRY(base_of(model)->speed->motion(base_of(model)->model, work, t, q, v, M, f, all));
    if (g) pick(I, g, all);
    return CAROM_OK;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    carom_local same = renumbered(model, work, L);
    return base_of(model)->directions(base_of(model)->model, work, t, q, &same);
}

static carom_status motion_directions(const void *model, void *work, double t, const double *q, const double *v,
                                      carom_matrix M, double *f, double *g, carom_local *L) {
    const carom_independent *I = model;
    carom_local same = renumbered(model, work, L);
    double *all = g ? all_gaps(I, work) : NULL;
    CAROM_TRY(base_of(model)->speed->motion_directions(base_of(model)->model, work, t, q, v, M, f, all, &same));
    if (g) pick(I, g, all);
    return CAROM_OK;
}

static carom_status curvature(const void *model, void *work, double t, const double *q, const double *v,
                              const carom_local *L, double *kappa) {
    const carom_local same = renumbered(model, work, L);
    return base_of(model)->curvature(base_of(model)->model, work, t, q, v, &same, kappa);
}

static carom_status reaction_gradient(const void *model, void *work, double t, const double *q, const carom_local *L,
                                      const double *lambda, double s, carom_matrix D) {
    const carom_local same = renumbered(model, work, L);
    return base_of(model)->reaction_gradient(base_of(model)->model, work, t, q, &same, lambda, s, D);
}

static carom_status rate_gradient(const void *model, void *work, double t, const double *q, const double *v,
                                  const carom_local *L, carom_columns *D) {
    const carom_local same = renumbered(model, work, L);
    return base_of(model)->rate_gradient(base_of(model)->model, work, t, q, v, &same, D);
}

// -- the rest is handed on -------------------------------------------------------------------------------------

static void work_init(const void *model, void *work) { base_of(model)->work_init(base_of(model)->model, work); }
static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    return base_of(model)->mass(base_of(model)->model, work, t, q, M);
}
static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    return base_of(model)->force(base_of(model)->model, work, t, q, v, f);
}
static carom_status tangent(const void *model, void *work, double t, const double *q, const double *v, carom_matrix K,
                            carom_matrix C) {
    return base_of(model)->tangent(base_of(model)->model, work, t, q, v, K, C);
}
static carom_status mass_gradient(const void *model, void *work, double t, const double *q, const double *x, double s,
                                  carom_matrix D) {
    return base_of(model)->mass_gradient(base_of(model)->model, work, t, q, x, s, D);
}
static void move(const void *model, double *q1, const double *q0, double h, const double *v) {
    base_of(model)->move(base_of(model)->model, q1, q0, h, v);
}
static void lift(const void *model, double *dx, const double *x, const double *v) {
    base_of(model)->lift(base_of(model)->model, dx, x, v);
}
static carom_status energy(const void *model, void *work, double t, const double *q, const double *v, double *kinetic,
                           double *potential) {
    return base_of(model)->energy(base_of(model)->model, work, t, q, v, kinetic, potential);
}
static carom_status power(const void *model, void *work, double t, const double *q, const double *v, double *external,
                          double *damping) {
    return base_of(model)->power(base_of(model)->model, work, t, q, v, external, damping);
}
static carom_status power_along(const void *model, void *work, double t, const double *q, const double *v,
                                double weight, double *external, double *damping) {
    return base_of(model)->accounts->power_along(base_of(model)->model, work, t, q, v, weight, external, damping);
}
static carom_status works(const void *model, void *work, double t, const double *q, const double *v, double *given) {
    return base_of(model)->accounts->works(base_of(model)->model, work, t, q, v, given);
}
static carom_status hold(const void *model, void *work, carom_freeze what, double t, const double *q) {
    return base_of(model)->events->freeze(base_of(model)->model, work, what, t, q);
}
static carom_status hold_searched(const void *model, void *work, carom_freeze what, double t, const double *q) {
    return base_of(model)->contact_list->freeze_searched(base_of(model)->model, work, what, t, q);
}
static carom_status friction(const void *model, void *work, double t, const double *q, const double *v,
                             const double *force, double *law) {
    const carom_independent *I = model;
    const int kept = I->sys.ne, k = I->rows.k;
    double *all = all_gaps(I, work); // there is room for all directions
    for (int id = 0; force && id < kept; ++id) all[I->rows.order[id]] = force[id];
    if (force) carom_copy(all + kept + k, force + kept, I->ndir - kept - k);
    return base_of(model)->friction(base_of(model)->model, work, t, q, v, force ? all : NULL, law);
}
static carom_status kinks(const void *model, void *work, double t, const double *q, const double *v, double *k) {
    return base_of(model)->events->kinks(base_of(model)->model, work, t, q, v, k);
}
static double jump(const void *model, void *work, double t_0, double t_1) {
    return base_of(model)->events->next_jump(base_of(model)->model, work, t_0, t_1);
}
static double even(const void *model, void *work, const double *run, double share, double t_0, double t_1) {
    return base_of(model)->events->limit_step(base_of(model)->model, work, run, share, t_0, t_1);
}
static double restitution(const void *model, void *work, int contact, double speed) {
    return base_of(model)->restitution(base_of(model)->model, work, contact, speed);
}
static carom_status bounds(const void *model, void *work, double t_0, double t_1, const double *q_0, const double *q_1,
                           const double *v_0, const double *v_1, const double *v_off, double *least, double *slowest,
                           double *fastest, double *turn) {
    return base_of(model)->events->gap_bounds(base_of(model)->model, work, t_0, t_1, q_0, q_1, v_0, v_1, v_off, least,
                                              slowest, fastest, turn);
}

static carom_status force_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                 const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                 double *mid, double *slope, double *off) {
    return base_of(model)->events->force_bounds(base_of(model)->model, work, t_0, t_1, q_0, q_1, v_0, v_1, v_off, mid,
                                                slope, off);
}
static bool explain(const void *model, void *work, char *text, size_t size) {
    return base_of(model)->explain(base_of(model)->model, work, text, size);
}
static void inputs(const void *model, void *work, const double *x) {
    base_of(model)->signals->set(base_of(model)->model, work, x);
}
static carom_status sample(const void *model, void *work, int k, bool effect, double t, const double *q,
                           const double *v, double *x) {
    return base_of(model)->signals->sample(base_of(model)->model, work, k, effect, t, q, v, x);
}
static carom_status conditions(const void *model, void *work, double t, const double *q, const double *v, double *c) {
    return base_of(model)->conditional->evaluate(base_of(model)->model, work, t, q, v, c);
}
static void switches(const void *model, void *work, const double *on) {
    base_of(model)->conditional->set(base_of(model)->model, work, on);
}
static void switched(const void *model, int i, bool on, double *v) {
    base_of(model)->conditional->velocities(base_of(model)->model, i, on, v);
}
static const char *switch_name(const void *model, int i) {
    return base_of(model)->conditional->name(base_of(model)->model, i);
}
static size_t list_work(const void *model, const carom_list *of) {
    return base_of(model)->contact_list->work_size(base_of(model)->model, of);
}
static double strays(const void *model, const void *work, const carom_way *motion) {
    return base_of(model)->contact_list->margin_for(base_of(model)->model, work, motion);
}
static carom_status list(const void *model, carom_list *to, double t, const double *q, const double *v, double h) {
    return base_of(model)->contact_list->search(base_of(model)->model, to, t, q, v, h);
}
static void adopt(const void *model, void *work, carom_list *of) {
    base_of(model)->contact_list->adopt(base_of(model)->model, work, of);
}
static long long known_as(const void *model, const carom_list *of, int slot) {
    return base_of(model)->contact_list->number_of(base_of(model)->model, of, slot);
}

void carom_independent_make(carom_independent *I, const carom_system *base, int k) {
    const int constraints = base->ne + base->nc;
    carom_system *s = &I->sys;
    carom_extensions *e = &I->extensions;
    *s = *base; // sizes, flags, shapes, contacts
    carom_system_extend(s, e);
    s->ne = base->ne - k;
    s->nrates = 0; // the rows that are kept have an order of their own
    s->model = I;
    I->scratch = (base->work_size + 63) & ~(size_t)63;
    I->ndir = 0;
    for (int id = 0; id < constraints; ++id) I->ndir += carom_system_recorded(base, id);
    s->work_size = I->scratch + (size_t)I->ndir * sizeof(double) + (size_t)constraints * sizeof(int);
    s->work_init = base->work_init ? work_init : NULL;
    s->mass = mass;
    s->force = force;
    s->gaps = gaps;
    s->directions = directions;
    s->curvature = base->curvature ? curvature : NULL;
    s->tangent = base->tangent ? tangent : NULL;
    s->mass_gradient = base->mass_gradient ? mass_gradient : NULL;
    s->reaction_gradient = base->reaction_gradient ? reaction_gradient : NULL;
    s->rate_gradient = base->rate_gradient ? rate_gradient : NULL;
    s->move = base->move ? move : NULL;
    s->lift = base->lift ? lift : NULL;
    s->energy = base->energy ? energy : NULL;
    s->power = base->power ? power : NULL;
    e->accounts.power_along = base->accounts->power_along ? power_along : NULL;
    e->speed.motion = base->speed->motion ? motion : NULL;
    e->speed.motion_directions = base->speed->motion_directions ? motion_directions : NULL;
    e->speed.free_motion = NULL;
    e->accounts.works = base->accounts->works ? works : NULL;
    e->events.freeze = base->events->freeze ? hold : NULL;
    s->friction = base->friction ? friction : NULL;
    e->events.kinks = base->events->kinks ? kinks : NULL;
    e->events.next_jump = base->events->next_jump ? jump : NULL;
    e->events.limit_step = base->events->limit_step ? even : NULL;
    s->restitution = base->restitution ? restitution : NULL;
    e->events.gap_bounds = base->events->gap_bounds ? bounds : NULL;
    e->events.force_bounds = base->events->force_bounds ? force_bounds : NULL;
    s->explain = base->explain ? explain : NULL;
    e->signals.set = base->signals->set ? inputs : NULL;
    e->signals.sample = base->signals->sample ? sample : NULL;
    e->conditions.evaluate = base->conditional->evaluate ? conditions : NULL;
    e->conditions.set = base->conditional->set ? switches : NULL;
    e->conditions.velocities = base->conditional->velocities ? switched : NULL;
    e->conditions.name = base->conditional->name ? switch_name : NULL;
    e->list.work_size = base->contact_list->work_size ? list_work : NULL;
    e->list.search = base->contact_list->search ? list : NULL;
    e->list.margin_for = base->contact_list->margin_for ? strays : NULL;
    e->list.freeze = NULL; // what the simulation wants of it is hold
    e->list.freeze_searched = base->contact_list->freeze_searched ? hold_searched : NULL;
    e->list.adopt = base->contact_list->adopt ? adopt : NULL;
    e->list.number_of = base->contact_list->number_of ? known_as : NULL;
    e->events.global_bounds = NULL; // there are constraints
    e->speed.rates = NULL; // these two are asked of the base, where all constraints count
    e->speed.observe = NULL;
}
