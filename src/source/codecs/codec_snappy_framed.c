/* Google's framing of snappy (framing_format.txt), which snzip and python-snappy write: people recompress with these.
 *
 *     chunk: type (1), length (LE 24), payload; the stream begins with chunk 0xff "sNaPpY", which may recur
 *
 * Data chunks (0 compressed, 1 raw) begin with a masked CRC-32C of their plain bytes, at most 64 KiB. Types 0x80-0xfe
 * are skipped, 0x02-0x7f must not be. */
#include <string.h>

#include "libraries/libsnappy.h"
#include "source/codecs/codec_blocks.h"

enum { MAGIC_BYTES = 10, HEADER_BYTES = 4, CRC_BYTES = 4, PREAMBLE_BYTES = 5, CHUNK_LIMIT = 65536 };
enum { TYPE_COMPRESSED = 0x00, TYPE_RAW = 0x01, TYPE_SKIPPABLE = 0x80, TYPE_STREAM = 0xff };

#define MAGIC "\xff\x06\x00\x00sNaPpY"

/* CRC-32C (Castagnoli, reflected 0x82f63b78), four bits a step: this framing is rare, a larger table is not worth it.
 */
static uint32_t crc32c(const unsigned char *bytes, size_t len)
{
    static const uint32_t NIBBLES[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ NIBBLES[crc & 15];
        crc = crc >> 4 ^ NIBBLES[crc & 15];
    }
    return ~crc;
}

static uint32_t masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

static bool recognises(const unsigned char *head, size_t len)
{
    return pyro_magic_matches(head, len, MAGIC, MAGIC_BYTES);
}

static const char *parse_data(const unsigned char *at, size_t len, uint32_t stored, struct pyro_codec_block *ret)
{
    if (stored < CRC_BYTES)
        return "snappy stream is damaged: impossible chunk length";
    if (len < HEADER_BYTES + CRC_BYTES)
        return "snappy stream ends inside a chunk";
    ret->header = HEADER_BYTES + CRC_BYTES;
    ret->stored = stored - CRC_BYTES;
    ret->checksum = pyro_le32(at + HEADER_BYTES);
    ret->raw = at[0] == TYPE_RAW;
    ret->plain = ret->stored;
    if (!ret->raw) {
        size_t preamble = len - ret->header < ret->stored ? len - ret->header : ret->stored;
        if (preamble < PREAMBLE_BYTES && preamble < ret->stored)
            return "snappy stream ends inside a chunk";
        if (snappy_uncompressed_length((const char *)at + ret->header, preamble, &ret->plain) != SNAPPY_OK)
            return "snappy stream is damaged: impossible plain length";
    }
    return ret->plain > CHUNK_LIMIT ? "snappy stream is damaged: impossible plain length" : NULL;
}

static const char *parse(const unsigned char *at, size_t len, struct pyro_codec_block *ret)
{
    if (len < HEADER_BYTES)
        return "snappy stream ends inside a chunk";
    uint32_t stored = pyro_le24(at + 1);
    if (at[0] == TYPE_COMPRESSED || at[0] == TYPE_RAW)
        return parse_data(at, len, stored, ret);
    if (at[0] < TYPE_SKIPPABLE)
        return "snappy stream is damaged: a chunk of unknown type";
    if (at[0] == TYPE_STREAM && !pyro_magic_matches(at, len, MAGIC, MAGIC_BYTES))
        return "snappy stream is damaged: wrong stream identifier";
    ret->header = HEADER_BYTES;
    ret->stored = stored;
    return NULL;
}

static const char *decode(const struct pyro_codec_block *block, const unsigned char *payload, unsigned char *plain)
{
    size_t len = block->plain;
    if (block->raw)
        memcpy(plain, payload, len);
    else if (snappy_uncompress((const char *)payload, block->stored, (char *)plain, &len) != SNAPPY_OK ||
             len != block->plain)
        return "snappy stream is damaged: a chunk does not decompress";
    return masked(crc32c(plain, len)) == block->checksum ? NULL : "snappy stream is damaged: checksum mismatch";
}

static const struct pyro_codec_block_format FORMAT = {
    .header_max = HEADER_BYTES + CRC_BYTES + PREAMBLE_BYTES,
    .cut = "snappy stream ends inside a chunk",
    .parse = parse,
    .decode = decode,
};

static enum pyro_status framed_open(const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                    void **ret_state, struct pyro_error *error)
{
    PYRO_TRY(pyro_snappy_load(error));
    return pyro_codec_blocks_open(&FORMAT, allocator, input, ret_state, error);
}

const struct pyro_codec pyro_codec_snappy_framed = {
    .name = "snappy",
    .recognises = recognises,
    .open = framed_open,
    .read = pyro_codec_blocks_read,
    .close = pyro_codec_blocks_close,
    .take = pyro_codec_blocks_take_unit,
    .unpack = pyro_codec_blocks_unpack_unit,
};
