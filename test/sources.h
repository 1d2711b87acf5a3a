// sources.h: for the checks of the source text: walk a folder, read a file, blank out what is not code.
#pragma once
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef void visit_file(void *user, const char *path, char *text);

// Does name end in one of the endings "a|b|c"?
static bool ends_with(const char *name, const char *endings) {
    const size_t n = strlen(name);
    for (const char *at = endings; *at;) {
        const size_t k = strcspn(at, "|");
        if (n >= k && memcmp(name + n - k, at, k) == 0) return true;
        at += k + (at[k] == '|');
    }
    return false;
}

// The whole file, 0-terminated; the program ends when it cannot be read.
static char *read_text(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    const long size = ftell(in);
    rewind(in);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, in) != (size_t)size) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    text[size] = 0;
    fclose(in);
    return text;
}

// Calls visit for every file below path with one of the endings (separated by '|').  Returns their number.
static int walk(const char *path, const char *endings, visit_file *visit, void *user) {
    DIR *dir = opendir(path);
    if (!dir) return 0;
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.') continue;
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        struct stat st;
        if (stat(child, &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) {
            n += walk(child, endings, visit, user);
            continue;
        }
        if (!ends_with(e->d_name, endings)) continue;
        char *text = read_text(child);
        visit(user, child, text);
        free(text);
        ++n;
    }
    closedir(dir);
    return n;
}

// Blanks (keeping newlines) comments when `comments`, else everything but comments.  What stands in strings
// and characters is blanked when it is not asked for; it never opens a comment.
static inline void blank(char *text, bool comments) {
    enum { CODE, STRING, CHARACTER, LINE, BLOCK } in = CODE;
    for (char *s = text; *s; ++s) {
        const char c = *s, next = s[1];
        bool comment = in == LINE || in == BLOCK, literal = in == STRING || in == CHARACTER;
        int eat = 0;
        if (in == CODE) {
            if (c == '/' && next == '/') in = LINE, comment = true;
            else if (c == '/' && next == '*') in = BLOCK, comment = true, eat = 1;
            else if (c == '"') in = STRING;
            else if (c == '\'') in = CHARACTER;
        } else if (in == LINE) {
            if (c == '\n') in = CODE;
        } else if (in == BLOCK) {
            if (c == '*' && next == '/') in = CODE, eat = 1;
        } else if (c == '\\' && next) {
            eat = 1;
        } else if (c == (in == STRING ? '"' : '\'')) {
            in = CODE;
            literal = false;
        }
        const bool keep = comments ? comment : !comment && !literal;
        for (int k = 0; k <= eat; ++k)
            if (!keep && s[k] != '\n') s[k] = ' ';
        s += eat;
    }
}
