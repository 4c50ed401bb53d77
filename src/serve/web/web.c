/* The web UI: the page at "/" and its script and style, out of this program. */
#include "report/shared/web_assets.h"
#include "serve/request.h"

/* The page may load what this server has, ask it, and nothing else; no page may put it into a frame. */
static const char policy[] = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
                             "form-action 'none'; frame-ancestors 'none'";

/* The answer at "/" without a web UI. */
static const char without[] =
    "Pyrometer serves these paths:\n  /api/v1/         the REST API of Spark's History Server\n  /pyrometer/v1/   "
    "reports, findings, timelines\n\nThis build has no web UI: install nodejs and npm, run \"npm install\" in the "
    "folder web/ of the source,\nand build it again (./dev build does all of that).\n";

static bool is_page(struct pyro_slice path)
{
    return path.len == 0 || pyro_slice_is(path, "index.html");
}

/* The pieces of the HTML report are assets too, but no pages. */
static const struct pyro_web_asset *find(struct pyro_slice path)
{
    if (is_page(path))
        return pyro_web_find("index.html", "");
    for (size_t i = 0; i < pyro_web_asset_count; i++)
        if (pyro_slice_is(path, pyro_web_assets[i].name) && strncmp(pyro_web_assets[i].name, "app.", 4) == 0)
            return &pyro_web_assets[i];
    return NULL;
}

void pyro_serve_web(struct serve_request *request)
{
    const struct pyro_web_asset *asset = find(request->path);
    if (!asset && is_page(request->path)) {
        pyro_serve_plain(request, 200, "%s", without);
        return;
    }
    if (!asset) {
        pyro_serve_plain(request, 404, "HTTP 404 Not Found");
        return;
    }
    request->type = asset->type;
    pyro_strbuf_add(request->out, (const char *)asset->data, asset->len);
    pyro_serve_header(request, "ETag", pyro_slice_from(asset->etag));
    pyro_serve_header(request, "Content-Security-Policy", pyro_slice_from(policy));
    pyro_serve_header(request, "Referrer-Policy", PYRO_SLICE_LITERAL("no-referrer"));
    pyro_serve_header(request, "Cross-Origin-Opener-Policy", PYRO_SLICE_LITERAL("same-origin"));
    /* Names of scripts and styles change with what is in them; the page is asked for again each time. */
    pyro_serve_header(request, "Cache-Control",
                      is_page(request->path) ? PYRO_SLICE_LITERAL("no-cache")
                                             : PYRO_SLICE_LITERAL("public, max-age=31536000, immutable"));
}
