#include "decode/eventlog/fingerprint.h"

#include "base/collections/hash.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Numbers behind '#' (expressions), "plan_id=" and "id=" differ from plan to plan. */
static uint64_t hash_text(uint64_t hash, struct pyro_slice text)
{
    bool skip = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (skip && (is_digit(c) || c == 'L' || c == 'x'))
            continue;
        skip = c == '#' || (c == '=' && i >= 2 && text.ptr[i - 1] == 'd' && text.ptr[i - 2] == 'i');
        hash = pyro_fnv_byte(hash, (unsigned char)c);
    }
    return pyro_hash_mix(hash);
}

static bool is_one_of(struct pyro_slice name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_starts_with(name, names[i]))
            return true;
    return false;
}
#define IS_ONE_OF(name, names) is_one_of((name), (names), sizeof(names) / sizeof((names)[0]))

/* From the first `from` on, up to `to` where it follows; a null slice without `from`. */
static struct pyro_slice part(struct pyro_slice text, const char *from, const char *to)
{
    const char *begin = pyro_slice_find(text, from);
    if (!begin)
        return PYRO_SLICE_NULL;
    struct pyro_slice rest = {begin, text.len - (size_t)(begin - text.ptr)};
    const char *end = pyro_slice_find(rest, to);
    return end ? (struct pyro_slice){begin, (size_t)(end - begin)} : rest;
}

/* Bytes of one character of a JSON string's raw contents; 0 at the end. */
static size_t character_bytes(struct pyro_slice text, size_t at)
{
    size_t bytes = 1;
    if (at >= text.len)
        return 0;
    if (text.ptr[at] == '\\')
        bytes = at + 1 < text.len && text.ptr[at + 1] == 'u' ? 6 : 2;
    else
        while (at + bytes < text.len && ((unsigned char)text.ptr[at + bytes] & 0xc0) == 0x80)
            bytes++;
    return bytes < text.len - at ? bytes : text.len - at;
}

static bool digit_at(struct pyro_slice text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* "Filter (a#12L > 3)" has 5: "a > 3". */
static uint32_t condition_length(struct pyro_slice text)
{
    size_t at = pyro_slice_starts_with(text, "Filter ") ? 7 : 0, length = 0;
    if (at < text.len && text.ptr[at] == '(') {
        at++;
        text.len -= pyro_slice_ends_with(text, ")");
    }
    for (size_t bytes; (bytes = character_bytes(text, at)) > 0; at += bytes) {
        if (text.ptr[at] == '#' && digit_at(text, at + 1)) {
            while (digit_at(text, at + 1))
                at++;
            at += at + 1 < text.len && text.ptr[at + 1] == 'L';
            continue;
        }
        length += bytes == 4 ? 2 : 1;
    }
    return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

struct pyro_operator_print pyro_operator_print(struct pyro_slice name, struct pyro_slice text)
{
    /* Wrappers that adaptive execution and code generation put around operators. */
    static const char *const clear[] = {
        "WholeStageCodegen", "InputAdapter",   "AdaptiveSparkPlan",   "ShuffleQueryStage", "BroadcastQueryStage",
        "ResultQueryStage",  "AQEShuffleRead", "CustomShuffleReader", "ColumnarToRow",
    };
    static const char *const elsewhere[] = {"InMemoryTableScan", "TableCacheQueryStage", "ReusedExchange",
                                            "ReusedSubquery"};
    /* Their text does not say which data they stand for. */
    static const char *const unknown[] = {"Scan ExistingRDD", "LocalTableScan", "Scan OneRowRelation",
                                          "ExternalRDDScan",  "MicroBatchScan", "ContinuousScan",
                                          "Execute ",         "CommandResult"};
    struct pyro_operator_print print = {.exact = 1, .columnless = 1};
    if (IS_ONE_OF(name, clear)) {
        print.clear_exact = print.clear_columnless = true;
        return print;
    }
    print.ends = IS_ONE_OF(name, elsewhere);
    if (print.ends || IS_ONE_OF(name, unknown) || !text.ptr) {
        print.exact = print.columnless = 0;
        return print;
    }
    print.distinct = pyro_slice_ends_with(name, "Aggregate") && pyro_slice_find(text, "functions=[]");
    if (pyro_slice_is(name, "Filter"))
        print.condition_length = condition_length(text);
    uint64_t base = hash_text(PYRO_FNV, name);
    print.exact = print.columnless = hash_text(base, text);
    print.computes = pyro_slice_is(name, "Project") && pyro_slice_find(text, " AS ");
    print.clear_columnless = pyro_slice_is(name, "Project") && !print.computes;
    struct pyro_slice location =
        pyro_slice_starts_with(name, "Scan ") ? part(text, "Location: ", ", ReadSchema") : PYRO_SLICE_NULL;
    if (location.ptr)
        print.columnless = hash_text(base, location);
    else if (pyro_slice_is(name, "BroadcastExchange"))
        print.columnless = base; /* it counts the columns that it sends */
    return print;
}

void pyro_plan_print(struct pyro_sql_plan *plan, size_t node, const struct pyro_operator_print *print)
{
    struct pyro_plan_node *nodes = plan->nodes.items;
    uint64_t exact = print->exact, columnless = print->columnless;
    size_t children = 0;
    for (size_t i = node + 1; i < plan->nodes.count; i++) {
        if (print->ends)
            nodes[i].exact_print = nodes[i].columnless_print = 0;
        if (nodes[i].parent != (int32_t)node || print->ends)
            continue;
        children++;
        exact = nodes[i].exact_print == 0 ? 0
                : print->clear_exact      ? nodes[i].exact_print
                : exact                   ? pyro_hash_mix(exact ^ nodes[i].exact_print)
                                          : 0;
        columnless = nodes[i].columnless_print == 0 ? 0
                     : print->clear_columnless      ? nodes[i].columnless_print
                     : columnless                   ? pyro_hash_mix(columnless ^ nodes[i].columnless_print)
                                                    : 0;
    }
    if (children == 0 && (print->clear_exact || print->clear_columnless))
        exact = columnless = 0;
    nodes[node].exact_print = exact;
    nodes[node].columnless_print = columnless;
    nodes[node].computes = print->computes;
    nodes[node].distinct = print->distinct;
    nodes[node].condition_length = print->condition_length;
}
