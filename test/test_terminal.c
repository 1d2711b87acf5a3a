// test_terminal.c: what `carom run` shows on a terminal: one live line, then the ledger.
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE // TIOCSWINSZ
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "own_folder.h"

static char seen[1 << 20];

static void put(const char *name, const char *text) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// `carom run MODEL ...` on a terminal of so many columns; interrupted once `until` has been seen.  Exit status.
static int on_terminal(int columns, const char *until, const char *const *argv) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = 24};
    const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0 && ioctl(slave, TIOCSWINSZ, &size) == 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(slave, STDOUT_FILENO);
        dup2(slave, STDERR_FILENO);
        close(master);
        execv(CAROM_BINARY_DIR "/carom", (char *const *)(uintptr_t)argv);
        _exit(99);
    }
    close(slave);
    size_t n = 0;
    bool asked = false;
    const time_t start = time(NULL);
    for (;;) {
        const ssize_t got = read(master, seen + n, sizeof seen - n - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break; // the other end is closed
        seen[n += (size_t)got] = 0;
        if (!asked && strstr(seen, until)) {
            asked = true;
            kill(child, SIGINT);
        }
        if (n > sizeof seen / 2 || time(NULL) - start > 60) kill(child, SIGKILL); // it never said so
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(master);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define assert_says(words)                                                                         \
    do {                                                                                           \
        if (!strstr(seen, words)) fail_msg("'%s' is not in: %.3000s", words, seen);                \
    } while (0)

// The longest line between carriage returns, control sequences left out, before the line is wiped.
static size_t longest(void) {
    size_t most = 0, n = 0;
    for (const char *s = seen, *end = strstr(seen, "\r\033[K"); s < end; ++s) {
        if (*s == '\033') {
            while (s < end && *s != 'K') ++s;
        } else if (*s == '\r') {
            n = 0;
        } else if (++n > most) {
            most = n;
        }
    }
    return most;
}

static void a_terminal_shows_a_live_line_and_then_the_ledger(void **state) {
    (void)state;
    const char *const argv[] = {"carom", "run", "ball.yaml", NULL};
    assert_int_equal(on_terminal(120, "energy 2.", argv), 130);
    assert_says(" % [");
    assert_says("  t = ");
    assert_says("  contacts 0 of 1");
    assert_says("  impacts ");
    assert_says("  energy 2.");
    assert_says(" left");
    assert_says("\r\033[K"); // wiped before the ledger
    assert_says("\n  steps    ");
    assert_says("interrupted at t = ");
    assert_true(strstr(seen, "\n  steps    ") > strstr(seen, "\r\033[K"));
}

static void the_live_line_fits_the_terminal(void **state) {
    (void)state;
    const char *const argv[] = {"carom", "run", "ball.yaml", NULL};
    for (int columns = 20; columns <= 60; columns += 20) {
        assert_int_equal(on_terminal(columns, " %", argv), 130);
        assert_true(longest() > 3);
        assert_true(longest() < (size_t)columns);
    }
}

static void a_quiet_run_shows_nothing(void **state) {
    (void)state;
    const char *const argv[] = {"carom", "run", "ball.yaml", "--quiet", "--end", "20", NULL};
    seen[0] = 0;
    assert_int_equal(on_terminal(80, "\r", argv), 0);
    assert_string_equal(seen, "");
}

static int setup(void **state) {
    if (enter_folder(state) != 0) return -1;
    put("ball.yaml",
        "carom: 1\nname: Ball that bounces for ever\ncoordinates: {y: 2.5}\nenergy: {kinetic: 1/2*y'^2, potential: y}\n"
        "contacts: {ground: {gap: y, restitution: 1}}\nsimulation: {scheme: half-explicit, step: 1e-3, end: 1e7}\n");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_shows_a_live_line_and_then_the_ledger),
        cmocka_unit_test(the_live_line_fits_the_terminal),
        cmocka_unit_test(a_quiet_run_shows_nothing),
    };
    return cmocka_run_group_tests(tests, setup, leave_folder);
}
