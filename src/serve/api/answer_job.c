#include "serve/api/answer_job.h"

#include <pthread.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "base/threads/thread.h"
#include "serve/api/api_request.h"
#include "serve/failure_answer.h"

/* WHOLE_BYTES are answered in one piece; the thread waits while AHEAD_BYTES are not yet taken. A request whose work has
 * begun well but is not done after the patience is answered while it goes on. */
enum { WHOLE_BYTES = 256 << 10, AHEAD_BYTES = 1 << 20, PATIENCE_MS = 1000, READ_MS = 500 };

struct api_pipe {
    struct pyro_thread thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct pyro_strbuf text;
    size_t taken;
    bool begun; /* the question is one that can be answered */
    bool ended, cancelled;
    enum pyro_status status;
    struct pyro_error error;
};

/* ---- The thread ---- */

/* A slow reader has all the time that the connection has; it delays no other. */
static bool is_over(const struct api_job *job)
{
    enum serve_stop why = pyro_ticket_stopped(job->ticket);
    return why != SERVE_GO_ON && why != SERVE_TOO_LATE;
}

static int put(void *context, const void *data, size_t len)
{
    struct api_job *job = context;
    struct api_pipe *pipe = job->pipe;
    pthread_mutex_lock(&pipe->mutex);
    if (!pipe->cancelled && pipe->text.len - pipe->taken > AHEAD_BYTES) {
        pthread_mutex_unlock(&pipe->mutex);
        pyro_ticket_yield(job->ticket); /* now it works only as fast as its client reads */
        pthread_mutex_lock(&pipe->mutex);
    }
    while (!pipe->cancelled && pipe->text.len - pipe->taken > AHEAD_BYTES)
        pthread_cond_wait(&pipe->changed, &pipe->mutex);
    if (pipe->taken == pipe->text.len) {
        pyro_strbuf_clear(&pipe->text);
        pipe->taken = 0;
    }
    pyro_strbuf_add(&pipe->text, data, len);
    bool stop = pipe->cancelled || pipe->text.failed || is_over(job);
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
    return stop;
}

static int go_on(void *context, const struct pyro_progress *progress)
{
    const struct api_job *job = context;
    struct api_pipe *pipe = job->pipe;
    (void)progress;
    pthread_mutex_lock(&pipe->mutex);
    bool stop = pipe->cancelled || pyro_ticket_stopped(job->ticket) != SERVE_GO_ON;
    pipe->begun |= !job->says_late;
    pthread_mutex_unlock(&pipe->mutex);
    return stop;
}

static void *work(void *context)
{
    struct api_job *job = context;
    struct api_pipe *pipe = job->pipe;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = {sizeof(writer), put, job};
    struct pyro_options options = pyro_ticket_options(job->ticket);
    options.progress = go_on;
    options.progress_context = job;
    enum pyro_status status = job->work(job, &options, &writer, &error);
    pthread_mutex_lock(&pipe->mutex);
    pipe->status = status;
    pipe->error = error;
    pipe->ended = true;
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
    return NULL;
}

/* ---- Life ---- */

struct api_job *pyro_api_job_new(struct serve_request *request, api_work *function)
{
    struct api_job *job = pyro_allocate(NULL, sizeof(*job));
    struct api_pipe *pipe = pyro_allocate(NULL, sizeof(*pipe));
    if (!job || !pipe) {
        pyro_release(NULL, job);
        pyro_release(NULL, pipe);
        pyro_api_error(request, 503, "no memory left: try again later");
        return NULL;
    }
    *job = (struct api_job){.work = function, .shared = request->shared, .refused = 400, .pipe = pipe};
    job->ticket = pyro_ticket_retain(request->ticket);
    *pipe = (struct api_pipe){.status = PYRO_OK};
    pyro_arena_init(&job->arena, NULL);
    pyro_strbuf_init(&pipe->text, NULL);
    pthread_mutex_init(&pipe->mutex, NULL);
    pyro_condition_init(&pipe->changed);
    return job;
}

void pyro_api_job_free(struct api_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < API_DIAGNOSES; i++)
        pyro_catalog_diagnosis_release(job->diagnoses[i]);
    pyro_ticket_release(job->ticket);
    pthread_cond_destroy(&job->pipe->changed);
    pthread_mutex_destroy(&job->pipe->mutex);
    pyro_strbuf_done(&job->pipe->text);
    pyro_release(NULL, job->pipe);
    pyro_arena_done(&job->arena);
    pyro_release(NULL, job);
}

const char *pyro_api_job_text(struct api_job *job, struct pyro_slice text)
{
    return text.ptr ? pyro_arena_copy(&job->arena, text).ptr : NULL;
}

static void end(struct api_job *job)
{
    struct api_pipe *pipe = job->pipe;
    pthread_mutex_lock(&pipe->mutex);
    pipe->cancelled = true;
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
    pyro_thread_join(&pipe->thread);
    pyro_api_job_free(job);
}

/* ---- The answer ---- */

static int64_t read_pipe(void *context, char *buffer, size_t size)
{
    struct api_pipe *pipe = ((struct api_job *)context)->pipe;
    int64_t until = pyro_clock_ms() + READ_MS;
    int64_t got = SERVE_STREAM_LATER;
    pthread_mutex_lock(&pipe->mutex);
    while (!pipe->ended && pipe->taken == pipe->text.len)
        if (!pyro_condition_wait(&pipe->changed, &pipe->mutex, until))
            break;
    size_t there = pipe->text.len - pipe->taken;
    if (there) {
        got = (int64_t)(there < size ? there : size);
        memcpy(buffer, pipe->text.data + pipe->taken, (size_t)got);
        pipe->taken += (size_t)got;
        pthread_cond_broadcast(&pipe->changed);
    } else if (pipe->ended) {
        got = pipe->status == PYRO_OK ? SERVE_STREAM_END : SERVE_STREAM_BROKEN;
    }
    pthread_mutex_unlock(&pipe->mutex);
    return got;
}

static void close_pipe(void *context)
{
    end(context);
}

static void fail(struct serve_request *request, const struct api_job *job)
{
    enum serve_stop why = pyro_ticket_stopped(job->ticket);
    struct pyro_error error = job->pipe->error;
    if (error.code == PYRO_ERROR_MEMORY)
        why = SERVE_NO_MEMORY;
    if (why != SERVE_GO_ON && error.code != PYRO_ERROR_ARGUMENT && error.code != PYRO_ERROR_INPUT)
        pyro_serve_unavailable(request, pyro_limiter_why(why)); /* whatever it was that noticed it */
    else
        pyro_api_fail(request, &error, error.code == PYRO_ERROR_ARGUMENT ? job->refused : 500);
}

void pyro_api_job_run(struct serve_request *request, struct api_job *job)
{
    struct api_pipe *pipe = job->pipe;
    if (!pyro_thread_start(&pipe->thread, work, job)) {
        pyro_api_error(request, 503, "no thread is left to answer this: try again later");
        pyro_api_job_free(job);
        return;
    }
    int64_t until = pyro_clock_ms() + PATIENCE_MS;
    pthread_mutex_lock(&pipe->mutex);
    while (!pipe->ended && pipe->text.len < WHOLE_BYTES) {
        bool late = !pyro_condition_wait(&pipe->changed, &pipe->mutex, until);
        if (late && pipe->begun)
            break;
        if (late)
            until = pyro_clock_ms() + PATIENCE_MS;
    }
    bool whole = pipe->ended && (pipe->status != PYRO_OK || pipe->text.len < 2 * WHOLE_BYTES);
    pthread_mutex_unlock(&pipe->mutex);
    if (!whole) {
        request->stream = (struct serve_stream){.read = read_pipe, .close = close_pipe, .context = job, .length = -1};
        return;
    }
    if (pipe->status == PYRO_OK)
        pyro_strbuf_add_slice(request->out, pyro_strbuf_slice(&pipe->text));
    else
        fail(request, job);
    end(job);
}
