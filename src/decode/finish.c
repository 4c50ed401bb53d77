/* From what was built to an application: identity, status, sorted tables. */
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/events.h"
#include "decode/eventlog/plan.h"
#include "decode/interval_checks.h"

static struct pyro_slice intern_text(struct pyro_app *app, const char *text)
{
    return pyro_intern_slice(app->strings, pyro_slice_from(text));
}

static int compare_events(const void *a, const void *b)
{
    return pyro_slice_compare(((const struct pyro_event_count *)a)->name, ((const struct pyro_event_count *)b)->name);
}

static bool add_event(struct pyro_builder *builder, struct pyro_app *app, struct pyro_slice name, uint64_t count,
                      bool known)
{
    struct pyro_event_count *event = pyro_vec_push(&app->integrity.events, builder->allocator);
    if (event)
        *event = (struct pyro_event_count){pyro_intern_slice(app->strings, name), count, known};
    return event != NULL;
}

static bool finish_events(struct pyro_builder *builder, struct pyro_app *app)
{
    bool ok = true;
    for (size_t i = 0; i < builder->event_counts.count; i++)
        if (builder->event_counts.items[i])
            ok &= add_event(builder, app, pyro_events[i].name, builder->event_counts.items[i], true);
    for (size_t i = 0; i < builder->unknown_events.slot_count; i++)
        if (builder->unknown_events.used[i])
            ok &= add_event(builder, app,
                            pyro_string_pool_text(app->strings, (uint32_t)builder->unknown_events.slots[i].key),
                            builder->unknown_events.slots[i].value, false);
    if (builder->other_events)
        ok &= add_event(builder, app, PYRO_SLICE_LITERAL("(other names)"), builder->other_events, false);
    if (app->integrity.events.count)
        qsort(app->integrity.events.items, app->integrity.events.count, sizeof(*app->integrity.events.items),
              compare_events);
    return ok;
}

static int compare_properties(const void *a, const void *b)
{
    const struct pyro_property *x = a, *y = b;
    int order = pyro_slice_compare(x->kind, y->kind);
    return order ? order : pyro_slice_compare(x->key, y->key);
}

static bool sql_metric_value(const struct pyro_builder *builder, int64_t accumulator, int64_t *sum)
{
    int64_t tasks = pyro_value_map_get(&builder->accumulators, accumulator);
    int64_t driver = pyro_value_map_get(&builder->driver_updates, accumulator);
    bool known = tasks != PYRO_VALUE_NONE || driver != PYRO_VALUE_NONE;
    /* -1 is Spark's "nothing measured" for sizes and times. */
    if (__builtin_add_overflow(tasks > 0 ? tasks : 0, driver > 0 ? driver : 0, sum))
        *sum = INT64_MAX;
    return known;
}

/* Metrics without a value are rows only for those who look at plans. */
static bool finish_metrics(const struct pyro_builder *builder, struct pyro_app *app, const struct pyro_sql_plan *plan,
                           int64_t sql)
{
    for (size_t i = 0; i < plan->metrics.count; i++) {
        const struct pyro_plan_metric *metric = &plan->metrics.items[i];
        const struct pyro_metric_kind *kind = &builder->metric_kinds.items[metric->kind];
        int64_t value;
        bool known = metric->accumulator != PYRO_NONE && sql_metric_value(builder, metric->accumulator, &value);
        if (!known && !(builder->wanted & PYRO_WANT_PLAN_TEXT))
            continue;
        struct pyro_sql_metric *row = pyro_vec_push(&app->sql_metrics, builder->allocator);
        if (!row)
            return false;
        *row = (struct pyro_sql_metric){
            .sql = sql,
            .node = metric->node,
            .name = pyro_string_pool_text(app->strings, kind->name),
            .type = pyro_string_pool_text(app->strings, kind->type),
            .accumulator = metric->accumulator,
            .value = known ? value : PYRO_NONE,
            .tasks = PYRO_NONE,
            .task_min = PYRO_NONE,
            .task_median = PYRO_NONE,
            .task_max = PYRO_NONE,
        };
    }
    return true;
}

static bool finish_nodes(const struct pyro_builder *builder, struct pyro_app *app, const struct pyro_sql_plan *plan,
                         int64_t sql)
{
    if (!pyro_vec_reserve(&app->sql_nodes, plan->nodes.count, builder->allocator))
        return false;
    for (size_t i = 0; i < plan->nodes.count; i++) {
        const struct pyro_plan_node *node = &plan->nodes.items[i];
        app->sql_nodes.items[app->sql_nodes.count++] = (struct pyro_sql_node){
            .sql = sql,
            .node = (int64_t)i,
            .parent = node->parent >= 0 ? node->parent : PYRO_NONE,
            .depth = node->depth,
            .name = pyro_string_pool_text(app->strings, node->name),
            .class = pyro_slice_from(pyro_operator_class_names[node->known ? node->known->operator_class : 0]),
            .engine = pyro_slice_from(node->known ? pyro_engine_names[node->known->engine] : NULL),
            .detail = pyro_string_pool_text(app->strings, node->detail),
            .metadata = pyro_string_pool_text(app->strings, node->metadata),
            .known = node->known,
            .exact_print = node->exact_print,
            .columnless_print = node->columnless_print,
            .condition_length = node->condition_length,
            .computes = node->computes,
            .distinct = node->distinct,
        };
    }
    return true;
}

/* Said at the end, of the newest plan only, so that it does not matter when plans were decoded. */
static bool note_plan(struct pyro_app *app, const struct pyro_sql_plan *plan, int64_t sql)
{
    char text[200];
    if (!plan->error)
        return true;
    snprintf(text, sizeof(text), "The plan of SQL execution %lld could not be read: %s", (long long)sql, plan->error);
    return pyro_app_note(app, pyro_slice_from(text));
}

/* The note itself would be hidden: it does not go through the pool. */
static bool note_expressions(struct pyro_builder *builder, struct pyro_app *app)
{
    static const char text[] = "The log has more than 8 expressions for one of its settings of redaction: everything "
                               "that the setting is for is hidden";
    _Static_assert(PYRO_SECRET_EXPRESSIONS_MOST == 8, "the note has the number");
    if (!pyro_secrets_overrun(&builder->intake.secrets))
        return true;
    struct pyro_slice *note = pyro_vec_push(&app->integrity.notes, builder->allocator);
    if (note)
        *note = pyro_slice_from(text);
    return note != NULL;
}

/* `copy`: the builder needs its plans again. */
static bool finish_plans(struct pyro_builder *builder, struct pyro_app *app, bool copy)
{
    size_t nodes = 0, metrics = 0;
    for (size_t i = 0; i < builder->plans.count; i++) {
        nodes += builder->plans.items[i].nodes.count;
        metrics += builder->plans.items[i].metrics.count;
    }
    /* At once: tables that grow step by step are copied time and again, and leave holes behind. */
    if (!pyro_vec_reserve(&app->sql_nodes, nodes, builder->allocator) ||
        !pyro_vec_reserve(&app->sql_metrics, metrics, builder->allocator))
        return false;
    for (size_t i = 0; i < builder->plans.count; i++) {
        struct pyro_sql_plan *plan = &builder->plans.items[i];
        int64_t sql = app->sql.items[i].id;
        if (!finish_nodes(builder, app, plan, sql) || !finish_metrics(builder, app, plan, sql) ||
            !note_plan(app, plan, sql))
            return false;
        app->integrity.replaced_characters += plan->replaced;
        if (!copy)
            pyro_plan_done(builder, plan);
    }
    pyro_vec_fit(&app->sql_metrics, builder->allocator);
    return true;
}

/* A job is called as its last stage, as in Spark's UI. Jobs and stages that never ran have no name. */
static void name_jobs(const struct pyro_builder *builder, struct pyro_app *app)
{
    for (size_t i = 0; i < app->jobs.count; i++) {
        struct pyro_job *job = &app->jobs.items[i];
        for (uint32_t s = job->stage_id_count; s > 0 && !job->name.ptr; s--) {
            ptrdiff_t row = pyro_build_find_stage(builder, app, job->stage_ids[s - 1], 0);
            if (row >= 0)
                job->name = app->stages.items[row].name;
        }
    }
}

static struct pyro_slice find_property(const struct pyro_app *app, const char *key)
{
    for (size_t i = 0; i < app->properties.count; i++)
        if (pyro_slice_is(app->properties.items[i].key, key) && pyro_slice_is(app->properties.items[i].kind, "spark"))
            return app->properties.items[i].value;
    return PYRO_SLICE_NULL;
}

static bool has_settings(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->properties.count; i++)
        if (pyro_slice_is(app->properties.items[i].kind, "spark"))
            return true;
    return false;
}

static void finish_application(struct pyro_builder *builder, const struct pyro_log_facts *facts, struct pyro_app *app)
{
    struct pyro_application_row *row = &app->application;
    struct pyro_integrity *integrity = &app->integrity;
    const struct pyro_seen_times seen = {builder->started, builder->ended, builder->earliest_ms, builder->latest_ms};
    if (!pyro_check_intervals(app, &seen, &builder->doubts))
        builder->failed = true;
    if (row->end_ms < row->start_ms)
        row->end_ms = row->start_ms;
    if (row->start_ms != PYRO_NONE)
        row->duration_ms = pyro_sub_saturating(row->end_ms, row->start_ms);
    integrity->in_progress = facts->in_progress && !builder->ended;
    integrity->truncated = facts->damaged || (!builder->ended && !integrity->in_progress);
    integrity->compacted = facts->compacted;
    integrity->beginning_missing = !builder->started;
    integrity->settings_unknown = !has_settings(app);
    integrity->missing_parts = facts->missing_parts + builder->missing_rollovers;
    const struct pyro_run_end end = {builder->ended, integrity->in_progress, row->exit_code, builder->last_job};
    enum pyro_run_outcome outcome = pyro_run_outcome(&end);
    row->status = intern_text(app, pyro_run_outcome_status(outcome));
    row->outcome = intern_text(app, pyro_run_outcome_name(outcome));
    if (!row->name.ptr)
        row->name = find_property(app, "spark.app.name");
    if (!row->id.ptr)
        row->id = find_property(app, "spark.app.id");
    row->master = find_property(app, "spark.master");
    integrity->tasks_started = builder->event_counts.items[PYRO_EVENT_TASK_START];
    integrity->tasks_ended = builder->event_counts.items[PYRO_EVENT_TASK_END];
}

/* Peaks of a driver that was not added as an executor. */
static bool finish_driver_peak(struct pyro_builder *builder)
{
    static const struct {
        enum pyro_executor_peak peak;
        struct pyro_slice key;
    } kept[] = {
        {PYRO_PEAK_HEAP, PYRO_SLICE_LITERAL("driver.JVMHeapMemory.peak")},
        {PYRO_PEAK_FULL_COLLECTIONS, PYRO_SLICE_LITERAL("driver.MajorGCCount.peak")},
        {PYRO_PEAK_COLLECTION_MS, PYRO_SLICE_LITERAL("driver.TotalGCTime.peak")},
    };
    uint32_t driver = pyro_intern(builder->app->strings, PYRO_SLICE_LITERAL("driver"));
    const uint64_t *row = pyro_map_get(&builder->peak_rows, driver);
    if (!row || pyro_map_get(&builder->executors, driver))
        return true;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        int64_t value = builder->peaks.items[*row - 1].values[kept[i].peak];
        char digits[24];
        if (value <= 0)
            continue;
        snprintf(digits, sizeof(digits), "%lld", (long long)value);
        pyro_build_property(builder, "metrics", kept[i].key, pyro_slice_from(digits));
    }
    return !builder->failed;
}

/* Peaks of executors, in the newest row of each id. */
static void finish_peaks(const struct pyro_builder *builder, struct pyro_app *app)
{
    static const size_t columns[PYRO_PEAK_COUNT] = {
        [PYRO_PEAK_HEAP] = offsetof(struct pyro_executor, heap_peak_bytes),
        [PYRO_PEAK_OFFHEAP] = offsetof(struct pyro_executor, offheap_peak_bytes),
        [PYRO_PEAK_EXECUTION] = offsetof(struct pyro_executor, execution_peak_bytes),
        [PYRO_PEAK_STORAGE] = offsetof(struct pyro_executor, storage_peak_bytes),
        [PYRO_PEAK_RSS] = offsetof(struct pyro_executor, process_rss_peak_bytes),
        [PYRO_PEAK_PYTHON_RSS] = offsetof(struct pyro_executor, python_rss_peak_bytes),
        [PYRO_PEAK_OTHER_RSS] = offsetof(struct pyro_executor, other_rss_peak_bytes),
        [PYRO_PEAK_FULL_COLLECTIONS] = offsetof(struct pyro_executor, full_collections),
        [PYRO_PEAK_COLLECTION_MS] = offsetof(struct pyro_executor, collection_ms),
    };
    for (size_t i = 0; i < builder->peak_rows.slot_count; i++) {
        const struct pyro_map_slot *slot = &builder->peak_rows.slots[i];
        const uint64_t *row = builder->peak_rows.used[i] ? pyro_map_get(&builder->executors, slot->key) : NULL;
        for (int c = 0; row && c < PYRO_PEAK_COUNT; c++) {
            int64_t peak = builder->peaks.items[slot->value - 1].values[c];
            if (peak > 0)
                memcpy((char *)&app->executors.items[*row - 1] + columns[c], &peak, sizeof(peak));
        }
    }
}

#define COMPARE(a, b)                                                                                                  \
    if ((a) != (b))                                                                                                    \
    return (a) < (b) ? -1 : 1

/* Where batches of a log are cut must not show: tasks that come before the events of their stage may add its row. */
static int compare_stages(const void *a, const void *b)
{
    const struct pyro_stage *x = a, *y = b;
    int64_t x_ms = x->submitted_ms == PYRO_NONE ? INT64_MAX : x->submitted_ms;
    int64_t y_ms = y->submitted_ms == PYRO_NONE ? INT64_MAX : y->submitted_ms;
    COMPARE(x_ms, y_ms);
    COMPARE(x->id, y->id);
    COMPARE(x->attempt, y->attempt);
    return 0;
}

static int compare_unfinished(const void *a, const void *b)
{
    COMPARE(((const struct pyro_unfinished_task *)a)->id, ((const struct pyro_unfinished_task *)b)->id);
    return 0;
}

static int compare_failures(const void *a, const void *b)
{
    const struct pyro_failure *x = a, *y = b;
    COMPARE(x->time_ms, y->time_ms);
    const struct pyro_slice texts[][2] = {
        {x->kind, y->kind},
        {x->id, y->id},
        {x->executor, y->executor},
        {x->reason, y->reason},
        {x->class_name, y->class_name},
        {x->message, y->message},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        int order = pyro_slice_compare(texts[i][0], texts[i][1]);
        if (order)
            return order;
    }
    COMPARE(x->stage, y->stage);
    return 0;
}

#undef COMPARE

static void sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < count; i++) {
        if (compare((const char *)rows + (i - 1) * size, (const char *)rows + i * size) > 0) {
            qsort(rows, count, size, compare);
            return;
        }
    }
}

/* Each end follows a start; in a log without any start they were left out. */
static uint64_t starts_missing(const struct pyro_builder *builder)
{
    uint64_t started = builder->seen[PYRO_IDENTITY_TASK_START].count;
    uint64_t ended = builder->seen[PYRO_IDENTITY_TASK_END].count;
    return started > 0 ? ended + builder->started_tasks.count - started : 0;
}

/* An executor loses its block manager when it is removed. Where shuffle files could not be fetched, Spark takes it away
 * too; the executor then registers a new one with its next heartbeat, which comes every 10 s. */
enum { REGISTERED_WITHIN_MS = 30000 };

static uint64_t removals_missing(const struct pyro_builder *builder, struct pyro_app *app)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        struct pyro_executor *executor = &app->executors.items[i];
        const uint64_t *event = pyro_map_get(&builder->block_managers, i);
        executor->blocks_gone_ms = event && *event % 2 == 1 ? (int64_t)(*event / 2) : 0;
        missing += executor->removed_ms == PYRO_NONE && executor->blocks_gone_ms > 0 &&
                   pyro_sub_saturating(builder->latest_ms, executor->blocks_gone_ms) > REGISTERED_WITHIN_MS;
    }
    return missing;
}

static bool finish_unfinished(struct pyro_builder *builder, struct pyro_app *app)
{
    pyro_builder_drop_ended(builder);
    app->unfinished_tasks.count = 0;
    if (!pyro_vec_reserve(&app->unfinished_tasks, builder->started_tasks.count, builder->allocator))
        return false;
    for (size_t i = 0; i < builder->started_tasks.count; i++) {
        struct pyro_unfinished_task *task = &app->unfinished_tasks.items[app->unfinished_tasks.count++];
        *task = builder->started_tasks.items[i].row;
        task->executor = pyro_string_pool_text(app->strings, builder->started_tasks.items[i].executor);
    }
    sort_rows(app->unfinished_tasks.items, app->unfinished_tasks.count, sizeof(*app->unfinished_tasks.items),
              compare_unfinished);
    app->integrity.task_starts_missing = starts_missing(builder);
    app->integrity.executor_events_missing = removals_missing(builder, app);
    return true;
}

static bool finish_into(struct pyro_builder *builder, const struct pyro_log_facts *facts, bool copy,
                        struct pyro_app *app)
{
    if (!pyro_task_table_seal(&app->tasks) || !finish_unfinished(builder, app))
        return false;
    finish_peaks(builder, app);
    finish_application(builder, facts, app);
    name_jobs(builder, app);
    if (!finish_events(builder, app) || !note_expressions(builder, app) || !finish_plans(builder, app, copy))
        return false;
    sort_rows(app->properties.items, app->properties.count, sizeof(*app->properties.items), compare_properties);
    sort_rows(app->stages.items, app->stages.count, sizeof(*app->stages.items), compare_stages);
    sort_rows(app->failures.items, app->failures.count, sizeof(*app->failures.items), compare_failures);
    return !builder->failed && !pyro_intake_failed(&builder->intake);
}

enum pyro_status pyro_builder_finish(struct pyro_builder *builder, const struct pyro_log_facts *facts, bool copy,
                                     struct pyro_app **ret, struct pyro_error *error)
{
    struct pyro_app *app = NULL;
    for (size_t i = 0; i < builder->plans.count; i++)
        pyro_plan_settle(builder, i);
    if (!builder->failed && finish_driver_peak(builder))
        app = copy ? pyro_app_copy(builder->app) : builder->app;
    if (app && !copy)
        builder->app = NULL;
    bool ok = app && finish_into(builder, facts, copy, app);
    builder->failed |= builder->intake.failed;
    if (app && !copy)
        pyro_intake_leave(&builder->intake);
    ok = ok && !builder->failed;
    if (ok && copy) {
        struct pyro_string_pool *strings = pyro_string_pool_snapshot(app->strings);
        ok = strings != NULL;
        if (ok) {
            pyro_string_pool_release(app->strings);
            app->strings = strings;
        }
    }
    if (!ok) {
        pyro_app_release(app);
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to build the application");
    }
    *ret = app;
    return PYRO_OK;
}
