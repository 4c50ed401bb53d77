/* What this build can read and write: the public pyro_version() and pyro_features_*(). */
#include <lz4.h>
#include <sqlite3.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/json/scan.h"
#include "base/options.h"
#include "model/column.h"
#include "predict/predict.h"
#include "report/shared/web_assets.h"
#include "rules/rule.h"
#include "source/codecs/codec.h"
#include "source/http/http.h"

const char *pyro_version(void)
{
    return PYROMETER_VERSION;
}

/* Rows (their size is of no use here) whose text is known when this is compiled; tables and rules speak for themselves
 * elsewhere. */
static const struct pyro_feature_info fixed[] = {
    {0, "codec", "plain", "decoded in parallel", 1},
    {0, "codec", "zstd", "libzstd " ZSTD_VERSION_STRING, 1},
    {0, "codec", "lz4", "Spark's LZ4Block streams and LZ4 frames; liblz4 " LZ4_VERSION_STRING, 1},
    {0, "codec", "snappy", "Spark's xerial streams and Snappy's framing format; libsnappy", 1},
    {0, "codec", "lzf", "Spark's LZF chunks; liblzf", 1},
    {0, "codec", "gzip", "zlib " ZLIB_VERSION, 1},
    {0, "layout", "single", "one file, including .inprogress, or standard input", 1},
    {0, "layout", "rolling", "folders eventlog_v2_*, including compacted ones", 1},
    {0, "layout", "databricks", "folders with eventlog and eventlog-YYYY-MM-DD--HH-MM.gz", 1},
    {0, "layout", "zip", "archives from a History Server; libarchive", 1},
    {0, "layout", "folder", "folders of many applications", 1},
    {0, "optional", "sql", "SQLite " SQLITE_VERSION, 1},
};
enum { FIXED = sizeof(fixed) / sizeof(*fixed) };

static size_t variant_count(void)
{
    size_t count = 0;
    while (pyro_scan_variant(count))
        count++;
    return count;
}

static size_t format_count(void)
{
    size_t count = 0;
    while (pyro_format_name((unsigned)count))
        count++;
    return count;
}

/* What depends on how this was built. */
enum { OPTIONAL = 2 };

size_t pyro_features_count(void)
{
    return FIXED + OPTIONAL + variant_count() + format_count() + PYRO_TABLE_COUNT + pyro_rule_count;
}

static struct pyro_feature_info feature_at(size_t index)
{
    if (index < FIXED && strcmp(fixed[index].name, "lzf") == 0 && !pyro_lzf_available())
        return (struct pyro_feature_info){0, "codec", "lzf", "needs liblzf-dev where it is built", 0};
    if (index < FIXED)
        return fixed[index];
    index -= FIXED;
    if (index == 0)
        return (struct pyro_feature_info){0, "optional", "http", pyro_http_description(), pyro_http_available()};
    if (index < OPTIONAL)
        return (struct pyro_feature_info){0, "optional", "optimiser", pyro_optimiser_description(),
                                          pyro_optimiser_available()};
    index -= OPTIONAL;
    if (index < variant_count())
        return (struct pyro_feature_info){0, "cpu", pyro_scan_variant(index)->name,
                                          index == 0 ? "scans with it" : "could scan with it", 1};
    index -= variant_count();
    if (index < format_count()) {
        bool missing = index == PYRO_FORMAT_HTML && pyro_web_asset_count == 0;
        return (struct pyro_feature_info){0, "report", pyro_format_name((unsigned)index),
                                          missing ? "--format; needs nodejs and npm where it is built" : "--format",
                                          !missing};
    }
    index -= format_count();
    if (index < PYRO_TABLE_COUNT)
        return (struct pyro_feature_info){0, "table", pyro_table_schemas[index].name, pyro_table_schemas[index].doc, 1};
    index -= PYRO_TABLE_COUNT;
    if (index < pyro_rule_count)
        return (struct pyro_feature_info){0, "rule", pyro_rules[index]->id, pyro_rules[index]->title, 1};
    return (struct pyro_feature_info){0};
}

enum pyro_status pyro_features_get(size_t index, struct pyro_feature_info *ret)
{
    struct pyro_feature_info info = feature_at(index);
    return info.kind ? PYRO_GIVE(ret, &info) : PYRO_ERROR_ARGUMENT;
}
