#include "analyze/sums/column_sums.h"

#include "base/numbers/saturate.h"

void pyro_sum_column(const struct pyro_app *app, const struct pyro_sum *sum, const int32_t *rows, void *table,
                     size_t row_size, int64_t *buffer)
{
    if (!table) /* no rows */
        return;
    char *field = (char *)table + sum->offset;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, sum->column, first, count, buffer);
        for (size_t i = 0; i < count; i++) {
            if (rows[first + i] < 0 || buffer[i] == 0 || buffer[i] == PYRO_NONE)
                continue;
            int64_t *total = (int64_t *)(void *)(field + (size_t)rows[first + i] * row_size);
            *total = pyro_add_saturating(*total, buffer[i]);
        }
    }
}
