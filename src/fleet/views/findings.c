/* Findings of all runs, by how often they occur and what they would save. */
#include "fleet/views/views.h"

static enum pyro_status ask_groups(struct pyro_fleet_view *view, bool severe, struct pyro_query_answer *ret,
                                   struct pyro_error *error)
{
    pyro_fleet_from(view, "findings");
    pyro_fleet_where_number(view, "folded", "=", 0);
    if (severe) {
        static const struct pyro_query_value words[] = {
            {.kind = PYRO_VALUE_TEXT, .text = PYRO_SLICE_LITERAL("critical")},
            {.kind = PYRO_VALUE_TEXT, .text = PYRO_SLICE_LITERAL("severe")}};
        pyro_fleet_where_in(view, PYRO_SLICE_LITERAL("severity"), words, 2);
        return pyro_fleet_ask(view, ret, error,
                              "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"findings\",\"op\":\"count\"}],"
                              "\"limit\":10000",
                              view->by_json.ptr);
    }
    return pyro_fleet_ask(view, ret, error,
                          "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"findings\",\"op\":\"count\"},"
                          "{\"as\":\"saves_ms\",\"op\":\"sum\",\"field\":\"saves_ms\"},"
                          "{\"as\":\"saves_low_ms\",\"op\":\"sum\",\"field\":\"saves_low_ms\"},"
                          "{\"as\":\"saves_high_ms\",\"op\":\"sum\",\"field\":\"saves_high_ms\"},"
                          "{\"as\":\"saves_core_ms\",\"op\":\"sum\",\"field\":\"saves_core_ms\"}],\"limit\":10000",
                          view->by_json.ptr);
}

static double or_zero(double value)
{
    return value > 0 ? value : 0; /* also of NaN: the sum of nothing that is known */
}

enum pyro_status pyro_fleet_findings(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer runs, all, severe;
    pyro_fleet_from(view, "runs");
    PYRO_TRY(pyro_fleet_ask(view, &runs, error, "\"measures\":[{\"as\":\"runs\",\"op\":\"count\"}]"));
    PYRO_TRY(ask_groups(view, false, &all, error));
    PYRO_TRY(ask_groups(view, true, &severe, error));
    double run_count = runs.row_count ? pyro_answer_number(&runs, 0, 0) : 0;
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Findings");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "findings", "Findings", FLEET_COUNT);
    pyro_fleet_column(table, "severe", "Severe or critical", FLEET_COUNT);
    pyro_fleet_column(table, "frequency", "Findings per run", FLEET_RATIO);
    pyro_fleet_column(table, "mean_saves_ms", "Saving of one", FLEET_MS);
    pyro_fleet_column(table, "saves_ms", "Saving", FLEET_MS);
    pyro_fleet_column(table, "saves_low_ms", "At least", FLEET_MS);
    pyro_fleet_column(table, "saves_high_ms", "At most", FLEET_MS);
    pyro_fleet_column(table, "saves_core_ms", "Core hours saved", FLEET_CORE_MS);
    pyro_fleet_keep(table, "saves_ms saves_core_ms findings severe");
    size_t near = 0;
    for (size_t row = 0; row < all.row_count; row++) {
        size_t match = pyro_fleet_row_of(&severe, pyro_answer_value(&all, row, 0), near);
        near = match == SIZE_MAX ? near : match;
        double count = pyro_answer_number(&all, row, 1), saves = or_zero(pyro_answer_number(&all, row, 2));
        pyro_fleet_add(view, table, pyro_answer_value(&all, row, 0));
        pyro_fleet_add_int(view, table, (int64_t)count);
        pyro_fleet_add_int(view, table, match == SIZE_MAX ? 0 : pyro_answer_int(&severe, match, 1));
        pyro_fleet_add_real(view, table, count / run_count);
        pyro_fleet_add_real(view, table, saves / count);
        for (size_t c = 2; c < 6; c++)
            pyro_fleet_add_int(view, table, (int64_t)or_zero(pyro_answer_number(&all, row, c)));
    }
    pyro_fleet_rank(view, table, 5, FLEET_TABLE_ROWS);
    const struct pyro_fleet_picture picture = {
        "bars", "Time that fixes would save", "rows", NULL, "saves_ms", .series = view->by};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Runs: %.0f. Findings that people marked as wrong are left out.", run_count);
    pyro_fleet_note(view, "The saving is frequency x saving of one finding, summed over runs. Savings of one run can "
                          "overlap: the sum over several rows is an upper limit.");
    return PYRO_OK;
}
