/* The tasks of a stage as a scenario changes them. Models take them in turn; what is left becomes edits of the replay.
 */
#ifndef PYRO_PREDICT_CUT_TASKS_H
#define PYRO_PREDICT_CUT_TASKS_H

#include <math.h>

#include "predict/model.h"

/* A task that did the work of its partition. */
struct pyro_task_facts {
    uint32_t row; /* in app->tasks */
    float ms, gc_ms;
    float load;    /* what it read: bytes, else records; 0 for all tasks of a stage where the log has neither */
    float records; /* that it read */
    float spill;   /* bytes of disk */
    float need;    /* of execution memory: its peak, and what it spilled */
};

enum pyro_stage_source { PYRO_SOURCE_NOTHING, PYRO_SOURCE_SHUFFLE, PYRO_SOURCE_FILES };

struct pyro_stage_facts {
    uint32_t first, count; /* in run->tasks */
    float fixed_ms;        /* of a task that has nothing to read */
    float load, records;   /* of all */
    float blocks;          /* of shuffles, that all fetched */
    float extra_ms;        /* of those that were first */
    uint32_t filled;       /* tasks with a load; in run->sorted_loads from `first` on */
    uint32_t first_group;  /* in run->warm_ups */
    enum pyro_stage_source source;
    float byte_ms;            /* processor time of a byte of the files that it reads, by their format; 0: unknown */
    bool frame_scan;          /* it reads the files of a DataFrame that became an RDD, which no plan describes */
    bool python;              /* its tasks, or others of its query, use Python workers */
    double files, file_bytes; /* that its scans read; 0: unknown */
    double written, folders;  /* files that it wrote; folders of partitionBy(), 0: none */
    double written_rows;
    bool columns; /* the files are Parquet or ORC */
    /* Of a join that sorts: its parents, the one that wrote more and the other one. */
    bool sides;
    uint32_t larger, smaller;          /* rows */
    double smaller_bytes, extra_bytes; /* extra_bytes: read beyond what the two wrote */
    double sort_ms;                    /* of all sorts of its query */
    double commit_ms; /* that a task took to store its partition of a stream's state; 0: it keeps none */
};

/* Of a stage, while a scenario is made. */
struct pyro_scenario_tasks {
    double *ms, *load;
    uint32_t count;
    bool touched, recut; /* recut: they are not the run's own any more */
};

/* Fills run->tasks and run->stages. */
bool pyro_predict_take_tasks(struct pyro_predicted_run *run);

/* Fills the fixed cost of run->stages: see task_cost.c. */
void pyro_predict_take_costs(struct pyro_predicted_run *run);

/* Fills what a spilled byte costs; and execution memory of a task when all slots are busy, in the unchanged run. */
void pyro_predict_take_spill(struct pyro_predicted_run *run);
double pyro_task_memory(const struct pyro_predicted_run *run);
/* Files that a stage writes into folders when `before` tasks become `count`: each task has a file in each folder that
 * it has rows for, and these are as likely to have any as rows are spread at random. */
double pyro_written_files(const struct pyro_stage_facts *facts, double before, double count);
/* A sorter that gets no more memory writes all that it holds, not only what is too much. */
static inline double pyro_spilled_memory(double need, double memory)
{
    return need > memory && memory > 0 ? floor(need / memory) * memory : 0;
}

/* A task that began on its executor before any other of its stage had ended there. */
struct pyro_first_task {
    uint32_t stage, place; /* row; number in its stage's run->tasks */
    float extra_ms;        /* what it took longer for that */
};
/* Fills run->firsts, behind the two above. */
bool pyro_predict_take_firsts(struct pyro_predicted_run *run);

/* A task that looked for a cached block. */
struct pyro_cached_task {
    uint32_t stage, place;            /* row; number in its stage's run->tasks */
    bool found, disk;                 /* disk: a block without room is on disk */
    float found_ms, missed_ms, bytes; /* what it takes with its block, and without; bytes that it read */
};
/* Fills run->cached and what was stored, behind pyro_predict_take_tasks(). */
bool pyro_predict_take_cached(struct pyro_predicted_run *run);

/* What task `row` took longer for being first; 0 where it was not. */
double pyro_first_ms(const struct pyro_predicted_run *run, size_t row);

/* What plans say of run->stages. */
bool pyro_predict_take_queries(struct pyro_predicted_run *run);

/* Fills run->sorted_loads and run->warm_ups: what is the same in all scenarios that leave a stage's tasks alone. */
bool pyro_predict_take_unchanged(struct pyro_predicted_run *run);
/* The loads of a stage's tasks in the unchanged run. */
void pyro_stage_loads(const struct pyro_predicted_run *run, size_t stage, double *ret);
/* Those of `tasks` above 0, least first; returns how many. */
uint32_t pyro_stage_sorted_loads(const struct pyro_predicted_run *run, size_t stage,
                                 const struct pyro_scenario_tasks *tasks, double *ret);
/* What the first tasks of a stage take longer than later ones, whatever they read: code that is not compiled yet, on
 * executors and on the driver. Fills `extra` of each task in the order of the log; returns their sum. `values` holds
 * a number for each task. */
double pyro_stage_warm_up(const struct pyro_predicted_run *run, size_t stage, const struct pyro_scenario_tasks *tasks,
                          double *extra, double *values);

/* The tasks of stage row `stage` as they are by now; NULL where it has none, or without memory. */
struct pyro_scenario_tasks *pyro_change_tasks(struct pyro_predict_change *change, size_t stage);
/* The same data in `count` tasks. Lumps (one key that is much larger than the rest) stay whole. */
void pyro_change_recut(struct pyro_predict_change *change, size_t stage, uint32_t count);
/* Makes edits of what was touched. */
void pyro_change_emit(struct pyro_predict_change *change);

/* Cuts the stages that a changed program runs in another number of tasks; before what was touched is emitted. */
void pyro_change_cut_by_code(struct pyro_predict_change *change);
/* How far below and above its expected wall time the scenario may be wrong for them, ms. */
void pyro_code_doubt(const struct pyro_predict_change *change, double *low_ms, double *high_ms);

static inline double pyro_fixed_ms(const struct pyro_predict_change *change, size_t stage)
{
    return (double)change->run->stages[stage].fixed_ms;
}

#endif
