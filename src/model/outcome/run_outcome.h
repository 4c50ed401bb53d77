/* What became of an application: the one word that reports, lists, pages and stores say. */
#ifndef PYRO_MODEL_RUN_OUTCOME_H
#define PYRO_MODEL_RUN_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

enum pyro_run_outcome {
#define PYRO_RUN_OUTCOME(id, name, words, status, meaning) PYRO_RUN_##id,
#include "model/outcome/run_outcomes.def"
#undef PYRO_RUN_OUTCOME
    PYRO_RUN_OUTCOMES
};

/* How jobs ended. */
enum pyro_job_end { PYRO_JOB_END_NONE, PYRO_JOB_END_SUCCEEDED, PYRO_JOB_END_FAILED, PYRO_JOB_END_CANCELED };

/* Of one job. `message`: of its exception; null: none. */
enum pyro_job_end pyro_job_end_of(bool failed, struct pyro_slice message);
/* Of two parts of a log that follow each other. Jobs that are canceled after one that failed do not hide it: Spark
 * cancels the other jobs of a query of which one failed. */
enum pyro_job_end pyro_job_end_join(enum pyro_job_end earlier, enum pyro_job_end later);

/* What a log says of its end. */
struct pyro_run_end {
    bool ended;        /* it has an end of the application */
    bool in_progress;  /* its name, or its server, says that it is still written */
    int64_t exit_code; /* PYRO_NONE: unknown */
    enum pyro_job_end last_job;
};
enum pyro_run_outcome pyro_run_outcome(const struct pyro_run_end *end);

/* The outcome now, of a log that was last changed at `modified_ms` (since 1970; PYRO_NONE: unknown): if that is
 * longer ago than `stale_ms`, nothing writes it any more, whatever its name says. */
enum pyro_run_outcome pyro_run_outcome_now(enum pyro_run_outcome outcome, int64_t modified_ms, int64_t now_ms,
                                           int64_t stale_ms);

const char *pyro_run_outcome_name(enum pyro_run_outcome outcome);   /* "job_failed" */
const char *pyro_run_outcome_words(enum pyro_run_outcome outcome);  /* "job failed" */
const char *pyro_run_outcome_status(enum pyro_run_outcome outcome); /* "completed" */
/* The one with that name or that status, the latter for what was kept before outcomes; RUNNING and TRUNCATED did not
 * end. PYRO_RUN_OUTCOMES: none has it. */
enum pyro_run_outcome pyro_run_outcome_read(struct pyro_slice text);
bool pyro_run_outcome_ended(enum pyro_run_outcome outcome);

#endif
