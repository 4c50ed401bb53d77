/* Groups and measures over rows that a backend reads one by one: exact where the numbers are whole, bounded memory. */
#ifndef PYRO_STORE_QUERY_GROUPS_H
#define PYRO_STORE_QUERY_GROUPS_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "store/query.h"

struct pyro_query_groups {
    const struct pyro_query *query;
    const struct pyro_allocator *allocator;
    struct pyro_arena arena; /* groups, and texts of their values */
    struct pyro_map by_hash; /* hash of the values -> row + 1, the head of a chain */
    struct pyro_strbuf key;  /* of the row at hand */
    PYRO_VEC(struct pyro_query_one_group *) all;
    size_t bytes; /* of groups, and of what percentiles keep */
};

void pyro_query_groups_init(struct pyro_query_groups *groups, const struct pyro_query *query,
                            const struct pyro_allocator *allocator);
void pyro_query_groups_done(struct pyro_query_groups *groups);
/* One row: the fields of the groups as they are kept; of each measure its field's value and its weight's (any value
 * where it has none). Texts are copied. PYRO_ERROR_ARGUMENT: more groups, or more memory, than there may be. */
enum pyro_status pyro_query_groups_add(struct pyro_query_groups *groups, const struct pyro_query_value *fields,
                                       const struct pyro_query_value *values, const struct pyro_query_value *weights,
                                       struct pyro_error *error);
/* The rows of the answer in order, behind query->after. */
enum pyro_status pyro_query_groups_answer(struct pyro_query_groups *groups, struct pyro_arena *arena,
                                          struct pyro_query_answer *ret, struct pyro_error *error);

#endif
