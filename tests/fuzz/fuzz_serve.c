/* The server without sockets: the input chooses up to four requests, which go through all of it but libmicrohttpd
 * (fake_httpd.h): paths of both APIs, of the web pages and of agents, with parameters, headers, bodies and uploads. It
 * serves two small logs and a store of one run. */
#include <ftw.h>
#include <unistd.h>

#include "base/memory/arena.h"
#include "fake_httpd.h"
#include "fuzz_kit.h"
#include "json_check.h"
#include "made_log.h"
#include "pyrometer.h"

enum { MOST_REQUESTS = 4, TEXT_BYTES = 300 };

struct reading {
    const uint8_t *at, *end;
    struct pyro_arena arena;
};

static unsigned next(struct reading *reading)
{
    return reading->at < reading->end ? *reading->at++ : 0;
}

#define CHOOSE(reading, array) (array)[next(reading) % (sizeof(array) / sizeof(*(array)))]

/* ---- The server -------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/pyrometer-fuzz-serve-XXXXXX";
static pyro_server *server;

static int remove_entry(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found, (void)kind, (void)place;
    return remove(path);
}

static void stop(void)
{
    pyro_server_stop(server);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_log(const char *name, unsigned seed, const char *id)
{
    uint8_t bytes[300];
    char path[128];
    struct pyro_strbuf log;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i == 0 ? 0 : (uint8_t)((seed = seed * 1103515245 + 12345) >> 24 & (i % 3 ? 0x3f : 0x1f));
    pyro_strbuf_init(&log, NULL);
    made_log_write(bytes, sizeof(bytes), &log);
    char *at = memmem(log.data, log.len, "app-1", 5);
    FUZZ_CHECK(at);
    memcpy(at, id, 5);
    snprintf(path, sizeof(path), "%s/logs/%s", folder, name);
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(log.data, 1, log.len, file) == log.len && fclose(file) == 0);
    pyro_strbuf_done(&log);
}

static void record(const char *url)
{
    char path[128];
    const char *const paths[] = {path};
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    pyro_store *store = NULL;
    snprintf(path, sizeof(path), "%s/logs/one", folder);
    FUZZ_CHECK(pyro_inputs_open(paths, 1, NULL, NULL, &inputs, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_app_load(inputs, 0, NULL, NULL, &app, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_diagnose(app, NULL, NULL, &diagnosis, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_store_open(url, NULL, NULL, &store, NULL) == PYRO_OK);
    FUZZ_CHECK(pyro_store_record(store, diagnosis, NULL, NULL) == PYRO_OK);
    pyro_store_close(store);
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
}

/* False: this build has no server. */
static bool start(void)
{
    static char store[128], logs[128];
    const char *const folders[] = {logs, store};
    const struct pyro_server_options options = {.size = sizeof(options),
                                                .update_ms = 3600000,
                                                .store = store,
                                                .uploads_count = 16,
                                                .uploads_bytes = 1 << 24,
                                                .uploads_free_bytes = 1,
                                                .max_upload_bytes = 1 << 20,
                                                .user_cpu_s = 1 << 20};
    if (!fake_httpd_install())
        return false;
    FUZZ_CHECK(mkdtemp(folder));
    snprintf(logs, sizeof(logs), "%s/logs", folder);
    snprintf(store, sizeof(store), "sqlite:%s/runs.db", folder);
    FUZZ_CHECK(mkdir(logs, 0700) == 0);
    write_log("one", 7, "app-1");
    write_log("two", 9, "app-2");
    record(store);
    FUZZ_CHECK(pyro_server_start(folders, 2, &options, &server, NULL) == PYRO_OK);
    atexit(stop);
    return true;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

#define APP(path) "/api/v1/applications/{app}/" path
#define OWN(path) "/pyrometer/v1/applications/{id}/{attempt}/" path

static const char *const spark_paths[] = {
#define ROUTE(path, handler, scope) ROUTE_##scope(path)
#define ROUTE_ROOT(path)            "/api/v1/" path,
#define ROUTE_APP(path)             APP(path),
#define ROUTE_FILE(path)            APP(path),
#include "serve/spark/routes.def"
#undef ROUTE
#undef ROUTE_ROOT
#undef ROUTE_APP
#undef ROUTE_FILE
};
static const struct {
    const char *method, *path, *parameters;
} own_paths[] = {
#define ROUTE(method, path, handler, scope, class, parameters) {#method, ROUTE_##scope(path), parameters},
#define ROUTE_ROOT(path)                                       "/pyrometer/v1/" path
#define ROUTE_APP(path)                                        OWN(path)
#include "serve/api/routes.def"
#undef ROUTE
#undef ROUTE_ROOT
#undef ROUTE_APP
};

static const char *const values[] = {"",
                                     "1",
                                     "-1",
                                     "0",
                                     "app-1",
                                     "app-2",
                                     "2",
                                     "true",
                                     "9223372036854775808",
                                     "completed",
                                     "made",
                                     "user",
                                     "*",
                                     "../../..",
                                     "%00",
                                     "x,y",
                                     "1..3",
                                     "application",
                                     "spark.executor.cores=2",
                                     "folded",
                                     "nan",
                                     "\xff\xfe",
                                     ("made?token=" MADE_SECRET),
                                     "sqlite:/nowhere/x.db",
                                     "2024-01-01T00:00:00.000GMT",
                                     "(a+)+$"};

/* Bytes of the input as a text without NUL. */
static const char *any_text(struct reading *reading)
{
    char text[TEXT_BYTES];
    size_t len = 0;
    for (unsigned most = next(reading); len < most && len < sizeof(text) - 1 && reading->at < reading->end; len++)
        text[len] = (char)(*reading->at ? *reading->at : 1), reading->at++;
    return pyro_arena_printf(&reading->arena, "%.*s", (int)len, text).ptr;
}

static const char *a_value(struct reading *reading)
{
    unsigned byte = next(reading);
    return byte > 240 ? any_text(reading) : values[byte % (sizeof(values) / sizeof(*values))];
}

/* The path with what its places stand for. */
static const char *fill(struct reading *reading, const char *path)
{
    static const char *const apps[] = {"app-1/1", "app-2/1", "app-1/1", "app-2",
                                       "app-9",   "",        "..",      "app-1~1700000000000"};
    static const char *const ids[] = {"app-1", "app-2", "app-1", "app-2", "app-9", "."};
    static const char *const attempts[] = {"1", "1", "1", "-", "2"};
    struct pyro_strbuf filled;
    pyro_strbuf_init(&filled, NULL);
    for (const char *at = path; *at;) {
        size_t plain = strcspn(at, "{");
        pyro_strbuf_add(&filled, at, plain);
        at += plain;
        if (*at != '{')
            break;
        const char *place = strncmp(at, "{app}", 5) == 0       ? CHOOSE(reading, apps)
                            : strncmp(at, "{id}", 4) == 0      ? CHOOSE(reading, ids)
                            : strncmp(at, "{attempt}", 9) == 0 ? CHOOSE(reading, attempts)
                            : at[1] == '#'                     ? values[1 + next(reading) % 3]
                                                               : a_value(reading);
        pyro_strbuf_add_text(&filled, place);
        at += strcspn(at, "}") + 1;
    }
    const char *kept = pyro_arena_copy(&reading->arena, pyro_strbuf_slice(&filled)).ptr;
    const char *ended = pyro_arena_printf(&reading->arena, "%.*s", (int)filled.len, kept ? kept : "").ptr;
    pyro_strbuf_done(&filled);
    return ended;
}

static void add_parameter(struct reading *reading, struct fake_request *request, const char *name)
{
    if (request->parameter_count < FAKE_PARAMETERS)
        request->parameters[request->parameter_count++] = (struct fake_pair){name, a_value(reading)};
}

/* Of those that the route knows, and others. */
static void choose_parameters(struct reading *reading, struct fake_request *request, const char *known)
{
    static const char *const others[] = {"status", "limit",  "offset",  "details", "withSummaries",   "quantiles",
                                         "sortBy", "length", "minDate", "x",       "planDescription", ""};
    for (unsigned count = next(reading) & 3; count > 0; count--) {
        const char *name = known;
        for (unsigned skip = next(reading) & 7; skip > 0 && name; skip--)
            name = strchr(name, ' ') ? strchr(name, ' ') + 1 : NULL;
        if (name && *name)
            add_parameter(reading, request,
                          pyro_arena_printf(&reading->arena, "%.*s", (int)strcspn(name, " *"), name).ptr);
        else
            add_parameter(reading, request, CHOOSE(reading, others));
    }
}

static void choose_body(struct reading *reading, struct fake_request *request)
{
    static const char *const bodies[] = {
        "{\"finding\":\"none\",\"verdict\":\"confirmed\",\"note\":\"token=" MADE_SECRET "\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"diagnose\",\"arguments\":{\"app\":\"app-1\"}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"query\",\"arguments\":{\"app\":\"app-2\",\"statement\":\"SELECT * FROM "
        "stages\"}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"what_if\",\"arguments\":{\"app\":\"app-1\",\"executors\":-4}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"fleet\",\"arguments\":{\"view\":\"usage\",\"by\":7}}}",
        "[]",
        "{",
        ""};
    unsigned kind = next(reading);
    struct pyro_strbuf log;
    struct pyro_slice body;
    pyro_strbuf_init(&log, NULL);
    if (kind < 64) {
        made_log_write(reading->at, (size_t)(reading->end - reading->at), &log);
        reading->at = reading->end;
        body = pyro_arena_copy(&reading->arena, pyro_strbuf_slice(&log));
    } else {
        body = pyro_slice_from(kind < 96 ? any_text(reading) : bodies[kind % (sizeof(bodies) / sizeof(*bodies))]);
    }
    pyro_strbuf_done(&log);
    request->body = body.ptr;
    request->body_len = body.len;
}

static void add_header(struct fake_request *request, const char *name, const char *value)
{
    if (request->header_count < FAKE_HEADERS)
        request->headers[request->header_count++] = (struct fake_pair){name, value};
}

static void choose_headers(struct reading *reading, struct fake_request *request)
{
    static const struct fake_pair headers[] = {{"Accept-Encoding", "gzip"},
                                               {"Accept-Encoding", "gzip;q=0, *;q=0.5"},
                                               {"If-None-Match", "*"},
                                               {"If-None-Match", "W/\"x\", \"y\""},
                                               {"Origin", "http://evil.example"},
                                               {"Origin", "http://127.0.0.1"},
                                               {"Host", "evil.example"},
                                               {"Content-Length", "7"},
                                               {"Content-Length", "99999999999"},
                                               {"Transfer-Encoding", "chunked"},
                                               {"Expect", "100-continue"},
                                               {"Range", "bytes=5-"},
                                               {"Authorization", "Bearer " MADE_SECRET},
                                               {"Cookie", "pyrometer=x; y"},
                                               {"Accept", "text/event-stream"},
                                               {"Mcp-Session-Id", "x"},
                                               {"Sec-Fetch-Site", "cross-site"},
                                               {"User-Agent", ""},
                                               {"Bad Name", "x"},
                                               {"X", "\x01"}};
    static const char *const types[] = {"application/json", "application/x-www-form-urlencoded", "text/plain",
                                        "multipart/form-data; boundary=x"};
    unsigned byte = next(reading);
    add_header(request, "Host", "127.0.0.1");
    for (unsigned count = byte < 176 ? 0 : byte & 3; count > 0; count--) {
        struct fake_pair one = CHOOSE(reading, headers);
        add_header(request, one.name, one.value);
    }
    if (request->body_len)
        add_header(request, "Content-Type", CHOOSE(reading, types));
}

static void choose(struct reading *reading, struct fake_request *request)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};
    static const char *const pages[] = {"/metrics", "/",      "/history/app-1/jobs/",  "/history/", "/index.html",
                                        "/mcp",     "/login", "/pyrometer/v1/uploads", "/../x",     ""};
    enum { SPARK = sizeof(spark_paths) / sizeof(*spark_paths), OWN_PATHS = sizeof(own_paths) / sizeof(*own_paths) };
    unsigned kind = next(reading), method = next(reading);
    const char *known = "";
    *request = (struct fake_request){.method = "GET"};
    if (kind < 100) {
        request->path = fill(reading, spark_paths[kind % SPARK]);
    } else if (kind < 230) {
        unsigned row = (kind - 100) % OWN_PATHS;
        request->method = own_paths[row].method;
        request->path = fill(reading, own_paths[row].path);
        known = own_paths[row].parameters;
    } else if (kind < 250) {
        request->path = kind % 2 ? CHOOSE(reading, pages) : "/mcp";
        request->method = kind % 2 ? "GET" : "POST";
    } else {
        request->path = any_text(reading);
    }
    if (method > 200)
        request->method = methods[method % (sizeof(methods) / sizeof(*methods))];
    choose_parameters(reading, request, known);
    if (strcmp(request->method, "POST") == 0 || strcmp(request->method, "PUT") == 0)
        choose_body(reading, request);
    choose_headers(reading, request);
}

static void check(const struct fake_request *request, const struct fake_answer *answer)
{
    bool raw = fuzz_ends(request->path, "/logs"); /* the log itself, as Spark's server hands it out */
    bool compressed = answer->body.len > 1 && memcmp(answer->body.data, "\x1f\x8b", 2) == 0;
    bool head = strcmp(request->method, "HEAD") == 0;
    if (raw || compressed || !answer->body.len || strncmp(answer->type, "image/", 6) == 0 ||
        strncmp(answer->type, "font/", 5) == 0)
        return;
    if (answer->status == 200 && !head && strncmp(answer->type, "application/json", 16) == 0)
        fuzz_check_json(answer->body.data, answer->body.len, false);
    else if (answer->status == 400) /* repeats what the request itself says, as Spark's server does */
        FUZZ_CHECK(fuzz_is_utf8(answer->body.data, answer->body.len));
    else if (strncmp(answer->type, "text/", 5) == 0)
        fuzz_check_text(answer->body.data, answer->body.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int works = -1;
    struct reading reading = {.at = data, .end = data + size};
    if (works < 0)
        works = start();
    if (!works)
        return 0;
    pyro_arena_init(&reading.arena, NULL);
    for (int i = 0; i < MOST_REQUESTS && reading.at < reading.end; i++) {
        struct fake_request request;
        struct fake_answer answer;
        choose(&reading, &request);
        fake_httpd_send(&request, &answer);
        check(&request, &answer);
        pyro_strbuf_done(&answer.body);
    }
    pyro_arena_done(&reading.arena);
    return 0;
}
