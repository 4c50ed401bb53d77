/* String pool: every distinct text of an application once, numbered from 0. Text 0 is the empty string. Not thread-safe
 * while interning; slices stay valid until the last reference is released. */
#ifndef PYRO_BASE_STRINGS_INTERN_H
#define PYRO_BASE_STRINGS_INTERN_H

#include <stdint.h>

#include "base/strings/slice.h"
#include "pyrometer.h"

struct pyro_string_pool;

struct pyro_string_pool *pyro_string_pool_new(const struct pyro_allocator *allocator);
struct pyro_string_pool *pyro_string_pool_retain(struct pyro_string_pool *pool);
void pyro_string_pool_release(struct pyro_string_pool *pool);
/* A pool with the same texts under the same numbers that the old one's growth does not touch; texts are shared. */
struct pyro_string_pool *pyro_string_pool_snapshot(struct pyro_string_pool *pool);
/* Number of `text`, adding it when new; UINT32_MAX when there is no memory. */
uint32_t pyro_intern(struct pyro_string_pool *pool, struct pyro_slice text);
/* The pool's own copy of `text` (NUL behind it); a null slice stays null. */
struct pyro_slice pyro_intern_slice(struct pyro_string_pool *pool, struct pyro_slice text);
struct pyro_slice pyro_string_pool_text(const struct pyro_string_pool *pool, uint32_t id);
/* What every text that is new to the pool goes through before it is kept: gives it back, or another in its place.
 * `number`: of a text that is looked at again, else UINT32_MAX. */
typedef struct pyro_slice pyro_text_gate(void *context, struct pyro_slice text, uint32_t number);
/* NULL: none, as in snapshots. */
void pyro_string_pool_set_gate(struct pyro_string_pool *pool, pyro_text_gate *gate, void *context);

/* Texts that the gate has replaced, under the numbers that they have. */
struct pyro_renewal;
/* Puts every text through the gate again, which has changed. *ret is NULL if no text changed. False: no memory, and
 * nothing has changed. */
bool pyro_string_pool_renew(struct pyro_string_pool *pool, struct pyro_renewal **ret);
/* What one of the pool's slices is now. */
struct pyro_slice pyro_renewed(const struct pyro_renewal *renewal, struct pyro_slice text);
/* The old bytes are wiped, unless a snapshot shares them. */
void pyro_renewal_done(struct pyro_renewal *renewal);
/* Memory that the pool and those it is a snapshot of take. */
size_t pyro_string_pool_bytes(const struct pyro_string_pool *pool);
uint32_t pyro_string_pool_count(const struct pyro_string_pool *pool);
/* Plain memory that lives as long as the pool (arrays of ids, texts made by printf). Zeroed; NULL when none is left. */
void *pyro_string_pool_alloc(struct pyro_string_pool *pool, size_t size);

#endif
