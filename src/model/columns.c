// columns.c: see columns.h.
#include "base/grow.h"
#include "model/answers.h"
#include "model/columns.h"
#include "system/system.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool carom_columns_add(column_table *c, column_quantity of, int at, const char *name, carom_role role, int number) {
    char part[40] = "";
    if (role != CAROM_ROLE_OTHER) carom_role_text(role, number, part, sizeof part);
    const size_t size = strlen(name) + strlen(part) + 2;
    char *own = CAROM_GROW(c->list, c->n) ? malloc(size) : NULL;
    if (!own) return false;
    snprintf(own, size, "%s%s%s", name, *part ? "." : "", part);
    c->list[c->n++] = (table_column){.name = own, .role = role, .of = of, .at = at, .scale = 1};
    return true;
}

void carom_columns_free(column_table *c) {
    for (int i = 0; i < c->n; ++i) free(c->list[i].name);
    free(c->list);
    c->list = NULL, c->n = 0;
}

static int first_direction(const carom_system *sys, int id) {
    int dir = 0;
    for (int i = 0; i < id; ++i) dir += carom_system_recorded(sys, i);
    return dir;
}

// All that one contact has: of[] are quantities of the gap, and of what follows it; at: of the gap, and the first
// direction.
static bool contact_columns(column_table *c, const char *name, const column_quantity of[4], int at, int dir,
                            int tangents, bool pressed) {
    static const struct { int of; carom_role role; } list[] = {
        {0, CAROM_ROLE_GAP},      {1, CAROM_ROLE_GAP_RATE}, {2, CAROM_ROLE_FORCE},           {3, CAROM_ROLE_IMPULSE},
        {1, CAROM_ROLE_SLIP_RATE}, {2, CAROM_ROLE_FRICTION}, {3, CAROM_ROLE_FRICTION_IMPULSE}};
    bool good = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        const bool tangential = carom_role_parts[list[i].role].tangential;
        for (int k = tangential; good && k <= (tangential ? tangents : 0); ++k)
            good = (!tangential && pressed) || carom_columns_add(c, of[list[i].of], list[i].of ? dir + k : at, name,
                                                                 list[i].role, tangents > 1 ? k : 0);
    }
    return good;
}

// parts: of contacts from id on, which are one to readers of the column.
static bool own_columns(column_table *c, const char *name, int id, int dir, int parts) {
    static const column_quantity of[] = {CAROM_OF_GAP, CAROM_OF_GAP_RATE, CAROM_OF_FORCE, CAROM_OF_IMPULSE};
    const carom_contact *law = c->sys->contacts + id - c->sys->ne;
    const int before = c->n, first = parts ? 0 : dir;
    const bool good = contact_columns(c, name, of, id, first, law->tangents, law->friction_only);
    for (int i = before; i < c->n; ++i) {
        table_column *x = &c->list[i];
        const int k = x->at - first; // tangents of an ellipse are scaled: the slip is u/a, the force a lambda
        x->first = id, x->parts = parts;
        if (x->of != CAROM_OF_GAP && k > 0 && k <= 2 && law->ellipse[0] > 0) x->scale = law->ellipse[k - 1];
    }
    return good;
}

// NAME.gap, ... of contacts NAME.1, NAME.2, ... that are parts of one gap.
static bool whole_columns(column_table *c, int id, int dir) {
    const int parts = c->model ? carom_model_parts(c->model, id) : 0;
    char name[500];
    snprintf(name, sizeof name, "%s", c->name(c->user, id));
    if (strrchr(name, '.')) *strrchr(name, '.') = 0;
    return parts == 0 || own_columns(c, name, id, dir, parts);
}

static bool has_column(const column_table *c, const char *name, carom_role role) {
    char text[512];
    snprintf(text, sizeof text, "%.480s.%s", name, carom_role_parts[role].part);
    for (int i = 0; i < c->n; ++i)
        if (strcmp(c->list[i].name, text) == 0) return true;
    return false;
}

// A contact of a list has what one that is always there has; others NAME.gap, .force, .impulse, .closed.  An entry of
// one contact has the first three already.
static bool group_columns(column_table *c, int i) {
    static const column_quantity single[] = {CAROM_OF_GROUP_GAP, CAROM_OF_GROUP_RATE, CAROM_OF_GROUP_FORCE,
                                            CAROM_OF_GROUP_IMPULSE};
    static const struct { column_quantity of; carom_role role; } list[] = {
        {CAROM_OF_GROUP_GAP, CAROM_ROLE_GAP},         {CAROM_OF_GROUP_FORCE, CAROM_ROLE_FORCE},
        {CAROM_OF_GROUP_IMPULSE, CAROM_ROLE_IMPULSE}, {CAROM_OF_GROUP_CLOSED, CAROM_ROLE_CLOSED}};
    const contact_group *g = &c->groups->list[i];
    bool good = true;
    if (g->single) {
        const int before = c->n;
        good = contact_columns(c, g->name, single, i, CAROM_GROUP_ROWS * i, g->tangents, false);
        for (int k = before; k < c->n; ++k) c->list[k].numbered = g->numbered;
        return good;
    }
    for (int k = 0; k < 4 && good; ++k) {
        const bool number = list[k].of == CAROM_OF_GROUP_GAP || list[k].of == CAROM_OF_GROUP_CLOSED;
        if (g->kind == CAROM_GROUP_ENTRY && has_column(c, g->name, list[k].role)) continue;
        good = carom_columns_add(c, list[k].of, number ? i : CAROM_GROUP_ROWS * i, g->name, list[k].role, 0);
    }
    return good;
}

static bool all_groups(column_table *c) {
    static const carom_group_kind order[] = {CAROM_GROUP_CONTACT, CAROM_GROUP_ENTRY, CAROM_GROUP_PAIR};
    bool good = true;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; c->groups && i < c->groups->n && good; ++i)
            if (c->groups->list[i].kind == order[k]) {
                const int before = c->n;
                good = group_columns(c, i);
                for (int at = before; at < c->n && order[k] == CAROM_GROUP_PAIR; ++at) c->list[at].pair = 1 + i;
            }
    return good;
}

// Numbered for a joint with several constraints.
static bool joint_column(column_table *c, int id, int at, column_quantity of, carom_role role) {
    return carom_columns_add(c, of, at, c->name(c->user, id), role, c->model ? carom_model_part(c->model, id) : 0);
}

static bool known(const column_table *c, int id) { return c->extended || carom_model_shown(c->model, id); }
static bool shows(const column_table *c, int id) { return c->numbered || known(c, id); }

static void mark(column_table *c, int id, int from) {
    for (int i = from; i < c->n; ++i) c->list[i].numbered = !known(c, id);
}

bool carom_columns_reactions(column_table *c, bool positions) {
    const carom_system *sys = c->sys;
    const int ne = sys->ne, own = sys->nc - sys->listed, first = first_direction(sys, ne);
    bool good = true;
    for (int i = 0, dir = first; i < own; dir += carom_system_recorded(sys, ne + i++))
        if (shows(c, ne + i)) {
            const int before = c->n;
            good = good && whole_columns(c, ne + i, dir) && own_columns(c, c->name(c->user, ne + i), ne + i, dir, 0);
            mark(c, ne + i, before);
        }
    good = good && all_groups(c);
    for (int id = 0, dir = 0; id < ne; dir += carom_system_recorded(sys, id++))
        good = good && (carom_on_rates(sys, id) || joint_column(c, id, id, CAROM_OF_JOINT_GAP, CAROM_ROLE_GAP)) &&
               joint_column(c, id, dir, CAROM_OF_JOINT_FORCE, CAROM_ROLE_FORCE) &&
               joint_column(c, id, dir, CAROM_OF_JOINT_IMPULSE, CAROM_ROLE_IMPULSE);
    for (int i = 0, dir = first; positions && i < own; dir += carom_system_recorded(sys, ne + i++))
        if (shows(c, ne + i)) {
            good = good && carom_columns_add(c, CAROM_OF_NU, dir, c->name(c->user, ne + i), CAROM_ROLE_NU, 0);
            mark(c, ne + i, c->n - 1);
        }
    for (int i = 0; positions && c->groups && i < c->groups->n; ++i)
        if (c->groups->list[i].kind == CAROM_GROUP_CONTACT) {
            good = good && carom_columns_add(c, CAROM_OF_GROUP_NU, i, c->groups->list[i].name, CAROM_ROLE_NU, 0);
            if (good) c->list[c->n - 1].numbered = c->groups->list[i].numbered;
        }
    for (int id = 0, dir = 0; positions && id < ne; dir += carom_system_recorded(sys, id++))
        good = good && joint_column(c, id, dir, CAROM_OF_JOINT_NU, CAROM_ROLE_NU);
    return good;
}

// -- values -----------------------------------------------------------------------------------------------------------

// The least gap of several parts, its rate, the sum of their reactions.
static double value_of_whole(const table_column *c, const double *x, const double *gap, const int *dir) {
    int least = c->first;
    double sum = 0;
    for (int id = c->first; id < c->first + c->parts; ++id) {
        if (gap[id] < gap[least]) least = id;
        if (c->of != CAROM_OF_GAP) sum += x[dir[id] + c->at];
    }
    return c->of == CAROM_OF_GAP ? x[least] : c->of == CAROM_OF_GAP_RATE ? x[dir[least] + c->at] : sum;
}

double carom_column_value(const table_column *c, const double *const *of, const double *gap, const int *dir) {
    const double *x = of[c->of], y = c->parts ? value_of_whole(c, x, gap, dir) : x[c->at];
    return c->scale == 1 ? y : c->of == CAROM_OF_GAP_RATE ? y / c->scale : y * c->scale;
}
