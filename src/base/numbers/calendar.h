/* Days of the proleptic Gregorian calendar, and times as logs and servers write them. */
#ifndef PYRO_BASE_NUMBERS_CALENDAR_H
#define PYRO_BASE_NUMBERS_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

/* Reads "24/03/01 10:15:02", "2024-03-01 10:15:02,123", "2024-03-01T10:15:02.123456+01:00" and the like: two or four
 * digits of the year, '/' or '-', blank or 'T', up to nine digits of a second, and a zone (Z, UTC, +01:00, +0100).
 * Returns how many bytes it takes, 0: there is no such time. A time without a zone counts as one in UTC. */
size_t pyro_date_time_read(struct pyro_slice text, int64_t *ret_ms, bool *ret_zoned);
/* Z, UTC, GMT, +01, +0100 or +01:00, in seconds; returns how many bytes it takes. */
size_t pyro_zone_read(struct pyro_slice text, int64_t *ret_seconds);
/* Of two digits; -1: there are none. The caller checks that there are two bytes. */
static inline int pyro_two_digits(const char *text)
{
    unsigned tens = (unsigned char)text[0] - '0', ones = (unsigned char)text[1] - '0';
    return tens < 10 && ones < 10 ? (int)(tens * 10 + ones) : -1;
}
/* Days from 1970-01-01 to a day: month 1..12; years from -10^15 to 10^15. A day beyond its month's end runs into the
 * next. */
int64_t pyro_days_of(int64_t year, int64_t month, int64_t day);
/* The day of such a number, of at most 10^17. */
void pyro_day_split(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day);
/* Digits of a second behind its point, at most nine, as milliseconds. Returns how many there are. */
size_t pyro_fraction_read(struct pyro_slice text, int64_t *ret_ms);

#endif
