// gnuplot.c: gnuplot as a child, without a shell: script on its standard input, picture from its standard output.
#define _POSIX_C_SOURCE 200809L
#include "cli/child.h"
#include "cli/figure.h"
#include "io/publish.h"
#include "io/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *gnuplot_kind(const char *file) {
    static const char *const ending[] = {".svg", ".png", ".pdf"};
    for (int i = 0; i < 3; ++i)
        if (carom_ends(file, ending[i]) && strlen(file) > 4) return ending[i] + 1;
    return NULL;
}

bool gnuplot_takes(const char *file) {
    return !file || gnuplot_kind(file) || (cli_say("--plot: '%s' does not end in .svg, .png or .pdf", file), false);
}

const char *const gnuplot_palette[GNUPLOT_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#6a3d9a", "#555555"};

FILE *gnuplot_begin(void) {
    FILE *s = scratch_file();
    if (!s)
        cli_say("cannot create a file for gnuplot: %s; set TMPDIR to a writable directory", strerror(errno));
    return s;
}

void gnuplot_terminal(FILE *s, const char *kind, double width, double height) {
    if (strcmp(kind, "pdf") == 0)
        fprintf(s, "set terminal pdfcairo size %.3fin,%.3fin font 'sans,10'", width / 96, height / 96);
    else if (strcmp(kind, "png") == 0) fprintf(s, "set terminal pngcairo size %.0f,%.0f font 'sans,10'", width, height);
    else fprintf(s, "set terminal svg size %.0f,%.0f font 'sans,12'", width, height);
    fputs(" noenhanced background '#ffffff'\n", s);
}

void gnuplot_quote(FILE *s, const char *text) {
    fputc('"', s);
    carom_escape_file(CAROM_FOR_GNUPLOT, s, text);
    fputc('"', s);
}

void gnuplot_output(FILE *s, const char *file) {
    char *name = malloc(strlen(file) + 3); // gnuplot runs a name that begins with '|'
    if (!name) abort();
    fputs("set output ", s), gnuplot_quote(s, strcat(strcpy(name, *file == '/' ? "" : "./"), file)), fputs("\n", s);
    free(name);
}

static bool start(pid_t *pid, int in, int out, int complaints) {
    const char *const argv[] = {"gnuplot", "-d", NULL}; // no start-up file of the user's
    const int failed = cli_child_start(pid, argv, in, out, complaints);
    if (failed == ENOENT)
        cli_say("plot needs gnuplot, which is not on the PATH; install the package gnuplot-nox (Debian, Ubuntu) or "
                "gnuplot");
    else if (failed) cli_say("cannot start gnuplot: %s", strerror(failed));
    return failed == 0;
}

// The first lines of what gnuplot complained about.
static void pass_on(FILE *complaints) {
    char line[256];
    rewind(complaints);
    for (int i = 0; i < 8 && fgets(line, sizeof line, complaints); ++i)
        if (strspn(line, " \t\r\n^") != strlen(line))
            carom_safe_file(stderr, "gnuplot: %.*s\n", (int)strcspn(line, "\r\n"), line);
}

bool gnuplot_render(FILE *script, const char *file) {
    char *part = part_name(file);
    FILE *complaints = scratch_file();
    if (!part || !complaints) abort();
    const int out = part_open(part);
    bool good = out >= 0;
    if (!good) cli_say("cannot create %s: %s", file, strerror(errno));
    pid_t pid = -1;
    if (good) {
        fflush(script);
        lseek(fileno(script), 0, SEEK_SET);
        good = start(&pid, fileno(script), out, fileno(complaints));
        if (good && (!cli_child_wait(pid) || lseek(out, 0, SEEK_END) <= 0)) {
            cli_say("gnuplot failed to create the plot");
            pass_on(complaints);
            good = false;
        }
        if (good && rename(part, file) != 0) {
            cli_say("cannot create %s: %s", file, strerror(errno));
            good = false;
        }
    }
    if (out >= 0) close(out);
    if (out >= 0 && !good) unlink(part);
    fclose(complaints);
    free(part);
    return good;
}

bool gnuplot_finish(FILE *s, const char *file) {
    const bool good = gnuplot_render(s, file);
    fclose(s);
    return good;
}
