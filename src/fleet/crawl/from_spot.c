/* Spot's config.ini -> crawl.yaml. Passwords are not copied: the file names where to put them. */
#include <stdio.h>
#include <string.h>

#include "base/collections/vec.h"
#include "base/error.h"
#include "base/files/whole_file.h"
#include "base/memory/allocator.h"
#include "base/memory/arena.h"
#include "base/options.h"
#include "base/strings/strbuf.h"

enum { MOST_BYTES = 1 << 20 };

/* ---- The file ---------------------------------------------------------------------------------------------------- */

struct setting {
    struct pyro_slice section, key, value;
    bool used;
};

struct spot {
    struct pyro_arena arena;
    struct pyro_strbuf text, yaml;
    PYRO_VEC(struct setting) settings;
};

static struct pyro_slice trim(struct pyro_slice text)
{
    static const char blank[] = " \t\r\"'";
    while (text.len > 0 && strchr(blank, text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && strchr(blank, text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* As Python's configparser reads it: "[SECTION]", "key = value" or "key: value", comments with # and ; */
static bool read_settings(struct spot *spot, const struct pyro_allocator *allocator)
{
    struct pyro_slice section = PYRO_SLICE_LITERAL(""), rest = pyro_strbuf_slice(&spot->text);
    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct pyro_slice line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        size_t used = line.len + (end != NULL);
        rest = (struct pyro_slice){rest.ptr + used, rest.len - used};
        line = trim(line);
        if (line.len == 0 || *line.ptr == '#' || *line.ptr == ';')
            continue;
        if (*line.ptr == '[' && line.ptr[line.len - 1] == ']') {
            section = (struct pyro_slice){line.ptr + 1, line.len - 2};
            continue;
        }
        size_t sign = 0;
        while (sign < line.len && line.ptr[sign] != '=' && line.ptr[sign] != ':')
            sign++;
        struct setting *added = sign < line.len ? pyro_vec_push(&spot->settings, allocator) : NULL;
        if (added)
            *added = (struct setting){section, trim((struct pyro_slice){line.ptr, sign}),
                                      trim((struct pyro_slice){line.ptr + sign + 1, line.len - sign - 1}), false};
        else if (sign < line.len)
            return false;
    }
    return true;
}

/* Null where it is not given, or empty. */
static struct pyro_slice get(struct spot *spot, const char *section, const char *key)
{
    struct pyro_slice found = PYRO_SLICE_NULL;
    for (size_t i = 0; i < spot->settings.count; i++) {
        struct setting *setting = &spot->settings.items[i];
        if (!pyro_slice_is(setting->section, section) || !pyro_slice_is(setting->key, key))
            continue;
        setting->used = true;
        found = setting->value.len ? setting->value : PYRO_SLICE_NULL;
    }
    return found;
}

/* ---- YAML -------------------------------------------------------------------------------------------------------- */

static void add_scalar(struct spot *spot, struct pyro_slice text)
{
    pyro_strbuf_add_char(&spot->yaml, '\'');
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte == '\'')
            pyro_strbuf_add_char(&spot->yaml, '\'');
        pyro_strbuf_add_char(&spot->yaml, (unsigned char)byte < ' ' ? ' ' : byte);
    }
    pyro_strbuf_add_char(&spot->yaml, '\'');
}

static void add_line(struct spot *spot, const char *key, struct pyro_slice value)
{
    pyro_strbuf_add_text(&spot->yaml, key);
    add_scalar(spot, value);
    pyro_strbuf_add_char(&spot->yaml, '\n');
}

/* An address without a name and a password in it, which would be secrets. */
static struct pyro_slice public_address(struct spot *spot, struct pyro_slice text)
{
    const char *host = pyro_slice_find(text, "://");
    size_t from = host ? (size_t)(host - text.ptr) + 3 : text.len, at = from;
    for (size_t i = from; i < text.len && text.ptr[i] != '?' && text.ptr[i] != '#'; i++)
        at = text.ptr[i] == '@' ? i + 1 : at;
    if (at == from)
        return text;
    return pyro_arena_printf(&spot->arena, "%.*s%.*s", (int)from, text.ptr, (int)(text.len - at), text.ptr + at);
}

static struct pyro_slice without(struct pyro_slice text, const char *end)
{
    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    if (pyro_slice_ends_with(text, end))
        text.len -= strlen(end);
    return text;
}

static void add_account(struct spot *spot, const char *section, const char *indent, const char *variable)
{
    struct pyro_slice user = get(spot, section, "username"), password = get(spot, section, "password");
    if (!user.ptr)
        return;
    pyro_strbuf_add_text(&spot->yaml, indent);
    add_line(spot, "user: ", user);
    if (password.ptr)
        pyro_strbuf_printf(&spot->yaml, "%spassword: env:%s # put the password of [%s] there\n", indent, variable,
                           section);
}

static void add_store(struct spot *spot)
{
    static const char *const names[] = {"raw", "agg", "err"};
    struct pyro_slice url = get(spot, "SPOT_ELASTICSEARCH", "elasticsearch_url");
    struct pyro_slice host = get(spot, "SPOT_ELASTICSEARCH", "host"), port = get(spot, "SPOT_ELASTICSEARCH", "port");
    if (!url.ptr && host.ptr)
        url = pyro_arena_printf(&spot->arena, "http://%.*s:%.*s", (int)host.len, host.ptr, port.ptr ? (int)port.len : 4,
                                port.ptr ? port.ptr : "9200");
    if (!url.ptr) {
        pyro_strbuf_add_text(&spot->yaml, "store: 'sqlite:runs.db'\n");
        return;
    }
    url = without(public_address(spot, url), "");
    pyro_strbuf_add_text(&spot->yaml, "store:\n");
    add_line(spot, "  url: ", pyro_arena_printf(&spot->arena, "opensearch:%.*s/spot", (int)url.len, url.ptr));
    add_account(spot, "SPOT_ELASTICSEARCH", "  ", "SPOT_ELASTICSEARCH_PASSWORD");
    bool any = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char key[16];
        snprintf(key, sizeof(key), "%s_index", names[i]);
        struct pyro_slice index = get(spot, "SPOT_ELASTICSEARCH", key);
        if (!index.ptr)
            continue;
        if (!any)
            pyro_strbuf_add_text(&spot->yaml, "  index:\n");
        any = true;
        snprintf(key, sizeof(key), "    %s: ", names[i]);
        add_line(spot, key, index);
    }
}

static void add_crawler(struct spot *spot)
{
    struct pyro_slice seconds = get(spot, "CRAWLER", "sleep_seconds");
    struct pyro_slice history = get(spot, "SPARK_HISTORY", "api_base_url");
    bool digits = seconds.ptr && seconds.len < 6;
    for (size_t i = 0; i < seconds.len && digits; i++)
        digits = seconds.ptr[i] >= '0' && seconds.ptr[i] <= '9';
    if (digits && !pyro_slice_is(seconds, "0"))
        pyro_strbuf_printf(&spot->yaml, "every: %.*ss\n", (int)seconds.len, seconds.ptr);
    if (get(spot, "CRAWLER", "skip_exceptions").ptr)
        pyro_strbuf_add_text(&spot->yaml, "# skip_exceptions: a log that fails never ends a crawl here\n");
    pyro_strbuf_add_text(&spot->yaml, "sources:\n");
    if (history.ptr)
        add_line(spot, "  - url: ", without(public_address(spot, history), "/api/v1"));
    else
        pyro_strbuf_add_text(&spot->yaml, "  [] # [SPARK_HISTORY] has no api_base_url\n");
}

/* Spot knows Enceladus' applications by their names, and asks Menas about them. */
static void add_menas(struct spot *spot)
{
    struct pyro_slice url = get(spot, "MENAS", "api_base_url");
    if (!url.ptr)
        return;
    pyro_strbuf_add_text(
        &spot->yaml,
        "classification:\n"
        "  - match: '^Standardisation (\\S+) (\\S+) (\\S+) (\\S+) (\\S+)$'\n"
        "    application: enceladus\n"
        "    type: standardization\n"
        "    version: $1\n"
        "    tag: standardization_$1_$2_$3\n"
        "    tags: {project: enceladus, dataset: $2, dataset_version: $3, info_date: $4, info_version: $5}\n"
        "  - match: '^Dynamic Conformance (\\S+) (\\S+) (\\S+) (\\S+) (\\S+)$'\n"
        "    application: enceladus\n"
        "    type: conformance\n"
        "    version: $1\n"
        "    tag: conformance_$1_$2_$3\n"
        "    tags: {project: enceladus, dataset: $2, dataset_version: $3, info_date: $4, info_version: $5}\n"
        "enrichers:\n");
    add_line(spot, "  - menas: ", without(public_address(spot, url), ""));
    add_account(spot, "MENAS", "    ", "MENAS_PASSWORD");
    pyro_strbuf_add_text(&spot->yaml, "    names: '^(Standardisation|Dynamic Conformance) '\n");
}

static void add_rest(struct spot *spot)
{
    if (get(spot, "MISC", "log_level").ptr)
        pyro_strbuf_add_text(&spot->yaml, "# log_level: each event is one line; see --log-format\n");
    if (get(spot, "MISC", "output_dir").ptr)
        pyro_strbuf_add_text(&spot->yaml, "# output_dir: nothing is written next to the store\n");
    for (size_t i = 0; i < spot->settings.count; i++) {
        const struct setting *setting = &spot->settings.items[i];
        bool secret = setting->value.len == 0 || pyro_slice_find(setting->key, "pass") || setting->used;
        if (!secret)
            pyro_strbuf_printf(&spot->yaml, "# not translated: [%.*s] %.*s\n", (int)setting->section.len,
                               setting->section.ptr, (int)setting->key.len, setting->key.ptr);
    }
}

enum pyro_status pyro_crawl_from_spot(const char *path, const struct pyro_writer *writer, struct pyro_error *error)
{
    struct spot spot = {0};
    pyro_error_clear(error);
    if (!path || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_crawl_from_spot(): the path or the writer is missing");
    pyro_arena_init(&spot.arena, NULL);
    pyro_strbuf_init(&spot.text, NULL);
    pyro_strbuf_init(&spot.yaml, NULL);
    enum pyro_status status = pyro_read_whole(path, MOST_BYTES, &spot.text, error);
    bool ok = status != PYRO_OK || read_settings(&spot, NULL);
    if (status == PYRO_OK && ok && spot.settings.count == 0) {
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "it has no settings: name the file config.ini of Spot");
        pyro_error_at(error, path, UINT64_MAX);
    }
    if (status == PYRO_OK && ok) {
        pyro_strbuf_add_text(&spot.yaml, "# Made of a configuration of Spot; docs/crawl.md has every key.\n");
        add_store(&spot);
        add_crawler(&spot);
        add_menas(&spot);
        add_rest(&spot);
    }
    if (!ok || spot.yaml.failed || spot.arena.failed)
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a configuration");
    if (status == PYRO_OK && writer->write(writer->context, spot.yaml.data, spot.yaml.len) != 0)
        status = pyro_error_set(error, PYRO_ERROR_OUTPUT, "the writer refused the configuration");
    pyro_vec_done(&spot.settings, NULL);
    pyro_strbuf_done(&spot.text);
    pyro_strbuf_done(&spot.yaml);
    pyro_arena_done(&spot.arena);
    return status;
}
