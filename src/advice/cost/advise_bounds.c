/* Executors that running tasks filled: bounds for dynamic allocation, or for a cluster's autoscaling. */
#include "advice/cost/advisor.h"
#include "analyze/accounts/marks.h"
#include "analyze/scratch.h"
#include "analyze/task_slots.h"

/* Executors that running tasks filled for so much of the time that any task ran. */
void pyro_advise_bounds(struct pyro_advisor *advisor)
{
    const struct pyro_app *app = advisor->app;
    struct pyro_window window = pyro_app_window(app);
    struct pyro_marks marks;
    int64_t cores = advisor->executors[0].cores, running = 0;
    uint32_t *cpus = pyro_stage_cpus(app);
    size_t peak =
        app->numbers.cores_peak > 0 && app->numbers.cores_peak < 1 << 20 ? (size_t)app->numbers.cores_peak : 0;
    uint64_t *held = peak ? pyro_scratch(app, peak + 1, sizeof(*held)) : NULL;
    pyro_marks_init(&marks, app->allocator, 2 * app->tasks.count);
    for (size_t i = 0; cpus && held && i < app->tasks.count; i++) {
        uint64_t from = pyro_window_at(&window, pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, i));
        uint64_t to = pyro_window_at(&window, pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, i));
        if (from >= to || pyro_task_get(&app->tasks, PYRO_TASK_status, i) == PYRO_TASK_RESUBMITTED)
            continue;
        pyro_marks_add(&marks, from, 1, i);
        pyro_marks_add(&marks, to, 0, i);
    }
    advisor->failed |= !cpus || (peak && !held) || !pyro_marks_finish(&marks);
    uint64_t last = 0, busy = 0, below = 0;
    for (size_t i = 0; !advisor->failed && held && i < marks.list.count; i++) {
        const struct pyro_mark *mark = &marks.list.items[i];
        size_t at = running < 0 ? 0 : (size_t)running > peak ? peak : (size_t)running;
        held[at] += mark->at - last;
        busy += at > 0 ? mark->at - last : 0;
        last = mark->at;
        int32_t row = app->tasks.stage_rows[mark->row];
        int64_t cpu = cpus[row < 0 ? app->stages.count : (size_t)row];
        running += mark->kind == 1 ? cpu : -cpu;
    }
    size_t low = 0, high = 0;
    for (size_t k = 1; !advisor->failed && held && k <= peak; k++) {
        below += held[k];
        if (!low && 4 * below >= busy)
            low = k;
        if (!high && 100 * below >= 95 * busy)
            high = k;
    }
    if (busy > 0 && cores > 0) {
        struct pyro_cost_advice *advice = pyro_advisor_add(advisor, "autoscale");
        int64_t least = ((int64_t)low + cores - 1) / cores, most = ((int64_t)high + cores - 1) / cores;
        if (advice) {
            advice->text = least == most
                               ? pyro_advisor_say(advisor, "%lld executor%s", (long long)most, most == 1 ? "" : "s")
                               : pyro_advisor_say(advisor, "%lld to %lld executors", (long long)least, (long long)most);
            advice->safety = pyro_advisor_say(
                advisor,
                "%lld executor%s %s enough for 25 %% of the time with tasks, and %lld for 95 %% of it; the run had "
                "%zu. Use these numbers for spark.dynamicAllocation.minExecutors and maxExecutors, or for the "
                "autoscaling of the cluster.",
                (long long)least, least == 1 ? "" : "s", least == 1 ? "is" : "are", (long long)most, advisor->count);
        }
    }
    pyro_marks_done(&marks);
    pyro_release(app->allocator, cpus);
    pyro_release(app->allocator, held);
}
