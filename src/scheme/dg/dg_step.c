// dg_step.c: one step of a discontinuous Galerkin scheme of degree m: which contacts are closed at which stage, the
// stages, the impulse at the end.
//
// Spec: docs/METHODS.md, section DG.
#include "base/tolerance.h"
#include "scheme/dg/dg_step.h"
#include "scheme/impact.h"
#include "system/system.h"
#include <math.h>

// -- sets ------------------------------------------------------------------------------------------------------

static int constraints(const carom_step *s) { return s->sys->ne + s->sys->nc; }

void carom_dg_directions(carom_dg_work *w, const carom_system *sys) {
    for (int id = 0; id < sys->ne + sys->nc; ++id)
        w->start[id + 1] = w->start[id] + carom_system_directions(sys, id);
}

// Normal component of u_0.
static double approach(const carom_dg_work *w, int id) { return w->u_0[w->start[id]]; }

// u_0 = W(q_0)'v_0 + w of every constraint, once per step and only when needed.
static carom_status before(carom_dg_work *w, carom_step *s) {
    if (w->have_u_0) return CAROM_OK;
    carom_close_kinds(s, &w->L, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
    carom_local_velocity(w->u_0, &w->L, s->v);
    w->have_u_0 = true;
    return CAROM_OK;
}

// (CL-5)  A contact of L that meets a kink on the way to q, at t_0 + h, approaches with the velocity along the
//         directions there, and does not rest.
static carom_status kinks(carom_dg_work *w, carom_step *s, carom_local *L, const double *q) {
    CAROM_TRY(carom_directions(s, L, s->t + s->h, q));
    for (int k = 0; k < L->nb; ++k) carom_copy(w->u + L->at[k], w->u_0 + w->start[L->id[k]], L->at[k + 1] - L->at[k]);
    CAROM_TRY(carom_velocity_before(s, w->u, L, (carom_evaluation_point){.t = s->t + s->h, .q = q, .v = s->v}));
    for (int k = 0; k < L->nb; ++k) {
        const int id = L->id[k];
        const double *u = w->u + L->at[k];
        w->kinked[id] = u[0] < 0 && u[0] != approach(w, id);
        if (w->kinked[id]) carom_copy(w->u_0 + w->start[id], u, L->at[k + 1] - L->at[k]);
    }
    return CAROM_OK;
}

// The contacts that are closed at t_0, on the way to q_0 + h v_0; and at t_0, where a wall may have changed its
// velocity (CL-4).
static carom_status kinks_of_closed(carom_dg_work *w, carom_step *s) {
    carom_dg_block *b = w->dg.block;
    bool some;
    carom_close_these(s, &b->L, w->closed_0 + s->sys->ne);
    carom_move(s, b->q, s->q, s->h, s->v);
    CAROM_TRY(kinks(w, s, &b->L, b->q));
    if (!s->jumped) return CAROM_OK;
    for (int k = 0; k < b->L.nb; ++k) w->u[b->L.at[k]] = approach(w, b->L.id[k]);
    CAROM_TRY(carom_struck(s, &some, w->g, &b->L, w->u, (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v}));
    for (int k = 0; some && k < b->L.nb; ++k) w->kinked[b->L.id[k]] = w->kinked[b->L.id[k]] || w->g[k] != 0;
    return CAROM_OK;
}

// D+, whose law compares with u_0: those that close later, on the way to the end of the motion without them.
static carom_status kinks_ahead(carom_dg_work *w, carom_step *s) {
    const carom_dg_block *b = w->dg.block + w->m;
    const int ne = s->sys->ne, all = constraints(s);
    bool some = false;
    if (s->sys->nc == 0 || (s->sys->flags & CAROM_CONSTANT_DIRECTIONS && s->sys->flags & CAROM_TIMELESS_GAPS))
        return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g, b->t, b->q));
    for (int id = ne; id < all; ++id) {
        if (w->closed_0[id]) w->g[id] = 1;
        some = some || carom_closed(s, w->g[id]);
    }
    if (!some) return CAROM_OK;
    CAROM_TRY(before(w, s));
    carom_close(s, &w->L, w->g);
    return kinks(w, s, &w->L, b->q);
}

// Is the contact at rest: no velocity but the rounding of W_k'v?
static bool at_rest(const carom_dg_work *w, const carom_step *s, int id) {
    return fabs(approach(w, id)) <=
           fmax(s->tol * fmax(s->scale, carom_local_magnitude(&w->L, w->start[id], s->v)), carom_impulse_rounding(s));
}

// (DG-17)  slides: |u_T| > 4 tol speed + 16 r + 64 eps max(sum |W_N v|, sum |W_T v|), more than the contact solver and
//          rounding leave of sticking: what falls straight has no slip but what rounding makes of its fall
static bool slides(const carom_step *s, const carom_local *L, int first, const double *u, int tangents,
                   const double *v) {
    double rounding = 0;
    for (int i = -1; i < tangents; ++i)
        rounding =
            fmax(rounding, CAROM_ROUNDING_SOLVED * (carom_local_magnitude(L, first + i, v) + fabs(L->w[first + i])));
    return carom_length(u, tangents) > carom_velocity_left(s) + rounding;
}

// Which constraints of the block slide, and where to: as at t_0 (u NULL), or by the velocities u of its set.  Lasting
// contacts slide through all stages as they do at t_0, in directions that follow their velocity until it reverses.
static void decide(const carom_dg_work *w, const carom_step *s, carom_dg_block *b, const double *u) {
    for (int k = s->sys->ne; w->rubs && k < b->L.nb; ++k) {
        const int id = b->L.id[k], first = b->L.at[k] + 1, tangents = b->L.at[k + 1] - first;
        const bool as_before = !u || w->carries[id];
        const double *u_T = as_before ? w->u_0 + w->start[id] + 1 : u + first;
        b->slides[k] =
            tangents > 0 && !w->jammed && (as_before ? w->slips[id] : slides(s, &b->L, first, u_T, tangents, b->v));
        if (!b->slides[k]) continue;
        const double size = carom_length(u_T, tangents);
        for (int i = 0; i < tangents; ++i) b->d[first + i] = u_T[i] / size;
        if (u) carom_dg_follow(b, k, u);
    }
}

// The same for the impulse: lasting contacts that slide to the end do so there too, u NULL or their velocities then.
// All others, those that have come to rest or turned among them, obey Coulomb's law.
static void decide_end(const carom_dg_work *w, const carom_step *s, const double *u) {
    carom_dg_block *e = w->dg.block + w->m + 1;
    decide(w, s, e, u);
    for (int k = s->sys->ne; k < e->L.nb; ++k)
        if (!w->lasting[e->L.id[k]] || w->turns[e->L.id[k]]) e->slides[k] = false;
}

// Does a contact that slides to the end come to rest, or turn, with velocity v there?  (FV-1)  Then the static
// coefficient decides whether it stays; if it goes on, it has that of its slip.
static bool reverses(carom_dg_work *w, const carom_step *s, const double *v) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    bool some = false;
    if (!w->rubs) return false;
    carom_local_velocity(w->u, &e->L, v);
    for (int k = s->sys->ne; k < e->L.nb; ++k) {
        const int first = e->L.at[k] + 1, tangents = e->L.at[k + 1] - first;
        const int id = e->L.id[k];
        if (w->stays[id] && carom_length(w->u + first, tangents) > carom_velocity_left(s))
            w->stays[id] = false, some = true;
        if (!e->slides[k] || carom_dot(w->u + first, e->d + first, tangents) > 0) continue;
        some = w->turns[id] = w->stays[id] = true;
    }
    return some;
}

// -- one stage whose state is known ------------------------------------------------------------------------------

// (DG-7)  M_l a_l = f_l + W_l lambda_l,   0 <= lambda_l _|_ W_l'a_l + kappa_l >= 0 on the set of the block
static carom_status explicit_stage(carom_dg_work *w, carom_step *s, int l) {
    carom_dg_block *b = w->dg.block + l;
    CAROM_TRY(carom_free_motion(s, &w->F, b->a, NULL, b->t, b->q, b->v));
    if (b->L.nb == 0) return CAROM_OK;
    CAROM_TRY(carom_directions(s, &b->L, b->t, b->q));
    CAROM_TRY(carom_curvature(s, s->c, &b->L, b->t, b->q, b->v));
    const int n = b->L.at[b->L.nb];
    carom_problem_form(s, &b->L, &b->L, &w->F, 1);
    for (int k = 0; k < n; ++k) s->c[k] = s->h * (s->c[k] + carom_column_dot(&b->L.W, k, b->a));
    for (int c = s->sys->ne; c < b->L.nb; ++c)
        for (int k = b->L.at[c] + 1; k < b->L.at[c + 1]; ++k) s->c[k] += w->slow[w->start[b->L.id[c]] + k - b->L.at[c]];
    CAROM_TRY(carom_dg_react(s, b));
    for (int k = 0; k < n; ++k) b->lambda[k] = s->p[k] / s->h, b->row[k] = s->u[k];
    carom_problem_apply(s, b->a, 1 / s->h);
    return CAROM_OK;
}

// -- the start of the step ------------------------------------------------------------------------------------------

// (DG-18)  in space, |u_T| <= 4 h |W_T'M^-1 W lambda_0|: friction can turn the direction of sliding within a few steps,
//          and where it points is a matter of Coulomb's law and not of u_T at t_0 alone.  Such contacts obey that law
//          with the rows u_T0 + h (W_T'a + kappa_T).  *some: there are any.
static void slow(carom_dg_work *w, carom_step *s, bool *some) {
    static const double FEW = 4; // steps, as in the equation above
    const carom_local *L = &w->dg.block->L;
    double *a = w->v_1;
    *some = false;
    for (int k = s->sys->ne; w->rubs && k < L->nb; ++k)
        *some = *some || (w->slips[L->id[k]] && L->at[k + 1] - L->at[k] > 2);
    if (!*some) return;
    *some = false;
    carom_zero(a, s->sys->nv);
    carom_problem_apply(s, a, 1 / s->h);
    for (int k = s->sys->ne; k < L->nb; ++k) {
        const int id = L->id[k], first = L->at[k] + 1, tangents = L->at[k + 1] - first;
        if (tangents < 2 || !w->slips[id]) continue;
        for (int i = 0; i < tangents; ++i) w->u[i] = carom_column_dot(&L->W, first + i, a);
        if (carom_length(w->u_0 + w->start[id] + 1, tangents) > FEW * s->h * carom_length(w->u, tangents)) continue;
        w->slips[id] = false;
        carom_copy(w->slow + w->start[id] + 1, w->u_0 + w->start[id] + 1, tangents);
        *some = true;
    }
}

// Contacts that are closed at t_0, and joints.
static int begun(const carom_dg_work *w) { return w->dg.block[0].L.nb; }

// First guess of the stages: the acceleration at t_0, no jump.  Where the last steps go on (NEW-7), it changes linearly
// to their mean, a_0 + 2 tau ((v_1 - v_0)/h - a_0).
static void guess(carom_dg_work *w, const carom_step *s) {
    const int nv = s->sys->nv;
    const bool on = carom_past_continue(&w->past, s, begun(w), w->v_1, w->p_past);
    for (int l = 0; l <= w->m; ++l) {
        const double tau = l == w->m ? 1 : w->dg.c.tau[l];
        carom_copy(w->dg.block[l].a, w->a_0, nv);
        for (int i = 0; on && i < nv; ++i)
            w->dg.block[l].a[i] += 2 * tau * ((w->v_1[i] - s->v[i]) / s->h - w->a_0[i]);
    }
    carom_zero(w->dg.block[w->m + 1].a, nv);
}

// (DG-8)  closed and not opening at t_0:  I_0 = { j : kept, or g_j <= 0 and u_j <= 0 },  lambda_0 on it.
//         Carrying: bilateral constraints and those of I_0 at rest that do not open, lambda_0j > 0 or h u'_0j <= 4 tol
//         speed.
static carom_status begin(carom_dg_work *w, carom_step *s) {
    carom_dg_block *b = w->dg.block;
    const int ne = s->sys->ne, all = constraints(s);
    bool any = false, touches = false;
    w->have_u_0 = w->plastic = false;
    if (s->renumbers) carom_dg_directions(w, s->sys);
    carom_zero(w->slow, w->start[all]);
    CAROM_TRY(carom_gaps_before(s, w->g));
    CAROM_TRY(carom_close_place(s, &w->L, w->g, (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v}));
    for (int id = 0; id < all; ++id) {
        w->closed_0[id] = id < ne || w->kept[id] != 0 || carom_closed(s, w->g[id]);
        any = any || w->closed_0[id];
        touches = touches || (id >= ne && w->closed_0[id]);
        w->carries[id] = w->lasting[id] = w->kinked[id] = w->slips[id] = w->turns[id] = w->stays[id] = false;
    }
    if (any || w->jammed) CAROM_TRY(before(w, s));
    if (w->jammed) carom_copy(w->slow, w->u_0, w->start[all]); // tangents of contacts alone are read
    if (touches) CAROM_TRY(kinks_of_closed(w, s)); // joints have no kinks
    for (int id = 0; id < all; ++id) {
        w->still[id] = w->closed_0[id] && !w->kinked[id] && (id < ne || w->kept[id] != 0 || at_rest(w, s, id));
        w->lasting[id] = w->still[id] || (w->closed_0[id] && approach(w, id) <= 0);
        const int first = w->start[id] + 1, tangents = w->start[id + 1] - first;
        w->slips[id] =
            w->closed_0[id] && tangents > 0 && !w->jammed && slides(s, &w->L, first, w->u_0 + first, tangents, s->v);
    }
    carom_close_these(s, &b->L, w->lasting + ne);
    decide(w, s, b, NULL);

    b->t = s->t;
    carom_copy(b->q, s->q, s->sys->nq);
    carom_copy(b->v, s->v, s->sys->nv);
    CAROM_TRY(explicit_stage(w, s, 0));
    slow(w, s, &any);
    if (any) {
        decide(w, s, b, NULL);
        CAROM_TRY(explicit_stage(w, s, 0));
    }
    carom_zero(w->lambda_0, w->start[all]);
    for (int k = 0; k < b->L.nb; ++k) {
        const int id = b->L.id[k];
        carom_copy(w->lambda_0 + w->start[id], b->lambda + b->L.at[k], b->L.at[k + 1] - b->L.at[k]);
        w->carries[id] =
            w->still[id] && (id < ne || b->lambda[b->L.at[k]] > 0 || b->row[b->L.at[k]] <= carom_velocity_left(s));
    }
    for (int id = 0; id < all; ++id) w->lasting[id] = id >= ne && w->carries[id];
    carom_copy(w->a_0, b->a, s->sys->nv);
    guess(w, s);
    return CAROM_OK;
}

// (DG-11)  restitution of contact id in this step: none at rest, and none when it was closed all the time (rest=settle)
static bool settles(const carom_dg_work *w, const carom_step *s, int id) {
    return s->opt[CAROM_DG_REST] == 0 && approach(w, id) >= 0 && (w->plus || w->closed_0[id]);
}
static const carom_contact *restitutions(const carom_dg_work *w, const carom_step *s, int id) {
    static const carom_contact none = {0};
    return id < s->sys->ne || w->still[id] || w->plastic || settles(w, s, id) ? &none
                                                                              : s->sys->contacts + (id - s->sys->ne);
}
static double restitution(const carom_dg_work *w, const carom_step *s, int id) {
    const carom_contact *c = restitutions(w, s, id);
    return c->varies ? carom_restitution(s, id - s->sys->ne, approach(w, id)) : c->restitution;
}

// (DG-21)  Other laws than Newton's: -b of (IL-8), b the velocities that the impact of u leaves to the contacts it
//          strikes.  Joints and contacts at rest come to it without velocity, and may be struck by others.  The problem
//          is formed.
static carom_status bias_by_laws(carom_dg_work *w, carom_step *s, const double *u) {
    carom_dg_block *e = w->dg.block + w->m + 1;
    const carom_local *L = &e->L;
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], rows = L->at[b + 1] - L->at[b];
        carom_copy(w->u + L->at[b], u + L->at[b], rows);
        if (id < s->sys->ne || w->still[id]) w->u[L->at[b]] = 0;
        w->gives_none[b] = w->plastic || (!w->still[id] && id >= s->sys->ne && settles(w, s, id));
    }
    CAROM_TRY(carom_problem_bounce_from(s, L, w->u, w->gives_none));
    const double *after = s->impacts->b, none = 4 * s->tol * fmax(s->scale, carom_norm_max(w->u, L->at[L->nb]));
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int first = L->at[b];
        for (int k = first; k < L->at[b + 1]; ++k)
            w->bias[w->start[L->id[b]] + k - first] = k == first && fabs(after[k]) <= none ? 0 : -after[k];
        if (s->impacts->p[first] > 0) e->slides[b] = false; // Coulomb's law with all its rows
    }
    return CAROM_OK;
}

// e o u of the impulse's contacts, u by row of its set; with the problem formed where other laws act.
static carom_status set_bias(carom_dg_work *w, carom_step *s, const double *u) {
    const carom_local *L = &w->dg.block[w->m + 1].L;
    bool some = false;
    for (int b = 0; b < L->nb; ++b) {
        const carom_contact *e = restitutions(w, s, L->id[b]);
        double *bias = w->bias + w->start[L->id[b]];
        for (int k = L->at[b]; k < L->at[b + 1]; ++k)
            bias[k - L->at[b]] = s->impacts ? 0 : (k == L->at[b] ? e->restitution : e->tangential_restitution) * u[k];
        some = some || (L->id[b] >= s->sys->ne && !w->still[L->id[b]] && u[L->at[b]] < 0);
    }
    return s->impacts && some ? bias_by_laws(w, s, u) : CAROM_OK;
}

// Do the exceptions of (DG-11) give contacts of the impulse different coefficients?  Only then can contacts that oppose
// each other leave Newton's law without a solution, or with one that creates energy.
static bool mixed(const carom_dg_work *w, const carom_step *s) {
    const carom_local *L = &w->dg.block[w->m + 1].L;
    bool some = false, none = false;
    for (int k = 0; k < L->nb; ++k)
        if (L->id[k] >= s->sys->ne) *(restitution(w, s, L->id[k]) > 0 ? &some : &none) = true;
    return some && none;
}

// u_f = u(q_m, v_1 - w)
void carom_dg_free_velocity(carom_dg_work *w, const carom_step *s, const double *v_1) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    carom_local_velocity(w->u_f, &e->L, v_1);
    for (int k = 0; k < e->L.at[e->L.nb]; ++k) w->u_f[k] -= s->h * carom_column_dot(&e->L.W, k, e->a);
}

// Does the jump w create energy: more than walls that move give?  The velocities before it are those that its law
// compares with: that they differ from u_f by h a is no gain of the law.
static bool gains(const carom_dg_work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    double given = 0, size = 0;
    for (int k = 0; k < e->L.at[e->L.nb]; ++k) {
        const double p = s->h * e->lambda[k],
                     mean = 0.5 * (w->u_b[k] + w->u_f[k] + s->h * carom_column_dot(&e->L.W, k, e->a));
        given += p * mean;
        size += fabs(p);
    }
    return given > s->tol * s->scale * size; // with the velocities of this step: it may hold the first impact of the
                                             // run
}

// -- the stages -----------------------------------------------------------------------------------------------------

// (DG-9)  I_l = carrying, and, unless the step jams, those with g_j(q_l) <= 0 and u_j(q_l, v_l) <= 0; D+: not those
//         that bounce, e u_0 < 0. *changed: the set of block l changed.
static carom_status close_stage(carom_dg_work *w, carom_step *s, int l, bool *changed) {
    carom_dg_block *b = w->dg.block + l;
    const int ne = s->sys->ne, nc = s->sys->nc;
    CAROM_TRY(carom_gaps(s, w->g, b->t, b->q));
    if (l == w->m)
        CAROM_TRY(carom_close_together(s, &w->L, w->g, (carom_evaluation_point){.t = b->t, .q = b->q, .v = b->v}));
    bool fresh = false;
    for (int id = 0; id < ne + nc; ++id) {
        const bool candidate = id >= ne && !w->jammed && !w->carries[id] && carom_closed(s, w->g[id]);
        w->sign[id] = id < ne || w->carries[id] || candidate ? -1 : 1;
        fresh = fresh || candidate;
    }
    const int was = b->L.nb;
    if (fresh) {
        if (w->plus) CAROM_TRY(before(w, s));
        carom_close(s, &w->L, w->sign);
        CAROM_TRY(carom_directions(s, &w->L, b->t, b->q));
        carom_local_velocity(w->u, &w->L, b->v);
        for (int k = 0; k < w->L.nb; ++k) {
            const int id = w->L.id[k];
            if (id < ne || w->carries[id]) continue;
            const bool bounces = w->plus && restitution(w, s, id) * approach(w, id) < 0;
            if (w->u[w->L.at[k]] > 0 || bounces) w->sign[id] = 1;
        }
    }
    carom_close(s, &b->L, w->sign);
    *changed = *changed || b->L.nb != was;
    if (!w->rubs || b->L.nb == ne) return CAROM_OK;
    CAROM_TRY(carom_directions(s, &b->L, b->t, b->q));
    carom_local_velocity(w->u, &b->L, b->v);
    decide(w, s, b, w->u);
    return CAROM_OK;
}

// The set of the impulse: bilateral constraints, lasting contacts, and those with g_j(q_m) <= 0.
static void close_end(carom_dg_work *w, const carom_step *s) {
    for (int id = 0; id < constraints(s); ++id)
        if (id < s->sys->ne || w->carries[id]) w->g[id] = -1;
    carom_close(s, &w->dg.block[w->m + 1].L, w->g);
}

// Held at the end only where the last stage carries: an opening contact is not pulled.
static bool release(carom_dg_work *w, const carom_step *s) {
    const carom_dg_block *b = w->dg.block + w->m;
    bool changed = false;
    for (int k = 0; k < b->L.nb; ++k) {
        const int id = b->L.id[k];
        if (id < s->sys->ne || !w->lasting[id] || b->lambda[b->L.at[k]] > 0) continue;
        w->lasting[id] = false;
        changed = true;
    }
    return changed;
}

static carom_status stages_minus(carom_dg_work *w, carom_step *s, int *iterations) {
    carom_dg *dg = &w->dg;
    const int m = w->m;
    bool changed = false;
    if (m > 1) {
        for (int l = 1; l < m; ++l) {
            carom_close_these(s, &dg->block[l].L, w->carries + s->sys->ne);
            decide(w, s, dg->block + l, NULL);
        }
        CAROM_TRY(carom_dg_solve(dg, s, 1, m - 1, iterations));
        for (int l = 1; l < m; ++l) CAROM_TRY(close_stage(w, s, l, &changed));
        if (changed) CAROM_TRY(carom_dg_solve(dg, s, 1, m - 1, iterations));
    }
    carom_dg_move(dg, s, m, m, 0);
    CAROM_TRY(close_stage(w, s, m, &changed));
    CAROM_TRY(explicit_stage(w, s, m));
    carom_dg_end(dg, s, w->v_1);
    release(w, s);
    close_end(w, s); // the gaps are those of stage m
    return CAROM_OK;
}

// D+: the law compares with u_0.  Where other laws act, the impact is one at the end of the step as it was solved last.
static carom_status bias_plus(carom_dg_work *w, carom_step *s) {
    carom_dg_block *e = w->dg.block + w->m + 1;
    for (int b = 0; b < e->L.nb; ++b)
        carom_copy(w->u_b + e->L.at[b], w->u_0 + w->start[e->L.id[b]], e->L.at[b + 1] - e->L.at[b]);
    if (s->impacts && e->L.nb > 0) {
        CAROM_TRY(carom_mass_factor(s, &w->F, s->t + s->h, e->q));
        CAROM_TRY(carom_directions(s, &e->L, s->t + s->h, e->q));
        carom_problem_form(s, &e->L, &e->L, &w->F, 1);
    }
    return set_bias(w, s, w->u_b);
}

// All stages and the impulse, with Newton's law or, where that has no solution or creates energy, without restitution.
static carom_status solve_plus(carom_dg_work *w, carom_step *s, int *iterations) {
    carom_dg *dg = &w->dg;
    const int last = dg->block[w->m + 1].L.nb > 0 ? w->m + 1 : w->m;
    carom_status status = bias_plus(w, s);
    if (status == CAROM_OK) status = carom_dg_solve(dg, s, 0, last, iterations);
    if (status == CAROM_OK) carom_dg_free_velocity(w, s, dg->block[w->m].v);
    if (!(mixed(w, s) && (status == CAROM_RETRY || (status == CAROM_OK && gains(w, s))))) return status;
    w->plastic = true;
    CAROM_TRY(bias_plus(w, s));
    guess(w, s);
    return carom_dg_solve(dg, s, 0, last, iterations);
}

static carom_status stages_plus(carom_dg_work *w, carom_step *s, int *iterations) {
    carom_dg *dg = &w->dg;
    const int m = w->m;
    for (int l = 1; l <= m + 1; ++l) {
        carom_close_these(s, &dg->block[l].L, w->carries + s->sys->ne);
        decide(w, s, dg->block + l, NULL);
    }
    carom_zero(w->bias, w->start[constraints(s)]); // none of them bounces
    CAROM_TRY(carom_dg_solve(dg, s, 0, dg->block[m + 1].L.nb > 0 ? m + 1 : m, iterations));
    bool changed = reverses(w, s, dg->block[m].v);
    changed = release(w, s) || changed;
    CAROM_TRY(kinks_ahead(w, s));
    for (int l = 1; l <= m; ++l) CAROM_TRY(close_stage(w, s, l, &changed));
    const int was = dg->block[m + 1].L.nb;
    close_end(w, s); // the gaps are those of stage m
    if (dg->block[m + 1].L.nb == was && !changed) return CAROM_OK;
    CAROM_TRY(before(w, s));
    do { // each time a contact more turns
        decide_end(w, s, NULL);
        CAROM_TRY(solve_plus(w, s, iterations));
    } while (reverses(w, s, dg->block[m].v));
    return CAROM_OK;
}

// -- the impulse ------------------------------------------------------------------------------------------------------

// s_j = h sum_l beta_l lambda_lj of the constraints of the impulse; of those that slide to the end, friction along
// their last direction
static void transmitted(carom_dg_work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    const carom_local *L = &e->L;
    carom_zero(w->s, L->at[L->nb]);
    for (int l = 0; l <= w->m; ++l) {
        const carom_dg_block *b = w->dg.block + l;
        for (int k = 0, i = 0; k < b->L.nb; ++k) {
            while (i < L->nb && L->id[i] < b->L.id[k]) ++i;
            if (i < L->nb && L->id[i] == b->L.id[k])
                carom_axpy(w->s + L->at[i], s->h * w->dg.c.b[l], b->lambda + b->L.at[k], L->at[i + 1] - L->at[i]);
        }
    }
    for (int k = s->sys->ne; k < L->nb; ++k)
        for (int i = L->at[k] + 1; e->slides[k] && i < L->at[k + 1]; ++i)
            w->s[i] = -s->sys->contacts[L->id[k] - s->sys->ne].friction * w->s[L->at[k]] * e->d[i];
}

// (DG-10)  v_1 = v_0 + h sum beta_l a_l + M_m^-1 W_m p,   0 <= u_1 + e o u_m _|_ p >= 0,
//          lasting contacts: 0 <= u_1 _|_ p + h sum beta_l lambda_l >= 0, Coulomb's law likewise
static carom_status impulse_problem(carom_dg_work *w, carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    const carom_local *L = &e->L;
    carom_problem_form(s, L, L, &w->F, 1); // F is the mass of stage m, treated last
    CAROM_TRY(set_bias(w, s, w->u_b));
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) s->c[k] = w->u_f[k] + w->bias[w->start[L->id[b]] + k - L->at[b]];
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) s->u[k] = w->lasting[L->id[b]] ? w->s[k] : 0;
    carom_problem_subtract(s, s->u);
    CAROM_TRY(carom_dg_react(s, e));
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            if (w->lasting[L->id[b]]) s->p[k] -= w->s[k];
            e->lambda[k] = s->p[k] / s->h;
        }
    carom_zero(e->a, s->sys->nv);
    carom_problem_apply(s, e->a, 1 / s->h);
    return CAROM_OK;
}

// The impulse with Newton's law or, where that has no solution or creates energy, without restitution; v_1 with it.
static carom_status solve_impulse(carom_dg_work *w, carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    transmitted(w, s);
    const carom_status status = impulse_problem(w, s);
    if (mixed(w, s) && (status == CAROM_RETRY || (status == CAROM_OK && gains(w, s)))) {
        w->plastic = true;
        CAROM_TRY(impulse_problem(w, s));
    } else if (status != CAROM_OK) {
        return status;
    }
    carom_axpy(w->v_1, s->h, e->a, s->sys->nv);
    return CAROM_OK;
}

static carom_status impulse_minus(carom_dg_work *w, carom_step *s) {
    carom_dg_block *e = w->dg.block + w->m + 1;
    if (e->L.nb == 0) return CAROM_OK;
    e->t = s->t + s->h;
    CAROM_TRY(before(w, s));
    CAROM_TRY(carom_directions(s, &e->L, e->t, e->q));
    carom_local_velocity(w->u_b, &e->L, e->v);
    carom_local_velocity(w->u_f, &e->L, w->v_1);
    decide_end(w, s, w->u_f);
    CAROM_TRY(solve_impulse(w, s));
    while (reverses(w, s, w->v_1)) { // each time a contact more turns
        carom_dg_end(&w->dg, s, w->v_1);
        decide_end(w, s, w->u_f);
        CAROM_TRY(solve_impulse(w, s));
    }
    return CAROM_OK;
}

// -- all of it --------------------------------------------------------------------------------------------------------

static carom_status stages_and_impulse(carom_dg_work *w, carom_step *s, int m, int *iterations) {
    CAROM_TRY(begin(w, s));
    if (!w->plus) {
        CAROM_TRY(stages_minus(w, s, iterations));
        return impulse_minus(w, s);
    }
    CAROM_TRY(stages_plus(w, s, iterations));
    carom_copy(w->v_1, w->dg.block[m].v, s->sys->nv);
    if (w->past.head) carom_past_note(&w->past, s, begun(w), w->v_1, w->p_past);
    transmitted(w, s);
    return CAROM_OK;
}

// (DG-22)  Where sliding has no forces that the laws allow (with much friction a body jams), all contacts of the step
//          obey Coulomb's law with the rows u_T0 + h (W_T'a + kappa_T), as slow ones do (DG-18): that has a solution,
//          in which slip may stop at once.  Contacts that close in it have the impulse alone
carom_status carom_dg_attempt(carom_dg_work *w, carom_step *s, int m, int *iterations) {
    carom_dg_degree(&w->dg, m);
    w->m = m;
    w->dg.block[m + 1].stays = w->stays;
    for (int l = 0; l <= m; ++l) w->dg.block[l].stays = NULL;
    w->jammed = false;
    const carom_status status = stages_and_impulse(w, s, m, iterations);
    if (status != CAROM_RETRY || !w->rubs) return status;
    w->jammed = true;
    return stages_and_impulse(w, s, m, iterations);
}
