/* Documents of the library as trees, and their numbers in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "query/sql_query.h"
#include "serve/mcp/mcp.h"
#include "serve/stored.h"
#include "text/humanize.h"

static struct pyro_writer open_document(struct pyro_strbuf *document)
{
    pyro_strbuf_init(document, NULL);
    return pyro_strbuf_writer(document);
}

static int append_line(void *context, const void *data, size_t len)
{
    struct mcp_call *call = context;
    if (len > MCP_LONGEST_ANSWER - call->out.len || pyro_ticket_stopped(call->mcp->ticket) != SERVE_GO_ON)
        return -1;
    pyro_strbuf_add(&call->out, data, len);
    return call->out.failed;
}

struct pyro_writer pyro_mcp_append(struct mcp_call *call)
{
    return (struct pyro_writer){sizeof(struct pyro_writer), append_line, call};
}

json_t *pyro_mcp_take(struct mcp_call *call, struct pyro_strbuf *document, enum pyro_status status,
                      const struct pyro_error *error)
{
    json_error_t ignored;
    struct pyro_slice text = pyro_strbuf_slice(document);
    json_t *tree = status == PYRO_OK && !document->failed ? json_loadb(text.ptr, text.len, 0, &ignored) : NULL;
    if (!tree)
        status == PYRO_OK ? pyro_mcp_fail(call, "no memory left") : pyro_mcp_fail_with(call, error);
    pyro_strbuf_done(document);
    return tree;
}

json_t *pyro_mcp_report(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    struct pyro_error error = {.size = sizeof(error)};
    json_t *tree = pyro_stored_tree(opened, &error);
    if (!tree)
        pyro_mcp_fail(call, "%s", error.message);
    return tree;
}

json_t *pyro_mcp_rows(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *format, ...)
{
    char statement[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(statement, sizeof(statement), format, arguments);
    va_end(arguments);
    struct pyro_strbuf document;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = open_document(&document);
    const struct pyro_options options = pyro_ticket_options(call->mcp->ticket);
    enum pyro_status status =
        pyro_sql_run(opened->app, statement, PYRO_FORMAT_JSON, PYRO_SQL_SERVER_DISK_BYTES, &options, &writer, &error);
    return pyro_mcp_take(call, &document, status, &error);
}

json_t *pyro_mcp_view(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *format, ...)
{
    char name[100];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    struct pyro_strbuf document;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_view_options options = {.size = sizeof(options), .most_tasks = 1};
    struct pyro_writer writer = open_document(&document);
    enum pyro_status status = pyro_view_write(opened->diagnosis, name, &options, &writer, &error);
    return pyro_mcp_take(call, &document, status, &error);
}

int64_t pyro_mcp_int_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_real(value) ? (int64_t)json_real_value(value) : json_integer_value(value);
}

double pyro_mcp_real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

const char *pyro_mcp_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool pyro_mcp_has(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

/* ---- Numbers in words ---- */

static const char *keep(struct mcp_words *words, struct pyro_strbuf *text)
{
    char *place = words->texts[words->next++ % (sizeof(words->texts) / sizeof(*words->texts))];
    snprintf(place, sizeof(*words->texts), "%s", text->data ? text->data : "");
    pyro_strbuf_done(text);
    return place;
}

const char *pyro_mcp_ms(struct mcp_words *words, int64_t ms)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_human_ms(&text, ms);
    return keep(words, &text);
}

const char *pyro_mcp_bytes(struct mcp_words *words, int64_t bytes)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_human_bytes(&text, bytes);
    return keep(words, &text);
}

const char *pyro_mcp_share(struct mcp_words *words, double share)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_human_share(&text, share);
    return keep(words, &text);
}

const char *pyro_mcp_time(struct mcp_words *words, int64_t epoch_ms)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_human_time(&text, epoch_ms, 0);
    return keep(words, &text);
}

void pyro_mcp_headline(struct mcp_call *call, const json_t *report)
{
    struct mcp_words words = {0};
    const json_t *app = json_object_get(report, "application"), *totals = json_object_get(report, "totals");
    pyro_mcp_line(
        call, "%s%s%s \"%s\": Spark %s on %s, %s, took %s from %s; %" PRId64 " executors, %" PRId64 " cores at most",
        pyro_mcp_text_of(app, "id"), pyro_mcp_has(app, "attempt") ? "/" : "", pyro_mcp_text_of(app, "attempt"),
        pyro_mcp_text_of(app, "name"), pyro_mcp_text_of(app, "spark_version"), pyro_mcp_text_of(report, "platform"),
        pyro_mcp_text_of(app, pyro_mcp_has(app, "outcome") ? "outcome" : "status"),
        pyro_mcp_ms(&words, pyro_mcp_int_of(app, "duration_ms")),
        pyro_mcp_time(&words, pyro_mcp_int_of(app, "start_ms")), pyro_mcp_int_of(totals, "executors"),
        pyro_mcp_int_of(totals, "cores_peak"));
}
