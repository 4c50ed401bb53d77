#include "codec_kit.h"

#include <lzf.h>

#define CODEC (&pyro_codec_lzf)

enum { CHUNK = 65535 };

static void add_raw(struct pyro_strbuf *stream, const char *plain, size_t len)
{
    pyro_strbuf_add(stream, "ZV\0", 3);
    kit_add_be16(stream, len);
    pyro_strbuf_add(stream, plain, len);
}

/* Falls back to a raw chunk where LZF gains nothing, as compress-lzf does. */
static void add_chunk(struct pyro_strbuf *stream, const char *plain, size_t len)
{
    static char packed[CHUNK];
    unsigned stored = len > 8 ? lzf_compress(plain, (unsigned)len, packed, (unsigned)len - 4) : 0;
    if (stored == 0) {
        add_raw(stream, plain, len);
        return;
    }
    pyro_strbuf_add(stream, "ZV\1", 3);
    kit_add_be16(stream, stored);
    kit_add_be16(stream, len);
    pyro_strbuf_add(stream, packed, stored);
}

static void add_stream(struct pyro_strbuf *stream, const char *plain, size_t len, size_t chunk)
{
    for (size_t i = 0; i < len; i += chunk)
        add_chunk(stream, plain + i, len - i < chunk ? len - i : chunk);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {1, 9, 1000, CHUNK, CHUNK + 1, 200000};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
        add_stream(&stream, plain.data, plain.len, CHUNK);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_done(&stream);
        pyro_strbuf_done(&plain);
    }
}

static void test_raw_and_empty_chunks(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_raw(&stream, "", 0);
    add_raw(&stream, plain.data, 1000);
    pyro_strbuf_add(&stream, "ZV\1\0\0\0\0", 7);
    add_chunk(&stream, plain.data + 1000, 2000);
    add_raw(&stream, "", 0);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_damage_after_good_chunks(void **state)
{
    (void)state;
#define BYTES(text) text, sizeof(text) - 1
    static const struct {
        const char *bytes;
        size_t len;
        const char *damage;
    } CASES[] = {
        {BYTES("ZV\2\0\1x"), "unknown type"},
        {BYTES("ZX\0\0\1x"), "does not begin with its magic number"},
        {BYTES("{\"Event\":"), "does not begin with its magic number"},
        {BYTES("ZV\1\0\0\0\1"), "impossible length"},
        {BYTES("ZV\1\0\1\0\0x"), "impossible length"},
        {BYTES("ZV\1\0\2\0\5\xff\xff"), "does not decompress"},
        {BYTES("ZV\0\xff\xffx"), "ends inside a chunk"},
        {BYTES("ZV"), "ends inside a chunk"},
        {BYTES("Z"), "ends inside a chunk"},
        {BYTES("ZV\1\xff\xff\xff"), "ends inside a chunk"},
    };
#undef BYTES
    struct pyro_strbuf plain = kit_text(2000), stream = {0};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        pyro_strbuf_clear(&stream);
        add_stream(&stream, plain.data, plain.len, 500);
        pyro_strbuf_add(&stream, CASES[i].bytes, CASES[i].len);
        kit_expect_damage(CODEC, &stream, &plain, CASES[i].damage);
    }
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_text_is_not_lzf(void **state)
{
    (void)state;
    assert_false(CODEC->recognises((const unsigned char *)"ZVEI report", 11));
}

static void test_cuts_and_flips(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_stream(&stream, plain.data, plain.len, 1000);
    /* Without an end mark only cuts at the edges of chunks look whole. */
    assert_int_equal(kit_cut_everywhere(CODEC, &stream, &plain, false), stream.len - 1 - 2);
    kit_flip_bits(CODEC, &stream, &plain, false);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_raw_and_empty_chunks),
        cmocka_unit_test(test_damage_after_good_chunks),
        cmocka_unit_test(test_text_is_not_lzf),
        cmocka_unit_test(test_cuts_and_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
