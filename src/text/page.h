/* Lines of text in a given width. Everything passes pyro_add_plain() on its way: nothing from a log reaches a terminal
 * as a control character. */
#ifndef PYRO_TEXT_PAGE_H
#define PYRO_TEXT_PAGE_H

#include "text/buffered_output.h"
#include "text/grid.h"

enum pyro_style {
    PYRO_STYLE_NONE,
    PYRO_STYLE_HEADING,
    PYRO_STYLE_BAD,
    PYRO_STYLE_WARN,
    PYRO_STYLE_GOOD,
    PYRO_STYLE_DIM
};

struct pyro_page {
    struct pyro_output *output;
    size_t width;
    bool color;
    struct pyro_strbuf scratch;
};

void pyro_page_init(struct pyro_page *page, struct pyro_output *output, const struct pyro_report_options *options);
void pyro_page_done(struct pyro_page *page);
void pyro_page_blank(struct pyro_page *page);
/* A heading and a rule of its length below it. */
void pyro_page_heading(struct pyro_page *page, struct pyro_slice text, char underline);
/* `first` (spaces or a bullet) in front of the first line, as many spaces in front of the others. */
void pyro_page_wrap(struct pyro_page *page, enum pyro_style style, const char *first, struct pyro_slice text);
/* One line, left and right at the margins; two lines where both do not fit. */
void pyro_page_ends(struct pyro_page *page, enum pyro_style style, struct pyro_slice left, struct pyro_slice right);
/* One line that must stay whole, whatever its length (key=value to copy). */
void pyro_page_whole(struct pyro_page *page, struct pyro_slice text);
void pyro_page_grid(struct pyro_page *page, const struct pyro_grid *grid);

#endif
