/* What the indices look like. Fields are those of query_fields.def, and some that only this store needs. */
#include "store/opensearch/opensearch.h"

static const struct {
    const char *kind;
    enum pyro_opensearch_index index;
} froms[PYRO_QUERY_FROMS] = {
    [PYRO_FROM_RUNS] = {"run", PYRO_OS_AGG},
    [PYRO_FROM_FINDINGS] = {"finding", PYRO_OS_ROWS},
    [PYRO_FROM_USAGE] = {"usage", PYRO_OS_ROWS},
    [PYRO_FROM_ALLOCATIONS] = {"allocation", PYRO_OS_ROWS},
    [PYRO_FROM_ERRORS] = {"error", PYRO_OS_ERR},
    [PYRO_FROM_ADVICE] = {"advice", PYRO_OS_ROWS},
    [PYRO_FROM_SUGGESTIONS] = {"suggestion", PYRO_OS_ROWS},
    [PYRO_FROM_CLUSTER] = {"cluster", PYRO_OS_ROWS},
    [PYRO_FROM_DAYS] = {"day", PYRO_OS_ROWS},
};

static const struct {
    enum pyro_query_from from;
    const char *name;
    enum pyro_field_type type;
} fields[] = {
#define PYRO_QUERY_FIELD(of, name, type, meaning) {PYRO_FROM_##of, #name, PYRO_FIELD_##type},
#include "store/query_fields.def"
#undef PYRO_QUERY_FIELD
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

const char *pyro_opensearch_kind(enum pyro_query_from from)
{
    return froms[from].kind;
}

enum pyro_opensearch_index pyro_opensearch_index_of(enum pyro_query_from from)
{
    return froms[from].index;
}

bool pyro_opensearch_has_own(enum pyro_query_from from, struct pyro_slice name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].from == from && pyro_slice_is(name, fields[i].name))
            return true;
    return false;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static void add_type(const char *name, enum pyro_field_type type, struct pyro_strbuf *to)
{
    pyro_compact_name(to, name);
    switch (type) {
    case PYRO_FIELD_INT:
        pyro_strbuf_add_text(to, "{\"type\":\"long\"}");
        return;
    case PYRO_FIELD_REAL:
        pyro_strbuf_add_text(to, "{\"type\":\"double\"}");
        return;
    case PYRO_FIELD_TIME:
        pyro_strbuf_add_text(to, "{\"type\":\"date\",\"format\":\"epoch_millis\"}");
        return;
    case PYRO_FIELD_FLAG:
        pyro_strbuf_add_text(to, "{\"type\":\"byte\"}");
        return;
    default:
        pyro_strbuf_printf(to, "{\"type\":\"keyword\",\"ignore_above\":%d}", PYRO_OS_TEXT);
    }
}

static bool is_listed(size_t before, enum pyro_opensearch_index index, const char *name)
{
    for (size_t i = 0; i < before; i++)
        if (froms[fields[i].from].index == index && strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

/* Fields of documents of this index; each name once, for a name has one type in all of them: only the "value" of an
 * advice is a text, and that of a cluster a number, which is called "number". */
static void add_own(enum pyro_opensearch_index index, struct pyro_strbuf *to)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (froms[fields[i].from].index != index || is_listed(i, index, fields[i].name))
            continue;
        add_type(fields[i].name, fields[i].type, to);
    }
}

static void add_of_run(enum pyro_opensearch_index index, struct pyro_strbuf *to)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].from == PYRO_FROM_RUNS && !is_listed(FIELDS, index, fields[i].name))
            add_type(fields[i].name, fields[i].type, to);
    add_type("run", PYRO_FIELD_TEXT, to);
    add_type("run_start_ms", PYRO_FIELD_TIME, to);
    add_type("position", PYRO_FIELD_INT, to);
    add_type("epoch", PYRO_FIELD_INT, to);
    add_type("kind", PYRO_FIELD_TEXT, to);
    add_type("properties", PYRO_FIELD_TEXT, to); /* KEY=VALUE */
    add_type("tags", PYRO_FIELD_TEXT, to);
    add_type("seen_by", PYRO_FIELD_TEXT, to);
    pyro_compact_json(to, "access", PYRO_SLICE_LITERAL("{\"type\":\"object\",\"enabled\":false}"));
    pyro_compact_json(to, "agg", PYRO_SLICE_LITERAL("{\"type\":\"object\",\"dynamic\":true}"));
}

static void add_work(struct pyro_strbuf *to)
{
    static const char *const texts[] = {"kind", "key", "source", "stamp", "state", "owner"}, *const times[] = {
                                                                                                 "until_ms", "next_ms",
                                                                                                 "end_ms", "listed_ms"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        add_type(texts[i], PYRO_FIELD_TEXT, to);
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        add_type(times[i], PYRO_FIELD_TIME, to);
    add_type("epoch", PYRO_FIELD_INT, to);
    add_type("tries", PYRO_FIELD_INT, to);
}

/* Only aggregates come with names that are not known before, and all are numbers. In -rows they are repeated for each
 * document: there they have no index of their own, and are searched by their columns. */
static void add_aggregates(enum pyro_opensearch_index index, struct pyro_strbuf *to)
{
    static const char *const types[] = {"long", "double"};
    pyro_strbuf_add_text(to, "\"dynamic_templates\":[");
    for (size_t i = 0; i < 2; i++)
        pyro_strbuf_printf(to,
                           "%s{\"agg_%s\":{\"path_match\":\"agg.*\",\"match_mapping_type\":\"%s\",\"mapping\":{"
                           "\"type\":\"double\"%s}}}",
                           i ? "," : "", types[i], types[i], index == PYRO_OS_ROWS ? ",\"index\":false" : "");
    pyro_strbuf_add_text(to, "],");
}

/* One shard: pages are sorted by _seq_no, of which each shard has its own. */
void pyro_opensearch_add_index(enum pyro_opensearch_index index, struct pyro_strbuf *to)
{
    pyro_strbuf_printf(to,
                       "{\"settings\":{\"index\":{\"number_of_shards\":1,\"mapping.total_fields.limit\":%d,"
                       "\"auto_expand_replicas\":\"0-1\"%s}"
                       "},\"mappings\":{\"_meta\":{\"pyrometer\":{\"store\":%d}},\"dynamic\":false,",
                       PYRO_OS_FIELDS, index == PYRO_OS_WORK ? "" : ",\"codec\":\"best_compression\"", PYRO_OS_VERSION);
    if (index == PYRO_OS_AGG || index == PYRO_OS_ROWS)
        add_aggregates(index, to);
    pyro_strbuf_add_text(to, "\"properties\":{");
    if (to->failed)
        return;
    if (index == PYRO_OS_WORK)
        add_work(to);
    else
        add_own(index, to);
    if (index == PYRO_OS_ERR)
        add_type("kind", PYRO_FIELD_TEXT, to);
    if (index == PYRO_OS_ERR || index == PYRO_OS_ROWS)
        add_type("long", PYRO_FIELD_TEXT, to); /* names of texts that are too long to be searched for */
    if (index == PYRO_OS_ROWS) {
        add_type("number", PYRO_FIELD_REAL, to);
        add_type("verdict", PYRO_FIELD_TEXT, to);
    }
    if (index == PYRO_OS_AGG || index == PYRO_OS_ROWS || index == PYRO_OS_RAW)
        add_of_run(index, to);
    if (index == PYRO_OS_RAW) {
        pyro_compact_json(to, "raw", PYRO_SLICE_LITERAL("{\"type\":\"object\",\"enabled\":false}"));
        pyro_compact_json(to, "report", PYRO_SLICE_LITERAL("{\"type\":\"text\",\"index\":false}"));
    }
    pyro_strbuf_add_text(to, "}}}");
}
