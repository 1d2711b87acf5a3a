// record_columns.c: what a row holds: the table of columns, names, fields along flexible members.
#define _POSIX_C_SOURCE 200809L
#include "base/column.h"
#include "base/grow.h"
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
        const char *name = known && id < known->ne + known->nc - known->listed ? carom_model_constraint(r->model, id)
                           : def->constraints                                  ? def->constraints[id]
                                                                               : number;
        r->constraint[id] = strdup(name);
        if (!r->constraint[id]) return false;
    }
    return r->constraint != NULL;
}

// Contacts that come and go have no columns; their names are the model's.
const char *record_name(const carom_record *r, long long id) {
    return id < r->sys->ne + r->nc ? r->constraint[id] : r->model ? carom_model_constraint(r->model, id) : NULL;
}

// -- the table of columns ----------------------------------------------------------------------------

// One more column, NAME or NAME.PART, PART with a number where there are several.
static bool add(carom_record *r, record_quantity of, int at, const char *name, carom_role role, int number) {
    if (!CAROM_GROW(r->column, r->ncol) || !CAROM_GROW(r->value, r->ncol)) return false;
    char text[512], part[40] = "";
    if (role != CAROM_ROLE_OTHER) carom_role_text(role, number, part, sizeof part);
    snprintf(text, sizeof text, "%s%s%s", name, *part ? "." : "", part);
    r->value[r->ncol] = (record_value){.of = of, .at = at, .scale = 1};
    r->column[r->ncol] = strdup(text);
    return r->column[r->ncol++] != NULL;
}

static bool plain(carom_record *r, record_quantity of, int at, const char *name) {
    return add(r, of, at, name, CAROM_ROLE_OTHER, 0);
}

static bool state_columns(carom_record *r, const carom_record_def *def) {
    bool good = plain(r, RECORD_TIME, 0, "t");
    for (int i = 0; r->model && i < r->sys->nq; ++i)
        if (carom_model_recorded(r->model, i))
            good = good && plain(r, RECORD_POSITION, i, carom_model_coordinate(r->model, i));
    for (int i = 0; r->model && i < r->sys->nv; ++i)
        if (carom_model_velocity_recorded(r->model, i))
            good = good && plain(r, RECORD_VELOCITY, i, carom_model_velocity(r->model, i));
    for (int rate = 0; !r->model && rate < 2; ++rate) // of programs: x, then x'
        for (int i = 0; i < (rate ? r->sys->nv : r->sys->nq); ++i) {
            const char *given = def->coordinates ? def->coordinates[i] : NULL;
            char name[300];
            if (given) snprintf(name, sizeof name, "%.280s%s", given, rate ? "'" : "");
            else snprintf(name, sizeof name, "q%d%s", i + 1, rate ? "'" : "");
            good = good && plain(r, rate ? RECORD_VELOCITY : RECORD_POSITION, i, name);
        }
    static const char *const energies[] = {"kinetic", "potential", "energy"};
    for (int i = 0; i < 3; ++i) good = good && plain(r, RECORD_ENERGY, i, energies[i]);
    return good;
}

// Tangents of an ellipse are scaled: the slip is u/a, the force a lambda.
static double scale_of(const carom_contact *c, int i) { return c->ellipse[0] > 0 && i <= 2 ? c->ellipse[i - 1] : 1; }

// parts: of contacts from id on, which are one to readers of the column.
static bool contact_columns(carom_record *r, const char *name, int id, int parts) {
    static const struct { record_quantity of; carom_role role; } list[] = {
        {RECORD_GAP, CAROM_ROLE_GAP},
        {RECORD_GAP_RATE, CAROM_ROLE_GAP_RATE},
        {RECORD_FORCE, CAROM_ROLE_FORCE},
        {RECORD_IMPULSE, CAROM_ROLE_IMPULSE},
        {RECORD_GAP_RATE, CAROM_ROLE_SLIP_RATE},
        {RECORD_FORCE, CAROM_ROLE_FRICTION},
        {RECORD_IMPULSE, CAROM_ROLE_FRICTION_IMPULSE},
    };
    const carom_contact *c = r->sys->contacts + id - r->sys->ne;
    const int before = r->ncol, first = parts ? 0 : carom_sim_now(r->sim).dir[id];
    bool good = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        const bool tangential = carom_role_parts[list[i].role].tangential;
        for (int k = tangential; good && k <= (tangential ? c->tangents : 0); ++k) {
            if (!tangential && c->pressed) continue;
            good = add(r, list[i].of, list[i].of == RECORD_GAP ? id : first + k, name, list[i].role,
                       c->tangents > 1 ? k : 0);
            if (good && tangential) r->value[r->ncol - 1].scale = scale_of(c, k);
        }
    }
    for (int i = before; i < r->ncol; ++i) r->value[i].first = id, r->value[i].parts = parts;
    return good;
}

// NAME.gap, ... of contacts NAME.1, NAME.2, ... that are parts of one gap.
static bool whole_columns(carom_record *r, int id) {
    const int parts = r->model ? carom_model_parts(r->model, id) : 0;
    char name[500];
    snprintf(name, sizeof name, "%s", r->constraint[id]);
    if (strrchr(name, '.')) *strrchr(name, '.') = 0;
    return parts == 0 || contact_columns(r, name, id, parts);
}

// Numbered for a joint with several constraints.
static bool joint_column(carom_record *r, int id, record_quantity of, carom_role role) {
    const int at = of == RECORD_JOINT_GAP ? id : carom_sim_now(r->sim).dir[id];
    return add(r, of, at, r->constraint[id], role, r->model ? carom_model_part(r->model, id) : 0);
}

// -- entries of pairs --------------------------------------------------------------------------------

// Which entries there are, and to which one contacts belong that are always there.
static bool find_entries(carom_record *r) {
    const int all = r->extended ? 0 : carom_model_entries(r->model), own = r->sys->nc - r->sys->listed;
    r->entry = calloc((size_t)all + 1, sizeof *r->entry);
    r->entry_of = calloc((size_t)own + 1, sizeof *r->entry_of);
    if (!r->entry || !r->entry_of) return false;
    for (int i = 0; i < all; ++i) r->entry[i] = carom_model_entry_name(r->model, i) ? r->nentry++ : -1;
    for (int c = 0; c < own; ++c) {
        const int e = all ? carom_model_entry_of(r->model, NULL, r->sys->ne + c) : -1;
        r->entry_of[c] = e < 0 ? -1 : r->entry[e];
    }
    r->entry_value = calloc(4 * (size_t)r->nentry + 1, sizeof *r->entry_value);
    return r->entry_value;
}

static bool has_column(const carom_record *r, const char *name, carom_role role) {
    char text[512];
    snprintf(text, sizeof text, "%.480s.%s", name, carom_role_parts[role].part);
    for (int i = 0; i < r->ncol; ++i)
        if (strcmp(r->column[i], text) == 0) return true;
    return false;
}

// NAME.gap, .force, .impulse, .closed of all contacts of an entry; an entry of one contact has the first three already.
static bool entry_columns(carom_record *r) {
    static const struct { record_quantity of; carom_role role; } list[] = {{RECORD_ENTRY_GAP, CAROM_ROLE_GAP},
                                                                           {RECORD_ENTRY_FORCE, CAROM_ROLE_FORCE},
                                                                           {RECORD_ENTRY_IMPULSE, CAROM_ROLE_IMPULSE},
                                                                           {RECORD_ENTRY_CLOSED, CAROM_ROLE_CLOSED}};
    bool good = true;
    for (int i = 0, k = 0; k < r->nentry && good; ++i) {
        if (r->entry[i] < 0) continue;
        const char *name = carom_model_entry_name(r->model, i);
        for (int j = 0; j < 4 && good; ++j)
            if (!has_column(r, name, list[j].role)) good = add(r, list[j].of, k, name, list[j].role, 0);
        ++k;
    }
    return good;
}

// The entry of contact id; -1: none.
static inline int entry_at(const carom_record *r, int id) {
    const int c = id - r->sys->ne, own = r->sys->nc - r->sys->listed;
    if (c < own) return r->entry_of[c];
    const int e = carom_model_entry_of(r->model, carom_sim_work(r->sim), id);
    return e < 0 ? -1 : r->entry[e];
}

void record_add_entries(carom_record *r, const carom_now *now) {
    for (int id = r->sys->ne; id < r->sys->ne + r->sys->nc; ++id) {
        const double p = now->impulse[now->dir[id]];
        const int e = p != 0 ? entry_at(r, id) : -1;
        if (e >= 0) r->entry_acc[e] += p;
    }
}

// The least gap, the sum of forces and the number of closed contacts, of every entry.  A gap that no list has is not
// known: NaN.
static void fill_entries(carom_record *r, const carom_now *now, const double *impulse) {
    const int n = r->nentry, ne = r->sys->ne, own = r->sys->nc - r->sys->listed;
    double *gap = r->entry_value, *force = gap + n, *p = force + n, *closed = p + n;
    // r->force has those of contacts with columns alone
    const double *lasting = now->lasting == r->force ? carom_sim_now(r->sim).lasting : now->lasting;
    for (int e = 0; e < n; ++e) gap[e] = HUGE_VAL, force[e] = closed[e] = 0;
    for (int id = ne; id < ne + r->sys->nc; ++id) {
        const double g = id < ne + own ? r->gap[id] : now->gap[id];
        if (id >= ne + own && !(g < HUGE_VAL)) continue; // a slot that is not in use
        const int e = entry_at(r, id);
        if (e < 0) continue;
        const double f = lasting == r->unknown ? NAN : lasting[now->dir[id]];
        gap[e] = fmin(gap[e], g);
        force[e] += f;
        closed[e] += g <= 0 || f > 0;
    }
    for (int e = 0; e < n; ++e) {
        if (!(gap[e] < HUGE_VAL)) gap[e] = NAN;
        p[e] = impulse == r->unknown ? NAN : r->entry_acc[e];
    }
}

static bool all_columns(carom_record *r, const carom_record_def *def) {
    const int ne = r->sys->ne;
    bool good = state_columns(r, def);
    for (int c = 0; c < r->nc; ++c)
        good = good && whole_columns(r, ne + c) && contact_columns(r, r->constraint[ne + c], ne + c, 0);
    good = good && entry_columns(r);
    for (int id = 0; id < ne; ++id)
        good = good && joint_column(r, id, RECORD_JOINT_GAP, CAROM_ROLE_GAP) &&
               joint_column(r, id, RECORD_JOINT_FORCE, CAROM_ROLE_FORCE) &&
               joint_column(r, id, RECORD_IMPULSE, CAROM_ROLE_IMPULSE);
    for (int c = 0; r->positions && c < r->nc; ++c)
        good = good && add(r, RECORD_NU, carom_sim_now(r->sim).dir[ne + c], r->constraint[ne + c], CAROM_ROLE_NU, 0);
    for (int id = 0; r->positions && id < ne; ++id) good = good && joint_column(r, id, RECORD_JOINT_NU, CAROM_ROLE_NU);
    for (int i = 0; def->extra && def->extra[i]; ++i) good = good && plain(r, RECORD_EXTRA, i, def->extra[i]);
    for (int i = 0; i < r->nout; ++i) good = good && plain(r, RECORD_OUTPUT, i, carom_model_output(r->model, i));
    return good;
}

const double *record_reactions(const carom_record *r, const carom_now *now, const double *x, double *turned) {
    if (!r->turned) return x;
    carom_model_reactions(r->model, carom_sim_work(r->sim), now->t, now->q, now->dir, r->ndir, x, turned);
    return turned;
}

// The least gap of several parts, its rate, the sum of their reactions.
static double value_of_whole(const carom_record *r, const carom_now *now, const record_value *c, const double *x) {
    int least = c->first;
    double sum = 0;
    for (int id = c->first; id < c->first + c->parts; ++id) {
        if (r->gap[id] < r->gap[least]) least = id;
        if (c->of != RECORD_GAP) sum += x[now->dir[id] + c->at];
    }
    return c->of == RECORD_GAP ? x[least] : c->of == RECORD_GAP_RATE ? x[now->dir[least] + c->at] : sum;
}

// What is not plain.
static double value_of(const carom_record *r, const carom_now *now, const record_value *c, const double *x) {
    const double y = c->parts ? value_of_whole(r, now, c, x) : x[c->at];
    return c->of == RECORD_GAP_RATE ? y / c->scale : y * c->scale;
}

carom_status record_fill(carom_record *r, double *row, const carom_now *now, const double *impulse) {
    const carom_system *sys = r->sys;
    double energy[3], *out = r->out;
    void *work = carom_sim_work(r->sim);
    carom_copy(r->gap, now->gap, sys->ne + (r->nentry ? sys->nc - sys->listed : r->nc));
    if (r->extended || carom_model_row(r->model, work, now->t, now->q, now->v, energy, r->u, r->gap, out) != CAROM_OK) {
        CAROM_TRY(carom_sim_energy(r->sim, &energy[0], &energy[1], &r->err)); // one of these tells what failed
        CAROM_TRY(carom_sim_velocities(r->sim, r->u, &r->err));
        if (r->nout > 0) carom_model_outputs(r->model, work, now->t, now->q, now->v, out);
    }
    energy[2] = energy[0] + energy[1];
    if (r->nentry) fill_entries(r, now, impulse);
    const double *of[RECORD_QUANTITIES] = {
        [RECORD_TIME] = &now->t,
        [RECORD_POSITION] = now->q,
        [RECORD_VELOCITY] = now->v,
        [RECORD_ENERGY] = energy,
        [RECORD_GAP] = r->gap,
        [RECORD_GAP_RATE] = r->u,
        [RECORD_FORCE] = now->lasting,
        [RECORD_IMPULSE] = impulse,
        [RECORD_JOINT_GAP] = now->gap,
        [RECORD_JOINT_FORCE] = record_reactions(r, now, now->lasting, r->turned),
        [RECORD_NU] = now->nu,
        [RECORD_ENTRY_GAP] = r->entry_value,
        [RECORD_ENTRY_FORCE] = r->entry_value + r->nentry,
        [RECORD_ENTRY_IMPULSE] = r->entry_value + 2 * r->nentry,
        [RECORD_ENTRY_CLOSED] = r->entry_value + 3 * r->nentry,
        [RECORD_EXTRA] = r->extra,
        [RECORD_OUTPUT] = out,
        [RECORD_JOINT_NU] =
            r->positions ? record_reactions(r, now, now->nu, r->turned ? r->turned + r->ndir : NULL) : NULL,
    };
    for (int i = 0; i < r->ncol; ++i) {
        const record_value *c = &r->value[i];
        row[i] = c->plain ? of[c->of][c->at] : value_of(r, now, c, of[c->of]);
    }
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

const char *record_pattern(const carom_record *r, const carom_record_def *def, int i) {
    if (!def->columns) return carom_model_columns(r->model, i);
    for (int k = 0; k < i; ++k)
        if (!def->columns[k]) return NULL;
    return def->columns[i];
}

// * stands for any text, ? for any character.  What a * takes grows only behind the last one, so that the work is at
// most the product of both lengths.
static bool matches(const char *pattern, const char *name) {
    const char *star = NULL, *taken = NULL; // the last *, and where what it takes ends
    while (*name) {
        if (*pattern == '*') star = pattern++, taken = name;
        else if (*pattern == '?' || *pattern == *name) ++pattern, ++name;
        else if (star) pattern = star + 1, name = ++taken;
        else return false;
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

// Columns that no pattern matches go; t stays.
static void select_columns(carom_record *r, const carom_record_def *def) {
    const char *first = record_pattern(r, def, 0), *pattern;
    if (!first || (strcmp(first, "all") == 0 && !record_pattern(r, def, 1))) return;
    for (int k = 0; (pattern = record_pattern(r, def, k)) && !r->unmatched; ++k) {
        bool some = false;
        for (int i = 0; i < r->ncol && !some; ++i) some = matches(pattern, r->column[i]);
        if (!some) r->unmatched = pattern;
    }
    int n = 0;
    for (int i = 0; i < r->ncol; ++i) {
        bool in = i == 0;
        for (int k = 0; !in && (pattern = record_pattern(r, def, k)); ++k) in = matches(pattern, r->column[i]);
        if (in) r->column[n] = r->column[i], r->value[n++] = r->value[i];
        else free(r->column[i]);
    }
    r->ncol = n;
}

// What every column is, for readers of the file.
static bool find_roles(carom_record *r) {
    static char *const of_quantity[RECORD_QUANTITIES] = {
        [RECORD_TIME] = "time",     [RECORD_POSITION] = "position", [RECORD_VELOCITY] = "rate",
        [RECORD_ENERGY] = "energy", [RECORD_EXTRA] = "output",      [RECORD_OUTPUT] = "output",
        [RECORD_JOINT_GAP] = "constraint"};
    r->role = calloc((size_t)r->ncol + 1, sizeof *r->role);
    for (int i = 0; r->role && i < r->ncol; ++i) {
        const bool state =
            r->model && r->value[i].of == RECORD_VELOCITY && carom_model_state(r->model, r->value[i].at);
        char *known = state ? "state" : of_quantity[r->value[i].of];
        r->role[i] = known ? known : (char *)carom_role_name(carom_column_role(r->column[i]));
    }
    return r->role;
}

bool record_describe(carom_record *r, const carom_record_def *def) {
    if (!name_constraints(r, def) || !find_entries(r) || !all_columns(r, def)) return false;
    select_columns(r, def);
    r->out = calloc((size_t)r->nout + 1, sizeof *r->out);
    if (!r->out || !find_roles(r)) return false;
    for (int i = 0; i < r->ncol; ++i) r->value[i].plain = r->value[i].parts == 0 && r->value[i].scale == 1;
    return name_fields(r);
}
