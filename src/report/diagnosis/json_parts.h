/* Pieces of the JSON report, one function a top-level member. */
#ifndef PYRO_REPORT_DIAGNOSIS_JSON_PARTS_H
#define PYRO_REPORT_DIAGNOSIS_JSON_PARTS_H

#include "model/tracks/tracks.h"
#include "report/report.h"
#include "text/json_write.h"

void pyro_json_stages(struct pyro_json_writer *json, const struct pyro_app *app);
void pyro_json_executors(struct pyro_json_writer *json, const struct pyro_app *app);
void pyro_json_jobs(struct pyro_json_writer *json, const struct pyro_app *app);
void pyro_json_sql(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_rejects(struct pyro_json_writer *json, const struct pyro_app *app);
void pyro_json_finding(struct pyro_json_writer *json, const char *key, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_finding *finding);
void pyro_json_findings(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
/* What all recommended settings do together, and all changes of the program. */
void pyro_json_actions(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_plans(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_config_changes(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_suppressed(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_thresholds(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_profile(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
/* Writes nothing without tracks. */
void pyro_json_profiling(struct pyro_json_writer *json, const struct pyro_tracks *tracks);
void pyro_json_configuration(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
void pyro_json_rules(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis);
/* A rule of the catalog with its page and thresholds, as the member "rule". */
void pyro_json_rule(struct pyro_json_writer *json, size_t index);

#endif
