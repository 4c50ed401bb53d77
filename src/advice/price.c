/* What fixing each finding saves: the outcome of a scenario. Each advice with settings is a candidate, and so is what
 * the program would do without the fault; the best one counts. */
#include "advice/price.h"

#include <math.h>
#include <string.h>

#include "advice/fix.h"
#include "analyze/app_facts.h"
#include "analyze/settings/spark_settings.h"
#include "base/error.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/threads/crew.h"

/* If a replay of the unchanged run is further off than this, it says less about a changed run. */
#define REPLAY_ERROR_MAX        0.02
#define REPLAY_ERROR_CONFIDENCE 0.7
/* Settings are tried more easily than programs are changed: they are chosen when they save this share of what the
 * changed program would. */
#define SETTINGS_ENOUGH 0.8

struct candidate {
    struct pyro_finding *finding;
    struct pyro_advice *advice; /* NULL: the changed program */
    size_t same;                /* an earlier candidate that asks the same; its own place: none */
    struct pyro_scenario scenario;
    bool asked, answered;
    struct pyro_setting *changed; /* its settings, where other findings' values prevail; NULL: they do not */
};

struct pricing {
    const struct pyro_predicted_run *run;
    struct candidate *candidates;
    size_t count;
    bool again; /* some are asked again */
    struct pyro_replay *replays[PYRO_CREW_MOST];
    struct pyro_arena arenas[PYRO_CREW_MOST];
};

static bool asks_the_same(const struct candidate *a, const struct candidate *b)
{
    if (!a->advice || !b->advice || a->scenario.code_count > 0 || b->scenario.code_count > 0)
        return false;
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        bool one = a->scenario.given[i].ptr, other = b->scenario.given[i].ptr;
        if (one != other || (one && a->scenario.values[i] != b->scenario.values[i]))
            return false;
    }
    return true;
}

static void add(struct pricing *pricing, struct pyro_finding *finding, struct pyro_advice *advice)
{
    struct candidate *candidate = &pricing->candidates[pricing->count];
    *candidate = (struct candidate){.finding = finding, .advice = advice, .scenario = {.brief = true}};
    candidate->same = pricing->count;
    if (advice) {
        bool edits = pyro_fix_is_edits(finding, advice->settings, advice->setting_count);
        if (pyro_fix_settings(pricing->run->app, advice->settings, advice->setting_count, &candidate->scenario) == 0 &&
            !edits)
            return;
        if (edits) {
            candidate->scenario.code = finding->edits;
            candidate->scenario.code_count = finding->edit_count;
        }
        for (size_t i = 0; i < pricing->count && candidate->same == pricing->count; i++)
            if (asks_the_same(&pricing->candidates[i], candidate))
                candidate->same = i;
    } else {
        candidate->scenario.code = finding->edits;
        candidate->scenario.code_count = finding->edit_count;
    }
    pricing->count++;
}

static bool collect(struct pricing *pricing, struct pyro_finding_list *findings, const struct pyro_allocator *allocator)
{
    size_t most = 1;
    for (size_t i = 0; i < findings->count; i++)
        most += findings->items[i].advice_count + (findings->items[i].edit_count > 0);
    pricing->candidates = pyro_allocate(allocator, most * sizeof(*pricing->candidates));
    if (!pricing->candidates)
        return false;
    for (size_t i = 0; i < findings->count; i++) {
        struct pyro_finding *finding = &findings->items[i];
        for (size_t k = 0; k < finding->advice_count; k++)
            add(pricing, finding, &finding->advice[k]);
        if (finding->edit_count > 0 && !finding->by_settings)
            add(pricing, finding, NULL);
    }
    return true;
}

/* Marks what is replayed: what fits, and the first candidate of each finding. */
static void ration(struct pricing *pricing)
{
    double tasks = (double)pricing->run->app->tasks.count + 1000, spent = 0;
    const struct pyro_finding *last = NULL;
    for (size_t i = 0; i < pricing->count; i++) {
        struct candidate *candidate = &pricing->candidates[i];
        bool first = candidate->finding != last;
        last = candidate->finding;
        if (candidate->same != i)
            continue;
        candidate->asked = first || !candidate->advice || spent + tasks <= PYRO_PRICED_TASKS_MAX;
        spent += candidate->asked ? tasks : 0;
    }
}

static enum pyro_status ask(void *own, unsigned worker, size_t index, const struct pyro_stop *stop,
                            struct pyro_error *error)
{
    struct pricing *pricing = own;
    struct candidate *candidate = &pricing->candidates[index];
    struct pyro_replay *replay = pricing->replays[worker];
    if (!candidate->asked || candidate->answered)
        return PYRO_OK;
    candidate->answered = true;
    pyro_replay_stop_by(replay, stop);
    enum pyro_status status = pyro_predict(pricing->run, replay, &pricing->arenas[worker], &candidate->scenario, error);
    pyro_replay_stop_by(replay, NULL);
    return status;
}

/* Replays are forked while none of them runs. */
static enum pyro_status ask_all(struct pricing *pricing, unsigned threads, const struct pyro_stop *stop,
                                const struct pyro_allocator *allocator, struct pyro_error *error)
{
    struct pyro_crew_work work = {pricing->count, ask, pricing, stop};
    unsigned forks = 1;
    enum pyro_status status = PYRO_OK;
    pricing->replays[0] = pricing->run->replay;
    for (; status == PYRO_OK && forks < threads && forks < pricing->count; forks += status == PYRO_OK)
        status = pyro_replay_fork(pricing->run->replay, &pricing->replays[forks], error);
    for (unsigned i = 0; i < forks; i++)
        pyro_arena_init(&pricing->arenas[i], allocator);
    if (status == PYRO_OK)
        status = pyro_crew_run(forks, &work, error);
    for (unsigned i = 0; i < forks; i++)
        pyro_arena_done(&pricing->arenas[i]); /* what models say of a candidate is not read */
    for (unsigned i = 1; i < forks; i++)
        pyro_replay_free(pricing->replays[i]);
    return status;
}

bool pyro_fix_gains(const struct pyro_predicted_run *run, const struct pyro_scenario *from,
                    const struct pyro_scenario *to)
{
    if (to->fails)
        return false;
    int64_t wall = from ? from->wall_expected_ms : run->base.wall_ms, core = from ? from->core_ms : run->base.core_ms,
            memory = from ? from->memory_bytes : run->memory_bytes, busy = from ? from->busy_ms : run->base.busy_ms;
    int64_t saved = pyro_sub_saturating(wall, to->wall_expected_ms);
    if (saved >= PYRO_GAIN_MIN_MS + wall / PYRO_GAIN_MIN_PARTS)
        return true;
    bool fewer_cores = core > 0 && pyro_sub_saturating(core, to->core_ms) >= core / PYRO_GAIN_CORE_PARTS;
    bool same_cores = to->core_ms <= core,
         fewer_slots = pyro_sub_saturating(busy, to->busy_ms) >= busy / PYRO_GAIN_CORE_PARTS;
    return saved >= 0 && (fewer_cores || (same_cores && (to->memory_bytes < memory || (fewer_slots && busy > 0))));
}

struct pyro_saving pyro_saving_anywhere(struct pyro_saving saves)
{
    saves.stage_share = NAN;
    return saves;
}

struct pyro_saving pyro_saving_of_stage(const struct pyro_app *app, const struct pyro_finding *finding,
                                        struct pyro_saving saves)
{
    ptrdiff_t row = finding->stage == PYRO_NONE ? -1 : pyro_app_find_stage(app, finding->stage, finding->attempt);
    double length = row >= 0 ? pyro_stage_length(&app->stages.items[row]) : 0;
    /* More than the whole stage is a saving of several of them. */
    double share = length > 0 ? (double)saves.wall_expected_ms / length : (double)NAN;
    saves.stage_share = share <= 1 ? share : (double)NAN;
    return saves;
}

struct pyro_saving pyro_fix_saving(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario,
                                   enum pyro_basis basis)
{
    const struct pyro_app *app = run->app;
    int64_t base = run->base.wall_ms, low = pyro_sub_saturating(base, scenario->wall_high_ms),
            expected = pyro_sub_saturating(base, scenario->wall_expected_ms),
            high = pyro_sub_saturating(base, scenario->wall_low_ms);
    struct pyro_saving saves = {.basis = basis, .core_ms = PYRO_NONE, .stage_share = NAN};
    saves.wall_expected_ms = expected > 0 ? expected : 0;
    saves.wall_low_ms = low > 0 ? low : 0;
    saves.wall_high_ms = high > saves.wall_expected_ms ? high : saves.wall_expected_ms;
    if (app->numbers.core_total_ms > 0)
        saves.core_ms = pyro_sub_saturating(run->base.core_ms, scenario->core_ms);
    saves.core_ms = saves.core_ms < 0 && saves.core_ms != PYRO_NONE ? 0 : saves.core_ms;
    saves.busy_ms = pyro_sub_saturating(run->base.busy_ms, scenario->busy_ms);
    saves.cost = run->base_cost - scenario->cost;
    return saves;
}

/* The shorter run; of runs of nearly one time the cheaper one. */
static bool is_better(const struct pyro_predicted_run *run, const struct pyro_scenario *one,
                      const struct pyro_scenario *other)
{
    int64_t shorter = pyro_sub_saturating(other->wall_expected_ms, one->wall_expected_ms),
            alike = run->base.wall_ms / PYRO_ALIKE_PARTS;
    return shorter > alike || (shorter >= -alike && one->core_ms < other->core_ms);
}

/* ---- one value of each setting ---- */

static const struct pyro_scenario *answer_of(const struct pricing *pricing, const struct candidate *candidate)
{
    return &pricing->candidates[candidate->same].scenario;
}

static bool counts(const struct pricing *pricing, const struct candidate *candidate)
{
    return candidate->advice && candidate->scenario.code_count == 0 && pricing->candidates[candidate->same].asked &&
           !answer_of(pricing, candidate)->fails &&
           (candidate->advice->prevents || pyro_fix_gains(pricing->run, NULL, answer_of(pricing, candidate)));
}

static const struct pyro_setting *value_in(const struct candidate *candidate, struct pyro_slice key)
{
    for (size_t i = 0; i < candidate->advice->setting_count; i++)
        if (pyro_slice_eq(candidate->advice->settings[i].key, key))
            return &candidate->advice->settings[i];
    return NULL;
}

/* Of two findings that want other values of one setting, the one whose value serves both: the larger one where less is
 * not enough, else the one with which the run is better. */
static bool prevails(const struct pricing *pricing, const struct candidate *one, const struct candidate *other,
                     struct pyro_slice key)
{
    const struct pyro_setting_row *row = pyro_setting_find(key);
    if (row && row->larger_wins && (one->advice->prevents || other->advice->prevents))
        return pyro_setting_magnitude(row, value_in(one, key)->value) >
               pyro_setting_magnitude(row, value_in(other, key)->value);
    return is_better(pricing->run, answer_of(pricing, one), answer_of(pricing, other));
}

/* The best candidate that sets `key` to another value than `candidate` does, for another finding; NULL: its own value
 * prevails. */
static const struct candidate *find_rival(const struct pricing *pricing, const struct candidate *candidate,
                                          struct pyro_slice key)
{
    const struct candidate *best = candidate;
    const struct pyro_setting *own = value_in(candidate, key);
    for (size_t i = 0; i < pricing->count; i++) {
        const struct candidate *other = &pricing->candidates[i];
        const struct pyro_setting *value =
            other->finding != candidate->finding && counts(pricing, other) ? value_in(other, key) : NULL;
        if (value && !pyro_setting_same(pyro_setting_find(key), value->value, own->value) &&
            prevails(pricing, other, best, key))
            best = other;
    }
    return best == candidate ? NULL : best;
}

/* A candidate whose value does not prevail is simulated again with the one that does. */
static bool concede(struct pricing *pricing, struct candidate *candidate, struct pyro_arena *arena)
{
    struct pyro_advice *advice = candidate->advice;
    struct pyro_setting *settings = NULL;
    for (size_t i = 0; i < advice->setting_count; i++) {
        struct pyro_slice key = advice->settings[i].key;
        const struct candidate *rival = find_rival(pricing, candidate, key);
        if (!rival)
            continue;
        if (!settings) {
            settings = pyro_arena_array(arena, advice->setting_count, sizeof(*settings));
            if (!settings)
                return false;
            memcpy(settings, advice->settings, advice->setting_count * sizeof(*settings));
        }
        settings[i].value = value_in(rival, key)->value;
    }
    candidate->changed = settings;
    return true;
}

/* All findings advise one value of each setting. */
static bool settle_conflicts(struct pricing *pricing, struct pyro_arena *arena)
{
    bool any = false;
    for (size_t i = 0; i < pricing->count; i++)
        if (counts(pricing, &pricing->candidates[i]) && !concede(pricing, &pricing->candidates[i], arena))
            return false;
    for (size_t i = 0; i < pricing->count; i++) {
        struct candidate *candidate = &pricing->candidates[i];
        if (!candidate->changed)
            continue;
        candidate->advice->settings = candidate->changed;
        if (!pyro_advice_restate(candidate->advice, arena))
            return false;
        for (size_t k = i + 1; k < pricing->count; k++) /* those that asked the same ask for themselves */
            if (pricing->candidates[k].same == i && !pricing->candidates[k].changed) {
                pricing->candidates[k].scenario = candidate->scenario;
                pricing->candidates[k].asked = pricing->candidates[k].answered = true;
                pricing->candidates[k].same = k;
            }
        candidate->scenario = (struct pyro_scenario){.brief = true};
        candidate->same = i;
        candidate->asked = true;
        candidate->answered = false;
        pyro_fix_settings(pricing->run->app, candidate->changed, candidate->advice->setting_count,
                          &candidate->scenario);
        any = true;
    }
    pricing->again = any;
    return true;
}

/* ---- the best of a finding's candidates ---- */

/* Of advice that competes, only the best is shown: what the simulator prefers, else what the rule named first. */
static void keep_best(struct pricing *pricing, struct pyro_finding *finding, size_t first, size_t end)
{
    struct pyro_advice *rows = finding->advice;
    size_t kept = 0;
    const struct pyro_scenario *best = NULL;
    for (size_t k = 0; k < finding->advice_count; k++) {
        const struct pyro_scenario *own = NULL;
        for (size_t i = first; i < end && rows[k].helps == PYRO_HELPS_YES; i++)
            if (pricing->candidates[i].advice == &finding->advice[k])
                own = &pricing->candidates[pricing->candidates[i].same].scenario;
        if (!rows[k].competes || kept == 0) {
            rows[kept++] = rows[k];
            best = own;
        } else if (own && (!best || is_better(pricing->run, own, best))) {
            rows[kept - 1] = rows[k];
            best = own;
        }
        rows[kept - 1].competes = false;
    }
    finding->advice_count = kept;
}

/* What undoes the cause of a fault comes before what is as good against it. */
static bool is_preferred(const struct pricing *pricing, const struct candidate *one, const struct candidate *other)
{
    const struct pyro_scenario *own = answer_of(pricing, one), *rival = answer_of(pricing, other);
    return one->scenario.code_count > 0 && other->scenario.code_count == 0 ? !is_better(pricing->run, rival, own)
                                                                           : is_better(pricing->run, own, rival);
}

static void choose(struct pricing *pricing, struct pyro_finding *finding, size_t first, size_t end)
{
    const struct candidate *settings = NULL, *code = NULL;
    for (size_t i = first; i < end; i++) {
        const struct candidate *candidate = &pricing->candidates[i], *asked = &pricing->candidates[candidate->same];
        if (!asked->asked)
            continue;
        if (!candidate->advice) {
            code = asked;
        } else if (pyro_fix_gains(pricing->run, NULL, &asked->scenario) &&
                   (!settings || is_preferred(pricing, candidate, settings))) {
            settings = candidate;
        }
        if (candidate->advice)
            candidate->advice->helps =
                pyro_fix_gains(pricing->run, NULL, &asked->scenario) ? PYRO_HELPS_YES : PYRO_HELPS_NO;
    }
    const struct pyro_scenario *by_settings = settings ? &pricing->candidates[settings->same].scenario : NULL;
    double base = (double)pricing->run->base.wall_ms;
    bool enough = by_settings && (!code || base - (double)by_settings->wall_expected_ms >=
                                               SETTINGS_ENOUGH * (base - (double)code->scenario.wall_expected_ms));
    /* Both together would do away with one fault twice. */
    for (size_t k = 0; k < finding->advice_count && settings && enough; k++)
        finding->advice[k].edits &= settings->scenario.code_count > 0;
    if (settings && enough) {
        finding->fix = settings->advice->settings;
        finding->fix_count = settings->advice->setting_count;
        finding->own = pyro_fix_saving(pricing->run, by_settings, PYRO_BASIS_SETTINGS);
    } else if (code) {
        finding->own = pyro_fix_saving(pricing->run, &code->scenario, PYRO_BASIS_CODE);
    }
    finding->saves = finding->own = pyro_saving_of_stage(pricing->run->app, finding, finding->own);
}

static bool cuts_stages(const struct pyro_finding *finding)
{
    for (size_t i = 0; i < finding->edit_count; i++)
        if (finding->edits[i].kind == PYRO_EDIT_REPARTITION)
            return true;
    return false;
}

static enum pyro_status price_all(struct pricing *pricing, struct pyro_diagnosis *diagnosis,
                                  struct pyro_predicted_run *run, unsigned threads, const struct pyro_stop *stop,
                                  struct pyro_finding_list *findings, struct pyro_error *error)
{
    const struct pyro_allocator *allocator = diagnosis->arena.allocator;
    bool settings = false;
    if (!collect(pricing, findings, allocator))
        return pyro_no_memory(error);
    for (size_t i = 0; i < pricing->count; i++)
        settings |= pricing->candidates[i].advice != NULL || cuts_stages(pricing->candidates[i].finding);
    if (settings)
        PYRO_TRY(pyro_predict_prepare_tasks(run, error));
    ration(pricing);
    PYRO_TRY(ask_all(pricing, threads, stop, allocator, error));
    if (!settle_conflicts(pricing, &diagnosis->arena))
        return pyro_no_memory(error);
    return pricing->again ? ask_all(pricing, threads, stop, allocator, error) : PYRO_OK;
}

enum pyro_status pyro_findings_price(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run, unsigned threads,
                                     const struct pyro_stop *stop, struct pyro_finding_list *findings,
                                     struct pyro_error *error)
{
    const struct pyro_allocator *allocator = diagnosis->arena.allocator;
    struct pricing *pricing = pyro_allocate(allocator, sizeof(*pricing));
    if (!pricing)
        return pyro_no_memory(error);
    *pricing = (struct pricing){.run = run};
    enum pyro_status status = price_all(pricing, diagnosis, run, threads, stop, findings, error);
    for (size_t i = 0, first = 0; status == PYRO_OK && i < findings->count; i++) {
        struct pyro_finding *finding = &findings->items[i];
        size_t end = first;
        while (end < pricing->count && pricing->candidates[end].finding == finding)
            end++;
        choose(pricing, finding, first, end);
        keep_best(pricing, finding, first, end);
        first = end;
        if (diagnosis->savings_unknown)
            finding->saves = finding->own = (struct pyro_saving){.core_ms = PYRO_NONE, .stage_share = NAN};
        if (finding->own.basis != PYRO_BASIS_NONE && run->check.error_share > REPLAY_ERROR_MAX)
            finding->confidence *= REPLAY_ERROR_CONFIDENCE;
    }
    pyro_release(allocator, pricing->candidates);
    pyro_release(allocator, pricing);
    return status;
}
