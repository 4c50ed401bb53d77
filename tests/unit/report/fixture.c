#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings/intern.h"
#include "text/escape.h"

static int collect(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

/* INT columns at `none`, the rest zero. */
#define UNKNOWN_INT(field)                 row->field = PYRO_NONE;
#define UNKNOWN_REAL(field)                row->field = NAN;
#define UNKNOWN_TEXT(field)                row->field = PYRO_SLICE_NULL;
#define PYRO_COLUMN(name, type, unit, doc) UNKNOWN_##type(name)
static void clear_stage(struct pyro_stage *row)
{
#include "model/tables/stages.def"
}
static void clear_executor(struct pyro_executor *row)
{
#include "model/tables/executors.def"
}
static void clear_job(struct pyro_job *row)
{
#include "model/tables/jobs.def"
}
#undef PYRO_COLUMN

static void add_stages(struct pyro_app *app, size_t tasks)
{
    for (int64_t i = 0; i < 2; i++) {
        struct pyro_stage *stage = pyro_vec_push(&app->stages, NULL);
        clear_stage(stage);
        stage->id = i + 4;
        stage->attempt = 0;
        stage->name = i ? PYRO_SLICE_LITERAL("join at etl.py:88") : PYRO_SLICE_LITERAL(HOSTILE);
        stage->call_site = PYRO_SLICE_LITERAL("etl.py:88");
        stage->status = i ? PYRO_SLICE_LITERAL("succeeded") : PYRO_SLICE_LITERAL("failed");
        stage->submitted_ms = 1000 * i;
        stage->completed_ms = 1000 * i + 600000;
        stage->tasks = (int64_t)tasks / 2;
        stage->task_ms = 1000000 * (i + 1);
        stage->duration_median = 800;
        stage->duration_max = 240000;
        stage->input_bytes = (int64_t)5 << 30;
    }
    int64_t row[PYRO_TASK_COLUMN_COUNT] = {0};
    for (size_t i = 0; i < tasks; i++) {
        row[PYRO_TASK_id] = (int64_t)i;
        row[PYRO_TASK_stage] = 4 + (int64_t)(i % 2);
        row[PYRO_TASK_executor] = pyro_intern(app->strings, pyro_slice_from(i % 3 ? "1" : "2"));
        row[PYRO_TASK_run_ms] = (int64_t)i * 10;
        row[PYRO_TASK_partition] = PYRO_NONE;
        assert_true(pyro_task_table_append(&app->tasks, row));
    }
    assert_true(pyro_task_table_seal(&app->tasks));
}

static void add_rest(struct pyro_app *app)
{
    static const char *const ids[] = {"1", "2"};
    for (size_t i = 0; i < 2; i++) {
        struct pyro_executor *executor = pyro_vec_push(&app->executors, NULL);
        clear_executor(executor);
        executor->id = pyro_slice_from(ids[i]);
        executor->host = i ? PYRO_SLICE_LITERAL("worker-2") : PYRO_SLICE_LITERAL(HOSTILE);
        executor->cores = 4;
        executor->busy_ms = 900000;
    }
    struct pyro_job *job = pyro_vec_push(&app->jobs, NULL);
    clear_job(job);
    job->id = 0;
    job->name = PYRO_SLICE_LITERAL("save at etl.py:90");
    static const char *const names[] = {"SparkListenerTaskEnd", "SparkListenerJobEnd", "com.acme.Odd\x1b[2J"};
    for (size_t i = 0; i < 3; i++) {
        struct pyro_event_count *event = pyro_vec_push(&app->integrity.events, NULL);
        *event = (struct pyro_event_count){pyro_slice_from(names[i]), 10 + i, i < 2};
    }
    *(struct pyro_slice *)pyro_vec_push(&app->integrity.notes, NULL) = PYRO_SLICE_LITERAL("cut at\nbyte 12\x1b[1m");
    struct pyro_reject *reject = pyro_vec_push(&app->rejects, NULL);
    *reject = (struct pyro_reject){.line = 7, .offset = 99, .reason = PYRO_SLICE_LITERAL("not JSON")};
}

static void set_numbers(struct pyro_app *app)
{
    struct pyro_numbers *numbers = &app->numbers;
    numbers->wall_total_ms = 2700000;
    numbers->wall_ms[PYRO_WALL_DRIVER] = 900001;
    numbers->wall_ms[PYRO_WALL_COMPUTE] = 900001;
    numbers->wall_ms[PYRO_WALL_GC] = 899998;
    numbers->core_total_ms = 21600000;
    numbers->core_ms[PYRO_CORE_COMPUTE] = 21600000;
    numbers->executor_heap_peak_bytes = (int64_t)3 << 30;
    numbers->executor_heap_limit_bytes = (int64_t)4 << 30;
    numbers->executor_heap_used_share = 0.75;
    numbers->driver_heap_peak_bytes = numbers->driver_heap_limit_bytes = PYRO_NONE;
    numbers->cache_hit_share = NAN;
    numbers->jobs = 1;
    numbers->stages = 2;
    numbers->executors = 2;
}

static struct pyro_finding *make_finding(struct fixture *fixture)
{
    static struct pyro_evidence evidence[] = {{"slowest_task_ms", 252000, 18000, "ms"},
                                              {"bytes_ratio", 21, NAN, "ratio"}};
    static struct pyro_setting setting = {{"spark.sql.adaptive.skewJoin.enabled", 35}, {"true", 4}};
    static struct pyro_advice advice = {
        .text = {"=salt the join key | `now`", 26}, .settings = &setting, .setting_count = 1};
    fixture->rule = (struct pyro_rule){.id = "data-skew", .category = "skew", .title = "Data skew"};
    struct pyro_finding *finding = calloc(1, sizeof(*finding));
    *finding = (struct pyro_finding){.rule = &fixture->rule,
                                     .id = PYRO_SLICE_LITERAL("data-skew-1"),
                                     .severity = PYRO_SEVERITY_CRITICAL,
                                     .confidence = 0.93,
                                     .title = PYRO_SLICE_LITERAL("Data skew"),
                                     .job = PYRO_NONE,
                                     .stage = 5,
                                     .attempt = 0,
                                     .sql = PYRO_NONE,
                                     .call_site = PYRO_SLICE_LITERAL(HOSTILE),
                                     .cause = PYRO_SLICE_LITERAL("90 % of the data processed by 2 of 200 tasks"),
                                     .evidence = evidence,
                                     .evidence_count = 2,
                                     .advice = &advice,
                                     .advice_count = 1,
                                     .saves = {540000, 660000, 840000, 0.6, PYRO_NONE, 0, 0, PYRO_BASIS_NONE},
                                     .costs = {700000, PYRO_NONE}};
    fixture->diagnosis.config_changes = calloc(1, sizeof(setting));
    fixture->diagnosis.config_changes[0] = setting;
    fixture->diagnosis.changes = calloc(1, sizeof(*fixture->diagnosis.changes));
    fixture->diagnosis.changes[0] = (struct pyro_change){.key = setting.key, .value = setting.value};
    fixture->diagnosis.change_count = 1;
    fixture->diagnosis.config_change_count = 1;
    return finding;
}

void fixture_init(struct fixture *fixture, size_t tasks, bool healthy)
{
    memset(fixture, 0, sizeof(*fixture));
    struct pyro_app *app = fixture->app = pyro_app_new(NULL);
    assert_non_null(app);
    app->path = PYRO_SLICE_LITERAL("logs/app-1");
    app->application.id = PYRO_SLICE_LITERAL("app-1");
    app->application.name = healthy ? PYRO_SLICE_LITERAL("daily_etl_pipeline") : PYRO_SLICE_LITERAL(HOSTILE);
    app->application.status = PYRO_SLICE_LITERAL("completed");
    app->application.start_ms = 1767225600000;
    app->application.duration_ms = 2700000;
    app->application.exit_code = PYRO_NONE;
    app->integrity.confidence = 1;
    app->integrity.lines = 12345;
    add_stages(app, tasks);
    add_rest(app);
    set_numbers(app);
    app->numbers.tasks = (int64_t)tasks;
    app->sealed = true;
    fixture->diagnosis.app = app;
    pyro_arena_init(&fixture->diagnosis.arena, NULL);
    fixture->diagnosis.outcomes = calloc(pyro_rule_count + 1, sizeof(*fixture->diagnosis.outcomes));
    for (size_t i = 0; i < pyro_rule_count; i++)
        fixture->diagnosis.outcomes[i] = (struct pyro_rule_outcome){pyro_rules[i], PYRO_VERDICT_QUIET};
    if (!healthy) {
        fixture->diagnosis.findings = make_finding(fixture);
        fixture->diagnosis.finding_count = 1;
    }
    pyro_strbuf_init(&fixture->out, NULL);
    fixture->error.size = sizeof(fixture->error);
    fixture->writer = (struct pyro_writer){sizeof(struct pyro_writer), collect, &fixture->out};
}

void fixture_done(struct fixture *fixture)
{
    free(fixture->diagnosis.outcomes);
    free(fixture->diagnosis.findings);
    free(fixture->diagnosis.config_changes);
    free(fixture->diagnosis.changes);
    pyro_arena_done(&fixture->diagnosis.arena);
    pyro_strbuf_done(&fixture->out);
    pyro_app_release(fixture->app);
}

const char *fixture_report(struct fixture *fixture, enum pyro_format format, const struct pyro_report_options *options)
{
    pyro_strbuf_clear(&fixture->out);
    assert_int_equal(pyro_report_write(&fixture->diagnosis, format, options, &fixture->writer, &fixture->error),
                     PYRO_OK);
    assert_non_null(fixture->out.data);
    return fixture->out.data;
}

void assert_lines(const char *text, size_t columns)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        if (pyro_utf8_columns((struct pyro_slice){text, len}) > columns)
            fail_msg("more than %zu columns: %.*s", columns, (int)len, text);
        const char *end = text + len;
        for (const char *p = text; p < end;) {
            uint32_t code = pyro_utf8_next(&p, end);
            if (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x202E)
                fail_msg("control character U+%04X: %.*s", (unsigned)code, (int)len, text);
        }
        text += len + (text[len] == '\n');
    }
}

size_t count_of(const char *hay, const char *needle)
{
    size_t count = 0;
    for (const char *p = hay; (p = strstr(p, needle)); p += strlen(needle))
        count++;
    return count;
}
