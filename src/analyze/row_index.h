/* Rows by number: stages by id and attempt, jobs, RDDs and SQL executions by id, executors by the number of their name.
 */
#ifndef PYRO_ANALYZE_ROW_INDEX_H
#define PYRO_ANALYZE_ROW_INDEX_H

#include "analyze/accounts/marks.h"

/* Rows ascending by id, equal ids by a second number, equal ones of these by row. */
struct pyro_index {
    struct pyro_mark *entries; /* at: the id, order-preserving as unsigned; row */
    size_t count;
    uint32_t *direct; /* where ids lie close together: first entry of each id from `least` on */
    uint64_t least, direct_count;
    const struct pyro_allocator *allocator;
};

struct pyro_index_key {
    int64_t id, second;
};

/* Makes an index of `count` rows; false when there is no memory. */
bool pyro_index_init(struct pyro_index *index, const struct pyro_allocator *allocator,
                     const struct pyro_index_key *keys, size_t count);
void pyro_index_done(struct pyro_index *index);
/* Entries [*first, *first + result) have this id. */
size_t pyro_index_find(const struct pyro_index *index, int64_t id, size_t *first);

bool pyro_index_stages(struct pyro_index *index, const struct pyro_app *app);
bool pyro_index_jobs(struct pyro_index *index, const struct pyro_app *app);
bool pyro_index_rdds(struct pyro_index *index, const struct pyro_app *app);
bool pyro_index_sql(struct pyro_index *index, const struct pyro_app *app);

#endif
