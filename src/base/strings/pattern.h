/* Regular expressions of PCRE2, compiled. */
#ifndef PYRO_BASE_STRINGS_PATTERN_H
#define PYRO_BASE_STRINGS_PATTERN_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/slice.h"

struct pyro_pattern;

/* Of `text`, matched as bytes; `flags` are PCRE2's. NULL: it is not an expression, or there is no memory; then
 * `*no_memory` is set. For all threads. */
struct pyro_pattern *pyro_pattern_new(const char *text, size_t len, uint32_t flags, bool *no_memory);
/* The same of an expression that stays where it is and is known to be one. It is compiled when it is first matched, and
 * to machine code when it has looked through so many bytes that this pays. NULL: no memory. */
struct pyro_pattern *pyro_pattern_new_fixed(const char *text, size_t len);
void pyro_pattern_free(struct pyro_pattern *pattern);
/* Of pyro_pattern_new(). */
const pcre2_code *pyro_pattern_code(const struct pyro_pattern *pattern);
/* As pcre2_match(): its result, PCRE2_ERROR_NOMEMORY also if the expression cannot be compiled. The answer is that of
 * the machine code in either case. */
int pyro_pattern_match(struct pyro_pattern *pattern, struct pyro_slice text, size_t from, pcre2_match_data *found,
                       pcre2_match_context *limits);

#endif
