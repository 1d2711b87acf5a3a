// ranks_none.c: built without MPI: every process is alone.
#include "cli/cli.h"
#include "cli/ranks.h"
#include <stdlib.h>

// Started by mpirun all the same?  Then all of them would do the same work and write the same file.
bool ranks_begin(int *rank, int *count) {
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, *const ranks[] = {"OMPI_COMM_WORLD_RANK",
                                                                                               "PMI_RANK"};
    *rank = 0;
    *count = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const char *size = getenv(sizes[i]), *own = getenv(ranks[i]);
        if (!size || atoi(size) <= 1) continue;
        if (!own || atoi(own) == 0)
            cli_say("this carom was built without MPI, so %s processes cannot share a sweep; build it where mpicc is "
                    "installed, or use --part and `carom merge`",
                    size);
        return false;
    }
    return true;
}

void ranks_end(bool now, int status) { (void)now, (void)status; }
bool ranks_share(void **bytes, size_t *n) { return (void)bytes, (void)n, true; }
bool ranks_agree(bool good) { return good; }
bool ranks_fetch(long *first, long *last) { return (void)first, (void)last, false; }
bool ranks_send_row(const void *row, size_t n) { return (void)row, (void)n, false; }
void ranks_leave(long alone, const char *why) { (void)alone, (void)why; }
void ranks_answer(ranks_serve *s) { (void)s; }
