/* What is known of traces and streams while their events are read. */
#ifndef PYRO_DECODE_TRACE_CTF_CTF_READER_H
#define PYRO_DECODE_TRACE_CTF_CTF_READER_H

#include "base/collections/map.h"
#include "decode/trace/ctf/ctf_program.h"

enum {
    PYRO_CTF_WINDOW = 128 << 10,    /* bytes of a stream in memory */
    PYRO_CTF_WINDOW_MAX = 16 << 20, /* for an event that does not fit */
    PYRO_CTF_OPEN_FILES = 256,      /* streams after these open their file for each piece */
    PYRO_CTF_STREAMS_MAX = 1 << 16,
};

/* ns = base + clock / frequency, rounded down. */
struct pyro_ctf_clock {
    int64_t base_ns;
    uint64_t frequency;
};

int64_t pyro_ctf_time(const struct pyro_ctf_clock *clock, uint64_t value);
struct pyro_ctf_clock pyro_ctf_clock_of(const struct pyro_ctf_clock_class *class);

/* A class of events, ready to read. */
struct pyro_ctf_reading {
    struct pyro_slice name;
    int kind;
    unsigned slots;
    struct pyro_ctf_program program;
    uint64_t count;
};

/* A class of streams, ready to read. */
struct pyro_ctf_stream_kind {
    uint64_t id;
    struct pyro_ctf_program context, header;
    struct pyro_ctf_clock clock;
    bool has_clock;
    unsigned discarded_bits;  /* of the counter */
    PYRO_VEC(uint32_t) by_id; /* rows of the trace's classes + 1, for small ids */
    struct pyro_map by_large_id;
};

struct pyro_ctf_source {
    struct pyro_ctf_trace facts;
    int32_t number;
    struct pyro_arena arena;
    struct pyro_ctf_metadata metadata;
    struct pyro_ctf_store store;
    struct pyro_ctf_program packet_header;
    struct pyro_ctf_stream_kind *kinds;
    size_t kind_count;
    struct pyro_ctf_reading *classes;
    size_t class_count;
    unsigned registers;
    int64_t shift_ns;
    struct pyro_slice inside; /* the real path of the folder that all files must lie in; null: anywhere */
    struct pyro_strbuf problem;
};

struct pyro_ctf_packet {
    uint64_t at, end; /* bytes of the file */
    uint64_t content; /* bits from `at` */
    uint64_t begin_clock, end_clock;
    bool has_end, cut;
    bool entered; /* losses before it were reported */
};

/* A file of events. `window` has the bytes `window_at` to `window_at + filled` of it; run.data is at `origin` in it, a
 * multiple of PYRO_CTF_ALIGN_MAX bits after the packet's begin. */
struct pyro_ctf_stream {
    struct pyro_ctf_source *source;
    const struct pyro_ctf_stream_kind *kind;
    struct pyro_slice path; /* ends in NUL */
    int fd;                 /* -1: it is opened for each piece */
    uint64_t size;
    unsigned char *window;
    size_t capacity, filled, origin;
    uint64_t window_at;
    bool in_packet, ended, started;
    struct pyro_ctf_packet packet;
    struct pyro_ctf_run run;
    uint64_t last_end; /* clock at the end of the packet before; with `has_last` */
    uint64_t last_discarded, last_number;
    bool has_last;
    int64_t last_ns; /* of the event before */
    unsigned used_slots;
    struct pyro_ctf_event event;
    void (*lose)(void *context, const struct pyro_ctf_loss *loss);
    void *context;
};

/* ctf_source.c: metadata, ready to read. `calls->want` is asked for each class. */
enum pyro_status pyro_ctf_prepare(struct pyro_ctf_source *source, const char *metadata,
                                  const struct pyro_ctf_calls *calls, const struct pyro_allocator *allocator,
                                  struct pyro_error *error);
void pyro_ctf_source_free(struct pyro_ctf_source *source, const struct pyro_allocator *allocator);

/* ctf_window.c. Opens the file; 0 or an errno. */
int pyro_ctf_stream_open(struct pyro_ctf_stream *stream, bool keep_open, const struct pyro_allocator *allocator);
void pyro_ctf_stream_close(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator);
/* More bytes after those in the window; those before the bit `from` of the run are no longer needed. *ret_more false:
 * the file has no more, or an event is too large for any window. False: no memory. */
bool pyro_ctf_fill(struct pyro_ctf_stream *stream, uint64_t *from, bool *ret_more,
                   const struct pyro_allocator *allocator);
/* Places the run at a byte of the file. */
void pyro_ctf_go_to(struct pyro_ctf_stream *stream, uint64_t place);
/* How far the run may read in the window and in `content` bits of the packet. True: the window is what ends it. */
bool pyro_ctf_set_limit(struct pyro_ctf_stream *stream, uint64_t content);

/* ctf_packet.c. Reads the header of the packet at run's place. 1: a packet; 0: the file ends here; -1: no memory;
 * -2: this is not a packet, or it is cut in its header. */
int pyro_ctf_open_packet(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator);
/* Reports what was lost before the packet and in it. */
void pyro_ctf_enter_packet(struct pyro_ctf_stream *stream);
void pyro_ctf_leave_packet(struct pyro_ctf_stream *stream);
void pyro_ctf_lose(struct pyro_ctf_stream *stream, int64_t from_ns, int64_t until_ns, uint64_t events, const char *why);
int64_t pyro_ctf_stream_time(const struct pyro_ctf_stream *stream, uint64_t clock);
/* The time of the newest event, or of the packet's begin. */
int64_t pyro_ctf_stream_now(const struct pyro_ctf_stream *stream);

/* ctf_stream.c. The next wanted event in stream->event. 1: there is one; 0: no more; -1: no memory. */
int pyro_ctf_stream_next(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator);

#endif
