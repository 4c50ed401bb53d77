/* What profilers saw of each stage: methods by their part of its samples. Only samples with an owner count, and of the
 * JVM only those inside of a task. */
#ifndef PYRO_ANALYZE_TRACKS_STAGE_SAMPLES_H
#define PYRO_ANALYZE_TRACKS_STAGE_SAMPLES_H

#include "base/memory/arena.h"
#include "model/app.h"

/* Samples that can be added up: each clock has its own whole. */
enum pyro_sample_clock {
    PYRO_CLOCK_PYTHON, /* samples of Python workers, all the time that tasks used them */
    PYRO_CLOCK_WALL,   /* samples of the JVM's threads, whether they ran or not */
    PYRO_CLOCK_CPU,    /* samples of the JVM's threads that ran, where nothing samples those that wait */
    PYRO_CLOCK_WAIT,   /* their waits: nanoseconds, to be compared with `profiled_ms` */
    PYRO_SAMPLE_CLOCKS
};

enum pyro_sample_work {
    PYRO_WORK_RUNNING,
    PYRO_WORK_WAITING,
    PYRO_WORK_LOCKED,
    PYRO_WORK_TRANSFER, /* a Python worker reads, writes or converts rows */
    PYRO_WORK_INPUT     /* a Python worker waits for rows */
};

struct pyro_stage_method {
    size_t stage; /* row of app->stages */
    enum pyro_sample_clock clock;
    enum pyro_sample_work work;
    int32_t method, callee, prepares; /* frames, see struct pyro_stack_facts; -1: none */
    bool program, expression;
    int64_t weight;
    uint64_t count; /* samples, or waits */
};

struct pyro_stage_sampled {
    int64_t weight[PYRO_SAMPLE_CLOCKS];
    uint64_t count[PYRO_SAMPLE_CLOCKS]; /* samples, or waits */
    double profiled_ms;                 /* of its tasks on executors whose waits are known */
    double prepare_share;               /* of a median task that is not the first of its thread; NaN: there is none */
    size_t prepare_tasks;               /* such tasks */
    size_t first_method, method_count;  /* in `methods` */
};

struct pyro_stage_samples {
    struct pyro_stage_sampled *stages; /* a row of app->stages each; NULL: no profiles */
    struct pyro_stage_method *methods; /* by stage, clock, most weight first */
    size_t method_count;
};

/* NULL: no memory left in the arena. */
const struct pyro_stage_samples *pyro_stage_samples_new(const struct pyro_app *app, struct pyro_arena *arena);

#endif
