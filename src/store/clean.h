/* What a store kept may have been redacted by expressions of another version, or by fewer of them. */
#ifndef PYRO_STORE_CLEAN_H
#define PYRO_STORE_CLEAN_H

#include "base/memory/arena.h"
#include "base/secrets/secrets.h"

/* Whether rows with this key hide no less than `how` does now. */
bool pyro_store_is_clean(uint64_t key, enum pyro_redaction how);
/* A JSON document without the secrets in its strings; `document` itself where there are none, else in `to`, whose
 * `failed` is set where memory runs out. */
struct pyro_slice pyro_store_clean_json(struct pyro_secrets *secrets, struct pyro_slice document,
                                        struct pyro_strbuf *to);
/* A text without its secrets; `text` itself, or in the arena. A null slice: no memory. */
struct pyro_slice pyro_store_clean_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_arena *arena);

#endif
