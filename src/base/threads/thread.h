/* Threads, and conditions with a deadline: all of the library's come from here. */
#ifndef PYRO_BASE_THREADS_THREAD_H
#define PYRO_BASE_THREADS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed to begin with. */
struct pyro_thread {
    pthread_t handle;
    bool started;
};

/* The thread takes none of the caller's signals. False: it could not be started. */
bool pyro_thread_start(struct pyro_thread *thread, void *(*run)(void *context), void *context);
/* Waits for its end; nothing where it was not started. */
void pyro_thread_join(struct pyro_thread *thread);
/* One that is never joined, with a stack of `stack_bytes`. */
bool pyro_thread_start_detached(void *(*run)(void *context), void *context, size_t stack_bytes);

/* Milliseconds of a clock that no one sets. */
int64_t pyro_clock_ms(void);
/* A condition whose deadlines are of that clock. */
void pyro_condition_init(pthread_cond_t *condition);
/* pthread_cond_timedwait() for such a one. False: the deadline has passed. */
bool pyro_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_ms);

#endif
