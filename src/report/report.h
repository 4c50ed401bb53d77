/* Reports: one renderer a file over the same diagnosis, listed in formats.def. */
#ifndef PYRO_REPORT_REPORT_H
#define PYRO_REPORT_REPORT_H

#include "rules/rule.h"
#include "text/buffered_output.h"

struct pyro_renderer {
    const char *name; /* as --format spells it */
    enum pyro_format format;
    /* NULL: several reports have no beginning. */
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
