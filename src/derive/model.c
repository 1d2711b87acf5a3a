// model.c: create, destroy, and what a model answers.
#include "base/text.h"
#include "derive/shapes/shapes.h"
#include "model/conditions.h"
#include "mech/mech.h"
#include "read/mesh.h"
#include <stdlib.h>
#include <string.h>

static const char OBSERVING[] = "`observe`"; // the setting whose expressions a model observes

carom_status carom_model_begin(carom_model *m, carom_error *err) {
    void *work = carom_model_work(m, err);
    if (!work) return CAROM_NO_MEMORY;
    if (m->start) carom_copy(m->q0, m->start, m->nq), carom_copy(m->v0, m->start + m->nq, m->nv);
    carom_conditions_start(m, work);
    carom_status status = m->project ? carom_model_project(m, work, false, err) : CAROM_OK;
    if (status == CAROM_OK) status = carom_model_assemble(m, work, err);
    if (status == CAROM_OK && m->project) status = carom_model_project(m, work, true, err);
    if (status == CAROM_OK && m->settle) status = carom_model_settle(m, work, err);
    if (status == CAROM_OK) status = carom_model_start(m, work, err);
    if (status == CAROM_OK) status = carom_model_levers(m, work, err);
    free(work);
    return status;
}

// The system, and whether it may start where the file says.
static carom_status complete(carom_model *m, carom_error *err) {
    CAROM_TRY(carom_model_derive(m, err));
    CAROM_TRY(carom_model_system_make(m, err));
    m->start = m->np ? carom_pool_take(&m->memory, ((size_t)m->nq + (size_t)m->nv + 1) * sizeof *m->start) : NULL;
    if (m->np && !m->start) return carom_model_no_memory(m, err);
    if (m->start) carom_copy(m->start, m->q0, m->nq), carom_copy(m->start + m->nq, m->v0, m->nv);
    return carom_model_begin(m, err);
}

// The texts of what is observed, for when the model is derived again.
static bool keep_observed(carom_model *m, const char *const *observe) {
    const int n = carom_list_length(observe);
    m->observe = carom_pool_take(&m->memory, ((size_t)n + 1) * sizeof *m->observe);
    for (int i = 0; m->observe && i < n; ++i)
        if (!(m->observe[i] = carom_pool_text(&m->memory, observe[i], strlen(observe[i])))) return false;
    return m->observe;
}

static carom_status make(carom_model *m, const char *const *observe, carom_error *err) {
    resolver r = {.m = m,
                  .mech = m->mech,
                  .observe = observe,
                  .err = err,
                  .lazy = &carom_lazy_names,
                  .values = carom_graph_create()};
    m->graph = carom_graph_create();
    carom_status status = CAROM_OK;
    if (!r.values || !m->graph || !keep_observed(m, observe))
        status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a model");
    if (status == CAROM_OK) status = carom_derive_mechanism(&r);
    if (status == CAROM_OK) status = complete(m, err);
    if (status == CAROM_OK && (r.mech->nfigures || r.mech->ntouches)) status = carom_derive_draw(&r); // is it right?
    if (r.values) carom_graph_destroy(r.values);
    if (status == CAROM_OK) carom_forget_brief(&r);
    carom_pool_free(&r.brief);
    return status;
}

// The model of a mechanism, which now belongs to it.
static carom_model *model_of(carom_mech *mech, const char *const *observe, bool apart, bool pairs,
                             const char *observing, carom_error *err) {
    carom_model *m = mech ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        carom_mech_destroy(mech);
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a model");
        return NULL;
    }
    m->mech = mech;
    m->units = carom_mech_has_units(mech);
    m->apart = apart;
    m->observing = observing;
    m->written = pairs;
    m->file = mech->file;
    if (make(m, observe, err) == CAROM_OK) return m;
    carom_model_destroy(m);
    return NULL;
}

carom_model *carom_model_of(const carom_mech *mech, const char *const *observe, carom_error *err) {
    return carom_model_apart(mech, observe, false, false, OBSERVING, err);
}

carom_model *carom_model_apart(const carom_mech *mech, const char *const *observe, bool apart, bool pairs,
                               const char *observing, carom_error *err) {
    if (!mech) return carom_fail(err, CAROM_BAD_INPUT, "a model needs a mechanism"), NULL;
    return model_of(carom_mech_copy(mech), observe, apart, pairs, observing, err);
}

carom_model *carom_model_create(const carom_model_def *def, carom_error *err) {
    return carom_model_observing(def, OBSERVING, err);
}

carom_model *carom_model_observing(const carom_model_def *def, const char *observing, carom_error *err) {
    if (!def || !def->text) return carom_fail(err, CAROM_BAD_INPUT, "a model needs a text"), NULL;
    carom_mech *mech = carom_mech_read(def->text, def->length, def->file ? def->file : "model", err);
    if (!mech) return NULL;
    carom_status status = CAROM_OK;
    for (int i = 0; i < def->nmatrices && status == CAROM_OK; ++i)
        status = carom_mech_add_matrix(mech, &def->matrices[i], err);
    for (const char *const *set = def->set; set && *set && status == CAROM_OK; ++set)
        status = carom_mech_set(mech, *set, err);
    if (status == CAROM_OK) return model_of(mech, def->observe, false, def->pairs, observing, err);
    carom_mech_destroy(mech);
    return NULL;
}

void carom_model_destroy(carom_model *m) {
    if (!m) return;
    terms *const lists[] = {&m->mass, &m->W, &m->w, &m->K, &m->C, &m->dM, &m->dW, &m->dw, &m->point_force,
                            &m->as_written, &m->drag};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k) carom_terms_free(lists[k]);
    if (m->tape) carom_tape_destroy(m->tape);
    if (m->check_tape) carom_tape_destroy(m->check_tape);
    free(m->bounds_part);
    free(m->force_part);
    carom_tape_destroy(m->times.tape);
    free(m->times.part[0]);
    free(m->times.part[1]);
    carom_tape_destroy(m->bounce.tape);
    carom_tape_destroy(m->friction.tape);
    if (m->near) carom_tape_destroy(m->near->rub_tape), free(m->near->named);
    free(m->friction.reacting);
    free(m->bounce.node);
    free(m->bound);
    free(m->soft);
    free(m->compliant);
    free(m->kink);
    free(m->kink_of);
    free(m->asked);
    free(m->friction.node);
    for (int i = 0; i < m->npairs; ++i) carom_tape_destroy(m->pairs[i].own->tape);
    for (int i = 0; i < m->nkinds; ++i) carom_model_destroy(m->kinds[i].two);
    if (m->release) m->release(m->owned);
    if (m->graph) carom_graph_destroy(m->graph);
    if (m->free_names) free(m->free_names->text);
    carom_names_free(&m->names);
    carom_names_free(&m->outs);
    carom_names_free(&m->shape_names);
    carom_members_free(m);
    carom_pattern_destroy(m->mass_pattern);
    carom_pattern_destroy(m->tangent_pattern);
    for (int i = 0; i < m->nmeshes; ++i) carom_mesh_free(&m->meshes[i]);
    free(m->watch);
    carom_drawn_free(m->drawn);
    free(m->rows);
    carom_pool_free(&m->memory);
    carom_mech_destroy(m->mech);
    free(m);
}
