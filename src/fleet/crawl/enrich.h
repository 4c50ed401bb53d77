/* What other services know of a run: values of their answers become tags, aggregates and columns. */
#ifndef PYRO_FLEET_CRAWL_ENRICH_H
#define PYRO_FLEET_CRAWL_ENRICH_H

#include <pthread.h>

#include "base/collections/vec.h"
#include "base/secrets/secrets.h"
#include "base/strings/pattern.h"
#include "fleet/crawl/expression.h"

enum pyro_enricher_kind { PYRO_ENRICH_HTTP, PYRO_ENRICH_YARN, PYRO_ENRICH_MENAS };
enum pyro_enrich_target { PYRO_ENRICH_TAG, PYRO_ENRICH_AGGREGATE, PYRO_ENRICH_QUEUE };

/* One value that is taken from an answer. */
struct pyro_enrich_value {
    enum pyro_enrich_target target;
    const char *name; /* of the tag or aggregate */
    const struct pyro_expression *expression;
};

struct pyro_enricher {
    enum pyro_enricher_kind kind;
    const char *label;              /* for messages: no secrets */
    const char *url;                /* template: {app_id}, {attempt}, {name}, {user} */
    const char *user;               /* "NAME:PASSWORD" for HTTP; NULL: none */
    const char *account, *password; /* of Menas, which has a page for them */
    const char *token;
    unsigned timeout_s;
    int64_t cache_ms;
    struct pyro_pattern *names; /* only runs with such a name; NULL: all */
    const char *ids;            /* only runs whose id begins with this; NULL: all */
    PYRO_VEC(struct pyro_enrich_value) values;
    struct pyro_enrich_memory *memory; /* of answers, and of failures */
};

struct pyro_enrichers {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_enricher) items;
};

/* A failure of one of them, for the store's errors. */
struct pyro_enrich_failure {
    const char *type; /* static */
    struct pyro_slice message, raw;
};
typedef PYRO_VEC(struct pyro_enrich_failure) pyro_enrich_failures;

/* Adds one of that kind, with what its kind brings along. NULL: no memory. */
struct pyro_enricher *pyro_enrichers_add(struct pyro_enrichers *all, enum pyro_enricher_kind kind,
                                         struct pyro_arena *arena);
/* What a kind takes from its answers by itself. PYRO_ERROR_MEMORY only. */
enum pyro_status pyro_enricher_complete(struct pyro_enricher *enricher, struct pyro_arena *arena,
                                        const struct pyro_allocator *allocator, struct pyro_error *error);
void pyro_enrichers_done(struct pyro_enrichers *all);
/* Asks all of them about a run. Failures go to the list, in the arena; the run has what the others said. For several
 * threads. False: no memory. */
bool pyro_enrich(const struct pyro_enrichers *all, enum pyro_redaction redaction, struct pyro_run *run,
                 struct pyro_arena *arena, pyro_enrich_failures *failures);
/* Numbers of the clusters now. False: no memory. */
bool pyro_enrich_clusters(const struct pyro_enrichers *all, struct pyro_arena *arena,
                          void (*take)(void *context, const struct pyro_cluster_row *row),
                          void (*failed)(void *context, const struct pyro_enricher *enricher, const char *message),
                          void *context);
/* Whether the service answers, without a run. */
enum pyro_status pyro_enricher_try(const struct pyro_enricher *enricher, struct pyro_error *error);

/* For menas.c: adds or replaces; a text without its secrets. False: no memory. */
bool pyro_enrich_tag(struct pyro_run *run, struct pyro_secrets *secrets, const char *name, struct pyro_slice value);
bool pyro_enrich_number(struct pyro_run *run, const char *name, double value);
/* menas.c: what the answer of Menas says of the run. *ret_found: one of its runs is this one. False: no memory. */
bool pyro_menas_take(const json_t *document, struct pyro_secrets *secrets, struct pyro_run *run, bool *ret_found);

#endif
