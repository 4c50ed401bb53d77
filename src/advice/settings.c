/* The recommended configuration: of all settings that findings advise, those that make this run better together. What
 * does nothing here does not stay in its finding's advice either. docs/configuration-advice.md */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"
#include "advice/findings_by_action.h"
#include "advice/fix.h"
#include "advice/price.h"
#include "advice/program.h"
#include "analyze/settings/spark_settings.h"

/* A setting that is wanted, and by whom. */
struct wish {
    struct pyro_setting setting;
    const struct pyro_setting_row *row; /* NULL: a property that is not in the table */
    size_t finding, advice;
    bool low;                  /* the finding's severity */
    bool elsewhere;            /* wanted, but not as a Spark property on this platform */
    bool modelled;             /* the simulator knows what it does to the time */
    const char *refused;       /* why not: what its platform says of it, or one of the reasons below; NULL: it is not */
    struct pyro_slice program; /* the value that the program sets, so that it is to be changed there; or null */
};

struct wishes {
    struct wish *items;
    size_t count;
};

/* Properties that answer the same question: only one of the two is advised. */
static const struct {
    const char *one, *other;
} rivals[] = {
    {"spark.executor.instances", "spark.dynamicAllocation.enabled"},
    {"spark.executor.instances", "spark.dynamicAllocation.maxExecutors"},
};

static bool are_rivals(struct pyro_slice a, struct pyro_slice b)
{
    for (size_t i = 0; i < sizeof(rivals) / sizeof(rivals[0]); i++)
        if ((pyro_slice_is(a, rivals[i].one) && pyro_slice_is(b, rivals[i].other)) ||
            (pyro_slice_is(b, rivals[i].one) && pyro_slice_is(a, rivals[i].other)))
            return true;
    return false;
}

/* Reasons that are not said. */
static const char had_already[] = "it already has this value";
static const char in_program[] = "the program sets it";
static const char saves_nothing[] = "in a simulation of this run it saves nothing";
static const char others_do_it[] = "other findings do this better, or set another value";
static const char not_together[] = "with the settings before it Spark refuses to run, or it saves nothing more";
static const char out_of_order[] = "it contradicts another number of executors";

/* What does nothing here: this version or platform does not take it. */
static void judge_alone(const struct pyro_app *app, struct wish *wish)
{
    const char *note;
    enum pyro_applies applies = pyro_setting_applies(app, wish->row, &note);
    wish->elsewhere = applies == PYRO_APPLIES_ELSEWHERE;
    if (applies != PYRO_APPLIES_YES)
        wish->refused = note;
}

/* No setting is recommended that does not make this run faster, cheaper or safer. */
static void judge_by_simulation(const struct pyro_diagnosis *diagnosis, struct wish *wish)
{
    const struct pyro_advice *advice = &diagnosis->findings[wish->finding].advice[wish->advice];
    if (!wish->refused && wish->modelled && advice->helps == PYRO_HELPS_NO && !advice->prevents)
        wish->refused = saves_nothing;
}

/* A value on the command line does not reach the query: it is to be changed where the program sets it. */
static void judge_by_program(const struct pyro_diagnosis *diagnosis, struct wish *wish)
{
    if (wish->refused)
        return;
    wish->program = pyro_program_sets(diagnosis->app, &diagnosis->findings[wish->finding], wish->setting.key);
    if (!wish->program.ptr)
        return;
    wish->elsewhere = true;
    wish->refused = in_program;
}

/* The wish that prevails for each key; there are as many keys as rules name. */
struct winners {
    struct wish **items;
    size_t count;
};

static struct wish **find_winner(const struct winners *winners, struct pyro_slice key)
{
    for (size_t i = 0; i < winners->count; i++)
        if (pyro_slice_eq(winners->items[i]->setting.key, key))
            return &winners->items[i];
    return NULL;
}

static bool wants_more(const struct wish *wish, const struct wish *than)
{
    return wish->row && wish->row->larger_wins &&
           pyro_setting_magnitude(wish->row, wish->setting.value) >
               pyro_setting_magnitude(wish->row, than->setting.value);
}

/* Wishes come in the order of what their findings save, those of low severity last. */
static void compete(struct winners *winners, struct wish *wish)
{
    for (size_t i = 0; i < winners->count; i++) {
        if (winners->items[i]->finding == wish->finding ||
            !are_rivals(winners->items[i]->setting.key, wish->setting.key))
            continue;
        wish->refused = others_do_it;
        return;
    }
    struct wish **had = find_winner(winners, wish->setting.key);
    if (!had)
        winners->items[winners->count++] = wish;
    else if (wants_more(wish, *had) && wish->low == (*had)->low)
        *had = wish;
}

/* Findings that wanted another value than the chosen one do not get it. */
static void concede(const struct winners *winners, struct wish *wish)
{
    struct wish **winner = wish->refused ? NULL : find_winner(winners, wish->setting.key);
    if (!winner || *winner == wish || pyro_setting_same(wish->row, (*winner)->setting.value, wish->setting.value))
        return;
    wish->refused = others_do_it;
}

static struct wish *wished(const struct winners *winners, const char *key)
{
    struct wish **winner = find_winner(winners, pyro_slice_from(key));
    return winner && !(*winner)->refused ? *winner : NULL;
}

/* Spark does not start with minExecutors above maxExecutors, and never gets to initialExecutors above it. */
static void keep_order(const struct pyro_app *app, const struct winners *winners)
{
    static const char max_key[] = "spark.dynamicAllocation.maxExecutors";
    static const char *const below[] = {"spark.dynamicAllocation.minExecutors",
                                        "spark.dynamicAllocation.initialExecutors"};
    const struct pyro_setting_row *count = pyro_setting_find(PYRO_SLICE_LITERAL("spark.executor.instances"));
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        struct wish *most = wished(winners, max_key), *least = wished(winners, below[i]);
        struct pyro_slice high = most ? most->setting.value : pyro_setting_current(app, pyro_slice_from(max_key));
        struct pyro_slice low = least ? least->setting.value : pyro_setting_current(app, pyro_slice_from(below[i]));
        double a = pyro_setting_magnitude(count, low), b = pyro_setting_magnitude(count, high);
        if (!(a > b))
            continue;
        /* The number that the user set stays; of two that are advised, that of the finding that saves more. */
        if (least && (!most || least > most))
            least->refused = out_of_order;
        else if (most)
            most->refused = out_of_order;
    }
}

static bool collect(struct pyro_diagnosis *diagnosis, struct wishes *wishes)
{
    size_t most = 1;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        for (size_t k = 0; k < diagnosis->findings[i].advice_count; k++)
            most += diagnosis->findings[i].advice[k].setting_count + diagnosis->findings[i].advice[k].asked_count;
    wishes->items = pyro_arena_array(&diagnosis->arena, most, sizeof(*wishes->items));
    if (!wishes->items)
        return false;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct pyro_finding *finding = &diagnosis->findings[i];
        for (size_t k = 0; k < finding->advice_count; k++) {
            struct pyro_advice *advice = &finding->advice[k];
            if (!advice->asked) {
                advice->asked = advice->settings;
                advice->asked_count = advice->setting_count;
                advice->said = advice->text;
            }
            for (size_t s = 0; s < advice->asked_count && !finding->folded; s++)
                wishes->items[wishes->count++] =
                    (struct wish){.setting = advice->asked[s],
                                  .row = pyro_setting_find(advice->asked[s].key),
                                  .low = finding->severity == PYRO_SEVERITY_LOW,
                                  .modelled = pyro_predicted_takes_time(diagnosis->app, advice->asked[s].key) ||
                                              pyro_fix_is_edits(finding, advice->asked, advice->asked_count),
                                  .finding = i,
                                  .advice = k};
        }
    }
    return true;
}

static bool say_program(struct pyro_arena *arena, const struct wish *wish, struct pyro_advice *advice)
{
    const struct pyro_slice key = wish->setting.key, value = wish->setting.value, now = wish->program;
    struct pyro_slice code = pyro_arena_printf(arena, "spark.conf.set(\"%.*s\", \"%.*s\")", (int)key.len, key.ptr,
                                               (int)value.len, value.ptr);
    advice->text = pyro_arena_printf(arena,
                                     "%.*s The program sets %.*s=%.*s for this query (spark.conf.set or SET): use %.*s "
                                     "there; a value on the command line has no effect.",
                                     (int)advice->text.len, advice->text.ptr, (int)key.len, key.ptr,
                                     (int)(now.len < 40 ? now.len : 40), now.ptr, (int)value.len, value.ptr);
    if (!advice->code.ptr)
        advice->code = code;
    return code.ptr && advice->text.ptr;
}

static size_t end_of_advice(const struct wishes *wishes, size_t first)
{
    size_t end = first;
    while (end < wishes->count && wishes->items[end].finding == wishes->items[first].finding &&
           wishes->items[end].advice == wishes->items[first].advice)
        end++;
    return end;
}

/* Of the settings of one advice: those that are taken, those that a user sets by other means, and those that are not
 * said. */
struct outcome {
    size_t taken, otherwise, silent;
};

static bool take_or_say(struct pyro_diagnosis *diagnosis, const struct wish *wish, struct pyro_advice *advice,
                        struct outcome *outcome)
{
    struct pyro_arena *arena = &diagnosis->arena;
    if (!wish->refused) {
        advice->settings[advice->setting_count++] = wish->setting;
        outcome->taken++;
        return true;
    }
    if (!wish->elsewhere) {
        outcome->silent += wish->refused != had_already;
        return true;
    }
    outcome->otherwise++;
    if (wish->refused == in_program)
        return say_program(arena, wish, advice);
    struct pyro_slice key = wish->setting.key;
    advice->text = pyro_arena_printf(arena, "%.*s (Not as %.*s: %s.)", (int)advice->text.len, advice->text.ptr,
                                     (int)key.len, key.ptr, wish->refused);
    return advice->text.ptr != NULL;
}

/* Leaves in each advice the settings that are taken. What is not advised is not said: an advice of which nothing is
 * left is not shown, and one of which less is left says only that. */
static bool rewrite(struct pyro_diagnosis *diagnosis, const struct wishes *wishes)
{
    struct pyro_arena *arena = &diagnosis->arena;
    for (size_t first = 0, end; first < wishes->count; first = end) {
        struct pyro_advice *advice =
            &diagnosis->findings[wishes->items[first].finding].advice[wishes->items[first].advice];
        struct outcome outcome = {0};
        end = end_of_advice(wishes, first);
        advice->settings = pyro_arena_array(arena, advice->asked_count, sizeof(*advice->settings));
        advice->setting_count = 0;
        advice->text = advice->said;
        if (!advice->settings)
            return false;
        for (size_t i = first; i < end; i++)
            if (!take_or_say(diagnosis, &wishes->items[i], advice, &outcome))
                return false;
        advice->dropped = outcome.silent > 0 && outcome.taken + outcome.otherwise == 0;
        if (outcome.silent > 0 && outcome.taken > 0 && !pyro_advice_restate(advice, arena))
            return false;
    }
    return true;
}

static int by_key(const void *left, const void *right)
{
    const struct pyro_change *a = left, *b = right;
    return pyro_slice_compare(a->key, b->key);
}

/* What is taken of findings above low, one of each key. */
static bool list_changes(struct pyro_diagnosis *diagnosis, const struct wishes *wishes)
{
    diagnosis->change_count = diagnosis->config_change_count = 0;
    diagnosis->changes = pyro_arena_array(&diagnosis->arena, wishes->count + 1, sizeof(*diagnosis->changes));
    diagnosis->config_changes =
        pyro_arena_array(&diagnosis->arena, wishes->count + 1, sizeof(*diagnosis->config_changes));
    if (!diagnosis->changes || !diagnosis->config_changes)
        return false;
    for (size_t i = 0; i < wishes->count; i++) {
        const struct wish *wish = &wishes->items[i];
        bool had = (wish->refused && !wish->elsewhere) || wish->low;
        for (size_t k = 0; k < diagnosis->change_count && !had; k++)
            had = pyro_slice_eq(diagnosis->changes[k].key, wish->setting.key);
        if (!had)
            diagnosis->changes[diagnosis->change_count++] = (struct pyro_change){
                wish->setting.key, wish->setting.value, wish->finding, wish->advice, wish->elsewhere, wish->program};
    }
    if (diagnosis->change_count > 1)
        qsort(diagnosis->changes, diagnosis->change_count, sizeof(*diagnosis->changes), by_key);
    for (size_t i = 0; i < diagnosis->change_count; i++)
        if (!diagnosis->changes[i].elsewhere)
            diagnosis->config_changes[diagnosis->config_change_count++] =
                (struct pyro_setting){diagnosis->changes[i].key, diagnosis->changes[i].value};
    return true;
}

/* ---- together ---- */

/* Settings of one advice that are still wanted and say something to the simulator, put into a scenario. */
static size_t put(struct pyro_diagnosis *diagnosis, const struct wishes *wishes, size_t first, size_t end,
                  struct pyro_scenario *scenario)
{
    const struct pyro_finding *finding = &diagnosis->findings[wishes->items[first].finding];
    const struct pyro_advice *advice = &finding->advice[wishes->items[first].advice];
    size_t count = 0, wanted = 0;
    for (size_t i = first; i < end; i++)
        if (!wishes->items[i].refused && !wishes->items[i].low) {
            count += pyro_fix_settings(diagnosis->app, &wishes->items[i].setting, 1, scenario);
            wanted++;
        }
    bool edits = wanted == end - first && pyro_fix_is_edits(finding, advice->asked, advice->asked_count);
    return count + (edits && pyro_fix_edits(finding, &diagnosis->arena, scenario));
}

/* Whether the second one asks nothing that the first one does not. */
static bool asks_no_more(const struct pyro_scenario *best, const struct pyro_scenario *tried)
{
    if (tried->code_count > best->code_count)
        return false;
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (tried->given[i].ptr && (!best->given[i].ptr || best->values[i] != tried->values[i]))
            return false;
    return true;
}

static void leave_out(struct wishes *wishes, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!wishes->items[i].refused && wishes->items[i].modelled && !wishes->items[i].low)
            wishes->items[i].refused = not_together;
}

/* Starts with what prevents failures, then adds what was chosen for each finding, the one that saves most first, and in
 * the end the other advice, while that still makes the run better. */
enum { SAFETY, CHOSEN, OTHERS };

static enum pyro_status add_up(struct pyro_diagnosis *diagnosis, const struct pyro_predicted_run *run,
                               struct wishes *wishes, struct pyro_scenario *ret, struct pyro_error *error)
{
    struct pyro_scenario best = {.brief = true};
    double tasks = (double)run->app->tasks.count + 1000, spent = 0;
    bool any = false, *cured = pyro_arena_array(&diagnosis->arena, diagnosis->finding_count + 1, sizeof(*cured));
    if (!cured)
        return pyro_no_memory(error);
    for (unsigned round = SAFETY; round <= OTHERS; round++)
        for (size_t first = 0, end; first < wishes->count; first = end) {
            const struct pyro_advice *advice =
                &diagnosis->findings[wishes->items[first].finding].advice[wishes->items[first].advice];
            const struct pyro_finding *finding = &diagnosis->findings[wishes->items[first].finding];
            bool safety = advice->prevents != NULL;
            unsigned own = safety ? SAFETY : finding->fix && advice->asked == finding->fix ? CHOSEN : OTHERS;
            end = end_of_advice(wishes, first);
            struct pyro_scenario tried = {.brief = true};
            memcpy(tried.given, best.given, sizeof(tried.given));
            memcpy(tried.full, best.full, sizeof(tried.full));
            memcpy(tried.values, best.values, sizeof(tried.values));
            tried.code = best.code;
            tried.code_count = best.code_count;
            if (own != round || put(diagnosis, wishes, first, end, &tried) == 0)
                continue;
            if (any && asks_no_more(&best, &tried))
                continue; /* all of it is in already */
            bool whole = tried.code_count > best.code_count;
            if (round == OTHERS && cured[wishes->items[first].finding]) {
                leave_out(wishes, first, end); /* nothing of the fault is left for what else is against it */
                continue;
            }
            spent += tasks;
            if (!safety && any && spent > PYRO_PRICED_TASKS_MAX) {
                leave_out(wishes, first, end); /* too many tasks to simulate them with the others */
                continue;
            }
            PYRO_TRY(pyro_predict(run, run->replay, &diagnosis->arena, &tried, error));
            if (!tried.fails && (safety || pyro_fix_gains(run, any ? &best : NULL, &tried))) {
                best = tried;
                any = true;
                cured[wishes->items[first].finding] |= whole;
                continue;
            }
            leave_out(wishes, first, end);
        }
    *ret = best;
    return any ? PYRO_OK : PYRO_ERROR_ARGUMENT;
}

/* Findings that the plan is about, in their order. */
static bool name_findings(struct pyro_diagnosis *diagnosis, bool code, struct pyro_recommended_plan *plan)
{
    plan->findings = pyro_arena_array(&diagnosis->arena, diagnosis->finding_count + 1, sizeof(*plan->findings));
    plan->finding_count = 0;
    for (size_t i = 0; plan->findings && i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        bool in =
            code && finding->own.basis == PYRO_BASIS_CODE && !finding->folded && finding->severity != PYRO_SEVERITY_LOW;
        for (size_t k = 0; k < diagnosis->change_count && !code && !in; k++)
            in = diagnosis->changes[k].finding == i;
        if (in)
            plan->findings[plan->finding_count++] = i;
    }
    return plan->findings != NULL;
}

/* All changes of the program together. */
static enum pyro_status plan_code(struct pyro_diagnosis *diagnosis, const struct pyro_predicted_run *run,
                                  struct pyro_error *error)
{
    struct pyro_recommended_plan *plan = &diagnosis->code_plan;
    struct pyro_scenario all = {.brief = true};
    if (!name_findings(diagnosis, true, plan))
        return pyro_no_memory(error);
    for (size_t i = 0; i < plan->finding_count; i++) {
        bool applied; /* each of them is fixed by the program */
        PYRO_TRY(pyro_fix_apply(diagnosis->app, &diagnosis->findings[plan->findings[i]], &diagnosis->arena, &all,
                                &applied, error));
    }
    if (plan->finding_count == 0)
        return PYRO_OK;
    PYRO_TRY(pyro_predict(run, run->replay, &diagnosis->arena, &all, error));
    pyro_plan_take(&all, plan);
    return PYRO_OK;
}

/* Settings that change no time make a plan as well: of the run as it is. */
static enum pyro_status plan_settings(struct pyro_diagnosis *diagnosis, const struct pyro_predicted_run *run,
                                      struct wishes *wishes, struct pyro_error *error)
{
    struct pyro_scenario together = {.brief = true};
    enum pyro_status status = add_up(diagnosis, run, wishes, &together, error);
    if (status == PYRO_ERROR_ARGUMENT)
        status = pyro_predict(run, run->replay, &diagnosis->arena, &together, error);
    if (status == PYRO_OK)
        pyro_plan_take(&together, &diagnosis->settings_plan);
    return status;
}

/* ---- all of it ---- */

static bool simulates(const struct wishes *wishes)
{
    for (size_t i = 0; i < wishes->count; i++)
        if (!wishes->items[i].refused && !wishes->items[i].low)
            return true;
    return false;
}

static void resolve(const struct pyro_diagnosis *diagnosis, struct wishes *wishes, struct winners *winners)
{
    for (size_t i = 0; i < wishes->count; i++) {
        judge_alone(diagnosis->app, &wishes->items[i]);
        judge_by_simulation(diagnosis, &wishes->items[i]);
        judge_by_program(diagnosis, &wishes->items[i]);
    }
    /* Findings come in their final order, the one that saves most first. */
    for (int low = 0; low < 2; low++)
        for (size_t i = 0; i < wishes->count; i++)
            if (!wishes->items[i].refused && wishes->items[i].low == (low == 1))
                compete(winners, &wishes->items[i]);
    for (size_t i = 0; i < wishes->count; i++)
        concede(winners, &wishes->items[i]);
    keep_order(diagnosis->app, winners);
    /* Only now: a finding that needs the present value keeps others from lowering it. */
    for (size_t i = 0; i < wishes->count; i++) {
        struct wish *wish = &wishes->items[i];
        if ((!wish->refused || wish->elsewhere) &&
            pyro_setting_same(
                wish->row, wish->program.ptr ? wish->program : pyro_setting_current(diagnosis->app, wish->setting.key),
                wish->setting.value)) {
            wish->elsewhere = false;
            wish->refused = had_already;
        }
    }
    /* Equal wishes go the way of the one that stood for them. */
    for (size_t i = 0; i < wishes->count; i++) {
        struct wish **winner = find_winner(winners, wishes->items[i].setting.key);
        if (winner && (*winner)->refused && !wishes->items[i].refused)
            wishes->items[i].refused = (*winner)->refused;
    }
}

static enum pyro_status make_plans(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run,
                                   struct wishes *wishes, struct pyro_error *error)
{
    diagnosis->settings_plan = diagnosis->code_plan = (struct pyro_recommended_plan){0};
    PYRO_TRY(plan_code(diagnosis, run, error));
    if (!simulates(wishes))
        return PYRO_OK;
    PYRO_TRY(pyro_predict_prepare_tasks(run, error));
    return plan_settings(diagnosis, run, wishes, error);
}

enum pyro_status pyro_plan_make(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run,
                                struct pyro_error *error)
{
    struct wishes wishes = {0};
    struct winners winners = {0};
    pyro_findings_put_back(diagnosis);
    if (!collect(diagnosis, &wishes))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the advice");
    winners.items = pyro_arena_array(&diagnosis->arena, wishes.count + 1, sizeof(*winners.items));
    if (!winners.items)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the advice");
    resolve(diagnosis, &wishes, &winners);
    if (run)
        PYRO_TRY(make_plans(diagnosis, run, &wishes, error));
    bool done = rewrite(diagnosis, &wishes) && list_changes(diagnosis, &wishes) &&
                name_findings(diagnosis, false, &diagnosis->settings_plan) && pyro_advise_configuration(diagnosis);
    if (diagnosis->config_change_count == 0)
        diagnosis->settings_plan.made = false;
    return done ? pyro_actions_make(diagnosis, run, error)
                : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the advice");
}
