/* The scheduler replayed: what a run would have taken had it been different.
 *
 * From the log come the stage graph, task durations, driver gaps and executors' comings and goings; never a launch
 * time: when tasks start is what a replay finds out. docs/simulator.md has the model and its error on recorded runs.
 *
 * A replay is prepared once from a sealed application, which must outlive it, and then run as often as there are
 * questions. One thread uses it at a time. All times of results are milliseconds since the application's start. Same
 * application and edits, same numbers: the arithmetic is on integers (microseconds).
 *
 * Limits. Nothing in a log makes a run endless: work without an executor, or that waits for itself, goes on when
 * everything else is done. A stage cut into more than PYRO_REPLAY_PARTITIONS tasks is run as that many longer ones.
 * Edits of rows that do not exist are passed over; factors and durations are clamped to what 64 bits hold. */
#ifndef PYRO_REPLAY_REPLAY_H
#define PYRO_REPLAY_REPLAY_H

#include "model/app.h"

/* One difference between the run that was and the run that is asked for. */
enum pyro_edit_kind {
    PYRO_EDIT_TASK,        /* task `row` takes `ms` */
    PYRO_EDIT_STAGE,       /* every task of stage `row` takes `factor` times as long */
    PYRO_EDIT_REPARTITION, /* stage `row` runs `count` tasks of `ms` each instead of its own; `factor`:
                              predict/models/model_code.c */
    PYRO_EDIT_TASKS,       /* stage `row` runs `count` tasks of `times` ms instead of its own, in this order */
    PYRO_EDIT_TIMES,       /* of stage `row`, `tasks` (rows) take `times` ms each */
    PYRO_EDIT_SKIP_STAGE,  /* stage `row` does not run; what waits for it goes on */
    PYRO_EDIT_DRIVER,      /* time of the driver inside [from_ms, to_ms) passes in `factor` of it */
    PYRO_EDIT_EXECUTORS,   /* executors that came inside [from_ms, to_ms) come at from_ms */
    PYRO_EDIT_LATER,       /* stage `row` is submitted `ms` later than its driver time says */
    PYRO_EDIT_CONCURRENT,  /* jobs submitted inside [from_ms, to_ms) do not wait for each other */
    PYRO_EDIT_NO_TASK,     /* task `row` is not run but the next attempt at its partition; where all of them are taken
                              out the last one, as if it had ended well, or with `count` > 0 none */
    PYRO_EDIT_EXECUTOR,    /* executor `row` exists in [from_ms, to_ms), or never if that is empty */
    PYRO_EDIT_ALONE,       /* as PYRO_EDIT_DRIVER, of stretches of at least `ms` in which no stage ran */
};

struct pyro_edit {
    enum pyro_edit_kind kind;
    size_t row;        /* in app->tasks, app->stages or app->executors */
    int64_t count;     /* tasks */
    double ms, factor; /* factor >= 0 */
    union {
        struct { /* `count` of each; they must outlive the run of the replay */
            const double *times;
            const uint32_t *tasks; /* of PYRO_EDIT_TIMES */
        };
        struct { /* epoch; of an executor PYRO_NONE: unchanged; the application's end or later: it stays */
            int64_t from_ms, to_ms;
        };
    };
};

enum { PYRO_REPLAY_PARTITIONS = 1 << 16 };

/* An executor that takes part: for runs with others than the log's. */
struct pyro_replay_executor {
    int64_t added_ms, removed_ms; /* since the application's start; removed: PYRO_NONE stays to the end */
    int64_t cores;
    int64_t resource_profile;
    bool lost;         /* at removed_ms, with its running tasks and its output of shuffles; else tasks are let finish */
    bool keeps_output; /* that is: it was moved before, or others keep it */
    int64_t drain_ms;  /* the time before its loss in which it gets no tasks */
};

/* What executors that were lost took with them. */
struct pyro_replay_damage {
    size_t executors;
    size_t tasks;                                     /* that ran on them, or could not fetch what was on them */
    size_t partitions;                                /* of shuffles, that were computed and lost */
    size_t stages;                                    /* that were done and ran again for that */
    uint32_t most_task_failures, most_stage_failures; /* of one partition; of one stage, because of missing input */
};

/* Dynamic allocation as Spark's ExecutorAllocationManager does it, instead of executors that the log names. Times are
 * milliseconds. */
struct pyro_replay_allocation {
    int64_t least, most, initial; /* executors */
    int64_t cores;                /* of each */
    int64_t resource_profile;
    int64_t backlog_ms, sustained_ms; /* tasks have waited this time: ask for one; then, in this interval, for twice as
                                       * many */
    int64_t idle_ms, shuffle_idle_ms; /* without a task, and where it holds output of a shuffle; PYRO_NONE: never */
    int64_t first_ms, start_ms;       /* when the initial ones are available, and from asking for one to its
                                       * registration */
    double ratio;                     /* of the executors that all tasks at once would take */
};

/* How long tasks wait for a slot near their data, instead of as long as the run's settings say: of executors, hosts and
 * racks, in ms. It concerns the stages that waited in the run, and executors of the log only. */
enum { PYRO_LOCALITY_PROCESS, PYRO_LOCALITY_NODE, PYRO_LOCALITY_RACK, PYRO_LOCALITY_WAITS };
struct pyro_replay_locality {
    int64_t wait_ms[PYRO_LOCALITY_WAITS];
    double farther; /* times as long as near it takes a task away from its data */
};

struct pyro_replay_span {
    int64_t start_ms, end_ms;
};

struct pyro_replay_result {
    int64_t wall_ms;
    int64_t busy_ms;    /* tasks on slots */
    int64_t core_ms;    /* allocated: executors' lifetimes x cores */
    double utilization; /* share of allocated core time with a task; NaN without executors */
    int64_t executors;  /* with dynamic allocation: most alive at once; else 0 */
    struct pyro_replay_damage damage;
    bool short_of_slots;  /* a barrier stage never had a slot for each of its tasks, so that Spark fails its job: */
    uint32_t short_stage; /* its row in app->stages */
};

struct pyro_replay;

/* Prepares: sorts tasks by stage, finds what waited for what, estimates what starting a stage and a task cost this
 * run, and replays it unchanged. */
enum pyro_status pyro_replay_new(const struct pyro_app *app, struct pyro_replay **ret, struct pyro_error *error);
/* Another replay of the same run, for another thread: `replay` must outlive it, and may run meanwhile. */
enum pyro_status pyro_replay_fork(const struct pyro_replay *replay, struct pyro_replay **ret, struct pyro_error *error);
/* Asked now and then by every later run, which then ends with PYRO_ERROR_CANCELLED; NULL: not asked. Forks take it
 * over. */
struct pyro_stop;
void pyro_replay_stop_by(struct pyro_replay *replay, const struct pyro_stop *stop);
/* Accepts NULL. */
void pyro_replay_free(struct pyro_replay *replay);

/* The run replayed unchanged. */
struct pyro_replay_result pyro_replay_base(const struct pyro_replay *replay);

/* What differs from the recorded run. Zeroed: nothing. */
struct pyro_replay_change {
    const struct pyro_edit *edits;
    size_t edit_count;
    const struct pyro_replay_executor *executors; /* instead of the log's; NULL: the log's */
    size_t executor_count;
    const struct pyro_replay_allocation *allocation; /* instead of the log's executors and of those above; or NULL */
    bool endless;                                    /* `executors` have a slot for every task */
    bool other_mode, fair; /* other_mode: pools are scheduled FAIR, or FIFO, whatever the run did */
    /* As if it had been run again: every task takes as much longer or shorter as tasks of its stage spread by chance.
     * `spread` has the relative standard deviation of each row of app->stages; NULL: none. The same seed gives the same
     * times, whatever else differs. */
    const float *spread;
    uint64_t seed;
    /* What starting costs in addition to the tasks' own times: a task that begins on an executor before any other of
     * its stage has ended there takes `first_ms` of its row of app->stages longer; before any task at all has,
     * `cold_ms` instead. NULL: nothing. */
    const float *first_ms;
    double cold_ms;
    const struct pyro_replay_locality *locality; /* NULL: as the run waited */
    struct pyro_replay_span *jobs; /* gets one entry for each of app->jobs, -1 for those unknown to it; or NULL */
};
/* `change` may be NULL: unchanged. Only memory can fail. */
enum pyro_status pyro_replay_run(struct pyro_replay *replay, const struct pyro_replay_change *change,
                                 struct pyro_replay_result *ret, struct pyro_error *error);

/* How the unchanged replay compares with the record; for reports. */
struct pyro_replay_check {
    int64_t measured_ms, replayed_ms;
    double error_share;   /* |replayed - measured| / measured; NaN for a run of no length */
    int64_t worst_job_ms; /* largest distance of a job's end from the recorded one */
    /* Which assumption fails most: the stage (row of app->stages) that took this time longer than its replay, below 0:
     * shorter. Longer: its tasks began later than there were slots for them. Shorter: more of its tasks ran at once
     * than the log has slots for. */
    size_t worst_stage;
    int64_t worst_stage_ms; /* 0: there is none */
};
struct pyro_replay_check pyro_replay_check(const struct pyro_replay *replay);
/* Whether a changed replay says anything: the unchanged one is off by a few percent at most, or by less than a second.
 */
bool pyro_replay_is_sound(const struct pyro_replay_check *check);

/* What the unchanged replay makes of locality. */
struct pyro_replay_waits {
    size_t stages, tasks; /* that waited, and their tasks that ran away from their data in the end */
    size_t unsure;        /* stages of which some tasks ran away from their data without having waited, as it seems */
    int64_t task_ms;      /* of all tasks of stages that waited */
    double farther;       /* how many times longer tasks took away from their data; NaN: not known */
};
/* Only memory can fail. */
enum pyro_status pyro_replay_waits(const struct pyro_replay *replay, struct pyro_replay_waits *ret,
                                   struct pyro_error *error);

#endif
