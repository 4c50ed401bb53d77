/* Reading crawl.yaml: what its parts have in common. */
#ifndef PYRO_FLEET_CRAWL_CRAWL_CONFIG_H
#define PYRO_FLEET_CRAWL_CRAWL_CONFIG_H

#include "base/files/yaml_file.h"
#include "fleet/crawl/source_settings.h"

struct pyro_crawl_config {
    struct pyro_crawl_settings *settings;
    const char *path;
    struct pyro_error *error;
};

/* One key of a map, and who takes its value into what the map is about. */
typedef enum pyro_status pyro_crawl_take(const struct pyro_crawl_config *reader, void *target,
                                         const struct pyro_yaml *node);
struct pyro_crawl_key {
    const char *name;
    pyro_crawl_take *take;
    size_t place; /* of the taker's target in what the map is about */
};

enum pyro_status pyro_crawl_refuse(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                   const char *why);
enum pyro_status pyro_crawl_no_memory(const struct pyro_crawl_config *reader);
/* Refuses keys that are not in the table, naming the nearest. Values that are null count as not given. */
enum pyro_status pyro_crawl_take_map(const struct pyro_crawl_config *reader, const struct pyro_yaml *map,
                                     const struct pyro_crawl_key *keys, size_t count, const char *what, void *target);
#define PYRO_CRAWL_TAKE_MAP(reader, map, keys, what, target)                                                           \
    pyro_crawl_take_map(reader, map, keys, sizeof(keys) / sizeof(*(keys)), what, target)
enum pyro_status pyro_crawl_take_list(const struct pyro_crawl_config *reader, const struct pyro_yaml *list,
                                      pyro_crawl_take *take, void *target);

/* Texts: the target is a `const char *`, what it points to is in the settings' arena. */
pyro_crawl_take pyro_crawl_take_text;
/* "env:NAME" or "file:PATH"; the value itself is refused, and not shown. */
pyro_crawl_take pyro_crawl_take_secret;
/* An address without name and password, which would be secrets. */
pyro_crawl_take pyro_crawl_take_address;
/* The target is a `struct pyro_pattern *`. */
pyro_crawl_take pyro_crawl_take_pattern;
enum pyro_status pyro_crawl_take_duration(const struct pyro_crawl_config *reader, const struct pyro_yaml *node,
                                          int64_t least_ms, int64_t *ret);
/* "NAME:PASSWORD"; NULL where there is no user. */
enum pyro_status pyro_crawl_join_user(const struct pyro_crawl_config *reader, const char *user, const char *password,
                                      const char **ret);

/* config_enrich.c */
pyro_crawl_take pyro_crawl_take_enrichers;

#endif
