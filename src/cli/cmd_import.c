// cmd_import.c: carom import: a description from elsewhere becomes a model file.
#define _XOPEN_SOURCE 700
#include "base/grow.h"
#include "base/number.h"
#include "cli/cli.h"
#include "derive/shapes/cloud.h"
#include "io/whole.h"
#include "read/mesh.h"
#include "read/urdf.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option options[] = {
    {"out", 'o', "FILE", "the model file (default: the file's name with .yaml); - for standard output", false},
    {"fixed", 0, NULL, "urdf: weld the root link to the ground, although it has a mass", false},
    {"free", 0, NULL, "urdf: let the root link move freely, although it has no mass of its own", false},
    {"at", 0, "X,Y,Z", "position of the root (default: 0,0,0)", false},
    {"floor", 0, NULL, "add a floor at z = 0 that all collision shapes touch, with friction 0.8", false},
    {"repair", 0, NULL,
     "replace masses and inertias that cannot move, and missing limits; comments in the model name them", false},
    {"package", 0, "NAME=DIR",
     "the directory of package://NAME/...; otherwise ROS_PACKAGE_PATH and the directories above FILE are searched",
     true},
    {"gravity", 0, "G", "urdf: gravity along -z (default: 9.81)", false},
    {"force", 0, NULL, "overwrite an existing file", false},
    {"quiet", 'q', NULL, "no notes about what was left out", false},
    {NULL, 0, NULL, NULL, false},
};

enum { PATH = 4096 }; // bytes: the longest path of Linux

typedef struct job {
    bool quiet, force;
    char folder[PATH];     // of the description, with a slash; "" for here
    char out_folder[PATH]; // of the model
    char meshes[PATH];     // directory for copies, beside the model
    const char **packages;
    char **texts; // of files that were included
    int ntexts;
    char **copies; // paths of meshes that were copied
    int ncopies;
} job;

static void print_note(void *user, const char *sentence) {
    if (!((const job *)user)->quiet) cli_say_at("%s", sentence);
}

// -- where a file is --------------------------------------------------------------------------------------------------

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool join(char *path, const char *a, size_t n, const char *b, size_t nb,
                 const char *c) { // a/b/c; false: too long
    return (size_t)snprintf(path, PATH, "%.*s%s%.*s%s%s", (int)n, a, n && a[n - 1] != '/' && (nb || *c) ? "/" : "",
                            (int)nb, b, nb && *c ? "/" : "", c) < PATH;
}

// package://NAME/rest in a directory: DIR/NAME/rest, or DIR/rest where DIR is the package.
static bool in_package(const char *dir, size_t n, const char *name, size_t length, const char *rest, char *path) {
    char xml[PATH];
    if (join(path, dir, n, name, length, rest) && is_file(path)) return true;
    while (n > 1 && dir[n - 1] == '/') --n;
    size_t base = n;
    while (base > 0 && dir[base - 1] != '/') --base;
    const bool named = n - base == length && memcmp(dir + base, name, length) == 0;
    const bool package = named || (join(xml, dir, n, "package.xml", 11, "") && is_file(xml));
    return package && join(path, dir, n, rest, strlen(rest), "") && is_file(path);
}

static bool find_package(const job *j, const char *name, size_t length, const char *rest, char *path) {
    for (const char **p = j->packages; p && *p; ++p)
        if (strncmp(*p, name, length) == 0 && (*p)[length] == '=')
            return join(path, *p + length + 1, strlen(*p + length + 1), rest, strlen(rest), "") && is_file(path);
    const char *list = getenv("ROS_PACKAGE_PATH");
    while (list && *list) {
        const size_t n = strcspn(list, ":");
        if (n && in_package(list, n, name, length, rest, path)) return true;
        list += n + (list[n] == ':');
    }
    char *top = realpath(*j->folder ? j->folder : ".", NULL);
    bool found = false;
    for (size_t n = top ? strlen(top) : 0; n > 0 && !found; --n)
        if (top[n] == 0 || top[n] == '/') found = in_package(top, n, name, length, rest, path);
    free(top);
    return found;
}

static bool find_file(const job *j, const char *given, char *path) {
    if (strncmp(given, "package://", 10) == 0 || strncmp(given, "model://", 8) == 0) {
        const char *name = strstr(given, "://") + 3, *slash = strchr(name, '/');
        return slash && find_package(j, name, (size_t)(slash - name), slash + 1, path);
    }
    if (strncmp(given, "file://", 7) == 0) given += 7;
    if (given[0] == '/') return strlen(given) < PATH && is_file(strcpy(path, given));
    return join(path, j->folder, strlen(j->folder), given, strlen(given), "") && is_file(path);
}

// -- meshes -----------------------------------------------------------------------------------------------------------

static bool same_bytes(const char *file, const char *text, size_t length) {
    size_t n = 0;
    carom_error err;
    char *other = is_file(file) ? cli_load_file(file, &n, &err) : NULL;
    const bool same = other && n == length && memcmp(other, text, n) == 0;
    free(other);
    return same;
}

static bool copied(const job *j, const char *path) {
    for (int i = 0; i < j->ncopies; ++i)
        if (strcmp(j->copies[i], path) == 0) return true;
    return false;
}

// Where a copy of this text goes: NAME.stl, and NAME-2.stl, .. where another mesh of the description has that name.
static bool place_copy(const job *j, const char *base, const char *text, size_t length, char *name, char *to) {
    const char *dot = strrchr(base, '.');
    const int stem = (int)(dot ? dot - base : (ptrdiff_t)strlen(base));
    for (int k = 1;; ++k) {
        char number[16] = "";
        if (k > 1) snprintf(number, sizeof number, "-%d", k);
        if ((size_t)snprintf(name, PATH, "%.*s%s%s", stem, base, number, base + stem) >= PATH ||
            !join(to, j->meshes, strlen(j->meshes), name, strlen(name), ""))
            return false;
        if (!copied(j, to) || same_bytes(to, text, length)) return true;
    }
}

static carom_status put_whole(const char *file, const char *text, size_t length, carom_error *err) {
    whole_file w;
    CAROM_TRY(whole_open(&w, file, err));
    (void)!fwrite(text, 1, length, w.f); // whole_close() looks
    return whole_close(&w, true, err);
}

// A copy beside the model; its name, relative to that.
static bool copy_mesh(job *j, const char *from, const char *text, size_t length, char *path, size_t size, char *why,
                      size_t why_size) {
    const char *slash = strrchr(from, '/'), *base = slash ? slash + 1 : from, *own = strrchr(j->meshes, '/');
    char name[PATH], to[PATH];
    if (!place_copy(j, base, text, length, name, to)) return snprintf(why, why_size, "its path is too long"), false;
    if (mkdir(j->meshes, 0777) != 0 && errno != EEXIST)
        return snprintf(why, why_size, "%s: %s", j->meshes, strerror(errno)), false;
    if (!same_bytes(to, text, length)) {
        if (is_file(to) && !j->force)
            return snprintf(why, why_size, "%s exists and is another file; use --force to replace it", to), false;
        carom_error err = {0};
        if (put_whole(to, text, length, &err) != CAROM_OK) return snprintf(why, why_size, "%s", err.text), false;
    }
    if (!copied(j, to)) {
        char **list = realloc(j->copies, ((size_t)j->ncopies + 1) * sizeof *list);
        if (!list || !(list[j->ncopies] = strdup(to))) abort();
        j->copies = list, ++j->ncopies;
    }
    return (size_t)snprintf(path, size, "%s/%s", own ? own + 1 : j->meshes, name) < size;
}

// Does a hull come of it?
static bool check_mesh(const char *file, const char *text, size_t length, char *why, size_t why_size) {
    carom_mesh mesh;
    carom_hull hull;
    carom_error err = {0};
    double error;
    if (carom_mesh_read(text, length, file, &mesh, &err) != CAROM_OK)
        return snprintf(why, why_size, "%s", err.text), false;
    const carom_hull_fault fault =
        carom_cloud_hull((const double(*)[3])mesh.v, mesh.nv, CAROM_HULL_CORNERS, &hull, &error);
    if (fault == CAROM_HULL_OK)
        carom_hull_free(&hull);
    else
        snprintf(why, why_size, "%s",
                 fault == CAROM_HULL_FLAT ? "it is flat"
                 : carom_cloud_any()      ? "no hull can be made of it"
                                          : "no hull can be made of it; a carom that was built with Qhull may");
    carom_mesh_free(&mesh);
    return fault == CAROM_HULL_OK;
}

static void find_mesh(void *user, const char *given, char *path, size_t size, char *why, size_t why_size) {
    job *j = user;
    char file[PATH];
    size_t length = 0;
    carom_error err = {0};
    if (!find_file(j, given, file)) {
        const char *scheme = strncmp(given, "file://", 7) == 0 ? NULL : strstr(given, "://"),
                   *name = scheme ? scheme + 3 : "";
        snprintf(why, why_size, *name ? "the file is not found; name its package: --package %.*s=DIR"
                                      : "the file is not found", (int)strcspn(name, "/"), name);
        return;
    }
    char *text = cli_load_file(file, &length, &err), *real = realpath(file, NULL),
         *top = realpath(*j->out_folder ? j->out_folder : ".", NULL);
    const size_t n = top ? strlen(top) : 0;
    if (!text)
        snprintf(why, why_size, "%s", err.text);
    else if (check_mesh(file, text, length, why, why_size)) {
        if (real && top && strncmp(real, top, n) == 0 && real[n] == '/' && strlen(real + n + 1) < size)
            snprintf(path, size, "%s", real + n + 1);
        else
            copy_mesh(j, file, text, length, path, size, why, why_size);
    }
    free(text), free(real), free(top);
}

// Corners as a file beside the model.
static bool keep_corners(void *user, const char *name, const double *x, int n, char *path, size_t size, char *why,
                         size_t why_size) {
    job *j = user;
    carom_text b = {0};
    char line[120], file[100];
    for (int i = 0; i < n; ++i) {
        const int length = snprintf(line, sizeof line, "v %.17g %.17g %.17g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
        carom_text_append(&b, line, (size_t)length);
    }
    if (b.failed) abort();
    snprintf(file, sizeof file, "%.90s.obj", name);
    for (char *c = file; *c; ++c)
        if (*c == '/') *c = '_';
    const bool good = check_mesh(file, b.at, b.n, why, why_size) &&
                      copy_mesh(j, file, b.at, b.n, path, size, why, why_size);
    free(b.at);
    return good;
}

static double solid_of(void *user, const char *path, const double *scale, double *centre, double *J) {
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const job *j = user;
    char file[PATH];
    size_t length = 0;
    carom_error err = {0};
    carom_mesh mesh = {0};
    carom_hull hull;
    double volume = 0, second[6], error;
    char *text = join(file, j->out_folder, strlen(j->out_folder), path, strlen(path), "")
                     ? cli_load_file(file, &length, &err)
                     : NULL;
    if (text && carom_mesh_read(text, length, file, &mesh, &err) == CAROM_OK) {
        for (int i = 0; i < 3 * mesh.nv; ++i) mesh.v[i / 3][i % 3] *= scale[i % 3];
        if (carom_cloud_hull((const double(*)[3])mesh.v, mesh.nv, CAROM_HULL_CORNERS, &hull, &error) == CAROM_HULL_OK) {
            volume = carom_hull_volume(&hull, centre, second);
            const double trace = second[0] + second[1] + second[2];
            for (int i = 0; i < 9; ++i) J[i] = (i % 4 == 0 ? trace : 0) - second[at[i]];
            carom_hull_free(&hull);
        }
        carom_mesh_free(&mesh);
    }
    free(text);
    return volume;
}

static const char *include_file(void *user, const char *given, size_t *length, char *why, size_t why_size) {
    job *j = user;
    char file[PATH];
    carom_error err = {0};
    if (!find_file(j, given, file)) return snprintf(why, why_size, "the file is not found"), NULL;
    char *text = cli_load_file(file, length, &err), **list = realloc(j->texts, ((size_t)j->ntexts + 1) * sizeof *list);
    if (!list) abort();
    j->texts = list;
    j->texts[j->ntexts++] = text;
    if (!text) snprintf(why, why_size, "%s", err.text);
    return text;
}

// -- the command ------------------------------------------------------------------------------------------------------

static int write_file(const char *out, const carom_text *b, bool force) {
    if (strcmp(out, "-") == 0) return fwrite(b->at, 1, b->n, stdout) == b->n ? CLI_DONE : CLI_FAILED;
    struct stat old;
    if (!force && lstat(out, &old) == 0)
        return cli_say("%s already exists; use --force to overwrite it", out), CLI_USAGE;
    carom_error err = {0};
    if (put_whole(out, b->at, b->n, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_FAILED;
    cli_print("%s written\n", out);
    return CLI_DONE;
}

static bool folder_of(const char *file, char *folder) {
    const char *slash = strrchr(file, '/');
    const size_t n = slash ? (size_t)(slash - file) + 1 : 0;
    if (n >= PATH - 300) return cli_say("the path %s is too long", file), false;
    memcpy(folder, file, n);
    folder[n] = 0;
    return true;
}

static bool read_at(const cli_args *a, double *at) {
    const char *p = cli_value(a, "at");
    for (int i = 0; p && i < 3; ++i) {
        char *end = NULL;
        at[i] = carom_number(p, &end);
        if (end == p || !isfinite(at[i]) || *end != (i < 2 ? ',' : 0))
            return cli_say("--at %s: expected three numbers, X,Y,Z", cli_value(a, "at")), false;
        p = end + 1;
    }
    return true;
}

static bool read_packages(const job *j) {
    for (const char **p = j->packages; p && *p; ++p)
        if (!strchr(*p, '=') || **p == '=' || !strchr(*p, '=')[1])
            return cli_say("--package %s: expected NAME=DIR", *p), false;
    return true;
}

static int convert(const cli_args *a, job *j, const char *out, double gravity, const double *at) {
    const bool mjcf = strcmp(a->word[0], "mjcf") == 0;
    size_t length = 0;
    carom_text b = {0};
    carom_error err = {0};
    char *text = cli_read_file(a->word[1], &length);
    if (!text) return CLI_USAGE;
    const carom_robot_def def = {.text = text,
                                 .length = length,
                                 .file = a->word[1],
                                 .fixed = cli_has(a, "fixed"),
                                 .free = cli_has(a, "free"),
                                 .repair = cli_has(a, "repair"),
                                 .floor = cli_has(a, "floor"),
                                 .gravity = gravity,
                                 .at = {at[0], at[1], at[2]},
                                 .note = print_note,
                                 .mesh = find_mesh,
                                 .corners = keep_corners,
                                 .include = include_file,
                                 .solid = solid_of,
                                 .user = j};
    int code = CLI_USAGE;
    if ((mjcf ? carom_mjcf_write : carom_urdf_write)(&def, carom_text_append, &b, &err) != CAROM_OK)
        cli_say_at("%s", err.text);
    else if (b.failed)
        abort();
    else
        code = write_file(out, &b, j->force);
    free(text);
    free(b.at);
    return code;
}

static int run(const cli_args *a) {
    static const char *const endings[] = {".urdf", ".xml", NULL};
    double gravity = 9.81, at[3] = {0}; // m/s^2
    job j = {.quiet = cli_has(a, "quiet"), .force = cli_has(a, "force"), .packages = cli_list(a, "package")};
    const bool known = strcmp(a->word[0], "urdf") == 0 || strcmp(a->word[0], "mjcf") == 0;
    int code = CLI_USAGE;
    if (a->n < 2)
        cli_say("import needs a FORM and a FILE: carom import urdf %s", known ? "FILE" : a->word[0]);
    else if (!known)
        cli_say("unknown import format '%s'; expected urdf or mjcf", a->word[0]);
    else if (cli_has(a, "fixed") && cli_has(a, "free"))
        cli_say("--fixed and --free are mutually exclusive");
    else if (cli_number(a, "gravity", &gravity) && read_at(a, at) && read_packages(&j)) {
        char *own = cli_value(a, "out") ? NULL : cli_rename(a->word[1], endings, ".yaml");
        const char *out = own ? own : cli_value(a, "out");
        const bool nowhere = strcmp(out, "-") == 0,
                   fits = folder_of(a->word[1], j.folder) && folder_of(nowhere ? "" : out, j.out_folder);
        if (fits) {
            const char *slash = strrchr(out, '/'),
                       *base = nowhere ? "robot"
                               : slash ? slash + 1
                                       : out,
                       *dot = strrchr(base, '.');
            const size_t n = dot ? (size_t)(dot - base) : strlen(base);
            if ((size_t)snprintf(j.meshes, sizeof j.meshes, "%s%.*s-meshes", j.out_folder, (int)(n < 200 ? n : 200),
                                 base) >= sizeof j.meshes)
                abort(); // folder_of() leaves room
            code = convert(a, &j, out, gravity, at);
        }
        free(own);
    }
    for (int i = 0; i < j.ntexts; ++i) free(j.texts[i]);
    free(j.texts);
    for (int i = 0; i < j.ncopies; ++i) free(j.copies[i]);
    free(j.copies);
    free(j.packages);
    return code;
}

const cli_verb cli_import = {
    .name = "import",
    .arguments = "FORM FILE",
    .least = 1,
    .most = 2,
    .options = options,
    .run = run,
    .about = "convert a robot description (urdf, mjcf) to a model file",
    .text = "FORM urdf: links become bodies; links that are fixed to each other become one.  Collision shapes become "
            "shapes (meshes, STL and OBJ, as convex hulls), limits of joints contacts, damping of joints\n"
            "springs, friction of joints brakes, mimics gears, limits of effort motors with an input NAME_effort.  "
            "Joints start at 0, or at the limit that is nearest to it.  Links that are fixed to a root\n"
            "without mass are parts of the ground.  Visuals of links without collision shapes are shapes without "
            "contacts.  Materials, transmissions and limits of velocity are left out.\n"
            "FORM mjcf (MuJoCo): bodies, joints, geometries, defaults, includes, actuators (motor, position, velocity, "
            "general: inputs), equality constraints (connect, weld, joint), contacts with planes of\n"
            "the world.  Comments at the end of the model list everything else.\n"
            "Meshes are read and checked.  Those outside of the model's directory are copied to MODEL-meshes next to "
            "it.  Contacts between shapes are not added: docs/shapes.md.",
};
