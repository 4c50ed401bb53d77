/* The engine: severity, order, stable ids, numbers at their limits, no memory. */
#include <math.h>
#include <stdlib.h>

#include "advice/feedback.h"
#include "advice/price.h"
#include "analyze/app_facts.h"
#include "base/threads/stop.h"
#include "rules/stable_id.h"
#include "scene.h"

static enum pyro_severity severity(int64_t wall_ms, int64_t core_ms, double risk, double harm)
{
    struct pyro_app app = {0};
    app.numbers.wall_total_ms = 1000;
    app.numbers.core_total_ms = 10000;
    struct pyro_finding finding = {.failure_risk = risk, .harm = harm, .full_costs = {PYRO_NONE, PYRO_NONE}};
    finding.saves.wall_expected_ms = wall_ms;
    finding.saves.core_ms = core_ms;
    return pyro_finding_severity(&app, &finding);
}

static void test_severity_is_the_largest_of_four(void **state)
{
    (void)state;
    assert_int_equal(severity(29, 0, 0, 0), PYRO_SEVERITY_LOW);
    assert_int_equal(severity(30, 0, 0, 0), PYRO_SEVERITY_MODERATE);
    assert_int_equal(severity(100, 0, 0, 0), PYRO_SEVERITY_SEVERE);
    assert_int_equal(severity(250, 0, 0, 0), PYRO_SEVERITY_CRITICAL);
    assert_int_equal(severity(0, 2500, 0, 0), PYRO_SEVERITY_CRITICAL);
    assert_int_equal(severity(0, PYRO_NONE, 0.5, 0), PYRO_SEVERITY_SEVERE);
    assert_int_equal(severity(30, 0, 0.9, 0), PYRO_SEVERITY_CRITICAL);
    /* A tenth below the borders. */
    assert_int_equal(severity(225, 0, 0, 0), PYRO_SEVERITY_SEVERE);
    assert_int_equal(severity(90, 0, 0, 0), PYRO_SEVERITY_MODERATE);
    assert_int_equal(severity(27, 0, 0, 0), PYRO_SEVERITY_LOW);
    assert_int_equal(severity(0, 0, 0.81, 0), PYRO_SEVERITY_SEVERE);
    assert_int_equal(severity(0, 0, 0.45, 0), PYRO_SEVERITY_MODERATE);
    assert_int_equal(severity(0, 0, 0.18, 0), PYRO_SEVERITY_LOW);
    assert_int_equal(severity(0, 0, 0, 0.2), PYRO_SEVERITY_MODERATE);
    struct pyro_app empty = {0};
    struct pyro_finding finding = {.full_costs = {PYRO_NONE, PYRO_NONE},
                                   .saves = {.wall_expected_ms = 5, .core_ms = 5}};
    assert_int_equal(pyro_finding_severity(&empty, &finding), PYRO_SEVERITY_LOW);
}

/* Both count: what the fault costs, and what its action saves; where nothing is simulated, the former. */
static void test_severity_follows_the_lesser_of_cost_and_saving(void **state)
{
    (void)state;
    struct pyro_app app = {0};
    app.numbers.wall_total_ms = 1000;
    struct pyro_finding finding = {.full_costs = {40, PYRO_NONE},
                                   .saves = {.wall_expected_ms = 500, .core_ms = PYRO_NONE, .basis = PYRO_BASIS_CODE}};
    assert_int_equal(pyro_finding_severity(&app, &finding), PYRO_SEVERITY_MODERATE);
    finding.full_costs.wall_ms = 500;
    finding.saves.wall_expected_ms = 120;
    assert_int_equal(pyro_finding_severity(&app, &finding), PYRO_SEVERITY_SEVERE);
    finding.saves = (struct pyro_saving){.core_ms = PYRO_NONE, .basis = PYRO_BASIS_NONE};
    assert_int_equal(pyro_finding_severity(&app, &finding), PYRO_SEVERITY_CRITICAL);
    finding.full_costs.wall_ms = PYRO_NONE;
    assert_int_equal(pyro_finding_severity(&app, &finding), PYRO_SEVERITY_LOW);
}

static void assert_id(const char *call_site, const char *expected)
{
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    struct pyro_finding finding = {.rule = &pyro_rule_data_skew, .call_site = pyro_slice_from(call_site)};
    assert_string_equal(pyro_finding_stable_id(&arena, &finding).ptr, expected);
    pyro_arena_done(&arena);
}

static void test_ids_leave_out_what_changes(void **state)
{
    (void)state;
    assert_id("join at etl.py:88", "data-skew:join-at-etl.py:88");
    assert_id("Join  at Etl.scala:7", "data-skew:join-at-etl.scala:7");
    assert_id("run 20260101 of batch-17", "data-skew:run-#-of-batch-#");
    assert_id("q 0c9f3a7e-10ab-4b6e-bfcf-00aa11bb22cc end", "data-skew:q-#-end");
    assert_id("", "data-skew");
    assert_id(NULL, "data-skew");
    assert_id("///", "data-skew");
}

static void test_long_ids_stay_different(void **state)
{
    (void)state;
    char a[400], b[400];
    memset(a, 'x', sizeof(a));
    memset(b, 'x', sizeof(b));
    a[398] = 'a';
    b[398] = 'b';
    a[399] = b[399] = '\0';
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    struct pyro_finding one = {.rule = &pyro_rule_data_skew, .call_site = pyro_slice_from(a)}, two = one;
    two.call_site = pyro_slice_from(b);
    struct pyro_slice id_a = pyro_finding_stable_id(&arena, &one), id_b = pyro_finding_stable_id(&arena, &two);
    assert_true(id_a.len < 130);
    assert_false(pyro_slice_eq(id_a, id_b));
    pyro_arena_done(&arena);
}

static void test_equal_ids_are_numbered(void **state)
{
    (void)state;
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    struct pyro_finding findings[3] = {
        {.id = PYRO_SLICE_LITERAL("a")}, {.id = PYRO_SLICE_LITERAL("a")}, {.id = PYRO_SLICE_LITERAL("a")}};
    assert_true(pyro_findings_make_unique(&arena, findings, 3));
    assert_string_equal(findings[0].id.ptr, "a");
    assert_string_equal(findings[1].id.ptr, "a-2");
    assert_string_equal(findings[2].id.ptr, "a-3");
    pyro_arena_done(&arena);
}

/* A rule's own confidence counts as four verdicts of other applications, and as two of this one. */
static void test_verdicts_calibrate(void **state)
{
    (void)state;
    static const struct {
        struct pyro_votes votes;
        double confidence;
    } cases[] = {
        {{.right_elsewhere = 0}, 0.8}, {{.right_elsewhere = 4}, 0.9}, {{.wrong_elsewhere = 4}, 0.4},
        {{.right_here = 2}, 0.9},      {{.wrong_here = 2}, 0.4},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_true(fabs(pyro_calibrated(0.8, &cases[i].votes) - cases[i].confidence) < 1e-9);
}

static void test_order_is_by_saving_then_core_then_severity(void **state)
{
    (void)state;
    struct pyro_finding findings[4] = {0};
    for (int i = 0; i < 4; i++)
        findings[i].rule = &pyro_rule_straggler;
    findings[0].saves.wall_expected_ms = 5;
    findings[1].saves.wall_expected_ms = 9;
    findings[2].saves = (struct pyro_saving){.wall_expected_ms = 5, .core_ms = 8};
    findings[3] = findings[0];
    findings[3].severity = PYRO_SEVERITY_SEVERE;
    qsort(findings, 4, sizeof(findings[0]), pyro_finding_compare);
    assert_int_equal(findings[0].saves.wall_expected_ms, 9);
    assert_int_equal(findings[1].saves.core_ms, 8);
    assert_int_equal(findings[2].severity, PYRO_SEVERITY_SEVERE);
}

/* A hot key saves less than the broadcast that happens to avoid it, and is its reason; elsewhere it is not. */
static void test_reasons_come_before_what_follows_from_them(void **state)
{
    (void)state;
    uint32_t join[] = {3, 5}, key[] = {5}, other[] = {4};
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    for (int same = 0; same < 2; same++) {
        struct pyro_finding findings[2] = {
            {.rule = &pyro_rule_missed_broadcast_join,
             .id = PYRO_SLICE_LITERAL("join"),
             .severity = PYRO_SEVERITY_CRITICAL,
             .stage = 5,
             .cause = PYRO_SLICE_LITERAL("Sorted."),
             .own = {.wall_expected_ms = 9000},
             .stages = join,
             .stage_count = 2},
            {.rule = &pyro_rule_data_skew,
             .id = PYRO_SLICE_LITERAL("key"),
             .severity = PYRO_SEVERITY_MODERATE,
             .title = PYRO_SLICE_LITERAL("Data skew"),
             .stage = 5,
             .own = {.wall_expected_ms = 4000},
             .stages = same ? key : other,
             .stage_count = 1},
        };
        assert_true(pyro_findings_lead_by_roots(&arena, findings, 2));
        const struct pyro_finding *follower = &findings[same ? 1 : 0];
        assert_ptr_equal(follower->rule, &pyro_rule_missed_broadcast_join);
        assert_int_equal(findings[0].severity, PYRO_SEVERITY_CRITICAL);
        assert_true(same ? pyro_slice_is(follower->root, "key") : !follower->root.ptr);
        assert_int_equal(
            pyro_slice_is(follower->cause, "Sorted. Fix \"Data skew\" of stage 5 first: this follows from it."), same);
    }
    pyro_arena_done(&arena);
}

/* A reason that saves less than a quarter of what its consequence does is one of several. */
static void test_small_reasons_stay(void **state)
{
    (void)state;
    uint32_t stage[] = {5};
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    for (int64_t ms = 2025; ms <= 2475; ms += 450) {
        struct pyro_finding findings[2] = {
            {.rule = &pyro_rule_missed_broadcast_join,
             .severity = PYRO_SEVERITY_CRITICAL,
             .own = {.wall_expected_ms = 9000},
             .stages = stage,
             .stage_count = 1},
            {.rule = &pyro_rule_data_skew,
             .severity = PYRO_SEVERITY_MODERATE,
             .own = {.wall_expected_ms = ms},
             .stages = stage,
             .stage_count = 1},
        };
        assert_true(pyro_findings_lead_by_roots(&arena, findings, 2));
        assert_int_equal(findings[0].rule == &pyro_rule_data_skew, ms == 2475);
    }
    pyro_arena_done(&arena);
}

/* What a change must save: 50 ms and a thousandth of the run, or a hundredth of its core time. */
static void test_gains(void **state)
{
    (void)state;
    static const struct {
        int64_t wall_ms, saved_ms, saved_core_ms;
        bool gains;
    } cases[] = {
        {10000, 66, 0, true},     {10000, 54, 0, false},  {1000000, 1155, 0, true},
        {1000000, 945, 0, false}, {10000, 0, 4400, true}, {10000, 0, 3600, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct pyro_predicted_run run = {
            .base = {.wall_ms = cases[i].wall_ms, .core_ms = 400000, .busy_ms = 300000}, .memory_bytes = 1 << 30};
        const struct pyro_scenario to = {.wall_expected_ms = cases[i].wall_ms - cases[i].saved_ms,
                                         .core_ms = 400000 - cases[i].saved_core_ms,
                                         .busy_ms = 300000,
                                         .memory_bytes = 1 << 30};
        assert_int_equal(pyro_fix_gains(&run, NULL, &to), cases[i].gains);
    }
}

/* Rules that name each other would change places endlessly. */
static void assert_leads_nowhere(const struct pyro_rule *rule, unsigned depth)
{
    assert_true(depth < 10);
    for (size_t i = 0; i < PYRO_RULE_ROOTS_MOST && rule->follows[i]; i++) {
        const struct pyro_rule *root = pyro_rule_find(rule->follows[i]);
        assert_non_null(root);
        assert_leads_nowhere(root, depth + 1);
    }
}

static void test_no_rule_follows_from_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < pyro_rule_count; i++)
        assert_leads_nowhere(pyro_rules[i], 0);
}

static void extreme(struct fixture_task *task, unsigned index, void *context)
{
    int64_t value = *(int64_t *)context;
    for (int column = PYRO_TASK_launch_ms; column <= PYRO_TASK_shuffle_write_records; column++)
        if (index % 3 != 0)
            task->row[column] = value;
}

static void test_extreme_numbers_do_not_overflow(void **state)
{
    (void)state;
    int64_t values[] = {INT64_MAX, INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX / 2};
    int64_t ms = 3000;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct scene scene = scene_new(2, 2);
        scene_stage(&scene, 30, &ms, 1, extreme, &values[i]);
        scene.app->executors.items[0].cores = values[i];
        scene.app->stages.items[1].partitions = values[i];
        scene.now = SCENE_START + 100000;
        scene_end(&scene);
        for (size_t k = 0; k < scene.diagnosis->finding_count; k++) {
            const struct pyro_saving *saves = &scene.diagnosis->findings[k].saves;
            assert_true(saves->wall_low_ms >= 0 && saves->wall_low_ms <= saves->wall_expected_ms);
            assert_true(saves->wall_expected_ms <= saves->wall_high_ms && saves->wall_high_ms <= 100000);
        }
        scene_free(&scene);
    }
    assert_int_equal(pyro_whole(1e300), INT64_C(4611686018427387904));
    assert_int_equal(pyro_whole((double)NAN), 0);
    assert_true(pyro_span(INT64_MIN + 1, INT64_MAX) > 1e19);
}

static void test_an_empty_application_has_no_findings(void **state)
{
    (void)state;
    struct scene scene = {.app = fixture_app(SCENE_START, SCENE_START + 1000), .now = SCENE_START + 1000};
    scene_end(&scene);
    assert_int_equal(scene.diagnosis->finding_count, 0);
    assert_int_equal(pyro_diagnosis_finding_count(scene.diagnosis), 0);
    struct pyro_finding_info none = {.size = sizeof(none)};
    assert_int_equal(pyro_diagnosis_finding(scene.diagnosis, 0, &none), PYRO_ERROR_ARGUMENT);
    assert_int_equal(scene_verdict(&scene, "data-skew"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

static void test_versions(void **state)
{
    (void)state;
    struct pyro_app app = {0};
    static const struct {
        const char *version;
        bool three, three_two;
    } cases[] = {{"3.2.0", true, true}, {"3.1.9", true, false}, {"2.4.8", false, false}, {"4.0", true, true},
                 {NULL, true, true},    {"3.10.1", true, true}, {"3", true, false},      {"preview", true, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        app.application.spark_version = pyro_slice_from(cases[i].version);
        assert_int_equal(pyro_app_spark_at_least(&app, 3, 0), cases[i].three);
        assert_int_equal(pyro_app_spark_at_least(&app, 3, 2), cases[i].three_two);
    }
}

static void test_rules_describe_themselves(void **state)
{
    (void)state;
    assert_int_equal(pyro_rules_count(), pyro_rule_count);
    for (size_t i = 0; i < pyro_rules_count(); i++) {
        struct pyro_rule_info info = {.size = sizeof(info)};
        assert_int_equal(pyro_rules_get(i, &info), PYRO_OK);
        assert_non_null(info.title);
        assert_non_null(info.summary);
        assert_ptr_equal(pyro_rule_find(info.id), pyro_rules[i]);
    }
    for (size_t i = 0; i < pyro_rule_count; i++)
        for (size_t k = 0; k < PYRO_RULE_AFTER_MOST && pyro_rules[i]->after[k]; k++) {
            size_t before = 0;
            if (strcmp(pyro_rules[i]->after[k], PYRO_RULE_AFTER_ALL) == 0)
                continue;
            while (before < i && strcmp(pyro_rules[before]->id, pyro_rules[i]->after[k]) != 0)
                before++;
            assert_true(before < i);
        }
    struct pyro_rule_info none = {.size = sizeof(none)};
    assert_int_equal(pyro_rules_get(pyro_rules_count(), &none), PYRO_ERROR_ARGUMENT);
    assert_null(pyro_rule_find("none"));
}

/* An allocator that gives a limited number of blocks. */
static void *limited(void *context, size_t size)
{
    int *left = context;
    return (*left)-- > 0 ? malloc(size) : NULL;
}

static void *limited_again(void *context, void *memory, size_t size)
{
    int *left = context;
    return (*left)-- > 0 ? realloc(memory, size) : NULL;
}

static void give_back(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void test_no_memory_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    const int64_t ms[] = {2000, 2000, 2000, 2000, 30000, 2000};
    scene_stage(&scene, 12, ms, 6, NULL, NULL);
    scene_end(&scene);
    assert_true(scene.diagnosis->finding_count > 0);
    bool done = false;
    for (int blocks = 0; !done && blocks < 200; blocks++) {
        int left = blocks;
        struct pyro_allocator allocator = {sizeof(allocator), limited, limited_again, give_back, &left};
        struct pyro_diagnosis *diagnosis = NULL;
        struct pyro_error error = {.size = sizeof(error)};
        enum pyro_status status = pyro_diagnosis_new(
            scene.app, &(struct pyro_judging){.threads = 1, .allocator = &allocator}, &diagnosis, &error);
        assert_true(status == PYRO_OK || status == PYRO_ERROR_MEMORY);
        assert_int_equal(error.code, status);
        done = status == PYRO_OK;
        if (done)
            pyro_diagnosis_free(diagnosis);
    }
    assert_true(done);
    scene_free(&scene);
}

struct patience {
    int calls, most;
};

/* Says so once: what is asked again must not become another reason. */
static bool lose_once(void *context)
{
    struct patience *patience = context;
    return ++patience->calls == patience->most;
}

static bool lose(void *context)
{
    struct patience *patience = context;
    return ++patience->calls >= patience->most;
}

/* Wherever it is stopped, it ends soon, and nothing leaks. */
static void test_judging_can_be_stopped(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    const int64_t ms[] = {2000, 2000, 2000, 2000, 30000, 2000};
    scene_stage(&scene, 12, ms, 6, NULL, NULL);
    scene_end(&scene);
    struct patience patience = {.most = INT32_MAX};
    const struct pyro_stop stop = {lose, &patience};
    struct pyro_diagnosis *diagnosis = NULL;
    assert_int_equal(
        pyro_diagnosis_new(scene.app, &(struct pyro_judging){.threads = 1, .stop = &stop}, &diagnosis, NULL), PYRO_OK);
    pyro_diagnosis_free(diagnosis);
    int all = patience.calls;
    assert_true(all >= (int)pyro_rule_count);
    for (int most = 1; most <= all; most++) {
        patience = (struct patience){.most = most};
        assert_int_equal(
            pyro_diagnosis_new(scene.app, &(struct pyro_judging){.threads = 1, .stop = &stop}, &diagnosis, NULL),
            PYRO_ERROR_CANCELLED);
        assert_true(patience.calls <= most + 1);
    }
    scene_free(&scene);
}

static void test_a_stop_is_reported_as_one(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    const int64_t ms[] = {2000, 2000, 2000, 2000, 30000, 2000};
    scene_stage(&scene, 12, ms, 6, NULL, NULL);
    scene_end(&scene);
    struct patience patience = {.most = INT32_MAX};
    const struct pyro_stop stop = {lose_once, &patience};
    const struct pyro_judging judging = {.threads = 1, .stop = &stop};
    struct pyro_diagnosis *diagnosis = NULL;
    assert_int_equal(pyro_diagnosis_new(scene.app, &judging, &diagnosis, NULL), PYRO_OK);
    pyro_diagnosis_free(diagnosis);
    int all = patience.calls;
    for (int most = 1; most <= all; most++) {
        struct pyro_error error = {.size = sizeof(error)};
        patience = (struct patience){.most = most};
        assert_int_equal(pyro_diagnosis_new(scene.app, &judging, &diagnosis, &error), PYRO_ERROR_CANCELLED);
        assert_int_equal(error.code, PYRO_ERROR_CANCELLED);
        assert_string_equal(error.message, "stopped");
    }
    scene_free(&scene);
}

static void assert_same_findings(const struct pyro_diagnosis *left, const struct pyro_diagnosis *right)
{
    assert_int_equal(left->finding_count, right->finding_count);
    for (size_t i = 0; i < left->finding_count; i++) {
        const struct pyro_finding *a = &left->findings[i], *b = &right->findings[i];
        assert_string_equal(a->id.ptr, b->id.ptr);
        assert_string_equal(a->cause.ptr, b->cause.ptr);
        assert_int_equal(a->saves.wall_expected_ms, b->saves.wall_expected_ms);
        assert_int_equal(a->saves.core_ms, b->saves.core_ms);
    }
}

/* Enough rows for threads, and findings that other rules look at. */
static void test_threads_say_the_same(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    const int64_t skewed[] = {2000, 2000, 2000, 2000, 30000, 2000}, small[] = {20};
    for (int i = 0; i < 4; i++)
        scene_stage(&scene, 12, skewed, 6, NULL, NULL);
    scene_stage(&scene, 3000, small, 1, NULL, NULL);
    scene_end(&scene);
    assert_true(scene.diagnosis->finding_count > 1);
    assert_int_equal(scene.diagnosis->arena_count, 0);
    for (unsigned threads = 2; threads <= 5; threads++) {
        struct pyro_diagnosis *diagnosis = NULL;
        assert_int_equal(pyro_diagnosis_new(scene.app, &(struct pyro_judging){.threads = threads}, &diagnosis, NULL),
                         PYRO_OK);
        assert_int_equal(diagnosis->arena_count, threads - 1);
        assert_same_findings(scene.diagnosis, diagnosis);
        pyro_diagnosis_free(diagnosis);
    }
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_severity_is_the_largest_of_four),
        cmocka_unit_test(test_severity_follows_the_lesser_of_cost_and_saving),
        cmocka_unit_test(test_verdicts_calibrate),
        cmocka_unit_test(test_small_reasons_stay),
        cmocka_unit_test(test_gains),
        cmocka_unit_test(test_ids_leave_out_what_changes),
        cmocka_unit_test(test_long_ids_stay_different),
        cmocka_unit_test(test_equal_ids_are_numbered),
        cmocka_unit_test(test_order_is_by_saving_then_core_then_severity),
        cmocka_unit_test(test_reasons_come_before_what_follows_from_them),
        cmocka_unit_test(test_no_rule_follows_from_itself),
        cmocka_unit_test(test_extreme_numbers_do_not_overflow),
        cmocka_unit_test(test_an_empty_application_has_no_findings),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_rules_describe_themselves),
        cmocka_unit_test(test_no_memory_is_an_error_and_leaks_nothing),
        cmocka_unit_test(test_judging_can_be_stopped),
        cmocka_unit_test(test_a_stop_is_reported_as_one),
        cmocka_unit_test(test_threads_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
