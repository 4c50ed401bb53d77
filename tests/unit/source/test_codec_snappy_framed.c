#include "codec_kit.h"

#include <snappy-c.h>
#include <stdlib.h>

#define CODEC (&pyro_codec_snappy_framed)

enum { COMPRESSED = 0, RAW = 1 };

static void add_magic(struct pyro_strbuf *stream)
{
    pyro_strbuf_add(stream, "\xff\x06\x00\x00sNaPpY", 10);
}

static void add_chunk_header(struct pyro_strbuf *stream, int type, size_t len)
{
    kit_add_le32(stream, len << 8 | (unsigned)type);
}

/* Bit by bit, unlike the decoder's own. */
static uint32_t masked_crc32c(const char *bytes, size_t len)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void add_chunk(struct pyro_strbuf *stream, const char *plain, size_t len, int type)
{
    size_t stored = snappy_max_compressed_length(len);
    char *packed = malloc(stored);
    assert_non_null(packed);
    assert_int_equal(snappy_compress(plain, len, packed, &stored), SNAPPY_OK);
    if (type == RAW)
        stored = len;
    add_chunk_header(stream, type, stored + 4);
    kit_add_le32(stream, masked_crc32c(plain, len));
    pyro_strbuf_add(stream, type == RAW ? plain : packed, stored);
    free(packed);
}

static void add_stream(struct pyro_strbuf *stream, const char *plain, size_t len, size_t chunk, int type)
{
    add_magic(stream);
    for (size_t i = 0; i < len; i += chunk)
        add_chunk(stream, plain + i, len - i < chunk ? len - i : chunk, type);
}

static void test_checksum_of_the_standard(void **state)
{
    (void)state;
    /* RFC 3720, B.4: CRC-32C of 32 zero bytes is 0x8a9136aa. */
    char zeros[32] = {0};
    uint32_t crc = 0x8a9136aa;
    assert_int_equal(masked_crc32c(zeros, sizeof(zeros)), (crc >> 15 | crc << 17) + 0xa282ead8);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const size_t SIZES[] = {1, 1000, 65536, 65537, 200000};
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        for (int type = COMPRESSED; type <= RAW; type++) {
            struct pyro_strbuf plain = kit_text(SIZES[i]), stream = {0};
            add_stream(&stream, plain.data, plain.len, 65536, type);
            kit_expect(CODEC, &stream, &plain);
            pyro_strbuf_done(&stream);
            pyro_strbuf_done(&plain);
        }
    }
}

static void test_joined_and_skipped(void **state)
{
    (void)state;
    struct pyro_strbuf plain = kit_text(3000), stream = {0};
    add_stream(&stream, plain.data, 1000, 300, COMPRESSED);
    add_chunk_header(&stream, 0xfe, 5);
    pyro_strbuf_add_text(&stream, "\1\2\3\4\5");
    add_chunk_header(&stream, 0x80, 0);
    add_stream(&stream, plain.data + 1000, 2000, 700, RAW);
    kit_expect(CODEC, &stream, &plain);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

static void test_damage_after_good_chunks(void **state)
{
    (void)state;
    static const struct {
        int type;
        size_t stored;
        const char *payload, *damage;
    } CASES[] = {
        {0x02, 5, "12345", "unknown type"},
        {COMPRESSED, 3, "123", "impossible chunk length"},
        {RAW, 0, "", "impossible chunk length"},
        {COMPRESSED, 9, "1234\x80\x80\x80\x80\x01", "impossible plain length"},
        {RAW, 0xffffff, "1234", "impossible plain length"},
        {COMPRESSED, 10, "1234\x05\xff\xff\xff\xff\xff", "does not decompress"},
        {RAW, 8, "1234hell", "checksum mismatch"},
        {RAW, 800, "1234hell", "ends inside a chunk"},
        {0xff, 6, "sNaPpy", "wrong stream identifier"},
    };
    struct pyro_strbuf plain = kit_text(2000), stream = {0};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        pyro_strbuf_clear(&stream);
        add_stream(&stream, plain.data, plain.len, 500, COMPRESSED);
        add_chunk_header(&stream, CASES[i].type, CASES[i].stored);
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
    add_stream(&stream, plain.data, plain.len, 1000, COMPRESSED);
    assert_int_equal(kit_cut_everywhere(CODEC, &stream, &plain, false), stream.len - 1 - 3);
    pyro_strbuf_done(&stream);
    add_stream(&stream, plain.data, plain.len, plain.len, RAW);
    kit_flip_bits(CODEC, &stream, &plain, true);
    pyro_strbuf_done(&stream);
    pyro_strbuf_done(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksum_of_the_standard), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_joined_and_skipped),       cmocka_unit_test(test_damage_after_good_chunks),
        cmocka_unit_test(test_cuts_and_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
