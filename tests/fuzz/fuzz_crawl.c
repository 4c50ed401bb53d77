/* Crawls, and addresses as inputs, without sockets: the input chooses what servers answer (fake_servers.h). The first
 * byte chooses what is done with them, the second the configuration. A crawl loses no log: each one that was listed is
 * in the store, among its errors, or was not wanted; and the same answers give the same store. */
#include <ftw.h>
#include <unistd.h>

#include "fake_opensearch.h"
#include "fake_servers.h"
#include "fake_waits.h"
#include "fuzz_kit.h"
#include "json_check.h"
#include "made_log.h"
#include "pyrometer.h"
#include "store/store.h"

enum { MOST_EVENTS = 4096, MOST_ROWS = 256 };

static char folder[48]; /* of the stores; in memory where that can be: each crawl makes one */

/* ---- What a crawl says ------------------------------------------------------------------------------------------- */

struct told {
    size_t events, listed, stored, skipped, failed, conflicts, enrich, late, unreachable, waiting;
    char sources[2][256]; /* their labels */
    size_t source_count;
};

static void check_text(const char *text)
{
    if (text)
        fuzz_check_text(text, strlen(text));
}

static void note_source(struct told *told, const char *source)
{
    for (size_t i = 0; i < told->source_count; i++)
        if (strcmp(told->sources[i], source) == 0)
            return;
    FUZZ_CHECK(told->source_count < 2 && strlen(source) < sizeof(told->sources[0]));
    strcpy(told->sources[told->source_count++], source);
}

static void take_event(void *context, const struct pyro_crawl_event *event)
{
    struct told *told = context;
    const char *const texts[] = {event->source,  event->log,  event->application,
                                 event->attempt, event->step, event->message};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        check_text(texts[i]);
    FUZZ_CHECK(++told->events < MOST_EVENTS && pyro_crawl_event_name(event->kind));
    switch (event->kind) {
    case PYRO_CRAWL_LISTED:
        note_source(told, event->source);
        told->listed += (size_t)event->count;
        break;
    case PYRO_CRAWL_STORED:
        FUZZ_CHECK(event->application && event->log && event->wall_ms >= 0);
        told->stored++;
        break;
    case PYRO_CRAWL_SKIPPED:
        told->skipped++;
        break;
    case PYRO_CRAWL_FAILED:
        FUZZ_CHECK(event->step && event->message && event->message[0]);
        told->enrich += strcmp(event->step, "enrich") == 0;
        told->conflicts += strncmp(event->message, "id-conflict:", 12) == 0;
        told->failed += event->tries > 0;
        break;
    case PYRO_CRAWL_LATE:
        told->late++;
        break;
    case PYRO_CRAWL_UNREACHABLE:
        told->unreachable++;
        break;
    case PYRO_CRAWL_WAITING:
        told->waiting++;
        break;
    case PYRO_CRAWL_PASSED:
    case PYRO_CRAWL_STOPPING:
        break;
    }
}

/* ---- What the store has ------------------------------------------------------------------------------------------ */

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the rows of an answer in the order of their texts. Returns how many there are. */
static size_t add_rows(pyro_store *store, const char *question, struct pyro_strbuf *ret)
{
    struct pyro_strbuf answer;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_strbuf_init(&answer, NULL);
    const struct pyro_writer writer = {sizeof(writer), append, &answer};
    if (pyro_store_query(store, question, NULL, &writer, &error) != PYRO_OK)
        fprintf(stderr, "%s: %s\n", question, error.message);
    FUZZ_CHECK(error.code == PYRO_OK);
    fuzz_check_json(answer.data, answer.len, false);
    json_t *document = json_loadb(answer.data, answer.len, JSON_ALLOW_NUL, NULL);
    const json_t *rows = json_object_get(document, "rows");
    size_t count = json_array_size(rows);
    char *texts[MOST_ROWS];
    FUZZ_CHECK(json_is_array(rows) && count <= MOST_ROWS);
    for (size_t i = 0; i < count; i++)
        texts[i] = json_dumps(json_array_get(rows, i), JSON_ENCODE_ANY);
    qsort(texts, count, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < count; i++) {
        pyro_strbuf_printf(ret, "%s\n", texts[i]);
        free(texts[i]);
    }
    json_decref(document);
    pyro_strbuf_done(&answer);
    return count;
}

/* No secret, whether it is asked for or not. */
static void check_file(const char *path)
{
    static char bytes[4 << 20];
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    FUZZ_CHECK(!file || fclose(file) == 0);
    FUZZ_CHECK(len < sizeof(bytes) && !memmem(bytes, len, MADE_SECRET, strlen(MADE_SECRET)));
}

static int check_report(void *context, const struct pyro_stored_run *run)
{
    struct pyro_strbuf report;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_strbuf_init(&report, NULL);
    FUZZ_CHECK(pyro_store_report(context, run->app_id, run->attempt, &report, &error) == PYRO_OK);
    fuzz_check_json(report.data, report.len, true);
    pyro_strbuf_done(&report);
    return 0;
}

/* Every log of each source came to an end. */
static void check_work(pyro_store *store, const struct told *told, enum pyro_status status)
{
    void *state;
    const struct pyro_work_backend *work = pyro_store_work(store, &state);
    size_t items = 0, done = 0, failed = 0;
    for (size_t i = 0; i < told->source_count; i++) {
        struct pyro_work_counts counts;
        struct pyro_error error = {.size = sizeof(error)};
        FUZZ_CHECK(work->counts(state, pyro_slice_from(told->sources[i]), &counts, &error) == PYRO_OK);
        FUZZ_CHECK(counts.items[PYRO_WORK_LEASED] == 0);
        FUZZ_CHECK(counts.items[PYRO_WORK_NEW] == 0 || status != PYRO_OK);
        for (unsigned state_of = 0; state_of <= PYRO_WORK_DEAD; state_of++)
            items += (size_t)counts.items[state_of];
        done += (size_t)counts.items[PYRO_WORK_DONE];
        failed += (size_t)(counts.items[PYRO_WORK_FAILED] + counts.items[PYRO_WORK_DEAD]);
    }
    /* An item that is listed twice in one list, with other times, is new twice. */
    FUZZ_CHECK(items <= told->listed && (items > 0) == (told->listed > 0));
    FUZZ_CHECK(done == told->stored + told->skipped && failed == told->failed + told->conflicts);
}

/* Appends what the store says, without when that was. */
static void look_at_store(const char *url, const struct told *told, bool again, enum pyro_status status,
                          struct pyro_strbuf *ret)
{
    pyro_store *store = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    FUZZ_CHECK(pyro_store_open(url, NULL, NULL, &store, &error) == PYRO_OK);
    size_t runs =
        add_rows(store,
                 "{\"from\":\"runs\",\"fields\":[\"app_id\",\"attempt\",\"name\",\"user\",\"start_ms\","
                 "\"end_ms\",\"status\",\"core_ms\",\"confidence\",\"path\",\"application\",\"type\",\"version\","
                 "\"tag\",\"queue\",\"input_bytes\",\"source\",\"is_final_attempt\"]}",
                 ret);
    size_t errors = add_rows(store,
                             "{\"from\":\"errors\",\"fields\":[\"app_id\",\"attempt\",\"source\",\"step\",\"type\","
                             "\"message\",\"raw\",\"tries\"]}",
                             ret);
    add_rows(store, "{\"from\":\"findings\",\"fields\":[\"app_id\",\"attempt\",\"id\",\"title\",\"cause\"]}", ret);
    add_rows(store, "{\"from\":\"cluster\",\"fields\":[\"source\",\"name\",\"value\"]}", ret);
    FUZZ_CHECK(pyro_store_each_stored(store, check_report, store, &error) == PYRO_OK);
    if (!again) {
        FUZZ_CHECK(runs <= told->stored && (runs > 0) == (told->stored > 0));
        FUZZ_CHECK(errors == told->failed + told->enrich + told->conflicts);
        check_work(store, told, status);
    }
    pyro_store_close(store);
    check_file(url + strlen("sqlite:"));
}

/* ---- A crawl ----------------------------------------------------------------------------------------------------- */

static const char *const configurations[] = {
    "sources:\n  - " FAKE_HISTORY "\n",
    "sources:\n  - url: " FAKE_HISTORY "\n    remote: rest\n    user: ann\n    password: env:FUZZ_PASSWORD\n"
    "classification:\n  - match: '^Standardisation (\\S+) (\\S+)'\n    application: $2\n    type: s\n    version: $1\n"
    "    tags: {dataset: $2}\n",
    "sources:\n  - url: " FAKE_HISTORY "\n    token: env:FUZZ_PASSWORD\n  - LOGS\nstill: 1s\nenrichers:\n"
    "  - yarn: " FAKE_YARN "\n    ids: app\n    timeout: 6d\n    cache: 0s\n"
    "  - http: " FAKE_TAGS "/{app_id}/{attempt}?name={name}&user={user}\n    timeout: 6d\n    cache: 6d\n"
    "    tags: {team: '{/team}', first: '{/list/0/a}'}\n    queue: '{/queue}'\n"
    "    aggregates: {cost: '{/cost} * 2 / {agg.stages.inputBytes.max}', when: 'date({/when})'}\n"
    "  - menas: " FAKE_MENAS "\n    user: ann\n    password: env:FUZZ_PASSWORD\n    timeout: 6d\n",
    "sources:\n  - url: " FAKE_HISTORY "\n    remote: log\n  - LOGS\nmin_end_date: 2023-11-14T22:13:00\n",
};
enum { CONFIGURATIONS = sizeof(configurations) / sizeof(*configurations) };

static enum pyro_status crawl(const char *url, unsigned how, bool broken, struct told *told)
{
    char config[80];
    struct pyro_error error = {.size = sizeof(error)};
    snprintf(config, sizeof(config), "%s/%u.yaml", folder, how % CONFIGURATIONS);
    const struct pyro_crawl_options wanted = {.size = sizeof(wanted),
                                              .store = url,
                                              .config = config,
                                              .jobs = 1,
                                              .once = 1,
                                              .timeout_s = 1 << 20,
                                              .retry_errors = how >> 4 & 1,
                                              .recompute = how >> 5 & 1,
                                              .event = take_event,
                                              .event_context = told};
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    enum pyro_status status = pyro_crawl(&wanted, &work, &error);
    check_text(error.message);
    check_text(error.path);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && told->unreachable > 0 && error.message[0]) ||
               (status == PYRO_ERROR_OUTPUT && broken && error.message[0]));
    FUZZ_CHECK(broken || (told->late == 0 && told->waiting == 0));
    return status;
}

static void remove_store(const char *url)
{
    static const char *const more[] = {"", "-wal", "-shm", "-journal"};
    char path[160];
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        snprintf(path, sizeof(path), "%s%s", url + strlen("sqlite:"), more[i]);
        unlink(path);
    }
}

/* One crawl or, as it takes twice the time, two: the same one into another store, or again into the same. */
static void crawl_often(const uint8_t *data, size_t size, unsigned how, unsigned times)
{
    struct told told[2] = {{0}, {0}};
    struct pyro_strbuf rows[2];
    char urls[2][80];
    bool same = how >> 6 & 1;
    for (unsigned i = 0; i < times; i++) {
        snprintf(urls[i], sizeof(urls[i]), "sqlite:%s/%u.db", folder, same ? 0 : i);
        pyro_strbuf_init(&rows[i], NULL);
        fake_servers_start(data, size, false);
        enum pyro_status status = crawl(urls[i], how, false, &told[i]);
        look_at_store(urls[i], &told[i], same && i == 1, status, &rows[i]);
    }
    if (!same && times == 2) {
        if (rows[0].len != rows[1].len || (rows[0].len && memcmp(rows[0].data, rows[1].data, rows[0].len) != 0))
            fprintf(stderr, "first:\n%.*ssecond:\n%.*s", (int)rows[0].len, rows[0].data, (int)rows[1].len,
                    rows[1].data);
        FUZZ_CHECK(pyro_slice_eq(pyro_strbuf_slice(&rows[0]), pyro_strbuf_slice(&rows[1])));
        FUZZ_CHECK(told[0].stored == told[1].stored && told[0].failed == told[1].failed);
        FUZZ_CHECK(told[0].skipped == told[1].skipped && told[0].listed == told[1].listed);
    }
    for (unsigned i = 0; i < times; i++) {
        pyro_strbuf_done(&rows[i]);
        remove_store(urls[i]);
    }
}

/* ---- A store on OpenSearch --------------------------------------------------------------------------------------- */

static size_t count_work(const char *state)
{
    return fake_opensearch_count("pyro-work", "state", state);
}

/* What else a store is asked. Whatever it answers, that is not a lack of memory. */
static void ask_search(const char *url, unsigned how)
{
    const struct pyro_prune_options prune = {
        .size = sizeof(prune), .keep_ms = 1000, .keep_aggregates_ms = how & 1 ? 5000 : 0, .dry_run = how >> 1 & 1};
    static const char questions[][140] = {
        "{\"from\":\"runs\",\"fields\":[\"app_id\",\"name\",\"start_ms\",\"agg.tasks.count\",\"tag.team\"]}",
        "{\"from\":\"runs\",\"group\":[{\"field\":\"application\"}],\"measures\":[{\"as\":\"n\",\"op\":\"count\"}]}"};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf out;
    pyro_store *store = NULL;
    pyro_strbuf_init(&out, NULL);
    const struct pyro_writer writer = {sizeof(writer), append, &out};
    enum pyro_status status = pyro_store_open(url, NULL, NULL, &store, &error);
    FUZZ_CHECK(status == PYRO_OK || (status != PYRO_ERROR_MEMORY && error.message[0]));
    if (status == PYRO_OK) {
        FUZZ_CHECK(pyro_store_prune(store, &prune, &writer, &error) != PYRO_ERROR_MEMORY);
        FUZZ_CHECK(pyro_store_stat(store, &writer, &error) != PYRO_ERROR_MEMORY);
        FUZZ_CHECK(pyro_store_query(store, questions[how >> 2 & 1], NULL, &writer, &error) != PYRO_ERROR_MEMORY);
    }
    check_text(error.message);
    fuzz_check_text(out.len ? out.data : "", out.len);
    pyro_store_close(store);
    pyro_strbuf_done(&out);
}

/* A crawl into a store that gives right answers, or any. */
static void crawl_into_search(const uint8_t *data, size_t size, unsigned how, bool broken)
{
    struct told told = {0};
    struct pyro_strbuf all;
    const char *url = "opensearch:" FAKE_SEARCH "/pyro";
    fake_opensearch_start();
    fake_servers_start(data, size, broken);
    enum pyro_status status = crawl(url, how, broken, &told);
    if (!broken) {
        size_t done = count_work("done"), failed = count_work("failed") + count_work("dead");
        FUZZ_CHECK(count_work("leased") == 0 && (count_work("new") == 0 || status != PYRO_OK));
        FUZZ_CHECK(done == told.stored + told.skipped && failed == told.failed + told.conflicts);
        FUZZ_CHECK(fake_opensearch_count("pyro-agg", NULL, NULL) <= told.stored);
        FUZZ_CHECK((fake_opensearch_count("pyro-agg", NULL, NULL) > 0) == (told.stored > 0));
        FUZZ_CHECK(fake_opensearch_count("pyro-err", NULL, NULL) == told.failed + told.conflicts + told.enrich);
    }
    ask_search(url, how >> 2);
    pyro_strbuf_init(&all, NULL);
    fake_opensearch_dump(&all);
    fuzz_check_text(all.data, all.len);
    pyro_strbuf_done(&all);
}

/* ---- Addresses as inputs ----------------------------------------------------------------------------------------- */

static void diagnose(const pyro_inputs *inputs, size_t i, const struct pyro_load_options *load)
{
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf report;
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    enum pyro_status status = pyro_app_load(inputs, i, load, &work, &app, &error);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
    check_text(error.message);
    if (status != PYRO_OK)
        return;
    pyro_strbuf_init(&report, NULL);
    const struct pyro_writer writer = {sizeof(writer), append, &report};
    FUZZ_CHECK(pyro_diagnose(app, NULL, &work, &diagnosis, &error) == PYRO_OK);
    FUZZ_CHECK(pyro_report_write(diagnosis, PYRO_FORMAT_JSON, NULL, &writer, &error) == PYRO_OK);
    fuzz_check_json(report.data, report.len, true);
    pyro_strbuf_done(&report);
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
}

static void read_addresses(unsigned how)
{
    static const char *const addresses[] = {
        FAKE_HISTORY,
        FAKE_HISTORY "/history/app-1/jobs/",
        FAKE_HISTORY "/history/app-3/2/stages/?x=y",
        FAKE_HISTORY "/api/v1/applications/app-1/1/logs",
        FAKE_HISTORY "/api/v1/applications/app-1",
        FAKE_HISTORY "/jobs/",
        FAKE_HISTORY "/proxy/a",
        "http://ann:" MADE_SECRET "@history.example:18080/history/app-1",
        FAKE_HISTORY "/api/v1/applications/app-1/logs?Signature=" MADE_SECRET,
        FAKE_HISTORY "/api/v1",
    };
    const char *const paths[] = {addresses[how % (sizeof(addresses) / sizeof(*addresses))]};
    const struct pyro_remote_options remote = {.size = sizeof(remote),
                                               .mode = how >> 4 & 1 ? PYRO_REMOTE_REST : PYRO_REMOTE_AUTO,
                                               .max_bytes = how & 128 ? 1 << 12 : 0};
    const struct pyro_load_options load = {.size = sizeof(load), .remote = &remote, .history = how >> 6 & 1};
    const struct pyro_options work = {.size = sizeof(work), .threads = 1};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    FUZZ_CHECK(pyro_inputs_open(paths, 1, &load, &work, &inputs, &error) == PYRO_OK);
    for (size_t i = 0; i < pyro_inputs_unreadable_count(inputs); i++) {
        check_text(pyro_inputs_unreadable_path(inputs, i));
        check_text(pyro_inputs_unreadable_reason(inputs, i));
    }
    for (size_t i = 0; i < pyro_inputs_count(inputs) && i < 8; i++) {
        check_text(pyro_inputs_path(inputs, i));
        diagnose(inputs, i, &load);
    }
    pyro_inputs_close(inputs);
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found, (void)kind, (void)place;
    return remove(path);
}

static void stop(void)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const char *text, size_t len)
{
    char path[80];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(text, 1, len, file) == len && fclose(file) == 0);
}

/* The configurations, and a folder with a log and two files that are none. False: this build has no libcurl. */
static bool start(void)
{
    static const uint8_t usual[40] = {0, 5, 0, 1, 2, 3, 4, 7, 9, 2, 1, 0, 3};
    static const char *const others[] = {("no log: password=" MADE_SECRET "\n"),
                                         "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n"};
    struct pyro_strbuf text;
    if (!fake_curl_install(fake_servers_answer))
        return false;
    snprintf(folder, sizeof(folder), "%s/pyrometer-fuzz-crawl-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_CHECK(mkdtemp(folder) && setenv("FUZZ_PASSWORD", MADE_SECRET, 1) == 0);
    atexit(stop);
    char logs[64];
    snprintf(logs, sizeof(logs), "%s/logs", folder);
    FUZZ_CHECK(mkdir(logs, 0700) == 0);
    pyro_strbuf_init(&text, NULL);
    made_log_write(usual, sizeof(usual), &text);
    char *id = memmem(text.data, text.len, "app-1", 5);
    FUZZ_CHECK(id);
    id[4] = '8'; /* that the server does not have */
    write_file("logs/one", text.data, text.len);
    write_file("logs/two", others[0], strlen(others[0]));
    write_file("logs/three", others[1], strlen(others[1]));
    for (unsigned i = 0; i < CONFIGURATIONS; i++) {
        char name[16];
        const char *place = strstr(configurations[i], "LOGS");
        pyro_strbuf_clear(&text);
        pyro_strbuf_add(&text, configurations[i],
                        place ? (size_t)(place - configurations[i]) : strlen(configurations[i]));
        pyro_strbuf_printf(&text, "%s%snames:\n  exclude: ['^skipped$']\n", place ? logs : "", place ? place + 4 : "");
        snprintf(name, sizeof(name), "%u.yaml", i);
        write_file(name, text.data, text.len);
    }
    pyro_strbuf_done(&text);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int works = -1;
    if (works < 0)
        works = start();
    if (!works || size < 2)
        return 0;
    if (data[0] & 1) {
        fake_servers_start(data + 2, size - 2, false);
        read_addresses(data[1]);
    } else if (data[0] & 4) {
        crawl_into_search(data + 2, size - 2, data[1], data[0] & 2);
    } else {
        crawl_often(data + 2, size - 2, data[1], data[0] & 2 ? 1 : 2);
    }
    return 0;
}
