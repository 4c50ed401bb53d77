/* The tracks as the files of this folder see them. */
#ifndef PYRO_MODEL_TRACKS_TRACK_TABLES_H
#define PYRO_MODEL_TRACKS_TRACK_TABLES_H

#include "base/collections/map.h"
#include "base/strings/intern.h"
#include "model/tracks/row_table.h"
#include "model/tracks/tracks.h"

/* Columns that others than adding and reading a row name; the rest are in the order of add.c. */
enum { PYRO_OWNER_COLUMN_THREAD = 0, PYRO_OWNER_COLUMN_START = 1 };
enum { PYRO_SPAN_COLUMN_PARENT = 1, PYRO_SPAN_COLUMN_START = 4 };
enum { PYRO_POINT_COLUMN_TIME = 1, PYRO_SAMPLE_COLUMN_TIME = 1, PYRO_MESSAGE_COLUMN_TIME = 0 };
enum { PYRO_TASK_STATE_COLUMN_START = 2, PYRO_TASK_WAIT_COLUMN_TASK = 0 };
enum { PYRO_CONFIDENCE_SCALE = 1000000 };

struct pyro_tracks {
    const struct pyro_allocator *allocator;
    struct pyro_string_pool *strings;
    struct pyro_map known; /* hash of a row that is kept once -> its kind << 32 | its number */
    PYRO_VEC(struct pyro_artefact_row) artefacts;
    PYRO_VEC(struct pyro_clock_row) clocks;
    PYRO_VEC(struct pyro_thread_row) threads;
    PYRO_VEC(struct pyro_series_row) series;
    PYRO_VEC(struct pyro_frame_row) frames;
    PYRO_VEC(struct pyro_stack_row) stacks;
    PYRO_VEC(struct pyro_template_row) templates;
    struct pyro_row_table rows[PYRO_TRACK_TABLES]; /* those of the other tables */
    uint64_t dropped[PYRO_TRACK_TABLES];
    bool sealed;
};

/* Seals owners and sorts them by thread, those of a thread by their start. False: no memory. */
bool pyro_tracks_sort_owners(struct pyro_row_table *owners);

/* Appends a row, or counts it when the table is full. False: no memory. */
bool pyro_tracks_append(struct pyro_tracks *tracks, enum pyro_track_table table, const int64_t *values);
/* Number of a text in the pool, -1 of none. False: no memory. */
bool pyro_tracks_number(struct pyro_tracks *tracks, struct pyro_slice text, int64_t *ret);
struct pyro_slice pyro_tracks_text_of(const struct pyro_tracks *tracks, int64_t number);
/* All values of a row. */
void pyro_tracks_read(const struct pyro_tracks *tracks, enum pyro_track_table table, size_t row, int64_t *values);

#endif
