/* How text and Markdown draw what several documents have. */
#ifndef PYRO_REPORT_SHARED_DRAW_H
#define PYRO_REPORT_SHARED_DRAW_H

#include "report/diagnosis/sections.h"
#include "text/page.h"

/* `line` is working space. */
void pyro_text_section(struct pyro_page *page, const struct pyro_section *section, struct pyro_strbuf *line);
void pyro_markdown_section(struct pyro_output *output, const struct pyro_section *section);

/* The caller's options in the size it was compiled with, the rest at their defaults. */
enum pyro_status pyro_report_options_read(const struct pyro_report_options *given, struct pyro_report_options *ret,
                                          struct pyro_error *error);

#endif
