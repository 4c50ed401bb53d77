/* A hash of bytes as text, for those who compare contents. It finds changes, but nobody who wants to hide one. */
#ifndef PYRO_BASE_COLLECTIONS_DIGEST_H
#define PYRO_BASE_COLLECTIONS_DIGEST_H

#include "base/strings/slice.h"

enum { PYRO_DIGEST_BYTES = 33 };

/* XXH128 in hexadecimal digits, as `xxhsum -H128` prints it. */
void pyro_digest(struct pyro_slice bytes, char ret[PYRO_DIGEST_BYTES]);

#endif
