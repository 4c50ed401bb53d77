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
    *chunk = (struct pyro_chunk){.allocator = allocator};
    pyro_batch_init(&chunk->batch, allocator, scan, max_record, wanted);
}

void pyro_chunk_done(struct pyro_chunk *chunk)
{
    pyro_batch_done(&chunk->batch);
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

void pyro_carry_done(struct pyro_carry *carry)
{
    pyro_release(carry->allocator, carry->data);
    carry->data = NULL;
    carry->len = carry->searched = carry->capacity = 0;
}

static bool carry_set(struct pyro_carry *carry, const char *data, size_t len)
{
    if (len > carry->capacity) {
        char *grown = pyro_reallocate(carry->allocator, carry->data, len);
        if (!grown)
            return false;
        carry->data = grown;
        carry->capacity = len;
    }
    if (len)
        memcpy(carry->data, data, len);
    carry->len = carry->searched = len;
    return true;
}

/* Reads on, keeping nothing, up to the newline that ends a record beyond the limit. What follows it is carried. */
static enum pyro_status discard_record(struct pyro_chunk *chunk, struct pyro_reader *reader, struct pyro_carry *carry,
                                       char *scratch, size_t capacity, bool *ret_end, struct pyro_error *error)
{
    for (;;) {
        size_t got = 0;
        PYRO_TRY(pyro_reader_read(reader, scratch, capacity, &got, error));
        const char *newline = got ? memchr(scratch, '\n', got) : NULL;
        if (!got) {
            *ret_end = true;
            return PYRO_OK;
        }
        if (newline) {
            size_t used = (size_t)(newline + 1 - scratch);
            chunk->long_record += used;
            bool kept = carry_set(carry, newline + 1, got - used);
            carry->searched = 0;
            return kept ? PYRO_OK : no_memory(error);
        }
        chunk->long_record += got;
    }
}

static void note_damage(struct pyro_chunk *chunk, const struct pyro_reader *reader)
{
    const char *damage = pyro_reader_damage(reader);
    if (damage)
        snprintf(chunk->damage, sizeof(chunk->damage), "%s", damage);
}

enum pyro_status pyro_chunk_read_stream(struct pyro_chunk *chunk, struct pyro_reader *reader, struct pyro_carry *carry,
                                        uint64_t max_record, bool *ret_end, struct pyro_error *error)
{
    *ret_end = false;
    chunk->long_record = 0;
    chunk->damage[0] = '\0';
    size_t wanted = carry->len > PYRO_CHUNK_BYTES ? carry->len + READ_BYTES : PYRO_CHUNK_BYTES + READ_BYTES;
    if (!pyro_chunk_reserve(chunk, wanted))
        return no_memory(error);
    size_t len = carry->len, searched = carry->searched, lines = 0; /* bytes of whole lines */
    if (len)
        memcpy(chunk->buffer, carry->data, len);
    carry->len = carry->searched = 0;
    while (!(lines && len >= PYRO_CHUNK_BYTES)) {
        const char *found = len > searched ? memrchr(chunk->buffer + searched, '\n', len - searched) : NULL;
        if (found)
            lines = (size_t)(found + 1 - chunk->buffer);
        searched = len;
        if (lines && len >= PYRO_CHUNK_BYTES)
            break;
        if (!lines && len > max_record) {
            chunk->text = chunk->buffer;
            chunk->len = 0;
            chunk->long_record = len;
            PYRO_TRY(discard_record(chunk, reader, carry, chunk->buffer, chunk->capacity, ret_end, error));
            if (*ret_end)
                note_damage(chunk, reader);
            return PYRO_OK;
        }
        size_t got = 0;
        if (len == chunk->capacity && !pyro_chunk_reserve(chunk, len + READ_BYTES))
            return no_memory(error);
        PYRO_TRY(pyro_reader_read(reader, chunk->buffer + len, chunk->capacity - len, &got, error));
        if (!got) {
            *ret_end = true;
            break;
        }
        len += got;
    }
    chunk->text = chunk->buffer;
    chunk->len = *ret_end ? len : lines;
    if (*ret_end) {
        note_damage(chunk, reader);
        return PYRO_OK;
    }
    return carry_set(carry, chunk->buffer + lines, len - lines) ? PYRO_OK : no_memory(error);
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
    chunk->long_record = 0;
    chunk->damage[0] = '\0';
    chunk->text = chunk->buffer;
    chunk->len = 0;
    /* A line begins behind a newline: look from the byte before. Reading begins with its page, so that every byte comes
     * to the same place in a page as the file has it: copies that are a few bytes apart take some processors four times
     * as long. */
    uint64_t start = from ? (from - 1) / PAGE_BYTES * PAGE_BYTES : 0,
             want = size - to > READ_BYTES ? to + READ_BYTES : size;
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
