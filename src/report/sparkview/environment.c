/* What a run was started with. */
#include <stdlib.h>

#include "report/sparkview/sparkview.h"

static struct pyro_slice find_value(const pyro_history_pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (pyro_slice_is(pairs->items[i].key, key))
            return pairs->items[i].value;
    return PYRO_SLICE_LITERAL("");
}

static int by_key(const void *a, const void *b)
{
    return pyro_slice_compare(((const struct pyro_history_pair *)a)->key, ((const struct pyro_history_pair *)b)->key);
}

struct pyro_history_pair *pyro_spark_sort_pairs(const pyro_history_pairs *pairs)
{
    struct pyro_history_pair *sorted = pyro_allocate(NULL, (pairs->count + 1) * sizeof(*sorted));
    if (sorted && pairs->count) {
        memcpy(sorted, pairs->items, pairs->count * sizeof(*sorted));
        qsort(sorted, pairs->count, sizeof(*sorted), by_key);
    }
    return sorted;
}

/* Names and values as pairs, sorted by name. False: no memory. */
static bool write_section(struct spark_json *json, const char *key, const pyro_history_pairs *pairs)
{
    struct pyro_history_pair *sorted = pyro_spark_sort_pairs(pairs);
    if (!sorted)
        return false;
    pyro_spark_key(json, key);
    pyro_spark_open_array(json);
    for (size_t i = 0; i < pairs->count; i++) {
        pyro_spark_element(json);
        pyro_spark_open_array(json);
        pyro_spark_element(json);
        pyro_spark_text(json, sorted[i].key);
        pyro_spark_element(json);
        pyro_spark_text(json, sorted[i].value); /* secrets were replaced when the log was read */
        pyro_spark_close_array(json);
    }
    pyro_spark_close_array(json);
    pyro_release(NULL, sorted);
    return true;
}

static void write_profile(struct spark_json *json, const struct pyro_history_profile *profile)
{
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "id", profile->id);
    pyro_spark_key(json, "executorResources");
    pyro_spark_open_object(json);
    for (size_t i = 0; i < profile->executor.count; i++) {
        const struct pyro_history_request *one = &profile->executor.items[i];
        pyro_spark_key_slice(json, one->name);
        pyro_spark_open_object(json);
        pyro_spark_put_text(json, "resourceName", one->name);
        pyro_spark_put_int(json, "amount", one->amount);
        pyro_spark_put_text(json, "discoveryScript", one->script);
        pyro_spark_put_text(json, "vendor", one->vendor);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_object(json);
    pyro_spark_key(json, "taskResources");
    pyro_spark_open_object(json);
    for (size_t i = 0; i < profile->task.count; i++) {
        pyro_spark_key_slice(json, profile->task.items[i].name);
        pyro_spark_open_object(json);
        pyro_spark_put_text(json, "resourceName", profile->task.items[i].name);
        pyro_spark_key(json, "amount");
        pyro_spark_real(json, profile->task.items[i].task_amount);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
}

bool pyro_spark_write_environment(struct spark_json *json, const struct pyro_history *history)
{
    static const struct {
        const char *name;
        enum pyro_history_section section;
        bool long_texts;
    } rows[] = {
        {"sparkProperties", PYRO_SECTION_SPARK, false},     {"hadoopProperties", PYRO_SECTION_HADOOP, true},
        {"systemProperties", PYRO_SECTION_SYSTEM, true},    {"metricsProperties", PYRO_SECTION_METRICS, false},
        {"classpathEntries", PYRO_SECTION_CLASSPATH, true},
    };
    const pyro_history_pairs *jvm = &history->sections[PYRO_SECTION_JVM];
    bool ok = true;
    pyro_spark_open_object(json);
    pyro_spark_key(json, "runtime");
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "javaVersion", find_value(jvm, "Java Version"));
    pyro_spark_put_text(json, "javaHome", find_value(jvm, "Java Home"));
    pyro_spark_put_text(json, "scalaVersion", find_value(jvm, "Scala Version"));
    pyro_spark_close_object(json);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (!json->brief || !rows[i].long_texts)
            ok = ok && write_section(json, rows[i].name, &history->sections[rows[i].section]);
    pyro_spark_key(json, "resourceProfiles");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < history->profiles.count; i++) {
        pyro_spark_element(json);
        write_profile(json, &history->profiles.items[i]);
    }
    pyro_spark_close_array(json);
    pyro_spark_close_object(json);
    return ok;
}
