/* Reads documents that a store keeps: the recommended settings of a report, and earlier suggestions. */
#include <math.h>

#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "fleet/suggest/keep_suggestions.h"
#include "fleet/suggest/store.h"

/* A copy that may be scanned, in one line as the reader wants it: the report's own strings have no line breaks. */
static char *copy_line(struct pyro_slice json, struct pyro_arena *arena)
{
    char *text = pyro_arena_alloc(arena, json.len + PYRO_SCAN_PADDING);
    for (size_t i = 0; text && i < json.len; i++)
        text[i] = json.ptr[i] == '\n' ? ' ' : json.ptr[i];
    return text;
}

static struct pyro_slice decode(struct pyro_slice raw, struct pyro_arena *arena)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, arena->allocator);
    pyro_text_decode(&text, raw, NULL);
    struct pyro_slice copy = text.failed ? PYRO_SLICE_NULL : pyro_arena_copy(arena, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    return copy;
}

/* A string or null. False: no memory. */
static bool read_text(struct pyro_json_reader *json, struct pyro_arena *arena, struct pyro_slice *ret)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    pyro_json_take_string(json, &raw, NULL);
    *ret = raw.ptr ? decode(raw, arena) : raw;
    return !raw.ptr || ret->ptr;
}

/* {KEY: VALUE, ...}. False: no memory; an error of the JSON sticks to the reader. */
static bool read_settings(struct pyro_json_reader *json, struct pyro_arena *arena,
                          struct pyro_suggest_setting *settings, size_t *count)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return true;
    while (pyro_json_next(json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice key = decode(object.name, arena), raw = PYRO_SLICE_NULL;
        pyro_json_take_string(json, &raw, NULL);
        if (json->error || !raw.ptr || *count >= PYRO_CANDIDATE_SETTINGS)
            continue;
        settings[*count] = (struct pyro_suggest_setting){key, decode(raw, arena), PYRO_SLICE_NULL};
        if (!key.ptr || !settings[(*count)++].value.ptr)
            return false;
    }
    return true;
}

enum pyro_status pyro_plan_read(struct pyro_slice report, struct pyro_arena *arena, struct pyro_suggest_setting **ret,
                                size_t *ret_count, struct pyro_error *error)
{
    PYRO_JSON_KEYS(members, (PLAN, "plan"));
    PYRO_JSON_KEYS(parts, (SETTINGS, "settings"));
    struct pyro_suggest_setting *settings = pyro_arena_array(arena, PYRO_CANDIDATE_SETTINGS, sizeof(*settings));
    const char *text = copy_line(report, arena);
    struct pyro_json_reader json;
    struct pyro_json_object object, plan;
    size_t count = 0;
    bool ok = settings && text;
    if (!ok)
        return pyro_no_memory(error);
    pyro_json_reader_start(&json, text, text + report.len, pyro_scan_best());
    if (pyro_json_enter_object(&json, &object))
        while (ok && PYRO_JSON_NEXT_KNOWN(&json, &object, members) == PLAN)
            if (pyro_json_enter_object(&json, &plan))
                while (ok && PYRO_JSON_NEXT_KNOWN(&json, &plan, parts) == SETTINGS)
                    ok = read_settings(&json, arena, settings, &count);
    if (!ok)
        return pyro_no_memory(error);
    if (json.error)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the stored report of the newest run cannot be read: %s",
                              json.error);
    *ret = settings;
    *ret_count = count;
    return PYRO_OK;
}

static bool read_applied(struct pyro_json_reader *json, struct pyro_arena *arena, struct pyro_kept_suggestion *kept)
{
    PYRO_JSON_KEYS(applied, (TARGET, "target"), (KEPT, "kept"), (BEFORE, "before_xxh128"), (AFTER, "after_xxh128"),
                   (TIME, "time_ms"));
    struct pyro_json_object object;
    bool ok = true;
    if (!pyro_json_enter_object(json, &object))
        return true;
    for (int key; ok && (key = PYRO_JSON_NEXT_KNOWN(json, &object, applied)) != PYRO_JSON_END;)
        if (key == TIME)
            pyro_json_take_int(json, &kept->applied_ms);
        else
            ok = read_text(json, arena,
                           key == TARGET   ? &kept->target
                           : key == KEPT   ? &kept->kept
                           : key == BEFORE ? &kept->before
                                           : &kept->after);
    return ok;
}

/* expected.wall_ms.high */
static void read_expected(struct pyro_json_reader *json, double *ret)
{
    PYRO_JSON_KEYS(expected, (WALL, "wall_ms"));
    PYRO_JSON_KEYS(range, (HIGH, "high"));
    struct pyro_json_object object, wall;
    if (!pyro_json_enter_object(json, &object))
        return;
    while (PYRO_JSON_NEXT_KNOWN(json, &object, expected) == WALL)
        if (pyro_json_enter_object(json, &wall))
            while (PYRO_JSON_NEXT_KNOWN(json, &wall, range) == HIGH)
                pyro_json_take_double(json, ret);
}

/* The values that settings had before. */
static bool read_previous(struct pyro_json_reader *json, struct pyro_arena *arena, struct pyro_kept_suggestion *kept)
{
    struct pyro_json_object object;
    bool ok = true;
    if (!pyro_json_enter_object(json, &object))
        return true;
    while (ok && pyro_json_next(json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice key = decode(object.name, arena), value = PYRO_SLICE_NULL;
        ok = key.ptr && read_text(json, arena, &value);
        for (size_t i = 0; ok && i < kept->setting_count; i++)
            if (pyro_slice_eq(kept->settings[i].key, key))
                kept->settings[i].previous = value;
    }
    return ok;
}

enum pyro_status pyro_kept_suggestion_read(struct pyro_slice document, struct pyro_arena *arena,
                                           struct pyro_kept_suggestion *kept, struct pyro_error *error)
{
    PYRO_JSON_KEYS(members, (SETTINGS_OF, "settings"), (PREVIOUS, "previous"), (EXPECTED, "expected"),
                   (APPLIED, "applied"));
    const char *text = copy_line(document, arena);
    struct pyro_json_reader json;
    struct pyro_json_object object;
    bool ok = text != NULL;
    kept->high_ms = NAN;
    if (!ok)
        return pyro_no_memory(error);
    pyro_json_reader_start(&json, text, text + document.len, pyro_scan_best());
    if (pyro_json_enter_object(&json, &object))
        for (int key; ok && (key = PYRO_JSON_NEXT_KNOWN(&json, &object, members)) != PYRO_JSON_END;) {
            if (key == SETTINGS_OF)
                ok = read_settings(&json, arena, kept->settings, &kept->setting_count);
            else if (key == PREVIOUS)
                ok = read_previous(&json, arena, kept);
            else if (key == EXPECTED)
                read_expected(&json, &kept->high_ms);
            else
                ok = read_applied(&json, arena, kept);
        }
    if (!ok)
        return pyro_no_memory(error);
    return json.error
               ? pyro_error_set(error, PYRO_ERROR_INPUT, "a suggestion in the store cannot be read: %s", json.error)
               : PYRO_OK;
}
