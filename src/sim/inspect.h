// inspect.h: what records, sweeps and dynamics ask a simulation; users: <carom/sim.h>.
#pragma once
#include <carom/sim.h>

bool carom_sim_ending(const carom_sim *sim); // t_end may shorten the next step; a run to a later end would take another
/// Time spent before the run was saved, from its ledger; the saved state does not contain it.
void carom_sim_spent(carom_sim *sim, double seconds, double wall);
/// The system that moves.
const carom_system *carom_sim_system(const carom_sim *sim);
/// Give memory that only a step needs (of contact solvers) back to the machine, as before something else that needs
/// much; the next step takes it anew.  Changes no result.
void carom_sim_trim(const carom_sim *sim);
/// The state at time t inside the last step, computed by a shorter step from `before`: the bytes of carom_sim_state()
/// when that step began.  room: as many bytes again.  The simulation itself stays where it is; its events of the last
/// step are lost.
carom_status carom_sim_between(carom_sim *sim, const void *before, double t, double *q, double *v, void *room,
                               carom_error *err);
/// Reset the ledger, as if the run began here.  The trajectory does not change.
carom_status carom_sim_count_anew(carom_sim *sim, carom_error *err);
