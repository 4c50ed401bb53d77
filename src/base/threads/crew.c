#include "base/threads/crew.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/threads/thread.h"

struct crew {
    const struct pyro_crew_work *work;
    atomic_size_t next;
    atomic_bool ended; /* before its time */
};

struct worker {
    struct crew *crew;
    unsigned number;
    enum pyro_status status; /* of the piece that failed */
    struct pyro_error error;
    struct pyro_thread thread;
};

/* For threads that must not call the caller back. */
static bool has_ended(void *context)
{
    return atomic_load_explicit(&((struct crew *)context)->ended, memory_order_relaxed);
}

static bool is_stopped_by_caller(void *context)
{
    struct crew *crew = context;
    if (pyro_stop_is_asked(crew->work->stop))
        atomic_store_explicit(&crew->ended, true, memory_order_relaxed);
    return has_ended(crew);
}

static void *run(void *context)
{
    struct worker *worker = context;
    struct crew *crew = worker->crew;
    const struct pyro_crew_work *work = crew->work;
    const struct pyro_stop stop = {worker->number == 0 ? is_stopped_by_caller : has_ended, crew};
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);
        if (index >= work->count || pyro_stop_is_asked(&stop))
            return NULL;
        worker->status = work->work(work->context, worker->number, index, &stop, &worker->error);
        if (worker->status != PYRO_OK)
            atomic_store_explicit(&crew->ended, true, memory_order_relaxed);
    }
}

/* What went wrong. A piece that was stopped because another one failed is not the reason. */
static enum pyro_status first_failure(const struct worker *workers, unsigned count, struct pyro_error *error)
{
    for (unsigned i = 0; i < count; i++) {
        enum pyro_status status = workers[i].status;
        if (status == PYRO_OK || status == PYRO_ERROR_CANCELLED)
            continue;
        pyro_error_copy(error, &workers[i].error);
        return status;
    }
    return pyro_error_set(error, PYRO_ERROR_CANCELLED, "stopped");
}

enum pyro_status pyro_crew_run(unsigned threads, const struct pyro_crew_work *work, struct pyro_error *error)
{
    struct crew crew = {.work = work};
    struct worker workers[PYRO_CREW_MOST];
    unsigned most = work->count < PYRO_CREW_MOST ? (unsigned)work->count : PYRO_CREW_MOST, started = 1;
    while (started < threads && started < most) {
        workers[started] = (struct worker){.crew = &crew, .number = started, .error.size = sizeof(struct pyro_error)};
        if (!pyro_thread_start(&workers[started].thread, run, &workers[started]))
            break;
        started++;
    }
    workers[0] = (struct worker){.crew = &crew, .error.size = sizeof(struct pyro_error)};
    run(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pyro_thread_join(&workers[i].thread);
    return has_ended(&crew) ? first_failure(workers, started, error) : PYRO_OK;
}
