/* get_job_bottlenecks of Kubeflow's MCP server for the Spark History Server. docs/profiles/kubeflow.md */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/profiles/profile.h"

static const double spill_bytes = 100.0 * 1024 * 1024, gc_share = 0.1;

static void judge(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = context->app;
    double spilling = 0, most = 0, failed = 0;
    const struct pyro_peer_tasks *tasks = pyro_profile_stage_tasks(context);
    for (size_t i = 0; tasks && i < app->stages.count; i++) {
        double spilled = pyro_real(app->stages.items[i].memory_spill_bytes);
        spilling += spilled > spill_bytes;
        most = fmax(most, spilled);
        failed += tasks[i].failed;
    }
    double duration = pyro_real(app->numbers.task_ms) + pyro_profile_repeated_ms(app, NULL);
    double gc = duration > 0 ? pyro_real(app->numbers.gc_ms) / duration : 0;
    pyro_profile_say(context, diagnosis, "memory: gc pressure", gc > gc_share ? "high" : "none", gc, gc_share,
                     pyro_say(context, "total_gc_time / total_duration of all executors is %.4f", gc));
    pyro_profile_say(
        context, diagnosis, "memory: spill", spilling > 0 ? "high" : "none", most, spill_bytes,
        pyro_say(context, "%.0f stages spilled more than 100 MB of memory, the most %.0f bytes", spilling, most));
    pyro_profile_say(context, diagnosis, "reliability: failed tasks", failed > 0 ? "medium" : "none", failed, 0,
                     pyro_say(context, "%.0f failed tasks in all stages", failed));
}

const struct pyro_profile pyro_profile_kubeflow = {"kubeflow", "Kubeflow's MCP server for the Spark History Server",
                                                   judge};
