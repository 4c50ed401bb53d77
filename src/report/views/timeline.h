/* Parts of pyrometer.timeline/1. */
#ifndef PYRO_REPORT_VIEWS_TIMELINE_H
#define PYRO_REPORT_VIEWS_TIMELINE_H

#include "report/views/views.h"

/* Writes the members "codes" and "tracks"; nothing where only the event log was read. False: no memory. */
bool pyro_timeline_tracks(struct pyro_json_writer *json, const struct pyro_view_request *request);

#endif
