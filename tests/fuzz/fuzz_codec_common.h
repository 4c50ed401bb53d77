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

static int fuzz_codec(const struct pyro_codec *codec, const uint8_t *data, size_t size)
{
    static const size_t PIECES[] = {1, 13, 4096, SIZE_MAX}, ROOM[] = {1, 100, 65536, 1024 * 1024};
    if (size < 2)
        return 0;
    size_t room = ROOM[data[1] % 4], total = 0, got = 0;
    struct fuzz_input input = {data + 2, size - 2, PIECES[data[0] % 4]};
    codec->recognises(input.data, input.size < PYRO_SNIFF_BYTES ? input.size : PYRO_SNIFF_BYTES);
    void *state = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (codec->open(NULL, (struct pyro_byte_input){fuzz_read, &input}, &state, &error) != PYRO_OK)
        return 0;
    unsigned char *buffer = malloc(room);
    const char *damage = NULL;
    enum pyro_status status = PYRO_OK;
    size_t limit = room < 65536 ? 65536 : FUZZ_OUTPUT_LIMIT; /* byte by byte takes too long */
    do {
        status = codec->read(state, buffer, room, &got, &damage, &error);
        if (got > room || (got > 0 && (damage || status != PYRO_OK)))
            abort();
        total += got;
    } while (status == PYRO_OK && got > 0 && total < limit);
    free(buffer);
    codec->close(state);
    return 0;
}

#endif
