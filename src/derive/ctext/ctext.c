// ctext.c: a model as one C file that needs nothing but libm: `carom export c`.
//
// Every function computes what a group of the tape computes, bit for bit, from t, q, v and the parameters p.  Matrices
// are lists of entries with their subscripts beside them.
#include "derive/ctext/ctext.h"
#include "base/number.h"
#include "base/text.h"
#include "derive/bodies/body.h"
#include "expr/curve.h"
#include "model/conditions.h"
#include "system/narrow.h"

// What is written about each group: entries, and the two or three lists of subscripts that belong to it.
typedef struct part {
    int group;
    const char *name, *about;
    const terms *list[2]; // the entries are these lists, one behind the other; NULL: one number each
    int subscripts;       // of the lists: 1, 2 or 3
} part;

static const char *parameter_name(const carom_model *m, int i) { return carom_model_parameter(m, i, NULL); }

static const char *constraint_name(const carom_model *m, int i) { return carom_model_constraint(m, i); }

// The model's text as a comment that it cannot end.
static void put_model(const ctext *c, const char *text, size_t length) {
    put(c, "// The model:\n//\n");
    for (size_t at = 0; at < length;) {
        size_t n = 0;
        while (at + n < length && text[at + n] != '\n') ++n;
        put(c, "//     ");
        carom_escape(CAROM_FOR_C_COMMENT, text + at, n, c->write, c->user);
        put(c, "\n");
        at += n + 1;
    }
    put(c, "\n");
}

static void put_numbers(const ctext *c, const char *name, const double *x, int n) {
    char begin[200];
    snprintf(begin, sizeof begin, "const double %.100s_%s[] = ", c->prefix, name);
    carom_ctext_doubles(c, begin, x, (size_t)n);
}

static void put_names(const ctext *c, const char *name, const char *(*of)(const carom_model *m, int i), int n) {
    PUT(c, "const char *const %.100s_%s[] = {", c->prefix, name);
    for (int i = 0; i < n; ++i) {
        put(c, i ? ", \"" : "\"");
        put_escaped(c, CAROM_FOR_C_STRING, of(c->m, i));
        put(c, "\"");
    }
    put(c, n ? ", 0};\n" : "0};\n");
}

static void put_subscripts(const ctext *c, const part *p, bool own) {
    static const char letter[] = "ijl";
    const bool pairs = p->group == GROUP_DIRECTIONS;
    for (int s = 0; s < p->subscripts; ++s) {
        int n = 0;
        if (own && !pairs)
            PUT(c, "static const int own_%s_%c[] = {", p->name, letter[s]);
        else
            PUT(c, "const int %.100s_%s_%c[] = {", c->prefix, p->name, letter[s]);
        for (int k = 0; k < 2; ++k) {
            const terms *x = p->list[k];
            for (int e = 0; x && e < x->n; ++e)
                PUT(c, "%s%d", n++ ? ", " : "", s == 0 ? x->i[e] : s == 1 ? x->j[e] : x->l[e]);
        }
        if (pairs) carom_ctext_pair_subscripts(c, s, n), n += carom_ctext_pair_entries(c);
        put(c, n ? "};\n" : "0};\n");
    }
}

// The function of a group.  Where members or pairs of shapes add to it, that of the expressions is its beginning.
static carom_status put_part(const ctext *c, const part *p, carom_error *err) {
    const carom_model *m = c->m;
    const bool own = carom_ctext_with_parts(c, p->name, false) || carom_ctext_with_pairs(c, p->name, false);
    ctext with = *c;
    char head[300];
    with.energies = p->group == GROUP_OUTPUTS && m->nmember && m->member_energies;
    PUT(c, "\n// %s\n", p->about);
    put_subscripts(c, p, own);
    snprintf(head, sizeof head, own ? "%svoid own%.0s_%s" CTEXT_ARGUMENTS : "%svoid %.100s_%s" CTEXT_ARGUMENTS,
             own ? "static " : "", c->prefix, p->name);
    CAROM_TRY(carom_ctext_function(&with, m->tape, p->group, carom_ctext_input, head, err));
    if (own) put(c, "\n");
    if (!carom_ctext_with_parts(c, p->name, true)) carom_ctext_with_pairs(c, p->name, true);
    return CAROM_OK;
}

// -- how positions move --------------------------------------------------------------------------------------------

static void put_vector(const ctext *c, const double x[3]) { PUT(c, "{%.17g, %.17g, %.17g}", x[0], x[1], x[2]); }

// Positions that are sums of velocities, quaternions, angles of joints in space: a table of each, and a loop over it.
static void put_move(const ctext *c) {
    const carom_model *m = c->m;
    int turning = 0, angles = 0;
    for (int i = 0; i < m->nbodies; ++i) turning += m->bodies[i].v >= 0 && m->bodies[i].space == SPATIAL;
    for (int i = 0; i < m->njoints; ++i) angles += m->joints[i].at >= 0;
    put(c, "\n// Positions at a time h after q0, at constant velocities: q1 = q0 + h v, orientations by the "
           "exponential map.\n");
    if (turning) put(c, "\n"), put(c, carom_turn_text), put(c, "\n");
    PUT(c,
        "void %.100s_move(double *q1, const double *q0, double h, const double *v) {\n    static const int rate[] = {",
        c->prefix);
    const int nq = carom_model_named_q(m), nv = carom_model_named_v(m); // behind them those of members
    for (int i = 0; i < nq; ++i) PUT(c, "%s%d", i ? ", " : "", m->velocity_of[i]);
    PUT(c,
        "%s}; // the velocity of each position; -1: none\n    for (int i = 0; i < %d; ++i)\n        if (rate[i] >= 0) "
        "q1[i] = q0[i] + h * v[rate[i]];\n",
        nq ? "" : "0", nq);
    if (nq < m->nq) PUT(c, "    for (int i = %d; i < %d; ++i) q1[i] = q0[i] + h * v[i + %d];\n", nq, m->nq, nv - nq);
    if (turning) {
        put(c, "    static const struct { int e, w; } body[] = {");
        for (int i = 0, n = 0; i < m->nbodies; ++i)
            if (m->bodies[i].v >= 0 && m->bodies[i].space == SPATIAL)
                PUT(c, "%s{%d, %d}", n++ ? ", " : "", m->bodies[i].orientation, m->bodies[i].v + 3);
        PUT(c,
            "}; // quaternion, angular velocity\n    for (int i = 0; i < %d; ++i) D_turn(q1 + body[i].e, q0 + "
            "body[i].e, "
            "h, v + body[i].w);\n",
            turning);
    }
    if (angles) {
        put(c, "    static const struct { int at, A, B; double x_A[3], y_A[3], x_B[3]; } joint[] = {");
        for (int i = 0, n = 0; i < m->njoints; ++i) {
            const joint *j = &m->joints[i];
            double x_A[3], y_A[3], x_B[3];
            if (j->at < 0) continue;
            carom_joint_axes(j, x_A, y_A, x_B);
            PUT(c, "%s\n        {%d, %d, %d, ", n++ ? "," : "", j->at, j->A->v < 0 ? -1 : j->A->orientation,
                j->B->v < 0 ? -1 : j->B->orientation);
            put_vector(c, x_A), put(c, ", "), put_vector(c, y_A), put(c, ", "), put_vector(c, x_B), put(c, "}");
        }
        PUT(c, "}; // its position; quaternions of its bodies, -1: fixed; axes\n    for (int i = 0; i < %d; ++i) {\n",
            angles);
        put(c, "        double x_A[3], y_A[3], x_B[3];\n"
               "        for (int k = 0; k < 3; ++k) x_A[k] = joint[i].x_A[k], y_A[k] = joint[i].y_A[k], x_B[k] = "
               "joint[i].x_B[k];\n"
               "        if (joint[i].A >= 0) D_world(q1 + joint[i].A, joint[i].x_A, x_A), D_world(q1 + joint[i].A, "
               "joint[i].y_A, y_A);\n"
               "        if (joint[i].B >= 0) D_world(q1 + joint[i].B, joint[i].x_B, x_B);\n"
               "        q1[joint[i].at] = D_nearest_angle(x_A, y_A, x_B, q0[joint[i].at]);\n    }\n");
    } else if (turning)
        put(c, "    (void)D_world, (void)D_nearest_angle;\n");
    put(c, "}\n");
}

// -- kinks and controllers -------------------------------------------------------------------------------------------

// Whose kink each function is, and which of them let a contact close.
static carom_status put_kinks(const ctext *c, carom_error *err) {
    const carom_model *m = c->m;
    static const part p = {
        GROUP_KINKS,
        "kinks",
        "Functions at whose zeros something has a kink: the gap of contact kinks_of[k]; forces where that is -1. Where "
        "it is -2 - c, nothing has:\n"
        "// contact c is open, however small its gap is, until the function is positive (`closes while`).",
        {0},
        0};
    if (m->nkinks == 0) return CAROM_OK;
    PUT(c, "\nenum { %.100s_nk = %d };\nconst int %.100s_kinks_of[] = {", c->prefix, m->nkinks, c->prefix);
    for (int k = 0; k < m->nkinks; ++k)
        PUT(c, "%s%d", k ? ", " : "", m->kink_of[k] == CAROM_JUMPS ? -1 : m->kink_of[k]);
    put(c, "};");
    return put_part(c, &p, err);
}

// Their signals are parameters behind the model's own.  What a sample finds takes effect at once, or waits in p.
static carom_status put_controllers(const ctext *c, carom_error *err) {
    const carom_model *m = c->m;
    static const part p = {
        GROUP_CONTROL,
        "control",
        "What the controllers find at (t, q, v): of each its outputs, then the next values of its states.",
        {0},
        0};
    if (m->signal.ncontrols == 0) return CAROM_OK;
    CAROM_TRY(put_part(c, &p, err));
    put(c, "\n// Controllers, in the order in which they sample at the same instant: at offset + i sample, with effect "
           "`delay` later.  Numbers in p of their states, their\n"
           "// outputs and, with a delay, what these are going to be; numbers in what _control finds.\n");
    PUT(c, "enum { %.100s_ncontrollers = %d, %.100s_control_n = %d };\n", c->prefix, m->signal.ncontrols, c->prefix,
        m->signal.nnodes);
    PUT(c,
        "const struct { double sample, offset, delay; int state, states, output, outputs, pending, first; } "
        "%.100s_controller[] = {",
        c->prefix);
    for (int k = 0; k < m->signal.ncontrols; ++k) {
        const control *x = &m->signal.control[k];
        const carom_sampler *s = &m->signal.sampler[k];
        PUT(c, "%s\n    {%.17g, %.17g, %.17g, %d, %d, %d, %d, %d, %d}", k ? "," : "", s->sample, s->offset, s->delay,
            m->np_own + x->state, x->nstates, m->np_own + x->output, x->noutputs,
            s->delay > 0 ? m->np_own + x->pending : -1, x->first);
    }
    put(c, "};\n\n// Controller k samples: its states and outputs in p change.  0: a number is not finite, and p is as "
           "before.\n");
    PUT(c,
        "int %.100s_sample(int k, double t, const double *q, const double *v, double *p) {\n    double x[%d];\n    "
        "%.100s_control(t, q, v, p, x);\n",
        c->prefix, m->signal.nnodes + 1, c->prefix);
    PUT(c, "    const int n = %.100s_controller[k].outputs, states = %.100s_controller[k].states;\n", c->prefix,
        c->prefix);
    PUT(c,
        "    double *to = p + (%.100s_controller[k].delay > 0 ? %.100s_controller[k].pending : "
        "%.100s_controller[k].output);\n",
        c->prefix, c->prefix, c->prefix);
    PUT(c,
        "    const double *y = x + %.100s_controller[k].first;\n    for (int i = 0; i < n + states; ++i)\n        if "
        "(!isfinite(y[i])) return 0;\n",
        c->prefix);
    PUT(c,
        "    for (int i = 0; i < n; ++i) to[i] = y[i];\n    for (int i = 0; i < states; ++i) "
        "p[%.100s_controller[k].state + i] = y[n + i];\n    return 1;\n}\n",
        c->prefix);
    put(c, "\n// What controller k found at its last sample takes effect, if it has a delay.\n");
    PUT(c, "void %.100s_effect(int k, double *p) {\n", c->prefix);
    PUT(c, "    const int n = %.100s_controller[k].delay > 0 ? %.100s_controller[k].outputs : 0;\n", c->prefix,
        c->prefix);
    PUT(c,
        "    for (int i = 0; i < n; ++i) p[%.100s_controller[k].output + i] = p[%.100s_controller[k].pending + "
        "i];\n}\n",
        c->prefix, c->prefix);
    return CAROM_OK;
}

static carom_status refuse(const carom_model *m, carom_error *err) {
    CAROM_TRY(carom_ctext_refuse_pairs(m, err));
    for (int i = 0; i < m->condition.n; ++i)
        if (m->condition.list[i].gate < 0)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "%.200s: '%.60s' is not always there (`exists while`), which `export c` does not support",
                              m->file, m->condition.list[i].name);
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].varies || m->contacts[c].friction_varies || m->contacts[c].impact ||
            m->contacts[c].sequential)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "%.200s has laws of impact other than Newton's, or restitution or friction that varies, "
                              "which `export c` does not support",
                              m->file);
    return CAROM_OK;
}

static bool is_prefix(const char *s) {
    for (const char *c = s; *c; ++c)
        if (!carom_in_word(*c)) return false;
    return carom_is_letter(*s);
}

static void put_head(const ctext *c, const char *text, size_t length) {
    const carom_model *m = c->m;
    put(c, "// "), put_escaped(c, CAROM_FOR_C_COMMENT, m->name ? m->name : c->prefix);
    put(c, " as C functions: mass, forces, gaps, directions and their derivatives.\n"
           "// Self-contained C17; the same bits as the program, if compiled with -ffp-contract=off.\n"
           "// Positions q, velocities v = q', parameters p; every function writes its numbers to out[].\n");
    if (carom_ctext_has_parts(c) || m->npairs || m->near)
        put(c, "// Tables of members, bodies and shapes hold numbers that the parameters had when this was written.\n");
    put(c, "\n");
    put_model(c, text, length);
    put(c, "#include <float.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n\n// A number that the "
           "compiler does not know: pow(x, 2) stays a call of pow.\n#define opaque(x) (*(const volatile double "
           "*)&(double){x})\n\n");
    put(c, carom_scalar_text), put(c, carom_libm_text), put(c, "\n");
    if (!m->mech->ntables) return;
    put(c, "// Derivative k of a table.\n");
    put(c, carom_curve_text);
    put(c, "\n\n");
}

// Numbers of everything, names, parameters and the initial state.
static void put_data(const ctext *c) {
    const carom_model *m = c->m;
    const char *prefix = c->prefix;
    const terms w_as = m->w;
    const int mass = m->mass.n + carom_ctext_mass_entries(c), K = m->K.n + carom_ctext_tangent_entries(c, false),
              C = m->C.n + carom_ctext_tangent_entries(c, true);
    PUT(c, "enum { %.100s_nq = %d, %.100s_nv = %d, %.100s_np = %d, ", prefix, m->nq, prefix, m->nv, prefix, m->np);
    PUT(c, "%.100s_ne = %d, %.100s_nc = %d, %.100s_directions_n = %d,\n", prefix, m->ne, prefix, m->nc, prefix,
        m->ndir);
    PUT(c, "       %.100s_mass_n = %d, %.100s_directions_entries = %d, %.100s_w_n = %d, ", prefix, mass, prefix,
        m->W.n + carom_ctext_pair_entries(c), prefix, m->w.n);
    PUT(c, "%.100s_tangent_K = %d, %.100s_tangent_n = %d, %.100s_nout = %d };\n\n", prefix, K, prefix, K + C, prefix,
        m->nout);
    carom_ctext_enum(c, CAROM_POSITION);
    carom_ctext_enum(c, CAROM_VELOCITY);
    carom_ctext_enum(c, CAROM_PARAMETER);
    put_names(c, "coordinates", carom_model_coordinate, m->nq);
    put_names(c, "parameters", parameter_name, m->np);
    put_names(c, "constraints", constraint_name, m->ne + m->nc);
    put_names(c, "output_names", carom_model_output, m->nout);
    put_numbers(c, "p0", m->parameter, m->np);
    put_numbers(c, "q0", m->q0, m->nq);
    put_numbers(c, "v0", m->v0, m->nv);
    const part w = {.group = -1, .name = "w", .list = {&w_as}, .subscripts = 1};
    put_subscripts(c, &w, false);
}

static void put_contacts(const ctext *c) {
    const carom_model *m = c->m;
    put(c, "\n// By contact: restitution, friction, and the first of its local directions.\n");
    PUT(c, "const struct { double restitution, friction; int direction, directions; } %.100s_contact[] = {", c->prefix);
    for (int i = 0; i < m->nc; ++i)
        PUT(c, "%s{%.17g, %.17g, %d, %d}", i ? ", " : "", m->contacts[i].restitution, m->contacts[i].friction,
            m->links[m->ne + i].dir, m->links[m->ne + i].ndir);
    put(c, m->nc ? "};\n" : "{0, 0, 0, 0}};\n");
    carom_ctext_ellipses(c, "contact", m->contacts, m->nc);
    put(c, "\n");
}

static carom_status put_functions(const ctext *c, carom_error *err) {
    const carom_model *m = c->m;
    const part parts[] = {
        {GROUP_MASS,
         "mass",
         "Mass matrix, lower triangle: M[i][j] = out[e], i = mass_i[e] >= j = mass_j[e].",
         {&m->mass},
         2},
        {GROUP_FORCE, "force", "Forces f in M v' = f + W lambda: out[nv].", {0}, 0},
        {GROUP_GAPS, "gaps", "Gaps of joints and constraints, then of contacts: out[ne + nc].", {0}, 0},
        {GROUP_DIRECTIONS,
         "directions",
         "Directions: W[i][j] = out[e], i = directions_i[e] (velocity), j = directions_j[e] (local direction); behind "
         "them the w that are not zero, of the directions w_i.",
         {&m->W},
         2},
        {GROUP_RATES, "rates", "Local velocities u = W'v + w of all directions.", {0}, 0},
        {GROUP_CURVATURE, "curvature", "What u' holds besides W'v'.", {0}, 0},
        {GROUP_TANGENT,
         "tangent",
         "-df/dq, then -df/dv: entries with subscripts tangent_i, tangent_j; the first tangent_K of them are -df/dq.",
         {&m->K, &m->C},
         2},
        {GROUP_ENERGY, "energy", "Kinetic and potential energy.", {0}, 0},
        {GROUP_POWER,
         "power",
         "Power of forces without potential: at rest (external), the rest of it (damping).",
         {0},
         0},
        {GROUP_OUTPUTS, "outputs", "The outputs of the model.", {0}, 0},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) CAROM_TRY(put_part(c, &parts[k], err));
    return CAROM_OK;
}

// The whole text, in the C locale.
static carom_status write_all(const ctext *c, const char *text, size_t length, carom_error *err) {
    put_head(c, text, length);
    put_data(c);
    put_contacts(c);
    carom_ctext_parts(c);
    CAROM_TRY(carom_ctext_pairs(c, err));
    CAROM_TRY(put_functions(c, err));
    CAROM_TRY(put_kinks(c, err));
    CAROM_TRY(put_controllers(c, err));
    CAROM_TRY(carom_ctext_near(c, err));
    put_move(c);
    return CAROM_OK;
}

carom_status carom_model_write_c(const carom_model *m, const char *prefix, const char *text, size_t length,
                                 carom_write_text *write, void *user, carom_error *err) {
    if (!m || !prefix || !write)
        return carom_fail(err, CAROM_BAD_INPUT, "a model, the prefix of its names or a writer is missing");
    if (!is_prefix(prefix))
        return carom_fail(err, CAROM_BAD_INPUT, "expected letters, digits and _ as the prefix of C names, got '%.60s'",
                          prefix);
    CAROM_TRY(refuse(m, err));
    const ctext c = {.m = m, .prefix = prefix, .write = write, .user = user};
    const carom_locale locale = carom_locale_begin(); // 0.8, not 0,8
    const carom_status status = write_all(&c, text, text ? length : 0, err);
    carom_locale_end(locale);
    return status;
}
