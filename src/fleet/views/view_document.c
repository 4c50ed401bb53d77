/* Tables, pictures and notes of a view, before they are written. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "fleet/views/views.h"

struct pyro_fleet_table *pyro_fleet_table(struct pyro_fleet_view *view, const char *name, const char *title)
{
    struct pyro_fleet_table *table = &view->tables[view->table_count++]; /* views are bounded: FLEET_TABLES suffice */
    table->name = name;
    table->title = title;
    return table;
}

static void add_column(struct pyro_fleet_table *table, struct pyro_slice name, const char *title,
                       enum pyro_fleet_unit unit)
{
    if (table->column_count < FLEET_COLUMNS)
        table->columns[table->column_count++] = (struct pyro_fleet_column){name, title, unit, 0};
}

void pyro_fleet_column(struct pyro_fleet_table *table, const char *name, const char *title, enum pyro_fleet_unit unit)
{
    add_column(table, pyro_slice_from(name), title, unit);
}

void pyro_fleet_keep(struct pyro_fleet_table *table, const char *names)
{
    for (unsigned rank = 1; *names; rank++) {
        struct pyro_slice name = {names, strcspn(names, " ")};
        for (size_t c = 0; c < table->column_count; c++)
            if (pyro_slice_eq(table->columns[c].name, name))
                table->columns[c].spare = rank;
        names += name.len;
        names += strspn(names, " ");
    }
}

void pyro_fleet_by_column(struct pyro_fleet_view *view, struct pyro_fleet_table *table)
{
    bool has_key = pyro_slice_starts_with(view->by, "property.") || pyro_slice_starts_with(view->by, "tag.");
    const char *name = has_key ? strchr(view->by.ptr, '.') + 1 : view->by.ptr;
    char *title = pyro_arena_alloc(view->arena, strlen(name) + 1);
    view->failed |= !title;
    for (size_t i = 0; title && (i == 0 || name[i - 1]); i++) { /* "spark_version": "Spark version" */
        char letter = i == 0 ? (char)toupper((unsigned char)name[i]) : name[i];
        title[i] = has_key ? name[i] : letter == '_' ? ' ' : letter;
    }
    add_column(table, view->by, title, FLEET_TEXT);
}

bool pyro_fleet_further_column(struct pyro_fleet_view *view, struct pyro_fleet_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (pyro_slice_eq(table->columns[i].name, view->by))
            return false;
    if (view->by.len)
        pyro_fleet_by_column(view, table);
    return view->by.len > 0;
}

void pyro_fleet_add(struct pyro_fleet_view *view, struct pyro_fleet_table *table, const struct pyro_query_value *value)
{
    struct pyro_query_value *place = pyro_vec_push(&table->values, view->allocator);
    if (place)
        *place = *value;
    view->failed |= !place;
}

void pyro_fleet_add_int(struct pyro_fleet_view *view, struct pyro_fleet_table *table, int64_t value)
{
    const struct pyro_query_value cell = {.kind = value == PYRO_NONE ? PYRO_VALUE_NULL : PYRO_VALUE_INT,
                                          .integer = value};
    pyro_fleet_add(view, table, &cell);
}

void pyro_fleet_add_real(struct pyro_fleet_view *view, struct pyro_fleet_table *table, double value)
{
    const struct pyro_query_value cell = {.kind = isfinite(value) ? PYRO_VALUE_REAL : PYRO_VALUE_NULL, .real = value};
    pyro_fleet_add(view, table, &cell);
}

void pyro_fleet_add_text(struct pyro_fleet_view *view, struct pyro_fleet_table *table, struct pyro_slice value)
{
    const struct pyro_query_value cell = {.kind = value.ptr ? PYRO_VALUE_TEXT : PYRO_VALUE_NULL, .text = value};
    pyro_fleet_add(view, table, &cell);
}

size_t pyro_fleet_rows(const struct pyro_fleet_table *table)
{
    return table->column_count ? table->values.count / table->column_count : 0;
}

/* ---- Order ---- */

struct rank {
    double key; /* unknown ones last */
    size_t row;
};

static int by_key(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->key < b->key || a->key > b->key)
        return a->key > b->key ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

void pyro_fleet_rank(struct pyro_fleet_view *view, struct pyro_fleet_table *table, size_t column, size_t most)
{
    size_t rows = pyro_fleet_rows(table), columns = table->column_count, bytes = columns * sizeof(*table->values.items);
    struct rank *ranks = pyro_arena_array(view->arena, rows + 1, sizeof(*ranks));
    struct pyro_query_value *sorted = pyro_arena_array(view->arena, rows + 1, bytes);
    if (!ranks || !sorted) {
        view->failed = true;
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        const struct pyro_query_value *value = &table->values.items[i * columns + column];
        bool known = value->kind == PYRO_VALUE_INT || value->kind == PYRO_VALUE_REAL;
        ranks[i] = (struct rank){known ? pyro_value_number(value) : -INFINITY, i};
    }
    if (rows > 1)
        qsort(ranks, rows, sizeof(*ranks), by_key);
    for (size_t i = 0; i < rows; i++)
        memcpy(sorted + i * columns, table->values.items + ranks[i].row * columns, bytes);
    size_t kept = rows < most ? rows : most;
    if (kept)
        memcpy(table->values.items, sorted, kept * bytes);
    table->values.count = kept * columns;
    table->left_out += rows - kept;
}

/* ---- Pictures and notes ---- */

void pyro_fleet_picture(struct pyro_fleet_view *view, const struct pyro_fleet_picture *picture)
{
    if (view->picture_count < FLEET_PICTURES)
        view->pictures[view->picture_count++] = *picture;
}

void pyro_fleet_note(struct pyro_fleet_view *view, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice text = pyro_arena_vprintf(view->arena, format, arguments);
    va_end(arguments);
    view->failed |= !text.ptr;
    if (text.ptr && view->note_count < FLEET_NOTES)
        view->notes[view->note_count++] = text;
}

void pyro_fleet_note_newest(struct pyro_fleet_view *view, const struct pyro_query_answer *answer)
{
    if (answer->after.ptr)
        pyro_fleet_note(view, "There are more: these are the newest %zu..", answer->row_count);
}
