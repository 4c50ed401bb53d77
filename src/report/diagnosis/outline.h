/* What the text and the Markdown report both say of a diagnosis, in one order. A renderer gives the parts their form.
 */
#ifndef PYRO_REPORT_DIAGNOSIS_OUTLINE_H
#define PYRO_REPORT_DIAGNOSIS_OUTLINE_H

#include "report/diagnosis/sections.h"

enum pyro_outline_part {
    PYRO_OUTLINE_PLAN,   /* a paragraph below the verdict */
    PYRO_OUTLINE_ACTION, /* its number and what to do */
    PYRO_OUTLINE_FACT,   /* of a finding or an action */
    PYRO_OUTLINE_CHECK,  /* of its recommendation: what to check next time */
    PYRO_OUTLINE_FOLDED, /* a finding that is a false positive here */
    PYRO_OUTLINE_CHANGE  /* a remark on the settings to copy */
};

struct pyro_outline {
    void *form; /* the renderer's own */
    struct pyro_output *output;
    struct pyro_strbuf *line; /* working space */
    void (*heading)(void *form, const char *title);
    void (*part)(void *form, enum pyro_outline_part part, struct pyro_slice text);
    void (*code)(void *form, struct pyro_slice code);
    /* Whole lines "key=value" to copy; of an action, or of all of them. */
    void (*settings)(void *form, const struct pyro_setting *settings, size_t count, bool of_action);
    void (*section)(void *form, const struct pyro_section *section);
};

/* What to do, in its order, and what it does together. */
void pyro_outline_actions(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_report_options *options);
/* What follows the title of diagnosis->findings[place]. */
void pyro_outline_finding(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis, size_t place);
/* Findings that people called false for this application: named, not explained again. */
void pyro_outline_folded(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis);
/* Settings to copy; then what each was, and the finding that recommends it. */
void pyro_outline_changes(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_report_options *options);
/* Each section that has something to say; written out one by one. */
void pyro_outline_sections(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                           const struct pyro_report_options *options);

/* The next of a section's remarks, from `rest`; false: there are no more. */
bool pyro_outline_remark(struct pyro_slice *rest, struct pyro_slice *ret);

#endif
