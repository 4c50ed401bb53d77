/* list_applications */
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/numbers/saturate.h"
#include "base/options.h"
#include "serve/mcp/mcp.h"

/* One attempt of an application that was asked for. */
struct row {
    const struct pyro_catalog_app *app;
    const struct pyro_attempt *attempt;
};

static int64_t length_of(const struct pyro_attempt *attempt)
{
    return attempt->completed ? pyro_sub_saturating(attempt->end_ms, attempt->start_ms) : -1;
}

static int by_start(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->attempt->start_ms < y->attempt->start_ms) - (x->attempt->start_ms > y->attempt->start_ms);
}

static int by_duration(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int64_t first = length_of(x->attempt), second = length_of(y->attempt);
    return first != second ? (first < second) - (first > second) : by_start(a, b);
}

static int by_name(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = pyro_slice_compare(x->app->name, y->app->name);
    return order ? order : by_start(a, b);
}

static bool contains(struct pyro_slice text, const char *part)
{
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.ptr + i, part, len) == 0)
            return true;
    return false;
}

static const char *outcome_name(const struct mcp_call *call, const struct pyro_attempt *attempt)
{
    int64_t stale_ms = call->mcp->stale_ms ? call->mcp->stale_ms : PYRO_STALE_MS;

    return pyro_run_outcome_name(pyro_catalog_outcome(attempt, (int64_t)time(NULL) * 1000, stale_ms));
}

static bool is_wanted(const struct mcp_call *call, const struct row *row)
{
    const char *search = pyro_mcp_text(call, "search"), *user = pyro_mcp_text(call, "user"),
               *status = pyro_mcp_text(call, "status");
    if (search && !contains(row->app->name, search) && !contains(row->app->id, search))
        return false;
    if (user && !pyro_slice_is(row->attempt->user, user))
        return false;
    return !status || strcmp(outcome_name(call, row->attempt), status) == 0;
}

static void write_row(struct mcp_call *call, const struct row *row)
{
    struct mcp_words words = {0};
    const struct pyro_attempt *attempt = row->attempt;
    pyro_mcp_line(call, "%.*s%s%.*s | %.*s | %.*s | %s | %s | %s | %.*s", (int)row->app->id.len, row->app->id.ptr,
                  attempt->attempt_id.ptr ? "/" : "", (int)attempt->attempt_id.len,
                  attempt->attempt_id.ptr ? attempt->attempt_id.ptr : "", (int)row->app->name.len, row->app->name.ptr,
                  (int)attempt->user.len, attempt->user.ptr ? attempt->user.ptr : "",
                  pyro_mcp_time(&words, attempt->start_ms),
                  attempt->completed ? pyro_mcp_ms(&words, length_of(attempt)) : "-", outcome_name(call, attempt),
                  (int)attempt->version.len, attempt->version.ptr ? attempt->version.ptr : "");
}

static void write_rows(struct mcp_call *call, struct row *rows, size_t count)
{
    const char *sort = pyro_mcp_text(call, "sort");
    qsort(rows, count, sizeof(*rows),
          sort && strcmp(sort, "duration") == 0 ? by_duration
          : sort && strcmp(sort, "name") == 0   ? by_name
                                                : by_start);
    pyro_mcp_line(call, "%zu runs: id[/attempt] | name | user | start | took | state | Spark", count);
    for (size_t i = 0; i < count; i++)
        write_row(call, &rows[i]);
}

static void run(struct mcp_call *call)
{
    size_t count, total = 0, wanted = 0;
    const struct pyro_catalog_list *list = pyro_mcp_list(call->mcp);
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    for (size_t i = 0; i < count; i++)
        total += apps[i].attempt_count;
    struct row *rows = list ? calloc(total + 1, sizeof(*rows)) : NULL;
    for (size_t i = 0; rows && i < count; i++) {
        for (size_t j = 0; j < apps[i].attempt_count; j++) {
            rows[wanted] = (struct row){&apps[i], &apps[i].attempts[j]};
            wanted += is_wanted(call, &rows[wanted]);
        }
    }
    if (rows)
        write_rows(call, rows, wanted);
    else
        pyro_mcp_fail(call, "no memory left");
    free(rows);
    pyro_mcp_release_list(call->mcp, list);
}

static const struct mcp_parameter parameters[] = {
    {"search", MCP_TEXT, false, "Part of a name or an id, case-insensitive", NULL},
    {"user", MCP_TEXT, false, "Only applications of this user", NULL},
    {"status", MCP_TEXT, false, "Only applications in this state",
     "completed job_failed failed stopped truncated running"},
    {"sort", MCP_TEXT, false, "Order: newest first, longest first, or by name (default: start)", "start duration name"},
    {0},
};

const struct mcp_tool pyro_mcp_tool_list_applications = {
    "list_applications", "List applications",
    "Spark applications with an event log, newest first, with id, name, user, start and duration.", parameters, run};
