#include "analyze/settings/spark_settings.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "analyze/app_facts.h"
#include "base/numbers/units.h"

#define START   true
#define RUNTIME false
#define PYRO_SPARK_SETTING(key, kind, unit, group, fallback, since, larger, when, below, above, changes)               \
    {key,  sizeof(key) - 1,      PYRO_SETTING_##kind,  unit,   PYRO_GROUP_##group, fallback, since, larger,            \
     when, PYRO_SYMPTOM_##below, PYRO_SYMPTOM_##above, changes},
const struct pyro_setting_row pyro_setting_rows[] = {
#include "analyze/settings/spark_settings.def"
};
#undef PYRO_SPARK_SETTING
const size_t pyro_setting_row_count = sizeof(pyro_setting_rows) / sizeof(pyro_setting_rows[0]);

const struct pyro_setting_row *pyro_setting_find(struct pyro_slice key)
{
    for (size_t i = 0; i < pyro_setting_row_count; i++)
        if (key.len == pyro_setting_rows[i].key_len && memcmp(key.ptr, pyro_setting_rows[i].key, key.len) == 0)
            return &pyro_setting_rows[i];
    return NULL;
}

/* What a platform does with a group of properties; what is not listed applies as it is. */
static const struct place {
    enum pyro_platform platform;
    enum pyro_setting_group group;
    enum pyro_applies applies;
    const char *note;
} places[] = {
    {PYRO_PLATFORM_LOCAL, PYRO_GROUP_EXECUTOR_SIZE, PYRO_APPLIES_NO, "the driver is the executor in local mode"},
    {PYRO_PLATFORM_LOCAL, PYRO_GROUP_EXECUTOR_COUNT, PYRO_APPLIES_NO, "there are no executors in local mode"},
    {PYRO_PLATFORM_DATABRICKS, PYRO_GROUP_EXECUTOR_SIZE, PYRO_APPLIES_ELSEWHERE,
     "the worker type of the compute sets it: choose a type with this memory per core"},
    {PYRO_PLATFORM_DATABRICKS, PYRO_GROUP_DRIVER_SIZE, PYRO_APPLIES_ELSEWHERE,
     "the driver type of the compute sets it"},
    {PYRO_PLATFORM_DATABRICKS, PYRO_GROUP_EXECUTOR_COUNT, PYRO_APPLIES_ELSEWHERE,
     "the number of workers, or the bounds of autoscaling, of the compute set it"},
    {PYRO_PLATFORM_DATABRICKS, PYRO_GROUP_SHUFFLE_SERVICE, PYRO_APPLIES_NO, "the platform manages it"},
    {PYRO_PLATFORM_KUBERNETES, PYRO_GROUP_SHUFFLE_SERVICE, PYRO_APPLIES_NO,
     "Kubernetes has no external shuffle service: use spark.dynamicAllocation.shuffleTracking.enabled"},
    {PYRO_PLATFORM_EMR, PYRO_GROUP_EXECUTOR_SIZE, PYRO_APPLIES_YES,
     "the default of EMR depends on the instance types; a value in the job takes precedence"},
    {PYRO_PLATFORM_EMR, PYRO_GROUP_EXECUTOR_COUNT, PYRO_APPLIES_YES,
     "dynamic allocation is on by default, and spark.executor.instances is its initial number"},
    {PYRO_PLATFORM_DATAPROC, PYRO_GROUP_EXECUTOR_SIZE, PYRO_APPLIES_YES,
     "the default of Dataproc depends on the machine type; a value in the job takes precedence"},
    {PYRO_PLATFORM_DATAPROC, PYRO_GROUP_EXECUTOR_COUNT, PYRO_APPLIES_YES,
     "dynamic allocation is on by default, and spark.executor.instances is its initial number"},
};

enum pyro_applies pyro_setting_applies(const struct pyro_app *app, const struct pyro_setting_row *row,
                                       const char **note)
{
    *note = NULL;
    if (!row)
        return PYRO_APPLIES_YES;
    if (app->application.spark_version.ptr && !pyro_app_spark_at_least(app, row->since / 100, row->since % 100)) {
        *note = "this version of Spark does not have it";
        return PYRO_APPLIES_NO;
    }
    enum pyro_platform platform = pyro_app_platform(app);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (places[i].platform == platform && places[i].group == row->group) {
            *note = places[i].note;
            return places[i].applies;
        }
    }
    return PYRO_APPLIES_YES;
}

/* Takes "VALUE" or "VERSION=VALUE" off a list that semicolons separate; false at its end. */
static bool next_default(struct pyro_slice *rest, int *since, struct pyro_slice *value)
{
    size_t len = 0, at = 0;
    if (rest->len == 0)
        return false;
    while (len < rest->len && rest->ptr[len] != ';')
        len++;
    *since = 0;
    while (at < len && rest->ptr[at] >= '0' && rest->ptr[at] <= '9')
        at++;
    bool versioned = at == 3 && at < len && rest->ptr[at] == '=';
    for (size_t i = 0; i < at && versioned; i++)
        *since = *since * 10 + (rest->ptr[i] - '0');
    *value = versioned ? (struct pyro_slice){rest->ptr + at + 1, len - at - 1} : (struct pyro_slice){rest->ptr, len};
    pyro_slice_drop(rest, len + (len < rest->len));
    return true;
}

struct pyro_slice pyro_setting_default(const struct pyro_app *app, const struct pyro_setting_row *row)
{
    struct pyro_slice rest = pyro_slice_from(row->fallback), value, ret = PYRO_SLICE_NULL;
    int since;
    while (next_default(&rest, &since, &value))
        if (since == 0 || pyro_app_spark_at_least(app, since / 100, since % 100))
            ret = value;
    if (ret.len == 0 || pyro_slice_is(ret, "?") || ret.ptr[0] == '$')
        return PYRO_SLICE_NULL;
    if (ret.ptr[0] == '@') { /* never a row that refers to a third one */
        pyro_slice_drop(&ret, 1);
        return pyro_setting_current(app, ret);
    }
    return ret;
}

struct pyro_slice pyro_setting_lasting_default(const struct pyro_setting_row *row)
{
    bool lasting = row && row->fallback && !strpbrk(row->fallback, ";@?$");
    return lasting ? pyro_slice_from(row->fallback) : PYRO_SLICE_NULL;
}

struct pyro_slice pyro_setting_current(const struct pyro_app *app, struct pyro_slice key)
{
    const struct pyro_setting_row *row = pyro_setting_find(key);
    for (size_t i = 0; i < app->properties.count; i++)
        if (pyro_slice_is(app->properties.items[i].kind, "spark") && pyro_slice_eq(app->properties.items[i].key, key))
            return app->properties.items[i].value;
    return row ? pyro_setting_default(app, row) : PYRO_SLICE_NULL;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

double pyro_setting_magnitude(const struct pyro_setting_row *row, struct pyro_slice value)
{
    if (!value.ptr || !row || row->kind == PYRO_SETTING_TEXT)
        return NAN;
    if (row->kind == PYRO_SETTING_FLAG)
        return is_word(value.ptr, value.len, "true") ? 1 : is_word(value.ptr, value.len, "false") ? 0 : NAN;
    int64_t whole;
    double number;
    if (row->kind == PYRO_SETTING_SIZE)
        return pyro_spark_size_read(value, (int64_t)row->unit, &whole) ? (double)whole : (double)NAN;
    if (row->kind == PYRO_SETTING_TIME)
        return pyro_spark_time_read(value, (int64_t)row->unit, &whole) ? (double)whole : (double)NAN;
    struct pyro_slice text = pyro_trim(value);
    bool negative = text.len > 0 && text.ptr[0] == '-';
    pyro_slice_drop(&text, negative);
    return !pyro_decimal_read(text, &number) ? (double)NAN : negative ? -number : number;
}

bool pyro_setting_same(const struct pyro_setting_row *row, struct pyro_slice a, struct pyro_slice b)
{
    if (!a.ptr || !b.ptr)
        return false;
    double left = pyro_setting_magnitude(row, a), right = pyro_setting_magnitude(row, b);
    if (isfinite(left) && isfinite(right))
        return fabs(left - right) <= 1e-9 * fmax(fabs(left), 1);
    return pyro_slice_eq(a, b);
}
