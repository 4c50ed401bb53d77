/* The lists and columns that can be asked for. */
#include "store/query.h"

const struct pyro_query_list pyro_query_lists[PYRO_QUERY_FROMS] = {
#define PYRO_QUERY_FROM(id, name, table, of_runs, meaning) {name, table, of_runs},
#include "store/query_fields.def"
#undef PYRO_QUERY_FROM
};

static const struct pyro_store_field fields[] = {
#define PYRO_QUERY_FIELD(from, name, type, meaning) {#name, PYRO_FROM_##from, PYRO_FIELD_##type},
#include "store/query_fields.def"
#undef PYRO_QUERY_FIELD
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static const struct pyro_store_field *find(enum pyro_query_from from, struct pyro_slice name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].from == from && pyro_slice_is(name, fields[i].name))
            return &fields[i];
    return NULL;
}

const struct pyro_store_field *pyro_store_field_find(enum pyro_query_from from, struct pyro_slice name)
{
    const struct pyro_store_field *own = find(from, name);
    return own || !pyro_query_lists[from].of_runs ? own : find(PYRO_FROM_RUNS, name);
}

static const struct {
    const char *prefix;
    enum pyro_query_field_kind kind;
} named[] = {{"agg.", PYRO_QUERY_AGGREGATE}, {"property.", PYRO_QUERY_PROPERTY}, {"tag.", PYRO_QUERY_TAG}};

bool pyro_query_field_make(enum pyro_query_from from, struct pyro_slice name, struct pyro_query_field *ret)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        size_t len = strlen(named[i].prefix);
        if (!pyro_slice_starts_with(name, named[i].prefix))
            continue;
        *ret = (struct pyro_query_field){.kind = named[i].kind, .name = name, .key = {name.ptr + len, name.len - len}};
        return name.len > len && pyro_query_lists[from].of_runs;
    }
    *ret =
        (struct pyro_query_field){.kind = PYRO_QUERY_COLUMN, .column = pyro_store_field_find(from, name), .name = name};
    return ret->column != NULL;
}

const char *pyro_query_field_hint(enum pyro_query_from from, struct pyro_slice name, struct pyro_arena *arena)
{
    const char *names[FIELDS];
    size_t count = 0;
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].from == from || (fields[i].from == PYRO_FROM_RUNS && pyro_query_lists[from].of_runs))
            names[count++] = fields[i].name;
    struct pyro_slice word = pyro_arena_copy(arena, name);
    const char *nearest = word.ptr ? pyro_nearest(word.ptr, names, count) : NULL;
    if (!word.ptr || !nearest)
        return word.ptr ? "" : NULL;
    return pyro_arena_printf(arena, "; did you mean '%s'?", nearest).ptr;
}

enum pyro_field_type pyro_query_field_type(const struct pyro_query_field *field)
{
    if (field->kind == PYRO_QUERY_COLUMN)
        return field->column->type;
    return field->kind == PYRO_QUERY_AGGREGATE ? PYRO_FIELD_REAL : PYRO_FIELD_TEXT;
}
