/* NLopt: the search of `pyrometer whatif --optimize`. */
#ifndef PYRO_LIBRARIES_LIBNLOPT_H
#define PYRO_LIBRARIES_LIBNLOPT_H

#include <nlopt.h>

#include "libraries/on_demand.h"

#define PYRO_NLOPT_FUNCTIONS(FUNCTION)                                                                                 \
    FUNCTION(nlopt_create)                                                                                             \
    FUNCTION(nlopt_destroy)                                                                                            \
    FUNCTION(nlopt_force_stop)                                                                                         \
    FUNCTION(nlopt_optimize)                                                                                           \
    FUNCTION(nlopt_set_lower_bounds)                                                                                   \
    FUNCTION(nlopt_set_maxeval)                                                                                        \
    FUNCTION(nlopt_set_min_objective)                                                                                  \
    FUNCTION(nlopt_set_upper_bounds)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(nlopt, PYRO_NLOPT_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#define nlopt_create            pyro_nlopt_functions.nlopt_create
#define nlopt_destroy           pyro_nlopt_functions.nlopt_destroy
#define nlopt_force_stop        pyro_nlopt_functions.nlopt_force_stop
#define nlopt_optimize          pyro_nlopt_functions.nlopt_optimize
#define nlopt_set_lower_bounds  pyro_nlopt_functions.nlopt_set_lower_bounds
#define nlopt_set_maxeval       pyro_nlopt_functions.nlopt_set_maxeval
#define nlopt_set_min_objective pyro_nlopt_functions.nlopt_set_min_objective
#define nlopt_set_upper_bounds  pyro_nlopt_functions.nlopt_set_upper_bounds
#endif

#endif
