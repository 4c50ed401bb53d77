/* Tasks, and the memory of executors that events about tasks and stages carry. */
#include "base/intern.h"
#include "decode/history/listener.h"

#define GET pyro_tree_get

static void add_to(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = more > 0 ? INT64_MAX : INT64_MIN;
}

static void read_info(struct pyro_listener *listener, const struct pyro_tree *info, struct pyro_history_task *task)
{
    task->index = pyro_tree_int(GET(info, "Index"), 0);
    task->attempt = pyro_tree_int(GET(info, "Attempt"), 1);
    task->partition = pyro_tree_int(GET(info, "Partition ID"), -1);
    task->launch_ms = pyro_tree_int(GET(info, "Launch Time"), 0);
    task->fetch_ms = pyro_tree_int(GET(info, "Getting Result Time"), 0);
    task->finish_ms = pyro_tree_int(GET(info, "Finish Time"), 0);
    task->executor = pyro_listener_text(listener, GET(info, "Executor ID"));
    task->host = pyro_listener_text(listener, GET(info, "Host"));
    task->locality = pyro_listener_text(listener, GET(info, "Locality"));
    task->speculative = pyro_tree_bool(GET(info, "Speculative"));
    if (!task->executor.ptr)
        task->executor = PYRO_SLICE_LITERAL("");
    if (task->finish_ms)
        task->status = pyro_tree_bool(GET(info, "Failed"))   ? PYRO_HTASK_FAILED
                       : pyro_tree_bool(GET(info, "Killed")) ? PYRO_HTASK_KILLED
                                                             : PYRO_HTASK_SUCCESS;
}

static struct pyro_history_stage *event_stage(const struct pyro_history *history, const struct pyro_tree *event)
{
    struct pyro_history_stage *stage = pyro_history_stage(history, pyro_tree_int(GET(event, "Stage ID"), -1),
                                                          pyro_tree_int(GET(event, "Stage Attempt ID"), 0));
    return stage && stage->live ? stage : NULL;
}

void pyro_history_on_task_start(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    const struct pyro_tree *info = GET(event, "Task Info");
    int64_t id = pyro_tree_int(GET(info, "Task ID"), -1);
    uint64_t *row = info && id >= 0 ? pyro_map_put(&history->task_rows, (uint64_t)id, NULL) : NULL;
    if (!row || *row)
        return;
    struct pyro_history_task *task = pyro_vec_push(&history->tasks, NULL);
    struct pyro_history_stage *stage = event_stage(history, event);
    uint32_t *place = task && stage ? pyro_vec_push(&stage->tasks, NULL) : NULL;
    history->failed |= !task || (stage && !place);
    if (history->failed)
        return;
    *row = history->tasks.count;
    task->id = id;
    read_info(listener, info, task);
    if (stage) {
        *place = (uint32_t)(history->tasks.count - 1);
        stage->active++;
        if (task->launch_ms && (!stage->first_launch_ms || task->launch_ms < stage->first_launch_ms))
            stage->first_launch_ms = task->launch_ms;
        stage->speculative += task->speculative;
        stage->speculative_active += task->speculative;
        for (size_t i = 0; i < stage->jobs.count; i++)
            history->jobs.items[stage->jobs.items[i]].active_tasks++;
    }
    struct pyro_history_executor *executor = pyro_history_executor(history, task->executor);
    if (executor) {
        executor->active_tasks++;
        executor->tasks++;
    }
}

/* ---- The end ---- */

static const struct {
    const char *group, *key;
} metrics[PYRO_HISTORY_METRICS] = {
#define HISTORY_METRIC(name, group, key, stage) {group, key},
#include "model/history_metrics.def"
#undef HISTORY_METRIC
};

static void read_metrics(const struct pyro_tree *root, int64_t *values)
{
    const char *group = "";
    const struct pyro_tree *node = root;
    for (int i = 0; i < PYRO_HISTORY_METRICS; i++) {
        if (strcmp(group, metrics[i].group) != 0) {
            group = metrics[i].group;
            node = GET(root, group);
            if (strcmp(group, "Push Based Shuffle") == 0) {
                const struct pyro_tree *read = GET(root, "Shuffle Read Metrics");
                node = GET(read, group);
                node = node ? node : GET(read, "Shuffle Push Read Metrics");
            }
        }
        values[i] = pyro_tree_int(GET(node, metrics[i].key), 0);
        if (i == PYRO_HISTORY_mergedFetchFallbackCount && !GET(node, metrics[i].key))
            values[i] = pyro_tree_int(GET(node, "Merged Fallback Count"), 0);
    }
}

static void add_stack(struct pyro_strbuf *text, const struct pyro_tree *trace)
{
    for (const struct pyro_tree *frame = trace ? trace->first : NULL; frame; frame = frame->next) {
        const struct pyro_tree *file = GET(frame, "File Name");
        int64_t line = pyro_tree_int(GET(frame, "Line Number"), -1);
        pyro_strbuf_add_text(text, frame == trace->first ? "        " : "\\n        ");
        pyro_strbuf_add_slice(text, GET(frame, "Declaring Class") ? GET(frame, "Declaring Class")->text
                                                                  : PYRO_SLICE_LITERAL(""));
        pyro_strbuf_add_char(text, '.');
        pyro_strbuf_add_slice(text,
                              GET(frame, "Method Name") ? GET(frame, "Method Name")->text : PYRO_SLICE_LITERAL(""));
        pyro_strbuf_add_char(text, '(');
        if (line == -2) {
            pyro_strbuf_add_text(text, "Native Method");
        } else {
            pyro_strbuf_add_slice(text, file ? file->text : PYRO_SLICE_LITERAL("Unknown Source"));
            if (file && line >= 0)
                pyro_strbuf_printf(text, ":%lld", (long long)line);
        }
        pyro_strbuf_add_char(text, ')');
    }
}

static struct pyro_slice raw_text(const struct pyro_tree *node, const char *key)
{
    const struct pyro_tree *member = GET(node, key);
    return member ? member->text : PYRO_SLICE_LITERAL("null");
}

/* What Spark's own reasons say of themselves. The text is built as it would stand in JSON and decoded at the end. */
static struct pyro_slice error_message(struct pyro_listener *listener, const struct pyro_tree *reason)
{
    const struct pyro_tree *name = GET(reason, "Reason");
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    if (!name || pyro_tree_is(name, "Success"))
        return PYRO_SLICE_NULL;
    if (pyro_tree_is(name, "TaskKilled")) {
        const struct pyro_tree *why = GET(reason, "Kill Reason");
        pyro_strbuf_add_slice(&text, why ? why->text : PYRO_SLICE_LITERAL("unknown reason"));
    } else if (pyro_tree_is(name, "ExceptionFailure")) {
        if (GET(reason, "Full Stack Trace")) {
            pyro_strbuf_add_slice(&text, raw_text(reason, "Full Stack Trace"));
        } else {
            pyro_strbuf_add_slice(&text, raw_text(reason, "Class Name"));
            pyro_strbuf_add_text(&text, ": ");
            pyro_strbuf_add_slice(&text, raw_text(reason, "Description"));
            pyro_strbuf_add_text(&text, "\\n");
            add_stack(&text, GET(reason, "Stack Trace"));
        }
    } else if (pyro_tree_is(name, "ExecutorLostFailure")) {
        const struct pyro_tree *by_app = GET(reason, "Exit Caused By App"), *why = GET(reason, "Loss Reason");
        pyro_strbuf_add_text(&text, "ExecutorLostFailure (executor ");
        pyro_strbuf_add_slice(&text, raw_text(reason, "Executor ID"));
        pyro_strbuf_add_text(&text, !by_app || pyro_tree_bool(by_app) ? " exited caused by one of the running tasks)"
                                                                      : " exited unrelated to the running tasks)");
        if (why) {
            pyro_strbuf_add_text(&text, " Reason: ");
            pyro_strbuf_add_slice(&text, why->text);
        }
    } else if (pyro_tree_is(name, "FetchFailed")) {
        const struct pyro_tree *address = GET(reason, "Block Manager Address");
        pyro_strbuf_add_text(&text, "FetchFailed(");
        if (address) {
            pyro_strbuf_printf(&text, "BlockManagerId(%.*s, ", (int)raw_text(address, "Executor ID").len,
                               raw_text(address, "Executor ID").ptr);
            pyro_strbuf_add_slice(&text, raw_text(address, "Host"));
            pyro_strbuf_printf(&text, ", %lld, None)", (long long)pyro_tree_int(GET(address, "Port"), 0));
        } else {
            pyro_strbuf_add_text(&text, "null");
        }
        pyro_strbuf_printf(&text, ", shuffleId=%lld, mapIndex=%lld, mapId=%lld, reduceId=%lld, message=\\n",
                           (long long)pyro_tree_int(GET(reason, "Shuffle ID"), 0),
                           (long long)pyro_tree_int(GET(reason, "Map Index"), INT32_MIN),
                           (long long)pyro_tree_int(GET(reason, "Map ID"), 0),
                           (long long)pyro_tree_int(GET(reason, "Reduce ID"), 0));
        pyro_strbuf_add_slice(&text, raw_text(reason, "Message"));
        pyro_strbuf_add_text(&text, "\\n)");
    } else if (pyro_tree_is(name, "TaskCommitDenied")) {
        pyro_strbuf_printf(&text,
                           "TaskCommitDenied (Driver denied task commit) for job: %lld, partition: %lld, "
                           "attemptNumber: %lld",
                           (long long)pyro_tree_int(GET(reason, "Job ID"), -1),
                           (long long)pyro_tree_int(GET(reason, "Partition ID"), -1),
                           (long long)pyro_tree_int(GET(reason, "Attempt Number"), -1));
    } else if (pyro_tree_is(name, "Resubmitted")) {
        pyro_strbuf_add_text(&text, "Resubmitted (resubmitted due to lost executor)");
    } else if (pyro_tree_is(name, "TaskResultLost")) {
        pyro_strbuf_add_text(&text, "TaskResultLost (result lost from block manager)");
    } else {
        pyro_strbuf_add_slice(&text, name->text);
    }
    listener->history->failed |= text.failed;
    struct pyro_slice kept = pyro_listener_keep(listener, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    return kept;
}

static void keep_accumulables(struct pyro_listener *listener, const struct pyro_tree *array,
                              struct pyro_history_task *task)
{
    pyro_history_accumulables found = {0};
    pyro_listener_accumulables(listener, array, &found);
    if (found.count) {
        size_t bytes = found.count * sizeof(*found.items);
        struct pyro_history_accumulable *kept = pyro_string_pool_alloc(listener->history->strings, bytes);
        listener->history->failed |= !kept;
        if (kept) {
            memcpy(kept, found.items, bytes);
            task->accumulables = kept;
            task->accumulable_count = (uint32_t)found.count;
        }
    }
    pyro_vec_done(&found, NULL);
}

struct outcome {
    int64_t completed, failed, killed;
    struct pyro_slice kill_reason;
    int64_t added[PYRO_HISTORY_METRICS]; /* by which the task's metrics grew */
    int64_t duration_ms;
};

static void count_in_stage(struct pyro_listener *listener, struct pyro_history_stage *stage,
                           const struct pyro_history_task *task, const struct pyro_tree *event,
                           const struct outcome *outcome)
{
    struct pyro_history *history = listener->history;
    struct pyro_history_share *share = pyro_listener_share(listener, stage, task->executor);
    if (!share)
        return;
    for (int i = 0; i < PYRO_HISTORY_METRICS; i++) {
        add_to(&stage->metrics[i], outcome->added[i]);
        add_to(&share->metrics[i], outcome->added[i]);
    }
    stage->active--;
    stage->completed += outcome->completed;
    stage->failed += outcome->failed;
    stage->killed += outcome->killed;
    if (outcome->completed)
        history->failed |= pyro_id_set_add(&stage->completed_indices, task->index) < 0;
    if (outcome->killed)
        pyro_listener_count(listener, &stage->killed_reasons, outcome->kill_reason);
    pyro_listener_peaks(&stage->peaks, GET(event, "Task Executor Metrics"));
    pyro_listener_peaks(&share->peaks, GET(event, "Task Executor Metrics"));
    share->task_ms += outcome->duration_ms;
    share->succeeded += outcome->completed;
    share->failed += outcome->failed;
    share->killed += outcome->killed;
    for (size_t i = 0; i < stage->jobs.count; i++) {
        struct pyro_history_job *job = &history->jobs.items[stage->jobs.items[i]];
        job->active_tasks--;
        job->completed_tasks += outcome->completed;
        job->failed_tasks += outcome->failed;
        job->killed_tasks += outcome->killed;
        if (outcome->completed)
            history->failed |= pyro_id_set_add(&job->completed_indices,
                                               (int64_t)((uint64_t)stage->id << 32 | (uint32_t)task->index)) < 0;
        if (outcome->killed)
            pyro_listener_count(listener, &job->killed, outcome->kill_reason);
    }
    if (task->speculative) {
        stage->speculative_active--;
        stage->speculative_completed += outcome->completed;
        stage->speculative_failed += outcome->failed;
        stage->speculative_killed += outcome->killed;
    }
    if (stage->active == 0 && (stage->status == PYRO_STAGE_COMPLETE || stage->status == PYRO_STAGE_FAILED))
        stage->live = false;
}

static void count_in_executor(struct pyro_history_executor *executor, const struct pyro_tree *event,
                              const struct outcome *outcome, const int64_t *values)
{
    executor->active_tasks--;
    executor->completed_tasks += outcome->completed;
    executor->failed_tasks += outcome->failed;
    add_to(&executor->duration_ms, outcome->duration_ms);
    pyro_listener_peaks(&executor->peaks, GET(event, "Task Executor Metrics"));
    if (pyro_tree_is(GET(GET(event, "Task End Reason"), "Reason"), "Resubmitted"))
        return;
    add_to(&executor->gc_ms, values[PYRO_HISTORY_jvmGcTime]);
    add_to(&executor->input_bytes, values[PYRO_HISTORY_bytesRead]);
    add_to(&executor->shuffle_read, values[PYRO_HISTORY_localBytesRead]);
    add_to(&executor->shuffle_read, values[PYRO_HISTORY_remoteBytesRead]);
    add_to(&executor->shuffle_write, values[PYRO_HISTORY_shuffleBytesWritten]);
}

/* What the task's accumulables add to the metrics of an SQL execution. */
static void follow_sql(struct pyro_listener *listener, const struct pyro_tree *event, const struct pyro_tree *info,
                       bool succeeded)
{
    int64_t id = pyro_tree_int(GET(info, "Task ID"), -1), index = pyro_tree_int(GET(info, "Index"), 0);
    struct pyro_sql_stage *stage = pyro_sql_task(&listener->sql, pyro_tree_int(GET(event, "Stage ID"), -1),
                                                 pyro_tree_int(GET(event, "Stage Attempt ID"), 0), index);
    const struct pyro_tree *array = stage ? GET(info, "Accumulables") : NULL;
    for (const struct pyro_tree *one = array ? array->first : NULL; one; one = one->next)
        if (GET(one, "Update"))
            pyro_sql_task_value(&listener->sql, stage, id, index, pyro_tree_int(GET(one, "ID"), 0),
                                pyro_tree_int(GET(one, "Update"), 0));
    if (stage && succeeded)
        pyro_sql_task_succeeded(&listener->sql, stage, index);
}

void pyro_history_on_task_end(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    const struct pyro_tree *info = GET(event, "Task Info"), *reason = GET(event, "Task End Reason");
    const struct pyro_tree *name = GET(reason, "Reason");
    struct pyro_history_task *task = info ? pyro_history_task(history, pyro_tree_int(GET(info, "Task ID"), -1)) : NULL;
    struct outcome outcome = {0};
    struct pyro_history_task unknown = {0};
    int64_t values[PYRO_HISTORY_METRICS];
    if (!info)
        return;
    read_metrics(GET(event, "Task Metrics"), values);
    if (task && !task->ended) {
        task->ended = true;
        read_info(listener, info, task);
        task->error = error_message(listener, reason);
        keep_accumulables(listener, GET(info, "Accumulables"), task);
        task->metrics = pyro_string_pool_alloc(history->strings, sizeof(values));
        history->failed |= !task->metrics;
        if (!task->metrics)
            return;
        memcpy(task->metrics, values, sizeof(values));
        memcpy(outcome.added, values, sizeof(values));
    } else {
        task = &unknown;
        read_info(listener, info, task);
    }
    follow_sql(listener, event, info, task->status == PYRO_HTASK_SUCCESS);
    if (pyro_tree_is(name, "Success")) {
        outcome.completed = 1;
    } else if (pyro_tree_is(name, "TaskKilled") || pyro_tree_is(name, "TaskCommitDenied")) {
        outcome.killed = 1;
        outcome.kill_reason = error_message(listener, reason);
    } else {
        outcome.failed = 1;
    }
    outcome.duration_ms = task->finish_ms > task->launch_ms ? task->finish_ms - task->launch_ms : 0;
    struct pyro_history_stage *stage = event_stage(history, event);
    if (stage)
        count_in_stage(listener, stage, task, event, &outcome);
    struct pyro_history_executor *executor = pyro_history_executor(history, task->executor);
    if (executor)
        count_in_executor(executor, event, &outcome, values);
}

/* ---- Memory ---- */

static void raise_peaks(struct pyro_listener *listener, const struct pyro_tree *event, struct pyro_slice id,
                        const struct pyro_tree *values)
{
    struct pyro_history_executor *executor = pyro_history_executor(listener->history, id);
    struct pyro_history_stage *stage = event_stage(listener->history, event);
    if (executor)
        pyro_listener_peaks(&executor->peaks, values);
    struct pyro_history_share *share = stage && id.ptr ? pyro_listener_share(listener, stage, id) : NULL;
    if (share) {
        pyro_listener_peaks(&stage->peaks, values);
        pyro_listener_peaks(&share->peaks, values);
    }
}

void pyro_history_on_stage_executor_metrics(struct pyro_listener *listener, const struct pyro_tree *event)
{
    raise_peaks(listener, event, pyro_listener_text(listener, GET(event, "Executor ID")),
                GET(event, "Executor Metrics"));
}

void pyro_history_on_executor_metrics_update(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_slice id = pyro_listener_text(listener, GET(event, "Executor ID"));
    const struct pyro_tree *updates = GET(event, "Executor Metrics Updated");
    for (const struct pyro_tree *update = updates ? updates->first : NULL; update; update = update->next)
        raise_peaks(listener, update, id, GET(update, "Executor Metrics"));
}
