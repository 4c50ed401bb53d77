/* Reviews what was applied, by the runs since, and takes back what does harm. */
#include "fleet/suggest/review.h"

#include <math.h>

#include "base/collections/digest.h"
#include "base/options.h"
#include "fleet/suggest/file.h"
#include "fleet/suggest/policy.h"
#include "fleet/suggest/store.h"
#include "fleet/suggest/suggestion_document.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { START, DURATION, CORE, INPUT, STATUS, APP_ID, ATTEMPT, FIRST_SETTING };

/* The runs of the application with the settings of the suggestion. */
static enum pyro_status ask_runs(pyro_store *store, const struct pyro_kept_suggestion *kept, struct pyro_arena *arena,
                                 struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct pyro_strbuf question;
    pyro_strbuf_init(&question, arena->allocator);
    pyro_strbuf_add_text(&question,
                         "{\"from\":\"runs\",\"where\":[{\"field\":\"is_final_attempt\",\"op\":\"=\",\"value\":true},"
                         "{\"field\":\"start_ms\",\"op\":\"exists\",\"value\":true},"
                         "{\"field\":\"application\",\"op\":\"=\",\"value\":%s}],\"fields\":[\"start_ms\","
                         "\"duration_ms\",\"core_ms\",\"input_bytes\",\"status\",\"app_id\",\"attempt\"");
    for (size_t i = 0; i < kept->setting_count; i++) {
        pyro_strbuf_add_char(&question, ',');
        struct pyro_slice field = pyro_arena_printf(arena, "property.%s", kept->settings[i].key.ptr);
        pyro_add_json(&question, field);
    }
    pyro_strbuf_add_text(&question, "],\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":400}");
    enum pyro_status status = question.failed || arena->failed ? pyro_no_memory(error) : PYRO_OK;
    if (status == PYRO_OK)
        status = pyro_suggest_ask(store, NULL, question.data, kept->row.application, arena, ret, error);
    pyro_strbuf_done(&question);
    return status;
}

static bool adopts(const struct pyro_kept_suggestion *kept, const struct pyro_query_answer *answer, size_t row)
{
    for (size_t i = 0; i < kept->setting_count; i++) {
        const struct pyro_suggest_setting *setting = &kept->settings[i];
        struct pyro_slice actual = pyro_answer_text(answer, row, FIRST_SETTING + i);
        if (pyro_adoption_of(setting->key, setting->previous, setting->value, actual) != PYRO_ADOPTION_FULL)
            return false;
    }
    return kept->setting_count > 0;
}

static enum pyro_status read_runs(pyro_store *store, const struct pyro_kept_suggestion *kept, struct pyro_arena *arena,
                                  struct pyro_reviewed_run **ret, size_t *ret_count, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    PYRO_TRY(ask_runs(store, kept, arena, &answer, error));
    struct pyro_reviewed_run *runs = pyro_arena_array(arena, answer.row_count + 1, sizeof(*runs));
    if (!runs)
        return pyro_no_memory(error);
    for (size_t i = 0; i < answer.row_count; i++) {
        size_t row = answer.row_count - 1 - i;
        struct pyro_slice status = pyro_answer_text(&answer, row, STATUS);
        runs[i] = (struct pyro_reviewed_run){
            .start_ms = (int64_t)pyro_answer_number(&answer, row, START),
            .run = {pyro_answer_number(&answer, row, DURATION), pyro_answer_number(&answer, row, CORE),
                    pyro_answer_number(&answer, row, INPUT), pyro_slice_is(status, "completed")},
            .adopts = adopts(kept, &answer, row)};
        if (!pyro_slice_is(status, "failed") || !runs[i].adopts)
            continue;
        struct pyro_slice death = PYRO_SLICE_NULL;
        const struct pyro_suggest_run run = {.app_id = pyro_answer_text(&answer, row, APP_ID),
                                             .attempt = pyro_answer_text(&answer, row, ATTEMPT)};
        PYRO_TRY(pyro_suggest_read_death(store, NULL, &run, arena, &death, error));
        runs[i].died_of_it = death.ptr && !pyro_slice_is(death, "preemption");
    }
    *ret = runs;
    *ret_count = answer.row_count;
    return PYRO_OK;
}

/* All that the store keeps: several suggestions may have changed one file. */
struct all_kept {
    struct pyro_kept_suggestion *items;
    size_t count;
};

/* The newest suggestion of the file says what it is to be. */
static enum pyro_status check_file(const struct all_kept *all, struct pyro_arena *arena, struct pyro_review *review,
                                   bool *ret_newest, struct pyro_error *error)
{
    const struct pyro_kept_suggestion *kept = review->kept;
    char hash[PYRO_DIGEST_BYTES];
    struct pyro_slice text;
    bool exists = false;
    *ret_newest = true;
    if (!kept->target.ptr)
        return PYRO_OK;
    const struct pyro_kept_suggestion *last = pyro_kept_suggestion_last(all->items, all->count, kept->target);
    *ret_newest = last == kept;
    PYRO_TRY(pyro_defaults_file_read(kept->target.ptr, arena, &text, &exists, error));
    pyro_digest(text, hash);
    if (!exists || !last || !last->after.ptr || !pyro_slice_is(last->after, hash)) {
        review->action = PYRO_REVIEW_CHANGED;
        review->reason = exists ? "the file was changed since" : "the file was removed since";
    }
    return PYRO_OK;
}

/* The former file takes its place again: nothing else has changed it, as its hash says. */
static enum pyro_status put_back(struct pyro_review *review, struct pyro_arena *arena, struct pyro_error *error)
{
    const struct pyro_kept_suggestion *kept = review->kept;
    struct pyro_slice before = PYRO_SLICE_LITERAL("");
    bool exists = false;
    /* The store says which file: no other one than the copy that applying makes. */
    struct pyro_slice copy = pyro_defaults_file_copy(arena, kept->target, kept->row.id);
    if (!copy.ptr)
        return pyro_no_memory(error);
    if (kept->kept.ptr && !pyro_slice_eq(kept->kept, copy))
        return pyro_error_set(error, PYRO_ERROR_INPUT, "%.300s is no former file of %.300s, which is unchanged",
                              kept->kept.ptr, kept->target.ptr);
    if (kept->kept.ptr)
        PYRO_TRY(pyro_defaults_file_read(kept->kept.ptr, arena, &before, &exists, error));
    char hash[PYRO_DIGEST_BYTES];
    pyro_digest(before, hash);
    if (kept->kept.ptr && (!exists || !kept->before.ptr || !pyro_slice_is(kept->before, hash)))
        return pyro_error_set(error, PYRO_ERROR_INPUT, "%.300s is not the former file any more; %.300s is unchanged",
                              kept->kept.ptr, kept->target.ptr);
    struct pyro_slice now;
    PYRO_TRY(pyro_defaults_file_read(kept->target.ptr, arena, &now, &exists, error));
    pyro_digest(now, hash);
    if (!exists || !kept->after.ptr || !pyro_slice_is(kept->after, hash))
        return pyro_error_set(error, PYRO_ERROR_INPUT, "%.300s was changed meanwhile, and it stays so",
                              kept->target.ptr);
    PYRO_TRY(pyro_defaults_file_write(kept->target.ptr, kept->target.ptr, now, before, error));
    review->rolled_back = true;
    return PYRO_OK;
}

static enum pyro_status roll_back(struct pyro_review *review, struct pyro_arena *arena, struct pyro_error *error)
{
    int lock = -1;
    PYRO_TRY(pyro_defaults_file_lock(review->kept->target.ptr, &lock, error));
    enum pyro_status status = put_back(review, arena, error);
    pyro_defaults_file_unlock(lock);
    return status;
}

static enum pyro_status review_one(pyro_store *store, const struct all_kept *all, bool takes_back,
                                   struct pyro_arena *arena, struct pyro_review *review, struct pyro_error *error)
{
    const struct pyro_kept_suggestion *kept = review->kept;
    struct pyro_reviewed_run *runs = NULL;
    size_t count = 0;
    bool newest = true;
    PYRO_TRY(read_runs(store, kept, arena, &runs, &count, error));
    if (!pyro_review_judge(runs, count, arena, review))
        return pyro_no_memory(error);
    PYRO_TRY(check_file(all, arena, review, &newest, error));
    /* The former file lacks what the newer suggestion set. */
    if (review->action == PYRO_REVIEW_ROLL_BACK && !newest)
        review->reason = "it does harm, but a newer suggestion changed the file too: take that back first";
    struct pyro_slice reason = pyro_slice_from(review->reason);
    switch (review->action) {
    case PYRO_REVIEW_KEEP:
        return pyro_kept_suggestion_move(store, kept, "kept", reason, error);
    case PYRO_REVIEW_CHANGED:
        return pyro_kept_suggestion_move(store, kept, "refused", reason, error);
    case PYRO_REVIEW_ROLL_BACK:
        if (!takes_back || !kept->target.ptr || !newest)
            return PYRO_OK;
        PYRO_TRY(roll_back(review, arena, error));
        return pyro_kept_suggestion_move(store, kept, "rolled_back", reason, error);
    default:
        return PYRO_OK;
    }
}

/* ---- The document ---------------------------------------------------------------------------------------------------
 */

static void write_share(struct pyro_json_writer *json, const char *key, const struct pyro_realised_share *share)
{
    pyro_json_begin(json, key, '{');
    pyro_json_real(json, "share", share ? share->share : (double)NAN);
    pyro_json_real(json, "low", share ? share->low : (double)NAN);
    pyro_json_real(json, "high", share ? share->high : (double)NAN);
    pyro_json_end(json, '}');
}

/* What is slow is known only where there are enough runs to compare. */
static bool knows_slow(const struct pyro_realised *realised)
{
    return realised->verdict != PYRO_REALISED_TOO_FEW;
}

static void write_realised(struct pyro_json_writer *json, const struct pyro_realised *realised)
{
    bool known = knows_slow(realised);
    pyro_json_begin(json, "realised", '{');
    pyro_json_string(json, "verdict", pyro_realised_verdict_name(realised->verdict));
    pyro_json_count(json, "before", realised->before);
    pyro_json_count(json, "after", realised->after);
    pyro_json_begin(json, "shift", '{');
    pyro_json_real(json, "low", realised->shift.low);
    pyro_json_real(json, "expected", realised->shift.shift);
    pyro_json_real(json, "high", realised->shift.high);
    pyro_json_end(json, '}');
    pyro_json_real(json, "saved_ms", realised->saved_ms);
    pyro_json_real(json, "saved_core_ms", realised->saved_core_ms);
    pyro_json_real(json, "failed_share_before", realised->failed_before.share);
    pyro_json_real(json, "failed_share_after", realised->failed_after.share);
    write_share(json, "failed_before", &realised->failed_before);
    write_share(json, "failed_after", &realised->failed_after);
    write_share(json, "slow_before", known ? &realised->slow_before : NULL);
    write_share(json, "slow_after", known ? &realised->slow_after : NULL);
    pyro_json_real(json, "slow_ms", known ? realised->slow_ms : (double)NAN);
    pyro_json_end(json, '}');
}

static void write_review(struct pyro_json_writer *json, const struct pyro_review *review)
{
    const struct pyro_suggestion_row *row = &review->kept->row;
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "id", row->id);
    pyro_json_text(json, "application", row->application);
    pyro_json_text(json, "goal", row->goal);
    pyro_json_text(json, "target", row->target);
    pyro_json_begin(json, "settings", '{');
    for (size_t i = 0; i < review->kept->setting_count; i++) {
        pyro_json_key(json, review->kept->settings[i].key);
        pyro_json_text(json, NULL, review->kept->settings[i].value);
    }
    pyro_json_end(json, '}');
    pyro_json_count(json, "runs", review->runs);
    if (review->has_realised)
        write_realised(json, &review->realised);
    else
        pyro_json_null(json, "realised");
    pyro_json_string(json, "action", pyro_review_action_name(review->action));
    pyro_json_string(json, "reason", review->reason);
    pyro_json_bool(json, "rolled_back", review->rolled_back);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_output *output, const struct pyro_review *reviews, size_t count)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.suggestion_review/1");
    pyro_json_line(&json);
    pyro_json_begin(&json, "reviews", '[');
    for (size_t i = 0; i < count; i++)
        write_review(&json, &reviews[i]);
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}

static void add_shares(struct pyro_strbuf *text, const char *what, const struct pyro_realised_share *before,
                       const struct pyro_realised_share *after)
{
    pyro_strbuf_printf(text, "; %s: ", what);
    pyro_human_share(text, before->share);
    pyro_strbuf_add_text(text, " before, ");
    pyro_human_share(text, after->share);
    pyro_strbuf_add_text(text, " after");
}

static void add_realised(struct pyro_strbuf *text, const struct pyro_realised *realised)
{
    if (isfinite(realised->saved_ms)) {
        pyro_strbuf_add_text(text, realised->saved_ms < 0 ? ", lost " : ", saved ");
        pyro_human_ms(text, (int64_t)fmin(fabs(realised->saved_ms), 9e18));
    }
    add_shares(text, "failed", &realised->failed_before, &realised->failed_after);
    if (knows_slow(realised))
        add_shares(text, "slow", &realised->slow_before, &realised->slow_after);
}

static void write_text(struct pyro_strbuf *text, const struct pyro_review *reviews, size_t count)
{
    static const char *const words[] = {[PYRO_REVIEW_WAIT] = "wait",
                                        [PYRO_REVIEW_KEEP] = "keep",
                                        [PYRO_REVIEW_ROLL_BACK] = "roll back",
                                        [PYRO_REVIEW_CHANGED] = "leave alone"};
    if (count == 0)
        pyro_strbuf_add_text(text, "No applied suggestion waits for a review.\n");
    for (size_t i = 0; i < count; i++) {
        const struct pyro_review *review = &reviews[i];
        pyro_strbuf_add_slice(text, review->kept->row.application);
        pyro_strbuf_add_text(text, "  ");
        pyro_strbuf_add_slice(text, review->kept->row.id);
        pyro_strbuf_printf(text, ": %s%s: %s (%zu run%s", words[review->action], review->rolled_back ? " (done)" : "",
                           review->reason, review->runs, review->runs == 1 ? "" : "s");
        if (review->has_realised)
            add_realised(text, &review->realised);
        pyro_strbuf_add_text(text, ")\n");
    }
}

static enum pyro_status review_all(pyro_store *store, const struct pyro_review_options *how, struct pyro_arena *arena,
                                   struct pyro_review **ret, size_t *ret_count, struct pyro_error *error)
{
    struct all_kept all = {0};
    struct pyro_policy policy = pyro_policy_none();
    if (how->policy)
        PYRO_TRY(pyro_policy_load(how->policy, arena, &policy, error));
    PYRO_TRY(pyro_kept_suggestions(store, PYRO_SLICE_NULL, arena, &all.items, &all.count, error));
    *ret = pyro_arena_array(arena, all.count + 1, sizeof(**ret));
    if (!*ret)
        return pyro_no_memory(error);
    for (size_t i = 0; i < all.count; i++) {
        const struct pyro_suggestion_row *row = &all.items[i].row;
        if (!pyro_slice_is(row->state, "applied") ||
            (how->application && !pyro_slice_is(row->application, how->application)))
            continue;
        struct pyro_review *review = &(*ret)[(*ret_count)++];
        review->kept = &all.items[i];
        PYRO_TRY(review_one(store, &all, how->rollback && !policy.off, arena, review, error));
    }
    return PYRO_OK;
}

enum pyro_status pyro_suggestions_review(pyro_store *store, const struct pyro_review_options *wanted,
                                         enum pyro_suggestion_format format, const struct pyro_options *options,
                                         const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_review_options how = {.size = sizeof(how)};
    struct pyro_options own;
    struct pyro_arena arena;
    struct pyro_output output;
    struct pyro_review *reviews = NULL;
    size_t count = 0;
    pyro_error_clear(error);
    if (!store || !pyro_can_write(writer) || (format != PYRO_SUGGESTION_TEXT && format != PYRO_SUGGESTION_JSON))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the store or the writer is missing, or there is no such format");
    PYRO_TRY(PYRO_TAKE(&how, wanted, error));
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    pyro_arena_init(&arena, own.allocator);
    enum pyro_status status = review_all(store, &how, &arena, &reviews, &count, error);
    if (status == PYRO_OK) {
        pyro_output_init(&output, writer, own.allocator);
        if (format == PYRO_SUGGESTION_JSON)
            write_json(&output, reviews, count);
        else
            write_text(&output.buffer, reviews, count);
        status = pyro_output_done(&output, error);
    }
    pyro_arena_done(&arena);
    return status;
}
