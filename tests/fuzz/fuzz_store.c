/* Runs over time: the input chooses up to four event logs (made_log.h), which are diagnosed and recorded in a store in
 * memory, and what is asked of it then: views of fleets, queries, models, suggestions, verdicts, pruning. The first
 * byte chooses the number of runs and whether they are of one application, the second the question, the third its
 * parameters. */
#include <unistd.h>

#include "fuzz_kit.h"
#include "json_check.h"
#include "made_log.h"
#include "pyrometer.h"

enum { MOST_RUNS = 4, SAME_ID = 8, WITHOUT_HISTORY = 16 };

struct asking {
    pyro_store *store;
    pyro_diagnosis *last; /* NULL: no log was a run */
    unsigned parameter;
    struct pyro_strbuf out;
    struct pyro_writer writer;
    struct pyro_error error;
};

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

/* An answer, or a refusal with a message. */
static void check(struct asking *asking, enum pyro_status status, bool json)
{
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_ARGUMENT && asking->error.message[0]));
    if (status == PYRO_OK && json)
        fuzz_check_json(asking->out.data, asking->out.len, false);
    fuzz_check_text(asking->out.data, asking->out.len);
    fuzz_check_text(asking->error.message, strlen(asking->error.message));
    pyro_strbuf_clear(&asking->out);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* Writes the log to a file that has no name; its application is app-1, or app-NUMBER. */
static int write_log(const uint8_t *data, size_t size, unsigned id)
{
    static int fd = -1;
    struct pyro_strbuf log;
    pyro_strbuf_init(&log, NULL);
    made_log_write(data, size, &log);
    char *at = log.len ? memmem(log.data, log.len, "\"app-1\"", 7) : NULL;
    if (at)
        at[5] = (char)('1' + id);
    if (fd < 0)
        fd = memfd_create("log", 0);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, log.data, log.len, 0) == (ssize_t)log.len);
    pyro_strbuf_done(&log);
    return fd;
}

static pyro_diagnosis *diagnose(const uint8_t *data, size_t size, unsigned id, bool history)
{
    const struct pyro_load_options load = {.size = sizeof(load), .history = history};
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    char path[64];
    const char *const paths[] = {path};
    snprintf(path, sizeof(path), "/proc/self/fd/%d", write_log(data, size, id));
    FUZZ_CHECK(pyro_inputs_open(paths, 1, &load, &work, &inputs, &error) == PYRO_OK);
    if (pyro_inputs_count(inputs) > 0 && pyro_app_load(inputs, 0, &load, &work, &app, &error) == PYRO_OK)
        FUZZ_CHECK(pyro_diagnose(app, NULL, &work, &diagnosis, &error) == PYRO_OK);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    return diagnosis;
}

static void record(struct asking *asking, const uint8_t *data, size_t size, unsigned how)
{
    unsigned runs = how % MOST_RUNS + 1;
    size_t part = size / runs;
    for (unsigned i = 0; i < runs; i++) {
        pyro_diagnosis *diagnosis = diagnose(data + i * part, part, how & SAME_ID ? 0 : i, !(how & WITHOUT_HISTORY));
        if (!diagnosis)
            continue;
        enum pyro_status status =
            pyro_store_record(asking->store, diagnosis, i == 1 ? "nightly" : NULL, &asking->error);
        /* Another run of the same id stays. */
        FUZZ_CHECK(status == PYRO_OK || strncmp(asking->error.message, "id-conflict:", 12) == 0);
        pyro_diagnosis_free(asking->last);
        asking->last = diagnosis;
    }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void ask_view(struct asking *asking)
{
    static const char *const by[] = {NULL,   "application", "user", "status", "spark.executor.memory",
                                     "type", "tag.x",       "date", "x"};
    static const char *const values[] = {NULL, "input_bytes", "agg.stages.inputBytes.max", "core_ms", "name"};
    size_t views = 0;
    while (pyro_fleet_view_name(views))
        views++;
    const char *view = pyro_fleet_view_name(asking->parameter % views);
    unsigned rest = asking->parameter / (unsigned)views;
    struct pyro_fleet_options options = {.size = sizeof(options)};
    if (pyro_fleet_view_takes(view, "by"))
        options.by = by[rest % (sizeof(by) / sizeof(*by))];
    if (pyro_fleet_view_takes(view, "value"))
        options.value = values[rest % (sizeof(values) / sizeof(*values))];
    options.app = rest & 8 ? "made" : NULL;
    for (unsigned format = PYRO_FORMAT_TEXT; format <= PYRO_FORMAT_CSV; format++)
        check(asking,
              pyro_fleet_view(asking->store, view, &options, (enum pyro_format)format, NULL, NULL, &asking->writer,
                              &asking->error),
              format == PYRO_FORMAT_JSON);
}

static void ask_query(struct asking *asking)
{
    static const char *const questions[] = {
        "{\"from\":\"runs\",\"fields\":[\"app_id\",\"name\",\"user\",\"status\",\"path\",\"queue\"]}",
        "{\"from\":\"findings\",\"fields\":[\"id\",\"rule\",\"title\",\"cause\",\"saves_ms\"]}",
        "{\"from\":\"usage\",\"group\":[{\"field\":\"user\"}],\"measures\":[{\"as\":\"n\",\"op\":\"count\"},{\"as\":"
        "\"s\",\"op\":"
        "\"sum\",\"field\":\"core_ms\"}]}",
        "{\"from\":\"allocations\",\"fields\":[\"core_ms\",\"mib_ms\",\"parts\"]}",
        "{\"from\":\"advice\",\"fields\":[\"rule\",\"key\",\"previous\",\"value\"]}",
        "{\"from\":\"suggestions\",\"fields\":[\"id\",\"state\",\"document\"]}",
        "{\"from\":\"days\",\"fields\":[\"application\",\"runs\",\"core_ms\"]}",
        "{\"from\":\"errors\",\"fields\":[\"app_id\",\"message\",\"raw\"]}",
        "{\"from\":\"runs\",\"group\":[{\"field\":\"application\"}],\"measures\":[{\"as\":\"m\",\"op\":\"max\","
        "\"field\":"
        "\"duration_ms\"},{\"as\":\"a\",\"op\":\"mean\",\"field\":\"agg.stages.inputBytes.max\"}]}",
        "{\"from\":\"runs\",\"fields\":[\"name\",\"agg.tasks.count\",\"property.spark.executor.memory\"]}",
    };
    const struct pyro_store_query_options viewer = {.size = sizeof(viewer), .user = "ann", .always = 1};
    enum pyro_status status =
        pyro_store_query(asking->store, questions[asking->parameter % (sizeof(questions) / sizeof(*questions))],
                         asking->parameter & 128 ? &viewer : NULL, &asking->writer, &asking->error);
    if (status != PYRO_OK)
        fprintf(stderr, "%s\n", asking->error.message);
    FUZZ_CHECK(status == PYRO_OK);
    check(asking, status, true);
}

static void ask_model(struct asking *asking)
{
    enum pyro_format format = asking->parameter & 1 ? PYRO_FORMAT_JSON : PYRO_FORMAT_TEXT;
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    check(asking, pyro_fleet_model_write(asking->store, "made", 1, format, &work, &asking->writer, &asking->error),
          format == PYRO_FORMAT_JSON);
}

static void ask_suggestion(struct asking *asking)
{
    const struct pyro_suggest_options options = {.size = sizeof(options),
                                                 .input_bytes = asking->parameter & 1 ? 1 << 30 : 0,
                                                 .deadline_ms = asking->parameter & 2 ? 60000 : 0,
                                                 .max_cost = asking->parameter & 4 ? 1 : 0,
                                                 .without_logs = 1};
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    pyro_suggestion *suggestion = NULL;
    enum pyro_status status = pyro_suggest(asking->store, "made", &options, &work, &suggestion, &asking->error);
    check(asking, status, false);
    for (int format = PYRO_SUGGESTION_TEXT; suggestion && format <= PYRO_SUGGESTION_SPARK_DEFAULTS; format++)
        check(asking,
              pyro_suggestion_write(suggestion, (enum pyro_suggestion_format)format, &asking->writer, &asking->error),
              format == PYRO_SUGGESTION_JSON);
    if (suggestion)
        check(asking, pyro_suggestion_record(asking->store, suggestion, &asking->error), false);
    pyro_suggestion_free(suggestion);
    check(asking,
          pyro_suggest_all(asking->store, &options, PYRO_SUGGESTION_JSON, &work, &asking->writer, &asking->error),
          status == PYRO_OK);
}

static void ask_verdicts(struct asking *asking)
{
    struct pyro_finding_info finding = {.size = sizeof(finding)};
    size_t count = asking->last ? pyro_diagnosis_finding_count(asking->last) : 0;
    if (count == 0)
        return;
    FUZZ_CHECK(pyro_diagnosis_finding(asking->last, asking->parameter % count, &finding) == PYRO_OK);
    const struct pyro_feedback verdict = {.size = sizeof(verdict),
                                          .verdict = (enum pyro_feedback_verdict)(asking->parameter >> 5 & 1),
                                          .application = asking->parameter & 64 ? "made" : NULL,
                                          .finding = finding.id,
                                          .note = "token=" MADE_SECRET};
    check(asking, pyro_store_add_feedback(asking->store, &verdict, &asking->error), false);
    check(asking, pyro_store_apply_feedback(asking->store, asking->last, &asking->error), false);
    check(asking, pyro_report_write(asking->last, PYRO_FORMAT_JSON, NULL, &asking->writer, &asking->error), true);
}

static void ask_prune(struct asking *asking)
{
    const struct pyro_prune_options options = {.size = sizeof(options),
                                               .keep_ms = asking->parameter & 1 ? 1000 : 0,
                                               .keep_aggregates_ms = asking->parameter & 2 ? 5000 : 0,
                                               .most_bytes = asking->parameter & 4 ? 1 << 16 : 0,
                                               .dry_run = asking->parameter >> 3 & 1};
    check(asking, pyro_store_prune(asking->store, &options, &asking->writer, &asking->error), true);
    check(asking, pyro_store_stat(asking->store, &asking->writer, &asking->error), true);
    ask_view(asking);
}

static int count_run(void *context, const struct pyro_past_run *run)
{
    ++*(size_t *)context;
    FUZZ_CHECK(run->end_ms >= run->start_ms && run->core_ms >= 0);
    return 0;
}

static void ask_baseline(struct asking *asking)
{
    struct pyro_baseline baseline = {.size = sizeof(baseline)};
    size_t runs = 0;
    check(asking, pyro_store_baseline(asking->store, "nightly", &baseline, &asking->error), false);
    if (baseline.report)
        fuzz_check_json(baseline.report, strlen(baseline.report), true);
    check(asking, pyro_store_each_run(asking->store, count_run, &runs, &asking->error), false);
    FUZZ_CHECK(runs <= MOST_RUNS);
}

typedef void question(struct asking *asking);
static question *const questions[] = {ask_view,       ask_view,     ask_query, ask_model,
                                      ask_suggestion, ask_verdicts, ask_prune, ask_baseline};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct asking asking = {.error = {.size = sizeof(asking.error)}};
    if (size < 5)
        return 0;
    pyro_strbuf_init(&asking.out, NULL);
    asking.writer = (struct pyro_writer){sizeof(asking.writer), append, &asking.out};
    asking.parameter = data[2];
    FUZZ_CHECK(pyro_store_open("sqlite::memory:", NULL, NULL, &asking.store, &asking.error) == PYRO_OK);
    record(&asking, data + 3, size - 3, data[0]);
    questions[data[1] % (sizeof(questions) / sizeof(*questions))](&asking);
    pyro_diagnosis_free(asking.last);
    pyro_store_close(asking.store);
    pyro_strbuf_done(&asking.out);
    return 0;
}
