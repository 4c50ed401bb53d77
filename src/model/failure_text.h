/* What the texts of failures say: the exception at the root of a chain, where in the user's program it came from, and
 * whether two messages are one. */
#ifndef PYRO_MODEL_FAILURE_TEXT_H
#define PYRO_MODEL_FAILURE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

/* The first bytes of a message, which distinguish causes. */
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

/* A frame of Python ('load.py", line 12, in parse') in two parts: its file, and "12, in parse". A frame of the JVM is
 * all file, and its rest is null. */
struct pyro_frame {
    struct pyro_slice file, rest;
};
struct pyro_frame pyro_split_frame(struct pyro_slice frame);

/* The line that says what happened: the first one, but of a Python traceback its last one that is not indented. */
struct pyro_slice pyro_telling_line(struct pyro_slice text);
/* Numbers, addresses and ids aside: "record in partition 3" and "... 8" are one cause, and so are "Row@1f2a" and
 * "Row@77b0". */
bool pyro_same_message(struct pyro_slice a, struct pyro_slice b);
/* The same for many messages: two that are one have the same hash. Looks at about PYRO_CAUSE_BYTES of a message. */
uint64_t pyro_message_hash(struct pyro_slice message);

/* The text has `word`, in any case. */
bool pyro_text_has(struct pyro_slice text, const char *word);
/* The number that follows "exit" within a few words: "exited with code 137", "Exit status: 143.", "exit code is 1"; -1
 * without one. */
int pyro_exit_code(struct pyro_slice reason);

/* What YARN says of a container that it killed: "5.6 GB of 5.5 GB physical memory used". False: it says no such thing.
 */
bool pyro_container_memory(struct pyro_slice reason, double *ret_used_bytes, double *ret_limit_bytes);

/* Pieces of such texts.
 *
 * Takes the next line off the text; false at its end. */
bool pyro_next_line(struct pyro_slice *text, struct pyro_slice *ret);
/* The id of a failed task as a number; PYRO_NONE: it is not a number, or too long. */
int64_t pyro_failure_number(struct pyro_slice text);
/* Length of the exception's name that a line begins with, or 0: "java.io.IOException: ...", "ValueError: ...". */
size_t pyro_exception_name_length(struct pyro_slice line);
/* A frame ("org.apache.spark.rdd.RDD.iterator(RDD.scala:1)") of Spark, of the languages and of their own libraries. */
bool pyro_is_library_frame(struct pyro_slice frame);
/* '  File "/app/load.py", line 12, in parse': 'load.py", line 12, in parse'; null for other lines, and for Python's and
 * Spark's own files. */
struct pyro_slice pyro_python_frame(struct pyro_slice line);

#endif
