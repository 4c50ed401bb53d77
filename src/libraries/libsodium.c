#include "libraries/libsodium.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(sodium, PYRO_SODIUM_FUNCTIONS, PYRO_LIBSODIUM, "tokens")
