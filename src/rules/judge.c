#include "rules/judge.h"

#include "analyze/tracks/stage_samples.h"
#include "analyze/tracks/stage_waits.h"
#include "base/error.h"
#include "base/memory/allocator.h"
#include "base/threads/crew.h"
#include "rules/cases/affected.h"
#include "rules/cases/part_cases.h"
#include "rules/causes/causing_settings.h"
#include "rules/config.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/plans.h"
#include "rules/timing/activity.h"

/* Below this number of rows starting threads takes longer than judging. */
enum { FEW_ROWS = 2000, RULES_MOST = 256 };

struct judging {
    const struct pyro_config *config;
    struct pyro_diagnosis *diagnosis;
    struct pyro_rule_context shared; /* what all rules look at */
    struct pyro_arena temporary;     /* of that what ends with the judging */
    unsigned threads;
    struct pyro_arena scratch[PYRO_CREW_MOST];
    struct pyro_finding_list found[RULES_MOST]; /* by row of the catalog */
    size_t wave[RULES_MOST + 1];                /* rows that run now */
    const struct pyro_beside *beside;
    struct pyro_finding_list *findings; /* all */
};

/* ---- Rules ---- */

/* Work other than rules runs at the same time as few of them, when what most of them needed is freed. */
enum { BESIDE = RULES_MOST /* instead of a row */, BESIDE_WAVE = 1 };

static size_t row_of(const char *id)
{
    size_t row = 0;
    while (row < pyro_rule_count && strcmp(pyro_rules[row]->id, id) != 0)
        row++;
    return row;
}

static bool is_after_all(const struct pyro_rule *rule)
{
    return rule->after[0] && strcmp(rule->after[0], PYRO_RULE_AFTER_ALL) == 0;
}

/* Rules that look at findings of others run in a later wave than those. */
static unsigned wave_of(const struct pyro_rule *rule)
{
    unsigned wave = 0;
    if (is_after_all(rule)) {
        for (size_t i = 0; i < pyro_rule_count; i++) {
            unsigned before = is_after_all(pyro_rules[i]) ? 0 : wave_of(pyro_rules[i]);
            wave = before >= wave ? before + 1 : wave;
        }
        return wave;
    }
    for (size_t i = 0; i < PYRO_RULE_AFTER_MOST && rule->after[i]; i++) {
        unsigned before = wave_of(pyro_rules[row_of(rule->after[i])]);
        wave = before >= wave ? before + 1 : wave;
    }
    return wave;
}

static bool add_all(struct pyro_finding_list *list, const struct pyro_finding_list *found,
                    const struct pyro_allocator *allocator)
{
    if (!pyro_vec_reserve(list, found->count, allocator))
        return false;
    if (found->count > 0)
        memcpy(list->items + list->count, found->items, found->count * sizeof(*found->items));
    list->count += found->count;
    return true;
}

static bool gather_earlier(const struct judging *judging, struct pyro_rule_context *context)
{
    const struct pyro_rule *rule = context->rule;
    const struct pyro_allocator *allocator = context->arena->allocator;
    for (size_t i = 0; i < pyro_rule_count && is_after_all(rule); i++)
        if (!is_after_all(pyro_rules[i]) && !add_all(&context->earlier, &judging->found[i], allocator))
            return false;
    for (size_t i = 0; i < PYRO_RULE_AFTER_MOST && rule->after[i] && !is_after_all(rule); i++)
        if (!add_all(&context->earlier, &judging->found[row_of(rule->after[i])], allocator))
            return false;
    return true;
}

/* Whether a setting would be changed, and from what, is not known where none was read. */
static void leave_out_settings(struct pyro_finding *finding)
{
    size_t kept = 0;
    for (size_t i = 0; i < finding->advice_count; i++)
        if (finding->advice[i].setting_count == 0)
            finding->advice[kept++] = finding->advice[i];
    finding->advice_count = kept;
}

static enum pyro_status judge_one(void *own, unsigned worker, size_t index, const struct pyro_stop *stop,
                                  struct pyro_error *error)
{
    struct judging *judging = own;
    size_t row = judging->wave[index];
    double limits[PYRO_THRESHOLDS_MAX];
    (void)stop;
    if (row == BESIDE)
        return judging->beside ? judging->beside->work(judging->beside->context, error) : PYRO_OK;
    struct pyro_rule_context context = judging->shared;
    context.rule = pyro_rules[row];
    context.limits = limits;
    context.arena = worker == 0 ? &judging->diagnosis->arena : &judging->diagnosis->arenas[worker - 1];
    context.scratch = &judging->scratch[worker];
    pyro_config_limits(judging->config, row, limits);
    context.failed = !gather_earlier(judging, &context);
    bool applies = !(pyro_rules[row]->needs_settings && context.app->integrity.settings_unknown) &&
                   !(pyro_rules[row]->needs_whole && context.app->integrity.course_unknown);
    enum pyro_verdict verdict = context.failed ? PYRO_VERDICT_QUIET
                                : applies      ? pyro_rules[row]->evaluate(&context)
                                               : PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t i = 0; i < context.findings.count; i++) {
        pyro_affected_settle(&context, &context.findings.items[i]);
        pyro_remedy_settle(context.app, &context.findings.items[i]);
        if (context.app->integrity.settings_unknown)
            leave_out_settings(&context.findings.items[i]);
    }
    if (context.findings.count > 0)
        verdict = PYRO_VERDICT_FINDING;
    else if (verdict == PYRO_VERDICT_FINDING)
        verdict = PYRO_VERDICT_QUIET;
    judging->diagnosis->outcomes[row] = (struct pyro_rule_outcome){pyro_rules[row], verdict};
    judging->found[row] = context.findings;
    pyro_vec_done(&context.earlier, context.arena->allocator);
    pyro_arena_done(context.scratch);
    return context.failed ? pyro_no_memory(error) : PYRO_OK;
}

static enum pyro_status run_rules(struct judging *judging, const struct pyro_stop *stop, struct pyro_error *error)
{
    struct pyro_crew_work work = {.work = judge_one, .context = judging, .stop = stop};
    size_t done = 0;
    for (unsigned wave = 0; wave <= BESIDE_WAVE || done < pyro_rule_count; wave++) {
        work.count = 0;
        if (wave == BESIDE_WAVE)
            judging->wave[work.count++] = BESIDE;
        for (size_t i = 0; i < pyro_rule_count; i++)
            if (wave_of(pyro_rules[i]) == wave)
                judging->wave[work.count++] = i;
        done += work.count - (wave == BESIDE_WAVE);
        PYRO_TRY(pyro_crew_run(judging->threads, &work, error));
    }
    return PYRO_OK;
}

static bool merge(struct judging *judging)
{
    for (size_t i = 0; i < pyro_rule_count; i++)
        if (!add_all(judging->findings, &judging->found[i], judging->diagnosis->arena.allocator))
            return false;
    return true;
}

static bool name_causes(struct judging *judging)
{
    struct pyro_rule_context context = judging->shared;
    context.arena = &judging->diagnosis->arena;
    return pyro_name_causing_settings(&context, judging->findings);
}

/* ---- All of it ---- */

/* Made before the rules run, since these share them. */
static bool prepare(struct judging *judging)
{
    struct pyro_diagnosis *diagnosis = judging->diagnosis;
    struct pyro_rule_context *shared = &judging->shared;
    diagnosis->outcomes = pyro_arena_array(&diagnosis->arena, pyro_rule_count, sizeof(*diagnosis->outcomes));
    diagnosis->arenas = pyro_arena_array(&diagnosis->arena, judging->threads, sizeof(*diagnosis->arenas));
    if (!diagnosis->outcomes || !diagnosis->arenas)
        return false;
    diagnosis->arena_count = judging->threads - 1;
    for (size_t i = 0; i < diagnosis->arena_count; i++)
        pyro_arena_init(&diagnosis->arenas[i], diagnosis->arena.allocator);
    shared->plans = diagnosis->plans = pyro_plans_new(shared->app, &diagnosis->arena);
    shared->activity = pyro_activity_new(shared->app, shared->arena);
    shared->samples = pyro_stage_samples_new(shared->app, shared->arena);
    shared->waits = pyro_stage_waits_new(shared->app, shared->arena);
    return shared->plans && shared->activity && shared->samples && shared->waits && pyro_stage_parts(shared);
}

static void done(struct judging *judging)
{
    const struct pyro_allocator *allocator = judging->diagnosis->arena.allocator;
    pyro_arena_done(&judging->temporary);
    for (size_t i = 0; i < pyro_rule_count; i++)
        pyro_vec_done(&judging->found[i], allocator);
    pyro_release(allocator, judging);
}

unsigned pyro_rules_useful_threads(const struct pyro_app *app, unsigned threads)
{
    if (threads < 1 || app->tasks.count + app->sql_nodes.count < FEW_ROWS)
        return 1;
    return threads < PYRO_CREW_MOST ? threads : PYRO_CREW_MOST;
}

enum pyro_status pyro_rules_judge(struct pyro_diagnosis *diagnosis, const struct pyro_config *config, unsigned threads,
                                  const struct pyro_beside *beside, const struct pyro_stop *stop,
                                  struct pyro_finding_list *ret, struct pyro_error *error)
{
    const struct pyro_allocator *allocator = diagnosis->arena.allocator;
    struct judging *judging = pyro_allocate(allocator, sizeof(*judging));
    if (!judging || pyro_rule_count > RULES_MOST) {
        enum pyro_status why = judging ? pyro_error_set(error, PYRO_ERROR_INTERNAL, "too many rules") : PYRO_OK;
        pyro_release(allocator, judging);
        return why == PYRO_OK ? pyro_no_memory(error) : why;
    }
    *judging = (struct judging){.config = config,
                                .diagnosis = diagnosis,
                                .threads = pyro_rules_useful_threads(diagnosis->app, threads),
                                .beside = beside,
                                .findings = ret};
    pyro_arena_init(&judging->temporary, allocator);
    for (unsigned i = 0; i < judging->threads; i++)
        pyro_arena_init(&judging->scratch[i], allocator);
    judging->shared =
        (struct pyro_rule_context){.app = diagnosis->app, .arena = &judging->temporary, .scratch = &judging->temporary};
    enum pyro_status status = prepare(judging) ? run_rules(judging, stop, error) : pyro_no_memory(error);
    if (status == PYRO_OK && !(merge(judging) && name_causes(judging)))
        status = pyro_no_memory(error);
    done(judging);
    return status;
}
