/* LZF as compress-lzf (by ning) writes it, and so Spark with the lzf codec.
 *
 *     "ZV", 0, length (BE 16), bytes            stored raw
 *     "ZV", 1, length (BE 16), plain length (BE 16), LZF block
 *
 * There is no end mark and no checksum; streams are joined by appending. */
#ifdef HAVE_LZF
#include <lzf.h>
#endif
#include <string.h>

#include "source/codecs/codec_blocks.h"

enum { TYPE_RAW = 0, TYPE_LZF = 1, RAW_HEADER_BYTES = 5, LZF_HEADER_BYTES = 7 };

static bool recognises(const unsigned char *head, size_t len)
{
    return pyro_magic_matches(head, len, "ZV", 2) && (len < 3 || head[2] <= TYPE_LZF);
}

#ifdef HAVE_LZF

static const char *parse(const unsigned char *at, size_t len, struct pyro_codec_block *ret)
{
    if (!pyro_magic_matches(at, len, "ZV", 2))
        return "lzf stream is damaged: a chunk does not begin with its magic number";
    if (len >= 3 && at[2] > TYPE_LZF)
        return "lzf stream is damaged: a chunk of unknown type";
    ret->raw = len >= 3 && at[2] == TYPE_RAW;
    ret->header = ret->raw ? RAW_HEADER_BYTES : LZF_HEADER_BYTES;
    if (len < ret->header)
        return "lzf stream ends inside a chunk";
    ret->stored = pyro_be16(at + 3);
    ret->plain = ret->raw ? ret->stored : pyro_be16(at + 5);
    return !ret->raw && (ret->plain == 0) != (ret->stored == 0) ? "lzf stream is damaged: impossible length" : NULL;
}

static const char *decode(const struct pyro_codec_block *block, const unsigned char *payload, unsigned char *plain)
{
    if (block->raw)
        memcpy(plain, payload, block->plain);
    else if (lzf_decompress(payload, (unsigned)block->stored, plain, (unsigned)block->plain) != block->plain)
        return "lzf stream is damaged: a chunk does not decompress";
    return NULL;
}

static const struct pyro_codec_block_format FORMAT = {
    .header_max = LZF_HEADER_BYTES,
    .cut = "lzf stream ends inside a chunk",
    .parse = parse,
    .decode = decode,
};

static enum pyro_status lzf_open(const struct pyro_allocator *allocator, struct pyro_byte_input input, void **ret_state,
                                 struct pyro_error *error)
{
    return pyro_codec_blocks_open(&FORMAT, allocator, input, ret_state, error);
}

#else

static enum pyro_status lzf_open(const struct pyro_allocator *allocator, struct pyro_byte_input input, void **ret_state,
                                 struct pyro_error *error)
{
    (void)allocator;
    (void)input;
    (void)ret_state;
    return pyro_error_set(error, PYRO_ERROR_INPUT,
                          "is compressed with lzf, which this build cannot read: it was made without liblzf");
}

#endif

bool pyro_lzf_available(void)
{
#ifdef HAVE_LZF
    return true;
#else
    return false;
#endif
}

const struct pyro_codec pyro_codec_lzf = {
    .name = "lzf",
    .recognises = recognises,
    .open = lzf_open,
    .read = pyro_codec_blocks_read,
    .close = pyro_codec_blocks_close,
    .take = pyro_codec_blocks_take_unit,
    .unpack = pyro_codec_blocks_unpack_unit,
};
