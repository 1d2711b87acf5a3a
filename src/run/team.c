// team.c: a team of POSIX threads.
//
// A piece of work takes microseconds, so threads that wait for the next one watch a counter for a while before they sleep.
#define _POSIX_C_SOURCE 200809L
#include <carom/team.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SPINS = 4000 };

typedef struct crew {
    carom_team team;
    pthread_t *thread;
    int started;
    atomic_int taken;               // numbers of threads given out
    void (*work)(void *user, int part, int parts);
    void *user;
    atomic_long turn;               // pieces of work begun
    atomic_int busy;                // threads that are not done with it
    atomic_bool over;
    pthread_mutex_t lock;
    pthread_cond_t news;
    atomic_int asleep;
} crew;

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// The next turn after `last`.
static long wait_for_turn(crew *c, long last) {
    for (int i = 0; i < SPINS; ++i) {
        const long turn = atomic_load(&c->turn);
        if (turn != last) return turn;
        pause_briefly();
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
    next_turn(c);
    work(user, 0, team->n);
    for (int i = 0; atomic_load(&c->busy) > 0; ++i) {
        if (i < SPINS) pause_briefly();
        else sched_yield();
    }
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
    free(c);
}

carom_team *carom_team_create(int n, carom_error *err) {
    if (n < 1 || n > CAROM_TEAM) return carom_fail(err, CAROM_BAD_INPUT, "%d threads: a run has 1 to %d", n, CAROM_TEAM), NULL;
    crew *c = calloc(1, sizeof *c);
    if (c) c->thread = calloc((size_t)n, sizeof *c->thread);
    if (!c || !c->thread) return free(c), carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d threads", n), NULL;
    c->team = (carom_team){.n = n, .run = run};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->news, NULL);
    while (c->started < n - 1 && pthread_create(&c->thread[c->started], NULL, serve, c) == 0) ++c->started;
    if (c->started == n - 1) return &c->team;
    carom_team_destroy(&c->team);
    return carom_fail(err, CAROM_NO_MEMORY, "cannot start %d threads", n), NULL;
}
