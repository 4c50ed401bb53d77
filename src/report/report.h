/* Reports: one renderer a file over the same diagnosis, listed in formats.def. */
#ifndef PYRO_REPORT_REPORT_H
#define PYRO_REPORT_REPORT_H

#include "base/strbuf.h"
#include "rules/rule.h"

/* What renderers write to. Flushes to the caller's writer as it fills; errors stick and are returned at the end. */
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

struct pyro_renderer {
    const char *name; /* as --format spells it */
    enum pyro_format format;
    void (*begin_many)(struct pyro_output *output, const struct pyro_report_options *options);
    /* `index`: how many reports came before in this document; 0 and `many` false for a single report. */
    void (*report)(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                   const struct pyro_report_options *options, size_t index, bool many);
    void (*end_many)(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                     const struct pyro_slice *unreadable_reasons, size_t unreadable_count);
};

extern const struct pyro_renderer *const pyro_renderers[];
extern const size_t pyro_renderer_count;

#endif
