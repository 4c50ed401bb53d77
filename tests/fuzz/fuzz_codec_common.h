/* The body of every codec's fuzz target. The first two bytes choose in what pieces input arrives and how much room the
 * caller gives; the rest is the stream. */
#ifndef PYRO_FUZZ_CODEC_COMMON_H
#define PYRO_FUZZ_CODEC_COMMON_H

#include <stdlib.h>
#include <string.h>

#include "source/codecs/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
    const uint8_t *data;
    size_t size, piece;
};

/* A few bytes can stand for gigabytes; enough is read to get everywhere. */
enum { FUZZ_OUTPUT_LIMIT = 8 * 1024 * 1024 };

static enum pyro_status fuzz_read(void *context, void *buffer, size_t capacity, size_t *ret_len,
                                  struct pyro_error *error)
{
    struct fuzz_input *input = context;
    (void)error;
    size_t len = input->size < input->piece ? input->size : input->piece;
    if (len > capacity)
        len = capacity;
    memcpy(buffer, input->data, len);
    input->data += len;
    input->size -= len;
    *ret_len = len;
    return PYRO_OK;
}

struct fuzz_result {
    size_t total;
    uint64_t hash;
    const char *damage;
    bool complete;
};

static void fuzz_count(struct fuzz_result *result, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        result->hash = (result->hash ^ bytes[i]) * 1099511628211u;
    result->total += len;
}

/* All units that come next. False: no memory, or damage. */
static bool fuzz_units(const struct pyro_codec *codec, void *state, struct pyro_unit *unit, struct fuzz_result *result)
{
    struct pyro_error error = {.size = sizeof(error)};
    while (codec->take && !result->damage && result->total < FUZZ_OUTPUT_LIMIT) {
        if (codec->take(state, unit, &error) != PYRO_OK)
            return false;
        if (unit->len == 0)
            break;
        size_t got = 0;
        unsigned char *plain = malloc(unit->plain_most ? unit->plain_most : 1);
        bool ok = plain && codec->unpack(unit, plain, &got, &result->damage, &error) == PYRO_OK;
        if (unit->plain_most > PYRO_UNIT_PLAIN_MOST || got > unit->plain_most)
            abort();
        if (ok)
            fuzz_count(result, plain, got);
        free(plain);
        if (!ok)
            return false;
    }
    return !result->damage;
}

static struct fuzz_result fuzz_read_all(const struct pyro_codec *codec, struct fuzz_input input, size_t room,
                                        bool by_units)
{
    struct fuzz_result result = {.hash = 14695981039346656037u};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_unit unit = {.codec = codec};
    void *state = NULL;
    if (codec->open(NULL, (struct pyro_byte_input){fuzz_read, &input}, &state, &error) != PYRO_OK)
        return result;
    unsigned char *buffer = malloc(room);
    enum pyro_status status = PYRO_OK;
    size_t got = 0, limit = room < 65536 ? 65536 : FUZZ_OUTPUT_LIMIT; /* byte by byte takes too long */
    do {
        if (by_units && !fuzz_units(codec, state, &unit, &result))
            break;
        status = codec->read(state, buffer, room, &got, &result.damage, &error);
        if (got > room || (got > 0 && (result.damage || status != PYRO_OK)))
            abort();
        fuzz_count(&result, buffer, got);
    } while (status == PYRO_OK && got > 0 && result.total < limit);
    result.complete = status == PYRO_OK && result.total < limit;
    free(buffer);
    pyro_unit_done(&unit);
    codec->close(state);
    return result;
}

/* Also compares what units give with what reading gives: damage or none, and the same bytes before it. The bytes before
 * damage only in large pieces: in smaller ones, libzstd's streaming decoder gives other numbers of them. */
static int fuzz_codec(const struct pyro_codec *codec, const uint8_t *data, size_t size)
{
    enum { LARGE_PIECE = 4096 };
    static const size_t PIECES[] = {1, 13, LARGE_PIECE, SIZE_MAX}, ROOM[] = {1, 100, 65536, 1024 * 1024};
    if (size < 2)
        return 0;
    struct fuzz_input input = {data + 2, size - 2, PIECES[data[0] % 4]};
    codec->recognises(input.data, input.size < PYRO_SNIFF_BYTES ? input.size : PYRO_SNIFF_BYTES);
    struct fuzz_result read = fuzz_read_all(codec, input, ROOM[data[1] % 4], false);
    struct fuzz_result units = fuzz_read_all(codec, input, ROOM[data[1] % 4], true);
    if (!read.complete || !units.complete)
        return 0;
    if (!read.damage != !units.damage)
        abort();
    if ((!read.damage || input.piece >= LARGE_PIECE) && (read.total != units.total || read.hash != units.hash))
        abort();
    return 0;
}

#endif
