#include "rules/tasks/task_outliers.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "rules/finding.h"
#include "rules/tasks/slow_tasks.h"

double pyro_diagnosis_limit(const struct pyro_diagnosis *diagnosis, const char *rule, const char *name)
{
    const struct pyro_rule *found = pyro_rule_find(rule);
    for (size_t i = 0; i < diagnosis->changed_count; i++)
        if (diagnosis->changed[i].rule == found && strcmp(diagnosis->changed[i].threshold->name, name) == 0)
            return diagnosis->changed[i].value;
    for (size_t i = 0; found && i < found->threshold_count; i++)
        if (strcmp(found->thresholds[i].name, name) == 0)
            return found->thresholds[i].value;
    return (double)NAN;
}

struct limits {
    struct pyro_slow_limits slow;
    struct pyro_heavy_limits heavy;
    double slow_share, slow_tasks, heavy_share, heavy_tasks;
};

static struct limits read_limits(const struct pyro_diagnosis *diagnosis)
{
#define SLOW(name)  pyro_diagnosis_limit(diagnosis, "straggler", name)
#define HEAVY(name) pyro_diagnosis_limit(diagnosis, "data-skew", name)
    return (struct limits){
        .slow = {SLOW("ratio_min"), SLOW("cold_allowance_ms"), SLOW("opener_allowance_ms"), SLOW("slow_ms_min"),
                 SLOW("cause_share_min")},
        .heavy = {HEAVY("ratio_min"), HEAVY("follows_min"), HEAVY("plain_ratio_min"), HEAVY("batch_ratio_min"),
                  HEAVY("batch_time_ratio_min"), HEAVY("saving_ms_min")},
        .slow_share = SLOW("slow_share_max"),
        .slow_tasks = SLOW("tasks_min"),
        .heavy_share = HEAVY("heavy_share_max"),
        .heavy_tasks = HEAVY("tasks_min"),
    };
#undef SLOW
#undef HEAVY
}

/* The rule slow-host names this task's host or executor. */
static bool is_on_slow_host(const struct pyro_diagnosis *diagnosis, size_t row)
{
    const struct pyro_app *app = diagnosis->app;
    struct pyro_slice host = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_host, row));
    struct pyro_slice executor = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, row));
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (strcmp(finding->rule->id, "slow-host") == 0 &&
            ((finding->host.len > 0 && pyro_slice_eq(finding->host, host)) ||
             (finding->executor.len > 0 && pyro_slice_eq(finding->executor, executor))))
            return true;
    }
    return false;
}

static const char *name_cause(const struct pyro_app *app, enum pyro_slow_cause cause, size_t row)
{
    static const char *const names[] = {
        [PYRO_SLOW_UNKNOWN] = "unknown",     [PYRO_SLOW_GC] = "gc",
        [PYRO_SLOW_FETCH] = "fetch_wait",    [PYRO_SLOW_DELAY] = "scheduler_delay",
        [PYRO_SLOW_WRITE] = "shuffle_write", [PYRO_SLOW_RESULT] = "result",
        [PYRO_SLOW_SPILL] = "spill",         [PYRO_SLOW_WAITING] = "waiting",
        [PYRO_SLOW_COMPUTING] = "computing", [PYRO_SLOW_HOST] = "host",
        [PYRO_SLOW_LOCALITY] = "locality",   [PYRO_SLOW_RETRY] = "retry",
        [PYRO_SLOW_PROCESSOR] = "processor", [PYRO_SLOW_THROTTLED] = "throttled",
        [PYRO_SLOW_DISK] = "disk",           [PYRO_SLOW_NETWORK] = "network",
        [PYRO_SLOW_LOCK] = "lock",           [PYRO_SLOW_PAGES] = "page_faults",
    };
    if (cause != PYRO_SLOW_DELAY)
        return names[cause];
    struct pyro_task_split split = pyro_task_split(app, row);
    return split.deserialize > split.scheduler_delay ? "deserialize" : names[cause];
}

static int slowest_first(const void *left, const void *right)
{
    const struct pyro_outlier *a = left, *b = right;
    if (a->duration_ms < b->duration_ms || a->duration_ms > b->duration_ms)
        return a->duration_ms > b->duration_ms ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Marks of single tasks. */
enum { HEAVY = 1, SLOW = 2, LATE = 4 /* slow on a slow host */ };

/* Marks tasks; false: there is none, or so many that they are two kinds of tasks. */
static bool mark_tasks(const struct pyro_diagnosis *diagnosis, const struct limits *limits,
                       const struct pyro_stage *stage, const struct pyro_stage_tasks *tasks, unsigned char *marks,
                       double *slow_ret)
{
    double heavy = 0, slow = 0, late = 0, count = (double)tasks->count;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct pyro_stage_task *task = &tasks->items[i];
        double data = pyro_stage_task_data_ratio(tasks, task);
        if (pyro_task_is_heavy(diagnosis->app, &limits->heavy, stage, tasks, task, data))
            marks[i] = HEAVY;
        else if (pyro_task_is_slow(&limits->slow, tasks, task))
            marks[i] = is_on_slow_host(diagnosis, task->row) ? LATE : SLOW;
        heavy += marks[i] == HEAVY;
        slow += marks[i] == SLOW;
        late += marks[i] == LATE;
    }
    bool heavy_holds = heavy > 0 && count >= limits->heavy_tasks && heavy <= limits->heavy_share * count;
    bool slow_holds = count >= limits->slow_tasks && (slow <= 1 || slow <= limits->slow_share * count);
    for (size_t i = 0; i < tasks->count; i++)
        if ((marks[i] == HEAVY && !heavy_holds) || (marks[i] == SLOW && !slow_holds))
            marks[i] = 0;
    *slow_ret = slow;
    return (heavy_holds && heavy > 0) || (slow_holds && slow > 0) || late > 0;
}

static void explain(struct pyro_rule_context *context, const struct pyro_slow_stage *stage,
                    const struct pyro_stage_task *task, unsigned char mark, struct pyro_outlier *outlier)
{
    const struct pyro_app *app = context->app;
    if (mark == HEAVY) {
        outlier->cause = "data";
        outlier->text =
            pyro_say(context, "it had %.1f x the data of its peers", pyro_stage_task_data_ratio(stage->tasks, task));
    } else if (mark == LATE) {
        struct pyro_slice host = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_host, task->row));
        outlier->cause = "host";
        outlier->text =
            pyro_say(context, "it ran on %s, which is slow in stage after stage", pyro_say_text(context, host, 80));
    } else {
        double cause_ms;
        enum pyro_slow_cause cause = pyro_slow_task_cause(app, stage, task, &cause_ms);
        outlier->cause = name_cause(app, cause, task->row);
        outlier->text = pyro_slice_from(pyro_slow_explain(context, cause, cause_ms, task->row));
    }
}

static bool collect(struct pyro_rule_context *context, const struct pyro_diagnosis *diagnosis,
                    const struct pyro_stage *stage, const struct pyro_stage_tasks *tasks, struct pyro_outlier **ret,
                    size_t *ret_count)
{
    struct limits limits = read_limits(diagnosis);
    struct pyro_slow_stage peers;
    double slow;
    unsigned char *marks = pyro_arena_array(context->arena, tasks->count + 1, 1);
    if (!marks)
        return false;
    if (tasks->count == 0 || !mark_tasks(diagnosis, &limits, stage, tasks, marks, &slow))
        return true;
    struct pyro_outlier *found = pyro_arena_array(context->arena, tasks->count, sizeof(*found));
    if (!found)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < tasks->count; i++)
        if (marks[i])
            found[count++] = (struct pyro_outlier){.row = i, .duration_ms = tasks->items[i].duration};
    qsort(found, count, sizeof(*found), slowest_first);
    count = count < PYRO_OUTLIERS_MAX ? count : PYRO_OUTLIERS_MAX;
    pyro_slow_stage_init(context->app, &limits.slow, tasks, slow, &peers);
    for (size_t i = 0; i < count; i++) {
        size_t place = found[i].row;
        found[i].row = tasks->items[place].row;
        found[i].median_ms = tasks->median_ms;
        explain(context, &peers, &tasks->items[place], marks[place], &found[i]);
    }
    *ret = found;
    *ret_count = count;
    return !context->failed;
}

bool pyro_stage_outliers(const struct pyro_diagnosis *diagnosis, size_t stage_row, struct pyro_arena *arena,
                         struct pyro_outlier **ret, size_t *ret_count)
{
    struct pyro_rule_context context = {.app = diagnosis->app, .arena = arena, .scratch = arena};
    struct pyro_stage_tasks tasks;
    struct pyro_cold cold = {0};
    *ret = NULL;
    *ret_count = 0;
    if (!pyro_cold_load(&context, &cold))
        return false;
    bool ok = pyro_stage_tasks_load(&context, stage_row, &cold, &tasks);
    if (ok) {
        ok = collect(&context, diagnosis, &diagnosis->app->stages.items[stage_row], &tasks, ret, ret_count);
        pyro_stage_tasks_done(&context, &tasks);
    }
    pyro_cold_done(&context, &cold);
    return ok;
}
