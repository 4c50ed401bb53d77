#include "model/column.h"

#include <math.h>

#include "model/app.h"
#include "model/tracks/columns.h"

/* One array of columns a table; ROW is the struct whose fields they are. */
#define PYRO_COLUMN(name, type, unit, doc) {#name, PYRO_TYPE_##type, unit, doc, offsetof(ROW, name)},
#define ROW                                struct pyro_application_row
static const struct pyro_column applications_columns[] = {
#include "model/tables/applications.def"
};
#undef ROW
#define ROW struct pyro_job
static const struct pyro_column jobs_columns[] = {
#include "model/tables/jobs.def"
};
#undef ROW
#define ROW struct pyro_stage
static const struct pyro_column stages_columns[] = {
#include "model/tables/stages.def"
};
#undef ROW
#define ROW struct pyro_unfinished_task
static const struct pyro_column unfinished_tasks_columns[] = {
#include "model/tables/unfinished_tasks.def"
};
#undef ROW
#define ROW struct pyro_executor
static const struct pyro_column executors_columns[] = {
#include "model/tables/executors.def"
};
#undef ROW
#define ROW struct pyro_sql_execution
static const struct pyro_column sql_columns[] = {
#include "model/tables/sql.def"
};
#undef ROW
#define ROW struct pyro_sql_node
static const struct pyro_column sql_nodes_columns[] = {
#include "model/tables/sql_nodes.def"
};
#undef ROW
#define ROW struct pyro_sql_metric
static const struct pyro_column sql_metrics_columns[] = {
#include "model/tables/sql_metrics.def"
};
#undef ROW
#define ROW struct pyro_rdd
static const struct pyro_column rdds_columns[] = {
#include "model/tables/rdds.def"
};
#undef ROW
#define ROW struct pyro_exclusion
static const struct pyro_column exclusions_columns[] = {
#include "model/tables/exclusions.def"
};
#undef ROW
#define ROW struct pyro_operation
static const struct pyro_column operations_columns[] = {
#include "model/tables/operations.def"
};
#undef ROW
#define ROW struct pyro_process
static const struct pyro_column processes_columns[] = {
#include "model/tables/processes.def"
};
#undef ROW
#define ROW struct pyro_stream_batch
static const struct pyro_column streams_columns[] = {
#include "model/tables/streams.def"
};
#undef ROW
#define ROW struct pyro_failure
static const struct pyro_column failures_columns[] = {
#include "model/tables/failures.def"
};
#undef ROW
#define ROW struct pyro_property
static const struct pyro_column properties_columns[] = {
#include "model/tables/properties.def"
};
#undef ROW
#define ROW struct pyro_reject
static const struct pyro_column rejects_columns[] = {
#include "model/tables/rejects.def"
};
#undef ROW
#define ROW struct pyro_attribute
static const struct pyro_column attributes_columns[] = {
#include "model/tables/attributes.def"
};
#undef ROW
#define ROW struct pyro_artefacts_columns
static const struct pyro_column artefacts_columns[] = {
#include "model/tables/artefacts.def"
};
#undef ROW
#define ROW struct pyro_clocks_columns
static const struct pyro_column clocks_columns[] = {
#include "model/tables/clocks.def"
};
#undef ROW
#define ROW struct pyro_threads_columns
static const struct pyro_column threads_columns[] = {
#include "model/tables/threads.def"
};
#undef ROW
#define ROW struct pyro_owners_columns
static const struct pyro_column owners_columns[] = {
#include "model/tables/owners.def"
};
#undef ROW
#define ROW struct pyro_spans_columns
static const struct pyro_column spans_columns[] = {
#include "model/tables/spans.def"
};
#undef ROW
#define ROW struct pyro_series_columns
static const struct pyro_column series_columns[] = {
#include "model/tables/series.def"
};
#undef ROW
#define ROW struct pyro_points_columns
static const struct pyro_column points_columns[] = {
#include "model/tables/points.def"
};
#undef ROW
#define ROW struct pyro_frames_columns
static const struct pyro_column frames_columns[] = {
#include "model/tables/frames.def"
};
#undef ROW
#define ROW struct pyro_stacks_columns
static const struct pyro_column stacks_columns[] = {
#include "model/tables/stacks.def"
};
#undef ROW
#define ROW struct pyro_samples_columns
static const struct pyro_column samples_columns[] = {
#include "model/tables/samples.def"
};
#undef ROW
#define ROW struct pyro_templates_columns
static const struct pyro_column templates_columns[] = {
#include "model/tables/templates.def"
};
#undef ROW
#define ROW struct pyro_messages_columns
static const struct pyro_column messages_columns[] = {
#include "model/tables/messages.def"
};
#undef ROW
#define ROW struct pyro_functions_columns
static const struct pyro_column functions_columns[] = {
#include "model/tables/functions.def"
};
#undef ROW
#define ROW struct pyro_task_states_columns
static const struct pyro_column task_states_columns[] = {
#include "model/tables/task_states.def"
};
#undef ROW
#define ROW struct pyro_task_waits_columns
static const struct pyro_column task_waits_columns[] = {
#include "model/tables/task_waits.def"
};
#undef ROW
#define ROW struct pyro_thread_times_columns
static const struct pyro_column thread_times_columns[] = {
#include "model/tables/thread_times.def"
};
#undef ROW
#define ROW struct pyro_trace_events_columns
static const struct pyro_column trace_events_columns[] = {
#include "model/tables/trace_events.def"
};
#undef ROW
#define ROW struct pyro_trace_calls_columns
static const struct pyro_column trace_calls_columns[] = {
#include "model/tables/trace_calls.def"
};
#undef ROW
#define ROW struct pyro_trace_losses_columns
static const struct pyro_column trace_losses_columns[] = {
#include "model/tables/trace_losses.def"
};
#undef ROW
#undef PYRO_COLUMN

#define PYRO_COLUMN(name, type, unit, doc) {#name, PYRO_TYPE_##type, unit, doc, PYRO_TASK_##name},
static const struct pyro_column tasks_columns[] = {
#include "model/tables/tasks.def"
};
#undef PYRO_COLUMN

/* Row sizes by table; tasks and the tables of tracks keep no row structs. */
enum {
    ROW_SIZE_applications = sizeof(struct pyro_application_row),
    ROW_SIZE_jobs = sizeof(struct pyro_job),
    ROW_SIZE_stages = sizeof(struct pyro_stage),
    ROW_SIZE_unfinished_tasks = sizeof(struct pyro_unfinished_task),
    ROW_SIZE_executors = sizeof(struct pyro_executor),
    ROW_SIZE_sql = sizeof(struct pyro_sql_execution),
    ROW_SIZE_sql_nodes = sizeof(struct pyro_sql_node),
    ROW_SIZE_sql_metrics = sizeof(struct pyro_sql_metric),
    ROW_SIZE_rdds = sizeof(struct pyro_rdd),
    ROW_SIZE_exclusions = sizeof(struct pyro_exclusion),
    ROW_SIZE_operations = sizeof(struct pyro_operation),
    ROW_SIZE_processes = sizeof(struct pyro_process),
    ROW_SIZE_streams = sizeof(struct pyro_stream_batch),
    ROW_SIZE_failures = sizeof(struct pyro_failure),
    ROW_SIZE_properties = sizeof(struct pyro_property),
    ROW_SIZE_rejects = sizeof(struct pyro_reject),
    ROW_SIZE_attributes = sizeof(struct pyro_attribute),
    ROW_SIZE_tasks = 0,
#define ROW_SIZE(name) ROW_SIZE_##name = 0,
    PYRO_TRACKS_TABLES(ROW_SIZE)
#undef ROW_SIZE
};

const struct pyro_table_schema pyro_table_schemas[PYRO_TABLE_COUNT] = {
#define PYRO_TABLE(name, doc)                                                                                          \
    {#name, doc, name##_columns, sizeof(name##_columns) / sizeof(name##_columns[0]), ROW_SIZE_##name},
#include "model/tables/tables.def"
#undef PYRO_TABLE
};

void pyro_row_init(enum pyro_table_id table, void *row)
{
    const struct pyro_table_schema *schema = &pyro_table_schemas[table];
    if (schema->row_size == 0)
        return;
    memset(row, 0, schema->row_size);
    for (size_t i = 0; i < schema->column_count; i++) {
        char *field = (char *)row + schema->columns[i].offset;
        if (schema->columns[i].type == PYRO_TYPE_INT)
            memcpy(field, &(int64_t){PYRO_NONE}, sizeof(int64_t));
        else if (schema->columns[i].type == PYRO_TYPE_REAL)
            memcpy(field, &(double){(double)NAN}, sizeof(double));
        else
            memcpy(field, &PYRO_SLICE_NULL, sizeof(struct pyro_slice));
    }
}
