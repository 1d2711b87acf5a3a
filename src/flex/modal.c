// modal.c: damping by modes.
//
// (FLX-9)  C = sum_k 2 zeta_k omega_k (M phi_k)(M phi_k)',  phi_k'M phi_k = 1: mode k of the member alone, about its
//          rest, is damped with the ratio zeta_k; modes beyond the list, and rigid motions, are not damped.  C = Y Y'
//          with columns y_k = (2 zeta_k omega_k)^1/2 M phi_k.
#include "flex/flex.h"
#include "flex/member.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_UNKNOWNS = 1500 }; // C is full

static carom_status make(carom_member *m, const carom_member_def *def, carom_error *err) {
    const int n = m->n, count = def->nmodal < n ? def->nmodal : n;
    double omega[CAROM_MEMBER_MODES];
    double *phi = malloc((size_t)n * (size_t)count * sizeof *phi);
    m->modal = calloc((size_t)n * (size_t)count + 1, sizeof *m->modal);
    const int found = phi && m->modal ? carom_member_modes(m, count, omega, phi) : -1;
    if (found < 0) carom_fail(err, CAROM_NO_MEMORY, "not enough memory for modal damping");
    else if (found < count)
        carom_fail(err, CAROM_BAD_INPUT, "modal damping of %d modes, and the member has only %d that can be found",
                   count, found);
    for (int k = 0; k < found && found == count; ++k) {
        double *y = m->modal + (size_t)k * (size_t)n;
        carom_flex_mass_add(m, sqrt(2 * def->modal[k] * omega[k]), phi + (size_t)k * (size_t)n, y);
        m->modal_most = fmax(m->modal_most, def->modal[k]);
    }
    free(phi);
    if (found != count) return err->code;
    m->nmodal = count;
    return CAROM_OK;
}

carom_status carom_flex_modal_make(carom_member *m, const carom_member_def *def, carom_error *err) {
    carom_error none;
    if (def->nmodal == 0) return CAROM_OK;
    if (!m->kind->linear)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "modal damping is for linear members; an exact beam has no modes of its own");
    if (def->nmodal > CAROM_MEMBER_MODES)
        return carom_fail(err, CAROM_BAD_INPUT, "modal damping of %d modes; at most %d can be given", def->nmodal,
                          CAROM_MEMBER_MODES);
    if (m->n > MOST_UNKNOWNS)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "modal damping couples all unknowns of a member, which may have at most %d; this one has %d: "
                          "use damping: {mass, stiffness}",
                          MOST_UNKNOWNS, m->n);
    for (int k = 0; k < def->nmodal; ++k)
        if (!(def->modal[k] >= 0 && def->modal[k] < 1))
            return carom_fail(err, CAROM_BAD_INPUT, "a modal damping ratio must be at least 0 and less than 1, got %g",
                              def->modal[k]);
    return make(m, def, err ? err : &none);
}
