#include "source/codecs/zstd_frame.h"

#include <string.h>

#include "source/codecs/codec_blocks.h"

enum {
    MAGIC_BYTES = 4,
    BLOCK_HEADER_BYTES = 3,
    BLOCK_PLAIN_MOST = 128 * 1024,
    CHECKSUM_BYTES = 4,
    /* Where the window is smaller than the largest block, blocks are limited to the window. At once, libzstd accepts
     * larger ones; its streaming decoder refuses them. So these frames are for the streaming decoder. */
    WINDOW_LOG_LEAST = 17,
    WINDOW_LOG_MOST = 27, /* larger windows are for the streaming decoder, which has a limit for them */
};

#define MAGIC           UINT32_C(0xfd2fb528)
#define MAGIC_SKIPPABLE UINT32_C(0x184d2a50)

enum block_type { BLOCK_RAW, BLOCK_REPEATED, BLOCK_COMPRESSED, BLOCK_RESERVED };

/* Bytes of the header behind the magic number; 0: no frame that is known here. `at` has at least two. */
static size_t header_bytes(const unsigned char *at)
{
    static const size_t DICTIONARY_BYTES[] = {0, 1, 2, 4}, SIZE_BYTES[] = {0, 2, 4, 8};
    unsigned descriptor = at[0], dictionary = descriptor & 3, size = descriptor >> 6;
    bool single = descriptor >> 5 & 1, reserved = descriptor >> 3 & 1;
    if (dictionary || reserved)
        return 0;
    int window_log = 10 + (at[1] >> 3);
    if (!single && (window_log < WINDOW_LOG_LEAST || window_log >= WINDOW_LOG_MOST))
        return 0;
    return 1 + !single + DICTIONARY_BYTES[dictionary] + (single && size == 0 ? 1 : SIZE_BYTES[size]);
}

static enum pyro_zstd_frame_state find_skippable(const unsigned char *at, size_t len, struct pyro_zstd_frame *ret)
{
    enum { HEADER_BYTES = 8 };
    if (len < HEADER_BYTES)
        return PYRO_ZSTD_FRAME_CUT;
    uint32_t content = pyro_le32(at + MAGIC_BYTES);
    if (content > PYRO_UNIT_FRAME_STORED_MOST - HEADER_BYTES)
        return PYRO_ZSTD_FRAME_OTHER;
    *ret = (struct pyro_zstd_frame){.stored = HEADER_BYTES + content};
    return len < ret->stored ? PYRO_ZSTD_FRAME_CUT : PYRO_ZSTD_FRAME_WHOLE;
}

/* Whether the bytes that are available can begin a frame. What cannot is not waited for: libzstd reads the magic
 * numbers of its former formats differently in pieces of other sizes. */
static bool may_begin(const unsigned char *at, size_t len)
{
    size_t n = len < MAGIC_BYTES ? len : MAGIC_BYTES;
    return n == 0 || memcmp(at, "\x28\xb5\x2f\xfd", n) == 0 ||
           ((at[0] & 0xf0) == 0x50 && memcmp(at + 1, "\x2a\x4d\x18", n - 1) == 0);
}

enum pyro_zstd_frame_state pyro_zstd_frame_find(const unsigned char *at, size_t len, struct pyro_zstd_frame *ret)
{
    if (!may_begin(at, len))
        return PYRO_ZSTD_FRAME_OTHER;
    if (len < MAGIC_BYTES + 2)
        return PYRO_ZSTD_FRAME_CUT;
    if ((pyro_le32(at) & ~UINT32_C(15)) == MAGIC_SKIPPABLE)
        return find_skippable(at, len, ret);
    size_t header = pyro_le32(at) == MAGIC ? header_bytes(at + MAGIC_BYTES) : 0;
    if (header == 0)
        return PYRO_ZSTD_FRAME_OTHER;
    size_t place = MAGIC_BYTES + header, plain = 0;
    for (bool last = false; !last;) {
        if (place + BLOCK_HEADER_BYTES > len)
            return PYRO_ZSTD_FRAME_CUT;
        uint32_t block = pyro_le24(at + place);
        size_t size = block >> 3;
        enum block_type type = block >> 1 & 3;
        last = block & 1;
        plain += type == BLOCK_COMPRESSED ? BLOCK_PLAIN_MOST : size;
        place += BLOCK_HEADER_BYTES + (type == BLOCK_REPEATED ? 1 : size);
        if (type == BLOCK_RESERVED || size > BLOCK_PLAIN_MOST || plain > PYRO_UNIT_FRAME_PLAIN_MOST ||
            place > PYRO_UNIT_FRAME_STORED_MOST - CHECKSUM_BYTES)
            return PYRO_ZSTD_FRAME_OTHER;
    }
    place += at[MAGIC_BYTES] >> 2 & 1 ? CHECKSUM_BYTES : 0;
    if (place > len)
        return PYRO_ZSTD_FRAME_CUT;
    *ret = (struct pyro_zstd_frame){place, plain};
    return PYRO_ZSTD_FRAME_WHOLE;
}
