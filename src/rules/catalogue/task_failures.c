/* task-failures: tasks failed of themselves and were run again, or failed the job. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "model/failure_text.h"
#include "rules/finding.h"
#include "rules/fixes/failure_advice.h"
#include "rules/fixes/remedy.h"

#define CAUSES_KEPT 64
/* Parts of the message that make up a cause. */
#define MESSAGE_PART PYRO_CAUSE_BYTES

enum { CAUSES_MAX, SHARE_REAL, COUNT_REAL };
static const struct pyro_threshold thresholds[] = {
    [CAUSES_MAX] = {"causes_max", 5, "count",
                    "Maximum number of distinct causes that get their own finding; the table failures has the rest"},
    [SHARE_REAL] = {"share_min", 0.02, "share", "At this share of failed tasks there is a real risk"},
    [COUNT_REAL] = {"failed_tasks_min", 10, "count", "... or at this number of failed tasks"},
};
/* The number of failed tasks that are named. */
enum { NAMED_MAX = 5, IDS_MAX = 16 };
/* The number of stages of one cause that are distinguished. */
enum { STAGES_MAX = 32 };

struct cause {
    struct pyro_slice name, message; /* as first seen */
    int64_t stage;                   /* where most of them failed */
    struct pyro_slice executor;
    double count, lost_ms; /* of the attempts that are said to have failed because of it */
    int64_t ids[IDS_MAX];  /* of the first tasks that failed because of it there */
    size_t id_count;
    struct {
        int64_t id;
        double count;
    } stages[STAGES_MAX];
    size_t stage_count;
    size_t number; /* as they were found */
    bool reported;
};

/* Which cause each failed task is said to have failed of. */
struct told {
    int64_t id;
    size_t cause, failure; /* its number, and the row of what says so */
};
struct tellings {
    struct told *items;
    size_t count;
};

struct losses {
    double failed, lost_ms; /* failed of themselves; their task time */
    int64_t worst_attempt;  /* largest attempt number among them, from 0 */
    bool failed_stage;      /* a stage failed because of it */
    bool ended_there;       /* and no job came after it, or the application counts as failed */
};

/* It was stopped, as a stream is stopped: what its tasks said then did not end it. */
static bool was_cancelled(const struct pyro_stage *stage)
{
    return pyro_slice_starts_with(stage->failure, "[SPARK_JOB_CANCELLED]") ||
           (pyro_slice_starts_with(stage->failure, "Job ") && pyro_slice_find(stage->failure, " cancelled"));
}

/* The task time that went with a failed attempt in row `row`: its own, and in a barrier stage its part of that of all
 * tasks. *ret_attempt: row of the stage attempt that was lost as a whole, else -1. */
static double lost_with(const struct pyro_app *app, size_t row, int64_t *ret_attempt)
{
    int64_t stage_row = pyro_task_get(&app->tasks, PYRO_TASK_stage_row, row);
    const struct pyro_stage *stage =
        stage_row >= 0 && stage_row < (int64_t)app->stages.count ? &app->stages.items[stage_row] : NULL;
    bool whole = stage && stage->failed_tasks > 0 && pyro_stage_failed_at_barrier(stage);
    *ret_attempt = whole ? stage_row : -1;
    return whole ? pyro_real(stage->task_ms) / pyro_real(stage->failed_tasks)
                 : pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                             pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
}

static struct losses measure(const struct pyro_app *app)
{
    struct losses losses = {.worst_attempt = 0};
    for (size_t row = 0; row < app->tasks.count; row++) {
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) != PYRO_TASK_FAILED ||
            pyro_failure_is_consequence(pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row))))
            continue;
        int64_t attempt = pyro_task_get(&app->tasks, PYRO_TASK_attempt, row), whole;
        losses.failed++;
        losses.lost_ms += lost_with(app, row, &whole);
        if (attempt > losses.worst_attempt)
            losses.worst_attempt = attempt;
    }
    int64_t last_job = PYRO_NONE, failed_job = PYRO_NONE;
    for (size_t i = 0; i < app->jobs.count; i++)
        last_job = app->jobs.items[i].id > last_job ? app->jobs.items[i].id : last_job;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (!pyro_slice_is(stage->status, "failed") || stage->failed_tasks <= 0 ||
            (stage->failure.ptr && pyro_slice_find(stage->failure, "FetchFailed")) || was_cancelled(stage))
            continue;
        losses.failed_stage = true;
        failed_job = stage->job > failed_job ? stage->job : failed_job;
    }
    losses.ended_there = losses.failed_stage && (pyro_app_failed(app) || failed_job >= last_job);
    return losses;
}

static void remember(struct cause *cause, int64_t stage)
{
    size_t i = 0;
    cause->count++;
    while (i < cause->stage_count && cause->stages[i].id != stage)
        i++;
    if (i == STAGES_MAX)
        return;
    cause->stage_count = i < cause->stage_count ? cause->stage_count : i + 1;
    cause->stages[i].id = stage;
    cause->stages[i].count++;
}

static int by_id(const void *left, const void *right)
{
    const struct told *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static size_t collect(const struct pyro_app *app, struct cause *causes, struct tellings *tellings)
{
    size_t count = 0;
    for (size_t i = 0; i < app->failures.count; i++) {
        const struct pyro_failure *failure = &app->failures.items[i];
        if (!pyro_slice_is(failure->kind, "task") || pyro_failure_is_consequence(failure->reason))
            continue;
        struct pyro_slice name = failure->class_name.len ? failure->class_name : failure->reason;
        struct pyro_slice message = pyro_telling_line(failure->message);
        size_t k = 0;
        while (k < count && !(pyro_slice_eq(causes[k].name, name) && pyro_same_message(causes[k].message, message)))
            k++;
        if (k == CAUSES_KEPT)
            continue;
        if (k == count)
            causes[count++] = (struct cause){
                .name = name, .message = message, .stage = failure->stage, .executor = failure->executor, .number = k};
        remember(&causes[k], failure->stage);
        tellings->items[tellings->count++] = (struct told){pyro_failure_number(failure->id), k, i};
    }
    return count;
}

/* The most frequent causes first: their numbers. Marks those that get a finding. */
static void choose(const struct pyro_rule_context *context, struct cause *causes, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) { /* few */
        size_t k = i;
        for (; k > 0 && causes[order[k - 1]].count < causes[i].count; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    double chosen = 0;
    for (size_t i = 0; i < count && chosen < pyro_limit(context, CAUSES_MAX); i++) {
        struct cause *cause = &causes[order[i]];
        /* executor-oom speaks of shortages */
        cause->reported = pyro_shortage_of(cause->name, cause->message) == PYRO_SHORTAGE_NONE;
        chosen += cause->reported;
    }
}

/* The stage where most failed, the first of several; and the tasks that failed there. Tellings are in the order of the
 * failures. */
static void place(const struct pyro_app *app, struct cause *causes, size_t count, const struct tellings *tellings)
{
    for (size_t i = 0; i < count; i++) {
        double most = 0;
        for (size_t k = 0; k < causes[i].stage_count; k++)
            if (causes[i].stages[k].count > most) {
                most = causes[i].stages[k].count;
                causes[i].stage = causes[i].stages[k].id;
            }
    }
    for (size_t i = 0; i < tellings->count; i++) {
        const struct told *told = &tellings->items[i];
        const struct pyro_failure *failure = &app->failures.items[told->failure];
        struct cause *cause = &causes[told->cause];
        if (!cause->reported || cause->stage != failure->stage || cause->id_count == IDS_MAX)
            continue;
        if (cause->id_count == 0)
            cause->executor = failure->executor;
        cause->ids[cause->id_count++] = told->id;
    }
}

/* ", tasks 4, 11, 17" of the tasks that failed because of it, or "". */
static const char *say_tasks(struct pyro_rule_context *context, const struct cause *cause)
{
    const struct pyro_app *app = context->app;
    int64_t named[NAMED_MAX];
    size_t count = 0;
    bool more = false;
    for (size_t row = 0; row < app->tasks.count && cause->id_count > 0; row++) {
        int64_t id = pyro_task_get(&app->tasks, PYRO_TASK_id, row), index;
        size_t k = 0, at = 0;
        while (k < cause->id_count && cause->ids[k] != id)
            k++;
        if (k == cause->id_count || id == PYRO_NONE)
            continue;
        index = pyro_task_get(&app->tasks, PYRO_TASK_index, row);
        while (at < count && named[at] != index)
            at++;
        if (at < count)
            continue;
        if (count == NAMED_MAX) {
            more = true;
            continue;
        }
        for (at = count++; at > 0 && named[at - 1] > index; at--)
            named[at] = named[at - 1];
        named[at] = index;
    }
    const char *list = "";
    for (size_t i = 0; i < count; i++)
        list = pyro_say(context, "%s%s%lld", list, i > 0 ? ", " : "", (long long)named[i]).ptr;
    return count == 0 ? "" : pyro_say(context, ", task%s %s%s", count > 1 ? "s" : "", list, more ? ", ..." : "").ptr;
}

/* Of the failed attempt in row `row`, by what its message says; NULL: it has none, or is a consequence of another
 * failure (*ret_own: false). */
static const struct told *told_of(const struct pyro_app *app, const struct tellings *tellings, size_t row,
                                  bool *ret_own)
{
    *ret_own = pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_FAILED &&
               !pyro_failure_is_consequence(pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row)));
    struct told key = {.id = *ret_own ? pyro_task_get(&app->tasks, PYRO_TASK_id, row) : PYRO_NONE};
    return key.id == PYRO_NONE || tellings->count == 0
               ? NULL
               : bsearch(&key, tellings->items, tellings->count, sizeof(*tellings->items), by_id);
}

/* The time that the attempts of each cause took. */
static void take_losses(const struct pyro_app *app, struct cause *causes, const struct tellings *tellings)
{
    for (size_t row = 0; row < app->tasks.count; row++) {
        bool own;
        int64_t whole;
        const struct told *told = told_of(app, tellings, row, &own);
        if (told)
            causes[told->cause].lost_ms += lost_with(app, row, &whole);
    }
}

/* What failed of this cause is not run, nor what was lost with it and run again. Attempts that no message is known of
 * go with the first cause. */
static void remedy(struct pyro_rule_context *context, struct pyro_finding *finding, const struct cause *cause,
                   const struct tellings *tellings, bool is_first)
{
    const struct pyro_app *app = context->app;
    for (size_t row = 0; row < app->tasks.count; row++) {
        bool own;
        const struct told *told = told_of(app, tellings, row, &own);
        if (!own || (told ? told->cause != cause->number : !is_first))
            continue;
        int64_t whole;
        lost_with(app, row, &whole);
        const struct pyro_stage *stage = whole < 0 ? NULL : &app->stages.items[whole];
        if (stage && pyro_app_find_stage(app, stage->id, stage->attempt + 1) >= 0)
            pyro_remedy_skip(context, finding, (size_t)whole);
        else
            pyro_remedy_no_task(context, finding, row);
    }
}

static const char *const verify_text = "In the next run the stage page lists no failed task with this message.";

/* " in 3 stages", where there are several. */
static const char *say_spread(struct pyro_rule_context *context, const struct cause *cause)
{
    return cause->stage_count < 2 ? "" : pyro_say(context, " in %zu stages", cause->stage_count).ptr;
}

/* `unknown`: failed attempts without a known message; they are shown with the first cause. */
static void report(struct pyro_rule_context *context, const struct losses *losses, const struct cause *cause,
                   double unknown, const struct tellings *tellings, bool is_first)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_task_failures);
    if (!finding)
        return;
    double tasks = fmax(pyro_real(app->numbers.tasks), 1), count = cause->count, lost = cause->lost_ms;
    int64_t limit = pyro_app_property_int(app, "spark.task.maxFailures", 4);
    const char *place = "";
    for (size_t i = app->stages.count; i-- > 0;) {
        if (app->stages.items[i].id != cause->stage || cause->stage == PYRO_NONE)
            continue;
        pyro_finding_at_stage(context, finding, i);
        place = pyro_say_stage(context, i);
    }
    finding->executor = cause->executor;
    struct pyro_slice line = cause->message;
    const char *name = pyro_say_text(context, cause->name, 100);
    bool repeated = line.ptr && cause->name.len && pyro_slice_starts_with(line, name);
    finding->cause = pyro_say(
        context, "%s%s%s%.0f task%s%s failed%s %s%s%s. Spark %s%s.%s", place, say_tasks(context, cause),
        *place ? ": " : "", count, count > 1.5 ? " attempts" : " attempt", say_spread(context, cause),
        *name || line.len ? " with" : ":", repeated ? "" : name, repeated || !*name || !line.len ? "" : ": ",
        *name || line.len ? pyro_say_text(context, line, MESSAGE_PART) : "the log does not say why",
        lost > 0 ? pyro_say(context, "discarded %s of work", pyro_say_ms(context, lost)).ptr : "ran these tasks again",
        losses->failed_stage             ? ", and a stage failed because of it"
        : losses->worst_attempt + 1 >= 2 ? pyro_say(context, " (one task failed %lld times; %lld are allowed)",
                                                    (long long)losses->worst_attempt + 1, (long long)limit)
                                               .ptr
                                         : "",
        is_first && unknown > 0
            ? pyro_say(context, " The log has no message for %.0f more failed attempts.", unknown).ptr
            : "");
    pyro_finding_evidence(context, finding, "failed_tasks", count, 0, "count");
    pyro_finding_evidence(context, finding, "failed_share", count / tasks, 0, "share");
    pyro_finding_evidence(context, finding, "lost_task_ms", lost, 0, "ms");
    pyro_finding_evidence(context, finding, "failures_of_one_task", (double)losses->worst_attempt + 1, 0, "count");
    pyro_finding_advise(context, finding,
                        pyro_slice_from(pyro_failure_advice(pyro_failure_kind(cause->name, cause->message))),
                        verify_text);
    double near = limit > 0 ? (double)(losses->worst_attempt + 1) / (double)limit : 0;
    finding->failure_risk =
        losses->ended_there    ? 0.9
        : losses->failed_stage ? 0.6
        : near >= 0.75         ? 0.6
        : near >= 0.5 || count / tasks >= pyro_limit(context, SHARE_REAL) || count >= pyro_limit(context, COUNT_REAL)
            ? 0.3
            : 0.1;
    finding->confidence *= 0.98;
    remedy(context, finding, cause, tellings, is_first);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (app->numbers.failed_tasks <= 0)
        return PYRO_VERDICT_QUIET;
    struct losses losses = measure(app);
    if (losses.failed <= 0)
        return PYRO_VERDICT_QUIET;
    struct cause *causes = pyro_arena_array(context->arena, CAUSES_KEPT, sizeof(*causes));
    struct tellings tellings = {pyro_arena_array(context->arena, app->failures.count + 1, sizeof(*tellings.items)), 0};
    if (!causes || !tellings.items) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    size_t count = collect(app, causes, &tellings), order[CAUSES_KEPT] = {0};
    if (count == 0)
        causes[count++] = (struct cause){.name = PYRO_SLICE_LITERAL("an unknown error"),
                                         .stage = PYRO_NONE,
                                         .count = losses.failed,
                                         .lost_ms = losses.lost_ms};
    choose(context, causes, count, order);
    place(app, causes, count, &tellings);
    if (tellings.count > 1)
        qsort(tellings.items, tellings.count, sizeof(*tellings.items), by_id);
    take_losses(app, causes, &tellings);
    double known = 0;
    for (size_t i = 0; i < count; i++)
        known += causes[i].count;
    double unknown = fmax(losses.failed - known, 0), told = 0;
    for (size_t i = 0; i < count; i++) {
        if (!causes[order[i]].reported)
            continue;
        report(context, &losses, &causes[order[i]], unknown, &tellings, i == 0);
        told++;
    }
    return told > 0 ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_task_failures = {
    .id = "task-failures",
    .category = "failures",
    .title = "Failed tasks",
    .summary = "Tasks fail, and Spark repeats them or ends their job.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"executor-oom", "executor-lost"},
    .evaluate = evaluate,
};
