#include "rules/cases/part_cases.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/accounts/split.h"
#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "rules/cases/affected.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/stage_tasks.h"

/* Sites beyond this many are small: cases come with the most excess first. */
enum { SITES_MAX = 64 };

/* What an executor has done so far, to tell its first tasks, and those of a stage on it, from later ones. The log has
 * tasks in the order in which they ended. */
struct executor_tasks {
    int64_t stage;               /* of its latest task */
    double seen;                 /* tasks of that stage */
    double stage_end, first_end; /* when the first task of that stage, and of all, ended */
};

static void add_split(double *sums, const struct pyro_task_split *split)
{
    const int64_t parts[PYRO_SPLIT_PARTS] = {
        [PYRO_SPLIT_SCHEDULER_DELAY] = split->scheduler_delay,
        [PYRO_SPLIT_DESERIALIZE] = split->deserialize,
        [PYRO_SPLIT_COMPUTE] = split->compute,
        [PYRO_SPLIT_GC] = split->gc,
        [PYRO_SPLIT_SHUFFLE_FETCH_WAIT] = split->shuffle_fetch_wait,
        [PYRO_SPLIT_SHUFFLE_WRITE] = split->shuffle_write,
        [PYRO_SPLIT_RESULT_SERIALIZE] = split->result_serialize,
        [PYRO_SPLIT_GETTING_RESULT] = split->getting_result,
    };
    for (unsigned i = 0; i < PYRO_SPLIT_PARTS; i++)
        sums[i] += pyro_real(parts[i]);
}

struct reader {
    const struct pyro_app *app;
    struct pyro_split_run *run;
    int64_t (*columns)[PYRO_SPLIT_RUN]; /* status, stage row, executor row, launch */
    struct executor_tasks *executors;
    struct pyro_cold cold;
    double slots;
};

static void read_run(struct reader *reader, size_t first, size_t count, struct pyro_stage_parts *parts)
{
    static const enum pyro_task_column columns[] = {PYRO_TASK_status, PYRO_TASK_stage_row, PYRO_TASK_executor_row,
                                                    PYRO_TASK_launch_ms};
    const struct pyro_app *app = reader->app;
    pyro_split_read(app, first, count, reader->run);
    for (size_t i = 0; i < 4; i++)
        pyro_task_read(&app->tasks, columns[i], first, count, reader->columns[i]);
    for (size_t i = 0; i < count; i++) {
        int64_t stage = reader->columns[1][i], executor = reader->columns[2][i];
        if (reader->columns[0][i] != PYRO_TASK_SUCCESS || stage < 0 || stage >= (int64_t)app->stages.count)
            continue;
        bool opener = false;
        if (executor >= 0 && executor < (int64_t)app->executors.count) {
            struct executor_tasks *before = &reader->executors[executor];
            double launch = pyro_real(reader->columns[3][i]),
                   end = launch + pyro_real(reader->run->splits[i].duration_ms);
            if (before->first_end < 0)
                before->first_end = end;
            if (before->stage != stage)
                *before = (struct executor_tasks){stage, 0, end, before->first_end};
            opener = before->seen++ < reader->slots || launch < before->stage_end;
            if (launch <= reader->cold.until[executor] || launch < before->first_end)
                continue;
        }
        struct pyro_stage_parts *sums = &parts[stage];
        const struct pyro_task_split *split = &reader->run->splits[i];
        sums->tasks++;
        sums->work_ms += pyro_real(split->duration_ms);
        add_split(sums->part_ms, split);
        if (opener)
            continue;
        sums->steady_tasks++;
        sums->steady_ms += pyro_real(split->duration_ms);
        add_split(sums->steady_part_ms, split);
    }
}

const struct pyro_stage_parts *pyro_stage_parts(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const struct pyro_allocator *allocator = context->arena->allocator;
    if (context->parts || context->failed)
        return context->parts;
    struct pyro_stage_parts *parts = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(*parts));
    struct reader reader = {.app = app, .slots = pyro_app_slots_per_executor(app)};
    reader.run = pyro_allocate(allocator, sizeof(*reader.run));
    reader.columns = pyro_allocate(allocator, 4 * sizeof(*reader.columns));
    reader.executors = pyro_allocate(allocator, (app->executors.count + 1) * sizeof(*reader.executors));
    bool ok = parts && reader.run && reader.columns && reader.executors && pyro_cold_load(context, &reader.cold);
    if (ok) {
        memset(parts, 0, (app->stages.count + 1) * sizeof(*parts));
        for (size_t i = 0; i < app->executors.count; i++)
            reader.executors[i] = (struct executor_tasks){-1, 0, 0, -1};
        for (size_t first = 0; first < app->tasks.count; first += PYRO_SPLIT_RUN) {
            size_t rest = app->tasks.count - first;
            read_run(&reader, first, rest < PYRO_SPLIT_RUN ? rest : PYRO_SPLIT_RUN, parts);
        }
        context->parts = parts;
    }
    context->failed |= !ok;
    pyro_cold_done(context, &reader.cold);
    pyro_release(allocator, reader.run);
    pyro_release(allocator, reader.columns);
    pyro_release(allocator, reader.executors);
    return context->parts;
}

static double excess(const struct pyro_part_case *found)
{
    return found->work_ms * (1 - found->factor);
}

static int by_excess(const void *left, const void *right)
{
    const struct pyro_part_case *a = left, *b = right;
    double x = excess(a), y = excess(b);
    if (x > y || x < y)
        return x > y ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

static void find_stages(struct pyro_rule_context *context, const struct pyro_part_limits *limits,
                        const struct pyro_stage_parts *parts, struct pyro_part_cases *ret)
{
    for (size_t i = 0; i < context->app->stages.count; i++) {
        /* In real-time mode a stage runs at the same time as those before it, and waits for their rows. */
        if (context->app->stages.items[i].real_time && (limits->parts & 1u << PYRO_SPLIT_SHUFFLE_FETCH_WAIT))
            continue;
        double tasks = limits->steady ? parts[i].steady_tasks : parts[i].tasks;
        double work = limits->steady ? parts[i].steady_ms : parts[i].work_ms, part = 0;
        for (unsigned k = 0; k < PYRO_SPLIT_PARTS; k++)
            if (limits->parts & 1u << k)
                part += limits->steady ? parts[i].steady_part_ms[k] : parts[i].part_ms[k];
        if (tasks < 1 || work <= 0 || part < limits->share * work || part < limits->mean_ms * tasks)
            continue;
        struct pyro_part_case *found = pyro_vec_push(&ret->list, context->arena->allocator);
        if (!found) {
            context->failed = true;
            return;
        }
        double share = fmin(part / work, 1), rest = 1 - share;
        *found = (struct pyro_part_case){.stage = i, .tasks = tasks, .work_ms = work, .part_ms = part};
        /* What is left is the work and the share of it that is usual. */
        found->factor = fmin(rest + fmin(share, limits->usual), 1);
    }
}

static void group(struct pyro_rule_context *context, struct pyro_part_cases *cases)
{
    size_t leads[SITES_MAX], sites = 0, kept = 0;
    struct pyro_part_case *items = cases->list.items;
    for (size_t i = 0; i < cases->list.count && !context->failed; i++) {
        struct pyro_part_case one = items[i];
        one.site = pyro_stage_site(context, one.stage);
        size_t same = 0;
        while (same < sites && !pyro_slice_eq(items[leads[same]].site, one.site))
            same++;
        if (same == SITES_MAX)
            continue;
        if (same == sites)
            leads[sites++] = kept;
        one.lead = leads[same];
        items[kept++] = one;
        struct pyro_part_case *lead = &items[one.lead];
        lead->stages++;
        lead->all_tasks += one.tasks;
        lead->all_work_ms += one.work_ms;
        lead->all_part_ms += one.part_ms;
    }
    cases->list.count = kept;
}

struct pyro_part_limits pyro_part_limits(const struct pyro_rule_context *context, unsigned parts, size_t totals)
{
    return (struct pyro_part_limits){
        .parts = parts,
        .share = pyro_limit(context, 0),
        .mean_ms = pyro_limit(context, 1),
        .total_ms = pyro_limit(context, totals),
        .total_share = pyro_limit(context, totals + 1),
        .usual = pyro_limit(context, totals + 2),
    };
}

enum pyro_verdict pyro_part_cases_evaluate(struct pyro_rule_context *context, const struct pyro_part_limits *limits,
                                           pyro_part_filter *filter, pyro_part_report *report)
{
    const struct pyro_stage_parts *parts = pyro_stage_parts(context);
    struct pyro_part_cases cases = {.usual = limits->usual};
    double least = fmax(limits->total_ms, limits->total_share * pyro_real(context->app->numbers.task_ms));
    if (parts)
        find_stages(context, limits, parts, &cases);
    if (cases.list.count > 1)
        qsort(cases.list.items, cases.list.count, sizeof(*cases.list.items), by_excess);
    group(context, &cases);
    for (size_t i = 0; i < cases.list.count && !context->failed; i++) {
        const struct pyro_part_case *found = &cases.list.items[i];
        if (found->lead != i || found->all_part_ms < least || (filter && !filter(context, found->stage)))
            continue;
        struct pyro_finding *finding = pyro_finding_add(context, context->rule);
        if (finding)
            report(context, finding, &cases, i);
    }
    pyro_vec_done(&cases.list, context->arena->allocator);
    return PYRO_VERDICT_QUIET;
}

void pyro_part_cases_report(struct pyro_rule_context *context, struct pyro_finding *finding,
                            const struct pyro_part_cases *cases, size_t lead, const char *name)
{
    const struct pyro_part_case *items = cases->list.items, *found = &items[lead];
    double usual = cases->usual;
    pyro_finding_at_stage(context, finding, found->stage);
    pyro_finding_evidence(context, finding, pyro_say(context, "%s_share", name).ptr,
                          found->all_part_ms / fmax(found->all_work_ms, 1), usual, "share");
    pyro_finding_evidence(context, finding, pyro_say(context, "%s_ms", name).ptr, found->all_part_ms,
                          usual * found->all_work_ms, "ms");
    pyro_finding_evidence(context, finding, pyro_say(context, "mean_%s_ms", name).ptr,
                          found->all_part_ms / fmax(found->all_tasks, 1), (double)NAN, "ms");
    pyro_finding_merged(context, finding, "stages", found->stages);
    for (size_t i = lead; i < cases->list.count; i++)
        if (items[i].lead == lead) {
            pyro_affected_add(context, finding, items[i].stage);
            pyro_remedy_stage(context, finding, items[i].stage, items[i].factor);
        }
}

const char *pyro_part_cases_more(struct pyro_rule_context *context, const struct pyro_part_case *lead)
{
    return lead->stages > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", lead->stages).ptr
                            : "";
}
