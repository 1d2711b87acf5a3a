// fmu_parts.h: what every FMU holds, part of the program (src/fmu/parts.cmake).
#pragma once
#include "fmu/export.h"

extern const fmu_part fmu_library;
extern const fmu_part fmu_sources[], fmu_licences[];
