/* crawl.yaml: what a crawler does, in one file (docs/crawl.md). Secrets are not in it: it names where they are. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/crawl/crawl_config.h"
#include "fleet/crawl/list_folders.h"
#include "fleet/suggest/policy.h"
#include "source/http/http.h"

enum { MOST_SECRET_BYTES = 4096, LONGEST_MS = 86400000 * 7 };

enum pyro_status pyro_crawl_refuse(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                   const char *why)
{
    enum pyro_status status =
        pyro_error_set(reader->error, PYRO_ERROR_ARGUMENT, "%s, line %u: %s", reader->path, node->line, why);
    pyro_error_at(reader->error, reader->path, UINT64_MAX);
    return status;
}

enum pyro_status pyro_crawl_no_memory(const struct pyro_crawl_config *reader)
{
    return pyro_no_memory(reader->error);
}

/* ---- Maps and lists ---------------------------------------------------------------------------------------------- */

enum { MOST_KEYS = 24 };

static enum pyro_status unknown_key(const struct pyro_crawl_config *reader, const struct pyro_yaml_entry *entry,
                                    const struct pyro_crawl_key *keys, size_t count, const char *what)
{
    const char *names[MOST_KEYS];
    char text[500], list[300] = "";
    for (size_t i = 0, len = 0; i < count; i++) {
        names[i] = keys[i].name;
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", keys[i].name);
    }
    const char *nearest = pyro_nearest(entry->key.ptr, names, count);
    snprintf(text, sizeof(text), "'%.60s' is not a key of %s; %s%s%s", entry->key.ptr, what,
             nearest ? "did you mean '" : "its keys are ", nearest ? nearest : list, nearest ? "'?" : "");
    struct pyro_yaml at = *entry->value;
    at.line = entry->line;
    return pyro_crawl_refuse(reader, &at, text);
}

enum pyro_status pyro_crawl_take_map(const struct pyro_crawl_config *reader, const struct pyro_yaml *map,
                                     const struct pyro_crawl_key *keys, size_t count, const char *what, void *target)
{
    char text[200];
    snprintf(text, sizeof(text), "%s is a list of keys with values (KEY: VALUE)", what);
    if (map->kind != PYRO_YAML_MAP)
        return pyro_yaml_is_null(map) ? PYRO_OK : pyro_crawl_refuse(reader, map, text);
    for (size_t i = 0; i < map->count; i++) {
        size_t k = 0;
        while (k < count && !pyro_slice_is(map->entries[i].key, keys[k].name))
            k++;
        if (k == count)
            return unknown_key(reader, &map->entries[i], keys, count, what);
        if (!pyro_yaml_is_null(map->entries[i].value))
            PYRO_TRY(keys[k].take(reader, (char *)target + keys[k].place, map->entries[i].value));
    }
    return PYRO_OK;
}

enum pyro_status pyro_crawl_take_list(const struct pyro_crawl_config *reader, const struct pyro_yaml *list,
                                      pyro_crawl_take *take, void *target)
{
    if (list->kind != PYRO_YAML_LIST)
        return pyro_crawl_refuse(reader, list, "this is a list: each row begins with '- '");
    for (size_t i = 0; i < list->count; i++)
        PYRO_TRY(take(reader, target, list->entries[i].value));
    return PYRO_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static enum pyro_status keep(const struct pyro_crawl_config *reader, const char **ret, struct pyro_slice text)
{
    *ret = pyro_arena_copy(&reader->settings->arena, text).ptr;
    return *ret ? PYRO_OK : pyro_crawl_no_memory(reader);
}

enum pyro_status pyro_crawl_take_text(const struct pyro_crawl_config *reader, void *target,
                                      const struct pyro_yaml *node)
{
    const char *text;
    if (!pyro_yaml_text(node, &text) || strlen(text) > MOST_SECRET_BYTES)
        return pyro_yaml_refuse(node, reader->path, reader->error, "a text");
    return keep(reader, target, pyro_slice_from(text));
}

static enum pyro_status read_secret_file(const struct pyro_crawl_config *reader, const char **ret,
                                         const struct pyro_yaml *node, const char *path)
{
    char text[MOST_SECRET_BYTES];
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        fclose(file);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    if (len == 0 || len == sizeof(text))
        return pyro_crawl_refuse(reader, node, "the file of this secret cannot be read, is empty or too long");
    return keep(reader, ret, (struct pyro_slice){text, len});
}

enum pyro_status pyro_crawl_take_secret(const struct pyro_crawl_config *reader, void *target,
                                        const struct pyro_yaml *node)
{
    const char *text;
    if (!pyro_yaml_text(node, &text) || (strncmp(text, "env:", 4) != 0 && strncmp(text, "file:", 5) != 0))
        return pyro_crawl_refuse(reader, node, "a secret is not written here; name where it is: env:NAME or file:PATH");
    if (text[0] == 'f')
        return read_secret_file(reader, target, node, text + 5);
    const char *value = getenv(text + 4);
    if (!value || !*value || strlen(value) >= MOST_SECRET_BYTES)
        return pyro_crawl_refuse(reader, node, "the environment variable of this secret is not set, empty or too long");
    return keep(reader, target, pyro_slice_from(value));
}

enum pyro_status pyro_crawl_take_duration(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                          int64_t least_ms, int64_t *ret)
{
    int64_t ms = 0;
    if (!pyro_yaml_duration(node, &ms) || ms < least_ms || ms > LONGEST_MS)
        return pyro_yaml_refuse(node, reader->path, reader->error, "a duration such as 60s, up to 7 days");
    *ret = ms;
    return PYRO_OK;
}

enum pyro_status pyro_crawl_take_pattern(const struct pyro_crawl_config *reader, void *target,
                                         const struct pyro_yaml *node)
{
    const char *text;
    struct pyro_pattern **ret = target;
    bool none = false;
    if (!pyro_yaml_text(node, &text) || strlen(text) > 1000)
        return pyro_yaml_refuse(node, reader->path, reader->error, "a regular expression");
    *ret = pyro_pattern_new(text, strlen(text), 0, &none);
    if (!*ret)
        return none ? pyro_crawl_no_memory(reader)
                    : pyro_crawl_refuse(reader, node, "this regular expression is not valid");
    return PYRO_OK;
}

static enum pyro_status take_one_of(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                    const char *const *names, size_t count, unsigned *ret)
{
    const char *text = "";
    size_t i = 0;
    pyro_yaml_text(node, &text);
    while (i < count && strcmp(text, names[i]) != 0)
        i++;
    *ret = (unsigned)i;
    return i < count ? PYRO_OK : pyro_crawl_refuse(reader, node, "this value is not one of those that are possible");
}

enum pyro_status pyro_crawl_take_address(const struct pyro_crawl_config *reader, void *target,
                                         const struct pyro_yaml *node)
{
    const char *text = "";
    PYRO_TRY(pyro_crawl_take_text(reader, &text, node));
    *(const char **)target = text;
    if (!pyro_is_url(text))
        return pyro_yaml_refuse(node, reader->path, reader->error, "an address (http://HOST:PORT)");
    const char *host = strstr(text, "://") + 3, *at = strchr(host, '@');
    if (at && (size_t)(at - host) < strcspn(host, "?#")) /* a password may have a slash */
        return pyro_crawl_refuse(reader, node,
                                 "an address has no name and password here; use the keys user and password");
    return PYRO_OK;
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

struct source_row {
    const char *place, *user, *password, *token;
    enum pyro_remote_mode mode;
    double rate;
};

static enum pyro_status take_folder(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    PYRO_TRY(pyro_crawl_take_text(reader, target, node));
    return pyro_is_url(*(const char **)target)
               ? pyro_crawl_refuse(reader, node, "a folder is not an address; use the key url")
               : PYRO_OK;
}

static enum pyro_status take_mode(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    static const char *const names[] = {"auto", "log", "rest"};
    unsigned mode;
    PYRO_TRY(take_one_of(reader, node, names, 3, &mode));
    ((struct source_row *)target)->mode = (enum pyro_remote_mode)mode;
    return PYRO_OK;
}

static enum pyro_status take_rate(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    double rate;
    if (!pyro_yaml_number(node, &rate) || !(rate >= 0.001 && rate <= 1e6))
        return pyro_yaml_refuse(node, reader->path, reader->error, "a number of logs a second");
    ((struct source_row *)target)->rate = rate;
    return PYRO_OK;
}

enum pyro_status pyro_crawl_join_user(const struct pyro_crawl_config *reader, const char *user, const char *password,
                                      const char **ret)
{
    *ret = NULL;
    if (!user)
        return PYRO_OK;
    *ret = pyro_arena_printf(&reader->settings->arena, "%s:%s", user, password ? password : "").ptr;
    return *ret ? PYRO_OK : pyro_crawl_no_memory(reader);
}

static enum pyro_status take_source(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    static const struct pyro_crawl_key keys[] = {
        {"url", pyro_crawl_take_address, offsetof(struct source_row, place)},
        {"folder", take_folder, offsetof(struct source_row, place)},
        {"user", pyro_crawl_take_text, offsetof(struct source_row, user)},
        {"password", pyro_crawl_take_secret, offsetof(struct source_row, password)},
        {"token", pyro_crawl_take_secret, offsetof(struct source_row, token)},
        {"remote", take_mode, 0},
        {"rate", take_rate, 0},
    };
    struct source_row row = {0};
    struct pyro_crawl_source *source;
    (void)target;
    if (node->kind == PYRO_YAML_SCALAR)
        PYRO_TRY(pyro_crawl_take_text(reader, &row.place, node));
    else
        PYRO_TRY(PYRO_CRAWL_TAKE_MAP(reader, node, keys, "a source", &row));
    if (!row.place)
        return pyro_crawl_refuse(reader, node, "a source has a url (of a History Server) or a folder");
    if (node->kind == PYRO_YAML_SCALAR && pyro_is_url(row.place))
        PYRO_TRY(pyro_crawl_take_address(reader, &row.place, node));
    PYRO_TRY(pyro_crawl_settings_add(reader->settings, row.place, &source, reader->error));
    source->mode = row.mode;
    source->rate = row.rate;
    source->token = row.token;
    return pyro_crawl_join_user(reader, row.user, row.password, &source->user);
}

static enum pyro_status take_sources(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    return pyro_crawl_take_list(reader, node, take_source, target);
}

/* ---- Names and classification ------------------------------------------------------------------------------------ */

static enum pyro_status take_name_pattern(const struct pyro_crawl_config *reader, void *target,
                                          const struct pyro_yaml *node)
{
    struct pyro_pattern *pattern = NULL;
    pyro_crawl_patterns *patterns = target;
    PYRO_TRY(pyro_crawl_take_pattern(reader, &pattern, node));
    struct pyro_pattern **added = pyro_vec_push(patterns, reader->settings->allocator);
    if (!added) {
        pyro_pattern_free(pattern);
        return pyro_crawl_no_memory(reader);
    }
    *added = pattern;
    return PYRO_OK;
}

static enum pyro_status take_patterns(const struct pyro_crawl_config *reader, void *target,
                                      const struct pyro_yaml *node)
{
    return pyro_crawl_take_list(reader, node, take_name_pattern, target);
}

static enum pyro_status take_names(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    static const struct pyro_crawl_key keys[] = {
        {"include", take_patterns, offsetof(struct pyro_crawl_settings, include)},
        {"exclude", take_patterns, offsetof(struct pyro_crawl_settings, exclude)},
    };
    return PYRO_CRAWL_TAKE_MAP(reader, node, keys, "names", target);
}

static enum pyro_status take_of(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    const char *text = "";
    PYRO_TRY(pyro_crawl_take_text(reader, &text, node));
    struct pyro_slice of = pyro_slice_from(text);
    if (!pyro_slice_is(of, "name") && !pyro_slice_starts_with(of, "property.") && !pyro_slice_starts_with(of, "tag."))
        return pyro_crawl_refuse(reader, node, "a rule matches name, property.KEY or tag.KEY");
    ((struct pyro_class *)target)->of = of;
    return PYRO_OK;
}

static enum pyro_status take_value(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    const char *text = "";
    PYRO_TRY(pyro_crawl_take_text(reader, &text, node));
    *(struct pyro_slice *)target = pyro_slice_from(text);
    return PYRO_OK;
}

static enum pyro_status take_class_tags(const struct pyro_crawl_config *reader, void *target,
                                        const struct pyro_yaml *node)
{
    struct pyro_class *rule = target;
    if (node->kind != PYRO_YAML_MAP)
        return pyro_crawl_refuse(reader, node, "tags is a list of keys with values (KEY: VALUE)");
    for (size_t i = 0; i < node->count; i++) {
        const char *value = "";
        PYRO_TRY(pyro_crawl_take_text(reader, &value, node->entries[i].value));
        struct pyro_run_pair *pair = pyro_vec_push(&rule->tags, reader->settings->allocator);
        if (!pair)
            return pyro_crawl_no_memory(reader);
        *pair = (struct pyro_run_pair){pyro_arena_copy(&reader->settings->arena, node->entries[i].key),
                                       pyro_slice_from(value)};
        if (!pair->key.ptr)
            return pyro_crawl_no_memory(reader);
    }
    return PYRO_OK;
}

static enum pyro_status take_class(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    static const struct pyro_crawl_key keys[] = {
        {"match", pyro_crawl_take_pattern, offsetof(struct pyro_class, pattern)},
        {"of", take_of, 0},
        {"application", take_value, offsetof(struct pyro_class, values[PYRO_CLASS_APPLICATION])},
        {"type", take_value, offsetof(struct pyro_class, values[PYRO_CLASS_TYPE])},
        {"version", take_value, offsetof(struct pyro_class, values[PYRO_CLASS_VERSION])},
        {"tag", take_value, offsetof(struct pyro_class, values[PYRO_CLASS_TAG])},
        {"tags", take_class_tags, 0},
    };
    struct pyro_class *rule = pyro_vec_push(&reader->settings->classes.rules, reader->settings->allocator);
    (void)target;
    if (!rule)
        return pyro_crawl_no_memory(reader);
    rule->of = PYRO_SLICE_LITERAL("name");
    PYRO_TRY(PYRO_CRAWL_TAKE_MAP(reader, node, keys, "a rule of the classification", rule));
    return rule->pattern ? PYRO_OK : pyro_crawl_refuse(reader, node, "a rule has a regular expression: match");
}

static enum pyro_status take_classes(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    return pyro_crawl_take_list(reader, node, take_class, target);
}

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

/* The parts of a store's address, where it is not one text. */
struct store_row {
    const char *url, *user, *password;
    struct pyro_strbuf parameters; /* "?raw=NAME&..." */
};

static enum pyro_status add_parameter(const struct pyro_crawl_config *reader, struct store_row *row, const char *name,
                                      const struct pyro_yaml *node)
{
    const char *text = "";
    PYRO_TRY(pyro_crawl_take_text(reader, &text, node));
    pyro_strbuf_printf(&row->parameters, "%c%s=", row->parameters.len ? '&' : '?', name);
    pyro_http_escape(&row->parameters, pyro_slice_from(text));
    return row->parameters.failed ? pyro_crawl_no_memory(reader) : PYRO_OK;
}

static enum pyro_status take_store_ca(const struct pyro_crawl_config *reader, void *target,
                                      const struct pyro_yaml *node)
{
    return add_parameter(reader, target, "ca", node);
}

static enum pyro_status take_store_index(const struct pyro_crawl_config *reader, void *target,
                                         const struct pyro_yaml *node)
{
    static const char *const names[] = {"raw", "agg", "err", "rows", "work"};
    for (size_t i = 0; i < node->count; i++) {
        size_t n = 0;
        while (n < 5 && !pyro_slice_is(node->entries[i].key, names[n]))
            n++;
        if (n == 5)
            return pyro_crawl_refuse(reader, node, "the indices of a store are raw, agg, err, rows and work");
        PYRO_TRY(add_parameter(reader, target, names[n], node->entries[i].value));
    }
    return PYRO_OK;
}

/* The address with its name, password and parameters in place. */
static enum pyro_status join_store(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                   const struct store_row *row)
{
    struct pyro_strbuf url;
    const char *host = row->url ? strstr(row->url, "://") : NULL;
    bool more = row->user || row->password || row->parameters.len;
    if (!row->url)
        return pyro_crawl_refuse(reader, node, "a store has a url");
    if (more && (!host || strncmp(row->url, "opensearch:", strlen("opensearch:")) != 0))
        return pyro_crawl_refuse(reader, node, "only a store opensearch:http(s)://HOST:PORT/PREFIX has these keys");
    pyro_strbuf_init(&url, reader->settings->allocator);
    size_t head = host ? (size_t)(host + 3 - row->url) : 0;
    pyro_strbuf_add(&url, row->url, head);
    if (row->user) {
        pyro_http_escape(&url, pyro_slice_from(row->user));
        pyro_strbuf_add_char(&url, ':');
        pyro_http_escape(&url, pyro_slice_from(row->password ? row->password : ""));
        pyro_strbuf_add_char(&url, '@');
    }
    pyro_strbuf_add_text(&url, row->url + head);
    pyro_strbuf_add_slice(&url, pyro_strbuf_slice(&row->parameters));
    reader->settings->store =
        url.failed ? NULL : pyro_arena_copy(&reader->settings->arena, pyro_strbuf_slice(&url)).ptr;
    pyro_strbuf_done(&url);
    return reader->settings->store ? PYRO_OK : pyro_crawl_no_memory(reader);
}

static enum pyro_status take_store(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    static const struct pyro_crawl_key keys[] = {
        {"url", pyro_crawl_take_text, offsetof(struct store_row, url)},
        {"user", pyro_crawl_take_text, offsetof(struct store_row, user)},
        {"password", pyro_crawl_take_secret, offsetof(struct store_row, password)},
        {"ca", take_store_ca, 0},
        {"index", take_store_index, 0},
    };
    struct store_row row = {0};
    (void)target;
    if (node->kind == PYRO_YAML_SCALAR)
        return pyro_crawl_take_text(reader, &reader->settings->store, node);
    pyro_strbuf_init(&row.parameters, reader->settings->allocator);
    enum pyro_status status = PYRO_CRAWL_TAKE_MAP(reader, node, keys, "a store", &row);
    if (status == PYRO_OK)
        status = join_store(reader, node, &row);
    pyro_strbuf_done(&row.parameters);
    return status;
}

static enum pyro_status take_every(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    int64_t ms = 0;
    PYRO_TRY(pyro_crawl_take_duration(reader, node, 100, &ms));
    ((struct pyro_crawl_settings *)target)->every_ms = (unsigned)ms;
    return PYRO_OK;
}

static enum pyro_status take_still(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    return pyro_crawl_take_duration(reader, node, 1000, &((struct pyro_crawl_settings *)target)->still_ms);
}

static enum pyro_status take_jobs(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    int64_t jobs;
    if (!pyro_yaml_int(node, &jobs) || jobs < 1 || jobs > 64)
        return pyro_yaml_refuse(node, reader->path, reader->error, "a number from 1 to 64");
    ((struct pyro_crawl_settings *)target)->jobs = (unsigned)jobs;
    return PYRO_OK;
}

static enum pyro_status take_min_end(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    const char *text = "";
    pyro_yaml_text(node, &text);
    if (!pyro_parse_date(text, "%Y-%m-%dT%H:%M:%S", &((struct pyro_crawl_settings *)target)->min_end_ms))
        return pyro_yaml_refuse(node, reader->path, reader->error, "a time in UTC such as 2026-01-31T00:00:00");
    return PYRO_OK;
}

/* What `suggest --apply` may do, which reads this part itself: here it is only checked. */
static enum pyro_status take_policy(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    struct pyro_crawl_settings *settings = target;
    struct pyro_policy policy;
    return pyro_policy_take(node, reader->path, &settings->arena, &policy, reader->error);
}

enum pyro_status pyro_crawl_settings_load(struct pyro_crawl_settings *settings, const char *path,
                                          struct pyro_error *error)
{
    static const struct pyro_crawl_key keys[] = {
        {"store", take_store, 0},
        {"sources", take_sources, 0},
        {"every", take_every, 0},
        {"still", take_still, 0},
        {"jobs", take_jobs, 0},
        {"min_end_date", take_min_end, 0},
        {"names", take_names, 0},
        {"classification", take_classes, 0},
        {"enrichers", pyro_crawl_take_enrichers, 0},
        {"policy", take_policy, 0},
    };
    const struct pyro_crawl_config reader = {settings, path, error};
    const struct pyro_yaml *root;
    struct pyro_arena arena;
    pyro_arena_init(&arena, settings->allocator);
    enum pyro_status status = pyro_yaml_load(&arena, path, &root, error);
    if (status == PYRO_OK)
        status = PYRO_CRAWL_TAKE_MAP(&reader, root, keys, "the configuration of a crawler", settings);
    pyro_arena_done(&arena);
    return status == PYRO_ERROR_INPUT ? PYRO_ERROR_ARGUMENT : status;
}
