/* One log: fetched, read, diagnosed, and made into what a store keeps of its run. */
#ifndef PYRO_FLEET_CRAWL_READ_RUN_H
#define PYRO_FLEET_CRAWL_READ_RUN_H

#include "fleet/crawl/source_settings.h"
#include "store/store.h"

enum pyro_crawl_outcome {
    PYRO_CRAWL_MADE,   /* `run` is to be recorded */
    PYRO_CRAWL_BROKEN, /* `step`, `type` and `message` say what failed */
    PYRO_CRAWL_UNWANTED,
    PYRO_CRAWL_STOPPED
};

struct pyro_crawl_result {
    enum pyro_crawl_outcome outcome;
    pyro_app *app;
    pyro_diagnosis *diagnosis;
    struct pyro_run run; /* PYRO_CRAWL_MADE only */
    int64_t wall_ms;
    /* PYRO_CRAWL_BROKEN, and why it is not wanted: */
    const char *step, *type; /* static */
    char message[1024];
    bool lasting;                  /* the log itself is why */
    struct pyro_slice raw;         /* of the result's arena, NUL-terminated; null: none */
    pyro_enrich_failures failures; /* of services, in the arena */
    struct pyro_arena arena;
};

struct pyro_crawl_reading {
    const struct pyro_crawl_settings *settings;
    const struct pyro_crawl_source *source; /* NULL: `key` is the path of a run that is stored */
    const char *history_version;            /* the Spark version of that server; NULL: unknown, or no server */
    struct pyro_slice key;                  /* of the item; without a source the path */
    struct pyro_slice app_id, attempt;      /* the run that is read again; null: any, if wanted */
    int (*progress)(void *context, const struct pyro_progress *progress);
    void *context;
    /* Applies what people said of earlier findings; called on the thread that reads. */
    enum pyro_status (*judge)(void *context, pyro_diagnosis *diagnosis, struct pyro_error *error);
};

/* pyro_crawl_result_done() in every case. */
void pyro_crawl_read(const struct pyro_crawl_reading *reading, struct pyro_crawl_result *ret);
void pyro_crawl_result_done(struct pyro_crawl_result *result);

#endif
