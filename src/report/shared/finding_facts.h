/* What text and Markdown say about findings, in the same words. Everything appended is raw text from the log in part:
 * renderers escape it for their own ends. */
#ifndef PYRO_REPORT_SHARED_FINDING_FACTS_H
#define PYRO_REPORT_SHARED_FINDING_FACTS_H

#include "report/report.h"

/* "CRITICAL ISSUES", "SEVERE", ... */
const char *pyro_severity_heading(enum pyro_severity severity);

/* "key=value", in one line. */
void pyro_fact_setting(struct pyro_strbuf *buffer, const struct pyro_setting *setting);
/* "costs 12 min (26 %)", "costs 3 h core time", "costs no time", "cost not known" */
void pyro_fact_costs(struct pyro_strbuf *buffer, const struct pyro_app *app, const struct pyro_finding *finding);
/* "saves 9-14 min (20-31 %)", "saves 3 h core time", "no time saved", "time saved: not known" */
void pyro_fact_saves(struct pyro_strbuf *buffer, const struct pyro_app *app, const struct pyro_saving *saves);
/* "Stage 5 (join at etl.py:88), executor 3", or nothing. */
void pyro_fact_where(struct pyro_strbuf *buffer, const struct pyro_finding *finding);
/* Where and cause as one sentence, without saying the place twice. */
void pyro_fact_cause(struct pyro_strbuf *buffer, const struct pyro_finding *finding);
/* "slowest task 4 min 12 s (expected 18 s), ..." */
void pyro_fact_evidence(struct pyro_strbuf *buffer, const struct pyro_finding *finding);
/* "60 % faster stage, 11 min (24 %) off the run" */
void pyro_fact_improvement(struct pyro_strbuf *buffer, const struct pyro_app *app, const struct pyro_finding *finding);
/* What people said of this finding in an earlier run, or nothing. */
void pyro_fact_judgement(struct pyro_strbuf *buffer, const struct pyro_finding *finding);
/* One sentence that says how the application is. */
void pyro_fact_verdict(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis);
/* "Recommended settings together: 52 min -> 38 min (33-43 min), 4.10 -> 3.20 USD.", or nothing; `code`: the same of all
 * changes of the program. */
void pyro_fact_plan(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis, bool code);
/* "Saves 10-32 s (17-53 %), 1 min 24 s core time." or what is not known of it. */
void pyro_fact_action_saves(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_action *action);
/* "All of it together: 52 min -> 38 min (33-43 min), 4.10 -> 3.20 USD.", or nothing where nothing was simulated. */
void pyro_fact_together(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis);
/* "12 rules: 2 with findings, 7 quiet, 3 not applicable" */
void pyro_fact_rules(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis);
/* "2 findings suppressed (data-skew, gc-pressure). 1 threshold changed (data-skew.ratio_min=4).", or nothing. */
void pyro_fact_configured(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis);
/* "dag etl, task load, run scheduled__2026-11-01", or nothing where the log does not say what started it. */
void pyro_fact_orchestrator(struct pyro_strbuf *buffer, const struct pyro_app *app);
/* The application's name, or its id, or "(unknown)". */
struct pyro_slice pyro_fact_name(const struct pyro_app *app);

/* Whether to print how to check advice `i`: advice in a row that is checked in one way says so once, at its end. */
bool pyro_fact_shows_check(const struct pyro_finding *finding, size_t i);

#endif
