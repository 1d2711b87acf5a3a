// responses.c: see responses.h.
#include "scheme/responses.h"

carom_status carom_responses_begin(carom_responses *k, carom_step *s) {
    if (k->all.nb > 0) return CAROM_OK;
    carom_close_kinds(s, &k->all, CAROM_JOINTS | CAROM_CONTACTS);
    const carom_status status = carom_directions(s, &k->all, s->t, s->q);
    if (status != CAROM_OK) k->all.nb = 0;
    return status;
}
