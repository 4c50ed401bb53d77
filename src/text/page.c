#include "text/page.h"

#include "text/escape.h"

void pyro_page_init(struct pyro_page *page, struct pyro_output *output, const struct pyro_report_options *options)
{
    *page = (struct pyro_page){.output = output, .width = options->width, .color = options->color != 0};
    pyro_strbuf_init(&page->scratch, output->buffer.allocator);
}

void pyro_page_done(struct pyro_page *page)
{
    page->output->buffer.failed |= page->scratch.failed;
    pyro_strbuf_done(&page->scratch);
}

static void styled(struct pyro_page *page, enum pyro_style style, const char *text, size_t len)
{
    static const char *const codes[] = {"", "\033[1m", "\033[1;31m", "\033[33m", "\033[32m", "\033[2m"};
    struct pyro_strbuf *buffer = &page->output->buffer;
    bool color = page->color && style != PYRO_STYLE_NONE && len;
    if (color)
        pyro_strbuf_add_text(buffer, codes[style]);
    pyro_strbuf_add(buffer, text, len);
    if (color)
        pyro_strbuf_add_text(buffer, "\033[0m");
}

static void end_line(struct pyro_page *page)
{
    pyro_strbuf_add_char(&page->output->buffer, '\n');
    pyro_output_flush(page->output, false);
}

static void spaces(struct pyro_page *page, size_t count)
{
    while (count--)
        pyro_strbuf_add_char(&page->output->buffer, ' ');
}

/* `text` made plain, in the scratch buffer until the next call. */
static struct pyro_slice cleaned(struct pyro_page *page, struct pyro_slice text)
{
    page->output->buffer.failed |= page->scratch.failed;
    pyro_strbuf_clear(&page->scratch);
    pyro_add_plain(&page->scratch, text);
    return pyro_strbuf_slice(&page->scratch);
}

void pyro_page_blank(struct pyro_page *page)
{
    end_line(page);
}

/* Bytes of the first line of `text` in `columns`: up to the last space that fits, else as many code points as fit. */
static size_t line_bytes(struct pyro_slice text, size_t columns)
{
    size_t fits = pyro_utf8_prefix(text, columns);
    if (fits >= text.len || text.ptr[fits] == ' ')
        return fits;
    for (size_t i = fits; i > 0; i--)
        if (text.ptr[i - 1] == ' ')
            return i - 1 ? i - 1 : fits;
    return fits;
}

void pyro_page_wrap(struct pyro_page *page, enum pyro_style style, const char *first, struct pyro_slice text)
{
    size_t indent = strlen(first);
    size_t columns = page->width > indent + 10 ? page->width - indent : 10;
    struct pyro_slice rest = cleaned(page, text);
    pyro_strbuf_add_text(&page->output->buffer, first);
    for (bool more = false; rest.len || !more; more = true) {
        while (rest.len && *rest.ptr == ' ')
            rest = (struct pyro_slice){rest.ptr + 1, rest.len - 1};
        if (!rest.len && more)
            break;
        size_t len = line_bytes(rest, columns);
        if (more)
            spaces(page, indent);
        size_t shown = len;
        while (shown && rest.ptr[shown - 1] == ' ')
            shown--;
        styled(page, style, rest.ptr, shown);
        end_line(page);
        rest = (struct pyro_slice){rest.ptr + len, rest.len - len};
    }
}

void pyro_page_heading(struct pyro_page *page, struct pyro_slice text, char underline)
{
    size_t columns = pyro_utf8_columns(text);
    pyro_page_wrap(page, PYRO_STYLE_HEADING, "", text);
    for (size_t i = 0; i < columns && i < page->width; i++)
        pyro_strbuf_add_char(&page->output->buffer, underline);
    end_line(page);
}

void pyro_page_ends(struct pyro_page *page, enum pyro_style style, struct pyro_slice left, struct pyro_slice right)
{
    struct pyro_slice plain = cleaned(page, left);
    size_t left_columns = pyro_utf8_columns(plain), right_columns = pyro_utf8_columns(right);
    if (left_columns + 2 + right_columns > page->width) {
        pyro_page_wrap(page, style, "", left);
        pyro_page_wrap(page, PYRO_STYLE_NONE, "   ", right);
        return;
    }
    styled(page, style, plain.ptr, plain.len);
    spaces(page, page->width - left_columns - right_columns);
    pyro_strbuf_add_slice(&page->output->buffer, right);
    end_line(page);
}

void pyro_page_whole(struct pyro_page *page, struct pyro_slice text)
{
    pyro_strbuf_add_slice(&page->output->buffer, cleaned(page, text));
    end_line(page);
}

struct layout {
    size_t widths[PYRO_GRID_COLUMNS];
    bool shown[PYRO_GRID_COLUMNS];
    size_t last; /* the last column shown: takes the rest of the line */
};

static size_t plain_columns(struct pyro_page *page, struct pyro_slice text)
{
    return pyro_utf8_columns(cleaned(page, text));
}

/* Leaves out spare columns until the others, with some room for the last one, fit the width. */
static void fit(struct pyro_page *page, const struct pyro_grid *grid, struct layout *layout)
{
    enum { LAST_LEAST = 16 };
    for (;;) {
        size_t total = 1, worst = SIZE_MAX;
        for (size_t c = 0; c < grid->column_count; c++) {
            if (!layout->shown[c])
                continue;
            bool last = c + 1 == grid->column_count;
            total += 1 + (last && layout->widths[c] > LAST_LEAST ? LAST_LEAST : layout->widths[c]);
            total += last ? 0 : 1;
            if (grid->columns[c].spare && (worst == SIZE_MAX || grid->columns[c].spare > grid->columns[worst].spare))
                worst = c;
        }
        if (total <= page->width || worst == SIZE_MAX)
            break;
        layout->shown[worst] = false;
    }
    for (size_t c = 0; c < grid->column_count; c++)
        if (layout->shown[c])
            layout->last = c;
}

static void measure(struct pyro_page *page, const struct pyro_grid *grid, struct layout *layout)
{
    *layout = (struct layout){.last = 0};
    for (size_t c = 0; c < grid->column_count; c++) {
        layout->shown[c] = !grid->columns[c].spare || !pyro_grid_column_empty(grid, c);
        layout->widths[c] = grid->headless ? 0 : strlen(grid->columns[c].title);
        for (size_t row = 0; row < pyro_grid_rows(grid); row++) {
            size_t columns = plain_columns(page, pyro_grid_cell(grid, row, c));
            if (columns > layout->widths[c])
                layout->widths[c] = columns;
        }
        /* A hostile host name or id must not push everything else off the page. */
        if (c + 1 < grid->column_count && layout->widths[c] > 24)
            layout->widths[c] = 24;
    }
    fit(page, grid, layout);
}

static void draw_cell(struct pyro_page *page, const struct pyro_grid *grid, const struct layout *layout, size_t column,
                      struct pyro_slice text, size_t *at)
{
    struct pyro_strbuf *buffer = &page->output->buffer;
    text = cleaned(page, text);
    *at += 2;
    spaces(page, 2);
    size_t room = page->width > *at ? page->width - *at : 0;
    if (column != layout->last && layout->widths[column] < room)
        room = layout->widths[column];
    size_t columns = pyro_utf8_columns(text), shown = columns <= room ? columns : room ? room - 1 : 0;
    if (grid->columns[column].right && columns < layout->widths[column] && layout->widths[column] <= room)
        spaces(page, layout->widths[column] - columns);
    pyro_strbuf_add(buffer, text.ptr, pyro_utf8_prefix(text, shown));
    if (shown < columns && room)
        pyro_strbuf_add_text(buffer, "…");
    if (!grid->columns[column].right && column != layout->last && columns < room)
        spaces(page, room - columns);
    *at += layout->widths[column];
}

/* Blanks that padding left at the end of the line. */
static void trim(struct pyro_strbuf *buffer)
{
    while (buffer->len && buffer->data[buffer->len - 1] == ' ')
        buffer->len--;
}

void pyro_page_grid(struct pyro_page *page, const struct pyro_grid *grid)
{
    struct layout layout;
    if (!pyro_grid_rows(grid))
        return;
    measure(page, grid, &layout);
    for (size_t row = grid->headless ? 1 : 0; row <= pyro_grid_rows(grid); row++) {
        size_t at = 0;
        for (size_t c = 0; c < grid->column_count; c++) {
            if (!layout.shown[c])
                continue;
            struct pyro_slice text = row ? pyro_grid_cell(grid, row - 1, c) : pyro_slice_from(grid->columns[c].title);
            draw_cell(page, grid, &layout, c, text, &at);
        }
        trim(&page->output->buffer);
        end_line(page);
    }
}
