/* Says that something has changed in folders, before the next update looks at them.
 *
 * Folders are watched, and the folders in them, where rolling logs are: of these only the newest, since a finished log
 * does not change and the system has few watches for all of a user's programs. What is not watched, such as a folder of
 * a network file system, is found by the updates that are taken anyway. */
#ifndef PYRO_CATALOG_WATCH_FOLDER_H
#define PYRO_CATALOG_WATCH_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct pyro_catalog_watch;

struct pyro_catalog_watch_options {
    const char *const *folders; /* must outlive the watch */
    size_t folder_count;
    size_t most; /* watches; 0: a share of what the system has */
    /* Called by a thread of the watch some time after something has changed: not for each change, and so that the calls
     * take a fifth of the time at most, however many there are. */
    void (*changed)(void *context);
    void *context;
};

/* NULL: nothing can be watched here. */
struct pyro_catalog_watch *pyro_catalog_watch_open(const struct pyro_catalog_watch_options *options);
/* Returns when `changed` is not called any more: what that waits for must have been ended before. */
void pyro_catalog_watch_close(struct pyro_catalog_watch *watch);

struct pyro_catalog_watch_usage {
    size_t watched, unwatched; /* folders, those in folders too */
};
struct pyro_catalog_watch_usage pyro_catalog_watch_usage(struct pyro_catalog_watch *watch);

#endif
