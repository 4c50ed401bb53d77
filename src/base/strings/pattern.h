/* Regular expressions of PCRE2, compiled. */
#ifndef PYRO_BASE_STRINGS_PATTERN_H
#define PYRO_BASE_STRINGS_PATTERN_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyro_pattern;

/* Of `text`, matched as bytes; `flags` are PCRE2's. NULL: it is not an expression, or there is no memory; then
 * `*no_memory` is set. For all threads. */
struct pyro_pattern *pyro_pattern_new(const char *text, size_t len, uint32_t flags, bool *no_memory);
void pyro_pattern_free(struct pyro_pattern *pattern);
const pcre2_code *pyro_pattern_code(const struct pyro_pattern *pattern);

#endif
