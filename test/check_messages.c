// check_messages.c: the messages of carom, all in one file, to be read as a whole; and words that they do not use.
//
//     check_messages FILE
//
// A message is the first text that is handed to one of the functions below.  Pages, public headers and messages are
// read as a whole: a phrase may run over the end of a line.  The library names settings, as `end`; options of the
// command line (--end) are for the program to name (src/cli/say.c), and stand in none of the library's texts.
#include "sources.h"
#include <ctype.h>

static const char *const functions[] = {"carom_fail",     "carom_fault", "carom_model_fault",
                                        "carom_exam_say", "carom_retry", "cli_say",
                                        "refuse",         "fail",        "say",
                                        "tell",           "FAIL"};

// Left: what messages and pages do not say; right: what they say instead.
static const struct { const char *not, *but; } words[] = {
    {"given from outside", "external work"},
    {"cannot treat", "does not support"},
    {"thrown away", "rejected"},
    {"as told", "prescribed"},
    {"who watches", "the observer"},
    {"so-manieth", "every n-th"},
    {"that others say already", "redundant"},
    {"an own model", "your own model"},
    {"nothing explains", "unaccounted"},
    {"nobody can explain", "unaccounted for"},
    {"not made for size", "not designed for large systems"},
    {"of who ", "a noun"},
    {"so that who ", "a noun"},
    {"For who ", "for a noun"},
    {"hoever ", "a noun"},
    {"omebody", "a noun"},
    {"obody", "a noun, or none"},
    {"so many ", "a number of"},
    {"as ever ", "as before"},
};

typedef struct listing {
    FILE *to;
    int messages, texts, faults;
} listing;

static bool letter(char c) { return c == '_' || isalnum((unsigned char)c); }

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; ++text) line += *text == '\n';
    return line;
}

// The string literal at `at` and those that follow it, joined, without quotes; where they end.
static const char *literal(const char *at, char *to, size_t size) {
    size_t used = 0;
    while (*at == '"') {
        for (++at; *at && *at != '"'; ++at) {
            if (*at == '\\' && at[1]) {
                if (used + 2 < size && at[1] != 'n') to[used++] = at[1];
                ++at;
            } else if (used + 2 < size) {
                to[used++] = *at;
            }
        }
        if (*at) ++at;
        at += strspn(at, " \t\n");
    }
    to[used] = 0;
    return at;
}

static void check_words(listing *l, const char *path, int line, const char *text) {
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (!strstr(text, words[i].not)) continue;
        printf("%s:%d: '%s': say '%s'\n", path, line, words[i].not, words[i].but);
        ++l->faults;
    }
}

// Files whose texts name options of other programs.
static const struct { const char *file, *why; } others[] = {
    {"/src/compile/cuda.c", "arguments of nvcc"},
    {"/src/fmu/export.c", "a command of cmake, in a file of an FMU"},
};

// Texts of the library that name an option of the command line.
static void check_options(listing *l, const char *path, const char *text) {
    if (strstr(path, "/src/cli/") || strstr(path, "/src/play/")) return;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (strstr(path, others[i].file)) return;
    for (const char *at = text; *at; ++at) {
        if (strncmp(at, "//", 2) == 0) at += strcspn(at, "\n");
        else if (*at == '\'' && at[1] && at[2] == '\'') at += 2;
        else if (*at == '\'' && at[1] == '\\') at += 3;
        if (!*at) return;
        if (*at != '"') continue;
        char literals[8000];
        const char *const from = at;
        at = literal(at, literals, sizeof literals) - 1;
        for (const char *dash = literals; (dash = strstr(dash, "--")); dash += 2) {
            if (!islower((unsigned char)dash[2]) || !islower((unsigned char)dash[3])) continue; // --e: code
            printf("%s:%d: '%.20s': name the setting, as `end`; the command line adds the dashes\n", path,
                   line_of(text, from), dash);
            ++l->faults;
        }
    }
}

// The words of a page or of the comments of a header, with one blank between them.
static void check_text(void *user, const char *path, char *text) {
    char *all = malloc(strlen(text) + 2), *to = all;
    size_t *from = malloc((strlen(text) + 2) * sizeof *from);
    if (!all || !from) abort();
    for (const char *at = text; *at; ++at) {
        const bool slash = *at == '/' && (at[1] == '/' || (at > text && at[-1] == '/')),
                   blank = slash || isspace((unsigned char)*at);
        if (blank && (to == all || to[-1] == ' ')) continue;
        from[to - all] = (size_t)(at - text);
        *to++ = blank ? ' ' : *at;
    }
    *to = 0;
    listing *l = user;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        for (const char *at = all; (at = strstr(at, words[i].not)); ++at) {
            printf("%s:%d: '%s': say '%s'\n", path, line_of(text, text + from[at - all]), words[i].not, words[i].but);
            ++l->faults;
        }
    ++l->texts;
    free(all), free(from);
}

// The first string literal among the arguments of the call whose parenthesis is at `open`; NULL: none.
static const char *first_text(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; ++at) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) return NULL;
        if (*at == '\'' && at[1] && at[2] == '\'') at += 2;
        if (*at == '"') return at;
    }
    return NULL;
}

static void list_file(void *user, const char *path, char *text) {
    listing *l = user;
    check_options(l, path, text);
    for (const char *at = text; *at; ++at) {
        if (at > text && letter(at[-1])) continue;
        for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
            const size_t n = strlen(functions[i]);
            if (strncmp(at, functions[i], n) != 0 || at[n] != '(') continue;
            char message[2000];
            const char *from = first_text(at + n);
            if (!from) break;
            literal(from, message, sizeof message);
            if (strlen(message) < 12 || !strchr(message, ' ')) break; // a format, not a sentence
            fprintf(l->to, "%s:%d: %s\n", path + strlen(CAROM_SOURCE_DIR) + 1, line_of(text, from), message);
            check_words(l, path, line_of(text, from), message);
            ++l->messages;
            break;
        }
    }
}

int main(int argc, char **argv) {
    listing l = {.to = argc > 1 ? fopen(argv[1], "w") : stdout};
    if (!l.to) return printf("%s cannot be written\n", argv[1]), 1;
    walk(CAROM_SOURCE_DIR "/src", ".c", list_file, &l);
    walk(CAROM_SOURCE_DIR "/docs", ".md", check_text, &l);
    walk(CAROM_SOURCE_DIR "/include", ".h", check_text, &l);
    if (fclose(l.to) != 0) ++l.faults;
    printf("%d messages, %d pages and headers, %d faults\n", l.messages, l.texts, l.faults);
    return l.faults || l.messages < 500 || l.texts < 80;
}
