// team.c: a team of POSIX threads.
//
// A piece of work takes microseconds, and waking a thread that sleeps takes some ten of them.  So threads that wait
// watch a counter, then they offer the processor to others and watch on, for longer than the parts of a step take that
// one thread does alone; after that they sleep.  Where there are more threads than processors, whoever is waited for
// needs the processor: it is offered at once, and soon left to others for some microseconds, because a thread that only
// offers it comes last among all that want it.
#define _POSIX_C_SOURCE 200809L
#include <carom/team.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { SPINS = 200 };   // some 10 us: a pause takes 40 to 140 cycles
#else
enum { SPINS = 4000 };  // some 10 us
#endif
enum { YIELDS = 2000, FEW_YIELDS = 10 }; // about 1 ms; where there are more threads than processors
enum { NAP = 20000 };                    // ns
enum { APART = 128 };                 // bytes between what different threads write: two cache lines, as processors
                                      // fetch them in pairs

typedef struct progress { alignas(APART) atomic_int step; } progress;

typedef struct crew {
    carom_team team;
    pthread_t *thread;
    progress *reached;              // by part
    int started;
    int spins, yields;              // SPINS, YIELDS; 0, FEW_YIELDS: there are more threads than processors
    atomic_int taken;               // numbers of threads given out
    atomic_bool over;
    pthread_mutex_t lock;
    pthread_cond_t news;
    atomic_int asleep;
    void (*work)(void *user, int part, int parts);
    void *user;
    alignas(APART) atomic_long turn; // pieces of work begun
    alignas(APART) atomic_int busy;  // threads that are not done with it
} crew;

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void wait_a_little(const crew *c, int i) {
    if (i < c->spins) pause_briefly();
    else if (i < c->spins + c->yields) sched_yield();
    else nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
}

// The next turn after `last`.
static long wait_for_turn(crew *c, long last) {
    for (int i = 0; i < c->spins + c->yields; ++i) {
        const long turn = atomic_load(&c->turn);
        if (turn != last) return turn;
        wait_a_little(c, i);
    }
    pthread_mutex_lock(&c->lock);
    atomic_fetch_add(&c->asleep, 1);
    while (atomic_load(&c->turn) == last) pthread_cond_wait(&c->news, &c->lock);
    atomic_fetch_sub(&c->asleep, 1);
    pthread_mutex_unlock(&c->lock);
    return atomic_load(&c->turn);
}

static void *serve(void *user) {
    crew *c = user;
    const int part = 1 + atomic_fetch_add(&c->taken, 1);
    for (long turn = 0;;) {
        turn = wait_for_turn(c, turn);
        if (atomic_load(&c->over)) return NULL;
        c->work(c->user, part, c->team.n);
        atomic_fetch_sub(&c->busy, 1);
    }
}

static void next_turn(crew *c) {
    atomic_fetch_add(&c->turn, 1);
    if (atomic_load(&c->asleep) == 0) return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->news);
    pthread_mutex_unlock(&c->lock);
}

static void run(carom_team *team, void (*work)(void *user, int part, int parts), void *user) {
    crew *c = (crew *)(void *)team;
    c->work = work;
    c->user = user;
    atomic_store(&c->busy, team->n - 1);
    for (int i = 0; i < team->n; ++i) atomic_store_explicit(&c->reached[i].step, 0, memory_order_relaxed);
    next_turn(c);
    work(user, 0, team->n);
    for (int i = 0; atomic_load(&c->busy) > 0; i += i < c->spins + c->yields) wait_a_little(c, i);
}

static void reach(carom_team *team, int part, int step) {
    const crew *c = (crew *)(void *)team;
    atomic_store_explicit(&c->reached[part].step, step, memory_order_release);
}

static void await(carom_team *team, int part, int step) {
    const crew *c = (crew *)(void *)team;
    for (int k = 0; k < team->n; ++k)
        for (int i = 0; k != part && atomic_load_explicit(&c->reached[k].step, memory_order_acquire) < step;
             i += i < c->spins + c->yields)
            wait_a_little(c, i);
}

void carom_team_destroy(carom_team *team) {
    crew *c = (crew *)(void *)team;
    if (!c) return;
    atomic_store(&c->over, true);
    next_turn(c);
    for (int i = 0; i < c->started; ++i) pthread_join(c->thread[i], NULL);
    pthread_cond_destroy(&c->news);
    pthread_mutex_destroy(&c->lock);
    free(c->thread);
    free(c->reached);
    free(c);
}

carom_team *carom_team_create(int n, carom_error *err) {
    if (n < 1 || n > CAROM_TEAM)
        return carom_fail(err, CAROM_BAD_INPUT, "%d threads: a run has 1 to %d", n, CAROM_TEAM), NULL;
    const bool crowded = n > sysconf(_SC_NPROCESSORS_ONLN);
    crew *c = aligned_alloc(APART, sizeof *c);
    if (!c) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d threads", n), NULL;
    *c = (crew){.team = {.n = n, .run = run, .signal = reach, .wait = await},
                .spins = crowded ? 0 : SPINS,
                .yields = crowded ? FEW_YIELDS : YIELDS,
                .thread = calloc((size_t)n, sizeof *c->thread),
                .reached = aligned_alloc(APART, (size_t)n * sizeof *c->reached)};
    if (!c->thread || !c->reached)
        return free(c->thread), free(c->reached), free(c),
               carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d threads", n), NULL;
    for (int i = 0; i < n; ++i) atomic_init(&c->reached[i].step, 0);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->news, NULL);
    while (c->started < n - 1 && pthread_create(&c->thread[c->started], NULL, serve, c) == 0) ++c->started;
    if (c->started == n - 1) return &c->team;
    carom_team_destroy(&c->team);
    return carom_fail(err, CAROM_NO_MEMORY, "cannot start %d threads", n), NULL;
}
