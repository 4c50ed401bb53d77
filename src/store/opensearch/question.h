/* Questions (store/query.h) as searches. */
#ifndef PYRO_STORE_OPENSEARCH_QUESTION_H
#define PYRO_STORE_OPENSEARCH_QUESTION_H

#include "store/opensearch/opensearch.h"

/* Appends the name of the field in documents as a JSON string; of a property or tag that of the array. */
void pyro_opensearch_add_field(enum pyro_query_from from, const struct pyro_query_field *field, struct pyro_strbuf *to);
/* Whether it is a text within an array: KEY=VALUE. */
bool pyro_opensearch_is_pair(const struct pyro_query_field *field);
/* VALUE of such a text; null where its key is another one. */
struct pyro_slice pyro_opensearch_after_key(struct pyro_slice pair, struct pyro_slice key);
/* A query that finds documents in which the field is known. */
void pyro_opensearch_add_known(enum pyro_query_from from, const struct pyro_query_field *field, struct pyro_strbuf *to);
/* "query": what the conditions ask for, and what the viewer may see. */
void pyro_opensearch_add_query(const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                               struct pyro_strbuf *to);

enum pyro_status pyro_opensearch_ask_rows(struct pyro_opensearch *store, const struct pyro_query *query,
                                          const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                          struct pyro_query_answer *ret, struct pyro_error *error);
enum pyro_status pyro_opensearch_ask_groups(struct pyro_opensearch *store, const struct pyro_query *query,
                                            const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                            struct pyro_query_answer *ret, struct pyro_error *error);

#endif
