#include "serve/access/acl.h"

#include "source/source.h"

/* The number of remembered logs; then it starts again. */
enum { KNOWN_LIMIT = 200000 };

void pyro_acls_init(struct acls *acls, bool always)
{
    *acls = (struct acls){.always = always};
    pthread_mutex_init(&acls->mutex, NULL);
    pyro_arena_init(&acls->arena, NULL);
    pyro_map_init(&acls->known, NULL);
}

void pyro_acls_done(struct acls *acls)
{
    pyro_vec_done(&acls->all, NULL);
    pyro_map_done(&acls->known);
    pyro_arena_done(&acls->arena);
    pthread_mutex_destroy(&acls->mutex);
}

static void forget(struct acls *acls)
{
    pyro_vec_done(&acls->all, NULL);
    pyro_map_done(&acls->known);
    pyro_map_init(&acls->known, NULL);
    pyro_arena_reset(&acls->arena);
}

/* Under the lock. false: the log cannot be read, so no user is let in. */
static bool look_up(struct acls *acls, const struct pyro_catalog_seen *seen, struct pyro_access_lists *ret)
{
    struct pyro_error ignored = {.size = sizeof(ignored)};
    uint64_t *row = pyro_map_get(&acls->known, seen->identity);
    if (row) {
        *ret = acls->all.items[*row - 1];
        return true;
    }
    if (acls->all.count >= KNOWN_LIMIT)
        forget(acls);
    if (pyro_attempt_access(seen->files, &acls->arena, ret, &ignored) != PYRO_OK)
        return false;
    if (!ret->known && seen->files->in_progress) { /* its environment may come: until then it is its owner's */
        ret->enabled = true;
        return true;
    }
    bool added;
    struct pyro_access_lists *place = pyro_vec_push(&acls->all, NULL);
    row = place ? pyro_map_put(&acls->known, seen->identity, &added) : NULL;
    if (row) {
        *place = *ret;
        *row = acls->all.count;
    }
    return true;
}

bool pyro_acls_let(struct acls *acls, const struct pyro_catalog_seen *seen, struct pyro_slice user,
                   struct pyro_slice groups)
{
    struct pyro_access_lists lists;
    bool owner = seen->attempt->user.len > 0 && pyro_slice_eq(seen->attempt->user, user);
    if (seen->stored) {
        lists = seen->stored->access;
        return owner || (seen->stored->knows_access && pyro_access_lets(&lists, acls->always, user, groups));
    }
    pthread_mutex_lock(&acls->mutex);
    bool let = look_up(acls, seen, &lists);
    let = let && (owner || pyro_access_lets(&lists, acls->always, user, groups));
    pthread_mutex_unlock(&acls->mutex);
    return let;
}
