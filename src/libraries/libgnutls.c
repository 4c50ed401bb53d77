#include "libraries/libgnutls.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(gnutls, PYRO_GNUTLS_FUNCTIONS, PYRO_LIBGNUTLS, "certificates")
