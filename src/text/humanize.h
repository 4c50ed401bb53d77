/* Numbers as people read them: "1 h 12 min", "1.2 GiB", "12,345", "20 %". Integers throughout, so that neither locale
 * nor compiler shows. Unknown (PYRO_NONE, NaN) is "-". */
#ifndef PYRO_TEXT_HUMANIZE_H
#define PYRO_TEXT_HUMANIZE_H

#include <stdint.h>

#include "base/strings/strbuf.h"

void pyro_human_ms(struct pyro_strbuf *buffer, int64_t ms);
/* "9.2-14 min"; one number when both look the same; "up to 14 min" from zero. */
void pyro_human_ms_range(struct pyro_strbuf *buffer, int64_t low, int64_t high);
void pyro_human_bytes(struct pyro_strbuf *buffer, int64_t bytes);
void pyro_human_count(struct pyro_strbuf *buffer, int64_t count);
void pyro_human_share(struct pyro_strbuf *buffer, double share);
/* Two decimals: confidences. */
void pyro_human_hundredths(struct pyro_strbuf *buffer, double value);
/* `unit` as evidence names it: "ms", "bytes", "ratio", "share", "count", or any other word. */
void pyro_human_quantity(struct pyro_strbuf *buffer, double value, const char *unit);
/* "2026-01-31 09:05:00 UTC", or with the offset. */
void pyro_human_time(struct pyro_strbuf *buffer, int64_t epoch_ms, int64_t utc_offset_s);
/* "12.3 %" of a number of thousandths. */
void pyro_human_permille(struct pyro_strbuf *buffer, unsigned permille);
/* Thousandths of the sum of `parts` (none negative) by largest remainder: they add up to 1000, or are all 0 when every
 * part is. `count` <= 32. */
void pyro_permille_parts(const int64_t *parts, size_t count, unsigned *permille);

#endif
