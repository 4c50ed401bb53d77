#include "decode/eventlog/plan.h"

#include "base/collections/hash.h"
#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/eventlog/fingerprint.h"
#include "decode/eventlog/keys.h"

/* Of an operator's text, and of one value of its metadata, this much is kept unless plans are wanted whole. */
enum { PYRO_DETAIL_BYTES = 400, PYRO_METADATA_BYTES = 600 };

enum { MOST_TEXT_BYTES = 16 << 20 };

/* Plans that were replaced: of one execution, and operators of all. */
enum { MOST_EARLIER = 50, MOST_EARLIER_NODES = 1000000 };

static uint32_t keep_text(struct pyro_builder *builder, struct pyro_slice text)
{
    uint32_t kept = text.ptr ? pyro_intern(builder->app->strings, text) : UINT32_MAX;
    builder->failed |= kept == UINT32_MAX;
    return kept;
}

static uint32_t decode_text(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    bool plain = false;
    if (!pyro_json_take_string(json, &raw, &plain))
        return 0;
    uint32_t text = pyro_intern(builder->app->strings, plain ? raw : pyro_build_decode(builder, raw));
    builder->failed |= text == UINT32_MAX;
    return text;
}

/* Row of that name and type, added when new. */
static uint32_t find_kind(struct pyro_builder *builder, uint32_t name, uint32_t type)
{
    uint64_t *row = pyro_map_put(&builder->metric_kind_rows, (uint64_t)name << 32 | type, NULL);
    if (row && *row == 0) {
        struct pyro_metric_kind *kind = pyro_vec_push(&builder->metric_kinds, builder->allocator);
        if (kind) {
            *kind = (struct pyro_metric_kind){name, type};
            *row = builder->metric_kinds.count;
        }
    }
    builder->failed |= !row || *row == 0;
    return builder->failed ? 0 : (uint32_t)*row - 1;
}

static void decode_metric(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_plan_metric *metric)
{
    struct pyro_json_object object;
    uint32_t name = 0, type = 0;
    if (pyro_json_enter_object(json, &object))
        for (int key; (key = PYRO_JSON_NEXT(json, &object, plan_metric_keys)) != PYRO_JSON_END;) {
            if (key == METRIC_NAME)
                name = decode_text(json, builder);
            else if (key == METRIC_ACCUMULATOR)
                pyro_json_take_int(json, &metric->accumulator);
            else if (key == METRIC_TYPE)
                type = decode_text(json, builder);
            else
                pyro_json_skip(json);
        }
    metric->kind = find_kind(builder, name, type);
}

static void decode_metrics(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_sql_plan *plan,
                           size_t node)
{
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first) && !builder->failed;) {
        struct pyro_plan_metric *metric = pyro_vec_push(&plan->metrics, builder->allocator);
        if (!metric) {
            builder->failed = true;
            return;
        }
        *metric = (struct pyro_plan_metric){.accumulator = PYRO_NONE, .node = (uint32_t)node};
        decode_metric(json, builder, metric);
    }
}

/* What the operator of this name is; found once a name. */
static const struct pyro_operator *find_operator(struct pyro_builder *builder, uint32_t name)
{
    bool added = false;
    uint64_t *place = pyro_map_put(&builder->operators, name, &added);
    if (!place) {
        builder->failed = true;
        return NULL;
    }
    if (added) {
        const struct pyro_operator *found = pyro_operator_find(pyro_string_pool_text(builder->app->strings, name));
        *place = found ? (uint64_t)(found - pyro_operators) + 1 : 0;
    }
    return *place ? &pyro_operators[*place - 1] : NULL;
}

/* Operators whose arguments rules read. */
static bool is_asked_for(const struct pyro_operator *known)
{
    switch (known ? known->operator_class : PYRO_OPERATOR_UNKNOWN) {
    case PYRO_OPERATOR_SCAN:
    case PYRO_OPERATOR_SHUFFLE:
    case PYRO_OPERATOR_BROADCAST:
    case PYRO_OPERATOR_SORT_MERGE_JOIN:
    case PYRO_OPERATOR_SHUFFLED_HASH_JOIN:
    case PYRO_OPERATOR_BROADCAST_HASH_JOIN:
    case PYRO_OPERATOR_NESTED_LOOP_JOIN:
    case PYRO_OPERATOR_CARTESIAN:
    case PYRO_OPERATOR_WINDOW:
    case PYRO_OPERATOR_GENERATE:
    case PYRO_OPERATOR_PYTHON:
    case PYRO_OPERATOR_CACHE:
    case PYRO_OPERATOR_AQE_READER:
    case PYRO_OPERATOR_WRITE:
        return true;
    default:
        return false;
    }
}

/* Members of a node that are read when it is known what the node is. */
struct node_texts {
    struct pyro_slice detail; /* as between its quotes */
    struct pyro_slice metadata;
};

/* How much of a text is kept; 0: all of it. */
static size_t limit_of(const struct pyro_builder *builder, size_t limit)
{
    return builder->wanted & PYRO_WANT_PLAN_TEXT ? 0 : limit;
}

/* Texts of operators differ from plan to plan and make up most of their bytes: all of them are kept only when asked
 * for, else the beginning of those that rules read. */
static uint32_t keep_detail(struct pyro_builder *builder, struct pyro_slice raw)
{
    struct pyro_slice text = pyro_build_scratch(builder, raw);
    text = pyro_intake_prefix(&builder->intake, text, limit_of(builder, PYRO_DETAIL_BYTES), true);
    return keep_text(builder, text);
}

/* "KEY: VALUE" of each text member, one a line. */
static uint32_t read_metadata(struct pyro_json_reader *outer, struct pyro_builder *builder, struct pyro_slice raw)
{
    struct pyro_json_reader json;
    struct pyro_json_object object;
    struct pyro_slice value;
    struct pyro_strbuf decoded;
    pyro_strbuf_init(&decoded, builder->allocator);
    pyro_strbuf_clear(&builder->scratch);
    pyro_json_reader_start(&json, raw.ptr, raw.ptr + raw.len, outer->scan);
    if (pyro_json_enter_object(&json, &object))
        while (pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END) {
            struct pyro_slice key = object.name;
            if (pyro_json_peek(&json) != '"') {
                pyro_json_skip(&json);
                continue;
            }
            if (!pyro_json_take_string(&json, &value, NULL))
                break;
            if (builder->scratch.len > 0)
                pyro_strbuf_add_char(&builder->scratch, '\n');
            size_t begin = builder->scratch.len;
            pyro_text_decode(&builder->scratch, key, NULL);
            struct pyro_slice name = {builder->scratch.data + begin, builder->scratch.len - begin};
            pyro_strbuf_clear(&decoded);
            pyro_text_decode(&decoded, value, &builder->app->integrity.replaced_characters);
            bool forbidden = pyro_intake_forbids(&builder->intake, name, pyro_strbuf_slice(&decoded), false);
            pyro_strbuf_add_text(&builder->scratch, ": ");
            if (forbidden) {
                pyro_strbuf_add_text(&builder->scratch, PYRO_REDACTED);
                continue;
            }
            pyro_intake_add_prefix(&builder->intake, pyro_strbuf_slice(&decoded),
                                   limit_of(builder, PYRO_METADATA_BYTES), &builder->scratch);
            builder->failed |= decoded.failed;
        }
    if (json.error)
        pyro_json_fail(outer, json.error);
    pyro_strbuf_done(&decoded);
    builder->failed |= builder->scratch.failed;
    if (builder->failed || json.error || builder->scratch.len == 0)
        return UINT32_MAX;
    uint32_t kept = pyro_intake_plan(&builder->intake, pyro_strbuf_slice(&builder->scratch));
    builder->failed |= kept == UINT32_MAX;
    return kept;
}

/* Plans of one application read the same tables again and again. What had to be repaired is counted each time. */
static uint32_t keep_metadata(struct pyro_json_reader *outer, struct pyro_builder *builder, struct pyro_slice raw)
{
    uint64_t hash = pyro_hash_slice(raw);
    const uint64_t *known = pyro_map_get(&builder->metadatas, hash);
    if (known)
        return (uint32_t)(*known - 1);
    uint64_t replaced = builder->app->integrity.replaced_characters;
    uint32_t kept = read_metadata(outer, builder, raw);
    if (kept == UINT32_MAX || builder->app->integrity.replaced_characters != replaced)
        return kept;
    uint64_t *place = pyro_map_put(&builder->metadatas, hash, NULL);
    builder->failed |= !place;
    if (place)
        *place = (uint64_t)kept + 1;
    return kept;
}

static void keep_texts(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_plan_node *node,
                       const struct node_texts *texts)
{
    node->known = node->name == UINT32_MAX ? NULL : find_operator(builder, node->name);
    if (!(builder->wanted & PYRO_WANT_PLAN_TEXT) && !is_asked_for(node->known))
        return;
    if (texts->detail.ptr)
        node->detail = keep_detail(builder, texts->detail);
    if (texts->metadata.ptr && !json->error && !builder->failed)
        node->metadata = keep_metadata(json, builder, texts->metadata);
}

static void decode_node(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_sql_plan *plan,
                        int32_t parent, uint32_t depth)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    struct pyro_plan_node *node = pyro_vec_push(&plan->nodes, builder->allocator);
    if (!node || plan->nodes.count > INT32_MAX) {
        builder->failed = true;
        return;
    }
    size_t row = plan->nodes.count - 1;
    struct node_texts texts = {PYRO_SLICE_NULL, PYRO_SLICE_NULL};
    *node = (struct pyro_plan_node){
        .name = UINT32_MAX, .detail = UINT32_MAX, .metadata = UINT32_MAX, .parent = parent, .depth = depth};
    for (int key; (key = PYRO_JSON_NEXT(json, &object, plan_node_keys)) != PYRO_JSON_END && !builder->failed;) {
        node = &plan->nodes.items[row]; /* children may have moved it */
        if (key == NODE_NAME) {
            node->name = decode_text(json, builder);
        } else if (key == NODE_TEXT) {
            pyro_json_take_string(json, &texts.detail, NULL);
        } else if (key == NODE_CHILDREN) {
            /* Nesting is bounded by the reader: PYRO_JSON_DEPTH. */
            if (pyro_json_enter_array(json))
                for (bool first = true; pyro_json_next_element(json, &first) && !builder->failed;)
                    decode_node(json, builder, plan, (int32_t)row, depth + 1);
        } else if (key == NODE_METADATA && pyro_json_peek(json) == '{') {
            pyro_json_take_raw_fast(json, &texts.metadata);
        } else if (key == NODE_METRICS) {
            decode_metrics(json, builder, plan, row);
        } else {
            pyro_json_skip(json);
        }
    }
    if (!json->error && !builder->failed)
        keep_texts(json, builder, &plan->nodes.items[row], &texts);
    node = &plan->nodes.items[row];
    struct pyro_operator_print print = pyro_operator_print(
        node->name == UINT32_MAX ? PYRO_SLICE_NULL : pyro_string_pool_text(builder->app->strings, node->name),
        texts.detail);
    pyro_plan_print(plan, row, &print);
}

static void drop_text(struct pyro_builder *builder, struct pyro_sql_plan *plan)
{
    builder->plan_text_bytes -= plan->text_capacity;
    pyro_release(builder->allocator, plan->text);
    plan->text = NULL;
    plan->text_len = plan->text_capacity = 0;
}

void pyro_plan_settle(struct pyro_builder *builder, size_t sql_row)
{
    struct pyro_sql_plan *plan = &builder->plans.items[sql_row];
    if (!plan->text)
        return;
    struct pyro_json_reader json;
    uint64_t *replaced = &builder->app->integrity.replaced_characters, before = *replaced;
    pyro_json_reader_start(&json, plan->text, plan->text + plan->text_len, pyro_scan_best());
    plan->nodes.count = plan->metrics.count = 0;
    decode_node(&json, builder, plan, -1, 0);
    if (json.error)
        plan->nodes.count = plan->metrics.count = 0;
    pyro_vec_fit(&plan->nodes, builder->allocator);
    pyro_vec_fit(&plan->metrics, builder->allocator);
    plan->error = json.error;
    plan->replaced = *replaced - before;
    *replaced = before;
    drop_text(builder, plan);
}

bool pyro_plan_keep_earlier(struct pyro_builder *builder, size_t sql_row)
{
    struct pyro_app *app = builder->app;
    pyro_plan_settle(builder, sql_row);
    struct pyro_sql_plan *plan = &builder->plans.items[sql_row];
    if (builder->failed || plan->nodes.count == 0 || plan->earlier == MOST_EARLIER ||
        plan->nodes.count > MOST_EARLIER_NODES - app->earlier_nodes.count)
        return !builder->failed;
    struct pyro_earlier_plan *kept = pyro_vec_push(&app->earlier_plans, builder->allocator);
    if (!kept || !pyro_vec_reserve(&app->earlier_nodes, plan->nodes.count, builder->allocator))
        return !(builder->failed = true);
    *kept = (struct pyro_earlier_plan){sql_row, app->sql.items[sql_row].planned_ms, app->earlier_nodes.count,
                                       plan->nodes.count};
    for (size_t i = 0; i < plan->nodes.count; i++) {
        const struct pyro_plan_node *node = &plan->nodes.items[i];
        app->earlier_nodes.items[app->earlier_nodes.count++] = (struct pyro_earlier_node){
            pyro_string_pool_text(app->strings, node->name), pyro_string_pool_text(app->strings, node->detail),
            node->parent >= 0 ? node->parent : PYRO_NONE, node->known};
    }
    plan->earlier++;
    return true;
}

bool pyro_plan_keep(struct pyro_builder *builder, size_t sql_row, struct pyro_slice text)
{
    struct pyro_sql_plan *plan = &builder->plans.items[sql_row];
    size_t needed = text.len + PYRO_SCAN_PADDING;
    if (needed > plan->text_capacity) {
        char *grown = pyro_reallocate(builder->allocator, plan->text, needed);
        if (!grown)
            return !(builder->failed = true);
        builder->plan_text_bytes += needed - plan->text_capacity;
        plan->text = grown;
        plan->text_capacity = needed;
    }
    memcpy(plan->text, text.ptr, text.len);
    memset(plan->text + text.len, 0, PYRO_SCAN_PADDING);
    plan->text_len = text.len;
    /* Executions whose end is missing from the log must not pile up. */
    if (builder->plan_text_bytes > MOST_TEXT_BYTES)
        for (size_t i = 0; i < builder->plans.count; i++)
            pyro_plan_settle(builder, i);
    return !builder->failed;
}

void pyro_plan_count_joins(struct pyro_slice text, uint16_t counts[PYRO_JOIN_KINDS])
{
    static const char head[] = "\"nodeName\":\"";
    const char *end = text.ptr + text.len;
    memset(counts, 0, PYRO_JOIN_KINDS * sizeof(*counts));
    for (const char *at = text.ptr; (at = memmem(at, (size_t)(end - at), head, sizeof(head) - 1));) {
        at += sizeof(head) - 1;
        const char *quote = memchr(at, '"', (size_t)(end - at));
        size_t len = quote ? (size_t)(quote - at) : 0;
        /* Joins are the few names with these words. */
        if (!memmem(at, len, "Join", 4) && !memmem(at, len, "Cartesian", 9))
            continue;
        const struct pyro_operator *known = pyro_operator_find((struct pyro_slice){at, len});
        unsigned kind = known ? (unsigned)known->operator_class - PYRO_OPERATOR_SORT_MERGE_JOIN : PYRO_JOIN_KINDS;
        if (kind < PYRO_JOIN_KINDS && counts[kind] < UINT16_MAX)
            counts[kind]++;
    }
}

void pyro_plan_done(struct pyro_builder *builder, struct pyro_sql_plan *plan)
{
    if (plan->text)
        drop_text(builder, plan);
    pyro_vec_done(&plan->nodes, builder->allocator);
    pyro_vec_done(&plan->metrics, builder->allocator);
}
