/* A view's document as text, JSON, CSV and Markdown. */
#include <math.h>
#include <stdio.h>

#include "fleet/views/views.h"
#include "report/cost/cost.h"
#include "report/shared/draw.h"
#include "text/escape.h"
#include "text/humanize.h"
#include "text/json_write.h"

enum { ROWS_SHOWN = 40, TEXT_COLUMNS = PYRO_GRID_COLUMNS };

static const char *const unit_names[] = {"text",    "count",  "ms",    "bytes", "time", "share",
                                         "core_ms", "mib_ms", "ratio", "flag",  "row"};
enum { UNITS = sizeof(unit_names) / sizeof(*unit_names) };

/* Of the row's own column "unit". */
static enum pyro_fleet_unit unit_of_row(const struct pyro_fleet_table *table, size_t row)
{
    for (size_t c = 0; c < table->column_count; c++)
        for (size_t i = 0; i < UNITS; i++)
            if (pyro_slice_is(table->columns[c].name, "unit") &&
                pyro_slice_is(table->values.items[row * table->column_count + c].text, unit_names[i]))
                return (enum pyro_fleet_unit)i;
    return FLEET_RATIO;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_value(struct pyro_json_writer *json, const struct pyro_query_value *value)
{
    switch (value->kind) {
    case PYRO_VALUE_INT:
        pyro_json_int(json, NULL, value->integer);
        break;
    case PYRO_VALUE_REAL:
        pyro_json_real(json, NULL, value->real);
        break;
    case PYRO_VALUE_TEXT:
        pyro_json_text(json, NULL, value->text);
        break;
    case PYRO_VALUE_NULL:
        pyro_json_null(json, NULL);
        break;
    }
}

static void json_columns(struct pyro_json_writer *json, const struct pyro_fleet_table *table)
{
    pyro_json_line(json);
    pyro_json_begin(json, "columns", '[');
    for (size_t c = 0; c < table->column_count; c++)
        pyro_json_text(json, NULL, table->columns[c].name);
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_begin(json, "titles", '[');
    for (size_t c = 0; c < table->column_count; c++)
        pyro_json_string(json, NULL, table->columns[c].title);
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_begin(json, "units", '[');
    for (size_t c = 0; c < table->column_count; c++)
        pyro_json_string(json, NULL, unit_names[table->columns[c].unit]);
    pyro_json_end(json, ']');
}

static void json_rows(struct pyro_json_writer *json, const struct pyro_fleet_table *table)
{
    pyro_json_line(json);
    pyro_json_begin(json, "rows", '[');
    for (size_t row = 0; row < pyro_fleet_rows(table); row++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '[');
        for (size_t c = 0; c < table->column_count; c++)
            json_value(json, &table->values.items[row * table->column_count + c]);
        pyro_json_end(json, ']');
        pyro_output_flush(json->output, false);
    }
    pyro_json_end(json, ']');
}

static void json_picture(struct pyro_json_writer *json, const struct pyro_fleet_picture *picture)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "kind", picture->kind);
    pyro_json_string(json, "title", picture->title);
    pyro_json_string(json, "table", picture->table);
    pyro_json_string(json, "x", picture->x);
    pyro_json_string(json, "y", picture->y);
    pyro_json_text(json, "series", picture->series);
    pyro_json_string(json, "mark", picture->mark);
    pyro_json_string(json, "size", picture->size);
    pyro_json_string(json, "only", picture->only);
    pyro_json_text(json, "value", picture->value);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_output *output, const struct pyro_fleet_view *view)
{
    struct pyro_json_writer json;
    char schema[64];
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    snprintf(schema, sizeof(schema), "pyrometer.fleet_%s/1", view->name);
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", schema);
    pyro_json_line(&json);
    pyro_json_begin(&json, "query", '[');
    for (size_t i = 0; i < view->question_count; i++) {
        pyro_json_line(&json);
        pyro_json_begin_value(&json);
        pyro_strbuf_add_slice(&output->buffer, view->questions[i]);
    }
    pyro_json_end(&json, ']');
    json_columns(&json, &view->tables[0]);
    json_rows(&json, &view->tables[0]);
    pyro_json_line(&json);
    pyro_json_begin(&json, "tables", '[');
    for (size_t i = 1; i < view->table_count; i++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_string(&json, "name", view->tables[i].name);
        pyro_json_string(&json, "title", view->tables[i].title);
        json_columns(&json, &view->tables[i]);
        json_rows(&json, &view->tables[i]);
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "pictures", '[');
    for (size_t i = 0; i < view->picture_count; i++)
        json_picture(&json, &view->pictures[i]);
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "notes", '[');
    for (size_t i = 0; i < view->note_count; i++) {
        pyro_json_line(&json);
        pyro_json_text(&json, NULL, view->notes[i]);
    }
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}

/* ---- Text and Markdown ------------------------------------------------------------------------------------------- */

static double three_digits(double value)
{
    if (!(fabs(value) > 0) || fabs(value) >= 100)
        return round(value);
    double step = pow(10, 2 - floor(log10(fabs(value))));
    return round(value * step) / step;
}

/* Of a shift: the same amount with a sign. */
static void human(struct pyro_strbuf *out, const struct pyro_query_value *value, enum pyro_fleet_unit unit);
static bool human_negative(struct pyro_strbuf *out, const struct pyro_query_value *value, enum pyro_fleet_unit unit)
{
    bool measured = unit == FLEET_MS || unit == FLEET_BYTES || unit == FLEET_CORE_MS || unit == FLEET_MIB_MS;
    if (!measured || (value->kind != PYRO_VALUE_INT && value->kind != PYRO_VALUE_REAL) ||
        !(pyro_value_number(value) < 0))
        return false;
    struct pyro_query_value amount = {.kind = PYRO_VALUE_REAL, .real = -pyro_value_number(value)};
    pyro_strbuf_add_char(out, '-');
    human(out, &amount, unit);
    return true;
}

static void human(struct pyro_strbuf *out, const struct pyro_query_value *value, enum pyro_fleet_unit unit)
{
    static const char *const words[] = {
        [FLEET_COUNT] = "count", [FLEET_MS] = "ms", [FLEET_BYTES] = "bytes", [FLEET_SHARE] = "share"};
    if (human_negative(out, value, unit))
        return;
    if (value->kind == PYRO_VALUE_NULL)
        pyro_strbuf_add_text(out, "-");
    else if (value->kind == PYRO_VALUE_TEXT)
        pyro_strbuf_add_slice(out, value->text);
    else if (unit == FLEET_TIME)
        pyro_human_time(out, (int64_t)pyro_value_number(value), 0);
    else if (unit == FLEET_CORE_MS)
        pyro_human_hours(out, pyro_value_number(value) / 3600e3);
    else if (unit == FLEET_MIB_MS)
        pyro_human_hours(out, pyro_value_number(value) / 1024 / 3600e3);
    else if (unit == FLEET_FLAG)
        pyro_strbuf_add_text(out, pyro_value_number(value) > 0 ? "yes" : "no");
    else if (unit == FLEET_TEXT)
        pyro_add_json_real(out, pyro_value_number(value));
    else if (unit == FLEET_RATIO)
        pyro_add_json_real(out, three_digits(pyro_value_number(value)));
    else
        pyro_human_quantity(out, pyro_value_number(value), words[unit]);
}

static void fill_section(struct pyro_section *section, const struct pyro_fleet_table *table,
                         struct pyro_grid_column *columns)
{
    size_t rows = pyro_fleet_rows(table), shown = rows < ROWS_SHOWN ? rows : ROWS_SHOWN;
    size_t count = table->column_count < TEXT_COLUMNS ? table->column_count : TEXT_COLUMNS;
    section->title = table->title;
    section->grid.columns = columns;
    section->grid.column_count = count;
    for (size_t c = 0; c < count; c++) {
        unsigned kept = table->columns[c].spare, spare = kept ? kept : FLEET_COLUMNS + (unsigned)c;
        columns[c] = (struct pyro_grid_column){table->columns[c].title, table->columns[c].unit != FLEET_TEXT,
                                               c ? spare : 0, false};
    }
    for (size_t row = 0; row < shown; row++) {
        for (size_t c = 0; c < count; c++) {
            enum pyro_fleet_unit unit = table->columns[c].unit;
            human(&section->grid.text, &table->values.items[row * table->column_count + c],
                  unit == FLEET_OF_ROW ? unit_of_row(table, row) : unit);
            pyro_grid_next(&section->grid);
        }
    }
    if (rows == 0)
        pyro_strbuf_add_text(&section->remarks, "No rows.\n");
    else if (rows > shown)
        pyro_strbuf_printf(&section->remarks, "%zu more rows: json and csv have all.\n", rows - shown);
    if (table->left_out)
        pyro_strbuf_printf(&section->remarks, "%zu rows are left out of every format: narrow the view.\n",
                           table->left_out);
}

static void write_text(struct pyro_output *output, const struct pyro_fleet_view *view,
                       const struct pyro_report_options *options)
{
    struct pyro_page page;
    struct pyro_strbuf line;
    pyro_page_init(&page, output, options);
    pyro_strbuf_init(&line, output->buffer.allocator);
    for (size_t i = 0; i < view->table_count && !view->tables[i].drawn_only; i++) {
        struct pyro_section section;
        struct pyro_grid_column columns[TEXT_COLUMNS];
        pyro_section_init(&section, output->buffer.allocator);
        fill_section(&section, &view->tables[i], columns);
        pyro_text_section(&page, &section, &line);
        output->buffer.failed |= pyro_section_failed(&section);
        pyro_section_done(&section);
        pyro_output_flush(output, false);
    }
    if (view->note_count)
        pyro_page_blank(&page);
    for (size_t i = 0; i < view->note_count; i++)
        pyro_page_wrap(&page, PYRO_STYLE_NONE, "- ", view->notes[i]);
    output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
    pyro_page_done(&page);
}

static void write_markdown(struct pyro_output *output, const struct pyro_fleet_view *view)
{
    for (size_t i = 0; i < view->table_count && !view->tables[i].drawn_only; i++) {
        struct pyro_section section;
        struct pyro_grid_column columns[TEXT_COLUMNS];
        pyro_section_init(&section, output->buffer.allocator);
        fill_section(&section, &view->tables[i], columns);
        pyro_markdown_section(output, &section);
        output->buffer.failed |= pyro_section_failed(&section);
        pyro_section_done(&section);
        pyro_output_flush(output, false);
    }
    if (view->note_count)
        pyro_strbuf_add_char(&output->buffer, '\n');
    for (size_t i = 0; i < view->note_count; i++) {
        pyro_strbuf_add_text(&output->buffer, "- ");
        pyro_add_markdown(&output->buffer, view->notes[i]);
        pyro_strbuf_add_char(&output->buffer, '\n');
    }
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void write_csv(struct pyro_output *output, const struct pyro_fleet_table *table)
{
    struct pyro_strbuf *out = &output->buffer;
    for (size_t c = 0; c < table->column_count; c++) {
        pyro_strbuf_add_text(out, c ? "," : "");
        pyro_add_csv(out, table->columns[c].name);
    }
    pyro_strbuf_add_text(out, "\r\n");
    for (size_t i = 0; i < table->values.count && table->column_count; i++) {
        const struct pyro_query_value *value = &table->values.items[i];
        if (value->kind == PYRO_VALUE_INT)
            pyro_strbuf_add_int(out, value->integer);
        else if (value->kind == PYRO_VALUE_REAL)
            pyro_add_json_real(out, value->real);
        else if (value->kind == PYRO_VALUE_TEXT)
            pyro_add_csv(out, value->text);
        pyro_strbuf_add_text(out, (i + 1) % table->column_count ? "," : "\r\n");
        pyro_output_flush(output, false);
    }
}

enum pyro_status pyro_fleet_write(const struct pyro_fleet_view *view, enum pyro_format format,
                                  const struct pyro_report_options *report, const struct pyro_writer *writer,
                                  struct pyro_error *error)
{
    struct pyro_output output;
    struct pyro_report_options own;
    PYRO_TRY(pyro_report_options_read(report, &own, error));
    pyro_output_init(&output, writer, view->allocator);
    if (format == PYRO_FORMAT_JSON)
        write_json(&output, view);
    else if (format == PYRO_FORMAT_CSV)
        write_csv(&output, &view->tables[0]);
    else if (format == PYRO_FORMAT_MARKDOWN)
        write_markdown(&output, view);
    else
        write_text(&output, view, &own);
    return pyro_output_done(&output, error);
}
