/* Which application an argument means. */
#include "base/error.h"
#include "serve/mcp/mcp.h"

const struct pyro_catalog_list *pyro_mcp_list(const struct pyro_mcp *mcp)
{
    return mcp->request ? pyro_serve_list(mcp->request) : pyro_catalog_list(mcp->catalog);
}

void pyro_mcp_release_list(const struct pyro_mcp *mcp, const struct pyro_catalog_list *list)
{
    if (!mcp->request) /* a request releases its own */
        pyro_catalog_list_release(list);
}

/* The newest attempt, or the one that is named. */
static const struct pyro_attempt *pick(const struct pyro_catalog_app *app, struct pyro_slice attempt)
{
    for (size_t i = 0; i < app->attempt_count; i++)
        if (!attempt.ptr || (app->attempts[i].attempt_id.ptr && pyro_slice_eq(app->attempts[i].attempt_id, attempt)))
            return &app->attempts[i];
    return NULL;
}

static const struct pyro_catalog_app *newest_of_name(const struct pyro_catalog_app *apps, size_t count,
                                                     struct pyro_slice name)
{
    const struct pyro_catalog_app *newest = NULL;
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(apps[i].name, name) && (!newest || apps[i].attempts->start_ms > newest->attempts->start_ms))
            newest = &apps[i];
    return newest;
}

static void not_found(struct mcp_call *call, const char *what, const struct pyro_catalog_app *apps, size_t count)
{
    pyro_mcp_fail(call, "there is no application '%s' among the %zu applications", pyro_mcp_shown(what), count);
    for (size_t i = 0; i < count && i < 5; i++)
        pyro_strbuf_printf(&call->out, "%s%.*s (%.*s)", i ? ", " : "; the last ones to end: ", (int)apps[i].id.len,
                           apps[i].id.ptr, (int)apps[i].name.len, apps[i].name.ptr);
    pyro_strbuf_add_text(&call->out, count ? "; list_applications finds others" : "");
}

/* Fails where there is none. */
static const struct pyro_catalog_app *find(struct mcp_call *call, const struct pyro_catalog_list *list,
                                           const char *what, struct pyro_slice *ret_attempt)
{
    size_t count;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    const struct pyro_catalog_app *app = pyro_catalog_list_find(list, pyro_slice_from(what));
    const char *slash = strrchr(what, '/');
    if (!app)
        app = newest_of_name(apps, count, pyro_slice_from(what));
    if (!app && slash) {
        *ret_attempt = pyro_slice_from(slash + 1);
        app = pyro_catalog_list_find(list, (struct pyro_slice){what, (size_t)(slash - what)});
        if (app && !pick(app, *ret_attempt))
            app = NULL;
    }
    if (!app)
        not_found(call, what, apps, count);
    return app;
}

const struct pyro_attempt *pyro_mcp_find(struct mcp_call *call, const struct pyro_catalog_list *list, const char *name)
{
    struct pyro_slice attempt = PYRO_SLICE_NULL;
    const struct pyro_catalog_app *app = find(call, list, pyro_mcp_text(call, name), &attempt);
    return app ? pick(app, attempt) : NULL;
}

static const struct pyro_catalog_diagnosis *open_run(struct mcp_call *call, const char *name, bool whole)
{
    const struct pyro_catalog_list *list = pyro_mcp_list(call->mcp);
    const struct pyro_catalog_caller caller = pyro_ticket_caller(call->mcp->ticket);
    const struct pyro_catalog_diagnosis *opened = NULL;
    struct pyro_slice attempt = PYRO_SLICE_NULL;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_catalog_app *app = list ? find(call, list, pyro_mcp_text(call, name), &attempt) : NULL;
    enum pyro_status status = PYRO_OK;
    if (!list)
        pyro_mcp_fail(call, "no memory left: try again later");
    if (app) {
        struct pyro_slice id = pick(app, attempt)->attempt_id;
        status = whole ? pyro_catalog_diagnosis(call->mcp->catalog, &caller, app->id, id, &opened, &error)
                       : pyro_catalog_report(call->mcp->catalog, &caller, app->id, id, &opened, &error);
    }
    if (status != PYRO_OK)
        pyro_mcp_fail_with(call, &error);
    else if (app && !opened)
        pyro_mcp_fail(call, "the log of this application no longer exists");
    pyro_mcp_release_list(call->mcp, list);
    return opened;
}

const struct pyro_catalog_diagnosis *pyro_mcp_open(struct mcp_call *call, const char *name)
{
    return open_run(call, name, true);
}

const struct pyro_catalog_diagnosis *pyro_mcp_open_report(struct mcp_call *call, const char *name)
{
    return open_run(call, name, false);
}
