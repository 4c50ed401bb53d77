/* Task runs, sorted by stage, partition and attempt. Of each run its duration enters, and how it ended; not when. */
#include "replay/replaying.h"

#include "analyze/app_facts.h"
#include "analyze/plans/lineage.h"
#include "analyze/unfinished_tasks.h"

/* Stages of more tasks do not wait: every look for one that may start reads all of them. */
#define WAITING_PARTITIONS_MAX 1024

static unsigned locality_level(struct pyro_slice text)
{
    static const char *const names[REPLAY_LEVELS] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"};
    for (unsigned i = 0; i < REPLAY_LEVELS; i++)
        if (pyro_slice_is(text, names[i]))
            return i;
    return 0;
}

struct task_sort {
    struct pyro_replay *replay;
    int64_t (*columns)[PYRO_READ_ROWS];
    uint64_t *keys;        /* partition and attempt of each task, in log order; those without an end are last */
    unsigned char *levels; /* locality of each task */
    uint32_t *tasks;       /* row of each run */
    bool *finds_cached;    /* by row of app->stages: it reads blocks that an earlier stage cached; NULL: none does */
};

enum { LAUNCH, FINISH, STATUS, STAGE, PLACE, ATTEMPT, COPY, LOCALITY, EXECUTOR, FETCH, COLUMNS };

static void read_columns(const struct task_sort *sort, size_t first, size_t count)
{
    static const enum pyro_task_column columns[COLUMNS] = {
        PYRO_TASK_launch_ms,    PYRO_TASK_finish_ms,        PYRO_TASK_status,      PYRO_TASK_stage_row,
        PYRO_TASK_index,        PYRO_TASK_attempt,          PYRO_TASK_speculative, PYRO_TASK_locality,
        PYRO_TASK_executor_row, PYRO_TASK_getting_result_ms};
    for (unsigned i = 0; i < COLUMNS; i++)
        pyro_task_read(&sort->replay->app->tasks, columns[i], first, count, sort->columns[i]);
}

static uint32_t stage_of(const struct pyro_replay *replay, int64_t row)
{
    return row >= 0 && row < (int64_t)replay->app->stages.count ? replay->stage_of_row[row] : REPLAY_NOBODY;
}

/* Spark's Ints; anything else is damage, and sorts wherever it does. */
static uint64_t sort_key(int64_t place, int64_t attempt)
{
    return (uint64_t)(uint32_t)place << 32 | (uint32_t)attempt;
}

/* Few runs have any. */
static bool set_fetch(struct pyro_replay *replay, uint32_t run, int64_t us)
{
    if (us > 0 && !replay->fetch_us)
        replay->fetch_us = pyro_scratch(replay->app, replay->run_count, sizeof(*replay->fetch_us));
    if (us > 0 && replay->fetch_us)
        replay->fetch_us[run] = us;
    return us <= 0 || replay->fetch_us;
}

/* Runs of a stage are adjacent, stages in the order of their rows. */
static void place_stages(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        if (app->unfinished_tasks.items[i].stage_row >= 0)
            replay->first_run[app->unfinished_tasks.items[i].stage_row + 1]++;
    for (size_t row = 0, before = 0; row < app->stages.count; row++) {
        before += replay->first_run[row];
        replay->first_run[row] = app->stages.items[row].first_task + (uint32_t)before;
    }
    for (uint32_t i = 0; i < replay->stage_count; i++)
        replay->stages[i].runs.first = replay->first_run[replay->stages[i].row];
}

/* A task without an end takes as long as it is known to have run, and then its partition is done, unless it was lost
 * with its executor. */
static void place_unfinished(struct task_sort *sort)
{
    struct pyro_replay *replay = sort->replay;
    const struct pyro_app *app = replay->app;
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        size_t number = app->tasks.count + i;
        uint32_t stage_number = stage_of(replay, task->stage_row);
        replay->run_of_task[number] = REPLAY_NOBODY;
        if (stage_number == REPLAY_NOBODY)
            continue;
        struct replay_stage *stage = &replay->stages[stage_number];
        uint32_t place = stage->runs.first + stage->runs.count++;
        stage->unfinished = true;
        replay->runs[place] = (struct replay_run){
            .us = replay_us(pyro_unfinished_ms(task)),
            .executor = task->executor_row < 0 ? REPLAY_NOBODY : (uint32_t)task->executor_row,
            .flags = (task->lost ? 0u : REPLAY_RUN_SUCCESS) | (task->speculative > 0 ? REPLAY_RUN_COPY : 0u)};
        sort->tasks[place] = (uint32_t)number;
        sort->keys[number] = sort_key(task->index, task->attempt);
        sort->levels[number] = REPLAY_NO_PREF;
    }
}

static bool place_runs(struct task_sort *sort)
{
    struct pyro_replay *replay = sort->replay;
    const struct pyro_app *app = replay->app;
    place_stages(replay);
    int64_t text = INT64_MIN;
    unsigned level = 0;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        read_columns(sort, first, count);
        for (size_t i = 0; i < count; i++) {
            uint32_t number = stage_of(replay, sort->columns[STAGE][i]);
            replay->run_of_task[first + i] = REPLAY_NOBODY;
            if (number == REPLAY_NOBODY || sort->columns[STATUS][i] == PYRO_TASK_RESUBMITTED)
                continue;
            struct replay_stage *stage = &replay->stages[number];
            if (app->stages.items[stage->row].merges_shuffle) {
                int64_t left = stage->to - replay_at(replay, sort->columns[FINISH][i]);
                stage->tail = stage->runs.count == 0 || left < stage->tail ? left : stage->tail;
                stage->tail = stage->tail > 0 ? stage->tail : 0;
            }
            if (sort->columns[LOCALITY][i] != text) {
                text = sort->columns[LOCALITY][i];
                level = locality_level(pyro_app_text(app, text));
            }
            int64_t ms = pyro_task_duration(sort->columns[LAUNCH][i], sort->columns[FINISH][i]);
            int64_t fetch =
                sort->columns[FETCH][i] > 0 ? pyro_task_duration(sort->columns[FETCH][i], sort->columns[FINISH][i]) : 0;
            uint32_t place = stage->runs.first + stage->runs.count++;
            replay->runs[place] = (struct replay_run){
                .us = replay_us(ms),
                .executor = sort->columns[EXECUTOR][i] < 0 ? REPLAY_NOBODY : (uint32_t)sort->columns[EXECUTOR][i],
                .flags = (sort->columns[STATUS][i] == PYRO_TASK_SUCCESS ? REPLAY_RUN_SUCCESS : 0u) |
                         (sort->columns[COPY][i] > 0 ? REPLAY_RUN_COPY : 0u)};
            if (!set_fetch(replay, place, replay_us(fetch < ms ? fetch : 0)))
                return false;
            sort->tasks[place] = (uint32_t)(first + i);
            sort->keys[first + i] = sort_key(sort->columns[PLACE][i], sort->columns[ATTEMPT][i]);
            sort->levels[first + i] = (unsigned char)level;
        }
    }
    place_unfinished(sort);
    return true;
}

/* Items of `size` bytes into the order of the marks; `room` holds as many. */
static void reorder(void *items, size_t size, const struct pyro_marks *marks, void *room)
{
    memcpy(room, items, marks->list.count * size);
    for (size_t i = 0; i < marks->list.count; i++)
        memcpy((char *)items + i * size, (const char *)room + marks->list.items[i].row * size, size);
}

/* Runs of a stage into the order of their keys. */
static bool sort_runs(struct task_sort *sort, struct replay_stage *stage, struct pyro_marks *marks)
{
    struct pyro_replay *replay = sort->replay;
    uint32_t *tasks = &sort->tasks[stage->runs.first];
    bool sorted = true;
    for (uint32_t i = 1; i < stage->runs.count && sorted; i++)
        sorted = sort->keys[tasks[i - 1]] <= sort->keys[tasks[i]];
    if (sorted)
        return true;
    marks->list.count = 0;
    for (uint32_t i = 0; i < stage->runs.count; i++)
        pyro_marks_add(marks, sort->keys[tasks[i]], 0, i);
    if (!pyro_marks_finish(marks))
        return false;
    void *room = pyro_allocate(replay->allocator, stage->runs.count * sizeof(*replay->runs));
    if (!room)
        return false;
    reorder(&replay->runs[stage->runs.first], sizeof(*replay->runs), marks, room);
    reorder(tasks, sizeof(*tasks), marks, room);
    if (replay->fetch_us)
        reorder(&replay->fetch_us[stage->runs.first], sizeof(*replay->fetch_us), marks, room);
    pyro_release(replay->allocator, room);
    return true;
}

int64_t pyro_replay_wait(const int64_t wait_ms[PYRO_LOCALITY_WAITS], unsigned near, unsigned far)
{
    static const int waits[REPLAY_LEVELS] = {PYRO_LOCALITY_PROCESS, PYRO_LOCALITY_NODE, -1, PYRO_LOCALITY_RACK, -1};
    int64_t us = 0;
    for (unsigned i = near; i < far && i < REPLAY_LEVELS; i++)
        if (waits[i] >= 0)
            us += replay_us(wait_ms[waits[i]]);
    return us;
}

static int64_t recorded_wait(const struct pyro_app *app, unsigned near, unsigned far)
{
    int64_t usual = pyro_app_property_time(app, "spark.locality.wait", 1, 3000);
    const int64_t waits[PYRO_LOCALITY_WAITS] = {pyro_app_property_time(app, "spark.locality.wait.process", 1, usual),
                                                pyro_app_property_time(app, "spark.locality.wait.node", 1, usual),
                                                pyro_app_property_time(app, "spark.locality.wait.rack", 1, usual)};
    return pyro_replay_wait(waits, near, far);
}

/* Tasks that ran farther from their data than others of their stage may have waited for a better place, and those that
 * ran in a process that had it for that one; or they had no preference, which the log does not distinguish. A stage
 * shorter than the wait did not wait; of the others a replay of both finds the likelier (estimate.c). */
static void mark_waiting(struct task_sort *sort, struct replay_stage *stage)
{
    struct replay_run *runs = &sort->replay->runs[stage->runs.first];
    const uint32_t *tasks = &sort->tasks[stage->runs.first];
    unsigned best = REPLAY_LEVELS, next = REPLAY_LEVELS;
    for (uint32_t i = 0; i < stage->runs.count; i++) {
        unsigned level = sort->levels[tasks[i]];
        best = level < best ? level : best;
    }
    for (uint32_t i = 0; i < stage->runs.count; i++) {
        unsigned level = sort->levels[tasks[i]];
        next = level > best && level != REPLAY_NO_PREF && level < next ? level : next;
    }
    if (best >= REPLAY_NO_PREF || next == REPLAY_LEVELS || stage->partitions > WAITING_PARTITIONS_MAX || stage->barrier)
        return;
    int64_t wait = recorded_wait(sort->replay->app, best, next);
    stage->near = (unsigned char)best;
    stage->far = (unsigned char)next;
    if (wait == 0 || stage->to - stage->from < wait)
        return;
    stage->locality_wait = wait;
    for (uint32_t i = 0; i < stage->runs.count; i++) {
        unsigned level = sort->levels[tasks[i]];
        if (!(runs[i].flags & REPLAY_RUN_HEAD) || (level != 0 && (level < next || level == REPLAY_NO_PREF)))
            continue;
        runs[i].flags |= REPLAY_RUN_WAITS | (level == 0 ? REPLAY_RUN_PINNED : 0u);
    }
}

static bool spans_hosts(const struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    for (size_t i = 1; i < app->executors.count; i++)
        if (!pyro_slice_eq(app->executors.items[i].host, app->executors.items[0].host))
            return true;
    return false;
}

/* Where every task of a stage ran in the process that holds its cached block, levels do not say whether one waited for
 * that process while another was free: all of them may have. */
static void mark_cached(struct task_sort *sort, struct replay_stage *stage)
{
    struct pyro_replay *replay = sort->replay;
    struct replay_run *runs = &replay->runs[stage->runs.first];
    const uint32_t *tasks = &sort->tasks[stage->runs.first];
    if (!sort->finds_cached || !sort->finds_cached[stage->row] || replay->app->executors.count < 2 || stage->barrier ||
        stage->partitions > WAITING_PARTITIONS_MAX)
        return;
    for (uint32_t i = 0; i < stage->runs.count; i++)
        if (runs[i].flags & REPLAY_RUN_HEAD && sort->levels[tasks[i]] != 0)
            return;
    stage->near = 0;
    stage->far = spans_hosts(replay) ? REPLAY_LEVELS - 1 : 1;
    stage->locality_wait = recorded_wait(replay->app, stage->near, stage->far);
    for (uint32_t i = 0; i < stage->runs.count && stage->locality_wait > 0; i++)
        if (runs[i].flags & REPLAY_RUN_HEAD)
            runs[i].flags |= REPLAY_RUN_WAITS | REPLAY_RUN_PINNED;
}

/* A stage fails with the first task that cannot fetch its input, or that failed for the last time; a barrier stage with
 * the first one of any cause. */
static void mark_fatal(struct task_sort *sort, struct replay_stage *stage)
{
    const struct pyro_app *app = sort->replay->app;
    struct replay_run *runs = &sort->replay->runs[stage->runs.first];
    const uint32_t *tasks = &sort->tasks[stage->runs.first];
    if (!app->stages.items[stage->row].failure.ptr)
        return;
    for (uint32_t i = 0; i < stage->runs.count; i++) {
        if (tasks[i] >= app->tasks.count || pyro_task_get(&app->tasks, PYRO_TASK_status, tasks[i]) != PYRO_TASK_FAILED)
            continue;
        int64_t reason = pyro_task_get(&app->tasks, PYRO_TASK_reason, tasks[i]);
        bool last = i + 1 == stage->runs.count || runs[i + 1].flags & REPLAY_RUN_HEAD;
        if (stage->barrier || pyro_slice_is(pyro_app_text(app, reason), "FetchFailed") ||
            (last && !(runs[i].flags & (REPLAY_RUN_HEAD | REPLAY_RUN_COPY))))
            runs[i].flags |= REPLAY_RUN_FATAL;
    }
}

static void mark_heads(struct task_sort *sort, struct replay_stage *stage)
{
    struct pyro_replay *replay = sort->replay;
    struct replay_run *runs = &replay->runs[stage->runs.first];
    const uint32_t *tasks = &sort->tasks[stage->runs.first];
    uint32_t head = 0;
    for (uint32_t i = 0; i < stage->runs.count; i++) {
        replay->run_of_task[tasks[i]] = stage->runs.first + i;
        bool other = i == 0 || sort->keys[tasks[i]] >> 32 != sort->keys[tasks[i - 1]] >> 32;
        if (other || i - head == REPLAY_ATTEMPTS_MAX) { /* Spark tries four times; more is damage */
            head = i;
            runs[i].flags |= REPLAY_RUN_HEAD;
            runs[i].flags &= ~(uint32_t)REPLAY_RUN_COPY; /* its original is missing */
            stage->partitions++;
        }
    }
    mark_fatal(sort, stage);
    mark_waiting(sort, stage);
    mark_cached(sort, stage);
    stage->plain = stage->partitions == stage->runs.count;
    for (uint32_t i = 0; i < stage->runs.count && stage->plain; i++)
        stage->plain = !(runs[i].flags & REPLAY_RUN_FATAL);
}

/* Which stages find blocks in the cache, where anything was cached. */
static bool find_cached(struct task_sort *sort, struct pyro_arena *arena)
{
    const struct pyro_app *app = sort->replay->app;
    struct pyro_lineage lineage;
    if (!pyro_app_caches(app))
        return true;
    sort->finds_cached = pyro_arena_array(arena, app->stages.count, sizeof(*sort->finds_cached));
    if (!sort->finds_cached || !pyro_lineage_load(app, arena, &lineage))
        return false;
    memset(sort->finds_cached, 0, app->stages.count * sizeof(*sort->finds_cached));
    for (size_t i = 0; i < lineage.count; i++)
        if (lineage.uses[i].kind == PYRO_RDD_READ)
            sort->finds_cached[lineage.uses[i].stage] = true;
    return true;
}

bool pyro_replay_take_tasks(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    size_t count = pyro_all_tasks(app);
    struct task_sort sort = {.replay = replay};
    struct pyro_marks marks;
    struct pyro_arena arena;
    pyro_marks_init(&marks, replay->allocator, 0);
    pyro_arena_init(&arena, replay->allocator);
    sort.columns = pyro_scratch(app, COLUMNS, sizeof(*sort.columns));
    sort.keys = pyro_scratch(app, count, sizeof(*sort.keys));
    sort.levels = pyro_scratch(app, count, 1);
    sort.tasks = pyro_scratch(app, count, sizeof(*sort.tasks));
    replay->runs = pyro_scratch(app, count, sizeof(*replay->runs));
    replay->run_of_task = pyro_scratch(app, count, sizeof(*replay->run_of_task));
    replay->first_run = pyro_scratch(app, app->stages.count + 1, sizeof(*replay->first_run));
    replay->run_count = (uint32_t)count;
    bool done = replay->first_run && sort.columns && sort.keys && sort.levels && sort.tasks && replay->runs &&
                replay->run_of_task && find_cached(&sort, &arena) && place_runs(&sort);
    for (uint32_t i = 0; done && i < replay->stage_count; i++) {
        done = sort_runs(&sort, &replay->stages[i], &marks);
        if (done)
            mark_heads(&sort, &replay->stages[i]);
    }
    pyro_marks_done(&marks);
    pyro_arena_done(&arena);
    pyro_release(replay->allocator, sort.columns);
    pyro_release(replay->allocator, sort.keys);
    pyro_release(replay->allocator, sort.levels);
    pyro_release(replay->allocator, sort.tasks);
    return done;
}
