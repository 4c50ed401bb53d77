/* The caller's allocator: everything comes from it, everything goes back, and whichever allocation fails is survived.
 */
#include <stdatomic.h>
#include <sys/stat.h>

#include "kit.h"
#include "model/app.h"
#include "report/shared/web_assets.h"

struct ledger {
    atomic_long live, made;
    long fails_at; /* this allocation and all behind it; 0: none */
};

static bool refused(struct ledger *ledger)
{
    long made = atomic_fetch_add(&ledger->made, 1) + 1;
    return ledger->fails_at && made >= ledger->fails_at;
}

static void *take(void *context, size_t size)
{
    struct ledger *ledger = context;
    if (refused(ledger))
        return NULL;
    void *memory = malloc(size);
    if (memory)
        atomic_fetch_add(&ledger->live, 1);
    return memory;
}

static void *retake(void *context, void *memory, size_t size)
{
    struct ledger *ledger = context;
    if (refused(ledger))
        return NULL;
    void *grown = realloc(memory, size);
    if (grown && !memory)
        atomic_fetch_add(&ledger->live, 1);
    return grown;
}

static void give(void *context, void *memory)
{
    struct ledger *ledger = context;
    if (memory)
        atomic_fetch_sub(&ledger->live, 1);
    free(memory);
}

static int count(void *context, const void *data, size_t len)
{
    (void)data;
    *(size_t *)context += len;
    return 0;
}

static enum pyro_status report(pyro_app *app, const struct pyro_options *options, struct pyro_error *error)
{
    pyro_diagnosis *diagnosis = NULL;
    size_t written = 0;
    struct pyro_writer writer = {sizeof(writer), count, &written};
    enum pyro_status status = pyro_diagnose(app, NULL, options, &diagnosis, error);
    for (unsigned format = 0; status == PYRO_OK && pyro_format_name(format); format++)
        if (format != PYRO_FORMAT_HTML || pyro_web_check(NULL) == PYRO_OK) /* else built without node */
            status = pyro_report_write(diagnosis, (enum pyro_format)format, NULL, &writer, error);
    static const char *const views[] = {"timeline",    "stages/0/0",    "executors", "sql",
                                        "environment", "configuration", "trace",     "sql/0"};
    size_t view_count = sizeof(views) / sizeof(*views) - (app->sql.count == 0);
    for (size_t i = 0; status == PYRO_OK && i < view_count; i++)
        status = pyro_view_write(diagnosis, views[i], NULL, &writer, error);
    if (status == PYRO_OK)
        assert_true(written > 1000);
    pyro_diagnosis_free(diagnosis);
    return status;
}

static enum pyro_status load(const char *path, const struct pyro_load_options *how, const struct pyro_options *options,
                             struct pyro_error *error)
{
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    enum pyro_status status = pyro_inputs_open(&path, 1, how, options, &inputs, error);
    if (status == PYRO_OK && pyro_inputs_count(inputs) == 1)
        status = pyro_app_load(inputs, 0, how, options, &app, error);
    else if (status == PYRO_OK)
        status = PYRO_ERROR_MEMORY; /* it could not look at the file */
    if (status == PYRO_OK)
        status = report(app, options, error);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    return status;
}

static enum pyro_status load_and_report(const char *path, const struct pyro_options *options, struct pyro_error *error)
{
    return load(path, NULL, options, error);
}

static enum pyro_status load_run_and_report(const char *folder, const struct pyro_options *options,
                                            struct pyro_error *error)
{
    const struct pyro_load_options how = {.size = sizeof(how), .artefacts = 1};
    return load(folder, &how, options, error);
}

static enum pyro_status feed_and_report(const char *text, const struct pyro_options *options, struct pyro_error *error)
{
    pyro_decoder *decoder = NULL;
    pyro_app *snapshot = NULL, *app = NULL;
    size_t len = strlen(text), half = len / 2;
    enum pyro_status status = pyro_decoder_new("log", NULL, options, &decoder, error);
    if (status == PYRO_OK)
        status = pyro_decoder_feed(decoder, text, half, error);
    if (status == PYRO_OK)
        status = pyro_decoder_snapshot(decoder, &snapshot, error);
    if (status == PYRO_OK)
        status = pyro_decoder_feed(decoder, text + half, len - half, error);
    if (status == PYRO_OK)
        status = pyro_decoder_finish(decoder, &app, error);
    pyro_decoder_free(decoder);
    if (status == PYRO_OK)
        status = report(app, options, error);
    pyro_app_release(app);
    pyro_app_release(snapshot);
    return status;
}

typedef enum pyro_status attempt(const char *subject, const struct pyro_options *options, struct pyro_error *error);

/* Fails at the first allocation, at the second ... until none is left to fail. */
static void fail_at_each(attempt *run, const char *subject, unsigned threads, long step)
{
    for (long n = 1;; n += step) {
        struct ledger ledger = {.fails_at = n};
        struct pyro_allocator allocator = {sizeof(allocator), take, retake, give, &ledger};
        struct pyro_options options = {.size = sizeof(options), .allocator = &allocator, .threads = threads};
        struct pyro_error error = {.size = sizeof(error)};
        enum pyro_status status = run(subject, &options, &error);
        if (atomic_load(&ledger.live) != 0)
            fail_msg("%ld pieces of memory are lost when allocation %ld fails", atomic_load(&ledger.live), n);
        if (status == PYRO_OK && atomic_load(&ledger.made) >= n)
            fail_msg("allocation %ld fails, and nobody says so", n);
        if (status == PYRO_OK)
            return;
        if (status != PYRO_ERROR_MEMORY)
            fail_msg("allocation %ld fails, and the error is %d: %s", n, (int)status, error.message);
    }
}

static void one_thread(void **state)
{
    (void)state;
    const char *path = kit_path("small");
    kit_write(path, kit_small_log, strlen(kit_small_log));
    fail_at_each(load_and_report, path, 1, 1);
}

static void feeding(void **state)
{
    (void)state;
    fail_at_each(feed_and_report, kit_small_log, 1, 1);
}

static void several_threads(void **state)
{
    (void)state;
    struct pyro_strbuf log;
    const char *path = kit_path("large");
    pyro_strbuf_init(&log, NULL);
    pyro_strbuf_add_text(&log, kit_small_log);
    for (int i = 10; log.len < 3 << 20; i++)
        kit_add_task(&log, i);
    kit_write(path, log.data, log.len);
    pyro_strbuf_done(&log);
    fail_at_each(load_and_report, path, 3, 17);
}

static void without_an_event_log(void **state)
{
    (void)state;
    static const char driver[] =
        "26/01/01 10:00:00 INFO SparkContext: Submitted application: nightly\n"
        "26/01/01 10:00:02 INFO X$DriverEndpoint: Registered executor NettyRpcEndpointRef(spark-client://Executor) "
        "(10.0.0.1:35833) with ID 1,  ResourceProfileId 0\n"
        "26/01/01 10:00:03 INFO DAGScheduler: Got job 0 (collect at etl.py:3) with 1 output partitions\n"
        "26/01/01 10:00:03 INFO DAGScheduler: Submitting 1 missing tasks from ResultStage 0 (MapPartitionsRDD[1])\n"
        "26/01/01 10:00:03 INFO TaskSetManager: Starting task 0.0 in stage 0.0 (TID 0) (h, executor 1, partition 0)\n"
        "26/01/01 10:00:09 WARN TaskSetManager: Lost task 0.0 in stage 0.0 (TID 0) (h executor 1): java.lang.Error: x\n"
        "\tat A.b(A.scala:1)\n"
        "26/01/01 10:00:09 INFO DAGScheduler: ResultStage 0 (collect at etl.py:3) failed in 4.0 s due to Job aborted\n"
        "26/01/01 10:00:09 INFO DAGScheduler: Job 0 failed: collect at etl.py:3, took 6.0 s\n";
    const char *folder = kit_path("run");
    mkdir(folder, 0700);
    kit_write(kit_path("run/driver.log"), driver, sizeof(driver) - 1);
    fail_at_each(load_run_and_report, kit_path("run"), 1, 1);
}

static int clean(void **state)
{
    (void)state;
    kit_clean();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),
        cmocka_unit_test(feeding),
        cmocka_unit_test(several_threads),
        cmocka_unit_test(without_an_event_log),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, clean);
}
