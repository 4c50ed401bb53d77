#include "fuzz_codec_common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_codec(&pyro_codec_snappy_framed, data, size);
}
