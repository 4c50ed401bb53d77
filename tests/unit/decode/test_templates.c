/* Templates of messages: which are the same, what they look like, and their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/logs/repeats/templates.h"
#include "model/column.h"

static struct pyro_log_record record_of(const char *logger, const char *message)
{
    return (struct pyro_log_record){.time_ms = PYRO_NONE,
                                    .level = PYRO_LEVEL_INFO,
                                    .logger = pyro_slice_from(logger),
                                    .message = pyro_slice_from(message)};
}

static int32_t take(struct pyro_templates *templates, const char *logger, const char *message)
{
    struct pyro_log_record record = record_of(logger, message);
    int32_t id = pyro_templates_id(templates, &record);
    assert_true(id >= 0);
    return id;
}

static void assert_template(struct pyro_templates *templates, int32_t id, uint64_t count, const char *text)
{
    struct pyro_template template;
    assert_true(pyro_templates_get(templates, id, &template));
    assert_int_equal(template.count, count);
    assert_true(pyro_slice_is(template.text, text));
}

static int start(void **state)
{
    *state = pyro_templates_new(NULL);
    return *state ? 0 : -1;
}

static int stop(void **state)
{
    pyro_templates_free(*state);
    return 0;
}

static void test_values_do_not_matter(void **state)
{
    struct pyro_templates *templates = *state;
    assert_int_equal(take(templates, "Executor", "Running task 0.0 in stage 1.0 (TID 3)"), 0);
    assert_int_equal(pyro_templates_stage(templates), 1);
    assert_int_equal(take(templates, "Executor", "Running task 1.0 in stage 12.0 (TID 4)"), 0);
    assert_int_equal(pyro_templates_stage(templates), 12);
    assert_int_equal(take(templates, "Executor", "Finished task 1.0 in stage 2.0 (TID 4)"), 1);
    assert_int_equal(take(templates, "Executor", ""), 2);
    assert_true(pyro_templates_stage(templates) == PYRO_NONE);
    assert_int_equal(pyro_templates_count(templates), 3);
    assert_template(templates, 0, 2, "Running task <*> in stage <*> (TID <*>)");
    assert_template(templates, 2, 1, "");
}

static void test_loggers_differ_by_their_last_name(void **state)
{
    struct pyro_templates *templates = *state;
    assert_int_equal(take(templates, "org.apache.spark.executor.Executor", "Started"), 0);
    assert_int_equal(take(templates, "Executor", "Started"), 0);
    assert_int_equal(take(templates, "Driver", "Started"), 1);
    assert_int_equal(take(templates, NULL, "Started"), 2);
    struct pyro_template template;
    assert_true(pyro_templates_get(templates, 0, &template));
    assert_true(pyro_slice_is(template.logger, "org.apache.spark.executor.Executor"));
    assert_true(pyro_templates_get(templates, 2, &template));
    assert_null(template.logger.ptr);
}

static void test_names_that_differ_become_values(void **state)
{
    struct pyro_templates *templates = *state;
    int32_t id = take(templates, "Acl", "Changed the view rights of ALICE to full access");
    assert_int_equal(take(templates, "Acl", "Changed the view rights of BobBuilder to full access"), id);
    assert_int_equal(take(templates, "Acl", "Changed the view rights of carol to full access"), id);
    assert_template(templates, id, 3, "Changed the view rights of <*> to full access");
    assert_int_not_equal(take(templates, "Acl", "Changed the view rights of carol to no access"), id);
    assert_int_not_equal(take(templates, "Acl", "Removed the view rights of ALICE to full access"), id);
    /* The first text again: from the cache. */
    assert_int_equal(take(templates, "Acl", "Changed the view rights of ALICE to full access"), id);
    assert_template(templates, id, 4, "Changed the view rights of <*> to full access");
}

static void test_a_word_may_stand_for_a_value(void **state)
{
    struct pyro_templates *templates = *state;
    int32_t id = take(templates, "Task", "Starting the next task on executor driver");
    assert_int_equal(take(templates, "Task", "Starting the next task on executor 1"), id);
    assert_template(templates, id, 2, "Starting the next task on executor <*>");
}

static void test_what_follows_a_colon_may_vary(void **state)
{
    struct pyro_templates *templates = *state;
    int32_t id = take(templates, "Scan", "Pushed Filters: a then b");
    assert_template(templates, id, 1, "Pushed Filters: a then b");
    assert_int_equal(take(templates, "Scan", "Pushed Filters: a else b"), id);
    assert_template(templates, id, 2, "Pushed Filters: a <*> b");
    assert_int_equal(take(templates, "Scan", "Pushed Filters:"), id);
    assert_int_equal(take(templates, "Scan", "Pushed Filters: IsNotNull(id), and more"), id);
    assert_template(templates, id, 4, "Pushed Filters: <*>");
    assert_int_not_equal(take(templates, "Scan", "Pushed Filters"), id);
    assert_int_not_equal(take(templates, "Scan", "Other Filters: a then b"), id);
    assert_int_not_equal(take(templates, "Scan", "All of it [of: 1] begins"),
                         take(templates, "Scan", "All of it [of: 1] ends"));
    /* One word before the colon is the name of a part, not of a statement. */
    assert_int_not_equal(take(templates, "Scan", "Server: started"), take(templates, "Scan", "Server: stopped"));
}

static void test_levels_and_times(void **state)
{
    struct pyro_templates *templates = *state;
    struct pyro_log_record record = record_of("A", "Waiting for 5 s");
    struct pyro_template template;
    pyro_templates_id(templates, &record);
    assert_true(pyro_templates_get(templates, 0, &template));
    assert_true(template.first_ms == PYRO_NONE && template.last_ms == PYRO_NONE);
    static const int64_t times[] = {50, PYRO_NONE, 20, 70};
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        record.time_ms = times[i];
        record.level = i == 2 ? PYRO_LEVEL_WARN : PYRO_LEVEL_DEBUG;
        pyro_templates_id(templates, &record);
    }
    assert_true(pyro_templates_get(templates, 0, &template));
    assert_int_equal(template.first_ms, 20);
    assert_int_equal(template.last_ms, 70);
    assert_int_equal(template.level, PYRO_LEVEL_WARN);
    record.task_name = pyro_slice_from("task 0.0 in stage 9.0 (TID 3)");
    pyro_templates_id(templates, &record);
    assert_int_equal(pyro_templates_stage(templates), 9);
}

/* Words of letters, so that nothing masks them: "baaaa", "caaaa" ... */
static const char *word(char *buffer, unsigned number)
{
    for (size_t i = 0; i < 5; i++, number /= 26)
        buffer[i] = (char)('a' + number % 26);
    buffer[5] = '\0';
    return buffer;
}

static void test_a_full_place_takes_all(void **state)
{
    struct pyro_templates *templates = *state;
    char message[64], buffer[6];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(message, sizeof(message), "Hello %s", word(buffer, i));
        assert_int_equal(take(templates, "Greeter", message), i < 100 ? i : 100);
    }
    assert_template(templates, 3, 1, "Hello daaaa");
    assert_template(templates, 100, 200, "Hello <*>");
}

/* Words that differ make templates of their own, until there are too many that are alike. */
static void test_the_ninth_similar_one_takes_the_others(void **state)
{
    struct pyro_templates *templates = *state;
    char message[64], buffer[6];
    for (unsigned i = 0; i < 50; i++) {
        snprintf(message, sizeof(message), "The user %s logged in", word(buffer, i));
        assert_int_equal(take(templates, "Login", message), i < 8 ? i : 8);
    }
    assert_template(templates, 8, 42, "The user <*> logged in");
    assert_int_equal(take(templates, "Login", "The user daaaa logged in"), 3);
    assert_int_equal(take(templates, "Login", "The disk is full again"), 9);
}

static void test_many_first_words_share_a_place(void **state)
{
    struct pyro_templates *templates = *state;
    char message[64], buffer[6];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(message, sizeof(message), "%s logged in from the usual place", word(buffer, i));
        assert_int_equal(take(templates, "Login", message), i < 108 ? i : 108);
    }
    assert_template(templates, 108, 192, "<*> logged in from the usual place");
}

static void test_beyond_the_limit(void **state)
{
    struct pyro_templates *templates = *state;
    char logger[6];
    for (unsigned i = 0; i < PYRO_TEMPLATES_MOST; i++)
        assert_int_equal(take(templates, word(logger, i), "One text"), i);
    for (unsigned i = PYRO_TEMPLATES_MOST; i < PYRO_TEMPLATES_MOST + 1000; i++)
        assert_int_equal(take(templates, word(logger, i), "One text"), PYRO_TEMPLATES_MOST);
    assert_int_equal(take(templates, word(logger, 7), "One text"), 7);
    assert_template(templates, PYRO_TEMPLATES_MOST, 1000, "<*>");
    struct pyro_log_record record = record_of("new", "Two texts");
    record.level = PYRO_LEVEL_ERROR;
    assert_int_equal(pyro_templates_id(templates, &record), PYRO_TEMPLATES_MOST + 1);
    assert_int_equal(pyro_templates_id(templates, &record), PYRO_TEMPLATES_MOST + 1);
    assert_int_equal(pyro_templates_count(templates), PYRO_TEMPLATES_MOST + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values_do_not_matter, start, stop),
        cmocka_unit_test_setup_teardown(test_loggers_differ_by_their_last_name, start, stop),
        cmocka_unit_test_setup_teardown(test_names_that_differ_become_values, start, stop),
        cmocka_unit_test_setup_teardown(test_a_word_may_stand_for_a_value, start, stop),
        cmocka_unit_test_setup_teardown(test_what_follows_a_colon_may_vary, start, stop),
        cmocka_unit_test_setup_teardown(test_levels_and_times, start, stop),
        cmocka_unit_test_setup_teardown(test_a_full_place_takes_all, start, stop),
        cmocka_unit_test_setup_teardown(test_the_ninth_similar_one_takes_the_others, start, stop),
        cmocka_unit_test_setup_teardown(test_many_first_words_share_a_place, start, stop),
        cmocka_unit_test_setup_teardown(test_beyond_the_limit, start, stop),
    };
    return cmocka_run_group_tests_name("templates", tests, NULL, NULL);
}
