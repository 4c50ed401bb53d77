/* Rows of the tables of tracks as SQL and exporters see them: a field for each column of model/tables/NAME.def. Times
 * are nanoseconds from the application's start, so that they stay exact where numbers are doubles (JSON). */
#ifndef PYRO_MODEL_TRACKS_COLUMNS_H
#define PYRO_MODEL_TRACKS_COLUMNS_H

#include "model/column.h"
#include "model/tracks/tracks.h"

/* PYRO_TRACKS_TABLE(name): every one of them, in the order of tables.def. */
#define PYRO_TRACKS_TABLES(PYRO_TRACKS_TABLE)                                                                          \
    PYRO_TRACKS_TABLE(artefacts)                                                                                       \
    PYRO_TRACKS_TABLE(clocks)                                                                                          \
    PYRO_TRACKS_TABLE(threads)                                                                                         \
    PYRO_TRACKS_TABLE(owners)                                                                                          \
    PYRO_TRACKS_TABLE(spans)                                                                                           \
    PYRO_TRACKS_TABLE(series)                                                                                          \
    PYRO_TRACKS_TABLE(points)                                                                                          \
    PYRO_TRACKS_TABLE(frames)                                                                                          \
    PYRO_TRACKS_TABLE(stacks)                                                                                          \
    PYRO_TRACKS_TABLE(samples)                                                                                         \
    PYRO_TRACKS_TABLE(templates)                                                                                       \
    PYRO_TRACKS_TABLE(messages)                                                                                        \
    PYRO_TRACKS_TABLE(functions)                                                                                       \
    PYRO_TRACKS_TABLE(task_states)                                                                                     \
    PYRO_TRACKS_TABLE(task_waits)                                                                                      \
    PYRO_TRACKS_TABLE(thread_times)                                                                                    \
    PYRO_TRACKS_TABLE(trace_events)                                                                                    \
    PYRO_TRACKS_TABLE(trace_calls)                                                                                     \
    PYRO_TRACKS_TABLE(trace_losses)

#define PYRO_FIELD_INT                     int64_t
#define PYRO_FIELD_REAL                    double
#define PYRO_FIELD_TEXT                    struct pyro_slice
#define PYRO_COLUMN(name, type, unit, doc) PYRO_FIELD_##type name;

struct pyro_artefacts_columns {
#include "model/tables/artefacts.def"
};
struct pyro_clocks_columns {
#include "model/tables/clocks.def"
};
struct pyro_threads_columns {
#include "model/tables/threads.def"
};
struct pyro_owners_columns {
#include "model/tables/owners.def"
};
struct pyro_spans_columns {
#include "model/tables/spans.def"
};
struct pyro_series_columns {
#include "model/tables/series.def"
};
struct pyro_points_columns {
#include "model/tables/points.def"
};
struct pyro_frames_columns {
#include "model/tables/frames.def"
};
struct pyro_stacks_columns {
#include "model/tables/stacks.def"
};
struct pyro_samples_columns {
#include "model/tables/samples.def"
};
struct pyro_templates_columns {
#include "model/tables/templates.def"
};
struct pyro_messages_columns {
#include "model/tables/messages.def"
};
struct pyro_functions_columns {
#include "model/tables/functions.def"
};
struct pyro_task_states_columns {
#include "model/tables/task_states.def"
};
struct pyro_task_waits_columns {
#include "model/tables/task_waits.def"
};
struct pyro_thread_times_columns {
#include "model/tables/thread_times.def"
};
struct pyro_trace_events_columns {
#include "model/tables/trace_events.def"
};
struct pyro_trace_calls_columns {
#include "model/tables/trace_calls.def"
};
struct pyro_trace_losses_columns {
#include "model/tables/trace_losses.def"
};

#undef PYRO_COLUMN
#undef PYRO_FIELD_INT
#undef PYRO_FIELD_REAL
#undef PYRO_FIELD_TEXT

/* Whether a table is one of these. */
bool pyro_tracks_has(enum pyro_table_id table);
/* `tracks` may be NULL: no rows. */
size_t pyro_tracks_rows(const struct pyro_tracks *tracks, enum pyro_table_id table);
/* One value; `start_ms` is the application's start, PYRO_NONE: times stay as they are. */
struct pyro_value pyro_tracks_value(const struct pyro_tracks *tracks, int64_t start_ms, enum pyro_table_id table,
                                    size_t row, const struct pyro_column *column);

#endif
