/* The suggestion functions of pyrometer.h. */
#include <math.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "base/options.h"
#include "fleet/suggest/policy.h"
#include "fleet/suggest/simulate_logs.h"
#include "fleet/suggest/store.h"
#include "fleet/suggest/suggestion_document.h"

static enum pyro_status take_options(const struct pyro_suggest_options *wanted, struct pyro_suggest_options *ret,
                                     struct pyro_error *error)
{
    *ret = (struct pyro_suggest_options){.size = sizeof(*ret)};
    PYRO_TRY(PYRO_TAKE(ret, wanted, error));
    if (ret->input_bytes < 0 || ret->deadline_ms < 0 || !(ret->max_cost >= 0))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "an input, a deadline or a cost is not below 0");
    if (ret->deadline_ms > 0 && ret->max_cost > 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "give a deadline or a maximum cost, not both");
    return PYRO_OK;
}

/* The same settings for the same application and goal are the same suggestion; after a death, for the same run. */
static bool make_id(pyro_suggestion *suggestion)
{
    const struct pyro_suggestion_result *result = &suggestion->result;
    uint64_t hash = pyro_fnv_text(PYRO_FNV, suggestion->application);
    hash = pyro_fnv_text(hash, pyro_slice_from(pyro_suggest_goal_name(result->goal)));
    if (result->rung)
        hash = pyro_fnv_text(hash, result->history.newest->app_id);
    for (size_t i = 0; i < result->chosen.setting_count; i++)
        hash = pyro_fnv_text(pyro_fnv_text(hash, result->chosen.settings[i].key), result->chosen.settings[i].value);
    suggestion->id = pyro_arena_printf(&suggestion->arena, "s%016llx", (unsigned long long)hash);
    return suggestion->id.ptr != NULL;
}

/* Callers get settings as C strings. */
static bool end_texts(struct pyro_arena *arena, struct pyro_candidate *candidate)
{
    for (size_t i = 0; i < candidate->setting_count; i++) {
        struct pyro_suggest_setting *setting = &candidate->settings[i];
        setting->key = pyro_arena_copy(arena, setting->key);
        setting->value = pyro_arena_copy(arena, setting->value);
        setting->previous = pyro_arena_copy(arena, setting->previous);
    }
    return !arena->failed;
}

static enum pyro_status fill(pyro_store *store, const struct pyro_query_viewer *viewer,
                             const struct pyro_suggest_options *wanted, const struct pyro_policy *policy,
                             const struct pyro_options *options, pyro_suggestion *suggestion, struct pyro_error *error)
{
    struct pyro_suggest_run *rows = NULL;
    size_t count = 0;
    struct pyro_suggest_asked asked = {
        .input_bytes = wanted->input_bytes > 0 ? (double)wanted->input_bytes : (double)NAN,
        .deadline_ms = wanted->deadline_ms > 0 ? (double)wanted->deadline_ms : (double)NAN,
        .max_cost = wanted->max_cost > 0 ? wanted->max_cost : (double)NAN,
        .priced = wanted->prices != NULL,
        .now_ms = pyro_store_now_ms(),
        .limits = policy->limits};
    struct pyro_arena *arena = &suggestion->arena;
    suggestion->permitted = pyro_policy_applies(policy, suggestion->application);
    suggestion->deadline_ms = asked.deadline_ms;
    suggestion->max_cost = asked.max_cost;
    if (policy->off) {
        bool ok = pyro_texts_add(&suggestion->result.missing, arena, "permission: the policy turns suggestions off");
        return ok && make_id(suggestion) ? PYRO_OK : pyro_no_memory(error);
    }
    PYRO_TRY(pyro_history_read(store, viewer, suggestion->application, arena, &rows, &count, error));
    PYRO_TRY(pyro_suggest_read_past(store, viewer, suggestion->application, rows, count, arena, &asked, error));
    /* The logs are those of the runs that the first step chooses, which is a function of the rows alone. */
    struct pyro_suggest_history history;
    if (!pyro_history_choose(rows, count, asked.now_ms, arena, &history))
        return pyro_no_memory(error);
    struct pyro_replays replays;
    pyro_replays_init(&replays, &history, options);
    replays.load = wanted->load;
    replays.prices = wanted->prices;
    replays.instance = wanted->instance;
    replays.region = wanted->region;
    const struct pyro_suggest_simulator simulator = pyro_replays_simulator(&replays);
    enum pyro_status status = pyro_suggest_from(rows, count, &asked, wanted->without_logs ? NULL : &simulator, arena,
                                                &suggestion->result, error);
    pyro_replays_done(&replays);
    PYRO_TRY(status);
    struct pyro_suggestion_result *result = &suggestion->result;
    struct pyro_slice why;
    PYRO_TRY(
        pyro_history_explain(store, viewer, suggestion->application, rows, count, history.count, arena, &why, error));
    if (why.ptr && !result->has_settings) {
        result->missing.count = 0; /* what models lack follows from that */
        if (!pyro_texts_add(&result->missing, arena, "%.*s", (int)why.len, why.ptr))
            return pyro_no_memory(error);
    }
    double now = result->current.core_ms, then = result->chosen.core_ms;
    if (result->has_settings && result->has_current && result->chosen.known)
        suggestion->saves_core_ms = now - then;
    return end_texts(arena, &result->chosen) && make_id(suggestion) ? PYRO_OK : pyro_no_memory(error);
}

static enum pyro_status make(pyro_store *store, const struct pyro_query_viewer *viewer, struct pyro_slice application,
                             const struct pyro_suggest_options *wanted, const struct pyro_policy *policy,
                             const struct pyro_options *options, pyro_suggestion **ret, struct pyro_error *error)
{
    pyro_suggestion *suggestion = pyro_allocate(options->allocator, sizeof(*suggestion));
    if (!suggestion)
        return pyro_no_memory(error);
    *suggestion = (pyro_suggestion){.result.input_bytes = NAN};
    pyro_arena_init(&suggestion->arena, options->allocator);
    suggestion->application = pyro_arena_copy(&suggestion->arena, application);
    enum pyro_status status = suggestion->application.ptr
                                  ? fill(store, viewer, wanted, policy, options, suggestion, error)
                                  : pyro_no_memory(error);
    if (status == PYRO_OK)
        *ret = suggestion;
    else
        pyro_suggestion_free(suggestion);
    return status;
}

static enum pyro_status load_policy(const struct pyro_suggest_options *wanted, struct pyro_arena *arena,
                                    struct pyro_policy *ret, struct pyro_error *error)
{
    *ret = pyro_policy_none();
    return wanted->policy ? pyro_policy_load(wanted->policy, arena, ret, error) : PYRO_OK;
}

enum pyro_status pyro_suggest_for(pyro_store *store, const struct pyro_query_viewer *viewer, const char *application,
                                  const struct pyro_suggest_options *wanted, const struct pyro_options *options,
                                  pyro_suggestion **ret, struct pyro_error *error)
{
    struct pyro_suggest_options how;
    struct pyro_options own;
    struct pyro_policy policy;
    struct pyro_arena arena;
    pyro_error_clear(error);
    if (!store || !application || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the application is missing");
    PYRO_TRY(take_options(wanted, &how, error));
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    pyro_arena_init(&arena, own.allocator);
    enum pyro_status status = load_policy(&how, &arena, &policy, error);
    if (status == PYRO_OK)
        status = make(store, viewer, pyro_slice_from(application), &how, &policy, &own, ret, error);
    pyro_arena_done(&arena);
    return status;
}

enum pyro_status pyro_suggest(pyro_store *store, const char *application, const struct pyro_suggest_options *wanted,
                              const struct pyro_options *options, pyro_suggestion **ret, struct pyro_error *error)
{
    return pyro_suggest_for(store, NULL, application, wanted, options, ret, error);
}

void pyro_suggestion_free(pyro_suggestion *suggestion)
{
    if (!suggestion)
        return;
    const struct pyro_allocator *allocator = suggestion->arena.allocator;
    pyro_arena_done(&suggestion->arena);
    pyro_release(allocator, suggestion);
}

size_t pyro_suggestion_setting_count(const pyro_suggestion *suggestion)
{
    return suggestion && suggestion->result.has_settings ? suggestion->result.chosen.setting_count : 0;
}

enum pyro_status pyro_suggestion_setting(const pyro_suggestion *suggestion, size_t index,
                                         struct pyro_suggested_setting *ret)
{
    if (index >= pyro_suggestion_setting_count(suggestion))
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_suggest_setting *setting = &suggestion->result.chosen.settings[index];
    const struct pyro_suggested_setting found = {
        .key = setting->key.ptr, .value = setting->value.ptr, .previous = setting->previous.ptr};
    return PYRO_GIVE(ret, &found);
}

int pyro_suggestion_is_permitted(const pyro_suggestion *suggestion)
{
    return suggestion && suggestion->permitted;
}

/* ---- Writing --------------------------------------------------------------------------------------------------------
 */

static void write_json(struct pyro_output *output, const pyro_suggestion *suggestion)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_suggestion_json(&json, NULL, suggestion);
}

enum pyro_status pyro_suggestion_write(const pyro_suggestion *suggestion, enum pyro_suggestion_format format,
                                       const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_output output;
    pyro_error_clear(error);
    if (!suggestion || !pyro_can_write(writer) || (unsigned)format > PYRO_SUGGESTION_SPARK_DEFAULTS)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the suggestion or the writer is missing, or there is no such format");
    pyro_output_init(&output, writer, suggestion->arena.allocator);
    switch (format) {
    case PYRO_SUGGESTION_JSON:
        write_json(&output, suggestion);
        pyro_strbuf_add_char(&output.buffer, '\n');
        break;
    case PYRO_SUGGESTION_SPARK_SUBMIT:
        pyro_suggestion_flags(&output.buffer, suggestion);
        break;
    case PYRO_SUGGESTION_SPARK_DEFAULTS:
        pyro_suggestion_defaults(&output.buffer, suggestion);
        break;
    default:
        pyro_suggestion_text(&output.buffer, suggestion);
    }
    return pyro_output_done(&output, error);
}

/* ---- Every application ----------------------------------------------------------------------------------------------
 */

/* A suggestion takes much more memory than what is written of it: only that is kept. */
struct written {
    double saves_core_ms;
    size_t from, len; /* of the texts, which are in the order of the names of applications */
};

struct all {
    pyro_store *store;
    const struct pyro_suggest_options *wanted;
    const struct pyro_options *options;
    struct pyro_policy policy;
    struct pyro_arena arena; /* of the policy */
    enum pyro_suggestion_format format;
    PYRO_VEC(struct written) items;
    struct pyro_strbuf texts;
    struct pyro_strbuf last, after; /* application of the last item; where the last page ended, empty: the end */
};

static int by_saving(const void *left, const void *right)
{
    const struct written *a = left, *b = right;
    if (a->saves_core_ms < b->saves_core_ms || a->saves_core_ms > b->saves_core_ms)
        return a->saves_core_ms > b->saves_core_ms ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

static enum pyro_status write_text(struct all *all, const pyro_suggestion *suggestion, struct pyro_error *error)
{
    struct pyro_output output;
    const struct pyro_writer writer = pyro_strbuf_writer(&all->texts);
    if (all->format != PYRO_SUGGESTION_JSON) {
        pyro_suggestion_text(&all->texts, suggestion);
        return all->texts.failed ? pyro_no_memory(error) : PYRO_OK;
    }
    pyro_output_init(&output, &writer, all->options->allocator);
    write_json(&output, suggestion);
    return pyro_output_done(&output, error);
}

static enum pyro_status suggest_one(struct all *all, struct pyro_slice application, struct pyro_error *error)
{
    pyro_suggestion *suggestion = NULL;
    size_t from = all->texts.len;
    enum pyro_status status =
        make(all->store, NULL, application, all->wanted, &all->policy, all->options, &suggestion, error);
    if (status != PYRO_OK || !suggestion)
        return status;
    status = write_text(all, suggestion, error);
    struct written *item = pyro_vec_push(&all->items, all->options->allocator);
    if (item)
        *item = (struct written){suggestion->saves_core_ms, from, all->texts.len - from};
    pyro_suggestion_free(suggestion);
    return status == PYRO_OK && !item ? pyro_no_memory(error) : status;
}

/* Each application once: runs come by the names of their applications. A question has a limit of groups, but none of
 * rows in pages. */
static enum pyro_status suggest_page(struct all *all, struct pyro_arena *arena, struct pyro_error *error)
{
#define RUNS "{\"from\":\"runs\",\"fields\":[\"application\"],\"order\":{\"by\":\"application\"},\"limit\":10000"
    static const char first[] = RUNS "}", next[] = RUNS ",\"after\":%s}";
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_suggest_ask(all->store, NULL, all->after.len ? next : first, pyro_strbuf_slice(&all->after), arena,
                              &answer, error));
    pyro_strbuf_clear(&all->after);
    if (answer.after.ptr)
        pyro_strbuf_add_slice(&all->after, answer.after);
    for (size_t i = 0; i < answer.row_count; i++) {
        struct pyro_slice application = pyro_answer_text(&answer, i, 0);
        if (!application.ptr || (all->items.count && pyro_slice_eq(application, pyro_strbuf_slice(&all->last))))
            continue;
        PYRO_TRY(suggest_one(all, application, error));
        pyro_strbuf_clear(&all->last);
        pyro_strbuf_add_slice(&all->last, application);
    }
    return all->last.failed || all->after.failed ? pyro_no_memory(error) : PYRO_OK;
}

static enum pyro_status suggest_each(struct all *all, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    PYRO_TRY(load_policy(all->wanted, &all->arena, &all->policy, error));
    do {
        struct pyro_arena page;
        pyro_arena_init(&page, all->options->allocator);
        status = suggest_page(all, &page, error);
        pyro_arena_done(&page);
    } while (status == PYRO_OK && all->after.len);
    if (status == PYRO_OK && all->items.count > 1)
        qsort(all->items.items, all->items.count, sizeof(*all->items.items), by_saving);
    return status;
}

static enum pyro_status write_all(const struct all *all, const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_json_writer json;
    bool as_json = all->format == PYRO_SUGGESTION_JSON;
    pyro_output_init(&output, writer, all->options->allocator);
    pyro_json_writer_init(&json, &output);
    if (as_json) {
        pyro_json_begin(&json, NULL, '{');
        pyro_json_line(&json);
        pyro_json_string(&json, "schema", "pyrometer.suggestions/1");
        pyro_json_line(&json);
        pyro_json_begin(&json, "suggestions", '[');
    }
    for (size_t i = 0; i < all->items.count; i++) {
        const struct written *item = &all->items.items[i];
        if (as_json) {
            pyro_json_line(&json);
            pyro_json_begin_value(&json);
        } else if (i > 0) {
            pyro_strbuf_add_char(&output.buffer, '\n');
        }
        pyro_strbuf_add(&output.buffer, all->texts.data + item->from, item->len);
        pyro_output_flush(&output, false);
    }
    if (as_json) {
        pyro_json_end(&json, ']');
        pyro_json_end(&json, '}');
        pyro_strbuf_add_char(&output.buffer, '\n');
    }
    return pyro_output_done(&output, error);
}

enum pyro_status pyro_suggest_all(pyro_store *store, const struct pyro_suggest_options *wanted,
                                  enum pyro_suggestion_format format, const struct pyro_options *options,
                                  const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_suggest_options how;
    struct pyro_options own;
    struct all all = {.store = store, .wanted = &how, .options = &own, .format = format};
    pyro_error_clear(error);
    if (!store || !pyro_can_write(writer) || (format != PYRO_SUGGESTION_TEXT && format != PYRO_SUGGESTION_JSON))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the store or the writer is missing, or there is no such format");
    PYRO_TRY(take_options(wanted, &how, error));
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    pyro_arena_init(&all.arena, own.allocator);
    pyro_strbuf_init(&all.texts, own.allocator);
    pyro_strbuf_init(&all.last, own.allocator);
    pyro_strbuf_init(&all.after, own.allocator);
    enum pyro_status status = suggest_each(&all, error);
    if (status == PYRO_OK)
        status = write_all(&all, writer, error);
    pyro_vec_done(&all.items, own.allocator);
    pyro_strbuf_done(&all.texts);
    pyro_strbuf_done(&all.last);
    pyro_strbuf_done(&all.after);
    pyro_arena_done(&all.arena);
    return status;
}
