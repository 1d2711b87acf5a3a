// team.h: threads that share the work of one simulation.
//
// The core starts no threads: it dispatches work to the thread team passed in, or runs serially without one.  Results
// do not depend on the number of threads.
#pragma once
#include <carom/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CAROM_TEAM = 64 }; // most threads

typedef struct carom_team {
    int n; // threads, the caller's included
    /// Call work(user, part, n) for part = 0 .. n - 1, each in its own thread; returns when all are done.
    void (*run)(struct carom_team *team, void (*work)(void *user, int part, int parts), void *user);
    /// For work whose parts wait for each other; NULL: parts may run one after the other, so none may wait.  signal:
    /// this part has come to `step`; every run starts at 0, and steps only grow.  wait: returns when all other parts
    /// have come to `step` or beyond, and sees what they wrote before.
    void (*signal)(struct carom_team *team, int part, int step);
    void (*wait)(struct carom_team *team, int part, int step);
} carom_team;

/// Threads of the system (POSIX), in the library around the core.  NULL: err gives the reason.
carom_team *carom_team_create(int n, carom_error *err);
void carom_team_destroy(carom_team *team);

#ifdef __cplusplus
}
#endif
