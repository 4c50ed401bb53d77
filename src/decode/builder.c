#include "decode/builder.h"

#include <stdio.h>

#include "base/collections/hash.h"
#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/eventlog/decoders.h"
#include "decode/eventlog/events.h"
#include "decode/eventlog/failure.h"
#include "decode/eventlog/plan.h"

enum { UNKNOWN_NAMES_KEPT = 1000, EXCERPT_BYTES = 120 };

enum { BUILDER_MAPS = 17 };

static struct pyro_map *map_of(struct pyro_builder *builder, int i)
{
    struct pyro_map *const maps[BUILDER_MAPS] = {
        &builder->jobs,          &builder->stages,         &builder->sql,        &builder->rdds,
        &builder->executors,     &builder->properties,     &builder->operations, &builder->cached_memory,
        &builder->cached_disk,   &builder->unknown_events, &builder->peak_rows,  &builder->metric_kind_rows,
        &builder->operators,     &builder->frames,         &builder->metadatas,  &builder->early_rows,
        &builder->block_managers};
    return maps[i];
}

enum pyro_status pyro_builder_init(struct pyro_builder *builder, const struct pyro_allocator *allocator,
                                   uint32_t wanted, enum pyro_redaction redaction, struct pyro_error *error)
{
    *builder = (struct pyro_builder){
        .allocator = allocator,
        .wanted = wanted,
        .earliest_ms = PYRO_NONE,
        .latest_ms = PYRO_NONE,
        .latest_scheduling_ms = PYRO_NONE,
    };
    for (int i = 0; i < BUILDER_MAPS; i++)
        pyro_map_init(map_of(builder, i), allocator);
    pyro_value_map_init(&builder->accumulators, allocator);
    pyro_value_map_init(&builder->driver_updates, allocator);
    for (int i = 0; i < PYRO_IDENTITIES; i++)
        pyro_id_set_init(&builder->seen[i], allocator);
    pyro_strbuf_init(&builder->scratch, allocator);
    builder->app = pyro_app_new(allocator);
    if (builder->app) {
        builder->app->redaction = redaction;
        pyro_intake_init(&builder->intake, builder->app->strings, redaction, allocator);
    }
    if (!builder->app || !pyro_vec_reserve(&builder->event_counts, pyro_event_count, allocator)) {
        pyro_builder_done(builder);
        return pyro_no_memory(error);
    }
    builder->event_counts.count = (size_t)pyro_event_count;
    memset(builder->event_counts.items, 0, builder->event_counts.count * sizeof(*builder->event_counts.items));
    return PYRO_OK;
}

static void free_plans(struct pyro_builder *builder)
{
    for (size_t i = 0; i < builder->plans.count; i++)
        pyro_plan_done(builder, &builder->plans.items[i]);
    pyro_vec_done(&builder->plans, builder->allocator);
}

void pyro_builder_done(struct pyro_builder *builder)
{
    for (int i = 0; i < BUILDER_MAPS; i++)
        pyro_map_done(map_of(builder, i));
    pyro_value_map_done(&builder->accumulators);
    pyro_value_map_done(&builder->driver_updates);
    for (int i = 0; i < PYRO_IDENTITIES; i++)
        pyro_id_set_done(&builder->seen[i]);
    free_plans(builder);
    pyro_vec_done(&builder->stage_states, builder->allocator);
    pyro_vec_done(&builder->started_tasks, builder->allocator);
    pyro_vec_done(&builder->peaks, builder->allocator);
    pyro_vec_done(&builder->early, builder->allocator);
    pyro_vec_done(&builder->metric_kinds, builder->allocator);
    pyro_vec_done(&builder->cached, builder->allocator);
    pyro_vec_done(&builder->event_counts, builder->allocator);
    pyro_strbuf_done(&builder->scratch);
    pyro_intake_done(&builder->intake);
    pyro_app_release(builder->app);
    builder->app = NULL;
}

bool pyro_builder_begin_part(struct pyro_builder *builder, struct pyro_slice path)
{
    builder->part_path = pyro_intern_slice(builder->app->strings, path);
    builder->part_lines = builder->part_offset = 0;
    builder->failed |= path.ptr && !builder->part_path.ptr;
    return !builder->failed;
}

static void reject(struct pyro_builder *builder, struct pyro_slice text, uint64_t offset, uint64_t line,
                   const char *reason)
{
    struct pyro_app *app = builder->app;
    app->integrity.bad_lines++;
    if (app->rejects.count >= PYRO_REJECTS_KEPT)
        return;
    struct pyro_reject *row = pyro_vec_push(&app->rejects, builder->allocator);
    if (!row) {
        builder->failed = true;
        return;
    }
    app->integrity.bad_lines_kept++;
    row->path = builder->part_path;
    row->line = (int64_t)(builder->part_lines + line + 1);
    row->offset = (int64_t)(builder->part_offset + offset);
    row->reason = pyro_intern_slice(app->strings, pyro_slice_from(reason));
    struct pyro_slice kept = pyro_build_cut(text, EXCERPT_BYTES);
    size_t len = pyro_build_scratch(builder, kept).len;
    uint64_t replaced = app->integrity.replaced_characters;
    if (kept.len < text.len) {
        pyro_build_scratch(builder, pyro_build_cut(text, pyro_intake_window(EXCERPT_BYTES)));
        app->integrity.replaced_characters = replaced;
    }
    row->excerpt = pyro_intake_excerpt(&builder->intake, pyro_strbuf_slice(&builder->scratch), len ? len : 1);
    builder->failed |= !row->excerpt.ptr;
}

bool pyro_builder_reject_long(struct pyro_builder *builder, uint64_t len)
{
    reject(builder, PYRO_SLICE_LITERAL(""), 0, 0, PYRO_REASON_LONG);
    builder->part_lines++;
    builder->part_offset += len;
    builder->app->integrity.lines++;
    builder->app->integrity.bytes += len;
    return !builder->failed;
}

/* ---- Events ---- */

static void count_unknown(struct pyro_builder *builder, const struct pyro_record *record)
{
    /* The record is known to begin as usual or to hold an "Event" key: read it again for the name. */
    PYRO_JSON_KEYS(keys, (EVENT, "Event"));
    struct pyro_json_reader json;
    struct pyro_json_object object;
    struct pyro_slice name = PYRO_SLICE_NULL;
    pyro_json_reader_start(&json, record->text.ptr, record->text.ptr + record->text.len, pyro_scan_best());
    if (pyro_json_enter_object(&json, &object)) {
        for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
            if (key == EVENT && pyro_json_peek(&json) == '"')
                pyro_build_text(builder, &json, &name);
            else
                pyro_json_skip(&json);
        }
    }
    if (json.error || !pyro_json_record_end(&json)) {
        reject(builder, record->text, record->offset, record->line, json.error ? json.error : "not an object");
        return;
    }
    uint32_t id = pyro_intern(builder->app->strings, name);
    if (builder->unknown_events.count >= UNKNOWN_NAMES_KEPT && !pyro_map_get(&builder->unknown_events, id)) {
        builder->other_events++;
        return;
    }
    uint64_t *count = pyro_map_put(&builder->unknown_events, id, NULL);
    if (count)
        ++*count;
    else
        builder->failed = true;
}

static void apply_cold(struct pyro_builder *builder, const struct pyro_record *record, const struct pyro_scan *scan)
{
    if (record->event == PYRO_EVENT_UNKNOWN) {
        count_unknown(builder, record);
        return;
    }
    struct pyro_json_reader json;
    builder->starts.line = builder->part_lines + record->line + 1;
    pyro_json_reader_start(&json, record->text.ptr, record->text.ptr + record->text.len, scan);
    if (!pyro_events[record->event].decode(&json, builder)) {
        if (!builder->failed)
            reject(builder, record->text, record->offset, record->line, json.error ? json.error : "not as expected");
        return;
    }
    builder->event_counts.items[record->event]++;
}

/* ---- Tasks ---- */

static size_t task_stage_row(struct pyro_builder *builder, int64_t stage, int64_t attempt)
{
    const struct pyro_app *app = builder->app;
    if (builder->last_stage_row < app->stages.count) {
        const struct pyro_stage *last = &app->stages.items[builder->last_stage_row];
        if (last->id == stage && last->attempt == attempt)
            return builder->last_stage_row;
    }
    struct pyro_stage *row = pyro_build_stage(builder, stage, attempt);
    if (row)
        builder->last_stage_row = (size_t)(row - app->stages.items);
    return builder->last_stage_row;
}

static void apply_task(struct pyro_builder *builder, int64_t *row, struct pyro_slice metrics)
{
    struct pyro_app *app = builder->app;
    bool resubmitted = row[PYRO_TASK_status] == PYRO_TASK_RESUBMITTED;
    pyro_build_identity(builder, resubmitted ? PYRO_IDENTITY_TASK_RESUBMITTED : PYRO_IDENTITY_TASK_END,
                        (uint64_t)row[PYRO_TASK_id]);
    row[PYRO_TASK_stage_row] = (int64_t)task_stage_row(builder, row[PYRO_TASK_stage], row[PYRO_TASK_stage_attempt]);
    pyro_check_task(&builder->doubts, row);
    pyro_build_time(builder, row[PYRO_TASK_launch_ms]);
    pyro_build_time(builder, row[PYRO_TASK_finish_ms]);
    if (builder->failed || !pyro_task_table_append(&app->tasks, row) ||
        !pyro_task_table_add_metrics(&app->tasks, metrics))
        builder->failed = true;
}

static void apply_tasks(struct pyro_builder *builder, const struct pyro_batch *batch, const uint32_t *text_ids)
{
    static const enum pyro_task_column text_columns[] = {PYRO_TASK_executor, PYRO_TASK_host, PYRO_TASK_locality,
                                                         PYRO_TASK_reason};
    uint32_t resubmitted = pyro_intern(builder->app->strings, PYRO_SLICE_LITERAL("Resubmitted"));
    size_t count = batch->rows.count / PYRO_TASK_COLUMN_COUNT;
    for (size_t i = 0; i < count && !builder->failed; i++) {
        int64_t row[PYRO_TASK_COLUMN_COUNT];
        memcpy(row, batch->rows.items + i * PYRO_TASK_COLUMN_COUNT, sizeof(row));
        for (size_t c = 0; c < sizeof(text_columns) / sizeof(*text_columns); c++) {
            int64_t *text = &row[text_columns[c]];
            *text = *text == PYRO_NONE ? PYRO_NONE : (int64_t)text_ids[*text];
        }
        if (row[PYRO_TASK_reason] == (int64_t)resubmitted)
            row[PYRO_TASK_status] = PYRO_TASK_RESUBMITTED;
        size_t begin = i > 0 && i < batch->metric_ends.count ? batch->metric_ends.items[i - 1] : 0;
        size_t end = i < batch->metric_ends.count ? batch->metric_ends.items[i] : begin;
        struct pyro_slice metrics = {end > begin ? batch->metrics.data + begin : "", end - begin};
        apply_task(builder, row, metrics);
    }
    builder->event_counts.items[PYRO_EVENT_TASK_END] += count;
}

void pyro_builder_drop_ended(struct pyro_builder *builder)
{
    struct pyro_started_task *tasks = builder->started_tasks.items;
    size_t left = 0;
    for (size_t i = 0; i < builder->started_tasks.count; i++)
        if (!pyro_id_set_has(&builder->seen[PYRO_IDENTITY_TASK_END], tasks[i].row.id))
            tasks[left++] = tasks[i];
    builder->started_tasks.count = builder->started_tasks_left = left;
}

/* Ends of a batch are applied before its starts. */
static void keep_start(struct pyro_builder *builder, const int64_t *row, const uint32_t *text_ids)
{
    enum { LOOKED_AT = 4096 };
    if (pyro_id_set_has(&builder->seen[PYRO_IDENTITY_TASK_END], row[PYRO_TASK_id]))
        return;
    if (builder->started_tasks.count >= 2 * builder->started_tasks_left + LOOKED_AT)
        pyro_builder_drop_ended(builder);
    struct pyro_started_task *started = pyro_vec_push(&builder->started_tasks, builder->allocator);
    if (!started) {
        builder->failed = true;
        return;
    }
    started->executor = row[PYRO_TASK_executor] == PYRO_NONE ? UINT32_MAX : text_ids[row[PYRO_TASK_executor]];
    struct pyro_unfinished_task *task = &started->row;
    pyro_row_init(PYRO_TABLE_unfinished_tasks, task);
    task->id = row[PYRO_TASK_id];
    task->stage = row[PYRO_TASK_stage];
    task->stage_attempt = row[PYRO_TASK_stage_attempt];
    task->index = row[PYRO_TASK_index];
    task->attempt = row[PYRO_TASK_attempt];
    task->speculative = row[PYRO_TASK_speculative];
    task->launch_ms = row[PYRO_TASK_launch_ms] > 0 ? row[PYRO_TASK_launch_ms] : PYRO_NONE;
    task->stage_row = task->executor_row = -1;
}

static void apply_starts(struct pyro_builder *builder, const struct pyro_batch *batch, const uint32_t *text_ids)
{
    const int64_t *row = batch->starts.items;
    size_t count = batch->starts.count / PYRO_TASK_START_COLUMNS;
    for (size_t i = 0; i < count; i++, row += PYRO_TASK_START_COLUMNS) {
        if (!pyro_build_identity(builder, PYRO_IDENTITY_TASK_START, (uint64_t)row[PYRO_TASK_id]))
            keep_start(builder, row, text_ids);
        pyro_build_time(builder, row[PYRO_TASK_launch_ms]);
    }
    builder->event_counts.items[PYRO_EVENT_TASK_START] += count;
}

/* Interns the batch's texts; the result lives in the scratch buffer until that is used again. */
static uint32_t *apply_texts(struct pyro_builder *builder, const struct pyro_batch *batch)
{
    uint32_t *ids = pyro_allocate(builder->allocator, (batch->texts.count + 1) * sizeof(*ids));
    if (!ids)
        return NULL;
    for (size_t i = 0; i < batch->texts.count; i++) {
        const struct pyro_batch_text *text = &batch->texts.items[i];
        struct pyro_slice decoded = pyro_build_decode(builder, text->raw);
        ids[i] = pyro_intern(builder->app->strings, decoded);
        pyro_build_executor_peaks(builder, decoded, text->peaks);
        builder->failed |= !decoded.ptr || ids[i] == UINT32_MAX;
    }
    return ids;
}

bool pyro_builder_apply(struct pyro_builder *builder, const struct pyro_batch *batch)
{
    struct pyro_integrity *integrity = &builder->app->integrity;
    const struct pyro_record *records = batch->records.items;
    for (size_t i = 0; i < batch->records.count && !builder->failed; i++) {
        if (records[i].kind == PYRO_RECORD_COLD)
            apply_cold(builder, &records[i], batch->scan);
        else if (records[i].kind == PYRO_RECORD_REJECT)
            reject(builder, records[i].text, records[i].offset, records[i].line, records[i].reason);
    }
    uint32_t *text_ids = builder->failed ? NULL : apply_texts(builder, batch);
    if (!text_ids)
        return !(builder->failed = true);
    apply_tasks(builder, batch, text_ids);
    apply_starts(builder, batch, text_ids);
    for (size_t i = 0; i < batch->records.count && !builder->failed; i++)
        if (records[i].kind == PYRO_RECORD_TASK_END_REASON)
            pyro_decode_task_failure(builder, &records[i], batch->rows.items + records[i].row * PYRO_TASK_COLUMN_COUNT,
                                     text_ids, batch->scan);
    for (size_t i = 0; i < batch->counts.count; i++)
        builder->event_counts.items[i] += batch->counts.items[i];
    pyro_release(builder->allocator, text_ids);
    integrity->lines += batch->lines;
    integrity->bytes += batch->bytes;
    builder->part_lines += batch->lines;
    builder->part_offset += batch->bytes;
    return !builder->failed;
}

uint64_t pyro_builder_known_events(const struct pyro_builder *builder)
{
    uint64_t known = 0;
    for (size_t i = 0; i < builder->event_counts.count; i++)
        known += builder->event_counts.items[i];
    return known;
}

enum pyro_status pyro_builder_require_application(const struct pyro_builder *builder, const char *path,
                                                  struct pyro_error *error)
{
    const struct pyro_app *app = builder->app;
    if (builder->started || app->jobs.count + app->stages.count + app->tasks.count + app->sql.count > 0 ||
        builder->started_tasks.count > 0)
        return PYRO_OK;
    pyro_error_describe(
        error, PYRO_ERROR_INPUT,
        "this is not the log of a run: it has no SparkListenerApplicationStart, and no job, stage, task "
        "or SQL execution");
    pyro_error_at(error, path, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}
