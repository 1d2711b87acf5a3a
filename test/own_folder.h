// own_folder.h: a temporary folder, in which the tests of a program work.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static inline int enter_folder(void **state) {
    (void)state;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 0); // of all the processes that a test starts: the search takes seconds in
                                                 // each
    strcpy(folder, "/tmp/carom-test-XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static inline int leave_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}
