#include "libraries/libcurl.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(curl, PYRO_CURL_FUNCTIONS, PYRO_LIBCURL, "addresses")
