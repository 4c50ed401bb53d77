#include "rules/causes/causing_settings.h"

#include <string.h>

#include "rules/causes/suspects.h"
#include "rules/finding.h"

/* One of its stages ran with the value; where it names none, the whole application did. */
static bool is_seen(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                    const struct pyro_finding *finding)
{
    if (finding->stage_count == 0)
        return finding->sql != PYRO_NONE || suspect->row->group != PYRO_GROUP_SQL
                   ? pyro_suspect_covers(context->app, suspect, finding->sql)
                   : false;
    for (size_t i = 0; i < finding->stage_count; i++)
        if (pyro_suspect_fits(context, suspect, finding->stages[i]))
            return true;
    return false;
}

/* Advice that sets a neighbor of it, "spark.sql.adaptive.skewJoin.enabled" of "...skewedPartitionFactor", does nothing
 * without it. */
static bool is_blocked(const struct pyro_advice *advice, const struct pyro_suspect *suspect)
{
    static const char family[] = "spark.sql.adaptive.skewJoin.";
    bool blocked = false;
    for (size_t i = 0; i < advice->setting_count; i++)
        blocked |= pyro_slice_starts_with(advice->settings[i].key, family);
    return blocked && pyro_slice_starts_with(pyro_slice_from(suspect->row->key), family);
}

static void unblock(struct pyro_rule_context *context, const struct pyro_suspect *suspect, struct pyro_advice *advice)
{
    pyro_advice_set(context, advice, suspect->row->key, suspect->usual);
    advice->text = pyro_say(context, "%s Set %s back to %s, Spark's default: with %s this does not act.",
                            pyro_say_text(context, advice->text, 2000), suspect->row->key,
                            pyro_say_text(context, suspect->usual, 80), pyro_say_text(context, suspect->value, 80));
}

/* Before what needs the program or the machines to change, after other settings. */
static void put_forward(struct pyro_finding *finding)
{
    size_t last = finding->advice_count - 1, to = 0;
    struct pyro_advice own = finding->advice[last];
    while (to < last && finding->advice[to].setting_count > 0)
        to++;
    memmove(&finding->advice[to + 1], &finding->advice[to], (last - to) * sizeof(own));
    finding->advice[to] = own;
}

static void name(struct pyro_rule_context *context, const struct pyro_suspect *suspect, struct pyro_finding *finding)
{
    static const char verify[] = "The Environment page of the next run shows the default, and this finding is absent.";
    bool blocked = false;
    for (size_t i = 0; i < finding->advice_count; i++) /* of several that compete, one is kept */
        if (is_blocked(&finding->advice[i], suspect)) {
            unblock(context, suspect, &finding->advice[i]);
            blocked = true;
        }
    if (!blocked && finding->advice_count < PYRO_ADVICE_MAX && pyro_suspect_advise(context, finding, suspect, verify))
        put_forward(finding);
    finding->cause = pyro_say(context, "%s %s is %s (Spark's default: %s).",
                              pyro_say_text(context, finding->cause, 4000), suspect->row->key,
                              pyro_say_text(context, suspect->value, 80), pyro_say_text(context, suspect->usual, 80));
}

/* With Spark's default there is no fault: advice of it does what the finding says of a run without. */
static void mark(const struct pyro_suspect *suspect, struct pyro_finding *finding)
{
    for (size_t i = 0; i < finding->advice_count; i++)
        for (size_t k = 0; k < finding->advice[i].setting_count; k++)
            finding->advice[i].edits |= pyro_slice_is(finding->advice[i].settings[k].key, suspect->row->key);
}

bool pyro_name_causing_settings(struct pyro_rule_context *context, struct pyro_finding_list *findings)
{
    struct pyro_suspects suspects;
    if (findings->count == 0 || context->app->integrity.settings_unknown)
        return true;
    if (!pyro_suspects_load(context, &suspects))
        return false;
    for (size_t s = 0; s < suspects.count; s++) {
        const struct pyro_suspect *suspect = &suspects.items[s];
        const char *rule = pyro_symptom_rule(suspect->symptom);
        /* what costly-setting looks for it found, or not, for this very setting */
        if (strcmp(rule, pyro_rule_costly_setting.id) == 0)
            continue;
        bool advised = pyro_suspect_is_advised(suspect, findings->items, findings->count);
        for (size_t i = 0; i < findings->count; i++) {
            struct pyro_finding *finding = &findings->items[i];
            if (strcmp(finding->rule->id, rule) != 0 || !is_seen(context, suspect, finding))
                continue;
            if (!advised)
                name(context, suspect, finding);
            mark(suspect, finding);
        }
    }
    return !context->failed;
}
