/* One log on disk, as the catalog keeps it. */
#ifndef PYRO_CATALOG_LOG_H
#define PYRO_CATALOG_LOG_H

#include <stdatomic.h>

#include "base/collections/vec.h"
#include "catalog/catalog.h"
#include "source/file_stamp.h"
#include "source/source.h"

/* Immutable except the count and, until it is listed, its identity. One block of memory. */
struct pyro_catalog_log {
    atomic_int references;
    uint64_t identity;              /* stays when the log grows or is renamed; 0: not given yet */
    struct pyro_log log;            /* no parts: no log was found there, as `problem` says, or it is only stored */
    struct pyro_file_stamp *stamps; /* of its parts */
    struct pyro_attempt attempt;
    struct pyro_slice problem; /* why it is not listed; null: it is */
    bool passing;              /* the problem is of the moment: the next update reads the log again */
    bool uploaded;
    uint64_t cpu_us;                          /* what looking at it took, of an upload; 0 after a restart */
    bool exhausted;                           /* which was all that it may take */
    bool named_by_store;                      /* found where a store says that the log of one of its runs is */
    const struct pyro_catalog_stored *stored; /* NULL: it is a log */
};

/* Copies everything except the store's URL. `attempt` NULL: there is a problem. `stored`: NULL for logs. NULL: no
 * memory. */
struct pyro_catalog_log *pyro_catalog_log_new(const struct pyro_log *log, const struct pyro_file_stamp *stamps,
                                              const struct pyro_attempt *attempt, struct pyro_slice problem,
                                              const struct pyro_catalog_stored *stored);
struct pyro_catalog_log *pyro_catalog_log_retain(const struct pyro_catalog_log *log);
void pyro_catalog_log_release(const struct pyro_catalog_log *log);
/* Whether both were found with the same files, none of which has changed. */
bool pyro_catalog_log_same(const struct pyro_catalog_log *log, const struct pyro_log *other,
                           const struct pyro_file_stamp *stamps);
/* Whether it is below the folder of uploads, which may be NULL. */
bool pyro_catalog_is_uploaded(const struct pyro_catalog_log *log, const char *uploads);
bool pyro_catalog_is_sent(struct pyro_slice path, const char *uploads);
uint64_t pyro_catalog_log_bytes(const struct pyro_catalog_log *log);
/* stat() of every part; false: one is missing. `stamps` has room for the parts. */
bool pyro_catalog_log_stat(const struct pyro_log *log, struct pyro_file_stamp *stamps);

typedef PYRO_VEC(struct pyro_catalog_log *) pyro_catalog_logs;
void pyro_catalog_logs_done(pyro_catalog_logs *logs);

#endif
