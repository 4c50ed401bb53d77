/* Settings that decide whether a run fails, not how long it takes. */
#include "predict/model.h"

void pyro_model_safety(struct pyro_predict_change *change)
{
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        const struct pyro_predicted_setting *setting = &pyro_predicted_settings[i];
        if (setting->model == PYRO_MODEL_safety && pyro_asks(change, (enum pyro_predicted)i))
            pyro_effect(change, PYRO_MODEL_safety, 0, 0, "%s changes no time. %s", setting->key, setting->doc);
    }
}
