/* uploads and feedback: what changes something. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/threads/thread.h"
#include "serve/api/api_request.h"
#include "serve/api/json_body.h"
#include "serve/failure_answer.h"
#include "serve/shared.h"
#include "serve/upload_cpu.h"
#include "serve/uploads.h"
#include "source/discovery/names.h"
#include "source/source.h"

enum {
    NAME_MAX_BYTES = 120,
    ID_MAX_BYTES = 100,
    NAME_SPACE = NAME_MAX_BYTES + ID_MAX_BYTES + 16,
    UNREADABLE_MAX = 100
};

static bool may(struct serve_request *http, enum serve_role role, const char *what)
{
    if (http->role >= role)
        return true;
    pyro_api_error(http, 403, "your token does not allow you to %s", what);
    return false;
}

/* ---- Uploads ---- */

/* Hidden files and checksums are not looked at, and what is named like a part would be joined with others' parts. */
static void make_single(char *name, size_t len)
{
    static const char prefix[] = "log-";
    if (pyro_name_of((struct pyro_slice){name, len}).kind != PYRO_NAME_SINGLE) {
        memmove(name + sizeof(prefix) - 1, name, len + 1);
        memcpy(name, prefix, sizeof(prefix) - 1);
        len += sizeof(prefix) - 1;
    }
    if (pyro_name_of((struct pyro_slice){name, len}).kind != PYRO_NAME_SINGLE) /* .crc */
        name[len - 1] = '_';
}

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '_' || byte == '-';
}

/* Letters, digits and "._-" of the last part of the name, so that nothing is written anywhere else. */
static void clean_name(struct pyro_slice given, char *name)
{
    const char *slash = given.ptr ? memrchr(given.ptr, '/', given.len) : NULL;
    size_t len = 0, from = slash ? (size_t)(slash - given.ptr) + 1 : 0;
    for (size_t i = from; given.ptr && i < given.len && len < NAME_MAX_BYTES; i++) {
        name[len++] = given.ptr[i];
        if (!is_plain(given.ptr[i]))
            name[len - 1] = '_';
    }
    if (len == 0)
        len = (size_t)snprintf(name, NAME_MAX_BYTES, "upload");
    name[len] = '\0';
    make_single(name, len);
}

/* The id that event logs have: of another run with the same one, ID~START stands for ID. */
static struct pyro_slice own_id(struct pyro_slice id)
{
    const char *mark = id.ptr ? memrchr(id.ptr, '~', id.len) : NULL;
    return mark ? (struct pyro_slice){id.ptr, (size_t)(mark - id.ptr)} : id;
}

/* Adds for which application the file is sent, as the catalog reads it. False: it cannot be, and the request is
 * answered. */
static bool add_application(struct serve_request *http, char *name)
{
    struct pyro_slice asked = pyro_serve_parameter(http, "app"), id = own_id(asked);
    size_t len = strlen(name), plain = 0;
    if (!asked.ptr)
        return true;
    if (!pyro_catalog_list_find(pyro_serve_list(http), asked)) {
        pyro_api_error(http, 422, "this server has no application '%.*s': send its event log first", (int)asked.len,
                       asked.ptr);
        return false;
    }
    while (plain < id.len && is_plain(id.ptr[plain]))
        plain++;
    if (plain < id.len || id.len == 0 || id.len > ID_MAX_BYTES) {
        pyro_api_error(http, 422,
                       "files cannot be sent for an application with such an id: send a zip archive of them and the "
                       "event log");
        return false;
    }
    name[len] = PYRO_CATALOG_SENT_MARK;
    memcpy(name + len + 1, id.ptr, id.len);
    name[len + 1 + id.len] = '\0';
    return true;
}

/* The log is the file itself, or something inside of it. */
static bool is_of(struct pyro_slice log, const char *path)
{
    size_t len = strlen(path);
    return pyro_slice_starts_with(log, path) && (log.len == len || log.ptr[len] == '!' || log.ptr[len] == '/');
}

/* What looking at the upload took, counted for its user; *ret_exhausted: more than it may. */
static void charge(struct serve_request *http, const struct pyro_catalog_list *list, const char *path,
                   bool *ret_exhausted)
{
    size_t count, bad;
    struct pyro_catalog_sent sent;
    uint64_t us = pyro_catalog_list_sent(list, pyro_slice_from(path), &sent) ? sent.cpu_us : 0;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    const struct pyro_catalog_unreadable *unreadable = pyro_catalog_list_unreadable(list, &bad);
    *ret_exhausted = false;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < apps[i].attempt_count; k++) {
            struct pyro_catalog_log_info log = pyro_catalog_list_log(list, &apps[i].attempts[k]);
            us += is_of(log.path, path) ? log.cpu_us : 0;
        }
    }
    for (size_t i = 0; i < bad; i++) {
        if (!is_of(unreadable[i].path, path))
            continue;
        us += unreadable[i].cpu_us;
        *ret_exhausted |= unreadable[i].exhausted;
    }
    atomic_fetch_add_explicit(&http->shared->metrics.upload_cpu_us, us, memory_order_relaxed);
    if (http->shared->upload_cpu)
        pyro_upload_cpu_charge(http->shared->upload_cpu, http->payer, us, pyro_clock_ms());
}

static size_t write_found(struct pyro_json_writer *json, const struct pyro_catalog_list *list, const char *path)
{
    size_t count, found = 0;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    pyro_json_line(json);
    pyro_json_begin(json, "applications", '[');
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < apps[i].attempt_count; k++) {
            if (!is_of(pyro_catalog_list_log(list, &apps[i].attempts[k]).path, path))
                continue;
            found++;
            pyro_json_line(json);
            pyro_json_begin(json, NULL, '{');
            pyro_json_text(json, "id", apps[i].id);
            pyro_json_text(json, "attempt", apps[i].attempts[k].attempt_id);
            pyro_json_text(json, "name", apps[i].name);
            pyro_json_end(json, '}');
        }
    }
    pyro_json_end(json, ']');
    return found;
}

/* Below the folder: the server does not say where it keeps it. */
static struct pyro_slice shown_path(const struct serve_request *http, struct pyro_slice path)
{
    size_t skip = strlen(http->uploads->folder) + 1;
    return path.len > skip ? (struct pyro_slice){path.ptr + skip, path.len - skip} : path;
}

static const char *write_unreadable(struct pyro_json_writer *json, const struct serve_request *http,
                                    const struct pyro_catalog_list *list, const char *path, bool *ret_passing)
{
    size_t count, shown = 0;
    *ret_passing = false;
    const struct pyro_catalog_unreadable *unreadable = pyro_catalog_list_unreadable(list, &count);
    const char *first = NULL;
    pyro_json_line(json);
    pyro_json_begin(json, "unreadable", '[');
    for (size_t i = 0; i < count; i++) /* it may be the folder that could not be listed */
        *ret_passing |= unreadable[i].passing;
    for (size_t i = 0; i < count && shown < UNREADABLE_MAX; i++) {
        if (!is_of(unreadable[i].path, path))
            continue;
        first = shown++ ? first : unreadable[i].reason.ptr;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "path", shown_path(http, unreadable[i].path));
        pyro_json_text(json, "error", unreadable[i].reason);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    return first;
}

/* The upload as a file of an application that the user may see: 1, or 0. */
static size_t write_file(struct pyro_json_writer *json, struct serve_request *http, const char *path,
                         const struct pyro_catalog_sent *sent)
{
    const struct pyro_catalog_app *app =
        sent && sent->application.ptr ? pyro_catalog_list_find(pyro_serve_list(http), sent->application) : NULL;
    pyro_json_line(json);
    pyro_json_begin(json, "files", '[');
    if (app) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "file", shown_path(http, pyro_slice_from(path)));
        pyro_json_string(json, "kind", sent->kind);
        pyro_json_text(json, "application", app->id);
        pyro_json_text(json, "attempt", app->attempts->attempt_id);
        pyro_json_text(json, "name", app->name);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    return app != NULL;
}

/* A file other than an event log that is not kept. */
static void refuse_file(struct serve_request *http, const struct pyro_catalog_sent *sent)
{
    if (sent->application.ptr)
        pyro_api_error(http, 422,
                       "this is not an event log, but another file (%s) of the application %s, which this server does "
                       "not have: send its event log or a text log of it first, or a zip archive of all",
                       sent->kind, sent->application.ptr);
    else
        pyro_api_error(http, 422,
                       "this is a file of the kind %s, which does not say of which run: send it "
                       "with the parameter app, or in a zip archive together with other files of the run",
                       sent->kind);
}

/* Nothing of it is listed. */
static void refuse_upload(struct serve_request *http, const struct pyro_catalog_sent *sent, const char *why,
                          bool exhausted, bool passing)
{
    if (exhausted)
        atomic_fetch_add_explicit(&http->shared->metrics.uploads_too_costly, 1, memory_order_relaxed);
    if (!exhausted && passing) /* nothing is wrong with it, as far as is known */
        pyro_api_error(http, 503, "the server cannot check the upload: %s; it was not kept: send it again later",
                       why ? why : "no memory left");
    else if (sent)
        refuse_file(http, sent);
    else
        pyro_api_error(http, exhausted ? 429 : 422, "cannot read an event log from the upload: %s",
                       why ? why : "it has none; send a log as Spark writes it, or an archive of a log");
}

static void answer_upload(struct api_request *request, const char *path)
{
    struct serve_request *http = request->http;
    struct serve_metrics *metrics = &http->shared->metrics;
    bool looked = pyro_catalog_refresh(http->catalog), passing;
    const struct pyro_catalog_list *list = pyro_catalog_list(http->catalog);
    struct pyro_catalog_sent sent;
    bool is_file = pyro_catalog_list_sent(list, pyro_slice_from(path), &sent);
    struct api_document document;
    bool exhausted;
    charge(http, list, path, &exhausted);
    http->status = 201;
    pyro_api_begin(request, &document, "pyrometer.upload/1");
    size_t found = write_found(&document.json, list, path);
    found += write_file(&document.json, http, path, is_file ? &sent : NULL);
    const char *why = write_unreadable(&document.json, http, list, path, &passing);
    pyro_api_end(request, &document);
    atomic_fetch_add_explicit(found ? &metrics->uploads : &metrics->uploads_refused, 1, memory_order_relaxed);
    if (found) {
        atomic_fetch_add_explicit(&metrics->upload_bytes, http->body_bytes, memory_order_relaxed);
    } else {
        pyro_uploads_remove(http->uploads, path);
        refuse_upload(http, is_file ? &sent : NULL, why, exhausted, passing || !looked);
        pyro_catalog_refresh(http->catalog);
    }
    pyro_catalog_list_release(list);
}

void pyro_api_upload(struct api_request *request)
{
    struct serve_request *http = request->http;
    char name[NAME_SPACE], path[4096];
    if (!may(http, SERVE_ROLE_UPLOAD, "upload logs"))
        return;
    if (!http->uploads || !http->upload) {
        pyro_api_error(http, 403, "this server does not accept uploads");
        return;
    }
    if (!http->body_bytes) {
        pyro_api_error(http, 400,
                       "the body is empty: send the bytes of a log, for example with curl --data-binary @LOG");
        return;
    }
    clean_name(pyro_serve_parameter(http, "name"), name);
    if (!add_application(http, name))
        return;
    int failure = pyro_upload_keep(http->upload, http->body_file, name, path, sizeof(path));
    if (failure)
        pyro_api_error(http, 507, "cannot keep the upload as %s: %s", name, strerror(failure));
    else
        answer_upload(request, path);
}

static void remove_path(struct serve_request *http, const char *path)
{
    int failure = pyro_uploads_remove(http->uploads, path);
    if (failure && failure != ENOENT) {
        pyro_api_error(http, 500, "cannot remove the upload: %s", strerror(failure));
        return;
    }
    pyro_catalog_refresh(http->catalog);
    http->status = 204;
}

/* The files that an application without an event log is made of. */
static void remove_logged(struct serve_request *http, const struct pyro_log *log)
{
    int failure = 0;
    for (size_t i = 0; i < log->part_count; i++) {
        int refused = pyro_uploads_remove(http->uploads, log->parts[i].path.ptr);
        failure = refused && refused != ENOENT ? refused : failure; /* members of one archive have its path */
    }
    pyro_catalog_refresh(http->catalog);
    if (failure)
        pyro_api_error(http, 500, "cannot remove the upload: %s", strerror(failure));
    else
        http->status = 204;
}

/* Whether the application is listed, and the user may not see it. */
static bool is_hidden(struct serve_request *http, const struct pyro_catalog_list *seen, struct pyro_slice id)
{
    const struct pyro_catalog_list *whole = pyro_catalog_list(http->catalog);
    bool hidden = pyro_catalog_list_find(whole, id) && !pyro_catalog_list_find(seen, id);
    pyro_catalog_list_release(whole);
    return hidden;
}

/* One that was sent by itself for that application, be its event log still here or not. */
static void remove_file(struct serve_request *http, const struct pyro_catalog_list *list, struct pyro_slice id)
{
    struct pyro_slice name = pyro_serve_parameter(http, "file");
    struct pyro_catalog_sent sent;
    char path[4096];
    int len =
        http->uploads ? snprintf(path, sizeof(path), "%s/%.*s", http->uploads->folder, (int)name.len, name.ptr) : -1;
    if (len < 0 || (size_t)len >= sizeof(path) || memchr(name.ptr, '/', name.len) ||
        !pyro_catalog_list_sent(list, pyro_slice_from(path), &sent) || !pyro_slice_eq(sent.application, own_id(id)) ||
        is_hidden(http, list, own_id(id)))
        pyro_api_error(http, 404, "no such file was uploaded for this application");
    else
        remove_path(http, path);
}

void pyro_api_remove_upload(struct api_request *request)
{
    struct serve_request *http = request->http;
    struct pyro_slice id = request->arguments[0], attempt = request->arguments[1];
    if (!may(http, SERVE_ROLE_UPLOAD, "remove uploads"))
        return;
    const struct pyro_catalog_list *list = pyro_serve_list(http);
    if (!list) {
        pyro_api_error(http, 503, "no memory left: try again later");
        return;
    }
    if (pyro_serve_parameter(http, "file").ptr) {
        remove_file(http, list, id);
        return;
    }
    const struct pyro_catalog_app *app = pyro_catalog_list_find(list, id);
    const struct pyro_attempt *found =
        app ? pyro_catalog_app_attempt(app, pyro_slice_is(attempt, "-") ? PYRO_SLICE_NULL : attempt) : NULL;
    if (!found) {
        pyro_api_error(http, 404, "there is no such application and attempt");
        return;
    }
    struct pyro_catalog_log_info log = pyro_catalog_list_log(list, found);
    if (!log.uploaded) {
        pyro_api_error(http, 403, "this log was not uploaded: it is in a folder that the server only reads");
        return;
    }
    const struct pyro_log *files = pyro_catalog_list_files(list, found);
    if (files && files->layout == PYRO_LAYOUT_LOGS) {
        remove_logged(http, files);
        return;
    }
    char path[4096];
    size_t folder = strlen(http->uploads->folder); /* whose own name may have a '!', while those of uploads have none */
    const char *member = memchr(log.path.ptr + folder, '!', log.path.len - folder);
    size_t len = member ? (size_t)(member - log.path.ptr) : log.path.len;
    snprintf(path, sizeof(path), "%.*s", (int)(len < sizeof(path) ? len : 0), log.path.ptr);
    remove_path(http, path);
}

/* ---- Feedback ---- */

static bool read_verdict(const char *text, enum pyro_feedback_verdict *ret)
{
    for (unsigned i = 0; text && pyro_feedback_name(i); i++) {
        if (i != PYRO_FEEDBACK_MISSED && strcmp(pyro_feedback_name(i), text) == 0) {
            *ret = (enum pyro_feedback_verdict)i;
            return true;
        }
    }
    return false;
}

static bool is_rule(const char *text)
{
    for (size_t i = 0; i < pyro_rules_count(); i++)
        if (strcmp(pyro_rules[i]->id, text) == 0)
            return true;
    return false;
}

/* What is to be kept; false: the body asks for nothing that can be, and the request is answered. */
static bool understand(struct serve_request *http, const struct api_feedback *said, struct pyro_feedback *feedback)
{
    if (said->missed && !said->finding && !said->verdict) {
        feedback->verdict = PYRO_FEEDBACK_MISSED;
        feedback->rule = is_rule(said->missed) ? said->missed : NULL;
        feedback->note = feedback->rule ? said->comment : said->missed;
        return true;
    }
    feedback->finding = said->finding;
    feedback->note = said->comment;
    if (said->finding && !said->missed && read_verdict(said->verdict, &feedback->verdict))
        return true;
    pyro_api_error(
        http, 400,
        "the body must have a finding (its id) and a verdict (%s, %s or %s), or missed (the id of a rule, or a text)",
        pyro_feedback_name(0), pyro_feedback_name(1), pyro_feedback_name(2));
    return false;
}

/* The run is recorded first: a store knows only findings of runs that it has. */
static enum pyro_status keep(const char *url, const struct pyro_catalog_diagnosis *open,
                             const struct pyro_feedback *feedback, struct pyro_error *error)
{
    pyro_store *store = NULL;
    PYRO_TRY(pyro_store_open(url, NULL, NULL, &store, error));
    /* Of a run that is only stored there is nothing to record: where it is in another store, the finding is unknown. */
    enum pyro_status status = open->app ? pyro_store_record(store, open->diagnosis, NULL, error) : PYRO_OK;
    if (status == PYRO_OK)
        status = pyro_store_add_feedback(store, feedback, error);
    pyro_store_close(store);
    return status;
}

static void refuse_feedback(struct serve_request *http, struct pyro_error *error)
{
    error->path[0] = '\0'; /* the store's */
    if (error->code == PYRO_ERROR_ARGUMENT)
        pyro_api_error(http, 404, "%s", error->message);
    else
        pyro_serve_failure(http, error);
}

void pyro_api_feedback(struct api_request *request)
{
    struct serve_request *http = request->http;
    struct pyro_slice type = pyro_serve_request_header(http, "Content-Type");
    struct pyro_arena arena;
    struct api_feedback said;
    struct pyro_error error = {.size = sizeof(error)};
    if (!may(http, SERVE_ROLE_UPLOAD, "give feedback on findings"))
        return;
    if (!http->shared->store) {
        pyro_api_error(http, 403, "this server has no store for feedback: start it with --store sqlite:FILE");
        return;
    }
    if (!type.ptr || strncasecmp(type.ptr, "application/json", 16) != 0) {
        pyro_api_error(http, 415, "the body must be JSON, and the header Content-Type application/json");
        return;
    }
    pyro_arena_init(&arena, NULL);
    const char *why = pyro_api_read_feedback(http->body, &arena, &said);
    struct pyro_feedback feedback = {.size = sizeof(feedback)};
    if (why) {
        pyro_api_error(http, 400, "cannot read the body: %s", why);
    } else if (understand(http, &said, &feedback)) {
        const struct pyro_catalog_diagnosis *open =
            pyro_api_diagnosis(http, request->app->id, request->attempt->attempt_id, false);
        feedback.application = !open       ? NULL
                               : open->app ? pyro_app_name(open->app)
                                           : pyro_arena_copy(&arena, request->app->name).ptr;
        if (open && keep(http->shared->store, open, &feedback, &error) != PYRO_OK)
            refuse_feedback(http, &error);
        if (open && error.code == PYRO_OK) {
            struct api_document document;
            pyro_catalog_forget_diagnoses(http->catalog);
            atomic_fetch_add_explicit(&http->shared->verdicts, 1, memory_order_relaxed);
            http->status = 201;
            pyro_api_begin(request, &document, "pyrometer.feedback/1");
            pyro_json_string(&document.json, "verdict", pyro_feedback_name(feedback.verdict));
            pyro_json_string(&document.json, "finding", feedback.finding);
            pyro_json_string(&document.json, "rule", feedback.rule);
            pyro_api_end(request, &document);
        }
        pyro_catalog_diagnosis_release(open);
    }
    pyro_arena_done(&arena);
}

/* ---- The paths below uploads, whose bodies go to files ---- */

void pyro_serve_uploads(struct serve_request *http)
{
    pyro_api_dispatch(http, "uploads");
}
