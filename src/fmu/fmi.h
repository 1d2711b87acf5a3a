// fmi.h (private): what the functions of FMI 2.0 and 3.0 have in common.  An instance begins with its unit.
//
// FMI_API marks what importers look up; everything else in the library is hidden.
#pragma once
#include "fmu/unit.h"
#include <stdlib.h>
#include <string.h>

#define FMI_API __attribute__((visibility("default")))

// the last in FMI 2 alone
typedef enum fmi_status { FMI_OK, FMI_WARNING, FMI_DISCARD, FMI_ERROR, FMI_FATAL, FMI_PENDING } fmi_status;

static const struct { fmi_status status; const char *category; } fmi_log[] = {[FMU_NOTE] = {FMI_OK, "logEvents"},
               [FMU_WARN] = {FMI_WARNING, "logStatusWarning"},
               [FMU_DISCARD] = {FMI_DISCARD, "logStatusDiscard"},
               [FMU_WRONG] = {FMI_ERROR, "logStatusError"}};

static fmi_status good(bool done) { return done ? FMI_OK : FMI_ERROR; }
// a step
static fmi_status done(fmu_level level) {
    return level == FMU_NOTE ? FMI_OK : level == FMU_DISCARD ? FMI_DISCARD : FMI_ERROR;
}
static fmu_unit *unit_of(void *instance) { return instance ? *(fmu_unit **)instance : NULL; }

// A call that this FMU does not offer.
static fmi_status refuse(void *instance, const char *call) {
    if (instance) carom_fmu_say(unit_of(instance), FMU_WRONG, "%s is not supported by this FMU", call);
    return FMI_ERROR;
}

static fmi_status set_logging(void *instance, bool on, size_t n, const char *const categories[]) {
    bool events = n == 0;
    if (!instance || (n > 0 && !categories)) return FMI_ERROR;
    for (size_t i = 0; i < n; ++i) events = events || (categories[i] && strcmp(categories[i], "logEvents") == 0);
    carom_fmu_notes(unit_of(instance), on && events);
    return FMI_OK;
}

static fmi_status free_state(void *instance, void **state) {
    if (!instance) return FMI_ERROR;
    if (state) free(*state), *state = NULL;
    return FMI_OK;
}

static fmi_status get_state(void *instance, void **state) {
    void *fresh = instance && state ? carom_fmu_save(unit_of(instance)) : NULL;
    if (!fresh) return FMI_ERROR;
    free(*state); // NULL, or a state whose memory is used again
    *state = fresh;
    return FMI_OK;
}

static fmi_status state_size(void *instance, const void *state, size_t *size) {
    if (!instance || !state || !size) return FMI_ERROR;
    *size = carom_fmu_state_size(state);
    return FMI_OK;
}

static fmi_status write_state(void *instance, const void *state, void *bytes, size_t size) {
    if (!instance || !state || !bytes || size < carom_fmu_state_size(state)) return FMI_ERROR;
    memcpy(bytes, state, carom_fmu_state_size(state));
    return FMI_OK;
}

static fmi_status read_state(void *instance, const void *bytes, size_t size, void **state) {
    void *fresh = instance && state ? carom_fmu_state_of(unit_of(instance), bytes, size) : NULL;
    if (!fresh) return FMI_ERROR;
    *state = fresh;
    return FMI_OK;
}
