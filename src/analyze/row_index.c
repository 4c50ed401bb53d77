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

bool pyro_index_stages(struct pyro_index *index, const struct pyro_app *app)
{
    *index = (struct pyro_index){.allocator = app->allocator};
    struct pyro_index_key *keys = pyro_allocate(app->allocator, (app->stages.count + 1) * sizeof(*keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < app->stages.count; i++)
        keys[i] = (struct pyro_index_key){app->stages.items[i].id, app->stages.items[i].attempt};
    bool done = pyro_index_init(index, app->allocator, keys, app->stages.count);
    pyro_release(app->allocator, keys);
    return done;
}

bool pyro_index_rdds(struct pyro_index *index, const struct pyro_app *app)
{
    *index = (struct pyro_index){.allocator = app->allocator};
    struct pyro_index_key *keys = pyro_allocate(app->allocator, (app->rdds.count + 1) * sizeof(*keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < app->rdds.count; i++)
        keys[i] = (struct pyro_index_key){app->rdds.items[i].id, 0};
    bool done = pyro_index_init(index, app->allocator, keys, app->rdds.count);
    pyro_release(app->allocator, keys);
    return done;
}

bool pyro_index_jobs(struct pyro_index *index, const struct pyro_app *app)
{
    *index = (struct pyro_index){.allocator = app->allocator};
    struct pyro_index_key *keys = pyro_allocate(app->allocator, (app->jobs.count + 1) * sizeof(*keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < app->jobs.count; i++)
        keys[i] = (struct pyro_index_key){app->jobs.items[i].id, 0};
    bool done = pyro_index_init(index, app->allocator, keys, app->jobs.count);
    pyro_release(app->allocator, keys);
    return done;
}

bool pyro_index_sql(struct pyro_index *index, const struct pyro_app *app)
{
    *index = (struct pyro_index){.allocator = app->allocator};
    struct pyro_index_key *keys = pyro_allocate(app->allocator, (app->sql.count + 1) * sizeof(*keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < app->sql.count; i++)
        keys[i] = (struct pyro_index_key){app->sql.items[i].id, 0};
    bool done = pyro_index_init(index, app->allocator, keys, app->sql.count);
    pyro_release(app->allocator, keys);
    return done;
}
