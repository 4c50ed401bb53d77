/* What exports call processes of which traces recorded threads. */
#ifndef PYRO_EXPORT_THREAD_NAMES_H
#define PYRO_EXPORT_THREAD_NAMES_H

#include "model/tracks/tracks.h"

enum { PYRO_PROCESS_NAME_BYTES = 128 };

/* "executor 3 (process 123)", "driver (process 7)", "process 8". */
void pyro_process_name(const struct pyro_thread_row *process, char ret[PYRO_PROCESS_NAME_BYTES]);

#endif
