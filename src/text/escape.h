/* Text from a log made safe for where it is shown. Logs are hostile input: names may hold escape sequences,
 * bidirectional overrides, markup or spreadsheet formulas, and paths may not even be UTF-8. */
#ifndef PYRO_TEXT_ESCAPE_H
#define PYRO_TEXT_ESCAPE_H

#include <stdint.h>

#include "base/strings/strbuf.h"

/* The code point at *p (< end), moving *p after it; U+FFFD for a byte outside valid UTF-8. */
uint32_t pyro_utf8_next(const char **p, const char *end);
void pyro_utf8_add(struct pyro_strbuf *buffer, uint32_t code);
/* Columns that `text` takes: one a code point. */
size_t pyro_utf8_columns(struct pyro_slice text);
/* Bytes that the first `columns` code points take. */
size_t pyro_utf8_prefix(struct pyro_slice text, size_t columns);

/* For terminals: line breaks and tabs become spaces; other control characters and those that reorder text become
 * U+FFFD. The result is valid UTF-8 and one line; applying it twice changes nothing. */
void pyro_add_plain(struct pyro_strbuf *buffer, struct pyro_slice text);
/* For running text and table cells of GitHub-flavoured Markdown. */
void pyro_add_markdown(struct pyro_strbuf *buffer, struct pyro_slice text);
/* One text field of RFC 4180, quoted where it must be; what a spreadsheet would take for a formula gets an apostrophe
 * in front. Characters that reorder text or break lines become U+FFFD, except \n, \r and \t. */
void pyro_add_csv(struct pyro_strbuf *buffer, struct pyro_slice text);
/* Text or attribute value of XML 1.0; what XML cannot hold becomes U+FFFD. */
void pyro_add_xml(struct pyro_strbuf *buffer, struct pyro_slice text);
/* A JSON string with its quotes; a null slice is null. Control characters of C0 and C1 become \u00XX. */
void pyro_add_json(struct pyro_strbuf *buffer, struct pyro_slice text);
/* A JSON number in its shortest form that reads back equal, whatever the locale; null when it is not finite. */
void pyro_add_json_real(struct pyro_strbuf *buffer, double value);

#endif
