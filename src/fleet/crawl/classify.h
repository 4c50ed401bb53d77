/* Which application a run is of: by ordered rules, else by its name. */
#ifndef PYRO_FLEET_CRAWL_CLASSIFY_H
#define PYRO_FLEET_CRAWL_CLASSIFY_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "base/strings/pattern.h"
#include "store/run.h"

enum pyro_class_field {
    PYRO_CLASS_APPLICATION,
    PYRO_CLASS_TYPE,
    PYRO_CLASS_VERSION,
    PYRO_CLASS_TAG,
    PYRO_CLASS_FIELDS
};

/* One rule. Values are texts in which $1 or ${name} stands for what the expression captured. */
struct pyro_class {
    struct pyro_slice of; /* what is matched: "name", "property.KEY" or "tag.KEY" */
    struct pyro_pattern *pattern;
    struct pyro_slice values[PYRO_CLASS_FIELDS]; /* null: this rule says nothing of it */
    PYRO_VEC(struct pyro_run_pair) tags;
};

struct pyro_classes {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_class) rules;
};

void pyro_classes_done(struct pyro_classes *classes);
/* Fills application, type, version and tag of a run, and adds tags. The first rule whose expression is found counts;
 * without one, application, type and tag are the name, and its parts are tags. False: no memory. */
bool pyro_classify(const struct pyro_classes *classes, struct pyro_run *run);
/* Adds a tag, or replaces the one with that key; both texts live as long as the run. False: no memory. */
bool pyro_run_put_tag(struct pyro_run *run, struct pyro_slice key, struct pyro_slice value);

/* Where the expression is found first in the text, within limits of time and memory: beyond them it counts as not
 * found. `ret` (may be NULL) gets `count` captures, the whole match first, null where a group took no part. Gives the
 * number of groups with the whole match, 0: not found. */
int pyro_bounded_match(const struct pyro_pattern *pattern, struct pyro_slice text, struct pyro_slice *ret,
                       size_t count);

#endif
