/* What documents about recorded tracks share: times, and the list of the files that were read. */
#ifndef PYRO_REPORT_SHARED_JSON_TRACKS_H
#define PYRO_REPORT_SHARED_JSON_TRACKS_H

#include "model/tracks/tracks.h"
#include "text/json_write.h"

/* Nanoseconds as whole milliseconds; PYRO_NONE stays. */
int64_t pyro_json_whole_ms(int64_t ns);

/* The array `key` of files other than the event log. `sizes`: with their bytes. */
void pyro_json_artefacts(struct pyro_json_writer *json, const char *key, const struct pyro_tracks *tracks, bool sizes);

#endif
