#include "codec_kit.h"

#include <string.h>
#include <zlib.h>

#define CODEC (&pyro_codec_gzip)

static void add_member(struct pyro_strbuf *stream, const char *plain, size_t len)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&z, len);
    assert_true(pyro_strbuf_reserve(stream, bound));
    z.next_in = (Bytef *)(uintptr_t)plain;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)stream->data + stream->len;
    z.avail_out = (uInt)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    stream->len += bound - z.avail_out;
    deflateEnd(&z);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {0, 1, 1000, 100000, 1000000};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
        add_member(&stream, plain.data, plain.len);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_done(&stream);
        pyro_strbuf_done(&plain);
    }
}

static void test_members_and_padding(void **state)
{
    (void)state;
    static const char ZEROS[1000] = {0};
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_member(&stream, plain.data, 1000);
    add_member(&stream, plain.data, 0);
    add_member(&stream, plain.data + 1000, 2000);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_add(&stream, ZEROS, sizeof(ZEROS));
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_add_text(&stream, "x");
    kit_expect_damage(CODEC, &stream, &plain, "are not a gzip member");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_garbage_behind_member(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_member(&stream, plain.data, plain.len);
    size_t whole = stream.len;
    pyro_strbuf_add_text(&stream, "{\"Event\":");
    kit_expect_damage(CODEC, &stream, &plain, "are not a gzip member");
    stream.len = whole;
    pyro_strbuf_add_text(&stream, "\x1f");
    kit_expect_damage(CODEC, &stream, &plain, "ends inside a member");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_checksum(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(300000), stream = {0};
    add_member(&stream, plain.data, plain.len);
    stream.data[stream.len - 5] ^= 1; /* the last byte of the CRC */
    kit_expect_damage(CODEC, &stream, &plain, "checksum is wrong");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_cuts_and_flips(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_member(&stream, plain.data, plain.len);
    kit_cut_everywhere(CODEC, &stream, &plain, true);
    kit_flip_bits(CODEC, &stream, &plain, false);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_members_and_padding),
        cmocka_unit_test(test_garbage_behind_member),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_cuts_and_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
