/* The rules' documentation, embedded when building (tools/embed_pages.py makes the table from docs/rules/). */
#ifndef PYROMETER_CLI_PAGES_H
#define PYROMETER_CLI_PAGES_H

#include <stddef.h>

struct cli_page {
    const char *name, *text; /* "data-skew", Markdown */
};
extern const struct cli_page cli_rule_pages[];
extern const size_t cli_rule_page_count;

#endif
