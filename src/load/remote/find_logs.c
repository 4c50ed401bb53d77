/* Addresses -> logs. An address is a page of a History Server or of a live UI, its REST API, its root, or a file. */
#include <stdio.h>

#include "base/collections/vec.h"
#include "base/json/json_read.h"
#include "base/memory/allocator.h"
#include "load/remote/remote.h"

/* What an address says by itself. Slices of the address. */
struct address {
    struct pyro_slice base, app, next; /* null ptr: not said; next: what follows the application */
    bool server;                       /* can be nothing else than a server's */
};

struct finding {
    const struct pyro_load_settings *options;
    struct pyro_arena *arena;
    struct pyro_error *error;
    struct pyro_remote_client client;
    struct pyro_remote_options remote;
    PYRO_VEC(struct pyro_log) logs;
    PYRO_VEC(struct pyro_unreadable) unreadable;
};

static enum pyro_status no_memory(struct finding *finding)
{
    return pyro_error_set(finding->error, PYRO_ERROR_MEMORY, "out of memory for the list of logs");
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* Up to the next slash; *rest gets what is behind it. */
static struct pyro_slice segment(struct pyro_slice path, struct pyro_slice *rest)
{
    const char *slash = path.len ? memchr(path.ptr, '/', path.len) : NULL;
    size_t len = slash ? (size_t)(slash - path.ptr) : path.len;
    size_t skip = len + (slash != NULL);
    *rest = (struct pyro_slice){path.ptr + skip, path.len - skip};
    return len ? (struct pyro_slice){path.ptr, len} : PYRO_SLICE_NULL;
}

static const char *find_last(struct pyro_slice path, const char *words)
{
    const char *found = NULL;
    for (struct pyro_slice rest = path; (rest.ptr = pyro_slice_find(rest, words));) {
        found = rest.ptr++;
        rest.len = (size_t)(path.ptr + path.len - rest.ptr);
    }
    return found;
}

static bool is_page(struct pyro_slice name)
{
    static const char *const pages[] = {"jobs", "stages",    "storage",        "environment", "executors",
                                        "SQL",  "streaming", "StreamingQuery", "connect",     "sqlserver"};
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
        if (pyro_slice_is(name, pages[i]))
            return true;
    return false;
}

static struct pyro_slice without_slashes(struct pyro_slice text)
{
    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    return text;
}

/* From the slash behind the host to the parameters; null: there is no slash. */
static struct pyro_slice path_of(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    size_t len = strcspn(host, "?#");
    const char *slash = memchr(host, '/', len);
    return slash ? (struct pyro_slice){slash, len - (size_t)(slash - host)} : PYRO_SLICE_NULL;
}

struct pyro_slice pyro_remote_server(const char *url)
{
    struct pyro_slice path = path_of(url);
    const char *api = path.ptr ? find_last(path, "/api/v1") : NULL;
    return without_slashes((struct pyro_slice){url, api ? (size_t)(api - url) : strcspn(url, "?#")});
}

static struct address read_address(const char *url)
{
    static const char *const heads[] = {"/history/", "/api/v1/applications/"};
    struct pyro_slice whole = {url, strcspn(url, "?#")}, path = path_of(url), server = pyro_remote_server(url), rest;
    for (size_t i = 0; path.ptr && i < 2; i++) {
        const char *found = find_last(path, heads[i]);
        if (!found)
            continue;
        const char *behind = found + strlen(heads[i]);
        struct address address = {.base = {url, (size_t)(found - url)}, .server = true};
        address.app = segment((struct pyro_slice){behind, whole.len - (size_t)(behind - url)}, &rest);
        address.next = segment(rest, &rest);
        return address;
    }
    if (pyro_slice_find((struct pyro_slice){url + server.len, whole.len - server.len}, "/api/v1"))
        return (struct address){.base = server, .server = true};
    for (rest = path; rest.len > 0;) {
        struct pyro_slice name = segment(rest, &rest);
        if (name.ptr && is_page(name))
            return (struct address){.base = {url, (size_t)(name.ptr - 1 - url)}, .server = true};
    }
    bool bare = path.len <= 1;
    return (struct address){.base = server, .server = bare || path.ptr[path.len - 1] == '/'};
}

/* Appends a text as a part of an address. */
static struct pyro_slice escape(struct pyro_arena *arena, struct pyro_slice text)
{
    struct pyro_strbuf escaped;
    pyro_strbuf_init(&escaped, arena->allocator);
    pyro_http_escape(&escaped, text);
    struct pyro_slice kept = escaped.failed ? PYRO_SLICE_NULL : pyro_arena_copy(arena, pyro_strbuf_slice(&escaped));
    pyro_strbuf_done(&escaped);
    return kept;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static enum pyro_status add_unreadable(struct finding *finding, const char *url, const char *why)
{
    struct pyro_slice label = pyro_http_label_in(finding->arena, url);
    struct pyro_slice message = pyro_arena_copy(finding->arena, pyro_slice_from(why));
    struct pyro_unreadable *row = pyro_vec_push(&finding->unreadable, finding->options->allocator);
    if (!row || !label.ptr || !message.ptr)
        return no_memory(finding);
    *row = (struct pyro_unreadable){.path = label, .message = message};
    return PYRO_OK;
}

/* Copies what is found. The label is the address of the API without `url`. */
static enum pyro_status add_log(struct finding *finding, const struct pyro_remote *found, const char *url)
{
    struct pyro_remote *remote = pyro_arena_alloc(finding->arena, sizeof(*remote));
    struct pyro_log *log = remote ? pyro_vec_push(&finding->logs, finding->options->allocator) : NULL;
    if (!log)
        return no_memory(finding);
    *remote =
        (struct pyro_remote){pyro_arena_copy(finding->arena, found->base), pyro_arena_copy(finding->arena, found->app),
                             pyro_arena_copy(finding->arena, found->attempt), found->updated_ms};
    struct pyro_strbuf address;
    pyro_strbuf_init(&address, finding->options->allocator);
    if (url)
        pyro_strbuf_add_text(&address, url);
    else
        pyro_remote_add_api(&address, remote, true);
    *log = (struct pyro_log){.layout = PYRO_LAYOUT_REMOTE, .remote = remote};
    if (!address.failed)
        log->path = pyro_http_label_in(finding->arena, address.data);
    bool done = log->path.ptr && remote->base.ptr && (!found->app.ptr || remote->app.ptr) &&
                (!found->attempt.ptr || remote->attempt.ptr);
    pyro_strbuf_done(&address);
    return done ? PYRO_OK : no_memory(finding);
}

static enum pyro_status add_file(struct finding *finding, const char *url)
{
    const struct pyro_remote file = {.base = pyro_slice_from(url), .updated_ms = -1};
    return add_log(finding, &file, url);
}

/* ---- What a server has ------------------------------------------------------------------------------------------- */

static struct pyro_slice take_id(struct pyro_json_reader *json)
{
    struct pyro_slice id = PYRO_SLICE_NULL;
    if (pyro_json_peek(json) == '"')
        pyro_json_take_string(json, &id, NULL);
    else
        pyro_json_skip(json);
    return id;
}

static int64_t take_time(struct pyro_json_reader *json)
{
    int64_t time_ms = -1;
    char first = pyro_json_peek(json);
    if (first >= '0' && first <= '9')
        pyro_json_take_int(json, &time_ms);
    else
        pyro_json_skip(json);
    return time_ms;
}

/* `attempt` as in addresses; null: it has no id. */
static bool take_attempt(struct finding *finding, struct pyro_json_reader *json, struct pyro_json_object *object,
                         struct pyro_remote *ret)
{
    PYRO_JSON_KEYS(keys, (ATTEMPT_ID, "attemptId"), (UPDATED, "lastUpdatedEpoch"));
    struct pyro_slice id = PYRO_SLICE_NULL;
    ret->attempt = PYRO_SLICE_NULL;
    ret->updated_ms = -1;
    for (int key; (key = PYRO_JSON_NEXT(json, object, keys)) != PYRO_JSON_END;) {
        if (key == ATTEMPT_ID)
            id = take_id(json);
        else if (key == UPDATED)
            ret->updated_ms = take_time(json);
        else
            pyro_json_skip(json);
    }
    if (id.ptr)
        ret->attempt = escape(finding->arena, id);
    return !id.ptr || ret->attempt.ptr;
}

/* The attempts of an application: each, or the one that `wanted` names, or the newest. */
struct choice {
    bool each;
    struct pyro_slice wanted; /* null ptr: the newest */
    const char *url;          /* the label; NULL: the API's address */
};

static enum pyro_status add_attempts(struct finding *finding, struct pyro_slice base, struct pyro_slice app,
                                     struct pyro_slice attempts, const struct choice *choice)
{
    struct pyro_json_reader json;
    struct pyro_remote attempt = {.base = base, .app = app}, newest = {.base = base, .app = app, .updated_ms = -1};
    pyro_json_reader_start(&json, attempts.ptr, attempts.ptr ? attempts.ptr + attempts.len : NULL, pyro_scan_best());
    size_t count = 0;
    if (attempts.ptr && pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct pyro_json_object object;
            if (!pyro_json_enter_object(&json, &object))
                continue;
            if (!take_attempt(finding, &json, &object, &attempt))
                return no_memory(finding);
            newest = count++ == 0 ? attempt : newest;
            if (choice->wanted.ptr && pyro_slice_eq(choice->wanted, attempt.attempt))
                newest = attempt;
            if (choice->each)
                PYRO_TRY(add_log(finding, &attempt, NULL));
        }
    return choice->each && count ? PYRO_OK : add_log(finding, &newest, choice->url);
}

static enum pyro_status add_application(struct finding *finding, struct pyro_json_reader *json, struct pyro_slice base,
                                        const struct choice *choice)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (NAME, "name"), (ATTEMPTS, "attempts"));
    struct pyro_json_object object;
    struct pyro_slice id = PYRO_SLICE_NULL, attempts = PYRO_SLICE_NULL;
    if (!pyro_json_enter_object(json, &object))
        return PYRO_OK;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == ID)
            id = take_id(json);
        else if (key == ATTEMPTS)
            pyro_json_take_raw(json, &attempts);
        else
            pyro_json_skip(json);
    }
    if (json->error || !id.ptr)
        return PYRO_OK;
    struct pyro_slice app = escape(finding->arena, id);
    return app.ptr ? add_attempts(finding, base, app, attempts, choice) : no_memory(finding);
}

/* An answer of the API is JSON; *ret_refusal says why this one is none, "" when it is. */
static enum pyro_status ask(struct finding *finding, struct pyro_slice base, struct pyro_slice app,
                            struct pyro_strbuf *body, char *ret_refusal, size_t capacity)
{
    const struct pyro_remote asked = {.base = base, .app = app};
    struct pyro_exchange_answer answer = {0};
    struct pyro_strbuf url;
    pyro_strbuf_init(&url, finding->options->allocator);
    pyro_remote_add_api(&url, &asked, false);
    if (!app.ptr && finding->remote.limit)
        pyro_strbuf_printf(&url, "?limit=%zu", finding->remote.limit);
    enum pyro_status status = url.failed ? no_memory(finding)
                                         : pyro_http_get_text(finding->client.http, url.data, PYRO_REMOTE_ANSWER_BYTES,
                                                              PYRO_REMOTE_TRIES, body, &answer, finding->error);
    pyro_strbuf_done(&url);
    if (status == PYRO_OK && answer.status == 200)
        pyro_remote_keep(finding->options, pyro_strbuf_slice(body));
    ret_refusal[0] = '\0';
    if (status == PYRO_ERROR_INPUT || (status == PYRO_OK && answer.status != 200))
        snprintf(ret_refusal, capacity, "%s", finding->error->message);
    else if (status == PYRO_OK && (body->len == 0 || answer.html))
        snprintf(ret_refusal, capacity, "the server answers with a web page instead of Spark's REST API");
    if (status == PYRO_OK)
        for (size_t i = 0; i < body->len; i++)
            body->data[i] = body->data[i] == '\n' ? ' ' : body->data[i];
    return status == PYRO_ERROR_INPUT ? PYRO_OK : status;
}

static enum pyro_status read_answer(struct finding *finding, const struct address *address, const char *url,
                                    struct pyro_strbuf *body, bool *ret_server)
{
    struct choice choice = {.each = !address->app.ptr, .wanted = address->next, .url = address->app.ptr ? url : NULL};
    size_t before = finding->logs.count, applications = 0;
    struct pyro_json_reader json;
    pyro_json_reader_start(&json, body->data, body->data + body->len, pyro_scan_best());
    char next = pyro_json_peek(&json);
    *ret_server = next == '[' || (next == '{' && address->app.ptr);
    if (next == '[' && pyro_json_enter_array(&json)) {
        /* A live UI has one application, and is called as it was named. */
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            if (finding->remote.limit && applications++ >= finding->remote.limit)
                break;
            PYRO_TRY(add_application(finding, &json, address->base, &choice));
        }
    } else if (*ret_server) {
        PYRO_TRY(add_application(finding, &json, address->base, &choice));
    }
    if (finding->logs.count > before)
        return PYRO_OK;
    if (!*ret_server)
        return PYRO_OK;
    return add_unreadable(finding, url,
                          json.error ? "the server's list of applications is not an answer of Spark: check the address"
                                     : "the server has no application yet");
}

static enum pyro_status find_logs(struct finding *finding, const char *url)
{
    struct address address = read_address(url);
    struct pyro_strbuf body;
    char refusal[sizeof(finding->error->message)];
    bool is_server = false;
    if (!address.server && strchr(url, '?')) /* signed addresses of files */
        return add_file(finding, url);
    pyro_strbuf_init(&body, finding->options->allocator);
    enum pyro_status status = ask(finding, address.base, address.app, &body, refusal, sizeof(refusal));
    if (status == PYRO_OK && !refusal[0]) {
        status = read_answer(finding, &address, url, &body, &is_server);
        snprintf(refusal, sizeof(refusal), "the answer of the server is not an answer of Spark's REST API");
    }
    pyro_strbuf_done(&body);
    if (status != PYRO_OK || is_server)
        return status;
    return address.server ? add_unreadable(finding, url, refusal) : add_file(finding, url);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static enum pyro_status expand_all(struct finding *finding, struct pyro_log_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct pyro_log *log = &list->logs[i];
        if (log->layout == PYRO_LAYOUT_REMOTE && !log->remote) {
            finding->client.path = log->path.ptr;
            PYRO_TRY(find_logs(finding, log->path.ptr));
            continue;
        }
        struct pyro_log *copy = pyro_vec_push(&finding->logs, finding->options->allocator);
        if (!copy)
            return no_memory(finding);
        *copy = *log;
    }
    return PYRO_OK;
}

static enum pyro_status settle(struct finding *finding, struct pyro_log_list *list)
{
    size_t rows = list->unreadable_count + finding->unreadable.count;
    struct pyro_log *logs = pyro_arena_array(&list->arena, finding->logs.count + 1, sizeof(*logs));
    struct pyro_unreadable *unreadable = pyro_arena_array(&list->arena, rows + 1, sizeof(*unreadable));
    if (!logs || !unreadable)
        return no_memory(finding);
    if (finding->logs.count)
        memcpy(logs, finding->logs.items, finding->logs.count * sizeof(*logs));
    if (list->unreadable_count)
        memcpy(unreadable, list->unreadable, list->unreadable_count * sizeof(*unreadable));
    if (finding->unreadable.count)
        memcpy(unreadable + list->unreadable_count, finding->unreadable.items,
               finding->unreadable.count * sizeof(*unreadable));
    list->logs = logs;
    list->count = finding->logs.count;
    list->unreadable = unreadable;
    list->unreadable_count = rows;
    return PYRO_OK;
}

/* Without a client no address can be read. */
static enum pyro_status refuse_all(struct finding *finding, struct pyro_log_list *list, const char *why)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->logs[i].layout == PYRO_LAYOUT_REMOTE)
            PYRO_TRY(add_unreadable(finding, list->logs[i].path.ptr, why));
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->logs[i].layout != PYRO_LAYOUT_REMOTE)
            list->logs[kept++] = list->logs[i];
    list->count = kept;
    return PYRO_OK;
}

enum pyro_status pyro_remote_expand(struct pyro_log_list *list, const struct pyro_load_settings *options,
                                    struct pyro_error *error)
{
    struct pyro_error own = {.size = sizeof(own)};
    struct finding finding = {.options = options,
                              .arena = &list->arena,
                              .error = pyro_error_is_usable(error) ? error : &own,
                              .remote = pyro_remote_resolve(options)};
    bool any = false;
    for (size_t i = 0; i < list->count; i++)
        any |= list->logs[i].layout == PYRO_LAYOUT_REMOTE;
    if (!any)
        return PYRO_OK;
    enum pyro_status status = pyro_remote_client_open(&finding.client, options, "", finding.error);
    if (status == PYRO_ERROR_INPUT) {
        struct pyro_error refusal = *finding.error;
        status = refuse_all(&finding, list, refusal.message);
    }
    if (status == PYRO_OK)
        status = expand_all(&finding, list);
    if (status == PYRO_OK)
        status = settle(&finding, list);
    pyro_remote_client_close(&finding.client);
    pyro_vec_done(&finding.logs, options->allocator);
    pyro_vec_done(&finding.unreadable, options->allocator);
    return status;
}
