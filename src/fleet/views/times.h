/* Times as people give them. */
#ifndef PYRO_FLEET_VIEWS_TIMES_H
#define PYRO_FLEET_VIEWS_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-01-31", "2026-01-31T12:00:00", with a blank for the T or a Z behind it (UTC), epoch milliseconds (at least 9
 * digits), or how long before `now_ms`: "90m", "24h", "30d". */
bool pyro_fleet_time(const char *text, int64_t now_ms, int64_t *ret);

#endif
