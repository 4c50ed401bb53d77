#include "codec_kit.h"

#include <lz4frame.h>

#define CODEC (&pyro_codec_lz4frame)

static void add_frame(struct pyro_strbuf *stream, const char *plain, size_t len, LZ4F_blockSizeID_t block,
                      LZ4F_blockMode_t mode)
{
    LZ4F_preferences_t wanted = {.frameInfo = {.blockSizeID = block,
                                               .blockMode = mode,
                                               .contentChecksumFlag = LZ4F_contentChecksumEnabled,
                                               .blockChecksumFlag = LZ4F_blockChecksumEnabled}};
    size_t bound = LZ4F_compressFrameBound(len, &wanted);
    assert_true(pyro_strbuf_reserve(stream, bound));
    size_t made = LZ4F_compressFrame(stream->data + stream->len, bound, plain, len, &wanted);
    assert_false(LZ4F_isError(made));
    stream->len += made;
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {0, 1, 1000, 65536, 65537, 1000000, 9000000};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
        add_frame(&stream, plain.data, plain.len, SIZES[i] > 1000000 ? LZ4F_max4MB : LZ4F_max64KB, LZ4F_blockLinked);
        if (SIZES[i] <= 1000000) {
            kit_expect(CODEC, &stream, &plain);
        } else { /* too large for every combination of pieces */
            struct kit_result result = kit_decode(CODEC, stream.data, stream.len, 100000, 300000);
            assert_null(result.damage);
            assert_int_equal(result.plain.len, plain.len);
            assert_memory_equal(result.plain.data, plain.data, plain.len);
            kit_done(&result);
        }
        pyro_strbuf_done(&stream);
        pyro_strbuf_done(&plain);
    }
}

static void test_several_frames(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_frame(&stream, plain.data, 1000, LZ4F_max64KB, LZ4F_blockIndependent);
    add_frame(&stream, plain.data, 0, LZ4F_max64KB, LZ4F_blockIndependent);
    kit_add_le32(&stream, 0x184d2a51); /* a skippable frame of 5 bytes */
    kit_add_le32(&stream, 5);
    pyro_strbuf_add_text(&stream, "skips");
    add_frame(&stream, plain.data + 1000, 2000, LZ4F_max1MB, LZ4F_blockLinked);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_damage(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_frame(&stream, plain.data, plain.len, LZ4F_max64KB, LZ4F_blockLinked);
    size_t whole = stream.len;
    pyro_strbuf_add_text(&stream, "{\"Event\":\"plain text behind the stream\"}");
    kit_expect_damage(CODEC, &stream, &plain, "does not begin with a frame header");
    stream.len = whole;
    stream.data[whole - 1] ^= 1;
    kit_expect_damage(CODEC, &stream, &plain, "does not decompress");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_cuts_and_flips(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_frame(&stream, plain.data, plain.len, LZ4F_max64KB, LZ4F_blockLinked);
    kit_cut_everywhere(CODEC, &stream, &plain, true);
    kit_flip_bits(CODEC, &stream, &plain, false);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_several_frames),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_cuts_and_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
