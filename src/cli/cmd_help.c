// cmd_help.c: what carom can do.
#include "cli/cli.h"

static const char *verb_name(const void *user, int i) {
    (void)user;
    const cli_verb *verb = cli_verb_at(i);
    return verb ? verb->name : NULL;
}

static void overview(void) {
    puts("carom: simulation of mechanical systems with contacts, impacts and dry friction\n");
    for (int i = 0; cli_verb_at(i); ++i) {
        char head[64];
        snprintf(head, sizeof head, "%s %s", cli_verb_at(i)->name, cli_verb_at(i)->arguments);
        printf("  carom %-19s %s\n", head, cli_verb_at(i)->about);
    }
    puts("  carom --version\n\n`carom help VERB` tells more; `carom examples` lists models to begin with.\n\n"
         "exit status: 0 done; 1 the simulation could not go on; 2 wrong usage or a wrong model; 3 a check failed;\n"
         "130 interrupted (saved; go on with --resume)");
}

static int run(const cli_args *a) {
    if (a->n == 0) {
        overview();
        return CLI_DONE;
    }
    const cli_verb *verb = cli_verb_find(a->word[0]);
    if (!verb) {
        char hint[96];
        cli_say("there is no verb '%s'%s", a->word[0], cli_suggest(hint, sizeof hint, a->word[0], verb_name, NULL));
        fputs("`carom help` lists the verbs\n", stderr);
        return CLI_USAGE;
    }
    cli_verb_help(stdout, verb);
    return CLI_DONE;
}

const cli_verb cli_help = {.name = "help", .arguments = "[VERB]", .about = "this page; one verb's options", .most = 1, .run = run};
