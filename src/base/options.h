/* The caller's options with every default filled in. */
#ifndef PYRO_BASE_OPTIONS_H
#define PYRO_BASE_OPTIONS_H

#include "base/error.h"

/* `options` may be NULL. PYRO_ERROR_ARGUMENT: its size is not one that this library knows. */
enum pyro_status pyro_options_resolve(const struct pyro_options *options, struct pyro_options *ret,
                                      struct pyro_error *error);

#endif
