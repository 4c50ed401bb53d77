/* The Model Context Protocol: JSON-RPC messages to tools that answer in few tokens. A tool writes lines of text; what
 * does not fit the caller's budget is cut at a line, and the last line says how to ask for the rest.
 *
 * Tools read what the library's documents say (reports, comparisons, predictions as JSON), so that an agent and the
 * command never disagree. One tool a file, all of them rows of tools.def. */
#ifndef PYRO_SERVE_MCP_MCP_H
#define PYRO_SERVE_MCP_MCP_H

#include <jansson.h>

#include "base/strings/strbuf.h"
#include "serve/request.h"

enum {
    MCP_DEFAULT_TOKENS = 1500,
    MCP_LEAST_TOKENS = 100,
    MCP_MOST_TOKENS = 20000,
    MCP_BYTES_PER_TOKEN = 3, /* of such text, on the safe side */
    MCP_LONGEST_MESSAGE = 1 << 20,
    MCP_LONGEST_ANSWER = 16 << 20 /* before it is cut to the budget */
};

struct pyro_mcp {
    struct pyro_catalog *catalog;
    struct serve_request *request;    /* whose list of applications counts; NULL: the catalog's */
    const struct pyro_prices *prices; /* or NULL */
    struct serve_ticket *ticket;      /* whether a call is to go on; NULL: always */
    const char *refusal;              /* what calls are answered with, as there is no room for them; NULL: there is */
    int64_t stale_ms;                 /* of serve_shared; 0: PYRO_STALE_MS */
    unsigned query_ms;                /* of `pyrometer mcp`: for each statement */
};

enum mcp_type { MCP_TEXT, MCP_INTEGER, MCP_FLAG, MCP_TEXTS };

/* One argument of a tool: its row of the tool's JSON Schema, and what calls are held to. */
struct mcp_parameter {
    const char *name;
    enum mcp_type type;
    bool required;
    const char *doc;     /* NULL: an option of fleet views, whose table says it */
    const char *choices; /* words separated by spaces; NULL: any; "@views": any, `doc` ends with the views of fleets */
};

struct mcp_call {
    struct pyro_mcp *mcp;
    json_t *arguments; /* an object whose members fit the tool's parameters */
    struct pyro_strbuf out;
    bool failed; /* `out` says what went wrong and what to do */
};

struct mcp_tool {
    const char *name, *title, *description;
    const struct mcp_parameter *parameters; /* ended by one without name; `budget` and `offset` come by themselves */
    void (*run)(struct mcp_call *call);
};

#define MCP_TOOL(name, class) extern const struct mcp_tool pyro_mcp_tool_##name;
#include "serve/mcp/tools.def"
#undef MCP_TOOL

/* The parameter that most tools have. */
#define MCP_PARAMETER_APP                                                                                              \
    {                                                                                                                  \
        "app", MCP_TEXT, true, "Application id, ID/ATTEMPT, or an application's name (its newest run)", NULL           \
    }

/* ---- JSON-RPC (rpc.c) ---- */

/* The answer to one message, a new reference; NULL: none is due (a notification). */
json_t *pyro_mcp_answer_message(struct pyro_mcp *mcp, const json_t *message);
/* Answers the text of one message into `out`, without a newline; nothing where no answer is due. */
void pyro_mcp_answer_text(struct pyro_mcp *mcp, struct pyro_slice text, struct pyro_strbuf *out);

/* tools/list and tools/call (tools.c), prompts/list and prompts/get (prompts.c). New references; NULL: the parameters
 * are wrong, and `ret_error` (of 256 bytes) says what. */
json_t *pyro_mcp_list_tools(void);
json_t *pyro_mcp_call_tool(struct pyro_mcp *mcp, const json_t *parameters, char *ret_error);
json_t *pyro_mcp_list_prompts(void);
json_t *pyro_mcp_get_prompt(const json_t *parameters, char *ret_error);

/* Whether the message calls a tool that needs a whole application. */
bool pyro_mcp_is_heavy(struct pyro_slice text);
bool pyro_mcp_is_heavy_tool(const json_t *name);

/* ---- What tools share ---- */

/* Arguments; NULL or the fallback where there is none. */
const char *pyro_mcp_text(const struct mcp_call *call, const char *name);
int64_t pyro_mcp_integer(const struct mcp_call *call, const char *name, int64_t fallback);
/* The call failed: this is all that is answered. */
void pyro_mcp_fail(struct mcp_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same by what a function of the library says, or why the call was stopped. */
void pyro_mcp_fail_with(struct mcp_call *call, const struct pyro_error *error);
/* A name from outside as messages show it: a long one is not repeated. */
const char *pyro_mcp_shown(const char *name);
void pyro_mcp_line(struct mcp_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The list of applications; to be given back by pyro_mcp_release_list(). */
const struct pyro_catalog_list *pyro_mcp_list(const struct pyro_mcp *mcp);
void pyro_mcp_release_list(const struct pyro_mcp *mcp, const struct pyro_catalog_list *list);
/* The application that the argument `name` means, diagnosed; to be given back by pyro_catalog_diagnosis_release().
 * NULL: it failed. */
const struct pyro_catalog_diagnosis *pyro_mcp_open(struct mcp_call *call, const char *name);

/* The same, with the report alone where that is all there is: for pyro_mcp_report() and nothing else. */
const struct pyro_catalog_diagnosis *pyro_mcp_open_report(struct mcp_call *call, const char *name);

/* The run that the argument `name` means, valid as long as the list. NULL: it failed. */
const struct pyro_attempt *pyro_mcp_find(struct mcp_call *call, const struct pyro_catalog_list *list, const char *name);

/* Documents as trees, new references; NULL: it failed. */
/* Of a document that was written, or why it was not as the call's failure. Releases the document. */
json_t *pyro_mcp_take(struct mcp_call *call, struct pyro_strbuf *document, enum pyro_status status,
                      const struct pyro_error *error);
json_t *pyro_mcp_report(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened);
/* Writes to the answer itself; refuses more than it may ever have. */
struct pyro_writer pyro_mcp_append(struct mcp_call *call);
/* An array of objects as a table: columns by the first row's keys; those that end in _ms, _bytes and _at are written as
 * durations, sizes and times. */
void pyro_mcp_table(struct mcp_call *call, const json_t *rows);
/* The rows of a statement over the application's tables, an array of objects; printf-like, of at most 1,000 bytes. */
json_t *pyro_mcp_rows(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One of the documents of pyro_view_write(), a new reference; tasks are not listed. printf-like. NULL: it failed. */
json_t *pyro_mcp_view(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One line that says which run it is. */
void pyro_mcp_headline(struct mcp_call *call, const json_t *report);

/* Members of documents: 0, "" and an empty array where there is nothing. */
int64_t pyro_mcp_int_of(const json_t *object, const char *key);
double pyro_mcp_real_of(const json_t *object, const char *key);
const char *pyro_mcp_text_of(const json_t *object, const char *key);
/* Whether the member exists and is not null. */
bool pyro_mcp_has(const json_t *object, const char *key);

/* For printf: "1.2 s", "3.4 GiB", "12 %", in one of the call's few buffers that are used in turn. */
struct mcp_words {
    char texts[12][32];
    unsigned next;
};
const char *pyro_mcp_ms(struct mcp_words *words, int64_t ms);
const char *pyro_mcp_bytes(struct mcp_words *words, int64_t bytes);
const char *pyro_mcp_share(struct mcp_words *words, double share);
const char *pyro_mcp_time(struct mcp_words *words, int64_t epoch_ms);

#endif
