/* What the texts of failures say: the exception at the root of a chain, where in the user's program it came from, and
 * what memory has to do with it. */
#ifndef PYRO_RULES_SHARED_FAILURE_TEXT_H
#define PYRO_RULES_SHARED_FAILURE_TEXT_H

#include "model/app.h"

/* So much of a message tells one cause from another. */
enum { PYRO_CAUSE_BYTES = 160 };

/* Slices of the text; null where it does not say. */
struct pyro_root_cause {
    struct pyro_slice name;    /* "java.lang.ArithmeticException", "ValueError" */
    struct pyro_slice message; /* its telling line */
    struct pyro_slice wrapper; /* the outermost exception, where it is another */
    struct pyro_slice frame;   /* first frame of the user's own code: "etl.Load.parse(Load.scala:44)", "load.py:12" */
};

/* Of the text of a failed job, stage, task or query, as Spark writes it. */
struct pyro_root_cause pyro_root_cause(struct pyro_slice text);

/* The line that says what happened: the first one, but of a Python traceback its last one that is not indented. */
struct pyro_slice pyro_telling_line(struct pyro_slice text);
/* Numbers, addresses and ids aside: "record in partition 3" and "... 8" are one cause, and so are "Row@1f2a" and
 * "Row@77b0". */
bool pyro_same_message(struct pyro_slice a, struct pyro_slice b);
/* What to do about an exception of that name and message: one sentence. */
const char *pyro_failure_advice(struct pyro_slice name, struct pyro_slice message);

/* The text has `word`, in any case. */
bool pyro_text_has(struct pyro_slice text, const char *word);
/* The number that follows "exit" within a few words: "exited with code 137", "Exit status: 143.", "exit code is 1"; -1
 * without one. */
int pyro_exit_code(struct pyro_slice reason);

/* An executor that went away in the usual course of things: given back, decommissioned, at the application's end. */
bool pyro_removal_is_ordinary(struct pyro_slice reason);

enum pyro_shortage {
    PYRO_SHORTAGE_NONE,
    PYRO_SHORTAGE_HEAP,      /* "Java heap space", "GC overhead limit exceeded", exit code 52 */
    PYRO_SHORTAGE_EXECUTION, /* "Unable to acquire ... bytes of memory": Spark's own part of the heap */
    PYRO_SHORTAGE_METASPACE,
    PYRO_SHORTAGE_DIRECT,    /* buffers outside the heap */
    PYRO_SHORTAGE_THREADS,   /* "unable to create native thread" */
    PYRO_SHORTAGE_CONTAINER, /* killed by YARN, Kubernetes or the kernel */
};

/* Of an exception in the JVM. */
enum pyro_shortage pyro_shortage_of(struct pyro_slice name, struct pyro_slice message);
/* Of the reason for which an executor went away. A SIGKILL (exit code 137) counts where a container's limit can be
 * behind it: YARN and Kubernetes, or a heap that was nearly full. */
enum pyro_shortage pyro_executor_shortage(const struct pyro_app *app, const struct pyro_executor *executor);

/* A task row's executor ended for want of memory, and the task with it. */
bool pyro_task_died_of_shortage(const struct pyro_app *app, size_t task);

#endif
