// urdf.h: a robot description (URDF) becomes the text of a model file.
#pragma once
#include <carom/expr.h>
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct carom_urdf_def {
    const char *text;
    size_t length;
    const char *file;  // for messages
    bool fixed;        // the root link is welded to the ground, although it has a mass
    double gravity;    // along -z
    /// What a person should know: what was left out, and what was assumed.
    void (*note)(void *user, const char *sentence);
    void *user;
} carom_urdf_def;

/// Links become bodies where the joints are at 0 (or at the nearest limit), collision shapes become shapes, limits contacts, mimics gears.
/// CAROM_BAD_INPUT: err is `file:line: what; what to do`.
carom_status carom_urdf_write(const carom_urdf_def *def, carom_write_text *write, void *user, carom_error *err);
