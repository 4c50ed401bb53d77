#include "codec_kit.h"

#include <stdlib.h>
#include <string.h>

struct pyro_strbuf kit_text(size_t len)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    uint32_t random = 1;
    for (unsigned i = 0; text.len < len; i++) {
        random = random * 1664525u + 1013904223u;
        pyro_strbuf_printf(&text, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%u,\"Task Info\":{\"Value\":%u}}\n",
                           i / 7, random);
    }
    text.len = len;
    if (text.data)
        text.data[len] = '\0';
    return text;
}

struct memory_input {
    const unsigned char *bytes;
    size_t len, piece;
};

static enum pyro_status read_memory(void *context, void *buffer, size_t capacity, size_t *ret_len,
                                    struct pyro_error *error)
{
    struct memory_input *input = context;
    (void)error;
    assert_true(capacity > 0);
    size_t len = input->len < input->piece ? input->len : input->piece;
    if (len > capacity)
        len = capacity;
    memcpy(buffer, input->bytes, len);
    input->bytes += len;
    input->len -= len;
    *ret_len = len;
    return PYRO_OK;
}

static void assert_same(const struct pyro_strbuf *got, const struct pyro_strbuf *expected)
{
    assert_int_equal(got->len, expected->len);
    if (got->len)
        assert_memory_equal(got->data, expected->data, got->len);
}

/* Adds what the stream gives next by a unit, each of which is unpacked for itself. False: there is none. */
static bool add_unit(const struct pyro_codec *codec, void *state, struct pyro_unit *unit, struct kit_result *result)
{
    struct pyro_error error = {.size = sizeof(error)};
    unit->len = 0;
    if (codec->take)
        assert_int_equal(codec->take(state, unit, &error), PYRO_OK);
    if (unit->len == 0)
        return false;
    assert_true(unit->plain_most <= PYRO_UNIT_PLAIN_MOST);
    unsigned char *plain = malloc(unit->plain_most ? unit->plain_most : 1);
    size_t got = 0;
    assert_non_null(plain);
    assert_int_equal(codec->unpack(unit, plain, &got, &result->damage, &error), PYRO_OK);
    assert_true(got <= unit->plain_most);
    pyro_strbuf_add(&result->plain, (const char *)plain, got);
    free(plain);
    return !result->damage;
}

static struct kit_result decode(const struct pyro_codec *codec, const void *bytes, size_t len, size_t piece,
                                size_t capacity, bool by_units)
{
    /* Exactly as large as the data, so that the sanitizers see every byte read beyond it. */
    unsigned char *copy = malloc(len ? len : 1), *buffer = malloc(capacity);
    assert_non_null(copy);
    assert_non_null(buffer);
    memcpy(copy, bytes, len);
    struct memory_input input = {copy, len, piece};
    struct kit_result result = {.damage = NULL};
    struct pyro_unit unit = {.codec = codec};
    pyro_strbuf_init(&result.plain, NULL);
    struct pyro_error error = {.size = sizeof(error)};
    void *state = NULL;
    assert_int_equal(codec->open(NULL, (struct pyro_byte_input){read_memory, &input}, &state, &error), PYRO_OK);
    size_t got;
    do {
        assert_null(result.damage);
        while (by_units && add_unit(codec, state, &unit, &result))
            continue;
        if (result.damage)
            break;
        assert_int_equal(codec->read(state, buffer, capacity, &got, &result.damage, &error), PYRO_OK);
        assert_true(got <= capacity);
        assert_true(got == 0 || !result.damage);
        pyro_strbuf_add(&result.plain, (const char *)buffer, got);
    } while (got > 0);
    pyro_unit_done(&unit);
    codec->close(state);
    free(buffer);
    free(copy);
    return result;
}

struct kit_result kit_decode(const struct pyro_codec *codec, const void *bytes, size_t len, size_t piece,
                             size_t capacity)
{
    struct kit_result result = decode(codec, bytes, len, piece, capacity, false);
    struct kit_result units = decode(codec, bytes, len, piece, capacity, true);
    assert_same(&units.plain, &result.plain);
    assert_string_equal(units.damage ? units.damage : "", result.damage ? result.damage : "");
    kit_done(&units);
    return result;
}

void kit_done(struct kit_result *result)
{
    pyro_strbuf_done(&result->plain);
}

static void assert_prefix(const struct pyro_strbuf *got, const struct pyro_strbuf *whole)
{
    assert_true(got->len <= whole->len);
    if (got->len)
        assert_memory_equal(got->data, whole->data, got->len);
}

void kit_expect(const struct pyro_codec *codec, const struct pyro_strbuf *stream, const struct pyro_strbuf *plain)
{
    static const size_t PIECES[] = {1, 7, 4096, SIZE_MAX}, CAPACITIES[] = {1, 100, 40000, 4000000};
    assert_true(codec->recognises((const unsigned char *)stream->data,
                                  stream->len < PYRO_SNIFF_BYTES ? stream->len : PYRO_SNIFF_BYTES));
    for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
        for (size_t j = 0; j < sizeof(CAPACITIES) / sizeof(CAPACITIES[0]); j++) {
            struct kit_result result = kit_decode(codec, stream->data, stream->len, PIECES[i], CAPACITIES[j]);
            assert_null(result.damage);
            assert_same(&result.plain, plain);
            kit_done(&result);
        }
    }
}

void kit_expect_damage(const struct pyro_codec *codec, const struct pyro_strbuf *stream,
                       const struct pyro_strbuf *plain, const char *damage)
{
    static const size_t CAPACITIES[] = {1, 100, 40000, 4000000};
    for (size_t j = 0; j < sizeof(CAPACITIES) / sizeof(CAPACITIES[0]); j++) {
        struct kit_result result = kit_decode(codec, stream->data, stream->len, SIZE_MAX, CAPACITIES[j]);
        assert_same(&result.plain, plain);
        assert_non_null(result.damage);
        assert_non_null(strstr(result.damage, damage));
        kit_done(&result);
    }
}

size_t kit_cut_everywhere(const struct pyro_codec *codec, const struct pyro_strbuf *stream,
                          const struct pyro_strbuf *plain, bool end_marked)
{
    size_t damaged = 0;
    for (size_t cut = 1; cut < stream->len; cut++) {
        struct kit_result result = kit_decode(codec, stream->data, cut, SIZE_MAX, cut % 2 ? 1000 : 100000);
        assert_prefix(&result.plain, plain);
        if (end_marked)
            assert_non_null(result.damage);
        damaged += result.damage != NULL;
        kit_done(&result);
    }
    return damaged;
}

void kit_flip_bits(const struct pyro_codec *codec, const struct pyro_strbuf *stream, const struct pyro_strbuf *plain,
                   bool prefix)
{
    char *copy = malloc(stream->len);
    assert_non_null(copy);
    memcpy(copy, stream->data, stream->len);
    for (size_t bit = 0; bit < stream->len * 8; bit++) {
        copy[bit / 8] ^= (char)(1 << bit % 8);
        struct kit_result result = kit_decode(codec, copy, stream->len, SIZE_MAX, 100000);
        if (prefix)
            assert_prefix(&result.plain, plain);
        kit_done(&result);
        copy[bit / 8] = stream->data[bit / 8];
    }
    free(copy);
}

void kit_add_be32(struct pyro_strbuf *stream, size_t value)
{
    kit_add_be16(stream, value >> 16);
    kit_add_be16(stream, value);
}

void kit_add_be16(struct pyro_strbuf *stream, size_t value)
{
    pyro_strbuf_add_char(stream, (char)(value >> 8));
    pyro_strbuf_add_char(stream, (char)value);
}

void kit_add_le32(struct pyro_strbuf *stream, size_t value)
{
    for (int shift = 0; shift < 32; shift += 8)
        pyro_strbuf_add_char(stream, (char)(value >> shift));
}
