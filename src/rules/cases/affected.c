#include "rules/cases/affected.h"

#include <stdlib.h>

void pyro_affected_add(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage)
{
    if (!finding || context->failed || (finding->stage_count && finding->stages[finding->stage_count - 1] == stage))
        return;
    if (finding->stage_count == finding->stage_room) {
        size_t room = finding->stage_room ? finding->stage_room * 2 : 4;
        uint32_t *stages = pyro_arena_array(context->arena, room, sizeof(*stages));
        if (!stages) {
            context->failed = true;
            return;
        }
        for (size_t i = 0; i < finding->stage_count; i++)
            stages[i] = finding->stages[i];
        finding->stages = stages;
        finding->stage_room = room;
    }
    finding->stages[finding->stage_count++] = (uint32_t)stage;
}

static int compare_rows(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Drops duplicates, so that a stage with a million edits of its tasks takes no more room than another. */
static void sort(struct pyro_finding *finding)
{
    if (finding->stage_count < 2)
        return;
    qsort(finding->stages, finding->stage_count, sizeof(*finding->stages), compare_rows);
    size_t kept = 1;
    for (size_t i = 1; i < finding->stage_count; i++)
        if (finding->stages[i] != finding->stages[kept - 1])
            finding->stages[kept++] = finding->stages[i];
    finding->stage_count = kept;
}

static void add_edited(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    for (size_t i = 0; i < finding->edit_count; i++) {
        const struct pyro_edit *edit = &finding->edits[i];
        int64_t row = -1;
        switch (edit->kind) {
        case PYRO_EDIT_TASK:
        case PYRO_EDIT_NO_TASK:
            row = pyro_task_get(&context->app->tasks, PYRO_TASK_stage_row, edit->row);
            break;
        case PYRO_EDIT_STAGE:
        case PYRO_EDIT_REPARTITION:
        case PYRO_EDIT_TASKS:
        case PYRO_EDIT_SKIP_STAGE:
            row = (int64_t)edit->row;
            break;
        default:
            break;
        }
        if (row < 0 || (size_t)row >= context->app->stages.count)
            continue;
        if (finding->stage_count == finding->stage_room)
            sort(finding);
        pyro_affected_add(context, finding, (size_t)row);
    }
}

void pyro_affected_settle(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    if (finding->stage_count == 0)
        add_edited(context, finding);
    ptrdiff_t named =
        finding->stage == PYRO_NONE
            ? -1
            : pyro_app_find_stage(context->app, finding->stage, finding->attempt == PYRO_NONE ? 0 : finding->attempt);
    if (named >= 0)
        pyro_affected_add(context, finding, (size_t)named);
    sort(finding);
}
