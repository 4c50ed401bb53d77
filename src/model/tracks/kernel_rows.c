/* Rows of what traces of the kernel recorded, added and read. */
#include "model/tracks/track_tables.h"

const char *pyro_kernel_state_name(enum pyro_kernel_state state)
{
    static const char *const names[PYRO_KERNEL_STATES] = {
#define PYRO_KERNEL_STATE(name, text, doc) text,
#include "model/tracks/kernel_states.def"
#undef PYRO_KERNEL_STATE
    };
    return names[state];
}

bool pyro_tracks_add_task_state(struct pyro_tracks *tracks, const struct pyro_task_state_row *row)
{
    int64_t what, by;
    if (!pyro_tracks_number(tracks, row->what, &what) || !pyro_tracks_number(tracks, row->by, &by))
        return false;
    const int64_t values[] = {row->thread, (int64_t)row->state, row->start_ns, row->duration_ns, row->task, what, by};
    return pyro_tracks_append(tracks, PYRO_TRACK_TASK_STATES, values);
}

struct pyro_task_state_row pyro_tracks_task_state(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_TASK_STATES, row, values);
    return (struct pyro_task_state_row){.thread = (int32_t)values[0],
                                        .state = (enum pyro_kernel_state)values[1],
                                        .start_ns = values[PYRO_TASK_STATE_COLUMN_START],
                                        .duration_ns = values[3],
                                        .task = values[4],
                                        .what = pyro_tracks_text_of(tracks, values[5]),
                                        .by = pyro_tracks_text_of(tracks, values[6])};
}

bool pyro_tracks_add_task_wait(struct pyro_tracks *tracks, const struct pyro_task_wait_row *row)
{
    int64_t what, by;
    if (!pyro_tracks_number(tracks, row->what, &what) || !pyro_tracks_number(tracks, row->by, &by))
        return false;
    const int64_t values[] = {row->task, row->stage, row->stage_attempt, (int64_t)row->state, (int64_t)row->root,
                              what,      by,         row->duration_ns,   row->count,          row->bytes};
    return pyro_tracks_append(tracks, PYRO_TRACK_TASK_WAITS, values);
}

struct pyro_task_wait_row pyro_tracks_task_wait(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_TASK_WAITS, row, values);
    return (struct pyro_task_wait_row){.task = values[PYRO_TASK_WAIT_COLUMN_TASK],
                                       .stage = values[1],
                                       .stage_attempt = values[2],
                                       .state = (enum pyro_kernel_state)values[3],
                                       .root = (enum pyro_kernel_state)values[4],
                                       .what = pyro_tracks_text_of(tracks, values[5]),
                                       .by = pyro_tracks_text_of(tracks, values[6]),
                                       .duration_ns = values[7],
                                       .count = values[8],
                                       .bytes = values[9]};
}

size_t pyro_tracks_waits_of(const struct pyro_tracks *tracks, int64_t task, size_t *ret_first)
{
    const struct pyro_row_table *waits = &tracks->rows[PYRO_TRACK_TASK_WAITS];
    size_t end = *ret_first = pyro_row_table_find(waits, PYRO_TASK_WAIT_COLUMN_TASK, task);
    while (end < waits->count && pyro_row_table_get(waits, PYRO_TASK_WAIT_COLUMN_TASK, end) == task)
        end++;
    return end - *ret_first;
}

bool pyro_tracks_add_thread_time(struct pyro_tracks *tracks, const struct pyro_thread_time_row *row)
{
    const int64_t values[] = {row->thread, (int64_t)row->state, row->duration_ns, row->count};
    return pyro_tracks_append(tracks, PYRO_TRACK_THREAD_TIMES, values);
}

struct pyro_thread_time_row pyro_tracks_thread_time(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_THREAD_TIMES, row, values);
    return (struct pyro_thread_time_row){(int32_t)values[0], (enum pyro_kernel_state)values[1], values[2], values[3]};
}

bool pyro_tracks_add_trace_event(struct pyro_tracks *tracks, const struct pyro_trace_event_row *row)
{
    int64_t name;
    if (!pyro_tracks_number(tracks, row->name, &name))
        return false;
    const int64_t values[] = {row->artefact, name, row->count, row->known};
    return pyro_tracks_append(tracks, PYRO_TRACK_TRACE_EVENTS, values);
}

struct pyro_trace_event_row pyro_tracks_trace_event(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_TRACE_EVENTS, row, values);
    return (struct pyro_trace_event_row){(int32_t)values[0], pyro_tracks_text_of(tracks, values[1]), values[2],
                                         values[3] != 0};
}

bool pyro_tracks_add_trace_call(struct pyro_tracks *tracks, const struct pyro_trace_call_row *row)
{
    int64_t name;
    if (!pyro_tracks_number(tracks, row->name, &name))
        return false;
    const int64_t values[] = {name, row->count, row->duration_ns, row->errors, row->bytes};
    return pyro_tracks_append(tracks, PYRO_TRACK_TRACE_CALLS, values);
}

struct pyro_trace_call_row pyro_tracks_trace_call(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_TRACE_CALLS, row, values);
    return (struct pyro_trace_call_row){pyro_tracks_text_of(tracks, values[0]), values[1], values[2], values[3],
                                        values[4]};
}

bool pyro_tracks_add_trace_loss(struct pyro_tracks *tracks, const struct pyro_trace_loss_row *row)
{
    int64_t reason;
    if (!pyro_tracks_number(tracks, row->reason, &reason))
        return false;
    const int64_t values[] = {row->artefact, row->cpu, row->start_ns, row->end_ns, row->count, reason};
    return pyro_tracks_append(tracks, PYRO_TRACK_TRACE_LOSSES, values);
}

struct pyro_trace_loss_row pyro_tracks_trace_loss(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_TRACE_LOSSES, row, values);
    return (struct pyro_trace_loss_row){.artefact = (int32_t)values[0],
                                        .cpu = values[1],
                                        .start_ns = values[2],
                                        .end_ns = values[3],
                                        .count = values[4],
                                        .reason = pyro_tracks_text_of(tracks, values[5])};
}
