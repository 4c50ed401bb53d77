/* Sources as people name them, and the defaults. */
#include "fleet/crawl/source_settings.h"

#include <stdlib.h>
#include <string.h>

#include "load/remote/remote.h"
#include "model/rows.h"
#include "source/http/http.h"

enum { MOST_JOBS = 64, EVERY_MS = 60000, STILL_MS = 86400000 };

static void free_patterns(const pyro_crawl_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        pyro_pattern_free(patterns->items[i]);
}

void pyro_crawl_settings_init(struct pyro_crawl_settings *settings, const struct pyro_allocator *allocator)
{
    *settings = (struct pyro_crawl_settings){.allocator = allocator, .min_end_ms = PYRO_NONE, .still_ms = STILL_MS};
    settings->classes.allocator = settings->enrichers.allocator = allocator;
    pyro_arena_init(&settings->arena, allocator);
}

void pyro_crawl_settings_done(struct pyro_crawl_settings *settings)
{
    free_patterns(&settings->include);
    free_patterns(&settings->exclude);
    pyro_vec_done(&settings->include, settings->allocator);
    pyro_vec_done(&settings->exclude, settings->allocator);
    pyro_vec_done(&settings->sources, settings->allocator);
    pyro_classes_done(&settings->classes);
    pyro_enrichers_done(&settings->enrichers);
    pyro_arena_done(&settings->arena);
}

enum pyro_status pyro_crawl_settings_add(struct pyro_crawl_settings *settings, const char *given,
                                         struct pyro_crawl_source **ret, struct pyro_error *error)
{
    struct pyro_crawl_source source = {.server = pyro_is_url(given)};
    if (!given[0] || pyro_slice_is(pyro_slice_from(given), "-"))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "'%.200s' is not a source; give a folder or the address of a History Server", given);
    if (source.server) {
        source.given = pyro_arena_copy(&settings->arena, pyro_remote_server(given)).ptr;
        source.label = source.given ? pyro_http_label_in(&settings->arena, source.given).ptr : NULL;
    } else {
        /* One that is missing now may come. */
        char *absolute = realpath(given, NULL);
        source.given = source.label =
            pyro_arena_copy(&settings->arena, pyro_slice_from(absolute ? absolute : given)).ptr;
        free(absolute);
    }
    if (!source.given || !source.label)
        return pyro_no_memory(error);
    for (size_t i = 0; i < settings->sources.count; i++)
        if (strcmp(settings->sources.items[i].label, source.label) == 0) {
            *ret = &settings->sources.items[i];
            return PYRO_OK;
        }
    struct pyro_crawl_source *added = pyro_vec_push(&settings->sources, settings->allocator);
    if (!added)
        return pyro_no_memory(error);
    *added = source;
    *ret = added;
    return PYRO_OK;
}

enum pyro_status pyro_crawl_settings_finish(struct pyro_crawl_settings *settings, struct pyro_error *error)
{
    if (!settings->store)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "name the store: --store sqlite:FILE or opensearch:URL");
    if (settings->sources.count == 0 && !settings->recompute && !settings->retry_errors)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "name a source: a folder of event logs, or the address of a History Server");
    if (settings->jobs > MOST_JOBS)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a crawler has 1 to %d jobs", (int)MOST_JOBS);
    settings->once |= settings->sources.count == 0; /* then nothing can come later */
    settings->every_ms = settings->every_ms ? settings->every_ms : EVERY_MS;
    return PYRO_OK;
}

static bool matches(const pyro_crawl_patterns *patterns, struct pyro_slice text)
{
    bool found = false;
    for (size_t i = 0; i < patterns->count && !found; i++)
        found = pyro_bounded_match(patterns->items[i], text, NULL, 0) > 0;
    return found;
}

bool pyro_crawl_settings_wants(const struct pyro_crawl_settings *settings, struct pyro_slice name)
{
    return (settings->include.count == 0 || matches(&settings->include, name)) && !matches(&settings->exclude, name);
}
