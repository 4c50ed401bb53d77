/* Pieces of JUnit XML: reports and gates. */
#ifndef PYRO_REPORT_DIAGNOSIS_JUNIT_H
#define PYRO_REPORT_DIAGNOSIS_JUNIT_H

#include "report/report.h"

struct pyro_junit_counts {
    size_t tests, failures, skipped;
};

void pyro_junit_begin(struct pyro_strbuf *out);
void pyro_junit_end(struct pyro_strbuf *out);
void pyro_junit_suite(struct pyro_strbuf *out, const struct pyro_app *app, const struct pyro_junit_counts *counts);
void pyro_junit_suite_end(struct pyro_strbuf *out);
/* A case that is closed by pyro_junit_case_end(). */
void pyro_junit_case(struct pyro_strbuf *out, const char *class_name, struct pyro_slice name);
void pyro_junit_case_end(struct pyro_strbuf *out);
/* `element`: "failure" or "skipped", with an attribute of each that is not NULL. */
void pyro_junit_outcome(struct pyro_strbuf *out, const char *element, const char *type, struct pyro_slice message,
                        struct pyro_slice text);
/* Cause, evidence and advice in lines. */
void pyro_junit_finding(struct pyro_strbuf *out, const struct pyro_finding *finding);

#endif
