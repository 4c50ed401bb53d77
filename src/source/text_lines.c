#include "source/text_lines.h"

#include <string.h>

#include "base/json/scan.h"
#include "base/memory/allocator.h"

enum { BUFFER_BYTES = 2 * PYRO_TEXT_LINE_BYTES };

enum pyro_status pyro_text_lines_init(struct pyro_text_lines *lines, struct pyro_reader *reader,
                                      const struct pyro_allocator *allocator, struct pyro_error *error)
{
    *lines = (struct pyro_text_lines){.allocator = allocator, .reader = reader};
    lines->buffer = pyro_allocate(allocator, BUFFER_BYTES + PYRO_SCAN_PADDING);
    return lines->buffer ? PYRO_OK : pyro_no_memory(error);
}

void pyro_text_lines_done(struct pyro_text_lines *lines)
{
    pyro_release(lines->allocator, lines->buffer);
    lines->buffer = NULL;
}

/* Reads more after the unread bytes, which move to the front. */
static enum pyro_status fill(struct pyro_text_lines *lines, struct pyro_error *error)
{
    size_t got;
    if (lines->begin > 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    PYRO_TRY(pyro_reader_read(lines->reader, lines->buffer + lines->end, BUFFER_BYTES - lines->end, &got, error));
    lines->end += got;
    memset(lines->buffer + lines->end, 0, PYRO_SCAN_PADDING); /* scans look at it */
    lines->ended = got == 0;
    return PYRO_OK;
}

/* Drops bytes up to the end of a line that is too long. */
static enum pyro_status skip_rest(struct pyro_text_lines *lines, struct pyro_error *error)
{
    for (;;) {
        const char *from = lines->buffer + lines->begin;
        const char *end = memchr(from, '\n', lines->end - lines->begin);
        size_t dropped = end ? (size_t)(end - from) + 1 : lines->end - lines->begin;
        lines->begin += dropped;
        lines->next_place += dropped;
        if (end || lines->ended)
            return PYRO_OK;
        PYRO_TRY(fill(lines, error));
    }
}

enum pyro_status pyro_text_lines_next(struct pyro_text_lines *lines, struct pyro_slice *ret, struct pyro_error *error)
{
    size_t searched = 0;
    const char *end = NULL;
    if (lines->skipping)
        PYRO_TRY(skip_rest(lines, error));
    lines->skipping = false;
    for (;;) {
        const char *from = lines->buffer + lines->begin;
        size_t have = lines->end - lines->begin;
        end = memchr(from + searched, '\n', have - searched);
        if (end || lines->ended || have > PYRO_TEXT_LINE_BYTES)
            break;
        searched = have;
        PYRO_TRY(fill(lines, error));
    }
    const char *line = lines->buffer + lines->begin;
    size_t have = lines->end - lines->begin;
    if (!end && have == 0) {
        *ret = PYRO_SLICE_NULL;
        return PYRO_OK;
    }
    size_t len = end ? (size_t)(end - line) : have, taken = end ? len + 1 : len;
    bool cut = len > PYRO_TEXT_LINE_BYTES;
    lines->place = lines->next_place;
    lines->number++;
    if (cut) { /* the rest is skipped by the next call: this one's line must stay where it is */
        taken = len = PYRO_TEXT_LINE_BYTES;
        lines->skipping = true;
        lines->cut++;
    }
    lines->begin += taken;
    lines->next_place += taken;
    *ret = (struct pyro_slice){line, len > 0 && line[len - 1] == '\r' ? len - 1 : len};
    return PYRO_OK;
}
