/* Thresholds and suppressions that a user sets. */
#include <stdio.h>

#include "rules/config.h"
#include "scene.h"

static size_t rule_index(const char *id)
{
    size_t i = 0;
    while (strcmp(pyro_rules[i]->id, id) != 0)
        i++;
    return i;
}

static size_t threshold_index(const struct pyro_rule *rule, const char *name)
{
    size_t i = 0;
    while (strcmp(rule->thresholds[i].name, name) != 0)
        i++;
    return i;
}

static pyro_config *config_new(void)
{
    pyro_config *config = NULL;
    assert_int_equal(pyro_config_new(NULL, &config, NULL), PYRO_OK);
    return config;
}

static double limit(const pyro_config *config, const char *rule, const char *name)
{
    double limits[PYRO_THRESHOLDS_MAX];
    size_t row = rule_index(rule);
    pyro_config_limits(config, row, limits);
    return limits[threshold_index(pyro_rules[row], name)];
}

static void test_limits(void **state)
{
    (void)state;
    pyro_config *config = config_new();
    struct pyro_error error = {.size = sizeof(error)};
    assert_true(limit(NULL, "data-skew", "ratio_min") == 2);
    assert_true(limit(config, "data-skew", "ratio_min") == 2);
    assert_int_equal(pyro_config_set(config, "data-skew", "ratio_min", "3", &error), PYRO_OK);
    assert_int_equal(pyro_config_set(config, "data-skew", "ratio_min", "4.5", &error), PYRO_OK);
    assert_true(limit(config, "data-skew", "ratio_min") == 4.5);
    assert_true(limit(config, "straggler", "ratio_min") == 3);
    assert_int_equal(pyro_config_set(config, "data-skew", "ratio_min", "", &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_set(config, "data-skew", "ratio_min", ".", &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_set(config, "data-skew", "ratio_min", "4 m", &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_set(config, "data-skew", "ratio_min", "4 123456789", &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_set(config, "data-skew", "nothing", "4", &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_set(config, NULL, "nothing", "4", &error), PYRO_ERROR_ARGUMENT);
    assert_true(limit(config, "data-skew", "ratio_min") == 4.5);
    pyro_config_free(config);
    pyro_config_free(NULL);
}

static void test_every_rule_keeps_its_thresholds_in_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < pyro_rule_count; i++) {
        const struct pyro_rule *rule = pyro_rules[i];
        assert_true(rule->threshold_count <= PYRO_THRESHOLDS_MAX);
        for (size_t k = 0; k < rule->threshold_count; k++) {
            pyro_config *config = config_new();
            struct pyro_error error = {.size = sizeof(error)};
            char value[64];
            assert_non_null(rule->thresholds[k].name);
            snprintf(value, sizeof(value), "%.17f", rule->thresholds[k].value);
            assert_int_equal(pyro_config_set(config, rule->id, rule->thresholds[k].name, value, &error), PYRO_OK);
            pyro_config_free(config);
        }
    }
}

static bool matches(const char *pattern, const char *text)
{
    return pyro_pattern_matches(pyro_slice_from(pattern), pyro_slice_from(text));
}

static void test_patterns(void **state)
{
    (void)state;
    assert_true(matches("", ""));
    assert_false(matches("", "a"));
    assert_true(matches("*", ""));
    assert_true(matches("a*c", "abbbc"));
    assert_false(matches("a*c", "abbb"));
    assert_true(matches("a?c", "abc"));
    assert_false(matches("a?c", "ac"));
    assert_true(matches("*b*b*", "abab"));
    assert_true(matches("data-skew:*etl.py:88", "data-skew:join at etl.py:88"));
    assert_false(matches("data-skew:*etl.py:8", "data-skew:join at etl.py:88"));
    assert_true(matches("count [a]*", "count [a] at x"));
    /* Would never end if every star starts again for each of the others. */
    char text[4001], pattern[201];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (size_t i = 0; i < 100; i++)
        memcpy(pattern + 2 * i, "a*", 2);
    memcpy(pattern + 198, "*b", 3);
    assert_false(matches(pattern, text));
}

static void test_suppressions(void **state)
{
    (void)state;
    pyro_config *config = config_new();
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_config_suppress(config, "gc-pressure", "why not", &error), PYRO_OK);
    assert_int_equal(pyro_config_suppress(config, "data-skew:join at etl.py:*", NULL, &error), PYRO_OK);
    assert_int_equal(pyro_config_suppress(config, "idle-executors-2", NULL, &error), PYRO_OK);
    assert_int_equal(pyro_config_suppress(config, "no-such-rule", NULL, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_suppress(config, "no-such-rule:place", NULL, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_config_suppress(config, "", NULL, &error), PYRO_ERROR_ARGUMENT);
    const struct pyro_config_suppression *by =
        pyro_config_suppresses(config, "gc-pressure", PYRO_SLICE_LITERAL("gc-pressure"));
    assert_true(by && pyro_slice_is(by->reason, "why not"));
    assert_non_null(pyro_config_suppresses(config, "data-skew", PYRO_SLICE_LITERAL("data-skew:join at etl.py:88")));
    assert_null(pyro_config_suppresses(config, "data-skew", PYRO_SLICE_LITERAL("data-skew:count at etl.py:88")));
    assert_null(pyro_config_suppresses(config, "idle-executors", PYRO_SLICE_LITERAL("idle-executors")));
    assert_null(pyro_config_suppresses(NULL, "data-skew", PYRO_SLICE_LITERAL("data-skew")));
    pyro_config_free(config);
}

/* One slow, heavy task of eight: data skew. */
static struct scene skewed(void)
{
    struct scene scene = scene_new(2, 4);
    static const int64_t ms[] = {4000, 4000, 4000, 4000, 4000, 4000, 4000, 60000};
    struct pyro_stage *stage = scene_stage(&scene, 8, ms, 8, NULL, NULL);
    stage->call_site = PYRO_SLICE_LITERAL("join at etl.py:88");
    scene.app->application.start_ms = SCENE_START;
    return scene;
}

static void test_diagnosis_says_what_was_changed(void **state)
{
    (void)state;
    struct scene scene = skewed();
    scene_end(&scene);
    size_t found = scene.diagnosis->finding_count;
    assert_true(found > 0);
    assert_int_equal(scene.diagnosis->suppressed_count, 0);
    pyro_config *config = config_new();
    const char *rule = scene.diagnosis->findings[0].rule->id;
    assert_int_equal(pyro_config_suppress(config, rule, NULL, NULL), PYRO_OK);
    assert_int_equal(pyro_config_set(config, "gc-pressure", "share_min", "30%", NULL), PYRO_OK);
    pyro_diagnosis *diagnosis = NULL;
    struct pyro_diagnose_options options = {.size = sizeof(options), .config = config};
    assert_int_equal(pyro_diagnose(scene.app, &options, NULL, &diagnosis, NULL), PYRO_OK);
    pyro_config_free(config); /* the diagnosis has copied what it needs */
    assert_int_equal(diagnosis->finding_count + diagnosis->suppressed_count, found);
    assert_true(diagnosis->suppressed_count > 0);
    assert_string_equal(diagnosis->suppressed[0].rule->id, rule);
    assert_true(diagnosis->suppressed[0].id.len > 0 && diagnosis->suppressed[0].reason.len > 0);
    assert_int_equal(diagnosis->changed_count, 1);
    assert_string_equal(diagnosis->changed[0].threshold->name, "share_min");
    assert_true(diagnosis->changed[0].value > 0.29 && diagnosis->changed[0].value < 0.31);
    pyro_diagnosis_free(diagnosis);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_every_rule_keeps_its_thresholds_in_bounds),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_suppressions),
        cmocka_unit_test(test_diagnosis_says_what_was_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
