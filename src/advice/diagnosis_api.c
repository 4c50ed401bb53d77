/* The diagnosis functions of pyrometer.h. */
#include "advice/advice.h"
#include "advice/cost/advise.h"
#include "base/memory/allocator.h"
#include "base/options.h"
#include "base/threads/stop.h"

enum pyro_status pyro_diagnose(pyro_app *app, const struct pyro_diagnose_options *wanted,
                               const struct pyro_options *options, pyro_diagnosis **ret, struct pyro_error *error)
{
    struct pyro_diagnose_options how = {.size = sizeof(how)};
    struct pyro_options own;
    PYRO_TRY(PYRO_TAKE(&how, wanted, error));
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    const struct pyro_prices *prices = how.prices;
    const struct pyro_stop stop = {pyro_stop_by_progress, &own};
    const struct pyro_advise_options nothing = {.stop = &stop};
    struct pyro_diagnosis *diagnosis = NULL;
    struct pyro_cost *cost = NULL;
    bool priced = prices && app && app->sealed;
    enum pyro_status status = priced ? pyro_cost_new(app, own.allocator, &cost, error) : PYRO_OK;
    if (status == PYRO_OK && priced)
        status = pyro_cost_price(cost, prices, NULL, error);
    const struct pyro_judging judging = {.config = how.config,
                                         .cost = cost,
                                         .threads = own.threads,
                                         .allocator = own.allocator,
                                         .stop = &stop,
                                         .phases = {own.phase, own.phase_context}};
    if (status == PYRO_OK)
        status = pyro_diagnosis_new(app, &judging, &diagnosis, error);
    if (status != PYRO_OK) {
        pyro_cost_free(cost);
        return status;
    }
    diagnosis->cost = cost;
    if (priced)
        status = pyro_cost_advise(cost, app, prices, NULL, &nothing, error);
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

const struct pyro_finding *pyro_finding_by_id(const struct pyro_diagnosis *diagnosis, struct pyro_slice id)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (pyro_slice_eq(diagnosis->findings[i].id, id))
            return &diagnosis->findings[i];
    return NULL;
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
    pyro_app_release(pyro_unconst(diagnosis->app));
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
