// matrices.c: matrices of flexible members that the user hands over beside the model: a model file names them, and
// opens no file itself.
#include "base/option.h"
#include "base/text.h"
#include "derive/resolver.h"
#include <carom/option.h>
#include <string.h>

static const char *matrix_name(const void *user, int i) {
    const carom_mech *x = user;
    return i < x->nmatrices ? x->matrices[i].name : NULL;
}

carom_status carom_resolve_matrix(resolver *r, const carom_datum *n, const char *what, carom_triplets *t) {
    const carom_mech *x = r->mech;
    int k = 0;
    if (n->kind != CAROM_TEXT || !carom_name_valid(n->text) || strchr(n->text, '.'))
        return carom_fault(r, n, 0, "%s is the name of a matrix, which `matrix NAME=FILE` gives", what);
    while (k < x->nmatrices && strcmp(x->matrices[k].name, n->text) != 0) ++k;
    if (k == x->nmatrices) {
        const char *near = carom_nearest(n->text, matrix_name, x);
        return carom_fault(r, n, 0, "no matrix '%.60s' is given%s%s%s; give its file: `matrix %.60s=FILE`", n->text,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", n->text);
    }
    r->m->matrix_used[k] = true;
    return carom_triplets_read(x->matrices[k].text, x->matrices[k].length, x->matrices[k].file, t, r->err);
}

carom_status carom_resolve_matrix_column(resolver *r, const carom_datum *n, const char *what, int rows, double *x) {
    carom_triplets t = {0};
    CAROM_TRY(carom_resolve_matrix(r, n, what, &t));
    carom_status status = CAROM_OK;
    if (t.cols != 1 || t.rows != rows)
        status = carom_fault(r, n, 0, "'%.60s' has %d rows and %d columns; %s is a column of %d rows", n->text, t.rows,
                             t.cols, what, rows);
    for (int i = 0; status == CAROM_OK && i < rows; ++i) x[i] = 0;
    for (size_t k = 0; status == CAROM_OK && k < t.count; ++k) x[t.row[k]] = t.value[k];
    carom_triplets_free(&t);
    return status;
}

carom_status carom_matrices_used(resolver *r) {
    const carom_mech *x = r->mech;
    for (int i = 0; i < x->nmatrices; ++i) // the file of an input's signal may have given way to another signal
        if (!r->m->matrix_used[i] && !carom_ends(x->matrices[i].name, ".csv"))
            return carom_fail(r->err, CAROM_BAD_INPUT,
                              "%.300s: the model names no matrix '%.60s'; leave `matrix %.60s=...` out", x->file,
                              x->matrices[i].name, x->matrices[i].name);
    return CAROM_OK;
}

const carom_matrix_text *carom_model_matrices(const carom_model *m, int *n) {
    if (!m || !n) return NULL;
    *n = m->mech->nmatrices;
    return m->mech->matrices;
}
