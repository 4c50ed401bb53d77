/* JSON string contents to clean UTF-8. */
#ifndef PYRO_BASE_JSON_UNESCAPE_H
#define PYRO_BASE_JSON_UNESCAPE_H

#include <stdint.h>

#include "base/strings/slice.h"
#include "base/strings/strbuf.h"

/* Appends the decoded text of a JSON string (as written between its quotes). Invalid UTF-8 bytes and lone surrogates
 * become U+FFFD each, which *replaced counts (may be NULL). */
void pyro_text_decode(struct pyro_strbuf *buffer, struct pyro_slice raw, uint64_t *replaced);
/* The same into a fixed buffer; returns the length it has or would have, as snprintf does (without NUL). */
size_t pyro_text_decode_into(struct pyro_slice raw, char *buffer, size_t capacity);

#endif
