/* What the documents about two runs say, in the same words. */
#ifndef PYRO_REPORT_COMPARISON_COMPARISON_H
#define PYRO_REPORT_COMPARISON_COMPARISON_H

#include "compare/compare.h"
#include "report/diagnosis/sections.h"

/* Sentences that explain the difference in wall time, each ended by a newline: how much, then cause by cause with its
 * place, largest first; raw text from the logs in part. */
void pyro_comparison_verdict(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison);
void pyro_comparison_reasons(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison);
/* What to know before believing it: incomplete logs, other applications. May stay empty. */
void pyro_comparison_caveats(struct pyro_strbuf *buffer, const struct pyro_comparison *comparison);

/* A total of both runs. */
struct pyro_compared_total {
    const char *name, *unit;
    int64_t before, after; /* PYRO_NONE: unknown */
};
enum { PYRO_COMPARED_TOTALS = 18 };
void pyro_comparison_totals(const struct pyro_comparison *comparison, struct pyro_compared_total *ret);

struct pyro_slice pyro_compared_site(const struct pyro_comparison *comparison, const struct pyro_compared_stage *row);
/* The cause that has most of a stage's difference; PYRO_CAUSES where there is none. */
unsigned pyro_compared_main_cause(const struct pyro_compared_stage *row);

typedef void pyro_comparison_section(struct pyro_section *section, const struct pyro_comparison *comparison,
                                     const struct pyro_report_options *options);
extern pyro_comparison_section *const pyro_comparison_sections[];
extern const size_t pyro_comparison_section_count;

/* Renderers, each in its own file. */
void pyro_comparison_json(struct pyro_output *output, const struct pyro_comparison *comparison);

#endif
