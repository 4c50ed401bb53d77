/* More or less data. */
#include <math.h>

#include "predict/cut_tasks.h"

/* Of the time in tasks, for each doubling or halving: sorts grow faster than what they sort, lookups slower. */
#define DOUBT 0.10

void pyro_model_input(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    if (!pyro_asks(change, PYRO_PREDICTED_SCALE))
        return;
    double factor = change->scenario->values[PYRO_PREDICTED_SCALE];
    size_t longer = 0, more = 0;
    for (size_t s = 0; run->stages && factor != 1 && s < run->app->stages.count && !change->failed; s++) {
        struct pyro_scenario_tasks *tasks =
            run->stages[s].source == PYRO_SOURCE_NOTHING ? NULL : pyro_change_tasks(change, s);
        if (!tasks)
            continue;
        double fixed = pyro_fixed_ms(change, s), count = tasks->count;
        for (uint32_t i = 0; i < tasks->count; i++) {
            tasks->ms[i] = fmin(tasks->ms[i], fixed) + fmax(tasks->ms[i] - fixed, 0) * factor;
            tasks->load[i] *= factor;
        }
        if (run->stages[s].source == PYRO_SOURCE_SHUFFLE) {
            longer++;
            continue;
        }
        /* Files are cut in splits of one size: more of them, each of unchanged length. */
        pyro_change_recut(change, s, (uint32_t)fmin(fmax(ceil(count * factor), 1), PYRO_REPLAY_PARTITIONS));
        more++;
    }
    double doubt = DOUBT * fabs(log2(factor));
    pyro_effect(change, PYRO_MODEL_input, doubt, doubt,
                "%.4g times the data: %zu stage%s that read%s files get%s this multiple of the tasks; tasks of %zu "
                "stage%s that read%s shuffles take more or less time, apart from their fixed cost; the time of the "
                "driver does not change",
                factor, more, more == 1 ? "" : "s", more == 1 ? "s" : "", more == 1 ? "s" : "", longer,
                longer == 1 ? "" : "s", longer == 1 ? "s" : "");
}
