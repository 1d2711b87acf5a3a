// describe.c: modelDescription.xml of FMI 2.0 and 3.0, and the build description of 3.0.
#include "base/number.h"
#include "base/unit.h"
#include "fmu/export.h"
#include "fmu/native.h"
#include "io/print.h"
#include <carom/event.h>
#include <carom/version.h>
#include <stdlib.h>
#include <string.h>

static void attribute(FILE *f, const char *name, const char *value) {
    if (!value) return;
    fprintf(f, " %s=\"", name);
    carom_escape_file(CAROM_FOR_XML, f, value);
    fputc('"', f);
}

static void number(FILE *f, const char *name, double x) {
    char text[40];
    carom_format(text, sizeof text, "%.17g", x);
    attribute(f, name, text);
}

static bool shortens(const char *scheme) {
    const carom_scheme *s = carom_schemes_find(scheme);
    return s && !(s->limitations & CAROM_NO_STEP_CHANGE);
}

static const char *about_reaction(const table_column *c) {
    const bool joint = c->of >= CAROM_OF_JOINT_GAP && c->of <= CAROM_OF_JOINT_IMPULSE;
    switch (c->role) {
    case CAROM_ROLE_GAP: return joint ? "violation of a joint or constraint" : "gap of a contact";
    case CAROM_ROLE_GAP_RATE: case CAROM_ROLE_SLIP_RATE: return "velocity at a contact";
    case CAROM_ROLE_FORCE: case CAROM_ROLE_FRICTION: return "force that is not impulsive";
    case CAROM_ROLE_IMPULSE: case CAROM_ROLE_FRICTION_IMPULSE:
        return "impulse during the last communication step that is not counted as force";
    case CAROM_ROLE_CLOSED: return "number of closed contacts";
    default: return NULL;
    }
}

static const char *about(const fmu_variables *all, const fmu_variable *v) {
    switch (v->kind) {
    case FMU_TIME: return "time";
    case FMU_STEP: return "largest step of the scheme";
    case FMU_PARAMETER: case FMU_CALCULATED: return "parameter";
    case FMU_INPUT: case FMU_SIGNAL: return "input, held during a step";
    case FMU_POSITION: return "position";
    case FMU_VELOCITY: return v->state ? "first-order state" : "velocity, after impacts";
    case FMU_KINETIC: return "kinetic energy";
    case FMU_POTENTIAL: return "potential energy";
    case FMU_ENERGY: return "total energy";
    case FMU_REACTION: return about_reaction(&all->columns.list[v->index]);
    case FMU_OUTPUT: return "output of the model";
    case FMU_KINDS: break;
    }
    return NULL;
}

// Units that variables have, each once.
static void put_units(FILE *f, const carom_model *m, const fmu_variables *v) {
    char (*seen)[40] = malloc((size_t)v->n * sizeof *seen), text[40], plain[60];
    int n = 0;
    for (int i = 0; i < v->n && seen; ++i) {
        int k = 0;
        carom_unit u;
        if (!carom_model_unit(m, v->list[i].name, true, text, sizeof text) ||
            !carom_model_unit(m, v->list[i].name, false, plain, sizeof plain))
            continue;
        while (k < n && strcmp(seen[k], text) != 0) ++k;
        if (k < n || !carom_unit_read(plain, strlen(plain), &u)) continue;
        memcpy(seen[n++], text, sizeof text);
        bool whole = true; // FMI has no other powers
        for (int d = 0; d < CAROM_DIMENSIONS; ++d) whole = whole && u.power[d] == round(u.power[d]);
        fprintf(f, "%s    <Unit name=\"%s\">%s", n == 1 ? "  <UnitDefinitions>\n" : "", text,
                whole ? "<BaseUnit" : "</Unit>\n");
        if (!whole) continue;
        static const char *const base[] = {"kg", "m", "s", "rad", "A"};
        for (int d = 0; d < CAROM_DIMENSIONS; ++d)
            if (u.power[d] != 0) fprintf(f, " %s=\"%d\"", base[d], (int)u.power[d]);
        fputs("/></Unit>\n", f);
    }
    if (n) fputs("  </UnitDefinitions>\n", f);
    free(seen);
}

// Does a controller hold it?  Its signals stand behind the inputs.
static bool is_held(const carom_model *m, const char *name) {
    const char *signal;
    int i = 0;
    while (carom_model_input(m, i, &(double){0})) ++i;
    while ((signal = carom_model_signal(m, i)) && strcmp(signal, name) != 0) ++i;
    return signal;
}

static void put_variable(FILE *f, int version, const carom_model *m, const fmu_variables *all, int ref) {
    const fmu_variable *v = &all->list[ref];
    char unit[40];
    fmu_role role = carom_fmu_role(v->kind);
    const bool held = v->kind == FMU_OUTPUT && is_held(m, v->name);
    if (held) role.variability = "discrete";
    const bool inside = version == 3 && (strcmp(role.causality, "local") == 0 || strcmp(role.causality, "output") == 0);
    fprintf(f, "    <%s", version == 2 ? "ScalarVariable" : "Float64");
    attribute(f, "name", v->name);
    fprintf(f, " valueReference=\"%d\"", ref);
    attribute(f, "description", held ? "signal of a controller, held between its samples" : about(all, v));
    attribute(f, "causality", role.causality);
    attribute(f, "variability", role.variability);
    attribute(f, "initial", role.initial);
    if (inside) attribute(f, "intermediateUpdate", "true");
    if (version == 2) fputs("><Real", f);
    if (carom_model_unit(m, v->name, true, unit, sizeof unit)) attribute(f, "unit", unit);
    if (role.start) number(f, "start", v->start);
    fputs(version == 2 ? "/></ScalarVariable>\n" : "/>\n", f);
}

// Outputs, and what has to be computed at the start: these and dependent parameters.
static void put_structure(FILE *f, int version, const fmu_variables *v) {
    fputs("  <ModelStructure>\n", f);
    for (int list = 0; list < 2; ++list) {
        int n = 0;
        for (int i = 0; i < v->n; ++i) {
            const fmu_kind kind = v->list[i].kind;
            if (kind != FMU_OUTPUT && !(list == 1 && kind == FMU_CALCULATED)) continue;
            if (version == 2 && n++ == 0) fprintf(f, "    <%s>\n", list ? "InitialUnknowns" : "Outputs");
            if (version == 2) fprintf(f, "      <Unknown index=\"%d\"/>\n", i + 1);
            else fprintf(f, "    <%s valueReference=\"%d\"/>\n", list ? "InitialUnknown" : "Output", i);
        }
        if (n > 0) fprintf(f, "    </%s>\n", list ? "InitialUnknowns" : "Outputs");
    }
    fputs("  </ModelStructure>\n", f);
}

static bool compiled(const char *name) { return strlen(name) > 2 && strcmp(name + strlen(name) - 2, ".c") == 0; }

static void put_kind(FILE *f, const fmu_export_def *def, const fmu_bundle *b) {
    fputs("  <CoSimulation", f);
    attribute(f, "modelIdentifier", def->identifier);
    attribute(f, "canHandleVariableCommunicationStepSize", shortens(b->scheme) ? "true" : "false");
    if (def->version == 3) {
        fputs(" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" providesIntermediateUpdate=\"true\" "
              "canReturnEarlyAfterIntermediateUpdate=\"true\""
              " mightReturnEarlyFromDoStep=\"true\" hasEventMode=\"true\"/>\n",
              f);
        return;
    }
    fputs(" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" canNotUseMemoryManagementFunctions=\"true\">\n "
          "   <SourceFiles>\n",
          f);
    for (const fmu_part *p = def->sources; p->name; ++p)
        if (compiled(p->name)) fprintf(f, "      <File name=\"%s\"/>\n", p->name);
    fputs("      <File name=\"" FMU_NATIVE_SOURCE "\"/>\n", f);
    fputs("    </SourceFiles>\n  </CoSimulation>\n", f);
}

void carom_fmu_describe(FILE *f, const fmu_export_def *def, const fmu_bundle *b, const fmu_variables *v,
                        const char *token) {
    static const char *const categories[][2] = {{"logEvents", "impacts and changes of contacts"},
                                                {"logStatusWarning", "what to know before trusting a run"},
                                                {"logStatusDiscard", "steps that could not be completed"},
                                                {"logStatusError", "errors"}};
    const char *name = carom_model_name(def->model);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription", f);
    attribute(f, "fmiVersion", def->version == 2 ? "2.0" : "3.0");
    attribute(f, "modelName", name && name[0] ? name : def->identifier);
    attribute(f, def->version == 2 ? "guid" : "instantiationToken", token);
    fprintf(f, " generationTool=\"carom %s\" variableNamingConvention=\"flat\">\n", CAROM_VERSION);
    put_kind(f, def, b);
    put_units(f, def->model, v);
    fputs("  <LogCategories>\n", f);
    for (size_t i = 0; i < sizeof categories / sizeof *categories; ++i)
        fprintf(f, "    <Category name=\"%s\" description=\"%s\"/>\n", categories[i][0], categories[i][1]);
    fputs("  </LogCategories>\n  <DefaultExperiment startTime=\"0\"", f);
    number(f, "stopTime", b->end);
    number(f, "stepSize", b->step);
    fputs("/>\n  <ModelVariables>\n", f);
    for (int i = 0; i < v->n; ++i) put_variable(f, def->version, def->model, v, i);
    fputs("  </ModelVariables>\n", f);
    put_structure(f, def->version, v);
    fputs("</fmiModelDescription>\n", f);
}

void carom_fmu_describe_build(FILE *f, const fmu_export_def *def) {
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n  "
            "<BuildConfiguration modelIdentifier=\"%s\">\n",
            def->identifier);
    fputs("    <SourceFileSet language=\"C17\" compiler=\"gcc\" compilerOptions=\"-std=c17 -O2 -fPIC -ffp-contract=off "
          "-fno-math-errno -fvisibility=hidden\">\n",
          f);
    for (const fmu_part *p = def->sources; p->name; ++p)
        if (compiled(p->name)) fprintf(f, "      <SourceFile name=\"%s\"/>\n", p->name);
    fputs("      <SourceFile name=\"" FMU_NATIVE_SOURCE "\"/>\n", f);
    fputs("      <PreprocessorDefinition name=\"CAROM_INSIDE\"/>\n", f);
    fputs("      <IncludeDirectory name=\"src\"/>\n      <IncludeDirectory name=\"include\"/>\n    </SourceFileSet>\n"
          "    <Library name=\"m\" external=\"true\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n", f);
}
