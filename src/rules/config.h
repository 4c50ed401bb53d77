/* What a user has changed: thresholds, findings that are not to be shown. The public handle pyro_config; files come to
 * it through config_file.c. */
#ifndef PYRO_RULES_CONFIG_H
#define PYRO_RULES_CONFIG_H

#include "base/memory/arena.h"
#include "rules/rule.h"

struct pyro_config_limit {
    size_t rule, index; /* pyro_rules[rule]->thresholds[index] */
    double value;
};

struct pyro_config_suppression {
    struct pyro_slice pattern; /* a rule's id, or a finding's id with '*' and '?' */
    struct pyro_slice reason;
};

struct pyro_config {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_config_limit) limits; /* each threshold once */
    PYRO_VEC(struct pyro_config_suppression) suppressions;
    const struct pyro_profile *profile; /* NULL: none */
};

/* Fills `limits` (PYRO_THRESHOLDS_MAX) with the thresholds of pyro_rules[rule]. `config` may be NULL. */
void pyro_config_limits(const struct pyro_config *config, size_t rule, double *limits);
/* The first suppression that speaks of this finding, or NULL. `config` may be NULL. */
const struct pyro_config_suppression *pyro_config_suppresses(const struct pyro_config *config, const char *rule,
                                                             struct pyro_slice id);
/* PYRO_ERROR_ARGUMENT with the nearest one when there is no such rule. */
enum pyro_status pyro_config_check_rule(const char *id, struct pyro_error *error);
/* The same as pyro_config_suppress(), with where it was said ("file, line 3") as the reason when none is given. */
enum pyro_status pyro_config_suppress_at(struct pyro_config *config, const char *what, const char *reason,
                                         const char *where, struct pyro_error *error);
/* '*': any bytes, '?': any one byte. Linear in memory, at worst text times pattern in time. */
bool pyro_pattern_matches(struct pyro_slice pattern, struct pyro_slice text);

#endif
