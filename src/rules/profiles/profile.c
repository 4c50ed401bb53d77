#include "rules/profiles/profile.h"

#include "analyze/app_facts.h"

#define PYRO_PROFILE(name, title) extern const struct pyro_profile pyro_profile_##name;
#include "rules/profiles/profiles.def"
#undef PYRO_PROFILE

#define PYRO_PROFILE(name, title) &pyro_profile_##name,
const struct pyro_profile *const pyro_profiles[] = {
#include "rules/profiles/profiles.def"
};
#undef PYRO_PROFILE
const size_t pyro_profile_count = sizeof(pyro_profiles) / sizeof(pyro_profiles[0]);

const char *pyro_profile_name(size_t index)
{
    return index < pyro_profile_count ? pyro_profiles[index]->name : NULL;
}

void pyro_profile_say(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis, const char *heuristic,
                      const char *severity, double value, double threshold, struct pyro_slice detail)
{
    if (context->failed || diagnosis->peer_verdict_count >= PYRO_PEER_VERDICTS_MAX)
        return;
    diagnosis->peer_verdicts[diagnosis->peer_verdict_count++] =
        (struct pyro_peer_verdict){heuristic, severity, value, threshold, detail};
}

/* Resubmitted records of one executor come one behind the other: when it was lost. */
static size_t find_executor(const struct pyro_app *app, struct pyro_slice id, size_t guess)
{
    if (guess < app->executors.count && pyro_slice_eq(app->executors.items[guess].id, id))
        return guess;
    size_t row = 0;
    while (row < app->executors.count && !pyro_slice_eq(app->executors.items[row].id, id))
        row++;
    return row;
}

double pyro_profile_repeated_ms(const struct pyro_app *app, double *by_executor)
{
    double sum = 0;
    size_t executor = 0;
    for (size_t row = 0; row < app->tasks.count; row++) {
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) != PYRO_TASK_RESUBMITTED)
            continue;
        double ms = pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                              pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
        sum += ms;
        if (!by_executor)
            continue;
        executor =
            find_executor(app, pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, row)), executor);
        if (executor < app->executors.count)
            by_executor[executor] += ms;
    }
    return sum;
}

struct pyro_peer_tasks *pyro_profile_stage_tasks(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pyro_peer_tasks *stages = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(*stages));
    context->failed |= !stages;
    for (size_t i = 0; stages && i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        stages[i].failed = pyro_real(stage->failed_tasks);
        stages[i].done = pyro_real(stage->tasks) - stages[i].failed - pyro_real(stage->killed_tasks);
    }
    for (size_t row = 0; stages && row < app->tasks.count; row++) {
        int64_t status = pyro_task_get(&app->tasks, PYRO_TASK_status, row);
        if (status != PYRO_TASK_RESUBMITTED && status != PYRO_TASK_FAILED)
            continue;
        ptrdiff_t stage = pyro_app_find_stage(app, pyro_task_get(&app->tasks, PYRO_TASK_stage, row),
                                              pyro_task_get(&app->tasks, PYRO_TASK_stage_attempt, row));
        if (stage < 0)
            continue;
        if (status == PYRO_TASK_RESUBMITTED) {
            stages[stage].failed++;
            stages[stage].done--;
        } else if (pyro_slice_is(pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row)),
                                 "TaskCommitDenied")) {
            stages[stage].failed--;
        }
    }
    return stages;
}

bool pyro_profile_run(struct pyro_diagnosis *diagnosis)
{
    struct pyro_rule_context context = {
        .app = diagnosis->app, .arena = &diagnosis->arena, .scratch = &diagnosis->arena, .plans = diagnosis->plans};
    if (!diagnosis->profile)
        return true;
    diagnosis->peer_verdicts =
        pyro_arena_array(&diagnosis->arena, PYRO_PEER_VERDICTS_MAX, sizeof(*diagnosis->peer_verdicts));
    if (!diagnosis->peer_verdicts)
        return false;
    diagnosis->profile->judge(&context, diagnosis);
    return !context.failed;
}
