// test_commands.c: what the program prints and writes, command by command, compared with a table (commands.txt).
//
// Other tests ask whether answers are right.  This one asks whether they are the same as before: every command with
// each of its options, on small models, and every line and number of what it prints and writes as text.  Where a change
// is meant, look at the lines that the test prints, and write the table anew:
//
//     build/test/test_commands print >commands.new && mv commands.new test/commands.txt
//
// In the table `@ NAME` begins a file, which `@@` ends; `$ ARGUMENTS` is a command; below it stand lines of its output
// (`|`), its complaints (`!`), its exit status (`=`, where it is not 0) and the files that it has written or changed
// (`+`): of texts the number of lines and of numbers, a sum of the numbers with weights, and a sum of all other
// characters.  Numbers may differ by rounding; those on lines with times of a clock and counts of iterations by
// anything; files whose name begins with `raw` are not looked at.
#define _POSIX_C_SOURCE 200809L
#include "cli_rig.h"
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

enum { ROOM = 1 << 22 };

// -- lines ------------------------------------------------------------------------------------------------------------

static bool number_at(const char *begin, const char *s) {
    const bool after_name = s > begin && (isalnum((unsigned char)s[-1]) || s[-1] == '_' || s[-1] == '.');
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

// The same words, and numbers that differ by no more than rounding and the digits that are printed.
static bool alike(const char *a, const char *b) {
    const char *const a_0 = a, *const b_0 = b;
    const bool free_numbers = by_the_clock(a);
    if (strcmp(a, b) == 0) return true;
    while (*a && *b) {
        if (number_at(a_0, a) && number_at(b_0, b)) {
            char *a_end, *b_end;
            const double x = strtod(a, &a_end), y = strtod(b, &b_end);
            if (!free_numbers && fabs(x - y) > 3e-6 * fmax(fabs(x), fabs(y)) + 1e-9) return false;
            a = a_end, b = b_end;
        } else if (*a == *b || (free_numbers && isdigit((unsigned char)*a) && isdigit((unsigned char)*b))) { // a date
            ++a, ++b;
        } else if (free_numbers && isspace((unsigned char)*a)) {
            ++a;
        } else if (free_numbers && isspace((unsigned char)*b)) {
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

static const char *digest(const char *name) {
    static char text[200];
    static char content[ROOM];
    const size_t n = get(name, content, sizeof content);
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
        if (strlen(name) > strlen(ends[i]) && strcmp(name + strlen(name) - strlen(ends[i]), ends[i]) == 0) return true;
    return false;
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

static void compare(const char *command, char *told, char *expected) {
    for (;;) {
        char *a = next_line(&told), *b = next_line(&expected);
        if (!a && !b) return;
        if (a && b && alike(b, a)) continue;
        print_message("$ %s\n  now:    %s\n  before: %s\n", command, a ? a : "nothing", b ? b : "nothing");
        ++wrong;
        return;
    }
}

static void run_table(bool print) {
    static char table[ROOM], told[ROOM], expected[ROOM];
    get(CAROM_SOURCE_DIR "/test/commands.txt", table, sizeof table);
    char *at = table, command[2000] = "";
    size_t n = 0;
    for (char *line; (line = next_line(&at));) {
        if (*line != '$' && *line != '@' && *line != '#') { // what is expected
            n += (size_t)snprintf(expected + n, sizeof expected - n, "%s\n", line);
            continue;
        }
        if (*command && !print) compare(command, told, expected);
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
            if (print) printf("%s", told);
            ++commands;
        }
    }
    if (*command && !print) compare(command, told, expected);
}

static void the_program_prints_and_writes_what_it_did_before(void **state) {
    (void)state;
    run_table(false);
    if (wrong) fail_msg("%d of %d commands", wrong, commands);
}

int main(int argc, char **argv) {
    setenv("LC_ALL", "C", 1), setenv("COLUMNS", "120", 1);
    if (argc > 1 && strcmp(argv[1], "print") == 0) return enter_folder(NULL) || (run_table(true), leave_folder(NULL));
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_program_prints_and_writes_what_it_did_before)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
