/* Tasks as pictures show them: in the order of their launch, each on a row of its executor. */
#include <stdlib.h>

#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "report/views/views.h"

int64_t pyro_view_task_duration(const struct pyro_app *app, uint32_t row)
{
    return pyro_task_duration(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                              pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
}

int64_t pyro_view_task_status(const struct pyro_app *app, uint32_t row)
{
    int64_t status = pyro_task_get(&app->tasks, PYRO_TASK_status, row);
    return status == PYRO_TASK_FAILED ? 1 : status == PYRO_TASK_KILLED ? 2 : 0;
}

static bool is_run(const struct pyro_app *app, size_t row, int64_t *launch)
{
    *launch = pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row);
    return *launch > 0 && pyro_task_get(&app->tasks, PYRO_TASK_status, row) != PYRO_TASK_RESUBMITTED;
}

/* Marks are sorted with as many again to work in; NULL when there is no memory. */
static struct pyro_mark *new_marks(struct pyro_arena *arena, size_t count)
{
    return count > SIZE_MAX / 4 ? NULL : pyro_arena_array(arena, 2 * count + 1, sizeof(struct pyro_mark));
}

bool pyro_view_tasks_load(const struct pyro_view_request *request, ptrdiff_t stage_row, struct pyro_view_tasks *ret)
{
    const struct pyro_app *app = request->app;
    const struct pyro_stage *stage = stage_row < 0 ? NULL : &app->stages.items[stage_row];
    size_t count = stage ? (size_t)stage->tasks : app->tasks.count;
    *ret = (struct pyro_view_tasks){0};
    if (stage && (!app->tasks_by_stage || stage->tasks < 0))
        count = 0;
    struct pyro_mark *marks = new_marks(request->arena, count);
    ret->rows = pyro_arena_array(request->arena, count + 1, sizeof(*ret->rows));
    if (!marks || !ret->rows)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t row = stage ? app->tasks_by_stage[stage->first_task + i] : i;
        int64_t launch;
        if (is_run(app, row, &launch))
            marks[ret->count++] = (struct pyro_mark){(uint64_t)launch, (uint32_t)row, 0};
    }
    pyro_marks_sort(marks, marks + count, ret->count);
    for (size_t i = 0; i < ret->count; i++)
        ret->rows[i] = marks[i].row;
    ret->all = ret->count;
    return true;
}

bool pyro_view_tasks_thin(const struct pyro_view_request *request, struct pyro_view_tasks *tasks)
{
    if (tasks->count <= request->most_tasks)
        return true;
    struct pyro_mark *marks = new_marks(request->arena, tasks->count);
    unsigned char *kept = pyro_arena_array(request->arena, tasks->count, 1);
    if (!marks || !kept)
        return false;
    for (size_t i = 0; i < tasks->count; i++) {
        uint64_t duration = (uint64_t)pyro_view_task_duration(request->app, tasks->rows[i]);
        bool failed = pyro_view_task_status(request->app, tasks->rows[i]) == 1;
        /* Failed ones first, then the longest. */
        marks[i] = (struct pyro_mark){failed ? 0 : UINT64_MAX - duration, (uint32_t)i, 0};
    }
    pyro_marks_sort(marks, marks + tasks->count, tasks->count);
    for (size_t i = 0; i < request->most_tasks; i++)
        kept[marks[i].row] = 1;
    size_t count = 0;
    for (size_t i = 0; i < tasks->count; i++)
        if (kept[i])
            tasks->rows[count++] = tasks->rows[i];
    tasks->count = count;
    return true;
}

/* ---- Rows of executors ---- */

struct entry {
    int64_t key;
    uint32_t slot;
};

/* A binary heap, the least key first, equal ones by slot. */
struct heap {
    struct entry *items;
    size_t count;
};

static bool before(struct entry a, struct entry b)
{
    return a.key != b.key ? a.key < b.key : a.slot < b.slot;
}

static void push(struct heap *heap, int64_t key, uint32_t slot)
{
    struct entry entry = {key, slot};
    size_t at = heap->count++;
    while (at > 0 && before(entry, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = entry;
}

static struct entry pop(struct heap *heap)
{
    struct entry first = heap->items[0], last = heap->items[--heap->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!before(heap->items[child], last))
            break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = last;
    return first;
}

struct rows {
    struct heap busy, free; /* keys: end of the task; the row itself */
    uint32_t used;
};

static uint32_t take_row(struct rows *rows, int64_t launch, int64_t duration)
{
    while (rows->busy.count && rows->busy.items[0].key <= launch) {
        uint32_t slot = pop(&rows->busy).slot;
        push(&rows->free, slot, slot);
    }
    uint32_t slot = rows->free.count ? pop(&rows->free).slot : rows->used++;
    int64_t end;
    push(&rows->busy, __builtin_add_overflow(launch, duration, &end) ? INT64_MAX : end, slot);
    return slot;
}

bool pyro_view_slots(const struct pyro_view_request *request, const struct pyro_view_tasks *tasks,
                     const uint32_t *executor, size_t executor_count, uint32_t *slots)
{
    const struct pyro_app *app = request->app;
    uint32_t *next = pyro_arena_array(request->arena, executor_count + 1, sizeof(*next));
    uint32_t *grouped = pyro_arena_array(request->arena, tasks->count + 1, sizeof(*grouped));
    struct rows rows = {0};
    rows.busy.items = pyro_arena_array(request->arena, tasks->count + 1, sizeof(struct entry));
    rows.free.items = pyro_arena_array(request->arena, tasks->count + 1, sizeof(struct entry));
    if (!next || !grouped || !rows.busy.items || !rows.free.items)
        return false;
    for (size_t i = 0; i < tasks->count; i++)
        next[executor[i] + 1]++;
    for (size_t i = 0; i < executor_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < tasks->count; i++)
        grouped[next[executor[i]]++] = (uint32_t)i;
    for (size_t i = 0; i < tasks->count; i++) {
        uint32_t at = grouped[i];
        if (i == 0 || executor[at] != executor[grouped[i - 1]])
            rows.busy.count = rows.free.count = rows.used = 0;
        slots[at] = take_row(&rows, pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, tasks->rows[at]),
                             pyro_view_task_duration(app, tasks->rows[at]));
    }
    return true;
}
