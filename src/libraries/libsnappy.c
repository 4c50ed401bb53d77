#include "libraries/libsnappy.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(snappy, PYRO_SNAPPY_FUNCTIONS, PYRO_LIBSNAPPY, "logs compressed with snappy")
