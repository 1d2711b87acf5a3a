// cmd_import.c: carom import: a description from elsewhere becomes a model file.
#include "base/grow.h"
#include "cli/cli.h"
#include "read/urdf.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"out", 'o', "FILE", "the model file (default: the file's name with .yaml); - for standard output", false},
    {"fixed", 0, NULL, "weld the root link to the ground, although it has a mass", false},
    {"gravity", 0, "G", "gravity along -z (default: 9.81)", false},
    {"force", 0, NULL, "replace a file of that name", false},
    {"quiet", 'q', NULL, "no notes about what was left out", false},
    {NULL, 0, NULL, NULL, false},
};

static void print_note(void *user, const char *sentence) { if (!*(bool *)user) carom_safe_file(stderr, "%s\n", sentence); }

static int write_file(const char *out, const carom_text *b, bool force) {
    if (strcmp(out, "-") == 0) return fwrite(b->at, 1, b->n, stdout) == b->n ? CLI_DONE : CLI_FAILED;
    FILE *f = fopen(out, force ? "wb" : "wbx");
    if (!f && errno == EEXIST) return cli_say("%s already exists; use --force to overwrite it", out), CLI_USAGE;
    const bool good = f && fwrite(b->at, 1, b->n, f) == b->n;
    if (!f || (fclose(f) != 0) || !good) return cli_say("cannot write %s: %s", out, strerror(errno)), CLI_FAILED;
    cli_print("%s written\n", out);
    return CLI_DONE;
}

static int run(const cli_args *a) {
    static const char *const endings[] = {".urdf", ".xml", NULL};
    double gravity = 9.81;
    bool quiet = cli_has(a, "quiet");
    size_t length = 0;
    carom_text b = {0};
    carom_error err = {0};
    if (a->n < 2) return cli_say("import needs a FORM and a FILE: carom import urdf %s", strcmp(a->word[0], "urdf") == 0 ? "FILE" : a->word[0]), CLI_USAGE;
    if (strcmp(a->word[0], "urdf") != 0) return cli_say("unknown import format '%s'; expected urdf", a->word[0]), CLI_USAGE;
    if (!cli_number(a, "gravity", &gravity)) return CLI_USAGE;
    char *text = cli_read_file(a->word[1], &length);
    if (!text) return CLI_USAGE;
    const carom_urdf_def def = {.text = text, .length = length, .file = a->word[1], .fixed = cli_has(a, "fixed"), .gravity = gravity, .note = print_note, .user = &quiet};
    int code = CLI_USAGE;
    if (carom_urdf_write(&def, carom_text_append, &b, &err) != CAROM_OK) {
        carom_safe_file(stderr, "%s\n", err.text);
    } else if (b.failed) {
        abort();
    } else {
        char *own = cli_value(a, "out") ? NULL : cli_rename(a->word[1], endings, ".yaml");
        code = write_file(own ? own : cli_value(a, "out"), &b, cli_has(a, "force"));
        free(own);
    }
    free(text);
    free(b.at);
    return code;
}

const cli_verb cli_import = {
    .name = "import", .arguments = "FORM FILE", .least = 1, .most = 2, .options = options, .run = run,
    .about = "convert a robot description (urdf) to a model file",
    .text = "FORM urdf: links with a mass become bodies, collision shapes become shapes (meshes, STL and OBJ, as convex hulls), limits of joints become contacts, damping of joints springs, friction of joints\n"
            "brakes, mimics gears.  Joints start at 0, or at the limit that is nearest to it.  Links without a mass are parts of the link that they are fixed to; at the root, of the ground.\n"
            "Visuals, materials, transmissions, and limits of effort and velocity are left out.  Contacts between shapes are yours to add: docs/shapes.md.",
};
