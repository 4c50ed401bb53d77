/* The services of crawl.yaml that know more of runs. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fleet/crawl/crawl_config.h"
#include "source/http/http.h"

/* One row, before it is an enricher. */
struct row {
    const char *http, *yarn, *menas; /* addresses; exactly one is given */
    const char *user, *password, *token, *ids;
    int64_t timeout_ms, cache_ms;
    struct pyro_pattern *names;
    const struct pyro_yaml *tags, *aggregates, *queue;
};

static enum pyro_status take_account(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    const char *text = "";
    pyro_yaml_text(node, &text);
    if (strncmp(text, "env:", 4) == 0 || strncmp(text, "file:", 5) == 0)
        return pyro_crawl_take_secret(reader, target, node);
    return pyro_crawl_take_text(reader, target, node);
}

static enum pyro_status take_timeout(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    return pyro_crawl_take_duration(reader, node, 1000, &((struct row *)target)->timeout_ms);
}

static enum pyro_status take_cache(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    return pyro_crawl_take_duration(reader, node, 0, &((struct row *)target)->cache_ms);
}

static enum pyro_status take_node(const struct pyro_crawl_config *reader, void *target, const struct pyro_yaml *node)
{
    (void)reader;
    *(const struct pyro_yaml **)target = node;
    return PYRO_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static enum pyro_status add_value(const struct pyro_crawl_config *reader, struct pyro_enricher *enricher,
                                  enum pyro_enrich_target target, struct pyro_slice name, const struct pyro_yaml *node)
{
    const char *text = "";
    struct pyro_error why = {.size = sizeof(why)};
    PYRO_TRY(pyro_crawl_take_text(reader, &text, node));
    struct pyro_enrich_value *value = pyro_vec_push(&enricher->values, reader->settings->allocator);
    struct pyro_slice kept = pyro_arena_copy(&reader->settings->arena, name);
    if (!value || !kept.ptr)
        return pyro_crawl_no_memory(reader);
    *value = (struct pyro_enrich_value){.target = target, .name = kept.ptr};
    enum pyro_status status =
        pyro_expression_parse(&reader->settings->arena, pyro_slice_from(text), &value->expression, &why);
    if (status == PYRO_ERROR_ARGUMENT)
        return pyro_crawl_refuse(reader, node, why.message);
    return status == PYRO_OK ? PYRO_OK : pyro_crawl_no_memory(reader);
}

static enum pyro_status add_values(const struct pyro_crawl_config *reader, struct pyro_enricher *enricher,
                                   enum pyro_enrich_target target, const struct pyro_yaml *map)
{
    if (map && map->kind != PYRO_YAML_MAP)
        return pyro_crawl_refuse(reader, map, "tags and aggregates are lists of names with values (NAME: VALUE)");
    for (size_t i = 0; map && i < map->count; i++)
        PYRO_TRY(add_value(reader, enricher, target, map->entries[i].key, map->entries[i].value));
    return PYRO_OK;
}

/* An address of a service, and what is asked there. */
static const char *with_path(struct pyro_crawl_settings *settings, const char *url, const char *path)
{
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    return pyro_arena_printf(&settings->arena, "%.*s%s", (int)len, url, path).ptr;
}

static enum pyro_status set_address(const struct pyro_crawl_config *reader, struct pyro_enricher *enricher,
                                    const struct row *row)
{
    struct pyro_crawl_settings *settings = reader->settings;
    const char *base = row->yarn ? row->yarn : row->menas ? row->menas : row->http;
    enricher->url = row->yarn    ? with_path(settings, base, "/ws/v1/cluster/apps/{app_id}")
                    : row->menas ? with_path(settings, base, "/runs/bySparkAppId/{app_id}")
                                 : base;
    enricher->label = pyro_http_label_in(&settings->arena, base).ptr;
    enricher->ids = row->ids ? row->ids : row->yarn ? "application_" : NULL;
    enricher->token = row->token;
    if (!enricher->url || !enricher->label)
        return pyro_crawl_no_memory(reader);
    if (row->menas) {
        enricher->account = row->user;
        enricher->password = row->password;
        return PYRO_OK;
    }
    return pyro_crawl_join_user(reader, row->user, row->password, &enricher->user);
}

static enum pyro_status make_enricher(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                      struct row *row)
{
    struct pyro_crawl_settings *settings = reader->settings;
    enum pyro_enricher_kind kind = row->yarn ? PYRO_ENRICH_YARN : row->menas ? PYRO_ENRICH_MENAS : PYRO_ENRICH_HTTP;
    if (!!row->http + !!row->yarn + !!row->menas != 1)
        return pyro_crawl_refuse(reader, node, "an enricher has one of the keys http, yarn and menas");
    struct pyro_enricher *enricher = pyro_enrichers_add(&settings->enrichers, kind, &settings->arena);
    if (!enricher)
        return pyro_crawl_no_memory(reader);
    enricher->names = row->names;
    row->names = NULL;
    if (row->timeout_ms)
        enricher->timeout_s = (unsigned)((row->timeout_ms + 999) / 1000); /* cannot overflow */
    enricher->cache_ms = row->cache_ms >= 0 ? row->cache_ms : enricher->cache_ms;
    PYRO_TRY(set_address(reader, enricher, row));
    PYRO_TRY(pyro_enricher_complete(enricher, &settings->arena, settings->allocator, reader->error));
    PYRO_TRY(add_values(reader, enricher, PYRO_ENRICH_TAG, row->tags));
    PYRO_TRY(add_values(reader, enricher, PYRO_ENRICH_AGGREGATE, row->aggregates));
    if (row->queue)
        PYRO_TRY(add_value(reader, enricher, PYRO_ENRICH_QUEUE, PYRO_SLICE_LITERAL("queue"), row->queue));
    return kind != PYRO_ENRICH_HTTP || enricher->values.count
               ? PYRO_OK
               : pyro_crawl_refuse(reader, node, "an enricher takes something: tags, aggregates or queue");
}

static enum pyro_status take_enricher(const struct pyro_crawl_config *reader, void *target,
                                      const struct pyro_yaml *node)
{
    static const struct pyro_crawl_key keys[] = {
        {"http", pyro_crawl_take_address, offsetof(struct row, http)},
        {"yarn", pyro_crawl_take_address, offsetof(struct row, yarn)},
        {"menas", pyro_crawl_take_address, offsetof(struct row, menas)},
        {"user", take_account, offsetof(struct row, user)},
        {"password", pyro_crawl_take_secret, offsetof(struct row, password)},
        {"token", pyro_crawl_take_secret, offsetof(struct row, token)},
        {"timeout", take_timeout, 0},
        {"cache", take_cache, 0},
        {"names", pyro_crawl_take_pattern, offsetof(struct row, names)},
        {"ids", pyro_crawl_take_text, offsetof(struct row, ids)},
        {"tags", take_node, offsetof(struct row, tags)},
        {"aggregates", take_node, offsetof(struct row, aggregates)},
        {"queue", take_node, offsetof(struct row, queue)},
    };
    struct row row = {.cache_ms = -1};
    (void)target;
    enum pyro_status status = PYRO_CRAWL_TAKE_MAP(reader, node, keys, "an enricher", &row);
    if (status == PYRO_OK)
        status = make_enricher(reader, node, &row);
    pyro_pattern_free(row.names);
    return status;
}

enum pyro_status pyro_crawl_take_enrichers(const struct pyro_crawl_config *reader, void *target,
                                           const struct pyro_yaml *node)
{
    return pyro_crawl_take_list(reader, node, take_enricher, target);
}
