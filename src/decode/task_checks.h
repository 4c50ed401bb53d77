/* Values of tasks that cannot be: a metric below 0, a task that ran for longer than from its launch to its end, times
 * outside of the application or of the task's stage. They become PYRO_NONE, are counted, and a note has the first. */
#ifndef PYRO_DECODE_TASK_CHECKS_H
#define PYRO_DECODE_TASK_CHECKS_H

#include "model/app.h"

/* Clocks are set while applications run: what is off by less is not looked at. */
enum { PYRO_CLOCK_TOLERANCE_MS = 60000 };

/* What was set aside; `column` names the first one, of task `id`. */
struct pyro_task_doubts {
    uint64_t values, times; /* times: launches and ends */
    uint64_t unmeasured;    /* not set aside: tasks that succeeded, with no metrics or none that were measured */
    int64_t id, stage, value;
    enum pyro_task_column column;
};

/* Checks a row of a task by itself, when it is made. */
void pyro_check_task(struct pyro_task_doubts *doubts, int64_t *row);

/* Checks launch and end of all tasks of a sealed table against their stages and the application, whose times are
 * checked by themselves. `row` of stages is as appended. Also sets times of stages aside that most of their tasks
 * contradict; *ret_stage_times counts these. False: no memory. */
bool pyro_check_tasks(struct pyro_app *app, struct pyro_task_doubts *doubts, size_t *ret_stage_times);

/* Counts what was set aside in the integrity and says so in a note. False: no memory. */
bool pyro_note_doubts(struct pyro_app *app, const struct pyro_task_doubts *doubts);

#endif
