/* Phases of an application: waiting for executors, computing, writing. The Spark plugin's live metrics mean the same.
 */
#include "analyze/accounts/phases.h"

#include "analyze/analyze.h"
#include "analyze/app_facts.h"

enum { WRITE_START, WRITE_END, OTHER_START, OTHER_END };

static int64_t wait_ms(const struct pyro_app *app, const struct pyro_window *window)
{
    if (app->executors.count == 0)
        return 0;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < app->executors.count; i++) {
        int64_t came = pyro_executor_came_ms(&app->executors.items[i]);
        first = came < first ? came : first;
    }
    return (int64_t)pyro_window_at(window, first);
}

bool pyro_phases_until(const struct pyro_app *app, const struct pyro_window *window, const uint64_t *until,
                       size_t count, struct pyro_phase_lengths *ret)
{
    struct pyro_marks marks;
    pyro_marks_init(&marks, app->allocator, 2 * app->stages.count);
    for (size_t i = 0; i < app->stages.count; i++) {
        uint64_t from, to;
        bool writes = app->stages.items[i].output_bytes > 0;
        if (!pyro_stage_interval(window, &app->stages.items[i], &from, &to))
            continue;
        pyro_marks_add(&marks, from, writes ? WRITE_START : OTHER_START, i);
        pyro_marks_add(&marks, to, writes ? WRITE_END : OTHER_END, i);
    }
    bool done = pyro_marks_finish(&marks);
    struct pyro_phase_lengths sum = {0};
    uint64_t now = 0, writing = 0, others = 0;
    size_t next = 0;
    for (size_t i = 0; done && i < count; i++) {
        for (;;) {
            bool mark = next < marks.list.count && marks.list.items[next].at <= until[i];
            uint64_t to = mark ? marks.list.items[next].at : until[i];
            sum.write_ms += writing > 0 ? to - now : 0;
            sum.compute_ms += writing == 0 && others > 0 ? to - now : 0;
            now = to;
            if (!mark)
                break;
            const struct pyro_mark *change = &marks.list.items[next++];
            writing += change->kind == WRITE_START;
            writing -= change->kind == WRITE_END;
            others += change->kind == OTHER_START;
            others -= change->kind == OTHER_END;
        }
        ret[i] = sum;
    }
    pyro_marks_done(&marks);
    return done;
}

enum pyro_status pyro_analyze_phases(struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_window window = pyro_app_window(app);
    struct pyro_phase_lengths all;
    if (!pyro_phases_until(app, &window, &window.length, 1, &all))
        return pyro_no_memory(error);
    app->numbers.phase_wait_ms = wait_ms(app, &window);
    app->numbers.phase_write_ms = (int64_t)all.write_ms;
    app->numbers.phase_compute_ms = (int64_t)all.compute_ms;
    return PYRO_OK;
}
