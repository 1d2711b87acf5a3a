// check_equations.c: every equation tag such as (MID-3) in a comment of the sources stands in docs/*.md, and
// every tag in the pages of methods (METHODS.md, methods-*.md, solvers.md) is used in the sources
// and names one equation only.
//
// A tag: two to four capitals, a dash, a number, perhaps a letter, in parentheses.  It names the equation of an
// indented line that ends with it, behind at least two blanks.
#include "sources.h"
#include <ctype.h>

enum { MOST = 4096, LENGTH = 16 };

typedef struct tag {
    char name[LENGTH];
    char where[256]; // first place
    int line;
} tag;

typedef struct tags {
    tag tag[MOST];
    int n;
} tags;

static int find(const tags *set, const char *name) {
    for (int i = 0; i < set->n; ++i)
        if (strcmp(set->tag[i].name, name) == 0) return i;
    return -1;
}

// Length of the tag that starts at s, its parentheses included; 0 when there is none.
static size_t tag_length(const char *s) {
    const char *at = s + 1;
    while (isupper((unsigned char)*at)) ++at;
    if (at - s - 1 < 2 || at - s - 1 > 4 || *at++ != '-' || !isdigit((unsigned char)*at)) return 0;
    while (isdigit((unsigned char)*at)) ++at;
    if (islower((unsigned char)*at)) ++at;
    return *at == ')' ? (size_t)(at + 1 - s) : 0;
}

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; ++text) line += *text == '\n';
    return line;
}

static void collect(tags *set, const char *path, const char *text) {
    for (const char *s = text; (s = strchr(s, '(')); ++s) {
        const size_t n = tag_length(s);
        if (n == 0 || n >= LENGTH) continue;
        tag t = {.line = line_of(text, s)};
        memcpy(t.name, s, n);
        if (find(set, t.name) >= 0) continue;
        snprintf(t.where, sizeof t.where, "%s", path);
        if (set->n == MOST) {
            printf("more than %d tags; raise MOST\n", (int)MOST);
            exit(1);
        }
        set->tag[set->n++] = t;
    }
}

static void collect_source(void *user, const char *path, char *text) {
    blank(text, true);
    collect(user, path, text);
}

static void collect_page(void *user, const char *path, char *text) {
    collect(user, path, text);
}

// Pages that define equations; what others quote is defined there.
static bool defines(const char *path) {
    const char *name = strrchr(path, '/') + 1;
    return strncmp(name, "methods-", 8) == 0 || strcmp(name, "METHODS.md") == 0 || strcmp(name, "solvers.md") == 0;
}

static void collect_methods(void *user, const char *path, char *text) {
    if (defines(path)) collect(user, path, text);
}

typedef struct definitions {
    tags set;
    int faults;
} definitions;

static void collect_definitions(void *user, const char *path, char *text) {
    definitions *d = user;
    int line = 1;
    for (char *s = text, *end; defines(path) && *s; s = end + (*end == '\n'), ++line) {
        end = s + strcspn(s, "\n");
        const char *last = end;
        while (last > s && last[-1] == ' ') --last;
        const char *at = last;
        while (at > s && *at != '(') --at;
        if (strncmp(s, "    ", 4) != 0 || at < s + 6 || at[-1] != ' ' || at[-2] != ' ' ||
            tag_length(at) != (size_t)(last - at) || last - at >= LENGTH)
            continue;
        tag t = {.line = line};
        memcpy(t.name, at, (size_t)(last - at));
        snprintf(t.where, sizeof t.where, "%s", path);
        const int first = find(&d->set, t.name);
        if (first >= 0)
            printf("%s:%d: %s names another equation in %s:%d; give one of them a tag of its own\n", path, line, t.name,
                   d->set.tag[first].where, d->set.tag[first].line),
                ++d->faults;
        else if (d->set.n < MOST) d->set.tag[d->set.n++] = t;
    }
}

static int missing(const tags *from, const tags *in, const char *what) {
    int faults = 0;
    for (int i = 0; i < from->n; ++i) {
        if (find(in, from->tag[i].name) >= 0) continue;
        printf("%s:%d: %s %s\n", from->tag[i].where, from->tag[i].line, from->tag[i].name, what);
        ++faults;
    }
    return faults;
}

int main(void) {
    static tags sources, pages, methods;
    static definitions defined;
    walk(CAROM_SOURCE_DIR "/src", ".c|.h|.def|.inc", collect_source, &sources);
    walk(CAROM_SOURCE_DIR "/include", ".h", collect_source, &sources);
    walk(CAROM_SOURCE_DIR "/docs", ".md", collect_page, &pages);
    walk(CAROM_SOURCE_DIR "/docs", ".md", collect_methods, &methods);
    walk(CAROM_SOURCE_DIR "/docs", ".md", collect_definitions, &defined);
    int faults = missing(&sources, &methods, "stands in no page of methods");
    faults += missing(&pages, &methods, "is defined in no page of methods");
    faults += missing(&methods, &sources, "is used nowhere in src/ and include/");
    faults += defined.faults;
    if (sources.n == 0 || methods.n == 0 || defined.set.n == 0) {
        printf("no tags found; is this the source tree?\n");
        ++faults;
    }
    printf("%d tags in the sources, %d in the pages of methods, %d of them with an equation, %d faults\n", sources.n,
           methods.n, defined.set.n, faults);
    return faults ? 1 : 0;
}
