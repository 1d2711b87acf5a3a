// fmi2.c: the functions of FMI 2.0 for co-simulation.  Names and types are the standard's; what they do is in unit.c.
#include "fmu/fmi.h"

typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void *fmi2Component, *fmi2FMUstate;
typedef struct {
    void (*logger)(void *environment, const char *instance, fmi_status status, const char *category,
                   const char *message, ...);
    void *(*allocateMemory)(size_t n, size_t size);
    void (*freeMemory)(void *p);
    void (*stepFinished)(void *environment, fmi_status status);
    void *environment;
} fmi2CallbackFunctions;

typedef struct component {
    fmu_unit *unit;
    char *name;
    fmi2CallbackFunctions call;
    bool setup;
    double last; // where the last step ended
} component;

static void on_log(void *user, fmu_level level, const char *text) {
    const component *c = user;
    if (c->call.logger)
        c->call.logger(c->call.environment, c->name, fmi_log[level].status, fmi_log[level].category, "%s", text);
}

FMI_API const char *fmi2GetTypesPlatform(void) { return "default"; }
FMI_API const char *fmi2GetVersion(void) { return "2.0"; }

FMI_API fmi_status fmi2SetDebugLogging(fmi2Component c, int on, size_t n, const char *const categories[]) {
    return set_logging(c, on, n, categories);
}

// -- life -------------------------------------------------------------------------------------------------------------

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// file:///tmp/a%20b, file:/tmp/a and file://localhost/tmp/a as paths; to be freed.
static char *path_of(const char *uri) {
    if (!uri) return NULL;
    if (strncmp(uri, "file:", 5) == 0) {
        uri += 5;
        if (strncmp(uri, "//", 2) == 0) {
            uri += 2;
            while (*uri && *uri != '/') ++uri;
        }
    }
    char *path = malloc(strlen(uri) + 1), *to = path;
    for (; path && *uri; ++uri) {
        const bool coded = uri[0] == '%' && hex(uri[1]) >= 0 && hex(uri[2]) >= 0;
        *to++ = coded ? (char)(16 * hex(uri[1]) + hex(uri[2])) : *uri;
        if (coded) uri += 2;
    }
    if (path) *to = 0;
    return path;
}

FMI_API void fmi2FreeInstance(fmi2Component c) {
    component *x = c;
    if (!x) return;
    if (x->unit && carom_fmu_mode(x->unit) == FMU_INTERMEDIATE) return;
    carom_fmu_destroy(x->unit);
    free(x->name);
    free(x);
}

FMI_API fmi2Component fmi2Instantiate(const char *name, fmi2Type type, const char *guid, const char *resources,
                                      const fmi2CallbackFunctions *functions, int visible, int logging) {
    component *c = calloc(1, sizeof *c);
    (void)visible;
    if (!c) return NULL;
    if (functions) c->call = *functions;
    c->name = name ? malloc(strlen(name) + 1) : NULL;
    if (c->name) strcpy(c->name, name);
    char *folder = path_of(resources);
    if (type != fmi2CoSimulation) on_log(c, FMU_WRONG, "this FMU is for co-simulation only");
    else if (!c->name || !name[0]) on_log(c, FMU_WRONG, "an instance needs a name");
    else
        c->unit = carom_fmu_create(
            &(fmu_unit_def){.folder = folder, .token = guid, .log = on_log, .user = c, .notes = logging});
    free(folder);
    if (c->unit) return c;
    fmi2FreeInstance(c);
    return NULL;
}

FMI_API fmi_status fmi2SetupExperiment(fmi2Component c, int tolerance_defined, double tolerance, double start,
                                       int stop_defined, double stop) {
    (void)tolerance_defined, (void)tolerance; // accuracy is that of the scheme's step
    component *x = c;
    if (!c || !carom_fmu_allowed(x->unit, FMU_INSTANTIATED, "fmi2SetupExperiment") ||
        !carom_fmu_setup(x->unit, start, stop_defined, stop))
        return FMI_ERROR;
    x->setup = true;
    return FMI_OK;
}

FMI_API fmi_status fmi2EnterInitializationMode(fmi2Component c) {
    component *x = c;
    if (!c || !carom_fmu_allowed(x->unit, FMU_INSTANTIATED, "fmi2EnterInitializationMode")) return FMI_ERROR;
    if (!x->setup)
        carom_fmu_say(x->unit, FMU_WRONG, "fmi2SetupExperiment must be called before fmi2EnterInitializationMode");
    return good(x->setup &&
                carom_fmu_enter(x->unit, FMU_INSTANTIATED, FMU_INITIALIZING, "fmi2EnterInitializationMode"));
}

FMI_API fmi_status fmi2ExitInitializationMode(fmi2Component c) { return good(c && carom_fmu_start(unit_of(c))); }
FMI_API fmi_status fmi2Terminate(fmi2Component c) { return good(c && carom_fmu_terminate(unit_of(c))); }
FMI_API fmi_status fmi2Reset(fmi2Component c) {
    if (!c || !carom_fmu_reset(unit_of(c))) return FMI_ERROR;
    ((component *)c)->setup = false;
    return FMI_OK;
}

// -- values -----------------------------------------------------------------------------------------------------------

FMI_API fmi_status fmi2GetReal(fmi2Component c, const unsigned ref[], size_t n, double x[]) {
    return good(c && carom_fmu_get(unit_of(c), ref, n, x, "fmi2GetReal"));
}
FMI_API fmi_status fmi2SetReal(fmi2Component c, const unsigned ref[], size_t n, const double x[]) {
    return good(c && carom_fmu_set(unit_of(c), ref, n, x, "fmi2SetReal"));
}

// All variables are real.
#define NO_VARIABLES(name, type)                                                                                       \
    FMI_API fmi_status fmi2Get##name(fmi2Component c, const unsigned ref[], size_t n, type x[]) {                      \
        return (void)ref, (void)x, n ? refuse(c, "fmi2Get" #name) : good(c);                                           \
    }                                                                                                                  \
    FMI_API fmi_status fmi2Set##name(fmi2Component c, const unsigned ref[], size_t n, const type x[]) {                \
        return (void)ref, (void)x, n ? refuse(c, "fmi2Set" #name) : good(c);                                           \
    }
typedef const char *text;
NO_VARIABLES(Integer, int)
NO_VARIABLES(Boolean, int)
NO_VARIABLES(String, text)

FMI_API fmi_status fmi2GetDirectionalDerivative(fmi2Component c, const unsigned unknown[], size_t nu,
                                                const unsigned knowns[], size_t nk, const double dk[], double du[]) {
    return (void)unknown, (void)nu, (void)knowns, (void)nk, (void)dk, (void)du,
           refuse(c, "fmi2GetDirectionalDerivative");
}
FMI_API fmi_status fmi2SetRealInputDerivatives(fmi2Component c, const unsigned ref[], size_t n, const int order[],
                                               const double x[]) {
    return (void)ref, (void)n, (void)order, (void)x, refuse(c, "fmi2SetRealInputDerivatives");
}
FMI_API fmi_status fmi2GetRealOutputDerivatives(fmi2Component c, const unsigned ref[], size_t n, const int order[],
                                                double x[]) {
    return (void)ref, (void)n, (void)order, (void)x, refuse(c, "fmi2GetRealOutputDerivatives");
}

// -- states -----------------------------------------------------------------------------------------------------------

FMI_API fmi_status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) { return free_state(c, state); }
FMI_API fmi_status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) { return get_state(c, state); }
FMI_API fmi_status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    if (!c || !carom_fmu_restore(unit_of(c), state)) return FMI_ERROR;
    ((component *)c)->setup = true;
    ((component *)c)->last = carom_fmu_time(unit_of(c));
    return FMI_OK;
}

FMI_API fmi_status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    return state_size(c, state, size);
}
FMI_API fmi_status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, char bytes[], size_t size) {
    return write_state(c, state, bytes, size);
}
FMI_API fmi_status fmi2DeSerializeFMUstate(fmi2Component c, const char bytes[], size_t size, fmi2FMUstate *state) {
    return read_state(c, bytes, size, state);
}

// -- steps ------------------------------------------------------------------------------------------------------------

FMI_API fmi_status fmi2DoStep(fmi2Component c, double t, double h, int no_state_before) {
    (void)no_state_before;
    if (!c) return FMI_ERROR;
    fmu_step s = {.t = t, .h = h};
    const fmu_level level = carom_fmu_step(unit_of(c), &s);
    ((component *)c)->last = s.last;
    return done(level);
}

FMI_API fmi_status fmi2CancelStep(fmi2Component c) { return refuse(c, "fmi2CancelStep"); }

FMI_API fmi_status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, double *x) {
    if (!c || !x || kind != fmi2LastSuccessfulTime) return refuse(c, "this kind of fmi2GetRealStatus");
    *x = ((component *)c)->last;
    return FMI_OK;
}
FMI_API fmi_status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, int *x) {
    if (!c || !x || kind != fmi2Terminated) return refuse(c, "this kind of fmi2GetBooleanStatus");
    *x = 0; // the FMU itself never ends a simulation
    return FMI_OK;
}
// no step is pending
FMI_API fmi_status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi_status *x) {
    return (void)kind, (void)x, refuse(c, "fmi2GetStatus");
}
FMI_API fmi_status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, int *x) {
    return (void)kind, (void)x, refuse(c, "fmi2GetIntegerStatus");
}
FMI_API fmi_status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, const char **x) {
    return (void)kind, (void)x, refuse(c, "fmi2GetStringStatus");
}
