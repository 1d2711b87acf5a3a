// urdf.h: robot descriptions (URDF, MJCF) become the text of a model file.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct carom_robot_def {
    const char *text;
    size_t length;
    const char *file; // for messages
    bool fixed;       // the root link is welded to the ground, although it has a mass
    bool free;        // it moves freely, although it has none of its own
    bool repair;      // inertias that cannot move are replaced, and the model says which
    bool floor;       // a plane at z = 0, which all shapes touch
    double gravity;   // along -z
    double at[3];     // of the root
    /// What a person should know: what was left out, and what was assumed.
    void (*note)(void *user, const char *sentence);
    /// Which path the model is to name for a mesh of the description; why it cannot be used goes to `why`.  NULL: paths
    /// as they are.
    void (*mesh)(void *user, const char *given, char *path, size_t size, char *why, size_t why_size);
    /// The same for n corners that stand in the description, of a mesh of this name; false, and why, if they cannot be
    /// kept.  NULL: such meshes are left out.
    bool (*corners)(void *user, const char *name, const double *x, int n, char *path, size_t size, char *why,
                    size_t why_size);
    /// The text of a file that the description includes; NULL, and why, if it cannot be read.  It lives as long as the
    /// call.
    const char *(*include)(void *user, const char *given, size_t *length, char *why, size_t why_size);
    /// Volume, centre and second moments (inertia of density 1, about the centre) of the hull of a mesh, by the path
    /// that the model names.  NULL: unknown.
    double (*solid)(void *user, const char *path, const double *scale, double *centre, double *J);
    void *user;
} carom_robot_def;

/// Links become bodies where the joints are at 0 (or at the nearest limit); those that are fixed to each other become
/// one.  Collision shapes become shapes, limits contacts, mimics gears, efforts motors with inputs.  CAROM_BAD_INPUT:
/// err is `file:line: what; what to do`.
carom_status carom_urdf_write(const carom_robot_def *def, carom_write_text *write, void *user, carom_error *err);
/// The same of MuJoCo's format; a comment at the end of the model lists elements that were left out.
carom_status carom_mjcf_write(const carom_robot_def *def, carom_write_text *write, void *user, carom_error *err);
