#include "price_options.h"

/* File `index` of the option, which a verb may take once or several times; NULL after the last one. */
static const char *sheet(const struct cli_call *call, size_t index)
{
    const char *path = cli_repeated_value(call, "prices", index);
    return path == NULL && index == 0 ? cli_value(call, "prices") : path;
}

enum pyro_status cli_prices_open(const struct cli_call *call, pyro_prices **ret, struct pyro_error *error)
{
    enum pyro_status status = pyro_prices_new(NULL, ret, error);
    const char *path;
    for (size_t i = 0; status == PYRO_OK && (path = sheet(call, i)) != NULL; i++)
        status = pyro_prices_read(*ret, path, error);
    return status;
}
