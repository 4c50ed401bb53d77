/* One chunk of a recording, wholly in memory: its header, pools of constants, and events. */
#ifndef PYRO_DECODE_PROFILING_JFR_CHUNK_H
#define PYRO_DECODE_PROFILING_JFR_CHUNK_H

#include "decode/profiling/jfr/types.h"
#include "decode/profiling/profile_reading.h"

enum {
    PYRO_JFR_HEADER = 68,           /* bytes in front of the first event */
    PYRO_JFR_CHUNK_MAX = 512 << 20, /* bytes; the JVM's own chunks have some 12 MiB */
    PYRO_JFR_EVENT_KINDS = 32,      /* at most, of jfr_events.c */
};

/* A pause or a collection: what it freed is known when the chunk is read. */
struct pyro_jfr_collection {
    int64_t gc;
    struct pyro_span_row span;
};

/* The heap around a collection. */
struct pyro_jfr_heap {
    int64_t before, after; /* PYRO_NONE: not known */
    uint32_t pauses;
};

struct pyro_jfr_frame {
    struct pyro_jfr_value method, line, kind;
};

struct pyro_jfr_chunk {
    struct pyro_profile_reading *reading;
    struct pyro_jfr_types *types;
    const unsigned char *data;
    size_t len;
    bool compressed;
    int64_t start_ns, start_ticks;
    double ticks_per_ns;
    int64_t pid;     /* PYRO_NONE: not known */
    int32_t process; /* row of `threads` */

    struct pyro_jfr_program thread, stack, method;
    struct pyro_map threads;                /* key -> row of `threads` + 1 */
    struct pyro_map stacks;                 /* key -> row of `stacks` + 2 */
    struct pyro_map methods;                /* key -> number in reading->texts + 1 */
    PYRO_VEC(struct pyro_jfr_frame) frames; /* of the stack being read */
    struct pyro_strbuf scratch;
    struct pyro_jfr_program kinds[PYRO_JFR_EVENT_KINDS];
    struct pyro_map kind_of; /* id of a type -> row of the events that are decoded + 1 */

    PYRO_VEC(struct pyro_jfr_collection) collections;
    PYRO_VEC(struct pyro_jfr_heap) heaps;
    struct pyro_map heap_of; /* number of a collection -> row of `heaps` + 1 */
    bool no_memory;
};

/* An event of the chunk. */
struct pyro_jfr_event {
    int64_t type;
    struct pyro_jfr_cursor body; /* behind its type, up to its end */
    size_t at, next;
};

/* The event at `at`; false: the chunk's end, or what is left is damaged. */
bool pyro_jfr_event_at(const struct pyro_jfr_chunk *chunk, size_t at, struct pyro_jfr_event *ret);

/* constants.c. Adds the pools of a checkpoint event to the types; false: it is damaged, or there is no memory. */
bool pyro_jfr_index_pools(struct pyro_jfr_chunk *chunk, struct pyro_jfr_cursor cursor);
void pyro_jfr_forget_pools(struct pyro_jfr_types *types);
/* Reads the constant that a value refers to. False: there is none (which is counted), or no memory. */
bool pyro_jfr_constant(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference,
                       const struct pyro_jfr_program *program, struct pyro_jfr_value *values,
                       bool (*each)(void *context, struct pyro_jfr_value *values), void *context);
/* Appends the text of a string or of a constant's first string. False: it has none. */
bool pyro_jfr_add_text(struct pyro_jfr_chunk *chunk, struct pyro_strbuf *buffer, const struct pyro_jfr_value *value);

/* resolve.c: rows for what events refer to; -1: no memory, but -1 is also the stack of an event without one. */
int32_t pyro_jfr_thread_row(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference);
int32_t pyro_jfr_stack_row(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference);
/* The stack with the name of a class as its innermost frame. */
int32_t pyro_jfr_stack_of_class(struct pyro_jfr_chunk *chunk, int32_t stack, const struct pyro_jfr_value *reference);
/* The name of a class as Java writes it ("byte[]"), interned; null where there is none. */
struct pyro_slice pyro_jfr_class_name(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference);
/* A text, interned; null where there is none. */
struct pyro_slice pyro_jfr_text(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *value);

/* Times as the JDK computes them, to the nanosecond; PYRO_NONE for a value that is not set. */
int64_t pyro_jfr_time(const struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *value);
int64_t pyro_jfr_duration(const struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *value);

/* jfr_events.c. Finds the types of the events that are decoded; then decodes one. False: no memory. */
bool pyro_jfr_bind_events(struct pyro_jfr_chunk *chunk);
bool pyro_jfr_take_event(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_event *event);
/* collections.c */
bool pyro_jfr_take_collection(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values);
bool pyro_jfr_take_pause(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values);
bool pyro_jfr_take_heap(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values);
bool pyro_jfr_write_collections(struct pyro_jfr_chunk *chunk);

#endif
