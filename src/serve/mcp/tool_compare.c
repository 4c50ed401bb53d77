/* compare: two runs, and what their difference is attributed to. */
#include "serve/mcp/mcp.h"
#include "serve/stored.h"

enum { WIDTH = 120 };

static void write(struct mcp_call *call, const struct pyro_catalog_diagnosis *before,
                  const struct pyro_catalog_diagnosis *after)
{
    struct pyro_report_options options = {.size = sizeof(options), .width = WIDTH};
    struct pyro_comparison *comparison = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = pyro_mcp_append(call);
    const struct pyro_options limits = pyro_ticket_options(call->mcp->ticket);
    enum pyro_status status = pyro_compare(before->diagnosis, after->diagnosis, &limits, &comparison, &error);
    if (status == PYRO_OK)
        status = pyro_comparison_write(comparison, PYRO_FORMAT_TEXT, &options, &writer, &error);
    if (status != PYRO_OK)
        pyro_mcp_fail_with(call, &error);
    pyro_comparison_free(comparison);
}

static void write_findings(struct mcp_call *call, const json_t *document, const char *kind)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(json_object_get(document, "findings"), kind), i, one)
        pyro_mcp_line(call, "%s: %s [%s]", kind, pyro_mcp_text_of(one, "id"),
                      pyro_mcp_has(one, "severity_after") ? pyro_mcp_text_of(one, "severity_after")
                                                          : pyro_mcp_text_of(one, "severity_before"));
}

static void write_document(struct mcp_call *call, const json_t *document)
{
    struct mcp_words words = {0};
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(document, "explanation"), i, one)
        pyro_mcp_line(call, "%s", json_string_value(one));
    json_array_foreach(json_object_get(document, "caveats"), i, one) pyro_mcp_line(call, "%s", json_string_value(one));
    pyro_mcp_line(call, "Wall time, before and after:");
    json_array_foreach(json_object_get(json_object_get(document, "wall"), "parts"), i, one) pyro_mcp_line(
        call, "  %s: %s, %s", pyro_mcp_text_of(one, "name"), pyro_mcp_ms(&words, pyro_mcp_int_of(one, "before_ms")),
        pyro_mcp_ms(&words, pyro_mcp_int_of(one, "after_ms")));
    write_findings(call, document, "appeared");
    write_findings(call, document, "vanished");
    write_findings(call, document, "changed");
}

/* There is only the report of one of them. */
static void write_stored(struct mcp_call *call, const struct pyro_catalog_diagnosis *before,
                         const struct pyro_catalog_diagnosis *after)
{
    struct pyro_strbuf text;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_strbuf_init(&text, NULL);
    const struct pyro_writer writer = pyro_strbuf_writer(&text);
    json_t *document = NULL;
    if (pyro_stored_write_comparison(before, after, &writer, &error) == PYRO_OK)
        document = json_loadb(text.data, text.len, 0, NULL);
    if (document)
        write_document(call, document);
    else
        pyro_mcp_fail(call, "%s", error.message[0] ? error.message : "no memory left");
    json_decref(document);
    pyro_strbuf_done(&text);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *before = pyro_mcp_open_report(call, "before");
    const struct pyro_catalog_diagnosis *after = before ? pyro_mcp_open_report(call, "after") : NULL;
    if (after && before->app && after->app)
        write(call, before, after);
    else if (after)
        write_stored(call, before, after);
    pyro_catalog_diagnosis_release(before);
    pyro_catalog_diagnosis_release(after);
}

static const struct mcp_parameter parameters[] = {
    {"before", MCP_TEXT, true, "The run to compare with: application id, ID/ATTEMPT or name", NULL},
    {"after", MCP_TEXT, true, "The run to explain", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_compare = {"compare", "Compare two runs",
                                               "Why one run took longer than another: seconds by cause (they add up), "
                                               "settings, stages, SQL and findings that differ.",
                                               parameters, run};
