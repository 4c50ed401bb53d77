/* Tasks, and the memory of executors that events about tasks and stages carry. */
#include "base/strings/intern.h"
#include "decode/sparkview/listener.h"
#include "model/column.h"

#define GET pyro_tree_get

static void add_to(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = more > 0 ? INT64_MAX : INT64_MIN;
}

/* The live attempt of an id, or NULL: what comes later does not count. */
static struct pyro_history_stage *live_stage(struct pyro_listener *listener, int64_t id, int64_t attempt)
{
    struct pyro_history *history = listener->history;
    struct pyro_history_stage *stage =
        listener->last_stage < history->stages.count ? &history->stages.items[listener->last_stage] : NULL;
    if (!stage || stage->id != id || stage->attempt != attempt)
        stage = pyro_history_stage(history, id, attempt);
    if (stage)
        listener->last_stage = (size_t)(stage - history->stages.items);
    return stage && stage->live ? stage : NULL;
}

static struct pyro_history_stage *event_stage(struct pyro_listener *listener, const struct pyro_tree *event)
{
    return live_stage(listener, pyro_tree_int(GET(event, "Stage ID"), -1),
                      pyro_tree_int(GET(event, "Stage Attempt ID"), 0));
}

/* The text of a row's executor; the empty one when it names none. */
static uint32_t row_executor(const int64_t *row)
{
    return row[PYRO_TASK_executor] == PYRO_NONE ? 0 : (uint32_t)row[PYRO_TASK_executor];
}

/* A place for a running task; UINT32_MAX: no memory, or too many. */
static uint32_t add_running(struct pyro_listener *listener, const int64_t *row)
{
    struct pyro_history *history = listener->history;
    size_t place = history->running.count / PYRO_TASK_START_COLUMNS;
    if (listener->free_places.count)
        place = listener->free_places.items[--listener->free_places.count];
    else if (place >= PYRO_HISTORY_RUNNING || !pyro_vec_reserve(&history->running, PYRO_TASK_START_COLUMNS, NULL))
        return UINT32_MAX;
    else
        history->running.count += PYRO_TASK_START_COLUMNS;
    memcpy(history->running.items + place * PYRO_TASK_START_COLUMNS, row, PYRO_TASK_START_COLUMNS * sizeof(*row));
    return (uint32_t)place;
}

void pyro_listener_task_start(struct pyro_listener *listener, const int64_t *row)
{
    struct pyro_history *history = listener->history;
    int64_t id = row[PYRO_TASK_id];
    int64_t *number = id >= 0 ? pyro_value_map_put(&listener->numbers, id) : NULL;
    history->failed |= id >= 0 && !number;
    if (!number || *number != PYRO_VALUE_NONE)
        return;
    if (listener->with_sql)
        pyro_sql_task_start(&listener->sql, row[PYRO_TASK_stage], row[PYRO_TASK_stage_attempt], id,
                            row[PYRO_TASK_index]);
    struct pyro_history_stage *stage = live_stage(listener, row[PYRO_TASK_stage], row[PYRO_TASK_stage_attempt]);
    uint32_t *place = history->places.count < PYRO_HISTORY_RUNNING ? pyro_vec_push(&history->places, NULL) : NULL;
    uint32_t *listed = place && stage ? pyro_vec_push(&stage->tasks, NULL) : NULL;
    uint32_t running = place ? add_running(listener, row) : UINT32_MAX;
    history->failed |= !place || (stage && !listed) || running == UINT32_MAX;
    if (history->failed)
        return;
    *number = (int64_t)history->places.count - 1;
    *place = running | PYRO_HISTORY_RUNNING;
    bool speculative = row[PYRO_TASK_speculative] != 0;
    if (stage) {
        *listed = (uint32_t)*number;
        stage->active++;
        int64_t launch_ms = row[PYRO_TASK_launch_ms];
        if (launch_ms && (!stage->first_launch_ms || launch_ms < stage->first_launch_ms))
            stage->first_launch_ms = launch_ms;
        stage->speculative += speculative;
        stage->speculative_active += speculative;
        for (size_t i = 0; i < stage->jobs.count; i++)
            history->jobs.items[stage->jobs.items[i]].active_tasks++;
        pyro_retained_task_start(&listener->retained, (size_t)(stage - history->stages.items));
    }
    struct pyro_history_executor *executor = pyro_history_executor(history, row_executor(row));
    if (executor && executor->active) {
        executor->active_tasks++;
        executor->tasks++;
    }
}

/* ---- The end ---- */

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

/* What Spark's own reasons say of themselves. The text is built as in JSON and decoded at the end. */
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

struct outcome {
    int64_t completed, failed, killed;
    int64_t active; /* how many fewer run: a task that is resubmitted had ended before */
    struct pyro_slice kill_reason;
    int64_t values[PYRO_HISTORY_METRICS];
    bool counted; /* values are added: the task's first end */
    int64_t duration_ms;
};

static void count_in_jobs(struct pyro_listener *listener, const struct pyro_history_stage *stage, int64_t index,
                          const struct outcome *outcome)
{
    for (size_t i = 0; i < stage->jobs.count; i++) {
        struct pyro_history_job *job = &listener->history->jobs.items[stage->jobs.items[i]];
        job->active_tasks -= outcome->active;
        job->completed_tasks += outcome->completed;
        job->failed_tasks += outcome->failed;
        job->killed_tasks += outcome->killed;
        if (outcome->completed)
            pyro_listener_add(listener, &listener->jobs.items[stage->jobs.items[i]].indices,
                              (int64_t)((uint64_t)stage->id << 32 | (uint32_t)index), &job->completed_indices);
        if (outcome->killed)
            pyro_listener_count(listener, &job->killed, outcome->kill_reason);
    }
}

static void count_in_stage(struct pyro_listener *listener, struct pyro_history_stage *stage, const int64_t *row,
                           const int64_t *memory, const struct outcome *outcome)
{
    struct pyro_history *history = listener->history;
    struct pyro_history_share *share = pyro_listener_share(listener, stage, row_executor(row));
    if (!share)
        return;
    for (int i = 0; outcome->counted && i < PYRO_HISTORY_METRICS; i++) {
        add_to(&stage->metrics[i], outcome->values[i]);
        add_to(&share->metrics[i], outcome->values[i]);
    }
    stage->active -= outcome->active;
    stage->completed += outcome->completed;
    stage->failed += outcome->failed;
    stage->killed += outcome->killed;
    if (outcome->completed)
        pyro_listener_add(listener, &listener->stages.items[stage - history->stages.items].indices,
                          row[PYRO_TASK_index], &stage->completed_indices);
    if (outcome->killed)
        pyro_listener_count(listener, &stage->killed_reasons, outcome->kill_reason);
    pyro_listener_peaks(&stage->peaks, memory);
    pyro_listener_peaks(&share->peaks, memory);
    add_to(&share->task_ms, outcome->duration_ms);
    share->succeeded += outcome->completed;
    share->failed += outcome->failed;
    share->killed += outcome->killed;
    count_in_jobs(listener, stage, row[PYRO_TASK_index], outcome);
    if (row[PYRO_TASK_speculative]) {
        stage->speculative_active--;
        stage->speculative_completed += outcome->completed;
        stage->speculative_failed += outcome->failed;
        stage->speculative_killed += outcome->killed;
    }
    if (stage->active == 0 && (stage->status == PYRO_STAGE_COMPLETE || stage->status == PYRO_STAGE_FAILED))
        stage->live = false;
}

static void count_in_executor(struct pyro_history_executor *executor, const int64_t *memory, bool resubmitted,
                              const struct outcome *outcome)
{
    const int64_t *values = outcome->values;
    executor->active_tasks -= outcome->active;
    executor->completed_tasks += outcome->completed;
    executor->failed_tasks += outcome->failed;
    add_to(&executor->duration_ms, outcome->duration_ms);
    pyro_listener_peaks(&executor->peaks, memory);
    if (resubmitted) {
        add_to(&executor->resubmitted_ms, outcome->duration_ms);
        return;
    }
    add_to(&executor->gc_ms, values[PYRO_HISTORY_jvmGcTime]);
    add_to(&executor->input_bytes, values[PYRO_HISTORY_bytesRead]);
    add_to(&executor->shuffle_read, values[PYRO_HISTORY_localBytesRead]);
    add_to(&executor->shuffle_read, values[PYRO_HISTORY_remoteBytesRead]);
    add_to(&executor->shuffle_write, values[PYRO_HISTORY_shuffleBytesWritten]);
}

/* What the task's accumulables (pairs as pyro_task_metric_next() takes them) add to the metrics of an SQL execution. */
static void follow_sql(struct pyro_listener *listener, const int64_t *row, struct pyro_slice updates)
{
    struct pyro_sql_stage *stage =
        pyro_sql_task(&listener->sql, row[PYRO_TASK_stage], row[PYRO_TASK_stage_attempt], row[PYRO_TASK_index]);
    struct pyro_task_metric update = {0};
    while (stage && pyro_task_metric_next(&updates, &update))
        pyro_sql_task_value(&listener->sql, stage, row[PYRO_TASK_id], row[PYRO_TASK_index], update.accumulator,
                            update.value);
    if (stage && row[PYRO_TASK_finish_ms] && row[PYRO_TASK_status] == PYRO_TASK_SUCCESS)
        pyro_sql_task_succeeded(&listener->sql, stage, row[PYRO_TASK_index]);
}

/* Moves a running task to those that ended; false: it is none, or there is no memory. */
static bool end_task(struct pyro_listener *listener, const int64_t *row, struct pyro_slice accumulables)
{
    struct pyro_history *history = listener->history;
    int64_t number =
        row[PYRO_TASK_id] >= 0 ? pyro_value_map_get(&listener->numbers, row[PYRO_TASK_id]) : PYRO_VALUE_NONE;
    uint32_t *place = number == PYRO_VALUE_NONE ? NULL : &history->places.items[number];
    if (!place || !(*place & PYRO_HISTORY_RUNNING))
        return false;
    uint32_t *vacant = pyro_vec_push(&listener->free_places, NULL);
    if (!vacant || !pyro_task_table_append(&history->ended, row) ||
        !pyro_task_table_add_metrics(&history->ended, accumulables)) {
        history->failed = true;
        return false;
    }
    *vacant = *place & ~PYRO_HISTORY_RUNNING;
    *place = (uint32_t)history->ended.count - 1;
    return true;
}

static void retain_task(struct pyro_listener *listener, const struct pyro_history_stage *stage, const int64_t *row)
{
    int64_t number = pyro_value_map_get(&listener->numbers, row[PYRO_TASK_id]);
    /* Without a time of its end a task counts as running up to the log's. */
    int64_t finish_ms = row[PYRO_TASK_finish_ms] ? row[PYRO_TASK_finish_ms] : INT64_MAX;
    pyro_retained_task_end(&listener->retained, (size_t)(stage - listener->history->stages.items), row[PYRO_TASK_id],
                           finish_ms, (uint32_t)number);
}

/* Its last task has ended after it was completed: Spark writes it, and its jobs, again. */
static void retain_stage(struct pyro_listener *listener, const struct pyro_history_stage *stage)
{
    pyro_retained_stage(&listener->retained, (size_t)(stage - listener->history->stages.items), true);
    for (size_t i = 0; i < stage->jobs.count; i++)
        pyro_retained_job(&listener->retained, stage->jobs.items[i], false);
}

void pyro_listener_task_end(struct pyro_listener *listener, int64_t *row, const struct pyro_gathered_end *end,
                            struct pyro_slice accumulables, struct pyro_slice updates)
{
    struct pyro_history *history = listener->history;
    const struct pyro_tree *reason = end->reason;
    struct pyro_slice name = row[PYRO_TASK_reason] == PYRO_NONE
                                 ? PYRO_SLICE_NULL
                                 : pyro_string_pool_text(history->strings, (uint32_t)row[PYRO_TASK_reason]);
    struct pyro_slice message = reason ? error_message(listener, reason) : PYRO_SLICE_NULL;
    uint32_t error = pyro_listener_number(listener, message);
    struct outcome outcome = {0};
    row[PYRO_TASK_error] = error == UINT32_MAX ? PYRO_NONE : (int64_t)error;
    for (int i = 0; i < PYRO_HISTORY_METRICS; i++)
        outcome.values[i] = row[pyro_history_metric_columns[i]];
    struct pyro_strbuf clean;
    pyro_strbuf_init(&clean, NULL);
    outcome.counted = end_task(listener, row, pyro_listener_task_accumulables(listener, accumulables, &clean));
    pyro_strbuf_done(&clean);
    if (listener->with_sql)
        follow_sql(listener, row, updates);
    outcome.active = !pyro_slice_is(name, "Resubmitted");
    if (pyro_slice_is(name, "Success")) {
        outcome.completed = 1;
    } else if (pyro_slice_is(name, "TaskKilled") || pyro_slice_is(name, "TaskCommitDenied")) {
        outcome.killed = 1;
        outcome.kill_reason = message;
    } else {
        outcome.failed = 1;
    }
    if (row[PYRO_TASK_finish_ms] > row[PYRO_TASK_launch_ms] &&
        __builtin_sub_overflow(row[PYRO_TASK_finish_ms], row[PYRO_TASK_launch_ms], &outcome.duration_ms))
        outcome.duration_ms = INT64_MAX;
    struct pyro_history_stage *stage = live_stage(listener, row[PYRO_TASK_stage], row[PYRO_TASK_stage_attempt]);
    if (stage && outcome.counted)
        retain_task(listener, stage, row);
    if (stage)
        count_in_stage(listener, stage, row, end->peaks, &outcome);
    if (stage && !stage->live)
        retain_stage(listener, stage);
    struct pyro_history_executor *executor = pyro_history_executor(history, row_executor(row));
    if (!executor || !executor->active)
        return;
    count_in_executor(executor, end->peaks, pyro_slice_is(name, "Resubmitted"), &outcome);
    if (executor->active_tasks == 0)
        pyro_retained_executor(&listener->retained, executor);
}

/* ---- Memory ---- */

static bool exceeds(const struct pyro_history_peaks *peaks, const int64_t *values)
{
    bool ret = !peaks->set && values[0] >= 0;
    for (int i = 0; i < PYRO_HISTORY_PEAKS; i++)
        ret = ret || values[i] > peaks->values[i];
    return ret;
}

static void raise_peaks(struct pyro_listener *listener, const struct pyro_tree *event, struct pyro_slice id,
                        const struct pyro_tree *values)
{
    int64_t memory[PYRO_HISTORY_PEAKS];
    pyro_listener_memory(values, memory);
    struct pyro_history_executor *executor = pyro_listener_find_executor(listener, id);
    struct pyro_history_stage *stage = event_stage(listener, event);
    if (executor && executor->active && exceeds(&executor->peaks, memory))
        pyro_retained_executor(&listener->retained, executor);
    if (executor && (executor->active || executor->remembered))
        pyro_listener_peaks(&executor->peaks, memory);
    struct pyro_history_share *share =
        stage && id.ptr ? pyro_listener_share(listener, stage, pyro_listener_number(listener, id)) : NULL;
    if (share) {
        pyro_listener_peaks(&stage->peaks, memory);
        pyro_listener_peaks(&share->peaks, memory);
    }
}

void pyro_history_on_stage_executor_metrics(struct pyro_listener *listener, const struct pyro_tree *event)
{
    raise_peaks(listener, event, pyro_listener_text(listener, GET(event, "Executor ID")),
                GET(event, "Executor Metrics"));
}

/* What a task that still runs has reported for metrics of an SQL execution. */
static void follow_running_sql(struct pyro_listener *listener, const struct pyro_tree *update)
{
    int64_t id = pyro_tree_int(GET(update, "Task ID"), -1), index;
    struct pyro_sql_stage *stage = pyro_sql_running_task(&listener->sql, pyro_tree_int(GET(update, "Stage ID"), -1),
                                                         pyro_tree_int(GET(update, "Stage Attempt ID"), 0), id, &index);
    const struct pyro_tree *array = stage ? GET(update, "Accumulator Updates") : NULL;
    for (const struct pyro_tree *one = array ? array->first : NULL; one; one = one->next)
        if (GET(one, "Update"))
            pyro_sql_task_value(&listener->sql, stage, id, index, pyro_tree_int(GET(one, "ID"), 0),
                                pyro_tree_int(GET(one, "Update"), 0));
}

void pyro_history_on_executor_metrics_update(struct pyro_listener *listener, const struct pyro_tree *event)
{
    const struct pyro_tree *running = listener->with_sql ? GET(event, "Metrics Updated") : NULL;
    for (const struct pyro_tree *update = running ? running->first : NULL; update; update = update->next)
        follow_running_sql(listener, update);
    struct pyro_slice id = pyro_listener_text(listener, GET(event, "Executor ID"));
    const struct pyro_tree *updates = GET(event, "Executor Metrics Updated");
    for (const struct pyro_tree *update = updates ? updates->first : NULL; update; update = update->next)
        raise_peaks(listener, update, id, GET(update, "Executor Metrics"));
}
