/* What is asked, as words: settings and sweeps become scenarios, or are refused by name. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "analyze/app_facts.h"
#include "base/error.h"
#include "base/numbers/units.h"
#include "predict/predict.h"

const struct pyro_predicted_setting pyro_predicted_settings[PYRO_PREDICTED_SETTINGS] = {
#define PYRO_PREDICTED(constant, key, alias, type, unit, otherwise, least, most, model, doc)                           \
    {key, alias, PYRO_PREDICTED_##type, unit, otherwise, least, most, PYRO_MODEL_##model, doc},
#include "predict/settings.def"
#undef PYRO_PREDICTED
};

static const char *type_words(enum pyro_predicted_type type)
{
    static const char *const words[] = {"a whole number",
                                        "a number",
                                        "true or false",
                                        "a size such as 4g",
                                        "a time such as 30s",
                                        "FIFO or FAIR",
                                        "same, new, or a number of hosts"};
    return words[type];
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool take_digits(const char **at, double *ret)
{
    const char *p = *at;
    double value = 0, places = 1;
    if (!isdigit((unsigned char)*p))
        return false;
    for (; isdigit((unsigned char)*p); p++)
        value = value * 10 + (*p - '0');
    if (*p == '.' && isdigit((unsigned char)p[1]))
        for (p++; isdigit((unsigned char)*p); p++, places *= 10)
            value = value * 10 + (*p - '0');
    *at = p;
    *ret = value / places;
    return true;
}

/* A size or a time: what Spark reads, and sizes in KiB, MiB, GiB and TiB. Fractions ("1.5g") are Spark's errors too. */
static bool read_amount(const struct pyro_predicted_setting *setting, struct pyro_slice text, double *ret)
{
    bool size = setting->type == PYRO_PREDICTED_SIZE, negative = text.ptr[0] == '-';
    int64_t value, unit = (int64_t)setting->unit;
    pyro_slice_drop(&text, negative);
    if (!pyro_take_digits(&text, &value))
        return false;
    if (text.len > 0)
        unit = size ? pyro_size_suffix(text) : pyro_time_suffix(text);
    *ret = (negative ? -1 : 1) * (double)value * (double)unit;
    return unit > 0 && (!negative || setting->least < 0);
}

/* False: it is none. */
static bool read_value(const struct pyro_predicted_setting *setting, const char *text, double *ret)
{
    double value;
    if (setting->type == PYRO_PREDICTED_FLAG) {
        *ret = strcasecmp(text, "true") == 0;
        return *ret != 0 || strcasecmp(text, "false") == 0;
    }
    if (setting->type == PYRO_PREDICTED_WORD) {
        *ret = strcasecmp(text, "FAIR") == 0;
        return *ret != 0 || strcasecmp(text, "FIFO") == 0;
    }
    if (setting->type == PYRO_PREDICTED_HOST_COUNT && (strcasecmp(text, "same") == 0 || strcasecmp(text, "new") == 0)) {
        *ret = strcasecmp(text, "new") == 0 ? -1 : 0;
        return true;
    }
    if (setting->type == PYRO_PREDICTED_SIZE || setting->type == PYRO_PREDICTED_TIME)
        return read_amount(setting, pyro_slice_from(text), ret);
    bool below = *text == '-' && setting->least < 0 && setting->type != PYRO_PREDICTED_HOST_COUNT;
    text += below;
    if (!take_digits(&text, &value) || (setting->type == PYRO_PREDICTED_HOST_COUNT && value < 1))
        return false;
    bool whole = value == floor(value);
    if (*text || (!whole && setting->type != PYRO_PREDICTED_REAL))
        return false;
    *ret = (below ? -value : value) * setting->unit;
    return true;
}

bool pyro_predicted_read(enum pyro_predicted setting, struct pyro_slice text, double *ret)
{
    char copy[64];
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return read_value(&pyro_predicted_settings[setting], copy, ret);
}

bool pyro_scenario_set(struct pyro_scenario *scenario, struct pyro_slice key, struct pyro_slice value)
{
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        const struct pyro_predicted_setting *setting = &pyro_predicted_settings[i];
        double number;
        if (!pyro_slice_is(key, setting->key))
            continue;
        if (!pyro_predicted_read((enum pyro_predicted)i, value, &number) || number < setting->least ||
            number > setting->most)
            return false;
        scenario->given[i] = value;
        scenario->full[i] = true;
        scenario->values[i] = number;
        return true;
    }
    return false;
}

static const struct pyro_predicted_setting *find_key(struct pyro_slice key)
{
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (pyro_slice_is(key, pyro_predicted_settings[i].key))
            return &pyro_predicted_settings[i];
    return NULL;
}

bool pyro_predicted_is_known(struct pyro_slice key)
{
    return find_key(key) != NULL;
}

/* In local mode the driver's heap is that of the tasks. */
bool pyro_predicted_takes_time(const struct pyro_app *app, struct pyro_slice key)
{
    const struct pyro_predicted_setting *setting = find_key(key);
    return setting && (setting->model != PYRO_MODEL_safety || pyro_slice_is(key, pyro_app_heap_key(app)));
}

static struct pyro_slice words_of(struct pyro_arena *arena, const struct pyro_predicted_setting *setting, double value)
{
    if (setting->type == PYRO_PREDICTED_FLAG)
        return value != 0 ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false");
    if (setting->type == PYRO_PREDICTED_WORD)
        return value != 0 ? PYRO_SLICE_LITERAL("FAIR") : PYRO_SLICE_LITERAL("FIFO");
    if (setting->type == PYRO_PREDICTED_HOST_COUNT && value < 1)
        return value != 0 ? PYRO_SLICE_LITERAL("new") : PYRO_SLICE_LITERAL("same");
    if (setting->type == PYRO_PREDICTED_SIZE && value > 0) {
        static const char units[] = "tgmk";
        for (unsigned i = 0; i < 4; i++) {
            double unit = ldexp(1, 40 - 10 * (int)i);
            if (value != 0 && fmod(value, unit) == 0)
                return pyro_arena_printf(arena, "%.0f%c", value / unit, units[i]);
        }
        return pyro_arena_printf(arena, "%.0fb", value);
    }
    if (setting->type == PYRO_PREDICTED_TIME)
        return fmod(value, 1000) == 0 ? pyro_arena_printf(arena, "%.0fs", value / 1000)
                                      : pyro_arena_printf(arena, "%.0fms", value);
    return value == floor(value) ? pyro_arena_printf(arena, "%.0f", value) : pyro_arena_printf(arena, "%.6g", value);
}

/* "3", "4g", "512m": least and most as a person would write them. */
static enum pyro_status check_value(struct pyro_arena *arena, const struct pyro_predicted_setting *setting,
                                    struct pyro_slice text, double value, struct pyro_error *error)
{
    if (value >= setting->least && value <= setting->most)
        return PYRO_OK;
    struct pyro_slice least = words_of(arena, setting, setting->least), most = words_of(arena, setting, setting->most);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s cannot be '%.*s'; it is %s from %.*s to %.*s", setting->key,
                          (int)(text.len < 60 ? text.len : 60), text.ptr, type_words(setting->type), (int)least.len,
                          least.ptr, (int)most.len, most.ptr);
}

static enum pyro_status parse_value(struct pyro_arena *arena, const struct pyro_predicted_setting *setting,
                                    struct pyro_slice text, double *ret, struct pyro_error *error)
{
    if (!pyro_predicted_read((enum pyro_predicted)(setting - pyro_predicted_settings), text, ret))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s cannot be '%.*s'; it is %s", setting->key,
                              (int)(text.len < 60 ? text.len : 60), text.ptr, type_words(setting->type));
    return check_value(arena, setting, text, *ret, error);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool name_is(struct pyro_slice name, const char *text)
{
    return text && pyro_slice_is(name, text);
}

static enum pyro_status find_setting(struct pyro_slice name, unsigned *ret, bool *ret_full, struct pyro_error *error)
{
    const char *names[2 * PYRO_PREDICTED_SETTINGS];
    size_t count = 0;
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++) {
        const struct pyro_predicted_setting *setting = &pyro_predicted_settings[i];
        *ret = i;
        *ret_full = name_is(name, setting->key);
        if (*ret_full || name_is(name, setting->alias))
            return PYRO_OK;
        names[count++] = setting->key;
        if (setting->alias)
            names[count++] = setting->alias;
    }
    char word[96];
    size_t len = name.len < sizeof(word) ? name.len : sizeof(word) - 1;
    memcpy(word, name.ptr, len);
    word[len] = '\0';
    const char *nearest = pyro_nearest(word, names, count);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s has no model, so its effect cannot be predicted%s%s%s", word,
                          nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* "KEY=VALUE". */
static enum pyro_status split(const char *text, struct pyro_slice *key, struct pyro_slice *value,
                              struct pyro_error *error)
{
    const char *sign = text ? strchr(text, '=') : NULL;
    if (!sign || sign == text)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%.80s' is not of the form KEY=VALUE", text ? text : "");
    *key = (struct pyro_slice){text, (size_t)(sign - text)};
    *value = pyro_slice_from(sign + 1);
    return PYRO_OK;
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

struct sweep {
    unsigned setting;
    bool full;
    PYRO_VEC(double) values;
};

static enum pyro_status add_range(struct pyro_whatif *whatif, struct sweep *sweep, struct pyro_slice text,
                                  struct pyro_error *error)
{
    const struct pyro_predicted_setting *setting = &pyro_predicted_settings[sweep->setting];
    double ends[3] = {0, 0, 0};
    unsigned parts = 0;
    while (parts < 3) {
        const char *dots = pyro_slice_find(text, "..");
        size_t len = dots && parts < 2 ? (size_t)(dots - text.ptr) : text.len;
        PYRO_TRY(parse_value(&whatif->arena, setting, (struct pyro_slice){text.ptr, len}, &ends[parts], error));
        parts++;
        if (!dots || parts == 3)
            break;
        text = (struct pyro_slice){text.ptr + len + 2, text.len - len - 2};
    }
    if (parts == 1)
        ends[1] = ends[0];
    double step = parts == 3                             ? ends[2]
                  : setting->type == PYRO_PREDICTED_SIZE ? 0x1p30
                  : setting->type == PYRO_PREDICTED_TIME ? 1000
                                                         : 1;
    if (parts > 1 &&
        (setting->type == PYRO_PREDICTED_FLAG || setting->type == PYRO_PREDICTED_REAL ||
         setting->type == PYRO_PREDICTED_WORD) &&
        parts < 3)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a range of %s needs a step: A..B..STEP, or a list A,B,C",
                              setting->key);
    if (ends[1] < ends[0])
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the end of the range of %s is before its start",
                              setting->key);
    if (!(step > 0) || (ends[1] - ends[0]) / step >= PYRO_SWEEP_VALUES_MAX)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the range of %s has more than %d values: give it a larger step (A..B..STEP)",
                              setting->key, PYRO_SWEEP_VALUES_MAX);
    for (unsigned i = 0; ends[0] + i * step <= ends[1] + fabs(ends[1]) * 1e-12; i++) {
        if (!pyro_vec_reserve(&sweep->values, 1, whatif->arena.allocator))
            return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
        sweep->values.items[sweep->values.count++] = ends[0] + i * step;
    }
    return PYRO_OK;
}

static enum pyro_status read_sweep(struct pyro_whatif *whatif, const char *text, struct sweep *sweep,
                                   struct pyro_error *error)
{
    struct pyro_slice key = PYRO_SLICE_NULL, rest = PYRO_SLICE_NULL;
    PYRO_TRY(split(text, &key, &rest, error));
    PYRO_TRY(find_setting(key, &sweep->setting, &sweep->full, error));
    for (;;) {
        const char *comma = rest.len ? memchr(rest.ptr, ',', rest.len) : NULL;
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len;
        PYRO_TRY(add_range(whatif, sweep, (struct pyro_slice){rest.ptr, len}, error));
        if (sweep->values.count > PYRO_SWEEP_VALUES_MAX)
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the sweep of %s has more than %d values",
                                  pyro_predicted_settings[sweep->setting].key, PYRO_SWEEP_VALUES_MAX);
        if (!comma)
            return PYRO_OK;
        rest = (struct pyro_slice){rest.ptr + len + 1, rest.len - len - 1};
    }
}

enum { SWEEPS_MAX = 8 };

static enum pyro_status combine(struct pyro_whatif *whatif, const struct pyro_scenario *common,
                                const struct sweep *sweeps, size_t sweep_count, struct pyro_error *error)
{
    size_t total = 1, most = whatif->most_scenarios;
    if (most == 0 || most > PYRO_SCENARIOS_MAX)
        most = PYRO_SCENARIOS_MAX;
    for (size_t i = 0; i < sweep_count; i++) {
        total *= sweeps[i].values.count;
        if (total > most)
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                                  "the sweeps combine to more than %zu scenarios: use fewer values or larger steps",
                                  most);
    }
    whatif->scenarios = pyro_arena_array(&whatif->arena, total, sizeof(*whatif->scenarios));
    if (!whatif->scenarios)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
    whatif->scenario_count = total;
    for (size_t n = 0; n < total; n++) {
        size_t rest = n;
        whatif->scenarios[n] = *common;
        for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
            whatif->needs_tasks = whatif->needs_tasks || common->given[i].ptr || sweep_count > 0;
        for (size_t i = sweep_count; i-- > 0;) { /* the last sweep varies fastest */
            unsigned setting = sweeps[i].setting;
            double value = sweeps[i].values.items[rest % sweeps[i].values.count];
            rest /= sweeps[i].values.count;
            whatif->scenarios[n].values[setting] = value;
            whatif->scenarios[n].full[setting] = sweeps[i].full;
            whatif->scenarios[n].given[setting] = words_of(&whatif->arena, &pyro_predicted_settings[setting], value);
            if (!whatif->scenarios[n].given[setting].ptr)
                return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
        }
    }
    return PYRO_OK;
}

static enum pyro_status read_set(struct pyro_whatif *whatif, const char *text, struct pyro_scenario *common,
                                 struct pyro_error *error)
{
    struct pyro_slice key = PYRO_SLICE_NULL, value = PYRO_SLICE_NULL;
    unsigned setting;
    bool full;
    PYRO_TRY(split(text, &key, &value, error));
    PYRO_TRY(find_setting(key, &setting, &full, error));
    if (common->given[setting].ptr)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s is set twice", pyro_predicted_settings[setting].key);
    PYRO_TRY(parse_value(&whatif->arena, &pyro_predicted_settings[setting], value, &common->values[setting], error));
    common->given[setting] = pyro_arena_copy(&whatif->arena, value);
    common->full[setting] = full;
    return common->given[setting].ptr ? PYRO_OK
                                      : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
}

static enum pyro_status read_sweeps(struct pyro_whatif *whatif, const char *const *texts, size_t count,
                                    const struct pyro_scenario *common, struct sweep *sweeps, struct pyro_error *error)
{
    for (size_t i = 0; i < count; i++) {
        PYRO_TRY(read_sweep(whatif, texts[i], &sweeps[i], error));
        const char *key = pyro_predicted_settings[sweeps[i].setting].key;
        if (common->given[sweeps[i].setting].ptr)
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s is both set and swept", key);
        for (size_t k = 0; k < i; k++)
            if (sweeps[k].setting == sweeps[i].setting)
                return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s is swept twice: give its values in one list",
                                      key);
        whatif->varied[whatif->varied_count++] = sweeps[i].setting;
    }
    return PYRO_OK;
}

enum pyro_status pyro_whatif_ask(struct pyro_whatif *whatif, const char *const *set, size_t set_count,
                                 const char *const *sweep, size_t sweep_count, struct pyro_error *error)
{
    struct pyro_scenario common = {0};
    struct sweep sweeps[SWEEPS_MAX] = {{0}};
    if (sweep_count > SWEEPS_MAX)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "at most %d sweeps combine", SWEEPS_MAX);
    for (size_t i = 0; i < set_count; i++)
        PYRO_TRY(read_set(whatif, set[i], &common, error));
    enum pyro_status status = read_sweeps(whatif, sweep, sweep_count, &common, sweeps, error);
    if (status == PYRO_OK)
        status = combine(whatif, &common, sweeps, sweep_count, error);
    for (size_t i = 0; i < SWEEPS_MAX; i++)
        pyro_vec_done(&sweeps[i].values, whatif->arena.allocator);
    return status;
}
