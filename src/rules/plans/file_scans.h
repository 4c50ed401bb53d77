/* What an application read: scans of files in its plans, with the stage that ran each, and what a stage waited for. */
#ifndef PYRO_RULES_PLANS_FILE_SCANS_H
#define PYRO_RULES_PLANS_FILE_SCANS_H

#include "analyze/plans/plan_tree.h"
#include "rules/plans/plans.h"
#include "rules/rule.h"

enum pyro_file_scan_format {
    PYRO_FILE_SCAN_OTHER,
    PYRO_FILE_SCAN_CSV,
    PYRO_FILE_SCAN_JSON,
    PYRO_FILE_SCAN_TEXT,
    PYRO_FILE_SCAN_XML,
    PYRO_FILE_SCAN_PARQUET,
    PYRO_FILE_SCAN_ORC,
    PYRO_FILE_SCAN_AVRO
};

struct pyro_file_scan {
    const struct pyro_plan_tree *plan;
    uint32_t op;
    ptrdiff_t stage; /* row of the stage that ran it, the longest of several; -1: not known */
    enum pyro_file_scan_format format;
    double files, bytes, rows; /* 0 when unknown */
    double scan_ms;            /* of tasks inside the reader, columnar formats only; 0 when unknown */
    double metadata_ms;        /* of the driver, listing files */
    double partitions;         /* directories read of a table partitioned by columns; 0 when it is not */
};

struct pyro_file_scans {
    PYRO_VEC(struct pyro_file_scan) list; /* in the order of queries */
    /* Of each row of app->stages, sums over the scans it ran: */
    double *scan_ms, *bytes;
    bool *timed, *python; /* all its scans say their time; rows went to Python workers */
    /* Of the time in which tasks were deserialized, which only computes, the share that a processor was given: if it is
     * small, hosts are overloaded and waiting says nothing about files. 1 when unknown. */
    double processor_share;
};

/* False when there is no memory (and context->failed is set). */
bool pyro_file_scans_load(struct pyro_rule_context *context, struct pyro_file_scans *ret);
void pyro_file_scans_done(struct pyro_rule_context *context, struct pyro_file_scans *scans);

struct pyro_stage_wait {
    double wait_ms; /* task time neither computing, collecting garbage, shuffling, nor inside a columnar reader */
    double scan_ms, read_bytes;
    bool scan_timed, python;
};
void pyro_stage_wait(const struct pyro_file_scans *scans, const struct pyro_app *app, size_t stage,
                     struct pyro_stage_wait *ret);

/* Of the stages that ran an operator the one with the most task time; -1: not known. */
ptrdiff_t pyro_file_scan_longest_stage(const struct pyro_app *app, const struct pyro_plan_tree *plan,
                                       const struct pyro_plan_op *op);
/* Whether Spark listed files in its own job, without a query, before a read. */
bool pyro_stage_lists_files(const struct pyro_app *app, const struct pyro_stage *stage);
const char *pyro_file_scan_format_name(enum pyro_file_scan_format format);
/* Rows of text that every reader parses again. */
bool pyro_file_scan_is_rows(enum pyro_file_scan_format format);

#endif
