#include "analyze/row_index.h"

/* Signed order as unsigned order. */
static uint64_t ordered(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

/* Ids are numbered from 0 by Spark, so a table by id is small and saves the search; hostile ones are searched. */
static bool make_direct(struct pyro_index *index)
{
    if (index->count == 0)
        return true;
    index->least = index->entries[0].at;
    uint64_t span = index->entries[index->count - 1].at - index->least;
    if (span / 4 > index->count + 256)
        return true;
    index->direct_count = span + 2;
    index->direct = pyro_allocate(index->allocator, index->direct_count * sizeof(*index->direct));
    if (!index->direct)
        return false;
    size_t entry = 0;
    for (uint64_t id = 0; id < index->direct_count; id++) {
        while (entry < index->count && index->entries[entry].at - index->least < id)
            entry++;
        index->direct[id] = (uint32_t)entry;
    }
    return true;
}

bool pyro_index_init(struct pyro_index *index, const struct pyro_allocator *allocator,
                     const struct pyro_index_key *keys, size_t count)
{
    *index = (struct pyro_index){.allocator = allocator, .count = count};
    struct pyro_mark *scratch = pyro_allocate(allocator, (count + 1) * sizeof(*scratch));
    index->entries = pyro_allocate(allocator, (count + 1) * sizeof(*index->entries));
    if (scratch && index->entries) {
        for (size_t i = 0; i < count; i++)
            index->entries[i] = (struct pyro_mark){ordered(keys[i].second), (uint32_t)i, 0};
        pyro_marks_sort(index->entries, scratch, count);
        for (size_t i = 0; i < count; i++)
            index->entries[i].at = ordered(keys[index->entries[i].row].id);
        pyro_marks_sort(index->entries, scratch, count);
    }
    bool done = scratch && index->entries && make_direct(index);
    pyro_release(allocator, scratch);
    if (!done)
        pyro_index_done(index);
    return done;
}

void pyro_index_done(struct pyro_index *index)
{
    pyro_release(index->allocator, index->entries);
    pyro_release(index->allocator, index->direct);
    *index = (struct pyro_index){.allocator = index->allocator};
}

/* First entry whose id is at least `at`. */
static size_t lower_bound(const struct pyro_index *index, uint64_t at)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->entries[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t pyro_index_find(const struct pyro_index *index, int64_t id, size_t *first)
{
    uint64_t at = ordered(id);
    *first = 0;
    if (index->direct) {
        uint64_t place = at - index->least;
        if (at < index->least || place >= index->direct_count - 1)
            return 0;
        *first = index->direct[place];
        return index->direct[place + 1] - *first;
    }
    *first = lower_bound(index, at);
    size_t end = at == UINT64_MAX ? index->count : lower_bound(index, at + 1);
    return end - *first;
}

/* An index of all rows of one table, by what `key_of` says of each. */
static bool index_rows(struct pyro_index *index, const struct pyro_app *app, size_t count,
                       struct pyro_index_key (*key_of)(const struct pyro_app *app, size_t row))
{
    *index = (struct pyro_index){.allocator = app->allocator};
    struct pyro_index_key *keys = pyro_allocate(app->allocator, (count + 1) * sizeof(*keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(app, i);
    bool done = pyro_index_init(index, app->allocator, keys, count);
    pyro_release(app->allocator, keys);
    return done;
}

static struct pyro_index_key stage_key(const struct pyro_app *app, size_t row)
{
    return (struct pyro_index_key){app->stages.items[row].id, app->stages.items[row].attempt};
}

static struct pyro_index_key job_key(const struct pyro_app *app, size_t row)
{
    return (struct pyro_index_key){app->jobs.items[row].id, 0};
}

static struct pyro_index_key rdd_key(const struct pyro_app *app, size_t row)
{
    return (struct pyro_index_key){app->rdds.items[row].id, 0};
}

static struct pyro_index_key sql_key(const struct pyro_app *app, size_t row)
{
    return (struct pyro_index_key){app->sql.items[row].id, 0};
}

bool pyro_index_stages(struct pyro_index *index, const struct pyro_app *app)
{
    return index_rows(index, app, app->stages.count, stage_key);
}

bool pyro_index_jobs(struct pyro_index *index, const struct pyro_app *app)
{
    return index_rows(index, app, app->jobs.count, job_key);
}

bool pyro_index_rdds(struct pyro_index *index, const struct pyro_app *app)
{
    return index_rows(index, app, app->rdds.count, rdd_key);
}

bool pyro_index_sql(struct pyro_index *index, const struct pyro_app *app)
{
    return index_rows(index, app, app->sql.count, sql_key);
}
