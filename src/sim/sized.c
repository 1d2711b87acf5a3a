// sized.c: simulations of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/sim.h>

CAROM_SIZED_VIEW(carom_sim_default, carom_sim_def, (void), ())
CAROM_SIZED_CREATE(carom_sim_create, carom_sim, carom_sim_def)
CAROM_SIZED_VIEW(carom_sim_now, carom_now, (const carom_sim *sim), (sim))
