/* The rule functions of pyrometer.h. */
#include "base/options.h"
#include "rules/pages.h"
#include "rules/rule.h"

size_t pyro_rules_count(void)
{
    return pyro_rule_count;
}

enum pyro_status pyro_rules_get(size_t index, struct pyro_rule_info *ret)
{
    if (index >= pyro_rule_count)
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_rule *rule = pyro_rules[index];
    const struct pyro_rule_info info = {sizeof(info), rule->id, rule->category, rule->title, rule->summary};
    return PYRO_GIVE(ret, &info);
}

size_t pyro_rules_threshold_count(size_t rule)
{
    return rule < pyro_rule_count ? pyro_rules[rule]->threshold_count : 0;
}

enum pyro_status pyro_rules_threshold(size_t rule, size_t index, struct pyro_threshold_info *ret)
{
    if (index >= pyro_rules_threshold_count(rule))
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_threshold *threshold = &pyro_rules[rule]->thresholds[index];
    const struct pyro_threshold_info info = {sizeof(info), threshold->name, threshold->unit, threshold->doc,
                                             threshold->value};
    return PYRO_GIVE(ret, &info);
}

const char *pyro_rules_page(size_t index)
{
    for (size_t i = 0; index < pyro_rule_count && i < pyro_rule_page_count; i++)
        if (strcmp(pyro_rule_pages[i].name, pyro_rules[index]->id) == 0)
            return pyro_rule_pages[i].text;
    return "";
}
