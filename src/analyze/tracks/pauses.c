#include "analyze/tracks/pauses.h"

#include "base/numbers/saturate.h"

const struct pyro_pauses *pyro_pauses_of(const struct pyro_tracks *tracks, struct pyro_arena *arena, size_t *ret_count)
{
    size_t threads = tracks ? pyro_tracks_count(tracks, PYRO_TRACK_THREADS) : 0;
    size_t spans = tracks ? pyro_tracks_count(tracks, PYRO_TRACK_SPANS) : 0, kept = 0;
    struct pyro_pauses *rows = pyro_arena_array(arena, threads + 1, sizeof(*rows));
    *ret_count = 0;
    if (!rows)
        return NULL;
    for (size_t i = 0; i < spans; i++) {
        const struct pyro_span_row span = pyro_tracks_span(tracks, i);
        if (span.kind != PYRO_SPAN_GC_PAUSE || span.thread < 0 || (size_t)span.thread >= threads)
            continue;
        struct pyro_pauses *row = &rows[span.thread];
        row->count++;
        row->total_ns = pyro_add_saturating(row->total_ns, span.duration_ns);
        row->longest_ns = span.duration_ns > row->longest_ns ? span.duration_ns : row->longest_ns;
    }
    for (size_t i = 0; i < threads; i++) {
        rows[i].thread = (int32_t)i;
        if (rows[i].count > 0)
            rows[kept++] = rows[i];
    }
    *ret_count = kept;
    return rows;
}
