// compile.h (private): from a name to a shared object.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMPILE_PATH = 4096 }; // bytes: the longest path of Linux

/// The compiler: its command line, cut into words, and what tells it from another.
typedef struct compiler {
    char text[COMPILE_PATH]; // $CC, or cc; words end in 0
    char *word[16];          // NULL-terminated
    int words;
    char path[COMPILE_PATH]; // where the program is
    const char *const *flags; // NULL-terminated
    uint64_t identity;       // of program, its size and date, the words, the flags
} compiler;

/// CAROM_BAD_INPUT: there is no such program.
carom_status carom_cc_find(compiler *cc, bool for_lanes, carom_error *err);
/// The program that the environment variable names, or `fallback`; cc->flags are the caller's.
carom_status carom_program_find(compiler *cc, const char *variable, const char *fallback, carom_error *err);
/// Run a program and wait for it; what it prints goes to the file `log`.  *status: as of waitpid().
carom_status carom_program_run(const char *path, const char *const *argument, const char *log, int *status,
                               carom_error *err);
/// The first line of its log that says error, else the first line.
void carom_program_message(const char *log, char *text, size_t size);
/// Compile source into the shared object `target`; messages of the compiler go to the file `log`.
carom_status carom_cc_run(const compiler *cc, const char *source, const char *target, const char *log,
                          carom_error *err);

/// A folder to keep compiled files in, made if need be.  *keep: they stay; else it is a temporary one, to be removed.
carom_status carom_cache_folder(char folder[COMPILE_PATH], bool *keep, carom_error *err);
/// Is this file the user's own, regular, and writable by nobody else?
bool carom_cache_trusted(const char *file);
/// Is it that, and as carom_cache_publish() has written it?
bool carom_cache_sound(const char *file);
/// Its bytes, to be freed; NULL: it is not sound.
char *carom_cache_read(const char *file, size_t *size);
/// A new folder inside `folder` for one compilation; carom_cache_remove() removes it.
carom_status carom_cache_workshop(const char *folder, char workshop[COMPILE_PATH], carom_error *err);
/// Seal a finished file of a workshop, flush it to the disk and rename it to `file` in `folder`.
carom_status carom_cache_publish(const char *part, const char *folder, const char *file, carom_error *err);
void carom_cache_remove(const char *folder); // of a temporary folder: with what is in it

/// A model's tapes as C text and as the bytes of a shared object for this machine, both with the table
/// CAROM_NATIVE_TABLE: pointers to carom_native in the order of carom_model_tapes(), then NULL.  CAROM_BAD_INPUT,
/// CAROM_IO: no compiler, a compiler that failed, a model that is too large.
#define CAROM_NATIVE_TABLE "carom_native_tapes"
typedef struct carom_native_model { char *text, *object; size_t length, size; } carom_native_model;
struct carom_model;
carom_status carom_model_native(const struct carom_model *m, carom_native_model *x, carom_error *err);
void carom_native_model_free(carom_native_model *x);

/// A C text as a shared object: from the cache, or compiled now with the flags of lanes.  *code: to be closed with
/// dlclose().
carom_status carom_object_open(const char *text, size_t length, void **code, carom_error *err);

/// A CUDA text with a main() as a program: from the cache, or compiled now with $CAROM_NVCC or nvcc.  CAROM_BAD_INPUT:
/// there is no compiler.
typedef struct cuda_program { char file[COMPILE_PATH + 40], folder[COMPILE_PATH]; bool keep; } cuda_program;
carom_status carom_cuda_open(cuda_program *p, const char *text, size_t length, carom_error *err);
/// Runs it for runs first to before last; *bytes, to be freed: what it wrote.  CAROM_BAD_INPUT: there is no card.
carom_status carom_cuda_run(const cuda_program *p, long first, long last, char **bytes, size_t *n, carom_error *err);
void carom_cuda_close(cuda_program *p);

uint64_t carom_cache_mix(uint64_t hash, const void *bytes, size_t count);
