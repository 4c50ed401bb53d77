/* Pieces of SARIF 2.1.0 documents: reports and gates. */
#ifndef PYRO_REPORT_DIAGNOSIS_SARIF_H
#define PYRO_REPORT_DIAGNOSIS_SARIF_H

#include "report/report.h"
#include "text/json_write.h"

/* The log object up to its runs, and its end. */
void pyro_sarif_begin(struct pyro_json_writer *json);
void pyro_sarif_end(struct pyro_json_writer *json);
/* {"text": ...} below `key`. */
void pyro_sarif_message(struct pyro_json_writer *json, const char *key, struct pyro_slice text);
/* "locations": the source file of a call site, else the log; with the place as a logical location. `finding` may be
 * NULL. */
void pyro_sarif_locations(struct pyro_json_writer *json, const struct pyro_app *app,
                          const struct pyro_finding *finding);
/* "automationDetails" and "invocations" of a run: which application, what its log lacks. */
void pyro_sarif_run_details(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis, const char *verb);
/* A source file and line out of "collect at /jobs/etl.py:31"; false where the call site names none of the user's. */
bool pyro_sarif_source(struct pyro_slice call_site, struct pyro_slice *file, int64_t *line);
/* A path as a URI reference: relative as it is, absolute with the scheme "file". */
void pyro_sarif_uri(struct pyro_strbuf *buffer, struct pyro_slice path);

#endif
