// frictional.h: schemes with friction that suit one or two bodies in lasting contact; the Galerkin schemes, which let
// such contacts creep, and alpha-forces, which has suites of its own, are left out.
#pragma once
#include <stddef.h>

static const char *const FRICTION[] = {"moreau-explicit",
                                       "half-explicit",
                                       "half-explicit-rk",
                                       "moreau-jean",
                                       "moreau-midpoint",
                                       "moreau-dissipative",
                                       "ggl-projection",
                                       "ggl-midpoint",
                                       "ggl-alpha",
                                       "newmark",
                                       "hht",
                                       "generalized-alpha",
                                       "mixed",
                                       "splitting",
                                       "auto",
                                       "event-driven",
                                       NULL};
