/* Who may see an application. */
#ifndef PYRO_MODEL_VIEWERS_H
#define PYRO_MODEL_VIEWERS_H

#include <stdbool.h>

#include "base/strings/slice.h"

/* As the application's properties say; texts are lists written a,b, or null. */
struct pyro_access_lists {
    bool enabled; /* spark.acls.enable, or spark.ui.acls.enable */
    struct pyro_slice users, groups, admins, admin_groups;
    bool known; /* read from a log's environment; else the lists are empty, and may be so only for now */
};

/* The value of a property of Spark's, or a null slice. */
typedef struct pyro_slice pyro_access_property(const void *context, const char *key);
/* The texts are those that `property` gave. */
struct pyro_access_lists pyro_access_read(pyro_access_property *property, const void *context);

/* Takes the next name of a,b; false: there is none. */
bool pyro_access_next(struct pyro_slice *list, struct pyro_slice *ret);
/* Whether `user`, who is in `groups` (a,b), may see an application that is not their own: its lists name them, or do
 * not hold. `always`: they hold also where it was run without spark.acls.enable. */
bool pyro_access_lets(const struct pyro_access_lists *lists, bool always, struct pyro_slice user,
                      struct pyro_slice groups);

#endif
