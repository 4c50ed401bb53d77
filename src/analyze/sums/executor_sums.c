/* Executors: which of an id's rows each task ran on, and sums over them. */
#include "analyze/accounts/split.h"
#include "analyze/analyze.h"
#include "analyze/row_index.h"
#include "analyze/scratch.h"
#include "analyze/sums/column_sums.h"
#include "analyze/task_rows.h"
#include "base/collections/map.h"
#include "base/strings/intern.h"

/* Executor rows by the number of their id's text, then by the time they were added, then by row. */
static bool index_executors(struct pyro_app *app, struct pyro_index *index)
{
    *index = (struct pyro_index){.allocator = app->allocator};
    struct pyro_index_key *keys = pyro_scratch(app, app->executors.count, sizeof(*keys));
    bool done = keys != NULL;
    for (size_t i = 0; done && i < app->executors.count; i++) {
        struct pyro_slice id = app->executors.items[i].id;
        uint32_t text = id.ptr ? pyro_intern(app->strings, id) : 0;
        keys[i] = (struct pyro_index_key){id.ptr ? (int64_t)text : -1, app->executors.items[i].added_ms};
        done = text != UINT32_MAX;
    }
    done = done && pyro_index_init(index, app->allocator, keys, app->executors.count);
    pyro_release(app->allocator, keys);
    return done;
}

/* The newest of an id's rows that was added at or before `launch`; the oldest where none was. */
static int32_t row_at(const struct pyro_app *app, const struct pyro_index *index, size_t first, size_t count,
                      int64_t launch)
{
    size_t low = first, high = first + count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (app->executors.items[index->entries[middle].row].added_ms <= launch)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)index->entries[low > first ? low - 1 : first].row;
}

/* Counts the ids. An id that is added again without having been removed was lost unnoticed: its older row ends there.
 */
static void walk_ids(struct pyro_app *app, const struct pyro_index *index)
{
    app->numbers.executors = 0;
    for (size_t i = 0; i < index->count; i++) {
        bool again = i > 0 && index->entries[i].at == index->entries[i - 1].at;
        app->numbers.executors += !again;
        if (!again)
            continue;
        struct pyro_executor *older = &app->executors.items[index->entries[i - 1].row];
        if (older->removed_ms == PYRO_NONE)
            older->removed_ms = app->executors.items[index->entries[i].row].added_ms;
    }
}

/* Notes that a task ran on an executor of which the log has no SparkListenerExecutorAdded: that event is missing. */
static bool note_unadded(struct pyro_app *app, struct pyro_id_set *unadded, int64_t id)
{
    int added = pyro_id_set_add(unadded, id);
    app->integrity.executor_events_missing += added > 0;
    return added >= 0;
}

static bool find_executor_rows(struct pyro_app *app, int64_t *ids, int64_t *launches)
{
    struct pyro_index index;
    int32_t *rows = pyro_scratch(app, app->tasks.count, sizeof(*rows));
    if (!rows || !index_executors(app, &index)) {
        pyro_release(app->allocator, rows);
        return false;
    }
    struct pyro_id_set unadded;
    bool done = true;
    walk_ids(app, &index);
    pyro_id_set_init(&unadded, app->allocator);
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_executor, first, count, ids);
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, launches);
        for (size_t i = 0; i < count; i++) {
            size_t entry, found = ids[i] < 0 ? 0 : pyro_index_find(&index, ids[i], &entry);
            if (found == 0 && ids[i] >= 0)
                done = note_unadded(app, &unadded, ids[i]) && done;
            rows[first + i] = found == 0   ? -1
                              : found == 1 ? (int32_t)index.entries[entry].row
                                           : row_at(app, &index, entry, found, launches[i]);
        }
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        uint32_t id = task->executor.ptr ? pyro_intern(app->strings, task->executor) : UINT32_MAX;
        size_t entry, found = id == UINT32_MAX ? 0 : pyro_index_find(&index, id, &entry);
        task->executor_row = found == 0 ? -1 : row_at(app, &index, entry, found, task->launch_ms);
        if (found == 0 && id != UINT32_MAX)
            done = note_unadded(app, &unadded, id) && done;
    }
    pyro_id_set_done(&unadded);
    pyro_index_done(&index);
    pyro_task_table_take_rows(&app->tasks, PYRO_TASK_executor_row, rows);
    return done;
}

#define FIELD(name) offsetof(struct pyro_executor, name)
static const struct pyro_sum sums[] = {
    {PYRO_TASK_run_ms, FIELD(run_ms)},
    {PYRO_TASK_cpu_ns, FIELD(cpu_ms)}, /* ns until all are added */
    {PYRO_TASK_gc_ms, FIELD(gc_ms)},
    {PYRO_TASK_input_bytes, FIELD(input_bytes)},
    {PYRO_TASK_shuffle_remote_bytes, FIELD(shuffle_read_bytes)},
    {PYRO_TASK_shuffle_local_bytes, FIELD(shuffle_read_bytes)},
    {PYRO_TASK_shuffle_write_bytes, FIELD(shuffle_write_bytes)},
    {PYRO_TASK_memory_spill_bytes, FIELD(memory_spill_bytes)},
    {PYRO_TASK_disk_spill_bytes, FIELD(disk_spill_bytes)},
};
#undef FIELD

/* Counts tasks, and takes Resubmitted records out of `rows`: they repeat a task that ended before. */
static void count_tasks(struct pyro_app *app, int64_t (*buffer)[PYRO_READ_ROWS], int32_t *rows)
{
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, buffer[0]);
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, buffer[1]);
        pyro_task_read(&app->tasks, PYRO_TASK_finish_ms, first, count, buffer[2]);
        for (size_t i = 0; i < count; i++) {
            int32_t row = app->tasks.executor_rows[first + i];
            rows[first + i] = buffer[0][i] == PYRO_TASK_RESUBMITTED ? -1 : row;
            if (row < 0)
                continue;
            struct pyro_executor *executor = &app->executors.items[row];
            executor->tasks++;
            executor->failed_tasks += buffer[0][i] == PYRO_TASK_FAILED;
            if (rows[first + i] >= 0)
                executor->busy_ms =
                    pyro_add_saturating(executor->busy_ms, pyro_task_duration(buffer[1][i], buffer[2][i]));
        }
    }
}

enum pyro_status pyro_analyze_executors(struct pyro_app *app, struct pyro_error *error)
{
    int64_t(*buffer)[PYRO_READ_ROWS] = pyro_scratch(app, 3, sizeof(*buffer));
    int32_t *rows = pyro_scratch(app, app->tasks.count, sizeof(*rows));
    if (!buffer || !rows || !find_executor_rows(app, buffer[0], buffer[1])) {
        pyro_release(app->allocator, buffer);
        pyro_release(app->allocator, rows);
        return pyro_no_memory(error);
    }
    for (size_t i = 0; i < app->executors.count; i++) {
        struct pyro_executor *executor = &app->executors.items[i];
        executor->tasks = executor->failed_tasks = executor->busy_ms = 0;
        for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++)
            *(int64_t *)(void *)((char *)executor + sums[k].offset) = 0;
    }
    count_tasks(app, buffer, rows);
    for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++)
        pyro_sum_column(app, &sums[k], rows, app->executors.items, sizeof(struct pyro_executor), buffer[0]);
    for (size_t i = 0; i < app->executors.count; i++)
        app->executors.items[i].cpu_ms = pyro_ns_to_ms(app->executors.items[i].cpu_ms);
    pyro_release(app->allocator, buffer);
    pyro_release(app->allocator, rows);
    return PYRO_OK;
}
