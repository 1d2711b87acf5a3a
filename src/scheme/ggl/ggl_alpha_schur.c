// ggl_alpha_schur.c: the linear system of ggl-alpha by its Schur complement, for large systems.
//
// With A = M/(gamma c) + h C + h^2 beta/gamma K the increments (GA-11) follow from the multipliers x,
//
//     M y = -r3 - W x_nu - 1/2 W_T x_T,   M dw = -r6 - W x_L,   A dv = -r1 - W x_l - h^2 K y - h C dw          (GA-13)
//
// and the multipliers from the rows of the constraints, which are as many as there are active ones.  The derivatives P
// and V of the corrections' own directions, small against M, are left out: exact for constant directions and mass, else
// Newton's method converges a little slower.  Where M has no inertia a trace of it is added for (GA-13) alone; the
// residual knows none, so the answer does not depend on it.
#include "scheme/ggl/ggl_alpha.h"
#include "linalg/matrix.h"
#include "scheme/newton.h"
#include "system/system.h"

enum { LARGE = 20, LARGE_CONSTANT = 16 }; // unknowns
enum { MANY = 600, MANY_LISTED = 150 };   // multipliers beyond which the contact solvers are faster: dense problems,
                                          // and problems by blocks
static const double TRACE = 1e-10;        // of the largest mass

enum { BY_A, BY_M, BY_K, BY_C, PRODUCTS }; // W'XW for X = A^-1, M^-1, A^-1 K M^-1, A^-1 C M^-1
enum { JOINT, GAP, JUMP, STICK }; // kinds of multipliers: lambda~, nu, Lambda, friction that holds

void carom_ggl_alpha_allocate_schur(carom_ggl_alpha *w, carom_arena *mem, const carom_system *sys) {
    carom_ggl_schur *c = &w->schur;
    const size_t nv = (size_t)sys->nv, nb = (size_t)(sys->ne + sys->nc), most = (size_t)sys->ne + nb + (size_t)w->L.W.n;
    bool rubs = false;
    for (int i = 0; i < sys->nc; ++i) rubs = rubs || sys->contacts[i].friction > 0;
    const bool straight = (sys->flags & CAROM_CONSTANT_DIRECTIONS && !rubs) || nb == 0; // products are of normals
    *c = (carom_ggl_schur){.constant = sys->flags & CAROM_LINEAR && straight};
    const bool exact = sys->flags & (CAROM_CONSTANT_MASS | CAROM_LINEAR) && straight;
    const bool world = carom_system_world(sys);
    c->on = sys->nv >= LARGE || (exact && sys->nv >= LARGE_CONSTANT) || (world && sys->listed > MANY);
    const int *groups = c->constant ? NULL : carom_joined_groups(sys); // S is dense
    const size_t many = world ? MANY_LISTED : MANY, joints = (groups ? 1 : 3) * (size_t)sys->ne, // no solver takes them
                 room = joints > many ? joints : many;
    c->room = (int)(most < room ? most : room);
    w->crowded = c->on && (size_t)c->room < most;
    if (!c->on) return;
    CAROM_ALLOCATE(mem, nv, &c->dv, &c->y, &c->dw, &c->z);
    c->kind = carom_allocate_ints(mem, most);
    c->of = carom_allocate_ints(mem, most);
    c->row = carom_allocate_ints(mem, most);
    c->e = carom_allocate(mem, most);
    c->A = carom_allocate_matrix(mem, sys->tangent_shape);
    c->M_plus = carom_allocate_matrix(mem, sys->mass_shape);
    c->F_A = carom_allocate_factor(mem, sys->tangent_shape, false);
    c->F_M = carom_allocate_factor(mem, sys->mass_shape, true);
    const carom_saddle_levels levels = {.velocities = 3,
                                        .reactions = 3,
                                        .A = {{true, true, true}, {false, true}, {false, false, true}},
                                        .W = {{true}, {false, true}, {false, false, true}},
                                        .V = {{true, true}, {true, true}, {true, true, true}},
                                        .absent = sys->nrates, // those on rates have no gap
                                        .lacks = {false, true}};
    c->saddle = carom_allocate_saddle(mem, sys->nv, sys->nparts, groups, sys->ne, sys->tangent_shape,
                                      sys->column_stride, &levels);
    if (c->saddle.on) c->M_t = carom_allocate_matrix(mem, sys->tangent_shape);
    if (!c->constant) return;
    c->keep = carom_allocate_responses(mem, sys, PRODUCTS);
}

// -- factors -------------------------------------------------------------------------------------------------

bool carom_ggl_alpha_wants_tangent(const carom_ggl_alpha *w, const carom_step *s) {
    return !(w->schur.constant && w->schur.h == s->h);
}

static carom_status factorise_mass(carom_ggl_alpha *w, carom_step *s) {
    carom_ggl_schur *c = &w->schur;
    if (c->mass_ready) return CAROM_OK;
    c->mass_ready = s->sys->flags & CAROM_CONSTANT_MASS;
    if (carom_factorise(&c->F_M, w->M, NULL) == CAROM_OK) return CAROM_OK;
    double most = 0;
    for (int i = 0; i < s->sys->nv; ++i) {
        const double m = *carom_matrix_entry(w->M, i, i);
        most = m > most ? m : most;
    }
    carom_matrix_zero(c->M_plus);
    carom_matrix_add(c->M_plus, 1, w->M);
    for (int i = 0; i < s->sys->nv; ++i) *carom_matrix_entry(c->M_plus, i, i) += TRACE * most;
    if (carom_factorise(&c->F_M, c->M_plus, NULL) != CAROM_OK)
        return carom_fail(s->err, CAROM_SINGULAR, "t = %.9g: the mass matrix is not positive semi-definite", s->t);
    return CAROM_OK;
}

static void form_motion(carom_ggl_alpha *w, const carom_step *s) {
    carom_ggl_schur *c = &w->schur;
    const double h = s->h;
    if (!carom_ggl_alpha_wants_tangent(w, s)) return;
    carom_matrix_zero(c->A);
    carom_matrix_add(c->A, 1 / (w->gamma * w->c), w->M);
    carom_matrix_add(c->A, h, w->C);
    carom_matrix_add(c->A, h * h * w->beta / w->gamma, w->K);
    c->damped = carom_norm_max(w->C.a, (int)carom_shape_size(w->C.shape)) > 0;
    c->h = 0;
}

static carom_status factorise_motion(carom_ggl_alpha *w, carom_step *s) {
    carom_ggl_schur *c = &w->schur;
    if (!carom_ggl_alpha_wants_tangent(w, s)) return CAROM_OK;
    if (carom_factorise(&c->F_A, c->A, NULL) != CAROM_OK)
        return carom_retry(s, "the iteration matrix is singular: a coordinate has neither inertia nor stiffness nor a "
                              "joint, or the step is too large");
    c->h = s->h;
    if (c->constant) carom_responses_forget(&c->keep);
    return CAROM_OK;
}

// -- responses -------------------------------------------------------------------------------------------------

// (GA-13)  c->dv, y and dw from their right-hand sides, in place.
static void respond(carom_ggl_alpha *w, const carom_step *s, int blocks) {
    carom_ggl_schur *c = &w->schur;
    if (blocks & POSITION) carom_factor_solve(&c->F_M, c->y);
    if (blocks & VELOCITY) carom_factor_solve(&c->F_M, c->dw);
    if (!(blocks & SMOOTH)) return;
    if (blocks & POSITION) carom_matrix_muladd(c->dv, -s->h * s->h, w->K, c->y);
    if (blocks & VELOCITY && c->damped) carom_matrix_muladd(c->dv, -s->h, w->C, c->dw);
    carom_factor_solve(&c->F_A, c->dv);
}

static void clear(carom_ggl_schur *c, int nv) {
    carom_zero(c->dv, nv);
    carom_zero(c->y, nv);
    carom_zero(c->dw, nv);
}

// complementarity=modified: the nu of an open gap is h theta Lambda but for a constant, so Lambda moves positions too
static bool shares(const carom_ggl_alpha *w, int b, int blocks) {
    return w->modified && blocks & POSITION && w->in_B[w->L.id[b]] && !w->in_A[w->L.id[b]];
}

// Right-hand sides -= x W of multiplier k.
static void act(carom_ggl_alpha *w, int k, double x, int blocks) {
    carom_ggl_schur *c = &w->schur;
    const int b = c->of[k], at = c->row[k];
    carom_column_axpy(c->kind[k] == JOINT ? c->dv : c->kind[k] == GAP ? c->y : c->dw, -x, &w->L.W, at);
    if (c->kind[k] == STICK && blocks & POSITION) carom_column_axpy(c->y, -0.5 * x, &w->L.W, at);
    if (c->kind[k] != JUMP) return;
    for (int i = 1; i <= carom_ggl_alpha_tangents(w, b); ++i) {
        const double T = x * w->slide[w->L_0.at[w->L.id[b]] + i];
        carom_column_axpy(c->dw, -T, &w->L.W, at + i);
        if (blocks & POSITION) carom_column_axpy(c->y, -0.5 * T, &w->L.W, at + i);
    }
    if (shares(w, b, blocks)) carom_column_axpy(c->y, -w->theta * x, &w->L.W, at);
}

// Constraint row i of (GA-11) for the increments in dv, y, dw.
static double row(const carom_ggl_alpha *w, const carom_step *s, int i) {
    const carom_ggl_schur *c = &w->schur;
    const int k = c->row[i];
    const double h = s->h, bg = w->beta / w->gamma, on_v = carom_column_dot(&w->L.W, k, c->dv);
    if (c->kind[i] == GAP) return bg * on_v + carom_column_dot(&w->L.W, k, c->y);
    const carom_columns *D = c->kind[i] == JOINT ? &w->D_s : &w->D_v;
    const double turn = h * bg * carom_column_dot(D, k, c->dv) + h * carom_column_dot(D, k, c->y);
    return on_v + turn + (c->kind[i] >= JUMP ? carom_column_dot(&w->L.W, k, c->dw) : 0);
}

// -- products of constant systems -----------------------------------------------------------------------------------

// Columns of constraint id in the four products.
static carom_status learn(carom_ggl_alpha *w, carom_step *s, int id) {
    carom_ggl_schur *c = &w->schur;
    CAROM_TRY(carom_responses_begin(&c->keep, s));
    const int d = c->keep.all.at[id];
    if (c->keep.known[d]) return CAROM_OK;
    carom_column_expand(c->z, &c->keep.all.W, d);
    carom_copy(c->y, c->z, s->sys->nv);
    carom_factor_solve(&c->F_A, c->z);
    carom_responses_put(&c->keep, BY_A, d, c->z);
    carom_factor_solve(&c->F_M, c->y);
    carom_responses_put(&c->keep, BY_M, d, c->y);
    carom_matrix_mul(c->z, w->K, c->y);
    carom_factor_solve(&c->F_A, c->z);
    carom_responses_put(&c->keep, BY_K, d, c->z);
    carom_zero(c->z, s->sys->nv);
    if (c->damped) {
        carom_matrix_mul(c->z, w->C, c->y);
        carom_factor_solve(&c->F_A, c->z);
    }
    carom_responses_put(&c->keep, BY_C, d, c->z);
    return CAROM_OK;
}

static double known_entry(const carom_ggl_alpha *w, const carom_step *s, int i, int k, int blocks) {
    const carom_ggl_schur *c = &w->schur;
    const int kind = c->kind[k], at = c->keep.all.at[w->L.id[c->of[i]]], of = c->keep.all.at[w->L.id[c->of[k]]];
    const double h = s->h, bg = w->beta / w->gamma, G_M = carom_responses_column(&c->keep, BY_M, of)[at];
    const double moves = kind == GAP ? 1 : kind == JUMP && shares(w, c->of[k], blocks) ? w->theta : 0; // positions
    double v = kind == JOINT ? -carom_responses_column(&c->keep, BY_A, of)[at] : 0;
    if (moves > 0) v += moves * h * h * carom_responses_column(&c->keep, BY_K, of)[at];
    if (kind == JUMP) v += h * carom_responses_column(&c->keep, BY_C, of)[at];
    if (!(blocks & SMOOTH)) v = 0;
    if (c->kind[i] == GAP) return bg * v - moves * G_M;
    return v - (c->kind[i] == JUMP && kind == JUMP ? G_M : 0);
}

// -- the solution ------------------------------------------------------------------------------------------------

// The multipliers that take part, with their residuals in e.  Same order as in w->r.
static void take(carom_ggl_schur *c, int *m, int kind, int b, int row, double e) {
    c->kind[*m] = kind;
    c->of[*m] = b;
    c->row[*m] = row;
    c->e[(*m)++] = e;
}

static int multipliers(carom_ggl_alpha *w, const carom_step *s, int blocks) {
    carom_ggl_schur *c = &w->schur;
    int m = 0;
    for (int b = 0; blocks & SMOOTH && b < s->sys->ne; ++b) take(c, &m, JOINT, b, w->L.at[b], w->r[w->at_l + b]);
    for (int b = 0, a = w->at_nu; blocks & POSITION && b < w->L.nb; ++b)
        if (w->in_A[w->L.id[b]]) take(c, &m, GAP, b, w->L.at[b], w->r[a++]);
    for (int b = 0, l = w->at_L; blocks & VELOCITY && b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        if (!w->in_B[id]) continue;
        take(c, &m, JUMP, b, w->L.at[b], w->r[l++]);
        for (int i = 1; w->sticks[id] && i <= carom_ggl_alpha_tangents(w, b); ++i)
            take(c, &m, STICK, b, w->L.at[b] + i, w->r[l++]);
    }
    return m;
}

static carom_status complement(carom_ggl_alpha *w, carom_step *s, int m, int blocks) {
    carom_ggl_schur *c = &w->schur;
    for (int k = 0; k < m; ++k) {
        if (c->constant) {
            CAROM_TRY(learn(w, s, w->L.id[c->of[k]]));
        } else {
            clear(c, s->sys->nv);
            act(w, k, 1, blocks);
            respond(w, s,
                    blocks & (SMOOTH | (c->kind[k] == JOINT ? 0
                                        : c->kind[k] == GAP ? POSITION
                                                            : POSITION | VELOCITY)));
        }
        for (int i = 0; i < m; ++i)
            w->S[i + (size_t)k * (size_t)m] = c->constant ? known_entry(w, s, i, k, blocks) : row(w, s, i);
    }
    return CAROM_OK;
}

// dv, y, dw for the residual alone.
static void free_response(carom_ggl_alpha *w, const carom_step *s, int blocks, int m) {
    carom_ggl_schur *c = &w->schur;
    const int nv = s->sys->nv;
    clear(c, nv);
    if (blocks & SMOOTH) carom_axpy(c->dv, -1, w->r, nv);
    if (blocks & POSITION) carom_axpy(c->y, -1, w->r + w->at_U, nv);
    if (blocks & VELOCITY) carom_axpy(c->dw, -1, w->r + w->at_w, nv);
    for (int k = 0; k < m; ++k) act(w, k, c->e[k], blocks);
    respond(w, s, blocks);
}

// -- joints in the linear system -------------------------------------------------------------------------------------

// (GA-24)  A dv + h^2 K y + h C dw + W x_l = -r1,  M y + W x_nu = -r3,  M dw + W x_L = -r6  with joints in all three
//          rows of x, of contacts on the right-hand side, and
//          (W + h beta/gamma D~)'dv + h D~'y = -r2,  beta/gamma W'dv + W'y = -r4,  (W + h beta/gamma D)'dv + h D'y +
//          W'dw = -r7  for joints
// False: there is no factor, or not all blocks are asked for.
static bool factorise_joints(carom_ggl_alpha *w, const carom_step *s, int blocks) {
    carom_saddle *S = &w->schur.saddle;
    const carom_columns *W = &w->L.W;
    const double h = s->h, bg = w->beta / w->gamma;
    if (!S->on || blocks != ALL || !carom_saddle_begin(S, w->schur.A, W, &w->D_v)) return false;
    carom_matrix_zero(w->schur.M_t);
    carom_matrix_add(w->schur.M_t, 1, w->M);
    bool good = carom_saddle_add_matrix(S, 0, 0, 1, w->schur.A) && carom_saddle_add_matrix(S, 0, 1, h * h, w->K) &&
                carom_saddle_add_matrix(S, 0, 2, h, w->C);
    for (int l = 1; l < 3; ++l) good = good && carom_saddle_add_matrix(S, l, l, 1, w->schur.M_t);
    for (int l = 0; l < 3; ++l)
        good = good && carom_saddle_add_forces(S, l, l, 1, W) && carom_saddle_add_rates(S, l, 0, l == 1 ? bg : 1, W);
    for (int l = 0; l < 3; l += 2)
        good = good && carom_saddle_add_rates(S, l, 0, h * bg, l ? &w->D_v : &w->D_s) &&
               carom_saddle_add_rates(S, l, 1, h, l ? &w->D_v : &w->D_s);
    const bool first = !w->schur.joints_alone, contacts = w->L.nb > s->sys->ne;
    return good && carom_saddle_add_rates(S, 1, 1, 1, W) && carom_saddle_add_rates(S, 2, 2, 1, W) &&
           carom_chord_finish(&w->schur.chord, S, first, contacts);
}

// dv, y and dw for their right-hand sides, in place, with joints; joints: their rows, NULL: 0.
static bool respond_joined(carom_ggl_alpha *w, const carom_step *s, const double *const joints[3], bool check) {
    carom_ggl_schur *c = &w->schur;
    carom_saddle *S = &c->saddle;
    const int nv = s->sys->nv, ne = s->sys->ne;
    double *const of[3] = {c->dv, c->y, c->dw};
    for (int l = 0; l < 3; ++l) {
        double *b = S->b + 3 * nv + l * ne;
        const int rows = ne - (l == 1 ? s->sys->nrates : 0); // that have a reaction on this level
        carom_copy(S->b + l * nv, of[l], nv);
        for (int j = 0; j < ne; ++j) b[j] = joints && j < rows ? -joints[l][j] : 0;
    }
    if (!check) carom_saddle_solve(S);
    else if (!carom_chord_solve_checked(&c->chord, S, carom_joints_small(s))) return false;
    for (int l = 0; l < 3; ++l) carom_copy(of[l], S->x + l * nv, nv);
    return true;
}

// The right-hand sides of the residual, and of the m multipliers behind those of joints.
static void right_hand_sides(carom_ggl_alpha *w, const carom_step *s, int m, const int *which, const double *x) {
    carom_ggl_schur *c = &w->schur;
    const int nv = s->sys->nv;
    clear(c, nv);
    carom_axpy(c->dv, -1, w->r, nv);
    carom_axpy(c->y, -1, w->r + w->at_U, nv);
    carom_axpy(c->dw, -1, w->r + w->at_w, nv);
    for (int k = 0; k < m; ++k) act(w, which[k], x[k], ALL);
}

// The increments with joints in the linear system, the multipliers of contacts by their Schur complement.  False: c->e
// is as it was, solve it another way.
static bool solve_joined(carom_ggl_alpha *w, carom_step *s, int m, int blocks, bool again) {
    carom_ggl_schur *c = &w->schur;
    const int ne = s->sys->ne;
    int n = 0, *which = w->pivot + c->room; // multipliers of contacts
    if (!again && !factorise_joints(w, s, blocks)) return false;
    for (int k = 0; k < m; ++k) n += c->of[k] >= ne;
    if (n > c->room) return false;
    n = 0;
    const double *joints[3] = {NULL, NULL, NULL};
    for (int k = 0; k < m; ++k) {
        const int level = c->kind[k] >= JUMP ? 2 : c->kind[k];
        if (c->of[k] >= ne) which[n++] = k;
        else if (!joints[level]) joints[level] = c->e + k; // one after the other
    }
    right_hand_sides(w, s, 0, NULL, NULL);
    if (!respond_joined(w, s, joints, !again)) return false;
    if (n > 0) {
        double *x = w->x_N + c->room;
        for (int i = 0; i < n; ++i) x[i] = c->e[which[i]] + row(w, s, which[i]);
        for (int k = 0; k < n; ++k) {
            clear(c, s->sys->nv);
            act(w, which[k], 1, ALL);
            respond_joined(w, s, NULL, false);
            for (int i = 0; i < n; ++i) w->S[i + (size_t)k * (size_t)n] = row(w, s, which[i]);
        }
        carom_ggl_alpha_solve(w, n, x);
        right_hand_sides(w, s, n, which, x);
        respond_joined(w, s, joints, false);
        for (int k = 0; k < n; ++k) c->e[which[k]] = x[k];
    }
    for (int k = 0, next[3] = {0, 0, 0}; k < m; ++k) {
        const int level = c->kind[k] >= JUMP ? 2 : c->kind[k];
        if (c->of[k] < ne) c->e[k] = c->saddle.x[3 * s->sys->nv + level * ne + next[level]++];
    }
    return true;
}

carom_status carom_ggl_alpha_schur(carom_ggl_alpha *w, carom_step *s, int blocks, bool again) {
    carom_ggl_schur *c = &w->schur;
    const int nv = s->sys->nv;
    const int need = c->constant ? ALL : blocks; // products of constant systems ask for both factors
    if (need & SMOOTH && !again) form_motion(w, s);
    const int m = multipliers(w, s, blocks);
    const bool joined = solve_joined(w, s, m, blocks, again);
    if (!joined && need & SMOOTH) CAROM_TRY(factorise_motion(w, s));
    if (!joined && need & (POSITION | VELOCITY)) CAROM_TRY(factorise_mass(w, s));
    c->joints_alone = joined && w->L.nb == s->sys->ne;
    c->chord.age = again ? c->chord.age + 1 : 0;
    if (!joined && m > c->room) return carom_retry(s, "%d reactions are too many for Newton's method", m);
    if (!joined) free_response(w, s, blocks, 0);
    if (m > 0 && !joined) {
        for (int i = 0; i < m; ++i) c->e[i] += row(w, s, i);
        CAROM_TRY(complement(w, s, m, blocks));
        carom_ggl_alpha_solve(w, m, c->e);
        free_response(w, s, blocks, m);
    }
    if (blocks & SMOOTH) carom_copy(w->r, c->dv, nv);
    if (blocks & POSITION) carom_copy(w->r + w->at_U, c->y, nv);
    if (blocks & VELOCITY) carom_copy(w->r + w->at_w, c->dw, nv);
    int at_l = w->at_l, at_nu = w->at_nu, at_L = w->at_L;
    for (int k = 0; k < m; ++k) w->r[c->kind[k] == JOINT ? at_l++ : c->kind[k] == GAP ? at_nu++ : at_L++] = c->e[k];
    return CAROM_OK;
}

// [A W; W' 0] (z, x) = (-w->r, -kappa) of joints, kappa behind w->r: w->r = z.  The other levels are there for the
// factor alone.
static bool start_joined(carom_ggl_alpha *w, const carom_step *s) {
    carom_ggl_schur *c = &w->schur;
    carom_saddle *S = &c->saddle;
    const int nv = s->sys->nv, ne = s->sys->ne;
    if (!S->on || !carom_saddle_begin(S, c->A, &w->L.W, &w->L.W)) return false;
    bool good = true;
    for (int l = 0; l < 3; ++l)
        good = good && carom_saddle_add_matrix(S, l, l, 1, c->A) && carom_saddle_add_forces(S, l, l, 1, &w->L.W) &&
               carom_saddle_add_rates(S, l, l, 1, &w->L.W);
    if (!good || !carom_saddle_finish(S)) return false;
    for (int j = 0; j < ne; ++j) S->lever[j] = carom_row_lever(s, &w->L, j);
    carom_zero(S->b, 3 * (nv + ne));
    carom_axpy(S->b, -1, w->r, nv);
    carom_axpy(S->b + 3 * nv, -1, w->r + nv, ne);
    if (!carom_saddle_solve_checked(S, 0)) return false;
    carom_copy(w->r, S->x, nv);
    return true;
}

// (GA-2) with the factor of S* = A/(gamma c)
carom_status carom_ggl_alpha_schur_start(carom_ggl_alpha *w, carom_step *s) {
    carom_ggl_schur *c = &w->schur;
    const int nv = s->sys->nv, ne = s->sys->ne;
    const double scale = 1 / (w->gamma * w->c);
    form_motion(w, s);
    for (int i = 0; i < nv; ++i) w->r[i] *= scale;
    if (start_joined(w, s)) return CAROM_OK;
    CAROM_TRY(factorise_motion(w, s));
    carom_copy(c->y, w->r, nv); // -f/(gamma c)
    carom_factor_solve(&c->F_A, c->y);
    // S x = -e with S = -W'S*^-1 W, e = kappa + W'A^-1 f
    for (int k = 0; k < ne; ++k) c->e[k] = w->r[nv + k] - carom_column_dot(&w->L.W, k, c->y);
    for (int k = 0; k < ne; ++k) {
        carom_column_expand(c->dw, &w->L.W, k);
        carom_factor_solve(&c->F_A, c->dw);
        for (int i = 0; i < ne; ++i) w->S[i + (size_t)k * (size_t)ne] = -carom_column_dot(&w->L.W, i, c->dw);
    }
    if (ne > 0) carom_ggl_alpha_solve(w, ne, c->e);
    for (int k = 0; k < ne; ++k) carom_column_axpy(w->r, c->e[k], &w->L.W, k); // S* s = f/(gamma c) - W x
    carom_factor_solve(&c->F_A, w->r);
    for (int i = 0; i < nv; ++i) w->r[i] = -w->r[i];
    return CAROM_OK;
}
