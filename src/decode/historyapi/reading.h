/* What the files here share: one application being read. */
#ifndef PYRO_DECODE_HISTORYAPI_READING_H
#define PYRO_DECODE_HISTORYAPI_READING_H

#include "base/json.h"
#include "base/vec.h"
#include "decode/historyapi/historyapi.h"
#include "model/column.h"

struct pyro_api_job {
    int64_t id, completed_ms;
    bool failed;
    size_t first_stage, stage_count; /* of pyro_api_reading.job_stages */
};

/* A stage attempt. Texts point into the answer that listed it. */
struct pyro_api_stage {
    int64_t id, attempt;
    int64_t submitted_ms, completed_ms; /* PYRO_NONE: not */
    int64_t shuffle_read_bytes, shuffle_write_bytes;
    uint64_t tasks, failed_tasks;   /* that the server counted */
    const struct pyro_api_job *job; /* that ran it; NULL: none known */
    bool consumed;                  /* a later stage is taken to read its shuffle */
    struct pyro_slice name, details, description, failure, partitions, profile, pool, rdds;
};

/* Value of an SQL metric that belongs to a stage attempt. */
struct pyro_api_stage_metric {
    int64_t stage, attempt, accumulator, value;
};

struct pyro_api_job_execution {
    int64_t job, execution;
};

/* A cached RDD, as the RDDInfo of stages says it. */
struct pyro_api_rdd {
    int64_t id;
    size_t begin, len; /* of pyro_api_reading.rdd_texts */
};

struct pyro_api_reading {
    const struct pyro_api_source *source;
    struct pyro_api_facts *facts;
    struct pyro_error *error;
    struct pyro_strbuf body; /* the newest answer */
    struct pyro_strbuf stages_body;
    struct pyro_strbuf lines; /* not put out yet */
    struct pyro_strbuf rdd_texts;
    PYRO_VEC(struct pyro_api_stage) stages; /* sorted by id and attempt */
    PYRO_VEC(struct pyro_api_job) jobs;
    PYRO_VEC(int64_t) job_stages;
    PYRO_VEC(struct pyro_api_stage_metric) metrics; /* sorted by stage and attempt once all SQL executions are read */
    PYRO_VEC(struct pyro_api_job_execution) executions; /* sorted by job */
    PYRO_VEC(struct pyro_api_rdd) rdds;                 /* sorted by id */
    int64_t next_accumulator;
    int64_t ended_ms; /* of the application, PYRO_NONE while it runs */
};

/* ---- Answers ---- */

/* Gets a page that must be there; its text starts `json`. */
enum pyro_status pyro_api_get(struct pyro_api_reading *reading, const char *page, struct pyro_strbuf *body,
                              struct pyro_json *json);
/* The same for one that need not: *ret_there. */
enum pyro_status pyro_api_get_optional(struct pyro_api_reading *reading, const char *page, struct pyro_json *json,
                                       bool *ret_there);
/* After reading an answer: an error that says which page when `json` has one. */
enum pyro_status pyro_api_check(struct pyro_api_reading *reading, const char *page, const struct pyro_json *json);

/* Reads an object's members as raw JSON texts; a member that is missing or null has a null slice. */
bool pyro_api_take(struct pyro_json *json, const struct pyro_json_key *keys, unsigned count, struct pyro_slice *values);
/* The same of a text. False: it is no object. */
bool pyro_api_take_text(struct pyro_slice text, const struct pyro_json_key *keys, unsigned count,
                        struct pyro_slice *values);
/* Starts reading a text that was taken. */
void pyro_api_start(struct pyro_json *json, struct pyro_slice text);

int64_t pyro_api_int(struct pyro_slice value, int64_t fallback);
/* "2026-01-31T23:59:59.999GMT", or PYRO_NONE. */
int64_t pyro_api_time(struct pyro_slice value);
/* Contents of a string, escapes as they are written; null for anything else. */
struct pyro_slice pyro_api_string(struct pyro_slice value);
bool pyro_api_is(struct pyro_slice value, const char *string);

/* ---- Event lines ---- */

void pyro_api_line(struct pyro_api_reading *reading, const char *event);
/* ,"NAME":VALUE; nothing when the value is a null slice. `name` as JSON. */
void pyro_api_add_raw(struct pyro_api_reading *reading, const char *name, struct pyro_slice value);
void pyro_api_add_int(struct pyro_api_reading *reading, const char *name, int64_t value);
/* Nothing for PYRO_NONE. */
void pyro_api_add_time(struct pyro_api_reading *reading, const char *name, int64_t time_ms);
void pyro_api_add(struct pyro_api_reading *reading, const char *text);
/* Ends the line; puts lines out now and then. */
enum pyro_status pyro_api_line_end(struct pyro_api_reading *reading);
enum pyro_status pyro_api_flush(struct pyro_api_reading *reading);

enum pyro_status pyro_api_no_memory(struct pyro_api_reading *reading);

/* ---- Parts ---- */

enum pyro_status pyro_api_read_application(struct pyro_api_reading *reading); /* application.c */
enum pyro_status pyro_api_end_application(struct pyro_api_reading *reading);
enum pyro_status pyro_api_read_executors(struct pyro_api_reading *reading); /* executors.c */
enum pyro_status pyro_api_read_storage(struct pyro_api_reading *reading);
int pyro_api_compare_rdds(const void *left, const void *right);
enum pyro_status pyro_api_read_sql(struct pyro_api_reading *reading);  /* sql.c */
enum pyro_status pyro_api_read_jobs(struct pyro_api_reading *reading); /* jobs.c */
enum pyro_status pyro_api_end_jobs(struct pyro_api_reading *reading);
enum pyro_status pyro_api_list_stages(struct pyro_api_reading *reading); /* stages.c */
enum pyro_status pyro_api_read_stages(struct pyro_api_reading *reading);
/* Row of the first attempt of a stage, or of the stage behind where it would be. */
size_t pyro_api_find_stage(const struct pyro_api_reading *reading, int64_t id);
enum pyro_status pyro_api_read_tasks(struct pyro_api_reading *reading,
                                     const struct pyro_api_stage *stage); /* tasks.c */

/* plan.c: appends the JSON of a SparkPlanInfo made of a plan's nodes, edges and description; `updates` gets the metrics
 * that belong to no stage, as [[ID,VALUE],...]. False: there are no nodes. */
bool pyro_api_add_plan(struct pyro_api_reading *reading, struct pyro_slice nodes, struct pyro_slice edges,
                       struct pyro_slice description, struct pyro_strbuf *updates);

/* metric.c: an SQL metric's value as the UI shows it. */
struct pyro_api_metric_value {
    const char *type;       /* "sum", "size", "timing"; NULL: not to be read */
    int64_t value;          /* bytes, ms or a count */
    int64_t stage, attempt; /* of the task with the largest share; PYRO_NONE: not said */
};
struct pyro_api_metric_value pyro_api_read_metric(struct pyro_slice value);

/* failure.c: appends the end reason of a task from its error text. */
void pyro_api_add_reason(struct pyro_api_reading *reading, struct pyro_slice status, struct pyro_slice message);

#endif
