/* What the tests of all codecs share: streams in memory, and the properties that every decoder must have. */
#ifndef PYRO_TESTS_CODEC_KIT_H
#define PYRO_TESTS_CODEC_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strings/strbuf.h"
#include "source/codecs/codec.h"

/* A text like an event log: lines of JSON that compress well, with numbers that do not. */
struct pyro_strbuf kit_text(size_t len);

struct kit_result {
    struct pyro_strbuf plain;
    const char *damage;
};

/* Decodes `len` bytes that arrive `piece` at a time, into a buffer of `capacity`. Also checks what every read promises:
 * no more than `capacity`, damage only together with the end; and that units give the same bytes and damage. */
struct kit_result kit_decode(const struct pyro_codec *codec, const void *bytes, size_t len, size_t piece,
                             size_t capacity);
void kit_done(struct kit_result *result);

/* The stream gives exactly `plain`, however it arrives and whatever the caller's buffer is. */
void kit_expect(const struct pyro_codec *codec, const struct pyro_strbuf *stream, const struct pyro_strbuf *plain);
/* The stream gives `plain` and then damage that contains `damage`. */
void kit_expect_damage(const struct pyro_codec *codec, const struct pyro_strbuf *stream,
                       const struct pyro_strbuf *plain, const char *damage);
/* Cut anywhere, the stream gives a prefix of `plain`; `end_marked`: and damage, where it was cut at all. Returns how
 * many cuts gave damage. */
size_t kit_cut_everywhere(const struct pyro_codec *codec, const struct pyro_strbuf *stream,
                          const struct pyro_strbuf *plain, bool end_marked);
/* Any bit flipped: no crash (the sanitizers look on). `prefix`: the framing has checksums per block, so that what comes
 * out is a prefix of `plain`. */
void kit_flip_bits(const struct pyro_codec *codec, const struct pyro_strbuf *stream, const struct pyro_strbuf *plain,
                   bool prefix);

void kit_add_be32(struct pyro_strbuf *stream, size_t value);
void kit_add_be16(struct pyro_strbuf *stream, size_t value);
void kit_add_le32(struct pyro_strbuf *stream, size_t value);

#endif
