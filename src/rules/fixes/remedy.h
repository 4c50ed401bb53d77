/* What the program does without a fault, in edits of the run (replay/replay.h). When all rules have spoken, the run is
 * replayed with each finding's edits (advice/price.c), so that a fault off the critical path saves nothing however
 * large it is. No rule says itself what fixing its fault saves.
 *
 * All of these accept a finding of NULL and are safe after memory ran out. */
#ifndef PYRO_RULES_FIXES_REMEDY_H
#define PYRO_RULES_FIXES_REMEDY_H

#include "rules/rule.h"

/* Task row `task` would take `ms`. Calls with ms not below its duration are left out. */
void pyro_remedy_task(struct pyro_rule_context *context, struct pyro_finding *finding, size_t task, double ms);
/* Failed task row `task` would not have been run, the next attempt at its partition at once; the last attempt is taken
 * for the work that had to be done, however it ended. */
void pyro_remedy_no_task(struct pyro_rule_context *context, struct pyro_finding *finding, size_t task);
/* The same, and if it was the last attempt its partition needs none: another stage attempt did that work. */
void pyro_remedy_no_partition(struct pyro_rule_context *context, struct pyro_finding *finding, size_t task);
/* Every task of stage row `stage` would take `factor` (0 or more) of its time, after edits of single tasks. */
void pyro_remedy_stage(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage, double factor);
/* Stage row `stage` would run `count` tasks; what they take, predict/cut_tasks.c knows. */
void pyro_remedy_repartition(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage,
                             int64_t count);
/* The same, and its input is written so that as many tasks can read it: no shuffle is needed for that. */
void pyro_remedy_split(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage, int64_t count);
/* Stage row `stage` would not run at all. */
void pyro_remedy_skip(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage);
/* Time of the driver between jobs and stages in [from_ms, to_ms) would pass in `factor` of it. */
void pyro_remedy_driver(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms, int64_t to_ms,
                        double factor);
/* Executors that came in [from_ms, to_ms) would be there at from_ms. */
void pyro_remedy_executors(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms,
                           int64_t to_ms);
/* Executor row `executor` would exist from from_ms to to_ms, never if that is empty; PYRO_NONE: unchanged, a time after
 * the application's end: it stays. */
void pyro_remedy_executor(struct pyro_rule_context *context, struct pyro_finding *finding, size_t executor,
                          int64_t from_ms, int64_t to_ms);
/* Of the time in [from_ms, to_ms) in which no stage ran, stretches of at least `least_ms` would pass in `factor`. */
void pyro_remedy_alone(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms, int64_t to_ms,
                       double least_ms, double factor);
/* Jobs submitted in [from_ms, to_ms) would not wait for each other. */
void pyro_remedy_concurrent(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms,
                            int64_t to_ms);
/* The settings of the finding's first advice make all of its edits: they have no model of their own. */
void pyro_remedy_by_settings(struct pyro_finding *finding);
/* Edits that were gathered elsewhere. */
void pyro_remedy_take(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_edit *edits,
                      size_t count);
/* The fault goes in part only: edits of durations change `part` (0..1) of what they say. 1 unless said. */
void pyro_remedy_partly(struct pyro_finding *finding, double part);
/* Once its rule has spoken: weakens the edits by that part. */
void pyro_remedy_settle(const struct pyro_app *app, struct pyro_finding *finding);

#endif
