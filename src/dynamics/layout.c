// layout.c: sizes of the structs through which other languages speak to the library.
#include <carom/dynamics.h>
#include <carom/event.h>
#include <carom/functions.h>
#include <carom/layout.h>
#include <carom/result.h>
#include <carom/study.h>
#include <carom/sweep.h>
#include <string.h>

#define SIZE(type) {#type, sizeof(type)}

static const struct { const char *name; size_t size; } table[] = {
    SIZE(carom_error),         SIZE(carom_contact),      SIZE(carom_functions_def),  SIZE(carom_model_def),
    SIZE(carom_matrix_text),   SIZE(carom_model_sizes),  SIZE(carom_model_run),      SIZE(carom_sim_def),
    SIZE(carom_now),           SIZE(carom_ledger_line),
    SIZE(carom_record_def),    SIZE(carom_result_event), SIZE(carom_result_contact), SIZE(carom_option),
    SIZE(carom_scheme_line),   SIZE(carom_estimate_def), SIZE(carom_compare_def),    SIZE(carom_compare_row),
    SIZE(carom_compare_watch), SIZE(carom_datum),        SIZE(carom_run_given),      SIZE(carom_run),
    SIZE(carom_sweep_def),     SIZE(carom_sweep_row),    SIZE(carom_sweep_watch),    SIZE(carom_orbit_def),
    SIZE(carom_orbit_event),   SIZE(carom_orbit),        SIZE(carom_lyapunov_def),   SIZE(carom_lyapunov),
    SIZE(carom_column),        SIZE(carom_table),        SIZE(carom_follow_def),     SIZE(carom_branch),
    SIZE(carom_locus_def),     SIZE(carom_locus),
    SIZE(carom_equilibrium),          SIZE(carom_equilibrium_force),   SIZE(carom_mode),           SIZE(carom_modes),
    SIZE(carom_modes_def),     SIZE(carom_fit),          SIZE(carom_fit_def),        SIZE(carom_fit_point),
    SIZE(carom_gradient),      SIZE(carom_gradient_def), SIZE(carom_optimise_def),   SIZE(carom_optimum),
    SIZE(carom_basins_def),    SIZE(carom_basins),
};

size_t carom_layout_size(const char *name) {
    if (!name) return 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        if (strcmp(table[i].name, name) == 0) return table[i].size;
    return 0;
}
