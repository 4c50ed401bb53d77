/* logs: what the text logs of a run say: errors, what repeats, when things ran. */
#include <inttypes.h>

#include "serve/mcp/mcp.h"
#include "serve/run_files.h"

enum { ERRORS = 100, CHUNKS = 50, LIST_MOST = 5 };

/* ---- Words ---- */

/* "executors 1, 2 and 3 more" */
static void add_list(struct pyro_strbuf *line, const char *what, const json_t *values)
{
    size_t i, count = json_array_size(values);
    json_t *value;
    if (count > 0)
        pyro_strbuf_printf(line, ", %s", what);
    json_array_foreach(values, i, value)
    {
        if (i == LIST_MOST) {
            pyro_strbuf_printf(line, " and %zu more", count - i);
            return;
        }
        pyro_strbuf_add_text(line, i ? ", " : " ");
        if (json_is_string(value))
            pyro_strbuf_add_text(line, json_string_value(value));
        else
            pyro_strbuf_add_int(line, json_integer_value(value));
    }
}

static void write_headline(struct mcp_call *call, const json_t *document)
{
    pyro_mcp_line(call, "%" PRId64 " lines of %" PRId64 " text logs, %" PRId64 " records taken",
                  pyro_mcp_int_of(document, "lines"), pyro_mcp_int_of(document, "files"),
                  pyro_mcp_int_of(document, "records"));
}

/* ---- Errors ---- */

static void write_error(struct mcp_call *call, size_t number, const json_t *error)
{
    struct mcp_words words = {0};
    struct pyro_strbuf line;
    const json_t *root = json_object_get(error, "root");
    const char *text = pyro_mcp_text_of(error, "text");
    pyro_strbuf_init(&line, NULL);
    pyro_strbuf_printf(&line, "%zu. %s, %" PRId64 " x", number,
                       pyro_mcp_has(error, "time_ms") ? pyro_mcp_time(&words, pyro_mcp_int_of(error, "time_ms"))
                                                      : "unknown time",
                       pyro_mcp_int_of(error, "count"));
    add_list(&line, "executors", json_object_get(error, "executors"));
    add_list(&line, "stages", json_object_get(error, "stages"));
    if (pyro_mcp_has(error, "cause"))
        pyro_strbuf_printf(&line, ", cause %s", pyro_mcp_text_of(error, "cause"));
    if (json_is_object(root))
        pyro_strbuf_printf(&line, ": %s: %s", pyro_mcp_text_of(root, "class"), pyro_mcp_text_of(root, "message"));
    else
        pyro_strbuf_printf(&line, ": %.*s", (int)strcspn(text, "\n"), text);
    pyro_mcp_line(call, "%.*s", (int)line.len, line.data ? line.data : "");
    call->out.failed |= line.failed;
    pyro_strbuf_done(&line);
}

static void write_lines(struct mcp_call *call, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        pyro_mcp_line(call, "%.*s", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void write_errors(struct mcp_call *call, const json_t *document)
{
    const json_t *errors = json_object_get(document, "errors");
    int64_t wanted = pyro_mcp_integer(call, "error", 0);
    size_t i;
    json_t *error;
    if (wanted > 0) {
        error = json_array_get(errors, (size_t)wanted - 1);
        if (!error) {
            pyro_mcp_fail(call, "there is no error %" PRId64 ": %zu are listed", wanted, json_array_size(errors));
            return;
        }
        write_error(call, (size_t)wanted, error);
        write_lines(call, pyro_mcp_text_of(error, "text"));
        return;
    }
    write_headline(call, document);
    pyro_mcp_line(call, "%" PRId64 " kinds of errors, newest first (error=N has the whole text of one):",
                  pyro_mcp_int_of(document, "kinds"));
    json_array_foreach(errors, i, error) write_error(call, i + 1, error);
}

/* ---- What repeats ---- */

static void write_chunks(struct mcp_call *call, const json_t *document)
{
    size_t i, k;
    json_t *chunk, *line;
    write_headline(call, document);
    pyro_mcp_line(call, "Messages and blocks that take most of the lines (<*> stands for anything):");
    json_array_foreach(json_object_get(document, "chunks"), i, chunk)
    {
        struct mcp_words words = {0};
        pyro_mcp_line(call, "%s of all lines, %" PRId64 " x, %s",
                      pyro_mcp_share(&words, pyro_mcp_real_of(chunk, "share")), pyro_mcp_int_of(chunk, "count"),
                      pyro_mcp_has(chunk, "level") ? pyro_mcp_text_of(chunk, "level") : "no level");
        json_array_foreach(json_object_get(chunk, "lines"), k, line)
            pyro_mcp_line(call, "  %s", json_string_value(line));
    }
}

/* ---- The call ---- */

static const struct what {
    const char *name;
    pyro_logs_of_parts *function;
    void (*write)(struct mcp_call *call, const json_t *document);
    size_t limit;
} whats[] = {{"errors", pyro_logs_errors_of, write_errors, ERRORS}, {"top", pyro_logs_top_of, write_chunks, CHUNKS}};

static void ask(struct mcp_call *call, const struct what *what, const struct serve_run_files *files)
{
    char stage[24];
    int64_t number = pyro_mcp_integer(call, "stage", -1);
    struct pyro_strbuf document;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_logs_options asked = {.size = sizeof(asked),
                                      .level = pyro_mcp_text(call, "level"),
                                      .since = pyro_mcp_text(call, "since"),
                                      .until = pyro_mcp_text(call, "until"),
                                      .executor = pyro_mcp_text(call, "executor"),
                                      .grep = pyro_mcp_text(call, "grep"),
                                      .limit = what->limit,
                                      .redaction = files->redaction};
    if (number >= 0) {
        snprintf(stage, sizeof(stage), "%" PRId64, number);
        asked.stage = stage;
    }
    const struct pyro_options options = pyro_ticket_options(call->mcp->ticket);
    pyro_strbuf_init(&document, NULL);
    struct pyro_writer writer = pyro_strbuf_writer(&document);
    enum pyro_status status = what->function(&files->parts, &asked, PYRO_FORMAT_JSON, &options, &writer, &error);
    json_t *tree = pyro_mcp_take(call, &document, status, &error);
    if (tree)
        what->write(call, tree);
    json_decref(tree);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_list *list = pyro_mcp_list(call->mcp);
    const struct pyro_attempt *attempt = list ? pyro_mcp_find(call, list, "app") : NULL;
    const char *name = pyro_mcp_text(call, "what");
    const struct what *what = name && strcmp(name, whats[1].name) == 0 ? &whats[1] : &whats[0];
    struct serve_run_files files;
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    if (!list || (attempt && !pyro_serve_run_files(call->mcp->catalog, list, attempt, SERVE_TEXT_LOGS, &arena, &files)))
        pyro_mcp_fail(call, "no memory left: try again later");
    else if (attempt && files.parts.count == 0)
        pyro_mcp_fail(call, "%s", pyro_serve_no_files(SERVE_TEXT_LOGS));
    else if (attempt)
        ask(call, what, &files);
    pyro_arena_done(&arena);
    pyro_mcp_release_list(call->mcp, list);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"what", MCP_TEXT, false,
     "errors: exceptions with their causes, each kind once, newest first (default); top: the messages and blocks of "
     "lines that take most of the logs",
     "errors top"},
    {"error", MCP_INTEGER, false, "Number of an error in the list, to see its whole text", NULL},
    {"level", MCP_TEXT, false, "Records of this level and worse ones", "trace debug info warn error fatal"},
    {"executor", MCP_TEXT, false, "Logs of this executor, or of the driver", NULL},
    {"stage", MCP_INTEGER, false, "Records that name this stage", NULL},
    {"since", MCP_TEXT, false, "Records at this time or later: 2024-03-01T10:15:00", NULL},
    {"until", MCP_TEXT, false, "Records at this time or earlier", NULL},
    {"grep", MCP_TEXT, false, "Records in which this regular expression (PCRE2) finds something", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_logs = {
    "logs", "Read the text logs",
    "What the logs of the driver and the executors say, for runs that have such files next to their event log: errors "
    "with causes, and what repeats most.",
    parameters, run};
