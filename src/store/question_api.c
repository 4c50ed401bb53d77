/* Questions to an open store, and pyro_store_query() of pyrometer.h. */
#include "base/options.h"
#include "store/clean.h"
#include "store/handle.h"

/* The column's field, where it shows texts that may quote a log; NULL: numbers, or ids, by which runs are asked for. */
static const struct pyro_query_field *cleaned_field(const struct pyro_query *query, size_t column)
{
    static const char *const ids[] = {"app_id", "attempt", "id", "finding", "path"};
    bool groups = query->group_count > 0;
    if (column >= (groups ? query->group_count : query->field_count))
        return NULL;
    const struct pyro_query_field *field = groups ? &query->groups[column].field : &query->fields[column];
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        if (pyro_slice_is(field->name, ids[i]))
            return NULL;
    return pyro_query_field_type(field) == PYRO_FIELD_TEXT ? field : NULL;
}

static bool clean_value(pyro_store *store, const struct pyro_query_field *field, struct pyro_query_value *value,
                        struct pyro_arena *arena)
{
    if (value->kind != PYRO_VALUE_TEXT)
        return true;
    if (field->kind == PYRO_QUERY_PROPERTY && pyro_secrets_name(&store->secrets, field->key, value->text))
        value->text = PYRO_SLICE_LITERAL(PYRO_REDACTED);
    else
        value->text = pyro_store_clean_text(&store->secrets, value->text, arena);
    return value->text.ptr != NULL;
}

enum pyro_status pyro_store_ask(pyro_store *store, const struct pyro_query *query,
                                const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    PYRO_TRY(store->backend->query(store->state, query, viewer, arena, &answer, error));
    for (size_t i = 0; i < answer.column_count; i++) {
        const struct pyro_query_field *field = cleaned_field(query, i);
        for (size_t row = 0; field && row < answer.row_count; row++)
            if (!clean_value(store, field, &answer.values[row * answer.column_count + i], arena))
                return pyro_no_memory(error);
    }
    *ret = answer;
    return PYRO_OK;
}

static enum pyro_status answer_json(pyro_store *store, const char *question, const struct pyro_query_viewer *viewer,
                                    struct pyro_arena *arena, struct pyro_strbuf *text, struct pyro_error *error)
{
    struct pyro_query query;
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_query_parse(pyro_slice_from(question), arena, &query, error));
    PYRO_TRY(pyro_store_ask(store, &query, viewer, arena, &answer, error));
    pyro_query_answer_write(&answer, text);
    return text->failed ? pyro_no_memory(error) : PYRO_OK;
}

enum pyro_status pyro_store_query(pyro_store *store, const char *question,
                                  const struct pyro_store_query_options *options, const struct pyro_writer *writer,
                                  struct pyro_error *error)
{
    struct pyro_store_query_options how = {.size = sizeof(how)};
    struct pyro_arena arena;
    struct pyro_strbuf text;
    pyro_error_clear(error);
    PYRO_TRY(PYRO_TAKE(&how, options, error));
    if (!store || !question || !writer)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store, the question or the writer is missing");
    const struct pyro_query_viewer viewer = {pyro_slice_from(how.user), pyro_slice_from(how.groups), how.always != 0};
    pyro_arena_init(&arena, store->allocator);
    pyro_strbuf_init(&text, store->allocator);
    enum pyro_status status = answer_json(store, question, how.user ? &viewer : NULL, &arena, &text, error);
    if (status == PYRO_OK && writer->write(writer->context, text.data, text.len) != 0)
        status = pyro_error_set(error, PYRO_ERROR_OUTPUT, "the output could not be written");
    pyro_strbuf_done(&text);
    pyro_arena_done(&arena);
    return status;
}
