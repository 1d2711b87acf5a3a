// variables.c: which variables an FMU has, and what they are in terms of FMI.  Names are those of the columns of
// results (docs/results.md).
#include "base/grow.h"
#include "base/number.h"
#include "base/option.h"
#include "base/unit.h"
#include "model/answers.h"
#include "fmu/variables.h"
#include "mech/datum.h"
#include <carom/option.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fmu_role carom_fmu_role(fmu_kind kind) {
    static const fmu_role roles[FMU_KINDS] = {
        [FMU_TIME] = {"independent", "continuous", NULL, false},
        [FMU_STEP] = {"parameter", "fixed", "exact", true},
        [FMU_PARAMETER] = {"parameter", "fixed", "exact", true},
        [FMU_INPUT] = {"input", "continuous", NULL, true},
        [FMU_SIGNAL] = {"input", "continuous", NULL, true},
        [FMU_CALCULATED] = {"calculatedParameter", "fixed", "calculated", false},
        [FMU_POSITION] = {"local", "continuous", "exact", true},
        [FMU_VELOCITY] = {"local", "continuous", "exact", true},
        [FMU_OUTPUT] = {"output", "continuous", "calculated", false},
    };
    static const fmu_role local = {"local", "continuous", "calculated", false};
    return roles[kind].causality ? roles[kind] : local;
}

static fmu_variable *add(fmu_variables *v, fmu_kind kind, int index, const char *format, const char *name,
                         const char *part) {
    v->failed = v->failed || !CAROM_GROW(v->list, v->n);
    char text[512];
    snprintf(text, sizeof text, format, name, part);
    char *own = v->failed ? NULL : malloc(strlen(text) + 1);
    v->failed = !own;
    if (!own) return &v->nothing;
    v->list[v->n] = (fmu_variable){.name = strcpy(own, text), .kind = kind, .index = index};
    return &v->list[v->n++];
}

// -- parameters and states --------------------------------------------------------------------------------------------

// Is it given as a number?
static bool plain(const carom_datum *d) {
    char *end = NULL;
    if (d->kind == CAROM_NUMBER) return true;
    if (d->kind != CAROM_TEXT || d->length == 0) return false;
    double x;
    size_t at;
    carom_unit u;
    if (carom_quantity_read(d->text, d->length, &x, &u, &at) == CAROM_QUANTITY_READ) return true;
    carom_number(d->text, &end);
    return *end == 0;
}

static bool listed(char *const *list, const char *name) {
    for (int i = 0; list && list[i]; ++i)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

static void add_parameters(fmu_variables *v, const fmu_bundle *b, const carom_model *m) {
    for (int i = 0; i < carom_model_count(m).parameters; ++i) {
        double value;
        const char *name = carom_model_parameter(m, i, &value);
        const bool input = listed(b->inputs, name);
        add(v,
            input                                 ? FMU_INPUT
            : plain(&b->mech->parameters.item[i]) ? FMU_PARAMETER
                                                  : FMU_CALCULATED,
            i, "%s%s", name, "")
            ->start = value;
    }
}

// Those of section `inputs`; results have a column of each, too.
static bool is_input(const carom_model *m, const char *name) {
    const char *input;
    for (int i = 0; (input = carom_model_input(m, i, NULL)); ++i)
        if (strcmp(input, name) == 0) return true;
    return false;
}

static void add_inputs(fmu_variables *v, const carom_model *m) {
    const char *name;
    double value;
    for (int i = 0; (name = carom_model_input(m, i, &value)); ++i)
        add(v, FMU_SIGNAL, i, "%s%s", name, "")->start = value;
}

static const char *parameter_name(const void *mech, int i) {
    const carom_mech *m = mech;
    return i < m->parameters.count ? m->parameters.item[i].key->text : NULL;
}

static carom_status check_inputs(const fmu_bundle *b, const carom_model *m, carom_error *err) {
    for (int i = 0; b->inputs && b->inputs[i]; ++i) {
        const char *name;
        if (carom_datum_get(&b->mech->parameters, b->inputs[i]) || is_input(m, b->inputs[i])) continue;
        for (int k = 0; (name = carom_model_following(m, k)); ++k)
            if (strcmp(name, b->inputs[i]) == 0)
                return carom_fail(err, CAROM_BAD_INPUT,
                                  "input '%.60s' follows its signal in the model; `set %.60s=0` instead makes it an "
                                  "input of the FMU that starts with 0",
                                  name, name);
        const char *near = carom_nearest(b->inputs[i], parameter_name, b->mech);
        if (near)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "input '%.60s': the model has no parameter of that name; did you mean '%s'?",
                              b->inputs[i], near);
        return carom_fail(err, CAROM_BAD_INPUT,
                          "input '%.60s': the model has no parameter of that name; `carom info` lists them",
                          b->inputs[i]);
    }
    return CAROM_OK;
}

static void add_states(fmu_variables *v, const carom_model *m) {
    const carom_system *sys = carom_model_system(m);
    for (int i = 0; i < sys->nq; ++i)
        if (carom_model_recorded(m, i))
            add(v, FMU_POSITION, i, "%s%s", carom_model_coordinate(m, i), "")->start = carom_model_q0(m)[i];
    for (int i = 0; i < sys->nv; ++i)
        if (carom_model_velocity_recorded(m, i)) {
            fmu_variable *x = add(v, FMU_VELOCITY, i, "%s%s", carom_model_velocity(m, i), "");
            x->start = carom_model_v0(m)[i], x->state = carom_model_state(m, i);
        }
}

// -- contacts and joints ----------------------------------------------------------------------------------------------

static const char *constraint_name(const void *model, int id) { return carom_model_numbered(model, id); }

// The columns that results have by default; their values come from the same table.
static void add_reactions(fmu_variables *v, const carom_model *m) {
    v->groups = carom_groups_create(m);
    v->columns = (column_table){
        .model = m, .sys = carom_model_system(m), .name = constraint_name, .user = m, .groups = v->groups};
    v->failed = v->failed || !v->groups || !carom_columns_reactions(&v->columns, false) ||
                !carom_groups_ready(v->groups);
    for (int i = 0; i < v->columns.n && !v->failed; ++i) add(v, FMU_REACTION, i, "%s%s", v->columns.list[i].name, "");
}

// -- all --------------------------------------------------------------------------------------------------------------

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static carom_status check_names(const fmu_variables *v, carom_error *err) {
    char **name = malloc(((size_t)v->n + 1) * sizeof *name);
    if (!name) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the variables of an FMU");
    for (int i = 0; i < v->n; ++i) name[i] = v->list[i].name;
    qsort(name, (size_t)v->n, sizeof *name, by_name);
    carom_status status = CAROM_OK;
    for (int i = 1; i < v->n && status == CAROM_OK; ++i)
        if (strcmp(name[i - 1], name[i]) == 0)
            status = carom_fail(err, CAROM_BAD_INPUT,
                                "two variables of the FMU would be called '%.60s'; rename the output, contact or "
                                "parameter of that name",
                                name[i]);
    free(name);
    return status;
}

carom_status carom_fmu_variables(fmu_variables *v, const fmu_bundle *b, const carom_model *m, carom_error *err) {
    *v = (fmu_variables){.n = 0};
    CAROM_TRY(check_inputs(b, m, err));
    add(v, FMU_TIME, 0, "%s%s", "t", "");
    add(v, FMU_STEP, 0, "%s%s", "simulation.step", "")->start = b->step;
    add_parameters(v, b, m);
    add_inputs(v, m);
    add_states(v, m);
    add(v, FMU_KINETIC, 0, "%s%s", "kinetic", "");
    add(v, FMU_POTENTIAL, 0, "%s%s", "potential", "");
    add(v, FMU_ENERGY, 0, "%s%s", "energy", "");
    add_reactions(v, m);
    for (int i = 0; i < carom_model_count(m).outputs; ++i)
        if (!is_input(m, carom_model_output(m, i))) add(v, FMU_OUTPUT, i, "%s%s", carom_model_output(m, i), "");
    return v->failed ? carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the variables of an FMU")
                     : check_names(v, err);
}

void carom_fmu_variables_free(fmu_variables *v) {
    for (int i = 0; i < v->n; ++i) free(v->list[i].name);
    free(v->list);
    carom_columns_free(&v->columns);
    carom_groups_destroy(v->groups);
    *v = (fmu_variables){.n = 0};
}
