// news.h: waiting for other threads, for a while, whatever happens to the clock of the machine.
#pragma once
#include <pthread.h>
#include <time.h>

/// A condition whose waits go by the monotonic clock.
static inline int carom_news_init(pthread_cond_t *news) {
    pthread_condattr_t kind;
    int status = pthread_condattr_init(&kind);
    if (status) return status;
    status = pthread_condattr_setclock(&kind, CLOCK_MONOTONIC);
    if (!status) status = pthread_cond_init(news, &kind);
    pthread_condattr_destroy(&kind);
    return status;
}

/// Wait for it, for at most so many milliseconds (below 1000).
static inline void carom_news_wait(pthread_cond_t *news, pthread_mutex_t *lock, long milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
    pthread_cond_timedwait(news, lock, &until);
}
