/* Documents about an application: their names, and how tasks are laid out on rows of their executors. */
#include "kit.h"

static int collect(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

static int refuse(void *context, const void *data, size_t len)
{
    (void)context;
    (void)data;
    (void)len;
    return 1;
}

static pyro_diagnosis *diagnose(const char *log)
{
    pyro_diagnosis *diagnosis = NULL;
    pyro_app *app = kit_feed("log", log, strlen(log), 1000, NULL);
    assert_int_equal(pyro_diagnose(app, NULL, NULL, &diagnosis, NULL), PYRO_OK);
    pyro_app_release(app);
    return diagnosis;
}

static const char *view(const pyro_diagnosis *diagnosis, const char *name, size_t most, struct pyro_strbuf *out)
{
    struct pyro_writer writer = {sizeof(writer), collect, out};
    struct pyro_view_options options = {.size = sizeof(options), .most_tasks = most};
    pyro_strbuf_clear(out);
    assert_int_equal(pyro_view_write(diagnosis, name, &options, &writer, NULL), PYRO_OK);
    return out->data;
}

static void add_task(struct pyro_strbuf *log, int id, int launch, int finish, const char *executor)
{
    pyro_strbuf_printf(log,
                       "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End Reason\":"
                       "{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":%d,\"Index\":%d,\"Attempt\":0,\"Launch "
                       "Time\":%d,\"Executor ID\":\"%s\",\"Host\":\"h\",\"Finish Time\":%d},\"Task Metrics\":{"
                       "\"Executor Run Time\":%d}}\n",
                       id, id, launch, executor, finish, finish - launch);
}

/* Overlapping tasks of one executor, one that begins where another ends, one on an executor that was never added. */
static pyro_diagnosis *overlapping(void)
{
    struct pyro_strbuf log;
    pyro_strbuf_init(&log, NULL);
    pyro_strbuf_add_text(&log, kit_small_log);
    struct pyro_strbuf all;
    pyro_strbuf_init(&all, NULL);
    const char *end = strstr(log.data, "{\"Event\":\"SparkListenerJobEnd\"");
    pyro_strbuf_add(&all, log.data, (size_t)(end - log.data));
    add_task(&all, 10, 1300, 1400, "1");
    add_task(&all, 11, 1500, 1505, "1");
    add_task(&all, 12, 1505, 1550, "1");
    add_task(&all, 13, 1300, 1301, "77");
    pyro_strbuf_add_text(&all, end);
    pyro_diagnosis *diagnosis = diagnose(all.data);
    pyro_strbuf_done(&log);
    pyro_strbuf_done(&all);
    return diagnosis;
}

static void tasks_at_once_have_rows_of_their_own(void **state)
{
    (void)state;
    struct pyro_strbuf out;
    pyro_strbuf_init(&out, NULL);
    pyro_diagnosis *diagnosis = overlapping();
    const char *text = view(diagnosis, "timeline", 0, &out);
    static const char *const parts[] = {
        "\"count\": 6, \"shown\": 6",
        "\"launch_ms\": [220,230,300,300,500,505]",
        "\"duration_ms\": [200,270,100,1,5,45]",
        "\"slot\": [0,1,2,0,0,0]",
        "\"executor\": [0,0,0,1,0,0]",
        "\"status\": [0,1,0,0,0,0]",
        "{\"id\": \"77\", \"host\": \"h\", \"cores\": null",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("missing: %s in\n%s", parts[i], text);
    pyro_diagnosis_free(diagnosis);
    pyro_strbuf_done(&out);
}

static void of_more_tasks_the_failed_and_the_longest_stay(void **state)
{
    (void)state;
    struct pyro_strbuf out;
    pyro_strbuf_init(&out, NULL);
    pyro_diagnosis *diagnosis = overlapping();
    const char *text = view(diagnosis, "timeline", 3, &out);
    static const char *const parts[] = {"\"count\": 6, \"shown\": 3", "\"launch_ms\": [220,230,300]",
                                        "\"slot\": [0,1,2]"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("missing: %s in\n%s", parts[i], text);
    text = view(diagnosis, "stages/0/0", 1, &out);
    assert_non_null(strstr(text, "\"shown\": 1"));
    assert_non_null(strstr(text,
                           "\"duration_ms\": {\"min\": 1, \"p25\": 5, \"median\": 45, \"p75\": 100, \"p95\": 200, "
                           "\"max\": 200}"));
    pyro_diagnosis_free(diagnosis);
    pyro_strbuf_done(&out);
}

#define AQE_PLAN(number, tree)                                                                                         \
    "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate\",\"executionId\":0,"      \
    "\"physicalPlanDescription\":\"p\",\"sparkPlanInfo\":{\"nodeName\":\"" number "\",\"simpleString\":\"" number      \
    "\"" tree "}}\n"

/* Plans that were replaced are available when they are asked for, wherever the log was cut when it was fed. */
static void plans_that_were_replaced(void **state)
{
    (void)state;
    struct pyro_strbuf log, out;
    pyro_strbuf_init(&log, NULL);
    pyro_strbuf_init(&out, NULL);
    const char *end = strstr(kit_small_log, "{\"Event\":\"SparkListenerJobEnd\"");
    pyro_strbuf_add(&log, kit_small_log, (size_t)(end - kit_small_log));
    pyro_strbuf_add_text(&log, AQE_PLAN("Second", ",\"children\":[{\"nodeName\":\"B\"},{\"nodeName\":\"C\"}]"));
    pyro_strbuf_add_text(&log, AQE_PLAN("Third", ""));
    pyro_strbuf_add_text(&log, end);
    for (size_t piece = 1; piece <= log.len; piece = piece < 40 ? piece + 13 : log.len + (piece == log.len)) {
        struct kit_options options = {KIT_SIZES, .load.wanted = PYRO_WANT_PLAN_CHANGES};
        pyro_diagnosis *diagnosis = NULL;
        pyro_app *app = kit_feed("log", log.data, log.len, piece, &options);
        assert_int_equal(pyro_diagnose(app, NULL, NULL, &diagnosis, NULL), PYRO_OK);
        pyro_app_release(app);
        const char *text = view(diagnosis, "sql/0", 0, &out);
        static const char *const parts[] = {
            "{\"number\": 0, \"reason\": \"initial\", \"at_ms\": 1150,",
            "{\"number\": 1, \"reason\": \"adaptive\", \"at_ms\": 1600,",
            "{\"number\": 2, \"reason\": \"adaptive\", \"at_ms\": 1600,",
            "\"edges\": [[1,0], [2,0]]",
            "\"name\": \"Second\"",
            "\"final\": 2",
        };
        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
            if (!strstr(text, parts[i]))
                fail_msg("missing: %s in\n%s", parts[i], text);
        pyro_diagnosis_free(diagnosis);
    }
    pyro_diagnosis *diagnosis = diagnose(log.data);
    assert_non_null(strstr(view(diagnosis, "sql/0", 0, &out), "\"final\": 0"));
    pyro_diagnosis_free(diagnosis);
    pyro_strbuf_done(&log);
    pyro_strbuf_done(&out);
}

static void other_names_are_refused(void **state)
{
    (void)state;
    struct pyro_strbuf out;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_strbuf_init(&out, NULL);
    struct pyro_writer writer = {sizeof(writer), collect, &out}, broken = {sizeof(broken), refuse, NULL};
    pyro_diagnosis *diagnosis = diagnose(kit_small_log);
    static const char *const names[] = {"",
                                        "timelines",
                                        "timeline/",
                                        "stages",
                                        "stages/0",
                                        "stages//0",
                                        "stages/0/0/",
                                        "stages/00/0",
                                        "stages/-1/0",
                                        "stages/9/0",
                                        "stages/0/x",
                                        "stages/99999999999999999999/0"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_int_equal(pyro_view_write(diagnosis, names[i], NULL, &writer, &error), PYRO_ERROR_ARGUMENT);
        assert_true(strlen(error.message) > 10 && out.len == 0);
    }
    assert_int_equal(pyro_view_write(NULL, "timeline", NULL, &writer, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_view_write(diagnosis, "timeline", NULL, &broken, &error), PYRO_ERROR_OUTPUT);
    assert_string_equal(pyro_view_name(0), "timeline");
    assert_null(pyro_view_name(1000));
    pyro_diagnosis_free(diagnosis);
    pyro_strbuf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_at_once_have_rows_of_their_own),
        cmocka_unit_test(of_more_tasks_the_failed_and_the_longest_stay),
        cmocka_unit_test(plans_that_were_replaced),
        cmocka_unit_test(other_names_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_clean();
    return failed;
}
