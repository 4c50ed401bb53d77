/* The catalog of events, made from events.def. */
#ifndef PYRO_DECODE_EVENTLOG_EVENTS_H
#define PYRO_DECODE_EVENTLOG_EVENTS_H

#include <stdbool.h>

#include "base/strings/slice.h"

struct pyro_json_reader;
struct pyro_builder;

/* Decodes one record, from its first byte, into the model being built. False: json->error, or builder->failed. */
typedef bool pyro_event_decoder(struct pyro_json_reader *json, struct pyro_builder *builder);

struct pyro_event {
    struct pyro_slice name;
    pyro_event_decoder *decode; /* NULL: nothing to decode beyond its grammar */
    /* The decoder reads every byte, checks the record's end and changes the model only then: the batch need not check
     * the grammar first. So do the decoders of the largest records. */
    bool checks_itself;
};

enum { PYRO_EVENT_UNKNOWN = -1, PYRO_EVENT_TASK_END = 0, PYRO_EVENT_TASK_START = 1 };

extern const struct pyro_event pyro_events[];
extern const int pyro_event_count;

/* Row of the event with that name, or PYRO_EVENT_UNKNOWN. */
int pyro_event_find(struct pyro_slice name);

#endif
