/* Where writers of documents put their text. */
#ifndef PYRO_TEXT_BUFFERED_OUTPUT_H
#define PYRO_TEXT_BUFFERED_OUTPUT_H

#include "base/error.h"
#include "base/strings/strbuf.h"

/* Flushes to the caller's writer as it fills; errors stick and are returned at the end. */
struct pyro_output {
    const struct pyro_writer *writer;
    struct pyro_strbuf buffer;
    enum pyro_status status;
    size_t reports; /* written so far, where the end of a document depends on it */
};

void pyro_output_init(struct pyro_output *output, const struct pyro_writer *writer,
                      const struct pyro_allocator *allocator);
/* Hands over what is buffered when it is more than a threshold, or all of it. */
void pyro_output_flush(struct pyro_output *output, bool all);
enum pyro_status pyro_output_done(struct pyro_output *output, struct pyro_error *error);

#endif
