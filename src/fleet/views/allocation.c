/* Duration by input and cores: runs with dynamic allocation, and with a fixed number of executors. */
#include "fleet/views/points.h"

enum pyro_status pyro_fleet_allocation(struct pyro_fleet_view *view, struct pyro_error *error)
{
    static const struct pyro_fleet_point_column columns[] = {
        {"input_bytes", "input_bytes", "Input", FLEET_BYTES, FLEET_KNOWN},
        {"duration_ms", "duration_ms", "Duration", FLEET_MS, FLEET_KNOWN},
        {"agg.executors.totalCores.sum", "cores", "Cores", FLEET_COUNT, FLEET_ANY},
        {"agg.executors.elements_count", "executors", "Executors", FLEET_COUNT, FLEET_ANY},
        {"core_ms", "core_ms", "Core hours", FLEET_CORE_MS, FLEET_ANY},
        {"property.spark.dynamicAllocation.enabled", "dynamic", "Dynamic", FLEET_FLAG, FLEET_ANY},
    };
    PYRO_TRY(pyro_fleet_points(view, columns, sizeof(columns) / sizeof(*columns), "Allocation", error));
    struct pyro_fleet_picture picture = {
        "points",        "Fixed number of executors", "rows",           "input_bytes", "duration_ms",
        .size = "cores", .series = view->by,          .only = "dynamic"};
    picture.value = PYRO_SLICE_LITERAL("0");
    pyro_fleet_picture(view, &picture);
    picture.title = "Dynamic allocation";
    picture.value = PYRO_SLICE_LITERAL("1");
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Cores: the sum over all executors that the run ever had, lost ones included.");
    return PYRO_OK;
}
