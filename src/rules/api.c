/* The diagnosis and rule functions of pyrometer.h. */
#include "base/memory.h"
#include "base/options.h"
#include "base/stop.h"
#include "cost/advise.h"
#include "rules/pages.h"
#include "rules/rule.h"

enum pyro_status pyro_diagnose(pyro_app *app, const struct pyro_diagnose_options *wanted,
                               const struct pyro_options *options, pyro_diagnosis **ret, struct pyro_error *error)
{
    struct pyro_diagnose_options how = {.size = sizeof(how)};
    struct pyro_options own;
    PYRO_TRY(PYRO_TAKE(&how, wanted, error));
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    const struct pyro_allocator *allocator = own.allocator;
    const struct pyro_prices *prices = how.prices;
    struct pyro_diagnosis *diagnosis = NULL;
    const struct pyro_stop stop = {pyro_stop_by_progress, &own};
    PYRO_TRY(pyro_rules_evaluate(app, how.config, own.threads, allocator, &stop, &diagnosis, error));
    const struct pyro_advise_options nothing = {.stop = &stop};
    enum pyro_status status = prices ? pyro_cost_new(app, allocator, &diagnosis->cost, error) : PYRO_OK;
    if (status == PYRO_OK && prices)
        status = pyro_cost_price(diagnosis->cost, prices, NULL, error);
    if (status == PYRO_OK && prices)
        status = pyro_cost_advise(diagnosis->cost, app, prices, NULL, &nothing, error);
    if (status != PYRO_OK) {
        pyro_diagnosis_free(diagnosis);
        return status;
    }
    *ret = diagnosis;
    return PYRO_OK;
}

void pyro_diagnosis_lacks_feedback(pyro_diagnosis *diagnosis)
{
    if (diagnosis)
        diagnosis->note = "cannot read the store: the report leaves out feedback on earlier findings";
}

struct pyro_slice pyro_diagnosis_note(const struct pyro_diagnosis *diagnosis, size_t index)
{
    size_t before = diagnosis->app->integrity.notes.count;
    if (index < before)
        return diagnosis->app->integrity.notes.items[index];
    return index == before && diagnosis->note ? pyro_slice_from(diagnosis->note) : PYRO_SLICE_NULL;
}

void pyro_diagnosis_free(pyro_diagnosis *diagnosis)
{
    if (!diagnosis)
        return;
    const struct pyro_allocator *allocator = diagnosis->arena.allocator;
    pyro_app_release((struct pyro_app *)diagnosis->app);
    pyro_cost_free(diagnosis->cost);
    for (size_t i = 0; i < diagnosis->arena_count; i++)
        pyro_arena_done(&diagnosis->arenas[i]);
    pyro_arena_done(&diagnosis->arena);
    pyro_release(allocator, diagnosis);
}

size_t pyro_diagnosis_finding_count(const pyro_diagnosis *diagnosis)
{
    return diagnosis ? diagnosis->finding_count : 0;
}

enum pyro_status pyro_diagnosis_finding(const pyro_diagnosis *diagnosis, size_t index, struct pyro_finding_info *ret)
{
    if (!diagnosis || index >= diagnosis->finding_count)
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_finding *finding = &diagnosis->findings[index];
    const struct pyro_finding_info info = {
        .id = finding->id.ptr, /* arena texts end in NUL */
        .rule = finding->rule->id,
        .title = finding->title.ptr,
        .severity = finding->severity,
        .confidence = finding->confidence,
        .saves_ms = finding->saves.wall_expected_ms,
        .folded = finding->folded,
    };
    return PYRO_GIVE(ret, &info);
}

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
