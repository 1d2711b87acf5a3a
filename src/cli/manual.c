// manual.c: the verbs and the model file's keys as plain text, Markdown and manual pages.
//
// Nothing is described here: words come from the verbs' tables and from mech/keys.c.
#define _POSIX_C_SOURCE 200809L
#include "cli/manual.h"
#include "cli/cli.h"
#include "mech/keys.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char manual_exit_status[] = "0 success; 1 simulation failed; 2 usage or model error; 3 a check failed; "
                                  "130 interrupted (saved; continue with --resume)";
static const char title[] = "simulation of mechanical systems with contacts, impacts and dry friction";
static const char made[] = "<!-- Made by `%s`: change the program's tables and run `make docs`. -->\n\n";

// -- Markdown ---------------------------------------------------------------------------------------------------

// Inside a table a bar would end the cell.
static void cell(FILE *f, const char *text) {
    for (; *text; ++text) {
        if (*text == '|') fputc('\\', f);
        fputc(*text, f);
    }
}

void manual_verbs_markdown(const cli_verb *const *verbs, FILE *f) {
    fprintf(f, "# Command line\n\n");
    fprintf(f, made, "carom help --markdown");
    fprintf(f,
            "carom: %s. `carom help COMMAND` and `man carom-COMMAND` show the same as this page.\n\n| | |\n|---|---|\n",
            title);
    for (int i = 0; verbs[i]; ++i) {
        const cli_verb *v = verbs[i];
        fprintf(f, "| [`carom %s %s`](#carom-%s) | ", v->name, v->arguments, v->name);
        cell(f, v->about);
        fputs(" |\n", f);
    }
    fprintf(f, "| `carom --version` | the version |\n\nExit status: %s.\n", manual_exit_status);
    for (int i = 0; verbs[i]; ++i) {
        const cli_verb *v = verbs[i];
        fprintf(f, "\n## carom %s\n\n`carom %s %s`: %s.\n", v->name, v->name, v->arguments, v->about);
        if (v->text) fprintf(f, "\n%s\n", v->text);
        if (!v->options || !v->options[0].name) continue;
        fputs("\n| option | |\n|---|---|\n", f);
        for (const cli_option *o = v->options; o->name; ++o) {
            fputs("| `", f);
            if (o->letter) fprintf(f, "-%c`, `", o->letter);
            fprintf(f, "--%s%s%s` | ", o->name, o->value ? " " : "", o->value ? o->value : "");
            cell(f, o->about);
            fprintf(f, "%s |\n", o->repeat ? "; may be given several times" : "");
        }
    }
}

static const char *default_of(const carom_key *k) { return strncmp(k->fallback, "needed", 6) == 0 ? "" : "default: "; }

static const char *unit_of(const carom_key *k) { return strcmp(k->unit, "1") == 0 ? "" : k->unit; }

// "number, kg"
static const char *value_of(const carom_key *k) {
    static char text[60];
    snprintf(text, sizeof text, "%s%s%s", carom_key_kind(k->kind), *unit_of(k) ? ", " : "", unit_of(k));
    return text;
}

void manual_model_markdown(FILE *f) {
    fputs("# Keys and functions of the model file\n\n", f);
    fprintf(f, made, "carom help model --markdown");
    fputs("[model-file.md](model-file.md), [bodies-and-joints.md](bodies-and-joints.md) and [shapes.md](shapes.md) "
          "explain what they mean together. Any other key is an "
          "error, which names the nearest known key.\n\nA number is an expression of parameters, an expression may "
          "also use time and the state; several of "
          "them are a list. Units are those of SI; any other consistent units do as well. A number may carry a unit, "
          "`2 kg` or `30 deg`, and is then converted and checked.\n",
          f);
    for (const key_group *const *list = carom_key_groups; *list; ++list) {
        const key_group *g = *list;
        fprintf(f, "\n## %s%s%s\n\n%s%s", *g->place ? "`" : "Sections", g->place, *g->place ? "`" : "", g->about,
                *g->about ? "\n\n" : "");
        fputs("| key | meaning | value | default |\n|---|---|---|---|\n", f);
        for (const carom_key *k = g->keys; k->name; ++k) {
            fprintf(f, "| `%s` | ", k->name);
            cell(f, k->about);
            fprintf(f, " | %s | %s |\n", value_of(k), k->fallback);
        }
    }
    fputs("\n## Types of joints\n\n| type | |\n|---|---|\n", f);
    for (const key_word *w = carom_key_joint_types; w->name; ++w) fprintf(f, "| `%s` | %s |\n", w->name, w->about);
    fputs("\n## Expressions\n\n`+ - * / ^`, parentheses, comparisons (1 or 0), `pi`, the time `t`, names; `x'` is the "
          "rate of `x`.\n\n| function | |\n|---|---|\n",
          f);
    for (const key_word *w = carom_key_functions; w->name; ++w)
        fprintf(f, "| `%s(%s)` | %s |\n", w->name, w->arguments, w->about);
}

// -- plain text -----------------------------------------------------------------------------------------------

static void key_plain(FILE *f, const carom_key *k) {
    fprintf(f, "  %-22s %s", k->name, k->about);
    if (*unit_of(k)) fprintf(f, "%s[%s]", *k->about ? " " : "", unit_of(k));
    if (*k->fallback) fprintf(f, "%s(%s%s)", *k->about || *unit_of(k) ? " " : "", default_of(k), k->fallback);
    fputc('\n', f);
}

void manual_model(FILE *f) {
    fputs("The keys of a model file, a YAML text.  `carom examples` lists models to begin with.\n", f);
    for (const key_group *const *g = carom_key_groups; *g; ++g) {
        fprintf(f, "\n%s%s%s\n", *(*g)->place ? (*g)->place : "sections", *(*g)->about ? ": " : "", (*g)->about);
        for (const carom_key *k = (*g)->keys; k->name; ++k) key_plain(f, k);
    }
    fputs("\ntypes of joints\n", f);
    for (const key_word *w = carom_key_joint_types; w->name; ++w) fprintf(f, "  %-22s %s\n", w->name, w->about);
    fputs("\nfunctions, besides + - * / ^, comparisons, pi, the time t, and x' for the rate of x\n", f);
    for (const key_word *w = carom_key_functions; w->name; ++w) {
        char call[32];
        snprintf(call, sizeof call, "%s(%s)", w->name, w->arguments);
        fprintf(f, "  %-22s %s\n", call, w->about);
    }
}

// -- manual pages -----------------------------------------------------------------------------------------------

// Text as troff wants it: no request at the begin of a line, dashes that can be copied.
static void roff(FILE *f, const char *text) {
    bool begin = true;
    for (; *text; ++text) {
        if (begin && (*text == '.' || *text == '\'')) fputs("\\&", f);
        if (*text == '\\') fputs("\\e", f);
        else if (*text == '-') fputs("\\-", f);
        else fputc(*text, f);
        begin = *text == '\n';
    }
}

static void head(FILE *f, const char *page, int section, const char *about) {
    fprintf(f, ".TH \"%s\" \"%d\" \"\" \"carom %s\" \"carom\"\n.SH NAME\n", page, section, CAROM_VERSION);
    roff(f, page);
    fputs(" \\- ", f);
    roff(f, about);
    fputc('\n', f);
}

static void item(FILE *f, const char *name, const char *about, const char *more) {
    fputs(".TP\n.B ", f);
    roff(f, name);
    fputc('\n', f);
    roff(f, *about ? about : "\\&");
    if (*more) fputs(" (", f), roff(f, more), fputc(')', f);
    fputc('\n', f);
}

static void page_program(FILE *f, const void *all) {
    const cli_verb *const *verbs = all;
    head(f, "carom", 1, title);
    fputs(".SH SYNOPSIS\n.B carom\n.I COMMAND\n[arguments and options]\n.SH COMMANDS\n", f);
    for (int i = 0; verbs[i]; ++i) {
        char usage[64];
        snprintf(usage, sizeof usage, "carom %s %s", verbs[i]->name, verbs[i]->arguments);
        item(f, usage, verbs[i]->about, "");
    }
    fputs(".SH EXIT STATUS\n", f);
    roff(f, manual_exit_status);
    fputs("\n.SH SEE ALSO\n", f);
    for (int i = 0; verbs[i]; ++i) fprintf(f, ".BR carom\\-%s (1),\n", verbs[i]->name);
    fputs(".BR carom\\-model (5)\n", f);
}

static void page_verb(FILE *f, const void *verb) {
    const cli_verb *v = verb;
    char name[40];
    snprintf(name, sizeof name, "carom-%s", v->name);
    head(f, name, 1, v->about);
    fprintf(f, ".SH SYNOPSIS\n.B carom %s\n[options] ", v->name);
    roff(f, v->arguments);
    fputc('\n', f);
    if (v->text) {
        fputs(".SH DESCRIPTION\n", f);
        roff(f, v->text);
        fputc('\n', f);
    }
    if (v->options && v->options[0].name) fputs(".SH OPTIONS\n", f);
    for (const cli_option *o = v->options; o && o->name; ++o) {
        char usage[80];
        snprintf(usage, sizeof usage, "%s%c%s--%s%s%s", o->letter ? "-" : "", o->letter ? o->letter : ' ',
                 o->letter ? ", " : "", o->name, o->value ? " " : "", o->value ? o->value : "");
        item(f, usage + (o->letter ? 0 : 1), o->about, o->repeat ? "may be given several times" : "");
    }
    fputs(".SH EXIT STATUS\n", f);
    roff(f, manual_exit_status);
    fputs("\n.SH SEE ALSO\n.BR carom (1)\n", f);
}

static void page_model(FILE *f, const void *none) {
    (void)none;
    head(f, "carom-model", 5, "the model file of carom");
    for (const key_group *const *g = carom_key_groups; *g; ++g) {
        fputs(".SH ", f);
        roff(f, *(*g)->place ? (*g)->place : "SECTIONS");
        fputc('\n', f);
        roff(f, (*g)->about);
        fputc('\n', f);
        for (const carom_key *k = (*g)->keys; k->name; ++k) {
            char more[100];
            snprintf(more, sizeof more, "%s%s%s%s", value_of(k), *k->fallback ? "; " : "",
                     *k->fallback ? default_of(k) : "", k->fallback);
            item(f, k->name, k->about, more);
        }
    }
    fputs(".SH TYPES OF JOINTS\n", f);
    for (const key_word *w = carom_key_joint_types; w->name; ++w) item(f, w->name, w->about, "");
    fputs(".SH FUNCTIONS\n", f);
    for (const key_word *w = carom_key_functions; w->name; ++w) item(f, w->name, w->about, w->arguments);
    fputs(".SH SEE ALSO\n.BR carom (1)\n", f);
}

static bool page(const char *folder, const char *name, void (*write)(FILE *f, const void *user), const void *user) {
    char file[4200];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *f = fopen(file, "w");
    if (f) write(f, user);
    bool good = f && !ferror(f);
    if (f) good = fclose(f) == 0 && good;
    if (!good) cli_say("cannot write %s: %s", file, strerror(errno));
    return good;
}

bool manual_pages(const cli_verb *const *verbs, const char *folder) {
    if (strlen(folder) > 4000 || (mkdir(folder, 0777) != 0 && errno != EEXIST)) {
        cli_say("cannot create the directory %.200s: %s", folder, strerror(errno));
        return false;
    }
    bool good = page(folder, "carom.1", page_program, verbs) && page(folder, "carom-model.5", page_model, NULL);
    for (int i = 0; verbs[i] && good; ++i) {
        char name[60];
        snprintf(name, sizeof name, "carom-%s.1", verbs[i]->name);
        good = page(folder, name, page_verb, verbs[i]);
    }
    return good;
}
