/* Events of libyaml to a tree; what the values mean is in yaml_value.c. */
#include "base/files/yaml_file.h"

#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "base/collections/vec.h"
#include "base/files/whole_file.h"

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the newest one; empty when `pending` is false */
    bool pending;
    struct pyro_arena *arena;
    const char *path;
    struct pyro_error *error;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to read settings");
}

static enum pyro_status refuse(struct reader *reader, size_t line, const char *why)
{
    pyro_error_describe(reader->error, PYRO_ERROR_INPUT, "line %zu: %s", line + 1, why);
    pyro_error_at(reader->error, reader->path, UINT64_MAX);
    return PYRO_ERROR_INPUT;
}

static enum pyro_status next_event(struct reader *reader)
{
    if (reader->pending)
        yaml_event_delete(&reader->event);
    reader->pending = false;
    if (yaml_parser_parse(&reader->parser, &reader->event)) {
        reader->pending = true;
        return PYRO_OK;
    }
    if (reader->parser.error == YAML_MEMORY_ERROR)
        return no_memory(reader->error);
    const char *problem = reader->parser.problem ? reader->parser.problem : "this is neither YAML nor JSON";
    return refuse(reader, reader->parser.problem_mark.line, problem);
}

static enum pyro_status read_node(struct reader *reader, unsigned depth, const struct pyro_yaml **ret);

static bool repeats(const struct pyro_yaml_entry *entries, size_t count, struct pyro_slice key)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(entries[i].key, key))
            return true;
    return false;
}

static enum pyro_status read_scalar(struct reader *reader, struct pyro_yaml *node)
{
    const yaml_event_t *event = &reader->event;
    struct pyro_slice text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    if (memchr(text.ptr, '\0', text.len))
        return refuse(reader, event->start_mark.line, "a text has a NUL character");
    node->text = pyro_arena_copy(reader->arena, text);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return node->text.ptr ? PYRO_OK : no_memory(reader->error);
}

/* The rest of a map or list whose start is the current event. */
static enum pyro_status read_entries(struct reader *reader, unsigned depth, struct pyro_yaml *node)
{
    yaml_event_type_t end = node->kind == PYRO_YAML_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    PYRO_VEC(struct pyro_yaml_entry) entries = {0};
    enum pyro_status status;
    while ((status = next_event(reader)) == PYRO_OK && reader->event.type != end) {
        struct pyro_yaml_entry entry = {.key = PYRO_SLICE_NULL};
        size_t line = reader->event.start_mark.line;
        entry.line = (unsigned)line + 1;
        if (entries.count == PYRO_YAML_MAX_ENTRIES) {
            status = refuse(reader, line, "too many entries");
            break;
        }
        if (node->kind == PYRO_YAML_MAP) {
            const struct pyro_yaml *key;
            if ((status = read_node(reader, depth, &key)) != PYRO_OK)
                break;
            if (key->kind != PYRO_YAML_SCALAR || repeats(entries.items, entries.count, key->text)) {
                status = refuse(reader, line,
                                key->kind != PYRO_YAML_SCALAR ? "a key is not text" : "this key is given twice");
                break;
            }
            entry.key = key->text;
            if ((status = next_event(reader)) != PYRO_OK)
                break;
        }
        if ((status = read_node(reader, depth, &entry.value)) != PYRO_OK)
            break;
        if (!pyro_vec_reserve(&entries, 1, reader->arena->allocator)) {
            status = no_memory(reader->error);
            break;
        }
        entries.items[entries.count++] = entry;
    }
    if (status == PYRO_OK && entries.count) {
        struct pyro_yaml_entry *kept = pyro_arena_array(reader->arena, entries.count, sizeof(*kept));
        if (kept) {
            memcpy(kept, entries.items, entries.count * sizeof(*kept));
            node->entries = kept;
            node->count = entries.count;
        } else {
            status = no_memory(reader->error);
        }
    }
    pyro_vec_done(&entries, reader->arena->allocator);
    return status;
}

static const char *forbidden(const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return "aliases (*name) are not supported";
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        return "a value is missing";
    }
    return anchor ? "anchors (&name) are not supported" : tag ? "tags (!name) are not supported" : NULL;
}

/* The node that begins with the current event. */
static enum pyro_status read_node(struct reader *reader, unsigned depth, const struct pyro_yaml **ret)
{
    const yaml_event_t *event = &reader->event;
    size_t line = event->start_mark.line;
    const char *why = depth > PYRO_YAML_MAX_DEPTH ? "nested too deeply" : forbidden(event);
    if (why)
        return refuse(reader, line, why);
    struct pyro_yaml *node = pyro_arena_alloc(reader->arena, sizeof(*node));
    if (!node)
        return no_memory(reader->error);
    node->line = (unsigned)line + 1; /* of a file of at most a mebibyte */
    *ret = node;
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(reader, node);
    node->kind = event->type == YAML_MAPPING_START_EVENT ? PYRO_YAML_MAP : PYRO_YAML_LIST;
    return read_entries(reader, depth + 1, node);
}

static enum pyro_status read_document(struct reader *reader, const struct pyro_yaml **ret)
{
    PYRO_TRY(next_event(reader)); /* start of the stream */
    PYRO_TRY(next_event(reader));
    if (reader->event.type == YAML_STREAM_END_EVENT) {
        struct pyro_yaml *empty = pyro_arena_alloc(reader->arena, sizeof(*empty));
        if (!empty)
            return no_memory(reader->error);
        *empty = (struct pyro_yaml){.kind = PYRO_YAML_MAP, .line = 1};
        *ret = empty;
        return PYRO_OK;
    }
    PYRO_TRY(next_event(reader));
    PYRO_TRY(read_node(reader, 0, ret));
    PYRO_TRY(next_event(reader)); /* end of the document */
    PYRO_TRY(next_event(reader));
    if (reader->event.type != YAML_STREAM_END_EVENT)
        return refuse(reader, reader->event.start_mark.line, "the file has a second document");
    return PYRO_OK;
}

enum pyro_status pyro_yaml_parse(struct pyro_arena *arena, const char *path, const void *text, size_t len,
                                 const struct pyro_yaml **ret, struct pyro_error *error)
{
    struct reader reader = {.arena = arena, .path = path, .error = error};
    if (len > PYRO_YAML_MAX_BYTES) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "it is larger than 1 MiB, which is too large for a settings file");
        pyro_error_at(error, path, UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    if (!yaml_parser_initialize(&reader.parser))
        return no_memory(error);
    yaml_parser_set_input_string(&reader.parser, text, len);
    const struct pyro_yaml *root = NULL;
    enum pyro_status status = read_document(&reader, &root);
    if (reader.pending)
        yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    if (status == PYRO_OK)
        *ret = root;
    return status;
}

enum pyro_status pyro_yaml_load(struct pyro_arena *arena, const char *path, const struct pyro_yaml **ret,
                                struct pyro_error *error)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, arena->allocator);
    enum pyro_status status = pyro_read_whole(path, PYRO_YAML_MAX_BYTES, &text, error);
    if (status == PYRO_OK)
        status = pyro_yaml_parse(arena, path, pyro_strbuf_slice(&text).ptr, text.len, ret, error);
    pyro_strbuf_done(&text);
    return status;
}

const struct pyro_yaml *pyro_yaml_get(const struct pyro_yaml *map, const char *key)
{
    if (!map || map->kind != PYRO_YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (pyro_slice_is(map->entries[i].key, key))
            return map->entries[i].value;
    return NULL;
}

enum pyro_status pyro_yaml_refuse(const struct pyro_yaml *node, const char *path, struct pyro_error *error,
                                  const char *wanted)
{
    static const char *const kinds[] = {"", "a list", "a map"};
    bool scalar = node->kind == PYRO_YAML_SCALAR;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s, line %u: %s%.60s%s is not %s", path, node->line,
                          scalar ? "'" : "", scalar ? node->text.ptr : kinds[node->kind], scalar ? "'" : "", wanted);
}
