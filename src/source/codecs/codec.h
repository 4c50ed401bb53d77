/* A codec turns a stream of compressed bytes into plain ones, block by block. One file each, listed in codecs.def. */
#ifndef PYRO_SOURCE_CODECS_CODEC_H
#define PYRO_SOURCE_CODECS_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Where a decoder takes its input from: `read` gives 1..capacity bytes, or 0 at the end. */
struct pyro_byte_input {
    enum pyro_status (*read)(void *context, void *buffer, size_t capacity, size_t *ret_len, struct pyro_error *error);
    void *context;
};

struct pyro_codec_block_format;

/* Stored bytes that decompress alone, whole frames or blocks, taken out of a stream without decompressing them. Several
 * may be unpacked at the same time, by any threads. Zeroed to begin with, and used again and again. */
struct pyro_unit {
    const struct pyro_allocator *allocator; /* borrowed */
    const struct pyro_codec *codec;
    const struct pyro_codec_block_format *format; /* of a codec of codec_blocks.h; other codecs do not set it */
    unsigned char *stored;
    size_t len, capacity;
    size_t plain_most; /* it decompresses to no more */
    void *scratch;     /* the codec's, kept from one unit to the next */
};

enum {
    PYRO_UNIT_STORED_BYTES = 64 * 1024,       /* frames and blocks are taken together up to about this, */
    PYRO_UNIT_PLAIN_BYTES = 1024 * 1024,      /* or that, where it is known */
    PYRO_UNIT_PLAIN_MOST = 8 * 1024 * 1024,   /* plain_most is no more */
    PYRO_UNIT_FRAME_STORED_MOST = 256 * 1024, /* larger frames and blocks are read by `read` */
    PYRO_UNIT_FRAME_PLAIN_MOST = 4 * 1024 * 1024
};

struct pyro_codec {
    const char *name;
    /* True when a stream that begins with these bytes (at most PYRO_SNIFF_BYTES, fewer in short files) is of this
     * codec. A stream that is cut inside its magic number is of it too; an empty one never is. */
    bool (*recognises)(const unsigned char *head, size_t len);
    enum pyro_status (*open)(const struct pyro_allocator *allocator, struct pyro_byte_input input, void **ret_state,
                             struct pyro_error *error);
    /* As pyro_reader_read(). Sets *ret_damage (a static string, NULL before the call) when the stream is damaged or
     * cut, always together with 0 bytes; is not called again after it gave 0 bytes. */
    enum pyro_status (*read)(void *state, void *buffer, size_t capacity, size_t *ret_len, const char **ret_damage,
                             struct pyro_error *error);
    void (*close)(void *state); /* NULL is ignored */
    /* Where the framing has parts that decompress alone, else NULL. `take` takes the next ones out of the stream;
     * unit->len 0: `read` goes on, which finds the end, damage, and whatever is too large for a unit. */
    enum pyro_status (*take)(void *state, struct pyro_unit *unit, struct pyro_error *error);
    /* Gives what `read` would have given, at most unit->plain_most bytes; *ret_damage: the stream ends there. */
    enum pyro_status (*unpack)(struct pyro_unit *unit, void *plain, size_t *ret_len, const char **ret_damage,
                               struct pyro_error *error);
    void (*unpack_done)(void *scratch); /* NULL: nothing to release */
};

/* Copies what was found into the unit. */
enum pyro_status pyro_unit_set(struct pyro_unit *unit, const void *stored, size_t len, size_t plain_most,
                               struct pyro_error *error);
void pyro_unit_done(struct pyro_unit *unit);

enum { PYRO_SNIFF_BYTES = 64 };

/* The codec of a stream that begins with these bytes, or NULL when it is plain (or of no codec known here). */
const struct pyro_codec *pyro_codec_recognise(const unsigned char *head, size_t len);

/* For `recognises`: whether a stream begins with `magic`, or is so short that it ends inside it. */
bool pyro_magic_matches(const unsigned char *head, size_t len, const char *magic, size_t magic_len);

/* Optional: Debian has no static library of it. */
bool pyro_lzf_available(void);

#define PYRO_CODEC(variable) extern const struct pyro_codec variable;
#include "source/codecs/codecs.def"
#undef PYRO_CODEC

#endif
