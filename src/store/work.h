/* The work of crawlers, shared by leases (design: one row for each log of a source).
 *
 * An item's key is source, application id and attempt. Its state goes from new to leased to done; a failure makes it
 * failed, due again later, and at last dead. An item that is done becomes new again when its stamp changes. */
#ifndef PYRO_STORE_WORK_H
#define PYRO_STORE_WORK_H

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"
#include "store/run.h"

enum {
    PYRO_WORK_LEASE_MS = 5 * 60 * 1000,
    PYRO_WORK_RENEW_MS = 100 * 1000,
    PYRO_WORK_GRACE_MS = 10 * 1000,      /* after which a lease that ended may be taken */
    PYRO_WORK_TRIES = 5,                 /* then an item is dead */
    PYRO_WORK_FIRST_PAUSE_MS = 60 * 1000 /* before the second try; each further pause is four times as long */
};

enum pyro_work_state { PYRO_WORK_NEW, PYRO_WORK_LEASED, PYRO_WORK_DONE, PYRO_WORK_FAILED, PYRO_WORK_DEAD };

struct pyro_work_item {
    struct pyro_slice key;    /* unique; made by the crawler of source, application and attempt */
    struct pyro_slice source; /* as in struct pyro_run */
    struct pyro_slice stamp;  /* of the log as it is listed now */
    int64_t end_ms;           /* when the run ended, or its log was written last: the order of the list */
    /* Filled by the store: */
    struct pyro_slice owner;
    int64_t epoch, tries, until_ms;
    enum pyro_work_state state;
};

/* What a store counts of a source, for progress and for `low`. */
struct pyro_work_counts {
    int64_t items[PYRO_WORK_DEAD + 1]; /* by state */
    /* All items up to this end are done or dead, and one is later or this is the latest; PYRO_NONE: there is none. */
    int64_t low_ms;
    int64_t listed_ms; /* when everything was listed last; PYRO_NONE: never */
};

struct pyro_work_backend {
    /* Takes over what a source lists: unknown keys are new; an item that has another stamp and is not leased is new
     * again, with its tries at 0; any other is left alone. *ret_new: how many are new now. One transaction. */
    enum pyro_status (*offer)(void *state, const struct pyro_work_item *items, size_t count, size_t *ret_new,
                              struct pyro_error *error);
    /* Leases at most `most` items of the source that are new, then those that are due, then those with a lease that
     * ended: of each the earliest `end_ms`; *ret_count of them, in any order. Each one by a conditional write, so that
     * two never have the same. Texts in the arena, NUL-terminated. */
    enum pyro_status (*claim)(void *state, struct pyro_slice source, const char *owner, size_t most,
                              struct pyro_arena *arena, struct pyro_work_item *ret, size_t *ret_count,
                              struct pyro_error *error);
    /* Makes the lease PYRO_WORK_LEASE_MS long from now. *ret_held: false: another owner has it now. */
    enum pyro_status (*renew)(void *state, const struct pyro_lease *lease, bool *ret_held, struct pyro_error *error);
    /* Ends a lease without a result: back to new. One that is not held any more is left alone. */
    enum pyro_status (*release)(void *state, const struct pyro_lease *lease, struct pyro_error *error);
    /* Ends a lease of a log that is not wanted: it is done, and no run is kept. */
    enum pyro_status (*skip)(void *state, const struct pyro_lease *lease, struct pyro_error *error);
    /* Ends a lease with a failure: due again later, or dead (at once where `lasts`), and then, with the row of errors.
     */
    enum pyro_status (*fail)(void *state, const struct pyro_lease *lease, bool lasts,
                             const struct pyro_store_error_row *row, struct pyro_error *error);
    /* Makes failed and dead items of the source new; null: those of all sources. */
    enum pyro_status (*retry)(void *state, struct pyro_slice source, size_t *ret_count, struct pyro_error *error);
    /* Makes all items that are leased to the owner new. It calls this while it has none in hand: they are of claims
     * that the store took and of which the answer was lost. */
    enum pyro_status (*take_back)(void *state, const char *owner, size_t *ret_count, struct pyro_error *error);
    enum pyro_status (*counts)(void *state, struct pyro_slice source, struct pyro_work_counts *ret,
                               struct pyro_error *error);
    /* Notes that everything of the source was listed now. */
    enum pyro_status (*listed)(void *state, struct pyro_slice source, struct pyro_error *error);
    /* The clock that leases are measured by. */
    int64_t (*now_ms)(void *state);
};

#endif
