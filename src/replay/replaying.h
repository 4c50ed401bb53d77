/* What the files of the replay share. All times are microseconds since the application's start. */
#ifndef PYRO_REPLAY_REPLAYING_H
#define PYRO_REPLAY_REPLAYING_H

#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "analyze/job_interval.h"
#include "analyze/row_index.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"
#include "replay/replay.h"

#define REPLAY_NOBODY UINT32_MAX
/* Times stop here: 146,000 years. */
#define REPLAY_TIME_MAX ((int64_t)1 << 62)
/* No duration of a log is taken for longer than two years. */
#define REPLAY_MS_MAX ((int64_t)1 << 36)

enum { REPLAY_FACTOR_BITS = 20, REPLAY_NEEDS_MAX = 16, REPLAY_ATTEMPTS_MAX = 64, REPLAY_HOLDING_MAX = 64 };
/* Units of a slot: tasks of a stage may take more or less than a slot of their executor. */
enum { REPLAY_SLOT = 1 << 10 };
/* Stages that an executor is taken to know, those that it ran last. */
enum { REPLAY_KNOWN_MAX = 8 };

enum replay_run_flag {
    REPLAY_RUN_HEAD = 1,    /* first run of its partition */
    REPLAY_RUN_SUCCESS = 2, /* ended well */
    REPLAY_RUN_COPY = 4,    /* speculative */
    REPLAY_RUN_PINNED = 32, /* may have waited for the executor that it ran on */
    REPLAY_RUN_WAITS = 8,   /* may have waited for a slot near its data */
    REPLAY_RUN_FATAL = 16,  /* its stage failed with it */
    /* Of replay->run_edits, which is another place than the flags of runs. */
    REPLAY_RUN_SKIPPED = 64, /* an edit took it out */
    REPLAY_RUN_GONE = 128,   /* ... and its partition needs no run at all */
};

enum replay_done {
    REPLAY_DONE = 1,
    REPLAY_LAUNCHED = 2, /* a pinned one */
    REPLAY_IN_LINE = 4,  /* of any run: it waits among its stage's runs again */
    REPLAY_FOLLOWED = 8  /* the same: the attempt before it has ended, of which there may be two: one and its copy */
};

/* One run of a task. Those of one partition are adjacent, by attempt; those of a stage as well, stages in the order of
 * their rows. */
struct replay_run {
    int64_t us;
    uint32_t executor; /* row, REPLAY_NOBODY when unknown: it runs there again if that has a slot */
    uint32_t flags;
};

struct replay_list {
    uint32_t first, count;
};

struct replay_stage {
    uint32_t row, job;                    /* job: REPLAY_NOBODY where the log has none for it */
    struct replay_list runs, needs, next; /* needs, next: of stages */
    uint32_t partitions;
    uint32_t group, pool, rank; /* rank: among all, as FIFO prefers them */
    int64_t from, to;           /* as recorded */
    int64_t gap;                /* between the end of what it needs and its submission */
    int64_t need;               /* of an executor, in units of 1 / REPLAY_SLOT of its slots */
    int64_t locality_wait;      /* of tasks that ran away from their data, if they waited at all */
    unsigned char near, far;    /* levels: of its best task, and of the next ones that may have waited; equal: none */
    bool waits;
    bool plain;   /* each of its partitions has one run, and none of them failed the stage */
    int64_t tail; /* from its last task's end to its own, while its output is merged */
    bool writes_shuffle;
    bool barrier;    /* its tasks are launched together */
    bool unfinished; /* it has tasks without an end, so that what it does is not wholly known */
};

struct replay_job {
    uint32_t row, unit;
    struct replay_list needs, next, stages; /* needs, next: of jobs */
    int64_t from, to;
    int64_t base; /* recorded end of what it waited for */
    int64_t tail; /* from its last stage's end to its own */
};

struct replay_executor {
    int64_t added, removed; /* removed: REPLAY_TIME_MAX for never */
    int64_t slots, cores;
    uint32_t group;
    uint32_t last_stage; /* it takes no part in stages behind this one */
    bool stays;          /* until `removed`, whatever stage that is */
    bool lost, keeps_output;
    int64_t drain; /* of one that is lost */
};

/* Per run of the replay. */
struct replay_stage_state {
    int64_t base, start, end, slots; /* slots: alive when it could begin */
    uint32_t needs_left, parts_left;
    uint32_t cursor, retry_first, retry_last, running;
    bool started, done, queued;
    bool spread; /* its tasks may run away from their data */
    bool nears;  /* those that ran away from their data wait on for it, longer than they did */
};
struct replay_job_state {
    int64_t base, start, end;
    uint32_t needs_left, stages_left;
    bool started, done;
};
struct replay_executor_state {
    int64_t free, busy; /* free: units of REPLAY_SLOT, of which running tasks have `held` */
    int64_t held;
    uint32_t below; /* next in its group's stack */
    bool alive, stacked, retired;
    bool holds_shuffle, expired; /* dynamic allocation: has written shuffle output; was idle for long enough */
    int64_t since, idle_since;   /* the same */
    uint32_t known[REPLAY_KNOWN_MAX],
        known_count; /* numbers + 1 of stages of which a task has ended on it, in a ring */
};
struct replay_stage_edit {
    int64_t factor, us;  /* factor: in units of 2^-REPLAY_FACTOR_BITS */
    int64_t less;        /* of the driver's time before it */
    uint32_t count;      /* of tasks of `us`, or of `times`; 0: its own */
    const double *times; /* ms, of the one who asks; NULL: all take `us` */
    int64_t *own;        /* us of its own runs; NULL: as recorded */
    bool skip;
};
struct replay_event {
    int64_t at;
    uint64_t order; /* when it was made, and its kind below */
    uint32_t what;
};
struct replay_running {
    uint32_t run, stage, executor;
    bool active, lost; /* lost: with its executor, its end does not count */
    int64_t end;
};
struct replay_turn;
struct replay_group {
    int64_t profile;
    uint32_t top;    /* executor with a free slot */
    int64_t slots;   /* alive */
    int64_t free;    /* of alive executors, in units of REPLAY_SLOT; where there are barrier stages */
    uint32_t *ready; /* stages with tasks to launch: FIFO a heap by rank, FAIR a list */
    uint32_t ready_count;
};

struct pyro_replay {
    const struct pyro_app *app;
    const struct pyro_allocator *allocator;
    struct pyro_window window;

    struct replay_run *runs;
    uint32_t run_count;
    int64_t *fetch_us;     /* of runs, at their end: the driver fetched the result, and the slot was free already; NULL:
                              of none */
    uint32_t *run_of_task; /* of all tasks, those without an end last */
    uint32_t *first_run;   /* by row of app->stages, also of those that have none */
    struct replay_stage *stages; /* as they were submitted */
    uint32_t stage_count;
    uint32_t *stage_of_row;
    struct replay_job *jobs; /* as they were submitted */
    uint32_t job_count;
    PYRO_VEC(uint32_t) lists;
    struct replay_executor *executors;
    uint32_t executor_count;
    uint32_t *by_last_stage; /* executors that leave, by the last stage they took part in */
    struct replay_group *groups;
    uint32_t group_count;
    uint32_t pool_count;
    int64_t tail; /* from the last job's end to the application's */
    bool fair, fair_inside;
    bool barriers; /* there are barrier stages */

    /* What the log does not say of each, estimated for the whole run (estimate.c). */
    int64_t first_start, stage_start, dispatch, executor_start;

    bool forked; /* another replay owns what runs do not change */

    const struct pyro_stop *stop; /* NULL: nothing stops a run */

    /* State of a run. */
    bool stopped;
    uint64_t handled; /* events */
    const float *spread;
    uint64_t seed;
    const float *first_ms; /* of rows of app->stages; NULL: none */
    double cold_ms;
    const struct pyro_replay_locality *locality;     /* NULL: as in the log */
    const struct pyro_replay_allocation *allocation; /* NULL: executors come when they are listed */
    struct replay_allocating {
        int64_t target, add, due; /* due: when more are asked for; -1: no tasks wait */
        int64_t alive, coming, most_alive, running;
        bool begun;                       /* there were tasks */
        __int128 core;                    /* us, of removed ones */
        uint32_t *vacant, vacant_count;   /* entries of executors to use */
        uint32_t *expired, expired_count; /* idle ones that may go as soon as the target allows it */
    } allocating;
    struct replay_stage_state *stage_states;
    struct replay_job_state *job_states;
    struct replay_executor_state *executor_states;
    struct replay_stage_edit *stage_edits; /* NULL while there are none */
    int64_t *job_gaps, *job_tails;
    int64_t tail_now;
    uint32_t *job_windows; /* number of each job's window, NULL while there are none */
    uint32_t *pool_running;
    uint32_t *retry_next;     /* of runs; NULL while none is a second one */
    unsigned char *run_edits; /* of runs: REPLAY_RUN_SKIPPED and REPLAY_RUN_GONE; NULL while no edit takes any out */
    unsigned char *run_done;  /* of partitions' first runs: enum replay_done */
    PYRO_VEC(struct replay_event) events;
    PYRO_VEC(struct replay_running) running;
    uint32_t running_free;
    PYRO_VEC(struct replay_turn) turns; /* of a stage that is alone */
    uint64_t made;
    int64_t now, last, busy;
    uint32_t holding[REPLAY_HOLDING_MAX], holding_count; /* stages with pinned tasks that wait */
    PYRO_VEC(uint32_t) together;                         /* barrier stages that wait for a slot for each task */
    uint32_t short_stage;                                /* the first of them that never got them; REPLAY_NOBODY */
    uint32_t jobs_left, stages_done, leaving_next, stuck_job, stuck_stage;
    bool no_memory, revived, others;     /* others: executors that the log does not know */
    bool endless;                        /* they have a slot for every task */
    struct replay_losing *losing;        /* executors are lost (losses.h); else NULL */
    const struct replay_window *windows; /* of jobs that do not wait for each other */
    uint32_t window_count;

    struct pyro_replay_result base;
    int64_t worst_job;    /* largest distance of a job's end from the recorded one */
    uint32_t worst_stage; /* whose length is farthest from the recorded one */
    int64_t worst_off;    /* recorded - replayed, of that stage */
};

/* Jobs [first, end) run side by side. */
struct replay_window {
    uint32_t first, end;
};

static inline int64_t replay_later(int64_t time, int64_t us)
{
    return us >= REPLAY_TIME_MAX - time ? REPLAY_TIME_MAX : time + us;
}
/* Milliseconds of a log as microseconds, clamped. */
static inline int64_t replay_us(int64_t ms)
{
    return (ms < 0 ? 0 : ms > REPLAY_MS_MAX ? REPLAY_MS_MAX : ms) * 1000;
}
static inline int64_t replay_at(const struct pyro_replay *replay, int64_t time)
{
    return replay_us((int64_t)pyro_window_at(&replay->window, time));
}

/* Preparing, in this order; false without memory. */
bool pyro_replay_take_graph(struct pyro_replay *replay);
bool pyro_replay_take_tasks(struct pyro_replay *replay);
bool pyro_replay_take_executors(struct pyro_replay *replay);
bool pyro_replay_estimate(struct pyro_replay *replay);

/* Levels in Spark's order. NO_PREF is between NODE_LOCAL and RACK_LOCAL. */
enum replay_level {
    REPLAY_PROCESS_LOCAL,
    REPLAY_NODE_LOCAL,
    REPLAY_NO_PREF,
    REPLAY_RACK_LOCAL,
    REPLAY_ANY,
    REPLAY_LEVELS
};
/* Time that Spark lets a task of level `far` wait for a slot nearer to its data, from level `near` on, us. */
int64_t pyro_replay_wait(const int64_t wait_ms[PYRO_LOCALITY_WAITS], unsigned near, unsigned far);

/* Dynamic allocation (dynamic_allocation.c). */
bool pyro_replay_allocation_begin(struct pyro_replay *replay);
/* After slots were given away: tasks that still wait are a backlog. */
void pyro_replay_allocation_look(struct pyro_replay *replay);
void pyro_replay_allocation_ask(struct pyro_replay *replay);
void pyro_replay_allocation_came(struct pyro_replay *replay, uint32_t executor);
void pyro_replay_allocation_idle(struct pyro_replay *replay, uint32_t executor);
void pyro_replay_allocation_check(struct pyro_replay *replay, uint32_t executor);
/* Executors that it may need at once. */
uint32_t pyro_replay_allocation_room(const struct pyro_replay *replay, const struct pyro_replay_allocation *allocation);

/* Runs it once with what is set; false without memory. */
bool pyro_replay_go(struct pyro_replay *replay);

#endif
