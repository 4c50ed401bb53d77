/* Texts of a log, as between quotes: whatever comes in, what comes out is the inside of a JSON string, and no run of
 * letters that is not of the vocabulary remains. The first byte chooses the kind of text. */
#include "export/redact.h"
#include "fuzz_kit.h"

/* The inside of a JSON string: no bare quote or control character, whole escapes. */
static bool is_string_inside(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || (unsigned char)text[i] < 0x20)
            return false;
        if (text[i] == '\\' && ++i == len)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > FUZZ_TEXT_LIMIT || !is_string_inside((const char *)data + 1, size - 1))
        return 0;
    struct pyro_redactor redactor;
    struct pyro_strbuf out, again;
    char *text = fuzz_guarded_copy(data + 1, size - 1, ' ');
    pyro_strbuf_init(&out, NULL);
    pyro_strbuf_init(&again, NULL);
    FUZZ_CHECK(pyro_redactor_init(&redactor, NULL));
    FUZZ_CHECK(pyro_redact(&redactor, data[0] % 4, (struct pyro_slice){text, size - 1}, &out));
    struct pyro_slice made = pyro_strbuf_slice(&out);
    FUZZ_CHECK(is_string_inside(made.ptr, made.len));
    FUZZ_CHECK(pyro_redact(&redactor, data[0] % 4, (struct pyro_slice){text, size - 1}, &again));
    FUZZ_CHECK(pyro_slice_eq(made, pyro_strbuf_slice(&again))); /* the same word, the same replacement */
    pyro_redactor_done(&redactor);
    pyro_strbuf_done(&out);
    pyro_strbuf_done(&again);
    return 0;
}
