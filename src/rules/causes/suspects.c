#include "rules/causes/suspects.h"

#include <math.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/plans/plans.h"

/* A value this near to the default explains nothing. */
#define NEAR 1.25
enum { SUSPECTS_MAX = 64 };

static const struct {
    const char *rule, *doc;
} symptoms[PYRO_SYMPTOM_COUNT] = {
#define PYRO_SYMPTOM(id, rule, doc) [PYRO_SYMPTOM_##id] = {rule, doc},
#include "analyze/settings/symptoms.def"
#undef PYRO_SYMPTOM
};

const char *pyro_symptom_rule(enum pyro_symptom symptom)
{
    return symptoms[symptom].rule ? symptoms[symptom].rule : "";
}

const char *pyro_symptom_doc(enum pyro_symptom symptom)
{
    return symptoms[symptom].doc ? symptoms[symptom].doc : "";
}

/* Some sizes and counts are limits that -1 or 0 turns off. */
static bool is_off(const struct pyro_setting_row *row, double value)
{
    return value < 0 || (value == 0 && pyro_slice_is(pyro_slice_from(row->key), "spark.sql.files.maxRecordsPerFile"));
}

/* Leaves `symptom` NONE where the value is on no such side. */
static void judge_value(struct pyro_suspect *suspect)
{
    const struct pyro_setting_row *row = suspect->row;
    if (!suspect->usual.ptr || pyro_setting_same(row, suspect->value, suspect->usual))
        return;
    suspect->factor = INFINITY;
    if (row->kind == PYRO_SETTING_TEXT) {
        suspect->symptom = row->below;
        return;
    }
    double value = pyro_setting_magnitude(row, suspect->value), usual = pyro_setting_magnitude(row, suspect->usual);
    if (!isfinite(value) || !isfinite(usual))
        return;
    bool limits_files = is_off(row, usual) && !is_off(row, value) && row->kind == PYRO_SETTING_COUNT;
    bool below = limits_files ? false : value < usual;
    if (row->kind != PYRO_SETTING_FLAG && value > 0 && usual > 0) {
        suspect->factor = below ? usual / value : value / usual;
        if (suspect->factor <= NEAR)
            return;
    }
    suspect->symptom = below ? row->below : row->above;
}

static void add(struct pyro_rule_context *context, struct pyro_suspects *suspects, struct pyro_slice key,
                struct pyro_slice value)
{
    struct pyro_suspect suspect = {.row = pyro_setting_find(key), .value = value};
    const struct pyro_setting_row *row = suspect.row;
    if (!row || (row->below == PYRO_SYMPTOM_NONE && row->above == PYRO_SYMPTOM_NONE) ||
        suspects->count == SUSPECTS_MAX || !pyro_app_spark_at_least(context->app, row->since / 100, row->since % 100))
        return;
    for (size_t i = 0; i < suspects->count; i++)
        if (suspects->items[i].row == row && pyro_setting_same(row, suspects->items[i].value, value))
            return;
    suspect.usual = pyro_setting_default(context->app, row);
    if (row->fallback && strcmp(row->fallback, "$cores") == 0 && pyro_app_peak_slots(context->app) >= 1)
        suspect.usual = pyro_say(context, "%.0f", pyro_app_peak_slots(context->app));
    judge_value(&suspect);
    if (suspect.symptom != PYRO_SYMPTOM_NONE)
        suspects->items[suspects->count++] = suspect;
}

bool pyro_suspects_load(struct pyro_rule_context *context, struct pyro_suspects *ret)
{
    const struct pyro_app *app = context->app;
    const char *last = NULL;
    *ret = (struct pyro_suspects){.items = pyro_arena_array(context->scratch, SUSPECTS_MAX, sizeof(*ret->items))};
    context->failed |= !ret->items;
    for (size_t i = 0; i < app->properties.count && ret->items; i++)
        if (pyro_slice_is(app->properties.items[i].kind, "spark"))
            add(context, ret, app->properties.items[i].key, app->properties.items[i].value);
    for (size_t i = 0; i < app->sql.count && ret->items; i++) {
        struct pyro_slice rest = app->sql.items[i].modified_configs, key, value;
        if (!rest.ptr || rest.ptr == last) /* texts are interned: most queries of a session share theirs */
            continue;
        last = rest.ptr;
        while (pyro_property_next(&rest, &key, &value))
            add(context, ret, key, value);
    }
    return ret->items != NULL;
}

static bool is_of_sql(const struct pyro_suspect *suspect)
{
    return suspect->row->group == PYRO_GROUP_SQL;
}

bool pyro_suspect_covers(const struct pyro_app *app, const struct pyro_suspect *suspect, int64_t sql)
{
    if (sql == PYRO_NONE && is_of_sql(suspect))
        return false;
    struct pyro_slice value = pyro_sql_property(app, sql, suspect->row->key);
    return value.ptr ? pyro_setting_same(suspect->row, value, suspect->value) : suspect->is_default;
}

static bool runs(struct pyro_rule_context *context, int64_t sql, enum pyro_operator_class class)
{
    const struct pyro_plans *plans = pyro_rule_plans(context);
    ptrdiff_t row = sql == PYRO_NONE ? -1 : pyro_app_find_sql(context->app, sql);
    for (uint32_t i = 0; plans && row >= 0 && i < plans->items[row].count; i++)
        if (plans->items[row].ops[i].class == class)
            return true;
    return false;
}

/* Settings of one operator, by their beginnings. */
static const struct {
    const char *prefix;
    enum pyro_operator_class class;
} operators[] = {
    {"spark.sql.windowExec.", PYRO_OPERATOR_WINDOW},
    {"spark.sql.sortMergeJoinExec.", PYRO_OPERATOR_SORT_MERGE_JOIN},
    {"spark.sql.cartesianProductExec.", PYRO_OPERATOR_CARTESIAN},
};

bool pyro_suspect_fits(struct pyro_rule_context *context, const struct pyro_suspect *suspect, size_t stage)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *own = &app->stages.items[stage];
    struct pyro_slice key = pyro_slice_from(suspect->row->key);
    bool shuffled = own->shuffle_read_bytes > 0;
    if (!pyro_suspect_covers(app, suspect, own->sql))
        return false;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (pyro_slice_starts_with(key, operators[i].prefix))
            return runs(context, own->sql, operators[i].class);
    if (pyro_slice_starts_with(key, "spark.sql.adaptive."))
        return shuffled && (suspect->symptom == PYRO_SYMPTOM_SKEW || pyro_sql_adaptive(app, own->sql));
    if (suspect->symptom == PYRO_SYMPTOM_SMALL_TASKS || suspect->symptom == PYRO_SYMPTOM_FEW_TASKS) {
        if (pyro_slice_starts_with(key, "spark.sql.files."))
            return own->input_bytes > 0 && !shuffled;
        if (pyro_slice_starts_with(key, "spark.files.") || pyro_slice_starts_with(key, "spark.hadoop"))
            return own->input_bytes > 0 && !shuffled && !pyro_stage_is_sql(own);
        if (pyro_slice_is(key, "spark.default.parallelism"))
            return !pyro_stage_is_sql(own) &&
                   pyro_real(own->partitions) == pyro_setting_magnitude(suspect->row, suspect->value);
        return shuffled;
    }
    if (suspect->symptom == PYRO_SYMPTOM_SMALL_FILES) /* the limit made more files than there were tasks */
        return pyro_real(own->output_records) >
               pyro_setting_magnitude(suspect->row, suspect->value) * pyro_real(own->tasks);
    if (pyro_slice_is(key, "spark.memory.storageFraction"))
        return app->numbers.storage_peak_bytes > 0;
    return true;
}

bool pyro_stage_has_suspect(struct pyro_rule_context *context, enum pyro_symptom symptom, size_t stage)
{
    struct pyro_suspects suspects;
    if (context->app->integrity.settings_unknown || !pyro_suspects_load(context, &suspects))
        return false;
    for (size_t i = 0; i < suspects.count; i++)
        if (suspects.items[i].symptom == symptom && pyro_suspect_fits(context, &suspects.items[i], stage))
            return true;
    return false;
}

bool pyro_suspect_is_advised(const struct pyro_suspect *suspect, const struct pyro_finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < findings[i].advice_count; k++)
            for (size_t s = 0; s < findings[i].advice[k].setting_count; s++)
                if (pyro_slice_is(findings[i].advice[k].settings[s].key, suspect->row->key))
                    return true;
    return false;
}

struct pyro_advice *pyro_suspect_advise(struct pyro_rule_context *context, struct pyro_finding *finding,
                                        const struct pyro_suspect *suspect, const char *verify)
{
    const char *key = suspect->row->key, *usual = pyro_say_text(context, suspect->usual, 80);
    const char *value = pyro_say_text(context, suspect->value, 80);
    struct pyro_slice text =
        suspect->is_option ? pyro_say(context, "Take %s out of %s.", value, key)
        : suspect->is_default
            ? pyro_say(context, "Set %s to %s: it is %s here (%s).", key, usual, value, suspect->row->changes)
            : pyro_say(context, "Set %s back to %s, Spark's default: it is %s here (%s).", key, usual, value,
                       suspect->row->changes);
    struct pyro_advice *advice = pyro_finding_advise(context, finding, text, verify);
    pyro_advice_configure(context, advice, suspect->row->key, suspect->usual);
    return advice;
}
