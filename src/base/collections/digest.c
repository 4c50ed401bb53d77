#include "base/collections/digest.h"

#include <stdio.h>
#include <xxhash.h>

void pyro_digest(struct pyro_slice bytes, char ret[PYRO_DIGEST_BYTES])
{
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.ptr, bytes.len));
    for (size_t i = 0; i < sizeof(hash.digest); i++)
        snprintf(ret + 2 * i, 3, "%02x", hash.digest[i]);
}
