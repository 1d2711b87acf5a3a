// test_commands.c: what the program prints and writes, command by command, compared with tables: commands.txt has
// commands as they are used; options.txt every further option by its effect, and what every exporter makes of the
// models of zoo.yaml (zoo1.yaml, zoo2.yaml, ... in the folder of the test), which have every key; branches.txt every
// kind of branch and of curve in two parameters.
//
// Other tests ask whether answers are right.  This one asks whether they are the same as before: every command with
// each of its options, on small models, and every line and number of what it prints and writes as text.  Where a change
// is meant, look at the lines that the test prints, and write the tables anew:
//
//     for t in commands options branches; do build/test/test_commands print $t >new && mv new test/$t.txt; done
//
// Pictures: with options.txt and branches.txt a stand-in for gnuplot gives back its script, with all data, so that
// `.svg` files are texts.
//
// In the table `@ NAME` begins a file, which `@@` ends; `$ ARGUMENTS` is a command; below it stand lines of its output
// (`|`), its complaints (`!`), its exit status (`=`, where it is not 0) and the files that it has written or changed
// (`+`): of texts the number of lines and of numbers, a sum of the numbers with weights, and a sum of all other
// characters.  Numbers may differ by rounding; those on lines with times of a clock and counts of iterations by
// anything; files whose name begins with `raw` are not looked at.
//
// Of a line that begins with `~` only the first word is compared: another processor rounds in other places, and there a
// search ends elsewhere, or constants of exported C are one number that are two here.  On such a processor, with the
// same sources, `test_commands widen TABLE` prints the table with these marks, and `print` keeps them.
#define _POSIX_C_SOURCE 200809L
#include "cli_rig.h"
#include "quick.h"
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

enum { ROOM = 1 << 22 };

// -- lines ------------------------------------------------------------------------------------------------------------

static bool number_at(const char *begin, const char *s) {
    const bool after_name = s > begin && (isalnum((unsigned char)s[-1]) || strchr("_.#", s[-1])); // #444444: a colour
    const char *digit = *s == '-' || *s == '+' ? s + 1 : s;
    return !after_name && (isdigit((unsigned char)*digit) || (*digit == '.' && isdigit((unsigned char)digit[1])));
}

static bool by_the_clock(const char *s) {
    static const char *const words[] = {"\"seconds\"", "\"wall\"", "ns_per_step", "iteration", " ns",    "CPU",
                                        "version",     "started",  "evaluations", "solved",    "  wall "};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (strstr(s, words[i])) return true;
    return false;
}

// A residual of the size of rounding is largest wherever the compiler pleases: what follows it says where.
static const double ROUNDING = 1e-14;
static bool after_residual(const char *begin, const char *s) {
    static const char word[] = "residual ";
    return s - begin >= (long)strlen(word) && strncmp(s - strlen(word), word, strlen(word)) == 0;
}

// The same words, and numbers that differ by no more than rounding and the digits that are printed.
static bool alike(const char *a, const char *b) {
    const char *const a_0 = a, *const b_0 = b;
    const bool free_numbers = by_the_clock(a), aligned = strlen(a) == strlen(b); // a digit more, a space less
    if (strcmp(a, b) == 0) return true;
    while (*a && *b) {
        if (number_at(a_0, a) && number_at(b_0, b)) {
            char *a_end, *b_end;
            const double x = strtod(a, &a_end), y = strtod(b, &b_end);
            if (after_residual(a_0, a) && after_residual(b_0, b) && fmax(x, y) < ROUNDING) return true;
            if (!free_numbers && fabs(x - y) > 3e-6 * fmax(fabs(x), fabs(y)) + 1e-9) return false;
            a = a_end, b = b_end;
        } else if (*a == *b || (free_numbers && isdigit((unsigned char)*a) && isdigit((unsigned char)*b))) { // a date
            ++a, ++b;
        } else if ((free_numbers || aligned) && isspace((unsigned char)*a)) {
            ++a;
        } else if ((free_numbers || aligned) && isspace((unsigned char)*b)) {
            ++b;
        } else {
            return false;
        }
    }
    return *a == *b;
}

// -- files ------------------------------------------------------------------------------------------------------------

typedef struct seen {
    char name[100];
    struct timespec when;
    off_t size;
} seen;
static seen files[400];
static int nfiles;
static bool pictures; // are texts

static bool ends_with(const char *name, const char *end) {
    return strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

// Arrays of a file for ParaView, which stand behind its text as they are in memory.
static const char *digest_of_arrays(const char *content, size_t n) {
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"Float64", 8}, {"Float32", 4}, {"Int64", 8}, {"Int32", 4}, {"UInt8", 1}};
    static char text[200];
    const char *data = strstr(content, "<AppendedData encoding=\"raw\">\n_");
    double sum = 0;
    long arrays = 0, numbers = 0;
    assert_non_null(data);
    data += strlen("<AppendedData encoding=\"raw\">\n_");
    for (const char *s = content; (s = strstr(s, "<DataArray type=\"")) && s < data; ++s) {
        char type[20];
        unsigned long long offset, bytes;
        const char *at = strstr(s, "offset=\""), *end = strchr(s, '>');
        if (!at || at > end) continue;
        assert_int_equal(sscanf(s, "<DataArray type=\"%19[^\"]", type) + sscanf(at, "offset=\"%llu", &offset), 2);
        size_t k = 0;
        while (k < 5 && strcmp(types[k].name, type) != 0) ++k;
        assert_true(k < 5);
        assert_true(data + offset + sizeof bytes <= content + n);
        memcpy(&bytes, data + offset, sizeof bytes);
        assert_true(data + offset + sizeof bytes + bytes <= content + n);
        for (size_t i = 0; i < bytes / types[k].size; ++i) {
            const char *from = data + offset + sizeof bytes + i * types[k].size;
            double x = 0;
            float single;
            int64_t whole;
            int32_t small;
            if (k == 0) memcpy(&x, from, 8);
            if (k == 1) memcpy(&single, from, 4), x = single;
            if (k == 2) memcpy(&whole, from, 8), x = (double)whole;
            if (k == 3) memcpy(&small, from, 4), x = small;
            if (k == 4) x = *(const unsigned char *)from;
            ++numbers;
            if (isfinite(x)) sum += (1 + fmod(0.6180339887498949 * (double)numbers, 1)) * x;
        }
        ++arrays;
    }
    snprintf(text, sizeof text, "%ld arrays, %ld numbers of sum %.9g", arrays, numbers, sum);
    return text;
}

static const char *digest(const char *name) {
    static char text[200];
    static char content[ROOM];
    const size_t n = get(name, content, sizeof content);
    if (ends_with(name, ".vtu")) return digest_of_arrays(content, n);
    if (memchr(content, 0, n)) return NULL; // no text
    double sum = 0;
    unsigned words = 0;
    long lines = 0, numbers = 0;
    for (char *s = content; *s;) {
        if (number_at(content, s)) {
            char *end;
            const double x = strtod(s, &end);
            ++numbers;
            if (isfinite(x)) sum += (1 + fmod(0.6180339887498949 * (double)numbers, 1)) * x;
            s = end;
        } else {
            lines += *s == '\n';
            words = words * 31 + (unsigned char)*s++;
        }
    }
    snprintf(text, sizeof text, "%ld lines, %ld numbers of sum %.9g, words x%08x", lines, numbers, sum, words);
    return text;
}

static bool kept_in_the_table(const char *name) {
    static const char *const ends[] = {".csv", ".gp", ".json", ".xml", ".vtu", ".pvd", ".vtm", ".yaml", ".txt", ".c"};
    if (strncmp(name, "raw", 3) == 0 || strcmp(name, "stdout.txt") == 0 || strcmp(name, "stderr.txt") == 0)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i)
        if (ends_with(name, ends[i])) return true;
    return pictures && ends_with(name, ".svg");
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

// Lines about files that are new or have changed, into text.
static size_t look(char *text, size_t size) {
    static char names[400][100];
    int n = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) && n < 400;)
        if (kept_in_the_table(e->d_name) && strlen(e->d_name) < 100) strcpy(names[n++], e->d_name);
    closedir(d);
    qsort(names, (size_t)n, sizeof *names, by_name);
    size_t at = 0;
    for (int i = 0; i < n; ++i) {
        struct stat s;
        int k = 0;
        assert_int_equal(stat(names[i], &s), 0);
        while (k < nfiles && strcmp(files[k].name, names[i]) != 0) ++k;
        if (k < nfiles && files[k].when.tv_sec == s.st_mtim.tv_sec && files[k].when.tv_nsec == s.st_mtim.tv_nsec &&
            files[k].size == s.st_size)
            continue;
        if (k == nfiles) strcpy(files[nfiles++].name, names[i]);
        files[k].when = s.st_mtim, files[k].size = s.st_size;
        const char *told = digest(names[i]);
        if (told) at += (size_t)snprintf(text + at, size - at, "+ %s: %s\n", names[i], told);
    }
    return at;
}

// -- the table --------------------------------------------------------------------------------------------------------

static size_t each_line(char mark, char *from, char *to, size_t size) {
    size_t at = 0;
    for (char *s = strtok(from, "\n"); s && at < size; s = strtok(NULL, "\n"))
        if (*s) at += (size_t)snprintf(to + at, size - at, "%c %s\n", mark, s);
    return at;
}

// The lines of one command.
static void ask(const char *arguments, char *text, size_t size) {
    const int status = carom("%s", arguments);
    size_t at = each_line('|', out, text, size);
    at += each_line('!', complaints, text + at, size - at);
    if (status) at += (size_t)snprintf(text + at, size - at, "= %d\n", status);
    at += look(text + at, size - at);
    text[at] = 0;
}

static char *next_line(char **at) {
    char *line = *at, *end = strchr(line, '\n');
    if (!end) return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

static int wrong, commands;

// A folder with the models of zoo.yaml and, before others, a gnuplot that gives its input back.
static void prepare(void) {
    static char all[ROOM];
    char path[5000], *next = all;
    FILE *f = fopen("gnuplot", "w");
    assert_non_null(f);
    fputs("#!/bin/sh\nexec cat\n", f);
    fclose(f);
    assert_int_equal(chmod("gnuplot", 0755), 0);
    assert_non_null(getcwd(path, 1000));
    snprintf(path + strlen(path), 4000, ":%s", getenv("PATH"));
    setenv("PATH", path, 1);
    pictures = true;
    get(CAROM_SOURCE_DIR "/test/zoo.yaml", all, sizeof all);
    for (int i = 1; next; ++i) {
        char name[40], *text = next;
        next = strstr(text, "\n---\n");
        if (next) *next = 0, next += 5;
        snprintf(name, sizeof name, "zoo%d.yaml", i);
        assert_non_null(f = fopen(name, "w"));
        fprintf(f, "%s\n", text);
        if (!strstr(text, "\nsimulation:"))
            fputs("simulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.02}\n", f);
        fclose(f);
    }
}

// The mark and the first word of a line, where no more is compared.
static bool begins_alike(const char *loose, const char *line) {
    const size_t mark = 2, word = strcspn(loose + mark, " :");
    return strncmp(loose, line, mark + word) == 0;
}

static void compare(const char *command, char *told, char *expected) {
    for (;;) {
        char *a = next_line(&told), *b = next_line(&expected);
        if (!a && !b) return;
        if (a && b && (*b == '~' ? begins_alike(b + 1, a) : alike(b, a))) continue;
        print_message("$ %s\n  now:    %s\n  before: %s\n", command, a ? a : "nothing", b ? b : "nothing");
        ++wrong;
        if (getenv("CAROM_TEST_FIRST")) fail_msg("the first that differs"); // tools/mutate.py asks no more
        return;
    }
}

// What a command prints now, with the marks of the table; widen: what the table has, with marks where it differs.
static void show(char *told, char *expected, bool widen) {
    for (char *a = next_line(&told), *b = next_line(&expected); a || b;) {
        const bool both = a && b, loose = both && (*b == '~' || (widen && !alike(b, a)));
        if (widen && b) printf("%s%s\n", loose && *b != '~' ? "~" : "", b);
        else if (!widen && a) printf("%s%s\n", loose && begins_alike(b + 1, a) ? "~" : "", a);
        if (a) a = next_line(&told);
        if (b) b = next_line(&expected);
    }
}

enum { COMPARE, PRINT, WIDEN };

static void run_table(const char *name, int what) {
    const bool print = what != COMPARE;
    static char table[ROOM], told[ROOM], expected[ROOM];
    char file[1000];
    snprintf(file, sizeof file, CAROM_SOURCE_DIR "/test/%s.txt", name);
    get(file, table, sizeof table);
    char *at = table, command[2000] = "";
    size_t n = 0;
    wrong = commands = nfiles = 0;
    if (strcmp(name, "commands") != 0) prepare();
    look(told, sizeof told);
    for (char *line; (line = next_line(&at));) {
        if (*line != '$' && *line != '@' && *line != '#') { // what is expected
            n += (size_t)snprintf(expected + n, sizeof expected - n, "%s\n", line);
            continue;
        }
        if (*command && !print) compare(command, told, expected);
        if (*command && print) show(told, expected, what == WIDEN);
        *command = 0, n = 0, *expected = 0;
        if (print) printf("%s\n", line);
        if (*line == '@') {
            char name[100];
            assert_int_equal(sscanf(line, "@ %99s", name), 1);
            FILE *f = fopen(name, "w");
            assert_non_null(f);
            while ((line = next_line(&at)) && strcmp(line, "@@") != 0) {
                fprintf(f, "%s\n", line);
                if (print) printf("%s\n", line);
            }
            fclose(f);
            if (print) printf("@@\n");
            look(told, sizeof told);
        } else if (*line == '$') {
            snprintf(command, sizeof command, "%s", line + 2);
            ask(command, told, sizeof told);
            ++commands;
        }
    }
    if (*command && !print) compare(command, told, expected);
    if (*command && print) show(told, expected, what == WIDEN);
}

static void the_program_prints_and_writes_what_it_did_before(void **state) {
    (void)state;
    run_table("commands", COMPARE);
    if (wrong) fail_msg("%d of %d commands", wrong, commands);
}

static void every_option_and_exporter_does_what_it_did_before(void **state) {
    QUICK_SKIPS(); // the same functions as above, and test_evaluated has the models
    (void)state;
    run_table("options", COMPARE);
    if (wrong) fail_msg("%d of %d commands", wrong, commands);
}

static void branches_and_curves_are_what_they_were_before(void **state) {
    QUICK_SKIPS(); // test_branch and test_locus follow such ones
    (void)state;
    run_table("branches", COMPARE);
    if (wrong) fail_msg("%d of %d commands", wrong, commands);
}

int main(int argc, char **argv) {
    setenv("LC_ALL", "C", 1), setenv("COLUMNS", "120", 1);
    if (argc > 2 && (strcmp(argv[1], "print") == 0 || strcmp(argv[1], "widen") == 0))
        return enter_folder(NULL) || (run_table(argv[2], *argv[1] == 'w' ? WIDEN : PRINT), leave_folder(NULL));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_program_prints_and_writes_what_it_did_before, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(every_option_and_exporter_does_what_it_did_before, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(branches_and_curves_are_what_they_were_before, enter_folder, leave_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
