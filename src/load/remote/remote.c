#include "load/remote/remote.h"

#include <string.h>

struct pyro_remote_options pyro_remote_resolve(const struct pyro_load_settings *options)
{
    struct pyro_remote_options resolved = {.size = sizeof(resolved)};
    const struct pyro_remote_options *given = options->remote;
    pyro_struct_take(&resolved, sizeof(resolved), given); /* checked by pyro_load_resolve() */
    if (resolved.max_bytes == 0)
        resolved.max_bytes = UINT64_C(16) << 30;
    return resolved;
}

void pyro_remote_keep(const struct pyro_load_settings *options, struct pyro_slice answer)
{
    if (!options->unread)
        return;
    pyro_strbuf_clear(options->unread);
    pyro_strbuf_add(options->unread, answer.ptr, answer.len < PYRO_HTTP_KEPT_BYTES ? answer.len : PYRO_HTTP_KEPT_BYTES);
}

static bool report(void *context, uint64_t received, uint64_t expected)
{
    const struct pyro_remote_client *client = context;
    const struct pyro_load_settings *options = client->options;
    const struct pyro_progress progress = {.size = sizeof(progress),
                                           .path = client->path,
                                           .bytes_done = client->received + received,
                                           .bytes_total = expected};
    return options->progress && options->progress(options->progress_context, &progress) != 0;
}

enum pyro_status pyro_remote_client_open(struct pyro_remote_client *client, const struct pyro_load_settings *options,
                                         const char *path, struct pyro_error *error)
{
    struct pyro_remote_options remote = pyro_remote_resolve(options);
    *client = (struct pyro_remote_client){.options = options, .path = path};
    const struct pyro_http_options http = {
        .allocator = options->allocator,
        .user = remote.user,
        .token = remote.token,
        .timeout_s = remote.timeout_s,
        .stopped = report,
        .context = client,
        .refusal = options->unread,
    };
    return pyro_http_open(&http, &client->http, error);
}

void pyro_remote_client_close(struct pyro_remote_client *client)
{
    pyro_http_close(client->http);
    client->http = NULL;
}

void pyro_remote_add_api(struct pyro_strbuf *url, const struct pyro_remote *remote, bool attempt)
{
    pyro_strbuf_add_slice(url, remote->base);
    pyro_strbuf_add_text(url, "/api/v1/applications");
    if (!remote->app.ptr)
        return;
    pyro_strbuf_add_char(url, '/');
    pyro_strbuf_add_slice(url, remote->app);
    if (!attempt || !remote->attempt.ptr)
        return;
    pyro_strbuf_add_char(url, '/');
    pyro_strbuf_add_slice(url, remote->attempt);
}
