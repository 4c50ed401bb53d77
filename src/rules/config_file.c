/* The configuration file, docs/configuration.md: a tree of settings into a pyro_config. */
#include <stdarg.h>
#include <stdio.h>

#include "base/files/yaml_file.h"
#include "rules/config.h"

struct file {
    struct pyro_config *config;
    const char *path;
    struct pyro_error *error;
};

/* "FILE, line N: message" */
static enum pyro_status fail(const struct file *file, unsigned line, enum pyro_status status, const char *message)
{
    pyro_error_describe(file->error, status, "%.400s, line %u: %s", file->path, line, message);
    pyro_error_at(file->error, file->path, UINT64_MAX);
    return status;
}

static enum pyro_status refuse(const struct file *file, const struct pyro_yaml *node, const char *wanted)
{
    enum pyro_status status = pyro_yaml_refuse(node, file->path, file->error, wanted);
    pyro_error_at(file->error, file->path, UINT64_MAX);
    return status;
}

static enum pyro_status read_thresholds(const struct file *file, const char *rule, const struct pyro_yaml *map)
{
    if (map->kind != PYRO_YAML_MAP)
        return refuse(file, map, "a map of thresholds, such as {ratio_min: 4}");
    for (size_t i = 0; i < map->count; i++) {
        const struct pyro_yaml *value = map->entries[i].value;
        struct pyro_error error = {.size = sizeof(error)};
        pyro_error_clear(&error);
        if (value->kind != PYRO_YAML_SCALAR)
            return refuse(file, value, "a number");
        enum pyro_status status = pyro_config_set(file->config, rule, map->entries[i].key.ptr, value->text.ptr, &error);
        if (status != PYRO_OK)
            return fail(file, map->entries[i].line, status, error.message);
    }
    return PYRO_OK;
}

static enum pyro_status read_rules(const struct file *file, const struct pyro_yaml *map)
{
    if (map->kind != PYRO_YAML_MAP)
        return refuse(file, map, "a map of rules");
    for (size_t i = 0; i < map->count; i++) {
        const char *rule = map->entries[i].key.ptr;
        struct pyro_error error = {.size = sizeof(error)};
        pyro_error_clear(&error);
        enum pyro_status status = pyro_config_check_rule(rule, &error);
        if (status != PYRO_OK)
            return fail(file, map->entries[i].line, status, error.message);
        status = read_thresholds(file, rule, map->entries[i].value);
        if (status != PYRO_OK)
            return status;
    }
    return PYRO_OK;
}

/* "data-skew", or {id: data-skew, reason: ...} */
static enum pyro_status read_suppression(const struct file *file, const struct pyro_yaml *node)
{
    const char *what = NULL, *reason = NULL;
    char where[480];
    struct pyro_error error = {.size = sizeof(error)};
    pyro_error_clear(&error);
    for (size_t i = 0; node->kind == PYRO_YAML_MAP && i < node->count; i++) {
        const struct pyro_yaml_entry *entry = &node->entries[i];
        const char **target = pyro_slice_is(entry->key, "id")       ? &what
                              : pyro_slice_is(entry->key, "reason") ? &reason
                                                                    : NULL;
        if (!target)
            return fail(file, entry->line, PYRO_ERROR_ARGUMENT, "a suppression has only 'id' and 'reason'");
        if (!pyro_yaml_text(entry->value, target))
            return refuse(file, entry->value, "a text");
    }
    if (node->kind != PYRO_YAML_MAP)
        pyro_yaml_text(node, &what);
    if (!what)
        return refuse(file, node, "a rule, the id of a finding, or {id: ..., reason: ...}");
    snprintf(where, sizeof(where), "%.400s, line %u", file->path, node->line);
    enum pyro_status status = pyro_config_suppress_at(file->config, what, reason, where, &error);
    return status == PYRO_OK ? PYRO_OK : fail(file, node->line, status, error.message);
}

static enum pyro_status read_suppress(const struct file *file, const struct pyro_yaml *list)
{
    if (list->kind != PYRO_YAML_LIST)
        return refuse(file, list, "a list of rules and findings to suppress");
    for (size_t i = 0; i < list->count; i++) {
        enum pyro_status status = read_suppression(file, list->entries[i].value);
        if (status != PYRO_OK)
            return status;
    }
    return PYRO_OK;
}

static enum pyro_status read_profile(const struct file *file, const struct pyro_yaml *node)
{
    const char *name;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_error_clear(&error);
    if (!pyro_yaml_text(node, &name))
        return refuse(file, node, "the name of a profile");
    enum pyro_status status = pyro_config_profile(file->config, name, &error);
    return status == PYRO_OK ? PYRO_OK : fail(file, node->line, status, error.message);
}

/* Every key of the file's top level. */
static const struct section {
    const char *name;
    enum pyro_status (*read)(const struct file *file, const struct pyro_yaml *node);
} sections[] = {
    {"rules", read_rules},
    {"suppress", read_suppress},
    {"profile", read_profile},
};
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static enum pyro_status read_section(const struct file *file, const struct pyro_yaml_entry *entry)
{
    const char *names[SECTIONS];
    char message[256];
    for (size_t i = 0; i < SECTIONS; i++) {
        names[i] = sections[i].name;
        if (pyro_slice_is(entry->key, names[i]))
            return pyro_yaml_is_null(entry->value) ? PYRO_OK : sections[i].read(file, entry->value);
    }
    const char *nearest = pyro_nearest(entry->key.ptr, names, SECTIONS);
    snprintf(message, sizeof(message), "there is no key '%.100s'%s%s%s", entry->key.ptr,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return fail(file, entry->line, PYRO_ERROR_ARGUMENT, message);
}

static enum pyro_status read_root(const struct file *file, const struct pyro_yaml *root)
{
    if (pyro_yaml_is_null(root))
        return PYRO_OK;
    if (root->kind != PYRO_YAML_MAP)
        return refuse(file, root, "a configuration: a map with keys such as rules and suppress");
    for (size_t i = 0; i < root->count; i++) {
        enum pyro_status status = read_section(file, &root->entries[i]);
        if (status != PYRO_OK)
            return status;
    }
    return PYRO_OK;
}

enum pyro_status pyro_config_parse(pyro_config *config, const char *name, const char *text, size_t len,
                                   struct pyro_error *error)
{
    if (!config || (!text && len > 0))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the configuration or its text is missing");
    struct file file = {config, name ? name : "(configuration)", error};
    struct pyro_arena arena;
    const struct pyro_yaml *root;
    pyro_arena_init(&arena, config->allocator);
    enum pyro_status status = pyro_yaml_parse(&arena, file.path, text ? text : "", len, &root, error);
    if (status == PYRO_OK)
        status = read_root(&file, root);
    pyro_arena_done(&arena);
    return status;
}

enum pyro_status pyro_config_read(pyro_config *config, const char *path, struct pyro_error *error)
{
    if (!config || !path)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the configuration or the path is missing");
    struct file file = {config, path, error};
    struct pyro_arena arena;
    const struct pyro_yaml *root;
    pyro_arena_init(&arena, config->allocator);
    enum pyro_status status = pyro_yaml_load(&arena, path, &root, error);
    if (status == PYRO_OK)
        status = read_root(&file, root);
    pyro_arena_done(&arena);
    return status;
}
