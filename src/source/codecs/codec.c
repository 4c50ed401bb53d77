#include "source/codecs/codec.h"

#include <string.h>

#include "base/memory/allocator.h"

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

enum pyro_status pyro_unit_set(struct pyro_unit *unit, const void *stored, size_t len, size_t plain_most,
                               struct pyro_error *error)
{
    if (len > unit->capacity) {
        pyro_release(unit->allocator, unit->stored);
        unit->capacity = 0;
        unit->stored = pyro_allocate(unit->allocator, len);
        if (!unit->stored)
            return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for compressed input");
        unit->capacity = len;
    }
    memcpy(unit->stored, stored, len);
    unit->len = len;
    unit->plain_most = plain_most;
    return PYRO_OK;
}

void pyro_unit_done(struct pyro_unit *unit)
{
    if (unit->scratch)
        unit->codec->unpack_done(unit->scratch);
    pyro_release(unit->allocator, unit->stored);
    *unit = (struct pyro_unit){.allocator = unit->allocator};
}
