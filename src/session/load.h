/* Reads one log with threads and builds its application: the only place of the library that starts threads. */
#ifndef PYRO_SESSION_LOAD_H
#define PYRO_SESSION_LOAD_H

#include "model/app.h"
#include "source/source.h"

/* `options` with every default filled in. */
enum pyro_status pyro_load_log(const struct pyro_log *log, const struct pyro_options *options, struct pyro_app **ret,
                               struct pyro_error *error);

/* The log behind an index, or NULL beyond the last. */
const struct pyro_log *pyro_inputs_log(const pyro_inputs *inputs, size_t index);
/* Inputs that are this one log, found before; it is copied. */
enum pyro_status pyro_inputs_of(const struct pyro_log *log, pyro_inputs **ret, struct pyro_error *error);

#endif
