/* What is kept of a run in addition to its numbers: its settings, what it is advised to change, and what it was
 * allocated. */
#include "analyze/settings/spark_settings.h"
#include "cost/cost.h"
#include "store/run.h"

bool pyro_run_add_properties(struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    for (size_t i = 0; i < app->properties.count; i++) {
        const struct pyro_property *property = &app->properties.items[i];
        if (!pyro_slice_is(property->kind, "spark") || !property->key.ptr)
            continue;
        struct pyro_run_pair *pair = pyro_vec_push(&run->properties, run->arena.allocator);
        if (!pair)
            return false;
        *pair = (struct pyro_run_pair){property->key, property->value.ptr ? property->value : PYRO_SLICE_LITERAL("")};
    }
    return true;
}

/* ---- Advice ------------------------------------------------------------------------------------------------------ */

static bool add_advice(struct pyro_run *run, const struct pyro_finding *finding, struct pyro_slice key,
                       struct pyro_slice previous, struct pyro_slice value)
{
    struct pyro_advice_row *row = pyro_vec_push(&run->advice, run->arena.allocator);
    if (row)
        *row = (struct pyro_advice_row){
            .finding = finding->id,
            .rule = pyro_slice_from(finding->rule->id),
            .key = key,
            .previous = previous,
            .value = value,
            .saves_low_ms = finding->saves.wall_low_ms,
            .saves_ms = finding->saves.wall_expected_ms,
            .saves_high_ms = finding->saves.wall_high_ms,
            .saves_core_ms = finding->saves.core_ms,
        };
    return row != NULL;
}

/* The settings that are recommended, one row each; and findings that only another program would not have. */
bool pyro_run_add_advice(struct pyro_run *run)
{
    const struct pyro_diagnosis *diagnosis = run->diagnosis;
    bool ok = true;
    for (size_t i = 0; i < diagnosis->change_count && ok; i++) {
        const struct pyro_change *change = &diagnosis->changes[i];
        if (!change->elsewhere)
            ok = add_advice(run, &diagnosis->findings[change->finding], change->key,
                            pyro_setting_current(diagnosis->app, change->key), change->value);
    }
    for (size_t i = 0; i < diagnosis->finding_count && ok; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (finding->own.basis == PYRO_BASIS_CODE && !finding->folded && finding->severity != PYRO_SEVERITY_LOW)
            ok = add_advice(run, finding, PYRO_SLICE_LITERAL(""), PYRO_SLICE_NULL, PYRO_SLICE_LITERAL(""));
    }
    return ok;
}

/* ---- Allocation -------------------------------------------------------------------------------------------------- */

static struct pyro_slice write_parts(struct pyro_run *run, const struct pyro_cost *cost)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, run->arena.allocator);
    for (unsigned i = 0; i < PYRO_COST_PARTS; i++)
        if (i != PYRO_COST_UNHELD) /* money only */
            pyro_strbuf_printf(&text, "%s\"%s\":%lld", i ? "," : "{", pyro_cost_part_names[i],
                               (long long)cost->parts[i].core_ms);
    pyro_strbuf_add_char(&text, '}');
    struct pyro_slice parts = text.failed ? PYRO_SLICE_NULL : pyro_arena_copy(&run->arena, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    return parts;
}

bool pyro_run_add_allocation(struct pyro_run *run)
{
    const struct pyro_diagnosis *diagnosis = run->diagnosis;
    struct pyro_cost *made = NULL;
    const struct pyro_cost *cost = diagnosis->cost;
    if (!cost && pyro_cost_new(diagnosis->app, run->arena.allocator, &made, NULL) == PYRO_OK)
        cost = made;
    if (!cost)
        return false;
    run->allocation = (struct pyro_allocation_row){
        .core_ms = cost->total.core_ms,
        .mib_ms = cost->total.memory_mib_ms,
        .parts = write_parts(run, cost),
        .platform = pyro_slice_from(pyro_platform_name(cost->place.platform)),
        .instance = pyro_arena_copy(&run->arena, cost->place.instance.text),
        .region = pyro_arena_copy(&run->arena, cost->place.region.text),
    };
    bool ok = run->allocation.parts.ptr && (run->allocation.instance.ptr || !cost->place.instance.text.ptr) &&
              (run->allocation.region.ptr || !cost->place.region.text.ptr);
    pyro_cost_free(made);
    return ok;
}
