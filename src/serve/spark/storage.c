/* storage/rdd, storage/rdd/ID */
#include <stdio.h>
#include <stdlib.h>

#include "base/strings/intern.h"
#include "serve/spark/spark_request.h"

/* The level that a block really has: where it is now, and how often. */
static struct pyro_slice level_of(const struct pyro_history_rdd *rdd, const struct pyro_history_block *block,
                                  char *text, size_t capacity)
{
    bool memory = block->memory > 0, off_heap = pyro_slice_find(rdd->level, "off heap") != NULL;
    bool deserialized = memory && pyro_slice_find(rdd->level, "Deserialized") != NULL;
    int len = snprintf(text, capacity, "%s%s%s %zux Replicated", block->disk > 0 ? "Disk " : "",
                       !memory    ? ""
                       : off_heap ? "Memory (off heap) "
                                  : "Memory ",
                       deserialized ? "Deserialized" : "Serialized", block->executors.count);
    return (struct pyro_slice){text, len > 0 && (size_t)len < capacity ? (size_t)len : 0};
}

static void write_partition(struct spark_json *json, const struct pyro_history *history,
                            const struct pyro_history_rdd *rdd, const struct pyro_history_block *block)
{
    pyro_spark_element(json);
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "blockName", block->name);
    char level[120];
    pyro_spark_put_text(json, "storageLevel", level_of(rdd, block, level, sizeof(level)));
    pyro_spark_put_int(json, "memoryUsed", block->memory);
    pyro_spark_put_int(json, "diskUsed", block->disk);
    pyro_spark_key(json, "executors");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < block->executors.count; i++) {
        pyro_spark_element(json);
        pyro_spark_text(json, pyro_string_pool_text(history->strings, block->executors.items[i]));
    }
    pyro_spark_close_array(json);
    pyro_spark_close_object(json);
}

/* ---- Executors that hold blocks ---- */

struct holder {
    const struct pyro_history_holder *holder;
    const struct pyro_history_executor *executor;
    uint32_t place; /* in the table that Spark keeps them in */
    size_t order;   /* of insertion */
};

/* Where a mutable map of Scala 2.12 puts a text among 1 << bits places. */
static uint32_t table_place(struct pyro_slice text, unsigned bits)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < text.len; i++)
        hash = 31 * hash + (unsigned char)text.ptr[i];
    hash = __builtin_bswap32(hash * 0x9e3775cdU) * 0x9e3775cdU;
    hash = hash >> bits | hash << (32 - bits);
    return hash >> (32 - bits);
}

/* It is walked from its last place to its first, the newest first within one. */
static int by_place(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    if (x->place != y->place)
        return x->place > y->place ? -1 : 1;
    return (x->order < y->order) - (x->order > y->order);
}

static void write_holder(struct spark_json *json, const struct holder *one)
{
    const struct pyro_history_executor *executor = one->executor;
    pyro_spark_element(json);
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "address", executor->host_port.ptr ? executor->host_port : executor->host);
    pyro_spark_put_int(json, "memoryUsed", one->holder->memory);
    pyro_spark_put_int(json, "memoryRemaining", executor->memory_left);
    pyro_spark_put_int(json, "diskUsed", one->holder->disk);
    if (executor->memory_known) {
        pyro_spark_put_int(json, "onHeapMemoryUsed", one->holder->on_heap);
        pyro_spark_put_int(json, "offHeapMemoryUsed", one->holder->off_heap);
        pyro_spark_put_int(json, "onHeapMemoryRemaining", executor->on_heap_left);
        pyro_spark_put_int(json, "offHeapMemoryRemaining", executor->off_heap_left);
    }
    pyro_spark_close_object(json);
}

/* False: no memory. */
static bool write_holders(struct spark_json *json, const struct pyro_history *history,
                          const struct pyro_history_rdd *rdd)
{
    struct holder *holders = pyro_allocate(NULL, (rdd->holders.count + 1) * sizeof(*holders));
    size_t count = 0;
    unsigned bits = 4;
    for (size_t i = 0; holders && i < rdd->holders.count; i++) {
        const struct pyro_history_holder *holder = &rdd->holders.items[i];
        const struct pyro_history_executor *executor =
            holder->gone ? NULL : pyro_history_executor(history, holder->executor);
        if (executor)
            holders[count++] = (struct holder){holder, executor, 0, i};
    }
    while (bits < 31 && count > ((size_t)3 << bits) / 4) /* it grows when it is three quarters full */
        bits++;
    for (size_t i = 0; i < count; i++)
        holders[i].place = table_place(holders[i].executor->id, bits);
    if (count) {
        qsort(holders, count, sizeof(*holders), by_place);
        pyro_spark_key(json, "dataDistribution");
        pyro_spark_open_array(json);
        for (size_t i = 0; i < count; i++)
            write_holder(json, &holders[i]);
        pyro_spark_close_array(json);
    }
    pyro_release(NULL, holders);
    return holders != NULL;
}

/* ---- RDDs ---- */

static bool write_rdd(struct spark_json *json, const struct pyro_history *history, const struct pyro_history_rdd *rdd)
{
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "id", rdd->id);
    pyro_spark_put_text(json, "name", rdd->name);
    pyro_spark_put_int(json, "numPartitions", rdd->partitions);
    pyro_spark_put_int(json, "numCachedPartitions", rdd->cached);
    pyro_spark_put_text(json, "storageLevel", rdd->level);
    pyro_spark_put_int(json, "memoryUsed", rdd->memory);
    pyro_spark_put_int(json, "diskUsed", rdd->disk);
    bool ok = write_holders(json, history, rdd);
    pyro_spark_key(json, "partitions");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < rdd->blocks.count; i++)
        if (!rdd->blocks.items[i].gone)
            write_partition(json, history, rdd, &rdd->blocks.items[i]);
    pyro_spark_close_array(json);
    pyro_spark_close_object(json);
    return ok;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = (*(const struct pyro_history_rdd *const *)a)->id, y = (*(const struct pyro_history_rdd *const *)b)->id;
    return (x > y) - (x < y);
}

/* Only those with cached partitions are listed. */
void pyro_spark_rdds(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    const struct pyro_history_rdd **rdds = pyro_allocate(NULL, (history->rdds.count + 1) * sizeof(*rdds));
    size_t count = 0;
    bool ok = rdds != NULL;
    for (size_t i = 0; ok && i < history->rdds.count; i++)
        if (!history->rdds.items[i].gone && history->rdds.items[i].cached > 0)
            rdds[count++] = &history->rdds.items[i];
    if (count)
        qsort(rdds, count, sizeof(*rdds), by_id);
    pyro_spark_open_array(&request->json);
    for (size_t i = 0; ok && i < count; i++) {
        pyro_spark_element(&request->json);
        ok = write_rdd(&request->json, history, rdds[i]);
    }
    pyro_spark_close_array(&request->json);
    pyro_release(NULL, rdds);
    if (!ok)
        pyro_spark_error(request, 503, "no memory left");
}

void pyro_spark_rdd(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    int64_t id = pyro_serve_id(request->arguments[0]);
    const uint64_t *row = pyro_map_get(&history->rdd_rows, (uint64_t)id);
    const struct pyro_history_rdd *rdd = row && *row ? &history->rdds.items[*row - 1] : NULL;
    if (!rdd || rdd->gone)
        pyro_spark_error(request, 404, "no rdd found w/ id %lld", (long long)id);
    else if (!write_rdd(&request->json, history, rdd))
        pyro_spark_error(request, 503, "no memory left");
}
