/* Phases of an application: waiting for executors, computing, writing. The Spark plugin's live metrics mean the same.
 */
#include "analyze/accounts/marks.h"
#include "analyze/analyze.h"

enum { WRITE_START, WRITE_END, OTHER_START, OTHER_END };

static int64_t wait_ms(const struct pyro_app *app, const struct pyro_window *window)
{
    if (app->executors.count == 0)
        return 0;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        int64_t came = executor->registered_ms > 0 && executor->registered_ms < executor->added_ms
                           ? executor->registered_ms
                           : executor->added_ms;
        first = came < first ? came : first;
    }
    return (int64_t)pyro_window_at(window, first);
}

enum pyro_status pyro_analyze_phases(struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_window window = pyro_app_window(app);
    struct pyro_marks marks;
    pyro_marks_init(&marks, app->allocator, 2 * app->stages.count);
    for (size_t i = 0; i < app->stages.count; i++) {
        uint64_t from, to;
        bool writes = app->stages.items[i].output_bytes > 0;
        if (!pyro_stage_interval(&window, &app->stages.items[i], &from, &to))
            continue;
        pyro_marks_add(&marks, from, writes ? WRITE_START : OTHER_START, i);
        pyro_marks_add(&marks, to, writes ? WRITE_END : OTHER_END, i);
    }
    bool done = pyro_marks_finish(&marks);
    uint64_t now = 0, writing = 0, others = 0, write_ms = 0, compute_ms = 0;
    for (size_t i = 0; done && i < marks.list.count; i++) {
        const struct pyro_mark *mark = &marks.list.items[i];
        if (writing > 0)
            write_ms += mark->at - now;
        else if (others > 0)
            compute_ms += mark->at - now;
        now = mark->at;
        writing += mark->kind == WRITE_START;
        writing -= mark->kind == WRITE_END;
        others += mark->kind == OTHER_START;
        others -= mark->kind == OTHER_END;
    }
    app->numbers.phase_wait_ms = wait_ms(app, &window);
    app->numbers.phase_write_ms = (int64_t)write_ms;
    app->numbers.phase_compute_ms = (int64_t)compute_ms;
    pyro_marks_done(&marks);
    return done ? PYRO_OK : pyro_no_memory(error);
}
