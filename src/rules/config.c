#include "rules/config.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/numbers/units.h"
#include "base/options.h"
#include "rules/profiles/profile.h"

enum { SUPPRESSIONS_MAX = 10000, PATTERN_MAX = 1024, RULES_MAX = 256 };

enum pyro_status pyro_config_new(const struct pyro_options *options, pyro_config **ret, struct pyro_error *error)
{
    struct pyro_options own;
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    const struct pyro_allocator *allocator = own.allocator;
    if (!ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "no place for the configuration is given");
    struct pyro_config *config = pyro_allocate(allocator, sizeof(*config));
    if (!config)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for a configuration");
    *config = (struct pyro_config){.allocator = allocator};
    pyro_arena_init(&config->arena, allocator);
    *ret = config;
    return PYRO_OK;
}

void pyro_config_free(pyro_config *config)
{
    if (!config)
        return;
    const struct pyro_allocator *allocator = config->allocator;
    pyro_vec_done(&config->limits, allocator);
    pyro_vec_done(&config->suppressions, allocator);
    pyro_arena_done(&config->arena);
    pyro_release(allocator, config);
}

static enum pyro_status unknown(struct pyro_error *error, const char *what, const char *word, const char *const *names,
                                size_t count)
{
    const char *nearest = pyro_nearest(word, names, count);
    if (nearest)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no %s '%.100s'; did you mean '%s'?", what, word,
                              nearest);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no %s '%.100s'", what, word);
}

static enum pyro_status find_rule(const char *id, size_t *ret, struct pyro_error *error)
{
    const char *ids[RULES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < pyro_rule_count && count < RULES_MAX; i++) {
        if (strcmp(pyro_rules[i]->id, id) == 0) {
            *ret = i;
            return PYRO_OK;
        }
        ids[count++] = pyro_rules[i]->id;
    }
    return unknown(error, "rule", id, ids, count);
}

static enum pyro_status find_threshold(const struct pyro_rule *rule, const char *name, size_t *ret,
                                       struct pyro_error *error)
{
    const char *names[PYRO_THRESHOLDS_MAX];
    for (size_t i = 0; i < rule->threshold_count; i++) {
        names[i] = rule->thresholds[i].name;
        if (strcmp(names[i], name) == 0) {
            *ret = i;
            return PYRO_OK;
        }
    }
    if (rule->threshold_count == 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the rule '%s' has no thresholds", rule->id);
    char what[128];
    snprintf(what, sizeof(what), "threshold of %s", rule->id);
    return unknown(error, what, name, names, rule->threshold_count);
}

enum pyro_status pyro_config_check_rule(const char *id, struct pyro_error *error)
{
    size_t row;
    return find_rule(id, &row, error);
}

/* "64m", "5 s", "20 %": a number with a unit of the threshold's own kind, or alone. NAN: not that. */
static double parse_value(const char *text, const char *unit)
{
    /* strtod() also takes "inf", "nan" and hexadecimal numbers, and the locale's decimal comma. */
    double value = 0, place = 1;
    const char *at = text;
    bool any = false;
    for (; *at >= '0' && *at <= '9'; at++, any = true)
        value = value * 10 + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, any = true) {
            value = value * 10 + (*at - '0');
            place *= 10;
        }
    if (!any || !isfinite(place))
        return NAN;
    value /= place;
    while (*at == ' ')
        at++;
    if (*at == '\0')
        return value;
    struct pyro_slice suffix = pyro_slice_from(at);
    if (strcmp(unit, "share") == 0)
        return pyro_slice_is(suffix, "%") ? value * 0.01 : (double)NAN;
    int64_t factor = strcmp(unit, "bytes") == 0 ? pyro_size_suffix(suffix)
                     : strcmp(unit, "ms") == 0  ? pyro_time_suffix(suffix)
                                                : 0;
    return factor > 0 ? value * (double)factor : (double)NAN;
}

static const char *expected(const char *unit)
{
    return strcmp(unit, "bytes") == 0   ? "a size such as 1048576 or 64m"
           : strcmp(unit, "ms") == 0    ? "milliseconds, or a time such as 5s"
           : strcmp(unit, "share") == 0 ? "a share from 0 to 1, or a percentage such as 20%"
                                        : "a number, 0 or more";
}

enum pyro_status pyro_config_set(pyro_config *config, const char *rule, const char *threshold, const char *value,
                                 struct pyro_error *error)
{
    struct pyro_config_limit limit = {0};
    if (!config || !rule || !threshold || !value)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the configuration, the rule, the threshold or the value is missing");
    enum pyro_status status = find_rule(rule, &limit.rule, error);
    if (status == PYRO_OK)
        status = find_threshold(pyro_rules[limit.rule], threshold, &limit.index, error);
    if (status != PYRO_OK)
        return status;
    const struct pyro_threshold *row = &pyro_rules[limit.rule]->thresholds[limit.index];
    limit.value = parse_value(value, row->unit);
    /* What advice aims at divides: see rule.h. */
    bool divides = strncmp(threshold, "target_", 7) == 0;
    if (!(limit.value <= (strcmp(row->unit, "share") == 0 ? 1.0 : 1e15)) || (divides && limit.value <= 0))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s.%s cannot be '%.100s'; it is %s%s", rule, threshold,
                              value, expected(row->unit), divides ? ", greater than 0" : "");
    for (size_t i = 0; i < config->limits.count; i++) {
        struct pyro_config_limit *had = &config->limits.items[i];
        if (had->rule == limit.rule && had->index == limit.index) {
            had->value = limit.value;
            return PYRO_OK;
        }
    }
    struct pyro_config_limit *added = pyro_vec_push(&config->limits, config->allocator);
    if (!added)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the configuration");
    *added = limit;
    return PYRO_OK;
}

/* A rule's id, or a pattern for ids of findings, whose part before the colon is one. */
static enum pyro_status check_pattern(const char *what, struct pyro_error *error)
{
    char head[128];
    size_t len = strcspn(what, ":"), row;
    if (what[0] == '\0' || strlen(what) > PATTERN_MAX)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "a suppression names a rule or the id of a finding, with at most %d bytes", PATTERN_MAX);
    if (strcspn(what, "*?") < len)
        return PYRO_OK;
    snprintf(head, sizeof(head), "%.*s", (int)(len < sizeof(head) ? len : sizeof(head) - 1), what);
    if (find_rule(head, &row, NULL) == PYRO_OK)
        return PYRO_OK;
    /* "gc-pressure-2": the second finding of a rule that speaks of the whole application. */
    char *dash = strrchr(head, '-');
    if (dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1)) {
        *dash = '\0';
        if (find_rule(head, &row, NULL) == PYRO_OK)
            return PYRO_OK;
    }
    return find_rule(head, &row, error);
}

enum pyro_status pyro_config_suppress_at(struct pyro_config *config, const char *what, const char *reason,
                                         const char *where, struct pyro_error *error)
{
    if (!config || !what)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the configuration or the suppression is missing");
    enum pyro_status status = check_pattern(what, error);
    if (status != PYRO_OK)
        return status;
    if (config->suppressions.count >= SUPPRESSIONS_MAX)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "more than %d suppressions", SUPPRESSIONS_MAX);
    struct pyro_config_suppression *added = pyro_vec_push(&config->suppressions, config->allocator);
    if (added) {
        added->pattern = pyro_arena_copy(&config->arena, pyro_slice_from(what));
        added->reason = reason ? pyro_arena_copy(&config->arena, pyro_slice_from(reason))
                               : pyro_arena_printf(&config->arena, "%s: %s", where, what);
    }
    if (!added || !added->pattern.ptr || !added->reason.ptr)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the configuration");
    return PYRO_OK;
}

enum pyro_status pyro_config_suppress(pyro_config *config, const char *what, const char *reason,
                                      struct pyro_error *error)
{
    return pyro_config_suppress_at(config, what, reason, "suppressed", error);
}

enum pyro_status pyro_config_profile(pyro_config *config, const char *name, struct pyro_error *error)
{
    const char *names[RULES_MAX];
    size_t count = 0;
    if (!config || !name)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the configuration or the profile is missing");
    for (size_t i = 0; i < pyro_profile_count && count < RULES_MAX; i++) {
        names[count++] = pyro_profiles[i]->name;
        if (strcmp(pyro_profiles[i]->name, name) == 0) {
            config->profile = pyro_profiles[i];
            return PYRO_OK;
        }
    }
    if (strcmp(name, "none") == 0) {
        config->profile = NULL;
        return PYRO_OK;
    }
    return unknown(error, "profile", name, names, count);
}

void pyro_config_limits(const struct pyro_config *config, size_t rule, double *limits)
{
    for (size_t i = 0; i < pyro_rules[rule]->threshold_count; i++)
        limits[i] = pyro_rules[rule]->thresholds[i].value;
    for (size_t i = 0; config && i < config->limits.count; i++)
        if (config->limits.items[i].rule == rule)
            limits[config->limits.items[i].index] = config->limits.items[i].value;
}

bool pyro_pattern_matches(struct pyro_slice pattern, struct pyro_slice text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && (pattern.ptr[p] == '?' || pattern.ptr[p] == text.ptr[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

const struct pyro_config_suppression *pyro_config_suppresses(const struct pyro_config *config, const char *rule,
                                                             struct pyro_slice id)
{
    for (size_t i = 0; config && i < config->suppressions.count; i++) {
        const struct pyro_config_suppression *one = &config->suppressions.items[i];
        if (pyro_slice_is(one->pattern, rule) || pyro_pattern_matches(one->pattern, id))
            return one;
    }
    return NULL;
}
