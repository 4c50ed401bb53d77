/* The rules' documentation, embedded when building (tools/embed_pages.py makes the table from docs/rules/). */
#ifndef PYRO_RULES_PAGES_H
#define PYRO_RULES_PAGES_H

#include <stddef.h>

struct pyro_rule_page {
    const char *name, *text; /* "data-skew", Markdown */
};
extern const struct pyro_rule_page pyro_rule_pages[];
extern const size_t pyro_rule_page_count;

#endif
