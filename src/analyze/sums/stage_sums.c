/* Stage attempts: which tasks are theirs, sums and quantiles over them. */
#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "analyze/analyze.h"
#include "analyze/row_index.h"
#include "analyze/scratch.h"
#include "analyze/sums/column_sums.h"
#include "analyze/task_rows.h"

int64_t pyro_quantile(const int64_t *sorted, size_t count, unsigned percent)
{
    size_t at = (size_t)((unsigned __int128)count * percent / 100);
    return sorted[at < count ? at : count - 1];
}

/* Row of a stage attempt, -1 where the log names no such attempt. */
static int32_t find_stage(const struct pyro_app *app, const struct pyro_index *index, int64_t id, int64_t attempt)
{
    size_t low, found = pyro_index_find(index, id, &low), high = low + found, end = high;
    while (low < high) { /* the id's attempts are ascending */
        size_t middle = low + (high - low) / 2;
        if (app->stages.items[index->entries[middle].row].attempt < attempt)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && app->stages.items[index->entries[low].row].attempt == attempt ? (int32_t)index->entries[low].row
                                                                                      : -1;
}

/* Of each task. */
static bool find_stage_rows(struct pyro_app *app, int64_t *ids, int64_t *attempts)
{
    struct pyro_index index;
    int32_t *rows = pyro_scratch(app, app->tasks.count, sizeof(*rows));
    if (!rows || !pyro_index_stages(&index, app)) {
        pyro_release(app->allocator, rows);
        return false;
    }
    int64_t id = 0, attempt = 0;
    int32_t row = -1;
    bool known = false; /* whether `row` is the one of id and attempt: tasks of a stage come in runs */
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_stage, first, count, ids);
        pyro_task_read(&app->tasks, PYRO_TASK_stage_attempt, first, count, attempts);
        for (size_t i = 0; i < count; i++) {
            if (!known || ids[i] != id || attempts[i] != attempt) {
                id = ids[i];
                attempt = attempts[i];
                row = find_stage(app, &index, id, attempt);
                known = true;
            }
            rows[first + i] = row;
        }
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        task->stage_row = find_stage(app, &index, task->stage, task->stage_attempt);
    }
    pyro_index_done(&index);
    pyro_task_table_take_rows(&app->tasks, PYRO_TASK_stage_row, rows);
    return true;
}

/* Groups task rows by stage row, keeping log order; tasks without a stage come last. */
static bool group_tasks(struct pyro_app *app)
{
    const int32_t *rows = app->tasks.stage_rows;
    uint32_t *grouped = pyro_scratch(app, app->tasks.count, sizeof(*grouped));
    uint32_t *next = pyro_scratch(app, app->stages.count + 1, sizeof(*next));
    if (!grouped || !next) {
        pyro_release(app->allocator, grouped);
        pyro_release(app->allocator, next);
        return false;
    }
    size_t without = app->stages.count; /* the group of those without a stage */
    for (size_t i = 0; i < app->tasks.count; i++)
        next[rows[i] < 0 ? without : (size_t)rows[i]]++;
    uint32_t place = 0;
    for (size_t i = 0; i <= without; i++) {
        uint32_t count = next[i];
        next[i] = place;
        if (i < without) {
            app->stages.items[i].first_task = place;
            app->stages.items[i].tasks = count;
        }
        place += count;
    }
    for (size_t i = 0; i < app->tasks.count; i++)
        grouped[next[rows[i] < 0 ? without : (size_t)rows[i]]++] = (uint32_t)i;
    pyro_release(app->allocator, next);
    pyro_release(app->allocator, app->tasks_by_stage);
    app->tasks_by_stage = grouped;
    return true;
}

#define FIELD(name) offsetof(struct pyro_stage, name)
static const struct pyro_sum sums[] = {
    {PYRO_TASK_deserialize_ms, FIELD(deserialize_ms)},
    {PYRO_TASK_run_ms, FIELD(run_ms)},
    {PYRO_TASK_cpu_ns, FIELD(cpu_ms)}, /* ns until all are added */
    {PYRO_TASK_gc_ms, FIELD(gc_ms)},
    {PYRO_TASK_result_serialize_ms, FIELD(result_serialize_ms)},
    {PYRO_TASK_result_bytes, FIELD(result_bytes)},
    {PYRO_TASK_memory_spill_bytes, FIELD(memory_spill_bytes)},
    {PYRO_TASK_disk_spill_bytes, FIELD(disk_spill_bytes)},
    {PYRO_TASK_input_bytes, FIELD(input_bytes)},
    {PYRO_TASK_input_records, FIELD(input_records)},
    {PYRO_TASK_output_bytes, FIELD(output_bytes)},
    {PYRO_TASK_output_records, FIELD(output_records)},
    {PYRO_TASK_shuffle_remote_bytes, FIELD(shuffle_read_bytes)},
    {PYRO_TASK_shuffle_local_bytes, FIELD(shuffle_read_bytes)},
    {PYRO_TASK_shuffle_read_records, FIELD(shuffle_read_records)},
    {PYRO_TASK_fetch_wait_ms, FIELD(fetch_wait_ms)},
    {PYRO_TASK_shuffle_write_bytes, FIELD(shuffle_write_bytes)},
    {PYRO_TASK_shuffle_write_records, FIELD(shuffle_write_records)},
    {PYRO_TASK_shuffle_write_ns, FIELD(shuffle_write_ms)}, /* ns until all are added */
};
#undef FIELD

static void sum_columns(struct pyro_app *app, int64_t *buffer)
{
    for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++)
        for (size_t i = 0; i < app->stages.count; i++)
            *(int64_t *)(void *)((char *)&app->stages.items[i] + sums[k].offset) = 0;
    for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++)
        pyro_sum_column(app, &sums[k], app->tasks.stage_rows, app->stages.items, sizeof(struct pyro_stage), buffer);
    for (size_t i = 0; i < app->stages.count; i++) {
        struct pyro_stage *stage = &app->stages.items[i];
        stage->cpu_ms = pyro_ns_to_ms(stage->cpu_ms);
        stage->shuffle_write_ms = pyro_ns_to_ms(stage->shuffle_write_ms);
        stage->failed_tasks = stage->killed_tasks = stage->speculative_tasks = stage->task_ms = 0;
        stage->peak_execution_memory_bytes = PYRO_NONE;
    }
}

/* Columns that are not plainly added up. */
enum { STATUS, SPECULATIVE, LAUNCH, FINISH, PEAK, READ_COLUMNS };
static const enum pyro_task_column read_columns[READ_COLUMNS] = {
    PYRO_TASK_status,
    PYRO_TASK_speculative,
    PYRO_TASK_launch_ms,
    PYRO_TASK_finish_ms,
    PYRO_TASK_peak_execution_memory_bytes,
};

/* Durations of tasks that did not succeed are kept as -1 - d until all are known. A Resubmitted record repeats a task
 * that ended before, so it has none; nor has a task whose launch or end is unknown. */
static const int64_t NO_DURATION = INT64_MIN;

static int64_t marked_duration(int64_t duration, int64_t status)
{
    return status == PYRO_TASK_SUCCESS ? duration : status == PYRO_TASK_RESUBMITTED ? NO_DURATION : -1 - duration;
}

static void take_launch(struct pyro_stage *stage, int64_t launch)
{
    if (launch > 0 && (stage->first_task_ms == PYRO_NONE || launch < stage->first_task_ms))
        stage->first_task_ms = launch;
}

/* Counts, extremes, and the duration of every task by its place in tasks_by_stage. */
static void count_tasks(struct pyro_app *app, int64_t (*buffer)[PYRO_READ_ROWS], uint32_t *next, int64_t *durations)
{
    for (size_t i = 0; i < app->stages.count; i++)
        next[i] = app->stages.items[i].first_task;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        for (unsigned k = 0; k < READ_COLUMNS; k++)
            pyro_task_read(&app->tasks, read_columns[k], first, count, buffer[k]);
        for (size_t i = 0; i < count; i++) {
            int32_t row = app->tasks.stage_rows[first + i];
            if (row < 0)
                continue;
            struct pyro_stage *stage = &app->stages.items[row];
            int64_t launch = buffer[LAUNCH][i], status = buffer[STATUS][i];
            int64_t duration = pyro_task_duration(launch, buffer[FINISH][i]);
            stage->failed_tasks += status == PYRO_TASK_FAILED;
            stage->killed_tasks += status == PYRO_TASK_KILLED;
            stage->speculative_tasks += buffer[SPECULATIVE][i] == 1;
            if (status != PYRO_TASK_RESUBMITTED)
                stage->task_ms = pyro_add_saturating(stage->task_ms, duration);
            take_launch(stage, launch);
            if (buffer[PEAK][i] > stage->peak_execution_memory_bytes)
                stage->peak_execution_memory_bytes = buffer[PEAK][i];
            bool known = launch > 0 && buffer[FINISH][i] > 0;
            durations[next[row]++] = known ? marked_duration(duration, status) : NO_DURATION;
        }
    }
}

static void sort_numbers(int64_t *numbers, size_t count, struct pyro_mark *marks, struct pyro_mark *scratch)
{
    for (size_t i = 0; i < count; i++)
        marks[i] = (struct pyro_mark){(uint64_t)numbers[i], 0, 0};
    pyro_marks_sort(marks, scratch, count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (int64_t)marks[i].at;
}

/* Moves the durations that quantiles are taken over to the front: of successful tasks, of all where none succeeded. */
static size_t select_durations(int64_t *durations, size_t tasks)
{
    size_t count = 0;
    for (size_t i = 0; i < tasks; i++)
        if (durations[i] >= 0)
            durations[count++] = durations[i];
    if (count > 0)
        return count;
    for (size_t i = 0; i < tasks; i++)
        if (durations[i] != NO_DURATION)
            durations[count++] = -1 - durations[i];
    return count;
}

static void set_quantiles(struct pyro_stage *stage, int64_t *durations, struct pyro_mark *marks,
                          struct pyro_mark *scratch)
{
    size_t count = select_durations(durations, (size_t)stage->tasks);
    if (count == 0) {
        stage->duration_min = stage->duration_p25 = stage->duration_median = PYRO_NONE;
        stage->duration_p75 = stage->duration_p95 = stage->duration_max = PYRO_NONE;
        return;
    }
    sort_numbers(durations, count, marks, scratch);
    stage->duration_min = pyro_quantile(durations, count, 0);
    stage->duration_p25 = pyro_quantile(durations, count, 25);
    stage->duration_median = pyro_quantile(durations, count, 50);
    stage->duration_p75 = pyro_quantile(durations, count, 75);
    stage->duration_p95 = pyro_quantile(durations, count, 95);
    stage->duration_max = pyro_quantile(durations, count, 100);
}

enum pyro_status pyro_analyze_stages(struct pyro_app *app, struct pyro_error *error)
{
    int64_t(*buffer)[PYRO_READ_ROWS] = pyro_scratch(app, READ_COLUMNS, sizeof(*buffer));
    enum pyro_status status = PYRO_ERROR_MEMORY;
    int64_t *durations = NULL;
    uint32_t *next = NULL;
    struct pyro_mark *marks = NULL;
    if (!buffer || !find_stage_rows(app, buffer[0], buffer[1]) || !group_tasks(app))
        goto out;
    size_t most = 0; /* tasks of the largest stage */
    for (size_t i = 0; i < app->stages.count; i++)
        most = (size_t)app->stages.items[i].tasks > most ? (size_t)app->stages.items[i].tasks : most;
    durations = pyro_scratch(app, app->tasks.count, sizeof(*durations));
    next = pyro_scratch(app, app->stages.count, sizeof(*next));
    marks = pyro_scratch(app, 2 * most, sizeof(*marks));
    if (!durations || !next || !marks)
        goto out;
    sum_columns(app, buffer[0]);
    count_tasks(app, buffer, next, durations);
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        if (app->unfinished_tasks.items[i].stage_row >= 0)
            take_launch(&app->stages.items[app->unfinished_tasks.items[i].stage_row],
                        app->unfinished_tasks.items[i].launch_ms);
    for (size_t i = 0; i < app->stages.count; i++)
        set_quantiles(&app->stages.items[i], durations + app->stages.items[i].first_task, marks, marks + most);
    status = PYRO_OK;
out:
    pyro_release(app->allocator, buffer);
    pyro_release(app->allocator, durations);
    pyro_release(app->allocator, next);
    pyro_release(app->allocator, marks);
    return status == PYRO_OK ? PYRO_OK : pyro_no_memory(error);
}
