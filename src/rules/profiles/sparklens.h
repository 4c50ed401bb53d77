/* What Sparklens keeps of a run, and its scheduler. docs/profiles/sparklens.md */
#ifndef PYRO_RULES_PROFILES_SPARKLENS_H
#define PYRO_RULES_PROFILES_SPARKLENS_H

#include "base/memory/arena.h"
#include "model/app.h"

/* One stage id, its attempts together. Times in epoch ms, 0 where Sparklens has none. */
struct pyro_sparklens_stage {
    int64_t id;
    size_t row;    /* of its first attempt in app->stages: parents are taken from there */
    ptrdiff_t job; /* number of the job that it completed in, the same for all stages of a job; or -1 */
    bool listed;   /* by some job: its tasks count as work of jobs */
    int64_t start_ms, end_ms, succeeded_ms;
    int64_t after_ms, until_ms; /* tasks that end in (after, until] are its task times; until 0: none */
    double tasks, run_ms, max_run_ms, gc_ms, fetch_wait_ms, write_ns;
    double input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes;
    /* Run times of its tasks by task id: run->times[first_time .. first_time + time_count) */
    size_t first_time, time_count;
};

struct pyro_sparklens_time {
    int64_t task, run_ms;
};

/* Jobs that are taken to run at the same time: run->jobs[first .. first + count) */
struct pyro_sparklens_group {
    size_t first, count;
    int64_t start_ms, end_ms;
};

struct pyro_sparklens_job {
    size_t row;
    int64_t id, sql, start_ms, end_ms;
    /* Stages that completed in it, ascending: run->job_stages[first_stage ..] */
    size_t first_stage, stage_count;
};

struct pyro_sparklens_run {
    const struct pyro_app *app;
    struct pyro_arena *arena;
    struct pyro_sparklens_stage *stages; /* by id */
    size_t stage_count;
    struct pyro_sparklens_time *times;
    struct pyro_sparklens_job *jobs; /* by group */
    size_t job_count;
    size_t *job_stages; /* entries of `stages` */
    struct pyro_sparklens_group *groups;
    size_t group_count;
    int64_t executors, cores;      /* most at one time; of one executor */
    double app_ms, job_ms, run_ms; /* run_ms: of all tasks of jobs */
};

/* False: no memory. `run` has its application and arena. */
bool pyro_sparklens_read(struct pyro_sparklens_run *run);
/* Entry of the stage with this id, or -1. */
ptrdiff_t pyro_sparklens_find(const struct pyro_sparklens_run *run, int64_t id);
/* Sum over groups of the longest chain of longest tasks of a job in it; -1: no memory. */
double pyro_sparklens_critical_ms(const struct pyro_sparklens_run *run);
/* Its estimate of the application's duration on this many executors, NaN when its simulation breaks off. False: no
 * memory. */
bool pyro_sparklens_estimate_ms(const struct pyro_sparklens_run *run, int64_t executors, double *ret);

#endif
