#include "decode/sparkview/tree.h"

#include <stdlib.h>

#include "base/json/json_read.h"

/* Spark's records nest some 50 deep where they hold plans, which are kept as text here. */
enum { DEEPEST = 24 };

static struct pyro_tree *parse_value(struct pyro_arena *arena, struct pyro_json_reader *json, unsigned depth);

/* An array of accumulables that are not needed: two thirds of what stage events hold. */
static struct pyro_tree *pass_accumulables(struct pyro_arena *arena, struct pyro_json_reader *json)
{
    struct pyro_json_reader ahead = *json;
    struct pyro_scan_words words;
    if (pyro_json_peek(&ahead) != '[' || !pyro_json_skip_array_words(&ahead, &words) ||
        !pyro_words_all_internal(&words))
        return NULL;
    struct pyro_tree *node = pyro_arena_alloc(arena, sizeof(*node));
    if (node) {
        node->kind = PYRO_TREE_ARRAY;
        node->text = (struct pyro_slice){json->at, (size_t)(ahead.at - json->at)};
        *json = ahead;
    }
    return node;
}

static bool parse_object(struct pyro_arena *arena, struct pyro_json_reader *json, struct pyro_tree *node,
                         unsigned depth)
{
    struct pyro_json_object object;
    const struct pyro_tree **place = &node->first;
    if (!pyro_json_enter_object(json, &object))
        return false;
    while (pyro_json_next_any(json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice key = object.name;
        struct pyro_tree *member = pyro_slice_is(key, "Accumulables") ? pass_accumulables(arena, json) : NULL;
        member = member ? member : parse_value(arena, json, depth + 1);
        if (!member)
            return false;
        member->key = key;
        *place = member;
        place = &member->next;
    }
    return !json->error;
}

static bool parse_array(struct pyro_arena *arena, struct pyro_json_reader *json, struct pyro_tree *node, unsigned depth)
{
    const struct pyro_tree **place = &node->first;
    if (!pyro_json_enter_array(json))
        return false;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_tree *element = parse_value(arena, json, depth + 1);
        if (!element)
            return false;
        *place = element;
        place = &element->next;
    }
    return !json->error;
}

static struct pyro_tree *parse_value(struct pyro_arena *arena, struct pyro_json_reader *json, unsigned depth)
{
    struct pyro_tree *node = pyro_arena_alloc(arena, sizeof(*node));
    if (!node)
        return NULL;
    char next = pyro_json_peek(json);
    const char *start = json->at;
    bool ok = true;
    if (next == '"') {
        node->kind = PYRO_TREE_STRING;
        return pyro_json_take_string(json, &node->text, NULL) ? node : NULL;
    }
    if (depth < DEEPEST && (next == '{' || next == '[')) {
        node->kind = next == '{' ? PYRO_TREE_OBJECT : PYRO_TREE_ARRAY;
        ok = next == '{' ? parse_object(arena, json, node, depth) : parse_array(arena, json, node, depth);
        node->text = (struct pyro_slice){start, (size_t)(json->at - start)};
        return ok ? node : NULL;
    }
    ok = pyro_json_take_raw(json, &node->text);
    node->kind = next == 'n' ? PYRO_TREE_NULL : PYRO_TREE_SCALAR;
    return ok ? node : NULL;
}

const struct pyro_tree *pyro_tree_parse(struct pyro_arena *arena, struct pyro_slice text)
{
    struct pyro_json_reader json;
    pyro_json_reader_start(&json, text.ptr, text.ptr + text.len, pyro_scan_best());
    if (pyro_json_peek(&json) != '{' && *json.at != '[')
        return NULL;
    const struct pyro_tree *root = parse_value(arena, &json, 0);
    return root && pyro_json_record_end(&json) ? root : NULL;
}

const struct pyro_tree *pyro_tree_get(const struct pyro_tree *node, const char *key)
{
    size_t len = strlen(key);
    for (const struct pyro_tree *member = node && node->kind == PYRO_TREE_OBJECT ? node->first : NULL; member;
         member = member->next)
        if (member->key.len == len && memcmp(member->key.ptr, key, len) == 0)
            return member->kind == PYRO_TREE_NULL ? NULL : member;
    return NULL;
}

static const char *number_text(const struct pyro_tree *node, char *buffer, size_t capacity)
{
    if (!node || (node->kind != PYRO_TREE_SCALAR && node->kind != PYRO_TREE_STRING) || node->text.len >= capacity)
        return NULL;
    memcpy(buffer, node->text.ptr, node->text.len);
    buffer[node->text.len] = '\0';
    return buffer;
}

int64_t pyro_tree_int(const struct pyro_tree *node, int64_t fallback)
{
    char buffer[40], *end;
    const char *text = number_text(node, buffer, sizeof(buffer));
    if (!text)
        return fallback;
    long long value = strtoll(text, &end, 10);
    return end == text ? fallback : value;
}

double pyro_tree_real(const struct pyro_tree *node, double fallback)
{
    char buffer[64], *end;
    const char *text = number_text(node, buffer, sizeof(buffer));
    if (!text)
        return fallback;
    double value = strtod(text, &end);
    return end == text ? fallback : value;
}

bool pyro_tree_bool(const struct pyro_tree *node)
{
    return node && node->kind == PYRO_TREE_SCALAR && pyro_slice_is(node->text, "true");
}

bool pyro_tree_is(const struct pyro_tree *node, const char *text)
{
    return node && node->kind == PYRO_TREE_STRING && pyro_slice_is(node->text, text);
}

bool pyro_tree_is_user_accumulable(const struct pyro_tree *node)
{
    return !pyro_tree_bool(pyro_tree_get(node, "Internal")) && !pyro_tree_is(pyro_tree_get(node, "Metadata"), "sql");
}
