/* Whether all that a configuration names is available. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "fleet/crawl/list_folders.h"
#include "store/store.h"

struct doctor {
    struct pyro_crawl_settings settings;
    void (*tried)(void *context, const struct pyro_feature_info *what);
    void *context;
};

static void tell(const struct doctor *doctor, const char *name, bool works, const char *detail)
{
    const struct pyro_feature_info info = {
        .size = sizeof(info), .kind = "crawl", .name = name, .detail = detail, .available = works};
    doctor->tried(doctor->context, &info);
}

/* A store that is not there yet: whether it can be made. */
static bool can_be_made(const char *url, char *detail, size_t size)
{
    char folder[4096];
    const char *place = pyro_store_place(url), *slash = strrchr(place, '/');
    if (strncmp(url, "sqlite:", strlen("sqlite:")) != 0 || access(place, F_OK) == 0)
        return false;
    size_t len = slash ? (size_t)(slash - place) : 1;
    if (len >= sizeof(folder))
        return false;
    memcpy(folder, slash ? place : ".", len);
    folder[len] = '\0';
    bool works = access(len ? folder : "/", W_OK | X_OK) == 0;
    snprintf(detail, size, works ? "is created when it is needed" : "cannot be created: %s", strerror(errno));
    return works;
}

static void try_store(const struct doctor *doctor)
{
    const char *url = doctor->settings.store;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_store *store = NULL;
    char detail[1100] = "";
    if (!url) {
        tell(doctor, "store", false, "no store is named: add the key store");
        return;
    }
    if (pyro_store_open_to_read(url, &store, &error) == PYRO_OK) {
        bool writable = strncmp(url, "sqlite:", 7) != 0 || access(pyro_store_place(url), W_OK) == 0;
        tell(doctor, "store", writable, writable ? "can be read and written" : "can be read only");
    } else {
        bool works = pyro_store_is_url(url) && can_be_made(url, detail, sizeof(detail));
        tell(doctor, "store", works, detail[0] ? detail : error.message);
    }
    pyro_store_close(store);
}

static void try_source(const struct doctor *doctor, const struct pyro_crawl_source *source)
{
    struct pyro_crawl_memory memory = {0};
    struct pyro_crawl_list list;
    struct pyro_error error = {.size = sizeof(error)};
    char detail[1100];
    pyro_map_init(&memory.known, doctor->settings.allocator);
    /* Of a server only what ended just now: the answer shows that it is one. */
    const struct pyro_crawl_listing listing = {.settings = &doctor->settings,
                                               .source = source,
                                               .memory = &memory,
                                               .from_ms = source->server ? pyro_store_now_ms() : PYRO_NONE};
    bool works = pyro_crawl_list(&listing, &list, &error) == PYRO_OK;
    if (works && source->server)
        snprintf(detail, sizeof(detail), "answers as a History Server");
    else if (works)
        snprintf(detail, sizeof(detail), "can be read, and has %zu logs", list.seen);
    else
        snprintf(detail, sizeof(detail), "%s", error.message);
    tell(doctor, source->label, works, detail);
    pyro_crawl_list_done(&list, doctor->settings.allocator);
    pyro_map_done(&memory.known);
}

enum pyro_status pyro_crawl_try(const char *config, const struct pyro_options *options,
                                void (*tried)(void *context, const struct pyro_feature_info *what), void *context,
                                struct pyro_error *error)
{
    struct pyro_options own;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    if (!config || !tried)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_crawl_try(): the file or the function is missing");
    struct doctor doctor = {.tried = tried, .context = context};
    pyro_crawl_settings_init(&doctor.settings, own.allocator);
    enum pyro_status status = pyro_crawl_settings_load(&doctor.settings, config, error);
    if (status == PYRO_OK)
        try_store(&doctor);
    for (size_t i = 0; status == PYRO_OK && i < doctor.settings.sources.count; i++)
        try_source(&doctor, &doctor.settings.sources.items[i]);
    for (size_t i = 0; status == PYRO_OK && i < doctor.settings.enrichers.items.count; i++) {
        const struct pyro_enricher *enricher = &doctor.settings.enrichers.items.items[i];
        struct pyro_error why = {.size = sizeof(why)};
        bool works = pyro_enricher_try(enricher, &why) == PYRO_OK;
        tell(&doctor, enricher->label, works, works ? "answers" : why.message);
    }
    pyro_crawl_settings_done(&doctor.settings);
    return status;
}
