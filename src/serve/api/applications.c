/* version, applications */
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "serve/api/select.h"
#include "serve/shared.h"

enum { UNREADABLE_MAX = 1000, USERS_MAX = 1000, PAST_RUNS = 30 };

static const char *role_name(enum serve_role role)
{
    switch (role) {
    case SERVE_ROLE_ADMIN:
        return "admin";
    case SERVE_ROLE_UPLOAD:
        return "upload";
    default:
        return "view";
    }
}

void pyro_api_version(struct api_request *request)
{
    struct api_document document;
    pyro_api_begin(request, &document, "pyrometer.version/1");
    pyro_json_string(&document.json, "version", pyro_version());
    pyro_json_string(&document.json, "spark_api", "3.5.6");
    pyro_json_bool(&document.json, "uploads", request->http->uploads != NULL);
    if (request->http->uploads)
        pyro_json_count(&document.json, "upload_bytes", request->http->shared->max_upload_bytes);
    else
        pyro_json_null(&document.json, "upload_bytes");
    pyro_json_bool(&document.json, "store", request->http->shared->store != NULL);
    size_t stores = 0;
    while (pyro_catalog_store_url(request->http->catalog, stores))
        stores++;
    pyro_json_count(&document.json, "stores", stores);
    pyro_json_string(&document.json, "role", role_name(request->http->role));
    pyro_json_line(&document.json);
    pyro_json_begin(&document.json, "features", '[');
    for (size_t i = 0; i < pyro_features_count(); i++) {
        struct pyro_feature_info feature = {.size = sizeof(feature)};
        pyro_ignore_status(pyro_features_get(i, &feature), "the index exists and the size is set");
        pyro_json_line(&document.json);
        pyro_json_begin(&document.json, NULL, '{');
        pyro_json_string(&document.json, "kind", feature.kind);
        pyro_json_string(&document.json, "name", feature.name);
        pyro_json_bool(&document.json, "built", feature.available != 0);
        pyro_json_end(&document.json, '}');
    }
    pyro_json_end(&document.json, ']');
    pyro_api_end(request, &document);
}

/* ---- Past runs ---- */

struct run {
    struct pyro_slice name;
    const struct pyro_attempt *attempt;
};

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    int order = pyro_slice_compare(a->name, b->name);
    if (order)
        return order;
    if (a->attempt->start_ms != b->attempt->start_ms)
        return a->attempt->start_ms < b->attempt->start_ms ? -1 : 1;
    return a->attempt < b->attempt ? -1 : a->attempt > b->attempt;
}

/* Completed attempts of all applications, by name and start; NULL: no memory. */
static struct run *sort_runs(const struct pyro_catalog_app *apps, size_t count, size_t *ret_count)
{
    size_t attempts = 0;
    for (size_t i = 0; i < count; i++)
        attempts += apps[i].attempt_count;
    struct run *runs = pyro_allocate(NULL, (attempts + 1) * sizeof(*runs));
    *ret_count = 0;
    for (size_t i = 0; runs && i < count; i++)
        for (size_t k = 0; k < apps[i].attempt_count; k++)
            if (apps[i].attempts[k].completed)
                runs[(*ret_count)++] = (struct run){apps[i].name, &apps[i].attempts[k]};
    if (runs && *ret_count > 1)
        qsort(runs, *ret_count, sizeof(*runs), compare_runs);
    return runs;
}

/* First of the runs whose name is not before `name`, or (`after`) behind it. */
static size_t bound(const struct run *runs, size_t count, struct pyro_slice name, bool after)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pyro_slice_compare(runs[middle].name, name);
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void write_past_runs(struct pyro_json_writer *json, const struct run *runs, size_t count, struct pyro_slice name)
{
    size_t first = bound(runs, count, name, false), end = bound(runs, count, name, true);
    pyro_json_begin_numbers(json, "past_runs_ms");
    if (end - first > PAST_RUNS)
        first = end - PAST_RUNS;
    for (size_t i = first; name.ptr && i < end; i++)
        pyro_json_number(json, pyro_api_duration(runs[i].attempt));
    pyro_json_end_numbers(json);
}

/* ---- The document ---- */

static void write_attempt(struct pyro_json_writer *json, const struct pyro_catalog_list *list,
                          const struct pyro_attempt *attempt, const struct api_selection *selection)
{
    enum pyro_run_outcome outcome = pyro_catalog_outcome(attempt, selection->now_ms, selection->stale_ms);
    struct pyro_catalog_log_info log = pyro_catalog_list_log(list, attempt);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "attempt", attempt->attempt_id);
    pyro_json_text(json, "user", attempt->user);
    pyro_json_int(json, "start_ms", attempt->start_ms);
    pyro_json_int(json, "end_ms", attempt->completed ? attempt->end_ms : PYRO_NONE);
    pyro_json_int(json, "duration_ms", pyro_api_duration(attempt));
    pyro_json_bool(json, "completed", attempt->completed);
    pyro_json_string(json, "outcome", pyro_run_outcome_name(outcome));
    pyro_json_int(json, "last_event_ms", pyro_catalog_last_ms(attempt));
    pyro_json_text(json, "spark_version", attempt->version);
    pyro_json_text(json, "log", log.path);
    pyro_json_count(json, "log_bytes", log.bytes);
    pyro_json_int(json, "modified_ms", attempt->modified_ms);
    pyro_json_bool(json, "uploaded", log.uploaded);
    pyro_json_bool(json, "stored", log.stored != NULL);
    pyro_json_end(json, '}');
}

static void write_app(struct pyro_json_writer *json, const struct pyro_catalog_list *list,
                      const struct pyro_catalog_app *app, const struct api_selection *selection)
{
    pyro_json_text(json, "id", app->id);
    pyro_json_text(json, "name", app->name);
    pyro_json_begin(json, "attempts", '[');
    for (size_t i = 0; i < app->attempt_count; i++)
        write_attempt(json, list, &app->attempts[i], selection);
    pyro_json_end(json, ']');
}

static int compare_users(const void *left, const void *right)
{
    return pyro_slice_compare(*(const struct pyro_slice *)left, *(const struct pyro_slice *)right);
}

/* Who ran any of them, each once, whatever is selected: what a list can be narrowed to. False: no memory. */
static bool write_users(struct pyro_json_writer *json, const struct pyro_catalog_app *apps, size_t count)
{
    size_t attempts = 0, known = 0, written = 0;
    for (size_t i = 0; i < count; i++)
        attempts += apps[i].attempt_count;
    struct pyro_slice *users = pyro_allocate(NULL, (attempts + 1) * sizeof(*users));
    for (size_t i = 0; users && i < count; i++)
        for (size_t k = 0; k < apps[i].attempt_count; k++)
            if (apps[i].attempts[k].user.ptr)
                users[known++] = apps[i].attempts[k].user;
    if (known > 1)
        qsort(users, known, sizeof(*users), compare_users);
    pyro_json_line(json);
    pyro_json_begin(json, "users", '[');
    for (size_t i = 0; i < known && written < USERS_MAX; i++) {
        if (i && pyro_slice_eq(users[i], users[i - 1]))
            continue;
        pyro_json_text(json, NULL, users[i]);
        written++;
    }
    pyro_json_end(json, ']');
    pyro_release(NULL, users);
    return users != NULL;
}

static void write_unreadable(struct pyro_json_writer *json, const struct pyro_catalog_list *list)
{
    size_t count;
    const struct pyro_catalog_unreadable *unreadable = pyro_catalog_list_unreadable(list, &count);
    pyro_json_line(json);
    pyro_json_begin(json, "unreadable", '[');
    for (size_t i = 0; i < count && i < UNREADABLE_MAX; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "path", unreadable[i].path);
        pyro_json_text(json, "error", unreadable[i].reason);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_api_applications(struct api_request *request)
{
    struct api_selection selection;
    if (!pyro_api_read_selection(request, &selection))
        return;
    size_t count, selected, run_count;
    const struct pyro_catalog_list *list = pyro_serve_list(request->http);
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    const struct pyro_catalog_app **chosen = pyro_api_select(list, &selection, &selected);
    struct run *runs = sort_runs(apps, count, &run_count);
    bool whole = chosen && runs;
    if (whole) {
        struct api_document document;
        pyro_api_begin(request, &document, "pyrometer.applications/1");
        pyro_json_count(&document.json, "total", selected);
        pyro_json_count(&document.json, "all", count);
        pyro_json_line(&document.json);
        pyro_json_begin(&document.json, "applications", '[');
        for (size_t i = (size_t)selection.offset; i < selected && i < (size_t)(selection.offset + selection.limit);
             i++) {
            pyro_json_line(&document.json);
            pyro_json_begin(&document.json, NULL, '{');
            write_app(&document.json, list, chosen[i], &selection);
            write_past_runs(&document.json, runs, run_count, chosen[i]->name);
            pyro_json_end(&document.json, '}');
        }
        pyro_json_end(&document.json, ']');
        whole = write_users(&document.json, apps, count);
        write_unreadable(&document.json, list);
        pyro_api_end(request, &document);
    }
    if (!whole)
        pyro_api_error(request->http, 503, "no memory left to list the applications");
    pyro_release(NULL, chosen);
    pyro_release(NULL, runs);
}
