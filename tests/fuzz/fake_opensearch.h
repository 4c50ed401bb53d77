/* OpenSearch, as far as crawlers use it: documents with versions, and searches of a few kinds. */
#ifndef PYRO_FUZZ_FAKE_OPENSEARCH_H
#define PYRO_FUZZ_FAKE_OPENSEARCH_H

#include "base/strings/slice.h"
#include "base/strings/strbuf.h"

/* Forgets everything. */
void fake_opensearch_start(void);
/* Appends the answer to a request for a path. Returns the status. */
unsigned fake_opensearch_answer(const char *method, const char *path, struct pyro_slice body, struct pyro_strbuf *out);
/* How many documents an index has of which a field is this text; field NULL: all. */
size_t fake_opensearch_count(const char *index, const char *field, const char *text);
/* Appends all documents as JSON. */
void fake_opensearch_dump(struct pyro_strbuf *out);

#endif
