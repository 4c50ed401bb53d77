/* An event log that bytes choose: what kinds of events it has, of which ids and times, and which of their members are
 * missing or hold what Spark never writes. Nearly all bytes give a log that can be read, unlike bytes that are taken
 * for the log itself: a mutation changes what a run did, not whether there is one. */
#ifndef PYRO_FUZZ_MADE_LOG_H
#define PYRO_FUZZ_MADE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/strings/strbuf.h"

/* The texts that made logs have where secrets are: no output may show it. */
#define MADE_SECRET "Zq7planted3Secret9w"

/* Appends the log; at most MADE_EVENTS events, whatever `size` is. The first byte chooses the frame: the usual
 * beginning and end around the chosen events. */
enum { MADE_EVENTS = 120 };
void made_log_write(const uint8_t *data, size_t size, struct pyro_strbuf *ret);

#endif
