/* Expressions of a log over its texts. The first line is the setting's expression, whose place the first byte chooses;
 * the rest is a property's value, a text and a plan. */
#include "base/secrets/secrets.h"
#include "fuzz_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const settings[] = {"spark.redaction.regex", "spark.sql.redaction.options.regex",
                                           "spark.redaction.string.regex", "spark.sql.redaction.string.regex"};
    if (size < 2 || size > FUZZ_TEXT_LIMIT)
        return 0;
    struct pyro_secrets secrets = {0};
    struct pyro_strbuf buffer;
    char *copy = fuzz_guarded_copy(data + 1, size - 1, ' ');
    const char *end = memchr(copy, '\n', size - 1);
    size_t len = end ? (size_t)(end - copy) : 0;
    struct pyro_slice expression = {copy, len}, text = {copy + len, size - 1 - len};
    pyro_strbuf_init(&buffer, NULL);
    pyro_secrets_configure(&secrets, pyro_slice_from(settings[data[0] % 4]), expression);
    pyro_secrets_property(&secrets, PYRO_SLICE_LITERAL("key"), text);
    FUZZ_CHECK(pyro_secrets_property(&secrets, PYRO_SLICE_LITERAL("a.password"), text)); /* whatever the log says */
    for (int plan = 0; plan < 2; plan++) {
        struct pyro_slice shown =
            plan ? pyro_secrets_plan(&secrets, text, &buffer) : pyro_secrets_text(&secrets, text, &buffer);
        /* Every byte is of the text or of a replacement, of which there are no more than bytes. */
        FUZZ_CHECK(shown.len <= (text.len + 1) * sizeof(PYRO_REDACTED));
        FUZZ_CHECK(shown.ptr == text.ptr || memmem(shown.ptr, shown.len, PYRO_REDACTED, sizeof(PYRO_REDACTED) - 1));
    }
    pyro_secrets_done(&secrets);
    pyro_strbuf_done(&buffer);
    return 0;
}
