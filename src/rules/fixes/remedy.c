#include "rules/fixes/remedy.h"

#include <math.h>

#include "analyze/app_facts.h"
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
                             int64_t count)
{
    if (count > 0)
        add(context, finding, (struct pyro_edit){.kind = PYRO_EDIT_REPARTITION, .row = stage, .count = count});
}

void pyro_remedy_split(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage, int64_t count)
{
    if (count > 0)
        add(context, finding,
            (struct pyro_edit){.kind = PYRO_EDIT_REPARTITION, .row = stage, .count = count, .factor = 1});
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

void pyro_remedy_by_settings(struct pyro_finding *finding)
{
    if (finding)
        finding->by_settings = true;
}

void pyro_remedy_partly(struct pyro_finding *finding, double part)
{
    if (finding)
        finding->part = fmin(fmax(part, 0), 1);
}

void pyro_remedy_settle(const struct pyro_app *app, struct pyro_finding *finding)
{
    double part = finding->part;
    for (size_t i = 0; part < 1 && i < finding->edit_count; i++) {
        struct pyro_edit *edit = &finding->edits[i];
        double was;
        switch (edit->kind) {
        case PYRO_EDIT_TASK:
            was = pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, edit->row),
                            pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, edit->row));
            edit->ms = was + part * (edit->ms - was);
            break;
        case PYRO_EDIT_SKIP_STAGE:
            *edit = (struct pyro_edit){.kind = PYRO_EDIT_STAGE, .row = edit->row, .factor = 1 - part};
            break;
        case PYRO_EDIT_CONCURRENT: /* the rest of the jobs stay in their order */
            edit->to_ms = edit->from_ms + (int64_t)(part * (double)(edit->to_ms - edit->from_ms));
            break;
        case PYRO_EDIT_STAGE:
        case PYRO_EDIT_DRIVER:
        case PYRO_EDIT_ALONE:
            edit->factor = 1 + part * (edit->factor - 1);
            break;
        default: /* the number of tasks and executors: they are as the fix makes them */
            break;
        }
    }
    finding->part = 1;
}
