#include "config_options.h"

#include "loading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The user's own file, then the one of the folder the command runs in, which has the last word. */
static enum pyro_status read_usual(pyro_config *config, struct pyro_error *error)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[4096] = "";
    enum pyro_status status = PYRO_OK;
    int len = 0;
    if (base != NULL && base[0] == '/')
        len = snprintf(path, sizeof(path), "%s/pyrometer/config.yaml", base);
    else if (home != NULL && home[0] == '/')
        len = snprintf(path, sizeof(path), "%s/.config/pyrometer/config.yaml", home);
    if (len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0)
        status = pyro_config_read(config, path, error);
    if (status == PYRO_OK && access(".pyrometer.yaml", F_OK) == 0)
        status = pyro_config_read(config, ".pyrometer.yaml", error);
    return status;
}

static enum pyro_status read_suppressions(const struct cli_call *call, pyro_config *config, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    const char *what;
    for (size_t i = 0; status == PYRO_OK && (what = cli_repeated_value(call, "suppress", i)) != NULL; i++) {
        char reason[1200];
        snprintf(reason, sizeof(reason), "--suppress %s", what);
        status = pyro_config_suppress(config, what, reason, error);
    }
    return status;
}

int cli_config_open(const struct cli_call *call, pyro_config **ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_config *config = NULL;
    const char *path = cli_value(call, "config");
    enum pyro_status status = pyro_config_new(NULL, &config, &error);
    if (status == PYRO_OK && path == NULL)
        status = read_usual(config, &error);
    else if (status == PYRO_OK && strcmp(path, "none") != 0)
        status = pyro_config_read(config, path, &error);
    if (status == PYRO_OK)
        status = read_suppressions(call, config, &error);
    if (status == PYRO_OK && cli_value_if_known(call, "profile") != NULL)
        status = pyro_config_profile(config, cli_value(call, "profile"), &error);
    if (status == PYRO_OK) {
        *ret = config;
        return CLI_EXIT_OK;
    }
    pyro_config_free(config);
    return status == PYRO_ERROR_ARGUMENT ? cli_usage_error(call->verb, "%s", error.message) : cli_failure(&error);
}
