/* The compressed side of a codec: a buffer that gives contiguous runs of whatever length a framing asks for. */
#ifndef PYRO_SOURCE_CODECS_INPUT_BUFFER_H
#define PYRO_SOURCE_CODECS_INPUT_BUFFER_H

#include "source/codecs/codec.h"

/* A multiple of what zstd and LZ4 recommend (about 128 KiB a block), so that most calls find a whole block. */
enum { PYRO_INPUT_BUFFER_BYTES = 256 * 1024 };

struct pyro_input_buffer {
    const struct pyro_allocator *allocator; /* borrowed */
    struct pyro_byte_input input;
    unsigned char *data;
    size_t start, end, capacity; /* unread bytes are data[start..end) */
    bool ended;                  /* the input has no more */
};

enum pyro_status pyro_input_buffer_open(struct pyro_input_buffer *intake, const struct pyro_allocator *allocator,
                                        struct pyro_byte_input input, struct pyro_error *error);
void pyro_input_buffer_close(struct pyro_input_buffer *intake);

/* Reads until `want` unread bytes are available or the input ends. The buffer grows with the bytes that really arrive,
 * not with `want`, so that a false length in a short file costs no memory. */
enum pyro_status pyro_input_buffer_want(struct pyro_input_buffer *intake, size_t want, struct pyro_error *error);

static inline size_t pyro_input_buffer_left(const struct pyro_input_buffer *intake)
{
    return intake->end - intake->start;
}

static inline const unsigned char *pyro_input_buffer_at(const struct pyro_input_buffer *intake)
{
    return intake->data + intake->start;
}

/* `count` <= pyro_input_buffer_left(). */
static inline void pyro_input_buffer_skip(struct pyro_input_buffer *intake, size_t count)
{
    intake->start += count;
}

#endif
