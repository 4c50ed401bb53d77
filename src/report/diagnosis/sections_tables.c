/* Memory, stages, executors and the quality of the log. */
#include <math.h>

#include "report/diagnosis/sections.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { ROWS_SHOWN = 10, REJECTS_SHOWN = 3 };

/* Empty instead of "0 B" or "-": columns without a single number are left out. */
static void bytes_cell(struct pyro_grid *grid, int64_t bytes)
{
    if (bytes > 0)
        pyro_human_bytes(&grid->text, bytes);
    pyro_grid_next(grid);
}

static void ms_cell(struct pyro_grid *grid, int64_t ms)
{
    pyro_human_ms(&grid->text, ms);
    pyro_grid_next(grid);
}

static void count_cell(struct pyro_grid *grid, int64_t count, bool blank_zero)
{
    if (count != PYRO_NONE && (count || !blank_zero))
        pyro_human_count(&grid->text, count);
    pyro_grid_next(grid);
}

static void add_memory(struct pyro_grid *grid, const char *name, int64_t peak, int64_t limit)
{
    if (peak == PYRO_NONE)
        return;
    pyro_grid_add(grid, name);
    pyro_human_bytes(&grid->text, peak);
    pyro_grid_next(grid);
    if (limit != PYRO_NONE && limit > 0) {
        pyro_strbuf_add_text(&grid->text, "of ");
        pyro_human_bytes(&grid->text, limit);
        pyro_strbuf_add_text(&grid->text, " (");
        pyro_human_share(&grid->text, (double)peak / (double)limit);
        pyro_strbuf_add_char(&grid->text, ')');
    }
    pyro_grid_next(grid);
}

void pyro_section_memory(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options)
{
    (void)options;
    static const struct pyro_grid_column columns[] = {
        {"Memory", false, 0, false}, {"Peak", true, 0, false}, {"Share of limit", false, 1, false}};
    const struct pyro_numbers *numbers = &diagnosis->app->numbers;
    struct pyro_grid *grid = &section->grid;
    section->title = "Memory";
    grid->columns = columns;
    grid->column_count = 3;
    grid->headless = true;
    add_memory(grid, "executor heap", numbers->executor_heap_peak_bytes, numbers->executor_heap_limit_bytes);
    add_memory(grid, "driver heap", numbers->driver_heap_peak_bytes, numbers->driver_heap_limit_bytes);
    add_memory(grid, "cached data", numbers->storage_peak_bytes, PYRO_NONE);
    if (numbers->memory_spill_bytes > 0)
        add_memory(grid, "spill (memory)", numbers->memory_spill_bytes, PYRO_NONE);
    if (numbers->disk_spill_bytes > 0)
        add_memory(grid, "spill (disk)", numbers->disk_spill_bytes, PYRO_NONE);
    if (isfinite(numbers->cache_hit_share)) {
        pyro_grid_add(grid, "cache hits");
        pyro_human_share(&grid->text, numbers->cache_hit_share);
        pyro_grid_next(grid);
        pyro_grid_add(grid, "of cached partitions read");
    }
    if (numbers->executor_heap_peak_bytes == PYRO_NONE)
        pyro_strbuf_add_text(&section->remarks, "The log has no heap measurements of executors: "
                                                "spark.eventLog.logStageExecutorMetrics=true records them.\n");
}

static int64_t stage_key(const void *rows, size_t row)
{
    const struct pyro_app *app = rows;
    return app->stages.items[row].task_ms;
}

static void add_stage(struct pyro_grid *grid, const struct pyro_stage *stage)
{
    pyro_strbuf_add_int(&grid->text, stage->id);
    if (stage->attempt > 0) {
        pyro_strbuf_add_char(&grid->text, '.');
        pyro_strbuf_add_int(&grid->text, stage->attempt);
    }
    pyro_grid_next(grid);
    count_cell(grid, stage->tasks, false);
    count_cell(grid, stage->failed_tasks, true);
    ms_cell(grid, stage->task_ms);
    int64_t wall = PYRO_NONE;
    if (stage->submitted_ms != PYRO_NONE && stage->completed_ms != PYRO_NONE &&
        __builtin_sub_overflow(stage->completed_ms, stage->submitted_ms, &wall))
        wall = PYRO_NONE;
    ms_cell(grid, wall);
    ms_cell(grid, stage->duration_median);
    ms_cell(grid, stage->duration_max);
    bytes_cell(grid, stage->input_bytes);
    bytes_cell(grid, stage->shuffle_read_bytes);
    bytes_cell(grid, stage->shuffle_write_bytes);
    bytes_cell(grid, stage->output_bytes);
    bytes_cell(grid, stage->disk_spill_bytes);
    if (stage->status.len && !pyro_slice_is(stage->status, "succeeded")) {
        pyro_strbuf_add_slice(&grid->text, stage->status);
        pyro_strbuf_add_text(&grid->text, ": ");
    }
    pyro_strbuf_add_slice(&grid->text, stage->name);
    pyro_grid_next(grid);
}

static void say_more(struct pyro_section *section, size_t count, size_t shown, const char *what)
{
    if (count > shown)
        pyro_strbuf_printf(&section->remarks, "Not shown: %zu %s%s with less task time; --details shows all.\n",
                           count - shown, what, count - shown == 1 ? "" : "s");
}

void pyro_section_stages(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {
        {"Stage", true, 0, false},       {"Tasks", true, 0, false},  {"Failed", true, 2, false},
        {"Task time", true, 0, false},   {"Wall", true, 6, false},   {"Median", true, 3, false},
        {"Max", true, 1, false},         {"Input", true, 4, false},  {"Shuffle in", true, 7, false},
        {"Shuffle out", true, 8, false}, {"Output", true, 9, false}, {"Spill", true, 5, false},
        {"Name", false, 0, false}};
    const struct pyro_app *app = diagnosis->app;
    section->title = "Stages";
    if (!app->stages.count) {
        pyro_strbuf_add_text(&section->lead, "The application ran no stage.");
        return;
    }
    section->grid.columns = columns;
    section->grid.column_count = sizeof(columns) / sizeof(*columns);
    size_t shown = options->details || app->stages.count < ROWS_SHOWN ? app->stages.count : ROWS_SHOWN;
    uint32_t *sorted = pyro_rows_by_key(app->allocator, app->stages.count, stage_key, app);
    section->grid.text.failed |= !sorted;
    for (size_t i = 0; sorted && i < shown; i++)
        add_stage(&section->grid, &app->stages.items[sorted[i]]);
    pyro_release(app->allocator, sorted);
    say_more(section, app->stages.count, shown, "stage attempt");
}

static int64_t executor_key(const void *rows, size_t row)
{
    const struct pyro_app *app = rows;
    return app->executors.items[row].busy_ms;
}

static void add_executor(struct pyro_grid *grid, const struct pyro_executor *executor, int64_t start_ms)
{
    pyro_strbuf_add_slice(&grid->text, executor->id);
    pyro_grid_next(grid);
    count_cell(grid, executor->cores, false);
    count_cell(grid, executor->tasks, false);
    count_cell(grid, executor->failed_tasks, true);
    ms_cell(grid, executor->busy_ms);
    ms_cell(grid, executor->gc_ms);
    bytes_cell(grid, executor->heap_peak_bytes);
    bytes_cell(grid, executor->storage_peak_bytes);
    int64_t lived;
    if (executor->removed_ms != PYRO_NONE && start_ms != PYRO_NONE &&
        !__builtin_sub_overflow(executor->removed_ms, start_ms, &lived))
        pyro_human_ms(&grid->text, lived);
    pyro_grid_next(grid);
    pyro_strbuf_add_slice(&grid->text, executor->host);
    if (executor->remove_reason.len) {
        pyro_strbuf_add_text(&grid->text, ": ");
        pyro_strbuf_add_slice(&grid->text, executor->remove_reason);
    }
    pyro_grid_next(grid);
}

void pyro_section_executors(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_report_options *options)
{
    static const struct pyro_grid_column columns[] = {{"Executor", false, 0, false},  {"Cores", true, 0, false},
                                                      {"Tasks", true, 0, false},      {"Failed", true, 1, false},
                                                      {"Busy", true, 0, false},       {"GC", true, 2, false},
                                                      {"Heap peak", true, 3, false},  {"Cached", true, 5, false},
                                                      {"Removed at", true, 4, false}, {"Host", false, 0, false}};
    const struct pyro_app *app = diagnosis->app;
    section->title = "Executors";
    if (!app->executors.count) {
        pyro_strbuf_add_text(&section->lead, "The log has no executors.");
        return;
    }
    section->grid.columns = columns;
    section->grid.column_count = sizeof(columns) / sizeof(*columns);
    size_t shown = options->details || app->executors.count < ROWS_SHOWN ? app->executors.count : ROWS_SHOWN;
    uint32_t *sorted = pyro_rows_by_key(app->allocator, app->executors.count, executor_key, app);
    section->grid.text.failed |= !sorted;
    for (size_t i = 0; sorted && i < shown; i++)
        add_executor(&section->grid, &app->executors.items[sorted[i]], app->application.start_ms);
    pyro_release(app->allocator, sorted);
    say_more(section, app->executors.count, shown, "executor");
}

/* Of the simulator's error, as a share of the duration. */
#define REPLAY_ERROR_SHOWN 0.02

static void add_quality(struct pyro_grid *grid, const char *name, uint64_t count, bool blank_zero)
{
    if (!count && blank_zero)
        return;
    pyro_grid_add(grid, name);
    pyro_human_count(&grid->text, count > INT64_MAX ? INT64_MAX : (int64_t)count);
    pyro_grid_next(grid);
}

static void quality_remarks(struct pyro_section *section, const struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_integrity *integrity = &app->integrity;
    struct pyro_strbuf *remarks = &section->remarks;
    if (integrity->in_progress)
        pyro_strbuf_add_text(remarks, "The log ends before the end of the application.\n");
    else if (integrity->truncated)
        pyro_strbuf_add_text(remarks, "The end of the log is missing.\n");
    if (integrity->compacted)
        pyro_strbuf_add_text(remarks, "The log was compacted: Spark removed events of finished jobs.\n");
    struct pyro_slice note;
    for (size_t i = 0; (note = pyro_diagnosis_note(diagnosis, i)).ptr; i++) {
        pyro_add_plain(remarks, note); /* one line each, whatever the log holds */
        pyro_strbuf_add_char(remarks, '\n');
    }
    for (size_t i = 0; i < app->rejects.count && i < REJECTS_SHOWN; i++) {
        const struct pyro_reject *reject = &app->rejects.items[i];
        pyro_strbuf_add_text(remarks, "Line ");
        pyro_human_count(remarks, reject->line);
        pyro_strbuf_add_text(remarks, " rejected: ");
        pyro_add_plain(remarks, reject->reason);
        pyro_strbuf_add_char(remarks, '\n');
    }
    if (integrity->bad_lines > REJECTS_SHOWN)
        pyro_strbuf_printf(remarks, "Other rejected lines that are not shown: %llu.\n",
                           (unsigned long long)(integrity->bad_lines - REJECTS_SHOWN));
    for (size_t i = 0, shown = 0; i < integrity->events.count && shown < 10; i++) {
        if (integrity->events.items[i].known)
            continue;
        shown++;
        pyro_strbuf_add_text(remarks, "Unknown event ");
        pyro_add_plain(remarks, integrity->events.items[i].name);
        pyro_strbuf_printf(remarks, ": %llu\n", (unsigned long long)integrity->events.items[i].count);
    }
}

/* Only where it says something: savings are then worth less, or are not known. */
static void replay_remark(struct pyro_section *section, const struct pyro_app *app,
                          const struct pyro_replay_check *replay)
{
    bool sound = pyro_replay_is_sound(replay);
    if (sound && !(replay->error_share > REPLAY_ERROR_SHOWN))
        return;
    struct pyro_strbuf *remarks = &section->remarks;
    pyro_strbuf_add_text(remarks, sound ? "Savings are less certain: replaying the unchanged run gives "
                                        : "Savings are not known: replaying the unchanged run gives ");
    pyro_human_ms(remarks, replay->replayed_ms);
    pyro_strbuf_add_text(remarks, " instead of ");
    pyro_human_ms(remarks, replay->measured_ms);
    if (replay->worst_stage_ms != 0 && replay->worst_stage < app->stages.count) {
        bool longer = replay->worst_stage_ms > 0;
        pyro_strbuf_printf(remarks, ". Stage %lld took ", (long long)app->stages.items[replay->worst_stage].id);
        pyro_human_ms(remarks, longer ? replay->worst_stage_ms : -replay->worst_stage_ms);
        pyro_strbuf_add_text(remarks, longer ? " longer: its tasks began later than slots were free for them"
                                             : " less: more of its tasks ran at once than the log has slots for");
    }
    pyro_strbuf_add_text(remarks, ".\n");
}

void pyro_section_quality(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_report_options *options)
{
    (void)options;
    static const struct pyro_grid_column columns[] = {{"Quality", false, 0, false}, {"Value", false, 0, false}};
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_integrity *integrity = &app->integrity;
    struct pyro_grid *grid = &section->grid;
    section->title = "Data quality";
    grid->columns = columns;
    grid->column_count = 2;
    grid->headless = true;
    uint64_t unknown = 0;
    for (size_t i = 0; i < integrity->events.count; i++)
        unknown += integrity->events.items[i].known ? 0 : integrity->events.items[i].count;
    uint64_t missing =
        integrity->tasks_started > integrity->tasks_ended ? integrity->tasks_started - integrity->tasks_ended : 0;
    if (integrity->source_url.ptr) {
        pyro_grid_add(grid, "read from");
        pyro_strbuf_add_text(&grid->text, integrity->rest ? "the REST API at " : "the event log at ");
        pyro_add_plain(&grid->text, integrity->source_url);
        pyro_grid_next(grid);
    }
    pyro_grid_add(grid, "confidence");
    pyro_human_hundredths(&grid->text, integrity->confidence);
    pyro_grid_next(grid);
    add_quality(grid, "lines read", integrity->lines, false);
    pyro_grid_add(grid, "size");
    pyro_human_bytes(&grid->text, integrity->bytes > INT64_MAX ? INT64_MAX : (int64_t)integrity->bytes);
    pyro_grid_next(grid);
    add_quality(grid, "rejected lines", integrity->bad_lines, false);
    add_quality(grid, "unknown events", unknown, true);
    add_quality(grid, "repeated events", integrity->repeated_events, true);
    add_quality(grid, "tasks without an end", missing, true);
    add_quality(grid, "missing parts of the log", integrity->missing_parts, true);
    add_quality(grid, "repaired characters", integrity->replaced_characters, true);
    quality_remarks(section, diagnosis);
    replay_remark(section, app, &diagnosis->replay);
}
