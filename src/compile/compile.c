// compile.c: a model's tapes -> C text -> shared object -> attached.
#define _POSIX_C_SOURCE 200809L
#include "compile/compile.h"
#include "expr/expr.h"
#include "model/answers.h"
#include <carom/compile.h>
#include <carom/version.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char TABLE[] = CAROM_NATIVE_TABLE;

typedef struct tapes {
    carom_tape **list;
    int n;
    long instructions; // of all
} tapes;

bool carom_compile_mode_find(const char *name, carom_compile_mode *mode) {
    static const char *const names[] = {
        [CAROM_COMPILE_OFF] = "off", [CAROM_COMPILE_AUTO] = "auto", [CAROM_COMPILE_ON] = "on"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0) return *mode = (carom_compile_mode)i, true;
    return false;
}

// -- text ----------------------------------------------------------------------------------------------

static void write_file(void *user, const char *text, size_t length) { fwrite(text, 1, length, user); }

// The tapes of a model; to be freed.
static carom_status gather(const carom_model *m, tapes *t, carom_error *err) {
    *t = (tapes){.n = carom_model_tapes(m, NULL, 0)};
    t->list = calloc((size_t)t->n + 1, sizeof *t->list);
    if (!t->list) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to compile the model");
    carom_model_tapes(m, t->list, t->n);
    for (int i = 0; i < t->n; ++i) t->instructions += carom_tape_instructions(t->list[i], -1);
    return CAROM_OK;
}

static bool write_tapes(FILE *f, const tapes *t) {
    carom_native_write_head(write_file, f);
    bool good = true;
    for (int i = 0; i < t->n; ++i) {
        char name[24];
        snprintf(name, sizeof name, "tape%d", i);
        good = good && carom_native_write(t->list[i], name, write_file, f) == CAROM_OK;
    }
    fprintf(f, "const carom_native *const %s[] = {", TABLE);
    for (int i = 0; i < t->n; ++i) fprintf(f, "&tape%d, ", i);
    fputs("0};\n", f);
    return good;
}

// Tapes, or a text as it is.
typedef struct source { const tapes *tapes; const char *text; size_t length; } source;

static bool write_source(const char *file, const source *s) {
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) return fd >= 0 ? close(fd), false : false;
    const bool good =
        (s->tapes ? write_tapes(f, s->tapes) : fwrite(s->text, 1, s->length, f) == s->length) && !ferror(f);
    return fclose(f) == 0 && good;
}

// -- one shared object ------------------------------------------------------------------------------------

static uint64_t name_of(const tapes *t, const compiler *cc) {
    static const char generator[] = CAROM_GENERATOR; // of the files that write the text
    const int version = CAROM_NATIVE_VERSION;
    uint64_t h = carom_cache_mix(cc->identity, carom_version(), strlen(carom_version()));
    h = carom_cache_mix(h, generator, sizeof generator);
    h = carom_cache_mix(h, &version, sizeof version);
    for (int i = 0; i < t->n; ++i) {
        const unsigned long long f = carom_tape_fingerprint(t->list[i]);
        h = carom_cache_mix(h, &f, sizeof f);
    }
    return h;
}

// Source, messages and half an object are in a folder of their own; the object gets its name when it is whole.
static carom_status make(const char *folder, const char *object, const source *t, const compiler *cc,
                         carom_error *err) {
    enum { SOURCE, LOG, HALF, NAMES };
    static const char *const ending[NAMES] = {"model.c", "log", "half"};
    char workshop[COMPILE_PATH], name[NAMES][COMPILE_PATH + 40];
    CAROM_TRY(carom_cache_workshop(folder, workshop, err));
    for (int i = 0; i < NAMES; ++i) snprintf(name[i], sizeof name[i], "%s/%s", workshop, ending[i]);
    carom_status status = CAROM_OK;
    if (!write_source(name[SOURCE], t))
        status = carom_fail(err, CAROM_IO, "cannot write %.400s: %s", name[SOURCE], strerror(errno));
    if (status == CAROM_OK) status = carom_cc_run(cc, name[SOURCE], name[HALF], name[LOG], err);
    if (status == CAROM_OK) status = carom_cache_publish(name[HALF], folder, object, err);
    carom_cache_remove(workshop);
    return status;
}

static carom_status load(const char *object, void **code, carom_error *err) {
    if (!carom_cache_trusted(object))
        return carom_fail(err, CAROM_IO,
                          "%.400s is not loaded: it does not belong to you, or others can write to it; remove it",
                          object);
    *code = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    return *code ? CAROM_OK : carom_fail(err, CAROM_IO, "a compiled model cannot be loaded: %.400s", dlerror());
}

carom_status carom_object_open(const char *text, size_t length, void **code, carom_error *err) {
    compiler cc;
    char folder[COMPILE_PATH], object[COMPILE_PATH + 40];
    bool keep = false;
    const source s = {.text = text, .length = length};
    CAROM_TRY(carom_cc_find(&cc, true, err));
    CAROM_TRY(carom_cache_folder(folder, &keep, err));
    snprintf(object, sizeof object, "%s/%016llx.so", folder,
             (unsigned long long)carom_cache_mix(carom_cache_mix(cc.identity, carom_version(), strlen(carom_version())),
                                                 text, length));
    carom_status status = keep && carom_cache_sound(object) ? CAROM_OK : make(folder, object, &s, &cc, err);
    if (status == CAROM_OK) status = load(object, code, err);
    if (!keep) carom_cache_remove(folder); // what is loaded stays
    return status;
}

static void release(void *code) { dlclose(code); }

// All tapes or none.
static carom_status attach(carom_model *m, const tapes *t, const char *object, carom_error *err) {
    void *code = NULL;
    CAROM_TRY(load(object, &code, err));
    const carom_native *const *table = dlsym(code, TABLE);
    bool good = table != NULL;
    for (int i = 0; good && i < t->n; ++i) good = table[i] && carom_tape_attach(t->list[i], table[i]);
    if (good) {
        carom_model_own(m, code, release);
        return CAROM_OK;
    }
    for (int i = 0; i < t->n; ++i) carom_tape_attach(t->list[i], NULL);
    dlclose(code);
    return carom_fail(err, CAROM_IO, "%.400s was compiled from another model; remove it", object);
}

// -- is it worth it? -----------------------------------------------------------------------------------------

// Measured with gcc 12: 40 ms and 0.2 ms an instruction of the text to compile; an evaluation of the equations of
// motion saves 0.7 ns an instruction.
static bool pays(const carom_model *m, const tapes *t, double evaluations) {
    static const double CALL = 0.04, COMPILED = 2e-4, SAVED = 0.7e-9; // s
    const double cost = CALL + COMPILED * (double)t->instructions;
    return evaluations * SAVED * (double)carom_model_motion_instructions(m) > cost;
}

static const long MOST = 200000; // instructions: about a minute of compiling

static carom_status too_large(const tapes *t, carom_error *err) {
    return carom_fail(err, CAROM_BAD_INPUT, "the model has %ld instructions; at most %ld are compiled", t->instructions,
                      MOST);
}

static carom_status compile(carom_model *m, const tapes *t, carom_compile_mode mode, double evaluations, bool *compiled,
                            carom_error *err) {
    compiler cc;
    char folder[COMPILE_PATH], object[COMPILE_PATH + 40];
    bool keep = false;
    CAROM_TRY(carom_cc_find(&cc, false, err));
    CAROM_TRY(carom_cache_folder(folder, &keep, err));
    snprintf(object, sizeof object, "%s/%016llx.so", folder, (unsigned long long)name_of(t, &cc));
    carom_status status = CAROM_OK;
    const bool there = keep && carom_cache_sound(object);
    const bool wanted = there || mode == CAROM_COMPILE_ON || pays(m, t, evaluations);
    if (wanted && !there && t->instructions > MOST) status = too_large(t, err);
    if (wanted && !there && status == CAROM_OK) status = make(folder, object, &(source){.tapes = t}, &cc, err);
    if (wanted && status == CAROM_OK) status = attach(m, t, object, err);
    if (there && status != CAROM_OK && t->instructions <= MOST) { // whole, but of no use here
        status = make(folder, object, &(source){.tapes = t}, &cc, err);
        if (status == CAROM_OK) status = attach(m, t, object, err);
    }
    if (!keep) carom_cache_remove(folder); // what is loaded stays
    *compiled = wanted && status == CAROM_OK;
    return status;
}

carom_status carom_model_compile(carom_model *m, carom_compile_mode mode, double evaluations, bool *compiled,
                                 carom_error *err) {
    bool done = false;
    carom_error own;
    if (!m) return carom_fail(err, CAROM_BAD_INPUT, "missing model");
    tapes t = {.n = 0};
    carom_status status = mode == CAROM_COMPILE_OFF ? CAROM_OK : gather(m, &t, &own);
    if (status == CAROM_OK && t.n > 0) status = compile(m, &t, mode, evaluations, &done, &own);
    free(t.list);
    if (compiled) *compiled = done;
    if (status == CAROM_OK || mode == CAROM_COMPILE_AUTO) return CAROM_OK;
    return carom_fail(err, status, "%s", own.text);
}

// -- for others ------------------------------------------------------------------------------------------------

static carom_status write_text(const tapes *t, char **text, size_t *length, carom_error *err) {
    FILE *f = open_memstream(text, length);
    const bool written = f && write_tapes(f, t) && !ferror(f), good = f && fclose(f) == 0 && written;
    return good ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory to compile the model");
}

carom_status carom_model_native(const carom_model *m, carom_native_model *x, carom_error *err) {
    compiler cc;
    tapes t;
    char folder[COMPILE_PATH], object[COMPILE_PATH + 40];
    bool keep = false;
    *x = (carom_native_model){0};
    CAROM_TRY(carom_cc_find(&cc, false, err));
    CAROM_TRY(carom_cache_folder(folder, &keep, err));
    carom_status status = gather(m, &t, err);
    snprintf(object, sizeof object, "%s/%016llx.so", folder, (unsigned long long)name_of(&t, &cc));
    if (status == CAROM_OK && t.instructions > MOST) status = too_large(&t, err);
    if (status == CAROM_OK) status = write_text(&t, &x->text, &x->length, err);
    if (status == CAROM_OK && !(keep && carom_cache_sound(object)))
        status = make(folder, object, &(source){.tapes = &t}, &cc, err);
    if (status == CAROM_OK && !(x->object = carom_cache_read(object, &x->size)))
        status = carom_fail(err, CAROM_IO, "cannot read %.400s", object);
    if (!keep) carom_cache_remove(folder);
    free(t.list);
    if (status != CAROM_OK) carom_native_model_free(x);
    return status;
}

void carom_native_model_free(carom_native_model *x) {
    free(x->text);
    free(x->object);
    *x = (carom_native_model){0};
}
