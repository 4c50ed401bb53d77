/* The catalog: every rule of rules.def, in its order. */
#include "rules/finding.h"

const struct pyro_rule *const pyro_rules[] = {
#define PYRO_RULE(name) &pyro_rule_##name,
#include "rules/rules.def"
#undef PYRO_RULE
};
const size_t pyro_rule_count = sizeof(pyro_rules) / sizeof(pyro_rules[0]);

const struct pyro_rule *pyro_rule_find(const char *id)
{
    for (size_t i = 0; i < pyro_rule_count; i++)
        if (strcmp(pyro_rules[i]->id, id) == 0)
            return pyro_rules[i];
    return NULL;
}
