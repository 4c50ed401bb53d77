/* A store on OpenSearch, without a server: addresses, ids, mappings, and questions as searches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/opensearch/question.h"

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

struct parsed {
    struct pyro_opensearch store;
    struct pyro_error error;
    enum pyro_status status;
};

static void parse(struct parsed *parsed, const char *place)
{
    *parsed = (struct parsed){.error = {.size = sizeof(parsed->error)}};
    pyro_arena_init(&parsed->store.arena, NULL);
    parsed->status = pyro_opensearch_parse(&parsed->store, place, &parsed->error);
}

static void test_addresses(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, "https://ann:s%40cret@host:9200/below/spark/?ca=%2Ftmp%2Fa%20b.pem&agg=spot-agg&&err=e.1_2");
    assert_int_equal(parsed.status, PYRO_OK);
    assert_string_equal(parsed.store.server, "https://ann:s%40cret@host:9200/below");
    assert_string_equal(parsed.store.label, "https://host:9200/below/spark/");
    assert_string_equal(parsed.store.ca_file, "/tmp/a b.pem");
    assert_string_equal(parsed.store.index[PYRO_OS_RAW], "spark-raw");
    assert_string_equal(parsed.store.index[PYRO_OS_AGG], "spot-agg");
    assert_string_equal(parsed.store.index[PYRO_OS_ERR], "e.1_2");
    assert_string_equal(parsed.store.index[PYRO_OS_ROWS], "spark-rows");
    assert_string_equal(parsed.store.index[PYRO_OS_WORK], "spark-work");
    pyro_arena_done(&parsed.store.arena);
}

static void test_addresses_that_are_none(void **state)
{
    (void)state;
    static const char *const places[] = {"",
                                         "spark",
                                         "ftp://host/spark",
                                         "http://host",
                                         "http://host/",
                                         "http://host//",
                                         "http://host/Spark",
                                         "http://host/-spark",
                                         "http://host/a,b",
                                         "http://host/sp%61rk",
                                         "http://host/spark#x",
                                         "http://host/spark?agg=",
                                         "http://host/spark?agg=*",
                                         "http://host/spark?agg=%2E%2E",
                                         "http://host/spark?user=ann",
                                         "http://host/spark?=x"};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        struct parsed parsed;
        parse(&parsed, places[i]);
        assert_int_equal(parsed.status, PYRO_ERROR_ARGUMENT);
        assert_true(strlen(parsed.error.message) > 20);
        pyro_arena_done(&parsed.store.arena);
    }
}

#define UMLAUT_HASH "846de24a6807af375e7f8bb76434188e"

/* ---- Ids --------------------------------------------------------------------------------------------------------- */

static void test_ids(void **state)
{
    (void)state;
    struct pyro_arena arena;
    char text[1000];
    pyro_arena_init(&arena, NULL);
    struct pyro_slice id = pyro_opensearch_run_id(&arena, PYRO_SLICE_LITERAL("app-1"), PYRO_SLICE_LITERAL(""));
    assert_true(pyro_slice_is(id, "app-1"));
    id = pyro_opensearch_run_id(&arena, PYRO_SLICE_LITERAL("app-1"), PYRO_SLICE_LITERAL("2"));
    assert_true(pyro_slice_is(id, "app-1/2"));
    memset(text, 'a', sizeof(text));
    struct pyro_slice one = pyro_opensearch_id(&arena, (struct pyro_slice){text, sizeof(text)});
    text[sizeof(text) - 1] = 'b';
    struct pyro_slice other = pyro_opensearch_id(&arena, (struct pyro_slice){text, sizeof(text)});
    assert_true(one.len <= 512 && other.len == one.len && !pyro_slice_eq(one, other));
    /* The same on every machine, for stores outlive them. */
    id = pyro_opensearch_id(&arena, PYRO_SLICE_LITERAL("/logs/\xc3\xbc"));
    assert_true(pyro_slice_is(id, "/logs/~" UMLAUT_HASH));
    id = pyro_opensearch_id(&arena, PYRO_SLICE_LITERAL("\xff"));
    assert_true(pyro_slice_starts_with(id, "~") && id.len == 33);
    pyro_arena_done(&arena);
}

/* ---- Mappings ---------------------------------------------------------------------------------------------------- */

static const struct {
    enum pyro_query_from from;
    const char *name, *type;
} fields[] = {
#define INT                                       "long"
#define REAL                                      "double"
#define TEXT                                      "keyword"
#define TIME                                      "date"
#define FLAG                                      "byte"
#define PYRO_QUERY_FIELD(of, name, type, meaning) {PYRO_FROM_##of, #name, type},
#include "store/query_fields.def"
#undef PYRO_QUERY_FIELD
};

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

static enum pyro_status next_page(struct pyro_opensearch_pages *pages, const char *hit)
{
    struct pyro_error error = {.size = sizeof(error)};
    json_t *tree = json_loads(hit, 0, NULL);
    assert_non_null(tree);
    enum pyro_status status = pyro_opensearch_next_page(pages, tree, &error);
    json_decref(tree);
    return status;
}

static void test_pages_that_have_no_end(void **state)
{
    (void)state;
    struct pyro_opensearch_pages pages = {0};
    assert_int_equal(next_page(&pages, "{\"_id\":\"a\"}"), PYRO_ERROR_INPUT);
    assert_int_equal(next_page(&pages, "{\"sort\":[]}"), PYRO_ERROR_INPUT);
    for (int i = 0; i < 100; i++) {
        char hit[40];
        snprintf(hit, sizeof(hit), "{\"sort\":[%d,\"a\"]}", i);
        assert_int_equal(next_page(&pages, hit), PYRO_OK);
    }
    assert_string_equal(pages.last, "[99,\"a\"]");
    /* A circle of three pages. */
    int asked = 0;
    static const char *const circle[] = {"{\"sort\":[200]}", "{\"sort\":[201]}", "{\"sort\":[202]}"};
    while (asked < 100 && next_page(&pages, circle[asked % 3]) == PYRO_OK)
        asked++;
    assert_in_range(asked, 3, 99);
    pages.count = PYRO_OS_PAGES_MAX;
    assert_int_equal(next_page(&pages, "{\"sort\":[300]}"), PYRO_ERROR_INPUT);
    pyro_opensearch_pages_done(&pages);
}

static void test_every_field_has_its_type(void **state)
{
    (void)state;
    json_t *indices[PYRO_OS_INDICES];
    for (unsigned i = 0; i < PYRO_OS_INDICES; i++) {
        struct pyro_strbuf text;
        pyro_strbuf_init(&text, NULL);
        pyro_opensearch_add_index(i, &text);
        indices[i] = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(indices[i]);
        pyro_strbuf_done(&text);
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        bool number = fields[i].from == PYRO_FROM_CLUSTER && strcmp(fields[i].name, "value") == 0;
        const json_t *mappings = json_object_get(indices[pyro_opensearch_index_of(fields[i].from)], "mappings");
        const json_t *field =
            json_object_get(json_object_get(mappings, "properties"), number ? "number" : fields[i].name);
        assert_non_null(field);
        assert_string_equal(json_string_value(json_object_get(field, "type")), fields[i].type);
    }
    for (unsigned i = 0; i < PYRO_OS_INDICES; i++)
        json_decref(indices[i]);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* The filter of a question, which has one condition besides its kind. */
static void expect(const char *json, const struct pyro_query_viewer *viewer, const char *filter)
{
    struct pyro_arena arena;
    struct pyro_query query;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf text, expected;
    pyro_arena_init(&arena, NULL);
    pyro_strbuf_init(&text, NULL);
    pyro_strbuf_init(&expected, NULL);
    if (pyro_query_parse(pyro_slice_from(json), &arena, &query, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    pyro_opensearch_add_query(&query, viewer, &text);
    pyro_opensearch_format(&expected, "'timeout':'15000ms','query':{'bool':{'filter':[{'term':{'kind':?s}},",
                           pyro_opensearch_kind(query.from));
    pyro_opensearch_format(&expected, filter);
    pyro_strbuf_add_text(&expected, "]}}");
    assert_string_equal(text.data, expected.data);
    pyro_strbuf_done(&text);
    pyro_strbuf_done(&expected);
    pyro_arena_done(&arena);
}

#define WHERE(from, field, op, value)                                                                                  \
    "{\"from\": \"" from "\", \"fields\": [\"source\"], \"where\": [{\"field\": \"" field "\", \"op\": \"" op          \
    "\", \"value\": " value "}]}"

static void test_conditions(void **state)
{
    (void)state;
    expect(WHERE("runs", "user", "=", "\"a\\\"b\""), NULL, "{'terms':{'user':['a\\'b']}}");
    expect(WHERE("runs", "user", "!=", "\"x\""), NULL, "{'bool':{'must_not':[{'terms':{'user':['x']}}]}}");
    expect(WHERE("runs", "core_ms", "in", "[1, 2.0, 2.5, 1e300]"), NULL, "{'terms':{'core_ms':[1,2]}}");
    expect(WHERE("runs", "core_ms", "<", "2.5"), NULL, "{'range':{'core_ms':{'lte':2}}}");
    expect(WHERE("runs", "core_ms", ">", "-2.5"), NULL, "{'range':{'core_ms':{'gte':-2}}}");
    expect(WHERE("runs", "start_ms", ">=", "5.0"), NULL, "{'range':{'start_ms':{'gte':5}}}");
    expect(WHERE("runs", "start_ms", "<", "1e300"), NULL, "{'range':{'start_ms':{'lte':9223372036854775807}}}");
    expect(WHERE("runs", "confidence", "<=", "0.5"), NULL, "{'range':{'confidence':{'lte':0.5}}}");
    expect(WHERE("runs", "agg.run.core_ms", ">", "1"), NULL, "{'range':{'agg.run.core_ms':{'gt':1}}}");
    expect(WHERE("runs", "name", "prefix", "\"etl\""), NULL, "{'prefix':{'name':'etl'}}");
    expect(WHERE("cluster", "value", "<", "0"), NULL, "{'range':{'number':{'lt':0}}}");
    expect(WHERE("runs", "end_ms", "exists", "false"), NULL, "{'bool':{'must_not':[{'exists':{'field':'end_ms'}}]}}");
    expect(WHERE("runs", "queue", "exists", "true"), NULL,
           "{'bool':{'should':[{'exists':{'field':'queue'}},{'term':{'long':'queue'}}]}}");
    expect(WHERE("runs", "property.a.b", "=", "\"1=2\""), NULL, "{'terms':{'properties':['a.b=1=2']}}");
    expect(WHERE("runs", "property.a.b", "<", "\"2\""), NULL, "{'range':{'properties':{'lt':'a.b=2','gte':'a.b='}}}");
    expect(WHERE("runs", "tag.team", ">=", "\"2\""), NULL, "{'range':{'tags':{'gte':'team=2','lt':'team>'}}}");
    expect(WHERE("runs", "tag.team", "exists", "true"), NULL, "{'prefix':{'tags':'team='}}");
}

static void test_viewers(void **state)
{
    (void)state;
    static const char runs[] = "{\"from\": \"runs\", \"fields\": [\"app_id\"]}",
                      errors[] = "{\"from\": \"errors\", \"fields\": [\"app_id\"]}";
    struct pyro_query_viewer viewer = {.user = PYRO_SLICE_LITERAL("ann"), .groups = PYRO_SLICE_LITERAL("a, b")};
    expect(runs, &viewer, "{'terms':{'seen_by':['*','open','u:ann','g:a','g:b']}}");
    viewer.always = true;
    expect(runs, &viewer, "{'terms':{'seen_by':['*','u:ann','g:a','g:b']}}");
    expect(errors, &viewer, "{'bool':{'must_not':[{'match_all':{}}]}}");
    const struct pyro_query_viewer nobody = {.user = PYRO_SLICE_LITERAL(""), .groups = PYRO_SLICE_NULL};
    expect(runs, &nobody, "{'terms':{'seen_by':['*','open']}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_addresses_that_are_none),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_pages_that_have_no_end),
        cmocka_unit_test(test_every_field_has_its_type),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_viewers),
    };
    return cmocka_run_group_tests_name("opensearch", tests, NULL, NULL);
}
