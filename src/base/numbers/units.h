/* Sizes and durations as texts. Spark's own rule (JavaUtils.byteStringAs, timeStringAs, ConfigBuilder) is that of every
 * property: blanks around it, one sign, digits, a suffix in any case. It refuses fractions ("1.5g"). What people write
 * for Pyrometer (YAML, thresholds) has its own numbers, and the same suffixes. */
#ifndef PYRO_BASE_NUMBERS_UNITS_H
#define PYRO_BASE_NUMBERS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

/* Without blanks around it, as Java's String.trim(): everything up to and including the space. */
struct pyro_slice pyro_trim(struct pyro_slice text);
/* Takes digits from the front of a text. False: there is none, or they do not fit 64 bits. */
bool pyro_take_digits(struct pyro_slice *text, int64_t *ret);
/* Digits, with a point and more digits or without, and nothing else; as Java reads it where it has at most 15 of them.
 * False: it is something else. */
bool pyro_decimal_read(struct pyro_slice text, double *ret);

/* Bytes of "k", "kb", "kib", ... "p", "pb", "pib", "b"; 0: no such suffix. Spark does not know "kib" and its like. */
int64_t pyro_size_suffix(struct pyro_slice suffix);
/* Milliseconds of "ms", "s", "m", "min", "h", "d"; 0: no such suffix. */
int64_t pyro_time_suffix(struct pyro_slice suffix);

/* As Spark reads it: "1g", "512MB", "-1", or a number of `unit` bytes. False: Spark refuses it, or it does not fit 64
 * bits. */
bool pyro_spark_size_read(struct pyro_slice text, int64_t unit, int64_t *ret_bytes);
/* As Spark reads it: "3s", "500ms", "2min", "100us" (less than 1 ms is 0), or a number of `unit` ms. */
bool pyro_spark_time_read(struct pyro_slice text, int64_t unit, int64_t *ret_ms);

#endif
