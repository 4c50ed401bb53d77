#include "codec_kit.h"

#include <lz4.h>
#include <xxhash.h>

#define CODEC (&pyro_codec_lz4block)

enum { BLOCK = 32 * 1024, LEVEL = 5, RAW = 0x10, LZ4 = 0x20 };

static void add_header(struct pyro_strbuf *stream, int token, size_t stored, size_t plain, uint32_t checksum)
{
    pyro_strbuf_add_text(stream, "LZ4Block");
    pyro_strbuf_add_char(stream, (char)token);
    kit_add_le32(stream, stored);
    kit_add_le32(stream, plain);
    kit_add_le32(stream, checksum);
}

static void add_block(struct pyro_strbuf *stream, const char *plain, size_t len, bool raw)
{
    char packed[LZ4_COMPRESSBOUND(BLOCK)];
    uint32_t checksum = XXH32(plain, len, 0x9747b28c) & 0x0fffffff;
    size_t stored = raw ? len : (size_t)LZ4_compress_default(plain, packed, (int)len, sizeof(packed));
    add_header(stream, (raw ? RAW : LZ4) | LEVEL, stored, len, checksum);
    pyro_strbuf_add(stream, raw ? plain : packed, stored);
}

static void add_end(struct pyro_strbuf *stream)
{
    add_header(stream, RAW | LEVEL, 0, 0, 0);
}

static void add_stream(struct pyro_strbuf *stream, const struct pyro_strbuf *plain, size_t block, bool raw)
{
    for (size_t i = 0; i < plain->len; i += block)
        add_block(stream, plain->data + i, plain->len - i < block ? plain->len - i : block, raw);
    add_end(stream);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {1, 1000, BLOCK, BLOCK + 1, 5 * BLOCK + 77};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
        add_stream(&stream, &plain, BLOCK, false);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_clear(&stream);
        add_stream(&stream, &plain, BLOCK, true);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_done(&stream);
        pyro_strbuf_done(&plain);
    }
}

static void test_joined_streams(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    struct pyro_strbuf first = {.data = plain.data, .len = 1200}, second = {.data = plain.data + 1200, .len = 1800};
    add_end(&stream);
    add_stream(&stream, &first, 500, false);
    add_end(&stream);
    add_stream(&stream, &second, 700, true);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_without_end_mark(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_block(&stream, plain.data, plain.len, false);
    kit_expect_damage(CODEC, &stream, &plain, "without its end mark");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_damage_after_good_blocks(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(2000), stream = {0};
    static const struct {
        int token;
        size_t stored, plain;
        uint32_t checksum;
        const char *damage;
    } CASES[] = {
        {LZ4 | LEVEL, 100, BLOCK + 1, 0, "impossible block length"},
        {LZ4 | 15, 0x7fffffff, 0x7fffffff, 0, "impossible block length"},
        {LZ4 | LEVEL, 0xffffffff, 10, 0, "impossible block length"},
        {LZ4 | LEVEL, 10, 0xffffffff, 0, "impossible block length"},
        {LZ4 | LEVEL, 0, 10, 0, "impossible block length"},
        {LZ4 | LEVEL, 10, 0, 0, "impossible block length"},
        {RAW | LEVEL, 10, 11, 0, "impossible block length"},
        {RAW | LEVEL, 0, 0, 1, "end mark with a checksum"},
        {0x30 | LEVEL, 10, 10, 0, "unknown compression method"},
        {LZ4 | 15, 30000000, 30000000, 0, "ends inside a block"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        pyro_strbuf_clear(&stream);
        add_block(&stream, plain.data, plain.len, false);
        add_header(&stream, CASES[i].token, CASES[i].stored, CASES[i].plain, CASES[i].checksum);
        pyro_strbuf_add_text(&stream, "0123456789");
        kit_expect_damage(CODEC, &stream, &plain, CASES[i].damage);
    }
    pyro_strbuf_clear(&stream);
    add_block(&stream, plain.data, plain.len, false);
    pyro_strbuf_add_text(&stream, "{\"Event\":\"plain text behind the stream\"}");
    kit_expect_damage(CODEC, &stream, &plain, "does not begin with its magic number");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_checksum(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(2000), stream = {0};
    add_block(&stream, plain.data, plain.len, true);
    add_block(&stream, plain.data, plain.len, true);
    stream.data[stream.len - 1] ^= 1;
    kit_expect_damage(CODEC, &stream, &plain, "checksum mismatch");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_cuts_and_flips(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_stream(&stream, &plain, 1000, false);
    kit_cut_everywhere(CODEC, &stream, &plain, true);
    kit_flip_bits(CODEC, &stream, &plain, true);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_joined_streams),
        cmocka_unit_test(test_without_end_mark), cmocka_unit_test(test_damage_after_good_blocks),
        cmocka_unit_test(test_checksum),         cmocka_unit_test(test_cuts_and_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
