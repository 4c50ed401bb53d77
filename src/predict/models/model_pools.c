/* FIFO or FAIR. */
#include "predict/model.h"

/* Of the time in tasks, where the order of tasks changes: weights and minimum shares of pools are not in the log. */
#define DOUBT 0.03

void pyro_model_pools(struct pyro_predict_change *change)
{
    if (!pyro_asks(change, PYRO_PREDICTED_MODE))
        return;
    bool fair = change->scenario->values[PYRO_PREDICTED_MODE] != 0;
    struct pyro_slice was = pyro_app_property(change->run->app, "spark.scheduler.mode");
    bool was_fair = pyro_slice_is(was, "FAIR") || pyro_slice_is(was, "fair");
    change->replay.other_mode = fair != was_fair;
    change->replay.fair = fair;
    if (fair == was_fair)
        pyro_effect(change, PYRO_MODEL_pools, 0, 0, "%s, unchanged", fair ? "FAIR" : "FIFO");
    else
        pyro_effect(change, PYRO_MODEL_pools, DOUBT, DOUBT,
                    fair ? "FAIR: the pool with the fewest running tasks gets the next slot, with equal weights; jobs "
                           "without a pool in the log are in the default pool"
                         : "FIFO: jobs in the order of their ids, regardless of their pool");
}
