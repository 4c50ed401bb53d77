/* The public functions. */
#include "base/error.h"
#include "base/memory/allocator.h"
#include "base/options.h"
#include "serve/mcp/mcp.h"

enum { UPDATE_MS = 10000, QUERY_MS = 15000 };

enum pyro_status pyro_mcp_new(const char *const *folders, size_t folder_count, const struct pyro_mcp_options *given,
                              pyro_mcp **ret, struct pyro_error *error)
{
    struct pyro_mcp_options own = {.size = sizeof(own)}, *options = &own;
    pyro_error_clear(error);
    PYRO_TRY(PYRO_TAKE(&own, given, error));
    if (!folders || folder_count == 0 || !given || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_mcp_new(): the folder or the options are missing");
    struct pyro_mcp *mcp = pyro_allocate(NULL, sizeof(*mcp));
    if (!mcp)
        return pyro_no_memory(error);
    *mcp = (struct pyro_mcp){.prices = options->prices, .query_ms = options->query_ms ? options->query_ms : QUERY_MS};
    const struct pyro_catalog_options wanted = {
        .folders = folders,
        .folder_count = folder_count,
        .follow_links = true, /* the user who starts it may read what they lead to */
        .memory_bytes = options->memory_bytes ? options->memory_bytes : (uint64_t)1 << 30,
        .update_ms = UPDATE_MS,
        .watch = true,
        .load = {.size = sizeof(wanted.load), .wanted = PYRO_WANT_PLAN_TEXT, .redaction = options->redaction},
        .rules = {.size = sizeof(wanted.rules), .prices = options->prices},
    };
    enum pyro_status status = pyro_catalog_open(&wanted, &mcp->catalog, error);
    if (status == PYRO_OK)
        *ret = mcp;
    else
        pyro_release(NULL, mcp);
    return status;
}

enum pyro_status pyro_mcp_answer(pyro_mcp *mcp, const char *message, size_t len, const struct pyro_writer *writer,
                                 struct pyro_error *error)
{
    struct pyro_strbuf out;
    enum pyro_status status = PYRO_OK;
    struct serve_ticket ticket = {.query_ms = mcp->query_ms};
    atomic_init(&ticket.deadline_ms, INT64_MAX);
    mcp->ticket = &ticket;
    pyro_error_clear(error);
    if (!pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a writer is needed");
    pyro_strbuf_init(&out, NULL);
    pyro_mcp_answer_text(mcp, (struct pyro_slice){message, len}, &out);
    if (out.failed)
        status = pyro_no_memory(error);
    else if (out.len && writer->write(writer->context, out.data, out.len) != 0)
        status = pyro_error_set(error, PYRO_ERROR_OUTPUT, "the answer could not be written");
    pyro_strbuf_done(&out);
    mcp->ticket = NULL;
    return status;
}

void pyro_mcp_free(pyro_mcp *mcp)
{
    if (!mcp)
        return;
    pyro_catalog_close(mcp->catalog);
    pyro_release(NULL, mcp);
}
