#include "serve/api/select.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "serve/shared.h"

enum { LIMIT_MAX = 1000, LIMIT = 100 };
enum { STATUS_ANY = PYRO_RUN_OUTCOMES };
enum { SORT_END, SORT_START, SORT_DURATION, SORT_NAME, SORT_USER, SORT_VERSION, SORT_BYTES };

bool pyro_api_read_selection(struct api_request *request, struct api_selection *ret)
{
    static const char *const statuses[] = {
#define PYRO_RUN_OUTCOME(id, name, words, status, meaning) name,
#include "model/outcome/run_outcomes.def"
#undef PYRO_RUN_OUTCOME
        "any", NULL};
    static const char *const sorts[] = {"end", "start", "duration", "name", "user", "version", "bytes", NULL},
                             *const orders[] = {"desc", "asc", NULL};
    size_t order;
    ret->search = pyro_serve_parameter(request->http, "search");
    ret->user = pyro_serve_parameter(request->http, "user");
    if (!pyro_api_choice(request, "status", statuses, STATUS_ANY, &ret->status) ||
        !pyro_api_choice(request, "sort", sorts, SORT_END, &ret->sort) ||
        !pyro_api_choice(request, "order", orders, ret->sort >= SORT_NAME && ret->sort <= SORT_VERSION, &order) ||
        !pyro_api_number(request, "offset", 0, INT32_MAX, 0, &ret->offset) ||
        !pyro_api_number(request, "limit", 0, LIMIT_MAX, LIMIT, &ret->limit))
        return false;
    ret->ascending = order == 1;
    ret->now_ms = (int64_t)time(NULL) * 1000;
    ret->stale_ms = request->http->shared->stale_ms;
    return true;
}

int64_t pyro_api_duration(const struct pyro_attempt *attempt)
{
    int64_t duration;
    return attempt->completed && !__builtin_sub_overflow(attempt->end_ms, attempt->start_ms, &duration) ? duration
                                                                                                        : PYRO_NONE;
}

/* ---- Which ones ---- */

/* Any case, of ASCII letters. */
static bool contains(struct pyro_slice text, struct pyro_slice part)
{
    for (size_t i = 0; part.len <= text.len && i <= text.len - part.len; i++)
        if (part.len == 0 || strncasecmp(text.ptr + i, part.ptr, part.len) == 0)
            return true;
    return false;
}

/* The file's or folder's own name: the folders above it are the same for all. */
static struct pyro_slice last_name(struct pyro_slice path)
{
    const char *slash = path.ptr ? memrchr(path.ptr, '/', path.len) : NULL;
    size_t skip = slash ? (size_t)(slash - path.ptr) + 1 : 0;
    return (struct pyro_slice){path.ptr + skip, path.len - skip};
}

static bool is_found(const struct pyro_catalog_list *list, const struct pyro_catalog_app *app, struct pyro_slice search)
{
    bool found = !search.ptr || contains(app->id, search) || contains(app->name, search);
    for (size_t i = 0; i < app->attempt_count && !found; i++)
        found = contains(app->attempts[i].user, search) ||
                contains(last_name(pyro_catalog_list_log(list, &app->attempts[i]).path), search);
    return found;
}

static bool is_of_user(const struct pyro_catalog_app *app, struct pyro_slice user)
{
    bool is = !user.ptr;
    for (size_t i = 0; i < app->attempt_count && !is; i++)
        is = pyro_slice_eq(app->attempts[i].user, user);
    return is;
}

static enum pyro_run_outcome outcome_of(const struct api_selection *selection, const struct pyro_attempt *attempt)
{
    return pyro_catalog_outcome(attempt, selection->now_ms, selection->stale_ms);
}

static bool is_selected(const struct pyro_catalog_list *list, const struct pyro_catalog_app *app,
                        const struct api_selection *selection)
{
    return (selection->status == STATUS_ANY || outcome_of(selection, app->attempts) == selection->status) &&
           is_of_user(app, selection->user) && is_found(list, app, selection->search);
}

/* ---- In which order ---- */

struct sorted {
    const struct pyro_catalog_app *app;
    struct pyro_slice text; /* what it is sorted by, where that is a text */
    int64_t number;         /* else this */
    bool known;
    bool ascending;
    size_t place; /* in the list: equal ones keep its order */
};

static int compare_sorted(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->known != b->known) /* what is unknown comes last either way */
        return a->known ? -1 : 1;
    int order = (a->number > b->number) - (a->number < b->number);
    if (a->text.ptr && b->text.ptr)
        order = pyro_slice_compare(a->text, b->text);
    if (order)
        return a->ascending ? order : -order;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* By the newest attempt. */
static struct sorted key_of(const struct pyro_catalog_list *list, const struct pyro_catalog_app *app,
                            const struct api_selection *selection)
{
    const struct pyro_attempt *newest = app->attempts;
    struct sorted key = {.app = app};
    const size_t sort = selection->sort;
    switch (sort) {
    case SORT_NAME:
        key.text = app->name;
        break;
    case SORT_USER:
        key.text = newest->user;
        break;
    case SORT_VERSION:
        key.text = newest->version;
        break;
    case SORT_START:
        key.number = newest->start_ms;
        break;
    case SORT_DURATION:
        key.number = pyro_api_duration(newest);
        break;
    case SORT_BYTES:
        key.number = (int64_t)pyro_catalog_list_log(list, newest).bytes;
        break;
    default:
        /* running ones end last */
        key.number = outcome_of(selection, newest) == PYRO_RUN_RUNNING ? INT64_MAX : pyro_catalog_last_ms(newest);
    }
    key.known = sort >= SORT_NAME && sort <= SORT_VERSION ? key.text.ptr != NULL : key.number != PYRO_NONE;
    return key;
}

const struct pyro_catalog_app **pyro_api_select(const struct pyro_catalog_list *list,
                                                const struct api_selection *selection, size_t *ret_count)
{
    size_t count;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    struct sorted *sorted = pyro_allocate(NULL, (count + 1) * sizeof(*sorted));
    const struct pyro_catalog_app **chosen = pyro_allocate(NULL, (count + 1) * sizeof(*chosen));
    *ret_count = 0;
    for (size_t i = 0; sorted && i < count; i++) {
        if (!is_selected(list, &apps[i], selection))
            continue;
        struct sorted key = key_of(list, &apps[i], selection);
        key.ascending = selection->ascending;
        key.place = i;
        sorted[(*ret_count)++] = key;
    }
    if (sorted && *ret_count > 1)
        qsort(sorted, *ret_count, sizeof(*sorted), compare_sorted);
    for (size_t i = 0; sorted && chosen && i < *ret_count; i++)
        chosen[i] = sorted[i].app;
    if (!sorted) {
        pyro_release(NULL, chosen);
        chosen = NULL;
    }
    pyro_release(NULL, sorted);
    return chosen;
}
