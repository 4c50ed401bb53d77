/* SHA-256 (FIPS 180-4) of texts in memory. */
#ifndef PYRO_FLEET_SUGGEST_SHA256_H
#define PYRO_FLEET_SUGGEST_SHA256_H

#include "base/slice.h"

enum { PYRO_SHA256_HEX = 65 }; /* with NUL */
void pyro_sha256(struct pyro_slice text, char ret[PYRO_SHA256_HEX]);

#endif
