#include "history/last_job.h"

#include <string.h>
#include <unistd.h>

#include "base/json/scan.h"
#include "base/memory/allocator.h"
#include "decode/sparkview/tree.h"
#include "history/line_event.h"
#include "load/lines.h"

enum {
    PIECE_BYTES = 1 << 20,
    OVERLAP_BYTES = 256,   /* more than what precedes the name of an event, with the name */
    AHEAD_BYTES = 4 << 10, /* of the last line of a piece: result and message come before the stack trace */
};

#define MESSAGE "\"Message\":\""

enum pyro_job_end pyro_job_end_read(struct pyro_arena *arena, struct pyro_slice line)
{
    pyro_arena_reset(arena);
    const struct pyro_tree *event = pyro_tree_parse(arena, line);
    if (!event) { /* cut, or damaged */
        const char *message = pyro_slice_find(line, MESSAGE);
        message = message ? message + sizeof(MESSAGE) - 1 : line.ptr;
        return pyro_job_end_of(!pyro_slice_find(line, "\"JobSucceeded\""),
                               (struct pyro_slice){message, (size_t)(line.ptr + line.len - message)});
    }
    const struct pyro_tree *result = pyro_tree_get(event, "Job Result"), *name = pyro_tree_get(result, "Result"),
                           *message = pyro_tree_get(pyro_tree_get(result, "Exception"), "Message");
    bool failed = (name || message) && !(name && pyro_slice_is(name->text, "JobSucceeded"));
    return pyro_job_end_of(failed, message ? message->text : PYRO_SLICE_NULL);
}

/* One more job. *settled: there was one that was not canceled, so that jobs before it change nothing. */
static enum pyro_job_end take(enum pyro_job_end last, enum pyro_job_end next, bool *settled)
{
    *settled = *settled || next == PYRO_JOB_END_SUCCEEDED || next == PYRO_JOB_END_FAILED;
    return pyro_job_end_join(last, next);
}

/* ---- Compressed ---- */

struct forward {
    struct pyro_arena *arena;
    enum pyro_job_end last;
    bool settled;
};

static bool read_line(void *context, struct pyro_slice line)
{
    struct forward *forward = context;
    if (pyro_line_event(line) == PYRO_LINE_JOB_END)
        forward->last = take(forward->last, pyro_job_end_read(forward->arena, line), &forward->settled);
    return true;
}

/* ---- Plain ---- */

struct backward {
    int fd;
    char *buffer; /* PIECE_BYTES + AHEAD_BYTES + PYRO_SCAN_PADDING */
    struct pyro_arena *arena;
};

/* Where the line that holds `at` begins; NULL: before the piece, or too far from it to be an event's name. */
static const char *line_of(const char *at, const char *piece, bool first)
{
    const char *from = at - piece > OVERLAP_BYTES ? at - OVERLAP_BYTES : piece;
    const char *newline = memrchr(from, '\n', (size_t)(at - from));
    if (newline)
        return newline + 1;
    return first && from == piece ? piece : NULL;
}

/* How the jobs ended whose ends begin in the piece, before `end`. */
static enum pyro_job_end read_piece(const struct backward *backward, uint64_t from, size_t len, uint64_t end,
                                    bool *ret_settled)
{
    struct pyro_slice rest = {backward->buffer, len};
    const char *found, *after = backward->buffer + len;
    enum pyro_job_end last = PYRO_JOB_END_NONE;
    while ((found = pyro_slice_find(rest, "SparkListenerJobEnd"))) {
        const char *line = line_of(found, backward->buffer, from == 0);
        const char *newline = memchr(found, '\n', (size_t)(after - found));
        struct pyro_slice text = {line, line ? (size_t)((newline ? newline : after) - line) : 0};
        if (line && from + (uint64_t)(line - backward->buffer) < end && pyro_line_event(text) == PYRO_LINE_JOB_END)
            last = take(last, pyro_job_end_read(backward->arena, text), ret_settled);
        found = newline ? newline : after;
        rest = (struct pyro_slice){found, (size_t)(after - found)};
    }
    return last;
}

static enum pyro_job_end search_backward(const struct backward *backward, uint64_t size, bool *ret_settled)
{
    enum pyro_job_end last = PYRO_JOB_END_NONE;
    for (uint64_t end = size; end > 0 && !*ret_settled;) {
        uint64_t from = end > PIECE_BYTES ? end - PIECE_BYTES : 0;
        ssize_t len = pread(backward->fd, backward->buffer, (size_t)(end - from) + AHEAD_BYTES, (off_t)from);
        if (len <= 0) /* it was cut short */
            break;
        memset(backward->buffer + len, 0, PYRO_SCAN_PADDING);
        last = pyro_job_end_join(read_piece(backward, from, (size_t)len, end, ret_settled), last);
        end = from;
    }
    return last;
}

/* ---- Both ---- */

static enum pyro_status find_in_part(const struct pyro_log *log, size_t part, struct pyro_arena *arena, char *buffer,
                                     struct forward *later, struct pyro_error *error)
{
    struct pyro_reader *reader = NULL;
    int fd;
    uint64_t size;
    PYRO_TRY(pyro_reader_open(&log->parts[part], NULL, &reader, error));
    bool plain = pyro_reader_is_plain_file(reader, &fd, &size);
    if (plain)
        later->last = pyro_job_end_join(search_backward(&(struct backward){fd, buffer, arena}, size, &later->settled),
                                        later->last);
    pyro_reader_close(reader);
    if (plain)
        return PYRO_OK;
    struct forward forward = {.arena = arena};
    struct pyro_log one = *log;
    one.parts = &log->parts[part];
    one.part_count = 1;
    PYRO_TRY(pyro_lines_read(&one, read_line, &forward, error));
    later->last = pyro_job_end_join(forward.last, later->last);
    later->settled = forward.settled;
    return PYRO_OK;
}

enum pyro_status pyro_last_job_find(const struct pyro_log *log, struct pyro_arena *arena, enum pyro_job_end *ret,
                                    struct pyro_error *error)
{
    char *buffer = pyro_allocate(NULL, PIECE_BYTES + AHEAD_BYTES + PYRO_SCAN_PADDING);
    enum pyro_status status = PYRO_OK;
    struct forward later = {.arena = arena};
    if (!buffer)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left while a log was read");
    for (size_t i = log->part_count; i > 0 && status == PYRO_OK && !later.settled; i--)
        status = find_in_part(log, i - 1, arena, buffer, &later, error);
    *ret = later.last;
    pyro_release(NULL, buffer);
    return status;
}
