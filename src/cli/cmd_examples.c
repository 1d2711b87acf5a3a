// cmd_examples.c: the models that ship, embedded in the program.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"force", 'f', NULL, "overwrite an existing file", false},
    {NULL, 0, NULL, NULL, false},
};

// The first comment line, or what `name:` says.
void cli_example_about(const cli_example *e, char *text, size_t size) {
    text[0] = 0;
    const char *at = (const char *)e->text, *end = at + e->length;
    while (at < end && !text[0]) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        const int n = (int)(stop - at);
        if (n > 2 && at[0] == '#') {
            int skip = 1;
            while (skip < n && (at[skip] == ' ' || at[skip] == '#')) ++skip;
            snprintf(text, size, "%.*s", n - skip, at + skip);
        } else if (n > 5 && strncmp(at, "name:", 5) == 0) {
            const int skip = 5 + (int)strspn(at + 5, " ");
            snprintf(text, size, "%.*s", n - skip, at + skip);
        }
        at = stop + 1;
    }
}

static const char *example_name(const void *user, int i) {
    (void)user;
    return cli_example_table[i].name;
}

static int write_file(const cli_example *e, bool force) {
    static const char *const nothing[] = {NULL};
    char *file = cli_rename(e->name, nothing, ".yaml");
    const int fd = open(file, O_WRONLY | O_CREAT | (force ? O_TRUNC : O_EXCL), 0666);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    int status = CLI_DONE;
    if (!f && errno == EEXIST) {
        cli_say("%s already exists; use --force to overwrite it", file);
        status = CLI_USAGE;
    } else {
        bool good = f && fwrite(e->text, 1, e->length, f) == e->length;
        if (f) good = fclose(f) == 0 && good;
        if (!good) cli_say("cannot write %s: %s", file, strerror(errno));
        if (good) cli_print("%s written; try: carom run %s\n", file, file);
        status = good ? CLI_DONE : CLI_FAILED;
    }
    free(file);
    return status;
}

static int run(const cli_args *a) {
    if (a->n == 0) {
        for (const cli_example *e = cli_example_table; e->name; ++e) {
            char text[256];
            cli_example_about(e, text, sizeof text);
            printf("%-28s %s\n", e->name, text);
        }
        puts("\n`carom examples NAME` writes NAME.yaml here.");
        return CLI_DONE;
    }
    char name[256];
    snprintf(name, sizeof name, "%s", a->word[0]);
    if (carom_ends(name, ".yaml")) name[strlen(name) - 5] = 0;
    for (const cli_example *e = cli_example_table; e->name; ++e)
        if (strcmp(e->name, name) == 0) return write_file(e, cli_has(a, "force"));
    char hint[96];
    cli_say("unknown example '%s'%s", name, cli_suggest(hint, sizeof hint, name, example_name, NULL));
    fputs("`carom examples` lists them\n", stderr);
    return CLI_USAGE;
}

const cli_verb cli_examples = {.name = "examples",
                               .arguments = "[NAME]",
                               .about = "list the bundled models; NAME copies one to the current directory",
                               .most = 1,
                               .options = options,
                               .run = run};
