/* Tracks on the axis of time: the spans of a thread, the points of a series, or what a thread of tasks did as the
 * kernel saw it, as a picture with a given number of pixels needs them. Timelines and exporters read the tables of
 * model/tracks through this iterator. */
#ifndef PYRO_ANALYZE_TRACKS_TRACK_H
#define PYRO_ANALYZE_TRACKS_TRACK_H

#include "base/memory/arena.h"
#include "model/tracks/tracks.h"

enum pyro_track_kind { PYRO_TRACK_OF_SPANS, PYRO_TRACK_OF_POINTS, PYRO_TRACK_OF_STATES };

/* What is drawn: times in nanoseconds since 1970. A row shorter than a pixel is merged with its neighbours there. */
struct pyro_track_window {
    int64_t from_ns, to_ns; /* from < to */
    size_t pixels;          /* 1..PYRO_TRACK_PIXELS */
    size_t state_pixels;    /* the same for tracks of states; 0: without them */
};
enum { PYRO_TRACK_PIXELS = 16384 };

struct pyro_track_mark {
    int64_t start_ns, duration_ns; /* of merged rows from the first one's start to the last one's end; 0 of points */
    int32_t code;                  /* enum pyro_span_kind or pyro_kernel_state, of merged rows the longest one's; -1 of
                                      points */
    double value;                  /* as of the span or point, of merged points the largest one; NaN without one */
    uint64_t merged;               /* rows that it stands for */
};

struct pyro_track {
    enum pyro_track_kind kind;
    int32_t thread;                      /* row of threads */
    int32_t series;                      /* row of series, -1 of others */
    const struct pyro_track_mark *marks; /* by start; at most 2 x pixels; until the next call */
    size_t count;
};

struct pyro_track_iterator {
    const struct pyro_tracks *tracks;
    struct pyro_track_window window;
    struct pyro_arena *arena;
    uint32_t *span_rows, *point_rows, *state_rows; /* grouped by thread, by series, by thread; in the order of time */
    size_t *span_begins, *point_begins, *state_begins; /* of each group, and the end of the last */
    struct pyro_track_mark *marks;
    size_t threads, series, state_threads, at;
};

/* `tracks` may be NULL: there is none. Memory comes from the arena: 4 bytes for each span, point and state. False: none
 * left. */
bool pyro_track_begin(struct pyro_track_iterator *iterator, const struct pyro_tracks *tracks,
                      const struct pyro_track_window *window, struct pyro_arena *arena);
/* The next track that has a row in the window: spans by thread, then points by series, then states by
 * thread. False at the end. */
bool pyro_track_next(struct pyro_track_iterator *iterator, struct pyro_track *ret);

#endif
