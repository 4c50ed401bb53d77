#include "serve/http/stream.h"

#include <string.h>

#include "base/memory/allocator.h"
#include "base/threads/thread.h"

/* Blocks are filled while others are being sent; more than two, so that neither side waits for the other at each. */
enum { BLOCKS = 4, BLOCK = 128 << 10, SEND = 128 << 10, STACK = 1 << 20 };

struct block {
    size_t len, sent;
    char data[BLOCK];
};

/* Owned by the response and, while it runs, by the thread. */
struct pump {
    struct stream_limit *limit;
    struct serve_stream stream;
    struct MHD_Connection *connection; /* suspended while `waiting` */
    struct connections *connections;   /* of the event loop, as the next */
    struct connection *place;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    unsigned owners;
    bool begun, waiting, cancelled;
    int ended;                   /* 0, SERVE_STREAM_END or SERVE_STREAM_BROKEN */
    unsigned filled, emptied;    /* blocks, ever */
    struct block blocks[BLOCKS]; /* block number i is blocks[i % BLOCKS] */
};

static void close_stream(struct stream_limit *limit, const struct serve_stream *stream)
{
    if (stream->close)
        stream->close(stream->context);
    pthread_mutex_lock(&limit->mutex);
    limit->count--;
    pthread_cond_broadcast(&limit->changed);
    pthread_mutex_unlock(&limit->mutex);
}

static void release(struct pump *pump)
{
    pthread_mutex_lock(&pump->mutex);
    bool last = --pump->owners == 0;
    pthread_mutex_unlock(&pump->mutex);
    if (!last)
        return;
    struct stream_limit *limit = pump->limit;
    struct serve_stream stream = pump->stream;
    pthread_mutex_destroy(&pump->mutex);
    pthread_cond_destroy(&pump->changed);
    pyro_release(NULL, pump);
    close_stream(limit, &stream);
}

static enum stream_stop how_to_stop(struct stream_limit *limit)
{
    pthread_mutex_lock(&limit->mutex);
    enum stream_stop stop = limit->stop;
    pthread_mutex_unlock(&limit->mutex);
    return stop;
}

/* false: all streams end now. */
static bool suspend(struct pump *pump)
{
    struct stream_limit *limit = pump->limit;
    pthread_mutex_lock(&limit->mutex);
    pump->waiting = limit->stop != STREAMS_STOP_ALL;
    if (pump->waiting) {
        limit->suspended++;
        MHD_suspend_connection(pump->connection);
    }
    pthread_mutex_unlock(&limit->mutex);
    return pump->waiting;
}

static void resume(struct pump *pump)
{
    struct stream_limit *limit = pump->limit;
    if (!pump->waiting)
        return;
    pump->waiting = false;
    MHD_resume_connection(pump->connection);
    pthread_mutex_lock(&limit->mutex);
    limit->suspended--;
    pthread_cond_broadcast(&limit->changed);
    pthread_mutex_unlock(&limit->mutex);
}

/* ---- The thread that fills --------------------------------------------------------------------------------------- */

/* Asks the stream until it has something; what it had to say. Without the lock, which others need meanwhile. */
static int64_t fill(struct pump *pump, struct block *block)
{
    for (;;) {
        int64_t got = pump->stream.read(pump->stream.context, block->data, BLOCK);
        if (got > BLOCK)
            return SERVE_STREAM_BROKEN;
        if (got != SERVE_STREAM_LATER)
            return got;
        pthread_mutex_lock(&pump->mutex);
        bool cancelled = pump->cancelled;
        pthread_mutex_unlock(&pump->mutex);
        if (cancelled || how_to_stop(pump->limit) != STREAMS_RUN)
            return SERVE_STREAM_BROKEN;
    }
}

static void *run(void *context)
{
    struct pump *pump = context;
    pthread_mutex_lock(&pump->mutex);
    while (!pump->cancelled && !pump->ended) {
        if (pump->filled - pump->emptied == BLOCKS) {
            pthread_cond_wait(&pump->changed, &pump->mutex);
            continue;
        }
        struct block *block = &pump->blocks[pump->filled % BLOCKS];
        pthread_mutex_unlock(&pump->mutex);
        int64_t got = fill(pump, block);
        pthread_mutex_lock(&pump->mutex);
        if (got > 0) {
            block->len = (size_t)got;
            block->sent = 0;
            pump->filled++;
        } else {
            pump->ended = got == SERVE_STREAM_END ? SERVE_STREAM_END : SERVE_STREAM_BROKEN;
        }
        resume(pump);
    }
    pthread_mutex_unlock(&pump->mutex);
    release(pump);
    return NULL;
}

static bool begin(struct pump *pump)
{
    pump->begun = true;
    pump->owners++;
    bool started = pyro_thread_start_detached(run, pump, STACK);
    if (!started)
        pump->owners--;
    return started;
}

/* ---- The event loop that sends ----------------------------------------------------------------------------------- */

static ssize_t empty(struct pump *pump, char *buffer, size_t size)
{
    struct block *block = &pump->blocks[pump->emptied % BLOCKS];
    size_t rest = block->len - block->sent, len = rest < size ? rest : size;
    memcpy(buffer, block->data + block->sent, len);
    block->sent += len;
    if (block->sent == block->len) {
        pump->emptied++;
        pthread_cond_signal(&pump->changed);
    }
    return (ssize_t)len;
}

static ssize_t read_some(void *context, uint64_t position, char *buffer, size_t size)
{
    struct pump *pump = context;
    ssize_t got = 0;
    (void)position;
    pthread_mutex_lock(&pump->mutex);
    if (!pump->begun && !begin(pump))
        pump->ended = SERVE_STREAM_BROKEN;
    if (pump->filled != pump->emptied) {
        got = empty(pump, buffer, size);
        pyro_connection_sends(pump->connections, pump->place, (uint64_t)got);
    } else if (pump->ended) {
        got = pump->ended == SERVE_STREAM_END ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
    } else {
        pyro_connection_is_worked_on(pump->connections, pump->place);
        if (!suspend(pump))
            got = MHD_CONTENT_READER_END_WITH_ERROR;
    }
    pthread_mutex_unlock(&pump->mutex);
    return got;
}

static void cancel(void *context)
{
    struct pump *pump = context;
    pthread_mutex_lock(&pump->mutex);
    pump->cancelled = true;
    pthread_cond_signal(&pump->changed);
    pthread_mutex_unlock(&pump->mutex);
    release(pump);
}

struct MHD_Response *pyro_stream_response(struct stream_limit *limit, const struct serve_stream *stream,
                                          struct MHD_Connection *connection, struct connections *connections,
                                          struct connection *place)
{
    pthread_mutex_lock(&limit->mutex);
    bool full = limit->count >= STREAMS || limit->stop != STREAMS_RUN;
    limit->count++;
    pthread_mutex_unlock(&limit->mutex);
    struct pump *pump = full ? NULL : pyro_allocate(NULL, sizeof(*pump));
    if (!pump) {
        close_stream(limit, stream);
        return NULL;
    }
    memset(pump, 0, offsetof(struct pump, blocks)); /* the blocks' pages are touched when they are used */
    pump->limit = limit;
    pump->stream = *stream;
    pump->connection = connection;
    pump->connections = connections;
    pump->place = place;
    pump->owners = 1;
    pthread_mutex_init(&pump->mutex, NULL);
    pthread_cond_init(&pump->changed, NULL);
    struct MHD_Response *response = MHD_create_response_from_callback(
        stream->length >= 0 ? (uint64_t)stream->length : MHD_SIZE_UNKNOWN, SEND, read_some, pump, cancel);
    if (!response)
        release(pump);
    return response;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

void pyro_stream_limit_init(struct stream_limit *limit)
{
    *limit = (struct stream_limit){0};
    pthread_mutex_init(&limit->mutex, NULL);
    pthread_cond_init(&limit->changed, NULL);
}

void pyro_stream_limit_stop(struct stream_limit *limit, enum stream_stop how)
{
    pthread_mutex_lock(&limit->mutex);
    limit->stop = how;
    while (how == STREAMS_STOP_ALL && limit->suspended)
        pthread_cond_wait(&limit->changed, &limit->mutex);
    pthread_mutex_unlock(&limit->mutex);
}

void pyro_stream_limit_done(struct stream_limit *limit)
{
    pthread_mutex_lock(&limit->mutex);
    while (limit->count)
        pthread_cond_wait(&limit->changed, &limit->mutex);
    pthread_mutex_unlock(&limit->mutex);
    pthread_mutex_destroy(&limit->mutex);
    pthread_cond_destroy(&limit->changed);
}
