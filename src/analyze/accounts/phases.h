/* Phases of an application up to given times of its run: docs/formulas.md. */
#ifndef PYRO_ANALYZE_ACCOUNTS_PHASES_H
#define PYRO_ANALYZE_ACCOUNTS_PHASES_H

#include "analyze/accounts/marks.h"

struct pyro_phase_lengths {
    uint64_t write_ms, compute_ms;
};

/* Fills one entry for each of `until` (ms since the window's start, ascending). False: no memory. */
bool pyro_phases_until(const struct pyro_app *app, const struct pyro_window *window, const uint64_t *until,
                       size_t count, struct pyro_phase_lengths *ret);

#endif
