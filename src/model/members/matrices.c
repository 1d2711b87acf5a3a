// matrices.c: matrices of flexible members that the user hands over beside the model: a model file names them, and opens no
// file itself.
#include "model/model.h"
#include <carom/option.h>
#include <stdlib.h>
#include <string.h>

// The model keeps its own copies: results take them from there.
carom_status carom_read_matrix_texts(reader *r, const carom_matrix_text *list, int n) {
    carom_model *m = r->m;
    m->matrix = carom_pool_take(&m->memory, (size_t)(n + 1) * sizeof *m->matrix);
    m->matrix_used = carom_pool_take(&m->memory, (size_t)(n + 1) * sizeof *m->matrix_used);
    if (!m->matrix || !m->matrix_used) return carom_read_memory(r);
    for (int i = 0; i < n; ++i) {
        const char *file = list[i].file ? list[i].file : list[i].name;
        for (int k = 0; k < i; ++k)
            if (strcmp(list[k].name, list[i].name) == 0)
                return carom_fail(r->err, CAROM_BAD_INPUT, "%.300s: the matrix '%.60s' is given twice", m->file, list[i].name);
        m->matrix[i] = (carom_matrix_text){.name = carom_pool_text(&m->memory, list[i].name, strlen(list[i].name)),
                                           .text = carom_pool_text(&m->memory, list[i].text, list[i].length), .length = list[i].length,
                                           .file = carom_pool_text(&m->memory, file, strlen(file))};
        if (!m->matrix[i].name || !m->matrix[i].text || !m->matrix[i].file) return carom_read_memory(r);
    }
    m->nmatrix = n;
    return CAROM_OK;
}

static const char *matrix_name(const void *user, int i) {
    const carom_model *m = user;
    return i < m->nmatrix ? m->matrix[i].name : NULL;
}

carom_status carom_read_matrix(reader *r, const carom_datum *n, const char *what, carom_triplets *t) {
    carom_model *m = r->m;
    int k = 0;
    if (n->kind != CAROM_TEXT || !carom_name_valid(n->text) || strchr(n->text, '.'))
        return carom_read_fail(r, n, 0, "%s is the name of a matrix, which --matrix NAME=FILE gives", what);
    while (k < m->nmatrix && strcmp(m->matrix[k].name, n->text) != 0) ++k;
    if (k == m->nmatrix) {
        const char *near = carom_nearest(n->text, matrix_name, m);
        return carom_read_fail(r, n, 0, "no matrix '%.60s' is given%s%s%s; say where it is: --matrix %.60s=FILE", n->text, near ? "; did you mean '" : "",
                               near ? near : "", near ? "'?" : "", n->text);
    }
    m->matrix_used[k] = true;
    return carom_triplets_read(m->matrix[k].text, m->matrix[k].length, m->matrix[k].file, t, r->err);
}

carom_status carom_read_matrix_column(reader *r, const carom_datum *n, const char *what, int rows, double *x) {
    carom_triplets t = {0};
    CAROM_TRY(carom_read_matrix(r, n, what, &t));
    carom_status status = CAROM_OK;
    if (t.cols != 1 || t.rows != rows)
        status = carom_read_fail(r, n, 0, "'%.60s' has %d rows and %d columns; %s is a column of %d rows", n->text, t.rows, t.cols, what, rows);
    for (int i = 0; status == CAROM_OK && i < rows; ++i) x[i] = 0;
    for (size_t k = 0; status == CAROM_OK && k < t.count; ++k) x[t.row[k]] = t.value[k];
    carom_triplets_free(&t);
    return status;
}

carom_status carom_read_matrices_used(reader *r) {
    const carom_model *m = r->m;
    for (int i = 0; i < m->nmatrix; ++i)
        if (!m->matrix_used[i])
            return carom_fail(r->err, CAROM_BAD_INPUT, "%.300s: the model names no matrix '%.60s'; leave --matrix %.60s=... out", m->file, m->matrix[i].name,
                              m->matrix[i].name);
    return CAROM_OK;
}

const carom_matrix_text *carom_model_matrices(const carom_model *m, int *n) {
    *n = m->nmatrix;
    return m->matrix;
}
