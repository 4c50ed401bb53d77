/* Another application in a large plain event log (cat a b), without reading all of it. */
#ifndef PYRO_HISTORY_SECOND_START_H
#define PYRO_HISTORY_SECOND_START_H

#include "load/lines.h"

/* Calls `each` for the lines of the places where another application may begin, until it returns false: the first 16
 * MiB, and wherever the ids of started tasks fall from one sample to the next. Of one application they grow along the
 * log. A place is missed if the second application has passed the first one's ids before the next of 64 samples.
 * `size`: of the file. False: no memory. */
bool pyro_second_start_look(int fd, uint64_t size, pyro_line_callback *each, void *context);

#endif
