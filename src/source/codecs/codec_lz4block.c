/* LZ4Block: what lz4-java's LZ4BlockOutputStream writes, and so Spark with spark.io.compression.codec=lz4.
 *
 *     "LZ4Block", token, compressed length (LE 32), plain length (LE 32), checksum (LE 32), payload
 *
 * The token's high half is the method (0x10 raw, 0x20 LZ4), its low half the largest block as a power of two over
 * 1 KiB. A block of length 0 ends a stream; streams may follow each other. The checksum is xxHash32 of the plain bytes
 * without its top four bits, which lz4-java drops. */
#include <lz4.h>
#include <string.h>
#include <xxhash.h>

#include "source/codecs/codec_blocks.h"

enum { MAGIC_BYTES = 8, HEADER_BYTES = 21, METHOD_RAW = 0x10, METHOD_LZ4 = 0x20, LEVEL_BASE = 10 };

#define CHECKSUM_SEED 0x9747b28cU
#define CHECKSUM_MASK 0x0fffffffU

static bool recognises(const unsigned char *head, size_t len)
{
    if (!pyro_magic_matches(head, len, "LZ4Block", MAGIC_BYTES))
        return false;
    return len <= MAGIC_BYTES || (head[MAGIC_BYTES] & 0xf0) == METHOD_RAW || (head[MAGIC_BYTES] & 0xf0) == METHOD_LZ4;
}

static const char *parse(const unsigned char *at, size_t len, struct pyro_codec_block *ret)
{
    if (!pyro_magic_matches(at, len, "LZ4Block", MAGIC_BYTES))
        return "lz4 stream is damaged: a block does not begin with its magic number";
    if (len < HEADER_BYTES)
        return "lz4 stream ends inside a block";
    unsigned method = at[MAGIC_BYTES] & 0xf0, level = at[MAGIC_BYTES] & 0x0f;
    uint32_t stored = pyro_le32(at + 9), plain = pyro_le32(at + 13);
    if (method != METHOD_RAW && method != METHOD_LZ4)
        return "lz4 stream is damaged: unknown compression method";
    /* lz4-java refuses the same: this bounds `plain` by 32 MiB. */
    if (plain > UINT32_C(1) << (LEVEL_BASE + level) || (plain == 0) != (stored == 0) ||
        stored > (uint32_t)LZ4_COMPRESSBOUND(plain) || (method == METHOD_RAW && stored != plain))
        return "lz4 stream is damaged: impossible block length";
    ret->header = HEADER_BYTES;
    ret->stored = stored;
    ret->plain = plain;
    ret->checksum = pyro_le32(at + 17);
    ret->raw = method == METHOD_RAW;
    ret->ends_stream = plain == 0;
    return ret->ends_stream && ret->checksum != 0 ? "lz4 stream is damaged: end mark with a checksum" : NULL;
}

static const char *decode(const struct pyro_codec_block *block, const unsigned char *payload, unsigned char *plain)
{
    if (block->raw)
        memcpy(plain, payload, block->plain);
    else if (LZ4_decompress_safe((const char *)payload, (char *)plain, (int)block->stored, (int)block->plain) !=
             (int)block->plain)
        return "lz4 stream is damaged: a block does not decompress";
    if ((XXH32(plain, block->plain, CHECKSUM_SEED) & CHECKSUM_MASK) != block->checksum)
        return "lz4 stream is damaged: checksum mismatch";
    return NULL;
}

static const struct pyro_codec_block_format FORMAT = {
    .header_max = HEADER_BYTES,
    .cut = "lz4 stream ends inside a block",
    .unfinished = "lz4 stream ends without its end mark",
    .parse = parse,
    .decode = decode,
};

static enum pyro_status lz4block_open(const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                      void **ret_state, struct pyro_error *error)
{
    return pyro_codec_blocks_open(&FORMAT, allocator, input, ret_state, error);
}

const struct pyro_codec pyro_codec_lz4block = {
    .name = "lz4",
    .recognises = recognises,
    .open = lz4block_open,
    .read = pyro_codec_blocks_read,
    .close = pyro_codec_blocks_close,
    .take = pyro_codec_blocks_take_unit,
    .unpack = pyro_codec_blocks_unpack_unit,
};
