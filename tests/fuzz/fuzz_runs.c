/* What is made of a whole run: the input chooses an event log (made_log.h) and what is asked about it. Rules, reports
 * of every format, predictions, costs, comparisons, gates, exports and pages. The first byte chooses the question, the
 * second its parameters. */
#include "fuzz_kit.h"
#include "json_check.h"
#include "made_log.h"
#include "model/app.h"
#include "pyrometer.h"
#include "report/shared/web_assets.h"

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

/* What one input needs, and the last document. */
struct asking {
    pyro_app *app, *other;
    pyro_diagnosis *diagnosis, *before;
    unsigned parameter;
    struct pyro_strbuf out;
    struct pyro_writer writer;
    struct pyro_error error;
};

static void clear(struct asking *asking)
{
    pyro_strbuf_clear(&asking->out);
}

static void check_json(struct asking *asking)
{
    FUZZ_CHECK(asking->out.len > 0);
    fuzz_check_json(asking->out.data, asking->out.len, true);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static pyro_app *decode(const uint8_t *data, size_t size, uint32_t wanted)
{
    struct pyro_load_options options = {.size = sizeof(options), .wanted = wanted};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf log;
    pyro_decoder *decoder = NULL;
    pyro_app *app = NULL;
    pyro_strbuf_init(&log, NULL);
    made_log_write(data, size, &log);
    FUZZ_CHECK(pyro_decoder_new("log", &options, NULL, &decoder, &error) == PYRO_OK);
    FUZZ_CHECK(pyro_decoder_feed(decoder, log.data, log.len, &error) == PYRO_OK);
    enum pyro_status status = pyro_decoder_finish(decoder, &app, &error);
    FUZZ_CHECK(status == (app ? PYRO_OK : PYRO_ERROR_INPUT));
    pyro_decoder_free(decoder);
    pyro_strbuf_done(&log);
    return app;
}

static void check_accounts(const pyro_app *app)
{
    const struct pyro_numbers *numbers = &app->numbers;
    int64_t wall = 0, core = 0;
    for (int i = 0; i < PYRO_WALL_PARTS; i++) {
        FUZZ_CHECK(numbers->wall_ms[i] >= 0);
        wall += numbers->wall_ms[i];
    }
    for (int i = 0; i < PYRO_CORE_PARTS; i++) {
        FUZZ_CHECK(numbers->core_ms[i] >= 0);
        core += numbers->core_ms[i];
    }
    FUZZ_CHECK(wall == numbers->wall_total_ms && core == numbers->core_total_ms);
    FUZZ_CHECK(app->integrity.confidence >= 0 && app->integrity.confidence <= 1);
}

static pyro_diagnosis *diagnose(pyro_app *app, unsigned threads)
{
    const struct pyro_options options = {.size = sizeof(options), .threads = threads};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_diagnosis *diagnosis = NULL;
    FUZZ_CHECK(pyro_diagnose(app, NULL, &options, &diagnosis, &error) == PYRO_OK);
    for (size_t i = 0; i < pyro_diagnosis_finding_count(diagnosis); i++) {
        struct pyro_finding_info info = {.size = sizeof(info)};
        FUZZ_CHECK(pyro_diagnosis_finding(diagnosis, i, &info) == PYRO_OK);
        FUZZ_CHECK(info.confidence >= 0 && info.confidence <= 1 && info.saves_ms >= 0);
    }
    return diagnosis;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void write_report(struct asking *asking, const pyro_diagnosis *diagnosis, enum pyro_format format)
{
    const struct pyro_report_options options = {.size = sizeof(options),
                                                .details = asking->parameter & 1,
                                                .brief = asking->parameter >> 1 & 1,
                                                .width = asking->parameter >> 2,
                                                .utc_offset_s = 3600};
    clear(asking);
    FUZZ_CHECK(pyro_report_write(diagnosis, format, &options, &asking->writer, &asking->error) == PYRO_OK);
    if (format == PYRO_FORMAT_JSON || format == PYRO_FORMAT_SARIF)
        check_json(asking);
    else
        fuzz_check_text(asking->out.data, asking->out.len);
}

static void ask_reports(struct asking *asking)
{
    for (unsigned format = 0; pyro_format_name(format); format++)
        if (format != PYRO_FORMAT_HTML)
            write_report(asking, asking->diagnosis, (enum pyro_format)format);
}

static void ask_page(struct asking *asking)
{
    static const char *const documents[] = {"whatif", "cost"};
    if (asking->parameter < 8 && pyro_web_check(NULL) == PYRO_OK) {
        write_report(asking, asking->diagnosis, PYRO_FORMAT_HTML);
        return;
    }
    clear(asking);
    enum pyro_status status =
        pyro_page_document(NULL, asking->diagnosis, documents[asking->parameter & 1], &asking->writer, &asking->error);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_ARGUMENT && asking->out.len == 0));
    if (status == PYRO_OK)
        check_json(asking);
}

/* The same with more threads, byte by byte. */
static void ask_threads(struct asking *asking)
{
    pyro_diagnosis *again = diagnose(asking->app, 2);
    struct pyro_strbuf one = asking->out;
    pyro_strbuf_init(&asking->out, NULL);
    write_report(asking, again, PYRO_FORMAT_JSON);
    FUZZ_CHECK(one.len == asking->out.len && memcmp(one.data, asking->out.data, one.len) == 0);
    pyro_strbuf_done(&one);
    pyro_diagnosis_free(again);
}

static void check_scenarios(struct asking *asking, const pyro_whatif *whatif)
{
    for (size_t i = 0; i < pyro_whatif_scenario_count(whatif); i++) {
        struct pyro_scenario_info info = {.size = sizeof(info)};
        FUZZ_CHECK(pyro_whatif_scenario(whatif, i, &info) == PYRO_OK);
        FUZZ_CHECK(info.wall_low_ms >= 0 && info.wall_low_ms <= info.wall_expected_ms &&
                   info.wall_expected_ms <= info.wall_high_ms && info.core_ms >= 0);
        FUZZ_CHECK(!(info.utilization < 0) && !(info.utilization > 1));
    }
    static const enum pyro_format formats[] = {PYRO_FORMAT_TEXT, PYRO_FORMAT_JSON, PYRO_FORMAT_CSV};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        clear(asking);
        FUZZ_CHECK(pyro_whatif_write(whatif, formats[i], NULL, &asking->writer, &asking->error) == PYRO_OK);
        if (formats[i] == PYRO_FORMAT_JSON)
            check_json(asking);
        fuzz_check_text(asking->out.data, asking->out.len);
    }
}

static void ask_whatif(struct asking *asking)
{
    static const char *const values[] = {"1",    "2", "0",     "8",  "true", "false", "64m",
                                         "1000", "3", "100ms", "50", "-1",   "FAIR"};
    char set[2][160];
    struct pyro_whatif_setting_info settings[2] = {{.size = sizeof(*settings)}, {.size = sizeof(*settings)}};
    const char *const set_texts[] = {set[0], set[1]};
    const char *const sweeps[] = {"executors=1..3", "cores=1,2"};
    struct pyro_finding_info finding = {.size = sizeof(finding)};
    struct pyro_whatif_options options = {.size = sizeof(options), .set = set_texts, .set_count = 2};
    pyro_whatif *whatif = NULL;
    for (unsigned i = 0; i < 2; i++) {
        FUZZ_CHECK(pyro_whatif_setting((asking->parameter * (7 * i + 1)) % pyro_whatif_setting_count(), &settings[i]) ==
                   PYRO_OK);
        snprintf(set[i], sizeof(set[i]), "%s=%s", settings[i].key,
                 values[(asking->parameter + i) % (sizeof(values) / sizeof(*values))]);
    }
    if (pyro_whatif_run(asking->diagnosis, &options, NULL, &whatif, &asking->error) == PYRO_OK)
        check_scenarios(asking, whatif);
    pyro_whatif_free(whatif);
    options = (struct pyro_whatif_options){.size = sizeof(options)};
    if (asking->parameter & 1)
        options.sweep = sweeps, options.sweep_count = 2;
    options.plan = asking->parameter >> 1 & 1;
    if (asking->parameter & 4 && pyro_diagnosis_finding_count(asking->diagnosis) > 0) {
        size_t index = asking->parameter % pyro_diagnosis_finding_count(asking->diagnosis);
        FUZZ_CHECK(pyro_diagnosis_finding(asking->diagnosis, index, &finding) == PYRO_OK);
        options.fix = &finding.id, options.fix_count = 1;
    }
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    whatif = NULL;
    if (pyro_whatif_run(asking->diagnosis, &options, &work, &whatif, &asking->error) == PYRO_OK)
        check_scenarios(asking, whatif);
    pyro_whatif_free(whatif);
}

static pyro_prices *prices(void)
{
    static pyro_prices *made;
    if (!made)
        FUZZ_CHECK(pyro_prices_new(NULL, &made, NULL) == PYRO_OK);
    return made;
}

static void ask_cost(struct asking *asking)
{
    static const char *const by[] = {"application", "user",  "queue", "pool",  "platform",
                                     "job",         "stage", "sql",   "group", "property:spark.master"};
    const struct pyro_cost_options options = {.size = sizeof(options),
                                              .prices = asking->parameter & 16 ? NULL : prices(),
                                              .by = by[asking->parameter % (sizeof(by) / sizeof(*by))],
                                              .spot = asking->parameter >> 5 & 1,
                                              .instance = asking->parameter & 64 ? "m5.xlarge" : NULL,
                                              .region = asking->parameter & 64 ? "us-east-1" : NULL,
                                              .interruptions = asking->parameter & 128 ? 0.5 : 0};
    static const enum pyro_format formats[] = {PYRO_FORMAT_TEXT, PYRO_FORMAT_JSON, PYRO_FORMAT_CSV};
    pyro_costs *costs = NULL;
    FUZZ_CHECK(pyro_costs_new(&options, NULL, &costs, &asking->error) == PYRO_OK);
    if (pyro_costs_add(costs, asking->app, &asking->error) == PYRO_OK &&
        (!asking->other || pyro_costs_add(costs, asking->other, &asking->error) == PYRO_OK))
        for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
            clear(asking);
            FUZZ_CHECK(pyro_costs_write(costs, formats[i], NULL, &asking->writer, &asking->error) == PYRO_OK);
            if (formats[i] == PYRO_FORMAT_JSON)
                check_json(asking);
            fuzz_check_text(asking->out.data, asking->out.len);
        }
    pyro_costs_free(costs);
}

static void ask_comparison(struct asking *asking)
{
    static const enum pyro_format formats[] = {PYRO_FORMAT_TEXT, PYRO_FORMAT_JSON, PYRO_FORMAT_MARKDOWN};
    pyro_comparison *comparison = NULL;
    const pyro_diagnosis *before = asking->before ? asking->before : asking->diagnosis;
    FUZZ_CHECK(pyro_compare(before, asking->diagnosis, NULL, &comparison, &asking->error) == PYRO_OK);
    struct pyro_comparison_info info = {.size = sizeof(info)};
    int64_t sum = 0;
    FUZZ_CHECK(pyro_comparison_summary(comparison, &info) == PYRO_OK);
    for (size_t i = 0; i < pyro_comparison_cause_count(comparison); i++) {
        struct pyro_cause_info cause = {.size = sizeof(cause)};
        FUZZ_CHECK(pyro_comparison_cause(comparison, i, &cause) == PYRO_OK);
        sum += cause.ms;
    }
    FUZZ_CHECK(sum == info.after_ms - info.before_ms);
    FUZZ_CHECK(!(info.matched_share < 0) && !(info.matched_share > 1));
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        clear(asking);
        FUZZ_CHECK(pyro_comparison_write(comparison, formats[i], NULL, &asking->writer, &asking->error) == PYRO_OK);
        if (formats[i] == PYRO_FORMAT_JSON)
            fuzz_check_json(asking->out.data, asking->out.len, false);
        fuzz_check_text(asking->out.data, asking->out.len);
    }
    pyro_comparison_free(comparison);
}

static void ask_gate(struct asking *asking)
{
    static const enum pyro_format formats[] = {PYRO_FORMAT_TEXT, PYRO_FORMAT_JSON, PYRO_FORMAT_SARIF,
                                               PYRO_FORMAT_JUNIT};
    const struct pyro_gate_options options = {.size = sizeof(options),
                                              .fail_on = 1 + (int)(asking->parameter & 3),
                                              .baseline = asking->before,
                                              .allow_incomplete = asking->parameter >> 2 & 1};
    pyro_gate *gate = NULL;
    FUZZ_CHECK(pyro_gate_run(asking->diagnosis, &options, &gate, &asking->error) == PYRO_OK);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        clear(asking);
        FUZZ_CHECK(pyro_gate_write(gate, formats[i], NULL, &asking->writer, &asking->error) == PYRO_OK);
        if (formats[i] == PYRO_FORMAT_JSON || formats[i] == PYRO_FORMAT_SARIF)
            fuzz_check_json(asking->out.data, asking->out.len, false);
        fuzz_check_text(asking->out.data, asking->out.len);
    }
    pyro_gate_free(gate);
}

static void ask_views(struct asking *asking)
{
    static const char *const names[] = {"timeline", "executors", "sql", "environment", "configuration", "trace"};
    char name[64];
    for (unsigned i = 0; i < 6 + 8 + 4; i++) {
        if (i < 6)
            snprintf(name, sizeof(name), "%s", names[i]);
        else if (i < 14)
            snprintf(name, sizeof(name), "stages/%u/%u", i - 6, asking->parameter & 1);
        else
            snprintf(name, sizeof(name), "sql/%u", i - 14);
        clear(asking);
        enum pyro_status status = pyro_view_write(asking->diagnosis, name, NULL, &asking->writer, &asking->error);
        FUZZ_CHECK(status == PYRO_OK || (i >= 6 && status == PYRO_ERROR_ARGUMENT && asking->out.len == 0));
        if (status == PYRO_OK)
            check_json(asking);
    }
}

static void ask_findings(struct asking *asking)
{
    for (size_t i = 0; i < pyro_diagnosis_finding_count(asking->diagnosis); i++) {
        struct pyro_finding_info info = {.size = sizeof(info)};
        FUZZ_CHECK(pyro_diagnosis_finding(asking->diagnosis, i, &info) == PYRO_OK);
        clear(asking);
        FUZZ_CHECK(pyro_finding_write(asking->diagnosis, info.id, &asking->writer, &asking->error) == PYRO_OK);
        check_json(asking);
    }
}

static void ask_tables(struct asking *asking)
{
    static const char *const tables[] = {"applications", "jobs",        "stages",   "tasks",      "executors", "sql",
                                         "sql_nodes",    "sql_metrics", "failures", "properties", "rejects",   "rdds"};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        FUZZ_CHECK(pyro_table_export(asking->app, tables[i], NULL, 0, NULL, &stream, &asking->error) == PYRO_OK);
        FUZZ_CHECK(stream.get_schema(&stream, &schema) == 0);
        for (;;) {
            FUZZ_CHECK(stream.get_next(&stream, &batch) == 0);
            if (!batch.release)
                break;
            batch.release(&batch);
        }
        schema.release(&schema);
        stream.release(&stream);
    }
}

typedef void question(struct asking *asking);
static question *const questions[] = {ask_reports, ask_whatif, ask_cost,     ask_comparison, ask_gate,
                                      ask_views,   ask_page,   ask_findings, ask_tables,     ask_threads};
enum { QUESTIONS = sizeof(questions) / sizeof(*questions), TWO_RUNS = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct asking asking = {.error = {.size = sizeof(asking.error)}};
    if (size < 4)
        return 0;
    question *ask = questions[(data[0] & 127) % QUESTIONS];
    size_t half = data[0] & TWO_RUNS ? (size - 2) / 2 : 0;
    asking.parameter = data[1];
    pyro_strbuf_init(&asking.out, NULL);
    asking.writer = (struct pyro_writer){sizeof(asking.writer), append, &asking.out};
    asking.app =
        decode(data + 2 + half, size - 2 - half,
               asking.parameter & 1 ? PYRO_WANT_PLAN_TEXT | PYRO_WANT_TASK_METRICS | PYRO_WANT_PLAN_CHANGES : 0);
    asking.other = half && asking.app ? decode(data + 2, half, 0) : NULL;
    if (asking.app) {
        check_accounts(asking.app);
        asking.diagnosis = diagnose(asking.app, 1);
        if (asking.other)
            asking.before = diagnose(asking.other, 1);
        write_report(&asking, asking.diagnosis, PYRO_FORMAT_JSON);
        ask(&asking);
    }
    pyro_diagnosis_free(asking.diagnosis);
    pyro_diagnosis_free(asking.before);
    pyro_app_release(asking.app);
    pyro_app_release(asking.other);
    pyro_strbuf_done(&asking.out);
    return 0;
}
