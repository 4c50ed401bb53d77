/* A trace in the Common Trace Format 1.8, of one stream: https://diamon.org/ctf/v1.8.3/
 *
 * All fields are aligned to bytes, numbers are little-endian, texts are UTF-8 and end with a NUL byte. */
#ifndef PYRO_EXPORT_TRACE_COMPASS_WRITE_CTF_H
#define PYRO_EXPORT_TRACE_COMPASS_WRITE_CTF_H

#include "base/strings/strbuf.h"

enum pyro_compass_event {
#define PYRO_COMPASS_EVENT(id, name, fields) PYRO_COMPASS_##id,
#include "export/trace_compass/events.def"
#undef PYRO_COMPASS_EVENT
    PYRO_COMPASS_EVENTS
};

struct pyro_compass_writer {
    int fd;                    /* borrowed */
    int64_t offset_s;          /* of the clock: seconds since 1970 */
    uint64_t begin, end;       /* of the packet: nanoseconds from there */
    struct pyro_strbuf packet; /* its events, behind room for its header */
    struct pyro_strbuf plain;
    int failure; /* errno of what could not be written; 0: nothing */
};

/* Times are at least `first_ns`, in nanoseconds since 1970. */
void pyro_compass_init(struct pyro_compass_writer *writer, int fd, int64_t first_ns,
                       const struct pyro_allocator *allocator);
void pyro_compass_done(struct pyro_compass_writer *writer);
/* Its fields follow. Events come in the order of their times. */
void pyro_compass_event(struct pyro_compass_writer *writer, enum pyro_compass_event event, int64_t time_ns);
void pyro_compass_byte(struct pyro_compass_writer *writer, uint8_t value);
/* Unknown numbers are -1, unknown and empty texts are "-": babeltrace2 2.0 shows in place of an empty text the one
 * before. */
void pyro_compass_number(struct pyro_compass_writer *writer, int64_t value);
void pyro_compass_text(struct pyro_compass_writer *writer, struct pyro_slice text);
/* Writes what is left. False: `failure` says why, or there was no memory. */
bool pyro_compass_end(struct pyro_compass_writer *writer);

/* What describes the trace; `application`: its id. */
void pyro_compass_add_metadata(struct pyro_strbuf *to, const struct pyro_compass_writer *writer,
                               struct pyro_slice application);

#endif
