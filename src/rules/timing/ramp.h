/* Work that waited because executors which came later were not there yet. */
#ifndef PYRO_RULES_TIMING_RAMP_H
#define PYRO_RULES_TIMING_RAMP_H

#include "rules/rule.h"

enum { PYRO_RAMP_STRETCHES = 16 };

struct pyro_ramp {
    double waited_ms;    /* of wall time with tasks waiting, too few slots, and more to come */
    double lost_ms;      /* what that cost by the clock */
    double fewest, most; /* slots: the fewest meanwhile, and the most that came in the end */
    /* The first stretches of it, epoch ms: since when, without what a start takes anyway, and when all were
     * available. */
    struct {
        double from, to;
    } stretches[PYRO_RAMP_STRETCHES];
    size_t stretch_count;
};

/* False when there is no memory (and context->failed is set). */
bool pyro_ramp_measure(struct pyro_rule_context *context, struct pyro_ramp *ret);

#endif
