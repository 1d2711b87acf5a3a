// ranks.h (private): the processes that mpirun started together.  Rank 0 has the journal and writes; the others compute
// for it.
//
// ranks_mpi.c is built where there is MPI, ranks_none.c where there is none.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Which of how many processes is this?  Alone: 0 of 1.  false: it has said why they cannot work together.
bool ranks_begin(int *rank, int *count);
/// Waits for the others, unless `now`: then they are ended, and so is this process, with this exit status.
void ranks_end(bool now, int status);

/// Rank 0's bytes become everybody's; the others free theirs.  false: no memory.
bool ranks_share(void **bytes, size_t *n);
bool ranks_agree(bool good); // is it good for all of them?

// Of the others: chains to do, false: none are left; a row; the end of their work, with a message if it is not done.
bool ranks_fetch(long *first, long *last);
bool ranks_send_row(const void *row, size_t n);
void ranks_leave(long alone, const char *why); // alone: as carom_sweep_alone()

/// Of rank 0: what has come from the others.  Each call answers what is there and returns.
typedef struct ranks_serve {
    void *user;
    bool (*give)(void *user, long *first, long *last);
    void (*row)(void *user, const unsigned char *bytes, size_t n); // aligned as malloc() does
    void (*failed)(void *user, const char *why);
    int left;                                                      // ranks that have ended their work
    long alone;                                                    // of all of them
} ranks_serve;
void ranks_answer(ranks_serve *s);
