/* Whether advice was followed, and what it saved since: docs/adoption.md has the formulas.
 *
 * Runs are those of one application, ascending by start. */
#ifndef PYRO_FLEET_ADOPTION_ADOPTION_H
#define PYRO_FLEET_ADOPTION_ADOPTION_H

#include "base/memory/arena.h"
#include "fleet/statistics/statistics.h"

enum { PYRO_ADOPTION_WINDOW = 10, PYRO_ADOPTION_LEAST = 3, PYRO_ADOPTION_GONE = 3 };

enum pyro_adoption {
    PYRO_ADOPTION_NONE,
    PYRO_ADOPTION_PARTLY, /* the value moved towards the advised one */
    PYRO_ADOPTION_FULL    /* it equals the advised one, or is at least 80 % of the way there, on a logarithmic scale */
};
/* How a run's value of a setting follows the advice to change `previous` to `advised`, values as Spark reads them. A
 * null slice: not set, which means Spark's default where that is known. */
enum pyro_adoption pyro_adoption_of(struct pyro_slice key, struct pyro_slice previous, struct pyro_slice advised,
                                    struct pyro_slice actual);

/* The runs that follow one piece of advice: from the first with full adoption, until the value changes. */
struct pyro_adoption_span {
    enum pyro_adoption adoption; /* the most that any run after the advice did */
    size_t first, end;           /* runs [first, end); both are the number of runs where none adopts in full */
};
/* `values`: of the setting, one for each run; `advised_at`: the run whose report gives the advice. */
struct pyro_adoption_span pyro_adoption_find(struct pyro_slice key, struct pyro_slice previous,
                                             struct pyro_slice advised, const struct pyro_slice *values, size_t count,
                                             size_t advised_at);
/* Advice to change the program: the first of PYRO_ADOPTION_GONE successive runs without the finding that begin at or
 * after the first run of another version than the one advised. `count`: there are none. */
size_t pyro_adoption_gone(const struct pyro_slice *versions, const bool *has_finding, size_t count, size_t advised_at);

struct pyro_adoption_run {
    double duration_ms, core_ms, input_bytes; /* NaN: unknown */
    bool completed;                           /* not failed */
};

enum pyro_realised_verdict {
    PYRO_REALISED_TOO_FEW, /* runs: 3 before and 3 after are needed */
    PYRO_REALISED_UNCLEAR, /* the interval has 0 in it */
    PYRO_REALISED_YES,
    PYRO_REALISED_HARMFUL
};
const char *pyro_realised_verdict_name(enum pyro_realised_verdict verdict);

struct pyro_realised_share {
    double share, low, high; /* Wilson's interval */
};

struct pyro_realised {
    enum pyro_realised_verdict verdict; /* of the duration */
    size_t before, after, later;        /* completed runs: in the two windows, and all that follow the advice */
    double slope;                       /* of the duration by input */
    struct pyro_shift shift;            /* of the logarithm of the duration, before - after */
    struct pyro_shift core_shift;       /* of the core time */
    /* Of all later runs together: duration x (e^shift - 1), with the ends of the interval. */
    double saved_ms, saved_low_ms, saved_high_ms;
    double saved_core_ms, saved_core_low_ms, saved_core_high_ms;
    struct pyro_realised_share failed_before, failed_after;
    double slow_ms;                                     /* 95th percentile before, at the input of the runs after */
    struct pyro_realised_share slow_before, slow_after; /* share of runs above it */
};
/* What runs [first, end) saved, compared with those before `first`: windows of up to PYRO_ADOPTION_WINDOW completed
 * runs on either side, durations adjusted to the median input after. */
bool pyro_realised_saving(const struct pyro_adoption_run *runs, size_t first, size_t end, struct pyro_arena *scratch,
                          struct pyro_realised *ret);

#endif
