// export.c: an FMU: description, library, model, sources, in one zip file.
#define _POSIX_C_SOURCE 200809L
#include "fmu/export.h"
#include "fmu/native.h"
#include "fmu/zip.h"
#include "scheme/registry.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
static const char machine[] = "x86_64-linux";
#elif defined(__aarch64__)
static const char machine[] = "aarch64-linux";
#else
static const char machine[] = "";
#endif

const char *carom_fmu_folder(int version, const char *of, int i) {
    if (version == 2 && i == 0) return "linux64";
    return i == (version == 2) && (version == 3 || strcmp(of, "aarch64-linux") == 0) ? of : NULL;
}

// Where the library is.
const char *carom_fmu_platform(int version) {
    struct utsname here;
    return sizeof(void *) == 8 && uname(&here) == 0 && *machine ? carom_fmu_folder(version, machine, 0) : NULL;
}

// -- texts in memory --------------------------------------------------------------------------------------------------

typedef struct memory { char *text; size_t length; FILE *f; } memory;

static bool begin(memory *m) { return (m->f = open_memstream(&m->text, &m->length)) != NULL; }
static bool finish(memory *m) {
    const bool good = m->f && !ferror(m->f);
    return m->f && fclose(m->f) == 0 && good;
}
static void write_memory(void *user, const char *text, size_t length) { fwrite(text, 1, length, ((memory *)user)->f); }

// Equal models of equal versions have equal tokens.
static void make_token(char token[40], const memory *m, int version) {
    uint64_t x[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x9ae16a3b2f90404f) + (uint64_t)version};
    for (size_t i = 0; i < m->length; ++i)
        for (int k = 0; k < 2; ++k)
            x[k] = (x[k] ^ (unsigned char)m->text[i]) * (k ? UINT64_C(0x9e3779b97f4a7c15) : UINT64_C(0x100000001b3));
    snprintf(token, 40, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(x[0] >> 32), (unsigned)(x[0] >> 16 & 0xffff),
             (unsigned)(x[0] & 0xffff), (unsigned)(x[1] >> 48), (unsigned long long)(x[1] & UINT64_C(0xffffffffffff)));
}

// -- contents ---------------------------------------------------------------------------------------------------------

static const char build_text[] =
    "# Builds the library of this FMU for another platform:\n"
    "#   cmake -S sources -B build && cmake --build build\n"
    "# and put it into binaries/ under the name that FMI gives the platform.\n"
    "cmake_minimum_required(VERSION 3.16)\n"
    "project(fmu C)\n"
    "set(CMAKE_C_STANDARD 17)\nset(CMAKE_C_EXTENSIONS OFF)\n"
    "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
    "file(GLOB_RECURSE files src/*.c)\n"
    "add_library(%s SHARED ${files})\n"
    "target_include_directories(%s PRIVATE src include)\n"
    "target_compile_definitions(%s PRIVATE CAROM_INSIDE)\n"
    "target_compile_options(%s PRIVATE -ffp-contract=off -fno-math-errno -fvisibility=hidden)\n"
    "set_target_properties(%s PROPERTIES PREFIX \"\")\n"
    "target_link_libraries(%s PRIVATE m)\n";

// The compiled model in the library that is built from the sources; without one, a table of nothing.
static void add_native(zip *z, const carom_native_model *x) {
    static const char nothing[] =
        "typedef struct carom_native carom_native;\nstatic const carom_native *const " CAROM_NATIVE_TABLE "[] = {0};\n";
    static const char open[] =
        "\nconst carom_native *const *carom_fmu_native(const char *folder, void **code);\n"
        "const carom_native *const *carom_fmu_native(const char *folder, void **code) {\n    (void)folder;\n    *code "
        "= 0;\n    return " CAROM_NATIVE_TABLE ";\n}\n"
        "void carom_fmu_native_close(void *code);\nvoid carom_fmu_native_close(void *code) { (void)code; }\n";
    memory m = {0};
    if (!begin(&m)) {
        z->failed = true;
        return;
    }
    if (x) fwrite(x->text, 1, x->length, m.f);
    else fputs(nothing, m.f);
    fputs(open, m.f);
    if (finish(&m)) carom_zip_add(z, "sources/" FMU_NATIVE_SOURCE, m.text, m.length);
    else z->failed = true;
    free(m.text);
}

static void add_sources(zip *z, const fmu_export_def *def, memory *build) {
    for (const fmu_part *p = def->sources; p->name; ++p) {
        char name[300];
        snprintf(name, sizeof name, "sources/%s", p->name);
        carom_zip_add(z, name, p->begin, (size_t)(p->end - p->begin));
    }
    char text[sizeof build_text + 600];
    const char *id = def->identifier;
    carom_zip_add(z, "sources/CMakeLists.txt", text,
                  (size_t)snprintf(text, sizeof text, build_text, id, id, id, id, id, id));
    if (def->version == 3) carom_zip_add(z, "sources/buildDescription.xml", build->text, build->length);
}

static carom_status refuse(const fmu_export_def *def, carom_error *err) {
    if (!carom_fmu_platform(def->version))
        return carom_fail(err, CAROM_BAD_INPUT, "FMUs are written for 64-bit Linux on x86_64 and aarch64 only");
    if (!def->event_driven && !carom_scheme_find(def->bundle->run->scheme)) // it is not in the core
        return carom_fail(err, CAROM_BAD_INPUT,
                          "this build of carom has no static SUNDIALS library, so its FMUs have no scheme %s; use "
                          "another scheme",
                          def->bundle->run->scheme);
    return CAROM_OK;
}

carom_status carom_fmu_export(const fmu_export_def *def, FILE *f, carom_error *err) {
    memory model = {0}, description = {0}, build = {0};
    fmu_bundle b = {.mech = NULL};
    fmu_variables v = {.n = 0};
    zip z = {.f = f};
    char token[40], name[200];
    CAROM_TRY(refuse(def, err));
    const fmu_bundle_def *d = def->bundle;
    carom_status status = begin(&model) && begin(&description) && begin(&build)
                              ? CAROM_OK
                              : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an FMU");
    if (status == CAROM_OK) status = carom_fmu_bundle_write(d, write_memory, &model, err);
    if (!finish(&model) && status == CAROM_OK)
        status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an FMU");
    if (status == CAROM_OK) {
        make_token(token, &model, def->version);
        b = (fmu_bundle){.mech = carom_mech_read(d->text, d->length, d->file, err),
                         .scheme = (char *)d->run->scheme,
                         .step = d->run->step,
                         .end = d->run->end,
                         .inputs = (char **)d->inputs};
        status = b.mech ? CAROM_OK : err->code;
        for (int i = 0; d->set && d->set[i] && status == CAROM_OK; ++i) status = carom_mech_set(b.mech, d->set[i], err);
    }
    if (status == CAROM_OK) status = carom_fmu_variables(&v, &b, def->model, err);
    if (status == CAROM_OK) {
        carom_fmu_describe(description.f, def, &b, &v, token);
        carom_fmu_describe_build(build.f, def);
    }
    // both are finished, whatever happens
    const bool described = finish(&description), buildable = finish(&build), good = described && buildable;
    if (status == CAROM_OK && !good) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an FMU");
    if (status == CAROM_OK) {
        carom_zip_add(&z, "modelDescription.xml", description.text, description.length);
        for (int i = 0; carom_fmu_folder(def->version, machine, i); ++i) {
            snprintf(name, sizeof name, "binaries/%s/%.120s.so", carom_fmu_folder(def->version, machine, i),
                     def->identifier);
            carom_zip_add(&z, name, def->library, (size_t)(def->library_end - def->library));
        }
        carom_zip_add(&z, "resources/token.txt", token, strlen(token));
        carom_zip_add(&z, "resources/model.txt", model.text, model.length);
        if (def->native) {
            snprintf(name, sizeof name, "resources/%s", FMU_NATIVE_OBJECT);
            carom_zip_add(&z, name, def->native->object, def->native->size);
        }
        add_native(&z, def->native);
        for (const fmu_part *p = def->licences; p->name; ++p) {
            snprintf(name, sizeof name, "documentation/licenses/%s", p->name);
            carom_zip_add(&z, name, p->begin, (size_t)(p->end - p->begin));
        }
        add_sources(&z, def, &build);
        if (!carom_zip_finish(&z)) status = carom_fail(err, CAROM_IO, "the FMU could not be written");
    }
    carom_mech_destroy(b.mech);
    carom_fmu_variables_free(&v);
    free(model.text);
    free(description.text);
    free(build.text);
    return status;
}
