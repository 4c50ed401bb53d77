/* One value for each property out of the advice of all findings: conflicts are settled here, before anything is shown,
 * and a setting that is not taken does not stay in its finding's advice either. docs/configuration-advice.md */
#include <stdlib.h>

#include "rules/advisor/properties.h"
#include "rules/engine.h"

/* A setting that is wanted, and by whom. */
struct wish {
    struct pyro_setting setting;
    const struct pyro_property_row *row; /* NULL: a property that is not in the table */
    size_t finding, advice;
    bool low;              /* the finding's severity */
    bool elsewhere;        /* wanted, but not as a Spark property on this platform */
    const char *refused;   /* why not, or NULL */
    const struct wish *by; /* ... for this one's sake */
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

static void refuse(struct wish *wish, const char *why, const struct wish *by)
{
    wish->refused = why;
    wish->by = by;
}

/* Nothing that anybody needs to be told. */
static const char had_already[] = "it already has this value";

/* What does nothing here: this version or platform does not take it. */
static void judge_alone(const struct pyro_app *app, struct wish *wish)
{
    const char *note;
    enum pyro_applies applies = pyro_property_applies(app, wish->row, &note);
    wish->elsewhere = applies == PYRO_APPLIES_ELSEWHERE;
    if (applies != PYRO_APPLIES_YES)
        refuse(wish, note, NULL);
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
           pyro_property_magnitude(wish->row, wish->setting.value) >
               pyro_property_magnitude(wish->row, than->setting.value);
}

/* Wishes come in the order of what their findings save, those of low severity last. */
static void compete(struct winners *winners, struct wish *wish)
{
    for (size_t i = 0; i < winners->count; i++) {
        if (winners->items[i]->finding == wish->finding ||
            !are_rivals(winners->items[i]->setting.key, wish->setting.key))
            continue;
        refuse(wish, "the recommendation of another finding saves more and does this in another way",
               winners->items[i]);
        return;
    }
    struct wish **had = find_winner(winners, wish->setting.key);
    if (!had)
        winners->items[winners->count++] = wish;
    else if (wants_more(wish, *had) && wish->low == (*had)->low)
        *had = wish;
}

/* Whoever wanted another value than the one that prevails does not get it. */
static void concede(const struct winners *winners, struct wish *wish)
{
    struct wish **winner = wish->refused ? NULL : find_winner(winners, wish->setting.key);
    if (!winner || *winner == wish || pyro_property_same(wish->row, (*winner)->setting.value, wish->setting.value))
        return;
    refuse(wish,
           wants_more(*winner, wish) ? "another finding needs a larger value, which is enough for both"
                                     : "another finding saves more and sets another value",
           *winner);
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
    const struct pyro_property_row *count = pyro_property_find(PYRO_SLICE_LITERAL("spark.executor.instances"));
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        struct wish *most = wished(winners, max_key), *least = wished(winners, below[i]);
        struct pyro_slice high = most ? most->setting.value : pyro_property_current(app, pyro_slice_from(max_key));
        struct pyro_slice low = least ? least->setting.value : pyro_property_current(app, pyro_slice_from(below[i]));
        double a = pyro_property_magnitude(count, low), b = pyro_property_magnitude(count, high);
        if (!(a > b))
            continue;
        /* The number that somebody set stays; of two that are advised, that of the finding that saves more. */
        if (least && (!most || least > most))
            refuse(least, "it would be above spark.dynamicAllocation.maxExecutors", most);
        else if (most)
            refuse(most, "it would be below the number of executors that the application starts with or keeps", least);
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
            struct pyro_advice *advice = (struct pyro_advice *)&finding->advice[k];
            if (!advice->asked) {
                advice->asked = advice->settings;
                advice->asked_count = advice->setting_count;
                advice->said = advice->text;
            }
            for (size_t s = 0; s < advice->asked_count && !finding->folded; s++)
                wishes->items[wishes->count++] = (struct wish){.setting = advice->asked[s],
                                                               .row = pyro_property_find(advice->asked[s].key),
                                                               .low = finding->severity == PYRO_SEVERITY_LOW,
                                                               .finding = i,
                                                               .advice = k};
        }
    }
    return true;
}

/* Leaves in each advice the settings that are taken, and says why the others are not. */
static bool rewrite(struct pyro_diagnosis *diagnosis, const struct wishes *wishes)
{
    struct pyro_arena *arena = &diagnosis->arena;
    for (size_t i = 0; i < wishes->count; i++) {
        const struct wish *wish = &wishes->items[i];
        struct pyro_advice *advice = (struct pyro_advice *)&diagnosis->findings[wish->finding].advice[wish->advice];
        if (i == 0 || wish[-1].finding != wish->finding || wish[-1].advice != wish->advice) {
            advice->settings = pyro_arena_array(arena, advice->asked_count, sizeof(*advice->settings));
            advice->setting_count = 0;
            advice->text = advice->said;
            if (!advice->settings)
                return false;
        }
        if (!wish->refused) {
            ((struct pyro_setting *)advice->settings)[advice->setting_count++] = wish->setting;
            continue;
        }
        if (wish->refused == had_already)
            continue;
        struct pyro_slice key = wish->setting.key;
        advice->text = wish->by
                           ? pyro_arena_printf(arena, "%.*s (%.*s is not set here: %s, %.*s=%.*s.)",
                                               (int)advice->text.len, advice->text.ptr, (int)key.len, key.ptr,
                                               wish->refused, (int)wish->by->setting.key.len, wish->by->setting.key.ptr,
                                               (int)wish->by->setting.value.len, wish->by->setting.value.ptr)
                           : pyro_arena_printf(arena, "%.*s (%.*s is not set here: %s.)", (int)advice->text.len,
                                               advice->text.ptr, (int)key.len, key.ptr, wish->refused);
        if (!advice->text.ptr)
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
                wish->setting.key, wish->setting.value, wish->finding, wish->advice, wish->elsewhere};
    }
    if (diagnosis->change_count > 1)
        qsort(diagnosis->changes, diagnosis->change_count, sizeof(*diagnosis->changes), by_key);
    for (size_t i = 0; i < diagnosis->change_count; i++)
        if (!diagnosis->changes[i].elsewhere)
            diagnosis->config_changes[diagnosis->config_change_count++] =
                (struct pyro_setting){diagnosis->changes[i].key, diagnosis->changes[i].value};
    return true;
}

bool pyro_settings_resolve(struct pyro_diagnosis *diagnosis)
{
    struct wishes wishes = {0};
    struct winners winners = {0};
    if (!collect(diagnosis, &wishes))
        return false;
    winners.items = pyro_arena_array(&diagnosis->arena, wishes.count + 1, sizeof(*winners.items));
    if (!winners.items)
        return false;
    for (size_t i = 0; i < wishes.count; i++)
        judge_alone(diagnosis->app, &wishes.items[i]);
    /* Findings come in their final order, the one that saves most first. */
    for (int low = 0; low < 2; low++)
        for (size_t i = 0; i < wishes.count; i++)
            if (!wishes.items[i].refused && wishes.items[i].low == (low == 1))
                compete(&winners, &wishes.items[i]);
    for (size_t i = 0; i < wishes.count; i++)
        concede(&winners, &wishes.items[i]);
    keep_order(diagnosis->app, &winners);
    /* Only now: a finding that needs the present value keeps others from lowering it. */
    for (size_t i = 0; i < wishes.count; i++) {
        struct wish *wish = &wishes.items[i];
        if ((!wish->refused || wish->elsewhere) &&
            pyro_property_same(wish->row, pyro_property_current(diagnosis->app, wish->setting.key),
                               wish->setting.value)) {
            wish->elsewhere = false;
            refuse(wish, had_already, NULL);
        }
    }
    /* Equal wishes go the way of the one that stood for them. */
    for (size_t i = 0; i < wishes.count; i++) {
        struct wish **winner = find_winner(&winners, wishes.items[i].setting.key);
        if (winner && (*winner)->refused && !wishes.items[i].refused)
            refuse(&wishes.items[i], (*winner)->refused, (*winner)->by);
    }
    return rewrite(diagnosis, &wishes) && list_changes(diagnosis, &wishes) && pyro_advise_configuration(diagnosis);
}
