// options.c: one parser for all verbs.  --name value, --name=value, -x value; `--` ends options; `-` is an argument.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "base/option.h"
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find(const cli_verb *verb, const char *name, size_t length) {
    for (int i = 0; verb->options && verb->options[i].name; ++i)
        if (strlen(verb->options[i].name) == length && memcmp(verb->options[i].name, name, length) == 0) return i;
    return -1;
}

static int find_letter(const cli_verb *verb, char letter) {
    for (int i = 0; verb->options && verb->options[i].name; ++i)
        if (verb->options[i].letter == letter) return i;
    return -1;
}

static const char *option_name(const void *user, int i) {
    const cli_verb *verb = user;
    return verb->options ? verb->options[i].name : NULL;
}

static bool unknown(const cli_verb *verb, const char *arg) {
    char name[64], hint[128];
    const char *bare = arg + strspn(arg, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *near = carom_nearest(name, option_name, verb);
    if (near) snprintf(hint, sizeof hint, "; did you mean --%s?", near);
    else snprintf(hint, sizeof hint, "; `carom help %s` lists them", verb->name);
    cli_say("%s: unknown option %.*s%s", verb->name, (int)strcspn(arg, "="), arg, hint);
    return false;
}

static bool take(cli_args *a, int option, const char *value) {
    const cli_option *o = &a->verb->options[option];
    for (int i = 0; i < a->ngiven && !o->repeat; ++i) {
        if (a->given[i].option == option) {
            cli_say("--%s is given twice", o->name);
            return false;
        }
    }
    a->given[a->ngiven++] = (cli_given){option, value};
    return true;
}

// Is it one of [one|two|three]?
static bool is_word(const char *list, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = list + 1; *at; at += strcspn(at, "|]") + 1)
        if (n > 0 && strncmp(at, word, n) == 0 && (at[n] == '|' || at[n] == ']')) return true;
    return false;
}

// One option, its value perhaps in the next argument.
static bool option(cli_args *a, int argc, char **argv, int *i) {
    const char *arg = argv[*i], *value = NULL;
    int k = -1;
    if (arg[1] == '-') {
        const char *equals = strchr(arg, '=');
        k = find(a->verb, arg + 2, equals ? (size_t)(equals - arg) - 2 : strlen(arg) - 2);
        value = equals ? equals + 1 : NULL;
    } else {
        k = find_letter(a->verb, arg[1]);
        if (k >= 0 && arg[2]) value = arg + 2;
    }
    if (k < 0) return unknown(a->verb, arg);
    const cli_option *o = &a->verb->options[k];
    if (!o->value) {
        if (value) {
            cli_say("--%s takes no value", o->name);
            return false;
        }
        return take(a, k, "");
    }
    if (!value && o->value[0] == '[') { // it may be left out: the next argument belongs to it if it is one of its words
        const bool more = *i + 1 < argc, word = more && is_word(o->value, argv[*i + 1]);
        if (more && !word && argv[*i + 1][0] != '-' && a->n >= a->verb->most) { // it would be one argument too many
            cli_say("--%s: expected %s, got '%s'", o->name, o->value, argv[*i + 1]);
            return false;
        }
        return take(a, k, word ? argv[++*i] : "");
    }
    if (!value && *i + 1 < argc) value = argv[++*i];
    if (!value) {
        cli_say("--%s needs a value: --%s %s", o->name, o->name, o->value);
        return false;
    }
    return take(a, k, value);
}

bool cli_parse(cli_args *a, const cli_verb *verb, int argc, char **argv, bool *help) {
    *a = (cli_args){.verb = verb};
    *help = false;
    a->word = calloc((size_t)argc + 1, sizeof *a->word);
    a->given = calloc((size_t)argc + 1, sizeof *a->given);
    if (!a->word || !a->given) return false;
    bool options = true;
    for (int i = 0; i < argc; ++i) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            *help = true;
            return false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (!option(a, argc, argv, &i)) return false;
        } else {
            a->word[a->n++] = argv[i];
        }
    }
    if (a->n > verb->most) {
        cli_say("%s: unexpected argument '%s'; usage: carom %s %s", verb->name, a->word[verb->most], verb->name,
                verb->arguments);
        return false;
    }
    if (a->n < verb->least) {
        const char *missing = verb->arguments;
        for (int i = 0; i < a->n && strchr(missing, ' '); ++i) missing = strchr(missing, ' ') + 1;
        cli_say("%s needs a %.*s; usage: carom %s %s", verb->name, (int)strcspn(missing, ". "), missing, verb->name,
                verb->arguments);
        return false;
    }
    return true;
}

void cli_free(cli_args *a) {
    free(a->word);
    free(a->given);
}

const char *cli_value(const cli_args *a, const char *name) {
    const int k = find(a->verb, name, strlen(name));
    for (int i = 0; i < a->ngiven; ++i)
        if (a->given[i].option == k) return a->given[i].value;
    return NULL;
}

bool cli_has(const cli_args *a, const char *name) { return cli_value(a, name) != NULL; }

const char **cli_split(char *own, char separator) {
    size_t n = 2;
    for (const char *s = own; *s; ++s) n += *s == separator;
    const char **list = calloc(n, sizeof *list);
    if (!list) abort();
    char *next = NULL;
    n = 0;
    for (char *part = strtok_r(own, (const char[]){separator, 0}, &next); part;
         part = strtok_r(NULL, (const char[]){separator, 0}, &next))
        list[n++] = part;
    return list;
}

const char **cli_list(const cli_args *a, const char *name) {
    const int k = find(a->verb, name, strlen(name)), input = strcmp(name, "set") == 0 ? find(a->verb, "input", 5) : -1;
    // signals of inputs are set like parameters
    const int also = input >= 0 && strchr(a->verb->options[input].value, '=') ? input : -1;
    int n = 0;
    const char **list = calloc((size_t)a->ngiven + 1, sizeof *list);
    if (!list) abort();
    for (int i = 0; i < a->ngiven; ++i)
        if (a->given[i].option == k || (also >= 0 && a->given[i].option == also)) list[n++] = a->given[i].value;
    return list;
}

bool cli_number(const cli_args *a, const char *name, double *x) {
    const char *text = cli_value(a, name);
    if (!text) return true;
    char *end = NULL;
    const double value = carom_number(text, &end);
    if (end == text || *end || !isfinite(value)) {
        cli_say("--%s: expected a number, got '%s'", name, text);
        return false;
    }
    *x = value;
    return true;
}

static bool above_0(const cli_args *a, const char *name, double value, double *x) {
    if (!(value > 0)) {
        cli_say("--%s must be positive, got %s", name, cli_value(a, name));
        return false;
    }
    if (cli_has(a, name)) *x = value;
    return true;
}

bool cli_positive(const cli_args *a, const char *name, double *x) {
    double value = 1;
    return cli_number(a, name, &value) && above_0(a, name, value, x);
}

bool cli_whole(const cli_args *a, const char *name, long most, long *n) {
    double x = 1;
    if (!cli_positive(a, name, &x)) return false;
    if (x != floor(x) || x > (double)most)
        return cli_say("--%s: expected an integer up to %ld, got %s", name, most, cli_value(a, name)), false;
    if (cli_has(a, name)) *n = (long)x;
    return true;
}

bool cli_read_time(const char *name, const char *text, double *x) {
    carom_error err = {0};
    if (carom_model_quantity(NULL, "t", text, strlen(text), x, &err)) return true;
    cli_say("--%s: %s", name, err.text);
    return false;
}

void cli_wrap(FILE *f, const char *text, int indent) {
    int at = indent, blanks = 0;
    while (*text) {
        const int n = (int)strcspn(text, " \n");
        if (at + blanks + n > 100 && at > indent) {
            fprintf(f, "\n%*s", indent, "");
            at = indent;
        } else {
            fprintf(f, "%*s", blanks, "");
            at += blanks;
        }
        fprintf(f, "%.*s", n, text);
        at += n;
        text += n;
        const bool paragraph = text[0] == '\n' && text[1] == '\n';
        if (paragraph) fprintf(f, "\n\n%*s", indent, ""), at = indent;
        blanks = paragraph ? 0 : *text == '\n' ? 1 : (int)strspn(text, " ");
        text += strspn(text, " \n");
    }
    fputc('\n', f);
}

void cli_verb_help(FILE *f, const cli_verb *verb) {
    enum { HEAD = 24 }; // columns of an option and its value
    fprintf(f, "usage: carom %s %s\n\n", verb->name, verb->arguments), cli_wrap(f, verb->about, 0);
    if (verb->text) fputc('\n', f), cli_wrap(f, verb->text, 0);
    if (!verb->options || !verb->options[0].name) return;
    fputs("\noptions:\n", f);
    for (const cli_option *o = verb->options; o->name; ++o) {
        char head[64];
        snprintf(head, sizeof head, "%s%c%s--%s%s%s", o->letter ? "-" : "", o->letter ? o->letter : ' ',
                 o->letter ? ", " : "   ", o->name, o->value ? " " : "", o->value ? o->value : "");
        if (strlen(head) > HEAD) fprintf(f, "  %s\n%*s", head, HEAD + 3, "");
        else fprintf(f, "  %-*s ", HEAD, head);
        cli_wrap(f, o->about, HEAD + 3);
    }
}
