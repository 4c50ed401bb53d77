/* The REST API of a History Server or of a running application's UI, turned into the event lines that the application
 * would have logged, as far as the answers tell. One way leads from bytes to rows then: every analysis and rule reads
 * an application from REST as it reads a log.
 *
 *     application, environment, executors, storage -> SQL executions -> jobs -> stages with their tasks -> ends
 *
 * The pages about the environment, executors and stages are also what a History Server shows, as it shows it: where
 * that is wanted, they are kept as they are (rest_history.c).
 *
 * What the answers lack: RDDs and their lineage, parents of stages (guessed from times and shuffles, within a job),
 * SQL metrics of tasks (totals are as rounded as the server shows them), progress of streaming queries, plans before
 * adaptive execution, and whatever the server forgot (spark.ui.retained*). */
#ifndef PYRO_DECODE_REST_REST_H
#define PYRO_DECODE_REST_REST_H

#include "base/error.h"
#include "base/strings/strbuf.h"

struct pyro_history;

struct pyro_rest_source {
    const struct pyro_allocator *allocator;
    const char *attempt;           /* NULL: the newest */
    bool history;                  /* what the server shows is wanted as well: pyro_rest_facts.history */
    enum pyro_redaction redaction; /* of that */
    /* Gets a page below /api/v1/applications/APP[/ATTEMPT]/, "" being the application itself. `body` gets the JSON
     * text, with PYRO_SCAN_PADDING zero bytes behind it, which need not be there when *ret_status is not 200. */
    enum pyro_status (*get)(void *context, const char *page, struct pyro_strbuf *body, unsigned *ret_status,
                            struct pyro_error *error);
    /* Takes whole event lines. */
    enum pyro_status (*put)(void *context, const char *lines, size_t len, struct pyro_error *error);
    void *context;
};

/* What was read, and what the server knew of and no longer has. */
struct pyro_rest_facts {
    bool completed;
    uint64_t tasks;
    struct pyro_history *history; /* the caller's, if it is wanted */
    uint64_t lost_jobs, lost_stages, lost_tasks, lost_executions;
};

/* PYRO_ERROR_INPUT: the application, its jobs, stages, tasks or executors cannot be read. The other pages may be
 * missing (older versions of Spark lack some). */
enum pyro_status pyro_rest_read(const struct pyro_rest_source *source, struct pyro_rest_facts *ret,
                                struct pyro_error *error);

#endif
