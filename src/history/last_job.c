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
    LINE_BYTES = 64 << 10, /* of a line: a result comes before the exception's stack trace */
};

enum pyro_job_end pyro_job_end_read(struct pyro_arena *arena, struct pyro_slice line)
{
    pyro_arena_reset(arena);
    const struct pyro_tree *event = pyro_tree_parse(arena, line);
    if (!event) /* cut, or damaged */
        return pyro_slice_find(line, "\"JobSucceeded\"") ? PYRO_JOB_END_SUCCEEDED : PYRO_JOB_END_FAILED;
    const struct pyro_tree *result = pyro_tree_get(pyro_tree_get(event, "Job Result"), "Result");
    return result && pyro_slice_is(result->text, "JobSucceeded") ? PYRO_JOB_END_SUCCEEDED : PYRO_JOB_END_FAILED;
}

/* ---- Compressed ---- */

struct forward {
    struct pyro_arena *arena;
    enum pyro_job_end last;
};

static bool read_line(void *context, struct pyro_slice line)
{
    struct forward *forward = context;
    if (pyro_line_event(line) == PYRO_LINE_JOB_END)
        forward->last = pyro_job_end_read(forward->arena, line);
    return true;
}

/* ---- Plain ---- */

struct backward {
    int fd;
    char *buffer; /* PIECE_BYTES + OVERLAP_BYTES + PYRO_SCAN_PADDING */
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

/* The offset of the last job's end that begins in the piece; UINT64_MAX: none does. */
static uint64_t find_in(const struct backward *backward, uint64_t from, size_t len)
{
    struct pyro_slice rest = {backward->buffer, len};
    const char *found;
    uint64_t last = UINT64_MAX;
    while ((found = pyro_slice_find(rest, "SparkListenerJobEnd"))) {
        const char *line = line_of(found, backward->buffer, from == 0);
        size_t left = line ? len - (size_t)(line - backward->buffer) : 0;
        if (line && pyro_line_event((struct pyro_slice){line, left}) == PYRO_LINE_JOB_END)
            last = from + (uint64_t)(line - backward->buffer);
        found += strlen("SparkListenerJobEnd");
        rest = (struct pyro_slice){found, len - (size_t)(found - backward->buffer)};
    }
    return last;
}

static enum pyro_job_end read_at(const struct backward *backward, uint64_t offset)
{
    ssize_t len = pread(backward->fd, backward->buffer, LINE_BYTES, (off_t)offset);
    if (len <= 0)
        return PYRO_JOB_END_NONE;
    memset(backward->buffer + len, 0, PYRO_SCAN_PADDING);
    const char *newline = memchr(backward->buffer, '\n', (size_t)len);
    size_t line = newline ? (size_t)(newline - backward->buffer) : (size_t)len;
    return pyro_job_end_read(backward->arena, (struct pyro_slice){backward->buffer, line});
}

static enum pyro_job_end search_backward(const struct backward *backward, uint64_t size)
{
    for (uint64_t end = size; end > 0;) {
        uint64_t from = end > PIECE_BYTES ? end - PIECE_BYTES : 0;
        ssize_t len = pread(backward->fd, backward->buffer, (size_t)(end - from) + OVERLAP_BYTES, (off_t)from);
        if (len <= 0) /* it was cut short */
            return PYRO_JOB_END_NONE;
        memset(backward->buffer + len, 0, PYRO_SCAN_PADDING);
        uint64_t offset = find_in(backward, from, (size_t)len);
        if (offset != UINT64_MAX)
            return read_at(backward, offset);
        end = from;
    }
    return PYRO_JOB_END_NONE;
}

/* ---- Both ---- */

static enum pyro_status find_in_part(const struct pyro_log *log, size_t part, struct pyro_arena *arena, char *buffer,
                                     enum pyro_job_end *ret, struct pyro_error *error)
{
    struct pyro_reader *reader = NULL;
    int fd;
    uint64_t size;
    PYRO_TRY(pyro_reader_open(&log->parts[part], NULL, &reader, error));
    bool plain = pyro_reader_is_plain_file(reader, &fd, &size);
    if (plain)
        *ret = search_backward(&(struct backward){fd, buffer, arena}, size);
    pyro_reader_close(reader);
    if (plain)
        return PYRO_OK;
    struct forward forward = {.arena = arena};
    struct pyro_log one = *log;
    one.parts = &log->parts[part];
    one.part_count = 1;
    PYRO_TRY(pyro_lines_read(&one, read_line, &forward, error));
    *ret = forward.last;
    return PYRO_OK;
}

enum pyro_status pyro_last_job_find(const struct pyro_log *log, struct pyro_arena *arena, enum pyro_job_end *ret,
                                    struct pyro_error *error)
{
    char *buffer = pyro_allocate(NULL, PIECE_BYTES + OVERLAP_BYTES + PYRO_SCAN_PADDING);
    enum pyro_status status = PYRO_OK;
    *ret = PYRO_JOB_END_NONE;
    if (!buffer)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left while a log was read");
    for (size_t i = log->part_count; i > 0 && status == PYRO_OK && *ret == PYRO_JOB_END_NONE; i--)
        status = find_in_part(log, i - 1, arena, buffer, ret, error);
    pyro_release(NULL, buffer);
    return status;
}
