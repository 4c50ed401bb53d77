/* Waits that take no time, for a program that waits by the clock: sleeping and waiting for a condition move the
 * monotonic clock instead. For one target only, whose program these definitions are in. */
#ifndef PYRO_FUZZ_FAKE_WAITS_H
#define PYRO_FUZZ_FAKE_WAITS_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FAKE_STEP_MS = 1000, FAKE_REAL_NS = 200000 };

static _Atomic int64_t fake_waited_ns;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (syscall(SYS_clock_gettime, clock, ret) != 0)
        return -1;
    if (clock != CLOCK_MONOTONIC)
        return 0;
    int64_t ns = ret->tv_nsec + atomic_load(&fake_waited_ns) % 1000000000;
    ret->tv_sec += atomic_load(&fake_waited_ns) / 1000000000 + ns / 1000000000;
    ret->tv_nsec = ns % 1000000000;
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    atomic_fetch_add(&fake_waited_ns, wanted->tv_sec * INT64_C(1000000000) + wanted->tv_nsec);
    return 0;
}

/* What is waited for is looked at soon, whether it was signalled or not. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    const struct timespec moment = {.tv_nsec = FAKE_REAL_NS};
    struct timespec now;
    (void)condition;
    pthread_mutex_unlock(mutex);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    pthread_mutex_lock(mutex);
    atomic_fetch_add(&fake_waited_ns, FAKE_STEP_MS * INT64_C(1000000));
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec) ? ETIMEDOUT : 0;
}

#endif
