/* Rows of a query's result as JSON, CSV, Markdown or aligned text. */
#include "query/sql_query.h"
#include "text/escape.h"
#include "text/json_write.h"

enum {
    MEASURED_ROWS = 1000, /* text: rows that decide the widths of the columns */
    WIDEST = 60           /* text: no column is wider than this, longer values are cut */
};

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_taken(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

const char **pyro_sql_column_names(sqlite3_stmt *statement, struct pyro_arena *arena)
{
    size_t count = (size_t)sqlite3_column_count(statement);
    const char **names = pyro_arena_array(arena, count, sizeof(*names));
    for (size_t c = 0; names && c < count; c++) {
        const char *given = sqlite3_column_name(statement, (int)c);
        struct pyro_slice name = given ? pyro_arena_copy(arena, pyro_slice_from(given)) : PYRO_SLICE_NULL;
        for (size_t n = 2; name.ptr && is_taken(names, c, name.ptr); n++)
            name = pyro_arena_printf(arena, "%s_%zu", given, n);
        if (!name.ptr)
            return NULL;
        names[c] = name.ptr;
    }
    return names;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool is_number(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void add_number(struct pyro_strbuf *buffer, sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
        pyro_strbuf_add_int(buffer, sqlite3_column_int64(statement, column));
    else
        pyro_add_json_real(buffer, sqlite3_column_double(statement, column));
}

/* Texts as they are, blobs as hexadecimal digits in `hex`. */
static struct pyro_slice text_value(sqlite3_stmt *statement, int column, struct pyro_strbuf *hex)
{
    if (sqlite3_column_type(statement, column) != SQLITE_BLOB) {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return (struct pyro_slice){text ? text : "", (size_t)sqlite3_column_bytes(statement, column)};
    }
    static const char digits[] = "0123456789abcdef";
    const unsigned char *blob = sqlite3_column_blob(statement, column);
    int len = sqlite3_column_bytes(statement, column);
    pyro_strbuf_clear(hex);
    for (int i = 0; i < len; i++) {
        pyro_strbuf_add_char(hex, digits[blob[i] >> 4]);
        pyro_strbuf_add_char(hex, digits[blob[i] & 15]);
    }
    return pyro_strbuf_slice(hex);
}

struct rows {
    sqlite3_stmt *statement;
    struct pyro_output *output;
    const char **names;
    size_t count;
    struct pyro_strbuf hex;
};

/* SQLITE_ROW while there is a row and someone to write it for. */
static int next_row(struct rows *rows)
{
    pyro_output_flush(rows->output, false);
    if (rows->output->status != PYRO_OK)
        return SQLITE_ABORT;
    return sqlite3_step(rows->statement);
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

static int write_json(struct rows *rows)
{
    struct pyro_json_writer json;
    int stepped;
    pyro_json_writer_init(&json, rows->output);
    pyro_json_begin(&json, NULL, '[');
    while ((stepped = next_row(rows)) == SQLITE_ROW) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        for (size_t c = 0; c < rows->count; c++) {
            int column = (int)c;
            switch (sqlite3_column_type(rows->statement, column)) {
            case SQLITE_NULL:
                pyro_json_null(&json, rows->names[c]);
                break;
            case SQLITE_INTEGER:
                /* Not pyro_json_int(): the least integer is a number here, not an unknown one. */
                pyro_json_key(&json, pyro_slice_from(rows->names[c]));
                pyro_json_begin_value(&json);
                pyro_strbuf_add_int(&rows->output->buffer, sqlite3_column_int64(rows->statement, column));
                break;
            case SQLITE_FLOAT:
                pyro_json_real(&json, rows->names[c], sqlite3_column_double(rows->statement, column));
                break;
            default:
                pyro_json_text(&json, rows->names[c], text_value(rows->statement, column, &rows->hex));
                pyro_output_flush(rows->output, false); /* a row of long values is never completely in memory */
            }
        }
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_strbuf_add_char(&rows->output->buffer, '\n');
    return stepped;
}

static int write_csv(struct rows *rows)
{
    struct pyro_strbuf *out = &rows->output->buffer;
    int stepped;
    for (size_t c = 0; c < rows->count; c++) {
        pyro_strbuf_add_text(out, c ? "," : "");
        pyro_add_csv(out, pyro_slice_from(rows->names[c]));
    }
    pyro_strbuf_add_text(out, "\r\n");
    while ((stepped = next_row(rows)) == SQLITE_ROW) {
        for (size_t c = 0; c < rows->count; c++) {
            pyro_strbuf_add_text(out, c ? "," : "");
            if (is_number(rows->statement, (int)c))
                add_number(out, rows->statement, (int)c);
            else if (sqlite3_column_type(rows->statement, (int)c) != SQLITE_NULL)
                pyro_add_csv(out, text_value(rows->statement, (int)c, &rows->hex));
            pyro_output_flush(rows->output, false);
        }
        pyro_strbuf_add_text(out, "\r\n");
    }
    return stepped;
}

static int write_markdown(struct rows *rows)
{
    struct pyro_strbuf *out = &rows->output->buffer;
    int stepped = next_row(rows);
    pyro_strbuf_add_char(out, '|');
    for (size_t c = 0; c < rows->count; c++) {
        pyro_strbuf_add_char(out, ' ');
        pyro_add_markdown(out, pyro_slice_from(rows->names[c]));
        pyro_strbuf_add_text(out, " |");
    }
    pyro_strbuf_add_text(out, "\n|");
    for (size_t c = 0; c < rows->count; c++)
        pyro_strbuf_add_text(out, stepped == SQLITE_ROW && is_number(rows->statement, (int)c) ? " ---: |" : " --- |");
    pyro_strbuf_add_char(out, '\n');
    for (; stepped == SQLITE_ROW; stepped = next_row(rows)) {
        pyro_strbuf_add_char(out, '|');
        for (size_t c = 0; c < rows->count; c++) {
            pyro_strbuf_add_char(out, ' ');
            if (is_number(rows->statement, (int)c))
                add_number(out, rows->statement, (int)c);
            else if (sqlite3_column_type(rows->statement, (int)c) != SQLITE_NULL)
                pyro_add_markdown(out, text_value(rows->statement, (int)c, &rows->hex));
            pyro_output_flush(rows->output, false);
            pyro_strbuf_add_text(out, " |");
        }
        pyro_strbuf_add_char(out, '\n');
    }
    return stepped;
}

/* One plain cell of text output at the end of `buffer`; the result is its width. */
static size_t add_cell(struct rows *rows, int column, struct pyro_strbuf *buffer)
{
    size_t from = buffer->len;
    if (is_number(rows->statement, column))
        add_number(buffer, rows->statement, column);
    else if (sqlite3_column_type(rows->statement, column) == SQLITE_NULL)
        pyro_strbuf_add_text(buffer, "NULL");
    else
        pyro_add_plain(buffer, text_value(rows->statement, column, &rows->hex));
    if (buffer->failed)
        return 0;
    struct pyro_slice cell = {buffer->data ? buffer->data + from : "", buffer->len - from};
    size_t width = pyro_utf8_columns(cell);
    if (width > WIDEST) {
        buffer->len = from + pyro_utf8_prefix(cell, WIDEST - 1);
        pyro_strbuf_add_text(buffer, "…");
        width = WIDEST;
    }
    return width;
}

static void draw_cell(struct pyro_strbuf *out, struct pyro_slice cell, size_t width, bool right, bool last)
{
    size_t columns = pyro_utf8_columns(cell);
    size_t blanks = columns < width ? width - columns : 0;
    for (size_t i = 0; right && i < blanks; i++)
        pyro_strbuf_add_char(out, ' ');
    pyro_strbuf_add_slice(out, cell);
    for (size_t i = 0; !right && !last && i < blanks; i++)
        pyro_strbuf_add_char(out, ' ');
    pyro_strbuf_add_text(out, last ? "\n" : "  ");
}

struct text_layout {
    size_t *widths;
    bool *right;
    struct pyro_strbuf cells; /* of the rows measured */
    PYRO_VEC(size_t) ends;
    size_t measured;
};

static int measure(struct rows *rows, struct text_layout *layout)
{
    int stepped = SQLITE_DONE;
    for (size_t c = 0; c < rows->count; c++) {
        layout->widths[c] = pyro_utf8_columns(pyro_slice_from(rows->names[c]));
        layout->right[c] = true;
    }
    while (layout->measured < MEASURED_ROWS && (stepped = next_row(rows)) == SQLITE_ROW) {
        for (size_t c = 0; c < rows->count; c++) {
            size_t width = add_cell(rows, (int)c, &layout->cells);
            size_t *end = pyro_vec_push(&layout->ends, layout->cells.allocator);
            if (!end || layout->cells.failed) {
                rows->output->status = PYRO_ERROR_MEMORY;
                return SQLITE_ABORT;
            }
            *end = layout->cells.len;
            if (width > layout->widths[c])
                layout->widths[c] = width;
            int type = sqlite3_column_type(rows->statement, (int)c);
            layout->right[c] = layout->right[c] && type != SQLITE_TEXT && type != SQLITE_BLOB;
        }
        layout->measured++;
    }
    return stepped;
}

static void draw_measured(struct rows *rows, struct text_layout *layout)
{
    struct pyro_strbuf *out = &rows->output->buffer;
    struct pyro_strbuf name;
    pyro_strbuf_init(&name, out->allocator);
    for (size_t c = 0; c < rows->count; c++) {
        pyro_strbuf_clear(&name);
        pyro_add_plain(&name, pyro_slice_from(rows->names[c]));
        draw_cell(out, pyro_strbuf_slice(&name), layout->widths[c], layout->right[c], c + 1 == rows->count);
    }
    out->failed |= name.failed;
    pyro_strbuf_done(&name);
    for (size_t c = 0; c < rows->count; c++) {
        for (size_t i = 0; i < layout->widths[c]; i++)
            pyro_strbuf_add_char(out, '-');
        pyro_strbuf_add_text(out, c + 1 == rows->count ? "\n" : "  ");
    }
    size_t from = 0;
    for (size_t i = 0; i < layout->ends.count; i++) {
        size_t c = i % rows->count, end = layout->ends.items[i];
        const char *text = layout->cells.data ? layout->cells.data : "";
        draw_cell(out, (struct pyro_slice){text + from, end - from}, layout->widths[c], layout->right[c],
                  c + 1 == rows->count);
        from = end;
        pyro_output_flush(rows->output, false);
    }
}

static int write_text(struct rows *rows, struct pyro_arena *arena)
{
    struct text_layout layout = {.widths = pyro_arena_array(arena, rows->count, sizeof(*layout.widths)),
                                 .right = pyro_arena_array(arena, rows->count, sizeof(*layout.right))};
    const struct pyro_allocator *allocator = rows->output->buffer.allocator;
    pyro_strbuf_init(&layout.cells, allocator);
    int stepped = SQLITE_NOMEM;
    if (layout.widths && layout.right) {
        stepped = measure(rows, &layout);
        if (rows->output->status == PYRO_OK)
            draw_measured(rows, &layout);
    }
    /* The rest as it comes: longer values push what follows them to the right. */
    while (stepped == SQLITE_ROW && (stepped = next_row(rows)) == SQLITE_ROW) {
        for (size_t c = 0; c < rows->count; c++) {
            pyro_strbuf_clear(&layout.cells);
            add_cell(rows, (int)c, &layout.cells);
            draw_cell(&rows->output->buffer, pyro_strbuf_slice(&layout.cells), layout.widths[c], layout.right[c],
                      c + 1 == rows->count);
        }
    }
    pyro_vec_done(&layout.ends, allocator);
    pyro_strbuf_done(&layout.cells);
    return stepped;
}

int pyro_sql_write_rows(sqlite3_stmt *statement, enum pyro_format format, struct pyro_output *output)
{
    struct pyro_arena arena;
    pyro_arena_init(&arena, output->buffer.allocator);
    struct rows rows = {.statement = statement, .output = output, .count = (size_t)sqlite3_column_count(statement)};
    pyro_strbuf_init(&rows.hex, output->buffer.allocator);
    rows.names = pyro_sql_column_names(statement, &arena);
    int stepped = SQLITE_NOMEM;
    if (!rows.names)
        output->status = PYRO_ERROR_MEMORY;
    else if (format == PYRO_FORMAT_JSON)
        stepped = write_json(&rows);
    else if (format == PYRO_FORMAT_CSV)
        stepped = write_csv(&rows);
    else if (format == PYRO_FORMAT_MARKDOWN)
        stepped = write_markdown(&rows);
    else
        stepped = write_text(&rows, &arena);
    output->buffer.failed |= rows.hex.failed;
    pyro_strbuf_done(&rows.hex);
    pyro_arena_done(&arena);
    return stepped;
}
