#include "load/lines.h"

#include "base/json/scan.h"
#include "base/memory/allocator.h"
#include "base/threads/cpu_meter.h"
#include "load/logged/logged.h"

enum {
    FIRST_PIECE_BYTES = 64 << 10, /* holds the events that a list needs, in most logs */
    PIECE_BYTES = 1 << 20,
    LONGEST_LINE = 256 << 20
};

struct lines {
    char *buffer;
    size_t len, capacity;
    size_t searched;    /* bytes of the buffer that hold no end of a line */
    size_t piece;       /* bytes to read next */
    size_t first;       /* of the first piece, what is left to read: readers give as little as they like */
    uint64_t most_line; /* of this part */
    bool skipping;      /* the rest of a line beyond the limit */
    pyro_line_callback *callback;
    void *context;
    struct pyro_cpu_meter *meter;
    uint64_t stamp;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to read a log");
}

static bool make_room(struct lines *lines)
{
    size_t wanted = lines->len + lines->piece + PYRO_SCAN_PADDING;
    if (wanted <= lines->capacity)
        return true;
    wanted = wanted > 2 * lines->capacity ? wanted : 2 * lines->capacity;
    char *grown = pyro_reallocate(NULL, lines->buffer, wanted);
    if (!grown)
        return false;
    lines->buffer = grown;
    lines->capacity = wanted;
    return true;
}

/* Hands out whole lines and moves the rest to the front; false: stopped. */
static bool hand_out(struct lines *lines, bool end)
{
    char *at = lines->buffer, *stop = lines->buffer + lines->len, *search = at + lines->searched;
    while (at < stop) {
        char *newline = memchr(search, '\n', (size_t)(stop - search));
        if (!newline && !end)
            break;
        char *line_end = newline ? newline : stop;
        size_t len = (size_t)(line_end - at);
        if (len && at[len - 1] == '\r')
            len--;
        if (!lines->skipping && !lines->callback(lines->context, (struct pyro_slice){at, len}))
            return false;
        lines->skipping = false;
        search = at = newline ? newline + 1 : stop;
    }
    lines->len = (size_t)(stop - at);
    if (at != lines->buffer)
        memmove(lines->buffer, at, lines->len);
    lines->searched = lines->len;
    return true;
}

/* Forgets the beginning of a line that is too long, or refuses it. */
static enum pyro_status limit_line(struct lines *lines, const struct pyro_log_part *part, struct pyro_error *error)
{
    if (part->most_line_bytes && lines->len > part->most_line_bytes)
        return pyro_line_too_long(part, error);
    if (lines->len > LONGEST_LINE) {
        lines->len = lines->searched = 0;
        lines->skipping = true;
    }
    return PYRO_OK;
}

static enum pyro_status read_part(const struct pyro_log_part *part, struct lines *lines, bool *ret_stopped,
                                  struct pyro_error *error)
{
    struct pyro_reader *reader = NULL;
    size_t len = 1;
    PYRO_TRY(pyro_reader_open(part, NULL, &reader, error));
    enum pyro_status status = PYRO_OK;
    lines->len = lines->searched = 0;
    lines->skipping = false;
    while (status == PYRO_OK && len && !*ret_stopped) {
        if (!make_room(lines)) {
            status = no_memory(error);
            break;
        }
        status = pyro_reader_read(reader, lines->buffer + lines->len, lines->piece, &len, error);
        if (status == PYRO_OK) {
            lines->first -= len < lines->first ? len : lines->first;
            lines->piece = lines->first ? lines->first : PIECE_BYTES;
            lines->len += len;
            memset(lines->buffer + lines->len, 0, PYRO_SCAN_PADDING);
            *ret_stopped = !hand_out(lines, len == 0);
            status = *ret_stopped ? PYRO_OK : limit_line(lines, part, error);
            if (!pyro_cpu_charge(lines->meter, &lines->stamp) && status == PYRO_OK)
                status = pyro_cpu_exceeded(lines->meter, error);
        }
    }
    pyro_reader_close(reader);
    return status;
}

enum pyro_status pyro_lines_read(const struct pyro_log *log, pyro_line_callback *callback, void *context,
                                 struct pyro_error *error)
{
    if (log->layout == PYRO_LAYOUT_LOGS)
        return pyro_logged_lines(log, callback, context, error);
    struct lines lines = {.piece = FIRST_PIECE_BYTES,
                          .first = FIRST_PIECE_BYTES,
                          .callback = callback,
                          .context = context,
                          .meter = log->meter,
                          .stamp = pyro_cpu_now()};
    enum pyro_status status = PYRO_OK;
    bool stopped = false;
    for (size_t i = 0; i < log->part_count && status == PYRO_OK && !stopped; i++)
        status = read_part(&log->parts[i], &lines, &stopped, error);
    pyro_release(NULL, lines.buffer);
    return status;
}

enum pyro_status pyro_line_too_long(const struct pyro_log_part *part, struct pyro_error *error)
{
    pyro_error_describe(error, PYRO_ERROR_INPUT,
                        "it has a line of more than %llu bytes, the maximum for an upload (--max-upload-line)",
                        (unsigned long long)part->most_line_bytes);
    pyro_error_at(error, part->path.ptr, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}
