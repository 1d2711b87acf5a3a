// mjcf_write.c: what was read of MJCF as sections of a model file, and actuators and equalities with them.
#include "read/mjcf.h"
#include <stdio.h>
#include <string.h>

// -- writing ----------------------------------------------------------------------------------------------------------

static void put_geom(const mjcf *m, const geom *g) {
    double at[3];
    for (int i = 0; i < 3; ++i) at[i] = g->at.r[i] - (g->of ? g->of->mass.centre[i] : 0);
    put(m, "%s: {%s: ", g->name, g->kind);
    if (g->path)
        carom_put_quoted(&m->i, g->path);
    else if (g->n == 1)
        carom_put_number(&m->i, g->x[0]);
    else
        carom_put_list(&m->i, "", g->x, g->n);
    if (g->scale[0] != 1 || g->scale[1] != 1 || g->scale[2] != 1) carom_put_list(&m->i, ", scale: ", g->scale, 3);
    carom_put_list(&m->i, ", at: ", at, 3);
    if (g->kind[0] == 'c')
        carom_put_list(&m->i, ", axis: ", (const double[]){g->at.R[2], g->at.R[5], g->at.R[8]}, 3);
    else if (strcmp(g->kind, "sphere") != 0 && strcmp(g->kind, "plane") != 0)
        carom_put_turn(&m->i, g->at.R);
    put(m, "}");
}

void mjcf_put_bodies(const mjcf *m) {
    put(m, "bodies:\n");
    for (const helper *h = m->helpers; h; h = h->next) carom_put_body(&m->i, h->name, &h->mass, &h->at), put(m, "}\n");
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = m->body_at[i];
        bool first = true;
        if (b->carrier != i) continue;
        carom_put_body(&m->i, b->name, &b->mass, &b->at);
        for (const geom *g = b->shapes ? m->geoms : NULL; g; g = g->next) {
            if (g->of != b) continue;
            put(m, first ? ",\n    shapes: {" : ", ");
            first = false;
            put_geom(m, g);
        }
        put(m, first ? "}\n" : "}}\n");
    }
    bool first = !m->i.def->floor;
    if (!first) put(m, "shapes: {floor: {plane: [0, 0, 1]}");
    for (const geom *g = m->geoms; g; g = g->next) {
        if (g->of) continue;
        put(m, first ? "shapes: {" : ", ");
        first = false;
        put_geom(m, g);
    }
    if (!first) put(m, "}\n");
}

static bool moves(const joint *j) { return (j->type == HINGE || j->type == SLIDE) && !j->locked; }
static const char *coordinate(const joint *j) { return j->type == SLIDE ? "shift" : "angle"; }

void mjcf_put_springs(const mjcf *m) {
    bool first = true;
    for (const joint *j = m->joints; j; j = j->next) {
        if (!moves(j) || (j->damping == 0 && j->stiffness == 0)) continue;
        put(m, "%s  %s_spring: {joint: %s", first ? "springs:\n" : "", j->name, j->name);
        first = false;
        if (j->stiffness != 0) put(m, ", stiffness: "), carom_put_number(&m->i, j->stiffness);
        if (j->stiffness != 0 && j->springref != j->ref)
            put(m, ", rest: "), carom_put_number(&m->i, j->springref - j->ref);
        if (j->damping != 0) put(m, ", damping: "), carom_put_number(&m->i, j->damping);
        put(m, "}\n");
    }
}

// Where shapes may touch planes the model starts beside them: MuJoCo lets them overlap, robots stand in the floor.
void mjcf_put_limits(const mjcf *m) {
    bool first = true, any = false, on_plane = false;
    for (const joint *j = m->joints; j; j = j->next) {
        if (!moves(j) || (!j->limited && j->friction == 0)) continue;
        if (first) put(m, "contacts:\n");
        first = false;
        if (j->limited) {
            put(m, "  %s_lower: {gap: %s.%s - (", j->name, j->name, coordinate(j)),
                carom_put_number(&m->i, j->range[0] - j->ref), put(m, ")}\n");
            put(m, "  %s_upper: {gap: ", j->name), carom_put_number(&m->i, j->range[1] - j->ref),
                put(m, " - %s.%s}\n", j->name, coordinate(j));
        }
        if (j->friction == 0) continue;
        put(m, "  %s_friction: {normal force: ", j->name), carom_put_number(&m->i, j->friction),
            put(m, ", slip: %s.%s, friction: 1}\n", j->name, coordinate(j));
    }
    // With planes of the world, by their masks; friction is the larger of the two.
    for (const geom *p = m->geoms; p; p = p->next) {
        if (p->of || strcmp(p->kind, "plane") != 0) continue;
        for (const geom *g = m->geoms; g; g = g->next) {
            if (!g->of || !((g->contype & p->conaffinity) || (p->contype & g->conaffinity))) continue;
            put(m, "%s  %s_%s_on_%s: {between: [%s.%s, %s], friction: ", first ? "contacts:\n" : "", g->of->name,
                g->name, p->name, g->of->name, g->name, p->name);
            carom_put_number(&m->i, fmax(g->friction, p->friction));
            put(m, "}\n");
            first = false, on_plane = true;
        }
    }
    for (const geom *g = m->i.def->floor ? m->geoms : NULL; g; g = g->next) {
        if (!g->of || g->drawn) continue;
        if (!any) put(m, "%s  on_floor: {friction: 0.8, between: [[", first ? "contacts:\n" : "");
        put(m, "%s%s.%s", any ? ", " : "", g->of->name, g->name);
        any = true;
    }
    if (any) put(m, "], floor]}\n");
    if (any || on_plane) put(m, "start: project\n");
}

// -- actuators --------------------------------------------------------------------------------------------------------

// An expression between two bounds.
static void put_cut(const mjcf *m, const char *text, bool cut, const double *range) {
    if (!cut) {
        put(m, "%s", text);
        return;
    }
    put(m, "max(min(%s, ", text), carom_put_number(&m->i, range[1]), put(m, "), "), carom_put_number(&m->i, range[0]),
        put(m, ")");
}

static bool is_limited(const mjcf *m, const xml_element *e, const char *attribute, bool range) {
    const char *word = mjcf_get(m, e, NULL, attribute);
    return word && strcmp(word, "auto") != 0 ? strcmp(word, "true") == 0 : range && m->autolimits;
}

static carom_status put_actuator(mjcf *m, const xml_element *e, const joint *j, const char *name) {
    double gear[6] = {1}, gain[3] = {1}, bias[3] = {0}, control[2] = {0}, force[2] = {0}, kp = 1, kv = 0;
    const char *const c = coordinate(j);
    bool has_control, has_force;
    int n;
    CAROM_TRY(mjcf_some(m, e, NULL, "gear", 6, gear, &n));
    CAROM_TRY(mjcf_vector(m, e, NULL, "ctrlrange", 2, control, &has_control));
    CAROM_TRY(mjcf_vector(m, e, NULL, "forcerange", 2, force, &has_force));
    CAROM_TRY(mjcf_some(m, e, NULL, "gainprm", 3, gain, &n));
    CAROM_TRY(mjcf_some(m, e, NULL, "biasprm", 3, bias, &n));
    const char *biastype = mjcf_get(m, e, NULL, "biastype"), *gaintype = mjcf_get(m, e, NULL, "gaintype");
    if (strcmp(e->name, "general") == 0 &&
        ((gaintype && strcmp(gaintype, "fixed") != 0) ||
         (biastype && strcmp(biastype, "none") != 0 && strcmp(biastype, "affine") != 0)))
        return mjcf_omit(m, "gains and biases of <general> other than fixed and affine: their inputs drive nothing"),
               put(m, "  %s_motor: {joint: %s, %s: 0}\n", name, j->name, j->type == SLIDE ? "force" : "torque"),
               CAROM_OK;
    if (!biastype || strcmp(biastype, "affine") != 0) bias[0] = bias[1] = bias[2] = 0;
    if (strcmp(e->name, "motor") == 0) gain[0] = 1, bias[0] = bias[1] = bias[2] = 0;
    if (strcmp(e->name, "position") == 0) {
        CAROM_TRY(mjcf_number(m, e, NULL, "kp", &kp));
        CAROM_TRY(mjcf_number(m, e, NULL, "kv", &kv));
        gain[0] = kp, bias[0] = 0, bias[1] = -kp, bias[2] = -kv;
    }
    if (strcmp(e->name, "velocity") == 0) {
        kv = 1;
        CAROM_TRY(mjcf_number(m, e, NULL, "kv", &kv));
        gain[0] = kv, bias[0] = bias[1] = 0, bias[2] = -kv;
    }
    put(m, "  %s_motor: {joint: %s, %s: \"", name, j->name, j->type == SLIDE ? "force" : "torque");
    const bool cut = is_limited(m, e, "forcelimited", has_force);
    if (gear[0] != 1) carom_put_number(&m->i, gear[0]), put(m, "*");
    put(m, cut ? "max(min(" : "(");
    if (gain[0] != 1) carom_put_number(&m->i, gain[0]), put(m, "*");
    put_cut(m, name, is_limited(m, e, "ctrllimited", has_control), control);
    if (bias[0] != 0) put(m, " + ("), carom_put_number(&m->i, bias[0]), put(m, ")");
    if (bias[1] != 0) {
        put(m, " + ("), carom_put_number(&m->i, bias[1] * gear[0]), put(m, ")*(%s.%s + (", j->name, c),
            carom_put_number(&m->i, j->ref), put(m, "))");
    }
    if (bias[2] != 0) put(m, " + ("), carom_put_number(&m->i, bias[2] * gear[0]), put(m, ")*%s.%s'", j->name, c);
    if (cut) put(m, ", "), carom_put_number(&m->i, force[1]), put(m, "), "), carom_put_number(&m->i, force[0]);
    put(m, ")\"}\n");
    return CAROM_OK;
}

// The joint that an actuator drives; NULL: none that moves.
static const joint *driven(const mjcf *m, const xml_element *e) {
    static const char *const known[] = {"motor", "position", "velocity", "general"};
    int k = 0;
    while (k < 4 && strcmp(known[k], e->name) != 0) ++k;
    const int at = k < 4 ? carom_table_get(&m->joint_of, mjcf_get(m, e, NULL, "joint")) : -1;
    return at >= 0 && moves(m->joint_at[at]) ? m->joint_at[at] : NULL;
}

// Inputs first, then motors.
carom_status mjcf_put_actuators(mjcf *m, const xml_element *root) {
    int n = 0;
    for (const xml_element *s = carom_xml_child(root, "actuator"); s; s = carom_xml_again(s))
        for (const xml_element *e = s->child; e; e = e->next) ++n;
    const char **input = carom_pool_take(&m->i.memory, ((size_t)n + 1) * sizeof *input);
    if (!input) return mjcf_no_memory(m);
    for (int pass = 0; pass < 2; ++pass) {
        bool first = true;
        int k = 0;
        for (const xml_element *s = carom_xml_child(root, "actuator"); s; s = carom_xml_again(s))
            for (const xml_element *e = s->child; e; e = e->next, ++k) {
                const joint *j = driven(m, e);
                char own[80];
                if (!j) {
                    snprintf(own, sizeof own, "<%.30s> that drives no hinge or slide", e->name);
                    if (pass == 0) mjcf_omit(m, own);
                    continue;
                }
                if (pass == 0) {
                    const char *word = carom_xml_get(e, "name");
                    snprintf(own, sizeof own, "%.60s%s", word ? word : j->name, word ? "" : "_control");
                    if (!(input[k] = carom_import_name(&m->i, own))) return mjcf_no_memory(m);
                    put(m, "%s  %s: 0\n", first ? "inputs:\n" : "", input[k]);
                } else {
                    put(m, "%s", first ? "motors:\n" : "");
                    CAROM_TRY(put_actuator(m, e, j, input[k]));
                }
                first = false;
            }
    }
    return CAROM_OK;
}

// -- equality ---------------------------------------------------------------------------------------------------------

static carom_status put_equality(mjcf *m, const xml_element *e, const char *name) {
    const char *active = mjcf_get(m, e, NULL, "active");
    if (active && strcmp(active, "false") == 0)
        return mjcf_omit(m, "equality constraints that are not active"), CAROM_OK;
    if (strcmp(e->name, "joint") == 0) {
        const char *one = carom_xml_get(e, "joint1"), *two = carom_xml_get(e, "joint2");
        const int a = carom_table_get(&m->joint_of, one), b = carom_table_get(&m->joint_of, two);
        double c[5] = {0, 1, 0, 0, 0};
        int n;
        CAROM_TRY(mjcf_some(m, e, NULL, "polycoef", 5, c, &n));
        if (a < 0 || (two && b < 0)) return fail(m, e, "an equality names a joint that does not exist");
        if (!two || !moves(m->joint_at[a]) || !moves(m->joint_at[b]) || c[0] != 0 || c[1] == 0 || c[2] != 0 ||
            c[3] != 0 || c[4] != 0)
            return mjcf_omit(m, "equality of joints that is not proportional"), CAROM_OK;
        put(m, "  %s: {type: gear, joints: [%s, %s], ratio: ", name, m->joint_at[b]->name, m->joint_at[a]->name),
            carom_put_number(&m->i, c[1]), put(m, "}\n");
        return CAROM_OK;
    }
    const bool weld = strcmp(e->name, "weld") == 0;
    const char *one = carom_xml_get(e, "body1"), *two = carom_xml_get(e, "body2");
    if ((!weld && strcmp(e->name, "connect") != 0) || !one) return mjcf_omit_element(m, e, "equality"), CAROM_OK;
    // `world` and no name are the ground
    const bool ground_a = strcmp(one, "world") == 0, ground_b = !two || strcmp(two, "world") == 0;
    const int a = ground_a ? -1 : carom_table_get(&m->body_of, one),
              b = ground_b ? -1 : carom_table_get(&m->body_of, two);
    const bool missing = (a < 0 && !ground_a) || (b < 0 && !ground_b);
    if (missing && m->composite) return mjcf_omit(m, "equality of bodies that belong to a <composite>"), CAROM_OK;
    if (missing) return fail(m, e, "an equality names a body that does not exist");
    const int A = a < 0 ? -1 : m->body_at[a]->carrier, B = b < 0 ? -1 : m->body_at[b]->carrier;
    if (A == B) return mjcf_omit(m, "equality of two parts of one body"), CAROM_OK;
    double anchor[3] = {0}, at[3];
    CAROM_TRY(mjcf_vector(m, e, NULL, "anchor", 3, anchor, NULL));
    const frame start = mjcf_start_frame(m), *f = a < 0 ? &start : &m->body_at[a]->at;
    carom_rotate_vector(f->R, anchor, at);
    for (int i = 0; i < 3; ++i) at[i] += f->r[i];
    put(m, "  %s: {type: %s, between: [%s, %s]", name, weld ? "weld" : "spherical", mjcf_carrier_name(m, B),
        mjcf_carrier_name(m, A));
    carom_put_list(&m->i, ", at: ", at, 3);
    put(m, "}\n");
    if (weld && carom_xml_get(e, "relpose")) mjcf_omit(m, "relpose of welds: bodies stay where they start");
    return CAROM_OK;
}

carom_status mjcf_put_all_joints(mjcf *m, const xml_element *root) {
    static const char *const word[] = {"revolute", "prismatic", "spherical", ""};
    put(m, "joints:\n");
    for (const joint *j = m->joints; j; j = j->next) {
        put(m, "  %s: {type: %s, between: [%s, %s]", j->name, word[j->type], j->A, j->B);
        carom_put_list(&m->i, ", at: ", j->at, 3);
        if (j->type != BALL) carom_put_list(&m->i, ", axis: ", j->axis, 3);
        put(m, "}\n");
        if (j->type == BALL && (j->damping != 0 || j->stiffness != 0 || j->friction != 0))
            mjcf_omit(m, "damping, stiffness and friction of ball joints");
    }
    for (const xml_element *s = carom_xml_child(root, "equality"); s; s = carom_xml_again(s))
        for (const xml_element *e = s->child; e; e = e->next) {
            const char *own = carom_xml_get(e, "name"), *name = carom_import_name(&m->i, own ? own : "equality");
            if (!name) return mjcf_no_memory(m);
            CAROM_TRY(put_equality(m, e, name));
        }
    return CAROM_OK;
}
