/* Names of settings: the usual ones, to find what a misspelled one means, and those that Spark no longer reads. */
#ifndef PYRO_RULES_FIXES_KNOWN_SETTINGS_H
#define PYRO_RULES_FIXES_KNOWN_SETTINGS_H

#include "base/strings/slice.h"

/* More flaws than this in one configuration are not distinguished. */
enum { PYRO_KNOWN_SETTINGS_MAX = 32 };

struct pyro_gone_setting {
    const char *key;
    int major, minor; /* since then nothing reads it */
    const char *instead;
};

/* NULL: it is none of those. */
const struct pyro_gone_setting *pyro_gone_setting(struct pyro_slice key);
/* The usual setting that differs from `key` by its case, or by one letter more, less, changed or swapped; NULL when
 * there is none, or when `key` is one itself. */
const char *pyro_meant_setting(struct pyro_slice key);

#endif
