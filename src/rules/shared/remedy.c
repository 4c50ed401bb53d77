#include "rules/shared/remedy.h"

#include <math.h>

#include "analyze/facts.h"
#include "rules/finding.h"

/* A replay of the run as it was that is further off than this says less about the run as it might have been. */
#define REPLAY_ERROR_MAX        0.02
#define REPLAY_ERROR_CONFIDENCE 0.7

/* Edits grow by doubling inside the arena: what is left behind is at most as much again. */
static void add(struct pyro_rule_context *context, struct pyro_finding *finding, struct pyro_edit edit)
{
    if (!finding || context->failed)
        return;
    if (finding->edit_count == finding->edit_room) {
        size_t room = finding->edit_room ? finding->edit_room * 2 : 4;
        struct pyro_edit *edits = pyro_arena_array(context->arena, room, sizeof(*edits));
        if (!edits) {
            context->failed = true;
            return;
        }
        for (size_t i = 0; i < finding->edit_count; i++)
            edits[i] = finding->edits[i];
        finding->edits = edits;
        finding->edit_room = room;
    }
    finding->edits[finding->edit_count++] = edit;
}

void pyro_remedy_task(struct pyro_rule_context *context, struct pyro_finding *finding, size_t task, double ms)
{
    double now = pyro_span(pyro_task_get(&context->app->tasks, PYRO_TASK_launch_ms, task),
                           pyro_task_get(&context->app->tasks, PYRO_TASK_finish_ms, task));
    if (ms < now)
        add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_TASK, .row = task, .ms = fmax(ms, 0)});
}

void pyro_remedy_no_task(struct pyro_rule_context *context, struct pyro_finding *finding, size_t task)
{
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_NO_TASK, .row = task});
}

void pyro_remedy_no_partition(struct pyro_rule_context *context, struct pyro_finding *finding, size_t task)
{
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_NO_TASK, .row = task, .count = 1});
}

void pyro_remedy_stage(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage, double factor)
{
    factor = fmax(factor, 0);
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_STAGE, .row = stage, .factor = factor});
}

void pyro_remedy_repartition(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage,
                             int64_t count, double ms)
{
    if (count > 0)
        add(context, finding,
            (struct pyro_edit){.kind = PYRO_EDIT_REPARTITION, .row = stage, .count = count, .ms = fmax(ms, 0)});
}

void pyro_remedy_skip(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage)
{
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_SKIP_STAGE, .row = stage});
}

void pyro_remedy_driver(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms, int64_t to_ms,
                        double factor)
{
    factor = fmin(fmax(factor, 0), 1);
    add(context, finding,
        (struct pyro_edit){.kind = PYRO_EDIT_DRIVER, .from_ms = from_ms, .to_ms = to_ms, .factor = factor});
}

void pyro_remedy_executors(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms,
                           int64_t to_ms)
{
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_EXECUTORS, .from_ms = from_ms, .to_ms = to_ms});
}

void pyro_remedy_executor(struct pyro_rule_context *context, struct pyro_finding *finding, size_t executor,
                          int64_t from_ms, int64_t to_ms)
{
    add(context, finding,
        (struct pyro_edit){.kind = PYRO_EDIT_EXECUTOR, .row = executor, .from_ms = from_ms, .to_ms = to_ms});
}

void pyro_remedy_alone(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms, int64_t to_ms,
                       double least_ms, double factor)
{
    factor = fmin(fmax(factor, 0), 1);
    add(context, finding,
        (struct pyro_edit){
            .kind = PYRO_EDIT_ALONE, .from_ms = from_ms, .to_ms = to_ms, .ms = least_ms, .factor = factor});
}

void pyro_remedy_concurrent(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms,
                            int64_t to_ms)
{
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_CONCURRENT, .from_ms = from_ms, .to_ms = to_ms});
}

void pyro_remedy_take(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_edit *edits,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(context, finding, edits[i]);
}

void pyro_remedy_sure(struct pyro_finding *finding, double low, double expected, double high)
{
    if (!finding)
        return;
    finding->sure[0] = fmin(fmax(low, 0), 1);
    finding->sure[1] = fmin(fmax(expected, finding->sure[0]), 1);
    finding->sure[2] = fmin(fmax(high, finding->sure[1]), 1);
}

void pyro_remedy_price(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    struct pyro_replay_change change = {.edits = finding->edits, .edit_count = finding->edit_count};
    struct pyro_replay_result mended, base = pyro_replay_base(context->replay);
    if (finding->edit_count == 0 || context->failed)
        return;
    if (pyro_replay_run(context->replay, &change, &mended, NULL) != PYRO_OK) {
        context->failed = true;
        return;
    }
    double wall = (double)base.wall_ms - (double)mended.wall_ms, core = (double)base.core_ms - (double)mended.core_ms;
    /* One replay prices all three: half of a fault mended saves half of it or more, since every path that was shortened
     * stays the longest one for longer. */
    pyro_finding_saves(context, finding, wall * finding->sure[0], wall * finding->sure[1], wall * finding->sure[2]);
    if (context->app->numbers.core_total_ms > 0)
        finding->saves.core_ms = pyro_whole(fmax(core, 0) * finding->sure[1]);
    if (pyro_replay_check(context->replay).error_share > REPLAY_ERROR_MAX)
        finding->confidence *= REPLAY_ERROR_CONFIDENCE;
}
