/* What Spark's History Server forgets. */
#include "decode/sparkview/retained.h"

#include "base/strings/intern.h"

enum { STORED = 1, LISTED = 2 /* in the heap */, WRITTEN = 4 /* at some time */ };

void pyro_retained_init(struct pyro_retained *retained, struct pyro_history *history,
                        const struct pyro_retained_limits *limits)
{
    *retained = (struct pyro_retained){.history = history};
    pyro_id_set_init(&retained->forgotten_tasks, NULL);
    if (!limits)
        return;
    retained->jobs.limit = limits->jobs;
    retained->stages.limit = limits->stages;
    retained->executors.limit = limits->dead_executors;
    retained->task_limit = limits->tasks;
}

static void done_kind(struct pyro_retained_kind *kind)
{
    pyro_vec_done(&kind->heap, NULL);
    pyro_vec_done(&kind->flags, NULL);
}

void pyro_retained_done(struct pyro_retained *retained)
{
    done_kind(&retained->jobs);
    done_kind(&retained->stages);
    done_kind(&retained->executors);
    for (size_t i = 0; i < retained->tasks.count; i++)
        pyro_vec_done(&retained->tasks.items[i].heap, NULL);
    pyro_vec_done(&retained->tasks, NULL);
    pyro_id_set_done(&retained->forgotten_tasks);
}

/* ---- What goes first ---- */

/* Spark does not ask when executors went: it goes by their ids, as texts. */
static bool named_before(const struct pyro_history *history, const struct pyro_retained_entry *a,
                         const struct pyro_retained_entry *b)
{
    return pyro_slice_compare(history->executors.items[a->row].id, history->executors.items[b->row].id) < 0;
}

/* A tenth of the limit at least, so that this is not done for each one. */
static uint64_t surplus(uint64_t count, uint64_t limit)
{
    if (count <= limit)
        return 0;
    return limit / 10 > count - limit ? limit / 10 : count - limit;
}

/* ---- Jobs, stages and executors ---- */

/* The row is in Spark's store; `over`: it may be forgotten. True: it is new there, and so others may be forgotten
 * whether or not it ends. */
static bool store(struct pyro_retained *retained, struct pyro_retained_kind *kind, pyro_retained_before *before,
                  struct pyro_retained_entry entry, bool over)
{
    while (kind->flags.count <= entry.row) {
        if (!pyro_vec_push(&kind->flags, NULL)) {
            retained->history->failed = true;
            return false;
        }
    }
    uint8_t *flags = &kind->flags.items[entry.row];
    bool first = !(*flags & WRITTEN);
    kind->stored += !(*flags & STORED);
    *flags |= STORED | WRITTEN;
    if (!over || (*flags & LISTED))
        return first;
    if (!pyro_vec_push(&kind->heap, NULL)) {
        retained->history->failed = true;
        return false;
    }
    pyro_retained_push(retained->history, &kind->heap, before, entry);
    *flags |= LISTED;
    return first;
}

static uint32_t forget(struct pyro_retained *retained, struct pyro_retained_kind *kind, pyro_retained_before *before)
{
    uint32_t row = pyro_retained_pop(retained->history, &kind->heap, before).row;
    kind->flags.items[row] = WRITTEN;
    kind->stored--;
    return row;
}

void pyro_retained_job(struct pyro_retained *retained, size_t row, bool last)
{
    struct pyro_retained_kind *kind = &retained->jobs;
    const struct pyro_history_job *job = &retained->history->jobs.items[row];
    if (kind->limit == 0)
        return;
    /* One without a time of its end is never found among those that ended. */
    last |= store(retained, kind, pyro_retained_ended_before,
                  (struct pyro_retained_entry){job->completed_ms, job->id, (uint32_t)row},
                  job->status != PYRO_JOB_RUNNING && job->completed_ms > 0);
    for (uint64_t left = last ? surplus(kind->stored, kind->limit) : 0; left && kind->heap.count; left--)
        forget(retained, kind, pyro_retained_ended_before);
}

/* The place of a stage's tasks; NULL: no memory. */
static struct pyro_retained_tasks *tasks_of(struct pyro_retained *retained, size_t stage)
{
    while (retained->tasks.count <= stage) {
        if (!pyro_vec_push(&retained->tasks, NULL)) {
            retained->history->failed = true;
            return NULL;
        }
    }
    return &retained->tasks.items[stage];
}

static void forget_task(struct pyro_retained *retained, uint32_t number)
{
    retained->history->failed |= pyro_id_set_add(&retained->forgotten_tasks, number) < 0;
}

/* The tasks of a stage that have ended go with it. */
static void forget_stage(struct pyro_retained *retained, uint32_t stage)
{
    if (stage >= retained->tasks.count)
        return;
    pyro_retained_heap *heap = &retained->tasks.items[stage].heap;
    for (size_t i = 0; i < heap->count; i++)
        forget_task(retained, heap->items[i].row);
    pyro_vec_done(heap, NULL);
}

void pyro_retained_stage(struct pyro_retained *retained, size_t row, bool last)
{
    struct pyro_retained_kind *kind = &retained->stages;
    const struct pyro_history_stage *stage = &retained->history->stages.items[row];
    if (kind->limit == 0)
        return;
    /* Those that were skipped have no time and go first. */
    const struct pyro_retained_entry entry = {stage->completed_ms ? stage->completed_ms : -1,
                                              (int64_t)((uint64_t)stage->id << 32 | (uint64_t)stage->attempt),
                                              (uint32_t)row};
    last |= store(retained, kind, pyro_retained_ended_before, entry,
                  stage->status != PYRO_STAGE_ACTIVE && stage->status != PYRO_STAGE_PENDING);
    for (uint64_t left = last ? surplus(kind->stored, kind->limit) : 0; left && kind->heap.count; left--)
        forget_stage(retained, forget(retained, kind, pyro_retained_ended_before));
}

static void forget_executors(struct pyro_retained *retained)
{
    struct pyro_retained_kind *kind = &retained->executors;
    /* Spark takes all that are active from those that were written, whether or not they are among them. */
    uint64_t dead = kind->stored > retained->active_executors ? kind->stored - retained->active_executors : 0;
    uint64_t left = surplus(dead, kind->limit);
    while (left && kind->heap.count) {
        uint32_t first = kind->heap.items[0].row;
        if (retained->history->executors.items[first].active) { /* it came back */
            pyro_retained_pop(retained->history, &kind->heap, named_before);
            kind->flags.items[first] &= (uint8_t)~LISTED;
            continue;
        }
        forget(retained, kind, named_before);
        left--;
    }
}

static void store_executor(struct pyro_retained *retained, const struct pyro_history_executor *executor, bool last)
{
    const struct pyro_retained_entry entry = {.row = (uint32_t)(executor - retained->history->executors.items)};
    if (retained->executors.limit == 0)
        return;
    if (store(retained, &retained->executors, named_before, entry, !executor->active) || last)
        forget_executors(retained);
}

void pyro_retained_executor(struct pyro_retained *retained, const struct pyro_history_executor *executor)
{
    store_executor(retained, executor, false);
}

void pyro_retained_executor_added(struct pyro_retained *retained)
{
    retained->active_executors++;
}

void pyro_retained_executor_removed(struct pyro_retained *retained, const struct pyro_history_executor *executor)
{
    retained->active_executors -= retained->active_executors > 0;
    store_executor(retained, executor, true);
}

/* ---- Tasks ---- */

void pyro_retained_task_start(struct pyro_retained *retained, size_t stage)
{
    struct pyro_retained_tasks *tasks = retained->task_limit ? tasks_of(retained, stage) : NULL;
    if (!tasks)
        return;
    uint64_t left = surplus(++tasks->saved, retained->task_limit);
    tasks->saved -= left;
    /* Only tasks that have ended are in the store. More that were to go count as removed. */
    for (; left && tasks->heap.count; left--)
        forget_task(retained, pyro_retained_pop(retained->history, &tasks->heap, pyro_retained_ended_before).row);
}

void pyro_retained_task_end(struct pyro_retained *retained, size_t stage, int64_t id, int64_t finish_ms,
                            uint32_t number)
{
    if (!retained->task_limit && !retained->stages.limit)
        return;
    struct pyro_retained_tasks *tasks = tasks_of(retained, stage);
    if (!tasks)
        return;
    if (!pyro_vec_push(&tasks->heap, NULL)) {
        retained->history->failed = true;
        return;
    }
    pyro_retained_push(retained->history, &tasks->heap, pyro_retained_ended_before,
                       (struct pyro_retained_entry){finish_ms, id, number});
}

/* ---- What is left ---- */

static bool is_gone(const struct pyro_retained_kind *kind, size_t row, bool live)
{
    return kind->limit && !live && !(row < kind->flags.count && (kind->flags.items[row] & STORED));
}

/* Empties a map of rows; what is left is put into it again. */
static void empty(struct pyro_map *rows)
{
    pyro_map_done(rows);
    pyro_map_init(rows, NULL);
}

static bool put_row(struct pyro_map *rows, uint64_t key, size_t row)
{
    uint64_t *place = pyro_map_put(rows, key, NULL);
    if (place)
        *place = row + 1;
    return place != NULL;
}

static bool take_out_jobs(const struct pyro_retained *retained, struct pyro_history *history)
{
    bool ok = true;
    size_t kept = 0;
    empty(&history->job_rows);
    for (size_t i = 0; i < history->jobs.count; i++) {
        struct pyro_history_job *job = &history->jobs.items[i];
        if (is_gone(&retained->jobs, i, job->status == PYRO_JOB_RUNNING)) {
            pyro_history_job_done(job);
            continue;
        }
        ok = put_row(&history->job_rows, (uint64_t)job->id, kept) && ok;
        history->jobs.items[kept++] = *job;
    }
    history->jobs.count = kept;
    /* They are rows, which are needed only to add to the history. */
    for (size_t i = 0; i < history->stages.count; i++)
        history->stages.items[i].jobs.count = 0;
    return ok;
}

static void take_out_tasks(const struct pyro_retained *retained, struct pyro_history_stage *stage)
{
    size_t kept = 0;
    for (size_t i = 0; i < stage->tasks.count; i++)
        if (!pyro_id_set_has(&retained->forgotten_tasks, stage->tasks.items[i]))
            stage->tasks.items[kept++] = stage->tasks.items[i];
    stage->tasks.count = kept;
}

static bool take_out_stages(const struct pyro_retained *retained, struct pyro_history *history)
{
    bool ok = true;
    size_t kept = 0;
    empty(&history->stage_rows);
    for (size_t i = 0; i < history->stages.count; i++) {
        struct pyro_history_stage *stage = &history->stages.items[i];
        if (is_gone(&retained->stages, i, stage->live)) {
            pyro_history_stage_done(stage);
            continue;
        }
        if (retained->forgotten_tasks.count)
            take_out_tasks(retained, stage);
        ok = put_row(&history->stage_rows, (uint64_t)stage->id << 32 | (uint64_t)stage->attempt, kept) && ok;
        history->stages.items[kept++] = *stage;
    }
    history->stages.count = kept;
    return ok;
}

static bool take_out_executors(const struct pyro_retained *retained, struct pyro_history *history)
{
    bool ok = true;
    size_t kept = 0;
    empty(&history->executor_rows);
    for (size_t i = 0; i < history->executors.count; i++) {
        struct pyro_history_executor *executor = &history->executors.items[i];
        if (is_gone(&retained->executors, i, executor->active)) {
            pyro_history_executor_done(executor);
            continue;
        }
        uint32_t text = pyro_intern(history->strings, executor->id);
        ok = text != UINT32_MAX && put_row(&history->executor_rows, text, kept) && ok;
        history->executors.items[kept++] = *executor;
    }
    history->executors.count = kept;
    return ok;
}

bool pyro_retained_apply(const struct pyro_retained *retained, struct pyro_history *history)
{
    bool ok = true;
    if (retained->jobs.limit)
        ok = take_out_jobs(retained, history) && ok;
    if (retained->stages.limit || retained->task_limit)
        ok = take_out_stages(retained, history) && ok;
    if (retained->executors.limit)
        ok = take_out_executors(retained, history) && ok;
    return ok;
}
