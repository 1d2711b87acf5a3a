// fmu_rig.h: a small importer of FMUs for tests: exports, unpacks, reads the description, loads the functions of FMI 2
// and 3.
#pragma once
#include "model_text.h"
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RIG_VARIABLES = 400 };

typedef struct rig_variable {
    char name[80], causality[24], variability[16], initial[16], unit[40];
    unsigned ref;
    bool start;
    double value;
} rig_variable;

typedef struct rig {
    int version;
    char folder[400], resources[440], token[64], id[64];
    char *description;
    void *library;
    rig_variable variable[RIG_VARIABLES];
    int n;
} rig;

// -- files ------------------------------------------------------------------------------------------------------------

static inline char *rig_file(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("cannot read %s", path);
    fseek(f, 0, SEEK_END);
    *length = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, *length + 1);
    assert_int_equal(fread(text, 1, *length, f), *length);
    fclose(f);
    return text;
}

static inline void rig_write(const char *path, const char *bytes, size_t length) {
    char folder[900];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *c = folder + 1; *c; ++c)
        if (*c == '/') *c = 0, mkdir(folder, 0755), *c = '/';
    FILE *f = fopen(path, "wb");
    if (!f) fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

static inline unsigned rig_u16(const unsigned char *x) { return x[0] | (unsigned)x[1] << 8; }
static inline uint32_t rig_u32(const unsigned char *x) { return rig_u16(x) | (uint32_t)rig_u16(x + 2) << 16; }

// The checksum of zip files by its definition, bit by bit.
static inline uint32_t rig_crc(const unsigned char *x, size_t n) {
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < n; ++i) {
        crc ^= x[i];
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

// What is deflated with fixed codes (RFC 1951): an own decoder, so that the encoder has another one against it.
typedef struct rig_bits { const unsigned char *at, *end; uint32_t held; int count; } rig_bits;

static inline unsigned rig_bit(rig_bits *b) {
    if (b->count == 0) {
        assert_true(b->at < b->end);
        b->held = *b->at++, b->count = 8;
    }
    const unsigned x = b->held & 1;
    b->held >>= 1, --b->count;
    return x;
}
static inline unsigned rig_take(rig_bits *b, int n) {
    unsigned x = 0;
    for (int i = 0; i < n; ++i) x |= rig_bit(b) << i;
    return x;
}
static inline unsigned rig_symbol_of(rig_bits *b) {
    unsigned code = 0;
    for (int n = 1; n <= 9; ++n) {
        code = code << 1 | rig_bit(b);
        if (n == 7 && code < 24) return 256 + code;
        if (n == 8 && code >= 48 && code < 192) return code - 48;
        if (n == 8 && code >= 192 && code < 200) return 280 + code - 192;
        if (n == 9 && code >= 400) return 144 + code - 400;
    }
    fail_msg("no code");
    return 0;
}
static inline void rig_inflate(const unsigned char *in, size_t packed, unsigned char *out, size_t size) {
    rig_bits b = {.at = in, .end = in + packed};
    size_t n = 0;
    assert_int_equal(rig_take(&b, 3), 3);
    for (unsigned s; (s = rig_symbol_of(&b)) != 256;) {
        if (s < 256) {
            assert_true(n < size);
            out[n++] = (unsigned char)s;
            continue;
        }
        unsigned k = s - 257, extra = k < 8 || k == 28 ? 0 : k / 4 - 1, length = k == 28 ? 258 : 3;
        for (unsigned i = 0; i < k && k != 28; ++i) length += 1u << (i < 8 ? 0 : i / 4 - 1);
        length += rig_take(&b, (int)extra);
        unsigned d = 0, distance = 1;
        for (int i = 0; i < 5; ++i) d = d << 1 | rig_bit(&b);
        assert_true(d < 30);
        for (unsigned i = 0; i < d; ++i) distance += 1u << (i < 2 ? 0 : i / 2 - 1);
        distance += rig_take(&b, d < 2 ? 0 : (int)d / 2 - 1);
        assert_true(distance <= n && n + length <= size);
        for (unsigned i = 0; i < length; ++i, ++n) out[n] = out[n - distance];
    }
    assert_true(n == size && b.at == b.end);
}

// By the list of contents at the end.  Sources are only looked at: `sources` of them, the same in every package of a
// build, so that those of the first one are unpacked.
static inline void rig_unpack(const char *file, const char *folder, int *sources) {
    size_t length;
    unsigned char *zip = (unsigned char *)rig_file(file, &length), *end = zip + length - 22;
    assert_int_equal(rig_u32(end), 0x06054b50);
    const unsigned n = rig_u16(end + 10);
    const unsigned char *at = zip + rig_u32(end + 16);
    static bool looked;
    *sources = 0;
    for (unsigned i = 0; i < n; ++i) {
        assert_int_equal(rig_u32(at), 0x02014b50);
        const unsigned named = rig_u16(at + 28);
        const uint32_t packed = rig_u32(at + 20), size = rig_u32(at + 24), offset = rig_u32(at + 42);
        const unsigned method = rig_u16(at + 10);
        char name[300], path[800];
        snprintf(name, sizeof name, "%.*s", (int)named, (const char *)at + 46);
        const unsigned char *local = zip + offset, *bytes = local + 30 + rig_u16(local + 26) + rig_u16(local + 28);
        assert_int_equal(rig_u32(local), 0x04034b50);
        assert_memory_equal(local + 30, at + 46, named);
        assert_true(bytes + packed <= end && (method == 8 ? packed < size : method == 0 && packed == size));
        const bool source = strncmp(name, "sources/", 8) == 0,
                   kept = !source || strcmp(name, "sources/buildDescription.xml") == 0;
        *sources += source;
        if (kept || !looked) {
            unsigned char *unpacked = malloc(size + 1);
            if (method == 8) rig_inflate(bytes, packed, unpacked, size);
            else memcpy(unpacked, bytes, size);
            assert_int_equal(rig_crc(unpacked, size), rig_u32(at + 16));
            snprintf(path, sizeof path, "%s/%s", folder, name);
            if (kept) rig_write(path, (const char *)unpacked, size);
            free(unpacked);
        }
        at += 46 + named + rig_u16(at + 30) + rig_u16(at + 32);
    }
    looked = true;
    assert_ptr_equal(at, end);
    free(zip);
}

// -- description ------------------------------------------------------------------------------------------------------

static inline bool rig_attribute(const char *tag, const char *name, char *value, size_t size) {
    char key[60];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = strchr(tag, '>'), *at = strstr(tag, key);
    value[0] = 0;
    if (!at || at > end) return false;
    at += strlen(key);
    snprintf(value, size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

static inline void rig_describe(rig *r) {
    char path[500], text[80];
    size_t length;
    snprintf(path, sizeof path, "%s/modelDescription.xml", r->folder);
    r->description = rig_file(path, &length);
    const char *top = strstr(r->description, "<fmiModelDescription"), *kind = strstr(r->description, "<CoSimulation");
    assert_non_null(top);
    assert_non_null(kind);
    assert_true(rig_attribute(top, r->version == 2 ? "guid" : "instantiationToken", r->token, sizeof r->token));
    assert_true(rig_attribute(kind, "modelIdentifier", r->id, sizeof r->id));
    const char *word = r->version == 2 ? "<ScalarVariable " : "<Float64 ";
    for (const char *at = strstr(r->description, word); at; at = strstr(at + 1, word)) {
        assert_true(r->n < RIG_VARIABLES);
        rig_variable *v = &r->variable[r->n++];
        const char *real = r->version == 2 ? strstr(at, "<Real") : at;
        assert_true(rig_attribute(at, "name", v->name, sizeof v->name));
        assert_true(rig_attribute(at, "valueReference", text, sizeof text));
        v->ref = (unsigned)atoi(text);
        rig_attribute(at, "causality", v->causality, sizeof v->causality);
        rig_attribute(at, "variability", v->variability, sizeof v->variability);
        rig_attribute(at, "initial", v->initial, sizeof v->initial);
        rig_attribute(real, "unit", v->unit, sizeof v->unit);
        v->start = rig_attribute(real, "start", text, sizeof text);
        v->value = v->start ? strtod(text, NULL) : NAN;
    }
}

static inline unsigned rig_ref(const rig *r, const char *name) {
    for (int i = 0; i < r->n; ++i)
        if (strcmp(r->variable[i].name, name) == 0) return r->variable[i].ref;
    fail_msg("the FMU has no variable %s", name);
    return 0;
}

// -- an FMU -----------------------------------------------------------------------------------------------------------

#define RIG_PLACE CAROM_BINARY_DIR "/test/fmu-"

static inline int rig_shell(const char *command) {
    const int status = system(command);
    return status < 0 ? -1 : status >> 8;
}

/// Exports a model file with more arguments; the FMU is unpacked and loaded.
static inline rig *rig_open(const char *name, const char *model, int version, const char *arguments) {
    static const char *const machines[] = {"linux64", "aarch64-linux", "x86_64-linux"};
    char command[1400], file[400], path[600];
    rig *r = calloc(1, sizeof *r);
    int sources;
    r->version = version;
    snprintf(file, sizeof file, RIG_PLACE "%s-%d.fmu", name, version);
    snprintf(r->folder, sizeof r->folder, RIG_PLACE "%s-%d", name, version);
    snprintf(r->resources, sizeof r->resources, "%s/resources", r->folder);
    snprintf(command, sizeof command, "%s/carom export fmu %s --fmi %d %s %s -o %s >/dev/null", CAROM_BINARY_DIR, model,
             version, strstr(arguments, "--compile") ? "" : "--compile off", arguments, file);
    assert_int_equal(rig_shell(command), 0);
    rig_unpack(file, r->folder, &sources);
    assert_true(sources > 200);
    rig_describe(r);
    for (int i = 0; i < 3 && !r->library; ++i) {
        snprintf(path, sizeof path, "%s/binaries/%s/%s.so", r->folder, machines[i], r->id);
        if (access(path, R_OK) == 0) r->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!r->library) fail_msg("%s", dlerror());
    return r;
}

static inline void rig_close(rig *r) {
    dlclose(r->library);
    free(r->description);
    free(r);
}

static inline void *rig_symbol(const rig *r, const char *name) {
    void *f = dlsym(r->library, name);
    if (!f) fail_msg("the FMU has no function %s", name);
    return f;
}

// -- FMI 3, as an importer declares it --------------------------------------------------------------------------------

typedef void fmi3_log(void *user, int status, const char *category, const char *message);
typedef void fmi3_update(void *user, double t, bool set, bool get, bool finished, bool can_return, bool *requested,
                         double *at);

typedef struct fmi3 {
    void *(*instantiate)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t,
                         void *, fmi3_log *, fmi3_update *);
    void (*free)(void *);
    int (*enter)(void *, bool, double, double, bool, double);
    int (*exit)(void *), (*event_mode)(void *), (*step_mode)(void *), (*terminate)(void *), (*reset)(void *);
    int (*update)(void *, bool *, bool *, bool *, bool *, bool *, double *);
    int (*get)(void *, const uint32_t *, size_t, double *, size_t),
        (*set)(void *, const uint32_t *, size_t, const double *, size_t);
    int (*step)(void *, double, double, bool, bool *, bool *, bool *, double *);
    int (*save)(void *, void **), (*restore)(void *, void *), (*drop)(void *, void **),
        (*size)(void *, void *, size_t *);
    int (*write)(void *, void *, uint8_t *, size_t), (*read)(void *, const uint8_t *, size_t, void **);
} fmi3;

static inline fmi3 rig_fmi3(const rig *r) {
    fmi3 f;
    *(void **)&f.instantiate = rig_symbol(r, "fmi3InstantiateCoSimulation");
    *(void **)&f.free = rig_symbol(r, "fmi3FreeInstance");
    *(void **)&f.enter = rig_symbol(r, "fmi3EnterInitializationMode");
    *(void **)&f.exit = rig_symbol(r, "fmi3ExitInitializationMode");
    *(void **)&f.event_mode = rig_symbol(r, "fmi3EnterEventMode");
    *(void **)&f.step_mode = rig_symbol(r, "fmi3EnterStepMode");
    *(void **)&f.terminate = rig_symbol(r, "fmi3Terminate");
    *(void **)&f.reset = rig_symbol(r, "fmi3Reset");
    *(void **)&f.update = rig_symbol(r, "fmi3UpdateDiscreteStates");
    *(void **)&f.get = rig_symbol(r, "fmi3GetFloat64");
    *(void **)&f.set = rig_symbol(r, "fmi3SetFloat64");
    *(void **)&f.step = rig_symbol(r, "fmi3DoStep");
    *(void **)&f.save = rig_symbol(r, "fmi3GetFMUState");
    *(void **)&f.restore = rig_symbol(r, "fmi3SetFMUState");
    *(void **)&f.drop = rig_symbol(r, "fmi3FreeFMUState");
    *(void **)&f.size = rig_symbol(r, "fmi3SerializedFMUStateSize");
    *(void **)&f.write = rig_symbol(r, "fmi3SerializeFMUState");
    *(void **)&f.read = rig_symbol(r, "fmi3DeserializeFMUState");
    return f;
}

// -- FMI 2 ------------------------------------------------------------------------------------------------------------

typedef struct fmi2_callbacks {
    void (*log)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *user;
} fmi2_callbacks;

typedef struct fmi2 {
    void *(*instantiate)(const char *, int, const char *, const char *, const fmi2_callbacks *, int, int);
    void (*free)(void *);
    int (*setup)(void *, int, double, double, int, double);
    int (*enter)(void *), (*exit)(void *), (*terminate)(void *), (*reset)(void *);
    int (*get)(void *, const unsigned *, size_t, double *), (*set)(void *, const unsigned *, size_t, const double *);
    int (*step)(void *, double, double, int);
    int (*save)(void *, void **), (*restore)(void *, void *), (*drop)(void *, void **),
        (*size)(void *, void *, size_t *);
    int (*write)(void *, void *, char *, size_t), (*read)(void *, const char *, size_t, void **);
    int (*real_status)(void *, int, double *);
} fmi2;

static inline fmi2 rig_fmi2(const rig *r) {
    fmi2 f;
    *(void **)&f.instantiate = rig_symbol(r, "fmi2Instantiate");
    *(void **)&f.free = rig_symbol(r, "fmi2FreeInstance");
    *(void **)&f.setup = rig_symbol(r, "fmi2SetupExperiment");
    *(void **)&f.enter = rig_symbol(r, "fmi2EnterInitializationMode");
    *(void **)&f.exit = rig_symbol(r, "fmi2ExitInitializationMode");
    *(void **)&f.terminate = rig_symbol(r, "fmi2Terminate");
    *(void **)&f.reset = rig_symbol(r, "fmi2Reset");
    *(void **)&f.get = rig_symbol(r, "fmi2GetReal");
    *(void **)&f.set = rig_symbol(r, "fmi2SetReal");
    *(void **)&f.step = rig_symbol(r, "fmi2DoStep");
    *(void **)&f.save = rig_symbol(r, "fmi2GetFMUstate");
    *(void **)&f.restore = rig_symbol(r, "fmi2SetFMUstate");
    *(void **)&f.drop = rig_symbol(r, "fmi2FreeFMUstate");
    *(void **)&f.size = rig_symbol(r, "fmi2SerializedFMUstateSize");
    *(void **)&f.write = rig_symbol(r, "fmi2SerializeFMUstate");
    *(void **)&f.read = rig_symbol(r, "fmi2DeSerializeFMUstate");
    *(void **)&f.real_status = rig_symbol(r, "fmi2GetRealStatus");
    return f;
}
