#include "rules/fixes/jvm_options.h"

#include <string.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"

static const char *const added_by_spark[] = {"--add-opens",
                                             "--add-modules",
                                             "--enable-native-access",
                                             "--sun-misc-unsafe-memory-access",
                                             "-XX:+IgnoreUnrecognizedVMOptions",
                                             "-Djdk.reflect.useDirectMethodHandle",
                                             "-Djava.net.preferIPv6Addresses",
                                             "-Dio.netty.tryReflectionSetAccessible",
                                             "-Dio.netty.allocator.type",
                                             "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm",
                                             "-Dio.netty.noUnsafe"};

const char *pyro_jvm_options_key(const struct pyro_app *app)
{
    return pyro_app_is_local(app) ? "spark.driver.extraJavaOptions" : "spark.executor.extraJavaOptions";
}

struct pyro_slice pyro_jvm_options(const struct pyro_app *app)
{
    return pyro_app_property(app, pyro_jvm_options_key(app));
}

static bool begins_with(struct pyro_slice word, const char *const *beginnings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(beginnings[i]);
        bool whole = len > 0 && beginnings[i][len - 1] == '$';
        if (whole ? word.len == len - 1 && memcmp(word.ptr, beginnings[i], word.len) == 0
                  : pyro_slice_starts_with(word, beginnings[i]))
            return true;
    }
    return false;
}

/* The next word between blanks; false at the end. */
static bool next_word(struct pyro_slice *rest, struct pyro_slice *word)
{
    while (rest->len && *rest->ptr == ' ')
        rest->ptr++, rest->len--;
    *word = (struct pyro_slice){rest->ptr, 0};
    while (word->len < rest->len && rest->ptr[word->len] != ' ')
        word->len++;
    rest->ptr += word->len;
    rest->len -= word->len;
    return word->len > 0;
}

struct pyro_slice pyro_jvm_option(struct pyro_slice options, const char *const *beginnings, size_t count)
{
    struct pyro_slice word;
    while (options.ptr && next_word(&options, &word))
        if (begins_with(word, beginnings, count))
            return word;
    return PYRO_SLICE_NULL;
}

struct pyro_slice pyro_jvm_options_without(struct pyro_rule_context *context, struct pyro_slice options,
                                           const char *const *beginnings, size_t count, const char *added)
{
    struct pyro_slice word, more = pyro_slice_from(added);
    size_t len = 0;
    char *text = pyro_arena_alloc(context->arena, options.len + more.len + 2);
    context->failed |= !text;
    if (!text)
        return PYRO_SLICE_NULL;
    while (options.ptr && next_word(&options, &word)) {
        if (begins_with(word, beginnings, count) ||
            begins_with(word, added_by_spark, sizeof(added_by_spark) / sizeof(added_by_spark[0])))
            continue;
        if (len > 0)
            text[len++] = ' ';
        memcpy(text + len, word.ptr, word.len);
        len += word.len;
    }
    if (len > 0 && more.len > 0)
        text[len++] = ' ';
    memcpy(text + len, more.ptr, more.len);
    return (struct pyro_slice){text, len + more.len};
}
