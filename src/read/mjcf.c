// mjcf.c: a model of MuJoCo (MJCF) becomes the text of a model file.
//
// Elements that have no counterpart are counted and listed at the end of the model.
#include "read/mjcf.h"
#include "base/pi.h"
#include "read/yaml.h"
#include "scheme/advice.h"
#include <string.h>

static carom_status read_settings(mjcf *m, const xml_element *root) {
    for (const xml_element *e = carom_xml_child(root, "compiler"); e; e = carom_xml_again(e)) {
        const char *angle = carom_xml_get(e, "angle"), *euler = carom_xml_get(e, "eulerseq"),
                   *dir = carom_xml_get(e, "meshdir"), *assets = carom_xml_get(e, "assetdir"),
                   *limits = carom_xml_get(e, "autolimits"), *coordinate_word = carom_xml_get(e, "coordinate"),
                   *from = carom_xml_get(e, "inertiafromgeom");
        if (angle) m->angle = strcmp(angle, "radian") == 0 ? 1 : PI / 180;
        if (euler && (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3))
            return fail(m, e, "eulerseq=\"%.20s\" must be three of x, y, z, X, Y, Z", euler);
        if (euler) m->eulerseq = euler;
        if (assets) m->meshdir = assets;
        if (dir) m->meshdir = dir;
        if (limits) m->autolimits = strcmp(limits, "true") == 0;
        if (from) m->from_geoms_always = strcmp(from, "true") == 0;
        if (coordinate_word) m->global = strcmp(coordinate_word, "global") == 0;
        if (carom_xml_get(e, "settotalmass")) mjcf_omit(m, "settotalmass of <compiler>");
    }
    for (const xml_element *e = carom_xml_child(root, "option"); e; e = carom_xml_again(e)) {
        CAROM_TRY(mjcf_vector(m, e, NULL, "gravity", 3, m->gravity, NULL));
        CAROM_TRY(mjcf_number(m, e, NULL, "timestep", &m->timestep));
    }
    for (const xml_element *e = carom_xml_child(root, "default"); e; e = carom_xml_again(e))
        CAROM_TRY(mjcf_read_classes(m, e, -1));
    for (const xml_element *a = carom_xml_child(root, "asset"); a; a = carom_xml_again(a))
        for (const xml_element *e = carom_xml_child(a, "mesh"); e; e = carom_xml_again(e)) ++m->nmeshes;
    m->meshes = carom_pool_take(&m->i.memory, ((size_t)m->nmeshes + 1) * sizeof *m->meshes);
    if (!m->meshes) return mjcf_no_memory(m);
    int n = 0;
    for (const xml_element *a = carom_xml_child(root, "asset"); a; a = carom_xml_again(a))
        for (const xml_element *e = carom_xml_child(a, "mesh"); e; e = carom_xml_again(e), ++n) {
            const char *name = carom_xml_get(e, "name"), *file = carom_xml_get(e, "file");
            m->meshes[n] = e;
            if (!name && file) { // the name of the file without directory and ending
                const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file, *dot = strrchr(start, '.');
                name = carom_pool_text(&m->i.memory, start, dot ? (size_t)(dot - start) : strlen(start));
            }
            if (name && !carom_table_put(&m->i.memory, &m->mesh_of, name, n)) return mjcf_no_memory(m);
        }
    return CAROM_OK;
}

static void list_omitted(mjcf *m, const xml_element *root) {
    static const char *const used[] = {"compiler", "option", "default", "worldbody", "actuator",
                                       "equality", "asset",  "size",    "statistic", "visual"};
    for (const xml_element *e = root->child; e; e = e->next) {
        size_t k = 0;
        while (k < sizeof used / sizeof *used && strcmp(used[k], e->name) != 0) ++k;
        if (k == sizeof used / sizeof *used)
            for (const xml_element *c = e->child; c; c = c->next) mjcf_omit_element(m, c, e->name);
    }
    int moving = 0;
    for (int i = 0; i < m->nbodies; ++i) moving += m->body_at[i]->carrier == i;
    if (moving > 1) mjcf_omit(m, "contacts between bodies that move");
    for (const geom *g = m->geoms; g; g = g->next)
        if (!g->of && strcmp(g->kind, "plane") != 0 && !g->drawn)
            mjcf_omit(m, "contacts with geometries of the world other than planes");
    if (m->nomitted == 0) return;
    put(m, "# omitted:\n");
    for (int k = 0; k < m->nomitted; ++k) {
        put(m, "#   %s (%d)\n", m->omitted[k].what, m->omitted[k].count);
        note(m, root, "omitted: %s (%d)", m->omitted[k].what, m->omitted[k].count);
    }
}

static carom_status convert(mjcf *m) {
    const carom_robot_def *def = m->i.def;
    CAROM_TRY(carom_text_check(def->text, def->length, def->file, m->i.err));
    xml_element *root = carom_xml_read(&m->i.memory, def->text, def->length, def->file, m->i.err);
    if (!root) return m->i.err->code;
    if (strcmp(root->name, "robot") == 0) return fail(m, root, "this is a URDF; use carom import urdf");
    if (strcmp(root->name, "mujoco") != 0)
        return fail(m, root, "the file begins with <%.40s>; an MJCF file begins with <mujoco>", root->name);
    CAROM_TRY(mjcf_include(m, root, 0));
    CAROM_TRY(read_settings(m, root));
    for (const xml_element *e = carom_xml_child(root, "worldbody"); e; e = carom_xml_again(e))
        CAROM_TRY(mjcf_read_world(m, e));
    int moving = 0;
    for (int i = 0; i < m->nbodies; ++i) moving += m->body_at[i]->carrier == i;
    if (moving == 0) return fail(m, root, "no body has a joint, so there is nothing to simulate");
    CAROM_TRY(mjcf_check_masses(m));
    carom_put_head(&m->i, carom_xml_get(root, "model"), m->gravity);
    mjcf_put_bodies(m);
    CAROM_TRY(mjcf_put_all_joints(m, root));
    mjcf_put_springs(m);
    CAROM_TRY(mjcf_put_actuators(m, root));
    mjcf_put_limits(m);
    put(m, "simulation: {scheme: " CAROM_SCHEME_OF_IMPORTS ", step: ");
    carom_put_number(&m->i, m->timestep), put(m, ", end: 1}\n");
    list_omitted(m, root);
    return CAROM_OK;
}

carom_status carom_mjcf_write(const carom_robot_def *def, carom_write_text *write, void *user, carom_error *err) {
    carom_error own = {.code = CAROM_OK};
    mjcf m = {.i = {.def = def, .err = &own, .write = write, .user = user},
              .angle = PI / 180,
              .eulerseq = "xyz",
              .meshdir = "",
              .autolimits = true,
              .gravity = {0, 0, -9.81}, // of the format
              .timestep = 2e-3 /* MuJoCo's */};
    m.last = &m.first, m.last_joint = &m.joints, m.last_geom = &m.geoms, m.last_helper = &m.helpers;
    const carom_status status = convert(&m);
    carom_pool_free(&m.i.memory);
    return status == CAROM_OK ? CAROM_OK : carom_fail(err, own.code, "%s", own.text);
}
