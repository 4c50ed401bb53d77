#ifndef PYRO_REPORT_DIAGNOSIS_HTML_DOCUMENTS_H
#define PYRO_REPORT_DIAGNOSIS_HTML_DOCUMENTS_H

#include "report/report.h"

/* Adds `,"NAME": DOCUMENT` for each document of src/report/views/ that the page brings along, and for those that the
 * options' function works out; `many`: it has more applications. */
void pyro_html_documents(struct pyro_output *page, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options, bool many);

#endif
