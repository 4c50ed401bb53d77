/* Contents of JSON strings, whatever they are, become valid UTF-8, and the same by both ways of decoding them. */
#include "base/json/unescape.h"
#include "fuzz_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CAPACITY = 300 };
    struct pyro_strbuf decoded;
    char fixed[CAPACITY];
    uint64_t replaced = 0;
    /* Its own copy, exactly as large, so that every byte read beyond it is seen. */
    char *copy = malloc(size ? size : 1);
    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    struct pyro_slice raw = {copy, size};
    pyro_strbuf_init(&decoded, NULL);
    pyro_text_decode(&decoded, raw, &replaced);
    FUZZ_CHECK(!decoded.failed && fuzz_is_utf8(decoded.data, decoded.len));
    FUZZ_CHECK(decoded.len <= 3 * size && replaced <= size);
    if (!memchr(copy, '\\', size) && fuzz_is_utf8(copy, size))
        FUZZ_CHECK(replaced == 0 && decoded.len == size && (size == 0 || memcmp(decoded.data, copy, size) == 0));
    FUZZ_CHECK(pyro_text_decode_into(raw, fixed, CAPACITY) == decoded.len);
    if (decoded.len <= CAPACITY && decoded.len > 0)
        FUZZ_CHECK(memcmp(fixed, decoded.data, decoded.len) == 0);
    pyro_strbuf_done(&decoded);
    free(copy);
    return 0;
}
