/* What kind of failure a text reports. The tables are failure_kinds.def. */
#ifndef PYRO_MODEL_FAILURE_KINDS_H
#define PYRO_MODEL_FAILURE_KINDS_H

#include <stdbool.h>

#include "base/strings/slice.h"

/* How the reason of a stage begins in which a task of a barrier failed. */
#define PYRO_BARRIER_FAILURE "Stage failed because barrier task "

enum pyro_failure_kind {
#define PYRO_FAILURE_KIND(id, text) PYRO_FAILURE_##id,
#include "model/failure_kinds.def"
#undef PYRO_FAILURE_KIND
    PYRO_FAILURE_OTHER,
    PYRO_FAILURE_KINDS
};

/* Of an exception with this name and message. */
enum pyro_failure_kind pyro_failure_kind(struct pyro_slice name, struct pyro_slice message);
/* A task's end reason that another failure caused: the loss of an executor or of shuffle files, a killed attempt. */
bool pyro_failure_is_consequence(struct pyro_slice reason);
/* The failure of a job only reports the loss of an executor or of its shuffle files. */
bool pyro_failure_is_loss(struct pyro_slice reason);

/* Why an executor was removed. */
enum pyro_removal_kind {
#define PYRO_REMOVAL_KIND(id, ...) PYRO_REMOVAL_##id,
#include "model/failure_kinds.def"
#undef PYRO_REMOVAL_KIND
    PYRO_REMOVAL_OTHER
};

enum pyro_removal_kind pyro_removal_kind(struct pyro_slice reason);
/* Whether a line says of an executor or a container that it ended, and how: YARN's allocator warns so. */
bool pyro_tells_an_end(struct pyro_slice text);
/* What the node had too little of: "memory", "ephemeral-storage"; null: the reason does not say it. A part of `reason`,
 * or a constant. */
struct pyro_slice pyro_evicted_resource(struct pyro_slice reason);
/* The executor was given back or decommissioned, or the application ended. */
bool pyro_removal_is_ordinary(struct pyro_slice reason);
/* ... decommissioned: it got no more tasks, and its blocks were moved before it ended. *ret_own: Spark did that itself,
 * as dynamic allocation does it with executors that it does not need. */
bool pyro_removal_is_decommission(struct pyro_slice reason, bool *ret_own);

/* What there was too little memory for. */
enum pyro_shortage {
    PYRO_SHORTAGE_NONE,
    PYRO_SHORTAGE_HEAP,      /* "Java heap space", "GC overhead limit exceeded", exit code 52 */
    PYRO_SHORTAGE_EXECUTION, /* "Unable to acquire ... bytes of memory": Spark's own part of the heap */
    PYRO_SHORTAGE_METASPACE,
    PYRO_SHORTAGE_DIRECT,    /* buffers outside the heap */
    PYRO_SHORTAGE_THREADS,   /* "unable to create native thread" */
    PYRO_SHORTAGE_VIRTUAL,   /* killed by YARN for the address space that it had reserved */
    PYRO_SHORTAGE_CONTAINER, /* killed by YARN, Kubernetes or the kernel */
};

/* Of an exception in the JVM. */
enum pyro_shortage pyro_shortage_of(struct pyro_slice name, struct pyro_slice message);

/* What an error of a text log is about: an id ("container-memory"), NULL: none that is known. */
const char *pyro_log_cause(struct pyro_slice text);

#endif
