/* Tasks and stages as rows of numbers, for statistics and machine learning: docs/features.md. */
#ifndef PYRO_ANALYZE_FEATURES_FEATURE_ROWS_H
#define PYRO_ANALYZE_FEATURES_FEATURE_ROWS_H

#include "base/memory/arena.h"
#include "model/app.h"

struct pyro_features;

/* NULL: no memory left in the arena. */
const struct pyro_features *pyro_features_new(const struct pyro_app *app, struct pyro_arena *arena);

/* `of`: enum pyro_features_of, which exists. */
const struct pyro_table_schema *pyro_features_schema(enum pyro_features_of of);
size_t pyro_features_rows(const struct pyro_features *features, enum pyro_features_of of);
struct pyro_value pyro_features_value(const struct pyro_features *features, enum pyro_features_of of, size_t row,
                                      size_t column);

#endif
