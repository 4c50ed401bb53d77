/* Questions to stores: whatever they are, they are answered, or refused with a message; SQLite accepts every statement
 * that a question becomes. */
#include "fuzz_kit.h"
#include "store/store.h"

static pyro_store *empty_store(void)
{
    static pyro_store *store;
    if (!store)
        FUZZ_CHECK(pyro_store_open("sqlite::memory:", NULL, NULL, &store, NULL) == PYRO_OK);
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pyro_query_viewer viewer = {PYRO_SLICE_LITERAL("ann"), PYRO_SLICE_LITERAL("a,b"), false};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_arena arena;
    struct pyro_query query;
    struct pyro_query_answer answer;
    if (size > FUZZ_TEXT_LIMIT)
        return 0;
    pyro_arena_init(&arena, NULL);
    const char *text = fuzz_guarded_copy(data, size, ' ');
    enum pyro_status status = pyro_query_parse((struct pyro_slice){text, size}, &arena, &query, &error);
    for (int viewed = 0; status == PYRO_OK && viewed < 2; viewed++) {
        status = pyro_store_ask(empty_store(), &query, viewed ? &viewer : NULL, &arena, &answer, &error);
        if (status != PYRO_OK)
            break;
        FUZZ_CHECK(answer.row_count <= 1 && answer.column_count > 0 && !answer.after.ptr);
        struct pyro_strbuf written;
        pyro_strbuf_init(&written, NULL);
        pyro_query_answer_write(&answer, &written);
        FUZZ_CHECK(!written.failed && fuzz_is_utf8(written.data, written.len));
        pyro_strbuf_done(&written);
    }
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_ARGUMENT && error.message[0] != '\0'));
    pyro_arena_done(&arena);
    return 0;
}
