#include <stdio.h>

#include "analyze/task_rows.h"

void *pyro_scratch(const struct pyro_app *app, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size, &bytes))
        return NULL;
    void *memory = pyro_allocate(app->allocator, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void pyro_run_times(const struct pyro_app *app, size_t first, size_t count, int64_t (*times)[PYRO_READ_ROWS])
{
    pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, times[0]);
    pyro_task_read(&app->tasks, PYRO_TASK_finish_ms, first, count, times[1]);
    pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, times[2]);
    for (size_t i = 0; i < count; i++)
        if (times[2][i] == PYRO_TASK_RESUBMITTED || pyro_task_duration(times[0][i], times[1][i]) == 0)
            times[0][i] = times[1][i] = 0;
}

void pyro_job_interval(const struct pyro_app *app, const struct pyro_index *stages, const struct pyro_job *job,
                       int64_t *begin, int64_t *end)
{
    struct pyro_window window = pyro_app_window(app);
    bool ended = job->status.ptr && !pyro_slice_is(job->status, "running");
    int64_t first = INT64_MAX, last = INT64_MIN;
    bool look = job->submitted_ms == PYRO_NONE || (job->completed_ms == PYRO_NONE && ended);
    for (uint32_t s = 0; look && s < job->stage_id_count; s++) {
        size_t entry, count = pyro_index_find(stages, job->stage_ids[s], &entry);
        for (size_t i = entry; i < entry + count; i++) {
            uint64_t from, to;
            if (!pyro_stage_interval(&window, &app->stages.items[stages->entries[i].row], &from, &to))
                continue;
            int64_t start = (int64_t)((uint64_t)window.start + from), stop = (int64_t)((uint64_t)window.start + to);
            first = start < first ? start : first;
            last = stop > last ? stop : last;
        }
    }
    *begin = job->submitted_ms != PYRO_NONE ? job->submitted_ms : first != INT64_MAX ? first : window.start;
    *end = job->completed_ms != PYRO_NONE ? job->completed_ms : ended && last != INT64_MIN ? last : window.end;
    if (*end < *begin)
        *end = *begin;
}

void pyro_sum_column(const struct pyro_app *app, const struct pyro_sum *sum, const int32_t *rows, void *table,
                     size_t row_size, int64_t *buffer)
{
    if (!table) /* no rows */
        return;
    char *field = (char *)table + sum->offset;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, sum->column, first, count, buffer);
        for (size_t i = 0; i < count; i++) {
            if (rows[first + i] < 0 || buffer[i] == 0 || buffer[i] == PYRO_NONE)
                continue;
            int64_t *total = (int64_t *)(void *)(field + (size_t)rows[first + i] * row_size);
            *total = pyro_add_saturating(*total, buffer[i]);
        }
    }
}

/* Whole CPUs in "2" or "2.0" (Spark keeps amounts as doubles); 0 for anything else. */
static uint32_t parse_cpus(struct pyro_slice text)
{
    uint32_t cpus = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
        if (cpus > INT32_MAX / 10 - 1)
            return 0;
        cpus = cpus * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    return cpus;
}

uint32_t pyro_task_cpus(const struct pyro_app *app, const struct pyro_stage *stage)
{
    if (stage && stage->resource_profile >= 0) {
        char key[64];
        snprintf(key, sizeof(key), "%lld.task.cpus", (long long)stage->resource_profile);
        uint32_t cpus = parse_cpus(pyro_app_property_of(app, "resource_profile", key));
        if (cpus > 0)
            return cpus;
    }
    int64_t cpus = pyro_app_property_int(app, "spark.task.cpus", 1);
    return cpus < 1 || cpus > INT32_MAX ? 1 : (uint32_t)cpus;
}

uint32_t *pyro_stage_cpus(const struct pyro_app *app)
{
    uint32_t *cpus = pyro_scratch(app, app->stages.count + 1, sizeof(*cpus));
    for (size_t i = 0; cpus && i < app->stages.count; i++)
        cpus[i] = i > 0 && app->stages.items[i].resource_profile == app->stages.items[i - 1].resource_profile
                      ? cpus[i - 1]
                      : pyro_task_cpus(app, &app->stages.items[i]);
    if (cpus)
        cpus[app->stages.count] = pyro_task_cpus(app, NULL);
    return cpus;
}
