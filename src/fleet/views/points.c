/* Runs as points: one row each, the newest first. */
#include "fleet/views/points.h"

enum { SHARED = 4 }; /* columns of all such views */

enum pyro_status pyro_fleet_points(struct pyro_fleet_view *view, const struct pyro_fleet_point_column *columns,
                                   size_t count, const char *title, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    struct pyro_slice fields = PYRO_SLICE_LITERAL("\"start_ms\",\"app_id\",\"attempt\",\"application\"");
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", title);
    pyro_fleet_column(table, "start_ms", "Start", FLEET_TIME);
    pyro_fleet_column(table, "app_id", "Run", FLEET_TEXT);
    pyro_fleet_column(table, "attempt", "Attempt", FLEET_TEXT);
    pyro_fleet_column(table, "application", "Application", FLEET_TEXT);
    pyro_fleet_from(view, "runs");
    pyro_fleet_where_ended(view);
    for (size_t i = 0; i < count && fields.ptr; i++) {
        pyro_fleet_column(table, columns[i].name, columns[i].title, columns[i].unit);
        fields = pyro_arena_printf(view->arena, "%s,\"%s\"", fields.ptr, columns[i].field);
        if (columns[i].wanted == FLEET_KNOWN)
            pyro_fleet_where_known(view, columns[i].field, true);
        else if (columns[i].wanted == FLEET_POSITIVE)
            pyro_fleet_where_number(view, columns[i].field, ">", 0);
    }
    if (!fields.ptr)
        return pyro_no_memory(error);
    bool grouped = pyro_fleet_further_column(view, table);
    pyro_fleet_keep(table, "application");
    for (size_t i = 0; i < count; i++)
        table->columns[SHARED + i].spare = 2 + (unsigned)i;
    PYRO_TRY(pyro_fleet_ask(view, &answer, error,
                            "\"fields\":[%s%s],\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":%d",
                            fields.ptr, pyro_fleet_further_field(view, fields.ptr), FLEET_MARKS));
    for (size_t row = 0; row < answer.row_count; row++) {
        for (size_t c = 0; c < SHARED + count; c++) {
            struct pyro_slice text = pyro_answer_text(&answer, row, c);
            if (c >= SHARED && columns[c - SHARED].unit == FLEET_FLAG)
                pyro_fleet_add_int(view, table, text.ptr && pyro_slice_is(text, "true"));
            else
                pyro_fleet_add(view, table, pyro_answer_value(&answer, row, c));
        }
        if (grouped)
            pyro_fleet_add(view, table, pyro_fleet_by_value(view, &answer, row));
    }
    pyro_fleet_note_newest(view, &answer);
    return pyro_fleet_note_not_ended(view, error);
}
