/* Time on one core and on all of them, efficiency and speedup. */
#include "fleet/views/views.h"

enum pyro_status pyro_fleet_parallelism(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    pyro_fleet_from(view, "runs");
    pyro_fleet_where_known(view, "agg.summary.est_seq_time", true);
    pyro_fleet_where_ended(view);
    PYRO_TRY(pyro_fleet_ask(
        view, &answer, error,
        "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
        "{\"as\":\"t1_ms\",\"op\":\"sum\",\"field\":\"agg.summary.est_seq_time\"},"
        "{\"as\":\"tm_ms\",\"op\":\"sum\",\"field\":\"duration_ms\"},"
        "{\"as\":\"work_ms\",\"op\":\"sum\",\"field\":\"agg.summary.parallel_work\"},"
        "{\"as\":\"cost_ms\",\"op\":\"sum\",\"field\":\"agg.summary.core_cost\"},"
        "{\"as\":\"parallel_ms\",\"op\":\"sum\",\"field\":\"agg.summary.parallel_part\"},"
        "{\"as\":\"speedup\",\"op\":\"percentiles\",\"field\":\"agg.summary.estimated_speedup\",\"at\":[5,50,95]},"
        "{\"as\":\"efficiency\",\"op\":\"percentiles\",\"field\":\"agg.summary.estimated_core_efficiency\","
        "\"at\":[5,50,95]}],\"limit\":10000",
        view->by_json.ptr));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Parallelism");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "t1_ms", "T(1)", FLEET_MS);
    pyro_fleet_column(table, "tm_ms", "T(m)", FLEET_MS);
    pyro_fleet_column(table, "speedup", "Speedup", FLEET_RATIO);
    pyro_fleet_column(table, "efficiency", "Efficiency", FLEET_SHARE);
    pyro_fleet_column(table, "parallel_fraction", "Parallel part", FLEET_SHARE);
    pyro_fleet_column(table, "speedup_p5", "p5 speedup", FLEET_RATIO);
    pyro_fleet_column(table, "speedup_p50", "p50", FLEET_RATIO);
    pyro_fleet_column(table, "speedup_p95", "p95", FLEET_RATIO);
    pyro_fleet_column(table, "efficiency_p5", "p5 efficiency", FLEET_SHARE);
    pyro_fleet_column(table, "efficiency_p50", "p50", FLEET_SHARE);
    pyro_fleet_column(table, "efficiency_p95", "p95", FLEET_SHARE);
    pyro_fleet_keep(table, "speedup efficiency t1_ms tm_ms runs");
    size_t beyond = 0;
    for (size_t row = 0; row < answer.row_count; row++) {
        double runs = pyro_answer_number(&answer, row, 1), t1 = pyro_answer_number(&answer, row, 2),
               tm = pyro_answer_number(&answer, row, 3);
        pyro_fleet_add(view, table, pyro_answer_value(&answer, row, 0));
        pyro_fleet_add(view, table, pyro_answer_value(&answer, row, 1));
        pyro_fleet_add_real(view, table, t1 / runs);
        pyro_fleet_add_real(view, table, tm / runs);
        pyro_fleet_add_real(view, table, t1 / tm);
        double efficiency = pyro_answer_number(&answer, row, 4) / pyro_answer_number(&answer, row, 5);
        beyond += efficiency > 1.005;
        pyro_fleet_add_real(view, table, efficiency);
        pyro_fleet_add_real(view, table, pyro_answer_number(&answer, row, 6) / tm);
        for (size_t c = 7; c < 13; c++)
            pyro_fleet_add(view, table, pyro_answer_value(&answer, row, c));
    }
    pyro_fleet_rank(view, table, 1, FLEET_TABLE_ROWS);
    struct pyro_fleet_picture picture = {"bars", "Speedup", "rows", NULL, "speedup", .series = view->by};
    pyro_fleet_picture(view, &picture);
    picture.title = "Efficiency";
    picture.y = "efficiency";
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view,
                    "T(1): sequential part + task time, T(m): duration; means of runs. Speedup: sum of T(1) / sum "
                    "of T(m). Efficiency: task time / core time that executors held.");
    if (beyond > 0)
        pyro_fleet_note(view,
                        "Efficiency above 100 %%: tasks took more time than the executors that the logs show could "
                        "give them. Executors or their cores are missing in these logs, or tasks share cores.");
    return pyro_fleet_note_not_ended(view, error);
}
