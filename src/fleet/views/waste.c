/* Core time that was allocated and not used, what fixes would save of it, and money. */
#include "fleet/views/money.h"

#include <math.h>

enum column { RUNS = 1, CORE, IDLE, FAILED_TASKS, WASTED, SAVES };

static enum pyro_status ask_sums(struct pyro_fleet_view *view, struct pyro_query_answer *ret, struct pyro_error *error)
{
    pyro_fleet_from(view, "runs");
    return pyro_fleet_ask(view, ret, error,
                          "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                          "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"},"
                          "{\"as\":\"idle\",\"op\":\"sum\",\"field\":\"agg.run.idle_core_ms\"},"
                          "{\"as\":\"failed\",\"op\":\"sum\",\"field\":\"agg.run.core_failed_tasks_ms\"},"
                          "{\"as\":\"wasted\",\"op\":\"sum\",\"field\":\"agg.run.wasted_core_ms\"},"
                          "{\"as\":\"saves\",\"op\":\"sum\",\"field\":\"agg.run.saves_core_ms\"}],"
                          "\"limit\":10000",
                          view->by_json.ptr);
}

static enum pyro_status ask_failed(struct pyro_fleet_view *view, struct pyro_query_answer *ret,
                                   struct pyro_error *error)
{
    pyro_fleet_from(view, "runs");
    pyro_fleet_where(view, "status", "=", PYRO_SLICE_LITERAL("failed"));
    return pyro_fleet_ask(view, ret, error,
                          "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"core_ms\",\"op\":\"sum\","
                          "\"field\":\"core_ms\"}],\"limit\":10000",
                          view->by_json.ptr);
}

static int64_t sum_of(const struct pyro_query_answer *answer, const struct pyro_query_value *key, size_t *near)
{
    size_t match = pyro_fleet_row_of(answer, key, *near);
    if (match == SIZE_MAX)
        return 0;
    *near = match;
    double sum = pyro_answer_number(answer, match, 1);
    return sum > 0 ? (int64_t)sum : 0;
}

enum pyro_status pyro_fleet_waste(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer runs, failed;
    struct pyro_fleet_money money = {.currency = PYRO_SLICE_NULL};
    const struct pyro_fleet_payers payers = {.by = view->by, .by_json = view->by_json};
    PYRO_TRY(ask_sums(view, &runs, error));
    PYRO_TRY(ask_failed(view, &failed, error));
    bool priced = view->options->prices != NULL;
    if (priced)
        PYRO_TRY(pyro_fleet_price(view, &payers, &runs, &money, error));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Waste");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "wasted_core_ms", "Wasted", FLEET_CORE_MS);
    pyro_fleet_column(table, "wasted_share", "Share", FLEET_SHARE);
    pyro_fleet_column(table, "idle_core_ms", "Idle", FLEET_CORE_MS);
    pyro_fleet_column(table, "failed_tasks_core_ms", "Failed tasks", FLEET_CORE_MS);
    pyro_fleet_column(table, "failed_runs_core_ms", "Failed runs", FLEET_CORE_MS);
    pyro_fleet_column(table, "saves_core_ms", "Settings would save", FLEET_CORE_MS);
    if (priced) {
        pyro_fleet_column(table, "cost", "Cost", FLEET_RATIO);
        pyro_fleet_column(table, "wasted_cost", "Cost of waste", FLEET_RATIO);
        pyro_fleet_column(table, "currency", "Currency", FLEET_TEXT);
    }
    pyro_fleet_keep(table, "wasted_core_ms wasted_cost currency core_ms cost saves_core_ms");
    size_t near = 0;
    for (size_t row = 0; row < runs.row_count; row++) {
        const struct pyro_query_value *key = pyro_answer_value(&runs, row, 0);
        double core_ms = pyro_answer_number(&runs, row, CORE), wasted = pyro_answer_number(&runs, row, WASTED);
        double amount = money.currency.ptr ? money.amounts[row] : (double)NAN;
        pyro_fleet_add(view, table, key);
        pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, RUNS));
        pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, CORE));
        pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, WASTED));
        pyro_fleet_add_real(view, table, wasted / core_ms);
        pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, IDLE));
        pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, FAILED_TASKS));
        pyro_fleet_add_int(view, table, sum_of(&failed, key, &near));
        pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, SAVES));
        if (priced) {
            pyro_fleet_add_real(view, table, amount);
            pyro_fleet_add_real(view, table, amount * wasted / core_ms);
            pyro_fleet_add_text(view, table, money.currency);
        }
    }
    pyro_fleet_rank(view, table, 3, FLEET_TABLE_ROWS);
    const struct pyro_fleet_picture picture = {"bars", "Wasted core hours", "rows",
                                               NULL,   "wasted_core_ms",    .series = view->by};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Wasted: core time without a task, and that of failed tasks. Settings would save: the "
                          "prediction for each run with all recommended settings together; runs that would take "
                          "more core time, to be faster, count as 0.");
    return PYRO_OK;
}
