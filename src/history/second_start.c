#include "history/second_start.h"

#include <string.h>
#include <unistd.h>

#include "base/json/scan.h"
#include "base/memory/allocator.h"

enum {
    SAMPLES = 64,
    SAMPLE_BYTES = 64 << 10,
    PIECE_BYTES = 1 << 20,
    OVERLAP_BYTES = 64 << 10, /* more than the line of an application's start */
    HEAD_BYTES = 16 << 20,
    PLACE_BYTES = 4 << 20 /* of a place, before its lines are read */
};

struct search {
    int fd;
    char *buffer; /* PIECE_BYTES + PYRO_SCAN_PADDING */
    pyro_line_callback *each;
    void *context;
};

struct sample {
    uint64_t at;
    int64_t task; /* id of the first task that starts there; -1: none does */
};

static struct pyro_slice read_piece(const struct search *search, uint64_t at, size_t len)
{
    ssize_t got = pread(search->fd, search->buffer, len, (off_t)at);
    size_t all = got > 0 ? (size_t)got : 0;
    memset(search->buffer + all, 0, PYRO_SCAN_PADDING);
    return (struct pyro_slice){search->buffer, all};
}

/* {"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{"Task ID":7, */
static struct sample sample_at(const struct search *search, uint64_t at)
{
    enum { REACH = 400, DIGITS = 18 };
    static const char event[] = "\"SparkListenerTaskStart\"", id[] = "\"Task ID\":";
    struct pyro_slice text = read_piece(search, at, SAMPLE_BYTES);
    const char *start = pyro_slice_find(text, event), *end = text.ptr + text.len;
    struct pyro_slice rest = {start, start ? (size_t)(end - start) : 0};
    rest.len = rest.len < REACH ? rest.len : REACH;
    const char *digit = start ? pyro_slice_find(rest, id) : NULL;
    int64_t task = -1;
    digit = digit ? digit + strlen(id) : end;
    for (unsigned n = 0; n < DIGITS && digit < end && *digit >= '0' && *digit <= '9'; n++, digit++)
        task = (task < 0 ? 0 : task) * 10 + (*digit - '0');
    return (struct sample){at, digit < end ? task : -1};
}

/* False: the caller has what it looked for. */
static bool read_lines(const struct search *search, uint64_t from, uint64_t to)
{
    bool inside = from > 0; /* of a line that begins before */
    while (from < to) {
        size_t wanted = to - from < PIECE_BYTES ? (size_t)(to - from) : PIECE_BYTES;
        struct pyro_slice text = read_piece(search, from, wanted);
        const char *at = text.ptr, *end = text.ptr + text.len;
        while (at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
            if (!inside && !search->each(search->context, (struct pyro_slice){at, (size_t)(stop - at)}))
                return false;
            inside = false;
            at = stop + 1;
        }
        if (text.len < PIECE_BYTES)
            return true;
        from += PIECE_BYTES - OVERLAP_BYTES;
        inside = true;
    }
    return true;
}

/* Between two samples the ids fall: narrows the place. */
static bool read_place(const struct search *search, struct sample low, struct sample high)
{
    while (high.at - low.at > PLACE_BYTES) {
        struct sample middle = sample_at(search, low.at + (high.at - low.at) / 2);
        if (middle.task < 0)
            break;
        if (middle.task < low.task)
            high = middle;
        else
            low = middle;
    }
    uint64_t most = low.at + HEAD_BYTES, end = high.at + SAMPLE_BYTES;
    return read_lines(search, low.at, end < most ? end : most);
}

static bool look(const struct search *search, uint64_t size)
{
    struct sample last = {0, -1};
    if (!read_lines(search, 0, size < HEAD_BYTES ? size : HEAD_BYTES))
        return true;
    for (uint64_t i = 0; i <= SAMPLES; i++) {
        uint64_t at = size / SAMPLES * i;
        at = i == SAMPLES && size > SAMPLE_BYTES ? size - SAMPLE_BYTES : at;
        struct sample sample = sample_at(search, at);
        if (sample.task < 0)
            continue;
        if (sample.task < last.task && !read_place(search, last, sample))
            return true;
        last = sample;
    }
    return true;
}

bool pyro_second_start_look(int fd, uint64_t size, pyro_line_callback *each, void *context)
{
    struct search search = {fd, pyro_allocate(NULL, PIECE_BYTES + PYRO_SCAN_PADDING), each, context};
    bool ok = search.buffer && look(&search, size);
    pyro_release(NULL, search.buffer);
    return ok;
}
