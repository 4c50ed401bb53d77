/* Snappy, which is C++: event logs compressed with it. */
#ifndef PYRO_LIBRARIES_LIBSNAPPY_H
#define PYRO_LIBRARIES_LIBSNAPPY_H

#include <snappy-c.h>

#include "libraries/on_demand.h"

#define PYRO_SNAPPY_FUNCTIONS(FUNCTION)                                                                                \
    FUNCTION(snappy_uncompress)                                                                                        \
    FUNCTION(snappy_uncompressed_length)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(snappy, PYRO_SNAPPY_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#define snappy_uncompress          pyro_snappy_functions.snappy_uncompress
#define snappy_uncompressed_length pyro_snappy_functions.snappy_uncompressed_length
#endif

#endif
