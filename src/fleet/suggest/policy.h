/* What users allow: the section `policy` of a configuration file. */
#ifndef PYRO_FLEET_SUGGEST_POLICY_H
#define PYRO_FLEET_SUGGEST_POLICY_H

#include "base/files/yaml_file.h"
#include "fleet/suggest/suggest.h"

struct pyro_policy {
    bool off;                          /* the switch: nothing is suggested, applied or rolled back */
    struct pyro_suggest_limits limits; /* NaN: none */
    const char *const *apply;          /* applications whose suggestions may be applied without a review */
    size_t apply_count;
};
/* A policy without limits. */
struct pyro_policy pyro_policy_none(void);
/* Reads the section. `path` names the file in errors; texts are in the arena of the settings. PYRO_ERROR_ARGUMENT: an
 * unknown key, or a value that is wrong. */
enum pyro_status pyro_policy_take(const struct pyro_yaml *section, const char *path, struct pyro_arena *arena,
                                  struct pyro_policy *ret, struct pyro_error *error);
/* The same of a file, of which nothing else is read. */
enum pyro_status pyro_policy_load(const char *path, struct pyro_arena *arena, struct pyro_policy *ret,
                                  struct pyro_error *error);
/* Whether a suggestion for the application may be applied without a review: it is in the list, and there are limits. */
bool pyro_policy_applies(const struct pyro_policy *policy, struct pyro_slice application);

#endif
