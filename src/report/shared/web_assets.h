/* The web UI as bytes: what the bundle of web/ was when this was built. */
#ifndef PYRO_REPORT_SHARED_WEB_ASSETS_H
#define PYRO_REPORT_SHARED_WEB_ASSETS_H

#include "base/error.h"

struct pyro_web_asset {
    const char
        *name; /* below the server's root: "index.html", "app.HASH.js"; report-N.html are pieces of the HTML report */
    const char *type; /* media type */
    const char *etag; /* of its content, quoted */
    const unsigned char *data;
    size_t len;
};

/* No rows when this build has no web UI. */
extern const struct pyro_web_asset pyro_web_assets[];
extern const size_t pyro_web_asset_count;

/* The asset of that name, or NULL. `name` "app." and `ending` ".js" find the one between them has a hash. */
const struct pyro_web_asset *pyro_web_find(const char *name, const char *ending);

/* PYRO_ERROR_ARGUMENT, with what to do, when this build has no web UI. */
enum pyro_status pyro_web_check(struct pyro_error *error);

#endif
