#include "fake_servers.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/collections/hash.h"
#include "fake_opensearch.h"
#include "fuzz_kit.h"
#include "made_log.h"
#include "made_members.h"

enum { RECORD = 12, MOST_URLS = 1 << 14, MOST_ASKED = 10000, FULL_PAGES = 12, LOG_BYTES = 300, START_S = 1700000000 };

/* The bytes, and how often each address was asked for. */
static struct {
    const uint8_t *data;
    size_t size, asked, lists;
    bool broken_store;
    uint64_t urls[MOST_URLS];
    unsigned counts[MOST_URLS];
    pthread_mutex_t lock;
} servers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One answer that is made. */
struct answering {
    const struct fake_question *question;
    const char *path; /* behind the host */
    const uint8_t *at, *end;
    unsigned tried; /* how often this was asked for before */
    struct fake_reply *ret;
    struct pyro_strbuf *out; /* its body */
};

static unsigned next(struct answering *answering)
{
    return answering->at < answering->end ? *answering->at++ : 0;
}

#define PICK(answering, array) (array)[next(answering) % (sizeof(array) / sizeof(*(array)))]

void fake_servers_start(const uint8_t *data, size_t size, bool broken_store)
{
    servers.broken_store = broken_store;
    servers.data = data;
    servers.size = size;
    servers.asked = servers.lists = 0;
    memset(servers.urls, 0, sizeof(servers.urls));
    memset(servers.counts, 0, sizeof(servers.counts));
}

size_t fake_servers_asked(void)
{
    return servers.asked;
}

/* How often this was asked for before. Who was sent here from elsewhere is counted apart: other threads may be, too. */
static unsigned count(const struct fake_question *question)
{
    uint64_t hash = pyro_hash_slice(pyro_slice_from(question->url)) ^ (uint8_t)question->method[0];
    hash += question->first << 1;
    size_t at = hash % MOST_URLS;
    pthread_mutex_lock(&servers.lock);
    FUZZ_CHECK(++servers.asked < MOST_ASKED);
    while (servers.urls[at] && servers.urls[at] != hash)
        at = (at + 1) % MOST_URLS;
    servers.urls[at] = hash;
    unsigned before = servers.counts[at]++;
    pthread_mutex_unlock(&servers.lock);
    return before;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static const char *value_end(const char *at)
{
    if (*at != '"')
        return at + strcspn(at, ",]} \n");
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* Appends the text; with odd bytes, one of its simple values is another one. */
static void add_json(struct answering *answering, const char *text)
{
    unsigned odd = next(answering), how = next(answering), wrong = odd < 160 ? UINT32_MAX : (odd - 160) * 3 + how % 3;
    unsigned value = 0;
    while (*text) {
        if (*text != '"' && *text != '-' && (*text < '0' || *text > '9') && *text != 't' && *text != 'f') {
            pyro_strbuf_add_char(answering->out, *text++);
            continue;
        }
        const char *end = value_end(text);
        bool key = *text == '"' && *end == ':';
        if (!key && value++ == wrong) {
            const char *other = odd_values[how % ODD_VALUES];
            pyro_strbuf_add_text(answering->out, other ? other : "");
        } else {
            pyro_strbuf_add(answering->out, text, (size_t)(end - text));
        }
        text = end;
    }
}

/* ---- The History Server ------------------------------------------------------------------------------------------ */

static const char *const ids[] = {"app-1",
                                  "application_1700000000000_0002",
                                  "app-3",
                                  "local-4",
                                  "app-1",
                                  "a b?c#d/e%",
                                  "..",
                                  "\\u00e9\\n\\r",
                                  "\\u0000",
                                  "",
                                  "app-9!x",
                                  "../../x/y\\\\",
                                  "\\ud83d\\ude00"};
static const char *const names[] = {"made",
                                    "Standardisation 1 a b 2024-01-01 3",
                                    ("etl password=" MADE_SECRET),
                                    "skipped",
                                    "\\u202e\\u0007x",
                                    "",
                                    "a ;b,c.d-e%f"};

static void add_attempt(struct answering *answering, unsigned number)
{
    static const char *const attempts[] = {"", "", "\"attemptId\":\"1\",", "\"attemptId\":\"2\",",
                                           "\"attemptId\":\"\\u0000/x\","};
    char text[400];
    unsigned how = next(answering);
    long long end_s = START_S + 60 + number + (how >> 6) * 40000;
    snprintf(text, sizeof(text),
             "{%s\"startTime\":\"2023-11-14T22:13:20.000GMT\",\"lastUpdatedEpoch\":%lld000,\"endTimeEpoch\":%lld000,"
             "\"startTimeEpoch\":%d000,\"duration\":60000,\"sparkUser\":\"ann\",\"completed\":%s,\"appSparkVersion\":"
             "\"3.5.1\"}",
             attempts[how % 5], end_s, end_s, START_S, how & 32 ? "false" : "true");
    add_json(answering, text);
}

static void add_application(struct answering *answering, const char *id)
{
    unsigned how = next(answering);
    pyro_strbuf_printf(answering->out, "{\"id\":\"%s\",\"name\":\"%s\",\"attempts\":[", id,
                       names[how % (sizeof(names) / sizeof(*names))]);
    for (unsigned i = 0, most = 1 + (how >> 5) % 3; i < most; i++) {
        pyro_strbuf_add_text(answering->out, i ? "," : "");
        add_attempt(answering, i);
    }
    pyro_strbuf_add_text(answering->out, how == 255 ? "]" : "]}");
}

/* As many as were asked for, whatever times were asked for: later and earlier ones in turn, or ever earlier ones, which
 * a list may have millions of. */
static void add_full_page(struct answering *answering, unsigned how)
{
    const char *limit = strstr(answering->path, "limit=");
    int most = limit ? atoi(limit + 6) : 0;
    long long page = how & 1 ? (long long)(servers.lists % 3) : -(long long)servers.lists;
    for (int i = 0; i < most && i < 1000; i++)
        pyro_strbuf_printf(answering->out,
                           "%s{\"id\":\"full-%d\",\"name\":\"%s\",\"attempts\":[{\"completed\":true,"
                           "\"endTimeEpoch\":%lld}]}",
                           i ? "," : "", i, "skipped", START_S * 1000LL + (how & 2 ? 0 : 5000 * page + i));
}

static void list_applications(struct answering *answering)
{
    unsigned how = next(answering), most = (how + 2) % (FAKE_APPLICATIONS + 1);
    bool running = strstr(answering->path, "status=running") != NULL;
    pyro_strbuf_add_text(answering->out, "[");
    if (how >= 240 && !running && (servers.lists++ < FULL_PAGES || how & 1))
        add_full_page(answering, how);
    for (unsigned i = 0; how < 240 && i < most && !(running && how < 100); i++) {
        pyro_strbuf_add_text(answering->out, i ? "," : "");
        add_application(answering, ids[(i + how / 8) % (sizeof(ids) / sizeof(*ids))]);
    }
    pyro_strbuf_add_text(answering->out, "]");
}

/* The id as the path has it, in JSON. */
static void show_application(struct answering *answering, struct pyro_slice id)
{
    char text[100] = "";
    size_t len = 0;
    for (size_t i = 0; i < id.len && len + 7 < sizeof(text); i++) {
        unsigned code = (unsigned char)id.ptr[i];
        if (code == '%' && i + 2 < id.len && sscanf(id.ptr + i + 1, "%2x", &code) == 1)
            i += 2;
        bool plain = code > ' ' && code < 127 && code != '"' && code != '\\';
        len += (size_t)snprintf(text + len, sizeof(text) - len, plain ? "%c" : "\\u%04x", code);
    }
    unsigned how = next(answering);
    add_application(answering, how < 220 ? text : ids[how % (sizeof(ids) / sizeof(*ids))]);
}

/* ---- Logs -------------------------------------------------------------------------------------------------------- */

/* The event log of an application whose number is the last digit of its id. */
static void make_log(struct answering *answering, char digit, struct pyro_strbuf *log)
{
    static const uint8_t usual[64] = {0, 5, 0, 1, 2, 3, 4, 7, 9, 2, 1, 0, 3, 0, 0, 4, 3, 1, 6, 2};
    size_t left = (size_t)(answering->end - answering->at), len = left < LOG_BYTES ? left : LOG_BYTES;
    made_log_write(len ? answering->at : usual, len ? len : sizeof(usual), log);
    char *at = log->len ? memmem(log->data, log->len, "\"app-1\"", 7) : NULL;
    if (at && digit >= '0' && digit <= '9')
        at[5] = digit;
}

static void put_number(struct pyro_strbuf *out, uint64_t value, int bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        pyro_strbuf_add_char(out, (char)(value & 0xff));
}

/* Sizes, checksum and name of a member, as both of its headers have them. */
static void put_member(struct pyro_strbuf *out, const char *name, const struct pyro_strbuf *log, int more)
{
    put_number(out, 20, 2);
    put_number(out, 0, 8); /* flags, stored, time */
    put_number(out, crc32(0, (const unsigned char *)log->data, (unsigned)log->len), 4);
    put_number(out, log->len, 4);
    put_number(out, log->len, 4);
    put_number(out, strlen(name), 2);
    put_number(out, 0, more);
}

/* A zip archive of one log, as Spark's server hands it out. */
static void add_archive(struct pyro_strbuf *out, const char *name, const struct pyro_strbuf *log)
{
    size_t start = out->len;
    pyro_strbuf_add_text(out, "PK\3\4");
    put_member(out, name, log, 2);
    pyro_strbuf_add_text(out, name);
    pyro_strbuf_add_slice(out, pyro_strbuf_slice(log));
    size_t list = out->len - start;
    pyro_strbuf_add_text(out, "PK\1\2");
    put_number(out, 20, 2);
    put_member(out, name, log, 16); /* extra, comment, disk, attributes, place: 0 */
    pyro_strbuf_add_text(out, name);
    size_t end = out->len - start;
    pyro_strbuf_add_text(out, "PK\5\6");
    put_number(out, 0, 4);
    put_number(out, 1, 2);
    put_number(out, 1, 2);
    put_number(out, end - list, 4);
    put_number(out, list, 4);
    put_number(out, 0, 2);
}

static void add_gzip(struct pyro_strbuf *out, const struct pyro_strbuf *log)
{
    z_stream stream = {.next_in = (unsigned char *)log->data, .avail_in = (unsigned)log->len};
    unsigned char block[4096];
    int state = deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
    while (state == Z_OK) {
        stream.next_out = block;
        stream.avail_out = sizeof(block);
        state = deflate(&stream, Z_FINISH);
        pyro_strbuf_add(out, (char *)block, sizeof(block) - stream.avail_out);
    }
    deflateEnd(&stream);
    FUZZ_CHECK(state == Z_STREAM_END);
}

static void hand_out_log(struct answering *answering, struct pyro_slice id)
{
    static const char *const member_names[] = {"app-1", "eventlog_v2_app-1/events_1_app-1", "../x", "a/b/c.lz4",
                                               "x.zip"};
    struct pyro_strbuf log;
    unsigned how = next(answering), name = next(answering);
    if (how >= 210) {
        static const char *const others[] = {"",
                                             ("{\"error\":\"password=" MADE_SECRET "\"}"),
                                             "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n",
                                             ("Authorization: Bearer " MADE_SECRET "\n"),
                                             "PK\3\4\24",
                                             "\x1f\x8b\x08"};
        pyro_strbuf_add_text(answering->out, others[how % 6]);
        return;
    }
    pyro_strbuf_init(&log, NULL);
    make_log(answering, id.len ? id.ptr[id.len - 1] : '1', &log);
    if (how >= 180)
        pyro_strbuf_add_slice(answering->out, pyro_strbuf_slice(&log));
    else if (how >= 150)
        add_gzip(answering->out, &log);
    else if (log.len > 0)
        add_archive(answering->out, member_names[name % (name < 200 ? 1 : 5)], &log);
    pyro_strbuf_done(&log);
}

/* ---- The REST API ------------------------------------------------------------------------------------------------ */

#define TIME "\"2023-11-14T22:13:2"

static const struct {
    const char *page, *text;
} pages[] = {
    {"version", "{\"spark\":\"3.5.1\"}"},
    {"environment",
     "{\"runtime\":{\"javaVersion\":\"17\",\"scalaVersion\":\"2.12\"},\"sparkProperties\":[[\"spark.executor.memory\","
     "\"1g\"],[\"spark.hadoop.fs.s3a.secret.key\",\"" MADE_SECRET "\"]],\"systemProperties\":[[\"sun.java.command\","
     "\"x --password " MADE_SECRET "\"]],\"classpathEntries\":[],\"resourceProfiles\":[{\"id\":0,\"executorResources\":"
     "{},\"taskResources\":{\"cpus\":{\"resourceName\":\"cpus\",\"amount\":1.0}}}]}"},
    {"allexecutors",
     "[{\"id\":\"1\",\"hostPort\":\"h:7\",\"isActive\":false,\"totalCores\":2,\"maxTasks\":2,\"failedTasks\":1,"
     "\"completedTasks\":2,\"totalTasks\":3,\"totalDuration\":50,\"totalGCTime\":5,\"maxMemory\":1000,\"addTime\":" TIME
     "1.000GMT\",\"removeTime\":" TIME "9.000GMT\",\"removeReason\":\"lost, token=" MADE_SECRET
     "\",\"peakMemoryMetrics\":"
     "{\"JVMHeapMemory\":5,\"TotalGCTime\":2},\"resourceProfileId\":0}]"},
    {"storage/rdd", "[{\"id\":4,\"name\":\"cached\",\"numPartitions\":2,\"numCachedPartitions\":1,\"storageLevel\":"
                    "\"Disk Memory Deserialized 1x Replicated\",\"memoryUsed\":10,\"diskUsed\":0}]"},
    {"jobs", "[{\"jobId\":0,\"name\":\"count at x.py:3\",\"submissionTime\":" TIME "2.000GMT\",\"completionTime\":" TIME
             "8.000GMT\",\"stageIds\":[0],\"jobTags\":[],\"status\":\"SUCCEEDED\",\"numTasks\":2}]"},
    {"stages",
     "[{\"status\":\"COMPLETE\",\"stageId\":0,\"attemptId\":0,\"numTasks\":2,\"numCompleteTasks\":2,\"numFailedTasks\":"
     "0,\"submissionTime\":" TIME "3.000GMT\",\"completionTime\":" TIME
     "7.000GMT\",\"failureReason\":\"password=" MADE_SECRET "\",\"name\":\"count at x.py:3\",\"shuffleReadBytes\":10,"
     "\"rddIds\":[4],\"resourceProfileId\":0}]"},
    {"taskList",
     "[{\"taskId\":0,\"index\":0,\"attempt\":0,\"launchTime\":" TIME
     "4.000GMT\",\"duration\":900,\"executorId\":\"1\",\"host\":\"h\",\"status\":\"SUCCESS\",\"taskLocality\":\"ANY\","
     "\"speculative\":false,\"taskMetrics\":{\"executorRunTime\":800,\"executorCpuTime\":5,\"inputMetrics\":{"
     "\"bytesRead\":9,\"recordsRead\":1}}},{\"taskId\":1,\"index\":1,\"attempt\":0,\"launchTime\":" TIME
     "5.000GMT\",\"duration\":400,\"executorId\":\"1\",\"status\":\"FAILED\",\"errorMessage\":\"token=" MADE_SECRET
     "\"}]"},
    {"sql",
     "[{\"id\":0,\"status\":\"COMPLETED\",\"description\":\"select password='" MADE_SECRET "'\",\"planDescription\":"
     "\"== Physical Plan ==\\n* Project (2)\\n+- * Range (1)\\n\",\"submissionTime\":" TIME
     "2.000GMT\",\"duration\":5000,\"runningJobIds\":[],\"successJobIds\":[0],\"nodes\":[{\"nodeId\":0,"
     "\"nodeName\":\"Range\",\"metrics\":[{\"name\":\"number of output rows\",\"value\":\"10\"}]}],\"edges\":[]}]"},
    {"threads", "[{\"threadId\":1,\"threadName\":\"main\",\"threadState\":\"RUNNABLE\",\"stackTrace\":[]}]"},
};

static void show_page(struct answering *answering, const char *page)
{
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        const char *at = strstr(page, pages[i].page);
        if (at && (at == page || at[-1] == '/'))
            found = pages[i].text;
    }
    unsigned how = next(answering);
    if (!found || how > 240)
        answering->ret->status = 404;
    add_json(answering, found && how < 230 ? found : "[]");
}

static void answer_as_history(struct answering *answering)
{
    static const char root[] = "/api/v1/applications";
    if (strncmp(answering->path, root, strlen(root)) != 0) {
        show_page(answering, strncmp(answering->path, "/api/v1/", 8) == 0 ? answering->path + 8 : answering->path);
        return;
    }
    const char *at = answering->path + strlen(root);
    struct pyro_slice id = {*at == '/' ? at + 1 : at, strcspn(*at == '/' ? at + 1 : at, "/?")};
    const char *page = id.ptr + id.len;
    if (*at != '/')
        list_applications(answering);
    else if (!*page)
        show_application(answering, id);
    else if (strlen(page) >= 5 && strcmp(page + strlen(page) - 5, "/logs") == 0)
        hand_out_log(answering, id);
    else if ((page[1] == '1' || page[1] == '2') && (!page[2] || page[2] == '?'))
        show_application(answering, id);
    else
        show_page(answering, page + 1);
}

/* ---- Other services ---------------------------------------------------------------------------------------------- */

static void answer_as_yarn(struct answering *answering)
{
    if (strstr(answering->path, "/metrics"))
        add_json(answering,
                 "{\"clusterMetrics\":{\"appsSubmitted\":3,\"availableMB\":100,\"totalNodes\":2,\"x\":\"y\"}}");
    else
        add_json(answering,
                 "{\"app\":{\"queue\":\"etl\",\"memorySeconds\":1000,\"vcoreSeconds\":10,\"elapsedTime\":60000,"
                 "\"launchTime\":1700000001000,\"startedTime\":1700000000000,\"finalStatus\":\"FAILED\","
                 "\"diagnostics\":\"Failing this attempt. password=" MADE_SECRET "\",\"preemptedResourceMB\":0}}");
}

static void answer_as_menas(struct answering *answering)
{
    add_json(answering,
             "[{\"dataset\":\"d\",\"datasetVersion\":1,\"runId\":2,\"uniqueId\":\"u\",\"runStatus\":{\"status\":"
             "\"allSucceeded\"},\"controlMeasure\":{\"metadata\":{\"informationDate\":\"token=" MADE_SECRET
             "\",\"additionalInfo\":{\"std_application_id\":\"app-1\",\"std_input_data_size\":\"1000\","
             "\"std_output_data_size\":\"500\",\"conform_application_id\":\"app-3\"}},\"checkpoints\":[{\"name\":"
             "\"Raw\",\"processStartTime\":\"14-11-2023 22:13:20 +0000\",\"processEndTime\":\"14-11-2023 22:13:30 "
             "+0000\",\"controls\":[{\"controlName\":\"count\",\"controlValue\":\"7\"}]},{\"name\":\"Source\","
             "\"controls\":[{\"controlName\":\"count\",\"controlValue\":\"8\"}]}]}}]");
}

static void answer_as_tags(struct answering *answering)
{
    add_json(answering, "{\"team\":\"x password=" MADE_SECRET "\",\"cost\":12.5,\"when\":\"2023-11-14T22:13:20Z\","
                        "\"list\":[{\"a\":\"b\"}],\"queue\":\"etl\"}");
}

/* What was asked is done also where the answer is lost. */
static void answer_as_search(struct answering *answering)
{
    struct pyro_strbuf text;
    const struct fake_question *question = answering->question;
    pyro_strbuf_init(&text, NULL);
    unsigned status = fake_opensearch_answer(question->method, answering->path, question->body, &text);
    if (answering->ret->status == 200)
        answering->ret->status = status;
    add_json(answering, text.data);
    pyro_strbuf_done(&text);
}

/* ---- How it is sent ---------------------------------------------------------------------------------------------- */

/* 0 to 127: as it should be. */
static void choose_transfer(struct answering *answering)
{
    static const unsigned statuses[] = {200, 404, 500, 401, 403, 204, 206, 429, 502, 503, 504, 400, 301, 302, 307, 410};
    static const char *const headers[] = {"Retry-After: 1",
                                          "Retry-After: Tue, 14 Nov 2023 22:13:30 GMT",
                                          "Retry-After: 99999999999999999999",
                                          "Date: Tue, 14 Nov 2023 22:13:20 GMT",
                                          "Date: never",
                                          ("Set-Cookie: session=" MADE_SECRET),
                                          "Server: x\1\2",
                                          "Retry-After:"};
    static const char *const places[] = {FAKE_HISTORY "/api/v1/applications?status=completed&limit=1000",
                                         FAKE_HISTORY "/api/v1/applications/app-1/logs", "ftp://history.example/x",
                                         FAKE_HISTORY "/", "https://ann:" MADE_SECRET "@history.example/login?next=x"};
    struct fake_reply *ret = answering->ret;
    unsigned how = next(answering);
    if (how >= 128) {
        ret->status = PICK(answering, statuses);
        for (unsigned i = how & 3; i > 0; i--)
            ret->headers[ret->header_count++] = PICK(answering, headers);
        ret->location = ret->status / 100 == 3 ? PICK(answering, places) : NULL;
    }
    if (how >= 192)
        ret->failure = (enum fake_failure)(how % (FAKE_CUT + 1));
    static const size_t pieces[] = {0, 1000, 7, 1};
    ret->piece = pieces[how >> 3 & 3];
    ret->no_length = how >> 2 & 1;
}

void fake_servers_answer(const struct fake_question *question, struct fake_reply *ret)
{
    static const struct {
        const char *server;
        void (*answer)(struct answering *answering);
    } known[] = {{FAKE_HISTORY, answer_as_history},
                 {FAKE_YARN, answer_as_yarn},
                 {FAKE_MENAS, answer_as_menas},
                 {FAKE_TAGS, answer_as_tags},
                 {FAKE_SEARCH, answer_as_search}};
    enum { KNOWN = sizeof(known) / sizeof(*known) };
    size_t records = servers.size / RECORD, which = 0;
    struct answering answering = {.question = question, .tried = count(question), .ret = ret, .out = &ret->body};
    ret->type = "application/json";
    while (which < KNOWN && strncmp(question->url, known[which].server, strlen(known[which].server)) != 0)
        which++;
    if (which == KNOWN) { /* of a redirection */
        ret->status = 404;
        return;
    }
    answering.path = question->url + strlen(known[which].server);
    /* Applications of two sources share a session: the one that logs in first is any of them. */
    if (known[which].answer == answer_as_menas && strcmp(answering.path, "/login") == 0)
        answering.tried = 0;
    uint64_t kind = pyro_hash_slice((struct pyro_slice){answering.path, strcspn(answering.path, "?")}) % 64;
    if (records && (known[which].answer != answer_as_search || servers.broken_store)) {
        answering.at = servers.data + (kind + answering.tried) % records * RECORD;
        answering.end = servers.data + servers.size;
    }
    choose_transfer(&answering);
    known[which].answer(&answering);
    if (ret->failure == FAKE_CUT)
        ret->sent = ret->body.len * (next(&answering) % 16) / 16;
    if (next(&answering) > 250)
        ret->type = "text/html";
}
