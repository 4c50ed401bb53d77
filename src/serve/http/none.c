/* In place of the server where libmicrohttpd is not there. */
#include "base/error.h"

enum pyro_status pyro_server_start(const char *const *folders, size_t folder_count,
                                   const struct pyro_server_options *options, pyro_server **ret,
                                   struct pyro_error *error)
{
    (void)folders;
    (void)folder_count;
    (void)options;
    (void)ret;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "this build has no network parts, and so no server: install libmicrohttpd-dev, "
                          "libgnutls28-dev and libsodium-dev and build "
                          "again");
}

enum pyro_status pyro_token_add(const char *file, const char *name, const char *role, const char *groups, char *ret,
                                size_t ret_bytes, struct pyro_error *error)
{
    (void)file;
    (void)name;
    (void)role;
    (void)groups;
    if (ret_bytes)
        *ret = '\0';
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "this build has no network parts, and so no server: install libmicrohttpd-dev, "
                          "libgnutls28-dev and libsodium-dev and build "
                          "again");
}

void pyro_server_reload(pyro_server *server)
{
    (void)server;
}

unsigned pyro_server_port(const pyro_server *server)
{
    (void)server;
    return 0;
}

void pyro_server_stop(pyro_server *server)
{
    (void)server;
}
