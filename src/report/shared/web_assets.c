#include "report/shared/web_assets.h"

#include <string.h>

const struct pyro_web_asset *pyro_web_find(const char *name, const char *ending)
{
    size_t head = strlen(name), tail = strlen(ending);
    for (size_t i = 0; i < pyro_web_asset_count; i++) {
        const char *candidate = pyro_web_assets[i].name;
        size_t len = strlen(candidate);
        if (len < head + tail || memcmp(candidate, name, head) != 0 || strcmp(candidate + len - tail, ending) != 0)
            continue;
        if (tail || len == head)
            return &pyro_web_assets[i];
    }
    return NULL;
}

enum pyro_status pyro_web_check(struct pyro_error *error)
{
    if (pyro_web_asset_count)
        return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "this build has no web UI: install nodejs and npm, run npm install in web/, and build again");
}
