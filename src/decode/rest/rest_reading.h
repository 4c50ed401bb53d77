/* What the files here share: one application being read. */
#ifndef PYRO_DECODE_REST_REST_READING_H
#define PYRO_DECODE_REST_REST_READING_H

#include "base/collections/vec.h"
#include "base/json/json_read.h"
#include "decode/rest/rest.h"
#include "decode/rest/rest_history.h"
#include "model/column.h"
#include "text/json_compact.h"

struct pyro_rest_job {
    int64_t id, completed_ms;
    bool failed;
    size_t first_stage, stage_count; /* of pyro_rest_reading.job_stages */
};

/* A stage attempt. Texts point into the answer that listed it. */
struct pyro_rest_stage {
    int64_t id, attempt;
    int64_t submitted_ms, completed_ms; /* PYRO_NONE: not */
    int64_t shuffle_read_bytes, shuffle_write_bytes;
    uint64_t tasks, failed_tasks;    /* that the server counted */
    bool over;                       /* completed or failed, at whatever time */
    const struct pyro_rest_job *job; /* that ran it; NULL: none known */
    bool consumed;                   /* a later stage is taken to read its shuffle */
    struct pyro_slice name, details, description, failure, partitions, profile, pool, rdds;
};

/* Value of an SQL metric that belongs to a stage attempt. */
struct pyro_rest_stage_metric {
    int64_t stage, attempt, accumulator, value;
};

struct pyro_rest_job_execution {
    int64_t job, execution;
};

/* A cached RDD, as the RDDInfo of stages says it. */
struct pyro_rest_rdd {
    int64_t id;
    size_t begin, len; /* of pyro_rest_reading.rdd_texts */
};

struct pyro_rest_reading {
    const struct pyro_rest_source *source;
    struct pyro_rest_facts *facts;
    struct pyro_error *error;
    struct pyro_strbuf body; /* the newest answer */
    struct pyro_strbuf stages_body;
    struct pyro_strbuf lines; /* not put out yet */
    struct pyro_strbuf rdd_texts;
    PYRO_VEC(struct pyro_rest_stage) stages; /* sorted by id and attempt */
    PYRO_VEC(struct pyro_rest_job) jobs;
    PYRO_VEC(int64_t) job_stages;
    PYRO_VEC(struct pyro_rest_stage_metric) metrics; /* sorted by stage and attempt once all SQL executions are read */
    PYRO_VEC(struct pyro_rest_job_execution) executions; /* sorted by job */
    PYRO_VEC(struct pyro_rest_rdd) rdds;                 /* sorted by id */
    int64_t next_accumulator;
    bool push_based;                /* shuffle data may have been pushed and merged */
    int64_t started_ms, ended_ms;   /* of the application; PYRO_NONE: unknown, or it runs */
    struct pyro_rest_history shown; /* where that is wanted */
};

/* ---- Answers ---- */

/* Gets a page that must be there; its text starts `json`. */
enum pyro_status pyro_rest_get(struct pyro_rest_reading *reading, const char *page, struct pyro_strbuf *body,
                               struct pyro_json_reader *json);
/* The same for one that need not: *ret_there. */
enum pyro_status pyro_rest_get_optional(struct pyro_rest_reading *reading, const char *page,
                                        struct pyro_json_reader *json, bool *ret_there);
/* After reading an answer: an error that says which page when `json` has one. */
enum pyro_status pyro_rest_check(struct pyro_rest_reading *reading, const char *page,
                                 const struct pyro_json_reader *json);

/* Reads an object's members as raw JSON texts; a member that is missing or null has a null slice. */
bool pyro_rest_take(struct pyro_json_reader *json, const struct pyro_json_key *keys, unsigned count,
                    struct pyro_slice *values);
/* The same of a text. False: it is not an object. */
bool pyro_rest_take_text(struct pyro_slice text, const struct pyro_json_key *keys, unsigned count,
                         struct pyro_slice *values);
/* Starts reading a text that was taken. */
void pyro_rest_start(struct pyro_json_reader *json, struct pyro_slice text);

/* The next [NAME,VALUE] of an array, both strings as they are written; false at its end. */
bool pyro_rest_next_pair(struct pyro_json_reader *json, bool *first, struct pyro_slice *ret_name,
                         struct pyro_slice *ret_value);
int64_t pyro_rest_int(struct pyro_slice value, int64_t fallback);
/* "2026-01-31T23:59:59.999GMT", or PYRO_NONE. */
int64_t pyro_rest_time(struct pyro_slice value);
/* Contents of a string, escapes as they are written; null for anything else. */
struct pyro_slice pyro_rest_string(struct pyro_slice value);
bool pyro_rest_is(struct pyro_slice value, const char *string);

/* ---- Event lines ---- */

void pyro_rest_line(struct pyro_rest_reading *reading, const char *event);
/* text/json_compact.h on lines. Nothing when the value is a null slice, which is JSON. */
void pyro_rest_add_raw(struct pyro_rest_reading *reading, const char *name, struct pyro_slice value);
void pyro_rest_add_int(struct pyro_rest_reading *reading, const char *name, int64_t value);
/* A number that Spark writes as a string. */
void pyro_rest_add_int_text(struct pyro_rest_reading *reading, const char *name, int64_t value);
/* Nothing for PYRO_NONE. */
void pyro_rest_add_time(struct pyro_rest_reading *reading, const char *name, int64_t time_ms);
void pyro_rest_begin(struct pyro_rest_reading *reading, const char *name, char bracket);
void pyro_rest_end(struct pyro_rest_reading *reading, char bracket);
/* The result of a job; the message of its exception comes in between. */
void pyro_rest_begin_failed_job(struct pyro_rest_reading *reading);
void pyro_rest_end_failed_job(struct pyro_rest_reading *reading);
void pyro_rest_add_succeeded_job(struct pyro_rest_reading *reading);
/* Ends the line; puts lines out now and then. */
enum pyro_status pyro_rest_line_end(struct pyro_rest_reading *reading);
enum pyro_status pyro_rest_flush(struct pyro_rest_reading *reading);

enum pyro_status pyro_rest_no_memory(struct pyro_rest_reading *reading);

/* ---- Parts ---- */

enum pyro_status pyro_rest_read_application(struct pyro_rest_reading *reading); /* application.c */
enum pyro_status pyro_rest_end_application(struct pyro_rest_reading *reading);
enum pyro_status pyro_rest_read_executors(struct pyro_rest_reading *reading); /* executors.c */
enum pyro_status pyro_rest_read_storage(struct pyro_rest_reading *reading);
int pyro_rest_compare_rdds(const void *left, const void *right);
enum pyro_status pyro_rest_read_sql(struct pyro_rest_reading *reading);  /* sql.c */
enum pyro_status pyro_rest_read_jobs(struct pyro_rest_reading *reading); /* jobs.c */
enum pyro_status pyro_rest_end_jobs(struct pyro_rest_reading *reading);
enum pyro_status pyro_rest_list_stages(struct pyro_rest_reading *reading); /* stages.c */
enum pyro_status pyro_rest_read_stages(struct pyro_rest_reading *reading);
/* Row of the first attempt of a stage, or of the stage behind where it would be. */
size_t pyro_rest_find_stage(const struct pyro_rest_reading *reading, int64_t id);
enum pyro_status pyro_rest_read_tasks(struct pyro_rest_reading *reading,
                                      const struct pyro_rest_stage *stage); /* tasks.c */

/* plan.c: appends the JSON of a SparkPlanInfo made of a plan's nodes, edges and description; `updates` gets the metrics
 * that belong to no stage, as [[ID,VALUE],...]. False: there are no nodes. */
bool pyro_rest_add_plan(struct pyro_rest_reading *reading, struct pyro_slice nodes, struct pyro_slice edges,
                        struct pyro_slice description, struct pyro_strbuf *updates);

/* metric.c: an SQL metric's value as the UI shows it. */
struct pyro_rest_metric_value {
    const char *type;       /* "sum", "size", "timing"; NULL: not to be read */
    int64_t value;          /* bytes, ms or a count */
    int64_t stage, attempt; /* of the task with the largest share; PYRO_NONE: not said */
};
struct pyro_rest_metric_value pyro_rest_read_metric(struct pyro_slice value);

/* failure.c: appends the end reason of a task from its error text. */
void pyro_rest_add_reason(struct pyro_rest_reading *reading, struct pyro_slice status, struct pyro_slice message);

#endif
