#include "source/codecs/input_buffer.h"

#include <string.h>

#include "base/memory/allocator.h"

enum pyro_status pyro_input_buffer_open(struct pyro_input_buffer *intake, const struct pyro_allocator *allocator,
                                        struct pyro_byte_input input, struct pyro_error *error)
{
    *intake = (struct pyro_input_buffer){.allocator = allocator, .input = input};
    intake->data = pyro_allocate(allocator, PYRO_INPUT_BUFFER_BYTES);
    if (!intake->data)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for reading compressed input");
    intake->capacity = PYRO_INPUT_BUFFER_BYTES;
    return PYRO_OK;
}

void pyro_input_buffer_close(struct pyro_input_buffer *intake)
{
    pyro_release(intake->allocator, intake->data);
    intake->data = NULL;
}

static enum pyro_status grow(struct pyro_input_buffer *intake, struct pyro_error *error)
{
    unsigned char *data = NULL;
    if (intake->capacity <= SIZE_MAX / 4)
        data = pyro_reallocate(intake->allocator, intake->data, intake->capacity * 2);
    if (!data)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a compressed block");
    intake->data = data;
    intake->capacity *= 2;
    return PYRO_OK;
}

enum pyro_status pyro_input_buffer_want(struct pyro_input_buffer *intake, size_t want, struct pyro_error *error)
{
    while (pyro_input_buffer_left(intake) < want && !intake->ended) {
        if (intake->start > 0 && (intake->start == intake->end || want > intake->capacity - intake->start)) {
            memmove(intake->data, intake->data + intake->start, pyro_input_buffer_left(intake));
            intake->end -= intake->start;
            intake->start = 0;
        }
        if (intake->end == intake->capacity)
            PYRO_TRY(grow(intake, error));
        size_t got = 0;
        PYRO_TRY(intake->input.read(intake->input.context, intake->data + intake->end, intake->capacity - intake->end,
                                    &got, error));
        intake->end += got;
        intake->ended = got == 0;
    }
    return PYRO_OK;
}
