/* A hash of bytes as text, to compare contents. It finds accidental changes, not forged ones. */
#ifndef PYRO_BASE_COLLECTIONS_DIGEST_H
#define PYRO_BASE_COLLECTIONS_DIGEST_H

#include "base/strings/slice.h"

enum { PYRO_DIGEST_BYTES = 33 };

/* XXH128 in hexadecimal digits, as `xxhsum -H128` prints it. */
void pyro_digest(struct pyro_slice bytes, char ret[PYRO_DIGEST_BYTES]);

#endif
