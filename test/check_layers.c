// check_layers.c: holds the sources to the layers, and each layer to what it may use.
//
// A file in src/<layer>/ includes private headers "layer/file.h" and public headers <carom/x.h> of its own or
// an earlier layer only; only src/sparse uses SuiteSparse, only src/read reads YAML, only src/event/cvode.c SUNDIALS,
// only src/io HDF5 and files; the library neither prints nor ends the program; schemes, solvers and contacts ask the
// heap for nothing.  Public headers obey the same order.  What one file uses of another is declared in a header: no
// `extern` in a source file.  Names of schemes stand in their tables and in scheme/advice.h alone: other layers of the
// library ask a scheme's table what it can do, and take names for advice from there.
#include "sources.h"

static const char *const layers[] = {"base",   "linalg",   "expr",  "system", "flex",   "collide", "contact",
                                     "solver", "scheme", "event",    "sim",   "diagnosis", "sparse",  "mech",
                                     "read",   "model",  "derive",   "build", "run",       "io",      "compile",
                                     "study",  "sweep",  "dynamics", "fmu",   "cli",       "play"};
enum { LAYERS = sizeof layers / sizeof *layers, UNKNOWN = -1 };

// Which layer a public header belongs to; carom.h gathers all, so only the program may take it.
static const struct {
    const char *header, *layer;
} owners[] = {{"status", "base"},       {"version", "base"},     {"types", "base"},
              {"observe", "sim"},       {"inspect", "model"},    {"record", "io"},        {"estimate", "study"},
              {"binding", "dynamics"},     {"arena", "base"},       {"option", "base"},
              {"matrix", "linalg"},     {"expr", "expr"},        {"team", "base"},        {"system", "system"},
              {"difference", "system"}, {"functions", "system"}, {"flex", "flex"},        {"structure", "flex"},
              {"problem", "contact"},   {"scheme", "scheme"},    {"sim", "sim"},          {"sparse", "sparse"},
              {"mech", "mech"},         {"model", "model"},      {"variation", "derive"}, {"draw", "derive"},
              {"build", "build"},       {"event", "event"},      {"run", "run"},          {"table", "io"},
              {"result", "io"},         {"problem_file", "io"},  {"compile", "compile"},  {"sweep", "sweep"},
              {"book", "sweep"},        {"study", "study"},      {"layout", "dynamics"},  {"dynamics", "dynamics"},
              {"implicit", "scheme"},   {"carom", "dynamics"}};

static const char *const printing[] = {"printf", "vprintf", "puts",       "putchar", "perror",
                                       "exit",   "_exit",   "quick_exit", "abort"};
static const char *const consoles[] = {"stdin", "stdout", "stderr"};
static const char *const streams[] = {"fprintf", "vfprintf", "fputs", "fputc", "fwrite", "fopen", "fread"};
static const char *const localised[] = {"strtod", "strtof", "strtold", "atof", "setlocale", "localeconv"};
static const char *const heap[] = {"malloc",         "calloc", "realloc", "aligned_alloc",
                                   "posix_memalign", "strdup", "alloca"};

typedef struct check {
    const char *src; // path of src/
    int faults;
    int seen[LAYERS]; // files looked at
    char scheme[64][40]; // their names
    int nschemes;
} check;

static int layer_of(const char *name, size_t length) {
    for (int i = 0; i < LAYERS; ++i)
        if (strlen(layers[i]) == length && memcmp(layers[i], name, length) == 0) return i;
    return UNKNOWN;
}

static int owner_of(const char *header, size_t length) {
    for (size_t i = 0; i < sizeof owners / sizeof *owners; ++i)
        if (strlen(owners[i].header) == length && memcmp(owners[i].header, header, length) == 0)
            return layer_of(owners[i].layer, strlen(owners[i].layer));
    return UNKNOWN;
}

enum { WIDEST = 120 }; // columns of a line

static void fault(check *c, const char *path, int line, const char *what, const char *name, size_t length) {
    printf("%s:%d: %s %.*s\n", path, line, what, (int)length, name);
    ++c->faults;
}

static void check_include(check *c, const char *path, int line, int layer, const char *name, size_t length) {
    const char *slash = memchr(name, '/', length);
    if (length > 6 && memcmp(name, "carom/", 6) == 0) {
        const int owner = owner_of(name + 6, length - 6 - 2); // without ".h"
        if (owner == UNKNOWN) fault(c, path, line, "no layer owns the public header", name, length);
        else if (owner > layer) fault(c, path, line, "public header of a later layer:", name, length);
    } else if (slash) {
        const int owner = layer_of(name, (size_t)(slash - name));
        if (owner > layer) fault(c, path, line, "private header of a later layer:", name, length);
    }
    if (length > 3 && memcmp(name, "../", 3) == 0) fault(c, path, line, "a path out of the folder:", name, length);
    if (length == 6 && memcmp(name, "yaml.h", 6) == 0 && layer != layer_of("read", 4))
        fault(c, path, line, "only src/read may include", name, length);
    if (((length >= 5 && memcmp(name, "cvode", 5) == 0) || (length >= 3 && memcmp(name, "sun", 3) == 0)) &&
        !strstr(path, "/src/event/cvode.c"))
        fault(c, path, line, "only src/event/cvode.c may include", name, length);
    if (((length == 5 && memcmp(name, "klu.h", 5) == 0) || (length == 5 && memcmp(name, "amd.h", 5) == 0)) &&
        layer != layer_of("sparse", 6))
        fault(c, path, line, "only src/sparse may include", name, length);
    if (length >= 6 && memcmp(name, "hdf5", 4) == 0 && layer != layer_of("io", 2))
        fault(c, path, line, "only src/io may include", name, length);
}

static void check_includes(check *c, const char *path, const char *text, int layer) {
    int line = 1;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n', ++line) {
        const char *s = at + strspn(at, " \t");
        if (*s++ != '#') continue;
        s += strspn(s, " \t");
        if (strncmp(s, "include", 7) != 0) continue;
        s += 7 + strspn(s + 7, " \t");
        if (*s != '"' && *s != '<') continue;
        check_include(c, path, line, layer, s + 1, strcspn(s + 1, "\">\n"));
    }
}

static bool letter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool among(const char *const *names, size_t count, const char *word, size_t length) {
    for (size_t i = 0; i < count; ++i)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0) return true;
    return false;
}

#define AMONG(names, word, length) among(names, sizeof names / sizeof *names, word, length)

// The words of code without comments and strings.
static void check_words(check *c, const char *path, const char *code, int layer) {
    const bool library = layer < layer_of("cli", 3), files = layer >= layer_of("io", 2);
    const bool step = layer == layer_of("contact", 7) || layer == layer_of("solver", 6) ||
                      layer == layer_of("scheme", 6) || (layer == layer_of("event", 5) && !strstr(path, "/cvode.c"));
    int line = 1;
    for (const char *at = code; *at;) {
        size_t n = 0;
        while (letter(at[n])) ++n;
        if (n == 0) {
            line += *at++ == '\n';
            continue;
        }
        const bool member = at > code && (at[-1] == '.' || at[-1] == '>');
        const bool call = !member && at[n + strspn(at + n, " \t")] == '(';
        if (library && AMONG(consoles, at, n)) fault(c, path, line, "the library must not use", at, n);
        if (library && call && AMONG(printing, at, n)) fault(c, path, line, "the library must not call", at, n);
        if (!files && call && AMONG(streams, at, n)) fault(c, path, line, "only src/io has files:", at, n);
        if (call && AMONG(localised, at, n) && !strstr(path, "base/number.c"))
            fault(c, path, line, "depends on the locale, use base/number.h:", at, n);
        if (n == 6 && memcmp(at, "extern", 6) == 0 && strcmp(path + strlen(path) - 2, ".c") == 0 &&
            strncmp(at + n, " char **environ", 15) != 0)
            fault(c, path, line, "a declaration that passes by the headers:", at, n);
        if (step && call && AMONG(heap, at, n)) fault(c, path, line, "this layer must not ask the heap:", at, n);
        at += n;
    }
}

// -- names of schemes ----------------------------------------------------------------------------------------------

// .name = "X" in the tables; names that are words of their own anyway are left out.
static void collect_schemes(void *user, const char *path, char *text) {
    (void)path;
    static const char *const words[] = {"auto", "mixed", "splitting"};
    check *c = user;
    if (!strstr(text, "const carom_scheme ")) return;
    for (const char *at = text; (at = strstr(at, "  .name = \"")); ++at) { // options have a brace before it
        const char *name = at + strlen("  .name = \"");
        const size_t n = strcspn(name, "\"");
        if (AMONG(words, name, n) || n >= sizeof c->scheme[0] || c->nschemes == 64) continue;
        snprintf(c->scheme[c->nschemes++], sizeof c->scheme[0], "%.*s", (int)n, name);
    }
}

static bool part_of_word(char c) { return letter(c) || c == '-'; }

// String literals of a line of code that hold the name of a scheme.
static void check_schemes(check *c, const char *path, const char *text) {
    int line = 1;
    bool inside = false;
    for (const char *at = text; *at; ++at) {
        line += *at == '\n';
        if (!inside && strncmp(at, "//", 2) == 0) at += strcspn(at, "\n") - 1;
        else if (!inside && *at == '\'') at += at[1] == '\\' ? 3 : 2;
        else if (inside && *at == '\\') ++at;
        else if (*at == '"') inside = !inside;
        else if (inside && !part_of_word(at[-1]))
            for (int i = 0; i < c->nschemes; ++i) {
                const size_t n = strlen(c->scheme[i]);
                if (strncmp(at, c->scheme[i], n) == 0 && !part_of_word(at[n]))
                    fault(c, path, line, "a scheme's name outside the tables (scheme/advice.h):", at, n);
            }
    }
}

static void check_width(void *user, const char *path, char *text) {
    int line = 1;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n', ++line)
        if (strcspn(at, "\n") > WIDEST) fault(user, path, line, "more than 120 columns:", at, 40);
}

static void check_file(void *user, const char *path, char *text) {
    check *c = user;
    const char *folder = path + strlen(c->src) + 1, *slash = strchr(folder, '/');
    const int layer = slash ? layer_of(folder, (size_t)(slash - folder)) : UNKNOWN;
    if (layer == UNKNOWN) {
        fault(c, path, 1, "a source file outside the layers:", folder, strlen(folder));
        return;
    }
    ++c->seen[layer];
    check_width(c, path, text);
    check_includes(c, path, text, layer);
    if (layer != layer_of("scheme", 6) && layer != layer_of("event", 5) && layer < layer_of("cli", 3))
        check_schemes(c, path, text);
    blank(text, false);
    check_words(c, path, text, layer);
}

static void check_header(void *user, const char *path, char *text) {
    check *c = user;
    const char *name = strrchr(path, '/') + 1;
    const int layer = owner_of(name, strlen(name) - 2);
    if (layer == UNKNOWN) fault(c, path, 1, "no layer owns the public header", name, strlen(name));
    else check_includes(c, path, text, layer);
    check_width(c, path, text);
}

int main(void) {
    check c = {.src = CAROM_SOURCE_DIR "/src"};
    walk(CAROM_SOURCE_DIR "/src/scheme", ".c|.h", collect_schemes, &c);
    walk(CAROM_SOURCE_DIR "/src/event", ".c|.h", collect_schemes, &c);
    if (c.nschemes < 15) fault(&c, c.src, 1, "hardly any scheme was found", "", 0);
    const int files =
        walk(c.src, ".c|.h|.def", check_file, &c) + walk(CAROM_SOURCE_DIR "/include/carom", ".h", check_header, &c);
    walk(CAROM_SOURCE_DIR "/test", ".c|.h", check_width, &c);
    walk(CAROM_SOURCE_DIR "/bench", ".c|.h", check_width, &c);
    walk(CAROM_SOURCE_DIR "/examples", ".c|.h", check_width, &c);
    for (int i = 0; i < LAYERS; ++i) {
        if (c.seen[i]) continue;
        printf("src/%s: no sources found\n", layers[i]);
        ++c.faults;
    }
    printf("%d files in %d layers, %d faults\n", files, (int)LAYERS, c.faults);
    return c.faults ? 1 : 0;
}
