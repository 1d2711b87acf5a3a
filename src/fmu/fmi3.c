// fmi3.c: the functions of FMI 3.0 for co-simulation.  Names and types are the standard's; what they do is in unit.c.
#include "fmu/fmi.h"
#include <stdint.h>

typedef void *fmi3Instance, *fmi3FMUState;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef void log_function(void *environment, fmi_status status, fmi3String category, fmi3String message);
typedef void update_function(void *environment, double t, bool set_requested, bool get_allowed, bool step_finished,
                             bool can_return, bool *return_requested, double *return_time);

typedef struct instance {
    fmu_unit *unit;
    void *environment;
    log_function *log;
    update_function *update;
    bool events, early; // what the importer uses
} instance;

static void on_log(void *user, fmu_level level, const char *text) {
    const instance *i = user;
    if (i->log) i->log(i->environment, fmi_log[level].status, fmi_log[level].category, text);
}

FMI_API fmi3String fmi3GetVersion(void) { return "3.0"; }

FMI_API fmi_status fmi3SetDebugLogging(fmi3Instance i, bool on, size_t n, const fmi3String categories[]) {
    return set_logging(i, on, n, categories);
}

// -- life -------------------------------------------------------------------------------------------------------------

FMI_API void fmi3FreeInstance(fmi3Instance i) {
    if (!i || carom_fmu_mode(unit_of(i)) == FMU_INTERMEDIATE) return;
    carom_fmu_destroy(unit_of(i));
    free(i);
}

FMI_API fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                 bool logging, bool events, bool early, const uint32_t required[],
                                                 size_t nrequired, void *environment, log_function *log,
                                                 update_function *update) {
    (void)visible, (void)required, (void)nrequired; // all variables can be read inside a step
    instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    *i = (instance){.environment = environment, .log = log, .update = update, .events = events, .early = early};
    if (!name || !name[0]) on_log(i, FMU_WRONG, "an instance needs a name");
    else
        i->unit = carom_fmu_create(
            &(fmu_unit_def){.folder = resources, .token = token, .log = on_log, .user = i, .notes = logging});
    if (i->unit) return i;
    free(i);
    return NULL;
}

FMI_API fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                  bool logging, void *environment, log_function *log) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    if (log) log(environment, FMI_ERROR, "logStatusError", "this FMU is for co-simulation only");
    return NULL;
}

FMI_API fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                       bool visible, bool logging, void *environment, log_function *log,
                                                       void (*clock)(void *), void (*lock)(void),
                                                       void (*unlock)(void)) {
    (void)clock, (void)lock, (void)unlock;
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, log);
}

FMI_API fmi_status fmi3EnterInitializationMode(fmi3Instance i, bool tolerance_defined, double tolerance, double start,
                                               bool stop_defined, double stop) {
    (void)tolerance_defined, (void)tolerance; // accuracy is that of the scheme's step
    if (!i || !carom_fmu_allowed(unit_of(i), FMU_INSTANTIATED, "fmi3EnterInitializationMode") ||
        !carom_fmu_setup(unit_of(i), start, stop_defined, stop))
        return FMI_ERROR;
    return good(carom_fmu_enter(unit_of(i), FMU_INSTANTIATED, FMU_INITIALIZING, "fmi3EnterInitializationMode"));
}

FMI_API fmi_status fmi3EnterEventMode(fmi3Instance i) {
    if (i && !((instance *)i)->events) return refuse(i, "fmi3EnterEventMode without eventModeUsed");
    return good(i && carom_fmu_enter(unit_of(i), FMU_STEPPING, FMU_EVENT, "fmi3EnterEventMode"));
}

// With event mode in use, the first mode after initialization is event mode.
FMI_API fmi_status fmi3ExitInitializationMode(fmi3Instance i) {
    if (!i || !carom_fmu_start(unit_of(i))) return FMI_ERROR;
    return ((instance *)i)->events ? fmi3EnterEventMode(i) : FMI_OK;
}

FMI_API fmi_status fmi3EnterStepMode(fmi3Instance i) {
    return good(i && carom_fmu_enter(unit_of(i), FMU_EVENT, FMU_STEPPING, "fmi3EnterStepMode"));
}
FMI_API fmi_status fmi3Terminate(fmi3Instance i) { return good(i && carom_fmu_terminate(unit_of(i))); }
FMI_API fmi_status fmi3Reset(fmi3Instance i) { return good(i && carom_fmu_reset(unit_of(i))); }

// no structural parameters
FMI_API fmi_status fmi3EnterConfigurationMode(fmi3Instance i) { return refuse(i, "fmi3EnterConfigurationMode"); }
FMI_API fmi_status fmi3ExitConfigurationMode(fmi3Instance i) { return refuse(i, "fmi3ExitConfigurationMode"); }

FMI_API fmi_status fmi3EvaluateDiscreteStates(fmi3Instance i) {
    return good(i && carom_fmu_allowed(unit_of(i), FMU_INITIALIZING | FMU_EVENT, "fmi3EvaluateDiscreteStates"));
}

// Impacts are resolved inside steps: nothing is left to do.
FMI_API fmi_status fmi3UpdateDiscreteStates(fmi3Instance i, bool *again, bool *terminate, bool *nominals, bool *values,
                                            bool *next_defined, double *next) {
    if (!i || !carom_fmu_allowed(unit_of(i), FMU_EVENT, "fmi3UpdateDiscreteStates")) return FMI_ERROR;
    bool *const flags[] = {again, terminate, nominals, values, next_defined};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; ++k)
        if (flags[k]) *flags[k] = false;
    if (next) *next = 0;
    return FMI_OK;
}

// -- values -----------------------------------------------------------------------------------------------------------

static fmi_status sizes(fmi3Instance i, size_t n, size_t m, const char *call) {
    if (i && n == m) return FMI_OK;
    if (i)
        carom_fmu_say(unit_of(i), FMU_WRONG, "%s: %zu variables, but %zu values; all variables are scalars", call, n,
                      m);
    return FMI_ERROR;
}

FMI_API fmi_status fmi3GetFloat64(fmi3Instance i, const uint32_t ref[], size_t n, double x[], size_t m) {
    if (sizes(i, n, m, "fmi3GetFloat64") != FMI_OK) return FMI_ERROR;
    return good(carom_fmu_get(unit_of(i), ref, n, x, "fmi3GetFloat64"));
}
FMI_API fmi_status fmi3SetFloat64(fmi3Instance i, const uint32_t ref[], size_t n, const double x[], size_t m) {
    if (sizes(i, n, m, "fmi3SetFloat64") != FMI_OK) return FMI_ERROR;
    return good(carom_fmu_set(unit_of(i), ref, n, x, "fmi3SetFloat64"));
}

// All variables are Float64.
#define NO_VARIABLES(name, type)                                                                                       \
    FMI_API fmi_status fmi3Get##name(fmi3Instance i, const uint32_t ref[], size_t n, type x[], size_t m) {             \
        return (void)ref, (void)x, (void)m, n ? refuse(i, "fmi3Get" #name) : good(i);                                  \
    }                                                                                                                  \
    FMI_API fmi_status fmi3Set##name(fmi3Instance i, const uint32_t ref[], size_t n, const type x[], size_t m) {       \
        return (void)ref, (void)x, (void)m, n ? refuse(i, "fmi3Set" #name) : good(i);                                  \
    }
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
NO_VARIABLES(String, fmi3String)

FMI_API fmi_status fmi3GetBinary(fmi3Instance i, const uint32_t ref[], size_t n, size_t size[], fmi3Binary x[],
                                 size_t m) {
    return (void)ref, (void)size, (void)x, (void)m, n ? refuse(i, "fmi3GetBinary") : good(i);
}
FMI_API fmi_status fmi3SetBinary(fmi3Instance i, const uint32_t ref[], size_t n, const size_t size[],
                                 const fmi3Binary x[], size_t m) {
    return (void)ref, (void)size, (void)x, (void)m, n ? refuse(i, "fmi3SetBinary") : good(i);
}
FMI_API fmi_status fmi3GetClock(fmi3Instance i, const uint32_t ref[], size_t n, bool x[]) {
    return (void)ref, (void)x, n ? refuse(i, "fmi3GetClock") : good(i);
}
FMI_API fmi_status fmi3SetClock(fmi3Instance i, const uint32_t ref[], size_t n, const bool x[]) {
    return (void)ref, (void)x, n ? refuse(i, "fmi3SetClock") : good(i);
}

// -- states -----------------------------------------------------------------------------------------------------------

FMI_API fmi_status fmi3FreeFMUState(fmi3Instance i, fmi3FMUState *state) { return free_state(i, state); }
FMI_API fmi_status fmi3GetFMUState(fmi3Instance i, fmi3FMUState *state) { return get_state(i, state); }
FMI_API fmi_status fmi3SetFMUState(fmi3Instance i, fmi3FMUState state) {
    return good(i && carom_fmu_restore(unit_of(i), state));
}

FMI_API fmi_status fmi3SerializedFMUStateSize(fmi3Instance i, fmi3FMUState state, size_t *size) {
    return state_size(i, state, size);
}
FMI_API fmi_status fmi3SerializeFMUState(fmi3Instance i, fmi3FMUState state, uint8_t bytes[], size_t size) {
    return write_state(i, state, bytes, size);
}
FMI_API fmi_status fmi3DeserializeFMUState(fmi3Instance i, const uint8_t bytes[], size_t size, fmi3FMUState *state) {
    return read_state(i, bytes, size, state);
}

// -- steps ------------------------------------------------------------------------------------------------------------

static bool on_between(void *user, double t, double *until) {
    const instance *i = user;
    bool requested = false;
    *until = t;
    i->update(i->environment, t, false, true, true, i->early, &requested, until);
    return requested && i->early;
}

FMI_API fmi_status fmi3DoStep(fmi3Instance i, double t, double h, bool no_state_before, bool *event_needed,
                              bool *terminate, bool *early, double *last) {
    (void)no_state_before;
    instance *x = i;
    if (!i) return FMI_ERROR;
    fmu_step s = {.t = t, .h = h, .early = x->events && x->early, .between = x->update ? on_between : NULL, .user = x};
    const fmu_level level = carom_fmu_step(x->unit, &s);
    if (event_needed) *event_needed = x->events && s.event;
    if (terminate) *terminate = false;
    if (early) *early = level == FMU_NOTE && s.returned;
    if (last) *last = s.last;
    return done(level);
}

// -- what this FMU does not offer -------------------------------------------------------------------------------------

#pragma GCC diagnostic ignored "-Wunused-parameter"
FMI_API fmi_status fmi3GetNumberOfVariableDependencies(fmi3Instance i, uint32_t ref, size_t *n) {
    return refuse(i, "fmi3GetNumberOfVariableDependencies");
}
FMI_API fmi_status fmi3GetVariableDependencies(fmi3Instance i, uint32_t dependent, size_t element[],
                                               uint32_t independent[], size_t elements[], int kind[], size_t n) {
    return refuse(i, "fmi3GetVariableDependencies");
}
FMI_API fmi_status fmi3GetDirectionalDerivative(fmi3Instance i, const uint32_t unknown[], size_t nu,
                                                const uint32_t knowns[], size_t nk, const double seed[], size_t ns,
                                                double x[], size_t nx) {
    return refuse(i, "fmi3GetDirectionalDerivative");
}
FMI_API fmi_status fmi3GetAdjointDerivative(fmi3Instance i, const uint32_t unknown[], size_t nu,
                                            const uint32_t knowns[], size_t nk, const double seed[], size_t ns,
                                            double x[], size_t nx) {
    return refuse(i, "fmi3GetAdjointDerivative");
}
FMI_API fmi_status fmi3GetIntervalDecimal(fmi3Instance i, const uint32_t ref[], size_t n, double x[], int qualifier[]) {
    return refuse(i, "fmi3GetIntervalDecimal");
}
FMI_API fmi_status fmi3GetIntervalFraction(fmi3Instance i, const uint32_t ref[], size_t n, uint64_t counter[],
                                           uint64_t resolution[], int qualifier[]) {
    return refuse(i, "fmi3GetIntervalFraction");
}
FMI_API fmi_status fmi3GetShiftDecimal(fmi3Instance i, const uint32_t ref[], size_t n, double x[]) {
    return refuse(i, "fmi3GetShiftDecimal");
}
FMI_API fmi_status fmi3GetShiftFraction(fmi3Instance i, const uint32_t ref[], size_t n, uint64_t counter[],
                                        uint64_t resolution[]) {
    return refuse(i, "fmi3GetShiftFraction");
}
FMI_API fmi_status fmi3SetIntervalDecimal(fmi3Instance i, const uint32_t ref[], size_t n, const double x[]) {
    return refuse(i, "fmi3SetIntervalDecimal");
}
FMI_API fmi_status fmi3SetIntervalFraction(fmi3Instance i, const uint32_t ref[], size_t n, const uint64_t counter[],
                                           const uint64_t resolution[]) {
    return refuse(i, "fmi3SetIntervalFraction");
}
FMI_API fmi_status fmi3SetShiftDecimal(fmi3Instance i, const uint32_t ref[], size_t n, const double x[]) {
    return refuse(i, "fmi3SetShiftDecimal");
}
FMI_API fmi_status fmi3SetShiftFraction(fmi3Instance i, const uint32_t ref[], size_t n, const uint64_t counter[],
                                        const uint64_t resolution[]) {
    return refuse(i, "fmi3SetShiftFraction");
}
FMI_API fmi_status fmi3EnterContinuousTimeMode(fmi3Instance i) { return refuse(i, "fmi3EnterContinuousTimeMode"); }
FMI_API fmi_status fmi3CompletedIntegratorStep(fmi3Instance i, bool no_state_before, bool *event, bool *terminate) {
    return refuse(i, "fmi3CompletedIntegratorStep");
}
FMI_API fmi_status fmi3SetTime(fmi3Instance i, double t) { return refuse(i, "fmi3SetTime"); }
FMI_API fmi_status fmi3SetContinuousStates(fmi3Instance i, const double x[], size_t n) {
    return refuse(i, "fmi3SetContinuousStates");
}
FMI_API fmi_status fmi3GetContinuousStateDerivatives(fmi3Instance i, double x[], size_t n) {
    return refuse(i, "fmi3GetContinuousStateDerivatives");
}
FMI_API fmi_status fmi3GetEventIndicators(fmi3Instance i, double x[], size_t n) {
    return refuse(i, "fmi3GetEventIndicators");
}
FMI_API fmi_status fmi3GetContinuousStates(fmi3Instance i, double x[], size_t n) {
    return refuse(i, "fmi3GetContinuousStates");
}
FMI_API fmi_status fmi3GetNominalsOfContinuousStates(fmi3Instance i, double x[], size_t n) {
    return refuse(i, "fmi3GetNominalsOfContinuousStates");
}
FMI_API fmi_status fmi3GetNumberOfEventIndicators(fmi3Instance i, size_t *n) {
    return refuse(i, "fmi3GetNumberOfEventIndicators");
}
FMI_API fmi_status fmi3GetNumberOfContinuousStates(fmi3Instance i, size_t *n) {
    return refuse(i, "fmi3GetNumberOfContinuousStates");
}
FMI_API fmi_status fmi3GetOutputDerivatives(fmi3Instance i, const uint32_t ref[], size_t n, const int32_t order[],
                                            double x[], size_t m) {
    return refuse(i, "fmi3GetOutputDerivatives");
}
FMI_API fmi_status fmi3ActivateModelPartition(fmi3Instance i, uint32_t clock, double t) {
    return refuse(i, "fmi3ActivateModelPartition");
}
