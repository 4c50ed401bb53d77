#include "catalog/catalog.h"

enum pyro_run_outcome pyro_catalog_outcome(const struct pyro_attempt *attempt, int64_t now_ms, int64_t stale_ms)
{
    return pyro_run_outcome_now(attempt->outcome, attempt->modified_ms, now_ms, stale_ms);
}

int64_t pyro_catalog_last_ms(const struct pyro_attempt *attempt)
{
    if (attempt->completed)
        return attempt->end_ms;
    return attempt->last_event_ms >= 0 ? attempt->last_event_ms : attempt->modified_ms;
}
