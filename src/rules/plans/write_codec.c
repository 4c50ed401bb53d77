#include "rules/plans/write_codec.h"

#include <strings.h>

/* Names as Spark's file formats call themselves, and where the codec of each is set. */
static const struct {
    const char *text;
    enum pyro_file_scan_format format;
    const char *key;
} formats[] = {
    {", Parquet, [", PYRO_FILE_SCAN_PARQUET, "spark.sql.parquet.compression.codec"},
    {", ORC, [", PYRO_FILE_SCAN_ORC, "spark.sql.orc.compression.codec"},
    {", AVRO, [", PYRO_FILE_SCAN_AVRO, "spark.sql.avro.compression.codec"},
    {", Avro, [", PYRO_FILE_SCAN_AVRO, "spark.sql.avro.compression.codec"},
    {", CSV, [", PYRO_FILE_SCAN_CSV, NULL},
    {", JSON, [", PYRO_FILE_SCAN_JSON, NULL},
    {", XML, [", PYRO_FILE_SCAN_XML, NULL},
    {", Text, [", PYRO_FILE_SCAN_TEXT, NULL},
};

static const struct {
    const char *name;
    enum pyro_write_codec codec;
} codecs[] = {
    {"none", PYRO_CODEC_NONE},   {"uncompressed", PYRO_CODEC_NONE}, {"snappy", PYRO_CODEC_FAST},
    {"lz4", PYRO_CODEC_FAST},    {"lz4_raw", PYRO_CODEC_FAST},      {"lz4raw", PYRO_CODEC_FAST},
    {"lzo", PYRO_CODEC_FAST},    {"zstd", PYRO_CODEC_FAST},         {"zstandard", PYRO_CODEC_FAST},
    {"gzip", PYRO_CODEC_SLOW},   {"deflate", PYRO_CODEC_SLOW},      {"zlib", PYRO_CODEC_SLOW},
    {"brotli", PYRO_CODEC_SLOW}, {"bzip2", PYRO_CODEC_SLOWEST},     {"xz", PYRO_CODEC_SLOWEST},
};

static bool is(struct pyro_slice text, const char *name)
{
    return text.len == strlen(name) && strncasecmp(text.ptr, name, text.len) == 0;
}

/* Value of an option among "[a=b, compression=gzip, path=...]"; null when it is not there. */
static struct pyro_slice find_option(struct pyro_slice options, const char *key)
{
    size_t len = strlen(key);
    for (size_t at = 0; at + len < options.len; at++) {
        bool begins = at == 0 || options.ptr[at - 1] == ' ' || options.ptr[at - 1] == ',';
        if (!begins || options.ptr[at + len] != '=' || strncasecmp(options.ptr + at, key, len) != 0)
            continue;
        size_t first = at + len + 1, end = first;
        while (end < options.len && options.ptr[end] != ',' && options.ptr[end] != ']')
            end++;
        return (struct pyro_slice){options.ptr + first, end - first};
    }
    return PYRO_SLICE_NULL;
}

/* The text between a format's "[" and its "]". */
static struct pyro_slice options_from(struct pyro_slice detail, const char *begin)
{
    size_t first = (size_t)(begin - detail.ptr), end = first;
    while (end < detail.len && detail.ptr[end] != ']')
        end++;
    return (struct pyro_slice){begin, end - first};
}

void pyro_write_format(const struct pyro_app *app, const struct pyro_write *write, struct pyro_write_format *ret)
{
    *ret = (struct pyro_write_format){.name = PYRO_SLICE_LITERAL("")};
    if (write->node < 0)
        return;
    struct pyro_slice detail = app->sql_nodes.items[write->node].detail;
    for (size_t i = 0; detail.ptr && i < sizeof(formats) / sizeof(*formats); i++) {
        const char *found = pyro_slice_find(detail, formats[i].text);
        if (!found)
            continue;
        struct pyro_slice options = options_from(detail, found + strlen(formats[i].text));
        struct pyro_slice codec = find_option(options, "compression");
        if (!codec.ptr)
            codec = find_option(options, formats[i].format == PYRO_FILE_SCAN_PARQUET ? "parquet.compression" : "codec");
        ret->format = formats[i].format;
        ret->key = formats[i].key;
        ret->from_option = codec.ptr != NULL;
        if (!codec.ptr && formats[i].key)
            codec = pyro_app_property(app, formats[i].key);
        if (codec.ptr)
            ret->name = codec;
        else /* Spark's own choice: nothing for text, a fast codec for columns */
            ret->codec = pyro_file_scan_is_rows(ret->format) ? PYRO_CODEC_NONE : PYRO_CODEC_FAST;
        for (size_t k = 0; codec.ptr && k < sizeof(codecs) / sizeof(*codecs); k++)
            if (is(codec, codecs[k].name))
                ret->codec = codecs[k].codec;
        return;
    }
}
