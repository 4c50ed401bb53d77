/* The member "profiling": what was read in addition to the event log. Reports of an event log alone do not have it. */
#include "analyze/tracks/pauses.h"
#include "report/diagnosis/json_parts.h"
#include "report/shared/json_tracks.h"

static void write_pauses(struct pyro_json_writer *json, const struct pyro_tracks *tracks)
{
    struct pyro_arena arena;
    size_t count;
    pyro_arena_init(&arena, json->output->buffer.allocator);
    const struct pyro_pauses *pauses = pyro_pauses_of(tracks, &arena, &count);
    json->output->buffer.failed |= !pauses;
    pyro_json_line(json);
    pyro_json_begin(json, "gc_pauses", '[');
    for (size_t i = 0; pauses && i < count; i++) {
        const struct pyro_thread_row *thread = pyro_tracks_thread(tracks, (size_t)pauses[i].thread);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "executor", thread->executor);
        pyro_json_text(json, "host", thread->host);
        pyro_json_text(json, "name", thread->name);
        pyro_json_count(json, "pauses", pauses[i].count);
        pyro_json_int(json, "total_ms", pyro_json_whole_ms(pauses[i].total_ns));
        pyro_json_int(json, "longest_ms", pyro_json_whole_ms(pauses[i].longest_ns));
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_arena_done(&arena);
}

void pyro_json_profiling(struct pyro_json_writer *json, const struct pyro_tracks *tracks)
{
    if (!tracks)
        return;
    pyro_json_line(json);
    pyro_json_begin(json, "profiling", '{');
    pyro_json_artefacts(json, "artefacts", tracks, true);
    write_pauses(json, tracks);
    uint64_t left_out = 0;
    for (int table = 0; table < PYRO_TRACK_TABLES; table++)
        left_out += pyro_tracks_dropped(tracks, (enum pyro_track_table)table);
    pyro_json_count(json, "rows_left_out", left_out);
    pyro_json_end(json, '}');
}
