/* Which applications a token's name may see: Spark's access lists, as its History Server applies them. */
#ifndef PYRO_SERVE_ACCESS_ACL_H
#define PYRO_SERVE_ACCESS_ACL_H

#include <pthread.h>

#include "base/collections/map.h"
#include "catalog/catalog.h"

/* What the logs' environments say, read when it is first asked for. */
struct acls {
    bool always;           /* also for applications that were run without spark.acls.enable */
    pthread_mutex_t mutex; /* guards what follows */
    struct pyro_arena arena;
    struct pyro_map known; /* identity of a log -> row + 1 */
    PYRO_VEC(struct pyro_access_lists) all;
};

void pyro_acls_init(struct acls *acls, bool always);
void pyro_acls_done(struct acls *acls);
/* Whether `user`, who is in `groups` (a,b), may see that attempt: its owner, and whom its lists name. */
bool pyro_acls_let(struct acls *acls, const struct pyro_catalog_seen *seen, struct pyro_slice user,
                   struct pyro_slice groups);

#endif
