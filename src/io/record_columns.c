// record_columns.c: what a row holds: the table of columns, names, fields along flexible members.
#define _POSIX_C_SOURCE 200809L
#include "io/record.h"
#include "model/answers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// -- names ------------------------------------------------------------------------------------------

// The model's names first, then those that the definition gives, then numbers.
static bool name_constraints(carom_record *r, const carom_record_def *def) {
    const int ne = r->sys->ne, all = ne + r->nc;
    const carom_system *known = r->model ? carom_model_system(r->model) : NULL;
    r->constraint = calloc((size_t)all + 1, sizeof *r->constraint);
    for (int id = 0; r->constraint && id < all; ++id) {
        char number[32];
        snprintf(number, sizeof number, "%s%d", id < ne ? "constraint" : "contact", id < ne ? id + 1 : id - ne + 1);
        const char *name = known && id < known->ne + known->nc - known->listed ? carom_model_numbered(r->model, id)
                           : def->constraints                                  ? def->constraints[id]
                                                                               : number;
        r->constraint[id] = strdup(name);
        if (!r->constraint[id]) return false;
    }
    return r->constraint != NULL;
}

// What events are called by: those of the model have its names, others those of their columns.
const char *record_name(const carom_record *r, long long id) {
    const carom_system *known = r->model ? carom_model_system(r->model) : NULL;
    const bool own = id < r->sys->ne + r->nc;
    if (known && (!own || id < known->ne + known->nc - known->listed)) return carom_model_constraint(r->model, id);
    return own ? r->constraint[id] : NULL;
}

// -- the table of columns ----------------------------------------------------------------------------

static bool plain(carom_record *r, column_quantity of, int at, const char *name) {
    return carom_columns_add(&r->columns, of, at, name, CAROM_ROLE_OTHER, 0);
}

static bool state_columns(carom_record *r, const carom_record_def *def) {
    bool good = plain(r, CAROM_OF_TIME, 0, "t");
    for (int i = 0; r->model && i < r->sys->nq; ++i)
        if (carom_model_recorded(r->model, i))
            good = good && plain(r, CAROM_OF_POSITION, i, carom_model_coordinate(r->model, i));
    for (int i = 0; r->model && i < r->sys->nv; ++i)
        if (carom_model_velocity_recorded(r->model, i))
            good = good && plain(r, CAROM_OF_VELOCITY, i, carom_model_velocity(r->model, i));
    for (int rate = 0; !r->model && rate < 2; ++rate) // of programs: x, then x'
        for (int i = 0; i < (rate ? r->sys->nv : r->sys->nq); ++i) {
            const char *given = def->coordinates ? def->coordinates[i] : NULL;
            char name[300];
            if (given) snprintf(name, sizeof name, "%.280s%s", given, rate ? "'" : "");
            else snprintf(name, sizeof name, "q%d%s", i + 1, rate ? "'" : "");
            good = good && plain(r, rate ? CAROM_OF_VELOCITY : CAROM_OF_POSITION, i, name);
        }
    static const char *const energies[] = {"kinetic", "potential", "energy"};
    for (int i = 0; i < 3; ++i) good = good && plain(r, CAROM_OF_ENERGY, i, energies[i]);
    return good;
}

static const char *constraint_name(const void *record, int id) {
    return ((const carom_record *)record)->constraint[id];
}

static bool all_columns(carom_record *r, const carom_record_def *def) {
    bool good = state_columns(r, def) && carom_columns_reactions(&r->columns, r->positions);
    for (int i = 0; def->extra && def->extra[i]; ++i) good = good && plain(r, CAROM_OF_EXTRA, i, def->extra[i]);
    for (int i = 0; i < r->nout; ++i) good = good && plain(r, CAROM_OF_OUTPUT, i, carom_model_output(r->model, i));
    return good;
}

const double *record_reactions(const carom_record *r, const carom_now *now, const double *x, double *turned) {
    if (!r->turned) return x;
    carom_model_reactions(r->model, carom_sim_work(r->sim), now->t, now->q, now->dir, r->ndir, x, turned);
    return turned;
}

carom_status record_fill(carom_record *r, double *row, const carom_now *now, const double *impulse) {
    const carom_system *sys = r->sys;
    double energy[3], *out = r->out;
    void *work = carom_sim_work(r->sim);
    carom_copy(r->gap, now->gap, sys->ne + r->nc);
    if (r->extended || carom_model_row(r->model, work, now->t, now->q, now->v, energy, r->u, r->gap, out) != CAROM_OK) {
        CAROM_TRY(carom_sim_energy(r->sim, &energy[0], &energy[1], &r->err)); // one of these tells what failed
        CAROM_TRY(carom_sim_velocities(r->sim, r->u, &r->err));
        if (r->nout > 0) carom_model_outputs(r->model, work, now->t, now->q, now->v, out);
    }
    energy[2] = energy[0] + energy[1];
    const contact_groups *g = r->groups;
    const bool known = impulse != r->unknown;
    if (g->n) // r->force has those of contacts that are always there
        carom_groups_fill(r->groups, work, now, sys, r->gap, r->u,
                          !known                     ? NULL
                          : now->lasting == r->force ? carom_sim_now(r->sim).lasting
                                                     : now->lasting,
                          known ? r->group_acc : NULL);
    const double *const of[CAROM_QUANTITIES] = {
        [CAROM_OF_TIME] = &now->t,
        [CAROM_OF_POSITION] = now->q,
        [CAROM_OF_VELOCITY] = now->v,
        [CAROM_OF_ENERGY] = energy,
        [CAROM_OF_GAP] = r->gap,
        [CAROM_OF_GAP_RATE] = r->u,
        [CAROM_OF_FORCE] = now->lasting,
        [CAROM_OF_IMPULSE] = impulse,
        [CAROM_OF_JOINT_GAP] = now->gap,
        [CAROM_OF_JOINT_FORCE] = record_reactions(r, now, now->lasting, r->turned),
        [CAROM_OF_JOINT_IMPULSE] = impulse,
        [CAROM_OF_NU] = now->nu,
        [CAROM_OF_JOINT_NU] =
            r->positions ? record_reactions(r, now, now->nu, r->turned ? r->turned + r->ndir : NULL) : NULL,
        [CAROM_OF_GROUP_GAP] = g->gap,
        [CAROM_OF_GROUP_CLOSED] = g->closed,
        [CAROM_OF_GROUP_RATE] = g->rate,
        [CAROM_OF_GROUP_FORCE] = g->force,
        [CAROM_OF_GROUP_IMPULSE] = g->impulse,
        [CAROM_OF_GROUP_NU] = g->nu,
        [CAROM_OF_EXTRA] = r->extra,
        [CAROM_OF_OUTPUT] = out,
    };
    for (int i = 0; i < r->columns.n; ++i) row[i] = carom_column_value(&r->columns.list[i], of, r->gap, now->dir);
    return CAROM_OK;
}

// -- fields along members ----------------------------------------------------------------------------

static const char *stress_names(int width) {
    return width == 1 ? "stress" : width == 3 ? "N V moment" : "N Vv Vw torque moment_y moment_z";
}

static bool one_field(carom_record *r, int k, carom_field kind) {
    static const char *const word[] = {"displacement", "velocity", "stress"};
    const carom_model_member b = carom_model_member_at(r->model, k);
    h5_field_def *d = &r->field[r->nfield];
    d->places = (size_t)carom_member_field_rows(b.flex, kind);
    d->width = (size_t)carom_member_field_width(b.flex, kind);
    snprintf(d->name, sizeof d->name, "%.120s.%s", b.name, word[kind]);
    if (kind == CAROM_FIELD_STRESS)
        snprintf(d->components, sizeof d->components, "%s", stress_names((int)d->width));
    else
        for (int c = 0; c < (int)d->width; ++c)
            snprintf(d->components + strlen(d->components), sizeof d->components - strlen(d->components), "%s%s",
                     c ? " " : "", carom_member_component(carom_member_kind_of(b.flex), c));
    d->place = malloc(sizeof *d->place * d->places);
    if (!d->place) return false;
    for (int i = 0; i < (int)d->places; ++i) d->place[i] = carom_member_field_place(b.flex, kind, i);
    r->field_of[r->nfield].member = k;
    r->field_of[r->nfield++].kind = kind;
    return true;
}

static bool name_fields(carom_record *r) {
    const int n = r->model ? carom_model_count(r->model).members : 0;
    r->field = calloc(3 * (size_t)n + 1, sizeof *r->field);
    r->field_of = calloc(3 * (size_t)n + 1, sizeof *r->field_of);
    bool good = r->field && r->field_of;
    for (int k = 0; k < n && good; ++k)
        for (int kind = 0; kind < 3 && good; ++kind)
            if (carom_model_member_at(r->model, k).fields >> kind & 1) good = one_field(r, k, (carom_field)kind);
    return good;
}

carom_status record_fields(carom_record *r, const carom_now *now) {
    for (int i = 0; i < r->nfield; ++i) {
        const carom_model_member b = carom_model_member_at(r->model, r->field_of[i].member);
        double *row = h5_field_row(r->h5, i, &r->err);
        if (!row) return CAROM_IO;
        carom_member_field(b.flex, r->field_of[i].kind, now->q + b.q, now->v + b.v, row);
        CAROM_TRY(h5_field_done(r->h5, i, &r->err));
    }
    return CAROM_OK;
}

// -- columns that are asked for ----------------------------------------------------------------------

// Pattern i of the columns that are asked for; NULL: no more.
static const char *pattern_of(const carom_record *r, const carom_record_def *def, int i) {
    if (!def->columns) return carom_model_columns(r->model, i);
    for (int k = 0; k < i; ++k)
        if (!def->columns[k]) return NULL;
    return def->columns[i];
}

static bool is_all(const carom_record *r, const carom_record_def *def) {
    const char *first = pattern_of(r, def, 0);
    return first && strcmp(first, "all") == 0 && !pattern_of(r, def, 1);
}

// Pairs of shapes are columns on request: there are too many of them to make all names and look for those that match.
static bool request_pairs(carom_record *r, const carom_record_def *def) {
    enum { MOST = 1 << 20 }; // pairs: a file has at most 2^24 columns
    const char *pattern;
    carom_status status = CAROM_OK;
    for (int k = 0; (pattern = pattern_of(r, def, k)) && status == CAROM_OK; ++k) {
        if (is_all(r, def) || strchr(pattern, '-'))
            status = carom_groups_request(r->groups, is_all(r, def) ? NULL : pattern, MOST);
        else status = carom_groups_request_number(r->groups, pattern);
        if (status == CAROM_BAD_INPUT) r->crowded = pattern;
    }
    return status == CAROM_OK || r->crowded;
}

// Does the pattern match a column of two shapes A-B under the name B-A?
static bool matches_turned(const contact_groups *g, const table_column *c, const char *pattern) {
    if (!c->pair) return false;
    const contact_group *x = &g->list[c->pair - 1];
    const shape *s = g->model->shapes;
    char name[260];
    snprintf(name, sizeof name, "%.90s-%.90s%s", s[x->b].name, s[x->a].name, c->name + strlen(x->name));
    return carom_column_matches(pattern, name);
}

// Contacts that the model does not show by default have numbers where pairs are always there: exact names alone match.
static bool in_selection(const contact_groups *g, const table_column *c, const char *pattern) {
    return c->numbered ? strcmp(pattern, c->name) == 0
                       : carom_column_matches(pattern, c->name) || matches_turned(g, c, pattern);
}

// Columns that no pattern matches go; t stays.
static void select_columns(carom_record *r, const carom_record_def *def) {
    column_table *c = &r->columns;
    const char *pattern;
    if (!pattern_of(r, def, 0) || is_all(r, def)) return;
    for (int k = 0; (pattern = pattern_of(r, def, k)) && !r->unmatched; ++k) {
        bool some = false;
        for (int i = 0; i < c->n && !some; ++i) some = in_selection(c->groups, &c->list[i], pattern);
        if (!some) r->unmatched = pattern;
    }
    int n = 0;
    for (int i = 0; i < c->n; ++i) {
        bool in = i == 0;
        for (int k = 0; !in && (pattern = pattern_of(r, def, k)); ++k)
            in = in_selection(c->groups, &c->list[i], pattern);
        if (in) c->list[n++] = c->list[i];
        else free(c->list[i].name);
    }
    c->n = n;
}

// What every column is, for readers of the file.
static bool find_roles(carom_record *r) {
    static char *const of_quantity[CAROM_QUANTITIES] = {
        [CAROM_OF_TIME] = "time",     [CAROM_OF_POSITION] = "position", [CAROM_OF_VELOCITY] = "rate",
        [CAROM_OF_ENERGY] = "energy", [CAROM_OF_EXTRA] = "output",      [CAROM_OF_OUTPUT] = "output",
        [CAROM_OF_JOINT_GAP] = "constraint"};
    const int n = r->columns.n;
    r->role = calloc((size_t)n + 1, sizeof *r->role);
    r->column = calloc((size_t)n + 1, sizeof *r->column);
    for (int i = 0; r->role && r->column && i < n; ++i) {
        const table_column *c = &r->columns.list[i];
        const bool state = r->model && c->of == CAROM_OF_VELOCITY && carom_model_state(r->model, c->at);
        char *known = state ? "state" : of_quantity[c->of];
        r->role[i] = known ? known : (char *)carom_role_name(c->role);
        r->column[i] = c->name;
    }
    return r->role && r->column;
}

bool record_describe(carom_record *r, const carom_record_def *def) {
    const char *first = pattern_of(r, def, 0);
    r->groups = carom_groups_create(r->extended ? NULL : r->model);
    r->columns = (column_table){.model = r->model,
                                 .sys = r->sys,
                                 .name = constraint_name,
                                 .user = r,
                                 .groups = r->groups,
                                 .extended = r->extended,
                                 .numbered = first && !is_all(r, def)};
    if (!r->groups || !name_constraints(r, def) || !request_pairs(r, def)) return false;
    if (r->crowded) return true;
    if (!all_columns(r, def)) return false;
    select_columns(r, def);
    r->out = calloc((size_t)r->nout + 1, sizeof *r->out);
    return r->out && carom_groups_ready(r->groups) && find_roles(r) && name_fields(r);
}
