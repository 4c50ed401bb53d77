/* The whole way of an event log: fed in pieces that the input chooses, with snapshots between them, to every report and
 * an SQL query. Fed at once it gives the same report, byte by byte. The first byte chooses the pieces, the second what
 * else is done. */
#include "base/strings/strbuf.h"
#include "fuzz_kit.h"
#include "model/app.h"
#include "pyrometer.h"
#include "report/shared/web_assets.h"

enum { SNAPSHOTS = 1, SHORT_RECORDS = 2, PLAN_TEXTS = 4, FORMATS = 8, QUERY = 16 };

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

static int count(void *context, const void *data, size_t len)
{
    (void)data;
    *(size_t *)context += len;
    return 0;
}

static void check_parts(const struct pyro_app *app)
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

/* Every line is an event, a rejected record or blank. */
static void check_lines(const struct pyro_app *app, const uint8_t *data, size_t size, size_t longest)
{
    uint64_t lines = 0, blank = 0, events = 0;
    for (size_t at = 0; at < size; lines++) {
        const uint8_t *newline = memchr(data + at, '\n', size - at);
        size_t len = newline ? (size_t)(newline - data) - at : size - at, used = 0;
        while (used < len && data[at + used] && strchr(" \t\r", data[at + used]))
            used++;
        blank += used == len && len <= longest;
        at += len + 1;
    }
    for (size_t i = 0; i < app->integrity.events.count; i++)
        events += app->integrity.events.items[i].count;
    FUZZ_CHECK(app->integrity.bytes == size && app->integrity.lines == lines);
    FUZZ_CHECK(events + app->integrity.bad_lines + blank == lines);
    FUZZ_CHECK(app->rejects.count == app->integrity.bad_lines_kept && app->rejects.count <= app->integrity.bad_lines);
}

static void render(const pyro_diagnosis *diagnosis, enum pyro_format format, struct pyro_strbuf *out)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = {sizeof(writer), append, out};
    struct pyro_report_options options = {.size = sizeof(options), .details = 1};
    pyro_strbuf_clear(out);
    FUZZ_CHECK(pyro_report_write(diagnosis, format, &options, &writer, &error) == PYRO_OK);
    FUZZ_CHECK(fuzz_is_utf8(out->data, out->len));
}

static void query(pyro_app *app, unsigned choice)
{
    static const char *const statements[] = {
        "SELECT * FROM tasks",
        "SELECT * FROM jobs j LEFT JOIN stages s ON s.job = j.id ORDER BY 1, 2",
        "SELECT * FROM sql_nodes n LEFT JOIN sql_metrics m ON m.sql = n.sql AND m.node = n.node",
        "SELECT * FROM executors e LEFT JOIN tasks t ON t.executor = e.id",
        "SELECT * FROM failures",
        "SELECT * FROM properties",
        "SELECT * FROM rejects LEFT JOIN attributes",
        "SELECT * FROM applications, rdds, streams, sql",
    };
    enum { STATEMENTS = sizeof(statements) / sizeof(*statements) };
    struct pyro_error error = {.size = sizeof(error)};
    size_t bytes = 0;
    struct pyro_writer writer = {sizeof(writer), count, &bytes};
    FUZZ_CHECK(pyro_sql_query(app, statements[choice % STATEMENTS], (enum pyro_format)(choice / STATEMENTS % 4), NULL,
                              &writer, &error) == PYRO_OK);
}

/* Feeds the log and returns the application, or NULL where there is none; pieces of random length up to `piece`. */
static pyro_app *decode(const uint8_t *data, size_t size, const struct pyro_load_options *options, size_t piece,
                        unsigned char seed, bool snapshots)
{
    pyro_decoder *decoder = NULL;
    pyro_app *app = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    uint32_t random = seed;
    bool refused = false;
    FUZZ_CHECK(pyro_decoder_new("log", options, NULL, &decoder, &error) == PYRO_OK);
    for (size_t at = 0, step; at < size; at += step) {
        random = random * 1103515245 + 12345;
        step = 1 + (random >> 16) % piece;
        step = step < size - at ? step : size - at;
        /* Its own copy: code that keeps a pointer to it is found. */
        uint8_t *copy = malloc(step);
        FUZZ_CHECK(copy);
        memcpy(copy, data + at, step);
        FUZZ_CHECK(pyro_decoder_feed(decoder, copy, step, &error) == PYRO_OK);
        free(copy);
        if (snapshots && (random >> 8) % 16 == 0) {
            enum pyro_status seen = pyro_decoder_snapshot(decoder, &app, &error);
            FUZZ_CHECK(seen == (app ? PYRO_OK : PYRO_ERROR_INPUT));
            refused |= !app; /* logs of two applications: they stay refused */
            if (app)
                check_parts(app);
            pyro_app_release(app);
            app = NULL;
        }
    }
    enum pyro_status status = pyro_decoder_finish(decoder, &app, &error);
    FUZZ_CHECK(status == (app ? PYRO_OK : PYRO_ERROR_INPUT) && !(refused && app));
    pyro_decoder_free(decoder);
    return app;
}

static void report_json(pyro_app *app, unsigned flags, struct pyro_strbuf *out)
{
    pyro_diagnosis *diagnosis = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    FUZZ_CHECK(pyro_diagnose(app, NULL, NULL, &diagnosis, &error) == PYRO_OK);
    if (flags & FORMATS)
        for (unsigned format = 0; pyro_format_name(format); format++)
            if (format != PYRO_FORMAT_HTML || pyro_web_check(NULL) == PYRO_OK) /* else built without node */
                render(diagnosis, (enum pyro_format)format, out);
    render(diagnosis, PYRO_FORMAT_JSON, out);
    pyro_diagnosis_free(diagnosis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 7, 100, 5000};
    if (size < 2)
        return 0;
    unsigned flags = data[1];
    unsigned char seed = data[0];
    struct pyro_load_options options = {.size = sizeof(options)};
    if (flags & SHORT_RECORDS)
        options.max_record_bytes = 4096; /* the least there is */
    if (flags & PLAN_TEXTS)
        options.wanted = PYRO_WANT_PLAN_TEXT | PYRO_WANT_TASK_METRICS;
    data += 2;
    size -= 2;
    pyro_app *whole = decode(data, size, &options, SIZE_MAX, 0, false);
    pyro_app *parts = decode(data, size, &options, pieces[seed % 4], seed, flags & SNAPSHOTS);
    FUZZ_CHECK(!whole == !parts);
    if (whole) {
        struct pyro_strbuf a, b;
        pyro_strbuf_init(&a, NULL);
        pyro_strbuf_init(&b, NULL);
        check_parts(whole);
        check_lines(whole, data, size, flags & SHORT_RECORDS ? 4096 : SIZE_MAX);
        report_json(whole, flags, &a);
        report_json(parts, 0, &b);
        FUZZ_CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        if (flags & QUERY)
            query(parts, seed / 4);
        pyro_strbuf_done(&a);
        pyro_strbuf_done(&b);
    }
    pyro_app_release(whole);
    pyro_app_release(parts);
    return 0;
}
