/* What each task of the run did, as far as models ask: time, what it read, spilled, collected. */
#include "analyze/accounts/split.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "predict/cut_tasks.h"

enum {
    LAUNCH,
    FINISH,
    STATUS,
    STAGE,
    GC,
    INPUT,
    INPUT_RECORDS,
    REMOTE,
    LOCAL,
    READ_RECORDS,
    SPILL,
    SPILL_MEMORY,
    PEAK,
    BLOCKS_REMOTE,
    BLOCKS_LOCAL,
    COLUMNS
};

static const enum pyro_task_column columns[COLUMNS] = {PYRO_TASK_launch_ms,
                                                       PYRO_TASK_finish_ms,
                                                       PYRO_TASK_status,
                                                       PYRO_TASK_stage_row,
                                                       PYRO_TASK_gc_ms,
                                                       PYRO_TASK_input_bytes,
                                                       PYRO_TASK_input_records,
                                                       PYRO_TASK_shuffle_remote_bytes,
                                                       PYRO_TASK_shuffle_local_bytes,
                                                       PYRO_TASK_shuffle_read_records,
                                                       PYRO_TASK_disk_spill_bytes,
                                                       PYRO_TASK_memory_spill_bytes,
                                                       PYRO_TASK_peak_execution_memory_bytes,
                                                       PYRO_TASK_shuffle_remote_blocks,
                                                       PYRO_TASK_shuffle_local_blocks};

static double known(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

/* Rows of a stage do not lie side by side in the log: each goes to the next place of its stage. */
static bool read_tasks(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    int64_t(*values)[PYRO_READ_ROWS] = pyro_scratch(app, COLUMNS, sizeof(*values));
    if (!values)
        return false;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        for (unsigned c = 0; c < COLUMNS; c++)
            pyro_task_read(&app->tasks, columns[c], first, count, values[c]);
        for (size_t i = 0; i < count; i++) {
            int64_t row = values[STAGE][i];
            if (row < 0 || row >= (int64_t)app->stages.count || values[STATUS][i] != PYRO_TASK_SUCCESS)
                continue;
            const struct pyro_stage *stage = &app->stages.items[row];
            struct pyro_stage_facts *facts = &run->stages[row];
            double bytes = known(values[INPUT][i]) + known(values[REMOTE][i]) + known(values[LOCAL][i]);
            double records = known(values[INPUT_RECORDS][i]) + known(values[READ_RECORDS][i]);
            bool by_bytes = stage->input_bytes > 0 || stage->shuffle_read_bytes > 0;
            facts->blocks += (float)(known(values[BLOCKS_REMOTE][i]) + known(values[BLOCKS_LOCAL][i]));
            facts->records += (float)records;
            run->tasks[facts->first + facts->count++] =
                (struct pyro_task_facts){.row = (uint32_t)(first + i),
                                         .ms = (float)pyro_task_duration(values[LAUNCH][i], values[FINISH][i]),
                                         .gc_ms = (float)known(values[GC][i]),
                                         .load = (float)(by_bytes ? bytes : records),
                                         .records = (float)records,
                                         .spill = (float)known(values[SPILL][i]),
                                         .need = (float)(known(values[PEAK][i]) + known(values[SPILL_MEMORY][i]))};
        }
    }
    pyro_release(app->allocator, values);
    return true;
}

bool pyro_predict_take_tasks(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    run->tasks = pyro_scratch(app, app->tasks.count, sizeof(*run->tasks));
    run->stages = pyro_scratch(app, app->stages.count, sizeof(*run->stages));
    if (!run->tasks || !run->stages)
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        run->stages[i].first = stage->first_task;
        run->stages[i].source = stage->shuffle_read_bytes > 0 || stage->shuffle_read_records > 0 ? PYRO_SOURCE_SHUFFLE
                                : stage->input_bytes > 0                                         ? PYRO_SOURCE_FILES
                                                                                                 : PYRO_SOURCE_NOTHING;
    }
    if (!read_tasks(run))
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        double sum = 0;
        for (uint32_t t = 0; t < run->stages[i].count; t++)
            sum += (double)run->tasks[run->stages[i].first + t].load;
        run->stages[i].load = (float)sum;
    }
    return true;
}
