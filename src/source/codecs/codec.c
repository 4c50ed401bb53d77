#include "source/codecs/codec.h"

#include <string.h>

static const struct pyro_codec *const CODECS[] = {
#define PYRO_CODEC(variable) &variable,
#include "source/codecs/codecs.def"
#undef PYRO_CODEC
};

const struct pyro_codec *pyro_codec_recognise(const unsigned char *head, size_t len)
{
    if (len == 0)
        return NULL;
    for (size_t i = 0; i < sizeof(CODECS) / sizeof(CODECS[0]); i++) {
        if (CODECS[i]->recognises(head, len))
            return CODECS[i];
    }
    return NULL;
}

bool pyro_magic_matches(const unsigned char *head, size_t len, const char *magic, size_t magic_len)
{
    return len > 0 && memcmp(head, magic, len < magic_len ? len : magic_len) == 0;
}
