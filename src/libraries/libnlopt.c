#include "libraries/libnlopt.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(nlopt, PYRO_NLOPT_FUNCTIONS, PYRO_LIBNLOPT, "searches")
