#include "decode/eventlog/events.h"

#include "decode/eventlog/decoders.h"

#define pyro_decode_hot  NULL
#define pyro_decode_none NULL

/* PICK(checks_job_start) is 1, PICK(anything else) 0: the second argument after the macro has been replaced. */
#define checks_job_start                     0, 1
#define checks_stage_submitted               0, 1
#define checks_stage_completed               0, 1
#define checks_sql_execution_start           0, 1
#define checks_sql_adaptive_execution_update 0, 1
#define SECOND(first, second, ...)           second
#define PICK(...)                            SECOND(__VA_ARGS__, 0, 0)

const struct pyro_event pyro_events[] = {
#define PYRO_EVENT(name, decoder, listener) {{name, sizeof(name) - 1}, pyro_decode_##decoder, PICK(checks_##decoder)},
#include "decode/eventlog/events.def"
#undef PYRO_EVENT
};

const int pyro_event_count = sizeof(pyro_events) / sizeof(*pyro_events);

int pyro_event_find(struct pyro_slice name)
{
    for (int i = 0; i < pyro_event_count; i++)
        if (pyro_slice_eq(pyro_events[i].name, name))
            return i;
    return PYRO_EVENT_UNKNOWN;
}
