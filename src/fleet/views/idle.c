/* Executors that never had a task. */
#include "fleet/views/views.h"

enum pyro_status pyro_fleet_idle(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer all, idle;
    pyro_fleet_from(view, "runs");
    pyro_fleet_where_known(view, "agg.executors.totalTasks.count_zeroes", true);
    pyro_fleet_where_ended(view);
    PYRO_TRY(pyro_fleet_ask(view, &all, error,
                            "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                            "{\"as\":\"executors\",\"op\":\"sum\",\"field\":\"agg.executors.elements_count\"},"
                            "{\"as\":\"idle\",\"op\":\"sum\",\"field\":\"agg.executors.totalTasks.count_zeroes\"},"
                            "{\"as\":\"unused\",\"op\":\"sum\",\"field\":\"agg.summary.unused_core_cost\"}],"
                            "\"limit\":10000",
                            view->by_json.ptr));
    pyro_fleet_from(view, "runs");
    pyro_fleet_where_number(view, "agg.executors.totalTasks.count_zeroes", ">", 0);
    pyro_fleet_where_ended(view);
    PYRO_TRY(pyro_fleet_ask(view, &idle, error,
                            "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                            "{\"as\":\"idle\",\"op\":\"max\",\"field\":\"agg.executors.totalTasks.count_zeroes\"}],"
                            "\"limit\":10000",
                            view->by_json.ptr));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Idle executors");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "runs_with_idle", "With idle executors", FLEET_COUNT);
    pyro_fleet_column(table, "executors", "Executors", FLEET_COUNT);
    pyro_fleet_column(table, "idle_executors", "Without a task", FLEET_COUNT);
    pyro_fleet_column(table, "idle_share", "Share", FLEET_SHARE);
    pyro_fleet_column(table, "most_idle", "Most in one run", FLEET_COUNT);
    pyro_fleet_column(table, "unused_core_ms", "Unused core hours", FLEET_CORE_MS);
    pyro_fleet_keep(table, "idle_executors executors unused_core_ms runs");
    size_t near = 0;
    for (size_t row = 0; row < all.row_count; row++) {
        size_t match = pyro_fleet_row_of(&idle, pyro_answer_value(&all, row, 0), near);
        near = match == SIZE_MAX ? near : match;
        pyro_fleet_add(view, table, pyro_answer_value(&all, row, 0));
        pyro_fleet_add_int(view, table, pyro_answer_int(&all, row, 1));
        pyro_fleet_add_int(view, table, match == SIZE_MAX ? 0 : pyro_answer_int(&idle, match, 1));
        pyro_fleet_add_int(view, table, pyro_answer_int(&all, row, 2));
        pyro_fleet_add_int(view, table, pyro_answer_int(&all, row, 3));
        pyro_fleet_add_real(view, table, pyro_answer_number(&all, row, 3) / pyro_answer_number(&all, row, 2));
        pyro_fleet_add_int(view, table, match == SIZE_MAX ? 0 : pyro_answer_int(&idle, match, 2));
        pyro_fleet_add_int(view, table, pyro_answer_int(&all, row, 4));
    }
    pyro_fleet_rank(view, table, 4, FLEET_TABLE_ROWS);
    const struct pyro_fleet_picture picture = {"bars", "Executors without a task", "rows",
                                               NULL,   "idle_executors",           .series = view->by};
    pyro_fleet_picture(view, &picture);
    return pyro_fleet_note_not_ended(view, error);
}
