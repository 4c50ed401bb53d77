/* The JSON report: schemas pyrometer.report/1 and pyrometer.reports/1 (docs/schema/). Names and order of the members
 * are a contract; additions follow the present ones. */
#include <stdlib.h>

#include "analyze/attributes.h"
#include "base/memory/allocator.h"
#include "report/cost/cost.h"
#include "report/diagnosis/json_parts.h"
#include "report/renderers.h"
#include "report/shared/app_failure.h"

/* Null where the log does not say what started the application. */
static void write_orchestrator(struct pyro_json_writer *json, const struct pyro_app *app)
{
    struct pyro_slice dag = pyro_app_attribute(app, PYRO_ATTRIBUTE_DAG);
    struct pyro_slice task = pyro_app_attribute(app, PYRO_ATTRIBUTE_TASK);
    struct pyro_slice run = pyro_app_attribute(app, PYRO_ATTRIBUTE_RUN);
    if (!dag.ptr && !task.ptr && !run.ptr) {
        pyro_json_null(json, "orchestrator");
        return;
    }
    pyro_json_begin(json, "orchestrator", '{');
    pyro_json_text(json, "dag_id", dag);
    pyro_json_text(json, "task_id", task);
    pyro_json_text(json, "run_id", run);
    pyro_json_end(json, '}');
}

static void write_application(struct pyro_json_writer *json, const struct pyro_app *app)
{
    const struct pyro_application_row *row = &app->application;
    pyro_json_line(json);
    pyro_json_begin(json, "application", '{');
    pyro_json_text(json, "id", row->id);
    pyro_json_text(json, "name", row->name);
    pyro_json_text(json, "attempt", row->attempt);
    pyro_json_text(json, "user", row->user);
    pyro_json_text(json, "spark_version", row->spark_version);
    pyro_json_text(json, "master", row->master);
    pyro_json_int(json, "start_ms", row->start_ms);
    pyro_json_int(json, "end_ms", row->end_ms);
    pyro_json_int(json, "duration_ms", row->duration_ms);
    pyro_json_text(json, "status", row->status);
    pyro_json_int(json, "exit_code", row->exit_code);
    pyro_json_text(json, "outcome", row->outcome);
    write_orchestrator(json, app);
    pyro_json_end(json, '}');
}

/* Null where the application did not fail. */
static void write_failure(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = diagnosis->app;
    struct pyro_app_failure failure = pyro_app_failure(diagnosis);
    pyro_json_line(json);
    if (!failure.failed) {
        pyro_json_null(json, "failure");
        return;
    }
    struct pyro_strbuf frame;
    pyro_strbuf_init(&frame, json->output->buffer.allocator);
    pyro_fact_frame(&frame, failure.root.frame);
    pyro_json_begin(json, "failure", '{');
    pyro_json_text(json, "exception", failure.root.name);
    pyro_json_text(json, "message", failure.root.message);
    pyro_json_text(json, "frame", frame.len ? pyro_strbuf_slice(&frame) : PYRO_SLICE_NULL);
    pyro_json_int(json, "job", failure.job ? failure.job->id : PYRO_NONE);
    pyro_json_int(json, "stage", failure.stage >= 0 ? app->stages.items[failure.stage].id : PYRO_NONE);
    pyro_json_int(json, "failed_tasks", failure.stage >= 0 ? (int64_t)failure.tasks : PYRO_NONE);
    pyro_json_text(json, "finding", failure.finding ? failure.finding->id : PYRO_SLICE_NULL);
    pyro_json_text(json, "reason", failure.reason ? failure.reason->id : PYRO_SLICE_NULL);
    pyro_json_end(json, '}');
    json->output->buffer.failed |= frame.failed;
    pyro_strbuf_done(&frame);
}

static int compare_events(const void *a, const void *b)
{
    const struct pyro_event_count *const *x = a, *const *y = b;
    return pyro_slice_compare((*x)->name, (*y)->name);
}

/* Counts by name, in the order of the names: all events, or only those that are not known. */
static void write_events(struct pyro_json_writer *json, const char *key, const struct pyro_app *app, bool unknown_only)
{
    const struct pyro_integrity *integrity = &app->integrity;
    const struct pyro_event_count **sorted = NULL;
    size_t count = 0;
    if (integrity->events.count) {
        sorted = pyro_allocate(app->allocator, integrity->events.count * sizeof(const struct pyro_event_count *));
        if (!sorted && json->output->status == PYRO_OK)
            json->output->status = PYRO_ERROR_MEMORY;
    }
    for (size_t i = 0; sorted && i < integrity->events.count; i++)
        if (!unknown_only || !integrity->events.items[i].known)
            sorted[count++] = &integrity->events.items[i];
    if (count)
        qsort(sorted, count, sizeof(const struct pyro_event_count *), compare_events);
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    for (size_t i = 0; i < count; i++) {
        pyro_json_key(json, sorted[i]->name);
        pyro_json_count(json, NULL, sorted[i]->count);
    }
    pyro_json_end(json, '}');
    pyro_release(app->allocator, sorted);
}

static void write_integrity(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_integrity *integrity = &app->integrity;
    pyro_json_line(json);
    pyro_json_begin(json, "integrity", '{');
    pyro_json_line(json);
    pyro_json_count(json, "bytes", integrity->bytes);
    pyro_json_count(json, "lines", integrity->lines);
    write_events(json, "events", app, false);
    write_events(json, "unknown_events", app, true);
    pyro_json_line(json);
    pyro_json_count(json, "bad_lines", integrity->bad_lines);
    pyro_json_bool(json, "truncated", integrity->truncated);
    pyro_json_bool(json, "compacted", integrity->compacted);
    pyro_json_bool(json, "in_progress", integrity->in_progress);
    pyro_json_count(json, "tasks_started", integrity->tasks_started);
    pyro_json_count(json, "tasks_ended", integrity->tasks_ended);
    pyro_json_real(json, "confidence", integrity->confidence);
    if (integrity->source_url.ptr) {
        pyro_json_line(json);
        pyro_json_begin(json, "source", '{');
        pyro_json_text(json, "kind", pyro_slice_from(integrity->rest ? "rest" : "log"));
        pyro_json_text(json, "url", integrity->source_url);
        pyro_json_end(json, '}');
    }
    pyro_json_line(json);
    pyro_json_count(json, "repeated_events", integrity->repeated_events);
    pyro_json_count(json, "replaced_characters", integrity->replaced_characters);
    pyro_json_count(json, "missing_parts", integrity->missing_parts);
    pyro_json_count(json, "events_missing", integrity->events_missing);
    pyro_json_bool(json, "partial", integrity->partial);
    pyro_json_bool(json, "beginning_missing", integrity->beginning_missing);
    pyro_json_bool(json, "settings_unknown", integrity->settings_unknown);
    pyro_json_bool(json, "contradictory", integrity->contradictory);
    pyro_json_begin(json, "notes", '[');
    struct pyro_slice note;
    for (size_t i = 0; (note = pyro_diagnosis_note(diagnosis, i)).ptr; i++) {
        pyro_json_line(json);
        pyro_json_text(json, NULL, note);
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_totals(struct pyro_json_writer *json, const struct pyro_numbers *numbers)
{
#define TOTAL(name) pyro_json_int(json, #name, numbers->name)
    pyro_json_line(json);
    pyro_json_begin(json, "totals", '{');
    TOTAL(jobs);
    TOTAL(failed_jobs);
    TOTAL(stages);
    TOTAL(failed_stages);
    TOTAL(tasks);
    TOTAL(failed_tasks);
    TOTAL(killed_tasks);
    TOTAL(executors);
    TOTAL(cores_peak);
    TOTAL(sql_executions);
    TOTAL(run_ms);
    TOTAL(cpu_ms);
    TOTAL(gc_ms);
    TOTAL(input_bytes);
    TOTAL(output_bytes);
    TOTAL(shuffle_read_bytes);
    TOTAL(shuffle_write_bytes);
    TOTAL(memory_spill_bytes);
    TOTAL(disk_spill_bytes);
    TOTAL(task_ms);
    pyro_json_end(json, '}');
#undef TOTAL
}

static void write_parts(struct pyro_json_writer *json, const char *key, int64_t total, const char *const *names,
                        const int64_t *parts, size_t count)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    pyro_json_int(json, "total_ms", total);
    pyro_json_begin(json, "parts", '[');
    for (size_t i = 0; i < count; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", names[i]);
        pyro_json_int(json, "ms", parts[i]);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_accounts(struct pyro_json_writer *json, const struct pyro_numbers *numbers)
{
    pyro_json_line(json);
    pyro_json_begin(json, "accounting", '{');
    write_parts(json, "wall", numbers->wall_total_ms, pyro_wall_part_names, numbers->wall_ms, PYRO_WALL_PARTS);
    write_parts(json, "core", numbers->core_total_ms, pyro_core_part_names, numbers->core_ms, PYRO_CORE_PARTS);
    pyro_json_line(json);
    pyro_json_begin(json, "phases", '{');
    pyro_json_int(json, "wait_ms", numbers->phase_wait_ms);
    pyro_json_int(json, "compute_ms", numbers->phase_compute_ms);
    pyro_json_int(json, "write_ms", numbers->phase_write_ms);
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');

    pyro_json_line(json);
    pyro_json_begin(json, "bounds", '{');
    pyro_json_int(json, "critical_path_ms", numbers->critical_path_ms);
    pyro_json_int(json, "ideal_ms", numbers->ideal_ms);
    pyro_json_int(json, "one_core_ms", numbers->one_core_ms);
    pyro_json_int(json, "driver_ms", numbers->driver_ms);
    pyro_json_end(json, '}');
}

static void write_memory(struct pyro_json_writer *json, const struct pyro_numbers *numbers)
{
    pyro_json_line(json);
    pyro_json_begin(json, "memory", '{');
    pyro_json_int(json, "executor_heap_peak_bytes", numbers->executor_heap_peak_bytes);
    pyro_json_int(json, "executor_heap_limit_bytes", numbers->executor_heap_limit_bytes);
    pyro_json_real(json, "executor_heap_used_share", numbers->executor_heap_used_share);
    pyro_json_int(json, "driver_heap_peak_bytes", numbers->driver_heap_peak_bytes);
    pyro_json_int(json, "storage_peak_bytes", numbers->storage_peak_bytes);
    pyro_json_real(json, "cache_hit_share", numbers->cache_hit_share);
    pyro_json_int(json, "driver_heap_limit_bytes", numbers->driver_heap_limit_bytes);
    pyro_json_end(json, '}');
}

static void write_replay(struct pyro_json_writer *json, const struct pyro_app *app,
                         const struct pyro_replay_check *replay)
{
    bool known = replay->worst_stage_ms != 0 && replay->worst_stage < app->stages.count;
    pyro_json_line(json);
    pyro_json_begin(json, "replay", '{');
    pyro_json_int(json, "measured_ms", replay->measured_ms);
    pyro_json_int(json, "replayed_ms", replay->replayed_ms);
    pyro_json_real(json, "error_share", replay->error_share);
    pyro_json_int(json, "worst_job_ms", replay->worst_job_ms);
    pyro_json_int(json, "worst_stage", known ? app->stages.items[replay->worst_stage].id : PYRO_NONE);
    int64_t off_ms = replay->worst_stage_ms < 0 ? -replay->worst_stage_ms : replay->worst_stage_ms;
    pyro_json_int(json, "worst_stage_ms", known ? off_ms : PYRO_NONE);
    pyro_json_bool(json, "worst_stage_longer", known && replay->worst_stage_ms > 0);
    pyro_json_bool(json, "sound", pyro_replay_is_sound(replay));
    pyro_json_end(json, '}');
}

static void write_source(struct pyro_json_writer *json, const struct pyro_app *app)
{
    pyro_json_line(json);
    pyro_json_begin(json, "source", '{');
    pyro_json_text(json, "path", app->path);
    pyro_json_text(json, "codec", app->codec);
    pyro_json_end(json, '}');
}

static void write_report(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = diagnosis->app;
    pyro_json_begin(json, NULL, '{');
    pyro_json_line(json);
    pyro_json_string(json, "schema", "pyrometer.report/1");
    write_application(json, app);
    write_integrity(json, diagnosis);
    write_totals(json, &app->numbers);
    write_accounts(json, &app->numbers);
    write_memory(json, &app->numbers);
    pyro_json_stages(json, app);
    pyro_json_executors(json, app);
    pyro_json_findings(json, diagnosis);
    pyro_json_config_changes(json, diagnosis);
    pyro_json_plans(json, diagnosis);
    pyro_json_line(json);
    if (diagnosis->cost)
        pyro_json_cost(json, "cost", diagnosis->cost);
    else
        pyro_json_null(json, "cost");
    write_source(json, app);
    pyro_json_jobs(json, app);
    pyro_json_sql(json, diagnosis);
    pyro_json_rules(json, diagnosis);
    pyro_json_rejects(json, app);
    pyro_json_suppressed(json, diagnosis);
    pyro_json_thresholds(json, diagnosis);
    write_replay(json, diagnosis->app, &diagnosis->replay);
    pyro_json_configuration(json, diagnosis);
    pyro_json_profile(json, diagnosis);
    write_failure(json, diagnosis);
    pyro_json_profiling(json, app->tracks);
    pyro_json_actions(json, diagnosis);
    pyro_json_end(json, '}');
}

static void json_begin_many(struct pyro_output *output, const struct pyro_report_options *options)
{
    (void)options;
    pyro_strbuf_add_text(&output->buffer, "{\n\"schema\": \"pyrometer.reports/1\",\n\"reports\": [\n");
}

static void json_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                        const struct pyro_report_options *options, size_t index, bool many)
{
    (void)options;
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    if (many && index)
        pyro_strbuf_add_text(&output->buffer, ",\n");
    write_report(&json, diagnosis);
    if (!many)
        pyro_strbuf_add_char(&output->buffer, '\n');
}

static void json_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                          const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_strbuf_add_text(&output->buffer, "\n],\n\"unreadable\": ");
    pyro_json_begin(&json, NULL, '[');
    for (size_t i = 0; i < unreadable_count; i++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_text(&json, "path", unreadable_paths[i]);
        pyro_json_text(&json, "error", unreadable_reasons[i]);
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_strbuf_add_text(&output->buffer, "\n}\n");
}

const struct pyro_renderer pyro_renderer_json = {"json", PYRO_FORMAT_JSON, json_begin_many, json_report, json_end_many};
