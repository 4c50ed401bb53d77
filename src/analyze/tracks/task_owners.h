/* Owners of the threads of executors whose records name no task: what their stacks and the event log say together.
 *
 * A thread inside of Executor$TaskRunner.run() runs a task of its executor. "frames": the only task that it can have
 * been (thread_tasks.h). "stage-alone": all tasks that then ran on the executor belonged to one stage, which is all
 * that is known. */
#ifndef PYRO_ANALYZE_TRACKS_TASK_OWNERS_H
#define PYRO_ANALYZE_TRACKS_TASK_OWNERS_H

#include "model/app.h"
#include "model/tracks/tracks.h"

/* The process of a thread: itself, where it has no process as its parent. */
int32_t pyro_thread_process(const struct pyro_tracks *tracks, int32_t thread);

/* Adds them to app->tracks, which are sealed; threads that have owners already keep these only. */
enum pyro_status pyro_task_owners_add(struct pyro_app *app, struct pyro_error *error);

#endif
