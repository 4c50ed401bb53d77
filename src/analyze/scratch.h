/* Memory that an analysis needs no longer than it runs. */
#ifndef PYRO_ANALYZE_SCRATCH_H
#define PYRO_ANALYZE_SCRATCH_H

#include "model/app.h"

/* Zeroed memory from the application's allocator for count items, at least one; NULL when there is none. */
void *pyro_scratch(const struct pyro_app *app, size_t count, size_t size);

#endif
