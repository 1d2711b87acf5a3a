// fuzz_matrix.c: any text is a matrix with entries inside it, or a sentence.
#include "fuzz.h"
#include <carom/flex.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    carom_triplets t = {0};
    carom_error err = {0};
    const carom_status status = carom_triplets_read((const char *)data, size, "fuzz.mtx", &t, &err);
    PROMISE(status == CAROM_OK || strlen(err.text) > 10, "refused without a reason");
    if (status != CAROM_OK) return 0;
    PROMISE(t.rows > 0 && t.cols > 0, "%d x %d", t.rows, t.cols);
    for (size_t k = 0; k < t.count; ++k)
        PROMISE(t.row[k] >= 0 && t.row[k] < t.rows && t.col[k] >= 0 && t.col[k] < t.cols, "entry %zu is at %d, %d", k,
                t.row[k], t.col[k]);
    carom_triplets_free(&t);
    return 0;
}
