#include "codec_kit.h"

#include <snappy-c.h>
#include <stdlib.h>

#define CODEC (&pyro_codec_snappy)

static void add_header(struct pyro_strbuf *stream)
{
    pyro_strbuf_add(stream, "\x82SNAPPY\0", 8);
    kit_add_be32(stream, 1);
    kit_add_be32(stream, 1);
}

static void add_chunk(struct pyro_strbuf *stream, const char *plain, size_t len)
{
    size_t stored = snappy_max_compressed_length(len);
    char *packed = malloc(stored);
    assert_non_null(packed);
    assert_int_equal(snappy_compress(plain, len, packed, &stored), SNAPPY_OK);
    kit_add_be32(stream, stored);
    pyro_strbuf_add(stream, packed, stored);
    free(packed);
}

static void add_stream(struct pyro_strbuf *stream, const char *plain, size_t len, size_t chunk)
{
    add_header(stream);
    for (size_t i = 0; i < len; i += chunk)
        add_chunk(stream, plain + i, len - i < chunk ? len - i : chunk);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {1, 1000, 32768, 32769, 200000};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
        add_stream(&stream, plain.data, plain.len, 32768);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_done(&stream);
        pyro_strbuf_done(&plain);
    }
}

static void test_header_recurs(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_stream(&stream, plain.data, 1000, 300);
    add_header(&stream);
    add_stream(&stream, plain.data + 1000, 2000, 5000);
    add_header(&stream);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_empty_chunk_content(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(10), stream = {0};
    add_header(&stream);
    add_chunk(&stream, "", 0);
    add_chunk(&stream, plain.data, plain.len);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_damage_after_good_chunks(void **state)
{
    (void)state;
    static const struct {
        size_t stored;
        const char *payload;
        const char *damage;
    } CASES[] = {
        {0, "", "impossible chunk length"},
        {0xffffffff, "0123456789", "impossible chunk length"},
        {0x10000000, "0123456789", "impossible chunk length"},
        {1000000, "\x05hello", "ends inside a chunk"},
        {6, "\xff\xff\xff\xff\x0f.", "impossible plain length"},
        {6, "\xff\xff\xff\xff\xff.", "impossible plain length"},
        {10, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff", "does not decompress"},
    };
    struct pyro_strbuf plain = kit_text(2000), stream = {0};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        pyro_strbuf_clear(&stream);
        add_stream(&stream, plain.data, plain.len, 500);
        kit_add_be32(&stream, CASES[i].stored);
        pyro_strbuf_add_text(&stream, CASES[i].payload);
        kit_expect_damage(CODEC, &stream, &plain, CASES[i].damage);
    }
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_cuts_and_flips(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_stream(&stream, plain.data, plain.len, 1000);
    /* Without an end mark only cuts at the edges of chunks (behind the header, 1st and 2nd chunk) look whole. */
    assert_int_equal(kit_cut_everywhere(CODEC, &stream, &plain, false), stream.len - 1 - 3);
    kit_flip_bits(CODEC, &stream, &plain, false);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),          cmocka_unit_test(test_header_recurs),
        cmocka_unit_test(test_empty_chunk_content), cmocka_unit_test(test_damage_after_good_chunks),
        cmocka_unit_test(test_cuts_and_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
