#include "codec_kit.h"

#include <stdlib.h>
#include <zstd.h>

#include "source/codecs/zstd_frame.h"

#define CODEC (&pyro_codec_zstd)

/* One frame; `flush_every` > 0 makes a block of each `flush_every` bytes, as Spark's flushes do. */
static void add_frame(struct pyro_strbuf *stream, const char *plain, size_t len, size_t flush_every, int checksum)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
    size_t step = flush_every ? flush_every : len;
    char packed[65536];
    for (size_t done = 0, rest;;) {
        size_t end = len - done < step ? len : done + step;
        ZSTD_inBuffer in = {len ? plain + done : plain, end - done, 0};
        do {
            ZSTD_outBuffer out = {packed, sizeof(packed), 0};
            rest = ZSTD_compressStream2(context, &out, &in, end == len ? ZSTD_e_end : ZSTD_e_flush);
            assert_false(ZSTD_isError(rest));
            pyro_strbuf_add(stream, packed, out.pos);
        } while (rest > 0);
        done = end;
        if (done == len)
            break;
    }
    ZSTD_freeCCtx(context);
}

static void add_skippable(struct pyro_strbuf *stream, const char *text)
{
    kit_add_le32(stream, 0x184d2a53);
    kit_add_le32(stream, strlen(text));
    pyro_strbuf_add_text(stream, text);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {0, 1, 1000, 128 * 1024, 128 * 1024 + 1, 1000000};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
        add_frame(&stream, plain.data, plain.len, 0, 1);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_clear(&stream);
        add_frame(&stream, plain.data, plain.len, 5000, 0);
        kit_expect(CODEC, &stream, &plain);
        pyro_strbuf_done(&stream);
        pyro_strbuf_done(&plain);
    }
}

static void test_frames_and_skippable_frames(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_skippable(&stream, "first");
    add_frame(&stream, plain.data, 1000, 0, 0);
    add_frame(&stream, plain.data, 0, 0, 1);
    add_skippable(&stream, "");
    add_frame(&stream, plain.data + 1000, 2000, 100, 1);
    add_skippable(&stream, "last");
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_long_window(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(300000), stream = {0};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 28); /* beyond the library's own default limit of 27 */
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    assert_true(pyro_strbuf_reserve(&stream, ZSTD_compressBound(plain.len)));
    /* Compressed in two steps, because a known size would shrink the window. */
    ZSTD_outBuffer out = {stream.data, stream.capacity, 0};
    ZSTD_inBuffer in = {plain.data, 100, 0};
    assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
    in.size = plain.len;
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(context);
    stream.len = out.pos;
    /* Decoded once only: with MALLOC_PERTURB_, as Meson runs tests, each window is filled, not just reserved. */
    struct kit_result result = kit_decode(CODEC, stream.data, stream.len, SIZE_MAX, 100000);
    assert_null(result.damage);
    assert_int_equal(result.plain.len, plain.len);
    assert_memory_equal(result.plain.data, plain.data, plain.len);
    kit_done(&result);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_checksum(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(300000), stream = {0};
    add_frame(&stream, plain.data, plain.len, 0, 1);
    stream.data[stream.len - 1] ^= 1;
    kit_expect_damage(CODEC, &stream, &plain, "checksum mismatch");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_garbage_behind_frame(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_frame(&stream, plain.data, plain.len, 0, 0);
    pyro_strbuf_add_text(&stream, "{\"Event\":\"plain text behind the stream\"}");
    kit_expect_damage(CODEC, &stream, &plain, "are not a frame");
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

/* Every block before the damaged one comes out, although the library takes many blocks in one call. */
static void test_blocks_before_damage(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(50000), stream = {0};
    add_frame(&stream, plain.data, plain.len, 5000, 0);
    struct pyro_strbuf longer = {0};
    pyro_strbuf_add(&longer, stream.data, stream.len - 3); /* without the empty last block */
    pyro_strbuf_add(&longer, "\xff\xff\xff", 3);           /* a block of the reserved type */
    struct kit_result whole = kit_decode(CODEC, longer.data, longer.len, SIZE_MAX, 1000000);
    assert_non_null(whole.damage);
    assert_true(whole.plain.len >= plain.len - 5000);
    assert_memory_equal(whole.plain.data, plain.data, whole.plain.len);
    kit_done(&whole);
    pyro_strbuf_done(&longer);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_cuts_and_flips(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(2000), stream = {0};
    add_frame(&stream, plain.data, plain.len, 300, 1);
    kit_cut_everywhere(CODEC, &stream, &plain, true);
    kit_flip_bits(CODEC, &stream, &plain, false);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

/* A frame of raw blocks, made by hand: zstd makes no blocks larger than the window. */
static void add_raw_frame(struct pyro_strbuf *stream, unsigned window_log, const struct pyro_strbuf *plain, size_t step)
{
    pyro_strbuf_add(stream, "\x28\xb5\x2f\xfd", 4);
    pyro_strbuf_add_char(stream, 0); /* neither size nor checksum */
    pyro_strbuf_add_char(stream, (char)((window_log - 10) << 3));
    for (size_t done = 0; done < plain->len; done += step) {
        size_t size = plain->len - done < step ? plain->len - done : step;
        size_t header = size << 3 | (done + size == plain->len);
        for (int shift = 0; shift < 24; shift += 8)
            pyro_strbuf_add_char(stream, (char)(header >> shift));
        pyro_strbuf_add(stream, plain->data + done, size);
    }
}

static enum pyro_zstd_frame_state state_of(const struct pyro_strbuf *stream)
{
    struct pyro_zstd_frame frame = {0};
    enum pyro_zstd_frame_state found = pyro_zstd_frame_find((const unsigned char *)stream->data, stream->len, &frame);
    assert_int_equal(frame.stored, found == PYRO_ZSTD_FRAME_WHOLE ? stream->len : 0);
    return found;
}

/* Blocks may not be larger than the window. Decompressing at once, libzstd does not look; so a frame is a unit only if
 * its window has room for every block. */
static void test_small_window(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(5000), none = {0}, stream = {0};
    add_raw_frame(&stream, 10, &plain, 1024);
    assert_int_equal(state_of(&stream), PYRO_ZSTD_FRAME_OTHER);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_clear(&stream);
    add_raw_frame(&stream, 10, &plain, 2000);
    assert_int_equal(state_of(&stream), PYRO_ZSTD_FRAME_OTHER);
    kit_expect_damage(CODEC, &stream, &none, "does not decompress");
    for (unsigned window_log = 16; window_log <= 17; window_log++) {
        pyro_strbuf_clear(&stream);
        add_raw_frame(&stream, window_log, &plain, 2000);
        assert_int_equal(state_of(&stream), window_log == 16 ? PYRO_ZSTD_FRAME_OTHER : PYRO_ZSTD_FRAME_WHOLE);
        kit_expect(CODEC, &stream, &plain);
    }
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

/* As the zstd command writes a file and a pipe: with a known size, and without. */
static void test_frames_of_every_level_are_units(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(100000), stream = {0};
    for (int level = 1; level <= 9; level++) {
        pyro_strbuf_clear(&stream);
        assert_true(pyro_strbuf_reserve(&stream, ZSTD_compressBound(plain.len)));
        stream.len = ZSTD_compress(stream.data, ZSTD_compressBound(plain.len), plain.data, plain.len, level);
        assert_int_equal(state_of(&stream), PYRO_ZSTD_FRAME_WHOLE);
        pyro_strbuf_clear(&stream);
        ZSTD_CCtx *context = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
        assert_true(pyro_strbuf_reserve(&stream, ZSTD_compressBound(plain.len)));
        ZSTD_outBuffer out = {stream.data, stream.capacity, 0};
        ZSTD_inBuffer in = {plain.data, 100, 0};
        assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
        in.size = plain.len;
        assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
        ZSTD_freeCCtx(context);
        stream.len = out.pos;
        assert_int_equal(state_of(&stream), PYRO_ZSTD_FRAME_WHOLE);
    }
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_frames_and_skippable_frames),
        cmocka_unit_test(test_long_window),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_garbage_behind_frame),
        cmocka_unit_test(test_blocks_before_damage),
        cmocka_unit_test(test_cuts_and_flips),
        cmocka_unit_test(test_small_window),
        cmocka_unit_test(test_frames_of_every_level_are_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
