/* The member "tracks" of pyrometer.timeline/1: what logs, profilers and traces recorded, on the timeline's axis.
 * It may be asked for again with a part of the run, which then has more detail. */
#include <math.h>

#include "analyze/tracks/track.h"
#include "base/numbers/saturate.h"
#include "report/views/timeline.h"

/* STATE_PIXELS: of all threads together, so that a large run has no large document. */
enum { NS_PER_MS = 1000000, PIXELS = 2000, PART_PIXELS = 4000, STATE_PIXELS = 200000, STATE_PIXELS_LEAST = 100 };

static int64_t ns_of(int64_t ms)
{
    return ms > INT64_MAX / NS_PER_MS ? INT64_MAX : ms < INT64_MIN / NS_PER_MS ? INT64_MIN : ms * NS_PER_MS;
}

/* "executor 1", "driver", or what the file or thread is called. */
static void write_name(struct pyro_json_writer *json, const struct pyro_thread_row *thread)
{
    struct pyro_strbuf name;
    pyro_strbuf_init(&name, json->output->buffer.allocator);
    if (thread->executor.ptr && !pyro_slice_is(thread->executor, "driver"))
        pyro_strbuf_add_text(&name, "executor ");
    if (thread->executor.ptr)
        pyro_strbuf_add_slice(&name, thread->executor);
    if (thread->executor.ptr && thread->name.ptr)
        pyro_strbuf_add_text(&name, ": ");
    if (thread->name.ptr)
        pyro_strbuf_add_slice(&name, thread->name);
    json->output->buffer.failed |= name.failed;
    pyro_json_text(json, "name", pyro_strbuf_slice(&name));
    pyro_strbuf_done(&name);
}

static void write_numbers(struct pyro_json_writer *json, const char *key, const struct pyro_track *track,
                          int64_t start_ns, int64_t (*value)(const struct pyro_track_mark *mark, int64_t start_ns))
{
    pyro_json_begin_numbers(json, key);
    for (size_t i = 0; i < track->count; i++)
        pyro_json_number(json, value(&track->marks[i], start_ns));
    pyro_json_end_numbers(json);
}

static int64_t mark_start(const struct pyro_track_mark *mark, int64_t start_ns)
{
    return mark->start_ns - start_ns;
}

static int64_t mark_duration(const struct pyro_track_mark *mark, int64_t start_ns)
{
    (void)start_ns;
    return mark->duration_ns;
}

static int64_t mark_code(const struct pyro_track_mark *mark, int64_t start_ns)
{
    (void)start_ns;
    return mark->code;
}

static int64_t mark_merged(const struct pyro_track_mark *mark, int64_t start_ns)
{
    (void)start_ns;
    return (int64_t)mark->merged;
}

static void write_track(struct pyro_json_writer *json, const struct pyro_tracks *tracks, const struct pyro_track *track,
                        int64_t start_ns)
{
    static const char *const kinds[] = {
        [PYRO_TRACK_OF_SPANS] = "spans", [PYRO_TRACK_OF_POINTS] = "series", [PYRO_TRACK_OF_STATES] = "states"};
    const struct pyro_thread_row *thread = pyro_tracks_thread(tracks, (size_t)track->thread);
    const struct pyro_series_row *series = track->series < 0 ? NULL : pyro_tracks_series(tracks, (size_t)track->series);
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "kind", kinds[track->kind]);
    pyro_json_int(json, "thread", track->thread);
    write_name(json, thread);
    pyro_json_text(json, "series", series ? series->name : PYRO_SLICE_NULL);
    pyro_json_text(json, "labels", series ? series->labels : PYRO_SLICE_NULL);
    pyro_json_text(json, "unit", series ? series->unit : PYRO_SLICE_NULL);
    if (track->kind == PYRO_TRACK_OF_STATES) {
        pyro_json_text(json, "executor", thread->executor);
        pyro_json_text(json, "host", thread->host);
        pyro_json_int(json, "tid", thread->tid);
    }
    write_numbers(json, "start_ns", track, start_ns, mark_start);
    if (track->kind != PYRO_TRACK_OF_POINTS) {
        write_numbers(json, "duration_ns", track, start_ns, mark_duration);
        write_numbers(json, "code", track, start_ns, mark_code);
    }
    pyro_json_begin(json, "value", '[');
    for (size_t i = 0; i < track->count; i++)
        pyro_json_real(json, NULL, track->marks[i].value);
    pyro_json_end(json, ']');
    write_numbers(json, "merged", track, start_ns, mark_merged);
    pyro_json_end(json, '}');
}

static size_t state_pixels(const struct pyro_tracks *tracks, size_t most)
{
    size_t threads = 1;
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_THREADS); i++)
        threads += pyro_slice_is(pyro_tracks_thread(tracks, i)->role, "task");
    size_t each = STATE_PIXELS / threads;
    return each > most ? most : each < STATE_PIXELS_LEAST ? STATE_PIXELS_LEAST : each;
}

/* The whole run, or the part that is asked for. */
static struct pyro_track_window window_of(const struct pyro_view_request *request, int64_t start_ns)
{
    bool whole = request->tracks_from_ns <= 0 && request->tracks_to_ns <= 0;
    int64_t to_ns = request->tracks_to_ns > 0 ? pyro_add_saturating(start_ns, request->tracks_to_ns)
                                              : ns_of(request->app->application.end_ms);
    size_t pixels = whole ? PIXELS : PART_PIXELS;
    return (struct pyro_track_window){pyro_add_saturating(start_ns, request->tracks_from_ns), to_ns, pixels,
                                      state_pixels(request->app->tracks, pixels)};
}

static void write_states(struct pyro_json_writer *json)
{
    pyro_json_line(json);
    pyro_json_begin(json, "states", '[');
    for (int state = 0; state < PYRO_KERNEL_STATES; state++)
        pyro_json_string(json, NULL, pyro_kernel_state_name((enum pyro_kernel_state)state));
    pyro_json_end(json, ']');
}

bool pyro_timeline_tracks(struct pyro_json_writer *json, const struct pyro_view_request *request)
{
    const struct pyro_app *app = request->app;
    int64_t start_ns = ns_of(pyro_view_start(app));
    struct pyro_track_iterator iterator;
    struct pyro_track track;
    if (!app->tracks || app->application.end_ms == PYRO_NONE)
        return true;
    const struct pyro_track_window window = window_of(request, start_ns);
    if (window.to_ns <= window.from_ns)
        return true;
    if (!pyro_track_begin(&iterator, app->tracks, &window, request->arena))
        return false;
    pyro_json_line(json);
    pyro_json_begin(json, "codes", '[');
    for (int kind = 0; kind < PYRO_SPAN_KINDS; kind++)
        pyro_json_string(json, NULL, pyro_span_kind_name((enum pyro_span_kind)kind));
    pyro_json_end(json, ']');
    if (pyro_tracks_count(app->tracks, PYRO_TRACK_TASK_STATES) > 0)
        write_states(json);
    pyro_json_line(json);
    pyro_json_begin(json, "tracks", '[');
    while (pyro_track_next(&iterator, &track))
        if (track.thread >= 0)
            write_track(json, app->tracks, &track, start_ns);
    pyro_json_end(json, ']');
    return true;
}
