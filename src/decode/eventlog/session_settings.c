/* Settings that a session changed, of each SQL execution: one text of lines, the same for equal settings. */
#include "decode/eventlog/session_settings.h"
#include "base/json/unescape.h"

/* What is kept of one execution: names and values of a setting that rules read are shorter. */
enum { KEY_BYTES = 200, VALUE_BYTES = 500, TEXT_BYTES = 4096 };

static void add_line(struct pyro_builder *builder, struct pyro_slice key, struct pyro_slice value,
                     struct pyro_strbuf *to)
{
    if (pyro_intake_forbids(&builder->intake, key, value, true))
        value = PYRO_SLICE_LITERAL(PYRO_REDACTED);
    if (to->len)
        pyro_strbuf_add_char(to, '\n');
    pyro_strbuf_add_slice(to, key);
    pyro_strbuf_add_char(to, '=');
    for (size_t i = 0; i < value.len; i++) /* a line each */
        pyro_strbuf_add_char(to, value.ptr[i] == '\n' ? ' ' : value.ptr[i]);
}

/* Those of SQL, or the others, as long as they fit. */
static void add_settings(struct pyro_json_reader json, struct pyro_builder *builder, bool sql, struct pyro_strbuf *to)
{
    struct pyro_json_object object;
    struct pyro_strbuf key, value;
    pyro_strbuf_init(&key, builder->allocator);
    pyro_strbuf_init(&value, builder->allocator);
    bool in = pyro_json_enter_object(&json, &object);
    while (in && pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice raw = PYRO_SLICE_NULL;
        pyro_strbuf_clear(&key);
        pyro_strbuf_clear(&value);
        pyro_text_decode(&key, object.name, NULL);
        if (pyro_json_peek(&json) == '"')
            pyro_json_take_string(&json, &raw, NULL);
        else
            pyro_json_skip(&json);
        struct pyro_slice name = pyro_strbuf_slice(&key);
        if (!raw.ptr || name.len == 0 || name.len > KEY_BYTES || memchr(name.ptr, '\n', name.len) ||
            memchr(name.ptr, '=', name.len) || sql != pyro_slice_starts_with(name, "spark.sql."))
            continue;
        pyro_text_decode(&value, raw, &builder->app->integrity.replaced_characters);
        struct pyro_slice kept = pyro_build_cut(pyro_strbuf_slice(&value), VALUE_BYTES);
        if (to->len + name.len + kept.len + 2 <= TEXT_BYTES)
            add_line(builder, name, kept, to);
    }
    builder->failed |= key.failed || value.failed;
    pyro_strbuf_done(&key);
    pyro_strbuf_done(&value);
}

struct pyro_slice pyro_build_settings(struct pyro_builder *builder, struct pyro_slice raw)
{
    struct pyro_json_reader json;
    struct pyro_strbuf text;
    if (!raw.ptr || raw.len <= strlen("{}"))
        return PYRO_SLICE_NULL;
    pyro_strbuf_init(&text, builder->allocator);
    pyro_json_reader_start(&json, raw.ptr, raw.ptr + raw.len, pyro_scan_best());
    add_settings(json, builder, true, &text);
    add_settings(json, builder, false, &text);
    struct pyro_slice kept =
        text.len ? pyro_intern_slice(builder->app->strings, pyro_strbuf_slice(&text)) : PYRO_SLICE_NULL;
    builder->failed |= text.failed || (text.len && !kept.ptr);
    pyro_strbuf_done(&text);
    return kept;
}

static struct pyro_slice look_again(struct pyro_builder *builder, struct pyro_slice settings)
{
    struct pyro_strbuf text;
    struct pyro_slice key, value;
    pyro_strbuf_init(&text, builder->allocator);
    for (struct pyro_slice rest = settings; pyro_property_next(&rest, &key, &value);)
        add_line(builder, key, value, &text);
    struct pyro_slice kept = pyro_intern_slice(builder->app->strings, pyro_strbuf_slice(&text));
    builder->failed |= text.failed || !kept.ptr;
    pyro_strbuf_done(&text);
    return kept;
}

void pyro_build_settings_again(struct pyro_builder *builder)
{
    struct pyro_app *app = builder->app;
    struct pyro_slice before = PYRO_SLICE_NULL, after = before;
    for (size_t i = 0; i < app->sql.count; i++) {
        struct pyro_slice *settings = &app->sql.items[i].modified_configs;
        if (!settings->ptr)
            continue;
        if (settings->ptr != before.ptr) { /* most executions have the text of the one before */
            before = *settings;
            after = look_again(builder, before);
        }
        *settings = after;
    }
}
