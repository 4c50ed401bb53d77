/* Progress bars of Spark, which may be in front of what is logged next: "[Stage 4:>   (0 + 2) / 2]". */
#ifndef PYRO_DECODE_LOGS_RECORDS_PROGRESS_BAR_H
#define PYRO_DECODE_LOGS_RECORDS_PROGRESS_BAR_H

#include <stdbool.h>

#include "base/strings/slice.h"

/* Whether a bar begins here. */
bool pyro_begins_progress_bar(struct pyro_slice line);
/* What is behind the bars of all stages that run; nothing if the last one is cut. */
struct pyro_slice pyro_behind_progress_bars(struct pyro_slice line);
/* A line without blanks at its begin. */
struct pyro_slice pyro_behind_blanks(struct pyro_slice line);

#endif
