/* What is known of Spark's properties: their kinds, defaults and versions, and where a platform sets them by other
 * means. */
#ifndef PYRO_ANALYZE_SETTINGS_SPARK_SETTINGS_H
#define PYRO_ANALYZE_SETTINGS_SPARK_SETTINGS_H

#include "analyze/platform.h"
#include "model/app.h"

enum pyro_setting_kind {
    PYRO_SETTING_SIZE,
    PYRO_SETTING_TIME,
    PYRO_SETTING_COUNT,
    PYRO_SETTING_SHARE,
    PYRO_SETTING_FLAG,
    PYRO_SETTING_TEXT
};

enum pyro_setting_group {
    PYRO_GROUP_EXECUTOR_SIZE,
    PYRO_GROUP_EXECUTOR_COUNT,
    PYRO_GROUP_DRIVER_SIZE,
    PYRO_GROUP_SHUFFLE_SERVICE,
    PYRO_GROUP_SQL,
    PYRO_GROUP_OTHER
};

enum pyro_symptom {
    PYRO_SYMPTOM_NONE,
#define PYRO_SYMPTOM(id, rule, doc) PYRO_SYMPTOM_##id,
#include "analyze/settings/symptoms.def"
#undef PYRO_SYMPTOM
    PYRO_SYMPTOM_COUNT
};

struct pyro_setting_row {
    const char *key;
    size_t key_len;
    enum pyro_setting_kind kind;
    double unit;
    enum pyro_setting_group group;
    const char *fallback; /* by version: see spark_settings.def */
    int since;            /* major x 100 + minor */
    bool larger_wins, at_start;
    enum pyro_symptom below, above; /* what a value on this side of the default leaves in a log */
    const char *changes;            /* "partitions of RDDs" */
};

extern const struct pyro_setting_row pyro_setting_rows[];
extern const size_t pyro_setting_row_count;
/* NULL for a property that is not in the table. */
const struct pyro_setting_row *pyro_setting_find(struct pyro_slice key);

enum pyro_applies { PYRO_APPLIES_YES, PYRO_APPLIES_ELSEWHERE, PYRO_APPLIES_NO };
/* Whether setting it does anything in this application; *note says what to do instead, or what to mind, or is NULL. */
enum pyro_applies pyro_setting_applies(const struct pyro_app *app, const struct pyro_setting_row *row,
                                       const char **note);

/* Spark's default for the version of this application; null where it is not known or there is none. Unknown versions
 * count as new. */
struct pyro_slice pyro_setting_default(const struct pyro_app *app, const struct pyro_setting_row *row);
/* The same, where it is the same in all versions, else null. `row` may be NULL. */
struct pyro_slice pyro_setting_lasting_default(const struct pyro_setting_row *row);
/* The value that this application ran with: as set, else Spark's default for its version; null when unknown. */
struct pyro_slice pyro_setting_current(const struct pyro_app *app, struct pyro_slice key);
/* A number to compare values by (bytes, milliseconds, 0 or 1 for flags); NAN where the text is none. */
double pyro_setting_magnitude(const struct pyro_setting_row *row, struct pyro_slice value);
/* Two texts that mean the same value. `row` may be NULL. */
bool pyro_setting_same(const struct pyro_setting_row *row, struct pyro_slice a, struct pyro_slice b);

#endif
