/* Which recommended settings later runs have, and what that saved (docs/adoption.md). */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "fleet/adoption/adoption.h"
#include "fleet/views/money.h"
#include "fleet/views/trend.h"

enum { MOST_ADVICE = 60, MOST_KEYS = 24, MOST_ROWS = 20000, MOST_CONFOUNDED = 8 };

/* A setting that runs of one application were advised to change to one value; or (without a key) a change of the
 * program, because of one finding. */
struct advice {
    struct pyro_slice application, key, previous, value, rule, finding; /* as the first run was advised */
    int64_t first_ms;
    struct pyro_query_value by;                 /* what the view groups by, of the first run */
    double saved_ms, saved_core_ms, saved_cost; /* of its set; NaN: not known, or shown by another one */
    double runs, saves_ms, saves_core_ms;       /* sums over the runs that were advised so */
    size_t column;                              /* of the answer with the runs: the setting's value; of settings */
    struct pyro_adoption_span span;
    int64_t adopted_ms;
    size_t set; /* of those that were adopted by one run, from 1 */
};

struct adoption {
    struct pyro_fleet_view *view;
    PYRO_VEC(struct advice) all;
    struct advice *ranked[MOST_ADVICE]; /* those that are looked at */
    size_t count;
    struct pyro_query_answer advised, runs; /* newest first */
    struct pyro_query_answer sums;          /* core time of each application */
    struct pyro_fleet_money money;          /* what it pays for that; no amounts: there are no prices */
    struct pyro_fleet_table *shares;
    bool grouped; /* the table has a column of what the view groups by */
};

/* ---- What was advised -------------------------------------------------------------------------------------------- */

enum { A_APPLICATION, A_KEY, A_PREVIOUS, A_VALUE, A_RULE, A_START, A_SAVES, A_SAVES_CORE, A_FINDING };

static double or_zero(double value)
{
    return value > 0 ? value : 0;
}

/* Keys are those of the library's own advice, but a store is a file that anybody may have written. */
static bool is_plain(struct pyro_slice key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!isalnum((unsigned char)key.ptr[i]) && !memchr("._-", key.ptr[i], 3))
            return false;
    return key.len < 200;
}

/* Oldest first, so that each is as it was advised first. False: no memory. */
static bool gather(struct adoption *state, const struct pyro_query_answer *answer, struct pyro_map *known)
{
    for (size_t row = answer->row_count; row-- > 0;) {
        uint64_t hash = PYRO_FNV;
        if (!is_plain(pyro_answer_text(answer, row, A_KEY)))
            continue;
        for (size_t c = A_APPLICATION; c <= A_VALUE; c++)
            if (c != A_PREVIOUS)
                hash = pyro_fnv_text(hash, pyro_answer_text(answer, row, c));
        if (!pyro_answer_text(answer, row, A_KEY).len)
            hash = pyro_fnv_text(hash, pyro_answer_text(answer, row, A_FINDING));
        uint64_t *place = pyro_map_put(known, hash, NULL);
        struct advice *added = place && !*place ? pyro_vec_push(&state->all, state->view->allocator) : NULL;
        if (!place || (!*place && !added))
            return false;
        if (added) {
            *added = (struct advice){.application = pyro_answer_text(answer, row, A_APPLICATION),
                                     .key = pyro_answer_text(answer, row, A_KEY),
                                     .previous = pyro_answer_text(answer, row, A_PREVIOUS),
                                     .value = pyro_answer_text(answer, row, A_VALUE),
                                     .rule = pyro_answer_text(answer, row, A_RULE),
                                     .finding = pyro_answer_text(answer, row, A_FINDING),
                                     .first_ms = pyro_answer_int(answer, row, A_START),
                                     .saved_ms = (double)NAN,
                                     .saved_core_ms = (double)NAN,
                                     .saved_cost = (double)NAN,
                                     .adopted_ms = PYRO_NONE};
            added->by = *pyro_fleet_by_value(state->view, answer, row);
            *place = state->all.count;
        }
        struct advice *advice = &state->all.items[*place - 1];
        advice->runs++;
        advice->saves_ms += or_zero(pyro_answer_number(answer, row, A_SAVES));
        advice->saves_core_ms += or_zero(pyro_answer_number(answer, row, A_SAVES_CORE));
    }
    return true;
}

static int by_saving(const void *left, const void *right)
{
    const struct advice *a = *(struct advice *const *)left, *b = *(struct advice *const *)right;
    if (a->saves_ms < b->saves_ms || a->saves_ms > b->saves_ms)
        return a->saves_ms > b->saves_ms ? -1 : 1;
    return a < b ? -1 : 1;
}

/* Those that promise most, with at most MOST_KEYS settings. */
static bool rank(struct adoption *state, struct pyro_slice *keys, size_t *ret_keys)
{
    struct advice **order = pyro_arena_array(state->view->arena, state->all.count + 1, sizeof(struct advice *));
    if (!order)
        return false;
    for (size_t i = 0; i < state->all.count; i++)
        order[i] = &state->all.items[i];
    if (state->all.count > 1)
        qsort(order, state->all.count, sizeof(struct advice *), by_saving);
    *ret_keys = 0;
    for (size_t i = 0; i < state->all.count && state->count < MOST_ADVICE; i++) {
        size_t k = 0;
        while (order[i]->key.len && k < *ret_keys && !pyro_slice_eq(keys[k], order[i]->key))
            k++;
        if (k == MOST_KEYS)
            continue;
        if (order[i]->key.len && k == *ret_keys)
            keys[(*ret_keys)++] = order[i]->key;
        order[i]->column = k;
        state->ranked[state->count++] = order[i];
    }
    return true;
}

static enum pyro_status ask_advice(struct adoption *state, struct pyro_slice *keys, size_t *ret_keys,
                                   struct pyro_error *error)
{
    static const char fields[] = "\"application\",\"key\",\"previous\",\"value\",\"rule\",\"start_ms\",\"saves_ms\","
                                 "\"saves_core_ms\",\"finding\"";
    struct pyro_map known;
    pyro_fleet_from(state->view, "advice");
    PYRO_TRY(pyro_fleet_ask(state->view, &state->advised, error,
                            "\"fields\":[%s%s],\"order\":{\"by\":\"start_ms\",\"descending\":true},"
                            "\"limit\":%d",
                            fields, pyro_fleet_further_field(state->view, fields), MOST_ROWS));
    pyro_map_init(&known, state->view->allocator);
    bool ok = gather(state, &state->advised, &known) && rank(state, keys, ret_keys);
    pyro_map_done(&known);
    if (state->all.count > state->count)
        pyro_fleet_note(state->view, "These are the %zu of %zu recommendations that promise most.", state->count,
                        state->all.count);
    return ok ? PYRO_OK : pyro_no_memory(error);
}

/* ---- Who followed it --------------------------------------------------------------------------------------------- */

enum { R_APPLICATION, R_START, R_DURATION, R_CORE, R_INPUT, R_STATUS, R_VERSION, R_FIRST_KEY };

/* Of what is looked at. */
static size_t find_applications(const struct adoption *state, struct pyro_query_value *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        size_t k = 0;
        while (k < count && !pyro_slice_eq(ret[k].text, state->ranked[i]->application))
            k++;
        if (k == count)
            ret[count++] = (struct pyro_query_value){.kind = PYRO_VALUE_TEXT, .text = state->ranked[i]->application};
    }
    return count;
}

static enum pyro_status ask_runs(struct adoption *state, const struct pyro_slice *keys, size_t key_count,
                                 struct pyro_error *error)
{
    struct pyro_query_value applications[MOST_ADVICE];
    struct pyro_slice fields = PYRO_SLICE_LITERAL("");
    size_t count = find_applications(state, applications);
    for (size_t i = 0; i < key_count && fields.ptr; i++) /* keys are those of the library's own advice */
        fields =
            pyro_arena_printf(state->view->arena, "%s,\"property.%.*s\"", fields.ptr, (int)keys[i].len, keys[i].ptr);
    if (!fields.ptr)
        return pyro_no_memory(error);
    pyro_fleet_from(state->view, "runs");
    pyro_fleet_where_in(state->view, PYRO_SLICE_LITERAL("application"), applications, count);
    return pyro_fleet_ask(state->view, &state->runs, error,
                          "\"fields\":[\"application\",\"start_ms\",\"duration_ms\",\"core_ms\",\"input_bytes\","
                          "\"status\",\"version\"%s],\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":%d",
                          fields.ptr, MOST_ROWS);
}

static enum pyro_status ask_money(struct adoption *state, struct pyro_error *error)
{
    struct pyro_query_value applications[MOST_ADVICE];
    const struct pyro_fleet_payers payers = {.by = PYRO_SLICE_LITERAL("application"),
                                             .by_json = PYRO_SLICE_LITERAL("\"application\""),
                                             .only = applications,
                                             .only_count = find_applications(state, applications)};
    pyro_fleet_from(state->view, "runs");
    pyro_fleet_where_in(state->view, payers.by, applications, payers.only_count);
    PYRO_TRY(pyro_fleet_ask(state->view, &state->sums, error,
                            "\"group\":[{\"field\":\"application\"}],\"measures\":[{\"as\":\"core_ms\",\"op\":\"sum\","
                            "\"field\":\"core_ms\"}]"));
    return pyro_fleet_price(state->view, &payers, &state->sums, &state->money, error);
}

/* Saved core time costs what a core hour of the application costs. NaN: not known. */
static double cost_of(const struct adoption *state, const struct advice *advice)
{
    const struct pyro_query_value key = {.kind = PYRO_VALUE_TEXT, .text = advice->application};
    size_t row = pyro_fleet_row_of(&state->sums, &key, 0);
    if (row == SIZE_MAX || !state->money.currency.ptr)
        return (double)NAN;
    return state->money.amounts[row] * advice->saved_core_ms / pyro_answer_number(&state->sums, row, 1);
}

/* The runs of one application, oldest first. */
struct history {
    struct pyro_adoption_run *runs;
    struct pyro_slice *values; /* of the setting; of other advice the version of the code */
    bool *has_finding;
    int64_t *starts;
    size_t count, advised_at;
};

/* Both are in the order of time. */
static void mark_findings(const struct adoption *state, const struct advice *advice, struct history *history)
{
    size_t run = 0;
    for (size_t row = state->advised.row_count; row-- > 0 && !advice->key.len;) {
        if (!pyro_slice_eq(pyro_answer_text(&state->advised, row, A_FINDING), advice->finding) ||
            !pyro_slice_eq(pyro_answer_text(&state->advised, row, A_APPLICATION), advice->application))
            continue;
        int64_t start_ms = pyro_answer_int(&state->advised, row, A_START);
        while (run < history->count && history->starts[run] < start_ms)
            run++;
        if (run < history->count && history->starts[run] == start_ms)
            history->has_finding[run] = true;
    }
}

/* The runs that follow the advice. */
static struct pyro_adoption_span find_span(const struct advice *advice, const struct history *history)
{
    if (advice->key.len)
        return pyro_adoption_find(advice->key, advice->previous, advice->value, history->values, history->count,
                                  history->advised_at);
    size_t gone = pyro_adoption_gone(history->values, history->has_finding, history->count, history->advised_at);
    return (struct pyro_adoption_span){gone < history->count ? PYRO_ADOPTION_FULL : PYRO_ADOPTION_NONE, gone,
                                       history->count};
}

static bool take_history(const struct adoption *state, const struct advice *advice, struct pyro_arena *scratch,
                         struct history *ret)
{
    const struct pyro_query_answer *answer = &state->runs;
    struct history history = {.runs = pyro_arena_array(scratch, answer->row_count + 1, sizeof(*history.runs)),
                              .values = pyro_arena_array(scratch, answer->row_count + 1, sizeof(*history.values)),
                              .has_finding = pyro_arena_array(scratch, answer->row_count + 1, sizeof(bool)),
                              .starts = pyro_arena_array(scratch, answer->row_count + 1, sizeof(*history.starts))};
    if (!history.runs || !history.values || !history.starts || !history.has_finding)
        return false;
    for (size_t row = answer->row_count; row-- > 0;) {
        if (!pyro_slice_eq(pyro_answer_text(answer, row, R_APPLICATION), advice->application))
            continue;
        size_t i = history.count++;
        history.starts[i] = pyro_answer_int(answer, row, R_START);
        if (history.starts[i] <= advice->first_ms)
            history.advised_at = i;
        history.values[i] =
            pyro_answer_text(answer, row, advice->key.len ? R_FIRST_KEY + advice->column : (size_t)R_VERSION);
        history.runs[i] = (struct pyro_adoption_run){
            .duration_ms = pyro_answer_number(answer, row, R_DURATION),
            .core_ms = pyro_answer_number(answer, row, R_CORE),
            .input_bytes = pyro_answer_number(answer, row, R_INPUT),
            .completed = pyro_slice_is(pyro_answer_text(answer, row, R_STATUS), "completed")};
    }
    mark_findings(state, advice, &history);
    *ret = history;
    return true;
}

/* Whether another recommendation, further up, was adopted by the same run: one set of changes has one saving. */
static bool is_of_earlier_set(const struct adoption *state, size_t index)
{
    struct advice *advice = state->ranked[index];
    size_t sets = 0;
    for (size_t i = 0; i < index; i++) {
        const struct advice *other = state->ranked[i];
        sets = other->set > sets ? other->set : sets;
        if (other->set && other->adopted_ms == advice->adopted_ms &&
            pyro_slice_eq(other->application, advice->application)) {
            advice->set = other->set;
            return true;
        }
    }
    advice->set = sets + 1;
    return false;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

struct border {
    int64_t start_ms;
    struct pyro_slice application;
};

static void at_border(struct pyro_fleet_view *view, const void *context)
{
    const struct border *border = context;
    pyro_fleet_where(view, "application", "=", border->application);
    pyro_fleet_where_number(view, "start_ms", "=", (double)border->start_ms);
}

/* What else changed from the last run before to the first that adopts. */
static enum pyro_status confounded(struct adoption *state, const struct advice *advice, const struct history *history,
                                   struct pyro_slice *ret, struct pyro_error *error)
{
    struct pyro_trend_change changes[PYRO_TREND_CHANGES];
    size_t count, kept = 0;
    const struct border before = {history->starts[advice->span.first - 1], advice->application},
                        after = {history->starts[advice->span.first], advice->application};
    PYRO_TRY(pyro_trend_changes(state->view, at_border, &before, &after, changes, &count, error));
    for (size_t i = 0; i < count; i++) {
        bool advised = false;
        for (size_t k = 0; k < state->count; k++)
            advised |= state->ranked[k]->adopted_ms == advice->adopted_ms &&
                       pyro_slice_eq(state->ranked[k]->application, advice->application) &&
                       pyro_slice_is(state->ranked[k]->key, changes[i].key);
        if (!advised)
            changes[kept++] = changes[i];
    }
    *ret = pyro_trend_words(state->view, changes, kept);
    return PYRO_OK;
}

static bool add_columns(struct pyro_fleet_view *view, struct pyro_fleet_table *table)
{
    pyro_fleet_column(table, "application", "Application", FLEET_TEXT);
    pyro_fleet_column(table, "key", "Setting", FLEET_TEXT);
    pyro_fleet_column(table, "previous", "From", FLEET_TEXT);
    pyro_fleet_column(table, "value", "To", FLEET_TEXT);
    pyro_fleet_column(table, "rule", "Rule", FLEET_TEXT);
    pyro_fleet_column(table, "advised_runs", "Runs with it", FLEET_COUNT);
    pyro_fleet_column(table, "promised_ms", "Promised per run", FLEET_MS);
    pyro_fleet_column(table, "adoption", "Adoption", FLEET_TEXT);
    pyro_fleet_column(table, "adopted_ms", "Since", FLEET_TIME);
    pyro_fleet_column(table, "set", "Set", FLEET_COUNT);
    pyro_fleet_column(table, "runs_since", "Runs since", FLEET_COUNT);
    pyro_fleet_column(table, "verdict", "Saving is", FLEET_TEXT);
    pyro_fleet_column(table, "saved_ms", "Saved", FLEET_MS);
    pyro_fleet_column(table, "saved_low_ms", "At least", FLEET_MS);
    pyro_fleet_column(table, "saved_high_ms", "At most", FLEET_MS);
    pyro_fleet_column(table, "saved_core_ms", "Core hours saved", FLEET_CORE_MS);
    pyro_fleet_column(table, "failed_before", "Failed before", FLEET_SHARE);
    pyro_fleet_column(table, "failed_after", "Failed after", FLEET_SHARE);
    pyro_fleet_column(table, "slow_after", "Slow after", FLEET_SHARE);
    pyro_fleet_column(table, "confounded", "What else changed", FLEET_TEXT);
    if (view->options->prices) {
        pyro_fleet_column(table, "saved_cost", "Cost saved", FLEET_RATIO);
        pyro_fleet_column(table, "currency", "Currency", FLEET_TEXT);
    }
    pyro_fleet_keep(table, "key value adoption saved_cost currency saved_ms verdict previous");
    return pyro_fleet_further_column(view, table);
}

/* ---- Failed and slow runs ---------------------------------------------------------------------------------------- */

static struct pyro_fleet_table *begin_shares(struct pyro_fleet_view *view)
{
    static const struct {
        const char *names[3], *title;
    } shares[] = {
        {{"failed_before", "failed_before_low", "failed_before_high"}, "Failed before"},
        {{"failed_after", "failed_after_low", "failed_after_high"}, "Failed after"},
        {{"slow_before", "slow_before_low", "slow_before_high"}, "Slow before"},
        {{"slow_after", "slow_after_low", "slow_after_high"}, "Slow after"},
    };
    struct pyro_fleet_table *table = pyro_fleet_table(view, "shares", "Failed and slow runs");
    pyro_fleet_column(table, "application", "Application", FLEET_TEXT);
    pyro_fleet_column(table, "key", "Setting", FLEET_TEXT);
    pyro_fleet_column(table, "value", "To", FLEET_TEXT);
    pyro_fleet_column(table, "set", "Set", FLEET_COUNT);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        pyro_fleet_column(table, shares[i].names[0], shares[i].title, FLEET_SHARE);
        pyro_fleet_column(table, shares[i].names[1], "At least", FLEET_SHARE);
        pyro_fleet_column(table, shares[i].names[2], "At most", FLEET_SHARE);
    }
    return table;
}

static void add_shares(struct pyro_fleet_view *view, struct pyro_fleet_table *table, const struct advice *advice,
                       const struct pyro_realised *realised)
{
    static const struct pyro_realised_share unknown = {(double)NAN, (double)NAN, (double)NAN};
    bool known = realised->verdict != PYRO_REALISED_TOO_FEW;
    const struct pyro_realised_share *const shares[] = {&realised->failed_before, &realised->failed_after,
                                                        known ? &realised->slow_before : &unknown,
                                                        known ? &realised->slow_after : &unknown};
    pyro_fleet_add_text(view, table, advice->application);
    pyro_fleet_add_text(view, table, advice->key.len ? advice->key : PYRO_SLICE_LITERAL("(program)"));
    pyro_fleet_add_text(view, table, advice->key.len ? advice->value : PYRO_SLICE_NULL);
    pyro_fleet_add_int(view, table, (int64_t)advice->set);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        pyro_fleet_add_real(view, table, shares[i]->share);
        pyro_fleet_add_real(view, table, shares[i]->low);
        pyro_fleet_add_real(view, table, shares[i]->high);
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void add_saving(struct pyro_fleet_view *view, struct pyro_fleet_table *table,
                       const struct pyro_realised *realised, struct pyro_slice else_changed)
{
    bool known = realised && realised->verdict != PYRO_REALISED_TOO_FEW;
    const double times[] = {known ? realised->saved_ms : NAN, known ? realised->saved_low_ms : NAN,
                            known ? realised->saved_high_ms : NAN, known ? realised->saved_core_ms : NAN};
    const double shares[] = {realised ? realised->failed_before.share : NAN,
                             realised ? realised->failed_after.share : NAN, known ? realised->slow_after.share : NAN};
    pyro_fleet_add_text(view, table, pyro_slice_from(realised ? pyro_realised_verdict_name(realised->verdict) : NULL));
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        pyro_fleet_add_int(view, table, isfinite(times[i]) ? (int64_t)times[i] : PYRO_NONE);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
        pyro_fleet_add_real(view, table, shares[i]);
    pyro_fleet_add_text(view, table, else_changed);
}

static void add_advice(struct pyro_fleet_view *view, struct pyro_fleet_table *table, const struct advice *advice)
{
    static const char *const names[] = {
        [PYRO_ADOPTION_NONE] = "none", [PYRO_ADOPTION_PARTLY] = "partly", [PYRO_ADOPTION_FULL] = "full"};
    bool adopted = advice->adopted_ms != PYRO_NONE;
    pyro_fleet_add_text(view, table, advice->application);
    pyro_fleet_add_text(view, table, advice->key.len ? advice->key : PYRO_SLICE_LITERAL("(program)"));
    pyro_fleet_add_text(view, table, advice->key.len ? advice->previous : PYRO_SLICE_NULL);
    pyro_fleet_add_text(view, table, advice->key.len ? advice->value : PYRO_SLICE_NULL);
    pyro_fleet_add_text(view, table, advice->rule);
    pyro_fleet_add_int(view, table, (int64_t)advice->runs);
    pyro_fleet_add_int(view, table, (int64_t)(advice->saves_ms / advice->runs));
    pyro_fleet_add_text(view, table,
                        pyro_slice_from(adopted && !advice->key.len ? "gone" : names[advice->span.adoption]));
    pyro_fleet_add_int(view, table, advice->adopted_ms);
    pyro_fleet_add_int(view, table, adopted ? (int64_t)advice->set : PYRO_NONE);
    pyro_fleet_add_int(view, table, adopted ? (int64_t)(advice->span.end - advice->span.first) : PYRO_NONE);
}

static enum pyro_status add_row(struct adoption *state, struct pyro_fleet_table *table, size_t index, size_t *judged,
                                struct pyro_error *error)
{
    struct advice *advice = state->ranked[index];
    struct pyro_arena scratch;
    struct history history;
    struct pyro_realised realised;
    struct pyro_slice else_changed = PYRO_SLICE_NULL;
    pyro_arena_init(&scratch, state->view->allocator);
    bool ok = take_history(state, advice, &scratch, &history), has_saving = false;
    if (ok) {
        advice->span = find_span(advice, &history);
        if (advice->span.first < history.count) {
            advice->adopted_ms = history.starts[advice->span.first];
            has_saving = !is_of_earlier_set(state, index);
        }
        if (has_saving)
            ok = pyro_realised_saving(history.runs, advice->span.first, advice->span.end, &scratch, &realised);
    }
    enum pyro_status status = ok ? PYRO_OK : pyro_no_memory(error);
    if (ok && has_saving && realised.verdict != PYRO_REALISED_TOO_FEW) {
        advice->saved_ms = realised.saved_ms;
        advice->saved_core_ms = realised.saved_core_ms;
        advice->saved_cost = cost_of(state, advice);
    }
    if (ok && has_saving && realised.verdict != PYRO_REALISED_TOO_FEW && (*judged)++ < MOST_CONFOUNDED)
        status = confounded(state, advice, &history, &else_changed, error);
    if (status == PYRO_OK) {
        add_advice(state->view, table, advice);
        add_saving(state->view, table, has_saving ? &realised : NULL, else_changed);
        if (state->view->options->prices) {
            pyro_fleet_add_real(state->view, table, advice->saved_cost);
            pyro_fleet_add_text(state->view, table, state->money.currency);
        }
        if (has_saving)
            add_shares(state->view, state->shares, advice, &realised);
        if (state->grouped)
            pyro_fleet_add(state->view, table, &advice->by);
    }
    pyro_arena_done(&scratch);
    return status;
}

static void add_known(double *sum, double value)
{
    if (isfinite(value))
        *sum = isfinite(*sum) ? *sum + value : value;
}

/* Sums of the rows by what the first run that was advised so has. */
static void add_groups(const struct adoption *state)
{
    struct pyro_fleet_view *view = state->view;
    struct pyro_fleet_table *table = pyro_fleet_table(view, "groups", "In all");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "recommendations", "Recommendations", FLEET_COUNT);
    pyro_fleet_column(table, "adopted", "Adopted", FLEET_COUNT);
    pyro_fleet_column(table, "promised_ms", "Promised per run", FLEET_MS);
    pyro_fleet_column(table, "saved_ms", "Saved", FLEET_MS);
    pyro_fleet_column(table, "saved_core_ms", "Core hours saved", FLEET_CORE_MS);
    if (view->options->prices)
        pyro_fleet_column(table, "saved_cost", "Cost saved", FLEET_RATIO);
    for (size_t i = 0; i < state->count; i++) {
        int64_t count = 0, adopted = 0;
        double promised = 0, saved = (double)NAN, saved_core = (double)NAN, saved_cost = (double)NAN;
        for (size_t k = 0; k < state->count; k++) {
            const struct advice *other = state->ranked[k];
            if (!pyro_fleet_same(&state->ranked[i]->by, &other->by))
                continue;
            if (k < i)
                break; /* the row of an earlier one has it */
            count++;
            adopted += other->adopted_ms != PYRO_NONE;
            promised += other->saves_ms / other->runs;
            add_known(&saved, other->saved_ms);
            add_known(&saved_core, other->saved_core_ms);
            add_known(&saved_cost, other->saved_cost);
        }
        if (count == 0)
            continue;
        pyro_fleet_add(view, table, &state->ranked[i]->by);
        pyro_fleet_add_int(view, table, count);
        pyro_fleet_add_int(view, table, adopted);
        pyro_fleet_add_real(view, table, promised);
        pyro_fleet_add_real(view, table, saved);
        pyro_fleet_add_real(view, table, saved_core);
        if (view->options->prices)
            pyro_fleet_add_real(view, table, saved_cost);
    }
    pyro_fleet_rank(view, table, 4, MOST_ADVICE);
}

enum pyro_status pyro_fleet_adoption(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct adoption state = {.view = view};
    struct pyro_slice keys[MOST_KEYS];
    size_t key_count = 0, judged = 0;
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Adoption");
    state.grouped = add_columns(view, table);
    state.shares = begin_shares(view);
    enum pyro_status status = ask_advice(&state, keys, &key_count, error);
    if (status == PYRO_OK && state.count)
        status = ask_runs(&state, keys, key_count, error);
    if (status == PYRO_OK && state.count && view->options->prices)
        status = ask_money(&state, error);
    for (size_t i = 0; status == PYRO_OK && i < state.count; i++)
        status = add_row(&state, table, i, &judged, error);
    if (status == PYRO_OK && view->by.len)
        add_groups(&state);
    pyro_vec_done(&state.all, view->allocator);
    PYRO_TRY(status);
    enum { SAVED = 12 };
    pyro_fleet_rank(view, table, SAVED, MOST_ADVICE);
    if (state.count)
        pyro_fleet_note_newest(view, &state.runs);
    struct pyro_fleet_picture picture = {"bars",     "Time saved by adopted recommendations",    "rows", NULL,
                                         "saved_ms", .series = PYRO_SLICE_LITERAL("application")};
    if (view->by.len) {
        picture.table = "groups";
        picture.series = view->by;
    }
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "A setting is adopted if a later run has the recommended value, or is 80 %% of the way "
                          "there; a change of the program is gone if 3 runs of a new version lack the finding. What "
                          "one run adopted is one set with one saving, shown in its first row.");
    return PYRO_OK;
}
