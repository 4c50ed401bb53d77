/* Framings of the form "header, payload, header, payload ...", where each payload decodes alone: LZ4Block, snappy-java,
 * snappy's own framing and LZF. A codec says how to read a header and how to decode a payload; buffers, cuts and the
 * order in which bytes and damage come out are handled here once. */
#ifndef PYRO_SOURCE_CODECS_CODEC_BLOCKS_H
#define PYRO_SOURCE_CODECS_CODEC_BLOCKS_H

#include "source/codecs/codec.h"

/* No writer makes larger blocks (Spark: 32 KiB unless configured; lz4-java: at most 32 MiB); a larger length is damage,
 * and must not become an allocation. */
enum { PYRO_CODEC_BLOCK_LIMIT = 64 * 1024 * 1024 };

struct pyro_codec_block {
    size_t header;     /* bytes before the payload */
    size_t stored;     /* bytes of payload */
    size_t plain;      /* bytes it decodes to; 0: nothing to decode, payload is skipped */
    uint32_t checksum; /* where the framing has one */
    bool raw;          /* stored without compression */
    bool ends_stream;  /* an end mark; another stream may follow */
};

struct pyro_codec_block_format {
    size_t header_max;      /* parse() is given that many bytes, unless the input ends before */
    const char *cut;        /* damage when the input ends inside a block */
    const char *unfinished; /* damage when the input ends without an end mark; NULL: the framing has none */
    /* Both give NULL, or what is wrong with the block. Sizes up to PYRO_CODEC_BLOCK_LIMIT are accepted. `len` > 0. */
    const char *(*parse)(const unsigned char *at, size_t len, struct pyro_codec_block *ret);
    /* Writes exactly block->plain bytes. */
    const char *(*decode)(const struct pyro_codec_block *block, const unsigned char *payload, unsigned char *plain);
};

enum pyro_status pyro_codec_blocks_open(const struct pyro_codec_block_format *format,
                                        const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                        void **ret_state, struct pyro_error *error);
/* These two are a codec's `read` and `close`. */
enum pyro_status pyro_codec_blocks_read(void *state, void *buffer, size_t capacity, size_t *ret_len,
                                        const char **ret_damage, struct pyro_error *error);
void pyro_codec_blocks_close(void *state);
/* And these its `take` and `unpack`. */
enum pyro_status pyro_codec_blocks_take_unit(void *state, struct pyro_unit *unit, struct pyro_error *error);
enum pyro_status pyro_codec_blocks_unpack_unit(struct pyro_unit *unit, void *plain, size_t *ret_len,
                                               const char **ret_damage, struct pyro_error *error);

static inline uint32_t pyro_be16(const unsigned char *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t pyro_be32(const unsigned char *p)
{
    return pyro_be16(p) << 16 | pyro_be16(p + 2);
}

static inline uint32_t pyro_le24(const unsigned char *p)
{
    return (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint32_t pyro_le32(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | pyro_le24(p);
}

#endif
