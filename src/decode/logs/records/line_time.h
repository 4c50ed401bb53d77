/* Times as lines of logs begin with them. */
#ifndef PYRO_DECODE_LOGS_RECORDS_LINE_TIME_H
#define PYRO_DECODE_LOGS_RECORDS_LINE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

/* Reads "24/03/01 10:15:02", "2024-03-01 10:15:02,123", "2024-03-01T10:15:02.123456+01:00" and the like: two or four
 * digits of the year, '/' or '-', blank or 'T', up to nine digits of a second, and a zone (Z, UTC, +01:00, +0100).
 * Returns how many bytes it takes, 0: there is no such time. A time without a zone counts as one in UTC. */
size_t pyro_line_time_read(struct pyro_slice text, int64_t *ret_ms, bool *ret_zoned);
/* Z, UTC, GMT, +01, +0100 or +01:00, in seconds; returns how many bytes it takes. */
size_t pyro_line_zone_read(struct pyro_slice text, int64_t *ret_seconds);
/* Of two digits; -1: there are none. The caller checks that there are two bytes. */
static inline int pyro_two_digits(const char *text)
{
    unsigned tens = (unsigned char)text[0] - '0', ones = (unsigned char)text[1] - '0';
    return tens < 10 && ones < 10 ? (int)(tens * 10 + ones) : -1;
}
/* Days from 1970-01-01 to a day of the calendar. */
int64_t pyro_line_days(int year, int month, int day);
/* Digits of a second behind its point, at most nine, as milliseconds. Returns how many there are. */
size_t pyro_line_fraction_read(struct pyro_slice text, int64_t *ret_ms);

#endif
