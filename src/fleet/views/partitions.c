/* Output partitions by input, by the values of a setting. */
#include "fleet/views/points.h"

enum pyro_status pyro_fleet_partitions(struct pyro_fleet_view *view, struct pyro_error *error)
{
    static const struct pyro_fleet_point_column columns[] = {
        {"input_bytes", "input_bytes", "Input", FLEET_BYTES, FLEET_KNOWN},
        {"agg.run.output_partitions", "output_partitions", "Output partitions", FLEET_COUNT, FLEET_POSITIVE},
        {"agg.stages.outputBytes.sum", "output_bytes", "Output", FLEET_BYTES, FLEET_ANY},
        {"property.spark.sql.shuffle.partitions", "shuffle_partitions", "Shuffle partitions", FLEET_TEXT, FLEET_ANY},
    };
    PYRO_TRY(pyro_fleet_points(view, columns, sizeof(columns) / sizeof(*columns), "Partitions", error));
    const struct pyro_fleet_picture picture = {"points",      "Output partitions by input", "rows",
                                               "input_bytes", "output_partitions",          .series = view->by};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Output partitions: tasks that wrote output. Runs without output are left out. Their color "
                          "is the value of a setting, such as before and after a change.");
    return PYRO_OK;
}
