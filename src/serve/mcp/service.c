/* /mcp: the streamable HTTP transport, without sessions and without streams of the server's own: each POST is answered
 * by one JSON document. */
#include "serve/mcp/mcp.h"
#include "serve/shared.h"

void pyro_serve_mcp(struct serve_request *request)
{
    struct pyro_mcp mcp = {.catalog = request->catalog,
                           .request = request,
                           .prices = request->shared->prices,
                           .stale_ms = request->shared->stale_ms,
                           .ticket = request->ticket,
                           .refusal = request->refusal};
    if (request->path.len) {
        pyro_serve_plain(request, 404, "HTTP 404 Not Found");
        return;
    }
    if (request->method != SERVE_POST) { /* no stream to listen to, no session to end */
        pyro_serve_header(request, "Allow", PYRO_SLICE_LITERAL("POST"));
        pyro_serve_plain(request, 405, "POST JSON-RPC messages here: this server does not open streams");
        return;
    }
    if (!request->ticket && !request->refusal && pyro_mcp_is_heavy(request->body)) {
        request->is_heavy = true;
        return;
    }
    pyro_mcp_answer_text(&mcp, request->body, request->out);
    if (request->out->len == 0)
        request->status = 202; /* a notification */
}
