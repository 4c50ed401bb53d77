/* Budgets from YAML or JSON. */
#include "base/files/yaml_file.h"
#include "compare/gate.h"

static enum pyro_status read_tolerance(const struct pyro_yaml *map, const char *path, double *ret,
                                       struct pyro_error *error)
{
    const struct pyro_yaml *node = pyro_yaml_get(map, "tolerance");
    if (!node || pyro_yaml_share(node, ret))
        return PYRO_OK;
    return pyro_yaml_refuse(node, path, error, "a share such as 5% or 0.05");
}

static enum pyro_status read_value(const struct pyro_yaml *node, const char *path, const char *unit, double *ret,
                                   struct pyro_error *error)
{
    int64_t whole = 0;
    if (!strcmp(unit, "ms")) {
        if (!pyro_yaml_duration(node, &whole))
            return pyro_yaml_refuse(node, path, error, "a duration such as 90s, 20m or 1h30m");
    } else if (!strcmp(unit, "bytes")) {
        if (!pyro_yaml_size(node, &whole))
            return pyro_yaml_refuse(node, path, error, "a size such as 0, 512m or 10g");
    } else if (!strcmp(unit, "share")) {
        return pyro_yaml_share(node, ret) ? PYRO_OK : pyro_yaml_refuse(node, path, error, "a share such as 10% or 0.1");
    } else if (!pyro_yaml_int(node, &whole) || whole < 0) {
        return pyro_yaml_refuse(node, path, error, "a number, 0 or more");
    }
    *ret = (double)whole;
    return PYRO_OK;
}

/* A value alone, or {limit: value, tolerance: share}. */
static enum pyro_status read_limit(const struct pyro_yaml *node, const char *path, const char *unit, double tolerance,
                                   struct pyro_budget_limit *ret, struct pyro_error *error)
{
    ret->tolerance = tolerance;
    if (node->kind == PYRO_YAML_MAP) {
        const struct pyro_yaml *limit = pyro_yaml_get(node, "limit");
        for (size_t i = 0; i < node->count; i++)
            if (!pyro_slice_is(node->entries[i].key, "limit") && !pyro_slice_is(node->entries[i].key, "tolerance"))
                return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s, line %u: '%.60s' is neither limit nor tolerance",
                                      path, node->entries[i].value->line, node->entries[i].key.ptr);
        if (!limit)
            return pyro_yaml_refuse(node, path, error, "a limit: 'limit' is missing");
        PYRO_TRY(read_tolerance(node, path, &ret->tolerance, error));
        node = limit;
    }
    PYRO_TRY(read_value(node, path, unit, &ret->value, error));
    ret->set = true;
    return PYRO_OK;
}

static enum pyro_status read_findings(const struct pyro_yaml *node, const char *path, double tolerance,
                                      struct pyro_budget *budget, struct pyro_error *error)
{
    if (node->kind != PYRO_YAML_MAP)
        return pyro_yaml_refuse(node, path, error, "a map of severities to numbers, such as {severe: 0}");
    for (size_t i = 0; i < node->count; i++) {
        int severity = 0;
        while (severity < 4 && !pyro_slice_is(node->entries[i].key, pyro_severity_name((enum pyro_severity)severity)))
            severity++;
        if (severity == 4)
            return pyro_error_set(
                error, PYRO_ERROR_ARGUMENT,
                "%s, line %u: '%.60s' is not a severity; the severities are low, moderate, severe and critical", path,
                node->entries[i].value->line, node->entries[i].key.ptr);
        PYRO_TRY(read_limit(node->entries[i].value, path, "count", tolerance, &budget->findings[severity], error));
    }
    return PYRO_OK;
}

static enum pyro_status read_entry(const struct pyro_yaml_entry *entry, const char *path, double tolerance,
                                   struct pyro_budget *budget, struct pyro_error *error)
{
    if (pyro_slice_is(entry->key, "tolerance"))
        return PYRO_OK;
    if (pyro_slice_is(entry->key, "findings"))
        return read_findings(entry->value, path, tolerance, budget, error);
    if (pyro_slice_is(entry->key, "cost"))
        return pyro_error_set(
            error, PYRO_ERROR_ARGUMENT,
            "%s, line %u: 'cost' cannot be limited, because a gate does not know prices; limit core_time", path,
            entry->value->line);
    for (int i = 0; i < PYRO_LIMITS; i++)
        if (pyro_slice_is(entry->key, pyro_limits[i].name))
            return read_limit(entry->value, path, pyro_limits[i].unit, tolerance, &budget->limits[i], error);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "%s, line %u: there is no limit '%.60s'; 'pyrometer gate --help' lists the limits", path,
                          entry->value->line, entry->key.ptr);
}

enum pyro_status pyro_budget_read(struct pyro_arena *arena, const char *path, struct pyro_budget *ret,
                                  struct pyro_error *error)
{
    const struct pyro_yaml *root = NULL;
    double tolerance = 0;
    PYRO_TRY(pyro_yaml_load(arena, path, &root, error));
    if (root->kind != PYRO_YAML_MAP)
        return pyro_yaml_refuse(root, path, error, "a map of limits, such as {wall: 20m, spill: 0}");
    if (root->count == 0 || (root->count == 1 && pyro_yaml_get(root, "tolerance")))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s limits nothing", path);
    PYRO_TRY(read_tolerance(root, path, &tolerance, error));
    *ret = (struct pyro_budget){0};
    for (size_t i = 0; i < root->count; i++)
        PYRO_TRY(read_entry(&root->entries[i], path, tolerance, ret, error));
    return PYRO_OK;
}
