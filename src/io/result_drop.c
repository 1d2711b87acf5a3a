// result_drop.c: parts of a result that are let go, at its end or where a file has them only in part.
#include "io/result.h"
#include <stdlib.h>

void result_drop_matrices(carom_result *r) {
    for (int i = 0; i < r->nmatrix; ++i) {
        free((void *)(size_t)r->matrix[i].name);
        free((void *)(size_t)r->matrix[i].text);
        free((void *)(size_t)r->matrix[i].file);
    }
    free(r->matrix);
    r->matrix = NULL;
    r->nmatrix = 0;
}

void result_drop_attributes(result_attribute *a, int *n) {
    for (int i = 0; i < *n; ++i) {
        free(a[i].name);
        free(a[i].text);
    }
    *n = 0;
}
