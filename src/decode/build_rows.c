/* Rows of the model, found or added while it is built. */
#include "base/collections/hash.h"
#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/session_settings.h"

struct pyro_slice pyro_build_scratch(struct pyro_builder *builder, struct pyro_slice raw)
{
    pyro_strbuf_clear(&builder->scratch);
    pyro_text_decode(&builder->scratch, raw, &builder->app->integrity.replaced_characters);
    builder->failed |= builder->scratch.failed;
    return builder->failed ? PYRO_SLICE_NULL : pyro_strbuf_slice(&builder->scratch);
}

struct pyro_slice pyro_build_decode(struct pyro_builder *builder, struct pyro_slice raw)
{
    if (!raw.ptr)
        return raw;
    struct pyro_slice text = pyro_intern_slice(builder->app->strings, pyro_build_scratch(builder, raw));
    builder->failed |= !text.ptr;
    return text;
}

bool pyro_build_text(struct pyro_builder *builder, struct pyro_json_reader *json, struct pyro_slice *text)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    bool plain = false;
    if (!pyro_json_take_string(json, &raw, &plain))
        return false;
    if (!raw.ptr)
        return true;
    *text = plain ? pyro_intern_slice(builder->app->strings, raw) : pyro_build_decode(builder, raw);
    builder->failed |= !text->ptr;
    return !builder->failed;
}

bool pyro_build_plan_text(struct pyro_builder *builder, struct pyro_json_reader *json, struct pyro_slice *text)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    bool plain = false;
    if (!pyro_json_take_string(json, &raw, &plain))
        return false;
    if (!raw.ptr)
        return true;
    *text = pyro_intake_prefix(&builder->intake, plain ? raw : pyro_build_scratch(builder, raw), 0, true);
    builder->failed |= !text->ptr;
    return !builder->failed;
}

static void renew(void *renewal, struct pyro_slice *text)
{
    *text = pyro_renewed(renewal, *text);
}

static void forget(struct pyro_map *map)
{
    const struct pyro_allocator *allocator = map->allocator;
    pyro_map_done(map);
    pyro_map_init(map, allocator);
}

bool pyro_build_look_again(struct pyro_builder *builder)
{
    struct pyro_app *app = builder->app;
    struct pyro_renewal *renewal = NULL;
    forget(&builder->frames);
    forget(&builder->metadatas);
    builder->failed |= !pyro_intake_look_again(&builder->intake, &renewal);
    if (renewal) {
        pyro_app_each_text(app, renew, renewal);
        renew(renewal, &builder->part_path);
        pyro_renewal_done(renewal);
    }
    for (size_t i = 0; i < app->properties.count; i++) {
        struct pyro_property *property = &app->properties.items[i];
        if (pyro_intake_forbids(&builder->intake, property->key, property->value, true))
            property->value = pyro_intern_slice(app->strings, PYRO_SLICE_LITERAL(PYRO_REDACTED));
    }
    pyro_build_settings_again(builder);
    return !builder->failed;
}

struct pyro_slice pyro_build_number(struct pyro_builder *builder, int64_t number)
{
    pyro_strbuf_clear(&builder->scratch);
    pyro_strbuf_add_int(&builder->scratch, number);
    return pyro_intern_slice(builder->app->strings, pyro_strbuf_slice(&builder->scratch));
}

void pyro_build_time(struct pyro_builder *builder, int64_t time_ms)
{
    if (time_ms <= 0)
        return;
    if (builder->earliest_ms == PYRO_NONE || time_ms < builder->earliest_ms)
        builder->earliest_ms = time_ms;
    if (time_ms > builder->latest_ms)
        builder->latest_ms = time_ms;
}

void pyro_build_scheduling_time(struct pyro_builder *builder, int64_t time_ms)
{
    pyro_build_time(builder, time_ms);
    if (time_ms > 0 && time_ms > builder->latest_scheduling_ms)
        builder->latest_scheduling_ms = time_ms;
}

bool pyro_build_identity(struct pyro_builder *builder, enum pyro_identity kind, uint64_t identity)
{
    int added = pyro_id_set_add(&builder->seen[kind], (int64_t)identity);
    builder->failed |= added < 0;
    builder->app->integrity.repeated_events += added == 0;
    return added == 0;
}

/* Enters the newest of `count` rows in `map` and makes its columns unknown. `row` NULL: no memory. */
static void *enter_row(struct pyro_builder *builder, void *row, size_t count, struct pyro_map *map, uint64_t key,
                       enum pyro_table_id table)
{
    uint64_t *place = row ? pyro_map_put(map, key, NULL) : NULL;
    if (!place || count >= UINT32_MAX) {
        builder->failed = true;
        return NULL;
    }
    *place = count;
    pyro_row_init(table, row);
    return row;
}

static uint64_t stage_key(int64_t id, int64_t attempt)
{
    return pyro_hash_mix((uint64_t)id) ^ (uint64_t)attempt;
}

ptrdiff_t pyro_build_find_stage(const struct pyro_builder *builder, const struct pyro_app *app, int64_t id,
                                int64_t attempt)
{
    const uint64_t *newest = pyro_map_get(&builder->stages, stage_key(id, attempt));
    for (uint32_t row = newest ? (uint32_t)*newest : 0; row; row = builder->stage_states.items[row - 1].older)
        if (app->stages.items[row - 1].id == id && app->stages.items[row - 1].attempt == attempt)
            return (ptrdiff_t)row - 1;
    return -1;
}

struct pyro_stage *pyro_build_stage(struct pyro_builder *builder, int64_t id, int64_t attempt)
{
    struct pyro_app *app = builder->app;
    ptrdiff_t known = pyro_build_find_stage(builder, app, id, attempt);
    if (known >= 0)
        return &app->stages.items[known];
    uint64_t key = stage_key(id, attempt);
    const uint64_t *newest = pyro_map_get(&builder->stages, key);
    struct pyro_stage_state *state = pyro_vec_push(&builder->stage_states, builder->allocator);
    if (!state) {
        builder->failed = true;
        return NULL;
    }
    state->older = newest ? (uint32_t)*newest : 0;
    struct pyro_stage *stage = pyro_vec_push(&builder->app->stages, builder->allocator);
    stage = enter_row(builder, stage, builder->app->stages.count, &builder->stages, key, PYRO_TABLE_stages);
    if (stage) {
        stage->id = id;
        stage->attempt = attempt;
        stage->unsubmitted = true;
    }
    return stage;
}

bool pyro_build_stage_event(struct pyro_builder *builder, const struct pyro_stage *stage, bool completion)
{
    struct pyro_stage_state *state = &builder->stage_states.items[stage - builder->app->stages.items];
    bool *seen = completion ? &state->completed : &state->submitted, repeated = *seen;
    *seen = true;
    builder->app->integrity.repeated_events += repeated;
    return repeated;
}

struct pyro_job *pyro_build_job(struct pyro_builder *builder, int64_t id)
{
    const uint64_t *row = pyro_map_get(&builder->jobs, (uint64_t)id);
    if (row)
        return &builder->app->jobs.items[*row - 1];
    struct pyro_job *job = pyro_vec_push(&builder->app->jobs, builder->allocator);
    job = enter_row(builder, job, builder->app->jobs.count, &builder->jobs, (uint64_t)id, PYRO_TABLE_jobs);
    if (job) {
        job->id = id;
        job->unstarted = true;
    }
    return job;
}

struct pyro_sql_execution *pyro_build_sql(struct pyro_builder *builder, int64_t id)
{
    const uint64_t *row = pyro_map_get(&builder->sql, (uint64_t)id);
    if (row)
        return &builder->app->sql.items[*row - 1];
    if (!pyro_vec_push(&builder->plans, builder->allocator)) {
        builder->failed = true;
        return NULL;
    }
    struct pyro_sql_execution *sql = pyro_vec_push(&builder->app->sql, builder->allocator);
    sql = enter_row(builder, sql, builder->app->sql.count, &builder->sql, (uint64_t)id, PYRO_TABLE_sql);
    if (sql) {
        sql->id = id;
        sql->plan_updates = 0;
        sql->unstarted = true;
    }
    return sql;
}

struct pyro_rdd *pyro_build_rdd(struct pyro_builder *builder, int64_t id)
{
    const uint64_t *row = pyro_map_get(&builder->rdds, (uint64_t)id);
    if (row)
        return &builder->app->rdds.items[*row - 1];
    struct pyro_rdd *rdd = pyro_vec_push(&builder->app->rdds, builder->allocator);
    rdd = enter_row(builder, rdd, builder->app->rdds.count, &builder->rdds, (uint64_t)id, PYRO_TABLE_rdds);
    if (rdd) {
        rdd->id = id;
        rdd->cached = rdd->stages = rdd->unpersisted = rdd->dropped_blocks = 0;
    }
    return rdd;
}

struct pyro_executor *pyro_build_executor(struct pyro_builder *builder, struct pyro_slice id)
{
    uint32_t text = pyro_intern(builder->app->strings, id);
    const uint64_t *row = pyro_map_get(&builder->executors, text);
    return row ? &builder->app->executors.items[*row - 1] : NULL;
}

struct pyro_executor *pyro_build_add_executor(struct pyro_builder *builder, struct pyro_slice id)
{
    uint32_t text = pyro_intern(builder->app->strings, id);
    struct pyro_executor *executor = pyro_vec_push(&builder->app->executors, builder->allocator);
    executor =
        enter_row(builder, executor, builder->app->executors.count, &builder->executors, text, PYRO_TABLE_executors);
    if (executor)
        executor->id = pyro_string_pool_text(builder->app->strings, text);
    return executor;
}

struct pyro_early_executor *pyro_build_early_executor(struct pyro_builder *builder, struct pyro_slice id)
{
    uint64_t *row = pyro_map_put(&builder->early_rows, pyro_intern(builder->app->strings, id), NULL);
    if (row && *row == 0 && pyro_vec_push(&builder->early, builder->allocator)) {
        *row = builder->early.count;
        builder->early.items[*row - 1] = (struct pyro_early_executor){PYRO_NONE, PYRO_NONE, PYRO_SLICE_NULL};
    }
    if (row && *row > 0)
        return &builder->early.items[*row - 1];
    builder->failed = true;
    return NULL;
}

void pyro_build_take_early(struct pyro_builder *builder, struct pyro_executor *executor)
{
    const uint64_t *row = pyro_map_get(&builder->early_rows, pyro_intern(builder->app->strings, executor->id));
    if (!row || *row == 0)
        return;
    struct pyro_early_executor *early = &builder->early.items[*row - 1];
    if (early->removed_ms != PYRO_NONE && early->removed_ms >= executor->added_ms) {
        executor->removed_ms = early->removed_ms;
        executor->remove_reason = early->remove_reason;
    }
    executor->storage_memory_bytes = early->storage_memory_bytes;
    *early = (struct pyro_early_executor){PYRO_NONE, PYRO_NONE, PYRO_SLICE_NULL};
}

void pyro_build_executor_peaks(struct pyro_builder *builder, struct pyro_slice executor, const int64_t *peaks)
{
    int64_t any = 0;
    for (int i = 0; i < PYRO_PEAK_COUNT; i++)
        any |= peaks[i];
    if (!any)
        return;
    uint64_t *row = pyro_map_put(&builder->peak_rows, pyro_intern(builder->app->strings, executor), NULL);
    if (row && *row == 0 && pyro_vec_push(&builder->peaks, builder->allocator))
        *row = builder->peaks.count;
    if (!row || *row == 0) {
        builder->failed = true;
        return;
    }
    int64_t *kept = builder->peaks.items[*row - 1].values;
    for (int i = 0; i < PYRO_PEAK_COUNT; i++)
        if (peaks[i] > kept[i])
            kept[i] = peaks[i];
}

struct pyro_failure *pyro_build_failure(struct pyro_builder *builder, const char *kind)
{
    struct pyro_failure *failure = pyro_vec_push(&builder->app->failures, builder->allocator);
    if (!failure) {
        builder->failed = true;
        return NULL;
    }
    pyro_row_init(PYRO_TABLE_failures, failure);
    failure->kind = pyro_intern_slice(builder->app->strings, pyro_slice_from(kind));
    return failure;
}

void pyro_build_property(struct pyro_builder *builder, const char *kind, struct pyro_slice key, struct pyro_slice value)
{
    struct pyro_string_pool *strings = builder->app->strings;
    uint64_t id = (uint64_t)pyro_intern(strings, pyro_slice_from(kind)) << 32 | pyro_intern(strings, key);
    bool added;
    uint64_t *row = pyro_map_put(&builder->properties, id, &added);
    if (row && added) {
        if (!pyro_vec_push(&builder->app->properties, builder->allocator))
            row = NULL;
        else
            *row = builder->app->properties.count;
    }
    if (!row) {
        builder->failed = true;
        return;
    }
    builder->app->properties.items[*row - 1] = (struct pyro_property){
        .kind = pyro_intern_slice(strings, pyro_slice_from(kind)),
        .key = pyro_intern_slice(strings, key),
        .value = pyro_intern_slice(strings, value),
    };
}

/* Frames of Spark, Scala, Java and py4j are not the user's. */
static bool is_user_frame(struct pyro_slice frame)
{
    static const char *const others[] = {
        "org.apache.spark.",      "scala.", "java.", "java.base/", "jdk.", "sun.", "py4j.", "org.apache.livy.",
        "com.databricks.backend."};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (pyro_slice_starts_with(frame, others[i]))
            return false;
    return frame.len > 0;
}

/* Number of its text; UINT32_MAX: there is none, or no memory. */
static uint32_t find_user_frame(struct pyro_builder *builder, struct pyro_slice details)
{
    pyro_strbuf_clear(&builder->scratch);
    pyro_text_decode(&builder->scratch, details, NULL);
    builder->failed |= builder->scratch.failed;
    struct pyro_slice rest = builder->failed ? PYRO_SLICE_NULL : pyro_strbuf_slice(&builder->scratch);
    /* A line alone may be the middle of a secret. */
    rest = pyro_intake_clean(&builder->intake, rest);
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        struct pyro_slice frame = {rest.ptr, newline ? (size_t)(newline - rest.ptr) : rest.len};
        if (is_user_frame(frame))
            return pyro_intern(builder->app->strings, frame);
        size_t used = frame.len + (newline ? 1 : 0);
        rest = (struct pyro_slice){rest.ptr + used, rest.len - used};
    }
    return UINT32_MAX;
}

struct pyro_slice pyro_build_call_site(struct pyro_builder *builder, struct pyro_slice details,
                                       struct pyro_slice fallback)
{
    enum { NONE = 1, FIRST };
    if (!details.ptr)
        return fallback;
    uint64_t *known = pyro_map_put(&builder->frames, pyro_hash_slice(details), NULL);
    if (!known) {
        builder->failed = true;
        return fallback;
    }
    if (*known == 0) {
        uint32_t frame = find_user_frame(builder, details);
        *known = frame == UINT32_MAX ? NONE : (uint64_t)frame + FIRST;
    }
    return *known == NONE ? fallback : pyro_string_pool_text(builder->app->strings, (uint32_t)(*known - FIRST));
}
