/* What the run should cost: other executors, nodes of another type. Nothing is advised that would miss a deadline or
 * leave less memory than was used; each piece of advice says by how much it is safe. */
#ifndef PYRO_ADVICE_COST_ADVISE_H
#define PYRO_ADVICE_COST_ADVISE_H

#include "cost/money.h"

enum { PYRO_COST_ADVICE_MAX = 8 };

/* A run as a store knows it: end_ms > start_ms, core_ms >= 0. */
struct pyro_past {
    struct pyro_slice application; /* its name */
    int64_t start_ms, end_ms, core_ms;
};

/* What advice is to keep to. */
struct pyro_advise_options {
    int64_t deadline_ms;          /* 0: none was given */
    double interruptions;         /* of each spot node, an hour; 0: spot nodes are not simulated */
    const struct pyro_stop *stop; /* NULL: nothing stops it */
};
struct pyro_stop;

/* Works out cost->advice of a priced cost; `app` is what it was made of. */
enum pyro_status pyro_cost_advise(struct pyro_cost *cost, const struct pyro_app *app, const struct pyro_prices *prices,
                                  const struct pyro_money_options *options, const struct pyro_advise_options *wanted,
                                  struct pyro_error *error);
/* Adds to cost->advice what capacity the application's past runs held steadily; after pyro_cost_advise(). */
enum pyro_status pyro_cost_reserve(struct pyro_cost *cost, const struct pyro_past *past, size_t past_count,
                                   struct pyro_slice application, const struct pyro_prices *prices,
                                   const struct pyro_money_options *options, struct pyro_error *error);

#endif
