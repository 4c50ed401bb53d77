/* Executions, their jobs and stages, and the values that tasks report. */
#include "decode/sparkview/sql.h"

#include "base/strings/intern.h"

void pyro_sql_follower_init(struct pyro_sql_follower *sql, struct pyro_history *history)
{
    *sql = (struct pyro_sql_follower){.history = history};
    pyro_map_init(&sql->stages, NULL);
    pyro_map_init(&sql->owners, NULL);
    pyro_map_init(&sql->jobs, NULL);
}

static struct pyro_sql_stage *find_stage(const struct pyro_sql_follower *sql, int64_t id)
{
    const uint64_t *place = pyro_map_get(&sql->stages, (uint64_t)id);
    return place ? (struct pyro_sql_stage *)(uintptr_t)*place : NULL;
}

static void free_stage(struct pyro_sql_stage *stage)
{
    if (!stage)
        return;
    for (size_t i = 0; i < stage->metrics.count; i++)
        pyro_value_map_done(&stage->metrics.items[i].values);
    pyro_vec_done(&stage->metrics, NULL);
    pyro_map_done(&stage->rows);
    pyro_value_map_done(&stage->indices);
    pyro_id_set_done(&stage->done);
    pyro_release(NULL, stage);
}

static void free_live(struct pyro_sql_live *live)
{
    pyro_vec_done(&live->known, NULL);
    pyro_map_done(&live->known_rows);
    pyro_id_set_done(&live->stages);
    pyro_vec_done(&live->driver, NULL);
}

void pyro_sql_follower_done(struct pyro_sql_follower *sql)
{
    for (size_t i = 0; i < sql->stages.slot_count; i++)
        if (sql->stages.used[i])
            free_stage((struct pyro_sql_stage *)(uintptr_t)sql->stages.slots[i].value);
    for (size_t i = 0; i < sql->live.count; i++)
        free_live(&sql->live.items[i]);
    pyro_vec_done(&sql->live, NULL);
    pyro_vec_done(&sql->completed, NULL);
    pyro_map_done(&sql->stages);
    pyro_map_done(&sql->owners);
    pyro_map_done(&sql->jobs);
}

/* ---- Executions ---- */

size_t pyro_sql_find_live(const struct pyro_sql_follower *sql, int64_t id)
{
    const uint64_t *row = pyro_map_get(&sql->history->sql_rows, (uint64_t)id);
    return row && *row && sql->live.items[*row - 1].live ? *row - 1 : SIZE_MAX;
}

static void begin_live(struct pyro_sql_live *live)
{
    bool stored = live->stored;
    int64_t stored_ms = live->stored_ms;
    free_live(live);
    *live = (struct pyro_sql_live){.live = true, .stored = stored, .stored_ms = stored_ms};
    pyro_map_init(&live->known_rows, NULL);
    pyro_id_set_init(&live->stages, NULL);
}

size_t pyro_sql_enter(struct pyro_sql_follower *sql, int64_t id)
{
    struct pyro_history *history = sql->history;
    uint64_t *place = pyro_map_put(&history->sql_rows, (uint64_t)id, NULL);
    size_t row = place ? *place - 1 : SIZE_MAX;
    if (place && *place && sql->live.items[row].live)
        return row;
    if (place && !*place) {
        struct pyro_history_sql *added = pyro_vec_push(&history->sql, NULL);
        struct pyro_sql_live *live = added ? pyro_vec_push(&sql->live, NULL) : NULL;
        row = live ? history->sql.count - 1 : SIZE_MAX;
        if (added)
            pyro_history_sql_init(added, id);
        if (live)
            *place = history->sql.count;
        else
            history->sql.count -= added != NULL; /* both have the same rows */
    } else if (place) {
        /* Spark knows nothing of one that is over: it begins again, and only the plan's graph stays. */
        struct pyro_history_sql *old = &history->sql.items[row];
        old->submitted_ms = -1;
        old->completed = false;
        old->description = old->plan = old->error = PYRO_SLICE_NULL;
        old->jobs.count = old->stages.count = 0;
        pyro_map_done(&old->values);
        pyro_map_init(&old->values, NULL);
    }
    history->failed |= row == SIZE_MAX;
    if (row != SIZE_MAX)
        begin_live(&sql->live.items[row]);
    return row;
}

void pyro_sql_know(struct pyro_sql_follower *sql, size_t row, int64_t accumulator, struct pyro_slice type)
{
    struct pyro_sql_live *live = &sql->live.items[row];
    uint64_t *place = pyro_map_put(&live->known_rows, (uint64_t)accumulator, NULL);
    if (place && *place) {
        live->known.items[*place - 1].type = type;
        return;
    }
    struct pyro_sql_known *known = place ? pyro_vec_push(&live->known, NULL) : NULL;
    sql->history->failed |= !known;
    if (!known)
        return;
    *known = (struct pyro_sql_known){accumulator, type};
    *place = live->known.count;
}

/* ---- What Spark's store keeps ---- */

/* Those completed first, beyond what is retained. */
static void drop_oldest(struct pyro_sql_follower *sql)
{
    while (sql->stored > sql->retained && sql->completed.count) {
        struct pyro_retained_entry oldest =
            pyro_retained_pop(sql->history, &sql->completed, pyro_retained_ended_before);
        struct pyro_sql_live *live = &sql->live.items[oldest.row];
        if (!live->stored || live->stored_ms != oldest.ended_ms)
            continue; /* it was dropped, or is stored again, since it was put there */
        live->stored = false;
        sql->stored--;
        sql->history->sql.items[oldest.row].dropped = true;
        sql->history->sql.items[oldest.row].has_graph = false;
    }
}

static void store(struct pyro_sql_follower *sql, size_t row)
{
    struct pyro_sql_live *live = &sql->live.items[row];
    struct pyro_history_sql *execution = &sql->history->sql.items[row];
    int64_t before_ms = live->stored ? live->stored_ms : -1;
    live->stored_ms = execution->completed ? execution->completed_ms : -1;
    execution->dropped = false;
    if (sql->retained == 0)
        return;
    if (live->stored_ms >= 0 && live->stored_ms != before_ms) {
        if (!pyro_vec_push(&sql->completed, NULL)) {
            sql->history->failed = true;
            return;
        }
        pyro_retained_push(sql->history, &sql->completed, pyro_retained_ended_before,
                           (struct pyro_retained_entry){live->stored_ms, execution->id, (uint32_t)row});
    }
    if (live->stored)
        return;
    live->stored = true;
    sql->stored++;
    drop_oldest(sql);
}

/* Metrics of stages that no other execution has. */
static void drop_stages(struct pyro_sql_follower *sql, size_t row)
{
    const struct pyro_history_sql *execution = &sql->history->sql.items[row];
    for (size_t i = 0; i < execution->stages.count; i++) {
        uint64_t *place = pyro_map_get(&sql->stages, (uint64_t)execution->stages.items[i]);
        const uint64_t *owners = pyro_map_get(&sql->owners, (uint64_t)execution->stages.items[i]);
        if (!place || (owners && *owners > 1))
            continue;
        free_stage((struct pyro_sql_stage *)(uintptr_t)*place);
        *place = 0;
    }
}

/* When all its jobs and itself have ended, nothing changes it any more. */
static void settle(struct pyro_sql_follower *sql, size_t row, bool force)
{
    struct pyro_sql_live *live = &sql->live.items[row];
    const struct pyro_history_sql *execution = &sql->history->sql.items[row];
    bool over = live->end_events >= execution->jobs.count + 1;
    if (over || force)
        store(sql, row);
    if (!over)
        return;
    drop_stages(sql, row);
    for (size_t i = 0; i < execution->stages.count; i++) {
        uint64_t *owners = pyro_map_get(&sql->owners, (uint64_t)execution->stages.items[i]);
        if (owners && *owners)
            (*owners)--;
    }
    live->live = false;
    /* A job that starts afterwards brings it back, with its metrics; updates of the driver are forgotten. */
    live->driver.count = 0;
}

static void compute(struct pyro_sql_follower *sql, size_t row)
{
    if (!sql->live.items[row].computed)
        pyro_sql_aggregate(sql, row);
    sql->live.items[row].computed = true;
}

void pyro_sql_end(struct pyro_sql_follower *sql, size_t row)
{
    settle(sql, row, false);
    if (!sql->live.items[row].live)
        return;
    compute(sql, row);
    drop_stages(sql, row);
    sql->live.items[row].end_events++;
    settle(sql, row, true);
}

void pyro_sql_follower_flush(struct pyro_sql_follower *sql)
{
    for (size_t row = 0; row < sql->live.count && !sql->history->failed; row++) {
        if (!sql->live.items[row].live)
            continue;
        sql->history->sql.items[row].dropped = false;
        compute(sql, row);
    }
}

void pyro_sql_follower_show(struct pyro_sql_follower *sql)
{
    for (size_t row = 0; row < sql->live.count && !sql->history->failed; row++) {
        if (!sql->live.items[row].live)
            continue;
        sql->history->sql.items[row].dropped = false;
        if (!sql->live.items[row].computed)
            pyro_sql_aggregate(sql, row);
    }
}

/* ---- Jobs and stages ---- */

size_t pyro_sql_job_start(struct pyro_sql_follower *sql, int64_t execution, int64_t job)
{
    struct pyro_history *history = sql->history;
    const uint64_t *known = pyro_map_get(&history->sql_rows, (uint64_t)execution);
    size_t row = known && *known ? *known - 1 : SIZE_MAX;
    if (row != SIZE_MAX && !sql->live.items[row].live && !history->sql.items[row].dropped) {
        struct pyro_history_sql *back = &history->sql.items[row];
        back->error = PYRO_SLICE_NULL;
        sql->live.items[row].live = true;
        sql->live.items[row].end_events = back->jobs.count + 1;
        for (size_t i = 0; i < back->stages.count; i++) {
            uint64_t *owners = pyro_map_put(&sql->owners, (uint64_t)back->stages.items[i], NULL);
            history->failed |= !owners;
            if (owners)
                (*owners)++;
        }
    } else {
        row = pyro_sql_enter(sql, execution);
    }
    uint64_t *place = row == SIZE_MAX ? NULL : pyro_map_put(&sql->jobs, (uint64_t)job, NULL);
    if (!place) {
        history->failed = true;
        return SIZE_MAX;
    }
    struct pyro_history_sql *sql_row = &history->sql.items[row];
    if (*place >> 32 == row && (uint32_t)*place < sql_row->jobs.count &&
        sql_row->jobs.items[(uint32_t)*place].id == job) {
        sql_row->jobs.items[(uint32_t)*place].status = PYRO_JOB_RUNNING;
        return row;
    }
    struct pyro_history_sql_job *added = pyro_vec_push(&sql_row->jobs, NULL);
    history->failed |= !added;
    if (!added)
        return SIZE_MAX;
    *added = (struct pyro_history_sql_job){job, PYRO_JOB_RUNNING};
    *place = (uint64_t)row << 32 | (uint32_t)(sql_row->jobs.count - 1);
    return row;
}

static struct pyro_sql_stage *new_stage(int64_t id, int64_t attempt, int64_t tasks, size_t execution, size_t known)
{
    struct pyro_sql_stage *stage = pyro_allocate(NULL, sizeof(*stage));
    if (!stage)
        return NULL;
    *stage =
        (struct pyro_sql_stage){.id = id, .attempt = attempt, .tasks = tasks, .execution = execution, .known = known};
    pyro_map_init(&stage->rows, NULL);
    pyro_value_map_init(&stage->indices, NULL);
    pyro_id_set_init(&stage->done, NULL);
    return stage;
}

static void put_stage(struct pyro_sql_follower *sql, struct pyro_sql_stage *stage)
{
    uint64_t *place = stage ? pyro_map_put(&sql->stages, (uint64_t)stage->id, NULL) : NULL;
    sql->history->failed |= !place;
    if (!place) {
        free_stage(stage);
        return;
    }
    free_stage((struct pyro_sql_stage *)(uintptr_t)*place);
    *place = (uintptr_t)stage;
}

void pyro_sql_job_stage(struct pyro_sql_follower *sql, size_t row, int64_t stage, int64_t tasks)
{
    struct pyro_sql_live *live = &sql->live.items[row];
    if (live->known.count)
        put_stage(sql, new_stage(stage, 0, tasks, row, live->known.count));
    int added = pyro_id_set_add(&live->stages, stage);
    if (added > 0) {
        int64_t *id = pyro_vec_push(&sql->history->sql.items[row].stages, NULL);
        uint64_t *owners = pyro_map_put(&sql->owners, (uint64_t)stage, NULL);
        sql->history->failed |= !id || !owners;
        if (id)
            *id = stage;
        if (owners)
            (*owners)++;
    }
    sql->history->failed |= added < 0;
}

void pyro_sql_job_started(struct pyro_sql_follower *sql, size_t row)
{
    settle(sql, row, true);
}

void pyro_sql_job_end(struct pyro_sql_follower *sql, int64_t job, bool succeeded)
{
    const uint64_t *place = pyro_map_get(&sql->jobs, (uint64_t)job);
    size_t row = place ? (size_t)(*place >> 32) : SIZE_MAX;
    if (row >= sql->live.count || !sql->live.items[row].live)
        return;
    struct pyro_history_sql *execution = &sql->history->sql.items[row];
    if ((uint32_t)*place >= execution->jobs.count || execution->jobs.items[(uint32_t)*place].id != job)
        return;
    execution->jobs.items[(uint32_t)*place].status = succeeded ? PYRO_JOB_SUCCEEDED : PYRO_JOB_FAILED;
    sql->live.items[row].end_events++;
    settle(sql, row, false);
}

void pyro_sql_stage_submitted(struct pyro_sql_follower *sql, int64_t id, int64_t attempt)
{
    const struct pyro_sql_stage *stage = find_stage(sql, id);
    if (stage && stage->attempt != attempt)
        put_stage(sql, new_stage(id, attempt, stage->tasks, stage->execution, stage->known));
}

/* ---- Tasks ---- */

void pyro_sql_task_start(struct pyro_sql_follower *sql, int64_t id, int64_t attempt, int64_t task, int64_t index)
{
    struct pyro_sql_stage *stage = find_stage(sql, id);
    int64_t *place = stage && stage->attempt == attempt ? pyro_value_map_put(&stage->indices, task) : NULL;
    sql->history->failed |= stage && stage->attempt == attempt && !place;
    if (place)
        *place = index;
}

struct pyro_sql_stage *pyro_sql_running_task(const struct pyro_sql_follower *sql, int64_t id, int64_t attempt,
                                             int64_t task, int64_t *ret_index)
{
    const struct pyro_sql_stage *stage = find_stage(sql, id);
    *ret_index = stage ? pyro_value_map_get(&stage->indices, task) : PYRO_VALUE_NONE;
    return *ret_index == PYRO_VALUE_NONE ? NULL : pyro_sql_task(sql, id, attempt, *ret_index);
}

struct pyro_sql_stage *pyro_sql_task(const struct pyro_sql_follower *sql, int64_t id, int64_t attempt, int64_t index)
{
    struct pyro_sql_stage *stage = find_stage(sql, id);
    if (!stage || stage->attempt != attempt || index < 0 || index >= stage->tasks ||
        pyro_id_set_has(&stage->done, index))
        return NULL;
    return stage;
}

void pyro_sql_task_value(struct pyro_sql_follower *sql, struct pyro_sql_stage *stage, int64_t task, int64_t index,
                         int64_t accumulator, int64_t value)
{
    uint64_t *place = pyro_map_get(&stage->rows, (uint64_t)accumulator);
    if (!place) {
        const struct pyro_sql_live *live = &sql->live.items[stage->execution];
        const uint64_t *known = pyro_map_get(&live->known_rows, (uint64_t)accumulator);
        if (!known || *known > stage->known)
            return;
        place = pyro_map_put(&stage->rows, (uint64_t)accumulator, NULL);
        struct pyro_sql_values *added = place ? pyro_vec_push(&stage->metrics, NULL) : NULL;
        sql->history->failed |= !added;
        if (!added)
            return;
        *place = stage->metrics.count;
        *added = (struct pyro_sql_values){.accumulator = accumulator, .max = value, .max_task = task};
        added->needs_max = !pyro_slice_is(live->known.items[*known - 1].type, "sum");
        pyro_value_map_init(&added->values, NULL);
    }
    struct pyro_sql_values *metric = &stage->metrics.items[*place - 1];
    int64_t *slot = pyro_value_map_put(&metric->values, index);
    sql->history->failed |= !slot;
    if (!slot)
        return;
    *slot = value == PYRO_VALUE_NONE ? value + 1 : value;
    if (value > metric->max) {
        metric->max = value;
        metric->max_task = task;
    }
}

void pyro_sql_task_succeeded(struct pyro_sql_follower *sql, struct pyro_sql_stage *stage, int64_t index)
{
    sql->history->failed |= pyro_id_set_add(&stage->done, index) < 0;
}
