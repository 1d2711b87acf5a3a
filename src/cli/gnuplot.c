// gnuplot.c: gnuplot as a child, without a shell: script on its standard input, picture from its standard output.
#define _POSIX_C_SOURCE 200809L
#include "cli/child.h"
#include "cli/figure.h"
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

static bool start(pid_t *pid, int in, int out, int complaints) {
    const char *const argv[] = {"gnuplot", "-d", NULL}; // no start-up file of the user's
    const int failed = cli_child_start(pid, argv, in, out, complaints);
    if (failed == ENOENT) cli_say("plot needs gnuplot, which is not on the PATH; install the package gnuplot-nox (Debian, Ubuntu) or gnuplot");
    else if (failed) cli_say("cannot start gnuplot: %s", strerror(failed));
    return failed == 0;
}

// The first lines of what gnuplot complained about.
static void pass_on(FILE *complaints) {
    char line[256];
    rewind(complaints);
    for (int i = 0; i < 8 && fgets(line, sizeof line, complaints); ++i)
        if (strspn(line, " \t\r\n^") != strlen(line)) fprintf(stderr, "gnuplot: %s", line);
}

bool gnuplot_render(FILE *script, const char *file) {
    char *part = malloc(strlen(file) + 40);
    FILE *complaints = tmpfile();
    if (!part || !complaints) abort();
    sprintf(part, "%s.%ld.part", file, (long)getpid());
    const int out = open(part, O_RDWR | O_CREAT | O_TRUNC, 0666);
    bool good = out >= 0;
    if (!good) cli_say("cannot create %s: %s", file, strerror(errno));
    pid_t pid = -1;
    if (good) {
        fflush(script);
        lseek(fileno(script), 0, SEEK_SET);
        good = start(&pid, fileno(script), out, fileno(complaints));
        if (good && (!cli_child_wait(pid) || lseek(out, 0, SEEK_END) <= 0)) {
            cli_say("gnuplot could not make the picture");
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
