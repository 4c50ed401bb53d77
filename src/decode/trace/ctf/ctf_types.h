/* What the metadata of a trace say, in the same form for both versions: types of fields as a tree, and the classes of
 * streams and events. All of it lies in one arena. */
#ifndef PYRO_DECODE_TRACE_CTF_CTF_TYPES_H
#define PYRO_DECODE_TRACE_CTF_CTF_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collections/vec.h"
#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/strbuf.h"

enum {
    PYRO_CTF_METADATA_MAX = 64 << 20, /* bytes of a file `metadata`; those of a Linux kernel have some 300 KiB */
    PYRO_CTF_LEVELS = 32,             /* of types inside types */
    PYRO_CTF_ALIGN_MAX = 4096,        /* bits */
    PYRO_CTF_CLASSES_MAX = 1 << 20,   /* of events, of one trace */
    PYRO_CTF_STREAM_CLASSES_MAX = 256,
};

enum pyro_ctf_kind {
    PYRO_CTF_INTEGER, /* enumerations and booleans too */
    PYRO_CTF_REAL,
    PYRO_CTF_LEB, /* an integer of 7 bits a byte, least first */
    PYRO_CTF_STRING,
    PYRO_CTF_STRUCT,
    PYRO_CTF_VARIANT,
    PYRO_CTF_OPTIONAL, /* a variant with one member or nothing */
    PYRO_CTF_ARRAY,
    PYRO_CTF_SEQUENCE,
};

enum pyro_ctf_byte_order { PYRO_CTF_NATIVE, PYRO_CTF_LITTLE, PYRO_CTF_BIG };

/* What a field is for. In version 1.8 its name says so, in version 2 its roles. */
enum pyro_ctf_role {
    PYRO_CTF_NO_ROLE,
    PYRO_CTF_MAGIC,
    PYRO_CTF_UUID,
    PYRO_CTF_STREAM_ID,
    PYRO_CTF_EVENT_ID,
    PYRO_CTF_TIMESTAMP,
    PYRO_CTF_PACKET_END,
    PYRO_CTF_CONTENT_SIZE,
    PYRO_CTF_PACKET_SIZE,
    PYRO_CTF_SEQUENCE_NUMBER,
    PYRO_CTF_DISCARDED,
    PYRO_CTF_CPU,
    PYRO_CTF_ROLES
};

/* The parts of a packet and of an event, in the order in which they come. */
enum pyro_ctf_scope {
    PYRO_CTF_PACKET_HEADER,
    PYRO_CTF_PACKET_CONTEXT,
    PYRO_CTF_EVENT_HEADER,
    PYRO_CTF_COMMON_CONTEXT,
    PYRO_CTF_EVENT_CONTEXT,
    PYRO_CTF_PAYLOAD,
    PYRO_CTF_SCOPES
};

enum { PYRO_CTF_SEARCHED = -1, PYRO_CTF_RELATIVE = -2 };

/* Where the length or the selector of a field is. */
struct pyro_ctf_location {
    int origin;                    /* a scope; SEARCHED: the nearest field of that name before it, as in version 1.8;
                                    * RELATIVE: from the structure that it lies in */
    const struct pyro_slice *path; /* null elements: the structure around */
    size_t path_len;
};

/* Both ends included; of a signed field the bits of signed numbers. */
struct pyro_ctf_range {
    uint64_t first, last;
};

/* A name of values of an enumeration; only selectors of variants need them. */
struct pyro_ctf_label {
    struct pyro_slice name;
    struct pyro_ctf_range range;
};

struct pyro_ctf_member {
    struct pyro_slice name;
    const struct pyro_ctf_type *type;
    const struct pyro_ctf_range *ranges; /* of an option of version 2; else the labels of the selector say which */
    size_t range_count;
};

struct pyro_ctf_type {
    uint8_t kind, order, role;
    uint8_t unit;                      /* STRING: bytes of a character */
    bool is_signed;                    /* INTEGER, LEB */
    bool character;                    /* INTEGER: arrays of it are texts */
    bool reversed;                     /* INTEGER, REAL: its bits are in the order that its byte order does not have */
    bool boolean;                      /* INTEGER: a selector that is true or false */
    bool fixed;                        /* it has `bits` wherever it lies */
    uint32_t align;                    /* bits, a power of 2; of a structure the greatest of its members */
    uint8_t depth;                     /* levels of types below it */
    uint64_t bits;                     /* with `fixed`, from its own alignment on */
    uint64_t count;                    /* ARRAY */
    unsigned line;                     /* of the metadata */
    struct pyro_slice clock;           /* INTEGER: whose time it is; null: none */
    struct pyro_ctf_location location; /* SEQUENCE, VARIANT, OPTIONAL */
    const struct pyro_ctf_type *element;   /* ARRAY, SEQUENCE */
    const struct pyro_ctf_member *members; /* STRUCT, VARIANT, OPTIONAL */
    size_t member_count;
    const struct pyro_ctf_label *labels; /* INTEGER */
    size_t label_count;
};

struct pyro_ctf_clock_class {
    struct pyro_slice id; /* how fields and streams name it */
    struct pyro_slice name, uuid;
    uint64_t frequency;
    int64_t offset_s, offset;
    bool absolute;
};

struct pyro_ctf_stream_class {
    uint64_t id;
    const struct pyro_ctf_type *scopes[PYRO_CTF_SCOPES]; /* PACKET_CONTEXT to COMMON_CONTEXT; NULL: there is none */
    struct pyro_slice clock;                             /* version 2; null: the fields say it */
};

struct pyro_ctf_event_class {
    uint64_t id, stream;
    struct pyro_slice name;
    const struct pyro_ctf_type *context, *payload; /* NULL: there is none */
    unsigned line;
};

struct pyro_ctf_metadata {
    const struct pyro_allocator *allocator;
    struct pyro_arena *arena; /* borrowed */
    struct pyro_strbuf text;  /* of the file; names are slices of it */
    int version;
    bool big_endian; /* 1.8: what integers are that do not say it */
    bool has_uuid;
    unsigned char uuid[16];
    const struct pyro_ctf_type *packet_header;
    struct pyro_slice host, tracer, domain, machine;
    int tracer_major, tracer_minor;
    PYRO_VEC(struct pyro_ctf_clock_class) clocks;
    PYRO_VEC(struct pyro_ctf_stream_class) streams;
    PYRO_VEC(struct pyro_ctf_event_class) events;
};

void pyro_ctf_metadata_init(struct pyro_ctf_metadata *metadata, struct pyro_arena *arena,
                            const struct pyro_allocator *allocator);
void pyro_ctf_metadata_done(struct pyro_ctf_metadata *metadata);

/* Reads the file. PYRO_ERROR_INPUT: it cannot be read; the message says the line. */
enum pyro_status pyro_ctf_read_metadata(const char *path, struct pyro_ctf_metadata *metadata, struct pyro_error *error);
/* The two languages. The text stays as long as the metadata. The second one writes over it, and may read
 * PYRO_SCAN_PADDING bytes after it. */
enum pyro_status pyro_ctf_parse_tsdl(struct pyro_ctf_metadata *metadata, const char *text, size_t len,
                                     struct pyro_error *error);
enum pyro_status pyro_ctf_parse_fragments(struct pyro_ctf_metadata *metadata, char *text, size_t len,
                                          struct pyro_error *error);

/* Takes over what the environment of a trace says. `text` is null for a number. */
void pyro_ctf_take_environment(struct pyro_ctf_metadata *metadata, struct pyro_slice name, struct pyro_slice text,
                               int64_t number);

/* Fills in the size, alignment and depth of a type whose inner types have theirs. NULL: it can be used; else why not.
 */
const char *pyro_ctf_settle(struct pyro_ctf_type *type);

static inline bool pyro_ctf_is_power(uint64_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

#endif
