/* Physical operators by the names that Spark and its accelerators give them in plans. The table is operators.def. */
#ifndef PYRO_MODEL_OPERATORS_H
#define PYRO_MODEL_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strings/slice.h"

/* What an operator does, in Spark or in a native engine. Names as reports show them; numbers of classes may change. */
#define PYRO_OPERATOR_CLASSES(CLASS)                                                                                   \
    CLASS(UNKNOWN, "unknown")                                                                                          \
    CLASS(SCAN, "scan")   /* reads files or a data source */                                                           \
    CLASS(LOCAL, "local") /* rows from the driver, a range, an existing RDD */                                         \
    CLASS(FILTER, "filter")                                                                                            \
    CLASS(PROJECT, "project")                                                                                          \
    CLASS(SHUFFLE, "shuffle-exchange")                                                                                 \
    CLASS(BROADCAST, "broadcast-exchange")                                                                             \
    CLASS(REUSED, "reused-exchange") /* its child is the exchange it takes the output of */                            \
    CLASS(SORT_MERGE_JOIN, "sort-merge-join")                                                                          \
    CLASS(SHUFFLED_HASH_JOIN, "shuffled-hash-join")                                                                    \
    CLASS(BROADCAST_HASH_JOIN, "broadcast-hash-join")                                                                  \
    CLASS(NESTED_LOOP_JOIN, "broadcast-nested-loop-join")                                                              \
    CLASS(CARTESIAN, "cartesian-product")                                                                              \
    CLASS(AGGREGATE, "aggregate")                                                                                      \
    CLASS(SORT, "sort")                                                                                                \
    CLASS(WINDOW, "window")                                                                                            \
    CLASS(GENERATE, "generate")       /* explode and other table functions */                                          \
    CLASS(EXPAND, "expand")           /* rows multiplied for grouping sets or distinct */                              \
    CLASS(PYTHON, "python-udf")       /* rows sent to Python workers (or R) and back */                                \
    CLASS(OBJECTS, "objects")         /* typed Dataset operations: rows to JVM objects and back */                     \
    CLASS(CACHE, "cache-scan")        /* reads a cached table; its child is what was cached */                         \
    CLASS(AQE_READER, "aqe-reader")   /* reads shuffle partitions as AQE joined or split them */                       \
    CLASS(QUERY_STAGE, "query-stage") /* AQE's frame around an exchange */                                             \
    CLASS(WRITE, "write")                                                                                              \
    CLASS(UNION, "union")                                                                                              \
    CLASS(LIMIT, "limit")                                                                                              \
    CLASS(SAMPLE, "sample")                                                                                            \
    CLASS(COALESCE, "coalesce")                                                                                        \
    CLASS(CODEGEN, "codegen")   /* frame of operators compiled together */                                             \
    CLASS(ADAPTIVE, "adaptive") /* frame of a plan that AQE may change */                                              \
    CLASS(SUBQUERY, "subquery")                                                                                        \
    CLASS(TRANSITION, "transition") /* rows to columns and back, between engines */                                    \
    CLASS(STATE, "state")           /* keeps or reads state of a stream */                                             \
    CLASS(COMMAND, "command")       /* runs on the driver: DDL, SHOW, table maintenance */                             \
    CLASS(OTHER, "other")           /* known, of no class above */

enum pyro_operator_class {
#define CLASS(id, name) PYRO_OPERATOR_##id,
    PYRO_OPERATOR_CLASSES(CLASS)
#undef CLASS
        PYRO_OPERATOR_CLASS_COUNT
};

/* Who runs it. */
#define PYRO_ENGINES(ENGINE)                                                                                           \
    ENGINE(SPARK, "spark")                                                                                             \
    ENGINE(PHOTON, "photon")                                                                                           \
    ENGINE(COMET, "comet")                                                                                             \
    ENGINE(GLUTEN, "gluten")                                                                                           \
    ENGINE(RAPIDS, "rapids")                                                                                           \
    ENGINE(DELTA, "delta")                                                                                             \
    ENGINE(ICEBERG, "iceberg")                                                                                         \
    ENGINE(HUDI, "hudi")

enum pyro_engine {
#define ENGINE(id, name) PYRO_ENGINE_##id,
    PYRO_ENGINES(ENGINE)
#undef ENGINE
        PYRO_ENGINE_COUNT
};

struct pyro_operator {
    const char *name;
    bool prefix; /* the name goes on: a number, a format, a table */
    unsigned char operator_class, engine;
    const char *since, *until; /* first and last release of Spark (or of the engine) with that name, NULL: unknown */
};

/* Sorted as operators.def. */
extern const struct pyro_operator pyro_operators[];
extern const size_t pyro_operator_count;
extern const char *const pyro_operator_class_names[PYRO_OPERATOR_CLASS_COUNT];
extern const char *const pyro_engine_names[PYRO_ENGINE_COUNT];

/* An exact name wins over prefixes, the longest prefix over others. NULL: unknown. */
const struct pyro_operator *pyro_operator_find(struct pyro_slice name);

#endif
