// fmi2.c: the functions of FMI 2.0 for co-simulation.  Names and types are the standard's; what they do is in unit.c.
//
// FMI_API marks what importers look up; everything else in the library is hidden.
#include "fmu/unit.h"
#include <stdlib.h>
#include <string.h>

#define FMI_API __attribute__((visibility("default")))

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void *fmi2Component, *fmi2FMUstate;
typedef struct {
    void (*logger)(void *environment, const char *instance, fmi2Status status, const char *category, const char *message, ...);
    void *(*allocateMemory)(size_t n, size_t size);
    void (*freeMemory)(void *p);
    void (*stepFinished)(void *environment, fmi2Status status);
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
    static const struct { fmi2Status status; const char *category; } as[] = {
        [FMU_NOTE] = {fmi2OK, "logEvents"}, [FMU_WARN] = {fmi2Warning, "logStatusWarning"}, [FMU_DISCARD] = {fmi2Discard, "logStatusDiscard"}, [FMU_WRONG] = {fmi2Error, "logStatusError"}};
    const component *c = user;
    if (c->call.logger) c->call.logger(c->call.environment, c->name, as[level].status, as[level].category, "%s", text);
}

static fmi2Status good(bool done) { return done ? fmi2OK : fmi2Error; }
static fmu_unit *unit_of(fmi2Component c) { return c ? ((component *)c)->unit : NULL; }

// A call that this FMU does not offer.
static fmi2Status refuse(fmi2Component c, const char *call) {
    if (c) carom_fmu_say(unit_of(c), FMU_WRONG, "%s is not supported by this FMU", call);
    return fmi2Error;
}

FMI_API const char *fmi2GetTypesPlatform(void) { return "default"; }
FMI_API const char *fmi2GetVersion(void) { return "2.0"; }

FMI_API fmi2Status fmi2SetDebugLogging(fmi2Component c, int on, size_t n, const char *const categories[]) {
    bool events = n == 0;
    if (!c || (n > 0 && !categories)) return fmi2Error;
    for (size_t i = 0; i < n; ++i) events = events || (categories[i] && strcmp(categories[i], "logEvents") == 0);
    carom_fmu_notes(unit_of(c), on && events);
    return fmi2OK;
}

// -- life --------------------------------------------------------------------------------------------------------------

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

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

FMI_API fmi2Component fmi2Instantiate(const char *name, fmi2Type type, const char *guid, const char *resources, const fmi2CallbackFunctions *functions, int visible, int logging) {
    component *c = calloc(1, sizeof *c);
    (void)visible;
    if (!c) return NULL;
    if (functions) c->call = *functions;
    c->name = name ? malloc(strlen(name) + 1) : NULL;
    if (c->name) strcpy(c->name, name);
    char *folder = path_of(resources);
    if (type != fmi2CoSimulation) on_log(c, FMU_WRONG, "this FMU is for co-simulation only");
    else if (!c->name || !name[0]) on_log(c, FMU_WRONG, "an instance needs a name");
    else c->unit = carom_fmu_create(&(fmu_unit_def){.folder = folder, .token = guid, .log = on_log, .user = c, .notes = logging});
    free(folder);
    if (c->unit) return c;
    fmi2FreeInstance(c);
    return NULL;
}

FMI_API fmi2Status fmi2SetupExperiment(fmi2Component c, int tolerance_defined, double tolerance, double start, int stop_defined, double stop) {
    (void)tolerance_defined, (void)tolerance; // accuracy is that of the scheme's step
    component *x = c;
    if (!c || !carom_fmu_allowed(x->unit, FMU_INSTANTIATED, "fmi2SetupExperiment") || !carom_fmu_setup(x->unit, start, stop_defined, stop)) return fmi2Error;
    x->setup = true;
    return fmi2OK;
}

FMI_API fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    component *x = c;
    if (!c || !carom_fmu_allowed(x->unit, FMU_INSTANTIATED, "fmi2EnterInitializationMode")) return fmi2Error;
    if (!x->setup) carom_fmu_say(x->unit, FMU_WRONG, "fmi2SetupExperiment must be called before fmi2EnterInitializationMode");
    return good(x->setup && carom_fmu_enter(x->unit, FMU_INSTANTIATED, FMU_INITIALIZING, "fmi2EnterInitializationMode"));
}

FMI_API fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return good(c && carom_fmu_start(unit_of(c))); }
FMI_API fmi2Status fmi2Terminate(fmi2Component c) { return good(c && carom_fmu_terminate(unit_of(c))); }
FMI_API fmi2Status fmi2Reset(fmi2Component c) {
    if (!c || !carom_fmu_reset(unit_of(c))) return fmi2Error;
    ((component *)c)->setup = false;
    return fmi2OK;
}

// -- values ------------------------------------------------------------------------------------------------------------

FMI_API fmi2Status fmi2GetReal(fmi2Component c, const unsigned ref[], size_t n, double x[]) { return good(c && carom_fmu_get(unit_of(c), ref, n, x, "fmi2GetReal")); }
FMI_API fmi2Status fmi2SetReal(fmi2Component c, const unsigned ref[], size_t n, const double x[]) { return good(c && carom_fmu_set(unit_of(c), ref, n, x, "fmi2SetReal")); }

// All variables are real.
#define NO_VARIABLES(name, type) \
    FMI_API fmi2Status fmi2Get##name(fmi2Component c, const unsigned ref[], size_t n, type x[]) { return (void)ref, (void)x, n ? refuse(c, "fmi2Get" #name) : good(c); } \
    FMI_API fmi2Status fmi2Set##name(fmi2Component c, const unsigned ref[], size_t n, const type x[]) { return (void)ref, (void)x, n ? refuse(c, "fmi2Set" #name) : good(c); }
typedef const char *text;
NO_VARIABLES(Integer, int)
NO_VARIABLES(Boolean, int)
NO_VARIABLES(String, text)

FMI_API fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const unsigned unknown[], size_t nu, const unsigned knowns[], size_t nk, const double dk[], double du[]) {
    return (void)unknown, (void)nu, (void)knowns, (void)nk, (void)dk, (void)du, refuse(c, "fmi2GetDirectionalDerivative");
}
FMI_API fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const unsigned ref[], size_t n, const int order[], const double x[]) {
    return (void)ref, (void)n, (void)order, (void)x, refuse(c, "fmi2SetRealInputDerivatives");
}
FMI_API fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const unsigned ref[], size_t n, const int order[], double x[]) {
    return (void)ref, (void)n, (void)order, (void)x, refuse(c, "fmi2GetRealOutputDerivatives");
}

// -- states ------------------------------------------------------------------------------------------------------------

FMI_API fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    if (!c) return fmi2Error;
    if (state) free(*state), *state = NULL;
    return fmi2OK;
}

FMI_API fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    void *fresh = c && state ? carom_fmu_save(unit_of(c)) : NULL;
    if (!fresh) return fmi2Error;
    free(*state); // NULL, or a state whose memory is used again
    *state = fresh;
    return fmi2OK;
}

FMI_API fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    if (!c || !carom_fmu_restore(unit_of(c), state)) return fmi2Error;
    ((component *)c)->setup = true;
    ((component *)c)->last = carom_fmu_time(unit_of(c));
    return fmi2OK;
}

FMI_API fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    if (!c || !state || !size) return fmi2Error;
    *size = carom_fmu_state_size(state);
    return fmi2OK;
}

FMI_API fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, char bytes[], size_t size) {
    if (!c || !state || !bytes || size < carom_fmu_state_size(state)) return fmi2Error;
    memcpy(bytes, state, carom_fmu_state_size(state));
    return fmi2OK;
}

FMI_API fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const char bytes[], size_t size, fmi2FMUstate *state) {
    void *fresh = c && state ? carom_fmu_state_of(unit_of(c), bytes, size) : NULL;
    if (!fresh) return fmi2Error;
    *state = fresh;
    return fmi2OK;
}

// -- steps -------------------------------------------------------------------------------------------------------------

FMI_API fmi2Status fmi2DoStep(fmi2Component c, double t, double h, int no_state_before) {
    (void)no_state_before;
    if (!c) return fmi2Error;
    fmu_step s = {.t = t, .h = h};
    const fmu_level level = carom_fmu_step(unit_of(c), &s);
    ((component *)c)->last = s.last;
    return level == FMU_NOTE ? fmi2OK : level == FMU_DISCARD ? fmi2Discard : fmi2Error;
}

FMI_API fmi2Status fmi2CancelStep(fmi2Component c) { return refuse(c, "fmi2CancelStep"); }

FMI_API fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, double *x) {
    if (!c || !x || kind != fmi2LastSuccessfulTime) return refuse(c, "this kind of fmi2GetRealStatus");
    *x = ((component *)c)->last;
    return fmi2OK;
}
FMI_API fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, int *x) {
    if (!c || !x || kind != fmi2Terminated) return refuse(c, "this kind of fmi2GetBooleanStatus");
    *x = 0; // the FMU itself never ends a simulation
    return fmi2OK;
}
FMI_API fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *x) { return (void)kind, (void)x, refuse(c, "fmi2GetStatus"); } // no step is pending
FMI_API fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, int *x) { return (void)kind, (void)x, refuse(c, "fmi2GetIntegerStatus"); }
FMI_API fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, const char **x) { return (void)kind, (void)x, refuse(c, "fmi2GetStringStatus"); }
