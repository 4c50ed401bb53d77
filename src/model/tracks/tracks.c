#include "model/tracks/tracks.h"

#include "base/memory/allocator.h"
#include "model/tracks/track_tables.h"

const char *pyro_span_kind_name(enum pyro_span_kind kind)
{
    static const char *const names[PYRO_SPAN_KINDS] = {
#define PYRO_SPAN_KIND(name, text, doc) text,
#include "model/tracks/span_kinds.def"
#undef PYRO_SPAN_KIND
    };
    return names[kind];
}

const char *pyro_sample_event_name(enum pyro_sample_event event)
{
    static const char *const names[PYRO_SAMPLE_EVENTS] = {
#define PYRO_SAMPLE_EVENT(name, text, unit, doc) text,
#include "model/tracks/sample_events.def"
#undef PYRO_SAMPLE_EVENT
    };
    return names[event];
}

const char *pyro_sample_event_unit(enum pyro_sample_event event)
{
    static const char *const names[PYRO_SAMPLE_EVENTS] = {
#define PYRO_SAMPLE_EVENT(name, text, unit, doc) unit,
#include "model/tracks/sample_events.def"
#undef PYRO_SAMPLE_EVENT
    };
    return names[event];
}

const char *pyro_thread_state_name(enum pyro_thread_state state)
{
    static const char *const names[PYRO_THREAD_STATES] = {
#define PYRO_THREAD_STATE(name, text, doc) text,
#include "model/tracks/thread_states.def"
#undef PYRO_THREAD_STATE
    };
    return names[state];
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static const unsigned char columns_of[PYRO_TRACK_TABLES] = {
    [PYRO_TRACK_OWNERS] = 8,       [PYRO_TRACK_SPANS] = 7,       [PYRO_TRACK_POINTS] = 3,
    [PYRO_TRACK_SAMPLES] = 6,      [PYRO_TRACK_MESSAGES] = 6,    [PYRO_TRACK_FUNCTIONS] = 7,
    [PYRO_TRACK_TASK_STATES] = 7,  [PYRO_TRACK_TASK_WAITS] = 10, [PYRO_TRACK_THREAD_TIMES] = 4,
    [PYRO_TRACK_TRACE_EVENTS] = 4, [PYRO_TRACK_TRACE_CALLS] = 5, [PYRO_TRACK_TRACE_LOSSES] = 6,
};

struct pyro_tracks *pyro_tracks_new(const struct pyro_allocator *allocator)
{
    struct pyro_tracks *tracks = pyro_allocate(allocator, sizeof(*tracks));
    if (!tracks)
        return NULL;
    *tracks = (struct pyro_tracks){.allocator = allocator, .strings = pyro_string_pool_new(allocator)};
    pyro_map_init(&tracks->known, allocator);
    for (unsigned i = 0; i < PYRO_TRACK_TABLES; i++)
        if (columns_of[i])
            pyro_row_table_init(&tracks->rows[i], columns_of[i], allocator);
    if (!tracks->strings) {
        pyro_tracks_free(tracks);
        return NULL;
    }
    return tracks;
}

void pyro_tracks_free(struct pyro_tracks *tracks)
{
    if (!tracks)
        return;
    for (unsigned i = 0; i < PYRO_TRACK_TABLES; i++)
        if (columns_of[i])
            pyro_row_table_done(&tracks->rows[i]);
    pyro_vec_done(&tracks->artefacts, tracks->allocator);
    pyro_vec_done(&tracks->clocks, tracks->allocator);
    pyro_vec_done(&tracks->threads, tracks->allocator);
    pyro_vec_done(&tracks->series, tracks->allocator);
    pyro_vec_done(&tracks->frames, tracks->allocator);
    pyro_vec_done(&tracks->stacks, tracks->allocator);
    pyro_vec_done(&tracks->templates, tracks->allocator);
    pyro_map_done(&tracks->known);
    if (tracks->strings)
        pyro_string_pool_release(tracks->strings);
    pyro_release(tracks->allocator, tracks);
}

struct pyro_string_pool *pyro_tracks_strings(struct pyro_tracks *tracks)
{
    return tracks->strings;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static bool sort_spans(struct pyro_tracks *tracks)
{
    uint32_t *rank;
    struct pyro_row_table *spans = &tracks->rows[PYRO_TRACK_SPANS];
    if (!pyro_row_table_sort(spans, PYRO_SPAN_COLUMN_START, &rank))
        return false;
    bool done = !rank || pyro_row_table_renumber(spans, PYRO_SPAN_COLUMN_PARENT, rank);
    pyro_release(tracks->allocator, rank);
    return done;
}

bool pyro_tracks_sort_owners(struct pyro_row_table *owners)
{
    return pyro_row_table_seal(owners) && /* sorting keeps the order of equal ones */
           pyro_row_table_sort(owners, PYRO_OWNER_COLUMN_START, NULL) &&
           pyro_row_table_sort(owners, PYRO_OWNER_COLUMN_THREAD, NULL);
}

bool pyro_tracks_seal(struct pyro_tracks *tracks)
{
    if (tracks->sealed)
        return true;
    for (unsigned i = 0; i < PYRO_TRACK_TABLES; i++)
        if (columns_of[i] && !pyro_row_table_seal(&tracks->rows[i]))
            return false;
    if (!sort_spans(tracks) || !pyro_row_table_sort(&tracks->rows[PYRO_TRACK_POINTS], PYRO_POINT_COLUMN_TIME, NULL) ||
        !pyro_row_table_sort(&tracks->rows[PYRO_TRACK_SAMPLES], PYRO_SAMPLE_COLUMN_TIME, NULL) ||
        !pyro_row_table_sort(&tracks->rows[PYRO_TRACK_MESSAGES], PYRO_MESSAGE_COLUMN_TIME, NULL) ||
        !pyro_row_table_sort(&tracks->rows[PYRO_TRACK_TASK_STATES], PYRO_TASK_STATE_COLUMN_START, NULL) ||
        !pyro_row_table_sort(&tracks->rows[PYRO_TRACK_TASK_WAITS], PYRO_TASK_WAIT_COLUMN_TASK, NULL) ||
        !pyro_tracks_sort_owners(&tracks->rows[PYRO_TRACK_OWNERS]))
        return false;
    pyro_map_done(&tracks->known); /* only for adding */
    pyro_map_init(&tracks->known, tracks->allocator);
    tracks->sealed = true;
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

size_t pyro_tracks_count(const struct pyro_tracks *tracks, enum pyro_track_table table)
{
    switch (table) {
    case PYRO_TRACK_ARTEFACTS:
        return tracks->artefacts.count;
    case PYRO_TRACK_CLOCKS:
        return tracks->clocks.count;
    case PYRO_TRACK_THREADS:
        return tracks->threads.count;
    case PYRO_TRACK_SERIES:
        return tracks->series.count;
    case PYRO_TRACK_FRAMES:
        return tracks->frames.count;
    case PYRO_TRACK_STACKS:
        return tracks->stacks.count;
    case PYRO_TRACK_TEMPLATES:
        return tracks->templates.count;
    default:
        return tracks->rows[table].count;
    }
}

uint64_t pyro_tracks_dropped(const struct pyro_tracks *tracks, enum pyro_track_table table)
{
    return tracks->dropped[table];
}

const struct pyro_artefact_row *pyro_tracks_artefact(const struct pyro_tracks *tracks, size_t row)
{
    return &tracks->artefacts.items[row];
}

const struct pyro_clock_row *pyro_tracks_clock(const struct pyro_tracks *tracks, size_t row)
{
    return &tracks->clocks.items[row];
}

const struct pyro_thread_row *pyro_tracks_thread(const struct pyro_tracks *tracks, size_t row)
{
    return &tracks->threads.items[row];
}

const struct pyro_series_row *pyro_tracks_series(const struct pyro_tracks *tracks, size_t row)
{
    return &tracks->series.items[row];
}

const struct pyro_frame_row *pyro_tracks_frame(const struct pyro_tracks *tracks, size_t row)
{
    return &tracks->frames.items[row];
}

const struct pyro_template_row *pyro_tracks_template(const struct pyro_tracks *tracks, size_t row)
{
    return &tracks->templates.items[row];
}

void pyro_tracks_read(const struct pyro_tracks *tracks, enum pyro_track_table table, size_t row, int64_t *values)
{
    for (unsigned c = 0; c < columns_of[table]; c++)
        values[c] = pyro_row_table_get(&tracks->rows[table], c, row);
}

struct pyro_slice pyro_tracks_text_of(const struct pyro_tracks *tracks, int64_t number)
{
    return number < 0 ? PYRO_SLICE_NULL : pyro_string_pool_text(tracks->strings, (uint32_t)number);
}

struct pyro_stack_row pyro_tracks_stack(const struct pyro_tracks *tracks, size_t row)
{
    return tracks->stacks.items[row];
}

struct pyro_owner_row pyro_tracks_owner(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_OWNERS, row, values);
    return (struct pyro_owner_row){.thread = (int32_t)values[PYRO_OWNER_COLUMN_THREAD],
                                   .start_ns = values[PYRO_OWNER_COLUMN_START],
                                   .end_ns = values[2],
                                   .task = values[3],
                                   .stage = values[4],
                                   .stage_attempt = values[5],
                                   .method = pyro_tracks_text_of(tracks, values[6]),
                                   .confidence = (double)values[7] / PYRO_CONFIDENCE_SCALE};
}

struct pyro_span_row pyro_tracks_span(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_SPANS, row, values);
    return (struct pyro_span_row){.thread = (int32_t)values[0],
                                  .parent = (int32_t)values[PYRO_SPAN_COLUMN_PARENT],
                                  .kind = (enum pyro_span_kind)values[2],
                                  .name = pyro_tracks_text_of(tracks, values[3]),
                                  .start_ns = values[PYRO_SPAN_COLUMN_START],
                                  .duration_ns = values[5],
                                  .value = values[6]};
}

struct pyro_point_row pyro_tracks_point(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    struct pyro_point_row point;
    pyro_tracks_read(tracks, PYRO_TRACK_POINTS, row, values);
    point.series = (int32_t)values[0];
    point.time_ns = values[PYRO_POINT_COLUMN_TIME];
    memcpy(&point.value, &values[2], sizeof(point.value));
    return point;
}

struct pyro_sample_row pyro_tracks_sample(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_SAMPLES, row, values);
    return (struct pyro_sample_row){.thread = (int32_t)values[0],
                                    .stack = (int32_t)values[2],
                                    .time_ns = values[PYRO_SAMPLE_COLUMN_TIME],
                                    .event = (enum pyro_sample_event)values[3],
                                    .state = (enum pyro_thread_state)values[4],
                                    .weight = values[5]};
}

struct pyro_message_row pyro_tracks_message(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_MESSAGES, row, values);
    return (struct pyro_message_row){.time_ns = values[PYRO_MESSAGE_COLUMN_TIME],
                                     .thread = (int32_t)values[1],
                                     .message_template = (int32_t)values[2],
                                     .artefact = (int32_t)values[3],
                                     .level = (int32_t)values[4],
                                     .place = values[5]};
}

struct pyro_function_row pyro_tracks_function(const struct pyro_tracks *tracks, size_t row)
{
    int64_t values[PYRO_ROW_COLUMNS_MAX];
    pyro_tracks_read(tracks, PYRO_TRACK_FUNCTIONS, row, values);
    return (struct pyro_function_row){.artefact = (int32_t)values[0],
                                      .frame = (int32_t)values[1],
                                      .caller = (int32_t)values[2],
                                      .calls = values[3],
                                      .primitive_calls = values[4],
                                      .own_ns = values[5],
                                      .total_ns = values[6]};
}

bool pyro_tracks_owner_at(const struct pyro_tracks *tracks, int32_t thread, int64_t time_ns, struct pyro_owner_row *ret)
{
    const struct pyro_row_table *owners = &tracks->rows[PYRO_TRACK_OWNERS];
    size_t low = pyro_row_table_find(owners, PYRO_OWNER_COLUMN_THREAD, thread);
    size_t high = pyro_row_table_find(owners, PYRO_OWNER_COLUMN_THREAD, (int64_t)thread + 1);
    while (low < high) { /* the last one that starts at or before the time */
        size_t middle = low + (high - low) / 2;
        if (pyro_row_table_get(owners, PYRO_OWNER_COLUMN_START, middle) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || pyro_row_table_get(owners, PYRO_OWNER_COLUMN_THREAD, low - 1) != thread)
        return false;
    *ret = pyro_tracks_owner(tracks, low - 1);
    return ret->end_ns > time_ns;
}
