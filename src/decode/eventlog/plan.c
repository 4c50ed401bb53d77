#include "decode/eventlog/plan.h"

#include "base/intern.h"

#define KEY PYRO_JSON_KEY

enum { MOST_TEXT_BYTES = 16 << 20 };

static uint32_t decode_text(struct pyro_json *json, struct pyro_builder *builder)
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

static void decode_metric(struct pyro_json *json, struct pyro_builder *builder, struct pyro_plan_metric *metric)
{
    static const struct pyro_json_key keys[] = {KEY("name"), KEY("accumulatorId"), KEY("metricType")};
    struct pyro_json_object object;
    uint32_t name = 0, type = 0;
    if (pyro_json_enter_object(json, &object))
        for (int key; (key = pyro_json_next(json, &object, keys, 3)) != PYRO_JSON_END;) {
            if (key == 0)
                name = decode_text(json, builder);
            else if (key == 1)
                pyro_json_take_int(json, &metric->accumulator);
            else if (key == 2)
                type = decode_text(json, builder);
            else
                pyro_json_skip(json);
        }
    metric->kind = find_kind(builder, name, type);
}

static void decode_metrics(struct pyro_json *json, struct pyro_builder *builder, struct pyro_plan *plan, size_t node)
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

/* Texts of operators differ from plan to plan and make up most of their bytes: they are kept only when asked for. */
static void decode_detail(struct pyro_json *json, struct pyro_builder *builder, uint32_t *detail)
{
    if (builder->wanted & PYRO_WANT_PLAN_TEXT)
        *detail = decode_text(json, builder);
    else
        pyro_json_skip(json);
}

static void decode_node(struct pyro_json *json, struct pyro_builder *builder, struct pyro_plan *plan, int32_t parent,
                        uint32_t depth)
{
    static const struct pyro_json_key keys[] = {
        KEY("nodeName"), KEY("simpleString"), KEY("children"), KEY("metadata"), KEY("metrics"),
    };
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    struct pyro_plan_node *node = pyro_vec_push(&plan->nodes, builder->allocator);
    if (!node || plan->nodes.count > INT32_MAX) {
        builder->failed = true;
        return;
    }
    size_t row = plan->nodes.count - 1;
    *node = (struct pyro_plan_node){.name = UINT32_MAX, .detail = UINT32_MAX, .parent = parent, .depth = depth};
    for (int key; (key = pyro_json_next(json, &object, keys, 5)) != PYRO_JSON_END && !builder->failed;) {
        node = &plan->nodes.items[row]; /* children may have moved it */
        if (key == 0) {
            node->name = decode_text(json, builder);
        } else if (key == 1) {
            decode_detail(json, builder, &node->detail);
        } else if (key == 2) {
            /* Nesting is bounded by the reader: PYRO_JSON_DEPTH. */
            if (pyro_json_enter_array(json))
                for (bool first = true; pyro_json_next_element(json, &first) && !builder->failed;)
                    decode_node(json, builder, plan, (int32_t)row, depth + 1);
        } else if (key == 4) {
            decode_metrics(json, builder, plan, row);
        } else {
            pyro_json_skip(json);
        }
    }
}

static void drop_text(struct pyro_builder *builder, struct pyro_plan *plan)
{
    builder->plan_text_bytes -= plan->text_capacity;
    pyro_release(builder->allocator, plan->text);
    plan->text = NULL;
    plan->text_len = plan->text_capacity = 0;
}

void pyro_plan_settle(struct pyro_builder *builder, size_t sql_row)
{
    struct pyro_plan *plan = &builder->plans.items[sql_row];
    if (!plan->text)
        return;
    struct pyro_json json;
    uint64_t *replaced = &builder->app->integrity.replaced_characters, before = *replaced;
    pyro_json_start(&json, plan->text, plan->text + plan->text_len, pyro_scan_best());
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

bool pyro_plan_keep(struct pyro_builder *builder, size_t sql_row, struct pyro_slice text)
{
    struct pyro_plan *plan = &builder->plans.items[sql_row];
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

void pyro_plan_done(struct pyro_builder *builder, struct pyro_plan *plan)
{
    if (plan->text)
        drop_text(builder, plan);
    pyro_vec_done(&plan->nodes, builder->allocator);
    pyro_vec_done(&plan->metrics, builder->allocator);
}
