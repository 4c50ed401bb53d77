/* What groups of runs pay for the cores and memory that they were allocated. */
#ifndef PYRO_FLEET_VIEWS_MONEY_H
#define PYRO_FLEET_VIEWS_MONEY_H

#include "fleet/views/views.h"

struct pyro_fleet_money {
    double *amounts;            /* by row of the sums; NaN: some of it has no price */
    struct pyro_slice currency; /* null: nothing has a price */
    struct pyro_slice missing;  /* the first price that is not known; null: none */
};

/* Whose runs: the field that groups them, and which of its values (0: all). */
struct pyro_fleet_payers {
    struct pyro_slice by, by_json;
    const struct pyro_query_value *only;
    size_t only_count;
};

/* `sums`: one row for each group, its value in the first column. The view has prices. */
enum pyro_status pyro_fleet_price(struct pyro_fleet_view *view, const struct pyro_fleet_payers *payers,
                                  const struct pyro_query_answer *sums, struct pyro_fleet_money *ret,
                                  struct pyro_error *error);

#endif
