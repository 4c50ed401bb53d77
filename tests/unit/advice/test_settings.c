/* Advice of several findings becomes one configuration that holds together. */
#include <stdlib.h>

#include "advice/native.h"
#include "analyze/settings/spark_settings.h"
#include "scene.h"

enum { FINDINGS_MAX = 4 };

struct plan {
    struct pyro_app *app;
    struct pyro_diagnosis diagnosis;
    struct pyro_finding findings[FINDINGS_MAX];
    struct pyro_advice advice[FINDINGS_MAX];
    struct pyro_setting settings[FINDINGS_MAX][3];
};

static struct plan *plan_new(const char *version, const char *master)
{
    struct plan *plan = calloc(1, sizeof(*plan));
    assert_non_null(plan);
    plan->app = fixture_app(SCENE_START, SCENE_START + 100000);
    plan->app->application.spark_version = pyro_slice_from(version);
    plan->app->application.master = pyro_slice_from(master);
    plan->diagnosis.app = plan->app;
    plan->diagnosis.findings = plan->findings;
    pyro_arena_init(&plan->diagnosis.arena, NULL);
    return plan;
}

static void plan_free(struct plan *plan)
{
    pyro_arena_done(&plan->diagnosis.arena);
    pyro_app_release(plan->app);
    free(plan);
}

/* Findings come in the order of what they save. */
static void wish(struct plan *plan, size_t finding, enum pyro_severity severity, const char *key, const char *value)
{
    static const struct pyro_rule rule = {.id = "some-rule"};
    struct pyro_advice *advice = &plan->advice[finding];
    plan->findings[finding].rule = &rule;
    plan->settings[finding][advice->setting_count++] =
        (struct pyro_setting){pyro_slice_from(key), pyro_slice_from(value)};
    advice->settings = plan->settings[finding];
    advice->text = PYRO_SLICE_LITERAL("Do it.");
    plan->findings[finding].id = PYRO_SLICE_LITERAL("some-finding");
    plan->findings[finding].severity = severity;
    plan->findings[finding].advice = advice;
    plan->findings[finding].advice_count = 1;
    if (plan->diagnosis.finding_count <= finding)
        plan->diagnosis.finding_count = finding + 1;
}

static void resolve(struct plan *plan)
{
    assert_true(pyro_plan_make(&plan->diagnosis, NULL, NULL) == PYRO_OK);
}

static const char *change(const struct plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->diagnosis.config_change_count; i++)
        if (pyro_slice_is(plan->diagnosis.config_changes[i].key, key))
            return plan->diagnosis.config_changes[i].value.ptr;
    return "";
}

static bool says(const struct plan *plan, size_t finding, const char *text)
{
    return pyro_slice_find(plan->advice[finding].text, text) != NULL;
}

static void test_of_two_values_one_is_taken(void **state)
{
    (void)state;
    struct plan *plan = plan_new("3.5.6", "spark://host:7077");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.sql.shuffle.partitions", "16");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.speculation", "true");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.executor.memory", "3g");
    wish(plan, 1, PYRO_SEVERITY_MODERATE, "spark.executor.memory", "1536m");
    wish(plan, 1, PYRO_SEVERITY_MODERATE, "spark.speculation", "false");
    wish(plan, 1, PYRO_SEVERITY_MODERATE, "spark.sql.shuffle.partitions", "400");
    wish(plan, 2, PYRO_SEVERITY_LOW, "spark.low", "1");
    resolve(plan);
    assert_int_equal(plan->diagnosis.config_change_count, 3); /* sorted; what is low changes nothing */
    assert_string_equal(plan->diagnosis.config_changes[0].key.ptr, "spark.executor.memory");
    assert_string_equal(change(plan, "spark.executor.memory"), "3g");
    assert_string_equal(change(plan, "spark.speculation"), "true");
    assert_string_equal(change(plan, "spark.sql.shuffle.partitions"), "400");
    /* What was not taken is in no advice, and not spoken of. */
    assert_int_equal(plan->advice[0].setting_count, 2);
    assert_string_equal(plan->advice[0].text.ptr, "Set spark.speculation=true and spark.executor.memory=3g.");
    assert_int_equal(plan->advice[1].setting_count, 1);
    assert_string_equal(plan->advice[1].text.ptr, "Set spark.sql.shuffle.partitions=400.");
    plan_free(plan);
}

static void test_the_present_value_is_no_change_but_a_voice(void **state)
{
    (void)state;
    struct plan *plan = plan_new("3.5.6", "yarn");
    fixture_property(plan->app, "spark", "spark.executor.memory", "2g");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.sql.shuffle.partitions", "16");
    wish(plan, 1, PYRO_SEVERITY_SEVERE, "spark.sql.shuffle.partitions", "200"); /* Spark's default */
    wish(plan, 1, PYRO_SEVERITY_SEVERE, "spark.executor.memory", "2048m");
    resolve(plan);
    assert_int_equal(plan->diagnosis.config_change_count, 0);
    assert_int_equal(plan->advice[0].setting_count, 0);
    assert_int_equal(plan->advice[1].setting_count, 0);
    assert_string_equal(plan->advice[1].text.ptr, "Do it."); /* not worth a message */
    plan_free(plan);
}

static void test_rivals_and_bounds(void **state)
{
    (void)state;
    struct plan *plan = plan_new("3.5.6", "yarn");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.executor.instances", "2");
    wish(plan, 1, PYRO_SEVERITY_MODERATE, "spark.dynamicAllocation.enabled", "true");
    resolve(plan);
    assert_string_equal(change(plan, "spark.executor.instances"), "2");
    assert_string_equal(change(plan, "spark.dynamicAllocation.enabled"), "");
    plan_free(plan);

    plan = plan_new("3.5.6", "yarn");
    fixture_property(plan->app, "spark", "spark.dynamicAllocation.minExecutors", "5");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.dynamicAllocation.maxExecutors", "3");
    resolve(plan);
    assert_int_equal(plan->diagnosis.config_change_count, 0);
    assert_true(plan->advice[0].dropped);
    plan_free(plan);

    plan = plan_new("3.5.6", "yarn");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.dynamicAllocation.maxExecutors", "3");
    wish(plan, 1, PYRO_SEVERITY_MODERATE, "spark.dynamicAllocation.initialExecutors", "8");
    resolve(plan);
    assert_string_equal(change(plan, "spark.dynamicAllocation.maxExecutors"), "3");
    assert_string_equal(change(plan, "spark.dynamicAllocation.initialExecutors"), "");
    plan_free(plan);
}

static const struct pyro_configured *row_of(const struct plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->diagnosis.configuration_count; i++)
        if (pyro_slice_is(plan->diagnosis.configuration[i].key, key))
            return &plan->diagnosis.configuration[i];
    return NULL;
}

static void test_advice_knows_its_place(void **state)
{
    (void)state;
    struct plan *plan = plan_new("3.5.6", "spark://host:7077");
    fixture_property(plan->app, "spark", "spark.databricks.clusterUsageTags.clusterId", "x");
    assert_int_equal(pyro_app_platform(plan->app), PYRO_PLATFORM_DATABRICKS);
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.executor.memory", "6g");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.sql.shuffle.partitions", "40");
    resolve(plan);
    assert_int_equal(plan->diagnosis.config_change_count, 1);
    assert_string_equal(change(plan, "spark.sql.shuffle.partitions"), "40");
    assert_true(says(plan, 0, "worker type"));
    const struct pyro_configured *row = row_of(plan, "spark.executor.memory");
    assert_non_null(row);
    assert_string_equal(row->applies, "elsewhere");
    assert_string_equal(row->recommended.ptr, "6g");
    assert_string_equal(row_of(plan, "spark.sql.shuffle.partitions")->applies, "runtime");
    plan_free(plan);

    plan = plan_new("2.4.8", "yarn");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.sql.adaptive.skewJoin.skewedPartitionFactor", "3");
    resolve(plan);
    assert_int_equal(plan->diagnosis.config_change_count, 0);
    assert_true(plan->advice[0].dropped);
    plan_free(plan);

    plan = plan_new("3.5.6", "local[4]");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.executor.instances", "3");
    resolve(plan);
    assert_int_equal(plan->diagnosis.config_change_count, 0);
    assert_null(row_of(plan, "spark.executor.instances"));
    plan_free(plan);
}

/* What the program sets is to be changed there. */
static void test_the_program_sets_it(void **state)
{
    (void)state;
    struct plan *plan = plan_new("3.5.6", "spark://host:7077");
    struct pyro_sql_execution *sql = pyro_vec_push(&plan->app->sql, plan->app->allocator);
    pyro_row_init(PYRO_TABLE_sql, sql);
    sql->id = 7;
    sql->modified_configs = PYRO_SLICE_LITERAL("spark.sql.shuffle.partitions=2000");
    fixture_property(plan->app, "spark", "spark.sql.shuffle.partitions", "40");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.sql.shuffle.partitions", "40");
    wish(plan, 1, PYRO_SEVERITY_SEVERE, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "16m");
    plan->findings[0].sql = plan->findings[1].sql = 7;
    resolve(plan);
    assert_string_equal(change(plan, "spark.sql.shuffle.partitions"), "");
    assert_string_equal(change(plan, "spark.sql.adaptive.advisoryPartitionSizeInBytes"), "16m");
    assert_int_equal(plan->advice[0].setting_count, 0);
    assert_string_equal(plan->advice[0].code.ptr, "spark.conf.set(\"spark.sql.shuffle.partitions\", \"40\")");
    assert_true(says(plan, 0, "The program sets spark.sql.shuffle.partitions=2000 for this query"));
    const struct pyro_configured *row = row_of(plan, "spark.sql.shuffle.partitions");
    assert_non_null(row);
    assert_string_equal(row->applies, "elsewhere");
    assert_true(pyro_slice_is(row->current, "2000"));
    assert_true(pyro_slice_is(row->recommended, "40"));
    plan_free(plan);
}

static void test_platforms(void **state)
{
    (void)state;
    static const struct {
        const char *master, *key, *value, *name;
    } cases[] = {
        {"yarn", "spark.emr-serverless.driver.disk", "20g", "emr-serverless"},
        {"yarn", "spark.emr.default.executor.cores", "4", "emr"},
        {"spark://host:7077", "spark.glue.JOB_NAME", "x", "glue"},
        {"yarn", "spark.driver.extraClassPath", "/usr/lib/hadoop-lzo/lib/*:/usr/share/aws/emr/emrfs/lib/*", "emr"},
        {"yarn", "spark.dataproc.sql.joinConditionReorder.enabled", "true", "dataproc"},
        {"yarn", "spark.app.name", "x", "yarn"},
        {"k8s://https://10.0.0.1:443", "spark.app.name", "x", "kubernetes"},
        {"local[*]", "spark.app.name", "x", "local"},
        {"local-cluster[2,2,1024]", "spark.app.name", "x", "standalone"},
        {"spark://host:7077", "spark.app.name", "databricks", "standalone"},
        {NULL, "spark.app.name", "x", "unknown"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct plan *plan = plan_new("3.5.6", cases[i].master);
        fixture_property(plan->app, "spark", cases[i].key, cases[i].value);
        assert_string_equal(pyro_platform_name(pyro_app_platform(plan->app)), cases[i].name);
        plan_free(plan);
    }
}

/* What Databricks and EMR have of their own is shown there, and only there. */
static void test_settings_of_platforms(void **state)
{
    (void)state;
    static const char *const own = "spark.databricks.delta.optimizeWrite.enabled";
    static const char *const lost = "spark.decommissioning.timeout.threshold";
    for (int databricks = 0; databricks < 2; databricks++) {
        struct plan *plan = plan_new("3.5.6", "yarn");
        fixture_property(plan->app, "spark", own, "true");
        if (!databricks) /* the same keys elsewhere: a user copied them */
            plan->app->properties.count = 0;
        if (!databricks)
            fixture_property(plan->app, "spark", "spark.emr.default.executor.memory", "4g");
        fixture_property(plan->app, "spark", lost, "20");
        wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.sql.shuffle.partitions", "40");
        plan->findings[0].rule = pyro_rule_find("too-few-partitions");
        assert_true(pyro_native_advice(&plan->diagnosis));
        resolve(plan);
        assert_int_equal(row_of(plan, own) != NULL, databricks);
        assert_int_equal(row_of(plan, lost) != NULL, !databricks);
        assert_int_equal(says(plan, 0, "the value auto"), databricks);
        assert_string_equal(change(plan, "spark.sql.shuffle.partitions"), "40");
        if (databricks)
            assert_true(pyro_slice_find(row_of(plan, own)->reason, "The run wrote ") != NULL);
        plan_free(plan);
    }
}

static void test_a_folded_winner_gives_way(void **state)
{
    (void)state;
    struct plan *plan = plan_new("3.5.6", "yarn");
    wish(plan, 0, PYRO_SEVERITY_SEVERE, "spark.speculation.multiplier", "3");
    wish(plan, 1, PYRO_SEVERITY_SEVERE, "spark.speculation.multiplier", "2");
    resolve(plan);
    assert_string_equal(change(plan, "spark.speculation.multiplier"), "3");
    for (size_t i = 0; i < plan->diagnosis.finding_count; i++)
        plan->diagnosis.findings[i].folded = plan->diagnosis.findings[i].advice == &plan->advice[0];
    resolve(plan);
    assert_string_equal(change(plan, "spark.speculation.multiplier"), "2");
    assert_string_equal(plan->advice[1].text.ptr, "Do it.");
    plan_free(plan);
}

static bool same(const char *key, const char *a, const char *b)
{
    return pyro_setting_same(pyro_setting_find(pyro_slice_from(key)), pyro_slice_from(a), pyro_slice_from(b));
}

static void test_values_are_compared_by_what_they_mean(void **state)
{
    (void)state;
    assert_true(same("spark.executor.memory", "1024", "1g"));
    assert_true(same("spark.executor.memory", "1G", "1024m"));
    assert_false(same("spark.executor.memory", "1g", "1025m"));
    assert_true(same("spark.sql.autoBroadcastJoinThreshold", "10485760", "10m"));
    assert_false(same("spark.sql.autoBroadcastJoinThreshold", "-1", "10m"));
    assert_true(same("spark.dynamicAllocation.executorIdleTimeout", "60", "1min"));
    assert_true(same("spark.speculation", "TRUE", "true"));
    assert_true(same("spark.memory.fraction", "0.60", "0.6"));
    assert_true(same("spark.unheard.of", "a", "a"));
    assert_false(same("spark.executor.memory", "x", "y"));
}

static void test_a_row_keeps_what_should_stay(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    static const int64_t ms[] = {3000};
    scene_stage(&scene, 8, ms, 1, NULL, NULL)->sql = 1;
    scene_end(&scene);
    bool any = false;
    for (size_t i = 0; i < scene.diagnosis->configuration_count; i++) {
        const struct pyro_configured *row = &scene.diagnosis->configuration[i];
        any = true;
        assert_true(row->reason.len > 0);
        assert_non_null(row->applies);
        if (!row->finding.ptr)
            assert_true(pyro_slice_eq(row->current, row->recommended));
    }
    assert_true(any);
    assert_int_equal(scene.diagnosis->config_change_count, 0);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_two_values_one_is_taken),
        cmocka_unit_test(test_the_present_value_is_no_change_but_a_voice),
        cmocka_unit_test(test_rivals_and_bounds),
        cmocka_unit_test(test_advice_knows_its_place),
        cmocka_unit_test(test_the_program_sets_it),
        cmocka_unit_test(test_platforms),
        cmocka_unit_test(test_settings_of_platforms),
        cmocka_unit_test(test_a_folded_winner_gives_way),
        cmocka_unit_test(test_values_are_compared_by_what_they_mean),
        cmocka_unit_test(test_a_row_keeps_what_should_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
