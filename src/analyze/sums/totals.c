/* Totals of the application, as Spark counts them: over all TaskEnd events, failed ones included. */
#include "analyze/accounts/fixed_point.h"
#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "analyze/analyze.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"

/* Sum of a column; 128 bits, so that it depends on no order before it is clamped. */
static __int128 sum_of(const struct pyro_app *app, enum pyro_task_column column, int64_t *buffer)
{
    __int128 sum = 0;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, column, first, count, buffer);
        for (size_t i = 0; i < count; i++)
            sum += buffer[i] == PYRO_NONE ? 0 : buffer[i];
    }
    return sum;
}

static void count_tasks(struct pyro_app *app, int64_t (*buffer)[PYRO_READ_ROWS])
{
    struct pyro_numbers *numbers = &app->numbers;
    __int128 task_ms = 0;
    numbers->tasks = (int64_t)app->tasks.count;
    numbers->failed_tasks = numbers->killed_tasks = 0;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, buffer[0]);
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, buffer[1]);
        pyro_task_read(&app->tasks, PYRO_TASK_finish_ms, first, count, buffer[2]);
        for (size_t i = 0; i < count; i++) {
            numbers->failed_tasks += buffer[0][i] == PYRO_TASK_FAILED;
            numbers->killed_tasks += buffer[0][i] == PYRO_TASK_KILLED;
            if (buffer[0][i] != PYRO_TASK_RESUBMITTED) /* repeats a task that ended before */
                task_ms += pyro_task_duration(buffer[1][i], buffer[2][i]);
        }
    }
    numbers->task_ms = pyro_saturate(task_ms);
}

static void sum_tasks(struct pyro_app *app, int64_t *buffer)
{
    struct pyro_numbers *numbers = &app->numbers;
    numbers->run_ms = pyro_saturate(sum_of(app, PYRO_TASK_run_ms, buffer));
    __int128 cpu_ns = sum_of(app, PYRO_TASK_cpu_ns, buffer);
    numbers->cpu_ms = pyro_saturate(cpu_ns / 1000000 - (cpu_ns % 1000000 < 0));
    numbers->gc_ms = pyro_saturate(sum_of(app, PYRO_TASK_gc_ms, buffer));
    numbers->input_bytes = pyro_saturate(sum_of(app, PYRO_TASK_input_bytes, buffer));
    numbers->output_bytes = pyro_saturate(sum_of(app, PYRO_TASK_output_bytes, buffer));
    numbers->shuffle_read_bytes = pyro_saturate(sum_of(app, PYRO_TASK_shuffle_remote_bytes, buffer) +
                                                sum_of(app, PYRO_TASK_shuffle_local_bytes, buffer));
    numbers->shuffle_write_bytes = pyro_saturate(sum_of(app, PYRO_TASK_shuffle_write_bytes, buffer));
    numbers->memory_spill_bytes = pyro_saturate(sum_of(app, PYRO_TASK_memory_spill_bytes, buffer));
    numbers->disk_spill_bytes = pyro_saturate(sum_of(app, PYRO_TASK_disk_spill_bytes, buffer));
}

/* When an executor went: those that no event removes stay to the end, however late they came. */
static int64_t alive_until(const struct pyro_app *app, const struct pyro_executor *executor)
{
    if (executor->removed_ms != PYRO_NONE)
        return executor->removed_ms;
    if (app->application.end_ms > executor->added_ms)
        return app->application.end_ms;
    return pyro_add_saturating(executor->added_ms, 1);
}

/* Most cores alive at once. Not clamped to the application: it is about the log's executors alone. */
static bool find_cores_peak(struct pyro_app *app)
{
    enum { REMOVED, ADDED };
    struct pyro_marks marks;
    pyro_marks_init(&marks, app->allocator, 2 * app->executors.count);
    const uint64_t sign = (uint64_t)1 << 63;               /* signed order as unsigned order */
    for (unsigned kind = REMOVED; kind <= ADDED; kind++) { /* at equal times, what goes leaves first */
        for (size_t i = 0; i < app->executors.count; i++) {
            const struct pyro_executor *executor = &app->executors.items[i];
            int64_t from = executor->added_ms, to = alive_until(app, executor);
            if (to > from)
                pyro_marks_add(&marks, (uint64_t)(kind == ADDED ? from : to) ^ sign, kind, i);
        }
    }
    bool done = pyro_marks_finish(&marks);
    uint64_t cores = 0, peak = 0;
    for (size_t i = 0; done && i < marks.list.count; i++) {
        uint64_t here = pyro_executor_cores(&app->executors.items[marks.list.items[i].row]);
        cores = marks.list.items[i].kind == ADDED ? cores + here : cores - here;
        peak = cores > peak ? cores : peak;
    }
    app->numbers.cores_peak = (int64_t)peak;
    pyro_marks_done(&marks);
    return done;
}

static void count_rows(struct pyro_app *app)
{
    struct pyro_numbers *numbers = &app->numbers;
    const struct pyro_repeats *repeats = &app->repeats;
    numbers->jobs = repeats->jobs;
    numbers->failed_jobs = repeats->failed_jobs;
    numbers->stages = repeats->stages;
    numbers->failed_stages = repeats->failed_stages;
    numbers->sql_executions = repeats->sql_executions;
    for (size_t i = 0; i < app->jobs.count; i++) {
        numbers->jobs += !app->jobs.items[i].unstarted;
        numbers->failed_jobs += pyro_slice_is(app->jobs.items[i].status, "failed");
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        numbers->stages += !app->stages.items[i].unsubmitted;
        numbers->failed_stages += app->stages.items[i].failure.ptr != NULL;
    }
    for (size_t i = 0; i < app->sql.count; i++)
        numbers->sql_executions += !app->sql.items[i].unstarted;
}

enum pyro_status pyro_analyze_totals(struct pyro_app *app, struct pyro_error *error)
{
    int64_t(*buffer)[PYRO_READ_ROWS] = pyro_scratch(app, 3, sizeof(*buffer));
    if (!buffer || !find_cores_peak(app)) {
        pyro_release(app->allocator, buffer);
        return pyro_no_memory(error);
    }
    count_rows(app);
    count_tasks(app, buffer);
    sum_tasks(app, buffer[0]);
    pyro_release(app->allocator, buffer);
    return PYRO_OK;
}
