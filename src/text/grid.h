/* A table before it is drawn: raw cells, of which text and Markdown each make their own. */
#ifndef PYRO_TEXT_GRID_H
#define PYRO_TEXT_GRID_H

#include "base/collections/vec.h"
#include "base/strings/strbuf.h"

struct pyro_grid_column {
    const char *title;
    bool right; /* numbers */
    unsigned
        spare; /* 0: always shown; else left out when every cell is empty, and where width is short, larger first */
    bool bar;  /* a picture for text only */
};

enum { PYRO_GRID_COLUMNS = 16 };

struct pyro_grid {
    const struct pyro_grid_column *columns; /* the last takes what width is left and is cut there */
    size_t column_count;                    /* at most PYRO_GRID_COLUMNS */
    bool headless;                          /* text shows no titles */
    struct pyro_strbuf text;                /* all cells, one behind the other */
    PYRO_VEC(size_t) ends;                  /* where each cell ends */
};

void pyro_grid_init(struct pyro_grid *grid, const struct pyro_allocator *allocator);
void pyro_grid_done(struct pyro_grid *grid);
/* Ends the cell that was appended to grid->text. */
void pyro_grid_next(struct pyro_grid *grid);
void pyro_grid_add(struct pyro_grid *grid, const char *text);
size_t pyro_grid_rows(const struct pyro_grid *grid);
struct pyro_slice pyro_grid_cell(const struct pyro_grid *grid, size_t row, size_t column);
/* True when no cell of the column has text. */
bool pyro_grid_column_empty(const struct pyro_grid *grid, size_t column);

#endif
