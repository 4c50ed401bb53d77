#include "text/json_compact.h"

#include <math.h>

#include "base/numbers/none.h"
#include "text/escape.h"

void pyro_compact_next(struct pyro_strbuf *to)
{
    if (to->len && !memchr("{[,:\n", to->data[to->len - 1], 5))
        pyro_strbuf_add_char(to, ',');
}

/* The comma and the name, if there is one. */
static void begin_value(struct pyro_strbuf *to, const char *name)
{
    pyro_compact_next(to);
    if (!name)
        return;
    pyro_add_json(to, pyro_slice_from(name));
    pyro_strbuf_add_char(to, ':');
}

void pyro_compact_name(struct pyro_strbuf *to, const char *name)
{
    begin_value(to, name);
}

void pyro_compact_name_as_written(struct pyro_strbuf *to, struct pyro_slice name)
{
    pyro_compact_as_written(to, NULL, name);
    pyro_strbuf_add_char(to, ':');
}

void pyro_compact_begin(struct pyro_strbuf *to, const char *name, char bracket)
{
    begin_value(to, name);
    pyro_strbuf_add_char(to, bracket);
}

void pyro_compact_end(struct pyro_strbuf *to, char bracket)
{
    pyro_strbuf_add_char(to, bracket);
}

void pyro_compact_text(struct pyro_strbuf *to, const char *name, struct pyro_slice value)
{
    if (!value.ptr)
        return;
    begin_value(to, name);
    pyro_add_json(to, value);
}

void pyro_compact_string(struct pyro_strbuf *to, const char *name, const char *value)
{
    pyro_compact_text(to, name, pyro_slice_from(value));
}

void pyro_compact_int(struct pyro_strbuf *to, const char *name, int64_t value)
{
    if (value == PYRO_NONE)
        return;
    begin_value(to, name);
    pyro_strbuf_add_int(to, value);
}

void pyro_compact_real(struct pyro_strbuf *to, const char *name, double value)
{
    if (!isfinite(value))
        return;
    begin_value(to, name);
    pyro_add_json_real(to, value);
}

void pyro_compact_bool(struct pyro_strbuf *to, const char *name, bool value)
{
    begin_value(to, name);
    pyro_strbuf_add_text(to, value ? "true" : "false");
}

void pyro_compact_json(struct pyro_strbuf *to, const char *name, struct pyro_slice value)
{
    if (!value.ptr)
        return;
    begin_value(to, name);
    pyro_strbuf_add_slice(to, value);
}

void pyro_compact_as_written(struct pyro_strbuf *to, const char *name, struct pyro_slice value)
{
    begin_value(to, name);
    pyro_strbuf_add_char(to, '"');
    pyro_strbuf_add_slice(to, value);
    pyro_strbuf_add_char(to, '"');
}
