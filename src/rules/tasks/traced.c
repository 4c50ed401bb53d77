#include "rules/tasks/traced.h"

#include <math.h>
#include <string.h>

#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/sampled.h"

#define NS_PER_S 1e9

/* The name of a process or thread, without the number of the process. */
static struct pyro_slice name_of(struct pyro_slice by)
{
    const char *open = by.len > 0 ? memrchr(by.ptr, '(', by.len) : NULL;
    if (open && open > by.ptr && pyro_slice_ends_with(by, ")"))
        return (struct pyro_slice){by.ptr, (size_t)(open - by.ptr) - 1};
    return by;
}

static bool has_name(const struct pyro_traced_wait *wait, struct pyro_slice name)
{
    return wait->by.ptr && pyro_slice_eq(name_of(wait->by), name);
}

static bool is_first_of(const struct pyro_traced_wait *waits, size_t at, pyro_traced_matches *matches, bool by_name)
{
    const struct pyro_slice name = name_of(waits[at].by);
    for (size_t i = 0; i < at; i++)
        if (matches(&waits[i]) && (by_name ? has_name(&waits[i], name) : pyro_slice_eq(waits[i].by, waits[at].by)))
            return false;
    return true;
}

/* The culprit: of all processes with one name, how long they were one, the longest of them, and how many they are.
 * Waits come longest first, so that the first of a name is its longest. */
static void find_culprit(const struct pyro_traced_wait *waits, size_t count, pyro_traced_matches *matches,
                         struct pyro_traced_part *part)
{
    double most_ns = 0;
    for (size_t i = 0; i < count; i++) {
        double ns = 0;
        if (!matches(&waits[i]) || (!waits[i].by.ptr && !waits[i].what.ptr) ||
            (waits[i].by.ptr && !is_first_of(waits, i, matches, true)))
            continue;
        for (size_t k = i; k < count; k++)
            if (k == i || (matches(&waits[k]) && has_name(&waits[k], name_of(waits[i].by))))
                ns += (double)waits[k].duration_ns;
        if (ns <= most_ns)
            continue;
        most_ns = ns;
        part->by = waits[i].by;
        part->what = waits[i].what;
    }
    for (size_t i = 0; i < count && part->by.ptr; i++)
        part->processes +=
            matches(&waits[i]) && has_name(&waits[i], name_of(part->by)) && is_first_of(waits, i, matches, false);
    part->by_share = part->seconds > 0 ? most_ns / NS_PER_S / part->seconds : 0;
}

struct pyro_traced_part pyro_traced_part(const struct pyro_rule_context *context, size_t stage,
                                         pyro_traced_matches *matches)
{
    const struct pyro_stage_waited *waited = &context->waits->stages[stage];
    const struct pyro_traced_wait *waits = context->waits->waits + waited->first;
    struct pyro_traced_part part = {.tasks = (double)waited->tasks};
    double known_ns = (double)(waited->traced_ns - waited->by_root_ns[PYRO_KERNEL_UNKNOWN]), ns = 0;
    for (size_t i = 0; i < waited->count; i++) {
        if (!matches(&waits[i]))
            continue;
        ns += (double)waits[i].duration_ns;
        part.count += (double)waits[i].count;
        part.bytes += (double)waits[i].bytes;
    }
    part.share = known_ns > 0 ? fmin(ns / known_ns, 1) : 0;
    part.seconds = ns / NS_PER_S;
    find_culprit(waits, waited->count, matches, &part);
    return part;
}

struct pyro_spot *pyro_traced_add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage,
                                  const struct pyro_traced_part *part)
{
    const struct pyro_sampled_share share = {part->share, part->share, part->share, part->count};
    return pyro_sampled_add(context, spots, stage, &share);
}

struct pyro_finding *pyro_traced_finding(struct pyro_rule_context *context, const struct pyro_spots *spots,
                                         size_t first, size_t end, const char *name,
                                         const struct pyro_traced_part *part, double saved)
{
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return NULL;
    pyro_finding_at_stage(context, finding, spots->list.items[first].stage);
    pyro_finding_evidence(context, finding, name, part->share, (double)NAN, "share");
    pyro_finding_evidence(context, finding, "traced_ms", 1000 * part->seconds, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "traced_tasks", part->tasks, (double)NAN, "count");
    pyro_finding_merged(context, finding, "stages", end - first);
    pyro_sampled_remedy(context, finding, spots, first, end, saved);
    return finding;
}

enum pyro_verdict pyro_traced_evaluate(struct pyro_rule_context *context, double share,
                                       void (*examine)(struct pyro_rule_context *context, struct pyro_spots *spots,
                                                       size_t stage),
                                       void (*report)(struct pyro_rule_context *context, const struct pyro_spots *spots,
                                                      size_t first, size_t end))
{
    struct pyro_spots spots = {0};
    if (!context->waits->stages)
        return PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t i = 0; i < context->app->stages.count && !context->failed; i++)
        if (context->waits->stages[i].traced_ns > 0)
            examine(context, &spots, i);
    return pyro_spots_report(context, &spots, share, report) ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const char *pyro_traced_culprit(struct pyro_rule_context *context, const struct pyro_traced_part *part)
{
    struct pyro_slice text = PYRO_SLICE_NULL;
    if (part->by.ptr && part->processes > 1 && pyro_slice_ends_with(part->by, ")"))
        text = pyro_say(context, "%s (%.0f processes)", pyro_say_text(context, name_of(part->by), 60), part->processes);
    if (text.ptr)
        return text.ptr;
    return part->by.ptr     ? pyro_say_text(context, part->by, 80)
           : part->what.ptr ? pyro_say_text(context, part->what, 80)
                            : "something that the trace does not name";
}

const char *pyro_traced_say_share(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    struct pyro_slice text = pyro_say(context, "For %.0f %% of their time (%s in all) tasks of %s", 100 * part->share,
                                      pyro_say_ms(context, 1000 * part->seconds), pyro_say_stage(context, stage));
    return text.ptr ? text.ptr : "";
}

/* ---- One part ---------------------------------------------------------------------------------------------------- */

static struct pyro_traced_part whole_part(const struct pyro_rule_context *context, size_t stage)
{
    const struct pyro_traced_rule *rule = context->rule->traced;
    struct pyro_traced_part part = pyro_traced_part(context, stage, rule->matches);
    if (!rule->stretched || 2 * part.share < pyro_limit(context, PYRO_TRACED_SHARE))
        return part;
    const struct pyro_traced_part more = pyro_traced_part(context, stage, rule->stretched);
    part.share = fmin(part.share + more.share, 1);
    part.seconds += more.seconds;
    part.count += more.count;
    return part;
}

static void examine_part(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage)
{
    const struct pyro_traced_part part = whole_part(context, stage);
    if (part.share >= pyro_limit(context, PYRO_TRACED_SHARE))
        pyro_traced_add(context, spots, stage, &part);
}

static void report_part(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_traced_rule *rule = context->rule->traced;
    size_t stage = spots->list.items[first].stage;
    const struct pyro_traced_part part = whole_part(context, stage);
    struct pyro_finding *finding = pyro_traced_finding(context, spots, first, end, rule->evidence, &part, rule->saved);
    if (!finding)
        return;
    finding->cause = rule->say(context, stage, &part);
    finding->confidence *= rule->confidence;
    pyro_finding_advise(context, finding, pyro_slice_from(rule->advice), rule->verify);
}

enum pyro_verdict pyro_traced_judge(struct pyro_rule_context *context)
{
    return pyro_traced_evaluate(context, pyro_limit(context, PYRO_TRACED_SAVING), examine_part, report_part);
}
