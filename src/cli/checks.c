/* What `serve` and `mcp` need: a server is started and stopped, an agent's first messages are answered. */
#include "checks.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

enum { CONNECTIONS = 4096, FILES_BESIDE = 64 };

struct rows {
    struct cli_check *all;
    size_t count;
};

static void add(struct rows *rows, const char *kind, const char *name, bool available, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void add(struct rows *rows, const char *kind, const char *name, bool available, const char *format, ...)
{
    if (rows->count == CLI_CHECKS_MAX)
        return;
    struct cli_check *row = &rows->all[rows->count++];
    *row = (struct cli_check){.kind = kind, .name = name, .available = available};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->detail, sizeof(row->detail), format, arguments);
    va_end(arguments);
}

/* ---- serve ------------------------------------------------------------------------------------------------------- */

/* Starts a server for an empty folder on a free port of the loopback interface, and stops it. */
static bool try_server(const char *folder, const struct pyro_server_options *options, struct pyro_error *error)
{
    pyro_server *server = NULL;
    if (pyro_server_start(&folder, 1, options, &server, error) != PYRO_OK)
        return false;
    pyro_server_stop(server);
    return true;
}

static void check_listening(struct rows *rows, const char *folder)
{
    const struct pyro_server_options four = {.size = sizeof(four), .host = "127.0.0.1"};
    const struct pyro_server_options six = {.size = sizeof(six), .host = "::1"};
    struct pyro_error error = {.size = sizeof(error)};
    bool started = try_server(folder, &four, &error);
    add(rows, "serve", "listen", started, "%s",
        started ? "a server was started and stopped on a free port of 127.0.0.1" : error.message);
    if (started && try_server(folder, &six, &error)) /* many machines have no IPv6, and miss nothing */
        add(rows, "serve", "listen on IPv6", true, "the same on ::1");
}

static void check_access(struct rows *rows, const char *folder, const struct cli_call *call)
{
    const char *tokens = cli_value(call, "tokens"), *certificate = cli_value(call, "tls-cert"),
               *key = cli_value(call, "tls-key");
    if (tokens != NULL) {
        const struct pyro_server_options options = {.size = sizeof(options), .tokens = tokens};
        struct pyro_error error = {.size = sizeof(error)};
        bool started = try_server(folder, &options, &error);
        add(rows, "serve", "tokens", started, "%s", started ? "the file can be used" : error.message);
    }
    if (certificate != NULL || key != NULL) {
        const struct pyro_server_options options = {
            .size = sizeof(options), .tls_certificate = certificate, .tls_key = key};
        struct pyro_error error = {.size = sizeof(error)};
        bool started = try_server(folder, &options, &error);
        add(rows, "serve", "TLS", started, "%s", started ? "the certificate and its key can be used" : error.message);
    }
}

static void check_pages(struct rows *rows)
{
    for (size_t i = 0; i < pyro_features_count(); i++) {
        struct pyro_feature_info feature = {.size = sizeof(feature)};
        cli_filled(pyro_features_get(i, &feature));
        if (strcmp(feature.kind, "report") == 0 && strcmp(feature.name, "html") == 0)
            add(rows, "serve", "web UI", feature.available,
                feature.available ? "built in"
                                  : "this build answers programs only: it needs nodejs and npm where it is built");
    }
}

/* The folder, or the nearest existing one above it: it is made when it is needed. */
static bool can_write(const char *path)
{
    char folder[PATH_MAX];
    int len = snprintf(folder, sizeof(folder), "%s", path);
    while (len > 0 && (size_t)len < sizeof(folder) && access(folder, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return access(".", W_OK | X_OK) == 0;
        slash[slash == folder] = '\0';
    }
    return access(folder, W_OK | X_OK) == 0;
}

static void check_cache(struct rows *rows, const struct cli_call *call)
{
    char buffer[PATH_MAX];
    const char *folder = cli_cache_folder(call, buffer, sizeof(buffer));
    if (folder == NULL)
        add(rows, "serve", "cache", false,
            "no folder: set HOME or XDG_CACHE_HOME, or use --cache; without one each start "
            "reads all logs again");
    else if (can_write(folder))
        add(rows, "serve", "cache", true, "%s", folder);
    else
        add(rows, "serve", "cache", false, "%s cannot be written; use --cache or --no-cache", folder);
}

static void check_changes(struct rows *rows)
{
#ifdef __linux__
    int fd = inotify_init1(IN_CLOEXEC);
    bool seen = fd >= 0 && inotify_add_watch(fd, "/", IN_CREATE) >= 0;
    int reason = errno;
    unsigned long most = 0;
    FILE *limit = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
    if (limit != NULL) {
        if (fscanf(limit, "%lu", &most) != 1)
            most = 0;
        fclose(limit);
    }
    if (fd >= 0)
        close(fd);
    if (!seen)
        add(rows, "serve", "changes at once", false,
            "no inotify watch can be had (%s): folders are looked at every --update-interval; raise "
            "fs.inotify.max_user_watches and max_user_instances",
            strerror(reason));
    else if (most > 0)
        add(rows, "serve", "changes at once", true, "inotify, at most %lu folders of this user", most);
    else
        add(rows, "serve", "changes at once", true, "inotify");
#else
    add(rows, "serve", "changes at once", false, "only on Linux: folders are looked at every --update-interval");
#endif
}

static void check_connections(struct rows *rows)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    bool enough = files.rlim_max == RLIM_INFINITY || files.rlim_max >= CONNECTIONS + FILES_BESIDE;
    if (files.rlim_max == RLIM_INFINITY)
        add(rows, "serve", "connections", true, "any number of open files");
    else
        add(rows, "serve", "connections", enough, "%llu open files at most%s", (unsigned long long)files.rlim_max,
            enough ? "" : ", one for each connection: raise the hard limit (ulimit -Hn)");
}

/* ---- mcp --------------------------------------------------------------------------------------------------------- */

struct answer {
    char text[256 * 1024];
    size_t len;
};

static int keep(void *context, const void *data, size_t len)
{
    struct answer *answer = context;
    if (len >= sizeof(answer->text) - answer->len)
        return -1;
    memcpy(answer->text + answer->len, data, len);
    answer->len += len;
    answer->text[answer->len] = '\0';
    return 0;
}

static bool ask(pyro_mcp *mcp, const char *message, struct answer *ret, struct pyro_error *error)
{
    const struct pyro_writer writer = {sizeof(writer), keep, ret};
    ret->len = 0;
    ret->text[0] = '\0';
    return pyro_mcp_answer(mcp, message, strlen(message), &writer, error) == PYRO_OK;
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        count++;
    }
    return count;
}

static void check_agents(struct rows *rows, const char *folder)
{
    static const char revision_key[] = "\"protocolVersion\":\"";
    const struct pyro_mcp_options options = {.size = sizeof(options)};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_mcp *mcp = NULL;
    char revision[32] = "";
    size_t tools = 0;
    struct answer *answer = malloc(sizeof(*answer));
    if (answer != NULL && pyro_mcp_new(&folder, 1, &options, &mcp, &error) == PYRO_OK &&
        ask(mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}", answer, &error)) {
        const char *at = strstr(answer->text, revision_key);
        if (at != NULL)
            snprintf(revision, sizeof(revision), "%.*s", (int)strcspn(at + strlen(revision_key), "\""),
                     at + strlen(revision_key));
        if (ask(mcp, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}", answer, &error))
            tools = occurrences(answer->text, "\"inputSchema\":");
    }
    if (revision[0] != '\0')
        add(rows, "mcp", "protocol", true, "Model Context Protocol, revision %s and older", revision);
    else
        add(rows, "mcp", "protocol", false, "%s", error.message[0] != '\0' ? error.message : "no answer to initialize");
    add(rows, "mcp", "tools", tools > 0, "%zu", tools);
    pyro_mcp_free(mcp);
    free(answer);
}

/* ---- crawl ------------------------------------------------------------------------------------------------------- */

struct names {
    struct rows rows;
    char text[CLI_CHECKS_MAX][200];
};

static void add_tried(void *context, const struct pyro_feature_info *what)
{
    struct names *names = context;
    if (names->rows.count == CLI_CHECKS_MAX)
        return;
    char *name = names->text[names->rows.count];
    snprintf(name, sizeof(names->text[0]), "%s", what->name);
    add(&names->rows, "crawl", name, what->available != 0, "%s", what->detail);
}

bool cli_crawl_checks(const struct cli_call *call, struct cli_check *ret, size_t *count)
{
    static struct names names; /* as long as the rows */
    struct pyro_error error = {.size = sizeof(error)};
    const char *config = cli_value(call, "config");
    if (config == NULL)
        return true;
    names.rows = (struct rows){.all = ret, .count = *count};
    if (pyro_crawl_try(config, NULL, add_tried, &names, &error) != PYRO_OK) {
        cli_usage_error(call->verb, "%s", error.message);
        return false;
    }
    *count = names.rows.count;
    return true;
}

size_t cli_checks(const struct cli_call *call, struct cli_check *ret)
{
    struct rows rows = {.all = ret};
    const char *base = getenv("TMPDIR");
    char folder[PATH_MAX];
    if (base == NULL || base[0] != '/')
        base = "/tmp";
    int len = snprintf(folder, sizeof(folder), "%s/pyrometer-doctor-XXXXXX", base);
    bool made = len > 0 && (size_t)len < sizeof(folder) && mkdtemp(folder) != NULL;
    add(&rows, "serve", "uploads", made, made ? "kept below %s" : "%s cannot be written: set TMPDIR, or use --uploads",
        base);
    if (made) {
        check_listening(&rows, folder);
        check_access(&rows, folder, call);
    } else {
        add(&rows, "serve", "listen", false, "not tried without a folder for uploads");
    }
    check_pages(&rows);
    check_cache(&rows, call);
    check_changes(&rows);
    check_connections(&rows);
    if (made) {
        check_agents(&rows, folder);
        rmdir(folder);
    } else {
        add(&rows, "mcp", "protocol", false, "not tried: %s cannot be written", base);
    }
    return rows.count;
}
