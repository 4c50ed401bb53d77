#include "store/query_groups.h"

#include <math.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/numbers/order.h"
#include "store/answer.h"

enum { MOST_BYTES = 256 << 20 }; /* of groups, and of the values that percentiles keep */

/* A sum: whole numbers exactly as far as 128 bits go, others with the error that their additions made. */
struct sum {
    __int128 whole;
    double real, lost;
    bool has_real;
};

struct tally {
    int64_t count; /* of values that are known, with their weights */
    struct sum values, weights;
    struct pyro_query_value least, most;
    PYRO_VEC(double) reals;
    PYRO_VEC(int64_t) ints;
};

struct pyro_query_one_group {
    struct pyro_query_one_group *next; /* of the same hash */
    struct pyro_slice key;
    struct pyro_query_value values[PYRO_QUERY_GROUPS];
    struct tally tallies[];
};

void pyro_query_groups_init(struct pyro_query_groups *groups, const struct pyro_query *query,
                            const struct pyro_allocator *allocator)
{
    *groups = (struct pyro_query_groups){.query = query, .allocator = allocator};
    pyro_arena_init(&groups->arena, allocator);
    pyro_map_init(&groups->by_hash, allocator);
    pyro_strbuf_init(&groups->key, allocator);
}

void pyro_query_groups_done(struct pyro_query_groups *groups)
{
    for (size_t i = 0; i < groups->all.count; i++)
        for (size_t j = 0; j < groups->query->measure_count; j++) {
            pyro_vec_done(&groups->all.items[i]->tallies[j].reals, groups->allocator);
            pyro_vec_done(&groups->all.items[i]->tallies[j].ints, groups->allocator);
        }
    pyro_vec_done(&groups->all, groups->allocator);
    pyro_strbuf_done(&groups->key);
    pyro_map_done(&groups->by_hash);
    pyro_arena_done(&groups->arena);
}

/* ---- Which group ------------------------------------------------------------------------------------------------- */

/* The greatest multiple of `every` that is not above the value. */
static struct pyro_query_value floor_of(const struct pyro_query_value *value, int64_t every)
{
    if (value->kind == PYRO_VALUE_REAL)
        return (struct pyro_query_value){.kind = PYRO_VALUE_REAL,
                                         .real = floor(value->real / (double)every) * (double)every};
    int64_t rest = value->integer % every, floored;
    rest += rest < 0 ? every : 0;
    if (__builtin_sub_overflow(value->integer, rest, &floored))
        return (struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = (double)value->integer - (double)rest};
    return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = floored};
}

/* False: the value is in none of the spans. */
static bool edge_of(const struct pyro_query_group *group, double value, struct pyro_query_value *ret)
{
    size_t low = 0, high = group->edge_count; /* edges[low] <= value < edges[high] */
    if (!(value >= group->edges[0]) || value >= group->edges[high - 1])
        return false;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(value >= group->edges[middle] ? &low : &high) = middle;
    }
    *ret = (struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = group->edges[low]};
    return true;
}

/* False: the row is in no group. */
static bool place(const struct pyro_query_group *group, const struct pyro_query_value *value,
                  struct pyro_query_value *ret)
{
    bool known = value->kind != PYRO_VALUE_NULL;
    *ret = *value;
    if (group->edge_count)
        return known && edge_of(group, pyro_value_number(value), ret);
    if (known && group->every_ms)
        *ret = floor_of(value, group->every_ms);
    if (ret->kind == PYRO_VALUE_REAL)
        ret->real += 0.0; /* -0 is 0 */
    return true;
}

static void add_key(struct pyro_strbuf *key, const struct pyro_query_value *value)
{
    pyro_strbuf_add_char(key, (char)value->kind);
    if (value->kind == PYRO_VALUE_INT)
        pyro_strbuf_add(key, (const char *)&value->integer, sizeof(value->integer));
    else if (value->kind == PYRO_VALUE_REAL)
        pyro_strbuf_add(key, (const char *)&value->real, sizeof(value->real));
    else if (value->kind == PYRO_VALUE_TEXT)
        pyro_strbuf_add_slice(key, value->text);
    uint64_t len = value->text.len;
    pyro_strbuf_add(key, (const char *)&len, sizeof(len)); /* so that two texts cannot be read as two others */
}

static enum pyro_status add_group(struct pyro_query_groups *groups, const struct pyro_query_value *values,
                                  uint64_t *head, struct pyro_query_one_group **ret, struct pyro_error *error)
{
    size_t measures = groups->query->measure_count;
    if (groups->all.count == PYRO_QUERY_MOST_GROUPS)
        return pyro_query_too_many_groups(error);
    struct pyro_query_one_group *group =
        pyro_arena_alloc(&groups->arena, sizeof(*group) + measures * sizeof(*group->tallies));
    struct pyro_query_one_group **at = pyro_vec_push(&groups->all, groups->allocator);
    if (at)
        *at = group;
    if (!group || !at) {
        groups->all.count -= at != NULL;
        return pyro_no_memory(error);
    }
    group->next = *head ? groups->all.items[*head - 1] : NULL;
    group->key = pyro_arena_copy(&groups->arena, pyro_strbuf_slice(&groups->key));
    bool ok = group->key.ptr != NULL;
    for (size_t i = 0; i < groups->query->group_count; i++) {
        group->values[i] = values[i];
        if (values[i].kind == PYRO_VALUE_TEXT)
            group->values[i].text = pyro_arena_copy(&groups->arena, values[i].text);
        ok &= values[i].kind != PYRO_VALUE_TEXT || group->values[i].text.ptr;
    }
    groups->bytes += sizeof(*group) + measures * sizeof(*group->tallies) + 2 * group->key.len;
    *head = groups->all.count;
    *ret = group;
    return ok ? PYRO_OK : pyro_no_memory(error);
}

static enum pyro_status find_group(struct pyro_query_groups *groups, const struct pyro_query_value *values,
                                   struct pyro_query_one_group **ret, struct pyro_error *error)
{
    pyro_strbuf_clear(&groups->key);
    for (size_t i = 0; i < groups->query->group_count; i++)
        add_key(&groups->key, &values[i]);
    struct pyro_slice key = pyro_strbuf_slice(&groups->key);
    uint64_t *head = groups->key.failed ? NULL : pyro_map_put(&groups->by_hash, pyro_hash_slice(key), NULL);
    if (!head)
        return pyro_no_memory(error);
    struct pyro_query_one_group *group = *head ? groups->all.items[*head - 1] : NULL;
    while (group && !pyro_slice_eq(group->key, key))
        group = group->next;
    *ret = group;
    return group ? PYRO_OK : add_group(groups, values, head, ret, error);
}

/* ---- Measures ---------------------------------------------------------------------------------------------------- */

/* Neumaier's way: what an addition loses is added at the end. */
static void add_real(struct sum *sum, double value)
{
    double total = sum->real + value;
    if (isfinite(total))
        sum->lost += fabs(sum->real) >= fabs(value) ? sum->real - total + value : value - total + sum->real;
    sum->real = total;
    sum->has_real = true;
}

static void add_whole(struct sum *sum, __int128 value)
{
    if (__builtin_add_overflow(sum->whole, value, &sum->whole))
        add_real(sum, value < 0 ? -0x1p128 : 0x1p128); /* it went round */
}

static void add_product(struct sum *sum, const struct pyro_query_value *value, const struct pyro_query_value *weight)
{
    if (value->kind == PYRO_VALUE_INT && weight->kind == PYRO_VALUE_INT)
        add_whole(sum, (__int128)value->integer * weight->integer);
    else
        add_real(sum, pyro_value_number(value) * pyro_value_number(weight));
}

static double total_of(const struct sum *sum)
{
    return (double)sum->whole + (sum->real + sum->lost);
}

static bool keep(struct pyro_query_groups *groups, struct tally *tally, const struct pyro_query_value *value)
{
    groups->bytes += sizeof(double);
    if (value->kind == PYRO_VALUE_INT) {
        int64_t *at = pyro_vec_push(&tally->ints, groups->allocator);
        return at && (*at = value->integer, true);
    }
    double *at = pyro_vec_push(&tally->reals, groups->allocator);
    return at && (*at = value->real, true);
}

static bool add_value(struct pyro_query_groups *groups, const struct pyro_query_measure *measure, struct tally *tally,
                      const struct pyro_query_value *value, const struct pyro_query_value *weight)
{
    static const struct pyro_query_value one = {.kind = PYRO_VALUE_INT, .integer = 1};
    bool counted = measure->field.kind == PYRO_QUERY_NO_FIELD; /* rows, whatever they hold */
    weight = measure->weight.kind == PYRO_QUERY_NO_FIELD ? &one : weight;
    if (!counted && (value->kind == PYRO_VALUE_NULL || weight->kind == PYRO_VALUE_NULL))
        return true;
    tally->count++;
    switch (measure->op) {
    case PYRO_MEASURE_COUNT:
        break;
    case PYRO_MEASURE_SUM:
    case PYRO_MEASURE_MEAN:
        add_product(&tally->values, value, weight);
        add_product(&tally->weights, weight, &one);
        break;
    case PYRO_MEASURE_MIN:
        if (tally->count == 1 || pyro_query_value_compare(value, &tally->least) < 0)
            tally->least = *value;
        break;
    case PYRO_MEASURE_MAX:
        if (tally->count == 1 || pyro_query_value_compare(value, &tally->most) > 0)
            tally->most = *value;
        break;
    case PYRO_MEASURE_PERCENTILES:
        return keep(groups, tally, value);
    }
    return true;
}

enum pyro_status pyro_query_groups_add(struct pyro_query_groups *groups, const struct pyro_query_value *fields,
                                       const struct pyro_query_value *values, const struct pyro_query_value *weights,
                                       struct pyro_error *error)
{
    const struct pyro_query *query = groups->query;
    struct pyro_query_value placed[PYRO_QUERY_GROUPS];
    struct pyro_query_one_group *group;
    for (size_t i = 0; i < query->group_count; i++)
        if (!place(&query->groups[i], &fields[i], &placed[i]))
            return PYRO_OK;
    PYRO_TRY(find_group(groups, placed, &group, error));
    for (size_t i = 0; i < query->measure_count; i++)
        if (!add_value(groups, &query->measures[i], &group->tallies[i], &values[i], &weights[i]))
            return pyro_no_memory(error);
    return groups->bytes <= MOST_BYTES
               ? PYRO_OK
               : pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                                "the groups and percentiles need more than %d MiB; narrow the question with 'where'",
                                MOST_BYTES >> 20);
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

static struct pyro_query_value real_value(double value)
{
    return (struct pyro_query_value){.kind = isfinite(value) ? PYRO_VALUE_REAL : PYRO_VALUE_NULL, .real = value};
}

static struct pyro_query_value sum_value(const struct sum *sum)
{
    if (sum->has_real || sum->whole > INT64_MAX || sum->whole < INT64_MIN)
        return real_value(total_of(sum));
    return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = (int64_t)sum->whole};
}

static void write_percentiles(const struct pyro_query_measure *measure, struct tally *tally,
                              struct pyro_query_value *to)
{
    size_t ints = tally->ints.count, reals = tally->reals.count; /* a column has one kind */
    pyro_sort_ints(tally->ints.items, ints);
    pyro_sort_reals(tally->reals.items, reals);
    for (size_t i = 0; i < measure->at_count; i++) {
        if (ints)
            to[i] = (struct pyro_query_value){.kind = PYRO_VALUE_INT,
                                              .integer = tally->ints.items[pyro_nearest_rank(measure->at[i], ints)]};
        else if (reals)
            to[i] = real_value(tally->reals.items[pyro_nearest_rank(measure->at[i], reals)]);
        else
            to[i] = (struct pyro_query_value){PYRO_VALUE_NULL, 0, 0, PYRO_SLICE_NULL};
    }
}

/* Gives how many columns it filled. */
static size_t write_measure(const struct pyro_query_measure *measure, struct tally *tally, struct pyro_query_value *to)
{
    if (measure->op == PYRO_MEASURE_PERCENTILES) {
        write_percentiles(measure, tally, to);
        return measure->at_count;
    }
    *to = (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = tally->count};
    if (measure->op == PYRO_MEASURE_COUNT)
        return 1;
    if (tally->count == 0)
        *to = (struct pyro_query_value){.kind = PYRO_VALUE_NULL};
    else if (measure->op == PYRO_MEASURE_MIN || measure->op == PYRO_MEASURE_MAX)
        *to = measure->op == PYRO_MEASURE_MIN ? tally->least : tally->most;
    else if (measure->op == PYRO_MEASURE_SUM)
        *to = sum_value(&tally->values);
    else
        *to = real_value(total_of(&tally->values) / total_of(&tally->weights));
    return 1;
}

enum pyro_status pyro_query_groups_answer(struct pyro_query_groups *groups, struct pyro_arena *arena,
                                          struct pyro_query_answer *ret, struct pyro_error *error)
{
    const struct pyro_query *query = groups->query;
    const struct pyro_query_value none[PYRO_QUERY_GROUPS] = {{0}};
    struct pyro_query_one_group *all;
    size_t columns = pyro_query_column_count(query);
    if (query->group_count == 0 && groups->all.count == 0) /* a question without groups has one row */
        PYRO_TRY(find_group(groups, none, &all, error));
    struct pyro_query_value *values =
        pyro_arena_array(&groups->arena, groups->all.count * columns + 1, sizeof(*values));
    if (!values)
        return pyro_no_memory(error);
    for (size_t i = 0; i < groups->all.count; i++) {
        struct pyro_query_one_group *group = groups->all.items[i];
        struct pyro_query_value *row = values + i * columns;
        size_t column = query->group_count;
        for (size_t j = 0; j < column; j++)
            row[j] = group->values[j];
        for (size_t j = 0; j < query->measure_count; j++)
            column += write_measure(&query->measures[j], &group->tallies[j], row + column);
    }
    return pyro_query_arrange(query, values, groups->all.count, arena, ret, error);
}
