#include "rules/remedy.h"

#include <math.h>

#include "rules/activity.h"
#include "rules/cases.h"
#include "rules/facts.h"
#include "rules/finding.h"

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

void pyro_remedy_stage(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage, double factor)
{
    factor = fmin(fmax(factor, 0), 1);
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

void pyro_remedy_concurrent(struct pyro_rule_context *context, struct pyro_finding *finding, int64_t from_ms,
                            int64_t to_ms)
{
    add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_CONCURRENT, .from_ms = from_ms, .to_ms = to_ms});
}

void pyro_remedy_sure(struct pyro_finding *finding, double low, double expected, double high)
{
    if (!finding)
        return;
    finding->sure[0] = fmin(fmax(low, 0), 1);
    finding->sure[1] = fmin(fmax(expected, finding->sure[0]), 1);
    finding->sure[2] = fmin(fmax(high, finding->sure[1]), 1);
}

static double stage_saves(struct pyro_rule_context *context, size_t row, double share)
{
    const struct pyro_stage *stage = &context->app->stages.items[row];
    double from = pyro_stage_from(stage), to = pyro_stage_to(context->app, stage);
    return to > from ? pyro_alone_ms(context, row, from, to) * share : 0;
}

static double edit_saves(struct pyro_rule_context *context, const struct pyro_edit *edit)
{
    const struct pyro_app *app = context->app;
    switch (edit->kind) {
    case PYRO_EDIT_TASK: {
        int64_t id = pyro_task_get(&app->tasks, PYRO_TASK_stage, edit->row);
        ptrdiff_t row = pyro_app_find_stage(app, id, pyro_task_get(&app->tasks, PYRO_TASK_stage_attempt, edit->row));
        double now = pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, edit->row),
                               pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, edit->row));
        if (row < 0)
            return 0;
        double work = fmax(pyro_real(app->stages.items[row].task_ms), 1);
        return stage_saves(context, (size_t)row, fmin(1, (now - edit->ms) / work));
    }
    case PYRO_EDIT_STAGE:
        return stage_saves(context, edit->row, 1 - edit->factor);
    case PYRO_EDIT_REPARTITION: {
        double work = fmax(pyro_real(app->stages.items[edit->row].task_ms), 1);
        return stage_saves(context, edit->row, fmax(0, 1 - (double)edit->count * edit->ms / work));
    }
    case PYRO_EDIT_SKIP_STAGE:
        return stage_saves(context, edit->row, 1);
    case PYRO_EDIT_DRIVER:
        return pyro_span(edit->from_ms, edit->to_ms) * (1 - edit->factor);
    case PYRO_EDIT_EXECUTORS:
    case PYRO_EDIT_CONCURRENT:
        return 0;
    }
    return 0;
}

void pyro_remedy_price(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    double all = 0;
    for (size_t i = 0; i < finding->edit_count; i++)
        all += edit_saves(context, &finding->edits[i]);
    if (finding->edit_count > 0)
        pyro_finding_saves(context, finding, all * finding->sure[0], all * finding->sure[1], all * finding->sure[2]);
}
