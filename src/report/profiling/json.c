/* The document pyrometer.profile/1. */
#include <math.h>

#include "model/column.h"
#include "report/profiling/profiling.h"
#include "report/shared/json_tracks.h"

static const double NS_PER_MS = 1e6, NS_PER_MINUTE = 6e10;

static void write_processes(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    pyro_json_line(json);
    pyro_json_begin(json, "processes", '[');
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct pyro_profiling_process *process = &profile->processes[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_count(json, "id", i);
        pyro_json_text(json, "name", process->name);
        pyro_json_text(json, "role", process->role);
        pyro_json_text(json, "executor", process->executor);
        pyro_json_text(json, "host", process->host);
        pyro_json_int(json, "pid", process->pid);
        pyro_json_count(json, "samples", process->samples);
        pyro_json_count(json, "gc_pauses", process->pauses);
        pyro_json_real(json, "gc_pause_ms", (double)process->pause_ns / NS_PER_MS);
        pyro_json_real(json, "gc_longest_pause_ms", (double)process->longest_pause_ns / NS_PER_MS);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* ---- Series
 * ---------------------------------------------------------------------------------------------------------- */

static void write_process(struct pyro_json_writer *json, const struct pyro_profiling *profile, int32_t thread)
{
    const struct pyro_thread_row *row = thread < 0 ? NULL : pyro_tracks_thread(profile->tracks, (size_t)thread);
    int32_t process = pyro_profiling_process_of(profile, thread);
    pyro_json_int(json, "process", process < 0 ? PYRO_NONE : process);
    pyro_json_text(json, "thread", row && row->parent >= 0 ? row->name : PYRO_SLICE_NULL);
}

static void write_series_head(struct pyro_json_writer *json, const struct pyro_profiling *profile, int32_t number)
{
    const struct pyro_series_row *series = pyro_tracks_series(profile->tracks, (size_t)number);
    const char *unit = pyro_profiling_unit(profile, series->unit);
    write_process(json, profile, series->thread);
    pyro_json_text(json, "name", series->name);
    pyro_json_text(json, "labels", series->labels);
    pyro_json_text(json, "unit", unit ? pyro_slice_from(unit) : series->unit);
    pyro_json_string(json, "type", series->type == PYRO_SERIES_COUNTER ? "counter" : "gauge");
}

static double minutes_of(const struct pyro_profiling *profile, int64_t time_ns)
{
    return ((double)time_ns - (double)profile->start_ns) / NS_PER_MINUTE;
}

/* Of times and minutes of marks: the minutes are since the start of the profile. */
static void write_times(struct pyro_json_writer *json, const struct pyro_profiling *profile,
                        const struct pyro_track *track, const char *key, const char *key_minutes)
{
    pyro_json_begin_numbers(json, key);
    for (size_t i = 0; i < track->count; i++)
        pyro_json_number(json, pyro_json_whole_ms(track->marks[i].start_ns));
    pyro_json_end_numbers(json);
    if (!profile->choice.normalize)
        return;
    pyro_json_begin(json, key_minutes, '[');
    for (size_t i = 0; i < track->count; i++)
        pyro_json_real(json, NULL, minutes_of(profile, track->marks[i].start_ns));
    pyro_json_end(json, ']');
}

static void write_series_track(struct pyro_json_writer *json, const struct pyro_profiling *profile,
                               const struct pyro_track *track)
{
    const struct pyro_series_row *series = pyro_tracks_series(profile->tracks, (size_t)track->series);
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    write_series_head(json, profile, track->series);
    write_times(json, profile, track, "time_ms", "time_min");
    pyro_json_begin(json, "value", '[');
    for (size_t i = 0; i < track->count; i++)
        pyro_json_real(json, NULL, pyro_profiling_value(profile, series->unit, track->marks[i].value));
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_spans_track(struct pyro_json_writer *json, const struct pyro_profiling *profile,
                              const struct pyro_track *track)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    write_process(json, profile, track->thread);
    write_times(json, profile, track, "start_ms", "start_min");
    pyro_json_begin(json, "duration_ms", '[');
    for (size_t i = 0; i < track->count; i++)
        pyro_json_real(json, NULL, (double)track->marks[i].duration_ns / NS_PER_MS);
    pyro_json_end(json, ']');
    pyro_json_begin(json, "kind", '[');
    for (size_t i = 0; i < track->count; i++)
        pyro_json_string(json, NULL, pyro_span_kind_name((enum pyro_span_kind)track->marks[i].code));
    pyro_json_end(json, ']');
    pyro_json_begin_numbers(json, "merged");
    for (size_t i = 0; i < track->count; i++)
        pyro_json_number(json, (int64_t)track->marks[i].merged);
    pyro_json_end_numbers(json);
    pyro_json_end(json, '}');
}

static bool is_wanted(const struct pyro_profiling *profile, const struct pyro_track *track, enum pyro_track_kind kind)
{
    if (track->kind != kind)
        return false;
    return kind == PYRO_TRACK_OF_POINTS ? profile->takes_series[track->series]
                                        : pyro_profiling_process_of(profile, track->thread) >= 0;
}

/* `kind` of tracks, in the member of this name. */
static bool write_tracks(struct pyro_json_writer *json, const struct pyro_profiling *profile, const char *name,
                         enum pyro_track_kind kind, struct pyro_arena *arena)
{
    const struct pyro_track_window window = {profile->start_ns, profile->end_ns, PYRO_PROFILING_POINTS, 0};
    struct pyro_track_iterator iterator;
    struct pyro_track track;
    bool timed = pyro_profiling_is_timed(profile);
    bool done = !timed || pyro_track_begin(&iterator, profile->tracks, &window, arena);
    pyro_json_line(json);
    pyro_json_begin(json, name, '[');
    while (done && timed && pyro_track_next(&iterator, &track)) {
        if (!is_wanted(profile, &track, kind))
            continue;
        if (kind == PYRO_TRACK_OF_POINTS)
            write_series_track(json, profile, &track);
        else
            write_spans_track(json, profile, &track);
        pyro_output_flush(json->output, false);
    }
    pyro_json_end(json, ']');
    return done;
}

static void write_maxima(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    size_t series = pyro_tracks_count(profile->tracks, PYRO_TRACK_SERIES);
    pyro_json_line(json);
    pyro_json_begin(json, "maxima", '[');
    for (size_t i = 0; i < series; i++) {
        const struct pyro_point_row *most = &profile->most[i];
        if (most->series < 0)
            continue;
        const struct pyro_series_row *row = pyro_tracks_series(profile->tracks, i);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        write_series_head(json, profile, (int32_t)i);
        pyro_json_real(json, "value", pyro_profiling_value(profile, row->unit, most->value));
        pyro_json_int(json, "time_ms", pyro_json_whole_ms(most->time_ns));
        if (profile->choice.normalize)
            pyro_json_real(json, "time_min", minutes_of(profile, most->time_ns));
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

enum work { TASKS, STAGES, JOBS };

static void write_work_row(struct pyro_json_writer *json, const struct pyro_profiling_work *row, enum work kind)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_int(json, "id", row->id);
    if (kind == TASKS)
        pyro_json_int(json, "stage", row->stage);
    if (kind != JOBS)
        pyro_json_int(json, "attempt", row->attempt);
    if (kind == TASKS)
        pyro_json_int(json, "process", row->process < 0 ? PYRO_NONE : row->process);
    else
        pyro_json_text(json, "name", row->name);
    pyro_json_int(json, "start_ms", pyro_json_whole_ms(row->start_ns));
    pyro_json_int(json, "end_ms", pyro_json_whole_ms(row->end_ns));
    pyro_json_end(json, '}');
}

static void write_work(struct pyro_json_writer *json, const char *name, const struct pyro_profiling_works *works,
                       enum work kind)
{
    pyro_json_line(json);
    pyro_json_begin(json, name, '[');
    for (size_t i = 0; i < works->count; i++)
        write_work_row(json, &works->items[i], kind);
    pyro_json_end(json, ']');
}

static void write_findings(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    const struct pyro_diagnosis *diagnosis = profile->diagnosis;
    pyro_json_line(json);
    pyro_json_begin(json, "findings", '[');
    for (size_t i = 0; diagnosis && i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id", finding->id);
        pyro_json_string(json, "rule", finding->rule->id);
        pyro_json_string(json, "severity", pyro_severity_name(finding->severity));
        pyro_json_text(json, "title", finding->title);
        pyro_json_int(json, "stage", finding->stage);
        pyro_json_int(json, "attempt", finding->attempt);
        pyro_json_text(json, "executor", finding->executor);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* ---- Methods
 * --------------------------------------------------------------------------------------------------------- */

static void write_methods_of(struct pyro_json_writer *json, enum pyro_sample_event event,
                             const struct pyro_profiling_samples *samples)
{
    double whole = samples->weight > 0 ? (double)samples->weight : (double)NAN;
    for (size_t i = 0; i < samples->method_count; i++) {
        const struct pyro_profiling_method *method = &samples->methods[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "event", pyro_sample_event_name(event));
        pyro_json_text(json, "function", method->function);
        pyro_json_text(json, "file", method->file);
        pyro_json_text(json, "language", method->language);
        pyro_json_string(json, "unit", pyro_sample_event_unit(event));
        pyro_json_int(json, "self", method->self);
        pyro_json_int(json, "waiting", method->waiting);
        pyro_json_int(json, "total", method->total);
        pyro_json_real(json, "self_share", (double)method->self / whole);
        pyro_json_real(json, "total_share", (double)method->total / whole);
        pyro_json_end(json, '}');
    }
}

static void write_samples(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    pyro_json_line(json);
    pyro_json_begin(json, "samples", '[');
    for (int event = 0; event < PYRO_SAMPLE_EVENTS; event++) {
        const struct pyro_profiling_samples *samples = &profile->samples[event];
        if (samples->count == 0 && samples->left_out == 0)
            continue;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "event", pyro_sample_event_name((enum pyro_sample_event)event));
        pyro_json_string(json, "unit", pyro_sample_event_unit((enum pyro_sample_event)event));
        pyro_json_count(json, "records", samples->count);
        pyro_json_int(json, "weight", samples->weight);
        pyro_json_int(json, "left_out", samples->left_out);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_methods(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    pyro_json_line(json);
    pyro_json_begin(json, "top_methods", '[');
    for (int event = 0; event < PYRO_SAMPLE_EVENTS; event++)
        if (!pyro_sample_event_is_bytes((enum pyro_sample_event)event))
            write_methods_of(json, (enum pyro_sample_event)event, &profile->samples[event]);
    pyro_json_end(json, ']');
}

static void write_allocations(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    int64_t weight = profile->samples[PYRO_SAMPLE_ALLOC].weight;
    pyro_json_line(json);
    pyro_json_begin(json, "top_allocations", '[');
    for (size_t i = 0; i < profile->allocation_count; i++) {
        const struct pyro_profiling_allocation *row = &profile->allocations[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "class", row->class_name);
        pyro_json_text(json, "function", row->function);
        pyro_json_text(json, "file", row->file);
        pyro_json_text(json, "language", row->language);
        pyro_json_int(json, "bytes", row->bytes);
        pyro_json_real(json, "share", weight > 0 ? (double)row->bytes / (double)weight : (double)NAN);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_serialization(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    pyro_json_line(json);
    pyro_json_begin(json, "serialization", '[');
    for (size_t i = 0; i < profile->serialization_count; i++) {
        const struct pyro_profiling_serialization *row = &profile->serialization[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "stage", row->stage);
        pyro_json_int(json, "attempt", row->attempt);
        pyro_json_string(json, "event", pyro_sample_event_name(row->event));
        pyro_json_string(json, "unit", pyro_sample_event_unit(row->event));
        pyro_json_int(json, "weight", row->weight);
        pyro_json_int(json, "spark", row->serializers[PYRO_SERIALIZER_SPARK]);
        pyro_json_int(json, "java", row->serializers[PYRO_SERIALIZER_JAVA]);
        pyro_json_int(json, "kryo", row->serializers[PYRO_SERIALIZER_KRYO]);
        pyro_json_real(json, "share", row->weight > 0 ? (double)row->sum / (double)row->weight : (double)NAN);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_head(struct pyro_json_writer *json, const struct pyro_profiling *profile)
{
    const struct pyro_app *app = profile->diagnosis ? profile->diagnosis->app : NULL;
    bool timed = pyro_profiling_is_timed(profile);
    pyro_json_line(json);
    pyro_json_string(json, "schema", "pyrometer.profile/1");
    pyro_json_line(json);
    pyro_json_text(json, "application_id", app ? app->application.id : PYRO_SLICE_NULL);
    pyro_json_text(json, "application_name", app ? app->application.name : PYRO_SLICE_NULL);
    pyro_json_int(json, "start_ms", timed ? pyro_json_whole_ms(profile->start_ns) : PYRO_NONE);
    pyro_json_int(json, "end_ms", timed ? pyro_json_whole_ms(profile->end_ns) : PYRO_NONE);
}

bool pyro_profiling_json(struct pyro_output *output, const struct pyro_profiling *profile, struct pyro_arena *arena)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    write_head(&json, profile);
    pyro_json_artefacts(&json, "files", profile->tracks, false);
    write_processes(&json, profile);
    bool done = write_tracks(&json, profile, "series", PYRO_TRACK_OF_POINTS, arena) &&
                write_tracks(&json, profile, "spans", PYRO_TRACK_OF_SPANS, arena);
    write_maxima(&json, profile);
    write_work(&json, "tasks", &profile->tasks, TASKS);
    pyro_json_count(&json, "tasks_left_out", profile->tasks.left_out);
    write_work(&json, "stages", &profile->stages, STAGES);
    write_work(&json, "jobs", &profile->jobs, JOBS);
    write_findings(&json, profile);
    write_samples(&json, profile);
    write_methods(&json, profile);
    write_allocations(&json, profile);
    write_serialization(&json, profile);
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
    return done;
}
