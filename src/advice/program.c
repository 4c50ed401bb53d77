#include "advice/program.h"

#include "analyze/app_facts.h"

struct share {
    double changed_ms, all_ms;
    struct pyro_slice value;
};

static void add(const struct pyro_app *app, int64_t sql, double task_ms, struct pyro_slice key, struct share *share)
{
    struct pyro_slice value = pyro_sql_changed_property(app, sql, key);
    share->all_ms += task_ms + 1; /* stages without a time count too */
    if (!value.ptr)
        return;
    share->changed_ms += task_ms + 1;
    if (!share->value.ptr)
        share->value = value;
}

struct pyro_slice pyro_program_sets(const struct pyro_app *app, const struct pyro_finding *finding,
                                    struct pyro_slice key)
{
    struct share share = {0};
    /* Spark itself sets some for the session of a streaming query, others come from its checkpoint. */
    if (pyro_app_is_streaming(app))
        return PYRO_SLICE_NULL;
    if (finding->sql != PYRO_NONE)
        add(app, finding->sql, 0, key, &share);
    for (size_t i = 0; i < finding->stage_count; i++) {
        const struct pyro_stage *stage = &app->stages.items[finding->stages[i]];
        if (pyro_stage_is_sql(stage))
            add(app, stage->sql, pyro_real(stage->task_ms), key, &share);
    }
    return 2 * share.changed_ms > share.all_ms ? share.value : PYRO_SLICE_NULL;
}
