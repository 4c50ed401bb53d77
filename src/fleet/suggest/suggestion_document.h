/* A suggestion as people and programs read it. */
#ifndef PYRO_FLEET_SUGGEST_SUGGESTION_DOCUMENT_H
#define PYRO_FLEET_SUGGEST_SUGGESTION_DOCUMENT_H

#include "fleet/suggest/suggest.h"
#include "report/report.h"
#include "store/query.h"
#include "text/json_write.h"

/* Behind pyro_suggestion of pyrometer.h. */
struct pyro_suggestion {
    struct pyro_arena arena;
    struct pyro_slice id, application;
    struct pyro_suggestion_result result;
    double deadline_ms, max_cost;
    bool permitted; /* the policy allows to apply it without a review */
    struct {
        struct pyro_slice target;        /* absolute; null: it was not applied */
        struct pyro_slice kept;          /* the former file; null: there was none */
        struct pyro_slice before, after; /* XXH128 of the file; before: null where there was none */
        int64_t time_ms;
    } applied;
    double saves_core_ms; /* in one run; 0 where nothing changes, or it is not known */
};

/* As a member, or with a NULL key an element or the whole: pyrometer.suggestion/1. */
void pyro_suggestion_json(struct pyro_json_writer *json, const char *key, const struct pyro_suggestion *suggestion);
void pyro_suggestion_text(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion);
/* "--conf spark.executor.instances=5 ..." in one line; nothing where there are no settings. */
void pyro_suggestion_flags(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion);
/* Lines of spark-defaults.conf. */
void pyro_suggestion_defaults(struct pyro_strbuf *text, const struct pyro_suggestion *suggestion);

/* As pyro_suggest(), from the runs that `viewer` may see; NULL: from all. */
enum pyro_status pyro_suggest_for(pyro_store *store, const struct pyro_query_viewer *viewer, const char *application,
                                  const struct pyro_suggest_options *wanted, const struct pyro_options *options,
                                  pyro_suggestion **ret, struct pyro_error *error);

#endif
