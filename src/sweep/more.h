// more.h: details of sweeps for the command line.
#pragma once
#include <carom/sweep.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *carom_sweep_vary_name(const carom_sweep *s, int i);
const char *carom_sweep_observe_text(const carom_sweep *s, int i);

/// Values of a run, one for each varied quantity; its direction.
int carom_sweep_values(const carom_sweep *s, long run, double *value);

/// The sweep as one CUDA file with a main() that prints its tables.  CAROM_BAD_INPUT: it cannot run in lanes, and err
/// gives the reason.
carom_status carom_sweep_write_cuda(const carom_sweep *s, carom_write_text *write, void *user, carom_error *err);

#ifdef __cplusplus
}
#endif
