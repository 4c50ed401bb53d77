/* Settings that differ. */
#include <stdlib.h>

#include "compare/comparing.h"

/* Set again in every run, whatever people do. */
static bool is_of_the_run(struct pyro_slice key)
{
    static const char *const names[] = {"spark.app.id",
                                        "spark.app.startTime",
                                        "spark.app.submitTime",
                                        "spark.app.attempt.id",
                                        "spark.driver.port",
                                        "spark.driver.host",
                                        "spark.driver.blockManager.port",
                                        "spark.driver.appUIAddress",
                                        "spark.ui.port",
                                        "spark.repl.class.uri",
                                        "spark.repl.class.outputDir",
                                        "spark.yarn.app.id",
                                        "spark.yarn.app.container.log.dir",
                                        "spark.kubernetes.driver.pod.name",
                                        "spark.kubernetes.executor.podNamePrefix",
                                        "spark.kubernetes.submitInDriver",
                                        "spark.kubernetes.resource.type",
                                        "spark.sql.warehouse.dir",
                                        "spark.sql.session.uuid"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_is(key, names[i]))
            return true;
    return false;
}

static size_t skip_id(struct pyro_slice text, size_t at, struct pyro_slice id)
{
    return id.len && text.len - at >= id.len && memcmp(text.ptr + at, id.ptr, id.len) == 0 ? id.len : 0;
}

/* Equal except the applications' ids, which end up in names and paths. */
static bool is_equal(struct pyro_slice before, struct pyro_slice before_id, struct pyro_slice after,
                     struct pyro_slice after_id)
{
    size_t i = 0, k = 0;
    while (i < before.len && k < after.len) {
        size_t skipped = skip_id(before, i, before_id), other = skip_id(after, k, after_id);
        if (skipped && other) {
            i += skipped;
            k += other;
        } else if (before.ptr[i++] != after.ptr[k++]) {
            return false;
        }
    }
    return i == before.len && k == after.len;
}

static void add(struct pyro_comparison *comparison, struct pyro_slice key, struct pyro_slice before,
                struct pyro_slice after)
{
    comparison->settings[comparison->setting_count++] = (struct pyro_compared_setting){key, before, after};
}

static const struct pyro_property *next_spark(const struct pyro_app *app, size_t *at)
{
    while (*at < app->properties.count) {
        const struct pyro_property *row = &app->properties.items[*at];
        if (pyro_slice_is(row->kind, "spark") && !is_of_the_run(row->key))
            return row;
        ++*at;
    }
    return NULL;
}

static void add_fact(struct pyro_comparison *comparison, const char *key, struct pyro_slice before,
                     struct pyro_slice after)
{
    if (before.ptr && after.ptr && !pyro_slice_eq(before, after))
        add(comparison, pyro_slice_from(key), before, after);
}

bool pyro_compare_settings(struct pyro_comparison *comparison)
{
    const struct pyro_app *before = comparison->before->app, *after = comparison->after->app;
    struct pyro_slice ids[2] = {before->application.id, after->application.id};
    size_t at[2] = {0};
    comparison->settings = pyro_arena_array(&comparison->arena, before->properties.count + after->properties.count + 4,
                                            sizeof(*comparison->settings));
    if (!comparison->settings)
        return false;
    add_fact(comparison, "Spark version", before->application.spark_version, after->application.spark_version);
    add_fact(comparison, "Java version", pyro_app_property_of(before, "jvm", "Java Version"),
             pyro_app_property_of(after, "jvm", "Java Version"));
    for (;;) { /* both sorted by key */
        const struct pyro_property *left = next_spark(before, &at[0]), *right = next_spark(after, &at[1]);
        if (!left && !right)
            return true;
        int order = !left ? 1 : !right ? -1 : pyro_slice_compare(left->key, right->key);
        if (order < 0)
            add(comparison, left->key, left->value, PYRO_SLICE_NULL);
        else if (order > 0)
            add(comparison, right->key, PYRO_SLICE_NULL, right->value);
        else if (!is_equal(left->value, ids[0], right->value, ids[1]))
            add(comparison, left->key, left->value, right->value);
        at[0] += order <= 0;
        at[1] += order >= 0;
    }
}
