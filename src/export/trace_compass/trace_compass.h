/* An application as a folder for Eclipse Trace Compass: a trace in CTF, and an analysis that shows it. */
#ifndef PYRO_EXPORT_TRACE_COMPASS_TRACE_COMPASS_H
#define PYRO_EXPORT_TRACE_COMPASS_TRACE_COMPASS_H

#include "base/error.h"
#include "export/trace_compass/write_ctf.h"
#include "rules/rule.h"

/* The XML of the analysis. */
void pyro_add_trace_compass_analysis(struct pyro_strbuf *to);

/* Events in the order of their times. */
struct pyro_compass_order;
/* NULL: no memory. `diagnosis` may be NULL. */
struct pyro_compass_order *pyro_compass_order_new(const struct pyro_app *app, const struct pyro_diagnosis *diagnosis);
void pyro_compass_order_free(struct pyro_compass_order *order);
/* Time of the first event, in nanoseconds since 1970. */
int64_t pyro_compass_first_ns(const struct pyro_compass_order *order);
void pyro_compass_write_events(const struct pyro_compass_order *order, struct pyro_compass_writer *writer);

#endif
