#include "fixture.h"
#include "report/shared/web_assets.h"

#include <stdlib.h>
#include <string.h>

static void text_fits_its_width(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 200, false);
    static const unsigned widths[] = {0, 40, 60, 120, 200};
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
        for (int details = 0; details < 2; details++) {
            struct pyro_report_options options = {.size = sizeof(options), .width = widths[i], .details = details};
            assert_lines(fixture_report(&fixture, PYRO_FORMAT_TEXT, &options), widths[i] ? widths[i] : 80);
        }
    fixture_done(&fixture);
}

static void text_says_what_matters(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 200, false);
    const char *text = fixture_report(&fixture, PYRO_FORMAT_TEXT, NULL);
    static const char *const facts[] = {"SPARK OPTIMIZATION REPORT\n=====",
                                        "CRITICAL ISSUES:\n1. Data skew ",
                                        "costs 12 min (26 %)   confidence 0.93\n",
                                        "Recommendation: =salt the join key",
                                        "Expected improvement: 60 % faster stage",
                                        "CONFIGURATION CHANGES:\nspark.sql.adaptive.skewJoin.enabled=true\n",
                                        "TIME ACCOUNT\n",
                                        "CORE ACCOUNT\n",
                                        "BOUNDS\n",
                                        "MEMORY\n",
                                        "STAGES\n",
                                        "EXECUTORS\n",
                                        "DATA QUALITY\n",
                                        "slowest task 4 min 12 s (expected 18 s)",
                                        "1 finding: 1 critical.",
                                        "cut at byte 12"};
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        if (!strstr(text, facts[i]))
            fail_msg("missing: %s in\n%s", facts[i], text);
    assert_null(strchr(text, '\x1b'));
    struct pyro_report_options color = {.size = sizeof(color), .color = 1};
    assert_non_null(strstr(fixture_report(&fixture, PYRO_FORMAT_TEXT, &color), "\x1b[1;31m1. Data skew\x1b[0m"));
    fixture_done(&fixture);
}

/* Largest remainder: three near thirds are 33.4 + 33.3 + 33.3. */
static void text_percentages_add_up(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2, true);
    const char *text = strstr(fixture_report(&fixture, PYRO_FORMAT_TEXT, NULL), "TIME ACCOUNT");
    const char *end = strstr(text, "Phases:");
    long sum = 0;
    for (const char *p = strchr(text, '\n'); (p = strstr(p, " %")) && p < end; p++) {
        const char *digits = p - 1;
        while (digits[-1] != ' ')
            digits--;
        sum += strtol(digits, NULL, 10) * 10 + (p[-1] - '0');
    }
    assert_int_equal(sum, 1000);
    fixture_done(&fixture);
}

static void healthy_application_is_said_to_be(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2, true);
    const char *text = fixture_report(&fixture, PYRO_FORMAT_TEXT, NULL);
    assert_non_null(strstr(text, "\nNo findings.\n"));
    assert_non_null(strstr(text, "Job: daily_etl_pipeline    Duration: 45 min\n"));
    assert_null(strstr(text, "CRITICAL"));
    fixture_done(&fixture);
}

static void json_has_the_contract(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 200, false);
    const char *text = fixture_report(&fixture, PYRO_FORMAT_JSON, NULL);
    static const char *const facts[] = {"\"schema\": \"pyrometer.report/1\"",
                                        "\"unknown_events\": {\"com.acme.Odd\\u001b[2J\": 12}",
                                        "{\"SparkListenerJobEnd\": 11, \"SparkListenerTaskEnd\": 10,",
                                        "\"user\": null",
                                        "\"cache_hit_share\": null",
                                        "\"config\": {\"spark.sql.adaptive.skewJoin.enabled\": \"true\"}",
                                        "\"confidence\": 0.93",
                                        "\"wall_ms\": {\"low\": 540000, \"expected\": 660000, \"high\": 840000}",
                                        "\"cost\": null",
                                        "{\"name\": \"compute\", \"ms\": 900001}"};
    /* Event names are sorted bytewise: lower-case names come last. */
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        if (!strstr(text, facts[i]))
            fail_msg("missing: %s in\n%s", facts[i], text);
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p >= 0x20 || *p == '\n');
    fixture_done(&fixture);
}

static void markdown_and_csv_are_escaped(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 200, false);
    const char *text = fixture_report(&fixture, PYRO_FORMAT_MARKDOWN, NULL);
    assert_lines(text, SIZE_MAX);
    assert_null(strstr(text, "<script>"));
    assert_non_null(strstr(text, "salt the join key \\| \\`now\\`"));
    text = fixture_report(&fixture, PYRO_FORMAT_CSV, NULL);
    assert_int_equal(count_of(text, "\r\n"), 2);
    assert_non_null(strstr(text, "app-1,data-skew-1,data-skew,skew,critical,0.93,,5,0,,,,"));
    assert_non_null(strstr(text, ",540000,660000,840000,\"'=salt the join key"));
    fixture_done(&fixture);
}

static void many_reports_are_one_document(void **state)
{
    (void)state;
    struct fixture fixture;
    for (unsigned format = 0; pyro_format_name(format); format++) {
        if (format == PYRO_FORMAT_HTML && pyro_web_check(NULL) != PYRO_OK)
            continue; /* built without node */
        pyro_reports *reports = NULL;
        fixture_init(&fixture, 4, false);
        assert_int_equal(pyro_reports_open((enum pyro_format)format, NULL, &fixture.writer, &reports, &fixture.error),
                         PYRO_OK);
        assert_int_equal(pyro_reports_add(reports, &fixture.diagnosis, NULL), PYRO_OK);
        assert_int_equal(pyro_reports_add_unreadable(reports, "bad\xff\x1b", "no such file", NULL), PYRO_OK);
        assert_int_equal(pyro_reports_add(reports, &fixture.diagnosis, NULL), PYRO_OK);
        assert_int_equal(pyro_reports_finish(reports, NULL), PYRO_OK);
        assert_int_equal(pyro_reports_finish(reports, NULL), PYRO_ERROR_ARGUMENT);
        pyro_reports_free(reports);
        assert_null(strchr(fixture.out.data, '\x1b'));
        if (format == PYRO_FORMAT_JSON) {
            assert_int_equal(count_of(fixture.out.data, "pyrometer.report/1"), 2);
            assert_non_null(strstr(fixture.out.data, "\"error\": \"no such file\""));
        }
        fixture_done(&fixture);
    }
}

static int refuse(void *context, const void *data, size_t len)
{
    (void)context;
    (void)data;
    (void)len;
    return 1;
}

static void failures_are_told(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    struct pyro_writer writer = {sizeof(writer), refuse, NULL};
    struct pyro_report_options unsized_options = {.width = 80};
    assert_int_equal(pyro_report_write(&fixture.diagnosis, PYRO_FORMAT_TEXT, NULL, &writer, NULL), PYRO_ERROR_OUTPUT);
    assert_int_equal(pyro_report_write(&fixture.diagnosis, (enum pyro_format)99, NULL, &writer, NULL),
                     PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_report_write(&fixture.diagnosis, PYRO_FORMAT_TEXT, &unsized_options, &fixture.writer, NULL),
                     PYRO_ERROR_ARGUMENT);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_fits_its_width),           cmocka_unit_test(text_says_what_matters),
        cmocka_unit_test(text_percentages_add_up),       cmocka_unit_test(healthy_application_is_said_to_be),
        cmocka_unit_test(json_has_the_contract),         cmocka_unit_test(markdown_and_csv_are_escaped),
        cmocka_unit_test(many_reports_are_one_document), cmocka_unit_test(failures_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
