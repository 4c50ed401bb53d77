/* The lines of a log, in turn, for those that look for a few events only: each byte is looked at once. */
#ifndef PYRO_LOAD_LINES_H
#define PYRO_LOAD_LINES_H

#include "base/error.h"
#include "base/strings/slice.h"
#include "source/source.h"

/* Called for each line, without its end; PYRO_SCAN_PADDING bytes behind it may be read. False stops. */
typedef bool pyro_line_callback(void *context, struct pyro_slice line);

/* Reads parts in their order. Of a log whose parts have no limit of their own, a line of more than 256 MiB is skipped;
 * a line beyond the limit of its part is PYRO_ERROR_INPUT. Memory: twice the longest line. */
enum pyro_status pyro_lines_read(const struct pyro_log *log, pyro_line_callback *callback, void *context,
                                 struct pyro_error *error);

/* PYRO_ERROR_INPUT with the words that say so, for all who read lines of a part that has such a limit. */
enum pyro_status pyro_line_too_long(const struct pyro_log_part *part, struct pyro_error *error);

#endif
