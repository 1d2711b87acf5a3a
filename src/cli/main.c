// main.c: carom VERB ...
#define _POSIX_C_SOURCE 200809L // SIGXFSZ, setenv
#include "cli/cli.h"
#include "io/exit.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const cli_verb *const verbs[] = {
#define CLI_VERB(name) &cli_##name,
#include "cli/verbs.def"
#undef CLI_VERB
    NULL};

static const cli_verb *find_verb(const char *name) {
    int i = 0;
    while (verbs[i] && strcmp(verbs[i]->name, name) != 0) ++i;
    return verbs[i];
}

// A write may have failed long ago.
static int close_output(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (status == CLI_DONE) cli_say("cannot write to standard output");
    return status == CLI_DONE ? CLI_FAILED : status;
}

int main(int argc, char **argv) {
    h5_no_tidying_at_exit();
    signal(SIGXFSZ, SIG_IGN); // a file that reaches its limit fails like one on a full disk
    // Its threads would cost more than they bring to small matrices, and bits could depend on their number.
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    char *none[] = {NULL};
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        cli_help.run(&(cli_args){.verb = &cli_help, .verbs = verbs});
        return CLI_USAGE;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0)
        return close_output(puts("carom " CAROM_VERSION) < 0 ? CLI_FAILED : CLI_DONE);
    const bool wants_help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    const cli_verb *verb = wants_help ? &cli_help : find_verb(name);
    if (!verb)
        return cli_help.run(
            &(cli_args){.verb = &cli_help, .verbs = verbs, .n = 1, .word = (const char *[]){name, NULL}});
    cli_say_as(verb);
    cli_args a;
    bool help = false;
    int status = CLI_USAGE;
    if (cli_parse(&a, verb, wants_help ? 0 : argc - 2, wants_help ? none : argv + 2, &help)) {
        a.verbs = verbs;
        status = verb->run(&a);
    } else if (help) {
        cli_verb_help(stdout, verb);
        status = CLI_DONE;
    }
    cli_free(&a);
    return close_output(status);
}
