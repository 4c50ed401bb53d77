/* Messages of programs in a trace of LTTng's user space: those of the JVM's loggers, and of tracef(). They become rows
 * of `messages`, of the thread that wrote them. */
#ifndef PYRO_DECODE_TRACE_LOGGED_EVENTS_H
#define PYRO_DECODE_TRACE_LOGGED_EVENTS_H

#include "base/collections/map.h"
#include "decode/trace/ctf/ctf.h"
#include "decode/trace/task_windows.h"

struct pyro_artefact_reading;

struct pyro_logged_events {
    struct pyro_artefact_reading *reading;
    const struct pyro_task_windows *windows;
    struct pyro_map threads; /* of a host's process and thread -> row of the tracks' threads + 1 */
};

void pyro_logged_events_init(struct pyro_logged_events *logged, struct pyro_artefact_reading *reading);
void pyro_logged_events_done(struct pyro_logged_events *logged);
/* Slots: the message, the logger, the level, the thread, the process, the name of the thread. False: no memory. */
bool pyro_logged_events_take(struct pyro_logged_events *logged, const struct pyro_ctf_event *event,
                             struct pyro_slice host, int32_t artefact);

#endif
