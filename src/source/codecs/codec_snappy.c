/* Snappy as snappy-java's SnappyOutputStream (by xerial) writes it, and so Spark with the snappy codec.
 *
 *     0x82 "SNAPPY" 0x00, version (BE 32), oldest compatible version (BE 32), then chunks: length (BE 32), raw snappy
 *
 * Where streams were joined the header occurs again instead of a chunk; no chunk is so long that its length could be
 * taken for it. There is no end mark and no checksum. */
#include <string.h>

#include "libraries/libsnappy.h"
#include "source/codecs/codec_blocks.h"

enum { MAGIC_BYTES = 8, HEADER_BYTES = 16, LENGTH_BYTES = 4, PREAMBLE_BYTES = 5 };

static const char MAGIC[MAGIC_BYTES] = {(char)0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

static bool recognises(const unsigned char *head, size_t len)
{
    return pyro_magic_matches(head, len, MAGIC, MAGIC_BYTES);
}

static const char *parse(const unsigned char *at, size_t len, struct pyro_codec_block *ret)
{
    if (pyro_magic_matches(at, len, MAGIC, MAGIC_BYTES)) {
        ret->header = HEADER_BYTES;
        return len < HEADER_BYTES ? "snappy stream ends inside its header" : NULL;
    }
    if (len < LENGTH_BYTES)
        return "snappy stream ends inside a chunk";
    uint32_t stored = pyro_be32(at);
    if (stored == 0 || stored > PYRO_CODEC_BLOCK_LIMIT)
        return "snappy stream is damaged: impossible chunk length";
    /* Raw snappy begins with its plain length, which is all that this call looks at. */
    size_t preamble = len - LENGTH_BYTES < stored ? len - LENGTH_BYTES : stored;
    size_t plain = 0;
    if (preamble < PREAMBLE_BYTES && preamble < stored)
        return "snappy stream ends inside a chunk";
    if (snappy_uncompressed_length((const char *)at + LENGTH_BYTES, preamble, &plain) != SNAPPY_OK ||
        plain > PYRO_CODEC_BLOCK_LIMIT)
        return "snappy stream is damaged: impossible plain length";
    ret->header = LENGTH_BYTES;
    ret->stored = stored;
    ret->plain = plain;
    return NULL;
}

static const char *decode(const struct pyro_codec_block *block, const unsigned char *payload, unsigned char *plain)
{
    size_t len = block->plain;
    if (snappy_uncompress((const char *)payload, block->stored, (char *)plain, &len) != SNAPPY_OK ||
        len != block->plain)
        return "snappy stream is damaged: a chunk does not decompress";
    return NULL;
}

static const struct pyro_codec_block_format FORMAT = {
    .header_max = HEADER_BYTES,
    .cut = "snappy stream ends inside a chunk",
    .parse = parse,
    .decode = decode,
};

static enum pyro_status snappy_open(const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                    void **ret_state, struct pyro_error *error)
{
    PYRO_TRY(pyro_snappy_load(error));
    return pyro_codec_blocks_open(&FORMAT, allocator, input, ret_state, error);
}

const struct pyro_codec pyro_codec_snappy = {
    .name = "snappy",
    .recognises = recognises,
    .open = snappy_open,
    .read = pyro_codec_blocks_read,
    .close = pyro_codec_blocks_close,
    .take = pyro_codec_blocks_take_unit,
    .unpack = pyro_codec_blocks_unpack_unit,
};
