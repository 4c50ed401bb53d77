/* Runs as points of a picture. */
#ifndef PYRO_FLEET_VIEWS_POINTS_H
#define PYRO_FLEET_VIEWS_POINTS_H

#include "fleet/views/views.h"

struct pyro_fleet_point_column {
    const char *field, *name, *title;
    enum pyro_fleet_unit unit; /* FLEET_FLAG: "true" is 1; anything else, and what is not known, 0 */
    enum { FLEET_ANY, FLEET_KNOWN, FLEET_POSITIVE } wanted; /* runs without it, or at most 0, are left out */
};
/* The table of the newest FLEET_MARKS runs: start, id, attempt, application, what the view sums by, and these. */
enum pyro_status pyro_fleet_points(struct pyro_fleet_view *view, const struct pyro_fleet_point_column *columns,
                                   size_t count, const char *title, struct pyro_error *error);

#endif
