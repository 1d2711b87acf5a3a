// sized.c: simulations of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/sim.h>

CAROM_SIZED_VIEW(carom_sim_default, carom_sim_def, (void), ())
CAROM_SIZED_CREATE(carom_sim_create, carom_sim, carom_sim_def)
CAROM_SIZED_VIEW(carom_sim_now, carom_now, (const carom_sim *sim), (sim))

// A program has room for as many warnings as its version had kinds.
int carom_sim_warnings_sized(int most, const carom_sim *sim, const carom_ledger *ledger, carom_warning *list) {
    if (!list) return 0;
    carom_warning all[CAROM_WARNINGS];
    const int found = carom_sim_warnings(sim, ledger, all), n = found < most ? found : most;
    for (int i = 0; i < n; ++i) list[i] = all[i];
    return n;
}
