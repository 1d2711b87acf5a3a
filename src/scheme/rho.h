// rho.h: the parameters of generalized-alpha, and the option that chooses them.
#pragma once
#include <carom/option.h>

typedef struct carom_alpha_par { double alpha_m, alpha_f, gamma, beta; } carom_alpha_par;

/// (NM-5)  alpha_m = (2 rho - 1)/(rho + 1),  alpha_f = rho/(rho + 1),  gamma = 1/2 + alpha_f - alpha_m,
///         beta = (gamma + 1/2)^2/4:  rho is the spectral radius at infinite frequency.
static inline carom_alpha_par carom_alpha_of_rho(double rho) {
    carom_alpha_par par = {.alpha_m = (2 * rho - 1) / (rho + 1), .alpha_f = rho / (rho + 1)};
    par.gamma = 0.5 + par.alpha_f - par.alpha_m;
    par.beta = 0.25 * (par.gamma + 0.5) * (par.gamma + 0.5);
    return par;
}

#define CAROM_RHO_OPTION                                                                                               \
    {                                                                                                                  \
        .name = "rho", .kind = CAROM_REAL, .fallback = 0.8, .low = 0, .high = 1,                                       \
        .about = "spectral radius at infinite frequency: 0 damps most, 1 not at all"                                   \
    }
