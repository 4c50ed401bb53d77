#include "serve/api/json_body.h"

#include <string.h>

#include "base/json/json_read.h"
#include "base/json/unescape.h"

enum { CHARACTERS_MAX = 1000, BYTES_MAX = 4 * CHARACTERS_MAX };

/* A copy with a NUL behind it; NULL for null. */
static const char *take_text(struct pyro_json_reader *json, struct pyro_arena *arena, const char **why)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (!pyro_json_take_string(json, &raw, NULL) || !raw.ptr)
        return NULL;
    size_t len = pyro_text_decode_into(raw, NULL, 0);
    char *text = len <= BYTES_MAX ? pyro_arena_alloc(arena, len + 1) : NULL;
    size_t characters = 0;
    if (text)
        pyro_text_decode_into(raw, text, len + 1);
    for (size_t i = 0; text && i < len; i++)
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    if (len > BYTES_MAX || characters > CHARACTERS_MAX)
        *why = "a text has more than 1000 characters";
    else if (!text)
        *why = "no memory left";
    else if (strlen(text) != len)
        *why = "a text has a NUL character";
    return text;
}

const char *pyro_api_read_feedback(struct pyro_slice body, struct pyro_arena *arena, struct api_feedback *ret)
{
    PYRO_JSON_KEYS(keys, (FINDING, "finding"), (VERDICT, "verdict"), (COMMENT, "comment"), (MISSED, "missed"));
    const char **const texts[keys_count] = {
        [FINDING] = &ret->finding, [VERDICT] = &ret->verdict, [COMMENT] = &ret->comment, [MISSED] = &ret->missed};
    const char *why = NULL;
    char *text = pyro_arena_alloc(arena, body.len + PYRO_SCAN_PADDING + 1);
    struct pyro_json_reader json;
    struct pyro_json_object object;
    *ret = (struct api_feedback){0};
    if (!text)
        return "no memory left";
    for (size_t i = 0; i < body.len; i++) /* a record is one line for the reader */
        text[i] = body.ptr[i] == '\n' || body.ptr[i] == '\r' || body.ptr[i] == '\t' ? ' ' : body.ptr[i];
    pyro_json_reader_start(&json, text, text + body.len, pyro_scan_best());
    if (pyro_json_enter_object(&json, &object)) {
        for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
            if (key == PYRO_JSON_OTHER)
                return "it may have only the members finding, verdict, comment and missed";
            *texts[key] = take_text(&json, arena, &why);
        }
        pyro_json_record_end(&json);
    } else if (!json.error) {
        return "it is not an object";
    }
    return json.error ? json.error : why;
}
