// mjcf_attributes.c: attributes of MJCF elements with their defaults, frames, included files.
#include "base/number.h"
#include "base/three.h"
#include "read/mjcf.h"
#include "read/yaml.h"
#include <stdio.h>
#include <string.h>

enum { DEEPEST_INCLUDE = 8 }; // chosen: deeper, a file includes itself

carom_status mjcf_no_memory(const mjcf *m) {
    return carom_fail(m->i.err, CAROM_NO_MEMORY, "not enough memory for a robot");
}

void mjcf_omit(mjcf *m, const char *what) {
    int k = 0;
    while (k < m->nomitted && strcmp(m->omitted[k].what, what) != 0) ++k;
    if (k == MOST_OMITTED) return;
    if (k == m->nomitted) {
        snprintf(m->omitted[k].what, sizeof m->omitted[k].what, "%.79s", what);
        m->omitted[m->nomitted++].count = 0;
    }
    ++m->omitted[k].count;
}

void mjcf_omit_element(mjcf *m, const xml_element *e, const char *in) {
    char text[80];
    snprintf(text, sizeof text, "<%.30s>%s%.30s", e->name, *in ? " of " : "", in);
    mjcf_omit(m, text);
}

// -- includes ---------------------------------------------------------------------------------------------------------

static void set_file(xml_element *e, const char *file) {
    e->file = file;
    for (xml_element *c = e->child; c; c = c->next) set_file(c, file);
}

carom_status mjcf_include(mjcf *m, xml_element *parent, int depth) {
    for (xml_element **at = &parent->child; *at;) {
        xml_element *e = *at;
        if (strcmp(e->name, "include") != 0) {
            CAROM_TRY(mjcf_include(m, e, depth));
            at = &e->next;
            continue;
        }
        const char *file = carom_xml_get(e, "file"), *text = NULL;
        char why[300] = "it cannot be read here";
        size_t length = 0;
        if (!file) return fail(m, e, "<include> has no file");
        if (depth == DEEPEST_INCLUDE) return fail(m, e, "files include each other more than %d deep", DEEPEST_INCLUDE);
        if (m->i.def->include) text = m->i.def->include(m->i.def->user, file, &length, why, sizeof why);
        if (!text) return fail(m, e, "the file '%.100s' is not included: %s", file, why);
        const char *name = carom_pool_text(&m->i.memory, file, strlen(file));
        if (!name) return mjcf_no_memory(m);
        CAROM_TRY(carom_text_check(text, length, name, m->i.err));
        xml_element *root = carom_xml_read(&m->i.memory, text, length, name, m->i.err);
        if (!root) return m->i.err->code;
        set_file(root, name);
        CAROM_TRY(mjcf_include(m, root, depth + 1));
        *at = root->child ? root->child : e->next;
        if (root->child) root->last->next = e->next;
        if (parent->last == e) parent->last = root->child ? root->last : NULL; // only `next` is used from here on
        while (root->child && *at != e->next) at = &(*at)->next;
    }
    return CAROM_OK;
}

// -- attributes and their defaults ------------------------------------------------------------------------------------

const char *mjcf_get(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute) {
    const char *own = carom_xml_get(e, attribute), *word = carom_xml_get(e, "class");
    if (own) return own;
    int k = carom_table_get(&m->class_of, word ? word : childclass ? childclass : "main");
    const bool actuator = strcmp(e->name, "motor") == 0 || strcmp(e->name, "position") == 0 ||
                          strcmp(e->name, "velocity") == 0 || strcmp(e->name, "general") == 0;
    for (; k >= 0; k = m->classes[k].parent) {
        const char *found = carom_xml_get(carom_xml_child(m->classes[k].e, e->name), attribute);
        if (!found && actuator) found = carom_xml_get(carom_xml_child(m->classes[k].e, "general"), attribute);
        if (found) return found;
    }
    return NULL;
}

carom_status mjcf_some(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, int most,
                       double *x, int *n) {
    const char *text = mjcf_get(m, e, childclass, attribute), *p = text;
    *n = 0;
    while (p && *(p += strspn(p, " \t\r\n,"))) {
        char *end = NULL;
        const double value = carom_number(p, &end);
        if (end == p || !isfinite(value))
            return fail(m, e, "%s=\"%.60s\" of <%.40s> must be numbers, got '%.20s'", attribute, text, e->name, p);
        if (*n < most) x[(*n)++] = value;
        p = end;
    }
    return CAROM_OK;
}

carom_status mjcf_number(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute,
                         double *x) {
    int n;
    double value;
    CAROM_TRY(mjcf_some(m, e, childclass, attribute, 1, &value, &n));
    if (n) *x = value;
    return CAROM_OK;
}

carom_status mjcf_vector(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, int want,
                         double *x, bool *there) {
    int n;
    double value[6];
    CAROM_TRY(mjcf_some(m, e, childclass, attribute, want, value, &n));
    if (n && n != want)
        return fail(m, e, "%s=\"%.60s\" of <%.40s> must be %d numbers", attribute,
                    mjcf_get(m, e, childclass, attribute), e->name, want);
    if (n) memcpy(x, value, (size_t)want * sizeof *x);
    if (there) *there = n > 0;
    return CAROM_OK;
}

bool mjcf_normalise(double *x) {
    const double size = unit(x);
    return size > 0 && isfinite(size);
}

frame mjcf_along(double *n, const double *r) {
    static const double OPPOSITE = 1e-12; // 1 + cos: of directions that any half turn takes into each other
    const bool turns = 1 + n[2] > OPPOSITE;
    const double q[4] = {turns ? 1 + n[2] : 0, turns ? -n[1] : 1, turns ? n[0] : 0, 0};
    return carom_from_quaternion(q, r);
}

carom_status mjcf_pose(const mjcf *m, const xml_element *e, const char *childclass, frame *f) {
    double pos[3] = {0}, x[6];
    bool there;
    *f = carom_frame_none();
    CAROM_TRY(mjcf_vector(m, e, childclass, "pos", 3, pos, NULL));
    CAROM_TRY(mjcf_vector(m, e, childclass, "quat", 4, x, &there));
    if (there) *f = carom_from_quaternion(x, pos);
    CAROM_TRY(mjcf_vector(m, e, childclass, "axisangle", 4, x, &there));
    if (there && !mjcf_normalise(x)) return fail(m, e, "axisangle of <%.40s> has an axis without length", e->name);
    if (there) *f = carom_about(x, x[3] * m->angle);
    CAROM_TRY(mjcf_vector(m, e, childclass, "euler", 3, x, &there));
    for (int i = 0; i < 3 && there; ++i) {
        const char c = m->eulerseq[i];
        const int k = (c | 32) - 'x';
        const double n[3] = {k == 0, k == 1, k == 2};
        const frame turn = carom_about(n, x[i] * m->angle);
        *f =
            c >= 'a' ? carom_compose(f, &turn) : carom_compose(&turn, f); // small letters turn about the axes that move
    }
    CAROM_TRY(mjcf_vector(m, e, childclass, "xyaxes", 6, x, &there));
    if (there) {
        double y[3], z[3];
        if (!mjcf_normalise(x)) return fail(m, e, "xyaxes of <%.40s> has an axis without length", e->name);
        const double dot = x[0] * x[3] + x[1] * x[4] + x[2] * x[5];
        for (int i = 0; i < 3; ++i) y[i] = x[3 + i] - dot * x[i];
        if (!mjcf_normalise(y)) return fail(m, e, "xyaxes of <%.40s> are parallel", e->name);
        z[0] = x[1] * y[2] - x[2] * y[1], z[1] = x[2] * y[0] - x[0] * y[2], z[2] = x[0] * y[1] - x[1] * y[0];
        for (int i = 0; i < 3; ++i) f->R[3 * i] = x[i], f->R[3 * i + 1] = y[i], f->R[3 * i + 2] = z[i];
    }
    CAROM_TRY(mjcf_vector(m, e, childclass, "zaxis", 3, x, &there));
    if (there && !mjcf_normalise(x)) return fail(m, e, "zaxis of <%.40s> has no length", e->name);
    if (there) *f = mjcf_along(x, pos);
    memcpy(f->r, pos, sizeof pos);
    return CAROM_OK;
}

carom_status mjcf_read_classes(mjcf *m, const xml_element *e, int parent) {
    const char *name = carom_xml_get(e, "class");
    if (!name) name = "main";
    int k = carom_table_get(&m->class_of, name);
    if (k < 0 || parent >= 0) {
        if (m->nclasses == CLASSES) return fail(m, e, "more than %d default classes", CLASSES);
        k = m->nclasses++;
        m->classes[k] = (class){e, name, parent};
        if (!carom_table_put(&m->i.memory, &m->class_of, name, k)) return mjcf_no_memory(m);
    }
    for (const xml_element *c = carom_xml_child(e, "default"); c; c = carom_xml_again(c))
        CAROM_TRY(mjcf_read_classes(m, c, k));
    return CAROM_OK;
}

frame mjcf_start_frame(const mjcf *m) {
    frame f = carom_frame_none();
    memcpy(f.r, m->i.def->at, sizeof f.r);
    return f;
}
