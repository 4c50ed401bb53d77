#include "libraries/libarchive.h"

#include "libraries/names.h"

PYRO_ON_DEMAND_TABLE(archive, PYRO_ARCHIVE_FUNCTIONS, PYRO_LIBARCHIVE, "archives")
