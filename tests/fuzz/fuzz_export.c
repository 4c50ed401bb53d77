/* Logs for others: the input chooses an event log (made_log.h) with further events whose texts are private words in any
 * neighborhood. The export has none of them, and says the same of the run. Also evaluations: a manifest that the bytes
 * choose, of two made logs. The first byte chooses which of the two, the second how many further events. */
#include <ftw.h>
#include <unistd.h>

#include "fuzz_kit.h"
#include "json_check.h"
#include "made_log.h"
#include "model/app.h"
#include "pyrometer.h"

enum { MOST_PRIVATE = 8, MOST_WORDS = 12 };

/* Words that no vocabulary has, a number, and addresses. */
#define WORD   "qx7privat"
#define NUMBER "4915112345678"
static const char *const private_texts[] = {WORD,        "qx7",       "privat", NUMBER,
                                            "10.77.3.2", "fe80::7:2", "corpx",  MADE_SECRET};

struct reading {
    const uint8_t *at, *end;
};

static unsigned next(struct reading *reading)
{
    return reading->at < reading->end ? *reading->at++ : 0;
}

#define CHOOSE(reading, array) (array)[next(reading) % (sizeof(array) / sizeof(*(array)))]

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

/* ---- Private texts ----------------------------------------------------------------------------------------------- */

/* Nothing of these is the name of a class of public code: what follows one is kept as a part of it. */
static void add_text(struct reading *reading, struct pyro_strbuf *log)
{
    static const char *const parts[] = {WORD,
                                        WORD,
                                        NUMBER,
                                        " ",
                                        ".",
                                        "/",
                                        "=",
                                        ":",
                                        "-",
                                        "_",
                                        "(",
                                        ")",
                                        "\\n",
                                        "\\\"",
                                        "\\\\",
                                        "\\u0041",
                                        "\\u00e9",
                                        "\\u2028",
                                        "\\t",
                                        "7",
                                        "10.77.3.2",
                                        "fe80::7:2",
                                        "select ",
                                        "org.apache.spark." WORD,
                                        "org.apache.hadoop.fs." WORD ".x",
                                        "ann@corpx.example",
                                        "hashpartitioning(a",
                                        "#",
                                        "failed 4 times",
                                        "'",
                                        "@",
                                        ",",
                                        "$",
                                        "\xc3\xa9",
                                        "x.scala:12 ",
                                        "00:1b:44:11:3a:b7",
                                        "s3a://corpx/" WORD "/dt=2024-01-02/"};
    pyro_strbuf_add_text(log, "\"on ");
    for (unsigned count = next(reading) % MOST_WORDS; count > 0; count--)
        pyro_strbuf_add_text(log, CHOOSE(reading, parts));
    pyro_strbuf_add_char(log, '"');
}

/* An event of Spark, whose members may be anything. */
static void add_private(struct reading *reading, struct pyro_strbuf *log)
{
    static const char *const events[] = {
        "SparkListenerEnvironmentUpdate", "SparkListenerJobEnd",
        "SparkListenerTaskEnd",           "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        "SparkListenerUnheardOf",         WORD};
    static const char *const keys[] = {"Host",
                                       "description",
                                       "spark.driver.host",
                                       "physicalPlanDescription",
                                       "User",
                                       "Properties",
                                       "spark.blockManager.port",
                                       "PushedFilters",
                                       WORD,
                                       "x." WORD "." NUMBER,
                                       "sqlText",
                                       "simpleString"};
    pyro_strbuf_printf(log, "{\"Event\":\"%s\"", CHOOSE(reading, events));
    for (unsigned count = 1 + next(reading) % 4; count > 0; count--) {
        unsigned form = next(reading);
        pyro_strbuf_printf(log, ",\"%s\":", CHOOSE(reading, keys));
        pyro_strbuf_add_text(log, form & 1 ? "{\"" WORD "\":[" : form & 2 ? "[[" : "");
        add_text(reading, log);
        if (form & 4) {
            pyro_strbuf_add_text(log, form & 3 ? "," : "");
            if (form & 3)
                add_text(reading, log);
        }
        pyro_strbuf_add_text(log, form & 1 ? "]}" : form & 2 ? "]]" : "");
    }
    pyro_strbuf_add_text(log, next(reading) > 250 ? "\n" : "}\n");
}

/* ---- An export --------------------------------------------------------------------------------------------------- */

static int write_file(const char *bytes, size_t len, int fd)
{
    if (fd < 0)
        fd = memfd_create("log", 0);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, len, 0) == (ssize_t)len);
    return fd;
}

static pyro_inputs *open_log(int fd)
{
    char path[64];
    const char *const paths[] = {path};
    pyro_inputs *inputs = NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    FUZZ_CHECK(pyro_inputs_open(paths, 1, NULL, NULL, &inputs, NULL) == PYRO_OK);
    return inputs;
}

static pyro_app *load(const pyro_inputs *inputs)
{
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    pyro_app *app = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_inputs_count(inputs) > 0 && pyro_app_load(inputs, 0, NULL, &work, &app, &error) != PYRO_OK)
        return NULL;
    return app;
}

static void check_private(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof(private_texts) / sizeof(*private_texts); i++) {
        const char *at = memmem(text, len, private_texts[i], strlen(private_texts[i]));
        if (at)
            fprintf(stderr, "private: %.*s\n", (int)(text + len - at < 60 ? text + len - at : 60),
                    at - (at - text < 60 ? at - text : 60));
        FUZZ_CHECK(!at);
    }
}

/* Texts as a program reads them, so that no escape hides a word. */
static void check_texts(const json_t *value)
{
    const char *key;
    json_t *member;
    if (json_is_string(value))
        check_private(json_string_value(value), json_string_length(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        check_texts(json_array_get(value, i));
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        check_private(key, strlen(key));
        check_texts(member);
    }
}

static size_t check_records(const struct pyro_strbuf *out)
{
    size_t count = 0;
    for (size_t at = 0; at < out->len; count++) {
        const char *end = memchr(out->data + at, '\n', out->len - at);
        FUZZ_CHECK(end);
        size_t len = (size_t)(end - out->data) - at;
        json_error_t error;
        json_t *record = json_loadb(out->data + at, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
        if (!record)
            fprintf(stderr, "%s: %.*s\n", error.text, (int)len, out->data + at);
        FUZZ_CHECK(json_is_object(record));
        check_texts(record);
        json_decref(record);
        at += len + 1;
    }
    return count;
}

/* Names are others; what happened is the same. */
static void check_same(const pyro_app *app, const pyro_app *exported)
{
    FUZZ_CHECK(!app == !exported);
    if (!app)
        return;
    FUZZ_CHECK(app->numbers.wall_total_ms == exported->numbers.wall_total_ms);
    FUZZ_CHECK(app->numbers.core_total_ms == exported->numbers.core_total_ms);
    FUZZ_CHECK(memcmp(app->numbers.wall_ms, exported->numbers.wall_ms, sizeof(app->numbers.wall_ms)) == 0);
    const struct pyro_integrity *before = &app->integrity, *after = &exported->integrity;
    FUZZ_CHECK(before->tasks_started == after->tasks_started && before->tasks_ended == after->tasks_ended);
    FUZZ_CHECK(before->events_missing == after->events_missing && before->truncated == after->truncated);
}

static void export(const char *log, size_t len)
{
    static int original = -1, shared = -1;
    struct pyro_export_counts counts = {.size = sizeof(counts)};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf out;
    pyro_strbuf_init(&out, NULL);
    const struct pyro_writer writer = {sizeof(writer), append, &out};
    original = write_file(log, len, original);
    pyro_inputs *inputs = open_log(original);
    pyro_app *app = load(inputs);
    if (pyro_inputs_count(inputs) > 0) {
        enum pyro_status status = pyro_export_anonymized(inputs, 0, NULL, NULL, &writer, &counts, &error);
        FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
        FUZZ_CHECK(status == PYRO_OK || !app);
        check_private(out.data ? out.data : "", out.len);
        FUZZ_CHECK(check_records(&out) == counts.records);
    }
    if (app) {
        shared = write_file(out.data, out.len, shared);
        pyro_inputs *again = open_log(shared);
        pyro_app *exported = load(again);
        check_same(app, exported);
        pyro_app_release(exported);
        pyro_inputs_close(again);
    }
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    pyro_strbuf_done(&out);
}

/* ---- An evaluation ----------------------------------------------------------------------------------------------- */

static char folder[48];

static int remove_entry(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found, (void)kind, (void)place;
    return remove(path);
}

static void stop(void)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_named(const char *name, const struct pyro_strbuf *text)
{
    char path[80];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(text->len ? text->data : "", 1, text->len, file) == text->len && fclose(file) == 0);
}

static void add_entry(struct reading *reading, struct pyro_strbuf *manifest)
{
    static const char *const members[] = {"\"file\":\"a.log\"",
                                          "\"file\":\"b.log\"",
                                          "\"file\":\"../b.log\"",
                                          "\"file\":\"\"",
                                          "\"file\":7",
                                          "\"file\":\".\"",
                                          "\"repaired\":\"b.log\"",
                                          "\"repaired\":\"../../etc/passwd\"",
                                          "\"repaired\":[]",
                                          "\"expected\":[\"data-skew\",\"idle-executors\",\"failed-job\"]",
                                          "\"expected\":[\"no-such-rule\",7,[\"x\"]]",
                                          "\"expected\":\"data-skew\"",
                                          "\"allowed\":[\"idle-executors\",null]",
                                          "\"split\":\"test\"",
                                          "\"split\":{}",
                                          "\"healthy\":true",
                                          "\"healthy\":\"x\"",
                                          "\"x\":{\"y\":[1,2]}"};
    pyro_strbuf_add_text(manifest, "{\"file\":\"a.log\"");
    for (unsigned count = next(reading) % 6; count > 0; count--)
        pyro_strbuf_printf(manifest, ",%s", CHOOSE(reading, members));
    pyro_strbuf_add_text(manifest, "}");
}

static void evaluate(struct reading *reading, const char *log, size_t len)
{
    static const enum pyro_format formats[] = {PYRO_FORMAT_JSON, PYRO_FORMAT_TEXT, PYRO_FORMAT_MARKDOWN};
    struct pyro_strbuf text;
    struct pyro_error error = {.size = sizeof(error)};
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "/tmp/pyrometer-fuzz-export-XXXXXX");
        FUZZ_CHECK(mkdtemp(folder));
        atexit(stop);
    }
    pyro_strbuf_init(&text, NULL);
    pyro_strbuf_add(&text, log, len);
    write_named("a.log", &text);
    text.len -= text.len / 3; /* an earlier end */
    write_named("b.log", &text);
    pyro_strbuf_clear(&text);
    unsigned form = next(reading);
    pyro_strbuf_add_text(&text, form & 1 ? "[" : "{\"logs\":[");
    for (unsigned i = 0; i < 1 + form / 64; i++) {
        pyro_strbuf_add_text(&text, i ? ",\n" : "");
        add_entry(reading, &text);
    }
    pyro_strbuf_add_text(&text, form & 1 ? "]" : "]}");
    write_named("manifest.json", &text);
    const struct pyro_evaluate_options wanted = {.size = sizeof(wanted), .split = form & 2 ? "test" : NULL};
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    const struct pyro_writer writer = {sizeof(writer), append, &text};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        pyro_strbuf_clear(&text);
        enum pyro_status status = pyro_evaluate(folder, &wanted, &work, formats[i], &writer, &error);
        FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
        fuzz_check_text(text.len ? text.data : "", text.len);
        if (status == PYRO_OK && formats[i] == PYRO_FORMAT_JSON)
            fuzz_check_json(text.data, text.len, false);
    }
    pyro_strbuf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading reading = {.at = data + 2, .end = data + size};
    struct pyro_strbuf log;
    if (size < 4)
        return 0;
    size_t half = (size - 2) / 2;
    pyro_strbuf_init(&log, NULL);
    reading.end = data + 2 + half;
    if (!(data[0] & 1))
        for (unsigned count = data[1] % MOST_PRIVATE; count > 0; count--)
            add_private(&reading, &log);
    made_log_write(data + 2 + half, size - 2 - half, &log);
    if (data[0] & 1)
        evaluate(&reading, log.data, log.len);
    else
        export(log.data, log.len);
    pyro_strbuf_done(&log);
    return 0;
}
