// fmi_rules.h: a model description held against the rules of FMI 2.0 and 3.0: elements, their order, attributes and
// their kinds, and what variables may be.
#pragma once
#include "fmu_rig.h"
#include <ctype.h>

// Attributes: `!` needed, and behind a colon their kind: d a number, u a natural one, b true or false, words between |;
// else text. Children in this order: `?` at most one, `*` any number, `+` at least one, else one.
typedef struct fmi_rule { const char *element, *attributes, *children; } fmi_rule;

#define FMI_KINDS                                                                                                      \
    "causality:parameter|calculatedParameter|input|output|local|independent "                                          \
    "variability:constant|fixed|tunable|discrete|continuous initial:exact|approx|calculated"
#define FMI_TEXTS                                                                                                      \
    "modelName! description author version copyright license generationTool generationDateAndTime "                    \
    "variableNamingConvention:flat|structured"
#define FMI_UNITS                                                                                                      \
    {"UnitDefinitions", "", "Unit+"}, {"Unit", "name!", "BaseUnit? DisplayUnit*"},                                     \
        {"BaseUnit", "kg:i m:i s:i A:i K:i mol:i cd:i rad:i factor:d offset:d", ""},                                   \
        {"LogCategories", "", "Category+"}, {"Category", "name! description", ""}, {                                   \
        "DefaultExperiment", "startTime:d stopTime:d tolerance:d stepSize:d", ""                                       \
    }

static const fmi_rule fmi_rules_2[] = {
    {"fmiModelDescription", "fmiVersion!:2.0 guid! numberOfEventIndicators:u " FMI_TEXTS,
     "CoSimulation UnitDefinitions? TypeDefinitions? LogCategories? DefaultExperiment? VendorAnnotations? "
     "ModelVariables ModelStructure"},
    {"CoSimulation",
     "modelIdentifier! needsExecutionTool:b canHandleVariableCommunicationStepSize:b canInterpolateInputs:b "
     "maxOutputDerivativeOrder:u canRunAsynchronuously:b canBeInstantiatedOnlyOncePerProcess:b "
     "canNotUseMemoryManagementFunctions:b canGetAndSetFMUstate:b canSerializeFMUstate:b "
     "providesDirectionalDerivative:b",
     "SourceFiles?"},
    {"SourceFiles", "", "File+"},
    {"File", "name!", ""},
    FMI_UNITS,
    {"ModelVariables", "", "ScalarVariable+"},
    {"ScalarVariable", "name! valueReference!:u description canHandleMultipleSetPerTimeInstant:b " FMI_KINDS, "Real"},
    {"Real",
     "declaredType quantity unit displayUnit relativeQuantity:b min:d max:d nominal:d unbounded:b start:d derivative:u "
     "reinit:b",
     ""},
    {"ModelStructure", "", "Outputs? Derivatives? InitialUnknowns?"},
    {"Outputs", "", "Unknown+"},
    {"InitialUnknowns", "", "Unknown+"},
    {"Unknown", "index!:u dependencies dependenciesKind", ""},
    {NULL, NULL, NULL}};

static const fmi_rule fmi_rules_3[] = {
    {"fmiModelDescription", "fmiVersion!:3.0 instantiationToken! " FMI_TEXTS,
     "CoSimulation UnitDefinitions? TypeDefinitions? LogCategories? DefaultExperiment? ModelVariables ModelStructure "
     "Annotations?"},
    {"CoSimulation",
     "modelIdentifier! needsExecutionTool:b canBeInstantiatedOnlyOncePerProcess:b canGetAndSetFMUState:b "
     "canSerializeFMUState:b providesDirectionalDerivatives:b providesAdjointDerivatives:b "
     "providesPerElementDependencies:b canHandleVariableCommunicationStepSize:b fixedInternalStepSize:d "
     "maxOutputDerivativeOrder:u recommendedIntermediateInputSmoothness:i providesIntermediateUpdate:b "
     "mightReturnEarlyFromDoStep:b canReturnEarlyAfterIntermediateUpdate:b hasEventMode:b "
     "providesEvaluateDiscreteStates:b",
     ""},
    FMI_UNITS,
    {"ModelVariables", "", "Float64+"},
    {"Float64",
     "name! valueReference!:u description canHandleMultipleSetPerTimeInstant:b intermediateUpdate:b previous:u clocks "
     "declaredType quantity unit displayUnit relativeQuantity:b unbounded:b min:d max:d nominal:d "
     "start:d derivative:u reinit:b " FMI_KINDS,
     ""},
    {"ModelStructure", "", "Output* ContinuousStateDerivative* ClockedState* InitialUnknown* EventIndicator*"},
    {"Output", "valueReference!:u dependencies dependenciesKind", ""},
    {"InitialUnknown", "valueReference!:u dependencies dependenciesKind", ""},
    {"fmiBuildDescription", "fmiVersion!:3.0", "BuildConfiguration+"},
    {"BuildConfiguration", "modelIdentifier! platform description", "SourceFileSet* Library*"},
    {"SourceFileSet", "name language compiler compilerOptions",
     "SourceFile+ PreprocessorDefinition* IncludeDirectory*"},
    {"SourceFile", "name!", ""},
    {"PreprocessorDefinition", "name! optional:b value description", "Option*"},
    {"IncludeDirectory", "name!", ""},
    {"Library", "name! version external:b description", ""},
    {NULL, NULL, NULL}};

// -- one attribute, one element ---------------------------------------------------------------------------------------

static inline bool fmi_kind_fits(const char *kind, size_t length, const char *value) {
    char *end;
    if (length == 1 && strchr("du", *kind))
        return *value && (strtod(value, &end), *end == 0) && (*kind == 'd' || !strpbrk(value, "-.eE"));
    if (length == 1 && *kind == 'i') return *value && (strtol(value, &end, 10), *end == 0);
    if (length == 1 && *kind == 'b') return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    for (const char *at = kind; at < kind + length; at += strcspn(at, "| ") + 1)
        if (strcspn(at, "| ") == strlen(value) && strncmp(at, value, strlen(value)) == 0) return true;
    return false;
}

// The word `name` in a list of words that may end in ! : ? * +; NULL: it is not there.
static inline const char *fmi_word(const char *list, const char *name, size_t length) {
    for (const char *at = list; *at; at += strspn(at, " ")) {
        // strchr finds the 0 at the end, too
        if (strncmp(at, name, length) == 0 && strchr(" !:?*+", at[length])) return at;
        at += strcspn(at, " ");
    }
    return NULL;
}

static inline const fmi_rule *fmi_rule_of(const fmi_rule *rules, const char *name, size_t length) {
    for (; rules->element; ++rules)
        if (strlen(rules->element) == length && strncmp(rules->element, name, length) == 0) return rules;
    fail_msg("an element <%.*s> that the schema does not have", (int)length, name);
    return NULL;
}

static inline void fmi_attributes(const fmi_rule *rule, const char *at) {
    char seen[1000] = " ";
    for (at += strspn(at, " \n"); isalpha((unsigned char)*at); at += strspn(at, " \n")) {
        const size_t name = strcspn(at, "=");
        char value[2000];
        const char *word = fmi_word(rule->attributes, at, name),
                   *kind = word ? word + name + (word[name] == '!') : NULL;
        if (!word) fail_msg("<%s> has an attribute %.*s that the schema does not have", rule->element, (int)name, at);
        char needle[100];
        snprintf(needle, sizeof needle, " %.*s ", (int)name, at);
        if (strstr(seen, needle)) fail_msg("<%s> has %.*s twice", rule->element, (int)name, at);
        strncat(seen, needle + 1, sizeof seen - strlen(seen) - 1);
        assert_int_equal(at[name + 1], '"');
        const size_t length = strcspn(at + name + 2, "\"");
        snprintf(value, sizeof value, "%.*s", (int)length, at + name + 2);
        for (const char *c = value; *c; ++c)
            if ((unsigned char)*c < 32 || *c == '<')
                fail_msg("<%s> %.*s holds a character that XML does not have there", rule->element, (int)name, at);
        if (*kind == ':' && !fmi_kind_fits(kind + 1, strcspn(kind + 1, " "), value))
            fail_msg("<%s> %.*s=\"%s\" is not of the kind that the schema wants", rule->element, (int)name, at, value);
        at += name + 3 + length;
    }
    for (const char *w = rule->attributes; *w; w += strcspn(w, " "), w += strspn(w, " ")) {
        const size_t name = strcspn(w, " !:");
        char needle[100];
        snprintf(needle, sizeof needle, " %.*s ", (int)name, w);
        if (w[name] == '!' && !strstr(seen, needle)) fail_msg("<%s> lacks %.*s", rule->element, (int)name, w);
    }
}

// Element at `at` (its <) with all inside; what stands behind it.
static inline const char *fmi_element(const fmi_rule *rules, const char *at) {
    const size_t length = strcspn(at + 1, " />\n");
    const fmi_rule *rule = fmi_rule_of(rules, at + 1, length);
    fmi_attributes(rule, at + 1 + length);
    const char *close = at + 1; // the > outside of values
    for (bool in = false; in || *close != '>'; ++close) in ^= *close == '"';
    const char *want = rule->children, *inside = close + 1;
    int many = 0; // of the child that is wanted
    for (; close[-1] != '/'; ) {
        inside += strspn(inside, " \n");
        const bool end = inside[0] == '<' && inside[1] == '/';
        const size_t name = end ? 0 : strcspn(inside + 1, " />\n");
        for (;;) { // words that are done
            const size_t word = strcspn(want, " ?*+");
            if (*want && !end && word == name && strncmp(want, inside + 1, name) == 0 &&
                !(many && strchr(" ?", want[word])))
                break;
            if (!*want && !end) fail_msg("<%.*s> does not belong here in <%s>", (int)name, inside + 1, rule->element);
            if (!*want) break;
            if (!many && !strchr("?*", want[word] ? want[word] : ' '))
                fail_msg("<%s> lacks <%.*s>", rule->element, (int)word, want);
            want += strcspn(want, " "), want += strspn(want, " ");
            many = 0;
        }
        if (end) return inside + strcspn(inside, ">") + 1;
        inside = fmi_element(rules, inside);
        ++many;
    }
    return inside;
}

// -- variables --------------------------------------------------------------------------------------------------------

static inline bool fmi_is(const char *a, const char *b) { return strcmp(a, b) == 0; }

// The standard's tables of causality, variability, initial and start.
static inline void fmi_variable(const rig_variable *v) {
    const bool input = fmi_is(v->causality, "input"), exact = fmi_is(v->initial, "exact"),
               calculated = fmi_is(v->initial, "calculated"), continuous = fmi_is(v->variability, "continuous");
    bool good = v->start == (exact || fmi_is(v->initial, "approx") || input);
    if (fmi_is(v->causality, "parameter")) good = good && exact && fmi_is(v->variability, "fixed");
    else if (fmi_is(v->causality, "calculatedParameter")) good = good && calculated && fmi_is(v->variability, "fixed");
    else if (input || fmi_is(v->causality, "independent")) good = good && !v->initial[0] && continuous;
    else
        good = good && (fmi_is(v->causality, "output") || fmi_is(v->causality, "local")) && (exact || calculated) &&
               (continuous || fmi_is(v->variability, "discrete"));
    if (!good)
        fail_msg("'%s': %s, %s, %s, %s start value do not go together", v->name, v->causality, v->variability,
                 v->initial[0] ? v->initial : "no initial", v->start ? "a" : "no");
}

// Is this variable in the list of that element, and how often?
static inline int fmi_listed(const rig *r, const rig_variable *v, int index, bool initial) {
    char text[80];
    const char *from = r->description, *end = NULL;
    if (r->version == 2) {
        from = strstr(from, initial ? "<InitialUnknowns>" : "<Outputs>");
        end = from ? strstr(from, initial ? "</InitialUnknowns>" : "</Outputs>") : NULL;
        snprintf(text, sizeof text, "<Unknown index=\"%d\"", index + 1);
    } else snprintf(text, sizeof text, "<%s valueReference=\"%u\"", initial ? "InitialUnknown" : "Output", v->ref);
    int n = 0;
    for (const char *at = from; at && (at = strstr(at, text)) && (!end || at < end); ++at) ++n;
    return n;
}

static inline int fmi_count(const char *text, const char *word) {
    int n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) ++n;
    return n;
}

static inline void fmi_variables(const rig *r) {
    int independent = 0, outputs = 0, unknowns = 0;
    for (int i = 0; i < r->n; ++i) {
        const rig_variable *v = &r->variable[i];
        fmi_variable(v);
        const bool output = fmi_is(v->causality, "output"),
                   unknown = (output && !fmi_is(v->initial, "exact")) || fmi_is(v->causality, "calculatedParameter");
        independent += fmi_is(v->causality, "independent");
        outputs += output;
        unknowns += unknown;
        for (int k = 0; k < i; ++k)
            if (fmi_is(v->name, r->variable[k].name) || v->ref == r->variable[k].ref)
                fail_msg("'%s' is there twice", v->name);
        if (fmi_listed(r, v, i, false) != output || fmi_listed(r, v, i, true) != unknown)
            fail_msg("'%s' is wrong in ModelStructure", v->name);
        if (!v->unit[0]) continue;
        char text[100];
        snprintf(text, sizeof text, "<Unit name=\"%s\">", v->unit);
        if (fmi_count(r->description, text) != 1) fail_msg("'%s': %s has no definition", v->name, v->unit);
    }
    assert_int_equal(independent, 1);
    if (r->version == 3)
        assert_int_equal(fmi_count(r->description, "<Output ") + fmi_count(r->description, "<InitialUnknown "),
                         outputs + unknowns);
    else assert_int_equal(fmi_count(r->description, "<Unknown "), outputs + unknowns);
}

/// The whole: elements and attributes by the schema, variables by the tables, structure and units by each other.
static inline void fmi_check(const rig *r) {
    const char *end =
        fmi_element(r->version == 2 ? fmi_rules_2 : fmi_rules_3, strstr(r->description, "<fmiModelDescription"));
    assert_int_equal(end[strspn(end, " \n")], 0);
    fmi_variables(r);
    assert_true(isalpha((unsigned char)r->id[0]) || r->id[0] == '_');
    for (const char *c = r->id; *c; ++c) assert_true(isalnum((unsigned char)*c) || *c == '_');
}
