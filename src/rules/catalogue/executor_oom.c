/* executor-oom: tasks or whole executors ended for lack of memory. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "analyze/memory/shortage.h"
#include "model/failure_text.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { FEW_SHARE, GROW, ENDED_RISK, STAGE_RISK, RISK };
static const struct pyro_threshold thresholds[] = {
    [FEW_SHARE] =
        {"few_partitions_share", 0.25, "share",
         "If a smaller share of a stage's partitions ran out of memory, a few partitions are larger than the rest"},
    [GROW] = {"grow", 1.5, "ratio", "Recommended memory, as a multiple of the current memory"},
    [ENDED_RISK] = {"risk_ended", 0.9, "share", "Failure risk if the application failed because of it"},
    [STAGE_RISK] = {"risk_stage", 0.6, "share", "... if a stage failed because of it"},
    [RISK] = {"risk", 0.5, "share", "... if retries succeeded: the next run can fail"},
};

enum { KINDS = PYRO_SHORTAGE_CONTAINER + 1 };

static const struct {
    const char *name, *title, *what;
} kinds[KINDS] = {
    [PYRO_SHORTAGE_HEAP] = {"heap", "Executors out of heap memory", "ran out of Java heap memory"},
    [PYRO_SHORTAGE_EXECUTION] = {"execution", "Tasks out of execution memory",
                                 "could not get execution memory, which is Spark's part of the heap"},
    [PYRO_SHORTAGE_METASPACE] = {"metaspace", "Executors out of metaspace",
                                 "ran out of memory for classes (metaspace)"},
    [PYRO_SHORTAGE_DIRECT] = {"direct", "Executors out of direct memory",
                              "ran out of direct memory, which is outside the heap"},
    [PYRO_SHORTAGE_THREADS] = {"threads", "Executors out of threads", "could not start another thread"},
    [PYRO_SHORTAGE_VIRTUAL] = {"virtual", "Executors over the limit of virtual memory",
                               "were killed because they reserved more virtual memory than YARN allows"},
    [PYRO_SHORTAGE_CONTAINER] = {"container", "Executors over the memory limit of their container",
                                 "were killed because they used more memory than their container allows"},
};

struct shortage {
    double tasks, executors, lost_ms;
    double own;                   /* of the tasks: with an exception of their own, not just lost with their executor */
    int64_t stage, stage_attempt; /* of the first such task */
    struct pyro_slice executor, told;
    double partitions, affected; /* of that stage */
    bool failed_stage;
};

struct failed_id {
    int64_t id;
    enum pyro_shortage kind;
    struct pyro_slice told;
};

static int by_id(const void *left, const void *right)
{
    const struct failed_id *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Ids of the tasks whose own exception says so, in order. */
static size_t failed_ids(struct pyro_rule_context *context, struct failed_id **ret)
{
    const struct pyro_app *app = context->app;
    size_t count = 0, room = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        count = 0;
        for (size_t i = 0; i < app->failures.count; i++) {
            const struct pyro_failure *failure = &app->failures.items[i];
            if (!pyro_slice_is(failure->kind, "task"))
                continue;
            enum pyro_shortage kind = pyro_shortage_of(failure->class_name, failure->message);
            if (kind == PYRO_SHORTAGE_NONE)
                continue;
            if (pass > 0 && count < room)
                (*ret)[count] =
                    (struct failed_id){pyro_failure_number(failure->id), kind, pyro_telling_line(failure->message)};
            count++;
        }
        if (pass == 0) {
            room = count;
            *ret = pyro_arena_array(context->arena, room + 1, sizeof(**ret));
            if (!*ret) {
                context->failed = true;
                return 0;
            }
        }
    }
    qsort(*ret, count, sizeof(**ret), by_id);
    return count;
}

static enum pyro_shortage kind_of(const struct pyro_app *app, size_t task, const struct failed_id *ids, size_t count,
                                  struct pyro_slice *told)
{
    struct failed_id key = {.id = pyro_task_get(&app->tasks, PYRO_TASK_id, task)};
    const struct failed_id *found = count > 0 ? bsearch(&key, ids, count, sizeof(key), by_id) : NULL;
    if (found) {
        *told = found->told;
        return found->kind;
    }
    if (!pyro_task_died_of_shortage(app, task))
        return PYRO_SHORTAGE_NONE;
    int64_t row = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, task);
    *told = app->executors.items[row].remove_reason;
    return pyro_executor_shortage(app, &app->executors.items[row]);
}

/* How many partitions of its stage ran out of memory, each once; indices beyond a million are not distinguished. */
static void count_partitions(struct pyro_rule_context *context, struct shortage *shortage, const int8_t *kind_of_task,
                             int8_t kind)
{
    const struct pyro_app *app = context->app;
    enum { INDICES_MAX = 1 << 20 };
    ptrdiff_t row = pyro_app_find_stage(app, shortage->stage, shortage->stage_attempt);
    if (row < 0)
        return;
    shortage->partitions = pyro_real(app->stages.items[row].partitions);
    size_t room = (size_t)fmin(shortage->partitions, INDICES_MAX);
    bool *seen = pyro_arena_array(context->arena, room + 1, sizeof(*seen));
    if (!seen) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < app->tasks.count; i++) {
        int64_t index = pyro_task_get(&app->tasks, PYRO_TASK_index, i);
        if (kind_of_task[i] != kind || pyro_task_get(&app->tasks, PYRO_TASK_stage, i) != shortage->stage || index < 0 ||
            index >= (int64_t)room || seen[index])
            continue;
        struct pyro_slice reason = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, i));
        if (shortage->own > 0 && pyro_slice_find(reason, "ExecutorLost"))
            continue; /* a neighbour, or the next task of an executor that was ending */
        seen[index] = true;
        shortage->affected++;
    }
}

static struct pyro_slice first_failed_text(const struct pyro_app *app, int64_t stage)
{
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].id == stage && pyro_slice_is(app->stages.items[i].status, "failed"))
            return app->stages.items[i].failure;
    return PYRO_SLICE_NULL;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, enum pyro_shortage kind,
                   const struct shortage *found)
{
    static const char *const verify = "In the next run no executor is dead on the Executors page, and no task failed.";
    const struct pyro_app *app = context->app;
    double heap = pyro_app_heap_bytes(app), slots = pyro_app_slots_per_executor(app), grow = pyro_limit(context, GROW);
    struct pyro_advice *advice;
    if (kind == PYRO_SHORTAGE_HEAP || kind == PYRO_SHORTAGE_EXECUTION) {
        bool few = found->partitions >= 4 && found->affected < pyro_limit(context, FEW_SHARE) * found->partitions;
        if (few)
            pyro_finding_advise(context, finding,
                                pyro_say(context,
                                         "Split the large partitions: only %.0f of %.0f partitions ran out of memory, "
                                         "so the cause is some of their keys, groups or records. Process them in "
                                         "smaller groups, aggregate instead of collecting lists, or salt hot keys.",
                                         found->affected, found->partitions),
                                verify);
        else
            pyro_finding_advise(
                context, finding,
                pyro_say(context,
                         "Give each task less data: use %.0f instead of %.0f partitions for this stage, and no "
                         "collections that grow with the data (collect_list, groupByKey).",
                         fmax(found->partitions, 1) * 3, found->partitions),
                verify);
        if (slots >= 2) {
            advice = pyro_finding_advise(context, finding,
                                         pyro_say(context,
                                                  "Run %.0f instead of %.0f tasks at the same time per executor, so "
                                                  "that each task has twice the memory.",
                                                  fmax(1, floor(slots / 2)), slots),
                                         verify);
            if (!pyro_app_is_local(app))
                pyro_advice_set(
                    context, advice, "spark.executor.cores",
                    pyro_say(context, "%.0f", fmax(1, floor(slots / 2)) * (double)pyro_task_cpus(app, NULL)));
            pyro_advice_prevents(advice, "executors that run out of memory");
        }
        struct pyro_slice size = pyro_say_memory(context, heap * grow);
        advice = pyro_finding_advise(context, finding,
                                     pyro_say(context, "Raise %s from %s to %s.", pyro_app_heap_key(app),
                                              pyro_say_bytes(context, heap), size.ptr),
                                     verify);
        pyro_advice_set(context, advice, pyro_app_heap_key(app), size);
        pyro_advice_prevents(advice, "executors that run out of memory");
        return;
    }
    if (kind == PYRO_SHORTAGE_VIRTUAL) {
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Turn the check of virtual memory off in the node managers "
                               "(yarn.nodemanager.vmem-check-enabled=false in yarn-site.xml), or raise "
                               "yarn.nodemanager.vmem-pmem-ratio: JVMs reserve more address space than they use, and "
                               "this limit saves no memory."),
            verify);
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Where the cluster cannot be changed, a larger container "
                                               "(spark.executor.memoryOverhead) raises this limit too, by the ratio."),
                            verify);
        return;
    }
    if (kind == PYRO_SHORTAGE_CONTAINER || kind == PYRO_SHORTAGE_DIRECT) {
        struct pyro_overhead overhead = pyro_executor_overhead(app);
        struct pyro_slice size = pyro_say_memory(context, overhead.next_bytes);
        advice = pyro_finding_advise(context, finding,
                                     pyro_say(context,
                                              "Set the memory overhead to %s instead of %s. Python workers, direct "
                                              "buffers and threads use it, not spark.executor.memory.",
                                              size.ptr, pyro_say_bytes(context, overhead.bytes)),
                                     verify);
        if (pyro_app_spark_at_least(app, 2, 3) && !pyro_app_is_local(app))
            pyro_advice_set(context, advice, "spark.executor.memoryOverhead", size);
        if (slots >= 2)
            pyro_finding_advise(context, finding,
                                pyro_say(context,
                                         "Or run fewer than %.0f tasks at the same time in one container "
                                         "(spark.executor.cores): each Python task has its own worker.",
                                         slots),
                                verify);
        return;
    }
    pyro_finding_advise(
        context, finding,
        kind == PYRO_SHORTAGE_METASPACE
            ? PYRO_SLICE_LITERAL("Raise the memory for classes (-XX:MaxMetaspaceSize in "
                                 "spark.executor.extraJavaOptions), and look for code that keeps generating classes.")
            : PYRO_SLICE_LITERAL("Raise the limit of processes and threads of the executor's user or container, and "
                                 "look for code that keeps starting threads."),
        verify);
}

/* Nothing where the heap is not known. */
static const char *say_heap(struct pyro_rule_context *context, double heap, double peak)
{
    if (context->app->integrity.settings_unknown)
        return "";
    return pyro_say(context, " The heap was %s for %s at the same time%s.", pyro_say_bytes(context, heap),
                    pyro_say_count(context, pyro_app_slots_per_executor(context->app), "task", "tasks"),
                    peak > 0 ? pyro_say(context, " (peak seen %s)", pyro_say_bytes(context, peak)).ptr : "")
        .ptr;
}

static void report(struct pyro_rule_context *context, enum pyro_shortage kind, const struct shortage *found,
                   const int8_t *kind_of_task)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_executor_oom);
    if (!finding)
        return;
    finding->id = pyro_say(context, "executor-oom:%s", kinds[kind].name);
    finding->title = pyro_slice_from(kinds[kind].title);
    ptrdiff_t stage = pyro_app_find_stage(app, found->stage, found->stage_attempt);
    const char *place = "";
    if (stage >= 0) {
        pyro_finding_at_stage(context, finding, (size_t)stage);
        place = pyro_say(context, " in %s", pyro_say_stage(context, (size_t)stage)).ptr;
    }
    finding->executor = found->executor;
    double heap = pyro_app_heap_bytes(app);
    double peak = pyro_real(app->numbers.executor_heap_peak_bytes);
    const char *deaths =
        found->executors > 0
            ? pyro_say(context, "%s at the same time",
                       pyro_say_count(context, found->executors, "executor was lost", "executors were lost"))
                  .ptr
            : "their executors survived";
    finding->cause = pyro_say(context, "%s%s %s (\"%s\"); %s.%s Spark discarded %s of work%s.",
                              found->tasks > 0 ? pyro_say_count(context, found->tasks, "task attempt", "task attempts")
                                               : "Executors without a running task",
                              place, kinds[kind].what, pyro_say_text(context, found->told, PYRO_CAUSE_BYTES), deaths,
                              say_heap(context, heap, peak), pyro_say_ms(context, found->lost_ms),
                              found->failed_stage ? ", and the stage failed because of it" : "");
    pyro_finding_evidence(context, finding, "failed_tasks", found->tasks, 0, "count");
    pyro_finding_evidence(context, finding, "executors_lost", found->executors, 0, "count");
    pyro_finding_evidence(context, finding, "lost_task_ms", found->lost_ms, 0, "ms");
    pyro_finding_evidence(context, finding, "partitions_affected", found->affected, 0, "count");
    if (!app->integrity.settings_unknown)
        pyro_finding_evidence(context, finding, "heap_limit_bytes", heap, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "heap_peak_bytes", peak, (double)NAN, "bytes");
    advise(context, finding, kind, found);
    bool ended = found->failed_stage && (pyro_app_failed(app) || pyro_app_ended_in_failure(app));
    finding->failure_risk = pyro_limit(context, ended ? ENDED_RISK : found->failed_stage ? STAGE_RISK : RISK);
    finding->confidence *= kind == PYRO_SHORTAGE_CONTAINER || kind == PYRO_SHORTAGE_VIRTUAL ? 0.9 : 0.98;
    for (size_t i = 0; i < app->tasks.count; i++)
        if (kind_of_task[i] == (int8_t)kind)
            pyro_remedy_task(context, finding, i, 0);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct shortage found[KINDS] = {{0}};
    for (size_t i = 0; i < app->executors.count; i++) {
        struct shortage *one = &found[pyro_executor_shortage(app, &app->executors.items[i])];
        if (one->executors++ <= 0) {
            one->stage = PYRO_NONE;
            one->executor = app->executors.items[i].id;
            one->told = app->executors.items[i].remove_reason;
        }
    }
    struct failed_id *ids = NULL;
    size_t id_count = failed_ids(context, &ids);
    int8_t *kind_of_task = pyro_arena_array(context->arena, app->tasks.count, sizeof(*kind_of_task));
    if (!kind_of_task || context->failed) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    for (size_t i = 0; i < app->tasks.count; i++) {
        kind_of_task[i] = PYRO_SHORTAGE_NONE;
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, i) != PYRO_TASK_FAILED)
            continue;
        struct pyro_slice told = PYRO_SLICE_NULL;
        enum pyro_shortage kind = kind_of(app, i, ids, id_count, &told);
        kind_of_task[i] = (int8_t)kind;
        struct shortage *one = &found[kind];
        struct pyro_slice reason = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, i));
        one->own += kind != PYRO_SHORTAGE_NONE && !pyro_slice_find(reason, "ExecutorLost");
        if (one->tasks++ <= 0) {
            one->stage = pyro_task_get(&app->tasks, PYRO_TASK_stage, i);
            one->stage_attempt = pyro_task_get(&app->tasks, PYRO_TASK_stage_attempt, i);
            one->executor = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, i));
            one->told = told;
        }
        one->lost_ms += pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, i),
                                  pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, i));
    }
    bool any = false;
    for (int kind = PYRO_SHORTAGE_NONE + 1; kind < KINDS; kind++) {
        if (found[kind].tasks <= 0 && found[kind].executors <= 0)
            continue;
        count_partitions(context, &found[kind], kind_of_task, (int8_t)kind);
        struct pyro_slice text = first_failed_text(app, found[kind].stage);
        found[kind].failed_stage = text.ptr && !pyro_text_has(text, "FetchFailed");
        report(context, (enum pyro_shortage)kind, &found[kind], kind_of_task);
        any = true;
    }
    return any ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_executor_oom = {
    .id = "executor-oom",
    .category = "memory",
    .title = "Out of memory",
    .summary = "Tasks or whole executors ended because they ran out of memory, and Spark discarded their work.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"data-skew", "oversized-partition", "global-window", "unsplittable-input"},
    .evaluate = evaluate,
};
