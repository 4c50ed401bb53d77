/* The steps of a comparison in their order, and the findings. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "compare/comparing.h"

const char *const pyro_cause_names[PYRO_CAUSES] = {
#define PYRO_CAUSE(constant, name, words) #name,
#include "compare/causes.def"
#undef PYRO_CAUSE
};
const char *const pyro_cause_words[PYRO_CAUSES] = {
#define PYRO_CAUSE(constant, name, words) words,
#include "compare/causes.def"
#undef PYRO_CAUSE
};

static void add(struct pyro_comparison *comparison, const struct pyro_finding *before, const struct pyro_finding *after)
{
    comparison->findings[comparison->finding_count++] = (struct pyro_compared_finding){before, after};
}

static bool compare_findings(struct pyro_comparison *comparison)
{
    const struct pyro_diagnosis *before = comparison->before, *after = comparison->after;
    comparison->findings = pyro_arena_array(&comparison->arena, before->finding_count + after->finding_count + 1,
                                            sizeof(*comparison->findings));
    if (!comparison->findings)
        return false;
    for (size_t i = 0; i < after->finding_count; i++)
        if (!pyro_finding_by_id(before, after->findings[i].id))
            add(comparison, NULL, &after->findings[i]);
    for (size_t i = 0; i < before->finding_count; i++)
        if (!pyro_finding_by_id(after, before->findings[i].id))
            add(comparison, &before->findings[i], NULL);
    for (size_t i = 0; i < after->finding_count; i++) {
        const struct pyro_finding *old = pyro_finding_by_id(before, after->findings[i].id);
        if (old && old->severity != after->findings[i].severity)
            add(comparison, old, &after->findings[i]);
    }
    return true;
}

enum pyro_status pyro_comparison_make(const struct pyro_diagnosis *before, const struct pyro_diagnosis *after,
                                      const struct pyro_allocator *allocator, struct pyro_comparison **ret,
                                      struct pyro_error *error)
{
    struct pyro_comparison *comparison = pyro_allocate(allocator, sizeof(*comparison));
    if (!comparison)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to compare the applications");
    *comparison = (struct pyro_comparison){.before = before, .after = after};
    pyro_arena_init(&comparison->arena, allocator);
    const struct pyro_app *const apps[2] = {before->app, after->app};
    struct pyro_match match;
    bool good = pyro_match_init(&match, allocator, apps[0]->stages.count, apps[1]->stages.count) &&
                pyro_compare_match_stages(apps, &match) && compare_findings(comparison) &&
                pyro_compare_settings(comparison) && pyro_compare_plans(comparison) &&
                pyro_compare_attribute(comparison, &match, error) == PYRO_OK;
    pyro_match_done(&match);
    if (!good) {
        pyro_comparison_free(comparison);
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to compare the applications");
    }
    *ret = comparison;
    return PYRO_OK;
}

void pyro_comparison_free(pyro_comparison *comparison)
{
    if (!comparison)
        return;
    const struct pyro_allocator *allocator = comparison->arena.allocator;
    pyro_arena_done(&comparison->arena);
    pyro_release(allocator, comparison);
}

void pyro_causes_order(const int64_t *causes, int64_t total, unsigned *order)
{
    for (unsigned i = 0; i < PYRO_CAUSES; i++) {
        unsigned at = i;
        int64_t weight = total < 0 ? -causes[i] : causes[i];
        while (at > 0 && (total < 0 ? -causes[order[at - 1]] : causes[order[at - 1]]) < weight) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

bool pyro_comparison_is_unlike(const struct pyro_comparison *comparison)
{
    return isfinite(comparison->matched_share) && comparison->matched_share < 0.2;
}

enum pyro_status pyro_compare(const pyro_diagnosis *before, const pyro_diagnosis *after,
                              const struct pyro_options *options, pyro_comparison **ret, struct pyro_error *error)
{
    struct pyro_options own;
    pyro_error_clear(error);
    if (!before || !after || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a diagnosis is missing: two are needed");
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    return pyro_comparison_make(before, after, own.allocator, ret, error);
}

enum pyro_status pyro_comparison_summary(const pyro_comparison *comparison, struct pyro_comparison_info *ret)
{
    const struct pyro_comparison_info info = {.before_ms = comparison->before_ms,
                                              .after_ms = comparison->after_ms,
                                              .matched_share = comparison->matched_share};
    return PYRO_GIVE(ret, &info);
}

size_t pyro_comparison_cause_count(const pyro_comparison *comparison)
{
    (void)comparison;
    return PYRO_CAUSES;
}

enum pyro_status pyro_comparison_cause(const pyro_comparison *comparison, size_t index, struct pyro_cause_info *ret)
{
    if (index >= PYRO_CAUSES)
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_cause_info info = {sizeof(info), pyro_cause_names[index], pyro_cause_words[index],
                                         comparison->causes[index]};
    return PYRO_GIVE(ret, &info);
}
