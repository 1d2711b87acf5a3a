// binding.h: for bindings and user interfaces: texts of options, sizes of structs, signals of states in files.
#pragma once
#include <carom/dynamics.h>
#include <carom/option.h>
#include <carom/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Format value as typed on the command line ("0.5", "strict").
void carom_option_write(const carom_option *o, double value, char *text, size_t size);

/// The ni signals of the system at the start of a run from that file: states and outputs of controllers as it has them,
/// where it has them; inputs as the model has them.  x: ni + 1; the last number is the time at which the file has them
/// (carom_sim_def.input_t), 0 if it does not have all of them.
carom_status carom_state_signals(const carom_model *m, const char *file, double *x, carom_error *err);

/// As carom_state_write(), with the states and outputs of controllers, the system's ni less its nset; NULL: none.
carom_status carom_state_keep(const carom_model *m, const char *file, const double *q, const double *v,
                              const double *signals, carom_error *err);

/// Does time not enter masses, forces, gaps, directions and friction, by their expressions with the parameters as they
/// are?  by: a parameter that may change; NULL: none.
carom_status carom_model_timeless(const carom_model *m, const char *by, bool *timeless, carom_error *err);

/// Where the nonlinear mode of a conservative model begins: the equilibrium with velocities of this energy along one of
/// its modes (mode: from 1, slowest first); x: nq + nv, and the period of small oscillations.  CAROM_BAD_INPUT: there
/// is no such mode, or the energy is not above that of the equilibrium.
carom_status carom_orbit_mode(const carom_model *m, int mode, double energy, double *x, double *period,
                              carom_error *err);

#ifdef __cplusplus
}
#endif
