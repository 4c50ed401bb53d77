#include "text/buffered_output.h"

enum { FLUSH_BYTES = 64 * 1024 };

void pyro_output_init(struct pyro_output *output, const struct pyro_writer *writer,
                      const struct pyro_allocator *allocator)
{
    *output = (struct pyro_output){.writer = writer, .status = PYRO_OK};
    pyro_strbuf_init(&output->buffer, allocator);
}

void pyro_output_flush(struct pyro_output *output, bool all)
{
    struct pyro_strbuf *buffer = &output->buffer;
    if (!all && buffer->len < FLUSH_BYTES && !buffer->failed)
        return;
    if (output->status == PYRO_OK && buffer->failed)
        output->status = PYRO_ERROR_MEMORY;
    if (output->status == PYRO_OK && buffer->len &&
        output->writer->write(output->writer->context, buffer->data, buffer->len) != 0)
        output->status = PYRO_ERROR_OUTPUT;
    pyro_strbuf_clear(buffer);
}

enum pyro_status pyro_output_done(struct pyro_output *output, struct pyro_error *error)
{
    pyro_output_flush(output, true);
    pyro_strbuf_done(&output->buffer);
    switch (output->status) {
    case PYRO_OK:
        return PYRO_OK;
    case PYRO_ERROR_MEMORY:
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to write the report");
    case PYRO_ERROR_OUTPUT:
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "the output could not be written");
    default:
        return pyro_error_set(error, output->status, "the report could not be written");
    }
}
