#include "base/numbers/saturate.h"
#include "catalog/catalog.h"

enum pyro_catalog_outcome pyro_catalog_outcome(const struct pyro_attempt *attempt, int64_t now_ms, int64_t stale_ms)
{
    if (attempt->completed)
        return attempt->failed ? PYRO_CATALOG_FAILED : PYRO_CATALOG_COMPLETED;
    return pyro_sub_saturating(now_ms, attempt->modified_ms) > stale_ms ? PYRO_CATALOG_TRUNCATED : PYRO_CATALOG_RUNNING;
}

const char *pyro_catalog_outcome_name(enum pyro_catalog_outcome outcome)
{
    static const char *const names[PYRO_CATALOG_OUTCOMES] = {"completed", "failed", "running", "truncated"};
    return names[outcome];
}

int64_t pyro_catalog_last_ms(const struct pyro_attempt *attempt)
{
    if (attempt->completed)
        return attempt->end_ms;
    return attempt->last_event_ms >= 0 ? attempt->last_event_ms : attempt->modified_ms;
}
