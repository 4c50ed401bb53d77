#include "rules/tasks/stage_tasks.h"

#include <math.h>

#include "analyze/accounts/marks.h"
#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "base/numbers/order.h"

enum { READ_ROWS = 4096 };

/* More data than this explains time; ten rows instead of one do not. A core reads a MiB, or passes a thousand rows, in
 * some ten milliseconds even with slow user code. */
#define MATERIAL_BYTES   (1024.0 * 1024)
#define MATERIAL_RECORDS 1000.0

/* Keeps the `slots` smallest launch times of an executor; the largest of them is its limit. */
static void keep_smallest(double *kept, size_t *used, size_t slots, double value)
{
    if (*used == slots && value >= kept[slots - 1])
        return;
    size_t at = *used < slots ? (*used)++ : slots - 1;
    while (at > 0 && kept[at - 1] > value) {
        kept[at] = kept[at - 1];
        at--;
    }
    kept[at] = value;
}

bool pyro_cold_load(struct pyro_rule_context *context, struct pyro_cold *cold)
{
    const struct pyro_app *app = context->app;
    const struct pyro_allocator *allocator = context->arena->allocator;
    size_t slots = (size_t)fmin(pyro_app_slots_per_executor(app), 1024), executors = app->executors.count;
    *cold = (struct pyro_cold){NULL, executors};
    if (executors == 0)
        return true;
    double *kept = executors < SIZE_MAX / slots / sizeof(*kept)
                       ? pyro_allocate(allocator, executors * slots * sizeof(*kept))
                       : NULL;
    size_t *used = pyro_allocate(allocator, executors * sizeof(*used));
    int64_t *rows = pyro_allocate(allocator, 2 * READ_ROWS * sizeof(*rows));
    cold->until = pyro_allocate(allocator, executors * sizeof(*cold->until));
    bool ok = kept && used && rows && cold->until;
    if (ok)
        memset(used, 0, executors * sizeof(*used));
    for (size_t first = 0; ok && first < app->tasks.count; first += READ_ROWS) {
        size_t count = app->tasks.count - first < READ_ROWS ? app->tasks.count - first : READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_executor_row, first, count, rows);
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, rows + READ_ROWS);
        for (size_t i = 0; i < count; i++)
            if (rows[i] >= 0 && rows[i] < (int64_t)executors && rows[READ_ROWS + i] > 0)
                keep_smallest(kept + (size_t)rows[i] * slots, &used[rows[i]], slots, pyro_real(rows[READ_ROWS + i]));
    }
    for (size_t i = 0; ok && i < executors; i++)
        cold->until[i] = used[i] > 0 ? kept[i * slots + used[i] - 1] : -1;
    pyro_release(allocator, kept);
    pyro_release(allocator, used);
    pyro_release(allocator, rows);
    if (!ok) {
        pyro_cold_done(context, cold);
        context->failed = true;
    }
    return ok;
}

void pyro_cold_done(struct pyro_rule_context *context, struct pyro_cold *cold)
{
    pyro_release(context->arena->allocator, cold->until);
    *cold = (struct pyro_cold){0};
}

static struct pyro_stage_task read_task(const struct pyro_app *app, size_t row)
{
#define COLUMN(name) pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_##name, row))
    struct pyro_stage_task task = {.row = row, .launch = COLUMN(launch_ms), .finish = COLUMN(finish_ms)};
    task.duration = fmax(0, task.finish - task.launch);
    task.read_bytes = COLUMN(input_bytes) + COLUMN(shuffle_remote_bytes) + COLUMN(shuffle_local_bytes);
    task.read_records = COLUMN(input_records) + COLUMN(shuffle_read_records);
    task.written = COLUMN(output_records) + COLUMN(shuffle_write_records);
#undef COLUMN
    task.cap = task.duration;
    return task;
}

enum figure { DURATION, COLD, OPENER, BYTES, RECORDS, WRITTEN };

/* Median of one figure; of data the mean where the middle task has none (many empty partitions are not a measure). */
static double middle(const struct pyro_stage_tasks *tasks, enum figure figure, double *values)
{
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct pyro_stage_task *task = &tasks->items[i];
        double value = figure == BYTES     ? task->read_bytes
                       : figure == RECORDS ? task->read_records
                       : figure == WRITTEN ? task->written
                                           : task->duration;
        if ((figure == COLD && !task->cold) || (figure == OPENER && !task->opener))
            continue;
        values[count++] = value;
        sum += value;
    }
    double median = pyro_median(values, count);
    return figure >= BYTES && median <= 0 && count > 0 ? sum / (double)count : median;
}

static size_t count_tasks(const struct pyro_app *app, const struct pyro_stage *stage)
{
    size_t all = stage->tasks > 0 && app->tasks_by_stage ? (size_t)stage->tasks : 0;
    if (stage->first_task >= app->tasks.count)
        return 0;
    return all > app->tasks.count - stage->first_task ? app->tasks.count - stage->first_task : all;
}

/* The successful tasks of a stage whose times and metrics are known, by launch; of one time in the order of the log. A
 * mark's kind is the executor's row + 1, or 0. */
static bool order_tasks(const struct pyro_app *app, const struct pyro_stage *stage, struct pyro_marks *marks)
{
    size_t all = count_tasks(app, stage);
    pyro_marks_init(marks, app->allocator, all);
    for (size_t i = 0; i < all; i++) {
        size_t row = app->tasks_by_stage[stage->first_task + i];
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) != PYRO_TASK_SUCCESS)
            continue;
        int64_t launch = pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                executor = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, row);
        if (launch <= 0 || pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row) <= 0)
            continue;
        /* An application made of text logs has no metrics at all, and says so. */
        if (pyro_task_get(&app->tasks, PYRO_TASK_has_metrics, row) <= 0 && !app->integrity.logged)
            continue;
        bool known = executor >= 0 && executor < (int64_t)app->executors.count;
        pyro_marks_add(marks, (uint64_t)launch ^ (UINT64_C(1) << 63), known ? (uint32_t)executor + 1 : 0, row);
    }
    return pyro_marks_finish(marks);
}

/* Tasks are openers that are among the first of this stage on their executor, as many as that has slots: `seen` counts
 * those of each executor. */
static void fill(const struct pyro_app *app, const struct pyro_cold *cold, const struct pyro_marks *marks, size_t *seen,
                 struct pyro_stage_tasks *ret)
{
    double slots = pyro_app_slots_per_executor(app);
    ret->begin = INFINITY;
    for (size_t i = 0; i < marks->list.count; i++) {
        struct pyro_stage_task task = read_task(app, marks->list.items[i].row);
        size_t executor = marks->list.items[i].kind;
        if (cold && executor > 0 && executor <= cold->count)
            task.cold = task.launch <= cold->until[executor - 1];
        if (executor > 0)
            task.opener = (double)seen[executor - 1]++ < slots;
        ret->items[ret->count++] = task;
        ret->work_ms += task.duration;
        ret->begin = fmin(ret->begin, task.launch);
        ret->end = fmax(ret->end, task.finish);
    }
}

bool pyro_stage_tasks_load(struct pyro_rule_context *context, size_t stage_row, const struct pyro_cold *cold,
                           struct pyro_stage_tasks *ret)
{
    const struct pyro_app *app = context->app;
    const struct pyro_allocator *allocator = context->arena->allocator;
    const struct pyro_stage *stage = &app->stages.items[stage_row];
    struct pyro_marks marks;
    bool ordered = order_tasks(app, stage, &marks);
    *ret = (struct pyro_stage_tasks){0};
    ret->items = pyro_allocate(allocator, (marks.list.count + 1) * sizeof(*ret->items));
    double *values = pyro_allocate(allocator, (marks.list.count + 1) * sizeof(*values));
    size_t *seen = pyro_allocate(allocator, (app->executors.count + 1) * sizeof(*seen));
    bool ok = ordered && ret->items && values && seen;
    if (ok) {
        memset(seen, 0, (app->executors.count + 1) * sizeof(*seen));
        fill(app, cold, &marks, seen, ret);
        ret->median_ms = middle(ret, DURATION, values);
        ret->cold_median_ms = middle(ret, COLD, values);
        ret->opener_median_ms = middle(ret, OPENER, values);
        ret->median_bytes = middle(ret, BYTES, values);
        ret->median_records = middle(ret, RECORDS, values);
        ret->median_written = middle(ret, WRITTEN, values);
    } else {
        pyro_stage_tasks_done(context, ret);
        context->failed = true;
    }
    pyro_marks_done(&marks);
    pyro_release(allocator, values);
    pyro_release(allocator, seen);
    return ok;
}

void pyro_stage_tasks_done(struct pyro_rule_context *context, struct pyro_stage_tasks *tasks)
{
    pyro_release(context->arena->allocator, tasks->items);
    *tasks = (struct pyro_stage_tasks){0};
}

double pyro_stage_task_usual_ms(const struct pyro_stage_tasks *tasks, const struct pyro_stage_task *task)
{
    double usual = tasks->median_ms;
    if (task->opener)
        usual = fmax(usual, tasks->opener_median_ms);
    if (task->cold)
        usual = fmax(usual, tasks->cold_median_ms);
    return usual;
}

static double ratio_of(double value, double usual, double material)
{
    return usual > 0 && value - usual >= material ? value / usual : 1;
}

double pyro_stage_task_data_ratio(const struct pyro_stage_tasks *tasks, const struct pyro_stage_task *task)
{
    return fmax(ratio_of(task->read_bytes, tasks->median_bytes, MATERIAL_BYTES),
                fmax(ratio_of(task->read_records, tasks->median_records, MATERIAL_RECORDS),
                     ratio_of(task->written, tasks->median_written, MATERIAL_RECORDS)));
}

double pyro_stage_tasks_capped_end(const struct pyro_stage_tasks *tasks)
{
    double end = tasks->begin;
    for (size_t i = 0; i < tasks->count; i++)
        end = fmax(end, tasks->items[i].launch + fmin(tasks->items[i].cap, tasks->items[i].duration));
    return end;
}
