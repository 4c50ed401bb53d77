#include "load/chunk.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory/allocator.h"

enum { READ_BYTES = 64 * 1024, PAGE_BYTES = 4096 };

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to read the log");
}

void pyro_chunk_init(struct pyro_chunk *chunk, const struct pyro_allocator *allocator, const struct pyro_scan *scan,
                     uint64_t max_record, uint32_t wanted)
{
    *chunk = (struct pyro_chunk){.allocator = allocator, .unit.allocator = allocator};
    pyro_batch_init(&chunk->batch, allocator, scan, max_record, wanted);
}

void pyro_chunk_done(struct pyro_chunk *chunk)
{
    pyro_batch_done(&chunk->batch);
    pyro_unit_done(&chunk->unit);
    pyro_release(chunk->allocator, chunk->memory);
    chunk->memory = chunk->buffer = NULL;
}

bool pyro_chunk_reserve(struct pyro_chunk *chunk, size_t capacity)
{
    if (chunk->buffer && capacity <= chunk->capacity)
        return true;
    if (capacity < chunk->capacity * 2 && chunk->capacity < SIZE_MAX / 4)
        capacity = chunk->capacity * 2;
    if (capacity > SIZE_MAX - PYRO_SCAN_PADDING - PAGE_BYTES)
        return false;
    char *memory = pyro_allocate(chunk->allocator, capacity + PYRO_SCAN_PADDING + PAGE_BYTES);
    if (!memory)
        return false;
    char *buffer = memory + (PAGE_BYTES - (uintptr_t)memory % PAGE_BYTES) % PAGE_BYTES;
    if (chunk->buffer)
        memcpy(buffer, chunk->buffer, chunk->capacity);
    memset(buffer + capacity, 0, PYRO_SCAN_PADDING);
    pyro_release(chunk->allocator, chunk->memory);
    chunk->memory = memory;
    chunk->buffer = buffer;
    chunk->capacity = capacity;
    return true;
}

void pyro_chunk_empty(struct pyro_chunk *chunk)
{
    chunk->text = chunk->buffer;
    chunk->len = 0;
    chunk->head = chunk->tail = PYRO_SLICE_NULL;
    chunk->unit.len = 0;
    chunk->long_record = 0;
    chunk->stream = chunk->ends = false;
    chunk->damage[0] = '\0';
}

static void end_part(struct pyro_chunk *chunk, const char *damage)
{
    chunk->ends = true;
    if (damage)
        snprintf(chunk->damage, sizeof(chunk->damage), "%s", damage);
}

enum pyro_status pyro_chunk_read_stream(struct pyro_chunk *chunk, struct pyro_reader *reader, struct pyro_error *error)
{
    pyro_chunk_empty(chunk);
    chunk->stream = true;
    PYRO_TRY(pyro_reader_take(reader, &chunk->unit, error));
    if (chunk->unit.len)
        return PYRO_OK;
    if (!pyro_chunk_reserve(chunk, PYRO_CHUNK_BYTES))
        return no_memory(error);
    while (chunk->len < PYRO_CHUNK_BYTES && !chunk->ends) {
        size_t got = 0;
        PYRO_TRY(pyro_reader_read(reader, chunk->buffer + chunk->len, PYRO_CHUNK_BYTES - chunk->len, &got, error));
        chunk->len += got;
        if (!got)
            end_part(chunk, pyro_reader_damage(reader));
    }
    return PYRO_OK;
}

enum pyro_status pyro_chunk_cut_stream(struct pyro_chunk *chunk, struct pyro_error *error)
{
    if (chunk->unit.len) {
        const char *damage = NULL;
        if (!pyro_chunk_reserve(chunk, chunk->unit.plain_most))
            return no_memory(error);
        PYRO_TRY(chunk->unit.codec->unpack(&chunk->unit, chunk->buffer, &chunk->len, &damage, error));
        if (damage)
            end_part(chunk, damage);
    }
    size_t len = chunk->len;
    const char *first = len ? memchr(chunk->buffer, '\n', len) : NULL;
    size_t head = first ? (size_t)(first + 1 - chunk->buffer) : len;
    const char *last = len > head ? memrchr(chunk->buffer + head, '\n', len - head) : NULL;
    size_t lines = last ? (size_t)(last + 1 - chunk->buffer) : head;
    chunk->head = (struct pyro_slice){chunk->buffer, head};
    chunk->tail = (struct pyro_slice){chunk->buffer + lines, len - lines};
    chunk->text = chunk->buffer + head;
    chunk->len = lines - head;
    return PYRO_OK;
}

/* Reads [from, to) to the buffer's place `at`; *ret_len is less when the file has become shorter. */
static enum pyro_status read_at(struct pyro_chunk *chunk, int fd, uint64_t from, uint64_t to, size_t at,
                                size_t *ret_len, struct pyro_error *error)
{
    size_t want = (size_t)(to - from), len = 0;
    if (!pyro_chunk_reserve(chunk, at + want))
        return no_memory(error);
    while (len < want) {
        ssize_t got = pread(fd, chunk->buffer + at + len, want - len, (off_t)(from + len));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pyro_error_set(error, PYRO_ERROR_INPUT, "reading failed: %s", strerror(errno));
        if (got == 0)
            break;
        len += (size_t)got;
    }
    *ret_len = len;
    return PYRO_OK;
}

/* Length of the record that goes on behind `from`, its newline included: it is too long to be kept. */
static enum pyro_status measure_record(struct pyro_chunk *chunk, int fd, uint64_t from, uint64_t size,
                                       uint64_t *ret_more, struct pyro_error *error)
{
    for (uint64_t at = from; at < size;) {
        uint64_t to = size - at > PYRO_CHUNK_BYTES ? at + PYRO_CHUNK_BYTES : size;
        size_t got = 0;
        PYRO_TRY(read_at(chunk, fd, at, to, 0, &got, error));
        const char *newline = got ? memchr(chunk->buffer, '\n', got) : NULL;
        if (newline || !got) {
            *ret_more = at - from + (newline ? (uint64_t)(newline + 1 - chunk->buffer) : 0);
            return PYRO_OK;
        }
        at += got;
    }
    *ret_more = size - from;
    return PYRO_OK;
}

enum pyro_status pyro_chunk_read_range(struct pyro_chunk *chunk, int fd, uint64_t from, uint64_t to, uint64_t size,
                                       uint64_t max_record, struct pyro_error *error)
{
    pyro_chunk_empty(chunk);
    /* A line begins behind a newline: look from the byte before. Reading begins with its page, so that every byte comes
     * to the same place in a page as the file has it: copies that are a few bytes apart take some processors four times
     * as long. */
    uint64_t start = from ? (from - 1) / PAGE_BYTES * PAGE_BYTES : 0,
             want = size - to > READ_BYTES ? to + READ_BYTES : size;
    /* Room for any range as long as this one, so that the buffer does not grow at the second. */
    uint64_t room = to - from + READ_BYTES + PAGE_BYTES;
    if (!pyro_chunk_reserve(chunk, (size_t)(room < size ? room : size)))
        return no_memory(error);
    size_t len = 0, head = (size_t)(to - 1 - start); /* place of the last byte that lets a line begin in the range */
    PYRO_TRY(read_at(chunk, fd, start, want, 0, &len, error));
    size_t begin = 0;
    if (from) {
        size_t before = (size_t)(from - 1 - start), searched = len < head ? len : head;
        const char *newline = before < searched ? memchr(chunk->buffer + before, '\n', searched - before) : NULL;
        if (!newline) {
            chunk->text = chunk->buffer;
            return PYRO_OK; /* no line begins here */
        }
        begin = (size_t)(newline + 1 - chunk->buffer);
    }
    /* The last line that begins here ends at the first newline from `head` on. */
    size_t searched = head < len ? head : len;
    const char *line = memrchr(chunk->buffer + begin, '\n', searched > begin ? searched - begin : 0), *end = NULL;
    size_t line_at = line ? (size_t)(line + 1 - chunk->buffer) : begin;
    while (!(end = memchr(chunk->buffer + searched, '\n', len - searched)) && start + len < size) {
        searched = len;
        if (len - line_at > max_record) {
            uint64_t more = 0;
            struct pyro_chunk rest;
            pyro_chunk_init(&rest, chunk->allocator, NULL, 0, 0);
            enum pyro_status status = measure_record(&rest, fd, start + len, size, &more, error);
            pyro_chunk_done(&rest);
            chunk->text = chunk->buffer + begin;
            chunk->len = line_at - begin;
            chunk->long_record = len - line_at + more;
            return status;
        }
        size_t more = len < PYRO_CHUNK_BYTES * 2 ? READ_BYTES * 4 : len, got = 0;
        uint64_t upto = size - (start + len) > more ? start + len + more : size;
        PYRO_TRY(read_at(chunk, fd, start + len, upto, len, &got, error));
        if (!got)
            break; /* the file has become shorter */
        len += got;
    }
    chunk->text = chunk->buffer + begin;
    chunk->len = (end ? (size_t)(end + 1 - chunk->buffer) : len) - begin;
    return PYRO_OK;
}
