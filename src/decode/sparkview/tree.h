/* One JSON record as a tree, for events whose every field is wanted. Nodes live in an arena, texts stay where they are.
 */
#ifndef PYRO_DECODE_SPARKVIEW_TREE_H
#define PYRO_DECODE_SPARKVIEW_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json/scan.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"

enum pyro_tree_kind { PYRO_TREE_NULL, PYRO_TREE_SCALAR, PYRO_TREE_STRING, PYRO_TREE_OBJECT, PYRO_TREE_ARRAY };

struct pyro_tree {
    enum pyro_tree_kind kind;
    struct pyro_slice key;  /* as written, escapes not decoded */
    struct pyro_slice text; /* of strings between their quotes; of numbers and words; of objects and arrays all */
    const struct pyro_tree *first, *next;
};

/* NULL: no JSON object or array, or no memory: then arena->failed is set. PYRO_SCAN_PADDING readable bytes must follow
 * the text. An array of "Accumulables" among which none is a user's has no elements here. */
const struct pyro_tree *pyro_tree_parse(struct pyro_arena *arena, struct pyro_slice text);

/* These accept NULL for a node and give NULL, the fallback, or false where there is nothing. */
const struct pyro_tree *pyro_tree_get(const struct pyro_tree *node, const char *key);
int64_t pyro_tree_int(const struct pyro_tree *node, int64_t fallback);
double pyro_tree_real(const struct pyro_tree *node, double fallback);
bool pyro_tree_bool(const struct pyro_tree *node);
/* Of an accumulable: neither Spark's own nor a metric of SQL. */
bool pyro_tree_is_user_accumulable(const struct pyro_tree *node);
/* Whether all accumulables of an array are Spark's own: each of its objects has a member that is true, and none one
 * that is false. Spark writes "Internal", and of its own "Count Failed Values", which is true for them. */
static inline bool pyro_words_all_internal(const struct pyro_scan_words *words)
{
    return words->no == 0 && words->yes >= words->objects;
}
bool pyro_tree_is(const struct pyro_tree *node, const char *text);

#endif
