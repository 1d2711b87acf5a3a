// cmd_help.c: what carom can do.
#include "cli/cli.h"
#include "cli/manual.h"
#include <string.h>

static const cli_option options[] = {
    {"markdown", 0, NULL, "all verbs (or the model file's keys) as a page in Markdown", false},
    {"man", 0, "FOLDER", "write the manual pages there", false},
    {NULL, 0, NULL, NULL, false},
};

static const char *topic_name(const void *user, int i) {
    (void)user;
    int verbs = 0;
    while (cli_verb_at(verbs)) ++verbs;
    return i < verbs ? cli_verb_at(i)->name : i == verbs ? "model" : NULL;
}

static void overview(void) {
    puts("carom: simulation of mechanical systems with contacts, impacts and dry friction\n");
    for (int i = 0; cli_verb_at(i); ++i) {
        char head[64];
        snprintf(head, sizeof head, "%s %s", cli_verb_at(i)->name, cli_verb_at(i)->arguments);
        printf("  carom %-19s %s\n", head, cli_verb_at(i)->about);
    }
    printf("  carom --version\n\n`carom help VERB` tells more, `carom help model` the keys of a model file; `carom examples` lists models to begin with.\n\n"
           "exit status: %s\n", manual_exit_status);
}

static int topic(const char *name, bool markdown) {
    const cli_verb *verb = cli_verb_find(name);
    if (strcmp(name, "model") == 0) {
        if (markdown) manual_model_markdown(stdout);
        else manual_model(stdout);
        return CLI_DONE;
    }
    if (!verb) {
        char hint[96];
        cli_say("there is no verb '%s'%s", name, cli_suggest(hint, sizeof hint, name, topic_name, NULL));
        fputs("`carom help` lists the verbs\n", stderr);
        return CLI_USAGE;
    }
    if (markdown) {
        cli_say("--markdown shows all verbs, or `carom help model`");
        return CLI_USAGE;
    }
    cli_verb_help(stdout, verb);
    return CLI_DONE;
}

static int run(const cli_args *a) {
    const bool markdown = cli_has(a, "markdown");
    const char *folder = cli_value(a, "man");
    if (folder) return manual_pages(folder) ? CLI_DONE : CLI_FAILED;
    if (a->n > 0) return topic(a->word[0], markdown);
    if (markdown) manual_verbs_markdown(stdout);
    else overview();
    return CLI_DONE;
}

const cli_verb cli_help = {.name = "help", .arguments = "[VERB]", .about = "this page; one verb's options; `carom help model`: the keys of a model file",
                           .most = 1, .options = options, .run = run};
