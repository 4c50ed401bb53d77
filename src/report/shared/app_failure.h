/* Why an application failed: what every format says first. */
#ifndef PYRO_REPORT_SHARED_APP_FAILURE_H
#define PYRO_REPORT_SHARED_APP_FAILURE_H

#include "model/failure_text.h"
#include "report/report.h"

struct pyro_app_failure {
    bool failed;                        /* the application did; else nothing else is set */
    const struct pyro_job *job;         /* the last one that failed; NULL: none is known */
    ptrdiff_t stage;                    /* row of its failed stage; -1: none is known */
    double jobs, tasks;                 /* failed jobs with this error, and failed tasks of the stage */
    struct pyro_root_cause root;        /* null slices: the log does not say */
    const struct pyro_finding *finding; /* that explains it; NULL: none */
    const struct pyro_finding *reason;  /* that this one follows from, at the root; NULL: none */
};

struct pyro_app_failure pyro_app_failure(const struct pyro_diagnosis *diagnosis);

/* A frame of Python or of the JVM as one reads it: "load.py:12, in parse". */
void pyro_fact_frame(struct pyro_strbuf *buffer, struct pyro_slice text);
/* "Failed: ValueError: not a number, at load.py:11, in price_of (job 4, stage 6, 4 failed tasks).", or where that only
 * reports what came of it "Failed: Out of Java heap memory, stage 5. Its last error is ...", or nothing. */
void pyro_fact_failure(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis);

#endif
