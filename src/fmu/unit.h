// unit.h (private): one instance of an FMU, whatever the version of FMI: settings, a model, a simulation, and the calls
// that are allowed now.
#pragma once
#include "fmu/variables.h"

typedef enum fmu_mode {
    FMU_INSTANTIATED = 1,
    FMU_INITIALIZING = 4,
    FMU_STEPPING = 8,
    FMU_EVENT = 16,        // FMI 3
    FMU_INTERMEDIATE = 32, // FMI 3: inside a step, in the importer's function
    FMU_FAILED = 64,       // a step was discarded
    FMU_TERMINATED = 128
} fmu_mode;

typedef enum fmu_level { FMU_NOTE, FMU_WARN, FMU_DISCARD, FMU_WRONG } fmu_level;

typedef struct fmu_unit fmu_unit;

typedef struct fmu_unit_def {
    const char *folder;   // resources, a path
    const char *token;    // must be that of the FMU
    void (*log)(void *user, fmu_level level, const char *text); // notes come only if `notes` is set, see
                                                                // carom_fmu_notes()
    void *user;           // lives as long as the unit
    bool notes;
} fmu_unit_def;

/// NULL: the reason was logged.
fmu_unit *carom_fmu_create(const fmu_unit_def *def);
void carom_fmu_destroy(fmu_unit *u);
fmu_mode carom_fmu_mode(const fmu_unit *u);
void carom_fmu_notes(fmu_unit *u, bool on);
void carom_fmu_say(const fmu_unit *u, fmu_level level, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/// Is the call allowed now?  If not, that is logged.
bool carom_fmu_allowed(const fmu_unit *u, unsigned modes, const char *call);
/// To another mode, where the call is allowed; false: it is not, or it failed.
bool carom_fmu_enter(fmu_unit *u, unsigned from, fmu_mode to, const char *call);
bool carom_fmu_setup(fmu_unit *u, double start, bool ends, double stop);
bool carom_fmu_start(fmu_unit *u);     // the end of initialization
bool carom_fmu_terminate(fmu_unit *u); // logs the warnings of the run
bool carom_fmu_reset(fmu_unit *u);

/// Values by reference; false: logged, no value was set.
bool carom_fmu_get(fmu_unit *u, const unsigned *ref, size_t n, double *x, const char *call);
bool carom_fmu_set(fmu_unit *u, const unsigned *ref, size_t n, const double *x, const char *call);

/// One step of an importer.
typedef struct fmu_step {
    double t, h;      // communication point, length
    bool early;       // may it end at an event?
    bool (*between)(void *user, double t, double *until); // after each step of the scheme: true: end at *until at the
                                                          // latest; NULL: none
    void *user;
    bool event;       // there was one
    bool returned;    // before t + h
    double last;      // where it ended
} fmu_step;
/// FMU_NOTE: done.  FMU_DISCARD: the simulation could not go on from s->last.  FMU_WRONG: nothing was done.
fmu_level carom_fmu_step(fmu_unit *u, fmu_step *s);
double carom_fmu_time(const fmu_unit *u);

/// All that decides how the unit goes on, as one block of carom_fmu_state_size() bytes, to be freed; NULL: logged.
void *carom_fmu_save(fmu_unit *u);
bool carom_fmu_restore(fmu_unit *u, const void *state);
size_t carom_fmu_state_size(const void *state);
/// A copy of such a block from bytes of unknown origin; NULL: logged.
void *carom_fmu_state_of(const fmu_unit *u, const void *bytes, size_t size);
