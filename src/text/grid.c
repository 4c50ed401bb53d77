#include "text/grid.h"

void pyro_grid_init(struct pyro_grid *grid, const struct pyro_allocator *allocator)
{
    *grid = (struct pyro_grid){.column_count = 0};
    pyro_strbuf_init(&grid->text, allocator);
}

void pyro_grid_done(struct pyro_grid *grid)
{
    pyro_vec_done(&grid->ends, grid->text.allocator);
    pyro_strbuf_done(&grid->text);
}

void pyro_grid_next(struct pyro_grid *grid)
{
    size_t *end = pyro_vec_push(&grid->ends, grid->text.allocator);
    if (end)
        *end = grid->text.len;
    else
        grid->text.failed = true;
}

void pyro_grid_add(struct pyro_grid *grid, const char *text)
{
    pyro_strbuf_add_text(&grid->text, text);
    pyro_grid_next(grid);
}

size_t pyro_grid_rows(const struct pyro_grid *grid)
{
    /* After a failure cells may be missing: show none rather than shifted ones. */
    return grid->column_count && !grid->text.failed ? grid->ends.count / grid->column_count : 0;
}

struct pyro_slice pyro_grid_cell(const struct pyro_grid *grid, size_t row, size_t column)
{
    size_t i = row * grid->column_count + column;
    size_t from = i ? grid->ends.items[i - 1] : 0;
    const char *text = grid->text.data ? grid->text.data : "";
    return (struct pyro_slice){text + from, grid->ends.items[i] - from};
}

bool pyro_grid_column_empty(const struct pyro_grid *grid, size_t column)
{
    for (size_t row = 0; row < pyro_grid_rows(grid); row++)
        if (pyro_grid_cell(grid, row, column).len)
            return false;
    return true;
}
