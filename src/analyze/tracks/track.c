#include "analyze/tracks/track.h"

#include <math.h>

#include "base/numbers/saturate.h"
#include "model/column.h"

/* Row number of the group that a row belongs to; negative: none. */
typedef int32_t group_of(const struct pyro_tracks *tracks, size_t row);

static int32_t thread_of(const struct pyro_tracks *tracks, size_t row)
{
    return pyro_tracks_span(tracks, row).thread;
}

static int32_t series_of(const struct pyro_tracks *tracks, size_t row)
{
    return pyro_tracks_point(tracks, row).series;
}

static int32_t state_thread_of(const struct pyro_tracks *tracks, size_t row)
{
    return pyro_tracks_task_state(tracks, row).thread;
}

/* Sorts `rows` rows into `groups` groups, each in the order of the table. */
static bool group(const struct pyro_tracks *tracks, size_t rows, size_t groups, group_of *of, struct pyro_arena *arena,
                  uint32_t **ret_rows, size_t **ret_begins)
{
    uint32_t *sorted = pyro_arena_array(arena, rows + 1, sizeof(*sorted));
    size_t *begins = pyro_arena_array(arena, groups + 2, sizeof(*begins));
    if (!sorted || !begins)
        return false;
    for (size_t i = 0; i < rows; i++) {
        int32_t at = of(tracks, i);
        if (at >= 0 && (size_t)at < groups)
            begins[at + 2]++;
    }
    for (size_t i = 2; i < groups + 2; i++)
        begins[i] += begins[i - 1];
    for (size_t i = 0; i < rows; i++) { /* begins[g + 1] is where the next row of group g goes */
        int32_t at = of(tracks, i);
        if (at >= 0 && (size_t)at < groups)
            sorted[begins[at + 1]++] = (uint32_t)i;
    }
    *ret_rows = sorted;
    *ret_begins = begins;
    return true;
}

bool pyro_track_begin(struct pyro_track_iterator *iterator, const struct pyro_tracks *tracks,
                      const struct pyro_track_window *window, struct pyro_arena *arena)
{
    *iterator = (struct pyro_track_iterator){.tracks = tracks, .window = *window, .arena = arena};
    if (!tracks)
        return true;
    iterator->threads = pyro_tracks_count(tracks, PYRO_TRACK_THREADS);
    iterator->series = pyro_tracks_count(tracks, PYRO_TRACK_SERIES);
    size_t pixels = window->pixels > window->state_pixels ? window->pixels : window->state_pixels;
    iterator->marks = pyro_arena_array(arena, 2 * pixels, sizeof(*iterator->marks));
    size_t states = window->state_pixels > 0 ? pyro_tracks_count(tracks, PYRO_TRACK_TASK_STATES) : 0;
    iterator->state_threads = states > 0 ? iterator->threads : 0;
    return iterator->marks &&
           group(tracks, states, iterator->state_threads, state_thread_of, arena, &iterator->state_rows,
                 &iterator->state_begins) &&
           group(tracks, pyro_tracks_count(tracks, PYRO_TRACK_SPANS), iterator->threads, thread_of, arena,
                 &iterator->span_rows, &iterator->span_begins) &&
           group(tracks, pyro_tracks_count(tracks, PYRO_TRACK_POINTS), iterator->series, series_of, arena,
                 &iterator->point_rows, &iterator->point_begins);
}

/* Pixel that a time in the window falls on. */
static size_t pixel_of(const struct pyro_track_window *window, int64_t time_ns)
{
    uint64_t length = (uint64_t)window->to_ns - (uint64_t)window->from_ns;
    uint64_t at = time_ns > window->from_ns ? (uint64_t)time_ns - (uint64_t)window->from_ns : 0;
    size_t pixel = (size_t)((double)at / (double)length * (double)window->pixels);
    return pixel < window->pixels ? pixel : window->pixels - 1;
}

static int64_t end_of(const struct pyro_track_mark *mark)
{
    return pyro_add_saturating(mark->start_ns, mark->duration_ns);
}

/* The marks of one track while they are made: all rows of a pixel that are shorter than one become one mark. */
struct drawing {
    const struct pyro_track_window *window;
    struct pyro_track_mark *marks;
    size_t count;
    int64_t longest; /* of the rows that the newest mark stands for */
};

/* Whether a row joins the newest mark. */
static bool joins(const struct drawing *drawing, const struct pyro_track_mark *row)
{
    if (drawing->count == 0)
        return false;
    if (drawing->count == 2 * drawing->window->pixels) /* long rows that overlap */
        return true;
    const struct pyro_track_mark *newest = &drawing->marks[drawing->count - 1];
    size_t pixel = pixel_of(drawing->window, row->start_ns);
    return pixel == pixel_of(drawing->window, newest->start_ns) && pixel == pixel_of(drawing->window, end_of(newest)) &&
           pixel == pixel_of(drawing->window, end_of(row));
}

static void draw(struct drawing *drawing, const struct pyro_track_mark *row)
{
    if (end_of(row) < drawing->window->from_ns || row->start_ns > drawing->window->to_ns)
        return;
    if (!joins(drawing, row)) {
        drawing->marks[drawing->count++] = *row;
        drawing->longest = row->duration_ns;
        return;
    }
    struct pyro_track_mark *newest = &drawing->marks[drawing->count - 1];
    newest->merged++;
    bool more = row->code < 0 ? row->value > newest->value : row->duration_ns > drawing->longest;
    if (more) {
        newest->code = row->code;
        newest->value = row->value;
        drawing->longest = row->duration_ns;
    }
    if (end_of(row) > end_of(newest))
        newest->duration_ns = pyro_sub_saturating(end_of(row), newest->start_ns);
}

static void draw_spans(struct pyro_track_iterator *iterator, size_t thread, struct drawing *drawing)
{
    for (size_t i = iterator->span_begins[thread]; i < iterator->span_begins[thread + 1]; i++) {
        const struct pyro_span_row span = pyro_tracks_span(iterator->tracks, iterator->span_rows[i]);
        const struct pyro_track_mark row = {.start_ns = span.start_ns,
                                            .duration_ns = span.duration_ns > 0 ? span.duration_ns : 0,
                                            .code = (int32_t)span.kind,
                                            .value = span.value == PYRO_NONE ? (double)NAN : (double)span.value,
                                            .merged = 1};
        draw(drawing, &row);
    }
}

static void draw_points(struct pyro_track_iterator *iterator, size_t series, struct drawing *drawing)
{
    for (size_t i = iterator->point_begins[series]; i < iterator->point_begins[series + 1]; i++) {
        const struct pyro_point_row point = pyro_tracks_point(iterator->tracks, iterator->point_rows[i]);
        const struct pyro_track_mark row = {.start_ns = point.time_ns, .code = -1, .value = point.value, .merged = 1};
        draw(drawing, &row);
    }
}

static void draw_states(struct pyro_track_iterator *iterator, size_t thread, struct drawing *drawing)
{
    for (size_t i = iterator->state_begins[thread]; i < iterator->state_begins[thread + 1]; i++) {
        const struct pyro_task_state_row state = pyro_tracks_task_state(iterator->tracks, iterator->state_rows[i]);
        const struct pyro_track_mark row = {.start_ns = state.start_ns,
                                            .duration_ns = state.duration_ns > 0 ? state.duration_ns : 0,
                                            .code = (int32_t)state.state,
                                            .value = state.task == PYRO_NONE ? (double)NAN : (double)state.task,
                                            .merged = 1};
        draw(drawing, &row);
    }
}

bool pyro_track_next(struct pyro_track_iterator *iterator, struct pyro_track *ret)
{
    const size_t states = iterator->threads + iterator->series; /* where they begin */
    const struct pyro_track_window state_window = {iterator->window.from_ns, iterator->window.to_ns,
                                                   iterator->window.state_pixels, 0};
    while (iterator->at < states + iterator->state_threads) {
        size_t at = iterator->at++;
        struct drawing drawing = {.window = &iterator->window, .marks = iterator->marks};
        *ret = (struct pyro_track){.kind = PYRO_TRACK_OF_SPANS, .thread = (int32_t)at, .series = -1};
        if (at < iterator->threads) {
            draw_spans(iterator, at, &drawing);
        } else if (at < states) {
            ret->kind = PYRO_TRACK_OF_POINTS;
            ret->series = (int32_t)(at - iterator->threads);
            ret->thread = pyro_tracks_series(iterator->tracks, (size_t)ret->series)->thread;
            draw_points(iterator, (size_t)ret->series, &drawing);
        } else {
            ret->kind = PYRO_TRACK_OF_STATES;
            ret->thread = (int32_t)(at - states);
            drawing.window = &state_window;
            draw_states(iterator, at - states, &drawing);
        }
        ret->marks = iterator->marks;
        ret->count = drawing.count;
        if (drawing.count > 0)
            return true;
    }
    return false;
}
