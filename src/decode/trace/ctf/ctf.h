/* Traces in the Common Trace Format, 1.8 and 2: events of all streams in the order of their times.
 *
 *     folders -> pyro_ctf_new() .. pyro_ctf_add() -> pyro_ctf_next() until it gives no event -> pyro_ctf_free()
 *
 * A folder is a trace when it holds a file `metadata`: TSDL as text or in packets (1.8), or fragments of JSON (2). Its
 * other files are data streams. Only the fields that the caller asks for are decoded. Files are read in pieces: memory
 * grows with the number of streams and the largest event, not with bytes. Metadata and packets may be damaged: a stream
 * ends where it cannot be read, and says so. */
#ifndef PYRO_DECODE_TRACE_CTF_CTF_H
#define PYRO_DECODE_TRACE_CTF_CTF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory/allocator.h"
#include "base/strings/slice.h"

struct pyro_ctf;

/* Fields of one event that can be asked for. */
enum { PYRO_CTF_SLOTS = 12 };

/* The value of a field. Integers of any size (an unsigned one of 2^63 and more keeps its bits), enumerations as their
 * number, booleans as 0 or 1, reals rounded. Texts are slices of the reader's memory until the next call. */
struct pyro_ctf_value {
    bool known;             /* this event has the field */
    int64_t integer;        /* 0 for a text */
    struct pyro_slice text; /* null for anything else; arrays of 8-bit characters end at their first NUL */
};

/* What is asked of one class of events. */
struct pyro_ctf_wanted {
    int kind; /* the caller's number, given back with each event; -1: only count them */
    /* Names of fields, up to the first NULL: in the payload, then in the event's contexts, then in the packet's
     * context. "a|b": the first that there is. "args.1": an element of an array or a member of a structure. */
    const char *slots[PYRO_CTF_SLOTS];
};

struct pyro_ctf_event {
    int kind;        /* as in the wanted class; events of classes that are only counted do not come */
    int64_t time_ns; /* since 1970 if the trace's clock says so, else of its clock; never less than the one before of
                      * the same stream */
    int32_t trace;   /* number of its trace: order of pyro_ctf_add() */
    int32_t cpu;     /* `cpu_id` of the packet's context; -1: there is none */
    struct pyro_slice name; /* of its class, lasts as long as the reader */
    struct pyro_ctf_value slots[PYRO_CTF_SLOTS];
};

/* What cannot be read, or was lost when it was recorded. */
struct pyro_ctf_loss {
    int32_t trace;
    int32_t cpu;               /* -1: not known */
    int64_t from_ns, until_ns; /* within which events are missing; until INT64_MAX: a stream that ends early */
    uint64_t events;           /* 0: not known how many (a packet was lost, a stream is cut) */
    const char *why;           /* "events discarded", "packets lost", "stream cut", "packet damaged": literals */
};

/* Facts about a trace, known once it was added. Texts last as long as the reader; null: the metadata do not say. */
struct pyro_ctf_trace {
    struct pyro_slice path;
    int version;                    /* 18 or 2 */
    struct pyro_slice host;         /* env: hostname or host */
    struct pyro_slice tracer;       /* env: tracer_name, "lttng-modules", "lttng-ust", "perf" */
    struct pyro_slice domain;       /* env: domain, "kernel", "ust" */
    struct pyro_slice machine;      /* env: machine, "x86_64" */
    int tracer_major, tracer_minor; /* -1 */
    int64_t offset_ns;              /* what its clock's offset adds to the times of its events */
    bool absolute;           /* times are since 1970; else since an unknown point, often the start of the machine */
    struct pyro_slice clock; /* name of the clock */
    struct pyro_slice clock_uuid; /* two traces with the same have the same clock; null: not said */
    uint64_t bytes;               /* of the streams that were read until now */
    size_t streams;
    struct pyro_slice problem; /* why parts of it are not read, for people; null: nothing */
};

/* A class of events and how many came. */
struct pyro_ctf_class {
    int32_t trace;
    struct pyro_slice name;
    uint64_t count;
};

/* `want` says what to take of the events of a class; it is called once for each class, before events of it come. `lose`
 * is called while events are read, in any order of time. Both get `context`. NULL: no memory. */
struct pyro_ctf_calls {
    struct pyro_ctf_wanted (*want)(void *context, const struct pyro_ctf_trace *trace, struct pyro_slice name);
    void (*lose)(void *context, const struct pyro_ctf_loss *loss); /* may be NULL */
    void *context;
};
struct pyro_ctf *pyro_ctf_new(const struct pyro_ctf_calls *calls, const struct pyro_allocator *allocator);
void pyro_ctf_free(struct pyro_ctf *ctf);

/* Reads the metadata of the trace in the folder and opens its streams. PYRO_ERROR_INPUT: its metadata cannot be read,
 * the error says where and why, and other traces can still be added. Not after pyro_ctf_next(). */
enum pyro_status pyro_ctf_add(struct pyro_ctf *ctf, const char *folder, struct pyro_error *error);

/* Streams of traces that are added later must lie in the folder, whose real path this is: links may not lead out of it.
 * NULL: anywhere. The text is the caller's, and lasts as long as the reader. */
void pyro_ctf_keep_inside(struct pyro_ctf *ctf, const char *folder);

/* The next event of all traces by time (equal times: by order of traces, then of the names of streams). *ret NULL: no
 * more. It lasts until the next call. A damaged stream is not an error: it ends, and `lose` says so. */
enum pyro_status pyro_ctf_next(struct pyro_ctf *ctf, const struct pyro_ctf_event **ret, struct pyro_error *error);

/* Moves the times of one trace: to put several clocks on one axis. Not after pyro_ctf_next(). */
void pyro_ctf_shift(struct pyro_ctf *ctf, size_t trace, int64_t offset_ns);

size_t pyro_ctf_trace_count(const struct pyro_ctf *ctf);
const struct pyro_ctf_trace *pyro_ctf_trace(const struct pyro_ctf *ctf, size_t trace);
size_t pyro_ctf_class_count(const struct pyro_ctf *ctf);
struct pyro_ctf_class pyro_ctf_class(const struct pyro_ctf *ctf, size_t row);

/* Whether these are the first bytes of a file `metadata` of a trace. */
bool pyro_ctf_recognise(struct pyro_slice head);

#endif
