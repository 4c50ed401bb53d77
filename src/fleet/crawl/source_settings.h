/* The settings of a crawler: from its caller, and from crawl.yaml. */
#ifndef PYRO_FLEET_CRAWL_SOURCE_SETTINGS_H
#define PYRO_FLEET_CRAWL_SOURCE_SETTINGS_H

#include "base/collections/vec.h"
#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/pattern.h"
#include "fleet/crawl/classify.h"
#include "fleet/crawl/enrich.h"

/* Where logs are. Texts are NUL-terminated and of the settings' arena. */
struct pyro_crawl_source {
    const char *given; /* the address of a server, with the name and password that were given; or an absolute path */
    const char *label; /* what stores call it: no secrets */
    bool server;
    const char *user, *token; /* NULL: none */
    enum pyro_remote_mode mode;
    double rate; /* logs a second; 0: any */
};

typedef PYRO_VEC(struct pyro_pattern *) pyro_crawl_patterns;

struct pyro_crawl_settings {
    struct pyro_arena arena;
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_crawl_source) sources;
    const char *store; /* URL */
    unsigned jobs;
    unsigned every_ms;
    unsigned timeout_s; /* of servers; 0: the library's */
    uint64_t max_bytes; /* of one remote log; 0: the library's */
    int64_t min_end_ms; /* PYRO_NONE: any */
    int64_t still_ms;   /* a log without an end that has not grown for this time is taken as it is */
    bool once, retry_errors, recompute, unlimited;
    enum pyro_redaction redaction;
    pyro_crawl_patterns include, exclude; /* of names of applications */
    struct pyro_classes classes;
    struct pyro_enrichers enrichers;
};

void pyro_crawl_settings_init(struct pyro_crawl_settings *settings, const struct pyro_allocator *allocator);
void pyro_crawl_settings_done(struct pyro_crawl_settings *settings);
/* Adds a source as a user names it. PYRO_ERROR_ARGUMENT: it is neither an address nor a path that can be. */
enum pyro_status pyro_crawl_settings_add(struct pyro_crawl_settings *settings, const char *given,
                                         struct pyro_crawl_source **ret, struct pyro_error *error);
/* What is not said anywhere, and what cannot be. */
enum pyro_status pyro_crawl_settings_finish(struct pyro_crawl_settings *settings, struct pyro_error *error);
/* Whether runs of this application are wanted. */
bool pyro_crawl_settings_wants(const struct pyro_crawl_settings *settings, struct pyro_slice name);

/* crawl_config.c: takes over what a file says (docs/crawl.md). PYRO_ERROR_ARGUMENT: it is not valid. */
enum pyro_status pyro_crawl_settings_load(struct pyro_crawl_settings *settings, const char *path,
                                          struct pyro_error *error);

#endif
