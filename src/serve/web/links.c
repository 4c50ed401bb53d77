/* Addresses of a History Server's own pages, which schedulers and drivers print and people keep: each leads to the page
 * of the web UI that shows the same. */
#include "report/shared/web_assets.h"
#include "serve/request.h"
#include "source/http/http.h"

/* Spark's pages below /history/ID or /history/ID/ATTEMPT, and ours below #/app/ID/ATTEMPT/. Parameters of Spark's page
 * become segments of ours; the first that lacks ends the address. */
static const struct spark_page {
    const char *path, *page, *parameters[2];
} pages[] = {
    {"", "overview", {NULL, NULL}},
    {"jobs", "timeline", {NULL, NULL}},
    {"jobs/job", "timeline", {NULL, NULL}},
    {"stages", "stage", {NULL, NULL}},
    {"stages/stage", "stage", {"id", "attempt"}},
    {"stages/pool", "stage", {NULL, NULL}},
    {"SQL", "sql", {NULL, NULL}},
    {"SQL/execution", "sql", {"id", NULL}},
    {"executors", "executors", {NULL, NULL}},
    {"executors/threadDump", "executors", {NULL, NULL}},
    {"storage", "executors", {NULL, NULL}},
    {"storage/rdd", "executors", {NULL, NULL}},
    {"environment", "configuration", {NULL, NULL}},
};

static const struct spark_page *find_page(const struct pyro_slice *segments, size_t count)
{
    for (size_t i = 1; i < sizeof(pages) / sizeof(*pages); i++)
        if (pyro_serve_matches(pages[i].path, segments, count, NULL, 0))
            return &pages[i];
    return &pages[0]; /* of streams and whatever else a Spark UI may have */
}

static void add_segment(struct pyro_strbuf *text, struct pyro_slice segment)
{
    pyro_strbuf_add_char(text, '/');
    pyro_http_escape(text, segment);
}

/* Without an attempt in the address: the newest, as with Spark's server. */
static const struct pyro_attempt *find_attempt(struct serve_request *request, struct pyro_slice *segments,
                                               size_t *count)
{
    const struct pyro_catalog_list *list = pyro_serve_list(request);
    const struct pyro_catalog_app *app = list && *count ? pyro_catalog_list_find(list, segments[0]) : NULL;
    const struct pyro_attempt *named = app && *count > 1 ? pyro_catalog_app_attempt(app, segments[1]) : NULL;
    size_t used = named ? 2 : 1;
    if (!app || app->attempt_count == 0)
        return NULL;
    memmove(segments, segments + used, (*count - used) * sizeof(*segments));
    *count -= used;
    return named ? named : &app->attempts[0];
}

/* The next segments are those of our page; `page` is Spark's. */
static void add_page(struct pyro_strbuf *place, const struct serve_request *request, const struct spark_page *page)
{
    add_segment(place, pyro_slice_from(page->page));
    for (size_t i = 0; i < 2 && page->parameters[i]; i++) {
        struct pyro_slice value = pyro_serve_parameter(request, page->parameters[i]);
        if (pyro_serve_id(value) < 0)
            return;
        add_segment(place, value);
    }
}

void pyro_serve_history_pages(struct serve_request *request)
{
    struct pyro_slice segments[SERVE_SEGMENTS];
    size_t count = pyro_serve_split(request->path, segments);
    if (count == SIZE_MAX || !pyro_web_find("index.html", "")) {
        pyro_serve_plain(request, 404, "HTTP 404 Not Found");
        return;
    }
    struct pyro_strbuf *place = request->out; /* of the answer, which has no body */
    pyro_strbuf_add_text(place, "/");
    if (count) {
        struct pyro_slice id = segments[0];
        const struct pyro_attempt *attempt = find_attempt(request, segments, &count);
        if (!attempt) {
            pyro_serve_plain(request, 404, "There is no application with that id here.");
            return;
        }
        pyro_strbuf_add_text(place, "#/app");
        add_segment(place, id);
        add_segment(place, attempt->attempt_id.len ? attempt->attempt_id : PYRO_SLICE_LITERAL("-"));
        add_page(place, request, find_page(segments, count));
    }
    if (place->failed) {
        pyro_serve_plain(request, 503, "no memory left");
        return;
    }
    size_t headers = request->header_count;
    pyro_serve_header(request, "Location", (struct pyro_slice){place->data, place->len});
    if (request->header_count == headers) {
        pyro_serve_plain(request, 404, "This id is too long for an address.");
        return;
    }
    pyro_strbuf_clear(place);
    request->status = 302;
    request->type = NULL;
}
