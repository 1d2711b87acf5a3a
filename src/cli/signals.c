// signals.c: the only mutable global of the program: what a signal handler may touch.
//
// A timer raises cli_attention ten times a second, so that the step loop need not read a clock, however slow or fast
// its steps are.  A second Ctrl-C ends the program at once.
#define _DEFAULT_SOURCE
#include "base/clock.h"
#include "cli/cli.h"
#include <string.h>
#include <sys/time.h>
#include <time.h>

volatile sig_atomic_t cli_attention;
static volatile sig_atomic_t asked;

// Signals that end a run with its result saved: from a terminal, and from batch systems, which warn with a signal of
// the user's choice before the time is up.
static const int stops[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
enum { STOPS = sizeof stops / sizeof *stops };

static void on_tick(int signal) {
    (void)signal;
    cli_attention = 1;
}

static void on_stop(int signal) {
    (void)signal;
    asked = 1;
    cli_attention = 1;
}

static void handle(int signal, void (*function)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = function;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

static void timer(long microseconds) {
    const struct itimerval every = {.it_interval = {0, microseconds}, .it_value = {0, microseconds}};
    setitimer(ITIMER_REAL, &every, NULL);
}

void cli_signals_begin(void) {
    handle(SIGALRM, on_tick, SA_RESTART);
    for (size_t i = 0; i < STOPS; ++i) handle(stops[i], on_stop, SA_RESTART | (int)SA_RESETHAND);
    timer(100000);
}

void cli_signals_end(void) {
    timer(0);
    handle(SIGALRM, SIG_IGN, 0);
    for (size_t i = 0; i < STOPS; ++i) handle(stops[i], SIG_DFL, 0);
}

bool cli_signals_take(void) {
    cli_attention = 0;
    return asked != 0;
}

bool cli_signals_asked(const void *unused) {
    (void)unused;
    return asked != 0;
}

double cli_clock(void) { return carom_seconds(CLOCK_MONOTONIC); }
