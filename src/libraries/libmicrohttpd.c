#include "libraries/libmicrohttpd.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(microhttpd, PYRO_MICROHTTPD_FUNCTIONS, PYRO_LIBMICROHTTPD, "the server")
