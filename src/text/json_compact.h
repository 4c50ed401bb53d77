/* JSON without blanks, appended to a text: {"a":1,"b":[2,3]}. For lines and documents that programs read; documents
 * that people read too have json_write.h.
 *
 *     pyro_compact_begin(&text, NULL, '{');
 *     pyro_compact_int(&text, "tasks", 12);        a NULL name writes an array element
 *     pyro_compact_end(&text, '}');
 *
 * There is no state but the text itself: its last byte says whether a comma comes next. So the caller may append whole
 * values in between, of which each is complete. */
#ifndef PYRO_TEXT_JSON_COMPACT_H
#define PYRO_TEXT_JSON_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/strbuf.h"

/* The comma in front of a value that the caller appends, unless it is the first one. */
void pyro_compact_next(struct pyro_strbuf *to);
/* The caller appends the value. */
void pyro_compact_name(struct pyro_strbuf *to, const char *name);
/* The same of the contents of a JSON string, as they are written between its quotes. */
void pyro_compact_name_as_written(struct pyro_strbuf *to, struct pyro_slice name);
/* `bracket` is '{' or '['; '}' or ']'. */
void pyro_compact_begin(struct pyro_strbuf *to, const char *name, char bracket);
void pyro_compact_end(struct pyro_strbuf *to, char bracket);

/* Nothing is written of null slices and NULL, of PYRO_NONE, and of what is not finite. */
void pyro_compact_text(struct pyro_strbuf *to, const char *name, struct pyro_slice value);
void pyro_compact_string(struct pyro_strbuf *to, const char *name, const char *value);
void pyro_compact_int(struct pyro_strbuf *to, const char *name, int64_t value);
void pyro_compact_real(struct pyro_strbuf *to, const char *name, double value);
void pyro_compact_bool(struct pyro_strbuf *to, const char *name, bool value);
/* A value that is JSON. */
void pyro_compact_json(struct pyro_strbuf *to, const char *name, struct pyro_slice value);
/* The contents of a JSON string, as they are written between its quotes. */
void pyro_compact_as_written(struct pyro_strbuf *to, const char *name, struct pyro_slice value);

#endif
