/* What the platform offers beside Spark's own settings: additions to recommendations, and rows of the configuration. */
#ifndef PYRO_ADVICE_NATIVE_H
#define PYRO_ADVICE_NATIVE_H

#include "analyze/platform.h"
#include "rules/rule.h"

enum pyro_platform_numbers {
    PYRO_NUMBERS_INPUT,
    PYRO_NUMBERS_OUTPUT,
    PYRO_NUMBERS_SHUFFLE,
    PYRO_NUMBERS_BROADCAST,
    PYRO_NUMBERS_LOST
};

struct pyro_platform_setting {
    enum pyro_platform platform;
    const char *key;
    bool at_start;
    enum pyro_platform_numbers numbers;
    const char *meaning;
};
extern const struct pyro_platform_setting pyro_platform_settings[];
extern const size_t pyro_platform_setting_count;

/* Adds native.def's sentences to the findings' recommendations. False: no memory. */
bool pyro_native_advice(struct pyro_diagnosis *diagnosis);

#endif
