// ranks_mpi.c: processes that work together through MPI.
//
// A rank asks (ASK) and rank 0 answers with chains (GIVE); rows (ROW) and the end of the work (LEAVE) need no answer.
#include "cli/cli.h"
#include "cli/ranks.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK, GIVE, ROW, LEAVE };
enum { MOST = 1 << 30 }; // bytes of one message

// MPI is started only by a launcher: on its own it would look for network cards and take half a second.
static bool launched(void) {
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i)
        if (getenv(signs[i])) return true;
    return false;
}

bool ranks_begin(int *rank, int *count) {
    int threads = MPI_THREAD_SINGLE;
    *rank = 0;
    *count = 1;
    if (!launched()) return true;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &threads) != MPI_SUCCESS)
        return cli_say("MPI cannot be started"), false;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    if (threads >= MPI_THREAD_SERIALIZED || *count == 1) return true;
    if (*rank == 0)
        cli_say("this MPI does not support threads (MPI_THREAD_SERIALIZED), which a sweep needs; use --part and `carom "
                "merge`");
    return false;
}

void ranks_end(bool now, int status) {
    int begun = 0;
    MPI_Initialized(&begun);
    if (!begun) return;
    if (now) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
}

bool ranks_share(void **bytes, size_t *n) {
    unsigned long long size = *n;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return false;
    if (rank > 0) *bytes = malloc((size_t)size + 1);
    if (!ranks_agree(*bytes || size == 0)) return false;
    *n = (size_t)size;
    for (size_t at = 0; at < *n; at += MOST)
        if (MPI_Bcast((char *)*bytes + at, (int)(*n - at < MOST ? *n - at : MOST), MPI_BYTE, 0, MPI_COMM_WORLD) !=
            MPI_SUCCESS)
            return false;
    return true;
}

bool ranks_agree(bool good) {
    int own = good, all = 0;
    return MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD) == MPI_SUCCESS && all;
}

bool ranks_fetch(long *first, long *last) {
    long range[2] = {0, 0};
    if (MPI_Send(NULL, 0, MPI_BYTE, 0, ASK, MPI_COMM_WORLD) != MPI_SUCCESS) return false;
    if (MPI_Recv(range, 2, MPI_LONG, 0, GIVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    *first = range[0];
    *last = range[1];
    return *first < *last;
}

bool ranks_send_row(const void *row, size_t n) {
    return n <= MOST && MPI_Send(row, (int)n, MPI_BYTE, 0, ROW, MPI_COMM_WORLD) == MPI_SUCCESS;
}

void ranks_leave(long alone, const char *why) {
    char message[sizeof alone + 400] = "";
    memcpy(message, &alone, sizeof alone);
    if (why) snprintf(message + sizeof alone, sizeof message - sizeof alone, "%s", why);
    MPI_Send(message, (int)sizeof message, MPI_BYTE, 0, LEAVE, MPI_COMM_WORLD);
}

static void leave(ranks_serve *s, int rank, const char *message) {
    char why[480];
    long alone;
    memcpy(&alone, message, sizeof alone);
    s->left += 1;
    s->alone += alone > 0 ? alone : 0;
    snprintf(why, sizeof why, "rank %d has ended: %s", rank, message + sizeof alone);
    if (message[sizeof alone]) s->failed(s->user, why);
}

static bool answer(ranks_serve *s, const MPI_Status *from, char *bytes, int n) {
    long range[2] = {0, 0};
    if (MPI_Recv(bytes, n, MPI_BYTE, from->MPI_SOURCE, from->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    if (from->MPI_TAG == ROW) s->row(s->user, (const unsigned char *)bytes, (size_t)n);
    if (from->MPI_TAG == LEAVE) leave(s, from->MPI_SOURCE, bytes);
    if (from->MPI_TAG != ASK) return true;
    if (!s->give(s->user, &range[0], &range[1])) range[1] = range[0];
    return MPI_Send(range, 2, MPI_LONG, from->MPI_SOURCE, GIVE, MPI_COMM_WORLD) == MPI_SUCCESS;
}

void ranks_answer(ranks_serve *s) {
    for (;;) {
        MPI_Status from;
        int there = 0, n = 0;
        char *bytes = NULL;
        bool good = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &from) == MPI_SUCCESS;
        if (good && !there) return;
        if (good) MPI_Get_count(&from, MPI_BYTE, &n);
        if (good) bytes = malloc((size_t)n + 1);
        good = bytes && answer(s, &from, bytes, n);
        free(bytes);
        if (!good) return s->failed(s->user, "a message of another rank is lost");
    }
}
