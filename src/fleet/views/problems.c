/* Failures and errors by cause. */
#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/numbers/saturate.h"
#include "fleet/views/views.h"
#include "model/failure_text.h"
#include "model/outcome/run_outcome.h"

enum { CAUSE_BYTES = 300 };

/* One cause: messages that differ in numbers, ids and addresses only. */
struct problem {
    struct pyro_slice kind, cause, example; /* of the newest run or input that had it */
    int64_t count, last_ms;
    struct pyro_query_value by; /* what the view groups by; null: nothing, or not known */
};

struct gathered {
    struct pyro_fleet_view *view;
    PYRO_VEC(struct problem) problems;
    struct pyro_map known; /* hash of kind and message -> row + 1 */
    bool failed;
};

static uint64_t hash_of(struct pyro_slice kind, struct pyro_slice message, const struct pyro_query_value *by)
{
    return pyro_fnv(pyro_fleet_hash(pyro_message_hash(message), by), kind.ptr, kind.len);
}

/* The newest one of a cause comes first. */
static void add(struct gathered *all, struct pyro_slice kind, struct pyro_slice text, struct pyro_slice example,
                int64_t time_ms, const struct pyro_query_value *by)
{
    struct pyro_slice message = text.ptr ? pyro_telling_line(text) : PYRO_SLICE_LITERAL("");
    uint64_t *row = pyro_map_put(&all->known, hash_of(kind, message, by), NULL);
    struct problem *added = row && !*row ? pyro_vec_push(&all->problems, all->view->allocator) : NULL;
    if (!row || (!*row && !added)) {
        all->failed = true;
        return;
    }
    if (added) {
        message.len = message.len < CAUSE_BYTES ? message.len : CAUSE_BYTES;
        *added = (struct problem){kind, message, example, 0, time_ms, *by};
        *row = all->problems.count;
    }
    all->problems.items[*row - 1].count++;
}

/* ---- What is asked ---- */

static enum pyro_status add_findings(struct gathered *all, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    static const char fields[] = "\"rule\",\"cause\",\"app_id\",\"start_ms\"";
    pyro_fleet_from(all->view, "findings");
    pyro_fleet_where_number(all->view, "folded", "=", 0);
    pyro_fleet_where(all->view, "category", "=", PYRO_SLICE_LITERAL("failures"));
    PYRO_TRY(pyro_fleet_ask(all->view, &answer, error,
                            "\"fields\":[%s%s],\"order\":{\"by\":\"start_ms\","
                            "\"descending\":true},\"limit\":20000",
                            fields, pyro_fleet_further_field(all->view, fields)));
    for (size_t i = 0; i < answer.row_count; i++) {
        add(all, pyro_answer_text(&answer, i, 0), pyro_answer_text(&answer, i, 1), pyro_answer_text(&answer, i, 2),
            pyro_answer_int(&answer, i, 3), pyro_fleet_by_value(all->view, &answer, i));
    }
    pyro_fleet_note_newest(all->view, &answer);
    return PYRO_OK;
}

static enum pyro_status add_errors(struct gathered *all, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    const struct pyro_query_value none = {.kind = PYRO_VALUE_NULL};
    const struct pyro_fleet_options *options = all->view->options;
    if (options->app || options->user || options->tag_count || options->max_count) {
        pyro_fleet_note(all->view, "Errors of the crawler are not shown: they belong to no application, user or tag.");
        return PYRO_OK;
    }
    pyro_fleet_from(all->view, "errors");
    PYRO_TRY(pyro_fleet_ask(all->view, &answer, error,
                            "\"fields\":[\"step\",\"type\",\"message\",\"app_id\",\"time_ms\"],\"order\":{\"by\":"
                            "\"time_ms\",\"descending\":true},\"limit\":20000"));
    for (size_t i = 0; i < answer.row_count; i++) {
        struct pyro_slice step = pyro_answer_text(&answer, i, 0), type = pyro_answer_text(&answer, i, 1);
        struct pyro_slice kind = pyro_arena_printf(all->view->arena, "%.*s: %.*s", (int)step.len,
                                                   step.ptr ? step.ptr : "", (int)type.len, type.ptr ? type.ptr : "");
        add(all, kind, pyro_answer_text(&answer, i, 2), pyro_answer_text(&answer, i, 3), pyro_answer_int(&answer, i, 4),
            &none);
    }
    pyro_fleet_note_newest(all->view, &answer);
    return PYRO_OK;
}

/* Runs that were kept before stores knew outcomes have a state only; it is one of those words. */
static enum pyro_status add_outcomes(struct pyro_fleet_view *view, struct pyro_error *error)
{
    enum { OUTCOME, STATE, RUNS, CORE_MS, LAST_MS };
    struct pyro_query_answer answer;
    struct pyro_fleet_table *table = pyro_fleet_table(view, "outcomes", "Runs by outcome");
    pyro_fleet_column(table, "outcome", "Outcome", FLEET_TEXT);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "last_ms", "Last start", FLEET_TIME);
    pyro_fleet_from(view, "runs");
    PYRO_TRY(pyro_fleet_ask(view, &answer, error,
                            "\"group\":[{\"field\":\"outcome\"},{\"field\":\"status\"}],\"measures\":["
                            "{\"as\":\"runs\",\"op\":\"count\"},{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":"
                            "\"core_ms\"},{\"as\":\"last_ms\",\"op\":\"max\",\"field\":\"start_ms\"}]"));
    for (enum pyro_run_outcome word = 0; word <= PYRO_RUN_OUTCOMES; word++) {
        int64_t runs = 0, core_ms = PYRO_NONE, last_ms = PYRO_NONE;
        for (size_t row = 0; row < answer.row_count; row++) {
            struct pyro_slice outcome = pyro_answer_text(&answer, row, OUTCOME);
            if (pyro_run_outcome_read(outcome.len ? outcome : pyro_answer_text(&answer, row, STATE)) != word)
                continue;
            int64_t last = pyro_answer_int(&answer, row, LAST_MS), core = pyro_answer_int(&answer, row, CORE_MS);
            runs += pyro_answer_int(&answer, row, RUNS);
            if (core != PYRO_NONE)
                core_ms = core_ms == PYRO_NONE ? core : pyro_add_saturating(core_ms, core);
            if (last != PYRO_NONE)
                last_ms = last_ms == PYRO_NONE || last > last_ms ? last : last_ms;
        }
        if (runs == 0)
            continue;
        pyro_fleet_add_text(view, table,
                            word == PYRO_RUN_OUTCOMES ? PYRO_SLICE_LITERAL("unknown")
                                                      : pyro_slice_from(pyro_run_outcome_name(word)));
        pyro_fleet_add_int(view, table, runs);
        pyro_fleet_add_int(view, table, core_ms);
        pyro_fleet_add_int(view, table, last_ms);
    }
    return PYRO_OK;
}

enum pyro_status pyro_fleet_problems(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct gathered all = {.view = view};
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Problems");
    pyro_fleet_column(table, "kind", "Kind", FLEET_TEXT);
    pyro_fleet_column(table, "count", "Count", FLEET_COUNT);
    pyro_fleet_column(table, "last_ms", "Last", FLEET_TIME);
    pyro_fleet_column(table, "cause", "Cause", FLEET_TEXT);
    pyro_fleet_column(table, "example", "Example", FLEET_TEXT);
    bool grouped = pyro_fleet_further_column(view, table);
    pyro_map_init(&all.known, view->allocator);
    enum pyro_status status = add_findings(&all, error);
    if (status == PYRO_OK)
        status = add_errors(&all, error);
    for (size_t i = 0; status == PYRO_OK && i < all.problems.count; i++) {
        const struct problem *problem = &all.problems.items[i];
        pyro_fleet_add_text(view, table, problem->kind);
        pyro_fleet_add_int(view, table, problem->count);
        pyro_fleet_add_int(view, table, problem->last_ms);
        pyro_fleet_add_text(view, table, problem->cause);
        pyro_fleet_add_text(view, table, problem->example);
        if (grouped)
            pyro_fleet_add(view, table, &problem->by);
    }
    pyro_map_done(&all.known);
    pyro_vec_done(&all.problems, view->allocator);
    PYRO_TRY(status);
    if (all.failed)
        return pyro_no_memory(error);
    pyro_fleet_rank(view, table, 1, FLEET_TABLE_ROWS);
    PYRO_TRY(add_outcomes(view, error));
    const struct pyro_fleet_picture picture = {"bars", "Problems", "rows",
                                               NULL,   "count",    .series = PYRO_SLICE_LITERAL("cause")};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view,
                    "Messages that differ only in numbers, ids and addresses are one cause; the newest one is shown.");
    return PYRO_OK;
}
