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
    CAROM_TRY(base_of(model)->motion(base_of(model)->model, work, t, q, v, M, f, all));
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
    CAROM_TRY(base_of(model)->motion_directions(base_of(model)->model, work, t, q, v, M, f, all, &same));
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
    return base_of(model)->power_along(base_of(model)->model, work, t, q, v, weight, external, damping);
}
static carom_status works(const void *model, void *work, double t, const double *q, const double *v, double *given) {
    return base_of(model)->works(base_of(model)->model, work, t, q, v, given);
}
static carom_status hold(const void *model, void *work, carom_hold what, double t, const double *q) {
    return base_of(model)->hold(base_of(model)->model, work, what, t, q);
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
    return base_of(model)->kinks(base_of(model)->model, work, t, q, v, k);
}
static double jump(const void *model, void *work, double t_0, double t_1) {
    return base_of(model)->jump(base_of(model)->model, work, t_0, t_1);
}
static double even(const void *model, void *work, const double *run, double share, double t_0, double t_1) {
    return base_of(model)->even(base_of(model)->model, work, run, share, t_0, t_1);
}
static double restitution(const void *model, void *work, int contact, double speed) {
    return base_of(model)->restitution(base_of(model)->model, work, contact, speed);
}
static carom_status bounds(const void *model, void *work, double t_0, double t_1, const double *q_0, const double *q_1,
                           const double *v_0, const double *v_1, const double *v_off, double *least, double *slowest,
                           double *fastest, double *turn) {
    return base_of(model)->bounds(base_of(model)->model, work, t_0, t_1, q_0, q_1, v_0, v_1, v_off, least, slowest,
                                  fastest, turn);
}

static carom_status force_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                 const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                 double *mid, double *slope, double *off) {
    return base_of(model)->force_bounds(base_of(model)->model, work, t_0, t_1, q_0, q_1, v_0, v_1, v_off, mid, slope,
                                        off);
}
static bool explain(const void *model, void *work, char *text, size_t size) {
    return base_of(model)->explain(base_of(model)->model, work, text, size);
}
static void inputs(const void *model, void *work, const double *x) {
    base_of(model)->inputs(base_of(model)->model, work, x);
}
static carom_status sample(const void *model, void *work, int k, bool effect, double t, const double *q,
                           const double *v, double *x) {
    return base_of(model)->sample(base_of(model)->model, work, k, effect, t, q, v, x);
}
static carom_status conditions(const void *model, void *work, double t, const double *q, const double *v, double *c) {
    return base_of(model)->conditions(base_of(model)->model, work, t, q, v, c);
}
static void switches(const void *model, void *work, const double *on) {
    base_of(model)->switches(base_of(model)->model, work, on);
}
static void switched(const void *model, int i, bool on, double *v) {
    base_of(model)->switched(base_of(model)->model, i, on, v);
}
static const char *switch_name(const void *model, int i) {
    return base_of(model)->switch_name(base_of(model)->model, i);
}
static size_t list_work(const void *model, const carom_list *of) {
    return base_of(model)->list_work(base_of(model)->model, of);
}
static double strays(const void *model, const void *work, const carom_way *motion) {
    return base_of(model)->strays(base_of(model)->model, work, motion);
}
static carom_status list(const void *model, carom_list *to, double t, const double *q, const double *v, double h) {
    return base_of(model)->list(base_of(model)->model, to, t, q, v, h);
}
static void adopt(const void *model, void *work, carom_list *of) {
    base_of(model)->adopt(base_of(model)->model, work, of);
}
static long long known_as(const void *model, const carom_list *of, int slot) {
    return base_of(model)->known_as(base_of(model)->model, of, slot);
}

void carom_independent_make(carom_independent *I, const carom_system *base, int k) {
    const int constraints = base->ne + base->nc;
    carom_system *s = &I->sys;
    *s = *base; // sizes, flags, shapes, contacts
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
    s->power_along = base->power_along ? power_along : NULL;
    s->motion = base->motion ? motion : NULL;
    s->motion_directions = base->motion_directions ? motion_directions : NULL;
    s->free_motion = NULL;
    s->works = base->works ? works : NULL;
    s->hold = base->hold ? hold : NULL;
    s->friction = base->friction ? friction : NULL;
    s->kinks = base->kinks ? kinks : NULL;
    s->jump = base->jump ? jump : NULL;
    s->even = base->even ? even : NULL;
    s->restitution = base->restitution ? restitution : NULL;
    s->bounds = base->bounds ? bounds : NULL;
    s->force_bounds = base->force_bounds ? force_bounds : NULL;
    s->explain = base->explain ? explain : NULL;
    s->inputs = base->inputs ? inputs : NULL;
    s->sample = base->sample ? sample : NULL;
    s->conditions = base->conditions ? conditions : NULL;
    s->switches = base->switches ? switches : NULL;
    s->switched = base->switched ? switched : NULL;
    s->switch_name = base->switch_name ? switch_name : NULL;
    s->list_work = base->list_work ? list_work : NULL;
    s->list = base->list ? list : NULL;
    s->strays = base->strays ? strays : NULL;
    s->hold_list = NULL; // what the simulation wants of it is hold
    s->adopt = base->adopt ? adopt : NULL;
    s->known_as = base->known_as ? known_as : NULL;
    s->reach = NULL; // there are constraints
    s->rates = NULL; // these two are asked of the base, where all constraints count
    s->observe = NULL;
}
