/* The caller's allocator: everything comes from it, everything goes back, and whichever allocation fails is survived.
 */
#include <stdatomic.h>

#include "kit.h"
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
    static const char *const views[] = {"timeline", "stages/0/0",  "executors",    "sql",
                                        "sql/0",    "environment", "configuration"};
    for (size_t i = 0; status == PYRO_OK && i < sizeof(views) / sizeof(*views); i++)
        status = pyro_view_write(diagnosis, views[i], NULL, &writer, error);
    if (status == PYRO_OK)
        assert_true(written > 1000);
    pyro_diagnosis_free(diagnosis);
    return status;
}

static enum pyro_status load_and_report(const char *path, const struct pyro_options *options, struct pyro_error *error)
{
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    enum pyro_status status = pyro_inputs_open(&path, 1, NULL, options, &inputs, error);
    if (status == PYRO_OK && pyro_inputs_count(inputs) == 1)
        status = pyro_app_load(inputs, 0, NULL, options, &app, error);
    else if (status == PYRO_OK)
        status = PYRO_ERROR_MEMORY; /* it could not look at the file */
    if (status == PYRO_OK)
        status = report(app, options, error);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    return status;
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
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, clean);
}
