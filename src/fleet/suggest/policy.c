/* Limits and permissions from a configuration file. */
#include "fleet/suggest/policy.h"

#include <math.h>

enum key { ENABLED, APPLY, EXECUTORS, CORES, MEMORY, TOTAL_CORES, KEYS };
static const char *const names[KEYS] = {"enabled",   "apply",      "max_executors",
                                        "max_cores", "max_memory", "max_total_cores"};

struct pyro_policy pyro_policy_none(void)
{
    return (struct pyro_policy){.limits = {NAN, NAN, NAN, NAN}};
}

static enum pyro_status take_names(const struct pyro_yaml *list, const char *path, struct pyro_arena *arena,
                                   struct pyro_policy *policy, struct pyro_error *error)
{
    const char **all = pyro_arena_array(arena, list->count + 1, sizeof(*all));
    if (!all)
        return pyro_no_memory(error);
    if (list->kind != PYRO_YAML_LIST)
        return pyro_yaml_refuse(list, path, error, "a list of applications");
    for (size_t i = 0; i < list->count; i++)
        if (!pyro_yaml_text(list->entries[i].value, &all[i]))
            return pyro_yaml_refuse(list->entries[i].value, path, error, "the name of an application");
    policy->apply = all;
    policy->apply_count = list->count;
    return PYRO_OK;
}

static enum pyro_status take_count(const struct pyro_yaml *value, const char *path, double *ret,
                                   struct pyro_error *error)
{
    int64_t number = 0;
    if (!pyro_yaml_int(value, &number) || number < 1)
        return pyro_yaml_refuse(value, path, error, "a whole number above 0");
    *ret = (double)number;
    return PYRO_OK;
}

static enum pyro_status take_memory(const struct pyro_yaml *value, const char *path, double *ret,
                                    struct pyro_error *error)
{
    int64_t bytes = 0;
    if (!pyro_yaml_size(value, &bytes) || bytes < 1)
        return pyro_yaml_refuse(value, path, error, "a size such as 16g");
    *ret = (double)bytes;
    return PYRO_OK;
}

static enum pyro_status take(enum key key, const struct pyro_yaml *value, const char *path, struct pyro_arena *arena,
                             struct pyro_policy *policy, struct pyro_error *error)
{
    bool enabled = true;
    switch (key) {
    case ENABLED:
        if (!pyro_yaml_bool(value, &enabled))
            return pyro_yaml_refuse(value, path, error, "true or false");
        policy->off = !enabled;
        return PYRO_OK;
    case APPLY:
        return take_names(value, path, arena, policy, error);
    case EXECUTORS:
        return take_count(value, path, &policy->limits.most_executors, error);
    case CORES:
        return take_count(value, path, &policy->limits.most_cores, error);
    case MEMORY:
        return take_memory(value, path, &policy->limits.most_memory_bytes, error);
    default:
        return take_count(value, path, &policy->limits.most_total_cores, error);
    }
}

enum pyro_status pyro_policy_take(const struct pyro_yaml *section, const char *path, struct pyro_arena *arena,
                                  struct pyro_policy *ret, struct pyro_error *error)
{
    struct pyro_policy policy = pyro_policy_none();
    if (section && section->kind != PYRO_YAML_MAP)
        return pyro_yaml_refuse(section, path, error, "a map of limits");
    for (size_t i = 0; section && i < section->count; i++) {
        const struct pyro_yaml_entry *entry = &section->entries[i];
        int key = 0;
        while (key < KEYS && !pyro_slice_is(entry->key, names[key]))
            key++;
        if (key == KEYS) {
            const char *nearest = pyro_nearest(entry->key.ptr, names, KEYS);
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%.200s, line %u: the policy has no key '%.60s'%s%s%s",
                                  path, entry->line, entry->key.ptr, nearest ? "; did you mean '" : "",
                                  nearest ? nearest : "", nearest ? "'?" : "");
        }
        PYRO_TRY(take((enum key)key, entry->value, path, arena, &policy, error));
    }
    *ret = policy;
    return PYRO_OK;
}

enum pyro_status pyro_policy_load(const char *path, struct pyro_arena *arena, struct pyro_policy *ret,
                                  struct pyro_error *error)
{
    const struct pyro_yaml *root;
    PYRO_TRY(pyro_yaml_load(arena, path, &root, error));
    return pyro_policy_take(pyro_yaml_get(root, "policy"), path, arena, ret, error);
}

bool pyro_policy_applies(const struct pyro_policy *policy, struct pyro_slice application)
{
    const struct pyro_suggest_limits *limits = &policy->limits;
    bool limited = isfinite(limits->most_executors) || isfinite(limits->most_total_cores);
    for (size_t i = 0; i < policy->apply_count; i++)
        if (pyro_slice_is(application, policy->apply[i]))
            return limited && !policy->off;
    return false;
}
