#include "model/outcome/run_outcome.h"

#include "base/numbers/none.h"
#include "base/numbers/saturate.h"

static const struct {
    const char *name, *words, *status;
} outcomes[PYRO_RUN_OUTCOMES] = {
#define PYRO_RUN_OUTCOME(id, name, words, status, meaning) {name, words, status},
#include "model/outcome/run_outcomes.def"
#undef PYRO_RUN_OUTCOME
};

enum pyro_job_end pyro_job_end_of(bool failed, struct pyro_slice message)
{
    /* As Spark says it. Only at the beginning: an error of a task may speak of something that was canceled. */
    enum { SAID_WITHIN = 300 };
    static const char *const canceled[] = {"cancelled", "canceled", "SparkContext was shut down"};
    struct pyro_slice begin = {message.ptr, message.len < SAID_WITHIN ? message.len : SAID_WITHIN};
    if (!failed)
        return PYRO_JOB_END_SUCCEEDED;
    if (pyro_slice_starts_with(begin, "Job aborted") || (begin.ptr && pyro_slice_find(begin, "has failed")))
        return PYRO_JOB_END_FAILED;
    for (size_t i = 0; begin.ptr && i < sizeof(canceled) / sizeof(*canceled); i++)
        if (pyro_slice_find(begin, canceled[i]))
            return PYRO_JOB_END_CANCELED;
    return PYRO_JOB_END_FAILED;
}

enum pyro_job_end pyro_job_end_join(enum pyro_job_end earlier, enum pyro_job_end later)
{
    if (later == PYRO_JOB_END_NONE || (later == PYRO_JOB_END_CANCELED && earlier == PYRO_JOB_END_FAILED))
        return earlier;
    return later;
}

enum pyro_run_outcome pyro_run_outcome(const struct pyro_run_end *end)
{
    if (!end->ended)
        return end->in_progress ? PYRO_RUN_RUNNING : PYRO_RUN_TRUNCATED;
    if (end->exit_code != PYRO_NONE && end->exit_code != 0)
        return PYRO_RUN_FAILED;
    if (end->last_job == PYRO_JOB_END_FAILED)
        return end->exit_code == 0 ? PYRO_RUN_JOB_FAILED : PYRO_RUN_FAILED;
    return end->last_job == PYRO_JOB_END_CANCELED ? PYRO_RUN_STOPPED : PYRO_RUN_COMPLETED;
}

enum pyro_run_outcome pyro_run_outcome_now(enum pyro_run_outcome outcome, int64_t modified_ms, int64_t now_ms,
                                           int64_t stale_ms)
{
    bool stale = modified_ms != PYRO_NONE && pyro_sub_saturating(now_ms, modified_ms) > stale_ms;
    return outcome == PYRO_RUN_RUNNING && stale ? PYRO_RUN_TRUNCATED : outcome;
}

const char *pyro_run_outcome_name(enum pyro_run_outcome outcome)
{
    return outcomes[outcome].name;
}

const char *pyro_run_outcome_words(enum pyro_run_outcome outcome)
{
    return outcomes[outcome].words;
}

const char *pyro_run_outcome_status(enum pyro_run_outcome outcome)
{
    return outcomes[outcome].status;
}

enum pyro_run_outcome pyro_run_outcome_read(struct pyro_slice text)
{
    for (int i = 0; text.ptr && i < PYRO_RUN_OUTCOMES; i++)
        if (pyro_slice_is(text, outcomes[i].name))
            return (enum pyro_run_outcome)i;
    return text.ptr && pyro_slice_is(text, "in_progress") ? PYRO_RUN_RUNNING : PYRO_RUN_OUTCOMES;
}

bool pyro_run_outcome_ended(enum pyro_run_outcome outcome)
{
    return outcome < PYRO_RUN_TRUNCATED;
}
