// cmd_help.c: what carom can do.
#include "cli/cli.h"
#include "cli/manual.h"
#include <string.h>

static const cli_option options[] = {
    {"markdown", 0, NULL, "print all commands (or the model file's keys) as Markdown", false},
    {"man", 0, "DIRECTORY", "write the manual pages to DIRECTORY", false},
    {"schema", 0, NULL, "print a JSON Schema of the model file, for editors", false},
    {NULL, 0, NULL, NULL, false},
};

static const char *topic_name(const void *user, int i) {
    const cli_verb *const *verbs = user;
    int n = 0;
    while (verbs[n]) ++n;
    return i < n ? verbs[i]->name : i == n ? "model" : NULL;
}

static const char *option_name(const void *user, int i) {
    static const char *const names[] = {"--version", "--help", NULL};
    return (void)user, names[i];
}

static void overview(const cli_verb *const *verbs) {
    puts("carom: simulation of mechanical systems with contacts, impacts and dry friction\n");
    for (int i = 0; verbs[i]; ++i) {
        char head[64];
        snprintf(head, sizeof head, "%s %s", verbs[i]->name, verbs[i]->arguments);
        printf("  carom %-21s ", head), cli_wrap(stdout, verbs[i]->about, 30);
    }
    puts("  carom --version\n");
    cli_wrap(stdout,
             "`carom help COMMAND` prints the options of a command, `carom help model` the keys of a model file. "
             "`carom examples` lists models to start from.",
             0);
    fputs("\nexit status: ", stdout), cli_wrap(stdout, manual_exit_status, 0);
}

static int topic(const cli_verb *const *verbs, const char *name, bool markdown) {
    int i = 0;
    while (verbs[i] && strcmp(verbs[i]->name, name) != 0) ++i;
    if (strcmp(name, "model") == 0) {
        if (markdown) manual_model_markdown(stdout);
        else manual_model(stdout);
        return CLI_DONE;
    }
    if (!verbs[i]) {
        char hint[96];
        const bool option = *name == '-';
        cli_suggest(hint, sizeof hint, name, option ? option_name : topic_name, verbs);
        cli_say("unknown command '%s'%s", name, option && !*hint ? "; options follow the command" : hint);
        fputs("`carom help` lists the commands\n", stderr);
        return CLI_USAGE;
    }
    if (markdown) {
        cli_say("--markdown prints all commands, or `carom help model`");
        return CLI_USAGE;
    }
    cli_verb_help(stdout, verbs[i]);
    return CLI_DONE;
}

static int run(const cli_args *a) {
    const bool markdown = cli_has(a, "markdown");
    const char *folder = cli_value(a, "man");
    if (folder) return manual_pages(a->verbs, folder) ? CLI_DONE : CLI_FAILED;
    if (cli_has(a, "schema")) return manual_schema(stdout), CLI_DONE;
    if (a->n > 0) return topic(a->verbs, a->word[0], markdown);
    if (markdown) manual_verbs_markdown(a->verbs, stdout);
    else overview(a->verbs);
    return CLI_DONE;
}

const cli_verb cli_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .about = "print this page, the options of one command, or (`carom help model`) the keys of a model file",
    .most = 1,
    .options = options,
    .run = run};
