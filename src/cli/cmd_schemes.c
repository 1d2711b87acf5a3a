// cmd_schemes.c: the schemes, from their own tables.
#include "cli/cli.h"
#include "base/option.h"
#include "sim/sim.h"
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"markdown", 0, NULL, "all schemes, with equations and options, as a page in Markdown", false},
    {"support", 0, NULL, "which scheme supports which feature, as a page in Markdown", false},
    {NULL, 0, NULL, NULL, false},
};

static const struct { unsigned bit; const char *word; } lack[] = {
    {CAROM_NO_FRICTION, "friction"},
    {CAROM_NO_BILATERAL, "bilateral constraints"},
    {CAROM_NO_UNEQUAL_RESTITUTION, "unequal restitution"},
    {CAROM_NO_IMPACT_LAWS, "laws of impact other than Newton's"},
    {CAROM_NO_STEP_CHANGE, "non-integer end"},
    {CAROM_NO_IMPACTS, "impact law"},
};

static const char *unsupported(const carom_scheme *s, char *text, size_t size) {
    text[0] = 0;
    for (size_t i = 0; i < sizeof lack / sizeof lack[0]; ++i) {
        if (!(s->limitations & lack[i].bit)) continue;
        const size_t n = strlen(text);
        snprintf(text + n, size - n, "%s%s", n ? ", " : "", lack[i].word);
    }
    return text;
}

// The order with default options where an option decides.
static int order(const carom_scheme *s) {
    double *opt = calloc((size_t)carom_option_count(s->options) + 1, sizeof *opt);
    if (!opt) abort();
    carom_option_defaults(s->options, opt);
    const int p = s->order_of ? s->order_of(opt) : s->order;
    free(opt);
    return p;
}

static void list(void) {
    char text[160];
    printf("%-26s %-6s\n", "scheme", "order");
    for (const carom_scheme *const *at = carom_schemes(); *at; ++at) {
        const carom_scheme *s = *at;
        printf("%-26s %-6d %s\n", s->name, order(s), s->about);
        if (*unsupported(s, text, sizeof text)) printf("%-33s not supported: %s\n", "", text);
    }
    puts("\n`carom schemes NAME` shows equations and options.  Order: on smooth motion; across impacts it is 1,\n"
         "and with joints too for moreau-jean, moreau-dissipative, newmark, hht and generalized-alpha.");
}

static void option(const carom_option *o) {
    char fallback[64];
    carom_option_write(o, o->fallback, fallback, sizeof fallback);
    printf("  %-16s %-12s %s: ", o->name, fallback, o->about ? o->about : "");
    if (o->kind == CAROM_CHOICE) printf("%s\n", o->choices);
    else
        printf("%s in [%g, %g%c\n", o->kind == CAROM_INTEGER ? "integer" : "number", o->low, o->high,
               o->open_high ? ')' : ']');
}

static void show(const carom_scheme *s) {
    char text[160];
    printf("%s: %s\n\n", s->name, s->about);
    if (s->text) printf("%s%s\n", s->text, carom_ends(s->text, "\n") ? "" : "\n");
    printf("order on smooth motion: %d%s\n", order(s), s->order_of ? " (an option decides)" : "");
    if (*unsupported(s, text, sizeof text)) printf("not supported: %s\n", text);
    puts("\noptions, with defaults (--option NAME=VALUE):");
    for (int i = 0; s->options && s->options[i].name; ++i) option(&s->options[i]);
    for (int i = 0; carom_common_options[i].name; ++i) {
        const char *name = carom_common_options[i].name; // a scheme's own option of that name comes first
        if (carom_option_find(s->options, name, strlen(name)) < 0) option(&carom_common_options[i]);
    }
}

static const char *scheme_name(const void *user, int i) {
    (void)user;
    const carom_scheme *s = carom_schemes()[i]; // asked in order, up to the first NULL
    return s ? s->name : NULL;
}

// -- the reference page -------------------------------------------------------------------------------------------

static void option_row(const carom_option *o) {
    char fallback[64];
    carom_option_write(o, o->fallback, fallback, sizeof fallback);
    printf("| `%s` | `%s` | ", o->name, fallback);
    if (o->kind == CAROM_CHOICE) {
        putchar('`');
        for (const char *c = o->choices; *c; ++c) fputs(*c == '|' ? "`, `" : (char[]){*c, 0}, stdout);
        putchar('`');
    } else {
        printf("%s%g to %g%s", o->kind == CAROM_INTEGER ? "integer, " : "", o->low, o->high,
               o->open_high ? ", excluded" : "");
    }
    printf(" | %s |\n", o->about ? o->about : "");
}

static void markdown(void) {
    static const char head[] = "| option | default | values | |\n|---|---|---|---|";
    char text[160];
    puts(
        "# Schemes\n\n<!-- Made by `carom schemes --markdown`: change the program's tables and run `make docs`. -->\n\n"
        "`carom schemes NAME` shows the same. Which one to take: [choosing-a-scheme.md](choosing-a-scheme.md).\n\n"
        "| scheme | | order | not supported |\n|---|---|---|---|");
    for (const carom_scheme *const *at = carom_schemes(); *at; ++at)
        printf("| [`%s`](#%s) | %s | %d%s | %s |\n", (*at)->name, (*at)->name, (*at)->about, order(*at),
               (*at)->order_of ? ", by option" : "", unsupported(*at, text, sizeof text));
    puts("\nOrder: on smooth motion, with the default options; across impacts it is 1 except for `mixed`, `auto` and "
         "`event-driven`.  With joints\n"
         "`moreau-jean`, `moreau-dissipative`, `newmark`, `hht` and `generalized-alpha` have order 1 too: their "
         "reactions are impulses.\n\n"
         "Options of all schemes (`--option NAME=VALUE`, or `options:` in the simulation section); a scheme may have "
         "one of the same name with another default:\n");
    puts(head);
    for (const carom_option *o = carom_common_options; o->name; ++o) option_row(o);
    for (const carom_scheme *const *at = carom_schemes(); *at; ++at) {
        printf("\n## %s\n\n%s.\n\n", (*at)->name, (*at)->about);
        if ((*at)->text) printf("```text\n%s%s```\n", (*at)->text, carom_ends((*at)->text, "\n") ? "" : "\n");
        if (!(*at)->options || !(*at)->options[0].name) continue;
        printf("\n%s\n", head);
        for (const carom_option *o = (*at)->options; o->name; ++o) option_row(o);
    }
}

// -- the support matrix -------------------------------------------------------------------------------------------

static const char *yes(bool has) { return has ? "yes" : "-"; }

static const char *across_impacts(const carom_scheme *s) {
    return s->exact || s->promises.impact_order > 1 ? "kept" : "1";
}
static const char *friction(const carom_scheme *s) { return yes(!(s->limitations & CAROM_NO_FRICTION)); }
static const char *joints(const carom_scheme *s) { return yes(!(s->limitations & CAROM_NO_BILATERAL)); }
static const char *apart(const carom_scheme *s) {
    return yes(s->exact || s->promises.contacts == CAROM_POSITION_LEVEL);
}
static const char *together(const carom_scheme *s) {
    return yes(s->exact || s->promises.joints == CAROM_POSITION_LEVEL);
}
static const char *laws(const carom_scheme *s) {
    return s->limitations & CAROM_NO_IMPACTS ? "-" : s->limitations & CAROM_NO_IMPACT_LAWS ? "Newton" : "all";
}
static const char *located(const carom_scheme *s) { return !s->exact ? "-" : s->exact[0] ? s->exact : "yes"; }
static const char *lists(const carom_scheme *s) { return s->dense_operator ? "dense" : "yes"; }
static const char *sleeps(const carom_scheme *s) { return yes(!(s->limitations & CAROM_NO_REST)); }
static const char *adaptive(const carom_scheme *s) {
    return s->controls_own_steps ? "always" : yes(!(s->limitations & CAROM_NO_ADAPTIVE));
}
static const char *any_step(const carom_scheme *s) { return yes(!(s->limitations & CAROM_NO_STEP_CHANGE)); }
static const char *stiff(const carom_scheme *s) { return yes(!s->promises.limited_steps); }
static const char *massless(const carom_scheme *s) { return yes(s->massless); }
static const char *lanes(const carom_scheme *s) { return yes(s->lanes != CAROM_LANE_NONE); }
static const char *derivatives(const carom_scheme *s) { return yes(s->exact != NULL); }

static const struct feature {
    const char *name, *about;
    const char *(*of)(const carom_scheme *s);
} features[] = {
    {"across impacts", "order of positions across impacts: kept, or 1", across_impacts},
    {"friction", "Coulomb friction, in the plane and in space", friction},
    {"joints", "joints and other bilateral constraints", joints},
    {"no penetration", "closed gaps hold on position level; others penetrate by about speed times step", apart},
    {"no drift", "joints hold on position level; others drift with the order of the scheme", together},
    {"impact laws", "all: Newton, Poisson, energetic, each contact its own; Newton: one constant restitution", laws},
    {"located events", "impacts and changes of contacts are located; or the option that locates them to rounding",
     located},
    {"contact lists", "dynamic contact lists; dense: with a dense matrix of all closed contacts", lists},
    {"`sleep`, `discs`", "bodies that sleep, and `resistance: discs`, in contact lists", sleeps},
    {"adaptive", "adaptive steps; always: it controls its steps itself", adaptive},
    {"any step", "steps may be shortened: any end time, sample times of controllers", any_step},
    {"stiff", "the step need not follow the fastest vibration", stiff},
    {"massless", "the mass matrix may be singular where joints or stiffness hold what has no inertia", massless},
    {"lanes", "lanes of sweeps, and GPUs", lanes},
    {"derivatives", "gradients, fits with exact derivatives, orbits, branches, exponents", derivatives},
};
enum { FEATURES = sizeof features / sizeof *features };

static void support(void) {
    puts("# Support matrix\n\n"
         "<!-- Made by `carom schemes --support`: change the tables of schemes and run `make docs`. -->\n\n"
         "Which scheme supports which feature, with its default options. A model that needs another feature is "
         "rejected before the run. Options and equations: [reference-schemes.md](reference-schemes.md).\n");
    fputs("| scheme | order |", stdout);
    for (int i = 0; i < FEATURES; ++i) printf(" %s |", features[i].name);
    fputs("\n|---|---|", stdout);
    for (int i = 0; i < FEATURES; ++i) fputs("---|", stdout);
    putchar('\n');
    for (const carom_scheme *const *at = carom_schemes(); *at; ++at) {
        printf("| [`%s`](reference-schemes.md#%s) | %d%s |", (*at)->name, (*at)->name, order(*at),
               (*at)->order_of ? "*" : "");
        for (int i = 0; i < FEATURES; ++i) printf(" %s |", features[i].of(*at));
        putchar('\n');
    }
    puts("\n`*`: an option changes the order.\n\n| feature | meaning |\n|---|---|\n| order | on smooth motion |");
    for (int i = 0; i < FEATURES; ++i) printf("| %s | %s |\n", features[i].name, features[i].about);
    puts("\nAll schemes run bodies, joints (redundant ones, too), springs, compliant contacts, inputs, controllers, "
         "states, flexible members and dynamic contact lists, and can be saved and resumed bit for bit.");
}

static int run(const cli_args *a) {
    if (cli_has(a, "markdown") || cli_has(a, "support")) {
        (cli_has(a, "support") ? support : markdown)();
        return CLI_DONE;
    }
    if (a->n == 0) {
        list();
        return CLI_DONE;
    }
    const carom_scheme *s = carom_schemes_find(a->word[0]);
    if (!s) {
        char hint[96];
        cli_say("unknown scheme '%s'%s", a->word[0], cli_suggest(hint, sizeof hint, a->word[0], scheme_name, NULL));
        fputs("`carom schemes` lists them\n", stderr);
        return CLI_USAGE;
    }
    show(s);
    return CLI_DONE;
}

const cli_verb cli_schemes = {
    .name = "schemes",
    .arguments = "[NAME]",
    .most = 1,
    .options = options,
    .run = run,
    .about = "list the schemes; NAME prints one scheme's equations, order, limitations and options"};
