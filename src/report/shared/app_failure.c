#include "report/shared/app_failure.h"

#include "analyze/app_facts.h"

enum { TEXT_MAX = 200 };

static const struct pyro_finding *reason_of(const struct pyro_diagnosis *diagnosis, const struct pyro_finding *finding)
{
    enum { DEEPEST = 8 };
    const struct pyro_finding *reason = NULL;
    for (unsigned depth = 0; finding && finding->root.ptr && depth < DEEPEST; depth++) {
        finding = pyro_finding_by_id(diagnosis, finding->root);
        reason = finding ? finding : reason;
    }
    return reason;
}

struct pyro_app_failure pyro_app_failure(const struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = diagnosis->app;
    enum pyro_run_outcome outcome = pyro_app_outcome(app);
    struct pyro_app_failure failure = {.failed = outcome == PYRO_RUN_FAILED || outcome == PYRO_RUN_JOB_FAILED ||
                                                 (!pyro_run_outcome_ended(outcome) && pyro_app_ended_in_failure(app)),
                                       .stage = -1};
    for (size_t i = app->jobs.count; failure.failed && !failure.job && i-- > 0;)
        if (pyro_job_failed(&app->jobs.items[i]))
            failure.job = &app->jobs.items[i];
    if (!failure.job)
        return failure;
    failure.root = pyro_root_cause(failure.job->failure);
    failure.stage = pyro_job_failed_stage(app, failure.job);
    if (failure.stage >= 0)
        failure.tasks = pyro_real(app->stages.items[failure.stage].failed_tasks);
    for (size_t i = 0; i < app->jobs.count; i++) {
        struct pyro_root_cause root = {.message = PYRO_SLICE_NULL};
        if (pyro_job_failed(&app->jobs.items[i]))
            root = pyro_root_cause(app->jobs.items[i].failure);
        failure.jobs += pyro_job_failed(&app->jobs.items[i]) && pyro_slice_eq(root.name, failure.root.name) &&
                        pyro_same_message(root.message, failure.root.message);
    }
    for (size_t i = 0; i < diagnosis->finding_count && !failure.finding; i++)
        if (diagnosis->findings[i].job == failure.job->id && strcmp(diagnosis->findings[i].rule->id, "job-failed") == 0)
            failure.finding = &diagnosis->findings[i];
    failure.reason = reason_of(diagnosis, failure.finding);
    return failure;
}

static void add_some(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    pyro_strbuf_add_slice(buffer, (struct pyro_slice){text.ptr, text.len < TEXT_MAX ? text.len : TEXT_MAX});
    if (text.len > TEXT_MAX)
        pyro_strbuf_add_text(buffer, "...");
}

void pyro_fact_frame(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    struct pyro_frame frame = pyro_split_frame(text);
    add_some(buffer, frame.file);
    if (!frame.rest.ptr)
        return;
    pyro_strbuf_add_char(buffer, ':');
    add_some(buffer, frame.rest);
}

void pyro_fact_failure(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis)
{
    struct pyro_app_failure failure = pyro_app_failure(diagnosis);
    if (!failure.job)
        return;
    pyro_strbuf_add_text(buffer, "Failed: ");
    if (failure.reason) {
        add_some(buffer, failure.reason->title);
        if (failure.reason->stage != PYRO_NONE)
            pyro_strbuf_printf(buffer, ", stage %lld", (long long)failure.reason->stage);
        pyro_strbuf_add_text(buffer, ". Its last error is ");
    }
    add_some(buffer, failure.root.name);
    if (failure.root.name.len && failure.root.message.len)
        pyro_strbuf_add_text(buffer, ": ");
    add_some(buffer, failure.root.message);
    if (!failure.root.name.len && !failure.root.message.len)
        pyro_strbuf_add_text(buffer, "the log does not say why");
    if (failure.root.frame.len) {
        pyro_strbuf_add_text(buffer, ", at ");
        pyro_fact_frame(buffer, failure.root.frame);
    }
    pyro_strbuf_printf(buffer, " (job %lld", (long long)failure.job->id);
    if (failure.stage >= 0)
        pyro_strbuf_printf(buffer, ", stage %lld", (long long)diagnosis->app->stages.items[failure.stage].id);
    if (failure.tasks > 0)
        pyro_strbuf_printf(buffer, ", %.0f failed task%s", failure.tasks, failure.tasks > 1.5 ? "s" : "");
    if (failure.jobs > 1.5)
        pyro_strbuf_printf(buffer, ", the same in %.0f jobs", failure.jobs);
    pyro_strbuf_add_text(buffer, ").");
}
