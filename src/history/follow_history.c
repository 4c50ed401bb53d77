/* Histories of logs: read once, or followed while they grow. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "decode/sparkview/listener.h"
#include "history/history.h"
#include "load/feed.h"

enum { TAIL_BYTES = 64 << 10 };

/* A file that was read, up to the end of a line. */
struct read_file {
    uint64_t device, inode, offset;
    uint64_t searched; /* no line ends between `offset` and here */
};

struct pyro_history_follower {
    struct pyro_listener listener;
    struct pyro_feed feed;
    PYRO_VEC(struct read_file) files;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to read a log");
}

/* ---- Where batches go ---- */

static bool begin_part(void *context, struct pyro_slice path)
{
    (void)path;
    return context != NULL;
}

static bool apply(void *context, const struct pyro_batch *batch)
{
    return pyro_listener_apply(context, batch);
}

static bool reject_long(void *context, uint64_t len)
{
    struct pyro_listener *listener = context;
    listener->history->bytes += len;
    listener->history->bad_lines++;
    return true;
}

static bool note_damage(void *context, const char *damage)
{
    (void)damage;
    return context != NULL;
}

static struct pyro_load_sink sink_of(struct pyro_listener *listener)
{
    return (struct pyro_load_sink){
        .context = listener,
        .wanted = pyro_listener_wanted(listener->with_sql),
        .begin_part = begin_part,
        .apply = apply,
        .reject_long = reject_long,
        .note_damage = note_damage,
    };
}

/* The defaults, with the progress that is given. */
static enum pyro_status resolve(const struct pyro_options *given, struct pyro_load_settings *ret,
                                struct pyro_error *error)
{
    PYRO_TRY(pyro_load_resolve(NULL, NULL, ret, error));
    ret->progress = given ? given->progress : NULL;
    ret->progress_context = given ? given->progress_context : NULL;
    return PYRO_OK;
}

/* ---- Once ---- */

enum pyro_status pyro_history_load(const pyro_inputs *inputs, size_t index, bool with_sql,
                                   const struct pyro_retained_limits *limits, const struct pyro_options *given,
                                   struct pyro_history **ret, struct pyro_error *error)
{
    const struct pyro_log *log = pyro_inputs_log(inputs, index);
    struct pyro_listener listener;
    struct pyro_load_settings options;
    if (!log)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no log %zu", index);
    PYRO_TRY(resolve(given, &options, error));
    options.redaction = pyro_inputs_redaction(inputs);
    if (!pyro_listener_init(&listener, with_sql, limits, pyro_inputs_redaction(inputs))) {
        pyro_listener_done(&listener);
        return no_memory(error);
    }
    const struct pyro_load_sink sink = sink_of(&listener);
    enum pyro_status status = pyro_load_batches(log, &options, &sink, error);
    struct pyro_history *history = status == PYRO_OK ? pyro_listener_take(&listener) : NULL;
    if (status == PYRO_OK && !history)
        status = no_memory(error);
    *ret = history;
    pyro_listener_done(&listener);
    return status;
}

/* ---- As bytes come ---- */

enum pyro_status pyro_history_follower_new(bool with_sql, const struct pyro_retained_limits *limits,
                                           enum pyro_redaction redaction, struct pyro_history_follower **ret,
                                           struct pyro_error *error)
{
    struct pyro_history_follower *follower = pyro_allocate(NULL, sizeof(*follower));
    if (!follower)
        return no_memory(error);
    *follower = (struct pyro_history_follower){0};
    bool ok = pyro_listener_init(&follower->listener, with_sql, limits, redaction);
    struct pyro_load_settings settings;
    enum pyro_status status = pyro_load_resolve(NULL, NULL, &settings, error);
    const struct pyro_load_sink sink = sink_of(&follower->listener);
    pyro_feed_init(&follower->feed, NULL, &sink, settings.max_record_bytes);
    if (status == PYRO_OK && !ok)
        status = no_memory(error);
    if (status != PYRO_OK) {
        pyro_history_follower_free(follower);
        return status;
    }
    *ret = follower;
    return PYRO_OK;
}

void pyro_history_follower_free(struct pyro_history_follower *follower)
{
    if (!follower)
        return;
    pyro_feed_done(&follower->feed);
    pyro_listener_done(&follower->listener);
    pyro_vec_done(&follower->files, NULL);
    pyro_release(NULL, follower);
}

enum pyro_status pyro_history_follower_feed(struct pyro_history_follower *follower, const void *bytes, size_t len,
                                            struct pyro_error *error)
{
    return pyro_feed_add(&follower->feed, bytes, len) ? PYRO_OK : no_memory(error);
}

enum pyro_status pyro_history_follower_snapshot(struct pyro_history_follower *follower, struct pyro_history **ret,
                                                struct pyro_error *error)
{
    *ret = pyro_listener_snapshot(&follower->listener);
    return *ret ? PYRO_OK : no_memory(error);
}

/* ---- As files grow ---- */

/* Sets *ret_end to the end of the last whole line between `from` and `size`, or leaves it when none ends there. False:
 * the file cannot be read. */
static bool last_line_end(int fd, uint64_t from, uint64_t size, uint64_t *ret_end)
{
    char tail[TAIL_BYTES];
    for (uint64_t end = size; end > from;) {
        uint64_t begin = end - from > TAIL_BYTES ? end - TAIL_BYTES : from;
        ssize_t got = pread(fd, tail, (size_t)(end - begin), (off_t)begin);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)(end - begin))
            return false;
        const char *newline = memrchr(tail, '\n', (size_t)got);
        if (newline) {
            *ret_end = begin + (uint64_t)(newline + 1 - tail);
            return true;
        }
        end = begin;
    }
    return true;
}

/* How far whole lines reach in a file that is written. A line that comes in many pieces is searched once. */
static uint64_t whole_lines(struct read_file *file, int fd, uint64_t size)
{
    uint64_t end = file->offset;
    uint64_t from = file->searched > end && file->searched <= size ? file->searched : end;
    if (last_line_end(fd, from, size, &end))
        file->searched = size;
    return end;
}

/* Where to go on in a part and where to stop; false: it is not what was read before, or cannot be followed. */
static bool measure_part(const struct pyro_log *log, size_t index, struct read_file *file, uint64_t *ret_until)
{
    struct pyro_reader *reader = NULL;
    struct stat info;
    int fd;
    uint64_t size;
    if (pyro_reader_open(&log->parts[index], NULL, &reader, NULL) != PYRO_OK)
        return false;
    bool plain = pyro_reader_is_plain_file(reader, &fd, &size) && fstat(fd, &info) == 0;
    bool same = plain && file->device == (uint64_t)info.st_dev && file->inode == (uint64_t)info.st_ino;
    bool new_one = file->inode == 0 && file->offset == 0;
    if (plain && (same || new_one) && size >= file->offset) {
        file->device = (uint64_t)info.st_dev;
        file->inode = (uint64_t)info.st_ino;
        bool grows = log->in_progress && index + 1 == log->part_count;
        *ret_until = grows ? whole_lines(file, fd, size) : size;
    } else {
        plain = false;
    }
    pyro_reader_close(reader);
    return plain;
}

/* Reads on; false: it has to start again. */
static bool measure(struct pyro_history_follower *follower, const struct pyro_log *log, uint64_t *from, uint64_t *until,
                    bool *ret_memory)
{
    *ret_memory = true;
    if (log->part_count < follower->files.count)
        return false;
    while (follower->files.count < log->part_count && *ret_memory)
        *ret_memory = pyro_vec_push(&follower->files, NULL) != NULL;
    for (size_t i = 0; *ret_memory && i < log->part_count; i++) {
        from[i] = follower->files.items[i].offset;
        if (!measure_part(log, i, &follower->files.items[i], &until[i]))
            return false;
    }
    return *ret_memory;
}

static enum pyro_status read_on(struct pyro_history_follower *follower, const struct pyro_log *log,
                                const struct pyro_options *given, bool *ret_same, struct pyro_error *error)
{
    struct pyro_load_settings options;
    PYRO_TRY(resolve(given, &options, error));
    uint64_t *from = pyro_allocate(NULL, 2 * log->part_count * sizeof(*from) + 1), *until = from + log->part_count;
    bool memory = false;
    *ret_same = from && measure(follower, log, from, until, &memory);
    struct pyro_load_sink sink = sink_of(&follower->listener);
    sink.from = from;
    sink.until = until;
    enum pyro_status status = memory ? PYRO_OK : no_memory(error);
    if (*ret_same)
        status = pyro_load_batches(log, &options, &sink, error);
    for (size_t i = 0; *ret_same && status == PYRO_OK && i < log->part_count; i++)
        follower->files.items[i].offset = until[i];
    pyro_release(NULL, from);
    return status;
}

enum pyro_status pyro_history_follow(struct pyro_history_follower **follower, const pyro_inputs *inputs, size_t index,
                                     bool with_sql, const struct pyro_retained_limits *limits,
                                     const struct pyro_options *options, struct pyro_history **ret,
                                     struct pyro_error *error)
{
    const struct pyro_log *log = pyro_inputs_log(inputs, index);
    bool same = false;
    if (!log)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no log %zu", index);
    struct pyro_history_follower *one = *follower;
    *follower = NULL; /* after an error it is not known what was read: the next one starts again */
    for (int attempt = one ? 0 : 1; attempt < 2 && !same; attempt++) {
        if (attempt) {
            pyro_history_follower_free(one);
            one = NULL;
            PYRO_TRY(pyro_history_follower_new(with_sql, limits, pyro_inputs_redaction(inputs), &one, error));
        }
        if (!one)
            return no_memory(error);
        enum pyro_status status = read_on(one, log, options, &same, error);
        if (status != PYRO_OK) {
            pyro_history_follower_free(one);
            return status;
        }
    }
    if (same) {
        enum pyro_status status = pyro_history_follower_snapshot(one, ret, error);
        if (status == PYRO_OK)
            *follower = one;
        else /* a lack of memory may have lost something permanently */
            pyro_history_follower_free(one);
        return status;
    }
    pyro_history_follower_free(one);
    return pyro_history_load(inputs, index, with_sql, limits, options, ret, error);
}
