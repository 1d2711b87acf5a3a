// check_circles.c: files of one folder of src/ use each other one way: what a file uses can be read, tested and
// understood without it.
//
// A file uses another one whose header it includes, and one that defines a name it mentions.  Names are functions and
// tables that are not static, as their definitions begin a line.  Folders below one of src/ count as part of it.
#include "sources.h"

enum { MOST_FILES = 2000, MOST_NAMES = 20000, NAME = 80 };

typedef struct name { char text[NAME]; int file; } name;

typedef struct check {
    const char *src; // path of src/
    int files, names;
    char *path[MOST_FILES]; // below src/
    name name[MOST_NAMES];  // sorted by text once all are known
    bool uses[MOST_FILES][MOST_FILES];
    int order[MOST_FILES], low[MOST_FILES], stack[MOST_FILES], depth, count; // of the search for circles
    bool on[MOST_FILES];
    int faults;
} check;

static bool letter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static size_t word_length(const char *at) {
    size_t n = 0;
    while (letter(at[n])) ++n;
    return n;
}

static void stop(const char *why) {
    printf("check_circles: %s\n", why);
    exit(1);
}

static int by_text(const void *a, const void *b) { return strcmp(((const name *)a)->text, ((const name *)b)->text); }

static bool same_folder(const char *a, const char *b) {
    const size_t n = strcspn(a, "/");
    return n == strcspn(b, "/") && memcmp(a, b, n) == 0;
}

// -- what files define ------------------------------------------------------------------------------------------------

static bool begins(const char *at, const char *word) {
    const size_t n = strlen(word);
    return strncmp(at, word, n) == 0 && !letter(at[n]);
}

// Behind the parenthesis that closes the one at `at`.
static const char *behind(const char *at) {
    int depth = 0;
    do {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        ++at;
    } while (*at && depth > 0);
    return at;
}

// The name that a line at the left margin defines, with its length; NULL: it defines none that other files can use.
static const char *defined(const char *line, size_t *length) {
    static const char *const other[] = {"static", "INLINE", "typedef", "extern", "enum", "return", "else", "if", "for"};
    if (!letter(*line)) return NULL;
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i)
        if (begins(line, other[i])) return NULL;
    const char *last = NULL, *at = line;
    for (*length = 0; *at && !strchr("(=;:{[", *at); ++at) {
        const size_t n = word_length(at);
        if (n == 0) continue;
        last = at, *length = n;
        at += n - 1;
    }
    if (!last || *length >= NAME || last == line) return NULL;
    if (*at == '(') at = behind(at);
    else if (*at == '[') at += strcspn(at, "=;{");
    else if (*at != '=') return NULL;
    at += strspn(at, " \t\n");
    return *at == '{' || *at == '=' ? last : NULL;
}

static void collect(void *user, const char *path, char *text) {
    check *c = user;
    if (c->files == MOST_FILES) stop("too many files");
    c->path[c->files] = strdup(path + strlen(c->src) + 1);
    if (!c->path[c->files]) stop("not enough memory");
    blank(text, false);
    for (const char *at = text; ends_with(path, ".c") && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t n = 0;
        const char *word = defined(at, &n);
        if (!word) continue;
        if (c->names == MOST_NAMES) stop("too many names");
        name *to = &c->name[c->names++];
        memcpy(to->text, word, n);
        to->text[n] = 0;
        to->file = c->files;
    }
    ++c->files;
}

// -- what files use ---------------------------------------------------------------------------------------------------

static int file_of(const check *c, const char *path, size_t length) {
    for (int i = 0; i < c->files; ++i)
        if (strlen(c->path[i]) == length && memcmp(c->path[i], path, length) == 0) return i;
    return -1;
}

static void use(check *c, int file, int other) {
    if (other >= 0 && other != file && same_folder(c->path[file], c->path[other])) c->uses[file][other] = true;
}

static void note_includes(check *c, int file, const char *text) {
    for (const char *at = text; (at = strstr(at, "#include \"")); ++at) {
        const char *path = at + strlen("#include \"");
        use(c, file, file_of(c, path, strcspn(path, "\"\n")));
    }
}

static bool is_member(const char *text, const char *at) { return at > text && (at[-1] == '.' || at[-1] == '>'); }

static void note_word(check *c, int file, const char *word, size_t n) {
    name key;
    if (n >= NAME) return;
    memcpy(key.text, word, n);
    key.text[n] = 0;
    const name *found = bsearch(&key, c->name, (size_t)c->names, sizeof *c->name, by_text);
    if (!found) return;
    while (found > c->name && by_text(found - 1, &key) == 0) --found;
    const name *end = c->name + c->names, *own = found;
    for (; own < end && by_text(own, &key) == 0; ++own)
        if (own->file == file) return; // where programs differ, two files may define a name: ranks with MPI and without
    for (; found < end && by_text(found, &key) == 0; ++found) use(c, file, found->file);
}

static void look(void *user, const char *path, char *text) {
    check *c = user;
    const int file = file_of(c, path + strlen(c->src) + 1, strlen(path) - strlen(c->src) - 1);
    if (file < 0) stop("a file has come while the others were read");
    note_includes(c, file, text);
    blank(text, false);
    if (!ends_with(path, ".c")) return; // headers declare what files define
    for (const char *at = text; *at;) {
        const size_t n = word_length(at);
        if (n > 0 && !is_member(text, at)) note_word(c, file, at, n);
        at += n > 0 ? n : 1;
    }
}

// -- circles ----------------------------------------------------------------------------------------------------------

// Files stack[first ..] use each other in a circle.
static void report(check *c, int first) {
    ++c->faults;
    printf("a circle:\n");
    for (int i = first; i < c->depth; ++i)
        for (int k = first; k < c->depth; ++k)
            if (c->uses[c->stack[i]][c->stack[k]])
                printf("    src/%s uses src/%s\n", c->path[c->stack[i]], c->path[c->stack[k]]);
}

// Tarjan's search: files that reach each other come off the stack together.
static void search(check *c, int file) {
    c->order[file] = c->low[file] = ++c->count;
    c->stack[c->depth++] = file;
    c->on[file] = true;
    for (int k = 0; k < c->files; ++k) {
        if (!c->uses[file][k]) continue;
        if (!c->order[k]) search(c, k);
        if (c->on[k] && c->low[k] < c->low[file]) c->low[file] = c->low[k];
    }
    if (c->low[file] != c->order[file]) return;
    int first = c->depth - 1;
    while (c->stack[first] != file) --first;
    if (first < c->depth - 1) report(c, first);
    while (c->depth > first) c->on[c->stack[--c->depth]] = false;
}

int main(void) {
    static check c = {.src = CAROM_SOURCE_DIR "/src"};
    int uses = 0;
    walk(c.src, ".c|.h|.def|.inc", collect, &c);
    qsort(c.name, (size_t)c.names, sizeof *c.name, by_text);
    walk(c.src, ".c|.h|.def|.inc", look, &c);
    for (int i = 0; i < c.files; ++i)
        for (int k = 0; k < c.files; ++k) uses += c.uses[i][k];
    for (int i = 0; i < c.files; ++i)
        if (!c.order[i]) search(&c, i);
    // the sources are elsewhere, or written in another way
    if (c.files < 300 || c.names < 1000 || uses < 1000) printf("too few files, names or uses were found\n"), ++c.faults;
    printf("%d files, %d names, %d uses, %d faults\n", c.files, c.names, uses, c.faults);
    for (int i = 0; i < c.files; ++i) free(c.path[i]);
    return c.faults ? 1 : 0;
}
