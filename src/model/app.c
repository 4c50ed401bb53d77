#include "model/app.h"
#include "model/tracks/columns.h"

#include "base/strings/intern.h"

const char *const pyro_wall_part_names[PYRO_WALL_PARTS] = {
    "resource_wait",      "driver",        "scheduling",       "scheduler_delay", "deserialize", "compute", "gc",
    "shuffle_fetch_wait", "shuffle_write", "result_serialize", "getting_result",
};
const char *const pyro_core_part_names[PYRO_CORE_PARTS] = {
    "scheduler_delay",  "deserialize",    "compute",      "gc",           "shuffle_fetch_wait", "shuffle_write",
    "result_serialize", "getting_result", "failed_tasks", "idle_no_work", "idle_driver",        "idle_wait",
};

struct pyro_slice pyro_app_text(const struct pyro_app *app, int64_t id)
{
    if (id < 0 || id >= (int64_t)pyro_string_pool_count(app->strings))
        return PYRO_SLICE_NULL;
    return pyro_string_pool_text(app->strings, (uint32_t)id);
}

bool pyro_app_note(struct pyro_app *app, struct pyro_slice text)
{
    struct pyro_integrity *integrity = &app->integrity;
    if (integrity->notes.count >= PYRO_NOTES_KEPT)
        return true;
    struct pyro_slice note = pyro_intern_slice(app->strings, text);
    struct pyro_slice *kept = note.ptr ? pyro_vec_push(&integrity->notes, app->allocator) : NULL;
    if (kept)
        *kept = note;
    return kept != NULL;
}

/* First row and number of rows of a table that has row structs. */
static const void *table_rows(const struct pyro_app *app, enum pyro_table_id table, size_t *count)
{
#define CASE(name, vec)                                                                                                \
    case PYRO_TABLE_##name:                                                                                            \
        *count = app->vec.count;                                                                                       \
        return app->vec.items
    switch (table) {
    case PYRO_TABLE_applications:
        *count = 1;
        return &app->application;
        CASE(jobs, jobs);
        CASE(stages, stages);
        CASE(unfinished_tasks, unfinished_tasks);
        CASE(executors, executors);
        CASE(sql, sql);
        CASE(sql_nodes, sql_nodes);
        CASE(sql_metrics, sql_metrics);
        CASE(rdds, rdds);
        CASE(exclusions, exclusions);
        CASE(operations, operations);
        CASE(processes, processes);
        CASE(streams, streams);
        CASE(failures, failures);
        CASE(properties, properties);
        CASE(rejects, rejects);
        CASE(attributes, attributes);
    case PYRO_TABLE_tasks:
        *count = app->tasks.count;
        return NULL;
    default: /* of tracks */
        break;
    }
#undef CASE
    *count = 0;
    return NULL;
}

size_t pyro_app_row_count(const struct pyro_app *app, enum pyro_table_id table)
{
    size_t count;
    if (pyro_tracks_has(table))
        return pyro_tracks_rows(app->tracks, table);
    table_rows(app, table, &count);
    return count;
}

static struct pyro_slice status_name(int64_t status)
{
    switch (status) {
    case PYRO_TASK_SUCCESS:
        return PYRO_SLICE_LITERAL("success");
    case PYRO_TASK_FAILED:
        return PYRO_SLICE_LITERAL("failed");
    case PYRO_TASK_KILLED:
        return PYRO_SLICE_LITERAL("killed");
    case PYRO_TASK_RESUBMITTED:
        return PYRO_SLICE_LITERAL("resubmitted");
    default:
        return PYRO_SLICE_NULL;
    }
}

static struct pyro_value task_value(const struct pyro_app *app, size_t row, const struct pyro_column *column)
{
    int64_t number = pyro_task_get(&app->tasks, (enum pyro_task_column)column->offset, row);
    struct pyro_value value = {.type = column->type};
    if (column->type == PYRO_TYPE_INT)
        value.integer = number;
    else
        value.text = column->offset == PYRO_TASK_status ? status_name(number) : pyro_app_text(app, number);
    return value;
}

struct pyro_value pyro_app_value(const struct pyro_app *app, enum pyro_table_id table, size_t row, size_t column)
{
    const struct pyro_table_schema *schema = &pyro_table_schemas[table];
    const struct pyro_column *description = &schema->columns[column];
    if (table == PYRO_TABLE_tasks)
        return task_value(app, row, description);
    if (pyro_tracks_has(table))
        return pyro_tracks_value(app->tracks, app->application.start_ms, table, row, description);
    size_t count;
    const char *field = (const char *)table_rows(app, table, &count) + row * schema->row_size + description->offset;
    struct pyro_value value = {.type = description->type};
    if (value.type == PYRO_TYPE_INT)
        memcpy(&value.integer, field, sizeof(value.integer));
    else if (value.type == PYRO_TYPE_REAL)
        memcpy(&value.real, field, sizeof(value.real));
    else
        memcpy(&value.text, field, sizeof(value.text));
    return value;
}

void pyro_app_each_text(struct pyro_app *app, pyro_text_visit *visit, void *context)
{
    struct pyro_slice *const single[] = {&app->path, &app->codec, &app->integrity.source_url};
    for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
        visit(context, single[i]);
    for (int table = 0; table < PYRO_TABLE_COUNT; table++) {
        const struct pyro_table_schema *schema = &pyro_table_schemas[table];
        if (schema->row_size == 0)
            continue; /* tasks: their texts are numbers in the pool; tracks have a pool of their own */
        size_t count = 0;
        char *rows =
            pyro_unconst(table_rows(app, (enum pyro_table_id)table, &count)); /* the caller's application changes */
        for (size_t c = 0; c < schema->column_count; c++)
            for (size_t i = 0; schema->columns[c].type == PYRO_TYPE_TEXT && i < count; i++)
                visit(context, (struct pyro_slice *)(void *)(rows + i * schema->row_size + schema->columns[c].offset));
    }
    for (size_t i = 0; i < app->earlier_nodes.count; i++) {
        visit(context, &app->earlier_nodes.items[i].name);
        visit(context, &app->earlier_nodes.items[i].detail);
    }
    for (size_t i = 0; i < app->integrity.events.count; i++)
        visit(context, &app->integrity.events.items[i].name);
    for (size_t i = 0; i < app->integrity.notes.count; i++)
        visit(context, &app->integrity.notes.items[i]);
}
