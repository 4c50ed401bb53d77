#include "model/tracks/columns.h"

#include <string.h>

enum { FIRST_TABLE = PYRO_TABLE_artefacts, LAST_TABLE = PYRO_TABLE_trace_losses, NS_PER_MS = 1000000 };

bool pyro_tracks_has(enum pyro_table_id table)
{
    return (int)table >= FIRST_TABLE && (int)table <= LAST_TABLE;
}

size_t pyro_tracks_rows(const struct pyro_tracks *tracks, enum pyro_table_id table)
{
    /* Both lists have one order. */
    return tracks ? pyro_tracks_count(tracks, (enum pyro_track_table)((int)table - FIRST_TABLE)) : 0;
}

/* One row of any of the tables. */
union columns {
#define FIELD(name) struct pyro_##name##_columns name;
    PYRO_TRACKS_TABLES(FIELD)
#undef FIELD
};

struct asked {
    const struct pyro_tracks *tracks;
    int64_t start_ns;
    size_t row;
    bool owner; /* the column asked for is one of a task or stage */
};

static int64_t since(const struct asked *asked, int64_t time_ns)
{
    int64_t ret;
    return time_ns == PYRO_NONE || __builtin_sub_overflow(time_ns, asked->start_ns, &ret) ? time_ns : ret;
}

static int64_t id_of(int64_t number)
{
    return number < 0 ? PYRO_NONE : number;
}

static void find_owner(const struct asked *asked, int32_t thread, int64_t time_ns, int64_t *ret_task,
                       int64_t *ret_stage)
{
    struct pyro_owner_row owner;
    *ret_task = *ret_stage = PYRO_NONE;
    if (!asked->owner || thread < 0 || !pyro_tracks_owner_at(asked->tracks, thread, time_ns, &owner))
        return;
    *ret_task = owner.task;
    *ret_stage = owner.stage;
}

static struct pyro_slice text(const char *name)
{
    return pyro_slice_from(name);
}

static void read_artefacts(const struct asked *asked, struct pyro_artefacts_columns *ret)
{
    const struct pyro_artefact_row *row = pyro_tracks_artefact(asked->tracks, asked->row);
    *ret = (struct pyro_artefacts_columns){.id = (int64_t)asked->row,
                                           .kind = row->kind,
                                           .path = row->path,
                                           .bytes = row->bytes,
                                           .host = row->host,
                                           .executor = row->executor,
                                           .clock = id_of(row->clock),
                                           .first_ns = since(asked, row->first_ns),
                                           .last_ns = since(asked, row->last_ns),
                                           .rows = row->rows,
                                           .problems = row->problems};
}

static void read_clocks(const struct asked *asked, struct pyro_clocks_columns *ret)
{
    const struct pyro_clock_row *row = pyro_tracks_clock(asked->tracks, asked->row);
    *ret = (struct pyro_clocks_columns){.id = (int64_t)asked->row,
                                        .host = row->host,
                                        .source = row->source,
                                        .base = row->base,
                                        .zone = row->zone,
                                        .offset_ns = row->offset_ns,
                                        .drift_ppb = row->drift_ppb,
                                        .error_ns = row->error_ns,
                                        .method = row->method,
                                        .matches = row->matches};
}

static void read_threads(const struct asked *asked, struct pyro_threads_columns *ret)
{
    const struct pyro_thread_row *row = pyro_tracks_thread(asked->tracks, asked->row);
    *ret = (struct pyro_threads_columns){.id = (int64_t)asked->row,
                                         .parent = id_of(row->parent),
                                         .clock = id_of(row->clock),
                                         .host = row->host,
                                         .pid = row->pid,
                                         .tid = row->tid,
                                         .executor = row->executor,
                                         .role = row->role,
                                         .name = row->name};
}

static void read_owners(const struct asked *asked, struct pyro_owners_columns *ret)
{
    const struct pyro_owner_row row = pyro_tracks_owner(asked->tracks, asked->row);
    *ret = (struct pyro_owners_columns){.thread = row.thread,
                                        .start_ns = since(asked, row.start_ns),
                                        .end_ns = since(asked, row.end_ns),
                                        .task = row.task,
                                        .stage = row.stage,
                                        .stage_attempt = row.stage_attempt,
                                        .method = row.method,
                                        .confidence = row.confidence};
}

static void read_spans(const struct asked *asked, struct pyro_spans_columns *ret)
{
    const struct pyro_span_row row = pyro_tracks_span(asked->tracks, asked->row);
    *ret = (struct pyro_spans_columns){.id = (int64_t)asked->row,
                                       .thread = id_of(row.thread),
                                       .kind = text(pyro_span_kind_name(row.kind)),
                                       .name = row.name,
                                       .start_ns = since(asked, row.start_ns),
                                       .duration_ns = row.duration_ns,
                                       .parent = id_of(row.parent),
                                       .value = row.value};
    find_owner(asked, row.thread, row.start_ns, &ret->task, &ret->stage);
}

static void read_series(const struct asked *asked, struct pyro_series_columns *ret)
{
    const struct pyro_series_row *row = pyro_tracks_series(asked->tracks, asked->row);
    *ret = (struct pyro_series_columns){.id = (int64_t)asked->row,
                                        .thread = id_of(row->thread),
                                        .name = row->name,
                                        .unit = row->unit,
                                        .type = text(row->type == PYRO_SERIES_COUNTER ? "counter" : "gauge"),
                                        .labels = row->labels};
}

static void read_points(const struct asked *asked, struct pyro_points_columns *ret)
{
    const struct pyro_point_row row = pyro_tracks_point(asked->tracks, asked->row);
    *ret = (struct pyro_points_columns){row.series, since(asked, row.time_ns), row.value};
}

static void read_frames(const struct asked *asked, struct pyro_frames_columns *ret)
{
    const struct pyro_frame_row *row = pyro_tracks_frame(asked->tracks, asked->row);
    *ret = (struct pyro_frames_columns){(int64_t)asked->row, row->function, row->file, row->line, row->language};
}

static void read_stacks(const struct asked *asked, struct pyro_stacks_columns *ret)
{
    const struct pyro_stack_row row = pyro_tracks_stack(asked->tracks, asked->row);
    *ret = (struct pyro_stacks_columns){(int64_t)asked->row, id_of(row.parent), id_of(row.frame)};
}

static void read_samples(const struct asked *asked, struct pyro_samples_columns *ret)
{
    const struct pyro_sample_row row = pyro_tracks_sample(asked->tracks, asked->row);
    *ret = (struct pyro_samples_columns){.thread = id_of(row.thread),
                                         .time_ns = since(asked, row.time_ns),
                                         .stack = id_of(row.stack),
                                         .event = text(pyro_sample_event_name(row.event)),
                                         .state = text(pyro_thread_state_name(row.state)),
                                         .weight = row.weight};
    find_owner(asked, row.thread, row.time_ns, &ret->task, &ret->stage);
}

static void read_templates(const struct asked *asked, struct pyro_templates_columns *ret)
{
    const struct pyro_template_row *row = pyro_tracks_template(asked->tracks, asked->row);
    *ret = (struct pyro_templates_columns){.id = (int64_t)asked->row,
                                           .text = row->text,
                                           .level = row->level,
                                           .logger = row->logger,
                                           .count = row->count,
                                           .first_ns = since(asked, row->first_ns),
                                           .last_ns = since(asked, row->last_ns)};
}

static void read_messages(const struct asked *asked, struct pyro_messages_columns *ret)
{
    const struct pyro_message_row row = pyro_tracks_message(asked->tracks, asked->row);
    *ret = (struct pyro_messages_columns){.time_ns = since(asked, row.time_ns),
                                          .thread = id_of(row.thread),
                                          .level = text(pyro_log_level_name(row.level)),
                                          .template = id_of(row.message_template),
                                          .artefact = id_of(row.artefact),
                                          .place = row.place};
    find_owner(asked, row.thread, row.time_ns, &ret->task, &ret->stage);
}

static void read_functions(const struct asked *asked, struct pyro_functions_columns *ret)
{
    const struct pyro_function_row row = pyro_tracks_function(asked->tracks, asked->row);
    *ret = (struct pyro_functions_columns){row.artefact,        row.frame,  id_of(row.caller), row.calls,
                                           row.primitive_calls, row.own_ns, row.total_ns};
}

static void read_task_states(const struct asked *asked, struct pyro_task_states_columns *ret)
{
    const struct pyro_task_state_row row = pyro_tracks_task_state(asked->tracks, asked->row);
    int64_t task;
    *ret = (struct pyro_task_states_columns){.task = row.task,
                                             .thread = row.thread,
                                             .state = text(pyro_kernel_state_name(row.state)),
                                             .start_ns = since(asked, row.start_ns),
                                             .duration_ns = row.duration_ns,
                                             .what = row.what,
                                             .by = row.by};
    find_owner(asked, row.thread, row.start_ns, &task, &ret->stage);
}

static void read_task_waits(const struct asked *asked, struct pyro_task_waits_columns *ret)
{
    const struct pyro_task_wait_row row = pyro_tracks_task_wait(asked->tracks, asked->row);
    *ret = (struct pyro_task_waits_columns){.task = row.task,
                                            .stage = row.stage,
                                            .stage_attempt = row.stage_attempt,
                                            .state = text(pyro_kernel_state_name(row.state)),
                                            .root = text(pyro_kernel_state_name(row.root)),
                                            .what = row.what,
                                            .by = row.by,
                                            .duration_ns = row.duration_ns,
                                            .count = row.count,
                                            .bytes = row.bytes};
}

static void read_thread_times(const struct asked *asked, struct pyro_thread_times_columns *ret)
{
    const struct pyro_thread_time_row row = pyro_tracks_thread_time(asked->tracks, asked->row);
    *ret = (struct pyro_thread_times_columns){id_of(row.thread), text(pyro_kernel_state_name(row.state)),
                                              row.duration_ns, row.count};
}

static void read_trace_events(const struct asked *asked, struct pyro_trace_events_columns *ret)
{
    const struct pyro_trace_event_row row = pyro_tracks_trace_event(asked->tracks, asked->row);
    *ret = (struct pyro_trace_events_columns){id_of(row.artefact), row.name, row.count, row.known};
}

static void read_trace_calls(const struct asked *asked, struct pyro_trace_calls_columns *ret)
{
    const struct pyro_trace_call_row row = pyro_tracks_trace_call(asked->tracks, asked->row);
    *ret = (struct pyro_trace_calls_columns){row.name, row.count, row.duration_ns, row.errors, row.bytes};
}

static void read_trace_losses(const struct asked *asked, struct pyro_trace_losses_columns *ret)
{
    const struct pyro_trace_loss_row row = pyro_tracks_trace_loss(asked->tracks, asked->row);
    *ret = (struct pyro_trace_losses_columns){.artefact = id_of(row.artefact),
                                              .cpu = row.cpu,
                                              .start_ns = since(asked, row.start_ns),
                                              .end_ns = since(asked, row.end_ns),
                                              .count = row.count,
                                              .reason = row.reason};
}

struct pyro_value pyro_tracks_value(const struct pyro_tracks *tracks, int64_t start_ms, enum pyro_table_id table,
                                    size_t row, const struct pyro_column *column)
{
    union columns columns;
    struct asked asked = {.tracks = tracks, .row = row};
    if (start_ms > INT64_MIN / NS_PER_MS && start_ms < INT64_MAX / NS_PER_MS)
        asked.start_ns = start_ms * NS_PER_MS;
    asked.owner = strcmp(column->name, "task") == 0 || strcmp(column->name, "stage") == 0;
    switch (table) {
#define READ(name)                                                                                                     \
    case PYRO_TABLE_##name:                                                                                            \
        read_##name(&asked, &columns.name);                                                                            \
        break;
        PYRO_TRACKS_TABLES(READ)
#undef READ
    default:
        return (struct pyro_value){.type = column->type, .integer = PYRO_NONE};
    }
    const char *field = (const char *)&columns + column->offset;
    struct pyro_value value = {.type = column->type};
    if (value.type == PYRO_TYPE_INT)
        memcpy(&value.integer, field, sizeof(value.integer));
    else if (value.type == PYRO_TYPE_REAL)
        memcpy(&value.real, field, sizeof(value.real));
    else
        memcpy(&value.text, field, sizeof(value.text));
    return value;
}
