/* Columns of tasks, added up by rows of other tables. */
#ifndef PYRO_ANALYZE_SUMS_COLUMN_SUMS_H
#define PYRO_ANALYZE_SUMS_COLUMN_SUMS_H

#include "analyze/task_rows.h"

/* A column to add up, and where in a row its sum belongs. */
struct pyro_sum {
    enum pyro_task_column column;
    size_t offset;
};
/* Adds the column of every task to the field of the row that `rows` names for it; unknown values and rows count for
 * nothing. `buffer` holds PYRO_READ_ROWS values. */
void pyro_sum_column(const struct pyro_app *app, const struct pyro_sum *sum, const int32_t *rows, void *table,
                     size_t row_size, int64_t *buffer);

#endif
