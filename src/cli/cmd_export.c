// cmd_export.c: carom export: a model in another form.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"out", 'o', "FILE", "where to write; default: the model's file name with .c, in this folder; - is standard output", false},
    {"set", 0, "NAME=VALUE", "override a parameter of the model; the value may be an expression", true},
    CLI_MATRIX,
    {NULL, 0, NULL, NULL, false},
};

typedef struct sink { FILE *f; bool failed; } sink;

static void write_text(void *user, const char *text, size_t length) {
    sink *s = user;
    if (fwrite(text, 1, length, s->f) != length) s->failed = true;
}

// The model's file name as the beginning of C names.
static char *prefix_of(const char *file) {
    static const char *const endings[] = {".yaml", ".yml", NULL};
    char *name = cli_rename(file, endings, "");
    for (char *c = name; *c; ++c)
        if (!isalnum((unsigned char)*c)) *c = '_';
    if (!isalpha((unsigned char)name[0])) name[0] = 'm';
    return name;
}

// Into a file beside it first: the name never means half a file.
static int write_c(const carom_model *m, const char *file, const char *out, const char *text, size_t length) {
    carom_error err;
    char *prefix = prefix_of(file), *part = NULL;
    sink s = {.f = stdout};
    int code = CLI_FAILED;
    if (out) {
        part = malloc(strlen(out) + 40);
        if (!part) abort();
        sprintf(part, "%s.%ld.part", out, (long)getpid());
        s.f = fopen(part, "w");
    }
    if (!s.f) {
        cli_say("cannot create %s: %s", part, strerror(errno));
    } else {
        const carom_status status = carom_model_write_c(m, prefix, text, length, write_text, &s, &err);
        if (out) s.failed = fclose(s.f) != 0 || s.failed;
        else s.failed = fflush(stdout) != 0 || s.failed;
        if (status != CAROM_OK) cli_say("%s", err.text), code = status == CAROM_BAD_INPUT ? CLI_USAGE : CLI_FAILED;
        else if (s.failed || (out && rename(part, out) != 0)) cli_say("cannot write %s: %s", out ? out : "to standard output", strerror(errno));
        else code = CLI_DONE;
        if (code != CLI_DONE && part) unlink(part);
    }
    free(part);
    free(prefix);
    return code;
}

static int run(const cli_args *given) {
    static const char *const endings[] = {".yaml", ".yml", NULL};
    if (strcmp(given->word[0], "c") != 0) {
        cli_say("export does not know the form '%s'; there is: c", given->word[0]);
        return CLI_USAGE;
    }
    cli_args a = *given;
    a.word = given->word + 1; // the model
    a.n = given->n - 1;
    const char **set = NULL;
    char *text = NULL, *own = NULL;
    size_t length = 0;
    if (cli_wants_model(a.word[0])) return CLI_USAGE;
    carom_model *m = cli_model_given(&a, &set, &text, &length);
    int code = CLI_USAGE;
    if (m) {
        const char *out = cli_value(&a, "out");
        if (!out) out = own = cli_rename(a.word[0], endings, ".c");
        code = write_c(m, a.word[0], strcmp(out, "-") == 0 ? NULL : out, text, length);
        if (code == CLI_DONE && strcmp(out, "-") != 0) printf("%s written\n", out);
    }
    carom_model_destroy(m);
    free(own);
    free(set);
    free(text);
    return code;
}

const cli_verb cli_export = {
    .name = "export", .arguments = "FORM MODEL", .least = 2, .most = 2, .options = options, .run = run,
    .about = "a model in another form: c, one self-contained C17 file",
    .text = "FORM c: functions for mass, forces, gaps, directions, rates, derivatives, energy and outputs of (t, q, v, parameters), without\n"
            "allocation or global state.  Compiled with -ffp-contract=off they give the same bits as carom itself.",
};
