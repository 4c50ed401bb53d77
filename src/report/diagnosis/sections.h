/* The sections below the findings, as facts that text and Markdown draw in their own ways. */
#ifndef PYRO_REPORT_DIAGNOSIS_SECTIONS_H
#define PYRO_REPORT_DIAGNOSIS_SECTIONS_H

#include "report/report.h"
#include "text/grid.h"

struct pyro_section {
    const char *title;          /* "Stages"; text shows it in capitals */
    struct pyro_strbuf lead;    /* a sentence before the table, may be empty */
    struct pyro_grid grid;      /* without rows: no table */
    struct pyro_strbuf remarks; /* lines behind the table, each ended by a newline */
};

typedef void pyro_section_builder(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                                  const struct pyro_report_options *options);

/* In the order of the report. A section whose title stays NULL is left out. */
extern pyro_section_builder *const pyro_section_builders[];
extern const size_t pyro_section_count;

void pyro_section_init(struct pyro_section *section, const struct pyro_allocator *allocator);
void pyro_section_done(struct pyro_section *section);
bool pyro_section_failed(const struct pyro_section *section);

pyro_section_builder pyro_section_money, pyro_section_wall, pyro_section_core, pyro_section_bounds, pyro_section_memory,
    pyro_section_profile, pyro_section_configuration, pyro_section_stages, pyro_section_executors,
    pyro_section_artefacts, pyro_section_quality;

/* The number that the report gives to a finding: by severity, without those that people called false. */
size_t pyro_finding_number(const struct pyro_diagnosis *diagnosis, size_t place);
/* What a setting of diagnosis->changes was, the number of the finding that advises it, and what to mind. */
void pyro_change_remark(struct pyro_strbuf *text, const struct pyro_diagnosis *diagnosis, size_t index);
/* How many other settings are as they should be; nothing where the report lists them. */
void pyro_changes_rest(struct pyro_strbuf *text, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_report_options *options);
/* "3 WHICHsettings fit this run." with their number, which it returns; nothing where there is none. */
size_t pyro_add_fitting_settings(struct pyro_strbuf *text, const struct pyro_diagnosis *diagnosis, const char *which,
                                 const struct pyro_report_options *options);
/* A property's value, cut where it is long; "unset". */
void pyro_add_setting(struct pyro_strbuf *text, struct pyro_slice value);

/* Row numbers of `count` rows, largest key first, equal ones in their order. NULL when there is no memory or no row. */
uint32_t *pyro_rows_by_key(const struct pyro_allocator *allocator, size_t count, int64_t (*key)(const void *, size_t),
                           const void *rows);

#endif
